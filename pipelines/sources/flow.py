"""Flow-based dialogues: walked from a flow file (YAML or JSON, `dialmill.schemas.flow`), or logs of real agents in the record form of CGoDial.

A log file is a JSON object, id -> list of turns {`sys_response`, `sys_action`, `usr_query`, `usr_intent`, `asr_results`}; the system speaks first,
and either half of a turn may be missing. ``train_ids.json`` and its kin list the ids of a split; the scenario is the name of the folder. A walk
is given in the same form, so that both are read alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.flow_check import contradictions
from dialmill.pipelines.sources.flow_walks import walk
from dialmill.pipelines.sources.reading import (
    SPLITS,
    Notes,
    file_name,
    json_object_items,
    list_lines,
    load_dialogue,
    official_split,
    opening,
    take,
    take_if,
)
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import OOS
from dialmill.schemas.flow import REJECTED, FlowError, read_flow
from dialmill.schemas.kinds import ANY, FileKind

#: The prefix of the label that names the node of a turn: the intent of a user turn, the action of a system turn.
NODE = "node:"
#: How many dialogues are walked where the flow doesn't say.
DEFAULT_WALKS = {"train": 100, "valid": 30, "test": 30}

_IDS = re.compile(r"(train|dev|valid|test)_ids\.json")
_LOG = re.compile(r'"(?:sys_response|usr_query|usr_intent)"\s*:')
_OTHER = re.compile(r"int2act\.json|hard_data_id\.json|train_few_shot_ids\.json")
_FLOW = re.compile(r'^\s*\{?\s*"?flow"?\s*:', re.MULTILINE)
_NODES = re.compile(r'"?(?:nodes|start)"?\s*:')


class Flows(Source):
    """Walks of dialogue flows, and logs of agents that follow one."""

    name = "flow"
    language = "zh, en"
    licence = "Apache-2.0"
    about = (
        "files that describe a dialogue flow (YAML or JSON), from which dialogues are generated; agent logs in the form of CGoDial's flow-based part"
    )
    kinds = (FileKind("flow", ({"flow": ANY, "start": ANY, "nodes": ANY},)),)

    def __init__(self, size: Callable[[str, str], int | None] | None = None) -> None:
        """`size` is how many dialogues of a split are walked of a flow; None, or none for a split, leaves it to the flow."""
        self.size = size

    def role(self, path: str, head: str) -> Role | None:
        name = file_name(path)
        if name.endswith((".yaml", ".yml", ".json")) and _FLOW.search(head[:4096]) and _NODES.search(head):
            return "dialogues"
        if name.endswith(".json") and opening(head).startswith("{") and _LOG.search(head):
            return "dialogues"
        if _IDS.fullmatch(name):
            return "splits"
        return "other" if _OTHER.fullmatch(name) or (name.endswith("jsonasr.json") and head.strip() in ("{}", "{ }", "{\n}")) else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role == "splits":
            listed = _IDS.fullmatch(file_name(path))
            if listed is None:
                raise InputError(path, "names no split", "expected train_ids.json, dev_ids.json or test_ids.json")
            for source_id in list_lines(path, data):
                yield source_id, "split", SPLITS[listed[1]]
        elif role == "dialogues":
            head = data[:65536].decode("utf-8", "replace")
            if file_name(path).endswith(".json") and not _FLOW.search(head[:4096]):
                scenario = _scenario(path)
                for source_id, raw in json_object_items(path, data):
                    yield source_id, "dialogue", b'{"scenario":' + json.dumps(scenario).encode() + b',"log":' + raw + b"}"
            else:
                yield from self._walks(path, data)

    def _walks(self, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        try:
            flow = read_flow(data, file_name(path))
        except FlowError as error:
            raise InputError(path, f"is no dialogue flow: {error}", "see schemas/flow.py, and data/flow for examples") from None
        counts = flow.dialogues or DEFAULT_WALKS
        for split in ("train", "valid", "test"):
            wanted = self.size(split, flow.flow.lower()) if self.size is not None else None
            for number in range(counts.get(split, 0) if wanted is None else wanted):
                source_id = f"{flow.flow}-{split}-{number:05d}"
                record = {"scenario": flow.flow, "language": flow.language, "walked": True, "log": walk(flow, number, split)}
                yield source_id, "dialogue", msgspec.json.encode(record)
                yield source_id, "split", split.encode()

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record = load_dialogue(pieces)
        entries = take(record, "log", list)
        if not entries:
            raise RecordError("empty_dialogue", "log holds no turn")
        notes = Notes()
        turns: list[Turn] = []
        for at, entry in enumerate(entries):
            where = f"log[{at}]"
            said = take_if(entry, "sys_response", str, where) if type(entry) is dict else take(entry, "sys_response", str, where)
            if said is not None and said.strip():
                _alternates(turns, "system", where)
                action = take_if(entry, "sys_action", str, where)
                turns.append(Turn(len(turns), "system", said, labels=(NODE + action,) if action else ()))
            asked = _query(entry, where, notes)
            if asked is not None:
                _alternates(turns, "user", where)
                intent = take_if(entry, "usr_intent", str, where)
                notes.add("intent_missing", not intent)
                kind = take_if(entry, "usr_kind", str, where)
                labels = (*((NODE + intent,) if intent else ()), *((OOS,) if intent == REJECTED else ()), *((kind,) if kind else ()))
                turns.append(Turn(len(turns), "user", asked, labels=labels))
        if not turns:
            raise RecordError("empty_dialogue", "no turn of the log holds a text")
        language = take_if(record, "language", str) or "zh"
        if language not in ("zh", "en"):
            raise RecordError("wrong_type", f"language: expected zh or en, found {language[:40]!r}")
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=language,
            split=official_split(pieces),
            domains=((take(record, "scenario", str).strip() or "flow").lower(),),
            turns=tuple(turns),
            lineage=notes.lineage(),
        )

    def remarks(self, schema: str, name: str, data: bytes) -> Sequence[str]:
        return contradictions(read_flow(data, name)) if schema == "flow" else ()

    def extra(self, pieces: Sequence[Piece]) -> bytes:
        """The transcripts that a log has of its user turns, each list in order of the user turns; nothing for a walk."""
        record = load_dialogue(pieces)
        if record.get("walked"):
            return b""
        return msgspec.msgpack.encode([_transcripts(entry, f"log[{at}]") for at, entry in enumerate(record["log"]) if _query(entry, "", Notes())])


def _alternates(turns: list[Turn], speaker: str, where: str) -> None:
    if turns and turns[-1].speaker == speaker:
        raise RecordError("odd_turn_order", f"{where}: two {speaker} turns in a row")


def _query(entry: dict[str, Any], where: str, notes: Notes) -> str | None:
    """What the user said: the query, else the first transcript of it."""
    said, heard = take_if(entry, "usr_query", str, where), _transcripts(entry, where)
    if said is None or not said.strip():
        said = next((text for text in heard if text.strip()), None)
        notes.add("query_from_transcript", said is not None)
    return said


def _transcripts(entry: dict[str, Any], where: str) -> list[str]:
    heard = take_if(entry, "asr_results", list, where) or []
    for text in heard:
        if not isinstance(text, str):
            raise RecordError("wrong_type", f"{where}.asr_results: expected strings")
    return heard


def _scenario(path: str) -> str:
    """The folder that a log lies in, which CGoDial names after the scenario."""
    parts = [part for part in re.split(r"[/\\!]", path)[:-1] if part and not part.endswith(".zip")]
    return parts[-1] if parts else "flow"
