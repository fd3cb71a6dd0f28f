"""What the records of a folder say, gathered in one pass over its files, in memory that doesn't grow with them.

Labels that a run holds out stand in labels/, which is never read here: a report can be published with the blind data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec
from dialmill.perturbers.core.tokens import tokens
from dialmill.perturbers.speech.conditions import Conditions
from dialmill.perturbers.speech.wer import errors
from dialmill.pipelines.core import files, written
from dialmill.pipelines.report import candidates
from dialmill.pipelines.report.distance import token_distance
from dialmill.pipelines.report.examples import Picker
from dialmill.pipelines.report.histogram import Histogram
from dialmill.schemas.dialogue import STANDARD, Dialogue, Turn

#: So many bytes of records are read at most; records lie in the order of a hash, so that the head of a file is a fair sample of it.
READ_AT_MOST = 2 << 30
#: So many different names (slots, domains, reasons) are counted apart; names beyond them count together.
NAMES = 2_000
OTHERS = "(others)"
#: Samples of each reason that a report shows.
REJECT_SAMPLES = 3
_CONFIDENCE = re.compile(r"confidence:([\d.]+)")
_DECODER = msgspec.json.Decoder(Dialogue)
T = TypeVar("T")


def count(table: dict[str, int], name: str, number: int = 1) -> None:
    """Adds to a table of counts that stays small."""
    if name not in table and len(table) >= NAMES:
        name = OTHERS
    table[name] = table.get(name, 0) + number


@dataclass
class SuiteFacts:
    """What a suite did to its dialogues. Tokens are words, in Chinese characters."""

    records: dict[str, int] = field(default_factory=dict)  #: by split, test_hard among them
    user_turns: int = 0
    changed_turns: int = 0
    inserted_turns: int = 0
    touched_turns: int = 0  #: changed or inserted, or both
    edits: Histogram = field(default_factory=lambda: Histogram(1, 11))  #: edits of every user turn
    token_edits: Histogram = field(default_factory=lambda: Histogram(0.02, 101))  #: of changed turns, distance by source tokens
    length: Histogram = field(default_factory=lambda: Histogram(0.05, 101))  #: of changed turns, tokens by source tokens
    status: dict[str, int] = field(default_factory=dict)  #: values of user turns: kept, changed, lost
    skipped: dict[str, int] = field(default_factory=dict)  #: turns left alone, by reason
    errors: dict[str, Histogram] = field(default_factory=dict)  #: word error rates of spoken turns, by condition
    error_words: dict[str, list[int]] = field(default_factory=dict)  #: errors and reference words, by condition
    hard: dict[str, int] = field(default_factory=dict)  #: test_hard records by reason


@dataclass
class SplitFacts:
    """What a split of the sources is made of."""

    dialogues: int = 0
    turns: dict[str, int] = field(default_factory=dict)  #: dialogues by number of turns
    words: dict[str, int] = field(default_factory=dict)  #: user turns by number of tokens
    domains: dict[str, int] = field(default_factory=dict)  #: dialogues by domain
    slots: dict[str, int] = field(default_factory=dict)  #: dialogues by slot in their last state


class Reject(msgspec.Struct):
    """A line of rejects/*.jsonl, as far as it is shown."""

    stage: str
    reason: str
    evidence: str | None = None
    file: str | None = None
    index: int | None = None
    source_id: str | None = None


_REJECTS = msgspec.json.Decoder(Reject)


@dataclass
class Facts:
    """All that a report tells beyond the manifest."""

    base: str = STANDARD  #: the suite that the facts on splits are of
    suites: dict[str, SuiteFacts] = field(default_factory=dict)
    splits: dict[str, SplitFacts] = field(default_factory=dict)
    confidence: Histogram = field(default_factory=lambda: Histogram(0.05, 20))
    languages: dict[str, int] = field(default_factory=dict)
    rejects: dict[str, dict[str, list[Reject]]] = field(default_factory=dict)  #: samples by file and reason
    examples: list[dict[str, Any]] = field(default_factory=list)
    candidates: list[dict[str, Any]] = field(default_factory=list)  #: candidate sets to look at, by file
    sampled: bool = False  #: whether some records weren't read because there are too many


def gather(folder: str, manifest: dict[str, Any], read_at_most: int = READ_AT_MOST) -> Facts:
    """The facts of an output folder.

    Args:
        folder: the folder, local or remote.
        manifest: its manifest.
        read_at_most: bytes of records to read.
    """
    audio = frozenset(item["path"] for item in manifest["outputs"] if item["path"].endswith(".wav"))
    facts, picker = Facts(), Picker(audio=audio)
    paths = [item for item in manifest["outputs"] if item["path"].startswith("dialogues/") and item["path"].endswith(".jsonl")]
    whole = sum(item["bytes"] for item in paths) or 1
    suites = list(dict.fromkeys([*manifest["recipe"].get("suites", []), *(item["path"].split("/")[1] for item in paths)]))
    facts.base = STANDARD if STANDARD in suites or not suites else suites[0]
    facts.suites = {suite: SuiteFacts() for suite in suites}
    facts.sampled = whole > read_at_most
    # The unperturbed suite last: which sources to keep for the examples is known only when the variants have been seen.
    for item in sorted(paths, key=lambda item: (item["path"].split("/")[1] == STANDARD, item["path"])):
        _, suite, name = item["path"].split("/")
        split = name.removesuffix(".jsonl")
        found = facts.suites[suite]
        found.records[split] = item["records"]
        budget = item["bytes"] if not facts.sampled else item["bytes"] * read_at_most // whole
        for record in _decoded(files.join(folder, item["path"]), budget, _DECODER):
            if split == "test_hard":
                for name in dict.fromkeys(
                    reason.partition(":")[0] for step in record.lineage if step.step.startswith("test_hard@") for reason in step.reasons
                ):
                    count(found.hard, name)
                continue
            _add_variant(found, record)
            if suite == facts.base:
                _add_source(facts, record, split)
            picker.offer(record, suite)
    facts.examples = picker.picked(suites)
    facts.candidates = candidates.sets(folder, manifest["outputs"])
    for item in manifest["outputs"]:
        if item["schema"] == "dialogue" and item["path"].startswith("few_shot/") and item["path"].endswith(".jsonl"):
            facts.suites.setdefault(item["path"].split("/")[1], SuiteFacts()).records["few_shot"] = item["records"]
        if item["path"].startswith("rejects/"):
            facts.rejects[item["path"]] = _reject_samples(files.join(folder, item["path"]), read_at_most)
    return facts


def _decoded(path: str, budget: int, decoder: msgspec.json.Decoder[T]) -> Iterator[T]:
    for number, line in enumerate(_lines(path, budget), 1):
        yield written.part(path, number, line, decoder)


def _lines(path: str, budget: int) -> Iterator[bytes]:
    with files.read(path) as stream:
        for line in stream:
            budget -= len(line)
            if budget < 0:
                return
            yield line


def _words(text: str, language: str) -> list[str]:
    """Words, in Chinese characters, as error rates count them."""
    if language == "zh":
        return [char for char in text if not char.isspace()]
    return [text[start:end] for start, end in tokens(text, language)]


def _add_variant(found: SuiteFacts, record: Dialogue) -> None:
    conditions = Conditions(record)
    otherwise = "no noise level" if conditions.whole else "ASR error simulator"
    for step in record.lineage:
        for skipped in step.skipped:
            count(found.skipped, skipped.reason.partition(":")[0])
    for turn in record.turns:
        if turn.speaker != "user":
            continue
        found.user_turns += 1
        found.inserted_turns += turn.inserted
        found.touched_turns += turn.inserted or turn.original is not None
        found.edits.add(len(turn.edits))
        for span in turn.spans:
            count(found.status, span.status)
        if turn.original is not None:
            found.changed_turns += 1
            source, words = _words(turn.original, record.language), _words(turn.utterance, record.language)
            if source:
                found.token_edits.add(token_distance(source, words) / len(source))
                found.length.add(len(words) / len(source))
        if conditions.spoken and not turn.inserted:
            _add_errors(found, turn, record.language, conditions.bands.get(turn.turn, otherwise))


def _add_errors(found: SuiteFacts, turn: Turn, language: str, condition: str) -> None:
    counted = errors(turn.source_text, turn.utterance, language) if turn.original is not None else None
    rate, wrong = (counted.rate, counted.total) if counted else (0.0, 0)
    said = counted.length if counted else len(_words(turn.utterance, language))
    if condition not in found.errors:
        found.errors[condition], found.error_words[condition] = Histogram(0.1, 11), [0, 0]
    found.errors[condition].add(rate)
    found.error_words[condition][0] += wrong
    found.error_words[condition][1] += said


def _add_source(facts: Facts, record: Dialogue, split: str) -> None:
    found = facts.splits.setdefault(split, SplitFacts())
    found.dialogues += 1
    count(facts.languages, record.language)
    count(found.turns, str(min(len(record.turns), 500)))
    for domain in dict.fromkeys(record.domains):
        count(found.domains, domain)
    state: dict[str, None] = {}
    for turn in record.turns:
        if turn.speaker == "user":
            count(found.words, str(min(len(_words(turn.source_text, record.language)), 200)))
        if turn.state:
            state = dict.fromkeys(f"{entry.domain} {entry.slot}" for entry in turn.state)
    for slot in state:
        count(found.slots, slot)
    for step in record.lineage:
        for reason in step.reasons:
            sure = _CONFIDENCE.fullmatch(reason)
            if sure:
                facts.confidence.add(float(sure[1]))


def _reject_samples(path: str, budget: int) -> dict[str, list[Reject]]:
    samples: dict[str, list[Reject]] = {}
    for reject in _decoded(path, budget, _REJECTS):
        if reject.reason not in samples and len(samples) >= NAMES:
            continue
        kept = samples.setdefault(reject.reason, [])
        if len(kept) < REJECT_SAMPLES:
            kept.append(reject)
    return samples
