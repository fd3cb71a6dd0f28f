"""Large files of JSON and JSON lines, read by several workers at once, a range of bytes each (see `sources.ranges`).

Ranges are surveyed, the surveys of a file are put together, and each range is read for itself. Nobody holds more than a range and the item that
straddles its end; one worker reads all of a file to digest it. What stands before a range in its file is known only when all were read: pieces travel
with the number of their range, and `JoinAndParse` is told where each begins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec
from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.source import Source, id_fault
from dialmill.pipelines.core.stage import Item, Stage
from dialmill.pipelines.sources import cut, ranges
from dialmill.pipelines.stages.read import FAULTY, Offsets, ReadFile, input_entry, packed_piece

#: Bytes that are looked at for backslashes before a range, at first.
_BEFORE = 64
_BLOCK = 4 << 20


def takes_ranges(one: InputFile, source: Source) -> bool:
    """Whether a file is read in ranges: a large one of items that are read for themselves, and no member of an archive, which has one beginning."""
    is_large = one.size > 2 * cut.PART and one.path.endswith((".json", ".jsonl"))
    return source.cuts and one.role in ("dialogues", "acts") and is_large and not files.split_member(one.path)[1]


class Range(NamedTuple):
    """Some bytes of a file: its number, which of its ranges, from 0, and from where up to where."""

    file: int
    number: int
    start: int
    end: int


def ranges_of(one: InputFile) -> list[Range]:
    """The ranges of a file."""
    return [Range(one.number, number, start, min(start + cut.PART, one.size)) for number, start in enumerate(range(0, one.size, cut.PART))]


def _is_json(one: InputFile) -> bool:
    return not one.path.endswith(".jsonl")


class SurveyRange(Stage):
    """A range of a file into its `Survey`."""

    def __init__(self, inputs: list[InputFile]) -> None:
        self.inputs = inputs

    def process(self, element: Range, side: object = None) -> Iterable[tuple[str, Item]]:
        file, _, start, end = element
        one = self.inputs[file]
        try:
            data = files.read_range(one.path, start, end)
            found = ranges.survey_json(data, start, _before(one, start)) if _is_json(one) else ranges.survey_lines(data, start)
        except InputError as error:
            self.counters.faults.append(str(error))
            return
        yield "main", (str(one.number), msgspec.msgpack.encode(found))


def _before(one: InputFile, start: int) -> bytes:
    """What stands before a range, as far back as backslashes reach."""
    length = _BEFORE
    while True:
        found = files.read_range(one.path, max(0, start - length), start)
        if length >= start or found.strip(b"\\"):
            return found
        length *= 16


class GatherPlans:
    """Combiner: the plan of each file, by its number. States have some hundred bytes for a range."""

    def __init__(self, inputs: Sequence[InputFile], cuts: Iterable[Range]) -> None:
        self.inputs, self.numbers = list(inputs), Counter(one.file for one in cuts)

    def create(self) -> dict[int, list[ranges.Survey]]:
        """Nothing."""
        return {}

    def add(self, state: dict[int, list[ranges.Survey]], item: Item) -> dict[int, list[ranges.Survey]]:
        """Adds a range."""
        state.setdefault(int(item[0]), []).append(msgspec.msgpack.decode(item[1], type=ranges.Survey))
        return state

    def merge(self, states: Iterable[dict[int, list[ranges.Survey]]]) -> dict[int, list[ranges.Survey]]:
        """All of them."""
        merged: dict[int, list[ranges.Survey]] = {}
        for state in states:
            for number, surveys in state.items():
                merged.setdefault(number, []).extend(surveys)
        return merged

    def extract_output(self, state: dict[int, list[ranges.Survey]]) -> dict[int, ranges.Plan]:
        """The plans."""
        return {number: self._plan(self.inputs[number], surveys) for number, surveys in state.items()}

    def _plan(self, one: InputFile, surveys: list[ranges.Survey]) -> ranges.Plan:
        if len(surveys) != self.numbers[one.number]:
            return ranges.Plan(False)  # what couldn't be read was told
        if not _is_json(one):
            return ranges.plan_lines(surveys, one.size)
        filled = min((survey.filled[0] for survey in surveys if survey.filled is not None), default=0)
        return ranges.plan_json(surveys, files.read_range(one.path, 0, filled + _BEFORE))


class ReadRange(Stage):
    """A range of a file into its pieces, by dialogue id. Side input: the plans.

    On the output "count" is how many pieces a range has, by the file; on "failed" a file that can't be read in ranges.
    """

    tags = ("count", "failed")

    def __init__(self, inputs: list[InputFile], sources: Mapping[str, Source]) -> None:
        self.inputs, self.sources = inputs, sources

    def process(self, element: Range, side: dict[int, ranges.Plan] | None = None) -> Iterable[tuple[str, Item]]:
        file, number, start, _ = element
        one = self.inputs[file]
        plan = (side or {}).get(one.number)
        if plan is None or not plan.sound:
            if start == 0:
                yield "failed", (str(one.number), b"")
            return
        mine = plan.slices.get(start)
        if mine is None:
            return
        records = 0
        try:
            data = ranges.part(files.read_range(one.path, mine.start, mine.end), plan, mine)
            if data is None:
                raise InputError(one.path, "holds nothing where an item is due")
            count = 0
            for source_id, kind, content in self.sources[one.source].pieces(one.role, one.path, cut.Part.of(data, mine.first)):
                records += kind == "dialogue"
                fault = id_fault(source_id)
                if fault is None:
                    yield "main", (source_id, packed_piece(kind, one.number, number, count, content))
                elif kind == "dialogue":
                    # Its place in the file is told when it is known.
                    said = msgspec.msgpack.encode((fault, repr(source_id), source_id.encode("utf-8", "surrogatepass")))
                    yield "main", (f"{FAULTY}{one.number}/{number}/{count}", packed_piece("faulty", one.number, number, count, said))
                count += 1
        except InputError:
            yield "failed", (str(one.number), b"")
            return
        yield "count", (str(one.number), msgspec.msgpack.encode((number, count)))
        self.counters.inputs.append({"path": one.shown, "records": records})


class DigestFile(Stage):
    """The entry of a file in the manifest; its records are counted where they are read."""

    def __init__(self, inputs: list[InputFile], sources: Mapping[str, Source]) -> None:
        self.inputs, self.sources = inputs, sources

    def process(self, element: int, side: object = None) -> Iterable[tuple[str, Item]]:
        one = self.inputs[element]
        hasher, size = sha256(), 0
        try:
            with files.read(one.path) as stream:
                while data := stream.read(_BLOCK):
                    hasher.update(data)
                    size += len(data)
        except InputError as error:
            self.counters.faults.append(str(error))
            return ()
        self.counters.inputs.append(input_entry(one, self.sources[one.source], hasher.hexdigest(), size, 0))
        return ()


class TellFault(Stage):
    """A file of which a range could not be read: read whole, it says what is wrong and where."""

    def __init__(self, inputs: list[InputFile], sources: Mapping[str, Source]) -> None:
        self.inputs, self.sources = inputs, sources

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        one = self.inputs[int(element[0])]
        try:
            for _ in self.sources[one.source].pieces(one.role, one.path, files.without_mark(files.read_bytes(one.path))):
                pass
        except InputError as error:
            self.counters.faults.append(str(error))
        else:
            self.counters.faults.append(str(InputError(one.path, "can't be read in parts", "divide it into files of less than 16 MB")))
        return ()


class CountPieces:
    """Combiner: how many pieces stand before each range of each file."""

    def create(self) -> dict[int, dict[int, int]]:
        """Nothing."""
        return {}

    def add(self, state: dict[int, dict[int, int]], item: Item) -> dict[int, dict[int, int]]:
        """Adds a range."""
        number, count = msgspec.msgpack.decode(item[1], type=tuple[int, int])
        state.setdefault(int(item[0]), {})[number] = count
        return state

    def merge(self, states: Iterable[dict[int, dict[int, int]]]) -> dict[int, dict[int, int]]:
        """All of them."""
        merged: dict[int, dict[int, int]] = {}
        for state in states:
            for file, counts in state.items():
                merged.setdefault(file, {}).update(counts)
        return merged

    def extract_output(self, state: dict[int, dict[int, int]]) -> Offsets:
        """The sums."""
        offsets: Offsets = {}
        for file, counts in state.items():
            before = 0
            for number in sorted(counts):
                offsets[file, number] = before
                before += counts[number]
        return offsets


def read_inputs(runner: Runner, inputs: Sequence[InputFile], sources: Mapping[str, Source], name: str = "") -> tuple[Any, Any, list[Outputs]]:
    """The part of the graph that reads files: their pieces by dialogue id, where ranges begin (None where no file is read in ranges), and the outputs
    of the stages.

    Args:
        name: of the corpus, where there are several.
    """
    every, used = list(inputs), [one for one in inputs if one.role != "other"]
    large = [one for one in used if takes_ranges(one, sources[one.source])]
    numbers = runner.create(f"input files{name}", [one.number for one in used if one not in large])
    read = runner.apply(f"read files{name}", ReadFile(every, sources), numbers)
    if not large:
        return read.main, None, [read]
    cuts = [place for one in large for place in ranges_of(one)]
    surveyed = runner.apply(f"survey ranges{name}", SurveyRange(every), runner.create(f"ranges to survey{name}", cuts))
    plans = runner.combine(f"find what ranges begin with{name}", GatherPlans(every, cuts), surveyed.main)
    ranged = runner.apply(f"read ranges{name}", ReadRange(every, sources), runner.create(f"ranges{name}", cuts), side=plans)
    digested = runner.apply(
        f"digest large files{name}", DigestFile(every, sources), runner.create(f"large files{name}", [one.number for one in large])
    )
    told = runner.apply(
        f"tell what is wrong{name}", TellFault(every, sources), runner.group(f"bring failed ranges together{name}", ranged.tagged["failed"])
    )
    offsets = runner.combine(f"count what stands before ranges{name}", CountPieces(), ranged.tagged["count"])
    pieces = runner.flatten(f"all pieces{name}", [read.main, ranged.main])
    return pieces, offsets, [read, surveyed, ranged, digested, told]
