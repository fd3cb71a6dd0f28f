"""What a run counts: what went into every stage, what came out, what was rejected and why. The counts are consistent or the run fails."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from dialmill.perturbers.core.events import DonorWording, Event, SpokenTurn
from dialmill.perturbers.speech.wer import Errors, add_to_sums
from dialmill.pipelines.core.errors import DialmillError

K = TypeVar("K", bound=Hashable)


#: A note that begins so tells what the input holds less of than was asked for; what follows is a warning.
SHORTFALL = "shortfall: "


#: The kind of `word_errors` that leaves out what steps before the speech channel did to a turn.
SPEECH_ALONE = "speech_alone"


class StageCount(msgspec.Struct):
    """One stage's count of records: ``in + made == out + sum(rejected)``."""

    entered: int = 0
    out: int = 0
    made: int = 0
    rejected: dict[str, int] = {}

    @property
    def is_consistent(self) -> bool:
        """Whether nothing vanished."""
        return self.entered + self.made == self.out + sum(self.rejected.values())


class Counters(msgspec.Struct):
    """Counts, and what else a run tells about itself; those of different workers add up in any order.

    `notes` counts remarks about the input ("span_mismatch"); `donor_wordings` turns that took the wording of another dialogue's turn, by suite, their
    own split and that one's ("" for none); `model_fallbacks` questions that rules worded in place of a language model, by suite and why.
    `inputs` and `parts` list the files read and the parts of files written, `files` the files that workers joined of these, `faults` the inputs
    that can't be used, `overlap` the dialogues that stand in two splits, `failures` is one failure of each kind by suite ("speech\\nasr_failed"),
    `audit` what blind rankers find in each file of candidate sets, `word_errors` the sums of recognition errors by suite, language and condition
    ("speech\\nen\\nnoise\\npink"), `difficulty` those of novelty and distance by suite ("typos\\nchanged"), `hard` the choice of each suite's hard
    records and its check by suite, baseline and figure.
    """

    stages: dict[str, StageCount] = {}
    notes: dict[str, int] = {}
    donor_wordings: dict[tuple[str, str, str], int] = {}
    model_fallbacks: dict[tuple[str, str], int] = {}
    overlap: dict[str, dict[str, int]] = {}
    audit: dict[str, dict[str, int]] = {}
    word_errors: dict[str, dict[str, int]] = {}
    difficulty: dict[str, dict[str, int]] = {}
    hard: dict[str, dict[str, int]] = {}
    failures: dict[str, str] = {}
    inputs: list[dict[str, Any]] = []
    parts: list[tuple[str, int, int, int]] = []  #: path, shard, records, bytes
    files: list[tuple[str, str, int, str]] = []  #: path, the file (its Parquet form is another), bytes, sha256
    faults: list[str] = []

    def stage(self, name: str) -> StageCount:
        """The count of a stage, begun at zero."""
        if name not in self.stages:
            self.stages[name] = StageCount()
        return self.stages[name]

    def reject(self, stage: str, reason: str, number: int = 1) -> None:
        """Counts a rejected record."""
        rejected = self.stage(stage).rejected
        rejected[reason] = rejected.get(reason, 0) + number

    def note(self, name: str, number: int = 1) -> None:
        """Counts a remark."""
        self.notes[name] = self.notes.get(name, 0) + number

    def count_event(self, suite: str, split: str, event: Event) -> None:
        """Counts an event of a variant of a dialogue that is in `split`."""
        if isinstance(event, SpokenTurn):
            found = Errors(event.substitutions, event.deletions, event.insertions, event.length)
            add_to_sums(self.word_errors.setdefault(f"{suite}\n{event.language}\n{SPEECH_ALONE}\n", {}), found)
        elif isinstance(event, DonorWording):
            _add(self.donor_wordings, {(suite, split, event.split or ""): 1})
        else:
            _add(self.model_fallbacks, {(suite, event.reason): 1})

    def add(self, other: Counters) -> None:
        """Adds another worker's counts to these."""
        for name, theirs in other.stages.items():
            mine = self.stage(name)
            mine.entered += theirs.entered
            mine.out += theirs.out
            mine.made += theirs.made
            for reason, number in theirs.rejected.items():
                self.reject(name, reason, number)
        _add(self.notes, other.notes)
        _add(self.donor_wordings, other.donor_wordings)
        _add(self.model_fallbacks, other.model_fallbacks)
        for ours, others in (
            (self.overlap, other.overlap),
            (self.audit, other.audit),
            (self.word_errors, other.word_errors),
            (self.difficulty, other.difficulty),
            (self.hard, other.hard),
        ):
            for key, sums in others.items():
                _add(ours.setdefault(key, {}), sums)
        for key, said in other.failures.items():
            self.failures[key] = min(said, self.failures.get(key, said))
        self.inputs += other.inputs
        self.parts += other.parts
        self.files += other.files
        self.faults += other.faults

    def whole_inputs(self) -> list[dict[str, Any]]:
        """The files read, by their path; the records of a file that several workers read are counted by these."""
        counted: dict[str, int] = {}
        for one in self.inputs:
            if "sha256" not in one:
                counted[one["path"]] = counted.get(one["path"], 0) + one["records"]
        found = ({**one, "records": one["records"] + counted[one["path"]]} if one["path"] in counted else one for one in self.inputs)
        return sorted((one for one in found if "sha256" in one), key=lambda one: str(one["path"]))

    def check(self) -> None:
        """Raises `DialmillError` unless the counts of every stage are consistent."""
        for name, count in self.stages.items():
            if not count.is_consistent:
                raise DialmillError(
                    f"the counts of stage {name!r} are inconsistent: {count.entered} in and {count.made} made, but {count.out} out and"
                    f" {sum(count.rejected.values())} rejected; nothing was written. This is a fault of dialmill: please report it"
                )

    def stage_list(self) -> list[dict[str, Any]]:
        """The stages as they stand in the manifest, in the order of the graph."""
        rank = {name: place for place, name in enumerate(("read", "lines", "filter", "split"))}
        ordered = sorted(self.stages.items(), key=lambda item: (rank.get(item[0], len(rank)), item[0]))
        return [
            {"name": name, "in": count.entered, "out": count.out, "made": count.made, "rejected": dict(sorted(count.rejected.items()))}
            for name, count in ordered
        ]

    def pack(self) -> bytes:
        """The counters as bytes."""
        return msgspec.msgpack.encode(self)

    @classmethod
    def unpack(cls, data: bytes) -> Counters:
        """Inverse of `pack`."""
        return msgspec.msgpack.decode(data, type=cls)


def _add(ours: dict[K, int], theirs: Mapping[K, int]) -> None:
    for key, number in theirs.items():
        ours[key] = ours.get(key, 0) + number


def total(parts: Iterable[Counters]) -> Counters:
    """The sum of counters."""
    found = Counters()
    for one in parts:
        found.add(one)
    return found


def total_packed(parts: Iterable[bytes]) -> Counters:
    """The sum of packed counters."""
    return total(map(Counters.unpack, parts))
