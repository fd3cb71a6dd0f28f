"""The right answers of DSTC9 Track 4, read from the official files: an output folder's release, or SIMMC's own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.scoring.predictions import read_document
from dialmill.pipelines.sources import normalise
from dialmill.pipelines.sources.simmc import values
from dialmill.schemas.dialogue import STANDARD

HARD, FEW = "test_hard", "few_shot"
#: Split -> its names in the official files, the one to take first.
_SPLITS = {"test": ("devtest", "teststd", "test"), "valid": ("dev",), "train": ("train",), "mini": ("mini",)}
_FILE = re.compile(
    r"(?P<head>.*_dials(?:_dstc\d+)?_|(?P<domain>\w+?)_)(?P<split>train|devtest|dev|teststd|test|mini)(?P<rest>(?:_public)?(?:_dials)?)\.json"
)
#: The member of 2.1 with the objects that the user may mean.
CANDIDATES = "disambiguation_candidates"
_LABEL = "disambiguation_label"
#: The slot whose values are one list.
_LIST = "availableSizes"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class Frame(NamedTuple):
    """A frame as it is compared: pairs "slot=value", names of slots, ids of objects, and of those that it may mean; an id as it came where frames are
    compared as the published scripts do, which don't take "3" for 3."""

    act: str | None
    slots: frozenset[str]
    requests: frozenset[str]
    objects: frozenset[object]
    candidates: frozenset[object] = frozenset()


class GoldTurn(NamedTuple):
    """An entry with what is known of it.

    Args:
        dialogue: its dialogue's id.
        number: its own.
        context: the texts before the response, the user's last.
        frames: what the user says, None where that isn't told.
        response: what the assistant says, None where that is held out.
        call: the assistant's action with its arguments, None without API calls.
        candidates: the responses to choose from, () without a pool.
        right: the place of the right one, None where that isn't told.
        asks: whether it has to be asked which object the user means, None where that isn't told.
        meant: whether the turn tells which objects the user may mean, as 2.1 does.
    """

    dialogue: str
    number: int
    context: tuple[str, ...]
    frames: tuple[Frame, ...] | None
    response: str | None
    call: Mapping[str, Any] | None
    candidates: tuple[str, ...]
    right: int | None
    asks: bool | None = None
    meant: bool = False


def canonical(value: Any) -> str:
    """A value for comparison: numbers in one spelling ("4.0" is 4), all else as it is."""
    text = normalise.scalar_text(value)
    text = str(value) if text is None else " ".join(text.split())
    return (normalise.scalar_text(float(text)) or text) if _NUMBER.fullmatch(text) else text


def frames_of(entry: Mapping[str, Any], exact: bool = False) -> tuple[Frame, ...] | None:
    """What the user's side of an entry says: one frame of 2.x, the list of 1.0; None where the entry has no labels.

    Args:
        exact: frames as the published scripts compare them.
    """
    annotated, beliefs = entry.get("transcript_annotated"), entry.get("belief_state")
    if isinstance(annotated, Mapping) and "act" in annotated:
        attributes = annotated.get("act_attributes") or {}
        pairs = (attributes.get("slot_values") or {}).items()
        slots = list(pairs) if exact else [(name, one) for name, value in pairs for one in values(value, name)]
        rest = {key: attributes.get(key) or [] for key in ("request_slots", "objects")}
        return (frame({"act": annotated["act"], "slots": slots, CANDIDATES: annotated.get(CANDIDATES) or []} | rest, exact),)
    if isinstance(beliefs, list):
        return tuple(frame(one, exact) for one in beliefs if isinstance(one, Mapping))
    return None


def frame(given: Mapping[str, Any], exact: bool = False) -> Frame:
    """A frame of 1.0's form, {act, slots: [[name, value]]}, with `request_slots`, `objects` and `disambiguation_candidates` where it has them."""
    pairs = given.get("slots") or ()
    if exact:
        slots = frozenset(f"{name}={_listed(value) if name == _LIST else value}" for name, value in pairs)
    else:
        slots = frozenset(f"{name}={canonical(one)}" for name, value in pairs for one in (value if isinstance(value, list) else [value]))
    requests = frozenset(str(name) for name in given.get("request_slots") or ())
    return Frame(given.get("act"), slots, requests, ids(given.get("objects"), exact), ids(given.get(CANDIDATES), exact))


def ids(given: Iterable[object] | None, exact: bool = False) -> frozenset[object]:
    """Ids of objects for comparison."""
    return frozenset(one if exact and isinstance(one, (int, float, str)) else str(one) for one in given or ())


def _listed(value: Any) -> Any:
    """The sizes that there are, which the published script compares as one list in any order; the text of a list is one, and any other text its only
    element."""
    if isinstance(value, str):
        try:
            value = list(ast.literal_eval(value.strip()))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            value = [value]
    return sorted(value, key=str) if isinstance(value, list) else value


class _Files(NamedTuple):
    """The files of one suite: of dialogues, one or one a domain."""

    dialogues: list[Path]
    #: Where API calls and candidates lie beside dialogues of this name.
    beside: list[Path]


class Gold:
    """The suites of a gold, each read when it is asked for.

    Args:
        path: an output folder, a folder of SIMMC's files, or one file of dialogues.
        split: the split; None is the first that is there.
        exact: frames as the published scripts compare them.
    """

    def __init__(self, path: str, split: str | None, exact: bool = False) -> None:
        root = Path(path)
        if not root.exists():
            raise InputError(path, "does not exist", "check the path")
        self.path, self.exact = path, exact
        order = [split] if split else ["test", "valid", "train", "mini"]
        if split is not None and split not in (*_SPLITS, HARD):
            raise InputError(path, f"has no split {split!r}", f"there are: {', '.join((*_SPLITS, HARD))}")
        for name in order:
            self._files = _found(root, name)
            if self._files:
                self.split = name
                break
        else:
            looked = ", ".join(f"*_{one}.json" for name in order for one in _SPLITS.get(name, _SPLITS["test"]))
            raise InputError(
                path, f"holds no dialogues of SIMMC of {split or 'any split'}: looked for {looked}", "name an output folder or the data's"
            )
        self._turns: dict[str, list[GoldTurn]] = {}
        names = (one.name for files in self._files.values() for one in files.dialogues)
        #: Whether it is 1.0, by the names of its files, which are those of a domain.
        self.first_edition = any(match["domain"] for name in names if (match := _FILE.fullmatch(name)))

    def suites(self) -> list[str]:
        """The suites, the unperturbed one first."""
        return sorted(self._files, key=lambda name: (name != STANDARD, name))

    def turns(self, suite: str) -> list[GoldTurn]:
        """The entries of a suite, in the order of its files.

        Raises:
            InputError: no such suite, a file that can't be read, or two domains whose dialogues have the same ids.
        """
        if suite not in self._files:
            raise InputError(self.path, f"has no suite {suite!r}", f"there are: {', '.join(self.suites())}")
        if suite not in self._turns:
            self._turns[suite] = list(self._read(self._files[suite]))
            keys = {(turn.dialogue, turn.number) for turn in self._turns[suite]}
            if len(keys) < len(self._turns[suite]):
                raise InputError(self.path, "has two dialogues of one id, as SIMMC 1.0's domains have", "name the folder or the file of one domain")
        return self._turns[suite]

    def _read(self, files: _Files) -> Iterator[GoldTurn]:
        for path in files.dialogues:
            called = _calls(_beside(path, files.beside, "_api_calls"))
            pools = _pools(_beside(path, files.beside, "_retrieval_candidates"))
            for dialogue in read_document(path, "simmc")["dialogue_data"]:
                name = str(dialogue.get("dialogue_idx"))
                said: list[str] = []
                for at, entry in enumerate(dialogue["dialogue"]):
                    number = entry.get("turn_idx", at)
                    response = entry.get("system_transcript") or None
                    said.append(entry["transcript"])
                    candidates, right = pools.of(str(path), dialogue, name, number)
                    frames, call = frames_of(entry, self.exact), called.get((name, number))
                    yield GoldTurn(name, number, tuple(said), frames, response, call, candidates, right, *_doubts(entry))
                    said += [response] if response else []


def _doubts(entry: Mapping[str, Any]) -> tuple[bool | None, bool]:
    """Whether it has to be asked which object is meant, and whether the entry has the objects that may be; 2.0 has the first beside the labels of the
    user's side, 2.1 both among them."""
    annotated = entry.get("transcript_annotated")
    inner = annotated if isinstance(annotated, Mapping) else {}
    label = inner.get(_LABEL, entry.get(_LABEL))
    return None if label is None else bool(label), isinstance(inner.get(CANDIDATES), list)


def _found(root: Path, split: str) -> dict[str, _Files]:
    """Suite -> its files."""
    if root.is_file():
        return {STANDARD: _Files([root], [root.parent, root.parent.parent])} if _FILE.fullmatch(root.name) else {}
    subset = f"{HARD}/" if split == HARD else ""
    names = _SPLITS.get(split, _SPLITS["test"])
    for head in ("labels/release", "release", "."):
        base = root / head / subset
        if not base.is_dir() or (head == "." and subset):
            continue
        found: dict[str, list[Path]] = {}
        for path in sorted(base.rglob("*.json")):
            match = _FILE.fullmatch(path.name)
            inner = [part for part in path.relative_to(base).parts[:-1] if match is None or part != match["domain"]]
            if match is None or match["split"] not in names or len(inner) > 1 or (inner and inner[0] in (HARD, FEW)):
                continue
            if match["rest"].startswith("_public") or (match["domain"] and "_dials" not in match["rest"]):
                continue
            found.setdefault(inner[0] if inner else STANDARD, []).append(path)
        if found:
            # The unperturbed suite's candidates and calls are those of all suites, and of the subsets.
            return {suite: _Files(_first(paths, names), [root / head, base]) for suite, paths in found.items()}
    return {}


def _first(paths: Sequence[Path], names: Sequence[str]) -> list[Path]:
    """The files of the first of some names of a split."""
    for name in names:
        mine = [path for path in paths if (match := _FILE.fullmatch(path.name)) and match["split"] == name]
        if mine:
            return mine
    return []


def _beside(path: Path, folders: Sequence[Path], ending: str) -> Path | None:
    match = _FILE.fullmatch(path.name)
    inner = match["domain"] if match and match["domain"] else "."
    for folder in (path.parent, *(one / inner for one in folders), *folders):
        found = folder / f"{path.stem}{ending}.json"
        if found.is_file():
            return found
    return None


def _calls(path: Path | None) -> dict[tuple[str, int], Mapping[str, Any]]:
    if path is None:
        return {}
    return {(str(one["dialog_id"]), action["turn_idx"]): action for one in read_document(path, "simmc-api-calls") for action in one["actions"]}


class _Pools(NamedTuple):
    """A file of candidates: the responses (of 2.x by domain), and for dialogue and turn the numbers of its candidates with the place of the right."""

    listed: Any
    places: Mapping[tuple[str, int], tuple[list[int], int | None]]

    def of(self, path: str, dialogue: Mapping[str, Any], name: str, number: int) -> tuple[tuple[str, ...], int | None]:
        """The candidates of a turn, and the place of the right one; () and None where it has none.

        Raises:
            InputError: a number beyond the list.
        """
        found = self.places.get((name, number))
        if found is None:
            return (), None
        texts = self.listed
        if isinstance(texts, Mapping):
            domain = str(dialogue.get("domain")).lower()
            texts = texts.get(domain, next(iter(texts.values()), []) if len(texts) == 1 else [])
        if found[0] and max(found[0]) >= len(texts):
            raise InputError(path, f"dialogue {name}, turn {number}: a candidate is not in the list of responses", "build it again")
        if found[1] is not None and found[1] >= len(found[0]):
            raise InputError(path, f"dialogue {name}, turn {number}: gt_index is {found[1]}, there are {len(found[0])} candidates", "build it again")
        return tuple(texts[place] for place in found[0]), found[1]


def _pools(path: Path | None) -> _Pools:
    if path is None:
        return _Pools([], {})
    document = read_document(path, "simmc-retrieval")
    places = {
        (str(one["dialogue_idx"]), turn["turn_idx"]): (turn["retrieval_candidates"], turn.get("gt_index"))
        for one in document["retrieval_candidates"]
        for turn in one["retrieval_candidates"]
    }
    return _Pools(document["system_transcript_pool"], places)
