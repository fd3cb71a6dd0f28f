"""What all tests share. That this file stands in a package is what lets tests import `tests.strategies`."""

from __future__ import annotations

import functools
import hashlib
import pickle
from collections.abc import Callable, Sequence
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

Train = Callable[..., "bytes | None"]


def _taught_once(train: Train) -> Train:
    """Hundreds of tests build the same small corpora, and what a baseline learns of equal dialogues is equal bytes: once a process will do."""
    learned: dict[tuple[object, ...], bytes | None] = {}

    @functools.wraps(train)
    def taught(self: Panel, kind: str, dialogues: Sequence[Any], language: str, pool: Sequence[Any] = ()) -> bytes | None:
        key = (kind, language, hashlib.sha256(pickle.dumps((list(dialogues), list(pool)))).digest())
        if key not in learned:
            learned[key] = train(self, kind, dialogues, language, pool)
        return learned[key]

    return taught


def _read_once(specs: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Beam reads the signature of every method of a stage some ten times a build to find states and timers, of which a class has always the same."""
    found: dict[type, Any] = {}

    @functools.wraps(specs)
    def of_class(dofn: Any) -> Any:
        kind = type(dofn)
        if kind not in found:
            found[kind] = specs(dofn)
        return found[kind]

    return of_class


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
    """A quarter of a build of a small corpus is what Beam looks up in our classes, and a third what the baselines learn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(userstate, "get_dofn_specs", _read_once(userstate.get_dofn_specs))
        patch.setattr(PipelineOptions, "view_as", _viewed_once(PipelineOptions.view_as))
        for panel in (TurnPanel, ResponsePanel, SnippetPanel):
            patch.setattr(panel, "train", _taught_once(panel.train))
        yield
