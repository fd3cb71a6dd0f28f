"""report.html in a real browser: it opens from disk and says nothing on the console, its filters and pages work."""

from __future__ import annotations

import json
import re
import shutil
import wave
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.sinks.manifest import encode, entry

from tests.pipelines.tools import call, manifest, records

WIDTHS = {"phone": 390, "desktop": 1280}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_opens_from_disk_without_a_word(look: Any, raddle: Path, tmp_path: Path, width: str, scheme: str) -> None:
    seen = look(raddle / "report.html", WIDTHS[width], scheme)
    page = seen.page
    page.screenshot(path=tmp_path / "page.png", full_page=True)
    assert (tmp_path / "page.png").stat().st_size > 50_000
    assert seen.complaints == [] and [url for url in seen.requests if not url.startswith("file:")] == [] and len(seen.requests) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width], "nothing sticks out sideways"
    charts = page.locator("[data-chart]")
    assert charts.count() >= 6
    for place in range(charts.count()):
        drawn = charts.nth(place).locator("> svg, > figure > svg")
        assert drawn.count() == 1 and drawn.bounding_box()["width"] <= WIDTHS[width] and drawn.bounding_box()["height"] > 60
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == (scheme == "dark")


def _shown(page: Any) -> list[str]:
    found: list[str] = page.locator(".example h3").all_inner_texts()
    return found


def test_filters_and_pages(look: Any, raddle: Path) -> None:
    seen = look(raddle / "report.html")
    page = seen.page
    examples = json.loads(page.locator("#data").text_content())["examples"]
    says = page.locator(".pager output").first
    assert says.inner_text() == f"1–5 of {len(examples)}" and _shown(page) == [one["id"] for one in examples[:5]]
    back, on = page.locator("[data-step='-1']").first, page.locator("[data-step='1']").first
    assert back.is_disabled()
    on.click()
    assert _shown(page) == [one["id"] for one in examples[5:10]] and not back.is_disabled()
    page.locator("select[name=suite]").select_option("typos")
    typos = [one["id"] for one in examples if one["suite"] == "typos"]
    assert says.inner_text() == f"1–{min(5, len(typos))} of {len(typos)}" and _shown(page) == typos[:5], "a filter leads to its first page"
    while not on.is_disabled():
        on.click()
    assert _shown(page)[-1] == typos[-1]
    page.locator("select[name=domain]").select_option("hotel")
    both = [one["id"] for one in examples if one["suite"] == "typos" and "hotel" in one["domains"]]
    assert both and _shown(page) == both[:5]
    page.locator("select[name=suite]").select_option("")
    page.locator("select[name=domain]").select_option("")
    page.locator("select[name=outcome]").select_option("inserted")
    inserted = [one["id"] for one in examples if "inserted" in one["outcomes"]]
    assert inserted and _shown(page) == inserted[:5]
    page.locator("select[name=outcome]").select_option("")
    page.locator("input[name=words]").fill("no such words anywhere")
    assert _shown(page) == [] and says.inner_text() == "none" and "No example fits" in page.locator("#shown").inner_text()
    page.locator("input[name=words]").fill(examples[7]["id"].upper())
    assert _shown(page) == [examples[7]["id"]]
    assert seen.complaints == []


def test_by_keyboard_alone(look: Any, raddle: Path) -> None:
    page = look(raddle / "report.html").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"
    first = _shown(page)
    page.locator("[data-step='1']").first.focus()
    page.keyboard.press("Enter")
    assert _shown(page) != first
    page.locator("#theme").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.style.colorScheme") == "light"
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.style.colorScheme") == "dark"


def test_edits_and_values_are_marked_where_they_are(look: Any, raddle: Path) -> None:
    page = look(raddle / "report.html").page
    examples = json.loads(page.locator("#data").text_content())["examples"]
    example = next(one for one in examples if one["suite"] == "typos")
    page.locator("input[name=words]").fill(example["id"])
    rows = page.locator(".example .turns > li:not(.heads)")
    for place, turn in enumerate(example["turns"]):
        if "was" not in turn:
            continue
        source, variant = rows.nth(place).locator(".t > span[dir]").all()
        assert (source.text_content(), variant.text_content()) == (turn["was"], turn["text"])
        assert "".join(source.locator("del").all_text_contents()) == "".join(turn["was"][start:end] for start, end, _ in turn["edits"])
        assert "".join(variant.locator("ins").all_text_contents()) == "".join(text for _, _, text in turn["edits"])
        placed = [turn["text"][start:end] for start, end, *_ in turn.get("values", []) if start is not None]
        assert variant.locator("mark").all_text_contents() == placed


def test_chinese_is_shown_and_declared(look: Any, perturbed: Path) -> None:
    seen = look(perturbed / "report.html", WIDTHS["phone"])
    assert seen.page.evaluate("document.documentElement.lang") == "zh" and seen.complaints == []
    assert re.search("[\u4e00-\u9fff]", seen.page.locator(".example .turns").first.inner_text())
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= WIDTHS["phone"]


def test_without_suites_with_candidates(look: Any, noesis: Path) -> None:
    seen = look(noesis / "report.html")
    page = seen.page
    assert seen.complaints == [] and page.locator("[data-chart=audit] svg").count() == 1 and page.locator("[data-chart=confidence] svg").count() == 1
    assert page.locator(".options .right").first.inner_text().endswith("the answer")
    assert not page.locator("select[name=suite]").is_visible() and not page.locator("select[name=outcome]").is_visible(), "one choice is none"
    assert page.locator("select[name=split]").is_visible()


def test_recordings_play_from_the_folder(look: Any, raddle: Path, tmp_path: Path) -> None:
    """A folder with dialogues/SUITE/audio/SOURCE/VARIANT/TURN.wav gets players, and the page's policy lets them play."""
    folder = tmp_path / "out"
    shutil.copytree(raddle, folder)
    record = records(folder, "typos")[0]
    path = f"dialogues/typos/audio/{record.source_id}/0/0.wav"
    (folder / path).parent.mkdir(parents=True)
    with wave.open(str(folder / path), "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(bytes(16_000))
    made = manifest(folder)
    made["outputs"].append(entry(path, (folder / path).read_bytes()))
    (folder / "manifest.json").write_bytes(encode(made))
    assert call("report", folder, "--quiet").code == 0 and call("verify", folder, "--quiet").code == 0
    seen = look(folder / "report.html")
    seen.page.locator("input[name=words]").fill(record.dialogue_id)
    player = seen.page.locator(".example audio")
    assert player.count() == 1
    # Playwright waits for the promise.
    loaded = """(player) => new Promise((done) => {
        player.onloadedmetadata = () => done(player.duration);
        player.onerror = () => done("error");
        player.preload = "metadata";
    })"""
    assert player.evaluate(loaded) == 1 and seen.complaints == []


def test_on_paper(look: Any, raddle: Path) -> None:
    page = look(raddle / "report.html", scheme="dark").page
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "ink, whatever the screen"
    assert not page.locator(".bar").is_visible() and not page.locator("#filters").is_visible() and page.locator("#counts").is_visible()


def _at(page: Any, report: Path, address: str) -> None:
    """Opens a report at an address of its own, as a link from elsewhere does."""
    page.goto("about:blank")
    page.goto(f"{report.resolve().as_uri()}{address}")


def test_the_address_says_what_is_shown(look: Any, raddle: Path) -> None:
    seen = look(raddle / "report.html")
    page = seen.page
    examples = json.loads(page.locator("#data").text_content())["examples"]
    page.locator("select[name=suite]").select_option("typos")
    page.locator("input[name=words]").fill("a t")
    page.locator("[data-step='1']").first.click()
    shown, address = _shown(page), page.evaluate("location.hash")
    assert shown and "suite=typos" in address and "page=2" in address
    _at(page, raddle / "report.html", address)
    assert _shown(page) == shown and page.locator("input[name=words]").input_value() == "a t"
    # The name of an example is an address of it alone, which leads back to all of them.
    page.locator(".example h3 a").nth(1).click()
    assert _shown(page) == [shown[1]]
    alone = page.evaluate("location.hash")
    page.locator("#every").click()
    assert page.evaluate("location.hash") == "#examples" and _shown(page) == [one["id"] for one in examples[:5]]
    _at(page, raddle / "report.html", alone)
    assert _shown(page) == [shown[1]]
    _at(page, raddle / "report.html", "#examples?suite=nosuch&page=x")
    assert _shown(page) == [one["id"] for one in examples[:5]] and seen.complaints == []


def test_figures_lead_to_their_examples(look: Any, raddle: Path) -> None:
    seen = look(raddle / "report.html")
    page = seen.page
    examples = {one["id"]: one for one in json.loads(page.locator("#data").text_content())["examples"]}
    bar = page.locator("[data-chart=status] svg a").first
    assert page.locator("[data-chart=status] + .hint").is_visible()
    bar.dispatch_event("click")
    wanted = dict(part.split("=") for part in page.evaluate("location.hash").partition("?")[2].split("&"))
    shown = [examples[name] for name in _shown(page)]
    assert shown and all(one["suite"] == wanted["suite"] and wanted["outcome"] in one["outcomes"] for one in shown)
    for chart in ("edits", "domains", "left-alone"):
        links = page.locator(f"[data-chart={chart}] svg a")
        assert links.count() > 0
        links.first.dispatch_event("click")
        assert _shown(page), f"a link of {chart} that leads nowhere"
    assert seen.complaints == []


def test_what_is_filtered_can_be_downloaded(look: Any, raddle: Path, tmp_path: Path) -> None:
    page = look(raddle / "report.html").page
    page.locator("select[name=suite]").select_option("typos")
    found = [one for one in json.loads(page.locator("#data").text_content())["examples"] if one["suite"] == "typos"]
    with page.expect_download() as download:
        page.locator("#download").click()
    download.value.save_as(tmp_path / "examples.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "examples.jsonl").read_text("utf-8").splitlines()]
    assert [one["dialogue_id"] for one in lines] == [one["id"] for one in found]
    assert [[turn["utterance"] for turn in one["turns"]] for one in lines] == [[turn["text"] for turn in one["turns"]] for one in found]


def test_accounting_is_last_and_opens_when_it_is_asked_for(look: Any, raddle: Path) -> None:
    page = look(raddle / "report.html").page
    sections = page.locator("main > section").evaluate_all("(all) => all.map((one) => one.id)")
    assert sections[:2] == ["made", "difficulty"] and sections[-1] == "accounting"
    assert page.locator("#accounting > details[open]").count() == 0 and not page.locator("#rejects table").first.is_visible()
    _at(page, raddle / "report.html", "#rejects")
    assert page.locator("#accounting > details[open]").count() == 1 and page.locator("#rejects table").first.is_visible()
