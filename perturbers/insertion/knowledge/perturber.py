"""Knowledge-seeking turns (DSTC9 Track 1): the user asks what no database answers and a snippet of a knowledge base does.

After Kim et al. (2020) and the released data: once an entity has been mentioned (for snippets of a whole domain: once the domain is talked about) a
question about it stands before the next user turn, or takes its place and ends the dialogue; the answer follows, from the snippet's body, with a
closing that leads back to what the system had asked. The snippet is the only one that fits the question where it stands: it is refused where a
database answers it, where another snippet of its entity asks the same, and where it can't be told which of several entities is meant. A question
that a snippet of an entity mentioned earlier answers as well is labelled `knowledge_ambiguous`: the last entity mentioned is the one that is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from dialmill.perturbers.core import tables
from dialmill.perturbers.core.contract import DialoguePerturber, PerturbResult, untouched
from dialmill.perturbers.core.effects import Except
from dialmill.perturbers.core.options import Meta
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.insertion.knowledge import bank as banks
from dialmill.perturbers.insertion.knowledge import database, modelled
from dialmill.perturbers.insertion.knowledge.base import WHOLE_DOMAIN, Entity, KnowledgeBase, load
from dialmill.perturbers.insertion.knowledge.negatives import negative
from dialmill.perturbers.insertion.knowledge.table import Key, Spot, names_of, spots
from dialmill.perturbers.insertion.knowledge.topics import asked_before, question_key, usable
from dialmill.perturbers.insertion.knowledge.wording import WRITTEN, Manner, Question, Reference, answer, phrases, pick, question, shown, side_of
from dialmill.perturbers.insertion.pending import Pending, follows, leans, pending
from dialmill.perturbers.insertion.replies import styled
from dialmill.perturbers.insertion.turns import Pair, gaps, insert, reacts
from dialmill.perturbers.rewording import llm
from dialmill.schemas import Act, Dialogue, SkippedTurn, Snippet

#: The labels of a knowledge-seeking turn, of its answer, and of a question that an entity spoken of earlier answers as well.
SEEKING, ANSWER, AMBIGUOUS = "knowledge_seeking", "knowledge_answer", "knowledge_ambiguous"
References = Literal["mixed", "pronoun", "noun", "name"]
_REFERENCES: tuple[Reference, ...] = ("pronoun", "noun", "name")
_CUMULATIVE = (0.55, 0.85, 1.0)
#: How often an answer leads back to what the system had asked, where the dialogue ends with it; else it always does, as the user answers next.
_BACK = 0.85
_DRAWS = 6
#: What is said of further questions.
_SEVERAL = {"most": Except((1,), "N above 1")}
#: Domains whose offers have no names; in others a question needs something that was offered, also about the domain as a whole.
_WITHOUT_NAMES = frozenset({"train", "taxi", "bus", "hospital", "police", "flight", "火车", "飞机", "天气", "出租", "地铁", "通用"})
_VEHICLES = frozenset({"火车", "飞机"})
_REFERENCE = re.compile(r"\breference\b|\bbooking (?:was |is )?(?:complete|success)|have booked|'ve booked| is booked|contact number", re.IGNORECASE)
_BOOKED = frozenset({"offerbooked", "book", "notify_success"})
#: Questions that a booking answers.
_BOOKING = frozenset({"topic table_reservation", "topic reservation"})
#: What nobody asks about after such words.
_UNSUITED = {"topic sunrise": re.compile(r"[雨雪雾霾阴]")}


class _Choice(NamedTuple):
    """What is asked at a spot."""

    entity: Entity
    snippet: Snippet
    reference: Reference
    ambiguous: bool


@dataclass(frozen=True)
class Knowledge(DialoguePerturber):
    """Inserts knowledge-seeking user turns and their answers from a knowledge base in the form of DSTC9 Track 1.

    The user turn has the labels `inserted` and `knowledge_seeking` (and `knowledge_ambiguous`), its `knowledge` is the one snippet that answers it;
    the belief state is carried on. Wordings for training and for testing are different ones.
    """

    knowledge: Annotated[
        str,
        Meta(
            description='the knowledge base, a file as DSTC9\'s knowledge.json ("|" between several); empty takes our own base of whole domains',
            examples=["knowledge.json"],
        ),
    ] = ""
    known: Annotated[
        str,
        Meta(
            description="a knowledge base whose snippets are not asked about, so that those that are asked about are unseen; empty for none",
            examples=["train_knowledge.json"],
        ),
    ] = ""
    held_out: Annotated[
        float,
        Meta(
            ge=0,
            lt=1,
            description="share of the entities (of the snippets, where they hold for whole domains) that train and valid never ask about",
            examples=[0.2],
            extra={"unit": "share of entities"},
        ),
    ] = 0.0
    unseen: Annotated[
        bool, Meta(description="only snippets that are held out are asked about", extra={"needs": {"held_out": Except((0.0,), "SHARE")}})
    ] = False
    rate: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="probability of a question at each place behind the first",
            examples=[0.5],
            extra={"unit": "probability", "needs": _SEVERAL},
        ),
    ] = 0.3
    chain: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="probability that an answer is followed by another question at once; in the validation set of DSTC9 the turn before is the "
            "answer to another question in 38 of 100 instances",
            examples=[0.0],
            extra={"unit": "probability", "needs": _SEVERAL},
        ),
    ] = 0.35
    frame: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description='how often a question is part of another sentence ("do you know if ..."). By default as in written dialogues; '
            "speakers do so "
            "in 44 of 100 questions (DSTC10)",
            examples=[0.44],
            extra={"unit": "share of questions"},
        ),
    ] = WRITTEN.frame
    lead: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description='how often a question follows a word of reaction ("great, and ..."). By default as in written dialogues; speakers '
            "do so in 74 of "
            "100 (DSTC10)",
            examples=[0.74],
            extra={"unit": "share of questions"},
        ),
    ] = WRITTEN.lead
    most: Annotated[int, Meta(ge=1, description="at most this many questions in a dialogue", examples=[2], extra={"unit": "questions"})] = 4
    chance: Annotated[float, Meta(gt=0, le=1, description="probability that a dialogue gets any", examples=[0.5], extra={"unit": "probability"})] = (
        1.0
    )
    continues: Annotated[
        bool, Meta(description='the dialogue goes on after an answer; else it ends with the last one ("continue" in the text of --with)')
    ] = True
    reference: Annotated[
        References, Meta(description='how questions refer to the entity: pronouns ("they", "there"), nouns ("the hotel"), its name, or a mixture')
    ] = "mixed"
    ambiguous: Annotated[
        Literal["mark", "avoid", "only"],
        Meta(
            description='questions that an entity spoken of earlier answers as well: "mark" labels them, "avoid" leaves them out, "only" '
            "asks nothing else"
        ),
    ] = "mark"
    db: Annotated[
        str,
        Meta(
            description='files of the database ("|" between them); what its rows answer needs no snippet and is not asked about. Empty takes '
            "what databases of each domain have",
            examples=["hotel_db.json"],
        ),
    ] = ""
    bank: Annotated[
        str,
        Meta(
            description='folders with logs.json and labels.json ("|" between them), whose users\' questions are used as wordings where '
            "their snippets "
            "match; empty for none",
            examples=["dstc9/train"],
        ),
    ] = ""
    bank_share: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="how often a question of the bank is taken where there is one",
            examples=[1.0],
            extra={"unit": "share of questions", "needs": {"bank": Except(("",), "FOLDER")}},
        ),
    ] = 0.5
    engine: Annotated[
        Literal["rules", "llm"],
        Meta(
            description='"rules" words the questions itself; "llm" has them worded by a language model, and by the rules where its wordings fail the '
            "checks or it doesn't answer, which the lineage then says"
        ),
    ] = "rules"
    model: Annotated[
        str,
        Meta(description='for the engine "llm": the name of the model at the endpoint', examples=["llama3.1"], extra={"needs": {"engine": ("llm",)}}),
    ] = ""
    prompt: Annotated[
        str,
        Meta(
            description='for the engine "llm": the instruction in place of dialmill\'s own; "{count}" in it is how many wordings are '
            'wanted, "{place}" '
            'what the place is called ("the hotel")',
            examples=["Ask {count} times about {place}."],
            extra={"needs": {"engine": ("llm",)}},
        ),
    ] = ""
    hard_negatives: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="probability of a turn that looks like a knowledge-seeking one and is none (a value asked again, a remark) at each place "
            "without a question",
            examples=[0.2],
            extra={"unit": "probability"},
        ),
    ] = 0.0

    name: ClassVar[str] = "knowledge"
    version: ClassVar[int] = 1
    inserts: ClassVar[bool] = True
    renamed: ClassVar[Mapping[str, str]] = {"twins": "ambiguous"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.engine == "llm":
            llm.require(self.name, self.model)
        for paths in (self.knowledge, self.known):
            if paths:
                load(paths)
        if self.db:
            database.load(self.db)
        if self.bank:
            banks.load(self.bank, self.knowledge)

    def startup_warnings(self, languages: Iterable[str]) -> tuple[str, ...]:
        return tuple(f"{self.name}: {said}" for said in tables.warnings(self.db))

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> Knowledge:
        renamed = {"continues" if key == "continue" else key: value for key, value in options.items()}
        made = super().from_options(renamed)
        assert isinstance(made, Knowledge)
        return made

    @property
    def params(self) -> dict[str, Any]:
        """The options; of files their names, which are the same on every machine."""
        found = super().params
        for key in ("knowledge", "known", "db", "bank"):
            found[key] = "|".join(Path(path).name for path in found[key].split("|"))
        return found

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        rng = Rng(seed, self.step, dialogue.source_id, variant)
        if not rng.chance(self.chance):
            return untouched(dialogue, "not_chosen")
        language = dialogue.language
        base = self._base(language)
        allowed = self._held(_allowed(base, self.known, self.db, language), dialogue.split)
        asked: set[tuple[Key, str]] = set()
        left = {gap: _left(dialogue, gap) for gap in gaps(dialogue)}
        # A comment on what the system said stays behind it, and so does an answer to what can't be asked again.
        free = [gap for gap in left if not (self.continues and _is_bound(dialogue, gap, left[gap]))]
        free = [gap for gap in free if not (self.continues and left[gap].kind == "unclear")] or free
        if not free:
            return untouched(dialogue, "no_place")
        places = spots(dialogue, names_of(base, language), free)
        repeated = asked_before(dialogue)
        options = {spot.gap: self._options(spot, base, allowed, dialogue, repeated) for spot in places}
        fitting = [spot for spot in places if options[spot.gap]]
        if not fitting:
            return untouched(
                dialogue,
                "no_entity_in_context"
                if not any(spot.last or (spot.domain, WHOLE_DOMAIN) in base.entities for spot in places)
                else "no_snippet_fits",
            )
        pairs: dict[int, list[Pair]] = {}
        rng.shuffle(fitting)
        for spot in fitting:
            made = sum(map(len, pairs.values()))
            if made >= self.most or (made and not rng.chance(self.rate)):
                continue
            for pair in self._pairs(dialogue, spot, options[spot.gap], asked, self.most - made, rng):
                pairs.setdefault(spot.gap, []).append(pair)
        if not pairs:
            return untouched(dialogue, "no_snippet_fits")
        for spot in places if self.hard_negatives else ():
            if spot.gap not in pairs and (self.continues or spot.gap < max(pairs)) and rng.chance(self.hard_negatives):
                closing, _ = self._closing(dialogue, spot, spot.domain, side_of(dialogue.split), True, rng)
                other = negative(dialogue, spot.gap, spot.domain, closing, side_of(dialogue.split), rng)
                if other is not None:
                    said, reply = styled(other.question, dialogue, "user"), styled(other.answer, dialogue, "system")
                    pairs[spot.gap] = [other._replace(question=said, answer=reply)]
        inserted = insert(dialogue, pairs, self.continues)
        return PerturbResult(inserted.turns, dialogue.goal, self._left_out(dialogue, max(pairs)), inserted.reasons, inserted.events)

    def _base(self, language: str) -> KnowledgeBase:
        return load(self.knowledge) if self.knowledge else own_base(language)

    def _held(self, allowed: dict[Key, tuple[Snippet, ...]], split: str | None) -> dict[Key, tuple[Snippet, ...]]:
        """The snippets that a split may ask about."""
        if not self.held_out or not (self.unseen or split in ("train", "valid")):
            return allowed
        return {key: tuple(one for one in some if is_held_out(one, self.held_out) == self.unseen) for key, some in allowed.items()}

    def _left_out(self, dialogue: Dialogue, last: int) -> tuple[SkippedTurn, ...]:
        """The turns that a question took the place of."""
        if self.continues:
            return ()
        return tuple(SkippedTurn(turn.turn, "replaced_by_question") for turn in dialogue.turns[last:] if turn.speaker == "user")

    def _options(
        self, spot: Spot, base: KnowledgeBase, allowed: dict[Key, tuple[Snippet, ...]], dialogue: Dialogue, repeated: frozenset[str]
    ) -> list[tuple[Entity, Snippet, bool]]:
        """What can be asked at a spot: entity, snippet, and whether another entity mentioned before answers it as well."""
        language = dialogue.language
        booked = spot.move == "book" or _is_booked(dialogue, spot.gap)
        found = []
        others = (*spot.last, *spot.earlier)
        whole = (spot.domain, WHOLE_DOMAIN)
        # Chinese has no word for such a thing but "this one".
        without = spot.domain in _WITHOUT_NAMES - (_VEHICLES if dialogue.language == "zh" else frozenset())
        in_hand = whole in base.entities and spot.gap > 0 and (spot.offered or without) and not spot.several
        keys = [*spot.last, *([whole] if in_hand else [])]
        for key in dict.fromkeys(keys):
            theirs = {asked for other in others if other != key and other[0] == key[0] for asked in _keys(base, other, language)}
            for snippet in allowed.get(key, ()):
                asks = question_key(snippet, language, base.entities[key].name)
                ambiguous = asks in theirs
                if (self.ambiguous == "avoid" and ambiguous) or (self.ambiguous == "only" and not ambiguous):
                    continue
                if booked and asks in _BOOKING:
                    continue  # the booking interface has just answered it
                if asks in _UNSUITED and any(_UNSUITED[asks].search(turn.utterance) for turn in dialogue.turns[max(0, spot.gap - 4) : spot.gap + 1]):
                    continue
                if asks in repeated and asks not in _BOOKING:
                    continue
                found.append((base.entities[key], snippet, ambiguous))
        return found

    def _pairs(
        self, dialogue: Dialogue, spot: Spot, options: Sequence[tuple[Entity, Snippet, bool]], asked: set[tuple[Key, str]], most: int, rng: Rng
    ) -> Iterator[Pair]:
        """One question at a spot and its answer, and the questions that follow it at once."""
        count = 1
        while count < most and rng.chance(self.chain):
            count += 1
        said = {turn.utterance.casefold() for turn in dialogue.turns}
        made: list[tuple[_Choice, Question]] = []
        for number in range(count):
            for _ in range(_DRAWS):
                choice = self._choice(spot, options, rng)
                key = ((choice.entity.domain, choice.entity.entity_id), question_key(choice.snippet, dialogue.language, choice.entity.name))
                if key in asked:
                    continue
                worded = self._worded(dialogue, spot, choice, number, rng)
                if worded is None or worded.text.casefold() in said:
                    continue
                asked.add(key)
                said.add(worded.text.casefold())
                made.append((choice, worded))
                break
        for number, (choice, worded) in enumerate(made):
            yield self._pair(dialogue, spot, choice, worded, number == len(made) - 1, rng)

    def _choice(self, spot: Spot, options: Sequence[tuple[Entity, Snippet, bool]], rng: Rng) -> _Choice:
        entity, snippet, ambiguous = rng.choice(options)
        reference = rng.weighted(_REFERENCES, _CUMULATIVE) if self.reference == "mixed" else self.reference
        if entity.name is not None and len(spot.last) > 1:
            reference = "name"  # only its name says which of them is meant
        # Who names the entity leaves nothing to be mistaken.
        return _Choice(entity, snippet, reference, ambiguous and reference != "name")

    def _worded(self, dialogue: Dialogue, spot: Spot, choice: _Choice, number: int, rng: Rng) -> Question | None:
        """The question, in the manner of the dialogue's user."""
        language, side = dialogue.language, side_of(dialogue.split)
        entity, snippet = choice.entity, choice.snippet
        surface = spot.surfaces.get((entity.domain, entity.entity_id), "")
        real: Sequence[str] = ()
        if self.bank and rng.chance(self.bank_share):
            real = banks.load(self.bank, self.knowledge).wordings(snippet, entity.name, language, side)
        by_model = modelled.OfSide()
        if self.engine == "llm" and not real:
            by_model = modelled.of_side(self.model, self.prompt, snippet, entity, self._base(language), language, side)
            real = by_model.texts
        worded = question(
            snippet,
            entity,
            surface,
            choice.reference,
            "more" if number else spot.move,
            language,
            side,
            real,
            rng,
            Manner(self.frame, self.lead, spot.offered),
        )
        text = worded.text.strip()
        called = surface or (shown(entity.name) if entity.name else "")
        if choice.reference == "name" and "".join(called.split()).casefold() not in "".join(text.split()).casefold():
            return None  # this wording has no place for the name
        worded = worded._replace(text=styled(text, dialogue, "user"), origin=by_model.told(worded.origin), events=by_model.events)
        return worded if len(text) > 3 else None

    def _pair(self, dialogue: Dialogue, spot: Spot, choice: _Choice, worded: Question, last: bool, rng: Rng) -> Pair:
        language, side = dialogue.language, side_of(dialogue.split)
        entity, snippet = choice.entity, choice.snippet
        said = answer(snippet, worded, entity, language, rng)
        closing, acts = self._closing(dialogue, spot, entity.domain, side, last, rng)
        whole = said + closing if language == "zh" else f"{said} {closing}".strip()
        labels = (SEEKING, AMBIGUOUS) if choice.ambiguous else (SEEKING,)
        note = f"{SEEKING}, {snippet.domain} {snippet.entity_id} {snippet.doc_id}, {choice.reference}, {worded.origin}"
        return Pair(
            worded.text,
            styled(whole, dialogue, "system"),
            labels,
            (ANSWER,),
            acts=(Act(ANSWER, snippet.domain), *acts),
            knowledge=(snippet,),
            note=note,
            events=worded.events,
        )

    def _closing(self, dialogue: Dialogue, spot: Spot, domain: str, side: str, last: bool, rng: Rng) -> tuple[str, tuple[Act, ...]]:
        """What the system adds to an answer: back to what it had asked, an offer, or whether there is more."""
        language = dialogue.language
        if not last:
            return pick(language, "closing", "*", side, rng), ()
        left = _left(dialogue, spot.gap)
        if left.question and (self.continues or (left.kind == "question" and rng.chance(_BACK))):
            return left.question[:1].upper() + left.question[1:], left.acts
        # Where the user goes on, a new question of the system would stay without an answer.
        if (
            not self.continues
            and spot.move in ("offer", "tell", "book")
            and not _is_booked(dialogue, spot.gap)
            and rng.chance(0.5)
            and phrases(language, "offer", domain)
        ):
            offered = pick(language, "offer", domain, side, rng)
            if offered:
                return offered, ()
        return pick(language, "closing", "*", side, rng), ()


_FULL = 1 << 64


@lru_cache(maxsize=1 << 15)
def is_held_out(snippet: Snippet, share: float) -> bool:
    """Whether a snippet belongs to the share that is for testing alone: by its entity, or itself where it holds for a whole domain."""
    own = snippet.doc_id if snippet.entity_id == WHOLE_DOMAIN else ""
    return key_number("held_out", snippet.domain, snippet.entity_id, own) < share * _FULL


def _left(dialogue: Dialogue, gap: int) -> Pending:
    """What is pending at a gap of a dialogue."""
    return pending(dialogue.turns[gap - 1], Locator.of(dialogue), dialogue.language) if gap else Pending("open")


#: A "yes" or "no" to something that was no question, and so isn't asked again behind an answer.
_YES_NO = re.compile(r"(?:yes|yeah|no|nope|sure)\b(?! thank)", re.IGNORECASE)


def _is_bound(dialogue: Dialogue, gap: int, left: Pending) -> bool:
    """Whether a user turn makes no sense but right behind the system turn before it."""
    if gap >= len(dialogue.turns):
        return False
    after = dialogue.turns[gap]
    if left.kind in ("question", "offer", "unclear") or dialogue.language == "zh":
        return not follows(after, left, dialogue.language)
    if left.kind in ("nothing", "more") and leans(after):
        return True
    return reacts(after) or (gap > 0 and "?" not in dialogue.turns[gap - 1].utterance and _YES_NO.match(after.utterance) is not None)


def _is_booked(dialogue: Dialogue, gap: int) -> bool:
    """Whether something was booked before a turn."""
    before = dialogue.turns[:gap]
    return any(
        any(act.act in _BOOKED for act in turn.acts) or (turn.speaker == "system" and _REFERENCE.search(turn.utterance) is not None)
        for turn in before
    )


def own_base(language: str) -> KnowledgeBase:
    """The base that comes with dialmill: snippets of whole domains."""
    path = resources.files("dialmill.perturbers") / "lexicons" / language / "knowledge.json"
    return load(str(path)) if path.is_file() else KnowledgeBase(())


@lru_cache(maxsize=1 << 14)
def _keys(base: KnowledgeBase, key: Key, language: str) -> frozenset[str]:
    """The questions that an entity's snippets answer."""
    entity = base.entities.get(key)
    return frozenset(question_key(one, language, entity.name) for one in entity.snippets) if entity is not None else frozenset()


@lru_cache(maxsize=16)
def _allowed(base: KnowledgeBase, known: str, db: str, language: str) -> dict[Key, tuple[Snippet, ...]]:
    """The snippets that may be asked about, by entity."""
    found, _ = usable(base, language, database.load(db) if db else None)
    if not known:
        return found
    seen = load(known)
    return {key: tuple(one for one in some if seen.find(one.domain, one.entity_id, one.doc_id) is None) for key, some in found.items()}
