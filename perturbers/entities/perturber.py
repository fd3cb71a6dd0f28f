"""Unseen entities: names, times and codes replaced by values that no training split has, in the whole dialogue at once.

RADDLE's unseen entities (Peng et al. 2021, section 3.2) and the value replacement of the DSTC11 speech-aware track (Soltau et al. 2022), which shifts
all times of a dialogue by one constant. Both sides' utterances, spans, states, acts and the goal are rewritten by one function, so that they cannot
part; a span keeps the status `kept`, as both its value and its text are new. The result is then searched for old values by code that has no part
in replacing them; an entity of which anything is left stays as it was, and the lineage says so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple

from dialmill.perturbers.core import clock, tables
from dialmill.perturbers.core.checks import labels_of, old_values_left
from dialmill.perturbers.core.contract import DialoguePerturber, PerturbResult, untouched
from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.options import Meta, OptionError
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.surfaces import DONTCARE, slot_name
from dialmill.perturbers.core.tables import read_tables
from dialmill.perturbers.core.values import VALUE_CLASSES, signals
from dialmill.perturbers.entities import coinage
from dialmill.perturbers.entities.coinage import LODGING, PERSON, RESTAURANT, SIGHT, TASK, TITLE, TOWN, VENUE
from dialmill.perturbers.entities.mentions import WITH_TAIL, Entity, Finder, FinderZh, Mention, generic_zh, group_en, name_of, zh_core
from dialmill.schemas import Act, Dialogue, Edit, Goal, SkippedTurn, SlotValues, Span, Turn, apply_edits

Slots = Literal["names", "names-times", "all"]

_DOMAIN_KINDS = {
    "hotel": LODGING,
    "restaurant": RESTAURANT,
    "attraction": SIGHT,
    "酒店": LODGING,
    "餐厅": RESTAURANT,
    "餐馆": RESTAURANT,
    "旅游景点": SIGHT,
    "景点": SIGHT,
    "医院": VENUE,
}
_SLOT_KINDS = {
    **dict.fromkeys(("city", "city_of_event", "location", "from_location", "to_location", "origin", "出发地", "目的地", "城市"), TOWN),
    **dict.fromkeys(("artist", "person", "主演", "主演名单", "导演", "老师", "教师"), PERSON),
    **dict.fromkeys(("片名", "movie_name", "song_name", "show_name", "album"), TITLE),
    **dict.fromkeys(("event_location",), VENUE),
    "周边景点": SIGHT,
    "周边餐馆": RESTAURANT,
    "周边酒店": LODGING,
    **dict.fromkeys(("task",), TASK),
}
#: Slots of names that are no places, persons or titles: what takes part in an event.
_NO_PLACES = frozenset({"event_name"})
_AIRPORT = re.compile(r"[\u4e00-\u9fff]{2}国际机场")
#: Domains of rides from one place of a town to another.
_RIDES = frozenset({"地铁", "出租"})
#: The mark of the plural and the number of a service: the domains of SGD ("hotels_4").
_SERVICE = re.compile(r"s?(?:_\d+)?$")
_PLACES = frozenset({"departure", "destination", "depart", "dest", "from", "to"})
#: Slots of codes -> how many characters of a code stay ("TR" of a train, the area code of a telephone number).
_CODES = {
    "phone": 2,
    "phone_number": 2,
    "post": 0,
    "postcode": 0,
    "ref": 0,
    "reference": 0,
    "id": 2,
    "trainid": 2,
    "电话": 4,
    "电话号码": 4,
    "班号": 2,
}
_TIME_SLOTS = re.compile(r"time|leave|arrive|open|时间|时段")
_DATABASE_KINDS = {"hotel": LODGING, "restaurant": RESTAURANT, "attraction": SIGHT, "hospital": VENUE, "movie": TITLE, "tv": TITLE}
_NO_NAMES = frozenset({"", "?", "none", "not mentioned", "yes", "no"}) | DONTCARE
_ROUNDS = 4


class Replacement(NamedTuple):
    """A stretch of a text, what replaces it, and of which entity it is (-1 for times, -2 for codes)."""

    start: int
    end: int
    text: str
    entity: int


@dataclass(frozen=True)
class Entities(DialoguePerturber):
    """Replaces names (and times, and codes) by unseen values, consistently through the dialogue.

    A name keeps the word that says what it is ("acorn guest house" becomes "velinbrook guest house"), its capitals and the corpus' way of cutting
    words; short forms follow ("acorn"), a and an are put right. All times move by one constant, a multiple of five minutes, that keeps their order
    and the way they are written. Telephone numbers, postcodes, references and train ids keep their shape.
    """

    slots: Annotated[
        Slots,
        Meta(
            description='what is replaced: "names" of places, people and titles; "names-times", times of day too; "all", telephone numbers, '
            "postcodes, references and train ids too"
        ),
    ] = "names-times"
    db: Annotated[
        str,
        Meta(
            description="files of a database to take the names from, \"|\" between them (MultiWOZ's and RiSAWOZ's *_db.json, lists of objects with a "
            '"name" or "名称"; the knowledge.json and db.json of DSTC9); empty takes names of ours that no corpus has',
            examples=["hotel_db.json|restaurant_db.json"],
        ),
    ] = ""
    avoid: Annotated[
        str,
        Meta(
            description="values that must not be used, such as those of a training split: a text file, one a line, or a file as for db",
            examples=["train_names.txt"],
        ),
    ] = ""

    name: ClassVar[str] = "entities"
    version: ClassVar[int] = 2
    relabels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for path in filter(None, (*self.db.split("|"), self.avoid)):
            if not Path(path).is_file():
                raise OptionError(f"entities: there is no file {path}")
        try:
            if self.db and not _database(self.db):
                raise OptionError(f"entities: {self.db} holds no names")
        except ValueError as error:
            raise error if isinstance(error, OptionError) else OptionError(f"entities: {self.db} {error}") from None

    def startup_warnings(self, languages: Iterable[str]) -> tuple[str, ...]:
        return tuple(f"{self.name}: {said}" for said in tables.warnings(self.db))

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        labels = _labels(dialogue)
        left_out: dict[str, str] = {}
        for attempt in range(_ROUNDS):
            plan = self._plan(dialogue, labels, frozenset(left_out), Rng(seed, self.step, dialogue.source_id, variant, attempt))
            if plan is None:
                break
            made = plan.carry_out()
            faults = _faults(dialogue, plan, made)
            if not faults:
                return made._replace(reasons=(*plan.reasons(), *(f"kept: {value!r} ({why})" for value, why in left_out.items())))
            left_out.update(faults)
        reason = next(iter(left_out.values())) if left_out else "nothing_to_replace"
        if not reason.startswith("old_value_left"):
            reason = reason.partition(":")[0]
        return untouched(dialogue, reason)

    def _plan(self, dialogue: Dialogue, labels: Labels, left_out: frozenset[str], rng: Rng) -> Plan | None:
        """What becomes of each value; None where there is nothing to replace."""
        language = dialogue.language
        entities = _entities(labels, language, left_out)
        taken = {value.lower() for _, _, value in labels.values} | _avoided(self.avoid)
        for entity in entities:
            if not self._name(entity, language, taken, rng, _hints(entity, labels, language)):
                return None
        codes: dict[str, str] = {}
        if self.slots == "all":
            for _, slot, value in labels.values:
                keep = _CODES.get(slot_name(slot))
                if keep is not None and value not in left_out and any(char.isdigit() for char in value) and value.lower() not in codes:
                    new = coinage.same_shape(value.lower(), rng, keep)
                    codes[value.lower()] = coinage.same_shape(value.lower(), rng, keep) if new in taken or new == value.lower() else new
        shift, labelled = 0, frozenset[int]()
        found: list[list[clock.Time]] = []
        if self.slots != "names" and "times" not in left_out:
            labelled = frozenset(minutes for _, slot, value in labels.values if _is_time(slot) and (minutes := clock.minutes_of(value)) is not None)
            found = [clock.times(turn.utterance, language, labelled, _time_spans(turn)) for turn in dialogue.turns]
            every = labelled.union(time.minutes for times in found for time in times)
            possible = clock.shifts(every) if every else []
            shift = rng.choice(possible) if possible else 0
        if not entities and not codes and not shift:
            return None
        return Plan(dialogue, labels, entities, codes, shift, labelled, found)

    def _name(self, entity: Entity, language: str, taken: set[str], rng: Rng, hints: Sequence[str]) -> bool:
        """Gives an entity its new name, of its sort as far as `hints` tell it; False if none could be found."""
        stock = _database(self.db).get(entity.kind, ()) if self.db else ()
        # Words for a type that the old name or the labels have ("museum") are none that came in.
        told = {signal[2:] for text in (*entity.values, *hints) for signal in signals(text, language, Cut(text, language))}
        tails = {word for name in entity.names for word in name.tail}
        for attempt in range(50):
            if stock:
                entity.whole = rng.choice(stock)
                parsed = name_of(entity.whole) if language != "zh" else None
                core = entity.whole[: len(entity.whole) - len(" ".join(parsed.tail)) - 1] if parsed and parsed.tail else entity.whole
                entity.new = zh_core(entity.whole) if language == "zh" and entity.kind in WITH_TAIL else re.sub(r"^[Tt]he ", "", core)
            elif language == "zh" and entity.kind == PERSON:
                foreign = next((mark for mark in "·.．・" if any(mark in value for value in entity.values)), "")
                entity.new = coinage.foreign_person(rng, foreign, entity.values[0]) if foreign else coinage.coin(PERSON, "zh", rng)
            else:
                whole = attempt < 25 and (all(zh_core(value) == value for value in entity.values) if language == "zh" else entity.bare)
                entity.new = coinage.coin(entity.kind, language, rng, whole, hints)
            names = {entity.new.lower(), entity.whole.lower()} - {""}
            found = signals(entity.new, language, Cut(entity.new, language))
            added = any(signal.kind in VALUE_CLASSES and signal[2:] not in told for signal in found)
            if not stock and added and not (language == "zh" and entity.kind == TOWN):
                continue
            if not stock and language != "zh" and entity.new.lower().rpartition(" ")[2] in tails:
                continue  # "frame house" of "broughton house gallery"
            if not any(name in other or other in name for name in names for other in taken if len(other) > 2):
                taken |= names
                return True
        return False


class Labels(NamedTuple):
    """The labels of a dialogue: each (domain, slot, value) once, in order of appearance."""

    values: tuple[tuple[str, str, str], ...]


def _labels(dialogue: Dialogue) -> Labels:
    return Labels(tuple(dict.fromkeys(labels_of(dialogue))))


@lru_cache(maxsize=4096)
def kind_of_name(domain: str, slot: str) -> str | None:
    """What kind of name a slot holds, None if it holds no name."""
    name = slot_name(slot)
    if domain in _RIDES and _SLOT_KINDS.get(name) == TOWN:
        return VENUE
    if name in _NO_PLACES:
        return None
    if name in _SLOT_KINDS:
        return _SLOT_KINDS[name]
    if name == "名称":
        return _DOMAIN_KINDS.get(domain)
    if name in _PLACES:
        return TOWN if domain in ("train", "bus", "flight", "flights", "buses", "trains") else VENUE
    if name == "name" or name.endswith("_name"):
        return PERSON if domain in ("contact", "reminder") else _DOMAIN_KINDS.get(_SERVICE.sub("", domain, count=1), VENUE)
    return None


@lru_cache(maxsize=4096)
def _is_time(slot: str) -> bool:
    """Whether a slot may hold a time of day."""
    return _TIME_SLOTS.search(slot) is not None


def _entities(labels: Labels, language: str, left_out: frozenset[str]) -> list[Entity]:
    """The named entities of a dialogue; what is a hotel's name and a taxi's destination is a hotel."""
    named = [
        (kind, domain, slot, value)
        for domain, slot, value in labels.values
        if value.strip().lower() not in _NO_NAMES and (kind := kind_of_name(domain, slot)) is not None and value not in left_out
    ]
    named.sort(key=lambda label: (label[0] == VENUE, label[0] != TOWN))
    if language != "zh":
        return group_en(named)
    # A flight's label names its airports; they move with the towns.
    named += [
        (VENUE, domain, slot, airport) for domain, slot, value in labels.values for airport in _AIRPORT.findall(value) if airport not in left_out
    ]
    entities: dict[str, Entity] = {}
    for kind, domain, slot, value in named:
        for part in re.split(r"\s*/\s*", value) if kind == PERSON else [value]:
            key = re.sub(r"[\s·.．・]", "", zh_core(part) if kind in WITH_TAIL else part)
            if len(key) < 2 or part in left_out or generic_zh(part):
                continue
            entity = entities.setdefault(key, Entity(kind, domain, slot))
            if part not in entity.values:
                entity.values.append(part)
    return list(entities.values())


#: Slots that say what sort of place it is: its food, its type.
_SORT_SLOTS = frozenset({"food", "cuisine", "type", "category", "菜系", "景点类型", "类型"})


def _hints(entity: Entity, labels: Labels, language: str) -> tuple[str, ...]:
    """What the dialogue tells of an entity's sort: words at the end of its name, then the one food or type that the labels of its domain have, and
    what its slot is."""
    told: list[str] = []
    if language == "zh":
        told += entity.values
    else:
        for name in entity.names:
            told += [" ".join(name.tail), *reversed(name.tail)]
    types = {value.lower() for domain, slot, value in labels.values if domain == entity.domain and slot_name(slot) in _SORT_SLOTS} - _NO_NAMES
    if len(types) == 1:
        told += types
    return (*dict.fromkeys(filter(None, told)), slot_name(entity.slot))


def _time_spans(turn: Turn) -> list[tuple[int, int]]:
    return [
        (span.start, span.end)
        for span in turn.spans
        if span.start is not None and span.end is not None and _is_time(span.slot) and clock.minutes_of(span.value) is not None
    ]


@lru_cache(maxsize=8)
def _database(paths: str) -> dict[str, tuple[str, ...]]:
    """Kind -> the names of some database files."""
    found: dict[str, dict[str, None]] = {}
    for path in filter(None, paths.split("|")):
        for table, rows in read_tables(path).rows.items():
            for row in rows:
                name = tables.name_of(row)
                if name:
                    kind = _DATABASE_KINDS.get(table) or _DOMAIN_KINDS.get(table, VENUE)
                    found.setdefault(kind, {})[" ".join(name.split())] = None
    return {kind: tuple(names) for kind, names in found.items()}


@lru_cache(maxsize=8)
def _avoided(path: str) -> frozenset[str]:
    if path.endswith(".json"):
        return frozenset(name.lower() for names in _database(path).values() for name in names)
    return frozenset(line.strip().lower() for line in Path(path).read_text("utf-8").splitlines() if line.strip()) if path else frozenset()


class Plan:
    """All replacements of one dialogue, and the one function that makes them in utterances and labels alike."""

    def __init__(
        self,
        dialogue: Dialogue,
        labels: Labels,
        entities: list[Entity],
        codes: dict[str, str],
        shift: int,
        labelled: frozenset[int],
        times: list[list[clock.Time]],
    ) -> None:
        self.dialogue, self.labels, self.entities, self.codes, self.shift, self.labelled = dialogue, labels, entities, codes, shift, labelled
        self.times = times  #: the times in each turn
        self.language = dialogue.language
        self._finder: Finder | FinderZh = FinderZh(entities) if self.language == "zh" else Finder(entities)
        self._owners = {value: number for number, entity in enumerate(entities) for value in entity.values}
        # A code stands whole: no letter or digit beside it.
        pattern = "|".join(re.escape(code) for code in sorted(codes, key=len, reverse=True))
        self._codes = re.compile(rf"(?<![a-z0-9])(?:{pattern})(?![a-z0-9])", re.IGNORECASE) if codes else None
        self._values: dict[tuple[str, bool], str] = {}

    def replacements(self, text: str, turn: Turn | None = None, timed: bool = False, times: list[clock.Time] | None = None) -> list[Replacement]:
        """The replacements in an utterance (with its turn, whose spans help) or a label, in order and disjoint.

        `timed` says that the text is a time and nothing else, `times` are the times in it where they are known.
        """
        found: list[Replacement] = []
        if self.entities:
            forced = [] if turn is None else self._forced(turn)
            found = [one for mention in self._finder.find(text, forced) for one in self._renamed(text, mention)]
        if self.shift:
            if times is None:
                times = clock.times(text, self.language, self.labelled, [(0, len(text))] if timed else [])
            found += [Replacement(time.start, time.end, clock.shifted(text, time, self.shift), -1) for time in times]
        if self._codes is not None:
            for match in self._codes.finditer(text):
                new = self.codes[match.group().lower()]
                found.append(Replacement(match.start(), match.end(), new.upper() if match.group().isupper() else new, -2))
        found.sort()
        kept: list[Replacement] = []
        for one in found:
            if not kept or one.start >= kept[-1].end:
                kept.append(one)
        return kept

    def _forced(self, turn: Turn) -> list[tuple[int, int, int]]:
        owners = self._owners
        return [
            (span.start, span.end, owners[span.value])
            for span in turn.spans
            if span.value in owners and span.start is not None and span.end is not None and kind_of_name(span.domain, span.slot) is not None
        ]

    def _renamed(self, text: str, mention: Mention) -> list[Replacement]:
        """What replaces a mention, in its case; an article before it is put right with it."""
        entity = self.entities[mention.entity]
        start, end = mention.start, mention.end
        new = entity.new
        old = text[start:end]
        if entity.whole and mention.full:
            end = mention.tail_end
            new = re.sub(r"^[Tt]he ", "", entity.whole) if self.language != "zh" else entity.whole
        if self.language == "zh":
            return [Replacement(start, end, new, mention.entity)]
        named = Replacement(start, end, _cased(new, old), mention.entity)
        article = _ARTICLE.search(text, max(0, start - 5), start)
        if article is not None:
            due = "an" if new[0].lower() in "aeiou" else "a"
            if due != article[1].lower():
                due = due.capitalize() if article[1][0].isupper() else due
                return [Replacement(article.start(1), article.end(1), due, mention.entity), named]
        return [named]

    def value(self, slot: str, value: str) -> str:
        """A label's value after the replacements."""
        timed = bool(self.shift) and _is_time(slot) and clock.minutes_of(value) is not None
        key = (value, timed)
        new = self._values.get(key)
        if new is None:
            new = value
            for one in reversed(self.replacements(value, None, timed)):
                new = new[: one.start] + one.text + new[one.end :]
            owner = self._owners.get(value)
            if owner is not None and self.entities[owner].whole:
                new = self.entities[owner].whole if self.language == "zh" else _cased(self.entities[owner].whole, value)
            self._values[key] = new
        return new

    def carry_out(self) -> PerturbResult:
        """The dialogue with all replacements made."""
        turns: list[Turn] = []
        skipped: list[SkippedTurn] = []
        states: dict[tuple[SlotValues, ...], tuple[SlotValues, ...]] = {}
        for place, turn in enumerate(self.dialogue.turns):
            times = self.times[place] if self.shift else None
            edits = [Edit(one.start, one.end, one.text) for one in self.replacements(turn.utterance, turn, times=times)]
            changed = apply_edits(turn, edits)
            if turn.speaker == "user" and changed.utterance == turn.utterance:
                skipped.append(SkippedTurn(turn.turn, "nothing_to_replace"))
            state = states.get(turn.state)
            if state is None:
                state = states[turn.state] = self._cells(turn.state)
            turns.append(
                changed.replace(
                    spans=tuple(self._span(old, new) for old, new in zip(turn.spans, changed.spans, strict=True)),
                    acts=tuple(self._act(act) for act in turn.acts),
                    state=state,
                )
            )
        return PerturbResult(tuple(turns), self._goal(self.dialogue.goal), tuple(skipped))

    def _cells(self, cells: Sequence[SlotValues]) -> tuple[SlotValues, ...]:
        return tuple(
            cell if (values := tuple(self.value(cell.slot, value) for value in cell.values)) == cell.values else cell.replace(values=values)
            for cell in cells
        )

    def _span(self, old: Span, new: Span) -> Span:
        value = self.value(old.slot, old.value)
        if new.status == "changed" and old.status != "changed" and value != old.value:
            # Value and text are both new, and agree.
            return new.replace(value=value, status=old.status)
        return new if value == new.value else new.replace(value=value)

    def _act(self, act: Act) -> Act:
        if not act.value or act.slot is None:
            return act
        value = self.value(act.slot, act.value)
        return act if value == act.value else act.replace(value=value)

    def _goal(self, goal: Goal | None) -> Goal | None:
        if goal is None:
            return None
        text = goal.text
        for one in reversed(self.replacements(text)):
            text = text[: one.start] + one.text + text[one.end :]
        return goal.replace(text=text, inform=self._cells(goal.inform), book=self._cells(goal.book), fail=self._cells(goal.fail))

    def reasons(self) -> tuple[str, ...]:
        """The replacements for the lineage."""
        named = [(entity, value) for entity in self.entities for value in entity.values]
        told = [f"{entity.domain} {entity.slot}: {value!r} -> {self.value(entity.slot, value)!r}" for entity, value in named]
        told += [f"code: {old!r} -> {new!r}" for old, new in self.codes.items()]
        return (*told, f"times: {self.shift:+d} minutes") if self.shift else tuple(told)


_ARTICLE = re.compile(r"(?<!\w)(an?) {1,2}$", re.IGNORECASE)


def _cased(new: str, old: str) -> str:
    """A name with the capitals of what it replaces."""
    letters = [char for char in old if char.isalpha()]
    if not any(char.isupper() for char in letters):
        return new.lower()
    if len(letters) > 3 and all(char.isupper() for char in letters):
        return new.upper()
    return " ".join(word[0].upper() + word[1:] for word in new.split(" "))


# ------------------------------------------------------------------ the check

_BLANK = re.compile(r"[\W_]+")


@lru_cache(maxsize=16384)
def _squeezed(text: str, language: str) -> str:
    """A text as the check compares it: words between single blanks; for Chinese no blanks at all."""
    return _BLANK.sub("", text.lower()) if language == "zh" else f" {_BLANK.sub(' ', text.lower()).strip()} "


def _faults(dialogue: Dialogue, plan: Plan, made: PerturbResult) -> dict[str, str]:
    """Old values (or "times") that can't be replaced, with the reason. Shares nothing with what finds and replaces them but the plan's values."""
    language = dialogue.language
    faults: dict[str, str] = {}
    new_labels = _labels(dialogue.replace(turns=made.turns, goal=made.goal))
    texts = [turn.utterance for turn in made.turns] + [value for _, _, value in new_labels.values] + ([made.goal.text] if made.goal else [])
    everything = _squeezed("\n\n".join(texts), language)
    search: Callable[[str], bool] = lambda value: bool(value.strip()) and value in everything  # noqa: E731
    was = {value.lower() for _, _, value in plan.labels.values}
    fresh: dict[str, int] = {}
    for number, entity in enumerate(plan.entities):
        for value in entity.values:
            new = plan.value(entity.slot, value)
            if new == value:
                fault = "not_replaced"
            elif search(_squeezed(value, language)):
                fault = "old_value_remains"
            elif new.lower() in was or fresh.setdefault(new.lower(), number) != number:
                fault = "new_value_is_another's"
            else:
                continue
            faults.update(dict.fromkeys(entity.values, fault))
            break
    if plan.shift and any(search(f" {minutes // 60:02d} {minutes % 60:02d} ") for minutes in plan.labelled) and language != "zh":
        faults["times"] = "old_value_remains"
    for old in plan.codes:
        if search(_squeezed(old, language)):
            faults.update({value: "old_value_remains" for _, _, value in plan.labels.values if value.lower() == old})
    for left in old_values_left(dialogue, dialogue.replace(turns=made.turns, goal=made.goal)):
        owner = next((entity for entity in plan.entities if left.value in entity.values), None)
        faults.update(dict.fromkeys(["times"] if owner is None and _is_time(left.slot) else owner.values if owner else [left.value], str(left)))
    for before, after in zip(dialogue.turns, made.turns, strict=True):
        for old_span, new_span in zip(before.spans, after.spans, strict=True):
            fault = _span_fault(old_span, new_span, language, plan.labelled)
            if fault:
                faults.update(dict.fromkeys(_at_fault(old_span, plan), fault))
    return faults


def _at_fault(span: Span, plan: Plan) -> list[str]:
    """What can't be replaced if a span comes apart: its own entity, the times, or an entity whose name overlaps it."""
    owner = next((entity for entity in plan.entities if span.value in entity.values), None)
    if owner is not None:
        return owner.values
    if _is_time(span.slot):
        return ["times"]
    surface = (span.text or "").lower()
    over = [entity for entity in plan.entities if any(value.lower() in surface or surface in value.lower() for value in entity.values)]
    return [value for entity in over for value in entity.values] or [span.value]


def _named(text: str, language: str) -> str:
    """A text without the article that a name may have or not."""
    squeezed = _squeezed(text, language)
    return f" {squeezed[5:]}" if squeezed.startswith(" the ") else squeezed


def _span_fault(old: Span, new: Span, language: str, labelled: frozenset[int]) -> str:
    """Why a span and its value have come apart, "" if they have not."""
    if new.status == "lost" or new.text is None:
        return "" if old.status == "lost" else "span_lost"
    if new.status != old.status:
        return f"span_changed: {new.text!r}, {new.value!r}"
    agreed = _named(old.text or "", language) == _named(old.value, language)
    if agreed and _named(new.text, language) != _named(new.value, language):
        return f"text_and_value_differ: {new.text!r}, {new.value!r}"
    if (new.text == old.text) != (new.value == old.value) and agreed:
        return f"text_or_value_alone_changed: {new.text!r}, {new.value!r}"
    if not agreed and new.value != old.value and new.text == old.text and clock.minutes_of(old.value) is not None:
        return f"time_not_found: {new.text!r}"
    return ""
