"""The contract of a stage, and the items that travel between stages."""

from __future__ import annotations

import struct
import tempfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from heapq import merge
from typing import IO, Any, NamedTuple, TypeVar

import msgspec
from dialmill.perturbers.core.graphemes import shortened
from dialmill.pipelines.core.counters import Counters, total
from dialmill.pipelines.core.progress import tick
from dialmill.schemas import Dialogue

#: What travels between stages: a key to group by, and bytes (dicts would cost twice the CPU in a shuffle).
Item = tuple[str, bytes]

#: Level 1 takes a tenth of a millisecond for a dialogue and divides what a local shuffle keeps in memory by eight.
_LEVEL = 1


class Stage(ABC):
    """A step of the graph. `process` yields (tag, item); "main" goes on, the other tags are side outputs that the graph names.

    A stage may count in `counters`, which the runner takes from time to time. `setup` runs once per worker before the first element.
    """

    #: The side outputs besides "main" and "counters".
    tags: tuple[str, ...] = ()

    def setup(self) -> None:  # noqa: B027 - most stages have nothing to load
        """Loads what is too heavy to travel with the stage."""

    @abstractmethod
    def process(self, element: Any, side: Any = None) -> Iterable[tuple[str, Any]]:
        """Everything that comes of one element. What goes to another worker is an `Item`; stages of one `StageChain` may hand on other objects."""

    @property
    def counters(self) -> Counters:
        """What this copy of the stage has counted since `take_counters` was last called."""
        found: Counters | None = self.__dict__.get("_counters")
        return self._count_anew() if found is None else found

    def take_counters(self) -> Counters:
        """What was counted so far; the stage counts anew from zero."""
        taken = self.counters
        self._count_anew()
        return taken

    def _count_anew(self) -> Counters:
        self._counters = Counters()
        return self._counters


class StageChain(Stage):
    """Stages one after the other over each element in one go: what one hands on is the next one's element, and nothing is encoded between them.

    Each is given the side input of the chain, counts for itself, and has a line in the progress under its label.
    """

    def __init__(self, stages: Mapping[str, Stage]) -> None:
        """
        Args:
            stages: label -> stage, in their order.
        """
        self.stages = dict(stages)
        self.tags = tuple(dict.fromkeys(tag for stage in self.stages.values() for tag in stage.tags))

    @property
    def label(self) -> str:
        """The labels of the stages."""
        return ", ".join(self.stages)

    def setup(self) -> None:
        for stage in self.stages.values():
            stage.setup()

    def process(self, element: Any, side: Any = None) -> Iterable[tuple[str, Any]]:
        elements = [element]
        for label, stage in self.stages.items():
            handed_on = []
            for one in elements:
                for tag, made in stage.process(one, side):
                    if tag == "main":
                        handed_on.append(made)
                    else:
                        yield tag, made
                tick(label)
            elements = handed_on
        for one in elements:
            yield "main", one

    def take_counters(self) -> Counters:
        return total(stage.take_counters() for stage in self.stages.values())


class Out(NamedTuple):
    """A piece of an output file.

    `order` sorts the pieces of a file (equal prefixes stay together), `records` counts what `line` holds. Pieces of one path meet in shards by
    the first byte of `order`, so that joined shards are sorted as a whole.
    """

    path: str
    order: bytes
    records: int
    line: bytes

    def item(self, shards: int) -> Item:
        """The piece as it travels, keyed by path and shard."""
        shard = self.order[0] * shards // 256 if shards > 1 else 0
        return f"{self.path}\t{shard}", zlib.compress(msgspec.msgpack.encode((self.order, self.records, self.line)), _LEVEL)


#: A piece of one shard: order, records, line.
OutPiece = tuple[bytes, int, bytes]
#: Bytes of a shard's pieces that are sorted in memory; the others wait in temporary files, each sorted.
SORTED = 64 << 20
_RUN = struct.Struct(">IQI")
_decode_piece = msgspec.msgpack.Decoder(OutPiece).decode


def order_of(value: bytes) -> bytes:
    """The order of a piece as it travels."""
    order: bytes = _decode_piece(zlib.decompress(value))[0]
    return order


def out_pieces(values: Iterable[bytes]) -> list[OutPiece]:
    """The pieces of one shard, sorted."""
    return sorted(_decode_piece(zlib.decompress(value)) for value in values)


@contextmanager
def sorted_pieces(values: Iterable[bytes]) -> Iterator[Iterable[OutPiece]]:
    """The pieces of one shard in order, of which little is in memory at a time, however many there are."""
    with ExitStack() as opened:
        runs: list[IO[bytes]] = []
        held: list[OutPiece] = []
        size = 0
        for value in values:
            piece = _decode_piece(zlib.decompress(value))
            held.append(piece)
            size += len(piece[0]) + len(piece[2]) + 200
            if size > SORTED:
                runs.append(opened.enter_context(tempfile.TemporaryFile(prefix="dialmill-")))
                for order, records, line in sorted(held):
                    runs[-1].write(_RUN.pack(len(order), records, len(line)) + order + line)
                held, size = [], 0
        held.sort()
        yield merge(*map(_run, runs), held) if runs else held


def _run(stream: IO[bytes]) -> Iterator[OutPiece]:
    stream.seek(0)
    while head := stream.read(_RUN.size):
        order, records, line = _RUN.unpack(head)
        yield stream.read(order), records, stream.read(line)


class Reject(msgspec.Struct):
    """A line of rejects/STAGE.jsonl: which record, why, and what was seen."""

    stage: str
    reason: str
    evidence: str
    file: str | None = None
    index: int | None = None
    source_id: str | None = None
    suite: str | None = None
    variant: int | None = None

    def out(self) -> Out:
        """The line, ordered by file and place."""
        self.evidence, self.source_id = _printable(self.evidence), _printable(self.source_id)
        place = msgspec.json.encode([self.file or "", self.index or 0, self.source_id or "", self.suite or "", self.variant or 0])
        return Out(f"rejects/{self.stage}.jsonl", REJECT_ORDER + place, 1, msgspec.json.encode(self))


#: What the order of a reject begins with; behind it is its place, a JSON array of its file, its index there and more.
REJECT_ORDER = b"\0"


#: What a reject quotes of its record, in characters.
_EVIDENCE = 500
Text = TypeVar("Text", str, None, "str | None")


def _printable(text: Text) -> Text:
    """Text that UTF-8 can carry, of a length that can be read."""
    if text is None:
        return text
    return shortened(text, _EVIDENCE).encode("utf-8", "backslashreplace").decode()


def dialogue_order(dialogue: Dialogue) -> bytes:
    """Where a dialogue stands in its file: in the order of a hash of its source, the same in every suite, then by variant."""
    return blake2b(dialogue.source_id.encode("utf-8", "surrogatepass"), digest_size=8).digest() + dialogue.variant.to_bytes(4, "big")


def compress(data: bytes) -> bytes:
    """Compressed for the way through a shuffle."""
    return zlib.compress(data, _LEVEL)


def decompress(data: bytes) -> bytes:
    """Inverse of `compress`."""
    return zlib.decompress(data)
