"""`shouted`: chats, and the same chats shouted, as a table and as lines of JSON with a schema of this package (json/)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from dialmill.pipelines.core.benchmark import Benchmark, ReleaseContext
from dialmill.pipelines.core.stage import Out
from dialmill.schemas import Dialogue


class Shouted(Benchmark):
    name = "shouted"
    about = "chats, calm and shouted, as a table"

    def release(self, record: Dialogue, order: bytes, context: ReleaseContext) -> Iterable[Out]:
        words = "\t".join([record.source_id, *(turn.utterance for turn in record.turns)])
        line = msgspec.json.encode({"id": record.source_id, "turns": [turn.utterance for turn in record.turns]})
        return [Out(f"release/{record.suite}.tsv", order, 1, words.encode()), Out(f"release/{record.suite}.jsonl", order, 1, line)]

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        return {f"release/{suite}.{ending}": schema for suite in suites for ending, schema in (("tsv", ""), ("jsonl", "shouted-lines"))}
