"""Tests on the published corpora, which are not part of this repository: DIALMILL_REAL names the folder that holds them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real() -> Path:
    """The folder of published corpora; a test that asks for it is skipped where there is none."""
    folder = Path(os.environ.get("DIALMILL_REAL", Path(__file__).parents[2] / ".." / "shared" / "real"))
    if not folder.is_dir():
        pytest.skip(f"no published corpora at {folder}; set DIALMILL_REAL to a folder that has them")
    return folder
