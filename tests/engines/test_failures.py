"""What a user is told when an engine fails."""

from __future__ import annotations

from typing import Any

import pytest
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.runner import Runner
from dialmill.pipelines.runners import options

_FAILED = "Pipeline BeamApp-root-1128_6b69-2e26 failed in state FAILED: "


class _Failing:
    """A pipeline whose engine fails."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def run(self) -> Any:
        raise self.error


def _run(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(runner: Runner) -> None: ...

    monkeypatch.setattr(options, "make_pipeline", lambda arguments: _Failing(error))
    options.run_beam(nothing, ["--runner=FlinkRunner"])


def test_what_an_engine_lacks_is_no_fault_of_dialmill(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "java.io.IOException: Insufficient number of network buffers: required 512, but only 394 available."
    with pytest.raises(DialmillError, match=r"gave the run up \(FAILED\): java\.io\.IOException: Insufficient") as told:
        _run(RuntimeError(f"{_FAILED}{said}\n\tat org.apache.flink.runtime"), monkeypatch)
    assert "nothing was written" in str(told.value) and "\n" not in str(told.value)


def test_what_a_stage_says_is_told_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = "java.lang.RuntimeException: Error received from SDK harness for instruction 5: Traceback (most recent call last):\n  File x\n"
    with pytest.raises(DialmillError, match=r"^a\.json: No such file or directory; nothing was written$"):
        _run(RuntimeError(f"{_FAILED}{inner}x.DialmillError: a.json: No such file or directory [while running 'read files']\n"), monkeypatch)


def test_a_fault_in_a_stage_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = "java.lang.RuntimeException: Error received from SDK harness for instruction 5: Traceback (most recent call last):\nKeyError: 'x'"
    with pytest.raises(RuntimeError, match="KeyError"):
        _run(RuntimeError(_FAILED + inner), monkeypatch)
