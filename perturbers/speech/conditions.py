"""How a dialogue was spoken, as the lineage of the speech channel tells it: written and read in one place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dialmill.schemas import Dialogue, Step, Turn

#: SNRs are given in bands of so many dB.
BAND = 3
_REASON = re.compile(r"(voice|noise): (.+)|turn (\d+): (-?[\d.]+) dB")
_CUE = re.compile(r"turn (\d+): act_cue (kept|lost)")


def reasons(voice: str, noise: str, levels: Mapping[int, float]) -> tuple[str, ...]:
    """The reasons of a lineage step: the voice, the noise, and the SNR (dB) of each turn that was recognised, by its number."""
    return (f"voice: {voice}", f"noise: {noise}", *(f"turn {number}: {levels[number]:g} dB" for number in sorted(levels)))


def cue_reasons(cues: Mapping[int, str]) -> tuple[str, ...]:
    """The reasons of a lineage step that say what became of the words that carried acts ("kept" or "lost"), by the turns' numbers."""
    return tuple(f"turn {number}: act_cue {cues[number]}" for number in sorted(cues))


def speech_steps(dialogue: Dialogue) -> list[Step]:
    """The steps of a lineage that are of the speech channel."""
    return [step for step in dialogue.lineage if step.step.startswith("speech@")]


def band(level: float) -> str:
    """The band of an SNR in dB."""
    low = int(level // BAND) * BAND
    return f"{low} to {low + BAND} dB"


def band_order(label: str) -> tuple[float, str]:
    """Sorts bands by their numbers, and other labels by name."""
    match = re.match(r"(-?\d+) to ", label)
    return (float(match[1]) if match else 0.0, label)


class Conditions:
    """What the lineage of a dialogue says of its speech.

    `spoken` tells whether a speech channel had it, `whole` has voice and noise as (kind, label) pairs (none for engine=text), `bands` the band of SNR
    of each turn, `cues` what became of the words that carried its acts, and `failed` the turns that no transcript was had of.
    """

    def __init__(self, dialogue: Dialogue) -> None:
        steps = speech_steps(dialogue)
        self.spoken = bool(steps)
        self.whole: list[tuple[str, str]] = []
        self.bands: dict[int, str] = {}
        self.cues: dict[int, str] = {}
        self.failed = [skip.turn for step in steps for skip in step.skipped if skip.reason != "unspeakable"]
        for reason in (reason for step in steps for reason in step.reasons):
            if cue := _CUE.fullmatch(reason):
                self.cues[int(cue[1])] = cue[2]
                continue
            match = _REASON.fullmatch(reason)
            if match and match[1]:
                self.whole.append((match[1], match[2]))
            elif match:
                self.bands[int(match[3])] = band(float(match[4]))

    def of(self, turn: Turn) -> list[tuple[str, str]]:
        """(kind, label) pairs of a turn: voice, noise, snr, act_cue."""
        of_turn = [("snr", self.bands[turn.turn])] if turn.turn in self.bands else []
        return [*self.whole, *of_turn, *([("act_cue", self.cues[turn.turn])] if turn.turn in self.cues else [])]
