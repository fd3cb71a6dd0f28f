"""Train on our knowledge-seeking turns, test on real ones: ``python tests/benchmarks/bench_knowledge.py --real DIR``.

DIR holds the published releases (see tests/real). Three figures are printed as JSON:

- `detection`: one linear detector (words, pairs of words, n-grams of characters of the turn) trained (a) on our train split, made of MultiWOZ 2.1
  dialogues and the knowledge base of DSTC9, and (b) on the 4,173 labelled instances of DSTC11; tested on the 263 of DSTC10 (speech, another locale)
  and, for recall, on the aligned instances of DSTC9 that share no turn with our input.
- `selection`: recall at 1 of BM25 for real and for our questions, among the snippets of the entity in question and among all; ours weighted by the
  domains of the real ones.
- `overlap`: how many of the words of a question (without function words) stand in its snippet's title, and of the title's in the question.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.perturbers.insertion.knowledge import SEEKING, Knowledge, KnowledgeBase, load
from dialmill.perturbers.insertion.knowledge.english import FUNCTION_WORDS
from dialmill.pipelines.baselines.features import words
from dialmill.pipelines.baselines.linear import Example, LinearClassifier, text_features
from dialmill.pipelines.baselines.rankers import Bm25
from dialmill.pipelines.sources import registry
from dialmill.pipelines.sources.inputs import find_inputs
from dialmill.schemas import Dialogue, Snippet


class Asked(NamedTuple):
    """A knowledge-seeking turn: what was said before it and in it, and its snippet."""

    context: tuple[str, ...]
    question: str
    snippet: Snippet


def dialogues(paths: Sequence[Path]) -> list[Dialogue]:
    """All dialogues of some files, read without a build."""
    found: dict[str, list[Any]] = {}
    inputs = find_inputs([str(path) for path in paths])
    from dialmill.pipelines.core import files
    from dialmill.pipelines.core.source import Piece

    for one in inputs:
        if one.role != "other":
            for index, (name, kind, data) in enumerate(registry.get(one.source).pieces(one.role, one.path, files.read_bytes(one.path))):
                found.setdefault(name, []).append(Piece(kind, one.number, index, data))
    source = registry.get(next(one.source for one in inputs if one.role == "dialogues"))
    return [source.parse(name, pieces) for name, pieces in sorted(found.items()) if any(piece.kind == "dialogue" for piece in pieces)]


def made(some: Iterable[Dialogue], perturber: Knowledge, split: str, seed: int = 1) -> list[Dialogue]:
    """Our dialogues with knowledge-seeking turns, worded as those of a split are."""
    found = [perturber.perturb(one.replace(split=split), seed) for one in some]
    return [one for one in found if one.lineage[-1].outcome == "changed"]


def ours(some: Iterable[Dialogue]) -> tuple[list[tuple[str, bool]], list[Asked]]:
    """(user turn, whether it seeks knowledge) of all user turns, and the knowledge-seeking ones."""
    turns, asked = [], []
    for one in some:
        for turn in one.turns:
            if turn.speaker == "user":
                turns.append((turn.utterance, SEEKING in turn.labels))
                if SEEKING in turn.labels:
                    asked.append(Asked(tuple(before.utterance for before in one.turns[: turn.turn]), turn.utterance, turn.knowledge[0]))
    return turns, asked


def real(folder: Path, base: KnowledgeBase | None = None) -> tuple[list[tuple[str, bool]], list[Asked]]:
    """The same of a folder with logs.json and labels.json."""
    logs, labels = (json.loads((folder / name).read_text("utf-8")) for name in ("logs.json", "labels.json"))
    turns, asked = [], []
    for log, label in zip(logs, labels, strict=True):
        turns.append((log[-1]["text"], label["target"]))
        if label["target"] and base is not None:
            named = label["knowledge"][0]
            snippet = base.find(named["domain"], str(named["entity_id"]), str(named["doc_id"]))
            assert snippet is not None
            asked.append(Asked(tuple(turn["text"] for turn in log[:-1]), log[-1]["text"], snippet))
    return turns, asked


def detector(turns: Iterable[tuple[str, bool]]) -> LinearClassifier:
    """A detector of knowledge-seeking turns."""
    return LinearClassifier.train(Example(text_features(text, "en"), "yes" if target else "no") for text, target in turns)


def rates(model: LinearClassifier, turns: Sequence[tuple[str, bool]]) -> dict[str, float]:
    """Precision, recall and F1 of the knowledge-seeking class."""
    told = [model.predict(text_features(text, "en")) == "yes" for text, _ in turns]
    hits = sum(yes and target for yes, (_, target) in zip(told, turns, strict=True))
    precision, recall = hits / max(sum(told), 1), hits / max(sum(target for _, target in turns), 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f1": round(f1, 4)}


def recall_at_1(asked: Sequence[Asked], base: KnowledgeBase, whole: bool) -> dict[str, tuple[int, int]]:
    """(right, all) by domain of BM25 over title and body: among the snippets of the right entity, or, `whole`, among all with their entity's name,
    and by the two turns before the question as well."""
    ranker = Bm25().fit((f"{one.title} {one.body}" for one in base.snippets()), "en")
    everything = list(base.snippets())
    texts = [f"{base.entities[one.domain, one.entity_id].name or one.domain} {one.title} {one.body}" for one in everything]
    found: dict[str, tuple[int, int]] = {}
    for one in asked:
        candidates = everything if whole else list(base.entities[one.snippet.domain, one.snippet.entity_id].snippets)
        options = texts if whole else [f"{each.title} {each.body}" for each in candidates]
        scores = ranker.rank([*(one.context[-2:] if whole else ()), one.question], options, "en")
        right, number = found.get(one.snippet.domain, (0, 0))
        best = max(range(len(scores)), key=scores.__getitem__)
        found[one.snippet.domain] = (right + (candidates[best] == one.snippet), number + 1)
    return found


def weighted(mine: dict[str, tuple[int, int]], theirs: dict[str, tuple[int, int]]) -> float:
    """The recall of `mine` as if its domains were as frequent as those of `theirs`."""
    total = sum(number for domain, (_, number) in theirs.items() if domain in mine)
    return round(sum(mine[domain][0] / mine[domain][1] * number / total for domain, (_, number) in theirs.items() if domain in mine), 4)


def overlap(asked: Sequence[Asked]) -> dict[str, float]:
    """The mean shares of content words: of the question's in the title, of the title's in the question; and how often the two are the same."""
    shares = []
    for one in asked:
        question = set(words(one.question, "en")) - FUNCTION_WORDS
        title = set(words(str(one.snippet.title), "en")) - FUNCTION_WORDS
        common = len(question & title)
        shares.append((common / max(len(question), 1), common / max(len(title), 1), question == title))
    return {name: round(sum(share[at] for share in shares) / len(shares), 4) for at, name in enumerate(("of_question", "of_title", "same_words"))}


def over_seeds(some: Sequence[Dialogue], base: Path, seeds: int, tested: Sequence[tuple[str, bool]], known: dict[str, Any]) -> dict[str, Any]:
    """Recall and F1 on DSTC10 of detectors trained on our turns of seeds 1 to `seeds`: all, mean and least, and these two as shares of (b)'s."""
    found = [known["a"]["dstc10"]]
    for seed in range(2, seeds + 1):
        found.append(rates(detector(ours(made(some, Knowledge(knowledge=str(base)), "train", seed))[0]), tested))
    summary: dict[str, Any] = {}
    for name in ("recall", "f1"):
        values = [one[name] for one in found]
        mean, least, other = sum(values) / len(values), min(values), known["b"]["dstc10"][name]
        summary[name] = {
            "all": values,
            "mean": round(mean, 4),
            "min": least,
            "mean_of_b": round(mean / other, 3),
            "min_of_b": round(least / other, 3),
        }
    return summary


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", type=Path, required=True, help="the folder of published corpora")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds the detector is trained on, from 1 on; the rest is measured on seed 1")
    options = parser.parse_args()
    json.dump(figures(options.real, options.seeds), sys.stdout, indent=1)
    print()


def sample(asked: Sequence[Asked]) -> Sequence[Asked]:
    """About a thousand, from all dialogues alike."""
    return asked[:: max(len(asked) // 1000, 1)]


def figures(folder: Path, seeds: int = 1) -> dict[str, Any]:
    """All figures."""
    base_path, new_path = folder / "dstc9_track1/data/knowledge.json", folder / "dstc9_track1/data_eval/knowledge.json"
    base, new = load(str(base_path)), load(str(new_path))
    some = dialogues([folder / "multiwoz21/convlab2"])
    train = made(some, Knowledge(knowledge=str(base_path)), "train")
    test = made(some, Knowledge(knowledge=str(base_path)), "test")
    turns, asked_train = ours(train)
    _, asked = ours(test)
    dstc11, _ = real(folder / "dstc11_track5/data/val")
    dstc10, spoken = real(folder / "dstc10_track2_task2/data/val", new)
    aligned, written = real(folder / "dstc9_track1/subset_with_logs/val", base)
    known = {" ".join(words(turn.utterance, "en")) for one in some for turn in one.turns if len(turn.utterance.split()) > 4}
    apart = [turn for turn, one in zip(aligned, written, strict=True) if not any(" ".join(words(text, "en")) in known for text in one.context)]
    detection: dict[str, Any] = {"instances": {"a": len(turns), "b": len(dstc11), "dstc10": len(dstc10), "dstc9_apart": len(apart)}}
    for name, model in (("a", detector(turns)), ("b", detector(dstc11))):
        detection[name] = {"dstc10": rates(model, dstc10), "dstc9_recall": rates(model, apart)["recall"]}
    if seeds > 1:
        detection["seeds"] = over_seeds(some, base_path, seeds, dstc10, detection)
    selection: dict[str, Any] = {}
    for name, whole in (("entity", False), ("all", True)):
        theirs, mine = recall_at_1(written, base, whole), recall_at_1(sample(asked), base, whole)
        both = {"real": weighted(theirs, theirs), "ours_test": weighted(mine, theirs)}
        both["ours_train"] = weighted(recall_at_1(sample(asked_train), base, whole), theirs)
        selection[name] = both | {"real_by_domain": theirs, "ours_by_domain": mine}
    overlaps = {"real_dstc9": overlap(written), "real_dstc10": overlap(spoken), "ours_test": overlap(asked), "ours_train": overlap(asked_train)}
    return {"detection": detection, "selection": selection, "overlap": overlaps}


if __name__ == "__main__":
    main()
