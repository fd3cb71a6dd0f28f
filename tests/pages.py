"""The commands of README and docs, and what becomes of each: most are run as they stand; the others say why not.

A fenced block with commands of dialmill is ``sh`` and is run, in the order of its page, in one folder, unless a comment in the line above it says
otherwise:

- ``<!-- slow -->``: run by .ci/slow alone
- ``<!-- run by: PATH -->``: a test of its own runs it
- ``<!-- command: NAME -->``: sets up an environment, in .ci/run
- ``<!-- not run: REASON -->``: needs what no test has (an endpoint, a bucket, entries to a challenge)

``<!-- file: NAME -->`` stands above what a file contains, which the commands of the page read. Commands in running text are run where no word of them
stands for the reader's own (FILE, DIR).
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
#: Pages whose commands another test runs, or none can: a Flink cluster with its workers.
ELSEWHERE = {"docs/tutorials/flink.md": "needs a Flink cluster"}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^(?:<!-- ([a-z ]+)(?:: ([^\n]+))? -->\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
_COMMAND = re.compile(r"(?m)^ *(?:\$ )?dialmill [a-z]")
_INLINE = re.compile(r"`(dialmill [a-z][^`\n]*)`")
_PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b|\.\.\.")


class Block(NamedTuple):
    """A fenced block: its mark and what the mark says ("" without one), its language, its text."""

    mark: str
    told: str
    language: str
    text: str

    @property
    def commands(self) -> list[list[str]]:
        """Its commands, a list of words each."""
        lines = self.text.replace("\\\n", " ").splitlines()
        return [words for words in (shlex.split(line, comments=True) for line in lines) if words]


def name_of(page: Path) -> str:
    """A page's path in the checkout."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page."""
    return [Block(mark or "", told or "", language, text) for mark, told, language, text in _BLOCK.findall(page.read_text("utf-8"))]


def with_commands(page: Path) -> list[Block]:
    """Those with commands of dialmill, or of a shell."""
    return [block for block in blocks(page) if block.language in ("sh", "console") or _COMMAND.search(block.text)]


def runnable(page: Path, slow: bool = False) -> list[list[str]]:
    """The commands that are run as they stand: the blocks' in their order, then those in running text; the slow ones too where they are asked for.

    A page with a slow block is run as a whole among the slow ones.
    """
    if name_of(page) in ELSEWHERE:
        return []
    shells = [block for block in with_commands(page) if block.language == "sh"]
    marked = any(block.mark == "slow" for block in shells)
    if marked != slow:
        return []
    inline = [command for command in _INLINE.findall(_BLOCK.sub("", page.read_text("utf-8"))) if not _PLACEHOLDER.search(command)]
    named = [words for words in map(shlex.split, inline) if len(words) > 2 and words[1] == "list"]
    return [words for block in shells if block.mark in ("", "slow") for words in block.commands] + named


def write_files(page: Path, folder: Path) -> None:
    """The files that a page shows, in a folder."""
    for block in blocks(page):
        if block.mark == "file":
            (folder / block.told).write_text(block.text, "utf-8")
