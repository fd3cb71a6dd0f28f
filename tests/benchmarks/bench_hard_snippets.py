"""Whether DSTC9 Track 1's hard instances are hard for a kind that had no say in choosing them, without a build.

    python -m tests.benchmarks.bench_hard_snippets --input MULTIWOZ --knowledge TRAIN.json TEST.json [--suite knowledge] [--test 420] [--train 700]

Prints for each kind, left out of the choice, F1 of detection, MRR@5 and R@1 on test, on the hard quarter, and on 400 random sets of the same lengths;
and F1 on the quarter that its own detector gets most wrong, below which no choice can bring it.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.baselines.panel.choice import check, hardest
from dialmill.pipelines.baselines.panel.snippets import SnippetPanel
from dialmill.pipelines.benchmarks import registry as benchmarks

import dialmill as dm


def main() -> None:
    """Prints all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", nargs="+", required=True)
    parser.add_argument("--knowledge", nargs="+", required=True)
    parser.add_argument("--suite", default="knowledge")
    parser.add_argument("--test", type=int, default=420)
    parser.add_argument("--train", type=int, default=700)
    options = parser.parse_args()
    recipe = benchmarks.load_recipe("dstc9-track1", None, ["few_shot=0", f"knowledge={','.join(options.knowledge)}"])
    benchmark, panel = benchmarks.get("dstc9-track1"), SnippetPanel()
    dialogues = [one for path in options.input for one in dm.read(path)]
    dialogues.sort(key=lambda one: (key_number("bench", one.source_id), one.source_id))
    test, train = dialogues[: options.test], dialogues[options.test : options.test + options.train]
    taught = [benchmark.taught(one, recipe, 1) for one in train]
    suite = next(one.perturber for one in recipe.suite_plan() if one.name == options.suite)
    pool = benchmark.judged_pool(recipe, test[0].language)
    models = {}
    for kind in sorted(panel.families):
        data = panel.train(kind, taught, test[0].language, pool)
        assert data is not None, "no training dialogue asks a question"
        models[kind] = panel.load(kind, data)
    units = []
    for record in (suite.perturb(one.replace(split="test"), 1) for one in test):
        units += [one.unit(record.dialogue_id, None) for one in panel.judge(models, record, benchmark.judged_turns(record, recipe, 1))]
    power = "" if len(units) >= panel.least else ": no power"
    print(f"{len(units)} instances, {sum(one.stratum == 'target' for one in units)} knowledge-seeking{power}")
    for one in check(units, panel.families, 0.25, panel.measure, panel.weights):
        shown = f"test {100 * one.test:.1f} hard {100 * one.hard:.1f} draws {100 * one.mean:.1f} [{100 * one.low:.1f}]"
        print(f"{one.kind} {one.figure}: {shown}, gap {100 * (one.mean - one.hard):.1f}{'' if one.below else ' NOT BELOW'}")
    for kind in sorted(panel.families):
        own = np.array([sum(error for aspect, error in one.errors[kind].items() if aspect in panel.weights) for one in units], dtype=np.float64)
        counts = [Counter(units[at].sums[kind]) for at in hardest(units, own, 0.25)]
        print(f"{kind}: f1 where it chooses for itself {100 * panel.measure(sum(counts, Counter())).get('f1', 0.0):.1f}")


if __name__ == "__main__":
    main()
