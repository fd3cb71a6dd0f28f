"""Each stage of a dialogue's way from its split to its release, alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from dialmill.perturbers import Perturber, Suite
from dialmill.perturbers.core.events import DonorWording, ModelFallback
from dialmill.pipelines.baselines.panel.panel import Missed, Verdict
from dialmill.pipelines.benchmarks.registry import load_recipe
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Benchmark, ReleaseContext, SourceRecords
from dialmill.pipelines.core.counters import Counters, StageCount
from dialmill.pipelines.core.params import recipe_params
from dialmill.pipelines.core.progress import COUNTS
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Item, Out, Reject, Stage, StageChain, order_of, out_pieces, sorted_pieces
from dialmill.pipelines.sinks import manifest
from dialmill.pipelines.sinks.parts import DivideRejects
from dialmill.pipelines.stages import training_sample
from dialmill.pipelines.stages.assign_split import AssignSplit
from dialmill.pipelines.stages.check_records import CheckRecords
from dialmill.pipelines.stages.choose_few_shot import ChooseFewShot
from dialmill.pipelines.stages.hard import JudgeTest, TakeHard
from dialmill.pipelines.stages.insert_turns import InsertTurns
from dialmill.pipelines.stages.items import DialogueRecords, ParsedDialogue, SplitDialogue, pack_dialogue
from dialmill.pipelines.stages.join_tokens import JoinTokens
from dialmill.pipelines.stages.overlap import SignRecords
from dialmill.pipelines.stages.perturb import Perturb
from dialmill.pipelines.stages.release import Release
from dialmill.pipelines.stages.split import Layout, fact_of
from dialmill.pipelines.stages.write_records import WriteRecords
from dialmill.schemas import Dialogue, Span
from dialmill.schemas.dialogue import decode
from hypothesis import given
from hypothesis import strategies as st

from tests.pipelines.tools import DATA, hashes, plain
from tests.talk import HOTELS, user

SEED = 5


def recipe_of(*settings: str, suites: str = "standard,typos") -> Recipe:
    return load_recipe("raddle", None, [f"suites={suites}", "suite_variants=", *settings])


def parsed_of(dialogue: Dialogue, recipe: Recipe, extra: bytes = b"") -> ParsedDialogue:
    return ParsedDialogue(pack_dialogue(dialogue), extra, "in.json", 3, fact_of(dialogue, recipe, SEED))


def element_of(dialogue: Dialogue, recipe: Recipe, *records: Dialogue, **more: Any) -> DialogueRecords:
    return DialogueRecords(parsed_of(dialogue, recipe, b"beside"), dialogue, records, **more)


def passed(stage: Stage, element: Any, side: Any = None) -> tuple[list[Any], dict[str, list[Item]]]:
    """What a stage hands on for one element, and its side outputs by tag."""
    stage.setup()
    main, tagged = [], {tag: [] for tag in stage.tags}
    for tag, item in stage.process(element, side):
        main.append(item) if tag == "main" else tagged[tag].append(item)
    return main, tagged


def paths(outs: Iterable[Item]) -> dict[str, list[bytes]]:
    """The lines of output pieces, by path."""
    found: dict[str, list[bytes]] = {}
    for key, value in outs:
        found.setdefault(key.split("\t")[0], []).extend(piece[2] for piece in out_pieces([value]))
    return found


def in_split(split: str, number: int = 0) -> Dialogue:
    one = HOTELS[number]
    return one.replace(split=split, dialogue_id=f"{one.source_id}/standard/0", domains=("hotel",))


class Fails(Perturber):
    """Breaks on its second variant."""

    name: ClassVar[str] = "fails"

    def change(self, dialogue: Dialogue, seed: int, variant: int) -> Any:
        if variant:
            raise RuntimeError("out of ideas")
        return tuple(turn.replace(utterance=turn.utterance.upper(), original=turn.utterance) for turn in dialogue.turns), ()


class Inserts(Perturber):
    """Puts a turn in at the end."""

    name: ClassVar[str] = "inserts"

    def change(self, dialogue: Dialogue, seed: int, variant: int) -> Any:
        return (*dialogue.turns, user(len(dialogue.turns), "Is it far from here?").replace(labels=("inserted",))), ()


@pytest.mark.parametrize("extra", [b"", b"\x00kept"])
def test_items_come_back_as_they_were(extra: bytes) -> None:
    parsed = parsed_of(HOTELS[0], recipe_of(), extra)
    name, data = parsed.item("d1")
    assert name == "d1" and ParsedDialogue.decode(data) == parsed and parsed.dialogue == HOTELS[0]
    split = SplitDialogue(parsed.packed, extra, "test", True, ["d1/typos/0"])
    assert SplitDialogue.decode(split.item("d1")[1]) == split and split.dialogue == HOTELS[0]


def test_assign_split_takes_what_the_layout_says_and_rejects_the_rest() -> None:
    recipe = recipe_of("splits=official")
    stage = AssignSplit(recipe, takes_records=True)
    taken, without = in_split("test"), in_split("test", 1).replace(split=None)
    (made,), outs = passed(stage, parsed_of(taken, recipe).item("d1"), (Layout("official"), {}))
    assert made.split == "test" and made.source == taken and made.records == () and not any(outs.values())
    none, outs = passed(stage, parsed_of(without, recipe).item("d2"), (Layout("official"), {}))
    assert none == [] and list(paths(outs["out"])) == ["rejects/split.jsonl"]
    assert SplitDialogue.decode(outs["record"][0][1]).split is None
    assert stage.take_counters().stages == {"split": StageCount(2, 1, 0, {"not_in_official_lists": 1})}
    assert passed(AssignSplit(recipe, takes_records=False), parsed_of(without, recipe).item("d2"), (Layout("official"), {}))[1]["record"] == []


def test_insert_turns_changes_the_source_and_counts_the_turns() -> None:
    recipe, inserter = recipe_of(), Inserts()
    source = in_split("test")
    stage = InsertTurns(inserter, SEED, recipe_params(recipe, inserter)["standard"])
    (made,), _ = passed(stage, element_of(source, recipe))
    number = len(made.source.turns) - len(source.turns)
    assert number > 0 and sum(turn.inserted for turn in made.source.turns) == number
    assert (made.source.suite, made.source.dialogue_id) == ("standard", source.dialogue_id)
    assert stage.take_counters().stages == {"insert turns": StageCount(len(source.turns), len(made.source.turns), number)}


def test_perturb_makes_every_suite_and_counts_what_its_variants_changed() -> None:
    recipe = recipe_of("variants=3", "perturbed_splits=test")
    stage = Perturb(recipe, SEED, recipe_params(recipe, None), "")
    (made,), outs = passed(stage, element_of(in_split("test"), recipe), (Layout(), {}))
    assert [one.dialogue_id for one in made.records] == ["d1/standard/0", *(f"d1/typos/{variant}" for variant in range(3))]
    assert made.records[0] is made.source and {one.suite for one in made.records[1:]} == {"typos"} and not outs["out"]
    counted = stage.take_counters().stages
    assert counted["standard"].entered == 1 and (counted["typos"].entered, counted["typos"].made) == (1, 2)
    assert counted["typos turns"].is_consistent and counted["typos turns"].entered == 9 and counted["typos turns"].out > 0
    assert passed(stage, element_of(in_split("train"), recipe), (Layout(), {}))[0][0].records == (in_split("train"),)


def test_a_perturber_that_fails_costs_its_variants_and_not_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = recipe_of("variants=3", "perturbed_splits=test", suites="typos")
    params = recipe_params(recipe, None)
    monkeypatch.setattr(Recipe, "suite_plan", lambda _: [Suite("typos", Fails())])
    stage = Perturb(recipe, SEED, params, "")
    (made,), outs = passed(stage, element_of(in_split("test"), recipe), (Layout(), {}))
    assert [one.variant for one in made.records] == [0]
    assert [b"out of ideas" in line for line in paths(outs["out"])["rejects/typos.jsonl"]] == [True, True]
    assert stage.take_counters().stages["typos"].rejected == {"perturber_failed": 2}


def test_join_tokens_writes_source_and_variants_as_people_do() -> None:
    recipe = recipe_of("typography=join")
    source = in_split("test")
    variant = source.replace(suite="typos", dialogue_id="d1/typos/0")
    (made,), _ = passed(JoinTokens(SEED, recipe_params(recipe, None)), element_of(source, recipe, source, variant))
    assert made.records[0] is made.source and made.source.turns[0].utterance == "I need a cheap hotel in the north."
    assert [(one.suite, one.dialogue_id) for one in made.records] == [("standard", "d1/standard/0"), ("typos", "d1/typos/0")]
    chinese = element_of(source.replace(language="zh"), recipe, source.replace(language="zh"))
    assert passed(JoinTokens(SEED, recipe_params(recipe, None)), chinese)[0] == [chinese]


def test_check_records_keeps_the_valid_and_says_what_is_wrong_with_the_others() -> None:
    source = in_split("test")
    turn = source.turns[0]
    broken = source.replace(suite="typos", turns=(turn.replace(spans=(Span(0, 4, "east", "hotel", "area", "east"),)), *source.turns[1:]))
    stage = CheckRecords()
    (made,), outs = passed(stage, element_of(source, recipe_of(), source, broken))
    assert made.records == (source,) and b"east" in paths(outs["out"])["rejects/typos.jsonl"][0]
    assert stage.take_counters().stages == {"typos": StageCount(0, 0, 0, {"invalid_record": 1}), "standard": StageCount(0, 1)}


@pytest.mark.parametrize(("split", "few"), [("train", True), ("train", False), ("test", False), ("valid", False)])
def test_choose_few_shot(split: str, few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, source = recipe_of("hard_baselines="), in_split(split)
    element = element_of(source, recipe, source, source.replace(suite="typos", dialogue_id="d1/typos/0"))
    bounds = {f"group {element.parsed.fact.group}": ((1 << 64) - 1, "~") if few else (0, "")}
    monkeypatch.setattr(training_sample, "bind", lambda *_: SimpleNamespace(bounds=bounds))
    stage = ChooseFewShot(recipe, SEED, "turns", True)
    (made,), _ = passed(stage, element, (Layout(), {}))
    counted = stage.take_counters().stages
    assert made.few is few and made.records == element.records
    assert counted == ({"few_shot": StageCount(2, 2) if few else StageCount(2, 0, 0, {"not_few_shot": 2})} if split == "train" else {})


def test_test_dialogues_wait_and_come_back_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, source = recipe_of(), in_split("test")
    typos = source.replace(suite="typos", dialogue_id="d1/typos/0")
    element = element_of(source, recipe, source, typos)
    verdict = Verdict(None, "", 1, 1, {"words": {"update": 5}}, {}, (Missed(0, "update", "hotel area", ("words",)),))
    panel = SimpleNamespace(asks_clean=True, judge=lambda models, record, turns: [verdict])
    monkeypatch.setattr(training_sample, "bind", lambda *_: SimpleNamespace(panel=panel, models=lambda *_: {"words": None}))
    main, tagged = passed(JudgeTest(recipe, Released(), SEED), element, (Layout(), {}))
    assert main == [] and len(tagged["judged"]) == 2
    stage = TakeHard()
    (made,), _ = passed(stage, tagged["held"][0], (frozenset({"d1/typos/0"}), frozenset()))
    assert (made.parsed, made.source, made.records) == (element.parsed, element.source, element.records)
    assert list(made.hard) == ["d1/typos/0"]
    assert made.hard["d1/typos/0"].lineage[-1].reasons == ("update_missed: turn 0: hotel area = north by 1 of 1 baselines (words)",)
    assert stage.take_counters().stages == {"test_hard": StageCount(2, 1, 0, {"not_hard": 1})}
    assert passed(JudgeTest(recipe, Released(), SEED), element_of(in_split("train"), recipe), (Layout(), {}))[0]


def test_sign_records_gives_the_same_bands_to_copies() -> None:
    bands = [{key for key, _ in passed(SignRecords(), element_of(in_split("test", number), recipe_of()))[1]["band"]} for number in (0, 0, 1)]
    assert bands[0] == bands[1] and bands[0] and not bands[0] & bands[2]


def test_write_records_repeats_subsets_and_holds_labels_out() -> None:
    test, train = in_split("test"), in_split("train", 1)
    element = element_of(test, recipe_of(), test, hard={test.dialogue_id: test})
    assert set(paths(passed(WriteRecords(recipe_of(), 1), element)[1]["out"])) == {
        "dialogues/standard/test.jsonl",
        "dialogues/standard/test_hard.jsonl",
    }
    (made,), outs = passed(WriteRecords(recipe_of("held_out_labels=true"), 1), element)
    assert made is element and len(paths(outs["out"])) == 4
    public, labels = (decode(paths(outs["out"])[f"{place}dialogues/standard/test.jsonl"][0]) for place in ("", "labels/"))
    assert labels == test and not any(turn.state or turn.acts or turn.spans for turn in public.turns)
    found = paths(passed(WriteRecords(recipe_of(), 1), element_of(train, recipe_of(), train, few=True))[1]["out"])
    assert found["few_shot/standard/train.jsonl"] == found["dialogues/standard/train.jsonl"]


class Released(Benchmark):
    """One line for each record, and one for each dialogue."""

    name = "released"
    about = "lines"
    takes_records = True

    def release(self, record: Dialogue, order: bytes, context: ReleaseContext) -> Iterable[Out]:
        context.counters.note("released")
        yield Out("release/each.jsonl", order, 1, f"{record.dialogue_id} {context.seed} {context.hides_labels(record)}".encode())

    def release_together(self, made: SourceRecords, context: ReleaseContext) -> Iterable[Out]:
        yield Out("release/all.jsonl", made.order, 1, f"{len(made.records)} {made.extra!r} {sorted(made.hard)} {made.few}".encode())


def test_release_hands_the_benchmark_all_it_needs() -> None:
    test, recipe = in_split("test"), recipe_of("held_out_labels=true")
    typos = test.replace(suite="typos", dialogue_id="d1/typos/0")
    stage = Release(Released(), recipe, SEED, 1)
    main, outs = passed(stage, element_of(test, recipe, test, typos, hard={typos.dialogue_id: typos}))
    assert main == [] and paths(outs["out"]) == {
        "release/each.jsonl": [b"d1/standard/0 5 True", b"d1/typos/0 5 True"],
        "release/test_hard/each.jsonl": [b"d1/typos/0 5 True"],
        "release/all.jsonl": [b"2 b'beside' ['d1/typos/0'] False"],
    }
    assert SplitDialogue.decode(outs["record"][0][1]).hard == ["d1/typos/0"] and stage.take_counters().notes == {"released": 2}
    assert paths(passed(stage, element_of(test, recipe))[1]["out"]) == {}, "a dialogue without records releases nothing"


class Doubles(Stage):
    """Hands on an element twice, and shows each."""

    tags = ("seen",)

    def process(self, element: str, side: object = None) -> Iterable[tuple[str, Any]]:
        self.counters.note("seen")
        yield "seen", (element, str(side).encode())
        yield from (("main", element + mark) for mark in "ab")


def test_a_chain_hands_on_from_stage_to_stage_and_counts_for_all() -> None:
    COUNTS.clear()
    chain = StageChain({"first": Doubles(), "second": Doubles()})
    main, outs = passed(chain, "x", 7)
    assert main == ["xaa", "xab", "xba", "xbb"] and outs == {"seen": [("x", b"7"), ("xa", b"7"), ("xb", b"7")]}
    assert chain.label == "first, second" and COUNTS == {"first": 1, "second": 2}
    assert chain.take_counters().notes == {"seen": 3} and chain.take_counters().notes == {}
    COUNTS.clear()


def test_events_are_counted_by_suite_and_told_in_the_manifest_s_words() -> None:
    one, other = Counters(), Counters()
    for event in (DonorWording("train"), DonorWording(None), ModelFallback("refused")):
        one.count_event("paraphrase", "test", event)
    other.count_event("paraphrase", "test", DonorWording("train"))
    one.add(Counters.unpack(other.pack()))
    assert one.donor_wordings == {("paraphrase", "test", "train"): 2, ("paraphrase", "test", ""): 1}
    assert manifest.notes_of(one) == {
        "paraphrase: questions worded by rules in place of the model (refused)": 1,
        "paraphrase: test turns with a paraphrase donor in train": 2,
        "paraphrase: test turns with a paraphrase donor in no split": 1,
    }
    assert manifest.wording_warnings(one) == [
        "2 paraphrase: test turns with a paraphrase donor in train: template overlap of two splits "
        "(donors_from=train takes donors from the training split alone)",
        "1 paraphrase: questions worded by rules in place of the model (refused)",
    ]


def test_pieces_of_a_shard_are_sorted_also_where_few_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [Out("a.jsonl", bytes([number * 37 % 256, number % 7]), number % 3, b"x" * (number % 90)) for number in range(300)]
    values = [one.item(1)[1] for one in made]
    expected = sorted((one.order, one.records, one.line) for one in made)
    for memory in (1 << 30, 2_000, 1):
        monkeypatch.setattr("dialmill.pipelines.core.stage.SORTED", memory)
        with sorted_pieces(values) as pieces:
            assert list(pieces) == expected == out_pieces(values)
    with sorted_pieces([]) as pieces:
        assert list(pieces) == []


@given(
    st.lists(st.tuples(st.sampled_from(["a.json", 'a"b', "a.json/é", "b", "simulated/x", "other"]), st.integers(0, 3000)), max_size=40), st.booleans()
)
def test_rejects_in_shards_keep_their_order(places: list[tuple[str, int]], many: bool) -> None:
    names = ["a.json", 'a"b', "a.json/é", "b", *(f"c{number}" for number in range(40 if many else 0))]
    stage = DivideRejects(names)
    made = []
    for file, index in places:
        key, value = Reject("read", "reason", "", file, index, "x").out().item(1)
        ((_, (divided, same)),) = stage.process((key, value))
        assert same == value and divided.startswith("rejects/read.jsonl\t")
        made.append((int(divided.rpartition("\t")[2]), order_of(value)))
    assert [order for _, order in sorted(made)] == sorted(order for _, order in made)
    ((_, other),) = stage.process(("dialogues/standard/test.jsonl\t3", b"x"))
    assert other == ("dialogues/standard/test.jsonl\t3", b"x")


def test_rejects_in_shards_are_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = ["suites=standard", "hard_share=", "min_turns=12"]
    plain("splits", [DATA / "multiwoz21", DATA / "risawoz"], tmp_path / "one", *settings)
    monkeypatch.setattr("dialmill.pipelines.core.benchmark.SHARD_BYTES", 30_000)
    written: set[str] = set()
    create = files.create

    def noted(path: str) -> Any:
        written.add(path.rpartition("parts/")[2])
        return create(path)

    monkeypatch.setattr(files, "create", noted)
    plain("splits", [DATA / "multiwoz21", DATA / "risawoz"], tmp_path / "many", *settings)
    assert len([one for one in written if one.startswith("rejects/filter")]) > 4
    assert hashes(tmp_path / "one") == hashes(tmp_path / "many")
