"""Real messages of agents' users: at a rate that changes nearly every turn, no identifier and no control token changes."""

from __future__ import annotations

import json
import re
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import parse
from dialmill.perturbers.core.guard import leaves
from dialmill.perturbers.core.protected import lost, ranges
from dialmill.schemas import Dialogue, Turn

import dialmill as dm

#: Written for this check alone, and not from the product's own patterns.
_MARKED = re.compile(
    r"#{2,}[^\s#]+#{2,}|<\|?[A-Za-z_/][\w./|-]*>|\[[A-Za-z_][\w. -]*\]|\{\{?[A-Za-z_]\w*\}?\}|`[^`\n]+`|https?://\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
)
_WORD = re.compile(r"[^\s,;:!?()\"“”*]+")
_MEASURE = re.compile(r"\d+(?:st|nd|rd|th|am|pm|kg|lbs?|hrs?|k)|\$?[\d,.]+k|\d{1,2}:\d\d(?:am|pm|est)?|\d+(?:-[a-z]+)+", re.IGNORECASE)


def _tokens(text: str) -> Counter[str]:
    """Control tokens, placeholders, addresses, code, and words that are identifiers or record locators, with how often each stands there."""
    found = Counter(match[0].rstrip(".,;:!?)") for match in _MARKED.finditer(text))
    for match in _WORD.finditer(text):
        word = match[0].strip(".'’-")
        mixed = re.search(r"[A-Za-z]", word) and re.search(r"\d", word) and not _MEASURE.fullmatch(word)
        locator = not text.isupper() and re.fullmatch(r"[A-Z0-9]{5,8}", word) and not word.isdigit()
        if word and (mixed or locator or re.search(r"\w_\w", word)):
            found[word] += 1
    return found


def _often(token: str, text: str) -> int:
    bounded = rf"(?<![A-Za-z0-9_]){re.escape(token)}(?![A-Za-z0-9_])" if token[0].isalnum() and token[-1].isalnum() else re.escape(token)
    return len(re.findall(bounded, text))


def _runs(real: Path) -> list[dict[str, Any]]:
    with zipfile.ZipFile(real / "tau_bench" / "gpt-4o-airline.json.zip") as archive:
        runs: list[dict[str, Any]] = json.loads(archive.read(next(name for name in archive.namelist() if name.endswith(".json"))))
    return runs


@pytest.mark.parametrize(
    "spec",
    [
        "typos:rate=0.3",
        "typos:rate=0.3,style=chat",
        "disfluency:rate=0.3",
        "simplification",
        "verbosity",
        "paraphrase",
        "nlpaug:rate=0.3",
        "speech:wer=0.3,engine=text",
        "speech:wer=0.3,engine=text,output=plain,fillers=0.1",
    ],
)
def test_identifiers_and_control_tokens_of_tau_bench(spec: str, real: Path) -> None:
    runs = _runs(real)
    messages = [message["content"] for run in runs for message in run["traj"] if message["role"] == "user"]
    assert len(messages) == 1490 and sum(bool(ranges(text)) for text in messages) > 400
    perturber = parse(spec).perturber
    changed = 0
    for number, text in enumerate(messages):
        turns = (Turn(turn=0, speaker="user", utterance=text),)
        dialogue = Dialogue(dialogue_id=f"{number}/standard/0", source="x", source_id=str(number), language="en", domains=("airline",), turns=turns)
        variant = perturber.perturb(dialogue, seed=1).turns[0].utterance
        assert lost(text, variant) is None, (text, variant)
        gone = [token for token, times in _tokens(text).items() if _often(token, variant) < min(times, _often(token, text))]
        assert not gone, (gone, text, variant)
        changed += variant != text
    # Without acts nothing tells what a turn means: simplification leaves out what the words alone show to be empty, verbosity may find no place.
    asked = {"verbosity": 0, "simplification": 0.05, "paraphrase": 0}.get(spec, 0.5)
    assert changed > asked * len(messages)


#: Every perturber that takes English user text, at rates and in styles that change nearly every turn.
GUARD_SPECS = [
    *(f"typos:rate={rate},style={style}" for rate in (0.1, 1) for style in ("typing", "chat", "mixed")),
    *(
        "disfluency:rate=0.9,repairs=1",
        "simplification",
        "verbosity",
        "paraphrase",
        "entities:slots=all",
        "questions",
        "out_of_scope",
        "nlpaug:rate=0.9",
    ),
    *(f"speech:wer=0.5,engine=text,output={output},values=protect" for output in ("written", "plain")),
    "disfluency+simplification+typos:rate=1",
]


@pytest.mark.parametrize("spec", GUARD_SPECS)
def test_no_value_that_a_tool_is_called_with_is_damaged(spec: str, real: Path) -> None:
    runs = _runs(real)
    dialogues = list(dm.read(real / "tau_bench" / "gpt-4o-airline.json.zip"))
    values = 0
    for run, source, made in zip(runs, dialogues, dm.perturb(dialogues, spec, seed=1), strict=True):
        calls = [json.loads(call["function"]["arguments"]) for message in run["traj"] for call in message.get("tool_calls") or ()]
        passed = {value for value in leaves(calls) if len(value) >= 3}
        after = [turn for turn in made.turns if not turn.inserted]
        for before, turn in zip(source.turns, after, strict=True):
            if before.speaker == "user":
                standing = [value for value in passed if value in before.utterance]
                values += len(standing)
                assert all(turn.utterance.count(value) >= before.utterance.count(value) for value in standing), (before.utterance, turn.utterance)
    assert values == 554
