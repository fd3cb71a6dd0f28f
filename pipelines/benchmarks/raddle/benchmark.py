"""RADDLE (Peng et al., ACL 2021): few-shot single-domain tasks, in the format of SOLOIST turns (Peng et al., TACL 2021).

One release file for each suite and domain, ``release/SUITE/DOMAIN.{train,test}.soloist.json``: a JSON array of turns with `history`, `belief`,
`kb`, `reply`, and `name`; the turns of the `ood` suite that are out of domain have `dp` "dp : out_of_domain".
Belief states of a single domain leave the domain out ("belief : area = east ; stars = 4"); responses are delexicalised with
SOLOIST's special tokens ("[hotel_name]", "[value_time]"). `kb` counts rows of the databases in the input (DOMAIN_db.json); without them it is empty.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
from dialmill.pipelines.benchmarks.raddle.recipe import RaddleRecipe
from dialmill.pipelines.benchmarks.raddle.scorer import RaddleScorer
from dialmill.pipelines.benchmarks.raddle.turns import database, soloist_turns
from dialmill.pipelines.benchmarks.shared import turn_predictor
from dialmill.pipelines.core.benchmark import Benchmark, ReleaseContext
from dialmill.pipelines.core.predictor import Predictor
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.stage import Out
from dialmill.schemas import Dialogue
from dialmill.schemas.kinds import ANY, FileKind

#: The domains that the tasks are about.
DOMAINS = ("attraction", "hotel", "restaurant", "train")
#: The suite of out-of-domain utterances, the one besides `standard` that has training data.
OOD = "ood"

_UNSAFE = re.compile(r"[^\w-]")


class Raddle(Benchmark):
    name = "raddle"
    about = "RADDLE: few-shot single-domain MultiWOZ tasks and perturbed test sets, as SOLOIST turns"
    paper = "Peng et al. (2021), RADDLE: An Evaluation Benchmark and Analysis Platform for Robust Task-oriented Dialog Systems"

    kinds = (
        FileKind("soloist", ([{"history": ANY, "reply": ANY}],), ("*.soloist.json",)),
        FileKind("soloist-inputs", ([{"history": ANY, "name": ANY}],)),
        FileKind("soloist-labels", ([{"belief": ANY, "reply": ANY}],)),
    )

    def recipe(self) -> type[Recipe]:
        return RaddleRecipe

    def scorer(self) -> type[Scorer]:
        return RaddleScorer

    def predictor(self) -> Predictor:
        return turn_predictor

    def release(self, record: Dialogue, order: bytes, context: ReleaseContext) -> Iterable[Out]:
        if record.split not in ("train", "test"):
            return
        file = f"{record.suite}/{_file_name(record.domains)}.{record.split}.soloist.json"
        assert isinstance(context.recipe, RaddleRecipe)
        turns = soloist_turns(record, context.recipe.turns_form, database(context.side_files))
        if not turns:
            return
        if context.hides_labels(record):
            labels = [{str(key): turn[key] for key in ("name", "belief", "kb", "reply", "dp") if key in turn} for turn in turns]
            yield Out(f"labels/release/{file}", order, len(labels), _joined(labels))
            turns = [{"history": turn["history"], "name": turn["name"]} for turn in turns]
        yield Out(f"release/{file}", order, len(turns), _joined(turns))

    def release_files(self, suites: list[str], blind: bool) -> dict[str, str]:
        paths = []
        for suite in suites:
            for domain in DOMAINS if suite != OOD else ("attraction",):
                for split in ("train", "test") if suite in ("standard", OOD) else ("test",):
                    paths.append(f"release/{suite}/{domain}.{split}.soloist.json")
                    if blind and split == "test":
                        paths.append(f"labels/{paths[-1]}")
        return {path: self.schema_of(path, blind) or "" for path in paths}

    def split_of(self, path: str) -> str | None:
        return path.split(".")[-3]

    def schema_of(self, path: str, blind: bool) -> str | None:
        if not path.endswith(".soloist.json"):
            return None
        if path.startswith("labels/"):
            return "soloist-labels"
        return "soloist-inputs" if blind and path.endswith(".test.soloist.json") else "soloist"


def _file_name(domains: tuple[str, ...]) -> str:
    """A safe file name for what a dialogue is about: its domain, or several joined by "+" where the recipe takes such dialogues."""
    return "+".join(_UNSAFE.sub("_", domain) for domain in sorted(domains)) or "no_domain"


def _joined(items: list[dict[str, object]]) -> bytes:
    return b",\n".join(msgspec.json.encode(item) for item in items)
