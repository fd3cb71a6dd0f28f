"""Archives that would fill the memory are refused by the sizes that they state."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest
from dialmill.pipelines.benchmarks.noesis import manuals
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.disentangle.model import LinkModel
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


def _gzip_of_two(large: int) -> bytes:
    """A gzip file whose last member, which alone states its size, is small."""
    return gzip.compress(b" " * large) + gzip.compress(b"x")


def test_gzip_of_several_members_is_unpacked_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert archives.gunzip(_gzip_of_two(3 << 20)) == b" " * (3 << 20) + b"x"
    assert archives.gunzip(gzip.compress(b"page") + bytes(512)) == b"page"
    monkeypatch.setenv(archives.VARIABLE, "1M")
    with pytest.raises(ValueError, match="more than a corpus can have"):
        archives.gunzip(_gzip_of_two(3 << 20))
    with pytest.raises(ValueError, match="is damaged"):
        archives.gunzip(gzip.compress(b"page")[:-9])
    with pytest.raises(ValueError, match="is damaged"):
        archives.gunzip(b"no gzip")


def test_a_page_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(archives.VARIABLE, "1M")
    with pytest.raises(InputError, match=r"ls\.1\.gz: unpacks to more than 1,048,576 bytes.*--max-unpacked"):
        manuals.read("man1/ls.1.gz", _gzip_of_two(3 << 20))


def test_a_link_model_that_would_fill_the_memory_is_refused(bomb: Path) -> None:
    with pytest.raises(InputError, match="more than a corpus can have"):
        LinkModel.load(bomb)


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "xz", "tar"])
@pytest.mark.parametrize("around", ["named", "folder", "zip"])
def test_other_archives_are_named_and_what_to_do(kind: str, around: str, tmp_path: Path) -> None:
    line = b'{"id": "d1", "turns": [{"speaker": "user", "text": "I need a hotel"}]}\n'
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        member = tarfile.TarInfo("calls.jsonl")
        member.size = len(line)
        archive.addfile(member, io.BytesIO(line))
    data = {"gzip": gzip.compress(line), "bzip2": bz2.compress(line), "xz": lzma.compress(line), "tar": stream.getvalue()}[kind]
    name = {"gzip": "calls.jsonl.gz", "bzip2": "calls.jsonl.bz2", "xz": "calls.jsonl.xz", "tar": "calls.tar"}[kind]
    path = tmp_path / "in" / name
    path.parent.mkdir()
    path.write_bytes(data)
    given = {"named": path, "folder": path.parent, "zip": tmp_path / "in.zip"}[around]
    if around == "zip":
        with zipfile.ZipFile(given, "w") as outer:
            outer.write(path, path.name)
    said = call("build", "splits", "--input", given, "--output", tmp_path / "out")
    assert said.code == 1 and name in said.err and "unpack it first" in said.err
    assert around != "named" or f"is packed as {kind}" in said.err


def test_a_zip_within_a_zip_is_named(tmp_path: Path) -> None:
    inner = tmp_path / "inner.zip"
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("calls.jsonl", '{"id": "d1", "turns": []}')
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as archive:
        archive.write(inner, inner.name)
    said = call("build", "splits", "--input", tmp_path / "outer.zip", "--output", tmp_path / "out")
    assert said.code == 1 and "inner.zip" in said.err and "unpack it first" in said.err
