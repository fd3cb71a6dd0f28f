"""Tasks of tau2-bench with perturbed histories: export/tau2/SUITE/tasks.json and split_tasks.json, as tau2 reads them from a domain's folder.

Only the user's texts in `initial_state.message_history` differ; instructions, grading, calls of tools and every other byte of a task are the
source's. Dialogues of other sources have no task.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from dialmill.pipelines.core.exporter import SPLITS, Exporter, ExportFile, Suite, text_file
from dialmill.pipelines.exporters.writing import array, dump, pretty
from dialmill.schemas import Dialogue
from dialmill.schemas.messages import elements, members, skip, written

#: The source whose payloads are tasks, and where in a task its messages are.
SOURCE = "tau2"
_HISTORY = ("initial_state", "message_history")


class Tau2Exporter(Exporter):
    """Tasks of tau2-bench."""

    name = "tau2"
    about = "tau2-bench tasks: tasks.json and split_tasks.json, each task's recorded history perturbed and every other byte as it came"
    reads_back = "tau2"
    keeps_labels = False

    def files(self, suite: Suite) -> Iterator[ExportFile]:
        yield ExportFile("tasks.json", array(_task(record, suite) for record in suite.records() if record.source == SOURCE))
        splits: dict[str, list[str]] = {"base": []}
        for split in SPLITS:
            names = [suite.exported_id(record) for record in suite.records(split) if record.source == SOURCE]
            splits["base"] += names
            if names:
                splits[split] = names
        if splits["base"]:
            yield text_file("split_tasks.json", pretty(splits).decode())


def _task(record: Dialogue, suite: Suite) -> bytes:
    """A task with the history of a record."""
    task = record.payload or "{}"
    changes: list[tuple[int, int, str]] = []
    top = {name: (start, end) for name, start, end in members(task, skip(task, 0))}
    inner = {name: (start, end) for name, start, end in members(task, top[_HISTORY[0]][0])}
    decoder = json.JSONDecoder()
    for turn, at in zip(record.turns, elements(task, inner[_HISTORY[1]][0]), strict=True):
        if turn.original is not None:
            changes.append((at, decoder.raw_decode(task, at)[1], written(turn)))
    if suite.several and "id" in top:
        changes.append((*top["id"], dump(suite.exported_id(record)).decode()))
    for start, end, text in sorted(changes, reverse=True):
        task = task[:start] + text + task[end:]
    return task.encode("utf-8")
