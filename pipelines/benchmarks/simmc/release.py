"""The official files of SIMMC: dialogues as they came, with the record's texts, and the API call of each turn.

Of 2.x, whose releases have no API calls, the call of a turn is what the assistant does next by its own frame: the act, with the slots that it
searched by, what it was asked for, and the objects it is about; what a search gave ("Object ID: 45") is no argument of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from dialmill.pipelines.sources.simmc import API_CALLS, OF_OBJECT, values
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.messages import Place, members, rewritten, skip

Edition = Literal["1.0", "2.0", "2.1"]
Part = Literal["", "_api_calls", "_retrieval_candidates"]
#: The releases' names of the splits.
SPLITS = {"train": "train", "valid": "dev", "test": "devtest"}
_SPLIT_OF = {name: split for split, name in SPLITS.items()}
_HEADS: dict[Edition, str] = {"2.0": "simmc2_dials_dstc10", "2.1": "simmc2.1_dials_dstc11"}
_VERSIONS: dict[Edition, tuple[int, str]] = {"1.0": (2020, "1.0"), "2.0": (2021, "simmc_2_dstc10"), "2.1": (2022, "simmc_2_dstc11")}
_PATH = re.compile(
    r"(?:.*/)?(?:(?P<head>simmc2(?:\.1)?)_dials_dstc1[01]_(?P<split>train|devtest|dev)|(?P<domain>\w+?)_(?P<old>train|devtest|dev)_dials)"
    r"(?P<part>_api_calls|_retrieval_candidates|)\.json"
)
#: What an entry has that its solvers don't see: labels of both sides, and how they came about.
_LABELS = frozenset(
    {"transcript_annotated", "system_transcript_annotated", "belief_state", "system_belief_state", "disambiguation_label", "turn_label"}
    | {"raw_assistant_keystrokes", "state_graph_0", "state_graph_1", "state_graph_2"}
)
#: What a dialogue has of that kind.
_TOLD = frozenset({"mentioned_object_ids", "dialogue_coref_map"})
_UNSAFE = re.compile(r"[^\w-]")
_RAW = msgspec.json.Decoder(dict[str, msgspec.Raw])


class ReleaseParts(NamedTuple):
    """What the path of a release file says."""

    edition: Edition
    domain: str
    split: str
    part: Part


def release_path(edition: Edition, domain: str, split: str, part: Part = "", suite: str = "") -> str:
    """The file of a split: "release/simmc2_dials_dstc10_dev.json", of 1.0 "release/fashion/fashion_dev_dials.json"; other suites than the unperturbed
    one have a folder of their own."""
    root = f"release/{suite}/" if suite else "release/"
    if edition == "1.0":
        return f"{root}{domain}/{domain}_{SPLITS[split]}_dials{part}.json"
    return f"{root}{_HEADS[edition]}_{SPLITS[split]}{part}.json"


def release_parts(path: str) -> ReleaseParts | None:
    """What a path as `release_path` makes it says; None for any other."""
    found = _PATH.fullmatch(path)
    if found is None:
        return None
    part: Any = found["part"]
    if found["head"]:
        return ReleaseParts("2.1" if "." in found["head"] else "2.0", "", _SPLIT_OF[found["split"]], part)
    return ReleaseParts("1.0", found["domain"], _SPLIT_OF[found["old"]], part)


def around(path: str) -> tuple[bytes, bytes] | None:
    """What stands before and after the dialogues of a file, or the pool and the candidates of one; None for a file of API calls, a plain array."""
    parts = release_parts(path)
    if parts is None or parts.part == "_api_calls":
        return None
    if parts.part == "_retrieval_candidates":
        return b"{", b"}"
    year, version = _VERSIONS[parts.edition]
    head = {"split": SPLITS[parts.split], "year": year, "version": version, "domain": parts.domain or "fashion/furniture"}
    return msgspec.json.encode(head)[:-1] + b',"dialogue_data":[', b"]}"


def edition_of(dialogue: Dialogue) -> Edition:
    """The edition whose form a dialogue has."""
    payload = next((turn.payload for turn in dialogue.turns if turn.payload is not None), "{}")
    if '"belief_state"' in payload or '"visual_objects"' in payload:
        return "1.0"
    return "2.1" if '"disambiguation_candidates"' in payload else "2.0"


def domain_of(dialogue: Dialogue) -> str:
    """The domain of a dialogue, by which files and pools are parted, as a part of a path."""
    return _UNSAFE.sub("_", dialogue.domains[0]) if dialogue.domains else "shop"


def identity(dialogue: Dialogue) -> int | str:
    """The id of a dialogue as its own file has it: `dialogue_idx`."""
    found = json.loads(dialogue.payload or "{}").get("dialogue_idx")
    return found if isinstance(found, (int, str)) and not isinstance(found, bool) else dialogue.source_id


class Entry(NamedTuple):
    """An entry of a dialogue: its number, the user's turn and the assistant's, which the last may lack."""

    number: int
    user: Turn
    system: Turn | None


def entries(dialogue: Dialogue) -> list[Entry]:
    """The entries that a record was read from."""
    found: list[Entry] = []
    for at, turn in enumerate(dialogue.turns):
        if turn.speaker == "user":
            answer = dialogue.turns[at + 1] if at + 1 < len(dialogue.turns) and dialogue.turns[at + 1].speaker == "system" else None
            found.append(Entry(_number(turn, len(found)), turn, answer))
    return found


def _number(turn: Turn, at: int) -> int:
    found = json.loads(turn.payload or "{}").get("turn_idx")
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else at


def written(entry: Entry, moved: Mapping[str, str]) -> str:
    """An entry as JSON: as it came, to the byte, but for the texts of the record.

    Args:
        moved: values of the corpus that a perturber replaced in text and labels alike -> the new ones.
    """
    payload = entry.user.payload or "{}"
    texts = {"transcript": entry.user.utterance, "system_transcript": "" if entry.system is None else entry.system.utterance}
    places = [
        (name, Place(json.loads(payload[start:end]), start, end))
        for name, start, end in members(payload, skip(payload, 0))
        if name in texts and payload[start] == '"'
    ]
    found = rewritten(payload, [place for _, place in places], [texts[name] if texts[name] else place.text for name, place in places])
    return json.dumps(_relabelled(json.loads(found), moved), ensure_ascii=False) if moved else found


def _relabelled(value: Any, moved: Mapping[str, str]) -> Any:
    """JSON with other values; texts of people stay."""
    if isinstance(value, dict):
        return {name: one if name in ("transcript", "system_transcript") else _relabelled(one, moved) for name, one in value.items()}
    if isinstance(value, list):
        return [_relabelled(one, moved) for one in value]
    return moved.get(value, value) if isinstance(value, str) else value


def moved_values(found: Sequence[Entry]) -> dict[str, str]:
    """Values of the corpus' labels -> those that the record has in their place, where a perturber changed labels."""
    moved: dict[str, str] = {}
    for entry in found:
        annotated = json.loads(entry.user.payload or "{}").get("transcript_annotated")
        slots = (annotated.get("act_attributes") or {}).get("slot_values") or {} if isinstance(annotated, dict) else {}
        now = {cell.slot: cell.values for cell in entry.user.state}
        for slot, value in slots.items():
            was = values(value, slot)
            moved.update((old, new) for old, new in zip(was, now.get(slot.strip().lower(), ()), strict=False) if old != new)
    return moved


def whole(dialogue: Dialogue, lines: Sequence[str]) -> bytes:
    """A dialogue of a release file, from its entries."""
    rest = {name: raw for name, raw in _RAW.decode(dialogue.payload or "{}").items() if name != API_CALLS}
    head = b'{"dialogue": [' + ", ".join(lines).encode() + b"]"
    return head + (b", " + msgspec.json.encode(rest)[1:] if rest else b"}")


def asked(dialogue: Dialogue, lines: Sequence[str], last: int) -> tuple[bytes, bytes]:
    """(inputs, labels) of a dialogue whose labels are held out, up to the entry `last` that is asked for: the inputs end with what the user says, and
    have no label; the labels are those of that entry alone."""
    shown = [_RAW.decode(line) for line in lines[: last + 1]]
    bare = [{name: raw for name, raw in entry.items() if name not in _LABELS} for entry in shown]
    question = {name: raw for name, raw in bare[-1].items() if name != "system_transcript"}
    public = [msgspec.json.encode(entry).decode() for entry in [*bare[:-1], question]]
    answers = [*[msgspec.json.encode(entry).decode() for entry in bare[:-1]], msgspec.json.encode(shown[-1]).decode()]
    rest = {name: raw for name, raw in _RAW.decode(dialogue.payload or "{}").items() if name not in _TOLD}
    hidden = dialogue.replace(payload=msgspec.json.encode(rest).decode())
    return whole(hidden, public), whole(dialogue, answers)


def calls(dialogue: Dialogue, found: Sequence[Entry], moved: Mapping[str, str], only: int | None = None) -> bytes:
    """The API calls of a dialogue: those that came with it, else what the assistant does by its own frames; of the entry `only`, if there is one."""
    given = _RAW.decode(dialogue.payload or "{}").get(API_CALLS)
    if given is not None:
        if not moved and only is None:
            return bytes(given)
        call = _relabelled(json.loads(bytes(given)), moved)
        if only is not None:
            call["actions"] = [one for one in call["actions"] if one.get("turn_idx") == found[only].number]
        return json.dumps(call, ensure_ascii=False).encode()
    actions = []
    for entry in found if only is None else [found[only]]:
        raw = json.loads(entry.user.payload or "{}")
        action, supervision = call_of(_relabelled(raw, moved).get("system_transcript_annotated"))
        actions.append({"turn_idx": entry.number, "action": action, "action_supervision": supervision})
    return msgspec.json.encode({"dialog_id": identity(dialogue), "actions": actions})


def call_of(annotated: Any) -> tuple[str, dict[str, Any] | None]:
    """The action of an assistant's frame, and its arguments; ("None", None) without a frame."""
    if not isinstance(annotated, dict) or not isinstance(annotated.get("act"), str):
        return "None", None
    attributes = annotated.get("act_attributes") or {}
    slots = {name: one for name, one in (attributes.get("slot_values") or {}).items() if not OF_OBJECT.fullmatch(name.strip())}
    args: dict[str, Any] = {name: found if len(found) > 1 else found[0] for name, one in slots.items() if (found := values(one, name))}
    for name in ("request_slots", "objects"):
        if attributes.get(name):
            args[name] = attributes[name]
    return annotated["act"], {"args": args} if args else None
