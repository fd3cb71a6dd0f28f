"""Training of the ASR error simulator: see `confusion` for what a model is."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec
from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech.align import Op, align
from dialmill.perturbers.speech.confusion import LONGEST, Learned, Model, write_model
from dialmill.perturbers.speech.fit.sentences import vocabulary
from dialmill.perturbers.speech.phones import Lexicon, base_cost
from dialmill.perturbers.speech.speakable import Word, words
from dialmill.perturbers.speech.wer import corpus_rate, edit_errors, unify

#: Pairs with more errors than this are hallucinations, not confusions.
CEILING = 0.8
#: Classes of rarity, and the power of two that the first begins at: it holds words of at least 1 in 2 ** 7, the last but one of about 1 in 200,000;
#: the last has all other words of the dictionary.
_CLASSES, _MOST_FREQUENT = 12, 6


class Pair(NamedTuple):
    """What was said and what was recognised, as spoken words."""

    said: tuple[Word, ...]
    transcribed: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.said]


def read_pairs(path: Path, language: str) -> list[Pair]:
    """Pairs from JSON lines with "ref" and "hyp"; those above the ceiling are left out.

    Raises:
        ValueError: a line is no such pair; names the line.
    """
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            said, transcribed = words(record["ref"], language), [word.text for word in words(record["hyp"], language)]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f'{path}, line {number}: expected {{"ref": TEXT, "hyp": TEXT}}: {error!r}') from None
        texts = [word.text for word in said]
        if language != "zh":
            transcribed = unify(texts, transcribed)
        if said and transcribed and edit_errors(texts, transcribed).rate <= CEILING:
            found.append(Pair(said, tuple(transcribed)))
    return found


def regions(ops: Sequence[Op]) -> list[list[Op]]:
    """Runs of neighbouring ops that are not the same."""
    found: list[list[Op]] = []
    for place, op in enumerate(ops):
        if not op.same:
            if place and not ops[place - 1].same:
                found[-1].append(op)
            else:
                found.append([op])
    return found


class _Counts:
    """What pairs hold: how often each unit was said and what was recognised for it."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.blank = "" if language == "zh" else " "
        self.units: dict[str, Counter[str]] = defaultdict(Counter)
        self.seen: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.inserted: Counter[str] = Counter()
        self.following: dict[str, Counter[str]] = defaultdict(Counter)
        self.misses: list[list[bool]] = []

    def add(self, pair: Pair) -> None:
        """Counts one pair."""
        said, transcribed = pair.texts, list(pair.transcribed)
        self.seen.update(said)
        for one, other in zip(["<s>", *transcribed], transcribed, strict=False):
            self.following[one][other] += 1
        ops = align(said, transcribed, self.language)
        for region in regions(ops):
            i, j, k, m = region[0].i, region[-1].j, region[0].k, region[-1].m
            if LONGEST >= j - i > 1 and len(region) > 1:
                self.units[self.blank.join(said[i:j])][self.blank.join(transcribed[k:m])] += 1
            for op in region:
                self._add_error(op, said, transcribed)
        self.misses.append([not op.same for op in ops for _ in range(op.i, op.j)])

    def _add_error(self, op: Op, said: Sequence[str], transcribed: Sequence[str]) -> None:
        self.wrong.update(said[op.i : op.j])
        text = self.blank.join(transcribed[op.k : op.m])
        if op.i == op.j:
            self.inserted[text] += 1
            self.kinds["insertion"] += 1
            return
        self.units[self.blank.join(said[op.i : op.j])][text] += 1
        self.kinds["deletion" if not text else "split" if op.m - op.k > op.j - op.i else "substitution"] += 1

    def shares(self) -> dict[str, float]:
        """Deletions, splits and insertions by error on a word that was said."""
        errors = max(1, (sum(self.kinds.values()) or 1) - self.kinds["insertion"])
        return {kind: round(self.kinds[kind] / errors, 4) for kind in ("deletion", "split", "insertion")}

    def spread(self) -> float:
        """`Learned.spread`."""
        logits = [math.log((sum(missed) + 0.5) / (len(missed) - sum(missed) + 0.5)) for missed in self.misses]
        mean = sum(logits) / max(1, len(logits))
        # Half of the spread of the observed rates is sampling noise of short utterances.
        return round(math.sqrt(sum((one - mean) ** 2 for one in logits) / max(1, len(logits)) / 2), 4)


def learn(pairs: Sequence[Pair], language: str, about: dict[str, object]) -> Learned:
    """A model from pairs, with its curve.

    Args:
        language: "en" or "zh".
        about: for `Learned.about`.
    """
    counts = _Counts(language)
    for pair in pairs:
        counts.add(pair)
    phones, costs = _phones(counts.units, counts.following, counts.seen) if language == "en" else ({}, {})
    common = _common() if language == "en" else []
    learned = Learned(
        language=language,
        about=dict(about),
        units={unit: _pruned(transcribed) for unit, transcribed in sorted(counts.units.items())},
        words={word: (count, counts.wrong[word]) for word, count in sorted(counts.seen.items())},
        contagion=0.0,
        shares=counts.shares(),
        inserted=dict(sorted(counts.inserted.items(), key=lambda one: (-one[1], one[0]))[:80]),
        spread=counts.spread(),
        bigrams={one: dict(sorted(others.items())) for one, others in sorted(counts.following.items())},
        phones=phones,
        costs=costs,
        common=common,
        hardness=_hardness(Lexicon(phones, costs, ()), common, counts.seen, counts.wrong) if common else [],
    )
    model = Model(learned)
    expected = [[model.logit(word) for word in pair.texts] for pair in pairs]
    learned = msgspec.structs.replace(learned, contagion=_contagion(expected, counts.misses))
    return msgspec.structs.replace(learned, curve=curve(learned, [pair.said for pair in pairs]))


def _pruned(transcribed: Counter[str]) -> dict[str, int]:
    return dict(sorted(transcribed.items(), key=lambda one: (-one[1], one[0]))[:24])


def curve(learned: Learned, utterances: Sequence[Sequence[Word]], points: int = 13) -> list[tuple[float, float]]:
    """[offset, corpus WER] at evenly spread offsets, measured by running the channel over `utterances` (at most 1,500) with fixed seeds."""
    model = Model(learned)
    sample = utterances[:1500]
    found: list[tuple[float, float]] = []
    for step in range(points):
        offset = -4.0 + 0.5 * step
        rate = corpus_rate(
            edit_errors([word.text for word in said], said_back(model, said, offset, number)) for number, said in enumerate(sample)
        ).rate
        if not found or rate > found[-1][1]:
            found.append((offset, round(rate, 5)))
    return found


def said_back(model: Model, said: Sequence[Word], offset: float, *key: object) -> list[str]:
    """The words that the channel makes of an utterance."""
    texts = [word.text for word in said]
    transcribed: list[str] = []
    place = 0
    for change in model.distort(said, 0.0, Rng("curve", *key), offset):
        transcribed += [*texts[place : change.i], *(change.new if model.language == "zh" else change.new.split())]
        place = change.j
    return [*transcribed, *texts[place:]]


def _phones(units: dict[str, Counter[str]], following: dict[str, Counter[str]], seen: Counter[str]) -> tuple[dict[str, str], dict[str, float]]:
    """Pronunciations of the words that can be said or recognised, and the phone costs that the observed substitutions teach."""
    wanted = set(seen) | {word for others in following.values() for word in others} | vocabulary("en")
    wanted |= {word for row in rows("en", "words") for cell in row for word in cell.split()}
    for row in rows("en", "closed"):
        for text in (row[1], *alternatives(row[2] if len(row) > 2 else "")):
            wanted.update(text.split())
    wanted = {word for word in wanted if word.isalpha()}
    dictionary = _dictionary()
    phones = {word: dictionary[word] for word in sorted(wanted) if word in dictionary}
    lexicon = Lexicon(phones, {}, ())
    confused: Counter[tuple[str, str]] = Counter()
    heard_at_all: Counter[str] = Counter()
    for said, others in units.items():
        if said.count(" "):
            continue
        for transcribed, count in others.items():
            if transcribed and not transcribed.count(" "):
                for one, other in _pairs(lexicon, lexicon.phones(said), lexicon.phones(transcribed)):
                    heard_at_all[one] += count
                    if one != other:
                        confused[one, other] += count
    costs = {}
    for (one, other), count in sorted(confused.items()):
        if count >= 3:
            # A confusion as frequent as one in ten of what is recognised for the phone costs half of what its articulation says.
            costs[f"{one} {other}"] = round(max(0.12, base_cost(one, other) * (1 - 1.6 * math.sqrt(count / (heard_at_all[one] + 20) / 1.0))), 3)
    return phones, costs


def _pairs(lexicon: Lexicon, said: Sequence[str], transcribed: Sequence[str]) -> list[tuple[str, str]]:
    """Aligned phones of two words that sound alike; none where they don't."""
    n, m = len(said), len(transcribed)
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            if i or j:
                best[i][j] = min(
                    best[i - 1][j] + 0.7 if i else math.inf,
                    best[i][j - 1] + 0.7 if j else math.inf,
                    best[i - 1][j - 1] + lexicon.cost(said[i - 1], transcribed[j - 1]) if i and j else math.inf,
                )
    if best[n][m] > 0.5 * max(n, m):
        return []
    found = []
    i, j = n, m
    while i and j:
        if best[i][j] == best[i - 1][j - 1] + lexicon.cost(said[i - 1], transcribed[j - 1]):
            found.append((said[i - 1], transcribed[j - 1]))
            i, j = i - 1, j - 1
        elif best[i][j] == best[i - 1][j] + 0.7:
            i -= 1
        else:
            j -= 1
    return found


def _hardness(lexicon: Lexicon, common: Sequence[str], seen: Mapping[str, int], wrong: Mapping[str, int]) -> list[float]:
    """`Learned.hardness`, by logistic regression over the words that have a class; of the others, all together."""
    rarity = {word: place for place, words in enumerate(common) for word in words.split(" ")}
    names = sorted(set(seen) & set(rarity))
    table = []
    for word in names:
        rest = rarity[word] == len(common) - 1
        table.append([1.0, 0.0 if rest else float(rarity[word]), math.log(max(1, len(lexicon.phones(word)))), float(rest)])
    listed = _logistic(table, [float(seen[word]) for word in names], [float(wrong[word]) for word in names], [0.0] * len(names))
    said, missed = (sum(count for word, count in counts.items() if word not in rarity) for counts in (seen, wrong))
    return [*listed, round(math.log((missed + 1) / (said - missed + 1)), 4)]


def _contagion(expected: Sequence[Sequence[float]], misses: Sequence[Sequence[bool]]) -> float:
    """`Learned.contagion`, by logistic regression over words with how hard each is (logits) and how many others of its utterance are wrong."""
    table, happened, offsets = [], [], []
    for logits, missed in zip(expected, misses, strict=True):
        for place in range(1, len(missed)):
            others = sum(missed) - missed[place] - missed[place - 1]
            hard = math.log((others + 0.5) / (len(missed) - 2 - others + 0.5))
            table.append([1.0, hard, float(missed[place - 1])])
            happened.append(float(missed[place]))
            offsets.append(logits[place])
    return _logistic(table, [1.0] * len(table), happened, offsets)[2] if table else 0.0


def _logistic(table: Sequence[Sequence[float]], tries: Sequence[float], hits: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """Coefficients of a logistic regression of `hits` in `tries` on `table`, whose first column is constant.

    By Newton's method, the others a little drawn to 0 (ridge).
    """
    import numpy as np

    columns, count, hit, offset = (np.array(one, float) for one in (table, tries, hits, offsets))
    ridge = np.diag([0.0] + [1.0] * (columns.shape[1] - 1))
    found = np.zeros(columns.shape[1])
    for _ in range(25):
        chance = 1 / (1 + np.exp(-columns @ found - offset))
        slope = columns.T @ (hit - count * chance) - ridge @ found
        # A trace of the unit matrix, for a column that says nothing.
        curvature = columns.T @ (columns * (count * chance * (1 - chance))[:, None]) + ridge + 1e-6 * np.eye(len(found))
        found = found + np.linalg.solve(curvature, slope)
    return [round(float(one), 4) for one in found]


def _common() -> list[str]:
    """`Learned.common`, from the unigrams of pocketsphinx' model of general English (BSD)."""
    sphinx = importlib.import_module("pocketsphinx")
    exponent = sphinx.LogMath()
    model = sphinx.NGramModel(sphinx.Config(), exponent, str(_english() / "en-us.lm.bin"))
    classes: list[list[str]] = [[] for _ in range(_CLASSES + 1)]
    for word in sorted(_dictionary()):
        # The model's logarithms are to the base 1.0001.
        place = int(-model.prob([word]) * 1e-4 / math.log(2)) - _MOST_FREQUENT
        if word.replace("'", "").isalpha():
            classes[min(max(0, place), _CLASSES)].append(word)
    return [" ".join(words) for words in classes]


def _english() -> Path:
    """The folder of pocketsphinx' English models.

    Raises:
        SystemExit: it isn't installed.
    """
    spec = importlib.util.find_spec("pocketsphinx")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("training for English takes pronunciations and frequencies from pocketsphinx: pip install 'dialmill[pocketsphinx]'")
    return Path(spec.submodule_search_locations[0]) / "model" / "en-us"


@cache
def _dictionary() -> dict[str, str]:
    """Word -> phones, from the pocketsphinx package (BSD)."""
    lines = (line.split(" ", 1) for line in (_english() / "cmudict-en-us.dict").read_text("utf-8").splitlines())
    return {line[0]: line[1] for line in lines if len(line) == 2 and "(" not in line[0]}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line: ``--pairs FILE --language en --output MODEL.json.gz [--note TEXT]``."""
    parser = argparse.ArgumentParser(prog="python -m dialmill.perturbers.speech.fit.train", description=__doc__)
    parser.add_argument("--pairs", required=True, type=Path, help='JSON lines with "ref" and "hyp"')
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--output", required=True, type=Path, help="the model file, .json or .json.gz")
    parser.add_argument("--note", default="", help="a line about the pairs, kept in the model")
    given = parser.parse_args(arguments)
    try:
        pairs = read_pairs(given.pairs, given.language)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    if not pairs:
        print(f"{given.pairs} holds no usable pairs", file=sys.stderr)
        raise SystemExit(1)
    rate = corpus_rate(edit_errors(pair.texts, pair.transcribed) for pair in pairs)
    about = {
        "command": f"{parser.prog} --pairs {given.pairs.name} --language {given.language} --output {given.output.name}",
        "pairs": len(pairs),
        "pairs_sha256": sha256(given.pairs.read_bytes()).hexdigest(),
        "pairs_wer": round(rate.rate, 4),
        "note": given.note,
    }
    learned = learn(pairs, given.language, about)
    write_model(learned, given.output)
    print(f"{given.output}: {len(pairs)} pairs, WER {rate.rate:.1%}, {len(learned.units)} units, {given.output.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
