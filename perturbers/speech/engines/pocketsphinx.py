"""CMU PocketSphinx: English, with no weights to fetch; weak, and useless in babble."""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Sequence
from importlib import metadata
from typing import ClassVar

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
    )

    def __init__(self, nbest: int = 1) -> None:
        self.info.require()
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
