"""English rewordings that readers refused, by kind: what is added fits the moment, thanks and farewells are those of the source, no echoes."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from dialmill.perturbers.core.contract import Perturber
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.rewording import loose
from dialmill.perturbers.rewording.composer.bank import load
from dialmill.perturbers.rewording.composer.compose import compose, speaker
from dialmill.perturbers.rewording.composer.echoes import echoes
from dialmill.perturbers.rewording.composer.plan import Composed, Context
from dialmill.perturbers.rewording.paraphrase import Paraphrase
from dialmill.perturbers.rewording.rewriting import Omissions, frames
from dialmill.perturbers.rewording.wordings import Analysis
from dialmill.schemas import Act, Dialogue, apply_edits

from tests.talk import dialogue, inform


def _talk(text: str, before: str = "", *acts: Act) -> Dialogue:
    earlier: list[tuple[object, ...]] = [("user", "Where is it ?"), ("system", before)] if before else []
    return dialogue("x", [*earlier, ("user", text, *acts)])


def _wordier(text: str, before: str = "") -> set[str]:
    talk = _talk(text, before)
    return {turn.utterance for seed in range(60) for turn in loose.wordier(Locator(talk).view(talk.turns[-1]), "", Rng(seed), before)}


def _made(perturber: Perturber, talk: Dialogue, seeds: int = 40) -> set[str]:
    return {perturber.perturb(talk, seed).turns[-1].utterance for seed in range(seeds)} - {talk.turns[-1].utterance}


def _composed(talk: Dialogue, style: str) -> set[str]:
    view = Locator(talk).view(talk.turns[-1])
    context = Context(view, talk.turns[-2] if len(talk.turns) > 1 else None)
    made = [compose(context, speaker("en", voice, ""), Rng(seed), style) for voice in ("plain", "chatty", "indirect") for seed in range(40)]
    return {one.text for one in made if isinstance(one, Composed)}


@pytest.mark.parametrize(
    ("text", "before", "never"),
    [
        ("May I have the postcode of the second one?", "There are two.", r"may ask|may I ask|like to know: May"),
        ("Can we include a blue one?", "I have these.", r"(?i)when you|if you"),
        ("Find a cafe by the harbour.", "", r"(?i)if possible|that's okay|all right with you"),
        ("Put these in my basket!", "I have these.", r"."),
        ("Get me to the airport and be quick.", "", r"."),
        ("I need warm gloves.", "I have these.", r"can be done|that's possible\.$|all right\.$"),
        ("I need a taxi to the hospital.", "Where do you want to go?", r"thought"),
        ("Which of them is cheaper?", "There are two.", r"(?i)while I think|before I forget|what I'd like to know"),
        ("I know the rule, but I'm hoping that you can make an exception.", "It is not refundable.", r"describe|explain|lost here|stuck"),
        ("Please can you try another day.", "None left.", r"(?i)okay, if|all right, if"),
    ],
)
def test_a_stock_preface_or_tail_fits_its_sentence(text: str, before: str, never: str) -> None:
    assert not [one for one in _wordier(text, before) if re.search(never, one.replace(text, ""))]


def test_nobody_is_thanked_for_what_was_not_done() -> None:
    bank = load("en")
    for kind in ("thank", "thankend", "thankask", "ack"):
        for clause in bank.find(kind):
            assert not re.search(
                r"sorting that|trouble\.|effort|lifesaver|painless|patient|more help|in advance|answered it all|wraps it up", clause.text
            )
    for clause in bank.find("bye"):
        assert len(re.findall(r"(?i)\bbye|goodbye|see you|take care|later", clause.text)) < 3, "farewells don't stack"


def test_who_is_delighted_stays_so() -> None:
    glad, mild = (_made(Paraphrase(), _talk(text, "It is on Mill Road.")) for text in ("Perfect, thank you!", "Okay, thank you."))
    cheer = re.compile(r"(?i)great|perfect|wonderful|excellent|lovely|brilliant|nice|good|cool")
    assert glad and all(cheer.search(one) for one in glad)
    assert mild and not any(re.match(r"(?i)(?:perfect|brilliant|excellent|wonderful|that's great)", one) for one in mild)


def test_a_no_to_an_offer_stays_one() -> None:
    made = _made(Paraphrase(), _talk("No, that will be all.", "Would you like to hear the opening times?"))
    assert made and all(re.match(r"(?i)no|nah", one) for one in made)


def test_thanks_for_what_was_told_come_first() -> None:
    talk = _talk(
        "Thanks ! I am also looking for a cheap hotel .",
        "It is on Mill Road .",
        Act("thank", "general"),
        *inform("hotel", pricerange="cheap"),
    )
    made = _composed(talk, "same")
    assert made and all(re.search(r"(?i)thank|cheers|appreciated|thx", one.split(".")[0].split("!")[0]) for one in made), made


def test_no_aside_stands_before_what_takes_up_the_talk() -> None:
    talk = _talk("I also need a cheap hotel .", "It is on Mill Road .", *inform("hotel", pricerange="cheap"))
    bank = load("en")
    asides = {clause.text.lower() for clause in bank.find("circ", "hotel")}
    for one in _composed(talk, "more"):
        sentences = [part.replace(" '", "'").strip().lower() for part in re.split(r"(?<=\.)\s", one.replace(" .", "."))]
        for first, second in pairwise(sentences):
            assert not (first in asides and re.search(r"\b(?:also|next|then|too|another)\b", second)), one


def test_no_clause_says_again_what_another_said() -> None:
    assert echoes("I was hoping to find {NP}.") & echoes("I was hoping for something in {v}.")
    assert echoes("I've planned everything else around that.") & echoes("Let's plan it for {v}.")
    assert echoes("I've been reading menus for hours.") & echoes("with {v} on the menu")
    assert not echoes("I'd like {NP}.") & echoes("It should be in {v}.")
    talk = _talk(
        "I want a cheap hotel in the north .",
        "",
        *inform("hotel", pricerange="cheap", area="north"),
    )
    for style in ("same", "more"):
        made = _composed(talk, style)
        assert made and not any(re.search(r"(?i)somewhere.*somewhere|hoping.*hoping|fussy.*fussy|sleep.*sleep", one) for one in made)


def test_no_booking_is_spoken_of_before_there_is_one() -> None:
    for section, clauses in load("en").sections.items():
        if section.kind in ("bsay", "short", "ask"):
            assert not [one.text for one in clauses if re.search(r"^The booking is|Which reference number", one.text)], section


def test_as_well_as_stays_whole() -> None:
    made = _made(Paraphrase(), _talk("I would like to know their opening hours as well as their address ."))
    assert made
    assert not any(re.search(r"\btoo as\b", text) for text in made)


def test_frames_keep_the_register() -> None:
    for rules in frames("en").values():
        for rule in rules:
            assert not any(other.words[:2] == ("i", "wish") or other.words == ("wish", "to") for other in rule.others), rule
    assert not [one for one in _made(Paraphrase(), _talk("Well no I like drama as well.", "Do you want comedy?")) if "ope" in one]


def _dropped(text: str) -> set[str]:
    view = Locator(_talk(text)).view(_talk(text).turns[-1])
    omissions = Omissions(text, Analysis(view, None, frozenset()).parts, "en")
    return {apply_edits(view.turn, omissions.draw(1.0, Rng(seed))).utterance.rstrip(" .") for seed in range(9)}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I'm looking for museums , can you suggest something fun ? .", None),
        ("It was about Rome not Milan, do you have a forecast for Rome, too?", None),
        ("I want to find a cheap cafe and is open late.", None),
        ("That is everything I needed to know.", "That's all I needed to know"),
        ("Any train that arrives by 9:15 .", None),
        ("I prefer seats near the front, so I'd like to take row two.", None),
        ("I want a quiet cafe. I also need the phone number.", "A quiet cafe. I also need the phone number"),
        ("Thank you so much for your help—we are set!", "Thanks—we are set!"),
        ("Do you have a red scarf with dots?", "Any red scarf with dots?"),
        ("What is the phone number of that cafe?", "The phone number of that cafe?"),
    ],
)
def test_no_omission_leaves_a_fragment(text: str, left: str | None) -> None:
    made = _dropped(text)
    assert made == {(left or text).rstrip(" .")}


def test_keywords_keep_a_noun_with_its_modifiers() -> None:
    european = _talk("I want a restaurant with european food .", "", *inform("restaurant", food="european"))
    made = _composed(european, "less")
    assert any("uropean restaurant" in one for one in made) and not any(re.search(r"(?i)european(?: food)?,? ?, restaurant", one) for one in made)
    for style in ("less", "same", "more"):
        made = _composed(_talk("I want a place with christmas food .", "", *inform("restaurant", food="christmas")), style)
        assert made and not any(re.search(r"(?i)christmas (?:restaurant|place|centre)", one) for one in made), made


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("I prefer the south , can I get some info on it ?", inform("restaurant", area="south")),
        ("I am looking for a really nice hotel in the south .", inform("hotel", area="south")),
        ("Find me a good restaurant in the south .", inform("restaurant", area="south")),
    ],
)
def test_a_wish_without_a_label_is_not_lost(text: str, acts: tuple[Act, ...]) -> None:
    assert _composed(_talk(text, "Which area ?", *acts), "less") == set()


def test_a_delight_in_food_points_at_food() -> None:
    for one in _composed(_talk("How about an Italian restaurant ?", "", *inform("restaurant", food="Italian")), "more"):
        assert not (re.search(r"(?i)italian (?:place|restaurant)", one) and re.search(r"\b(?:had some|craving it|eating that)\b", one)), one


def test_a_donor_words_weather_of_its_own_kind() -> None:
    talk = _talk("Will it be windy in Rome ?", "", *inform("weather", weather_attribute="windy"))
    labels = [part.unit for part in Analysis(Locator(talk).view(talk.turns[-1]), None, frozenset()).parts if part.unit[0] == "["]
    other = _talk("Will there be rain in Rome ?", "", *inform("weather", weather_attribute="rain"))
    plain = [part.unit for part in Analysis(Locator(other).view(other.turns[-1]), None, frozenset()).parts if part.unit[0] == "["]
    assert labels and plain and labels != plain, "there is no 'is there going to be windy'"


def test_nobody_is_asked_to_find_what_he_recommends() -> None:
    made = _made(Paraphrase(), _talk("Are there any other scarves you can recommend?", "I have these."))
    assert not [one for one in made if len(re.findall(r"(?i)\byou\b", one)) > 1]


def test_it_stands_for_what_was_spoken_of() -> None:
    acts = (Act("request", "events", "venue address", None),)
    named = _composed(_talk("What is the address of the venue ?", "It starts at 8 .", *acts), "same")
    assert named and not [one for one in named if re.search(r"(?i)where.*\bit\b", one)]
