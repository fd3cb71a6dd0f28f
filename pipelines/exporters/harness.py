"""Suites as tasks of evaluation harnesses, for models that are given the dialogue: dialogue state tracking, the system's next dialogue acts, and of
recorded runs the agent's next action."""

from __future__ import annotations

import importlib.resources
import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from dialmill.pipelines.core.exporter import SPLITS, Exporter, ExportFile, Suite, text_file
from dialmill.pipelines.exporters import agents
from dialmill.pipelines.exporters.corpora import Vocabulary
from dialmill.pipelines.exporters.writing import dump, lines
from dialmill.schemas import Dialogue, SlotValues, Turn

#: Test dialogues that are hard stand in a split of their own too.
_SPLITS = (*SPLITS, "test_hard")
DST, NEXT_ACTION, AGENT_ACTION = "dst", "next_action", "agent_action"
_ROLES = {"user": "user", "system": "assistant"}
_NAMES = {"en": {"user": "User", "system": "Assistant"}, "zh": {"user": "用户", "system": "系统"}}
_ASKED = {
    DST: {
        "en": "Give the belief state after the last user turn: what the user wants so far, as JSON {domain: {slot: value}}, in one line and "
        "nothing else. "
        "Leave out slots without a value; the value is dontcare where the user has no preference. The slots are:",
        "zh": "给出最后一个用户轮次之后的对话状态，即用户到目前为止的要求，写成一行 JSON {领域: {槽位: 值}}，不要写别的。没有值的槽位不写；"
        "用户无所谓的槽位写 dontcare。槽位有：",
    },
    NEXT_ACTION: {
        "en": "Give the dialogue acts of the assistant's next turn as JSON [[act, domain, slot], ...], in one line and nothing else; slot is "
        "an empty string for acts about no slot. The acts are:",
        "zh": "给出系统下一轮的对话动作，写成一行 JSON [[动作, 领域, 槽位], ...]，不要写别的；与槽位无关的动作槽位写空字符串。动作有：",
    },
    AGENT_ACTION: agents.ASKED,
}
_ANSWER = {DST: {"en": "Belief state:", "zh": "对话状态："}, NEXT_ACTION: {"en": "Dialogue acts:", "zh": "对话动作："}, AGENT_ACTION: agents.ANSWER}


class Sample(NamedTuple):
    """A question about a place in a dialogue.

    Args:
        record: the dialogue.
        last: how many of its turns the model is given.
        target: the right answer, JSON in one line.
    """

    record: Dialogue
    last: int
    target: str


def _state(state: tuple[SlotValues, ...]) -> str:
    found: dict[str, dict[str, list[str]]] = {}
    for entry in state:
        found.setdefault(entry.domain, {})[entry.slot] = list(entry.values)
    return json.dumps(found, ensure_ascii=False)


def _acts(turn: Turn) -> str:
    return json.dumps(sorted({(act.act, act.domain, act.slot or "") for act in turn.acts}), ensure_ascii=False)


def tracking_samples(record: Dialogue) -> Iterator[Sample]:
    """A sample for each user turn of a dialogue in which a state is reached."""
    if any(turn.state for turn in record.turns):
        for number, turn in enumerate(record.turns, 1):
            if turn.speaker == "user":
                yield Sample(record, number, _state(turn.state))


def action_samples(record: Dialogue) -> Iterator[Sample]:
    """A sample for each system turn that has acts and answers a user."""
    for number, turn in enumerate(record.turns):
        if turn.speaker == "system" and turn.acts and any(one.speaker == "user" for one in record.turns[:number]):
            yield Sample(record, number, _acts(turn))


def agent_samples(record: Dialogue) -> Iterator[Sample]:
    """A sample for each place of a recorded run at which the agent acts on what the user has just said."""
    return (Sample(record, place.last, place.target) for place in agents.places(record))


#: Task -> its samples of a dialogue.
SAMPLES: Mapping[str, Callable[[Dialogue], Iterator[Sample]]] = {DST: tracking_samples, NEXT_ACTION: action_samples, AGENT_ACTION: agent_samples}


class Instructions:
    """What is asked in a suite: the question of a task with the slots, the acts, or the tools, that occur in the suite."""

    def __init__(self, vocabulary: Vocabulary, tools: str = "") -> None:
        by_domain: dict[str, list[str]] = {}
        for domain, slot in sorted(vocabulary.states):
            by_domain.setdefault(domain, []).append(slot)
        slots = "; ".join(f"{domain}: {', '.join(names)}" for domain, names in by_domain.items())
        acts = "; ".join(sorted({act for speaker, act, _, _, _ in vocabulary.acts if speaker == "system"}))
        self._known = {DST: slots, NEXT_ACTION: acts, AGENT_ACTION: tools}

    def of(self, task: str, language: str) -> str:
        """The instruction of a task in a language, English where it isn't Chinese."""
        asked = _ASKED[task]
        return f"{asked.get(language, asked['en'])} {self._known[task]}"


def _said(sample: Sample) -> Iterator[Turn]:
    return (turn for turn in sample.record.turns[: sample.last] if turn.speaker in _ROLES)


def sample_id(sample: Sample, suite: Suite) -> str:
    """The id of a sample: its dialogue's, and how many turns are given."""
    return f"{suite.exported_id(sample.record)}:{sample.last}"


def about_sample(sample: Sample, suite: Suite) -> dict[str, Any]:
    """What a result can be grouped by; the number of the turn is that of the record."""
    changed = any(turn.original is not None or turn.inserted for turn in _said(sample))
    record = sample.record
    return {
        "dialogue_id": suite.exported_id(record),
        "turn": sample.last - 1,
        "suite": record.suite,
        "variant": record.variant,
        "domains": list(record.domains),
        "changed": changed,
    }


class HarnessExporter(Exporter):
    """What the exporters of tasks share: a file of samples for each task and split that has any."""

    needs_labels = True
    keeps_labels = False

    def files(self, suite: Suite) -> Iterator[ExportFile]:
        instructions = Instructions(Vocabulary.of(suite), agents.tools_of(suite.records()))
        made: list[tuple[str, str]] = []
        for task, samples in SAMPLES.items():
            for split in _SPLITS:
                if next((one for record in suite.records(split) for one in samples(record)), None) is not None:
                    made.append((task, split))
                    found = (dump(self.line(task, one, suite, instructions)) for record in suite.records(split) for one in samples(record))
                    yield ExportFile(f"{task}.{split}.jsonl", lines(found))
        yield from self.code(suite, made)

    @abstractmethod
    def line(self, task: str, sample: Sample, suite: Suite, instructions: Instructions) -> dict[str, Any]:
        """A sample as the harness reads it."""

    @abstractmethod
    def code(self, suite: Suite, made: list[tuple[str, str]]) -> Iterator[ExportFile]:
        """The files that make tasks of the samples, of which there are those of `made` (task, split)."""


def prompt(task: str, sample: Sample, instructions: Instructions) -> str:
    """A sample as one prompt: the question, the turns behind their speakers' names, and the word that the answer follows."""
    language = sample.record.language
    names = _NAMES.get(language, _NAMES["en"])
    if task == AGENT_ACTION:
        said = list(agents.lines(sample.record, sample.last))
    else:
        said = [f"{names[turn.speaker]}: {turn.utterance}" for turn in _said(sample)]
    answer = _ANSWER[task].get(language, _ANSWER[task]["en"])
    return "\n".join([instructions.of(task, language), "", *said, answer])


def module(name: str) -> str:
    """The scoring, with what a harness needs beside it, as one module."""
    folder = importlib.resources.files("dialmill.pipelines.exporters.tasks")
    return "".join((folder / part).read_text("utf-8") for part in ("tracking.py", name))


class InspectExporter(HarnessExporter):
    """Tasks of inspect_ai."""

    name = "inspect"
    about = "inspect tasks: inspect eval SUITE/tasks.py@dst, @next_action, @agent_action; state tracking, the system's next acts, agents' actions"

    def line(self, task: str, sample: Sample, suite: Suite, instructions: Instructions) -> dict[str, Any]:
        asked = {"role": "system", "content": instructions.of(task, sample.record.language)}
        if task == AGENT_ACTION:
            said: list[dict[str, Any]] = agents.messages(sample.record, sample.last)
        else:
            said = [{"role": _ROLES[turn.speaker], "content": turn.utterance} for turn in _said(sample)]
        return {"id": sample_id(sample, suite), "input": [asked, *said], "target": sample.target, "metadata": about_sample(sample, suite)}

    def code(self, suite: Suite, made: list[tuple[str, str]]) -> Iterator[ExportFile]:
        if made:
            yield text_file("tasks.py", module("inspect_tasks.txt"))


class LmEvalExporter(HarnessExporter):
    """Tasks of lm-evaluation-harness."""

    name = "lm-eval"
    about = "lm-evaluation-harness tasks: lm_eval --include_path SUITE --tasks dialmill_SUITE; as inspect's, with the dialogue as one prompt"

    def line(self, task: str, sample: Sample, suite: Suite, instructions: Instructions) -> dict[str, Any]:
        return {"id": sample_id(sample, suite), "prompt": prompt(task, sample, instructions), "target": sample.target, **about_sample(sample, suite)}

    def code(self, suite: Suite, made: list[tuple[str, str]]) -> Iterator[ExportFile]:
        if not made:
            return
        yield text_file("utils.py", module("lm_eval_utils.txt"))
        name = re.sub(r"\W", "_", suite.name)
        tasks = list(dict.fromkeys(task for task, _ in made))
        for task in tasks:
            yield text_file(f"{task}.yaml", _task_text(task, f"dialmill_{name}_{task}", {split for one, split in made if one == task}))
        listed = "".join(f"  - dialmill_{name}_{task}\n" for task in tasks)
        yield text_file("group.yaml", f"group: dialmill_{name}\ntask:\n{listed}metadata:\n  version: 1\n")


_METRICS = {DST: ("joint_goal_accuracy", "slot_f1"), NEXT_ACTION: ("exact_match", "act_f1"), AGENT_ACTION: ("action_accuracy", "argument_accuracy")}
#: What the harness calls the splits.
_KEYS = {"train": "training_split", "valid": "validation_split", "test": "test_split"}


def _task_text(task: str, name: str, splits: set[str]) -> str:
    metrics = "".join(f"  - metric: {metric}\n    aggregation: mean\n    higher_is_better: true\n" for metric in _METRICS[task])
    return (
        f"task: {name}\n"
        f"custom_dataset: !function utils.load_{task}\n"
        + "".join(f"{key}: {split}\n" for split, key in _KEYS.items() if split in splits)
        + "output_type: generate_until\n"
        'doc_to_text: "{{prompt}}"\n'
        'doc_to_target: "{{target}}"\n'
        f"process_results: !function utils.{task}_results\n"
        'generation_kwargs:\n  until:\n    - "\\n\\n"\n  max_gen_toks: 512\n  do_sample: false\n'
        f"metric_list:\n{metrics}"
        "metadata:\n  version: 1\n"
    )
