"""Rasa's training data: {train,valid,test}/nlu.yml and stories.yml (rules.yml where the input had rules), and domain.yml.

A dialogue is a story with its texts: a user's with intent and entities, the bot's words, and the steps that came from Rasa and say nothing. A
dialogue of one user turn that has an intent is an example of NLU. The user turns of stories are examples too, for they are what an NLU model learns
from; their metadata says so, and our source passes over them.

An entity is called DOMAIN-SLOT, or by its own name where the record came from Rasa. The intent is the turn's label, or else its acts
("hotel-inform").
What the format has no place for stands in `metadata`, which Rasa hands through.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec
from dialmill.perturbers.sentence import GENERAL
from dialmill.pipelines.core.carried import KEY
from dialmill.pipelines.core.exporter import SPLITS, Chunk, Exporter, ExportFile, Suite, text_file
from dialmill.pipelines.exporters.corpora import Parts, batches, origin, placed, prove
from dialmill.pipelines.exporters.writing import dump
from dialmill.pipelines.sources.rasa import REPEATS, Rasa, entities_by_slot
from dialmill.schemas import Dialogue, Span, Turn
from dialmill.schemas.dialogue import OOS

_HEAD = 'version: "3.1"\n'
_INTENT = "intent:"
_NO_TEXT = "…"
#: A surface, a name and a value that can stand in a mark; what has brackets of its own can't.
_SURFACE = re.compile(r"[^\[\]\n]+")
_NAME = re.compile(r"[^():\[\]{}\n]+")
_OBJECT = re.compile(r"[^{}\n]*")
_LIKE_A_MARK = re.compile(r"\](?=[({\[])")
#: Characters that JSON leaves as they are and YAML doesn't take, or takes for the end of a line.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class RasaExporter(Exporter):
    """Rasa's NLU examples and stories."""

    name = "rasa"
    about = "Rasa training data: {train,valid,test}/nlu.yml and stories.yml with texts, intents and entities, and domain.yml"
    reads_back = "rasa"

    def files(self, suite: Suite) -> Iterator[ExportFile]:
        names = _Names()
        for split in SPLITS:
            yield from _file(f"{split}/nlu.yml", "nlu", _examples(suite, split, names))
            yield from _file(f"{split}/stories.yml", "stories", _stories(suite, split, names, "story"))
            yield from _file(f"{split}/rules.yml", "rules", _stories(suite, split, names, "rule"))
        if names.intents or names.actions:
            yield text_file("domain.yml", names.domain())


class _Names:
    """The names that a suite's files use, which Rasa wants listed."""

    def __init__(self) -> None:
        self.intents: set[str] = set()
        self.entities: dict[str, tuple[set[str], set[str]]] = {}
        self.actions: set[str] = set()

    def add(self, turn: Turn, step: dict[str, Any]) -> None:
        """Takes note of a step."""
        if isinstance(step.get("intent"), str):
            self.intents.add(step["intent"])
        if isinstance(step.get("action"), str) and not step["action"].startswith(("action_listen", "action_restart")):
            self.actions.add(step["action"])
        if turn.speaker == "user":
            for entity in entities_by_slot(step).values():
                roles, groups = self.entities.setdefault(entity["entity"], (set(), set()))
                roles.update([entity["role"]] if "role" in entity else ())
                groups.update([entity["group"]] if "group" in entity else ())

    def domain(self) -> str:
        """domain.yml."""
        entities: list[Any] = []
        for name, (roles, groups) in sorted(self.entities.items()):
            parts = {key: sorted(found) for key, found in (("roles", roles), ("groups", groups)) if found}
            entities.append({name: parts} if parts else name)
        answers = sorted(name for name in self.actions if name.startswith("utter_"))
        return (
            _HEAD
            + "".join(
                f"{key}:{''.join(f'{chr(10)}- {_yaml(one)}' for one in found) if found else ' []'}\n"
                for key, found in (("intents", sorted(self.intents)), ("entities", entities), ("actions", sorted(self.actions - set(answers))))
            )
            + ("responses:\n" + "".join(f"  {_yaml(name)}:\n  - text: {_yaml(name)}\n" for name in answers) if answers else "")
        )


def _yaml(value: Any) -> str:
    """A value in one line of YAML, which JSON is but for some characters."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def _file(path: str, key: str, found: Iterator[tuple[bytes, int]]) -> Iterator[ExportFile]:
    """A file of entries with the number of records in each, none where there is nothing to write."""
    first = next(found, None)
    if first is not None:
        chunks = (Chunk(data, records) for data, records in chain([first], found))
        yield ExportFile(path, chain([Chunk(f"{_HEAD}{key}:\n".encode())], chunks))


def _stories(suite: Suite, split: str, names: _Names, kind: str) -> Iterator[tuple[bytes, int]]:
    """The stories of a split, or its rules."""
    source = Rasa()
    for record in suite.records(split):
        about = _about(record)
        if _example_intent(record) is not None or ("rule" if "rule" in about else "story") != kind:
            continue
        parts = _parts(record, suite.exported_id(record), about)
        if not any(turn.speaker == "user" for turn in parts.places if turn is not None):
            continue
        prove(parts, record, source)
        for turn, step in zip(parts.places, parts.turns, strict=True):
            if turn is not None:
                names.add(turn, step)
        yield _story(parts, about, kind).encode(), 1


def _story(parts: Parts, about: dict[str, Any], kind: str) -> str:
    metadata = _metadata(about, msgspec.to_builtins(parts.record[KEY]) | _rests(parts.turns))
    rest = {key: value for key, value in about.items() if key not in ("version", "metadata", "story", "rule")}
    head = {kind: about.get(kind) if isinstance(about.get(kind), str) else parts.id, **rest, "metadata": metadata}
    lines = [f"{_yaml(key)[1:-1]}: {_yaml(value)}" for key, value in head.items()]
    steps = ["\n    ".join(f"{_yaml(key)[1:-1]}: {_yaml(value)}" for key, value in step.items() if key != KEY) for step in parts.turns]
    return "- " + "\n  ".join([*lines, "steps:", *(f"- {step}" for step in steps)]) + "\n"


def _metadata(about: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    given = about.get("metadata")
    return {**(given if isinstance(given, dict) else {} if given is None else {"metadata": given}), KEY: ours}


def _rests(steps: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """What the steps don't tell of the record's turns, by their numbers."""
    found = {str(number): step[KEY] for number, step in enumerate(steps) if KEY in step}
    return {"turns": found} if found else {}


def _examples(suite: Suite, split: str, names: _Names) -> Iterator[tuple[bytes, int]]:
    """The examples of a split by intents, a batch of dialogues at a time: Rasa takes blocks of one intent together."""
    source = Rasa()

    def made() -> Iterator[bytes]:
        for record in suite.records(split):
            about, name = _about(record), suite.exported_id(record)
            parts = _parts(record, name, about)
            alone = _example_intent(record) is not None
            if alone:
                prove(parts, record, source)
            for turn, step in zip(parts.places, parts.turns, strict=True):
                if turn is not None and turn.speaker == "user" and turn.utterance and "intent" in step:
                    names.add(turn, step)
                    ours = msgspec.to_builtins(parts.record[KEY]) | _rests(parts.turns) if alone else {"format": Rasa.name, REPEATS: name}
                    block = {"intent": step["intent"]} | ({"metadata": about["intent_metadata"]} if "intent_metadata" in about else {})
                    yield dump([block, {"text": step["user"], "metadata": _metadata(about if alone else {}, ours)}, int(alone)])

    for batch in batches(made()):
        blocks: dict[str, list[tuple[dict[str, Any], int]]] = {}
        for block, example, records in map(msgspec.json.decode, batch):
            blocks.setdefault(_block(block), []).append((example, records))
        for head in sorted(blocks):
            found = blocks[head]
            listed = "".join(f"  - text: {_yaml(one['text'])}\n    metadata: {_yaml(one['metadata'])}\n" for one, _ in found)
            yield f"{head}  examples:\n{listed}".encode(), sum(records for _, records in found)


def _block(block: dict[str, Any]) -> str:
    return "- " + "  ".join(f"{key}: {_yaml(value)}\n" for key, value in block.items())


def _about(record: Dialogue) -> dict[str, Any]:
    """What a record that came from Rasa was: an example's intent, a story's name and its other keys."""
    found = json.loads(record.payload) if record.source == Rasa.name and record.payload is not None else {}
    return found if isinstance(found, dict) else {}


def _example_intent(record: Dialogue) -> str | None:
    """The intent of a record that is an example of NLU, None for one that is a story."""
    about = _about(record)
    if len(record.turns) != 1 or record.turns[0].speaker != "user" or not record.turns[0].utterance or "story" in about or "rule" in about:
        return None
    return _intent(record.turns[0], _payload(record, record.turns[0]))


def _payload(record: Dialogue, turn: Turn) -> dict[str, Any]:
    """The step that a turn was, empty for one that came from elsewhere."""
    found = json.loads(turn.payload) if record.source == Rasa.name and turn.payload is not None else {}
    return found if isinstance(found, dict) else {}


def _intent(turn: Turn, payload: dict[str, Any]) -> str | None:
    """A turn's intent: as it came, as it is labelled, or what its acts say; None where nothing says one."""
    if isinstance(payload.get("intent"), str):
        return str(payload["intent"])
    labelled = next((label.removeprefix(_INTENT) for label in turn.labels if label.startswith(_INTENT) and label != _INTENT), None)
    if labelled is not None:
        return labelled
    acts = "+".join(dict.fromkeys(f"{act.domain}-{act.act}" if act.domain else act.act for act in turn.acts))
    return acts or ("out_of_scope" if OOS in turn.labels else turn.labels[0] if turn.labels else None)


def _parts(record: Dialogue, exported_id: str, about: dict[str, Any]) -> Parts:
    """A record as the source reads it from the files."""
    places: list[Turn | None] = []
    steps: list[dict[str, Any]] = []
    for turn in record.turns:
        payload = _payload(record, turn)
        if turn.speaker == "other":
            if not payload:
                continue  # an instruction or a tool's result, for which stories have no step
            steps.append(payload)
        elif turn.speaker == "system":
            steps.append(payload | {"bot": turn.utterance or _NO_TEXT})
        else:
            steps.append(_user_step(turn, payload))
        places.append(turn)
    made = {
        KEY: origin(record, exported_id, Rasa.name),
        "steps": steps,
        "about": {key: value for key, value in about.items() if key != "metadata"},
        "synonyms": {},
        "language": record.language,
        "domains": record.domains,
    }
    return Parts(exported_id, made, steps, places)


def _user_step(turn: Turn, payload: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in payload.items() if key not in ("user", "intent", "placed", "entities")}
    intent = _intent(turn, payload)
    step = {"user": _marked(turn, entities_by_slot(payload)) or _NO_TEXT} | ({"intent": intent} if intent is not None else {}) | rest
    if isinstance(payload.get("entities"), list):
        values = {act.slot: act.value for act in turn.acts if act.slot and act.value}
        step["entities"] = [
            {name: values.get(name.strip().lower(), value) for name, value in one.items()} if isinstance(one, dict) else one
            for one in payload["entities"]
        ]
    return step


def _marked(turn: Turn, known: dict[str, dict[str, str]]) -> str:
    """A text with its entities marked; those inside another one, or whose text has brackets, stand in the metadata alone.

    What looks like a mark and is none ("[here](http://...)") gets a blank, or Rasa would read an entity, or refuse the file.
    """
    found: dict[tuple[int, int], list[Span]] = {}
    for span, start, end in placed(turn):
        found.setdefault((start, end), []).append(span)
    made, reached = "", 0
    for (start, end), spans in sorted(found.items(), key=lambda item: (item[0][0], -item[0][1])):
        surface = turn.utterance[start:end]
        mark = _mark(surface, spans, known) if start >= reached and _SURFACE.fullmatch(surface) else None
        if mark is not None:
            before = _LIKE_A_MARK.sub("] ", turn.utterance[reached:start])
            made += before + (" " if before.endswith("]") else "") + mark
            reached = end
    return made + _LIKE_A_MARK.sub("] ", turn.utterance[reached:])


def _mark(surface: str, spans: list[Span], known: dict[str, dict[str, str]]) -> str | None:
    entities = []
    for span in spans:
        name = span.slot if not span.domain or span.domain == GENERAL else f"{span.domain}-{span.slot}"
        entities.append(known.get(span.slot, {"entity": name}) | ({"value": span.value} if span.value != surface else {}))
    if len(entities) == 1 and entities[0].keys() == {"entity"} and _NAME.fullmatch(entities[0]["entity"]):
        return f"[{surface}]({entities[0]['entity']})"
    written = [json.dumps(entity, ensure_ascii=False) for entity in entities]
    if not all(_OBJECT.fullmatch(one[1:-1]) for one in written):
        return None
    return f"[{surface}]{written[0]}" if len(written) == 1 else f"[{surface}][{', '.join(written)}]"
