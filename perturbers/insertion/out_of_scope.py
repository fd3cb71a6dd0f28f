"""Out-of-scope turns: the user says what the system can't serve, and the system declines and leads back to the task.

RADDLE's out-of-domain suite (Peng et al. 2021, section 3.2, after Lee and Shalyminov 2019): utterances of other corpora are inserted into a
dialogue; the belief state is carried on unchanged, and the system should notice, fall back, and return to the task. Training uses half of one
source (of our own list: its everyday talk), the other half and the other sources are met only in testing. An inserted turn has the label
`inserted` and no `original`, as it is in no source text; the lineage names it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, get_args

from dialmill.perturbers.core.contract import DialoguePerturber, PerturbResult, untouched
from dialmill.perturbers.core.lexicon import alternatives, rows, words
from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.options import Meta, OptionError
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.perturbers.core.values import VALUE_CLASSES, Locator, signals
from dialmill.perturbers.insertion.pending import Pending, follows, pending, stands
from dialmill.perturbers.insertion.replies import QUESTION, Said, answers, confesses, kind_of, reply, spoken_of, styled
from dialmill.perturbers.insertion.turns import Pair, gaps, insert, reacts, waits
from dialmill.schemas import Act, Dialogue, Turn
from dialmill.schemas.dialogue import OOS, decode

#: The label, and the act, of the answer to an out-of-scope turn.
FALLBACK = "fallback"
#: What a candidate can be; only the first is used.
OUT_OF_DOMAIN, OTHER_DOMAIN, KNOWLEDGE, VALUE = "oos_out_of_domain", "other_domain", "knowledge_seeking", "names_value"

#: Shares of the training source that train and valid take, by a hash of the text.
_TRAIN, _VALID = 0.5, 0.75
_FULL = 1 << 64
#: Sources of our list whose talk is no question: it breaks off, or is meant for somebody else.
_HALF, _ASIDE = frozenset({"half", "半句"}), frozenset({"aside", "旁话"})
#: What an aside is, as the list has it.
_ASIDES: dict[str, Said] = {said.removeprefix("aside-"): said for said in get_args(Said) if said.startswith("aside-")}
#: Sources of our own list that are one everyday talk, half of which is for training; the topics beside them are met only in testing.
EVERYDAY = frozenset({"smalltalk", "near", "闲聊", "近旁"}) | _HALF | _ASIDE
#: How often each manner is drawn where all are there: talk near the domain, sentences that break off, asides, other topics.
_MANNERS = (("near", 0.4), ("half", 0.12), ("aside", 0.28), ("other", 0.2))
#: How often a question near the domain is led in to; other topics always are.
_LED = 0.5
_GENERAL = {"en": "general", "zh": "通用"}
#: Words too common to say what a knowledge snippet is about.
_COMMON = words("a an the is are was do does did can could i you we it there any at for in of to on with and or this that my your have has be")


class Candidate(NamedTuple):
    """An utterance with the source it comes from, and the domains that it lies near: it is said where one of them is spoken of. () for talk
    that fits anywhere. `kind` is "sad" for a remark that one feels sorry about, of an aside what it is, else ""."""

    text: str
    source: str
    domains: tuple[str, ...] = ()
    kind: str = ""


@dataclass(frozen=True)
class OutOfScope(DialoguePerturber):
    """Inserts user turns that are out of scope, each with a system turn that says so, or that it heard, and repeats what it had asked before.

    Candidates that name a domain some system supports (`other_domain`), that a knowledge snippet answers (`knowledge_seeking`) or that hold a slot
    value (`names_value`) are not used. No text is met in two splits: a hash of the text says where it belongs. Of our own list two fifths are about
    things near the dialogue's domain, an eighth are sentences that break off, a quarter are words to somebody else in the room, the rest are other
    topics: these take the place of no answer where others are at hand, and an introduction marks them as asides. The answer differs accordingly,
    and asks again what the system had asked. They stand where that can be told, or where the user's next turn stands by itself, else as the opening.
    """

    texts: Annotated[
        str,
        Meta(
            description='files of candidates, "|" between them: CLINC\'s JSON (its "oos" lists), plain text (one a line), or dialmill\'s '
            "JSONL of any "
            "corpus (its opening turns). The name of the file, or of the corpus, is the source. Empty takes our own list, by topics",
            examples=["clinc.json|chat.txt"],
        ),
    ] = ""
    knowledge: Annotated[
        str,
        Meta(
            description="a file of snippets in the form of DSTC9 Track 1 (knowledge.json); what they answer is no out-of-scope turn. Empty for none",
            examples=["knowledge.json"],
        ),
    ] = ""
    most: Annotated[int, Meta(ge=1, description="at most this many pairs of turns are inserted", examples=[3], extra={"unit": "pairs of turns"})] = 1
    chance: Annotated[float, Meta(gt=0, le=1, description="probability that a dialogue gets any", examples=[0.5], extra={"unit": "probability"})] = (
        1.0
    )
    train_source: Annotated[
        str,
        Meta(
            description='the source whose first half is for training ("|" between several); empty takes the first that the candidates name, of our '
            'own list its everyday talk; "*" every source',
            examples=["*"],
        ),
    ] = ""
    answer: Annotated[
        str,
        Meta(
            description="what the system says to each, and nothing more; empty takes one of several answers that lead back to the task",
            examples=["Sorry, I can't help with that."],
        ),
    ] = ""

    name: ClassVar[str] = "out_of_scope"
    version: ClassVar[int] = 3
    inserts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for path in filter(None, (*self.texts.split("|"), self.knowledge)):
            if not Path(path).is_file():
                raise OptionError(f"out_of_scope: there is no file {path}")
        if self.texts and not candidates(self.texts, "en"):
            raise OptionError(f"out_of_scope: {self.texts} holds no candidates")
        sources = {one.source for language in sorted(self.languages) for one in candidates(self.texts, language)}
        if self.train_source not in ("", "*") and not sources.issuperset(self.train_source.split("|")):
            raise OptionError(f"out_of_scope: there is no source {self.train_source!r}; there are: {', '.join(sorted(sources))}")

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        rng = Rng(seed, self.step, dialogue.source_id, variant)
        if not rng.chance(self.chance):
            return untouched(dialogue, "not_chosen")
        pool = _pool(self.texts, self.knowledge, self.train_source, dialogue.language, dialogue.split or "test")
        if not pool:
            return untouched(dialogue, "no_candidates")
        locator = Locator.of(dialogue)
        places = _unanswered(dialogue) if self.answer else places_of(dialogue, locator)
        if not places:
            return untouched(dialogue, "no_place")
        count = 1 + rng.below(self.most)
        said = {turn.utterance.casefold() for turn in dialogue.turns}
        inserted: dict[int, list[Pair]] = {}
        for place in rng.sample(places, count):
            gap = place.gap
            after = dialogue.turns[gap] if gap < len(dialogue.turns) else None
            for _ in range(8):
                one = _drawn(pool, spoken_of(dialogue, gap), place, after, rng)
                text = one.text if self.texts else _introduced(one, place.left.kind, dialogue.language, rng)
                text = styled(text, dialogue, "user")
                if one.source in _HALF and dialogue.language != "zh":
                    text = text.rstrip(" .?!") + "..."  # it breaks off, and no full stop closes it
                units = Cut(text, dialogue.language)
                if text.casefold() not in said and not locator.keys(text, units):
                    said.add(text.casefold())
                    inserted[gap] = [_pair(dialogue, place, text, one, locator, rng, self.answer)]
                    break
        if not inserted:
            return untouched(dialogue, "no_candidate_fits")
        made = insert(dialogue, inserted)
        return PerturbResult(made.turns, dialogue.goal, (), made.reasons)


class Place(NamedTuple):
    """Where a pair may stand: the turn that it comes before, and what is pending there; "open" before the first turn."""

    gap: int
    left: Pending


def places_of(dialogue: Dialogue, locator: Locator) -> list[Place]:
    """The best places of a dialogue: where the pending question can be asked again or nothing is pending, and the user goes on from there; else where
    the user's next turn stands by itself; else the opening, behind which the user states the wish."""
    turns, language = dialogue.turns, dialogue.language
    found: list[Place] = []
    for gap in gaps(dialogue):
        if not gap:
            continue
        left = pending(turns[gap - 1], locator, language)
        if gap == len(turns) or follows(turns[gap], left, language):
            found.append(Place(gap, left))
    for worse in (("offer", "unclear"), ("unclear",), ()):
        good = [place for place in found if place.left.kind not in worse]
        if good:
            return good
    return [Place(0, Pending("open"))] if turns and turns[0].speaker == "user" else []


def _introduced(one: Candidate, kind: str, language: str, rng: Rng) -> str:
    """The text of our own list with what leads to it, where it is of another topic, a question, or said in place of an answer: nobody asks out of the
    blue what pi is, or answers "which day?" by what the sister's bear is called."""
    opens = kind == "open"
    name = "open" if opens else one.source
    question = one.text.endswith(("?", "？")) or (language != "zh" and QUESTION.match(one.text) is not None)
    if one.source in _HALF | _ASIDE or (one.domains and not opens and not (rng.chance(_LED) if question else kind == "question")):
        return one.text
    said = kind_of(one.text, language)
    intros = answers(language, "intro", name) if opens or said in ("bot", "question") else []
    intros = intros or answers(language, "intro", "question" if said == "bot" else said)
    if said == "remark" and not opens and confesses(one.text):
        intros = intros + answers(language, "intro", "confession")
    intro = rng.choice(intros)
    if language == "zh":
        return intro + one.text
    closed = "?" if one.text[-1].isalnum() and QUESTION.match(one.text) else ""
    return f"{intro.rstrip()} {one.text}{closed}"


def _drawn(pool: tuple[Candidate, ...], domain: str, place: Place, after: Turn | None, rng: Rng) -> Candidate:
    """A candidate that fits where `domain` is spoken of: of one of the manners that fit the place, and where the pool has none of them, of another.

    Another topic takes the place of no answer that the system waits for, and nobody breaks off unless a question is asked again or the whole wish
    comes next. An opening is no aside.
    """
    manners = {
        "near": [one for one in pool if domain in one.domains],
        "half": [one for one in pool if one.source in _HALF],
        "aside": [one for one in pool if one.source in _ASIDE],
        "other": [one for one in pool if not one.domains and one.source not in _HALF | _ASIDE],
    }
    kind = place.left.kind
    allowed = {"near", "aside", "other"}
    if kind == "question":
        allowed = {"near", "half", "aside"}
    elif kind == "open":
        allowed = {"other"}
    elif kind == "nothing" and after is not None and stands(after, "zh" if re.search("[\u3400-\u9fff]", after.utterance) else "en"):
        allowed |= {"half"}
    fitting = [(name, share) for name, share in _MANNERS if name in allowed and manners[name]] or [
        (name, share) for name, share in _MANNERS if manners[name]
    ]
    if not fitting:
        return rng.choice(pool)
    point, drawn = rng.random() * sum(share for _, share in fitting), fitting[-1][0]
    for name, share in reversed(fitting):
        point -= share
        if point < 0:
            drawn = name
            break
    return rng.choice(manners[drawn])


def classify(text: str, language: str, knowledge: str = "") -> str:
    """What a candidate is: `oos_out_of_domain`, or why it is none (`other_domain`, `knowledge_seeking`, `names_value`).

    Args:
        text: the candidate.
        language: its language.
        knowledge: path of a DSTC9 knowledge.json whose snippets count as in scope, "" for the shipped word list alone.
    """
    units = Cut(text, language)
    if _names(text, units, language, "domains"):
        return OTHER_DOMAIN
    if _names(text, units, language, "faq") or (knowledge and _answered(frozenset(units.names), knowledge)):
        return KNOWLEDGE
    if any(signal.kind in VALUE_CLASSES for signal in signals(text, language, units)):
        return VALUE
    return OUT_OF_DOMAIN


@lru_cache(maxsize=64)
def candidates(texts: str, language: str) -> tuple[Candidate, ...]:
    """All candidates of the given files ("|" between them), or of our own list, in file order, each text once."""
    found: dict[str, Candidate] = {}
    own = rows(language, "out_of_scope") if not texts else ()
    listed = [Candidate(text, source, tuple(alternatives(near[0])) if near else (), "".join(near[1:])) for source, text, *near in own]
    for path in filter(None, texts.split("|")):
        listed += _read(Path(path))
    for one in listed:
        text = " ".join(one.text.split())
        if text:
            found.setdefault(_normal(text), one._replace(text=text))
    return tuple(found.values())


def inventory(texts: str, language: str, knowledge: str = "") -> Counter[str]:
    """How many candidates there are of each type."""
    return Counter(classify(one.text, language, knowledge) for one in candidates(texts, language))


def _read(path: Path) -> list[Candidate]:
    """The candidates of one file."""
    if path.suffix == ".jsonl":
        found = []
        for line in path.read_bytes().splitlines():
            record = decode(line)
            if record.turns and record.turns[0].speaker == "user" and len(record.turns[0].utterance.split()) > 3:
                found.append(Candidate(record.turns[0].utterance, record.source))
        return found
    text = path.read_text("utf-8")
    if path.suffix != ".json":
        return [Candidate(line, path.stem) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    loaded: Any = json.loads(text)
    lists = list(loaded.values()) if isinstance(loaded, dict) else [loaded]
    items = [item for items in lists if isinstance(items, list) for item in items]
    plain = [item for item in items if isinstance(item, str)]
    plain += [item[0] for item in items if isinstance(item, list) and len(item) == 2 and item[1] == "oos"]
    return [Candidate(item, "clinc" if "oos_test" in loaded or "oos_train" in loaded else path.stem) for item in plain if isinstance(item, str)]


def _normal(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def split_of(one: Candidate, train_source: str) -> str:
    """The one split in which a candidate may stand: train takes half of the training sources ("|" between them, "*": all), valid a quarter; all
    other texts are for testing."""
    if train_source != "*" and one.source not in train_source.split("|"):
        return "test"
    place = key_number("out_of_scope", _normal(one.text)) / _FULL
    return "train" if place < _TRAIN else "valid" if place < _VALID else "test"


@lru_cache(maxsize=64)
def _pool(texts: str, knowledge: str, train_source: str, language: str, split: str) -> tuple[Candidate, ...]:
    """The usable candidates of a split."""
    everything = candidates(texts, language)
    if not everything:
        return ()
    training = train_source or (everything[0].source if texts else "|".join(sorted(EVERYDAY)))
    return tuple(one for one in everything if split_of(one, training) == split and classify(one.text, language, knowledge) == OUT_OF_DOMAIN)


@lru_cache(maxsize=16)
def _words(language: str, name: str) -> frozenset[str]:
    return frozenset(word.lower() for row in rows(language, name) for word in alternatives(row[-1]))


def _names(text: str, units: Cut, language: str, name: str) -> bool:
    """Whether a text holds a word of a list."""
    listed = _words(language, name)
    if language == "zh":
        low = text.lower()
        return any(word in low for word in listed)
    joined = f" {' '.join(units.names)} "
    return not listed.isdisjoint(units.names) or any(f" {word} " in joined for word in listed if " " in word)


@lru_cache(maxsize=4)
def _snippets(path: str) -> tuple[frozenset[str], ...]:
    """The content words of every snippet's title."""
    loaded: Any = json.loads(Path(path).read_text("utf-8"))
    found: dict[frozenset[str], None] = {}
    for entities in loaded.values():
        for entity in entities.values():
            name = frozenset(Cut(str(entity.get("name") or ""), "en").names)
            for document in entity.get("docs", {}).values():
                content = frozenset(Cut(str(document.get("title", "")), "en").names) - _COMMON - name
                if content:
                    found[content] = None
    return tuple(found)


@lru_cache(maxsize=65536)
def _answered(names: frozenset[str], path: str) -> bool:
    """Whether the words of some snippet's title stand in the candidate, or nearly all of the candidate's in a title."""
    content = names - _COMMON
    return any(len(content & asked) >= max(1, 0.6 * min(len(asked), len(content))) for asked in _snippets(path))


def _pair(dialogue: Dialogue, place: Place, text: str, one: Candidate, locator: Locator, rng: Rng, fixed: str) -> Pair:
    """The inserted turns: the user's with the state as it was, and the fallback, `fixed` where that is given."""
    language = dialogue.language
    asked: tuple[Act, ...] = ()
    answer = fixed
    if not fixed:
        answer, asked = reply(dialogue, place.gap, _said(one, language), place.left, locator, rng)
    acts = (Act(FALLBACK, _GENERAL.get(language, "general")), *asked)
    return Pair(text, answer, (OOS, OUT_OF_DOMAIN), (FALLBACK,), acts=acts, note=f"{OUT_OF_DOMAIN}, source {one.source}")


def _said(one: Candidate, language: str) -> Said:
    """What a reply has to fit."""
    if one.source in _HALF:
        return "half"
    if one.source in _ASIDE:
        return _ASIDES.get(one.kind, "aside-noise")
    return "sad" if one.kind == "sad" else kind_of(one.text, language)


def _unanswered(dialogue: Dialogue) -> list[Place]:
    """Where an answer may stand that leads back to nothing: better where the system waits for none, best where no comment on it follows."""
    places = gaps(dialogue)
    places = [gap for gap in places if not (gap and waits(dialogue.turns[gap - 1]))] or places
    places = [gap for gap in places if not (gap < len(dialogue.turns) and reacts(dialogue.turns[gap]))] or places
    return [Place(gap, Pending("question" if gap and waits(dialogue.turns[gap - 1]) else "nothing")) for gap in places]
