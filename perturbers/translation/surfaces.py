"""Where a translated value stands in a text, also in other words than the lexicon has: 星期四 as 周四, 北方 as 北部, 10.24磅 as 10.24英镑, 4 as 四.

The values of a bilingual lexicon are translated on their own, the turns around them by people, who write what one says. A check that wants the
lexicon's word to the letter refuses 30 % of the values in the official, corrected turns of DSTC9 Track 2. The spellings stand in
``lexicons/LANGUAGE/translated.tsv``; numbers, prices, times and names are found by rule.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import product

from dialmill.perturbers.core import clock
from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.surfaces import zh_number

#: Slots of yes and no -> the words that speak of them.
_FACILITIES = {
    "停车处": ("停车", "泊车", "车位"),
    "互联网": ("wifi", "wi-fi", "网", "无线"),
    "parking": ("parking", "park"),
    "internet": ("wifi", "internet", "wi fi"),
}
_YES = frozenset({"有", "是", "没有", "否", "无", "yes", "no", "不在意"})
#: What a name of a place may lose at its end.
_TAILS = re.compile(
    "(?:别墅酒店|餐厅|酒店|宾馆|旅馆|旅店|饭店|民宿|餐馆|火车站|地铁站|车站|站|机场|博物馆|酒吧|咖啡馆|旅舍|住宿加早餐旅馆|食府|剧院|公园|大街|街)$"
)
_NUMERALS = {zh_number(number): str(number) for number in range(100)} | {"两": "2"}
_MONEY = re.compile(r"(\d+(?:\.\d+)?)\s*(?:pounds?|gbp|磅|英镑|镑)(?:/人)?")
_COUNTED = re.compile(r"(?:约|大约)?(\d{1,2})(分钟|小时|天|晚|人|个人|星|星级|个|家|张)?")
_COLOURED = re.compile("^(.色)(.{2,})$")
_OR_MORE = re.compile(r"^(\d[\d,.]*)\s*(points?|yuan|hours?)?\s*(?:or\s+)?(?:above|more|higher|over)$")
_RANGE = re.compile(r"^(\d[\d,.]*)\s*(\w+)?\s*-\s*(\d[\d,.]*)\s*(\w+)?$")
_AMOUNT = re.compile(r"^(\d[\d,.]*)\s*(yuan|points?|hours?)$")
#: What a text of letters and digits leaves out.
_PUNCTUATION = re.compile(r"[^\w]|_")


def find(slot: str, value: str, text: str, language: str) -> tuple[int, int] | None:
    """Start and end of the first stretch of `text` that says the value of a slot, None where none does.

    Args:
        slot, value: as the lexicon translates them.
        language: of value and text, "en" or "zh".
    """
    folded = _fold(text, language)
    for surface in spellings(slot, value.strip(), language):
        for match in re.finditer(surface, folded.text):
            return folded.places[match.start()], folded.places[match.end() - 1] + 1
    minutes = clock.minutes_of(value) if re.fullmatch(r"\D{0,4}\d{1,2}[:：]\d{2}\D{0,2}", value.strip()) else None
    if minutes is not None:
        for time in clock.times(text, language, frozenset({minutes})):
            if (time.minutes - minutes) % (12 * 60) == 0:
                return time.start, time.end
    return None


class _Folded:
    """A text in lower case and without blanks (Chinese) or with single blanks for all that is no word (English), and where each character was."""

    __slots__ = ("places", "text")

    def __init__(self, text: str, language: str) -> None:
        kept: list[str] = []
        places: list[int] = []
        for place, char in enumerate(text):
            for one in unicodedata.normalize("NFKC", char).lower():
                if language == "zh" and one.isspace():
                    continue
                if language != "zh" and _PUNCTUATION.match(one):
                    if one == "." and kept and kept[-1].isdigit() and text[place + 1 : place + 2].isdigit():
                        pass
                    elif (one == "," and kept and kept[-1].isdigit() and text[place + 1 : place + 4].isdigit()) or (kept and kept[-1] == " "):
                        continue
                    else:
                        one = " "
                kept.append(one)
                places.append(place)
        self.text = "".join(kept)
        self.places = places


@lru_cache(maxsize=4096)
def _fold(text: str, language: str) -> _Folded:
    return _Folded(text, language)


@lru_cache(maxsize=16384)
def spellings(slot: str, value: str, language: str) -> tuple[str, ...]:
    """Patterns of the ways in which a value is written in a folded text, the likeliest first."""
    low = _fold(value, language).text.strip()
    if not low:
        return ()
    facility = _FACILITIES.get(slot.lower())
    if facility is not None and low in _YES:
        return tuple(map(re.escape, facility))
    found = _chinese(low) if language == "zh" else _english(slot, value, low)
    return tuple(dict.fromkeys(found))


@lru_cache(maxsize=4)
def _table(language: str) -> dict[str, tuple[str, ...]]:
    """A value -> its spellings, itself first."""
    return {value: (value, *alternatives(cell)) for value, cell in rows(language, "translated")}


def _chinese(low: str) -> Iterable[str]:
    yield re.escape(low)
    bare = low.removesuffix("的")
    for one in (low, bare, bare.removesuffix("地区")):
        yield from map(re.escape, _table("zh").get(one, ()))
        if len(one) >= 2:
            yield re.escape(one)
    yield from _counted(low)
    money = _MONEY.fullmatch(low)
    if money:
        yield rf"(?<![\d.]){re.escape(money[1].removesuffix('.0').removesuffix('.00'))}(?:0|00|\.0|\.00)?(?:英镑|镑|磅|gbp|pounds?)"
    coloured = _COLOURED.match(low)
    if coloured:
        for body in _table("zh").get(coloured[2], (coloured[2],)):
            yield f"{coloured[1]}的?{re.escape(body)}"
    for side in re.split("[(（]|或", low):
        if 2 <= len(side) < len(low):
            yield re.escape(side)
    shorter = _TAILS.sub("", low)
    while len(shorter) >= 2 and shorter != low:
        yield re.escape(shorter)
        low, shorter = shorter, _TAILS.sub("", shorter)


def _counted(low: str) -> Iterable[str]:
    """A number with or without what it counts, in digits and in characters."""
    match = _COUNTED.fullmatch(low)
    number = match[1] if match else _NUMERALS.get(low)
    if number is None:
        return
    unit = re.escape(match[2]) if match and match[2] else ""
    numerals = [zh_number(int(number))] + (["两", "俩"] if number == "2" else [])
    yield rf"(?<![\d:.]){number}(?![\d:.]){unit}"
    for numeral in numerals:
        yield rf"(?<![零一二三四五六七八九十百第期周]){numeral}(?![二三四五六七八九十百]){unit or '(?![些起下点定直般切样共])'}"


def _english(slot: str, value: str, low: str) -> Iterable[str]:
    yield rf"\b{re.escape(low)}\b"
    for one in _table("en").get(low, ()):
        yield rf"\b{re.escape(one)}"
    if low == "yes" and " - " in slot:
        # A facility: all telling words of its name.
        words = [word for word in _fold(slot.partition(" - ")[2], "en").text.split() if word not in ("in", "and", "service", "the")]
        yield ".*?".join(rf"\b{re.escape(word[:-1] if word.endswith('s') else word)}\w*" for word in words[:3])
        yield from (rf"\b{re.escape(words[-1])}",) if len(words) > 1 and words[-1] not in ("room", "call", "station") else ()
    plain = " ".join(value.replace("\xa0", " ").split())
    more, between, amount = _OR_MORE.match(plain.lower()), _RANGE.match(plain.lower()), _AMOUNT.match(plain.lower())
    if more or amount:
        number = (more or amount)[1].replace(",", "")  # type: ignore[index]
        yield rf"(?<![\d.]){re.escape(number)}(?![\d.])"
    if between:
        yield rf"\b{re.escape(between[1])}\b\D{{0,12}}\b{re.escape(between[3])}\b"
    head = _fold(re.split(r"[(（]", value)[0], "en").text.strip()
    if len(head) >= 4 and head != low:
        yield rf"\b{re.escape(head)}\b"
    words = low.split()
    if any(char.isdigit() for char in low) and len(words) > 3:
        # Opening hours and several numbers: the same figures in their order.
        yield r"\b.*?\b".join(re.escape(word) for word in words if word[0].isdigit())
    elif len(words) >= 3:
        yield r"\b(?:\s\w+){0,2}?\s".join(re.escape(word) for word in words if word not in _EMPTY) or rf"\b{re.escape(low)}\b"
        for first, last in product((0, 1), (len(words), len(words) - 1)):
            if last - first >= 2 and (first, last) != (0, len(words)):
                yield rf"\b{re.escape(' '.join(words[first:last]))}\b"


_EMPTY = frozenset({"the", "a", "an", "of", "and"})
