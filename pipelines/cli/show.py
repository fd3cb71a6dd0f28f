"""`dialmill show`: a source dialogue and its variants side by side in the terminal."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

from dialmill.perturbers.core.graphemes import shortened
from dialmill.pipelines.cli.options import local
from dialmill.pipelines.cli.terminal import printable_record
from dialmill.pipelines.core.errors import DialmillError, InputError
from dialmill.pipelines.proxy.lineage import as_folder, is_log
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import decode

_RED, _GREEN, _BOLD, _DIM, _OFF = "\033[31m", "\033[32m", "\033[1m", "\033[2m", "\033[0m"
#: How much is shown of a turn that is carried through, in characters.
_CARRIED = 200


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("folder", metavar="DIR", help="an output folder of build or perturb, or the log of a proxy")
    parser.add_argument("--id", required=True, metavar="ID", help="a source id (all suites) or a dialogue id")
    parser.add_argument("--width", type=int, metavar="COLUMNS", help="width of the output (default: the terminal's)")


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    with local(options.folder) as (folder,), as_folder(folder) if is_log(folder) else nullcontext(folder) as shown:
        print(show(shown, options.id, options.width, color=sys.stdout.isatty()))
    return 0


def show(folder: str, wanted: str, width: int | None = None, color: bool = False) -> str:
    """The records of one dialogue, turn by turn: the source's text, then each suite's, edits marked ``[-old-]{+new+}``, spans and state below.

    Args:
        folder: an output folder.
        wanted: a source id, or the dialogue id of one record.
        width: columns to fill.
        color: mark edits by colour instead of brackets.

    Raises:
        DialmillError: no such folder or id; the message names some ids there are.
    """
    records = find(folder, wanted)
    columns = width or shutil.get_terminal_size((100, 24)).columns
    first = records[0]
    bold = (_BOLD, _OFF) if color else ("", "")
    lines = [f"{bold[0]}{first.source_id}{bold[1]}  {first.source}, {first.language}, {first.split}, {', '.join(first.domains)}", ""]
    names = [f"{record.suite}/{record.variant}" for record in records]
    gutter = max(len(name) for name in names) + 1
    for turns in aligned(records):
        first_turn = next(turn for turn in turns if turn is not None)
        inserted = " (inserted)" if first_turn.inserted else ""
        lines.append(f"{bold[0]}{first_turn.turn} {first_turn.speaker}{bold[1]}{inserted}")
        if first_turn.speaker == "other":
            lines += _wrapped(f"{first_turn.role or ''}: {shortened(first_turn.payload or '', _CARRIED, '')}", " " * (gutter + 2), columns)
            continue
        said: set[str] = set()
        for name, record, turn in zip(names, records, turns, strict=True):
            if turn is None:
                continue
            if turn.original is None and turn.source_text in said:
                skip = next((s.reason for step in record.lineage for s in step.skipped if s.turn == turn.turn), None)
                if skip is not None and turn.speaker == "user":
                    lines.append(f"  {name:<{gutter}}(unchanged: {skip})")
                continue
            said.add(turn.utterance)
            lines += _wrapped(marked(turn, color), f"  {name:<{gutter}}", columns)
            spans = [f"{s.domain}-{s.slot}={s.value}" + ("" if s.status == "kept" else f" ({s.status}: {s.text})") for s in turn.spans]
            if spans:
                lines += _wrapped(("" if not color else _DIM) + "spans: " + "; ".join(spans) + (_OFF if color else ""), " " * (gutter + 2), columns)
        states: set[str] = set()
        for turn in turns:
            state = "; ".join(f"{entry.domain}-{entry.slot}={'|'.join(entry.values)}" for entry in turn.state) if turn is not None else ""
            if state and state not in states:
                states.add(state)
                lines += _wrapped(("" if not color else _DIM) + "state: " + state + (_OFF if color else ""), " " * (gutter + 2), columns)
    for record in records:
        for step in record.lineage:
            params = ", ".join(f"{key}={value}" for key, value in (step.params or {}).items() if value is not None)
            lines.append("")
            lines += _wrapped(
                f"{record.suite}/{record.variant}: {step.step}({params}), seed {step.seed}: {step.outcome} {'; '.join(step.reasons)}".rstrip(),
                "",
                columns,
            )
    return "\n".join(lines)


def aligned(records: Sequence[Dialogue]) -> Iterator[list[Turn | None]]:
    """The turns of several records of one source side by side: those of the source in one row each, an inserted turn in a row of its own."""
    places = [0] * len(records)
    while True:
        heads = [record.turns[place] if place < len(record.turns) else None for record, place in zip(records, places, strict=True)]
        alone = next((index for index, turn in enumerate(heads) if turn is not None and turn.inserted), None)
        row = heads if alone is None else [turn if index == alone else None for index, turn in enumerate(heads)]
        if all(turn is None for turn in row):
            return
        yield row
        places = [place + (turn is not None) for place, turn in zip(places, row, strict=True)]


def find(folder: str, wanted: str) -> list[Dialogue]:
    """All records of a source id, the standard suite first; or the one record of a dialogue id, after its source.

    Raises:
        DialmillError: as `show`.
    """
    root = Path(folder) / "dialogues"
    if not root.is_dir():
        raise InputError(folder, "holds no dialogues/", "name a folder made by `dialmill build` or `dialmill perturb`")
    found: list[Dialogue] = []
    some: list[str] = []
    wanted_source = wanted
    # As JSON writes it: a quotation mark or a control character in an id stands escaped in the lines.
    needle = json.dumps(wanted.split("/")[0], ensure_ascii=False)[1:-1].encode("utf-8", "replace")
    for path in sorted(root.glob("*/*.jsonl")):
        if path.stem == "test_hard":
            continue
        with path.open("rb") as lines:
            for line in lines:
                if len(some) < 5:
                    some.append(decode(line).source_id)
                # A text search first: parsing every record of a large folder takes minutes.
                if needle in line:
                    record = decode(line)
                    if wanted in (record.source_id, record.dialogue_id):
                        wanted_source = record.source_id
                        found.append(record)
                    elif wanted.startswith(record.source_id + "/") and record.suite == "standard":
                        found.append(record)
    if not any(wanted in (record.source_id, record.dialogue_id) for record in found):
        raise DialmillError(f"{folder}: holds no dialogue {wanted!r}; it holds for instance {', '.join(some)}")
    found = [printable_record(record) for record in found if record.source_id == wanted_source]
    return sorted(found, key=lambda record: (record.suite != "standard", record.suite, record.variant))


def marked(turn: Turn, color: bool = False) -> str:
    """The utterance with its edits marked."""
    if turn.original is None:
        return turn.utterance
    parts: list[str] = []
    reached = 0
    for edit in turn.edits:
        old, new = turn.original[edit.start : edit.end], edit.replacement
        parts.append(turn.original[reached : edit.start])
        if color:
            parts.append((f"{_RED}{old}{_OFF}" if old else "") + (f"{_GREEN}{new}{_OFF}" if new else ""))
        else:
            parts.append((f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else ""))
        reached = edit.end
    return "".join(parts) + turn.original[reached:]


def _wrapped(text: str, lead: str, columns: int) -> list[str]:
    text = " ".join(text.split())
    room = max(20, columns - len(lead))
    # Chinese has no blanks to break at, and its characters are two columns wide.
    if any(unicodedata.east_asian_width(char) in "WF" for char in text):
        pieces = []
        while text:
            pieces.append(shortened(text, room // 2, "") or text)
            text = text[len(pieces[-1]) :]
    else:
        pieces = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [(lead if number == 0 else " " * len(lead)) + piece for number, piece in enumerate(pieces)]
