"""Foreign augmenters: their noise becomes edits, their damage stays out, and the global generators stay as they were."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable

import pytest
from dialmill.perturbers import OptionError, get
from dialmill.perturbers.typing import foreign as foreign_module
from dialmill.perturbers.typing.foreign import Nlpaug, align, foreign, seeded
from dialmill.schemas import Act, Dialogue, Span, Turn
from dialmill.schemas.edits import check_edits, edit_text, invert
from hypothesis import given
from hypothesis import strategies as st


def dialogue(text: str, *values: str, source_id: str = "D1", language: str = "en") -> Dialogue:
    spans = tuple(Span(text.index(value), text.index(value) + len(value), value, "hotel", "name", value) for value in values)
    acts = tuple(Act("inform", "hotel", "name", value) for value in values)
    turn = Turn(turn=0, speaker="user", utterance=text, spans=spans, acts=acts)
    return Dialogue(dialogue_id=source_id, source="test", source_id=source_id, language=language, turns=(turn,))


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("it's 7:44, ok?", "it ' s 7: 44 , ok ?", "it's 7:44, ok?"),  # only blanks moved
        ("I need it\u00a0now", "I nead it now", "I nead it\u00a0now"),
        ("a  b\tc", "a x b c", "a x  b\tc"),
        ("a b c", "a c", "a c"),
        ("a b c", "b c", "b c"),
        ("a b c", "a b", "a b"),
        ("a b", "well , a b", "well , a b"),
        ("a b.", "a b really.", "a b really."),
        ("guest house", "guesthouse", "guesthouse"),
        ("hello", "", ""),
        ("", "hello", "hello"),
        ("?", "what?", "what?"),
        ("same", "same", "same"),
        ("near £20 now", "near £ $20 now", "near £$20 now"),
    ],
)
def test_alignment_changes_tokens_and_leaves_blanks(source: str, output: str, expected: str) -> None:
    edits = align(source, output)
    check_edits(len(source), edits)
    assert edit_text(source, edits) == expected
    assert edit_text(edit_text(source, edits), invert(source, edits)) == source


TEXT = st.text(st.sampled_from("ab1 .,'?\t中é_"), max_size=20)


@given(TEXT, TEXT)
def test_alignment_gives_the_tokens_of_the_output(source: str, output: str) -> None:
    edits = align(source, output)
    check_edits(len(source), edits)
    # Where whole tokens go, their neighbours may touch; the characters are those of the output all the same.
    assert "".join(edit_text(source, edits).split()) == "".join(output.split())


def test_what_touches_a_value_is_left_out_and_the_rest_stays() -> None:
    shout = foreign(str.upper, name="shout")
    turn = shout.perturb(dialogue("I want the Elm House for 5 at 17:30pm", "Elm House"), seed=1).turns[0]
    assert turn.utterance == "I WANT THE Elm House FOR 5 AT 17:30pm"
    assert turn.original == "I want the Elm House for 5 at 17:30pm"
    assert turn.spans[0].text == "Elm House"


def test_pieces_of_what_an_augmenter_took_apart_are_not_written() -> None:
    """Of two alike sentences the wrong one is taken for the first: what stands between is an insertion then, with the pieces in it."""
    apart = "pelase in dog ' it knows weather tat woks 1st \ufe0f \u20e3 pelase I don't know whether that works"
    source = "please I don't know whether that works 1\ufe0f\u20e3 please I don't know whether that works"
    made = foreign(lambda text: apart, name="apart", values="follow").perturb(dialogue(source), seed=1).turns[0]
    assert "1\ufe0f\u20e3" in made.utterance and " \ufe0f" not in made.utterance and " \u20e3" not in made.utterance


def test_follow_mode_lets_values_be_hit_and_says_so() -> None:
    swap = foreign(lambda text: text.replace("House", "Huose"), name="swap", values="follow")
    turn = swap.perturb(dialogue("I want the Elm House", "Elm House"), seed=1).turns[0]
    assert turn.utterance == "I want the Elm Huose"
    assert (turn.spans[0].text, turn.spans[0].status, turn.spans[0].value) == ("Elm Huose", "changed", "Elm House")


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda text: text, "no_edit_possible"),
        (lambda text: "  ".join(text.split()), "no_edit_possible"),
        (lambda text: "", "empty_output"),
        (lambda text: [], "empty_output"),
        (lambda text: text.replace("do not ", "do "), "negation_changed"),
    ],
)
def test_output_that_changes_nothing_or_breaks_a_label_is_skipped(function: Callable[[str], str], reason: str) -> None:
    variant = foreign(function, name="f").perturb(dialogue("i do not want that place"), seed=1)
    assert variant.turns[0].original is None
    assert [skip.reason for skip in variant.lineage[0].skipped] in ([reason], ["no_edit_possible"])


def test_a_wrapped_function_keeps_the_contract() -> None:
    wrapped = foreign(lambda text: [text + " please", "other"], name="polite", version=3, languages=["en"], strength=2)
    assert (wrapped.name, wrapped.version, wrapped.step) == ("polite", 3, "polite@3")
    assert wrapped.params == {"strength": 2, "values": "protect", "tries": 4}
    variant = wrapped.perturb(dialogue("book a room"), seed=5)
    assert variant.turns[0].utterance == "book a room please"
    assert variant.dialogue_id == "D1/polite/0" and variant.lineage[0].step == "polite@3"
    assert wrapped.perturb(dialogue("你好", language="zh"), seed=5).lineage[0].skipped[0].reason == "language_not_supported"


@pytest.mark.parametrize("name", ["", "Two Words", "../x", "a/b"])
def test_a_name_must_be_safe_in_keys_and_files(name: str) -> None:
    with pytest.raises(OptionError, match="lower-case letters"):
        foreign(str.upper, name=name)


def shuffled(text: str) -> str:
    """An augmenter that knows no other randomness than the global generators."""
    import numpy

    words = text.split()
    place = random.randrange(len(words))
    words[place] += "xyz"[int(numpy.random.randint(3))] * 2
    return " ".join(words)


def test_the_global_generators_are_seeded_from_the_key_and_put_back() -> None:
    import numpy

    shuffle = foreign(shuffled, name="shuffle")
    random.seed(1)
    numpy.random.seed(1)
    state, numpy_state = random.getstate(), numpy.random.get_state()[1].tolist()  # type: ignore[union-attr]
    texts = [shuffle.perturb(dialogue("some words to be hit by noise", source_id=f"D{i}"), seed=1).turns[0].utterance for i in range(40)]
    assert random.getstate() == state and numpy.random.get_state()[1].tolist() == numpy_state  # type: ignore[union-attr]
    assert len(set(texts)) > 10  # records get noise of their own
    random.seed(99)
    numpy.random.seed(99)
    again = [shuffle.perturb(dialogue("some words to be hit by noise", source_id=f"D{i}"), seed=1).turns[0].utterance for i in reversed(range(40))]
    assert again[::-1] == texts


def test_the_generators_are_put_back_after_an_error_too() -> None:
    state = random.getstate()
    with pytest.raises(RuntimeError), seeded(4):
        random.random()
        raise RuntimeError
    assert random.getstate() == state


def test_a_missing_engine_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    find = foreign_module.importlib.util.find_spec
    monkeypatch.setattr(foreign_module.importlib.util, "find_spec", lambda name: None if name == "nlpaug" else find(name))
    with pytest.raises(OptionError, match=r"pip install 'dialmill\[nlpaug\]'"):
        Nlpaug()


@pytest.mark.parametrize("options", [{"rate": 0}, {"rate": 2}, {"augmenter": "SynonymAug"}])
def test_wrong_options_of_nlpaug_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="nlpaug: "):
        Nlpaug(**options)  # type: ignore[arg-type]


SENTENCES = [
    "What's the phone number of B&B Elm House, i.e. the guesthouse near £20 (per night)?",
    "i'm looking for somewhere interesting which would be available around 7:44",
    "please recommend something with wonderful breakfast and great people",
]


@pytest.mark.parametrize("augmenter", ["KeyboardAug", "SpellingAug"])
def test_nlpaug_noise_comes_with_labels_and_blanks_intact(augmenter: str) -> None:
    pytest.importorskip("nlpaug")
    perturber = get("nlpaug").from_options({"augmenter": augmenter, "rate": "0.3"})
    changed = 0
    for seed in range(15):
        for text in SENTENCES:
            values = ["Elm House"] if "Elm" in text else []
            turn = perturber.perturb(dialogue(text, *values), seed).turns[0]
            if turn.original is None:
                continue
            changed += 1
            assert edit_text(turn.utterance, invert(text, turn.edits)) == text
            # SpellingAug writes other words that stand in the sentence too ("e" as "the"), and then "e. the" may be read as an insertion.
            assert augmenter == "SpellingAug" or turn.utterance.count(" ") == text.count(" ")
            for kept in ("B&B Elm House,", "20 (", "7:44"):
                assert (kept in turn.utterance) == (kept in text)
    assert changed > 35


def test_nlpaug_gives_the_same_noise_whatever_the_hash_seed_and_the_order() -> None:
    # nlpaug's SpellingAug alone gives three files for PYTHONHASHSEED 0, 1 and 2.
    pytest.importorskip("nlpaug")
    program = (
        "from tests.perturbers.test_foreign import *\n"
        "print(ascii([Nlpaug(augmenter='SpellingAug').perturb(dialogue(text), 3).turns[0].utterance for text in SENTENCES]))"
    )
    environment = {"PYTHONHASHSEED": "2", "PYTHONPATH": "."}
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    here = [Nlpaug(augmenter="SpellingAug").perturb(dialogue(text), 3).turns[0].utterance for text in reversed(SENTENCES)]
    assert result.stdout.strip() == ascii(here[::-1])
