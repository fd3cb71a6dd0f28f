"""How a slot value may be written in a text: canonical surface forms, as keys of `matcher`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, NamedTuple

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.matcher import Cut, Index, key_of, parts_of, prefixes_of

How = Literal["span", "verbatim", "number", "time", "boolean", "dontcare", "lexicon", "form", "fuzzy"]


class Form(NamedTuple):
    """One surface form. `lead` and `tail` units at its ends are context that must be there and is no part of the value ("at 7")."""

    how: How
    lead: int = 0
    tail: int = 0


_TIME_SLOTS = re.compile(r"time|leave|arrive|时间|时段")
_NAME_SLOTS = re.compile(r"name|dest|depart|from|to$|title|名|地$|教师|导演|主演|系列|校区")
_BOOLEAN_SLOTS = {"parking": "parking", "internet": "internet", "是否地铁直达": "地铁", "地铁可达": "地铁", "停车场": "停车"}
_HOURS = r"(?:h|hrs?|hours?)"
_CLOCK = re.compile(rf"(\d{{1,2}})[:.](\d{{2}})(am|pm|{_HOURS})?$|(\d{{1,2}})(am|pm)$|(\d{{3,4}})(am|pm|{_HOURS})?$")
DONTCARE = frozenset({"dontcare", "dont care", "don't care", "do n't care", "do not care", "doesn't care", "any", "不限", "随便"})
#: Labels that no words of a text stand for.
_NO_SURFACE = frozenset({"", "?", "none", "not mentioned", "yes", "no", "true", "false", "是", "否"})
_YES_NO = frozenset({"yes", "no", "free", "true", "false", "是", "否", "有", "无", "免费", "收费"})


#: Values whose surface forms a process remembers: 8 kB each for a name, 64 kB for a time, of which there are 1,440. Corpora of other names in every
#: dialogue would fill any larger cache.
BLOCKS = 8192


@lru_cache(maxsize=4096)
def slot_name(slot: str) -> str:
    """A slot's plain name: "hotel-book stay", "book_stay" and "Stay" are "stay"."""
    return re.sub(r"^.*?-", "", slot.lower()).replace("book ", "").replace("book_", "").replace("book", "").strip(" _") or slot.lower()


@lru_cache(maxsize=65536)
def kind_of(slot: str, value: str) -> str:
    """What kind of value this is; the kind decides the surface forms and whether a fuzzy match is thinkable."""
    name = slot_name(slot)
    low = value.strip().lower()
    if low in DONTCARE:
        return "dontcare"
    if name in _BOOLEAN_SLOTS and low in _YES_NO:
        return "boolean:" + _BOOLEAN_SLOTS[name]
    if low in _NO_SURFACE:
        return "none"
    if parse_time(low) and (":" in low or low.endswith("m") or _TIME_SLOTS.search(name)):
        return "time"
    if low in _number_values() or (low.isdigit() and len(low) <= 3):
        return "number"
    if any(char.isdigit() for char in low) and not any(char.isalpha() for char in low):
        return "plain"
    return "name" if _NAME_SLOTS.search(name) else "plain"


def parse_time(value: str) -> tuple[int, int] | None:
    """(hour, minute) of a value such as "19:00", "7 pm", "1715", "0930 am", "1215hrs", "after 13:45"; None if it is no time."""
    match = _CLOCK.search(value.lower().replace(".", ":").replace(" ", ""))
    if not match:
        return None
    hour, minute, half, bare, bare_half, run, run_half = match.groups()
    if run:
        hour, minute = run[:-2], run[-2:]
    h, m = int(hour or bare), int(minute or 0)
    half = half or bare_half or run_half
    if half == "pm" and h < 12:
        h += 12
    elif half == "am" and h == 12:
        h = 0
    return (h, m) if h <= 24 and m < 60 else None


@lru_cache(maxsize=1)
def _number_values() -> dict[str, str]:
    """Every surface of a number word -> the number in digits, English."""
    table = {}
    for kind, value, *rest in rows("en", "closed"):
        if kind == "number":
            for surface in (value, *alternatives(rest[0] if rest else "")):
                table[surface] = value
    return table


#: English number words from 0 to 20, by value.
NUMBER_WORDS = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
)
_TENS = {2: "twenty", 3: "thirty", 4: "forty", 5: "fifty"}
_ZH_DIGITS = "零一二三四五六七八九十"
#: What stands before an hour without minutes or half of day ("at 7"); such a number alone is no time.
_BEFORE_HOUR = ("at", "by", "after", "before", "around", "about", "until", "till")
#: What counts: a Chinese numeral is a value only before such a word, and "三" of 星期三 or 三十 is not.
_MEASURES = "个人位天晚间张号点月星家份辆名本部集级年次"


def number_word(n: int) -> str:
    """0..59 in English words."""
    if n <= 20:
        return NUMBER_WORDS[n]
    return _TENS[n // 10] + (NUMBER_WORDS[n % 10] if n % 10 else "")


def zh_number(n: int) -> str:
    """0..99 in Chinese numerals."""
    if n <= 10:
        return _ZH_DIGITS[n]
    tens, ones = divmod(n, 10)
    return ("" if tens == 1 else _ZH_DIGITS[tens]) + "十" + (_ZH_DIGITS[ones] if ones else "")


class _Surface(NamedTuple):
    """A surface as it is written; `lead` and `tail` as in `Form`."""

    text: str
    how: How
    lead: int = 0
    tail: int = 0


#: A value without its slot: its kind and how the label writes it.
Group = tuple[str, str]


class Block(NamedTuple):
    """The surface forms of one value, ready for an `Index`, with the `prefixes_of` and `parts_of` them all."""

    forms: dict[str, tuple[tuple[Form, Group], ...]]
    prefixes: frozenset[str]
    parts: frozenset[str]


@lru_cache(maxsize=BLOCKS)
def block(kind: str, value: str, language: str) -> Block:
    """The surface forms of a value of the given kind (`kind_of`), the verbatim one first."""
    if kind in ("dontcare", "none"):
        # The words for "no preference" are the same for all slots: `values` finds them by the closed lexicon.
        return Block({}, frozenset(), frozenset())
    if kind.startswith("boolean:"):
        surfaces = [_Surface(text, "boolean") for text in _closed_surfaces(language).get(("boolean", kind[8:]), ())]
    else:
        surfaces = [_Surface(value, "verbatim")]
        if kind == "time":
            surfaces += _time_zh(value) if language == "zh" else _time_en(value)
        elif kind == "number":
            surfaces += _number(value, language)
        else:
            surfaces += _words_zh(value) if language == "zh" else _words_en(value)
    found: dict[str, tuple[tuple[Form, Group], ...]] = {}
    prefixes: set[str] = set()
    parts: set[str] = set()
    for text, how, lead, tail in surfaces:
        key = key_of(text, language)
        if key:
            found.setdefault(key, ((Form(how, lead, tail), (kind, value)),))
            prefixes |= prefixes_of(text, language)
            parts |= parts_of(text, language)
    return Block(found, frozenset(prefixes), frozenset(parts))


@lru_cache(maxsize=BLOCKS)
def block_of(slot: str, value: str, language: str) -> tuple[Group, Block]:
    """A value of a slot as a group, and the block of its surface forms."""
    kind = kind_of(slot, value)
    return (kind, value), block(kind, value, language)


def _digital(hour: int, minute: int, h12: int) -> list[str]:
    """Times in digits alone, as both languages write them."""
    found = []
    for h in dict.fromkeys((f"{hour:02d}", str(hour), str(h12))):
        found += [f"{h}:{minute:02d}", f"{h}.{minute:02d}"]
    return [*found, f"{hour:02d}{minute:02d}"]


def _time_en(value: str) -> list[_Surface]:
    parsed = parse_time(value)
    if parsed is None:
        return []
    hour, minute = parsed
    h12 = (hour - 1) % 12 + 1
    half = "am" if hour % 24 < 12 else "pm"
    word, next_word = number_word(h12), number_word(h12 % 12 + 1)
    digital = _digital(hour, minute, h12)
    found = digital + [f"{time} {half}" for time in digital] + [f"{time} {hours}" for time in digital for hours in ("hrs", "hours")]
    found += [f"{h12}{minute:02d} {half}", f"{h12} {minute:02d}", f"{h12} {minute:02d} {half}", f"{hour}h{minute:02d}"]
    if minute == 0:
        found += [f"{h12} {half}", f"{word} {half}", f"{h12} oclock", f"{word} oclock", f"{hour:02d} {half}", f"{hour} {half}", f"{hour} oclock"]
        found += {12: ["noon", "midday"], 0: ["midnight"], 24: ["midnight"]}.get(hour, [])
    else:
        spoken = number_word(minute)
        found += [f"{word} {spoken}", f"{word} {spoken} {half}"]
        found += {
            15: [f"quarter past {h12}", f"quarter past {word}", f"quarter after {word}", f"quarter after {h12}"],
            30: [f"half past {h12}", f"half past {word}"],
            45: [f"quarter to {h12 % 12 + 1}", f"quarter to {next_word}", f"quarter of {next_word}"],
        }.get(minute, [])
        if minute < 30:
            found += [f"{spoken} past {word}", f"{minute} past {h12}"]
        elif minute > 30:
            found += [f"{number_word(60 - minute)} to {next_word}", f"{60 - minute} to {h12 % 12 + 1}"]
    surfaces = [_Surface(text, "time") for text in found]
    # "7 p.m." is four units: the letters of a half of day may stand apart, and be stuck to the number ("7pm" is one unit).
    surfaces += [_Surface(text[:-3] + text[-2:], "time") for text in found if text.endswith(half)]
    if minute == 0:
        hours = dict.fromkeys((str(h12), word, str(hour)))
        surfaces += [_Surface(f"{before} {h}", "time", lead=1) for before in _BEFORE_HOUR for h in hours]
    elif h12 < 10:
        surfaces += [_Surface(f"{before} {h12}{minute:02d}", "time", lead=1) for before in _BEFORE_HOUR]  # "at 930"
    return surfaces


def _time_zh(value: str) -> list[_Surface]:
    parsed = parse_time(value)
    if parsed is None:
        return []
    hour, minute = parsed
    h12 = (hour - 1) % 12 + 1
    found = _digital(hour, minute, h12)
    hours = {str(h): None for h in (hour, h12)} | {zh_number(h): None for h in (hour, h12)} | ({"两": None} if h12 == 2 else {})
    for h in hours:
        if minute == 0:
            found += [f"{h}点", f"{h}点整", f"{h}点钟", f"{h}时"]
        else:
            spoken = ("零" if minute < 10 else "") + zh_number(minute)
            found += [f"{h}点{minute:02d}", f"{h}点{minute:02d}分", f"{h}点{spoken}", f"{h}点{spoken}分", f"{h}时{minute:02d}分"]
            found += {15: [f"{h}点一刻"], 30: [f"{h}点半"], 45: [f"{h}点三刻"]}.get(minute, [])
    return [_Surface(text, "time") for text in found]


def _number(value: str, language: str) -> list[_Surface]:
    digits = _number_values().get(value.strip().lower(), value.strip())
    if not (digits.isascii() and digits.isdigit()):
        return []
    number = int(digits)
    found = [_Surface(str(number), "number")]
    if language != "zh":
        return found + [_Surface(text, "number") for text in _closed_surfaces("en").get(("number", str(number)), ())]
    if number < 100:
        numerals = [zh_number(number)] + (["两"] if number == 2 else [])
        found += [_Surface(numeral + measure, "number", tail=1) for numeral in numerals for measure in _MEASURES]
    return found + [_Surface(text, "number") for text in {2: ["俩"], 3: ["仨"]}.get(number, [])]


def _words_zh(value: str) -> list[_Surface]:
    verbatim = key_of(value, "zh")
    found = _equivalents(verbatim, "zh")
    if len(verbatim) >= 3 and verbatim[-1] in _ZH_SUFFIXES:
        found.append(_Surface(verbatim[:-1], "form"))
    return found


def _words_en(value: str) -> list[_Surface]:
    found = _equivalents(key_of(value, "en"), "en")
    names = Cut(value, "en").names
    if len(names) > 1 and names[0] == "the":
        found.append(_Surface(" ".join(names[1:]), "form"))
    if "s" in names[1:]:
        # "rosa 's" is also written "rosas" (the same key) and "rosa".
        found.append(_Surface(" ".join(name for place, name in enumerate(names) if name != "s" or place == 0), "form"))
    if len(names) == 1 and len(value) >= 4 and names[0].isalpha():
        plural = names[0][:-1] + "ies" if names[0][-1] == "y" else names[0] + "s"
        found += [_Surface(plural, "form")] + ([_Surface(names[0][:-1], "form")] if names[0][-1] == "s" else [])
    text = f" {' '.join(names)} "
    for same in _SAME_WORDS:
        for one in same:
            if f" {one} " in text:
                found += [_Surface(text.replace(f" {one} ", f" {other} "), "form") for other in same if other != one]
    for ending in _NAME_ENDINGS:
        shorter = text.removesuffix(f" {ending} ").strip()
        if shorter != text.strip() and len(shorter) >= 5:
            found.append(_Surface(shorter, "form"))
    return found


def _equivalents(key: str, language: str) -> list[_Surface]:
    """The other surfaces of the values of the closed lexicon that are written `key`."""
    return [_Surface(text, "lexicon") for same in _classes(language).get(key, ()) for text in _closed_surfaces(language)[same]]


#: Words that stand for each other inside a name.
_SAME_WORDS = (
    ("centre", "center"),
    ("theatre", "theater"),
    ("saint", "st"),
    ("guesthouse", "guest house", "bed and breakfast", "b and b"),
    ("museum of archaeology", "museum of archaelogy"),
    ("and", "n"),
)
#: What a name may lose at its end.
_NAME_ENDINGS = ("restaurant", "hotel", "guesthouse", "guest house", "bed and breakfast", "b and b", "museum", "train station", "cambridge")
_ZH_SUFFIXES = frozenset("片菜区系本型级市省剧元分座舱")


@lru_cache(maxsize=8)
def _closed_surfaces(language: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """(class, value) -> its surfaces, the value itself first."""
    return {(kind, value): (value, *alternatives(rest[0] if rest else "")) for kind, value, *rest in rows(language, "closed")}


@lru_cache(maxsize=8)
def _classes(language: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Key of a surface -> the values (class, value) of a content class that are written so."""
    table: dict[str, tuple[tuple[str, str], ...]] = {}
    for (kind, value), surfaces in _closed_surfaces(language).items():
        if kind not in ("negation", "dontcare", "number", "time", "plain", "boolean"):
            for surface in surfaces:
                key = key_of(surface, language)
                table[key] = (*table.get(key, ()), (kind, value))
    return table


@lru_cache(maxsize=8)
def closed_index(language: str) -> Index[tuple[str, str]]:
    """The closed lexicon for the matcher; the entries are (class, value)."""
    index: Index[tuple[str, str]] = Index()
    for pair, surfaces in _closed_surfaces(language).items():
        for surface in surfaces:
            key = key_of(surface, language)
            if pair not in index.entries.get(key, ()):
                index.add({key: (pair,)}, prefixes_of(surface, language))
    return index


@lru_cache(maxsize=8)
def closed_parts(language: str) -> frozenset[str]:
    """What a unit can be that stands in a surface of the closed lexicon."""
    return frozenset().union(*[parts_of(surface, language) for surfaces in _closed_surfaces(language).values() for surface in surfaces])
