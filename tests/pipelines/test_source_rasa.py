"""Rasa's training data: entities in texts, synonyms, steps of stories, and what is said of damaged files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.sources import registry
from dialmill.schemas import Dialogue

from .source_tools import Read, read_data
from .tools import DATA, call, records

SOURCE = registry.get("rasa")


def read(text: str, name: str = "nlu.yml") -> Read:
    return read_data(SOURCE, {name: text.encode()})


def example(text: str) -> Dialogue:
    (found,) = read(f"nlu:\n- intent: x\n  examples: |\n    - {text}\n").dialogues.values()
    return found


@pytest.mark.parametrize(
    ("text", "utterance", "entities"),
    [
        ("a [cheap](price) room", "a cheap room", [("price", "cheap", "cheap")]),
        ("to [NYC](city:New York)", "to NYC", [("city", "NYC", "New York")]),
        ('to [NYC]{"entity": "city", "role": "to", "value": "New York"} now', "to NYC now", [("city-to", "NYC", "New York")]),
        ("[cheap](price) and [cheap](quality)", "cheap and cheap", [("price", "cheap", "cheap"), ("quality", "cheap", "cheap")]),
        ("[两](数量)间房", "两间房", [("数量", "两", "两")]),
        (
            'to [NYC][{"entity": "city", "value": "New York"}, {"entity": "state"}]',
            "to NYC",
            [("city", "NYC", "New York"), ("state", "NYC", "NYC")],
        ),
        ("press [enter] (now)", "press [enter] (now)", []),
    ],
)
def test_entities_become_spans_at_their_place(text: str, utterance: str, entities: list[tuple[str, str, str]]) -> None:
    (turn,) = example(text).turns
    assert turn.utterance == utterance and turn.labels == ("intent:x",)
    assert [(span.slot, span.text, span.value) for span in turn.spans] == entities


def test_synonyms_of_a_file_are_values() -> None:
    found = read("nlu:\n- synonym: New York\n  examples: |\n    - NYC\n- intent: go\n  examples: |\n    - to [nyc](city)\n")
    assert found.dialogues["nlu.yml/go/1"].turns[0].spans[0].value == "New York"


def test_examples_may_be_a_list_with_metadata() -> None:
    found = read("nlu:\n- intent: go\n  examples:\n  - text: |\n      - to [Oslo](city)\n    metadata: {sentiment: 1}\n  - text: home\n")
    assert [one.turns[0].utterance for one in found.dialogues.values()] == ["to Oslo", "home"]


def test_steps_of_a_story() -> None:
    found = read_data(SOURCE, {"stories.yml": (DATA / "rasa" / "stories.yml").read_bytes()}).dialogues
    turns = found["stories.yml/order and pay"].turns
    assert [(turn.speaker, turn.role, turn.utterance) for turn in turns] == [
        ("user", "user", "I need a large ficus"), ("other", "action", ""), ("user", "user", "Monday would be good"),
        ("other", "slot_was_set", ""), ("system", "bot", "It will be with you on Monday."),
    ]  # fmt: skip
    assert json.loads(turns[1].payload or "") == {"action": "utter_ask_day"}
    assert {cell.slot: cell.values for cell in turns[2].state} == {"size": ("large",), "plant": ("ficus",), "day": ("Monday",)}
    assert [span.text for span in turns[0].spans] == ["large", "ficus"]


def test_a_story_of_intents_alone_is_rejected_with_the_reason() -> None:
    found = read("stories:\n- story: s\n  steps:\n  - intent: greet\n  - action: utter_greet\n", "stories.yml")
    assert {name: error.reason for name, error in found.rejects.items()} == {"stories.yml/s": "no_user_text"}


def test_out_of_scope_and_the_language_of_short_texts() -> None:
    found = read(
        "nlu:\n- intent: out_of_scope\n  examples: |\n    - Ja\n    - Wie spät ist es denn gerade bei euch\n- intent: b\n  examples: |\n    - 你好\n"
    )
    assert [(one.language, one.turns[0].labels) for one in found.dialogues.values()] == [("und", ("oos",)), ("und", ("oos",)), ("zh", ("intent:b",))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nlu:\n- intent: x\n  examples: |\n   - a\n  - b: [\n", r"nlu\.yml: is not YAML: .* at line \d+, column \d+"),
        ("nlu: none\nstories:\n- story: x\n  steps: []\n", "nlu: expected a list, found a string"),
    ],
)
def test_a_damaged_file_says_where(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(SOURCE.pieces("dialogues", "nlu.yml", text.encode()))


def test_a_bad_entity_costs_its_example() -> None:
    found = read('nlu:\n- intent: x\n  examples: |\n    - to [NYC]{"city"}\n    - home\n')
    assert set(found.dialogues) == {"nlu.yml/x/2"} and found.rejects["nlu.yml/x/1"].reason == "bad_entity"


def test_a_run_keeps_intents_and_entities(tmp_path: Path) -> None:
    assert call("perturb", "--input", DATA / "rasa", "--with", "typos:rate=0.5", "--output", tmp_path / "out", "--quiet").code == 0
    before = {one.source_id: one for one in records(tmp_path / "out")}
    changed = 0
    for one in records(tmp_path / "out", "typos"):
        for was, turn in zip(before[one.source_id].turns, one.turns, strict=True):
            changed += turn.original is not None
            assert turn.labels == was.labels and turn.payload == was.payload
            assert [(span.slot, (span.text or "").lower()) for span in turn.spans] == [(span.slot, (span.text or "").lower()) for span in was.spans]
    assert changed > 10
