"""The speech channel measured: rate, speed, damage to values by slot, and how well a classifier tells the ASR error simulator from the audio path.

    python -m tests.benchmarks.bench_speech DIALOGUES.jsonl [--turns 300] [--targets 0.1 0.2 0.3] [--seed 21] [--cache FOLDER] [--text-only]

DIALOGUES.jsonl holds canonical records (dialogues/standard/test.jsonl of any build).
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dialmill.perturbers.speech.align import align
from dialmill.perturbers.speech.fit.calibrate import read
from dialmill.perturbers.speech.perturber import Speech
from dialmill.perturbers.speech.speakable import words
from dialmill.perturbers.speech.tuning import sample
from dialmill.perturbers.speech.wer import corpus_rate, edit_errors, errors, unify
from dialmill.schemas import Dialogue


def measure(speech: Speech, dialogues: Sequence[Dialogue], seed: int, what: str) -> list[tuple[str, str]]:
    """Prints rate, speed, skipped turns and value damage; gives (said, heard) for every turn."""
    began = time.process_time()
    made = [speech.perturb(dialogue, seed) for dialogue in dialogues]
    spent = time.process_time() - began
    pairs: list[tuple[str, str]] = []
    damage: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    for source, variant in zip(dialogues, made, strict=True):
        reasons.update(skip.reason for skip in variant.lineage[-1].skipped)
        for before, after in zip(source.turns, variant.turns, strict=True):
            if before.speaker == "user" and words(before.utterance, source.language):
                pairs.append((before.utterance, after.utterance))
                for span in after.spans:
                    damage[span.slot][span.status] += 1
    language = dialogues[0].language
    rate = corpus_rate(errors(said, heard, language) for said, heard in pairs)
    print(
        f"{what}: WER {rate.rate:.1%} [{rate.low:.1%}, {rate.high:.1%}] over {rate.turns} turns, {spent / max(1, len(pairs)):.4f} CPU s a turn, "
        f"skipped {dict(reasons)}"
    )
    shares(pairs, language)
    for slot, statuses in sorted(damage.items(), key=lambda one: -sum(one[1].values())):
        total = sum(statuses.values())
        print(f"  {slot:12} n={total:<4}", ", ".join(f"{status} {statuses[status] / total:.0%}" for status in ("kept", "changed", "lost")))
    return pairs


def shares(pairs: Sequence[tuple[str, str]], language: str) -> None:
    """Prints the shares of error types and of the shapes of misheard stretches."""
    kinds: Counter[str] = Counter()
    shapes: Counter[str] = Counter()
    for said, heard in pairs:
        one, other = [word.text for word in words(said, language)], [word.text for word in words(heard, language)]
        other = other if language == "zh" else unify(one, other)
        found = edit_errors(one, other)
        kinds.update(substitutions=found.substitutions, deletions=found.deletions, insertions=found.insertions)
        shapes.update(f"{op.j - op.i}:{op.m - op.k}" for op in align(one, other, language) if not op.same)
    total, stretches = sum(kinds.values()) or 1, sum(shapes.values()) or 1
    print("  errors:", ", ".join(f"{kind} {count / total:.0%}" for kind, count in kinds.items()), end="; ")
    print("shapes:", ", ".join(f"{shape} {count / stretches:.0%}" for shape, count in shapes.most_common(6)))


def told_apart(audio: Sequence[str], text: Sequence[str]) -> float:
    """The AUC of a classifier (words, word pairs, letter n-grams; logistic regression; 10-fold) between transcripts of different turns."""
    sklearn: Any = importlib.import_module("sklearn.feature_extraction.text")
    linear: Any = importlib.import_module("sklearn.linear_model")
    selection: Any = importlib.import_module("sklearn.model_selection")
    pipeline: Any = importlib.import_module("sklearn.pipeline")
    metrics: Any = importlib.import_module("sklearn.metrics")
    features = pipeline.make_union(
        sklearn.TfidfVectorizer(ngram_range=(1, 2), token_pattern=r"\S+", sublinear_tf=True),
        sklearn.TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True),
    )
    labels = [1] * len(audio) + [0] * len(text)
    folds = selection.StratifiedKFold(10, shuffle=True, random_state=0)
    model = pipeline.make_pipeline(features, linear.LogisticRegression(C=3, max_iter=1000))
    guesses = selection.cross_val_predict(model, [*audio, *text], labels, cv=folds, method="predict_proba")[:, 1]
    return float(metrics.roc_auc_score(labels, guesses))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dialogues", type=Path)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--targets", type=float, nargs="+", default=[0.1, 0.2, 0.3])
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--cache", default="off", help="a folder; a second run with it measures the speed from cache")
    parser.add_argument("--text-only", action="store_true")
    given = parser.parse_args()
    every = read(given.dialogues)
    chosen = sample(every, given.turns, given.seed)
    names = {dialogue.source_id for dialogue in chosen}
    others = sample([dialogue for dialogue in every if dialogue.source_id not in names], given.turns, given.seed)
    for target in given.targets:
        text = measure(Speech(engine="text", wer=target), others, given.seed, f"text {target:.0%}")
        if given.text_only:
            continue
        audio = measure(Speech(engine="audio", wer=target, cache=given.cache), chosen, given.seed, f"audio {target:.0%}")
        if importlib.util.find_spec("sklearn"):
            language = chosen[0].language
            heard = [[" ".join(word.text for word in words(after, language)) for _, after in part] for part in (audio, text)]
            print(f"  a classifier tells text from audio with AUC {told_apart(*heard):.3f} ({len(audio)} and {len(text)} turns; 0.5 is chance)")
    fast = Speech(engine="text")
    for turn in range(2):
        began = time.process_time()
        count = sum(sum(one.speaker == "user" for one in fast.perturb(dialogue, turn).turns) for dialogue in every)
        speed = count / (time.process_time() - began)
        print(f"ASR error simulator: {speed:,.0f} turns a CPU second ({'second' if turn else 'first'} pass over {count} turns)")


if __name__ == "__main__":
    main()
