"""Rewriting by rules: phrases that say the same (frames), phrases that a terse writer drops.

The tables stand in ``lexicons/LANGUAGE/{frames,drops}.tsv``. Rules see a turn as words and values (`wordings.Part`) and never touch a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.lexicon import words as word_set
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.tokens import tokens as word_tokens
from dialmill.perturbers.rewording import remains
from dialmill.perturbers.rewording.donors import gap_edits
from dialmill.perturbers.rewording.wordings import Part
from dialmill.perturbers.typing.typography import is_tokenised, tokenise
from dialmill.schemas import Edit

#: The chance that a phrase is replaced where it could be.
_RATE = 0.9
#: Second halves of contractions -> the word they stand for.
_CONTRACTED = {"m": "am", "d": "would", "ll": "will", "ve": "have", "re": "are"}
_IS = frozenset({"that", "what", "it", "there", "where", "here", "how", "who"})
#: The other way, for phrases that are written out.
_SHORT = (
    (re.compile(r"\b(i|you|we|they|it|that) (?:will)\b"), r"\1'll"),
    (re.compile(r"\b(i) (?:am)\b"), r"\1'm"),
    (re.compile(r"\b(i|we) (?:would) (?=like|prefer|rather|favour)"), r"\1'd "),
    (re.compile(r"\b(that|what|it) (?:is)\b"), r"\1's"),
    (re.compile(r"\blet us\b"), "let's"),
)
#: After these words, and after commas, a clause begins.
_BEFORE_CLAUSE = word_set("and but so also yes yeah yep no nope ok okay alright sure great perfect thanks well hi hello hey then please actually oh ")


#: Of these, the words that stand inside clauses too.
_INSIDE_CLAUSE = word_set("also please then actually sure")


class Phrase(NamedTuple):
    """A phrase of a table. `allowed` and `refused` are words that must or must not follow; "[" stands for any value, "[area" for one of that slot."""

    words: tuple[str, ...]
    text: str
    mood: str
    allowed: frozenset[str]
    refused: frozenset[str]

    def fits(self, following: str) -> bool:
        """Whether the phrase may stand before this unit ("" at the end)."""
        if self.allowed and not _among(following, self.allowed):
            return False
        return not (self.refused and _among(following, self.refused))


def _among(unit: str, words: frozenset[str]) -> bool:
    if unit in words or (unit.endswith("=one]") and "one" in words):  # "can I get one": no number
        return True
    if unit[:1] != "[":
        return False
    return "[" in words or any(word[:1] == "[" and unit.lstrip("[+").startswith(word[1:]) for word in words)


_PHRASE = re.compile(r"(?P<text>.*?)(?: <(?P<sign>[+-])(?P<words>[^>]*)>)?(?: (?P<mood>[?.]))?")


def parse_phrase(cell: str, language: str) -> Phrase:
    """A phrase from its form in the tables."""
    match = _PHRASE.fullmatch(cell)
    assert match is not None
    guard = frozenset(word for word in (match["words"] or "").split(",")) if match["sign"] else frozenset()
    text = match["text"]
    words = tuple(text) if language == "zh" else tuple(text.split())
    return Phrase(words, text, match["mood"] or "", guard if match["sign"] == "+" else frozenset(), guard if match["sign"] == "-" else frozenset())


class Rule(NamedTuple):
    """A phrase, where it may stand, and what may take its place."""

    phrase: Phrase
    start: bool
    others: tuple[Phrase, ...]


def _by_first(rules: Sequence[Rule]) -> dict[str, tuple[Rule, ...]]:
    table: dict[str, list[Rule]] = {}
    for rule in rules:
        table.setdefault(rule.phrase.words[0], []).append(rule)
    return {first: tuple(sorted(found, key=lambda rule: -len(rule.phrase.words))) for first, found in table.items()}


@lru_cache(maxsize=4)
def frames(language: str) -> dict[str, tuple[Rule, ...]]:
    """The groups of frames.tsv, by first word, longest phrases first."""
    rules = []
    for place, cell in rows(language, "frames"):
        if place == "ask":
            continue
        cells = alternatives(cell)
        group = [parse_phrase(part.removeprefix("~"), language) for part in cells]
        for part, phrase in zip(cells, group, strict=True):
            if part[0] != "~":
                rules.append(Rule(phrase, place == "start", tuple(other for other in group if other.text != phrase.text)))
    return _by_first(rules)


@lru_cache(maxsize=8)
def _said(language: str, where: str) -> tuple[str, ...]:
    """What may be said at a place of frames.tsv that is no group of phrases: "ask"."""
    return tuple(part for place, cell in rows(language, "frames") if place == where for part in alternatives(cell))


@lru_cache(maxsize=4)
def drops(language: str) -> dict[str, tuple[Rule, ...]]:
    """The rows of drops.tsv, by first word, longest phrases first."""
    rules = []
    for place, cell, instead in rows(language, "drops"):
        other = Phrase((), "" if instead == "-" else instead, "", frozenset(), frozenset())
        rules += [Rule(parse_phrase(part, language), place == "start", (other,)) for part in alternatives(cell)]
    return _by_first(rules)


def written_out(parts: Sequence[Part]) -> list[str]:
    """The units of a turn with contractions written out: "i", "m" as "i", "am"."""
    units = [part.unit for part in parts]
    for place in range(1, len(units)):
        unit = units[place]
        if unit in _CONTRACTED:
            units[place] = _CONTRACTED[unit]
        elif unit == "s":
            if units[place - 1] in _IS:
                units[place] = "is"
            elif units[place - 1] == "let":
                units[place] = "us"
    return units


class Match(NamedTuple):
    """A rule that fits the units from `first` up to `last`."""

    rule: Rule
    first: int
    last: int
    opens: bool  #: whether it begins its sentence


_SENTENCE_END = re.compile(r"[.?!。？！]")
_CLAUSE_END = re.compile(r"[,;:\-–—，、；]")


def find(
    table: dict[str, tuple[Rule, ...]], text: str, parts: Sequence[Part], units: Sequence[str], dropping: bool, language: str
) -> Iterator[Match]:
    """The rules that fit, leftmost and longest. With `dropping`, what follows a dropped opening opens in its place."""
    place, count = 0, len(units)
    opens = begins = True
    edges = _word_edges(text, parts) if language == "zh" else None
    while place < count:
        if place:
            between = text[parts[place - 1].end : parts[place].start]
            if between != " " and between:
                if _SENTENCE_END.search(between):
                    opens = begins = True
                elif _CLAUSE_END.search(between):
                    begins = True
        for rule in table.get(units[place], ()):
            if rule.start and not begins:
                continue
            words = rule.phrase.words
            size = len(words)
            last = place + size
            if size > 1 and (last > count or units[place + 1] != words[1] or tuple(units[place:last]) != words):
                continue
            if size > 1 and _SENTENCE_END.search(text, parts[place].end, parts[last - 1].start):
                continue
            if edges is not None and (parts[place].start not in edges or parts[last - 1].end not in edges):
                continue
            if not rule.phrase.fits(units[last] if last < count else ""):
                continue
            yield Match(rule, place, last, opens)
            if not (dropping and not rule.others[0].text):
                opens = begins = False
            place = last
            break
        else:
            # "Can you also book": such a word opens a clause only where one could begin.
            begins = language == "en" and units[place] in _BEFORE_CLAUSE and (begins or units[place] not in _INSIDE_CLAUSE)
            opens = False
            place += 1


def _word_edges(text: str, parts: Sequence[Part]) -> frozenset[int]:
    """Where words and values begin and end in a Chinese text: a phrase is never found inside a longer word (挺高 in 还挺高呢 is one, 哦了 too)."""
    edges = {edge for word in word_tokens(text, "zh") for edge in word}
    edges.update(edge for part in parts if part.unit[0] == "[" for edge in (part.start, part.end))
    return frozenset(edges)


#: With such words a turn opens; what is added before the rest of it comes after them.
_OPENERS = word_set("yes yeah yep sure ok okay alright great perfect no nope hello hi hey thanks excellent awesome wonderful")


class Style(NamedTuple):
    """How a turn is written: whether signs stand apart, and whether "i" and sentences are capitalised."""

    apart: bool
    capitals: bool

    def write(self, phrase: str, opens: bool) -> str:
        """A phrase of the tables in this style; `opens` at the beginning of a sentence."""
        return _written(self, phrase, opens)


@lru_cache(maxsize=16384)
def _written(style: Style, phrase: str, opens: bool) -> str:
    if style.apart:
        phrase = tokenise(phrase)
    if not style.capitals:
        return phrase.lower()
    phrase = _I.sub("I", phrase)
    return phrase[:1].upper() + phrase[1:] if opens else phrase


_I = re.compile(r"\bi\b")
_LOW_I = re.compile(r"(?:^|\s)i\b")


def style_of(text: str) -> Style:
    """The style of a text."""
    return Style(is_tokenised(text), _LOW_I.search(text) is None and (any(char.isupper() for char in text) or not text.isascii()))


_APOSTROPHES = frozenset("'’")


class Place(NamedTuple):
    """A phrase at [start, end) that `others` may replace, with a capital if `capital`; `mark` is where the sign stands that ends its sentence."""

    start: int
    end: int
    others: tuple[Phrase, ...]
    capital: bool
    mark: int | None


class Rewordings:
    """Other wordings of a turn by phrases of the same group; what may be replaced is looked up once, what is replaced is drawn anew each time.

    Args:
        text, parts, language: the turn.
    """

    def __init__(self, text: str, parts: Sequence[Part], language: str) -> None:
        self._text, self._parts, self._language = text, parts, language
        self._places: list[Place] | None = None

    def draw(self, rng: Rng) -> list[Edit]:
        """Edits that put other phrases in the place of those found."""
        if self._places is None:
            self._places = list(self._find())
            self._style = style_of(self._text)
            self._question = _bare_question(self._text, self._language)
        text = self._text
        edits: list[Edit] = []
        marks: dict[int, Edit] = {}
        for start, end, others, capital, mark in self._places:
            if not rng.chance(_RATE):
                continue
            other = rng.choice(others)
            phrase = other.text
            if self._language == "en":
                for short in _contractions(phrase):
                    if rng.chance(0.5):
                        phrase = short[0].sub(short[1], phrase)
            written = self._style.write(phrase, capital)
            if start and text[start - 1] in _APOSTROPHES:
                # "i 'd like to": the apostrophe goes with what it belongs to, and "i wish to" needs a blank.
                start -= 1
                written = written if text[start - 1 : start] == " " else f" {written}"
            edits.append(Edit(start, end, written))
            if other.mood and mark is not None and text[mark] != other.mood and text[mark] in "?.":
                marks[mark] = Edit(mark, mark + 1, other.mood)
        place, openings = self._question
        if openings and not any(edit.start <= place <= edit.end for edit in edits) and rng.chance(_RATE):
            edits.append(Edit(place, place, rng.choice(openings)))
        return sorted([*edits, *marks.values()], key=lambda edit: (edit.start, edit.end))

    def _find(self) -> Iterator[Place]:
        text, parts = self._text, self._parts
        units = written_out(parts)
        pleading = "please" in units
        for rule, first, last, opens in find(frames(self._language), text, parts, units, False, self._language):
            following = units[last] if last < len(units) else ""
            others = [other for other in rule.others if other.fits(following)]
            if self._language == "zh" and following in _PARTICLES:
                others = [other for other in others if other.text[-1] not in _PARTICLES]  # "天气如何吗" as "天气怎么样啊吗"
            if pleading:
                others = [
                    other for other in others if ("please" not in other.words or "please" in rule.phrase.words) and other.words[:3] != _DO_YOU_KNOW
                ]
            if self._language == "en" and rule.start:
                others = _of_its_kind(others, rule.phrase, set(units[last : _sentence_end(text, parts, last)]))
            mark = _closing(text, parts, last)
            if mark is not None and any(other.mood and other.mood != text[mark] for other in others):
                simple = opens_sentence(text, parts, first) and not _goes_on(text, parts, last, mark)
                others = [other for other in others if not other.mood or other.mood == text[mark] or simple]
            if others:
                start, end = parts[first].start, parts[last - 1].end
                yield Place(start, end, tuple(others), opens and text[start].isupper(), mark)


#: Chinese words that end a clause, of which no two follow each other.
_PARTICLES = frozenset("啊呀呢吧吗么嘛哪呐啦")
_DO_YOU_KNOW = ("do", "you", "know")
#: What is looked for, so that a search may stand for a wish or a question for it, and not a fact about something; and what can be handed over.
_SOUGHT = word_set(
    "place places restaurant restaurants hotel hotels guesthouse guesthouses train trains taxi cab attraction attractions museum "
    "museums park parks college "
    "colleges theatre theater club clubs pool cinema bus buses flight flights room rooms somewhere something anything event events "
    "movie movies house houses "
    "apartment apartments store stores shop shops cafe cafes station stations garage church churches gallery galleries one ones option "
    "options show shows"
)
_HANDED = word_set(
    "address phone telephone number numbers postcode postcodes code reference price prices cost fee fare name names details info "
    "information contact zip ticket "
    "tickets id area"
)
_SEARCHES = frozenset(["find", "looking", "searching", "search", "know", "look", "hoping", "check"])
_HANDING = frozenset(["have", "get", "give", "send", "provide"])


def _of_its_kind(others: list[Phrase], phrase: Phrase, rest: set[str]) -> list[Phrase]:
    """The phrases that do what a phrase does: no question about something becomes a search for it, nor a demand for what nobody can hand over."""
    own = set(phrase.words)
    if "you" in rest:
        others = [other for other in others if "you" not in other.words or "you" in own]  # "can you find any that you can recommend"
    if (
        own.isdisjoint(_SEARCHES)
        and rest.isdisjoint(_SOUGHT)
        and not any(word[:1] == "[" and word.lstrip("[+").startswith(("type", "food", "price")) for word in rest)
    ):
        others = [other for other in others if _SEARCHES.isdisjoint(other.words) or ("know" in other.words[:4] and "of" not in other.words)]
    if own.isdisjoint(_HANDING) and rest.isdisjoint(_HANDED):
        others = [
            other
            for other in others
            if _HANDING.isdisjoint(other.words) or other.words[:3] in (("do", "you", "have"), ("i", "would", "like"), ("i", "have", "to"))
        ]
    return others


def _sentence_end(text: str, parts: Sequence[Part], place: int) -> int:
    """The first part of the next sentence."""
    while place < len(parts) and not _SENTENCE_END.search(text, parts[place - 1].end, parts[place].start):
        place += 1
    return place


@lru_cache(maxsize=4096)
def _contractions(phrase: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The contractions that a phrase which is written out has."""
    return tuple(short for short in _SHORT if short[0].search(phrase))


_QUESTION = re.compile(r"([^，,。？！?!；]+)[？?]\s*$")
#: A clause that asks with ceremony already, or that no such opening goes with; and a text in which another clause does.
_ASKS = re.compile(
    r"^(?:但|不过|可是|就|我|你|听说|据说|觉得|感觉|记得|好像)|吧$|问|看看|看一|看下|告诉|知道|帮|麻烦|请|^[那再还]|推荐|^是吗|了解|^对吗|可以吗|好吗|行吗|怎么样呢"
)
_ASKED = re.compile(r"请问|想问|想知道|麻烦问|咨询")
#: What may stand before a question that is opened so: nothing, a sentence, or a word or two at its beginning ("好的，").
_BEFORE_QUESTION = re.compile(r"^(?:[^，,]{0,4}[，,])?$|[。！？!?]\s*$")
#: Questions that go with "请问" alone.
_PARTICLE = re.compile(r"[吗么呢不]$")


def _bare_question(text: str, language: str) -> tuple[int, tuple[str, ...]]:
    """Where a Chinese question clause begins that ends the text and asks without ceremony, and what may open it (nothing where there is none)."""
    match = _QUESTION.search(text) if language == "zh" else None
    if match is None or _ASKS.search(match[1]) or _ASKED.search(text) or not _BEFORE_QUESTION.search(text[: match.start(1)]):
        return 0, ()
    openings = _said(language, "ask")
    return match.start(1), tuple(one for one in openings if one.startswith("请问")) if _PARTICLE.search(match[1]) else openings


def opens_sentence(text: str, parts: Sequence[Part], place: int) -> bool:
    """Whether nothing but words that open a clause stands before the part in its sentence."""
    while place > 0:
        if _SENTENCE_END.search(text, parts[place - 1].end, parts[place].start):
            return True
        place -= 1
        if parts[place].unit not in _BEFORE_CLAUSE:
            return False
    return True


def _closing(text: str, parts: Sequence[Part], last: int) -> int | None:
    """Where the sign stands that closes the sentence of the part before `last`."""
    for place in range(last - 1, len(parts)):
        end = parts[place + 1].start if place + 1 < len(parts) else len(text)
        match = _SENTENCE_END.search(text, parts[place].end, end)
        if match:
            return match.start()
    return None


def _goes_on(text: str, parts: Sequence[Part], last: int, mark: int) -> bool:
    """Whether another clause follows in the sentence that ends at `mark`."""
    return any(part.start < mark and part.unit in ("and", "but", "so", "or") for part in parts[last:]) or "," in text[parts[last - 1].end : mark]


#: How often who leaves words out leaves out the last full stop, too.
_STOPLESS = 0.3
#: So many words before a sentence are a greeting.
_GREETING = 2
#: "? ." stays as it is written, and never becomes ". .".
_SIGN_FOLLOWS = re.compile(r"\s*[.?!]")
_LAST_STOP = re.compile(r"\s*[.。]\s*$")


#: Verbs that a second clause begins with when the first names who does both.
_VERBS = frozenset(
    ["would", "want", "need", "will", "am", "also", "wanted", "prefer", "serves", "has", "is", "are", "should", "must", "offers", "leaves", "arrives"]
)


#: What stands for a relative clause, and never for a question that begins like one.
_BEHIND = frozenset(["with", "in", "from", "to", "by", "on", "after"])


class Omissions:
    """What a terse writer leaves out of a turn, looked up once and drawn anew each time.

    Args:
        text, parts, language: the turn.
    """

    def __init__(self, text: str, parts: Sequence[Part], language: str) -> None:
        units = written_out(parts) if language == "en" else [part.unit for part in parts]
        style = style_of(text)
        self._text, self._parts, self._blank = text, parts, "" if language == "zh" else " "
        # "I am looking for ... and would like ...": who wants both is said once, and stays.
        shared = language == "en" and any(one == "and" and two in _VERBS for one, two in pairwise(units))
        found = list(find(drops(language), text, parts, units, True, language))
        if language == "en":
            found = [match for match in found if self._may_go(match, units, shared)]
        #: First and last part of each phrase that may go, and what stands in its place.
        self._phrases = [
            (first, last, style.write(rule.others[0].text, opens and text[parts[first].start].isupper())) for rule, first, last, opens in found
        ]
        #: The first parts of phrases that open a sentence only where the phrase before them is left out.
        self._behind = {
            match.first
            for earlier, match in pairwise(found)
            if language == "en" and match.rule.start and earlier.last == match.first and not earlier.rule.others[0].text
            if units[earlier.last - 1] not in _BEFORE_CLAUSE
        }
        #: Where the sign stands that ends a sentence of which an order is left, by the first part of the phrase that may go.
        self._marks = {
            first: mark
            for first, last, other in self._phrases
            if language == "en" and not other and remains.orders(tuple(units[first:last]))
            if (mark := _closing(text, parts, last)) is not None and text[mark] == "?"
        }

    def _may_go(self, match: Match, units: Sequence[str], shared: bool) -> bool:
        """Whether the sentence still says what it said without an English phrase; `shared`: whether one subject has two verbs."""
        rule, first, last, opens = match
        instead = rule.others[0].text
        if (instead == "any" or units[first] == "so") and not opens_sentence(self._text, self._parts, first):
            return False  # "..., so I'd like": what follows from a clause hangs on it
        mark = _closing(self._text, self._parts, last)
        if mark is not None and remains.orders(tuple(units[first:last])) and _SIGN_FOLLOWS.match(self._text, mark + 1):
            return False  # "...? ." would become ". ."
        if instead:
            return not (opens and rule.phrase.words[0] in ("which", "that") and instead in _BEHIND)  # "Which has less traffic?"
        if first and units[first - 1] in ("and", "but", "or"):
            return False  # "... and I need their postcode": what opens a second clause holds it to the first
        if not rule.start:
            return True
        if remains.names_thing(units[first:last]) and not self._stands_alone(units, first, last):
            return False
        return not (shared and rule.phrase.words[0] == "i") and self._stands(units, first, last)

    def _stands_alone(self, units: Sequence[str], first: int, last: int) -> bool:
        """Whether a thing may be left: at the beginning of a sentence, and behind a sentence only as a question or with a value in it."""
        if not opens_sentence(self._text, self._parts, first):
            return False
        end = _sentence_end(self._text, self._parts, last)
        mark = _closing(self._text, self._parts, last)
        later = first > _GREETING and _SENTENCE_END.search(self._text, 0, self._parts[first].start) is not None
        return not later or (mark is not None and self._text[mark] == "?") or any(unit[0] == "[" for unit in units[last:end])

    def _stands(self, units: Sequence[str], first: int, last: int) -> bool:
        """Whether the rest of the sentence stands without the phrase."""
        text, parts = self._text, self._parts
        end = _sentence_end(text, parts, last)
        commas = any("," in text[parts[place - 1].end : parts[place].start] for place in range(last + 1, end))
        return remains.stands(tuple(units[first:last]), units[last:end], commas)

    def draw(self, rate: float, rng: Rng) -> list[Edit]:
        """Edits that leave each out with the chance `rate`."""
        text, parts = self._text, self._parts
        #: What stands in the place of each part; None where it stays.
        instead: list[str | None] = [None] * len(parts)
        for first, last, other in self._phrases:
            if (rate == 1 or rng.chance(rate)) and not (first in self._behind and instead[first - 1] is None):
                bare = parts[first].unit == "a" and first > 0 and instead[first - 1] is None
                instead[first:last] = [""] * (last - first)
                if other:
                    instead[first] = f"a {other}" if bare and not other.startswith("accomm") else other  # "I want a restaurant"
                if first in self._marks:
                    mark = self._marks[first]
                    text = f"{text[:mark]}.{text[mark + 1 :]}"
        if not any(word is not None for word in instead):
            return []
        literals = _closed_up(text, parts, instead, self._blank)
        # Blanks stood before a last sentence of which nothing is left; those of the text itself stay.
        literals[-1] = literals[-1].rstrip() + text[len(text.rstrip()) :]
        if rng.chance(_STOPLESS):
            literals[-1] = _LAST_STOP.sub("", literals[-1])
        values = [(part.start, part.end) for part in parts if part.unit[0] == "["]
        return gap_edits(self._text, 0, len(text), values, literals)


def _closed_up(text: str, parts: Sequence[Part], instead: Sequence[str | None], blank: str) -> list[str]:
    """The literals around the values when some parts are gone, without their commas, and without the sign of a sentence of which nothing is left."""
    literals: list[str] = []
    literal = ""
    capital = said = False  # whether the sentence begins with a capital; whether anything of it is left
    whole = True  # whether nothing is gone since the last part that is left
    for place in range(len(parts) + 1):
        between = text[parts[place - 1].end if place else 0 : parts[place].start if place < len(parts) else len(text)]
        ends = _SENTENCE_END.search(between) is not None
        if place == 0 or ends or place == len(parts):
            if place and said:
                # The sign that ends a sentence stays, without the comma that stood before it.
                literal += between if whole else re.sub(r"^\s*[,，、]\s*", " " if between[:1] == " " and ends else "", between)
                if ends and literal[-1:] in ".?!" and place < len(parts) and instead[place] is not None:
                    literal += blank  # "Canada.I need 1": the number that comes to stand behind the sign is none of a decimal
            elif place == 0 and parts and instead[0] != "":
                literal += between
            if place == len(parts):
                break
            capital, said, whole = text[parts[place].start].isupper(), False, True
            joint = ""
        elif whole or (said and _CLAUSE_END.search(between)):
            joint = between
        word = instead[place]
        if word == "":
            if whole and not _CLAUSE_END.search(joint):
                joint = blank
            whole = False
            continue
        if joint and said:
            literal += joint
        part = parts[place]
        if part.unit[0] == "[":
            literals.append(literal)
            literal = ""
        else:
            shown = word or text[part.start : part.end]
            literal += shown[:1].upper() + shown[1:] if capital and not said else shown
        said = whole = True
    literals.append(literal)
    return literals
