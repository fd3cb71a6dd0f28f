"""What the MultiWOZ releases share: names of slots and domains, acts, span entries, goals.

Acts and spans name slots in another way than belief states do ("Dest" and "destination"). Here both speak the state's language, lower case; slots
that no state has (reference numbers, addresses, ...) keep their own name, lower case.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources import normalise
from dialmill.pipelines.sources.reading import Notes, json_kind
from dialmill.pipelines.sources.spans import Claim, prove
from dialmill.schemas import Act, Goal, SlotName, SlotValues, Turn
from dialmill.schemas.dialogue import DONTCARE

#: The domains of MultiWOZ, without the pseudo-domains general and booking, and without bus, which no dialogue is about.
DOMAINS = frozenset({"attraction", "hospital", "hotel", "police", "restaurant", "taxi", "train"})

_JOURNEY = {"dest": "destination", "depart": "departure", "leave": "leaveat", "arrive": "arriveby"}

#: (domain, slot as acts and spans have it, lower case) -> the state's name, where they differ.
_ALIASES: dict[tuple[str, str], str] = {
    **{(domain, slot): name for domain in ("train", "taxi", "bus") for slot, name in _JOURNEY.items()},
    **{(domain, "price"): "pricerange" for domain in ("hotel", "restaurant")},
    **{("hotel", slot): f"book {slot}" for slot in ("people", "day", "stay")},
    **{("restaurant", slot): f"book {slot}" for slot in ("people", "day", "time")},
    # Booking acts speak of the hotel or restaurant in hand.
    **{("booking", slot): f"book {slot}" for slot in ("people", "day", "stay", "time")},
    ("train", "people"): "book people",
}

#: Every slot name that occurs in states, acts and goals of the releases; a name beyond these is reported.
SLOTS = frozenset(
    (
        "address",
        "addr",
        "area",
        "arriveby",
        "arrive",
        "car",
        "car type",
        "choice",
        "day",
        "depart",
        "departure",
        "department",
        "dest",
        "destination",
        "duration",
        "entrance fee",
        "entrancefee",
        "fee",
        "food",
        "id",
        "internet",
        "leave",
        "leaveat",
        "name",
        "none",
        "open",
        "openhours",
        "parking",
        "people",
        "phone",
        "post",
        "postcode",
        "price",
        "pricerange",
        "ref",
        "reference",
        "stars",
        "stay",
        "ticket",
        "time",
        "trainid",
        "type",
        "book people",
        "book day",
        "book stay",
        "book time",
        "book ticket",
        "bookpeople",
        "bookday",
        "bookstay",
        "booktime",
    )
)


@lru_cache(maxsize=1 << 12)
def slot_name(domain: str, slot: str) -> str:
    """The state's name of a slot of an act or span; `domain` in lower case."""
    low = " ".join(slot.lower().split())
    return _ALIASES.get((domain, low), low)


@lru_cache(maxsize=1 << 12)
def act_name(label: str) -> tuple[str, str]:
    """(act, domain) of "Hotel-Inform" or "Booking-Request-Specify", lower case. A label without a hyphen is an act of domain general."""
    domain, hyphen, act = label.strip().lower().partition("-")
    return (act, domain) if hyphen else (domain, "general")


@lru_cache(maxsize=1 << 16)
def _acts(label: str, slot: str, value: str) -> tuple[tuple[Act, ...], str | None]:
    """The act of one pair, or one for each of several values ("17:30|16:30"), and what is to be noted about it."""
    act, domain = act_name(label)
    name = slot_name(domain, slot)
    if name in ("none", ""):
        return (Act(act, domain),), None
    note = None
    if name not in SLOTS:
        # Some copies of the corpus have slot and value in each other's place: counted, and left as they are.
        note = "slot_value_swapped" if slot_name(domain, value) in SLOTS - {"none"} else "slot_unknown"
    said = () if value == "?" or act == "request" else normalise.text_values(value)
    return tuple(Act(act, domain, name, one) for one in said or (None,)), note


def read_acts(dialog_act: dict[str, Any], where: str, notes: Notes) -> tuple[Act, ...]:
    """The acts of one turn: {"Hotel-Inform": [["Area", "east"], ...], ...}, in their order, without repeats.

    An entry that isn't a pair of slot and value gives an act without a slot and is noted (`act_malformed`).

    Raises:
        RecordError: `wrong_type`.
    """
    acts: list[Act] = []
    for label, pairs in dialog_act.items():
        if type(pairs) is not list:
            raise RecordError("wrong_type", f"{where}.{label}: expected an array of [slot, value], found {json_kind(pairs)}")
        if not pairs:
            acts += _acts(label, "none", "none")[0]
        for pair in pairs:
            slot, value = pair if type(pair) is list and len(pair) == 2 else (None, None)
            if type(slot) is not str:
                notes.add("act_malformed")
                acts += _acts(label, "none", "none")[0]
                continue
            for one in value if type(value) is list else (value,):
                said = one if type(one) is str else normalise.scalar_text(one)
                if said is None:
                    notes.add("act_malformed")
                    said = "none"
                found, note = _acts(label, slot, said)
                if note is not None:
                    notes.add(note)
                acts += found
    return tuple(acts) if len(acts) < 2 else tuple(dict.fromkeys(acts))


@lru_cache(maxsize=1 << 16)
def _said(label: str, slot: str, value: str) -> tuple[str, str, tuple[str, ...]]:
    domain = act_name(label)[1]
    return domain, slot_name(domain, slot), () if value == "?" else normalise.text_values(value)


def read_claim(text: str, entry: tuple[str, str, str], start: int, end: int) -> Claim | None:
    """What a span entry (act label, slot, value) claims about ``text[start:end]``; None where its value is none ("?", "none").

    Of several values ("17:30|16:30") it is the one that stands there.
    """
    domain, slot, said = _said(*entry)
    if not said:
        return None
    one = said[0] if len(said) == 1 else next((one for one in said if prove(text, start, end, one)), said[0])
    return Claim(domain, slot, one, start, end)


@lru_cache(maxsize=1 << 12)
def state_slot(section: str, slot: str) -> str:
    """The name of a slot of ``metadata``: those of the booking are called "book people" and so on, as in the release's ontology."""
    low = slot.lower()
    return f"book {low}" if section == "book" and not low.startswith("book ") else low


@lru_cache(maxsize=1 << 16)
def state_entry(domain: str, section: str, slot: str, raw: str) -> SlotValues | None:
    """One cell of a belief state, None if it holds no value."""
    found = normalise.text_values(raw)
    return SlotValues(domain.lower(), state_slot(section, slot), found) if found else None


def read_goal(goal: dict[str, Any], where: str = "goal") -> Goal:
    """The user's goal. Slots have the state's names, those of the booking "book people" and so on; flags such as `invalid` are left out.

    Raises:
        RecordError: `wrong_type`.
    """
    parts: dict[str, list[SlotValues]] = {"inform": [], "book": [], "fail": []}
    request: list[SlotName] = []
    for domain, wanted in goal.items():
        if domain in ("message", "topic") or not wanted:
            continue
        if type(wanted) is not dict:
            raise RecordError("wrong_type", f"{where}.{domain}: expected an object, found {json_kind(wanted)}")
        low = domain.lower()
        for key, part, section in _GOAL_PARTS:
            slots = wanted.get(key)
            if not slots:
                continue
            if type(slots) is not dict:
                raise RecordError("wrong_type", f"{where}.{domain}.{key}: expected an object, found {json_kind(slots)}")
            for slot, value in slots.items():
                if slot in ("invalid", "pre_invalid"):
                    continue
                found = normalise.text_values(value) if type(value) is str else normalise.values(value, f"{where}.{domain}.{key}.{slot}")
                if found:
                    parts[part].append(SlotValues(low, state_slot(section, slot), found))
        asked = wanted.get("reqt")
        if asked:
            if type(asked) not in (list, dict) or not all(isinstance(slot, str) for slot in asked):
                raise RecordError("wrong_type", f"{where}.{domain}.reqt: expected an array of strings, found {json_kind(asked)}")
            request.extend(SlotName(low, slot.lower()) for slot in asked)
    text = goal_text(goal.get("message"), f"{where}.message")
    return Goal(text, tuple(parts["inform"]), tuple(parts["book"]), tuple(parts["fail"]), tuple(request))


#: Key of a goal's domain, field of `Goal`, and the section of a state that has the same slots.
_GOAL_PARTS = (("info", "inform", "semi"), ("book", "book", "book"), ("fail_info", "fail", "semi"), ("fail_book", "fail", "book"))
_TAG = re.compile(r"<[^<>]*>")


def goal_text(message: Any, where: str) -> str:
    """The instruction in words, without HTML.

    Raises:
        RecordError: `wrong_type`.
    """
    lines = message if isinstance(message, list) else [message] if message is not None else []
    if not all(isinstance(line, str) for line in lines):
        raise RecordError("wrong_type", f"{where}: expected an array of strings")
    return " ".join(html.unescape(_TAG.sub("", " ".join(lines))).split())


def order_domains(wanted: Iterable[str], turns: Sequence[Turn]) -> tuple[str, ...]:
    """The domains of a dialogue, in the order in which the talk comes to them; those it never names stand last, sorted.

    Args:
        wanted: what the release says the dialogue is about; where that is nothing, the domains of acts and states stand in.
        turns: the parsed turns.
    """
    named: dict[str, None] = {}
    seen: tuple[SlotValues, ...] = ()
    for turn in turns:
        for act in turn.acts:
            named[act.domain] = None
        if turn.state is not seen and turn.speaker == "user":
            seen = turn.state
            for entry in seen:
                named[entry.domain] = None
    talk = [name for name in named if name in DOMAINS]
    about = sorted(name for name in wanted if name in DOMAINS)
    return tuple(dict.fromkeys([*(name for name in talk if name in about), *about] if about else talk))


def locatable(value: str | None) -> bool:
    """Whether a value could stand in a text as it is: "yes", "no" and "dontcare" say something about it, and are not looked for."""
    return value is not None and value not in (DONTCARE, "yes", "no")


_NOT = r"\b(?:not|never|unable|cannot|failed|(?:do|does|did|is|are|was|were|ca|could|wo|have|has) ?n.?t)\b"
#: What systems say of a booking that failed. Releases write "was n't", "wasn't" and "wasnt".
_BOOKING_FAILED = re.compile(
    r"(?<!you are )(?<!you 're )(?<!you're )\b(?:fully booked|booked (?:up|solid))\b"
    r"|\b(?:they (?:are|were)|they ?'re|(?<!you )(?<!your )(?:are|were) (?:all|both)) (?:all |both |already )?booked\b"
    r"|\bis all booked for (?:that|those)\b"
    r"|\b(?:unable|unsuccessful|not (?:been )?(?:able|successful)|could ?n.?t|can ?n.?t|cannot)\b[^.?!]*\bbook"
    rf"|{_NOT} (?:been |be )?(?:able|let me|accept)\b[^.?!]*\b(?:accommodate|book|reserv\w+)\b"
    rf"|\b(?:unable to|could ?not|could ?n.?t|can ?not|ca ?n.?t) (?:accommodate|handle|complete)\b"
    r"|\bbook\w*[^.?!]*\b(?:unavailable|unsuccessful|failed|not (?:available|successful|possible))\b"
    r"|\b(?:was|were|is) (?:also )?(?:unsuccessful|not successful)\b|\bdid ?(?:not|n.?t) (?:go through|work(?: either)?)\b"
    r"|\bno (?:rooms?|tables?) (?:are |is )?(?:free|left|available)\b|\bno vacanc|\bsold out\b"
    r"|\b(?:unable|not able|could ?n.?t|cannot|can ?n.?t) (?:to )?(?:get|make|find|reserve) (?:you )?(?:a |an |the |that |this )?"
    r"(?:room|table|reservation|seat|booking)\b"
    r"|\b(?:hotel|restaurant|guest ?house|place|it|they) (?:is|are) (?:already |all |completely )?full\b(?! (?:of|english|board|service|-))",
    re.IGNORECASE,
)
#: Nothing is available: of a booking where the time, the stay or what is booked is named.
_NOTHING = re.compile(
    rf"(?:\b(?:no|none|nothing|neither)\b|{_NOT})[^.?!]*\b(?:availab\w+|openings?|open (?:tables?|rooms?|reservations?))\b|\bunavailable\b",
    re.IGNORECASE,
)
_TO_BOOK = re.compile(
    r"\b(?:another|different|earlier|later) (?:day|date|time|slot|stay|length|booking)|\bshorter\b|\btime ?(?:slot|frame)|\bnights?\b"
    r"|\b(?:that|those|this|chosen) (?:specific |particular )?(?:day|date|time|stay|night|length)s?\b"
    r"|\b(?:tables?|rooms?|seats?|reservations?|bookings?) (?:for|on|at)\b",
    re.IGNORECASE,
)
_REFERENCE, _NUMBER = re.compile(r"\breference\b", re.IGNORECASE), re.compile(r"\b(?=\w*\d)[A-Z0-9]{6,10}\b", re.IGNORECASE)
_BOOKED, _NOT_BOOKED = frozenset({"book", "offerbooked"}), "nobook"


def _refuses(text: str) -> bool:
    """Whether a system turn says that a booking failed."""
    return _BOOKING_FAILED.search(text) is not None or (_NOTHING.search(text) is not None and _TO_BOOK.search(text) is not None)


def unforeseen_failure(goal: Mapping[str, Any], turns: Sequence[Turn]) -> bool:
    """Whether the goal has bookings with nothing to fall back on (no ``fail_book``, no ``fail_info``), and the last word of the system on booking is
    that it failed: goal, acts and text then don't tell the same story, and what presupposes the booking is false."""
    parts = {domain.lower(): part for domain, part in goal.items() if isinstance(part, dict) and part.get("book")}
    if not parts or any(part.get("fail_book") or part.get("fail_info") for part in parts.values()):
        return False
    failed: set[str] = set()
    about = ""
    for turn in turns:
        # Acts of booking name no domain: it is the one that was spoken of last.
        about = next((act.domain for act in reversed(turn.acts) if act.domain in parts), about)
        if turn.speaker != "system":
            continue
        booked = _REFERENCE.search(turn.utterance) is not None
        refused = _refuses(turn.utterance) or any(act.act == _NOT_BOOKED for act in turn.acts)
        if booked and not _NUMBER.search(turn.utterance):
            continue
        if refused and not booked:
            failed.add(about)
        elif booked or any(act.act in _BOOKED for act in turn.acts):
            failed -= {about, ""} if about else failed
    return bool(failed)
