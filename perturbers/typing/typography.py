"""Typography of corpora: text that a tokeniser has pulled apart ("i 'd like it , please ."), and the way between that and plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dialmill.perturbers.core.checks import certify
from dialmill.perturbers.core.contract import Perturber
from dialmill.perturbers.core.values import Locator
from dialmill.schemas import Dialogue, Edit, SkippedTurn, Turn, apply_edits

#: Blanks that a tokeniser put before a sign or a clitic, and after an opening sign.
_APART = re.compile(r"(?<=\S)[ \t]+(?=[,.?!;:)%](?:\s|$|[.?!)])|n['’]t\b|['’](?:s|d|m|re|ve|ll)\b)|(?<=[(£$#])[ \t]+(?=\S)", re.IGNORECASE)
_DOUBLE = re.compile(r"[ \t]{2,}")
_CLITIC = re.compile(r"(?<=\w)(?=['’](?:s|d|m|re|ve|ll)\b)|(?<=[a-z])(?=n['’]t\b)|(?<=\w)(?=[,.?!;:]+(?:\s|$))", re.IGNORECASE)


def is_tokenised(text: str) -> bool:
    """Whether signs or clitics stand apart in `text`."""
    return _APART.search(text) is not None


def tokenise(text: str) -> str:
    """`text` with signs and clitics apart, as tokenised corpora have them."""
    return _CLITIC.sub(" ", text)


def detokenise(text: str) -> str:
    """The inverse of `tokenise`."""
    return _APART.sub("", text)


def joining(text: str) -> list[Edit]:
    """Edits that bring signs and clitics back to their words, and double blanks to one; nothing inside a word changes."""
    edits = [Edit(match.start(), match.end(), "") for match in _APART.finditer(text)]
    taken = {edit.start for edit in edits}
    edits += [Edit(match.start() + 1, match.end(), "") for match in _DOUBLE.finditer(text) if match.start() not in taken]
    return sorted(edits, key=lambda edit: edit.start)


@dataclass(frozen=True)
class Typography(Perturber):
    """Text that a tokeniser pulled apart as people write it, on both sides of the dialogue: "i 'd like it , please ." as "i'd like it, please.".

    It changes blanks alone. Run it on a suite and on the one it is compared with alike: ``typography+paraphrase``.
    """

    name: ClassVar[str] = "typography"
    version: ClassVar[int] = 1
    languages: ClassVar[frozenset[str]] = frozenset({"en"})

    def change(self, dialogue: Dialogue, seed: int, variant: int) -> tuple[tuple[Turn, ...], tuple[SkippedTurn, ...]]:
        locator = Locator.of(dialogue)
        turns: list[Turn] = []
        skipped: list[SkippedTurn] = []
        for turn in dialogue.turns:
            edits = _outside(joining(turn.utterance), turn)
            changed = apply_edits(turn, edits)
            if turn.speaker == "user":
                problem = "no_edit_possible" if changed is turn else certify(locator.view(turn), changed, "follow")
                if problem is not None:
                    skipped.append(SkippedTurn(turn.turn, problem))
                    changed = turn
            turns.append(changed)
        return tuple(turns), tuple(skipped)


def _outside(edits: Iterable[Edit], turn: Turn) -> Sequence[Edit]:
    """The edits that keep the text of every span."""
    spans = [(span.start, span.end) for span in turn.spans if span.start is not None and span.end is not None]
    return [edit for edit in edits if not any(start < edit.end and edit.start < end for start, end in spans)]
