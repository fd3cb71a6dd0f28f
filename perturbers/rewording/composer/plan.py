"""What a user turn means, as the composer words it: what it says one by one, and where it stands in the dialogue; or why it can't be told."""

from __future__ import annotations

from typing import NamedTuple

from dialmill.perturbers.core.values import View
from dialmill.schemas import Turn

#: What is to become of a turn: "same" (paraphrase), "less" (simplification, down to keywords), "more" (verbosity).
STYLES = ("same", "less", "more")


class Refusal(NamedTuple):
    """Why a turn isn't composed, a word or two that can be counted ("no_acts", "unlabelled: instead")."""

    reason: str


class Context(NamedTuple):
    """A turn to be worded, and what is known of it.

    Attributes:
        view: of the user turn, its values located.
        before: the turn before it, None where it opens the dialogue.
        state: (domain, slot, value) of the belief state before it.
        people: how many travel, eat or stay according to the dialogue's labels ("1", "4"), "" where none says so or they differ.
        partial: whether the view is of a part of the turn alone, the rest of which stays as it is.
    """

    view: View
    before: Turn | None = None
    state: frozenset[tuple[str, str, str]] = frozenset()
    people: str = ""
    partial: bool = False

    @property
    def first(self) -> bool:
        """Whether the turn opens the dialogue."""
        return self.before is None


class Item(NamedTuple):
    """One thing that a turn says.

    Attributes:
        kind: "inform", "dontcare", "request", "yes", "no", "thank", "bye", "book", ...: what the bank's headings begin with, or what a
            realiser makes of it.
        domain, slot: as the source names them, with blanks for underscores.
        value: the label's value, "" where it has none.
        start, end: its surface in the source's utterance; both 0 where no words of the source are to be kept.
    """

    kind: str
    domain: str = ""
    slot: str = ""
    value: str = ""
    start: int = 0
    end: int = 0

    @property
    def shown(self) -> bool:
        """Whether words of the source are to be kept for it."""
        return self.end > self.start


class Plan(NamedTuple):
    """What a turn says.

    Attributes:
        items: in the order of the source.
        asked: the slots (named as in `Item`) that the system turn before asks for.
        offered: whether the system turn before offers or recommends something, or several things.
        failed: whether it says that nothing was found or a booking failed.
        booked: whether it says that something was booked.
    """

    items: tuple[Item, ...]
    asked: frozenset[str] = frozenset()
    offered: bool = False
    failed: bool = False
    booked: bool = False


class Placed(NamedTuple):
    """A value in a composed text: ``text[start:end]`` equals the source's ``utterance[source_start:source_end]``."""

    start: int
    end: int
    source_start: int
    source_end: int


class Composed(NamedTuple):
    """A composed turn.

    Attributes:
        text: in the source's typography.
        placed: every value that was located in the source, in the order of `text`.
        clauses: keys of the clauses it is made of.
        voice: whose.
    """

    text: str
    placed: tuple[Placed, ...]
    clauses: tuple[int, ...]
    voice: str
