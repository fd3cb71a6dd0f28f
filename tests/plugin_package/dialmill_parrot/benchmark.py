"""`shouted`: chats, and the same chats shouted, with a table of both."""

from __future__ import annotations

from collections.abc import Iterable

from dialmill.pipelines.core.benchmark import Benchmark, ReleaseContext
from dialmill.pipelines.core.stage import Out
from dialmill.schemas import Dialogue


class Shouted(Benchmark):
    name = "shouted"
    about = "chats, calm and shouted, as a table"

    def release(self, record: Dialogue, order: bytes, context: ReleaseContext) -> Iterable[Out]:
        words = "\t".join([record.source_id, *(turn.utterance for turn in record.turns)])
        return [Out(f"release/{record.suite}.tsv", order, 1, words.encode())]

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        return {f"release/{suite}.tsv": "" for suite in suites}
