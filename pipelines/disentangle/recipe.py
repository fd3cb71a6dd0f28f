"""The recipe keys of builds that read chat logs, beside those of every build."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.schemas import Dialogue

_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def at_least(least: float, **values: float | None) -> None:
    """Raises `UsageError` for a value below `least`."""
    for key, value in values.items():
        if value is not None and value < least:
            raise UsageError(f"{key} must be at least {least:g}, not {value}")


def share(**values: float) -> None:
    """Raises `UsageError` for a value that is no share from 0 to 1."""
    for key, value in values.items():
        if not 0 <= value <= 1:
            raise UsageError(f"{key} must be a share from 0 to 1, not {value:g}")


@dataclass(frozen=True)
class LogRecipe(Recipe):
    """Keys for sources that are chat logs.

    `links` says where replies come from: predicted by the link model, or NAME.annotation.txt. `min_confidence` keeps the surer of predicted
    conversations. The filters are those of DSTC7 (Gunasekara et al. 2019, section 3.1): `undirected_start`, the number of participants (bots not
    counted), `max_share` of the messages by one of them; at least `min_turns` turns. `anonymise` takes names out, `merge` joins
    consecutive messages of a speaker; null leaves it to `form`. `valid_from` and `test_from` (YYYY-MM-DD) split by time.
    """

    links: Literal["predicted", "annotated"] = "predicted"
    model: str | None = None
    min_confidence: float = 0.0
    undirected_start: bool = False
    min_participants: int = 1
    max_participants: int | None = None
    max_share: float = 1.0
    drop_bots: bool = False
    anonymise: bool = False
    merge: bool | None = None
    form: Literal["dstc7", "dstc8", "plain"] = "plain"
    valid_from: str | None = None
    test_from: str | None = None
    entangled_lines: int = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(1, min_participants=self.min_participants, max_participants=self.max_participants, entangled_lines=self.entangled_lines)
        share(max_share=self.max_share, min_confidence=self.min_confidence)
        for key in ("valid_from", "test_from"):
            value = getattr(self, key)
            if value is not None and not _DATE.fullmatch(value):
                raise UsageError(f"{key} must be a date, YYYY-MM-DD, not {value!r}")
        if (self.valid_from is None) != (self.test_from is None) or (self.valid_from or "") > (self.test_from or ""):
            raise UsageError("valid_from and test_from go together, and valid_from is the earlier")

    @property
    def writes_links(self) -> bool:
        """Whether the reply links of each log are part of the output."""
        return True

    def entangled_until(self, dialogue: Dialogue, seed: int) -> int | None:
        """The turn before which the channel is kept as it was, all conversations entangled; None where nothing of it is."""
        return None

    @property
    def merges(self) -> bool:
        """Whether consecutive messages of a speaker are joined."""
        return self.form == "dstc7" if self.merge is None else self.merge

    @property
    def most_participants(self) -> int | None:
        """The bound on participants: two in DSTC7 unless the recipe says otherwise."""
        return 2 if self.max_participants is None and self.form == "dstc7" else self.max_participants
