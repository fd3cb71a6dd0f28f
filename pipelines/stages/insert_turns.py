"""What a benchmark puts into every dialogue before all suites: questions for knowledge, out-of-scope turns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from dialmill.perturbers import Perturber
from dialmill.pipelines.core.params import complete_lineage
from dialmill.pipelines.core.stage import Stage
from dialmill.pipelines.stages.items import DialogueRecords
from dialmill.schemas.arrow import Params
from dialmill.schemas.dialogue import STANDARD


class InsertTurns(Stage):
    """The dialogue with the benchmark's turns in it, which all of its suites then have.

    Args:
        inserter: the perturber that inserts them.
        seed: the seed of the run.
        params: the lineage options of the suite `standard`.
    """

    def __init__(self, inserter: Perturber, seed: int, params: Params) -> None:
        self.inserter, self.seed, self.params = inserter, seed, params

    def process(self, element: DialogueRecords, side: object = None) -> Iterable[tuple[str, Any]]:
        source = element.source
        made = self.inserter.perturb(source, self.seed)
        counted = self.counters.stage("insert turns")
        counted.entered += len(source.turns)
        counted.made += len(made.turns) - len(source.turns)
        counted.out += len(made.turns)
        yield "main", replace(element, source=complete_lineage(made.replace(suite=STANDARD, dialogue_id=source.dialogue_id), self.params))
