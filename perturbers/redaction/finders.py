"""Where personal data stands in a text: e-mail and web addresses, telephone numbers, IP addresses, payment cards, IBANs, codes, names that speakers
give.

Cards must have the check digit of Luhn (ISO/IEC 7812-1), IBANs the one of ISO 7064, telephone numbers are told by `phonenumbers` (Google's library,
extra `clean`) and by their shape. Longer finds go before shorter ones, so that the host of an e-mail address is no web address.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from dialmill.perturbers.core.graphemes import HAN
from dialmill.perturbers.core.lexicon import words

Kind = Literal["email", "url", "ip", "iban", "card", "phone", "id", "name"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Find(NamedTuple):
    """Personal data in a text."""

    start: int
    end: int
    kind: Kind
    text: str


#: Chinese has no blanks between words, so that a number or an address may stand right beside one: the letters of words are looked for in ASCII, and
#: in addresses of e-mail without Chinese.
_EMAIL = re.compile(rf"(?<![A-Za-z0-9_.+-])(?:(?![{HAN}])[\w.+%-])+@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]*[A-Za-z0-9])+")
_SPOKEN_EMAIL = re.compile(r"(?<!\w)[a-z0-9]+(?: (?:dot|underscore|dash) [a-z0-9]+)* at [a-z0-9]+(?: dot [a-z]{2,})+(?!\w)", re.IGNORECASE)
_URL = re.compile(rf"(?<![\w@/.])(?:https?://|ftp://|www\.)[^\s<>\"'，。；）】{HAN}]*[^\s<>\"'，。；）】.,;:!?){HAN}]", re.IGNORECASE | re.ASCII)
_HOST = re.compile(
    r"(?<![\w@/.-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:com|org|net|edu|gov|io|co|uk|de|fr|eu|cn|info|biz|dev|app|me)(?:/[\w./?=&%+~-]*[\w/])?(?![\w@-])",
    re.IGNORECASE | re.ASCII,
)
_IP4 = re.compile(r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w]|\.\d)", re.ASCII)
_IP6 = re.compile(r"(?<![\w:.])[0-9a-fA-F:]{3,39}(?![\w:])", re.ASCII)
_IBAN = re.compile(r"(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)", re.ASCII)
#: Digits in groups, of which some may be a card's: "for 4 4012 8888 8888 1881".
_GROUPS = re.compile(r"(?<![\w.+-])\d(?:[ -]?\d){12,}(?![\w-]|\.\d)", re.ASCII)
_PHONE = re.compile(
    r"(?<![\w./:-])(?:\+|00)\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){5,12}(?![\w:/-]|\.\d)"
    r"|(?<![\w./:-])\(?0\d{2,4}\)?[ .-]?\d{3,4}(?:[ .-]?\d{3,4}){1,2}(?![\w:/-]|\.\d)"
    r"|(?<![\w./:-])\(?[2-9]\d{2}\)?[ .-][2-9]\d{2}[ .-]\d{4}(?![\w:/-]|\.\d)"
    r"|(?<![\w./:-])1[3-9]\d(?:[ -]?\d{4}){2}(?![\w:/-]|\.\d)",
    re.ASCII,
)
#: Digits among letters, six characters and more; capitals and digits of five and more.
_ID = re.compile(
    r"(?<![\w.@/#-])(?=[A-Za-z_]*\d)(?=[\d_]*[A-Za-z])[A-Za-z0-9]+(?:[_-][A-Za-z0-9]+)*(?![\w@/]|-\w)|(?<![\w.@/-])#[A-Z]{0,3}\d{4,}(?!\w)",
    re.ASCII,
)
_NAME_EN = re.compile(
    r"\b(?i:my name is|my name's|i am called|name: ?|this is|i'm|i am)\s+((?:[A-Z][A-Za-z]+(?:['-][A-Z][a-z]+)?)(?:\s[A-Z][A-Za-z]+){0,2})"
)
_NAME_ZH = re.compile(
    "(?:我叫|我的名字(?:是|叫)|姓名[:：是]?|我是(?=[\u4e00-\u9fff]{2,3}(?:[,，。！]|$)))([\u4e00-\u9fff]{2,4}?)(?=[,，。！、\\s]|的|$)"
)
#: What stands behind 我叫 and 我是 and is no name: "我叫个车", "我是苏州人".
_NO_NAME_ZH = re.compile("[个辆下上来去了的你您他她它啥什车谁]|.+[人员生户迷友]$")
#: What stands behind "I'm" and is no name.
_NO_NAMES = words(
    "looking trying calling interested sorry fine good not also just here happy sure going in at the a an planning so afraid free back done ready "
    "new travelling traveling visiting coming leaving great all ok okay monday tuesday wednesday thursday friday saturday sunday british american "
    "chinese german french english european"
)
#: A code is at least so long.
_SHORTEST_ID = 6


def find(text: str, kinds: Iterable[str] = KINDS, names: frozenset[str] = frozenset(), region: str = "GB") -> list[Find]:
    """The personal data of a text, disjoint and in order.

    Args:
        kinds: which kinds are looked for.
        names: names known from elsewhere, in lower case, found as whole words.
        region: where telephone numbers without a country's code are from (ISO 3166), "GB" or "CN" say.
    """
    wanted = set(kinds)
    found: list[Find] = []
    taken: list[tuple[int, int]] = []
    for kind, places in _places(text, wanted, names, region):
        for start, end in places:
            if all(end <= one or other <= start for one, other in taken):
                taken.append((start, end))
                found.append(Find(start, end, kind, text[start:end]))
    return sorted(found)


def _places(text: str, wanted: set[str], names: frozenset[str], region: str) -> Iterator[tuple[Kind, Iterable[tuple[int, int]]]]:
    """The finds of each kind, those that hold others first. What isn't wanted still keeps its place: an address is no code."""
    some: list[tuple[Kind, list[tuple[int, int]]]] = [
        ("email", [match.span() for pattern in (_EMAIL, _SPOKEN_EMAIL) for match in pattern.finditer(text)]),
        ("url", [match.span() for pattern in (_URL, _HOST) for match in pattern.finditer(text)] if "." in text else []),
        ("iban", [match.span() for match in _IBAN.finditer(text) if is_iban(match[0])]),
        ("card", list(_cards(text))),
        ("ip", [match.span() for pattern in (_IP4, _IP6) for match in pattern.finditer(text) if pattern is _IP4 or _is_ip6(match[0])]),
        ("phone", list(_phones(text, region))),
        ("id", [match.span() for match in _ID.finditer(text) if len(match[0]) >= _SHORTEST_ID and not _counted(match[0])]),
        ("name", list(_names(text, names))),
    ]
    blocked: list[tuple[int, int]] = []
    for kind, places in some:
        free = [place for place in places if all(place[1] <= one or other <= place[0] for one, other in blocked)]
        if kind in wanted:
            yield kind, free
        blocked += free


def _is_ip6(text: str) -> bool:
    """Whether a run of hexadecimal digits and colons is an address; "12:30" is none."""
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return text.count(":") > 1 and len(text) > 4


def _counted(code: str) -> bool:
    """Whether digits among letters are a number with what it counts, an ordinal, a time: "100th", "1080p", "12345km"."""
    return re.fullmatch(r"\d+(?:st|nd|rd|th|s|am|pm|km|kg|gb|mb|p|k|m|hrs?|mins?|min)?(?:-[a-z]+)*", code, re.IGNORECASE) is not None


def is_card(text: str) -> bool:
    """Whether digits (13 to 19, with blanks or hyphens) have Luhn's check digit, and are no run of one digit."""
    digits = [int(char) for char in text if char.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) < 2:
        return False
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _cards(text: str) -> Iterator[tuple[int, int]]:
    """The longest runs of whole groups of digits that are cards' numbers."""
    for run in _GROUPS.finditer(text):
        groups = [(run.start() + group.start(), run.start() + group.end()) for group in re.finditer(r"\d+", run[0])]
        runs = [(begin[0], end[1]) for place, begin in enumerate(groups) for end in groups[place:]]
        last = run.start()
        for start, end in sorted(runs, key=lambda one: (one[0] - one[1], one)):
            if start >= last and is_card(text[start:end]):
                yield start, end
                last = end


def is_iban(text: str) -> bool:
    """Whether an IBAN (15 to 34 characters) has its check digits, modulo 97."""
    bare = text.replace(" ", "")
    return 15 <= len(bare) <= 34 and int("".join(str(int(char, 36)) for char in bare[4:] + bare[:4])) % 97 == 1


def _phones(text: str, region: str) -> Iterator[tuple[int, int]]:
    if sum(char.isdigit() for char in text) < 7:
        return
    import phonenumbers

    for match in phonenumbers.PhoneNumberMatcher(text, region):
        yield match.start, match.end
    for found in _PHONE.finditer(text):
        if sum(char.isdigit() for char in found[0]) >= 7:
            yield found.span()


def _names(text: str, names: frozenset[str]) -> Iterator[tuple[int, int]]:
    for match in _NAME_EN.finditer(text):
        words = match[1].split()
        if words[0].lower() not in _NO_NAMES:
            yield match.span(1)
    for match in _NAME_ZH.finditer(text):
        if not _NO_NAME_ZH.match(match[1]):
            yield match.span(1)
    if names:
        for match in _known(names).finditer(text):
            yield match.span()


@lru_cache(maxsize=64)
def _known(names: frozenset[str]) -> re.Pattern[str]:
    """Names as whole words; Chinese ones wherever they stand."""
    longest = sorted(names, key=lambda name: (-len(name), name))
    return re.compile("|".join(re.escape(name) if not name.isascii() else rf"(?<!\w){re.escape(name)}(?!\w)" for name in longest), re.IGNORECASE)
