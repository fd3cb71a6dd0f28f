"""Values in text that nobody labelled: those that a list names (arguments of tasks, a database, the choices of tools), and what looks like a value.

A `Guard` finds them and gives a turn the spans and the label `guarded`, on which every perturber's protect mode rests: the places stay to the byte,
letter case included. Identifiers, addresses, code and control tokens need no guard; `core.protected` keeps them in every turn.

A named value is found wherever it stands in the very letters of the list; in other letter case, and where it is short or an everyday word, only as
whole words. What looks like a value: dates, times, amounts and other numbers, codes in capitals, quoted text, and names (capitals in a sentence).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from dialmill.perturbers.core.matcher import lowered
from dialmill.schemas import Span, Turn
from dialmill.schemas.dialogue import GUARDED

#: The domain of spans that a guard found, and the slot of those that a list named.
DOMAIN, LISTED = "guard", "value"
#: Leaf texts of JSON this long and longer are values, in characters; Chinese ones from two.
SHORTEST = 3
_HAN = re.compile("[\u3400-\u9fff]")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_NUMERAL = r"[\d一二两三四五六七八九十百千万]"

_SHAPES = re.compile(
    rf"""
    (?P<date>
        (?<![A-Za-z0-9_-])\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?:[T ]\d{{1,2}}:\d{{2}}(?::\d{{2}})?)?(?![A-Za-z0-9_])
      | (?<![A-Za-z0-9_/])\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?(?![A-Za-z0-9_/])
      | (?<![A-Za-z0-9_])(?i:{_MONTH}[ ](?:the[ ])?\d{{1,2}}(?:st|nd|rd|th)?(?:,?[ ]\d{{4}})?)(?![A-Za-z0-9_])
      | (?<![A-Za-z0-9_])(?i:\d{{1,2}}(?:st|nd|rd|th)?[ ](?:of[ ])?{_MONTH}(?:,?[ ]\d{{4}})?)(?![A-Za-z0-9_])
      | (?<![A-Za-z0-9_])(?i:{_MONTH}[ ]\d{{4}})(?![A-Za-z0-9_])
      | (?:{_NUMERAL}{{2,4}}年)?{_NUMERAL}{{1,3}}月(?:{_NUMERAL}{{1,3}}[日号])? )
  | (?P<amount>
        [$€£¥￥][ ]?\d[\d,.]*(?:[ ]?[kKmM](?![A-Za-z0-9_]))?
      | (?<![A-Za-z0-9_])\d[\d,.]*[ ]?(?i:dollars?|usd|eur|euros?|gbp|pounds?|cny|rmb|yuan|percent)(?![A-Za-z0-9_])
      | (?<![A-Za-z0-9_.])\d[\d,.]*[ ]?(?:%|元|块钱?|美元|欧元|人民币)
      | [一二两三四五六七八九十百千万]+(?:元|块钱?|美元) )
  | (?P<time> (?<![A-Za-z0-9_:])\d{{1,2}}[:：]\d{{2}}(?:[ ]?(?i:[ap]\.?m\b\.?))? | (?<![A-Za-z0-9_])\d{{1,2}}[ ]?(?i:[ap]\.?m\b\.?) )
  | (?P<number> (?<![A-Za-z0-9_.])\d+(?:[.,:/-]\d+)*(?:st|nd|rd|th)?(?![A-Za-z]) | \d+ )
  | (?P<quoted> "[^"\n]{{1,80}}" | “[^”\n]{{1,80}}” | 「[^」\n]{{1,80}}」 | 『[^』\n]{{1,80}}』 | 《[^》\n]{{1,80}}》 )
  | (?P<code> (?<![A-Za-z0-9_'’-])[A-Z]{{2,8}}(?![A-Za-z0-9_'’-]) )
  | (?P<name>
        (?<=[a-z,;0-9:–-][ ])(?!I\b)[A-Z][\w'’-]*[^\W_](?:[ ][A-Z][\w'’-]*[^\W_])*
      | (?<!\w)(?!(?:It|That|This|What|Let|Here|There|He|She|Who|How|Where|When|Why)['’])[A-Z][a-z]+(?=['’]s[ ][a-z]) )
    """,
    re.VERBOSE,
)


def leaves(value: Any) -> Iterator[str]:
    """The texts and numbers at the ends of a JSON value, as texts, blanks around them left out; no true, false or null."""
    if isinstance(value, dict):
        for one in value.values():
            yield from leaves(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from leaves(one)
    elif isinstance(value, str):
        if text := value.strip():
            yield text
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield json.dumps(value)


def arguments(value: Any) -> Iterator[Any]:
    """What tools were called with anywhere in a JSON value, or have to be: under "arguments" or "kwargs", parsed where it is JSON in a text."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name in ("arguments", "kwargs"):
                yield _parsed(one)
            else:
                yield from arguments(one)
    elif isinstance(value, list):
        for one in value:
            yield from arguments(one)


def _parsed(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def choices(tools: Any) -> Iterator[str]:
    """The values that the schemas of tools let an argument have: `enum` and `const`, wherever they stand in a list of tools."""
    if isinstance(tools, dict):
        for name, one in tools.items():
            if name in ("enum", "const"):
                yield from leaves(one)
            else:
                yield from choices(one)
    elif isinstance(tools, list):
        for one in tools:
            yield from choices(one)


class Guard:
    """Finds values in text.

    Args:
        values: the values that are named, in any order; those of less than `SHORTEST` characters (of Chinese, two) are left out.
        shapes: whether what looks like a value is guarded too.
        anywhere: whether a value is found inside words as well, whatever it is: what a program compares letter by letter.
    """

    def __init__(self, values: Iterable[str] = (), shapes: bool = True, anywhere: bool = False) -> None:
        self.shapes, self.anywhere = shapes, anywhere
        self._exact = frozenset(value for value in values if len(value) >= SHORTEST or (len(value) == 2 and _HAN.search(value)))
        self._low = frozenset(map(lowered, self._exact))
        lengths: dict[str, set[int]] = {}
        for low in self._low:
            lengths.setdefault(low[:2], set()).add(len(low))
        #: The first two characters of a value -> how long values are that begin so, the longest first.
        self._lengths = {start: tuple(sorted(found, reverse=True)) for start, found in lengths.items()}

    def __len__(self) -> int:
        return len(self._exact)

    def __or__(self, other: Guard) -> Guard:
        """A guard of both lists."""
        return Guard(self._exact | other._exact, self.shapes or other.shapes, self.anywhere or other.anywhere)

    def listed(self, text: str) -> list[tuple[int, int]]:
        """Where the named values stand, sorted; places of different values may overlap."""
        if not self._lengths:
            return []
        low, found = lowered(text), []
        for start in range(len(low) - 1):
            for length in self._lengths.get(low[start : start + 2], ()):
                end = start + length
                if low[start:end] in self._low and self._fits(text, start, end):
                    found.append((start, end))
                    break
        return found

    def _fits(self, text: str, start: int, end: int) -> bool:
        """Whether what stands at a place in the letters of a value, up to their case, is that value."""
        value = text[start:end]
        if value in self._exact and (self.anywhere or not value.isalpha() or (len(value) > 3 and not value.islower())):
            return True
        return _whole(text, start, end)

    def spans(self, text: str) -> tuple[Span, ...]:
        """The values in a text as disjoint spans in order; those that overlap are one, of the kind of the longest, the list's first."""
        found = [(start, end, LISTED) for start, end in self.listed(text)]
        if self.shapes:
            written = _HAN.search(text) is not None or any(map(str.islower, text))  # Chinese has no capitals
            for match in _SHAPES.finditer(text):
                kind = match.lastgroup or LISTED
                if written or kind not in ("code", "name"):  # In a turn that is all capitals these say nothing.
                    found.append((*match.span(), kind))
        spans: list[tuple[int, int, str]] = []
        longest = 0
        for start, end, kind in sorted(found, key=lambda one: (one[0], -one[1], one[2] != LISTED)):
            if spans and start < spans[-1][1]:
                first, reached, was = spans[-1]
                spans[-1] = (first, max(reached, end), kind if end - start > longest else was)
            else:
                spans.append((start, end, kind))
                longest = 0
            longest = max(longest, end - start)
        return tuple(Span(start, end, text[start:end], DOMAIN, kind, text[start:end]) for start, end, kind in spans)

    def turn(self, turn: Turn) -> Turn:
        """A turn with the spans that it lacks, and the label that keeps all its spans to the byte; the same turn where there is nothing to keep."""
        taken = {(span.start, span.end) for span in turn.spans}
        more = [span for span in self.spans(turn.utterance) if (span.start, span.end) not in taken]
        if not more and not turn.spans:
            return turn
        labels = turn.labels if GUARDED in turn.labels else (*turn.labels, GUARDED)
        placed = sorted([*turn.spans, *more], key=lambda span: (span.start is None, span.start or 0, -(span.end or 0)))
        return turn.replace(spans=tuple(placed), labels=labels)


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a place cuts no word in two. Chinese writes no word boundaries."""
    before, after = text[start - 1 : start], text[end : end + 1]
    left = not (before.isalnum() and text[start].isalnum()) or bool(_HAN.match(before) or _HAN.match(text[start]))
    return left and (not (after.isalnum() and text[end - 1].isalnum()) or bool(_HAN.match(after) or _HAN.match(text[end - 1])))
