"""What the official checker of DSTC9 Track 1 asks (scripts/check_results.py), and more: lengths, snippets, one answer each, consistency, leaks.

The official checker holds labels to output_schema.json, compares their number with that of logs.json, and looks every named snippet up in
knowledge.json. Its warning about properties of non-targets besides `target` is left out: the released test labels have `source` there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dialmill.perturbers.insertion.knowledge import KnowledgeBase, KnowledgeError, load
from dialmill.perturbers.insertion.knowledge.base import title_key
from dialmill.pipelines.benchmarks.dstc9.kinds import KNOWLEDGE, LABELS
from dialmill.pipelines.benchmarks.dstc9.recipe import SEEN
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import UsageError

#: Problems of one kind in one file that are told one by one.
_SHOWN = 10
#: The data root of ambiguous test instances, and its name in folders of the first version.
_AMBIGUOUS = ("data_ambiguous", "data_twins")


def knowledge_of(folder: Path) -> Path | None:
    """The knowledge base of a split: in its data root, or in the folder itself."""
    return next((path for path in (folder.parent / "knowledge.json", folder / "knowledge.json") if path.is_file()), None)


def check_split(folder: Path, labels: Path | None = None, gold: bool = True) -> tuple[list[str], list[str]]:
    """(what was checked, what is wrong) with a split, or with predictions for it. Files are expected to hold to their schemas.

    Args:
        folder: the split's folder, with logs.json (or labels.json, whose number of instances counts as well).
        labels: the labels to check, `folder`'s own by default.
        gold: whether the labels are right answers, which have one snippet for each target, and not predictions.
    """
    labels = labels or folder / "labels.json"
    shown = "/".join(labels.parts[-3:])
    found: list[Any] = _read(labels)
    problems: list[str] = []
    reference = next((path for path in (folder / "logs.json", folder / "labels.json") if path.is_file() and path != labels), None)
    logs: list[Any] = _read(reference) if reference is not None else []
    if reference is not None and len(logs) != len(found):
        problems.append(f"{shown}: {len(found)} instances, {reference.name} has {len(logs)}: the two go together")
    base = _base(folder, problems)
    if base is not None:
        missing = [(place, one) for place, label in enumerate(found) if label["target"] for one in label["knowledge"] if not _stands(one, base)]
        problems += [f"{shown}: instance {place}: there is no snippet {_named(one)} in knowledge.json" for place, one in missing[:_SHOWN]]
        if len(missing) > _SHOWN:
            problems.append(f"{shown}: and {len(missing) - _SHOWN} more snippets that are not in knowledge.json")
    if gold and reference is not None and reference.name == "logs.json" and not problems:
        problems += _turns(logs, shown)
        if base is not None:
            problems += inconsistent(logs, found, base, shown)
    targets = sum(label["target"] for label in found)
    return ([] if problems else [f"{shown}: {len(found)} instances, {targets} of them targets, whose snippets are all there"]), problems


def check_file(path: Path, schema: str, sound: Callable[[Path], bool]) -> Checked:
    """What `dialmill validate` asks of a file: of a split's labels that they fit what stands beside them, of a knowledge base what to know of it."""
    if schema == KNOWLEDGE:
        return Checked(warnings(path))
    logs = path.with_name("logs.json")
    if schema != LABELS or path.name != "labels.json":
        return Checked()
    if logs.is_file() and not sound(logs):
        return Checked([f"{path}: not compared with {logs.name} beside it, which is at fault"])
    return Checked(*check_split(path.parent))


def compare(path: Path, gold: Path) -> Checked:
    """What `dialmill validate --gold` asks of predictions for a split.

    Raises:
        UsageError: the folder has neither logs nor labels.
    """
    if not any((gold / name).is_file() for name in ("logs.json", "labels.json")):
        raise UsageError(f"{gold}: has neither logs.json nor labels.json; name the folder of a split, such as data_eval/test")
    return Checked(*check_split(gold, path, gold=False))


def _read(path: Path) -> list[Any]:
    loaded: list[Any] = json.loads(path.read_bytes())
    return loaded


def _base(folder: Path, problems: list[str]) -> KnowledgeBase | None:
    path = knowledge_of(folder)
    return _load(path, problems) if path is not None else None


def _load(path: Path, problems: list[str]) -> KnowledgeBase:
    try:
        return load(str(path))
    except KnowledgeError as error:
        if "holds no snippets" not in str(error):
            problems.append(str(error))
        return KnowledgeBase(())


def _stands(named: dict[str, Any], base: KnowledgeBase) -> bool:
    """Whether a label's snippet is in the base. DSTC11 names reviews too, which are none of this base's documents."""
    return "doc_type" in named or base.find(*(str(named[key]) for key in ("domain", "entity_id", "doc_id"))) is not None


def _named(one: dict[str, Any]) -> str:
    return f"{one['domain']} {one['entity_id']} {one['doc_id']}"


def _turns(logs: Sequence[Any], shown: str) -> list[str]:
    """Instances end with the user turn in question."""
    odd = [place for place, log in enumerate(logs) if log and log[-1].get("speaker") != "U"]
    return [f"{shown}: instance {place}: its log doesn't end with a user turn" for place in odd[:_SHOWN]]


def inconsistent(logs: Sequence[Any], labels: Sequence[Any], base: KnowledgeBase, shown: str = "labels.json") -> list[str]:
    """Turns that are labelled as no target although what answers them, in a longer instance of the dialogue, is a snippet's body."""
    bodies = {title_key(str(one.body)) for one in base.snippets() if len(str(one.body).split()) > 3 or len(str(one.body)) > 8}
    replies: dict[tuple[str, ...], set[str]] = {}
    for log in logs:
        texts = tuple(turn["text"] for turn in log)
        for place in range(1, len(texts)):
            if log[place]["speaker"] == "S" and title_key(texts[place]) in bodies:
                replies.setdefault(texts[:place], set()).add(texts[place])
    found = []
    for place, (log, label) in enumerate(zip(logs, labels, strict=False)):
        said = replies.get(tuple(turn["text"] for turn in log)) if not label["target"] else None
        if said:
            found.append(f"{shown}: instance {place}: is no target, but what answers it is a snippet's body: {sorted(said)[0]!r}")
    return found[:_SHOWN]


def warnings(knowledge: Path) -> list[str]:
    """What to know of a knowledge base that isn't wrong as a file: titles that stand twice in one entity, which can't be asked about."""
    base = _load(knowledge, [])
    if not base.repeated:
        return []
    return [
        f"{knowledge.name}: {len(base.repeated)} of {len(base)} snippets share their title with another one of their entity; they are not asked about"
    ]


def check_release(root: Path) -> tuple[list[str], list[str]]:
    """(what was checked, what is wrong) with the release of a build: every split, one snippet and a response for each target, and no leak.

    What the unseen sides of the test split ask about may not stand in the knowledge base of train and val.
    """
    checked: list[str] = []
    problems: list[str] = []
    release = root / "release"
    seen = _base(release / "data" / "train", problems)
    ambiguous = next((name for name in _AMBIGUOUS if (release / name).is_dir()), _AMBIGUOUS[0])
    subsets = ("few_shot/data/train", "few_shot/data/val", "test_hard/data_eval/test", f"test_hard/{ambiguous}/test")
    for name in ("data/train", "data/val", "data_eval/test", f"{ambiguous}/test", *(one for one in subsets if (release / one).is_dir())):
        folder = release / name
        labels = folder / "labels.json"
        if not labels.is_file():
            labels = root / "labels" / "release" / name / "labels.json"
        good, bad = check_split(folder, labels)
        checked += good
        problems += bad
        for place, label in enumerate(_read(labels)):
            if not label["target"]:
                continue
            if len(label["knowledge"]) != 1 or not label["response"].strip():
                problems.append(f"release/{name}: instance {place}: a target has one snippet and a response")
            named = label["knowledge"][0]
            known = seen is not None and _stands(named, seen)
            if "source" in label and label["source"] in _unseen(root) and known:
                problems.append(f"release/{name}: instance {place}: asks the unseen side about {_named(named)}, which train knows")
    if not problems:
        checked.append("release: each target has one snippet, and no snippet of the unseen side is in release/data/knowledge.json")
    return checked, problems[: 4 * _SHOWN]


def _unseen(root: Path) -> frozenset[str]:
    manifest = json.loads((root / "manifest.json").read_bytes())
    names = manifest["recipe"].get("label_sources", {})
    return frozenset(names.get(suite, suite) for suite in manifest["recipe"]["suites"] if suite not in ("standard", SEEN))
