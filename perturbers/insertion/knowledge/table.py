"""What has been talked about at each place of a dialogue: the entities that were offered, booked or named, the last of them, and the domain."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from dialmill.perturbers.core.surfaces import DONTCARE
from dialmill.perturbers.insertion.knowledge.base import WHOLE_DOMAIN, KnowledgeBase, name_key
from dialmill.schemas import Dialogue, Turn

#: (domain, entity id).
Key = tuple[str, str]
#: What the system said last: it offered a booking, asked whether there was more, asked for something, named a place, or else.
Move = Literal["book", "more", "ask", "offer", "tell"]

_GENERAL = frozenset({"general", "booking", "通用", ""})
_NAME_SLOTS = frozenset({"name", "名称", "片名", "商品名称", "班号", "车次信息", "航班信息", "trainid", "id"})
_WORD = re.compile(r"[^\W_]+(?: ?['’]s\b)?")
#: What a name may leave out at its end.
_KINDS = re.compile(r" (?:hotel|restaurant|guest ?house|b and b|bed and breakfast|inn|lodge|cafe|bar|museum|theatre|cinema|college|park)$")


class Mention(NamedTuple):
    """An entity that a turn speaks of, and how it calls it ("" where only its labels do)."""

    key: Key
    surface: str


class Spot(NamedTuple):
    """A place where a question may come in.

    Attributes:
        gap: the turn that the question comes before.
        domain: the domain in hand, "" where labels don't say.
        last: the entities of the last turn that spoke of any, of the domain in hand.
        earlier: all other entities that were spoken of.
        surfaces: how they were called last.
        offered: whether labels name something of the domain in hand, known to the base or not; true where the dialogue has no labels.
        move: what the system said last.
        several: whether labels of the last turn that names anything of the domain in hand name more than one thing: "that hotel" is none of them.
    """

    gap: int
    domain: str
    last: tuple[Key, ...]
    earlier: tuple[Key, ...]
    surfaces: dict[Key, str]
    offered: bool
    move: Move
    several: bool = False


class Names:
    """The names of a knowledge base's entities, found in texts and labels."""

    def __init__(self, base: KnowledgeBase, language: str) -> None:
        self.language = language
        self.exact: dict[str, list[Key]] = {}
        self.short: dict[str, list[Key]] = {}
        for key, entity in base.entities.items():
            if entity.name is None or entity.entity_id == WHOLE_DOMAIN:
                continue
            name = name_key(entity.name, language)
            if len(name) < 2:
                continue
            self.exact.setdefault(name, []).append(key)
            core = _KINDS.sub("", name)
            if core != name and len(core) > 4:
                self.short.setdefault(core, []).append(key)
        # By first word, the longest names first; Chinese by first character.
        self._starts: dict[str, list[str]] = {}
        self._texts = dict(self.exact)
        for name, keys in self.short.items():
            if " " in name:
                self._texts.setdefault(name, keys)
        for name in self._texts:
            self._starts.setdefault(name[0] if language == "zh" else name.split(" ", 1)[0], []).append(name)
        for names in self._starts.values():
            names.sort(key=lambda one: (-len(one), one))

    def of_value(self, value: str) -> list[Key]:
        """The entities that a label's value names."""
        name = name_key(value, self.language)
        return self.exact.get(name) or self.short.get(name) or self.short.get(_KINDS.sub("", name)) or self.exact.get(_KINDS.sub("", name), [])

    def in_text(self, text: str) -> Iterable[tuple[list[Key], str]]:
        """The entities that a text names in full, with the surface. A name of one word counts with a capital only: "cote" may be a word."""
        if self.language == "zh":
            yield from self._in_chinese(text)
            return
        words = [(match.start(), match.end(), name_key(match.group(), "en")) for match in _WORD.finditer(text)]
        words = [(start, end, word) for start, end, word in words if word]
        place = 0
        while place < len(words):
            found = 0
            for name in self._starts.get(words[place][2], ()):
                parts = name.split(" ")
                stretch = words[place : place + len(parts)]
                if [word for _, _, word in stretch] == parts:
                    surface = text[stretch[0][0] : stretch[-1][1]]
                    if len(parts) > 1 or (surface[0].isupper() and stretch[0][0] > 0 and len(surface) > 3):
                        yield self._texts[name], surface
                        found = len(parts)
                        break
            place += found or 1

    def _in_chinese(self, text: str) -> Iterable[tuple[list[Key], str]]:
        plain = "".join(text.split())
        place = 0
        while place < len(plain):
            name = next((one for one in self._starts.get(plain[place].casefold(), ()) if plain[place : place + len(one)].casefold() == one), "")
            if name:
                yield self._texts[name], plain[place : place + len(name)]
            place += len(name) or 1


@lru_cache(maxsize=16)
def names_of(base: KnowledgeBase, language: str) -> Names:
    """The names of a base, ready to be found."""
    return Names(base, language)


def _labelled(turn: Turn, names: Names, before: frozenset[tuple[str, str]]) -> Iterable[tuple[list[Key], str, str]]:
    """(entities, surface, domain) that a turn's labels name; `before` holds the names of the state so far."""
    for span in turn.spans:
        if _is_name(span.slot):
            yield names.of_value(span.value), span.text or "", span.domain
    for act in turn.acts:
        if act.slot is not None and act.value and _is_name(act.slot):
            yield names.of_value(act.value), "", act.domain
    for cell in turn.state:
        if _is_name(cell.slot):
            for value in cell.values:
                if (cell.domain, value) not in before and value.lower() not in DONTCARE:
                    yield names.of_value(value), "", cell.domain


def _is_name(slot: str) -> bool:
    return slot in _NAME_SLOTS or slot.endswith(("_name", "-name"))


def mentions(dialogue: Dialogue, names: Names) -> list[list[Mention]]:
    """The entities that each turn speaks of, in order."""
    found: list[list[Mention]] = []
    named: frozenset[tuple[str, str]] = frozenset()
    domain = ""
    for turn in dialogue.turns:
        domain = domain_of(turn, domain, dialogue)
        mine: dict[Key, str] = {}
        for keys, surface, where in (*_labelled(turn, names, named), *((keys, surface, "") for keys, surface in names.in_text(turn.utterance))):
            wanted = [key for key in keys if key[0] == where] or ([key for key in keys if key[0] == domain] if len(keys) > 1 else keys)
            if len(wanted) == 1 and (where in _GENERAL or wanted[0][0] == where):
                mine[wanted[0]] = surface or mine.get(wanted[0], "")
        found.append([Mention(key, surface) for key, surface in mine.items()])
        if turn.speaker == "user":
            named = frozenset((cell.domain, value) for cell in turn.state if _is_name(cell.slot) for value in cell.values)
    return found


def domain_of(turn: Turn, before: str, dialogue: Dialogue) -> str:
    """The domain in hand after a turn: what its acts are about, else the one before, else the dialogue's if it has one only."""
    named = [act.domain for act in turn.acts if act.domain not in _GENERAL]
    if named:
        return before if before in named else named[-1]
    if before:
        return before
    return dialogue.domains[0] if len(dialogue.domains) == 1 else ""


_SEVERAL = re.compile(
    r"\b(?:both|either|each|these|those|them all|several|a few|one of them|"
    r"(?:two|three|four|\d+) (?:\w+ )?(?:hotels|guest ?houses|restaurants|options|places|choices))\b|(?:这|那)几家|都有|[两二三四五]家",
    re.IGNORECASE,
)
_BOOKING = re.compile(r"\b(?:book|reserv|ticket)|预订|订票|订房|预约", re.IGNORECASE)
_MORE = re.compile(
    r"\b(?:else|other questions|more questions|further|anything more|any more|any other \w+|more you|will that be all)\b|"
    r"还有(?:什么|别的|其他)|别的需要",
    re.IGNORECASE,
)


def move_of(turn: Turn | None, named: Sequence[Mention]) -> Move:
    """What a system turn does at its end, by its acts and words."""
    if turn is None:
        return "tell"
    text = turn.utterance.rstrip()
    asks = text.endswith(("?", "？"))
    last = re.split(r"[.!。！]\s*", text)[-1] if asks else ""
    acts = {act.act for act in turn.acts}
    if _MORE.search(last) or ("reqmore" in acts and not asks):
        return "more"
    if asks and _BOOKING.search(last) and not re.match(r"(?:what|which|when|how|where|for how)", last.strip(), re.IGNORECASE):
        return "book"
    if asks:
        return "ask"
    return "offer" if named and acts & {"recommend", "inform", "offer", "select", "offer_intent"} else "tell"


def spots(dialogue: Dialogue, names: Names, gaps: Sequence[int]) -> list[Spot]:
    """What has been talked about at each gap."""
    spoken = mentions(dialogue, names)
    domains = []
    domain = ""
    for turn in dialogue.turns:
        domain = domain_of(turn, domain, dialogue)
        domains.append(domain)
    labelled = any(turn.acts or turn.spans for turn in dialogue.turns)
    named: list[frozenset[str]] = [frozenset()]
    counted: list[dict[str, int]] = [{}]
    for turn in dialogue.turns:
        counted.append(counted[-1] | _counted(turn))
        mine = {act.domain for act in turn.acts if act.value and act.slot is not None and _is_name(act.slot)}
        mine |= {span.domain for span in turn.spans if _is_name(span.slot)} | {cell.domain for cell in turn.state if _is_name(cell.slot)}
        named.append(named[-1] | mine)
    found: list[Spot] = []
    for gap in gaps:
        surfaces: dict[Key, str] = {}
        last: tuple[Key, ...] = ()
        for place in range(gap):
            for mention in spoken[place]:
                surfaces[mention.key] = mention.surface or surfaces.get(mention.key, "")
            if spoken[place]:
                last = tuple(mention.key for mention in spoken[place])
        hand = domains[gap - 1] if gap else (dialogue.domains[0] if len(dialogue.domains) == 1 else "")
        last = tuple(key for key in last if key[0] == hand or not hand)
        before = dialogue.turns[gap - 1] if gap else None
        if before is not None and not spoken[gap - 1] and _SEVERAL.search(before.utterance):
            last = ()  # it speaks of more than one, and it can't be told which
        earlier = tuple(key for key in surfaces if key not in last)
        offered = not labelled or hand in named[gap]
        if before is not None and not spoken[gap - 1] and not _names_one(before, hand) and (_none_found(before) or _MANY.search(before.utterance)):
            offered, last = False, ()  # what was named before is no longer what is spoken of
        if dialogue.language == "zh" and labelled and not _in_sight(dialogue.turns[:gap], hand):
            offered = False
        move = move_of(before, spoken[gap - 1] if gap else ())
        found.append(Spot(gap, hand, last, earlier, surfaces, offered, move, counted[gap].get(hand, 0) > 1))
    return found


#: Several things are on offer, and none of them is named.
_MANY = re.compile(
    r"\b(?:\d+|several|many|multiple|numerous|lots of|a lot of|a few|plenty of|two|three|four|five|six|seven|eight|nine|ten|various|different) "
    r"(?:[\w-]+ ){0,4}?(?:trains|hotels|guest ?houses|restaurants|places|options|choices|attractions|museums|colleges|"
    r"entries|listings|results|of them)\b|"
    r"\b(?:there are|i have|we have|i found) (?:\d+|several|many|multiple|quite a few|two|three|four|five|six)\b|"
    r"(?:很多|不少|好几|好多|几)(?:家|个|趟|班|款|部)",
    re.IGNORECASE,
)


#: "This one", said of what is in hand.
_POINTS_ZH = re.compile(r"[这那该](?:个|家|款|部|趟|班|所)|[他她它]家|它的?")
_SIGHT = 6


def _in_sight(turns: Sequence[Turn], domain: str) -> bool:
    """Whether what "this one" means of a domain was named or pointed at in the last turns, and no list of what lies around it came after that."""
    for turn in reversed(turns[-_SIGHT:]):
        if any((act.slot or "").startswith("周边") and act.value not in (None, "", "无") for act in turn.acts):
            return False
        of_it = not turn.acts or any(act.domain == domain for act in turn.acts)
        if _names_one(turn, domain) or (of_it and _POINTS_ZH.search(turn.utterance)):
            return True
    return False


def _none_found(turn: Turn) -> bool:
    return any(act.act in ("nooffer", "notify_failure") for act in turn.acts)


def _names_one(turn: Turn, domain: str) -> bool:
    """Whether the labels of a turn name something of a domain."""
    return _counted(turn).get(domain, 0) > 0


def _counted(turn: Turn) -> dict[str, int]:
    """How many things of each domain a turn names, by its labels."""
    values: dict[str, set[str]] = {}
    labels = [(act.domain, act.slot or "", act.value or "") for act in turn.acts] + [(span.domain, span.slot, span.value) for span in turn.spans]
    for domain, slot, value in labels:
        if value and _is_name(slot) and value.lower() not in DONTCARE:
            values.setdefault(domain, set()).add(value)
    return {domain: len(found) for domain, found in values.items()}
