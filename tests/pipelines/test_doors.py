"""What an input, a folder or a name of somebody else's can't do."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from dialmill.pipelines.cli.terminal import printable
from dialmill.schemas.flow import load_yaml

from tests.pipelines.tools import DATA, call

ESCAPE = "\x1b]0;owned\x07\x1b[2J\u202e"


@pytest.fixture
def built(tmp_path: Path) -> Path:
    assert call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--quiet").code == 0
    return tmp_path / "out"


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "dialogues/../../x", "C:\\\\x", ""])
@pytest.mark.parametrize("command", ["verify", "report"])
def test_a_manifest_can_not_lead_out_of_its_folder(built: Path, path: str, command: str) -> None:
    manifest = json.loads((built / "manifest.json").read_text("utf-8"))
    manifest["outputs"].append({"path": path, "sha256": "0" * 64, "bytes": 1, "records": None, "schema": None})
    (built / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    said = call(command, built)
    assert said.code == 1 and ("leads out of" in said.err or "path" in said.err), said


def test_escapes_of_others_do_not_reach_the_terminal(built: Path, tmp_path: Path) -> None:
    path = built / "dialogues/standard/test.jsonl"
    record = json.loads(path.read_text("utf-8").splitlines()[0])
    record["source_id"] = f"evil{ESCAPE}"
    record["dialogue_id"] = f"evil{ESCAPE}/standard/0"
    record["turns"][0]["utterance"] += ESCAPE
    path.write_text(json.dumps(record, ensure_ascii=False) + "\n", "utf-8")
    shown = call("show", built, "--id", f"evil{ESCAPE}")
    assert shown.code == 0 and "evil" in shown.out
    bad = tmp_path / f"x{ESCAPE}.jsonl".replace("/", "")
    bad.write_text('{"turns": 1}\n' + json.dumps({"turns": [ESCAPE]}) + "\n", "utf-8")
    for said in (shown, call("validate", bad), call("build", "splits", "--input", f"gone{ESCAPE}", "--output", tmp_path / "o")):
        for stream in (said.out, said.err):
            assert not set(stream) & {"\x1b", "\x07", "\u202e"}, stream


def test_pictures_keep_the_length() -> None:
    text = "".join(map(chr, range(0x100))) + "\u202e"
    assert len(printable(text)) == len(text) and "\n" in printable(text)
    assert all(char.isprintable() or char in "\n\t\xa0\xad" for char in printable(text))


def test_aliases_can_not_blow_a_file_up() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{one}: &{one} [{','.join([f'*{before}'] * 9)}]\n" for before, one in zip("abcdefghi", "bcdefghij", strict=True)
    )
    began = time.monotonic()
    with pytest.raises(ValueError, match="aliases stand for more than"):
        load_yaml(bomb.encode())
    with pytest.raises(ValueError, match="inside the node that it refers to"):
        load_yaml(b"a: &a [1, *a]")
    assert time.monotonic() - began < 5
    assert load_yaml(b"a: &a [1, 2]\nb: *a\n") == {"a": [1, 2], "b": [1, 2]}


def test_a_key_that_stands_twice_in_a_recipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("suites: [standard]\nsuites: [typos]\n", "utf-8")
    said = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "o", "--recipe", tmp_path / "r.yaml")
    assert said.code == 2 and "occurs twice" in said.err
