"""What `dialmill verify` asks of the release of CGoDial's flow-based dialogues: lists of splits, and intents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dialmill.pipelines.benchmarks.cgodial.checks import found, listed, load
from dialmill.pipelines.core.checked import Checked
from dialmill.schemas.flow import REJECTED


def check_release(root: Path) -> Checked:
    """Flow-based dialogues: lists of splits, and intents."""
    return found("release: every dialogue of a flow is in one split, and int2act.json has its intents", _flow_faults(root))


def _flow_faults(root: Path) -> Iterator[str]:
    for folder in sorted(path.parent for path in (root / "release" / "data").glob("*/int2act.json")):
        actions = load(folder / "int2act.json")
        dialogues: dict[str, Any] = {}
        for path in sorted(folder.glob("*.jsonasr.json")):
            dialogues |= load(path)
        yield from listed(root, {split: folder / f"{split}_ids.json" for split in ("train", "dev", "test")}, dialogues)
        for name, turns in dialogues.items():
            for at, turn in enumerate(turns):
                intent = turn.get("usr_intent")
                if intent not in (None, REJECTED) and intent not in actions:
                    yield f"{folder.relative_to(root)}: {name}, turn {at}: int2act.json has no intent {intent!r}"
