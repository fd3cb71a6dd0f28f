"""Rasa's training data: NLU examples and stories (YAML), and the older NLU files (JSON).

An example is a dialogue of one user turn with its intent; entities are written in it: "[two](nights)", or with an object behind it that has the keys
`entity`, `role` and `value` (or several such objects in a list). A story is a dialogue: a user's text is a turn, so is what the bot says in words;
all other steps (actions, intents without a text, slots that were set) are carried through with the step as `payload`. The dialogue's `payload` says
what it was: its file's version, and the example's intent or the story's name.

What dialmill exported says in `metadata` which record it is; an example that repeats a user's turn of a story is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import yaml
from dialmill.perturbers.sentence import GENERAL, language_of
from dialmill.pipelines.core.carried import KEY, restored
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.reading import (
    SPLITS,
    Notes,
    file_name,
    json_kind,
    json_object_items,
    load_dialogue,
    official_split,
    opening,
    take,
    take_if,
)
from dialmill.pipelines.sources.spans import Claim, settle, whole, widen
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn
from dialmill.schemas.dialogue import OOS

#: An entity in a text: its surface, and (entity:value), {"entity": ..., "value": ...} or a list of such objects behind it.
_ENTITY = re.compile(r"\[([^\[\]\n]+)\](?:\(([^():\n]+)(?::([^()\n]*))?\)|(\{[^{}\n]*\})|\[((?:\{[^{}\n]*\}[ ,]*)+)\])")
_KEY = re.compile(r"^(nlu|stories|rules)[ \t]*:[ \t]*(?:#.*)?$", re.MULTILINE)
_DOMAIN = re.compile(r"^(intents|responses|actions)[ \t]*:[ \t]*(?:#.*)?$", re.MULTILINE)
_EXAMPLE = re.compile(r"^[ \t]*-[ \t]+", re.MULTILINE)
#: Under our key in an example's metadata: the id of the story whose turn it repeats.
REPEATS = "repeats"
_OUT_OF_SCOPE = frozenset({"out_of_scope", "oos", "nlu_fallback"})
#: libyaml's loader where it is there, ten times as fast.
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Rasa(Source):
    """Rasa's NLU examples and stories."""

    name = "rasa"
    language = "en, zh, und"
    licence = "your own"
    about = "Rasa's training data: NLU examples with entities and stories (YAML), and NLU files in JSON"

    def role(self, path: str, head: str) -> Role | None:
        if path.endswith((".yml", ".yaml")):
            if _KEY.search(head) and ("intent:" in head or "story:" in head or "rule:" in head or "steps:" in head):
                return "dialogues"
            return "other" if len(set(_DOMAIN.findall(head))) > 1 else None
        return "dialogues" if path.endswith(".json") and opening(head).startswith("{") and '"rasa_nlu_data"' in head[:4096] else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role != "dialogues":
            return
        found = list(_of_json(path, data) if path.endswith(".json") else _of_yaml(path, data))
        # One sentence says little about its language, all of them do.
        language = language_of(" ".join(_ENTITY.sub(r"\1", text) for _, record in found for text in _texts(record)))
        names: dict[str, int] = {}
        split = SPLITS.get(path.replace("\\", "/").rpartition("/")[0].rpartition("/")[2].lower())
        for name, record in found:
            names[name] = names.get(name, 0) + 1
            source_id = name if names[name] == 1 else f"{name}#{names[name]}"
            yield source_id, "dialogue", json.dumps({"language": language} | record).encode()
            if split and KEY in record:
                yield source_id, "split", split

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record = load_dialogue(pieces)
        steps, about = take(record, "steps", list), take(record, "about", dict)
        synonyms = take(record, "synonyms", dict)
        notes = Notes()
        language = _language(record, steps)
        domains = _domains(record)
        turns: list[Turn] = []
        state: dict[tuple[str, str], SlotValues] = {}
        for number, step in enumerate(steps):
            turns.append(_turn(number, step, _Reading(synonyms, domains, language, notes)))
            if turns[-1].speaker == "user":
                for act in turns[-1].acts:
                    if act.slot and act.value:
                        state[act.domain, act.slot] = SlotValues(act.domain, act.slot, (act.value,))
                turns[-1] = turns[-1].replace(state=tuple(state.values()))
        if not any(turn.speaker == "user" for turn in turns):
            raise RecordError("no_user_text", "no step has a user's text: a story of intents has nothing to perturb")
        dialogue = Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=language,
            split=official_split(pieces),
            turns=tuple(turns),
            lineage=notes.lineage(),
            payload=json.dumps(about, ensure_ascii=False),
        )
        return restored(dialogue, record, steps, self.name)


class _Reading(NamedTuple):
    """What the turns of a dialogue are read with: the synonyms of its file, its domains where dialmill exported it, its language, and the notes."""

    synonyms: Mapping[str, Any]
    domains: Sequence[str]
    language: str
    notes: Notes


def _of_yaml(path: str, data: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, record) of each example and story."""
    try:
        loaded = yaml.load(_decoded(path, data), Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise InputError(path, f"is not YAML: {getattr(error, 'problem', None) or error}{where}", "mend it, or make it again") from None
    if not isinstance(loaded, dict):
        raise InputError(path, f"expected nlu: or stories:, found {json_kind(loaded)}", "is it another format? name it with --format")
    plain = json.loads(json.dumps(loaded, default=str))  # dates, which JSON lacks, as text
    about = {"version": plain.get("version")}
    blocks = [block for block in _list(path, plain, "nlu") if isinstance(block, dict)]
    synonyms = {surface.lower(): block["synonym"] for block in blocks if isinstance(block.get("synonym"), str) for surface, _ in _examples(block)}
    for block in blocks:
        intent = block.get("intent")
        if isinstance(intent, str):
            said = {"nlu": intent} | ({"intent_metadata": block["metadata"]} if block.get("metadata") is not None else {})
            for number, (text, metadata) in enumerate(_examples(block), 1):
                name = f"{file_name(path)}/{intent}/{number}"
                rest = {} if metadata is None else {"metadata": metadata}
                yield from _named(name, {"steps": [{"user": text, "intent": intent}], "about": about | said | rest, "synonyms": synonyms})
    for key, kind in (("stories", "story"), ("rules", "rule")):
        for number, story in enumerate(_list(path, plain, key), 1):
            story = story if isinstance(story, dict) else {}
            title, steps = story.get(kind), story.get("steps")
            rest = {key: value for key, value in story.items() if key != "steps"}
            record = {"steps": steps if isinstance(steps, list) else [], "about": about | rest, "synonyms": synonyms}
            yield from _named(f"{file_name(path)}/{title if isinstance(title, str) and title.strip() else number}", record)


def _named(name: str, record: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(id, record) of a story or an example that is called `name`; one that dialmill exported has the id that its metadata says, and for each step
    what the format has no place for. Nothing for an example that repeats a story's turn."""
    metadata = record["about"].get("metadata")
    ours = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(ours, dict) or ours.get("format") != Rasa.name:
        yield name, record
        return
    if REPEATS in ours:
        return
    turns = ours.get("turns")
    rests: Mapping[str, Any] = turns if isinstance(turns, dict) else {}
    steps = [
        step | {KEY: rests[str(number)]} if str(number) in rests and isinstance(step, dict) else step for number, step in enumerate(record["steps"])
    ]
    kept = {key: value for key, value in metadata.items() if key != KEY}
    about = {key: value for key, value in record["about"].items() if key != "metadata"} | ({"metadata": kept} if kept else {})
    yield (
        str(ours.get("id")),
        record
        | {
            KEY: ours,
            "steps": steps,
            "about": about,
            "synonyms": {},
            "language": str(ours.get("language")),
            "domains": ours.get("domains"),
        },
    )


def _domains(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The domains of a record that dialmill exported: its entities are called DOMAIN-SLOT."""
    given = record.get("domains")
    return tuple(domain for domain in given if isinstance(domain, str)) if isinstance(given, list) else ()


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(path, f"is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}", "convert it to UTF-8") from None


def _list(path: str, record: Mapping[str, Any], key: str) -> list[Any]:
    value = record.get(key)
    if value is not None and not isinstance(value, list):
        raise InputError(path, f"{key}: expected a list, found {json_kind(value)}", "see Rasa's training data format")
    return value or []


def _examples(block: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """(text, metadata) of the examples of a block: lines that begin with a dash, or a list of texts, each perhaps with metadata."""
    given = block.get("examples")
    if isinstance(given, str):
        return [(text.strip(), None) for text in _EXAMPLE.split(given) if text.strip()]
    found = [(one.get("text"), one.get("metadata")) if isinstance(one, dict) else (one, None) for one in given] if isinstance(given, list) else []
    return [(_EXAMPLE.sub("", text, count=1).strip(), metadata) for text, metadata in found if isinstance(text, str) and text.strip()]


def _of_json(path: str, data: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    inner = next((json.loads(raw) for name, raw in json_object_items(path, _decoded(path, data).encode()) if name == "rasa_nlu_data"), None)
    if not isinstance(inner, dict):
        raise InputError(path, "expected an object with rasa_nlu_data", "is it another format? name it with --format")
    synonyms: dict[str, str] = {}
    for entry in _list(path, inner, "entity_synonyms"):
        if isinstance(entry, dict) and isinstance(entry.get("value"), str):
            synonyms |= {surface.lower(): entry["value"] for surface in entry.get("synonyms") or [] if isinstance(surface, str)}
    counts: dict[str, int] = {}
    for example in _list(path, inner, "common_examples"):
        example = example if isinstance(example, dict) else {}
        intent = str(example.get("intent"))
        counts[intent] = counts.get(intent, 0) + 1
        step = {"user": example.get("text"), "intent": intent, "placed": example.get("entities") or []}
        yield f"{file_name(path)}/{intent}/{counts[intent]}", {"steps": [step], "about": {"nlu": intent}, "synonyms": synonyms}


def _texts(record: Mapping[str, Any]) -> list[str]:
    return [step["user"] for step in record["steps"] if isinstance(step, dict) and isinstance(step.get("user"), str)]


def _language(record: Mapping[str, Any], steps: Sequence[Any]) -> str:
    """The language of the texts; where they are too short to be English or not, that of their file."""
    own = language_of(" ".join(_ENTITY.sub(r"\1", text) for text in _texts({"steps": steps})))
    named = record.get("language")
    return own if own == "zh" or named not in ("en", "und") else named


def _turn(number: int, step: Any, reading: _Reading) -> Turn:
    if not isinstance(step, dict):
        raise RecordError("wrong_type", f"steps[{number}]: expected an object, found {json_kind(step)}")
    payload = json.dumps({key: value for key, value in step.items() if key != KEY}, ensure_ascii=False)
    if isinstance(step.get("bot"), str) and step["bot"].strip():
        return Turn(number, "system", step["bot"].strip(), role="bot", payload=payload)
    if not isinstance(step.get("user"), str) or not step["user"].strip():
        return Turn(
            number, "other", "", role=next((name for name in ("action", "user", "intent") if name in step), next(iter(step), None)), payload=payload
        )
    where = f"steps[{number}]"
    text, claims = _unmarked(step["user"].strip(), reading.synonyms, where)
    if "placed" in step:
        claims += [_placed(entity, text, where) for entity in take(step, "placed", list, where)]
    claims = [_in_domain(claim, reading.domains) for claim in claims]
    marked = {claim.slot for claim in claims}
    for entity in take_if(step, "entities", list, where) or ():
        for name, value in entity.items() if isinstance(entity, dict) else ():
            if isinstance(value, str) and value.strip() and name.strip().lower() not in marked | {"role", "group", ""}:
                claims.append(Claim(GENERAL, name.strip().lower(), value.strip()))
    intent = take_if(step, "intent", str, where)
    label = () if not intent else (OOS,) if intent.lower() in _OUT_OF_SCOPE else (f"intent:{intent}",)
    acts = tuple(dict.fromkeys(Act("inform", claim.domain, claim.slot, claim.value) for claim in claims))
    spans = _spans(text, claims, reading.language, reading.notes)
    return Turn(number, "user", text, spans=spans, acts=acts, labels=label, role="user", payload=payload)


def _in_domain(claim: Claim, domains: Sequence[str]) -> Claim:
    """A claim whose entity is called DOMAIN-SLOT, in its domain."""
    domain = next((name for name in domains if claim.slot.startswith(f"{name}-")), None)
    return claim if domain is None else claim._replace(domain=domain, slot=claim.slot.removeprefix(f"{domain}-"))


def _spans(text: str, claims: Sequence[Claim], language: str, notes: Notes) -> tuple[Span, ...]:
    """Where entities stand: as they are marked, whatever their values, widened to whole words; those without a mark are looked for."""
    spans: list[Span] = []
    unmarked: list[Claim] = []
    for claim in claims:
        start, end = (0, 0) if claim.start is None or claim.end is None else widen(text, claim.start, claim.end)
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if start < end and whole(text, start, end):
            spans.append(Span(start, end, text[start:end], claim.domain, claim.slot, claim.value))
        else:
            unmarked.append(Claim(claim.domain, claim.slot, claim.value))
    settled = settle(text, unmarked, language)
    notes.add_spans(settled)
    notes.add("slot_values", len(unmarked))
    notes.add("slot_values_located", len(settled.spans))
    free = [one for one in settled.spans if not any((one.start or 0) < (own.end or 0) and (own.start or 0) < (one.end or 0) for own in spans)]
    return tuple(sorted([*spans, *free], key=lambda span: (span.start or 0, span.end or 0, span.slot)))


def _unmarked(text: str, synonyms: Mapping[str, Any], where: str) -> tuple[str, list[Claim]]:
    """A text without the marks of its entities, and where they stand in it."""
    made, claims, reached = "", [], 0
    for match in _ENTITY.finditer(text):
        made += text[reached : match.start()]
        claims += [_claim(entity, match[1], len(made), synonyms, where) for entity in _entities(match, where)]
        made += match[1]
        reached = match.end()
    return made + text[reached:], claims


def _entities(match: re.Match[str], where: str) -> list[Any]:
    """The entities that a mark gives its surface."""
    if match[2] is not None:
        return [{"entity": match[2], "value": match[3]}]
    written = match[4] or f"[{match[5]}]"
    try:
        found = json.loads(written)
    except ValueError:
        raise RecordError("bad_entity", f"{where}: {written[:60]} is no JSON") from None
    return found if isinstance(found, list) else [found]


def entities_by_slot(step: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """What the entities of a user's step are called (`entity`, and `role` and `group` where they have one), by the slot that they are read as."""
    found: dict[str, dict[str, str]] = {}
    text = step.get("user")
    placed = step.get("placed")
    entities = [one for match in _ENTITY.finditer(text) for one in _entities(match, "user")] if isinstance(text, str) else []
    for entity in (*entities, *(placed if isinstance(placed, list) else ())):
        if isinstance(entity, dict) and isinstance(entity.get("entity"), str):
            found.setdefault(_slot(entity), {key: str(entity[key]) for key in ("entity", "role", "group") if _is_name(entity.get(key))})
    return found


def _is_name(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and bool(str(value).strip())


def _slot(entity: Mapping[str, Any]) -> str:
    """What an entity is called as a slot: its name, role and group, for two groups of one message have two sizes, say."""
    marks = {"entity": "", "role": "-", "group": "#"}
    return "".join(mark + str(entity[key]).strip().lower() for key, mark in marks.items() if _is_name(entity.get(key)))


def _claim(entity: Mapping[str, Any], surface: str, start: int, synonyms: Mapping[str, Any], where: str) -> Claim:
    name, value = (entity.get("entity"), entity.get("value")) if isinstance(entity, dict) else (None, None)
    if not isinstance(name, str) or not name.strip():
        raise RecordError("bad_entity", f"{where}: [{surface[:40]}] has no name")
    slot = _slot(entity)
    value = value if isinstance(value, str) and value.strip() else synonyms.get(surface.lower())
    return Claim(GENERAL, slot, value.strip() if isinstance(value, str) and value.strip() else surface.strip(), start, start + len(surface))


def _placed(entity: Any, text: str, where: str) -> Claim:
    match entity:
        case {"start": int() as start, "end": int() as end} if 0 <= start < end <= len(text):
            return _claim(entity, text[start:end], start, {}, where)
    raise RecordError("bad_entity", f"{where}: expected start, end and entity within the text, found {str(entity)[:80]}")
