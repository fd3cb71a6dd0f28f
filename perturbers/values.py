"""Where slot values stand in a text. (Contract; see module docstring once written.)"""

from __future__ import annotations

from dataclasses import dataclass

from schemas import Dialogue, Turn


@dataclass(frozen=True, slots=True)
class Located:
    start: int
    end: int
    domain: str
    slot: str
    value: str


class View:
    """What a perturber and the checks see of one turn: the turn, its dialogue, the values found in it, what to leave alone."""

    __slots__ = ("dialogue", "language", "located", "protected", "turn")

    def __init__(self, turn: Turn, dialogue: Dialogue, located: tuple[Located, ...], protected: tuple[tuple[int, int], ...]) -> None:
        self.turn = turn
        self.dialogue = dialogue
        self.language = dialogue.language
        self.located = located
        self.protected = protected


class Locator:
    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue

    def locate(self, text: str) -> tuple[Located, ...]:
        raise NotImplementedError

    def view(self, turn: Turn) -> View:
        raise NotImplementedError
