"""Edits as people read them: by words, and by letters where fingers slipped."""

from __future__ import annotations

from collections.abc import Sequence

from dialmill.schemas import Dialogue, Edit

#: The perturbers whose edits are slips within words.
_SLIPS = frozenset({"typos"})


def slips(record: Dialogue) -> bool:
    """Whether nothing but typing changed a record's texts."""
    changed = {step.step.partition("@")[0] for step in record.lineage if step.outcome == "changed"}
    return bool(changed) and changed <= _SLIPS


def readable(text: str, edits: Sequence[Edit], letters: bool = True) -> list[tuple[int, int, str]]:
    """Edits as people read them, of the same effect: one that begins or ends inside a word takes in the whole word ("Tha[nks -> t will be]" is
    "[Thanks -> That will be]"), and edits that then touch are one.

    Args:
        letters: leave edits within a word as they are, which is how a slip of the keyboard is seen best.
    """
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in edits:
        start, end = edit.start, edit.end
        old, new = text[start:end], edit.replacement
        if not letters or any(char.isspace() for char in f"{old.strip()},{new.strip()}"):
            inside = _in_word(text[start - 1 : start]) and _in_word(text[end : end + 1])  # "post[al ]code"
            if inside or _in_word(old[:1]) or _in_word(new[:1]):
                while start and _in_word(text[start - 1]):
                    start -= 1
            if inside or _in_word(old[-1:]) or _in_word(new[-1:]):
                while end < len(text) and _in_word(text[end]):
                    end += 1
        if groups and start <= groups[-1][1]:
            before, reached, held = groups.pop()
            groups.append((before, max(reached, end), [*held, edit]))
        else:
            groups.append((start, end, [edit]))
    return [(start, end, _applied(text, start, end, held)) for start, end, held in groups]


def _applied(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    """``text[start:end]`` after edits that lie in it."""
    parts, reached = [], start
    for edit in edits:
        parts += [text[reached : edit.start], edit.replacement]
        reached = edit.end
    return "".join([*parts, text[reached:end]])


def _in_word(char: str) -> bool:
    """Whether a character, or none, is one of a word."""
    # Chinese writes no blanks, so that a whole "word" would be the clause.
    return char.isalnum() and char < "\u2e80"
