"""Beam's local runner in bounded memory: what one stage hands to the next lies in temporary files once it is large, and passes through a stage in
several bundles.

FnApiRunner itself keeps every collection whole in memory, several times over while a stage reads it. Here a list of encoded elements is spooled,
a shuffle is divided by a hash of its keys into partitions of which one at a time is in memory, and outputs are taken from the worker as they come.
Temporary files lie where `tempfile` puts them (``TMPDIR``) and have no names: nothing of a killed run stays.
"""

from __future__ import annotations

import ctypes
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain, islice
from typing import IO, Any
from zlib import crc32

from apache_beam.coders.coder_impl import create_InputStream, create_OutputStream
from apache_beam.metrics import monitoring_infos
from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.portability.fn_api_runner.execution import GroupingBuffer, ListBuffer
from apache_beam.runners.portability.fn_api_runner.fn_runner import BundleManager, FnApiRunner
from apache_beam.runners.worker.data_plane import InMemoryDataChannel
from apache_beam.transforms.window import GlobalWindow, GlobalWindows
from apache_beam.utils.windowed_value import PaneInfo, PaneInfoTiming

#: Bytes of one collection that are kept in memory, and those that go through a stage in one bundle.
IN_MEMORY = 16 << 20
BUNDLE = 16 << 20
#: Into how many partitions a large shuffle is divided by its keys; and what a pair costs in memory besides its bytes.
_PARTITIONS = 64
_OVERHEAD = 120
_SIZES = struct.Struct(">II")


class Spool:
    """Byte strings one after another, in a temporary file once they are large."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._places: list[tuple[int, int]] = []
        self._file: IO[bytes] | None = None
        self.size = 0

    def add(self, data: bytes) -> None:
        """Adds one at the end."""
        self._held.append(data)
        self.size += len(data)
        if self._file is not None or self.size > IN_MEMORY:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="dialmill-")  # noqa: SIM115 - closed when nobody holds the spool any more
            for one in self._held:
                self._places.append((self._file.seek(0, 2), len(one)))
                self._file.write(one)
            self._held.clear()

    def __iter__(self) -> Iterator[bytes]:
        for start, length in self._places:
            assert self._file is not None
            self._file.seek(start)
            yield self._file.read(length)
        yield from self._held


class SpooledList(ListBuffer):  # type: ignore[misc]
    """A collection of encoded elements. Copies and those that take its elements over share its spools."""

    def __init__(self, coder_impl: Any) -> None:
        super().__init__(coder_impl)
        self._spools: list[Spool] = []
        self._own = False

    def append(self, element: bytes) -> None:
        if not element:
            return
        if not self._own:
            self._spools.append(Spool())
            self._own = True
        self._spools[-1].add(element)

    def extend(self, extra: Any) -> None:
        if not isinstance(extra, SpooledList):
            for one in extra:
                self.append(one)
            return
        extra._own = self._own = False
        self._spools.extend(extra._spools)

    def copy(self) -> SpooledList:
        new = SpooledList(self._coder_impl)
        new.extend(self)
        return new

    @property
    def size(self) -> int:
        """Bytes of all elements."""
        return sum(spool.size for spool in self._spools)

    def __iter__(self) -> Iterator[bytes]:
        for spool in self._spools:
            yield from spool

    def partition(self, n: int) -> list[list[bytes]]:
        small = ListBuffer(self._coder_impl)
        small._inputs = list(self)
        found: list[list[bytes]] = small.partition(n)
        return found

    def clear(self) -> None:
        super().clear()
        self._spools, self._own = [], False


class _Spill:
    """What a shuffle wrote away: for each partition where its pairs of key and value lie in a temporary file."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile(prefix="dialmill-")  # noqa: SIM115 - closed when nobody holds the spill any more
        self.places: list[list[tuple[int, int]]] = [[] for _ in range(_PARTITIONS)]

    def write(self, table: Mapping[bytes, list[Any]]) -> None:
        """Adds the pairs of a table."""
        pieces: list[list[bytes]] = [[] for _ in range(_PARTITIONS)]
        for key, values in table.items():
            mine = pieces[crc32(key) % _PARTITIONS]
            for value in values:
                mine += (_SIZES.pack(len(key), len(value)), key, value)
        for number, mine in enumerate(pieces):
            if mine:
                data = b"".join(mine)
                self.places[number].append((self.file.seek(0, 2), len(data)))
                self.file.write(data)

    def read(self, partition: int, table: dict[bytes, list[Any]]) -> None:
        """Adds the pairs of a partition to a table."""
        for start, length in self.places[partition]:
            self.file.seek(start)
            data = self.file.read(length)
            at = 0
            while at < length:
                key_size, value_size = _SIZES.unpack_from(data, at)
                at += _SIZES.size + key_size
                table.setdefault(data[at - key_size : at], []).append(data[at : at + value_size])
                at += value_size


class SpilledGroups(GroupingBuffer):  # type: ignore[misc]
    """A shuffle of pairs whose values are bytes; one of other values, of which there are few, stays in memory."""

    def __init__(self, like: Any) -> None:
        super().__init__(like._pre_grouped_coder, like._post_grouped_coder, like._windowing)
        self._spills: list[_Spill] = []
        self._own: _Spill | None = None
        self._spillable = bool(self._windowing.is_default())
        self.size = 0

    def append(self, elements_data: bytes) -> None:
        if not self._spillable:
            super().append(elements_data)
            return
        stream = create_InputStream(elements_data)
        decode, encode_key = self._pre_grouped_coder.get_impl().decode_from_stream, self._key_coder.get_impl().encode
        table = self._table
        while stream.size() > 0:
            key, value = decode(stream, True).value
            encoded = encode_key(key)
            table[encoded].append(value)
            if type(value) is bytes:
                self.size += len(encoded) + len(value) + _OVERHEAD
            else:
                self._spillable = False
        if self.size > IN_MEMORY and self._spillable:
            self._spill()

    def _spill(self) -> None:
        if self._own is None:
            self._own = _Spill()
            self._spills.append(self._own)
        self._own.write(self._table)
        self._table.clear()
        self.size = 0

    def extend(self, input_buffer: Any) -> None:
        super().extend(input_buffer)
        if isinstance(input_buffer, SpilledGroups):
            self._spills += input_buffer._spills
            self._spillable &= input_buffer._spillable
            self._own = input_buffer._own = None

    def partition(self, n: int) -> list[list[bytes]]:
        if not self._spills:
            found: list[list[bytes]] = super().partition(n)
            return found
        chunks = list(self)
        return [chunks[number::n] for number in range(n)]

    def __iter__(self) -> Iterator[bytes]:
        if not self._spills or self._grouped_output:
            yield from super().__iter__()
            return
        if self._table:
            self._spill()
        whole = PaneInfo(is_first=True, is_last=True, timing=PaneInfoTiming.ON_TIME, index=0, nonspeculative_index=0)
        windowed = GlobalWindows.windowed_value(None, timestamp=GlobalWindow().max_timestamp(), pane_info=whole).with_value
        encode, decode_key = self._post_grouped_coder.get_impl().encode_to_stream, self._key_coder.get_impl().decode
        stream = create_OutputStream()
        for number in range(_PARTITIONS):
            table: dict[bytes, list[Any]] = {}
            for spill in self._spills:
                spill.read(number, table)
            while table:
                key, values = table.popitem()
                encode(windowed((decode_key(key), values)), stream, True)
                if stream.size() > BUNDLE:
                    yield stream.get()
                    stream = create_OutputStream()
        yield stream.get()


class _Handing(list[Any]):
    """What comes back from a worker in this process, handed on as it comes; the list keeps the rest."""

    def __init__(self, kept: Iterable[Any], hand: Callable[[Any], bool]) -> None:
        super().__init__(kept)
        self._hand = hand

    def append(self, element: Any) -> None:
        if not self._hand(element):
            super().append(element)


class BundlesInTurn(BundleManager):  # type: ignore[misc]
    """Sends the input of a stage in bundles of bounded size, as many at a time as there are workers."""

    def process_bundle(self, inputs: Any, expected_outputs: Any, fired_timers: Any, expected_output_timers: Any, dry_run: bool = False) -> Any:
        workers = self.bundle_context_manager.num_workers
        results: list[Any] = []
        splits: list[Any] = []
        with ThreadPoolExecutor(workers) as pool:
            parts = _bundles(inputs, workers)
            for some in iter(lambda: list(islice(parts, workers)), []):
                work = [(part, fired_timers if not results and not number else {}) for number, part in enumerate(some)]
                run = [partial(self._one, part, expected_outputs, timers, expected_output_timers, dry_run) for part, timers in work]
                for result, found in pool.map(_call, run) if workers > 1 else map(_call, run):
                    results.append(result)
                    splits += found
        return _merged(results), splits

    def _one(self, part: Any, outputs: Any, timers: Any, output_timers: Any, dry_run: bool) -> Any:
        context = self.bundle_context_manager
        conn = context.worker_handlers[0].data_conn
        if isinstance(conn, InMemoryDataChannel) and not dry_run:

            def hand(element: Any) -> bool:
                mine = isinstance(element, beam_fn_api_pb2.Elements.Data) and element.transform_id in outputs
                if mine:
                    context.get_buffer(outputs[element.transform_id], element.transform_id).append(element.data)
                return mine

            conn._inputs = _Handing(conn._inputs, hand)
        manager = BundleManager(
            context, self._progress_frequency, cache_token_generator=self._cache_token_generator, split_managers=self.split_managers
        )
        return manager.process_bundle(part, outputs, timers, output_timers, dry_run)


def _call(work: Callable[[], Any]) -> Any:
    return work()


def _bundles(inputs: Mapping[str, Any], workers: int) -> Iterator[dict[str, Any]]:
    """The inputs of a stage by the name of each, in bundles; one at least, where there is nothing."""
    large = {name: buffer for name, buffer in inputs.items() if getattr(buffer, "_spills", None) or getattr(buffer, "size", 0) > BUNDLE}
    small = {name: buffer.partition(workers) for name, buffer in inputs.items() if name not in large}
    if small or not large:
        for number in range(workers):
            yield {name: small[name][number] if name in small else [] for name in inputs}
    for name, buffer in large.items():
        batch: list[bytes] = []
        size = 0
        for chunk in buffer:
            batch.append(chunk)
            size += len(chunk)
            if size > BUNDLE:
                yield {other: batch if other == name else [] for other in inputs}
                batch, size = [], 0
        if batch:
            yield {other: batch if other == name else [] for other in inputs}


def _merged(results: list[Any]) -> Any:
    """The results of several bundles as one."""
    merged = results[0]
    if len(results) == 1:
        return merged
    infos = list(monitoring_infos.consolidate(chain.from_iterable(result.process_bundle.monitoring_infos for result in results)))
    del merged.process_bundle.monitoring_infos[:]
    merged.process_bundle.monitoring_infos.extend(infos)
    for result in results[1:]:
        merged.process_bundle.residual_roots.extend(result.process_bundle.residual_roots)
    return merged


class LocalRunner(FnApiRunner):  # type: ignore[misc]
    """FnApiRunner whose collections are spooled."""

    def _execute_bundle(self, runner_execution_context: Any, bundle_context_manager: Any, bundle_input: Any) -> Any:
        buffers = runner_execution_context.pcoll_buffers
        for transform_id, buffer_id in bundle_context_manager.stage_data_outputs.items():
            if buffer_id not in buffers:
                plain = bundle_context_manager.get_buffer(buffer_id, transform_id)
                if type(plain) is ListBuffer:
                    buffers[buffer_id] = SpooledList(plain._coder_impl)
                elif type(plain) is GroupingBuffer:
                    buffers[buffer_id] = SpilledGroups(plain)
        result = super()._execute_bundle(runner_execution_context, bundle_context_manager, bundle_input)
        _give_back()
        return result

    def _get_bundle_manager(self, bundle_context_manager: Any) -> Any:
        if bundle_context_manager.stage.is_stateful():
            return super()._get_bundle_manager(bundle_context_manager)
        tokens = FnApiRunner.get_cache_token_generator(static=False)
        return BundlesInTurn(bundle_context_manager, self._progress_frequency, cache_token_generator=tokens)


def _give_back() -> None:
    """Lets the C library give freed memory back to the system, where it can; else it keeps what the largest stage needed."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
