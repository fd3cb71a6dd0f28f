"""What a check of files found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Checked(NamedTuple):
    """What was checked and found right, and what is wrong: sentences for people."""

    checked: Sequence[str] = ()
    problems: Sequence[str] = ()
