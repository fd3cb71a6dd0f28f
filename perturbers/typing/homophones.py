"""Chinese words and characters that sound alike, from a table that ships with the package.

``lexicons/zh/homophones.tsv`` is computed once from jieba's dictionary (frequencies) and pypinyin (readings), both MIT, by
``python -m dialmill.perturbers.typing.homophones``; shipping it makes the output independent of the installed versions of both and loads in
hundredths of a second. It holds two-character words of frequency 300 and more without proper names, and the 2,500 most frequent characters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.perturbers.core.lexicon import rows

MIN_FREQUENCY = 300
CHARACTERS = 2500

#: Sounds that speakers of many regions do not tell apart (fuzzy pinyin, as input methods call it).
_FUZZY_INITIALS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("n", "l"))
_FUZZY_FINALS = (("ang", "an"), ("eng", "en"), ("ing", "in"))


class Sound(NamedTuple):
    """Toneless pinyin syllables joined by a blank, and one tone digit (5 = neutral) for each."""

    pinyin: str
    tones: str


class Homophones:
    """The table in memory: `sounds` of words and characters, and what is written for a `pinyin`, most frequent first."""

    def __init__(self) -> None:
        self.sounds: dict[str, Sound] = {}
        self.written: dict[str, list[str]] = {}
        for pinyin, cell in rows("zh", "homophones"):
            texts = []
            width = pinyin.count(" ") + 1
            for entry in cell.split(" "):
                text, tones = entry[:width], entry[width:]
                self.sounds.setdefault(text, Sound(pinyin, tones))
                texts.append(text)
            self.written[pinyin] = texts

    def same(self, text: str) -> tuple[list[str], list[str]]:
        """What sounds like `text` (a word or character of the table): with the same tones, and with others; most frequent first."""
        sound = self.sounds.get(text)
        if sound is None:
            return [], []
        same: list[str] = []
        other: list[str] = []
        for candidate in self.written[sound.pinyin]:
            if candidate != text:
                (same if self.sounds[candidate].tones == sound.tones else other).append(candidate)
        return same, other

    def fuzzy(self, text: str) -> list[str]:
        """What sounds like `text` but for one pair of sounds that many speakers confuse, most frequent first within a pair."""
        sound = self.sounds.get(text)
        if sound is None:
            return []
        syllables = sound.pinyin.split(" ")
        found: list[str] = []
        for place, syllable in enumerate(syllables):
            for variant in _fuzzy_syllables(syllable):
                found += self.written.get(" ".join([*syllables[:place], variant, *syllables[place + 1 :]]), [])
        return found


@cache
def table() -> Homophones:
    """The table, loaded once per process."""
    return Homophones()


def _fuzzy_syllables(syllable: str) -> Iterator[str]:
    for one, other in _FUZZY_INITIALS:
        for this, that in ((one, other), (other, one)):
            # "z" is not the beginning of "zha".
            if syllable.startswith(this) and not (len(this) == 1 and syllable[1:2] == "h"):
                yield that + syllable[len(this) :]
    for one, other in _FUZZY_FINALS:
        for this, that in ((one, other), (other, one)):
            if syllable.endswith(this):
                yield syllable[: -len(this)] + that


def compute() -> str:
    """The text of the shipped table, from the installed jieba and pypinyin."""
    import jieba
    from pypinyin import Style, pinyin

    frequency: dict[str, int] = {}
    characters: dict[str, int] = defaultdict(int)
    with jieba.Tokenizer().get_dict_file() as file:
        for line in file.read().decode("utf-8").splitlines():
            word, count, kind = line.split(" ")
            if not all("\u4e00" <= character <= "\u9fff" for character in word):
                continue
            for character in word:
                characters[character] += int(count)
            if len(word) == 2 and int(count) >= MIN_FREQUENCY and not kind.startswith(("nr", "ns", "nt", "nz")):
                frequency[word] = int(count)
    common = sorted(characters, key=lambda character: (-characters[character], character))[:CHARACTERS]
    frequency.update({character: characters[character] for character in common})
    groups: dict[str, list[str]] = defaultdict(list)
    for text in sorted(frequency, key=lambda text: (len(text), -frequency[text], text)):
        read: Any = [reading[0] for reading in pinyin(text, style=Style.TONE3, neutral_tone_with_five=True)]
        groups[" ".join(syllable[:-1] for syllable in read)].append(text + "".join(syllable[-1] for syllable in read))
    lines = [
        "# Words and characters by toneless pinyin, most frequent first, each with its tones; see perturbers/homophones.py.",
        "# Computed from the dictionary of jieba 0.42.1 (MIT) and the readings of pypinyin 0.55 (MIT).",
    ]
    lines += [f"{sound}\t{' '.join(groups[sound])}" for sound in sorted(groups)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (Path(__file__).parents[1] / "lexicons" / "zh" / "homophones.tsv").write_text(compute(), "utf-8")
