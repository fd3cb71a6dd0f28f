"""Notebooks without Jupyter: cells are run one after the other in one namespace.

python -m tests.notebook examples/noisy_suite.ipynb     # runs it in a new folder and writes what its cells show into it
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any


def run_cell(source: str, names: dict[str, Any]) -> str:
    """What a cell prints, with the value of its last expression behind it where that is none of None."""
    said = io.StringIO()
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if isinstance(last, ast.Expr) else None
    return said.getvalue() + (repr(value) if value is not None else "")


def write(path: Path) -> None:
    """Runs a notebook and writes its outputs."""
    notebook = json.loads(path.read_text("utf-8"))
    names: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for number, cell in enumerate((one for one in notebook["cells"] if one["cell_type"] == "code"), 1):
            said = run_cell("".join(cell["source"]), names)
            cell["execution_count"] = number
            lines = said.splitlines(keepends=True)
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": lines}] if said.strip() else []
        os.chdir(path.parent)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]).resolve())
