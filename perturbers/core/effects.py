"""With which other settings an option has an effect: the conditions that stand on its annotation (``extra={"needs": {"engine": ("llm",)}}``).

A condition on another option is a tuple of values, one of which that option must have, or one of the classes here. Every condition of an option must
hold; where one doesn't, the option changes nothing whatever its value, and setting it is refused (`options.without_effect`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Except(NamedTuple):
    """Every value of the other option but these gives effect; messages name `otherwise`, the value that a user may set."""

    values: tuple[Any, ...]
    otherwise: str

    def holds(self, value: Any) -> bool:
        return value not in self.values

    def wanted(self, name: str, write: Callable[[Any], str]) -> str:
        return f"{name}={self.otherwise}"


class Naming(NamedTuple):
    """The other option, a list or a text of names with "|" between them, must hold one of these."""

    values: tuple[Any, ...]

    def holds(self, value: Any) -> bool:
        held = [name.strip() for name in value.split("|")] if isinstance(value, str) else value
        return not set(self.values).isdisjoint(held)

    def wanted(self, name: str, write: Callable[[Any], str]) -> str:
        return f"{' or '.join(map(str, self.values))} in {name}"


class OneOf(NamedTuple):
    """The other option must have one of these values; annotations write the tuple alone."""

    values: tuple[Any, ...]

    def holds(self, value: Any) -> bool:
        return value in self.values

    def wanted(self, name: str, write: Callable[[Any], str]) -> str:
        return " or ".join(f"{name}={write(value) or 'empty'}" for value in self.values)


class Never(NamedTuple):
    """Nothing gives the option an effect: a perturber inherits it and has no use for it, for the reason `why`."""

    why: str

    def holds(self, value: Any) -> bool:
        return False

    def wanted(self, name: str, write: Callable[[Any], str]) -> str:
        return f"no other setting: {self.why}"


Condition = Except | Naming | Never | OneOf


def condition(stated: Sequence[Any] | Condition) -> Condition:
    """What an annotation states, as a condition."""
    return stated if isinstance(stated, Except | Naming | Never | OneOf) else OneOf(tuple(stated))
