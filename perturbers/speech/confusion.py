"""The ASR error simulator: a recogniser's errors without the recogniser, in two stages.

*Where errors fall.* An utterance is more or less hard; in it words are misrecognised the more likely the rarer and the shorter they are, names most
and times least, and the more likely after a word that was. So errors come in runs. How many words are recognised for a run of so many is drawn from a
table of what recognisers made of runs of that length; in gaps a word may come in by itself.

*What is recognised.* For every word that is made out, candidates by sound (weighted phone distance; in Chinese words of the same or nearly the same
pinyin, with tones), chosen by a bigram model over the words on both sides. For two words one may be recognised, and two for one.

Everything that is counted or fitted stands in a model file (`Learned`):

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
from dialmill.perturbers.speech.bigrams import Bigrams, Candidate
from dialmill.perturbers.speech.chinese import LITTLE, ChineseSounds, segments
from dialmill.perturbers.speech.phones import Lexicon
from dialmill.perturbers.speech.speakable import Word

#: Weights of the sound (for a distance of 1) and of the language model when what is recognised is drawn among candidates; set by hand among some
#: settings, by the shares of error kinds and the perplexity of SLURP, ATIS and TREC.
_SOUND, _LANGUAGE = 2.6, 1.0
#: How many times a word must be met in training for what happened to it to count as much as what is expected of a word like it.
_BELIEF = 40
#: Runs of words longer than this are taken apart: more than that is nowhere recognised as something else altogether.
_LONGEST_RUN = 3
#: Candidates for a word, for two words together, and for a word as two.
_ONE, _TWO, _SPLIT = 20, 8, 12
#: Short words are what is missed: a word of so many phones is left out with weight exp(_SHORT - _BY_PHONE * phones).
_SHORT, _BY_PHONE = 0.9, 0.25
#: What is left out is this share of what a recogniser leaves out that was taught the very commands it hears (SLURP's), since others leave out less.
_LEFT_OUT = 0.65
#: How much of a missing word comes of two being recognised as one.
_MERGED = 0.45
#: Times, days and counts are what recognisers know best: in logits below what their rarity says.
_KNOWN_BETTER = {"en": -1.3, "zh": -3.0}
#: How often a Chinese word without stress that is misrecognised is not recognised at all.
_UNHEARD = 0.45
#: No single substitution is more than the first share of what is recognised for a misrecognised word, and none is of much more than the second share
#: of all uses of a word, which in an utterance of mean hardness is misrecognised in so many of them.
_MOST, _OF_ALL = 0.3, 0.035
#: Up to this class of rarity words are frequent.
_FREQUENT = 9
#: The logarithm of the weight of a Chinese word itself among what it can be taken for.
_HELD = -4.0
#: From this offset on there are so many errors that also what makes little sense is recognised.
_PLENTY = 2.0
#: Weights of candidates that are kept at most.
_REMEMBERED = 200_000

#: Words of numbers, days and times.
_KNOWN = frozenset([
    "zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    "hundred", "thousand", "first", "third", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january",
    "february", "april", "june", "july", "august", "september", "october", "november", "december", "morning", "afternoon", "evening", "night",
    "noon", "midnight", "today", "tomorrow", "tonight", "weekend", "week", "month", "year", "p", "m", "o'clock", "minutes", "minute", "hour",
    "hours",
])  # fmt: skip


class Learned(msgspec.Struct, frozen=True):
    """What a model file holds. Texts are spoken words with blanks between them (Chinese: none).

    Attributes:
        language: "en" or "zh".
        about: how it was trained: command, number of pairs, digest of the pairs, scores.
        words: word -> [how often it was said, how often it was misrecognised].
        units: word -> what was recognised instead -> count, of single words.
        runs: how many words in a row were misrecognised ("1" to "4", the last for more) -> by how many more or fewer were recognised -> share.
        contagion: how much more likely a word is misrecognised after one that was, in logits.
        insertion: the logit that a word comes in at a gap, in an utterance of mean hardness.
        inserted: recognised where nothing was said -> count.
        spread: standard deviation of the utterances' hardness, in logits.
        bigrams: word (Chinese: character) -> next one -> count, of transcripts and of texts.
        phones, costs: for `phones.Lexicon`; empty for Chinese.
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
    runs: dict[str, dict[str, float]]
    contagion: float
    insertion: float
    inserted: dict[str, int]
    spread: float
    bigrams: dict[str, dict[str, int]]
    phones: dict[str, str] = {}
    costs: dict[str, float] = {}
    curve: list[tuple[float, float]] = []
    common: list[str] = []
    hardness: list[float] = []


class Sounds(Protocol):
    """What sounds like what."""

    def near(self, said: tuple[str, ...]) -> Sequence[Candidate]:
        """Single words for one word, or for two taken together; never what was said."""
        ...

    def split(self, word: str) -> Sequence[Candidate]:
        """Two words for one."""
        ...

    def length(self, word: str) -> int:
        """The number of its sounds, at least 1."""
        ...


class _English:
    def __init__(self, learned: Learned, language_model: Bigrams) -> None:
        self._learned = learned
        self._model = language_model
        self._lexicon = Lexicon(learned.phones, learned.costs, learned.phones)
        self._rank = [-_LANGUAGE / _SOUND * math.log(language_model.alone(word)) for word in self._lexicon.words]

    @lru_cache(maxsize=65536)  # noqa: B019  one model lives as long as its process
    def near(self, said: tuple[str, ...]) -> Sequence[Candidate]:
        phones = tuple(phone for word in said for phone in self._lexicon.phones(word))
        joined = "".join(said)
        found = {
            word: -_SOUND * distance
            for word, distance in self._lexicon.ranked(phones, self._rank, _ONE if len(said) == 1 else _TWO)
            if word not in said and word != joined
        }
        if len(said) == 1:
            seen = self._learned.units.get(said[0], {})
            total = sum(seen.values())
            for word, count in seen.items():
                if word in found or word in self._learned.phones:
                    # Substitutions that were met are likelier than their sound says, the more so the more often.
                    base = found.get(word, -_SOUND * self._lexicon.distance(phones, self._lexicon.phones(word)))
                    found[word] = base + math.log1p(8 * count / (total + 4))
        return tuple(Candidate(word, weight) for word, weight in sorted(found.items()))

    @lru_cache(maxsize=16384)  # noqa: B019
    def split(self, word: str) -> Sequence[Candidate]:
        phones = self._lexicon.phones(word)
        found = []
        for cut in range(1, len(phones)):
            for head, first in self._lexicon.ranked(phones[:cut], self._rank, 4):
                for tail, second in self._lexicon.ranked(phones[cut:], self._rank, 4):
                    if head + tail != word and head != word and tail != word:
                        found.append(Candidate(f"{head} {tail}", -_SOUND * (first + second) + _LANGUAGE * math.log(self._model.after(head, tail))))
        return tuple(sorted(found, key=lambda one: (-one.weight, one.text))[:_SPLIT])

    def length(self, word: str) -> int:
        return max(1, len(self._lexicon.phones(word)))


class Model:
    """A trained ASR error simulator."""

    def __init__(self, learned: Learned) -> None:
        self.learned = learned
        self.language = learned.language
        self._chinese = learned.language == "zh"
        self._blank = "" if self._chinese else " "
        self._rarity = {word: rarity for rarity, words in enumerate(learned.common) for word in words.split(" ")}
        self._model = Bigrams(learned.bigrams, self._rarity, len(learned.common))
        self._sounds: Sounds = ChineseSounds(self._model, self._rarity) if self._chinese else _English(learned, self._model)
        self._inserted = list(learned.inserted)
        self._logits: dict[str, float] = {}
        self._runs = {int(length): {int(more): share for more, share in row.items()} for length, row in learned.runs.items()}
        # Drawing what is recognised is the dear part, and its weights depend on little: the words and those beside them.
        self._weights: dict[tuple[str, tuple[str, ...], str, str], tuple[list[str], list[float]]] = {}

    @cached_property
    def digest(self) -> str:
        """The digest of the pairs that it learned from."""
        return str(self.learned.about.get("pairs_sha256", ""))

    def offset(self, wer: float) -> float:
        """The offset in logits that gives a corpus word error rate, read off the curve that training measured."""
        curve = self.learned.curve
        if not curve:
            return math.log(wer / (1 - wer)) + 2
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
        # Chinese is misrecognised by words, of several characters each.
        bounds = segments(texts) if self._chinese else list(range(len(texts) + 1))
        said = [self._blank.join(texts[start:end]) for start, end in pairwise(bounds)]
        base = self.offset(wer) if offset is None else offset
        hardness = base + self.learned.spread * _normal(rng)
        held = _HELD - 2 * max(0, round(base - _PLENTY))
        changes: list[Change] = []
        place, count, previous = 0, len(said), "<s>"
        while place <= count:
            following = said[place] if place < count else "</s>"
            if self._inserted and rng.random() < _chance(self.learned.insertion + hardness):
                new = self._insertion(previous, following, rng)
                if new:
                    changes.append(Change(bounds[place], bounds[place], new))
                    previous = new
            if place == count:
                break
            if rng.random() >= _chance(self.logit(said[place]) + hardness):
                previous = said[place]
                place += 1
                continue
            end = place + 1
            # Errors spread to the next word, but to one that is hard rather than to one that is easy.
            while (
                end < count and end - place < 4 * _LONGEST_RUN and rng.random() < _chance(self.logit(said[end]) + hardness + self.learned.contagion)
            ):
                end += 1
            found: list[str] = []
            for start in range(place, end, _LONGEST_RUN):
                stop = min(end, start + _LONGEST_RUN)
                right = said[stop] if stop < count else "</s>"
                found += self._run(said[start:stop], end - place, found[-1] if found else previous, right, held, rng)
            new = self._blank.join(found)
            if new != self._blank.join(said[place:end]):
                changes.append(Change(bounds[place], bounds[end], new))
            previous = found[-1] if found else previous
            if end < count:
                # The word after a run was recognised right: that has been drawn.
                previous = said[end]
            place = end + 1
            if end >= count:
                break
        return _whole(changes, words, texts, self._blank)

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
            return constant + by_rarity * (rarity or 0) + by_length * math.log(self._sounds.length(word)) + _KNOWN_BETTER[self.language]
        if rarity is None:
            return unlisted
        of_class = last if rarity == len(self.learned.common) - 1 else by_rarity * rarity
        return constant + of_class + by_length * math.log(self._sounds.length(word))

    def _known(self, word: str) -> bool:
        return all(char in _NUMERALS for char in word) if self._chinese else word in _KNOWN

    def _run(self, said: list[str], whole: int, left: str, right: str, held: float, rng: Rng) -> list[str]:
        """What is recognised for a run of words (a part of one of `whole` words) between two others."""
        sizes = self._sizes(said, whole, rng)
        found: list[str] = []
        place = 0
        for taken, given in sizes:
            here = tuple(said[place : place + taken])
            place += taken
            if not given:
                continue
            before = found[-1] if found else left
            after = right if place >= len(said) else ""
            text = self._draw("split" if given == 2 else "near", here, before, after, held, rng)
            if text is None and given == 2:
                text = self._draw("near", here, before, after, held, rng)
            if text is not None:
                found += [text] if self._chinese else text.split(" ")
            elif self._chinese:
                # A word that sounds like no other is made out after all.
                found += here
        return found

    def _sizes(self, said: Sequence[str], whole: int, rng: Rng) -> list[tuple[int, int]]:
        """How many of the run's words (1, or 2 taken together) become how many (0, 1 or 2), in order."""
        count = len(said)
        if self._chinese:
            # Word for word, but for little words, which are not heard at all now and then.
            return [(1, 0 if word in LITTLE and rng.random() < _UNHEARD else 1) for word in said]
        lengths = [self._sounds.length(word) for word in said]
        row = self._runs.get(min(whole, max(self._runs, default=1)), {0: 1.0})
        mean = sum(_SHORT - _BY_PHONE * length for length in lengths) / count
        steps = [max(more, -count) for more in row]
        weights = [_LEFT_OUT * share * math.exp(-more * mean) if more < 0 else share for more, share in row.items()]
        more = rng.weighted(steps, list(accumulate(weights)))
        sizes = [(1, 1)] * count
        while more < 0:
            joins = [place for place in range(len(sizes) - 1) if sizes[place] == sizes[place + 1] == (1, 1)]
            at = [place for place, size in enumerate(sizes) if size == (1, 1)]
            if joins and rng.random() < _MERGED:
                place = joins[int(rng.random() * len(joins))]
                first = sum(size[0] for size in sizes[:place])
                if self._sounds.near((said[first], said[first + 1])):
                    sizes[place : place + 2] = [(2, 1)]
                    more += 1
                    continue
            if not at:
                break
            shorter = [math.exp(-_BY_PHONE * lengths[sum(size[0] for size in sizes[:place])]) for place in at]
            sizes[rng.weighted(at, list(accumulate(shorter)))] = (1, 0)
            more += 1
        while more > 0:
            at = [place for place, size in enumerate(sizes) if size == (1, 1)]
            if not at:
                break
            longer = [float(lengths[sum(size[0] for size in sizes[:place])]) for place in at]
            sizes[rng.weighted(at, list(accumulate(longer)))] = (1, 2)
            more -= 1
        return sizes

    def _draw(self, how: str, said: tuple[str, ...], left: str, right: str, held: float, rng: Rng) -> str | None:
        """One candidate, by its sound and what stands on both sides ("" for what is not known yet); None where nothing sounds like it."""
        key = (f"{how} {held}", said, left, right)
        found = self._weights.get(key)
        if found is None:
            if len(self._weights) > _REMEMBERED:
                self._weights.clear()
            candidates = self._sounds.split(said[0]) if how == "split" else self._sounds.near(said)
            weights = [math.exp(one.weight + self._fit(left, one.text, right)) for one in candidates]
            if self._chinese:
                # What makes no sense where it stands is not recognised: then the word is made out after all.
                candidates = [*candidates, Candidate(said[0], held)]
                weights.append(math.exp(held + self._fit(left, said[0], right)))
            elif len(said) == 1 and how == "near" and self._rarity.get(said[0], 99) <= _FREQUENT:
                weights = _levelled(weights, max(0.08, min(_MOST, _OF_ALL / _chance(self.logit(said[0])))))
            found = self._weights[key] = ([one.text for one in candidates], list(accumulate(weights)))
        options, steps = found
        return rng.weighted(options, steps) if options else None

    def _fit(self, left: str, text: str, right: str) -> float:
        """The logarithm of the language model's weight for a text between two words."""
        first, last = (text[:1], text[-1:]) if self._chinese else (text.split(" ", 1)[0], text.rsplit(" ", 1)[-1])
        if self._chinese:
            left, right = left if left == "<s>" else left[-1:], right if right == "</s>" else right[:1]
        score = math.log(self._model.after(left, first))
        if right:
            score += math.log(self._model.after(last, right))
        if self._chinese and len(text) > 1:
            score += sum(math.log(self._model.after(one, other)) for one, other in pairwise(text)) / len(text)
        # What stands there already is hardly ever recognised once more.
        return _LANGUAGE * score - (3.0 if first == left else 0.0) - (3.0 if last == right else 0.0)

    def _insertion(self, left: str, right: str, rng: Rng) -> str:
        key = ("insertion", (), left, right)
        found = self._weights.get(key)
        if found is None:
            weights = [count**0.5 * math.exp(self._fit(left, word, right)) for word, count in self.learned.inserted.items()]
            found = self._weights[key] = (self._inserted, list(accumulate(weights)))
        return rng.weighted(*found)


#: Characters of numbers and times: recognisers know them best.
_NUMERALS = frozenset("零一二三四五六七八九十百千万两点分半元号月日年")


def _chance(logit: float) -> float:
    return 1 / (1 + math.exp(-logit)) if logit > -30 else 0.0


def _levelled(weights: list[float], most: float) -> list[float]:
    """The weights with none above `most` of their sum, as far as there are enough of them."""
    if not weights:
        return weights
    most = max(most, 1.5 / len(weights))
    for _ in range(6):
        limit = most * sum(weights)
        if max(weights) <= limit * 1.02:
            break
        weights = [min(weight, limit) for weight in weights]
    return weights


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
    except msgspec.ValidationError as error:
        raise OptionError(
            f"speech: {model} is no model of the ASR error simulator of this release: train it again from its pairs ({error})"
        ) from error
    except (OSError, msgspec.DecodeError, EOFError) as error:
        raise OptionError(f"speech: {model} is no model of the ASR error simulator: {error}") from error
    if len(learned.hardness) not in (0, 5) or not learned.runs:
        raise OptionError(f"speech: {model} is a model of another release of dialmill: train it again from its pairs")
    if language and learned.language != language:
        raise OptionError(f"speech: the model {model} is for {learned.language!r}, not {language!r}")
    return Model(learned)
