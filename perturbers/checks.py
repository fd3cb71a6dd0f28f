"""What certifies a variant. (Contract.)"""

from __future__ import annotations

from schemas import Turn

from .values import View


def certify(view: View, after: Turn, mode: str) -> str | None:
    raise NotImplementedError
