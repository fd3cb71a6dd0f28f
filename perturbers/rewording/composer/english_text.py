"""English text: sentences joined and written in the source's typography, with each value back in its place."""

from __future__ import annotations

import re

from dialmill.perturbers.rewording.composer.english_phrases import Draft, Sentence
from dialmill.perturbers.rewording.composer.plan import Composed, Placed, Refusal
from dialmill.perturbers.typing.typography import tokenise

#: The letters that stand for values while a text is put together.
_LETTER = re.compile("[\u1200-\u12ff]")
#: Words before a value that depend on it: "a~ {v}", "on~ {v}".
_A = re.compile(r"\b([Aa])~ (\S)")
_ON = re.compile(r"\b(on|On|at|At|the|The)~ (\S)")
_VOWEL = re.compile(r"(?!eu|one\b|once\b|uni|use)[aeiou]|8|11\b|18\b|hour", re.IGNORECASE)
#: Dates that take no "on", and those that take "the".
_RELATIVE = re.compile(r"(?:to(?:day|night|morrow)|later|next|this|coming|day after|the|in|on|now)\b")
_ORDINAL = re.compile(
    r"\d{1,2}(?:st|nd|rd|th)\b(?! (?:of )?[a-z]+ \d)|first |second |(?:next|last|coming|following) (?:few|couple|several|\w+ (?:days"
    r"|weeks|hours|months))\b"
)


def written(turn: Draft, sentences: list[Sentence]) -> Composed | Refusal:
    """The text with its values in their places, in the source's typography."""
    surfaces = {part.letter: part.surface for part in turn.parts.values() if part.letter}
    whole = _joined(sentences, turn.who.voice == "teen" or not turn.writing.capitals)
    whole = _ON.sub(lambda match: _determined(match, surfaces), _A.sub(lambda match: _article(match, surfaces), whole))
    if not turn.writing.capitals:
        whole = whole.lower()
    if turn.writing.apart:
        whole = tokenise(whole)
    items = {part.letter: part.item for part in turn.parts.values() if part.letter}
    pieces: list[str] = []
    placed: list[Placed] = []
    reached = length = 0
    for match in _LETTER.finditer(whole):
        pieces += (whole[reached : match.start()], surfaces[match[0]])
        length += match.start() - reached
        item, end = items[match[0]], length + len(surfaces[match[0]])
        placed.append(Placed(length, end, item.start, item.end))
        length, reached = end, match.end()
    pieces.append(whole[reached:])
    if len(placed) != len(surfaces):
        return Refusal("value_lost")
    return Composed("".join(pieces), tuple(placed), tuple(dict.fromkeys(turn.used)), turn.who.voice)


def _joined(sentences: list[Sentence], lower: bool) -> str:
    """Sentences one after the other, with capitals and signs between them."""
    written: list[str] = []
    for place, sentence in enumerate(sentences):
        text = _FIRST_REACTION.sub("", sentence.text) if place else sentence.text
        if not lower:
            text = text[:1].upper() + text[1:]
        last = place == len(sentences) - 1
        if last:
            text = text.removesuffix(",")
        elif text[-1:] not in ".?!,;:":
            text += "," if lower else "."
        if written and written[-1].endswith(",") and not _I.match(sentence.text):
            text = text[:1].lower() + text[1:]
        written.append(text)
    return " ".join(written)


_I = re.compile(r"I\b")
#: What opens a turn, and no later sentence of it.
_FIRST_REACTION = re.compile(r"(?:Ooh|Oh|Ah|Aw|Hm+|Okay|Right|Well|Hi|Hi there), ")


def _article(match: re.Match[str], surfaces: dict[str, str]) -> str:
    """ "a" or "an" by what follows."""
    following = surfaces.get(match[2], match[2])
    return f"{match[1]}{'n' if _VOWEL.match(following) else ''} {match[2]}"


def _determined(match: re.Match[str], surfaces: dict[str, str]) -> str:
    """ "on", "at" and "the" where the value goes with them: "on Monday", "tomorrow", "the 3rd"."""
    surface = surfaces.get(match[2], match[2]).lower()
    word = match[1].lower()
    if word == "the":
        keep = _ORDINAL.match(surface) is not None
    elif word == "on":
        keep = _RELATIVE.match(surface) is None or _ORDINAL.match(surface.removeprefix("the ")) is not None
        if keep and _ORDINAL.match(surface) and not surface.startswith(("next", "last", "coming", "following")):  # "the 3rd" has its article
            return f"{match[1]} the {match[2]}"
    else:
        keep = _OWN_PREPOSITION.match(surface) is None
    return f"{match[1]} {match[2]}" if keep else match[2]


_OWN_PREPOSITION = re.compile(r"(?:in|around|after|before|at)\b")
