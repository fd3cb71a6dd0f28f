"""What the published scorers count, written down again from their definitions and not from ours, to hold releases and `score` to them.

Each function takes the right answers and a system's in the published form, and gives the published numbers (percent for CGoDial, else fractions).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

DOMAINS = ("旅游景点", "汽车", "辅导班", "飞机", "医院", "酒店", "电影", "电脑", "餐厅", "火车", "电视剧", "天气", "通用")
ACTS = ("request", "inform", "recommend", "affirm", "negate", "nooffer", "general", "bye", "fallback")
#: Acts that a system must have where the gold has them.
OWED = ("fallback", "affirm", "negate", "bye")
#: Slots that are asked for and never looked for.
FREE = ("航班信息", "天气", "车次信息", "片名", "主演名单", "商品名称", "班号")
_MARKS = re.compile("(" + "|".join(rf"\[{name}\]" for name in (*DOMAINS, *ACTS)) + ")")


def slot_acts(text: str) -> dict[str, list[str]]:
    """CGoDial's reading of "[酒店] [inform] 电话": an act that comes a second time, of another domain say, begins anew and loses its first slots."""
    found: dict[str, list[str]] = {}
    act = ""
    for part in _MARKS.split(text):
        if part.strip("[]") in ACTS and part.startswith("["):
            act = part.strip("[]")
            found[act] = []
        elif part and act:  # the mark of a domain goes in among the slots as well, and so does a blank
            found[act] += [slot.replace(" ", "") for slot in part.split("|")]
    return found


def slot_state(text: str) -> dict[str, dict[str, str]]:
    """CGoDial's reading of "[酒店] 星级=5|区域=姑苏区"; what has not exactly one "=" is passed over."""
    found: dict[str, dict[str, str]] = {}
    domain = ""
    for part in re.split("(" + "|".join(rf"\[{name}\]" for name in DOMAINS) + ")", text):
        if part.strip("[]") in DOMAINS and part.startswith("["):
            domain = part
            found.setdefault(domain, {})
        elif domain and "=" in part:
            pairs = [one.replace(" ", "").split("=") for one in part.split("|")]
            found[domain] |= {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
    return found


def slot_turn_right(gold: str, said: str, asked: Sequence[str]) -> bool:
    """Whether the acts of a turn do."""
    due, have = slot_acts(gold), slot_acts(said)
    return all(act not in due or act in have for act in OWED) and all(slot in str(have) for slot in asked if slot not in FREE)


def slot_based(dialogues: Iterable[Sequence[Mapping[str, Any]]]) -> tuple[float, float]:
    """(joint goal accuracy, success) of result files of CGoDial's slot-based systems: turns with bspn, bspn_gen, aspn, aspn_gen and turn_succ."""
    joint, success, count = 0.0, 0, 0
    for turns in dialogues:
        count += 1
        joint += sum(slot_state(turn["bspn"]) == slot_state(turn["bspn_gen"]) for turn in turns) / len(turns)
        success += all(slot_turn_right(turn["aspn"], turn["aspn_gen"], turn["turn_succ"]) for turn in turns)
    return 100 * joint / max(count, 1), 100 * success / max(count, 1)


def flow_based(logs: Mapping[str, Sequence[Mapping[str, Any]]], said: Mapping[str, Sequence[Mapping[str, Any]]]) -> tuple[float, float]:
    """(TurnACC, DialACC) of CGoDial's flow-based systems: the label of each version of a query against the intent of its turn."""
    turns, dialogues = [], []
    for name, log in logs.items():
        right = [
            said[name][place]["pred_label"].get(version) == entry["usr_intent"]
            for place, entry in enumerate(log)
            if "usr_query" in entry
            for version in ("origin", *(f"asr_{number}" for number in range(len(entry.get("asr_results", ())))))
        ]
        turns += right
        dialogues.append(all(right))
    return 100 * sum(turns) / max(len(turns), 1), 100 * sum(dialogues) / max(len(dialogues), 1)


def retrieval_based(sessions: Iterable[Sequence[tuple[float, int]]]) -> tuple[float, float]:
    """(R@1, MRR) of CGoDial's retrieval-based systems: (score, whether right) of each candidate of a session, the best first, ties as they come."""
    first, reciprocal, count = 0, 0.0, 0
    for session in sessions:
        ranked = [right for _, right in sorted(session, key=lambda one: -one[0])]
        count += 1
        first += ranked[0]
        reciprocal += 1 / (1 + ranked.index(1))
    return 100 * first / max(count, 1), 100 * reciprocal / max(count, 1)


def next_utterance(truth: Mapping[str, Sequence[str]], said: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """(R@1, MRR) of NOESIS: the first right candidate's rank; an example without a right one is right where "NONE" comes first."""
    ranked = {str(one["example-id"]): [option["candidate-id"] for option in one["candidate-ranking"]] for one in said}
    ranks = []
    for example, right in truth.items():
        wanted = list(right) or ["NONE"]
        ranks.append(next((rank for rank, option in enumerate(ranked.get(example, ()), 1) if option in wanted), None))
    return sum(rank == 1 for rank in ranks) / max(len(ranks), 1), sum(1 / rank for rank in ranks if rank) / max(len(ranks), 1)


def snippets(labels: Sequence[Mapping[str, Any]], said: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Detection and selection of DSTC9 Track 1: precision, recall, and R@1 and MRR@5 charged for detection."""
    both = [(label, guess) for label, guess in zip(labels, said, strict=True) if label["target"] and guess["target"]]
    due, found = sum(label["target"] for label in labels), sum(guess["target"] for guess in said)
    hits = []
    for label, guess in both:
        right = [(one["domain"], one["entity_id"], one["doc_id"]) for one in label["knowledge"]]
        listed = [(one["domain"], one["entity_id"], one["doc_id"]) for one in guess["knowledge"][:5]]
        hits.append(next((rank for rank, one in enumerate(listed, 1) if one in right), 0))
    charged = {"r@1": sum(rank == 1 for rank in hits), "mrr@5": sum(1 / rank for rank in hits if rank)}
    return {"prec": len(both) / max(found, 1), "rec": len(both) / max(due, 1)} | {
        name: 2 * total / max(found + due, 1) for name, total in charged.items()
    }
