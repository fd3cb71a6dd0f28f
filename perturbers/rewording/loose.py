"""Turns whose meaning no label tells, in more words: hedges that fit the kind of turn stand around words that stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from dialmill.perturbers.core.lexicon import rows
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import View
from dialmill.perturbers.rewording import loose_chinese
from dialmill.perturbers.rewording.rewriting import Style, style_of
from dialmill.perturbers.typing.typography import tokenise
from dialmill.schemas import Edit, Turn, apply_edits

#: Turns with fewer words are answers, those with more are long enough.
_FEWEST, _MOST = 3, 60
#: How often a sentence stands behind a turn that nothing may stand before. Tries: most turns that could have words get some.
_TRIES, _TAILED = 4, 0.4
#: Last words of hedges that a conclusion follows.
_CONCLUDES = frozenset(["and", "so", "mind:", "honest,", "short,", "idea,", "know,", "truth,"])
#: Where a wish stands: at the beginning of a dialogue, as an answer, in a dialogue that has begun.
_WISHES = frozenset(["wish", "answer", "further"])
#: First words of a wish that asks and doesn't order.
_ASKING = frozenset(["can", "could", "would", "will", "may"])
_DENIES = re.compile(r"\b(?:not|no|never|dont|wont)\b|n['’ ]t\b", re.IGNORECASE)
_BETWEEN = re.compile(r"(?<=[.?!])\s+")
_WORD = re.compile(r"[a-z']+")
_FIRST = re.compile(r"[A-Za-z']+")
#: Texts that are no sentences of a speaker: commands, mentions, links, code.
_CODE = re.compile(r"^[^A-Za-z\"'(]|[`{}<>|\\]|https?:|\n.*\n")


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str], tuple[str, ...]]:
    return {
        (row[0], row[1]): tuple(row[2].split("|") if row[0] in ("open", "hedge", "aside", "after") else row[2].split()) for row in rows("en", "loose")
    }


def kind_of(sentence: str) -> str:
    """What a sentence does by its words: "question", "wish", "problem", "tell"; "" where they don't tell, as in a bare answer."""
    table = _table()
    names = _WORD.findall(sentence.lower().replace(" n't", "n't").replace(" '", "'"))
    while names and names[0] in table["first", "plain"]:
        names = names[1:]
    if len(names) < _FEWEST or names[:3] == ["i", "like", "that"] or not set(table["word", "end"]).isdisjoint(names):
        return ""
    asks = sentence.rstrip().endswith("?")
    if not asks and not set(table["word", "problem"]).isdisjoint(names) and names[0] in table["first", "tell"]:
        return "problem"
    if names[0] in table["first", "wish"]:
        return "wish"
    if asks:
        return "question" if names[0] in table["first", "question"] else ""
    if names[0] not in table["first", "tell"]:
        return ""
    return "tell" if set(table["word", "wish"]).isdisjoint(names[:5]) else "wish"


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
    table, style = _table(), style_of(text)
    sentences = _BETWEEN.split(text.strip())
    opens, closes = kind_of(sentences[0]), kind_of(sentences[-1])
    match = _FIRST.match(text)
    first = match[0] if match else ""
    if first.lower() in table["first", "plain"] or not first:
        opens = ""
    if text.rstrip()[-1:] not in ".?!" and style.capitals:
        closes = ""
    if _DENIES.search(text):
        # Who wants something not to be done asks for no help.
        opens, closes = (kind if kind in ("question", "problem") else "" for kind in (opens, closes))
    hedged = opens
    if opens == "wish" and before:
        hedged = "answer" if before.rstrip().endswith("?") else "further"
    for _ in range(_TRIES):
        ahead = _before(hedged, first, _lowered(view, first), rng) if opens else ""
        behind = table.get(("after", closes), ())
        after = rng.choice(behind) if behind and not ahead and rng.chance(_TAILED) else ""
        if "help" in text.lower() and ("help" in ahead or "help" in after or (hedged == "wish" and ahead[-1:] == ":")):
            continue
        if any(words and words.lower() in said for words in (ahead.partition(" ")[2], after)):
            continue
        edits = [*_opened(ahead, text, style, ahead[-1:] != ":" and first != "I" and _lowered(view, first)), *_closed(after, text, style)]
        if edits:
            yield apply_edits(turn, edits)


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


def _before(kind: str, first: str, lowered: bool, rng: Rng) -> str:
    """What stands before a turn: an opening and a hedge that goes on into it, or an aside with a stop."""
    table = _table()
    # The hedges of a wish open by themselves.
    opening = rng.choice(table["open", "any"]) + " " if rng.chance(0.5) and kind not in _WISHES else ""
    states = first in ("I", "I'm", "I've", "I'd", "I'll", "We", "We're", "We'd")
    goes_on = states or lowered
    asides = tuple(words for words in table.get(("aside", kind), ()) if states or kind != "wish" or "help" in words)
    # "... and could you", "... so find me": a conclusion goes on into a statement alone.
    hedges = [words for words in table.get(("hedge", kind), ()) if states or kind not in _WISHES or words.rpartition(" ")[2] not in _CONCLUDES]
    if kind in _WISHES and not states and first.lower() not in _ASKING:
        hedges = [words for words in hedges if not words.endswith(" but")]  # "sorry to bother you, but book me a room" orders and excuses at once
    if kind == "answer" and not states:
        hedges = [words for words in hedges if words.startswith("let me")]  # an order that answers is given after a moment's thought, and no more
    chosen = hedges if hedges and goes_on and (not asides or rng.chance(0.8)) else asides
    if not chosen:
        return ""
    words = rng.choice(chosen)
    if opening and not words.startswith("I"):
        words = words[:1].lower() + words[1:]
    return opening + words if opening else words[:1].upper() + words[1:]
