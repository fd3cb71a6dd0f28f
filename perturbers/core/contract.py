"""The contract of a perturber: draw what to do, apply it as edits, certify the result, or say why not.

A perturber is a frozen dataclass; its fields are its options, with ranges checked at construction. `perturb` makes one variant of a
dialogue. Most perturbers change one user turn at a time (`TurnPerturber`): `draw` makes the random choices, `apply` turns them into edits over
the utterance, `checks.certify` says whether the labels still hold. A variant that fails is resampled with the next attempt's key, and after
`tries` attempts the turn stays as it was and its lineage says why.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

from dialmill.perturbers.core import options
from dialmill.perturbers.core.checks import certify, old_values_left
from dialmill.perturbers.core.events import Event
from dialmill.perturbers.core.options import Meta
from dialmill.perturbers.core.options import OptionError as OptionError
from dialmill.perturbers.core.pools import Pool, PoolFile
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import Locator, View
from dialmill.schemas import Dialogue, Edit, Goal, SkippedTurn, Step, Turn, apply_edits
from dialmill.schemas.dialogue import STANDARD

#: What happens to slot values: left alone (RADDLE's rule), or hit like other text, the spans following.
ValueMode = Literal["protect", "follow"]


P = TypeVar("P", bound="Perturber")


@dataclass(frozen=True, slots=True)
class Changed:
    """A turn that was changed, with its labels certified, and what the lineage says of it, if anything."""

    turn: Turn
    note: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A turn that stays as it was, and why (`no_edit_possible`, or the check that no attempt passed)."""

    reason: str


#: The utterances of a dialogue: two variants are the same if these are.
Texts = tuple[str, ...]
#: How often a variant that repeats an earlier one is resampled, and how far apart the keys of the draws lie.
_REDRAWS, _STRIDE = 8, 1 << 20


def variant_of(drawn: int) -> int:
    """The variant that a draw is for: redraws and places in a chain are numbered above it."""
    return drawn % _STRIDE


def texts_of(dialogue: Dialogue) -> Texts:
    """The utterances of a dialogue."""
    return tuple(turn.utterance for turn in dialogue.turns)


class PerturbResult(NamedTuple):
    """What a perturber makes of a dialogue: its turns and goal, the turns left alone with their reasons, reasons for the lineage, and events for
    those who count. `language` and `domains` stay those of the source where they are None."""

    turns: tuple[Turn, ...]
    goal: Goal | None
    skipped: tuple[SkippedTurn, ...] = ()
    reasons: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    language: str | None = None
    domains: tuple[str, ...] | None = None


class Variant(NamedTuple):
    """One variant of a dialogue as a record, and the events of the steps that made it."""

    record: Dialogue
    events: tuple[Event, ...] = ()


class PoolRequest(NamedTuple):
    """A pool that a perturber needs, and what it is gathered from: "input", "train", or the path of a corpus."""

    pool: Pool
    source: str


@dataclass(frozen=True)
class Perturber(ABC):
    """Base of all perturbers. Subclasses are frozen dataclasses that set `name`, and raise `version` whenever their output changes."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    languages: ClassVar[frozenset[str]] = frozenset({"en", "zh"})
    #: Whether labels change along with the text, and whether turns come in (with the label `inserted`).
    relabels: ClassVar[bool] = False
    inserts: ClassVar[bool] = False
    #: Whether the variant is in another language: then names of domains and slots, values and words are all others.
    translates: ClassVar[bool] = False
    #: Reasons for which a dialogue that stayed as it was is what was asked for: nothing in it was to be taken out. It is no variant that failed.
    fine_unchanged: ClassVar[frozenset[str]] = frozenset()
    #: Options of earlier releases -> what they are called now.
    renamed: ClassVar[Mapping[str, str]] = {}

    def __post_init__(self) -> None:
        options.check(self, f"{self.name}: ")

    @property
    def step(self) -> str:
        """Name and version as they stand in lineages and keys: "typos@2"."""
        return f"{self.name}@{self.version}"

    @property
    def params(self) -> dict[str, Any]:
        """The options as plain values."""
        return {name: getattr(self, name) for name in options.names(type(self))}

    @property
    def pools(self) -> tuple[PoolRequest, ...]:
        """The pools it needs from the whole input; without them it does what it can."""
        return ()

    def with_pools(self: P, pools: Mapping[tuple[str, str], PoolFile]) -> P:
        """The same perturber with its pools, by (name of the pool, what it was gathered from)."""
        return self

    def with_pool(self: P, dialogues: Iterable[Dialogue]) -> P:
        """The same perturber with the pools it needs gathered from these dialogues, for use without a pipeline."""
        wanted = self.pools
        some = list(dialogues) if wanted else []
        return self.with_pools({(request.pool.name, request.source): PoolFile.of_dialogues(request.pool, some) for request in wanted})

    def takes_long(self, language: str) -> bool:
        """Whether it needs so long for a turn of this language on this machine that a user should be told beforehand how long it will take."""
        return False

    def seconds_per_turn(self, dialogues: Sequence[Dialogue], seed: int) -> float:
        """How long it needs for a user turn of these dialogues, measured on them; only asked where it `takes_long`."""
        return 0.0

    def tunable(self) -> bool:
        """Whether it is to be tuned on a sample of what it will perturb, before it does."""
        return False

    def tune(self, dialogues: Sequence[Dialogue], seed: int) -> dict[str, Any]:
        """What `with_tuning` needs, as plain values, found on a sample."""
        return {}

    def with_tuning(self: P, found: Mapping[str, Any]) -> P:
        """The same perturber, tuned."""
        return self

    def with_audio_dir(self: P, folder: str) -> P:
        """The same perturber, leaving what it makes besides text (audio) below a folder; most make nothing else."""
        return self

    def startup_warnings(self, languages: Iterable[str]) -> tuple[str, ...]:
        """What a user should know before it perturbs dialogues of these languages on this machine."""
        return ()

    @property
    def card_notes(self) -> tuple[str, ...]:
        """Sentences for the card of a data set: what a reader must know to judge how hard the suite is. Most have none."""
        return ()

    @abstractmethod
    def change(self, dialogue: Dialogue, seed: int, variant: int) -> tuple[tuple[Turn, ...], tuple[SkippedTurn, ...]]:
        """The turns of the variant, and the turns left alone with their reasons."""

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        """All that changes in the variant. Perturbers that change more than turns, or tell more of it, override this."""
        turns, skipped = self.change(dialogue, seed, variant)
        return PerturbResult(turns, dialogue.goal, skipped)

    def perturb(self, dialogue: Dialogue, seed: int, variant: int = 0) -> Dialogue:
        """One variant of `dialogue`.

        Args:
            dialogue: any canonical record; the variant follows its split.
            seed: the run seed, any integer.
            variant: which of several variants, from 0; each has its own random choices, and differs from those before it where that is possible.

        Returns:
            A new record. Its last lineage step says "changed" or "skipped" and lists the turns left alone, each with its reason; a language that
            the perturber does not know is one (`language_not_supported`).

        Raises:
            TypeError: `dialogue` is no Dialogue.
        """
        self._expect(dialogue)
        seen: set[Texts] = set()
        for earlier in range(variant):
            seen.add(texts_of(self.draw_variant(dialogue, seed, earlier, seen).record))
        return self.draw_variant(dialogue, seed, variant, seen).record

    def _expect(self, dialogue: object) -> None:
        if not isinstance(dialogue, Dialogue):
            sentences = " (dialmill.noise takes a str)" if isinstance(dialogue, str) else ""
            raise TypeError(f"{self.name}: perturb takes a Dialogue{sentences}, not {type(dialogue).__name__}")

    def draw_variant(self, dialogue: Dialogue, seed: int, variant: int, seen: Set[Texts]) -> Variant:
        """The variant, resampled while its texts are among `seen`, those of the variants before it."""
        for redraw in range(_REDRAWS):
            made = self.once(dialogue, seed, variant, redraw)
            if not seen or texts_of(made.record) not in seen or made.record.turns == dialogue.turns:
                break
        return made

    def once(self, dialogue: Dialogue, seed: int, variant: int, redraw: int) -> Variant:
        """One draw of a variant."""
        if dialogue.language not in self.languages:
            made = untouched(dialogue, "language_not_supported")
        elif self.relabels and not self.inserts and not self.translates and any(turn.speaker == "other" for turn in dialogue.turns):
            # A carried turn, a call of a tool say, would keep the value that the others have no more.
            made = untouched(dialogue, "values_in_carried_turns")
        else:
            made = self.make(dialogue, seed, variant + redraw * _STRIDE)
            if self.relabels and not self.translates:
                left = old_values_left(dialogue, dialogue.replace(turns=made.turns, goal=made.goal))
                made = untouched(dialogue, str(left[0])) if left else made
        outcome = "changed" if made.turns != dialogue.turns else "skipped"
        suite = self.name if dialogue.suite == STANDARD else f"{dialogue.suite}+{self.name}"
        record = dialogue.replace(
            dialogue_id=f"{dialogue.source_id}/{suite}/{variant}",
            suite=suite,
            variant=variant,
            language=made.language or dialogue.language,
            domains=dialogue.domains if made.domains is None else made.domains,
            turns=made.turns,
            goal=made.goal,
            lineage=(*dialogue.lineage, Step(self.step, seed, self.params, outcome, made.skipped, made.reasons)),
        )
        return Variant(record, made.events)

    @classmethod
    def from_options(cls, given: dict[str, Any]) -> Perturber:
        """A perturber from named options, as text ("0.1") or typed.

        Raises:
            OptionError: an unknown option (the message lists the known), or a value that does not fit.
        """
        kinds = {option.name: option.kind for option in options.options(cls)}
        values = {}
        for key, value in given.items():
            for old in (key, f"{key}={value}"):
                if old in cls.renamed:
                    raise OptionError(f"{cls.name}: the option {old} is called {cls.renamed[old]} now; rename it")
            if key not in kinds:
                known = ", ".join(sorted(kinds)) or "none"
                raise OptionError(f"{cls.name} has no option {key!r}; its options are: {known}")
            values[key] = options.read(f"{cls.name}: {key}", kinds[key], value)
        return cls(**values)


def untouched(dialogue: Dialogue, reason: str) -> PerturbResult:
    """A dialogue that stays as it is, every user turn for the same reason."""
    return PerturbResult(dialogue.turns, dialogue.goal, tuple(SkippedTurn(turn.turn, reason) for turn in dialogue.turns if turn.speaker == "user"))


@dataclass(frozen=True)
class TurnPerturber(Perturber):
    """Base of perturbers that change user turns one at a time, by edits."""

    values: Annotated[
        ValueMode,
        Meta(description='"protect": slot values stay as they are; "follow": slot values are changed too, and their spans say so (status "changed")'),
    ] = "protect"
    tries: Annotated[
        int,
        Meta(
            ge=1,
            description="attempts a turn gets; where none keeps the labels, it stays as it was, with the reason that the last one failed for",
            examples=[8],
        ),
    ] = 4

    @abstractmethod
    def draw(self, view: View, rng: Rng) -> Any | Skipped:
        """The random choices for one turn, or why there is nothing to choose. Looks at the turn only through `view`."""

    @abstractmethod
    def apply(self, view: View, drawn: Any) -> Sequence[Edit]:
        """The edits over ``view.turn.utterance`` that carry out what was drawn. Makes no random choice."""

    def passes_over(self, turn: Turn, language: str, *key: object) -> str | None:
        """Why a turn is left alone without a look at its values, None where it is not. `key` identifies the turn and variant."""
        return None

    def change_turn(self, view: View, *key: object) -> Changed | Skipped:
        """One turn, drawn until a draw passes the checks. `key` identifies the turn and variant."""
        reason = "no_edit_possible"
        for attempt in range(self.tries):
            drawn = self.draw(view, Rng(*key, attempt))
            if isinstance(drawn, Skipped):
                reason = drawn.reason
                continue
            turn = apply_edits(view.turn, self.apply(view, drawn))
            if _same(turn.utterance, view.turn.utterance):
                continue
            problem = certify(view, turn, self.values)
            if problem is None:
                return Changed(turn)
            reason = problem
        return Skipped(reason)

    def change(self, dialogue: Dialogue, seed: int, variant: int) -> tuple[tuple[Turn, ...], tuple[SkippedTurn, ...]]:
        made = self.make(dialogue, seed, variant)
        return made.turns, made.skipped

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        locator = Locator.of(dialogue)
        step = self.step
        turns: list[Turn] = []
        skipped: list[SkippedTurn] = []
        notes: list[str] = []
        for turn in dialogue.turns:
            if turn.speaker == "user":
                key = (seed, step, dialogue.source_id, turn.turn, variant)
                reason = self.passes_over(turn, dialogue.language, *key)
                result = Skipped(reason) if reason is not None else self.change_turn(locator.view(turn), *key)
                if isinstance(result, Changed):
                    turn = result.turn
                    if result.note:
                        notes.append(f"turn {turn.turn}: {result.note}")
                else:
                    skipped.append(SkippedTurn(turn.turn, result.reason))
            turns.append(turn)
        return PerturbResult(tuple(turns), dialogue.goal, tuple(skipped), tuple(notes))


def _same(one: str, other: str) -> bool:
    """Equal up to blanks: such a variant would be counted as a change and be none."""
    return one == other or one.split() == other.split()


@dataclass(frozen=True)
class DialoguePerturber(Perturber):
    """Base of perturbers that change a dialogue as a whole: more than one turn at a time, or labels along with the text."""

    @abstractmethod
    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        """All that changes in the variant."""

    def change(self, dialogue: Dialogue, seed: int, variant: int) -> tuple[tuple[Turn, ...], tuple[SkippedTurn, ...]]:
        made = self.make(dialogue, seed, variant)
        return made.turns, made.skipped


@dataclass(frozen=True)
class Chain(Perturber):
    """Several perturbers one after the other, as one suite: "disfluency+speech"."""

    links: tuple[Perturber, ...] = ()
    name: ClassVar[str] = "chain"

    @property
    def pools(self) -> tuple[PoolRequest, ...]:
        return tuple(request for link in self.links for request in link.pools)

    def with_pools(self, pools: Mapping[tuple[str, str], PoolFile]) -> Chain:
        return dataclasses.replace(self, links=tuple(link.with_pools(pools) for link in self.links))

    def takes_long(self, language: str) -> bool:
        return any(link.takes_long(language) for link in self.links)

    def seconds_per_turn(self, dialogues: Sequence[Dialogue], seed: int) -> float:
        return sum(link.seconds_per_turn(dialogues, seed) for link in self.links)

    def tunable(self) -> bool:
        return any(link.tunable() for link in self.links)

    def tune(self, dialogues: Sequence[Dialogue], seed: int) -> dict[str, Any]:
        # Each link on the source's dialogues: what the links before it do to them changes little in what it has to find out.
        return {str(place): link.tune(dialogues, seed) for place, link in enumerate(self.links) if link.tunable()}

    def with_tuning(self, found: Mapping[str, Any]) -> Chain:
        links = (link.with_tuning(found[str(place)]) if str(place) in found else link for place, link in enumerate(self.links))
        return dataclasses.replace(self, links=tuple(links))

    def with_audio_dir(self, folder: str) -> Chain:
        return dataclasses.replace(self, links=tuple(link.with_audio_dir(folder) for link in self.links))

    def startup_warnings(self, languages: Iterable[str]) -> tuple[str, ...]:
        return tuple(warning for link in self.links for warning in link.startup_warnings(languages))

    @property
    def card_notes(self) -> tuple[str, ...]:
        return tuple(note for link in self.links for note in link.card_notes)

    def change(self, dialogue: Dialogue, seed: int, variant: int) -> tuple[tuple[Turn, ...], tuple[SkippedTurn, ...]]:
        raise TypeError("a chain has no change of its own; it perturbs link by link")

    def once(self, dialogue: Dialogue, seed: int, variant: int, redraw: int) -> Variant:
        events: tuple[Event, ...] = ()
        for place, link in enumerate(self.links):
            # The place keeps two links of one kind from drawing alike.
            dialogue, more = link.once(dialogue, seed, variant, redraw + place * _STRIDE)
            events += more
        return Variant(dialogue, events)


def variants(perturber: Perturber, dialogue: Dialogue, seed: int, count: int) -> Iterable[Dialogue | Skipped]:
    """`count` variants, each either a record that differs from its source and from the variants before it, or the reason it is missing."""
    for made in draw_variants(perturber, dialogue, seed, count):
        yield made.record if isinstance(made, Variant) else made


def _translates(perturber: Perturber) -> bool:
    return any(link.translates for link in (perturber.links if isinstance(perturber, Chain) else (perturber,)))


def _fine_as_it_is(perturber: Perturber, steps: Sequence[Step]) -> bool:
    """Whether a dialogue that no step changed is what was asked for all the same: nothing in it was to be taken out."""
    links = perturber.links if isinstance(perturber, Chain) else (perturber,)
    return all(
        link.fine_unchanged and step.outcome == "skipped" and {skip.reason for skip in step.skipped} <= link.fine_unchanged
        for link, step in zip(links, steps, strict=False)
    )


def draw_variants(perturber: Perturber, dialogue: Dialogue, seed: int, count: int) -> Iterable[Variant | Skipped]:
    """`variants`, each with the events of its making."""
    # A translation of the labels alone has the words of its source, and isn't it.
    seen = set() if _translates(perturber) else {texts_of(dialogue)}
    for variant in range(count):
        made = perturber.draw_variant(dialogue, seed, variant, seen)
        texts, steps = texts_of(made.record), made.record.lineage[len(dialogue.lineage) :]
        if texts not in seen and (texts != texts_of(dialogue) or any(step.outcome == "changed" for step in steps)):
            seen.add(texts)
            yield made
        elif variant == 0 and _fine_as_it_is(perturber, steps):
            yield made
        elif all(step.outcome == "skipped" for step in steps):
            reasons = {s.reason for step in steps for s in step.skipped}
            yield Skipped(reasons.pop() if len(reasons) == 1 else "no_edit_possible")
        else:
            yield Skipped("duplicate_variant")
