"""IRC logs of #ubuntu, and of any channel logged alike: NAME.ascii.txt, NAME.raw.txt or NAME.tok.txt, and NAME.annotation.txt with reply links.

Reply links may also lie in one file for many logs, as upstream's gold.test.graphs.txt (`NAME:A B -`) and gold.test.clusters.txt (`NAME:A B C`).
The format is that of Kummerfeld et al. (ACL 2019, P19-1374). A log in several forms is read in one: raw, else ascii, else tok; the others
must have as many lines. Folders called train, dev and test are the official splits. The archive's own layout (2007/01/02/#ubuntu.txt) is read too.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role
from dialmill.pipelines.disentangle.logs import VARIANTS, Log, _parse_tok, gathered_form, log_name, parse, read_gathered, split_lines, unlike
from dialmill.pipelines.disentangle.source import GATHERED, MessageSource
from dialmill.pipelines.sources.reading import dialogue_data, file_name
from dialmill.schemas import Message

_LINE = re.compile(r"\[\d\d:\d\d(?::\d\d)?\] ?(?:<[^>\n]+>|-\S+-|\()|===? |\S+ \d{4}-\d\d-\d\d \[\d\d:\d\d|\s?\* \S+ |<s> ")
_LINK = re.compile(r"\d+ \d+(?: -)?\s*$")
_SPLITS = {"train": b"train", "dev": b"valid", "valid": b"valid", "val": b"valid", "test": b"test"}
#: The release's training logs are called DATE.train-a, -b or -c, and DATE alone in the files for many logs.
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBERS = re.compile(r"\d+")


class UbuntuIrc(MessageSource):
    name = "ubuntu_irc"
    language = "en"
    licence = "CC BY 4.0"
    about = "IRC logs (ascii, raw or tokenised), with or without reply links, as in the irc-disentanglement release"

    def role(self, path: str, head: str) -> Role | None:
        if not path.endswith(".txt"):
            return None
        lines = [line for line in head.removeprefix("\ufeff").split("\n")[:60] if line.strip()]
        if path.endswith(".annotation.txt"):
            return "links" if all(map(_LINK.match, lines[:20])) else None
        if any(path.endswith(f".{form}.txt") for form in VARIANTS):
            return "dialogues"
        if gathered_form(lines[:20]) is not None:
            return "links"
        likely = sum(_LINE.match(line) is not None for line in lines)
        return "dialogues" if len(lines) > 0 and likely > 0.8 * len(lines) and not path.endswith("READ.history.md") else None

    def shadowed(self, paths: Sequence[str]) -> set[str]:
        best: dict[tuple[str, str], tuple[int, str]] = {}
        for path in paths:
            form = next((at for at, form in enumerate(VARIANTS) if path.endswith(f".{form}.txt")), len(VARIANTS))
            place = (path[: -len(file_name(path))], log_name(Path(file_name(path))))
            best[place] = min(best.get(place, (form, path)), (form, path))
        return set(paths) - {path for _, path in best.values()}

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        name, split = _place(path)
        if role == "form":
            yield name, "form", str(len(split_lines(data))).encode()
            return
        if not data.removeprefix(codecs.BOM_UTF8):
            raise InputError(path, "is empty", "give the log as released")
        if b"\0\0\0" in data[:4096]:
            raise InputError(path, "is no text", "is it another file?")
        if role == "links":
            if path.endswith(".annotation.txt"):
                yield name, "links", data
                return
            for other, links in read_gathered(path, data).links.items():
                packed = GATHERED + "".join(f"{one} {message} -\n" for one, message in links).encode("ascii")
                for log in (other, *(f"{other}.train-{part}" for part in "abc" if _DATE.fullmatch(other))):
                    yield log, "links", packed
            return
        yield name, "dialogue", (b"t" if path.endswith(".tok.txt") else b"l") + data
        if split is not None:
            yield name, "split", split

    def read(self, source_id: str, pieces: Sequence[Piece]) -> tuple[Log, list[tuple[int, int]] | None]:
        log = dialogue_data(pieces)
        lines = split_lines(log[1:])
        for piece in pieces:
            if piece.kind == "form" and int(piece.data) != len(lines):
                raise RecordError("line_counts_differ", f"{len(lines)} lines, but another form of this log has {int(piece.data)}: links would be off")
        if log[:1] == b"t":
            made = Log(source_id, source_id, "24h", tuple(_parse_tok(lines)))
        else:
            clock, parsed = parse(lines)
            wrong = unlike(parsed)
            if wrong is not None:
                raise RecordError("unparsed_lines", wrong)
            made = Log(source_id, source_id, clock, tuple(parsed))
        # The log's own annotation goes before a file for many logs.
        notes = sorted((piece.data for piece in pieces if piece.kind == "links"), key=lambda data: data.startswith(GATHERED))
        return made, _links(notes[0].removeprefix(GATHERED), len(lines)) if notes else None

    def messages(self, source_id: str, pieces: Sequence[Piece]) -> list[Message]:
        log, _ = self.read(source_id, pieces)
        kinds = {"message": "message", "action": "action", "notice": "notice", "blank": "blank"}
        return [
            Message(self.name, log.name, line.line, line.nick or None, line.text, kinds.get(line.kind, "system"), line.minute)  # type: ignore[arg-type]
            for line in log.lines
        ]


def _place(path: str) -> tuple[str, bytes | None]:
    """The name of the log a file belongs to, and the split its folder names. Folders that are numbers (2007/01/02) are part of the name."""
    *folders, last = re.split(r"[/\\!]", path)
    name = log_name(Path(last))
    numbers: list[str] = []
    while folders and _NUMBERS.fullmatch(folders[-1]):
        numbers.insert(0, folders.pop())
    split = _SPLITS.get(folders[-1].lower()) if folders else None
    return "-".join([*numbers, name]), split


def _links(data: bytes, lines: int) -> list[tuple[int, int]]:
    """Reply links (antecedent, message), by message.

    Raises:
        RecordError: `bad_links`, a line that isn't "A B -", or an id beyond the log's end.
    """
    links: set[tuple[int, int]] = set()
    for number, line in enumerate(split_lines(data), 1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) not in (2, 3) or not all(field.isdecimal() and len(field) < 10 for field in fields[:2]) or fields[2:] not in ([], ["-"]):
            raise RecordError("bad_links", f"line {number} of the annotation: expected 'A B -', found {line[:60]!r}")
        low, high = sorted(map(int, fields[:2]))
        if high >= lines:
            raise RecordError("bad_links", f"line {number} of the annotation: message {high}, but the log has {lines} lines")
        links.add((low, high))
    if not links:
        raise RecordError("bad_links", "the annotation holds no links")
    return sorted(links, key=lambda link: (link[1], link[0]))
