"""A source dialogue and its variants as text: turn by turn, each line under the name of its suite."""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Iterator, Sequence

from dialmill.perturbers.core.graphemes import MARKS, is_mark, shortened
from dialmill.pipelines.report.readable import readable, slips
from dialmill.schemas import Dialogue, Turn

_RED, _GREEN, _BOLD, _DIM, _OFF = "\033[31m", "\033[32m", "\033[1m", "\033[2m", "\033[0m"
#: How much is shown of a turn that is carried through, in characters.
_CARRIED = 200
#: What became of a value, behind it.
_STATUS = {"kept": "", "changed": " (changed: {})", "lost": " (lost)"}
#: Columns that a text has beside its suite's name at least, and all of them.
_ROOM, NARROWEST = 20, 20


def text(records: Sequence[Dialogue], width: int | None = None, color: bool = False, changed: bool = False) -> str:
    """The records of one dialogue: the source's text, then each suite's, edits marked ``[-old-]{+new+}`` by words (slips of typing by letters), spans
    and state below. Every line begins with the name of its suite, and the number of the variant where there are several.

    Args:
        records: those of one source, the unperturbed one first.
        width: columns to fill, None for those of the terminal.
        color: mark edits by colour instead of brackets.
        changed: only the turns that some record changed or inserted.
    """
    columns = width or shutil.get_terminal_size((100, 24)).columns
    first = records[0]
    bold, off = (_BOLD, _OFF) if color else ("", "")
    about = (first.source, first.language, str(first.split), ", ".join(first.domains))
    lines = [f"{bold}{first.source_id}{off}  {', '.join(part for part in about if part)}", ""]
    names = suite_names(records)
    page = _Page(names, columns, color)
    left_out = 0
    for turns in aligned(records):
        if changed and not any(turn is not None and (turn.original is not None or turn.inserted) for turn in turns):
            left_out += 1
            continue
        head = next(turn for turn in turns if turn is not None)
        lines.append(f"{bold}{head.turn} {head.speaker}{off}{' (inserted)' if head.inserted else ''}")
        lines += page.turn(records, turns)
    if left_out:
        lines += [f"({left_out} {'turn' if left_out == 1 else 'turns'} that no suite changed left out)"]
    lines.append("")
    for name, record in zip(names, records, strict=True):
        for step in record.lineage:
            params = ", ".join(f"{key}={value}" for key, value in (step.params or {}).items() if value is not None)
            told = f"{step.step}({params}), seed {step.seed}: {step.outcome} {'; '.join(step.reasons)}".rstrip()
            lines += page.wrapped(name, told)
    return "\n".join(lines).rstrip("\n")


def suite_names(records: Sequence[Dialogue]) -> list[str]:
    """What records are called: their suite, with the variant where a suite has several."""
    several = {record.suite for record in records if record.variant}
    return [f"{record.suite}/{record.variant}" if record.suite in several else record.suite for record in records]


class _Page:
    """The lines of turns, to a width."""

    def __init__(self, names: Sequence[str], columns: int, color: bool) -> None:
        self.names, self.columns, self.color = names, columns, color
        self.gutter = max(len(name) for name in names) + 1

    def turn(self, records: Sequence[Dialogue], turns: Sequence[Turn | None]) -> Iterator[str]:
        """The lines of a turn: those of the records that say it otherwise than the ones before, or why they left it alone."""
        said: set[str] = set()
        states: set[str] = set()
        for name, record, turn in zip(self.names, records, turns, strict=True):
            if turn is None:
                continue
            if turn.speaker == "other":
                yield from self.wrapped(name, f"{turn.role or ''}: {shortened(turn.payload or '', _CARRIED)}")
                return
            if turn.original is None and turn.source_text in said:
                skip = next((one.reason for step in record.lineage for one in step.skipped if one.turn == turn.turn), None)
                if skip is not None and turn.speaker == "user":
                    yield from self.wrapped(name, f"(unchanged: {skip})")
                continue
            said.add(turn.utterance)
            yield from self.wrapped(name, marked(turn, self.color, slips(record)))
            spans = [f"{one.domain}-{one.slot}={one.value}{_STATUS[one.status].format(one.text)}" for one in turn.spans]
            state = "; ".join(f"{entry.domain}-{entry.slot}={'|'.join(entry.values)}" for entry in turn.state)
            if spans:
                yield from self.wrapped(name, "spans: " + "; ".join(spans), dim=True)
            if state and state not in states:
                states.add(state)
                yield from self.wrapped(name, "state: " + state, dim=True)

    def wrapped(self, name: str, told: str, dim: bool = False) -> list[str]:
        """A text behind the name of its suite, which every one of its lines has."""
        lead = f"  {name:<{self.gutter}}"
        pieces = fitted(" ".join(told.split()), max(_ROOM, self.columns - len(lead)))
        start, end = (_DIM, _OFF) if dim and self.color else ("", "")
        return [lead + start + piece + end for piece in pieces]


#: Characters of two columns, between which a line may end: Chinese has no blanks to break at.
_WIDE = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
_WORDS = re.compile(rf"[{_WIDE}][{MARKS}]*|[^\s{_WIDE}]+|\s")


def fitted(told: str, room: int) -> list[str]:
    """A text in lines of so many columns; a word that is longer has a line of its own."""
    lines, line, used = [], "", 0
    for word in _WORDS.findall(told):
        width = sum(0 if is_mark(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in word)
        if used + width > room and line.strip():
            lines.append(line.rstrip())
            line, used = "", 0
        if line or not word.isspace():
            line, used = line + word, used + width
    return [*lines, line.rstrip()] if line or not lines else lines


def aligned(records: Sequence[Dialogue]) -> Iterator[list[Turn | None]]:
    """The turns of several records of one source side by side: those of the source in one row each, an inserted turn in a row of its own."""
    places = [0] * len(records)
    while True:
        heads = [record.turns[place] if place < len(record.turns) else None for record, place in zip(records, places, strict=True)]
        alone = next((index for index, turn in enumerate(heads) if turn is not None and turn.inserted), None)
        row = heads if alone is None else [turn if index == alone else None for index, turn in enumerate(heads)]
        if all(turn is None for turn in row):
            return
        yield row
        places = [place + (turn is not None) for place, turn in zip(places, row, strict=True)]


def marked(turn: Turn, color: bool = False, letters: bool = True) -> str:
    """The utterance with its edits marked; whole words where `letters` is false."""
    if turn.original is None:
        return turn.utterance
    parts: list[str] = []
    reached = 0
    for start, end, new in readable(turn.original, turn.edits, letters):
        old = turn.original[start:end]
        parts.append(turn.original[reached:start])
        if color:
            parts.append((f"{_RED}{old}{_OFF}" if old else "") + (f"{_GREEN}{new}{_OFF}" if new else ""))
        else:
            parts.append((f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else ""))
        reached = end
    return "".join(parts) + turn.original[reached:]
