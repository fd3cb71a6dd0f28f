"""No function of the package is too long to be read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.pipelines.tools import ROOT

#: Lines of a function, its docstring and comments included.
LONGEST = 60
#: Those that are longer, and what keeps them together.
LONGER = {
    ("perturbers/rewording/composer/chinese_reading.py", "_content"): "what a turn says, one rule after the other over the same dozen names",
    ("perturbers/rewording/composer/english_plan.py", "_recovered"): "what no act says, one kind after the other",
    ("pipelines/disentangle/features.py", "_pair_columns"): "the columns of the link model, one a line",
    ("pipelines/disentangle/features.py", "pair_features"): "the features of the link model, one a line",
    ("pipelines/disentangle/threads.py", "thread_features"): "the features of the second pass, one a line",
}


def long_functions() -> Iterator[tuple[str, str]]:
    """(file, function) of every function that is longer."""
    for root in ("src", "schemas", "perturbers", "pipelines"):
        for path in sorted((ROOT / root).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno >= LONGEST:
                    yield path.relative_to(ROOT).as_posix(), node.name


def test_no_function_is_longer_than_one_reads_at_once() -> None:
    """A new one is cut, not listed."""
    assert set(long_functions()) <= set(LONGER)
