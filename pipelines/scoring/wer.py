"""`dialmill score wer`: how much a recogniser got wrong in a speech suite, and how many slot values were preserved.

The reference of a user turn is what was said (its text before perturbation), the hypothesis what the suite has. Rates are corpus rates: all errors by
all reference words, for Chinese by all reference characters.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialmill.perturbers.speech.conditions import Conditions, band_order, speech_steps
from dialmill.perturbers.speech.wer import Errors, corpus_rate, errors, raw_errors
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.scorer import Settings, Table, versions
from dialmill.pipelines.proxy.lineage import conversations, is_log
from dialmill.pipelines.scoring.gold import records
from dialmill.pipelines.scoring.tables import number
from dialmill.pipelines.scoring.tables import text as shown
from dialmill.pipelines.stages.tuning import took_part
from dialmill.pipelines.stages.word_errors import measured
from dialmill.schemas import Dialogue

_SPLITS = ("train", "valid", "test")
_STATUSES = ("kept", "changed", "lost")


def score_files(settings: Settings, predictions: Sequence[str], suite: str | None) -> dict[str, Any]:
    """The score file of one suite of speech; predictions are none."""
    if predictions:
        raise UsageError("score wer takes no --predictions: the records of the suite hold both the source text and its transcript")
    return score(settings.gold, suite, settings.split)


def score(gold: str, suite: str | None, split: str | None = None) -> dict[str, Any]:
    """The score file of one suite; rates are fractions.

    Args:
        gold: an output folder, a JSONL file of its records, or the log of a proxy.
        suite: the suite; None takes the only one whose lineage holds speech.
        split: None takes train, valid and test.

    Raises:
        InputError: nothing to score there, or a damaged file.
        UsageError: several speech suites and none named.
    """
    name, found = _suite(gold, suite, split)
    tally = _Tally()
    tuned_on = _tuned_on(gold, name)
    for dialogue in found:
        tally.add(dialogue, tuned_on)
    if not tally.spoken:
        raise InputError(gold, f"suite {name} holds no user turn that can be spoken", "name another suite or split")
    if len(tally.languages) > 1:
        languages = " and ".join(sorted(tally.languages))
        raise InputError(gold, f"suite {name} mixes {languages}, whose units differ", "score one language at a time")
    return _score_file(name, tally)


@dataclass
class _Tally:
    """The errors of a suite, turn by turn.

    Args:
        spoken: of every turn that can be spoken, both texts in spoken form.
        raw: of the same turns, both texts as written.
        groups: (kind of condition, condition) -> the errors in `spoken` of its turns.
        slots: slot -> status of a value -> how many values.
        failed: turns that the recogniser failed at.
    """

    spoken: list[Errors] = field(default_factory=list)
    raw: list[Errors] = field(default_factory=list)
    groups: dict[tuple[str, str], list[Errors]] = field(default_factory=lambda: defaultdict(list))
    slots: dict[str, dict[str, int]] = field(default_factory=dict)
    languages: set[str] = field(default_factory=set)
    dialogues: int = 0
    failed: int = 0

    def add(self, dialogue: Dialogue, tuned_on: frozenset[str]) -> None:
        """Adds the turns of a dialogue."""
        self.dialogues += 1
        self.languages.add(dialogue.language)
        conditions = Conditions(dialogue)
        self.failed += len(conditions.failed)
        for turn, under in measured(dialogue, conditions, tuned_on):
            of_turn = errors(turn.source_text, turn.utterance, dialogue.language)
            if of_turn.length:
                self.spoken.append(of_turn)
                self.raw.append(raw_errors(turn.source_text, turn.utterance, dialogue.language))
                for group in under:
                    self.groups[group].append(of_turn)
            for span in turn.spans:
                counts = self.slots.setdefault(f"{span.domain}-{span.slot}", dict.fromkeys(_STATUSES, 0))
                counts[span.status] += 1

    def rates_by_condition(self) -> dict[str, dict[str, Any]]:
        """Kind of condition -> condition -> the rate of its turns."""
        made: dict[str, dict[str, Any]] = {}
        for (kind, label), parts in sorted(self.groups.items(), key=lambda item: (item[0][0], band_order(item[0][1]))):
            made.setdefault(kind, {})[label] = corpus_rate(parts)._asdict()
        return made


def _score_file(suite: str, tally: _Tally) -> dict[str, Any]:
    rate, chinese = corpus_rate(tally.spoken), "zh" in tally.languages
    totals = [sum(column) for column in zip(*tally.spoken, strict=True)]
    return {
        "benchmark": "wer",
        "suite": suite,
        "scale": "fraction",
        "metrics": {
            "wer": rate.rate,
            "wer_raw": corpus_rate(tally.raw).rate,
            **({"cer": rate.rate} if chinese else {}),
            "wer_low": rate.low,
            "wer_high": rate.high,
            "substitutions": totals[0] / totals[3],
            "deletions": totals[1] / totals[3],
            "insertions": totals[2] / totals[3],
        },
        "by": tally.rates_by_condition(),
        "values": {slot: tally.slots[slot] for slot in sorted(tally.slots)},
        "policy": {
            "unit": "character" if chinese else "word",
            "wer": "both texts in spoken form: lower case, no punctuation, numbers, times and codes as words, one spelling, compounds written alike, "
            "filled pauses (um, uh; 嗯, 呃) left out; so plain and written output score alike",
            "wer_raw": "both texts as written, without case, punctuation and blanks",
            "interval": "95 %, by the delta method over turns (wer_low, wer_high)",
            "turns that failed": "are in the suite unchanged, and count as transcribed without error",
        },
        "notes": [],
        "versions": versions(("numpy",)),
        "counts": {
            "dialogues": tally.dialogues,
            "turns": len(tally.spoken),
            "reference_units": rate.length,
            "turns_that_failed": tally.failed,
        },
    }


def _tuned_on(gold: str, suite: str) -> frozenset[str]:
    """The dialogues that the suite's level of noise was tuned on, from the manifest beside them; none without one."""
    path = Path(gold) / "manifest.json"
    if not path.is_file():
        return frozenset()
    try:
        return took_part(json.loads(path.read_bytes())["speech"]["tuned"].get(suite, {}))
    except (ValueError, KeyError, TypeError, AttributeError):
        return frozenset()


def _suite(gold: str, suite: str | None, split: str | None) -> tuple[str, Iterator[Dialogue]]:
    """The suite's name and its records."""
    root = Path(gold)
    if not root.exists():
        raise InputError(gold, "does not exist", "check the path")
    if is_log(gold):
        return suite or root.stem, (one for one in conversations(gold) if suite in (None, one.suite))
    if root.is_file():
        return suite or root.stem, (one for one in records(root) if suite in (None, one.suite))
    held = {one.name: one for one in sorted((root / "dialogues").glob("*")) if one.is_dir()}
    if not held:
        raise InputError(gold, "has no dialogues/SUITE", "expected is a folder that `dialmill build` or `dialmill perturb` made")
    if suite is None:
        speech = [name for name, folder in held.items() if _is_speech(folder)]
        if len(speech) != 1:
            raise UsageError(f"name a suite with --suite: {', '.join(speech or held)}" + ("" if speech else " (none of them is of speech)"))
        suite = speech[0]
    if suite not in held:
        raise InputError(gold, f"has no suite {suite}", f"it has {', '.join(held)}")
    # Where labels are held out, the inputs don't say what they were before.
    folders = (held[suite], root / "labels" / "dialogues" / suite)
    paths = {one: folder / f"{one}.jsonl" for folder in folders for one in ((split,) if split else _SPLITS) if (folder / f"{one}.jsonl").is_file()}
    if not paths:
        raise InputError(gold, f"has no dialogues/{suite}/{split or 'test'}.jsonl", "name another split")
    return suite, (dialogue for path in paths.values() for dialogue in records(path))


def _is_speech(folder: Path) -> bool:
    for split in _SPLITS:
        path = folder / f"{split}.jsonl"
        first = next(records(path), None) if path.is_file() else None
        if first is not None:
            return bool(speech_steps(first))
    return False


def text(scores: dict[str, Any]) -> str:
    """The scores for a terminal."""
    return shown(scores, tables(scores))


def tables(scores: dict[str, Any]) -> list[Table]:
    """The scores as tables."""
    metrics, counts = scores["metrics"], scores["counts"]
    unit = "CER" if "cer" in metrics else "WER"
    head = (f"suite {scores['suite']}: {counts['turns']:,} turns, {counts['reference_units']:,} reference {scores['policy']['unit']}s", "rate")
    rows = [(name, number(value, 4)) for name, value in metrics.items()]
    made = [Table(f"{unit} ({scores['scale']})", head, rows)]
    for kind, groups in scores["by"].items():
        cells = [(label, str(one["turns"]), number(one["rate"], 4), f"[{one['low']:.4f}, {one['high']:.4f}]") for label, one in groups.items()]
        made.append(Table(f"by {kind}", (kind, "turns", unit, "95 % interval"), cells))
    if scores["values"]:
        shares = []
        for slot, statuses in scores["values"].items():
            every = sum(statuses.values())
            shares.append((slot, str(every), *(number(statuses[status] / every, 4) for status in _STATUSES)))
        made.append(Table("slot value preservation", ("slot", "values", *_STATUSES), shares))
    return made
