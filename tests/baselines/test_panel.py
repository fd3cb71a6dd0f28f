"""The panel of baselines: what each kind learns, which units are hard, and the check that tells a hard set from a long one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.baselines.panel.choice import ONE, Unit, cells_of, check, hardest, scores
from dialmill.pipelines.baselines.panel.panel import TurnPanel, Verdict, tenths_of
from dialmill.pipelines.baselines.panel.responses import ResponsePanel
from dialmill.pipelines.baselines.panel.seen import Right, tasks, wrong_slots
from dialmill.pipelines.baselines.panel.snippets import SnippetPanel, known_of
from dialmill.pipelines.baselines.panel.turns import KINDS
from dialmill.schemas import Act, Dialogue, SlotValues, Snippet, Span, Turn

AREAS, PRICES = ("north", "south", "east", "west"), ("cheap", "expensive", "moderate")


def told(number: int, area: str, price: str, text: str) -> Dialogue:
    """A dialogue of two user turns that name an area and a price."""
    first = text.format(area=area)
    start = first.index(area)
    cells = (SlotValues("hotel", "area", (area,)), SlotValues("hotel", "price", (price,)))
    acts = tuple(Act("inform", "hotel", slot, value) for slot, value in (("area", area), ("price", price)))
    turns = (
        Turn(0, "user", first, spans=(Span(start, start + len(area), area, "hotel", "area", area),), acts=acts[:1], state=cells[:1]),
        Turn(1, "system", "what price range ?", acts=(Act("request", "hotel", "price", None),)),
        Turn(2, "user", f"something {price} please", acts=acts[1:], state=cells),
    )
    return Dialogue(dialogue_id=f"d{number}/standard/0", source="made", source_id=f"d{number}", language="en", domains=("hotel",), turns=turns)


def corpus(count: int, texts: Sequence[str]) -> list[Dialogue]:
    rng = Rng("panel test")
    return [told(number, rng.choice(AREAS), rng.choice(PRICES), rng.choice(texts)) for number in range(count)]


TEXTS = ("i want a hotel in the {area}", "a hotel in the {area} please", "find me something in the {area} of town")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kind_learns_travels_and_depends_on_no_order(kind: str) -> None:
    panel, dialogues = TurnPanel(), corpus(80, TEXTS)
    data = panel.train(kind, dialogues, "en")
    assert data is not None and panel.train(kind, dialogues, "en") == data
    (verdict,) = panel.judge({kind: panel.load(kind, data)}, told(99, "north", "cheap", TEXTS[0]))
    assert verdict.errors[kind] == {"update": 0, "acts": 0}, verdict.missed
    assert panel.measure(verdict.sums[kind]) == {"update": 1, "acts": 1, "jga": 1}
    # A state that says something else was missed, whoever judges.
    (other,) = panel.judge({kind: panel.load(kind, data)}, told(99, "north", "cheap", TEXTS[0]).replace(turns=_with_another_area()))
    assert other.errors[kind]["update"] > 0 and {one.what for one in other.missed if one.aspect == "update"} == {"hotel area"}


def _with_another_area() -> tuple[Turn, ...]:
    first, asked, second = told(99, "north", "cheap", TEXTS[0]).turns
    cells = (SlotValues("hotel", "area", ("west",)), *second.state[1:])
    said = (Act("inform", "hotel", "area", "west"),)
    return first.replace(state=cells[:1], acts=said), asked, second.replace(state=cells)


def test_a_value_that_is_said_again_is_no_error_and_a_dropped_slot_is_not_looked_at() -> None:
    area, price = ("hotel", "area"), ("hotel", "price")
    right = Right({area: ["north"], price: ["cheap"]}, {area: ["north", "north side"]}, {}, frozenset(), "", True, False)
    assert wrong_slots(right, {}) == wrong_slots(right, {area: "north"}) == wrong_slots(right, {price: "cheap"}) == []
    assert wrong_slots(right, {area: "south"}) == [area] and wrong_slots(right, {("hotel", "stars"): "4"}) == [("hotel", "stars")]


def test_turns_whose_labels_contradict_each_other_are_left_out() -> None:
    sound = told(1, "north", "cheap", TEXTS[0])
    first, asked, second = sound.turns
    unsaid = first.replace(state=(*first.state, SlotValues("hotel", "stars", ("4",))))
    missing = second.replace(acts=(*second.acts, Act("inform", "hotel", "area", "west")), state=second.state[1:])
    assert [task.right.doubtful for task in tasks(sound)] == [False, False]
    assert [task.right.doubtful for task in tasks(sound.replace(turns=(unsaid, asked, second)))] == [True, False]
    assert not any(task.right.doubtful for task in tasks(sound.replace(turns=(first, asked, missing)))), "the slot is unknown to this state"
    other = [task.right.doubtful for task in tasks(sound.replace(turns=(first, asked, missing)), {("hotel", "area")})]
    assert other == [False, True], "states of the corpus have it"


def units(count: int, kinds: int = 5, skill: float = 1.0) -> list[Unit]:
    """Units of which some are hard for all kinds alike; long ones are harder for everybody."""
    rng = Rng("units", count, kinds)
    found = []
    for number in range(count):
        turns, inner = 1 + rng.below(8), rng.random()
        errors, sums = {}, {}
        for kind in range(kinds):
            wrong = sum(rng.random() < 0.1 + 0.05 * turns + 0.4 * skill * (inner - 0.5) for _ in range(turns))
            errors[f"k{kind}"] = {"update": wrong * ONE // turns}
            sums[f"k{kind}"] = {"update of": turns, "update right": turns - wrong}
        found.append(Unit(f"u{number:04}", "", turns, 1, errors, sums))
    return found


def test_the_hard_share_is_hard_for_a_kind_that_had_no_say() -> None:
    some = units(400)
    families = {f"k{kind}": f"k{kind}" for kind in range(5)}
    found = check(some, families, 0.25, TurnPanel().measure)
    assert [one.kind for one in found] == sorted(families) and all(one.below and one.mean - one.hard > 0.05 for one in found)
    # Where nothing but chance and length makes errors, no set is hard for others.
    chance = [one for count in range(380, 400) for one in check(units(count, skill=0.0), families, 0.25, TurnPanel().measure)]
    assert sum(one.below for one in chance) <= 0.06 * len(chance) and all(one.low <= one.mean <= one.high for one in chance)


def test_length_alone_makes_no_unit_hard() -> None:
    some = units(400)
    chosen = hardest(some, scores(some, {"k0": "k0", "k1": "k1", "k2": "k2"}), 0.25)
    assert len(chosen) == 100
    mean = sum(some[at].turns for at in chosen) / 100
    assert abs(mean - sum(unit.turns for unit in some) / 400) < 1


def test_families_count_once_and_the_order_of_units_counts_nothing() -> None:
    some = units(60)
    twice = [msgspec_copy(unit) for unit in some]
    plain = scores(some, {"k0": "a", "k1": "b"})
    doubled = scores(twice, {"k0": "a", "k0 again": "a", "k1": "b"})
    assert plain.tolist() == doubled.tolist()
    backwards = scores(some[::-1], {"k0": "a", "k1": "b"})
    assert {some[at].id for at in hardest(some, plain, 0.3)} == {some[::-1][at].id for at in hardest(some[::-1], backwards, 0.3)}
    assert len(cells_of(some)) == 60


def msgspec_copy(unit: Unit) -> Unit:
    return Unit(unit.id, unit.stratum, unit.turns, unit.length, {**unit.errors, "k0 again": unit.errors["k0"]}, unit.sums)


def test_the_unperturbed_text_has_two_tenths_of_the_say_and_one_where_values_are_others() -> None:
    def verdict(error: int, kind: str = "words") -> Verdict:
        return Verdict(None, "", 1, 1, {kind: {"update": error}}, {})

    assert verdict(ONE).unit("a", verdict(0)).errors == {"words": {"update": 3 * ONE // 10}}
    assert verdict(ONE).unit("a", verdict(0), 3).errors == {"words": {"update": 7 * ONE // 10}}
    assert verdict(ONE).unit("a", None).errors == verdict(ONE).unit("a", verdict(0, "other")).errors == {"words": {"update": ONE}}
    standard = told(1, "north", "cheap", TEXTS[0])
    first, asked, second = standard.turns
    longer = standard.replace(turns=(first, asked, second.replace(utterance="well , something cheap please"), Turn(3, "system", "fine .")))
    assert tenths_of(longer, standard) == 7 and tenths_of(told(1, "east", "cheap", TEXTS[0]), standard) == 3


def test_turns_whose_labels_contradict_each_other_are_not_measured_and_decide_on_no_later_turn() -> None:
    panel, dialogues = TurnPanel(), corpus(80, TEXTS)
    data = panel.train("words", dialogues, "en")
    assert data is not None
    sound = told(99, "north", "cheap", TEXTS[0])
    first, asked, second = sound.turns
    unsaid = SlotValues("hotel", "stars", ("4",))
    record = sound.replace(turns=(first.replace(state=(*first.state, unsaid)), asked, second.replace(state=(*second.state, unsaid))))
    assert [task.right.doubtful for task in tasks(record)] == [True, False]
    (verdict,) = panel.judge({"words": panel.load("words", data)}, record)
    assert verdict.doubtful == 1 and verdict.sums["words"]["update of"] == verdict.sums["words"]["jga of"] == 1
    assert panel.measure(verdict.sums["words"])["jga"] == 1, "the state of the turn before was told"


def test_an_aspect_counts_by_its_weight() -> None:
    some = [Unit(f"u{at}", "", 1, 1, {"k": {"often": at % 2 * ONE, "seldom": at // 2 % 2 * ONE}}, {}) for at in range(4)]
    plain, weighted = scores(some, {"k": "k"}).tolist(), scores(some, {"k": "k"}, None, {"seldom": 3}).tolist()
    assert plain[1] == plain[2] and weighted[1] < weighted[2] and max(weighted) == weighted[3]


def answered(number: int, asked: str, answer: str) -> Dialogue:
    turns = (Turn(0, "user", asked), Turn(1, "system", answer))
    return Dialogue(dialogue_id=f"a{number}/standard/0", source="made", source_id=f"a{number}", language="en", domains=(), turns=turns)


def test_answers_are_ranked_and_those_that_say_nothing_are_unanswerable() -> None:
    topics = [
        f"{one}{other}"
        for one in ("sound", "disk", "mouse", "screen", "kernel", "proxy")
        for other in ("card", "driver", "tool", "set", "log", "fan")
    ]
    dialogues = [
        answered(at, f"my {topic} does not work , how do i mend the {topic} ?", f"you should look at the {topic} with a tool")
        for at, topic in enumerate(topics)
    ]
    panel = ResponsePanel()
    models = {}
    for kind in panel.families:
        data = panel.train(kind, dialogues, "en")
        assert data is not None and data == panel.train(kind, dialogues, "en")
        models[kind] = panel.load(kind, data)
    (easy,) = panel.judge(
        models, answered(100, "my diskfan does not work , how do i mend the diskfan ?", "you should look at the diskfan with a tool")
    )
    assert not easy.unanswerable and easy.turn == 1 and panel.measure(easy.sums["tfidf"])["mrr"] == 1
    (generic,) = panel.judge(models, answered(101, "my diskfan does not work", "no prob"))
    assert generic.unanswerable
    assert panel.judge(models, answered(102, "hi there", "hello to you too my friend"), turns=[3]) == []
    for kind in ("tfidf", "characters", "neighbours"):
        assert easy.errors[kind]["rank"] < generic.errors[kind]["rank"], kind


HOTELS = ("Autumn House", "Bridge Lodge", "Castle Inn", "Dolphin Rooms", "Elm Court", "Fen View")
ASKED = {
    "parking": ("Is parking free ?", "is the parking free at {name} , for my car ?"),
    "pets": ("Are pets allowed ?", "are pets like my dog allowed in {name} ?"),
    "breakfast": ("When is breakfast served ?", "at what time is breakfast served in {name} ?"),
    "pool": ("Is there a swimming pool ?", "does {name} have a swimming pool there ?"),
}


def snippets() -> list[tuple[Snippet, str | None]]:
    return [
        (Snippet("hotel", str(at), str(place), title, "Yes ."), name)
        for at, name in enumerate(HOTELS)
        for place, (title, _) in enumerate(ASKED.values())
    ]


def seeking(number: int, hotel: int, topic: str, question: str | None = None) -> Dialogue:
    """A dialogue about a hotel in which a question is asked that a snippet answers."""
    name = HOTELS[hotel]
    place = list(ASKED).index(topic)
    title, said = ASKED[topic]
    snippet = Snippet("hotel", str(hotel), str(place), title, "Yes .")
    turns = (
        Turn(0, "user", "i need a place to stay in town"),
        Turn(1, "system", f"how about {name} ?"),
        Turn(2, "user", (question or said).format(name=name), labels=("knowledge_seeking",), knowledge=(snippet,)),
        Turn(3, "system", "Yes ."),
        Turn(4, "user", "book it for two nights please"),
    )
    return Dialogue(dialogue_id=f"k{number}/knowledge/0", source="made", source_id=f"k{number}", language="en", domains=("hotel",), turns=turns)


def test_questions_are_told_and_their_snippets_ranked() -> None:
    rng = Rng("snippets test")
    dialogues = [seeking(number, rng.below(len(HOTELS)), rng.choice(sorted(ASKED))) for number in range(60)]
    panel = SnippetPanel()
    models = {}
    for kind in panel.families:
        assert panel.train(kind, dialogues, "en") is None, "without a base there is nothing to be ranked"
        data = panel.train(kind, dialogues, "en", known_of(snippets()))
        assert data is not None and data == panel.train(kind, dialogues, "en", known_of(snippets()))
        models[kind] = panel.load(kind, data)
    easy = panel.judge(models, seeking(100, 2, "pets"))
    assert [one.turn for one in easy] == [0, 2, 4] and [one.stratum for one in easy] == ["other", "target", "other"]
    # What neither names its hotel nor has a word of its snippet is harder for every kind, by its rank and by what it looks like.
    hard = panel.judge(models, seeking(101, 2, "pets", "hm and what of my little friend who barks ?"), turns=[2])
    assert [one.turn for one in hard] == [2]
    for kind in panel.families:
        assert panel.measure(easy[1].sums[kind])["mrr@5"] == 1, kind
        # Vectors may guess it.
        assert easy[1].errors[kind]["rank"] == 0 and (hard[0].errors[kind]["rank"] > 0 or kind == "embedding"), kind
        assert panel.measure(easy[0].sums[kind]) == {}, "an other turn that is told right has no figure"
    told = {(one.aspect, one.what): one.kinds for one in hard[0].missed}
    late = told["snippet", "the right snippet (hotel: 'Are pets allowed ?') as the first"]
    assert set(late) >= {"characters", "neighbours", "values", "words"}
    assert panel.judge(models, answered(1, "hello", "hi")) == [], "a dialogue without a question has no instances"
