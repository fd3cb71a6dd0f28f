"""Manual pages as JSON lines: the external knowledge of the Ubuntu subtask 5.

Read are formatted pages (text) and sources (roff, also gzipped) from files and folders: "ls.1", "ls.1.gz", "ls.txt".
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import InputError

_NAME = re.compile(r"(?P<name>[^/\\]+?)(?:\.(?P<section>[1-9][a-z]*))?(?P<text>\.txt)?(?:\.gz)?$")
_ROFF = re.compile(rb"^[.'](?:\\\"|TH |Dd |SH |de |so )", re.MULTILINE)
_ESCAPE = re.compile(r"\\(?:f(?:\[[^\]]*\]|\(..|.)|s[+-]?\d+|\((..)|\[([^\]]*)\]|\*(?:\(..|\[[^\]]*\]|.)|(.))")
_SPECIAL = {
    "em": "—",
    "en": "–",
    "hy": "-",
    "lq": "“",
    "rq": "”",
    "aq": "'",
    "dq": '"',
    "bu": "•",
    "co": "©",
    "oq": "‘",
    "cq": "’",
    "ha": "^",
    "ti": "~",
}
#: Requests whose arguments are running text.
_SAYING = {"B", "I", "BR", "RB", "BI", "IB", "IR", "RI", "SM", "SB", "IP", "TP", "Nm", "Fl", "Ar", "Pa", "Xr", "Nd", "Op", "Cm", "Li", "It"}

_ALTERNATING = {"BR", "RB", "BI", "IB", "IR", "RI"}


class Manual(NamedTuple):
    """A page: its name and section ("ls", "1"), and its text by heading."""

    name: str
    section: str
    text: str


def pages(paths: Sequence[str]) -> list[str]:
    """The files that `paths` (files and folders) name, sorted.

    Raises:
        InputError: a path that doesn't exist, or a folder without pages.
    """
    found: list[str] = []
    for path in paths:
        if files.is_folder(path):
            inside = [item for item in files.list_files(path) if _is_page(item)]
            if not inside:
                raise InputError(path, "holds no manual pages", "expected are files such as ls.1, ls.1.gz or ls.txt")
            found += inside
        elif files.size(path) is None:
            raise InputError(path, "does not exist", "check knowledge=")
        else:
            found.append(path)
    return sorted(dict.fromkeys(found))


def _is_page(path: str) -> bool:
    found = _NAME.search(path)
    return found is not None and (found["section"] is not None or found["text"] is not None)


def read(path: str, data: bytes) -> Manual:
    """A page from the content of its file.

    Raises:
        InputError: not gzip though it is called so, or not UTF-8 or Latin-1 text.
    """
    if path.endswith(".gz"):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(path, f"is damaged: {error}", "unpack or copy it again") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    found = _NAME.search(path)
    name, section = (found["name"], found["section"] or "") if found else (path, "")
    if _ROFF.search(data):
        text = "\n".join(_plain(text))
    # A formatted page may hold overstrikes: a character, a backspace, the character again.
    text = re.sub(".\b", "", text)
    return Manual(name, section, re.sub(r"\n{3,}", "\n\n", text).strip())


def _plain(roff: str) -> Iterator[str]:
    """The text of a page's source; requests that only shape it are left out."""
    ignoring = False
    for line in roff.split("\n"):
        if ignoring:
            ignoring = not line.startswith("..")
            continue
        if not line.startswith((".", "'")):
            yield _unescaped(line)
            continue
        request, _, rest = line[1:].strip().partition(" ")
        given = [part for found in re.findall(r'"((?:[^"]|"")*)"|(\S+)', rest) for part in found if part]
        # Fonts that alternate stand without blanks between them.
        rest = ("" if request in _ALTERNATING else " ").join(given)
        if request in ("de", "ig", "am"):
            ignoring = True
        elif request in ("SH", "SS", "Sh", "Ss"):
            yield "\n" + _unescaped(rest)
        elif request in ("PP", "P", "LP", "sp", "Pp", "TP"):
            yield ""
        elif request in _SAYING and rest:
            yield _unescaped(rest)


def _unescaped(text: str) -> str:
    def put(found: re.Match[str]) -> str:
        special, character = found[1] or found[2], found[3]
        if special:
            return _SPECIAL.get(special, "")
        return {"-": "-", "e": "\\", "&": "", " ": " ", "~": " ", "'": "'", '"': "", "\\": "\\"}.get(character or "", "")

    return _ESCAPE.sub(put, text)
