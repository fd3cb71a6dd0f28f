"""What an input, a folder or a name of somebody else's can't do."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest
from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.speech.engines import augment
from dialmill.pipelines.core.terminal import printable
from dialmill.schemas.flow import load_yaml

from tests.pipelines.tools import DATA, call

#: A window's title, a cleared screen, the same by C1 controls, and marks of direction.
ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\x9d0;x\x9c\u202e\u2066\u061c"
FORBIDDEN = set(ESCAPE) - set("0;owned[2J31mx]")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("doors") / "out"
    assert call("build", "splits", "--input", DATA / "multiwoz21", "--output", folder, "--quiet").code == 0
    return folder


@pytest.fixture
def built(once: Path, tmp_path: Path) -> Path:
    """A folder of a build, to be spoilt."""
    shutil.copytree(once, tmp_path / "out")
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
            assert not set(stream) & FORBIDDEN, stream


def test_escapes_in_names_and_manifests_do_not_reach_the_terminal_either(built: Path, tmp_path: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text("utf-8"))
    manifest["warnings"].append(ESCAPE)
    manifest["inputs"][0]["path"] += ESCAPE
    (built / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    named = tmp_path / f"in{ESCAPE}.jsonl"
    shutil.copy(built / "dialogues/standard/test.jsonl", named)
    called = [
        call("report", built),
        call("verify", built),
        call("export", built, "--to", "messages", "--output", tmp_path / f"export{ESCAPE}"),
        call("perturb", "--input", named, "--with", "typos", "--output", tmp_path / f"out{ESCAPE}"),
        call("perturb", "--input", named, "--with", f"typos:rate={ESCAPE}", "--output", tmp_path / "o"),
        call("show", tmp_path / f"out{ESCAPE}", "--random", 1, "--json", "-"),
        call("list", "perturbers", ESCAPE),
        call("validate", named, "--json", "-"),
    ]
    assert [one.code for one in called] == [0, 0, 0, 0, 2, 0, 2, 0], called
    for said in called:
        for stream in (said.out, said.err):
            assert not set(stream) & FORBIDDEN, stream
    assert json.loads(called[5].out)["dialogues"], "escaped JSON is JSON"


@pytest.mark.parametrize("suite", ["../../elsewhere", "a/b", "/tmp/x", ""])
def test_a_suite_can_not_lead_out_either(built: Path, tmp_path: Path, suite: str) -> None:
    manifest = json.loads((built / "manifest.json").read_text("utf-8"))
    manifest["recipe"]["suites"] = [suite]
    (built / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    said = call("export", built, "--to", "messages", "--output", tmp_path / "e")
    assert said.code == 1 and "no manifest.json of dialmill's" in said.err and not (tmp_path / "e").exists()
    said = call("build", "splits", "--input", DATA / "multiwoz21", "--output", built, "--overwrite", "--quiet")
    assert said.code != 0 and (built / "dialogues").is_dir()
    for command in (("score", "splits", "--gold", built, "--predictions", built / "manifest.json"), ("show", built, "--random", 1)):
        assert call(*command, "--suite", "../../elsewhere").code in (1, 2)


def rejected(folder: Path) -> str:
    """All that a run rejected."""
    return "".join(path.read_text("utf-8") for path in sorted((folder / "rejects").glob("*.jsonl")))


def test_no_command_takes_one_of_two_equal_keys(built: Path, tmp_path: Path) -> None:
    """Which of the two is meant nobody can say; parsers take the last one silently."""
    lines = (built / "dialogues/standard/test.jsonl").read_text("utf-8").splitlines()
    twice = tmp_path / "twice.jsonl"
    twice.write_text("\n".join([lines[0].replace('"language":"en"', '"language":"en","language":"zh"', 1), *lines[1:]]), "utf-8")
    said = call("perturb", "--input", twice, "--with", "typos", "--output", tmp_path / "noisy")
    assert "repeated_key" in rejected(tmp_path / "noisy"), said
    assert "'language' twice" in call("validate", twice).err
    corpus = json.loads((DATA / "multiwoz21/data.json").read_text("utf-8"))
    text = json.dumps(corpus, indent=1)
    (tmp_path / "mw").mkdir()
    (tmp_path / "mw/data.json").write_text(text.replace('"text": ', '"text": "other", "text": ', 1), "utf-8")
    call("build", "splits", "--input", tmp_path / "mw", "--output", tmp_path / "read", "--quiet")
    assert "holds the key 'text' twice" in rejected(tmp_path / "read")
    predicted = tmp_path / "predicted.jsonl"
    assert call("predict-baseline", "splits", "--gold", built, "--output", predicted, "--quiet").code == 0
    predicted.write_text(predicted.read_text("utf-8").replace('"turn":', '"turn":0,"turn":', 1), "utf-8")
    said = call("score", "splits", "--gold", built, "--predictions", predicted)
    assert said.code == 1 and "'turn' twice" in said.err
    scores = tmp_path / "scores.json"
    scores.write_text('{"benchmark": "a", "benchmark": "b"}', "utf-8")
    assert call("report", built, "--scores", scores).code == 1
    manifest = (built / "manifest.json").read_text("utf-8")
    (built / "manifest.json").write_text(manifest.replace('"benchmark"', '"benchmark": "x", "benchmark"', 1), "utf-8")
    for command in (
        ("verify", built),
        ("report", built),
        ("export", built, "--to", "messages", "--output", tmp_path / "e"),
        ("build", "splits", "--input", DATA / "multiwoz21", "--output", built, "--overwrite"),
    ):
        assert call(*command).code == 1, command


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


@pytest.mark.parametrize("where", ["augment", "rasa", "recipe"])
@pytest.mark.parametrize("bomb", ["aliases", "depth"])
def test_bombs_end_in_a_refusal(where: str, bomb: str, tmp_path: Path) -> None:
    chain = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{one}: &{one} [{','.join([f'*{before}'] * 9)}]\n" for before, one in zip("abcdefghi", "bcdefghij", strict=True)
    )
    text = chain if bomb == "aliases" else "a: " + "[" * 20_000
    path = tmp_path / ("nlu.yml" if where == "rasa" else "bomb.yaml")
    path.write_text(('version: "3.1"\n' if where == "rasa" else "") + text, "utf-8")
    took = time.monotonic()
    if where == "augment":
        with pytest.raises(OptionError, match="is not YAML"):
            augment.load(str(path))
    else:
        given = ["--recipe", path, "--input", DATA / "multiwoz21"] if where == "recipe" else ["--input", path, "--format", "rasa"]
        said = call("build", "splits", *given, "--output", tmp_path / "o")
        assert said.code in (1, 2) and "YAML" in said.err and "fault of dialmill" not in said.err, said
    assert time.monotonic() - took < 20


def test_a_key_that_stands_twice_in_a_recipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.yaml").write_text("suites: [standard]\nsuites: [typos]\n", "utf-8")
    said = call("build", "splits", "--input", DATA / "multiwoz21", "--output", tmp_path / "o", "--recipe", tmp_path / "r.yaml")
    assert said.code == 2 and "occurs twice" in said.err
