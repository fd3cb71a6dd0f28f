"""From input files to dialogues: cut files into pieces by dialogue id, join the pieces, parse, filter."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, BinaryIO

import msgspec
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.source import Kind, Piece, Source, bounded, id_fault
from dialmill.pipelines.core.stage import Item, Reject, Stage, compress, decompress
from dialmill.pipelines.sources import cut
from dialmill.pipelines.stages.filters import refusal
from dialmill.pipelines.stages.items import ParsedDialogue, pack_dialogue
from dialmill.pipelines.stages.split import Fact, fact_of
from dialmill.schemas import Dialogue

_PLACE = struct.Struct(">cIII")
_KINDS: dict[bytes, Kind] = {b"d": "dialogue", b"a": "acts", b"s": "split", b"l": "links", b"f": "form"}
#: What the key of a dialogue begins with whose id can't name one, on its way from a range of a large file.
FAULTY = "\0"
_FAULTY_KIND = b"x"
#: How many pieces stand before a range of a file: by the file's number and the range's.
Offsets = dict[tuple[int, int], int]


def packed_piece(kind: str, file: int, part: int, index: int, content: bytes) -> bytes:
    """A piece as it travels: its place in a range (`part`) of a file, which is 0 where the file is read as a whole."""
    return _PLACE.pack(_FAULTY_KIND if kind == "faulty" else kind[0].encode(), file, part, index) + compress(content)


def input_entry(one: InputFile, source: Source, sha256: str, size: int, records: int) -> dict[str, Any]:
    """An input file as the manifest has it."""
    return {
        "path": one.shown,
        "sha256": sha256,
        "bytes": size,
        "records": records,
        "licence": source.licence,
        "source": one.source,
        "role": one.role,
    }


class ReadFile(Stage):
    """An input file (by its number) into pieces keyed by dialogue id. A file that can't be used is counted as a fault, and the run fails."""

    tags = ("out",)

    def __init__(self, inputs: list[InputFile], sources: Mapping[str, Source]) -> None:
        self.inputs, self.sources = inputs, sources

    def process(self, element: int, side: object = None) -> Iterable[tuple[str, Item]]:
        one = self.inputs[element]
        records = 0
        content_seen = _Seen()
        try:
            for index, (source_id, kind, content) in enumerate(self._pieces(one, content_seen)):
                records += kind == "dialogue"
                fault = id_fault(source_id)
                if fault is not None:
                    if kind == "dialogue":
                        self.counters.stage("read").entered += 1
                        self.counters.reject("read", fault)
                        yield "out", Reject("read", fault, repr(source_id), one.shown, index, source_id).out().item(1)
                    continue
                yield "main", (source_id, packed_piece(kind, one.number, 0, index, content))
        except InputError as error:
            self.counters.faults.append(str(error))
            return
        self.counters.inputs.append(input_entry(one, self.sources[one.source], content_seen.hasher.hexdigest(), content_seen.size, records))

    def _pieces(self, one: InputFile, seen: _Seen) -> Iterator[tuple[str, Kind, bytes]]:
        """The pieces of a file, of a large member of an archive part by part where its source takes parts; `seen` is told what was read."""
        source = self.sources[one.source]
        given = 0
        if source.cuts and one.role in ("dialogues", "acts") and one.size > 2 * cut.PART and one.path.endswith((".json", ".jsonl")):
            try:
                with files.read(one.path) as stream:
                    for part in cut.parts(one.path, seen.through(stream)):
                        for piece in source.pieces(one.role, one.path, part):
                            yield piece
                            given += 1
                return
            except (cut.NotCut, InputError):
                pass  # read whole, a file that isn't sound says what is wrong and where
        data = files.read_bytes(one.path)
        seen.whole(data)
        # The path itself, not how it is shown: its folders can tell the split, however the user named the file.
        yield from islice(source.pieces(one.role, one.path, files.without_mark(data)), given, None)


class _Seen:
    """The digest and the size of what was read of a file."""

    def __init__(self) -> None:
        self.hasher, self.size = hashlib.sha256(), 0

    def whole(self, data: bytes) -> None:
        """All of a file, whatever of it was read before."""
        self.hasher, self.size = hashlib.sha256(data), len(data)

    def through(self, stream: BinaryIO) -> BinaryIO:
        """A stream of which all that is read counts."""
        return _Counted(stream, self)  # type: ignore[return-value]  # what is read from it is all that anybody asks of it


class _Counted:
    def __init__(self, stream: BinaryIO, seen: _Seen) -> None:
        self._stream, self._seen = stream, seen

    def read(self, count: int) -> bytes:
        """Up to so many bytes."""
        data = self._stream.read(count)
        self._seen.hasher.update(data)
        self._seen.size += len(data)
        return data


#: What a parsed dialogue gives to the pools of perturbers.
Contribute = Callable[[Dialogue, Fact], Iterable[Item]]


class JoinAndParse(Stage):
    """All pieces of one id into a dialogue that passed the filters, with the facts that the split planner needs. Side input: the `Offsets` of ranges,
    where a file was read in ranges."""

    tags = ("out", "fact", "pool", "spare")

    def __init__(
        self,
        inputs: list[InputFile],
        sources: Mapping[str, Source],
        benchmark: Benchmark,
        recipe: Recipe,
        seed: int,
        contribute: Contribute | None = None,
    ) -> None:
        self.inputs, self.sources, self.benchmark, self.recipe, self.seed, self.contribute = inputs, sources, benchmark, recipe, seed, contribute

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        source_id, values = element
        offsets: Offsets = side if isinstance(side, dict) else {}
        if source_id.startswith(FAULTY):
            yield from self._refuse(element[1], offsets)
            return
        pieces = sorted(as_piece(value, offsets) for value in values)
        # Sorted by file and place, so that the first dialogue of an id wins whatever the order of arrival.
        dialogues = sorted((piece for piece in pieces if piece.kind == "dialogue"), key=lambda piece: piece[1:3])
        if not dialogues:
            for kind in sorted({piece.kind for piece in pieces}):
                self.counters.note(f"{'listed' if kind == 'split' else 'acts'}_but_absent")
            for piece in pieces:
                if piece.kind == "split":
                    yield "fact", ("absent", msgspec.msgpack.encode([self.inputs[piece.file].source, piece.data.decode()]))
            return
        first = dialogues[0]
        source = self.sources[self.inputs[first.file].source]
        read = self.counters.stage("read")
        read.entered += len(dialogues)
        for piece in dialogues[1:]:
            kept = f"kept: {self.inputs[first.file].shown}, record {first.index}"
            yield self._reject("read", RecordError("duplicate_id", kept), piece, source_id)
        mine = [piece for piece in pieces if self.inputs[piece.file].source == source.name and (piece.kind != "dialogue" or piece is first)]
        try:
            mine = [piece if piece.kind == "split" else piece._replace(data=decompress(piece.data)) for piece in mine]
            dialogue = bounded(source.parse(source_id, mine))
        except RecordError as error:
            yield self._reject("read", error, first, source_id)
            return
        except Exception as error:
            # A record that a reader didn't foresee costs that record, not the run; the manifest warns of it.
            yield self._reject("read", RecordError("reader_failed", f"{type(error).__name__}: {error}"), first, source_id)
            return
        read.out += 1
        self._note_remarks(dialogue)
        fact = fact_of(dialogue, self.recipe, self.seed, source.session(dialogue))
        if self.contribute is not None:
            for item in self.contribute(dialogue, fact):
                yield "pool", item
        filtered = self.counters.stage("filter")
        filtered.entered += 1
        extra = source.extra(mine)
        try:
            refused = refusal(dialogue, source, self.recipe, self.benchmark.takes_carried)
            if refused is not None:
                raise refused
            dialogue, priority = self.benchmark.assess(dialogue, extra, self.recipe, self.seed)
        except RecordError as refused:
            yield self._reject("filter", refused, first, source_id)
            if self.recipe.hard_share:
                yield "spare", ParsedDialogue(pack_dialogue(dialogue), b"", "", 0, fact, refused=True).item(source_id)
            return
        if priority is not None:
            fact = msgspec.structs.replace(fact, priority=priority)
        filtered.out += 1
        yield "fact", ("fact", msgspec.msgpack.encode(fact))
        yield "main", ParsedDialogue(pack_dialogue(dialogue), extra, self.inputs[first.file].shown, first.index, fact).item(source_id)

    def _refuse(self, values: Iterable[bytes], offsets: Offsets) -> Iterable[tuple[str, Item]]:
        """Dialogues of ranges whose ids can't name them."""
        for value in values:
            _, file, part, index = _PLACE.unpack_from(value)
            fault, said, source_id = msgspec.msgpack.decode(decompress(value[_PLACE.size :]), type=tuple[str, str, bytes])
            self.counters.stage("read").entered += 1
            self.counters.reject("read", fault)
            place = index + offsets.get((file, part), 0)
            reject = Reject("read", fault, said, self.inputs[file].shown, place, source_id.decode("utf-8", "surrogatepass"))
            yield "out", reject.out().item(1)

    def _note_remarks(self, dialogue: Dialogue) -> None:
        """Counts what reading found out about a dialogue's annotations."""
        for step in dialogue.lineage:
            for reason in step.reasons:
                name, _, number = reason.partition(":")
                self.counters.note(name, int(number) if number.isdigit() else 1)

    def _reject(self, stage: str, error: RecordError, piece: Piece, source_id: str) -> tuple[str, Item]:
        self.counters.reject(stage, error.reason)
        reject = Reject(stage, error.reason, error.evidence, self.inputs[piece.file].shown, piece.index, source_id)
        return "out", reject.out().item(1)


def parse_pieces(
    source_id: str, values: Iterable[bytes], inputs: list[InputFile], sources: Mapping[str, Source], offsets: Offsets | None = None
) -> Dialogue | None:
    """The dialogue that its pieces make, None where they hold none; of several the first.

    Raises:
        RecordError: it can't be read.
    """
    if source_id.startswith(FAULTY):
        return None
    pieces = sorted(as_piece(value, offsets) for value in values)
    first = min((piece for piece in pieces if piece.kind == "dialogue"), key=lambda piece: piece[1:3], default=None)
    if first is None:
        return None
    source = sources[inputs[first.file].source]
    mine = [piece for piece in pieces if inputs[piece.file].source == source.name and (piece.kind != "dialogue" or piece is first)]
    return bounded(source.parse(source_id, [piece if piece.kind == "split" else piece._replace(data=decompress(piece.data)) for piece in mine]))


def as_piece(value: bytes, offsets: Offsets | None = None) -> Piece:
    """A piece as it travels; its data stays squeezed where it may be large."""
    kind, file, part, index = _PLACE.unpack_from(value)
    data = value[_PLACE.size :]
    place = index + offsets.get((file, part), 0) if offsets else index
    return Piece(_KINDS[kind], file, place, decompress(data) if kind == b"s" else data)
