"""What a rewording works on: a turn with what is known of it, and a proposal of other words for it."""

from __future__ import annotations

from typing import NamedTuple

from dialmill.perturbers.core.values import View
from dialmill.perturbers.rewording.donors import Donors, Origin
from dialmill.perturbers.rewording.wordings import Analysis
from dialmill.schemas import Turn


class Task(NamedTuple):
    """One turn to rewrite, and what is known of it."""

    view: View
    analysis: Analysis
    donors: Donors | None
    copies: int
    first: bool
    before: str
    words: list[str]
    said: str = ""  #: what the user of the variant said so far, in lower case

    @property
    def text(self) -> str:
        """The utterance."""
        return self.view.turn.utterance


class Proposal(NamedTuple):
    """A rewritten turn, not yet certified, and where its wording comes from: the donor it is of, else "rules" or "llm (TOKENS tokens)"."""

    turn: Turn
    origin: Origin | str

    @property
    def reason(self) -> str:
        """Where the wording comes from, as the lineage says it."""
        return self.origin if isinstance(self.origin, str) else f"paraphrase donor {self.origin.source_id} ({self.origin.split or 'in no split'})"
