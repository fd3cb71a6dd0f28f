"""Dialogues, turn by turn: the state by the tracker, labels by the linear classifier, as response what answered the most similar training turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from dialmill.pipelines.baselines.linear import LinearClassifier
from dialmill.pipelines.baselines.rankers import Searcher
from dialmill.pipelines.baselines.tracker import Tracker
from dialmill.pipelines.baselines.trained import labelled_turns, train_classifier
from dialmill.pipelines.core import written
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.predictor import Predictions, Task
from dialmill.pipelines.scoring.soloist import delexicalised
from dialmill.schemas import STANDARD, Dialogue, Turn
from dialmill.schemas.dialogue import SlotValues

#: All parts; or states alone, or labels alone, in the smaller format of labels.
BASELINES: tuple[str, ...] = ("tracker", "classifier")
#: Training dialogues of a suite, at most; files are in the order of a hash, so that the first ones are a random choice.
_MOST = 3000
#: Similar training turns among which one of the same domain is looked for.
_LOOKED_AT = 20


class _Answers(NamedTuple):
    """Training turns to be searched, with the system's answers and the domains of their dialogues."""

    searcher: Searcher
    turns: Sequence[tuple[Turn, tuple[str, ...]]]

    def find(self, text: str, about: set[str]) -> tuple[Turn, tuple[str, ...]]:
        """The answer to the turn most like a text, of a dialogue about one of these domains where there is one among the first."""
        best = [self.turns[place] for place, _ in self.searcher.best([text], _LOOKED_AT)]
        return next((one for one in best if about & set(one[1])), best[0])


class _Models(NamedTuple):
    tracker: Tracker | None
    classifier: LinearClassifier | None
    answers: _Answers | None


def predict(task: Task) -> Predictions:
    """A line for every user turn of the wanted suites: the schema predictions-state, or predictions-labels where the training part has no states."""
    root = task.gold / "dialogues"
    if not root.is_dir():
        raise InputError(str(task.gold), "holds no dialogues/", f"name a folder that `dialmill build {task.benchmark}` made")
    there = sorted((one.name for one in root.iterdir() if one.is_dir()), key=lambda name: (name != STANDARD, name))
    if task.suite is not None and task.suite not in there:
        raise InputError(str(task.gold), f"has no suite {task.suite!r}", f"there are: {', '.join(there)}")
    clean = list(_read(root / STANDARD / "train.jsonl"))
    lines: list[bytes] = []
    states = False
    known: dict[tuple[str, str], _Models] = {}
    for suite in there if task.suite is None else [task.suite]:
        # What a suite alone has (out-of-scope turns, say) is learned from its own training part beside the clean one.
        own = list(_read(root / suite / "train.jsonl")) if suite != STANDARD else []
        if not clean and not own:
            raise InputError(str(root), "holds no training dialogues", "build it with a training part: a baseline learns from it alone")
        path = root / suite / f"{task.split}.jsonl"
        if not path.is_file():
            raise InputError(str(path), "does not exist", "the splits are train, valid, test and test_hard")
        for dialogue in _read(path, most=None):
            key = (suite if own else "", dialogue.language)
            if key not in known:
                known[key] = _train([*clean, *own], dialogue.language, task.baseline)
            states = states or known[key].tracker is not None
            lines += [msgspec.json.encode(line) for line in _predicted(dialogue, known[key])]
    schema = "predictions-state" if states else "predictions-labels"
    return Predictions(b"".join(line + b"\n" for line in lines), schema, len(lines), f"{len(clean)} dialogues of {STANDARD}/train")


def _read(path: Path, most: int | None = _MOST) -> Iterator[Dialogue]:
    if not path.is_file():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if most is not None and number > most:
                return
            yield written.record(path, number, line)


def _train(dialogues: Sequence[Dialogue], language: str, baseline: str) -> _Models:
    mine = [one for one in dialogues if one.language == language]
    states = baseline == "tracker" and any(turn.state for one in mine for turn in one.turns)
    return _Models(
        Tracker.train([one for one in mine if one.suite == STANDARD] or mine, language) if states else None,
        train_classifier(mine),
        _answers(mine, language) if states else None,
    )


def _answers(dialogues: Iterable[Dialogue], language: str) -> _Answers | None:
    texts: list[str] = []
    turns: list[tuple[Turn, tuple[str, ...]]] = []
    for dialogue in dialogues:
        for turn, answer in zip(dialogue.turns, dialogue.turns[1:], strict=False):
            if turn.speaker == "user" and answer.speaker == "system":
                texts.append(turn.utterance)
                turns.append((answer, dialogue.domains))
    return _Answers(Searcher(texts, language), turns) if texts else None


def _predicted(dialogue: Dialogue, models: _Models) -> Iterator[dict[str, Any]]:
    states = models.tracker.states(dialogue) if models.tracker is not None else {}
    before: Sequence[SlotValues] = ()
    about: set[str] = set()  # the domains that came into the state last
    for turn, features in labelled_turns(dialogue):
        line: dict[str, Any] = {"dialogue_id": dialogue.dialogue_id, "turn": turn.turn}
        if models.tracker is not None:
            line["state"] = [{"domain": cell.domain, "slot": cell.slot, "values": list(cell.values)} for cell in states[turn.turn]]
        if models.classifier is not None or models.tracker is None:
            said = models.classifier.predict(features) if models.classifier is not None else ""
            line["labels"] = [label for label in said.split("|") if label]
        if models.answers is not None:
            about = {cell.domain for cell in states.get(turn.turn, ())} - {cell.domain for cell in before} or about
            before = states.get(turn.turn, ())
            answer, domains = models.answers.find(turn.utterance, about)
            line["response"] = answer.utterance
            line["delexicalised"] = delexicalised(answer, domains)
            line["acts"] = [{"act": act.act, "domain": act.domain, "slot": act.slot, "value": act.value} for act in answer.acts]
        yield line
