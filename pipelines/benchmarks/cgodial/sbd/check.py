"""What `dialmill verify` asks of the release of CGoDial's slot-based dialogues: lists of splits, versions, and held-out questions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dialmill.perturbers.insertion.questions import held_out
from dialmill.pipelines.benchmarks.cgodial.checks import found, listed, load
from dialmill.pipelines.benchmarks.cgodial.sbd.release import ACTS, VERSIONS
from dialmill.pipelines.benchmarks.cgodial.sbd.slots import DOMAINS
from dialmill.pipelines.core.checked import Checked

_MARK = re.compile(r"\[([^\[\]]+)\]")


def check_release(root: Path, recipe: Mapping[str, Any]) -> Checked:
    """Slot-based dialogues: lists of splits, versions, and held-out questions."""
    sound = "release: every dialogue is in one split, its spoken versions differ in the transcripts alone, held-out questions occur in test alone"
    return found(sound, _slot_faults(root, recipe))


def _slot_faults(root: Path, recipe: Mapping[str, Any]) -> Iterator[str]:
    dialogues = load(root / "release" / "data" / "processed" / "data_for_damd.json")
    lists = {split: root / "release" / "data" / "risawoz" / f"{split}ListFile.json" for split in ("train", "val", "test")}
    yield from listed(root, lists, dialogues)
    yield from _unread(dialogues)
    for name, versions in dialogues.items():
        for at, turns in enumerate(zip(*(versions[version] for version in VERSIONS), strict=False)):
            if any({**turn, "user": ""} != {**turns[0], "user": ""} for turn in turns):
                yield f"{name}, turn {at}: the spoken versions differ in more than the transcripts"
        if len({len(versions[version]) for version in VERSIONS}) > 1:
            yield f"{name}: the versions have different numbers of turns"
    few = root / "release" / "few_shot" / "data"
    if few.is_dir():
        named = {split: few / "risawoz" / f"{split}ListFile.json" for split in lists}
        trained_on = load(few / "processed" / "data_for_damd.json").keys() - {*load(named["val"]), *load(named["test"])}
        for name in sorted(trained_on ^ set(load(named["train"]))):
            yield f"few_shot: {name} would be trained on, or is listed and not there: the published reader trains on what is neither val nor test"
    if not Path(recipe["question_pairs"] or ".").exists():
        return  # the user's own pairs are no longer there to ask
    hidden = held_out(recipe["question_pairs"], recipe["held_out_share"])
    for split in ("train", "val"):
        for name in load(lists[split]):
            met = {slot for turn in dialogues[name]["log"] for slot in turn["turn_succ"]} & hidden if name in dialogues else set()
            if met:
                yield f"{name}, of {split}, holds the question {min(met)}, which only test may hold"


def _unread(dialogues: Mapping[str, Any]) -> Iterator[str]:
    """What the published readers would mistake: they put ids in lower case, and know thirteen domains."""
    lower: dict[str, str] = {}
    for name, versions in dialogues.items():
        if name.lower() in lower:
            yield f"{name} and {lower[name.lower()]} are one dialogue to the published readers, which put ids in lower case: rename one in the input"
        lower[name.lower()] = name
        texts = (turn[key] for turn in versions[VERSIONS[0]] for key in ("constraint", "sys_act"))
        strange = sorted({domain for text in texts for domain in _MARK.findall(text)} - {*DOMAINS, *ACTS})
        if strange:
            yield f"{name}: the published readers don't know [{strange[0]}]; their domains are {', '.join(DOMAINS)}"
