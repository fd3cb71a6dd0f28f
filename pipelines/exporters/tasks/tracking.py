"""How a model's answers are read and scored. Written by dialmill into this export; needs nothing but Python.

A belief state is {domain: {slot: [accepted values]}} as JSON, dialogue acts are [[act, domain, slot], ...]. An answer is the first JSON in what the
model says; one without any is wrong, where there is nothing to say too. Values are compared without letter case and superfluous blanks; one of
several accepted values is enough. An agent's action is {"calls": [{"name", "arguments"}, ...]} or {"answer": text}: calls are compared as JSON in any
order, an answer's words aren't judged.
"""

import json
from typing import Any


def first_json(text: str) -> Any:
    """The first JSON object or array in a text, None where there is none."""
    decoder = json.JSONDecoder()
    for place, char in enumerate(text):
        if char in "{[":
            try:
                return decoder.raw_decode(text, place)[0]
            except ValueError:
                continue
    return None


def _fold(text: Any) -> str:
    return " ".join(str(text).lower().split())


def _cells(state: Any) -> dict[tuple[str, str], set[str]]:
    """{(domain, slot): values} of a state, each value a text or a list of texts; what isn't one is no state."""
    found: dict[tuple[str, str], set[str]] = {}
    for domain, slots in state.items() if isinstance(state, dict) else ():
        for slot, values in slots.items() if isinstance(slots, dict) else ():
            said = {_fold(value) for value in (values if isinstance(values, list) else [values]) if value not in (None, "")}
            if said:
                found[_fold(domain), _fold(slot)] = said
    return found


def score_state(answer: str, gold: str) -> dict[str, float]:
    """Joint goal accuracy (1.0 where every slot is right and none is too many) and F1 of the slots of an answer, against a gold state as JSON."""
    found = first_json(answer)
    if not isinstance(found, dict):
        return {"joint_goal_accuracy": 0.0, "slot_f1": 0.0}
    right, said = _cells(json.loads(gold)), _cells(found)
    hits = sum(bool(values & right.get(key, set())) for key, values in said.items())
    joint = float(hits == len(said) == len(right))
    return {"joint_goal_accuracy": joint, "slot_f1": _f1(hits, len(said), len(right))}


def score_acts(answer: str, gold: str) -> dict[str, float]:
    """Whether all acts of an answer are right (1.0 or 0.0), and their F1, against gold acts as JSON."""
    right = {tuple(map(_fold, one)) for one in json.loads(gold)}
    found = first_json(answer)
    if not isinstance(found, list):
        return {"exact_match": 0.0, "act_f1": 0.0}
    said = {tuple(map(_fold, one)) for one in found if isinstance(one, list)}
    return {"exact_match": float(said == right), "act_f1": _f1(len(said & right), len(said), len(right))}


def _calls(action: Any) -> list[tuple[str, dict[str, Any]]]:
    """The calls of an action; none of an answer, and of what is neither."""
    found = action.get("calls") if isinstance(action, dict) else None
    some = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return [(str(one.get("name")), one["arguments"] if isinstance(one.get("arguments"), dict) else {}) for one in some]


def score_action(answer: str, gold: str) -> dict[str, float]:
    """Whether an agent's action is right as a whole, and the share of the gold's arguments that it has right (of an answer, that it is one)."""
    right, found = json.loads(gold), first_json(answer)
    if not isinstance(found, dict) or not ("calls" in found or "answer" in found):
        return {"action_accuracy": 0.0, "argument_accuracy": 0.0}
    due, said = _calls(right), _calls(found)
    if not due:
        return dict.fromkeys(("action_accuracy", "argument_accuracy"), float(not said))
    exact = sorted(json.dumps(one, sort_keys=True) for one in due) == sorted(json.dumps(one, sort_keys=True) for one in said)
    hits, left = 0, list(said)
    for name, arguments in due:
        alike = [one for one in left if one[0] == name]
        if alike:
            best = max(alike, key=lambda one: sum(one[1].get(key, ...) == value for key, value in arguments.items()))
            left.remove(best)
            hits += sum(best[1].get(key, ...) == value for key, value in arguments.items())
    total = sum(len(arguments) for _, arguments in due)
    return {"action_accuracy": float(exact), "argument_accuracy": hits / total if total else float(exact)}


def _f1(hits: int, said: int, right: int) -> float:
    return 1.0 if not said and not right else 2 * hits / (said + right)
