"""What `dialmill verify` asks of the release files of the CGoDial benchmarks, beyond their schemas: a check for each of the three."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from dialmill.perturbers.insertion.questions import held_out
from dialmill.pipelines.benchmarks.cgodial import ambiguity as retrieval
from dialmill.pipelines.benchmarks.cgodial import slots_release as slots
from dialmill.pipelines.candidates import audit
from dialmill.pipelines.core.checked import Checked
from dialmill.schemas.flow import REJECTED

#: Faults told of a file, at most.
_MOST = 20


def _found(told: str, faults: Iterator[str]) -> Checked:
    """The first faults, or what holds where there are none."""
    problems = [fault for fault, _ in zip(faults, range(_MOST), strict=False)]
    return Checked([] if problems else [told], problems)


def _load(path: Path) -> Any:
    return msgspec.json.decode(path.read_bytes())


def _listed(root: Path, lists: Mapping[str, Path], names: Iterable[str]) -> Iterator[str]:
    """Faults of split lists: every dialogue stands in one of them, once."""
    seen: dict[str, str] = {}
    for split, path in lists.items():
        for name in _load(path):
            if name in seen:
                yield f"{path.relative_to(root)}: {name} stands in {seen[name]} too"
            seen[name] = split
    there = set(names)
    for name in sorted(there ^ seen.keys()):
        yield f"{name} has a dialogue and stands in no list of a split" if name in there else f"{name} stands in a list and has no dialogue"


def check_flows(root: Path) -> Checked:
    """Flow-based dialogues: lists of splits, and intents."""
    return _found("release: every dialogue of a flow stands in one split, and int2act.json has its intents", _flow_faults(root))


def _flow_faults(root: Path) -> Iterator[str]:
    for folder in sorted(path.parent for path in (root / "release" / "data").glob("*/int2act.json")):
        actions = _load(folder / "int2act.json")
        dialogues: dict[str, Any] = {}
        for path in sorted(folder.glob("*.jsonasr.json")):
            dialogues |= _load(path)
        yield from _listed(root, {split: folder / f"{split}_ids.json" for split in ("train", "dev", "test")}, dialogues)
        for name, turns in dialogues.items():
            for at, turn in enumerate(turns):
                intent = turn.get("usr_intent")
                if intent not in (None, REJECTED) and intent not in actions:
                    yield f"{folder.relative_to(root)}: {name}, turn {at}: int2act.json has no intent {intent!r}"


def check_retrieval(root: Path, recipe: Mapping[str, Any]) -> Checked:
    """Retrieval-based dialogues: candidates, and whether they give answers away."""
    return _found("release: candidates are distinct, as many as due, and blind rankers don't find the right ones", _retrieval_faults(root, recipe))


def _retrieval_faults(root: Path, recipe: Mapping[str, Any]) -> Iterator[str]:
    for split, name in (("train", "train"), ("valid", "dev"), ("test", "test")):
        path = next(one for one in (root / "labels" / "release" / f"{name}.json", root / "release" / f"{name}.json") if one.is_file())
        examples = _load(path)
        for source_id, one in examples.items():
            texts = one["true"] + one["false"]
            if len(texts) != recipe["candidate_numbers"][split]:
                yield f"{path.relative_to(root)}: {source_id} has {len(texts)} candidates, {recipe['candidate_numbers'][split]} are due"
            if len(retrieval.usable(one["true"][0], one["false"], ())) < len(one["false"]):
                yield f"{path.relative_to(root)}: {source_id} has candidates that nearly equal each other"
        total: dict[str, int] = {}
        shuffled = _load(root / "release" / f"ecd_{name}_subtask_1.json")
        if len(shuffled) != len(examples):
            yield f"release/ecd_{name}_subtask_1.json: has {len(shuffled)} examples, {name}.json has {len(examples)}"
            continue
        for one, same in zip(shuffled, examples.values(), strict=True):
            options = [option["utterance"] for option in one["options-for-next"]]
            if sorted(options) != sorted(same["true"] + same["false"]):
                yield f"release/ecd_{name}_subtask_1.json: example {one['example-id']} has other candidates than {name}.json"
                continue
            audit.add(total, audit.measure(same["history"], options, [options.index(same["true"][0])], lambda word: 1.0))
        yield from audit.suspicions(f"release/ecd_{name}_subtask_1.json", audit.rates(total))


def check_slots(root: Path, recipe: Mapping[str, Any]) -> Checked:
    """Slot-based dialogues: lists of splits, versions, and held-out questions."""
    told = "release: every dialogue stands in one split, its versions differ in what is heard alone, held-out questions are met in testing alone"
    return _found(told, _slot_faults(root, recipe))


def _slot_faults(root: Path, recipe: Mapping[str, Any]) -> Iterator[str]:
    dialogues = _load(root / "release" / "data" / "processed" / "data_for_damd.json")
    lists = {split: root / "release" / "data" / "risawoz" / f"{split}ListFile.json" for split in ("train", "val", "test")}
    yield from _listed(root, lists, dialogues)
    for name, versions in dialogues.items():
        for at, turns in enumerate(zip(*(versions[version] for version in slots.VERSIONS), strict=False)):
            if any({**turn, "user": ""} != {**turns[0], "user": ""} for turn in turns):
                yield f"{name}, turn {at}: the versions differ in more than what is heard"
        if len({len(versions[version]) for version in slots.VERSIONS}) > 1:
            yield f"{name}: the versions have different numbers of turns"
    if not Path(recipe["question_pairs"] or ".").exists():
        return  # the user's own pairs are no longer there to ask
    hidden = held_out(recipe["question_pairs"], recipe["held_out_share"])
    for split in ("train", "val"):
        for name in _load(lists[split]):
            met = {slot for turn in dialogues[name]["log"] for slot in turn["turn_succ"]} & hidden if name in dialogues else set()
            if met:
                yield f"{name}, of {split}, holds the question {min(met)}, which is for testing alone"
