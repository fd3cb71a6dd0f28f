"""A real Chromium for the tests that look at pages, or a skip that says how to get one."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.tools import DATA, plain

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, headless, by Playwright; CHROMIUM names another program than those on the path."""
    api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (extra: test)")
    program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium on the path (Debian: apt-get install chromium; or name one in CHROMIUM)")
    with api.sync_playwright() as play:
        # A container's root has no sandbox to run in; the pages are our own files.
        chromium = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def noesis(built: Path) -> Path:
    """`build noesis-ubuntu` of the embedded logs: candidate pools and predicted links, no perturbed suite."""
    plain("noesis-ubuntu", [DATA / "ubuntu_irc"], built / "noesis")
    return built / "noesis"


class Look:
    """A page opened from disk, with all that its console said and all it asked the network for."""

    def __init__(self, context: Any, path: Path) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page = context.new_page()
        self.page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.resolve().as_uri())


@pytest.fixture
def look(browser: Any) -> Iterator[Any]:
    """Opens a page at a width and in a colour scheme."""
    contexts = []

    def opened(path: Path, width: int = 1280, scheme: str = "light") -> Look:
        contexts.append(browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme))
        return Look(contexts[-1], path)

    yield opened
    for context in contexts:
        context.close()
