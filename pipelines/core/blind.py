"""What of the test split is published where its labels are held out: one suite of each dialogue, one instance of each conversation, drawn by hash.

Two suites of one dialogue give each other's words away (the clean turn beside the noisy one), and two instances of one conversation each other's
answers (the reply is in the next one's context). What is left out here stands in labels/, whole.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import TypeVar

from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.core.recipe import Recipe
from dialmill.schemas import Dialogue, Turn

T = TypeVar("T")

#: The seed of a run for which none is given.
SEED = 1
#: Which part of a test set is in which split and suite is public and costs an attacker a microsecond to compute for one seed, so that every seed
#: below this is found in a day or two on a few machines.
_GUESSED = 2**40


def run_seed(given: int | None, held_out_labels: bool) -> int:
    """The seed of a run: what is given, else `SEED`, or, where labels are held out, one of 63 bits that nobody can foretell: a rebuild from the
    public corpus with the seed would give all answers away. It stands in labels/manifest.json, with which the same bytes can be made again.
    """
    if given is not None:
        return given
    return secrets.randbits(63) if held_out_labels else SEED


def seed_warning(seed: int) -> str | None:
    """What to say of the seed of held-out labels that an attacker would find by trying, None where all is well. It is no property to be published."""
    if abs(seed) >= _GUESSED:
        return None
    return (
        f"the seed {seed} can be found by trying, and a rebuild with it gives the held-out labels away:"
        " leave --seed out, so that a long one is drawn and kept in labels/manifest.json"
    )


def drawn(items: Sequence[T], seed: int, *key: object) -> T:
    """One of some items, the same on every run with a seed.

    Args:
        items: not empty.
        key: what it is drawn for: a source id, and what is drawn.
    """
    return items[key_number("blind@1", seed, *key) % len(items)]


def published_suites(recipe: Recipe, seed: int, source_id: str, split: str | None, suites: Sequence[str], inserting: Sequence[str]) -> list[str]:
    """The suites of a dialogue that are published, of those that take it.

    One of them where labels are held out, all where they aren't. With ``blind_suites=paired``, RADDLE's own form, all but those that insert turns
    (out of scope, say), which have dialogues of their own: the same dialogue without the turn would tell that it was inserted.
    """
    if not recipe.held_out_labels or split != "test" or len(suites) < 2:
        return list(suites)
    if recipe.blind_suites == "single":
        return [drawn(suites, seed, source_id, "suite")]
    alone = drawn(suites, seed, source_id, "suite")
    if alone in inserting:
        return [alone]
    return [suite for suite in suites if suite not in inserting]


def published(dialogue: Dialogue) -> Dialogue:
    """A test record as its solvers see it: utterances up to the last user turn, and nothing that gives away labels or the unperturbed text."""
    users = [place for place, turn in enumerate(dialogue.turns) if turn.speaker == "user"]
    turns = tuple(_bare(turn) for turn in dialogue.turns[: users[-1] + 1 if users else 0])
    return dialogue.replace(turns=turns, goal=None, lineage=(), payload=None)


def _bare(turn: Turn) -> Turn:
    """A turn without labels; what was carried through untouched stays."""
    payload = turn.payload if turn.speaker == "other" else None
    return turn.replace(original=None, spans=(), acts=(), state=(), edits=(), labels=(), knowledge=(), payload=payload)
