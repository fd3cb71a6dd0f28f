"""A state tracker that matches values and learns what to do with them.

A value of the ontology that stands in the user's turn, or that the system offered just before, is a mention; so is a value that another domain's slot
holds ("a taxi to the hotel"). A linear model gives each mention to a slot or to none, decides which values that no words spell (yes, no, no
preference) come in, and which domain the turn is about. It is trained on dialogues with states alone, of any source, in any language that the
matcher knows; utterances are all it sees.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.surfaces import slot_name
from dialmill.pipelines.baselines.linear import Vocabulary, Weights, pack_arrays, unpack_arrays
from dialmill.pipelines.baselines.ontology import Mention, Ontology, Slot, canonical
from dialmill.schemas import Dialogue, SlotValues
from numpy.typing import NDArray

State = dict[Slot, str]
_NONE: Slot = ("", "")
#: What a class-relative feature looks at: whether the slot's domain is the one talked about, or before; what the slot holds; and how the value fits.
_RELATIVE = (
    "slot",
    "domain is the turn's",
    "domain was the last one's",
    "domain is in the state",
    "empty",
    "holds this",
    "holds another",
    "name is in the user's turn",
    "name is in the system's turn",
    "value never seen here",
    "value seldom here",
    "value often here",
    "only slot of the domain",
)
_EPOCHS = 6
_MARGIN = 30
#: Words this far from a mention have a place.
_WINDOW = 4


class Decision(NamedTuple):
    """One choice among some classes (the first is "none"): features common to them, and the relative features of each."""

    classes: NDArray[np.int64]
    features: list[str]
    relative: NDArray[np.int64]
    #: What each class brings into the state, "" for none.
    values: list[str]


class Turns(NamedTuple):
    """What a tracker sees at a user turn: the units of the user's and the system's utterance, and the mentions in them."""

    user: list[str]
    system: list[str]
    said: list[Mention]
    offered: list[Mention]


class Tracker:
    """The tracker of one language. `predict` gives the state after each user turn."""

    def __init__(
        self,
        ontology: Ontology,
        classes: Sequence[tuple[Slot, str]],
        domains: Sequence[str],
        vocabulary: Vocabulary,
        weights: Sequence[NDArray[np.int64]],
    ) -> None:
        self.ontology = ontology
        #: (slot, "") for a slot that takes mentions, (slot, value) for a value that no words spell; the first is none.
        self.classes = list(classes)
        self.domains = list(domains)
        self.vocabulary = vocabulary
        self.weights, self.relative, self.topic = weights
        self._number = {one: number for number, one in enumerate(self.classes)}

    # What is seen.

    def _see(self, dialogue: Dialogue) -> list[tuple[int, Turns]]:
        """(turn number, what is seen) of each user turn."""
        system: list[str] = []
        offered: list[Mention] = []
        found = []
        for turn in dialogue.turns:
            units, mentions = self.ontology.find(turn.utterance)
            if turn.speaker == "system":
                system, offered = units, mentions
            else:
                found.append((turn.turn, Turns(units, system, mentions, offered)))
        return found

    def _topic_features(self, seen: Turns, last: str) -> list[str]:
        names = [f"u {unit}" for unit in seen.user] + [f"s {unit}" for unit in seen.system]
        names += [f"p {one} {other}" for one, other in zip(seen.user, seen.user[1:], strict=False)]
        names += [f"v {mention.kind} {slot[0]}" for mention in seen.said for slot in mention.values]
        return sorted({*names, f"last {last}"})

    def _decisions(self, seen: Turns, state: State, topic: str, last: str) -> list[Decision]:
        """What there is to decide at a turn."""
        bag = [f"u {unit}" for unit in seen.user]
        asked = [f"s {unit}" for unit in seen.system[-12:]]
        pairs = [f"p {one} {other}" for one, other in zip(["<", *seen.user], [*seen.user, ">"], strict=True)]
        here = {*seen.user}
        there = {*seen.system}
        frame = _Frame(state, topic, last, here, there)
        found = []
        for kind, units, mentions in (("said", seen.user, seen.said), ("offered", seen.system, seen.offered)):
            for mention in mentions:
                window = [f"{kind} l{place} {unit}" for place, unit in enumerate(reversed(units[max(0, mention.first - _WINDOW) : mention.first]))]
                window += [f"{kind} r{place} {unit}" for place, unit in enumerate(units[mention.last : mention.last + _WINDOW])]
                more = [f"{kind} {one}" for one in (*bag, *(asked if kind == "said" else pairs))]
                several = min(sum(one.kind == mention.kind for one in mentions), 3)
                names = [*window, *more, f"{kind} key {mention.key}", f"{kind} kind {mention.kind}", f"{kind} several {several}"]
                found.append(self._decision(frame, mention.values, [*names, f"{kind} topic {topic}"]))
        carried = {value: self.ontology.takers(slot, value) for slot, value in sorted(state.items()) if slot[0] != topic}
        for value, slots in carried.items():
            taking = {slot: value for slot in slots if slot[0] == topic and slot not in state}
            holders = [f"held {slot[0]} {slot[1]}" for slot, held in sorted(state.items()) if held == value]
            if taking:
                found.append(self._decision(frame, taking, [*(f"held {one}" for one in (*bag, *pairs)), *holders]))
        for slot, values in self.ontology.silent.items():
            if slot[0] == topic:
                names = [f"{slot[0]} {slot[1]} {one}" for one in (*bag, *pairs, *asked)]
                held = "empty" if slot not in state else f"holds {state[slot]}"
                found.append(self._decision(frame, {slot: ""}, [*names, f"{slot[0]} {slot[1]} {held}"], values))
        return found

    def _decision(self, frame: _Frame, values: dict[Slot, str], names: list[str], silent: Sequence[str] = ()) -> Decision:
        options = [(slot, value) for slot in values for value in silent] if silent else list(values.items())
        keys = [(slot, value if silent else "") for slot, value in options]
        kept = [(key, option) for key, option in zip(keys, options, strict=True) if key in self._number]
        domains = [slot[0] for (slot, _), _ in kept]
        relative = np.zeros((len(kept) + 1, len(_RELATIVE)), dtype=np.int64)
        for row, ((slot, _), (_, value)) in enumerate(kept, 1):
            relative[row] = frame.relative(slot, value, self.ontology.counts[slot].get(value, 0), domains.count(slot[0]) == 1)
        return Decision(
            np.array([0, *(self._number[key] for key, _ in kept)]), sorted(set(names)), relative, ["", *(value for _, (_, value) in kept)]
        )

    def predict(self, dialogue: Dialogue) -> dict[int, State]:
        """The state after each user turn, by turn number."""
        state: State = {}
        last = ""
        found: dict[int, State] = {}
        for number, seen in self._see(dialogue):
            ids = self.vocabulary.ids(self._topic_features(seen, last))
            scores = self.topic[:, ids].sum(axis=1)
            topic = self.domains[int(scores.argmax())] if self.domains else ""
            chosen: dict[Slot, tuple[int, str]] = {}
            for decision in self._decisions(seen, state, topic, last):
                if len(decision.classes) < 2:
                    continue
                scored = _score(self.weights, self.relative, decision, self.vocabulary.ids(decision.features))
                best = int(scored.argmax())
                if best:
                    slot = self.classes[decision.classes[best]][0]
                    lead = int(scored[best] - scored[0])
                    if slot not in chosen or lead > chosen[slot][0]:
                        chosen[slot] = (lead, decision.values[best])
            state = {**state, **{slot: value for slot, (_, value) in chosen.items()}}
            last = topic
            found[number] = state
        return found

    def states(self, dialogue: Dialogue) -> dict[int, tuple[SlotValues, ...]]:
        """`predict` in the form of the record."""
        return {
            number: tuple(SlotValues(domain, slot, (value,)) for (domain, slot), value in sorted(state.items()))
            for number, state in self.predict(dialogue).items()
        }

    @classmethod
    def train(cls, dialogues: Iterable[Dialogue], language: str) -> Tracker:
        """A tracker from the dialogues of one language, in whatever order they come."""
        ordered = sorted((one for one in dialogues if one.language == language), key=lambda one: (one.source_id, one.dialogue_id))
        ontology = Ontology.learn(ordered, language)
        classes: list[tuple[Slot, str]] = [(_NONE, "")]
        for slot, values in sorted(ontology.counts.items()):
            if set(values) - set(ontology.silent.get(slot, ())):
                classes.append((slot, ""))
            classes += [(slot, value) for value in sorted(ontology.silent.get(slot, ()))]
        domains = sorted({slot[0] for slot in ontology.counts})
        empty = np.zeros((0, 0), dtype=np.int64)
        tracker = cls(ontology, classes, domains, Vocabulary([]), (empty, empty, empty))
        topics, decisions = tracker._training_sample(ordered)
        least = 2 if len(ordered) >= 50 else 1
        vocabulary = Vocabulary.of([*(names for names, _ in topics), *(one.features for one, _ in decisions)], least)
        tracker.vocabulary = vocabulary
        tracker.topic = _learn_topics([(vocabulary.ids(names), domains.index(topic)) for names, topic in topics], len(domains), len(vocabulary.names))
        tracker.weights, tracker.relative = _learn(decisions, vocabulary, len(classes))
        return tracker

    def _training_sample(self, dialogues: Sequence[Dialogue]) -> tuple[list[tuple[list[str], str]], list[tuple[Decision, int]]]:
        """The decisions of training dialogues, with what was right: (features, domain) and (decision, place of the right class)."""
        topics: list[tuple[list[str], str]] = []
        decisions: list[tuple[Decision, int]] = []
        for dialogue in dialogues:
            state: State = {}
            last = ""
            for number, seen in self._see(dialogue):
                turn = dialogue.turns[number]
                now = {(cell.domain, cell.slot): canonical(cell.values[0]) for cell in turn.state if cell.values}
                new = {slot: value for slot, value in now.items() if state.get(slot) != value}
                topic = _topic(new, last, dialogue, self.domains)
                if topic:
                    topics.append((self._topic_features(seen, last), topic))
                given: set[Slot] = set()
                for decision in self._decisions(seen, state, topic, last):
                    if len(decision.classes) < 2:
                        continue
                    right = self._right(decision, new, now, given)
                    if right:
                        given.add(self.classes[decision.classes[right]][0])
                    decisions.append((decision, right))
                state, last = now, topic or last
        return topics, decisions

    def _right(self, decision: Decision, new: State, now: State, given: set[Slot]) -> int:
        """The place of the right class: a slot that just came to this value, else one that holds it, else none."""
        for wanted in (new, now):
            for place, number in enumerate(decision.classes[1:].tolist(), 1):
                slot, silent = self.classes[number]
                if slot not in given and wanted.get(slot) == decision.values[place] and (wanted is new or not silent):
                    return place
        return 0

    def pack(self) -> bytes:
        """The model as bytes, equal for equal models."""
        counts = [(list(slot), sorted(values.items())) for slot, values in sorted(self.ontology.counts.items())]
        classes = [(list(slot), value) for slot, value in self.classes]
        plain = [self.ontology.language, counts, classes, self.domains, list(self.vocabulary.names)]
        return pack_arrays(plain, [self.weights, self.relative, self.topic])

    @classmethod
    def unpack(cls, data: bytes) -> Tracker:
        """Inverse of `pack`."""
        (language, counts, classes, domains, names), weights = unpack_arrays(data)
        ontology = Ontology(language, {(slot[0], slot[1]): dict(values) for slot, values in counts})
        return cls(ontology, [((slot[0], slot[1]), value) for slot, value in classes], domains, Vocabulary(names), weights)


class _Frame(NamedTuple):
    """What the relative features of a class depend on besides the class."""

    state: State
    topic: str
    last: str
    user: set[str]
    system: set[str]

    def relative(self, slot: Slot, value: str, count: int, only: bool) -> list[int]:
        held = self.state.get(slot)
        parts = slot_name(slot[1]).split()
        return [
            1,
            slot[0] == self.topic,
            slot[0] == self.last,
            any(other[0] == slot[0] for other in self.state),
            held is None,
            held == value,
            held is not None and held != value,
            any(part in self.user for part in parts),
            any(part in self.system for part in parts),
            count == 0,
            0 < count < 5,
            count >= 5,
            only,
        ]


def _topic(new: State, last: str, dialogue: Dialogue, domains: Sequence[str]) -> str:
    """The domain of a training turn: that of most of what came in, else the one before, else the dialogue's first."""
    if new:
        counts: dict[str, int] = {}
        for slot in sorted(new):
            counts[slot[0]] = counts.get(slot[0], 0) + 1 + (slot[0] != last)
        return max(sorted(counts), key=lambda name: counts[name])
    return last or next((name for name in dialogue.domains if name in domains), "")


def _score(weights: NDArray[np.int64], relative: NDArray[np.int64], decision: Decision, ids: NDArray[np.int32]) -> NDArray[np.int64]:
    """The score of each class of a decision. The last row of `relative` is shared by all classes."""
    rows = decision.classes
    own = relative[rows]
    own += relative[-1]
    own *= decision.relative
    found: NDArray[np.int64] = np.add.reduce(weights[rows[:, None], ids], 1)
    found += np.add.reduce(own, 1)
    return found


def _learn(decisions: Sequence[tuple[Decision, int]], vocabulary: Vocabulary, classes: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The averaged weights of features and of relative features."""
    plain, relative = Weights(classes, len(vocabulary.names)), Weights(classes + 1, len(_RELATIVE))
    ids = [vocabulary.ids(one.features) for one, _ in decisions]
    order = list(range(len(decisions)))
    for epoch in range(_EPOCHS):
        Rng("tracker", epoch, len(order)).shuffle(order)
        for at in order:
            decision, right = decisions[at]
            scores = _score(plain.now, relative.now, decision, ids[at])
            scores[right] -= _MARGIN
            best = int(scores.argmax())
            if best != right:
                for place, amount in ((right, 1), (best, -1)):
                    row = int(decision.classes[place])
                    plain.add(row, ids[at], amount)
                    for target in (row, classes):
                        relative.add_row(target, decision.relative[place] * amount)
            plain.steps += 1
            relative.steps += 1
    return plain.average(), relative.average()


def _learn_topics(sample: Sequence[tuple[NDArray[np.int32], int]], classes: int, features: int) -> NDArray[np.int64]:
    """The averaged weights of the domain of a turn."""
    weights = Weights(classes, features)
    order = list(range(len(sample)))
    for epoch in range(_EPOCHS):
        Rng("topic", epoch, len(order)).shuffle(order)
        for at in order:
            ids, right = sample[at]
            scores = weights.now[:, ids].sum(axis=1)
            scores[right] -= _MARGIN
            best = int(scores.argmax())
            if best != right:
                weights.add(right, ids, 1)
                weights.add(best, ids, -1)
            weights.steps += 1
    return weights.average()
