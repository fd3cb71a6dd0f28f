"""Predictions in the form of MultiWOZ_Evaluation (Nekvinda and Dušek 2021): {dialogue: [{"response", "state"}]}.

A dialogue has an entry for each user turn, which may name its `active_domains` too. Predictions without any state are of responses alone: the gold's
states stand in for Inform and Success, as there.
Ids are those of the corpus in any letters, with or without ".json"; `state` is {domain: {slot: value or values}}; a response has placeholders without
their domain ("[name]"), which is the active one. Slots are matched with the gold's whatever their blanks ("pricerange", "price range"), and one of a
booking may be without its "book".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.scoring.gold import GoldTurn
from dialmill.pipelines.scoring.state import Slot

SCHEMA = "predictions-mwzeval"
#: What a score file says of Inform, Success and BLEU beside those that MultiWOZ_Evaluation lists.
LEADERBOARD = (
    "not comparable with MultiWOZ_Evaluation's leaderboard: goals and references are this gold's, delexicalised here;"
    " --mwzeval FILE writes the predictions for its own evaluate.py"
)
_PLACEHOLDER = re.compile(r"\[([a-z]+)\]")
#: Placeholders that belong to no domain, by SOLOIST's names.
_VALUES = {
    "choice": "count",
    "stars": "count",
    "people": "count",
    "stay": "count",
    "day": "day",
    "departure": "place",
    "destination": "place",
    "arrive": "time",
    "leave": "time",
    "time": "time",
}
_SAME = {"arrive": "arriveby", "leave": "leaveat"}


def is_one(document: object) -> bool:
    """Whether a JSON document has this form."""
    if not isinstance(document, dict) or not document:
        return False
    keys = {"response", "state"}
    return all(isinstance(turns, list) and all(isinstance(turn, dict) and turn.keys() & keys for turn in turns) for turns in document.values())


def predictions(
    document: Mapping[str, Any], gold: Sequence[GoldTurn], slots: Collection[Slot], path: str
) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    """(key, prediction) of every turn, as `predictions-state` has it.

    Args:
        document: of this form, as its schema has it.
        gold: the user turns of the suite that it is about.
        slots: those that the gold names.
        path: of the file, for errors.

    Raises:
        InputError: a dialogue that the gold doesn't have, or with another number of turns; turns without a state where others have one.
    """
    stated = any("state" in entry for entries in document.values() for entry in entries)
    due: dict[str, list[GoldTurn]] = {}
    for turn in gold:
        due.setdefault(_id(turn.dialogue.source_id), []).append(turn)
    # Also by the gold's own ids, which name a variant.
    for turn in gold:
        if _id(turn.dialogue.dialogue_id) != _id(turn.dialogue.source_id):
            due.setdefault(_id(turn.dialogue.dialogue_id), []).append(turn)
    names = _names(slots)
    for name, entries in document.items():
        turns = due.get(_id(name))
        if turns is None:
            raise InputError(path, f"predicts dialogue {name!r}, which the gold doesn't have", "were the predictions made for another split?")
        answered = [turn for turn in turns if turn.answer is not None]
        if len(entries) not in (len(turns), len(answered)):
            raise InputError(path, f"has {len(entries)} turns of dialogue {name!r}, the gold has {len(turns)}", "predict every user turn")
        active = ""
        for turn, entry in zip(turns if len(entries) == len(turns) else answered, entries, strict=True):
            active = _active(entry, active)
            if stated and "state" not in entry:
                raise InputError(path, f"has turns of dialogue {name!r} without a state, and others with one", "write {} where the state is empty")
            made: dict[str, Any] = {"state": list(_state(entry["state"], names))} if stated else {}
            if "response" in entry:
                made["delexicalised"] = _with_domain(entry["response"], active)
            yield turn.key, made


def document(gold: Sequence[GoldTurn], guesses: Mapping[tuple[str, int], Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Predictions in this form, as MultiWOZ_Evaluation reads them: an entry for each user turn that is answered.

    Args:
        gold: the user turns of one suite; of several variants of a dialogue the first is taken.
        guesses: `predictions-state`, by the turn's key. A turn without a delexicalised response has the one with values, else an empty one.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for turn in gold:
        guess = guesses.get(turn.key)
        if guess is None or turn.answer is None or turn.dialogue.variant:
            continue
        state: dict[str, dict[str, str]] = {}
        for entry in guess.get("state", ()):
            if entry["values"]:
                state.setdefault(entry["domain"], {})[entry["slot"]] = entry["values"][0]
        said = str(guess.get("delexicalised", guess.get("response", "")))
        active = [name for name, _ in _DOMAINS.findall(said) if name != "value"]
        entry = {"response": _DOMAINS.sub(_without_domain, said), "state": state, **({"active_domains": active[-1:]} if active else {})}
        found.setdefault(_id(turn.dialogue.source_id), []).append(entry)
    return found


#: A placeholder of SOLOIST's: a domain, or "value", and a slot.
_DOMAINS = re.compile(r"\[([a-z]+)_([a-z]+)\]")
_PLAIN = {"count": "choice", "place": "destination"}


def _without_domain(found: re.Match[str]) -> str:
    domain, name = found[1], found[2]
    if name == "trainid":
        name = "id"
    return f"[{_PLAIN.get(name, name) if domain == 'value' else name}]"


def _id(name: str) -> str:
    return name.lower().removesuffix(".json")


def _squeezed(slot: str) -> str:
    slot = "".join(slot.lower().split())
    return _SAME.get(slot, slot)


def _names(slots: Collection[Slot]) -> dict[Slot, str]:
    """(domain, slot without blanks) -> the slot as the gold has it; a booking's also without its "book"."""
    found = {(domain, _squeezed(slot)): slot for domain, slot in slots}
    for domain, slot in sorted(slots):
        found.setdefault((domain, _squeezed(slot).removeprefix("book")), slot)
    return found


def _state(state: Mapping[str, Mapping[str, Any]], names: Mapping[Slot, str]) -> Iterator[dict[str, Any]]:
    for domain, cells in state.items():
        for slot, value in cells.items():
            values = [str(one) for one in (value if isinstance(value, list) else [value]) if one is not None]
            name = names.get((domain.lower(), _squeezed(slot)), slot)
            if values:
                yield {"domain": domain.lower(), "slot": name, "values": values}


def _active(entry: Mapping[str, Any], before: str) -> str:
    """The domain that an entry is about: the one it names, else the last of its state."""
    named = entry.get("active_domains") or list(entry.get("state", {}))
    return str(named[-1]).lower() if named else before


def _with_domain(response: str, domain: str) -> str:
    """A response with SOLOIST's placeholders."""

    def one(found: re.Match[str]) -> str:
        name = found[1]
        if name in _VALUES:
            return f"[value_{_VALUES[name]}]"
        return f"[{domain}_{'trainid' if name == 'id' and domain == 'train' else name}]" if domain else found[0]

    return _PLACEHOLDER.sub(one, response)
