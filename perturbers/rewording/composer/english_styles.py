"""English, in fewer words and in more: keywords, and reasons that belong to what is said."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialmill.perturbers.rewording.composer.echoes import echoes
from dialmill.perturbers.rewording.composer.english_phrases import FINITE, Draft, Part, Sentence
from dialmill.perturbers.rewording.composer.english_places import BOOKED, OWN, Place, family


def keywords(turn: Draft) -> list[Sentence] | None:
    """The least that says it; None where it takes sentences."""
    found = turn.plan
    informs = [turn.parts[item] for item in found.items if item.kind in ("inform", "about")]
    others = {item.kind for item in found.items} - {"inform", "about", "ack", "greet"}
    if not informs or others - {"request", "intent", "goal", "thank", "yes", "dontcare", "no", "town"}:
        return None
    informs.sort(key=lambda part: _RANK.index(part.place.slot) if part.place.slot in _RANK else 9)
    domains = list(dict.fromkeys(part.item.domain for part in informs))
    if len(domains) > 1:
        return None
    domain = domains[0]
    titled = any(part.place.slot in ("type", "name") for part in informs) or domain not in OWN
    search = any(not part.place.slot.startswith("book ") for part in informs)
    noun = turn.noun(domain)
    headed = search and (noun != "" or not any(cell[0] == domain for cell in turn.context.state))
    books = domain in OWN and _BOOKING.search(turn.text) is not None and any(part.place.slot.startswith("book ") for part in informs)
    worded = _key_words(turn, informs, (noun or _HEADS.get(domain, "")) if headed else "", titled, books)
    if worded is None:
        return None
    words, last = worded
    towns = [turn.parts[item] for item in found.items if item.kind == "town"]
    words += [f"in {part.letter}" for part in towns]
    joint = ", " if domain not in OWN or books or any("fare" in part.facts for part in informs) or turn.rng.chance(0.4) else " "
    if domain in OWN and not books and last:
        words = [" ".join(words[:last]), *words[last:]]  # no comma stands before the noun
    said = joint.join(words)
    first = informs[0]
    if books:
        said = f"book {said}"
    elif (
        domain in OWN
        and len(informs) == 1
        and first.place.slot == "name"
        and first.item.slot not in found.asked
        and "request" not in others
        and not turn.offered_name(first)
    ):
        named = "" if noun in first.surface.lower() else turn.noun(domain, first)
        said = f"info on {named} {said}".replace("  ", " ")
    replies = [Sentence(f"{kind},") for kind in ("yes", "no") if kind in others]
    if books and any(item.kind == "ack" for item in found.items):
        replies.append(Sentence("ok,"))
    goals = _bare_goals(turn)
    after = _bare_rest(turn)
    if goals is None or after is None:
        return None
    thanks = [Sentence("thanks")] if "thank" in others else []
    return [*replies, *goals, Sentence(said, (*informs, *towns)), *after, *thanks]


def _key_words(turn: Draft, informs: Sequence[Part], head: str, titled: bool, books: bool) -> tuple[list[str], int] | None:
    """Each value's few words, the noun `head` among them ("" for none), and where that ends; None where a value has no words.

    Args:
        titled: whether a value (a type, a name) stands in the noun's place.
        books: whether the turn books.
    """
    words: list[str] = []
    last = 0
    for part in informs:
        text = turn.worded("key", part)
        if text is None:
            return None
        if books and part.place.slot == "book people" and part.item.domain != "train":
            text = f"for {part.letter}"
        modifies = part.place.slot in ("pricerange", "stars", "food") and "fare" not in part.facts
        if head and not titled and not modifies:
            words.append(head)
            titled, last = True, len(words)
        if head and not titled and modifies:
            text = text.removesuffix(" food")  # "european restaurant"
        words.append(text)
        if part.place.slot == "type":
            last = len(words)
    if head and not titled:
        words.append(head)
        last = len(words)
    return words, last


def _bare_goals(turn: Draft) -> list[Sentence] | None:
    """Intents as bare verbs."""
    made = []
    for item in turn.plan.items:
        if item.kind == "goal":
            verb = turn.take(turn.options("do", Place(item.domain, item.value.lower())))
            if verb is None:
                return None
            made.append(Sentence(verb + ","))
    return made


def _bare_rest(turn: Draft) -> list[Sentence] | None:
    """What doesn't matter, by the shortest clauses, and the names of what is asked for."""
    made = []
    for item in turn.plan.items:
        if item.kind == "dontcare":
            options = sorted(turn.options("any", turn.parts[item].place), key=lambda clause: len(clause.text))
            text = turn.take(options[:3])
            if text is None:
                return None
            made.append(Sentence(text))
    asked = [turn.parts[item] for item in turn.plan.items if item.kind == "request"]
    wanted = []
    for part in asked:
        named = [clause for clause in turn.options("item", part.place) if _CLAUSE.match(clause.text) is None]
        text = turn.take(sorted(named, key=lambda clause: len(clause.text))[:3])
        if text is None:
            options = sorted(turn.options("ask", part.place), key=lambda clause: len(clause.text))
            text = turn.take(options[:3])
            if text is None:
                return None
            made.append(Sentence(text, (part,), True))
        else:
            wanted.append(_ARTICLE.sub("", text))
    if wanted:
        made.append(Sentence(", ".join(wanted) + "?", tuple(asked), True))
    return made


#: The order of keywords.
_RANK = (
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
_CLAUSE = re.compile(r"(?:what|which|how|whether|if|when|where)\b")
_ARTICLE = re.compile(r"^(?:the|a|their|its|my) ")
_BOOKING = re.compile(r"\b(?:book|booking|reserve|reservation)\b", re.IGNORECASE)
_HEADS = {"hotel": "place to stay", "restaurant": "restaurant", "attraction": "attraction", "train": "train", "taxi": "taxi"}
#: How much longer than the turn its longer wording is to be.
_LONGER = 1.3
#: What gives a reason already, or is no sentence that one could follow.
_REASONED = re.compile(r"\b(?:because|since|so)\b|[;:]")


def wordy(turn: Draft, sentences: list[Sentence]) -> list[Sentence] | None:
    """The sentences with a reason behind one or two of them, or with the circumstances before; None where nothing fits."""
    rng = turn.rng
    places = [place for place, sentence in enumerate(sentences) if _reasonable(sentence)]
    rng.shuffle(places)
    reasons: dict[int, str] = {}
    for place in places:
        reason = _reason(turn, sentences[place])
        if reason is not None:
            reasons[place] = reason
            if len(reasons) == 2 or _words([*(one.text for one in sentences), *reasons.values()]) >= _LONGER * _words([turn.text]):
                break  # more reasons than it takes are more than people give
    made: list[Sentence] = []
    for place, sentence in enumerate(sentences):
        made.append(sentence)
        if place in reasons:
            made.append(Sentence(reasons[place]))
    informs = [part for sentence in sentences for part in sentence.slots if part.item.kind in ("inform", "town")]
    answers = not turn.context.first and any(part.item.slot in turn.plan.asked for part in informs)
    settled = any(item.kind in ("no", "right", "declinebook", "declineintent", "select", "alts") for item in turn.plan.items)
    told = [item.domain for item in turn.plan.items if item.kind in ("inform", "intent", "goal")]
    domain = told[0] if told else informs[0].place.domain if informs else ""
    # Circumstances open a search: in one that goes on they come out of nowhere. Beside a reason, too, they are more than people tell.
    view = turn.context.view
    opens = not any(act.domain == domain for one in view.dialogue.turns if one.turn < view.turn.turn for act in one.acts)
    if informs and opens and not answers and not settled and not reasons:
        first = "first" if turn.context.first else ""
        circumstance = None
        if domain in OWN or family(domain) in BOOKED:
            asides = turn.options("circ", Place(domain if domain in OWN else "*", ""), "", first)
            circumstance = turn.take([clause for clause in asides if turn.heard.isdisjoint(echoes(clause.text))])
        opening = 0
        while opening < len(made) - 1 and not made[opening].slots and len(made[opening].text) < 30:
            opening += 1
        # "Also", "next" and "then" take up what was said, and no aside.
        if circumstance is not None and not _TAKES_UP.search(made[opening].text):
            made.insert(opening, Sentence(circumstance))
    return made if len(made) > len(sentences) else None


def _words(texts: list[str]) -> int:
    return sum(len(text.split()) for text in texts)


def _reasonable(sentence: Sentence) -> bool:
    """Whether a reason may follow a sentence: it says or asks for something, in full, and gives none itself."""
    return (
        bool(sentence.slots)
        and sentence.slots[-1].item.kind in ("inform", "request", "check")
        and not _REASONED.search(sentence.text)
        and FINITE.search(sentence.text) is not None
    )


def _reason(turn: Draft, sentence: Sentence) -> str | None:
    """A sentence that says why somebody wants or asks for the last thing said, None where the bank has none."""
    part = sentence.slots[-1]
    if part.place.slot == "name" and turn.offered_name(part):
        return None  # who takes what was offered heard of it just now
    if part.place.slot == "food" and part.surface.lower() in _DIETS:
        return None  # a rule to eat by is no taste
    facility = part.place.slot in ("internet", "parking")
    informs = part.item.kind == "inform" or facility
    told = part.item.value if informs else ""
    options = turn.options("why", part.place, told, "" if informs else "ask", part.facts)
    unnamed = part.place.slot == "food" and not _FOOD.search(sentence.text)  # "an Italian restaurant": no food that "some" could point at
    if unnamed or len(sentence.slots) > 1 or (part.place.name in ("addr", "@where") and "address" not in sentence.text):
        # Behind several things, "it" and "that" point at none of them.
        options = [clause for clause in options if not _POINTS.search(clause.text)]
    return turn.take([clause for clause in options if turn.heard.isdisjoint(echoes(clause.text))])


_FOOD = re.compile(r"\b(?:food|dish(?:es)?|cuisine|cooking)\b", re.IGNORECASE)
_TAKES_UP = re.compile(r"\b(?:also|next|then|too|as well|after that|instead|another|besides)\b", re.IGNORECASE)
_DIETS = frozenset(["halal", "kosher", "vegetarian", "vegan", "gluten free", "gluten-free"])
_POINTS = re.compile(r"\b(?:it|some|that|that's|that'll|them|those|this)\b", re.IGNORECASE)
