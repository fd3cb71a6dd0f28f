"""DSTC9 Track 1: knowledge-seeking turns by the linear classifier, snippets by a ranker among the entities that were named, the body as response.

`--gold` is an output folder, or an official data root with train/, val/ or test/ below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from dialmill.perturbers.core.matcher import Cut, Index, key_of, prefixes_of
from dialmill.pipelines.baselines.linear import Example, LinearClassifier, context_features
from dialmill.pipelines.baselines.rankers import RANKERS, ranker
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.predictor import Predictions, Task

#: How snippets are ranked.
BASELINES: tuple[str, ...] = ("bm25", *sorted(set(RANKERS) - {"bm25"}))
_ROOTS = ("release/data", "release/data_eval", "data", "data_eval", "")
_HARD_ROOTS = ("release/test_hard/data_eval",)
_FOLDERS = {"train": ("train",), "valid": ("val",), "test": ("test", "val")}
_LISTED = 5
_LANGUAGE = "en"


class _Snippet(NamedTuple):
    domain: str
    entity: str
    doc: str
    title: str
    body: str


class Knowledge:
    """The snippets of a knowledge.json, found by the entities that a dialogue names.

    Raises:
        InputError: it isn't one.
    """

    def __init__(self, path: Path, baseline: str) -> None:
        self.by_entity: dict[tuple[str, str], list[_Snippet]] = {}
        self._names: Index[tuple[str, str]] = Index()
        try:
            for domain, entities in msgspec.json.decode(path.read_bytes()).items():
                for entity, record in entities.items():
                    docs = record["docs"].items()
                    self.by_entity[domain, entity] = [_Snippet(domain, entity, doc, one["title"], one["body"]) for doc, one in docs]
                    if record.get("name"):
                        key = key_of(record["name"], _LANGUAGE)
                        self._names.add({key: ((domain, entity),)}, prefixes_of(record["name"], _LANGUAGE))
        except (OSError, msgspec.DecodeError, AttributeError, KeyError, TypeError) as error:
            raise InputError(str(path), f"is no knowledge.json of DSTC9: {error}", "`dialmill validate` tells more") from None
        self._ranker = ranker(baseline).fit((one.title for docs in self.by_entity.values() for one in docs), _LANGUAGE)
        self._wide = [one for (_, entity), docs in self.by_entity.items() if entity == "*" for one in docs]

    def select(self, context: Sequence[str]) -> list[_Snippet]:
        """The five snippets that fit best, best first: of the entity named last and of whole domains, else of all entities."""
        found: list[_Snippet] = []
        for text in reversed(context):
            hits = self._names.find(text, Cut(text, _LANGUAGE))
            for hit in reversed(hits):
                for place in self._names.entries[hit.key]:
                    found += self.by_entity[place]
            if found:
                break
        options = found + self._wide if found else [one for docs in self.by_entity.values() for one in docs]
        scores = self._ranker.rank(context[-1:], [f"{one.title} {one.domain}" for one in options], _LANGUAGE)
        order = sorted(range(len(options)), key=lambda place: (-scores[place], place))
        return [options[place] for place in order[:_LISTED]]


def predict(task: Task) -> Predictions:
    """A list in the order of logs.json: the schema predictions-dstc9."""
    folder = _folder(task.gold, task.split, "logs.json")
    trained_on = _folder(task.gold, "train", "labels.json")
    knowledge = Knowledge(folder.parent / "knowledge.json", task.baseline)
    logs, labels = _read(trained_on / "logs.json"), _read(trained_on / "labels.json")
    if len(logs) != len(labels):
        raise InputError(str(trained_on), f"has {len(logs)} logs and {len(labels)} labels", "they go together one by one")
    detector = LinearClassifier.train(
        Example(context_features([turn["text"] for turn in log], _LANGUAGE), "yes" if label["target"] else "no")
        for log, label in zip(logs, labels, strict=True)
    )
    made: list[dict[str, Any]] = []
    for log in _read(folder / "logs.json"):
        context = [turn["text"] for turn in log]
        if detector.predict(context_features(context, _LANGUAGE)) != "yes":
            made.append({"target": False})
            continue
        snippets = knowledge.select(context)
        listed = [{"domain": one.domain, "entity_id": "*" if one.entity == "*" else int(one.entity), "doc_id": int(one.doc)} for one in snippets]
        made.append({"target": True, "knowledge": listed, "response": snippets[0].body})
    content = b"[\n" + b",\n".join(msgspec.json.encode(one) for one in made) + b"\n]\n"
    return Predictions(content, "predictions-dstc9", len(made), f"{len(logs)} instances of {trained_on.name}")


def _folder(gold: Path, split: str, file: str) -> Path:
    """The folder of a split that has a file."""
    hard = split == "test_hard"
    for name in _FOLDERS["test" if hard else split] if hard or split in _FOLDERS else (split,):
        for root in _HARD_ROOTS if hard else _ROOTS:
            if (gold / root / name / file).is_file():
                return gold / root / name
    raise InputError(str(gold), f"has no {file} of {split}", "expected is an output folder, or a data root with train/, val/ or test/")


def _read(path: Path) -> list[Any]:
    try:
        found: list[Any] = msgspec.json.decode(path.read_bytes(), type=list[Any])
        return found
    except (OSError, msgspec.DecodeError) as error:
        raise InputError(str(path), f"is no list of DSTC9's: {error}", "`dialmill validate` tells more") from None
