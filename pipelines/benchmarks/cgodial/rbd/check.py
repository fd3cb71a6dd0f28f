"""What `dialmill verify` asks of the release of CGoDial's retrieval-based dialogues: candidates, and whether they give answers away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dialmill.pipelines.benchmarks.cgodial.checks import found, load
from dialmill.pipelines.benchmarks.cgodial.rbd.ambiguity import usable
from dialmill.pipelines.candidates import audit
from dialmill.pipelines.core.checked import Checked


def check_release(root: Path, recipe: Mapping[str, Any]) -> Checked:
    """Retrieval-based dialogues: candidates, and whether they give answers away."""
    return found(
        "release: candidates are distinct, as many as expected, and trivial rankers don't find the right ones", _retrieval_faults(root, recipe)
    )


def _retrieval_faults(root: Path, recipe: Mapping[str, Any]) -> Iterator[str]:
    for split, name in (("train", "train"), ("valid", "dev"), ("test", "test")):
        path = next(one for one in (root / "labels" / "release" / f"{name}.json", root / "release" / f"{name}.json") if one.is_file())
        examples = load(path)
        for source_id, one in examples.items():
            texts = one["true"] + one["false"]
            if len(texts) != recipe["candidate_numbers"][split]:
                yield f"{path.relative_to(root)}: {source_id} has {len(texts)} candidates, expected are {recipe['candidate_numbers'][split]}"
            if len(usable(one["true"][0], one["false"], ())) < len(one["false"]):
                yield f"{path.relative_to(root)}: {source_id} has candidates that nearly equal each other"
        total: dict[str, int] = {}
        shuffled = load(root / "release" / f"ecd_{name}_subtask_1.json")
        if len(shuffled) != len(examples):
            yield f"release/ecd_{name}_subtask_1.json: has {len(shuffled)} examples, {name}.json has {len(examples)}"
            continue
        for one, same in zip(shuffled, examples.values(), strict=True):
            options = [option["utterance"] for option in one["options-for-next"]]
            if sorted(options) != sorted(same["true"] + same["false"]):
                yield f"release/ecd_{name}_subtask_1.json: example {one['example-id']} has other candidates than {name}.json"
                continue
            audit.add(total, audit.measure(same["history"], options, [options.index(same["true"][0])], lambda word: 1.0))
        yield from audit.suspicions(f"release/ecd_{name}_subtask_1.json", audit.rates(total))
