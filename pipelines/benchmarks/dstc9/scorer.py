"""DSTC9 Track 1 (Kim et al. 2020): detection, selection and generation, every score charged for detection errors.

The metrics are those of the organisers' scores.py, and so is the form of predictions (labels.json). Three of its ways are taken over under
``--official-compat`` only: its `zip` scores a file that is too short without a word; entity "3" is another than 3; and a response that says what the
reference says scores less than 1 (METEOR), or next to nothing where it is short (BLEU). The published baseline has the same 14 numbers both ways (to
3e-8).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Scorer, Settings
from dialmill.pipelines.core.units import Floats, Key, Sums, Units, columns_of, f_measure, ratio
from dialmill.pipelines.scoring import sentences
from dialmill.pipelines.scoring.meteor import Meteor, stemmer
from dialmill.pipelines.scoring.predictions import read_bytes, read_document
from dialmill.pipelines.scoring.wordnet import VARIABLE, folder, load
from dialmill.schemas.strict_json import JsonError, parse

Label = Mapping[str, Any]
#: Split -> the folder that the release keeps it in, below a data root.
_FOLDERS = {"test": "test", "valid": "val", "val": "val", "train": "train", "test_hard": "test"}
_ROOTS = ("data_eval", "data")
_SUMS = {
    "selection.mrr@5": "mrr",
    "selection.r@1": "r1",
    "selection.r@5": "r5",
    **{f"generation.bleu-{n}": f"bleu_{n}" for n in range(1, sentences.ORDER + 1)},
    "generation.meteor": "meteor",
    "generation.rouge_1": "rouge_1",
    "generation.rouge_2": "rouge_2",
    "generation.rouge_l": "rouge_l",
}
_GENERATION = [column for metric, column in _SUMS.items() if metric.startswith("generation.")]
_METEOR_MISSING = f"METEOR is left out: it needs WordNet 3.0 (Debian: apt-get install wordnet-base; elsewhere name its folder in {VARIABLE}) and nltk"


class Dstc9(Scorer):
    name = "dstc9-track1"
    about = "DSTC9 Track 1: detection, selection and generation as the organisers' scores.py, from a file in the form of labels.json"
    scale = "fraction"
    ranked = ("detection.f1", *_SUMS)
    clean = "all_sources"
    paired = False
    below_full: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("meteor", *(f"bleu-{n}" for n in range(1, sentences.ORDER + 1))),
        "the published metric gives a response that says what the reference says less than 1",
    )

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        path, self.split = _find_labels(settings.gold, settings.split)
        self.path = str(path)
        self.labels: list[Label] = read_document(path, "dstc9-labels")
        knowledge = next((one for one in (path.parent / "knowledge.json", path.parent.parent / "knowledge.json") if one.is_file()), None)
        self.snippets = None if knowledge is None else _snippets(knowledge)
        self.meteor: Meteor | None = None
        where = folder()
        if where is None or importlib.util.find_spec("nltk") is None:
            self.notes.add(_METEOR_MISSING)
        else:
            self.meteor = Meteor(load(where), stemmer())
        self._file = ""

    def suites(self) -> list[str]:
        sources = dict.fromkeys(label["source"] for label in self.labels if "source" in label)
        return [self.clean, *(sources if len(sources) > 1 else ())]

    def read(self, path: str) -> list[Label]:
        self._file = path
        guesses: list[Label] = read_document(Path(path), "predictions-dstc9")
        if len(guesses) != len(self.labels):
            short = f"has {len(guesses)} predictions, {self.path} has {len(self.labels)} labels"
            if not self.settings.official:
                first = min(len(guesses), len(self.labels))
                raise InputError(
                    path, f"{short}; the first without its other half is item {first}", "predict every instance, in the order of logs.json"
                )
            self.notes.add(f"{short}: scored are the first {min(len(guesses), len(self.labels))}, as the official scorer does")
        if self.snippets is not None:
            strange = [
                (place, snippet)
                for place, guess in enumerate(guesses)
                if guess["target"]
                for snippet in guess["knowledge"]
                if _id(snippet) not in self.snippets
            ]
            if strange:
                place, snippet = strange[0]
                self.notes.add(
                    f"{len(strange)} predicted snippets are not in knowledge.json, the first at item {place}: {_id(snippet)}; they count as wrong"
                )
        return guesses

    def covered(self, guesses: list[Label]) -> list[str]:
        return [self.clean]

    def every(self, guesses: list[Label]) -> list[str]:
        return self.suites()

    def units(self, suite: str, guesses: list[Label] | None) -> Units:
        pairs = list(enumerate(zip(self.labels, self.labels if guesses is None else guesses, strict=False)))
        pairs = [one for one in pairs if suite in (self.clean, one[1][0].get("source"))]
        rows = [self._row(label, guess) for _, (label, guess) in pairs]
        return Units([Key(str(place), 0, "") for place, _ in pairs], columns_of(rows))

    def _columns(self) -> list[str]:
        return ["tp", "fp", "tn", "fn", *_SUMS.values()]

    def _row(self, label: Label, guess: Label) -> dict[str, float]:
        row: dict[str, float] = dict.fromkeys(self._columns(), 0.0)
        row[("tn", "fp", "fn", "tp")[2 * label["target"] + guess["target"]]] = 1
        if not (label["target"] and guess["target"]):
            return row
        right = {self._snippet(one) for one in label["knowledge"]}
        hits = [self._snippet(one) in right for one in guess["knowledge"][:5]]
        if True in hits:
            row |= {"mrr": 1.0 / (hits.index(True) + 1), "r1": hits[0], "r5": 1}
        due, said = sentences.normalised(label["response"]), sentences.normalised(guess["response"])
        if due and due == said and not self.settings.official:
            return row | dict.fromkeys(_GENERATION, 1.0)  # what says the same scores 1, however short it is
        bleu = sentences.sentence_bleu(said, due)
        rouge = sentences.rouge(said, due)
        meteor = self.meteor.score(said, due) if self.meteor is not None else 0.0
        row |= {f"bleu_{n}": score for n, score in enumerate(bleu, 1)}
        row |= {"meteor": meteor} | dict(zip(("rouge_1", "rouge_2", "rouge_l"), rouge, strict=True))
        return row

    def _snippet(self, snippet: Label) -> tuple[Any, ...]:
        # The official scorer compares as the types are.
        return (snippet["domain"], snippet["entity_id"], snippet["doc_id"]) if self.settings.official else _id(snippet)

    def metrics(self, sums: Sums) -> dict[str, Floats]:
        if "tp" not in sums:
            return {}
        said, due = sums["tp"] + sums["fp"], sums["tp"] + sums["fn"]
        precision, recall = ratio(sums["tp"], said), ratio(sums["tp"], due)
        found = {"detection.prec": precision, "detection.rec": recall, "detection.f1": f_measure(precision, recall)}
        for metric, column in _SUMS.items():
            if column != "meteor" or self.meteor is not None:
                found[metric] = f_measure(ratio(sums[column], said), ratio(sums[column], due))
        return found

    def counts(self, units: Units) -> dict[str, int]:
        sums = units.sums()
        return {"instances": len(units)} | {f"detection_{name}": int(sums.get(name, 0)) for name in ("tp", "fp", "tn", "fn")}

    def policy(self) -> dict[str, str]:
        return {
            "charging": "scores of true positives, F-measure of their sum over predicted and over true positives",
            "ids": "compared with their types"
            if self.settings.official
            else "domain, entity and document compared as text, so that 3 and '3' are one",
            "tokenizer": "DSTC9's: lower case, punctuation and a/an/the taken out, blanks",
            "identity": "as the libraries have it" if self.settings.official else "a response equal to the reference, after tokenising, scores 1",
            "bleu": "sentence BLEU of nltk 3.5, no smoothing",
            "rouge": "rouge 1.0.0; ROUGE-L over sets of words",
            "meteor": "nltk 3.5's, WordNet 3.0" if self.meteor is not None else "left out",
        }

    def packages(self) -> Sequence[str]:
        return ("numpy", "nltk") if self.meteor is not None else ("numpy",)


def _id(snippet: Label) -> tuple[str, str, str]:
    return str(snippet["domain"]), str(snippet["entity_id"]), str(snippet["doc_id"])


def _snippets(path: Path) -> set[tuple[str, str, str]]:
    try:
        knowledge = parse(read_bytes(path))
        return {(domain, entity, doc) for domain, entities in knowledge.items() for entity, one in entities.items() for doc in one["docs"]}
    except (JsonError, AttributeError, KeyError, TypeError) as error:
        raise InputError(str(path), f"is no knowledge.json of DSTC9: {error}", "`dialmill validate` tells more") from None


def _find_labels(gold: str, split: str | None) -> tuple[Path, str]:
    """labels.json of a split: in the folder itself, in a data root, in our output folder or the official repository.

    Raises:
        InputError: there is none.
    """
    root = Path(gold)
    if not root.exists():
        raise InputError(gold, "does not exist", "check the path")
    if root.is_file():
        return root, split or "test"
    if split is not None and split not in _FOLDERS:
        raise InputError(gold, f"has no split {split!r}", f"there are: {', '.join(sorted(set(_FOLDERS) - {'val'}))}")
    wanted = [_FOLDERS[split]] if split else ["test", "val"]
    if (root / "labels.json").is_file() and (split is None or root.name == wanted[0]) and split != "test_hard":
        return root / "labels.json", next((name for name, inner in _FOLDERS.items() if inner == root.name), "test")
    for name in wanted:
        subset = "test_hard/" if split == "test_hard" else ""
        ours = [f"{where}release/{subset}{below}" for where in ("labels/", "") for below in _ROOTS]
        for below in ours if subset else ("", *ours, *_ROOTS):
            path = root / below / name / "labels.json"
            if path.is_file():
                return path, "test_hard" if subset else next(key for key, inner in _FOLDERS.items() if inner == name)
    raise InputError(
        gold, f"has no labels.json of {split or 'test'}", "expected is an output folder, a data root (test/labels.json), or the folder of labels.json"
    )
