"""DSTC9 Track 3: items for raters from logs of several systems, and what is made of their ratings."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dialmill.pipelines.benchmarks.interactive import ratings
from dialmill.pipelines.benchmarks.interactive.questionnaire import QUALITIES
from dialmill.pipelines.core.errors import InputError

import dialmill as dm
from tests.pipelines.tools import DATA, call, manifest, plain, records, rejects

#: Krippendorff, Computing Krippendorff's Alpha-Reliability (2011): four observers, twelve units; ordinal alpha .815.
_KRIPPENDORFF = ["111", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", "555", "11", "3"]


def _talk(name: str, number: int, turns: int = 6) -> list[dict[str, str]]:
    said = [f"{'Well' if turn % 2 else 'So'}, this is sentence {turn} of talk {number} with {name}." for turn in range(turns)]
    return [{"speaker": "bot" if turn % 2 else "user", "text": text} for turn, text in enumerate(said)]


def _logs(path: Path, counts: dict[str, int]) -> Path:
    """Logs of systems, so many conversations of each, as JSON lines."""
    lines = [{"id": f"{name}-{number}", "system": name, "turns": _talk(name, number)} for name, count in counts.items() for number in range(count)]
    lines[0]["turns"][2]["text"] = "You are a fucking idiot."  # type: ignore[index]
    lines[1]["turns"] = _talk("short", 1, 2)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_of_each_system_as_many_are_drawn_blind_for_raters(tmp_path: Path) -> None:
    log = _logs(tmp_path / "logs.jsonl", {"Ada": 9, "Bob": 5, "Cyd": 7})
    made = plain("dstc9-track3", [log], tmp_path / "out", "per_system=6")
    told = {one["source_id"]: one["reason"] for one in rejects(tmp_path / "out", "filter")}
    assert told == {"Ada-0": "offensive_language", "Ada-1": "too_few_turns"}
    release = tmp_path / "out" / "release"
    key = _json(release / "key.json")
    assert Counter((one["system"], one["level"]) for one in key.values()) == dict.fromkeys(
        [(name, level) for name in ("Ada", "Bob", "Cyd") for level in ("turn", "dialogue")], 5
    )
    assert any("5 of each of 3 systems, not 6: Bob has no more" in warning for warning in made["warnings"])
    [drawn] = [stage for stage in made["stages"] if stage["name"] == "draw"]
    assert (drawn["in"], drawn["out"], drawn["rejected"]) == (19, 15, {"not_drawn": 4})
    for level in ("turn", "dialogue"):
        items = _json(release / f"{level}_level.json")
        assert all(item.keys() == ({"id", "context", "response"} if level == "turn" else {"id", "context"}) for item in items)
        systems = [key[item["id"]]["system"] for item in items]
        assert systems != sorted(systems), "the order tells nothing of the systems"
        for item in items:
            lines = item["context"].split("\n")
            assert [line.partition(":")[0] for line in lines] == ["User", "System"] * (len(lines) // 2) + ["User"] * (len(lines) % 2)
            if level == "turn":
                assert item["response"].startswith("System: ") and len(lines) >= 3 and int(item["id"].rpartition(":")[2]) == len(lines)
    asked = _json(release / "questionnaire.json")
    assert {level: [one["quality"] for one in found] for level, found in asked.items()} == {
        level: [one.name for one in found] for level, found in QUALITIES.items()
    }
    assert call("verify", tmp_path / "out").code == 0


def test_the_draw_depends_on_the_seed_and_on_nothing_else(tmp_path: Path) -> None:
    log = _logs(tmp_path / "logs.jsonl", {"Ada": 9, "Bob": 9})
    lines = log.read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "turned.jsonl").write_text("".join(reversed(lines)), "utf-8")
    drawn = []
    for name, seed in (("logs", 1), ("turned", 1), ("logs", 2)):
        plain("dstc9-track3", [tmp_path / f"{name}.jsonl"], tmp_path / "out", "per_system=3", "replies=2", seed=seed)
        drawn.append(_json(tmp_path / "out" / "release" / "key.json"))
    assert drawn[0] == drawn[1] != drawn[2] and len(drawn[0]) == 2 * 3 * 3


@pytest.mark.parametrize("form", ["csv", "messages"])
def test_any_source_with_a_field_that_names_the_system_will_do(form: str, tmp_path: Path) -> None:
    settings: tuple[str, ...] = ()
    if form == "csv":
        with (tmp_path / "logs.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "speaker", "text", "system"])
            for name in ("Ada", "Bob"):
                rows.writerows([f"{name}-{number}", turn["speaker"], turn["text"], name] for number in range(3) for turn in _talk(name, number))
    else:
        settings = ("system_field=model",)
        roles = {"user": "user", "bot": "assistant"}
        with (tmp_path / "logs.jsonl").open("w", encoding="utf-8") as file:
            for name in ("Ada", "Bob"):
                for number in range(3):
                    messages = [{"role": roles[turn["speaker"]], "content": turn["text"]} for turn in _talk(name, number)]
                    file.write(json.dumps({"id": f"{name}-{number}", "model": name, "messages": messages}) + "\n")
    plain("dstc9-track3", [tmp_path], tmp_path / "out", *settings)
    key = _json(tmp_path / "out" / "release" / "key.json")
    assert Counter(one["system"] for one in key.values()) == {"Ada": 6, "Bob": 6}


def test_logs_that_name_no_system_are_refused_with_the_remedy(tmp_path: Path) -> None:
    done = call("build", "dstc9-track3", "--input", DATA / "multiwoz22", "--output", tmp_path / "out", "--quiet")
    assert done.code == 1 and "no_system (system_field=NAME takes them)" in done.err and not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build from the rated sample."""
    folder = tmp_path_factory.mktemp("track3") / "out"
    plain("dstc9-track3", [DATA / "fed"], folder)
    return folder


def test_ratings_that_the_input_has_are_in_the_release_and_scored(built: Path) -> None:
    given = {item["id"]: item for item in _json(DATA / "fed" / "ratings.json")}
    assert {item["id"]: item for item in _json(built / "release" / "ratings.json")} == given
    found = dm.score("dstc9-track3", gold=built)
    assert found == dm.score("dstc9-track3", gold=DATA / "fed" / "ratings.json") | {"versions": found["versions"]}
    for level in ("turn", "dialogue"):
        mine = [item for item in given.values() if ("response" in item) == (level == "turn")]
        for system in ("Pebble", "Lantern", "Gravel"):
            own = [np.mean(item["annotations"]["Overall"]) for item in mine if item["system"] == system]
            cell = found["systems"][level][system]["Overall"]
            assert cell["mean"] == pytest.approx(np.mean(own)) and cell["low"] <= cell["mean"] <= cell["high"] and cell["items"] == 4
        assert found["metrics"][level]["Overall"] == pytest.approx(np.mean([np.mean(item["annotations"]["Overall"]) for item in mine]))
    assert any("4 ratings are no numbers" in note for note in found["notes"])


def test_the_raters_own_means_correlate_fully_and_their_opposite_not_at_all(built: Path, tmp_path: Path) -> None:
    lines = []
    for item in _json(built / "release" / "ratings.json"):
        means = {quality: float(np.mean([one for one in given if not isinstance(one, str)])) for quality, given in item["annotations"].items()}
        lines.append({"item_id": item["id"], "scores": means})
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    turned = [{"item_id": line["item_id"], "score": -line["scores"]["Overall"]} for line in lines]  # type: ignore[index]
    (tmp_path / "turned.jsonl").write_text("".join(json.dumps(line) + "\n" for line in turned), "utf-8")
    found = dm.score("dstc9-track3", gold=built, predictions=[tmp_path / "own.jsonl", tmp_path / "turned.jsonl"])["correlation"]
    for level, qualities in found["own"].items():
        for quality, one in qualities.items():
            assert one["spearman"] == one["pearson"] == pytest.approx(1), quality
            assert one["low"] == one["high"] == pytest.approx(1) and one["systems"]["spearman"] == pytest.approx(1)
        opposite = found["turned"][level]["Overall"]
        assert opposite["spearman"] == opposite["pearson"] == pytest.approx(-1)


def test_ratings_of_several_raters_come_in_files_of_their_own(tmp_path: Path) -> None:
    log = _logs(tmp_path / "logs.jsonl", {"Ada": 6, "Bob": 6})
    plain("dstc9-track3", [log], tmp_path / "out", "per_system=4")
    with pytest.raises(InputError, match="has no ratings"):
        dm.score("dstc9-track3", gold=tmp_path / "out")
    items = _json(tmp_path / "out" / "release" / "turn_level.json")
    key = _json(tmp_path / "out" / "release" / "key.json")
    for rater in range(3):
        rated = [item | {"system": "?", "annotations": {"Fluent": [2 if key[item["id"]]["system"] == "Ada" else rater % 2]}} for item in items]
        (tmp_path / f"rater{rater}.json").write_text(json.dumps(rated), "utf-8")
    found = dm.score("dstc9-track3", gold=tmp_path / "out", predictions=[tmp_path / f"rater{rater}.json" for rater in range(3)], suite="turn")
    systems = found["systems"]["turn"]
    assert (systems["Ada"]["Fluent"]["mean"], systems["Bob"]["Fluent"]["mean"]) == (2, pytest.approx(1 / 3))
    assert found["agreement"]["turn"]["Fluent"]["raters"] == 3 and "8 of 16 items have no ratings" in found["notes"]


@pytest.mark.parametrize("baseline", ["length", "overlap"])
def test_a_light_metric_is_written_in_the_form_that_is_scored(baseline: str, built: Path, tmp_path: Path) -> None:
    done = call("predict-baseline", "dstc9-track3", "--gold", built, "--baseline", baseline, "--output", tmp_path / "metric.jsonl", "--quiet")
    assert done.code == 0 and call("validate", tmp_path / "metric.jsonl", "--schema", "predictions-dstc9-track3").code == 0
    words = ("score", "dstc9-track3", "--gold", built, "--predictions", tmp_path / "metric.jsonl", "--json", tmp_path / "scores.json")
    done = call(*words)
    assert done.code == 0 and "metric: Overall" in done.out and "alpha" in done.out
    one = _json(tmp_path / "scores.json")["correlation"]["metric"]["turn"]["Overall"]
    assert -1 <= one["low"] <= one["spearman"] <= one["high"] <= 1 and one["items"] == 12


def test_a_metric_has_to_score_every_item(built: Path, tmp_path: Path) -> None:
    (tmp_path / "few.jsonl").write_text('{"item_id": "pebble-1", "score": 1}\n', "utf-8")
    with pytest.raises(InputError, match="has no prediction for the item"):
        dm.score("dstc9-track3", gold=built, predictions=tmp_path / "few.jsonl")
    (tmp_path / "other.jsonl").write_text('{"item_id": "nobody", "score": 1}\n', "utf-8")
    with pytest.raises(InputError):
        dm.score("dstc9-track3", gold=built, predictions=tmp_path / "other.jsonl")


def test_with_held_out_labels_neither_systems_nor_ratings_are_published(tmp_path: Path) -> None:
    plain("dstc9-track3", [DATA / "fed"], tmp_path / "out", "held_out_labels=true")
    public = {path.name for path in (tmp_path / "out" / "release").iterdir()}
    assert public == {"turn_level.json", "dialogue_level.json", "questionnaire.json"}
    assert dm.score("dstc9-track3", gold=tmp_path / "out")["counts"]["items"] == {"turn": 12, "dialogue": 12}
    assert manifest(tmp_path / "out")["seed"] is None
    names = ("Pebble", "Lantern", "Gravel")
    texts = [path.read_text("utf-8") for path in (tmp_path / "out" / "dialogues").rglob("*.jsonl")]
    assert not [text for text in texts if any(f'"{name}"' in text or f'\\"{name}\\"' in text for name in names)]


def test_alpha_is_krippendorff_s_own_example() -> None:
    units = [[float(one) for one in unit] for unit in _KRIPPENDORFF]
    assert ratings.alpha(units) == pytest.approx(0.815, abs=5e-4)
    assert ratings.alpha([[1, 1], [2, 2], [0, 0]]) == pytest.approx(1)
    assert ratings.alpha([[1, 1], [1, 1]]) is None


def test_ranks_share_their_mean_and_a_weighted_sample_is_the_sample() -> None:
    values = np.array([3.0, 1.0, 3.0, 2.0])
    assert list(ratings.ranks(values)) == [3.5, 1, 3.5, 2]
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=20), rng.normal(size=20)
    drawn = np.bincount(rng.integers(0, 20, 20), minlength=20).astype(float)
    taken = np.repeat(np.arange(20), drawn.astype(int))
    [found] = ratings.weighted(one, other, drawn[None, :])
    assert found == pytest.approx(np.corrcoef(one[taken], other[taken])[0, 1])
    assert math.isnan(ratings.weighted(np.ones(20), other, drawn[None, :])[0])


def test_a_rated_item_is_read_as_the_conversation_that_it_is() -> None:
    read = {one.source_id: one for one in dm.read(DATA / "fed" / "ratings.json")}
    item = next(item for item in _json(DATA / "fed" / "ratings.json") if item["id"] == "gravel-1-reply")
    said = [f"{turn.speaker.capitalize()}: {turn.utterance}" for turn in read["gravel-1-reply"].turns]
    assert said == [*item["context"].split("\n"), item["response"]]


def test_records_keep_which_system_spoke(tmp_path: Path) -> None:
    plain("splits", [_logs(tmp_path / "logs.jsonl", {"Ada": 3})], tmp_path / "out", "hard_baselines=")
    assert {one.payload for one in records(tmp_path / "out")} == {'{"system": "Ada"}'}
