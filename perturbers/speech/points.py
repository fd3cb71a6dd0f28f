"""Operating points: how much noise gives which word error rate, measured once per combination of engines and noise, and stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import msgspec
from dialmill.perturbers.speech.cache import default_folder, digest, write_whole


class Curve(NamedTuple):
    """Corpus WER (a fraction) by SNR (dB), rising SNR; in between it is read off straight lines."""

    snr: tuple[float, ...]
    wer: tuple[float, ...]

    def wer_at(self, snr: float) -> float:
        """The WER at an SNR, that of the nearest end beyond them."""
        falling = _falling(self.wer)
        if snr <= self.snr[0]:
            return falling[0]
        for place in range(1, len(falling)):
            if snr <= self.snr[place]:
                share = (snr - self.snr[place - 1]) / (self.snr[place] - self.snr[place - 1])
                return falling[place - 1] + share * (falling[place] - falling[place - 1])
        return falling[-1]

    def snr_for(self, target: float) -> float:
        """The SNR at which the WER is `target`; the nearest end of the curve where it is never reached."""
        falling = _falling(self.wer)
        if target >= falling[0]:
            return self.snr[0]
        for place in range(1, len(falling)):
            high, low = falling[place - 1], falling[place]
            if target >= low:
                share = (high - target) / (high - low) if high > low else 0.0
                return self.snr[place - 1] + share * (self.snr[place] - self.snr[place - 1])
        return self.snr[-1]


def _falling(values: Sequence[float]) -> list[float]:
    """The nearest never rising sequence (pool adjacent violators): more noise never means fewer errors, whatever a sample says."""
    blocks: list[tuple[float, int]] = []
    for value in values:
        blocks.append((value, 1))
        while len(blocks) > 1 and blocks[-2][0] < blocks[-1][0]:
            (one, n), (other, m) = blocks[-2:]
            blocks[-2:] = [((one * n + other * m) / (n + m), n + m)]
    return [value for value, count in blocks for _ in range(count)]


def setting(tts: str, asr: str, language: str, noise: str, effects: Mapping[str, object]) -> str:
    """A name for everything besides the SNR that decides the WER: the engines' digests, the kind of noise and the effects (as JSON-able values)."""
    return digest("point", tts, asr, language, noise, dict(effects))


@cache
def _shipped() -> dict[str, Curve]:
    text = (resources.files("dialmill.perturbers.speech") / "data" / "points.json").read_text("utf-8")
    return {
        f"{entry['tts']}|{entry['asr']}|{entry['noise']}": Curve(tuple(entry["snr"]), tuple(entry["wer"])) for entry in json.loads(text)["curves"]
    }


def shipped(tts: str, asr: str, noise: str) -> Curve | None:
    """The curve that comes with dialmill for engine names such as "pico" and "whisper tiny.en", default voices and no effects."""
    return _shipped().get(f"{tts}|{asr}|{noise}")


def _path(name: str, folder: Path | None) -> Path:
    return (folder or default_folder()) / "points" / f"{name}.json"


def stored(name: str, folder: Path | None = None) -> Curve | None:
    """A curve that `calibrate` measured and stored here."""
    try:
        entry = json.loads(_path(name, folder).read_text("utf-8"))
        return Curve(tuple(entry["snr"]), tuple(entry["wer"]))
    except (OSError, ValueError, KeyError):
        return None


class CorpusPoint(NamedTuple):
    """What tuning found for a corpus: the SNR (dB) by kind of noise, its steps (mean shift in dB, measured WER), and the ids of the dialogues that
    took part."""

    snr: dict[str, float]
    steps: list[list[float]]
    dialogues: list[str]


def corpus_point(name: str, folder: Path | None = None) -> CorpusPoint | None:
    """What a former run found for a corpus."""
    try:
        return msgspec.json.decode(_path(name, folder).read_bytes(), type=CorpusPoint)
    except (OSError, msgspec.DecodeError):
        return None


def store_corpus_point(name: str, point: CorpusPoint, folder: Path | None = None) -> None:
    """Stores what was found for a corpus."""
    write_whole(_path(name, folder), msgspec.json.encode(point))


def store(name: str, curve: Curve, about: Mapping[str, object], folder: Path | None = None) -> Path:
    """Stores a curve with what it was measured on; gives the file."""
    path = _path(name, folder)
    write_whole(path, json.dumps({**about, "snr": curve.snr, "wer": curve.wer}, indent=1).encode())
    return path
