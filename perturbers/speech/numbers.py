"""Numbers as they are said, English and Chinese."""

from __future__ import annotations

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
    """0 to 99,999,999 in Chinese characters: 102 is 一百零二, 15 is 十五."""
    if number < 10:
        return _HANZI[number]
    for unit, name in ((10_000, "万"), (1000, "千"), (100, "百"), (10, "十")):
        if number >= unit:
            many, rest = divmod(number, unit)
            head = "" if name == "十" and many == 1 else hanzi(many)
            gap = "零" if rest and rest < unit // 10 else ""
            tail = hanzi(rest) if rest else ""
            if gap == "" and 10 <= rest < 20 and unit > 10:
                tail = "一" + tail  # 一百一十五
            elif gap and 10 <= rest < 20:
                tail = "一" + tail
            return head + name + gap + tail
    raise AssertionError


def hanzi_digits(text: str) -> str:
    """Every digit by itself in Chinese: a phone number or a year."""
    return "".join(_HANZI[int(char)] for char in text if char in "0123456789")
