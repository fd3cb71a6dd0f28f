"""What modules say to mypyc, which compiles some of them where a user asks for it (setup.py)."""

from __future__ import annotations

from typing import TypeVar

C = TypeVar("C", bound=type)


def interpreted(kind: C) -> C:
    """Leaves a class of a compiled module to Python: mypyc makes no native class of one with a decorator that it doesn't know, and a dataclass below
    a class of another module can't be one. Its methods are compiled all the same."""
    return kind
