"""Names of slots as CGoDial writes and compares them.

The published ontology sends every slot through one function before it is written or looked for: RiSAWOZ's "3.0T MRI" and "3.0t mri" are ``mri``, and
"价格(元)" is ``价格``. A release that skips it can't reach 100 % in the published scorer, which takes blanks out of the predicted acts and not out of
what it looks for.
"""

from __future__ import annotations

import re
from functools import lru_cache

_FIELD_STRENGTH = re.compile(r"3\.0\s?t\s?", re.IGNORECASE)
_UNIT = re.compile(r"\(.*\)$")
_DROPPED = re.compile(r"[/\s]+")


@lru_cache(maxsize=1 << 14)
def slot_name(name: str) -> str:
    """A slot as the release has it: without the field strength of "3.0T MRI", in lower case, without blanks, slashes and a unit in brackets at its
    end. A name that nothing would be left of stays as it is, without blanks."""
    short = _UNIT.sub("", _DROPPED.sub("", _FIELD_STRENGTH.sub("", name).lower()))
    return short or "".join(name.split())
