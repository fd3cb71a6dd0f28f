"""No record leaves that breaks its schema or its own rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import msgspec
from dialmill.pipelines.core.stage import Stage
from dialmill.pipelines.stages.items import DialogueRecords
from dialmill.schemas import Dialogue
from dialmill.schemas.validate import Validator, check_dialogue

#: Problems of a record that its reject quotes, at most.
_QUOTED = 3


class CheckRecords(Stage):
    """The dialogue with its valid records alone; an invalid one is rejected as a fault of our own."""

    tags = ("out",)

    def setup(self) -> None:
        self.validator = Validator("dialogue")

    def process(self, element: DialogueRecords, side: object = None) -> Iterable[tuple[str, Any]]:
        valid = []
        for record in element.records:
            problems = self.problems(record)
            if problems:
                self.counters.reject(record.suite, "invalid_record")
                yield element.reject(record.suite, "invalid_record", "; ".join(problems[:_QUOTED]), record.suite, record.variant)
            else:
                self.counters.stage(record.suite).out += 1
                valid.append(record)
        yield "main", element if len(valid) == len(element.records) else replace(element, records=tuple(valid))

    def problems(self, record: Dialogue) -> list[str]:
        """What is wrong with a record; empty if nothing is."""
        found = check_dialogue(record)
        if found:
            return found
        plain = msgspec.to_builtins(record)
        return [] if self.validator.is_valid(plain) else [str(problem) for problem in self.validator.errors(plain)]
