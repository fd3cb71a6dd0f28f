"""Cross-lingual state tracking, DSTC9 Track 2 (Gunasekara et al. 2020): the joint and slot metrics of ConvLab's eval_file.py.

Where the gold has the official files (`cells`), as the folders that `build dstc9-track2` writes have, their cells are scored: those of police,
hospital and bus are not, names are corrected as on the updated leaderboard, and a submission has to name every cell of every turn.

Metrics in [0, 1], nested as there: `joint accuracy`, `slot.accuracy`, `slot.precision`, `slot.recall`, `slot.f1`. Slot accuracy is over all slots
of the ontology at every turn, empty ones included. Values are compared in lower case and without blanks; "未提及" and "none" are no value, 是的 is
有, 不是 is 没有, "free admission" is free. Precision and recall of nothing are 1, as ConvLab has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dialmill.pipelines.benchmarks.cross_lingual import cells
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Settings
from dialmill.pipelines.core.units import Floats, Sums, f_measure, ratio
from dialmill.pipelines.scoring.gold import GoldTurn
from dialmill.pipelines.scoring.predictions import first_byte, prediction_files, read_document, unique
from dialmill.pipelines.scoring.state import Slot, State, state_of
from dialmill.pipelines.scoring.turns import Guesses, TurnScorer
from dialmill.schemas import SlotValues
from dialmill.schemas.dialogue import DONTCARE

#: What ConvLab takes for the same, and the lexicon's word for having no preference, which records write as all corpora's.
_UNIFIED = {"不在意": DONTCARE, "未提及": "", "none": "", "是的": "有", "不是": "没有", "free admission": "free"}


class CrossLingual(TurnScorer):
    name = "cross-lingual"
    about = "cross-lingual state tracking (DSTC9 Track 2): joint accuracy, slot accuracy, precision, recall, F1"
    scale = "fraction"
    ranked = ("joint accuracy", "slot.f1")
    of_turns = ("joint accuracy", "slot.accuracy", "slot.f1")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._cells = cells.read(settings.gold)

    def due(self, suite: str) -> list[GoldTurn]:
        return [self._scored(turn, place) for turn, place in self._places(suite)]

    def _places(self, suite: str) -> Iterable[tuple[GoldTurn, int]]:
        """The user turns of a suite, each with its number among those of its dialogue."""
        number, last = 0, ""
        for turn in self.gold.turns(suite):
            number = number + 1 if turn.dialogue.dialogue_id == last else 0
            last = turn.dialogue.dialogue_id
            yield turn, number

    def _scored(self, turn: GoldTurn, number: int) -> GoldTurn:
        """A turn with the official cells for its belief state, where there are some."""
        known = self._cells.get(turn.dialogue.source_id, ())
        if number >= len(known):
            return turn
        state = tuple(
            SlotValues(domain, slot, tuple(value) if isinstance(value, list) else (value,))
            for domain, slots in known[number].items()
            for slot, value in slots.items()
            if value
        )
        return turn._replace(turn=turn.turn.replace(state=state))

    def ontology(self) -> set[Slot]:
        if not self._cells:
            return super().ontology()
        if self._ontology is None:
            scored = (slots for turns in self._cells.values() for turn in turns for slots in [turn])
            named = {(domain, slot) for turn in scored for domain, slots in turn.items() for slot in slots}
            self._ontology = {key for domain, slot in named for key in state_of([(domain, slot, ["x"])], "en")}
        return self._ontology

    def _state_row(self, turn: GoldTurn, right: State, said: State, before: State, size: int) -> dict[str, float]:
        known = self._cells.get(turn.dialogue.source_id)
        if known:
            # As many cells as its dialogue has in a turn: all have as many.
            size = sum(map(len, known[0].values()))
            said = {slot: values for slot, values in said.items() if slot in self.ontology()}
        return super()._state_row(turn, right, said, before, size)

    def read(self, path: str) -> Guesses:
        self._path = path
        files = prediction_files(path)
        if len(files) == 1 and first_byte(files[0]) == b"{" and files[0].suffix == ".json":
            return unique(self._official(files[0]), path, "the turn")
        return super().read(path)

    def _official(self, file: Path) -> Iterable[tuple[tuple[str, int], Mapping[str, Any]]]:
        """submissionN.json: dialogue -> a state for every user turn, domain -> slot -> value or values."""
        suite = self.suites()[0]
        places: dict[str, list[tuple[str, int]]] = {}
        for turn in self.gold.turns(suite):
            places.setdefault(turn.dialogue.source_id, []).append(turn.key)
        for name, states in read_document(file, "predictions-dstc9-track2").items():
            keys = places.get(name, [])
            self._check_whole(file, name, states)
            for number, state in enumerate(states):
                key = keys[number] if number < len(keys) else (f"{name}/{suite}/0", 2 * number)
                entries = [
                    {"domain": domain, "slot": slot, "values": value if isinstance(value, list) else [value]}
                    for domain, slots in state.items()
                    for slot, value in slots.items()
                ]
                yield key, {"state": entries}

    def _check_whole(self, file: Path, name: str, states: Sequence[Mapping[str, Any]]) -> None:
        """The official code refuses a submission that leaves out a turn, a domain or a slot: so do we, and say which."""
        due = self._cells.get(name)
        if due is None:
            return
        if len(states) != len(due):
            raise InputError(str(file), f"dialogue {name!r} has {len(states)} states, the gold {len(due)} user turns", "predict every turn")
        for number, (state, scored) in enumerate(zip(states, due, strict=True)):
            missing = [f"{domain}.{slot}" for domain, slots in scored.items() for slot in slots if slot not in state.get(domain, ())]
            if missing:
                shown = ", ".join(missing[:5])
                raise InputError(
                    str(file), f"dialogue {name!r}, state {number}: lacks {shown}", 'name every slot of every domain, "" where it has no value'
                )

    def state(self, entries: Iterable[tuple[str, str, Iterable[str]]], language: str) -> State:
        unified = ((domain, slot, [_UNIFIED.get(value.lower(), value) for value in values]) for domain, slot, values in entries)
        found = state_of(unified, language, blanks=False)
        return {slot: values for slot, values in found.items() if slot in self.ontology()} if self.settings.official else found

    def metrics(self, sums: Sums) -> dict[str, Floats]:
        if "turns" not in sums:
            return {}
        precision = ratio(sums["right"], sums["right"] + sums["extra"], 1.0)
        recall = ratio(sums["right"], sums["right"] + sums["missed"], 1.0)
        return {
            "joint accuracy": ratio(sums["joint"], sums["turns"]),
            "slot.accuracy": ratio(sums["slots_right"], sums["slots"], 1.0),
            "slot.precision": precision,
            "slot.recall": recall,
            "slot.f1": f_measure(precision, recall),
        }

    def self_test(self) -> None:
        return
