"""Out-of-scope turns: the user says what the system can't serve, and the system declines and leads back to the task.

RADDLE's out-of-domain suite (Peng et al. 2021, section 3.2, after Lee and Shalyminov 2019): utterances of other corpora are inserted into a
dialogue; the belief state is carried on unchanged, and the system should notice, fall back, and return to the task. Training uses half of one
source, the other half and the other sources are met only in testing. An inserted turn has the label `inserted` and no `original`, as it is in no
source text; the lineage names it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

from dialmill.perturbers.core.contract import DialoguePerturber, PerturbResult, untouched
from dialmill.perturbers.core.lexicon import alternatives, rows, words
from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.options import Meta, OptionError
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.perturbers.core.values import VALUE_CLASSES, Locator, signals
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
_QUESTION = re.compile(
    r"(?:what|who|whose|which|why|when|where|how|is|are|am|do|does|did|can|could|will|would|should|have|has|was|were)\b", re.IGNORECASE
)
_SENTENCE = re.compile(r"[^.!?。！？]*[.!?。！？]?")
#: Sources of our list whose talk is no question: it breaks off, or is meant for somebody else.
_HALF, _ASIDE = frozenset({"half", "半句"}), frozenset({"aside", "旁话"})
#: How often each manner is drawn where all are there: talk near the domain, sentences that break off, asides, other topics; cumulative.
_MANNERS = (0.4, 0.55, 0.85, 1.0)
#: An aside that asks the system to wait, and no mere noise beside the call.
_ASKS_TO_WAIT = re.compile(
    r"等(?!我把菜)|稍等|去去就回|去拿|找支笔|正忙|马上就来|说完|hold on|wait|moment(?! please$)|hang on|right back|let me|not now|busy", re.IGNORECASE
)
_GENERAL = {"en": "general", "zh": "通用"}
#: Words too common to say what a knowledge snippet is about.
_COMMON = words("a an the is are was do does did can could i you we it there any at for in of to on with and or this that my your have has be")


class Candidate(NamedTuple):
    """An utterance with the source it comes from, and the domains that it lies near: it is said where one of them is spoken of. () for talk
    that fits anywhere."""

    text: str
    source: str
    domains: tuple[str, ...] = ()


@dataclass(frozen=True)
class OutOfScope(DialoguePerturber):
    """Inserts user turns that are out of scope, each with a system turn that says so and repeats what the system had asked before.

    Candidates that name a domain some system supports (`other_domain`), that a knowledge snippet answers (`knowledge_seeking`) or that hold a slot
    value (`names_value`) are not used. No text is met in two splits: a hash of the text says where it belongs. Of our own list two fifths are about
    things near the dialogue's domain, a seventh are sentences that break off, a third are words to somebody else in the room, the rest are other
    topics: these take the place of no answer where others are at hand, and an introduction marks them as asides. The answer differs accordingly.
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
            description='the source whose first half is for training; empty takes the first that the candidates name, "*" every source',
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
        if self.train_source not in ("", "*") and self.train_source not in sources:
            raise OptionError(f"out_of_scope: there is no source {self.train_source!r}; there are: {', '.join(sorted(sources))}")

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        rng = Rng(seed, self.step, dialogue.source_id, variant)
        if not rng.chance(self.chance):
            return untouched(dialogue, "not_chosen")
        pool = _pool(self.texts, self.knowledge, self.train_source, dialogue.language, dialogue.split or "test")
        if not pool:
            return untouched(dialogue, "no_candidates")
        places = gaps(dialogue)
        if self.answer:
            # Nothing leads back to what was said: better where the system waits for no answer, best where no comment on it follows.
            places = [gap for gap in places if not (gap and waits(dialogue.turns[gap - 1]))] or places
            places = [gap for gap in places if not (gap < len(dialogue.turns) and reacts(dialogue.turns[gap]))] or places
        if not places:
            return untouched(dialogue, "no_place")
        count = 1 + rng.below(self.most)
        locator = Locator.of(dialogue)
        said = {turn.utterance.casefold() for turn in dialogue.turns}
        inserted: dict[int, list[Pair]] = {}
        for gap in rng.sample(places, count):
            for _ in range(8):
                one = _drawn(pool, _spoken_of(dialogue, gap), bool(gap and waits(dialogue.turns[gap - 1])), rng)
                text = styled(one.text if self.texts else _introduced(one, dialogue.language, rng), dialogue, "user")
                if one.source in _HALF and dialogue.language != "zh":
                    text = text.rstrip(" .?!") + "..."  # it breaks off, and no full stop closes it
                units = Cut(text, dialogue.language)
                if text.casefold() not in said and not locator.keys(text, units):
                    said.add(text.casefold())
                    inserted[gap] = [_pair(dialogue, gap, text, one.source, locator, rng, self.answer)]
                    break
        if not inserted:
            return untouched(dialogue, "no_candidate_fits")
        made = insert(dialogue, inserted)
        return PerturbResult(made.turns, dialogue.goal, (), made.reasons)


_SERVICE = re.compile(r"_\d+$")
#: Domains of acts that say nothing of what is spoken of.
_SHARED = frozenset({"general", "通用", "booking", ""})
#: How the rows of answers call an aside that asks to wait.
_WAITING = {"en": "-wait", "zh": "-等"}


def _spoken_of(dialogue: Dialogue, gap: int) -> str:
    """The domain that is spoken of before turn `gap`: of the last act that has one, else of what the user says next, else the dialogue's first; ""
    where nothing tells."""
    for turn in (*reversed(dialogue.turns[:gap]), *dialogue.turns[gap:]):
        for act in reversed(turn.acts):
            if act.domain.lower() not in _SHARED:
                return _SERVICE.sub("", act.domain.lower())
    return next((_SERVICE.sub("", domain.lower()) for domain in dialogue.domains), "")


def _introduced(one: Candidate, language: str, rng: Rng) -> str:
    """The text of our own list with what leads to it, where it is of another topic or a question: nobody asks out of the blue what pi is."""
    if one.source in _HALF | _ASIDE or (one.domains and not (one.text.endswith(("?", "？")) or (language != "zh" and _QUESTION.match(one.text)))):
        return one.text
    intro = rng.choice(_answers(language, "intro", one.source) or _answers(language, "intro", "*"))
    if language == "zh":
        return intro + one.text
    closed = "?" if one.text[-1].isalnum() and _QUESTION.match(one.text) else ""
    return f"{intro.rstrip()} {one.text}{closed}"


def _drawn(pool: tuple[Candidate, ...], domain: str, waited: bool, rng: Rng) -> Candidate:
    """A candidate that fits where `domain` is spoken of: of one of the manners, and where the pool has none of it, of another. Another topic takes
    the place of no answer that the system waits for."""
    near = [one for one in pool if domain in one.domains]
    half = [one for one in pool if one.source in _HALF]
    aside = [one for one in pool if one.source in _ASIDE]
    other = [one for one in pool if not one.domains and one.source not in _HALF | _ASIDE]
    share = rng.random() * (_MANNERS[2] if waited else 1.0)
    manners = (near, half, aside, other)
    first = next(place for place, reached in enumerate(_MANNERS) if share < reached)
    fitting = next((some for some in (*manners[first:], *reversed(manners[:first])) if some), list(pool))
    return rng.choice(fitting)


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
    listed = [Candidate(text, source, tuple(alternatives(near[0])) if near else ()) for source, text, *near in own]
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
    """The one split in which a candidate may stand: train takes half of the training source ("*": of each), valid a quarter; all other texts are
    for testing."""
    if train_source not in ("*", one.source):
        return "test"
    place = key_number("out_of_scope", _normal(one.text)) / _FULL
    return "train" if place < _TRAIN else "valid" if place < _VALID else "test"


@lru_cache(maxsize=64)
def _pool(texts: str, knowledge: str, train_source: str, language: str, split: str) -> tuple[Candidate, ...]:
    """The usable candidates of a split."""
    everything = candidates(texts, language)
    if not everything:
        return ()
    training = train_source or everything[0].source
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


def _pair(dialogue: Dialogue, gap: int, text: str, source: str, locator: Locator, rng: Rng, fixed: str) -> Pair:
    """The inserted turns: the user's with the state as it was, and the fallback, `fixed` where that is given."""
    asked: tuple[Act, ...] = ()
    answer = fixed
    if not fixed:
        answer, asked = _fallback(dialogue, gap, text, source, locator, rng)
    acts = (Act(FALLBACK, _GENERAL.get(dialogue.language, "general")), *asked)
    return Pair(text, answer, (OOS, OUT_OF_DOMAIN), (FALLBACK,), acts=acts, note=f"{OUT_OF_DOMAIN}, source {source}")


def _fallback(dialogue: Dialogue, gap: int, text: str, source: str, locator: Locator, rng: Rng) -> tuple[str, tuple[Act, ...]]:
    """What the system says to `text`, talk from `source`, and the requests that it repeats."""
    language = dialogue.language
    if source in _ASIDE and _ASKS_TO_WAIT.search(text):
        source += _WAITING[language]
    sorry = styled(rng.choice(_answers(language, "sorry", source) or _answers(language, "sorry", "*")), dialogue, "system")
    before = dialogue.turns[gap - 1] if gap else None
    options: list[tuple[str, tuple[Act, ...]]] = []
    if before is not None:
        for act in before.acts:
            if "request" in act.act and act.slot is not None:
                options += [(styled(answer, dialogue, "system"), (act,)) for answer in _answers(language, "ask", act.slot)]
        question = question_of(before)
        if question and not options:
            options.append((question, tuple(act for act in before.acts if "request" in act.act)))
    if not options:
        some = _answers(language, "task", source)
        if not some:
            # Back to what was spoken of last, and to no domain where two were spoken of together.
            last = {_SERVICE.sub("", act.domain.lower()) for turn in dialogue.turns[max(0, gap - 2) : gap] for act in turn.acts} - _SHARED
            some = (_answers(language, "task", last.pop()) if len(last) == 1 else []) + _answers(language, "task", "*")
        options = [(styled(answer, dialogue, "system"), ()) for answer in some]
    # What leads back must not say a value of the dialogue ("hotel" may be one).
    fitting = [option for option in options if not locator.keys(option[0], Cut(option[0], language))]
    if not fitting:
        fitting = [(styled(answer, dialogue, "system"), ()) for answer in _answers(language, "task", "*")]
    back, asked = rng.choice(fitting)
    return (sorry + back if language == "zh" else f"{sorry} {back}"), asked


@lru_cache(maxsize=1024)
def _answers(language: str, kind: str, name: str) -> list[str]:
    """The answers of a kind for a slot or domain."""
    cells = [cell for row_kind, names, cell in rows(language, "fallbacks") if row_kind == kind and name in alternatives(names)]
    return [answer for cell in cells for answer in alternatives(cell)]


def question_of(turn: Turn) -> str:
    """The last question of a system turn, if no slot value stands in it."""
    for match in reversed(list(_SENTENCE.finditer(turn.utterance))):
        sentence = match.group().strip()
        if sentence.endswith(("?", "？")) and len(sentence) > 3:
            inside = any(span.start is not None and span.start < match.end() and match.start() < (span.end or 0) for span in turn.spans)
            return "" if inside else sentence
    return ""


_CLITIC = re.compile(r"(n't|'(?:s|m|re|ve|d|ll))\b")


def styled(text: str, dialogue: Dialogue, speaker: str) -> str:
    """A text in the manner of a speaker's turns: capitals and closing marks where most have them, punctuation and clitics cut off where they are."""
    if dialogue.language == "zh":
        return text
    own = [turn.source_text for turn in dialogue.turns if turn.speaker == speaker and turn.source_text.strip()]
    capital = 2 * sum(one.strip()[0].isupper() for one in own) >= len(own)
    closed = 2 * sum(one.rstrip()[-1] in ".?!" for one in own) >= len(own)
    cut_off = any(" ." in one or " ," in one or " ?" in one or " '" in one for one in own)
    if capital:
        text = re.sub(r"\bi\b", "I", text)
        text = text[0].upper() + text[1:]
    else:
        text = text.lower()
    if text[-1].isalnum() and closed:
        text += "?" if _QUESTION.match(text) else "."
    elif speaker == "user" and not closed:
        text = text.rstrip(".?!")
    if cut_off:
        text = re.sub(r"(?<=\w)([,.?!:;])(?=\s|$)", r" \1", _CLITIC.sub(r" \1", text))
    return text
