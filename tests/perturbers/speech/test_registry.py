"""Engines by name: what they declare, what a package of others can bring, and what is told of one that can't be used."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from dialmill.perturbers import OptionError  # noqa: E402
from dialmill.perturbers.core.plugins import OURS, Registry  # noqa: E402
from dialmill.perturbers.speech.cache import Cache  # noqa: E402
from dialmill.perturbers.speech.engines import registry  # noqa: E402
from dialmill.perturbers.speech.engines.protocol import EngineInfo  # noqa: E402
from dialmill.perturbers.speech.errors import EngineMissing  # noqa: E402
from dialmill.perturbers.speech.options import LANGUAGES  # noqa: E402
from dialmill.perturbers.speech.perturber import Speech  # noqa: E402
from dialmill.schemas import Dialogue, Turn  # noqa: E402

from tests.pipelines.tools import call  # noqa: E402

#: A package of somebody else's: a voice that hums, a recogniser that recognises one sentence, a class that declares nothing, one that doesn't import.
_PLUGIN = """
import numpy as np
from dialmill.perturbers.speech.engines.protocol import EngineInfo, Transcript


class Hum:
    info = EngineInfo("hum", "tts", ("en",), "Apache-2.0", "hums")
    digest = "hum 1"
    stored = False

    def voices(self, language):
        return ("low", "high") if language == "en" else ()

    def synthesise(self, text, voice):
        return (0.3 * np.sin(np.arange(400 * len(text)) * (0.1 if voice == "low" else 0.2))).astype(np.float32)


class Parrot:
    info = EngineInfo("parrot", "asr", ("en",), "Apache-2.0", "says what it was made for", ("no_such_module",), install="pip install parrots")
    digest = "parrot 1"

    def __init__(self, sentence):
        self.sentence = sentence

    @classmethod
    def open(cls, model, language, nbest, network):
        return cls(model or "i need a motel")

    def transcribe(self, audios, language):
        return [Transcript(self.sentence, ((self.sentence, 0.0),)) for _ in audios]


class Silent:
    pass
"""


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package, as pip would have installed it."""
    (tmp_path / "humming.py").write_text(_PLUGIN)
    about = tmp_path / "humming-2.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: humming\nVersion: 2.1\n")
    points = {"hum": "humming:Hum", "parrot": "humming:Parrot", "silent": "humming:Silent", "broken": "humming_not_there:Hum", "pico": "humming:Hum"}
    (about / "entry_points.txt").write_text("[dialmill.engines]\n" + "".join(f"{name} = {place}\n" for name, place in points.items()))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "humming", raising=False)
    known = registry.REGISTRY
    monkeypatch.setattr(registry, "REGISTRY", Registry(known.what, known.group, known.built_in, known.error, known.hidden))
    registry.open_engines.cache_clear()


@pytest.mark.parametrize("name", registry.REGISTRY.names())
def test_every_engine_of_ours_declares_itself(name: str) -> None:
    info = registry.engine_info(name)
    assert isinstance(info, EngineInfo) and info.name == name and registry.REGISTRY.origin(name) == OURS
    assert set(info.languages) <= LANGUAGES and info.languages and info.licence and info.about
    assert info.modules or info.program
    assert info.brings.startswith(("pip install", "apt-get install"))
    if info.kind == "tts" and info.installed:
        engine = registry.open_tts(name, Cache(None))
        assert engine.info == info and engine.digest
        assert {language for language in LANGUAGES if engine.voices(language)} == set(info.languages)


def test_an_engine_that_is_not_here_says_what_brings_it() -> None:
    info = EngineInfo("far", "tts", ("en",), "MIT", "is not here", ("no_such_module", "json"), "no_such_program", extra="far")
    assert info.lacking == ("no_such_module", "no_such_program") and not info.installed
    with pytest.raises(EngineMissing, match=r"the far engine is not installed; it comes with the extra: pip install 'dialmill\[far\]'"):
        info.require()
    info.require("json")
    with pytest.raises(EngineMissing, match="install it, for example by: apt-get install far"):
        EngineInfo("far", "tts", ("en",), "MIT", "is not here", program="no_such_program", install="apt-get install far").require()


def test_a_package_brings_a_voice_and_a_recogniser(plugin: None) -> None:
    speech = Speech(engine="audio", tts="hum", asr="parrot", noise="none", cache="off")
    turns = (Turn(0, "user", "I need a hotel"), Turn(1, "system", "Where?"))
    made = speech.perturb(Dialogue(dialogue_id="d/standard/0", source="test", source_id="d", turns=turns), 1)
    assert made.turns[0].utterance == "i need a motel"
    params = made.lineage[-1].params or {}
    assert params["tts"] == "en: hum 1; zh: hum" and params["asr"] == "en: parrot 1; zh: parrot"
    assert {reason for reason in made.lineage[-1].reasons if reason.startswith("voice")} <= {"voice: low", "voice: high"}
    said = Speech(engine="audio", tts="hum", asr="parrot:i need a hostel", noise="none", cache="off")
    assert said.perturb(Dialogue(dialogue_id="d/standard/0", source="test", source_id="d", turns=turns), 1).turns[0].utterance == "i need a hostel"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("parrot", r"no voice engine 'parrot'; the known ones are: auto, espeak-ng, gtts, hum, pico"),
        ("silent", r"humming:Silent is no speech engine: it needs an attribute info"),
        ("broken", r"'broken' of humming 2.1 can't be loaded from humming_not_there:Hum"),
    ],
)
def test_an_engine_that_is_none_is_refused_by_name(plugin: None, name: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Speech(engine="audio", tts=name)


def test_ours_is_not_replaced(plugin: None) -> None:
    assert registry.REGISTRY.load("pico").__module__ == "dialmill.perturbers.speech.engines.pico"


def test_list_says_where_each_comes_from(plugin: None) -> None:
    listed = {row["name"]: row for row in json.loads(call("list", "engines", "--json", "-").out)["engines"]}
    assert listed["hum"]["from"] == "humming 2.1" and listed["whisper"]["from"] == OURS
    assert listed["hum"]["state"] == "installed" and listed["hum"]["about"] == "voice (TTS), en: hums"
    assert listed["parrot"]["state"] == "not installed: pip install parrots"
    assert "can't be used" in listed["silent"]["about"] and "can't be used" in listed["broken"]["about"]
    assert listed["pico"]["not used"] == "the one of the same name in humming 2.1"
    assert listed["text"]["state"] == "installed" and "whisper tiny.en weights" in listed
    text = call("list", "engines").out
    assert "from: humming 2.1" in text and "from: dialmill" not in text
