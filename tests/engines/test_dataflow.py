"""Runs on Dataflow, as far as they go without Google: the dry run, what is missing, and the image of the workers."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.tools import DATA, ROOT, call

from .worker_image import image

_RUNNER = "--runner=DataflowRunner"
_WHOLE = (_RUNNER, "--project=p", "--region=europe-west1", "--temp_location=gs://bucket-of-mine/tmp", "--sdk_container_image=registry/dialmill:1")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection can be made."""

    def refuse(*words: Any, **more: Any) -> None:
        raise AssertionError("a dry run used the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.usefixtures("offline")
def test_a_dry_run_translates_without_the_network_and_says_what_is_missing() -> None:
    done = call("build", "splits", "--input", DATA / "multiwoz21", "--output", "gs://bucket-of-mine/out", "--dry-run", "--", _RUNNER)
    assert done.code == 1 and not done.err
    assert re.search(r"translated for Dataflow: \d{2,} steps, [\d,]+ bytes, on apache/beam_python3\.\d+_sdk:[\d.]+", done.out)
    for word in ("--project", "--region", "--temp_location", "--sdk_container_image", "data.json"):
        assert re.search(f"(?m)^missing: .*{word}", done.out), word
    assert "an output that" not in done.out


@pytest.mark.usefixtures("offline")
def test_what_is_given_is_not_missing(tmp_path: Path) -> None:
    done = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--dry-run", "--", *_WHOLE)
    assert "on registry/dialmill:1" in done.out
    missing = [line for line in done.out.splitlines() if line.startswith("missing: ") and "client libraries" not in line]
    assert len(missing) == 2, "input and output lie on this machine"
    assert missing[0].startswith("missing: inputs") and str(tmp_path / "out") in missing[1]


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("bucket", ["/tmp/here", "gs://b", "gs://Bucket/x"])
def test_a_folder_that_is_none_is_told(bucket: str) -> None:
    options = [one if "temp_location" not in one else f"--temp_location={bucket}" for one in _WHOLE]
    done = call("build", "splits", "--input", DATA / "multiwoz21", "--output", "gs://bucket-of-mine/out", "--dry-run", "--", *options)
    assert done.code == 1 and f"{bucket} is none" in done.out


@pytest.mark.usefixtures("offline")
def test_a_run_that_lacks_something_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    done = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--", "--runner", "DataflowRunner")
    assert done.code == 2 and "--project=PROJECT" in done.err and "docker/Dockerfile" in done.err
    assert not (tmp_path / "out").exists()


def test_an_option_that_beam_does_not_know_is_refused(tmp_path: Path) -> None:
    done = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--", *_WHOLE, "--projekt=q")
    assert done.code == 2 and "--projekt=q" in done.err


def _pins(path: Path) -> dict[str, str]:
    return dict(re.findall(r"(?m)^([\w.-]+)==([^\s;]+)", path.read_text("utf-8")))


def test_the_image_has_the_versions_of_the_tests_and_extras_that_exist() -> None:
    """Stages travel pickled, and what they make has to be what it is here: Beam and all that the core depends on are the same."""
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    core, _, optional = project.partition("[project.optional-dependencies]")
    needed = re.findall(r'(?m)^  "([\w.-]+)[>=<]', core.partition("dependencies = [")[2].partition("\n]")[0])
    pins, own, found = _pins(ROOT / "tests" / "constraints.txt"), _pins(ROOT / "docker" / "constraints.txt"), image()
    assert found.base.endswith(f":{pins['apache-beam']}")
    assert len(needed) > 10
    # fsspec goes with the stores' libraries, whose releases Google's clients hold back.
    different = {name for name in needed if own[name.lower()] != pins[name.lower()]}
    assert different <= {"fsspec"}
    extras = set(re.findall(r"(?m)^([\w-]+) = \[", optional))
    assert set(found.arguments["EXTRAS"].split(",")) <= extras
    assert str(ROOT / "docker" / "constraints.txt") in found.install
