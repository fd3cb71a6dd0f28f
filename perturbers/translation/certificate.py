"""What a translated turn must show before it is taken: script, length, numbers, negation, question, and no word of the source language left."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialmill.perturbers.core.surfaces import NUMBER_WORDS, zh_number

_HAN = re.compile("[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"(?<![A-Za-z0-9_@.])[A-Za-z][A-Za-z'’]*(?![\d@.]*[\dA-Za-z])")
_LETTERS = re.compile("[A-Za-z\u3400-\u9fff]")
#: Words of Latin letters that Chinese text has as they are.
_LOANS = frozenset(
    ("wifi", "wi", "fi", "ok", "spa", "app", "vip", "gps", "km", "kg", "am", "pm", "tv", "atm", "dvd", "cd", "id", "pin", "sms", "ktv")
)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+")
#: Chinese says in one character what English says in about three letters.
_LETTERS_A_CHARACTER = 3.0
_LONGER, _SHORT = 3.0, 12.0


def problem(source: str, target: str, languages: tuple[str, str], surfaces: Sequence[str], values: Sequence[str]) -> str | None:
    """Why a translation can't stand for its source, None where it can.

    Args:
        source, target: the turn and its translation, the values in their places.
        languages: of both.
        surfaces, values: the values in the source and in the translation.

    Returns:
        None, or `wrong_script`, `source_words_left: WORD`, `length`, `numbers_changed: NUMBER`, `negation_changed`, `question_lost`,
        `question_added`, `empty`.
    """
    if not target.strip():
        return "empty"
    # Values are what the lexicon says they are: the rules are for what stands around them.
    said, bare = _without(source, surfaces), _without(target, values)
    return (
        _script(source, bare, languages)
        or _length(said, bare)
        or _numbers(said, bare, languages)
        or _negation(said, bare, languages)
        or _question(source, target, languages)
    )


def _without(text: str, values: Sequence[str]) -> str:
    for value in sorted(set(values), key=len, reverse=True):
        if value:
            text = text.replace(value, " ")
    return text


def _script(source: str, bare: str, languages: tuple[str, str]) -> str | None:
    if languages[1] == "zh":
        for word in _LATIN_WORD.findall(bare):
            # Names that nothing labels stay as they are written; so do codes, which have digits or are in capitals.
            if len(word) > 1 and word.lower() not in _LOANS and not _name(word, source):
                return f"source_words_left: {word}"
        letters = _LETTERS.findall(bare)
        return "wrong_script" if letters and not _HAN.search(bare) and len(letters) > 3 else None
    left = _HAN.search(bare)
    return f"source_words_left: {left[0]}" if left else None


def _name(word: str, source: str) -> bool:
    """Whether a word is written with a capital in the source: a name, or a code."""
    return any(not match[0].islower() for match in re.finditer(re.escape(word), source, re.IGNORECASE))


def _weight(text: str) -> float:
    """The length of a text in letters of English."""
    characters = len(_HAN.findall(text))
    return characters * _LETTERS_A_CHARACTER + sum(not char.isspace() for char in text) - characters


def _length(source: str, target: str) -> str | None:
    one, other = _weight(source), _weight(target)
    if max(one, other) <= _SHORT:
        return None
    return None if 1 / _LONGER <= (other + 4) / (one + 4) <= _LONGER else "length"


_ZH_NUMERALS = {zh_number(number): number for number in range(1, 60)} | {"两": 2}
#: What a clock's words say.
_ZH_PARTS = {"半": "30", "一刻": "15", "三刻": "45"}
_ZH_NUMERAL = re.compile("[零一二两三四五六七八九十百千万]+")
_EN_WORDS = {word: number for number, word in enumerate(NUMBER_WORDS)} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "a": 1,
    "an": 1,
    "half": 30,
    "quarter": 15,
}
_EN_WORD = re.compile(r"[a-z]+")


def _told(text: str) -> dict[str, frozenset[str]]:
    """The numbers in digits, without separators of thousands and leading zeros, each with the ways it may be written otherwise: the hour in both ways
    of counting, and hour and minutes apart."""
    found = {}
    for match in _NUMBER.finditer(text):
        number = match[0].replace(",", "").lstrip("0") or "0"
        same = {number}
        if len(number) <= 2:
            same |= {str(int(number) + 12), str(int(number) - 12)}
        elif len(number) <= 4:
            same.add(number[:-2])
        found[number] = frozenset(same)
    return found


def _worded(text: str, language: str) -> frozenset[str]:
    """The numbers that the words of a text can stand for."""
    if language != "zh":
        return frozenset(str(_EN_WORDS[word]) for word in _EN_WORD.findall(text.lower()) if word in _EN_WORDS)
    found = {said for sign, said in _ZH_PARTS.items() if sign in text}
    for run in _ZH_NUMERAL.findall(text):
        parts = (run[start:end] for start in range(len(run)) for end in range(start + 1, len(run) + 1))
        found.update(str(_ZH_NUMERALS[part]) for part in parts if part in _ZH_NUMERALS)
        found.add("".join(str(_ZH_NUMERALS.get(char, 0)) for char in run))
    return frozenset(found)


def _numbers(source: str, target: str, languages: tuple[str, str]) -> str | None:
    """A number in digits on one side that the other has neither in digits nor in words."""
    here, there = _told(source), _told(target)
    for one, other, words in ((here, there, _worded(target, languages[1])), (there, here, _worded(source, languages[0]))):
        written = frozenset().union(*other.values())
        for number, same in one.items():
            if number != "0" and same.isdisjoint(written) and same.isdisjoint(words):
                return f"numbers_changed: {number}"
    return None


_NEGATION = {
    "en": re.compile(
        r"\b(?:not|no|never|none|neither|nor|without|cannot|nothing|nobody|nowhere|unable|\w*n\s?['’]t|isnt|dont|doesnt|didnt|cant|wont|couldnt)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile("[不没无别勿]"),
}
#: What holds a sign of negation and denies nothing, or denies without one.
_NO_NEGATION = {
    "en": re.compile(
        r"\bno\.?\s*[A-Z]?\d|\bor no(?: t)?\b|\bnope\b|\bno (?:entrance )?(?:fee|charge|cost|price)\b|"
        r"\bno,? (?:problem|worries|preference|matter|doubt)\b|\bnot (?:only|a problem)\b|\bwhy (?:not|don['’ ]?t)\b|"
        r"\bnothing (?:else|more)\b|\b(?:don['’ ]?t|do n['’]t|not) (?:care|mind|matter|hesitate|forget|worry)\b|\bis n['’ ]?t (?:it|there)\b|"
        r"\bwould n['’ ]?t\b|\bno(?=[,.! ]*(?:that|thanks|thank|i)\b)",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        r"(.)[不没]\1|有[^，。]{0,8}没[?？]|[^。，]不[?？]|"
        "有没有|是不是|能不能|可不可以|会不会|好不好|行不行|需不需要|不客气|不用谢|不错|不过|不仅|不但|不管|不论|无论|没问题|没事|没关系|"
        "不好意思|对不起|差不多|非常|特别|别的|别人|不同|不一样|不知道|不光|无线|别墅|未来|分别|区别|不限|不妨|不介意|不在意|无所谓|不挑|不用|没什么|不必|"
        "别客气|别处|别家|别致|个别|没有?(?:其[他它]|别的|什么)?(?:问题|事|需要|要求)?了|没[?？]|不少|不止|不愧|不然|不一会|无烟|无障碍|无糖|"
        "不收|不要钱|不如|不断|不到"
    ),
}


def _negation(source: str, target: str, languages: tuple[str, str]) -> str | None:
    """Whether one side plainly denies something and the other has no sign of it at all."""
    signs = []
    for text, language in ((source, languages[0]), (target, languages[1])):
        plain = _NO_NEGATION[language].sub(" ", text)
        certain = _NEGATION[language].search(plain) is not None
        possible = certain or _NEGATION[language].search(text) is not None
        signs.append((certain, possible))
    (here, maybe_here), (there, maybe_there) = signs
    return "negation_changed" if (here and not maybe_there) or (there and not maybe_here) else None


_MARKS = re.compile("[?？]")
_ASKS = {
    "en": re.compile(
        r"\b(?:what'?s?|which|who|whose|where'?s?|when|why|how'?s?|is there|are there|can you|could you|can i|could i|may i|"
        r"would you|will you|do you|does|did|"
        r"is it|are you|shall i|should i|anything|any|please|tell me|let me know|know|wondering|whether|if)\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        "[吗呢么吧哪几谁啥]|什么|怎|多少|多久|多大|是否|有没有|是不是|能不能|要不要|可不可以|可否|能否|请|告诉|知道|如何|多长|查|给我|推荐|需要|想|帮"
    ),
}


def _question(source: str, target: str, languages: tuple[str, str]) -> str | None:
    """Whether one side asks, by its mark, and the other neither by a mark nor by a word."""
    one, other = _MARKS.search(source) is not None, _MARKS.search(target) is not None
    if one and not other and not _ASKS[languages[1]].search(target):
        return "question_lost"
    if other and not one and not _ASKS[languages[0]].search(source):
        return "question_added"
    return None
