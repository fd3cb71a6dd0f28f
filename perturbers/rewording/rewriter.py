"""What paraphrase, simplification and verbosity share: proposals for a turn, the first of which that passes the checks is taken."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from dialmill.perturbers.core.checks import certify
from dialmill.perturbers.core.contract import Perturber, PerturbResult, PoolRequest, variant_of
from dialmill.perturbers.core.events import DonorWording, Event
from dialmill.perturbers.core.options import Meta, state
from dialmill.perturbers.core.pools import PoolFile
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.surfaces import slot_name
from dialmill.perturbers.core.values import Locator, View
from dialmill.perturbers.rewording import by_model, llm, telling
from dialmill.perturbers.rewording.composed import Composing
from dialmill.perturbers.rewording.composer import familiar
from dialmill.perturbers.rewording.composer.familiar import FamiliarPool
from dialmill.perturbers.rewording.composer.plan import Refusal
from dialmill.perturbers.rewording.donors import Candidate, DonorPool, Donors, donors_of_file, fill, fingerprint, gap_edits, opened, speaks_plainly
from dialmill.perturbers.rewording.task import Proposal, Task
from dialmill.perturbers.rewording.wordings import KNOWN_DOMAINS, Analysis, Wording, state_before
from dialmill.schemas import Dialogue, SkippedTurn, Turn, apply_edits

Engine = Literal["compose", "donors", "rules", "llm"]
#: The voices of the composer (`composer.bank.SHARES`), "" for one drawn for each variant; and which half of its clauses may be said.
Voice = Literal["", "plain", "chatty", "indirect", "terse", "hurried", "teen", "older", "second-language"]
Clauses = Literal["split", "all", "train", "test"]
#: The names of the perturbers below.
REWRITERS = ("paraphrase", "simplification", "verbosity")
#: What has a smaller share of words of its own says the same in the same words.
_NEAR = 0.3
#: Why the composer refuses a turn whose labels don't tell what it means: a question on an offer, a choice, a refusal. No donor has that either.
_OWN_MEANING = frozenset(
    f"unlabelled: {word}"
    for word in (
        "question",
        "which",
        "the one",
        "intent",
        "if",
        "whether",
        "negation",
        "not",
        "n",
        "not booked",
        "request",
        "all",
        "no",
        "type",
        "instead",
    )
)
#: Where a wording comes from that leaves the turn's own words as they are.
CIRCUMSTANCES = "circumstances"
#: Engines that take the wording of donors.
_DONORS = frozenset({"compose", "donors"})
S = TypeVar("S", bound="Rewriter")


@dataclass(frozen=True)
class Rewriter(Perturber):
    """Base of the perturbers that say the same in other words. Slot values stay as they are, always."""

    engine: Annotated[
        Engine,
        Meta(
            description='"compose": worded from acts, slots and the system turn before, out of clauses written for it, and by donors where that '
            'can\'t be told; "donors": the wording of a paraphrase donor, another turn with the same acts and slots, and rules where there is '
            'none; "rules" alone; "llm": a language model behind an OpenAI-compatible endpoint'
        ),
    ] = "compose"
    donors_from: Annotated[
        str,
        Meta(
            min_length=1,
            description='where donors come from: "input", all dialogues read; "train", those that the build puts into train; or the path of another '
            "corpus",
            examples=["train"],
            extra={"needs": {"engine": ("compose", "donors")}},
        ),
    ] = "input"
    tries: Annotated[int, Meta(ge=1, description="proposals for a turn before it is skipped with the reason of the last one", examples=[16])] = 8
    model: Annotated[
        str,
        Meta(
            description='for the engine "llm": the name of the model at the endpoint',
            examples=["llama3.1"],
            extra={"needs": {"engine": ("llm",)}},
        ),
    ] = ""
    prompt: Annotated[
        str,
        Meta(
            description='for the engine "llm": the instruction in place of the perturber\'s own',
            examples=["Say it in other words."],
            extra={"needs": {"engine": ("llm",)}},
        ),
    ] = ""
    voice: Annotated[
        Voice,
        Meta(
            description='for the engine "compose": who speaks; empty: drawn for each variant, another for each of several',
            examples=["terse"],
            extra={"needs": {"engine": ("compose",)}},
        ),
    ] = ""
    clauses: Annotated[
        Clauses,
        Meta(
            description='for the engine "compose": which clauses may be said: "train" and "test" are halves that share no wording, "split" the one '
            "of the dialogue's split (test, where it is in none), for training on variants too",
            extra={"needs": {"engine": ("compose",)}},
        ),
    ] = "all"
    pool: PoolFile | None = state(default=None)
    familiar: PoolFile | None = state(default=None)

    renamed: ClassVar[Mapping[str, str]] = {"twins_from": "donors_from", "engine=twins": "engine=donors"}
    #: The instruction for a language model.
    instruction: ClassVar[str]
    #: What the composer is to make of a turn (`composer.plan.STYLES`).
    style: ClassVar[str] = "same"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.engine == "llm":
            llm.require(self.name, self.model)

    @property
    def pools(self) -> tuple[PoolRequest, ...]:
        donors = (PoolRequest(DonorPool(), self.donors_from),) if self.engine in _DONORS else ()
        return (*donors, PoolRequest(FamiliarPool(), self.donors_from)) if self.engine == "compose" else donors

    def with_pools(self: S, pools: Mapping[tuple[str, str], PoolFile]) -> S:
        source = self.donors_from
        return replace(self, pool=pools.get((DonorPool.name, source)), familiar=pools.get((FamiliarPool.name, source)))

    def _find_donors(self) -> Donors | None:
        if self.engine not in _DONORS:
            return None
        if self.pool is None and self.donors_from not in ("input", "train"):
            return donors_of_file(self.donors_from)
        return None if self.pool is None else opened(self.pool)

    def fits(self, text: str, language: str, turn: Turn) -> bool:
        """Whether a composed turn is what the perturber is for, beside the text of its source."""
        before, after = bare_words(text, language, turn)
        return distance(before, after) >= _NEAR

    def lends(self, refusal: Refusal) -> bool:
        """Whether a turn that the composer refuses may take the wording of a donor."""
        return True

    @abstractmethod
    def proposals(self, task: Task, rng: Rng) -> Iterator[Proposal]:
        """Rewritten turns, the best first."""

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        job = _Job(dialogue, self._find_donors(), self.engine == "compose")
        if self.engine == "llm":
            by_model.prefetch(self.model, self.prompt or self.instruction, [job.task(place) for place in job.users])
        composing = None
        if self.engine == "compose":
            weights = None if self.familiar is None else familiar.opened(self.familiar, dialogue.language)
            composing = Composing(dialogue, self.style, self.voice, self.clauses, (seed, self.step), variant_of(variant), weights)
        turns: list[Turn] = []
        skipped: list[SkippedTurn] = []
        reasons: list[str] = []
        events: list[Event] = []
        said = ""
        for place, turn in enumerate(dialogue.turns):
            if place in job.users:
                made = self._made(job, place, composing, said, Rng(seed, self.step, dialogue.source_id, turn.turn, variant))
                if isinstance(made, Proposal):
                    turn = made.turn
                    reasons.append(f"turn {turn.turn}: {made.reason}")
                    if not isinstance(made.origin, str):
                        events.append(DonorWording(made.origin.split or None))
                else:
                    skipped.append(SkippedTurn(turn.turn, made))
                said += turn.utterance.lower()
            turns.append(turn)
        return PerturbResult(tuple(turns), dialogue.goal, tuple(skipped), tuple(reasons), tuple(events))

    def _made(self, job: _Job, place: int, composing: Composing | None, said: str, rng: Rng) -> Proposal | str:
        """A user turn composed, or reworded otherwise; or why neither."""
        if composing is not None:
            view = job.view(place)
            composed = composing.turn(view, place, rng, partial(self.fits, view.turn.utterance, view.language))
            if isinstance(composed, Turn):
                return Proposal(composed, "composed")
            if not self.lends(composed):
                return composed.reason
            if composed.reason in _OWN_MEANING and view.language == "en":
                return self._rewrite(job.task(place)._replace(said=said, donors=None), rng)
        return self._rewrite(job.task(place)._replace(said=said), rng)

    def change(self, dialogue: Dialogue, seed: int, variant: int) -> tuple[tuple[Turn, ...], tuple[SkippedTurn, ...]]:
        made = self.make(dialogue, seed, variant)
        return made.turns, made.skipped

    def _rewrite(self, task: Task, rng: Rng) -> Proposal | str:
        """The first proposal that passes, or why none did."""
        problem = "no_edit_possible"
        turn = task.view.turn
        if task.donors is not None and task.view.language == "en" and not turn.acts and kind_of_turn(task) not in ("thank", "yes", "no"):
            task = task._replace(donors=None)  # Without a label nothing tells that another user's turn means the same.
        proposals = self._asked(task) if self.engine == "llm" else self.proposals(task, rng)
        try:
            for proposal in islice(proposals, self.tries):
                if proposal.turn.utterance.split() == turn.utterance.split():
                    continue
                found = certify(task.view, proposal.turn, "protect") or (
                    None
                    if self.engine == "llm" or proposal.origin == CIRCUMSTANCES  # whose words are those of the turn
                    else telling.changed(
                        turn.utterance,
                        proposal.turn.utterance,
                        task.view.language,
                        not isinstance(proposal.origin, str),
                        bool(turn.acts) and all(act.domain in KNOWN_DOMAINS for act in turn.acts),
                    )
                )
                if found is None:
                    return proposal
                problem = found
        except llm.LlmError as error:
            problem = str(error)
        return problem

    def _asked(self, task: Task) -> Iterator[Proposal]:
        for turn, tokens in by_model.rewritings(self.model, self.prompt or self.instruction, task):
            yield Proposal(turn, f"llm ({tokens} tokens)")


class _Job:
    """A dialogue whose user turns are reworded: their views, and all that is known of them where it is asked for."""

    def __init__(self, dialogue: Dialogue, donors: Donors | None, composing: bool = False) -> None:
        self._dialogue, self._donors, self._composing = dialogue, donors, composing
        self._locator = Locator.of(dialogue)
        self._copies = fingerprint(dialogue) if donors is not None else 0
        self._views: dict[int, View] = {}
        #: The places of the user turns.
        self.users = frozenset(place for place, turn in enumerate(dialogue.turns) if turn.speaker == "user")

    def view(self, place: int) -> View:
        """The view of a user turn."""
        found = self._views.get(place)
        if found is None:
            found = self._views[place] = self._locator.view(self._dialogue.turns[place])
        return found

    def task(self, place: int) -> Task:
        """A user turn and what is known of it."""
        dialogue, view = self._dialogue, self.view(place)
        turn = view.turn
        before = dialogue.turns[place - 1] if place else None
        analysis = Analysis(view, before, state_before(dialogue, place))
        usable = self._donors if speaks_plainly(turn.utterance, analysis.parts, dialogue.language) else None
        if self._composing and dialogue.language == "zh":
            usable = None  # what the Chinese composer refuses says more than its labels: a donor would lose that
        said = before.utterance if before else ""
        return Task(view, analysis, usable, self._copies, place == 0, said, words(turn.utterance, dialogue.language))


#: Signs behind a clause inside a text, and at the end of a text.
_COMMAS, _STOPS = frozenset("，,"), frozenset("。？！.?!")


def borrow_wording(task: Task, wording: Wording, candidate: Candidate) -> list[Any]:
    """The edits that give a turn, or one sentence of it, the wording of a donor."""
    text = task.text
    literals = fill(candidate.donor.literals, [text[start:end] for start, end in wording.places], task.view.language)
    if wording.end == len(text) and literals[-1][-1:] in _COMMAS:
        literals[-1] = literals[-1][:-1] + (text[-1] if text[-1:] in _STOPS else "")
    return gap_edits(text, wording.start, wording.end, wording.places, literals)


def kind_of_turn(task: Task) -> str:
    """What a turn does, as the tables name it: "thank", "yes", "no", "book", "request", "ask" (whether something can be had), "inform"."""
    analysis, turn = task.analysis, task.view.turn
    classes = analysis.equal_classes()
    general = bool(turn.acts) and all(act.act in ("thank", "bye", "greet", "general", "greeting", "welcome") for act in turn.acts)
    if classes.isdisjoint(_ASKED):
        if general or "bye" in classes or ("thank" in classes and not any(act.slot for act in turn.acts)):
            return "thank"
        if len(task.analysis.parts) <= 4 and not analysis.whole().labels:
            if any(signal.kind == "negation" for signal in task.view.signals):
                return "no"
            if not classes.isdisjoint(_ACCEPTS):
                return "yes"
    if "book" in classes and not any(signal.kind == "negation" for signal in task.view.signals):
        return "book"
    if any(act.act.startswith("request") and slot_name(act.slot or "") not in _FOUND for act in turn.acts):
        return "request"
    return "ask" if task.text.rstrip().endswith(("?", "？")) else "inform"


#: Classes (lexicons/LANGUAGE/fit.tsv) of turns that accept an offer, and of those that ask for a fact whatever else they say.
_ACCEPTS = frozenset({"yes", "okay", "praise", "accept"})
_ASKED = frozenset({"phone", "post", "ref", "addr", "cost", "trainid"})
#: What is asked for in a search: its answer is a suggestion, and no fact to write down.
_FOUND = frozenset({"name", "名称", "片名", "商品名称", "车次信息", "航班信息"})
_WORD = re.compile(r"\w+")


def words(text: str, language: str) -> list[str]:
    """Words in lower case, Chinese characters for Chinese: what distances and lengths are counted in."""
    return [char for char in text if char.isalnum()] if language == "zh" else _WORD.findall(text.lower())


def bare_words(text: str, language: str, turn: Turn) -> tuple[list[str], list[str]]:
    """The words of a source and of the turn made of it; in Chinese without the values: long names, which stay, would make any wording a near one."""
    made = turn.utterance
    if language == "zh":
        for shown in sorted({span.text for span in turn.spans if span.start is not None and span.text}, key=len, reverse=True):
            text, made = text.replace(shown, ""), made.replace(shown, "")
    return words(text, language), words(made, language)


def distance(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of words that two texts don't have in common (0 to 1); never above their edit distance over the longer length."""
    first, second = frozenset(one), frozenset(other)
    return 1 - len(first & second) / max(len(first), len(second), 1)


__all__ = ["REWRITERS", "Proposal", "Rewriter", "Task", "apply_edits", "bare_words", "borrow_wording", "distance", "kind_of_turn", "words"]
