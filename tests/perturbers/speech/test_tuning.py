"""Tuning on a corpus: by known curves in two rounds, by bisection without, stored, and what has nothing to tune."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from dialmill.perturbers import OptionError, parse
from dialmill.perturbers.core.progress import TASKS
from dialmill.perturbers.speech import plan, points, tuning
from dialmill.perturbers.speech.cache import Cache
from dialmill.perturbers.speech.engines import registry
from dialmill.perturbers.speech.engines.fakes import FakeAsr, FakeTts
from dialmill.perturbers.speech.engines.registry import DEFAULT_TTS, EngineChoice, Engines
from dialmill.perturbers.speech.errors import EngineMissing
from dialmill.perturbers.speech.levels import parse_levels
from dialmill.perturbers.speech.options import MIX, STEP, SpeechOptions
from dialmill.perturbers.speech.perturber import Speech
from dialmill.perturbers.speech.plan import Plan, make_plan
from dialmill.perturbers.speech.points import Curve
from dialmill.perturbers.speech.tuning import Measured
from dialmill.perturbers.speech.wer import Errors
from dialmill.schemas import Dialogue, Turn

CURVE = Curve((0.0, 10.0, 20.0), (0.6, 0.3, 0.1))


def corpus(number: int, language: str = "en") -> list[Dialogue]:
    text = "a hotel in the east please" if language == "en" else "我要一家酒店"
    return [
        Dialogue(
            dialogue_id=f"{language}{place}/standard/0",
            source="test",
            source_id=f"{language}{place}",
            language=language,
            turns=tuple(Turn(turn, "user", f"{text} {place}") for turn in range(4)),
        )
        for place in range(number)
    ]


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fake engines, whatever is asked for."""
    made = Engines(FakeTts(), FakeAsr(), Cache(None))
    monkeypatch.setattr(registry, "open_engines", lambda choice: made)


def known(options: SpeechOptions, kind: str, plan: Plan) -> Curve:
    return CURVE


@pytest.fixture
def harder(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, float], int]]:
    """A corpus on which the curve lies 4 dB to the right; gives the levels and seeds that were measured."""
    asked: list[tuple[dict[str, float], int]] = []

    def measure(options: SpeechOptions, dialogue: Dialogue, seed: int) -> Measured:
        levels = dict(options.given_snr() or {})
        if (levels, seed) not in asked:
            asked.append((levels, seed))
        rate = sum(CURVE.wer_at(level - 4) for level in levels.values()) / len(levels)
        speaker = make_plan(options, dialogue.language).speaker((seed, STEP, dialogue.source_id, 0))
        return Measured((Errors(round(rate * 1000), 0, 0, 1000),), 0, *speaker)

    monkeypatch.setattr(tuning, "measure", measure)
    return asked


def test_a_known_curve_is_moved(fakes: None, harder: list[tuple[dict[str, float], int]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plan, "known_curve", known)
    speech = Speech(engine="audio", cache=str(tmp_path))
    assert speech.tunable()
    found = tuning.tune(speech, corpus(90), 5)
    assert found["en"]["snr"] == pytest.approx({"white": 14.0, "pink": 14.0, "babble": 14.0}, abs=0.02)
    assert found["en"]["dialogues"] == sorted({one.source_id for one in corpus(90)})
    # The second round measures at the level that the first one asked for, with noise of its own.
    rounds = sorted({(levels["pink"], noise) for levels, noise in harder})
    assert [level for level, _ in rounds] == pytest.approx([10.0, 14.0], abs=0.02) and rounds[0][1] != rounds[1][1]
    assert speech.with_tuning(found).given_snr("en") == found["en"]["snr"] and speech.with_tuning(found).given_snr("zh") is None
    # A rebuild doesn't search; other text, another rate or another seed does.
    assert tuning.tune(speech, corpus(90), 5)["en"]["snr"] == found["en"]["snr"] and len(harder) == 2
    for other, seed, dialogues in (
        (speech, 6, corpus(90)),
        (speech, 5, corpus(90)[::-1]),
        (Speech(engine="audio", cache=str(tmp_path), wer=0.2), 5, corpus(90)),
    ):
        harder.clear()
        tuning.tune(other, dialogues, seed)
        assert len(harder) == 2


def test_without_a_curve_the_level_is_searched(fakes: None, harder: list[tuple[dict[str, float], int]]) -> None:
    speech = Speech(engine="audio", cache="off", tts="other", noise="pink")
    found = tuning.tune(speech, corpus(40), 1)
    assert found["en"]["snr"]["pink"] == pytest.approx(14, abs=0.6) and len(harder) == tuning.BISECTION_STEPS


@pytest.mark.parametrize("number", [1, 3, 7, 30])
@pytest.mark.parametrize("curve", [True, False])
def test_no_more_turns_are_transcribed_than_the_sample_has(number: int, curve: bool, fakes: None, monkeypatch: pytest.MonkeyPatch) -> None:
    transcribed: list[int] = []

    def measure(options: SpeechOptions, dialogue: Dialogue, seed: int) -> Measured:
        assert TASKS and TASKS[0].unit == "turns" and TASKS[0].total <= 4 * number
        transcribed.append(tuning.spoken_turns(dialogue))
        return Measured(tuple(Errors(3, 0, 0, 10) for _ in range(4)), 0, "fake-a", options.kinds()[0])

    monkeypatch.setattr(tuning, "measure", measure)
    if curve:
        monkeypatch.setattr(plan, "known_curve", known)
    found = tuning.tune(Speech(engine="audio", cache="off", noise="pink", tts="other"), corpus(number), 5)
    # A sample of one dialogue serves both rounds.
    assert found["en"]["snr"] and sum(transcribed) <= max(4 * number, 8) and not TASKS


def test_a_round_ends_once_its_interval_is_narrow(fakes: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "known_curve", known)
    turns = {}
    for name, wrong in (("even", lambda number: 3), ("bursts", lambda number: 0 if number % 10 else 30)):
        seen: list[int] = []

        def measure(options: SpeechOptions, dialogue: Dialogue, seed: int, wrong: Callable[[int], int] = wrong, seen: list[int] = seen) -> Measured:
            seen.append(4)
            speaker = make_plan(options, "en").speaker((seed, STEP, dialogue.source_id, 0))
            return Measured(tuple(Errors(wrong(len(seen) * 4 + part), 0, 0, 10) for part in range(4)), 0, *speaker)

        monkeypatch.setattr(tuning, "measure", measure)
        found = tuning.tune(Speech(engine="audio", cache="off"), corpus(240), 5)
        turns[name] = sum(seen)
        assert len(found["en"]["dialogues"]) == len(seen), "those that took part, and no others"
    assert turns["even"] <= 2 * (tuning._LEAST + 4) < turns["bursts"] <= 2 * tuning.TURNS + 8


def test_what_was_found_is_the_same_when_it_is_read_again(
    fakes: None, harder: list[tuple[dict[str, float], int]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(plan, "known_curve", known)
    speech = Speech(engine="audio", cache=str(tmp_path))
    assert tuning.tune(speech, corpus(20), 5) == tuning.tune(speech, corpus(20), 5)


def test_an_interrupted_search_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ear = FakeAsr()
    monkeypatch.setattr(registry, "open_engines", lambda choice: Engines(FakeTts(), ear, Cache(tmp_path)))
    monkeypatch.setattr(plan, "known_curve", known)
    speech = Speech(engine="audio", cache=str(tmp_path), noise="white", ceiling=10, tries=1)
    ear._answer = lambda text, call: "something else" if call <= 9 else _stop()
    with pytest.raises(KeyboardInterrupt):
        tuning.tune(speech, corpus(6), 5)
    done = ear.calls
    ear._answer = lambda text, call: "something else"
    tuning.tune(speech, corpus(6), 5)
    interrupted = ear.calls
    other = FakeAsr(lambda text, call: "something else")
    monkeypatch.setattr(registry, "open_engines", lambda choice: Engines(FakeTts(), other, Cache(None)))
    tuning.tune(Speech(engine="audio", cache="off", noise="white", ceiling=10, tries=1), corpus(6), 5)
    # One dialogue at most is transcribed again: the one that was under way.
    assert interrupted <= other.calls + 4 and done >= 8


def _stop() -> str:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("asr", "language"), [("whisper 1a5afae06a4db91c", "en"), ("whisper d01c3014881c9c6f", "en"), ("whisper d01c3014881c9c6f", "zh")]
)
def test_the_search_starts_from_curves_that_come_along(asr: str, language: str) -> None:
    for kind in MIX:
        curve = points.shipped(DEFAULT_TTS[language], asr, kind)
        assert curve is not None and curve.wer_at(curve.snr[0]) > 0.5 > 0.2 > curve.wer_at(curve.snr[-1])


def test_a_kind_of_noise_that_is_harder_than_the_others_gets_less_of_it() -> None:
    sure = {"white": 20.0, "pink": 20.0, "babble": 20.0}
    offsets = tuning._shrunk({"white": 0.0, "pink": 60.0, "babble": 0.0}, sure)
    assert 0 < offsets["white"] == offsets["babble"] < 1 < offsets["pink"] < 3
    assert tuning._shrunk({"pink": 0.0}, {"pink": 0.0}) == {"pink": 0.0}


def test_where_a_curve_is_flat_levels_do_not_run_away() -> None:
    # Measured 8 dB off, at a slope that says as good as nothing.
    assert 0 < tuning._shrunk({"pink": 8 * 0.05}, {"pink": 0.05})["pink"] < 2


def test_each_language_has_a_level_of_its_own(fakes: None, monkeypatch: pytest.MonkeyPatch, harder: list[tuple[dict[str, float], int]]) -> None:
    easier = Curve(CURVE.snr, tuple(rate - 0.1 for rate in CURVE.wer))
    monkeypatch.setattr(plan, "known_curve", lambda options, kind, plan: CURVE if plan.language == "en" else easier)
    speech = Speech(engine="audio", cache="off")
    found = tuning.tune(speech, [*corpus(40, "zh"), *corpus(60)], 5)
    assert set(found) == {"en", "zh"} and all(one.startswith("zh") for one in found["zh"]["dialogues"])
    tuned = speech.with_tuning(found)
    assert {language: make_plan(tuned, language).snr for language in found} == {language: one["snr"] for language, one in found.items()}
    # The lineage tells both, in the form in which they can be asked for again.
    assert Speech(engine="audio", cache="off", snr=tuned.params["snr"]).snr == tuned.snr


@pytest.mark.parametrize(
    "text", ["", "x", "nan", "white=1", "white=1|pink=2|babble=inf", "en:", "en: 12; en: 13", ": 12", "eng: 12", "12; 13", "en: 12; zh"]
)
def test_levels_that_are_none(text: str) -> None:
    with pytest.raises(OptionError, match=r"snr (must be|names the language)"):
        parse_levels(text, MIX, Speech.languages)


def test_levels_by_language_and_kind() -> None:
    assert parse_levels("auto", MIX, Speech.languages) == {} == parse_levels("en: auto; zh: curve", MIX, Speech.languages)
    assert parse_levels("en: 12; zh: white=1|pink=-2|babble=3.5", MIX, Speech.languages) == {
        "en": {"white": 12.0, "pink": 12.0, "babble": 12.0},
        "zh": {"white": 1.0, "pink": -2.0, "babble": 3.5},
    }


def test_nothing_to_tune(fakes: None) -> None:
    assert tuning.tune(Speech(engine="audio", cache="off"), [], 1) == {}
    assert tuning.tune(Speech(engine="audio", cache="off", noise="none"), corpus(3), 1) == {}
    assert not Speech(engine="text").tunable() and not Speech(engine="audio", snr="12").tunable() and not Speech(snr="curve").tunable()
    assert Speech().with_tuning({}) == Speech()


def test_a_chain_tunes_its_links(fakes: None, harder: list[tuple[dict[str, float], int]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "known_curve", known)
    chain = parse("typos+speech:engine=audio,cache=off").perturber
    found = chain.tune(corpus(30), 1)
    tuned = chain.with_tuning(found)
    assert tuned.links[1].given_snr("en") == pytest.approx(dict.fromkeys(MIX, 14.0), abs=0.05)  # type: ignore[attr-defined]


def test_halves_share_no_dialogue() -> None:
    one, other = tuning._halves(corpus(100))
    assert not {dialogue.source_id for dialogue in one} & {dialogue.source_id for dialogue in other}
    assert sum(map(tuning.spoken_turns, one)) == sum(map(tuning.spoken_turns, other)) == 200
    assert tuning._halves(corpus(1)) == (corpus(1), corpus(1))


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(plan.NO_AUDIO, raising=False)
    monkeypatch.setattr(registry, "open_engines", _missing)
    assert ["ASR error simulator" in remark for remark in Speech(cache="off").startup_warnings(("en",))] == [True]
    assert Speech(engine="text").startup_warnings(("en",)) == ()


@pytest.mark.parametrize("named", [{"asr": "whisper:base"}, {"tts": "piper"}, {"tts": "piper", "asr": "whisper:base"}])
def test_a_named_engine_that_is_missing_stops_the_run(named: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It fell back to the simulator, with a warning that --quiet hides."""
    monkeypatch.delenv(plan.NO_AUDIO, raising=False)
    monkeypatch.setattr(registry, "open_engines", _missing)
    with pytest.raises(EngineMissing, match=f"{' and '.join(f'{one}={of}' for one, of in named.items())} can't be used here: there is no voice"):
        Speech(cache="off", **named)  # type: ignore[arg-type]
    # Where the environment asks for no audio, nothing is looked for.
    monkeypatch.setenv(plan.NO_AUDIO, "1")
    Speech(cache="off", **named)  # type: ignore[arg-type]


def _missing(choice: EngineChoice) -> Engines:
    raise EngineMissing("there is no voice")
