"""What docker/Dockerfile says, for tests of machines that have no Docker."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

from tests.pipelines.tools import ROOT

DOCKERFILE = ROOT / "docker" / "Dockerfile"


class Image(NamedTuple):
    """The worker image: its base, and the words of its `pip install`, with the checkout's path in place of where it is copied to."""

    base: str
    install: list[str]
    arguments: dict[str, str]


def image(checkout: Path = ROOT) -> Image:
    """Reads the file.

    Args:
        checkout: where the copied checkout lies.

    Raises:
        ValueError: it isn't of the form that is read here.
    """
    text = DOCKERFILE.read_text("utf-8")
    arguments = dict(re.findall(r"(?m)^ARG (\w+)=(\S+)$", text))
    text = re.sub(r"\$\{(\w+)\}", lambda found: arguments[found[1]], text)
    copied = re.search(r"(?m)^COPY \. (\S+)$", text)
    base = re.search(r"(?m)^FROM (\S+)$", text)
    run = re.findall(r"(?m)^RUN (.+)$", text)
    if not (copied and base and len(run) == 1 and run[0].startswith("pip install ")):
        raise ValueError(f"{DOCKERFILE} is of another form than the tests read: one FROM, one COPY of the checkout, one RUN pip install")
    return Image(base[1], shlex.split(run[0].replace(copied[1], str(checkout)))[2:], arguments)


def copied_checkout(target: Path) -> Path:
    """The checkout as Docker's COPY takes it: without what .dockerignore names."""
    left_out = [line.removeprefix("**/") for line in (ROOT / ".dockerignore").read_text("utf-8").split()]
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*left_out))
    return target
