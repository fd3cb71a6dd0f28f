"""Archives that would fill the memory are refused by the sizes that they state."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from dialmill.schemas import archives

from tests.pipelines.tools import call


@pytest.fixture
def bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A zip of a few kilobytes that states some megabytes, over a limit lowered for the test."""
    monkeypatch.setenv(archives.VARIABLE, "1M")
    path = tmp_path / "data.json.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.json", '{"a": "' + " " * (4 << 20) + '"}')
    return path


def test_a_bomb_is_refused_before_it_is_unpacked(bomb: Path, tmp_path: Path) -> None:
    said = call("build", "splits", "--input", bomb, "--output", tmp_path / "out")
    assert said.code == 1 and "data.json" in said.err and "--max-unpacked" in said.err and "to 1" in said.err
    assert not (tmp_path / "out").exists()
    checked = call("validate", bomb)
    assert checked.code == 1 and "more than a corpus can have" in checked.err + checked.out


def test_the_limit_can_be_raised(bomb: Path, tmp_path: Path) -> None:
    said = call("build", "splits", "--input", bomb, "--output", tmp_path / "out", "--max-unpacked", "8M")
    assert "more than a corpus can have" not in said.err
    wrong = call("build", "splits", "--input", bomb, "--output", tmp_path / "out", "--max-unpacked", "lots")
    assert wrong.code == 2 and "is no size" in wrong.err


def test_what_is_packed_as_text_is_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(archives.VARIABLE, "1K")
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("data.json", "x" * 100_000)
    with zipfile.ZipFile(path) as archive:
        assert archives.too_large(archive.infolist()[0]) is None


@pytest.mark.parametrize(("text", "size"), [("7", 7), ("2G", 2 << 30), ("1.5 M", 3 << 19), ("10kB", 10 << 10), ("1TiB", 1 << 40)])
def test_sizes_as_people_write_them(text: str, size: int) -> None:
    assert archives.size_of(text) == size
