"""manifest.json: what was made, from what, how, and what was counted; the mark of a whole folder."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

from dialmill.pipelines.candidates.audit import rates, suspicions
from dialmill.pipelines.core.benchmark import Job
from dialmill.pipelines.core.counters import SHORTFALL, Counters
from dialmill.pipelines.core.subsets import tells_hard
from dialmill.pipelines.sinks.shortfalls import empty_parts, refusals
from dialmill.pipelines.stages import difficulty, hard, losses
from dialmill.pipelines.stages.join_tokens import JOINED
from dialmill.pipelines.stages.split import Layout
from dialmill.pipelines.stages.word_errors import report
from dialmill.schemas.version import RECORD, VERSION

SPLIT_FILES = ("train", "valid", "test", "test_hard")
_OUR_FAULTS = ("reader_failed", "perturber_failed", "invalid_record")
#: Packages whose versions can change the output.
_PACKAGES = ("apache-beam", "pyarrow", "msgspec", "jieba", "pypinyin", "nlpaug")


def expected_files(job: Job) -> dict[str, str]:
    """The data files of a job (path -> schema), whether or not a record goes there."""
    recipe = job.recipe
    found = {f"dialogues/{suite}/{split}.jsonl": "dialogue" for suite in recipe.suites for split in SPLIT_FILES}
    if recipe.held_out_labels:
        found |= {f"labels/dialogues/{suite}/{split}.jsonl": "dialogue" for suite in recipe.suites for split in ("test", "test_hard")}
    found |= job.benchmark.expected(recipe)
    return {path: schema for path, schema in found.items() if not (recipe.held_out_labels and tells_hard(path))}


def entry(path: str, content: bytes) -> dict[str, Any]:
    """The line of a file that holds no records."""
    return {"path": path, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content), "records": None, "schema": None}


#: The manifest of the private part of a folder whose test labels are held out: seed, inputs' digests, and the files of the labels.
PRIVATE = "labels/manifest.json"


def public(whole: Mapping[str, Any], split_of: Callable[[str], str | None]) -> dict[str, Any]:
    """The manifest of what is published where labels are held out: without the seed and the inputs' digests, with which a rebuild would give the
    labels away, without the files of labels/, and without what is counted on labels, the check of the hard sets and the audit of test candidates:
    how often a baseline is right on a set, or the shortest candidate is the answer, tells of single labels where sets are small.

    Args:
        split_of: the split of a release file.
    """
    inputs = [{**one, "sha256": None} for one in whole["inputs"]]
    outputs = [one for one in whole["outputs"] if not str(one["path"]).startswith("labels/")]
    shown = {key: value for key, value in whole.items() if key != "hard"}
    audit = whole.get("audit", {})
    hidden = {path: measured for path, measured in audit.items() if split_of(path) == "test"}
    if audit:
        shown["audit"] = {path: measured for path, measured in audit.items() if path not in hidden}
    told = {one for path, measured in hidden.items() for one in suspicions(path, measured)}
    warnings = [one for one in whole["warnings"] if one not in told]
    return {**shown, "seed": None, "inputs": inputs, "outputs": outputs, "warnings": warnings}


def make(job: Job, counters: Counters, layout: Layout, outputs: list[dict[str, Any]], tuned: dict[str, Any] | None = None) -> dict[str, Any]:
    """The manifest of a finished run. Holds no time and no machine, so that equal jobs give equal bytes. `tuned` is what suites found out first."""
    audited = {path: rates(sums) for path, sums in sorted(counters.audit.items())}
    return {
        "dialmill": VERSION,
        "benchmark": job.recipe.benchmark,
        "recipe": job.recipe.to_dict(),
        "seed": job.seed,
        "splits": layout.mode,
        "versions": _versions(),
        "inputs": counters.whole_inputs(),
        "stages": counters.stage_list(),
        "outputs": outputs,
        "overlap": {pair: dict(sorted(kinds.items())) for pair, kinds in sorted(counters.overlap.items())},
        "notes": notes_of(counters),
        **({"difficulty": difficulty.report(counters.difficulty)} if counters.difficulty else {}),
        **({"hard": hard.report(counters.hard)} if counters.hard else {}),
        **({"audit": audited} if audited else {}),
        **({"speech": {"transcribed": report(counters.word_errors), "tuned": tuned or {}}} if counters.word_errors else {}),
        "warnings": [
            *empty_parts(job, counters, layout, outputs),
            *layout.warnings,
            *job.startup_warnings,
            *_shortfalls(counters),
            *refusals(job.recipe, counters),
            *_unlocated(counters),
            *(one for path, measured in audited.items() for one in suspicions(path, measured)),
            *_annotation_errors(counters),
            *_rejections(counters),
            *_overlaps(counters),
            *wording_warnings(counters),
            *difficulty.warnings(job.recipe, counters.difficulty),
            *(
                f"suite {suite} is easy: no light baseline loses anything sure on it (see hard.{suite}.loss)"
                for suite in losses.harmless(hard.report(counters.hard))
            ),
        ],
    }


def notes_of(counters: Counters) -> dict[str, int]:
    """The counts of the manifest's `notes`, each under its words."""
    donors = {_donor_note(*key): number for key, number in counters.donor_wordings.items()}
    fallbacks = {_fallback_note(*key): number for key, number in counters.model_fallbacks.items()}
    return dict(sorted((counters.notes | donors | fallbacks).items()))


def wording_warnings(counters: Counters) -> list[str]:
    """Wording that a turn took from another split, and questions that a language model was to word and did not."""
    shared = {_donor_note(*key): number for key, number in counters.donor_wordings.items() if key[2] not in ("", key[1])}
    fallbacks = {_fallback_note(*key): number for key, number in counters.model_fallbacks.items()}
    hint = "template overlap of two splits (donors_from=train takes donors from the training split alone)"
    found = [f"{number} {note}: {hint}" for note, number in sorted(shared.items())]
    return found + [f"{number} {note}" for note, number in sorted(fallbacks.items())]


#: The notes that have a warning of their own.
_ABSENT, _SHORT = "listed_but_absent", "pool_short"
#: Slot values that the input gives, and those of them that were found in their texts.
_VALUES, _LOCATED = "slot_values", "slot_values_located"
#: Messages of logs whose links are known, those of them that are predicted to answer the same message, and one of the same conversation.
_LINKED, _FOUND, _NEAR = "links_known", "links_known_found", "links_known_near"
_OWN = (_ABSENT, _SHORT, _VALUES, _LOCATED, _LINKED, _FOUND, _NEAR, JOINED)


def linked(notes: Mapping[str, int]) -> str:
    """How many of the links that logs come with were predicted, in words; "" where they come with none."""
    known, found, near = (notes.get(name, 0) for name in (_LINKED, _FOUND, _NEAR))
    if not known:
        return ""
    shares = f"{found:,} linked alike ({found / known:.1%}), {near:,} into the same conversation ({near / known:.1%})"
    return f"{known:,} messages with a known link: {shares}"


def _unlocated(counters: Counters) -> list[str]:
    """How many of the input's slot values were found in their texts, where some were not."""
    told = located(counters.notes)
    return [told] if told and counters.notes.get(_LOCATED, 0) < counters.notes[_VALUES] else []


def located(notes: Mapping[str, int]) -> str:
    """How many of the slot values that the input gives without a place were found in their texts, in words; "" where it gives none."""
    given, found = notes.get(_VALUES, 0), notes.get(_LOCATED, 0)
    if not given:
        return ""
    rest = "" if found == given else "; the others are in rejects/ or unlabelled: their turns keep act and state, and have no span"
    return f"{found:,} of {given:,} slot values located{rest}"


def _shortfalls(counters: Counters) -> list[str]:
    """What the input or a pool holds less of than was asked for."""
    absent, short = counters.notes.get(_ABSENT, 0), counters.notes.get(_SHORT, 0)
    found = [f"{absent} ids of the split lists are not in the input"] if absent else []
    if short:
        found.append(f"{_SHORT}: {short} examples have fewer candidates than wanted: too few utterances differ, and none is repeated")
    found += [name.removeprefix(SHORTFALL) for name in sorted(counters.notes) if name.startswith(SHORTFALL)]
    return found


def _annotation_errors(counters: Counters) -> list[str]:
    """What the sources' annotations have wrong, and how often, in one line."""
    found = [(name, number) for name, number in sorted(counters.notes.items()) if name not in _OWN and not name.startswith(SHORTFALL)]
    errors = [f"{name} {number}" for name, number in found]
    return [f"annotation errors of the sources, auto-corrected or left out: {', '.join(errors)}"] if errors else []


def _overlaps(counters: Counters) -> list[str]:
    """The dialogues that stand in two splits, a line for each pair of splits."""
    return [
        f"{pair}: " + ", ".join(f"{number} pairs of {kind} copies" for kind, number in sorted(kinds.items()))
        for pair, kinds in sorted(counters.overlap.items())
    ]


def _donor_note(suite: str, split: str, donor_split: str) -> str:
    """What the manifest calls turns that took the wording of another dialogue's turn."""
    return f"{suite}: {split} turns with a paraphrase donor in {donor_split or 'no split'}"


def _fallback_note(suite: str, reason: str) -> str:
    """What the manifest calls questions that a language model was to word and did not."""
    return f"{suite}: questions worded by rules in place of the model ({reason})"


def _rejections(counters: Counters) -> list[str]:
    """What a user should look at among the rejected: records that couldn't be read, faults of our own, and an empty result."""
    found = []
    unread = counters.stage("read").rejected
    if unread:
        counts = ", ".join(f"{reason} {number}" for reason, number in sorted(unread.items()))
        found.append(f"{sum(unread.values())} dialogues could not be read and are in rejects/read.jsonl: {counts}")
    ours = {reason: sum(stage.rejected.get(reason, 0) for stage in counters.stages.values()) for reason in _OUR_FAULTS}
    if any(ours.values()):
        counts = ", ".join(f"{reason} {number}" for reason, number in ours.items() if number)
        found.append(f"faults of dialmill or of its engines cost some records ({counts}); rejects/ has them, please report them")
    if not counters.stage("split").out:
        found.append("every dialogue was rejected: no split has any")
    return found


def _versions() -> dict[str, str]:
    found = {"python": ".".join(platform.python_version_tuple()[:2]), "record": str(RECORD)}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def encode(manifest: dict[str, Any]) -> bytes:
    """The manifest as its file has it."""
    return (json.dumps(manifest, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()
