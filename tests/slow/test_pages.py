"""The commands of pages that take minutes: .ci/slow runs them, on the corpora that come along."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import pages
from tests.pipelines.tools import ROOT, spawn

SLOW = [page for page in pages.PAGES if pages.runnable(page, slow=True)]


@pytest.mark.parametrize("page", SLOW, ids=[pages.name_of(page) for page in SLOW])
def test_every_slow_command_runs(page: Path, tmp_path: Path) -> None:
    """In one folder, in their order, each in a process of its own, as people run them."""
    if not os.environ.get("DIALMILL_SLOW"):
        pytest.skip("DIALMILL_SLOW is not set; .ci/slow sets it")
    (tmp_path / "data").symlink_to(ROOT / "data")
    pages.write_files(page, tmp_path)
    for words in pages.runnable(page, slow=True):
        done = spawn(*words[1:], folder=tmp_path)
        assert done.code == 0, (words, done.err)
