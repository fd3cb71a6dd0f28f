"""Cross-lingual state tracking, DSTC9 Track 2 (Gunasekara et al. 2020): the joint and slot metrics of ConvLab's eval_file.py.

Metrics in [0, 1], nested as there: `joint accuracy`, `slot.accuracy`, `slot.precision`, `slot.recall`, `slot.f1`. Slot accuracy is over all slots
of the ontology at every turn, empty ones included. Values are compared in lower case and without blanks; "未提及" and "none" are no value, 是的 is
有, 不是 is 没有, "free admission" is free. Precision and recall of nothing are 1, as ConvLab has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dialmill.pipelines.core.scorer import Settings
from dialmill.pipelines.core.units import Floats, Sums, f_measure, ratio
from dialmill.pipelines.scoring.predictions import first_byte, prediction_files, read_document, unique
from dialmill.pipelines.scoring.state import State, state_of
from dialmill.pipelines.scoring.turns import Guesses, TurnScorer

#: What ConvLab takes for the same.
_UNIFIED = {"未提及": "", "none": "", "是的": "有", "不是": "没有", "free admission": "free"}


class CrossLingual(TurnScorer):
    name = "cross-lingual"
    about = "cross-lingual state tracking (DSTC9 Track 2): joint accuracy, slot accuracy, precision, recall, F1"
    scale = "fraction"
    ranked = ("joint accuracy", "slot.f1")
    of_turns = ("joint accuracy", "slot.accuracy", "slot.f1")

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._field = ""

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
            for number, state in enumerate(states):
                key = keys[number] if number < len(keys) else (f"{name}/{suite}/0", 2 * number)
                entries = [
                    {"domain": domain, "slot": slot, "values": value if isinstance(value, list) else [value]}
                    for domain, slots in state.items()
                    for slot, value in slots.items()
                ]
                yield key, {"state": entries}

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
