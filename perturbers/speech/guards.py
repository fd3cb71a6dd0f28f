"""What tells a transcript from a hallucination of the recogniser: loops, lengths no utterance has, a foreign script, a WER above the ceiling.

No list of phrases ("thanks for watching") is needed: such text is far from the reference and falls to the ceiling.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from dialmill.perturbers.speech.speakable import words
from dialmill.perturbers.speech.wer import Errors, edit_errors, unify

#: A word sequence of 1 to 4 words this often in a row is a loop, unless the speaker repeats as often ("no no no").
MAX_RUN = 3
#: Transcripts longer than 1.6 times the reference and 4 words more are inventions; shorter than a quarter of it, the recogniser gave up.
LONGEST, SLACK, SHORTEST = 1.6, 4, 0.25

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def hallucinated(utterance: str, transcript: str, language: str, ceiling: float) -> str | None:
    """Why a transcript of an utterance, both as written, is not to be believed, or None; see `suspicious`."""
    said, transcribed = ([word.text for word in words(text, language)] for text in (utterance, transcript))
    found = edit_errors(said, transcribed if language == "zh" else unify(said, transcribed))
    return suspicious(said, transcribed, transcript, language, found, ceiling)


def suspicious(said: Sequence[str], transcribed: Sequence[str], transcript: str, language: str, errors: Errors, ceiling: float) -> str | None:
    """Why a transcript is not to be believed, or None.

    Args:
        said, transcribed: spoken words of the utterance and of the transcript.
        transcript: as the recogniser wrote it.
        errors, ceiling: the transcript's errors and the highest word error rate that is let through. Utterances of up to 3 words may be wrong whole.

    Returns:
        "empty", "wrong_script", "loop", "length" or "wer".
    """
    if not transcribed:
        return "empty"
    if not right_script(transcript, language):
        return "wrong_script"
    if longest_run(transcribed) > max(MAX_RUN, longest_run(said)) or _repeats(said, transcribed):
        return "loop"
    if len(transcribed) > LONGEST * len(said) + SLACK or len(transcribed) < SHORTEST * len(said):
        return "length"
    limit = max(ceiling, 1.0) if len(said) <= 3 else ceiling
    return "wer" if errors.rate > limit else None


def right_script(text: str, language: str) -> bool:
    """Whether the letters of `text` are those of the language: Latin for English; for Chinese at least half of them Chinese characters."""
    letters = [char for char in text if char.isalpha()]
    if language == "zh":
        han = sum(bool(_HAN.match(char)) for char in letters)
        foreign = sum(not char.isascii() and not _HAN.match(char) for char in letters)
        return bool(letters) and han * 2 >= len(letters) and not foreign
    return all(char.isascii() or "LATIN" in unicodedata.name(char, "") for char in letters)


def longest_run(words: Sequence[str]) -> int:
    """How often some sequence of 1 to 4 words stands directly behind itself, at most."""
    longest = 1 if words else 0
    for size in range(1, 5):
        run = 1
        place = size
        while place + size <= len(words):
            if words[place - size : place] == words[place : place + size]:
                run += 1
                longest = max(longest, run)
                place += size
            else:
                run = 1
                place += 1
    return longest


def _repeats(said: Sequence[str], transcribed: Sequence[str]) -> bool:
    """Whether a sequence of four words comes three times or more though the speaker said it less often."""
    if len(transcribed) < 12:
        return False
    fours = Counter(zip(*(transcribed[place:] for place in range(4)), strict=False))
    sequence, count = max(fours.items(), key=lambda item: item[1])
    return count >= 3 and count > Counter(zip(*(said[place:] for place in range(4)), strict=False))[sequence]
