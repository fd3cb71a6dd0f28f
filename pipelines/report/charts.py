"""The pictures of a report as data: what each shows, and the table that says the same. static/page.js draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dialmill.pipelines.candidates.audit import RANKERS
from dialmill.pipelines.report.facts import Facts, SplitFacts, SuiteFacts
from dialmill.pipelines.report.histogram import Histogram
from dialmill.pipelines.stages.split import SPLITS

#: Bars of one chart; the table below it has them all.
MOST = 24
#: What an audit calls its rankers.
_RANKER_NAMES = {
    "first": "the first",
    "longest": "the longest",
    "shortest": "the shortest",
    "names": "by names",
    "numbers": "by numbers",
    "tfidf": "TF-IDF",
}
_QUANTILES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}


@dataclass
class Chart:
    """A picture. `kind` names the function of page.js that draws it from `data`; `columns` and `rows` are its table, percentages as fractions."""

    id: str
    title: str
    about: str
    kind: str
    data: list[dict[str, Any]]
    columns: list[str]
    rows: list[list[Any]]
    options: dict[str, Any] = field(default_factory=dict)
    wide: bool = False

    def drawing(self) -> dict[str, Any]:
        """What the script needs."""
        return {"kind": self.kind, "title": self.title, "data": self.data, "options": self.options}


def perturbation_charts(facts: Facts) -> list[Chart]:
    """What the suites do to turns and labels. Suites that change no text have none."""
    suites = {name: found for name, found in facts.suites.items() if name != facts.base and found.user_turns}
    found = [_edits(suites), *_ratios(suites), _status(suites), _left_alone(suites), _hard(facts.suites), *_errors(suites)]
    return [chart for chart in found if chart.data]


def _hard(suites: Mapping[str, SuiteFacts]) -> Chart:
    """What makes the dialogues of test_hard hard."""
    reasons = {name: {reason: number for reason, number in found.hard.items() if reason != "difficulty"} for name, found in suites.items()}
    every: dict[str, int] = {}
    for table in reasons.values():
        for reason, number in table.items():
            every[reason] = every.get(reason, 0) + number
    return Chart(
        "hard",
        "What makes a dialogue hard",
        "Records of test_hard, in all suites, by each reason they were taken for; most have several. The table parts them by suite.",
        "counts",
        [{"label": item["label"], "n": item["n"]} for item in _ranked({"": every})][:MOST],
        ["suite", "reason", "dialogues"],
        [[item["suite"], item["label"], item["n"]] for item in _ranked(reasons)],
        {"things": "dialogues"},
    )


def _ranked(tables: Mapping[str, Mapping[str, int]]) -> list[dict[str, Any]]:
    """Counts by suite and reason, the largest first."""
    ranked = sorted(
        ((number, name, reason) for name, table in tables.items() for reason, number in table.items()), key=lambda one: (-one[0], one[1:])
    )
    return [{"suite": name, "label": reason.replace("_", " "), "n": number} for number, name, reason in ranked]


def corpus_charts(facts: Facts) -> list[Chart]:
    """Of what dialogues, turns, domains and slots the splits are made."""
    splits: dict[str, SplitFacts] = {name: facts.splits[name] for name in SPLITS if name in facts.splits}
    found = [
        _lengths(
            "dialogue-lengths",
            "Turns of a dialogue",
            "Dialogues by their number of turns, both speakers.",
            "turns",
            "dialogues",
            _counts(splits, "turns"),
            2,
        ),
        _lengths(
            "turn-lengths",
            "Words of a user turn",
            "User turns by their number of words (Chinese: characters), as the source has them.",
            "words",
            "user turns",
            _counts(splits, "words"),
            1,
        ),
        _shares("domains", "Domains", "Dialogues of each split in which a domain occurs.", "domain", splits, "domains"),
        _shares("slots", "Slots", "Dialogues of each split whose last belief state has a slot.", "slot", splits, "slots"),
    ]
    # One domain that every dialogue has is no distribution.
    return [chart for chart in found if chart.data and len(chart.rows) > 1]


def audit_chart(audit: Mapping[str, Mapping[str, float]]) -> Chart | None:
    """Rankers that know nothing of dialogue, against chance."""
    measured = {path: one for path, one in audit.items() if one.get("examples")}
    if not measured:
        return None
    names = {path: path.removeprefix("release/").removesuffix(".json") for path in measured}
    data = [
        {"file": names[path], "ranker": _RANKER_NAMES[ranker], "recall": one[ranker], "chance": one["chance"]}
        for path, one in measured.items()
        for ranker in RANKERS
        if ranker in one
    ]
    return Chart(
        "audit",
        "Cheap rankers against chance",
        "Recall at 1 of rankers that take the first candidate, the longest, the shortest, or the one that names somebody from the context. They know"
        " nothing of dialogue and should be at the mark, which is chance; otherwise the pool gives its answers away. TF-IDF may be better: it"
        " says how hard the set is for a simple model.",
        "audit",
        data,
        ["file", "examples", "chance", *(_RANKER_NAMES[ranker] for ranker in RANKERS), "mean answer", "mean distractor"],
        [
            [
                names[path],
                one["examples"],
                one["chance"],
                *(one.get(ranker) for ranker in RANKERS),
                f"{one.get('answer_length', 0):.1f} characters",
                f"{one.get('distractor_length', 0):.1f} characters",
            ]
            for path, one in measured.items()
        ],
        wide=True,
    )


def confidence_chart(confidence: Histogram) -> Chart | None:
    """How sure the reply links of the conversations are."""
    if not confidence.total:
        return None
    data = [{"x": low, "to": round(low + confidence.width, 6), "share": share, "n": number} for low, share, number in confidence.shares()]
    return Chart(
        "confidence",
        "How sure the reply links are",
        "Conversations by the confidence of their links as the model has it. The recipe's min_confidence cuts here.",
        "bins",
        data,
        ["confidence", "conversations", "share"],
        [[f"{item['x']:.2f} to {item['to']:.2f}", item["n"], _percent(item["share"])] for item in data],
        {"x": "confidence", "y": "share of the conversations"},
        wide=True,
    )


def _edits(suites: Mapping[str, SuiteFacts]) -> Chart:
    data: list[dict[str, Any]] = [
        {"suite": name, "x": "10+" if low >= 10 else f"{low:.0f}", "share": share, "n": number}
        for name, found in suites.items()
        for low, share, number in found.edits.shares()
    ]
    return Chart(
        "edits",
        "Edits of a user turn",
        "How many separate changes were made in each user turn; 0 are the turns left as they were.",
        "facets",
        data,
        ["suite", "edits", "user turns", "share"],
        [[item["suite"], item["x"], item["n"], _percent(item["share"])] for item in data],
        {"order": [*map(str, range(10)), "10+"]},
        wide=True,
    )


def _ratios(suites: Mapping[str, SuiteFacts]) -> list[Chart]:
    about = "Changed turns only: the line spans 90 % of them, the bar the middle half, the dot is the median. Words; in Chinese, characters."
    kinds = (
        ("token-edits", "Share of words changed", f"Words to insert, delete or replace, by the words of the source. {about}", "token_edits", 0.0),
        ("length-ratio", "Length against the source", f"1 is as long as the source's turn. {about}", "length", 1.0),
    )
    found = []
    for key, title, text, name, neutral in kinds:
        measured = {suite: getattr(one, name) for suite, one in suites.items() if getattr(one, name).total}
        data = [
            {"suite": suite, **{key: one.quantile(share) for key, share in _QUANTILES.items()}, "n": one.total} for suite, one in measured.items()
        ]
        rows = [[item["suite"], item["n"], *(f"{item[key]:.2f}" for key in _QUANTILES)] for item in data]
        found.append(Chart(key, title, text, "ranges", data, ["suite", "changed turns", *_QUANTILES], rows, {"neutral": neutral}))
    return found


def _status(suites: Mapping[str, SuiteFacts]) -> Chart:
    data: list[dict[str, Any]] = []
    for name, found in suites.items():
        total = sum(found.status.values())
        data += [
            {"suite": name, "status": status, "share": found.status[status] / total, "n": found.status[status]}
            for status in ("kept", "changed", "lost")
            if status in found.status
        ]
    rows: dict[str, list[Any]] = {item["suite"]: [item["suite"], 0, 0, 0] for item in data}
    for item in data:
        rows[item["suite"]][("kept", "changed", "lost").index(item["status"]) + 1] = item["n"]
    return Chart(
        "status",
        "Slot value preservation",
        "Slot values in user turns: kept (found as they were), changed (found in another form), or lost (no longer in the text).",
        "stack",
        data,
        ["suite", "kept", "changed", "lost"],
        list(rows.values()),
    )


def _left_alone(suites: Mapping[str, SuiteFacts]) -> Chart:
    data = _ranked({name: found.skipped for name, found in suites.items()})
    return Chart(
        "left-alone",
        "Why turns were left as they were",
        "A variant that would not keep its labels is resampled; after the last attempt the turn stays as it was, for this reason.",
        "counts",
        data[:MOST],
        ["suite", "reason", "user turns"],
        [[item["suite"], item["label"], item["n"]] for item in data],
        {"things": "turns"},
    )


def _errors(suites: Mapping[str, SuiteFacts]) -> list[Chart]:
    data, rows = [], []
    for name, found in suites.items():
        for condition, rates in sorted(found.errors.items(), key=lambda item: (_decibels(item[0]), item[0])):
            label = f"{name}: {condition}"
            data += [
                {"suite": label, "x": "100+" if low >= 1 else f"{100 * low:.0f}", "share": share, "n": number}
                for low, share, number in rates.shares()
            ]
            wrong, said = found.error_words[condition]
            rows.append([name, condition, rates.total, said, _percent(wrong / said if said else 0)])
    chart = Chart(
        "errors",
        "Word errors of spoken turns",
        "User turns by their word error rate in per cent (Chinese: characters), in spoken form, by the signal-to-noise ratio of the audio.",
        "facets",
        data,
        ["suite", "condition", "user turns", "words", "word error rate"],
        rows,
        {"order": [*(str(10 * place) for place in range(10)), "100+"]},
        wide=True,
    )
    return [chart]


def _decibels(condition: str) -> int:
    low = condition.split(" ")[0]
    return int(low) if low.lstrip("-").isdigit() else 1_000


def _counts(splits: Mapping[str, SplitFacts], name: str) -> dict[str, dict[int, int]]:
    return {split: {int(key): number for key, number in getattr(found, name).items() if key.isdigit()} for split, found in splits.items()}


def _lengths(key: str, title: str, about: str, unit: str, things: str, counts: Mapping[str, Mapping[int, int]], least: int) -> Chart:
    values = sorted((value, number) for one in counts.values() for value, number in one.items())
    total, reached, top = sum(number for _, number in values), 0, 0
    for value, number in values:  # the longest hundredth is one bin, or it would press all others together
        reached, top = reached + number, value
        if reached >= 0.99 * total:
            break
    width = max(least, math.ceil((top + 1) / MOST))
    data, rows = [], []
    for split, one in counts.items():
        bins: dict[int, int] = {}
        for value, number in one.items():
            place = min(value // width, top // width + 1)
            bins[place] = bins.get(place, 0) + number
        for place in range(max(bins, default=-1) + 1):
            number = bins.get(place, 0)
            low = place * width
            label = f"{low}+" if place > top // width else str(low) if width == 1 else f"{low}–{low + width - 1}"
            data.append({"split": split, "x": low, "to": low + width, "label": label, "share": number / sum(one.values()), "n": number})
            if number:
                rows.append([split, label, number, _percent(number / sum(one.values()))])
    return Chart(key, title, about, "lengths", data, ["split", unit, things, "share"], rows, {"x": unit, "things": things})


def _shares(key: str, title: str, about: str, unit: str, splits: Mapping[str, SplitFacts], name: str) -> Chart:
    tables: dict[str, dict[str, int]] = {split: getattr(found, name) for split, found in splits.items() if found.dialogues}
    totals: dict[str, int] = {}
    for table in tables.values():
        for label, number in table.items():
            totals[label] = totals.get(label, 0) + number
    ranked = sorted(totals, key=lambda label: (-totals[label], label))
    share = {split: {label: table.get(label, 0) / splits[split].dialogues for label in ranked} for split, table in tables.items()}
    data = [
        {"label": label, "split": split, "share": share[split][label], "n": tables[split].get(label, 0)}
        for label in ranked[:MOST]
        for split in tables
    ]
    rows = [[label, *_flat((tables[split].get(label, 0), _percent(share[split][label])) for split in tables)] for label in ranked]
    left = f" The {MOST} most frequent of {len(ranked)}; the table has all." if len(ranked) > MOST else ""
    return Chart(key, title, about + left, "shares", data, [unit, *_flat((split, "share") for split in tables)], rows, {"filter": unit})


def _flat(pairs: Iterable[tuple[Any, Any]]) -> list[Any]:
    return [item for pair in pairs for item in pair]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
