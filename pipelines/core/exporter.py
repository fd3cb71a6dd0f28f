"""The contract of an exporter: from the records of a suite to the files of a format that other people's programs read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import msgspec
from dialmill.pipelines.core import files, written
from dialmill.schemas import Dialogue

#: The splits that make a corpus; test_hard repeats records of test.
SPLITS = ("train", "valid", "test")


class _Numbered(msgspec.Struct):
    variant: int


_VARIANT = msgspec.json.Decoder(_Numbered)


@dataclass(frozen=True)
class Suite:
    """The records of one suite of an output folder, which are read anew whenever they are asked for.

    Args:
        folder: the output folder, local or remote.
        name: the suite.
    """

    folder: str
    name: str

    def records(self, *splits: str) -> Iterator[Dialogue]:
        """The records of the splits that are named, of train, valid and test without; in the order of their files.

        Raises:
            InputError: a line is none.
        """
        for path, number, line in self._lines(splits or SPLITS):
            yield written.record(path, number, line)

    @cached_property
    def several(self) -> bool:
        """Whether some dialogue stands in it in several variants."""
        return any(written.part(*line, _VARIANT).variant for line in self._lines(SPLITS))

    def exported_id(self, record: Dialogue) -> str:
        """The id under which a record is exported: its source's own, with "~N" behind it where there are several variants."""
        return f"{record.source_id}~{record.variant}" if self.several else record.source_id

    def _lines(self, splits: Sequence[str]) -> Iterator[tuple[str, int, bytes]]:
        for split in splits:
            path = files.join(self.folder, "dialogues", self.name, f"{split}.jsonl")
            if files.size(path) is not None:
                with files.read(path) as lines:
                    for number, line in enumerate(lines, 1):
                        yield path, number, line


class Chunk(NamedTuple):
    """A part of a file, and how many records begin in it."""

    data: bytes
    records: int = 0


class ExportFile(NamedTuple):
    """A file of an export.

    Args:
        path: below the suite's folder, with forward slashes.
        chunks: its content, made while it is written.
        schema: the name of the schema of its records, None where there is none.
        holds_records: whether it holds records, which are counted; a README does not.
    """

    path: str
    chunks: Iterable[Chunk]
    schema: str | None = None
    holds_records: bool = True


class Exporter(ABC):
    """One format. Subclasses hold no state; the built-in ones stand in `dialmill.pipelines.exporters.registry`, those of plug-ins under the entry
    points `dialmill.exporters`.

    Every suite becomes a whole corpus of the format: all its splits, with the texts, spans, acts and states of the records as they are now.
    """

    name: ClassVar[str]
    about: ClassVar[str]  #: one line for `dialmill list exporters`
    #: The source that reads what it writes, "" where none does.
    reads_back: ClassVar[str] = ""
    #: Whether the format has a place for the labels of a record, so that what is read back is the record; else it is its texts.
    keeps_labels: ClassVar[bool] = True
    #: Whether it writes tasks, which are nothing without the labels of the test split.
    needs_labels: ClassVar[bool] = False

    @abstractmethod
    def files(self, suite: Suite) -> Iterator[ExportFile]:
        """The files of a suite, in any order. The same records give the same bytes.

        Raises:
            DialmillError: the suite can't be written in this format; the message says why.
        """


def text_file(path: str, text: str) -> ExportFile:
    """A file that holds no records."""
    return ExportFile(path, [Chunk(text.encode())], None, False)
