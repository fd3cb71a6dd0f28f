"""The log of a proxy: a record of one turn for each text of the user's, as JSON lines that every command reads; and its conversations, joined again.

What stands beside the turn (a record's `payload`): `time` (UTC), `key` and `previous` (the keys of the conversation up to this message and up to the
one before), `part` (which text of the message), and the `route` that was asked for. Nothing of headers, answers or instructions is logged.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from dialmill.pipelines.core.errors import DialmillError, InputError
from dialmill.pipelines.core.folders import MANIFEST
from dialmill.pipelines.proxy.conversation import SOURCE, NoisyMessage
from dialmill.schemas import STANDARD, Dialogue, SkippedTurn, Step, Turn
from dialmill.schemas.dialogue import decode, encode
from dialmill.schemas.version import VERSION


class Beside(msgspec.Struct):
    """What a logged record has beside its turn."""

    key: str
    previous: str = ""
    part: int = 0
    time: str = ""
    route: str = ""


class Log:
    """A log that is written to, by any number of processes at once: a line is one write, put at the end.

    Args:
        path: a local file, made where there is none, for its owner's eyes alone: it holds what users say.

    Raises:
        DialmillError: it can't be written to.
    """

    def __init__(self, path: str) -> None:
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except OSError as error:
            raise DialmillError(f"{path}: can't be written to: {error.strerror}") from None

    def write(self, messages: Sequence[NoisyMessage], route: str) -> None:
        """Adds the texts of some messages.

        Raises:
            OSError: they couldn't be written.
        """
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        lines = [
            encode(text.record.replace(payload=json.dumps({"key": one.key, "previous": one.previous, "part": part, "time": now, "route": route})))
            for one in messages
            for part, text in enumerate(one.texts)
        ]
        if lines:
            os.write(self._file, b"\n".join(lines) + b"\n")

    def close(self) -> None:
        """No more is written."""
        os.close(self._file)


class _Logged(NamedTuple):
    beside: Beside
    record: Dialogue


def is_log(path: str) -> bool:
    """Whether a path is that of a log with something in it."""
    file = Path(path)
    if not file.is_file():
        return False
    with file.open("rb") as lines:
        return f'"source":"{SOURCE}"'.encode() in lines.readline()


def conversations(path: str) -> Iterator[Dialogue]:
    """The conversations of a log, in the order in which they began; each as far as it went, with the user's turns alone.

    A message that was sent several times counts once. Where a conversation went on in two ways it is two.

    Raises:
        InputError: the file isn't there, or a line is no record of a log.
    """
    found: dict[tuple[str, str, int], list[_Logged]] = {}
    for logged in _read(path):
        parts = found.setdefault((logged.beside.key, logged.record.suite, logged.record.variant), [])
        if all(one.beside.part != logged.beside.part for one in parts):
            parts.append(logged)
    continued = {(parts[0].beside.previous, suite, variant) for (_, suite, variant), parts in found.items()}
    for (key, suite, variant), parts in found.items():
        if (key, suite, variant) not in continued:
            chain = [parts]
            while (before := found.get((chain[0][0].beside.previous, suite, variant))) is not None:
                chain.insert(0, before)
            yield _conversation(key, [one.record for message in chain for one in message])


def clean(dialogue: Dialogue) -> Dialogue:
    """A conversation of a log as the user said it."""
    turns = tuple(Turn(turn.turn, turn.speaker, turn.source_text) for turn in dialogue.turns)
    return dialogue.replace(dialogue_id=f"{dialogue.source_id}/{STANDARD}/0", suite=STANDARD, variant=0, turns=turns, lineage=())


def _read(path: str) -> Iterator[_Logged]:
    try:
        lines = Path(path).open("rb")  # noqa: SIM115
    except OSError as error:
        raise InputError(path, f"can't be read: {error.strerror}", "name the file that `dialmill proxy --log` wrote") from None
    with lines:
        for number, line in enumerate(lines, 1):
            try:
                record = decode(line)
                yield _Logged(msgspec.json.decode(record.payload or "", type=Beside), record)
            except msgspec.DecodeError as error:
                raise InputError(path, f"line {number} is no record of a proxy's log: {error}", "name the file that `--log` wrote") from None


def _conversation(key: str, records: Sequence[Dialogue]) -> Dialogue:
    """The records of one conversation as one, under the key of its last message."""
    steps: dict[str, list[tuple[int, Step]]] = {}
    for number, record in enumerate(records):
        for step in record.lineage:
            steps.setdefault(step.step, []).append((number, step))
    lineage = tuple(
        Step(
            name,
            some[0][1].seed,
            some[0][1].params,
            "changed" if any(step.outcome == "changed" for _, step in some) else "skipped",
            tuple(SkippedTurn(number, skip.reason) for number, step in some for skip in step.skipped),
        )
        for name, some in steps.items()
    )
    first = records[0]
    return first.replace(
        dialogue_id=f"{key}/{first.suite}/{first.variant}",
        source_id=key,
        split="test",
        turns=tuple(record.turns[0].replace(turn=number) for number, record in enumerate(records)),
        lineage=lineage,
        payload=None,
    )


@contextmanager
def as_folder(path: str) -> Iterator[str]:
    """A log as an output folder for a while: its conversations, clean in the suite `standard` and noisy in their own, and a manifest.

    Raises:
        InputError: the file isn't there, or is no log.
    """
    records: dict[str, dict[str, bytes]] = {STANDARD: {}}
    steps: dict[str, Step] = {}
    for one in conversations(path):
        records[STANDARD].setdefault(one.source_id, encode(clean(one)))
        records.setdefault(one.suite, {})[one.dialogue_id] = encode(one)
        steps.update((step.step, step) for step in one.lineage)
    with tempfile.TemporaryDirectory(prefix="dialmill-log-") as folder:
        outputs = []
        for suite, lines in records.items():
            content = b"".join(line + b"\n" for line in lines.values())
            file = Path(folder, "dialogues", suite, "test.jsonl")
            file.parent.mkdir(parents=True)
            file.write_bytes(content)
            outputs.append(_entry(f"dialogues/{suite}/test.jsonl", content, len(lines)))
        content = Path(path).read_bytes()
        logged = {**_entry(Path(path).name, content, content.count(b"\n")), "licence": None, "source": SOURCE, "role": "dialogues"}
        manifest = {
            "dialmill": VERSION,
            "benchmark": "perturb",
            "recipe": {"suites": list(records), "perturbations": {}, "steps": {name: step.params for name, step in steps.items()}},
            "seed": next((step.seed for step in steps.values()), None) or 0,
            "inputs": [{name: value for name, value in logged.items() if name != "schema"}],
            "stages": [],
            "outputs": outputs,
            "overlap": {},
            "warnings": [],
        }
        Path(folder, MANIFEST).write_text(json.dumps(manifest), "utf-8")
        yield folder


def _entry(path: str, content: bytes, records: int) -> dict[str, Any]:
    return {"path": path, "sha256": sha256(content).hexdigest(), "bytes": len(content), "records": records, "schema": "dialogue"}
