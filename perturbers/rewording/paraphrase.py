"""Paraphrase: the same said in other words, as other users said it (RADDLE's first language variation, Peng et al., ACL 2021)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.donors import Candidate, Origin
from dialmill.perturbers.rewording.rewriter import Proposal, Rewriter, Task, borrow_wording, distance, words
from dialmill.perturbers.rewording.rewriting import Rewordings
from dialmill.perturbers.rewording.wordings import Wording
from dialmill.schemas import Edit, Turn, apply_edits

#: A donor must be at least so far from the turn's own wording, a sentence's donor from the sentence.
_FAR, _FAR_SENTENCE = 0.4, 0.35
#: The same for a turn whose phrases were replaced; less in Chinese, where it is counted in characters.
_REWORDED = (0.15, 0.12)
#: What makes a donor better: that it answers the same kind of turn. What makes it worse: that what the turn says besides its acts is lost.
_SAME_ROLE, _LOST, _MOST_LOST = 0.2, 0.15, 2
#: Out of how many of the best one is chosen.
_BEST = 4


@dataclass(frozen=True)
class Paraphrase(Rewriter):
    """The same said in other words.

    A turn is composed from what it means; where its labels don't tell that, it takes the wording of a donor, a user turn of another dialogue with the
    same acts and slots, far from its own; where no donor of the whole turn fits, its sentences take theirs; where none fits, phrases are replaced by
    others that say the same.
    """

    name: ClassVar[str] = "paraphrase"
    version: ClassVar[int] = 3
    instruction: ClassVar[str] = "Say the same in other words, as another person would. Keep about the same length."

    def proposals(self, task: Task, rng: Rng) -> Iterator[Proposal]:
        turn = task.view.turn
        whole = task.analysis.whole()
        rewordings = Rewordings(task.text, task.analysis.parts, task.view.language)
        if task.donors is not None:
            for candidate in _ranked(task, whole, _FAR, rng, task.analysis.role)[:3]:
                yield Proposal(apply_edits(turn, borrow_wording(task, whole, candidate)), candidate.origin)
            yield from self._by_sentences(task, rewordings, rng)
        for _ in range(4):
            edits = rewordings.draw(rng)
            made = apply_edits(turn, edits)
            if edits and _moved(task, made) >= _REWORDED[task.view.language == "zh"]:
                yield Proposal(made, "rules")

    def _by_sentences(self, task: Task, rewordings: Rewordings, rng: Rng) -> Iterator[Proposal]:
        """The turn with other wordings for its sentences, and for the rest other phrases."""
        turn = task.view.turn
        sentences = task.analysis.sentences()
        for attempt in range(2):
            edits: list[Edit] = []
            origins: list[Origin] = []
            rest: list[tuple[int, int]] = []
            for sentence in sentences:
                role = task.analysis.role if sentence.start == 0 else "inside"
                found = _ranked(task, sentence, _FAR_SENTENCE, rng, role) if sentence.holds else []
                if attempt < len(found):
                    edits += borrow_wording(task, sentence, found[attempt])
                    origins.append(found[attempt].origin)
                else:
                    rest.append((sentence.start, sentence.end))
            if not edits:
                return
            others = rewordings.draw(rng) if rest else []
            edits += [edit for edit in others if any(start <= edit.start and edit.end <= end for start, end in rest)]
            made = apply_edits(turn, sorted(edits, key=lambda edit: (edit.start, edit.end)))
            if _moved(task, made) >= _FAR_SENTENCE:
                yield Proposal(made, origins[0])


def _moved(task: Task, turn: Turn) -> float:
    return distance(task.words, words(turn.utterance, task.view.language))


def _ranked(task: Task, wording: Wording, far: float, rng: Rng, role: str) -> list[Candidate]:
    """The donors that are far enough, one of the best chosen to be first."""
    assert task.donors is not None
    found = [
        candidate
        for candidate in task.donors.search(wording, role, task.copies, rng)
        if candidate.distance >= far and 0.4 <= candidate.ratio <= 2.2 and candidate.lost <= _MOST_LOST
    ]
    found.sort(key=lambda one: one.distance + _SAME_ROLE * one.same_role - _LOST * one.lost, reverse=True)
    best = found[:_BEST]
    rng.shuffle(best)
    return best
