"""Chinese words and characters that sound alike, from a table that ships with the package.

``lexicons/zh/homophones.tsv`` is computed once from jieba's dictionary (frequencies) and pypinyin (readings), both MIT, by
``python -m dialmill.perturbers.typing.homophones``; shipping it makes the output independent of the installed versions of both and loads in
hundredths of a second. It holds two-character words of frequency 300 and more without proper names, and the 2,500 most frequent characters, all
of GB 2312: the dictionary also counts wrongly decoded text, whose characters (鐨, 鏄) nobody types. Some of those are of GB 2312 too (涓, 杩, 璇,
all of its second level), so a character of that level is one that a word of the table holds.

A character is read as its word is: 差 is chāi in 出差. Longer words are read through the two-character words in them; a character of several
readings (``lexicons/zh/polyphones.tsv``, from the same sources) that no such word holds has no known sound. ``lexicons/zh/alone.tsv`` has the
characters that are often words by themselves: an input method offers 久 for "jiu", but hardly 央 for "yang".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.perturbers.core.lexicon import rows

MIN_FREQUENCY = 300
CHARACTERS = 2500
#: How often the dictionary counts a character as a word of its own for it to be one that people write alone.
MIN_ALONE = 2000
#: The first byte of GB 2312's second level.
_SECOND_LEVEL = 0xD8

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

        self.polyphones = frozenset(character for (cell,) in rows("zh", "polyphones") for character in cell)
        self.alone = frozenset(character for (cell,) in rows("zh", "alone") for character in cell)

    def syllables(self, word: str) -> tuple[Sound | None, ...]:
        """The sound of each character of a word, None where it isn't known."""
        found: list[Sound | None] = [None] * len(word)
        for start in range(len(word) - 1):
            sound = self.sounds.get(word[start : start + 2])
            if sound is not None and found[start] is None:
                found[start : start + 2] = [Sound(pinyin, tone) for pinyin, tone in zip(sound.pinyin.split(" "), sound.tones, strict=True)]
        return tuple(
            self.sounds.get(character) if sound is None and (len(word) == 1 or character not in self.polyphones) else sound
            for character, sound in zip(word, found, strict=True)
        )

    def like(self, sound: Sound, text: str) -> tuple[list[str], list[str], list[str]]:
        """The characters, `text` apart, of the same sound, of the same with another tone, and of one that many speakers confuse with it."""
        same: list[str] = []
        other: list[str] = []
        for candidate in self.written.get(sound.pinyin, ()):
            if candidate != text:
                (same if self.sounds[candidate].tones == sound.tones else other).append(candidate)
        fuzzy = [one for variant in _fuzzy_syllables(sound.pinyin) for one in self.written.get(variant, ()) if one != text]
        return same, other, fuzzy

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


class Computed(NamedTuple):
    """The texts of the shipped tables."""

    homophones: str
    polyphones: str
    alone: str


def typed(text: str) -> bool:
    """Whether a text holds only characters of GB 2312, those that people type in general use."""
    try:
        text.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def _everyday(character: str) -> bool:
    """Whether a character of GB 2312 is of its first level, the 3,755 of general use."""
    return character.encode("gb2312")[0] < _SECOND_LEVEL


def compute() -> Computed:
    """The texts of the shipped tables, from the installed jieba and pypinyin."""
    import jieba
    from pypinyin import Style, pinyin

    frequency: dict[str, int] = {}
    characters: dict[str, int] = defaultdict(int)
    alone: dict[str, int] = {}
    with jieba.Tokenizer().get_dict_file() as file:
        for line in file.read().decode("utf-8").splitlines():
            word, count, kind = line.split(" ")
            if not all("\u4e00" <= character <= "\u9fff" for character in word) or not typed(word):
                continue
            for character in word:
                characters[character] += int(count)
            if len(word) == 1:
                alone[word] = int(count)
            if len(word) == 2 and int(count) >= MIN_FREQUENCY and not kind.startswith(("nr", "ns", "nt", "nz")):
                frequency[word] = int(count)
    in_words = {character for word in frequency for character in word}
    common = [
        character
        for character in sorted(characters, key=lambda character: (-characters[character], character))[:CHARACTERS]
        if _everyday(character) or character in in_words
    ]
    frequency.update({character: characters[character] for character in common})
    groups: dict[str, list[str]] = defaultdict(list)
    for text in sorted(frequency, key=lambda text: (len(text), -frequency[text], text)):
        read: Any = [reading[0] for reading in pinyin(text, style=Style.TONE3, neutral_tone_with_five=True)]
        groups[" ".join(syllable[:-1] for syllable in read)].append(text + "".join(syllable[-1] for syllable in read))
    sources = "# Computed from the dictionary of jieba 0.42.1 (MIT) and the readings of pypinyin 0.55 (MIT)."
    lines = ["# Words and characters by toneless pinyin, most frequent first, each with its tones; see perturbers/typing/homophones.py.", sources]
    lines += [f"{sound}\t{' '.join(groups[sound])}" for sound in sorted(groups)]
    several = [one for one in sorted(common) if len({reading.rstrip("12345") for reading in pinyin(one, style=Style.TONE3, heteronym=True)[0]}) > 1]
    polyphones = [
        "# Characters with more than one toneless reading, fifty a line; see perturbers/typing/homophones.py.",
        sources,
        *_fifty_a_line(several),
    ]
    often = sorted(one for one in common if alone.get(one, 0) >= MIN_ALONE)
    words = ["# Characters that are often words by themselves, fifty a line; see perturbers/typing/homophones.py.", sources, *_fifty_a_line(often)]
    return Computed(*("\n".join(table) + "\n" for table in (lines, polyphones, words)))


def _fifty_a_line(characters: Sequence[str]) -> list[str]:
    return ["".join(characters[place : place + 50]) for place in range(0, len(characters), 50)]


def main() -> None:
    """Writes the tables again."""
    folder = Path(__file__).parents[1] / "lexicons" / "zh"
    for name, text in compute()._asdict().items():
        (folder / f"{name}.tsv").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
