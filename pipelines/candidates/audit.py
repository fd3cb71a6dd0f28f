"""Rankers that know nothing of dialogue, as a test of the pools: three of them must do no better than chance (cases B07 and B08).

A set of candidates gives its answer away where a ranker by names (candidates that name somebody from the context), by length (the longest) or by
position (the first) finds it. A TF-IDF ranker is measured beside them: it may be good, and says how hard the set is for a simple model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log, sqrt

from dialmill.pipelines.candidates.keys import candidate_key, words

RANKERS = ("first", "longest", "names", "tfidf")
#: Those that must stand near chance.
BLIND = RANKERS[:3]
#: Sums are kept in millionths, so that they are whole numbers and add up alike in any order.
UNIT = 1_000_000
#: How far above chance a blind ranker's recall at 1 may lie, besides what comes of few examples.
MARGIN = 0.02
#: More than that happens by luck in fewer than one of this many files.
_LUCK = 10_000
#: Examples of a file that are looked at, at most.
SAMPLE = 2_000

_ADDRESS = re.compile(r"^\s*@?([^\s:,]{2,})\s?[:,]")
_PARTICIPANT = re.compile(r"participant_\d+|speaker \d+")

Idf = Callable[[str], float]


def measure(context: Sequence[str], options: Sequence[str], right: Sequence[int], idf: Idf) -> dict[str, int]:
    """One example under all rankers: the probability, in millionths, that each puts an answer first, where ties are broken by lot.

    Args:
        right: the places of the answers in `options`.
        idf: the weight of a word.
    """
    found = {"examples": 1, "chance": round(UNIT * len(right) / len(options)), "first": UNIT * (0 in right)}
    lengths = [len(option) for option in options]
    found["longest"] = _first(lengths, right)
    found["names"] = _first(_named(context, options), right)
    found["tfidf"] = _first(_cosines(context, options, idf), right)
    found["answer_characters"] = sum(lengths[at] for at in right)
    found["answers"] = len(right)
    found["distractor_characters"] = sum(lengths) - found["answer_characters"]
    found["distractors"] = len(options) - len(right)
    return found


def _first(scores: Sequence[float], right: Sequence[int]) -> int:
    best = max(scores)
    return round(UNIT * sum(scores[at] == best for at in right) / sum(score == best for score in scores))


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
    """Recall at 1 of each ranker and of chance, the examples looked at, and the mean length of answers and distractors in characters."""
    number = total.get("examples", 0)
    if not number:
        return {"examples": 0}
    found: dict[str, float | int] = {"examples": number}
    for name in ("chance", *RANKERS):
        found[name] = round(total.get(name, 0) / UNIT / number, 6)
    for kind in ("answer", "distractor"):
        found[f"{kind}_length"] = round(total.get(f"{kind}_characters", 0) / max(total.get(f"{kind}s", 0), 1), 2)
    return found


def suspicions(path: str, measured: Mapping[str, float | int]) -> list[str]:
    """What is wrong with a file's candidates, by its `rates`: a blind ranker that finds the answers."""
    number, chance = measured["examples"], measured.get("chance", 0)
    if not number:
        return []
    allowed = min(chance + MARGIN, 1 - 1e-9)
    return [
        f"{path}: answers can be told without understanding: recall@1 of the ranker by {name} is {measured[name]:.3f}, chance is {chance:.3f}"
        for name in BLIND
        if measured[name] > allowed and number * _divergence(measured[name], allowed) > log(_LUCK)
    ]


def _divergence(share: float, expected: float) -> float:
    """Of a share from the expected one (Kullback and Leibler, in nats): times the number of cases it bounds the log of the probability (Chernoff)."""
    rest = (1 - share) * log((1 - share) / (1 - expected)) if share < 1 else 0.0
    return share * log(share / expected) + rest
