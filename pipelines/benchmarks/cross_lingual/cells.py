"""The cells that DSTC9 Track 2 scores, as its official code (ConvLab-2, ``dst/dstc9``) reads them from the official files.

MultiWOZ: `book` and `semi` of each system turn's `metadata` as one, without the domains that no dialogue of the track is scored on. CrossWOZ: the
first query of a system turn, without its results, and with the names that the updated leaderboard corrects: what a query's only result was called is
the name from then on, until that domain's query changes.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import InputError

#: Domains of MultiWOZ that aren't scored: police, hospital, bus.
UNSCORED = frozenset({"警察机关", "医院", "公共汽车"})
#: The cells of one turn: domain -> slot -> value, or several that are right.
Cells = dict[str, dict[str, Any]]


def read(path: str) -> dict[str, list[Cells]]:
    """Dialogue id -> the cells after each user turn, of every official file below a path (an output folder's release too); {} without one."""
    root = Path(path)
    found: dict[str, list[Cells]] = {}
    for file in [root] if root.is_file() else _files(root):
        for name, dialogue in _document(file).items():
            turns = _turns(dialogue)
            if turns:
                found[name.removesuffix(".json")] = turns
    return found


def _files(root: Path) -> Iterator[Path]:
    """The official files of a folder: of an output folder's release those of its first suite."""
    for folder in (root / "release", root):
        for name in ("multiwoz_zh", "crosswoz_en", "."):
            files = sorted([*(folder / name).glob("*.json.zip"), *(folder / name).glob("*.json")])
            if files and (folder != root or not (root / "dialogues").is_dir()):
                yield from files
                return


def _document(file: Path) -> dict[str, Any]:
    """The dialogues of a JSON file, or of the one in an archive; {} where it is none of these."""
    if file.suffix not in (".json", ".zip"):
        return {}
    try:
        if file.suffix == ".zip":
            with zipfile.ZipFile(file) as archive:
                names = [name for name in archive.namelist() if name.endswith(".json")]
            data = files.read_bytes(f"{file}{files.MEMBER}{names[0]}") if len(names) == 1 else b"{}"
        else:
            data = file.read_bytes()
        found = json.loads(data)
    except (OSError, ValueError, InputError, zipfile.BadZipFile):
        return {}  # whoever reads the gold itself says what is wrong with it
    return found if isinstance(found, dict) else {}


def _turns(dialogue: Any) -> list[Cells]:
    if not isinstance(dialogue, Mapping):
        return []
    log, messages = dialogue.get("log"), dialogue.get("messages")
    try:
        if isinstance(log, list):
            return [_multiwoz(turn["metadata"]) for turn in log[1::2]]
        if isinstance(messages, list):
            return _crosswoz(messages)
    except (LookupError, TypeError, AttributeError):
        return []  # the unlabelled test form, or a file of something else
    return []


def _multiwoz(metadata: Mapping[str, Any]) -> Cells:
    scored = {domain: sections for domain, sections in metadata.items() if domain not in UNSCORED}
    return {domain: {slot: value for slots in sections.values() for slot, value in slots.items()} for domain, sections in scored.items()}


def _crosswoz(messages: list[Any]) -> list[Cells]:
    known: dict[str, list[str]] = {}
    found: list[Cells] = []
    for number in range(1, len(messages), 2):
        turn: Cells = {}
        for domain, query in messages[number]["sys_state_init"].items():
            cells = {slot: value for slot, value in query.items() if slot != "selectedResults"}
            last = messages[number - 2]["sys_state"][domain] if number > 1 else None
            changed = last is None or cells != {slot: value for slot, value in last.items() if slot != "selectedResults"}
            if changed:
                known[domain] = []
            if cells.get("name") == "" and len(known.get(domain, ())) == 1:
                cells["name"] = known[domain][0]
            results = messages[number]["sys_state"][domain].get("selectedResults")
            if changed and results:
                known[domain] = list(results)
            turn[domain] = cells
        found.append(turn)
    return found
