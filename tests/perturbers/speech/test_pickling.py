"""A speech channel is its options: copies of it, also in other processes, make the same; tuned or not, by audio or simulated."""

from __future__ import annotations

import dataclasses
import multiprocessing
import pickle
from collections.abc import Iterator
from functools import partial
from multiprocessing.pool import Pool

import pytest

pytest.importorskip("numpy")

from dialmill.perturbers.speech.perturber import Speech
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import encode

SIMULATED = Speech(engine="text", wer=0.5)
AUDIO = Speech(engine="audio", tts="fake-tts", asr="fake-asr", noise="none", cache="off")
AUTO = Speech(wer=0.4, cache="off")
FOUND = {"en": {"snr": {"white": 18.5, "pink": 12.25, "babble": 9.0}}, "zh": {"snr": {"white": 3.0, "pink": -1.5, "babble": 2.0}}}


@pytest.fixture(scope="module")
def processes() -> Iterator[Pool]:
    """Two processes that begin with nothing but what is pickled to them."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        yield pool


@pytest.fixture(autouse=True)
def _no_audio(monkeypatch: pytest.MonkeyPatch) -> None:
    """`AUTO` simulates, whatever is installed here."""
    monkeypatch.setenv("DIALMILL_NO_AUDIO", "1")


def corpus() -> list[Dialogue]:
    texts = {"en": "I need a cheap hotel in the east for {} people", "zh": "我想订一家便宜的酒店，{}个人"}
    return [
        Dialogue(
            dialogue_id=f"{language}{number}/standard/0",
            source="test",
            source_id=f"{language}{number}",
            language=language,
            turns=(Turn(0, "user", text.format(number + 2)), Turn(1, "system", "ok"), Turn(2, "user", "?!")),
        )
        for language, text in texts.items()
        for number in range(6)
    ]


@pytest.mark.parametrize(
    "speech",
    [SIMULATED, AUDIO, AUTO, SIMULATED.with_tuning(FOUND), AUTO.with_tuning(FOUND), AUDIO.with_audio_dir("somewhere").with_audio_dir("")],
    ids=["text", "audio", "auto", "text, tuned", "auto, tuned", "audio, with a folder"],
)
def test_equal_channels_make_the_same(speech: Speech, processes: Pool) -> None:
    plain = [encode(speech.perturb(dialogue, seed=1)) for dialogue in corpus()]
    for copy in (pickle.loads(pickle.dumps(speech)), dataclasses.replace(speech)):
        assert copy == speech and hash(copy) == hash(speech) and vars(copy) == vars(speech)
        assert [encode(copy.perturb(dialogue, seed=1)) for dialogue in corpus()] == plain
    assert list(map(encode, processes.map(partial(speech.perturb, seed=1), corpus()))) == plain


def test_work_leaves_nothing_on_it() -> None:
    for speech in (SIMULATED, AUDIO):
        before = dict(vars(speech))
        speech.perturb(corpus()[0], seed=1)
        speech.tune(corpus(), seed=1)
        assert vars(speech) == before and set(before) == {field.name for field in dataclasses.fields(speech)}


def test_a_tuned_channel_is_another_one() -> None:
    tuned = AUTO.with_tuning(FOUND)
    assert tuned != AUTO and tuned.given_snr("zh") == FOUND["zh"]["snr"] and tuned == AUTO.with_tuning(FOUND)
    assert AUTO.with_tuning({}) == AUTO
