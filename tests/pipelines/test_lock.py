"""What somebody else may have laid at the names that a run takes beside its output: in a shared folder these can be foretold."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.sinks.folder import OutputFolder

LOCK, PARTIAL, OLD = (f".out.dialmill-{name}" for name in ("partial.lock", "partial", "old"))


def _write(folder: Path, overwrite: bool = False) -> None:
    with OutputFolder(str(folder / "out"), overwrite) as output:
        Path(output.temporary, "x").write_text("1")
        output.commit(b"{}")


def _folder(path: Path) -> Path:
    path.mkdir()
    (path / "keep").write_text("k")
    return path


@pytest.mark.parametrize(
    ("name", "lay"),
    [
        (LOCK, lambda at, victim: at.symlink_to(victim)),
        (LOCK, lambda at, victim: at.symlink_to(victim.with_name("nowhere"))),
        (LOCK, lambda at, victim: at.symlink_to("/dev/null")),
        (LOCK, lambda at, victim: os.mkfifo(at)),
        (LOCK, lambda at, victim: at.mkdir()),
        (OLD, lambda at, victim: at.symlink_to(_folder(victim.with_name("other")))),
        (OLD, lambda at, victim: _folder(at)),
        (OLD, lambda at, victim: at.write_text("k")),
    ],
    ids=["link", "dangling", "device", "pipe", "folder", "old link", "old folder", "old file"],
)
@pytest.mark.parametrize("there", [False, True])
def test_what_is_in_the_way_is_named_and_left_alone(tmp_path: Path, name: str, lay: Callable[[Path, Path], object], there: bool) -> None:
    victim, shared = tmp_path / "victim", tmp_path / "shared"
    victim.write_text("precious")
    shared.mkdir()
    if there:
        (shared / "out").mkdir()
    lay(shared / name, victim)
    with pytest.raises(DialmillError, match=name.replace(".", r"\.")):
        _write(shared)
    assert victim.read_text() == "precious" and os.path.lexists(shared / name)
    assert {path.name for path in shared.iterdir()} == {name, *(["out"] if there else [])}
    assert not (tmp_path / "nowhere").exists() and (not (tmp_path / "other").exists() or (tmp_path / "other/keep").exists())


@pytest.mark.parametrize(
    ("name", "lay"),
    [
        (LOCK, lambda at, victim: os.link(victim, at)),
        (PARTIAL, lambda at, victim: at.symlink_to(_folder(victim.with_name("other")))),
        (PARTIAL, lambda at, victim: at.write_text("x")),
        (OLD, lambda at, victim: at.mkdir()),
    ],
    ids=["hard link", "partial link", "partial file", "empty old"],
)
def test_what_can_be_put_aside_takes_nothing_else_with_it(tmp_path: Path, name: str, lay: Callable[[Path, Path], object]) -> None:
    victim, shared = tmp_path / "victim", tmp_path / "shared"
    victim.write_text("precious")
    shared.mkdir()
    lay(shared / name, victim)
    _write(shared)
    assert victim.read_text() == "precious" and [path.name for path in shared.iterdir()] == ["out"]
    assert not (tmp_path / "other").exists() or (tmp_path / "other/keep").read_text() == "k"
