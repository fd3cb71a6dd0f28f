"""DSTC9 Track 4, SIMMC: a light baseline of all four tasks, which learns from the release's training file and sees no label of the others.

Acts, requested slots and the assistant's actions by linear classifiers of the words, values by the surfaces that training turns have, the response to
the most similar training turn, candidates by common words with the context. It sees no scene: it names no object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from dialmill.pipelines.baselines.linear import Example, LinearClassifier, context_features
from dialmill.pipelines.baselines.rankers import RANKERS, Ranker, Searcher, ranker
from dialmill.pipelines.benchmarks.simmc.gold import Gold, GoldTurn
from dialmill.pipelines.benchmarks.simmc.kinds import PREDICTIONS
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.predictor import Predictions, Task
from dialmill.pipelines.sources import simmc_words
from dialmill.schemas.dialogue import STANDARD

#: How candidates are ranked.
BASELINES: tuple[str, ...] = ("tfidf", *sorted(set(RANKERS) - {"tfidf"}))
_LANGUAGE = "en"
#: Texts of the context that classifiers see.
_SEEN = 2
#: Acts that go on with the search before them, and keep its values.
_GOES_ON = "refine"
#: Training turns at most; files are in the order of a hash, so that the first ones are a random choice.
_MOST = 20_000


class _Models:
    """What is learned of the training turns."""

    def __init__(self, turns: Sequence[GoldTurn], baseline: str) -> None:
        known = [(turn, turn.frames[0]) for turn in turns if turn.frames]
        features = {id(turn): _features(turn) for turn in turns}
        self.act = LinearClassifier.train(Example(features[id(turn)], right.act or "") for turn, right in known)
        self.requests = LinearClassifier.train(Example(features[id(turn)], "|".join(sorted(right.requests))) for turn, right in known)
        called = [turn for turn in turns if turn.call is not None]
        self.action = LinearClassifier.train(Example(features[id(turn)], str((turn.call or {})["action"])) for turn in called)
        self.values = sorted({tuple(pair.split("=", 1)) for _, right in known for pair in right.slots})
        answered = [turn for turn in turns if turn.response]
        self.responses = [str(turn.response) for turn in answered]
        self.searcher = Searcher([turn.context[-1] for turn in answered], _LANGUAGE)
        self.ranker: Ranker = ranker(baseline).fit(self.responses, _LANGUAGE)


def predict(task: Task) -> Predictions:
    """A list of dialogues with all that is predicted of them: the schema predictions-simmc."""
    gold = Gold(str(task.gold), task.split)
    training = Gold(str(task.gold), "train").turns(STANDARD)[:_MOST]
    suites = gold.suites() if task.suite is None else [task.suite]
    models = _Models(training, task.baseline)
    if not training:
        raise InputError(str(task.gold), "holds no training dialogues", "build it with a training part: a baseline learns from it alone")
    made: list[dict[str, Any]] = []
    for suite in suites:
        by_dialogue: dict[str, list[GoldTurn]] = {}
        for turn in gold.turns(suite):
            by_dialogue.setdefault(turn.dialogue, []).append(turn)
        made += [_dialogue(name, suite, turns, models) for name, turns in by_dialogue.items()]
    content = b"[\n" + b",\n".join(msgspec.json.encode(one) for one in made) + b"\n]\n"
    return Predictions(content, PREDICTIONS, len(made), f"{len(training):,} training turns")


def _features(turn: GoldTurn) -> tuple[str, ...]:
    return context_features(turn.context[-_SEEN:], _LANGUAGE)


def _dialogue(name: str, suite: str, turns: Sequence[GoldTurn], models: _Models) -> dict[str, Any]:
    predictions, scores, states = [], [], []
    before: Mapping[str, str] = {}
    for turn in turns:
        features = _features(turn)
        act = models.act.predict(features)
        slots = _values(turn.context[-1], models.values)
        before = {**before, **slots} if _GOES_ON in act.lower() else slots
        requests = [slot for slot in models.requests.predict(features).split("|") if slot]
        states.append({"turn_id": turn.number, "frames": [{"act": act, "slots": list(before.items()), "request_slots": requests, "objects": []}]})
        attributes: dict[str, Any] = {**before, **({"request_slots": requests} if requests else {})}
        predictions.append(
            {
                "turn_id": turn.number,
                "action": models.action.predict(features),
                "attributes": attributes,
                "response": _response(turn.context[-1:], models),
            }
        )
        if turn.candidates:
            ranked = models.ranker.rank(turn.context, turn.candidates, _LANGUAGE)
            scores.append({"turn_id": turn.number, "scores": [round(score, 6) for score in ranked]})
    return {"dialog_id": name, "suite": suite, "predictions": predictions, "candidate_scores": scores, "states": states}


def _response(context: Sequence[str], models: _Models) -> str:
    best = models.searcher.best(context, 1)
    return models.responses[best[0][0]] if best else ""


def _values(text: str, known: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """The values of training turns that a text shows, the longest first, one a slot."""
    found: dict[str, str] = {}
    taken: list[tuple[int, int]] = []
    for slot, value in sorted(known, key=lambda pair: (-len(pair[1]), pair)):
        if slot in found:
            continue
        place = simmc_words.find(text, slot, value, taken)
        if place is not None:
            found[slot] = value
            taken.append(place)
    return found
