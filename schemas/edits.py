"""Edits over text: the only code in dialmill that changes an utterance, and it moves the spans along.

An edit list is sorted, does not overlap, and refers to offsets (code points, end exclusive) of the text before
the edits. Text outside the edits stays the same to the byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from dialmill.schemas.dialogue import Edit, Span, Turn


class EditError(ValueError):
    """An edit list that no text can take: out of range, unsorted, or overlapping."""


def check_edits(length: int, edits: Sequence[Edit]) -> None:
    """Raises `EditError` unless `edits` are sorted, disjoint and inside a text of `length` code points.

    Two edits may touch. Insertions at one place are one insertion, in the order of the list (`joined`).
    """
    reached = 0
    for edit in edits:
        if not 0 <= edit.start <= edit.end <= length:
            raise EditError(f"edit [{edit.start}, {edit.end}) lies outside a text of {length} code points")
        if edit.start < reached:
            raise EditError(f"edit [{edit.start}, {edit.end}) overlaps or precedes the edit before it")
        reached = edit.end


def joined(edits: Sequence[Edit]) -> Sequence[Edit]:
    """The same edits, insertions at one place as one: what comes first in the list stands first in the text."""
    if not any(one.start == one.end == other.start == other.end for one, other in pairwise(edits)):
        return edits
    found: list[Edit] = []
    for edit in edits:
        if found and edit.start == edit.end == found[-1].start == found[-1].end:
            found[-1] = Edit(edit.start, edit.end, found[-1].replacement + edit.replacement)
        else:
            found.append(edit)
    return found


def edit_text(text: str, edits: Sequence[Edit]) -> str:
    """`text` after `edits`."""
    parts: list[str] = []
    reached = 0
    for edit in edits:
        parts.append(text[reached : edit.start])
        parts.append(edit.replacement)
        reached = edit.end
    parts.append(text[reached:])
    return "".join(parts)


def minimal_edits(text: str, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The same change without what does not change: shared ends are trimmed, edits that do nothing are dropped."""
    kept: list[Edit] = []
    for edit in edits:
        old, new = text[edit.start : edit.end], edit.replacement
        if old == new:
            continue
        head = 0
        shorter = min(len(old), len(new))
        while head < shorter and old[head] == new[head]:
            head += 1
        tail = 0
        while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        start, end = edit.start + head, edit.end - tail
        replacement = new[head : len(new) - tail]
        if kept and start == end == kept[-1].end and kept[-1].start == kept[-1].end:
            # Trimming can bring two insertions to one place; they are one insertion.
            kept[-1] = Edit(start, end, kept[-1].replacement + replacement)
        else:
            kept.append(Edit(start, end, replacement))
    return tuple(kept)


def invert(text: str, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Edits that lead from ``edit_text(text, edits)`` back to `text`."""
    shift = 0
    inverse: list[Edit] = []
    for edit in edits:
        start = edit.start + shift
        inverse.append(Edit(start, start + len(edit.replacement), text[edit.start : edit.end]))
        shift += len(edit.replacement) - (edit.end - edit.start)
    return tuple(inverse)


def compose(text: str, first: Sequence[Edit], second: Sequence[Edit]) -> tuple[Edit, ...]:
    """One edit list over `text` with the effect of `first` and then `second` (which refers to the text after `first`).

    Where an edit of `second` touches what `first` wrote, the two become one edit.
    """
    if not first:
        return minimal_edits(text, second)
    middle = edit_text(text, first)
    # Regions of the middle text: (start, end, source start, source end) for every edit of `first`.
    regions: list[tuple[int, int, int, int]] = []
    shift = 0
    for edit in first:
        start = edit.start + shift
        regions.append((start, start + len(edit.replacement), edit.start, edit.end))
        shift += len(edit.replacement) - (edit.end - edit.start)

    # Merge overlapping or touching regions and second edits into blocks of the middle text.
    blocks: list[tuple[int, int]] = []
    for start, end in sorted([(r[0], r[1]) for r in regions] + [(e.start, e.end) for e in second]):
        if blocks and start <= blocks[-1][1]:
            blocks[-1] = (blocks[-1][0], max(end, blocks[-1][1]))
        else:
            blocks.append((start, end))

    result: list[Edit] = []
    shift = 0  # length of middle minus length of source, left of the block
    region = pending = 0
    for start, end in blocks:
        source_start = start - shift
        while region < len(regions) and regions[region][0] <= end:
            r_start, r_end, s_start, s_end = regions[region]
            shift += (r_end - r_start) - (s_end - s_start)
            region += 1
        source_end = end - shift
        inside: list[Edit] = []
        while pending < len(second) and second[pending].start <= end:
            edit = second[pending]
            inside.append(Edit(edit.start - start, edit.end - start, edit.replacement))
            pending += 1
        result.append(Edit(source_start, source_end, edit_text(middle[start:end], inside)))
    return minimal_edits(text, result)


def move_span(span: Span, edits: Sequence[Edit], text: str) -> Span:
    """`span` after `edits`; `text` is the text after them.

    An insertion at either end stays outside the span. An edit across an end takes the span's end with it, so that the span covers all
    of the replacement. A span of which nothing is left is `lost`; one that lost its capitals alone keeps its status.
    """
    if span.start is None or span.end is None:
        return span
    start, end = span.start, span.end
    shift_start = shift_end = 0
    touched = False
    for edit in edits:
        if edit.start >= span.end:
            break
        change = len(edit.replacement) - (edit.end - edit.start)
        if edit.end <= span.start:
            shift_start += change
            shift_end += change
            continue
        touched = True
        if edit.start < span.start:
            start = edit.start  # the shift so far applies to it as well
        if edit.end > span.end:
            end = edit.end
        shift_end += change
    start += shift_start
    end += shift_end
    if not touched:
        return span if not (shift_start or shift_end) else span.replace(start=start, end=end)
    if start >= end:
        return span.replace(start=None, end=None, text=None, status="lost")
    surface = text[start:end]
    # A value that lost its capitals with the rest of its turn is the same value.
    same = surface == span.text or (span.text is not None and surface == span.text.lower())
    status = span.status if same else "changed"
    return span.replace(start=start, end=end, text=surface, status=status)


def apply_edits(turn: Turn, edits: Sequence[Edit]) -> Turn:
    """`turn` with `edits` (over its present utterance) applied and its spans moved.

    The result keeps the source's text as `original`, and its `edits` lead from there to the new utterance, however many
    steps there were. Edits that change nothing give back the same turn; edits that restore the source's text leave no trace.

    Raises:
        EditError: the edits are unsorted, overlap, or lie outside the utterance.
    """
    check_edits(len(turn.utterance), edits)
    edits = minimal_edits(turn.utterance, joined(edits))
    if not edits:
        return turn
    utterance = edit_text(turn.utterance, edits)
    source = turn.source_text
    spans = tuple(move_span(span, edits, utterance) for span in turn.spans)
    total = compose(source, turn.edits, edits) if turn.original is not None else edits
    if utterance == source:
        return turn.replace(utterance=utterance, original=None, edits=(), spans=spans)
    return turn.replace(utterance=utterance, original=source, edits=total, spans=spans)
