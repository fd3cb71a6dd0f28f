"""Every command on object stores: the same files, the same bytes, the same refusals as on a local disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import InputError

from tests.pipelines.tools import DATA, call, environment, hashes

CORPUS = DATA / "multiwoz21"


def _remote_hashes(folder: str) -> dict[str, str]:
    with files.here(folder) as local:
        return hashes(Path(local))


def _names(url: str) -> list[str]:
    return [name for name in files.list_files(url) if not name.endswith("/")]


def _upload(folder: Path, target: str) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            files.write_bytes(f"{target}/{path.relative_to(folder).as_posix()}", path.read_bytes())


def test_build_and_every_reading_command(bucket: str, tmp_path: Path) -> None:
    source, out, local = f"{bucket}/all/in", f"{bucket}/all/out", tmp_path / "local"
    _upload(CORPUS, source)
    built = call("build", "splits", "--input", source, "--output", out, "--quiet")
    assert built.code == 0, built.err
    assert call("build", "splits", "--input", CORPUS, "--output", local, "--quiet").code == 0
    remote, here = _remote_hashes(out), hashes(local)
    assert remote == here
    assert not [name for name in files.list_files(f"{bucket}/all") if ".dialmill-" in name], "nothing of the run is left beside the folder"

    verified = call("verify", out)
    assert verified.code == 0, verified.err
    identity = json.loads((local / "dialogues/standard/test.jsonl").read_text("utf-8").splitlines()[0])["source_id"]
    assert call("show", out, "--id", identity).out == call("show", local, "--id", identity).out
    guesses = tmp_path / "guesses.jsonl"
    assert call("predict-baseline", "splits", "--gold", out, "--output", guesses, "--quiet").code == 0
    files.write_bytes(f"{bucket}/all/guesses.jsonl", guesses.read_bytes())
    scored = call("score", "splits", "--gold", out, "--predictions", f"{bucket}/all/guesses.jsonl", "--json", "-", "--quiet")
    assert scored.code == 0, scored.err
    assert (
        json.loads(scored.out)["metrics"]
        == json.loads(call("score", "splits", "--gold", local, "--predictions", guesses, "--json", "-", "--quiet").out)["metrics"]
    )
    before = files.read_bytes(f"{out}/report.html")
    files.remove(f"{out}/report.html")
    assert call("report", out, "--quiet").code == 0
    assert files.read_bytes(f"{out}/report.html") == before
    assert call("validate", f"{out}/dialogues/standard/test.jsonl").code == 0


def test_patterns_name_inputs(bucket: str, tmp_path: Path) -> None:
    _upload(CORPUS, f"{bucket}/glob")
    assert call("build", "splits", "--input", f"{bucket}/glob/*.json", "--output", tmp_path / "a", "--quiet").code == 0
    assert call("build", "splits", "--input", f"{CORPUS}/*.json", "--output", tmp_path / "b", "--quiet").code == 0
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")
    missing = call("build", "splits", "--input", f"{bucket}/glob/*.parquet", "--output", tmp_path / "c")
    assert missing.code == 1 and "no file matches it" in missing.err


def test_only_an_output_of_ours_is_replaced(bucket: str, tmp_path: Path) -> None:
    out = f"{bucket}/replace/out"
    files.write_bytes(f"{out}/thesis.txt", b"four years of work")
    for manifest in (None, b'{"dialmill": "1"', b'{"dialmill": "x"}', b"[]"):
        if manifest is not None:
            files.write_bytes(f"{out}/manifest.json", manifest)
        refused = call("build", "splits", "--input", CORPUS, "--output", out, "--overwrite", "--quiet")
        assert refused.code == 1 and "won't replace it" in refused.err
        assert files.read_bytes(f"{out}/thesis.txt") == b"four years of work"
    bare = call("build", "splits", "--input", CORPUS, "--output", bucket, "--overwrite", "--quiet")
    assert bare.code == 1 and "is a bucket" in bare.err
    exists = call("build", "splits", "--input", CORPUS, "--output", f"{bucket}/replace/out", "--quiet")
    assert exists.code == 1 and "--overwrite replaces it" in exists.err


def test_overwrite_leaves_the_new_output_alone(bucket: str, tmp_path: Path) -> None:
    out = f"{bucket}/again/out"
    assert call("build", "splits", "--input", CORPUS, "--output", out, "--set", "few_shot=0.1", "--quiet").code == 0
    files.write_bytes(f"{out}.dialmill-0123456789abcdef/parts/dialogues/standard/train.jsonl.0000", b"of a killed run")
    assert call("build", "splits", "--input", CORPUS, "--output", out, "--overwrite", "--seed", "2", "--quiet").code == 0
    assert call("build", "splits", "--input", CORPUS, "--output", tmp_path / "local", "--seed", "2", "--quiet").code == 0
    assert _remote_hashes(out) == hashes(tmp_path / "local")
    assert not [name for name in files.list_files(f"{bucket}/again") if ".dialmill-" in name]


def test_a_second_writer_is_refused_and_a_killed_run_leaves_nothing(bucket: str) -> None:
    out = f"{bucket}/two/out"
    command = [sys.executable, "-m", "dialmill", "build", "raddle", "--input", str(CORPUS), "--output", out, "--quiet"]
    process = subprocess.Popen(command, env=environment() | {name: os.environ[name] for name in os.environ if name.startswith(("AWS_", "STORAGE_"))})
    for _ in range(600):
        if files.size(f"{out}.dialmill-lock") is not None:
            break
        time.sleep(0.05)
    second = call("build", "splits", "--input", CORPUS, "--output", out, "--quiet")
    assert second.code == 1 and "another run is writing there now" in second.err
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert files.size(f"{out}/manifest.json") is None
    third = call("build", "splits", "--input", CORPUS, "--output", out, "--quiet")
    assert third.code == 0, third.err
    assert not [name for name in files.list_files(f"{bucket}/two") if ".dialmill-" in name]
    assert call("verify", out).code == 0


@pytest.mark.parametrize("path", ["gs://bucket/none.json", "s3://bucket/none.json", "s3://no-such-bucket/x"])
def test_what_is_not_there_is_told(path: str, stores: dict[str, str], tmp_path: Path) -> None:
    told = call("build", "splits", "--input", path, "--output", tmp_path / "out")
    assert told.code == 1 and path in told.err and "fault of dialmill" not in told.err
    with pytest.raises(InputError, match=path):
        files.read_bytes(path)


def test_an_unknown_protocol_is_told(tmp_path: Path) -> None:
    told = call("build", "splits", "--input", "gopher://x/y.json", "--output", tmp_path / "out")
    assert told.code == 1 and "unknown file system" in told.err
