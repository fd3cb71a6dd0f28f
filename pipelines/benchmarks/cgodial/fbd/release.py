"""The release files of CGoDial's flow-based dialogues: their names, and a dialogue as a log has it."""

from __future__ import annotations

from collections.abc import Sequence

from dialmill.pipelines.core.blind import drawn
from dialmill.pipelines.sources.flow import NODE
from dialmill.schemas import Dialogue, Turn

#: The suite whose variants are the transcripts of a turn.
ASR = "asr"
WALKS, LOGS, INTENTS = "selected_simu_data.jsonasr.json", "real_data.jsonasr.json", "int2act.json"
#: Which version of each turn counts in the hard test set.
HARD = "release/data/hard_data_id.json"
#: The ids of a scenario's few-shot dialogues.
FEW = "train_few_shot_ids.json"
SPLITS = {"train": "train", "valid": "dev", "test": "test"}


def scenario(dialogue: Dialogue) -> str:
    """The folder of a dialogue: its flow."""
    return "".join(char if char.isalnum() or char in "_-." else "_" for char in (dialogue.domains or ("flow",))[0]).lstrip(".") or "flow"


def node_of(turn: Turn) -> str | None:
    """The node that a turn's label names."""
    return next((label[len(NODE) :] for label in turn.labels if label.startswith(NODE)), None)


def log_turns(dialogue: Dialogue, transcribed: Sequence[Sequence[str]], labels: bool = True) -> list[dict[str, object]]:
    """The turns as a log has them: what the system says, and what the user answers.

    Args:
        transcribed: the transcripts of each user turn, in order.
        labels: whether intents and actions are written.
    """
    found: list[dict[str, object]] = []
    users = 0
    for turn in dialogue.turns:
        node = node_of(turn) if labels else None
        if turn.speaker == "system":
            found.append({"sys_response": turn.utterance, **({"sys_action": node} if node is not None else {})})
            continue
        if not found or "usr_query" in found[-1]:
            found.append({})
        found[-1] |= {"usr_query": turn.utterance, **({"usr_intent": node} if node is not None else {}), "asr_results": list(transcribed[users])}
        users += 1
    return found


def hard_versions(clean: Dialogue, variants: Sequence[Dialogue], hard: Sequence[int]) -> list[str | None]:
    """Which version of each turn of the log counts in the hard test set: of the hard variants the one with the most edits, "origin" where only the
    written dialogue is hard, None where the user says nothing."""
    found: list[str | None] = []
    for turn in clean.turns:
        if turn.speaker == "system" or not found or found[-1] is not None:
            found.append(None)
        if turn.speaker == "user":
            place = max(hard, key=lambda place: (len(variants[place].turns[turn.turn].edits), -place), default=None)
            found[-1] = "origin" if place is None else f"asr_{place}"
    return found


def transcripts(clean: Dialogue, variants: Sequence[Dialogue]) -> list[list[str]]:
    """What each user turn is in each variant."""
    return [[one.turns[turn.turn].utterance for one in variants] for turn in clean.turns if turn.speaker == "user"]


def blind_prefix(dialogue: Dialogue, seed: int) -> tuple[Dialogue, list[list[str]]]:
    """What is published of a test dialogue whose labels are held out: its turns up to one of the user's, drawn by hash, and no other transcripts.

    The system's next turn tells which node was recognised, and a second transcript what the user said.
    """
    users = [place for place, turn in enumerate(dialogue.turns) if turn.speaker == "user"]
    last = drawn(users, seed, dialogue.source_id, "prefix") if users else len(dialogue.turns) - 1
    shown = dialogue.replace(turns=dialogue.turns[: last + 1])
    return shown, [[] for place in users if place <= last]
