"""English: a plan in words. Noun phrases with their article, sentences in an order that people use, values as they stand in the source.

While a text is put together, each value is one letter of a script that English never uses; at the end the letters become the values again, and
their places are exact.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.composer.bank import Clause, Speaker
from dialmill.perturbers.rewording.composer.english_plan import OWN, Place, place_of, plan
from dialmill.perturbers.rewording.composer.plan import Composed, Context, Item, Placed, Plan, Refusal
from dialmill.perturbers.rewording.rewriting import Style, style_of
from dialmill.perturbers.typing.typography import tokenise

#: The letter of the first value; the others follow.
_FIRST = 0x1200
_LETTER = re.compile("[\u1200-\u12ff]")


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
_RELATIVE = re.compile(r"(?:to(?:day|night|morrow)|later|next|this|coming|day after|the|in|on|now)\b")
_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)\b(?! (?:of )?[a-z]+ \d)|first |second ")
_CENTRES = frozenset(("centre", "center", "city centre", "city center", "town centre", "town center", "centre of town", "center of town"))
_COMPASS = frozenset(["north", "south", "east", "west"])
_PRICES = frozenset(["cheap", "moderate", "expensive", "inexpensive", "pricey", "affordable", "economical", "upscale"])
_NO_CUISINE = frozenset(("gastropub", "steakhouse", "bistro", "pub", "unusual", "creative", "crossover", "canapes", "light bites"))
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
    if _CLOCK.match(low):
        found.add("time")
    if low in _CENTRES:
        found.add("ctr")
    elif low in _COMPASS:
        found.add("dir")
    if low in _PRICES or low == "ultra high-end":
        found.add("adj")
    elif low in ("moderately", "cheaply", "expensively", "reasonably"):
        found.add("adv")
    if low not in _NO_CUISINE:
        found.add("cui")
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
    "book people": ("one", "many"),
    "@people": ("one", "many"),
    "@tickets": ("one", "many"),
    "@rooms": ("one", "many"),
    "book stay": ("one", "many"),
    "@days": ("one", "many"),
    "leaveat": ("time",),
    "arriveby": ("time",),
}
_VALUE = re.compile(r"\{v(?::([a-z]+))?\}")
_A = re.compile(r"\b([Aa])~ (\S)")
_ON = re.compile(r"\b(on|On|at|At|the|The)~ (\S)")
_VOWEL = re.compile(r"(?!eu|one\b|once\b|uni|use)[aeiou]|8|11\b|18\b|hour", re.IGNORECASE)
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


@lru_cache(maxsize=1 << 14)
def _persona(text: str) -> str:
    """Who may say a clause: "many", "one", or "" for anybody."""
    return "many" if _PLURAL_SPEAKER.search(text) else "one" if _LONE_SPEAKER.search(text) else ""


class _Turn:
    """One turn being composed."""

    def __init__(self, context: Context, found: Plan, who: Speaker, rng: Rng, style: str) -> None:
        self.context, self.plan, self.who, self.rng, self.style = context, found, who, rng, style
        self.text = context.view.turn.utterance
        self.writing: Style = style_of(self.text)
        self.used: list[int] = []
        self.people = context.people
        self.parts: dict[Item, Part] = {}
        self.lone = context.people in ("1", "one")
        self.several = context.people not in ("", "1", "one")

    # Clauses

    def options(self, kind: str, place: Place | None = None, value: str = "", tag: str = "", facts: frozenset[str] = frozenset()) -> list[Clause]:
        domain, slot = (place.domain, place.slot) if place is not None else ("*", "")
        found = self.who.options(kind, domain, slot, value, tag, facts)
        if self.lone:
            return [clause for clause in found if _persona(clause.text) != "many"]
        if self.several:
            return [clause for clause in found if _persona(clause.text) != "one"]
        return found

    def take(self, options: list[Clause]) -> str | None:
        clause = self.who.choose(self.rng, [one for one in options if one.key not in self.used] or options)
        if clause is None:
            return None
        self.used.append(clause.key)
        return clause.text

    def pick(self, kind: str, place: Place | None = None, value: str = "", tag: str = "", facts: frozenset[str] = frozenset()) -> str | None:
        return self.take(self.options(kind, place, value, tag, facts))

    def said(self, sections: list[str]) -> list[Sentence] | None:
        """A sentence of each section; None where one has none."""
        made = []
        for section in sections:
            text = self.pick(section)
            if text is None:
                return None
            made.append(Sentence(text))
        return made

    # Values

    def part(self, item: Item) -> Part | None:
        """The item as the bank words it; None for a shape of value that it has no words for."""
        if item in self.parts:
            return self.parts[item]
        place = place_of(item.domain, item.slot, item.kind == "request")
        if place is None:
            return None
        surface = self.text[item.start : item.end]
        facts = _facts(place.name, surface) if item.shown else frozenset()
        needs = _SHAPES.get(place.name)
        if item.kind == "inform" and item.shown and needs and not any(need in facts for need in needs):
            return None
        letter = chr(_FIRST + len(self.parts)) if item.shown else ""
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

        return _VALUE.sub(value, text)

    def worded(self, kind: str, part: Part, tag: str = "") -> str | None:
        """A clause of a kind for a value."""
        told = part.item.value if not part.item.shown else ""
        options = self.options(kind, part.place, told, tag, part.facts)
        if part.place.name == "area" and " " in part.surface:
            options = [clause for clause in options if "{v} of" not in clause.text and "{v} side" not in clause.text]
        if part.surface.lower().startswith("the "):
            options = [clause for clause in options if "the {v}" not in clause.text.lower()]
        text = self.take(options)
        return None if text is None else self.fill(text, part)

    # Noun phrases

    def noun_phrase(self, domain: str, parts: list[Part], most: int) -> NounPhrase | None:
        """A phrase with its article; `most`: how many phrases may stand behind its head."""
        typed = next((part for part in parts if part.place.slot == "type" and part.letter and "mass" not in part.facts), None)
        head = typed.letter if typed is not None else self.pick("head", Place(domain, ""))
        if head is None:
            return None
        bare = head.startswith("somewhere")
        mods, left = self.modifiers([part for part in parts if part is not typed], bare)
        posts, rest = self.behind(domain, left, most)
        plural = typed is not None and "pl" in typed.facts
        phrase = " ".join([*(text for text, _ in mods), head, *(text for text, _ in posts)])
        if not plural and not bare:
            phrase = f"a~ {phrase}"
        said = [part for _, part in mods] + ([typed] if typed is not None else []) + [part for _, part in posts]
        return NounPhrase(phrase, said, rest, plural)

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
        named = [part for part in parts if part.place.slot == "name"] if not towns else []
        if named and (len(parts) == 1 or self.rng.chance(0.5)):
            mark = "choose" if self.offered_name(named[0]) else "first"
            text = self.worded("say", named[0], mark)
            if text is None:
                return None
            others = self.says([part for part in parts if part is not named[0]])
            return None if others is None else [Sentence(text, (named[0],)), *others]
        if tag == "later" and not towns and len(parts) <= 2 and self.rng.chance(0.5):
            says = self.says(parts)
            if says is not None:
                return says
        made = self.noun_phrase(domain, parts, most)
        if made is None:
            return None if towns else self.says(parts)
        phrase, said, rest, plural = made.text, made.said, made.rest, made.plural
        frames = self.options("open", Place(domain, ""), "", tag)
        if plural:
            frames = [frame for frame in frames if not _SINGULAR_FRAME.search(frame.text)]
        if len(said) > 2 or len(phrase) > 40:
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
        left = list(parts)
        if len(left) <= 2 and self.rng.chance(0.55 if len(left) == 2 else 0.7):
            for part in left:
                text = self.pick("ask", part.place)
                if text is None:
                    return None
                made.append(Sentence(text, (part,), True))
            return made
        phrases = []
        for part in left:
            text = self.pick("item", part.place)
            if text is None:
                text = self.pick("ask", part.place)
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


_CLAUSE = re.compile(r"(?:what|which|how|whether|if|when|where)\b")
_KNOWING = re.compile(r"\b(?:tell me|know|learn|lmk|look up|wondering about)\b")
#: Kinds in the order in which a turn says them.
_SENTENCES = {
    "right": "right",
    "select": "select",
    "alts": "alts",
    "declineintent": "declineintent",
    "declinebook": "decline",
    "recommend": "recommend",
}


def realise(context: Context, plan: Plan, who: Speaker, rng: Rng, style: str) -> Composed | Refusal:
    """The plan in words, or why the bank has none for it."""
    turn = _Turn(context, plan, who, rng, style)
    for item in plan.items:
        if item.kind in ("inform", "about", "town", "dontcare", "request") and turn.part(item) is None:
            return Refusal(f"no_clause: {item.slot}={item.value}")
    sentences = _keywords(turn) if style == "less" else _sentences(turn)
    if sentences is None or not sentences:
        return Refusal("no_clause")
    if style == "more":
        wordy = _wordy(turn, sentences)
        if wordy is None:
            return Refusal("no_reason")
        sentences = wordy
    return _written(turn, sentences)


def _sentences(turn: _Turn) -> list[Sentence] | None:
    """The sentences of a turn in order."""
    kinds = {item.kind for item in turn.plan.items}
    plain = _plain(turn, kinds) if all(item.kind in _CONTENTLESS for item in turn.plan.items) else None
    if plain is not None or all(item.kind in _CONTENTLESS for item in turn.plan.items):
        return None if plain is None else turn.said(plain)
    opening = turn.said(_opening(turn, kinds))
    goals = _goals(turn, "yes" in kinds)
    if opening is None or goals is None:
        return None
    told = _domains(turn)
    asked = _asked(turn)
    if told is None or asked is None:
        return None
    chosen = turn.said(["recommend"] if "recommend" in kinds else [])
    booked: list[Sentence] = []
    for item in turn.plan.items:
        if item.kind == "book" and not add_intent(turn, item, "book", booked):
            return None
    closing = _closing(turn, kinds)
    if chosen is None or closing is None:
        return None
    return opening + goals + told + chosen + booked + asked + closing


#: Kinds that say nothing of the task.
_CONTENTLESS = frozenset({"thank", "bye", "greet", "ack", "end", "yes", "no"})


def _plain(turn: _Turn, kinds: set[str]) -> list[str] | None:
    """The sections for a turn of thanks, goodbye, yes or no alone; None where it says none of them."""
    made = ["greet"] if "greet" in kinds else []
    ends = bool(kinds & {"end", "no"})
    if "thank" in kinds:
        if "yes" in kinds:
            made.append("yes")
        if "no" in kinds and _declines(turn):
            made += ["nofull", "thank"]
        else:
            made.append("thankend" if ends else "thankmeh" if turn.plan.failed else "thank")
        return made + (["bye"] if "bye" in kinds else [])
    if "bye" in kinds:
        return [*made, *(["thankend"] if ends else []), "bye"]
    if "yes" in kinds:
        return [*made, "yesfull"]
    return [*made, "nofull"] if ends else (made or None)


def _opening(turn: _Turn, kinds: set[str]) -> list[str]:
    """The sections that a turn with something to say begins with."""
    found, rng = turn.plan, turn.rng
    made = ["greet"] if "greet" in kinds else []
    if "yes" in kinds:
        made += [] if "goal" in kinds else ["yes"]
    elif "no" in kinds:
        made.append("no")
    elif found.failed and any(item.kind == "inform" for item in found.items):
        if turn.style != "less" and rng.chance(0.5):
            made.append("change")
    elif "ack" in kinds and not turn.context.first and not kinds & {"select", "right", "declinebook", "alts"} and rng.chance(0.7):
        made.append("ack")
    return made + [section for kind, section in _SENTENCES.items() if kind in kinds]


def _goals(turn: _Turn, accepts: bool) -> list[Sentence] | None:
    """A sentence for each intent."""
    made = []
    for item in turn.plan.items:
        if item.kind == "goal":
            verb = turn.take(turn.options("do", Place(item.domain, item.value.lower())))
            frame = turn.pick("goahead" if accepts else "wish", None, "", "first" if turn.context.first else "later")
            if verb is None or frame is None:
                return None
            made.append(Sentence(frame.replace("{I}", verb), (), "?" in frame))
    return made


def _asked(turn: _Turn) -> list[Sentence] | None:
    """What the turn asks for, and of what."""
    made: list[Sentence] = []
    for part in _subjects(turn):
        text = turn.pick("about")
        if text is None:
            return None
        if part.place.slot == "type":
            text = text.replace("{v}", "the {v}")
        made.append(Sentence(turn.fill(text, part), (part,)))
    requests = [turn.parts[item] for item in turn.plan.items if item.kind == "request"]
    asked = turn.requests(requests) if requests else []
    return None if asked is None else made + asked


def _closing(turn: _Turn, kinds: set[str]) -> list[Sentence] | None:
    """Thanks and goodbye at the end of a turn that says something before."""
    made: list[Sentence] = []
    if "thank" in kinds:
        text = turn.take([clause for clause in turn.options("thank") if len(clause.text) < 40])
        if text is None:
            return None
        made.append(Sentence(text))
    bye = turn.said(["bye"] if "bye" in kinds else [])
    return None if bye is None else made + bye


def _declines(turn: _Turn) -> bool:
    """Whether a "no" answers an offer, and not the question whether there is more."""
    before = turn.context.before
    return before is not None and all(act.act not in ("reqmore", "req_more") for act in before.acts)


def add_intent(turn: _Turn, item: Item, tag: str, made: list[Sentence]) -> bool:
    """A sentence that asks for a domain, or for a booking there."""
    text = turn.take(turn.options("intent", Place(item.domain, ""), "", tag))
    if text is not None:
        made.append(Sentence(text, (), "?" in text))
    return text is not None


def _subjects(turn: _Turn) -> list[Part]:
    """What the turn asks about: names, where it asks for facts and informs of nothing else there."""
    items = turn.plan.items
    asks = {item.domain for item in items if item.kind == "request"}
    found: list[Part] = []
    for item in items:
        if item.kind == "about" or (
            item.kind == "inform"
            and item.slot == "name"
            and item.domain in asks
            and item.domain in OWN
            and not any(other.kind == "inform" and other.domain == item.domain and other is not item for other in items)
        ):
            found.append(turn.parts[item])
    return found


def _domains(turn: _Turn) -> list[Sentence] | None:
    """What the turn informs of, domain by domain."""
    found = turn.plan
    made: list[Sentence] = []
    domains = list(dict.fromkeys(item.domain for item in found.items if item.kind in ("inform", "dontcare", "intent")))
    for domain in domains:
        own = [item for item in found.items if item.domain == domain]
        subjects = _subjects(turn)
        informs = [turn.parts[item] for item in own if item.kind == "inform" and turn.parts[item] not in subjects]
        careless = [turn.parts[item] for item in own if item.kind == "dontcare"]
        intends = any(item.kind == "intent" for item in own)
        towns = [turn.parts[item] for item in found.items if item.kind == "town"] if domain in ("hotel", "restaurant", "attraction") else []
        if towns and not informs:
            return None
        if domain not in OWN:
            said = _service(turn, informs)
        else:
            said = _own(turn, domain, informs, intends, towns)
        if said is None:
            return None
        made += said
        for part in careless:
            text = turn.pick("any", part.place) or turn.pick("any", Place("@any", ""))
            if text is None:
                return None
            made.append(Sentence(text, (part,)))
    return made


def _service(turn: _Turn, informs: list[Part]) -> list[Sentence] | None:
    """Slots of a service: an answer where the system asked, else a sentence for each."""
    if not informs:
        return []
    asked = turn.plan.asked
    goal = any(item.kind == "goal" for item in turn.plan.items)
    if len(informs) == 1 and (informs[0].item.slot in asked) and not goal:
        text = turn.worded("short", informs[0]) or turn.worded("bsay", informs[0]) or turn.worded("say", informs[0])
        return None if text is None else [Sentence(text, (informs[0],))]
    return turn.says(informs)


def _own(turn: _Turn, domain: str, informs: list[Part], intends: bool, towns: list[Part]) -> list[Sentence] | None:
    """What is said of a domain that the bank knows."""
    if not informs and not intends:
        return []
    found = turn.plan
    made: list[Sentence] = []
    books = [part for part in informs if part.place.slot.startswith("book ")]
    searched = [part for part in informs if part not in books]
    context = turn.context
    known = any(cell[0] == domain for cell in context.state) or (
        context.before is not None and any(act.domain == domain for act in context.before.acts)
    )
    tag = "first" if context.first else "new" if not known else "retry" if found.failed else "later"
    asked = found.asked
    booking = re.search(r"\b(?:book|booking|reserve|reservation|table)\b", turn.text, re.IGNORECASE) is not None
    if searched and books and tag in ("first", "new"):
        return turn.search(domain, searched + books + towns, tag)
    if searched:
        slots = {part.place.slot for part in searched}
        if slots <= asked and len(searched) <= 2 and not context.first:
            if len(searched) == 1:
                text = turn.worded("short", searched[0]) or turn.worded("say", searched[0])
                said = None if text is None else [Sentence(text, (searched[0],))]
            else:
                said = turn.says(searched)
        else:
            said = turn.search(domain, searched + towns, tag)
            towns = []
        if said is None or towns:
            return None
        made += said
    elif intends and not books and not add_intent(turn, Item("intent", domain), "", made):
        return None
    if books:
        if intends and not searched and not booking and not asked:
            return None
        said = turn.booking(domain, books, booking)
        if said is None:
            return None
        made += said
    return made


# Less and more


def _keywords(turn: _Turn) -> list[Sentence] | None:
    """The least that says it."""
    found = turn.plan
    informs = [turn.parts[item] for item in found.items if item.kind in ("inform", "about")]
    others = {item.kind for item in found.items} - {"inform", "about", "ack", "greet"}
    if not informs or others - {"request", "intent", "goal", "thank", "yes", "dontcare", "no"}:
        return _sentences(turn)
    rank = (
        "pricerange",
        "stars",
        "food",
        "type",
        "area",
        "name",
        "departure",
        "destination",
        "book people",
        "book stay",
        "day",
        "book day",
        "leaveat",
        "arriveby",
    )
    informs.sort(key=lambda part: rank.index(part.place.slot) if part.place.slot in rank else 9)
    words: list[str] = []
    domains = list(dict.fromkeys(part.item.domain for part in informs))
    if len(domains) > 1:
        return _sentences(turn)
    domain = domains[0]
    titled = any(part.place.slot in ("type", "name") for part in informs) or domain not in OWN
    search = any(not part.place.slot.startswith("book ") for part in informs)
    known = any(cell[0] == domain for cell in turn.context.state)
    for part in informs:
        text = turn.worded("key", part)
        if text is None:
            return _sentences(turn)
        if not titled and search and not known and part.place.slot not in ("pricerange", "stars", "food"):
            words.append(_HEADS[domain])
            titled = True
        words.append(text)
    if not titled and search and not known:
        words.append(_HEADS[domain])
    joint = ", " if domain not in OWN or turn.rng.chance(0.4) else " "
    replies = [Sentence(f"{kind},") for kind in ("yes", "no") if kind in others]
    goals = _bare_goals(turn)
    after = _bare_rest(turn)
    if goals is None or after is None:
        return None
    thanks = [Sentence("thanks")] if "thank" in others else []
    return [*replies, *goals, Sentence(joint.join(words), tuple(informs)), *after, *thanks]


def _bare_goals(turn: _Turn) -> list[Sentence] | None:
    """Intents as bare verbs."""
    made = []
    for item in turn.plan.items:
        if item.kind == "goal":
            verb = turn.take(turn.options("do", Place(item.domain, item.value.lower())))
            if verb is None:
                return None
            made.append(Sentence(verb + ","))
    return made


def _bare_rest(turn: _Turn) -> list[Sentence] | None:
    """What doesn't matter and what is asked for, by the shortest clauses."""
    made = []
    for kind, section, most in (("dontcare", "any", 3), ("request", "ask", 4)):
        for item in turn.plan.items:
            if item.kind == kind:
                part = turn.parts[item]
                options = sorted(turn.options(section, part.place), key=lambda clause: len(clause.text))
                text = turn.take(options[:most])
                if text is None:
                    return None
                made.append(Sentence(text, (part,) if kind == "request" else (), kind == "request"))
    return made


_HEADS = {"hotel": "place to stay", "restaurant": "restaurant", "attraction": "attraction", "train": "train", "taxi": "taxi"}
_REASONED = re.compile(r"\b(?:because|since|so|as|if|but)\b|[;:]")
_PLEADING = re.compile(r",? (?:please|thanks|pls|go|quick|quickly|fast|then|cheers)$")
_QUESTION_LEADS = ("I ask", "I'm asking", "Only asking", "Asking")


def _wordy(turn: _Turn, sentences: list[Sentence]) -> list[Sentence] | None:
    """The sentences with a reason behind one of them, and circumstances before; None where there is nothing to give a reason for."""
    rng = turn.rng
    reasons: list[tuple[int, Part]] = []
    for place, sentence in enumerate(sentences):
        if sentence.slots and sentence.text[-1:] in ".!?" and not _REASONED.search(sentence.text):
            reasons.append((place, sentence.slots[-1]))
    rng.shuffle(reasons)
    made = list(sentences)
    added = 0
    for place, part in reasons:
        sentence = made[place]
        told = part.item.value if part.item.kind == "inform" else ""
        tag = "ask" if part.item.kind == "request" and part.place.slot == "pricerange" else ""
        if part.item.kind == "dontcare":
            continue
        reason = turn.pick("why", part.place, told, tag)
        if reason is None:
            continue
        text = sentence.text.rstrip()
        if text.endswith("?"):
            made[place] = Sentence(f"{text} {rng.choice(_QUESTION_LEADS)} {reason}.", sentence.slots)
        else:
            made[place] = Sentence(f"{_PLEADING.sub('', text.rstrip('.!'))} {reason}.", sentence.slots)
        added += 1
        if added == 2 or rng.chance(0.75):
            break
    places = [part.place.domain for sentence in sentences for part in sentence.slots if part.item.kind == "inform"]
    if places and (not added or rng.chance(0.3)):
        domain = places[0] if places[0] in OWN else "*"
        circumstance = turn.pick("circ", Place(domain, ""))
        if circumstance is not None:
            opening = 0
            while opening < len(made) and not made[opening].slots and len(made[opening].text) < 30 and opening < len(made) - 1:
                opening += 1
            made.insert(opening, Sentence(circumstance))
            added += 1
    return made if added else None


# Writing


def _written(turn: _Turn, sentences: list[Sentence]) -> Composed | Refusal:
    """The text with its values in their places, in the source's typography."""
    surfaces = {part.letter: part.surface for part in turn.parts.values() if part.letter}
    whole = _joined(sentences, turn.who.voice == "teen" or not turn.writing.capitals)
    whole = _ON.sub(lambda match: _determined(match, surfaces), _A.sub(lambda match: _article(match, surfaces), whole))
    if not turn.writing.capitals:
        whole = whole.lower()
    if turn.writing.apart:
        whole = tokenise(whole)
    items = {part.letter: part.item for part in turn.parts.values() if part.letter}
    pieces: list[str] = []
    placed: list[Placed] = []
    reached = length = 0
    for match in _LETTER.finditer(whole):
        pieces += (whole[reached : match.start()], surfaces[match[0]])
        length += match.start() - reached
        item, end = items[match[0]], length + len(surfaces[match[0]])
        placed.append(Placed(length, end, item.start, item.end))
        length, reached = end, match.end()
    pieces.append(whole[reached:])
    if len(placed) != len(surfaces):
        return Refusal("value_lost")
    return Composed("".join(pieces), tuple(placed), tuple(dict.fromkeys(turn.used)), turn.who.voice)


def _joined(sentences: list[Sentence], lower: bool) -> str:
    """Sentences one after the other, with capitals and signs between them."""
    written: list[str] = []
    for place, sentence in enumerate(sentences):
        text = sentence.text
        if not lower:
            text = text[:1].upper() + text[1:]
        last = place == len(sentences) - 1
        if last:
            text = text.removesuffix(",")
        elif text[-1:] not in ".?!,;:":
            text += "," if lower else "."
        if written and written[-1].endswith(",") and not _I.match(sentence.text):
            text = text[:1].lower() + text[1:]
        written.append(text)
    return " ".join(written)


_I = re.compile(r"I\b")


def _article(match: re.Match[str], surfaces: dict[str, str]) -> str:
    """ "a" or "an" by what follows."""
    following = surfaces.get(match[2], match[2])
    return f"{match[1]}{'n' if _VOWEL.match(following) else ''} {match[2]}"


def _determined(match: re.Match[str], surfaces: dict[str, str]) -> str:
    """ "on", "at" and "the" where the value goes with them: "on Monday", "tomorrow", "the 3rd"."""
    surface = surfaces.get(match[2], match[2]).lower()
    word = match[1].lower()
    if word == "the":
        keep = _ORDINAL.match(surface) is not None
    elif word == "on":
        keep = _RELATIVE.match(surface) is None
        if keep and _ORDINAL.match(surface):
            return f"{match[1]} the {match[2]}"
    else:
        keep = _OWN_PREPOSITION.match(surface) is None
    return f"{match[1]} {match[2]}" if keep else match[2]


_OWN_PREPOSITION = re.compile(r"(?:in|around|after|before|at)\b")

__all__ = ["plan", "realise"]
