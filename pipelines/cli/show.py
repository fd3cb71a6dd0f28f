"""`dialmill show`: source dialogues and their variants side by side in the terminal, by id or a few at random."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from dialmill.pipelines.cli import side_by_side
from dialmill.pipelines.cli.options import check_file, local, seed, write_text
from dialmill.pipelines.core import written
from dialmill.pipelines.core.errors import DialmillError, InputError, UsageError
from dialmill.pipelines.core.terminal import printable_record
from dialmill.pipelines.proxy.lineage import as_folder, is_log
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import INSERTED, STANDARD

#: Records of test_hard are those of test again.
_REPEATED = "test_hard"
#: Seeds that `show` draws are short enough to be typed again.
_SEEDS = 100_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("folder", metavar="DIR", help="an output folder of build, perturb or disentangle, or the log of a proxy")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--id", metavar="ID", help="a source id (all suites) or a dialogue id (default: a dialogue at random)")
    which.add_argument("--random", type=_count, metavar="N", help="N source dialogues at random")
    parser.add_argument("--seed", type=seed, metavar="N", help="show the dialogues of this seed again (default: others every time)")
    parser.add_argument("--suite", action="append", metavar="SUITE", help="only this suite, beside the source; repeatable (default: all)")
    parser.add_argument("--domain", metavar="DOMAIN", help="only dialogues with this domain")
    parser.add_argument("--changed", action="store_true", help="only dialogues, and turns, that a shown suite changed or inserted")
    parser.add_argument("--width", type=_columns, metavar="COLUMNS", help="width of the output, 20 or more (default: the terminal's)")
    parser.add_argument("--json", dest="json_file", nargs="?", const="-", metavar="FILE", help="the records as JSON, to FILE or to standard output")


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more: {text}")
    return number


def _columns(text: str) -> int:
    number = int(text)
    if number < side_by_side.NARROWEST:
        raise argparse.ArgumentTypeError(f"must be {side_by_side.NARROWEST} or more: {text}")
    return number


_count.__name__ = _columns.__name__ = "int"  # what argparse calls a value that doesn't fit


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    if options.id is not None and (options.seed is not None or options.domain is not None):
        raise UsageError("--id names the dialogue; --seed and --domain choose one where none is named")
    check_file(options.json_file)
    drawn = options.seed if options.seed is not None else secrets.randbelow(_SEEDS)
    with local(options.folder) as (given,), as_folder(given) if is_log(given) else nullcontext(given) as folder:
        if options.id is not None:
            chosen = [find(folder, options.id, options.suite)]
        else:
            chosen = pick(folder, options.random or 1, drawn, options.suite, options.domain, options.changed)
    if options.json_file is not None:
        found: dict[str, Any] = {} if options.id is not None else {"seed": drawn}
        found["dialogues"] = [{"source_id": records[0].source_id, "records": [msgspec.to_builtins(one) for one in records]} for records in chosen]
        write_text(options.json_file, json.dumps(found, ensure_ascii=False, indent=1) + "\n")
        return 0
    color = sys.stdout.isatty()
    texts = [side_by_side.text([printable_record(one) for one in records], options.width, color, options.changed) for records in chosen]
    print("\n\n".join(texts))
    if options.id is None and options.seed is None:
        print(f"\nthe same again: --seed {drawn}")
    return 0


class _Said(msgspec.Struct):
    """What of a turn says whether a suite changed it."""

    original: str | None = None
    labels: list[str] = []


class _Head(msgspec.Struct):
    """What of a record decides whether it is shown."""

    source: str = ""
    source_id: str = ""
    dialogue_id: str = ""
    domains: list[str] = []
    turns: list[_Said] = []

    @property
    def changed(self) -> bool:
        return any(turn.original is not None or INSERTED in turn.labels for turn in self.turns)


_HEADS = msgspec.json.Decoder(_Head)


def _files(folder: str, suites: Sequence[str] | None) -> list[Path]:
    """The files of records of the suites, those of the unperturbed one first.

    Raises:
        InputError: the folder has no records.
        UsageError: it has no such suite.
    """
    root = Path(folder) / "dialogues"
    if not root.is_dir():
        raise InputError(folder, "holds no dialogues/", "name a folder made by `dialmill build` or `dialmill perturb`")
    names = sorted((path.name for path in root.iterdir() if path.is_dir()), key=lambda name: (name != STANDARD, name))
    for suite in suites or ():
        if suite not in names:
            raise UsageError(f"there is no suite {suite!r} in {folder}; there are: {', '.join(names)}")
    wanted = [name for name in names if suites is None or name == STANDARD or name in suites]
    return [path for name in wanted for path in sorted((root / name).glob("*.jsonl")) if path.stem != _REPEATED]


def _lines(paths: Sequence[Path]) -> Iterator[tuple[Path, int, bytes]]:
    """(file, number, line) of all files."""
    for path in paths:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                yield path, number, line


def _gather(paths: Sequence[Path], wanted: Callable[[_Head], bool], needle: bytes = b"") -> list[Dialogue]:
    # A text search first, and no more than the head: parsing every record of a large folder takes minutes.
    return [written.record(*line) for line in _lines(paths) if needle in line[2] and wanted(written.part(*line, _HEADS))]


def _ordered(records: Sequence[Dialogue]) -> list[Dialogue]:
    return sorted(records, key=lambda record: (record.suite != STANDARD, record.suite, record.variant))


def pick(
    folder: str, number: int, drawn: int, suites: Sequence[str] | None = None, domain: str | None = None, changed: bool = False
) -> list[list[Dialogue]]:
    """The records of some source dialogues, chosen by a hash of their ids and a seed: the same ones for equal arguments.

    Args:
        folder: an output folder.
        number: how many at most.
        drawn: the seed.
        suites: those whose records are wanted, beside the source's; None for all.
        domain: one that the dialogues must have.
        changed: only dialogues that one of the suites changed, or put a turn into.

    Raises:
        DialmillError: there is no such dialogue; the message says what there is.
    """
    paths = _files(folder, suites)
    sources: dict[tuple[str, str], None] = {}
    domains: dict[str, int] = {}
    for line in _lines(paths):
        head, suite = written.part(*line, _HEADS), line[0].parent.name
        for one in head.domains:
            domains[one] = domains.get(one, 0) + 1
        perturbed = suites is None or suite in suites
        if perturbed and (domain is None or domain in head.domains) and (not changed or head.changed):
            sources[head.source, head.source_id] = None
    if not sources:
        if domain is not None and domain not in domains:
            raise DialmillError(f"{folder}: no dialogue has the domain {domain!r}; there are: {', '.join(sorted(domains)) or 'none'}")
        what = " that is changed" if changed else ""
        raise DialmillError(f"{folder}: holds no dialogue{what}{f' of domain {domain}' if domain else ''}")
    chosen = sorted(sources, key=lambda one: blake2b(json.dumps([drawn, *one]).encode(), digest_size=8).digest())[:number]
    found = _gather(paths, lambda head: (head.source, head.source_id) in chosen)
    return [_ordered([record for record in found if (record.source, record.source_id) == one]) for one in chosen]


def find(folder: str, wanted: str, suites: Sequence[str] | None = None) -> list[Dialogue]:
    """All records of a source id, the standard suite first; or the one record of a dialogue id, after its source.

    Args:
        folder: an output folder.
        wanted: a source id, or the dialogue id of one record.
        suites: those whose records are wanted, beside the source's; None for all.

    Raises:
        DialmillError: no such folder or id; the message names some ids there are.
    """
    paths = _files(folder, suites)
    # As JSON writes it: a quotation mark or a control character in an id stands escaped in the lines.
    needle = json.dumps(wanted.split("/")[0], ensure_ascii=False)[1:-1].encode("utf-8", "replace")

    def fits(head: _Head) -> bool:
        return wanted in (head.source_id, head.dialogue_id) or wanted.startswith(head.source_id + "/")

    found = _gather(paths, fits, needle)
    named = [record for record in found if wanted in (record.source_id, record.dialogue_id)]
    if not named:
        some = [written.part(*line, _HEADS).source_id for line, _ in zip(_lines(paths), range(5), strict=False)]
        raise DialmillError(f"{folder}: holds no dialogue {wanted!r}; it holds for instance {', '.join(some)}")
    source = named[0].source_id
    return _ordered([one for one in found if one.source_id == source and (one.suite == STANDARD or one in named)])
