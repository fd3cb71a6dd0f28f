"""The contract of a perturber: draw, apply, certify, retry, and a reason for every turn left alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from dialmill.perturbers import Chain, OptionError, Perturber, Skipped, TurnPerturber, get, names, parse, variants
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import View
from dialmill.schemas import Act, Dialogue, Edit, Span, Turn


def dialogue(*utterances: str, source_id: str = "D1", language: str = "en", split: str | None = None) -> Dialogue:
    turns = tuple(Turn(turn=place, speaker="user" if place % 2 == 0 else "system", utterance=utterance) for place, utterance in enumerate(utterances))
    return Dialogue(dialogue_id=source_id, source="test", source_id=source_id, language=language, turns=turns, split=split)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Append(TurnPerturber):
    """Appends one of its words, drawn at random."""

    words: tuple[str, ...] = ("indeed", "surely", "truly", "verily")
    drawn: list[tuple[object, ...]] = field(default_factory=list, compare=False)
    name: ClassVar[str] = "append"
    languages: ClassVar[frozenset[str]] = frozenset({"en"})

    @property
    def params(self) -> dict[str, Any]:
        return {"values": self.values}

    def draw(self, view: View, rng: Rng) -> str | Skipped:
        word = rng.choice(self.words) if self.words else ""
        self.drawn.append((view.turn.turn, word))
        return word or Skipped("nothing_to_say")

    def apply(self, view: View, drawn: str) -> Sequence[Edit]:
        end = len(view.turn.utterance)
        return [Edit(end, end, drawn if drawn.isspace() else " " + drawn)]


@dataclass(frozen=True)
class Destroy(TurnPerturber):
    """Overwrites the first span, which no check lets pass."""

    calls: list[int] = field(default_factory=list, compare=False)
    name: ClassVar[str] = "destroy"

    @property
    def params(self) -> dict[str, Any]:
        return {}

    def draw(self, view: View, rng: Rng) -> None:
        self.calls.append(view.turn.turn)

    def apply(self, view: View, drawn: None) -> Sequence[Edit]:
        span = view.turn.spans[0]
        assert span.start is not None and span.end is not None
        return [Edit(span.start, span.end, "xyzzy")]


def test_a_variant_is_a_new_record_that_says_what_was_done() -> None:
    source = dialogue("i need a room", "when ?", "on friday", split="test")
    variant = Append().perturb(source, seed=3, variant=2)
    assert source == dialogue("i need a room", "when ?", "on friday", split="test")
    assert variant.dialogue_id == "D1/append/2"
    assert (variant.suite, variant.variant, variant.split, variant.source_id) == ("append", 2, "test", "D1")
    assert variant.turns[0].utterance.startswith("i need a room ")
    assert variant.turns[0].original == "i need a room"
    assert variant.turns[1] == source.turns[1]
    (step,) = variant.lineage
    assert (step.step, step.seed, step.params, step.outcome, step.skipped) == ("append@1", 3, {"values": "protect"}, "changed", ())


def test_the_same_key_gives_the_same_variant_and_every_part_of_it_counts() -> None:
    source = dialogue(*["i need a room", "ok"] * 10)
    texts = [turn.utterance for turn in Append().perturb(source, seed=1).turns]
    assert [turn.utterance for turn in Append().perturb(source, seed=1).turns] == texts
    others = [
        Append().perturb(source, seed=2),
        Append().perturb(source, seed=1, variant=1),
        Append().perturb(dialogue(*["i need a room", "ok"] * 10, source_id="D2"), seed=1),
    ]
    for other in others:
        assert [turn.utterance for turn in other.turns] != texts
    assert len(set(texts)) > 2  # the turn is part of the key too


def test_a_turn_without_a_choice_is_skipped_with_the_reason_of_the_draw() -> None:
    perturber = Append(words=(), tries=3)
    variant = perturber.perturb(dialogue("i need a room", "ok", "bye"), seed=1)
    assert variant.turns == dialogue("i need a room", "ok", "bye").turns
    assert [(skip.turn, skip.reason) for skip in variant.lineage[0].skipped] == [(0, "nothing_to_say"), (2, "nothing_to_say")]
    assert variant.lineage[0].outcome == "skipped"
    assert len(perturber.drawn) == 6  # three tries for each


def test_blanks_alone_are_no_change() -> None:
    # The text equals its source after normalising blanks.
    variant = Append(words=(" ", "  ")).perturb(dialogue("i need a room"), seed=1)
    assert variant.turns[0].original is None
    assert [skip.reason for skip in variant.lineage[0].skipped] == ["no_edit_possible"]


def test_a_draw_that_fails_the_checks_is_drawn_again_then_skipped_with_the_failed_check() -> None:
    span = Span(10, 15, "cheap", "hotel", "price", "cheap")
    turn = Turn(turn=0, speaker="user", utterance="i want a  cheap room", spans=(span,), acts=(Act("inform", "hotel", "price", "cheap"),))
    source = dialogue("x").replace(turns=(turn,))
    perturber = Destroy(tries=3)
    variant = perturber.perturb(source, seed=1)
    assert variant.turns == source.turns
    assert len(perturber.calls) == 3
    assert variant.lineage[0].skipped[0].reason.startswith("value_lost")


def test_a_language_that_a_perturber_does_not_speak_is_a_reason() -> None:
    variant = Append().perturb(dialogue("你好", "您好", language="zh"), seed=1)
    assert [(skip.turn, skip.reason) for skip in variant.lineage[0].skipped] == [(0, "language_not_supported")]


def test_a_chain_runs_its_links_in_turn_and_names_them_all() -> None:
    chain = Chain(links=(Append(words=("surely",)), Append(words=("truly",))))
    variant = chain.perturb(dialogue("i need a room"), seed=1)
    assert variant.turns[0].utterance == "i need a room surely truly"
    assert variant.turns[0].original == "i need a room"
    assert variant.dialogue_id == "D1/append+append/0"
    assert [step.step for step in variant.lineage] == ["append@1", "append@1"]


def test_variants_differ_pairwise_or_say_why_they_are_missing() -> None:
    made = list(variants(Append(words=("indeed", "surely")), dialogue("i need a room"), seed=1, count=8))
    texts = [one.turns[0].utterance for one in made if isinstance(one, Dialogue)]
    assert len(texts) == len(set(texts)) == 2
    assert [one.reason for one in made if isinstance(one, Skipped)] == ["duplicate_variant"] * 6
    assert list(variants(Append(words=()), dialogue("hm"), seed=1, count=2)) == [Skipped("nothing_to_say")] * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("typoz", "the known ones are: .*typos"),
        ("typos@99", "typos@99 is not available; this release has typos@"),
        ("typos:rat=0.1", "its options are: rate, real_words, style, tries, values"),
        ("typos:rate=fast", "rate must be a number above 0 and at most 1, not .fast."),
        ("typos:rate=0", "rate must be a number above 0"),
        ("typos:rate=1.5", "at most 1"),
        ("typos:style=loud", "style must be one of typing, chat, mixed"),
        ("typos:values=drop", "values must be one of protect, follow"),
        ("typos:tries=0", "tries must be a whole number of at least 1"),
        ("typos:rate", "expected option=value"),
    ],
)
def test_a_wrong_option_is_an_error_that_lists_the_right_ones(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        parse(text)


def test_options_come_as_text_or_typed() -> None:
    assert parse("typos:rate=0.2,style=chat").perturber == get("typos").from_options({"rate": 0.2, "style": "chat"})
    assert parse("typos@3:name=noisy").name == "noisy"
    assert parse("typos+typos:rate=0.3").name == "typos+typos"


@pytest.mark.parametrize("name", names())
def test_every_perturber_is_a_frozen_dataclass_with_the_name_it_is_registered_by(name: str) -> None:
    kind = get(name)
    assert kind.name == name and kind.version >= 1
    perturber: Perturber = kind()
    with pytest.raises(AttributeError):
        perturber.values = "follow"  # type: ignore[attr-defined]
