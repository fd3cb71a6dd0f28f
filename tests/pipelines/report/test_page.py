"""report.html as bytes: in every folder, listed, the same again, small, and closed to whatever the data says."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.report.page import _warning, embedded
from hypothesis import given
from hypothesis import strategies as st

from tests.pipelines.tools import DATA, call, corpus, hashes, manifest, plain

HOSTILE = [
    "</script><script>window.stolen = 1</script>",
    "<img src=x onerror='window.stolen = 1'>",
    "<!-- <script> <svg onload=window.stolen=1>",
    '"><iframe srcdoc="<script>parent.stolen=1</script>">',
    "{{ 7*7 }} {% raw %} ${7*7} \u2028\u2029 ]]> &lt;b&gt; \\u003c",
    "javascript:window.stolen=1",
]


class Tags(HTMLParser):
    """The start tags of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def page(folder: Path) -> str:
    return (folder / "report.html").read_text("utf-8")


def data(folder: Path) -> dict[str, Any]:
    """What the page's script gets."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page(folder), re.S)
    assert found is not None
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded


def test_every_build_has_one_and_lists_it(folder: Path) -> None:
    listed = {item["path"]: item for item in manifest(folder)["outputs"]}
    assert listed["report.html"]["bytes"] == (folder / "report.html").stat().st_size < 5_000_000
    assert call("verify", folder, "--quiet").code == 0


def test_it_is_one_file(folder: Path) -> None:
    for tag, attributes in Tags(page(folder)).seen:
        assert tag not in ("link", "iframe", "img", "object", "embed")
        for name in ("src", "href", "action", "data"):
            assert not re.match(r"\s*(?:[a-z]+:|//)", attributes.get(name) or ""), (tag, attributes)


def test_it_can_be_written_again_to_the_byte(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "out")
    (tmp_path / "out/report.html").unlink()
    result = call("report", tmp_path / "out")
    assert result == (0, f"written: {tmp_path / 'out/report.html'}\n", "")
    assert hashes(tmp_path / "out") == hashes(folder)


def test_it_shows_the_numbers_of_the_manifest(raddle: Path) -> None:
    text, made = re.sub(r"<[^>]+>", "", page(raddle)), manifest(raddle)
    for stage in made["stages"]:
        assert f"{stage['in']:,} in" in text and f"{stage['out']:,} out" in text
        for reason, number in stage["rejected"].items():
            assert f"{reason.replace('_', ' ')} {number:,}" in text
    for item in made["outputs"]:
        assert item["path"] == "report.html" or item["path"] in text
    assert f"seed {made['seed']}" in text and "MIT" in text


def test_every_suite_and_outcome_has_examples(raddle: Path) -> None:
    examples = data(raddle)["examples"]
    assert {one["suite"] for one in examples} == set(manifest(raddle)["recipe"]["suites"]) - {"standard"}
    assert {"kept", "inserted"} <= {name for one in examples for name in one["outcomes"]}
    domains = {domain for one in examples if one["suite"] == "typos" for domain in one["domains"]}
    assert domains == {"attraction", "hotel", "restaurant", "train"}


def test_held_out_labels_stay_out(tmp_path: Path) -> None:
    """The report of a blind folder is made of what the folder gives away, whether or not labels/ is there."""
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "out", "held_out_labels=true", "suites=standard,typos")
    examples = [one for one in data(tmp_path / "out")["examples"] if one["split"] == "test"]
    assert examples and not any("values" in turn or "state" in turn for one in examples for turn in one["turns"])


@pytest.mark.parametrize("command", ["splits", "perturb"])
def test_a_hostile_corpus_stays_text(command: str, tmp_path: Path) -> None:
    dialogues = {f"D{number}{text[:24].replace('/', '')}": [text, f"no {text}", f"i want {text} please", "ok"] for number, text in enumerate(HOSTILE)}
    source = corpus(tmp_path / "<b onclick=alert(1)>", dialogues | {"plain": ["a hotel", "which one", "a cheap hotel in the east please", "here"]})
    words = ["splits"] if command == "splits" else []
    suites = ["--with", "typos:rate=0.9"] if command == "perturb" else []
    made = call("build" if words else command, *words, "--input", source, "--output", tmp_path / "out", "--quiet", *suites)
    assert made == (0, "", ""), made
    tags = Tags(page(tmp_path / "out")).seen
    assert {tag for tag, _ in tags} & {"img", "iframe", "svg"} == set()
    scripts = [attributes for tag, attributes in tags if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}, {}]
    assert not any(name.startswith("on") for _, attributes in tags for name in attributes)
    shown = "\n".join(turn.get("was", turn["text"]) for one in data(tmp_path / "out")["examples"] for turn in one["turns"])
    assert all(text in shown for text in HOSTILE[:4]), "and is shown as it is"


def test_a_hostile_corpus_in_the_browser(look: Any, tmp_path: Path) -> None:
    source = corpus(tmp_path / "in", {f"D{number}": [text, "no", f"a hotel {text}", "ok"] for number, text in enumerate(HOSTILE)})
    assert call("perturb", "--input", source, "--with", "typos:rate=0.9", "--output", tmp_path / "out", "--quiet") == (0, "", "")
    seen = look(tmp_path / "out/report.html")
    for _ in range(3):
        assert seen.page.evaluate("window.stolen") is None
        if seen.page.locator("[data-step='1']").first.is_enabled():
            seen.page.locator("[data-step='1']").first.click()
    assert seen.complaints == [] and len(seen.requests) == 1
    assert seen.page.locator("#shown img, #shown svg, #shown script, #shown iframe").count() == 0


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8))
def test_embedded_json_is_the_same_and_inert(value: Any) -> None:
    text = str(embedded(value))
    assert not set(text) & set("<>&\u2028\u2029") and json.loads(text) == value


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "manifest.json").unlink(), "has no manifest.json"),
        (lambda folder: (folder / "manifest.json").write_text("{"), "is no manifest"),
        (lambda folder: (folder / "manifest.json").write_text("[]"), "is no manifest"),
        (lambda folder: (folder / "dialogues/typos/test.jsonl").unlink(), "dialogues/typos/test.jsonl"),
        (lambda folder: (folder / "dialogues/typos/test.jsonl").write_text('{"dialogue_id": 1}\n'), "line 1"),
    ],
    ids=["no manifest", "cut off", "a list", "a file gone", "a file spoilt"],
)
def test_what_it_refuses(spoil: Any, words: str, raddle: Path, tmp_path: Path) -> None:
    shutil.copytree(raddle, tmp_path / "out")
    before = (tmp_path / "out/report.html").read_bytes()
    spoil(tmp_path / "out")
    result = call("report", tmp_path / "out")
    assert result.code == 1 and result.out == "" and words in result.err and "Traceback" not in result.err and "fault of dialmill" not in result.err
    assert (tmp_path / "out/report.html").read_bytes() == before


def test_scores_and_drops_stand_in_the_report_where_they_are_given(raddle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(raddle, folder)
    before = (folder / "report.html").read_text("utf-8")
    assert 'id="scores"' not in before
    guesses, file = tmp_path / "<b>tracker.jsonl", tmp_path / "s.json"
    assert call("predict-baseline", "raddle", "--gold", folder, "--output", guesses, "--quiet").code == 0
    assert call("score", "raddle", "--gold", folder, "--predictions", guesses, "--suite", "all", "--json", file, "--quiet").code == 0
    assert call("report", folder, "--scores", file, "--quiet").code == 0
    page = (folder / "report.html").read_text("utf-8")
    section = page[page.index('id="scores"') : page.index('id="counts"')]
    cell = next(iter(json.loads(file.read_text("utf-8"))["comparison"]["scores"]["jga"].values()))["typos"]
    assert f"<small>{cell['drop']:.2f} [{cell['low']:.2f}, {cell['high']:.2f}]</small>" in section and f"{cell['score']:.2f}" in section
    assert "&lt;b&gt;tracker" in section and "<b>tracker" not in section
    assert call("verify", folder, "--quiet").code == 0, "the manifest has the new report"
    assert call("report", folder, "--quiet").code == 0 and (folder / "report.html").read_text("utf-8") == before
    (tmp_path / "no.json").write_text("[1]", "utf-8")
    refused = call("report", folder, "--scores", tmp_path / "no.json")
    assert refused.code == 1 and "no score file" in refused.err


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("hotel: test has 65 dialogues of the 200 wanted", ("hotel", "test has 65 dialogues of the 200 wanted", "")),
        ("7713 ids of the split lists are not in the input", ("the run", "7713 ids of the split lists are not in the input", "")),
        ("half of it is empty (rate=0.2 fills it)", ("the run", "half of it is empty", "rate=0.2 fills it")),
        ("annotation errors of the sources, auto-corrected: a 6", ("the run", "annotation errors of the sources, auto-corrected: a 6", "")),
        ("酒店: 少了两轮", ("酒店", "少了两轮", "")),
        ("two\nlines", ("the run", "two\nlines", "")),
    ],
)
def test_warnings_are_rows_of_a_table(text: str, parts: tuple[str, str, str]) -> None:
    assert _warning(text) == parts
