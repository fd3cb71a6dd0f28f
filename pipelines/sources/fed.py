"""FED's form (Mehri and Eskenazi, SIGDIAL 2020): conversations with chatbots, or replies in them, with people's ratings.

A JSON array of objects: `context` ("User: ..." and "System: ..." lines), `response` where one reply is rated ("System: ..."), `system`, and
`annotations` (quality -> ratings) where people have rated. `id` may name the item. Which system spoke is the dialogue's `payload`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from dialmill.perturbers.sentence import language_of
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.cut import first_of
from dialmill.pipelines.sources.peek import first_record
from dialmill.pipelines.sources.reading import dialogue_data, file_name, json_array_items, load_record, official_split, split_of_name, take
from dialmill.pipelines.sources.speakers import speaker_of
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import Speaker

_LINE = re.compile(r"\s*([^\W\d_]+)\s*[:：]\s?(.*)")


class _Named(msgspec.Struct):
    id: str | int | None = None


_NAMED = msgspec.json.Decoder(_Named)


class Fed(Source):
    """Rated conversations in FED's form."""

    name = "fed"
    language = "en, zh, und"
    licence = "none stated"
    about = "FED's form: conversations with chatbots or replies in them, which system spoke, and people's ratings"
    cuts = True

    def role(self, path: str, head: str) -> Role | None:
        record = first_record(head) if path.endswith(".json") else None
        return "dialogues" if record is not None and isinstance(record.get("context"), str) and {"system"} <= record.keys() else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role != "dialogues":
            return
        items = json_array_items(path, data)
        if not items:
            raise InputError(path, "holds no item", "give a file with rated conversations")
        split = split_of_name(path)
        for number, item in enumerate(items, first_of(data)):
            name = item_id(item, file_name(path), number)
            yield name, "dialogue", item
            if split:
                yield name, "split", split

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        item = load_record(dialogue_data(pieces))
        said = lines(take(item, "context", str))
        if isinstance(item.get("response"), str):
            said += lines(item["response"])
        if not said:
            raise RecordError("empty_dialogue", "context holds no line that says who speaks")
        system = take(item, "system", str)
        turns = tuple(Turn(number, speaker, text) for number, (speaker, text) in enumerate(said))
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=language_of(" ".join(text for _, text in said)),
            split=official_split(pieces),
            turns=turns,
            payload=msgspec.json.encode({"system": system}).decode(),
        )

    def extra(self, pieces: Sequence[Piece]) -> bytes:
        """The item as it is, with its ratings."""
        return dialogue_data(pieces)


def item_id(item: bytes, file: str, number: int) -> str:
    """The id of an item: its own, else its file and place."""
    try:
        own = _NAMED.decode(item).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        own = None
    return f"{file.rpartition('.')[0] or file}-{number:04d}" if own is None or not str(own).strip() else str(own).strip()


def lines(text: str) -> list[tuple[Speaker, str]]:
    """(who, what) of the lines of a context; a line that doesn't say who speaks goes on with the one before.

    Raises:
        RecordError: the first line says nobody.
    """
    found: list[tuple[Speaker, str]] = []
    for line in text.split("\n"):
        match = _LINE.fullmatch(line)
        speaker: Any = speaker_of(match[1]) if match else None
        if match and speaker in ("user", "system"):
            found.append((speaker, match[2].strip()))
        elif found and line.strip():
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif line.strip():
            raise RecordError("no_speaker", f"expected a line that begins with User: or System:, found {line.strip()[:60]!r}")
    return [(speaker, text) for speaker, text in found if text]
