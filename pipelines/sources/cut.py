"""Large files in parts: a JSON array or object, or a file of JSON lines, read as a stream and cut between its items into smaller files of its kind.

A part is what the file would be if it held these items alone, so that a source reads it like any file. A file that is not sound JSON throughout isn't
cut (`NotCut`): read whole, it gets the message that says where and why.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO

#: Bytes of a part, about; smaller files are read whole.
PART = 8 << 20

_BLANKS = re.compile(r"[ \t\r\n]*")
_KEY = re.compile(r'[ \t\r\n]*"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*')


class Part(bytes):
    """Items of a file as a file. `first` says how many items (of JSON lines: lines) stand before them."""

    first: int = 0

    @classmethod
    def of(cls, data: bytes, first: int) -> Part:
        """A part that begins with the item of this number, from 0."""
        made = cls(data)
        made.first = first
        return made


def first_of(data: bytes) -> int:
    """How many items stand before those of a file or part: 0 for a file."""
    return data.first if isinstance(data, Part) else 0


class NotCut(Exception):
    """A file that can't be cut."""


def parts(path: str, stream: BinaryIO) -> Iterator[Part]:
    """The parts of a file of JSON or JSON lines, by the ending of its name.

    Raises:
        NotCut: it is not UTF-8, not sound JSON, or neither an array nor an object; maybe after some parts.
    """
    yield from _lines(stream) if path.endswith(".jsonl") else _items(stream)


def _lines(stream: BinaryIO) -> Iterator[Part]:
    first, rest = 0, b""
    while data := stream.read(PART):
        whole, newline, rest = (rest + data).rpartition(b"\n")
        if newline:
            part = (whole + newline).removeprefix(codecs.BOM_UTF8) if not first else whole + newline
            yield Part.of(part, first)
            first += part.count(b"\n")
    if rest:
        yield Part.of(rest if first else rest.removeprefix(codecs.BOM_UTF8), first)


class _Window:
    """The text of a stream that is under the eye: what was read and not yet cut away."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._decoder = stream, codecs.getincrementaldecoder("utf-8-sig")()
        self.text, self.place, self.ended = "", 0, False

    def more(self) -> None:
        """Reads on; raises `NotCut` at the end of the stream."""
        if self.ended:
            raise NotCut
        data = self._stream.read(PART)
        self.ended = not data
        try:
            self.text = self.text[self.place :] + self._decoder.decode(data, self.ended)
        except UnicodeDecodeError:
            raise NotCut from None
        self.place = 0

    def next(self) -> str:
        """The next character that is no blank; the place is then before it."""
        while True:
            found = _BLANKS.match(self.text, self.place)
            self.place = found.end() if found else self.place
            if self.place < len(self.text):
                return self.text[self.place]
            self.more()


_decode = json.JSONDecoder().raw_decode
#: What stands behind an item.
_AFTER = frozenset(",]} \t\r\n")


def _item(window: _Window, keyed: bool) -> str:
    """The next item as it is written, with its key where items have keys."""
    while True:
        start = window.place
        try:
            at = start
            if keyed:
                key = _KEY.match(window.text, at)
                if key is None:
                    raise ValueError
                at = key.end()
            _, end = _decode(window.text, at)
            # A number may go on in what was not read yet: "1" is a number, and so is "1.5".
            if window.text[end : end + 1] in _AFTER:
                window.place = end
                return window.text[start:end]
        except ValueError:
            pass
        except RecursionError:
            raise NotCut from None
        window.place = start
        window.more()


def _items(stream: BinaryIO) -> Iterator[Part]:
    window = _Window(stream)
    opening = window.next()
    if opening not in "{[":
        raise NotCut
    keyed, closing = opening == "{", "}" if opening == "{" else "]"
    window.place += 1
    first, held, size = 0, [], 0
    if window.next() == closing:
        window.place += 1
    else:
        while True:
            window.next()
            item = _item(window, keyed)
            held.append(item)
            size += len(item)
            mark = window.next()
            if mark not in (",", closing):
                raise NotCut
            window.place += 1
            if mark == closing:
                break
            if size > PART:
                yield Part.of((opening + ",\n".join(held) + closing).encode(), first)
                first, held, size = first + len(held), [], 0
    while not window.ended:
        if window.text[window.place :].strip(" \t\r\n"):
            raise NotCut
        window.place = len(window.text)
        if not window.ended:
            window.more()
    if window.text[window.place :].strip(" \t\r\n"):
        raise NotCut
    yield Part.of((opening + ",\n".join(held) + closing).encode(), first)
