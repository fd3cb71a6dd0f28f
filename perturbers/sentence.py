"""A sentence alone as a dialogue of one turn, so that every perturber takes it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.typing.english import frequent_words
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn

#: The domain of slots that nobody put into one.
GENERAL = "general"
#: The language of a text that no rule of ours is for (ISO 639-2: undetermined).
UNKNOWN = "und"

#: Text of this many Latin words or more, of which less than this share are frequent English ones, is in another language. Of 44,369 user turns of
#: MultiWOZ, SGD, CLINC150 and Taskmaster 11 are below it ("Rio de Janeiro"); sentences in German, French, Spanish or Dutch all but always.
_ENOUGH, _ENGLISH = 3, 0.3

_HAN = re.compile("[\u3400-\u9fff]")
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f]+")
_OTHER_LETTER = re.compile("[^\\W\\d_A-Za-z\u00c0-\u024f\u3400-\u9fff]")


def language_of(text: str) -> str:
    """The language of a text, as far as our rules have to know it: "zh" for Chinese characters, "en" for English words, else "und".

    Few words say little: up to two in Latin letters count as English.
    """
    latin = _LATIN_WORD.findall(text)
    han, others = len(_HAN.findall(text)), len(_OTHER_LETTER.findall(text))
    if others > han and others > len(latin):
        return UNKNOWN
    if han and han >= len(latin):
        # Japanese has kana beside its Chinese characters.
        return UNKNOWN if others else "zh"
    known = sum(word.lower() in frequent_words() for word in latin)
    return "en" if len(latin) < _ENOUGH or known >= _ENGLISH * len(latin) else UNKNOWN


def as_dialogue(text: str, slots: Mapping[str, str | Iterable[str]] | None = None, language: str | None = None, domain: str = GENERAL) -> Dialogue:
    """A user turn as a dialogue.

    Args:
        text: what the user says. Its content is the id, so that equal sentences are perturbed alike.
        slots: slot -> value, or values, that the user means; they are looked for in the text and get spans.
        language: a code ("en", "zh-CN"), None to tell it from the text.
        domain: the domain of the slots.
    """
    state = tuple(SlotValues(domain, slot.lower(), (values,) if isinstance(values, str) else tuple(values)) for slot, values in (slots or {}).items())
    acts = tuple(Act("inform", domain, cell.slot, value) for cell in state for value in cell.values)
    code = language_of(text) if language is None else re.split("[-_]", language.lower())[0]
    name = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    turn = Turn(0, "user", text, acts=acts, state=state)
    made = Dialogue(dialogue_id=name, source="text", source_id=name, language=code, domains=(domain,), turns=(turn,))
    if not state:
        return made
    found = Locator(made).view(turn).located
    spans = tuple(Span(one.start, one.end, text[one.start : one.end], one.domain, one.slot, one.value) for one in found)
    return made.replace(turns=(turn.replace(spans=spans),))
