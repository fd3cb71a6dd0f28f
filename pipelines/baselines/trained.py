"""What the light baselines of `dialmill predict-baseline` share: the states they are compared with, and the classifier of turn labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dialmill.pipelines.baselines.linear import Example, LinearClassifier, context_features
from dialmill.pipelines.baselines.ontology import Slot, canonical
from dialmill.pipelines.baselines.panel.seen import turn_class
from dialmill.schemas import Dialogue, Turn


def wrong_slots(gold: Mapping[Slot, Sequence[str]], predicted: Mapping[Slot, str]) -> tuple[str, ...]:
    """The slots in which a predicted state differs from the gold one, which may accept several values; sorted."""
    slots = gold.keys() | predicted.keys()
    return tuple(f"{slot[0]} {slot[1]}" for slot in sorted(slots) if predicted.get(slot, "") not in gold.get(slot, ("",)))


def gold_state(turn: Turn) -> dict[Slot, list[str]]:
    """The state of a turn, every accepted value of a slot in its canonical form."""
    return {(cell.domain, cell.slot): [canonical(value) for value in cell.values] for cell in turn.state if cell.values}


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
