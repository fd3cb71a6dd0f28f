"""Errors that a user can act on: which file, which place, what was expected, what to do."""

from __future__ import annotations

from dialmill.perturbers.core.options import OptionError, UnusableFile


class DialmillError(Exception):
    """The input or the run is at fault: exit code 1, the message on stderr, no traceback."""


class UsageError(DialmillError):
    """The command is at fault: exit code 2."""


def of_option(error: OptionError) -> DialmillError:
    """What is at fault where options of a perturber are refused: the command, or a file that one of them names."""
    return DialmillError(str(error)) if isinstance(error, UnusableFile) else UsageError(str(error))


class InputError(DialmillError):
    """A file that can't be used: stops the run before anything is written.

    Args:
        path: the file (``archive.zip!member`` inside a zip).
        problem: what is wrong, with the place (line, byte, key) where it is known.
        remedy: what the user can do.
    """

    def __init__(self, path: str, problem: str, remedy: str = "") -> None:
        super().__init__(path, problem, remedy)
        self.path, self.problem, self.remedy = path, problem, remedy

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}" + (f" ({self.remedy})" if self.remedy else "")


class RecordError(Exception):
    """One record that can't be used: it goes to rejects/ with this reason, and the run goes on.

    Args:
        reason: a short name, as it is counted ("missing_key").
        evidence: what was seen, for a person to read.
    """

    def __init__(self, reason: str, evidence: str = "") -> None:
        super().__init__(reason, evidence)
        self.reason, self.evidence = reason, evidence
