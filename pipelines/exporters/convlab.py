"""ConvLab-3's unified format: a folder as it stands in ``data/unified_datasets``, with data.zip, dummy_data.json and preprocess.py.

The data set is called as the suite, with "_" for hyphens.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from dialmill.pipelines.core.carried import KEY
from dialmill.pipelines.core.exporter import Chunk, Exporter, ExportFile, Suite, text_file
from dialmill.pipelines.exporters.corpora import Parts, Vocabulary, alternating, origin, prove, surface, written
from dialmill.pipelines.exporters.writing import array, dump, pretty
from dialmill.pipelines.sources.convlab import ConvLab
from dialmill.schemas import Act, Dialogue, Goal, SlotValues, Turn
from dialmill.schemas.dialogue import DONTCARE

_SPLITS = {"train": "train", "valid": "validation", "test": "test"}
#: How many dialogues dummy_data.json shows.
_SHOWN = 10
_CHUNK = 1 << 20
_PREPROCESS = '''"""This data set was exported by dialmill, which wrote data.zip as well: there is nothing to preprocess."""


def preprocess():
    """Does nothing; the unified format's tools ask for it."""
'''


class ConvLabExporter(Exporter):
    """ConvLab-3 unified format."""

    name = "convlab"
    about = "ConvLab-3 unified format: data.zip, dummy_data.json, preprocess.py; copy SUITE to data/unified_datasets/SUITE"
    reads_back = "convlab"

    def files(self, suite: Suite) -> Iterator[ExportFile]:
        vocabulary = Vocabulary.of(suite)
        dataset = dataset_name(suite.name)
        yield ExportFile("data.zip", _zip(lambda: _dialogues(suite, dataset, vocabulary), ontology(vocabulary)))
        shown = [pretty(one).rstrip() for one in islice(_dialogues(suite, dataset, vocabulary), _SHOWN)]
        yield ExportFile("dummy_data.json", array(shown))
        yield text_file("preprocess.py", _PREPROCESS)


def dataset_name(suite: str) -> str:
    """What a data set of a suite is called: the suite's name without hyphens, at which the ids are cut."""
    return suite.replace("-", "_")


def _zip(dialogues: Any, ontology: dict[str, Any]) -> Iterator[Chunk]:
    """The archive; the same content gives the same bytes."""
    with tempfile.TemporaryFile() as stream:
        count = 0
        with zipfile.ZipFile(stream, "w") as archive:
            with archive.open(_member("data/dialogues.json"), "w", force_zip64=True) as member:
                for data, records in array(dump(one) for one in dialogues()):
                    member.write(data)
                    count += records
            archive.writestr(_member("data/ontology.json"), pretty(ontology))
        stream.seek(0)
        while data := stream.read(_CHUNK):
            yield Chunk(data, count)
            count = 0


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o644 << 16
    return info


def _dialogues(suite: Suite, dataset: str, vocabulary: Vocabulary) -> Iterator[dict[str, Any]]:
    source = ConvLab()
    for split, name in _SPLITS.items():
        number = 0
        for record in suite.records(split):
            parts = _dialogue(record, suite.exported_id(record), f"{dataset}-{name}-{number}", dataset, name, vocabulary)
            if parts.turns:
                prove(parts, record, source)
                yield parts.record
                number += 1


def _dialogue(record: Dialogue, exported_id: str, number: str, dataset: str, split: str, vocabulary: Vocabulary) -> Parts:
    places = alternating(record)
    about = list(dict.fromkeys([*record.domains, *_labelled(record)]))
    skeleton = {domain: {slot: "" for owner, slot in vocabulary.states if owner == domain} for domain in about}
    skeleton = {domain: slots for domain, slots in skeleton.items() if slots}
    turns: list[dict[str, Any]] = []
    state: tuple[SlotValues, ...] = ()
    for index, place in enumerate(places):
        turn, user = written(place), index % 2 == 0
        turns.append(
            {
                "speaker": "user" if user else "system",
                "utterance": turn.utterance,
                "utt_idx": index,
                "dialogue_acts": _acts(turn, vocabulary),
            }
        )
        if user:
            state = turn.state if place is not None else state
            turns[-1]["state"] = _state(state, skeleton)
    made: dict[str, Any] = {
        KEY: origin(record, exported_id, "convlab"),
        "dataset": dataset,
        "data_split": split,
        "dialogue_id": number,
        "original_id": exported_id,
        "domains": about,
        **({"goal": _goal(record.goal)} if record.goal is not None else {}),
        "turns": turns,
    }
    return Parts(exported_id, made, turns, places)


def _labelled(record: Dialogue) -> Iterator[str]:
    """The domains of a record's acts, states and goal: the format wants every act's among those of the dialogue."""
    for turn in record.turns:
        yield from (act.domain for act in turn.acts)
        yield from (entry.domain for entry in turn.state)
    if record.goal is not None:
        yield from (entry.domain for entry in (*record.goal.inform, *record.goal.book))
        yield from (asked.domain for asked in record.goal.request)


def _kind(act: Act, vocabulary: Vocabulary) -> str:
    if act.slot is None or act.value is None:
        return "binary"
    return "categorical" if vocabulary.slots[act.domain][act.slot].categorical else "non-categorical"


def _acts(turn: Turn, vocabulary: Vocabulary) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {"categorical": [], "non-categorical": [], "binary": []}
    for act in turn.acts:
        kind = _kind(act, vocabulary)
        entry: dict[str, Any] = {"intent": act.act, "domain": act.domain, "slot": act.slot or ""}
        if kind != "binary":
            entry["value"] = act.value
            place = surface(turn, act.domain, act.slot or "", act.value) if kind == "non-categorical" and act.value != DONTCARE else None
            if place is not None:
                # The format's value of an act with a place is the text that stands there.
                entry["value"], entry["start"], entry["end"] = place
        found[kind].append(entry)
    return found


def _state(state: Iterable[SlotValues], skeleton: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    # What has a value first, so that the record's order is read back.
    for entry in state:
        found.setdefault(entry.domain, {})[entry.slot] = "|".join(entry.values)
    for domain, slots in skeleton.items():
        found[domain] = {**found.get(domain, {}), **{slot: "" for slot in slots if slot not in found.get(domain, {})}}
    return found


def _goal(goal: Goal) -> dict[str, Any]:
    inform: dict[str, dict[str, str]] = {}
    for entry in (*goal.inform, *goal.book):
        if entry.values:
            inform.setdefault(entry.domain, {})[entry.slot] = "|".join(entry.values)
    request: dict[str, dict[str, str]] = {}
    for asked in goal.request:
        request.setdefault(asked.domain, {})[asked.slot] = ""
    return {"description": goal.text, "inform": inform, "request": request}


def ontology(vocabulary: Vocabulary) -> dict[str, Any]:
    """The ontology of a suite: every domain, slot and act that its labels name."""
    domains = {
        domain: {
            "description": domain,
            "slots": {
                slot: {
                    "description": f"{slot} of {domain}",
                    "is_categorical": facts.categorical,
                    "possible_values": sorted(facts.closed) if facts.categorical else [],
                }
                for slot, facts in sorted(slots.items())
            },
        }
        for domain, slots in sorted(vocabulary.slots.items())
    }
    state: dict[str, dict[str, str]] = {}
    for domain, slot in sorted(vocabulary.states):
        state.setdefault(domain, {})[slot] = ""
    kinds: dict[str, dict[tuple[str, str, str], set[str]]] = {"categorical": {}, "non-categorical": {}, "binary": {}}
    for speaker, act, domain, slot, valued in vocabulary.acts:
        kind = _kind(Act(act, domain, slot or None, "" if valued else None), vocabulary)
        kinds[kind].setdefault((act, domain, slot), set()).add(speaker)
    return {
        "domains": domains,
        "intents": {act: {"description": act} for act in sorted({act for _, act, _, _, _ in vocabulary.acts})},
        "state": state,
        "dialogue_acts": {kind: [str(_said(*key, speakers)) for key, speakers in sorted(acts.items())] for kind, acts in kinds.items()},
    }


def _said(act: str, domain: str, slot: str, speakers: set[str]) -> dict[str, Any]:
    """Who says an act, as the format's ontology writes it (a Python literal)."""
    return {"user": "user" in speakers, "system": "system" in speakers, "intent": act, "domain": domain, "slot": slot}
