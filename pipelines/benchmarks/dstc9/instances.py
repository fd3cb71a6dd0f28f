"""From dialogues to the instances of DSTC9 Track 1: one for each user turn, the dialogue up to it, with its label."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.insertion.knowledge import AMBIGUOUS, SEEKING, entity_label
from dialmill.pipelines.benchmarks.dstc9.nbest import hypotheses
from dialmill.pipelines.benchmarks.dstc9.recipe import Dstc9Recipe
from dialmill.schemas import Dialogue

#: The label, and what records of the first version have in its place.
_AMBIGUOUS = frozenset({AMBIGUOUS, "knowledge_twin"})
_SPEAKERS = {"user": "U", "system": "S"}


class Instance(NamedTuple):
    """One element of logs.json and the element of labels.json that belongs to it, of a `turn` of the dialogue; `ambiguous` where an earlier entity
    answers the question too."""

    log: list[dict[str, Any]]
    label: dict[str, Any]
    ambiguous: bool
    turn: int


def instances(dialogue: Dialogue, source: str | None = None, nbest: int = 0, seed: int = 1) -> Iterable[Instance]:
    """The instances of a dialogue, in its order.

    Args:
        dialogue: a dialogue with knowledge-seeking turns.
        source: what labels say of where they come from; None leaves it out, as train and val do.
        nbest: hypotheses of each user turn, as spoken logs may have them; 0 for none.
        seed: of the hypotheses.
    """
    log: list[dict[str, Any]] = []
    for turn, after in zip(dialogue.turns, (*dialogue.turns[1:], None), strict=True):
        log.append({"speaker": _SPEAKERS[turn.speaker], "text": turn.utterance})
        if turn.speaker != "user":
            continue
        if nbest:
            log[-1]["nbest"] = hypotheses(dialogue, turn, nbest, seed)
        label: dict[str, Any] = {"target": SEEKING in turn.labels}
        if label["target"]:
            label["knowledge"] = [
                {"domain": one.domain, "entity_id": entity_label(one.entity_id), "doc_id": int(one.doc_id)} for one in turn.knowledge
            ]
            label["response"] = after.utterance if after is not None else ""
        if source is not None:
            label["source"] = source
        yield Instance(list(log), label, not _AMBIGUOUS.isdisjoint(turn.labels), turn.turn)


def sampled(found: list[Instance], dialogue: Dialogue, recipe: Dstc9Recipe, seed: int) -> list[Instance]:
    """The instances that the recipe's `targets` and `nontargets` leave of a dialogue, in its order."""
    split = str(dialogue.split)
    rng = Rng(seed, "instances@1", dialogue.source_id, dialogue.suite, dialogue.variant)
    targets = [place for place, one in enumerate(found) if one.label["target"]]
    others = [place for place, one in enumerate(found) if not one.label["target"]]
    if split in recipe.targets:
        targets = rng.sample(targets, recipe.targets[split])
    if split in recipe.nontargets:
        wanted = recipe.nontargets[split] * len(targets)
        others = rng.sample(others, int(wanted) + rng.chance(wanted - int(wanted)))
    return [found[place] for place in sorted([*targets, *others])]
