"""The clauses of a Chinese turn: its words, the marks that labels leave in it, and what the word lists know of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.tokens import tokens
from dialmill.perturbers.rewording.composer.plan import Context
from dialmill.schemas import Act

#: Slots whose request is the search itself: its answer is a suggestion.
NAME_SLOTS = frozenset({"名称", "片名", "商品名称", "班号", "车次信息", "航班信息"})
#: Slots that narrow down a thing asked about ("大床房的房费"), and what is asked of it then.
QUALIFIERS = frozenset({"房型", "坐席", "舱位档次"})
PRICES = frozenset({"票价", "房费", "价格"})
#: How the slot of a hotel's facility begins.
FACILITY = "酒店设施-"
_STOPS = re.compile(r"[，。！？；,!?;~～…]+|\.(?!\d)")
ROUTES = frozenset({"出租", "地铁"})
TRIPS = frozenset({"火车", "飞机"})
#: With these a word says how something is ("好吃"): it is never taken for its parts.
_QUALITIES = frozenset("好不大小多太真更最没新老快慢高低近远")
#: Slots whose words ("附近") say something of their own where their value doesn't stand beside them.
PLACES = frozenset({"区域", "城市"})
#: Act names by what they do; corpora differ.
_THANKS = frozenset({"thank", "general"})
_GREETS = frozenset({"greet", "greeting"})
CHAT = frozenset({"thank", "general", "bye", "greet", "greeting", "welcome"})


@lru_cache(maxsize=1)
def kinds() -> dict[str, frozenset[str]]:
    """Kind -> words of ``composing.tsv``."""
    return {kind: frozenset(words.split()) for kind, words in rows("zh", "composing")}


@lru_cache(maxsize=8)
def table(name: str) -> dict[str, tuple[str, ...]]:
    """Slot or domain -> its words and phrases, from one of the tables whose first column lists names by ``|``."""
    found: dict[str, tuple[str, ...]] = {}
    for names, words in rows("zh", name):
        for one in alternatives(names):
            found[one] = found.get(one, ()) + tuple(words.split())
    return found


@lru_cache(maxsize=1)
def _listed() -> frozenset[str]:
    """Every word of the tables: longer words made of them are cut."""
    words: set[str] = set()
    for found in kinds().values():
        words |= found
    for name in ("request_cues", "slot_words", "head_words"):
        for phrases in table(name).values():
            words.update(phrases)
    return frozenset(words)


class Word(NamedTuple):
    """A word and where it stands."""

    start: int
    end: int
    text: str


class Mark(NamedTuple):
    """A value or the name of a facility in the source; `act` is None for a value that no act has."""

    start: int
    end: int
    act: Act | None
    facility: bool = False


class Clause(NamedTuple):
    """A clause: its place, the place behind its closing signs, its words outside the marks, its marks."""

    start: int
    end: int
    stop: int
    words: tuple[Word, ...]
    marks: tuple[Mark, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The words as strings."""
        return tuple(word.text for word in self.words)


@lru_cache(maxsize=1 << 14)
def _pieces(word: str) -> tuple[str, ...]:
    """A word that jieba takes for one, cut into listed words where it is made of such: "能帮" -> "能", "帮"."""
    listed = _listed()
    if word in listed or len(word) > 8 or len(word) == 1 or word[0] in _QUALITIES:
        return (word,)
    best: list[tuple[str, ...] | None] = [()] + [None] * len(word)
    for end in range(1, len(word) + 1):
        for start in range(end):
            before, piece = best[start], word[start:end]
            if before is not None and piece in listed and (best[end] is None or len(before) + 1 < len(best[end] or ())):
                best[end] = (*before, piece)
    return best[-1] or (word,)


def words_in(text: str, start: int, end: int) -> list[Word]:
    """The words of ``text[start:end]``."""
    found: list[Word] = []
    cuts = tokens(text[start:end], "zh")
    for number, (first, last) in enumerate(cuts):
        # "找一家人均消费": jieba takes 一家人 for a word and leaves 均 alone.
        following = text[start + cuts[number + 1][0]] if number + 1 < len(cuts) else text[end : end + 1]
        before = cuts[number - 1][1] if number else first
        if last - first > 1 and text[start + last - 1] == "人" and following == "均" and number + 1 < len(cuts):
            last -= 1
        elif text[start + first] == "均" and number and text[start + before - 1] == "人" and before == first:
            previous = found[-1] if found else None
            if previous is not None and previous.end < start + first:
                first -= 1
        place = start + first
        for piece in _pieces(text[start + first : start + last]):
            found.append(Word(place, place + len(piece), piece))
            place += len(piece)
    return found


def marks_of(context: Context) -> list[Mark]:
    """Values and facilities, sorted and disjoint."""
    turn, view = context.view.turn, context.view
    text = turn.utterance
    acts = {(act.domain, act.slot, act.value): act for act in turn.acts if act.value}
    marks: list[Mark] = []
    lower = text.lower()
    for one in sorted((one for one in turn.acts if one.slot and one.slot.startswith(FACILITY)), key=lambda one: -len(one.slot or "")):
        name = (one.slot or "")[len(FACILITY) :].lower()
        start = lower.find(name)
        while start >= 0 and any(mark.start < start + len(name) and start < mark.end for mark in marks):
            start = lower.find(name, start + 1)
        if start >= 0:
            marks.append(Mark(start, start + len(name), one, True))
    domains = {one.domain for turn_ in view.dialogue.turns for one in turn_.acts}
    for place in view.located:
        if place.how in ("boolean", "dontcare") or place.value in domains:
            continue  # the name of a domain is no value, though a label may hold it (源领域=酒店)
        if any(mark.start < place.end and place.start < mark.end for mark in marks):
            continue  # a goal's list of facilities names them as values
        act = acts.get((place.domain, place.slot, place.value))
        if act is None:
            named = [one for one in turn.acts if one.value and one.act == "inform" and one.value.lower() == place.value.lower()]
            act = named[0] if len(named) == 1 else None
        if act is None and place.slot in QUALIFIERS and any(one.slot in PRICES for one in turn.acts):
            act = Act("inform", place.domain, place.slot, place.value)  # "经济舱的票价": said before, named again
        marks.append(Mark(place.start, place.end, act))
    return sorted(marks, key=lambda mark: mark.start)


def clauses(text: str, marks: Sequence[Mark]) -> list[Clause]:
    """The clauses of a turn; signs inside a value part none."""
    cuts = [match.span() for match in _STOPS.finditer(text) if not any(mark.start < match.end() and match.start() < mark.end for mark in marks)]
    found: list[Clause] = []
    start = 0
    for end, stop in [*cuts, (len(text), len(text))]:
        while start < end and text[start].isspace():
            start += 1
        inside = tuple(mark for mark in marks if start <= mark.start and mark.end <= end)
        words: list[Word] = []
        reached = start
        for mark in inside:
            words += words_in(text, reached, mark.start)
            reached = mark.end
        words += words_in(text, reached, end)
        if words or inside:
            found.append(Clause(start, end, stop, tuple(words), inside))
        start = stop
    return found


def parted_at(clause: Clause, last: int) -> tuple[Clause, Clause] | None:
    """A clause parted behind the word `last` into what leads to it and itself; None where that is no place to part it."""
    words = clause.words
    # "吃完|饭我想找": what leads to the clause goes on behind the word that is unknown.
    last = next((place for place in range(last, min(last + 3, len(words) - 1)) if words[place + 1].text in kinds()["starters"]), last)
    if last + 1 >= len(words) or words[last + 1].text not in kinds()["starters"] or words[last].text in kinds()["starters"]:
        return None
    if words[0].text in ("我", "我们") and words[last].text[-1] not in "完后了束":
        return None  # "我一会|要去": the subject goes with what follows
    end = words[last].end
    if words[0].text in ("我", "我们") and not {"打算", "准备", "计划", "想", "要"}.isdisjoint(word.text for word in words[: last + 1]):
        return None  # "我打算游玩之后|找个地方"
    if {"忘", "忘了", "忘记", "记"} & {word.text for word in words[: last + 1]}:
        return None  # "但我忘了|这家的电话": the verb goes with what follows
    if not kinds()["along"].isdisjoint(word.text for word in words[: last + 1]):
        return None  # "我要跟同事这周末|去吃饭": who comes along goes with what follows
    if not kinds()["near"].isdisjoint(word.text for word in words[: last + 1]):
        return None  # "在酒店的周边|找一家": where, and no circumstance
    if words[last].text[-1] not in kinds()["leading"] or words[last + 1].start != end or any(mark.start < end for mark in clause.marks):
        return None
    return Clause(clause.start, end, end, words[: last + 1], ()), Clause(end, clause.end, clause.stop, words[last + 1 :], clause.marks)


def company_of(clause: Clause, unknown: Sequence[int]) -> list[int] | None:
    """The places of the words that say who comes along ("带女朋友", "一家人") if these are all that is unknown in a clause; None otherwise."""
    words = clause.words
    if len(unknown) != 1:
        return None
    place = unknown[0]
    if words[place].text in kinds()["group"]:
        goes = place + 1 < len(words) and words[place + 1].text in ("想", "要", "去", "一起", "准备", "打算", "出去", "想要", "想去")
        return [place] if goes else None
    if words[place].text not in kinds()["person"]:
        return None
    first = place - 1
    while first >= 0 and words[first].text in ("我", "我的", "的", "他", "我家", "家"):
        first -= 1
    return list(range(first, place + 1)) if first >= 0 and words[first].text in kinds()["along"] else None


def covered(words: Sequence[Word], phrases: Iterable[str]) -> tuple[set[int], set[str]]:
    """The places of words that make up one of the phrases, and the phrases found; a phrase begins and ends with a word."""
    wanted = frozenset(phrases)
    places: set[int] = set()
    found: set[str] = set()
    longest = max(map(len, wanted), default=0)
    for first in range(len(words)):
        joined = ""
        for last in range(first, len(words)):
            if last > first and words[last].start != words[last - 1].end:
                break
            joined += words[last].text
            if len(joined) > longest:
                break
            if joined in wanted:
                places.update(range(first, last + 1))
                found.add(joined)
    return places, found
