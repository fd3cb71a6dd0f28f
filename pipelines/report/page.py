"""The page: facts and manifest into one HTML file. Everything of the data's goes through autoescaping or, for the script, escaped JSON."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import yaml
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.scorer import Table
from dialmill.pipelines.report.charts import audit_chart, confidence_chart, corpus_charts, perturbation_charts
from dialmill.pipelines.report.facts import Facts
from dialmill.pipelines.sinks import card
from dialmill.pipelines.stages import losses
from dialmill.pipelines.stages.hard import CHECK_COLUMNS, check_rows
from dialmill.pipelines.stages.split import SPLITS
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

#: Stages whose rejects are dialogues or lines that left the run; in the others, what wasn't taken stays in the folder.
_TRUNK = ("read", "lines", "filter", "split")
#: Rows of a table of files that a page shows.
_FILES = 400


@cache
def _environment() -> Environment:
    """Templates, compiled once a process."""
    environment = Environment(
        loader=PackageLoader("dialmill.pipelines.report", "static"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = _number
    return environment


def render(manifest: dict[str, Any], facts: Facts, scores: Sequence[Table] = ()) -> str:
    """The page of a manifest (without the report's own entry), the facts of its folder, and tables of scores. Equal arguments give equal text."""
    manifest = {"audit": {}, "versions": {}, "overlap": {}, "warnings": [], "splits": "keep", **manifest}
    sections = [
        ("perturbations", perturbation_charts(facts)),
        ("corpus", corpus_charts(facts)),
        ("audits", [chart for chart in (audit_chart(manifest.get("audit", {})), confidence_chart(facts.confidence)) if chart is not None]),
    ]
    charts = dict(sections)
    script_data = {
        "charts": {chart.id: chart.drawing() for found in charts.values() for chart in found},
        "examples": facts.examples,
    }
    scripts = [_static("plot.min.js"), _static("page.js")]
    template = _environment().get_template("page.html.j2")
    return template.render(
        manifest=manifest,
        facts=facts,
        scores=scores,
        charts=charts,
        about=_about(manifest),
        tiles=_tiles(manifest, facts),
        licences=_licences(manifest),
        suites=_suites(manifest, facts),
        difficulty=_difficulty(manifest, facts),
        losses={"columns": losses.COLUMNS, "rows": losses.rows(manifest.get("hard") or {})},
        hard={"columns": CHECK_COLUMNS, "rows": check_rows(manifest.get("hard", {}))},
        warnings=[_warning(one) for one in manifest["warnings"]],
        trunk=_flow(manifest, trunk=True),
        branches=_flow(manifest, trunk=False),
        rejects=_rejects(manifest, facts),
        recipe=yaml.safe_dump(manifest["recipe"], sort_keys=False, allow_unicode=True, default_flow_style=None, width=100),
        command=_command(manifest),
        files=manifest["outputs"][:_FILES],
        more_files=max(0, len(manifest["outputs"]) - _FILES),
        split_names=[
            split for split in (SPLITS[0], "few_shot", *SPLITS[1:], "test_hard") if any(split in found.records for found in facts.suites.values())
        ],
        language="zh" if set(facts.languages) == {"zh"} else "en",
        data=embedded(script_data),
        style=Markup(_static("style.css")),
        scripts=[Markup(text) for text in scripts],
        policy=" ".join(f"'sha256-{_digest(text)}'" for text in scripts),
    )


def embedded(value: Any) -> Markup:
    """JSON that can stand in a script element: no text in it can end the element, or begin a comment or another script."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    # A lone surrogate, which a damaged source may hold, is no UTF-8.
    return Markup(text.encode("utf-8", "replace").decode("utf-8"))


def _static(name: str) -> str:
    return importlib.resources.files("dialmill.pipelines.report").joinpath("static", name).read_text("utf-8").rstrip("\n")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _benchmark(manifest: dict[str, Any]) -> Benchmark | None:
    """The benchmark that made the folder; None for one of another release of dialmill, or of a plug-in that is not installed."""
    try:
        return benchmarks.get(str(manifest["benchmark"]))
    except UsageError:
        return None


def _about(manifest: dict[str, Any]) -> tuple[str, str]:
    benchmark = _benchmark(manifest)
    return ("", "") if benchmark is None else (benchmark.about, benchmark.paper)


def _licences(manifest: dict[str, Any]) -> tuple[str, list[tuple[str, str, int]]]:
    """The strictest licence, and (source, licence, records) of each source that gave records."""
    commercial = manifest["recipe"].get("commercial")
    table: dict[tuple[str, str], int] = {}
    for item in manifest["inputs"]:
        if item["records"] and not (commercial and "NC" in str(item["licence"])):
            key = str(item.get("source")), str(item["licence"] or "none stated")
            table[key] = table.get(key, 0) + item["records"]
    binding = card.strictest([licence for _, licence in table]) if table else "unknown"
    return binding, [(source, licence, number) for (source, licence), number in sorted(table.items())]


def _tiles(manifest: dict[str, Any], facts: Facts) -> list[tuple[str, str, str]]:
    """(what, figure, remark)."""
    suites = {name: found for name, found in facts.suites.items() if name != facts.base}
    splits = {name: facts.suites[facts.base].records.get(name, 0) for name in SPLITS} if facts.suites else {}
    tiles = [("dialogues", f"{sum(splits.values()):,}", " · ".join(f"{name} {number:,}" for name, number in splits.items()))]
    if suites:
        variants = sum(found.records.get(name, 0) for found in suites.values() for name in SPLITS)
        tiles.append(("variants", f"{variants:,}", f"in {len(suites)} perturbed {'suite' if len(suites) == 1 else 'suites'}"))
        turns, changed = (sum(getattr(found, name) for found in suites.values()) for name in ("user_turns", "changed_turns"))
        tiles.append(("user turns changed", f"{100 * changed / turns:.0f} %" if turns else "none", f"{changed:,} of {turns:,}"))
        statuses = {name: sum(found.status.get(name, 0) for found in suites.values()) for name in ("kept", "changed", "lost")}
        if sum(statuses.values()):
            kept = f"{100 * statuses['kept'] / sum(statuses.values()):.1f} %"
            tiles.append(("slot values kept", kept, f"{statuses['changed']:,} changed, {statuses['lost']:,} lost"))
    rejected = sum(sum(stage["rejected"].values()) for stage in manifest["stages"] if stage["name"] in ("read", "filter", "split"))
    tiles.append(("left out", f"{rejected:,}", "with reasons, see below"))
    binding, sources = _licences(manifest)
    tiles.append(("licence of the data", binding, ", ".join(dict.fromkeys(source for source, _, _ in sources))))
    return tiles


def _suites(manifest: dict[str, Any], facts: Facts) -> list[dict[str, Any]]:
    specs = manifest["recipe"].get("perturbations", {})
    return [
        {
            "name": name,
            "what": specs.get(name, "") if name != facts.base else "as the sources have it",
            "records": found.records,
            "turns": found.user_turns,
            "changed": found.changed_turns,
            "inserted": found.inserted_turns,
            "touched": found.touched_turns,
        }
        for name, found in facts.suites.items()
    ]


#: Figures of the manifest's difficulty, as columns call them.
_DIFFICULTY = {
    "novel_words": "novel words",
    "novel_bigrams": "novel word pairs",
    "near_copies": "near-copies",
    "distance": "words changed per word",
}


def _difficulty(manifest: dict[str, Any], facts: Facts) -> dict[str, Any] | None:
    """How far each suite's wording is from what a system can have seen, with the word error rate of spoken ones; None where nothing was measured."""
    measured = manifest.get("difficulty") or {}
    if not measured:
        return None
    rates = {
        suite: sum(wrong for wrong, _ in found.error_words.values()) / said
        for suite, found in facts.suites.items()
        if (said := sum(words for _, words in found.error_words.values()))
    }
    columns = ["turns changed", *_DIFFICULTY.values(), *(["word error rate"] if rates else [])]
    rows = []
    place = {suite: number for number, suite in enumerate([facts.base, *(name for name in facts.suites if name != facts.base)])}
    for suite, found in sorted(measured.items(), key=lambda item: place.get(item[0], len(place))):
        shares = [found["changed_share"], *(found["all"][name] for name in _DIFFICULTY), *([rates.get(suite)] if rates else [])]
        rows.append(
            (
                suite,
                [
                    "" if one is None else f"{one:.2f}" if name == _DIFFICULTY["distance"] else f"{100 * one:.1f} %"
                    for name, one in zip(columns, shares, strict=True)
                ],
            )
        )
    return {"columns": columns, "rows": rows}


#: "hotel: test has 65 dialogues (what would change it)"; a figure before the colon is no name of a part.
_WARNING = re.compile(r"(?s)(?:((?:[^\d\s:(]+ ?){1,3}): )?(.*?)(?: \(([^()]+)\))?\.?")


def _warning(text: str) -> tuple[str, str, str]:
    """(what it is about, what is so, what changes it) of a warning."""
    found = _WARNING.fullmatch(text)
    return (found[1] or "the run", found[2], found[3] or "") if found else ("the run", text, "")


def _flow(manifest: dict[str, Any], trunk: bool) -> list[list[dict[str, Any]]]:
    """The counts of all stages as groups of bars. The stages of a group pass the same records on, and share a scale."""
    groups: list[list[dict[str, Any]]] = []
    named = {"trunk": [stage for stage in manifest["stages"] if stage["name"] in _TRUNK]}
    rank = {suite: place for place, suite in enumerate(manifest["recipe"].get("suites", []))}
    others = [stage for stage in manifest["stages"] if stage["name"] not in _TRUNK]
    others.sort(key=lambda stage: rank.get(stage["name"].removesuffix(" turns"), len(rank)))
    named |= {
        "branches": [one for one in others if not one["name"].endswith(" turns")],
        "turns": [one for one in others if one["name"].endswith(" turns")],
    }
    for key in ("trunk",) if trunk else ("branches", "turns"):
        before: int | None = None
        for stage in named[key]:
            if (before != stage["in"]) if trunk else (stage is named[key][0]):
                groups.append([])  # a source's files, its lines and its dialogues are counted one after another
            groups[-1].append(stage)
            before = stage["out"]
    return [[_bar(stage, max(one["in"] + one["made"] for one in group) or 1) for stage in group] for group in groups]


def _bar(stage: dict[str, Any], scale: int) -> dict[str, Any]:
    return {
        **stage,
        "rejected": sorted(stage["rejected"].items(), key=lambda item: (-item[1], item[0])),
        "kept_share": max(0, stage["out"] - stage["made"]) / scale,
        "made_share": min(stage["made"], stage["out"]) / scale,
        "scale": scale,
        "stays": stage["name"] not in _TRUNK,
    }


def _rejects(manifest: dict[str, Any], facts: Facts) -> list[dict[str, Any]]:
    rejected = {stage["name"]: stage["rejected"] for stage in manifest["stages"]}
    found = []
    for path, samples in facts.rejects.items():
        counts = rejected.get(path.removeprefix("rejects/").removesuffix(".jsonl"), {})
        reasons = sorted(samples, key=lambda reason: (-counts.get(reason, 0), reason))
        found.append(
            {"path": path, "total": sum(counts.values()), "reasons": [(reason, counts.get(reason, 0), samples[reason]) for reason in reasons]}
        )
    return found


def _command(manifest: dict[str, Any]) -> str:
    """The command that makes the folder again, from the recipe shown beside it."""
    name, benchmark = str(manifest["benchmark"]), _benchmark(manifest)
    start = f"dialmill build {name} --recipe recipe.yaml --input PATH..." if benchmark is None else benchmark.command(manifest["recipe"])
    return f"{start} --seed {'SEED' if manifest['seed'] is None else manifest['seed']} --output DIR"
