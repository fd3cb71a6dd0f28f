"""WOZ 2.0 (Wen et al. 2017; Mrksic et al. 2017): restaurant dialogues, and the German translation of the test set.

``woz_{train,validate,test}_{en,de}.json``, a list of {`dialogue_idx`, `dialogue`}; an entry of a dialogue has what the system said before
(`system_transcript`), what the user says (`transcript`), its labels (`turn_label`) and the belief state after it. The translation has the test set's
ids, with "de-" in front here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from dialmill.perturbers.sentence import language_of
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import normalise
from dialmill.pipelines.sources.reading import Notes, file_name, json_array_items, load_dialogue, official_split, opening, take, take_if
from dialmill.pipelines.sources.spans import Claim, settle
from dialmill.schemas import Act, Dialogue, SlotValues, Turn
from dialmill.schemas.dialogue import DONTCARE

DOMAIN = "restaurant"
_PLACE = re.compile(r"(?:^|_)(train|validate|valid|val|dev|test)(?:_|\.|$)")
_SPLITS = {"train": b"train", "test": b"test"}
#: The dialogues of a file by which its language is told.
_SAMPLE = 50


class Woz20(Source):
    """WOZ 2.0, English and German."""

    name = "woz20"
    language = "en, de"
    licence = "Apache-2.0"
    about = "WOZ 2.0: woz_train_en.json, woz_validate_en.json, woz_test_en.json, and the German test set"

    def role(self, path: str, head: str) -> Role | None:
        ours = opening(head).startswith("[") and '"transcript"' in head and '"system_transcript"' in head
        return "dialogues" if ours else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role != "dialogues":
            return
        raws = json_array_items(path, data)
        language = _language(raws[:_SAMPLE])
        place = _PLACE.search(file_name(path).lower())
        for number, raw in enumerate(raws):
            try:
                index = _INDEX.decode(raw).dialogue_idx
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                index = None
            source_id = f"{file_name(path)}#{number}" if index is None else str(index) if language == "en" else f"{language}-{index}"
            yield source_id, "dialogue", b'{"language":"' + language.encode() + b'","record":' + raw + b"}"
            if place:
                yield source_id, "split", _SPLITS.get(place[1], b"valid")

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        whole = load_dialogue(pieces)
        language, record = take(whole, "language", str), take(whole, "record", dict)
        entries = take(record, "dialogue", list, "")
        if not entries:
            raise RecordError("empty_dialogue", "dialogue holds no turn")
        if language not in ("en", "de"):
            raise RecordError("wrong_type", f"language: {language[:20]!r}")
        notes = Notes()
        turns: list[Turn] = []
        for number, entry in enumerate(entries):
            where = f"dialogue[{number}]"
            said = take(entry, "system_transcript", str, where)
            if bool(said.strip()) != bool(number):
                what = "the system says nothing" if number else "the system speaks first"
                raise RecordError("odd_turn_order", f"{where}: {what}")
            if number:
                turns.append(_turn(len(turns), said, _system_acts(take_if(entry, "system_acts", list, where) or [], language), notes, language))
            acts = _user_acts(take_if(entry, "turn_label", list, where) or [], where, language)
            turn = _turn(len(turns), take(entry, "transcript", str, where), acts, notes, language)
            turns.append(turn.replace(state=_state(take(entry, "belief_state", list, where), where, language)))
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=language,
            split=official_split(pieces),
            domains=(DOMAIN,),
            turns=tuple(turns),
            lineage=notes.lineage(),
        )


class _Indexed(msgspec.Struct):
    dialogue_idx: int


_INDEX = msgspec.json.Decoder(_Indexed)


def _language(raws: Sequence[bytes]) -> str:
    texts = re.findall(r'"transcript"\s*:\s*"([^"]*)"', b" ".join(raws).decode("utf-8", "replace"))
    return "en" if language_of(" ".join(texts)) == "en" else "de"


def _turn(number: int, text: str, acts: Sequence[Act], notes: Notes, language: str) -> Turn:
    claims = [Claim(act.domain, act.slot, act.value) for act in acts if act.slot and act.value and act.value != DONTCARE]
    settled = settle(text, claims, language)
    notes.add_spans(settled)
    return Turn(number, "system" if number % 2 else "user", text, spans=settled.spans, acts=tuple(acts))


def _pair(pair: Any, where: str, language: str) -> tuple[str, str | None]:
    """(slot, value) of a pair, the value None where there is none."""
    match pair:
        case [str() as slot, str() | int() | float() as value] if slot.strip():
            return slot.strip().lower(), next(iter(normalise.values(value, where, language)), None)
    raise RecordError("wrong_type", f"{where}: expected [slot, value], found {str(pair)[:60]}")


def _user_acts(labels: list[Any], where: str, language: str) -> list[Act]:
    found: dict[Act, None] = {}
    for label in labels:
        slot, value = _pair(label, f"{where}.turn_label", language)
        if value is not None:
            found[Act("request", DOMAIN, value.lower()) if slot == "request" else Act("inform", DOMAIN, slot, value)] = None
    return list(found)


def _system_acts(acts: list[Any], language: str) -> list[Act]:
    """A slot alone is asked for, one with a value is told."""
    found: dict[Act, None] = {}
    for act in acts:
        if isinstance(act, str) and act.strip():
            found[Act("request", DOMAIN, act.strip().lower())] = None
        else:
            slot, value = _pair(act, "system_acts", language)
            found[Act("inform", DOMAIN, slot, value)] = None
    return list(found)


def _state(entries: list[Any], where: str, language: str) -> tuple[SlotValues, ...]:
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        if take(entry, "act", str, f"{where}.belief_state") == "inform":
            for pair in take(entry, "slots", list, f"{where}.belief_state"):
                slot, value = _pair(pair, f"{where}.belief_state", language)
                if value is not None:
                    found[slot] = tuple(dict.fromkeys([*found.get(slot, ()), value]))
    return tuple(SlotValues(DOMAIN, slot, values) for slot, values in sorted(found.items()))
