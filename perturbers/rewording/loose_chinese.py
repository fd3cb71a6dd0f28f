"""Chinese turns whose meaning no label tells, in more words: what leads up to a question, a wish or a problem stands before it; its words stay.

What a turn does is told by its words as jieba cuts them, never by characters inside longer words. What is put before it is made of three parts, so
that none comes again and again: "不好意思，有个地方我没弄明白，…".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from dialmill.perturbers.core.lexicon import rows
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.tokens import tokens
from dialmill.perturbers.core.values import View
from dialmill.schemas import Edit, Turn, apply_edits

#: Turns with fewer Chinese characters are answers, those with more are long enough.
_FEWEST, _MOST = 5, 90
_TRIES = 6
_HAN = re.compile(r"[\u4e00-\u9fff]")
#: Texts that are no sentences of a speaker: commands, mentions, links, code.
_CODE = re.compile(r"^[/!@#<`{\[]|[`{}<>|\\]|https?:|\n.*\n")
_CLAUSE = re.compile(r"[^，,。！!？?；;\s]+[，,。！!？?；;\s]*")
_ASKING = re.compile(r"[？?]\s*$")


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str], tuple[str, ...]]:
    return {
        (row[0], row[1]): tuple(row[2].split("|") if row[0] in ("open", "what", "lead", "after") else row[2].split()) for row in rows("zh", "loose")
    }


def _words(text: str) -> list[str]:
    return [text[start:end] for start, end in tokens(text, "zh")]


def kind_of(text: str) -> str:
    """What a turn does by its words: "question", "wish", "problem", "tell"; "" where they don't tell, as in thanks or a bare answer."""
    table = _table()
    names = _words(text)
    if len(_HAN.findall(text)) < _FEWEST or len(names) < 3 or not set(table["word", "end"]).isdisjoint(names):
        return ""
    thanking = not set(table["word", "thanks"]).isdisjoint(names)
    if not set(table["word", "problem"]).isdisjoint(names):
        return "problem"
    if _ASKING.search(text) or not set(table["word", "question"]).isdisjoint(names) or names[-1] in table["word", "asking"]:
        return "wish" if not set(table["word", "wish"]).isdisjoint(names) else "question"
    if not set(table["word", "wish"]).isdisjoint(names):
        return "wish"
    return "tell" if names[0] in table["word", "tell"] and not thanking else ""


def _beginning(text: str) -> int:
    """Where a text goes on behind a greeting or an acknowledgement of its own ("你好，", "好的。")."""
    plain = set(_table()["word", "plain"])
    place = 0
    for match in _CLAUSE.finditer(text):
        if match.start() != place or match.end() >= len(text) or not set(_words(match[0])) <= plain:
            break
        place = match.end()
    return place


def _asking_from(text: str) -> int:
    """Where the clause begins that asks or wishes; what was said before it keeps its place. The beginning of the text's own words where none does."""
    table = _table()
    telling = {word for kind in ("question", "wish", "asking", "problem") for word in table["word", kind]}
    begins = _beginning(text)
    for match in _CLAUSE.finditer(text, begins):
        if not telling.isdisjoint(_words(match[0])) or _ASKING.search(match[0]):
            return match.start()
    return begins


def wordier(view: View, said: str, rng: Rng) -> Iterator[Turn]:
    """The turn with words before its own, which stay.

    Args:
        view: of a Chinese turn.
        said: what was said of the dialogue's variant so far: nothing is added a second time.
        rng: of this turn and variant.
    """
    turn, text = view.turn, view.turn.utterance
    if turn.acts or _CODE.search(text) or not text.strip() or len(text) > _MOST:
        return  # a labelled turn that the composer refuses says more than its labels: it stays as it is
    place = _asking_from(text)
    kind = kind_of(text[place:])
    if not kind or any(located.start < place < located.end for located in view.located):
        return
    table = _table()
    asked = not set(table["word", "ceremony"]).isdisjoint(_words(text[place:]))
    if asked and kind != "problem":
        return  # it asks with ceremony already
    for _ in range(_TRIES):
        opening = rng.choice(table["open", "any"]) + "，" if place == 0 and rng.chance(0.6) else ""
        lead = rng.choice(table["lead", kind])
        words = f"{opening}{rng.choice(table['what', kind])}{lead}，"
        behind = table.get(("after", kind), ())
        after = rng.choice(behind) if behind and not asked and rng.chance(0.3) else ""
        if words in said or (after and after in said):
            continue
        end = len(text.rstrip())
        edits = [Edit(place, place, words)]
        if after:
            stop = "" if text[end - 1] in "。！!？?" else "。"
            edits.append(Edit(end, end, f"{stop}{after}。"))
        yield apply_edits(turn, edits)
