"""Five kinds of baselines that judge user turns, each with a way of its own to see and to learn.

`values` matches values and counts the words beside them; `words` is linear on words and pairs of words; `characters` is linear on n-grams of
characters and forgives slips in values; `neighbours` looks at the most similar training turns; `embedding` is a small network on word vectors.
All learn the same three things: what the turn does to the state, its acts, its labels.
"""

from __future__ import annotations

from collections.abc import Iterable

from dialmill.pipelines.baselines.ontology import Slot
from dialmill.pipelines.baselines.panel.embedding import Embedding
from dialmill.pipelines.baselines.panel.kind import TurnKind
from dialmill.pipelines.baselines.panel.linear import Characters, Words
from dialmill.pipelines.baselines.panel.neighbours import Neighbours
from dialmill.pipelines.baselines.panel.seen import Guess, Task, first_values, topic_of
from dialmill.pipelines.baselines.panel.values import Values

KINDS: dict[str, type[TurnKind]] = {kind.name: kind for kind in (Values, Words, Characters, Neighbours, Embedding)}


def carried(kind: TurnKind, tasks: Iterable[Task]) -> list[tuple[Guess, dict[Slot, str]]]:
    """What a baseline says turn by turn given the right state before each, and the state that its own guesses alone lead to; at a turn whose labels
    contradict each other it is told what changes, or one wrong label would decide on all turns after it."""
    state: dict[Slot, str] = {}
    topic = ""
    found = []
    for task in tasks:
        guess = kind.guess(task.seen)
        mine = tuple(sorted(state.items()))
        own = guess if mine == task.seen.state and topic == task.seen.topic else kind.guess(task.seen._replace(state=mine, topic=topic))
        update = first_values(task.right.changed) if task.right.doubtful else own.update
        changed = [slot for slot, value in update.items() if state.get(slot) != value]
        state = {**state, **update}
        topic = topic_of(changed, topic)
        found.append((guess, dict(state)))
    return found
