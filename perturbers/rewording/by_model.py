"""Turns as a language model rewrites them: what it is asked, and its answers as edits that leave the slot values alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dialmill.perturbers.rewording import llm
from dialmill.perturbers.rewording.donors import gap_edits
from dialmill.perturbers.rewording.task import Task
from dialmill.perturbers.typing.foreign import align
from dialmill.schemas import Edit, Turn, apply_edits

#: How often an answer is asked for one turn.
_ANSWERS = 3
#: Calls at a time.
_CONCURRENT = 8


def messages_for(instruction: str, task: Task) -> list[dict[str, str]]:
    """What the model is asked: the instruction, the values to keep, what the system said before, and the turn."""
    values = [task.text[place.start : place.end] for place in task.view.located]
    rules = [
        instruction,
        "Write in Chinese." if task.view.language == "zh" else "Write in the language of the message.",
        "Keep the speaker, every wish, question, refusal and thanks, and say nothing that the message doesn't say.",
        *([f"Keep these exactly as they are written, in this order: {'; '.join(values)}."] if values else []),
        "Reply with the rewritten message alone.",
    ]
    context = f"The assistant said: {task.before}\n" if task.before else ""
    return [{"role": "system", "content": " ".join(rules)}, {"role": "user", "content": f"{context}The user's message: {task.text}"}]


_QUOTED = re.compile(r"""^\s*(?:["'“「](?P<inner>.*)["'”」])\s*$""", re.DOTALL)


def rewritings(model: str, instruction: str, task: Task) -> Iterator[tuple[Turn, int]]:
    """The turn as the model rewrote it, again and again up to three times, each with the tokens it cost. Nothing is certified yet.

    Raises:
        LlmError: a call failed for good.
    """
    client, messages = llm.client_for(model), messages_for(instruction, task)
    for attempt in range(_ANSWERS):
        answer = client.ask(messages, attempt)
        match = _QUOTED.match(answer.text)
        text = (match["inner"] if match else answer.text).strip()
        if text and llm.admissible(text, task.text):
            yield apply_edits(task.view.turn, edits_to(task, text)), answer.tokens


def edits_to(task: Task, text: str) -> list[Edit]:
    """Edits from the utterance to `text` that leave the values alone where `text` has them, whole and in order."""
    places = [(place.start, place.end) for place in task.view.located]
    literals: list[str] = []
    reached = 0
    for start, end in places:
        value = re.compile(rf"(?<!\w){re.escape(task.text[start:end])}(?!\w)" if task.view.language != "zh" else re.escape(task.text[start:end]))
        match = value.search(text, reached)
        if match is None:
            return align(task.text, text)
        literals.append(text[reached : match.start()])
        reached = match.end()
    return gap_edits(task.text, 0, len(task.text), places, [*literals, text[reached:]])


def prefetch(model: str, instruction: str, tasks: Sequence[Task]) -> None:
    """Asks for the first answers to all turns of a dialogue at once, into the cache. Failures show when a turn's own call is made."""
    client = llm.client_for(model)

    def ask(task: Task) -> Any:
        try:
            return client.ask(messages_for(instruction, task))
        except llm.LlmError:
            return None

    with ThreadPoolExecutor(_CONCURRENT) as pool:
        list(pool.map(ask, tasks))
