"""The drops of a score file as a picture: a row of points with intervals for each suite, a colour for each system. Needs matplotlib, no display."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from dialmill.pipelines.core.errors import DialmillError, UsageError

_ENDINGS = (".svg", ".png")
#: Colours that people with a colour-vision deficiency tell apart (Okabe and Ito), and shapes, which a copier leaves.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_SHAPES = ("o", "s", "^", "D", "v", "P", "X")


def check(path: str) -> None:
    """Raises where a picture can't be made, before anything is scored.

    Raises:
        UsageError: the name ends in neither .svg nor .png.
        DialmillError: matplotlib isn't installed.
    """
    if Path(path).suffix.lower() not in _ENDINGS:
        raise UsageError(f"--plot: {path} has to end in {' or '.join(_ENDINGS)}")
    if importlib.util.find_spec("matplotlib") is None:
        raise DialmillError("--plot needs matplotlib, which is not installed: pip install 'dialmill[plot]'")


def write(path: str, scores: dict[str, Any]) -> None:
    """Draws the drops of every system from the clean suite, with their intervals; the same scores give the same SVG.

    Args:
        path: where the picture goes; its ending says the form.

    Raises:
        UsageError: the score file has no drops: it is about one suite, or has none to compare with.
        DialmillError: the file can't be written.
    """
    found = scores.get("comparison", {})
    shown = [metric for metric in found.get("metrics", ()) if _suites(found, metric)]
    if not shown:
        raise UsageError("--plot: there are no drops to draw: score several suites, the clean one among them (--suite all)")
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    heights = [len(_suites(found, metric)) for metric in shown]
    # Text stays text in SVG, and its ids depend on nothing but the picture.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "dialmill"}):
        height = sum(0.5 + 0.3 * rows * max(1, len(found["systems"]) ** 0.5) for rows in heights) + 0.6
        figure = Figure(figsize=(6.5, height), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(len(shown), 1, squeeze=False, height_ratios=heights)
        for panel, metric in zip(panels[:, 0], shown, strict=True):
            _panel(panel, scores, found, metric)
        if len(found["systems"]) > 1:
            figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=min(4, len(found["systems"])), frameon=False)
        try:
            figure.savefig(path, dpi=200, metadata={"Date": None} if path.lower().endswith(".svg") else None)
        except OSError as error:
            raise DialmillError(f"{path}: can't be written: {error.strerror}") from None


def _suites(found: dict[str, Any], metric: str) -> list[str]:
    """The suites of which some system has a drop."""
    return [suite for suite in found["suites"] if any("drop" in cells.get(suite, {}) for cells in found["scores"][metric].values())]


def _panel(panel: Any, scores: dict[str, Any], found: dict[str, Any], metric: str) -> None:
    suites = _suites(found, metric)
    systems = found["systems"]
    for number, name in enumerate(systems):
        cells = found["scores"][metric][name]
        there = [(place, cells[suite]) for place, suite in enumerate(suites) if "drop" in cells.get(suite, {})]
        shift = (number - (len(systems) - 1) / 2) * 0.7 / max(len(systems), 2)
        drops = [cell["drop"] for _, cell in there]
        # A percentile interval need not hold the drop itself; a bar can't have a negative length.
        errors = [[max(cell["drop"] - cell["low"], 0) for _, cell in there], [max(cell["high"] - cell["drop"], 0) for _, cell in there]]
        look = {"color": _COLOURS[number % len(_COLOURS)], "marker": _SHAPES[number % len(_SHAPES)]}
        panel.errorbar(drops, [place + shift for place, _ in there], xerr=errors, linestyle="none", markersize=5, capsize=2.5, label=name, **look)
    panel.axvline(0, color="0.6", linewidth=0.8)
    panel.set_yticks(range(len(suites)), suites)
    panel.set_ylim(len(suites) - 0.5, -0.5)
    percent = round(100 * found["confidence"])
    panel.set_xlabel(f"drop of {metric} from {found['clean']} ({scores['scale']}), {percent} % interval")
    panel.grid(axis="x", color="0.9")
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
