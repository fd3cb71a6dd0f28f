"""Output folders that were damaged since, or whose manifest is nobody's: every command that reads one names the file and the line."""

from __future__ import annotations

import copy
import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.tools import DATA, Result, call

TEST = "dialogues/standard/test.jsonl"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged") / "out"
    assert call("build", "splits", "--input", DATA / "multiwoz21", "--output", folder, "--quiet").code == 0
    assert call("predict-baseline", "splits", "--gold", folder, "--output", folder.parent / "p.jsonl", "--quiet").code == 0
    return folder


@pytest.fixture
def built(once: Path, tmp_path: Path) -> Path:
    shutil.copytree(once, tmp_path / "out")
    return tmp_path / "out"


def _line(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """The second line of a file changed."""

    def changed(data: bytes) -> bytes:
        lines = data.split(b"\n")
        return b"\n".join([lines[0], change(lines[1]), *lines[2:]])

    return changed


def _twice(line: bytes) -> bytes:
    return line.replace(b'"language":"en"', b'"language":"en","language":"zh"', 1)


#: What happened to a file -> (how, the line that is named).
DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut off": (lambda data: data[: len(data) // 2], "line "),
    "compressed": (lambda data: gzip.compress(data)[:-20], "line 1 "),
    "NUL": (_line(lambda line: line[:50] + b"\0\0\0" + line[53:]), "line 2 "),
    "no UTF-8": (_line(lambda line: line.replace(b"the", b"\xff\xfe", 1)), "line 2 "),
    "another shape": (_line(lambda _: b'{"dialogue_id": 3}'), "line 2 "),
    "no object": (_line(lambda _: b"[1,2]"), "line 2 "),
    "deep": (_line(lambda _: b"[" * 100_000), "line 2 "),
    "a key twice": (_line(_twice), "line 2 "),
}


def _commands(folder: Path, once: Path, tmp_path: Path) -> dict[str, tuple[object, ...]]:
    return {
        "export": ("export", folder, "--to", "messages", "--output", tmp_path / "e"),
        "show": ("show", folder, "--random", 100),
        "score": ("score", "splits", "--gold", folder, "--predictions", once.parent / "p.jsonl", "--samples", 10),
        "predict-baseline": ("predict-baseline", "splits", "--gold", folder, "--output", tmp_path / "p.jsonl"),
        "report": ("report", folder),
        "verify": ("verify", folder),
    }


def _is_plain(said: Result) -> bool:
    return said.code in (0, 1) and "fault of dialmill" not in said.err and "Traceback" not in said.err


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_named_with_its_line(built: Path, once: Path, tmp_path: Path, damage: str) -> None:
    spoil, where = DAMAGES[damage]
    (built / TEST).write_bytes(spoil((built / TEST).read_bytes()))
    for name, command in _commands(built, once, tmp_path).items():
        said = call(*command)
        assert _is_plain(said), (name, said)
        if name == "report" and said.code == 0:
            continue  # of long files it reads the beginning
        assert said.code == 1 and TEST in said.out + said.err, (name, said)
        assert name == "verify" or where in said.err, (name, said)
    assert not (tmp_path / "e").exists()


def test_what_is_gone_or_shorter_is_not_exported_as_if_it_were_all(built: Path, tmp_path: Path) -> None:
    lines = (built / TEST).read_bytes().splitlines(keepends=True)
    (built / TEST).write_bytes(b"".join(lines[:-1]))
    said = call("export", built, "--to", "messages", "--output", tmp_path / "e")
    assert said.code == 1 and f"{TEST}: is not the file that was written" in said.err
    (built / TEST).unlink()
    said = call("export", built, "--to", "messages", "--output", tmp_path / "e")
    assert said.code == 1 and f"{TEST}: is in the manifest but not in the folder" in said.err


def _manifests(made: dict[str, Any]) -> list[dict[str, Any]]:
    """A manifest with a member gone, of another type, or with something strange in a list."""
    found = []
    for key in made:
        for value in (None, [], {}, "x", 5, [5], [None], {"a": 5}):
            found.append({**made, key: value})
        found.append({name: value for name, value in made.items() if name != key})
    for key in ("outputs", "inputs", "stages"):
        for field in made[key][0]:
            for value in (None, [], "x", -5, {}, 10**300):
                changed = copy.deepcopy(made)
                changed[key][0][field] = value
                found.append(changed)
    for value in (None, [], "x", [5], ["../x"], ["nul\0"], ["/"], {"a": 1}):
        found.append({**made, "recipe": {**made["recipe"], "suites": value}})
    return found


@pytest.mark.parametrize("part", range(8))
def test_no_manifest_is_a_fault_of_dialmill(built: Path, once: Path, tmp_path: Path, part: int) -> None:
    made = json.loads((built / "manifest.json").read_bytes())
    commands = _commands(built, once, tmp_path)
    for at, manifest in enumerate(_manifests(made)[part::24]):
        name = ("export", "report", "verify")[(at + part) % 3]
        (built / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        shutil.rmtree(tmp_path / "e", ignore_errors=True)
        said = call(*commands[name])
        assert _is_plain(said), (name, said, {key: str(manifest.get(key))[:50] for key in made if manifest.get(key) != made[key]})
