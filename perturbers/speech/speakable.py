"""A written utterance as it is said: the form that goes to the voice, and the words against which a transcript is scored.

Word error rates of written text count style: "9:45" for "nine forty five", "center" for "centre" (over half of a good recogniser's raw "errors"
are of that kind). So references and transcripts both pass through here before they are compared. Every word remembers the written token it
came from: "07:45" is three words of one token, which is right or wrong as a whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from dialmill.perturbers.speech.numbers import cardinal, digits, hanzi, hanzi_digits, ordinal, pairs


class Word(NamedTuple):
    """One spoken word (English), or one character (Chinese), in its normal form; ``text[start:end]`` is the written token it belongs to."""

    text: str
    start: int
    end: int


class _Token(NamedTuple):
    words: tuple[str, ...]
    said: str
    start: int
    end: int


_EN = re.compile(
    r"""
    (?P<short>\b(?:st|mr|mrs|ms|dr|rd|ave)\.)
  | (?P<word>[^\W\d_]+(?:['’][^\W\d_]+)*(?:\s(?:n['’]t|['’](?:s|d|m|re|ve|ll|t))\b)?)(?![^\W_])
  | (?P<money>[£$€]\s?(?P<whole>\d[\d,]*)(?:\.(?P<part>\d{1,2}))?)
  | (?P<clock>\d{1,2}):(?P<minute>\d{2})(?!\d)(?:\s?(?P<half>[ap]\.?m\b\.?))?
  | (?P<dotted>[01]?\d|2[0-3])\.(?P<dotted_minute>[0-5]\d)(?!\d|\s?(?:pounds?|gbp|percent|%|dollars?|euros?|stars?|miles?))
      (?:\s?(?P<dotted_half>[ap]\.?m\b\.?))?
  | (?P<hour>\d{1,2})\s?(?P<hour_half>[ap]\.?m\b\.?)
  | (?P<phone>\+?\d{6,}\b | \b0\d{2,4}[ -]\d{3,4}[ -]?\d{3,4}\b)
  | (?P<ordinal>\d{1,3})(?:st|nd|rd|th)\b
  | (?P<decimal>\d[\d,]*\.\d+)(?![\w])
  | (?P<thousands>\d{1,3}(?:,\d{3})+)(?!\w)
  | (?P<code>(?=[^\W_]*\d)(?=[^\W_]*[^\W\d_])[^\W_]+)
  | (?P<number>\d+)
  | (?P<sign>[&%@+])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_SIGNS = {"&": "and", "%": "percent", "@": "at", "+": "plus"}
#: Written short, said long. What stands for letters is said letter by letter.
_SHORT = {
    "mr": "mister", "mrs": "missus", "dr": "doctor", "rd": "road", "ave": "avenue", "pls": "please", "plz": "please", "thx": "thanks",
    "u": "you", "ur": "your", "r": "are", "tv": "t v", "id": "i d", "uk": "u k", "usa": "u s a", "gbp": "pounds", "ok": "okay", "wi": "wi",
    "asap": "a s a p", "bbq": "b b q", "dob": "d o b", "info": "info", "approx": "approximately", "dept": "department", "tel": "telephone",
    "mon": "monday", "tues": "tuesday", "tue": "tuesday", "weds": "wednesday", "thurs": "thursday", "thur": "thursday", "thu": "thursday",
    "fri": "friday",
    "sr": "senior", "jr": "junior", "vs": "versus", "etc": "et cetera",
}  # fmt: skip
#: British and American spellings of one word (the normal form is the American one, as Whisper's), and words written in several ways.
_SPELLINGS = {
    "centre": "center", "centres": "centers", "theatre": "theater", "theatres": "theaters", "colour": "color", "favourite": "favorite",
    "grey": "gray", "programme": "program", "neighbourhood": "neighborhood", "travelling": "traveling", "cancelled": "canceled",
    "organise": "organize",
    "barbeque": "barbecue", "cheque": "check", "metre": "meter", "metres": "meters", "litre": "liter", "flavour": "flavor",
    "catalogue": "catalog", "jewellery": "jewelry", "apologise": "apologize", "recognise": "recognize", "enquire": "inquire", "enquiry": "inquiry",
    "alright": "all right", "gonna": "going to", "wanna": "want to", "gotta": "got to", "oclock": "o'clock", "thankyou": "thank you", "yeah": "yes",
    "yep": "yes", "hiya": "hi", "cannot": "can not", "mum": "mom", "st": "saint", "um": "um", "uhm": "um",
}  # fmt: skip
_CONTRACTIONS = {"can't": "can not", "won't": "will not", "let's": "let us", "shan't": "shall not", "ain't": "is not"}
_CLITICS = (("n't", "not"), ("'m", "am"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would"))
_STREET_BEFORE = re.compile(r"\w[\w'’]*\s+$")
_ZH = re.compile(
    r"""
    (?P<clock>\d{1,2})[:：](?P<minute>\d{2})(?!\d)
  | (?P<year>(?:19|20)\d{2})(?=年)
  | (?P<percent>\d+)%
  | (?P<phone>\+?\d{5,} | \b0\d{2,3}[ -]\d{7,8}\b)
  | (?P<decimal>\d+\.\d+)
  | (?P<number>\d+)
  | (?P<han>[\u3400-\u9fff\uf900-\ufaff])
  | (?P<latin>[^\W\d_\u3400-\u9fff\uf900-\ufaff]+(?:['’][^\W\d_]+)*)
    """,
    re.VERBOSE,
)


def words(text: str, language: str) -> tuple[Word, ...]:
    """The spoken words (Chinese: characters) of `text` in normal form, each with the place of its written token.

    Signs that nobody says (punctuation, emoji) give no words, so an utterance of nothing else is empty: there is nothing to say.
    """
    return tuple(Word(word, token.start, token.end) for token in _tokens(text, language) for word in token.words)


def spoken(text: str, language: str) -> str:
    """The reference of a word error rate: the words with blanks between them."""
    return " ".join(word.text for word in words(text, language))


def speakable(text: str, language: str) -> str:
    """What a voice is given: the text with everything written out that voices misread, with its pauses (one comma or full stop each)."""
    parts: list[str] = []
    reached = 0
    for token in _tokens(text, language):
        between = text[reached : token.start]
        if parts:
            stop = next((pause for sign, pause in _PAUSES if sign in between), "")
            if language == "zh":
                parts.append({"": "", ",": "，", ".": "。", "?": "？"}[stop])
            else:
                parts.append(stop + " ")
        parts.append(token.said)
        reached = token.end
    tail = text[reached:]
    if parts:
        question = "?" in tail or "？" in tail
        parts.append(("？" if question else "。") if language == "zh" else ("?" if question else "."))
    return "".join(parts)


_PAUSES = (("?", "?"), ("？", "?"), (".", "."), ("。", "."), ("!", "."), ("！", "."), (",", ","), ("，", ","), (";", ","), ("；", ","), ("、", ","))


def _tokens(text: str, language: str) -> Iterator[_Token]:
    folded = _fold(text)
    return _chinese(folded) if language == "zh" else _english(folded)


def _fold(text: str) -> str:
    """`text` with full-width letters and typographic quotes made plain; of the same length, so that places hold."""
    if text.isascii():
        return text
    return "".join(_FOLDED.get(char) or (low if len(low := unicodedata.normalize("NFKC", char)) == 1 else char) for char in text)


_FOLDED = {"’": "'", "‘": "'", "`": "'", "´": "'"}


def _token(words_: list[str], start: int, end: int) -> _Token:
    return _Token(tuple(words_), " ".join(words_), start, end)


def _english(text: str) -> Iterator[_Token]:
    for match in _EN.finditer(text):
        start, end = match.span()
        kind = match.lastgroup
        if kind == "word" or kind == "short":
            written = match.group()
            yield _street(start, end, text) if written.lower().rstrip(".") == "st" else _Token(*_word(written), start, end)
            continue
        group = match.groupdict()
        if group["money"]:
            yield _token(_money(group["whole"], group["part"], match.group()[0]), start, end)
        elif group["clock"] or group["dotted"]:
            hour, minute = group["clock"] or group["dotted"], group["minute"] or group["dotted_minute"]
            yield _token(_clock(int(hour), int(minute), group["half"] or group["dotted_half"]), start, end)
        elif group["hour"]:
            yield _token([*cardinal(int(group["hour"])), group["hour_half"][0].lower(), "m"], start, end)
        elif group["phone"]:
            yield _token(digits(match.group()), start, end)
        elif group["ordinal"]:
            yield _token(ordinal(int(group["ordinal"])) if int(group["ordinal"]) else ["zero", "th"], start, end)
        elif group["decimal"]:
            whole, part = group["decimal"].replace(",", "").split(".")
            yield _token([*_whole(whole), "point", *digits(part)], start, end)
        elif group["thousands"] or group["number"]:
            yield _token(_whole(match.group().replace(",", "")), start, end)
        elif group["code"]:
            yield _token(_code(match.group()), start, end)
        else:
            yield _token([_SIGNS[match.group()]], start, end)


def _money(whole: str, part: str | None, sign: str) -> list[str]:
    name = {"£": "pound", "$": "dollar", "€": "euro"}[sign]
    amount = whole.replace(",", "")
    spoken_ = _whole(amount)
    many = name if amount == "1" else name + "s"
    cents = int(part.ljust(2, "0")) if part else 0
    return [*spoken_, many, *(cardinal(cents) if cents else [])]


def _clock(hour: int, minute: int, half: str | None) -> list[str]:
    tail = [half[0].lower(), "m"] if half else []
    if minute == 0:
        return [*cardinal(hour), *(tail or ["o'clock"])]
    return [*cardinal(hour), *(["oh"] if minute < 10 else []), *cardinal(minute), *tail]


def _whole(number: str) -> list[str]:
    if len(number) > 4 or (len(number) > 1 and number[0] == "0" and len(number) != 4):
        return digits(number)
    if len(number) == 4:
        return cardinal(int(number)) if number[1:] == "000" else pairs(number)
    return cardinal(int(number))


def _code(text: str) -> list[str]:
    """ "TR2635" letter by letter and digit by digit; "4star" is a number and a word."""
    found: list[str] = []
    for part in re.findall(r"\d+|[^\W\d_]+", text.lower()):
        if part.isdecimal():
            found += digits(part) if len(part) > 2 or len(text) > 5 or part[0] == "0" else cardinal(int(part))
        elif len(part) >= 4:
            found.append(part)
        else:
            found += list(part)
    return found


def _street(start: int, end: int, text: str) -> _Token:
    """ "King St." is a street, "St Johns" is a saint."""
    after = text[end:]
    saint = after[:1].isspace() and after.lstrip()[:1].isalpha() and (after.lstrip()[:1].isupper() or not _STREET_BEFORE.search(text[:start]))
    said = "saint" if saint else "street"
    return _Token((said,), said, start, end)


@lru_cache(maxsize=65536)
def _word(written: str) -> tuple[tuple[str, ...], str]:
    """The normal form of a written word, and what a voice is given."""
    said = "".join(written.rstrip(".").split())
    low = said.lower()
    if low in _SHORT:
        said = _SHORT[low]
        return tuple(said.split()), said
    return _normal(low), said


@cache
def _normal(low: str) -> tuple[str, ...]:
    """The normal form of a written word in lower case."""
    if low in _SPELLINGS:
        return tuple(_SPELLINGS[low].split())
    if "'" in low:
        if low in _CONTRACTIONS:
            return tuple(_CONTRACTIONS[low].split())
        for clitic, full in _CLITICS:
            if low.endswith(clitic) and len(low) > len(clitic):
                return (*_normal(low[: -len(clitic)]), full)
        if low.endswith("'s") and low[:-2] in _IS_BEFORE:
            return (low[:-2], "is")
        # A possessive and a plural sound the same, and recognisers write either.
        return (low.replace("'", ""),) if low != "o'clock" else (low,)
    return (low,)


_IS_BEFORE = frozenset(["it", "that", "what", "there", "he", "she", "who", "where", "how", "here", "when"])


def _chinese(text: str) -> Iterator[_Token]:
    for match in _ZH.finditer(text):
        start, end = match.span()
        group = match.groupdict()
        if group["han"]:
            char = simplified(match.group())
            yield _Token((char,), char, start, end)
            continue
        if group["latin"]:
            yield _Token((match.group().lower(),), match.group(), start, end)
            continue
        if group["clock"]:
            minute = int(group["minute"])
            said = f"{hanzi(int(group['clock']))}点" + (f"{'零' if minute < 10 else ''}{hanzi(minute)}分" if minute else "")
        elif group["year"] or group["phone"]:
            said = hanzi_digits(match.group())
        elif group["percent"]:
            said = "百分之" + _zh_whole(group["percent"])
        elif group["decimal"]:
            whole, part = group["decimal"].split(".")
            said = f"{_zh_whole(whole)}点{hanzi_digits(part)}"
        else:
            said = _zh_whole(match.group())
        yield _Token(tuple(said), said, start, end)


def _zh_whole(number: str) -> str:
    return hanzi_digits(number) if len(number) > 4 or (len(number) > 1 and number[0] == "0") else hanzi(int(number))


@cache
def _simplification() -> dict[str, str]:
    lines = (resources.files("dialmill.perturbers.speech") / "data" / "simplified.txt").read_text("utf-8").splitlines()
    return {line[0]: line[1] for line in lines if line and not line.startswith("#")}


def simplified(text: str) -> str:
    """`text` with traditional characters made simplified, one for one. Whisper mixes the two."""
    table = _simplification()
    return "".join(table.get(char, char) for char in text)
