"""`dialmill score disentanglement`: predicted reply links against annotated ones, with the metrics of Kummerfeld et al. (ACL 2019).

Either side is a folder of NAME.annotation.txt, one of these, or a file for many logs in one of upstream's forms: graphs (`NAME:A B -`) or clusters
(`NAME:A B C`), which give no links, so that the metrics of links are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.core.scorer import Settings
from dialmill.pipelines.disentangle.logs import log_name, read_gathered, read_links, split_lines
from dialmill.pipelines.scoring.tables import tables

__all__ = ["Side", "read_side", "score", "score_files", "tables", "text"]

_ENDING = ".annotation.txt"
_COUNTS = ("messages", "gold_links", "predicted_links", "matched_links", "gold_conversations", "predicted_conversations", "matched_conversations")


#: How the metrics count, for the score file.
POLICY = {
    "singletons": "conversations of one message don't count for exact match, as in the published one; where neither side has others it is 100",
    "ari": "0 where one side puts all messages into one conversation and the other doesn't: that is what chance gives",
}


#: Metrics and counts of links, which a file of conversations can't tell.
_OF_LINKS = ("link_precision", "link_recall", "link_f", "gold_links", "predicted_links", "matched_links")


class Side(NamedTuple):
    """The links of each log, by its name, and whether there are conversations alone and no links."""

    links: dict[str, list[tuple[int, int]]]
    conversations: bool = False


def read_side(path: str) -> Side:
    """The links below a folder, or of one file.

    Raises:
        InputError: none, two annotations of one name, or a damaged file.
    """
    root = Path(path)
    if not root.exists():
        raise InputError(path, "does not exist", "check the path")
    if root.is_file() and any(":" in line for line in split_lines(root.read_bytes())[:20] if not line.startswith("#")):
        return Side(*read_gathered(path, root.read_bytes()))
    found: dict[str, Path] = {}
    for file in [root] if root.is_file() else sorted(root.rglob(f"*{_ENDING}")):
        name = log_name(file)
        if name in found:
            raise InputError(path, f"holds two annotations of {name}: {found[name]} and {file}", "name the folder with one of them")
        found[name] = file
    if found:
        return Side({name: read_links(file) for name, file in found.items()})
    for ending in (".graphs.txt", ".clusters.txt"):
        gathered = sorted(root.glob(f"*{ending}"))
        if len(gathered) == 1:
            return Side(*read_gathered(str(gathered[0]), gathered[0].read_bytes()))
    more = "expected are reply links as `dialmill disentangle` writes them, or one file in upstream's form (NAME:A B -)"
    raise InputError(path, f"holds no NAME{_ENDING}", more)


def _like(names: Iterable[str], others: Set[str]) -> dict[str, str]:
    """What names are called on the other side: the release calls a log DATE.train-a, and DATE in its files for many logs."""
    found = {}
    for name in names:
        longer = [other for other in others if other.startswith(f"{name}.")]
        found[name] = longer[0] if name not in others and len(longer) == 1 else name
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

    right, guessed = read_side(gold), read_side(predictions)
    called = _like(right.links, guessed.links.keys())
    truth = {called[name]: links for name, links in right.links.items()}
    called = _like(guessed.links, truth.keys())
    scores = measure(truth, {called[name]: links for name, links in guessed.links.items()}).as_dict()
    notes = []
    if right.conversations or guessed.conversations:
        for name in _OF_LINKS:
            del scores[name]
        notes.append(f"{gold if right.conversations else predictions} holds conversations and no links, so that links aren't scored")
    if "one_to_one" not in scores:
        notes.append("one_to_one is left out: it needs SciPy, which is not installed: pip install 'dialmill[irc]'")
    counts = {name: int(scores.pop(name)) for name in _COUNTS if name in scores}
    versions = {package: metadata.version(package) for package in ("numpy", *(("scipy",) if "one_to_one" in scores else ()))}
    return {
        "benchmark": "disentanglement",
        "suite": None,
        "metrics": scores,
        "versions": versions,
        "counts": counts | {"files": len(truth)},
        "policy": POLICY,
        **({"notes": notes} if notes else {}),
    }


def text(scores: dict[str, Any]) -> str:
    """The scores for people, named as in the paper's tables."""
    metrics, counts = scores["metrics"], scores["counts"]
    links = "links           not scored: one side holds conversations alone"
    of_links = ""
    if "link_f" in metrics:
        links = f"links           P {metrics['link_precision']:6.2f}  R {metrics['link_recall']:6.2f}  F {metrics['link_f']:6.2f}"
        of_links = f", {counts['gold_links']:,} gold and {counts['predicted_links']:,} predicted links"
    matching = f"  1-1 {metrics['one_to_one']:6.2f}" if "one_to_one" in metrics else ""
    lines = [
        links,
        f"conversations   VI {metrics['vi']:6.2f}{matching}  ARI {metrics['ari']:6.2f}"
        f"  Shen F {metrics['shen_f']:6.2f}  local-3 {metrics['local_3']:6.2f}",
        f"exact match     P {metrics['exact_precision']:6.2f}  R {metrics['exact_recall']:6.2f}  F {metrics['exact_f']:6.2f}",
        f"{counts['files']} files, {counts['messages']:,} messages{of_links}",
    ]
    return "\n".join(lines)
