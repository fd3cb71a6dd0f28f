"""What English words are taken for: by their sounds, and chosen for a whole run of misrecognised words by a language model.

For every word of a run there are words that sound like it, two words that sound like it, nothing at all, and itself; two words of a run may also
be taken for one. All ways through a run are weighed by sound and by the language model, the words on both sides of it included, and one is drawn
(forward filtering, backward sampling). Candidates of frequent words come with a model; those of other words are looked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech.language_model import Candidate, LanguageModel
from dialmill.perturbers.speech.phones import Lexicon

if TYPE_CHECKING:
    from dialmill.perturbers.speech.learned import Learned

#: Weights of the sound (for a distance of 1) and of the language model, and the logarithm of the weight of a word itself in a run where words are
#: misrecognised; chosen on the odd half of SLURP, as are the next.
SOUND, LANGUAGE, ITSELF = 2.8, 0.8, -4.5
#: A word that is not recognised has the weight exp(GONE - BY_PHONE * its phones - BY_RARITY * its classes of rarity beyond `_OFTEN`).
GONE, BY_PHONE, BY_RARITY = -7.0, 0.35, 0.7
_OFTEN = 3
#: What has this distance for each phone sounds like something else, and is not recognised.
_UNLIKE = 0.42
#: Candidates for a word, for two words together and for a word as two; in runs of several words the first so many.
ONE, TWO, SPLIT, FEW = 20, 6, 8, 10
#: What one word becomes two costs, and what two become one.
_TWO_FOR_ONE, _ONE_FOR_TWO = -1.5, -2.3
#: What a phone of a word costs that comes in by itself: a noise is taken for a short word.
_LONG = 0.7
#: How much of what is above the share of a substitution falls to the word itself; the rest to all that it may be taken for.
_SPARED = 0.4
#: The same word twice running.
_TWICE = math.exp(-3.0)


class Heard(NamedTuple):
    """What may be recognised for one or two words of a run: `words` (none for nothing), with a weight by sound."""

    words: tuple[str, ...]
    weight: float


#: How many words of a run it is for, and what.
Option = tuple[int, Heard]


class Way(NamedTuple):
    """One way to a place in a run: its weight with all before it, the place and the last word before, and what was recognised in between."""

    weight: float
    place: int
    before: str
    words: tuple[str, ...]


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
    limit = _UNLIKE * len(phones) + 0.3
    found = lexicon.ranked(phones, rank, count + 2)
    return [(word, distance) for word, distance in found if distance <= limit and word not in said and word != joined][:count]


def _splits(lexicon: Lexicon, rank: Sequence[float], word: str) -> list[tuple[str, str, float]]:
    phones = lexicon.phones(word)
    found = []
    if len(phones) > 2 * (lexicon.longest + 1):
        return []
    for cut in range(2, len(phones) - 1):
        for head, first in lexicon.ranked(phones[:cut], rank, 3):
            for tail, second in lexicon.ranked(phones[cut:], rank, 3):
                if word not in (head, tail, head + tail) and first + second <= _UNLIKE * len(phones):
                    found.append((head, tail, first + second))
    return sorted(found, key=lambda one: (one[2], one))[:SPLIT]


class EnglishHearing:
    """What is recognised for runs of English words."""

    def __init__(self, learned: Learned, model: LanguageModel, lexicon: Lexicon | None = None) -> None:
        self._learned = learned
        self._model = model
        self.lexicon = lexicon or Lexicon(learned.phones, learned.costs, learned.phones)
        self._inserted = list(learned.inserted)
        self._ranks: list[float] | None = None
        self._powers: dict[str, dict[str, float]] = {}
        self._insertions: dict[tuple[str, str], list[float]] = {}
        # A base weight that only words decide, so looked up by them.
        self.near = lru_cache(maxsize=65536)(self._find_near)
        self.split = lru_cache(maxsize=16384)(self._find_split)
        self.gone = lru_cache(maxsize=65536)(self._find_gone)

    @property
    def _rank(self) -> list[float]:
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

    def _find_near(self, said: tuple[str, ...]) -> tuple[Candidate, ...]:
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
        return tuple(Candidate(word, math.exp(weight)) for word, weight in sorted(found.items(), key=lambda one: (-one[1], one[0])))

    def _find_split(self, word: str) -> tuple[tuple[str, str, float], ...]:
        written = self._learned.split.get(word)
        if written is None and word not in self._learned.near:
            pairs = _splits(self.lexicon, self._rank, word)
        else:
            parts = (written or "").split(" ")
            pairs = [(parts[place], parts[place + 1], int(parts[place + 2]) / 100) for place in range(0, len(parts) - 2, 3)]
        return tuple((head, tail, math.exp(_TWO_FOR_ONE - SOUND * distance) * self.power(head, tail)) for head, tail, distance in pairs)

    def _find_gone(self, word: str) -> float:
        rarity = self._model.rarity(word)
        return math.exp(GONE - BY_PHONE * self.length(word) - BY_RARITY * max(0, rarity - _OFTEN))

    def power(self, left: str, word: str) -> float:
        """The language model's weight for a word after another."""
        row = self._powers.get(left)
        if row is None:
            row = self._powers[left] = {}
        found = row.get(word)
        if found is None:
            found = self._model.after(left, word) ** LANGUAGE
            if left == word:
                found *= _TWICE
            row[word] = found
        return found

    def recognise(
        self, said: Sequence[str], known: Sequence[bool], most: Sequence[float], itself: float, left: str, right: str, rng: Rng
    ) -> list[str]:
        """What is recognised for a run of words.

        Args:
            said: the words.
            known: of each, whether a recogniser can know it, and so may recognise it after all.
            most: of each, the share above which no single substitution may be.
            itself: by what the weights of the words themselves are multiplied.
            left, right: the words beside the run, "<s>" and "</s>" at the ends.
        """
        options = [self._options(said, place, itself if known[place] else 0.0) for place in range(len(said))]
        if len(said) == 1:
            return self._single(said[0], options[0], most[0] if known[0] else 1.0, left, right, rng)
        back = self._ways(options, left, right)
        factors = _levelled(back, said, [share if one else 1.0 for share, one in zip(most, known, strict=True)])
        if factors:
            for place, row in enumerate(options):
                row[:] = [
                    (taken, Heard(words, weight * factors.get((place, words), 1.0)) if taken == 1 else Heard(words, weight))
                    for taken, (words, weight) in row
                ]
            back = self._ways(options, left, right)
        found: list[str] = []
        place = len(said)
        ends = back[place]
        last = rng.weighted(list(ends), list(accumulate(sum(way.weight for way in ways) for ways in ends.values())))
        while place:
            ways = back[place][last]
            way = ways[rng.weighted(range(len(ways)), list(accumulate(way.weight for way in ways)))]
            found[:0] = way.words
            place, last = way.place, way.before
        return found

    def _options(self, said: Sequence[str], place: int, itself: float) -> list[tuple[int, Heard]]:
        """What the word at a place, or it and the next one, may be taken for: (how many words are taken, what is recognised)."""
        word = said[place]
        few = ONE if len(said) == 1 else FEW
        options = [(1, Heard((one.text,), one.weight)) for one in self.near((word,))[:few]]
        options.append((1, Heard((), self.gone(word))))
        if itself:
            options.append((1, Heard((word,), _ITSELF * itself)))
        options += [(1, Heard((head, tail), weight)) for head, tail, weight in self.split(word)[: few // 2]]
        if place + 1 < len(said):
            options += [(2, Heard((one.text,), one.weight * _MERGED)) for one in self.near((word, said[place + 1]))]
        return options

    def _single(self, word: str, options: Sequence[Option], most: float, left: str, right: str, rng: Rng) -> list[str]:
        """What is recognised for a single word: what is above the share of a substitution falls to the word itself."""
        weights = []
        for _, (words, weight) in options:
            through = self.power(left, words[0]) * self.power(words[-1], right) if words else self.power(left, right)
            weights.append(weight * through)
        limit = most * sum(weights)
        over = 0.0
        own = -1
        for number, (_, (words, _)) in enumerate(options):
            if words == (word,):
                own = number
            elif len(words) == 1 and weights[number] > limit:
                over += weights[number] - limit
                weights[number] = limit
        if own >= 0:
            weights[own] += _SPARED * over
        return list(options[rng.weighted(range(len(options)), list(accumulate(weights)))][1].words)

    def _ways(self, options: Sequence[Sequence[tuple[int, Heard]]], left: str, right: str) -> list[dict[str, list[Way]]]:
        """By place and the last word recognised before it, the ways to get there (forward filtering)."""
        count = len(options)
        back: list[dict[str, list[Way]]] = [{} for _ in range(count + 1)]
        back[0][left] = [Way(1.0, 0, left, ())]
        for place, row in enumerate(options):
            for before, arrived in back[place].items():
                so_far = sum(way.weight for way in arrived)
                powers = self._powers.setdefault(before, {})
                for taken, (words, weight) in row:
                    made = so_far * weight
                    last = before
                    if words:
                        last = words[-1]
                        # Looked up here and not by `power`, since this is where nearly all the time goes.
                        power = powers.get(words[0])
                        made *= self.power(before, words[0]) if power is None else power
                    if place + taken == count:
                        made *= self.power(last, right)
                    at = back[place + taken]
                    if last in at:
                        at[last].append(Way(made, place, before, words))
                    else:
                        at[last] = [Way(made, place, before, words)]
        return back

    def insertion(self, left: str, right: str, rng: Rng) -> str:
        """A word that is recognised where none was said."""
        steps = self._insertions.get((left, right))
        if steps is None:
            weights = (
                count**0.5 * math.exp(-_LONG * self.length(word)) * self.power(left, word) * self.power(word, right)
                for word, count in self._learned.inserted.items()
            )
            steps = self._insertions[left, right] = list(accumulate(weights))
        return rng.weighted(self._inserted, steps)


_ITSELF, _MERGED = math.exp(ITSELF), math.exp(_ONE_FOR_TWO)


def ranks(model: LanguageModel, lexicon: Lexicon) -> list[float]:
    """By how frequent they are, what is added to the distance of each of a lexicon's words when candidates are looked for."""
    return [-LANGUAGE / SOUND * math.log(model.alone(word)) for word in lexicon.words]


def _levelled(back: Sequence[Mapping[str, Sequence[Way]]], said: Sequence[str], most: Sequence[float]) -> dict[tuple[int, tuple[str, ...]], float]:
    """By what weights in a run are to be multiplied so that no substitution is too likely, and the word itself the more; (place, what is recognised)
    -> factor."""
    behind: list[dict[str, float]] = [{} for _ in back]
    ends = back[-1]
    total = sum(way.weight for ways in ends.values() for way in ways)
    if not total:
        return {}  # a token so long that nothing can be taken for it
    behind[-1] = dict.fromkeys(ends, 1.0)
    shares: dict[tuple[int, tuple[str, ...]], float] = {}
    arrived = [{last: sum(way.weight for way in ways) for last, ways in at.items()} for at in back]
    for end in range(len(back) - 1, 0, -1):
        for last, ways in back[end].items():
            after = behind[end].get(last, 0.0)
            for way in ways:
                # A way's weight has that of all ways to where it began.
                before = arrived[way.place][way.before]
                row = behind[way.place]
                row[way.before] = row.get(way.before, 0.0) + (way.weight / before * after if before else 0.0)
                if end - way.place == 1 == len(way.words):
                    key = (way.place, way.words)
                    shares[key] = shares.get(key, 0.0) + way.weight * after / total
    factors = {key: most[key[0]] / share for key, share in shares.items() if share > most[key[0]] and key[1] != (said[key[0]],)}
    for place, word in enumerate(said):
        over = sum(shares[key] * (1 - factor) for key, factor in factors.items() if key[0] == place)
        itself = shares.get((place, (word,)), 0.0)
        if over and itself:
            factors[place, (word,)] = (itself + _SPARED * over) / itself
    return factors
