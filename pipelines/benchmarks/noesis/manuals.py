"""Manual pages as JSON lines: the external knowledge of the Ubuntu subtask 5.

Read are formatted pages (text) and sources (roff, also gzipped) from files and folders: "ls.1", "ls.1.gz", "ls.txt".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dialmill.pipelines.benchmarks.noesis import mdoc
from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import InputError
from dialmill.schemas import archives

_NAME = re.compile(r"(?P<name>[^/\\]+?)(?:\.(?P<section>[1-9][a-z]*))?(?P<text>\.txt)?(?:\.gz)?$")
_ROFF = re.compile(rb"^[.'](?:\\\"|TH |Dd |SH |de |so )", re.MULTILINE)
_ESCAPE = re.compile(
    r"\\(?:\".*|[fF](?:\[[^\]]*\]|\(..|.)|s(?:\[[^\]]*\]|\([+-]?..|[+-]?\d{1,2}|[+-]?'[^']*')|[mMn][+-]?(?:\[[^\]]*\]|\(..|.)|[hvwxXNDlLoRb]'[^']*'"
    r"|\((..)|\[([^\]]*)\]|\*(?:\((..)|\[([^\]]*)\]|.)|(.))"
)
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
    "rs": "\\",
    "ga": "`",
    "Fo": "«",
    "Fc": "»",
    "mu": "×",
    "ge": "≥",
    "le": "≤",
    "->": "→",
    "<-": "←",
    "rg": "®",
    "tm": "™",
    "sc": "§",
    "de": "°",
    "+-": "±",
    "ba": "|",
    "sl": "/",
    "at": "@",
    "sh": "#",
    "Do": "$",
    "lB": "[",
    "rB": "]",
    "lC": "{",
    "rC": "}",
    "la": "⟨",
    "ra": "⟩",
    "ss": "ß",
    "ae": "æ",
    "oe": "œ",
}
#: Strings that the macros define.
_STRINGS = {"Lt": "<", "Gt": ">", "Le": "≤", "Ge": "≥", "Am": "&", "Ba": "|", "Lq": "“", "Rq": "”", "lq": "“", "rq": "”", "Tm": "™", "aq": "'"}
#: Requests whose arguments are running text, and those whose arguments alternate between two fonts, without blanks between them.
_SAYING = {"B", "I", "SM", "SB"}
_ALTERNATING = {"BR", "RB", "BI", "IB", "IR", "RI"}
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|((?:\\ |\S)+)')


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
        InputError: not gzip though it is called so, or too large when unpacked, or not UTF-8 or Latin-1 text.
    """
    if path.endswith(".gz"):
        try:
            data = archives.gunzip(data)
        except ValueError as error:
            raise InputError(path, str(error), "unpack or copy it again; --max-unpacked SIZE raises the limit") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    found = _NAME.search(path)
    name, section = (found["name"], found["section"] or "") if found else (path, "")
    if _ROFF.search(data):
        text = "\n".join(mdoc.render(text, _unescaped) if mdoc.is_mdoc(text) else _plain(text))
    # A formatted page may hold overstrikes: a character, a backspace, the character again.
    text = re.sub(".\b", "", text)
    return Manual(name, section, re.sub(r"\n{3,}", "\n\n", text).strip())


def _plain(roff: str) -> Iterator[str]:
    """The text of a page's source; requests that only shape it are left out."""
    ignoring = False
    for line in roff.split("\n"):
        if ignoring:
            ignoring = not line.startswith("..")
        elif line.startswith((".", "'")):
            bare = line[1:].strip()
            request, _, rest = (bare + " " if bare.endswith("\\") else bare).partition(" ")
            ignoring = request in ("de", "de1", "ig", "am")
            given = [_unescaped((one[1] or "").replace('""', '"') if one[2] is None else one[2]) for one in _ARGUMENT.finditer(_uncommented(rest))]
            yield from _shown(request, given)
        elif line.lstrip().startswith('\\"'):
            continue
        else:
            yield _unescaped(line)


def _uncommented(rest: str) -> str:
    """The arguments of a request without the comment behind them."""
    return re.sub(r'(?<!\\)\\".*', "", rest)


def _shown(request: str, given: list[str]) -> Iterator[str]:
    """What a request of the man macros shows."""
    if request in ("SH", "SS"):
        yield "\n" + " ".join(given)
    elif request in ("PP", "P", "LP", "sp", "TP", "HP", "TQ"):
        yield ""
    elif request == "IP":
        # The second argument is how far the text is indented.
        yield given[0] if given else ""
    elif request == "OP":
        yield f"[{' '.join(given)}]"
    elif request == "SY":
        yield "\n" + " ".join(given)
    elif request in ("UR", "MT", "UE", "ME") and given:
        yield given[0]
    elif request == "MR" and given:
        yield f"{given[0]}({given[1]}){''.join(given[2:])}" if len(given) > 1 else given[0]
    elif request in _ALTERNATING and given:
        yield "".join(given)
    elif request in _SAYING and given:
        yield " ".join(given)


def _unescaped(text: str) -> str:
    def put(found: re.Match[str]) -> str:
        special, string, character = found[1] or found[2], found[3] or found[4], found[5]
        if special or string:
            return _SPECIAL.get(special, "") if special else _STRINGS.get(string, "")
        return {"-": "-", "e": "\\", " ": " ", "~": " ", "0": " ", "'": "'", "`": "`", "\\": "\\", ".": "."}.get(character or "", "")

    return _ESCAPE.sub(put, text)
