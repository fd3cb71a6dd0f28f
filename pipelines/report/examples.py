"""The dialogues that a report shows: some of every suite, outcome and domain, chosen by a hash of their ids, within a budget of bytes."""

from __future__ import annotations

import heapq
from collections.abc import Set
from hashlib import blake2b
from typing import Any
from urllib.parse import quote

import msgspec
from dialmill.perturbers.core.graphemes import shortened
from dialmill.perturbers.speech.perturber import kept_name
from dialmill.pipelines.report.readable import readable, slips
from dialmill.schemas.dialogue import STANDARD, Dialogue, SlotValues, Snippet, Span, Turn

#: Bytes of all examples together, as JSON.
BUDGET = 1_800_000
#: Examples of one suite.
MOST = 60
#: Turns of one example; what follows is left out and counted.
TURNS = 40
#: Characters of one utterance.
CHARACTERS = 2_000
#: Domains of a suite that get examples of their own.
_DOMAINS = 24
_PER_OUTCOME, _PER_DOMAIN = 30, 6

OUTCOMES = ("lost", "changed", "inserted", "kept", "same")


def outcomes(record: Dialogue) -> list[str]:
    """What happened to a dialogue, the worst first: values lost, values changed, turns inserted, edited with all values kept, or nothing."""
    statuses = {span.status for turn in record.turns for span in turn.spans}
    edited = any(turn.original is not None for turn in record.turns)
    found: list[str] = [name for name in ("lost", "changed") if name in statuses]
    if any(turn.inserted for turn in record.turns):
        found.append("inserted")
    if edited and not found:
        found.append("kept")
    return found or ["same"]


class Picker:
    """Offered every record, keeps a few of each kind; the same ones in whatever order they come."""

    def __init__(self, budget: int = BUDGET, audio: Set[str] = frozenset()) -> None:
        """Args:
        budget: bytes of all examples as JSON.
        audio: paths of recordings in the folder.
        """
        self.budget, self.audio = budget, audio
        self._heaps: dict[tuple[str, str, str], list[tuple[int, str, Dialogue]]] = {}
        self._sources: dict[tuple[str, str], Dialogue] = {}
        self._wanted: set[tuple[str, str]] | None = None  #: the sources of the variants kept, from when the last of them was seen

    def offer(self, record: Dialogue, suite: str) -> None:
        """Takes a record into account. Those of the unperturbed suite must come last."""
        rank = -int.from_bytes(blake2b(record.dialogue_id.encode("utf-8", "surrogatepass"), digest_size=7).digest(), "big")
        if suite == STANDARD:
            if self._wanted is None:
                self._wanted = {(one.source, one.source_id) for heap in self._heaps.values() for _, _, one in heap}
            if (record.source, record.source_id) in self._wanted:
                self._sources[record.source, record.source_id] = record
        item = (rank, record.dialogue_id, record)
        self._keep((suite, "outcome", outcomes(record)[0]), item, _PER_OUTCOME)
        for domain in record.domains[:3]:
            kind = (suite, "domain", domain)
            if kind in self._heaps or sum(key[:2] == kind[:2] for key in self._heaps) < _DOMAINS:
                self._keep(kind, item, _PER_DOMAIN)

    def _keep(self, kind: tuple[str, str, str], item: tuple[int, str, Dialogue], most: int) -> None:
        heap = self._heaps.setdefault(kind, [])
        if len(heap) < most:
            heapq.heappush(heap, item)
        elif item[:2] > heap[0][:2]:
            heapq.heapreplace(heap, item)

    def picked(self, suites: list[str]) -> list[dict[str, Any]]:
        """The examples, suite by suite, ready for JSON. The unperturbed suite is shown by itself only where there is no other."""
        shown = [suite for suite in suites if suite != STANDARD] or suites
        made: list[dict[str, Any]] = []
        for suite in shown:
            left = self.budget // len(shown)
            ranked = [sorted(heap, reverse=True) for key, heap in sorted(self._heaps.items()) if key[0] == suite]
            chosen: dict[str, dict[str, Any]] = {}
            for place in range(_PER_OUTCOME):
                for heap in ranked:
                    if place >= len(heap) or heap[place][1] in chosen or len(chosen) >= MOST:
                        continue
                    record = heap[place][2]
                    example = plain(record, self._sources.get((record.source, record.source_id)), self.audio)
                    size = len(msgspec.json.encode(example))
                    if size <= left:
                        left -= size
                        chosen[record.dialogue_id] = example
            made += chosen.values()
        return made


def recording(record: Dialogue, turn: int, audio: Set[str]) -> str | None:
    """Where the recording of a turn lies, as a link from the report; None where none was kept."""
    path = f"dialogues/{record.suite}/audio/{kept_name(record.source_id, record.variant, turn)}"
    return quote(path) if path in audio else None


def plain(record: Dialogue, source: Dialogue | None, audio: Set[str] = frozenset()) -> dict[str, Any]:
    """A dialogue as the page's script takes it; `source` is its unperturbed record, for the places of the values before."""
    before = [turn for turn in source.turns if not turn.inserted] if source is not None else []
    skipped = {one.turn: one.reason for step in record.lineage for one in step.skipped}
    place = 0
    last: tuple[SlotValues, ...] = ()
    turns: list[dict[str, Any]] = []
    for turn in record.turns:
        old = None
        if not turn.inserted:
            old = before[place] if place < len(before) else None
            place += 1
        if len(turns) < TURNS:
            turns.append(_plain_turn(turn, old, skipped.get(turn.turn), last, recording(record, turn.turn, audio), slips(record)))
        if turn.state:
            last = turn.state
    return _lean(
        {
            "id": record.dialogue_id,
            "suite": record.suite,
            "split": record.split,
            "language": record.language,
            "domains": record.domains,
            "outcomes": outcomes(record) if record.suite != STANDARD else [],
            "steps": [_step(step.step, step.params) for step in record.lineage if step.outcome != "selected"],
            "turns": turns,
            "left_out": max(0, len(record.turns) - TURNS),
        }
    )


def _plain_turn(turn: Turn, old: Turn | None, skip: str | None, state: tuple[SlotValues, ...], audio: str | None, letters: bool) -> dict[str, Any]:
    known = {(entry.domain, entry.slot): entry.values for entry in state}
    if turn.speaker == "other":
        return _lean({"n": turn.turn, "who": turn.speaker, "text": _cut(turn.payload or "")})
    long = max(len(turn.utterance), len(turn.original or "")) > CHARACTERS
    if long:  # offsets into a text that is cut would lie
        return _lean({"n": turn.turn, "who": turn.speaker, "text": _cut(turn.utterance), "inserted": turn.inserted})
    return _lean(
        {
            "n": turn.turn,
            "who": turn.speaker,
            "text": turn.utterance,
            "was": turn.original,
            "edits": readable(turn.original, turn.edits, letters) if turn.original is not None else [],
            "values": [_value(span) for span in turn.spans],
            "values_before": [_value(span) for span in old.spans] if old is not None and old.utterance == turn.source_text else [],
            "labels": [label for label in turn.labels if label != "inserted"],
            "inserted": turn.inserted,
            "knowledge": [_snippet(one) for one in turn.knowledge],
            "audio": audio,
            "skip": skip if turn.speaker == "user" else None,
            "state": [
                f"{entry.domain} {entry.slot} = {' | '.join(entry.values)}"
                for entry in turn.state
                if known.get((entry.domain, entry.slot)) != entry.values
            ],
        }
    )


def _cut(text: str) -> str:
    return shortened(text, CHARACTERS)


def _value(span: Span) -> tuple[int | None, int | None, str, str]:
    return span.start, span.end, f"{span.domain} {span.slot} = {span.value}", span.status


def _snippet(snippet: Snippet) -> str:
    about = " ".join(filter(None, (snippet.domain, snippet.entity_id, snippet.doc_id)))
    text = " ".join(filter(None, (snippet.title, snippet.body)))
    return shortened(f"{about}: {text}", 400)


def _step(name: str, params: dict[str, Any] | None) -> str:
    options = ", ".join(f"{key}={value}" for key, value in (params or {}).items() if value not in (None, ""))
    return f"{name} ({options})" if options else name


def _lean(item: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty: half of the bytes."""
    return {key: value for key, value in item.items() if value not in (None, "", (), [], 0, False) or key in ("n", "text")}
