"""RiSAWOZ (Quan et al. 2020): Chinese, 12 domains; a list of dialogues whose turns are pairs of a user's and a system's utterance.

Pair k becomes the turns 2k and 2k + 1. Values are word-segmented in the release ("2010 年代"); the blanks are taken out again. There are no spans:
they are found here. A slot is called "域-槽", cut at the first hyphen (a slot may hold "/" and "-").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from dialmill.perturbers.core.surfaces import kind_of
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources import normalise
from dialmill.pipelines.sources.reading import (
    CHINESE,
    SPLITS,
    Notes,
    check_turn_ids,
    file_name,
    json_array_items,
    json_object_items,
    load_dialogue,
    load_text,
    name_domains,
    official_split,
    opening,
    records_with_id,
    take,
    take_if,
)
from dialmill.pipelines.sources.spans import Claim, settle
from dialmill.schemas import Act, Dialogue, Goal, SlotValues, Span, Turn
from dialmill.schemas.kinds import ANY, FileKind, Relative

#: The pseudo-domain of greetings and the like.
GENERAL = "通用"

_LIST = re.compile(r"(?:^|_)(train|dev|test)[\d_a-z]*\.json$")
_OTHER = re.compile(r"(?:attraction|car|class|flight|hospital|hotel|movie|pc|restaurant|train|tv|weather)_db\.json|ontology\.json")

_MATCHES = re.compile(r"成功匹配个数为\s*([0-9]{1,9})")

State = tuple[SlotValues, ...]


class RiSAWOZ(Source):
    """RiSAWOZ, original layout."""

    name = "risawoz"
    language = "zh"
    licence = "CC BY-NC 4.0"
    about = "RiSAWOZ, original layout (Chinese, 12 domains); its data may not be used commercially"
    cuts = True
    relatives = (
        Relative(
            "X-RiSAWOZ in another language than Chinese, whose utterances are pairs of a text and its values; its Chinese files are read",
            ([{"dialogue": [{"user_utterance": [ANY]}]}], [{"dialogue": [{"system_utterance": [ANY]}]}]),
        ),
    )
    kinds = (FileKind("risawoz", ([{"dialogue_id": ANY, "dialogue": ANY}],)),)

    def role(self, path: str, head: str) -> Role | None:
        name, start = file_name(path), opening(head)
        if start.startswith("[") and '"user_utterance"' in head and ('"belief_state"' in head or '"system_utterance"' in head):
            return "dialogues"
        if name == "dataset_split_ids_dict.json":
            return "splits"
        # The side files of MultiWOZ and CrossWOZ have the same names.
        foreign = re.match(r"\[\s*\[", start) or ('"' in head and not CHINESE.search(head))
        return "other" if _OTHER.fullmatch(name) and not foreign else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        if role == "dialogues":
            for source_id, raw in records_with_id(path, data):
                yield source_id, "dialogue", raw
        elif role == "splits":
            items = json_object_items(path, data)
            if not any(_LIST.search(name) for name, _ in items):
                raise InputError(path, "names no list of train, dev or test ids", 'expected keys such as "all_train10000.json"')
            for name, raw in items:
                listed = _LIST.search(name)
                if listed:
                    for listed_id in json_array_items(path, raw):
                        yield load_text(listed_id, path), "split", SPLITS[listed[1]]

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        record = load_dialogue(pieces)
        take(record, "dialogue_id", str)
        pairs = take(record, "dialogue", list)
        if not pairs:
            raise RecordError("empty_dialogue", "dialogue holds no turn")
        texts = [tuple(take(pair, f"{side}_utterance", str, f"dialogue[{k}]") for side in ("user", "system")) for k, pair in enumerate(pairs)]
        check_turn_ids([pair.get("turn_id", k) for k, pair in enumerate(pairs)], "dialogue")
        notes = Notes()
        turns: list[Turn] = []
        state: State = ()
        for k, (pair, (said, answered)) in enumerate(zip(pairs, texts, strict=True)):
            where = f"dialogue[{k}]"
            belief = take(pair, "belief_state", dict, where)
            reached = _state(belief, "inform slot-values", f"{where}.belief_state")
            state = reached if reached != state else state
            told = _state(belief, "turn_inform", f"{where}.belief_state") if "turn_inform" in belief else ()
            acts = _acts(pair, "user_actions", where, notes)
            turns.append(Turn(2 * k, "user", said, None, _spans(said, acts, told, notes), acts, state))
            acts = _acts(pair, "system_actions", where, notes)
            turns.append(Turn(2 * k + 1, "system", answered, None, _spans(answered, acts, (), notes), acts))
        goal = take_if(record, "goal", str)
        return Dialogue(
            dialogue_id=source_id,
            source=self.name,
            source_id=source_id,
            language=self.language,
            split=official_split(pieces),
            domains=name_domains(take_if(record, "domains", list) or [], turns, GENERAL),
            turns=tuple(turns),
            goal=None if goal is None else Goal(goal),
            lineage=notes.lineage(),
        )

    def extra(self, pieces: Sequence[Piece]) -> bytes:
        """How many rows of the database fit after each user turn, as the release says; null where it doesn't."""
        pairs = take(load_dialogue(pieces), "dialogue", list)
        return msgspec.msgpack.encode([_matches(pair) for pair in pairs])


def _matches(pair: dict[str, Any]) -> int | None:
    results = pair.get("db_results")
    told = _MATCHES.search(results[0]) if isinstance(results, list) and results and isinstance(results[0], str) else None
    return min(int(told[1]), 1 << 31) if told else None


@lru_cache(maxsize=1 << 12)
def _slot(key: str) -> tuple[str, str]:
    domain, hyphen, slot = key.lower().partition("-")
    return (domain.strip(), slot.strip()) if hyphen else ("", "")


def _state(belief: dict[str, Any], key: str, where: str) -> State:
    """The values under `key` of a belief state, which is cumulative in "inform slot-values" and this turn's in "turn_inform"."""
    found: list[SlotValues] = []
    for name, value in take(belief, key, dict, where).items():
        domain, slot = _slot(name)
        if not slot:
            raise RecordError("wrong_type", f"{where}.{key}: expected a key such as 餐厅-区域, found {name[:40]!r}")
        values = normalise.values(value, f"{where}.{key}.{name}", "zh")
        if values:
            found.append(SlotValues(domain, slot, values))
    return tuple(found)


def _acts(pair: dict[str, Any], key: str, where: str, notes: Notes) -> tuple[Act, ...]:
    """The acts of one side of a turn: [[act, domain, slot, value], ...], in their order, without repeats."""
    entries = take_if(pair, key, list, where)
    if not entries:
        notes.add("acts_missing")
        return ()
    acts: dict[Act, None] = {}
    for entry in entries:
        if type(entry) is list and len(entry) == 4 and all(type(part) is str for part in entry[:3]):
            text = normalise.scalar_text(entry[3])
            if text is not None:
                acts[_act(entry[0], entry[1], entry[2], text)] = None
                continue
        notes.add("act_malformed")
    return tuple(acts)


@lru_cache(maxsize=1 << 14)
def _act(act: str, domain: str, slot: str, value: str) -> Act:
    low = act.lower()
    return Act(low, domain.lower(), slot.lower() or None, None if low == "request" else normalise.single(value, "zh"))


def _spans(text: str, acts: tuple[Act, ...], told: State, notes: Notes) -> tuple[Span, ...]:
    """Where the values of a turn's acts, and of what it adds to the state, stand in its text."""
    labels = dict.fromkeys([(act.domain, act.slot, act.value) for act in acts if act.slot is not None and act.value is not None])
    labels.update(dict.fromkeys([(entry.domain, entry.slot, value) for entry in told for value in entry.values]))
    # "是" of 是否地铁直达 says something about the text, and does not stand in it as a value.
    claims = [Claim(domain, slot, value) for domain, slot, value in labels if not kind_of(slot, value).startswith("boolean")]
    if not claims:
        return ()
    settled = settle(text, claims, "zh")
    notes.add_spans(settled)
    return settled.spans
