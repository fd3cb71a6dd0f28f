"""The ASR error simulator held against what recognisers made of people's speech and of synthetic voices.

    python -m tests.benchmarks.bench_speech_truth PAIRS.jsonl [--wer 0.17] [--model MODEL.json.gz]

PAIRS.jsonl has {"ref": "...", "hyp": "...", "entities": [{"span": [token numbers], "type": "person"}]} on each line; `entities` may be missing. What
was said goes through the simulator, calibrated to the pairs' own word error rate unless --wer says another, and the same figures are printed for
what the recogniser heard and for what the simulator wrote: shares of the kinds of errors, errors inside entities over outside, damage by type of
entity, perplexity of recognised over spoken text (a bigram model trained on the other half of the references), untouched turns, and the most
frequent substitution of a frequent word. Words are the tokens of `ref`; clitics are glued to the word before them, on both sides.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech.confusion import Model, load
from dialmill.perturbers.speech.speakable import Word
from dialmill.perturbers.speech.wer import edit_errors

#: Words that are said at least so often are asked for their most frequent substitution.
FREQUENT = 100


@dataclass
class Pair:
    """What was said and recognised, as words, and the places of the entities by type."""

    said: list[str]
    heard: list[str]
    entities: list[tuple[str, list[int]]]


def read(path: Path) -> list[Pair]:
    """The pairs of a file, clitics glued."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        words, places = glued(record["ref"].lower().split())
        entities = [(one["type"], [places[token] for token in one["span"] if token < len(places)]) for one in record.get("entities", ())]
        found.append(Pair(words, glued(record["hyp"].lower().split())[0], entities))
    return [pair for pair in found if pair.said]


def glued(tokens: Sequence[str]) -> tuple[list[str], list[int]]:
    """Tokens with "'s" and the like glued on and apostrophes and marks left out, and where each token went."""
    words: list[str] = []
    places = []
    for token in tokens:
        plain = "".join(char for char in token if char.isalnum())
        if token.startswith("'") and words and plain in ("s", "m", "re", "ve", "ll", "d", "t"):
            words[-1] += plain
        elif plain:
            words.append(plain)
        places.append(max(0, len(words) - 1))
    return words, places


def simulated(model: Model, pairs: Sequence[Pair], offset: float) -> list[list[str]]:
    """What the simulator makes of each."""
    found = []
    for number, pair in enumerate(pairs):
        source = [Word(word, place, place + 1) for place, word in enumerate(pair.said)]
        words: list[str] = []
        reached = 0
        for change in model.distort(source, 0.0, Rng("truth", number), offset):
            words += [*pair.said[reached : change.i], *change.new.split()]
            reached = change.j
        found.append([*words, *pair.said[reached:]])
    return found


def rate(pairs: Sequence[Pair], heard: Sequence[Sequence[str]]) -> float:
    """The corpus WER."""
    errors = [edit_errors(pair.said, one) for pair, one in zip(pairs, heard, strict=True)]
    return sum(one.total for one in errors) / sum(one.length for one in errors)


def calibrated(model: Model, pairs: Sequence[Pair], target: float) -> float:
    """The offset that gives a WER, by bisection."""
    low, high = -8.0, 6.0
    some = pairs[:: max(1, len(pairs) // 1500)]
    for _ in range(11):
        middle = (low + high) / 2
        if rate(some, simulated(model, some, middle)) < target:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def statistics(pairs: Sequence[Pair], heard: Sequence[Sequence[str]]) -> dict[str, object]:
    """The figures of a recogniser, or of the simulator."""
    kinds: Counter[str] = Counter()
    inside, outside = Counter[bool](), Counter[bool]()
    damaged: dict[str, Counter[bool]] = defaultdict(Counter)
    said: Counter[str] = Counter()
    substituted: Counter[tuple[str, str]] = Counter()
    untouched = 0
    for pair, one in zip(pairs, heard, strict=True):
        found = edit_errors(pair.said, one)
        kinds.update(substitutions=found.substitutions, deletions=found.deletions, insertions=found.insertions)
        untouched += not found.total
        wrong = misrecognised(pair.said, one, substituted)
        said.update(pair.said)
        places = {place for _, span in pair.entities for place in span}
        for place, is_wrong in enumerate(wrong):
            (inside if place in places else outside)[is_wrong] += 1
        for kind, span in pair.entities:
            damaged[kind][any(wrong[place] for place in span)] += 1
    total = sum(kinds.values()) or 1
    frequent = [(count / said[one], f"{one} -> {other}") for (one, other), count in substituted.items() if said[one] >= FREQUENT]
    share = [part[True] / max(1, part.total()) for part in (inside, outside)]
    return {
        "WER": round(rate(pairs, heard), 4),
        "sub/del/ins %": " / ".join(f"{100 * kinds[kind] / total:.0f}" for kind in ("substitutions", "deletions", "insertions")),
        "inside over outside": round(share[0] / share[1], 2) if share[1] else None,
        "untouched": round(untouched / len(pairs), 3),
        "top substitutions": [f"{name} {part:.1%}" for part, name in sorted(frequent, reverse=True)[:3]],
        "damaged": {
            kind: round(row[True] / row.total(), 2) for kind, row in sorted(damaged.items(), key=lambda one: -one[1].total()) if row.total() >= 100
        },
    }


def misrecognised(said: Sequence[str], heard: Sequence[str], substituted: Counter[tuple[str, str]]) -> list[bool]:
    """Which words were misrecognised, by the alignment of least errors; counts its substitutions."""
    n, m = len(said), len(heard)
    cost = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            if i and j:
                cost[i][j] = min(cost[i - 1][j - 1] + (said[i - 1] != heard[j - 1]), cost[i - 1][j] + 1, cost[i][j - 1] + 1)
            else:
                cost[i][j] = i + j
    wrong = [False] * n
    i, j = n, m
    while i and j:
        if cost[i][j] == cost[i - 1][j - 1] + (said[i - 1] != heard[j - 1]):
            i, j = i - 1, j - 1
            if said[i] != heard[j]:
                wrong[i] = True
                substituted[said[i], heard[j]] += 1
        elif cost[i][j] == cost[i - 1][j] + 1:
            i -= 1
            wrong[i] = True
        else:
            j -= 1
    wrong[:i] = [True] * i
    return wrong


def perplexity_ratio(pairs: Sequence[Pair], heard: Sequence[Sequence[str]]) -> float:
    """The perplexity of recognised over that of spoken text, of each half by an interpolated bigram model of the other half's references. Halves
    are of different sentences."""
    sentences = sorted({" ".join(pair.said) for pair in pairs})
    half = {sentence: place % 2 for place, sentence in enumerate(sentences)}
    spoken_bits, heard_bits, spoken_words, heard_words = 0.0, 0.0, 0, 0
    for side in (0, 1):
        score = bigram_model([sentence.split() for sentence in sentences if half[sentence] != side])
        for pair, one in zip(pairs, heard, strict=True):
            if half[" ".join(pair.said)] == side:
                spoken_bits += score(pair.said)
                heard_bits += score(one)
                spoken_words += len(pair.said) + 1
                heard_words += len(one) + 1
    return math.exp(heard_bits / heard_words - spoken_bits / spoken_words)


def bigram_model(sentences: Sequence[Sequence[str]]) -> Callable[[Sequence[str]], float]:
    """Minus the log probability of a sentence by bigrams interpolated with unigrams and a uniform share."""
    single, double = Counter[str](), Counter[tuple[str, str]]()
    before = Counter[str]()
    for words in sentences:
        line = ["<s>", *words, "</s>"]
        single.update(line[1:])
        before.update(line[:-1])
        double.update(pairwise(line))
    total, size = single.total(), len(single) + 1000

    def score(words: Sequence[str]) -> float:
        line = ["<s>", *words, "</s>"]
        bits = 0.0
        for one, other in pairwise(line):
            alone = (single[other] + 0.5) / (total + 0.5 * size)
            bits -= math.log((double[one, other] + 5 * alone) / (before[one] + 5))
        return bits

    return score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--wer", type=float, help="what to calibrate to; the pairs' own where missing")
    parser.add_argument("--model", default="auto")
    parser.add_argument("--show", type=int, default=0, help="prints so many changed turns")
    given = parser.parse_args()
    pairs = read(given.pairs)
    model = load(given.model, "en")
    people = [pair.heard for pair in pairs]
    target = given.wer or rate(pairs, people)
    offset = calibrated(model, pairs, target)
    began = time.process_time()
    ours = simulated(model, pairs, offset)
    spent = (time.process_time() - began) / len(pairs)
    print(f"{len(pairs)} turns, offset {offset:.2f}, {1000 * spent:.2f} ms a turn; curve says {model.offset(target):.2f}")
    for name, heard in (("recogniser", people), ("simulator", ours)):
        print(name, json.dumps(statistics(pairs, heard), ensure_ascii=False))
    theirs, mine = perplexity_ratio(pairs, people), perplexity_ratio(pairs, ours)
    print(f"perplexity of recognised over spoken: recogniser {theirs:.2f}, simulator {mine:.2f}, ratio {mine / theirs:.2f}")
    shown = [(pair.said, one) for pair, one in zip(pairs, ours, strict=True) if pair.said != one][:: max(1, len(pairs) // max(1, 3 * given.show))]
    for said, one in shown[: given.show]:
        print("  said", " ".join(said), "\n  made", " ".join(one))


if __name__ == "__main__":
    main()
