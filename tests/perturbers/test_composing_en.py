"""The English composer: its bank, what it refuses, and what must hold of every turn that it words."""

from __future__ import annotations

import re

import pytest
from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import VALUE_CLASSES, Locator, signals
from dialmill.perturbers.rewording import loose, telling
from dialmill.perturbers.rewording.composed import as_turn
from dialmill.perturbers.rewording.composer.bank import SHARES, BankError, Clause, Section, load, parse, voices_in_order, words_of
from dialmill.perturbers.rewording.composer.compose import compose, speaker
from dialmill.perturbers.rewording.composer.partial import rest_of, whole
from dialmill.perturbers.rewording.composer.plan import STYLES, Composed, Context, Refusal
from dialmill.perturbers.rewording.paraphrase import Paraphrase
from dialmill.perturbers.rewording.verbosity import Verbosity
from dialmill.schemas import Act, Dialogue, Turn
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import damaged_values, misaligned_spans, unreverted_edits
from tests.strategies import dialogues
from tests.talk import dialogue, inform

_BANK = load("en")


def _sections() -> list[tuple[Section, tuple[Clause, ...]]]:
    return sorted(_BANK.sections.items())


def _contexts(talk: Dialogue) -> list[Context]:
    locator = Locator(talk)
    return [Context(locator.view(turn), talk.turns[place - 1] if place else None) for place, turn in enumerate(talk.turns) if turn.speaker == "user"]


def _made(talk: Dialogue, place: int = 0, style: str = "same", voice: str = "plain", seed: int = 1, half: str = "") -> Composed | Refusal:
    return compose(_contexts(talk)[place], speaker("en", voice, half), Rng(seed), style)


def test_the_bank_is_as_large_as_asked() -> None:
    assert len(_BANK.clauses()) >= 2500
    assert sum(len(found) for section, found in _sections() if section.kind == "why") >= 400


def test_every_place_of_a_clause_has_a_meaning_there() -> None:
    """A heading that lost its clauses takes those of the next one: "Book {NP}, please." below a yes would be said as it stands."""
    places = {"open": {"NP"}, "bookframe": {"B"}, "askframe": {"L"}, "wish": {"I"}, "goahead": {"I"}}
    for section, clauses in _sections():
        for clause in clauses:
            assert set(re.findall(r"\{([A-Z]+)\}", clause.text)) == places.get(section.kind, set()), (section, clause.text)


def test_no_clause_brings_a_value_of_its_own() -> None:
    """Words of the closed lexicon are values: a clause with one would add it. What a facility or an intent is called is no value."""
    for section, clauses in _sections():
        for clause in clauses:
            text = re.sub(r"\{[^}]*\}", "", clause.text)
            found = {signal.value for signal in signals(text, "en", Cut(text, "en")) if signal.kind in VALUE_CLASSES} - {"vegetarian"}
            assert not found or section.kind == "do", (section, clause.text)


def test_no_wording_is_in_both_halves_and_both_can_say_everything() -> None:
    halves: dict[str, str] = {}
    for section, clauses in _sections():
        for clause in clauses:
            assert halves.setdefault(words_of(clause.text), clause.half) == clause.half
        if len({clause.key for clause in clauses}) > 7:
            assert {clause.half for clause in clauses} == {"train", "test"}, section


@pytest.mark.parametrize(("kind", "cue"), [("thank", "thank"), ("thankend", "thank"), ("thankmeh", "thank"), ("bye", "bye"), ("yes", "confirm")])
def test_clauses_show_their_act(kind: str, cue: str) -> None:
    words = {name: set(alternatives(cell)) for name, cell in rows("en", "cues")}[cue]
    for clause in _BANK.find(kind):
        assert words & set(re.findall(r"\w+", clause.text.lower())), clause.text


def test_clauses_ask_for_their_slot() -> None:
    cues = {name: set(words.split()) for name, words in rows("en", "composer_words") if name.startswith("ask:")}
    for section, clauses in _sections():
        if section.kind in ("ask", "item"):
            words = cues.get(f"ask:{section.slot or section.domain}")
            for clause in clauses:
                assert words is None or words & set(re.findall(r"\w+", clause.text.lower())), (section, clause.text)


def test_a_bank_says_where_it_cannot_be_read() -> None:
    with pytest.raises(BankError, match=r"x\.txt, line 1"):
        list(parse("no heading above me", "x.txt"))
    with pytest.raises(BankError, match="no voice has the letter 'q'"):
        list(parse("[thank]\nq|Thanks.", "x.txt"))


def test_variants_of_a_dialogue_differ_in_voice() -> None:
    assert sorted(voices_in_order((1, "d"))) == sorted(SHARES)
    assert len({voices_in_order((1, str(number)))[0] for number in range(60)}) > 4


_TALK = dialogue(
    "en",
    [
        (
            "user",
            "I need a cheap restaurant in the north that serves indian food .",
            *inform("restaurant", pricerange="cheap", area="north", food="indian"),
        ),
        ("system", "Royal Spice is one . Shall I book it ?", Act("recommend", "restaurant", "name", "Royal Spice"), Act("offerbook", "restaurant")),
        ("user", "Yes , book a table for 4 people on friday .", *inform("restaurant", **{"book people": "4", "book day": "friday"})),
        ("system", "Booked . Anything else ?", Act("reqmore", "general")),
        ("user", "What is the postcode and the phone number ?", Act("request", "restaurant", "post"), Act("request", "restaurant", "phone")),
        ("system", "CB4 3BA . Anything else ?", Act("reqmore", "general")),
        ("user", "No , that is all , thank you .", Act("thank", "general")),
    ],
)


@given(
    st.integers(0, 3),
    st.sampled_from(sorted(SHARES)),
    st.integers(0, 10_000),
    st.sampled_from(("", "train", "test")),
    st.sampled_from(STYLES),
)
def test_values_stand_exact_and_acts_are_kept(place: int, voice: str, seed: int, half: str, style: str) -> None:
    made = _made(_TALK, place, style, voice, seed, half)
    if style == "more" and place == 3:
        assert isinstance(made, Refusal)
        return
    assert isinstance(made, Composed), made
    context = _contexts(_TALK)[place]
    turn = context.view.turn
    for spot in made.placed:
        assert made.text[spot.start : spot.end] == turn.utterance[spot.source_start : spot.source_end]
    assert not re.search(r"[{}~\u1200-\u12ff]|  |\ba [aeio]\w*\b(?! of)", made.text), made.text
    variant = as_turn(context.view, made)
    assert isinstance(variant, Turn)
    assert not damaged_values(turn, variant) and not misaligned_spans(turn, variant) and not unreverted_edits(turn, variant)
    low = made.text.lower()
    if place == 2:
        assert re.search("postcode", low) and re.search("phone|number|call", low)
    if place == 3:
        assert re.search(r"\b(?:thank|thanks|thx|ta|cheers|ty|tysm|appreciate|obliged)\w*\b", low)


@pytest.mark.parametrize(
    ("text", "acts", "reason"),
    [
        ("I want the same restaurant in the north .", inform("restaurant", area="north"), "unlabelled: same"),
        ("A room for 3 people in the north please .", inform("hotel", area="north"), "unlabelled"),
        ("I need it in the north if that has free wifi .", inform("hotel", area="north"), "unlabelled"),
        ("I 'll be there 4 nights in the north .", inform("hotel", **{"area": "north", "book people": "4"}), "unlabelled: nights"),
        ("I do not want the north .", inform("hotel", area="north"), "unlabelled: not"),
        ("That is a hotel , right ? I 'd like the north .", inform("hotel", area="north"), "unlabelled: right"),
        ("I want a room just for me in the north .", inform("hotel", area="north"), "unlabelled"),
        ("I already got the address , thank you .", (Act("request", "hotel", "addr"),), "unlabelled: has"),
        ("Take me from ely .", inform("train", destination="ely"), "unlabelled: from"),
        ("Hello there , can you help ?", (Act("request", "hotel", "phone"),), "request_unsaid: phone"),
    ],
)
def test_what_no_label_says_is_refused(text: str, acts: tuple[Act, ...], reason: str) -> None:
    made = _made(dialogue("x", [("user", text, *acts)]))
    assert isinstance(made, Refusal) and made.reason.startswith(reason), made


_OFFERED = ("system", "I have the Ashley . Does that suit ?", Act("recommend", "hotel", "name", "Ashley"))
_OPENS = ("user", "A hotel .", Act("inform", "hotel"))


def test_a_question_on_an_offer_stays_a_question() -> None:
    talk = dialogue("en", [_OPENS, _OFFERED, ("user", "Is it in the north ?", *inform("hotel", area="north"))])
    for seed in range(8):
        made = _made(talk, 1, seed=seed)
        assert isinstance(made, Composed) and re.search(r"\?|whether|\bif\b", made.text), made


def test_an_offer_is_booked_and_no_search_begun() -> None:
    talk = dialogue("en", [_OPENS, _OFFERED, ("user", "Please make me a reservation .", Act("inform", "hotel"))])
    for seed in range(8):
        made = _made(talk, 1, seed=seed)
        assert isinstance(made, Composed) and re.search("book|reserv|put my name|kept", made.text.lower()), made


def test_an_offer_that_is_named_and_booked_is_booked_whatever_its_label() -> None:
    acts = (Act("inform", "hotel"), *inform("hotel", name="Ashley"))  # as MultiWOZ labels it: a search
    talk = dialogue("en", [_OPENS, _OFFERED, ("user", "Ashley sounds good , will you book it for me ?", *acts)])
    for seed in range(8):
        made = _made(talk, 1, seed=seed)
        assert isinstance(made, Composed) and "Ashley" in made.text, made
        assert re.search("book|reserv|put my name|kept|set up", made.text.lower()), made


def test_a_first_turn_that_books_by_name_books() -> None:
    acts = inform("hotel", **{"name": "Ashley", "book people": "6", "book stay": "5"})
    talk = dialogue("en", [("user", "I 'm interested in the Ashley . I need a reservation for 6 people for 5 nights .", *acts)])
    for seed in range(8):
        made = _made(talk, seed=seed)
        assert isinstance(made, Refusal) or re.search("book|reserv", made.text.lower()), made


def test_no_is_said_once() -> None:
    talk = dialogue("en", [_OPENS, ("system", "Do you need anything else ?"), ("user", "No , that is all . Thank you .", Act("thank", "general"))])
    made = [made.text for seed in range(20) for style in ("same", "less") if isinstance(made := _made(talk, 1, style, seed=seed), Composed)]
    assert made and all(len(re.findall(r"(?i)\b(?:no|nope|nah)\b", text)) < 2 for text in made), made


def test_circumstances_open_a_search_and_stand_beside_no_reason() -> None:
    asked = ("user", "In the north please .", *inform("hotel", area="north"))
    told = {clause.text for clause in _BANK.find("circ", "hotel")} | {clause.text for clause in _BANK.find("circ", "*")}
    reasons = {clause.text for clause in _BANK.find("why", "hotel", "area")}
    opening, further = dialogue("en", [asked]), dialogue("en", [_OPENS, ("system", "I have many ."), asked])
    for seed in range(20):
        for talk, place in ((opening, 0), (further, 1)):
            made = _made(talk, place, "more", seed=seed)
            if isinstance(made, Composed):
                sentences = re.split(r"(?<=[.?!]) ", made.text.replace(" .", ".").replace(" '", "'").replace(" n't", "n't"))
                circumstances = [one for one in sentences if one in told]
                assert not circumstances or not (place or [one for one in sentences if one in reasons]), made.text


def test_sentences_without_labels_stay_and_the_others_are_composed() -> None:
    asked = ("user", "I prefer the same area . It should be cheap .", *inform("hotel", pricerange="cheap"))
    context = _contexts(dialogue("en", [_OPENS, ("system", "Which ?"), asked]))[1]
    rest = rest_of(context)
    assert rest is not None and rest.context.view.turn.utterance == "It should be cheap ."
    made = compose(rest.context, speaker("en"), Rng(1), "same", rest.plan)
    assert isinstance(made, Composed)
    text = whole(context, rest, made)
    assert text.text.startswith("I prefer the same area . ") and isinstance(as_turn(context.view, text), Turn)
    assert rest_of(_contexts(dialogue("en", [("user", "The same again .", *inform("hotel", area="north"))]))[0]) is None


@pytest.mark.parametrize(
    ("source", "text", "reason"),
    [
        ("Another hotel please .", "A hotel please .", "word_lost: other"),
        ("A hotel please .", "Another hotel please .", "word_added: other"),
        ("I want a place to eat .", "I want a restaurant .", None),
        ("If so , book it .", "Book it .", "word_lost: condition"),
    ],
)
def test_no_wording_loses_or_brings_a_word_that_tells_something(source: str, text: str, reason: str | None) -> None:
    assert telling.changed(source, text, "en", True) == reason
    assert telling.changed(source, text, "zh", True) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Can you move my appointment ?", "wish"),
        ("What is my balance ?", "question"),
        ("I get an error when it starts .", "problem"),
        ("It is the blue box on the left .", "tell"),
        ("Thanks , bye !", ""),
        ("the blue box", ""),
    ],
)
def test_a_turn_without_labels_gets_hedges_of_its_kind_around_its_own_words(text: str, kind: str) -> None:
    assert loose.kind_of(text) == kind
    view = _contexts(dialogue("en", [("user", text)]))[0].view
    made = [turn.utterance for seed in range(12) for turn in loose.wordier(view, "", Rng(seed), "I see.")]
    assert bool(made) == (kind not in ("", "tell"))  # what tells a fact needs no hedge
    assert all(text[1:].rstrip(" .?!") in one and len(one) > len(text) for one in made), made


@pytest.mark.parametrize("kind", [Paraphrase, Verbosity])
@given(record=dialogues(), seed=st.integers(0, 2))
def test_any_dialogue_is_worded_or_refused(kind: type[Paraphrase], record: Dialogue, seed: int) -> None:
    made = kind(voice="chatty").perturb(record, seed)
    for source, turn in zip(record.turns, made.turns, strict=True):
        if source.original is None and turn.speaker == "user":
            assert not damaged_values(source, turn) and not misaligned_spans(source, turn) and not unreverted_edits(source, turn)


def test_an_unknown_voice_is_refused() -> None:
    with pytest.raises(ValueError, match="voice must be one of"):
        speaker("en", "pirate")


def test_no_condition_is_read_as_words() -> None:
    """A condition whose name looks like a place ("{venue}" like "{v}") would be said aloud."""
    known = re.compile(r"\{(?:v(?::[a-z]+)?|[A-Z]+[A-Z0-9]*)\}")
    for section, clauses in _sections():
        for clause in clauses:
            assert "{" not in known.sub("", clause.text), (section, clause.text)
