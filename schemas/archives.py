"""Archives: zips that state more than they should hold are refused by the sizes in their directory, before anything is unpacked; gzip, whose stated
size says nothing of several members, is unpacked up to the limit; other kinds are known by their first bytes, so that a message can name them."""

from __future__ import annotations

import os
import re
import zipfile
import zlib

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


#: What a packed file begins with, and where.
_BEGINNINGS = (
    (b"\x1f\x8b", 0, "gzip"),
    (b"BZh", 0, "bzip2"),
    (b"\xfd7zXZ\x00", 0, "xz"),
    (b"\x28\xb5\x2f\xfd", 0, "zstd"),
    (b"7z\xbc\xaf\x27\x1c", 0, "7z"),
    (b"Rar!\x1a\x07", 0, "rar"),
    (b"PK\x03\x04", 0, "zip"),
    (b"ustar", 257, "tar"),
)
#: Bytes of a file that tell how it is packed.
TELLING = 512
#: Bytes that are unpacked at a time.
_PIECE = 1 << 20


def json_members(archive: zipfile.ZipFile) -> list[str]:
    """The names of the JSON files in a zip, without those that macOS adds."""
    return [name for name in archive.namelist() if name.endswith(".json") and not name.startswith("__MACOSX")]


def packing(head: bytes) -> str:
    """How a file is packed that begins so (`TELLING` bytes will do): gzip, bzip2, xz, zstd, 7z, rar, zip or tar; "" where it isn't."""
    return next((kind for mark, place, kind in _BEGINNINGS if head[place : place + len(mark)] == mark), "")


def gunzip(data: bytes) -> bytes:
    """The content of a gzip file, all members one after another.

    Raises:
        ValueError: it is damaged, or unpacks to more than `limit` bytes and more than 100 times its size.
    """
    most, found, rest = max(limit(), RATIO * len(data)), bytearray(), data
    while rest:
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 16)
        while not inflater.eof:
            try:
                piece = inflater.decompress(rest, _PIECE)
            except zlib.error as error:
                raise ValueError(f"is damaged: {error}") from None
            found += piece
            rest = inflater.unconsumed_tail
            if len(found) > most:
                raise ValueError(f"unpacks to more than {most:,} bytes of {len(data):,} packed, more than a corpus can have")
            if not piece and not rest and not inflater.eof:
                raise ValueError("is damaged: it is cut off")
        # Behind the last member there may be zeros, which fill a block of a tape.
        rest = inflater.unused_data.lstrip(b"\x00")
    return bytes(found)
