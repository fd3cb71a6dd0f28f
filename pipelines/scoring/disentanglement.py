"""`dialmill score disentanglement`: predicted reply links against annotated ones, with the metrics of Kummerfeld et al. (ACL 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.scorer import Settings
from dialmill.pipelines.disentangle.logs import log_name, read_links
from dialmill.pipelines.scoring.tables import tables

__all__ = ["link_files", "score", "score_files", "tables", "text"]

_ENDING = ".annotation.txt"
_COUNTS = ("messages", "gold_links", "predicted_links", "matched_links", "gold_conversations", "predicted_conversations", "matched_conversations")


#: How the metrics count, for the score file.
POLICY = {
    "singletons": "conversations of one message don't count for exact match, as in the published one; where neither side has others it is 100",
    "ari": "0 where one side puts all messages into one conversation and the other doesn't: that is what chance gives",
}


def link_files(folder: str) -> dict[str, Path]:
    """The annotations below a folder (or one annotation) by the name of their log.

    Raises:
        InputError: none, or two of one name.
    """
    root = Path(folder)
    if not root.exists():
        raise InputError(folder, "does not exist", "check the path")
    found: dict[str, Path] = {}
    for path in [root] if root.is_file() else sorted(root.rglob(f"*{_ENDING}")):
        name = log_name(path)
        if name in found:
            raise InputError(folder, f"holds two annotations of {name}: {found[name]} and {path}", "name the folder with one of them")
        found[name] = path
    if not found:
        raise InputError(folder, f"holds no NAME{_ENDING}", "expected are reply links as `dialmill disentangle` writes them")
    return found


def score_files(settings: Settings, predictions: Sequence[str], suite: str | None) -> dict[str, Any]:
    """The score file of one folder of predicted links."""
    if not predictions:
        raise UsageError("score disentanglement needs --predictions")
    if len(predictions) > 1:
        raise UsageError(f"score disentanglement takes 1 --predictions, not {len(predictions)}")
    return score(settings.gold, predictions[0])


def score(gold: str, predictions: str) -> dict[str, Any]:
    """The scores of a folder of predicted links, in percent.

    Raises:
        DialmillError: a folder without annotations, a damaged one, or files that only one side has.
    """
    from dialmill.pipelines.disentangle.metrics import score as measure

    right = {name: read_links(path) for name, path in link_files(gold).items()}
    guessed = {name: read_links(path) for name, path in link_files(predictions).items()}
    scores = measure(right, guessed).as_dict()
    counts = {name: int(scores.pop(name)) for name in _COUNTS}
    versions = {package: metadata.version(package) for package in ("numpy", "scipy")}
    return {
        "benchmark": "disentanglement",
        "suite": None,
        "metrics": scores,
        "versions": versions,
        "counts": counts | {"files": len(right)},
        "policy": POLICY,
    }


def text(scores: dict[str, Any]) -> str:
    """The scores for people, named as in the paper's tables."""
    metrics, counts = scores["metrics"], scores["counts"]
    lines = [
        f"links           P {metrics['link_precision']:6.2f}  R {metrics['link_recall']:6.2f}  F {metrics['link_f']:6.2f}",
        f"conversations   VI {metrics['vi']:6.2f}  1-1 {metrics['one_to_one']:6.2f}  ARI {metrics['ari']:6.2f}"
        f"  Shen F {metrics['shen_f']:6.2f}  local-3 {metrics['local_3']:6.2f}",
        f"exact match     P {metrics['exact_precision']:6.2f}  R {metrics['exact_recall']:6.2f}  F {metrics['exact_f']:6.2f}",
        f"{counts['files']} files, {counts['messages']:,} messages, {counts['gold_links']:,} gold and {counts['predicted_links']:,} predicted links",
    ]
    return "\n".join(lines)
