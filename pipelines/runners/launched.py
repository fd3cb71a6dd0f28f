"""What workers in other processes take over from the process that launched the run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from dialmill.perturbers.speech.plan import NO_AUDIO
from dialmill.schemas import archives

#: Environment variables that change what a run makes. A worker pool was started with an environment of its own.
_VARIABLES = (archives.VARIABLE, NO_AUDIO)


@dataclass(frozen=True)
class Launched:
    """Where a run was launched: it travels to the workers with each stage.

    Args:
        folder: the working folder, which relative paths of inputs, knowledge, lexicons, predictions and models mean.
        variables: of `os.environ`, those that change what is made; those that weren't set are left out.
    """

    folder: str
    variables: Mapping[str, str]

    @classmethod
    def here(cls) -> Launched:
        """That of this process."""
        return cls(os.getcwd(), {name: os.environ[name] for name in _VARIABLES if name in os.environ})  # noqa: PTH109 - travels as text

    def enter(self) -> None:
        """Makes this process like the launching one: nothing to do in that one itself; a folder that this machine lacks is left alone."""
        for name in _VARIABLES:
            if name in self.variables:
                os.environ[name] = self.variables[name]
            else:
                os.environ.pop(name, None)
        if os.path.isdir(self.folder) and os.getcwd() != self.folder:  # noqa: PTH109, PTH112
            os.chdir(self.folder)
