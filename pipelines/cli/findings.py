"""What `validate` and `verify` found, and how they tell it."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from typing import Any

from dialmill.pipelines.cli.options import write_json
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.terminal import printable
from dialmill.schemas.validate import Report


@dataclass
class Findings:
    """What was checked and what is wrong."""

    checked: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def text(self) -> str:
        """For people."""
        return "\n".join(self.problems or self.checked)

    def to_dict(self) -> dict[str, Any]:
        """For programs."""
        return {"ok": not self.problems, "checked": self.checked, "problems": self.problems}

    def take(self, found: Checked) -> None:
        """Takes over what another check found."""
        self.checked += found.checked
        self.problems += found.problems

    def add(self, report: Report) -> None:
        """Takes over a report on a file."""
        (self.checked if report.ok else self.problems).extend(str(report).splitlines())


def finish(options: argparse.Namespace, found: Findings) -> int:
    """Tells what was found and returns the exit code."""
    write_json(options, found.to_dict())
    if found.problems:
        print(printable(found.text()), file=sys.stderr)
    elif not options.quiet and options.json_file != "-":
        print(printable(found.text()))
    return 1 if found.problems else 0
