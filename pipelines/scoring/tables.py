"""Score files as tables: for a terminal, in Markdown and in LaTeX (booktabs)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dialmill.pipelines.core.scorer import Score, Table
from dialmill.pipelines.core.terminal import printable


def tables(scores: dict[str, Any], details: bool = True) -> list[Table]:
    """What a score file says, as tables: the one of systems by suites, and with `details` all others too."""
    one = compared(scores)
    if one is None:
        return _details(scores)
    return [one, *_details(scores)] if details else [one]


def _details(scores: dict[str, Any]) -> list[Table]:
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
    yours = [Table(f"{scores['benchmark']}, suite {scores['suite']}: systems by mean reciprocal rank", ("system", "rank score", *names), rows)]
    return yours + list(_pairs(scores)) if "comparison" in scores else yours


def _pairs(scores: dict[str, Any]) -> Iterator[Table]:
    """The differences of every two systems."""
    found, digits = scores["comparison"], _digits(scores)
    percent = round(100 * found["confidence"])
    for metric, by_suite in found["pairs"].items():
        rows = [
            (suite, one["a"], one["b"], number(one["difference"], digits), f"[{number(one['low'], digits)}, {number(one['high'], digits)}]")
            for suite, pairs in by_suite.items()
            for one in pairs
        ]
        if rows:
            yield Table(f"{metric}: a - b, paired over dialogues", ("suite", "a", "b", "difference", f"{percent} % interval"), rows)


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


def compared(scores: dict[str, Any]) -> Table | None:
    """The one table of a score file: systems by suites; None where it compares nothing."""
    found = scores.get("comparison")
    if not found:
        return None
    digits = _digits(scores)
    several = len(found["systems"]) > 1
    letters = dict(zip(found["systems"], map(_letter, range(len(found["systems"]))), strict=True))
    head = (*(("metric",) if len(found["metrics"]) > 1 else ()), "system", *found["suites"])
    rows: list[tuple[str | Score, ...]] = []
    for metric in found["metrics"]:
        for name, cells in found["scores"][metric].items():
            shown = f"{letters[name]}: {name}" if several else name
            line = tuple(_score(cells.get(suite), letters, digits) for suite in found["suites"])
            rows.append((*((metric,) if len(found["metrics"]) > 1 else ()), shown, *line))
    return Table(_caption(scores, found, several), head, rows)


def _letter(number: int) -> str:
    """a, b, ..., z, aa, ab, ..."""
    return (_letter(number // 26 - 1) if number >= 26 else "") + chr(ord("a") + number % 26)


def _score(cell: dict[str, Any] | None, letters: dict[str, str], digits: int) -> Score:
    if cell is None:
        return Score("")
    sure = f" [{number(cell['low'], digits)}, {number(cell['high'], digits)}]" if "low" in cell else ""
    change = f"{number(cell['drop'], digits)}{sure}" if "drop" in cell else ""
    return Score(number(cell["score"], digits), cell["best"], ",".join(sorted(letters[name] for name in cell["beats"])), change)


def _caption(scores: dict[str, Any], found: dict[str, Any], several: bool) -> str:
    percent = round(100 * found["confidence"])
    metrics = ", ".join(found["metrics"])
    split = f", {scores['split']} split" if scores.get("split") else ""
    said = [f"{metrics} ({scores['scale']}) on {scores['benchmark']}{split}, by suite"]
    cells = [cell for by_system in found["scores"].values() for by_suite in by_system.values() for cell in by_suite.values()]
    if any("drop" in cell for cell in cells):
        sure = f"the {percent} % interval of {found['samples']} paired bootstrap samples of dialogues"
        said.append(f"with the drop from {found['clean']} and {sure}")
    if several:
        better = f"(the {percent} % interval of the paired difference lies above 0)"
        said.append(f"best in bold; letters name the systems that a score is better than {better}")
    return "; ".join(said)


def text(scores: dict[str, Any], tables: Sequence[Table]) -> str:
    """For a terminal, the notes last. The best score of a column has a star."""
    blocks = []
    for table in tables:
        cells = [tuple(map(_plain, row)) for row in (table.head, *table.rows)]
        widths = [max(len(row[place]) for row in cells) for place in range(len(table.head))]
        lines = [
            "  ".join(f"{cell:<{width}}" if not place else f"{cell:>{width}}" for place, (cell, width) in enumerate(zip(row, widths, strict=True)))
            for row in cells
        ]
        caption = table.caption.replace("best in bold", "the best has a *")
        blocks.append("\n".join([caption, *(line.rstrip() for line in lines)]))
    blocks += ["\n".join(f"note: {note}" for note in scores.get("notes", []))] if scores.get("notes") else []
    return "\n\n".join(blocks)


def _plain(cell: str | Score) -> str:
    if isinstance(cell, str):
        return cell
    beats = f" >{cell.beats}" if cell.beats else ""
    return f"{cell.text}{'*' if cell.best else ''}{beats}{f' ({cell.change})' if cell.change else ''}"


def markdown(scores: dict[str, Any], tables: Sequence[Table]) -> str:
    """GitHub's tables."""
    blocks = [f"# Scores: {scores['benchmark']}"]
    for table in tables:
        rows = [_bar(list(map(_marked_down, row))) for row in table.rows]
        texts = _text_columns(table)
        lines = [_bar(list(map(_marked_down, table.head))), _bar(["---"] * texts + ["---:"] * (len(table.head) - texts)), *rows]
        blocks.append(f"**{table.caption}**\n\n" + "\n".join(lines))
    about = [*(f"- {name}: {what}" for name, what in scores["policy"].items()), *(f"- note: {note}" for note in scores["notes"])]
    about.append("- versions: " + ", ".join(f"{name} {version}" for name, version in scores["versions"].items()))
    return "\n\n".join([*blocks, "\n".join(about)]) + "\n"


def _text_columns(table: Table) -> int:
    """How many of the first columns hold text: all before the scores, where it is a table of scores."""
    return next((place for row in table.rows for place, cell in enumerate(row) if isinstance(cell, Score)), 1)


#: What is markup in a cell of Markdown, such as the name of a system, which is a file's.
_MARKUP = re.compile(r"[\\`*|]|<(?=[A-Za-z/!])|(?<=\])\(")


def _marked_down(cell: str | Score) -> str:
    if isinstance(cell, str):
        return _MARKUP.sub(r"\\\g<0>", " ".join(printable(cell).split()))
    bold = f"**{cell.text}**" if cell.best else cell.text
    return bold + (f"<sup>{cell.beats}</sup>" if cell.beats else "") + (f" ({cell.change})" if cell.change else "")


def _bar(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def latex(tables: Sequence[Table]) -> str:
    """One `table` environment each, for the package booktabs; over both columns where a table is wide. Drops stand below their scores."""
    return "\n\n".join(map(_latex_table, tables)) + "\n"


def _latex_table(table: Table) -> str:
    scores = any(isinstance(cell, Score) for row in table.rows for cell in row)
    rows = [line for row in table.rows for line in _latex_rows(row)]
    environment = "table*" if scores and len(table.head) > _NARROW else "table"
    texts = _text_columns(table)
    columns = "l" * texts + ("c" if scores else "r") * (len(table.head) - texts)
    return "\n".join(
        [
            rf"\begin{{{environment}}}",
            r"\centering",
            *([r"\small", r"\setlength{\tabcolsep}{4pt}"] if scores else []),
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            " & ".join(map(_escaped, table.head)) + r" \\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{_escaped(table.caption)}}}",
            rf"\end{{{environment}}}",
        ]
    )


#: A table of systems with more columns than this takes the width of the page.
_NARROW = 4


def _latex_rows(row: Sequence[str | Score]) -> Iterator[str]:
    yield " & ".join(map(_latex_cell, row)) + r" \\"
    if any(isinstance(cell, Score) and cell.change for cell in row):
        changes = (rf"{{\scriptsize {_minus(_escaped(cell.change))}}}" if isinstance(cell, Score) and cell.change else "" for cell in row)
        yield " & ".join(changes) + r" \\"


def _latex_cell(cell: str | Score) -> str:
    if isinstance(cell, str):
        return _escaped(cell)
    text = _minus(cell.text)
    bold = rf"\textbf{{{text}}}" if cell.best else text
    return bold + (rf"\textsuperscript{{{cell.beats}}}" if cell.beats else "")


_LATEX = str.maketrans({char: f"\\{char}" for char in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"})


def _escaped(cell: str) -> str:
    return cell.translate(_LATEX)


def _minus(numbers: str) -> str:
    """Numbers whose minus is one, and no hyphen."""
    return re.sub(r"-(?=\d)", "$-$", numbers)
