"""Whether hard sets are hard for a system that had no part in choosing them, and whether membership hangs on the seed.

Run ``python -m tests.benchmarks.bench_hard DIR [DIR ...]`` on folders that `dialmill build` made, of one benchmark and input, with different seeds.
Of the first it prints the check that stands in its manifest: each kind of baseline, left out of the choice, on test, on the hard records, and on 400
random subsets with as many records of each length; with how many pairs of suite and kind lie below the range, and the gaps. With ``--input`` (what
the folder was built from) a tracker that has no say in any choice is trained on all dialogues that are in no test set, and compared in the same way.
Of several folders it prints Cohen's kappa of membership by source dialogue, for each suite and pair of seeds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dialmill.pipelines.baselines.panel.choice import Unit, check, length_step
from dialmill.pipelines.baselines.panel.seen import tasks, wrong_slots
from dialmill.pipelines.baselines.tracker import Tracker
from dialmill.schemas import Dialogue

from tests.benchmarks.bench_dst import everything, read

OUTSIDE = "outside tracker"


def told(found: dict[str, Any]) -> None:
    """The checks of a manifest's suites, figure by figure."""
    rows: dict[str, list[tuple[float, str, dict[str, Any], bool]]] = {}
    for suite, one in found.items():
        for kind, figures in one.get("check", {}).items():
            for name, figure in figures.items():
                rows.setdefault(name, []).append((figure["mean"] - figure["hard"], f"{suite} {kind}", figure, one["power"]))
    for name, mine in rows.items():
        with_power = [row for row in mine if row[3]] or mine
        gaps = [100 * row[0] for row in with_power]
        below = sum(row[2]["below"] for row in with_power)
        print(f"{name}: below the range {below} of {len(gaps)}, mean gap {sum(gaps) / len(gaps):.1f} points, smallest {min(gaps):.1f}")
        for gap, what, figure, power in sorted(mine, key=lambda row: row[0]):
            shown = " / ".join(f"{100 * figure[key]:.1f}" for key in ("test", "hard", "mean", "low"))
            print(f"  {what}: {shown} (gap {100 * gap:.1f}){'' if figure['below'] else ' NOT BELOW'}{'' if power else ' no power'}")


def outside(folder: Path, inputs: list[str], suites: Sequence[str]) -> None:
    """The tracker of `predict-baseline`, which has no say in any choice, beside random subsets."""
    test = {one.source_id for one in read(folder / "dialogues/standard/test.jsonl")}
    with tempfile.TemporaryDirectory() as whole:
        training = [one for one in everything(inputs, whole) if one.source_id not in test]
    tracker = Tracker.train(training, training[0].language)
    for suite in suites:
        records = read(folder / "dialogues" / suite / "test.jsonl")
        hard = {one.dialogue_id for one in read(folder / "dialogues" / suite / "test_hard.jsonl")}
        units = [_unit(tracker, one, one.dialogue_id in hard) for one in records]
        # A kind that misses the hard records and nothing else makes the choice again; the tracker is measured.
        for one in check(units, {OUTSIDE: OUTSIDE, "chosen": "chosen"}, len(hard) / max(len(records), 1), _measure):
            if one.kind == OUTSIDE:
                print(f"{suite} {one.figure}: {100 * one.test:.1f} / {100 * one.hard:.1f} / {100 * one.mean:.1f} [{100 * one.low:.1f}]", end="")
                print("" if one.below else " NOT BELOW")


def _unit(tracker: Tracker, record: Dialogue, hard: bool) -> Unit:
    found = list(tasks(record))
    predicted = tracker.predict(record)
    before: dict[tuple[str, str], str] = {}
    right = joint = 0
    for task in found:
        now = predicted[task.turn]
        update = {slot: value for slot, value in now.items() if before.get(slot) != value}
        right += not wrong_slots(task.right, update)
        joint += now.keys() == task.right.after.keys() and all(now[slot] in values for slot, values in task.right.after.items())
        before = dict(now)
    texts = [text for task in found for text in (task.seen.user, task.seen.system)]
    sums = {"update of": len(found), "update right": right, "jga of": len(found), "jga right": joint}
    # Errors of the choice lie far above what its length lets one expect, so that the hard records come first whatever their length.
    errors = {OUTSIDE: {"update": 0}, "chosen": {"member": 1_000_000 if hard else 0}}
    return Unit(record.dialogue_id, "", len(found), length_step(texts, record.language), errors, {OUTSIDE: sums, "chosen": {}})


def _measure(sums: Any) -> dict[str, float]:
    return {name[:-3]: sums[f"{name[:-3]} right"] / of for name, of in sums.items() if name.endswith(" of") and of}


def kappa(one: Path, other: Path, suite: str) -> tuple[float, int]:
    """Cohen's kappa of membership among the source dialogues that both test suites have, and how many these are."""
    sides = []
    for folder in (one, other):
        parts = {name: {record.source_id for record in read(folder / "dialogues" / suite / f"{name}.jsonl")} for name in ("test", "test_hard")}
        sides.append((parts["test"], parts["test_hard"]))
    common = sorted(sides[0][0] & sides[1][0])
    pairs = [(name in sides[0][1], name in sides[1][1]) for name in common]
    if not pairs:
        return 0.0, 0
    agreed = sum(first == second for first, second in pairs) / len(pairs)
    shares = [sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1)]
    chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    return (agreed - chance) / (1 - chance) if chance < 1 else 1.0, len(pairs)


def main() -> None:
    """Prints all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--input", nargs="*", default=[])
    options = parser.parse_args()
    manifest = json.loads((options.folders[0] / "manifest.json").read_text("utf-8"))
    told(manifest["hard"])
    if options.input:
        outside(options.folders[0], options.input, list(manifest["hard"]))
    shared = [suite for suite in manifest["hard"] if all((folder / "dialogues" / suite).is_dir() for folder in options.folders)]
    for one, other in itertools.combinations(options.folders, 2):
        for suite in shared:
            value, number = kappa(one, other, suite)
            print(f"kappa {suite} {one.name} {other.name}: {value:.2f} ({number} in common)")


if __name__ == "__main__":
    main()
