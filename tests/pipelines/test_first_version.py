"""What the first version of dialmill wrote is read, or refused by a message that says what to do: records, manifests, recipes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from dialmill.perturbers.insertion.knowledge import AMBIGUOUS
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.benchmarks.dstc9.instances import instances
from dialmill.pipelines.core.errors import UsageError
from dialmill.schemas.dialogue import decode
from dialmill.schemas.validate import validate_file

from tests.pipelines.tools import call, records


def _turn(number: int, text: str, **fields: Any) -> dict[str, Any]:
    """A turn as the first version wrote it: without `role` and `payload`."""
    speaker = "system" if number % 2 else "user"
    empty: dict[str, Any] = {name: [] for name in ("spans", "acts", "state", "edits", "labels", "knowledge")}
    return {"turn": number, "speaker": speaker, "utterance": text, "original": None, **empty, **fields}


def _record(suite: str, turns: list[dict[str, Any]], *lineage: dict[str, Any]) -> dict[str, Any]:
    return {
        "dialogue_id": f"SNG1/{suite}/0",
        "source": "multiwoz21",
        "source_id": "SNG1",
        "suite": suite,
        "variant": 0,
        "language": "en",
        "split": "test",
        "domains": ["hotel"],
        "turns": turns,
        "goal": None,
        "lineage": list(lineage),
    }


STANDARD = _record(
    "standard",
    [
        _turn(
            0,
            "a cheap hotel please",
            spans=[{"start": 2, "end": 7, "text": "cheap", "domain": "hotel", "slot": "pricerange", "value": "cheap", "status": "kept"}],
            acts=[{"act": "inform", "domain": "hotel", "slot": "pricerange", "value": "cheap"}],
            state=[{"domain": "hotel", "slot": "pricerange", "values": ["cheap"]}],
        ),
        _turn(1, "There is the Lodge."),
    ],
)
PARAPHRASE = _record(
    "paraphrase",
    [
        {
            **STANDARD["turns"][0],
            "utterance": "any cheap hotel",
            "original": "a cheap hotel please",
            "spans": [{**STANDARD["turns"][0]["spans"][0], "start": 4, "end": 9}],
            "edits": [{"start": 0, "end": 1, "replacement": "any"}, {"start": 13, "end": 20, "replacement": ""}],
        },
        STANDARD["turns"][1],
    ],
    {
        "step": "paraphrase@1",
        "seed": 1,
        "params": {"attempts": 4, "engine": "twins", "model": "", "prompt": "", "twins_from": "input"},
        "outcome": "changed",
        "skipped": [],
        "reasons": ["turn 0: twin of SNG2 (train)"],
    },
)
#: Its keys and words are those of the first version; sizes and digests are filled in.
MANIFEST: dict[str, Any] = {
    "dialmill": "0.1.0",
    "benchmark": "splits",
    "recipe": {
        "benchmark": "splits",
        "splits": "keep",
        "suites": ["standard", "paraphrase"],
        "perturbations": {"paraphrase": "paraphrase"},
        "perturbed_splits": ["test"],
        "twins_from": "train",
        "few_shot": 0.0,
        "hard_baselines": [],
    },
    "seed": 1,
    "splits": "keep",
    "versions": {"python": "3.11"},
    "inputs": [{"path": "data.json", "sha256": "0" * 64, "bytes": 9, "records": 1, "licence": "MIT", "source": "multiwoz21", "role": "dialogues"}],
    "stages": [
        {"name": "read", "in": 1, "out": 1, "made": 0, "rejected": {}},
        {"name": "inject turns", "in": 1, "out": 1, "made": 0, "rejected": {}},
        {"name": "paraphrase", "in": 1, "out": 1, "made": 0, "rejected": {}},
        {"name": "paraphrase turns", "in": 1, "out": 1, "made": 0, "rejected": {}},
        {"name": "standard", "in": 1, "out": 1, "made": 0, "rejected": {}},
    ],
    "overlap": {},
    "notes": {"paraphrase: test turns worded as train ones": 1, "span_moved": 2},
    "speech": {"heard": {}, "tuned": {}},
    "warnings": ["the sources have flaws that were handled by rule: span_moved 2"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An output folder of the first version."""
    made = tmp_path / "old"
    outputs = []
    for record in (PARAPHRASE, STANDARD):
        path = made / "dialogues" / record["suite"] / "test.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(record) + "\n", "utf-8")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist([record]), path.with_suffix(".parquet"))
        for one in (path, path.with_suffix(".parquet")):
            data = one.read_bytes()
            listed = {"path": one.relative_to(made).as_posix(), "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
            outputs.append({**listed, "records": 1, "schema": "dialogue"})
    (made / "manifest.json").write_text(json.dumps({**MANIFEST, "outputs": outputs}), "utf-8")
    return made


def test_its_folder_is_verified_shown_and_reported(folder: Path) -> None:
    assert validate_file(folder / "manifest.json", "manifest").ok
    verified = call("verify", folder)
    assert verified.code == 0, verified.err + verified.out
    shown = call("show", folder, "--id", "SNG1")
    assert shown.code == 0 and "twin of SNG2 (train)" in shown.out
    reported = call("report", folder)
    assert reported.code == 0, reported.err
    assert "<b>inject</b>" in (folder / "report.html").read_text("utf-8")


def test_its_records_are_scored_and_perturbed(folder: Path, tmp_path: Path) -> None:
    state = [{"dialogue_id": "SNG1/standard/0", "turn": 0, "state": STANDARD["turns"][0]["state"]}]
    (tmp_path / "predictions.jsonl").write_text("\n".join(map(json.dumps, state)) + "\n", "utf-8")
    scored = call("score", "splits", "--gold", folder, "--predictions", tmp_path / "predictions.jsonl", "--json", tmp_path / "scores.json")
    assert scored.code == 0, scored.err
    assert json.loads((tmp_path / "scores.json").read_bytes())["metrics"]["jga"] == 100
    done = call("perturb", "--input", folder, "--with", "typos:rate=0.9", "--output", tmp_path / "new", "--quiet")
    assert done.code == 0, done.err
    (made,) = records(tmp_path / "new", "typos")
    assert made.turns[0].source_text == "a cheap hotel please" != made.turns[0].utterance


def test_its_manifest_is_a_recipe_and_its_recipe_file_fails_naming_the_new_key(folder: Path, tmp_path: Path) -> None:
    recipe = benchmarks.load_recipe("splits", str(folder / "manifest.json"))
    assert recipe.donors_from == "train" and recipe.suites == ["standard", "paraphrase"]
    with pytest.raises(UsageError, match="is the manifest of splits, and the benchmark is raddle"):
        benchmarks.load_recipe("raddle", str(folder / "manifest.json"))
    (tmp_path / "recipe.yaml").write_text(json.dumps(MANIFEST["recipe"]), "utf-8")
    with pytest.raises(UsageError, match="the recipe key twins_from is called donors_from now; rename it"):
        benchmarks.load_recipe("splits", str(tmp_path / "recipe.yaml"))


@pytest.mark.parametrize("label", [AMBIGUOUS, "knowledge_twin"])
def test_its_label_of_an_ambiguous_question_is_read(label: str) -> None:
    snippet = {"domain": "hotel", "entity_id": "1", "doc_id": "0", "title": "Is there wifi?", "body": "Yes, there is."}
    asked = _turn(2, "do they have wifi", labels=["inserted", "knowledge_seeking", label], knowledge=[snippet])
    record = _record("knowledge", [*STANDARD["turns"], asked, _turn(3, "Yes, there is.")])
    found = list(instances(decode(json.dumps(record))))
    assert [one.ambiguous for one in found] == [False, True]


def test_a_perturbed_suite_as_input_is_refused_with_what_to_name(folder: Path, tmp_path: Path) -> None:
    done = call("perturb", "--input", folder / "dialogues" / "paraphrase", "--with", "typos", "--output", tmp_path / "new")
    assert done.code == 1 and "dialogues/standard" in done.err and not (tmp_path / "new").exists()
