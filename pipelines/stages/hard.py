"""The hard test subset: what several kinds of baselines get wrong more often than the length of a dialogue lets one expect.

A record is judged where it was made (`JudgeTest`), and waits; the verdicts of a suite come together and the hardest share of it is chosen
(`ChooseHard`); then the records go on with the choice (`TakeHard`). Reasons say what was missed at which turn, and what of the turn explains it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from dialmill.perturbers.core.surfaces import kind_of, number_word
from dialmill.pipelines.baselines.ontology import canonical
from dialmill.pipelines.baselines.panel.choice import Unit, check, hardest, scores
from dialmill.pipelines.baselines.panel.panel import Missed, Panel, Verdict, unit_id
from dialmill.pipelines.baselines.panel.registry import panel as panel_of
from dialmill.pipelines.baselines.panel.seen import ACTS, LABEL, UPDATE, act_names, turn_class
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.stage import Item, Stage, compress, decompress
from dialmill.pipelines.core.subsets import HARD
from dialmill.pipelines.stages import training_sample
from dialmill.pipelines.stages.items import DialogueRecords, ParsedDialogue
from dialmill.pipelines.stages.split import Layout
from dialmill.schemas import Dialogue, Step, Turn
from dialmill.schemas.dialogue import STANDARD, pack, unpack

STEP = "test_hard@3"
#: Reasons that a record has of each turn, and turns that they are told of, at most.
_OF_TURN, _TURNS = 2, 6
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
            halves = learned.panel.halves
            clean = {one.turn: one for one in learned.panel.judge(models, standard, turns)} if halves else {}
            for record in element.records:
                if not halves:
                    clean, turns = {}, self.benchmark.judged_turns(record, self.recipe, self.seed)
                same = halves and record.turns == standard.turns
                own = list(clean.values()) if same else learned.panel.judge(models, record, turns)
                verdicts.append(own)
                for one in own:
                    unit = one.unit(record.dialogue_id, None if record.suite == STANDARD else clean.get(one.turn))
                    yield "judged", (record.suite, msgspec.msgpack.encode(JudgedUnit(unit, one.doubtful, one.unanswerable)))
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
        chosen = [units[at].id for at in hardest(units, scores(units, families), share)]
        self.counters.hard[suite] = {
            "units": len(judged),
            "hard": len(chosen),
            "doubtful_turns": sum(one.doubtful for one in judged),
            "unanswerable": len(judged) - len(units),
            "power": int(len(units) >= panel.least),
        }
        for one in check(units, families, share, panel.measure):
            figures = {"test": one.test, "hard": one.hard, "low": one.low, "mean": one.mean, "high": one.high}
            self.counters.hard[f"{suite}\n{one.kind}\n{one.figure}"] = {name: round(value * FIGURE) for name, value in figures.items()}
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
        records = tuple(unpack(one) for one in held.records)
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
                hard[record.dialogue_id] = record.replace(lineage=(*record.lineage, Step(STEP, None, None, "selected", reasons=tuple(why))))
                turns[record.dialogue_id] = frozenset(one.turn for one in mine.values() if one.turn is not None)
            else:
                unanswerable = bool(names) and all(name in side[1] for name in names)
                self.counters.reject(HARD, "unanswerable" if unanswerable else "not_hard" if names else "not_judged")
        yield "main", replace(DialogueRecords(held.parsed, unpack(held.source), records), hard=hard, hard_turns=turns)


def reasons(record: Dialogue, missed: Sequence[Missed], kinds: int) -> Iterator[str]:
    """What most kinds miss, turn by turn, each with what the turn itself shows; the turns at which most is missed, in order.

    A reason is "NAME: turn N: WHAT", the name being "update_missed", "acts_missed", "label_missed" and so on.
    """
    by_turn: dict[int, list[Missed]] = {}
    for one in missed:
        if 2 * len(one.kinds) > kinds:
            by_turn.setdefault(one.turn, []).append(one)
    worst = sorted(by_turn, key=lambda turn: (-max(len(one.kinds) for one in by_turn[turn]), -len(by_turn[turn]), turn))[:_TURNS]
    for turn in sorted(worst):
        told = sorted(by_turn[turn], key=lambda one: (one.aspect != UPDATE, -len(one.kinds), one.aspect, one.what))[:_OF_TURN]
        for one in told:
            yield f"{one.aspect}_missed: turn {turn}: {_said(record, one)} by {len(one.kinds)} of {kinds} baselines ({', '.join(one.kinds)})"


def _said(record: Dialogue, missed: Missed) -> str:
    """What was missed, with what of the turn explains it where something plain does."""
    turn = record.turns[missed.turn]
    if missed.aspect == ACTS:
        return missed.what if missed.what in act_names(turn) else f"{missed.what}, which is no act of the turn,"
    if missed.aspect == LABEL and not turn_class(turn):
        return "that it has no label"
    if missed.aspect != UPDATE:
        return missed.what
    domain, _, slot = missed.what.partition(" ")
    values = next((cell.values for cell in turn.state if (cell.domain, cell.slot) == (domain, slot)), ())
    before = _before(record, missed.turn)
    held = next((cell.values for user in reversed(before) if user.speaker == "user" for cell in user.state if _is(cell, domain, slot)), ())
    if not values:
        return f"{missed.what}, which stays empty,"
    if held and canonical(held[0]) in map(canonical, values):
        return f"{missed.what} = {values[0]}, which stays as it was,"
    return f"{missed.what} = {values[0]}{_explained(record, turn, domain, slot, values, before)}"


def _is(cell: Any, domain: str, slot: str) -> bool:
    return bool((cell.domain, cell.slot) == (domain, slot))


def _before(record: Dialogue, number: int) -> Sequence[Turn]:
    """The turns before one, from the last user turn on."""
    turns = record.turns[:number]
    last = max((at for at, turn in enumerate(turns) if turn.speaker == "user"), default=0)
    return turns[last:]


def _explained(record: Dialogue, turn: Turn, domain: str, slot: str, values: Sequence[str], before: Sequence[Turn]) -> str:
    """ ", which ...," for a value that is lost, misspelled, offered by the system, or in none of both turns; "" for one that is plainly said."""
    if all(kind_of(slot, value) == "dontcare" for value in values):
        return ""  # no preference is said in many words, and spans of it are no spelling of a value
    spans = [span for span in turn.spans if (span.domain, span.slot) == (domain, slot)]
    for span in spans:
        if span.status == "lost" and any(_shows(turn.utterance, value) for value in values):
            return ""  # other words of the turn still say it
        if span.status == "lost":
            return ", which the perturbed turn no longer shows,"
        if span.status == "changed":
            return f", which is written {span.text!r},"
    said = turn.utterance.lower()
    if any(span.text and span.value.lower() != span.text.lower() for span in spans):
        return f", which is written {next(span.text for span in spans if span.text)!r},"
    if spans or any(value.lower() in said for value in values):
        return ""
    if any(value.lower() in one.utterance.lower() for one in before if one.speaker == "system" for value in values):
        return ", which the system named and the user doesn't,"
    return ", which neither turn spells,"


def _shows(text: str, value: str) -> bool:
    """Whether a text has a value, or its number, in figures or in words."""
    low = text.lower()
    if not value.isdecimal():
        return value.lower() in low
    words = _WORDS.findall(low)  # the 1 of "15:15" is none
    return value in words or (int(value) < 60 and number_word(int(value)) in words)


_WORDS = re.compile(r"\w+")


def report(sums: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """The choice of each suite as the manifest has it: how many units, how many hard; and for each kind of baseline, with no say in the choice, its
    figures on test, on the hard units, and the bounds of 95 % of random subsets of the same lengths."""
    found: dict[str, Any] = {}
    for key in sorted(sums):
        suite, *rest = key.split("\n")
        mine = found.setdefault(suite, {})
        if not rest:
            mine |= {**sums[key], "power": bool(sums[key]["power"])}
            continue
        figures = {name: round(value / FIGURE, 4) for name, value in sums[key].items()}
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
