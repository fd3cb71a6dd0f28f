"""How far the wording of paraphrase, simplification and verbosity is from what was said before, and what light models lose on it.

    python -m tests.benchmarks.bench_wording --input PATH [--format multiwoz21] [--test 250] [--seed 1] [--people FILE] [--json FILE]

Dialogues are held out by a hash of their ids; the rest are "train": the reference for novelty, the training sample of a tracker and of an n-gram act
classifier (one averaged perceptron for each act, domain and slot, over the grams of the turn and the system turn before), and what lends donors.
Side by side stand the standard turns, donors, compose, and people's paraphrases where a file has them (JSONL: source_id, turn, text).

Novelty: the share of an utterance's word bigrams, trigrams and words (letters and digits, in lower case; jieba's words for Chinese) that no user turn
of train has, over the changed turns and over the whole suite. Near-copy: the same words as the source after frames and particles are removed
(`dialmill.perturbers.core.difficulty.near_copy`, by the lists that come along).
Shared: the text is that of another composed turn of the suite, turns of up to three words and turns of thanks apart. Drops are in points against
standard, with 95 % intervals by bootstrap over dialogues. Speed is CPU time over that of donors, in one run.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from dialmill.perturbers import parse
from dialmill.perturbers.core.difficulty import near_copy, token_list
from dialmill.perturbers.core.pools import PoolFile
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.rewording.composer.familiar import FamiliarPool
from dialmill.perturbers.rewording.donors import DonorPool
from dialmill.perturbers.rewording.rewriter import Rewriter, words
from dialmill.pipelines.baselines.linear import context_features
from dialmill.pipelines.baselines.tracker import Tracker
from dialmill.pipelines.baselines.trained import gold_state, wrong_slots
from dialmill.pipelines.core.bootstrap import draws, interval
from dialmill.pipelines.sources import registry
from dialmill.schemas import Dialogue, Turn

from tests.pipelines.source_tools import read_paths

KINDS = ("paraphrase", "simplification", "verbosity")
ENGINES = ("donors", "compose")
SAMPLES = 1000
#: Epochs of the act classifier.
EPOCHS = 5

Ngrams = set[tuple[str, ...]]


def turns_of(dialogues: Iterable[Dialogue]) -> list[tuple[Dialogue, int, Turn]]:
    """Every user turn with its dialogue and place."""
    return [(one, place, turn) for one in dialogues for place, turn in enumerate(one.turns) if turn.speaker == "user"]


def ngrams(text: str, language: str, size: int) -> list[tuple[str, ...]]:
    """The runs of `size` words of a text."""
    units = token_list(text, language) if language == "zh" else words(text, language)
    return [tuple(units[at : at + size]) for at in range(len(units) - size + 1)]


class Reference:
    """What users of the training dialogues said."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        self._known: dict[int, Ngrams] = {size: set() for size in (1, 2, 3)}
        for one, _, turn in turns_of(dialogues):
            for size, known in self._known.items():
                known.update(ngrams(turn.utterance, one.language, size))

    def novel(self, texts: Sequence[str], language: str, size: int) -> float:
        """The share of n-grams of the texts that are new."""
        found = [gram for text in texts for gram in ngrams(text, language, size)]
        return sum(gram not in self._known[size] for gram in found) / max(len(found), 1)


def labels_of(turn: Turn) -> frozenset[str]:
    """The acts of a turn, with their domains and slots."""
    return frozenset(f"{act.act} {act.domain} {act.slot or ''}" for act in turn.acts)


class ActClassifier:
    """One averaged perceptron for each label, all trained at once."""

    def __init__(self, dialogues: Sequence[Dialogue]) -> None:
        examples = [(self._features(one, place), labels_of(turn)) for one, place, turn in turns_of(dialogues) if turn.acts]
        counts = Counter(name for names, _ in examples for name in names)
        self._ids = {name: number for number, name in enumerate(sorted(name for name, count in counts.items() if count > 1))}
        self._labels = sorted(frozenset().union(*[labels for _, labels in examples]))
        numbers = {label: number for number, label in enumerate(self._labels)}
        now = np.zeros((len(self._labels), len(self._ids)), dtype=np.float64)
        total = np.zeros_like(now)
        rows = [self._row(names) for names, _ in examples]
        gold = [-np.ones(len(self._labels)) for _ in examples]
        for signs, (_, labels) in zip(gold, examples, strict=True):
            signs[[numbers[label] for label in labels]] = 1
        order = list(range(len(examples)))
        steps = 0
        for epoch in range(EPOCHS):
            Rng("act classifier", epoch).shuffle(order)
            for at in order:
                ids, signs = rows[at], gold[at]
                wrong = np.flatnonzero(now[:, ids].sum(axis=1) * signs <= 1)
                if len(wrong):
                    change = signs[wrong][:, None]
                    now[np.ix_(wrong, ids)] += change
                    total[np.ix_(wrong, ids)] += change * steps
                steps += 1
        self._weights = now - total / max(steps, 1)

    @staticmethod
    def _features(dialogue: Dialogue, place: int) -> tuple[str, ...]:
        said = [turn.utterance for turn in dialogue.turns[max(0, place - 1) : place + 1]]
        return (*context_features(said, dialogue.language), "bias")

    def _row(self, names: Iterable[str]) -> Any:
        return np.array(sorted(self._ids[name] for name in set(names) if name in self._ids), dtype=np.intp)

    def right(self, dialogue: Dialogue, place: int) -> bool:
        """Whether the set of labels of a turn is predicted exactly."""
        scores = self._weights[:, self._row(self._features(dialogue, place))].sum(axis=1)
        return {self._labels[number] for number in np.flatnonzero(scores > 0)} == labels_of(dialogue.turns[place])


class Right(NamedTuple):
    """Right turns and turns of each dialogue."""

    right: list[int]
    turns: list[int]


def tracked(tracker: Tracker, dialogues: Sequence[Dialogue]) -> Right:
    """Turns whose state is right, by the tracker."""
    right, turns = [], []
    for dialogue in dialogues:
        states = tracker.predict(dialogue)
        users = [turn for turn in dialogue.turns if turn.speaker == "user"]
        right.append(sum(not wrong_slots(gold_state(turn), states[turn.turn]) for turn in users))
        turns.append(len(users))
    return Right(right, turns)


def classified(classifier: ActClassifier, dialogues: Sequence[Dialogue]) -> Right:
    """Turns with acts whose set is right, by the classifier."""
    right, turns = [], []
    for dialogue in dialogues:
        places = [place for place, turn in enumerate(dialogue.turns) if turn.speaker == "user" and turn.acts]
        right.append(sum(classifier.right(dialogue, place) for place in places))
        turns.append(len(places))
    return Right(right, turns)


def drop(before: Right, after: Right, seed: int) -> tuple[float, float, float]:
    """Points lost from one to the other, with the interval."""
    weights = draws(seed, len(before.right), SAMPLES, "wording")
    total = weights @ np.array(before.turns, dtype=float)
    lost = 100 * (weights @ (np.array(before.right, dtype=float) - np.array(after.right, dtype=float))) / np.maximum(total, 1)
    low, high = interval(lost, 0.95)
    return 100 * (sum(before.right) - sum(after.right)) / max(sum(before.turns), 1), low, high


def copied(old: Turn, new: Turn, language: str) -> bool:
    """Whether a turn says the source's own words again, frames and particles apart."""
    return near_copy(token_list(new.utterance, language), token_list(old.utterance, language), language)


def figures(sources: Sequence[Dialogue], made: Sequence[Dialogue], reference: Reference) -> dict[str, float]:
    """Novelty, copies and coverage of a suite."""
    language = sources[0].language
    pairs = [(old, new) for one, other in zip(sources, made, strict=True) for old, new in zip(one.turns, other.turns, strict=True)]
    pairs = [(old, new) for old, new in pairs if old.speaker == "user"]
    changed = [(old, new) for old, new in pairs if old.utterance != new.utterance]
    acted = [(old, new) for old, new in pairs if old.acts]
    reasons = {(one.dialogue_id, reason) for one in made for step in one.lineage for reason in step.reasons}
    composed = {(name, int(reason.split()[1].rstrip(":"))) for name, reason in reasons if reason.endswith(": composed")}
    by_place = [(one, turn) for one in made for turn in one.turns if (one.dialogue_id, turn.turn) in composed]
    content = [turn.utterance for _, turn in by_place if len(words(turn.utterance, language)) > 3 and not _thanks(turn)]
    said = Counter(content)
    near = [copied(old, new, language) for old, new in pairs]
    near_changed = [copied(old, new, language) for old, new in changed]
    result = {
        "changed": len(changed) / len(pairs),
        "changed, of turns with acts": sum(o.utterance != n.utterance for o, n in acted) / max(len(acted), 1),
    }
    result["composed, of turns with acts"] = sum(bool(turn.acts) for _, turn in by_place) / max(len(acted), 1)
    for name, size in (("words", 1), ("bigrams", 2), ("trigrams", 3)):
        result[f"new {name}, changed"] = reference.novel([new.utterance for _, new in changed], language, size)
        result[f"new {name}, suite"] = reference.novel([new.utterance for _, new in pairs], language, size)
    result["near-copies, changed"] = sum(near_changed) / max(len(near_changed), 1)
    result["near-copies, suite"] = sum(near) / max(len(near), 1)
    result["text of another composed turn"] = sum(count for count in said.values() if count > 1) / max(len(content), 1)
    return result


def _thanks(turn: Turn) -> bool:
    return bool(turn.acts) and all(act.act in ("thank", "bye", "thank_you", "goodbye", "negate", "greet") for act in turn.acts)


def commonest_sentence(sources: Sequence[Dialogue], made: Sequence[Dialogue]) -> tuple[str, float]:
    """The sentence of four words and more that comes into most turns, and the share of them."""
    language = sources[0].language
    counts: Counter[str] = Counter()
    turns = 0
    for one, other in zip(sources, made, strict=True):
        for old, new in zip(one.turns, other.turns, strict=True):
            if old.speaker == "user":
                turns += 1
                for sentence in {part.strip() for part in new.utterance.replace("?", ".").replace("!", ".").replace("。", ".").split(".")}:
                    if sentence not in old.utterance and len(words(sentence, language)) >= 4:
                        counts[sentence] += 1
    found = counts.most_common(1)
    return (found[0][0], found[0][1] / turns) if found else ("", 0.0)


def peoples(path: Path, dialogues: Sequence[Dialogue]) -> tuple[list[Dialogue], list[Dialogue]]:
    """The dialogues with paraphrases written by people, and the same with those in place of the turns."""
    found: dict[str, dict[int, str]] = {}
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        found.setdefault(record["source_id"], {})[record["turn"]] = record["text"]
    sources = [one for one in dialogues if one.source_id in found]
    made = []
    for one in sources:
        texts = found[one.source_id]
        turns = tuple(
            turn.replace(utterance=texts.get(turn.turn, turn.utterance), spans=() if turn.turn in texts else turn.spans) for turn in one.turns
        )
        made.append(one.replace(turns=turns))
    return sources, made


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--input", type=Path, nargs="+", required=True, help="files and zips of a corpus")
    parser.add_argument("--format", default="multiwoz21")
    parser.add_argument("--test", type=int, default=250, help="dialogues held out")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--people", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()

    every = [
        one.replace(dialogue_id=f"{one.source_id}/standard/0") for one in read_paths(registry.get(options.format), options.input).dialogues.values()
    ]
    every.sort(key=lambda one: key_number("wording", one.source_id))
    test, train = every[: options.test], every[options.test :]
    reference = Reference(train)
    tracker, classifier = Tracker.train(train, every[0].language), ActClassifier(train)
    pool, familiar = PoolFile.of_dialogues(DonorPool(), train), PoolFile.of_dialogues(FamiliarPool(), train)
    standard = tracked(tracker, test), classified(classifier, test)
    rows: dict[str, dict[str, Any]] = {"standard": figures(test, test, reference)}
    rows["standard"] |= {"JGA": 100 * sum(standard[0].right) / sum(standard[0].turns), "acts": 100 * sum(standard[1].right) / sum(standard[1].turns)}
    suites: list[tuple[str, Sequence[Dialogue], Sequence[Dialogue]]] = []
    for kind in KINDS:
        spent: dict[str, float] = {}
        for engine in ENGINES:
            perturber = parse(f"{kind}:engine={engine}").perturber
            assert isinstance(perturber, Rewriter)
            perturber = perturber.with_pools({(DonorPool.name, "input"): pool, (FamiliarPool.name, "input"): familiar})
            for one in test[:20]:
                Locator(one), perturber.perturb(one, options.seed + 1)  # caches and banks are loaded
            begun = time.process_time()
            made = [perturber.perturb(one, options.seed) for one in test]
            spent[engine] = time.process_time() - begun
            name = f"{kind}, {engine}"
            suites.append((name, test, made))
            rows[name] = {"speed over donors": spent["donors"] / spent[engine]}
    if options.people:
        suites.append(("people", *peoples(options.people, test)))
        rows["people"] = {}
    for name, sources, made in suites:
        before = standard if sources is test else (tracked(tracker, sources), classified(classifier, sources))
        rows[name] |= figures(sources, made, reference)
        rows[name]["JGA drop"] = drop(before[0], tracked(tracker, made), options.seed)
        rows[name]["acts drop"] = drop(before[1], classified(classifier, made), options.seed)
        rows[name]["commonest sentence"] = commonest_sentence(sources, made)
    for name, row in rows.items():
        print(f"\n{name}")
        for key, value in row.items():
            if isinstance(value, tuple) and isinstance(value[0], str):
                print(f"  {key}: {100 * value[1]:.2f} % {value[0]!r}")
            elif isinstance(value, tuple):
                print(f"  {key}: {value[0]:.1f} [{value[1]:.1f}, {value[2]:.1f}]")
            else:
                print(f"  {key}: {value:.3f}")
    if options.json:
        options.json.write_text(json.dumps(rows, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
