"""The linear classifier in whole numbers beside scikit-learn's logistic regression, on the same features.

Run ``python -m tests.benchmarks.bench_linear --folder DIR`` (needs scikit-learn, which no extra brings): DIR holds logs.json and labels.json in the
form of DSTC9 Track 1; the first 70 % are for training, F1 of knowledge-seeking turns is measured on the rest.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from dialmill.pipelines.baselines.linear import Example, LinearClassifier, context_features


def f1(said: list[str], due: list[str]) -> float:
    """F1 of the class "yes"."""
    both = sum(one == other == "yes" for one, other in zip(said, due, strict=True))
    return 2 * both / max(said.count("yes") + due.count("yes"), 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    logs = json.loads((options.folder / "logs.json").read_text("utf-8"))
    labels = json.loads((options.folder / "labels.json").read_text("utf-8"))
    pairs = zip(logs, labels, strict=True)
    examples = [Example(context_features([turn["text"] for turn in log], "en"), "yes" if label["target"] else "no") for log, label in pairs]
    cut = int(len(examples) * 0.7)
    train, test = examples[:cut], examples[cut:]
    due = [one.label for one in test]
    begun = time.process_time()
    model = LinearClassifier.train(train)
    spent = time.process_time() - begun
    print(f"ours: F1 {f1([model.predict(one.features) for one in test], due):.4f}, {spent:.1f} CPU s")

    from sklearn.feature_extraction import DictVectorizer  # type: ignore[import-not-found]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found]

    vectors = DictVectorizer()
    begun = time.process_time()
    matrix = vectors.fit_transform([dict.fromkeys(one.features, 1) for one in train])
    other = LogisticRegression(max_iter=300).fit(matrix, [one.label for one in train])
    spent = time.process_time() - begun
    said = other.predict(vectors.transform([dict.fromkeys(one.features, 1) for one in test]))
    print(f"scikit-learn's logistic regression: F1 {f1([str(one) for one in said], due):.4f}, {spent:.1f} CPU s")


if __name__ == "__main__":
    main()
