"""The certificate over an English source turn: its items must account for every word and value, every number for its unit, and the new state.

What nothing accounts for ("same", "instead", "if", a number without a label) is a meaning that no label has.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dialmill.perturbers.core.lexicon import words as word_set
from dialmill.perturbers.core.values import VALUE_CLASSES, Located
from dialmill.perturbers.rewording.awaited import fails
from dialmill.perturbers.rewording.composer.english_places import OWN, family, place_of, words_for
from dialmill.perturbers.rewording.composer.plan import Context, Item
from dialmill.schemas import Turn

#: Words that stand before "one" where it is no number.
_BEFORE_ONE = frozenset(["that", "this", "the", "which", "nice", "good", "a", "any"])
#: What says that a time is one of arriving, or of leaving.
_ARRIVING = frozenset(["arrive", "arrives", "arriving", "arrival", "by", "before", "there", "get", "gets", "reach"])
_LEAVING = frozenset(["leave", "leaves", "leaving", "depart", "departs", "departing", "departure"])
#: "That area" is the one spoken of before.
_BEFORE_AREA = frozenset(["that", "this", "the"])
_REGION = frozenset(["part", "side", "region", "neighborhood", "neighbourhood", "town", "city", "date"])
#: "Let me know if they have parking" asks, and sets no condition.
_BEFORE_IF = frozenset(["me", "know", "see", "check", "wondering", "wonder", "find", "out"])
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
_FROM, _TO = frozenset(["from", "leaving", "departing", "leave", "depart"]), frozenset(("to", "for", "into", "in"))
#: Words of a longer surface that say no more than the value in it: "the centre of town", "moderately priced".
_SHAPE = frozenset(["the", "of", "town", "city", "part", "side", "end", "area", "priced", "price", "range", "in"])
_WORD = re.compile(r"\w+")


def failed(before: Turn | None) -> bool:
    """Whether a system turn says that nothing was found, or that a booking failed."""
    if before is None:
        return False
    acts = {act.act for act in before.acts}
    return bool(acts & {"nooffer", "nobook", "notify failure", "notify_failure"}) or (acts <= _SAYS_NO_MORE and fails(before.utterance))


#: Acts of a system turn that say what it offers, confirms or asks for: its words need not be read for that.
_TELLING = word_set(
    "offerbook offerbooked offer_intent offer confirm recommend select reqmore req_more nooffer nobook book notify_success notify_failure welcome"
)


def labelled(before: Turn | None) -> bool:
    """Whether a system turn's acts say what a yes or a no to it means."""
    return before is not None and not _TELLING.isdisjoint(act.act.replace(" ", "_") for act in before.acts)


#: Acts of a system turn that leave it to the words whether anything was found.
_SAYS_NO_MORE = frozenset(["request", "reqmore", "req more", "req_more", "general", "greet"])


def beside_replies(kinds: list[str], names: list[str]) -> str | None:
    """A word of a turn of thanks, goodbye, yes or no that none of these accounts for ("no, just book"): what it says would be lost."""
    words = words_for()
    known = _REPLIES.union(*(words.get(f"kind:{kind}", frozenset()) for kind in kinds))
    if not {"ack", "yes", "right", "select"}.isdisjoint(kinds):
        known |= words["praise"]
    return next((name for name in names if name not in known), None)


#: Words that say nothing in such a turn.
_REPLIES = word_set(
    "i i'm im m am s is it it's that that's this the a an of and but oh well then so very really for to you your me my with on be will would "
    "can think guess believe please here hi hello hey have ve been was are re needed wanted quite at in lot lots bit again hmm um uh ah "
)


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """Letters and digits alone, without an article, for names that are written apart or together."""
    return re.sub(r"[^a-z0-9]|^the\b", "", text.lower())


def offered_value(before: Turn | None, value: str) -> bool:
    low = bare(value)
    return before is not None and (
        any(act.value and low in bare(act.value) for act in before.acts) or (len(low) > 4 and low in bare(before.utterance))
    )


def unaccounted(context: Context, items: list[Item], used: set[int]) -> str | None:
    """A word or value that neither values nor items account for."""
    places = _accounted(context, items, used)
    if isinstance(places, str):
        return places
    unsaid = _unsaid(context, items) or _other_domain(context, items, places)
    if unsaid is not None:
        return unsaid
    known = _known_words(context, items)
    names, bounds = context.view.units.names, context.view.units.bounds
    for place, name in enumerate(names):
        start, end = bounds[place]
        if name == "area" and place and names[place - 1] in _BEFORE_AREA and not any(item.slot == "area" for item in items):
            return "unlabelled: that area"
        if name in _REGION and place and names[place - 1] in ("that", "this", "same"):
            return f"unlabelled: that {name}"
        if name == "any" and _careless(names, place) and not any(item.kind == "dontcare" for item in items):
            return "unlabelled: any"
        if name in known or any(first < end and start < last for first, last in places):
            continue
        if not _says_nothing(context, names, place):
            return f"unlabelled: {name}"
    return _unheard(" ".join(names), {item.kind for item in items}) or _question(context, items) or _loose(context, items, places, known)


def _careless(names: list[str], place: int) -> bool:
    """Whether an "any" stands for no preference: "any is fine", "any will do"."""
    return place + 1 == len(names) or names[place + 1] in (
        "is",
        "one",
        "of",
        "place",
        "restaurant",
        "hotel",
        "will",
        "would",
        "works",
        "area",
        "day",
        "time",
        "type",
        "kind",
    )


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
    told = told.union(*[_told(item) for item in items])
    spoken = set() if context.before is None else {act.domain for act in context.before.acts} & OWN
    known = {item.domain for item in items if item.kind != "request"}
    for item in items:
        if item.kind == "request" and (_cues(item) - told).isdisjoint(names):
            return f"request_unsaid: {item.slot}"
        if item.kind == "request" and spoken and item.domain in OWN and item.domain not in spoken | known:
            return f"unlabelled: {item.domain}"  # of what it is asked must be said, and no item says it
    return None


#: What a domain goes by where no label names it: a wish for it is none of the turn's labels.
_DOMAINS = {
    "hotel": re.compile(r"\b(?:place|places|somewhere|someplace) to stay\b|\bhotels?\b|\bguesthouses?\b|\blodging\b"),
    "restaurant": re.compile(r"\b(?:place|places|somewhere|someplace) to (?:eat|dine)\b|\brestaurants?\b"),
    "attraction": re.compile(r"\b(?:place|places|somewhere|someplace) to (?:go|visit)\b|\battractions?\b"),
    "train": re.compile(r"\btrains?\b"),
    "taxi": re.compile(r"\btaxis?\b|\bcabs?\b"),
}


def _other_domain(context: Context, items: list[Item], places: list[tuple[int, int]]) -> str | None:
    """A domain that the words name, outside of values, and neither the labels nor the system turn before."""
    spoken = {item.domain for item in items}
    if spoken.isdisjoint(OWN):
        return None
    if context.before is not None:
        spoken |= {act.domain for act in context.before.acts}
    units = context.view.units
    text = " ".join(
        name for name, (start, end) in zip(units.names, units.bounds, strict=True) if not any(first < end and start < last for first, last in places)
    )
    return next((f"unlabelled: {domain}" for domain, words in _DOMAINS.items() if domain not in spoken and words.search(text)), None)


def _cues(item: Item) -> frozenset[str]:
    place = place_of(item.domain, item.slot, True)
    return words_for().get(f"ask:{place.name}" if place else "", frozenset())


def _known_words(context: Context, items: list[Item]) -> frozenset[str]:
    """The words that the items account for."""
    words = words_for()
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
        if item.kind in ("inform", "dontcare", "check"):
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
        return earlier in _BEFORE_ONE or following in _BEHIND_ONE or following == "more"
    if name == "more":
        return earlier == "one" or following in ("info", "information", "details")
    if name in ("anything", "something"):
        return following in _BEHIND_ANY
    if name == "time":
        return earlier == "this"
    if name in ("if", "whether"):
        return earlier in _BEFORE_IF
    return name == "instead" and failed(context.before)


def _question(context: Context, items: list[Item]) -> str | None:
    """A question for a fact that no item asks for: "what time does it leave?" where the acts only book."""
    kinds = {item.kind for item in items}
    names = context.view.units.names
    if _serves_nothing(context, items, kinds):
        return "unlabelled: question"
    if "?" not in context.view.turn.utterance or context.first or kinds & {"request", "recommend", "alts", "goal", "about"}:
        return None
    searches = "inform" in kinds
    for place, name in enumerate(names):
        following = names[place + 1] if place + 1 < len(names) else ""
        asks = name in ("when", "how", "who") or (name in ("what", "which", "where", "whats") and not searches)
        if asks and following != "about":
            return f"unlabelled: {name}"
    return None


#: How somebody begins who asks for something that a service knows.
_ASKS = re.compile(
    r"\s*(?:(?:hi|hello|hey|ok|okay|so|and|well|also|great|thanks|please|yes|no) )*(?:what|which|where|when|how|who|why|whats|is|are"
    r"|does|do|will|has|have|tell|show|give|find|get|need|directions|route)\b",
    re.IGNORECASE,
)


def _serves_nothing(context: Context, items: list[Item], kinds: set[str]) -> bool:
    """Whether a turn asks a service for what no label says: its slots alone would be no question any more ("the weather for this week")."""
    if (
        "inform" not in kinds
        or kinds & {"request", "goal", "check", "intent", "about", "recommend", "alts", "book"}
        or any(item.domain in OWN for item in items)
    ):
        return False
    return context.first or _ASKS.match(" ".join(context.view.units.names)) is not None


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
    return words_for().get(f"slot:{place.name}", frozenset()) if place is not None else frozenset()


def _repeats(text: str, located: Located, shown: list[tuple[int, int]], others: tuple[Located, ...], used: set[int]) -> bool:
    """Whether a value only says again what an item shows."""
    surface = text[located.start : located.end].lower()
    return (located.how == "boolean" and any(others[number].slot == located.slot for number in used)) or any(
        text[start:end].lower() == surface for start, end in shown if (start, end) != (located.start, located.end)
    )


def misplaced(context: Context, items: list[Item]) -> str | None:
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
        if place.slot == "arriveby" and _ARRIVING.isdisjoint(names) and not _LEAVING.isdisjoint(names):
            return f"unit: {item.slot} after {last}"
        if place.slot == "leaveat" and ({"arrive", "arriving", "arrives", "by"} & set(earlier) and "leave" not in names and "leaving" not in names):
            return f"unit: {item.slot} after {last}"
        if place.slot == "arriveby" and {"after", "leave", "leaving", "depart", "departing"} & set(earlier):
            return f"unit: {item.slot} after {last}"
    return None


def _named_before(context: Context, name: str) -> bool:
    """Whether the system named this before the turn: who asks for facts then asks for those of what was named."""
    low = bare(name)
    turns = context.view.dialogue.turns
    return any(low in bare(turn.utterance) for turn in turns if turn.speaker == "system" and turn.turn < context.view.turn.turn)


def beyond(context: Context, items: list[Item]) -> str | None:
    """A state that changes by more than the items say; what the system offered and the user accepts counts as said."""
    told = {(item.domain, item.slot) for item in items if item.kind in ("inform", "dontcare", "check")}
    accepts = any(item.kind in ("yes", "select", "right", "book", "request", "goal", "recommend") or item.slot.startswith("book ") for item in items)
    for cell in context.view.turn.state:
        slot = cell.slot.replace("_", " ")
        if (cell.domain, slot) in told or any((cell.domain, cell.slot, value) in context.state for value in cell.values):
            continue
        if all(value in ("not mentioned", "none", "") for value in cell.values):
            continue
        if accepts and any(offered_value(context.before, value) for value in cell.values):
            continue
        if "dontcare" not in cell.values and not any((one.domain, one.slot) == (cell.domain, cell.slot) for one in context.view.located):
            continue  # what comes from elsewhere isn't in the user's words: no wording of them loses it
        if any(_named_before(context, value) for value in cell.values):
            continue
        return f"state_beyond_acts: {slot}"
    return None


_HAS = re.compile(r"\balready (?:got|have|had|know|received|wrote)\b|\bhave (?:it|that|the \w+) already\b")
_EXACT = re.compile(r"\b(?:exact|precise)(?:ly)?\b(?! (?:address|location|where))")
_DETAILS_ON = re.compile(r"\b(?:info|information|details) (?:on|about|of|for) (?:it|them|that|this|one)\b")
_NICE = re.compile(
    r"\b(?:nice|good|great|decent|lovely|fancy|popular|interesting|cool) (?:(?!place|way|time|deal|day|one)[a-z]+ )?"
    r"(?:hotel|restaurant|place|places|spot|attraction|guest ?house|house|meal|movie|film|song|event|room)s?\b"
)


def _unheard(text: str, kinds: set[str]) -> str | None:
    """A wish that no label tells, by its words; `kinds`: of what the turn says."""
    if _DETAILS_ON.search(text) and not kinds & {"request", "about"}:
        return "unlabelled: info"  # what was found is to be told of
    if _NICE.search(text) and kinds & {"inform", "intent", "goal"}:
        return "unlabelled: nice"
    if _HAS.search(text) and "request" in kinds:
        return "unlabelled: has"  # "I already got the address": a label may have it as asked for
    if _EXACT.search(text):
        return "unlabelled: exact"  # asked again, since the answer was a rough one
    return None
