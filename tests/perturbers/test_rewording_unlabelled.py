"""Rewordings where no label tells what a turn means: lead-ins, omissions, replies, donors and frames must fit the words alone."""

from __future__ import annotations

import re

import pytest
from dialmill.perturbers.core.contract import Perturber
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.rewording import loose, remains, telling
from dialmill.perturbers.rewording.awaited import awaited, fails, proposed
from dialmill.perturbers.rewording.composer.compose import compose, speaker
from dialmill.perturbers.rewording.composer.english_places import place_of
from dialmill.perturbers.rewording.composer.plan import Composed, Context, Refusal
from dialmill.perturbers.rewording.donors import build_donors
from dialmill.perturbers.rewording.paraphrase import Paraphrase
from dialmill.perturbers.rewording.rewriting import Omissions, Rewordings
from dialmill.perturbers.rewording.simplification import Simplification
from dialmill.perturbers.rewording.wordings import Analysis
from dialmill.schemas import Act, Dialogue, apply_edits

from tests.talk import dialogue, inform


def _talk(text: str, before: str = "", *acts: Act) -> Dialogue:
    earlier: list[tuple[object, ...]] = [("user", "Where is it ?"), ("system", before)] if before else []
    return dialogue("x", [*earlier, ("user", text, *acts)])


def _context(text: str, before: str = "", *acts: Act) -> Context:
    talk = _talk(text, before, *acts)
    return Context(Locator(talk).view(talk.turns[-1]), talk.turns[-2] if before else None)


def _wordier(text: str, before: str = "", said: str = "") -> set[str]:
    view = _context(text, before).view
    return {turn.utterance for seed in range(60) for turn in loose.wordier(view, said, Rng(seed), before)}


def _made(perturber: Perturber, talk: Dialogue, seeds: int = 40) -> set[str]:
    """What becomes of the last turn."""
    return {perturber.perturb(talk, seed).turns[-1].utterance for seed in range(seeds)}


@pytest.mark.parametrize(
    ("text", "awaits", "agrees"),
    [
        ("Shall I go ahead and cancel it?", "yes", "offer"),
        ("I can refund it. Please confirm if you would like to proceed.", "yes", "offer"),
        ("So three tickets for tonight. Is that all correct?", "yes", "check"),
        ("Do you agree?", "yes", "fact"),
        ("How many tickets do you need?", "value", ""),
        ("Please provide your booking number.", "value", ""),
        ("It is booked. Is there anything else I can do for you?", "more", "fact"),
        ("The garage is two miles away.", "", ""),
    ],
)
def test_what_a_system_turn_awaits(text: str, awaits: str, agrees: str) -> None:
    assert (awaited(text), proposed(text)) == (awaits, agrees)


@pytest.mark.parametrize(
    "text", ["I'm sorry, there is no Thai food.", "I couldn't find any.", "Sorry, we don't.", "There are none within two miles."]
)
def test_a_system_turn_fails_by_its_words(text: str) -> None:
    assert fails(text) and not fails("There is no traffic on our way.") and not fails("Sorry, which one do you mean?")


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Yes, please go ahead and make the change.", "I can change it. Shall I?"),
        ("Please cancel this reservation as well.", "Would you like me to cancel the other one, too?"),
        ("That sounds good. Please book it.", "It costs $20."),
        ("I'd like to proceed with the change.", "Please confirm if you want this."),
        ("Tuesday at noon, please.", "Which day?"),
    ],
)
def test_who_only_confirms_or_answers_asks_for_no_help(text: str, before: str) -> None:
    assert _wordier(text, before) == set()


def test_a_lead_in_joins_its_sentence() -> None:
    """No wish is told twice, no order hangs behind "help me with this:", and no question is dressed up as a riddle."""
    wishes = _wordier("I want to order a pizza from Lou's.")
    assert wishes and not any(re.search(r"after: I want|hoping for: I|what I'm after", text) for text in wishes)
    orders = _wordier("Please show me some blouses.")
    assert orders and not any(":" in text for text in orders)
    questions = _wordier("What else can you show me?") | _wordier("Is there a jacket you could recommend to me?")
    assert questions and not any(re.search(r"missing|overlook|puzzled|silly|curious|useful to know", text) for text in questions)


def test_a_lead_in_knows_where_the_dialogue_stands() -> None:
    first, later = _wordier("What times are available?"), _wordier("What times are available?", "They are full at 7 pm.")
    ahead = re.compile(r"(?i)before I forget|while I think|just so I know|one more|another question")
    assert first and not any(ahead.search(text) for text in first) and any(ahead.search(text) for text in later)
    assert not any(re.search(r"(?i)one more|another|something else", text) for text in later)
    assert any(
        re.search(r"(?i)one more|another|something else", text) for text in _wordier("What times are there?", "They are full.", "where is it ?")
    )
    assert not any(re.search(r"(?i)^(?:right|well|now|hm|ah|so|let me see),", text) for text in first | later), "two fillers don't stack"
    assert any("In that case" in text for text in _wordier("I'd like some jeans.", "Sorry, we have no coats."))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I would prefer not to be transferred .", None),
        ("I'm trying to find out how many bags I can take .", None),
        ("What is the weather like in Rome ?", None),
        ("what's the weather supposed to be like today", None),
        ("I want the refund to be processed today .", None),
        ("Can you help me with upgrading the seat ?", None),
        ("I need the red jacket in my cart .", None),
        ("Which has the least traffic ?", None),
        ("It should be nearby , please pick a quick route .", "It should be nearby, pick a quick route ."),
        ("Do you know what time it leaves ?", None),
        ("Could you check if there are any other flights ?", "Check if there are any other flights ."),
        ("What is the rating of that hotel ?", "The rating of that hotel ?"),
        ("I am looking for a grey coat .", "A grey coat ."),
        ("Do you have anything in green ?", "Anything in green ?"),
        ("If you could give me the number , that is fine .", None),
    ],
)
def test_what_is_left_of_a_sentence_still_stands(text: str, left: str | None) -> None:
    view = _context(text).view
    omissions = Omissions(text, Analysis(view, None, frozenset()).parts, "en")
    made = {apply_edits(view.turn, omissions.draw(1.0, Rng(seed))).utterance.rstrip(" .?").replace(" ,", ",") for seed in range(9)}
    assert made == {(left or text).rstrip(" .?").replace(" ,", ",")}


def test_what_depends_on_an_omission_goes_with_it_alone() -> None:
    text = "Hey . I am looking for a place to eat ."
    view = _context(text).view
    omissions = Omissions(text, Analysis(view, None, frozenset()).parts, "en")
    made = {apply_edits(view.turn, omissions.draw(0.5, Rng(seed))).utterance.rstrip(" .") for seed in range(60)}
    assert "Restaurant" in made and any("for a restaurant" in one for one in made) and not any("for restaurant" in one for one in made)
    assert remains.orders(("could", "you", "please")) and not remains.orders(("could", "you", "tell", "me"))
    assert all(_made(Simplification(), _talk("That would be great !", "Should I check the week ?"))), "nothing is left empty"


@pytest.mark.parametrize(
    ("text", "before", "reason"),
    [
        ("No, that's it, just book.", "Are there any other requests?", "unlabelled: just"),
        ("Thanks, let's go there.", "It is two miles away.", "unlabelled: let"),
        ("No, I'm going there.", "Why are you not going to Rome then?", "unlabelled: going"),
        ("Thank you! Have a wonderful day too!", "You are welcome.", "unlabelled: wonderful"),
        ("Yes, I'm ready to check out.", "Is it OK to go ahead?", "unlabelled: ready"),
    ],
)
def test_no_reply_swallows_what_no_label_says(text: str, before: str, reason: str) -> None:
    for style in ("same", "less"):
        assert compose(_context(text, before), speaker("en"), Rng(1), style) == Refusal(reason)


@pytest.mark.parametrize(
    ("text", "before", "fits", "unfit"),
    [
        (
            "Yes, that's correct.",
            "Three tickets. Is that all correct?",
            r"(?i)^(?:yes|yep|yeah|right|correct|all|that)",
            r"go ahead|do it|I'm in",
        ),
        (
            "Yes, absolutely.",
            "Do you agree?",
            r"(?i)^(?:okay, )?(?:yes|yep|yeah|yup|sure|absolutely|definitely)\b",
            r"go (?:ahead|with|for)|please do|plan|I'm in",
        ),
        (
            "No, that's all I needed, thanks.",
            "Can I help with anything else?",
            r"(?i)thank|cheers|appreciate|obliged",
            r"(?i)skip|rather not|leave it|pass",
        ),
        ("That sounds great. Thank you.", "It's $349 per night.", r"(?i)^\W*\w+.*(?:thank|cheers|appreciate|grateful|lifesaver|help)", r"^Thank"),
    ],
)
def test_a_reply_answers_what_was_asked(text: str, before: str, fits: str, unfit: str) -> None:
    for seed in range(40):
        made = compose(_context(text, before), speaker("en"), Rng(seed))
        assert isinstance(made, Composed) and re.search(fits, made.text) and not re.search(unfit, made.text), made


def test_nobody_is_pleased_with_a_failure_told_in_words() -> None:
    act = inform("restaurant", food="vietnamese")
    context = _context("Ok, how about vietnamese food?", "I'm sorry. There are no restaurants that serve fusion food.", *act)
    for seed in range(40):
        for style in ("same", "more"):
            made = compose(context, speaker("en", "chatty"), Rng(seed), style)
            assert isinstance(made, Refusal) or not re.match(r"(?i)(?:oh,? )?(?:good|lovely|great|nice|perfect|wonderful)\b", made.text), made


def test_a_town_is_told_to_the_weather_as_such() -> None:
    assert place_of("weather", "location") == ("@spot", "") and place_of("hotels_1", "location") == ("@city", "")
    context = _context("Los Angeles", "In what city ?", *inform("weather", location="Los Angeles"))
    for seed in range(60):
        for style in ("same", "more"):
            made = compose(context, speaker("en"), Rng(seed), style)
            assert isinstance(made, Refusal) or not re.search(r"something in|what there is|look in|friend|visit", made.text), made


@pytest.mark.parametrize("text", ["tell me the weather for this week", "what's the forecast this week", "is it hot this week"])
def test_a_question_to_a_service_is_not_told_as_a_day_alone(text: str) -> None:
    made = compose(_context(text, "", *inform("weather", date="this week")), speaker("en"), Rng(1), "less")
    assert isinstance(made, Refusal), made


@pytest.mark.parametrize(
    ("source", "text", "reason"),
    [
        ("what is on", "it is on", "question_lost"),
        ("How much is it?", "What does it cost?", None),
        ("Okay, let's go there, thanks.", "Okay, thanks.", "order_changed: there"),
        ("Is it windy now", "Is it going to be windy now", "tense_changed"),
        ("$200 a night.", "And $200 a night.", "order_changed: and"),
        ("What size are they?", "What size is it?", "number_changed"),
        ("find me the best spot", "find a spot", "word_lost: best"),
        ("a cheap one", "a really cheap one", "word_added: really"),
    ],
)
def test_no_donor_changes_what_is_done(source: str, text: str, reason: str | None) -> None:
    assert telling.changed(source, text, "en", True, False) == reason
    assert telling.changed(source, text, "en", False, False) in (None, reason)


def test_a_value_stands_behind_its_own_article() -> None:
    """What a slot of an unknown domain holds has a form of its own: "directions to the mall" is no "where can i get mall"."""
    lent = [
        dialogue(f"d{number}", [("user", text.format(value), *inform("navigate", poi_type=value))])
        for number, (text, value) in enumerate(
            [
                ("i want a {} please", "mall"),
                ("i need the {} please", "park"),
                ("i want {} please", "tea"),
                ("i want your {} please", "mall"),
            ]
        )
    ]
    donors = build_donors(lent)
    for text, value, found in (("I want the gym", "gym", {"the "}), ("I want a zoo", "zoo", {"a "}), ("I want my bank", "bank", set())):
        view = _context(text, "", *inform("navigate", poi_type=value)).view
        wording = Analysis(view, None, frozenset()).whole()
        assert wording.around is not None
        assert {re.split(r"(?=\b(?:a|the) $)", one.donor.literals[0])[-1] for one in donors.search(wording, "first", 0, Rng(1))} == found, text
    known = _context("I want the gym", "", *inform("hotel", name="gym")).view
    assert Analysis(known, None, frozenset()).whole().around is None


@pytest.mark.parametrize(
    ("text", "never"),
    [
        ("Yes , I'd like a large pizza please .", r"look|find|search"),
        ("I want the red jacket in my cart , please .", r"look|find|search"),
        ("Is there a full bar ?", r"you have|find|know of|look"),
        ("Are there any stairs ?", r"you have|find|know of"),
        ("What is the high in San Mateo ?", r"\b(?:have|get|give)\b"),
        ("I like that coat , can I get one ?", r"give"),
        ("Just recommend me a cheap one .", r"suggest me"),
        ("That's all I needed help with for now .", r"all help"),
    ],
)
def test_a_frame_keeps_what_is_done_and_by_whom(text: str, never: str) -> None:
    view = _context(text).view
    rewordings = Rewordings(text, Analysis(view, None, frozenset()).parts, "en")
    for seed in range(60):
        made = apply_edits(view.turn, rewordings.draw(Rng(seed))).utterance
        assert not re.search(never, made), made


def test_another_users_yes_is_no_order() -> None:
    lent = [dialogue(f"d{n}", [("system", "Is it all right ?"), ("user", "Yes , everything is correct . Thanks .")]) for n in range(2)]
    talk = dialogue("x", [("user", "Hi ."), ("system", "Shall I transfer you ?"), ("user", "Yes , please transfer me . Thank you .")])
    assert not any("correct" in text for text in _made(Paraphrase().with_pool(lent), talk))
