"""CMU PocketSphinx: English, with no weights to fetch; weak, and useless in babble."""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Sequence
from importlib import metadata
from typing import ClassVar

from dialmill.perturbers.core.weights import PackagedFiles
from dialmill.perturbers.speech.engines.protocol import EngineInfo, Transcript
from dialmill.perturbers.speech.errors import EngineMissing
from dialmill.perturbers.speech.noise import RATE, Audio


class Pocketsphinx:
    """CMU PocketSphinx with the English model of its wheel."""

    info: ClassVar[EngineInfo] = EngineInfo(
        name="pocketsphinx",
        kind="asr",
        languages=("en",),
        licence="BSD",
        about="no weights to fetch; weak in noise",
        modules=("pocketsphinx", "numpy"),
        extra="pocketsphinx",
        weights=(
            PackagedFiles(
                "pocketsphinx",
                "pocketsphinx==5.1.1",
                {
                    "model/en-us/cmudict-en-us.dict": "20b5c293e1f311fb375fe067e500ec5636f4fc7af5594967263696def9b23bfe",
                    "model/en-us/en-us.lm.bin": "db21d0642286677699e6dbc859d2e5395570222361999387ce60f6e1d01995d6",
                    "model/en-us/en-us/feat.params": "c982c5f75e2a30c34d2c9ef1f6b129a5a00e67e3e927565076b58664cc2404c9",
                    "model/en-us/en-us/mdef": "2360f9a86889c1cfee8bd618a0269387911e5fb2920a594f506b18b8c79683b0",
                    "model/en-us/en-us/means": "832019e32cac12eb318964f96f469034acb12d0348eeddc3831831a100cb4dd4",
                    "model/en-us/en-us/noisedict": "7295b07df2c204c4f87c6782b6be1a3859d7006d4e3864181c955d6dab105a33",
                    "model/en-us/en-us/sendump": "8c9564c0d5bef69ca9d9bf1014abe162f071644cf02cf1fa8a483c3dc165a7a8",
                    "model/en-us/en-us/transition_matrices": "c1f7f28ea43177be734be1f88bd7f1b9a853d0e660f8599c67c6eaeca8bb539a",
                    "model/en-us/en-us/variances": "b00d696f85e96834fc10f8e5f06428d8c4db6bffdbe5845b6f69bf6efbc48fa5",
                },
            ),
        ),
    )

    def __init__(self, nbest: int = 1) -> None:
        self.info.require()
        self.info.checked()
        self.nbest = nbest
        self.digest = f"pocketsphinx {metadata.version('pocketsphinx')} nbest {nbest}"
        self._lock = threading.Lock()

    @classmethod
    def open(cls, model: str, language: str, nbest: int, network: bool) -> Pocketsphinx:
        return cls(nbest)

    def transcribe(self, audios: Sequence[Audio], language: str) -> list[Transcript]:
        if language != "en":
            raise EngineMissing(f"pocketsphinx has an English model only, not {language!r}")
        import numpy as np

        found = []
        with self._lock:
            for audio in audios:
                # A new decoder each time: its cepstral means adapt from utterance to utterance, which would make the order matter.
                decoder = importlib.import_module("pocketsphinx").Decoder(samprate=float(RATE), loglevel="FATAL")
                decoder.start_utt()
                decoder.process_raw(np.round(audio * 32767).astype("<i2").tobytes(), full_utt=True)
                decoder.end_utt()
                best = decoder.hyp()
                text = _plain(best.hypstr) if best else ""
                others = (
                    [(_plain(one.hypstr), float(one.score)) for _, one in zip(range(self.nbest), decoder.nbest(), strict=False) if one]
                    if best
                    else []
                )
                found.append(Transcript(text, tuple(others) if self.nbest > 1 and others else ((text, 0.0),)))
        return found


def _plain(text: str) -> str:
    """PocketSphinx's words without its marks for fillers and variants: "<sil> the(2) hotel" is "the hotel"."""
    return " ".join(re.sub(r"\(\d+\)", "", word) for word in text.split() if not word.startswith(("<", "[", "++")))
