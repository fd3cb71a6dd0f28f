"""Slot-based dialogues as CGoDial's systems read them: the turns of ``data_for_damd.json`` (AlibabaResearch/DAMO-ConvAI, cgodial/slot_based_dialog).

A turn is a user's utterance and the response: ``constraint`` is the belief state, ``db`` how many rows fit, ``sys_act`` the system's acts,
``resp`` the response without its values, ``type`` what kind of turn it is, and ``turn_succ`` what the predicted acts must hold: the slots that
the user asked for and the system tells, the label of a question that external knowledge answers, or ``OOS``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dialmill.perturbers.insertion.questions import EXTRA, QUESTION
from dialmill.pipelines.benchmarks.cgodial.sbd.slots import found, in_order, slot_name, value_text
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import OOS

#: The suite whose variants are the versions besides the written one.
SPOKEN = "spoken"
DIALOGUES, SLOTS = "release/data/processed/data_for_damd.json", "release/data/processed/slot_value_set.json"
#: The versions of each turn of the dialogues of the hard test set, from the easiest to the hardest.
HARD = "release/data/risawoz/hard_data_id_sorted.json"
LISTS = {split: f"release/data/risawoz/{name}ListFile.json" for split, name in (("train", "train"), ("valid", "val"), ("test", "test"))}
#: The versions of a dialogue: as it was written, and read out and recognised three times.
VERSIONS = ("log", "log_asr0", "log_asr1", "log_asr2")
GENERAL = "通用"
OUT_OF_SCOPE = "OOS"
REGULAR, KNOWN, UNKNOWN = "regular", EXTRA, "out_of_know"
#: RiSAWOZ's acts that CGoDial has under another name, or no name for.
_ACTS = {"greeting": "general", "no-offer": "nooffer", "no offer": "nooffer"}
#: The acts that the published readers know.
ACTS = frozenset(["request", "inform", "recommend", "affirm", "negate", "nooffer", "general", "bye", "fallback"])


def turns(dialogue: Dialogue, matches: Sequence[int | None]) -> list[dict[str, object]]:
    """The turns of one version.

    Args:
        dialogue: user and system turns, alternating, the user first; inserted turns as `questions` and `out_of_scope` label them.
        matches: the rows that fit after each user turn of the source.
    """
    made: list[dict[str, object]] = []
    own = iter(matches)
    for user, system in zip(dialogue.turns[::2], dialogue.turns[1::2], strict=False):
        kind = KNOWN if EXTRA in user.labels else UNKNOWN if OOS in user.labels else REGULAR
        made.append(
            {
                "user": user.utterance,
                "constraint": constraint(user),
                "db": db_token(None if user.inserted else next(own, None)),
                "sys_act": sys_act(system, user),
                "resp": delexicalised(system),
                "turn_domain": " ".join(f"[{name}]" for name in _domains(user, system)),
                "turn_num": len(made),
                "type": kind,
                "turn_succ": success(user, system),
            }
        )
    return made


def by_difficulty(clean: Dialogue, spoken: Mapping[int, Dialogue]) -> list[list[str]]:
    """The versions of each user turn: the written one first, then the others by how many edits they have."""
    marks = []
    for turn in clean.turns:
        if turn.speaker == "user":
            edits = {name: len(spoken[number].turns[turn.turn].edits) if number in spoken else 0 for number, name in enumerate(VERSIONS[1:])}
            marks.append([VERSIONS[0], *sorted(edits, key=lambda name: (edits[name], name))])
    return marks


def blinded(turn: dict[str, object]) -> dict[str, object]:
    """A turn without its labels."""
    return {**turn, "constraint": "", "db": "", "sys_act": "", "resp": "", "turn_domain": "", "type": REGULAR, "turn_succ": []}


def constraint(user: Turn) -> str:
    """ "[餐厅] 区域=姑苏区|价位=中等 [酒店] 星级=5"; empty for an empty state."""
    domains: dict[str, list[str]] = {}
    for entry in user.state:
        domains.setdefault(entry.domain, []).append(f"{slot_name(entry.slot)}={value_text(entry.values[0])}")
    return " ".join(f"[{domain}] {'|'.join(slots)}" for domain, slots in domains.items())


def db_token(matches: int | None) -> str:
    """[db_0] none, [db_1] one, [db_2] two or three, [db_3] more (DAMD's classes); empty where no search is told."""
    return "" if matches is None else f"[db_{min(matches, 2) if matches < 4 else 3}]"


def sys_act(system: Turn, user: Turn) -> str:
    """ "[餐厅] [recommend] 名称|区域": the acts by domain, in the order of the turn, but for what the published readers would lose."""
    label = _question(user)
    if label:
        return f"[{next((act.domain for act in system.acts), GENERAL)}] [inform] {label}"
    if OOS in user.labels:
        return f"[{GENERAL}] [fallback] {OUT_OF_SCOPE}"
    domains = _acts(system)
    parts = []
    for domain in in_order(domains, _told(user, system)):
        parts.append(f"[{domain}]")
        parts += [f"[{act}] {'|'.join(slots)}".rstrip() for act, slots in domains[domain].items()]
    return " ".join(parts)


def success(user: Turn, system: Turn) -> list[str]:
    """What the predicted acts must hold. A slot that the published reading of the right acts themselves doesn't find is not asked for."""
    label = _question(user)
    if label or OOS in user.labels:
        return [label or OUT_OF_SCOPE]
    told, domains = _told(user, system), _acts(system)
    seen = found(domains, in_order(domains, told))
    return [slot for slot in told if slot in seen]


def _told(user: Turn, system: Turn) -> list[str]:
    """The slots that the user asked for and the system tells."""
    asked = {(act.domain, act.slot) for act in user.acts if act.act == "request" and act.slot is not None}
    informed = [slot_name(act.slot) for act in system.acts if act.act != "request" and act.slot is not None and (act.domain, act.slot) in asked]
    return list(dict.fromkeys(informed))


def _acts(system: Turn) -> dict[str, dict[str, list[str]]]:
    """Domain -> act -> slots, in the order of the turn."""
    domains: dict[str, dict[str, list[str]]] = {}
    for act in system.acts:
        slots = domains.setdefault(act.domain, {}).setdefault(act_name(act.act), [])
        if act.slot is not None and slot_name(act.slot) not in slots:
            slots.append(slot_name(act.slot))
    return domains


def delexicalised(system: Turn) -> str:
    """The response with [v_槽] in the place of every value."""
    parts: list[str] = []
    reached = 0
    for span in sorted((one for one in system.spans if one.start is not None), key=lambda one: (one.start or 0, -(one.end or 0))):
        start, end = span.start or 0, span.end or 0
        if start >= reached:
            parts += [system.utterance[reached:start], f"[v_{slot_name(span.slot)}]"]
            reached = end
    return "".join([*parts, system.utterance[reached:]])


def _question(user: Turn) -> str:
    return next((label[len(QUESTION) :] for label in user.labels if label.startswith(QUESTION)), "")


def act_name(act: str) -> str:
    """An act of RiSAWOZ by the name that the release has for it; `general` where it has none."""
    name = _ACTS.get(act, act)
    return name if name in ACTS else "general"


def _domains(user: Turn, system: Turn) -> list[str]:
    named = dict.fromkeys(act.domain for act in (*user.acts, *system.acts))
    return [name for name in named if name != GENERAL] or [GENERAL]
