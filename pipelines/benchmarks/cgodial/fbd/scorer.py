"""CGoDial, flow-based (Dai et al. 2022): which user node an utterance means.

Metrics, in percent: `turn_acc`, `dial_acc` (dialogues in which every turn is right), and `turn_acc_all`, for which the three nodes that mean "not
understood" are one. A turn counts once in each version that is scored: `standard` is the query as written, `asr` its transcripts, `test_std` both.

``--official-compat``: in `test_std` a turn's first version stands for all of them, as often as it has versions, as the released eval.py has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from dialmill.pipelines.benchmarks.cgodial.releases import ALL_VERSIONS, HARD, find, parts
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Scorer, Settings
from dialmill.pipelines.core.units import Floats, Key, Sums, Units, columns_of, ratio
from dialmill.pipelines.scoring import strata
from dialmill.pipelines.scoring.predictions import check_ids, first_byte, prediction_files, read_document, read_lines, unique

ORIGIN, WRITTEN, ASR = "origin", "standard", "asr"
_NODE = "node:"
_LISTS = {"test": "test_ids.json", "valid": "dev_ids.json", "train": "train_ids.json"}
#: The nodes of queries that were not understood.
_NOT_UNDERSTOOD = frozenset(["基本通用.重听", "基本通用.简短词", "拒识"])


class _Entry(msgspec.Struct):
    usr_query: str | None = None
    usr_intent: str | None = None
    sys_response: str | None = None
    asr_results: list[str] = []


#: (dialogue, turn as the canonical record counts it, version).
Place = tuple[str, int, str]


class FlowScorer(Scorer):
    name = "cgodial-fbd"
    about = "CGoDial, flow-based: TurnACC and DialACC"
    scale = "percent"
    ranked = ("turn_acc", "dial_acc")
    of_turns = ("turn_acc",)
    pools: ClassVar[tuple[str, ...]] = (ALL_VERSIONS, HARD)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if self.split not in _LISTS:
            raise InputError(settings.gold, f"has no split {self.split!r}", f"there are: {', '.join(_LISTS)}")
        self._path = ""
        #: Dialogues of the logs that the split doesn't list: predictions may hold them too.
        self.others: set[str] = set()
        #: dialogue -> its user turns: (turn as the canonical record counts, place in the log, node, versions).
        self.turns: dict[str, list[tuple[int, int, str, list[str]]]] = {}
        self.scenario: dict[str, str] = {}
        self._read_gold(Path(settings.gold))
        hard = find(settings.gold, "hard_data_id.json")
        self.hard = {} if hard is None else msgspec.json.decode(hard.read_bytes(), type=dict[str, list[str | None]])

    def _read_gold(self, root: Path) -> None:
        if not root.is_dir():
            raise InputError(str(root), "is no folder", "name an output folder, or the release's data folder")
        lists = sorted(root.rglob(_LISTS[self.split]))
        if not lists:
            raise InputError(str(root), f"holds no {_LISTS[self.split]}", "name an output folder, or the release's data folder")
        for listed in lists:
            wanted = set(msgspec.json.decode(listed.read_bytes(), type=list[str]))
            logs: dict[str, list[_Entry]] = {}
            # Held-out labels lie below labels/, in the same place.
            folders = [root / "labels" / listed.parent.relative_to(root), listed.parent]
            for path in [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("*.jsonasr.json"))]:
                try:
                    read = msgspec.json.decode(path.read_bytes(), type=dict[str, list[_Entry]])
                except (msgspec.DecodeError, UnicodeDecodeError) as error:
                    raise InputError(str(path), f"is no file of flow-based dialogues: {error}", "`dialmill validate` tells more") from None
                logs = read | logs
            self.others |= logs.keys() - wanted
            for name in sorted(wanted & logs.keys()):
                self.scenario[name] = listed.parent.name
                self.turns[name] = _user_turns(logs[name], str(listed.parent))
            if wanted - logs.keys():
                self.notes.add(f"{listed.parent.name}: {len(wanted - logs.keys())} dialogues of {listed.name} have no log")

    def suites(self) -> list[str]:
        return [WRITTEN, ASR, ALL_VERSIONS, *([HARD] if self.hard else [])]

    def read(self, path: str) -> dict[Place, str]:
        self._path = path
        pairs: list[tuple[Place, str]] = []
        for file in prediction_files(path):
            if first_byte(file) == b"{" and _one_object(file):
                for name, entries in read_document(file, "predictions-cgodial-fbd").items():
                    places = {place: turn for turn, place, _, _ in self.turns.get(name, ())}
                    for place, entry in enumerate(entries):
                        for version, node in entry.get("pred_label", {}).items():
                            if place in places or name not in self.turns:
                                pairs.append(((name, places.get(place, place), version), node))
            else:
                predicted = [(*parts(record["dialogue_id"], str(file)), record) for record in read_lines(file, "predictions-labels")]
                versions = self._versions((name, variant) for name, suite, variant, _ in predicted if suite != WRITTEN)
                for name, suite, variant, record in predicted:
                    version = ORIGIN if suite == WRITTEN else versions[name, variant]
                    pairs.append(
                        ((name, record["turn"], version), next((_bare(one) for one in record["labels"] if not one.startswith("intent:")), ""))
                    )
        return unique(pairs, path, "the turn")

    def _versions(self, predicted: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """The versions in the log of variants (dialogue, number). A variant in which everything was recognised right is none, so numbers may have
        gaps, and the log counts those that there are."""
        numbers: dict[str, set[int]] = {}
        for name, variant in predicted:
            numbers.setdefault(name, set()).add(variant)
        found = {}
        for name, variants in numbers.items():
            count = max((len(versions) for *_, versions in self.turns.get(name, ())), default=0)
            for place, variant in enumerate(sorted(variants)):
                found[name, variant] = f"asr_{place if len(variants) == count else variant}"
        return found

    def covered(self, guesses: dict[Place, str]) -> list[str]:
        versions = {version for name, _, version in guesses if name in self.turns}
        if not versions:
            raise InputError(self._path, f"predicts none of the {len(self.turns)} dialogues of the gold's split {self.split}", "check the ids")
        if versions == {ORIGIN}:
            return [WRITTEN]
        return [ALL_VERSIONS] if ORIGIN in versions else [ASR]

    def every(self, guesses: dict[Place, str]) -> list[str]:
        return self.suites() if self.covered(guesses) == [ALL_VERSIONS] else self.covered(guesses)

    def _due(self, suite: str) -> list[tuple[str, str, list[tuple[int, int, str, str]]]]:
        """(dialogue, version, its turns as (turn, place, node, version))."""
        found = []
        for name, turns in self.turns.items():
            if suite == HARD:
                marks = self.hard.get(name)
                if marks is not None:
                    chosen = [(turn, at, node, marks[at] or ORIGIN) for turn, at, node, _ in turns if at < len(marks)]
                    found.append((name, HARD, chosen))
                continue
            versions = {WRITTEN: [ORIGIN], ASR: [], ALL_VERSIONS: [ORIGIN]}[suite]
            if suite != WRITTEN:
                versions = versions + sorted({version for *_, heard in turns for version in heard})
            for version in versions:
                found.append((name, version, [(turn, at, node, version) for turn, at, node, heard in turns if version == ORIGIN or version in heard]))
        return [one for one in found if one[2]]

    def units(self, suite: str, guesses: dict[Place, str] | None) -> Units:
        due = self._due(suite)
        if guesses is not None:
            guesses = {place: node for place, node in guesses.items() if place[0] not in self.others}
            known = {(name, turn, version) for name, turns in self.turns.items() for turn, _, _, heard in turns for version in (ORIGIN, *heard)}
            check_ids([(name, turn, version) for name, _, turns in due for turn, _, _, version in turns], guesses, self._path, "dialogue", known)
        rows: list[dict[str, float]] = []
        keys: list[Key] = []
        kinds: dict[str, list[str]] = {"domain": [], "depth": []}
        for name, version, turns in due:
            first = len(rows)
            for number, (turn, _, node, heard) in enumerate(turns, 1):
                asked = ORIGIN if self.settings.official and suite == ALL_VERSIONS else heard
                own = node if guesses is None else guesses[name, turn, heard]
                said = node if guesses is None else guesses[name, turn, asked]
                same = own == node or {own, node} <= _NOT_UNDERSTOOD
                rows.append({"turns": 1, "right": said == node, "right_all": same})
                keys.append(Key(name, int(version.removeprefix("asr_")) if version.startswith("asr_") else 0, str(turn)))
                kinds["domain"].append(self.scenario[name])
                kinds["depth"].append(strata.depth(number))
            rows[first] |= {"dialogues": 1, "dialogues_right": all(row["right"] for row in rows[first:])}
        columns = columns_of(rows)
        return Units(keys, columns, columns["right"] > 0 if rows else None, kinds)

    def metrics(self, sums: Sums) -> dict[str, Floats]:
        if "turns" not in sums:
            return {}
        return {
            "turn_acc": 100 * ratio(sums["right"], sums["turns"]),
            "turn_acc_all": 100 * ratio(sums["right_all"], sums["turns"]),
            "dial_acc": 100 * ratio(sums["dialogues_right"], sums["dialogues"]),
        }

    def counts(self, units: Units) -> dict[str, int]:
        return {"dialogues": int(units.sums().get("dialogues", 0)), "turns": len(units)}


def _user_turns(entries: list[_Entry], where: str) -> list[tuple[int, int, str, list[str]]]:
    found = []
    turn = 0
    for place, entry in enumerate(entries):
        turn += entry.sys_response is not None
        if entry.usr_query is not None:
            if entry.usr_intent is None:
                raise InputError(where, "holds user turns without usr_intent: the labels are held back", "name the folder that has labels/")
            found.append((turn, place, entry.usr_intent, [f"asr_{number}" for number in range(len(entry.asr_results))]))
            turn += 1
    return found


def _bare(label: str) -> str:
    return label.removeprefix(_NODE)


def _one_object(file: Path) -> bool:
    """Whether a file that begins with an object is one JSON object as a whole, and not lines of them."""
    head = file.read_bytes()
    first = head.split(b"\n", 1)[0]
    try:
        record: Any = msgspec.json.decode(first)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return True
    return not (isinstance(record, Mapping) and "dialogue_id" in record)
