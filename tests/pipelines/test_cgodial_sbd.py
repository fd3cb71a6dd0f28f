"""Slot-based dialogues: RiSAWOZ with questions, out-of-scope turns and spoken noise, in the form that CGoDial's systems read."""

from __future__ import annotations

import difflib
import json
import re
import shutil
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import parse
from dialmill.perturbers.insertion.questions import held_out
from dialmill.pipelines.benchmarks.cgodial.sbd import release as slots
from dialmill.pipelines.benchmarks.cgodial.sbd.check import check_release
from dialmill.pipelines.benchmarks.cgodial.sbd.scorer import parse_state
from dialmill.pipelines.benchmarks.cgodial.sbd.slots import hard_id
from dialmill.pipelines.scoring.state import state_of
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn
from dialmill.schemas.dialogue import decode

from tests import published
from tests.pipelines.tools import DATA, call, manifest, plain, records

DOMAINS = {"旅游景点", "汽车", "辅导班", "飞机", "医院", "酒店", "电影", "电脑", "餐厅", "火车", "电视剧", "天气", "通用"}
ACTS = {"request", "inform", "recommend", "affirm", "negate", "nooffer", "general", "bye", "fallback"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sbd") / "out"
    plain("cgodial-sbd", [DATA / "risawoz"], out)
    return out


def _load(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _release(out: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    loaded: dict[str, dict[str, list[dict[str, Any]]]] = _load(out / "release/data/processed/data_for_damd.json")
    return loaded


def test_the_release_is_what_the_loader_reads(built: Path) -> None:
    dialogues = _release(built)
    listed = {name: _load(built / f"release/data/risawoz/{name}ListFile.json") for name in ("train", "val", "test")}
    assert sorted(one for ids in listed.values() for one in ids) == sorted(dialogues)
    assert [len(listed[name]) for name in ("train", "val", "test")] == [20, 7, 8]
    allowed = _load(built / "release/data/processed/slot_value_set.json")
    assert set(allowed) <= DOMAINS
    for versions in dialogues.values():
        assert tuple(versions) == slots.VERSIONS
        for turns in zip(*versions.values(), strict=True):
            assert len({json.dumps({**turn, "user": ""}) for turn in turns}) == 1, "versions differ in what was transcribed, and in nothing else"
            turn = turns[0]
            assert set(re.findall(r"\[(\w+)\]", turn["turn_domain"])) <= DOMAINS and turn["turn_domain"]
            assert re.fullmatch(r"(\[db_[0-3]\])?", turn["db"])
            assert set(re.findall(r"\[(\w+)\]", turn["sys_act"])) <= DOMAINS | ACTS
            for domain, cells in re.findall(r"\[(\w+)\] ([^\[]+)", turn["constraint"]):
                assert all(cell.split("=")[0] in allowed[domain] for cell in cells.strip().split("|"))
            assert all(slot in turn["sys_act"] for slot in turn["turn_succ"])
        assert [turn["turn_num"] for turn in versions["log"]] == list(range(len(versions["log"])))


def test_questions_and_out_of_scope_turns_are_specially_requested_slots(built: Path) -> None:
    turns = [turn for versions in _release(built).values() for turn in versions["log"]]
    asked = [turn for turn in turns if turn["type"] == "extra_know"]
    unknown = [turn for turn in turns if turn["type"] == "out_of_know"]
    assert asked and unknown and len(asked) + len(unknown) < len(turns)
    for turn in asked:
        (label,) = turn["turn_succ"]
        assert re.fullmatch(r"\[\w+\] \[inform\] [A-Z]\w+", turn["sys_act"]) and turn["sys_act"].endswith(label)
    for turn in unknown:
        assert (turn["resp"], turn["sys_act"], turn["turn_succ"]) == ("抱歉，我不知道。", "[通用] [fallback] OOS", ["OOS"])


def test_the_hard_test_set_orders_the_versions_of_each_turn(built: Path) -> None:
    hard = {one.source_id for suite in ("standard", "spoken") for one in records(built, suite, "test_hard")}
    marks, dialogues = _load(built / "release/data/risawoz/hard_data_id_sorted.json"), _release(built)
    assert set(marks) == hard and hard
    for name, turns in marks.items():
        assert len(turns) == len(dialogues[name]["log"])
        assert all(versions[0] == "log" and sorted(versions) == sorted(slots.VERSIONS) for versions in turns)


def test_held_out_questions_stand_in_no_training_dialogue(built: Path) -> None:
    dialogues, hidden = _release(built), held_out("", 0.13)
    for name in ("train", "val"):
        ids = _load(built / f"release/data/risawoz/{name}ListFile.json")
        assert not {slot for one in ids for turn in dialogues[one]["log"] for slot in turn["turn_succ"]} & hidden


def test_the_same_turns_are_in_every_version_and_the_spoken_ones_differ(built: Path) -> None:
    clean = {one.source_id: one for one in records(built)}
    different = total = 0
    for one in records(built, "spoken"):
        source = clean[one.source_id]
        assert [(turn.labels, turn.speaker, turn.state, turn.acts) for turn in one.turns] == [
            (turn.labels, turn.speaker, turn.state, turn.acts) for turn in source.turns
        ]
        different += sum(a.utterance != b.utterance for a, b in zip(one.turns, source.turns, strict=True) if a.speaker == "user")
        total += sum(turn.speaker == "user" for turn in one.turns)
    assert different > 0.5 * total
    assert any("inserted" in turn.labels for one in clean.values() for turn in one.turns)
    assert all(dialogue.dialogue_id.endswith("/standard/0") for dialogue in clean.values())


def test_every_version_has_the_source_s_turns_in_their_order_and_more_only_where_they_are_inserted(built: Path) -> None:
    """The paper counts utterances of both sides of RiSAWOZ (13.5 a dialogue in val, 15.5 in test), which no version may lose."""
    source = {one["dialogue_id"]: one["dialogue"] for path in (DATA / "risawoz").glob("*.json") for one in _dialogues_of(path)}
    added = 0
    for name, versions in _release(built).items():
        pairs = source[name]
        for version, turns in versions.items():
            kept = [turn for turn in turns if turn["type"] not in ("extra_know", "out_of_know")]
            assert len(kept) == len(pairs) and len(turns) <= len(pairs) + 4, (name, version)
            if version == "log":
                assert ["".join(turn["user"].split()) for turn in kept] == ["".join(pair["user_utterance"].split()) for pair in pairs]
        added += len(versions["log"]) - len(pairs)
    # One or two questions with a probability of 0.5, and one or two out-of-scope turns with one of 0.6.
    assert 0.8 * len(source) < added < 2.2 * len(source)


def _dialogues_of(path: Path) -> list[dict[str, Any]]:
    loaded = _load(path)
    return loaded if isinstance(loaded, list) and loaded and "dialogue" in loaded[0] else []


def test_the_spoken_versions_are_slightly_reworded_and_differ_among_themselves(built: Path) -> None:
    """Read out three times over "varying the expression subtly": most characters of what was written are still there."""
    near, alike, total = 0.0, 0, 0
    for versions in _release(built).values():
        for turns in zip(*versions.values(), strict=True):
            written, *heard = ["".join(re.findall(r"\w", turn["user"])) for turn in turns]
            near += sum(difflib.SequenceMatcher(None, written, one, autojunk=False).ratio() for one in heard) / len(heard)
            alike += len(set(heard)) < len(heard)
            total += 1
    found = manifest(built)["speech"]["transcribed"]["spoken"]["zh"]
    assert near / total > 0.7 and alike < 0.5 * total
    assert found["rate"] < 0.36 and 0.05 < found["speech_alone"]["rate"] < 0.2


def test_rates_are_those_of_the_recipe(tmp_path: Path) -> None:
    plain("cgodial-sbd", [DATA / "risawoz"], tmp_path / "none", "question_chance=0", "oos_chance=0", "suites=standard")
    assert not any(turn.inserted for one in records(tmp_path / "none") for turn in one.turns)
    plain("cgodial-sbd", [DATA / "risawoz"], tmp_path / "all", "question_chance=1", "oos_chance=1", "oos_answer=不清楚。", "suites=standard")
    made = records(tmp_path / "all")
    counts = [sum("oos" in turn.labels for turn in one.turns) for one in made]
    assert min(counts) >= 1 and max(counts) == 2
    assert {one.turns[turn.turn + 1].utterance for one in made for turn in one.turns if "oos" in turn.labels} == {"不清楚。"}
    assert sum(any("extra_know" in turn.labels for turn in one.turns) for one in made) > 0.7 * len(made)


def test_counts_are_consistent_and_verify_and_validate_say_so(built: Path) -> None:
    assert call("verify", built).code == 0 and call("validate", built / "release").code == 0
    stages = {stage["name"]: stage for stage in manifest(built)["stages"]}
    turns = sum(len(one.turns) for one in records(built))
    assert stages["insert turns"]["out"] == turns and stages["insert turns"]["in"] == 2 * 181
    assert manifest(built)["overlap"].get("train/test", {}).get("exact", 0) == 0


def test_test_labels_can_be_held_out(tmp_path: Path) -> None:
    plain("cgodial-sbd", [DATA / "risawoz"], tmp_path / "out", "held_out_labels=true", "suites=standard")
    test = _load(tmp_path / "out/release/data/risawoz/testListFile.json")
    dialogues, labels = _release(tmp_path / "out"), _load(tmp_path / "out/labels/release/data/processed/data_for_damd.json")
    assert sorted(labels) == sorted(test)
    for one in test:
        for turn, told in zip(dialogues[one]["log"], labels[one]["log"], strict=True):
            assert turn["user"] == told["user"] and told["sys_act"] and told["resp"]
            assert not (turn["constraint"] or turn["sys_act"] or turn["resp"] or turn["turn_succ"]) and turn["type"] == "regular"
    assert call("verify", tmp_path / "out").code == 0


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("question_pairs=/gone.json", "/gone.json"),
        ("question_chance=2", "question_chance must be a number from 0 to 1"),
        ("held_out_share=1", "held_out_share must be a number of at least 0 and below 1"),
        ("oos_most=0", "oos_most must be a whole number of at least 1"),
        ("oos_texts=/gone.txt", "there is no file /gone.txt"),
    ],
)
def test_bad_settings_are_wrong_usage(setting: str, told: str, tmp_path: Path) -> None:
    result = call("build", "cgodial-sbd", "--input", DATA / "risawoz", "--output", tmp_path / "out", "--set", setting)
    assert result.code == 2 and told in result.err


def test_other_sources_are_refused(tmp_path: Path) -> None:
    result = call("build", "cgodial-sbd", "--input", DATA / "crosswoz", "--output", tmp_path / "out")
    assert result.code == 1 and "reads RiSAWOZ" in result.err


def test_a_turn_to_the_letter() -> None:
    user = Turn(
        0,
        "user",
        "在姑苏区找家餐厅，评分要告诉我。",
        acts=(Act("inform", "餐厅", "区域", "姑苏区"), Act("request", "餐厅", "名称"), Act("request", "餐厅", "评分")),
        state=(SlotValues("餐厅", "区域", ("姑苏区",)), SlotValues("餐厅", "价位", ("中等",)), SlotValues("酒店", "星级", ("5",))),
    )
    system = Turn(
        1,
        "system",
        "推荐云溪小馆，4.5分。",
        acts=(
            Act("recommend", "餐厅", "名称", "云溪小馆"),
            Act("inform", "餐厅", "评分", "4.5"),
            Act("greeting", "通用"),
            Act("inform", "餐厅", "区域", "姑苏区"),
        ),
        spans=(Span(2, 6, "云溪小馆", "餐厅", "名称", "云溪小馆"), Span(7, 11, "4.5分", "餐厅", "评分", "4.5")),
    )
    dialogue = Dialogue(dialogue_id="x", source="risawoz", source_id="x", turns=(user, system))
    assert slots.turns(dialogue, [7]) == [
        {
            "user": "在姑苏区找家餐厅，评分要告诉我。",
            "constraint": "[餐厅] 区域=姑苏区|价位=中等 [酒店] 星级=5",
            "db": "[db_3]",
            "sys_act": "[餐厅] [recommend] 名称 [inform] 评分|区域 [通用] [general]",
            "resp": "推荐[v_名称]，[v_评分]。",
            "turn_domain": "[餐厅]",
            "turn_num": 0,
            "type": "regular",
            "turn_succ": ["名称", "评分"],
        }
    ]
    assert [slots.db_token(number) for number in (None, 0, 1, 2, 3, 4, 99)] == ["", "[db_0]", "[db_1]", "[db_2]", "[db_2]", "[db_3]", "[db_3]"]


def _asking(*slots: tuple[str, str]) -> Dialogue:
    """A turn that asks for (domain, slot), and an answer that tells them all, and the place of a restaurant last."""
    user = Turn(0, "user", "请问", acts=tuple(Act("request", domain, slot) for domain, slot in slots))
    told = [*slots, ("餐厅", "区域")]
    system = Turn(1, "system", "您好", acts=tuple(Act("inform", domain, slot, "1") for domain, slot in told))
    return Dialogue(dialogue_id="x", source="risawoz", source_id="x", turns=(user, system))


@pytest.mark.parametrize(
    "slots_asked",
    [
        [("医院", "3.0T MRI"), ("餐厅", "价格(元)")],
        [("餐厅", "人均消费"), ("酒店", "电话/手机"), ("旅游景点", "门票")],
        [("电脑", "Owner's note"), ("电脑", 'the "best" one\'s'), ("电脑", "back\\slash")],
        [("酒店", "早餐|午餐"), ("酒店", "WiFi [inform]"), ("酒店", "[餐厅] 距离"), ("酒店", "房价=")],
    ],
)
def test_the_right_acts_are_right_as_published_whatever_the_names(slots_asked: list[tuple[str, str]]) -> None:
    """Also put in lower case, as one of the two published readers does."""
    (turn,) = slots.turns(_asking(*slots_asked), [None])
    assert turn["turn_succ"], "something is still asked"
    for one in (turn, json.loads(json.dumps(turn, ensure_ascii=False).lower())):
        assert published.slot_turn_right(one["sys_act"], one["sys_act"], one["turn_succ"])
    assert set(re.findall(r"\[(\w+)\]", str(turn["sys_act"]))) <= DOMAINS | ACTS


def test_values_keep_what_the_published_reader_splits_at() -> None:
    values = {"名称": "[餐厅] 之家", "价位": "30=40", "区域": "东|西"}
    state = tuple(SlotValues("酒店", slot, (value,)) for slot, value in values.items())
    read = published.slot_state(slots.constraint(Turn(0, "user", "", state=state)))
    assert {slot: unicodedata.normalize("NFKC", value) for slot, value in read["[酒店]"].items()} == {
        slot: value.replace(" ", "") for slot, value in values.items()
    }
    assert parse_state(slots.constraint(Turn(0, "user", "", state=state))) == state_of([("酒店", k, [v]) for k, v in values.items()], "zh", False)


def test_hard_dialogues_stand_under_the_ids_that_the_published_evaluation_looks_for() -> None:
    for name, due in {"Hospital_goal_1": "Hospital_goal_1", "MyShop-1": "myshop-1", "hotel_car_goal": "hotel_Car_goal", "pc_9": "PC_9"}.items():
        assert hard_id(name) == due == hard_id(name.lower())


def test_verify_names_ids_and_domains_that_the_published_readers_mistake(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(built, folder)
    place = folder / "release/data/processed/data_for_damd.json"
    dialogues = _load(place)
    name = next(iter(dialogues))
    logs = json.loads(re.sub("|".join(rf"\[{domain}\]" for domain in DOMAINS), "[宠物店]", json.dumps(dialogues[name], ensure_ascii=False)))
    place.write_text(json.dumps({**dialogues, name.upper(): logs}), "utf-8")
    told = " ".join(check_release(folder, manifest(folder)["recipe"]).problems)
    assert f"{name.upper()} and {name} are one dialogue" in told and "don't know [宠物店]" in told


def test_the_published_reader_trains_on_the_few_alone(built: Path) -> None:
    """It takes whatever is neither of val nor of test; the few-shot set is a data folder of its own."""
    few, whole = built / "release/few_shot/data", built / "release/data"
    dialogues = json.loads((few / "processed/data_for_damd.json").read_text("utf-8"))
    lists = {split: json.loads((few / f"risawoz/{split}ListFile.json").read_text("utf-8")) for split in ("train", "val", "test")}
    every = json.loads((whole / "risawoz/trainListFile.json").read_text("utf-8"))
    trained_on = set(dialogues) - set(lists["val"]) - set(lists["test"])
    assert trained_on == set(lists["train"]) <= set(every) and trained_on
    for split in ("val", "test"):
        assert lists[split] == json.loads((whole / f"risawoz/{split}ListFile.json").read_text("utf-8"))
    assert (few / "processed/slot_value_set.json").read_bytes() == (whole / "processed/slot_value_set.json").read_bytes()
    assert {record.source_id for record in _few_records(built)} == trained_on


def _few_records(folder: Path) -> list[Dialogue]:
    with (folder / "few_shot/standard/train.jsonl").open("rb") as lines:
        return [decode(line) for line in lines]


def test_the_errors_of_the_speech_alone_are_told(built: Path) -> None:
    """Beside the distance from what was written, which rewording and the slips of speech make as well."""
    found = manifest(built)["speech"]["transcribed"]["spoken"]["zh"]
    alone = found["speech_alone"]
    assert 0 < alone["rate"] < 0.8 * found["rate"] and alone["turns"] > 20 and alone["low"] < alone["rate"] < alone["high"]
    plain_speech = parse("speech:engine=text,wer=0.1").perturber
    one = records(built, "standard", "train")[0]
    assert plain_speech.once(one, 1, 0, 0).events == (), "where no step was before the speech, its errors are all there are"
