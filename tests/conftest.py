"""What all tests share. That this file stands in a package is what lets tests import `tests.strategies`."""

from __future__ import annotations

import functools
import hashlib
import pickle
from collections.abc import Callable, Hashable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.transforms import userstate
from dialmill.pipelines.baselines.panel.panel import Panel, TurnPanel
from dialmill.pipelines.baselines.panel.responses import ResponsePanel
from dialmill.pipelines.baselines.panel.snippets import SnippetPanel
from hypothesis import settings

# Times say nothing on a machine that others use too.
settings.register_profile("dialmill", deadline=None)
settings.load_profile("dialmill")


def _once(function: Callable[..., Any], key: Callable[..., Hashable]) -> Callable[..., Any]:
    """A function that isn't called a second time for what has an equal key."""
    found: dict[Hashable, Any] = {}

    @functools.wraps(function)
    def remembered(*arguments: Any) -> Any:
        name = key(*arguments)
        if name not in found:
            found[name] = function(*arguments)
        return found[name]

    return remembered


def _lesson(panel: Panel, kind: str, dialogues: Sequence[Any], language: str, pool: Sequence[Any] = ()) -> Hashable:
    return kind, language, hashlib.sha256(pickle.dumps((list(dialogues), list(pool)))).digest()


def _viewed_once(view_as: Callable[..., Any]) -> Callable[..., Any]:
    """A view of Beam's options parses them anew with a parser of its own, a thousand times a build. Views share what they hold, so one will do."""
    views: WeakKeyDictionary[PipelineOptions, dict[type, Any]] = WeakKeyDictionary()

    @functools.wraps(view_as)
    def view(self: PipelineOptions, kind: type) -> Any:
        mine = views.setdefault(self, {})
        if kind not in mine:
            mine[kind] = view_as(self, kind)
        return mine[kind]

    return view


@pytest.fixture(scope="session", autouse=True)
def nothing_is_worked_out_twice() -> Any:
    """Hundreds of tests build the same small corpora. A quarter of such a build is what Beam looks up, a third what the baselines learn.

    A class has always the same states and timers, for which Beam reads the signature of each method some ten times a build; and what a
    baseline learns of equal dialogues is equal bytes. Processes that a test starts learn for themselves.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(userstate, "get_dofn_specs", _once(userstate.get_dofn_specs, type))
        patch.setattr(PipelineOptions, "view_as", _viewed_once(PipelineOptions.view_as))
        for panel in (TurnPanel, ResponsePanel, SnippetPanel):
            patch.setattr(panel, "train", _once(panel.train, _lesson))
        yield
