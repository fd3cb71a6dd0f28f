"""Small dialogues for tests of rewriting, written for this project."""

from __future__ import annotations

from dialmill.schemas import Act, Dialogue, Span, Turn
from dialmill.schemas.dialogue import SlotValues


def user(number: int, text: str, *acts: Act, language: str = "en") -> Turn:
    """A user turn whose informed values are its state, and its spans where they stand in the text."""
    spans = []
    for act in acts:
        if act.act == "inform" and act.slot and act.value and act.value.lower() in text.lower():
            start = text.lower().index(act.value.lower())
            end = start + len(act.value)
            spans.append(Span(start, end, text[start:end], act.domain, act.slot, act.value))
    state = tuple(SlotValues(act.domain, act.slot, (act.value,)) for act in acts if act.act == "inform" and act.slot and act.value)
    return Turn(number, "user", text, spans=tuple(sorted(spans, key=lambda span: span.start or 0)), acts=acts, state=state)


def system(number: int, text: str, *acts: Act) -> Turn:
    """A system turn."""
    return Turn(number, "system", text, acts=acts)


def inform(domain: str, **slots: str) -> tuple[Act, ...]:
    """Inform acts."""
    return tuple(Act("inform", domain, slot, value) for slot, value in slots.items())


def dialogue(name: str, turns: list[tuple[object, ...]], language: str = "en", split: str | None = None) -> Dialogue:
    """A dialogue from (speaker, text, *acts)."""
    made = []
    for number, (speaker, text, *acts) in enumerate(turns):
        make = user if speaker == "user" else system
        made.append(make(number, str(text), *acts))  # type: ignore[arg-type]
    return Dialogue(dialogue_id=f"{name}/standard/0", source="test", source_id=name, language=language, turns=tuple(made), split=split)  # type: ignore[arg-type]


HOTELS = [
    dialogue(
        "d1",
        [
            ("user", "I need a cheap hotel in the north .", *inform("hotel", pricerange="cheap", area="north")),
            ("system", "The Elm House is nice . Shall I book it ?", Act("recommend", "hotel", "name", "Elm House")),
            ("user", "Can I have the phone number ?", Act("request", "hotel", "phone", None)),
            ("system", "It is 01223 123456 .", Act("inform", "hotel", "phone", "01223 123456")),
            ("user", "Thank you , that is all I need .", Act("thank", "general")),
        ],
        split="train",
    ),
    dialogue(
        "d2",
        [
            ("user", "Are we able to find an expensive place to stay in the east of town ?", *inform("hotel", pricerange="expensive", area="east")),
            ("system", "The Oak Court is nice .", Act("recommend", "hotel", "name", "Oak Court")),
            ("user", "What is its telephone number please ?", Act("request", "hotel", "phone", None)),
            ("system", "It is 01223 654321 .", Act("inform", "hotel", "phone", "01223 654321")),
            ("user", "Great . That 's everything , thanks for your help !", Act("thank", "general")),
        ],
        split="test",
    ),
    dialogue(
        "d3",
        [
            ("user", "Please find me a moderate hotel , located somewhere in the west .", *inform("hotel", pricerange="moderate", area="west")),
            ("system", "There is none .", Act("nooffer", "hotel")),
            ("user", "How about a cheap hotel in the south ?", *inform("hotel", pricerange="cheap", area="south")),
        ],
        split="train",
    ),
]
