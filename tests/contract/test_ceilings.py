"""The right answers reach the ceiling: every benchmark's records and release, given to `score` as a system's, and the release by the published
definitions. What can't be right is named in the score file's notes; nothing is, of the builds here."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks import registry
from dialmill.schemas import Dialogue

from tests import published
from tests.pipelines.tools import DATA, plain, records
from tests.scoring.making import score, write_lines

#: What is built: a benchmark's input and settings.
BUILDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "splits": ("multiwoz21", ()),
    "perturb": ("risawoz", ("suites=standard,typos", "perturbations.typos=typos")),
    "raddle": ("multiwoz21", ("suites=standard,typos,ood",)),
    "dstc9-track1": ("multiwoz21", ()),
    "dstc9-track2": ("multiwoz21", (f"lexicon={DATA / 'dstc9_track2' / 'lexicon.tsv'}",)),
    "dstc9-track4": ("simmc", ("suites=standard,typos",)),
    "noesis-ubuntu": ("ubuntu_irc", ("links=annotated",)),
    "noesis-advising": ("advising", ("partials=60",)),
    "cgodial-fbd": ("flow", ("train_size=60", "test_size=12")),
    "cgodial-rbd": ("ecd", ()),
    "cgodial-sbd": ("risawoz", ()),
    "agent-noise": ("messages", ("suites=standard,typos",)),
}
#: Sums of several metrics, and the recall of a candidate where there may be none.
_WITHOUT_FULL = re.compile(r"comb|MAP|R@\d+|NONE\.")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Path]]:
    """Output folders by benchmark, each built when it is first asked for."""
    root = tmp_path_factory.mktemp("ceilings")

    class Built(dict[str, Path]):
        def __missing__(self, name: str) -> Path:
            source, settings = BUILDS[name]
            plain(name, [DATA / source], root / name, *settings)
            self[name] = root / name
            return self[name]

    yield Built()


def _lines(dialogues: list[Dialogue]) -> list[dict[str, Any]]:
    """Records as a system's predictions: state, labels, and the answer with its acts."""
    found = []
    for one in dialogues:
        for turn, answer in zip(one.turns, [*one.turns[1:], None], strict=True):
            if turn.speaker == "user":
                answered = answer is not None and answer.speaker == "system"
                acts = [{"act": act.act, "domain": act.domain, "slot": act.slot, "value": act.value} for act in answer.acts] if answered else []
                line = {
                    "dialogue_id": one.dialogue_id,
                    "turn": turn.turn,
                    "state": [{"domain": entry.domain, "slot": entry.slot, "values": list(entry.values)} for entry in turn.state],
                    "labels": list(turn.labels),
                    "acts": acts,
                }
                found.append(line | ({"response": answer.utterance} if answered else {}))
    return found


def _own(folder: Path, name: str, output: Path) -> list[Path]:
    """What a perfect system would hand in."""
    if name == "dstc9-track1":
        return [folder / "release" / "data_eval" / "test" / "labels.json"]
    if name.startswith("noesis"):
        found = []
        for targets in sorted((folder / "release").glob("*_test_*.targets.tsv")):
            ranked = [{"example-id": example, "candidate-ranking": [{"candidate-id": one} for one in right]} for example, right in _targets(targets)]
            if ranked:
                found.append(output / f"{targets.name}.json")
                found[-1].write_text(json.dumps(ranked), "utf-8")
        return found
    if name == "cgodial-rbd":
        sessions = json.loads((folder / "release" / "test.json").read_text("utf-8")).values()
        path = output / "scores.json"
        path.write_text(json.dumps([float(place < len(one["true"])) for one in sessions for place in range(len(one["true"] + one["false"]))]))
        return [path]
    if name == "dstc9-track4":
        path = output / "own.json"
        path.write_text(json.dumps([one for suite in ("standard", "typos") for one in _situated(folder / "release", suite)]), "utf-8")
        return [path]
    if name == "agent-noise":
        examples = [json.loads(line) for path in sorted((folder / "release").glob("*/test.jsonl")) for line in path.read_text("utf-8").splitlines()]
        targets = [{"example_id": one["example_id"], **one["target"]} for one in examples]
        return [write_lines(output / "own.jsonl", [{key: value for key, value in one.items() if key != "kind"} for one in targets])]
    keys = ("dialogue_id", "turn", "labels") if name == "cgodial-fbd" else ()  # a corpus without states is predicted without them
    suites = sorted(path.name for path in (folder / "dialogues").iterdir() if path.is_dir())
    lines = [line for suite in suites for line in _lines(records(folder, suite, "test"))]
    return [write_lines(output / "own.jsonl", [{key: line[key] for key in keys or line} for line in lines])]


def _situated(release: Path, suite: str) -> Iterator[dict[str, Any]]:
    """The answers of every dialogue of SIMMC's release, as its baselines hand them in."""
    name = "simmc2_dials_dstc10_devtest"
    pools = {
        one["dialogue_idx"]: one for one in json.loads((release / f"{name}_retrieval_candidates.json").read_text("utf-8"))["retrieval_candidates"]
    }
    calls = {one["dialog_id"]: one["actions"] for one in json.loads((release / f"{name}_api_calls.json").read_text("utf-8"))}
    for dialogue in json.loads((release / ("" if suite == "standard" else suite) / f"{name}.json").read_text("utf-8"))["dialogue_data"]:
        number, entries = dialogue["dialogue_idx"], dialogue["dialogue"]
        frames = [entry["transcript_annotated"] for entry in entries]
        yield {
            "dialog_id": number,
            "suite": suite,
            "predictions": [
                {
                    "turn_id": entry["turn_idx"],
                    "response": entry["system_transcript"],
                    "action": call["action"],
                    "action_log_prob": {call["action"]: 0.0},
                    "attributes": (call["action_supervision"] or {"args": {}})["args"],
                }
                for entry, call in zip(entries, calls[number], strict=True)
            ],
            "candidate_scores": [
                {"turn_id": one["turn_idx"], "scores": [float(at == one["gt_index"]) for at in range(len(one["retrieval_candidates"]))]}
                for one in pools[number]["retrieval_candidates"]
            ],
            "states": [
                {
                    "turn_id": entry["turn_idx"],
                    "frames": [
                        {
                            "act": frame["act"],
                            "slots": list(frame["act_attributes"]["slot_values"].items()),
                            "request_slots": frame["act_attributes"]["request_slots"],
                            "objects": frame["act_attributes"]["objects"],
                        }
                    ],
                }
                for entry, frame in zip(entries, frames, strict=True)
            ],
        }


def _targets(path: Path) -> list[tuple[str, list[str]]]:
    """Example and its right candidates, NONE where there is none."""
    rows = csv.reader(path.read_text("utf-8").splitlines(), delimiter="\t")
    return [(row[0], [one for one in row[1].split(",") if one] or ["NONE"]) for row in rows if row]


def _flat(metrics: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, float]]:
    for name, value in metrics.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield path + name, value


@pytest.mark.parametrize("official", [False, True], ids=["ours", "official-compat"])
@pytest.mark.parametrize("name", BUILDS)
def test_own_records_score_what_can_be_scored(name: str, official: bool, built: Mapping[str, Path], tmp_path: Path) -> None:
    files = _own(built[name], name, tmp_path)
    assert files, "nothing to score"
    for file in files:
        found = score(name, built[name], file, None if name.startswith("noesis") else "all", official=official)
        ceiling = dict(_flat(found["ceiling"]))
        full = 1.0 if found["scale"] == "fraction" else 100.0
        reached = dict(_flat(found["metrics"]))
        assert reached
        for metric, value in reached.items():
            assert value == pytest.approx(ceiling[metric], abs=1e-6), f"{metric} of the right answers is {value}, its ceiling {ceiling[metric]}"
            if not _WITHOUT_FULL.search(metric):
                told = any(note.startswith("ceiling:") and metric.rpartition(".")[2] in note for note in found["notes"])
                assert value == pytest.approx(full, abs=1e-4) or told, f"{metric} of the right answers is {value}, and no note says why"


def test_every_benchmark_that_is_scored_is_here() -> None:
    scored = {one.name for one in registry.usable() if one.scorer() is not None}
    assert scored - set(registry.SCORED_ONLY) == set(BUILDS)


def test_slot_based_dialogues_by_the_published_definition(built: Mapping[str, Path]) -> None:
    everything = json.loads((built["cgodial-sbd"] / "release/data/processed/data_for_damd.json").read_text("utf-8"))
    turns = [
        [
            {"bspn": t["constraint"], "bspn_gen": t["constraint"], "aspn": t["sys_act"], "aspn_gen": t["sys_act"], "turn_succ": t["turn_succ"]}
            for t in log
        ]
        for versions in everything.values()
        for log in versions.values()
    ]
    assert published.slot_based(turns) == (100, 100)
    assert any(" " in slot or "/" in slot for slot in _slots(built["cgodial-sbd"])), "some slot has a name that the release writes otherwise"


def _slots(folder: Path) -> set[str]:
    return {str(act.slot) for one in records(folder) for turn in one.turns for act in turn.acts}


def test_flows_by_the_published_definition(built: Mapping[str, Path]) -> None:
    for path in (built["cgodial-fbd"] / "release/data").glob("*/*.jsonasr.json"):
        logs = json.loads(path.read_text("utf-8"))
        said = {
            name: [
                {"pred_label": dict.fromkeys(["origin", *(f"asr_{n}" for n in range(len(one.get("asr_results", ()))))], one.get("usr_intent"))}
                for one in log
            ]
            for name, log in logs.items()
        }
        assert not logs or published.flow_based(logs, said) == (100, 100)


def test_retrieval_by_the_published_definition(built: Mapping[str, Path]) -> None:
    sessions = json.loads((built["cgodial-rbd"] / "release/test.json").read_text("utf-8")).values()
    assert published.retrieval_based([[(1.0, 1), *((0.0, 0) for _ in one["false"])] for one in sessions]) == (100, 100)
    assert all(len(one["true"]) == 1 and not set(one["true"]) & set(one["false"]) for one in sessions)


@pytest.mark.parametrize("name", ["noesis-ubuntu", "noesis-advising"])
def test_next_utterances_by_the_published_definition(name: str, built: Mapping[str, Path], tmp_path: Path) -> None:
    files = _own(built[name], name, tmp_path)
    assert files
    for file in files:
        truth = dict(_targets(built[name] / "release" / file.name.removesuffix(".json")))
        examples = json.loads((built[name] / "release" / file.name.replace(".targets.tsv.json", ".json")).read_text("utf-8"))
        assert {str(one["example-id"]) for one in examples} == truth.keys()
        assert published.next_utterance(truth, json.loads(file.read_text("utf-8"))) == (1, 1)


def test_snippets_by_the_published_definition(built: Mapping[str, Path]) -> None:
    for path in (built["dstc9-track1"] / "release").glob("data*/*/labels.json"):
        labels = json.loads(path.read_text("utf-8"))
        assert not labels or set(published.snippets(labels, labels).values()) == {1}


def test_soloist_turns_are_their_own_right_answers(built: Mapping[str, Path]) -> None:
    """Every file of the release given as a system's, as the leaderboard takes it."""
    for path in sorted((built["raddle"] / "release").glob("*/*.test.soloist.json")):
        if json.loads(path.read_text("utf-8")):
            found = score("raddle", path, path)
            assert found["metrics"]["jga"] == 100 and found["metrics"]["bleu"] == pytest.approx(100), path
