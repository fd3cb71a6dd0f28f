"""Numbers as they are said, English and Chinese."""

from __future__ import annotations

import re

from dialmill.perturbers.core.surfaces import NUMBER_WORDS

_ONES = NUMBER_WORDS[:20]
_TENS = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_ORDINALS = {"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth"}
_HANZI = "零一二三四五六七八九"


def cardinal(number: int) -> list[str]:
    """0 to 999,999 in English words, American style (no "and"), which is how both speech engines and recognisers handle them."""
    if number < 20:
        return [_ONES[number]]
    if number < 100:
        tens, ones = divmod(number, 10)
        return [_TENS[tens], *([_ONES[ones]] if ones else [])]
    for unit, word in ((1000, "thousand"), (100, "hundred")):
        if number >= unit:
            many, rest = divmod(number, unit)
            return [*cardinal(many), word, *(cardinal(rest) if rest else [])]
    raise AssertionError


def ordinal(number: int) -> list[str]:
    """1 to 999,999 as an ordinal: 21 is "twenty first"."""
    *head, last = cardinal(number)
    if last in _ORDINALS:
        last = _ORDINALS[last]
    else:
        last = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return [*head, last]


def digits(text: str) -> list[str]:
    """Every digit of `text` by itself."""
    return [_ONES[int(char)] for char in text if char in "0123456789"]


def pairs(text: str) -> list[str]:
    """Three or four digits as times and years are said: 1145 is "eleven forty five", 1900 "nineteen hundred", 0905 "zero nine oh five"."""
    head, tail = text[:-2], text[-2:]
    spoken = digits(head) if head.startswith("0") else cardinal(int(head))
    if tail == "00":
        return [*spoken, "hundred"]
    return [*spoken, "oh", _ONES[int(tail)]] if tail[0] == "0" else [*spoken, *cardinal(int(tail))]


def hanzi(number: int) -> str:
    """0 to 999,999,999,999 in Chinese characters as they are said: 102 is 一百零二, 15 is 十五, 2500 is 两千五百, 10000 is 一万."""
    if number < 10:
        return _HANZI[number]
    for unit, name in ((100_000_000, "亿"), (10_000, "万"), (1000, "千"), (100, "百"), (10, "十")):
        if number >= unit:
            many, rest = divmod(number, unit)
            head = "" if name == "十" and many == 1 else "两" if many == 2 and unit >= 1000 else hanzi(many)
            gap = "零" if rest and rest < unit // 10 else ""
            tail = hanzi(rest) if rest else ""
            if 10 <= rest < 20 and unit > 10:
                tail = "一" + tail  # 一百一十五
            return head + name + gap + tail
    raise AssertionError


def hanzi_digits(text: str, one: str = "一") -> str:
    """Every digit by itself in Chinese, as years are said; with ``one="幺"`` as numbers of telephones, rooms and trains are."""
    return "".join(one if char == "1" else _HANZI[int(char)] for char in text if char in "0123456789")


_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000, "亿": 100_000_000}
_VALUES = {char: value for value, char in enumerate(_HANZI)} | {"两": 2, "幺": 1}
_RUN = re.compile(r"[零一二三四五六七八九两幺十百千万亿]+")
#: A decimal is told from a clock time ("四点五十分") by what follows the point: single digits, and a unit that no time has.
_POINT = re.compile(r"([零一二三四五六七八九两]?十?[零一二三四五六七八九两]?)点([零一二三四五六七八九]{1,2})(?=[元块折星米度公千万]|分[^钟]|分$|$)")


def hanzi_number(text: str) -> int | None:
    """The number that characters say, digit by digit ("幺三八") or with units ("一万二千"); None where they say none."""
    if not text or any(char not in _VALUES and char not in _UNITS for char in text):
        return None
    if not any(char in _UNITS for char in text):
        return int("".join(str(_VALUES[char]) for char in text))
    total = section = digit = 0
    for char in text:
        if char in _VALUES:
            digit = _VALUES[char]
        elif char == "亿":
            total = (total + section + digit) * _UNITS[char]
            section = digit = 0
        elif char == "万":
            total += (section + digit) * _UNITS[char]
            section = digit = 0
        else:
            section += (digit or 1) * _UNITS[char]
            digit = 0
    return total + section + digit


def write_hanzi(text: str) -> str:
    """Chinese text with its numbers in digits, as recognisers write them: 一百五十元 is 150元. A single digit stays a character ("一下")."""
    text = _POINT.sub(lambda match: f"{_written_run(match[1] or '零')}.{''.join(str(_VALUES[char]) for char in match[2])}", text)
    return _RUN.sub(lambda match: _written_run(match[0]) if len(match[0]) > 1 or match[0] == "十" else match[0], text)


def _written_run(run: str) -> str:
    if run[0] not in _VALUES and run[0] != "十":
        return run
    if any(char in _UNITS for char in run):
        number = hanzi_number(run)
        return run if number is None else str(number)
    return "".join(str(_VALUES[char]) for char in run)


_SMALL = {word: number for number, word in enumerate(_ONES)} | {"oh": 0}
_ROUND = {word: 10 * number for number, word in enumerate(_TENS) if number > 1}


def write_words(text: str, clock: bool) -> str:
    """English number words in digits, as recognisers write them: "twenty five" is 25, with `clock` "seven forty five" is 7:45; other text as it is.

    Args:
        clock: whether a time of day is expected.
    """
    parts: list[int] = []
    words = text.split()
    rest = ""
    for place, word in enumerate(words):
        if word in _ROUND:
            parts.append(_ROUND[word])
        elif word in _SMALL:
            small = _SMALL[word]
            tens = bool(parts) and words[place - 1] in _ROUND and 0 < small < 10
            if tens:
                parts[-1] += small
            elif word != "oh" and parts and words[place - 1] == "oh":
                parts[-1] = small
            else:
                parts.append(small)
        elif word == "hundred" and len(parts) == 1 and 0 < parts[0] < 10 and not clock:
            parts[0] *= 100
        else:
            rest = " ".join(words[place:])
            break
    if not parts or (rest and any(word in _SMALL or word in _ROUND for word in rest.split())):
        return text
    behind = f" {rest.replace('p m', 'pm').replace('a m', 'am')}" if rest else ""
    if clock and len(parts) == 2 and parts[0] < 24 and parts[1] < 60:
        return f"{parts[0]}:{parts[1]:02}{behind}"
    return f"{parts[0]}{behind}" if len(parts) == 1 else text
