"""Next-utterance selection: candidates ranked by common words, in the form that the official metrics of NOESIS read.

A suite is one test file: "subtask_1" of release/ubuntu_test_subtask_1.json, "case1_subtask_3" of release/advising_test_case1_subtask_3.json. Where an
example's answer may be missing (subtask 4), NONE stands after the first candidate: a ranker of words has no opinion on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from dialmill.pipelines.baselines.rankers import RANKERS, Ranker, Searcher, ranker
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.predictor import Predictions, Task

BASELINES: tuple[str, ...] = ("tfidf", *sorted(set(RANKERS) - {"tfidf"}))
_SPLITS = {"valid": "dev"}
_FILE = re.compile(r"[a-z]+_(train|dev|test)_?(.*subtask_(\d+))\.json")
#: Candidates of a shared pool that are listed, as the task asks for.
_LISTED = 100
#: Candidates that the weights of words are taken from.
_FITTED = 20_000


def predict(task: Task) -> Predictions:
    """A list of examples with their ranked candidates: the schema predictions-noesis."""
    files = _files(task.gold, _SPLITS.get(task.split, task.split))
    if not files:
        raise InputError(str(task.gold), f"holds no examples of {task.split}", "expected is release/CORPUS_SPLIT_subtask_N.json")
    suite = task.suite or next(iter(files))
    if suite not in files:
        raise InputError(str(task.gold), f"has no suite {suite!r}", f"there are: {', '.join(files)}")
    examples = _read(files[suite])
    language = "zh" if task.benchmark.startswith("cgodial") else "en"
    shared = _shared(files[suite].parent) if any("options-for-next" not in one for one in examples) else []
    model = ranker(task.baseline).fit(_texts(examples), language)
    searcher = Searcher([text for _, text in shared], language) if shared else None
    ranked = [_ranked(one, model, searcher, shared, language, suite.endswith("subtask_4")) for one in examples]
    content = b"[\n" + b",\n".join(msgspec.json.encode(one) for one in ranked) + b"\n]\n"
    return Predictions(content, "predictions-noesis", len(ranked), "the candidates themselves")


def _files(gold: Path, split: str) -> dict[str, Path]:
    """The files of examples of a split, by suite."""
    found: dict[str, Path] = {}
    hard = split == "test_hard"
    split = "test" if hard else split
    for folder in (gold / "release" / "test_hard",) if hard else (gold / "release", gold):
        for path in sorted(folder.glob("*_subtask_*.json")):
            match = _FILE.fullmatch(path.name)
            if match and match[1] == split:
                found.setdefault(match[2], path)
    return dict(sorted(found.items(), key=lambda item: (not item[0].startswith("subtask"), item[0])))


def _read(path: Path) -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = msgspec.json.decode(path.read_bytes(), type=list[dict[str, Any]])
        for one in found:
            one["example-id"], one["messages-so-far"]
        return found
    except (msgspec.DecodeError, KeyError) as error:
        raise InputError(str(path), f"is no file of examples: {error}", "`dialmill validate` tells more") from None


def _shared(folder: Path) -> list[tuple[str, str]]:
    """The shared pool: (candidate id, text)."""
    paths = sorted(folder.glob("*_pool_subtask_2.tsv")) or sorted(folder.parent.glob("*_pool_subtask_2.tsv"))
    if not paths:
        raise InputError(str(folder), "has examples without candidates and no pool of their own", "expected is CORPUS_pool_subtask_2.tsv")
    with paths[0].open(encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t", 1) for line in lines]
    return [(row[0], row[1]) for row in rows if len(row) == 2]


def _texts(examples: Sequence[dict[str, Any]]) -> list[str]:
    """Texts that say how common a word is: candidates, or messages where the pool is shared."""
    found: list[str] = []
    for one in examples:
        found += [option["utterance"] for option in one.get("options-for-next", one["messages-so-far"])]
        if len(found) > _FITTED:
            break
    return found


def _ranked(
    example: dict[str, Any], model: Ranker, searcher: Searcher | None, shared: Sequence[tuple[str, str]], language: str, may_lack: bool
) -> dict[str, Any]:
    context = [message["utterance"] for message in example["messages-so-far"]]
    options = example.get("options-for-next")
    if options is None:
        assert searcher is not None
        ranked = [(shared[place][0], score) for place, score in searcher.best(context, _LISTED)]
    else:
        scores = model.rank(context, [option["utterance"] for option in options], language)
        # Ties by id, never by position.
        places = sorted(range(len(options)), key=lambda place: (-scores[place], options[place]["candidate-id"]))
        ranked = [(options[place]["candidate-id"], scores[place]) for place in places]
    if may_lack:
        ranked.insert(1, ("NONE", ranked[0][1]))
    return {
        # The published script looks ids up as text.
        "example-id": str(example["example-id"]),
        "candidate-ranking": [{"candidate-id": name, "confidence": round(score, 6)} for name, score in ranked],
    }
