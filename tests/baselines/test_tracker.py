"""The state tracker: what it learns from a few dialogues, English and Chinese, and that it comes out the same in any order."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from dialmill.pipelines.baselines.ontology import Ontology, canonical
from dialmill.pipelines.baselines.tracker import Tracker
from dialmill.pipelines.baselines.trained import gold_state, wrong_slots
from dialmill.pipelines.sources import registry
from dialmill.schemas import Dialogue, SlotValues, Turn

from tests.pipelines.source_tools import read_paths

ROOT = Path(__file__).parents[2] / "data"


def _dialogue(number: int, *turns: tuple[str, dict[str, str]], language: str = "en") -> Dialogue:
    """A hotel dialogue: (utterance, state) of each turn, the user's first; the system's states are empty."""
    made = []
    for place, (text, state) in enumerate(turns):
        cells = tuple(SlotValues("hotel", slot, (value,)) for slot, value in state.items())
        made.append(Turn(place, "system" if place % 2 else "user", text, state=cells))
    return Dialogue(dialogue_id=f"d{number}/standard/0", source="t", source_id=f"d{number}", language=language, domains=("hotel",), turns=tuple(made))


AREAS, STARS = ("north", "south", "east", "west", "centre"), ("2", "3", "4", "5")
NAMES = ("elm house", "oak court", "the limes", "river lodge")


def _training() -> list[Dialogue]:
    found = []
    for number in range(40):
        area, stars, people = AREAS[number % 5], STARS[number % 4], str(1 + number % 6)
        name = NAMES[number % 4]
        first = {"area": area, "stars": stars}
        booked = {**first, "name": name, "book people": people}
        free = {**booked, "internet": "yes"}
        found.append(
            _dialogue(
                number,
                (f"i want a hotel with {stars} stars in the {area}", first),
                (f"how about {name} ?", {}),
                (f"yes , book it for {people} people" if number % 2 else f"great , a room for {people} people there", booked),
                ("booked . anything else ?", {}),
                ("it needs to have free wifi" if number % 2 else "does it have internet ? i need that", free),
            )
        )
    return found


@pytest.fixture(scope="module")
def tracker() -> Tracker:
    return Tracker.train(_training(), "en")


def test_values_go_to_the_slots_that_the_words_around_them_say(tracker: Tracker) -> None:
    told = _dialogue(99, ("in the south , with 4 stars please", {}), ("how about the limes ?", {}), ("yes , book it for 4 people", {}))
    states = tracker.predict(told)
    assert states[0] == {("hotel", "area"): "south", ("hotel", "stars"): "4"}
    assert states[2] == {**states[0], ("hotel", "name"): "the limes", ("hotel", "book people"): "4"}


def test_values_that_no_words_spell_come_in(tracker: Tracker) -> None:
    told = _dialogue(99, ("a hotel in the east with 3 stars", {}), ("sure", {}), ("it needs to have free wifi", {}))
    states = tracker.predict(told)
    assert ("hotel", "internet") not in states[0] and states[2]["hotel", "internet"] == "yes"


def test_an_offer_that_is_declined_is_not_taken(tracker: Tracker) -> None:
    training = [*_training()]
    for number in range(40):
        name = NAMES[number % 4]
        state = {"area": AREAS[number % 5]}
        training.append(
            _dialogue(100 + number, (f"somewhere in the {AREAS[number % 5]}", state), (f"how about {name} ?", {}), ("no , not that one", state))
        )
    told = _dialogue(999, ("a hotel in the east", {}), ("how about oak court ?", {}), ("no , not that one", {}))
    assert ("hotel", "name") not in Tracker.train(training, "en").predict(told)[2]


def test_the_order_of_the_dialogues_changes_nothing_and_packing_keeps_all(tracker: Tracker) -> None:
    shuffled = _training()
    random.Random(5).shuffle(shuffled)
    again = Tracker.train(shuffled, "en")
    assert again.pack() == tracker.pack() == Tracker.unpack(tracker.pack()).pack()


def test_without_states_nothing_is_tracked() -> None:
    bare = _dialogue(1, ("hello", {}), ("hello", {}), ("bye", {}))
    assert Tracker.train([bare], "en").predict(bare) == {0: {}, 2: {}}
    assert Tracker.train([], "en").predict(bare) == {0: {}, 2: {}}


def test_the_ontology_finds_values_that_no_training_dialogue_has() -> None:
    known = [
        _dialogue(n, (text, {"book time": time, "food": food}))
        for n, (text, time, food) in enumerate([("a", "18:00", "thai"), ("b", "19:15", "indian")])
    ]
    _, mentions = Ontology.learn(known, "en").find("danish food at half past seven")
    values = {value for mention in mentions for value in mention.values.values()}
    assert {"danish", "07:30"} <= values


@pytest.mark.parametrize("name", ["multiwoz21", "risawoz", "crosswoz", "sgd", "multiwoz22"])
def test_it_learns_the_miniature_corpora(name: str) -> None:
    paths = [path for path in sorted((ROOT / name).rglob("*")) if path.is_file()]
    dialogues = list(read_paths(registry.get(name), paths).dialogues.values())[:60]
    model = Tracker.train(dialogues, dialogues[0].language)
    turns = right = nothing = 0
    for dialogue in dialogues:
        states = model.predict(dialogue)
        for turn in dialogue.turns:
            if turn.speaker == "user":
                turns += 1
                right += not wrong_slots(gold_state(turn), states[turn.turn])
                nothing += not turn.state
    assert right > max(nothing, 0.3 * turns), f"{right} of {turns} turns of its own training set"


def test_values_are_compared_in_one_form() -> None:
    assert canonical(" Do n't  care ") == canonical("dontcare") == "dontcare" and canonical("The  Elm") == "the elm"
    assert wrong_slots({("hotel", "area"): ["east", "eastern"]}, {("hotel", "area"): "eastern"}) == ()
    assert wrong_slots({("hotel", "area"): ["east"]}, {("hotel", "stars"): "4"}) == ("hotel area", "hotel stars")
