"""Large files in ranges of bytes, read by several workers: where the items of a JSON array or object, or the lines of JSON lines, begin in each.

Whether a range of JSON begins inside of a string, and how deep, is known only when all before it was read. So each range is surveyed for both cases,
by whoever, and the surveys are put together (`Plan`): a range has the items that begin behind its own separators (commas of the outermost array or
object, ends of lines), up to the first separator of a later range. What a range has is read as a `cut.Part`, whatever the ranges are.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

#: Bytes that are looked at together: a survey takes some twenty times as much memory.
_LOOKED_AT = 1 << 20
_BLANK = b" \t\r\n"
_QUOTE, _BACKSLASH, _COMMA, _NEWLINE = b'"\\,\n'
#: +1 for what opens, -1 for what closes, 0 for anything else.
_STEP = np.zeros(256, np.int8)
_STEP[list(b"[{")], _STEP[list(b"]}")] = 1, -1
_MARKS = np.zeros(256, np.bool_)
_MARKS[list(b"[]{},")] = True


class Seen(msgspec.Struct, array_like=True):
    """What a range holds if it begins inside of a string, or outside. Depths count from the one at its beginning, places from the file's."""

    inside: bool  # whether it ends inside of a string
    depth: int = 0
    #: By depth: how many commas there are at it, where the first is, and where something that closes leads to it first.
    commas: dict[int, int] = {}
    first: dict[int, int] = {}
    closed: dict[int, int] = {}


class Survey(msgspec.Struct, array_like=True):
    """What is known of a range of a file by itself.

    Args:
        start: its first byte.
        seen: of JSON, what it holds if it begins outside of a string, and inside.
        lines: of JSON lines, how many end in it.
        first_end: where the first does, None for none.
        filled: the place of the first and of the last byte that isn't blank, and the last one itself; None for none.
    """

    start: int
    seen: tuple[Seen, Seen] | None = None
    lines: int = 0
    first_end: int | None = None
    filled: tuple[int, int, int] | None = None


class Slice(NamedTuple):
    """What a range is to read: bytes from `start` up to `end`, which hold `items` items, of which `first` stand before it in the file."""

    start: int
    end: int
    items: int
    first: int


def _filled(data: bytes, start: int) -> tuple[int, int, int] | None:
    """The places of the first and the last byte that is no blank, nor of a byte order mark; and the last one."""
    mark = len(codecs.BOM_UTF8) if start == 0 and data.startswith(codecs.BOM_UTF8) else 0
    left, right = len(data) - len(data[mark:].lstrip(_BLANK)), len(data.rstrip(_BLANK)) - 1
    return None if right < mark else (start + left, start + right, data[right])


def survey_lines(data: bytes, start: int) -> Survey:
    """A range of JSON lines."""
    found = data.find(b"\n")
    return Survey(start, None, data.count(b"\n"), None if found < 0 else start + found)


def survey_json(data: bytes, start: int, before: bytes = b"") -> Survey:
    """A range of JSON.

    Args:
        data: what it holds.
        start: the place of its first byte.
        before: what stands before it in the file, as far back as backslashes reach: the last of them may escape its first byte.
    """
    escapes = len(before) - len(before.rstrip(b"\\"))
    seen = Seen(False), Seen(True)
    for at in range(0, len(data), _LOOKED_AT):
        some = np.frombuffer(data, np.uint8, min(_LOOKED_AT, len(data) - at), at)
        quotes, escapes = _quotes(some, escapes)
        marks = np.flatnonzero(_MARKS[some])
        # Whether a mark stands behind an odd number of quotes.
        behind = np.zeros(len(some), np.uint8)
        behind[quotes] = 1
        odd = np.cumsum(behind, dtype=np.uint8)[marks] % 2 == 1
        for one in seen:
            outside = marks[odd] if one.inside else marks[~odd]
            _add(one, some[outside], outside + (start + at))
            one.inside ^= bool(len(quotes) % 2)
    return Survey(start, seen, filled=_filled(data, start))


def _quotes(some: NDArray[np.uint8], escapes: int) -> tuple[NDArray[np.int64], int]:
    """The places of quotes that no backslash escapes, with so many backslashes before the first byte; and how many backslashes stand at the end."""
    quotes = np.flatnonzero(some == _QUOTE)
    slashes = np.flatnonzero(some == _BACKSLASH)
    if not len(slashes):
        return (quotes[1:] if escapes % 2 and len(quotes) and quotes[0] == 0 else quotes), (0 if len(some) else escapes)
    # Runs of backslashes: where each begins and ends, and how long it is.
    begins = np.flatnonzero(np.append(True, np.diff(slashes) != 1))
    ends = np.append(begins[1:], len(slashes)) - 1
    lengths = slashes[ends] - slashes[begins] + 1
    lengths[slashes[begins] == 0] += escapes
    behind = slashes[ends] + 1
    escaped = behind[lengths % 2 == 1]
    if escapes % 2 and some[0] != _BACKSLASH:
        escaped = np.append(escaped, 0)
    return quotes[~np.isin(quotes, escaped)], int(lengths[-1]) if behind[-1] == len(some) else 0


def _add(seen: Seen, marks: NDArray[np.uint8], places: NDArray[np.int64]) -> None:
    """Adds marks outside of strings."""
    if not len(marks):
        return
    steps = _STEP[marks]
    depths = seen.depth + np.cumsum(steps, dtype=np.int64)
    lowest = int(depths.min())
    for is_mine, first in ((marks == _COMMA, seen.first), (steps < 0, seen.closed)):
        at, mine = depths[is_mine] - lowest, places[is_mine]
        counts, begins = np.bincount(at), np.zeros(int(depths.max()) - lowest + 1, np.int64)
        begins[at[::-1]] = mine[::-1]  # of several the first stays
        for place in np.flatnonzero(counts).tolist():
            first.setdefault(place + lowest, int(begins[place]))
            if first is seen.first:
                seen.commas[place + lowest] = seen.commas.get(place + lowest, 0) + int(counts[place])
    seen.depth = int(depths[-1])


class Plan(msgspec.Struct):
    """What each range of a file reads, by its start; `sound` is whether that could be told. `opening` and `closing` stand around the items."""

    sound: bool
    slices: dict[int, Slice] = {}
    opening: bytes = b""
    closing: bytes = b""


def plan_lines(surveys: Iterable[Survey], size: int) -> Plan:
    """The plan of a file of JSON lines."""
    ordered = sorted(surveys, key=lambda one: one.start)
    begins: list[tuple[int, int, int, int]] = []  # the range, where it begins to read, lines before that, lines that begin there
    before = 0
    for one in ordered:
        if one.start == 0:
            begins.append((0, 0, 0, one.lines + 1))
        elif one.first_end is not None:
            begins.append((one.start, one.first_end + 1, before + 1, one.lines))
        before += one.lines
    return Plan(True, _slices(begins, size, 0))


def plan_json(surveys: Iterable[Survey], head: bytes) -> Plan:
    """The plan of a JSON file, of which `head` is the beginning. One that holds no sound array or object, as far as can be told, isn't cut."""
    ordered = sorted(surveys, key=lambda one: one.start)
    mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    opening = head[mark:].lstrip(_BLANK)[:1]
    if opening not in (b"[", b"{") or not opening:
        return Plan(False)
    begin = head.index(opening, mark) + 1
    begins: list[tuple[int, int, int, int]] = [(ordered[0].start, begin, 0, 1)]
    inside, depth, commas, ended = False, 0, 0, None
    for one in ordered:
        assert one.seen is not None
        seen = one.seen[inside]
        if 1 - depth in seen.commas:
            first, here = seen.first[1 - depth] + 1, seen.commas[1 - depth]
            begins.append((one.start, first, commas + 1, here))
            commas += here
        if ended is None:
            ended = seen.closed.get(-depth)
        inside, depth = seen.inside, depth + seen.depth
    closing = b"}" if opening == b"{" else b"]"
    last = next((one.filled[1:] for one in reversed(ordered) if one.filled is not None), None)
    if inside or depth or ended is None or last != (ended, closing[0]):
        return Plan(False)
    return Plan(True, _slices(_with_first(begins), ended, 1), opening, closing)


def _with_first(begins: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """The range that opens has the first item beside those behind its own commas."""
    opens, *others = begins
    if others and others[0][0] == opens[0]:
        return [(opens[0], opens[1], 0, 1 + others[0][3]), *others[1:]]
    return begins


def _slices(begins: list[tuple[int, int, int, int]], end: int, separator: int) -> dict[int, Slice]:
    """Each range up to where the next begins to read, without the separator between them."""
    stops = [begin - separator for _, begin, _, _ in begins[1:]] + [end]
    return {start: Slice(begin, stop, items, first) for (start, begin, first, items), stop in zip(begins, stops, strict=True)}


def part(data: bytes, plan: Plan, slice_: Slice) -> bytes | None:
    """What a range has as a file of its kind; None where its items can't be what the plan has them for."""
    if not plan.opening:
        return data.removeprefix(codecs.BOM_UTF8) if slice_.start == 0 else data
    if not data.strip(_BLANK):
        # An array without items is as good as one of one; what should be an item elsewhere is none.
        return plan.opening + plan.closing if slice_.items == 1 and slice_.first == 0 and len(plan.slices) == 1 else None
    return plan.opening + data + plan.closing
