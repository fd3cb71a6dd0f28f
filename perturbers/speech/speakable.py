"""A written utterance as it is said: the form that goes to the voice, and the words against which a transcript is scored.

Word error rates of written text count style: "9:45" for "nine forty five", "center" for "centre" (over half of a good recogniser's raw "errors"
are of that kind). So references and transcripts both pass through here before they are compared. Every word remembers the written token it
came from: "07:45" is three words of one token, which is right or wrong as a whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib import resources
from typing import NamedTuple

from dialmill.perturbers.core.graphemes import JOINERS, MARKS, inner_places, whole
from dialmill.perturbers.speech.numbers import cardinal, digits, hanzi, hanzi_digits, ordinal, pairs


class Word(NamedTuple):
    """One spoken word (English), or one character (Chinese), in its normal form; ``text[start:end]`` is the written token it belongs to."""

    text: str
    start: int
    end: int


class Token(NamedTuple):
    """A written token, ``text[start:end]``: its words in normal form, and what a voice is given."""

    words: tuple[str, ...]
    said: str
    start: int
    end: int


#: Letters with the marks on them.
_LETTERS = rf"(?:[^\W\d_][{MARKS}{JOINERS}]*)+"
_EN = re.compile(
    r"""
    (?P<short>\b(?:st|mr|mrs|ms|dr|rd|ave)\.)
  | (?P<word>LETTERS(?:['’]LETTERS)*(?:\s(?:n['’]t|['’](?:s|d|m|re|ve|ll|t))\b)?)(?![^\W_])
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
  | (?P<range>(?<=\d)\s?[-–]\s?(?=[£$€]?\d))
  | (?P<sign>[&%@+])
    """.replace("LETTERS", _LETTERS),
    re.VERBOSE | re.IGNORECASE,
)
_SIGNS = {"&": "and", "%": "percent", "@": "at", "+": "plus"}
#: Written short, said long. What stands for letters is said letter by letter.
_SHORT = {
    "mr": "mister", "mrs": "missus", "dr": "doctor", "rd": "road", "ave": "avenue", "pm": "p m", "pls": "please", "plz": "please", "thx": "thanks",
    "u": "you", "ur": "your", "r": "are", "tv": "t v", "id": "i d", "uk": "u k", "usa": "u s a", "gbp": "pounds", "ok": "okay", "wi": "wi",
    "asap": "a s a p", "bbq": "b b q", "dob": "d o b", "info": "info", "approx": "approximately", "dept": "department", "tel": "telephone",
    "mon": "monday", "tues": "tuesday", "tue": "tuesday", "weds": "wednesday", "thurs": "thursday", "thur": "thursday", "thu": "thursday",
    "fri": "friday",
    "sr": "senior", "jr": "junior", "vs": "versus", "etc": "et cetera",
}  # fmt: skip
#: Filled pauses: speakers make them and recognisers write them or not, so rates leave them out.
FILLED = {"en": frozenset(["um", "umm", "uh", "uhh", "er", "erm", "hmm", "mm"]), "zh": frozenset("嗯呃")}
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
    (?P<date>(?:19|20)\d{2}[-/.](?:0?[1-9]|1[0-2])[-/.](?:[12]\d|3[01]|0?[1-9])(?!\d))
  | (?P<clock>(?<!\d)(?:[01]?\d|2[0-4]))[:：](?P<minute>[0-5]\d)(?:[:：](?P<second>[0-5]\d))?(?!\d)
  | (?P<ratio>\d{1,3})[:：](?=\d{1,3}(?!\d))
  | (?P<year>(?:19|20)\d{2})(?=年)
  | (?P<phone>\+?\d{9,} | (?<!\d)(?:0\d{2,3}|400|800)[ -]?\d{3,4}[ -]?\d{3,5}(?!\d)
      | (?<!\d)\d{7,8}(?![\d元块万千米人个]) | (?<![\d.])1(?:10|14|19|20|22)(?=[报急火]))
  | (?P<cold>(?<![\d%℃°])-)?(?P<degrees>\d+(?:\.\d+)?)\s?(?P<scale>°C|℃|°F|℉|°|º)
  | (?P<sum>[¥￥$€£])\s?(?P<amount>\d[\d,]*(?:\.\d+)?)
  | (?P<percent>\d+(?:\.\d+)?)%
  | (?P<fraction>(?<![\d/])[1-9]/(?:[2-9]|10)(?![\d/]))
  | (?P<code>(?<![A-Za-z])[A-Za-z]{1,3}\d{2,5}(?![A-Za-z\d]))
  | (?P<decimal>\d+\.\d+)
  | (?P<thousands>(?<![\d,])\d{1,3}(?:,\d{3})+(?!\d))
  | (?P<number>\d+)
  | (?P<range>(?<=[\d%元分点℃])[-~–—](?=[¥￥$]?\d))
  | (?P<han>[\u3400-\u9fff\uf900-\ufaff])
  | (?P<latin>(?:[^\W\d_\u3400-\u9fff\uf900-\ufaff][MARKS]*)+(?:['’][^\W\d_]+)*)
    """.replace("MARKS", MARKS + JOINERS),
    re.VERBOSE,
)
_SUMS = {"¥": "元", "￥": "元", "$": "美元", "€": "欧元", "£": "英镑"}
_SCALES = {"°C": "摄氏度", "℃": "摄氏度", "°F": "华氏度", "℉": "华氏度"}
#: Words that count: before them two is 两, not 二.
_COUNTERS = frozenset("个位间人点天晚张份家条杯只次场件站名碗瓶盘种所座辆部岁款台套趟百千万")
_ROOM = re.compile(r"\s?(?:房间?|室|路(?!程)|次列车|次航班|号楼|号线)")


def words(text: str, language: str) -> tuple[Word, ...]:
    """The spoken words (Chinese: characters) of `text` in normal form, each with the place of its written token.

    Signs that nobody says (punctuation, emoji) give no words, so an utterance of nothing else is empty: there is nothing to say.
    """
    return tuple(Word(word, token.start, token.end) for token in tokens(text, language) for word in token.words)


_ALIKE = {"两": "二", "幺": "一"}


def compared(said: Iterable[Word], language: str) -> list[str]:
    """The words as they are compared: two words for one number are one word (两 and 二, 幺 and 一)."""
    return [_ALIKE.get(word.text, word.text) for word in said] if language == "zh" else [word.text for word in said]


def spoken(text: str, language: str) -> str:
    """The reference of a word error rate: the words with blanks between them."""
    return " ".join(word.text for word in words(text, language))


def speakable(text: str, language: str) -> str:
    """What a voice is given: the text with everything written out that voices misread, with its pauses (one comma or full stop each)."""
    parts: list[str] = []
    reached = 0
    for token in tokens(text, language):
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


def tokens(text: str, language: str) -> Iterator[Token]:
    """The tokens of `text` that are spoken, in order."""
    folded = _fold(text)
    found = _chinese(folded) if language == "zh" else _english(folded)
    # A mark on a digit or a Chinese character goes with it.
    return (token._replace(end=whole(text, token.start, token.end)[1]) for token in found) if inner_places(text) else found


def _fold(text: str) -> str:
    """`text` with full-width letters and typographic quotes made plain; of the same length, so that places hold."""
    if text.isascii():
        return text
    return "".join(_FOLDED.get(char) or (low if len(low := unicodedata.normalize("NFKC", char)) == 1 else char) for char in text)


_FOLDED = {"’": "'", "‘": "'", "`": "'", "´": "'"}


def _token(words_: list[str], start: int, end: int) -> Token:
    return Token(tuple(words_), " ".join(words_), start, end)


def _english(text: str) -> Iterator[Token]:
    for match in _EN.finditer(text):
        start, end = match.span()
        kind = match.lastgroup
        if kind == "word" or kind == "short":
            written = match.group()
            yield _street(start, end, text) if written.lower().rstrip(".") == "st" else Token(*_word(written), start, end)
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
        elif group["range"]:
            # Between three numbers and more it parts a date or a number of a telephone.
            if not re.search(r"\d\s?[-–]\s?\d+$", text[:start]) and not re.match(r"\d+\s?[-–]\s?\d", text[end:]):
                yield _token(["to"], start, end)
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


def _street(start: int, end: int, text: str) -> Token:
    """ "King St." is a street, "St Johns" is a saint."""
    after = text[end:]
    saint = after[:1].isspace() and after.lstrip()[:1].isalpha() and (after.lstrip()[:1].isupper() or not _STREET_BEFORE.search(text[:start]))
    said = "saint" if saint else "street"
    return Token((said,), said, start, end)


@lru_cache(maxsize=65536)
def _word(written: str) -> tuple[tuple[str, ...], str]:
    """The normal form of a written word, and what a voice is given."""
    said = unicodedata.normalize("NFC", "".join(written.rstrip(".").split()))
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


def _chinese(text: str) -> Iterator[Token]:
    for match in _ZH.finditer(text):
        start, end = match.span()
        group = match.groupdict()
        if group["han"]:
            char = simplified(match.group())
            yield Token((char,), char, start, end)
        elif group["latin"]:
            latin = unicodedata.normalize("NFC", match.group())
            yield Token((latin.lower(),), latin, start, end)
        else:
            said = _zh_said(group, text, start, end)
            yield Token(tuple(said), said, start, end)


def _zh_said(group: dict[str, str | None], text: str, start: int, end: int) -> str:
    """What is said for a number, a time, a sum or the sign of a range."""
    written = text[start:end]
    if clock := group["clock"]:
        return _zh_clock(int(clock), int(group["minute"] or 0), int(group["second"] or 0))
    if group["date"]:
        year, month, day = re.split(r"[-/.]", written)
        return f"{hanzi_digits(year)}年{hanzi(int(month))}月{hanzi(int(day))}日"
    if ratio := group["ratio"]:
        return f"{hanzi(int(ratio))}比"
    if group["year"]:
        return hanzi_digits(written)
    if group["phone"]:
        return hanzi_digits(written, "幺")
    if group["range"]:
        # Two numbers are the ends of a range; three and more are the parts of an address.
        chained = re.search(r"\d[-~–—]\d+$", text[:start]) or re.match(r"\d+[-~–—]\d", text[end:])
        return "杠" if chained else "到"
    if degrees := group["degrees"]:
        return ("零下" if group["cold"] else "") + _zh_decimal(degrees) + _SCALES.get(group["scale"] or "", "度")
    if amount := group["amount"]:
        return _zh_decimal(amount.replace(",", "")) + _SUMS[group["sum"] or "¥"]
    if percent := group["percent"]:
        return "百分之" + _zh_decimal(percent)
    if group["fraction"]:
        over, under = written.split("/")
        return f"{hanzi(int(under))}分之{hanzi(int(over))}"
    if group["code"]:
        letters = written.rstrip("0123456789")
        return letters.lower() + _zh_code(written[len(letters) :])
    if group["decimal"]:
        return _zh_decimal(written)
    number = written.replace(",", "")
    if number == "2" and text[end : end + 1] in _COUNTERS and text[end : end + 1]:
        return "两"
    if len(number) in (3, 4) and _ROOM.match(text, end):
        return _zh_code(number)
    return _zh_whole(number)


def _zh_clock(hour: int, minute: int, second: int) -> str:
    said = f"{'两' if hour == 2 else hanzi(hour)}点"
    if minute or second:
        said += f"{'零' if minute < 10 else ''}{hanzi(minute)}分"
    return said + (f"{hanzi(second)}秒" if second else "")


def _zh_code(number: str) -> str:
    """The digits of a train, room or line: digit by digit from three on."""
    return hanzi_digits(number, "幺") if len(number) > 2 or number[0] == "0" else hanzi(int(number))


def _zh_decimal(number: str) -> str:
    whole, _, part = number.partition(".")
    return _zh_whole(whole) + (f"点{hanzi_digits(part)}" if part else "")


def _zh_whole(number: str) -> str:
    return hanzi_digits(number) if len(number) > 12 or (len(number) > 1 and number[0] == "0") else hanzi(int(number))


@cache
def _simplification() -> dict[str, str]:
    lines = (resources.files("dialmill.perturbers.speech") / "data" / "simplified.txt").read_text("utf-8").splitlines()
    return {line[0]: line[1] for line in lines if line and not line.startswith("#")}


def simplified(text: str) -> str:
    """`text` with traditional characters made simplified, one for one. Whisper mixes the two."""
    table = _simplification()
    return "".join(table.get(char, char) for char in text)
