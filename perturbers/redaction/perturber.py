"""Takes personal data out of a dialogue: both sides' words, and labels that hold it, with the same surrogate wherever a value stands."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from dialmill.perturbers.core.contract import DialoguePerturber, PerturbResult, untouched
from dialmill.perturbers.core.effects import Naming
from dialmill.perturbers.core.lexicon import words
from dialmill.perturbers.core.options import Meta, OptionError
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.redaction.finders import KINDS, Find, Kind, find
from dialmill.perturbers.redaction.surrogates import phone, surrogate
from dialmill.perturbers.redaction.written import one_form, parted
from dialmill.schemas import Dialogue, Edit, Goal, SlotValues, Span, Turn, apply_edits

#: Words for speakers that name nobody.
_ROLES = words("user system agent assistant customer client bot human operator caller usr sys speaker tool developer 用户 客服 系统 顾客 客户 坐席")


@dataclass(frozen=True)
class Redact(DialoguePerturber):
    """Replaces personal data (e-mail, phone, URL, IP, card, IBAN, codes, names of speakers) by surrogates or by placeholders.

    A value has one surrogate in the whole run (a seeded hash of it), spans move, and edits lead back to the source: keep these apart from what you
    publish (`original`, `edits`), or export the suite. Values that are labels of the dialogue are left alone, or replaced in text and labels alike.
    """

    kinds: Annotated[
        str, Meta(description='what is taken out: any of email, url, ip, iban, card, phone, id, name, joined by "|"', examples=["email|phone"])
    ] = "|".join(KINDS)
    style: Annotated[
        Literal["surrogate", "placeholder"],
        Meta(description='"surrogate" puts another value of the same shape in its place, "placeholder" the kind in brackets: [EMAIL]'),
    ] = "surrogate"
    labelled: Annotated[
        Literal["exempt", "replace"],
        Meta(description='what becomes of values that are labels of the dialogue: "exempt" leaves them, "replace" changes text and labels alike'),
    ] = "exempt"
    names: Annotated[
        str, Meta(description="a text file with names to take out, one a line", examples=["names.txt"], extra={"needs": {"kinds": Naming(("name",))}})
    ] = ""
    region: Annotated[
        Literal["GB", "US", "CN"],
        Meta(description="where telephone numbers without a country's code are from", extra={"needs": {"kinds": Naming(("phone",))}}),
    ] = "GB"

    name: ClassVar[str] = "redact"
    version: ClassVar[int] = 2
    relabels: ClassVar[bool] = True
    fine_unchanged: ClassVar[frozenset[str]] = frozenset({"nothing_to_redact"})

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [kind for kind in self._kinds() if kind not in KINDS]
        if unknown or not self._kinds():
            raise OptionError(f"redact: kinds are {', '.join(KINDS)}, joined by |, not {self.kinds!r}")
        if "phone" in self._kinds() and importlib.util.find_spec("phonenumbers") is None:
            raise OptionError("redact: telephone numbers are found by phonenumbers: pip install 'dialmill[clean]', or leave phone out of kinds")
        if self.names:
            _listed(self.names)

    def _kinds(self) -> tuple[str, ...]:
        return tuple(kind.strip() for kind in self.kinds.split("|") if kind.strip())

    @property
    def card_notes(self) -> tuple[str, ...]:
        return (
            f"Personal data ({', '.join(self._kinds())}) was taken out by rule, which finds not all of it; `original` and `edits` of the records"
            " lead back to the source.",
        )

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        names = _listed(self.names) if self.names else frozenset()
        names |= _speakers(dialogue) if "name" in self._kinds() else frozenset()
        found = [self._find(turn, names, dialogue.language) for turn in dialogue.turns]
        # A name that somebody gives is theirs in every turn.
        given = names | {one.text.lower() for finds in found for one in finds if one.kind == "name"}
        if given != names:
            found = [self._find(turn, given, dialogue.language) for turn in dialogue.turns]
        region = self._region(dialogue.language)
        labels = _labelled(dialogue)
        named = {(kind, one_form(kind, label, region)) for kind in KINDS for label in labels}
        replaced: set[tuple[Kind, str]] = set()
        edits: list[list[Edit]] = []
        for turn, finds in zip(dialogue.turns, found, strict=True):
            mine = []
            for one in finds:
                form = one.kind, one_form(one.kind, one.text, region)
                if self.labelled == "exempt" and (form in named or _holds_label(turn, one)):
                    continue
                replaced.add(form)
                mine.append(Edit(one.start, one.end, self._replacement(one.kind, one.text, dialogue.language, seed, variant)))
            edits.append(mine)
        if not any(edits):
            return untouched(dialogue, "nothing_to_redact")
        # A label has its own writing of what a turn says.
        relabelled = {
            label: self._replacement(kind, label, dialogue.language, seed, variant)
            for label in sorted(labels)
            for kind in KINDS
            if (kind, one_form(kind, label, region)) in replaced
        }
        turns = tuple(_turn(turn, mine, relabelled, region) for turn, mine in zip(dialogue.turns, edits, strict=True))
        goal = None if dialogue.goal is None else _goal(dialogue.goal, relabelled)
        counts = {kind: sum(one.kind == kind for finds in found for one in finds) for kind in KINDS}
        reasons = tuple(f"{kind}: {number}" for kind, number in counts.items() if number)
        return PerturbResult(turns, goal, (), reasons)

    def _find(self, turn: Turn, names: frozenset[str], language: str) -> list[Find]:
        if turn.speaker == "other":
            return []
        return find(turn.utterance, self._kinds(), names, self._region(language))

    def _region(self, language: str) -> str:
        return "CN" if language == "zh" and self.region == "GB" else self.region

    def _replacement(self, kind: Kind, text: str, language: str, seed: int, variant: int) -> str:
        if self.style == "placeholder":
            return f"[{kind.upper()}]"
        # Keyed by the value alone, however it is written: it has the same surrogate in every dialogue of the run.
        region = self._region(language)
        form = one_form(kind, text, region)
        for attempt in range(10):
            rng = Rng(seed, self.step, kind, form, variant, attempt)
            made = phone(text, parted(text, region)[1], rng) if kind == "phone" else surrogate(kind, text, language, rng)
            if one_form(kind, made, region) != form:
                break
        return made


def _holds_label(turn: Turn, found: Find) -> bool:
    """Whether a labelled value of the turn stands in what was found, as "Ivan" does in "Ivan Ivan"."""
    return any(span.start is not None and span.end is not None and span.start < found.end and found.start < span.end for span in turn.spans)


@lru_cache(maxsize=8)
def _listed(path: str) -> frozenset[str]:
    """The names of a file.

    Raises:
        OptionError: it can't be read.
    """
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"redact: names={path}: {getattr(error, 'strerror', None) or error}") from None
    return frozenset(line.strip().lower() for line in lines if line.strip())


def _speakers(dialogue: Dialogue) -> frozenset[str]:
    """What a log calls its speakers, where that is more than a role."""
    return frozenset(turn.role.lower() for turn in dialogue.turns if turn.role and turn.role.lower() not in _ROLES and len(turn.role) > 1)


def _labelled(dialogue: Dialogue) -> frozenset[str]:
    """The values of a dialogue's labels, and how they are written in its turns."""
    found: set[str] = set()
    for turn in dialogue.turns:
        found.update(span.value for span in turn.spans)
        found.update(span.text for span in turn.spans if span.text)
        found.update(act.value for act in turn.acts if act.value)
        found.update(value for cell in turn.state for value in cell.values)
    if dialogue.goal is not None:
        found.update(value for cells in (dialogue.goal.inform, dialogue.goal.book, dialogue.goal.fail) for cell in cells for value in cell.values)
    return frozenset(found)


def _turn(turn: Turn, edits: list[Edit], new: dict[str, str], region: str) -> Turn:
    made = apply_edits(turn, edits) if edits else turn
    if not new:
        return made

    def value(text: str) -> str:
        return new.get(text, text)

    return made.replace(
        acts=tuple(act if act.value is None else act.replace(value=value(act.value)) for act in made.acts),
        state=tuple(SlotValues(cell.domain, cell.slot, tuple(map(value, cell.values))) for cell in made.state),
        spans=tuple(_span(span, value(span.value), region) for span in made.spans),
    )


def _span(span: Span, value: str, region: str) -> Span:
    """A span with its label's new value; where the text shows that value, it is kept."""
    if value == span.value:
        return span
    shown = span.text is not None and any(one_form(kind, span.text, region) == one_form(kind, value, region) for kind in KINDS)
    return span.replace(value=value, status="kept" if shown else span.status)


def _goal(goal: Goal, new: dict[str, str]) -> Goal:
    def cells(some: Iterable[SlotValues]) -> tuple[SlotValues, ...]:
        return tuple(SlotValues(one.domain, one.slot, tuple(new.get(value, value) for value in one.values)) for one in some)

    return goal.replace(inform=cells(goal.inform), book=cells(goal.book), fail=cells(goal.fail))
