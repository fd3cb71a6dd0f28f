"""Names of slots as CGoDial writes and compares them.

The published ontology sends every slot through one function before it is written or looked for: RiSAWOZ's "3.0T MRI" and "3.0t mri" are ``mri``, and
"价格(元)" is ``价格``. A release that skips it can't reach 100 % in the published scorer, which takes blanks out of the predicted acts and not out of
what it looks for.

Its readers take "|", "=" and square brackets for structure wherever they stand, print acts as Python does (quotes and backslashes are escaped there),
and begin an act anew where a second domain has it. Signs of a name or a value that they would trip over are written in full width, and what is
expected of a turn is held to what they can find.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

_FIELD_STRENGTH = re.compile(r"3\.0\s?t\s?", re.IGNORECASE)
_UNIT = re.compile(r"\(.*\)$")
_DROPPED = re.compile(r"[/\s]+")
#: Signs that the published readers take for structure, and their full-width forms.
_STRUCTURE = {ord(sign): chr(ord(sign) + 0xFEE0) for sign in "|=[]"}
#: Those that Python's own printing of a text escapes, too.
_PRINTED = {ord(sign): chr(ord(sign) + 0xFEE0) for sign in "'\"\\"}
#: How the published evaluation spells ids, which are compared in lower case everywhere else.
_CAPITALS = ("Hospital_", "PC_", "Car_", "Class_")
#: The domains that the published readers know.
DOMAINS = ("旅游景点", "汽车", "辅导班", "飞机", "医院", "酒店", "电影", "电脑", "餐厅", "火车", "电视剧", "天气", "通用")


@lru_cache(maxsize=1 << 14)
def slot_name(name: str) -> str:
    """A slot as the release has it: without the field strength of "3.0T MRI", in lower case, without blanks, slashes and a unit in brackets at its
    end. A name that nothing would be left of stays as it is, without blanks."""
    short = _UNIT.sub("", _DROPPED.sub("", _FIELD_STRENGTH.sub("", name).lower()))
    return (short or "".join(name.split())).translate(_STRUCTURE | _PRINTED)


def value_text(value: str) -> str:
    """A value as the release has it: "|", "=" and square brackets in full width, which are equal to them under NFKC."""
    return value.translate(_STRUCTURE)


def hard_id(dialogue: str) -> str:
    """A dialogue's id as the published evaluation looks for it among the hard ones: in lower case, but for "Hospital_", "PC_", "Car_" and "Class_"
    wherever they stand in it."""
    found = dialogue.lower()
    for name in _CAPITALS:
        found = found.replace(name.lower(), name)
    return found


def in_order(acts: Mapping[str, Mapping[str, Sequence[str]]], due: Iterable[str]) -> list[str]:
    """The domains of a turn in the order in which the published reading loses least of what is due.

    Args:
        acts: domain -> act -> slots, in the order of the turn.
        due: the slots that are looked for.
    """
    wanted, order = set(due), list(acts)
    if len(found(acts, order) & wanted) < len(wanted & {slot for slots in acts.values() for some in slots.values() for slot in some}):
        order.sort(key=lambda domain: len(wanted & {slot for slots in acts[domain].values() for slot in slots}))
    return order


def found(acts: Mapping[str, Mapping[str, Sequence[str]]], order: Sequence[str]) -> set[str]:
    """The slots that the published reading finds: of an act of several domains those of the last."""
    read: dict[str, Sequence[str]] = {}
    for domain in order:
        read.update(acts[domain])
    return {slot for slots in read.values() for slot in slots}
