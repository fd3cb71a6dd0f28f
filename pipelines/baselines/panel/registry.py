"""The panels by name, as benchmarks name them."""

from __future__ import annotations

from functools import lru_cache

from dialmill.pipelines.baselines.panel.panel import NoPanel, Panel, TurnPanel
from dialmill.pipelines.baselines.panel.responses import ResponsePanel
from dialmill.pipelines.baselines.panel.snippets import SnippetPanel

_PANELS: dict[str, type[Panel]] = {"": NoPanel, "turns": TurnPanel, "responses": ResponsePanel, "snippets": SnippetPanel}


@lru_cache(maxsize=8)
def panel(name: str) -> Panel:
    """The panel of a name; "" has no baselines and judges nothing.

    Raises:
        KeyError: there is none.
    """
    return _PANELS[name]()
