"""A transcript aligned with the utterance it came from: edits, and for every span whether its value was recognised.

The alignment is by weighted edit distance over spoken words: a word costs little against one that sounds like it and much against one
that doesn't, and up to three words stand against up to three where they sound alike as a whole ("guesthouse", "guest how is"). The turn is then
written anew from end to end (`forms`), as the recogniser wrote it or in plain form, so that errors are not all that looks recognised in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from dialmill.perturbers.core import protected
from dialmill.perturbers.core.contract import ValueMode
from dialmill.perturbers.speech.forms import Output, Piece, as_recognised, rewrite, units
from dialmill.perturbers.speech.numbers import write_hanzi, write_words
from dialmill.perturbers.speech.sounds import likeness
from dialmill.perturbers.speech.speakable import Word, compared, simplified, words
from dialmill.perturbers.speech.wer import unify
from dialmill.schemas import Edit, Span, Turn, apply_edits
from dialmill.schemas.edits import move_span

#: An insertion or deletion costs this much; a substitution costs from 0.25 (sounds nearly alike) to 1.35 (nothing in common).
GAP = 0.75
#: Below this likeness what stands against a value is not the value misrecognised, but something else: the value is lost.
ALIKE = 0.4


class Op(NamedTuple):
    """Source words [i, j) were recognised as transcript words [k, m); equal where `same`."""

    i: int
    j: int
    k: int
    m: int
    same: bool


@lru_cache(maxsize=65536)
def _substitution(said: str, transcribed: str, language: str) -> float:
    return 0.25 + 1.1 * (1 - likeness(said, transcribed, language))


_STARTS = re.compile(r"[.!?]\s*$")
_ENDS_SENTENCE = re.compile(r"[.!?。！？]")
_SHAPES = ((1, 2), (2, 1), (1, 3), (3, 1), (2, 2))


def align(said: Sequence[str], transcribed: Sequence[str], language: str) -> list[Op]:
    """The cheapest alignment of two word lists, in order; equal words one to one, so that every equal word stands alone."""
    n, m = len(said), len(transcribed)
    several = language != "zh"
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    back: list[list[tuple[int, int]]] = [[(0, 0)] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            if not i and not j:
                continue
            options: list[tuple[float, int, int]] = []
            if i and j:
                same = said[i - 1] == transcribed[j - 1]
                options.append((best[i - 1][j - 1] + (0.0 if same else _substitution(said[i - 1], transcribed[j - 1], language)), 1, 1))
            if not (options and said[i - 1] == transcribed[j - 1]):
                for a, b in _SHAPES if several and i and j else ():
                    if i >= a and j >= b and said[i - a] != transcribed[j - b]:
                        alike = likeness("".join(said[i - a : i]), "".join(transcribed[j - b : j]), language)
                        if alike > 0.55:
                            options.append((best[i - a][j - b] + 0.4 + 1.6 * (1 - alike), a, b))
            if i:
                options.append((best[i - 1][j] + GAP, 1, 0))
            if j:
                options.append((best[i][j - 1] + GAP, 0, 1))
            cost, a, b = min(options, key=lambda option: option[0])
            best[i][j] = cost
            back[i][j] = (a, b)
    ops: list[Op] = []
    i, j = n, m
    while i or j:
        a, b = back[i][j]
        ops.append(Op(i - a, i, j - b, j, a == b == 1 and said[i - 1] == transcribed[j - 1]))
        i, j = i - a, j - b
    ops.reverse()
    return ops


def whole_tokens(ops: Sequence[Op], source: Sequence[Word], transcribed: Sequence[Word]) -> list[Op]:
    """The ops with those joined that split a written token: of "07:45" recognised as 7:55 nothing is kept."""
    joined: list[Op] = []
    for op in ops:
        while joined and (
            _one_token(source, joined[-1].i, joined[-1].j, op.i, op.j) or _one_token(transcribed, joined[-1].k, joined[-1].m, op.k, op.m)
        ):
            last = joined.pop()
            op = Op(last.i, op.j, last.k, op.m, last.same and op.same)
        # A gap beside a token that goes on: keep it for the next op to decide.
        joined.append(op)
    return joined


def _one_token(tokens: Sequence[Word], i: int, j: int, k: int, m: int) -> bool:
    """Whether the words [i, j) and the next words [k, m) share a written token."""
    if i == j or k == m:
        # An empty side lies inside a token if the words around it share one.
        return 0 < j < len(tokens) and tokens[j - 1][1:] == tokens[j][1:]
    return tokens[j - 1][1:] == tokens[k][1:]


class Change(NamedTuple):
    """Source words [i, j) become the text `new`; nothing is inserted before i where i == j, `new` is empty for words not recognised."""

    i: int
    j: int
    new: str


def transcribed_changes(source: Sequence[Word], transcript: str, transcribed: Sequence[Word], language: str) -> list[Change]:
    """What was recognised in place of what; `transcribed` are the words of `transcript`."""
    ops = whole_tokens(align([word.text for word in source], [word.text for word in transcribed], language), source, transcribed)
    return [Change(op.i, op.j, written(transcript, transcribed, op.k, op.m, language)) for op in ops if not op.same]


def edits(text: str, source: Sequence[Word], changes: Sequence[Change], language: str, kept: Sequence[tuple[int, int]] = ()) -> list[Edit]:
    """Edits over `text`, whose words are `source`, for changes in order that split no written token; none touches what `core.protected` names, nor
    the places `kept`."""
    blank = "" if language == "zh" else " "
    found: list[Edit] = []
    places = [*protected.ranges(text), *kept]
    opened = 0  # the word up to which nothing of a sentence's beginning is left
    for i, j, new in changes:
        if i == j:
            if not new:
                continue
            if i:
                place = source[i - 1].end
                edit = Edit(place, place, blank + new)
            else:
                place = source[0].start if source else len(text)
                edit = Edit(place, place, new + blank)
            if found and found[-1].start == found[-1].end == place:
                found[-1] = Edit(place, place, found[-1].replacement + edit.replacement)
                continue
        else:
            start, end = source[i].start, source[j - 1].end
            new = _as_around(text, start, end, new, language)
            if not new:
                # The blanks before a word go with it; at the beginning of a sentence, what follows it up to the next word.
                if i != opened and not _ENDS_SENTENCE.search(text, source[i - 1].end, start):
                    start = _back(text, start, found[-1].end if found else 0)
                else:
                    end = source[j].start if j < len(source) else end
                    opened = j
            edit = Edit(start, end, new)
        found.append(edit)
    if language != "zh":
        found = _with_capitals(text, source, found, places)
    # What programs read is carried through as it is: nobody says it aloud.
    return [edit for edit in found if not protected.touches(places, edit.start, edit.end)]


def _with_capitals(text: str, source: Sequence[Word], found: Sequence[Edit], places: Sequence[tuple[int, int]]) -> list[Edit]:
    """The edits, with the capital where the sentence begins now: on the word behind one that is gone, or on one that came in before the first."""
    made: list[Edit] = []
    due = -1  # where a word stands that the sentence begins with since those before it are gone
    for number, edit in enumerate(found):
        inserts = edit.start == edit.end
        begins = text[edit.start : edit.start + 1].isupper() and (not edit.start or _STARTS.search(text[: edit.start]) is not None)
        if edit.start == due or (begins and inserts):
            begins, edit = True, Edit(edit.start, edit.end, edit.replacement[:1].upper() + edit.replacement[1:])
        following = next(((word.start, word.end) for word in source if word.start >= edit.end), None)
        if not begins or not (inserts or not edit.replacement) or following is None:
            made.append(edit)
            continue
        start, end = following
        if number + 1 < len(found) and found[number + 1].start < end:
            due = -1 if inserts else start
            made.append(edit)
            continue
        stays = inserts and (text[start + 1 : end] != text[start + 1 : end].lower() or text[start:end] == "I" or text[start : start + 2] == "I'")
        if stays or protected.touches(places, start, end):
            made.append(edit)
            continue
        word = text[start].lower() + text[start + 1 : end] if inserts else text[start].upper() + text[start + 1 : end]
        made.append(Edit(edit.start, end, edit.replacement + text[edit.end : start] + word))
    return made


def _as_around(text: str, start: int, end: int, new: str, language: str) -> str:
    """What is recognised for ``text[start:end]`` in the writing of its surroundings: numbers in digits where there were digits, a capital where the
    sentence begins with one."""
    old = text[start:end]
    if any(char in "0123456789" for char in old):
        new = write_hanzi(new) if language == "zh" else write_words(new, ":" in old)
    if old[:1].isupper() and new[:1].islower() and old != "I" and not old.startswith("I'") and (not start or _STARTS.search(text[:start])):
        new = new[0].upper() + new[1:]
    return new


def _back(text: str, start: int, least: int) -> int:
    while start > least and text[start - 1].isspace():
        start -= 1
    return start


def written(transcript: str, transcribed: Sequence[Word], k: int, m: int, language: str) -> str:
    """The transcript's words [k, m) as the recogniser wrote them, without its punctuation and capitals."""
    if k == m:
        return ""
    places = list(dict.fromkeys((word.start, word.end) for word in transcribed[k:m]))
    parts = [transcript[start:end] for start, end in places]
    if language == "zh":
        return simplified("".join(parts))
    return " ".join(part if part == "I" or part.startswith("I'") else part.lower() for part in parts)


def values_of(turn: Turn, mode: ValueMode) -> list[tuple[int, int]]:
    """Where the values of a turn stand that are said so that they are understood: all of them in protect mode, none in follow mode."""
    return [(span.start, span.end) for span in turn.spans if span.start is not None and span.end is not None] if mode == "protect" else []


def apply_transcript(
    turn: Turn,
    transcript: str,
    language: str,
    output: Output = "written",
    fillers: Sequence[tuple[int, str]] = (),
    values: ValueMode = "follow",
) -> Turn:
    """The turn as it was recognised: `transcript` in place of its utterance, in the form asked for.

    Every span says `kept` (its words were recognised, however they are written), `changed` (the text that was recognised for it) or `lost` (nothing
    was recognised that sounds like it); the belief state stays, for the user did say it.

    Args:
        fillers: (before which word, with what) the speaker filled pauses, in order.
        values: whether what was recognised for a value stands in its place ("follow"), or the value's own words do ("protect").
    """
    source = words(turn.utterance, language)
    said = compared(source, language)
    transcribed = words(transcript, language)
    if language != "zh":
        transcribed = _unified(said, transcribed)
    ops = whole_tokens(align(said, compared(transcribed, language), language), source, transcribed)
    pieces = []
    for op in ops:
        place = source[op.i - 1].end if op.i else 0
        start, end = (source[op.i].start, source[op.j - 1].end) if op.i < op.j else (place, place)
        text, after = "", ""
        if op.k < op.m:
            following = next((word.start for word in transcribed[op.m :] if word.start >= transcribed[op.m - 1].end), len(transcript))
            text, after = as_recognised(transcript, transcribed[op.k].start, transcribed[op.m - 1].end, following, output, language)
        pieces.append(Piece(start, end, text, after))
    return realign_spans(turn, rewrite(turn.utterance, _with(turn, source, pieces, language, fillers, values), language), language)


def apply_changes(
    turn: Turn,
    source: Sequence[Word],
    changes: Sequence[Change],
    language: str,
    output: Output = "written",
    fillers: Sequence[tuple[int, str]] = (),
    values: ValueMode = "follow",
) -> Turn:
    """The turn after changes to its words (`source`), which split no written token. In plain form the whole turn is written anew, as `forms` says;
    in written form the rest stays as it is and what is recognised is written as its surroundings are."""
    if output == "written":
        made = edits(turn.utterance, source, changes, language, values_of(turn, values))
        return realign_spans(turn, made, language) if made else turn
    pieces = []
    for i, j, new in changes:
        place = source[i - 1].end if i else 0
        start, end = (source[i].start, source[j - 1].end) if i < j else (place, place)
        pieces.append(Piece(start, end, new))
    return realign_spans(turn, rewrite(turn.utterance, _with(turn, source, pieces, language, fillers, values), language), language)


def _with(
    turn: Turn, source: Sequence[Word], pieces: Sequence[Piece], language: str, fillers: Sequence[tuple[int, str]], values: ValueMode
) -> list[Piece]:
    """All pieces of a turn: those that are given, the fillers, and for the rest the utterance's own words in plain form. Where a given piece touches
    what programs read, or a value in protect mode, the utterance's own words stand; those of a guarded turn's values to the byte."""
    text = turn.utterance
    kept = values_of(turn, values)
    places = [*protected.ranges(text), *kept]
    given = [piece for piece in pieces if not protected.touches(places, piece.start, piece.end)]
    fillers = [filler for filler in fillers if not protected.touches(kept, source[filler[0]].start, source[filler[0]].start)]
    starts = [source[number].start for number, _ in fillers]
    exact = turn.exact if kept else ()
    own = [unit for unit in units(text, language, exact) if not any(piece.start < unit.end and unit.start < piece.end for piece in given)]
    # A filler comes before the word it stands at, an insertion behind the one it was heard after.
    ranked = [(piece.start, 1 if piece.start < piece.end else 0, piece) for piece in [*own, *given]]
    ranked += [(start, 0, Piece(start, start, filler)) for start, (_, filler) in zip(starts, fillers, strict=True)]
    covered = [(piece.start, piece.end) for piece in given]
    return [
        piece
        for place, _, piece in sorted(ranked, key=lambda one: one[:2])
        if piece.start < piece.end or not any(start < place < end for start, end in covered)
    ]


def _unified(said: Sequence[str], transcribed: Sequence[Word]) -> tuple[Word, ...]:
    """`unify`, with places."""
    result: list[Word] = []
    place = 0
    for text in unify(said, [word.text for word in transcribed]):
        if place < len(transcribed) and text == transcribed[place].text:
            result.append(transcribed[place])
            place += 1
        elif place + 1 < len(transcribed) and text == transcribed[place].text + transcribed[place + 1].text:
            result.append(Word(text, transcribed[place].start, transcribed[place + 1].end))
            place += 2
        elif result and place < len(transcribed) and transcribed[place].text.endswith(text) and result[-1].text + text == transcribed[place].text:
            result.append(Word(text, transcribed[place].start, transcribed[place].end))
            place += 1
        else:
            result.append(Word(text, transcribed[place].start, transcribed[place].end))
    return tuple(result)


def realign_spans(before: Turn, made: Sequence[Edit], language: str) -> Turn:
    """The turn after edits that replace whole words, with spans that go by words and sounds.

    `apply_edits` would trim "east" recognised as "yeast" to an insertion before the value. Here a word is replaced as a whole; and a value whose new
    text sounds nothing like the old is lost, not changed.
    """
    after = apply_edits(before, made)
    if after is before:
        return before
    spans: list[Span] = []
    for old in before.spans:
        new = move_span(old, made, after.utterance)
        if new.text is not None and old.text is not None and new.text != old.text:
            was = "".join(compared(words(old.text, language), language))
            now = "".join(compared(words(new.text, language), language))
            if was == now:
                # The same words, written in another way.
                new = new.replace(status=old.status)
            elif likeness(was, now, language) < ALIKE:
                new = new.replace(start=None, end=None, text=None, status="lost")
        spans.append(new)
    return after.replace(spans=tuple(spans))
