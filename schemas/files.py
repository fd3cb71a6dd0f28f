"""Validation of whole files: which kind a file is, and what is wrong in it, line by line or item by item."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from dialmill.schemas.archives import json_members, too_large
from dialmill.schemas.flow import load_yaml
from dialmill.schemas.kinds import CORE, FileKind, Relative, by_content, by_name, related
from dialmill.schemas.records import validate_line, validate_record, validator
from dialmill.schemas.strict_json import JsonError, parse
from dialmill.schemas.validator import Problem, names, show

#: How often one problem is told of a file whose lines all have it.
_REPEATED = 3


@dataclass
class Report:
    """What came of validating one file.

    Args:
        path: the file (``archive.zip!member`` inside a zip).
        schema: name of the schema it was held to; None if its kind could not be told.
        records: how many lines, rows or items were checked.
        count: problems found, all of them.
        problems: the first of them, at most `limit`.
        unknown: whether it could be read, but is of no kind that there is a schema for.
        about: what it is instead, where that is known (`dialmill.schemas.kinds.Relative`); such a file is no problem.
    """

    path: str
    schema: str | None = None
    limit: int = 20
    records: int = 0
    count: int = 0
    problems: list[Problem] = field(default_factory=list)
    unknown: bool = False
    about: str | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.count == 0

    def add(self, problems: Iterable[Problem], line: int | None = None) -> None:
        """Counts problems and keeps the first, with their line."""
        for problem in problems:
            self.count += 1
            if len(self.problems) < self.limit:
                self.problems.append(problem if line is None else replace(problem, line=line))

    def __str__(self) -> str:
        """For people: one line a problem, each naming the file, then what was left out."""
        if self.about is not None:
            return f"{self.path}: is {self.about}: no schema for this kind, not checked"
        if self.ok:
            return f"{self.path}: {self.records} records are valid ({self.schema})"
        seen: dict[str, int] = {}
        lines = []
        for problem in self.problems:
            told = str(replace(problem, line=None))
            seen[told] = seen.get(told, 0) + 1
            # A file of another format has the same fault in every line.
            if seen[told] <= _REPEATED:
                lines.append(f"{self.path}: {problem}")
        alike = sum(number - _REPEATED for number in seen.values() if number > _REPEATED)
        if alike:
            lines.append(f"{self.path}: and the same in {alike} more {'line' if alike == 1 else 'lines'}")
        if self.count > len(self.problems):
            lines.append(f"{self.path}: and {self.count - len(self.problems)} more problems")
        return "\n".join(lines)


def validate_file(
    path: str | Path, schema: str | None = None, limit: int = 20, kinds: Sequence[FileKind] = CORE, relatives: Sequence[Relative] = ()
) -> Report:
    """Validates any file of a known kind: JSONL of dialogues or rejects, Parquet of dialogues, manifest, release and source files, also zipped.

    Args:
        path: a local file. A JSONL file without a byte is a valid subset without records; any other empty file is a problem.
        schema: name of a schema; told from content and name if None.
        limit: how many problems to keep in the report; all are counted.
        kinds: the kinds of files that can be told; the core's own by default, `dialmill.pipelines.benchmarks.registry.file_kinds` has all.
        relatives: kinds that are told by what they are instead of being held to a schema.

    Returns:
        A report. A file that is missing, a folder, empty, cut off, binary or of no known kind is one clear problem in it.

    Raises:
        KeyError: no schema has that name; the message lists those there are.
    """
    if schema is not None and schema not in names():
        raise KeyError(f"no schema {schema!r}; there are: {', '.join(names())}")
    report = Report(str(path), schema, limit)
    path = Path(path)
    try:
        if path.suffix == ".parquet":
            _parquet(path, report)
        elif path.suffix in (".jsonl", ".ndjson"):
            _lines(path, report, kinds, relatives)
        elif path.suffix == ".zip":
            _zip(path, report, kinds, relatives)
        else:
            _document(path.read_bytes(), path, report, kinds, relatives)
    except OSError as error:
        report.add([Problem("", f"can't be read: {error.strerror or error}")])
    return report


def _lines(path: Path, report: Report, kinds: Sequence[FileKind], relatives: Sequence[Relative]) -> None:
    if report.schema is None:
        first = next((content for content in _contents(path) if isinstance(content, dict)), None)
        if (about := related(relatives, first)) is not None:
            report.about = about
            return
        report.schema = _line_kind(path, kinds)
        if report.schema is None:
            report.unknown = True
            report.add([Problem("", f"holds lines of no known kind; name one with --schema: {', '.join(names())}", show(first))])
            return
    schema = report.schema
    seen: dict[str, int] = {}
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            report.records += 1
            problems = validate_line(schema, line)
            report.add(problems, line=number)
            if report.schema == "dialogue" and not problems:
                _twice(parse(line.rstrip(b"\r\n")), seen, number, report)


def _twice(record: dict[str, Any], seen: dict[str, int], number: int, report: Report) -> None:
    """Two records of a file may not share their id."""
    first = seen.setdefault(record["dialogue_id"], number)
    if first != number:
        report.add([Problem("dialogue_id", f"is on line {first} already", show(record["dialogue_id"]))], line=number)


#: Keys of our own records of which a line of any other file has none.
_OURS = frozenset({"dialogue_id", "source_id", "turns", "lineage"})


def _contents(path: Path) -> Iterator[Any]:
    """What the first lines of a file hold, those that are JSON."""
    with path.open("rb") as stream:
        for line in islice(stream, 100):
            try:
                yield parse(line.rstrip(b"\r\n"))
            except JsonError:
                continue


def _line_kind(path: Path, kinds: Sequence[FileKind]) -> str | None:
    """The first line that is of a known kind tells; without one, the file's name does. None where lines of objects have no key of ours, so that they
    are somebody else's records and not damaged ones."""
    strange = False
    for content in _contents(path):
        found = by_content(kinds, content, lines=True)
        if found is not None:
            return found
        if not isinstance(content, dict) or content.keys() & _OURS:
            break
        strange = bool(content)
    else:
        named = by_name(kinds, path, lines=True)
        return None if strange and named in (None, "dialogue") else named or "dialogue"
    return by_name(kinds, path, lines=True) or "dialogue"


def _parquet(path: Path, report: Report) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from dialmill.schemas.arrow import arrow_schema, read_rows

    report.schema = report.schema or "dialogue"
    try:
        present = pq.read_schema(path).names
        due = arrow_schema(report.schema).names
        missing = [name for name in due if name not in present]
        if missing:
            report.add([Problem("", f"lacks the columns {', '.join(missing)}", ", ".join(present))])
            return
        seen: dict[str, int] = {}
        for row in read_rows(path):
            report.records += 1
            problems = validate_record(report.schema, row)
            report.add(problems, line=report.records)
            if report.schema == "dialogue" and not problems:
                _twice(row, seen, report.records, report)
    except pa.ArrowInvalid as error:
        kind = "is empty" if path.stat().st_size == 0 else f"is no Parquet file, or cut off ({str(error).splitlines()[0]})"
        report.add([Problem("", kind)])
    except ValueError as error:  # a schema of files that are no tables
        report.add([Problem("", str(error))])


def _zip(path: Path, report: Report, kinds: Sequence[FileKind], relatives: Sequence[Relative]) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            members = json_members(archive)
            if len(members) != 1:
                report.add([Problem("", f"holds {len(members)} JSON files, one is expected: unpack it and validate the files")])
                return
            report.path += "!" + members[0]
            problem = too_large(archive.getinfo(members[0]))
            if problem is not None:
                report.add([Problem("", f"{problem}; set DIALMILL_MAX_UNPACKED to read it all the same")])
                return
            _document(archive.read(members[0]), Path(members[0]), report, kinds, relatives)
    except (zipfile.BadZipFile, RuntimeError) as error:  # RuntimeError: encrypted
        report.add([Problem("", "is no zip archive, or cut off" if isinstance(error, zipfile.BadZipFile) else str(error))])


def _document(data: bytes, path: Path, report: Report, kinds: Sequence[FileKind], relatives: Sequence[Relative]) -> None:
    try:
        document = load_yaml(data) if path.suffix in (".yaml", ".yml") else parse(data)
    except (JsonError, ValueError) as error:
        report.add([Problem("", str(error))])
        return
    if report.schema is None and (about := related(relatives, document)) is not None:
        report.about = about
        return
    report.schema = report.schema or by_content(kinds, document, lines=False) or by_name(kinds, path, lines=False)
    if report.schema is None:
        report.unknown = True
        report.add([Problem("", f"is of no known kind; name one with --schema: {', '.join(names())}", show(document))])
        return
    checked = validator(report.schema)
    shape = checked.schema
    many = shape["type"] == "array" or (shape["type"] == "object" and "properties" not in shape)
    report.records = len(document) if many and isinstance(document, (list, dict)) else 1
    if not many or not isinstance(document, dict if shape["type"] == "object" else list):
        report.add(validate_record(report.schema, document))
    elif not checked.is_valid(document):
        # Item by item, so that the slow side sees only what is at fault.
        if isinstance(document, list):
            for index, item in enumerate(document):
                if not checked.is_valid([item]):
                    report.add(replace(problem, path=f"[{index}]" + problem.path.removeprefix("[0]")) for problem in checked.errors([item]))
        else:
            for key, item in document.items():
                if not checked.is_valid({key: item}):
                    report.add(checked.errors({key: item}))
