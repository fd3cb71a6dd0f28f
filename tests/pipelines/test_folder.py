"""An output folder is whole or absent: killed runs, interrupted runs, two runs at once, a full disk."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.core.folders import is_whole
from dialmill.pipelines.sinks.folder import OutputFolder

from .tools import ROOT, call, corpus, environment, hashes, plain, talk

#: A build that stops in the middle of its work, with part files written, and waits for what is done to it.
_SLOW = """
import sys, time
from dialmill.pipelines import build
from dialmill.pipelines.cli.main import main
finish = build._finish_files
def slow(job, folder, counts):
    print("half way", flush=True)
    time.sleep(60)
    return finish(job, folder, counts)
build._finish_files = slow
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return corpus(tmp_path / "in", {f"d{number}": talk(number) for number in range(12)})


def _heeds_interrupts() -> None:
    """Shells start what runs in the background deaf to SIGINT; so would be its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _start(source: Path, out: Path) -> subprocess.Popen[str]:
    """A build in a process of its own, half way."""
    words = [sys.executable, "-c", _SLOW, "build", "splits", "--input", str(source), "--output", str(out), "--overwrite", "--quiet"]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), cwd=ROOT, preexec_fn=_heeds_interrupts
    )
    assert process.stdout is not None and process.stdout.readline() == "half way\n"
    return process


def test_a_killed_run_leaves_nothing_half_written_and_the_next_is_clean(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = _start(source, out)
    process.kill()
    process.communicate()
    assert not out.exists()
    assert call("build", "splits", "--input", source, "--output", out, "--quiet") == (0, "", "")
    plain("splits", [source], tmp_path / "fresh")
    assert hashes(out) == hashes(tmp_path / "fresh")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fresh", "in", "out"]


def test_a_killed_overwrite_keeps_the_former_folder(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plain("splits", [source], out, seed=5)
    before = hashes(out)
    process = _start(source, out)
    process.kill()
    process.communicate()
    assert hashes(out) == before
    assert call("verify", out).code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_cleans_up_and_says_so(number: int, source: Path, tmp_path: Path) -> None:
    process = _start(source, tmp_path / "new/out")
    process.send_signal(number)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 128 + number and said.startswith("dialmill: interrupted; nothing was written")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_an_interrupt_inside_a_stage_is_no_fault(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dialmill.pipelines.stages.perturb.Perturb.process", interrupted)
    result = call("build", "splits", "--input", source, "--output", tmp_path / "new/out", "--quiet")
    assert result.code == 130 and result.err.startswith("dialmill: interrupted; nothing was written")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_two_runs_into_one_folder(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = _start(source, out)
    second = call("build", "splits", "--input", source, "--output", out, "--overwrite")
    assert second.code == 1 and "another run is writing there now" in second.err
    assert process.poll() is None, "the first goes on"
    process.kill()
    process.communicate()


def test_a_run_killed_between_its_two_renames_is_repaired(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    plain("splits", [source], out)
    before = hashes(out)
    out.rename(tmp_path / ".out.dialmill-old")
    (tmp_path / ".out.dialmill-partial").mkdir()
    with pytest.raises(DialmillError, match="exists already"), OutputFolder(str(out), overwrite=False):
        pass
    assert hashes(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_a_folder_is_whole_once_its_manifest_is_there(tmp_path: Path) -> None:
    with OutputFolder(str(tmp_path / "out"), overwrite=False) as folder:
        Path(folder.temporary, "data").write_text("x")
        assert not is_whole(Path(folder.temporary)) and not (tmp_path / "out").exists()
        folder.commit(b'{"dialmill": "0", "benchmark": "splits", "recipe": {}, "inputs": [], "outputs": [], "stages": []}')
    assert is_whole(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failing_run_takes_back_the_folders_it_made(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), OutputFolder(str(tmp_path / "a/b/out"), overwrite=False):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing(source: Path, tmp_path: Path) -> None:
    limit = "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
    script = limit + "from dialmill.pipelines.cli.main import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", script, "build", "splits", "--input", str(source), "--output", str(tmp_path / "out"), "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), cwd=ROOT, check=False)
    assert done.returncode == 1
    assert "File too large" in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in"]


def test_progress_is_shown_while_a_run_lasts(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    from dialmill.pipelines.core import progress

    stream = io.StringIO()
    with progress.Progress(quiet=False, stream=stream) as shown:
        progress.COUNTS["perturbing"] = 1234
        assert "perturbing: 1,234" in shown.line()
        monkeypatch.setenv("COLUMNS", "50")
        progress.COUNTS["checking records"] = 1230
        assert shown.short_line() == "0 s  perturbing: 1,234, checking records: 1,230"
        progress.COUNTS["checking records"] = 1230567
        assert shown.short_line() == "0 s  ..., checking records: 1,230,567", "what doesn't fit is what the run passed first"
        shown.say("warning: x")
    with progress.Progress(quiet=True, stream=stream) as silent:
        silent.say("never")
        time.sleep(0)
    assert stream.getvalue() == "warning: x\n"


def test_a_manifest_that_is_not_ours_protects_its_folder(source: Path, tmp_path: Path) -> None:
    """The file must parse as a manifest of dialmill's: a web extension has a manifest.json too, and one that begins like ours may hold anything."""
    out = tmp_path / "out"
    out.mkdir()
    for content in ('{"dialmill": "1"', '{"dialmill": "1"}', '{"name": "an extension", "version": "1"}', "[]"):
        (out / "manifest.json").write_text(content)
        refused = call("build", "splits", "--input", source, "--output", out, "--overwrite", "--quiet")
        assert refused.code == 1 and "won't replace it" in refused.err
        assert (out / "manifest.json").read_text() == content


def test_a_link_in_place_of_the_lock_is_not_followed(source: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious.txt"
    precious.write_text("years of work")
    (tmp_path / ".out.dialmill-partial.lock").symlink_to(precious)
    refused = call("build", "splits", "--input", source, "--output", tmp_path / "out", "--quiet")
    assert refused.code == 1 and "lock" in refused.err
    assert precious.read_text() == "years of work"
