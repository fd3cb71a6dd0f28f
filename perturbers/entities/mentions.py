"""Where the entities of a dialogue are mentioned: by their full names, by names written otherwise, and by short forms.

A name is a core and a tail that says what it is: "acorn" and "guest house". Names with the same core are one entity ("christ 's college", "Christ
College"), and so is a name whose core begins a longer one ("elm" and "elm house", "pizza hut" and "pizza hut city centre"). What is replaced is
the core; what stands around it (an article, 's, the tail) stays as it is. The longest mention wins, so that no name inside another is torn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from dialmill.perturbers.core.distance import distance
from dialmill.perturbers.core.lexicon import alternatives, rows, words
from dialmill.perturbers.core.matcher import Cut, folded_word
from dialmill.perturbers.entities.coinage import LODGING, RESTAURANT, SIGHT, TASK, TOWN, VENUE
from dialmill.perturbers.typing.english import frequent_words

#: Words that say what a place is, and words around them.
_TAIL = words(
    "hotel hotels house guest guesthouse lodge inn restaurant restaurants cafe bar grill brasserie bistro kitchen takeaway chop "
    "museum gallery galleries college church theatre theater cinema club nightclub pool park centre center station airport hospital police "
    "hall arts art artworks exchange trust city town village the"
)
#: Tails of several words; "and" and "b" are a part of no other.
_TAIL_PHRASES = (("bed", "and", "breakfast"), ("b", "and", "b"), ("guest", "house"))
_LEAD = ("museum of", "church of", "the")
#: First words of longer names that don't stand for them when they stand alone.
_NO_SHORT = words("saint st royal pizza curry little holy city river university golden old new north south east west grand the all")
#: Towns that corpora speak of: "in cambridge" is no short form of "the cambridge chop house".
_TOWN_NAMES = (
    "cambridge|london|norwich|stevenage|birmingham|leicester|peterborough|broxbourne|ely|oxford|york|bristol|liverpool|manchester|edinburgh|dublin|"
    "san francisco|san jose|san diego|los angeles|new york|las vegas|san mateo|san rafael|palo alto|mountain view|santa clara|santa rosa|"
    "walnut creek|long beach|washington|chicago|seattle|portland|atlanta|philadelphia|phoenix|sacramento|fresno|anaheim|oakland|berkeley|fremont|"
    "petaluma|napa|sonoma|livermore|sunnyvale|vallejo|boston|denver|dallas|houston|austin|vancouver|toronto|paris|sydney|berlin|rome|milan|madrid|"
    "mexico city|kuala lumpur|new delhi|cape town|nairobi|rio de janeiro"
)
_TOWNS = frozenset(tuple(town.split()) for town in _TOWN_NAMES.split("|"))
_PARTS_OF_TOWNS = frozenset(town[:size] for town in _TOWNS for size in range(1, len(town) + 1))
#: Words of phrases that say where somebody is, and no name ("centre of town at my hotel").
_SPEAKERS = words("my your our their this that same")
#: Words that join the parts of a name, at whose end no short form ends.
_JOINS = words("and of the at in on n s for to de la")
#: Kinds whose names end in a word that says what they are.
WITH_TAIL = frozenset({LODGING, RESTAURANT, SIGHT, VENUE})
_ZH_TAIL = re.compile(
    r"(?:(?:精品|连锁|假日|主题|商务|国际)*大?酒店|宾馆|客栈|民宿|餐厅|饭店|火锅|料理|小馆|菜馆|景区|公园|古镇|古街|博物馆|园林|大学|医院|国际机场|机场"
    r"|(?:地铁|火车|汽车|高铁|客运|公交)?站)+(?:\(.*?\)|（.*?）)?$"
)
#: What kinds of places and rooms are called: a label of one names no place of its own, and stands for a facility elsewhere ("酒吧").
_ZH_GENERIC = words(
    "酒吧 餐厅 餐馆 饭店 酒店 宾馆 咖啡厅 咖啡馆 茶室 茶馆 超市 商场 健身房 游泳池 停车场 会议室 会所 小吃店 面馆 快餐店 火锅店 火锅 "
    "便利店 公园 景点 博物馆 商店 书店 药店 医院 学校 大学 广场 机场 车站 火车站 地铁站 汽车站 高铁站 家 公司 这里 那里 附近 无"
)


#: Stations and airports that go by the name of one town: where the town becomes another, so do they ("上海虹桥站", "苏州站").
_STATION = re.compile("虹桥|浦东|首都|大兴|白云|宝安|双流|天府|萧山|禄口|高崎|江北|天河|硕放|园区|新区|流亭|咸阳|黄花|滨海|松江|奉贤|丰台|清河")


def generic_zh(value: str) -> bool:
    """Whether a Chinese label is the word for a kind of place, or a reference to a row of a table ("id=1") that a corpus left in it."""
    return value.strip() in _ZH_GENERIC or "=" in value


class Name(NamedTuple):
    """An English name in words: its core (without the 's that corpora cut off) and its tail."""

    core: tuple[str, ...]
    tail: tuple[str, ...]


@dataclass
class Entity:
    """One thing that the dialogue speaks of. `values` are its labels in order of appearance; `kind` says what name a new one gets."""

    kind: str
    domain: str
    slot: str
    values: list[str] = field(default_factory=list)
    names: list[Name] = field(default_factory=list)
    new: str = ""  #: the new core, or for Chinese the part before the tail
    whole: str = ""  #: the new name as a whole, where a database gave it

    @property
    def core(self) -> tuple[str, ...]:
        """The longest core."""
        return max((name.core for name in self.names), key=len)

    @property
    def bare(self) -> bool:
        """Whether it has no name with a tail."""
        return all(not name.tail for name in self.names)

    @property
    def possessive(self) -> bool:
        """Whether the s at the end of its core comes and goes ("christ 's college", "christ college"), so that it is no part of the name."""
        last = [[word for word in Cut(value, "en").names if _singular(word) == self.core[-1]] for value in self.values]
        return len({word[0] for word in last if word}) > 1 or any(
            len(_without_s(names)) < len(names) for names in (Cut(value, "en").names for value in self.values)
        )


class Mention(NamedTuple):
    """A mention: ``text[start:end]`` is (part of) the core of entity number `entity`; `tail_end` is where its tail ends, `end` where there is none.

    `full` says that core and tail are one of the entity's names, and no short form.
    """

    start: int
    end: int
    entity: int
    tail_end: int
    full: bool


@lru_cache(maxsize=16384)
def name_of(value: str) -> Name | None:
    """A name in words; None if it names nothing of its own ("hotel", "the restaurant")."""
    names = _without_s(Cut(value, "en").names)
    if not _SPEAKERS.isdisjoint(names):
        return None
    for lead in _LEAD:
        parts = lead.split()
        if names[: len(parts)] == parts and len(names) > len(parts):
            names = names[len(parts) :]
            break
    last = _tail_start(names)
    core, tail = names[:last], names[last:]
    if not core and len(names) > 1 and not _closed(value):
        core, tail = names, []
    if not core or _closed(" ".join(core)) or (not tail and _closed(value)):
        return None
    return Name(tuple(_singular(word) for word in core), tuple(tail))


def _without_s(names: Sequence[str]) -> list[str]:
    """Words without the s that was cut off from one; that of "m and s" is a letter of its own."""
    return [name for place, name in enumerate(names) if name != "s" or names[place - 1 : place] == ["and"]]


def _tail_start(names: Sequence[str]) -> int:
    """Where the tail of a name begins. "And" belongs to it between two words of a tail alone ("bar and grill"): "a and b guest house" is the guest
    house of a and b."""
    last = len(names)
    while last:
        phrase = next((phrase for phrase in _TAIL_PHRASES if tuple(names[max(0, last - len(phrase)) : last]) == phrase), None)
        # Two letters with "and" between them at the beginning are the name itself.
        if phrase is not None and last > len(phrase):
            last -= len(phrase)
        elif names[last - 1] in _TAIL or (names[last - 1] == "and" and 1 < last < len(names) and names[last - 2] in _TAIL):
            last -= 1
        else:
            break
    return last


@lru_cache(maxsize=16)
def _closed_surfaces() -> frozenset[str]:
    surfaces: set[str] = set()
    for kind, value, *rest in rows("en", "closed"):
        if kind in ("type", "area", "dontcare", "food"):
            surfaces.update((value, *alternatives(rest[0] if rest else "")))
    return frozenset(surfaces | {"hotel", "hotels", "restaurant", "restaurants", "guesthouse", "train station", "attraction", "same", "there", "it"})


def _closed(value: str) -> bool:
    return value.lower().removeprefix("the ").removeprefix("a ").strip() in _closed_surfaces()


def _singular(word: str) -> str:
    """A word without the s that stands for 's ("christs", "queens")."""
    return word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("ss") else word


def group_en(labels: Iterable[tuple[str, str, str, str]]) -> list[Entity]:
    """The entities behind (kind, domain, slot, value) labels, in order of appearance."""
    entities: list[Entity] = []
    for kind, domain, slot, value in labels:
        # A task is a phrase of its own, without a tail and without short forms.
        name = name_of(value) if kind != TASK else Name(tuple(_singular(word) for word in Cut(value, "en").names), ())
        if name is None or not name.core:
            continue
        same = [entity for entity in entities if any(_same(name.core, other.core, kind, entity.kind) for other in entity.names)]
        if not same:
            entities.append(Entity(kind, domain, slot, [value], [name]))
            continue
        first, *rest = same
        for other in rest:  # a long name can join two that were apart
            first.values += other.values
            first.names += other.names
            entities.remove(other)
        if value not in first.values:
            first.values.append(value)
        if name not in first.names:
            first.names.append(name)
    return entities


def _same(one: tuple[str, ...], other: tuple[str, ...], kind: str, other_kind: str) -> bool:
    """Whether two cores name one thing: equal up to a slip, or the shorter can stand for the longer, which it begins ("elm" for "elm house").

    A town that begins the name of a hotel is not that hotel; and of a town, the end can stand for the whole too ("kings cross").
    """
    if one == other:
        return True
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    if len(short) == len(long):
        joined, rival = " ".join(one), " ".join(other)
        return len(joined) > 7 and joined[0] == rival[0] and joined.isascii() and distance(joined, rival) <= 1
    if (kind == TOWN) != (other_kind == TOWN) or TASK in (kind, other_kind):
        return False
    return (long[: len(short)] == short and (len(short) > 1 or _rare(short[0]))) or (kind == TOWN and len(short) > 1 and long[-len(short) :] == short)


def _rare(word: str) -> bool:
    """Whether a word alone can stand for a name that it begins."""
    return len(word) > 2 and word not in _NO_SHORT and word not in frequent_words() and f"{word}s" not in frequent_words() and not _closed(word)


#: A word that a capital behind it tells to be in the middle of a sentence.
_MIDDLE = re.compile(r"[a-z]['’]?[a-z]*[ ,]+$")


class Finder:
    """Finds the mentions of English entities in texts."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self.entities = entities
        self._possessive = [entity.possessive for entity in entities]
        self._starts: tuple[str, ...] = ()
        self._table: dict[str, list[tuple[tuple[str, ...], int]]] = {}
        owners: dict[tuple[str, ...], int] = {}
        for number, entity in enumerate(entities):
            for name in entity.names:
                owners[name.core] = number
        shared: set[tuple[str, ...]] = set()
        for number, entity in enumerate(entities):
            core = entity.core
            for size in range(1, len(core) if entity.kind != TASK else 0):
                short = core[:size]
                if short[-1] in _JOINS:
                    continue  # "a and" of "a and b guest house" is no name
                if short in _PARTS_OF_TOWNS or short in _TAIL_PHRASES or _tail_start(short) < min(len(short), 2):
                    shared.add(short)  # nor is "in san jose" for "san jose grill", or "a bed and breakfast" for "bed and breakfast at tiffany's"
                    owners.setdefault(short, number)
                    continue
                alone = size > 1 or _rare(short[0]) or any(name.core == short for name in entity.names)
                if owners.setdefault(short, number) != number or not alone:
                    shared.add(short)
        for core, number in owners.items():
            if core not in shared or any(name.core == core for name in entities[number].names):
                self._table.setdefault(core[0], []).append((core, number))
        for rivals in self._table.values():
            rivals.sort(key=lambda rival: -len(rival[0]))
        self._starts = tuple(self._table)

    def find(self, text: str, forced: Iterable[tuple[int, int, int]] = ()) -> list[Mention]:
        """The mentions in a text, disjoint and in order.

        Args:
            text: an utterance or a label.
            forced: (start, end, entity) of spans that name an entity, however they write it.
        """
        spans = list(forced)
        found: list[Mention] = []
        low = folded_word(text)
        if not spans and not any(start in low for start in self._starts):
            return found
        units = Cut(text, "en")
        names = units.names
        table = self._table
        first = 0
        count = len(names)
        while first < count:
            rivals = table.get(names[first]) or table.get(_singular(names[first]))
            last = 0
            if rivals:
                for core, number in rivals:
                    last = _match(core, names, first)
                    if (
                        last
                        and (len(core) > 1 or self._stands(core[0], number, text, units, first, last, spans))
                        and (core not in _TOWNS or self._is_no_town(core, number, units, first, last, spans))
                    ):
                        end = units.bounds[last - 1][1]
                        if names[last - 1] != core[-1] and self._possessive[number]:
                            end -= 1  # the s of "christs" stays, as that of "christ 's" does
                        found.append(Mention(units.bounds[first][0], end, number, *self._tail(core, number, units, last)))
                        break
                    last = 0
            first = last or first + 1
        for start, end, number in spans:
            if not any(one.start < end and start < one.end for one in found):
                mention = self._misspelt(text, start, end, number)
                if mention is not None:
                    found.append(mention)
        found.sort()
        return found

    def _stands(self, word: str, number: int, text: str, units: Cut, first: int, last: int, spans: list[tuple[int, int, int]]) -> bool:
        """Whether a name of one word that is a frequent word too ("ask") is meant.

        It is where a span says so, where its tail follows, where it has a capital in the middle of a sentence, and, for the short form of a name
        with a tail, behind "the" ("the elm").
        """
        if _rare(word):
            return True
        start, end = units.bounds[first]
        if any(a <= start and end <= b and owner == number for a, b, owner in spans):
            return True
        if text[start].isupper() and first and _MIDDLE.search(text[:start]):
            return True
        tailed = any(name.tail for name in self.entities[number].names)
        if tailed and first and units.names[first - 1] in ("the", "called", "named"):
            return True
        following = [name for name in units.names[last : last + 2] if name != "s"]
        if following and any(name.tail[:1] == (following[0],) for name in self.entities[number].names):
            return True
        return text.strip().lower() in {value.lower() for value in self.entities[number].values}

    def _is_no_town(self, core: tuple[str, ...], number: int, units: Cut, first: int, last: int, spans: list[tuple[int, int, int]]) -> bool:
        """Whether the name of a town stands for an entity that is called by it: the town itself, or what a tail or a span tells apart from it."""
        start, end = units.bounds[first][0], units.bounds[last - 1][1]
        return (
            any(name.core == core and not name.tail for name in self.entities[number].names)
            or any(a <= start and end <= b and owner == number for a, b, owner in spans)
            or self._tail(core, number, units, last)[0] > end
        )

    def _tail(self, core: tuple[str, ...], number: int, units: Cut, last: int) -> tuple[int, bool]:
        """Where a tail that the entity is known by ends, if one follows, and whether core and tail are one of its names."""
        reached = last
        if reached < len(units.names) and units.names[reached] == "s":
            reached += 1
        longest: tuple[str, ...] = ()
        for name in self.entities[number].names:
            if len(name.tail) > len(longest) and tuple(units.names[reached : reached + len(name.tail)]) == name.tail:
                longest = name.tail
        end = units.bounds[reached + len(longest) - 1][1] if longest else units.bounds[last - 1][1]
        return end, Name(core, longest) in self.entities[number].names

    def _misspelt(self, text: str, start: int, end: int, number: int) -> Mention | None:
        """A span that writes its entity otherwise: all of it but its article and tail."""
        units = Cut(text[start:end], "en")
        first, last = 0, len(units.names)
        while first < last and units.names[first] in ("the", "a", "an"):
            first += 1
        last = max(min(last, first + 1), first + _tail_start(units.names[first:]))
        if first >= last or _closed(text[start:end]):
            return None
        return Mention(start + units.bounds[first][0], start + units.bounds[last - 1][1], number, end, True)


def _match(core: tuple[str, ...], names: Sequence[str], first: int) -> int:
    """The unit after the core that begins at `first`, 0 if it doesn't; "s" units inside are passed over."""
    place = first
    for number, word in enumerate(core):
        if number and place < len(names) and names[place] == "s" and word != "s":
            place += 1
        if place == len(names) or (names[place] != word and _singular(names[place]) != word):
            return 0
        place += 1
    return place


def zh_core(value: str) -> str:
    """A Chinese name without the words that say what it is; the whole name where nothing would be left."""
    core = _ZH_TAIL.sub("", value)
    return core if len(core) > 1 else value


def zh_forms(entity: Entity) -> list[str]:
    """The surfaces that mention a Chinese entity: its names, and their cores of three characters and more."""
    forms = dict.fromkeys(entity.values)
    for value in entity.values if entity.kind in WITH_TAIL else ():
        core = zh_core(value)
        if len(core) >= 3:
            forms[core] = None
    return list(forms)


class FinderZh:
    """Finds the mentions of Chinese entities in texts; blanks and middle dots inside a name don't count."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self.entities = entities
        owners: dict[str, int] = {}
        for number, entity in enumerate(entities):
            for form in zh_forms(entity):
                owners.setdefault(form, number)
        self._owners = {_squeezed(form): number for form, number in owners.items()}
        forms = sorted(owners, key=len, reverse=True)
        self._pattern = re.compile("|".join(r"[\s·.．・]?".join(map(re.escape, _squeezed(form))) for form in forms)) if forms else None

    def find(self, text: str, forced: Iterable[tuple[int, int, int]] = ()) -> list[Mention]:
        """As `Finder.find`."""
        found = []
        if self._pattern is not None:
            for match in self._pattern.finditer(text):
                number = self._owners[_squeezed(match.group())]
                full = _squeezed(match.group()) in map(_squeezed, self.entities[number].values)
                end = match.start() + self._core(match.group(), number)
                if self.entities[number].kind == TOWN:
                    station = _STATION.match(text, end)
                    end = station.end() if station is not None else end
                found.append(Mention(match.start(), end, number, max(end, match.end()), full))
        for start, end, number in forced:
            if not any(one.start < end and start < one.end for one in found):
                found.append(Mention(start, start + self._core(text[start:end], number), number, end, True))
        found.sort()
        return found

    def _core(self, surface: str, number: int) -> int:
        """How much of a mention is replaced: all of a person, a title or a town, a place up to the words that say what it is."""
        return len(zh_core(surface)) if self.entities[number].kind in WITH_TAIL else len(surface)


def _squeezed(text: str) -> str:
    return re.sub(r"[\s·.．・]", "", text)
