"""BLEU-4 of a response as SIMMC's scripts have it: NLTK's sentence BLEU over the words of lower-case text, as NLTK's `word_tokenize` cuts English.

SIMMC 1.0 takes NLTK's smoothing method 1, 2.x its method 7, by which a response that equals a long reference has more than 1.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from math import exp, log

_ORDER = 4
#: What method 1 adds to a count of nothing.
_EPSILON = 0.1
#: By what method 4, which method 7 begins with, makes counts of nothing smaller.
_SMALLER = 5.0
#: A full stop that may end a sentence, with the word before it and the quotes that close after it.
_STOP = re.compile(r"(?P<word>[^\s.][^\s]*|)(?<!\.)\.(?P<after>[)\]}\"'»”’]*)(?=[\s?!]|$)")
#: Words that keep their full stop within a text: short forms, some letters among them; before a word all letters and numbers.
_SHORT = re.compile(
    r"(?:.*-)?(?:[cdefghklmnprstvw]|ok|mrs?|ms|dr|prof|st|[js]r|inc|ltd|co|corp|bros|sen|rep|messrs|lt|gen|ft|ave|jan|feb|aug|sept|oct|nov|dec|vs|calif)"
)
_KEEPS = re.compile(r"[^\W\d_]|-?[.,]?\d[\d,.-]*|(?:[^\W\d_]\.)+[^\W\d_]")
_GO_ON = ";:,.!?"
_BRACKETS = "([{<\"'"
#: What stands alone wherever it is. A comma or colon before a digit doesn't.
_MARK = re.compile(r"(?P<dots>\.{2,})|(?P<quote>''|\")|--|`+|[:,](?!\d)|[;@#$%&?!*\[\](){}<>«»“”‘’„\u2012-\u2015]|\s+")
_END_MARKS = re.compile(r"(?<=[^'])(?:'[smd]|')$")
_ENDINGS = re.compile(r"(?<=[^'])(?:'ll|'re|'ve|n't)$")
_OPENING = re.compile(r"'(?!(?:re|ve|ll|[mtsdn])\b)(?=\w)")
#: Words that are two.
_TWO = re.compile(r"\b(can|d|gim|gon|got|lem|more|wan)((?<=can)not|(?<=\bd)'ye|(?<=gim)me|(?<=gon)na|(?<=got)ta|(?<=lem)me|(?<=more)'n|(?<=wan)na)\b")


def tokens(text: str) -> list[str]:
    """The words and marks of a text in lower case."""
    return [token for sentence in _sentences(text.lower()) for token in _words(sentence)]


def _sentences(text: str) -> Iterator[str]:
    """A text in parts that each end where a full stop, if any, is a mark of its own."""
    start = 0
    for found in _STOP.finditer(text):
        word = found["word"].lstrip(_BRACKETS)
        after = text[found.end() :].lstrip()[:1]
        if after and (_SHORT.fullmatch(word) or (_KEEPS.fullmatch(word) and (after.isalpha() or after in _GO_ON))):
            continue
        yield text[start : found.end()]
        start = found.end()
    yield text[start:]


def _words(sentence: str) -> Iterator[str]:
    sentence = sentence.strip()
    body = sentence.rstrip(")]}\"'»”’> ")
    last = len(body) - 1 if body.endswith(".") and not body.endswith("..") else -1
    start = 0
    for found in _MARK.finditer(sentence):
        yield from _parts(sentence, start, found.start(), last)
        start = found.end()
        if found["quote"]:
            opens = (found.start() == 0 and found["quote"] == '"') or sentence[found.start() - 1 : found.start()] in tuple(" ([{<")
            yield "``" if opens else "''"
        elif not found[0].isspace():
            yield found[0]
    yield from _parts(sentence, start, len(sentence), last)


def _parts(sentence: str, start: int, end: int, last: int) -> Iterator[str]:
    """The words of what stands between two marks; a full stop at `last` ends the sentence."""
    if start <= last < end:
        yield from _parts(sentence, start, last, -1)
        yield "."
        yield from _parts(sentence, last + 1, end, -1)
        return
    word = sentence[start:end]
    if not word:
        return
    if len(word) > 1 and _OPENING.match(word):
        yield "'"
        word = word[1:]
    tail: list[str] = []
    for ending in (_END_MARKS, _ENDINGS):
        found = ending.search(word)
        if found:
            tail.insert(0, found[0])
            word = word[: found.start()]
    yield from _TWO.sub(r"\1 \2", word).split()
    yield from tail


def sentence_bleu(said: Sequence[str], due: Sequence[str], method: int = 1) -> float:
    """BLEU-4 of one response by one reference: in [0, 1] by NLTK's smoothing method 1; by 7 it can be more than 1."""
    right, whole = zip(*(_matches(said, due, order) for order in range(1, _ORDER + 2)), strict=True)
    if not right[0]:
        return 0.0
    parts = _method_7(right, whole, len(said)) if method == 7 else [(count or _EPSILON) / total for count, total in zip(right, whole, strict=True)]
    weighed = sum(log(part) for part in parts[:_ORDER]) / _ORDER
    return (1.0 if len(said) > len(due) else exp(1 - len(due) / len(said))) * exp(weighed)


def _matches(said: Sequence[str], due: Sequence[str], order: int) -> tuple[int, int]:
    """How many sequences of `order` words of a response the reference has, and of how many, 1 where there are none."""
    grams = Counter(zip(*(said[at:] for at in range(order)), strict=False))
    known = Counter(zip(*(due[at:] for at in range(order)), strict=False))
    return sum(min(count, known[gram]) for gram, count in grams.items()), max(1, sum(grams.values()))


def _method_7(right: Sequence[int], whole: Sequence[int], length: int) -> list[float]:
    """Precisions where those of nothing are halved each time (method 4), then each the mean of itself and its neighbours (method 5)."""
    parts: list[float] = []
    nothing = 0
    for order, (count, total) in enumerate(zip(right, whole, strict=True)):
        if count or length < 2 or order == _ORDER:  # the fifth is a neighbour alone, as it is
            parts.append(count / total)
            continue
        nothing += 1
        parts.append(log(length) / (2**nothing * _SMALLER) / total)
    before = parts[0] + 1
    found: list[float] = []
    for order in range(_ORDER):
        before = (before + parts[order] + parts[order + 1]) / 3
        found.append(before)
    return found
