"""Knowledge-seeking questions as a language model words them: what is taken, what is refused and why, and what happens without the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import OptionError
from dialmill.perturbers.core.events import ModelFallback
from dialmill.perturbers.insertion.knowledge import Knowledge, modelled
from dialmill.perturbers.insertion.knowledge.table import Names
from dialmill.schemas import Dialogue, Turn
from hypothesis import given
from hypothesis import strategies as st

from tests.llm_server import serve as serve
from tests.perturbers.test_knowledge import ASK, LAST, ON, PETS, POOL, asked, base_of, document, offer, talk, write

BASE = base_of(Elm_House=document(PETS, POOL), Oak_Court=document(POOL))
#: Wordings that a model might give for POOL.
POOLS = [
    "Do they have a pool I could use?",
    "Can I go swimming there?",
    "We love swimming, so would there be a pool at the hotel?",
    "Is a swim possible there?",
    "Do their guests get to use a pool?",
    "My kids want to swim. Have they got a pool?",
    "Is there somewhere to swim, like a pool?",
    "Is the pool for swimming open to us?",
]


@pytest.fixture(autouse=True)
def forget() -> None:
    modelled.wordings.cache_clear()


def run(path: Path, split: str = "test", seed: int = 3, base: Any = BASE, **options: Any) -> tuple[list[Turn], tuple[str, ...]]:
    """The questions asked of one dialogue, and the remarks of its lineage."""
    file = write(path / "k.json", base)
    one = Knowledge(knowledge=file, engine="llm", model="m", **options).perturb(talk(ASK, offer("Oak Court"), ON, LAST, ON, split=split), seed)
    return asked(one), one.lineage[-1].reasons


def test_the_model_s_wordings_are_used_and_those_of_train_and_test_differ(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda number, body: "\n".join(f"{place}. {text}" for place, text in enumerate(POOLS, 1)))
    said: dict[str, set[str]] = {"train": set(), "test": set()}
    for split, texts in said.items():
        for seed in range(25):
            turns, reasons = run(tmp_path, split, seed, reference="pronoun", most=1)
            assert len(turns) == 1 and "llm (21 tokens for 8 wordings)" in reasons[0] and "in place of" not in reasons[0]
            texts |= {turn.utterance for turn in turns}
    assert all(len(texts) > 2 for texts in said.values())
    plain = {
        split: {modelled.canonical(text, None, "en") for text in POOLS if modelled.side_of_wording(modelled.canonical(text, None, "en")) == split}
        for split in said
    }
    assert plain["train"] and plain["test"] and not plain["train"] & plain["test"] and not said["train"] & said["test"]
    # One question, one call, whatever the dialogues, seeds and splits; and it tells no answer.
    assert len(server.asked) == 1
    told = json.dumps(server.asked[0]["messages"])
    assert "swimming pool" in told and "not allowed" not in told and "Oak Court" not in told and "the hotel" in told


def test_a_rebuild_asks_nobody(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda number, body: "\n".join(POOLS))
    first = run(tmp_path)
    modelled.wordings.cache_clear()
    server.reply = lambda number, body: (500, {}, b"")
    assert run(tmp_path) == first and len(server.asked) == 1


def test_the_prompt_is_the_user_s(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda number, body: "\n".join(POOLS))
    run(tmp_path, prompt="Write {count} lines as a pirate asks about {place}.")
    assert server.asked[0]["messages"][0]["content"].startswith("Write 10 lines as a pirate asks about the hotel.")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ((500, {}, b"oops"), "llm_failed: HTTP 500"),
        ((401, {}, b"who are you"), "llm_failed: HTTP 401"),
        ("", "no wordings"),
        ("x" * 9_000, "no wordings"),
        ("{not json", "no wordings"),
        ("Is there a swimming pool?", "refused: as_title 3"),
        ("Do they have a gym?\nDo they have a gym?", "refused: another_topic 6"),
    ],
    ids=["500", "401", "empty", "enormous", "broken", "the title", "another question"],
)
def test_rules_word_what_the_model_does_not(serve: Any, tmp_path: Path, reply: Any, why: str) -> None:
    serve(lambda number, body: reply)
    turns, reasons = run(tmp_path)
    assert turns and all(turn.utterance.strip() for turn in turns)
    assert reasons[0].endswith(f"in place of the model: {why}")
    file, dialogue = str(tmp_path / "k.json"), talk(ASK, offer("Oak Court"), ON, LAST, ON, split="test")
    events = Knowledge(knowledge=file, engine="llm", model="m").draw_variant(dialogue, 3, 0, set()).events
    assert events == (ModelFallback(why.partition(": ")[0]),) * len(turns)
    assert "topic pool" in reasons[0] or "title" in reasons[0], "the lineage still says where the wording comes from"


def test_more_is_asked_for_while_a_side_has_none(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda number, body: POOLS[body["seed"]])
    run(tmp_path)
    assert [asked["seed"] for asked in server.asked] == [0, 1, 2]


def test_a_real_user_s_question_comes_first(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda number, body: "\n".join(POOLS))
    file = write(tmp_path / "k.json", BASE)
    folder = tmp_path / "bank"
    folder.mkdir()
    known = [f"Do they happen to have a pool for {who}?" for who in ("kids", "adults", "seniors", "babies")]
    (folder / "logs.json").write_text(json.dumps([[{"speaker": "U", "text": text}] for text in known]), "utf-8")
    label = {"target": True, "knowledge": [{"domain": "hotel", "entity_id": 1, "doc_id": 0}], "response": "No."}
    (folder / "labels.json").write_text(json.dumps([label] * len(known)), "utf-8")
    perturber = Knowledge(knowledge=file, engine="llm", model="m", bank=str(folder), bank_share=1.0)
    one = perturber.perturb(talk(ASK, offer("Oak Court"), ON, LAST, ON), 3)
    assert "bank" in one.lineage[-1].reasons[0] and not server.asked


NAMES = Names(BASE, "en")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Can I go swimming there?", None),
        ("I would like to know if they have a swimming pool", "no_question"),
        ("Could you check whether they have a pool?", "framed"),
        ("I am wondering, is there a swimming pool?", "framed"),
        ("有游泳池吗？", "language"),
        ("Pool?", "length"),
        ("Do they have a pool " + "that is warm and nice " * 8 + "?", "length"),
        ("They have a lovely pool.", "no_question"),
        ("Is there a pool? Is it warm?", "several_questions"),
        ("Does Elm House have a swimming pool?", "names_an_entity"),
        ("Is there a pool for 12 people to swim in?", "number_added"),
        ("Don't they have a swimming pool?", "negation_changed"),
        ("is there a swimming-pool", "no_question"),
        ("Is there a Swimming Pool ?", "as_title"),
        ("Do they allow pets by the pool?", "another_topic"),
        ("Is breakfast served?", "another_topic"),
        ("Can I stay until noon tomorrow?", "unrelated"),
        ("Do they have\x07 a swimming pool?", "control_character"),
        ("Do they have a {r} swimming pool?", "control_character"),
        ("What is the phone number of the swimming pool?", "answered_by_database"),
    ],
)
def test_what_a_wording_may_not_be(text: str, why: str | None) -> None:
    assert modelled.refusal(text, POOL, "Is there a swimming pool?", "hotel", NAMES, "en") == why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("这家酒店能带宠物进去吗？", None),
        ("我养了只小狗，宠物让不让进", None),
        ("我养了只小狗，想问下宠物让不让进？", "framed"),
        ("他们不让带宠物吗", "negation_changed"),
        ("宠物", "length"),
        ("这家酒店宠物很多。", "no_question"),
        ("Are pets allowed?", "language"),
        ("可以带3只宠物吗？", "number_added"),
        ("早餐几点开始？", "another_topic"),
    ],
)
def test_what_a_chinese_wording_may_not_be(text: str, why: str | None) -> None:
    title = "可以带宠物吗？"
    found = modelled.refusal(text, title, modelled.canonical(title, None, "zh"), "酒店", Names(BASE, "zh"), "zh")
    assert found == why or (why == "another_topic" and found == "unrelated")


def test_chinese_questions(serve: Any) -> None:
    lines = [
        "这家酒店能带宠物进去吗？",
        "我养了只小狗，宠物让不让进？",
        "带着宠物能入住吗？",
        "他们家对宠物友好吗？",
        "宠物可以跟我一起住吗？",
        "请问宠物能进店吗？",
    ]
    server = serve(lambda number, body: json.dumps(lines, ensure_ascii=False))
    found = modelled.wordings("m", "", "可以带宠物吗？", "酒店", None, BASE, "zh")
    assert sum(map(len, found.sides.values())) == len(lines) and all("{r}" in text for texts in found.sides.values() for text in texts)
    assert "Write in Chinese" in server.asked[0]["messages"][0]["content"] and "可以带宠物" in server.asked[0]["messages"][1]["content"]


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("1. Is it warm?\n2) Is it big?\n(3) Is it deep?", ["Is it warm?", "Is it big?", "Is it deep?"]),
        ('- "Is it warm?"\n* **Is it big?**\n\n', ["Is it warm?", "Is it big?"]),
        ('```json\n["Is it warm?", 7, "Is it  big?"]\n```', ["Is it warm?", "Is it big?"]),
        ('{"wordings": ["Is it warm?"]}', ["Is it warm?"]),
        ('{"a": 1}', []),
        ("“水温怎么样？”\n『深吗？』", ["水温怎么样？", "深吗？"]),
    ],
)
def test_lists_of_all_kinds_are_read(answer: str, read: list[str]) -> None:
    assert list(modelled.read(answer)) == read


@given(st.text(max_size=200))
def test_no_answer_breaks_it(answer: str) -> None:
    for text in modelled.read(answer):
        why = modelled.refusal(text, POOL, "Is there a swimming pool?", "hotel", NAMES, "en")
        assert why is None or why.replace("_", "").isalpha()


def test_options_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="engine=llm needs a model"):
        Knowledge.from_options({"engine": "llm"})
    with pytest.raises(OptionError, match="must be one of rules, llm"):
        Knowledge.from_options({"engine": "gpt"})


def test_without_the_engine_nobody_is_asked(serve: Any) -> None:
    server = serve(lambda number, body: "\n".join(POOLS))
    dialogue: Dialogue = talk(ASK, offer("Oak Court"), ON, LAST, ON)
    Knowledge().perturb(dialogue, 1)
    assert not server.asked
