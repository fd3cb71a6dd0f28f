"""What every source of dialogues must keep to."""

from __future__ import annotations

import copy
import json
import pickle
import re
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Piece, Role, Source
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.corpus import open_corpus
from dialmill.pipelines.sources.peek import HEAD_BYTES, head_text
from dialmill.pipelines.sources.spans import whole
from dialmill.schemas import Act, Dialogue, SlotValues, Span
from dialmill.schemas.dialogue import decode, encode
from dialmill.testing.reading import Read, read_data

#: Texts that are written for "no value", which a source leaves out or writes as `dontcare`.
_NO_VALUE = ("none", "not mentioned", "dont care", "don't care")


class SourceContract:
    """The contract of a source. Subclasses set `name` and `corpus`, and the rest where the default doesn't fit.

    Attributes:
        name: under which it is registered.
        corpus: a folder with a small corpus in the format, without a fault.
        dialogues: how many dialogues the corpus has at least.
        task_oriented: whether user and system alternate, the user first, with belief states after user turns.
        slots: whether there are slots with spans.
        states: whether there are belief states.
        domains: whether every dialogue has a domain.
        official_splits: whether the corpus comes with lists of its splits.
        keeps_source: whether records keep the name of another source, as dialmill's own files do.
    """

    name: ClassVar[str]
    corpus: ClassVar[Path]
    dialogues: ClassVar[int] = 1
    task_oriented: ClassVar[bool] = True
    slots: ClassVar[bool] = True
    states: ClassVar[bool] = True
    domains: ClassVar[bool] = True
    official_splits: ClassVar[bool] = True
    keeps_source: ClassVar[bool] = False

    @classmethod
    def files(cls) -> Mapping[str, bytes]:
        """The files of the corpus, path -> content. Subclasses without a folder override this."""
        return _files(cls.corpus)

    @classmethod
    @cache
    def read(cls) -> Read:
        """The corpus, read without a pipeline."""
        return read_data(cls.source(), cls.files())

    @classmethod
    def source(cls) -> Source:
        """The source."""
        return registry.get(cls.name)

    def test_it_says_what_it_is(self) -> None:
        source = self.source()
        assert source.name == self.name and source.licence and source.language
        assert source.about and not re.search(r"(?<!\.)\.$", source.about), "one line for `dialmill list sources`, without a full stop"
        assert pickle.loads(pickle.dumps(source)).name == self.name, "it travels to workers"

    def test_every_dialogue_of_the_corpus_is_read(self) -> None:
        read = self.read()
        assert len(read.dialogues) >= self.dialogues
        assert not read.rejects and not read.absent and not read.repeated

    def test_the_format_is_told_apart_from_all_others(self) -> None:
        for path, data in self.files().items():
            head = head_text(data[:HEAD_BYTES], lambda data=data: data)  # type: ignore[misc]  # bound now
            roles = {other: registry.get(other).role(path, head) for other in registry.names()}
            # Formats of no release in particular ("User: ..." lines) give way to any that knows the file.
            known = [other for other, role in roles.items() if role is not None and (other == self.name or not registry.get(other).generic)]
            assert known == [self.name], path

    def test_the_corpus_is_read_from_disk_without_naming_the_format(self, tmp_path: Path) -> None:
        folder = tmp_path / "corpus"
        with zipfile.ZipFile(tmp_path / "corpus.zip", "w") as archive:
            for path, data in self.files().items():
                name = Path(path).relative_to(self.corpus) if hasattr(self, "corpus") else Path(path)
                archive.writestr(name.as_posix(), data)
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
        expected = {key: encode(one) for key, one in self.read().dialogues.items()}
        for given_as in (folder, tmp_path / "corpus.zip"):
            found = open_corpus([str(given_as)], None, lambda reject: pytest.fail(str(reject)))
            assert {one.source_id: encode(one) for one in found} == expected, given_as

    def test_spans_are_exact_and_cover_whole_tokens(self) -> None:
        count = 0
        for dialogue in self.read().dialogues.values():
            for turn in dialogue.turns:
                for span in turn.spans:
                    assert span.start is not None and span.end is not None and span.text is not None
                    assert 0 <= span.start < span.end <= len(turn.utterance)
                    assert span.text == turn.utterance[span.start : span.end]
                    assert span.text.strip() == span.text and span.value and span.status == "kept"
                    assert whole(turn.utterance, span.start, span.end)
                    count += 1
        assert (count >= self.dialogues) == self.slots

    def test_turns_alternate_and_only_user_turns_have_a_state(self) -> None:
        states = 0
        for dialogue in self.read().dialogues.values():
            assert dialogue.turns
            for number, turn in enumerate(dialogue.turns):
                assert turn.turn == number and turn.original is None and not turn.edits
                assert not (turn.speaker == "system" and turn.state)
                assert not self.task_oriented or turn.speaker == ("system" if number % 2 else "user")
                states += bool(turn.state)
        assert (states >= self.dialogues) == (self.task_oriented and self.states)

    def test_names_are_lower_case_and_values_are_strings(self) -> None:
        for dialogue in self.read().dialogues.values():
            for turn in dialogue.turns:
                for entry in turn.state:
                    assert entry.values and len(set(entry.values)) == len(entry.values)
                    for value in entry.values:
                        assert isinstance(value, str) and value == value.strip() != ""
                        assert value.lower() not in _NO_VALUE and "|" not in value
                slots = [(entry.domain, entry.slot) for entry in turn.state]
                assert len(set(slots)) == len(slots)
                labels: list[SlotValues | Span | Act] = [*turn.state, *turn.spans, *turn.acts]
                for domain, slot in [(one.domain, one.slot) for one in labels]:
                    assert domain == domain.lower() != ""
                    assert slot is None or slot == slot.lower() != ""
                for act in turn.acts:
                    assert act.act == act.act.lower()
                    assert act.act != "request" or act.value is None
                    assert act.slot is not None or act.value is None

    def test_records_say_where_they_come_from(self) -> None:
        languages = self.source().language.split(", ")
        for source_id, dialogue in self.read().dialogues.items():
            assert dialogue.dialogue_id == dialogue.source_id == source_id
            assert (dialogue.suite, dialogue.variant) == ("standard", 0)
            assert self.keeps_source or dialogue.source == self.name
            assert dialogue.language in languages
            assert bool(dialogue.domains) == self.domains and len(set(dialogue.domains)) == len(dialogue.domains)
            for step in dialogue.lineage:
                assert (step.step, step.seed, step.params, step.outcome) == ("read@1", None, None, "read")
                assert step.reasons == tuple(sorted(step.reasons))

    def test_official_lists_are_honoured(self) -> None:
        splits = {dialogue.split for dialogue in self.read().dialogues.values()}
        assert splits <= {"train", "valid", "test", None}
        assert bool(splits - {None}) == self.official_splits

    def test_records_pickle_and_survive_json(self) -> None:
        for dialogue in self.read().dialogues.values():
            assert pickle.loads(pickle.dumps(dialogue)) == dialogue
            assert decode(encode(dialogue)) == dialogue

    def test_reading_in_another_order_gives_the_same(self) -> None:
        again = read_data(self.source(), dict(reversed(list(self.files().items()))))
        assert {key: encode(one) for key, one in again.dialogues.items()} == {key: encode(one) for key, one in self.read().dialogues.items()}

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def test_damaged_records_are_read_or_refused(self, data: st.DataObject) -> None:
        """Nothing but `RecordError` comes out of a record that is damaged anywhere, and what is read keeps the laws."""
        contract: Any = type(self)
        records = _records(contract)
        damaged = list(records[data.draw(st.integers(0, len(records) - 1))])
        hit = data.draw(st.integers(0, len(damaged) - 1))
        if damaged[hit].kind != "split":
            damaged[hit] = damaged[hit]._replace(data=_damaged(data, damaged[hit].data))
        try:
            dialogue = self.source().parse("X", damaged)
        except RecordError as error:
            assert error.reason.isidentifier() and error.evidence
            return
        assert decode(encode(dialogue)) == dialogue
        self.holds(dialogue)

    def holds(self, dialogue: Dialogue) -> None:
        """Asserts what is true of every record that is read, however damaged its source."""
        for number, turn in enumerate(dialogue.turns):
            if self.task_oriented and not self.keeps_source:
                assert (turn.turn, turn.speaker) == (number, "system" if number % 2 else "user")
            for span in turn.spans:
                assert span.status == "lost" or span.text == turn.utterance[span.start : span.end]

    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def test_garbage_bytes_are_refused(self, data: st.DataObject) -> None:
        """A file cut at any place, or with any bytes in it, is read, or refused with `InputError`."""
        files = self.files()
        path = data.draw(st.sampled_from(sorted(files)))
        content = files[path][:40_000]
        cut = data.draw(st.integers(0, len(content)))
        damaged = content[:cut] + data.draw(st.binary(max_size=6)) + content[cut + data.draw(st.integers(0, 9)) :][: data.draw(st.integers(0, 2000))]
        try:
            read_data(self.source(), {path: damaged})
        except InputError as error:
            assert path in str(error)
        roles: tuple[Role, ...] = ("dialogues", "acts", "splits")
        for role in roles:
            try:
                list(self.source().pieces(role, path, damaged))
            except InputError as error:
                assert error.problem

    @settings(deadline=None, suppress_health_check=list(HealthCheck))
    @given(path=st.text(max_size=20), head=st.text(max_size=40))
    def test_any_file_may_be_asked_about(self, path: str, head: str) -> None:
        assert self.source().role(path, head) in ("dialogues", "acts", "splits", "links", "form", "knowledge", "other", None)


@cache
def _files(folder: Path) -> Mapping[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".md")
    return {str(path): path.read_bytes() for path in paths}


@cache
def _records(contract: Any) -> tuple[tuple[Piece, ...], ...]:
    """The pieces of some dialogues of a contract's corpus."""
    source = contract.source()
    joined: dict[str, list[Piece]] = {}
    for number, (path, data) in enumerate(contract.files().items()):
        role = source.role(path, head_text(data[:HEAD_BYTES], lambda data=data: data))  # type: ignore[misc]  # bound now
        if role is not None and role != "other":
            for index, (source_id, kind, piece) in enumerate(source.pieces(role, path, data)):
                joined.setdefault(source_id, []).append(Piece(kind, number, index, piece))
    return tuple(tuple(pieces) for pieces in joined.values())[::7]


_JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "x", "?", "none", "\u0000", "a|b", [], {}, [[]], [None], {"x": None}, [1, "2"], "\u4e2d" * 3]
)


def _damaged(draw: st.DataObject, content: bytes) -> bytes:
    """A piece with some of it changed: of JSON a value, of anything else some bytes."""
    try:
        value = copy.deepcopy(json.loads(content))
    except ValueError:
        cut = draw.draw(st.integers(0, len(content)))
        return content[:cut] + draw.draw(st.binary(max_size=6)) + content[cut + draw.draw(st.integers(0, 9)) :]
    for _ in range(draw.draw(st.integers(1, 3))):
        value = _damage(draw, value)
    return json.dumps(value).encode()


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
