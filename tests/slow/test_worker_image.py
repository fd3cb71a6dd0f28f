"""The worker image without Docker: what docker/Dockerfile installs goes into a fresh environment, whose worker pool runs a build."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.engines.pool import worker_pool
from tests.engines.worker_image import copied_checkout, image
from tests.pipelines.tools import DATA, ROOT, hashes, plain

pytestmark = pytest.mark.skipif(not os.environ.get("DIALMILL_SLOW"), reason="installs some hundred megabytes; .ci/slow runs it")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of an environment that has what the image has; DIALMILL_IMAGE_PYTHON names one that was made before."""
    if os.environ.get("DIALMILL_IMAGE_PYTHON"):
        return os.environ["DIALMILL_IMAGE_PYTHON"]
    folder = tmp_path_factory.mktemp("image")
    venv.create(folder / "venv", with_pip=True)
    made = str(folder / "venv" / "bin" / "python")
    wanted = image(copied_checkout(folder / "checkout")).install
    done = subprocess.run([made, "-m", "pip", "install", "--quiet", *wanted], capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return made


def test_the_image_has_what_it_is_for(python: str, tmp_path: Path) -> None:
    """The package itself, not the checkout; the object stores; the engines of speech and links with their weights."""
    told = subprocess.run(
        [python, "-c", "import dialmill, gcsfs, s3fs, google.cloud.dataflow, lightgbm; print(dialmill.__file__)"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert not Path(told.stdout.strip()).is_relative_to(ROOT)
    listed = subprocess.run([python, "-m", "dialmill", "list", "engines"], capture_output=True, text=True, cwd=tmp_path, timeout=300, check=False)
    assert listed.returncode == 0, listed.stderr


def test_a_pool_of_the_image_gives_the_same_bytes(python: str, tmp_path: Path) -> None:
    folder = tmp_path / "worker"
    folder.mkdir()
    command = [sys.executable, "-m", "dialmill", "build", "raddle", "--input", str(DATA / "multiwoz21"), "--output", str(tmp_path / "out"), "--quiet"]
    with worker_pool(folder, python) as pool:
        options = ["--runner=PortableRunner", "--job_endpoint=embed", "--environment_type=EXTERNAL", f"--environment_config={pool}"]
        done = subprocess.run([*command, "--", *options], capture_output=True, text=True, cwd=ROOT, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:] + (folder / "pool.log").read_text("utf-8", "replace")[-2000:]
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "plain")
    assert hashes(tmp_path / "out") == hashes(tmp_path / "plain")
