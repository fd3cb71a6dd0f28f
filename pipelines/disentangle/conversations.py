"""From reply links to conversations: connected components, each with a confidence to cut by.

A conversation's confidence is the geometric mean of its links' probabilities, the start's included: the per-link chance that
it is right, comparable between long and short ones. (Kummerfeld et al. 2019 keep those that ten models agree on.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp, log

from dialmill.pipelines.disentangle import metrics
from dialmill.pipelines.disentangle.logs import LogLine
from dialmill.pipelines.disentangle.model import ReplyLink

FLOOR = 1e-6
"""A link's confidence counts as at least this."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """File lines of one conversation, ascending, and how sure its links are (0 to 1)."""

    messages: tuple[int, ...]
    confidence: float


def gather(links: Iterable[ReplyLink], lines: Sequence[LogLine] = ()) -> list[Conversation]:
    """The conversations that links make, by first message; with `lines`, only those of talk (no joins, notices, blank lines)."""
    links = list(links)
    sure = {link.message: link.confidence for link in links}
    talk = {line.line for line in lines if line.is_talk} if lines else None
    made = []
    for group in metrics.conversations((link.antecedent, link.message) for link in links):
        members = [m for m in group if talk is None or m in talk]
        if members:
            known = [log(max(sure[m], FLOOR)) for m in members if m in sure]
            made.append(Conversation(tuple(members), round(exp(sum(known) / len(known)), 6) if known else 1.0))
    return made


def agreed(several: Sequence[Iterable[Conversation]], least: int) -> list[Conversation]:
    """Conversations that at least `least` of several models make, message for message, with their mean confidence."""
    found: dict[tuple[int, ...], list[float]] = {}
    for made in several:
        for conversation in made:
            found.setdefault(conversation.messages, []).append(conversation.confidence)
    return [Conversation(m, round(sum(c) / len(c), 6)) for m, c in sorted(found.items()) if len(c) >= least]


def split_by_confidence(made: Iterable[Conversation], least: float) -> tuple[list[Conversation], list[Conversation]]:
    """(kept, dropped): those with a confidence of at least `least`, and the others."""
    kept: list[Conversation] = []
    dropped: list[Conversation] = []
    for conversation in made:
        (kept if conversation.confidence >= least else dropped).append(conversation)
    return kept, dropped
