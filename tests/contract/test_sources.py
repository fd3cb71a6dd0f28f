"""Every source of ours against the contract that plug-ins are held to; one that is registered and missing here fails."""

from __future__ import annotations

import codecs
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers.core.plugins import OURS
from dialmill.pipelines.disentangle.source import MessageSource
from dialmill.pipelines.sources import registry
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import encode

import dialmill as dm
from dialmill.testing import SourceContract
from tests.pipelines.tools import DATA, ROOT


class TestMultiWoz21(SourceContract):
    name = "multiwoz21"
    corpus = DATA / "multiwoz21"
    dialogues = 60

    def test_its_lists_are_honoured_to_the_letter(self) -> None:
        for split, file in (("valid", "valListFile.json"), ("test", "testListFile.json")):
            listed = {line.removesuffix(".json") for line in (self.corpus / file).read_text().split()}
            assert {key for key, dialogue in self.read().dialogues.items() if dialogue.split == split} == listed


class TestMultiWoz22(SourceContract):
    name = "multiwoz22"
    corpus = DATA / "multiwoz22"
    dialogues = 30


class TestRiSAWOZ(SourceContract):
    name = "risawoz"
    corpus = DATA / "risawoz"
    dialogues = 30


class TestSchemaGuided(SourceContract):
    name = "sgd"
    corpus = DATA / "sgd"
    dialogues = 20


class TestCrossWOZ(SourceContract):
    name = "crosswoz"
    corpus = DATA / "crosswoz"
    dialogues = 20


class TestSimmc(SourceContract):
    name = "simmc"
    corpus = DATA / "simmc"
    dialogues = 30

    def holds(self, dialogue: Dialogue) -> None:
        super().holds(dialogue)
        assert all(turn.payload is not None for turn in dialogue.turns if turn.speaker == "user")


class TestTaskmaster(SourceContract):
    name = "taskmaster"
    corpus = DATA / "taskmaster"
    dialogues = 20


class TestConvLab(SourceContract):
    name = "convlab"
    corpus = DATA / "convlab"
    dialogues = 20


class TestReminder(SourceContract):
    name = "reminder"
    corpus = DATA / "reminder"
    dialogues = 20


class TestClinc(SourceContract):
    """Utterances with an intent each, and nothing else."""

    name = "clinc"
    corpus = DATA / "clinc"
    dialogues = 70
    slots = states = domains = False


class TestAdvising(SourceContract):
    """Either side may begin and say several things in a row."""

    name = "advising"
    corpus = DATA / "advising"
    dialogues = 30
    task_oriented = slots = official_splits = False


class TestFed(SourceContract):
    """Conversations with chatbots: what people rate, and no task."""

    name = "fed"
    corpus = DATA / "fed"
    dialogues = 20
    task_oriented = slots = states = domains = official_splits = False


class TestEcd(SourceContract):
    name = "ecd"
    corpus = DATA / "ecd"
    dialogues = 40
    task_oriented = slots = False


class TestFlow(SourceContract):
    name = "flow"
    corpus = DATA / "flow"
    dialogues = 400
    task_oriented = slots = False


class TestMultiWozHub(SourceContract):
    name = "multi_woz_v22"
    corpus = DATA / "multi_woz_v22"
    dialogues = 30

    def test_it_reads_what_the_corpus_own_form_says(self) -> None:
        original = {key: one.replace(source=self.name) for key, one in TestMultiWoz22.read().dialogues.items()}
        assert self.read().dialogues == original


class TestRasa(SourceContract):
    """Single utterances with intents, and stories."""

    name = "rasa"
    corpus = DATA / "rasa"
    dialogues = 20
    domains = official_splits = False

    def test_turns_alternate_and_only_user_turns_have_a_state(self) -> None:
        for dialogue in self.read().dialogues.values():
            assert [turn.turn for turn in dialogue.turns] == list(range(len(dialogue.turns)))
            assert not any(turn.state for turn in dialogue.turns if turn.speaker != "user")

    def holds(self, dialogue: Dialogue) -> None:
        for turn in dialogue.turns:
            assert all(span.text == turn.utterance[span.start : span.end] for span in turn.spans)


class TestWoz20(SourceContract):
    name = "woz20"
    corpus = DATA / "woz20"
    dialogues = 25


class TestTranscript(SourceContract):
    name = "transcript"
    corpus = DATA / "transcript"
    dialogues = 20
    task_oriented = slots = domains = False


class TestMessages(SourceContract):
    """Chats without labels; instructions and calls of tools are no one's words."""

    name = "messages"
    corpus = DATA / "messages"
    dialogues = 23
    task_oriented = slots = domains = official_splits = False


class TestTau2(SourceContract):
    """Tasks with a recorded history; no labels but the values that their actions need."""

    name = "tau2"
    corpus = DATA / "tau2"
    dialogues = 20
    task_oriented = official_splits = False


class TestPlain(SourceContract):
    """One's own data; who speaks when is as the data say."""

    name = "plain"
    corpus = DATA / "plain"
    dialogues = 24

    def holds(self, dialogue: Dialogue) -> None:
        for turn in dialogue.turns:
            assert all(span.text == turn.utterance[span.start : span.end] for span in turn.spans)


class TestDialmill(SourceContract):
    """Our own records, which keep the names and languages of the sources they came from."""

    name = "dialmill"
    dialogues = 30
    keeps_source = True

    @classmethod
    @cache
    def files(cls) -> Mapping[str, bytes]:
        emitted = [one.replace(dialogue_id=f"{key}/standard/0") for key, one in TestMultiWoz22.read().dialogues.items()]
        return {"corpus.jsonl": b"".join(encode(dialogue) + b"\n" for dialogue in emitted)}


def test_every_source_is_held_to_the_contract() -> None:
    """But for logs, which are many dialogues each: tests/pipelines/test_source_ubuntu_irc.py has their laws."""
    held = {kind.name for kind in SourceContract.__subclasses__() if kind.__module__ == __name__}
    ours = {name for name, entry in registry.REGISTRY.entries.items() if entry.origin == OURS}
    assert held == {name for name in ours if not isinstance(registry.get(name), MessageSource)}


def test_sources_work_without_beam() -> None:
    code = "import sys; sys.modules['apache_beam'] = None\n"
    code += "from dialmill.pipelines.sources import registry\nfor name in registry.names(): registry.get(name)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


_CONTRACTS = [kind for kind in globals().values() if isinstance(kind, type) and issubclass(kind, SourceContract) and kind is not SourceContract]
_CORPORA = {kind.name: kind.corpus for kind in _CONTRACTS if hasattr(kind, "corpus")}


@pytest.mark.parametrize("name", _CORPORA)
def test_a_byte_order_mark_in_front_of_a_text_changes_nothing(name: str, tmp_path: Path) -> None:
    plain, marked = _CORPORA[name], tmp_path / _CORPORA[name].name
    if isinstance(registry.get(name), MessageSource):
        pytest.skip("logs have a test of their own")
    shutil.copytree(plain, marked)
    for path in marked.rglob("*"):
        if path.suffix in (".json", ".jsonl", ".txt", ".tsv", ".csv", ".yml", ".yaml"):
            path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    rejected: list[Any] = []
    assert list(dm.read(marked, format=name, rejects=rejected)) == list(dm.read(plain, format=name, rejects=[]))
