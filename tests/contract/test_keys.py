"""What meets on one key: for every recipe, each group and each combination of its graph is listed here, with what its keys are and what bounds the
values of one. A new one has to be entered; one whose key gathers a share of everything has to say so in docs/scale.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core.runner import Combiner, Outputs, Runner
from dialmill.pipelines.core.stage import Stage
from dialmill.pipelines.runners.plain import PlainRunner
from dialmill.pipelines.sources import cut

from tests.contract import test_recipes
from tests.pipelines.tools import DATA, ROOT

#: Label -> what the values of one key are bounded by, whatever the size of the input.
BOUNDED = {
    # keys of which there are more the more there is
    "join the pieces of a dialogue": "one dialogue or log",
    "join the pieces of corpus #": "one dialogue",
    "collect shards": "a shard of an output: 256 for each at most, sorted in 64 MB and temporary files",
    "collect shards of pools": "keys of one hash: a shard for 64 MB of input, up to 4,096",
    "bring similar dialogues together": "a band of hashes; of more than 25,000 different ones that many are compared",
    "bring like dialogues together": "a band of hashes; 3,000 different ones are compared",
    "bring near copies together": "a band of hashes of held-out conversations",
    "bring equal candidates together": "candidates of one range of hashes: a part for 16 MB of input, up to 4,096",
    "bring equal responses together": "candidates of one range of hashes: a part for 16 MB of input, up to 4,096",
    "collect examples": "a shard of a release file, up to 256 for each",
    # few bytes for each thing, of which there are few
    "bring the parts of a file together": "numbers of shards, 256 at most",
    "bring the counters together": "sums of counts for each bundle",
    "bring the pool together": "names of part files, up to 4,096",
    "bring the pools of domains together": "names of part files, up to 4,096",
    "bring failed ranges together": "names of files that are unsound",
    "bring slots together": "names of slots of a domain",
    "bring scenarios together": "intents of a scenario",
    # combined as they come
    "gather the names": "who speaks: distinct names",
    "plan the splits": "sizes of splits and the limit",
    "merge the pools": "what a pool keeps of one key: Merging",
    "find the prepared files": "names of files, of pools' shards up to 4,096",
    "find the lowest ranks": "few_shot: dialogues that it takes",
    "gather the training sample": "SAMPLE_TURNS user turns",
    "sample for tuning": "240 dialogues",
    "find the pool": "one name",
    "find the pools of domains": "names of domains",
    "find what ranges begin with": "some hundred bytes for 8 MB of a file",
    "count what stands before ranges": "a number for 8 MB of a file",
    "gather responses": "a sample of fixed size",
    "draw as many of each system": "per_system conversations of each system",
}
#: Label -> what one key, or one value for all workers, has that grows with the input, as docs/scale.md says.
GROWING = {
    "bring the verdicts of a suite together": "units of a test suite",
    "gather the hard": "names of hard units",
    "order test examples": "places of test examples",
    "gather near copies": "pairs of near copies",
    "gather the list of conversations": "names of held-out conversations",
    "list conversations": "names of training conversations, wordings that name a course",
    "collect the questions of a file": "questions of a release file",
    "bring seen values together": "values that dialogues have",
}


class Recorder(Runner):
    """Runs nothing; keeps the labels of what groups and combines."""

    def __init__(self) -> None:
        self.labels: set[str] = set()

    def _note(self, label: str) -> None:
        self.labels.add(re.sub(r" of corpus \d+$", "", label) if "pieces" not in label else re.sub(r"\d+$", "#", label))

    def create(self, label: str, items: Sequence[Any]) -> Any:
        return label

    def apply(self, label: str, stage: Stage, items: Any, side: Any = None) -> Outputs:
        return Outputs(label, dict.fromkeys(stage.tags, label), label)

    def group(self, label: str, items: Any) -> Any:
        self._note(label)
        return label

    def combine(self, label: str, combiner: Combiner, items: Any) -> Any:
        self._note(label)
        return label

    def combine_keys(self, label: str, combiner: Combiner, items: Any) -> Any:
        self._note(label)
        return label

    def zip_side_inputs(self, label: str, one: Any, other: Any) -> Any:
        return label

    def flatten(self, label: str, collections: Sequence[Any]) -> Any:
        return label


def _labels(name: str, inputs: Sequence[Path], settings: Sequence[str], folder: Path) -> set[str]:
    runner = Recorder()
    job = build.make_job(benchmarks.load_recipe(name, None, settings), list(map(str, inputs)), str(folder / "out"))
    build.graph(runner, job, str(folder / "folder"))
    return runner.labels


#: Of benchmarks that the contract of recipes doesn't build.
_INPUTS = {
    "dstc9-track1": "multiwoz21",
    "noesis-advising": "advising",
    "noesis-ubuntu": "ubuntu_irc",
    "cgodial-fbd": "flow",
    "cgodial-rbd": "ecd",
    "cgodial-sbd": "risawoz",
}
_KNOWLEDGE = ",".join(str(DATA / "dstc9_track1" / name) for name in ("knowledge.json", "knowledge_eval.json"))


def _recipes() -> dict[str, tuple[Sequence[Path], Sequence[str]]]:
    """Every benchmark that is built, by what it is built of."""
    kinds = [kind for kind in vars(test_recipes).values() if getattr(kind, "name", "") in benchmarks.REGISTRY.entries]
    found = {kind.name: (kind.input or [DATA / _INPUTS[kind.name]], kind.settings) for kind in kinds}
    found["dstc9-track1"] = (found["dstc9-track1"][0], [f"knowledge={_KNOWLEDGE}"])
    return found


def test_every_group_of_every_recipe_says_what_bounds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: dict[str, set[str]] = {}
    for name, (inputs, settings) in _recipes().items():
        found[name] = _labels(name, inputs, settings, tmp_path)
    monkeypatch.setattr(cut, "PART", 1_000)
    found["ranges"] = _labels("splits", [DATA / "multiwoz21"], [], tmp_path)
    found["clean"] |= _labels("splits", [DATA / "multiwoz21"], ["clean=duplicates"], tmp_path)
    found["another corpus"] = _labels("raddle", [DATA / "multiwoz21"], [f"donors_from={DATA / 'multiwoz22'}", "suites=paraphrase"], tmp_path)
    monkeypatch.setattr(build.tuning, "wanted", lambda recipe: True)  # as where engines for audio are installed
    found["tuned"] = _labels("raddle", [DATA / "multiwoz21"], ["suites=speech"], tmp_path)
    unknown = {name: sorted(labels - BOUNDED.keys() - GROWING.keys()) for name, labels in found.items()}
    assert not any(unknown.values()), unknown
    assert not BOUNDED.keys() & GROWING.keys()
    unused = (BOUNDED.keys() | GROWING.keys()) - set().union(*found.values())
    assert not unused, "no recipe has it"


def test_what_grows_on_one_key_is_told() -> None:
    told = " ".join((ROOT / "docs" / "scale.md").read_text("utf-8").split())
    assert not [what for label, what in GROWING.items() if f"`{label}`" not in told]


class _Weighing(PlainRunner):
    """Runs plainly, and keeps how many bytes the largest key of each group has, and how many there are in all."""

    def __init__(self) -> None:
        self.largest: dict[str, tuple[int, int]] = {}

    def group(self, label: str, items: Any) -> Any:
        grouped = super().group(label, items)
        sizes = [sum(len(value) for value in values) for _, values in grouped]
        self.largest[label] = max(sizes, default=0), sum(sizes)
        return grouped


@pytest.mark.parametrize(
    ("name", "inputs", "settings"),
    [("noesis-ubuntu", [DATA / "ubuntu_irc"], []), ("raddle", [DATA / "multiwoz21"], ["suites=standard,paraphrase", "hard_share="])],
)
def test_what_travels_to_one_place_is_where_things_lie(name: str, inputs: Sequence[Path], settings: Sequence[str], tmp_path: Path) -> None:
    """What is gathered on one key for want of another are names and numbers."""
    runner = _Weighing()
    job = build.make_job(benchmarks.load_recipe(name, None, settings), list(map(str, inputs)), str(tmp_path / "out"))
    build.graph(runner, job, str(tmp_path / "folder"))
    whole = max(total for _, total in runner.largest.values())
    for label in ("bring the parts of a file together", "bring the pool together"):
        assert runner.largest.get(label, (0, 0))[0] < min(10_000, whole), label
