"""The ASR error simulator: a recogniser's errors without the recogniser, learned from pairs of what was said and what was recognised.

It errs as a noisy channel does. An utterance is more or less hard (errors come in bursts); in it, words are misrecognised at their own rates, alone
or with their neighbours; what is recognised instead is drawn from what was recognised for the same words in training, or, for words never
met, from words that sound alike (weighted phone distance; in Chinese pinyin), re-ranked by a bigram model of transcripts.

    python -m dialmill.perturbers.speech.fit.train --pairs PAIRS.jsonl --language en --output MODEL.json.gz

PAIRS.jsonl has {"ref": "...", "hyp": "..."} on each line, from `dialmill.perturbers.speech.fit.collect` or anybody's own recogniser's logs.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib import resources
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Protocol

import msgspec
from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech.align import Change
from dialmill.perturbers.speech.phones import Lexicon
from dialmill.perturbers.speech.speakable import Word
from dialmill.perturbers.typing.homophones import table

#: Words of a learned unit at most.
LONGEST = 3
#: How much a substitution seen in training counts against those that sound alike: seen n times, n / (n + this).
_PRIOR = 1.5
#: How many times a word must be met in training for what happened to it to count as much as what is expected of a word like it.
_BELIEF = 2
#: Weights of sound and of the language model when what is recognised is drawn among neighbours.
_SOUND, _LANGUAGE = 2.2, 0.6
#: How often two misrecognised neighbours come out as one word, where a word sounds like both; in Chinese, two characters as another word of two.
_TOGETHER = {"en": 0.15, "zh": 0.6}
#: Drawing weights that are kept at most.
_REMEMBERED = 200_000


class Learned(msgspec.Struct, frozen=True):
    """What a model file holds. Counts are counts of training pairs' words; texts are spoken words with blanks between them (Chinese: none).

    Attributes:
        language: "en" or "zh".
        about: how it was trained: command, number of pairs, digest of the pairs, scores.
        units: what was said -> what was recognised instead -> count, for up to `LONGEST` words; "" was not recognised.
        words: word -> [how often it was said, how often it was misrecognised].
        contagion: how much more likely a word is misrecognised after one that was, in logits.
        shares: deletion, split (one recognised as two) and insertion by error.
        inserted: recognised where nothing was said -> count.
        spread: standard deviation of the utterances' hardness, in logits.
        bigrams: word -> next word -> count, of the transcripts.
        phones, costs: for `phones.Lexicon`; empty for Chinese.
        curve: [offset in logits, word error rate] pairs, rising.
        common: words with blanks between them by how rare they are, the most frequent first; every class is half as frequent as the one before, the
            last has all other words of a large dictionary. What is in none is a word that a recogniser never met: most are names.
        hardness: of the logit that a word is misrecognised [constant, by class of rarity, by logarithm of the number of phones, of the last class] by
            logistic regression, and the logit for words of no class, whatever their length: a recogniser expects frequent words and makes them of
            what it can't make out, so it is the rare ones, names above all, that suffer. Empty where rarity isn't known.
    """

    language: str
    about: dict[str, Any]
    units: dict[str, dict[str, int]]
    words: dict[str, tuple[int, int]]
    contagion: float
    shares: dict[str, float]
    inserted: dict[str, int]
    spread: float
    bigrams: dict[str, dict[str, int]]
    phones: dict[str, str] = {}
    costs: dict[str, float] = {}
    curve: list[tuple[float, float]] = []
    common: list[str] = []
    hardness: list[float] = []


class Neighbours(Protocol):
    """Words that sound like others, with their distances (0 the same)."""

    def near(self, words: tuple[str, ...]) -> Sequence[tuple[str, float]]:
        """For one word or two taken together."""
        ...

    def split(self, word: str) -> Sequence[tuple[str, float]]:
        """Two words for one."""
        ...

    def length(self, word: str) -> int:
        """The number of its sounds, at least 1."""
        ...


class _English:
    def __init__(self, learned: Learned) -> None:
        self._lexicon = Lexicon(learned.phones, learned.costs, learned.phones)

    @lru_cache(maxsize=65536)  # noqa: B019  one model lives as long as its process
    def near(self, words: tuple[str, ...]) -> Sequence[tuple[str, float]]:
        phones = tuple(phone for word in words for phone in self._lexicon.phones(word))
        joined = "".join(words)
        return tuple((word, distance) for word, distance in self._lexicon.near(phones) if word not in words and word != joined)

    @lru_cache(maxsize=16384)  # noqa: B019
    def split(self, word: str) -> Sequence[tuple[str, float]]:
        phones = self._lexicon.phones(word)
        found = []
        for cut in range(2, len(phones) - 1):
            for head, first in self._lexicon.near(phones[:cut], 4):
                for tail, second in self._lexicon.near(phones[cut:], 4):
                    if head + tail != word:
                        found.append((f"{head} {tail}", first + second))
        return tuple(sorted(found, key=lambda one: (one[1], one[0]))[:12])

    def length(self, word: str) -> int:
        return max(1, len(self._lexicon.phones(word)))


class _Chinese:
    @lru_cache(maxsize=65536)  # noqa: B019
    def near(self, words: tuple[str, ...]) -> Sequence[tuple[str, float]]:
        text = "".join(words)
        same, other = table().same(text)
        found = [(one, 0.1 + 0.05 * rank) for rank, one in enumerate(same[:6])] + [(one, 0.3 + 0.05 * rank) for rank, one in enumerate(other[:6])]
        found += [(one, 0.6 + 0.05 * rank) for rank, one in enumerate(table().fuzzy(text)[:6])]
        return tuple(found)

    def split(self, word: str) -> Sequence[tuple[str, float]]:
        return ()

    def length(self, word: str) -> int:
        return 1


class Model:
    """A trained ASR error simulator."""

    def __init__(self, learned: Learned) -> None:
        self.learned = learned
        self.language = learned.language
        self._blank = "" if learned.language == "zh" else " "
        self._neighbours: Neighbours = _Chinese() if learned.language == "zh" else _English(learned)
        self._together = _TOGETHER.get(learned.language, 0.0)
        self._longest = max((self._count(unit) for unit in learned.units), default=1)
        self._inserted = list(learned.inserted)
        self._inserted_steps = list(accumulate(learned.inserted.values()))
        self._logits: dict[str, float] = {}
        said = sum(count for count, _ in learned.words.values()) or 1
        self._rarity = {word: rarity for rarity, words in enumerate(learned.common) for word in words.split(" ")}
        self._mean = max(1e-3, sum(wrong for _, wrong in learned.words.values()) / said)
        self._totals = {word: sum(following.values()) for word, following in learned.bigrams.items()}
        unigrams: dict[str, int] = {}
        for following in learned.bigrams.values():
            for word, count in following.items():
                unigrams[word] = unigrams.get(word, 0) + count
        self._unigrams = unigrams
        self._all = sum(unigrams.values()) + 1
        # Drawing what is recognised is the dear part, and its weights depend on little: the words and the one before.
        self._weights: dict[tuple[str, tuple[str, ...], str], tuple[list[str], list[float]]] = {}

    def _count(self, unit: str) -> int:
        return len(unit) if self.language == "zh" else unit.count(" ") + 1

    @cached_property
    def digest(self) -> str:
        """The digest of the pairs that it learned from."""
        return str(self.learned.about.get("pairs_sha256", ""))

    def offset(self, wer: float) -> float:
        """The offset in logits that gives a corpus word error rate, read off the curve that training measured."""
        curve = self.learned.curve
        if not curve:
            return math.log(wer / (1 - wer)) - math.log(self._mean / (1 - self._mean))
        if wer <= curve[0][1]:
            return curve[0][0] + math.log(max(wer, 1e-4) / curve[0][1])
        for (low, rate), (high, more) in pairwise(curve):
            if wer <= more:
                return low + (high - low) * (wer - rate) / (more - rate) if more > rate else high
        return curve[-1][0]

    def distort(self, words: Sequence[Word], wer: float, rng: Rng, offset: float | None = None) -> list[Change]:
        """What is recognised in place of what, for one utterance; in order, no written token split.

        Args:
            words: what was said.
            wer: the corpus word error rate to reach.
            rng: seeded for the turn.
            offset: in place of the one for `wer`, when calibrating.
        """
        texts = [word.text for word in words]
        shift = (self.offset(wer) if offset is None else offset) + self.learned.spread * _normal(rng)
        changes: list[Change] = []
        previous = "<s>"
        place, count = 0, len(texts)
        shares = self.learned.shares
        random = rng.random
        while place < count:
            word = texts[place]
            if random() >= 1 / (1 + math.exp(-self.logit(word) - shift)):
                previous = word
                place += 1
                continue
            end = place + 1
            # Errors spread to the next word, but to one that is hard rather than to one that is easy.
            while end < count and random() < 1 / (1 + math.exp(-self.logit(texts[end]) - shift - self.learned.contagion)):
                end += 1
            size = end - place
            new, previous = self._region(texts[place:end], previous, rng)
            if random() < size * shares.get("insertion", 0.0) and self._inserted:
                extra = rng.weighted(self._inserted, self._inserted_steps)
                new = f"{new}{self._blank}{extra}".strip()
                previous = extra.split(" ")[-1]
            if new != self._blank.join(texts[place:end]):
                changes.append(Change(place, end, new))
            if end < count:
                # The word after a run was recognised right: that has been drawn.
                previous = texts[end]
            place = end + 1
        return _whole(changes, words, texts, self._blank)

    def logit(self, word: str) -> float:
        """How likely a word is misrecognised, as training had it."""
        found = self._logits.get(word)
        if found is None:
            said, wrong = self.learned.words.get(word, (0, 0))
            rate = (wrong + _BELIEF * self._expected(word, bool(said))) / (said + _BELIEF)
            found = self._logits[word] = math.log(rate / (1 - min(rate, 0.98)))
        return found

    def _expected(self, word: str, met: bool) -> float:
        """How often a word is misrecognised, before what training saw of it."""
        if not self.learned.hardness:
            # Words never met are misrecognised more than those of the training texts.
            return self._mean * (1.0 if met else 1.5)
        constant, by_rarity, by_length, last, unlisted = self.learned.hardness
        rarity = self._rarity.get(word)
        logit = unlisted
        if rarity is not None:
            of_class = last if rarity == len(self.learned.common) - 1 else by_rarity * rarity
            logit = constant + of_class + by_length * math.log(self._neighbours.length(word))
        return 1 / (1 + math.exp(-logit))

    def _region(self, said: list[str], previous: str, rng: Rng) -> tuple[str, str]:
        """What is recognised for a run of words, and its last word. Longer learned units before shorter ones."""
        transcribed: list[str] = []
        place = 0
        while place < len(said):
            for size in range(min(self._longest, len(said) - place), 0, -1):
                unit = self._blank.join(said[place : place + size])
                seen = self.learned.units.get(unit)
                if seen is not None:
                    total = sum(seen.values())
                    if rng.random() < total / (total + _PRIOR):
                        choice = rng.weighted(*self._seen(unit, seen))
                        break
            else:
                size, choice = self._unseen(said[place:], previous, rng)
            if choice:
                transcribed.append(choice)
                previous = choice[-1] if self.language == "zh" else choice.split(" ")[-1]
            place += size
        return self._blank.join(transcribed), previous

    def _unseen(self, said: list[str], previous: str, rng: Rng) -> tuple[int, str]:
        """What is recognised for the first word or two of `said`, by sound: how many words, and the text."""
        roll = rng.random()
        shares = self.learned.shares
        if roll < shares.get("deletion", 0.0):
            return 1, ""
        if len(said) > 1 and rng.random() < self._together:
            options, steps = self._drawn("two", (said[0], said[1]), previous)
            if options:
                return 2, rng.weighted(options, steps)
        if roll < shares.get("deletion", 0.0) + shares.get("split", 0.0):
            options, steps = self._drawn("split", (said[0],), previous)
            if options:
                return 1, rng.weighted(options, steps)
        # What sounds like no word is made out as two; what can't be, is not recognised.
        for how in ("one", "split"):
            options, steps = self._drawn(how, (said[0],), previous)
            if options:
                return 1, rng.weighted(options, steps)
        return 1, ""

    def _ranked(self, neighbours: Sequence[tuple[str, float]], previous: str) -> tuple[list[str], list[float]]:
        weights = [math.exp(-_SOUND * distance + _LANGUAGE * self._log_probability(previous, word)) for word, distance in neighbours]
        return [word for word, _ in neighbours], weights

    def _log_probability(self, previous: str, text: str) -> float:
        """Bigram log probability of the first word of `text` after `previous`, backed off to its frequency."""
        word = text[0] if self.language == "zh" else text.split(" ")[0]
        alone = (self._unigrams.get(word, 0) + 0.2) / self._all
        total = self._totals.get(previous, 0)
        seen = self.learned.bigrams.get(previous, {}).get(word, 0)
        return math.log((seen + 4 * alone) / (total + 4))

    def _drawn(self, how: str, said: tuple[str, ...], previous: str) -> tuple[list[str], list[float]]:
        """What may be recognised for unseen words after `previous`, with cumulative weights."""
        key = (how, said, previous)
        found = self._weights.get(key)
        if found is None:
            if len(self._weights) > _REMEMBERED:
                self._weights.clear()
            neighbours = self._neighbours.split(said[0]) if how == "split" else self._neighbours.near(said)
            options, weights = self._ranked(neighbours, previous)
            found = self._weights[key] = (options, list(accumulate(weights)))
        return found

    def _seen(self, unit: str, seen: dict[str, int]) -> tuple[list[str], list[float]]:
        """What was recognised in training for a unit, with cumulative counts."""
        key = ("seen", (unit,), "")
        found = self._weights.get(key)
        if found is None:
            found = self._weights[key] = (list(seen), [float(count) for count in accumulate(seen.values())])
        return found


def _normal(rng: Rng) -> float:
    """A standard normal number (Box and Muller 1958)."""
    return math.sqrt(-2 * math.log(1 - rng.random())) * math.cos(2 * math.pi * rng.random())


def _whole(changes: Sequence[Change], words: Sequence[Word], texts: Sequence[str], blank: str) -> list[Change]:
    """The changes, each grown over the written tokens it would split; what grows in is recognised as said."""
    groups: list[tuple[int, int, list[Change]]] = []
    for change in changes:
        start, end = change.i, change.j
        while start > 0 and words[start - 1][1:] == words[start][1:]:
            start -= 1
        while end < len(words) and words[end][1:] == words[end - 1][1:]:
            end += 1
        if groups and start < groups[-1][1]:
            first, last, inside = groups.pop()
            groups.append((first, max(end, last), [*inside, change]))
        else:
            groups.append((start, end, [change]))
    grown: list[Change] = []
    for start, end, inside in groups:
        parts: list[str] = []
        reached = start
        for change in inside:
            parts += [*texts[reached : change.i], change.new]
            reached = change.j
        parts += texts[reached:end]
        grown.append(Change(start, end, blank.join(part for part in parts if part)))
    return grown


def read_model(data: bytes) -> Learned:
    """A model file's contents (JSON, gzipped or not)."""
    return msgspec.json.decode(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data, type=Learned)


def write_model(learned: Learned, path: Path) -> None:
    """Writes a model file, the same bytes for the same model."""
    plain = json.dumps(msgspec.to_builtins(learned), ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    path.write_bytes(gzip.compress(plain, mtime=0) if path.suffix == ".gz" else plain)


@lru_cache(maxsize=8)
def load(model: str = "auto", language: str = "") -> Model:
    """A simulator, loaded once per process: "auto" is the shipped one for the language, else the path of a model file.

    Raises:
        OptionError: no such file, no model file, or one for another language.
    """
    if model == "auto":
        file = resources.files("dialmill.perturbers.speech") / "data" / f"channel.{language}.json.gz"
        if not file.is_file():
            raise OptionError(f"speech: there is no ASR error simulator for {language!r}")
        return Model(read_model(file.read_bytes()))
    try:
        learned = read_model(Path(model).read_bytes())
    except (OSError, msgspec.DecodeError, EOFError) as error:
        raise OptionError(f"speech: {model} is no model of the ASR error simulator: {error}") from error
    if len(learned.hardness) not in (0, 5):
        raise OptionError(f"speech: {model} is a model of another release of dialmill: train it again from its pairs")
    if language and learned.language != language:
        raise OptionError(f"speech: the model {model} is for {learned.language!r}, not {language!r}")
    return Model(learned)
