"""Questions that no slot answers: where they stand, what they are labelled with, which pairs a split may have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import OptionError
from dialmill.perturbers.insertion.out_of_scope import candidates
from dialmill.perturbers.insertion.questions import EXTRA, QUESTION, Questions, held_out, load
from dialmill.perturbers.insertion.turns import reacts, waits
from dialmill.pipelines.sources import registry
from dialmill.schemas import Act, Dialogue, Turn
from dialmill.schemas.files import validate_file
from dialmill.schemas.semantics import dialogue_faults

from tests.pipelines.source_tools import read_paths

ROOT = Path(__file__).parents[2]
DOMAINS = ["旅游景点", "汽车", "辅导班", "飞机", "医院", "酒店", "电影", "电脑", "餐厅", "火车", "电视剧", "天气"]


@pytest.fixture(scope="module")
def corpus() -> list[Dialogue]:
    return list(read_paths(registry.get("risawoz"), sorted((ROOT / "data" / "risawoz").glob("*.json"))).dialogues.values())


def test_our_own_pairs() -> None:
    pairs = load("")
    assert len(pairs) >= 60 and {domain for one in pairs for domain in one.domains} == set(DOMAINS)
    assert all(len(set(one.questions)) >= 5 and one.answers for one in pairs)
    file = ROOT / "data" / "questions" / "questions.json"
    assert load(str(file)) == pairs, "data/ shows the form that a user's file has"
    assert validate_file(file).ok and validate_file(file).schema == "questions"


def test_no_out_of_scope_utterance_asks_what_a_pair_answers() -> None:
    asked = [{text[at : at + 2] for at in range(len(text) - 1)} for one in load("") for text in one.questions]
    for one in candidates("", "zh"):
        assert not any(sum(pair in one.text for pair in pairs) >= 0.6 * len(pairs) for pairs in asked), one.text


def test_a_question_stands_behind_what_it_is_about(corpus: list[Dialogue]) -> None:
    pairs = {one.label: one for one in load("")}
    inserted = 0
    for dialogue in corpus:
        for seed in range(4):
            made = Questions().perturb(dialogue.replace(split="train"), seed)
            assert not [fault for fault in dialogue_faults(made) if not fault[0].startswith("dialogue_id")]
            assert [turn for turn in made.turns if not turn.inserted] == [
                turn.replace(turn=place) for turn, place in zip(dialogue.turns, (t.turn for t in made.turns if not t.inserted), strict=True)
            ]
            labels = []
            for turn in made.turns:
                if not (turn.inserted and turn.speaker == "user"):
                    continue
                inserted += 1
                (label,) = [one[len(QUESTION) :] for one in turn.labels if one.startswith(QUESTION)]
                pair, answer, before = pairs[label], made.turns[turn.turn + 1], made.turns[turn.turn - 1]
                labels.append(label)
                assert EXTRA in turn.labels and EXTRA in answer.labels and answer.inserted and answer.utterance in pair.answers
                assert any(turn.utterance.endswith(wording) for wording in pair.questions)
                assert turn.acts == (Act("request", pair.domains[0], label.lower()),)
                assert answer.acts == (Act("inform", pair.domains[0], label.lower()),)
                assert turn.state == next((one.state for one in reversed(made.turns[: turn.turn]) if one.speaker == "user"), ())
                assert not waits(before) and pair.domains[0] in {act.domain for act in before.acts}
                if turn.turn + 2 < len(made.turns):
                    assert not reacts(made.turns[turn.turn + 2])
            assert len(set(labels)) == len(labels) <= 2
    assert inserted > 60


def test_held_out_pairs_are_met_in_testing_alone(corpus: list[Dialogue]) -> None:
    hidden = held_out("", 0.13)
    assert len(hidden) == round(0.13 * len(load("")))
    met: dict[str, set[str]] = {"train": set(), "valid": set(), "test": set()}
    for split, labels in met.items():
        for dialogue in corpus:
            for seed in range(6):
                made = Questions().perturb(dialogue.replace(split=split), seed)
                labels |= {one[len(QUESTION) :] for turn in made.turns for one in turn.labels if one.startswith(QUESTION)}
    assert not (met["train"] | met["valid"]) & hidden
    assert len(met["test"] & hidden) >= 3 and met["test"] - hidden


def test_the_chance_is_that_of_a_dialogue(corpus: list[Dialogue]) -> None:
    taken = [dialogue for dialogue in corpus if Questions().perturb(dialogue, 1).turns != dialogue.turns]
    half = sum(Questions(chance=0.5).perturb(one, seed).turns != one.turns for one in taken for seed in range(8))
    assert 0.4 < half / (8 * len(taken)) < 0.6
    one = next(one for one in corpus if one not in taken) if len(taken) < len(corpus) else None
    if one is not None:
        assert Questions().perturb(one, 1).lineage[-1].skipped[0].reason in ("no_place", "no_question_fits")


def _talk(answer: str, *acts: Act) -> Dialogue:
    turns = (
        Turn(0, "user", "帮我找家酒店。", acts=(Act("request", "酒店", "名称"),)),
        Turn(1, "system", answer, acts=acts),
        Turn(2, "user", "地址在哪里？", acts=(Act("request", "酒店", "地址"),)),
        Turn(3, "system", "在人民路。", acts=(Act("inform", "酒店", "地址", "人民路"),)),
    )
    return Dialogue(dialogue_id="x", source="risawoz", source_id="x", language="zh", split="train", turns=turns, domains=("酒店",))


def test_it_waits_for_an_entity_and_for_the_system_s_question() -> None:
    asks = Questions
    two = _talk("有云溪宾馆和河边旅舍。", Act("recommend", "酒店", "名称", "云溪宾馆"), Act("recommend", "酒店", "名称", "河边旅舍"))
    question = _talk("您要什么价位的？", Act("request", "酒店", "价位"))
    one = _talk("推荐云溪宾馆。", Act("recommend", "酒店", "名称", "云溪宾馆"))
    assert {tuple(asks().perturb(dialogue, seed).turns == dialogue.turns for seed in range(5)) for dialogue in (two, question)} == {(True,) * 5}
    assert all(asks().perturb(one, seed).turns[2].inserted for seed in range(5))


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"pairs": []}, "pairs"),
        ({"pairs": [{"label": "A", "domains": ["酒店"], "questions": ["a"], "answers": ["b"]}] * 2}, "the label 'A' occurs twice"),
        ({"pairs": [{"label": x, "domains": ["酒店"], "questions": ["a"], "answers": ["b"]} for x in "AB"]}, "the wording 'a' occurs twice"),
        ({"pairs": [{"label": "A", "domains": ["酒店"], "questions": ["a"]}]}, "'answers' is a required property"),
    ],
)
def test_a_file_that_is_no_list_of_pairs_is_refused(record: Any, told: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.json").write_text(json.dumps(record), "utf-8")
    with pytest.raises(OptionError) as refusal:
        Questions(pairs=str(tmp_path / "pairs.json"))
    assert told in str(refusal.value) and "pairs.json" in str(refusal.value)
    with pytest.raises(OptionError, match="No such file"):
        Questions(pairs=str(tmp_path / "gone.json"))


@pytest.mark.parametrize(
    "text",
    ["太好了，多少钱？", "这么便宜啊，那地址呢？", "嗯，这系统可以。", "也还能接受，再看看吧。", "好，那我就开车，门票多少？", "哈哈，同道中人喽。"],
)
def test_comments_are_told_from_requests(text: str) -> None:
    assert reacts(Turn(0, "user", text))


@pytest.mark.parametrize(
    "text", ["好的，地址在哪里？", "那经济舱的票价多少？", "它的评分是多少？", "嗯，什么时间营业呀？", "再帮我找个酒店。", "豆瓣评分怎么样？"]
)
def test_requests_are_no_comments(text: str) -> None:
    assert not reacts(Turn(0, "user", text))
