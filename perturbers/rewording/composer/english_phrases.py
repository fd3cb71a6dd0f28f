"""English phrases: a turn being composed, its noun phrases with their article and its sentences about one domain, out of clauses of the bank.

While a text is put together, each value is one letter of a script that English never uses; at the end the letters become the values again, and
their places are exact.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.composer.bank import Clause, Speaker
from dialmill.perturbers.rewording.composer.echoes import echoes
from dialmill.perturbers.rewording.composer.english_places import STAY, Place, place_of
from dialmill.perturbers.rewording.composer.plan import Context, Item, Plan
from dialmill.perturbers.rewording.rewriting import Style, style_of

#: The letter of the first value; the others follow.
FIRST_LETTER = 0x1200


class Part(NamedTuple):
    """An item with where the bank words it, its letter ("" where it shows no words of the source), and the facts that conditions look at."""

    item: Item
    place: Place
    letter: str
    facts: frozenset[str]
    surface: str
    unit: str = ""


class NounPhrase(NamedTuple):
    """A noun phrase: its text with an article, what it says in order, what is left to say, and whether it is plural."""

    text: str
    said: list[Part]
    rest: list[Part]
    plural: bool


#: Out of how many of the shortest clauses a terse speaker chooses.
_SHORTEST = 8
#: Slots that modify a head, in their order; and the order of what stands behind it.
_MODS = ("pricerange", "stars", "food")
_BEHIND = {"name": 0, "departure": 1, "destination": 2, "book people": 3, "book stay": 4, "book day": 5, "day": 6, "book time": 7}


class Sentence(NamedTuple):
    """A sentence, the slots it says in the order of their values, and whether it asks."""

    text: str
    slots: tuple[Part, ...] = ()
    asks: bool = False


_NUMBER = re.compile(r"\d{1,3}$")
_COUNTS = frozenset(
    ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"]
)
_CLOCK = re.compile(r"\d{1,2}(?:\s?[:.]\s?\d{2})?\s?(?:am|pm|a\.m\.|p\.m\.|o'clock)?$|noon$|midday$", re.IGNORECASE)
_SELF = frozenset(("me", "myself", "just me", "just myself", "only me"))
#: One is at such a place, and in any other.
_VENUE = re.compile(r"\b(?:airport|station|cross|street|hall|museum|gallery|hotel|house|restaurant|college|park|church|theatre|cinema|centre|club)\b")
_CENTRES = frozenset(("centre", "center", "city centre", "city center", "town centre", "town center", "centre of town", "center of town"))
_COMPASS = frozenset(["north", "south", "east", "west"])
_PRICES = frozenset(["cheap", "moderate", "expensive", "inexpensive", "pricey", "affordable", "economical", "upscale"])
#: Said of food, and of no place: "a christmas restaurant" is another thing.
_FARE = frozenset(("christmas", "traditional", "unusual", "creative", "crossover", "fusion"))
_NO_CUISINE = _FARE | frozenset(
    ("gastropub", "steakhouse", "bistro", "pub", "unusual", "creative", "crossover", "canapes", "light bites", "afternoon tea", "fusion", "seafood")
)
_MASS = frozenset(("entertainment", "architecture", "sports", "multiple sports", "swimming", "nightlife", "boating", "architectural"))
_PLURAL = re.compile(r"[a-z]{2,}(?<!s)s$")


def _facts(slot: str, surface: str) -> frozenset[str]:
    """What conditions may ask about a value."""
    low = surface.lower().strip()
    found = set()
    if _NUMBER.match(low) or low in _COUNTS or low in ("1", "one"):
        found.add("num")
        found.add("one" if low in ("1", "one") else "many")
        if low not in ("1", "one"):
            found.add("manyv")
        if low not in ("1", "one", "2", "two"):
            found.add("crowd")
    if low in _SELF:
        found.add("self")
    if _CLOCK.match(low):
        found.add("time")
    if low in _CENTRES:
        found.add("ctr")
    elif low in _COMPASS:
        found.add("dir")
    if _VENUE.search(low):
        found.add("site")
    if low in _PRICES or low == "ultra high-end":
        found.add("adj")
    elif low in ("moderately", "cheaply", "expensively", "reasonably"):
        found.add("adv")
    if low not in _NO_CUISINE:
        found.add("cui")
    if low in _FARE:
        found.add("fare")
    if low in _MASS:
        found.add("mass")
    elif _PLURAL.search(low):
        found.add("pl")
    else:
        found.add("sg")
    return frozenset(found)


#: Slots whose values the bank words in some shapes alone.
_SHAPES = {
    "pricerange": ("adj", "adv"),
    "@pricerange": ("adj",),
    "area": ("dir", "ctr"),
    "stars": ("num",),
    "@stars": ("num",),
    "book people": ("one", "many", "self"),
    "@people": ("one", "many", "self"),
    "@tickets": ("one", "many"),
    "@rooms": ("one", "many"),
    "book stay": ("one", "many"),
    "@days": ("one", "many"),
    "leaveat": ("time",),
    "arriveby": ("time",),
}
_TIMES = frozenset(["leaveat", "arriveby", "book time", "@time"])
#: What makes a time a rough one, and where the text says so.
_ABOUT = re.compile(r"(?<!how )(?<!what )\b(?:around|about|approximately|roughly)(?: the)? $", re.IGNORECASE)
#: "Arrive at 13:45" is no deadline.
_AT = re.compile(r"\bat $", re.IGNORECASE)
_BY = re.compile(r"\bby (?=\{v)", re.IGNORECASE)
_DEADLINE = re.compile(r"\b(?:late|later|latest|make it by)\b")
_ROUGHLY = re.compile(r"(?:(?<=by )|(?<=after )|(?<=at ))?(?:around )?\{v\}")
#: Words of a question for the kind of something.
_SORT = frozenset(["kind", "type", "sort", "category", "genre", "subcategory"])
#: The words that a domain goes by, most telling first, and what stands for it in a noun phrase where the source says so.
_NOUNS = {
    "hotel": {"hotel": "hotel", "hotels": "hotel"},
    "restaurant": {"restaurant": "restaurant", "restaurants": "restaurant"},
    "attraction": {"attraction": "attraction", "attractions": "attraction"},
    "train": {"train": "train", "trains": "train"},
    "taxi": {"taxi": "taxi", "taxis": "taxi", "cab": "cab"},
}
_OURS = frozenset(["we", "us", "our", "we're", "we'd", "we'll", "we've"])
#: What makes a time of departure the earliest.
_AFTER = re.compile(r"\b(?:after|later than|past|earliest)\b", re.IGNORECASE)
_VALUE = re.compile(r"\{v(?::([a-z]+))?\}")
_PLURAL_SPEAKER = re.compile(
    r"\b(?:we|us|our|ours|we're|we've|we'd|we'll|husband|wife|kids|children|family|folks|friends|mates|partner|sister and i|both|the others|"
    r"in-laws)\b",
    re.IGNORECASE,
)
_LONE_SPEAKER = re.compile(r"\b(?:on my own|alone|solo|nobody else|nobody's coming)\b", re.IGNORECASE)
#: Sentences about the past or other people's doings say nothing of how many come along.
_VERBAL = re.compile(
    r"(?:that|where|whose|leaving|departing|setting|arriving|picking|heading|bound|dropping|reaching|due|starting|out|boasting|rated|doing|serving|"
    r"with a|carrying|lasting|checking|beginning|going|this)\b"
)
#: Frames that only a phrase in the singular fits.
_SINGULAR_FRAME = re.compile(
    r"(?:\b[Ii]s|\b[Tt]here's|\b[Ii]t's|\bbe|\bwas|\b[Ii]s there|'d be|it'd be) (?:still )?\{NP\}|\{NP\}(?:'s| is\b)|make that \{NP\}", re.IGNORECASE
)
_MIDDLE = re.compile(r"\{(?:NP|B)\}(?=[^.?!]*\w)")


def _at(match: re.Match[str]) -> str:
    return "At " if match[0][0] == "B" else "at "


@lru_cache(maxsize=1 << 14)
def _persona(text: str) -> str:
    """Who may say a clause: "many", "one", or "" for anybody."""
    return "many" if _PLURAL_SPEAKER.search(text) else "one" if _LONE_SPEAKER.search(text) else ""


_CLAUSE = re.compile(r"(?:what|which|how|whether|if|when|where)\b")
_KNOWING = re.compile(r"\b(?:tell me|know|learn|lmk|look up)\b")


_BOOKS = re.compile(r"\b(?:book|reserve|make an? (?:\w+ )?(?:booking|reservation)|need an? (?:\w+ )?(?:booking|reservation))\b", re.IGNORECASE)
_AREA = re.compile(r"\b(?:area|part|side|where)\b", re.IGNORECASE)
#: Voices that use more words than needed.
_TALKATIVE = frozenset(["chatty", "indirect", "older"])
#: Kinds of answers, which may be bare phrases; and what makes a sentence of one: no bare phrase is wordy, nor can a reason follow it.
_ANSWERS = frozenset(["short", "say", "bsay"])
FINITE = re.compile(
    r"\b(?:I|I'[a-z]+|we|we'[a-z]+|it|it's|it'd|it'll|that|that'[a-z]+|there|there'[a-z]+|let's|please|could|can|would|will|is|are|was|do|does|has|have|"
    r"what|what's|which|how|where|when|find|get|give|tell|let|book|make|put|look|point|show|help|count|send|reserve|suits|works|should|might|may|mind|jot|fill|share)\b",
    re.IGNORECASE,
)


_NO = re.compile(r"(?:no|nope|nah)\b", re.IGNORECASE)
#: Who is delighted says so, and not that it will do.
_GLAD = re.compile(r"\b(?:great|perfect|wonderful|awesome|excellent|lovely|fantastic|terrific|amazing|brilliant|nice|cool|good)\b", re.IGNORECASE)
_INTERJECTION = re.compile(r"(?:ooh|oh|okay|ok|right|well|hm+|ah|aw|yes|yeah|yep|sure|hi|hello|hey|great|lovely)\b[,!. ]", re.IGNORECASE)
#: What makes a town a rough place, and where a clause says "in".
_NEAR = re.compile(r"\b(near|around|close to)(?: the (?:city|area) of| the)? $", re.IGNORECASE)
_IN = re.compile(r"\b(?:somewhere )?in \{v\}")
#: A thing that is named by its kind, as nothing of the talk is.
_OF_THE = re.compile(r"\b(?:address|number|phone|rating|area|price) (?:of|for) the\b", re.IGNORECASE)
_IT = re.compile(r"\b(?:it|it's|they|them|there)\b", re.IGNORECASE)
_NOES = frozenset(["no", "nope", "nah"])


#: A system turn that denies something, and how somebody accepts what isn't to their liking.
_BAD_NEWS = re.compile(r"\s*(?:no\b|not\b|unfortunately|sorry|i'm sorry|i am sorry)", re.IGNORECASE)
_CONCEDES = re.compile(r"\b(?:fine|works|work|good with|good enough)\b")
#: Where the day is worded that a stay begins.
_CHECK_IN = Place("@date", "check in date")


class Draft:
    """One turn being composed: clauses drawn for its speaker, phrases made of them."""

    def __init__(self, context: Context, found: Plan, who: Speaker, rng: Rng, style: str) -> None:
        self.context, self.plan, self.who, self.rng, self.style = context, found, who, rng, style
        self.text = context.view.turn.utterance
        self.names = frozenset(context.view.units.names)
        self.writing: Style = style_of(self.text)
        self.used: list[int] = []
        #: What the clauses drawn so far would make a second one repeat.
        self.heard: set[str] = set()
        #: Whether a yes, a no or an acknowledgement stands before: no other interjection follows it.
        self.opened = False
        #: Whether an area was labelled as a question for one, too; the same for a price.
        self.asks_area = any(act.act == "request" and act.slot == "area" for act in context.view.turn.acts)
        #: Whether a "price range" was labelled as a question for a price, too: its words stay.
        self.asks_price = any(act.act == "request" and act.slot == "ticket" for act in context.view.turn.acts)
        self.people = context.people
        self.parts: dict[Item, Part] = {}
        self.lone = context.people in ("1", "one")
        self.several = context.people not in ("", "1", "one") or not _OURS.isdisjoint(self.names)

    # Clauses

    def nameless(self, domain: str) -> str:
        """What the source calls a place of which it says no more."""
        return "place" if domain in STAY and "place" in self.names else ""

    def options(self, kind: str, place: Place | None = None, value: str = "", tag: str = "", facts: frozenset[str] = frozenset()) -> list[Clause]:
        domain, slot = (place.domain, place.slot) if place is not None else ("*", "")
        found = self.who.options(kind, domain, slot, value, tag, facts)
        if self.style == "more":
            found = [clause for clause in found if not clause.voices or not clause.voices.isdisjoint(_TALKATIVE)]
            if kind in _ANSWERS:
                found = [clause for clause in found if FINITE.search(clause.text)] or found
        elif self.style == "less":
            found = [clause for clause in found if _TALKATIVE.isdisjoint(clause.voices)] or found
        if self.opened:
            found = [clause for clause in found if not _INTERJECTION.match(clause.text)] or found
        # Who says "I" speaks for nobody else.
        unfit = "one" if self.several else "many"
        return [clause for clause in found if _persona(clause.text) != unfit]

    def noun(self, domain: str, around: Part | None = None) -> str:
        """The word that the source has for a domain, outside of a value, "" where it has none."""
        nouns = _NOUNS.get(domain, {})
        units = self.context.view.units
        for name, (start, end) in zip(units.names, units.bounds, strict=True):
            if name in nouns and not (around is not None and around.item.start < end and start < around.item.end):
                return nouns[name]
        return ""

    def take(self, options: list[Clause]) -> str | None:
        options = [one for one in options if one.key not in self.used] or options
        clause = self.who.choose(self.rng, [one for one in options if self.heard.isdisjoint(echoes(one.text))] or options)
        if clause is None:
            return None
        self.used.append(clause.key)
        self.heard |= echoes(clause.text)
        return clause.text

    def pick(self, kind: str, place: Place | None = None, value: str = "", tag: str = "", facts: frozenset[str] = frozenset()) -> str | None:
        return self.take(self._brief(self.options(kind, place, value, tag, facts)))

    def _brief(self, options: list[Clause]) -> list[Clause]:
        """The shortest of some clauses for who writes tersely, all of them for others."""
        return sorted(options, key=lambda clause: len(clause.text))[:_SHORTEST] if self.style == "less" else options

    def _ask(self, part: Part) -> str | None:
        options = self.options("ask", part.place)
        if _OF_THE.search(self.text):
            options = [clause for clause in options if not _IT.search(clause.text)]  # "of the venue": "it" would be what was spoken of last
        return self.take(self._brief(options))

    def said(self, sections: list[str]) -> list[Sentence] | None:
        """A sentence of each section; None where one has none."""
        made: list[Sentence] = []
        before = self.context.before
        for section in sections:
            options = self.options(section)
            if section == "select" and before is not None and _BAD_NEWS.match(before.utterance):
                options = [clause for clause in options if _CONCEDES.search(clause.text)] or options
            if section in ("end", "thankend"):
                if not self.answers or any(_NO.match(one.text) for one in made):  # who has said no says it no second time
                    options = [clause for clause in options if not _NO.match(clause.text)] or options
                elif _NO.match(self.text.strip()):
                    options = [clause for clause in options if _NO.match(clause.text)] or options  # an offer is declined by a "no"
            if section == "ack":
                glad = _GLAD.search(self.text) is not None
                options = [clause for clause in options if (_GLAD.search(clause.text) is not None) is glad] or options
            text = self.take(self._brief(options))
            if text is None:
                return None
            made.append(Sentence(text))
        return made

    @property
    def answers(self) -> bool:
        """Whether the turn says no, or answers a question that a no answers."""
        before = self.context.before
        return not _NOES.isdisjoint(self.names) or (before is not None and "?" in before.utterance)

    # Values

    def part(self, item: Item) -> Part | None:
        """The item as the bank words it; None for a shape of value that it has no words for."""
        if item in self.parts:
            return self.parts[item]
        if item.kind == "about" and self.text[item.start : item.end].endswith("'s"):
            return None  # "the college's number": the form of the word goes with what follows it
        place = place_of(item.domain, item.slot, item.kind == "request")
        if place is None:
            return None
        if place.domain == "@subcategory" and _SORT.isdisjoint(self.names):
            place = Place("@more", "")  # "tell me more": what kind it is, is the label's reading alone
        surface = self.text[item.start : item.end]
        facts = _facts(place.name, surface) if item.shown else frozenset()
        if place.slot == "leaveat" and _AFTER.search(self.text):
            facts |= {"aft"}
        if place.slot == "arriveby" and item.shown and _AT.search(self.text[max(0, item.start - 4) : item.start]):
            facts |= {"att"}
        if place.name in _TIMES and _ABOUT.search(self.text[max(0, item.start - 12) : item.start]):
            facts |= {"abt"}
        if place.domain in ("@city", "@place", "@spot") and item.shown:
            near = _NEAR.search(self.text[max(0, item.start - 24) : item.start])
            facts |= {"near " + near[1].lower()} if near else frozenset()
        needs = _SHAPES.get(place.name)
        if item.kind in ("inform", "check") and item.shown and needs and not any(need in facts for need in needs):
            return None
        letter = chr(FIRST_LETTER + len(self.parts)) if item.shown else ""
        following = self.text[item.end : item.end + 8].lower().strip()
        unit = "night" if following.startswith("night") else "day" if following.startswith("day") else ""
        made = self.parts[item] = Part(item, place, letter, facts, surface, unit)
        return made

    def fill(self, text: str, part: Part) -> str:
        """A clause with the value's letter in its place."""

        def value(match: re.Match[str]) -> str:
            unit = match[1]
            if not unit:
                return part.letter
            word = (part.unit or "night") if unit == "night" else (part.unit or "day") if unit == "day" else unit
            return f"{part.letter} {word}{'' if 'one' in part.facts else 's'}"

        near = next((fact[5:] for fact in part.facts if fact.startswith("near ")), None)
        if near is not None:
            text = _IN.sub(f"{near} {{v}}", text)
        if "abt" in part.facts:
            text = _ROUGHLY.sub("around {v}", text)
        if part.place.domain == "@device" and not re.search(r"(?:speaker|tv|device)s?$", part.surface, re.IGNORECASE):
            text = text.replace("{v}", "{v} speaker")
        return _VALUE.sub(value, text)

    def worded(self, kind: str, part: Part, tag: str = "") -> str | None:
        """A clause of a kind for a value."""
        told = part.item.value if not part.item.shown else ""
        place = _CHECK_IN if kind == "say" and part.place.domain == "@date" and part.item.slot.startswith("check in") else part.place
        options = self.options(kind, place, told, tag, part.facts)
        if kind != "key" and any(fact.startswith("near ") for fact in part.facts):
            options = [clause for clause in options if _IN.search(clause.text)]
        if part.place.name == "area" and " " in part.surface:
            options = [clause for clause in options if "{v} of" not in clause.text and "{v} side" not in clause.text]
        if part.surface.lower().startswith("the "):
            options = [clause for clause in options if "the {v}" not in clause.text.lower()]
        if part.place.slot == "pricerange" and (self.asks_price or (kind != "key" and part.surface.lower() == "moderate" and "price" in self.names)):
            options = [clause for clause in options if "price" in clause.text.lower()]
        if part.place.slot == "area" and self.asks_area:
            options = [clause for clause in options if _AREA.search(clause.text)]
        if kind != "key" and self.writing.capitals and part.surface[:1].islower():
            # A value is shown as it stands: better not where a capital is due.
            options = [clause for clause in options if not clause.text.startswith("{v")] or options
        if "att" in part.facts:
            options = [clause for clause in options if not _DEADLINE.search(clause.text)] or options
        text = self.take(options)
        if text is None:
            return None
        if "att" in part.facts:
            text = _BY.sub(_at, text)
        if kind in _ANSWERS and part.place == Place("attraction", "type") and {"sg"} <= part.facts and "a~ {v}" not in text and ": {v}" not in text:
            text = text.replace("{v}", "a~ {v}")
        return self.fill(text, part)

    # Noun phrases

    def noun_phrase(self, domain: str, parts: list[Part], most: int) -> NounPhrase | None:
        """A phrase with its article; `most`: how many phrases may stand behind its head."""
        typed = next((part for part in parts if part.place.slot == "type" and part.letter and "mass" not in part.facts), None)
        head = self.typed(domain, typed) if typed is not None else self.noun(domain) or self.pick("head", Place(domain, ""))
        if head is None:
            return None
        bare = head.startswith("somewhere")
        mods, left = self.modifiers([part for part in parts if part is not typed], bare)
        posts, rest = self.behind(domain, left, most)
        plural = typed is not None and "pl" in typed.facts and head == typed.letter
        phrase = " ".join([*(text for text, _ in mods), head, *(text for text, _ in posts)])
        if not plural and not bare:
            phrase = f"a~ {phrase}"
        said = [part for _, part in mods] + ([typed] if typed is not None else []) + [part for _, part in posts]
        return NounPhrase(phrase, said, rest, plural)

    def typed(self, domain: str, part: Part) -> str:
        """A kind of place as a head: "museum", or "boat attraction" where the source says so."""
        following = self.text[part.item.end : part.item.end + 14].lower().split()
        if domain == "attraction" and following and following[0].startswith("attraction"):
            return f"{part.letter} attraction"
        return part.letter

    def modifiers(self, parts: list[Part], bare: bool) -> tuple[list[tuple[str, Part]], list[Part]]:
        """What stands before the head, and what doesn't."""
        mods: list[tuple[str, Part]] = []
        left: list[Part] = []
        for part in parts:
            slot = part.place.slot
            text = None
            if slot in _MODS and not bare and len(mods) < 2 and self.rng.chance(0.5 if slot == "stars" else 0.7):
                text = self.worded("mod", part)
            if text is None:
                left.append(part)
            else:
                mods.append((text, part))
        mods.sort(key=lambda pair: _MODS.index(pair[1].place.slot))
        return mods, left

    def behind(self, domain: str, parts: list[Part], most: int) -> tuple[list[tuple[str, Part]], list[Part]]:
        """What stands behind the head, at most one phrase with a verb among it, as the last; and what doesn't."""
        posts: list[tuple[str, Part]] = []
        rest: list[Part] = []
        verbal: tuple[str, Part] | None = None
        for part in parts:
            if part.item.kind == "town":
                posts.append((f"in {part.letter}", part))
                continue
            kind = "npost" if part.place.slot == "name" or (part.place.slot.startswith("book ") and domain != "train") else "post"
            text = self.worded(kind, part) if len(posts) + (verbal is not None) < most else None
            if text is None or (_VERBAL.match(text) and verbal is not None):
                rest.append(part)
            elif _VERBAL.match(text):
                verbal = (text, part)
            else:
                posts.append((text, part))
        posts.sort(key=lambda pair: 1 if pair[1].item.kind == "town" else _BEHIND.get(pair[1].place.slot, 6))
        return (posts if verbal is None else [*posts, verbal]), rest

    # Sentences about one domain

    def search(self, domain: str, parts: list[Part], tag: str) -> list[Sentence] | None:
        """Sentences that say what is looked for."""
        most = 4 if domain in ("train", "taxi") else 2
        towns = [part for part in parts if part.item.kind == "town"]
        books = self.books(parts)
        named = [part for part in parts if part.place.slot == "name"] if not towns and not books else []
        if named and (len(parts) == 1 or self.rng.chance(0.5)):
            chosen = self.offered_name(named[0]) or any(item.kind == "book" for item in self.plan.items)
            mark = "choose" if chosen else "first"
            text = self.worded("say", named[0], mark)
            if text is None:
                return None
            typed = (
                next((part for part in parts if part.place.slot == "type" and part.letter and "sg" in part.facts), None) if mark == "first" else None
            )
            noun = typed.letter if typed else (self.noun(domain, named[0]) or self.nameless(domain)) if mark == "first" else ""
            if noun:
                text = text.replace(named[0].letter, f"a~ {noun} called {named[0].letter}", 1)
            others = self.says([part for part in parts if part is not named[0] and part is not typed])
            return None if others is None else [Sentence(text, (typed, named[0]) if typed else (named[0],)), *others]
        if self.context.partial and tag in ("later", "retry") and not towns:
            says = self.says(parts)
            if says is not None:
                return says
        if tag == "later" and not towns and len(parts) <= 2 and not self.noun(domain) and self.rng.chance(0.5):
            says = self.says(parts)
            if says is not None:
                return says
        made = self.noun_phrase(domain, parts, most)
        if made is None:
            return None if towns else self.says(parts)
        phrase, said, rest, plural = made.text, made.said, made.rest, made.plural
        frames = self.options("open", Place("*", ""), "", "book") if books else self.options("open", Place(domain, ""), "", tag)
        if plural:
            frames = [frame for frame in frames if not _SINGULAR_FRAME.search(frame.text)]
        if len(said) > 1 or len(phrase) > 22:
            frames = [frame for frame in frames if not _MIDDLE.search(frame.text)]
        frame = self.take(frames)
        if frame is None:
            return None
        opened = Sentence(frame.replace("{NP}", phrase), tuple(said), "?" in frame)
        says = self.says(rest)
        return None if says is None else [opened, *says]

    def says(self, parts: list[Part]) -> list[Sentence] | None:
        """A sentence for each."""
        made = []
        for part in parts:
            kind = "bsay" if part.place.slot.startswith("book ") else "say"
            text = self.worded(kind, part) or (self.worded("say", part) if kind == "bsay" else None) or self.worded("short", part)
            if text is None:
                return None
            made.append(Sentence(text, (part,), "?" in text))
        return made

    def books(self, parts: list[Part]) -> bool:
        """Whether a search is said to be a booking, and no other sentence will say so."""
        if _BOOKS.search(self.text) is None or any(item.kind == "book" for item in self.plan.items):
            return False
        details = [item for item in self.plan.items if item.kind == "inform" and self.parts[item].place.slot.startswith("book ")]
        return not details or any(part.item in details for part in parts)

    def offered_name(self, part: Part) -> bool:
        before = self.context.before
        low = part.item.value.lower()
        return before is not None and (low in before.utterance.lower() or part.surface.lower() in before.utterance.lower())

    def booking(self, domain: str, parts: list[Part], asked: bool) -> list[Sentence] | None:
        """Sentences that give the details of a booking; `asked`: the user asks for it, and doesn't only tell them."""
        rank = {"book people": 0, "book stay": 1, "book day": 2, "book time": 3}
        parts = sorted(parts, key=lambda part: rank.get(part.place.slot, 4))
        if asked:
            inside: list[str] = []
            said: list[Part] = []
            rest: list[Part] = []
            verbal = False
            for part in parts:
                text = self.worded("bpost", part) if len(inside) < 4 else None
                if text is None or (_VERBAL.match(text) and verbal):
                    rest.append(part)
                    continue
                verbal = verbal or bool(_VERBAL.match(text))
                inside.append(text)
                said.append(part)
            frames = self.options("bookframe", Place(domain, ""))
            if len(inside) > 1:
                frames = [frame for frame in frames if not _MIDDLE.search(frame.text)]
            frame = self.take(frames)
            if frame is None or not inside:
                return None
            says = self.says(rest)
            opened = Sentence(frame.replace("{B}", " ".join(inside)), tuple(said), "?" in frame)
            return None if says is None else [opened, *says]
        if len(parts) == 1:
            text = self.worded("short", parts[0])
            return None if text is None else [Sentence(text, (parts[0],))]
        return self.says(parts)

    def requests(self, parts: list[Part]) -> list[Sentence] | None:
        """Questions."""
        made: list[Sentence] = []
        left = sorted(parts, key=lambda part: part.place.domain != "@more")  # "tell me more about it" points at what was offered
        if len(left) <= 2 and self.rng.chance(0.55 if len(left) == 2 else 0.7):
            for part in left:
                text = self._ask(part)
                if text is None:
                    return None
                made.append(Sentence(text, (part,), True))
            return made
        phrases = []
        for part in left:
            text = self.pick("item", part.place)
            if text is None:
                text = self._ask(part)
                if text is None:
                    return None
                made.append(Sentence(text, (part,), True))
                continue
            phrases.append((text, part))
        if phrases:
            wordy = any(_CLAUSE.match(text) for text, _ in phrases)
            phrases.sort(key=lambda pair: bool(_CLAUSE.match(pair[0])))
            frames = self.options("askframe")
            if wordy:
                frames = [frame for frame in frames if _KNOWING.search(frame.text)]
            frame = self.take(frames)
            if frame is None:
                return None
            listed = [text for text, _ in phrases]
            joined = listed[0] if len(listed) == 1 else ", ".join(listed[:-1]) + f" and {listed[-1]}"
            made.insert(0, Sentence(frame.replace("{L}", joined), tuple(part for _, part in phrases), True))
        return made
