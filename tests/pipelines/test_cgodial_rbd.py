"""Retrieval-based dialogues: from the E-commerce Dialogue Corpus to hard, unambiguous, spoken examples in CGoDial's own form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.benchmarks.cgodial.rbd import ambiguity as retrieval
from dialmill.pipelines.benchmarks.cgodial.rbd.benchmark import CgodialRbd
from dialmill.pipelines.benchmarks.cgodial.rbd.meaning import Meaning, same_topic
from dialmill.pipelines.benchmarks.registry import load_recipe
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.ecd import joined
from dialmill.schemas import Dialogue, Turn
from hypothesis import given
from hypothesis import strategies as st

from tests.pipelines.source_tools import parse, read_data
from tests.pipelines.tools import DATA, call, hashes, manifest, plain, records, rejects


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("rbd") / "out"
    plain("cgodial-rbd", [DATA / "ecd"], out)
    return out


def _load(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def test_the_release_has_so_many_candidates_and_each_is_wrong_or_right(built: Path) -> None:
    answers = {one.source_id: one.turns[-1].utterance for one in records(built)}
    for name, count in (("train", 2), ("dev", 2), ("test", 10)):
        examples = _load(built / "release" / f"{name}.json")
        assert examples
        for source_id, one in examples.items():
            assert one["true"] == [answers.pop(source_id)] and len(one["false"]) == count - 1
            texts = one["true"] + one["false"]
            assert not any(retrieval.nearly_equal(a, b) for at, a in enumerate(texts) for b in texts[:at])
            assert not set(texts) & set(one["history"])
    assert not answers


def test_the_noesis_form_holds_the_same_in_an_order_that_tells_nothing(built: Path) -> None:
    places = []
    for name in ("train", "dev", "test"):
        examples = _load(built / "release" / f"{name}.json")
        shuffled = _load(built / "release" / f"ecd_{name}_subtask_1.json")
        assert len(shuffled) == len(examples)
        for one, same in zip(shuffled, examples.values(), strict=True):
            texts = [option["utterance"] for option in one["options-for-next"]]
            assert sorted(texts) == sorted(same["true"] + same["false"])
            assert [message["utterance"] for message in one["messages-so-far"]] == same["history"]
            assert one["messages-so-far"][-1]["speaker"] == "participant_1"
            (right,) = one["options-for-correct-answers"]
            assert right["utterance"] == same["true"][0] and right in one["options-for-next"]
            places.append(texts.index(right["utterance"]) / (len(texts) - 1))
    assert 0 < sum(place == 0 for place in places) < len(places) and 0.25 < sum(places) / len(places) < 0.75


def test_the_hard_test_set_is_told_by_places(built: Path) -> None:
    names = list(_load(built / "release" / "test.json"))
    hard = {one.source_id for suite in ("standard", "spoken") for one in records(built, suite, "test_hard")}
    assert {names[place] for place in _load(built / "release" / "hard_dialog_id.json")} == hard


def test_candidates_are_audited_in_every_build(built: Path) -> None:
    audited = manifest(built)["audit"]
    assert set(audited) == {f"release/ecd_{name}_subtask_1.json" for name in ("train", "dev", "test")}
    assert audited["release/ecd_test_subtask_1.json"]["chance"] == 0.1


def test_the_history_is_spoken_and_the_candidates_are_not(built: Path) -> None:
    spoken = {one.source_id: one for one in records(built, "spoken")}
    clean = {one.source_id: one for one in records(built)}
    changed = 0
    for name in ("train", "dev", "test"):
        for source_id, one in _load(built / "release" / f"{name}.json").items():
            heard = spoken.get(source_id, clean[source_id])
            assert one["history"] == [turn.utterance for turn in heard.turns[:-1]]
            changed += one["history"] != [turn.utterance for turn in clean[source_id].turns[:-1]]
    assert changed > 0.8 * len(clean)


def test_easy_examples_are_left_out_with_a_reason_and_sizes_take_the_hardest(built: Path, tmp_path: Path) -> None:
    easy = rejects(built, "filter")
    assert easy and {one["reason"] for one in easy} <= {"too_easy", "ambiguous_response", "ambiguous_candidates"}
    means = {one.source_id: float(one.lineage[0].reasons[0].split(": ")[1]) for one in records(built)}
    assert max(means.values()) <= 0.8
    plain("cgodial-rbd", [DATA / "ecd"], tmp_path / "few", "train_size=4", "suites=standard")
    taken = [means[one.source_id] for one in records(tmp_path / "few", "standard", "train")]
    assert sorted(taken) == sorted(means[one.source_id] for one in records(built, "standard", "train"))[:4]


def test_books_balance_and_verify_says_so(built: Path) -> None:
    assert call("verify", built).code == 0 and call("validate", built / "release").code == 0
    stages = {stage["name"]: stage for stage in manifest(built)["stages"]}
    assert stages["read"]["in"] == 50 and stages["filter"]["out"] == stages["examples"]["in"] == stages["examples"]["out"]
    assert not manifest(built)["overlap"]


def test_beam_and_plain_calls_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    result = call("build", "cgodial-rbd", "--input", DATA / "ecd", "--output", tmp_path / "out", "--quiet")
    assert result.code == 0, result.err
    assert hashes(tmp_path / "out", "release", "dialogues", "rejects") == hashes(built, "release", "dialogues", "rejects")


def test_candidates_are_drawn_from_other_dialogues_where_the_file_has_too_few(tmp_path: Path) -> None:
    """A training file alone, split by hash: its test examples come with one wrong response and get nine."""
    plain(
        "cgodial-rbd", [DATA / "ecd" / "train.txt"], tmp_path / "out", "max_accuracy=1", "fractions=train:0.3,valid:0.1,test:0.6", "suites=standard"
    )
    test = _load(tmp_path / "out" / "release" / "test.json")
    assert len(test) > 10 and all(len(one["false"]) == 9 for one in test.values())
    own = {one.turns[-1].utterance for one in records(tmp_path / "out", "standard", "train", "valid")}
    assert sum(text in own for one in test.values() for text in one["false"]) < 20, "test draws from test, but for what the file itself gives"


def test_answers_can_be_held_out(tmp_path: Path) -> None:
    plain("cgodial-rbd", [DATA / "ecd"], tmp_path / "out", "held_out_labels=true", "suites=standard")
    assert not (tmp_path / "out" / "release" / "test.json").exists() and (tmp_path / "out" / "labels" / "release" / "test.json").exists()
    assert all("options-for-correct-answers" not in one for one in _load(tmp_path / "out" / "release" / "ecd_test_subtask_1.json"))
    assert call("verify", tmp_path / "out").code == 0


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("今天就发哦", "今天就发的哦", True),
        ("今天就发哦", "今天 就发，哦！", True),
        ("可以的亲，两天到", "不可以的，换一款吧", False),
        ("好的", "好吧", False),
        ("发邮政的哦", "发韵达的哦", False),
    ],
)
def test_near_equal_responses(one: str, other: str, near: bool) -> None:
    assert retrieval.nearly_equal(one, other) == retrieval.nearly_equal(other, one) == near


def test_a_tie_counts_by_its_chance() -> None:
    assert retrieval.accuracy(["完全无关"], "甲乙", ["丙丁", "戊己"], "zh") == pytest.approx(1 / 3)
    assert retrieval.accuracy(["茶叶是新茶吗"], "茶叶是新茶的", ["发邮政"], "zh") == 1.0


@given(st.lists(st.text("甲乙丙丁戊己庚辛", min_size=1, max_size=6), max_size=12), st.integers(2, 6))
def test_chosen_candidates_are_distinct_or_none(texts: list[str], count: int) -> None:
    found = retrieval.choose("子丑寅卯", texts, ["辰巳午未", "申酉戌亥"], ["甲乙丙丁"], count, Rng(1))
    assert found == retrieval.choose("子丑寅卯", texts, ["辰巳午未", "申酉戌亥"], ["甲乙丙丁"], count, Rng(1))
    if found is not None:
        assert len(found) == count and len(retrieval.usable("子丑寅卯", found, ["甲乙丙丁"])) == count


def test_lines_of_one_context_are_one_dialogue() -> None:
    data = "1\t在 吗\t在 的 亲\n0\t在 吗\t没 有 了\n1\t在 吗\t您 好\n0\t你 好\tEMS 可以\n1\t你 好\t5 折 起".encode()
    found = list(registry.get("ecd").pieces("dialogues", "x/train.txt", data))
    dialogues = [json.loads(raw) for _, kind, raw in found if kind == "dialogue"]
    assert [(one["true"], one["false"]) for one in dialogues] == [(["在 的 亲"], ["没 有 了"]), (["您 好"], []), (["5 折 起"], ["EMS 可以"])]
    read = read_data(registry.get("ecd"), {"x/train.txt": data})
    assert [dialogue.turns[-1].utterance for dialogue in read.dialogues.values()] == ["在的亲", "您好", "5折起"]
    assert {dialogue.split for dialogue in read.dialogues.values()} == {"train"}


@pytest.mark.parametrize(("text", "plain_text"), [("在 的 亲", "在的亲"), ("ems  express 可以", "ems express可以"), ("100 片 装", "100片装")])
def test_blanks_between_words_go(text: str, plain_text: str) -> None:
    assert joined(text) == plain_text


@pytest.mark.parametrize("data", [b"2\ta\tb", b"1\ta", b"1\ta\tb\nx", b"\xff\t\t"])
def test_a_broken_file_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"line \d|UTF-8"):
        list(registry.get("ecd").pieces("dialogues", "train.txt", data))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"context": ["a"], "true": [], "false": ["b"]}, "no_right_response"),
        ({"context": ["a"], "true": ["b", "c"], "false": []}, "several_right_responses"),
        ({"context": [], "true": ["b"], "false": []}, "empty_dialogue"),
        ({"context": [" "], "true": ["b"], "false": []}, "empty_utterance"),
        ({"context": [1], "true": ["b"], "false": []}, "wrong_type"),
    ],
)
def test_a_broken_example_is_refused_with_a_reason(record: dict[str, Any], reason: str) -> None:
    with pytest.raises(RecordError) as refusal:
        parse(registry.get("ecd"), record)
    assert refusal.value.reason == reason


def test_examples_of_one_session_stay_in_one_split(tmp_path: Path) -> None:
    lines = []
    for number in range(40):
        opening = f"在吗{number}" if number % 2 else f"我前天买的第{number}件衣服还没有发货"
        turns = [
            opening,
            f"您好请问订单号{number}是多少呢",
            f"是{number * 7}号订单",
            f"正在为您查询{number}号快递",
            f"好的麻烦快一点{number}",
            f"明天就到您家{number}",
        ]
        for cut in (1, 3, 5):
            lines += ["\t".join(["1", *turns[: cut + 1]]), "\t".join(["0", *turns[:cut], f"不支持第{number + 1}种颜色换货{cut}"])]
    (tmp_path / "talk.txt").write_text("\n".join(lines), "utf-8")
    plain("splits", [tmp_path / "talk.txt"], tmp_path / "out", "splits=hash", "fractions=train=0.5,valid=0.25,test=0.25")
    splits: dict[str, set[str]] = {}
    for one in records(tmp_path / "out"):
        splits.setdefault(one.turns[0].utterance, set()).add(str(one.split))
    assert len(splits) == 40 and all(len(found) == 1 for found in splits.values()), splits
    assert set().union(*splits.values()) == {"train", "valid", "test"}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("普通厚度的", "不加厚的就是普通厚度的不算薄的", True),
        ("我们是包邮的亲", "亲亲，这边都包邮哦", True),
        ("好的亲亲", "好的呢客官", True),
        ("抱歉让您久等了", "不好意思哦亲", True),
        ("您要几包呢", "一共发五包湿巾", False),
        ("今天下午发货", "这个颜色没有货了", False),
    ],
)
def test_what_says_the_same_in_other_words_is_no_wrong_response(one: str, other: str, same: bool) -> None:
    meaning = Meaning([one, other, "今天发货哦亲", "颜色很多", "湿巾很好用", "您要哪种"])
    assert meaning.same(one, other, 0.2) is meaning.same(other, one, 0.2) is same
    assert (other in retrieval.usable(one, [other], (), meaning, 0.2)) is not same


@pytest.mark.parametrize(
    ("question", "answer", "other", "same"),
    [
        ("什么时候发货", "芒果干今天发货哦", "48小时内发货哦早拍早发货", True),
        ("这个有活动吗", "8号有活动，更优惠哦", "现在没有活动的亲", True),
        ("发什么快递", "默认是邮政，也可以发其他快递", "亲亲，快递是随机发的", True),
        ("什么时候发货", "芒果干今天发货哦", "纯棉的更软一些", False),
        ("这个有活动吗", "可以先领券哦", "现在没有活动的亲", False),
        ("请问是什么时候呢", "现在可以的亲", "什么时候都可以", False),
        ("能不能提前给我优惠", "亲亲不可以哦这个保密哦", "没有其他优惠了亲", True),
        ("这个能不能改地址", "亲不能改了哦", "不好意思地址是改不了的", False),
        ("能不能提前给我优惠", "亲亲不可以哦这个保密哦", "没有原味的哦", False),
    ],
)
def test_what_is_about_the_thing_asked_and_answered_is_no_wrong_response(question: str, answer: str, other: str, same: bool) -> None:
    """Today and within two days can't be told apart by who reads the context alone."""
    assert same_topic(question, answer, other) is same
    assert (other in retrieval.usable(answer, [other], ("您好", question), Meaning(), 1.0)) is not same


@pytest.mark.parametrize(
    ("text", "anywhere"),
    [
        *[
            (text, True)
            for text in ("好的呢亲", "恩恩亲亲", "不好意思呢亲", "我帮您问下哦稍等哦", "稍等哦客官我这边查询下您的订单", "好的呢我帮您催下哦")
        ],
        *[(text, False) for text in ("芒果干今天发货哦", "好的亲，包邮的", "稍等，赠品要看库存的", "查一下您的地址对不对")],
    ],
)
def test_what_fits_anywhere_is_neither_a_right_response_nor_a_wrong_one(text: str, anywhere: bool) -> None:
    dialogue = Dialogue(dialogue_id="x", source="ecd", source_id="x", turns=(Turn(0, "user", "什么时候发货"), Turn(1, "system", text)))
    refused = False
    try:
        CgodialRbd().assess(dialogue, msgspec.msgpack.encode(["纯棉的更软一些"]), load_recipe("cgodial-rbd"), 1)
    except RecordError as error:
        refused = error.reason == "ambiguous_response"
    assert refused is anywhere
    assert (text in retrieval.usable("纯棉的更软一些", [text], ("您好", "哪种软"), Meaning(), 1.0)) is not anywhere


def test_what_is_asked_may_stand_in_two_utterances() -> None:
    context = ("茶具订单满九十九包邮", "是的亲", "不合理呀")
    assert retrieval.usable("满99就包邮哦", ["现在不包邮哦"], context, Meaning(), 1.0) == []


def test_both_sides_of_a_context_are_read_out_and_the_response_is_not(built: Path, tmp_path: Path) -> None:
    plain("cgodial-rbd", [DATA / "ecd"], tmp_path / "out", "noised=customer")
    changed = {}
    for name, folder in (("both", built), ("customer", tmp_path / "out")):
        found = {"user": 0, "system": 0}
        for record in records(folder, "spoken"):
            for turn in record.turns[:-1]:
                found[turn.speaker] += turn.original is not None
            assert record.turns[-1].original is None
        changed[name] = found
    assert changed["both"]["system"] > 0 and changed["customer"]["system"] == 0
    assert changed["both"]["user"] == changed["customer"]["user"] > 0
