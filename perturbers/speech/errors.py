"""What can go wrong with a speech engine."""

from __future__ import annotations

from dialmill.perturbers.core.options import OptionError


class EngineMissing(OptionError):
    """An engine, or the weights it needs, are not installed. The message names the extra or the package that brings them."""


class SpeechFailed(RuntimeError):
    """An engine failed on one utterance, after its retries. It costs the turn, not the run."""


class AudioTooShort(SpeechFailed):
    """A voice engine gave less audio than the text can be said in, or silence."""


class PointMissing(EngineMissing):
    """The engines are here, and nobody has measured which noise gives the WER asked for."""
