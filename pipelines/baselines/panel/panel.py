"""The contract of a panel: several kinds of baselines for one task, trained apart, whose verdicts `choice` makes a hard set of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import msgspec
from dialmill.pipelines.baselines.panel.choice import EQUAL, ONE, Unit, length_step
from dialmill.pipelines.baselines.panel.given import Predictions, given_guesses
from dialmill.pipelines.baselines.panel.kind import TurnKind
from dialmill.pipelines.baselines.panel.seen import ACTS, LABEL, UPDATE, Task, tasks, wrong_slots
from dialmill.pipelines.baselines.panel.turns import KINDS, carried
from dialmill.schemas import Dialogue

#: The figure of states that a baseline's own guesses lead to.
JOINT = "jga"
#: The tenths of the say that the unperturbed text of a dialogue has in what is hard in its perturbed one. With a half, another draw of a paraphrase,
#: of typos or of speech makes another set too often; where the perturbation puts in other values, the unperturbed text tells less of them.
CLEAN, CLEAN_OF_OTHER_VALUES = 7, 3


class Missed(msgspec.Struct, array_like=True, frozen=True):
    """What some kinds get wrong at a turn: the aspect, what of it ("hotel area"), and their names."""

    turn: int
    aspect: str
    what: str
    kinds: tuple[str, ...]


class Verdict(msgspec.Struct, array_like=True, frozen=True):
    """What a panel says of a unit of a record.

    Args:
        turn: the turn that is the unit; None for the whole record.
        stratum, turns, length, errors, sums: as a `Unit` has them.
        missed: what was missed, for reasons.
        doubtful: turns that were left out because their labels contradict each other.
        unanswerable: whether no kind can answer it, so that it is no test of anything.
        missed_clean: what was missed of the unperturbed text, where that alone is what makes it hard.
    """

    turn: int | None
    stratum: str
    turns: int
    length: int
    errors: dict[str, dict[str, int]]
    sums: dict[str, dict[str, int]]
    missed: tuple[Missed, ...] = ()
    doubtful: int = 0
    unanswerable: bool = False
    missed_clean: tuple[Missed, ...] = ()

    def beside(self, clean: Verdict | None) -> Verdict:
        """The verdict with the reasons of the unperturbed text, where most kinds miss nothing of the perturbed one."""
        kinds = len(self.errors)
        if clean is None or any(2 * len(one.kinds) > kinds for one in self.missed):
            return self
        return msgspec.structs.replace(self, missed_clean=clean.missed)

    def unit(self, record_id: str, clean: Verdict | None, tenths: int = CLEAN) -> Unit:
        """The verdict as a unit of the choice; with the verdict of the unperturbed text, which then has so many tenths of the say."""
        errors = self.errors if clean is None else _mixed(self.errors, clean.errors, tenths)
        return Unit(unit_id(record_id, self.turn), self.stratum, self.turns, self.length, errors, self.sums)


def unit_id(record_id: str, turn: int | None) -> str:
    """The name of a record, or of one turn of it."""
    return record_id if turn is None else f"{record_id}#{turn}"


def tenths_of(record: Dialogue, standard: Dialogue) -> int:
    """How much say the unperturbed text has in what is hard in a perturbed one: less where the values that are to be told are other ones."""
    cells = ({cell for turn in one.turns if turn.speaker == "user" for cell in turn.state} for one in (record, standard))
    return CLEAN if next(cells) == next(cells) else CLEAN_OF_OTHER_VALUES


def _mixed(own: Mapping[str, Mapping[str, int]], clean: Mapping[str, Mapping[str, int]], tenths: int) -> dict[str, dict[str, int]]:
    """The weighted means of the errors in two texts; those in one where the other has none."""
    return {
        kind: {aspect: (error * (10 - tenths) + clean.get(kind, {}).get(aspect, error) * tenths) // 10 for aspect, error in aspects.items()}
        for kind, aspects in own.items()
    }


class Panel(ABC):
    """Several kinds of baselines for one task. Without state: what was trained is handed to `judge`."""

    #: Kind -> family: kinds that work alike count as one, and are left out together.
    families: ClassVar[Mapping[str, str]]
    #: Below so many units the check of the hard set has no power.
    least: ClassVar[int]
    #: Whether prediction files of the user's can join in.
    takes_predictions: ClassVar[bool] = False
    #: Aspect -> how often it counts, once where it isn't named.
    weights: ClassVar[Mapping[str, int]] = EQUAL
    #: Whether the unperturbed text of a dialogue has a say in what is hard in its perturbed one.
    asks_clean: ClassVar[bool] = True

    @abstractmethod
    def train(self, kind: str, dialogues: Sequence[Dialogue], language: str, pool: Sequence[Any] = ()) -> bytes | None:
        """A kind trained on the dialogues of one language, sorted by id; None where they teach it nothing.

        Args:
            pool: what is chosen from, where that is the same for all turns (`Benchmark.judged_pool`).
        """

    @abstractmethod
    def load(self, kind: str, data: bytes) -> Any:
        """Inverse of `train`."""

    @abstractmethod
    def judge(self, models: Mapping[str, Any], record: Dialogue, turns: Sequence[int] | None = None) -> list[Verdict]:
        """The verdicts on the units of a record.

        Args:
            models: kind -> what `load` gave, or the user's `Predictions` by their path.
            turns: the turns that matter, where units are turns; None for all.
        """

    @abstractmethod
    def measure(self, sums: Mapping[str, int]) -> Mapping[str, float]:
        """The figures of a kind from sums over units."""


class NoPanel(Panel):
    """No baselines."""

    families: ClassVar[Mapping[str, str]] = {}
    least = 1

    def train(self, kind: str, dialogues: Sequence[Dialogue], language: str, pool: Sequence[Any] = ()) -> bytes | None:
        return None

    def load(self, kind: str, data: bytes) -> Any:
        raise KeyError(kind)

    def judge(self, models: Mapping[str, Any], record: Dialogue, turns: Sequence[int] | None = None) -> list[Verdict]:
        return []

    def measure(self, sums: Mapping[str, int]) -> Mapping[str, float]:
        return {}


class TurnPanel(Panel):
    """Belief states, acts and labels of user turns; the unit is the record."""

    families: ClassVar[Mapping[str, str]] = {name: name for name in KINDS}
    # States are scored as a whole: where updates count no more than acts do, sets are less hard by joint goal accuracy.
    weights: ClassVar[Mapping[str, int]] = {UPDATE: 5, ACTS: 4, LABEL: 4}
    least = 200
    takes_predictions = True

    def train(self, kind: str, dialogues: Sequence[Dialogue], language: str, pool: Sequence[Any] = ()) -> bytes | None:
        found = [task for dialogue in dialogues for task in tasks(dialogue)]
        if not any(task.right.changed or task.right.acts or task.right.label for task in found):
            return None
        return KINDS[kind].train(found, language).pack()

    def load(self, kind: str, data: bytes) -> TurnKind:
        return KINDS[kind].unpack(data)

    def judge(self, models: Mapping[str, Any], record: Dialogue, turns: Sequence[int] | None = None) -> list[Verdict]:
        known = {slot for model in models.values() if isinstance(model, TurnKind) for slot in model.finder.counts}
        found = list(tasks(record, known))
        sound = [task for task in found if not task.right.doubtful]
        if not sound or not models:
            return []
        aspects = {
            UPDATE: sound if any(task.right.after for task in found) else [],
            ACTS: [task for task in sound if task.right.has_acts],
            LABEL: sound if any(task.right.label for task in found) else [],
        }
        errors: dict[str, dict[str, int]] = {}
        sums: dict[str, dict[str, int]] = {}
        missed: dict[tuple[int, str, str], list[str]] = {}
        for kind, model in sorted(models.items()):
            wrong, joint = self._wrong(model, record, found)
            if wrong is None:
                continue
            said: dict[str, dict[int, list[str]]] = wrong
            errors[kind] = {
                aspect: sum(bool(said[aspect].get(task.turn)) for task in mine) * ONE // len(mine)
                for aspect, mine in aspects.items()
                if mine and aspect in said
            }
            sums[kind] = self._sums(sound, aspects, said, joint)
            for aspect, mine in aspects.items():
                for task in mine:
                    for what in said.get(aspect, {}).get(task.turn, ()):
                        missed.setdefault((task.turn, aspect, what), []).append(kind)
        if not any(errors.values()):
            return []
        texts = [text for task in found for text in (task.seen.user, task.seen.system)]
        told = tuple(Missed(turn, aspect, what, tuple(kinds)) for (turn, aspect, what), kinds in sorted(missed.items()))
        return [Verdict(None, "", len(found), length_step(texts, record.language), errors, sums, told, len(found) - len(sound))]

    @staticmethod
    def _wrong(model: Any, record: Dialogue, found: Sequence[Task]) -> tuple[dict[str, dict[int, list[str]]] | None, int | None]:
        """aspect -> turn -> what is wrong, and at how many sound turns the carried state is right; (None, None) where the model says nothing."""
        if isinstance(model, TurnKind):
            said = carried(model, found)
            guesses = {task.turn: guess for task, (guess, _) in zip(found, said, strict=True)}
            joint: int | None = sum(_is_state(task, state) for task, (_, state) in zip(found, said, strict=True) if not task.right.doubtful)
            known: Iterable[str] = (UPDATE, ACTS, LABEL)
        else:
            predictions: Predictions = model
            given = predictions.get(record.dialogue_id)
            if not given:
                return None, None
            guesses, known, joint = given_guesses(given, found)
        wrong: dict[str, dict[int, list[str]]] = {aspect: {} for aspect in known}
        for task in found:
            guess = guesses.get(task.turn)
            if guess is None:
                continue
            if UPDATE in wrong:
                wrong[UPDATE][task.turn] = [" ".join(slot) for slot in wrong_slots(task.right, guess.update)]
            if ACTS in wrong:
                wrong[ACTS][task.turn] = sorted(guess.acts ^ task.right.acts)
            if LABEL in wrong and guess.label != task.right.label:
                wrong[LABEL][task.turn] = [task.right.label or "no label"]
        return wrong, joint

    @staticmethod
    def _sums(
        sound: Sequence[Task], aspects: Mapping[str, Sequence[Task]], wrong: Mapping[str, Mapping[int, list[str]]], joint: int | None
    ) -> dict[str, int]:
        """What `measure` needs: over the turns whose labels don't contradict each other, as no system could be right at the others."""
        sums: dict[str, int] = {}
        for aspect, turns in wrong.items():
            if aspects[aspect]:
                counted = [task for task in sound if aspect != ACTS or task.right.has_acts]
                sums[f"{aspect} of"] = len(counted)
                sums[f"{aspect} right"] = sum(not turns.get(task.turn) for task in counted)
        if joint is not None and aspects[UPDATE]:
            sums |= {f"{JOINT} of": len(sound), f"{JOINT} right": joint}
        return sums

    def measure(self, sums: Mapping[str, int]) -> Mapping[str, float]:
        return {name[:-3]: sums.get(f"{name[:-3]} right", 0) / of for name, of in sums.items() if name.endswith(" of") and of}


def _is_state(task: Task, state: Mapping[tuple[str, str], str]) -> bool:
    """Whether a state is the right one after a turn."""
    after = task.right.after
    return state.keys() == after.keys() and all(state[slot] in values for slot, values in after.items())
