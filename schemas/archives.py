"""Zip archives that state more than they should hold: refused by the sizes in their directory, before anything is unpacked."""

from __future__ import annotations

import os
import re
import zipfile

#: A member above this size that also unpacks to more than so many times its packed size is refused: no corpus is packed like that.
LARGEST, RATIO = 2 << 30, 100
#: Raises the limit (bytes, or with K, M, G); ``--max-unpacked`` sets it, and worker processes inherit it.
VARIABLE = "DIALMILL_MAX_UNPACKED"
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)


def size_of(text: str) -> int:
    """Bytes of a size as people write it: "3000000000", "3G", "512M".

    Raises:
        ValueError: it is no size.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no size; expected bytes, or a number with K, M, G or T")
    return int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " "))


def limit() -> int:
    """The largest member that may be packed at any ratio, in bytes."""
    given = os.environ.get(VARIABLE)
    return size_of(given) if given else LARGEST


def too_large(member: zipfile.ZipInfo) -> str | None:
    """What is wrong with a member that would fill the memory, None where nothing is."""
    if member.file_size <= limit() or member.file_size <= RATIO * max(1, member.compress_size):
        return None
    return (
        f"the member {member.filename} states {member.file_size:,} bytes unpacked of {member.compress_size:,} packed"
        f" ({member.file_size // max(1, member.compress_size)} to 1), more than a corpus can have"
    )
