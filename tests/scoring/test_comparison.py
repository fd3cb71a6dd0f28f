"""Systems by suites in one table: scores, drops, what is best and what is better for more than chance; as text, Markdown, LaTeX and a picture."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks import scores
from dialmill.pipelines.core.scorer import Score, Table
from dialmill.pipelines.scoring import tables

import dialmill as dm
from tests.pipelines.tools import call
from tests.scoring.making import dialogue, own, write_gold, write_lines

SUITES = ("standard", "speech", "typos")
DIALOGUES = 40


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """A gold of three suites, and three systems: one that errs seldom, one that errs often on the noisy suites, and a copy of the first."""
    folder = tmp_path_factory.mktemp("compared")
    states = [{"hotel area": "east"}, {"hotel area": "east", "hotel stars": "4"}]
    made = [dialogue(f"d{number}", states, suite) for suite in SUITES for number in range(DIALOGUES)]
    gold = write_gold(folder, made)
    wrong = {"good_one": {"typos": 8, "speech": 4}, "weak & fast": {"typos": 2, "speech": 2}, "good_copy": {"typos": 8, "speech": 4}}
    paths = []
    for name, often in wrong.items():
        lines = [line for one in made for line in own(one)]
        for line in lines:
            source, suite, _ = line["dialogue_id"].split("/")
            if suite in often and int(source[1:]) % often[suite] == 0:
                line["state"] = []
        paths.append(write_lines(folder / f"{name}.jsonl", lines))
    return gold, paths


def test_scores_drops_and_who_beats_whom(compared: tuple[Path, list[Path]]) -> None:
    gold, paths = compared
    found = dm.score("splits", gold=gold, predictions=paths, suite="all", metrics="jga,slot_f1")
    table = found["comparison"]
    assert table["metrics"] == ["jga", "slot_f1"] and table["suites"] == list(SUITES) and set(table["systems"]) == {path.stem for path in paths}
    cells = table["scores"]["jga"]
    assert cells["good_one"]["typos"]["score"] == pytest.approx(100 * 35 / 40) and cells["weak & fast"]["typos"]["score"] == pytest.approx(50)
    assert cells["good_one"]["typos"]["drop"] == pytest.approx(100 * 5 / 40)
    assert cells["good_one"]["typos"]["low"] < cells["good_one"]["typos"]["drop"] < cells["good_one"]["typos"]["high"]
    assert "drop" not in cells["good_one"]["standard"]
    for suite in SUITES:
        assert cells["good_one"][suite]["best"] and cells["good_copy"][suite]["best"]
        assert cells["weak & fast"][suite]["best"] == (suite == "standard"), "a tie is the best of both"
        assert cells["good_one"][suite]["beats"] == ([] if suite == "standard" else ["weak & fast"])
        assert cells["weak & fast"][suite]["beats"] == []
    pairs = {(one["a"], one["b"]): one for one in table["pairs"]["jga"]["typos"]}
    assert len(pairs) == 3 and all(one["dialogues"] == DIALOGUES for one in pairs.values())
    same = next(one for key, one in pairs.items() if set(key) == {"good_one", "good_copy"})
    assert (same["difference"], same["low"], same["high"]) == (0, 0, 0)
    by = {row["b"]: row for row in pairs.values() if row["a"] == "good_one"} | {row["a"]: row for row in pairs.values() if row["b"] == "good_one"}
    assert abs(by["weak & fast"]["difference"]) == pytest.approx(37.5)


def test_one_table_and_everything_else_by_details(compared: tuple[Path, list[Path]], tmp_path: Path) -> None:
    gold, paths = compared
    words = ("score", "splits", "--gold", gold, "--predictions", *paths, "--suite", "all")
    said = call(*words, "--markdown", tmp_path / "t.md", "--latex", tmp_path / "t.tex")
    assert said.code == 0, said.err
    head = next(line for line in said.out.splitlines() if line.startswith("system"))
    assert head.split() == ["system", *SUITES]
    assert "87.50* >" in said.out and "mean reciprocal rank" not in said.out
    assert call(*words, "--details").out.count("mean reciprocal rank") == 1
    markdown, latex = (tmp_path / "t.md").read_text("utf-8"), (tmp_path / "t.tex").read_text("utf-8")
    assert markdown.count("\n| --- |") == latex.count(r"\begin{tabular}") == 1
    assert re.search(r"\| \*\*87\.50\*\*<sup>[abc]</sup> \(12\.50 \[\d", markdown)
    assert re.search(r"\\textbf\{87\.50\}\\textsuperscript\{[abc]\}", latex) and r"{\scriptsize 12.50 [" in latex
    assert r"weak \& fast" in latex and r"good\_one" in latex and r"95 \%" in latex and r"\toprule" in latex and r"\caption{" in latex


def test_latex_is_well_formed_and_compiles_where_there_is_latex(compared: tuple[Path, list[Path]], tmp_path: Path) -> None:
    gold, paths = compared
    made = scores.latex(dm.score("splits", gold=gold, predictions=paths, suite="all", metrics=["jga", "slot_f1"]), details=True)
    for table in made.split("\n\n"):
        environments = re.findall(r"\\(begin|end)\{([\w*]+)\}", table)
        assert [name for kind, name in environments if kind == "begin"] == [name for kind, name in environments if kind == "end"][::-1]
        columns = len(re.search(r"\\begin\{tabular\}\{([lcr]+)\}", table)[1])  # type: ignore[index]  # there is one
        rows = [line for line in table.splitlines() if line.endswith(r"\\")]
        assert rows and all(len(re.findall(r"(?<!\\)&", row)) == columns - 1 for row in rows)
        assert not re.search(r"[\[ ]-\d", table), "a hyphen is no minus"
        assert not re.search(r"(?<!\\)[%#_]", re.sub(r"\\begin\{tabular\}.*", "", table)), "what LaTeX would take for its own is escaped"
    pdflatex = shutil.which("pdflatex")
    if pdflatex is None:
        pytest.skip("no pdflatex here")
    head = "\\documentclass[twocolumn]{article}\n\\usepackage[utf8]{inputenc}\n\\usepackage{booktabs}\n\\begin{document}\n"
    (tmp_path / "paper.tex").write_text(head + made + "\\end{document}\n", "utf-8")
    done = subprocess.run([pdflatex, "-halt-on-error", "paper.tex"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_metrics_by_name_and_what_there_is_not(compared: tuple[Path, list[Path]]) -> None:
    gold, paths = compared
    words = ("score", "splits", "--gold", gold, "--predictions", *paths, "--suite", "all")
    unknown = call(*words, "--metrics", "jgaa")
    assert unknown.code == 2 and "jgaa" in unknown.err and "slot_f1" in unknown.err
    made = call("score", "raddle", *words[2:], "--metrics", "jga,combined", "--json", "-", "--quiet")
    assert made.code == 0, made.err
    found = json.loads(made.out)
    assert found["comparison"]["metrics"] == ["jga"] and any("combined is left out" in note for note in found["notes"])


def test_one_system_has_its_suites_in_one_table(compared: tuple[Path, list[Path]]) -> None:
    gold, paths = compared
    found = dm.score("splits", gold=gold, predictions=paths[1], suite="all")
    shown = tables.compared(found)
    assert shown is not None and shown.head == ("metric", "system", *SUITES) and len(shown.rows) == len(found["comparison"]["metrics"])
    assert not any(cell["best"] for by in found["comparison"]["scores"].values() for cells in by.values() for cell in cells.values())
    assert tables.compared(dm.score("splits", gold=gold, predictions=paths[1], suite="typos")) is None


def test_the_drops_as_a_picture(compared: tuple[Path, list[Path]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("DISPLAY", raising=False)
    gold, paths = compared
    words = ("score", "splits", "--gold", gold, "--predictions", *paths, "--suite", "all", "--metrics", "jga,slot_f1", "--quiet")
    for name in ("a.svg", "b.svg", "c.png"):
        done = call(*words, "--plot", tmp_path / name)
        assert done.code == 0, done.err
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    texts = [one.text for one in xml.etree.ElementTree.parse(tmp_path / "a.svg").iter("{http://www.w3.org/2000/svg}text")]
    said: list[Any] = [*SUITES[1:], *(path.stem for path in paths), "drop of jga from standard (percent), 95 % interval"]
    assert set(said) <= set(texts) and SUITES[0] not in texts


def test_a_picture_that_can_t_be_drawn_is_refused(compared: tuple[Path, list[Path]], tmp_path: Path) -> None:
    gold, paths = compared
    words = ("score", "splits", "--gold", gold, "--predictions", paths[0])
    assert call(*words, "--plot", tmp_path / "x.pdf").code == 2
    pytest.importorskip("matplotlib")
    one = call(*words, "--suite", "typos", "--plot", tmp_path / "x.svg")
    assert one.code == 2 and "no drops" in one.err and not (tmp_path / "x.svg").exists()


def test_names_of_systems_are_no_markup_of_a_table() -> None:
    name = "a|b\n| c <img src=x onerror=y> [d](javascript:e) `f` *g* \x1b[31m slot_f1 [1, 2]"
    text = tables.markdown(
        {"benchmark": "b", "policy": {}, "notes": [], "versions": {}}, [Table("caption", ("system", "score"), [(name, Score("1.0"))])]
    )
    (row,) = [line for line in text.splitlines() if "javascript" in line]
    assert row.startswith("| a\\|b \\| c \\<img src") and "](" not in row and "\\`f\\` \\*g\\*" in row
    assert "\x1b" not in text and "slot_f1 [1, 2] | 1.0 |" in row
