"""Score files as tables: for a terminal, in Markdown and in LaTeX (booktabs)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dialmill.pipelines.core.scorer import Table


def tables(scores: dict[str, Any]) -> list[Table]:
    """What a score file says, as tables."""
    if "systems" in scores:
        return _systems(scores)
    if scores["suite"] == "all":
        return list(_suites(scores))
    metrics, ceiling = flat(scores["metrics"]), flat(scores.get("ceiling", {}))
    digits = _digits(scores)
    rows = [(name, number(value, digits), number(ceiling.get(name), digits)) for name, value in metrics.items()]
    return [Table(f"{scores['benchmark']}, suite {scores['suite']} ({scores['scale']})", ("metric", "score", "ceiling"), rows)]


def _systems(scores: dict[str, Any]) -> list[Table]:
    systems = {name: flat(one["metrics"]) for name, one in scores["systems"].items()}
    names = list(dict.fromkeys(metric for one in systems.values() for metric in one))
    ranks = scores["metrics"]["mean_reciprocal_rank"]
    digits = _digits(scores)
    rows = [(name, number(ranks[name], 4), *(number(one.get(metric), digits) for metric in names)) for name, one in systems.items()]
    return [Table(f"{scores['benchmark']}, suite {scores['suite']}: systems by mean reciprocal rank", ("system", "rank score", *names), rows)]


def _suites(scores: dict[str, Any]) -> Iterator[Table]:
    per_suite = {suite: flat(metrics) for suite, metrics in scores["metrics"].items()}
    names = list(dict.fromkeys(name for metrics in per_suite.values() for name in metrics))
    digits = _digits(scores)
    rows = [(suite, *(number(metrics.get(name), digits) for name in names)) for suite, metrics in per_suite.items()]
    yield Table(f"{scores['benchmark']}: all suites ({scores['scale']})", ("suite", *names), rows)
    found = scores.get("robustness")
    if not found:
        return
    percent = round(100 * found["confidence"])
    for metric in found["main"]:
        rows = [(suite, *change(one["metrics"][metric], digits)) for suite, one in found["suites"].items() if metric in one["metrics"]]
        about = f"with {percent} % intervals of {found['samples']} paired bootstrap samples"
        caption = f"{metric}: drop from {found['clean']}, on the dialogues that both have, {about}"
        yield Table(caption, ("suite", "clean", "suite score", "drop", f"{percent} % interval"), rows)
    rows = [
        (suite, *(number(one["consistency"][key], 3) for key in ("both_right", "right_on_clean_only", "right_on_variant_only", "both_wrong")))
        for suite, one in found["suites"].items()
        if "consistency" in one
    ]
    if rows:
        yield Table(
            "consistency: shares of paired turns", ("suite", "both right", "right on clean only", "right on variant only", "both wrong"), rows
        )
    for suite, one in found["suites"].items():
        for kind, strata in one.get("by", {}).items():
            metric = next((name for name in found["main"] if any(name in stratum for stratum in strata.values())), None)
            if metric is not None:
                rows = [(label, str(stratum["turns"]), *change(stratum[metric], digits)) for label, stratum in strata.items() if metric in stratum]
                head = (kind, "turns", "clean", "suite score", "drop", f"{percent} % interval")
                yield Table(f"{suite}: {metric} by {kind}", head, rows)


def _digits(scores: dict[str, Any]) -> int:
    return 4 if scores["scale"] == "fraction" else 2


def change(one: dict[str, float], digits: int) -> tuple[str, str, str, str]:
    """A comparison as cells: clean, suite, drop, interval."""
    sure = f"[{number(one['low'], digits)}, {number(one['high'], digits)}]" if "low" in one else ""
    return number(one["clean"], digits), number(one["suite"], digits), number(one["drop"], digits), sure


def flat(metrics: dict[str, Any], before: str = "") -> dict[str, float]:
    """Nested metrics under names with dots."""
    made: dict[str, float] = {}
    for name, value in metrics.items():
        made |= flat(value, f"{before}{name}.") if isinstance(value, dict) else {before + name: value}
    return made


def number(value: float | None, digits: int = 2) -> str:
    """A score for people; percent has two digits, fractions four."""
    return "" if value is None else f"{value:.{digits}f}"


def text(scores: dict[str, Any], tables: Sequence[Table]) -> str:
    """For a terminal, the notes last."""
    blocks = []
    for table in tables:
        cells = [table.head, *table.rows]
        widths = [max(len(row[place]) for row in cells) for place in range(len(table.head))]
        lines = [
            "  ".join(f"{cell:<{width}}" if not place else f"{cell:>{width}}" for place, (cell, width) in enumerate(zip(row, widths, strict=True)))
            for row in cells
        ]
        blocks.append("\n".join([table.caption, *(line.rstrip() for line in lines)]))
    blocks += ["\n".join(f"note: {note}" for note in scores.get("notes", []))] if scores.get("notes") else []
    return "\n\n".join(blocks)


def markdown(scores: dict[str, Any], tables: Sequence[Table]) -> str:
    """GitHub's tables."""
    blocks = [f"# Scores: {scores['benchmark']}"]
    for table in tables:
        lines = [_bar(table.head), _bar(["---", *["---:"] * (len(table.head) - 1)]), *(_bar(row) for row in table.rows)]
        blocks.append(f"**{table.caption}**\n\n" + "\n".join(lines))
    about = [*(f"- {name}: {what}" for name, what in scores["policy"].items()), *(f"- note: {note}" for note in scores["notes"])]
    about.append("- versions: " + ", ".join(f"{name} {version}" for name, version in scores["versions"].items()))
    return "\n\n".join([*blocks, "\n".join(about)]) + "\n"


def _bar(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def latex(tables: Sequence[Table]) -> str:
    """One `table` environment each, for the package booktabs."""
    blocks = ["% needs \\usepackage{booktabs}"]
    for table in tables:
        rows = [" & ".join(map(_escaped, row)) + r" \\" for row in table.rows]
        blocks.append(
            "\n".join(
                [
                    r"\begin{table}[t]",
                    r"\centering",
                    rf"\begin{{tabular}}{{l{'r' * (len(table.head) - 1)}}}",
                    r"\toprule",
                    " & ".join(map(_escaped, table.head)) + r" \\",
                    r"\midrule",
                    *rows,
                    r"\bottomrule",
                    r"\end{tabular}",
                    rf"\caption{{{_escaped(table.caption)}}}",
                    r"\end{table}",
                ]
            )
        )
    return "\n\n".join(blocks) + "\n"


_LATEX = str.maketrans({char: f"\\{char}" for char in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"})


def _escaped(cell: str) -> str:
    return cell.translate(_LATEX)
