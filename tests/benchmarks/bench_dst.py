"""How much a simple state tracker loses on every suite of RADDLE, beside what the paper's model (SOLOIST) loses.

Run ``python -m tests.benchmarks.bench_dst --input MULTIWOZ``: builds raddle (or takes the folder given with ``--raddle``), trains the tracker of
`pipelines.baselines` on all input dialogues that are in none of its test sets, and scores joint goal accuracy on every test suite. Three trackers:
the value matcher with its linear model; the same trained on RADDLE's own few-shot training set alone; and the matcher without the words of the
turn, which sees values and nothing else. A turn is right if all slots are, with any of the values that the label accepts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from dialmill.pipelines import build
from dialmill.pipelines.baselines.tracker import Decision, State, Tracker, Turns
from dialmill.pipelines.baselines.trained import gold_state, wrong_slots
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import decode

#: Joint goal accuracy in the paper (Peng et al., 2021).
PAPER = {"standard": 53.2, "paraphrase": 40.3, "simplification": 37.2, "typos": 22.7, "verbosity": 38.2, "speech": 36.8}
TEXT_SPEECH = "perturbations.speech=speech:wer=0.3,engine=text"
SUITES = "suites=standard,paraphrase,verbosity,simplification,typos,unseen,ood,speech"


def read(path: Path) -> list[Dialogue]:
    """The records of a file."""
    with path.open("rb") as lines:
        return [decode(line) for line in lines]


def everything(inputs: list[str], folder: str) -> list[Dialogue]:
    """All dialogues of the input, as `build splits` reads them."""
    build.run(build.make_job(benchmarks.load_recipe("splits", None, ["few_shot=0", "hard_baselines="]), inputs, folder, overwrite=True))
    return [one for split in ("train", "valid", "test") for one in read(Path(folder, "dialogues/standard", f"{split}.jsonl"))]


def accuracy(tracker: Tracker, dialogues: Iterable[Dialogue]) -> tuple[float, int]:
    """Joint goal accuracy in per cent, and the number of user turns."""
    right = turns = 0
    for dialogue in dialogues:
        states = tracker.predict(dialogue)
        for turn in dialogue.turns:
            if turn.speaker == "user":
                turns += 1
                right += not wrong_slots(gold_state(turn), states[turn.turn])
    return 100 * right / max(turns, 1), turns


class ValueMatcher(Tracker):
    """The tracker without the words around: a mention goes to the slot that mentions of its kind went to in training."""

    def _decisions(self, seen: Turns, state: State, topic: str, last: str) -> list[Decision]:
        found = super()._decisions(seen, state, topic, last)
        return [one._replace(features=[name for name in one.features if name.split()[1] in ("key", "kind", "topic", "several")]) for one in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--input", nargs="+", required=True)
    parser.add_argument("--raddle", help="a folder that `dialmill build raddle` made of the same input")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.raddle or f"{scratch}/raddle"
        if not options.raddle:
            build.run(build.make_job(benchmarks.load_recipe("raddle", None, [SUITES, TEXT_SPEECH]), options.input, folder))
        tests = {path.parent.name: read(path) for path in sorted(Path(folder, "dialogues").glob("*/test.jsonl"))}
        held_out = {one.source_id for dialogues in tests.values() for one in dialogues}
        training = [one for one in everything(options.input, f"{scratch}/splits") if one.source_id not in held_out]
        begun = time.process_time()
        large = Tracker.train(training, "en")
        print(f"trained on {len(training)} dialogues in {time.process_time() - begun:.1f} CPU s")
        few = Tracker.train(read(Path(folder, "dialogues/standard/train.jsonl")), "en")
        trackers = {"tracker": large, "few-shot": few, "values only": ValueMatcher.train(training, "en")}
        scored = {name: {suite: accuracy(tracker, dialogues) for suite, dialogues in tests.items()} for name, tracker in trackers.items()}
    order = sorted(tests, key=lambda suite: (suite != "standard", suite))
    print("| suite | turns | " + " | ".join(f"{name} | drop" for name in trackers) + " | RADDLE | drop |")
    print("|---" * (2 * len(trackers) + 4) + "|")
    for suite in order:
        cells = [suite, str(scored["tracker"][suite][1])]
        for figures in scored.values():
            cells += [f"{figures[suite][0]:.1f}", f"{figures['standard'][0] - figures[suite][0]:.1f}"]
        paper = PAPER.get(suite)
        cells += ["-", "-"] if paper is None else [f"{paper:.1f}", f"{PAPER['standard'] - paper:.1f}"]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
