"""Translates a dialogue: labels by a lexicon, words by an engine, values at their places with exact spans.

The order is that of DSTC9 Track 2 (Gunasekara et al. 2020, section III): the ontology first, then the values inside the turns, then what is around
them. Unlike there, a turn is certified in the target language, so that its labels are in the text; a dialogue of which one turn can't be translated
so stays out of the suite, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple

from dialmill.perturbers.core.contract import DialoguePerturber, PerturbResult, untouched
from dialmill.perturbers.core.effects import Except
from dialmill.perturbers.core.options import Meta, OptionError
from dialmill.perturbers.rewording import llm
from dialmill.perturbers.translation import engines, lexicon
from dialmill.perturbers.translation.certificate import problem
from dialmill.perturbers.translation.engines import Engine, NotTranslated, Task
from dialmill.perturbers.translation.lexicon import Lexicon, Untranslated
from dialmill.perturbers.translation.masking import mask, place, places_of
from dialmill.schemas import Act, Dialogue, Edit, Goal, SlotName, SlotValues, Span, Turn

_OTHER = {"en": "zh", "zh": "en"}
#: What stands for a value and isn't one.
_NO_VALUES = frozenset({"", "?", "none", "dontcare"})


@dataclass(frozen=True)
class Translate(DialoguePerturber):
    """Translates dialogues between English and Chinese, labels and values by a lexicon, the words around them by an engine.

    The engines: `table`, whole sentences from a file; `memory`, sentences with the names of slots for values, learnt from the pairs of a file; `llm`,
    a model behind an OpenAI-compatible endpoint; `ctranslate2`, a model folder of yours; `none`, labels only, the turns keep their text.
    """

    lexicon: Annotated[
        str,
        Meta(
            description="the file with the translations of labels: DSTC9 Track 2's vocab_dict.json, a table (kind, domain, slot, source, target), or "
            'two ontologies of one shape, "SOURCE.json|TARGET.json"; without one only dialogues without labels can be translated',
            examples=["vocab_dict.json"],
        ),
    ] = ""
    engine: Annotated[
        Literal["none", "table", "memory", "llm", "ctranslate2"],
        Meta(description="what translates the turns; none translates the labels alone"),
    ] = "none"
    file: Annotated[
        str,
        Meta(
            description="sentence pairs of the engines table and memory (two columns with a tab between, or JSON lines with source, target and "
            "values), or the model folder of ctranslate2",
            examples=["pairs.tsv"],
            extra={"needs": {"engine": ("table", "memory", "ctranslate2")}},
        ),
    ] = ""
    model: Annotated[
        str,
        Meta(
            description="the model that the engine llm asks, by its name at the endpoint", examples=["qwen2.5"], extra={"needs": {"engine": ("llm",)}}
        ),
    ] = ""
    tries: Annotated[
        int,
        Meta(
            ge=1,
            description="attempts for each turn until one passes the checks",
            examples=[5],
            extra={"needs": {"engine": Except(("none",), "llm")}},
        ),
    ] = 3

    name: ClassVar[str] = "translate"
    version: ClassVar[int] = 1
    relabels: ClassVar[bool] = True
    translates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.engine == "llm":
            llm.require(self.name, self.model)
        elif self.engine == "ctranslate2":
            engines.check_folder(self.file)
        elif self.engine in ("table", "memory"):
            if not self.file:
                raise OptionError(
                    f"translate: engine={self.engine} needs sentence pairs, as in translate:engine={self.engine},file=pairs.tsv; "
                    "engine=none translates the labels alone"
                )
            engines.read_pairs(self.file)

    @property
    def labels_only(self) -> bool:
        """Whether the turns keep their text."""
        return self.engine == "none"

    def startup_warnings(self, languages: Iterable[str]) -> tuple[str, ...]:
        if self.labels_only:
            return ("translate: labels are translated and turns are not; engine=llm, ctranslate2, memory or table translates them too",)
        return ()

    @property
    def card_notes(self) -> tuple[str, ...]:
        if self.labels_only:
            return ("Labels are in the target language, and the turns are in that of the source: only the labels were translated.",)
        return (f"Turns were translated by the engine {self.engine} and certified by rule; no person corrected them.",)

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        target = _OTHER[dialogue.language]
        try:
            labels = _Labels(self._lexicon(dialogue, target))
            goal = None if dialogue.goal is None else labels.goal(dialogue.goal)
            domains = tuple(dict.fromkeys(labels.domain(domain) for domain in dialogue.domains))
            turns = tuple(self._turn(dialogue, number, labels, target) for number in range(len(dialogue.turns)))
        except (Untranslated, NotTranslated) as error:
            return untouched(dialogue, str(error))
        if turns == dialogue.turns:
            return untouched(dialogue, "nothing_to_translate")
        said = "labels" if self.labels_only else f"labels and turns by {self.engine}"
        language = dialogue.language if self.labels_only else target
        return PerturbResult(turns, goal, (), (f"{dialogue.language} to {target}: {said}",), (), language, domains)

    def _lexicon(self, dialogue: Dialogue, target: str) -> Lexicon:
        if self.lexicon:
            return lexicon.load(self.lexicon, dialogue.language, target)
        if dialogue.domains or dialogue.goal is not None or any(turn.acts or turn.state or turn.spans for turn in dialogue.turns):
            raise NotTranslated("no_lexicon")
        return Lexicon(dialogue.language, target, {}, {})

    def _turn(self, dialogue: Dialogue, number: int, labels: _Labels, target: str) -> Turn:
        turn = dialogue.turns[number]
        acts, state = tuple(map(labels.act, turn.acts)), tuple(map(labels.cell, turn.state))
        spans = tuple(map(labels.span, turn.spans))
        if self.labels_only or turn.speaker == "other" or not turn.utterance.strip():
            return turn.replace(acts=acts, state=state, spans=spans)
        text, spans = self._words(dialogue, number, spans, target, _glossary(turn, acts))
        source = turn.source_text
        if text == source:
            return turn.replace(acts=acts, state=state, spans=spans)
        return turn.replace(utterance=text, original=source, edits=(Edit(0, len(source), text),), acts=acts, state=state, spans=spans)

    def _words(
        self, dialogue: Dialogue, number: int, spans: tuple[Span, ...], target: str, glossary: tuple[tuple[str, str], ...]
    ) -> tuple[str, tuple[Span, ...]]:
        """The words of a turn in the other language, and its spans there.

        Raises:
            NotTranslated: no attempt passed the checks; the message is the reason of the last one.
        """
        turn = dialogue.turns[number]
        engine, languages = self._engine(dialogue.language, target), (dialogue.language, target)
        places = places_of(turn.spans, spans)
        surfaces = [one.source for one in places]
        before = tuple(one.utterance for one in dialogue.turns[max(0, number - 2) : number] if one.speaker != "other")
        task = Task(mask(turn.utterance, places), turn.utterance, before, glossary)
        reason = NotTranslated("not_translated")
        for attempt in range(self.tries):
            try:
                said = engine.translate(task, attempt)
            except NotTranslated as error:
                reason = error
                if error.final:
                    break
                continue
            values = [said.otherwise.get(number, one.target) for number, one in enumerate(places, 1)]
            placed = place(said.text, values, target)
            wrong = "placeholder_lost" if placed is None else problem(turn.utterance, placed.text, languages, surfaces, values)
            if placed is not None and wrong is None:
                bounds = {(one.start, one.end): where for one, where in zip(places, placed.bounds, strict=True)}
                return placed.text, tuple(_moved(old, new, placed.text, bounds) for old, new in zip(turn.spans, spans, strict=True))
            reason = NotTranslated(str(wrong))
        raise reason

    def _engine(self, source: str, target: str) -> Engine:
        if self.engine == "table":
            return engines.table(self.file, target)
        if self.engine == "memory":
            return engines.memory(self.file, self.lexicon, source, target)
        if self.engine == "llm":
            return engines.Model(self.model, source, target)
        return engines.Folder(self.file, target)


def _moved(old: Span, new: Span, text: str, bounds: dict[tuple[int, int], tuple[int, int]]) -> Span:
    """A span where it stands in the translation; one that shared its place with a longer one is looked for, and lost where it isn't there."""
    if old.start is None or old.end is None:
        return new
    where = bounds.get((old.start, old.end))
    if where is None:
        at = text.find(new.value)
        where = (at, at + len(new.value)) if at >= 0 and new.value else None
    if where is None:
        return new.replace(start=None, end=None, text=None, status="lost")
    return new.replace(start=where[0], end=where[1], text=text[where[0] : where[1]])


def _glossary(turn: Turn, acts: tuple[Act, ...]) -> tuple[tuple[str, str], ...]:
    """The values of acts that no span shows, with their translations."""
    shown = {(span.domain, span.slot, span.value) for span in turn.spans if span.start is not None}
    pairs = (
        (old.value, new.value)
        for old, new in zip(turn.acts, acts, strict=True)
        if old.value and new.value and old.value != new.value and (old.domain, old.slot, old.value) not in shown
    )
    return tuple(dict.fromkeys(pairs))


class _Labels(NamedTuple):
    """The labels of a dialogue by a lexicon. Each method raises `Untranslated` for what the lexicon doesn't have."""

    lexicon: Lexicon

    def domain(self, name: str) -> str:
        return self.lexicon.domain(name) if name else name

    def slot(self, name: str) -> str:
        return self.lexicon.slot(name)

    def value(self, domain: str, slot: str, value: str) -> str:
        return value if value.strip().lower() in _NO_VALUES else self.lexicon.value(domain, slot, value)

    def act(self, act: Act) -> Act:
        # An act's own name stays: acts are named in English in the records of every corpus.
        slot = None if act.slot is None else self.slot(act.slot)
        value = act.value if act.value is None or act.slot is None else self.value(act.domain, act.slot, act.value)
        return act.replace(domain=self.domain(act.domain), slot=slot, value=value)

    def cell(self, cell: SlotValues) -> SlotValues:
        values = tuple(self.value(cell.domain, cell.slot, value) for value in cell.values)
        return SlotValues(self.domain(cell.domain), self.slot(cell.slot), values)

    def span(self, span: Span) -> Span:
        return span.replace(domain=self.domain(span.domain), slot=self.slot(span.slot), value=self.value(span.domain, span.slot, span.value))

    def goal(self, goal: Goal) -> Goal:
        """The goal; its instruction stays in the words of the source."""
        return goal.replace(
            inform=tuple(map(self.cell, goal.inform)),
            book=tuple(map(self.cell, goal.book)),
            fail=tuple(map(self.cell, goal.fail)),
            request=tuple(SlotName(self.domain(one.domain), self.slot(one.slot)) for one in goal.request),
        )
