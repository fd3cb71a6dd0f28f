"""The ASR error simulator: a recogniser's errors without the recogniser, in two stages.

*Where errors fall.* An utterance is more or less hard; in it words are misrecognised the more likely the rarer and the shorter they are, names most
and times least, and the more likely after a word that was. So errors come in runs. In gaps a word may come in by itself.

*What is recognised.* For a run of words that are misrecognised, what sounds like them (`english`, in Chinese words of the same or nearly the same
pinyin, `chinese`), chosen by a language model over the words of the run and those beside it. A word that sounds like nothing else that makes sense
where it stands may be recognised after all, if it is one that a recogniser can know.

Everything that is counted or fitted stands in a model file (`Learned`):

    python -m dialmill.perturbers.speech.fit.train --pairs PAIRS.jsonl --language en --output MODEL.json.gz

PAIRS.jsonl has {"ref": "...", "hyp": "..."} on each line, from `dialmill.perturbers.speech.fit.collect` or anybody's own recogniser's logs.
"""

from __future__ import annotations

import gzip
import json
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import msgspec
from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.weights import SUMS, check_bytes, list_file, own_files, read_sums
from dialmill.perturbers.speech.align import Change
from dialmill.perturbers.speech.chinese import ChineseHearing, segments
from dialmill.perturbers.speech.english import EnglishHearing
from dialmill.perturbers.speech.language_model import Counts, LanguageModel
from dialmill.perturbers.speech.learned import Learned
from dialmill.perturbers.speech.speakable import Word
from dialmill.perturbers.speech.wer import edit_errors

#: What to do where a shipped model is not the one that was shipped.
_AGAIN = "install dialmill again: pip install --force-reinstall --no-deps dialmill"
#: How many times a word must be met in training for what happened to it to count as much as what is expected of a word like it.
_BELIEF = 40
#: Runs of words longer than this are taken apart: more than that is nowhere recognised as something else altogether.
_LONGEST_RUN = 3
#: How many words in a row may be misrecognised.
_LONGEST = 8
#: Times, days and counts are what recognisers know best: in logits below what their rarity says.
_KNOWN_BETTER = {"en": -1.7, "zh": -4.5}
#: No single substitution is of much more than this share of all uses of a word.
_OF_ALL = 0.04
#: And its logarithm by so much more for each logit of the offset above one, at most so much: there can't be many errors without.
_MORE_OF_ALL, _FEW_ERRORS, _MOST_OF_ALL = 0.42, 1.5, 1.4
#: The least share to which what is recognised for a word is levelled.
_LEAST_SHARE = {"en": 0.02, "zh": 0.12}
#: And that of what is recognised for words that a recogniser can't know.
_MOST_OF_UNKNOWN = 0.15
#: Shares that are kept at most.
_REMEMBERED = 100_000
#: With how many logits of the offset a logit of the weight of words themselves is lost.
_GIVEN_UP = 1.0
#: The word error rate is calibrated on so many turns of an input, so often corrected; on fewer than so many it isn't.
_SAMPLE, _CORRECTIONS, _FEW = 400, 6, 40
#: It is near enough when it is off by no more than this share.
_NEAR_ENOUGH = 0.03
#: By what the logarithm of the chance that an English word comes in beside one that is misrecognised is above the logit of all gaps.
_BESIDE = 2.3
#: And by so much more for each logit of the offset, since words that are misrecognised are more often taken for others there; at most so much.
_MORE_INSERTED, _MOST_MORE = 0.25, 1.2
#: Words that are said so often in an input are usual there.
_USUAL = 5
#: A large prime.
_STRIDE = 7919

#: Words of numbers, days and times.
_KNOWN = frozenset([
    "zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    "hundred", "thousand", "first", "third", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january",
    "february", "april", "june", "july", "august", "september", "october", "november", "december", "morning", "afternoon", "evening", "night",
    "noon", "midnight", "today", "tomorrow", "tonight", "weekend", "week", "month", "year", "p", "m", "o'clock", "minutes", "minute", "hour",
    "hours",
])  # fmt: skip


class Hearing(Protocol):
    """What a language's words are taken for."""

    def over(self, model: LanguageModel) -> Hearing:
        """The same with another language model."""
        ...

    def length(self, word: str) -> int:
        """The number of a word's sounds, at least 1."""
        ...

    def harder(self, word: str) -> float:
        """By how much a word is harder than its rarity says, in logits."""
        ...

    def recognise(
        self, said: Sequence[str], known: Sequence[bool], most: Sequence[float], itself: float, left: str, right: str, rng: Rng
    ) -> list[str]:
        """What is recognised for a run of words between two others.

        Args:
            known: of each word, whether a recogniser can know it.
            most: of each word, the share of what is recognised for it above which no single substitution may be.
            itself: by what the weights of the words themselves are multiplied.
        """
        ...

    def insertion(self, left: str, right: str, rng: Rng) -> str:
        """What is recognised where nothing was said, between two words."""
        ...


class Model:
    """A trained ASR error simulator."""

    def __init__(self, learned: Learned) -> None:
        self.learned = learned
        self.language = learned.language
        self._chinese = learned.language == "zh"
        self._blank = "" if self._chinese else " "
        self._rarity = {word: rarity for rarity, words in enumerate(learned.common) for word in words.split(" ")}
        self._language_model = LanguageModel(learned.general, learned.bigrams, self._rarity, len(learned.common))
        self._hearing: Hearing = (
            ChineseHearing(self._language_model, self._rarity) if self._chinese else EnglishHearing(learned, self._language_model)
        )
        # Chinese names are cut into words, most of them rare ones.
        self._rarest = len(learned.common) - (3 if self._chinese else 1)
        self._logits: dict[str, float] = {}
        self._mosts: dict[tuple[str, float], float] = {}
        self._sample: Sequence[Sequence[str]] = ()
        self._offsets: dict[float, float] = {}

    def for_input(self, training: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> Model:
        """The same for one input.

        Args:
            training: its turns as spoken words (Chinese: characters), that the language model counts.
            others: those to calibrate the word error rate on.
        """
        new = Model.__new__(Model)
        new.__dict__.update(self.__dict__)
        new._mosts = {}
        if training:
            new._hearing = self._hearing.over(self._language_model.over(Counts.of_texts(training, 2 if self._chinese else 1)))
            if self._chinese:
                new._rarity, new._logits = self._rarity | self._usual(training), {}
        new._sample = others[:: max(1, len(others) // _SAMPLE)][:_SAMPLE] if len(others) >= _FEW else ()
        new._offsets = {}
        return new

    @cached_property
    def digest(self) -> str:
        """The digest of the pairs that it learned from."""
        return str(self.learned.about.get("pairs_sha256", ""))

    def _usual(self, training: Sequence[Sequence[str]]) -> dict[str, int]:
        """Words that are frequent in an input, with the class of rarity that they have there: whoever speaks of hotels knows the word for them.
        Names stay unknown."""
        counts = Counter(self._blank.join(text[start:end]) for text in training for start, end in pairwise(segments(text)))
        total = counts.total()
        here = {word: int(math.log2(total / count)) - 5 for word, count in counts.items() if count >= _USUAL}
        return {word: max(0, rarity) for word, rarity in here.items() if rarity < self._rarity.get(word, 0)}

    def offset(self, wer: float) -> float:
        """The offset in logits that gives a corpus word error rate: read off the curve that training measured, and corrected on the input's turns."""
        found = self._offsets.get(wer)
        if found is None:
            found = self._on_curve(wer)
            slope = max(0.2, (self._on_curve(min(0.9, 1.2 * wer)) - found) / math.log(1.2))
            low, high = -math.inf, math.inf
            before: tuple[float, float] | None = None
            for _ in range(_CORRECTIONS if self._sample else 0):
                away = math.log(wer / max(1e-3, self._measured(found)))
                if abs(away) <= _NEAR_ENOUGH:
                    break
                low, high = (found, high) if away > 0 else (low, found)
                if before is not None and before[1] != away:
                    slope = max(0.3, min(8.0, (found - before[0]) / (before[1] - away)))
                before = found, away
                found += slope * max(-1.5, min(1.5, away))
                if not low < found < high:
                    found = (low + high) / 2
            self._offsets[wer] = found
        return found

    def _measured(self, offset: float) -> float:
        """The word error rate of the input's turns at an offset; their hardness is spread evenly instead of drawn, so that few turns tell it."""
        wrong = length = 0
        count = len(self._sample)
        for number, texts in enumerate(self._sample):
            # Multiplied by a number that has no divisor in common with the count, every place comes up once.
            share = ((number * _STRIDE) % count + 0.5) / count
            said = [Word(text, place, place + 1) for place, text in enumerate(texts)]
            changes = self.distort(said, 0.0, Rng("calibration", number), offset, statistics.NormalDist().inv_cdf(share))
            made: list[str] = []
            reached = 0
            for change in changes:
                made += [*texts[reached : change.i], *(change.new if self._chinese else change.new.split())]
                reached = change.j
            wrong += edit_errors(texts, [*made, *texts[reached:]]).total
            length += len(texts)
        return wrong / max(1, length)

    def _on_curve(self, wer: float) -> float:
        """The offset for a corpus word error rate, by the curve that training measured."""
        curve = self.learned.curve
        if not curve:
            return math.log(wer / (1 - wer)) + 2
        if wer <= curve[0][1]:
            return curve[0][0] + math.log(max(wer, 1e-4) / curve[0][1])
        for (low, rate), (high, more) in pairwise(curve):
            if wer <= more:
                return low + (high - low) * (wer - rate) / (more - rate) if more > rate else high
        return curve[-1][0]

    def distort(self, words: Sequence[Word], wer: float, rng: Rng, offset: float | None = None, hardness: float | None = None) -> list[Change]:
        """What is recognised in place of what, for one utterance; in order, no written token split.

        Args:
            words: what was said.
            wer: the corpus word error rate to reach.
            rng: seeded for the turn.
            offset: in place of the one for `wer`, when calibrating.
            hardness: of the utterance, in standard deviations; drawn where it is None.
        """
        texts = [word.text for word in words]
        # Chinese is misrecognised by words, of several characters each.
        bounds = segments(texts) if self._chinese else list(range(len(texts) + 1))
        said = [self._blank.join(texts[start:end]) for start, end in pairwise(bounds)]
        base = self.offset(wer) if offset is None else offset
        logits = base + self.learned.spread * (_normal(rng) if hardness is None else hardness)
        # Where much is misrecognised, also what makes little sense is.
        itself = math.exp(-_GIVEN_UP * max(0.0, base))
        changes: list[Change] = []
        chances = [_chance(self.logit(word) + logits) for word in said]
        # Beside what is hard to recognise something more is recognised.
        inserted = self._insertions(chances, base, logits)
        place, count, previous = 0, len(said), "<s>"
        while place <= count:
            following = said[place] if place < count else "</s>"
            if rng.random() < inserted[place]:
                new = self._hearing.insertion(previous, following, rng)
                if new:
                    changes.append(Change(bounds[place], bounds[place], new))
                    previous = new
            if place == count:
                break
            if rng.random() >= chances[place]:
                previous = said[place]
                place += 1
                continue
            end = place + 1
            # Errors spread to the next word, but to one that is hard rather than to one that is easy.
            while end < count and end - place < _LONGEST and rng.random() < _chance(self.logit(said[end]) + logits + self.learned.contagion):
                end += 1
            for start in range(place, end, _LONGEST_RUN):
                run = said[start : min(end, start + _LONGEST_RUN)]
                known = [self._rarity.get(word, 99) < self._rarest or word in self.learned.words for word in run]
                most = [self._most(word, base) if one else _MOST_OF_UNKNOWN for word, one in zip(run, known, strict=True)]
                right = said[start + len(run)] if start + len(run) < count else "</s>"
                found = self._hearing.recognise(run, known, most, itself, previous, right, rng)
                if found != run:
                    first, last, instead = _differing(run, found)
                    changes.append(Change(bounds[start + first], bounds[start + last], self._blank.join(instead)))
                previous = found[-1] if found else previous
            if end < count:
                # The word after a run was recognised right: that has been drawn.
                previous = said[end]
            place = end + 1
            if end >= count:
                break
        if sum(change.j - change.i for change in changes if not change.new) == len(words):
            # Where somebody speaks, something is recognised.
            return []
        return _whole(changes, words, texts, self._blank)

    def _insertions(self, chances: Sequence[float], base: float, logits: float) -> list[float]:
        """How likely something is recognised where nothing was said, before each word and at the end."""
        if not self.learned.inserted:
            return [0.0] * (len(chances) + 1)
        if self._chinese:
            return [_chance(self.learned.insertion + logits)] * (len(chances) + 1)
        share = math.exp(self.learned.insertion + _BESIDE + min(_MOST_MORE, _MORE_INSERTED * base)) / 2
        return [share * (one + other) for one, other in pairwise([0.0, *chances, 0.0])]

    def _most(self, word: str, base: float) -> float:
        """The share of what is recognised for a misrecognised word above which no single one may be, so that of all its uses none is above `_OF_ALL`.

        Utterances are more or less hard: on the mean of them a word is misrecognised a little more often than in one of mean hardness.
        """
        found = self._mosts.get((word, base))
        if found is None:
            logit = (self.logit(word) + base) / math.sqrt(1 + 0.393 * self.learned.spread**2)
            if len(self._mosts) > _REMEMBERED:
                self._mosts.clear()
            found = self._mosts[word, base] = max(_LEAST_SHARE[self.language], min(1.0, self._of_all(base) / (1.2 * _chance(logit))))
        return found

    def _of_all(self, base: float) -> float:
        """The share of all uses of a word above which no single substitution may be. Chinese offsets are higher for as many errors."""
        return _OF_ALL if self._chinese else _OF_ALL * math.exp(min(_MOST_OF_ALL, _MORE_OF_ALL * max(0.0, base - _FEW_ERRORS)))

    def logit(self, word: str) -> float:
        """How likely a word is misrecognised, as training had it."""
        found = self._logits.get(word)
        if found is None:
            said, wrong = self.learned.words.get(word, (0, 0))
            rate = (wrong + _BELIEF * _chance(self.expected(word))) / (said + _BELIEF)
            found = self._logits[word] = math.log(rate / (1 - min(rate, 0.98)))
        return found

    def expected(self, word: str) -> float:
        """How likely a word is misrecognised by its rarity and length alone, as a logit."""
        constant, by_rarity, by_length, last, unlisted = self.learned.hardness or [-2.0, 0.1, 0.0, 1.0, 0.5]
        rarity = self._rarity.get(word)
        if self._known(word):
            return constant + by_rarity * (rarity or 0) + by_length * math.log(self._hearing.length(word)) + _KNOWN_BETTER[self.language]
        if rarity is None:
            return unlisted
        of_class = last if rarity == len(self.learned.common) - 1 else by_rarity * rarity
        return constant + of_class + by_length * math.log(self._hearing.length(word)) + self._hearing.harder(word)

    def _known(self, word: str) -> bool:
        return all(char in _NUMERALS for char in word) if self._chinese else word in _KNOWN


#: Characters of numbers and times: recognisers know them best.
_NUMERALS = frozenset("零一二三四五六七八九十百千万两点分半元号月日年")


def _differing(run: Sequence[str], found: Sequence[str]) -> tuple[int, int, Sequence[str]]:
    """Which words of a run are not as they were, and what stands there: without those that are alike at its beginning and at its end."""
    first, last = 0, len(run)
    while first < min(last, len(found)) and run[first] == found[first]:
        first += 1
    while last > first and len(found) - (len(run) - last) > first and run[last - 1] == found[last - 1 - len(run)]:
        last -= 1
    return first, last, found[first : len(found) - (len(run) - last)]


def _chance(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -30 else 0.0


def _normal(rng: Rng) -> float:
    """A standard normal number (Box and Muller 1958)."""
    return math.sqrt(-2 * math.log(1 - rng.random())) * math.cos(2 * math.pi * rng.random())


def _whole(changes: Sequence[Change], words: Sequence[Word], texts: Sequence[str], blank: str) -> list[Change]:
    """The changes, each grown over the written tokens it would split; what grows in is recognised as said."""
    groups: list[tuple[int, int, list[Change]]] = []
    for change in changes:
        start, end = change.i, change.j
        if start == end:
            # Nothing comes in inside a written token.
            if not 0 < start < len(words) or words[start - 1][1:] != words[start][1:]:
                groups.append((start, end, [change]))
            continue
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
    list_file(path)


@lru_cache(maxsize=1)
def _shipped_sums() -> dict[str, str]:
    return read_sums((resources.files("dialmill.perturbers.speech") / "data" / SUMS).read_text("utf-8"), SUMS)


@lru_cache(maxsize=8)
def load(model: str = "auto", language: str = "") -> Model:
    """A simulator, loaded once per process: "auto" is the shipped one for the language, else the path of a model file.

    Raises:
        OptionError: no such file, no model file, or one for another language.
        WeightsRefused: its SHA-256 is not the one that it should have.
    """
    if model == "auto":
        file = resources.files("dialmill.perturbers.speech") / "data" / f"channel.{language}.json.gz"
        if not file.is_file():
            raise OptionError(f"speech: there is no ASR error simulator for {language!r}")
        data = file.read_bytes()
        check_bytes(data, str(file), _shipped_sums().get(file.name, f"one that {SUMS} lists"), _AGAIN)
        return Model(read_model(data))
    try:
        own_files(Path(model).parent, (Path(model).name,))
        learned = read_model(Path(model).read_bytes())
    except msgspec.ValidationError as error:
        raise OptionError(
            f"speech: {model} is no model of the ASR error simulator of this release: train it again from its pairs ({error})"
        ) from error
    except (OSError, msgspec.DecodeError, EOFError) as error:
        raise OptionError(f"speech: {model} is no model of the ASR error simulator: {error}") from error
    if len(learned.hardness) not in (0, 5) or not learned.inserted:
        raise OptionError(f"speech: {model} is a model of another release of dialmill: train it again from its pairs")
    if language and learned.language != language:
        raise OptionError(f"speech: the model {model} is for {learned.language!r}, not {language!r}")
    return Model(learned)
