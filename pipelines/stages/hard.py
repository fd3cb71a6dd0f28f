"""The hard test subset: what several kinds of baselines get wrong more often than the length of a dialogue lets one expect.

A record is judged where it was made (`JudgeTest`), and waits; the verdicts of a suite come together and the hardest share of it is chosen
(`ChooseHard`); then the records go on with the choice (`TakeHard`), each with reasons (`hard_reasons`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from dialmill.pipelines.baselines.panel.choice import Unit, check, hardest, scores
from dialmill.pipelines.baselines.panel.panel import Panel, Verdict, tenths_of, unit_id
from dialmill.pipelines.baselines.panel.registry import panel as panel_of
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Item, Stage, compress, decompress
from dialmill.pipelines.core.subsets import HARD
from dialmill.pipelines.stages import losses, training_sample
from dialmill.pipelines.stages.hard_reasons import reasons
from dialmill.pipelines.stages.items import DialogueRecords, ParsedDialogue
from dialmill.pipelines.stages.split import Layout
from dialmill.schemas import Dialogue, Step
from dialmill.schemas.dialogue import STANDARD, pack, unpack

STEP = "test_hard@4"
#: Figures of the check travel as whole numbers in units of one hundred thousandth.
FIGURE = 100_000


class Held(msgspec.Struct, array_like=True):
    """A test dialogue that waits for the choice: as it was read, its source, its records, and for each record its verdicts."""

    parsed: ParsedDialogue
    source: bytes
    records: list[bytes]
    verdicts: list[list[Verdict]]


class JudgedUnit(msgspec.Struct, array_like=True):
    """A unit on its way to the choice."""

    unit: Unit
    doubtful: int
    unanswerable: bool
    clean: dict[str, dict[str, int]] = {}  #: the sums of the unperturbed text; empty for that text itself


class JudgeTest(Stage):
    """A test dialogue with its records is judged and waits, on the output "held"; all others go on. Side input: (the layout, where things lie).

    Args:
        recipe: the resolved recipe of the run.
        benchmark: whose panel judges.
        seed: the seed of the run.
    """

    tags = ("held", "judged")

    def __init__(self, recipe: Recipe, benchmark: Benchmark, seed: int) -> None:
        self.recipe, self.benchmark, self.seed = recipe, benchmark, seed

    def process(self, element: DialogueRecords, side: tuple[Layout, dict[str, str]] | None = None) -> Iterable[tuple[str, Any]]:
        assert side is not None
        if element.split != "test":
            yield "main", element
            return
        learned = training_sample.bind(side[1], self.recipe, self.benchmark.panel)
        models = learned.models(element.source.source_id, element.source.language)
        verdicts: list[list[Verdict]] = []
        if models and element.records:
            standard = element.source.replace(suite=STANDARD, dialogue_id=f"{element.source.source_id}/{STANDARD}/0")
            turns = self.benchmark.judged_turns(standard, self.recipe, self.seed)
            asks = learned.panel.asks_clean
            clean = {one.turn: one for one in learned.panel.judge(models, standard, turns)} if asks else {}
            for record in element.records:
                if not asks:
                    clean, turns = {}, self.benchmark.judged_turns(record, self.recipe, self.seed)
                same = asks and record.turns == standard.turns
                own = list(clean.values()) if same else [one.beside(clean.get(one.turn)) for one in learned.panel.judge(models, record, turns)]
                verdicts.append(own)
                tenths = tenths_of(record, standard)
                for one in own:
                    before = None if record.suite == STANDARD else clean.get(one.turn)
                    unit = one.unit(record.dialogue_id, before, tenths)
                    judged = JudgedUnit(unit, one.doubtful, one.unanswerable, {} if before is None else before.sums)
                    yield "judged", (record.suite, msgspec.msgpack.encode(judged))
        held = Held(element.parsed, pack(element.source), [pack(one) for one in element.records], verdicts)
        yield "held", (element.source.source_id, compress(msgspec.msgpack.encode(held)))


class ChooseHard(Stage):
    """The units of a suite into the names of the hard ones; counts the check of the choice.

    Args:
        recipe: the resolved recipe of the run.
        panel: the name of the benchmark's panel.
    """

    def __init__(self, recipe: Recipe, panel: str) -> None:
        self.recipe, self.panel = recipe, panel

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        suite, values = element
        judged = sorted((msgspec.msgpack.decode(value, type=JudgedUnit) for value in values), key=lambda one: one.unit.id)
        units = [one.unit for one in judged if not one.unanswerable]
        panel, share = panel_of(self.panel), float(self.recipe.hard_share or 0)
        families = families_of(units, panel)
        chosen = [units[at].id for at in hardest(units, scores(units, families, None, panel.weights), share)]
        self.counters.hard[suite] = {
            "units": len(judged),
            "hard": len(chosen),
            "doubtful_turns": sum(one.doubtful for one in judged),
            "unanswerable": len(judged) - len(units),
            "power": int(len(units) >= panel.least),
        }
        for one in check(units, families, share, panel.measure, panel.weights):
            figures = {"test": one.test, "hard": one.hard, "low": one.low, "mean": one.mean, "high": one.high}
            self.counters.hard[f"{suite}\n{one.kind}\n{one.figure}"] = {name: round(value * FIGURE) for name, value in figures.items()}
        paired = [one for one in judged if one.clean]
        if paired:
            before, after = [one.clean for one in paired], [one.unit.sums for one in paired]
            for lost in losses.losses(before, after, panel.measure):
                figures = {"standard": lost.standard, "suite": lost.suite, "low": lost.low, "high": lost.high}
                self.counters.hard[f"{suite}\n{lost.kind}\n{lost.figure}\nloss"] = {name: round(value * FIGURE) for name, value in figures.items()}
        left_out = [one.unit.id for one in judged if one.unanswerable]
        yield "main", ("", msgspec.msgpack.encode((chosen, left_out)))


def families_of(units: Sequence[Unit], panel: Panel) -> dict[str, str]:
    """Kind -> family, of the kinds that judged; each of the user's models is one of its own."""
    return {kind: panel.families.get(kind, kind) for kind in sorted({kind for unit in units for kind in unit.errors})}


class GatherHard:
    """Combiner: (the names of all hard units, of all unanswerable ones)."""

    def create(self) -> tuple[list[str], list[str]]:
        """None."""
        return [], []

    def add(self, state: tuple[list[str], list[str]], item: Item) -> tuple[list[str], list[str]]:
        """Adds those of a suite."""
        hard, out = msgspec.msgpack.decode(item[1], type=tuple[list[str], list[str]])
        return [*state[0], *hard], [*state[1], *out]

    def merge(self, states: Iterable[tuple[list[str], list[str]]]) -> tuple[list[str], list[str]]:
        """All of them."""
        both = list(states)
        return [name for state in both for name in state[0]], [name for state in both for name in state[1]]

    def extract_output(self, state: tuple[list[str], list[str]]) -> tuple[frozenset[str], frozenset[str]]:
        """The names."""
        return frozenset(state[0]), frozenset(state[1])


class TakeHard(Stage):
    """A test dialogue that waited, with its hard records. Side input: the hard units and the unanswerable ones."""

    def process(self, element: Item, side: tuple[frozenset[str], frozenset[str]] | None = None) -> Iterable[tuple[str, Any]]:
        assert side is not None
        held = msgspec.msgpack.decode(decompress(element[1]), type=Held)
        records, source = tuple(unpack(one) for one in held.records), unpack(held.source)
        hard: dict[str, Dialogue] = {}
        turns: dict[str, frozenset[int]] = {}
        for record, verdicts in zip(records, held.verdicts or [[] for _ in records], strict=True):
            counted = self.counters.stage(HARD)
            counted.entered += 1
            names = {unit_id(record.dialogue_id, one.turn): one for one in verdicts}
            mine = {name: one for name, one in names.items() if name in side[0]}
            if mine:
                counted.out += 1
                kinds = sorted({kind for one in mine.values() for kind in one.errors})
                why = [reason for one in mine.values() for reason in reasons(record, one.missed, len(kinds))]
                why += [reason for one in mine.values() for reason in reasons(source, one.missed_clean, len(kinds), " of the unperturbed text")]
                hard[record.dialogue_id] = record.replace(lineage=(*record.lineage, Step(STEP, None, None, "selected", reasons=tuple(why))))
                turns[record.dialogue_id] = frozenset(one.turn for one in mine.values() if one.turn is not None)
            else:
                unanswerable = bool(names) and all(name in side[1] for name in names)
                self.counters.reject(HARD, "unanswerable" if unanswerable else "not_hard" if names else "not_judged")
        yield "main", replace(DialogueRecords(held.parsed, source, records), hard=hard, hard_turns=turns)


def report(sums: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The choice of each suite as the manifest has it: how many units, how many hard; and for each kind of baseline, with no say in the choice, its
    figures on test, on the hard units, and the bounds of 95 % of random subsets of the same lengths; and what each loses from the unperturbed text to
    the suite's (`losses`)."""
    found: dict[str, Any] = {}
    for key in sorted(sums):
        suite, *rest = key.split("\n")
        mine = found.setdefault(suite, {})
        if not rest:
            mine |= {**sums[key], "power": bool(sums[key]["power"])}
            continue
        figures = {name: round(value / FIGURE, 4) for name, value in sums[key].items()}
        if len(rest) > 2:
            mine.setdefault("loss", {}).setdefault(rest[0], {})[rest[1]] = figures
            continue
        mine.setdefault("check", {}).setdefault(rest[0], {})[rest[1]] = figures | {"below": sums[key]["hard"] < sums[key]["low"]}
    return found


#: The columns of `check_rows`.
CHECK_COLUMNS = ("suite", "hard", "baseline", "figure", "test", "hard set", "random sets", "verdict")


def check_rows(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The check in a manifest's `hard` as a table: a row for each suite, kind and figure, in per cent; a suite that is too small has one row."""
    rows: list[tuple[str, ...]] = []
    for suite, one in found.items():
        of = f"{one['hard']:,} of {one['units']:,}"
        if not one["power"]:
            rows.append((suite, of, "", "", "", "", "", "no power: too small for this check"))
            continue
        for kind, figures in one.get("check", {}).items():
            for name, figure in figures.items():
                test, hard, low, high = (f"{100 * figure[key]:.1f}" for key in ("test", "hard", "low", "high"))
                rows.append((suite, of, kind, name, test, hard, f"{low} to {high}", "below" if figure["below"] else "not below"))
    return rows
