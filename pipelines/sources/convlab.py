"""ConvLab-3's unified format (Zhu et al. 2023): one layout for KVRET, CamRest, CrossWOZ, Taskmaster and some forty others.

``data.zip`` holds ``data/dialogues.json``, a list of dialogues with their split, acts of three kinds (categorical, non-categorical with character
offsets, binary without a value) and a state on user turns, where "" is no value and "a|b" are two. The data set is told by the id ("kvret-train-0").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dialmill.perturbers.core.surfaces import kind_of
from dialmill.pipelines.core.carried import is_export, origin_of, restored
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import multiwoz, normalise
from dialmill.pipelines.sources.reading import (
    CHINESE,
    SPLITS,
    Notes,
    check_speakers,
    file_name,
    load_dialogue,
    name_domains,
    opening,
    records_with_id,
    take,
    take_if,
)
from dialmill.pipelines.sources.spans import Claim, settle
from dialmill.schemas import Act, Dialogue, Goal, SlotName, SlotValues, Span, Turn
from dialmill.schemas.kinds import ANY, FileKind

_LATIN = re.compile("[A-Za-z]")
#: What of the path of a data set's dialogues stands behind its folder.
_FOLDER = re.compile(r"[/\\](?:data\.zip!)?(?:data[/\\])?dialogues\.json$")

State = tuple[SlotValues, ...]


class ConvLab(Source):
    """Any data set in ConvLab-3's unified format."""

    name = "convlab"
    language = "en, zh"
    licence = "as its data set"
    about = "ConvLab-3 unified format: data.zip or dialogues.json of KVRET, CamRest and many others"
    cuts = True
    kinds = (FileKind("convlab", ([{"dialogue_id": ANY, "data_split": ANY, "turns": ANY}],)),)

    def role(self, path: str, head: str) -> Role | None:
        start = opening(head)
        if is_export(head, self.name) is False:
            return None
        if start.startswith("[") and '"data_split"' in head and '"dialogue_id"' in head:
            return "dialogues"
        return "other" if file_name(path) == "ontology.json" and '"is_categorical"' in head else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role == "dialogues":
            for name, raw in records_with_id(path, data):
                origin = origin_of(raw)
                yield name if origin is None else origin.id, "dialogue", raw

    def shadowed(self, paths: Sequence[str]) -> set[str]:
        """The dummy_data.json beside a data set, which shows its first dialogues."""
        whole = {_FOLDER.sub("", path) for path in paths if file_name(path) == "dialogues.json"}
        return {path for path in paths if file_name(path) == "dummy_data.json" and path[: -len("dummy_data.json")].rstrip("/\\") in whole}

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record = load_dialogue(pieces)
        take(record, "dialogue_id", str)
        split = SPLITS.get(take(record, "data_split", str).lower())
        records = take(record, "turns", list)
        if not records:
            raise RecordError("empty_dialogue", "turns holds no turn")
        check_speakers([take(turn, "speaker", str, f"turns[{number}]") for number, turn in enumerate(records)], "turns")
        texts = [take(turn, "utterance", str, f"turns[{number}]") for number, turn in enumerate(records)]
        language = language_of(texts)
        notes = Notes()
        if split is None:
            notes.add("split_unknown")
        turns: list[Turn] = []
        state: State = ()
        for number, (turn, text) in enumerate(zip(records, texts, strict=True)):
            where = f"turns[{number}]"
            user = number % 2 == 0
            if user:
                cells = take_if(turn, "state", dict, where)
                if cells is None:
                    notes.add("state_missing")
                else:
                    reached = _state(cells, f"{where}.state", language)
                    state = reached if reached != state else state
            acts, claims = _acts(take(turn, "dialogue_acts", dict, where), f"{where}.dialogue_acts", language, notes)
            if not acts:
                notes.add("acts_missing")
            spans = _spans(text, claims, language, notes)
            turns.append(Turn(number, "user" if user else "system", text, None, spans, acts, state if user else ()))
        dialogue = Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=language,
            split=split.decode() if split else None,  # type: ignore[arg-type]  # one of the names of splits
            domains=name_domains(take_if(record, "domains", list) or [], turns),
            turns=tuple(turns),
            goal=_goal(record, language),
            lineage=notes.lineage(),
        )
        return restored(dialogue, record, records, self.name)


def language_of(texts: Sequence[str]) -> str:
    """The language of a dialogue's texts: zh if they hold more Chinese characters than half their Latin letters, else en."""
    whole = " ".join(texts)
    return "zh" if 2 * len(CHINESE.findall(whole)) > len(_LATIN.findall(whole)) else "en"


def _values(value: Any, where: str, language: str) -> tuple[str, ...]:
    """The values of a slot. The format's "|" parts them in every language."""
    if language == "en":
        return normalise.values(value, where)
    text = normalise.scalar_text(value)
    if text is None:
        raise RecordError("wrong_type", f"{where}: expected text, found {str(value)[:80]!r}")
    # Blanks are the value's own here ("1小时 - 2小时"): these corpora are not word-segmented.
    return tuple(dict.fromkeys(one for part in text.split("|") if (one := normalise.single(part)) is not None))


def _state(cells: dict[str, Any], where: str, language: str) -> State:
    found: dict[tuple[str, str], SlotValues] = {}
    for domain, slots in cells.items():
        for slot in take(cells, domain, dict, where):
            named = domain.strip().lower(), slot.strip().lower()
            values = _values(slots[slot], f"{where}.{domain}.{slot}", language)
            if values and all(named):
                found[named] = SlotValues(*named, values)
    return tuple(found.values())


def _acts(kinds: dict[str, Any], where: str, language: str, notes: Notes) -> tuple[tuple[Act, ...], list[Claim]]:
    """The acts of a turn without repeats, and where their values stand."""
    acts: dict[Act, None] = {}
    claims: list[Claim] = []
    for kind in ("categorical", "non-categorical", "binary"):
        for entry in take_if(kinds, kind, list, where) or ():
            match entry:
                case {"intent": str() as intent, "domain": str() as domain, "slot": str() as slot} if domain.strip() or not slot.strip():
                    act, domain, slot = intent.strip().lower(), domain.strip().lower() or "general", slot.strip().lower()
                    said = _values(entry.get("value"), f"{where}.{kind}", language) if slot else ()
                    for value in said if said and act != "request" else (None,):
                        acts[Act(act, domain, slot or None, value)] = None
                    start, end = entry.get("start"), entry.get("end")
                    placed = len(said) == 1 and type(start) is int and type(end) is int
                    claims += [Claim(domain, slot, value, start, end) if placed else Claim(domain, slot, value) for value in said]
                case _:
                    notes.add("act_malformed")
    return tuple(acts), claims


def _spans(text: str, claims: list[Claim], language: str, notes: Notes) -> tuple[Span, ...]:
    """The proved spans of a turn; values without a place are looked for, unless they say something about the text rather than stand in it."""
    kept = [claim for claim in claims if claim.start is not None or _stands(claim.slot, claim.value)]
    # One value may be named by two acts, with a place and without.
    once = {(claim.domain, claim.slot, claim.value, claim.start): claim for claim in kept}
    placed = {(claim.domain, claim.slot, claim.value) for claim in kept if claim.start is not None}
    wanted = [claim for claim in once.values() if claim.start is not None or claim[:3] not in placed]
    if not wanted:
        return ()
    settled = settle(text, wanted, language)
    notes.add_spans(settled)
    return settled.spans


def _stands(slot: str, value: str) -> bool:
    return multiwoz.locatable(value) and not kind_of(slot, value).startswith("boolean")


def _goal(record: dict[str, Any], language: str) -> Goal | None:
    goal = take_if(record, "goal", dict)
    if goal is None:
        return None
    asked = take_if(goal, "request", dict, "goal") or {}
    request = tuple(SlotName(domain.lower(), slot.lower()) for domain in asked for slot in take(asked, domain, dict, "goal.request"))
    inform = _state(take_if(goal, "inform", dict, "goal") or {}, "goal.inform", language)
    return Goal(multiwoz.goal_text(goal.get("description"), "goal.description"), inform, (), (), request)
