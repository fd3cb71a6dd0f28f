"""Times of day in a text, and the same times some minutes later, written the way they were written.

"19:00", "9.50", "17h05", "1215hrs", "0930 am", "7 pm", "7:15pm", "seven o'clock", "half past six", "twenty past six", "seven thirty pm", "7-ish",
"noon"; 三点, 15点30分, 十点半. Durations ("51 minutes", 6小时36分), prices and
dates are no times. Whether "5:15" means the afternoon is told by the labels of the dialogue.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

from dialmill.perturbers.core.protected import ranges, touches
from dialmill.perturbers.core.surfaces import number_word, parse_time, zh_number

DAY, NOON = 24 * 60, 12 * 60
_HOURS = {number_word(hour): hour for hour in range(1, 13)}
_ZH_NUMBERS = {zh_number(number): number for number in range(60)} | {"两": 2, "零": 0} | {f"零{zh_number(n)}": n for n in range(1, 10)}
_WORD = "|".join(sorted(_HOURS, key=len, reverse=True))
_HALF = r"[ap]\.?\s?m\b\.?"
#: Minutes in words: behind an hour ("seven thirty"), and before one ("twenty past six").
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_UNITS = {number_word(number): number for number in range(1, 20)}
_MINUTES = (
    {name: number for name, number in _UNITS.items() if number >= 10}
    | _TENS
    | {f"{ten}{gap}{one}": tens + number for ten, tens in _TENS.items() for one, number in _UNITS.items() if number < 10 for gap in " -"}
    | {f"{zero} {one}": number for zero in ("oh", "o") for one, number in _UNITS.items() if number < 10}
)
_SPOKEN = "|".join(map(re.escape, sorted(_MINUTES, key=len, reverse=True)))
_ASIDE = {"five": 5, "ten": 10, "twenty": 20, "twenty five": 25, "twenty-five": 25}
_EN = re.compile(
    rf"""(?<![\w.,£$/-])(?P<h>\d{{1,2}})(?P<sep>\s?:\s?|[.;/ ]|h)(?P<m>[0-5]\d)(?![\d%]|[.:]\d)(?P<gap>\s*)(?P<half>{_HALF})?
    | (?<![\w.,:£$€/-])(?P<run>(?:[01]?\d|2[0-4])[0-5]\d)(?P<rgap>\s?)(?P<rhalf>{_HALF}|h(?:(?:ou)?rs?)?\b)?(?![\w%]|[.:,/-]\d)
    | (?<![\w.:£$-])(?P<h2>\d{{1,2}}|\b(?:{_WORD}))(?P<gap2>\s*)(?P<half2>{_HALF}|o\s?['’]?\s?clock\b)
    | \b(?:an?\s)?(?P<part>half|quarter)\s(?P<way>past|to|after|before|till)\s(?P<h3>\d{{1,2}}|{_WORD})\b(?![:.]\d)(?P<half3>\s?{_HALF})?
    | \b(?P<aside>twenty[ -]five|twenty|ten|five|25|20|10|5)\s(?:minutes?\s)?(?P<way2>past|to|after|before)\s(?P<h5>\d{{1,2}}|{_WORD})\b(?![:.]\d)
      (?P<half5>\s?{_HALF})?
    | \b(?P<h6>{_WORD})[ -](?P<m6>{_SPOKEN})\b(?P<half6>\s?{_HALF})?
    | (?<![\w.:£$-])(?P<h7>\d{{1,2}}|\b(?:{_WORD}))\s?-?ish\b
    | \b(?:at|by|after|before|around|about|until|till)\s(?P<h4>\d{{1,2}}|{_WORD})\b
      (?![:.,;/]\d|\s\d\d\b|\s?[ap]\.?\s?m\b|\s?o\s?['’]?\s?clock|\s(?!and\b|or\b|please\b|on\b|for\b|to\b|from\b)\w)
    | \b(?:12\s|twelve\s)?(?P<word>noon|midday|midnight)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_ZH_NUM = "[零一二两三四五六七八九十]{1,3}"
_ZH = re.compile(
    rf"""(?<![\d.:：])(?P<h>\d{{1,2}})(?P<sep>\s?[:：]\s?)(?P<m>[0-5]\d)(?![\d.])
    | (?<![\d.零一二两三四五六七八九十几])(?P<h2>\d{{1,2}}|{_ZH_NUM})(?P<dot>点|时(?=\d|{_ZH_NUM}分))
      (?:(?P<part>半|一刻|三刻|整|钟)|(?P<m2>[0-5]?\d|{_ZH_NUM})(?P<fen>分?)(?![\d\w]*[名个位]))?""",
    re.VERBOSE,
)
_DIGIT = re.compile(r"\d")
_CUES = (
    "clock",
    "noon",
    "midday",
    "midnight",
    "half ",
    "quarter ",
    "at ",
    "by ",
    "after ",
    "before ",
    "around ",
    "about ",
    "til",
    "pm",
    "am",
    ".m",
    "past ",
    " to ",
    "ish",
    " oh ",
    " o ",
    " thirty",
    " fifteen",
    " forty",
    " twenty",
    "-thirty",
)
_MONEY = re.compile(r"\s*(?:pounds?|gbp|euros?|dollars?|%|miles?|km)\b", re.IGNORECASE)


class Time(NamedTuple):
    """A time of day in a text: its place, its minutes from midnight as they are meant, and how it is written.

    `form` is "digits", "hour" (an hour with am, pm or o'clock), "bare" (an hour alone), "words", "dot" (Chinese 点) or "dot words".
    """

    start: int
    end: int
    minutes: int
    form: str
    width: int = 0  # digits of the hour, 2 where it is padded
    separator: str = ":"
    half: str = ""  # what stands behind it: " pm"
    twelve: bool = False  # whether the hour is one of twelve


@lru_cache(maxsize=65536)
def minutes_of(value: str) -> int | None:
    """Minutes from midnight of a label ("19:00", "7 pm", "1715", "当天 10:00"); None if it is no time."""
    match = re.search(r"(\d{1,2})\s?[:：]\s?(\d{2})\s?(?:hrs?|hours?)?$", value)
    parsed = parse_time(value.lower()) if match is None else (int(match[1]), int(match[2]))
    if parsed is None or parsed[0] > 24 or parsed[1] > 59:
        return None
    return parsed[0] * 60 + parsed[1]


def times(text: str, language: str, labelled: Collection[int], forced: Iterable[tuple[int, int]] = ()) -> list[Time]:
    """The times in a text, in order.

    Args:
        text: an utterance or a label.
        language: of the text.
        labelled: the minutes of all times that the dialogue's labels have; they decide what "at 7" and "9.50" are, and which half of the day
            "5:15" is in.
        forced: ranges that are known to hold a time (spans), in which "1715" and "seven" are one.
    """
    if language == "zh":
        found = _zh(text, labelled)
    else:
        # Most texts have no time; a look for what every time has is ten times as fast as the whole pattern.
        low = text.lower()
        found = _en(text, labelled) if _DIGIT.search(text) or any(cue in low for cue in _CUES) else []
    if found:
        # The hours of a time stamp, an address or an identifier are for programs.
        kept = ranges(text)
        found = [one for one in found if not touches(kept, one.start, one.end)] if kept else found
    for start, end in forced:
        if not any(one.start < end and start < one.end for one in found):
            time = _bare(text, start, end, labelled)
            if time is not None:
                found.append(time)
    found.sort()
    return found


def _meant(hour: int, minute: int, labelled: Collection[int]) -> tuple[int, bool]:
    """Minutes that an hour without half of day means, and whether it counts to twelve."""
    plain = hour * 60 + minute
    if plain not in labelled and hour <= 12:
        later = (hour % 12 + 12) * 60 + minute
        if later in labelled:
            return later, True
        if hour == 12 and minute in labelled:
            return minute, True
    return plain, False


def _half(hour: int, minute: int, half: str) -> int:
    return (hour % 12 + (12 if half.strip().lower().startswith("p") else 0)) * 60 + minute if hour <= 12 else hour * 60 + minute


def _en(text: str, labelled: Collection[int]) -> list[Time]:
    found = []
    for match in _EN.finditer(text):
        group = match.groupdict()
        start, end = match.span()
        if group["h"] is not None:
            hour, minute = int(group["h"]), int(group["m"])
            half = group["half"]
            end = end if half else match.end("m")
            # "18.30" and "18 30" are a time only where a label says so, or am or pm.
            if hour > 24 or _MONEY.match(text, end) or (":" not in group["sep"] and not half and not _known(hour, minute, labelled)):
                continue
            if half and hour <= 12:
                # A corpus writes "17:45 pm" too; there the half says nothing, and it stays.
                found.append(Time(start, end, _half(hour, minute, half), "digits", _width(group["h"]), group["sep"], group["gap"] + half, True))
            else:
                minutes, twelve = _meant(hour, minute, labelled)
                found.append(Time(start, match.end("m"), minutes, "digits", _width(group["h"], twelve), group["sep"], "", twelve))
        elif group["run"] is not None:
            run = _run(text, match, labelled)
            if run is not None:
                found.append(run)
        elif group["h2"] is not None:
            named = group["h2"].lower()
            hour = _HOURS.get(named) or int(named)
            if not 0 < hour <= 24:
                continue
            half = group["half2"]
            if half.lower().startswith("o"):
                minutes, twelve = _meant(hour, 0, labelled)
            else:
                minutes, twelve = _half(hour, 0, half), True
            found.append(Time(start, end, minutes, "hour", 0 if named in _HOURS else _width(named), ":", group["gap2"] + half, twelve))
        elif any(group[name] is not None for name in ("part", "aside", "h6", "h7")):
            spelled = _spelled(match, labelled)
            if spelled is not None:
                found.append(spelled)
        elif group["h4"] is not None:
            named = group["h4"].lower()
            hour = _HOURS.get(named) or int(named)
            minutes, twelve = _meant(hour, 0, labelled)
            if minutes in labelled:
                place = match.start("h4")
                found.append(Time(place, match.end("h4"), minutes, "bare", 0 if named in _HOURS else _width(named), ":", "", twelve))
        else:
            minutes = NOON if group["word"].lower() != "midnight" else (DAY if DAY in labelled else 0)
            found.append(Time(start, end, minutes, "words", 2, ":", "", False))
    return found


def _spelled(match: re.Match[str], labelled: Collection[int]) -> Time | None:
    """A time whose minutes are words, or about an hour: "half past six", "twenty past six", "seven thirty pm", "7-ish"; None for what is none."""
    group = match.groupdict()
    if group["part"] is not None:
        return _beside(match, 30 if group["part"].lower() == "half" else 15, group["way"], group["h3"], group["half3"], labelled)
    if group["aside"] is not None:
        named = group["aside"].lower()
        time = _beside(match, _ASIDE.get(named) or int(named), group["way2"], group["h5"], group["half5"], labelled)
        # "from ten to five" is a range; a time it is where a label says so.
        return time if time.minutes in labelled else None
    if group["h6"] is not None:
        hour, minute, half = _HOURS[group["h6"].lower()], _MINUTES[" ".join(group["m6"].lower().split())], group["half6"] or ""
        minutes, twelve = (_half(hour, minute, half), True) if half else _meant(hour, minute, labelled)
        # "two twenty" is a price as well.
        return Time(match.start(), match.end(), minutes, "words", 1, ":", half, twelve) if half or minutes in labelled else None
    named = group["h7"].lower()
    minutes, twelve = _meant(_HOURS.get(named) or int(named), 0, labelled)
    width = 0 if named in _HOURS else _width(named)
    return Time(match.start(), match.end("h7"), minutes, "bare", width, ":", "", twelve) if minutes in labelled else None


def _beside(match: re.Match[str], part: int, way: str, named: str, half: str | None, labelled: Collection[int]) -> Time:
    """A time so many minutes before or after an hour."""
    hour = _HOURS.get(named.lower()) or int(named)
    total = hour * 60 + (-part if way.lower() in ("to", "before", "till") else part)
    if half:
        return Time(match.start(), match.end(), _half(total // 60 % 24, total % 60, half), "words", 1, ":", half, True)
    minutes, twelve = _meant(total // 60 % 24, total % 60, labelled)
    return Time(match.start(), match.end(), minutes, "words", 1, ":", "", twelve)


#: What makes a time of four digits that no label has, and what follows a number that counts.
_AT = re.compile(r"\b(?:at|by)\s$", re.IGNORECASE)
_COUNTED = re.compile(r"\s*(?:people|persons?|guests?|pounds?|gbp|euros?|dollars?|%|miles?|km|metres?|meters?|minutes?|mins?)\b", re.IGNORECASE)


def _run(text: str, match: re.Match[str], labelled: Collection[int]) -> Time | None:
    """A time without a sign between hour and minutes: "1215hrs", "0930 am", and "2030" where a label says so or it stands behind "at" or "by"."""
    digits, half = match["run"], match["rhalf"] or ""
    hour, minute = int(digits[:-2]), int(digits[-2:])
    if hour > 24:
        return None
    width = 2 if len(digits) == 4 else 1
    end = match.end("run")
    if half[:1].lower() in ("a", "p") and half and hour <= 12:
        return Time(match.start(), match.end(), _half(hour, minute, half), "digits", width, "", match["rgap"] + half, True)
    if not half and not (_known(hour, minute, labelled) or (len(digits) == 4 and _AT.search(text, 0, match.start()))):
        return None
    if not half and _COUNTED.match(text, end):
        return None
    minutes, twelve = _meant(hour, minute, labelled)
    return Time(match.start(), end, minutes, "digits", width, "", "", twelve)


def _known(hour: int, minute: int, labelled: Collection[int]) -> bool:
    return hour * 60 + minute in labelled or (hour + 12) * 60 + minute in labelled


def _width(hour: str, twelve: bool = True) -> int:
    """To how many digits an hour is padded: "09:00" to two, and so is "10:00" on a clock of 24 hours."""
    return 2 if len(hour) == 2 and (hour[0] == "0" or not twelve) else 1


def _bare(text: str, start: int, end: int, labelled: Collection[int]) -> Time | None:
    """A time that only its span shows to be one: "1715", "7", "seven"."""
    surface = text[start:end].lower()
    match = re.search(r"\b(\d{3,4}|\d{1,2}|" + _WORD + r")$", surface)
    if match is None:
        return None
    named = match[1]
    if len(named) > 2 and named.isdigit():
        hour, minute, separator = int(named[:-2]), int(named[-2:]), ""
    else:
        hour, minute, separator = _HOURS.get(named) or int(named), 0, ":"
    if hour > 24 or minute > 59:
        return None
    minutes, twelve = _meant(hour, minute, labelled)
    width = 2 if named[0] == "0" or (len(named) == 4 and named.isdigit()) else 1
    return Time(start + match.start(1), end, minutes, "bare" if separator else "digits", 0 if named in _HOURS else width, separator, "", twelve)


def _zh(text: str, labelled: Collection[int]) -> list[Time]:
    found = []
    for match in _ZH.finditer(text):
        group = match.groupdict()
        start, end = match.span()
        if group["h"] is not None:
            hour, minute = int(group["h"]), int(group["m"])
            minutes, twelve = _meant(hour, minute, labelled)
            if hour <= 24:
                found.append(Time(start, end, minutes, "digits", _width(group["h"], twelve), group["sep"], "", twelve))
            continue
        words = not group["h2"].isdigit()
        spoken: int | None = _ZH_NUMBERS.get(group["h2"]) if words else int(group["h2"])
        # 一点 is also "a little", and 点 is a dish ordered or a point.
        if spoken is None or spoken > 24 or (group["h2"] in ("一", "1") and not (group["part"] or group["m2"])):
            continue
        minute = {"半": 30, "一刻": 15, "三刻": 45}.get(group["part"] or "", 0)
        if group["m2"]:
            read = _ZH_NUMBERS.get(group["m2"]) if not group["m2"].isdigit() else int(group["m2"])
            if read is None:
                continue
            minute = read
        minutes, twelve = _meant(spoken, minute, labelled)
        found.append(Time(start, end, minutes, "dot words" if words else "dot", 1, group["dot"], group["fen"] or "", twelve))
    return found


def shifted(text: str, time: Time, minutes: int) -> str:
    """What stands in the place of a time that is `minutes` later, in the manner it was written."""
    total = time.minutes + minutes
    hour, minute = divmod(total, 60)
    shown = (hour - 1) % 12 + 1 if time.twelve else hour
    if time.form in ("dot", "dot words"):
        return _shifted_zh(time, shown, minute)
    half = time.half
    if half and time.twelve and half.strip().lower()[0] in "ap":
        letter = "p" if total % DAY >= NOON else "a"
        at = len(half) - len(half.lstrip())
        half = half[:at] + (letter.upper() if half[at].isupper() else letter) + half[at + 1 :]
    if time.form in ("hour", "bare") and minute == 0:
        old = text[time.start : time.end]
        if time.width == 0 and 1 <= shown <= 12:
            word = number_word(shown)
            return (word.capitalize() if old[0].isupper() else word) + half
        return f"{shown:0{max(1, time.width)}d}{half}"
    if time.form == "hour" and "clock" in half.lower():
        half = ""
    return f"{shown:0{max(1, time.width)}d}{time.separator}{minute:02d}{half}"


def _shifted_zh(time: Time, hour: int, minute: int) -> str:
    if time.form == "dot":
        return f"{hour}{time.separator}" + (f"{minute:02d}{time.half}" if minute else "")
    name = "两" if hour == 2 else zh_number(hour)
    if minute == 0:
        return f"{name}点"
    return f"{name}点" + ("半" if minute == 30 else ("零" if minute < 10 else "") + zh_number(minute) + "分")


def shifts(found: Collection[int]) -> list[int]:
    """By how many minutes all of these times can be moved: multiples of 5, at most two hours, none across midnight, and none onto another of them.

    Shifts that also keep each time in its half of the day come alone if there are any.
    """
    return list(_shifts(frozenset(found)))


@lru_cache(maxsize=4096)
def _shifts(found: frozenset[int]) -> tuple[int, ...]:
    possible = []
    known = {minutes % NOON for minutes in found}
    for shift in (*range(-120, 0, 5), *range(5, 121, 5)):
        moved = [minutes + shift for minutes in found]
        if all(0 <= new < DAY or (old >= DAY and DAY <= new < DAY + 60) for old, new in zip(found, moved, strict=True)) and not any(
            new % NOON in known for new in moved
        ):
            possible.append(shift)
    same = [shift for shift in possible if all((old < NOON) == (old + shift < NOON) for old in found)]
    return tuple(same or possible)
