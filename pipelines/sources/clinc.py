"""CLINC150 with out-of-scope queries (Larson et al. 2019): ``data_full.json`` and its variants, lists of [text, intent] by part.

Each query is a dialogue of one user turn, named after its list and place ("oos_test/17"), labelled `oos` or `intent:NAME`. There are no slots, acts
or states. The variants repeat each other's lists under the same names: read one of them at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.reading import (
    SPLITS,
    file_name,
    json_array_items,
    json_kind,
    json_object_items,
    load_dialogue,
    official_split,
    opening,
)
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.kinds import ANY, FileKind

#: The label of a query that no supported intent covers, and the prefix of the others'.
OUT_OF_SCOPE, INTENT = "oos", "intent:"

_FIRST = re.compile(r'\{\s*"(?:oos_)?(?:train|val|test)"\s*:\s*\[\s*\[\s*"')
_NAMES = re.compile(r"data_(?:full|small|imbalanced|oos_plus)\.json")
_PARTS = re.compile(r"(?:oos_)?(train|val|test)")


class Clinc(Source):
    """CLINC150, all variants."""

    name = "clinc"
    language = "en"
    licence = "CC BY 3.0"
    about = "CLINC150 queries with intents and out-of-scope ones: data_full.json, data_oos_plus.json, ..."
    kinds = (FileKind("clinc", ({"train": ANY, "val": ANY, "oos_train": ANY},)),)

    def role(self, path: str, head: str) -> Role | None:
        start = opening(head)
        if _FIRST.match(start) or (_NAMES.fullmatch(file_name(path)) and not start):
            return "dialogues"
        return "other" if file_name(path) == "domains.json" and '"banking"' in head else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role == "dialogues":
            for name, raw in json_object_items(path, data):
                part = _PARTS.fullmatch(name)
                if part is None:
                    raise InputError(path, f"holds a list {name[:40]!r}", "expected train, val, test, oos_train, oos_val and oos_test")
                for number, query in enumerate(json_array_items(path, raw)):
                    yield f"{name}/{number}", "dialogue", query
                    yield f"{name}/{number}", "split", SPLITS[part[1]]

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        match load_dialogue(pieces):
            case [str() as text, str() as intent]:
                pass
            case other:
                found = json_kind(other) if not isinstance(other, list) else f"{len(other)} elements: {str(other)[:40]}"
                raise RecordError("wrong_type", f"expected [text, intent], found {found}")
        if not text.strip() or not intent.strip():
            raise RecordError("empty_dialogue", "the text is blank" if intent.strip() else "the intent is blank")
        label = OUT_OF_SCOPE if intent == OUT_OF_SCOPE else INTENT + intent
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=self.language,
            split=official_split(pieces),
            turns=(Turn(0, "user", text, labels=(label,)),),
        )
