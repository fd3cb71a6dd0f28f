"""What a model file of the ASR error simulator holds."""

from __future__ import annotations

from typing import Any

import msgspec


class Learned(msgspec.Struct, frozen=True):
    """What a model file holds. Texts are spoken words with blanks between them (Chinese: none).

    Attributes:
        language: "en" or "zh".
        about: how it was trained: command, number of pairs, digest of the pairs, scores.
        words: word -> [how often it was said, how often it was misrecognised].
        units: word -> what was recognised instead -> count, of single words.
        contagion: how much more likely a word is misrecognised after one that was, in logits.
        insertion: the logit that a word comes in at a gap, in an utterance of mean hardness.
        inserted: recognised where nothing was said -> count.
        spread: standard deviation of the utterances' hardness, in logits.
        bigrams: word (Chinese: one or two characters) -> next one -> count, of transcripts and of texts of people who speak to assistants.
        general: word (character) -> what follows it in general text, as `language_model.packed` writes it.
        phones, costs: for `phones.Lexicon`; empty for Chinese.
        near, split: of frequent words, what they are taken for, as `english.tables` writes it; empty for Chinese.
        curve: [offset in logits, word error rate] pairs, rising.
        common: words with blanks between them by how rare they are, the most frequent first; every class is half as frequent as the one before, the
            last has all other words of a large dictionary. What is in none is a word that a recogniser never met: most are names.
        hardness: of the logit that a word is misrecognised [constant, by class of rarity, by logarithm of the number of sounds, of the last class] by
            logistic regression, and the logit for words of no class, whatever their length: a recogniser expects frequent words and makes them of
            what it can't make out, so it is the rare ones, names above all, that suffer.
    """

    language: str
    about: dict[str, Any]
    words: dict[str, tuple[int, int]]
    units: dict[str, dict[str, int]]
    contagion: float
    insertion: float
    inserted: dict[str, int]
    spread: float
    bigrams: dict[str, dict[str, int]]
    general: dict[str, str] = {}
    phones: dict[str, str] = {}
    costs: dict[str, float] = {}
    near: dict[str, str] = {}
    split: dict[str, str] = {}
    curve: list[tuple[float, float]] = []
    common: list[str] = []
    hardness: list[float] = []
