"""Chats as language models are given them: export/messages/SUITE/SPLIT.jsonl, a line a dialogue, {"messages": [...]}.

What came as messages goes as it came but for the texts that were perturbed: tool calls, instructions, their places and every other field stay to the
byte. Chats have no labels; those of other corpora lose theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from dialmill.pipelines.core.exporter import SPLITS, Exporter, ExportFile, Suite
from dialmill.pipelines.exporters.writing import dump, lines
from dialmill.pipelines.sources.messages import BODY
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.messages import written

#: The source whose payloads are messages.
SOURCE = "messages"
_ROLES = {"user": "user", "system": "assistant"}
_RAW_RECORD = msgspec.json.Decoder(dict[str, msgspec.Raw])
#: Between the members of a message, where JSON may go to the next line and a record of JSON lines may not.
_LINE_END = re.compile(r"[\r\n]+\s*")


class MessagesExporter(Exporter):
    """Chat messages."""

    name = "messages"
    about = "OpenAI chat messages: SPLIT.jsonl, a dialogue a line; tool calls and all other fields as they came"
    reads_back = "messages"
    keeps_labels = False

    def files(self, suite: Suite) -> Iterator[ExportFile]:
        for split in SPLITS:
            made = (line for record in suite.records(split) if (line := _line(record, suite)) is not None)
            yield ExportFile(f"{split}.jsonl", lines(made))


def _line(record: Dialogue, suite: Suite) -> bytes | None:
    messages = [message for turn in record.turns if (message := _message(turn, record.source)) is not None]
    if not messages:
        return None
    ours = record.source == SOURCE
    rest = {name: bytes(raw) for name, raw in _RAW_RECORD.decode(record.payload).items()} if ours and record.payload is not None else {}
    # ShareGPT has other names for all of it.
    holder = "conversations" if messages[0].startswith('{"from"') else "messages"
    members = [(holder, f"[{', '.join(messages)}]".encode()), *rest.items()]
    if ours and _is_request(rest):
        # A batch file's request has its messages in its body.
        members = [(name, _object([members[0], *_RAW_RECORD.decode(raw).items()]) if name == BODY else raw) for name, raw in rest.items()]
    if not ours or suite.several:
        name = "custom_id" if ours and _is_request(rest) else "id"
        members = [(name, dump(suite.exported_id(record))), *(member for member in members if member[0] != name)]
    return _LINE_END.sub(" ", _object(members).decode()).encode()


def _object(members: Iterable[tuple[str, bytes | msgspec.Raw]]) -> bytes:
    """An object of members that are JSON already."""
    return b"{" + b", ".join(dump(name) + b": " + bytes(raw) for name, raw in members) + b"}"


def _is_request(rest: Mapping[str, bytes]) -> bool:
    """Whether a record was a request of a batch file: what surrounds it says where it goes."""
    return {"custom_id", BODY} <= rest.keys()


def _message(turn: Turn, source: str) -> str | None:
    """The message of a turn as JSON; None where a turn of another source is said by neither user nor system."""
    if source == SOURCE and turn.payload is not None:
        return written(turn)
    if turn.speaker == "other":
        return None
    return dump({"role": _ROLES[turn.speaker], "content": turn.utterance}).decode()
