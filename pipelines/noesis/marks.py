"""Which subsets a conversation is in, on its way from the mill to its examples, beside what the source keeps."""

from __future__ import annotations

from collections.abc import Set

import msgspec

from pipelines.stages.subsets import FEW, HARD
from schemas.dialogue import STANDARD


def mark(extra: bytes, hard: Set[str], few: bool) -> bytes:
    """What the source keeps, with the subsets: few_shot, and test_hard where the unperturbed record is hard: examples have its
    text."""
    standard = {name for name in hard if name.split("/")[-2] == STANDARD}
    return msgspec.msgpack.encode((extra, [*([FEW] if few else []), *([HARD] if standard else [])]))


def marked(data: bytes) -> tuple[bytes, list[str]]:
    """(what the source keeps, the subsets)."""
    return msgspec.msgpack.decode(data, type=tuple[bytes, list[str]])
