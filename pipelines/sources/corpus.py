"""A corpus as an iterator of dialogues, in this process and without Beam: what `dialmill.read` gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import RecordError, UsageError
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.core.source import Piece, Source, bounded, id_fault
from dialmill.pipelines.core.stage import Reject
from dialmill.pipelines.disentangle.source import MessageSource
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.inputs import find_inputs
from dialmill.schemas import Dialogue

#: What stands about a dialogue in other files than its own, by source and id.
_Beside = dict[tuple[str, str], list[Piece]]


def open_corpus(
    paths: Sequence[str], source: str | None, rejected: Callable[[Reject], None], fields: Mapping[str, str] | None = None
) -> Iterator[Dialogue]:
    """The dialogues of a corpus, in the order of its files.

    One file with dialogues is held at a time, and what the other files say (acts, lists of splits) as a whole.

    Args:
        paths: files, zips and folders, local or remote.
        source: the name of the format, None to tell it apart.
        rejected: is called with every record that can't be used.
        fields: our name of a field -> the input's, for one's own data.

    Raises:
        DialmillError: the files can't be used, at once; damage inside one that its beginning didn't show, when it is reached.
    """
    chosen = registry.chosen(source, fields or {})
    inputs = find_inputs(paths, chosen)
    sources = {name: chosen or registry.get(name) for name in sorted({one.source for one in inputs})}
    for one in inputs:
        if isinstance(sources[one.source], MessageSource):
            raise UsageError(f"{one.shown} is a log of many conversations; `dialmill disentangle` makes dialogues of it, which this takes")
    return _dialogues(inputs, sources, rejected)


def _dialogues(inputs: Sequence[InputFile], sources: dict[str, Source], rejected: Callable[[Reject], None]) -> Iterator[Dialogue]:
    beside: _Beside = {}
    for one in inputs:
        if one.role not in ("other", "dialogues"):
            for source_id, piece in _pieces(one, sources):
                beside.setdefault((one.source, source_id), []).append(piece)
    first_of: dict[str, tuple[InputFile, Piece]] = {}
    for one in inputs:
        if one.role != "dialogues":
            continue
        joined: dict[str, list[Piece]] = {}
        for source_id, piece in _pieces(one, sources):
            joined.setdefault(source_id, []).append(piece)
        for source_id, pieces in joined.items():
            for piece in [piece for piece in pieces if piece.kind == "dialogue"]:
                file, first = first_of.setdefault(source_id, (one, piece))
                try:
                    if (fault := id_fault(source_id)) is not None:
                        raise RecordError(fault, repr(source_id))
                    if first is not piece:
                        raise RecordError("duplicate_id", f"kept: {file.shown}, record {first.index}")
                    others = [piece for piece in pieces if piece.kind != "dialogue"] + beside.get((one.source, source_id), [])
                    yield _parse(sources[one.source], source_id, sorted([piece, *others]))
                except RecordError as error:
                    rejected(Reject("read", error.reason, error.evidence, one.shown, piece.index, source_id))


def _pieces(one: InputFile, sources: dict[str, Source]) -> Iterator[tuple[str, Piece]]:
    # The path itself, not how it is shown: its folders can tell the split.
    for index, (source_id, kind, data) in enumerate(sources[one.source].pieces(one.role, one.path, files.without_mark(files.read_bytes(one.path)))):
        yield source_id, Piece(kind, one.number, index, data)


def _parse(source: Source, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
    try:
        return bounded(source.parse(source_id, pieces))
    except RecordError:
        raise
    except Exception as error:
        # What a reader didn't foresee costs this record alone.
        raise RecordError("reader_failed", f"{type(error).__name__}: {error}") from error
