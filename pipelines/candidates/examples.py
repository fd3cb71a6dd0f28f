"""Examples of next-utterance selection: what travels of one between stages, and how the releases write it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.candidates.keys import candidate_key, key_hash, long_id, short_id

Form = Literal["dstc7", "dstc8"]
#: The schema of files of examples.
SCHEMAS: dict[Form, str] = {"dstc7": "noesis", "dstc8": "noesis-dstc8"}
#: The releases' names of the splits.
SPLIT_NAMES = {"train": "train", "valid": "dev", "test": "test"}

_PARTICIPANT = re.compile(r"participant_(\d+)")


class Example(msgspec.Struct, array_like=True):
    """A context with its answers, before distractors are drawn.

    `messages` hold (speaker, utterance, date, time), the last two empty in DSTC7. `answers` are right and shown, `others` right and not shown
    (paraphrases); `forbidden` is the `key_hash` of everything said in the conversation, ascending. `more` holds the members that follow
    in the release's record, as JSON; `subsets` are those whose files repeat the example.
    """

    number: int
    order: bytes
    split: str
    scenario: int
    messages: list[tuple[str, str, str, str]]
    answers: list[str]
    others: list[str]
    forbidden: list[int]
    speaker: str
    more: bytes = b""
    subsets: list[str] = []


def example_number(seed: int, *key: object) -> int:
    """The id of an example: a number below 2**52, which every JSON reader takes."""
    return key_number(seed, "example@1", *key) >> 12


class ReleaseParts(NamedTuple):
    """What the path of a release file of examples says."""

    corpus: str
    split: str
    subtask: str


_RELEASED = re.compile(r"release/(?P<corpus>[a-z]+)_(?P<split>train|dev|test)(?:_(?P<case>\w+?))?_subtask_(?P<subtask>\d+)\.json")


def release_parts(path: str) -> ReleaseParts | None:
    """The corpus, split (a second test set is "test_CASE") and subtask of a file as `release_path` names it; None for any other."""
    found = _RELEASED.fullmatch(path)
    if found is None:
        return None
    split = {"dev": "valid"}.get(found["split"], found["split"])
    return ReleaseParts(found["corpus"], f"{split}_{found['case']}" if found["case"] else split, found["subtask"])


def release_path(corpus: str, split: str, scenario: int, case: str = "") -> str:
    """The file of a split and subtask: "release/ubuntu_dev_subtask_1.json"."""
    return f"release/{corpus}_{SPLIT_NAMES[split]}{case}_subtask_{scenario}.json"


class Option(NamedTuple):
    """A candidate: its text, and the `key_hash` that its id is made from."""

    text: str
    number: int


def option(text: str) -> Option:
    """A text as a candidate."""
    return Option(text, key_hash(candidate_key(text)))


def candidate_id(one: Option, form: Form) -> str:
    """The id of a candidate: the same for the same candidate, wherever it stands."""
    return short_id(one.number) if form == "dstc7" else long_id(one.number)


def fit_participants(text: str, count: int) -> str:
    """A distractor of DSTC8 whose addressees are people of the example: a number that the context lacks would tell it from an answer."""
    if "participant_" not in text:
        return text
    return _PARTICIPANT.sub(lambda found: found[0] if int(found[1]) < count else f"participant_{int(found[1]) % max(count, 1)}", text)


def candidate(one: Option, example: Example, form: Form) -> dict[str, str]:
    """A candidate as the release writes it."""
    if form == "dstc7":
        return {"candidate-id": candidate_id(one, form), "utterance": one.text}
    # All candidates of an example have one speaker, or the speaker would tell them apart.
    return {"candidate-id": candidate_id(one, form), "speaker": example.speaker, "utterance": one.text}


def record(example: Example, answers: Sequence[Option], options: Sequence[Option] | None, form: Form, blind: bool) -> bytes:
    """An element of a release file. `options` is None where the pool is a file of its own; `blind` leaves the answers out."""
    if form == "dstc7":
        messages: list[Any] = [{"speaker": speaker, "utterance": text} for speaker, text, _, _ in example.messages]
    else:
        messages = [{"date": date, "speaker": speaker, "time": time, "utterance": text} for speaker, text, date, time in example.messages]
    made: dict[str, Any] = {"data-split": SPLIT_NAMES[example.split], "example-id": example.number, "messages-so-far": messages}
    if not blind:
        made["options-for-correct-answers"] = [candidate(one, example, form) for one in answers]
    if options is not None:
        made["options-for-next"] = [candidate(one, example, form) for one in options]
    made["scenario"] = example.scenario
    data = msgspec.json.encode(made)
    return data[:-1] + b"," + example.more + b"}" if example.more else data
