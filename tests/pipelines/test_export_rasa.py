"""Rasa's files: what came from Rasa goes back as it came, and texts that look like marks or like YAML are read back as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from dialmill.pipelines.core.carried import KEY

import dialmill as dm

from .tools import DATA, call, records

TEXTS = [
    "see [the page](http://example.org) for a cheap one",
    "- a cheap one: \"quoted\" 'too' # no comment",
    "cheap\u2028one \U0001f33a\x85 \\n {{x}} %s",
    "[cheap]{not json} or [cheap](price) as I said",
    "便宜的，谢谢 [好](吗)",
]


def exported(source: Path, folder: Path, *words: str) -> Path:
    """The folder of a source's Rasa export."""
    done = call("perturb", "--input", source, *words, "--output", folder, "--export", "rasa", "--quiet")
    assert done.code == 0, done.err
    return folder / "export" / "rasa"


def test_what_came_from_rasa_goes_back_as_it_came(tmp_path: Path) -> None:
    folder = exported(DATA / "rasa", tmp_path / "out", "--with", "typos:rate=0.4")
    steps: dict[str, list[dict[str, Any]]] = {}
    for path in sorted((folder / "standard").glob("*/stories.yml")):
        for story in yaml.safe_load(path.read_text("utf-8"))["stories"]:
            steps[story["story"]] = story["steps"]
    came = {story["story"]: story["steps"] for story in yaml.safe_load((DATA / "rasa" / "stories.yml").read_text("utf-8"))["stories"]}
    stripped = {
        name: [{key: value.strip() if isinstance(value, str) else value for key, value in step.items()} for step in one] for name, one in came.items()
    }
    assert steps == stripped
    for suite in ("standard", "typos"):
        wanted = {one.source_id: one for one in records(tmp_path / "out", suite)}
        found = {one.source_id: one for one in dm.read(folder / suite)}
        assert found.keys() == wanted.keys() and len(found) > 15
        for key, one in found.items():
            assert [(turn.speaker, turn.utterance, turn.labels, turn.spans, turn.state, turn.acts) for turn in one.turns] == [
                (turn.speaker, turn.utterance, turn.labels, turn.spans, turn.state, turn.acts) for turn in wanted[key].turns
            ]
            assert json.loads(one.payload or "") == json.loads(wanted[key].payload or "") | {"version": "3.1"} or "old.json" in key
    domain = yaml.safe_load((folder / "typos" / "domain.yml").read_text("utf-8"))
    assert {"city": {"roles": ["to"]}} in domain["entities"] and "utter_sun" in domain["responses"] and "买花" in domain["intents"]


def test_texts_that_look_like_marks_are_read_back_as_they_are(tmp_path: Path) -> None:
    source = tmp_path / "own.jsonl"
    rows = [{"id": f"d{number}", "turn": 0, "speaker": "user", "text": text, "slots": {"price": "cheap"}} for number, text in enumerate(TEXTS)]
    rows += [{"id": row["id"], "turn": 1, "speaker": "bot", "text": row["text"]} for row in rows]
    source.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    folder = exported(source, tmp_path / "out", "--with", "typos:rate=0.1")
    wanted = {one.source_id: one for one in records(tmp_path / "out", "standard")}
    found = {one.source_id: one for one in dm.read(folder / "standard")}
    assert found.keys() == wanted.keys() and len(found) == len(TEXTS)
    for key, one in found.items():
        assert [(turn.utterance, turn.spans) for turn in one.turns] == [(turn.utterance, turn.spans) for turn in wanted[key].turns]


def test_a_turn_of_a_story_that_is_an_example_too_is_read_once(tmp_path: Path) -> None:
    folder = exported(DATA / "multiwoz21", tmp_path / "out", "--with", "typos", "--limit", "6")
    repeated = [
        example["metadata"][KEY]["repeats"]
        for path in sorted((folder / "typos").glob("*/nlu.yml"))
        for block in yaml.safe_load(path.read_text("utf-8"))["nlu"]
        for example in block["examples"]
    ]
    read = [one.source_id for one in dm.read(folder / "typos")]
    assert set(repeated) == set(read) and len(read) == len(set(read)) < len(repeated)


def test_roles_and_groups_of_entities_are_kept_apart(tmp_path: Path) -> None:
    sizes = """a [large]{"entity": "size", "group": "1"} pizza, a [small]{"entity": "size", "group": 2} one"""
    text = sizes + """, to [Ely]{"entity": "city", "role": "to"} from [York]{"entity": "city", "role": "from"}"""
    (tmp_path / "nlu.yml").write_text(f'version: "3.1"\nnlu:\n- intent: order\n  examples: |\n    - {text}\n', "utf-8")
    folder = exported(tmp_path / "nlu.yml", tmp_path / "out", "--with", "typos:rate=0.2")
    for one in (next(dm.read(tmp_path / "nlu.yml")), next(dm.read(folder / "standard"))):
        assert {state.slot: state.values for state in one.turns[0].state} == {
            "size#1": ("large",),
            "size#2": ("small",),
            "city-to": ("Ely",),
            "city-from": ("York",),
        }
    written = str(yaml.safe_load((folder / "standard" / "test" / "nlu.yml").read_text("utf-8"))["nlu"])
    assert [written.count(part) for part in ('"group": "1"', '"group": "2"', '"role": "to"', '"role": "from"')] == [1, 1, 1, 1]
    domain = yaml.safe_load((folder / "standard" / "domain.yml").read_text("utf-8"))
    assert domain["entities"] == [{"city": {"roles": ["from", "to"]}}, {"size": {"groups": ["1", "2"]}}]
