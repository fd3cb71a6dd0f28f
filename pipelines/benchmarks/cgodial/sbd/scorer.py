"""CGoDial, slot-based (Dai et al. 2022): JGA, success, BLEU-4 and their combination, of four versions of each dialogue.

Metrics, in percent: `jga` (the mean over dialogues of the share of turns whose whole state is right), `success` (dialogues in which the acts of every
turn hold what the turn asks for), `bleu` (4-grams alone), `comb` = (jga + success) / 2 + bleu, which is what the released scorer and the paper's own
figures are, and `comb_as_printed` = (jga x success x bleu) ^ 1/2, the paper's formula; then `jga_turns` and the turns whose acts are right, by type.

``--official-compat``: BLEU over words between blanks (a Chinese response without blanks is one word), and slots looked for anywhere in the text of
the acts. Its division by zero, where a test set has no turn of a type, is not taken over: such a metric is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np
from dialmill.pipelines.benchmarks.cgodial.releases import ALL_VERSIONS, HARD, find, need, parts
from dialmill.pipelines.benchmarks.cgodial.sbd.release import OUT_OF_SCOPE, VERSIONS, act_name
from dialmill.pipelines.benchmarks.cgodial.sbd.slots import hard_id, slot_name
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Scorer, Settings
from dialmill.pipelines.core.units import Floats, Key, Sums, Units, columns_of, ratio
from dialmill.pipelines.scoring import bleu, strata
from dialmill.pipelines.scoring.gold import records
from dialmill.pipelines.scoring.predictions import check_ids, first_byte, prediction_files, read_document, read_lines, shown, unique
from dialmill.pipelines.scoring.state import POLICY, State, state_of

WRITTEN, SPOKEN = "standard", "spoken"
_LISTS = {"test": "test", "valid": "val", "train": "train"}
#: What the scorer of the release never looks for.
_IGNORED = frozenset(["航班信息", "天气", "车次信息", "片名", "主演名单", "商品名称", "班号"])
#: Acts that must be there if they are in the gold.
_DUE = ("fallback", "affirm", "negate", "bye")
_ACTS = frozenset([*_DUE, "request", "inform", "recommend", "nooffer", "general"])
_BRACKETS = re.compile(r"\[([^\[\]]+)\]")
#: Placeholders and words of Latin letters or digits are tokens, and so is any other character.
_TOKEN = re.compile(r"\[[^\[\]\s]+\]|[A-Za-z0-9]+|\S")
_TINY = 1e-7
#: Type of turn -> the metric of its share of right acts.
_TYPES = {"extra_know": "extra_know", "out_of_know": "out_of_know"}
_OTHER = "regular"


class _Turn(msgspec.Struct):
    constraint: str = ""
    sys_act: str = ""
    resp: str = ""
    turn_num: int = 0
    type: str = ""
    turn_succ: list[str] = []


#: Dialogue -> the versions of each turn, from the easiest to the hardest.
_Hard = dict[str, list[list[str]]]
#: (dialogue, number of the turn, version).
Place = tuple[str, int, str]


class Said(NamedTuple):
    """What a system (or the gold) says at a turn: the state, the slots of each act, the response, and whether that has values, not placeholders."""

    state: State
    acts: dict[str, set[str]]
    response: str | None
    worded: bool = False


class SlotScorer(Scorer):
    name = "cgodial-sbd"
    about = "CGoDial, slot-based: JGA, success, BLEU-4, their combination, by type of turn"
    scale = "percent"
    ranked = ("comb", "jga", "success", "bleu")
    of_turns = ("jga_turns", "turn_success")
    below_full: ClassVar[Mapping[str, str]] = {"success": "the acts of some turns lack an expected slot in the gold itself"}
    pools: ClassVar[tuple[str, ...]] = (ALL_VERSIONS, HARD)

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        if self.split not in _LISTS:
            raise InputError(settings.gold, f"has no split {self.split!r}", f"there are: {', '.join(_LISTS)}")
        self.dialogues = self._read_gold(settings.gold)
        self.hard = self._read_hard(settings.gold)
        self._path = ""
        self._gold: dict[Place, Said] = {}

    def _read_gold(self, gold: str) -> dict[str, dict[str, list[_Turn]]]:
        path = need(gold, "data_for_damd.json")
        try:
            everything = msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, list[_Turn]]])
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(str(path), f"is no file of CGoDial's slot-based turns: {error}", "`dialmill validate` tells more") from None
        #: Predictions may hold the other splits too; ids are compared in lower case, as the released loader does.
        self._known = {(name, turn, version) for name, logs in everything.items() for version, turns in logs.items() for turn in range(len(turns))}
        self._names = {name.lower(): name for name in everything}
        #: Slots that turns ask for as the gold spells them: records have them in lower case, and the released scorer looks for the letters.
        every = (slot for logs in everything.values() for turns in logs.values() for turn in turns for slot in turn.turn_succ)
        self._spelling = {slot_name(slot): _bare(slot) for slot in every}
        listed = find(gold, f"{_LISTS[self.split]}ListFile.json")
        if listed is None:
            self.notes.add(f"there is no {_LISTS[self.split]}ListFile.json: all dialogues are scored")
            return everything
        ids = {name.lower() for name in msgspec.json.decode(listed.read_bytes(), type=list[str])}
        return {name: logs for name, logs in everything.items() if name.lower() in ids}

    def _read_hard(self, gold: str) -> dict[str, list[list[str]]]:
        path = find(gold, "hard_data_id_sorted.json")
        return {} if path is None else {hard_id(name): turns for name, turns in msgspec.json.decode(path.read_bytes(), type=_Hard).items()}

    def suites(self) -> list[str]:
        return [WRITTEN, SPOKEN, ALL_VERSIONS, *([HARD] if self.hard else [])]

    # Reading ----------------------------------------------------------------------------------------------------------------------------------

    def read(self, path: str) -> dict[Place, Said]:
        self._path = path
        pairs: list[tuple[Place, Said]] = []
        for file in prediction_files(path):
            if first_byte(file) == b"[":
                for item in read_document(file, "predictions-cgodial-sbd"):
                    name, version = _version(item["dial_id"])
                    said = Said(parse_state(item["bspn_gen"]), parse_acts(item.get("aspn_gen", ""), self.settings.official), item.get("resp_gen"))
                    pairs.append(((self._names.get(name.lower(), name), _number(item["turn_num"], path), version), said))
            else:
                for record in read_lines(file, "predictions-state"):
                    name, suite, variant = parts(record["dialogue_id"], str(file))
                    state = state_of(((one["domain"], slot_name(one["slot"]), one["values"]) for one in record["state"]), "zh")
                    worded = "delexicalised" not in record and "response" in record
                    said = Said(state, self._acts(record), record.get("delexicalised", record.get("response")), worded)
                    version = VERSIONS[0] if suite == WRITTEN else f"log_asr{variant}"
                    pairs.append(((self._names.get(name.lower(), name), record["turn"] // 2, version), said))
        return unique(pairs, path, "the turn")

    def _acts(self, record: Mapping[str, Any]) -> dict[str, set[str]]:
        """The acts of one of our records as the release writes them: a fallback is about what is out of scope, whether its slot says so or not."""
        acts: dict[str, set[str]] = {}
        for act in record.get("acts", ()):
            name, slot = act_name(act["act"]), act.get("slot") or (OUT_OF_SCOPE if act["act"] == "fallback" else "")
            acts.setdefault(name, set()).update([self._spelling.get(slot_name(slot), slot_name(slot))] if slot else [])
        return acts

    def covered(self, guesses: dict[Place, Said]) -> list[str]:
        versions = {version for name, _, version in guesses if name in self.dialogues}
        if not versions:
            raise InputError(self._path, f"predicts none of the {len(self.dialogues)} dialogues of the gold's split {self.split}", "check the ids")
        if versions == {VERSIONS[0]}:
            return [WRITTEN]
        return [ALL_VERSIONS] if VERSIONS[0] in versions else [SPOKEN]

    def every(self, guesses: dict[Place, Said]) -> list[str]:
        return self.suites() if self.covered(guesses) == [ALL_VERSIONS] else self.covered(guesses)

    # Scoring ----------------------------------------------------------------------------------------------------------------------------------

    def _due(self, suite: str) -> list[tuple[str, int, list[tuple[str, int]]]]:
        """(dialogue, variant, (version, number) of its turns) of every dialogue of a suite."""
        if suite == HARD:
            known = {name: self.hard[hard_id(name)] for name in self.dialogues if hard_id(name) in self.hard}
            return [
                (name, level, [(turn[level] if level else VERSIONS[0], at) for at, turn in enumerate(turns)])
                for name, turns in known.items()
                for level in range(4)
            ]
        wanted = {WRITTEN: VERSIONS[:1], SPOKEN: VERSIONS[1:], ALL_VERSIONS: VERSIONS}[suite]
        return [
            (name, VERSIONS.index(version), [(version, turn) for turn in range(len(logs[version]))])
            for name, logs in self.dialogues.items()
            for version in wanted
            if version in logs
        ]

    def units(self, suite: str, guesses: dict[Place, Said] | None) -> Units:
        due = self._due(suite)
        if guesses is not None:
            check_ids([(name, turn, version) for name, _, turns in due for version, turn in turns], guesses, self._path, "dialogue", self._known)
        spoken = self._responses(due, guesses)
        rows: list[dict[str, float]] = []
        found: list[Key] = []
        kinds: dict[str, list[str]] = {"type": [], "depth": []}
        for name, variant, turns in due:
            first = len(rows)
            for version, number in turns:
                turn = self.dialogues[name][version][number]
                gold = self._said(name, version, number)
                said = gold if guesses is None else guesses[name, number, version]
                reference = self._worded(name, version, number) if said.worded else turn.resp
                rows.append(self._row(turn, gold, said, len(turns), reference if spoken else ""))
                found.append(Key(name, variant, str(number)))
                kinds["type"].append(turn.type or _OTHER)
                kinds["depth"].append(strata.depth(number + 1))
            if len(rows) > first:
                rows[first] |= {"dialogues": 1, "success": all(row["acts_right"] for row in rows[first:])}
        columns = columns_of(rows)
        return Units(found, columns, columns["joint"] > 0 if rows else None, kinds)

    def _said(self, name: str, version: str, number: int) -> Said:
        turn = self.dialogues[name][version][number]
        return Said(parse_state(turn.constraint), parse_acts(turn.sys_act, self.settings.official), turn.resp)

    def _worded(self, name: str, version: str, number: int) -> str:
        """The gold's response with its values, where the folder has the records; else as the release has it, with placeholders."""
        if self._utterances is None:
            self._utterances = {}
            for suite in (WRITTEN, SPOKEN):
                path = Path(self.settings.gold) / "dialogues" / suite / f"{self.split}.jsonl"
                for record in records(path) if path.is_file() else ():
                    for turn in record.turns[1::2]:
                        which = VERSIONS[0] if suite == WRITTEN else f"log_asr{record.variant}"
                        self._utterances[record.source_id, turn.turn // 2, which] = turn.utterance
            if not self._utterances:
                self.notes.add("the predicted responses have values and the gold has placeholders alone: bleu and comb can't reach their ceiling")
        found = self._utterances.get((name, number, version), self._utterances.get((name, number, VERSIONS[0])))
        return self.dialogues[name][version][number].resp if found is None else found

    _utterances: dict[Place, str] | None = None

    def _responses(self, due: Sequence[Any], guesses: Mapping[Place, Said] | None) -> bool:
        """Whether responses are scored.

        Raises:
            InputError: some turns have one and others lack it.
        """
        if guesses is None:
            return self._spoken
        places = [(name, turn, version) for name, _, turns in due for version, turn in turns]
        lacking = [place for place in places if guesses[place].response is None]
        self._spoken = not lacking
        if lacking and len(lacking) < len(places):
            raise InputError(self._path, f"has no response for dialogue {shown(lacking[0])}", 'write "" where the system says nothing: it scores 0')
        if lacking:
            self.notes.add("the predictions have no responses: bleu and comb are not scored")
        return self._spoken

    _spoken = True

    def _row(self, turn: _Turn, gold: Said, said: Said, length: int, due: str) -> dict[str, float]:
        joint = gold.state == said.state
        right = self._acts_right(turn, gold.acts, said.acts)
        kind = _TYPES.get(turn.type, _OTHER)
        row: dict[str, float] = {"turns": 1, "joint": joint, "joint_share": joint / length, "acts_right": right}
        row |= {f"turns_{kind}": 1, f"right_{kind}": right}
        if due:  # a turn without a response has no BLEU
            tokens = [text.split() if self.settings.official else _TOKEN.findall(text) for text in (said.response or "", due)]
            row |= {"responses": 1} | bleu.statistics(*tokens)
        return row

    def _acts_right(self, turn: _Turn, gold: Mapping[str, set[str]], said: Mapping[str, set[str]]) -> bool:
        if any(act in gold and act not in said for act in _DUE):
            return False
        due = [slot for slot in turn.turn_succ if slot not in _IGNORED]
        if self.settings.official:
            text = str({act: sorted(slots) for act, slots in said.items()})
            return all(slot in text for slot in due)
        named = {slot_name(slot) for slots in said.values() for slot in slots}
        return all(slot_name(slot) in named for slot in due)

    def metrics(self, sums: Sums) -> dict[str, Floats]:
        if "turns" not in sums:
            return {}
        jga, success = 100 * ratio(sums["joint_share"], sums["dialogues"]), 100 * ratio(sums["success"], sums["dialogues"])
        found = {"jga": jga, "success": success}
        if "responses" in sums:
            found["bleu"] = bleu_4(sums)
            found["comb"] = found["bleu"] + 0.5 * (jga + success)
            found["comb_as_printed"] = np.sqrt(np.maximum(jga * success * found["bleu"], 0))
        found["jga_turns"] = 100 * ratio(sums["joint"], sums["turns"])
        found["turn_success"] = 100 * ratio(sums["acts_right"], sums["turns"])
        for kind in (*_TYPES.values(), _OTHER):
            if f"turns_{kind}" in sums:
                found[f"turn_success_{kind}"] = 100 * ratio(sums[f"right_{kind}"], sums[f"turns_{kind}"])
        return found

    def counts(self, units: Units) -> dict[str, int]:
        sums = units.sums()
        return {"dialogues": int(sums.get("dialogues", 0)), "turns": len(units), "responses": int(sums.get("responses", 0))}

    def policy(self) -> dict[str, str]:
        return {
            "values": POLICY["values"] + "; all blanks in states are ignored; slots by CGoDial's normal form",
            "none": POLICY["none"],
            "tokenizer": "blanks" if self.settings.official else "placeholders, words of Latin letters or digits, and single characters",
            "bleu": "4-grams alone, with the released scorer's 1e-7; the longest n-grams there are where no response has four tokens",
            "success": "slots as part of the acts' text" if self.settings.official else "slots as a whole",
        }


def bleu_4(sums: Sums) -> Floats:
    """BLEU of 4-grams alone in percent, as CGoDial's BLEUScorer, but 0 where nothing was said, and of the longest n-grams there are."""
    hypothesis, reference = np.asarray(sums["bleu_hypothesis"]), np.asarray(sums["bleu_reference"])
    precision = np.zeros(hypothesis.shape)
    for n in range(1, bleu.ORDER + 1):
        total = np.asarray(sums[f"bleu_total_{n}"])
        precision = np.where(total > 0, ratio(sums[f"bleu_right_{n}"], total + _TINY) + _TINY, precision)
    penalty = np.where(hypothesis > reference, 1.0, np.exp(1 - ratio(reference, hypothesis, 1.0)))
    said_something = np.asarray(sums["bleu_right_1"]) > 0
    return np.where(said_something, np.minimum(100 * penalty * precision, 100.0), 0.0)


def parse_state(text: str) -> State:
    """ "[餐厅] 区域=姑苏区|价位=中等 [酒店] 星级=5" as a state."""
    found = []
    for domain, rest in _bracketed(text):
        for item in rest.split("|"):
            slot, equals, value = item.partition("=")
            if equals:
                found.append((domain, slot_name(slot), (_bare(value),)))
    return state_of(found, "zh")


def parse_acts(text: str, official: bool = False) -> dict[str, set[str]]:
    """ "[餐厅] [recommend] 名称|区域" as slots by act, domains left out. The released scorer (`official`) begins an act anew where another domain
    has it too, and forgets the slots that it had."""
    found: dict[str, set[str]] = {}
    for name, rest in _bracketed(text):
        if name in _ACTS:
            if official:
                found.pop(name, None)
            found.setdefault(name, set()).update(bare for slot in rest.split("|") if (bare := _bare(slot)))
    return found


def _bracketed(text: str) -> Iterable[tuple[str, str]]:
    marks = list(_BRACKETS.finditer(text))
    for mark, after in zip(marks, [*marks[1:], None], strict=False):
        yield mark[1], text[mark.end() : after.start() if after is not None else len(text)]


def _bare(text: str) -> str:
    return "".join(text.split())


def _version(dial_id: str) -> tuple[str, str]:
    name, _, version = dial_id.rpartition("-")
    return (name, version) if version in VERSIONS and name else (dial_id, VERSIONS[0])


def _number(value: int | str, path: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise InputError(path, f"holds the turn_num {value!r}, which is no number", "count turns from 0") from None
