"""What an English user turn means: its acts as items, and the certificate over the source: its labels and the words around them must say all of it.

A turn is composed only where every word is a value, a word that the turn's own labels account for (``lexicons/en/composer_words.tsv``), or one that
says nothing. A word that nothing accounts for ("same", "instead", "if", a number without a label) is a meaning that no label has, and refuses it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dialmill.perturbers.core.lexicon import rows
from dialmill.perturbers.core.surfaces import kind_of
from dialmill.perturbers.core.values import VALUE_CLASSES, Located
from dialmill.perturbers.rewording.composer.plan import Context, Item, Plan, Refusal
from dialmill.schemas import Act, Turn


@lru_cache(maxsize=1)
def _words() -> dict[str, frozenset[str]]:
    """What words are for -> those words."""
    table: dict[str, frozenset[str]] = {}
    for name, words in rows("en", "composer_words"):
        table[name] = table.get(name, frozenset()) | frozenset(words.split())
    return table


@lru_cache(maxsize=1)
def _sections() -> dict[tuple[str, str], tuple[str, str]]:
    """(service or "*", slot) -> where the bank words it."""
    return {(row[0], row[1].replace("_", " ")): (row[2], row[3] if len(row) > 3 else "") for row in rows("en", "composer_slots")}


class Place(NamedTuple):
    """Where the bank words a slot: a domain (or "@" and a type), and the slot there."""

    domain: str
    slot: str

    @property
    def name(self) -> str:
        """The slot as the word lists name it."""
        return self.slot or self.domain


#: The domains that the bank words by slots of its own.
_STAY = frozenset({"hotel", "restaurant", "attraction"})
OWN = frozenset({"hotel", "restaurant", "attraction", "train", "taxi"})
_NUMBERED = re.compile(r"_\d+$")


def family(domain: str) -> str:
    """A service without its number: "hotels_4" is "hotels"."""
    return _NUMBERED.sub("", domain)


@lru_cache(maxsize=4096)
def place_of(domain: str, slot: str, asked: bool = False) -> Place | None:
    """Where the bank words a slot of a domain; None where it can't."""
    if domain in OWN:
        return Place(domain, slot)
    table = _sections()
    for service in (family(domain), "*"):
        for name in ("?" + slot, slot) if asked else (slot,):
            found = table.get((service, name))
            if found:
                return Place(*found)
    return None


#: Acts -> the kind of item, for acts without a value. Names of MultiWOZ's and SGD's schemas.
_KINDS = {
    "thank": "thank",
    "thank you": "thank",
    "bye": "bye",
    "goodbye": "bye",
    "greet": "greet",
    "affirm": "right",
    "negate": "no",
    "affirm intent": "yes",
    "negate intent": "declineintent",
    "select": "select",
    "request alts": "alts",
}
_YES = frozenset(["yes", "yeah", "yep", "yup", "yea", "sure", "absolutely", "definitely", "ok", "okay"])
_SURE_YES = frozenset(["yes", "yeah", "yep", "yup", "yea", "absolutely", "definitely"])
_NO = frozenset(["no", "nope", "nah"])
_ACKS = frozenset(
    [
        "great",
        "ok",
        "okay",
        "perfect",
        "good",
        "wonderful",
        "awesome",
        "excellent",
        "lovely",
        "cool",
        "fine",
        "alright",
        "nice",
        "fantastic",
        "terrific",
        "sounds",
    ]
)
_THANKS = re.compile(r"\bthank|\bappreciate")
_END = re.compile(
    r"\b(?:that(?: ?'?s| is| was| will be| would be| ll be)? ?(?:all|it|everything)|all (?:i need|for now|set)|nothing else|no\b|nope|nah|done)"
)
_BOOK = re.compile(r"\b(?:book|booking|reserve|reservation|reservations|table)\b")
_UNBOOK = re.compile(
    r"(?:\bnot\b|\bn t\b|\bdont\b|\bwont\b|\bno need\b)[^.?!]{0,24}"
    r"\b(?:book|booking|reserve|reservation|ticket|tickets)\b|\bnot yet\b|\bnot (?:right )?now\b"
)
_PICK = re.compile(
    r"\b(?:pick|choose|select|recommend|suggest)\b(?: [a-z]+){0,2} (?:one|me)\b(?! (?:a|an|some|that|in|with|place|hotel|restaurant)\b)"
    r"|\byour (?:favou?rite|recommendation|choice|pick)\b|\bup to you\b|\bwhat (?:do|would) you (?:recommend|suggest)\b|\bsurprise me\b"
    r"|\bwhich (?:one )?(?:do|would|is)\b"
)
#: Words that stand before "one" where it is no number.
_BEFORE_ONE = frozenset(["that", "this", "the", "which", "nice", "good", "a", "any"])
_NOT_NOW = frozenset(["now", "at", "today", "yet", "right", "this", "really"])
_BEHIND_ONE = frozenset(["that", "which", "with", "in", "on"])
_BEHIND_ANY = frozenset(["in", "with", "like", "that", "for", "on", "around"])
_UNITS = {
    "people": frozenset(["people", "person", "persons", "guests", "guest", "adults"]),
    "stay": frozenset(["night", "nights", "day", "days"]),
    "stars": frozenset(["star", "stars"]),
    "rooms": frozenset(["room", "rooms"]),
    "tickets": frozenset(["ticket", "tickets", "seat", "seats"]),
}
#: What a unit beside a number may stand beside, as the word lists name the slots.
_UNIT_OF = {
    "people": frozenset(("book people", "@people", "@tickets")),
    "stay": frozenset(("book stay", "@days")),
    "stars": frozenset(("stars", "@stars")),
    "rooms": frozenset(("@rooms",)),
    "tickets": frozenset(("@tickets", "book people", "@people")),
}
_COUNTED = frozenset().union(*_UNIT_OF.values())
_FROM, _TO = frozenset(["from", "leaving", "departing"]), frozenset(("to", "for", "into", "in"))
#: What asks for a slot whatever the acts say.
_UNMISTAKABLE = (
    ("ref", frozenset({"hotel", "restaurant", "train"}), re.compile(r"\b(?:reference|confirmation) (?:number|code)\b|\breference\b")),
    ("post", _STAY, re.compile(r"\bpost ?code\b|\bzip ?code\b")),
    ("phone", _STAY, re.compile(r"\b(?:phone|telephone|contact) number\b")),
    ("addr", _STAY, re.compile(r"\baddress\b")),
    ("fee", frozenset({"attraction"}), re.compile(r"\b(?:entrance|admission) fee\b")),
)
_GENERAL = frozenset({"thank", "bye", "greet"})
#: Words of a longer surface that say no more than the value in it: "the centre of town", "moderately priced".
_SHAPE = frozenset(["the", "of", "town", "city", "part", "side", "end", "area", "priced", "price", "range", "in"])
_WORD = re.compile(r"\w+")


def plan(context: Context) -> Plan | Refusal:
    """What a turn says, or why its labels and words don't tell."""
    view, turn = context.view, context.view.turn
    if turn.labels:
        return Refusal("labelled: " + turn.labels[0])
    names = view.units.names
    text = " ".join(names)
    before = context.before
    asked = _asked(before)
    read = _items(context, asked, text)
    if isinstance(read, Refusal):
        return read
    acts, used = read
    asks = before is not None and ("?" in before.utterance or any(act.act in ("reqmore", "req more", "req_more") for act in before.acts))
    offered = before is not None and any(
        act.act in ("recommend", "offer", "select", "offerbook", "offerbooked", "inform", "book") for act in before.acts
    )
    failed = _failed(before)
    booked = before is not None and any(act.act in ("offerbooked", "book", "notify_success") for act in before.acts)
    said = _unlabelled(context, acts, names, text, asks, offered)
    if isinstance(said, Refusal):
        return said
    if not said:
        return Refusal("no_acts")
    items = _recovered(context, said, used)
    problem = _unaccounted(context, items, used) or _units(context, items) or _state(context, items)
    return Refusal(problem) if problem else Plan(tuple(items), asked, offered, failed, booked)


def _asked(before: Turn | None) -> frozenset[str]:
    """The slots that a system turn asks for; MultiWOZ asks for a booking's in a domain of its own."""
    if before is None:
        return frozenset()
    return frozenset(act.slot.replace("_", " ") for act in before.acts if act.act == "request" and act.slot)


def _failed(before: Turn | None) -> bool:
    """Whether a system turn says that nothing was found, or that a booking failed."""
    return before is not None and any(act.act in ("nooffer", "nobook", "notify failure", "notify_failure") for act in before.acts)


def _items(context: Context, asked: frozenset[str], text: str) -> tuple[list[Item], set[int]] | Refusal:
    """The acts as items, and which located values they show."""
    view, turn, before = context.view, context.view.turn, context.before
    acts = [act for act in turn.acts if act.act != "inform" or act.slot != "none"]
    derived = not acts
    if derived:
        acts = [
            Act("inform", cell.domain, cell.slot, value)
            for cell in turn.state
            for value in cell.values[:1]
            if (cell.domain, cell.slot, value) not in context.state
        ]
    items: list[Item] = []
    used: set[int] = set()
    for act in dict.fromkeys(acts):
        made = _item(context, act, used)
        if isinstance(made, Refusal):
            # A state that changes by what the system offered needs no act of the turn's own.
            if derived and _offered_value(before, act.value or ""):
                continue
            return made
        if made.kind in ("inform", "dontcare", "request", "intent", "goal") or all(item.kind != made.kind for item in items):
            items.append(made)
    if derived and not items and asked and before is not None and any(signal.kind == "dontcare" for signal in view.signals):
        open_slots = [(act.domain, act.slot.replace("_", " ")) for act in before.acts if act.act == "request" and act.slot]
        items += [Item("dontcare", domain, slot) for domain, slot in open_slots if place_of(domain, slot)][:1]
    return items, used


def _item(context: Context, act: Act, used: set[int]) -> Item | Refusal:
    """An act as an item; the located value that it shows is added to `used`."""
    name, slot, value = act.act.replace("_", " "), (act.slot or "").replace("_", " "), act.value or ""
    if name == "inform intent":
        return Item("goal", act.domain, "", value)
    if name in _KINDS:
        kind = _KINDS[name]
        if kind == "right" and (context.before is None or all(other.act != "confirm" for other in context.before.acts)):
            kind = "yes"
        return Item(kind, act.domain)
    if name == "request" and slot:
        return Item("request", act.domain, slot) if place_of(act.domain, slot, True) else Refusal(f"no_clause: {slot}")
    if name == "inform" and not slot:
        return Item("intent", act.domain)
    if name == "inform":
        place = place_of(act.domain, slot)
        return Refusal(f"no_clause: {slot}") if place is None else _informed(context, act, slot, value, place, used)
    return Refusal(f"act: {name}")


def _informed(context: Context, act: Act, slot: str, value: str, place: Place, used: set[int]) -> Item | Refusal:
    view = context.view
    kind = kind_of(act.slot or "", value)
    if kind == "dontcare":
        if not any(signal.kind in ("dontcare", "negation") for signal in view.signals):
            return Refusal("dontcare_unsaid")
        for number, found in enumerate(view.located):
            if found.slot == act.slot and found.value == act.value:
                used.add(number)
        return Item("dontcare", act.domain, slot)
    low = value.lower()
    if kind.startswith("boolean") or low in ("true", "false", "yes", "no", "free"):
        names = view.units.names
        words = _words().get(f"slot:{place.name}")
        if words is None or words.isdisjoint(names):
            return Refusal("value_not_shown")
        told = {"false": "no"}.get(low, low)
        if told in ("yes", "free") and "free" in names:
            told = "free"
        for number, found in enumerate(view.located):
            if found.slot == act.slot and found.how == "boolean":
                used.add(number)
        return Item("inform", act.domain, slot, told)
    best: int | None = None
    for number, found in enumerate(view.located):
        if number not in used and found.value.lower() == low and (best is None or (found.domain == act.domain and found.slot == act.slot)):
            best = number
            if found.domain == act.domain and found.slot == act.slot:
                break
    if best is None:
        return Refusal(f"value_not_shown: {slot}={value}")
    used.add(best)
    found = view.located[best]
    return Item("inform", act.domain, slot, value, found.start, found.end)


@lru_cache(maxsize=4096)
def _bare(text: str) -> str:
    """Letters and digits alone, without an article, for names that are written apart or together."""
    return re.sub(r"[^a-z0-9]|^the\b", "", text.lower())


def _offered_value(before: Turn | None, value: str) -> bool:
    low = _bare(value)
    return before is not None and (
        any(act.value and low in _bare(act.value) for act in before.acts) or (len(low) > 4 and low in _bare(before.utterance))
    )


def _unlabelled(context: Context, items: list[Item], names: list[str], text: str, asks: bool, offered: bool) -> list[Item] | Refusal:
    """The items with what the words say beside the acts: yes and no, a booking asked for or put off, a choice left to the system, thanks."""
    reply = _reply(context, items, names, asks)
    if isinstance(reply, Refusal):
        return reply
    kinds = {item.kind for item in items}
    content = any(item.kind not in _GENERAL for item in items)
    made = [*reply, *items]
    if _THANKS.search(text) and "thank" not in kinds:
        made.append(Item("thank"))
    if "bye" not in kinds and ("goodbye" in names or "bye" in names):
        made.append(Item("bye"))
    if kinds & {"thank", "bye"} and not any(item.kind in ("end", "no") for item in made) and _END.search(text) and not content:
        made.append(Item("end"))
    if not any("_" in item.domain or item.kind in ("goal", "right", "select", "alts", "declineintent") for item in items):
        booked = _booking_words(context, items, made, text, offered)
        if isinstance(booked, Refusal):
            return booked
        made = booked
    if _PICK.search(text) and offered and not context.first:
        made.append(Item("recommend"))
    return made


def _reply(context: Context, items: list[Item], names: list[str], asks: bool) -> list[Item] | Refusal:
    """What the first word answers: yes, no, the end of it all, or an acknowledgement."""
    kinds = {item.kind for item in items}
    content = any(item.kind not in _GENERAL for item in items)
    first = names[0] if names else ""
    refuses = first in _NO or (first == "not" and len(names) > 1 and names[1] in _NOT_NOW)
    if refuses and not kinds & {"no", "declineintent"}:
        if kinds & {"thank", "bye"} and not content and not _offers_booking(context):
            return [Item("end")]
        if context.before is None:
            return Refusal("unlabelled: no")
        return [] if "dontcare" in kinds else [Item("no")]
    if kinds & {"yes", "right", "select"}:
        return []
    if first in _YES:
        return [Item("yes" if asks and (first in _SURE_YES or not content) else "ack")]
    return [Item("ack")] if first in _ACKS and context.before is not None else []


def _booking_words(context: Context, items: list[Item], made: list[Item], text: str, offered: bool) -> list[Item] | Refusal:
    """What the words say of a booking where no act does."""
    kinds = {item.kind for item in items}
    booking = any(item.slot.startswith("book ") for item in items)
    known = {cell[0] for cell in context.state}
    fresh = any(item.kind == "inform" and item.slot != "name" and item.domain not in known for item in items)
    if _UNBOOK.search(text):
        if booking or fresh or context.before is None or "dontcare" in kinds:
            return Refusal("unlabelled: not booked")
        return [*(item for item in made if item.kind not in ("no", "yes")), Item("declinebook", _domain_of(context, items))]
    if _BOOK.search(text) and not booking and not fresh and "intent" not in kinds and offered:
        domain = _domain_of(context, items)
        if not domain or any(item.kind == "inform" and item.slot != "name" for item in items):
            return Refusal("unlabelled: book")
        return [*made, Item("book", domain)]
    return made


def _offers_booking(context: Context) -> bool:
    """Whether the system turn before offers to book rather than anything else."""
    before = context.before
    if before is None or any(act.act in ("reqmore", "req_more") for act in before.acts):
        return False
    return any(act.act in ("offerbook", "offer_intent") for act in before.acts) or (
        "?" in before.utterance and _BOOK.search(before.utterance.lower().rpartition(".")[2]) is not None
    )


def _recovered(context: Context, items: list[Item], used: set[int]) -> list[Item]:
    """The items with what the text shows and no act says: what came into the state, the kind of place looked for, what is asked about."""
    told = {(item.domain, item.slot) for item in items if item.kind == "inform"}
    cells = {
        (cell.domain, cell.slot, value)
        for cell in context.view.turn.state
        for value in cell.values
        if not any((cell.domain, cell.slot, other) in context.state for other in cell.values)
    }
    made = list(items)
    searches = {item.domain for item in items if item.kind == "inform" and not item.slot.startswith("book ")} | {
        item.domain for item in items if item.kind == "intent"
    }
    asks = {item.domain for item in items if item.kind == "request"}
    talked = {item.domain for item in items if item.kind == "inform"}
    for number, located in enumerate(context.view.located):
        slot = located.slot.replace("_", " ")
        if (
            context.view.turn.utterance[located.start : located.end].lower() == "one"
            or number in used
            or (located.domain, slot) in told
            or located.how in ("dontcare", "boolean")
            or located.value == "dontcare"
            or place_of(located.domain, slot) is None
        ):
            continue
        if (located.domain, located.slot, located.value) in cells or (slot == "type" and located.domain in searches and located.domain == "hotel"):
            kind = "inform"
        elif _subject(context, located, asks, talked):
            kind = "about"
        elif located.domain in talked and located.domain in OWN and not located.ambiguous and slot != "name":
            kind = "inform"
        elif slot in ("departure", "destination") and searches & _STAY and _before(context, located) in ("in", "of", "around"):
            kind = "town"
        else:
            continue
        used.add(number)
        told.add((located.domain, slot))
        made.append(Item(kind, located.domain, slot, located.value, located.start, located.end))
    names = context.view.units.names
    silent = any(signal.kind in ("dontcare", "negation") for signal in context.view.signals)
    for domain, slot, value in sorted(cells):
        slot = slot.replace("_", " ")
        if slot in ("internet", "parking") and domain == "hotel" and not any(item.slot == slot for item in made):
            cues = _words()[f"slot:{slot}"] - {"free", "with", "also", "includes", "include", "offers", "provides", "included", "including", "offer"}
            if value in ("yes", "free") and not cues.isdisjoint(names) and not silent:
                made.append(Item("inform", domain, slot, "free" if "free" in names else "yes"))
    domain = _domain_of(context, items)
    text = " ".join(names)
    for slot, domains, phrase in _UNMISTAKABLE:
        if domain in domains and phrase.search(text) and not any(item.kind == "request" and item.slot == slot for item in made):
            made.append(Item("request", domain, slot))
    return made


def _subject(context: Context, located: Located, asks: set[str], talked: set[str]) -> bool:
    """Whether a value names what the turn asks about: a name, or "the hotel"."""
    if located.slot == "name":
        return located.domain in asks and located.domain in OWN
    return located.slot == "type" and located.domain in asks | talked and _before(context, located) in ("the", "that", "this")


def _before(context: Context, located: Located) -> str:
    """The word before a value."""
    names = [name for name, (_, end) in zip(context.view.units.names, context.view.units.bounds, strict=True) if end <= located.start]
    return names[-1] if names else ""


def _domain_of(context: Context, items: list[Item]) -> str:
    """The one domain that a turn, or else the system turn before it, is about; "" where there is none or several."""
    found = {item.domain for item in items if item.domain in OWN}
    if not found and context.before is not None:
        found = {act.domain for act in context.before.acts if act.domain in OWN}
    return found.pop() if len(found) == 1 else ""


def _unaccounted(context: Context, items: list[Item], used: set[int]) -> str | None:
    """A word or value that neither values nor items account for."""
    places = _accounted(context, items, used)
    if isinstance(places, str):
        return places
    unsaid = _unsaid(context, items)
    if unsaid is not None:
        return unsaid
    known = _known_words(context, items)
    names, bounds = context.view.units.names, context.view.units.bounds
    for place, name in enumerate(names):
        start, end = bounds[place]
        if name in known or any(first < end and start < last for first, last in places):
            continue
        if not _says_nothing(context, names, place):
            return f"unlabelled: {name}"
    return _loose(context, items, places, known)


def _accounted(context: Context, items: list[Item], used: set[int]) -> list[tuple[int, int]] | str:
    """The places of values that items show, or the value that none does."""
    view = context.view
    text = view.turn.utterance
    shown = [(item.start, item.end) for item in items if item.shown]
    careless = any(item.kind == "dontcare" for item in items)
    places: list[tuple[int, int]] = []
    for number, located in enumerate(view.located):
        if number not in used:
            if located.slot == "choice" or text[located.start : located.end].lower() == "one":
                continue
            if not (located.how == "dontcare" and careless) and not _repeats(text, located, shown, view.located, used):
                return f"unlabelled: {located.slot}"
        places.append((located.start, located.end))
    for start, end in view.hidden:
        around = [(first, last) for first, last in shown if first < end and start < last]
        if not around or not _SHAPE.issuperset(_WORD.findall(f"{text[start : around[0][0]]} {text[around[0][1] : end]}".lower())):
            return "unlabelled: value inside a value"
        places.append((start, end))
    return places


def _unsaid(context: Context, items: list[Item]) -> str | None:
    """A request whose words the turn doesn't have."""
    names = context.view.units.names
    # What tells of one slot asks for no other: "price range" beside a value is no question for the price.
    told: frozenset[str] = frozenset()
    if "?" not in context.view.turn.utterance:
        told = told.union(*[_told(item) for item in items])
    for item in items:
        if item.kind == "request" and (_cues(item) - told).isdisjoint(names):
            return f"request_unsaid: {item.slot}"
    return None


def _cues(item: Item) -> frozenset[str]:
    place = place_of(item.domain, item.slot, True)
    return _words().get(f"ask:{place.name}" if place else "", frozenset())


def _known_words(context: Context, items: list[Item]) -> frozenset[str]:
    """The words that the items account for."""
    words = _words()
    none: frozenset[str] = frozenset()
    allowed = [words["empty"], *(words.get(f"kind:{item.kind}", none) for item in items)]
    domains = {item.domain for item in items if item.domain}
    if context.before is not None and not domains & OWN:
        domains |= {act.domain for act in context.before.acts}
    allowed += [words.get(f"domain:{family(domain)}", none) for domain in domains]
    own = any(item.domain in OWN for item in items)
    if not own or any(item.kind in ("book", "inform", "goal", "intent") for item in items):
        allowed.append(words["kind:book"])
    for item in items:
        if item.kind in ("inform", "dontcare"):
            place = place_of(item.domain, item.slot)
            allowed.append(words.get(f"slot:{place.name}", none) if place else none)
        elif item.kind == "request":
            allowed.append(_cues(item))
    return none.union(*allowed)


def _says_nothing(context: Context, names: list[str], place: int) -> bool:
    """Whether a word says nothing where it stands: the "one" of "that one", "instead" after a failure, "anything in"."""
    name = names[place]
    earlier = names[place - 1] if place else ""
    following = names[place + 1] if place + 1 < len(names) else ""
    if name == "one":
        return earlier in _BEFORE_ONE or following in _BEHIND_ONE
    if name in ("anything", "something"):
        return following in _BEHIND_ANY
    return (name == "instead" and _failed(context.before)) or (name == "if" and following == "possible")


def _loose(context: Context, items: list[Item], places: list[tuple[int, int]], known: frozenset[str]) -> str | None:
    """A value of the closed lexicon, or a negation, that no item accounts for."""
    view = context.view
    kinds = {item.kind for item in items}
    denies = bool(kinds & {"no", "end", "dontcare", "declinebook", "declineintent", "alts"}) or any(
        item.kind == "inform" and item.value == "no" for item in items
    )
    for signal in view.signals:
        if any(first < signal.end and signal.start < last for first, last in places):
            continue
        surface = view.turn.utterance[signal.start : signal.end].lower()
        if signal.kind == "negation" and not denies:
            return "unlabelled: negation"
        if signal.kind in VALUE_CLASSES and surface != "one" and not (surface in known and signal.kind in ("type", "price", "food", "day")):
            return f"unlabelled: {signal.kind}={signal.value}"
    return None


def _told(item: Item) -> frozenset[str]:
    """The words that go with what an item informs of."""
    place = place_of(item.domain, item.slot) if item.kind in ("inform", "dontcare") and item.slot not in ("leaveat", "arriveby") else None
    return _words().get(f"slot:{place.name}", frozenset()) if place is not None else frozenset()


def _repeats(text: str, located: Located, shown: list[tuple[int, int]], others: tuple[Located, ...], used: set[int]) -> bool:
    """Whether a value only says again what an item shows."""
    surface = text[located.start : located.end].lower()
    return (located.how == "boolean" and any(others[number].slot == located.slot for number in used)) or any(
        text[start:end].lower() == surface for start, end in shown if (start, end) != (located.start, located.end)
    )


def _units(context: Context, items: list[Item]) -> str | None:
    """A number beside a unit that belongs to another slot, or a place after a word that says the opposite."""
    names, bounds = context.view.units.names, context.view.units.bounds
    for item in items:
        if not item.shown or item.kind != "inform":
            continue
        place = place_of(item.domain, item.slot)
        if place is None:
            continue
        after = next((name for name, (start, _) in zip(names, bounds, strict=True) if start >= item.end), "")
        earlier = [name for name, (_, end) in zip(names, bounds, strict=True) if end <= item.start][-2:]
        for unit, words in _UNITS.items():
            if after in words and place.name in _COUNTED and place.name not in _UNIT_OF[unit]:
                return f"unit: {item.slot} beside {after}"
        last = earlier[-1] if earlier else ""
        if place.name in ("departure", "@from") and last in _TO and not set(earlier[:-1]) & _FROM:
            return f"unit: {item.slot} after {last}"
        if place.name in ("destination", "@to") and last in _FROM:
            return f"unit: {item.slot} after {last}"
        if place.slot == "leaveat" and ({"arrive", "arriving", "arrives", "by"} & set(earlier) and "leave" not in names and "leaving" not in names):
            return f"unit: {item.slot} after {last}"
        if place.slot == "arriveby" and {"after", "leave", "leaving", "depart", "departing"} & set(earlier):
            return f"unit: {item.slot} after {last}"
    return None


def _named_before(context: Context, name: str) -> bool:
    """Whether the system named this before the turn: who asks for facts then asks for those of what was named."""
    low = _bare(name)
    turns = context.view.dialogue.turns
    return any(low in _bare(turn.utterance) for turn in turns if turn.speaker == "system" and turn.turn < context.view.turn.turn)


def _state(context: Context, items: list[Item]) -> str | None:
    """A state that changes by more than the items say; what the system offered and the user accepts counts as said."""
    told = {(item.domain, item.slot) for item in items if item.kind in ("inform", "dontcare")}
    accepts = any(item.kind in ("yes", "select", "right", "book", "request", "goal", "recommend") or item.slot.startswith("book ") for item in items)
    for cell in context.view.turn.state:
        slot = cell.slot.replace("_", " ")
        if (cell.domain, slot) in told or any((cell.domain, cell.slot, value) in context.state for value in cell.values):
            continue
        if all(value in ("not mentioned", "none", "") for value in cell.values):
            continue
        if accepts and any(_offered_value(context.before, value) for value in cell.values):
            continue
        if accepts and (slot == "name" or cell.domain not in OWN) and any(_named_before(context, value) for value in cell.values):
            continue
        return f"state_beyond_acts: {slot}"
    return None
