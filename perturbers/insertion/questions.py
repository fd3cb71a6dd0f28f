"""Turns that ask for what no database holds: question and answer pairs of a domain, inserted after what they are about.

The external knowledge of CGoDial's slot-based dialogues (Dai et al., EMNLP 2022, section 3.1.2): a dialogue gets at least one pair with probability
0.5; some pairs are held out and met only in testing. A question is a specially requested slot ("IsPetAllowed"): the user turn has the label
``question:IsPetAllowed`` and requests that slot, the answer informs of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import msgspec
from dialmill.perturbers.core.contract import DialoguePerturber, PerturbResult, untouched
from dialmill.perturbers.core.lexicon import packaged
from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.options import Meta, OptionError
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.insertion.turns import Pair, gaps, insert, reacts, waits
from dialmill.schemas import Act, Dialogue, Turn
from dialmill.schemas.strict_json import JsonError
from dialmill.schemas.strict_json import parse as parse_json
from dialmill.schemas.validator import Validator

#: The label of a turn that asks for, or gives, what only external knowledge holds (CGoDial's name), and the prefix of a question's own label.
EXTRA, QUESTION = "extra_know", "question:"
#: The slots that name what the last system turn offered.
_NAMES = frozenset(("名称", "片名", "商品名称", "车次信息", "航班信息", "班号", "name", "trainid", "id"))
#: How a question may begin that comes to somebody's mind in between; "" for half of them.
_OPENERS = ("对了，", "还想问一下，", "那", "顺便问下，", "", "", "", "")
#: In testing, this share of questions is drawn from the held-out pairs, where one fits.
_HELD_OUT_SHARE = 0.5
#: A user turn that has this share of a question's pairs of characters has asked it already.
_ASKED = 0.5


class Question(msgspec.Struct, frozen=True):
    """A basic pair: its label, the domains it fits, whether an entity must have been offered, its wordings, and its answers."""

    label: str
    domains: tuple[str, ...]
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    needs: Literal["entity", "domain"] = "entity"


@dataclass(frozen=True)
class Questions(DialoguePerturber):
    """Inserts questions that no slot answers, each with its answer.

    They are inserted where their subject is talked about, the system waits for nothing, and no comment on what it said follows.
    """

    pairs: Annotated[
        str,
        Meta(
            description='a JSON file of pairs (schema "questions"); empty takes our own, 67 pairs of five wordings over the domains of RiSAWOZ',
            examples=["pairs.json"],
        ),
    ] = ""
    most: Annotated[int, Meta(ge=1, description="at most this many pairs of turns are inserted", examples=[3], extra={"unit": "pairs of turns"})] = 2
    chance: Annotated[float, Meta(gt=0, le=1, description="probability that a dialogue gets any", examples=[0.5], extra={"unit": "probability"})] = (
        1.0
    )
    held_out: Annotated[
        float,
        Meta(
            ge=0,
            lt=1,
            description="share of the questions that only dialogues of the test split get",
            examples=[0.2],
            extra={"unit": "share of questions"},
        ),
    ] = 0.13

    name: ClassVar[str] = "questions"
    version: ClassVar[int] = 1
    languages: ClassVar[frozenset[str]] = frozenset({"zh"})
    inserts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        load(self.pairs)

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        rng = Rng(seed, self.step, dialogue.source_id, variant)
        if not rng.chance(self.chance):
            return untouched(dialogue, "not_chosen")
        places = _places(dialogue)
        if not places:
            return untouched(dialogue, "no_place")
        wanted = 1 + rng.below(self.most)
        locator = Locator.of(dialogue)
        asked = [turn.utterance for turn in dialogue.turns if turn.speaker == "user"]
        slots = {act.slot for turn in dialogue.turns for act in turn.acts if act.slot and len(act.slot) > 1}
        inserted: dict[int, list[Pair]] = {}
        used: set[str] = set()
        test = dialogue.split in ("test", "test_hard", None)
        hidden = held_out(self.pairs, self.held_out)
        for gap in rng.sample(list(places), len(places)):
            if len(used) == wanted:
                break
            fitting = _fitting(self.pairs, *places[gap])
            apart = [one for one in fitting if one.label in hidden]
            known = [one for one in fitting if one.label not in hidden]
            first = apart if test and rng.chance(_HELD_OUT_SHARE) else known
            for one in [*rng.sample(first, len(first)), *(rng.sample(known, len(known)) if first is apart else [])]:
                text = rng.choice(one.questions)
                answers_itself = any(slot in text for slot in slots if slot)
                if one.label in used or answers_itself or locator.keys(text, Cut(text, dialogue.language)) or _said(text, asked):
                    continue
                used.add(one.label)
                inserted.setdefault(gap, []).append(_pair(one, text, places[gap][0], rng))
                break
        if not inserted:
            return untouched(dialogue, "no_question_fits")
        made = insert(dialogue, inserted)
        return PerturbResult(made.turns, dialogue.goal, (), made.reasons)


@lru_cache(maxsize=16)
def load(path: str) -> tuple[Question, ...]:
    """The pairs of a file, of our own for "".

    Raises:
        OptionError: the file is missing or not of the form, a label or a wording occurs twice.
    """
    shown = path or "our own pairs"
    try:
        record = parse_json(Path(path).read_bytes() if path else packaged("zh", "questions.json"))
    except OSError as error:
        raise OptionError(f"questions: {path}: {error.strerror or error}") from None
    except JsonError as error:
        raise OptionError(f"questions: {shown}: {error}") from None
    problems = Validator("questions").errors(record)
    if problems:
        raise OptionError(f"questions: {shown}: {problems[0]}")
    pairs = msgspec.convert(record["pairs"], tuple[Question, ...])
    for what, names in (("label", [one.label for one in pairs]), ("wording", [text for one in pairs for text in one.questions])):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise OptionError(f"questions: {shown}: the {what} {twice[0]!r} occurs twice")
    return pairs


@lru_cache(maxsize=64)
def held_out(path: str, share: float) -> frozenset[str]:
    """The labels of the pairs that occur in test only, by a hash of the label."""
    labels = sorted((one.label for one in load(path)), key=lambda label: key_number("questions", "held out", label))
    return frozenset(labels[: round(share * len(labels))])


@lru_cache(maxsize=256)
def _fitting(path: str, domain: str, named: bool) -> list[Question]:
    return [one for one in load(path) if domain in one.domains and (named or one.needs == "domain")]


def _places(dialogue: Dialogue) -> dict[int, tuple[str, bool]]:
    """Where a question may stand, with the domain talked about, and whether an entity of it has been mentioned. A system that
    has just asked something is answered first."""
    found: dict[int, tuple[str, bool]] = {}
    for gap in gaps(dialogue):
        before = dialogue.turns[gap - 1] if gap else None
        if before is None or before.speaker != "system" or waits(before) or (gap < len(dialogue.turns) and reacts(dialogue.turns[gap])):
            continue
        domains = {act.domain for act in before.acts if act.slot is not None}
        if len(domains) == 1:
            domain = domains.pop()
            found[gap] = domain, _one_named(dialogue.turns[:gap], domain)
    return found


def _one_named(turns: tuple[Turn, ...], domain: str) -> bool:
    """Whether the last turn that names an entity of the domain names one alone."""
    for turn in reversed(turns):
        names = {act.value for act in turn.acts if act.domain == domain and act.slot in _NAMES and act.value}
        if names:
            return len(names) == 1
    return False


def _said(text: str, asked: list[str]) -> bool:
    """Whether a user turn asks the same already."""
    pairs = {text[at : at + 2] for at in range(len(text) - 1)}
    return any(sum(pair in other for pair in pairs) >= _ASKED * len(pairs) for other in asked)


def _pair(one: Question, text: str, domain: str, rng: Rng) -> Pair:
    opener = rng.choice(_OPENERS)
    text = text if text.startswith(("请问", "那")) and opener else opener + text
    slot = one.label.lower()
    return Pair(
        text,
        rng.choice(one.answers),
        labels=(EXTRA, QUESTION + one.label),
        answer_labels=(EXTRA,),
        question_acts=(Act("request", domain, slot),),
        acts=(Act("inform", domain, slot),),
        note=f"question {one.label}",
    )
