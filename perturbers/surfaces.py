"""How a slot value may be written in a text: canonical surface forms, as keys of the matcher in `values`.

A text is cut into units: lower-cased runs of letters and digits in English, single characters and Latin or digit runs in Chinese. A key is the
concatenation of the units of a surface, so that blanks, hyphens and apostrophes don't count: "guest house" is "guesthouse", "christ 's" is
"christs", "2010 年代" is "2010年代". Two digits never run together: a blank stays between them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from .lexicon import alternatives, rows

#: Units of an English text: placeholders, numbers with their separators and unit letters (17:30, 10.50, 7pm), other runs.
_EN_UNIT = re.compile(r"\[\w[\w.-]*\]|<\w[\w.-]*>|\d+(?:[:.,]\d+)*[^\W\d_]*|[^\W_]+|&")
_ZH_UNIT = re.compile(r"[\[<][a-z]\w*[\]>]|\d+(?:[:.]\d+)*[a-z]*|[a-z][a-z0-9]*|[^\W_]")
#: Full-width forms to half-width ones, one code point each, so that offsets hold.
_HALF = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20, ord("’"): ord("'")}

Units = tuple[list[str], list[int], list[int]]


class Form(NamedTuple):
    """One surface form. `lead` and `tail` units at its ends are context that must be there and is no part of the value ("at 7")."""

    key: str
    how: str
    lead: int = 0
    tail: int = 0


def units(text: str, language: str) -> Units:
    """The units of `text`, and their starts and ends."""
    folded = text.lower()
    if len(folded) != len(text):
        folded = "".join(low if len(low := char.lower()) == 1 else char for char in text)
    if not folded.isascii():
        folded = folded.translate(_HALF)
    names: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in (_ZH_UNIT if language == "zh" else _EN_UNIT).finditer(folded):
        names.append(match.group())
        start, end = match.span()
        starts.append(start)
        ends.append(end)
    if "&" in names:
        names = ["and" if name == "&" else name for name in names]
    return names, starts, ends


def join(names: list[str]) -> str:
    """The key of a run of units."""
    key = ""
    for name in names:
        key += " " + name if key and key[-1].isdigit() and name[0].isdigit() else name
    return key


@lru_cache(maxsize=65536)
def key_of(text: str, language: str) -> str:
    """The key of a surface."""
    return join(units(text, language)[0])


KINDS = ("time", "number", "boolean", "dontcare", "name", "plain")
_TIME_SLOTS = re.compile(r"time|leave|arrive|时间|时段")
_NAME_SLOTS = re.compile(r"name|dest|depart|from|to$|title|名|地$|教师|导演|主演|系列|校区")
_BOOLEAN_SLOTS = {"parking": "parking", "internet": "internet", "是否地铁直达": "地铁", "地铁可达": "地铁", "停车场": "停车"}
_CLOCK = re.compile(r"(\d{1,2})[:.](\d{2})\s*(am|pm)?$|(\d{1,2})\s*(am|pm)$|(\d{3,4})$")
DONTCARE = frozenset({"dontcare", "dont care", "don't care", "do n't care", "do not care", "doesn't care", "any", "不限", "随便"})
_YES_NO = frozenset({"yes", "no", "free", "true", "false", "是", "否", "有", "无", "免费", "收费"})


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
    if parse_time(low) and (":" in low or low.endswith("m") or _TIME_SLOTS.search(name)):
        return "time"
    if low in _number_values() or (low.isdigit() and len(low) <= 3):
        return "number"
    if any(char.isdigit() for char in low) and not any(char.isalpha() for char in low):
        return "plain"
    return "name" if _NAME_SLOTS.search(name) else "plain"


def parse_time(value: str) -> tuple[int, int] | None:
    """(hour, minute) of a value such as "19:00", "7 pm", "1715", "after 13:45"; None if it is no time."""
    match = _CLOCK.search(value.replace(".", ":").replace(" ", ""))
    if not match:
        return None
    hour, minute, half, bare, bare_half, run = match.groups()
    if run:
        hour, minute = run[:-2], run[-2:]
    h, m = int(hour or bare), int(minute or 0)
    half = half or bare_half
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


_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
).split()
_TENS = {2: "twenty", 3: "thirty", 4: "forty", 5: "fifty"}
_ZH_DIGITS = "零一二三四五六七八九十"
#: What stands before an hour without minutes or half of day ("at 7"); such a number alone is no time.
_BEFORE_HOUR = ("at", "by", "after", "before", "around", "about", "until", "till")
#: What counts: a Chinese numeral is a value only before such a word, and "三" of 星期三 or 三十 is not.
_MEASURES = "个人位天晚间张号点月星家份辆名本部集级年次"


def number_word(n: int) -> str:
    """0..59 in English words."""
    if n <= 20:
        return _WORDS[n]
    return _TENS[n // 10] + (_WORDS[n % 10] if n % 10 else "")


def zh_number(n: int) -> str:
    """0..99 in Chinese numerals."""
    if n <= 10:
        return _ZH_DIGITS[n]
    tens, ones = divmod(n, 10)
    return ("" if tens == 1 else _ZH_DIGITS[tens]) + "十" + (_ZH_DIGITS[ones] if ones else "")


@lru_cache(maxsize=65536)
def forms(kind: str, value: str, language: str) -> tuple[Form, ...]:
    """The surface forms of a value, the verbatim one first; keys are distinct."""
    if kind == "dontcare":
        found: list[Form] = []  # The triggers are the same for all slots: `values` finds them by the closed lexicon.
    elif kind.startswith("boolean:"):
        found = [Form(key, "boolean") for key in _closed_surfaces(language).get(("boolean", kind[8:]), ())]
    else:
        verbatim = key_of(value, language)
        found = [Form(verbatim, "verbatim")] if verbatim else []
        if kind == "time":
            found += _time_forms(value, language)
        elif kind == "number":
            found += _number_forms(value, language)
        else:
            found += _word_forms(value, kind, language)
    seen: dict[str, Form] = {}
    for form in found:
        seen.setdefault(form.key, form)
    return tuple(seen.values())


def _time_forms(value: str, language: str) -> list[Form]:
    parsed = parse_time(value.lower())
    if parsed is None:
        return []
    hour, minute = parsed
    h12 = (hour - 1) % 12 + 1
    mm = f"{minute:02d}"
    keys: list[str] = [f"{hour:02d}:{mm}", f"{hour}:{mm}", f"{hour:02d}.{mm}", f"{hour}.{mm}", f"{hour:02d}{mm}", f"{h12}:{mm}", f"{h12}.{mm}"]
    if language == "zh":
        for h, half in ((hour, ""), (h12, "")):
            for numeral in (str(h), zh_number(h), *(["两"] if h == 2 else [])):
                keys.append(f"{numeral}点{'' if minute == 0 else mm + '分'}")
                if minute == 0:
                    keys.append(f"{numeral}点整")
                elif minute == 30:
                    keys.append(f"{numeral}点半")
                elif minute in (15, 45):
                    keys.append(f"{numeral}点{'一' if minute == 15 else '三'}刻")
                if minute:
                    keys += [f"{numeral}点{mm}", f"{numeral}点{zh_number(minute)}", f"{numeral}点{zh_number(minute)}分", f"{numeral}时{mm}分"]
                else:
                    keys.append(f"{numeral}时")
        return [Form(key, "time") for key in keys]
    half = "am" if hour % 24 < 12 else "pm"
    word, next_word = number_word(h12), number_word(h12 % 12 + 1)
    found = [f"{h12}:{mm}{half}", f"{h12}.{mm}{half}", f"{h12}{mm}{half}", f"{hour:02d}:{mm}{half}", f"{hour}:{mm}{half}", f"{hour}h{mm}", f"{hour:02d}{mm}h"]
    found += [f"{hour:02d}:{mm}hrs", f"{hour:02d}{mm}hrs", f"{h12} {mm}", f"{h12} {mm}{half}"]
    if minute == 0:
        found += [f"{h12}{half}", f"{word}{half}", f"{h12}oclock", f"{word}oclock", f"{hour:02d}{half}", f"{hour}{half}", f"{hour}oclock"]
        found += {12: ["noon", "midday"], 0: ["midnight"], 24: ["midnight"]}.get(hour, [])
    else:
        spoken = number_word(minute)
        found += [f"{word}{spoken}", f"{word}{spoken}{half}"]
        if minute == 15:
            found += [f"quarterpast{h12}", f"quarterpast{word}", f"quarterafter{word}", f"quarterafter{h12}"]
        elif minute == 30:
            found += [f"halfpast{h12}", f"halfpast{word}"]
        elif minute == 45:
            found += [f"quarterto{h12 % 12 + 1}", f"quarterto{next_word}"]
        if minute < 30:
            found += [f"{spoken}past{word}", f"{minute}past{h12}"]
        elif minute > 30:
            found += [f"{number_word(60 - minute)}to{next_word}", f"{60 - minute}to{h12 % 12 + 1}"]
    result = [Form(key, "time") for key in keys + found]
    if minute == 0:
        for before in _BEFORE_HOUR:
            result += [Form(f"{before}{h12}", "time", lead=1), Form(f"{before}{word}", "time", lead=1)]
            if hour != h12:
                result.append(Form(f"{before}{hour}", "time", lead=1))
    return result


def _number_forms(value: str, language: str) -> list[Form]:
    digits = _number_values().get(value.strip().lower(), value.strip())
    if not digits.isdigit():
        return []
    number = int(digits)
    found = [Form(str(number), "number")]
    if language == "zh":
        if number < 100:
            numerals = [zh_number(number)] + (["两"] if number == 2 else [])
            found += [Form(numeral + measure, "number", tail=1) for numeral in numerals for measure in _MEASURES]
            found += [Form({2: "俩", 3: "仨"}[number], "number")] if number in (2, 3) else []
        return found
    return found + [Form(key, "number") for key in _closed_surfaces("en").get(("number", str(number)), ())]


def _word_forms(value: str, kind: str, language: str) -> list[Form]:
    found: list[Form] = []
    verbatim = key_of(value, language)
    for same in _classes(language).get(verbatim, ()):
        found += [Form(key, "lexicon") for key in _closed_surfaces(language)[same]]
    if language == "zh":
        if len(verbatim) >= 3 and verbatim[-1] in "片菜区系本型级市省剧元分":
            found.append(Form(verbatim[:-1], "form"))
        return found
    names = units(value, language)[0]
    if names and names[0] == "the" and len(names) > 1:
        found.append(Form(join(names[1:]), "form"))
    if "s" in names[1:]:
        found.append(Form(join([name for i, name in enumerate(names) if name != "s" or i == 0]), "form"))
    if verbatim.isalpha() and len(verbatim) >= 4:
        if verbatim.endswith("y"):
            found.append(Form(verbatim[:-1] + "ies", "form"))
        found.append(Form(verbatim + "s", "form"))
        if verbatim.endswith("s"):
            found.append(Form(verbatim[:-1], "form"))
    for one, other in (("centre", "center"), ("theatre", "theater"), ("and", "n"), ("saint", "st")):
        for a, b in ((one, other), (other, one)):
            if a in names:
                found.append(Form(join([b if name == a else name for name in names]), "form"))
    return found


@lru_cache(maxsize=8)
def _closed_surfaces(language: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """(class, value) -> the keys of its surfaces."""
    table = {}
    for kind, value, *rest in rows(language, "closed"):
        surfaces = [value, *alternatives(rest[0] if rest else "")]
        table[kind, value] = tuple(dict.fromkeys(key_of(surface, language) for surface in surfaces))
    return table


@lru_cache(maxsize=8)
def _classes(language: str) -> dict[str, tuple[tuple[str, str], ...]]:
    """Key of a surface -> the values (class, value) of a content class that are written so."""
    table: dict[str, tuple[tuple[str, str], ...]] = {}
    for (kind, value), keys in _closed_surfaces(language).items():
        if kind not in ("negation", "dontcare", "number", "time", "plain", "boolean"):
            for key in keys:
                table[key] = (*table.get(key, ()), (kind, value))
    return table


@lru_cache(maxsize=8)
def closed_index(language: str) -> tuple[dict[str, int], dict[str, tuple[tuple[str, str], ...]]]:
    """The closed lexicon for the matcher: (heads, key -> its (class, value) pairs)."""
    index: dict[str, tuple[tuple[str, str], ...]] = {}
    for pair, keys in _closed_surfaces(language).items():
        for key in keys:
            index[key] = (*index.get(key, ()), pair)
    heads: dict[str, int] = {}
    for key in index:
        heads[key[:2]] = max(heads.get(key[:2], 0), len(key))
    return heads, index
