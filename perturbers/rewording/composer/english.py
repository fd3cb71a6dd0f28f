"""English: a plan in words, sentence by sentence in an order that people use."""

from __future__ import annotations

import re

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.awaited import awaited, proposed
from dialmill.perturbers.rewording.composer.bank import Speaker
from dialmill.perturbers.rewording.composer.english_phrases import Draft, Part, Sentence
from dialmill.perturbers.rewording.composer.english_places import OWN, Place
from dialmill.perturbers.rewording.composer.english_plan import plan
from dialmill.perturbers.rewording.composer.english_source import labelled
from dialmill.perturbers.rewording.composer.english_styles import keywords, wordy
from dialmill.perturbers.rewording.composer.english_text import written
from dialmill.perturbers.rewording.composer.plan import Composed, Context, Item, Plan, Refusal

#: Kinds in the order in which a turn says them.
_SENTENCES = {
    "right": "right",
    "select": "select",
    "alts": "alts",
    "declineintent": "declineintent",
    "declinebook": "decline",
}


#: Kinds that somebody may give a reason for.
_REASONABLE = frozenset({"inform", "request", "check", "town"})


def realise(context: Context, plan: Plan, who: Speaker, rng: Rng, style: str) -> Composed | Refusal:
    """The plan in words, or why the bank has none for it."""
    if style == "more" and not any(item.kind in _REASONABLE for item in plan.items):
        return Refusal("no_reason")
    turn = Draft(context, plan, who, rng, style)
    for item in plan.items:
        if item.kind in ("inform", "about", "town", "dontcare", "request", "check") and turn.part(item) is None:
            return Refusal(f"no_clause: {item.slot}={item.value}")
    sentences = (keywords(turn) if style == "less" else None) or _sentences(turn)
    if sentences is None or not sentences:
        return Refusal("no_clause")
    if style == "more":
        longer = wordy(turn, sentences)
        if longer is None:
            return Refusal("no_reason")
        sentences = longer
    return written(turn, sentences)


def _sentences(turn: Draft) -> list[Sentence] | None:
    """The sentences of a turn in order."""
    kinds = {item.kind for item in turn.plan.items}
    plain = _plain(turn, kinds) if all(item.kind in _CONTENTLESS for item in turn.plan.items) else None
    if plain is not None or all(item.kind in _CONTENTLESS for item in turn.plan.items):
        return None if plain is None else turn.said(plain)
    opening = turn.said(_opening(turn, kinds))
    thanked = "thank" in kinds and _THANKS_FIRST.match(turn.text) is not None and not turn.context.partial
    if thanked and opening is not None:  # for what was told or done: they stand before what comes next
        thanks = turn.pick("thankask")
        opening = None if thanks is None else [*opening, Sentence(thanks)]
    goals = _goals(turn, "yes" in kinds)
    if opening is None or goals is None:
        return None
    if "alts" in kinds and _PRAISED.search(turn.text) and opening and turn.style != "less":
        praise = turn.pick("but")
        last = opening[-1].text
        if praise is not None:
            opening[-1] = Sentence(f"{praise} {last if _I.match(last) else last[:1].lower() + last[1:]}")
    turn.opened = bool(opening)
    told = _domains(turn, goals)
    asked = _asked(turn)
    if told is None or asked is None:
        return None
    chosen = turn.said(["recommend"] if "recommend" in kinds else [])
    booked: list[Sentence] = []
    for item in turn.plan.items:
        if item.kind == "book" and not add_intent(turn, item, "book", booked):
            return None
    closing = _closing(turn, kinds - {"thank"} if thanked else kinds)
    if chosen is None or closing is None:
        return None
    goals = [goal._replace(text=goal.text.replace(_DETAILS, "")) for goal in goals]
    if turn.context.partial and "bye" not in kinds:
        opening, closing = closing + opening, []  # something else may follow, which thanks don't stand before
    return opening + goals + told + chosen + booked + asked + closing


#: Kinds that say nothing of the task.
_CONTENTLESS = frozenset({"thank", "bye", "greet", "ack", "end", "yes", "no"})


#: Thanks at the beginning of a turn that goes on.
_THANKS_FIRST = re.compile(
    r"\W*(?:(?:ok|okay|great|perfect|good|alright|wonderful|awesome|excellent)\W+)?(?:thank|thanks|thx|cheers)\b", re.IGNORECASE
)
_YES = re.compile(r"\s*(?:yes|yeah|yep|yup|sure|absolutely|definitely)\b", re.IGNORECASE)
_NO = re.compile(r"\s*(?:no|nope|nah)\b", re.IGNORECASE)
#: Who begins so takes up what the system proposes, and is not sorry for what it lacks.
_AGREED = re.compile(r"\s*(?:sure|ok|okay|yes|yeah|great|good|fine|all ?right|sounds)\b", re.IGNORECASE)
#: A proposal that is refused because it doesn't suit.
_UNFIT = re.compile(r"\b(?:not|n t|wont|won t) (?:do|work|suit|fit|be (?:good|possible|ok|okay|fine))\b|\bis n?o?t? ?(?:good|okay)\b")


def _plain(turn: Draft, kinds: set[str]) -> list[str] | None:
    """The sections for a turn of thanks, goodbye, yes or no alone; None where it says none of them."""
    made = ["greet"] if "greet" in kinds else []
    if "ack" in kinds and kinds & {"thank", "bye", "end"}:
        made.append("ack")
    ends = bool(kinds & {"end", "no"})
    if "thank" in kinds:
        if "yes" in kinds and (_declines(turn) or _YES.match(turn.text)):
            made.append("yes")  # "sounds good" to the question whether there is more is no yes to it
        if "no" in kinds and _declines(turn):
            made += ["nofull", "thank"]
        elif ends and _NO.match(turn.text) and _declines(turn) and _asks_for_yes(turn):
            made += ["nofull", "thankend"]
        else:
            made.append("thankend" if ends else "thankmeh" if turn.plan.failed and "yes" not in kinds else "thank")
        return made + (["bye"] if "bye" in kinds else [])
    if "bye" in kinds:
        return [*made, *(["thankend"] if ends else []), "bye"]
    if "no" in kinds and _UNFIT.search(" ".join(turn.context.view.units.names)):
        return [*made, "unfit"]
    if "yes" in kinds:
        return [*made, "yes" if _states_fact(turn) else "yesfull"]
    if "end" in kinds:
        return [*made, "end"]
    return [*made, "nofull"] if ends else (made or None)


def _opening(turn: Draft, kinds: set[str]) -> list[str]:
    """The sections that a turn with something to say begins with."""
    found, rng = turn.plan, turn.rng
    made = ["greet"] if "greet" in kinds else []
    if "yes" in kinds:
        # A dialogue that opens with "yes" answers nothing.
        made += [] if "goal" in kinds or turn.context.first else ["yes"]
    elif "no" in kinds:
        made.append("no")
    elif found.failed and not turn.context.partial and not _AGREED.match(turn.text) and any(item.kind == "inform" for item in found.items):
        if turn.style != "less" and rng.chance(0.5):
            made.append("change")
    elif "ack" in kinds and not turn.context.first and not found.failed and not kinds & {"select", "right", "declinebook", "alts"}:
        made.append("ack")
    return made + [section for kind, section in _SENTENCES.items() if kind in kinds]


def _goals(turn: Draft, accepts: bool) -> list[Sentence] | None:
    """A sentence for each intent."""
    made = []
    for item in turn.plan.items:
        if item.kind == "goal":
            there = "" if turn.context.first else "there" if any(one.kind == "select" for one in turn.plan.items) or _THERE.search(turn.text) else ""
            verbs = turn.options("do", Place(item.domain, item.value.lower()), "", there)
            if any(one.kind == "inform" and one.slot == "number of rooms" for one in turn.plan.items):
                verbs = [verb for verb in verbs if "room" not in verb.text] or verbs
            verb = turn.take(verbs)
            frames = turn.options("goahead" if accepts else "wish", None, "", "first" if turn.context.first else "later")
            if there:
                frames = [one for one in frames if not _MORE.search(one.text)]  # who accepts an offer asks for nothing more
            frame = turn.take(frames)
            if verb is None or frame is None:
                return None
            text = frame.replace("{I}", verb + _DETAILS if _LAST.search(frame) else verb)
            made.append(Sentence(text, (), "?" in frame))
    return made


def _with_details(turn: Draft, sentence: Sentence, informs: list[Part]) -> tuple[Sentence, list[Part]]:
    """An intent with up to two details behind its verb ("find a hotel in NYC with four stars"), and the details that are left."""
    if _DETAILS not in sentence.text or turn.style == "less":
        return sentence, informs
    inside: list[str] = []
    said: list[Part] = []
    left: list[Part] = []
    for part in informs:
        text = turn.worded("pp", part) if len(inside) < 2 and turn.rng.chance(0.6) else None
        if text is None:
            left.append(part)
        else:
            inside.append(text)
            said.append(part)
    text = sentence.text.replace(_DETAILS, "".join(f" {one}" for one in inside))
    return sentence._replace(text=text, slots=tuple(said)), left


#: What makes a wish a further one.
_MORE = re.compile(r"\b(?:also|too|as well|next|after that)\b", re.IGNORECASE)
_I = re.compile(r"I\b")
#: What takes an offer by its name: "La Mimosa sounds good".
_PICKED = re.compile(
    r"\b(?:sounds?|good|great|fine|perfect|nice|works|take|go with|let'?s? ?(?:'s )?try|i(?: ?'ll|'d)? (?:like|love|prefer|choose))\b", re.IGNORECASE
)
#: Praise before a wish for something else.
_PRAISED = re.compile(
    r"\b(?:(?:sounds?|looks?|is|are|'s|seems?) (?:\w+ ){0,2}(?:good|great|nice|fine|ok|okay|cool)"
    r"|i (?:do |really )?(?:like|love) (?:it|this|that))\b[^?!]*\bbut\b",
    re.IGNORECASE,
)
#: What was spoken of before is what the intent is about.
_THERE = re.compile(r"\b(?:at|for|in|with) (?:that|it)\b|\bthere\b|\b(?:that|this) (?:hotel|restaurant|place|one|property|house)\b", re.IGNORECASE)
#: Where details go in a sentence that ends with its verb phrase.
_DETAILS = "{+}"
_LAST = re.compile(r"\{I\}[.!?]?$")


def _asked(turn: Draft) -> list[Sentence] | None:
    """What the turn asks for, and of what."""
    made: list[Sentence] = []
    for part in _subjects(turn):
        if part.place.slot == "name" and turn.offered_name(part) and _PICKED.search(turn.text):
            chosen = turn.worded("say", part, "choose")
            if chosen is None:
                return None
            made.append(Sentence(chosen, (part,)))
            continue
        text = turn.pick("about")
        if text is None:
            return None
        if part.place.slot == "type":
            text = text.replace("{v}", "the {v}")
        made.append(Sentence(turn.fill(text, part), (part,)))
    for item in turn.plan.items:
        if item.kind == "check":
            checked = turn.worded("check", turn.parts[item])
            if checked is None:
                return None
            made.append(Sentence(checked, (turn.parts[item],), True))
    requests = [turn.parts[item] for item in turn.plan.items if item.kind == "request"]
    asked = turn.requests(requests) if requests else []
    return None if asked is None else made + asked


def _closing(turn: Draft, kinds: set[str]) -> list[Sentence] | None:
    """Thanks and goodbye at the end of a turn that says something before."""
    made: list[Sentence] = []
    if "thank" in kinds:
        # Who still asks gives thanks for what is to come, and never for what is settled.
        asks = any(item.kind in ("request", "book", "recommend", "goal", "alts") or item.kind == "inform" for item in turn.plan.items)
        if "end" in kinds and not asks:
            ended = turn.said(["thankend"])
            if ended is None:
                return None
            made += ended
        else:
            text = turn.pick("thankask" if asks else "thank")
            if text is None:
                return None
            made.append(Sentence(text))
    elif "end" in kinds:
        ended = turn.said(["end"])
        if ended is None:
            return None
        made += ended
    bye = turn.said(["bye"] if "bye" in kinds else [])
    return None if bye is None else made + bye


def _states_fact(turn: Draft) -> bool:
    """Whether a yes says that something is so, and not that it be done."""
    before = turn.context.before
    return before is not None and not labelled(before) and proposed(before.utterance) != "offer"


def _asks_for_yes(turn: Draft) -> bool:
    """Whether the turn before ends with a question that a "no" at the beginning answers: "Shall I book it?" "No thanks, that's all."."""
    before = turn.context.before
    return before is not None and before.utterance.rstrip().endswith("?")


def _declines(turn: Draft) -> bool:
    """Whether a "no" answers an offer, and not the question whether there is more."""
    before = turn.context.before
    if before is None:
        return False
    if not labelled(before):
        return awaited(before.utterance) != "more"
    return all(act.act not in ("reqmore", "req_more") for act in before.acts)


def add_intent(turn: Draft, item: Item, tag: str, made: list[Sentence]) -> bool:
    """A sentence that asks for a domain, or for a booking there."""
    text = turn.take(turn.options("intent", Place(item.domain, ""), "", tag))
    if text is not None:
        made.append(Sentence(text, (), "?" in text))
    return text is not None


def _subjects(turn: Draft) -> list[Part]:
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


def _domains(turn: Draft, goals: list[Sentence]) -> list[Sentence] | None:
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
        if towns and not informs and not intends:
            return None
        if domain not in OWN:
            if goals:
                goals[-1], informs = _with_details(turn, goals[-1], informs)
            said = _service(turn, informs)
        else:
            said = _own(turn, domain, informs, intends, towns)
        if said is None:
            return None
        indifferent = []
        for part in careless:
            text = turn.pick("any", part.place) or turn.pick("any", Place("@any", ""))
            if text is None:
                return None
            indifferent.append(Sentence(text, (part,)))
        # What was asked for is answered first.
        answers = bool(careless) and all(part.item.slot in found.asked for part in careless)
        made += indifferent + said if answers else said + indifferent
    return made


def _service(turn: Draft, informs: list[Part]) -> list[Sentence] | None:
    """Slots of a service: an answer where the system asked, else a sentence for each."""
    if not informs:
        return []
    asked = turn.plan.asked
    goal = any(item.kind == "goal" for item in turn.plan.items)
    if len(informs) == 1 and (informs[0].item.slot in asked) and not goal:
        text = turn.worded("short", informs[0]) or turn.worded("bsay", informs[0]) or turn.worded("say", informs[0])
        return None if text is None else [Sentence(text, (informs[0],))]
    return turn.says(informs)


def _own(turn: Draft, domain: str, informs: list[Part], intends: bool, towns: list[Part]) -> list[Sentence] | None:
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
    fresh = context.first or not context.state  # nothing was asked for so far that something is added to
    tag = "first" if fresh and not known else "new" if not known else "retry" if found.failed else "later"
    asked = found.asked
    booking = re.search(r"\b(?:book|booking|reserve|reservation|table)\b", turn.text, re.IGNORECASE) is not None
    if books and booking and found.offered and known:
        # "Book it for four on Saturday": the day of the train is a detail of the booking.
        books += [part for part in searched if part.place.slot == "day"]
        searched = [part for part in searched if part not in books]
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
    elif intends and not books and towns:
        said = turn.search(domain, towns, tag)
        if said is None:
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


__all__ = ["plan", "realise"]
