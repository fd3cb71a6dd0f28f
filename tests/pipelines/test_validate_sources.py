"""`dialmill validate` on the files of every source: a schema of its own, or how much the source reads; many paths, patterns and zips at once."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from dialmill.pipelines.sources import registry

from .tools import DATA, call

#: Sources whose files are read by others, or that have no corpus in data/.
_WITHOUT_DATA = {"dialmill"}
#: Sources whose files a benchmark's schema is for.
_ANOTHER_SCHEMA = {"fed": "fed-ratings"}


@pytest.mark.parametrize("name", sorted(set(registry.names()) - _WITHOUT_DATA))
def test_every_source_validates_or_says_that_it_has_no_schema(name: str) -> None:
    result = call("validate", DATA / name)
    assert result.code == 0, result.err
    beside = ("side file", "not checked", "nothing here")
    dialogues = [line for line in result.out.splitlines() if not any(word in line for word in beside)]
    assert dialogues
    for line in dialogues:
        own = f"({name})" in line or f"({_ANOTHER_SCHEMA.get(name)})" in line or any(f"({kind.schema})" in line for kind in registry.get(name).kinds)
        assert own, f"{line}: a file of {name} is told as one"
        assert " records are valid" in line or ("no schema for this source" in line and " 0 records" not in line)


def test_one_layout_of_two_corpora_is_told_apart() -> None:
    schema_guided = call("validate", DATA / "sgd/dev/dialogues_001.json")
    multiwoz = call("validate", DATA / "multiwoz22/dev/dialogues_001.json")
    assert schema_guided.out.rstrip().endswith("(sgd)") and multiwoz.out.rstrip().endswith("(multiwoz22)")


def test_many_paths_and_patterns(tmp_path: Path) -> None:
    result = call("validate", DATA / "sgd/*/dialogues_*.json", DATA / "clinc", DATA / "ecd/test.txt", "--json", tmp_path / "found.json", "--quiet")
    assert result.code == 0 and result.out == ""
    checked = json.loads((tmp_path / "found.json").read_text("utf-8"))["checked"]
    assert len(checked) == 5 and sum("(sgd)" in line for line in checked) == 3
    missed = call("validate", DATA / "sgd/*/nothing_*.json")
    assert missed.code == 1 and "matches no file" in missed.err


def test_a_fault_in_one_of_many_counts(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('[{"dialogue_id": "1", "services": ["A_1"], "turns": [{"speaker": "me", "utterance": "", "frames": []}]}]')
    result = call("validate", DATA / "clinc", tmp_path / "bad.json")
    assert result.code == 1 and "bad.json" in result.err and "speaker" in result.err


def test_what_a_source_cannot_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "test.txt").write_text("0\t你好\t在的\n0\t你好\t好的\n", "utf-8")
    result = call("validate", tmp_path / "test.txt")
    assert result.code == 1 and "no_right_response" in result.err


def test_the_files_of_a_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.write(DATA / "convlab/dialogues.json", "data/dialogues.json")
        archive.writestr("data/ontology.json", json.dumps({"domains": {"hotel": {"slots": {"area": {"is_categorical": True}}}}}))
        archive.writestr("data/rows.json", "[1]")
    result = call("validate", tmp_path / "data.zip")
    assert result.code == 0, result.err
    assert "data.zip!data/dialogues.json: " in result.out and "(convlab)" in result.out and "rows.json: not checked" in result.out
    shutil.copy(DATA / "clinc/data_full.json", tmp_path)
    both = call("validate", tmp_path)
    assert both.code == 0 and "(convlab)" in both.out and "(clinc)" in both.out


def test_the_goals_of_multiwoz_are_no_file_of_another_corpus(tmp_path: Path) -> None:
    (tmp_path / "goal_of_each_dials.json").write_text('{"mul0005.json": {"hotel": {"info": {"area": "west"}}}}')
    result = call("validate", tmp_path / "goal_of_each_dials.json")
    assert "dialogue_data" not in result.out + result.err and "multiwoz21" in result.out + result.err
