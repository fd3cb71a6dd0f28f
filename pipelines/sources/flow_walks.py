"""Dialogues walked from a flow: at every system node the user answers by one of its user nodes, in one of its wordings.

What is said is composed of one of the node's wordings and, now and then, something before and behind it, so that few turns of a corpus are alike.
What makes the talk of real callers harder than the tree (CGoDial's flow-based logs, Dai et al. 2022, section 3.2) is drawn, seeded: a turn may
say the same twice in other words (restatement), be no answer at all and be said again after the system has asked once more (unclear), or ask
something beside the flow first (detour). The latter two are of the class `REJECTED`, and the system stays at its node.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.schemas.flow import REJECTED, Flow, Node, fields

#: Version of the walks: part of every key.
STEP = "flow@2"
RESTATED, UNCLEAR, DETOUR = "restated", "unclear", "detour"
#: With which probability a user turn is preceded by one beside the flow or by an unclear one, and says the same twice.
_DETOUR, _UNCLEAR, _RESTATED = 0.10, 0.07, 0.12
#: With which probability something stands before and behind a wording.
_BEFORE, _BEHIND = 0.55, 0.3
#: Turns without an answer to the system, at most, in a dialogue.
_MOST_ASTRAY = 2
#: A wording shorter than this isn't said twice in one breath: "yes, I mean yes".
_LEAST = 6
_SENTENCE = re.compile(r"[^。！？!?.]*[。！？!?.]?")
#: Of the wordings of a node, ranked by a deterministic hash, the share that only test uses, and that valid uses.
_TEST, _VALID = 0.25, 0.15


def walk(flow: Flow, number: int, split: str) -> list[dict[str, Any]]:
    """Dialogue `number` of a flow: turns as the logs of CGoDial have them.

    Returns:
        A list of {`sys_response`, `sys_action`, `usr_query`, `usr_intent`}, the system first; the last holds the system's closing reply alone.
        `usr_kind` says restated, unclear or detour where a turn is that.
    """
    rng = Rng(flow.seed, STEP, flow.flow, split, number)
    turns: list[dict[str, Any]] = []
    action, reply, astray = flow.start, str(flow.nodes[flow.start].system), 0
    asked: list[tuple[str, str]] = _detours(flow, split)
    ends = flow.ends()
    while True:
        node = flow.nodes[action]
        if not node.next:
            turns.append({"sys_response": reply, "sys_action": action})
            return turns
        intent = _branch(ends, node, rng)
        drawn = rng.random()
        opener = ""
        if astray < _MOST_ASTRAY and drawn < _DETOUR + _UNCLEAR:
            astray += 1
            if drawn < _DETOUR and asked:
                kind, (said, answered) = DETOUR, rng.choice(asked)
                asked = [one for one in asked if one[1] != answered]
            else:
                kind, why = UNCLEAR, rng.choice(("hear", "wait"))
                said, answered = rng.choice(_listed(flow.language, why)), rng.choice(_listed(flow.language, f"{why}-answer"))
                opener = rng.choice(_listed(flow.language, f"{why}-then"))
            turns.append({"sys_response": reply, "sys_action": action, "usr_query": said, "usr_intent": REJECTED, "usr_kind": kind})
            reply = answered + asked_again(node, flow.language)
        wordings = split_wordings(flow, intent, split)
        said = rng.choice(wordings)
        turn = {"sys_response": reply, "sys_action": action, "usr_query": opener + said, "usr_intent": intent}
        others = [other for other in wordings if other != said and len(other) >= _LEAST]
        if not opener and len(said) >= _LEAST and others and rng.chance(_RESTATED):
            turn["usr_query"] = _joined(said, rng.choice(_listed(flow.language, "mean")), rng.choice(others))
            turn["usr_kind"] = RESTATED
        turn["usr_query"] = _filled(flow, turn["usr_query"] if opener else _composed(flow, turn["usr_query"], rng, not turns), rng)
        turns.append(turn)
        (action,) = flow.nodes[intent].next
        reply = str(flow.nodes[action].system)


def split_wordings(flow: Flow, name: str, split: str) -> tuple[str, ...]:
    """The wordings of a user node that a split may use: no wording stands in two splits, unless a node has fewer than three."""
    ranked = sorted(flow.nodes[name].user, key=lambda text: key_number(STEP, "wording", flow.flow, name, text))
    if len(ranked) < 3:
        return tuple(ranked)
    test = max(1, round(_TEST * len(ranked)))
    valid = max(1, round(_VALID * len(ranked)))
    parts = {"test": ranked[:test], "valid": ranked[test : test + valid], "train": ranked[test + valid :]}
    return tuple(parts[split])


def asked_again(node: Node, language: str = "zh") -> str:
    """What the system says to ask once more: the node's own words, or the last sentence of its reply, from "请问" on where it has that."""
    if node.again:
        return node.again
    sentences = [found.group().strip() for found in _SENTENCE.finditer(str(node.system)) if found.group().strip()]
    last = sentences[-1] if sentences else str(node.system)
    return last[max(0, last.find("请问")) :] if language == "zh" else last


def _composed(flow: Flow, body: str, rng: Rng, first: bool) -> str:
    """A wording with something before and behind it, now and then; a caller's first words may be a greeting."""
    before, behind = "", ""
    if rng.chance(_BEFORE):
        given = flow.prefixes if flow.prefixes is not None else _listed(flow.language, "first" if first else "before")
        before = rng.choice(given) if given else ""
    if rng.chance(_BEHIND):
        given = flow.suffixes if flow.suffixes is not None else _listed(flow.language, "behind")
        behind = rng.choice(given) if given else ""
    if before and flow.language != "zh" and body[:2].istitle() and not body.startswith(("I ", "I'")):
        body = body[0].lower() + body[1:]
    # Said twice is doubtful: "嗯，嗯，对".
    before = "" if before and body.startswith(before.rstrip("，, ")) else before
    return before + (body.rstrip("。.") + behind if behind else body)


def _branch(ends: dict[str, int], node: Node, rng: Rng) -> str:
    """One of the user nodes that may follow, the likelier the more ends of the tree lie below it; by the root of their number, so that a branch that
    leads into a long part that many share doesn't leave the others out."""
    total, cumulative = 0.0, []
    for name in node.next:
        total += math.sqrt(ends[name])
        cumulative.append(total)
    return rng.weighted(node.next, cumulative)


def _detours(flow: Flow, split: str) -> list[tuple[str, str]]:
    """(question, answer) of the detours, each wording in one split, where a detour has three."""
    found = []
    for detour in flow.detours:
        ranked = sorted(detour.user, key=lambda text: key_number(STEP, "detour", flow.flow, text))
        mine = [text for place, text in enumerate(ranked) if len(ranked) < 3 or ("test", "valid", "train")[min(place, 2)] == split]
        found += [(text, detour.reply) for text in mine]
    return found


def _joined(said: str, link: str, again: str) -> str:
    return f"{said.rstrip('。.！!？?，,')}，{link}{again}" if "\u4e00" <= said[0] <= "\u9fff" else f"{said.rstrip('.!?,')}, {link} {again}"


def _filled(flow: Flow, text: str, rng: Rng) -> str:
    chosen = {name: rng.choice(flow.values[name]) for name in dict.fromkeys(fields(text))}
    for name, value in chosen.items():
        text = text.replace(f"{{{name}}}", value)
    return text


@lru_cache(maxsize=32)
def _listed(language: str, kind: str) -> tuple[str, ...]:
    """The stock phrases of a kind; "-" is none."""
    return tuple("" if text == "-" else text for row_kind, cell in rows(language, "flow") if row_kind == kind for text in alternatives(cell))
