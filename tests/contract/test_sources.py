"""The laws of a source, held over every registered one and its miniature corpus in data/."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Piece
from dialmill.pipelines.disentangle.source import MessageSource
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.spans import whole
from dialmill.schemas.dialogue import decode, encode
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pipelines.source_tools import Read, read_data

ROOT = Path(__file__).parents[2]
#: Sources of logs, of which `tests/pipelines/test_source_ubuntu_irc.py` holds the laws; all others make one dialogue of a record.
LOGS = [name for name in registry.names() if isinstance(registry.get(name), MessageSource)]
NAMES = [name for name in registry.names() if name not in LOGS]
#: Sources without labels of task-oriented dialogue, where either side may begin and say several things in a row.
UNLABELLED = ["advising", "ecd", "flow"]
LABELLED = [name for name in NAMES if name not in UNLABELLED]
#: The one source that reads other sources' records, and keeps their names and languages.
OWN = "dialmill"
#: Utterances with an intent each, and nothing else: no slots, no states, no domains, no answers.
INTENTS = "clinc"
SLOTTED = [name for name in NAMES if name not in (INTENTS, *UNLABELLED)]


@lru_cache
def _files(name: str) -> dict[str, bytes]:
    """The miniature corpus of a source, path -> content."""
    if name == OWN:
        emitted = [dialogue.replace(dialogue_id=f"{key}/standard/0") for key, dialogue in _corpus("multiwoz22").dialogues.items()]
        return {"corpus.jsonl": b"".join(encode(dialogue) + b"\n" for dialogue in emitted)}
    paths = [path for path in (ROOT / "data" / name).rglob("*") if path.is_file() and path.suffix != ".md"]
    return {str(path): path.read_bytes() for path in sorted(paths)}


@lru_cache
def _corpus(name: str) -> Read:
    return read_data(registry.get(name), _files(name))


@lru_cache
def _records(name: str) -> tuple[tuple[Piece, ...], ...]:
    """The pieces of some dialogues of the miniature corpus."""
    source = registry.get(name)
    joined: dict[str, list[Piece]] = {}
    for number, (path, data) in enumerate(_files(name).items()):
        role = source.role(path, data[:65536].decode("utf-8", "replace"))
        if role is not None and role != "other":
            for index, (source_id, kind, piece) in enumerate(source.pieces(role, path, data)):
                joined.setdefault(source_id, []).append(Piece(kind, number, index, piece))
    return tuple(tuple(pieces) for pieces in joined.values())[::7]


@pytest.mark.parametrize("name", NAMES)
def test_every_dialogue_of_the_miniature_corpus_is_read(name: str) -> None:
    read = _corpus(name)
    assert len(read.dialogues) >= 20
    assert not read.rejects
    assert not read.absent
    assert not read.repeated


@pytest.mark.parametrize("name", SLOTTED)
def test_spans_are_exact_and_cover_whole_tokens(name: str) -> None:
    count = 0
    for dialogue in _corpus(name).dialogues.values():
        for turn in dialogue.turns:
            for span in turn.spans:
                assert span.start is not None and span.end is not None
                assert 0 <= span.start < span.end <= len(turn.utterance)
                assert span.text == turn.utterance[span.start : span.end]
                assert span.text.strip() == span.text
                assert span.value
                assert span.status == "kept"
                assert whole(turn.utterance, span.start, span.end)
                count += 1
    assert count > 100


@pytest.mark.parametrize("name", LABELLED)
def test_turns_alternate_and_only_user_turns_have_a_state(name: str) -> None:
    states = 0
    for dialogue in _corpus(name).dialogues.values():
        assert dialogue.turns
        for number, turn in enumerate(dialogue.turns):
            assert turn.turn == number
            assert turn.speaker == ("system" if number % 2 else "user")
            assert turn.original is None and not turn.edits
            assert not (turn.speaker == "system" and turn.state)
            states += bool(turn.state)
    assert states > 20 or name == INTENTS


@pytest.mark.parametrize("name", NAMES)
def test_names_are_lower_case_and_values_are_strings(name: str) -> None:
    for dialogue in _corpus(name).dialogues.values():
        for turn in dialogue.turns:
            for entry in turn.state:
                assert entry.values and len(set(entry.values)) == len(entry.values)
                for value in entry.values:
                    assert isinstance(value, str)
                    assert value == value.strip() != ""
                    assert value.lower() not in ("none", "not mentioned", "dont care", "don't care")
                    assert "|" not in value
            slots = [(entry.domain, entry.slot) for entry in turn.state]
            assert len(set(slots)) == len(slots)
            for named in (*turn.state, *turn.spans, *turn.acts):
                assert named.domain == named.domain.lower() != ""
                assert named.slot is None or named.slot == named.slot.lower() != ""
            for act in turn.acts:
                assert act.act == act.act.lower()
                assert act.act != "request" or act.value is None
                assert act.slot is not None or act.value is None


@pytest.mark.parametrize("name", NAMES)
def test_records_say_where_they_come_from(name: str) -> None:
    source = registry.get(name)
    assert source.name == name and source.licence and source.about
    for source_id, dialogue in _corpus(name).dialogues.items():
        assert dialogue.dialogue_id == dialogue.source_id == source_id
        assert (dialogue.suite, dialogue.variant) == ("standard", 0)
        assert name == OWN or dialogue.source == name
        assert dialogue.language in source.language.split(", ")
        assert bool(dialogue.domains) == (name != INTENTS) and len(set(dialogue.domains)) == len(dialogue.domains)
        for step in dialogue.lineage:
            assert (step.step, step.seed, step.params, step.outcome) == ("read@1", None, None, "read")
            assert step.reasons == tuple(sorted(step.reasons))


@pytest.mark.parametrize("name", LABELLED)
def test_official_lists_are_honoured(name: str) -> None:
    splits = {dialogue.split for dialogue in _corpus(name).dialogues.values()}
    assert {"valid", "test"} <= splits <= {"train", "valid", "test", None}


def test_the_lists_of_multiwoz21_to_the_letter() -> None:
    folder = ROOT / "data" / "multiwoz21"
    for split, file in (("valid", "valListFile.json"), ("test", "testListFile.json")):
        listed = {line.removesuffix(".json") for line in (folder / file).read_text().split()}
        assert {key for key, dialogue in _corpus("multiwoz21").dialogues.items() if dialogue.split == split} == listed


@pytest.mark.parametrize("name", NAMES)
def test_records_pickle_and_survive_json(name: str) -> None:
    for dialogue in _corpus(name).dialogues.values():
        assert pickle.loads(pickle.dumps(dialogue)) == dialogue
        assert decode(encode(dialogue)) == dialogue
    assert pickle.loads(pickle.dumps(registry.get(name))).name == name


@pytest.mark.parametrize("name", NAMES)
def test_reading_twice_gives_the_same(name: str) -> None:
    again = read_data(registry.get(name), dict(reversed(_files(name).items())))
    assert {key: encode(value) for key, value in again.dialogues.items()} == {key: encode(value) for key, value in _corpus(name).dialogues.items()}


def test_sources_work_without_beam() -> None:
    code = "import sys; sys.modules['apache_beam'] = None\n"
    code += "from dialmill.pipelines.sources import registry\nfor name in registry.names(): registry.get(name)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize("name", NAMES)
def test_no_file_of_one_source_is_taken_by_another(name: str) -> None:
    for path, data in _files(name).items():
        head = data[:65536].decode("utf-8", "replace")
        roles = {other: registry.get(other).role(path, head) for other in NAMES}
        assert [other for other, role in roles.items() if role is not None] == [name], path


_JUNK = st.sampled_from([None, True, 0, -1, 1.5, "", "x", "?", "none", "\u0000", "a|b", [], {}, [[]], [None], {"x": None}, [1, "2"], "\u4e2d" * 3])


def _damage(draw: st.DataObject, value: Any, depth: int = 0) -> Any:
    """`value` with one thing in it dropped, replaced, repeated or added."""
    kind = draw.draw(st.integers(0, 5)) if depth else 5
    if isinstance(value, dict) and value and kind >= 2:
        key = draw.draw(st.sampled_from(sorted(value)))
        if kind == 2:
            return {k: v for k, v in value.items() if k != key}
        if kind == 3:
            return value | {draw.draw(st.sampled_from(["", "x", "hotel", "text", "-"])): draw.draw(_JUNK)}
        return value | {key: _damage(draw, value[key], depth + 1)}
    if isinstance(value, list) and value and kind >= 2:
        place = draw.draw(st.integers(0, len(value) - 1))
        if kind == 2:
            return value[:place] + value[place + 1 :]
        if kind == 3:
            return [*value[:place], value[place], *value[place:]]
        return [*value[:place], _damage(draw, value[place], depth + 1), *value[place + 1 :]]
    return draw.draw(_JUNK)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150)
@given(data=st.data())
def test_damaged_records_are_read_or_refused(name: str, data: st.DataObject) -> None:
    """Nothing but `RecordError` comes out of a record that is damaged anywhere, and what is read keeps the laws."""
    records = _records(name)
    pieces = records[data.draw(st.integers(0, len(records) - 1))]
    hit = data.draw(st.integers(0, len(pieces) - 1))
    damaged = list(pieces)
    if pieces[hit].kind != "split":
        content = copy.deepcopy(json.loads(pieces[hit].data))
        for _ in range(data.draw(st.integers(1, 3))):
            content = _damage(data, content)
        damaged[hit] = pieces[hit]._replace(data=json.dumps(content).encode())
    try:
        dialogue = registry.get(name).parse("X", damaged)
    except RecordError as error:
        assert error.reason.isidentifier()
        assert error.evidence
        return
    assert decode(encode(dialogue)) == dialogue
    for number, turn in enumerate(dialogue.turns):
        assert name in (OWN, *UNLABELLED) or (turn.turn, turn.speaker) == (number, "system" if number % 2 else "user")
        for span in turn.spans:
            assert span.status == "lost" or span.text == turn.utterance[span.start : span.end]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=100)
@given(data=st.data())
def test_garbage_bytes_are_refused(name: str, data: st.DataObject) -> None:
    """A file cut at any place, or with any bytes in it, is read, or refused with `InputError`."""
    files = _files(name)
    path = data.draw(st.sampled_from(sorted(files)))
    content = files[path][:40_000]
    cut = data.draw(st.integers(0, len(content)))
    damaged = content[:cut] + data.draw(st.binary(max_size=6)) + content[cut + data.draw(st.integers(0, 9)) :][: data.draw(st.integers(0, 2000))]
    try:
        read_data(registry.get(name), {path: damaged})
    except InputError as error:
        assert path in str(error)
    for role in ("dialogues", "acts", "splits"):
        try:
            list(registry.get(name).pieces(role, path, damaged))
        except InputError as error:
            assert error.problem


@pytest.mark.parametrize("name", NAMES)
@given(path=st.text(max_size=20), head=st.text(max_size=40))
def test_any_file_may_be_asked_about(name: str, path: str, head: str) -> None:
    assert registry.get(name).role(path, head) in ("dialogues", "acts", "splits", "links", "form", "knowledge", "other", None)
