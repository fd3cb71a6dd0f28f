"""What stands in place of personal data: of the same shape, the same for the same value in the whole run, and nobody's.

E-mail and web addresses lie under ``example.com`` (RFC 2606), IP addresses in the blocks for documentation (RFC 5737, RFC 3849), cards and IBANs keep
their check digits and name no bank, telephone numbers keep country and length.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.entities import coinage
from dialmill.perturbers.redaction.finders import Kind, is_card

_DIGIT = re.compile(r"\d")


def surrogate(kind: Kind, text: str, language: str, rng: Rng) -> str:
    """What replaces a find. Equal random numbers, so equal values under one seed, give equal surrogates."""
    return _MAKERS[kind](text, language, rng)


def _email(text: str, language: str, rng: Rng) -> str:
    name = f"{rng.choice(_USERS)}{10 + rng.below(990)}"
    return f"{name} at example dot com" if "@" not in text else f"{name}@example.com"


_USERS = ("maple", "harbour", "lantern", "willow", "pebble", "juniper", "meadow", "copper", "linden", "sparrow", "thistle", "orchard")


def _url(text: str, language: str, rng: Rng) -> str:
    scheme = re.match(r"(?:[a-z]+://)?(?:www\.)?", text, re.IGNORECASE)
    path = f"/{rng.choice(_USERS)}{10 + rng.below(990)}" if "/" in text[scheme.end() if scheme else 0 :] else ""
    host = f"{rng.choice(_USERS)}{10 + rng.below(990)}.example.com"
    return f"{scheme[0] if scheme else ''}{host}{path}"


def _ip(text: str, language: str, rng: Rng) -> str:
    if ":" in text:
        return f"2001:db8::{1 + rng.below(65534):x}:{1 + rng.below(65534):x}"
    return f"{rng.choice(('192.0.2', '198.51.100', '203.0.113'))}.{1 + rng.below(254)}"


def _digits(text: str, rng: Rng, keep: int) -> str:
    """Other digits behind the first `keep`, the rest of the text as it is."""
    seen = 0
    parts = []
    for char in text:
        if char.isdigit():
            seen += 1
            parts.append(char if seen <= keep else str(rng.below(10)))
        else:
            parts.append(char)
    return "".join(parts)


def _card(text: str, language: str, rng: Rng) -> str:
    made = _digits(text, rng, 1)
    last = max(place for place, char in enumerate(made) if char.isdigit())
    return next(one for digit in "0123456789" if is_card(one := made[:last] + digit + made[last + 1 :]))


def _iban(text: str, language: str, rng: Rng) -> str:
    bare = text.replace(" ", "")
    body = "".join("0" if char.isdigit() and place < 4 else str(rng.below(10)) if char.isdigit() else "X" for place, char in enumerate(bare[4:]))
    number = int("".join(str(int(char, 36)) for char in body + bare[:2] + "00"))
    made = iter(f"{bare[:2]}{98 - number % 97:02d}{body}")
    return "".join(char if char == " " else next(made) for char in text)


def phone(text: str, national: str, rng: Rng) -> str:
    """Another number in the writing of `text`: of the `national` digits, which all writings of it end with, the first stays (what country and length
    it has), the others say where somebody lives."""
    other = iter(national[:1] + "".join(str(rng.below(10)) for _ in national[1:]))
    before = sum(char.isdigit() for char in text) - len(national)
    seen = 0
    parts = []
    for char in text:
        seen += char.isdigit()
        parts.append(next(other) if char.isdigit() and seen > before else char)
    return "".join(parts)


def _phone(text: str, language: str, rng: Rng) -> str:
    """A number of no known country: all its digits."""
    return phone(text, "".join(char for char in text if char.isdigit()).lstrip("0"), rng)


def _id(text: str, language: str, rng: Rng) -> str:
    return coinage.same_shape(text, rng, 0)


def _name(text: str, language: str, rng: Rng) -> str:
    if not text.isascii():
        return coinage.coin(coinage.PERSON, "zh", rng)
    made = coinage.coin(coinage.PERSON, "en", rng).split()
    words = text.split()
    said = " ".join(made[: len(words)] if len(words) < len(made) else made)
    return said.lower() if text.islower() else said


_MAKERS: dict[Kind, Callable[[str, str, Rng], str]] = {
    "email": _email,
    "url": _url,
    "ip": _ip,
    "iban": _iban,
    "card": _card,
    "phone": _phone,
    "id": _id,
    "name": _name,
}
