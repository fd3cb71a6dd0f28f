"""Whether the word that carried an act was recognised: "yes" taken for "just" leaves an affirmation that nothing in the text shows.

The label stays, as the user did affirm; the lineage says that its cue was lost, so that scores can tell such turns apart.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.speech.speakable import spoken
from dialmill.schemas import Turn

ActCue = Literal["kept", "lost"]
#: Parts of the names of acts -> the cues that show them.
_ACTS = (("thank", "thank"), ("bye", "bye"), ("affirm", "confirm"), ("confirm", "confirm"), ("accept", "confirm"))


@cache
def _cues(language: str) -> dict[str, frozenset[str]]:
    return {row[0]: frozenset(alternatives(row[1])) for row in rows(language, "cues")}


def _shown(text: str, cues: frozenset[str], language: str) -> bool:
    """Whether one of the cues stands in a text: as a word, in Chinese anywhere."""
    said = spoken(text, language)
    if language == "zh":
        said = said.replace(" ", "")
        return any(cue in said for cue in cues)
    return any(f" {cue} " in f" {said} " for cue in cues)


def act_cue(before: Turn, after: Turn, language: str) -> ActCue | None:
    """What became of the words that carried a turn's acts: "lost" where all cues of one act are gone, "kept" where none is; None where no act of the
    turn had a cue before."""
    found: ActCue | None = None
    names = [act.act.lower() for act in before.acts]
    for kind in sorted({cue for name in names for part, cue in _ACTS if part in name}):
        cues = _cues(language).get(kind, frozenset())
        if not _shown(before.utterance, cues, language):
            continue
        if not _shown(after.utterance, cues, language):
            return "lost"
        found = "kept"
    return found
