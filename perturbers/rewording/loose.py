"""Turns whose meaning no label tells, in more words: hedges that fit the kind of turn stand around words that stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from dialmill.perturbers.core.lexicon import rows
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import View
from dialmill.perturbers.rewording import loose_chinese
from dialmill.perturbers.rewording.awaited import awaited, fails
from dialmill.perturbers.rewording.rewriting import Style, style_of
from dialmill.perturbers.typing.typography import tokenise
from dialmill.schemas import Edit, Turn, apply_edits

#: Turns with fewer words are answers, those with more are long enough.
_FEWEST, _MOST = 3, 60
#: Tries: most turns that could have words get some. How often a sentence stands behind a turn, and an opening before a hedge.
_TRIES, _TAILED, _OPENED = 4, 0.35, 0.25
#: First words that ask somebody for something, where a person follows; and of a statement.
_ASKING = frozenset(["can", "could", "would", "will", "may"])
_PERSONS = frozenset(["you", "i", "we", "u", "somebody", "someone"])
_STATES = frozenset(["i", "i'm", "i've", "i'd", "i'll", "we", "we're", "we'd", "we've", "we'll"])
_WISHING = frozenset(["like", "want", "need", "please", "could", "hoping", "you"])
_DENIES = re.compile(r"\b(?:not|no|never|dont|wont)\b|n['’ ]t\b", re.IGNORECASE)
_BETWEEN = re.compile(r"(?<=[.?!])\s+")
_WORD = re.compile(r"[a-z']+")
_FIRST = re.compile(r"[A-Za-z']+")
#: Who agrees, confirms or takes leave asks for nothing that could be wrapped in words.
_SETTLED = re.compile(
    r"\b(?:yes|yeah|yep|yup|proceed|confirm\w*|go ahead|go for it|sounds? (?:good|great|fine|perfect)|that(?:'s|’s| is| was| will be)?(?: all)? "
    r"(?:correct|right|fine|good|great|perfect|okay|ok|all|it)|agree|nothing else|instead)\b",
    re.IGNORECASE,
)
#: A question that asks to be shown or offered something: its answer is no fact that one could be curious about.
_OPEN = re.compile(
    r"\belse\b|\b(?:recommend|suggest|show|offer|think|help|point|options?|others?)\b|\b(?:do|have) you (?:have|got|carry|sell|see)\b"
    r"|^\W*(?:is|are) there\b|^\W*any\b"
    r"|\bwhat do you have\b|\bhow about\b|\bwhat about\b",
    re.IGNORECASE,
)
#: What is asked already with ceremony.
_CEREMONY = re.compile(
    r"\b(?:wonder\w*|possible|possibly|perhaps|curious|mind|hop(?:e|ing)|sorry|bother\w*|appreciate\w*|grateful|trouble|when you|quick question)\b",
    re.IGNORECASE,
)
#: Wishes that may be told to be possible or not; and those that only want to be told or shown something.
_POLITE = re.compile(r"(?:i|we)(?:['’]d| would| want)\b(?! have)", re.IGNORECASE)
_TOLD = re.compile(r"\b(?:know|see|look|looking|hear|find|finding|check|watch|ask|interested)\b", re.IGNORECASE)
#: Who is in a hurry leaves nobody time.
_HURRIES = re.compile(r"!|\b(?:hurry|now|quick\w*|asap|immediately|urgent\w*|right away|fast|already)\b", re.IGNORECASE)
#: Texts that are no sentences of a speaker: commands, mentions, links, code.
_CODE = re.compile(r"^[^A-Za-z\"'(]|[`{}<>|\\]|https?:|\n.*\n")


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str], tuple[str, ...]]:
    return {(row[0], row[1]): tuple(row[2].split("|") if row[0] in ("open", "hedge", "after") else row[2].split()) for row in rows("en", "loose")}


def _names(sentence: str) -> list[str]:
    """The words of a sentence in lower case, without those that may stand before any ("okay", "and")."""
    names = _WORD.findall(sentence.lower().replace("’", "'").replace(" n't", "n't").replace(" '", "'"))
    while names and names[0] in _table()["first", "plain"]:
        names = names[1:]
    return names


def kind_of(sentence: str) -> str:
    """What a sentence does by its words: "question", "wish", "problem", "tell"; "" where they don't tell, as in a bare answer."""
    table = _table()
    names = _names(sentence)
    if len(names) < _FEWEST or names[:3] == ["i", "like", "that"] or not set(table["word", "end"]).isdisjoint(names):
        return ""
    asks = sentence.rstrip().endswith("?")
    if not asks and not set(table["word", "problem"]).isdisjoint(names) and names[0] in table["first", "tell"]:
        return "problem" if _WISHING.isdisjoint(names) else ""  # who names a remedy isn't at a loss
    if names[0] in _ASKING and names[1] not in _PERSONS:
        return "question" if asks else ""  # "will it rain?" asks for nothing to be done
    if names[0] in table["first", "wish"]:
        return "wish"
    if asks:
        return "question" if names[0] in table["first", "question"] else ""
    if names[0] not in table["first", "tell"]:
        return ""
    return "tell" if set(table["word", "wish"]).isdisjoint(names[:5]) else "wish"


def _manner(sentence: str) -> str:
    """How a sentence does it: "question", "fact", "plea", "order", "want", "problem"; "" for one that nothing is put around."""
    kind = kind_of(sentence)
    if kind == "question":
        return "question" if _OPEN.search(sentence) else "fact"
    if kind != "wish":
        return kind if kind == "problem" else ""
    first = _names(sentence)[0]
    if first in _ASKING:
        return "plea"
    if first in _STATES:
        return "" if "you" in _names(sentence)[1:5] else "want"  # "I want you to ..." orders
    return "" if first in ("look", "looking", "need", "want", "will") or first in _table()["first", "tell"] else "order"


def wordier(view: View, said: str, rng: Rng, before: str = "") -> Iterator[Turn]:
    """The turn with words around its own, which stay.

    Args:
        view: of the turn; a Chinese one has its own rules (`loose_chinese`), other languages none.
        said: what was said of the dialogue's variant so far, in lower case: nothing is added a second time.
        rng: of this turn and variant.
        before: the system turn before, "" for the first turn of a dialogue: who answers a question asks for no help.
    """
    if view.language == "zh":
        yield from loose_chinese.wordier(view, said, rng)
        return
    turn, text = view.turn, view.turn.utterance
    size = len(_WORD.findall(text.lower()))
    if view.language != "en" or not _FEWEST <= size <= _MOST or _CODE.search(text) or not text.strip():
        return
    style = style_of(text)
    sentences = _BETWEEN.split(text.strip())
    opens, closes = _roles(text, sentences, awaited(before), style)
    match = _FIRST.match(text)
    first = match[0] if match else ""
    place = "first" if not before else "answer" if awaited(before) == "value" and opens == "want" else "failed" if fails(before) else "later"
    told = bool(before) and not awaited(before)
    for _ in range(_TRIES):
        ahead = _before(opens, place, told, said, text, _lowered(view, first), rng) if opens else ""
        behind = () if closes == "want" and before and _TOLD.search(sentences[-1]) else _rows("after", closes, place)
        after = rng.choice(behind) if behind and not ahead and rng.chance(_TAILED) else ""
        if "help" in text.lower() and ("help" in ahead or "help" in after):
            continue
        if any(words and words.lower() in said for words in (ahead.partition(" ")[2], after)):
            continue
        edits = [*_opened(ahead, text, style, ahead[-1:] != ":" and first != "I" and _lowered(view, first)), *_closed(after, text, style)]
        if edits:
            yield apply_edits(turn, edits)


def _roles(text: str, sentences: list[str], awaits: str, style: Style) -> tuple[str, str]:
    """How the first sentence and the last ask for something ("" where nothing is put before or behind them), as the system turn before has it."""
    opens, closes = _manner(sentences[0]), _manner(sentences[-1])
    match = _FIRST.match(text)
    if match is None or match[0].lower() in _table()["first", "plain"]:
        opens = ""
    if text.rstrip()[-1:] not in ".?!" and style.capitals:
        closes = ""
    if any(_CEREMONY.search(sentence) for sentence in sentences):
        opens, closes = (kind if kind == "problem" else "" for kind in (opens, closes))
    if _DENIES.search(text) or _SETTLED.search(text) or awaits == "yes":
        # Who wants something not to be done, or answers yes, asks for no help; a question of one's own is another matter.
        opens, closes = (kind if kind in ("question", "fact", "problem") else "" for kind in (opens, closes))
    if awaits == "value":
        opens, closes = opens if opens in ("question", "fact", "want", "problem") else "", closes if closes in ("fact", "problem") else ""
    return opens, closes


def _rows(where: str, kind: str, place: str) -> tuple[str, ...]:
    """What may stand before or behind a kind of sentence at this place of a dialogue."""
    table = _table()
    found = table.get((where, kind), ())
    if kind == "fact":
        found += table.get((where, "question"), ()) + (table.get((where, "fact further"), ()) if place != "first" else ())
    if place == "answer":
        return table.get((where, f"{kind} answer"), ())
    if place == "failed":
        found += table.get((where, f"{kind} later"), ())
    return found + table.get((where, f"{kind} {place}"), ())


def _opened(words: str, text: str, style: Style, small: bool) -> list[Edit]:
    """The edit that puts words before a text; `small`: its first letter loses its capital."""
    if not words:
        return []
    return [Edit(0, 1 if small else 0, f"{_shown(words, style)} {text[:1].lower() if small else ''}")]


def _closed(words: str, text: str, style: Style) -> list[Edit]:
    """The edit that puts a sentence behind a text."""
    if not words:
        return []
    end = len(text.rstrip())
    stop = "" if text[end - 1 : end] in (".", "?", "!") else " ." if style.apart else "."
    return [Edit(end, end, f"{stop} {_shown(words, style)}")]


def _shown(words: str, style: Style) -> str:
    """Words in the typography of a turn."""
    shown = words if style.capitals else words.lower()
    return tokenise(shown) if style.apart else shown


def _lowered(view: View, first: str) -> bool:
    """Whether the first word may lose its capital, or has none to lose."""
    return first.lower() in _table()["lower", "any"] and not any(place.start == 0 for place in view.located)


def _before(kind: str, place: str, told: bool, said: str, text: str, lowered: bool, rng: Rng) -> str:
    """What stands before a turn: a hedge that goes on into it, with an opening where the system told something before."""
    states = _names(text)[:1] and _names(text)[0] in _STATES
    # A word that can't lose its capital begins behind a colon.
    hedges = [words for words in _rows("hedge", kind, place) if states or lowered or words[-1:] == ":"]
    if "?" not in said:
        further = _table()["hedge", "fact further"]
        hedges = [words for words in hedges if words not in further]
    if _names(text)[1:2] != ["you"] or _HURRIES.search(text):
        hedges = [words for words in hedges if not words.startswith(("when you", "if you")) or (kind == "order" and not _HURRIES.search(text))]
    begs = "please" in text.lower()
    if begs:
        hedges = [words for words in hedges if not words.startswith("if ")]  # "if you'd be so kind, please": courtesies don't stack
    if kind == "want" and not _POLITE.match(text):
        hedges = [words for words in hedges if not words.startswith("if ")]
    if not hedges:
        return ""
    words = rng.choice(hedges)
    if kind != "problem" and told and not begs and not words.startswith(("I", "in that case", "if ")) and rng.chance(_OPENED):
        return f"{rng.choice(_table()['open', 'any'])} {words}"
    return words[:1].upper() + words[1:]
