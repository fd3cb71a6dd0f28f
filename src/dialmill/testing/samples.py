"""Dialogues to try things on."""

from __future__ import annotations

from functools import cache
from importlib import resources

from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import decode


@cache
def sample_dialogues(language: str | None = None) -> tuple[Dialogue, ...]:
    """Twelve dialogues in English and twelve in Chinese, of the miniature corpora of MultiWOZ and RiSAWOZ that were written for dialmill.

    Args:
        language: "en", "zh", or None for all.
    """
    lines = (resources.files("dialmill.testing") / "dialogues.jsonl").read_bytes().splitlines()
    return tuple(one for one in map(decode, lines) if language in (None, one.language))
