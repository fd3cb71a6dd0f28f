"""How a knowledge-seeking turn and its answer are worded, in either language; the wordings of train and of test have none in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from dialmill.perturbers.core.events import Event
from dialmill.perturbers.core.lexicon import alternatives, rows, words
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.perturbers.insertion.knowledge import chinese, english
from dialmill.perturbers.insertion.knowledge.base import Entity
from dialmill.perturbers.insertion.knowledge.table import Move
from dialmill.perturbers.insertion.knowledge.topics import topic_of
from dialmill.schemas import Snippet

Reference = Literal["pronoun", "noun", "name"]
#: The share of each bank of wordings that training has; the others are for testing alone.
TRAIN_SHARE = 0.6
#: How often a question takes its snippet's topic's wordings, where there are some; else its title is reworded.
_BY_TOPIC = 0.75
#: How often a framed yes-no question says "whether" instead of "if": 46 of 254 real ones (DSTC9, DSTC10, DSTC11) do.
_WHETHER = 0.2
#: A wording that has the words of its title, function words aside, is resampled so often; a title that stays as it is passes with this probability:
#: 2 of 100 real questions have them (DSTC9).
_REDRAWS, _VERBATIM = 1, 0.4


class Manner(NamedTuple):
    """How users ask, as shares of their questions: `frame` inside another sentence ("do you know if ..."), `lead` behind words of reaction.

    The defaults are those of written dialogues, in the validation sets of DSTC9 (24 and 16 of 100) and DSTC11 (14 and 4); speakers say far more of
    both (DSTC10: 44 and 74). `named` says whether one thing of the domain is in hand, which "this train" can mean.
    """

    frame: float = 0.22
    lead: float = 0.18
    named: bool = True


WRITTEN = Manner()


class Question(NamedTuple):
    """A worded question: what is said, the plain wording, whether "yes" answers it as it does the title, where the wording is from, and what is
    counted of it."""

    text: str
    plain: str
    aligned: bool
    origin: str
    events: tuple[Event, ...] = ()


def side_of(split: str | None) -> str:
    """The half of the wordings that a split has: train and valid share theirs."""
    return "train" if split in ("train", "valid") else "test"


@lru_cache(maxsize=1 << 12)
def halves(bank: str, texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """A bank of wordings, divided between "train" and "test" by a deterministic hash; one of a single wording is shared."""
    ranked = sorted(texts, key=lambda text: (key_number("wording", bank, text), text))
    if len(ranked) < 2:
        return {"train": texts, "test": texts}
    cut = min(max(round(TRAIN_SHARE * len(ranked)), 1), len(ranked) - 1)
    first = frozenset(ranked[:cut])
    return {"train": tuple(text for text in texts if text in first), "test": tuple(text for text in texts if text not in first)}


@lru_cache(maxsize=1 << 10)
def phrases(language: str, kind: str, name: str) -> tuple[str, ...]:
    """The phrases of a kind for a name, or those for all."""
    found = [cell for row_kind, names, cell in rows(language, "knowledge") if row_kind == kind and name in alternatives(names)]
    found = found or [cell for row_kind, names, cell in rows(language, "knowledge") if row_kind == kind and names == "*"]
    return tuple(text for cell in found for text in alternatives(cell))


def pick(language: str, kind: str, name: str, side: str, rng: Rng) -> str:
    """One phrase of a side, "" where there is none."""
    found = phrases(language, kind, name)
    return rng.choice(halves(f"{language} {kind} {name}", found)[side]) if found else ""


def question(
    snippet: Snippet,
    entity: Entity,
    surface: str,
    reference: Reference,
    move: Move,
    language: str,
    side: str,
    bank: Sequence[str],
    rng: Rng,
    manner: Manner = WRITTEN,
) -> Question:
    """A question for a snippet.

    Args:
        snippet: what answers it.
        entity: the snippet's entity.
        surface: how the dialogue calls the entity, "" to take the base's name.
        reference: how it is to be referred to.
        move: what the system said last.
        language: "en" or "zh".
        side: "train" or "test", whose wordings are taken.
        bank: real users' questions for the snippet in the plain form, or none.
        rng: for all choices.
        manner: how often it is framed and led in to.
    """
    plain, aligned, origin = _plain(snippet, entity, language, side, bank, rng)
    text = (
        _chinese(plain, entity, surface, reference, move, side, manner, rng)
        if language == "zh"
        else _english(plain, snippet, entity, surface, reference, move, side, manner, rng)
    )
    return Question(text, plain, aligned, origin)


def _plain(snippet: Snippet, entity: Entity, language: str, side: str, bank: Sequence[str], rng: Rng) -> tuple[str, bool, str]:
    """A wording in the plain form, whether "yes" answers it as it does the title, and where it is from."""
    topic = topic_of(str(snippet.title), snippet.domain, language, entity.name)
    aligned = topic is not None and topic.polarity == "same"
    if bank:
        return rng.choice(bank), aligned, "bank"
    asked = canonical(str(snippet.title), entity.name, language)
    content = chinese.content if language == "zh" else english.content
    plain = ""
    if topic is None or not rng.chance(_BY_TOPIC):
        reworded = chinese.reworded if language == "zh" else english.reworded
        plain = _unlike(content(asked), lambda: reworded(asked, rng), content)
    if topic is None or (plain and (content(plain) != content(asked) or rng.chance(_VERBATIM))):
        return plain, True, "title"
    some = halves(f"{language} {topic.name}", topic.wordings)[side]
    return _unlike(content(asked), lambda: rng.choice(some), content), aligned, f"topic {topic.name}"


def canonical(title: str, name: str | None, language: str) -> str:
    """A title in the plain form of its language."""
    return chinese.canonical(title, name) if language == "zh" else english.canonical(title, name)


def _unlike(title: frozenset[str], draw: Callable[[], str], content: Callable[[str], frozenset[str]]) -> str:
    """A wording that is resampled while its content words are those of the title."""
    drawn = draw()
    for _ in range(_REDRAWS):
        if content(drawn) != title:
            break
        drawn = draw()
    return drawn


def _english(
    plain: str, snippet: Snippet, entity: Entity, surface: str, reference: Reference, move: Move, side: str, manner: Manner, rng: Rng
) -> str:
    before, core = english.split(plain)
    said = core
    if rng.chance(manner.frame):
        clause = english.embedded(core)
        if clause is not None:
            frame = pick("en", "frame", "*", side, rng)
            if clause.startswith("if ") and (" on {" in frame or rng.chance(_WHETHER)):
                clause = f"whether{clause[2:]}"
            said = frame.replace("{}", clause)
    said = f"{before} {said}".strip()
    if entity.name is None:
        said = _on_domain(said, snippet, manner.named, rng)
    elif reference == "name":
        said = _with(said, surface or shown(entity.name))
    elif reference == "noun":
        said = _with(said, rng.choice([noun for noun in phrases("en", "noun", snippet.domain) if noun != "it"]))
    if rng.chance(manner.lead):
        said = led(pick("en", "lead", move, side, rng), said)
    return said


def _with(said: str, noun: str) -> str:
    """The wording about `noun`, which is named at its end where it has no word for the place."""
    made = english.refer(said, noun)
    if made == said and noun.lower() not in said.lower() and " " in noun:
        before, core = english.split(said)
        if len(core.split()) < 16 and not core.lower().startswith(("if ", "would that", "is that", "will that")):
            toward = "to" if re.search(r"\b(?:bring|come|take my|take along)\b", core) else "at"
            end = core[-1] if core[-1] in "?." else "?"
            made = f"{before} {core.rstrip('?.')} {toward} {noun}{end}".strip()
    return made


_POINTS = re.compile(r"\b(?:this|that)\b")


def _on_domain(said: str, snippet: Snippet, named: bool, rng: Rng) -> str:
    """The wording of a question about a whole domain: a train is no "they", and no "this train" where none is `named`."""
    title = str(snippet.title).lower()
    station = ("station" in f"{title} {snippet.body}".lower() and "on the train" not in title) or "park" in title
    if station and snippet.domain == "train":
        return english.place_in(said, "the station", rng.choice(("at the station", "at the train station")))
    places = [at for at in phrases("en", "at", snippet.domain) if named or not _POINTS.search(at)]
    nouns = [noun for noun in phrases("en", "noun", snippet.domain) if noun != "it" and (named or not _POINTS.search(noun))]
    noun = rng.choice(nouns)
    at = rng.choice(places) if places else f"at {noun}"
    return english.place_in(said, noun, at)


def led(lead: str, said: str) -> str:
    """A question behind a lead-in; it goes on in lower case where that ends no sentence."""
    if not lead.rstrip().endswith((".", "!", "?", ":", "：")):
        first = said.split(" ", 1)[0]
        plain = first.split("'")[0].rstrip(",.?").lower()
        if first not in ("I", "I'd", "I'm", "I'll", "I've", "I'll") and (plain in _OPENERS or not first[:1].isupper()):
            said = said[:1].lower() + said[1:]
    return lead + said


_OPENERS = words(
    "do does is are can could will would should may must what which when where how who if please let any my we the there our with in by am from to"
)


def _chinese(plain: str, entity: Entity, surface: str, reference: Reference, move: Move, side: str, manner: Manner, rng: Rng) -> str:
    if reference == "pronoun" and chinese.needs_name(plain):
        reference = "noun"
    heads: list[str] = []
    if reference == "name" and entity.name is not None:
        noun = "".join((surface or entity.name).split())
    elif reference == "pronoun" and entity.name is not None:
        noun = ""
    else:
        nouns = phrases("zh", "noun", entity.domain)
        noun = rng.choice(nouns)
        heads = [head for head in map(chinese.head, nouns) if head]
    said = chinese.refer(plain, noun, heads)
    if rng.chance(manner.frame):
        said = _chinese_frame(said, side, rng).replace("{}", said)
    elif rng.chance(manner.lead):
        said = pick("zh", "lead", move, side, rng) + said
    return said if said.endswith(("？", "?")) else said + "？"


def _chinese_frame(said: str, side: str, rng: Rng) -> str:
    """A frame that fits a question: behind a comma all do, behind "please" those without one, inside another question those that embed."""
    some: Sequence[str] = halves("zh frame *", phrases("zh", "frame", "*"))[side]
    # "想打听一下，想去看日出" says twice what is wanted.
    some = [frame for frame in some if not ("想" in frame and said.startswith(("想", "我想", "打算")))] or list(some)
    fitting = [frame for frame in some if "，{" in frame or ("，" not in said and (frame == "请问{}" or chinese.embeds(said)))]
    return rng.choice(fitting) if fitting else "{}"


def shown(name: str) -> str:
    """A name as people write it: the base of DSTC9 has them in capitals."""
    if name.upper() != name:
        return name
    small = {"and", "of", "the", "by", "b"}
    return " ".join(word.lower() if place and word.lower() in small else word.capitalize() for place, word in enumerate(name.split()))


def answer(snippet: Snippet, asked: Question, entity: Entity, language: str, rng: Rng) -> str:
    """The system's answer without its closing."""
    nouns = [noun for noun in phrases(language, "noun", snippet.domain) if noun.startswith(("the ", "this ")) or language == "zh"]
    noun = rng.choice(nouns) if nouns and entity.name is not None and rng.chance(0.5) else ""
    if language == "zh":
        return chinese.answer(str(snippet.body), asked.plain, asked.aligned, entity.name, noun, rng)
    return english.answer(str(snippet.body), english.split(asked.plain)[1], asked.aligned, entity.name, noun, rng)
