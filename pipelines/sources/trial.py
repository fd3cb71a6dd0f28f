"""A file read on trial: which source knows it, and how many of its records that source can read. For files that no JSON Schema is for."""

from __future__ import annotations

from dataclasses import dataclass, field

from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Piece, Role
from dialmill.pipelines.disentangle.source import MessageSource
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.inputs import head_of


@dataclass
class Trial:
    """What came of it.

    Args:
        source: the source that knows the file.
        role: what the file is to it.
        records: the dialogues (of a log the messages, of a side file the entries) that were read.
        rejected: (id, reason, evidence) of dialogues that can't be.
    """

    source: str
    role: Role
    records: int = 0
    rejected: list[tuple[str, str, str]] = field(default_factory=list)


def try_file(path: str) -> Trial | None:
    """Reads a file, or a zip's member (``archive.zip!member``), through the source that knows it; None where none does.

    A file that several sources know counts as dialogues of the first by name where it holds dialogues, else as a side file of the first.

    Raises:
        InputError: the file as a whole can't be read as that source's format; says where and what was expected.
    """
    text = head_of(path)
    if not text.strip():
        return None
    roles = [(one, role) for one in registry.usable() if (role := one.role(path, text))]
    if not roles:
        return None
    source, role = min(roles, key=lambda found: found[1] != "dialogues")
    trial = Trial(source.name, role)
    for index, (source_id, kind, data) in enumerate(source.pieces(role, path, files.without_mark(files.read_bytes(path)))):
        if role != "dialogues" or kind == "dialogue":
            trial.records += 1
        if kind == "dialogue":
            try:
                own = [Piece(kind, 0, index, data)]
                if isinstance(source, MessageSource):
                    trial.records += len(source.messages(source_id, own)) - 1
                else:
                    source.parse(source_id, own)
            except RecordError as error:
                trial.records -= 1
                trial.rejected.append((source_id, error.reason, error.evidence))
    return trial
