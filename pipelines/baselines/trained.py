"""What the training split teaches a build: light baselines that say which test dialogues are easy, and how common each word is.

`TrainedBaselines` is trained once a run, from a bounded sample of the training split, and travels to the workers as one file.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from dialmill.perturbers.core.tokens import tokens
from dialmill.pipelines.baselines.linear import Example, LinearClassifier, context_features
from dialmill.pipelines.baselines.ontology import Slot, canonical
from dialmill.pipelines.baselines.rankers import Frequencies
from dialmill.pipelines.baselines.tracker import Tracker
from dialmill.pipelines.core.recipe import BUILT_IN
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import INSERTED

#: Each predicts what there are labels for: belief states, and labels of turns.
TRACKER, CLASSIFIER = BUILT_IN


class Mistake(NamedTuple):
    """A user turn that a baseline got wrong, and what of it."""

    turn: int
    what: tuple[str, ...]


class Prediction(msgspec.Struct, array_like=True):
    """What a user's own model says of a turn; null where it says nothing."""

    state: list[tuple[str, str, list[str]]] | None = None
    labels: list[str] | None = None


#: Dialogue id -> turn -> prediction.
Predictions = dict[str, dict[int, Prediction]]


class Packed(msgspec.Struct):
    """`TrainedBaselines` as they travel."""

    few: dict[str, tuple[int, str]] = {}  #: group -> the (rank, source id) of the last few-shot dialogue
    trackers: dict[str, bytes] = {}
    classifiers: dict[str, bytes] = {}
    frequencies: dict[str, Frequencies] = {}
    predictions: dict[str, Predictions] = {}


def wrong_slots(gold: Mapping[Slot, Sequence[str]], predicted: Mapping[Slot, str]) -> tuple[str, ...]:
    """The slots in which a predicted state differs from the gold one, which may accept several values; sorted."""
    slots = gold.keys() | predicted.keys()
    return tuple(f"{slot[0]} {slot[1]}" for slot in sorted(slots) if predicted.get(slot, "") not in gold.get(slot, ("",)))


def gold_state(turn: Turn) -> dict[Slot, list[str]]:
    """The state of a turn, every accepted value of a slot in its canonical form."""
    return {(cell.domain, cell.slot): [canonical(value) for value in cell.values] for cell in turn.state if cell.values}


def turn_class(turn: Turn) -> str:
    """The labels of a turn as one class, "" for none."""
    return "|".join(sorted(set(turn.labels) - {INSERTED}))


def labelled_turns(dialogue: Dialogue) -> Iterable[tuple[Turn, tuple[str, ...]]]:
    """Every user turn with the features of its context."""
    said: list[str] = []
    for turn in dialogue.turns:
        said.append(turn.utterance)
        if turn.speaker == "user":
            yield turn, context_features(said[-2:], dialogue.language)


def train_classifier(dialogues: Sequence[Dialogue]) -> LinearClassifier | None:
    """A classifier of the labels of user turns; None where no turn has any."""
    examples = [Example(features, turn_class(turn)) for dialogue in dialogues for turn, features in labelled_turns(dialogue)]
    if not any(example.label for example in examples):
        return None
    return LinearClassifier.train(examples)


class TrainedBaselines:
    """The trained baselines of a run.

    Args:
        packed: what was trained.
        wanted: the names of the baselines to use: built-in ones, and the paths of prediction files.
    """

    def __init__(self, packed: Packed, wanted: Sequence[str]) -> None:
        self.few = packed.few
        self.frequencies = packed.frequencies
        self.predictions = {path: found for path, found in packed.predictions.items() if path in wanted}
        self._trackers = {language: Tracker.unpack(data) for language, data in packed.trackers.items() if TRACKER in wanted}
        self._classifiers = {language: LinearClassifier.unpack(data) for language, data in packed.classifiers.items() if CLASSIFIER in wanted}

    @classmethod
    def train(cls, dialogues: Iterable[Dialogue], wanted: Sequence[str], few: dict[str, tuple[int, str]], given: dict[str, Predictions]) -> bytes:
        """What training dialogues teach, as bytes that `load` reads; equal for equal dialogues in any order."""
        languages: dict[str, list[Dialogue]] = {}
        for dialogue in dialogues:
            languages.setdefault(dialogue.language, []).append(dialogue)
        packed = Packed(few=few, predictions=given)
        for language, mine in sorted(languages.items()):
            mine.sort(key=lambda one: one.source_id)
            common = packed.frequencies[language] = Frequencies()
            for dialogue in mine:
                for turn in dialogue.turns:
                    common.add({turn.utterance[start:end].lower() for start, end in tokens(turn.utterance, language)})
            common.terms = dict(sorted(common.terms.items()))
            if TRACKER in wanted and any(turn.state for dialogue in mine for turn in dialogue.turns):
                packed.trackers[language] = Tracker.train(mine, language).pack()
            classifier = train_classifier(mine) if CLASSIFIER in wanted else None
            if classifier is not None:
                packed.classifiers[language] = classifier.pack()
        return zlib.compress(msgspec.msgpack.encode(packed), 1)

    @classmethod
    def load(cls, data: bytes, wanted: Sequence[str]) -> TrainedBaselines:
        """Inverse of `train`."""
        return cls(msgspec.msgpack.decode(zlib.decompress(data), type=Packed), wanted)

    def names(self, language: str) -> list[str]:
        """The baselines that can predict the labels of dialogues of a language."""
        built_in = ((TRACKER, self._trackers), (CLASSIFIER, self._classifiers))
        return [name for name, models in built_in if language in models] + sorted(self.predictions)

    def mistakes(self, name: str, dialogue: Dialogue) -> list[Mistake] | None:
        """The user turns that a baseline gets wrong; None where it says nothing of the dialogue."""
        if name == TRACKER:
            return self._tracked(self._trackers[dialogue.language], dialogue)
        if name == CLASSIFIER:
            classifier = self._classifiers[dialogue.language]
            found = []
            for turn, features in labelled_turns(dialogue):
                said = classifier.predict(features)
                if said != turn_class(turn):
                    found.append(Mistake(turn.turn, (turn_class(turn) or "no label",)))
            return found
        given = self.predictions[name].get(dialogue.dialogue_id)
        return None if given is None else _compared(given, dialogue)

    @staticmethod
    def _tracked(tracker: Tracker, dialogue: Dialogue) -> list[Mistake]:
        predicted = tracker.predict(dialogue)
        states = ((turn, wrong_slots(gold_state(turn), predicted[turn.turn])) for turn in dialogue.turns if turn.speaker == "user")
        return [Mistake(turn.turn, slots) for turn, slots in states if slots]


def _compared(given: dict[int, Prediction], dialogue: Dialogue) -> list[Mistake]:
    found = []
    for turn in dialogue.turns:
        said = given.get(turn.turn)
        if turn.speaker != "user" or said is None:
            continue
        what: tuple[str, ...] = ()
        if said.state is not None:
            what += wrong_slots(gold_state(turn), {(domain, slot): canonical(values[0]) for domain, slot, values in said.state if values})
        if said.labels is not None and set(said.labels) != set(turn.labels) - {INSERTED}:
            what += (turn_class(turn) or "no label",)
        if what:
            found.append(Mistake(turn.turn, what))
    return found


@lru_cache(maxsize=2)
def open_baselines(path: str, wanted: tuple[str, ...]) -> TrainedBaselines:
    """The trained baselines in a file, loaded once for each process."""
    from dialmill.pipelines.core import files

    return TrainedBaselines.load(files.read_bytes(path), wanted)


def read_predictions(path: str, data: bytes) -> Predictions:
    """A user's prediction file: JSON lines of the schema predictions-state or predictions-labels.

    Raises:
        InputError: a line is of neither schema; the message has its number, what is wrong and the remedy.
    """
    from dialmill.pipelines.core.errors import InputError
    from dialmill.schemas.records import validate_line

    found: Predictions = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        schema = "predictions-state" if b'"state"' in line else "predictions-labels"
        problems = validate_line(schema, line)
        if problems:
            raise InputError(f"{path}, line {number}", f"is no prediction: {problems[0]}", f"see the schema {schema}")
        record: dict[str, Any] = msgspec.json.decode(line)
        state = [(cell["domain"], cell["slot"], cell["values"]) for cell in record["state"]] if "state" in record else None
        found.setdefault(record["dialogue_id"], {})[record["turn"]] = Prediction(state, record.get("labels"))
    return found
