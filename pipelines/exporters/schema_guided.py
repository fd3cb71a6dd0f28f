"""What the two schema-guided layouts share: frames of services, schemas, and files of 512 dialogues in a folder for each split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dialmill.pipelines.core.exporter import Chunk, ExportFile, Suite
from dialmill.pipelines.exporters.corpora import FOLDERS, SlotFacts, Vocabulary, batches
from dialmill.pipelines.exporters.writing import array, pretty
from dialmill.schemas import Dialogue, SlotValues, Turn

State = tuple[SlotValues, ...]
#: What a record becomes: the dialogue's JSON, None for one without turns.
Write = Callable[[Dialogue], bytes | None]
NO_INTENT = "NONE"


def split_files(suite: Suite, write: Write, schema: str | None) -> Iterator[ExportFile]:
    """The files of dialogues of all splits."""
    for split, folder in FOLDERS.items():
        made = (line for record in suite.records(split) if (line := write(record)) is not None)
        for number, batch in enumerate(batches(made), 1):
            yield ExportFile(f"{folder}/dialogues_{number:03d}.json", array(batch), schema)


def cells(state: State, service: str, name: Callable[[str, str], str]) -> dict[str, list[str]]:
    """The values of one service in a belief state, by the slot's name in the layout."""
    return {name(entry.domain, entry.slot): list(entry.values) for entry in state if entry.domain == service}


def requested(turn: Turn, service: str, name: Callable[[str, str], str]) -> list[str]:
    """The slots that a user turn asks for."""
    asked = (act.slot for act in turn.acts if act.domain == service and act.act == "request" and act.slot is not None)
    return list(dict.fromkeys(name(service, slot) for slot in asked))


def intent_of(turn: Turn, service: str, state: State) -> str:
    """The intent of a service at a turn where no act names it: to find something, once its slots are spoken of."""
    active = any(entry.domain == service for entry in state) or any(act.domain == service for act in turn.acts)
    return f"find_{service}" if active else NO_INTENT


def schema_files(
    vocabulary: Vocabulary,
    service_name: Callable[[str], str],
    name: Callable[[str, str], str],
    intents: Callable[[str], Iterable[str]],
    paths: Iterable[str],
) -> Iterator[ExportFile]:
    """schema.json in each of its places."""
    services = [
        {
            "service_name": service_name(domain),
            "description": domain,
            "slots": [_slot(domain, slot, facts, name) for slot, facts in sorted(slots.items())],
            "intents": [
                {
                    "name": intent,
                    "description": intent,
                    "is_transactional": False,
                    "required_slots": [],
                    "optional_slots": {},
                    "result_slots": [name(domain, slot) for slot in sorted(slots)],
                }
                for intent in sorted(intents(domain))
            ],
        }
        for domain, slots in sorted(vocabulary.slots.items())
    ]
    for path in paths:
        yield ExportFile(path, [Chunk(pretty(services))], None, False)


def _slot(domain: str, slot: str, facts: SlotFacts, name: Callable[[str, str], str]) -> dict[str, Any]:
    return {
        "name": name(domain, slot),
        "description": f"{slot} of {domain}",
        "is_categorical": facts.categorical,
        "possible_values": sorted(facts.closed) if facts.categorical else [],
    }
