"""Rankers that know nothing of dialogue, as a test of the pools: none of them must do better than chance.

A set of candidates gives its answer away where a ranker by names (candidates that name somebody from the context), by length (the longest, the
shortest) or by position (the first) finds it; over a whole file also one by how many sets a candidate stands in (the most, the fewest), and one that
learns from half of the examples how answers are worded, and never sees a context. A TF-IDF ranker is measured beside them, and one by numbers of the
context alone, such as those of courses: they may be good, and say how hard the set is for a simple model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import comb, exp, lgamma, log, sqrt

from dialmill.pipelines.candidates.keys import candidate_key, words

RANKERS = ("first", "longest", "shortest", "names", "numbers", "tfidf")
#: Those that look at a whole file: by the number of sets that hold a candidate, and by what was learned from other examples.
WHOLE = ("frequent", "rare", "learned")
#: Those that must stand near chance.
BLIND = ("first", "longest", "shortest", "names", *WHOLE)
#: Those that see the wording of an answer alone: what they say of two examples with one answer they say once. A conversation of Advising that is cut
#: two hundred times over has a few dozen answers, and where these are short, the shortest is right two hundred times by one accident.
_BY_WORDING = ("longest", "shortest")
#: The places that are looked at: first, and among the first ten.
CUTS = (1, 10)
#: Sums are kept in millionths, so that they are whole numbers and add up alike in any order.
UNIT = 1_000_000
#: What lies three standard errors above chance or more happens as rarely as this by luck; it is shared out among the rankers and cuts of a file.
_LUCK = 0.00135
#: Examples of a file that are looked at, at most.
SAMPLE = 2_000
#: Examples that the learning ranker takes, at most, and distractors of each that it learns from.
_TRAINING_SAMPLE, _OTHERS = 1_000, 30
#: Fewer examples teach it nothing: those of a conversation are alike, and few examples are of very few conversations.
_TAUGHT = 40

_ADDRESS = re.compile(r"^\s*@?([^\s:,]{2,})\s?[:,]")
#: A number of two digits or more, that of a course, a version or a port.
_NUMBER = re.compile(r"(?<!participant_)(?<![\d.])\d+(?:\.\d+)*\d(?![\d])")
_PARTICIPANT = re.compile(r"participant_\d+|speaker \d+")

Idf = Callable[[str], float]


def measure(context: Sequence[str], options: Sequence[str], right: Sequence[int], idf: Idf) -> dict[str, int]:
    """One example under all rankers: the probability, in millionths, that each puts an answer first, where ties are broken by lot.

    Args:
        right: the places of the answers in `options`.
        idf: the weight of a word.
    """
    found = {"examples": 1}
    lengths = [len(option) for option in options]
    scores: dict[str, Sequence[float]] = {
        "chance": [0] * len(options),
        "first": [-at for at in range(len(options))],
        "longest": lengths,
        "shortest": [-length for length in lengths],
        "names": _named(context, options),
        "numbers": _numbered(context, options),
        "tfidf": _cosines(context, options, idf),
    }
    for name, score in scores.items():
        found |= _places(name, score, right)
    found["answer_characters"] = sum(lengths[at] for at in right)
    found["answers"] = len(right)
    found["distractor_characters"] = sum(lengths) - found["answer_characters"]
    found["distractors"] = len(options) - len(right)
    return found


def _places(name: str, scores: Sequence[float], right: Sequence[int]) -> dict[str, int]:
    """The probability, in millionths, that a ranker by these scores puts an answer first, and among the first ten."""
    return {name if cut == 1 else f"{name}@{cut}": round(UNIT * _within(scores, right, cut)) for cut in CUTS}


def _within(scores: Sequence[float], right: Sequence[int], cut: int) -> float:
    """The probability that one of the best answers stands among the first `cut`, where ties are broken by lot."""
    best = max(scores[at] for at in right)
    above, level = sum(score > best for score in scores), sum(score == best for score in scores)
    mine, free = sum(scores[at] == best for at in right), cut - above
    if free <= 0:
        return 0.0
    return 1.0 if free >= level else 1 - comb(level - mine, free) / comb(level, free)


class Whole:
    """The rankers that need a whole file: `see` every set of candidates first, then `measure` some of the examples.

    Candidates are known by numbers, equal for equal ones.
    """

    def __init__(self) -> None:
        self._sets: Counter[int] = Counter()

    def see(self, keys: Iterable[int]) -> None:
        """Counts the candidates of one example."""
        self._sets.update(set(keys))

    def measure(self, sample: Sequence[tuple[Sequence[str], Sequence[int], Sequence[int]]]) -> Iterator[dict[str, int]]:
        """Each example (options, their numbers, the places of the answers) under these rankers; and before them as how many examples with different
        answers they count, where some have one answer (Kish's effective size)."""
        answered = Counter(tuple(sorted(keys[at] for at in right)) for _, keys, right in sample)
        if len(answered) < len(sample):
            yield {"different": round(len(sample) ** 2 / sum(number * number for number in answered.values()))}
        learned = self._learned(sample[:_TRAINING_SAMPLE])
        for at, (_, keys, right) in enumerate(sample):
            held = [self._sets[key] for key in keys]
            found = _places("frequent", held, right) | _places("rare", [-one for one in held], right)
            if at < len(learned):
                found |= _places("learned", learned[at], right) | {"learned_examples": 1} | _places("learned_chance", [0] * len(keys), right)
            yield found

    @staticmethod
    def _learned(sample: Sequence[tuple[Sequence[str], Sequence[int], Sequence[int]]]) -> list[list[float]]:
        """The scores of each example's candidates by what the other half of the examples says about the wording of answers (naive Bayes)."""
        if len(sample) < _TAUGHT:
            return []
        shown = [[_traits(option) for option in options] for options, _, _ in sample]
        scores: list[list[float]] = [[] for _ in sample]
        for half in (0, 1):
            counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
            number = [0, 0]
            for at in range(1 - half, len(sample), 2):
                right = sample[at][2]
                # Every so manyeth distractor: all of them would say no more.
                step = max(1, len(shown[at]) // _OTHERS)
                for place in sorted({*right, *range(at % step, len(shown[at]), step)}):
                    kind = int(place in right)
                    counts[kind].update(shown[at][place])
                    number[kind] += 1
            weight = {
                trait: log((counts[1][trait] + 0.5) / (number[1] + 1)) - log((counts[0][trait] + 0.5) / (number[0] + 1))
                for trait in counts[0].keys() | counts[1].keys()
                if counts[0][trait] + counts[1][trait] >= 5
            }
            for at in range(half, len(sample), 2):
                scores[at] = [round(sum(weight.get(trait, 0.0) for trait in sorted(traits)), 9) for traits in shown[at]]
        return scores


def _traits(text: str) -> set[str]:
    """What can be seen of a candidate alone: its words, how long it is, its marks, how it begins and ends."""
    said = words(candidate_key(text))
    found = {f"w {word}" for word in said}
    found |= {f"n {min(len(said), 20)}", f"l {min(len(text) // 8, 20)}", f"e {text[-1:] if not text[-1:].isalnum() else ''}"}
    found |= {f"b {said[0]}"} if said else set()
    return found | {f"m {mark}" for mark in "?.,!:/()'\"" if mark in text} | ({"d"} if any(one.isdigit() for one in text) else set())


def _named(context: Sequence[str], options: Sequence[str]) -> list[int]:
    names: set[str] = set()
    for text in context:
        names.update(_PARTICIPANT.findall(text))
        address = _ADDRESS.match(text)
        if address:
            names.add(address[1].casefold())
    if not names:
        return [0] * len(options)
    tokens = [{*option.casefold().replace(":", " ").replace(",", " ").split(), *_PARTICIPANT.findall(option)} for option in options]
    return [len(names & one) for one in tokens]


def _numbered(context: Sequence[str], options: Sequence[str]) -> list[int]:
    """How many numbers each option shares with the context."""
    said = {number for text in context for number in _NUMBER.findall(text)}
    return [len(said & set(_NUMBER.findall(option))) for option in options]


def _cosines(context: Sequence[str], options: Sequence[str], idf: Idf) -> list[float]:
    said = {word for text in context for word in words(candidate_key(text))}
    scores = []
    for option in options:
        own = set(words(candidate_key(option)))
        norm = sqrt(sum(idf(word) ** 2 for word in sorted(own)))
        # Rounded, so that the sum's order of words can't part what is equal.
        scores.append(round(sum(idf(word) ** 2 for word in sorted(own & said)) / norm, 9) if norm else 0.0)
    return scores


def idf_of(texts: Iterable[str]) -> Idf:
    """Weights from the texts at hand, where there is no pool to ask."""
    count: dict[str, int] = {}
    number = 0
    for text in texts:
        number += 1
        for word in set(words(candidate_key(text))):
            count[word] = count.get(word, 0) + 1
    return lambda word: log(1 + (number - count.get(word, 0) + 0.5) / (count.get(word, 0) + 0.5))


def add(total: dict[str, int], found: Mapping[str, int]) -> None:
    """Adds the measures of one example, or file, to a sum."""
    for name, value in found.items():
        total[name] = total.get(name, 0) + value


def rates(total: Mapping[str, int]) -> dict[str, float | int]:
    """Recall at 1 (NAME) and at 10 (NAME@10) of each ranker and of chance, the examples looked at (`different`: as how many with different answers),
    the mean length of answers and distractors in characters, and the share of the sets that no candidate exceeds (`most_held`)."""
    number = total.get("examples", 0)
    if not number:
        return {"examples": 0}
    found: dict[str, float | int] = {"examples": number}
    for name in ("chance", *RANKERS, *WHOLE, "learned_chance"):
        looked = total.get("learned_examples", 0) if name.startswith("learned") else number
        for key in (name, *(f"{name}@{cut}" for cut in CUTS[1:])):
            if key in total and looked:
                found[key] = round(total[key] / UNIT / looked, 6)
    if total.get("learned_examples"):
        found["learned_examples"] = total["learned_examples"]
    if total.get("different"):
        found["different"] = min(total["different"], number)
    if total.get("sets"):
        # The sum over shards of what is the most in each: no candidate stands in more.
        found["most_held"] = round(total["most_held"] / total["sets"], 6)
    for kind in ("answer", "distractor"):
        found[f"{kind}_length"] = round(total.get(f"{kind}_characters", 0) / max(total.get(f"{kind}s", 0), 1), 2)
    return found


def suspicions(path: str, measured: Mapping[str, float | int]) -> list[str]:
    """What is wrong with a file's candidates, by its `rates`: a blind ranker that finds the answers more often than luck allows."""
    if not measured["examples"]:
        return []
    found = []
    for name in BLIND:
        for cut in CUTS:
            key, chance_key = (name, "chance") if cut == 1 else (f"{name}@{cut}", f"chance@{cut}")
            if name == "learned":
                chance_key = f"learned_{chance_key}"
            if key not in measured or chance_key not in measured:
                continue
            number = int(measured["learned_examples" if name == "learned" else "examples"])
            number = int(measured.get("different", number)) if name in _BY_WORDING else number
            rate, chance = measured[key], measured[chance_key]
            if rate > chance and tail(number, chance, rate * number) < _LUCK / (len(BLIND) * len(CUTS)):
                off = (rate - chance) / sqrt(chance * (1 - chance) / number)
                found.append(
                    f"{path}: the answers can be guessed without understanding the dialogue: "
                    f"recall@{cut} of the ranker by {name} is {rate:.3f}, chance is {chance:.3f} ({off:.1f} standard errors of {number} examples)"
                )
    return found


def tail(number: int, chance: float, hits: float) -> float:
    """The probability of `hits` (rounded down) or more among so many examples by chance."""
    if not 0 < chance < 1:
        return 1.0
    at = int(hits + 1e-9)
    total = 0.0
    for k in range(at, number + 1):
        term = lgamma(number + 1) - lgamma(k + 1) - lgamma(number - k + 1) + k * log(chance) + (number - k) * log(1 - chance)
        total += exp(term)
        if k > number * chance and term < log(total or 1e-300) - 40:
            break
    return min(total, 1.0)
