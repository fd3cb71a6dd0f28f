"""Chats as lines of text: ``== ID`` opens one, ``U: ...`` and ``S: ...`` are its turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.schemas import Dialogue, Turn

_OPENING = "# chat lines\n"


class ChatLines(Source):
    """Chats as lines of text."""

    name = "chatlines"
    language = "en"
    licence = "CC0-1.0"
    about = "chats as lines of text: NAME.chat.txt"

    def role(self, path: str, head: str) -> Role | None:
        return "dialogues" if head.startswith(_OPENING) else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(path, f"is not UTF-8 at byte {error.start}", "convert it to UTF-8") from None
        for chat in text.removeprefix(_OPENING).split("== ")[1:]:
            name, _, lines = chat.partition("\n")
            yield name.strip(), "dialogue", lines.encode()

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        (lines,) = [piece.data.decode("utf-8", "replace") for piece in pieces if piece.kind == "dialogue"]
        turns = []
        for number, line in enumerate(filter(str.strip, lines.split("\n"))):
            speaker, colon, said = line.partition(": ")
            if not colon or speaker not in ("U", "S"):
                raise RecordError("odd_line", repr(line[:40]) or "an empty line")
            if speaker != "US"[number % 2]:
                raise RecordError("odd_turn_order", f"turn {number} is of speaker {speaker}")
            turns.append(Turn(number, "user" if speaker == "U" else "system", said.strip()))
        if not turns:
            raise RecordError("empty_dialogue", "no line")
        return Dialogue(dialogue_id=source_id, source=self.name, source_id=source_id, language="en", domains=("chat",), turns=tuple(turns))
