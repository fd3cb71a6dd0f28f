"""Hypothesis strategies: arbitrary dialogues that hold everything a record promises."""

from __future__ import annotations

import functools
from typing import Any, get_args

from hypothesis import strategies as st

from dialmill.schemas import Act, Dialogue, Edit, Goal, SkippedTurn, SlotName, SlotValues, Snippet, Span, Step, Turn
from dialmill.schemas.dialogue import SpanStatus
from dialmill.schemas.edits import edit_text

_WORDS = {
    "en": ["hotel", "east", "the", "I", "need", "17:30", "7", "café", "Lan Hong House", "don't", "centre", "£3", "🙂", "e\u0301"],
    "zh": ["我", "想", "找", "便宜", "酒店", "东边", "四重奏", "2010年代", "，", "7点半", "𠮷", "吗"],
}
_SLOTS = [("hotel", "area"), ("hotel", "name"), ("train", "leave at"), ("酒店", "价位")]
#: Text that UTF-8 can carry, astral characters, line ends and all.
_ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@functools.cache
def texts(language: str = "en") -> st.SearchStrategy[str]:
    """Utterances: field words mixed with any text whatever."""
    return st.lists(st.one_of(st.sampled_from(_WORDS[language]), _ANY_TEXT), max_size=8).map(("" if language == "zh" else " ").join)


@st.composite
def edits(draw: st.DrawFn, text: str, max_size: int = 4) -> tuple[Edit, ...]:
    """Sorted, disjoint edits over `text`, none of which touch; the result may equal the text."""
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=2 * max_size)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return tuple(Edit(start, end, draw(_ANY_TEXT)) for start, end in pairs)


@st.composite
def spans(draw: st.DrawFn, text: str) -> tuple[Span, ...]:
    """Spans of `text`, exact, some lost."""
    made = []
    for _ in range(draw(st.integers(0, 3))):
        (domain, slot), value, status = draw(_slots), draw(_ANY_TEXT), draw(_placed)
        if not text or status == "lost":
            made.append(Span(None, None, None, domain, slot, value, "lost"))
            continue
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, len(text)))
        made.append(Span(start, end, text[start:end], domain, slot, value, status))
    return tuple(made)


_slot_values = st.builds(
    lambda name, values: SlotValues(name[0], name[1], tuple(values)), st.sampled_from(_SLOTS), st.lists(_ANY_TEXT, min_size=1, max_size=3)
)
_acts = st.builds(
    lambda act, name, value: Act(act, name[0], name[1], value),
    st.sampled_from(["inform", "request"]),
    st.sampled_from(_SLOTS),
    st.none() | _ANY_TEXT,
) | st.just(Act("bye", "general"))
_snippets = st.builds(Snippet, st.just("hotel"), st.sampled_from(["*", "12"]), st.just("0"), st.none() | _ANY_TEXT, st.none() | _ANY_TEXT)
_goals = st.builds(
    lambda text, values: Goal(text, tuple(values), (), (), (SlotName("hotel", "phone"),)), _ANY_TEXT, st.lists(_slot_values, max_size=2)
)
#: What a step's options may be in `dialogues`, as `dialmill.schemas.arrow` takes it.
PARAMS: dict[str, Any] = {"rate": float, "tries": int, "values": str, "follow": bool}
_params = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "rate": st.floats(0, 1),
        "tries": st.integers(1, 9),
        "values": st.sampled_from(["protect", "follow"]),
        "follow": st.booleans(),
    },
)
_steps = st.builds(
    Step,
    st.sampled_from(["typos@1", "speech@3"]),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    _params,
    st.sampled_from(["changed", "skipped"]),
    st.lists(st.builds(SkippedTurn, st.integers(0, 5), st.just("no_edit_possible")), max_size=2).map(tuple),
    st.lists(st.just("high_wer"), max_size=1).map(tuple),
)


# Built once: a strategy costs more to make than to draw from.
_some_acts = st.lists(_acts, max_size=2).map(tuple)
_some_state = st.lists(_slot_values, max_size=2).map(tuple)
_some_labels = st.lists(st.sampled_from(["oos", "knowledge_seeking"]), max_size=1).map(tuple)
_some_knowledge = st.lists(_snippets, max_size=1).map(tuple)
_some_role = st.sampled_from([None, "assistant"])
_some_payload = st.sampled_from([None, '{"content": "\u4f60"}'])
_some_domains = st.lists(st.sampled_from(["hotel", "酒店"]), max_size=2, unique=True).map(tuple)
_some_steps = st.lists(_steps, max_size=2).map(tuple)
_maybe_goal = st.none() | _goals
_ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
_slots = st.sampled_from(_SLOTS)
_placed: st.SearchStrategy[SpanStatus] = st.sampled_from(get_args(SpanStatus))


@st.composite
def turns(draw: st.DrawFn, number: int, language: str = "en") -> Turn:
    """A turn, user and system alternating, perturbed or not."""
    source = draw(texts(language))
    changes: tuple[Edit, ...] = draw(edits(source))
    utterance = edit_text(source, changes)
    perturbed = utterance != source
    user = number % 2 == 0
    return Turn(
        turn=number,
        speaker="user" if user else "system",
        utterance=utterance,
        original=source if perturbed else None,
        spans=draw(spans(utterance)),
        acts=draw(_some_acts),
        state=draw(_some_state) if user else (),
        edits=changes if perturbed else (),
        labels=draw(_some_labels),
        knowledge=draw(_some_knowledge),
        role=draw(_some_role),
        payload=draw(_some_payload),
    )


@st.composite
def dialogues(draw: st.DrawFn, language: str | None = None, max_turns: int = 5) -> Dialogue:
    """Any valid record, spans and edits exact; Chinese or English where `language` is None."""
    language = language or draw(st.sampled_from(["en", "zh"]))
    source_id = draw(_ids)
    suite = draw(st.sampled_from(["standard", "typos", "disfluency+speech"]))
    variant = draw(st.integers(0, 3))
    return Dialogue(
        dialogue_id=f"{source_id}/{suite}/{variant}",
        source="multiwoz21",
        source_id=source_id,
        suite=suite,
        variant=variant,
        language=language,
        split=draw(st.sampled_from([None, "train", "valid", "test", "test_hard"])),
        domains=draw(_some_domains),
        turns=tuple(draw(turns(number, language)) for number in range(draw(st.integers(0, max_turns)))),
        goal=draw(_maybe_goal),
        lineage=draw(_some_steps),
    )
