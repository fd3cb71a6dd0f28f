"""Reading whole files through a source without a pipeline, as the pipeline does it: pieces, joined by id, parsed."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Piece, Source
from dialmill.pipelines.sources.peek import HEAD_BYTES, head_text
from dialmill.schemas import Dialogue


class Read(NamedTuple):
    dialogues: dict[str, Dialogue]
    rejects: dict[str, RecordError]
    absent: set[str]  #: ids that only a list or a file of acts names
    repeated: int  #: dialogues under an id that another has already

    def notes(self) -> Counter[str]:
        """The notes of all dialogues, by reason."""
        total: Counter[str] = Counter()
        for dialogue in self.dialogues.values():
            for step in dialogue.lineage:
                for entry in step.reasons:
                    reason, _, count = entry.rpartition(":")
                    total[reason] += int(count)
        return total


def read_data(source: Source, files: Mapping[str, bytes]) -> Read:
    """Reads files given as path -> content."""
    joined: dict[str, list[Piece]] = {}
    for number, (path, data) in enumerate(sorted(files.items())):
        role = source.role(path, head_text(data[:HEAD_BYTES], lambda data=data: data))  # type: ignore[misc]  # bound now
        if role is None or role == "other":
            continue
        for index, (source_id, kind, piece) in enumerate(source.pieces(role, path, data)):
            joined.setdefault(source_id, []).append(Piece(kind, number, index, piece))
    read = Read({}, {}, set(), 0)
    repeated = 0
    for source_id, pieces in joined.items():
        own = [piece for piece in pieces if piece.kind == "dialogue"]
        if not own:
            read.absent.add(source_id)
            continue
        repeated += len(own) - 1
        try:
            read.dialogues[source_id] = source.parse(source_id, [own[0], *(piece for piece in pieces if piece.kind != "dialogue")])
        except RecordError as error:
            read.rejects[source_id] = error
    return read._replace(repeated=repeated)


def read_paths(source: Source, paths: Iterable[Path]) -> Read:
    """Reads files and the members of zips."""
    files: dict[str, bytes] = {}
    for path in paths:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                files.update({f"{path}!{name}": archive.read(name) for name in archive.namelist()})
        else:
            files[str(path)] = path.read_bytes()
    return read_data(source, files)


def parse(source: Source, record: Any, acts: Any = None, source_id: str = "D1") -> Dialogue:
    """One record through `Source.parse`."""
    pieces = [Piece("dialogue", 0, 0, record if isinstance(record, bytes) else json.dumps(record).encode())]
    if acts is not None:
        pieces.append(Piece("acts", 1, 0, json.dumps(acts).encode()))
    return source.parse(source_id, pieces)
