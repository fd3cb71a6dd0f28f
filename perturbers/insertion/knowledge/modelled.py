"""Questions as a language model words them: for each question of a domain a small bank of wordings, checked one by one.

The model is asked for wordings of the question alone. It sees no dialogue and no answer, so that it can give none away, and a corpus of ten
thousand dialogues costs as many calls as it has different questions. How the place is called, what leads in to a question and in what sentence it
stands is the rules' affair, as with the questions of real users (`bank`). Every wording belongs to train or to test by its own hash, so that none
is in both, whatever question it came from.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from dialmill.perturbers.core.events import Event, ModelFallback
from dialmill.perturbers.core.lexicon import words
from dialmill.perturbers.core.rng import key_number
from dialmill.perturbers.insertion.knowledge import chinese, english
from dialmill.perturbers.insertion.knowledge.base import Entity, KnowledgeBase
from dialmill.perturbers.insertion.knowledge.table import Names, names_of
from dialmill.perturbers.insertion.knowledge.topics import answered_by_database, nameless, question_key, topic_of
from dialmill.perturbers.insertion.knowledge.wording import TRAIN_SHARE, canonical, phrases
from dialmill.perturbers.rewording import llm
from dialmill.schemas import Snippet

#: What the model is told; a recipe's `prompts.knowledge` or the option `prompt` stands in its place.
INSTRUCTION = (
    "People chat with an assistant that books hotels, restaurants and the like. Write {count} different ways in which they ask the question below "
    "about {place}. Vary words, length and form; some may tell in a few words why they ask."
)
_RULES = (
    'Each is a direct question, without "could you tell me" and the like. It asks that question and nothing else; whoever says yes to the question '
    "says yes to each. "
    'Call the place "they", "there" or "{place}", never by a name. Add no numbers, dates or places. Do not answer. '
    "{language} One a line, without numbering."
)
#: Wordings asked for at a time, how many a side needs before no more are asked for, and answers asked for at most.
_COUNT, _ENOUGH, _ANSWERS = 10, 2, 3
#: An answer of more characters is no list of questions.
_LONGEST = 8_000
_LENGTHS = {"en": (3, 32), "zh": (4, 45)}
_FULL = 1 << 64


class Modelled(NamedTuple):
    """What a model's wordings came to: those of train and of test, the tokens they cost, and how many were refused for which reason."""

    sides: dict[str, tuple[str, ...]]
    tokens: int
    refused: dict[str, int]


class OfSide(NamedTuple):
    """The wordings of a question that a side may use; where the model gave none, `fallback` says why, else `note` what the lineage says of them."""

    texts: tuple[str, ...] = ()
    note: str = ""
    fallback: str = ""

    def told(self, origin: str) -> str:
        """Where the question comes from, as the lineage says it: `origin` is where it does by the rules."""
        if self.fallback:
            return f"{origin} in place of the model: {self.fallback}".strip()
        return self.note or origin

    @property
    def events(self) -> tuple[Event, ...]:
        """What is counted of it."""
        return (ModelFallback(self.fallback.partition(": ")[0]),) if self.fallback else ()


def of_side(model: str, prompt: str, snippet: Snippet, entity: Entity, base: KnowledgeBase, language: str, side: str) -> OfSide:
    """The wordings of a snippet's question that a side may use, or why the model gave none."""
    try:
        found = wordings(model, prompt, str(snippet.title), snippet.domain, entity.name, base, language)
    except llm.LlmError as error:
        return OfSide(fallback=str(error))
    if found.sides[side]:
        return OfSide(found.sides[side], f"llm ({found.tokens} tokens for {sum(map(len, found.sides.values()))} wordings)")
    why = ", ".join(f"{reason} {number}" for reason, number in sorted(found.refused.items()))
    return OfSide(fallback=f"refused: {why}" if why else "no wordings")


@lru_cache(maxsize=1 << 13)
def wordings(model: str, prompt: str, title: str, domain: str, name: str | None, base: KnowledgeBase, language: str) -> Modelled:
    """The wordings in the plain form of a snippet's title.

    Args:
        model, prompt: the model's name, and the instruction in place of `INSTRUCTION` ("" for that).
        title, domain: of the snippet.
        name: what its entity is called, None for a whole domain.
        base: the knowledge base: no wording may name an entity of it.
        language: "en" or "zh".

    Raises:
        LlmError: a call failed for good.
    """
    plain = canonical(title, name, language)
    place = place_of(domain, language)
    client = llm.client_for(model)
    messages = messages_for(prompt, plain, place, language)
    names = names_of(base, language)
    sides: dict[str, dict[str, None]] = {"train": {}, "test": {}}
    refused: Counter[str] = Counter()
    tokens = 0
    for attempt in range(_ANSWERS):
        answer = client.ask(messages, attempt)
        tokens += answer.tokens
        for text in read(answer.text):
            problem = refusal(text, nameless(title, name, language), plain, domain, names, language)
            if problem is None:
                made = canonical(text, None, language)
                sides[side_of_wording(made)][made] = None
            else:
                refused[problem] += 1
        if min(map(len, sides.values())) >= _ENOUGH:
            break
    return Modelled({side: tuple(texts) for side, texts in sides.items()}, tokens, dict(refused))


def place_of(domain: str, language: str) -> str:
    """What a place of a domain is called where it has no name: "the hotel", "这家酒店"."""
    nouns = phrases(language, "noun", domain)
    return next((noun for noun in nouns if language == "zh" or noun.startswith("the ")), nouns[0])


def messages_for(prompt: str, plain: str, place: str, language: str) -> list[dict[str, str]]:
    """What the model is asked."""
    instruction = (prompt or INSTRUCTION).replace("{count}", str(_COUNT)).replace("{place}", place)
    rules = _RULES.replace("{place}", place).replace("{language}", "Write in Chinese." if language == "zh" else "Write in English.")
    asked = plain.replace(chinese.SLOT, place) + "？" if language == "zh" else plain
    return [{"role": "system", "content": f"{instruction} {rules}"}, {"role": "user", "content": f"The question: {asked}"}]


def side_of_wording(plain: str) -> str:
    """The side that a wording belongs to, whatever it asks: "train" or "test"."""
    return "train" if key_number("modelled wording", _letters(plain)) < TRAIN_SHARE * _FULL else "test"


_MARK = re.compile(r"^(?:[-*•·>]+|\(?\d{1,2}[.):、]|\(?[a-hA-H][.)])\s*")
_QUOTES = re.compile(r"""^["'“”「『`*_]+(?P<inner>.*?)["'“”」』`*_]+[,，]?$""")


def read(answer: str) -> Iterator[str]:
    """The wordings of an answer: its lines without numbers, bullets and quotation marks, or the texts of a JSON list."""
    if len(answer) > _LONGEST:
        return
    body = re.sub(r"^```\w*\s*|\s*```$", "", answer.strip())
    lines: Iterable[object] = body.splitlines()
    if body[:1] in ("[", "{"):
        try:
            loaded = json.loads(body)
        except ValueError:
            return
        lines = loaded if isinstance(loaded, list) else next((one for one in loaded.values() if isinstance(one, list)), [])
    for line in lines:
        if isinstance(line, str):
            text = _MARK.sub("", line.strip()).strip()
            match = _QUOTES.match(text)
            text = " ".join((match["inner"] if match else text).split())
            if text:
                yield text


_CJK = re.compile("[\u3400-\u9fff]")
#: Sentences around a question: the rules have their own, which differ between train and test.
_FRAMED = {
    "en": re.compile(
        r"\b(?:tell|inform|let) (?:me|us)\b|\b(?:i|we)(?:'d| would|'m| am|'re| are)? (?:(?:like|want|need) to know|wonder(?:ing)?|curious)\b|"
        r"\b(?:can|could|would|will|do) you (?:\w+ )?(?:know|tell|check|find|look|confirm|ask|happen|help|say|let)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"请问|想问|问一下|问下|想知道|想了解|告诉|帮我(?:查|看|问)|麻烦"),
}
_ASKS_ZH = re.compile(r"什么|多少|怎么|怎样|哪|几|谁|吗|呢|[不没](?=[？?]?$)|(.)[不没]\1|是否|能否|有没有")
_NEGATIVE = {
    "en": re.compile(r"\b(?:no|not|never|without|cannot)\b|n['’]t\b", re.IGNORECASE),
    "zh": re.compile(r"[不没别无未]"),
}
#: Forms of Chinese questions that hold a negation and mean none.
_ALTERNATIVE = re.compile(r"(.)[不没]\1|[不没](?:有)?(?=[吗呢啊？?。]|$)")
#: Words of content that most questions share, about whatever.
_COMMON = words("offer provide place hotel restaurant there")
#: Letters that two words of one stem share.
_STEM = 4


def refusal(text: str, title: str, plain: str, domain: str, names: Names, language: str) -> str | None:
    """Why a wording can't stand for a title, None where it can.

    Returns:
        `control_character`, `language`, `length`, `several_questions`, `no_question`, `framed`, `names_an_entity`, `number_added`,
        `negation_changed`, `as_title`, `another_topic`, `unrelated`, or `answered_by_database`.
    """
    if any(unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs") for char in text) or chinese.SLOT in text:
        return "control_character"
    chinese_text = _CJK.search(text) is not None
    if chinese_text != (language == "zh"):
        return "language"
    shortest, longest = _LENGTHS[language]
    if not shortest <= (len(_letters(text)) if language == "zh" else len(text.split())) <= longest:
        return "length"
    marks = len(re.findall(r"[?？]", text))
    if marks > 1:
        return "several_questions"
    if not text.rstrip().endswith(("?", "？")) and not (language == "zh" and _ASKS_ZH.search(text)):
        return "no_question"
    if _FRAMED[language].search(chinese.canonical(text, None) if language == "zh" else text):
        return "framed"
    if any(True for _ in names.in_text(text)):
        return "names_an_entity"
    if set(re.findall(r"\d+", text)) - set(re.findall(r"\d+", title)):
        return "number_added"
    if _is_negative(text, language) != _is_negative(plain, language):
        return "negation_changed"
    if _letters(canonical(text, None, language)) == _letters(plain):
        return "as_title"
    told = Snippet(domain, "*", "0", text, "")
    own, other = topic_of(title, domain, language), topic_of(text, domain, language)
    if other is not None and question_key(told, language) != question_key(told.replace(title=title), language):
        return "another_topic"
    if (own is None or other is None) and not _related(text, title, language):
        return "unrelated"
    return "answered_by_database" if answered_by_database(told, language) is not None else None


def _is_negative(text: str, language: str) -> bool:
    return _NEGATIVE[language].search(_ALTERNATIVE.sub("", text) if language == "zh" else text) is not None


def _related(text: str, title: str, language: str) -> bool:
    """Whether two wordings share a word of content: by its stem, or a character of one in Chinese."""
    if language == "zh":
        return not (chinese.content(chinese.canonical(text, None)) & chinese.content(chinese.canonical(title, None))).isdisjoint(_CJK.findall(text))
    stems = [{word[:_STEM] for word in english.content(one) - _COMMON} for one in (text, title)]
    return not stems[0].isdisjoint(stems[1])


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
