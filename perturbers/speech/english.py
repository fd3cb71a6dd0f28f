"""What English words are taken for: by their sounds, and chosen for a whole run of misrecognised words by a language model.

For every word of a run there are words that sound like it, two words that sound like it, nothing at all, and itself; two words of a run may also
be taken for one. A few of these are drawn, likely ones rather than others, as a word sounds a little different each time it is said: so no word is
taken for the same one again and again, and there is little to weigh. All ways through what was drawn are weighed by sound and by the language
model, the words on both sides of the run included, and one is drawn (forward filtering, backward sampling). Candidates of frequent words come with
a model; those of other words are looked for.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech.language_model import LanguageModel
from dialmill.perturbers.speech.phones import VOWELS, Lexicon

if TYPE_CHECKING:
    from dialmill.perturbers.speech.learned import Learned

#: Weights of the sound (for a distance of 1) and of the language model, and the logarithm of the weight of a word itself in a run where words are
#: misrecognised; chosen on the odd half of SLURP, as are the next.
SOUND, LANGUAGE, ITSELF = 3.0, 1.15, -5.1
#: A word that is not recognised has the weight exp(GONE - BY_PHONE * its phones - BY_RARITY * its classes of rarity beyond `_OFTEN`).
GONE, BY_PHONE, BY_RARITY = -8.2, 1.05, 1.6
_OFTEN = 3
#: And times the weight of words themselves to this power: where much is misrecognised, it is for something rather than for nothing.
LESS_GONE = 0.7
#: And times the language model's weight for the word where it was said, to this power: what is not expected is taken for something else.
AS_EXPECTED = 0.4
#: What has this distance for each phone sounds like something else, and is not recognised.
UNLIKE = 0.46
#: Candidates for a word, for two words together and for a word as two; in runs of several words the first so many.
ONE, TWO, SPLIT = 20, 6, 8
#: A word is taken for two cut at one of so many places, in the middle rather than at its ends.
CUTS = 4
#: Of these so many are tried, for a word that a recogniser can know and for another; the chances to be tried are those that the words have by sound
#: and frequency to this power.
KNOWN, UNKNOWN, EVENLY = 6, 8, 0.9
#: How often two words are tried for one and one for two, and how many of what there is.
TWO_FOR_ONE, TWO_FOR_UNKNOWN, ONE_FOR_TWO, FEW = 0.3, 0.6, 0.15, 2
#: So many words are tried where nothing was said.
INSERTED = 24
#: What one word becomes two costs, and what two become one.
_SPLIT_COSTS, _MERGED_COSTS = 0.9, -1.4
#: What a phone of a word costs that comes in by itself: a noise is taken for a short word.
_LONG = 0.7
#: The same word twice running.
_TWICE = math.exp(-3.0)
#: For so many words it is remembered what may follow them.
_REMEMBERED = 30_000


#: What may be recognised for a word or two: the words, the first and the last of them, and the weight by sound.
Option = tuple[tuple[str, ...], str, str, float]
#: One way to a place in a run: its weight with all before it, the last word recognised, the words since the place before, that place, and the state
#: there if it can be no other.
State = tuple[float, str, tuple[str, ...], int, Any]


class Choices(NamedTuple):
    """All that may be recognised for a word or two, likely ones first, with their chances to be tried and the sums of these."""

    options: tuple[Option, ...]
    chances: tuple[float, ...]
    steps: tuple[float, ...]

    def drawn(self, count: int, most: float, rng: Rng) -> list[Option]:
        """At most `count` of them, in order. None is drawn more often than in a share `most` of all cases: fewer are drawn rather than that."""
        if not self.options:
            return []
        last = len(self.options) - 1
        places = set()
        for _ in range(count):
            place = bisect_right(self.steps, rng.random(), 0, last)
            if self.chances[place] * count <= most or rng.random() * self.chances[place] * count < most:
                places.add(place)
        return [self.options[place] for place in sorted(places)]


class _After(dict[str, float]):
    """The language model's weights for the words after one, looked up when they are first asked for."""

    __slots__ = ("_likely", "_word")

    def __init__(self, model: LanguageModel, word: str) -> None:
        super().__init__()
        self._word, self._likely = word, model.following(word)

    def __missing__(self, word: str) -> float:
        found: float = self._likely(word) ** LANGUAGE * (_TWICE if word == self._word else 1.0)
        self[word] = found
        return found


class _Following(dict[str, _After]):
    """The same for all words."""

    __slots__ = ("_model",)

    def __init__(self, model: LanguageModel) -> None:
        super().__init__()
        self._model = model

    def __missing__(self, word: str) -> _After:
        if len(self) >= _REMEMBERED:
            self.clear()
        found = self[word] = _After(self._model, word)
        return found


def tables(words: Sequence[str], lexicon: Lexicon, rank: Sequence[float]) -> tuple[dict[str, str], dict[str, str]]:
    """For a model file: what each word is taken for ("walk 45 work 60", distances in hundredths), and what two words ("gas house 120")."""
    near, split = {}, {}
    for word in words:
        found = _near(lexicon, rank, (word,), ONE)
        near[word] = " ".join(f"{one} {round(100 * distance)}" for one, distance in found)
        pairs = _splits(lexicon, rank, word)
        if pairs:
            split[word] = " ".join(f"{head} {tail} {round(100 * distance)}" for head, tail, distance in pairs)
    return near, split


def _near(lexicon: Lexicon, rank: Sequence[float], said: Sequence[str], count: int) -> list[tuple[str, float]]:
    phones = tuple(phone for word in said for phone in lexicon.phones(word))
    joined = "".join(said)
    limit = UNLIKE * len(phones) + 0.3
    found = lexicon.ranked(phones, rank, count + 2)
    return [(word, distance) for word, distance in found if distance <= limit and word not in said and word != joined][:count]


def _splits(lexicon: Lexicon, rank: Sequence[float], word: str) -> list[tuple[str, str, float]]:
    phones = lexicon.phones(word)
    found = []
    if len(phones) > 2 * (lexicon.longest + 1):
        return []
    vowels = [place for place, phone in enumerate(phones) if phone in VOWELS]
    if len(vowels) < 2:
        return []
    # Every word has a vowel, and a sound more.
    cuts = range(max(2, vowels[0] + 1), min(vowels[-1] + 1, len(phones) - 1))
    for cut in sorted(cuts, key=lambda cut: abs(2 * cut - len(phones)))[:CUTS]:
        for head, first in lexicon.ranked(phones[:cut], rank, 3):
            for tail, second in lexicon.ranked(phones[cut:], rank, 3):
                if word not in (head, tail, head + tail) and first + second <= UNLIKE * len(phones):
                    found.append((head, tail, first + second))
    return sorted(found, key=lambda one: (one[2], one))[:SPLIT]


class EnglishHearing:
    """What is recognised for runs of English words."""

    def __init__(self, learned: Learned, model: LanguageModel, lexicon: Lexicon | None = None) -> None:
        self._learned = learned
        self._model = model
        self.lexicon = lexicon or Lexicon(learned.phones, learned.costs, learned.phones)
        self._inserted = list(learned.inserted)
        self._ranks: Any = None
        self._following = _Following(model)
        self._insertions = list(accumulate(count**0.5 * math.exp(-_LONG * self.length(word)) for word, count in learned.inserted.items()))
        # A base weight that only words decide, so looked up by them.
        self.near = lru_cache(maxsize=65536)(self._find_near)
        self.split = lru_cache(maxsize=16384)(self._find_split)
        self.gone = lru_cache(maxsize=65536)(self._find_gone)

    @property
    def _rank(self) -> Any:
        if self._ranks is None:
            self._ranks = ranks(self._model, self.lexicon)
        return self._ranks

    def over(self, model: LanguageModel) -> EnglishHearing:
        """The same with another language model."""
        return EnglishHearing(self._learned, model, self.lexicon)

    def length(self, word: str) -> int:
        """The number of its phones, at least 1."""
        return max(1, len(self.lexicon.phones(word)))

    def harder(self, word: str) -> float:
        """By how much a word is harder than its rarity says, in logits: not at all, since that was learned."""
        return 0.0

    def _find_near(self, said: tuple[str, ...]) -> Choices:
        weights: dict[tuple[str, ...], float] = {(word,): weight for word, weight in self._alike(said).items()}
        return self._choices(weights)

    def _find_split(self, word: str) -> Choices:
        return self._choices(self._split(word))

    def _choices(self, weights: dict[tuple[str, ...], float]) -> Choices:
        options = sorted(weights, key=lambda words: (-weights[words], words))
        usual = [max(weights[words] * self._model.alone(words[0]) ** LANGUAGE, 1e-300) ** EVENLY for words in options]
        chances = tuple(one / sum(usual) for one in usual)
        return Choices(tuple((words, words[0], words[-1], weights[words]) for words in options), chances, tuple(accumulate(chances)))

    def _alike(self, said: tuple[str, ...]) -> dict[str, float]:
        """Words that sound like one word or two together, with their weights by sound."""
        written = self._learned.near.get(said[0]) if len(said) == 1 else None
        if written is not None:
            parts = written.split(" ")
            found = {parts[place]: -SOUND * int(parts[place + 1]) / 100 for place in range(0, len(parts) - 1, 2)}
        else:
            found = {word: -SOUND * distance for word, distance in _near(self.lexicon, self._rank, said, ONE if len(said) == 1 else TWO)}
        if len(said) == 1:
            seen = self._learned.units.get(said[0], {})
            total = sum(seen.values())
            for word, count in seen.items():
                # Substitutions that were met are likelier than their sound says, the more so the more often.
                if word in found:
                    found[word] += math.log1p(8 * count / (total + 4))
        more = 0.0 if len(said) == 1 else _MERGED_COSTS
        return {word: math.exp(weight + more) for word, weight in found.items()}

    def _split(self, word: str) -> dict[tuple[str, ...], float]:
        """Pairs of words that sound like a word, with their weights by sound and by how likely the second is after the first."""
        written = self._learned.split.get(word)
        if written is None and word not in self._learned.near:
            pairs = _splits(self.lexicon, self._rank, word)
        else:
            parts = (written or "").split(" ")
            pairs = [(parts[place], parts[place + 1], int(parts[place + 2]) / 100) for place in range(0, len(parts) - 2, 3)]
        return {(head, tail): math.exp(_SPLIT_COSTS - SOUND * distance) * self._following[head][tail] for head, tail, distance in pairs}

    def _find_gone(self, word: str) -> float:
        rarity = self._model.rarity(word)
        return math.exp(GONE - BY_PHONE * self.length(word) - BY_RARITY * max(0, rarity - _OFTEN))

    def recognise(
        self, said: Sequence[str], known: Sequence[bool], most: Sequence[float], itself: float, left: str, right: str, rng: Rng
    ) -> list[str]:
        """What is recognised for a run of words.

        Args:
            said: the words.
            known: of each, whether a recogniser can know it, and so may recognise it after all.
            most: of each, in which share of these cases anything may be tried.
            itself: by what the weights of the words themselves are multiplied.
            left, right: the words beside the run, "<s>" and "</s>" at the ends.
        """
        count = len(said)
        reached: list[list[State]] = [[] for _ in range(count + 1)]
        reached[0].append((1.0, left, (), 0, None))
        following = self._following
        fewer = itself**LESS_GONE
        for place, word in enumerate(said):
            states = reached[place]
            rows = [(state[0], following[state[1]]) for state in states]
            here = reached[place + 1]
            gone = self.gone(word) * fewer * following[said[place - 1] if place else left][word] ** AS_EXPECTED
            here += [(state[0] * gone, state[1], (), place, state) for state in states]
            options = self.near((word,)).drawn(KNOWN if known[place] else UNKNOWN, most[place], rng)
            if rng.random() < (TWO_FOR_ONE if known[place] else TWO_FOR_UNKNOWN):
                options += self.split(word).drawn(FEW, most[place], rng)
            if known[place]:
                options.append(((word,), word, word, _ITSELF * itself))
            for words, first, last, weight in options:
                here.append((weight * sum([so_far * row[first] for so_far, row in rows]), last, words, place, None))
            if place + 1 < count and rng.random() < ONE_FOR_TWO:
                for words, first, last, weight in self.near((word, said[place + 1])).drawn(FEW, max(most[place : place + 2]), rng):
                    reached[place + 2].append((weight * sum([so_far * row[first] for so_far, row in rows]), last, words, place, None))
        found: list[str] = []
        place, following_word = count, right
        while place:
            states = reached[place]
            steps = list(accumulate([state[0] * following[state[1]][following_word] for state in states]))
            state: State | None = states[rng.weighted(range(len(states)), steps)]
            while state is not None and state[3] < place:
                place = state[3]
                if state[2]:
                    found[:0] = state[2]
                    following_word = state[2][0]
                state = state[4]
        return found

    def insertion(self, left: str, right: str, rng: Rng) -> str:
        """A word that is recognised where none was said."""
        before = self._following[left]
        tried = [rng.weighted(self._inserted, self._insertions) for _ in range(INSERTED)]
        return rng.weighted(tried, list(accumulate(before[word] * self._following[word][right] for word in tried)))


_ITSELF = math.exp(ITSELF)


def ranks(model: LanguageModel, lexicon: Lexicon) -> Any:
    """By how frequent they are, what is added to the distance of each of a lexicon's words when candidates are looked for; an array."""
    import numpy as np

    return np.array([-LANGUAGE / SOUND * math.log(model.alone(word)) for word in lexicon.words])
