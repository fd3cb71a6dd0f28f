"""One form for the several ways in which people write one personal datum: "01223 356555", "+44 1223 356-555" and "(01223) 356555" are one number.

What is equal in this form gets one surrogate, in the writing of each place, and is the label's value where a label has it.
"""

from __future__ import annotations

import importlib.util
import re
from functools import lru_cache

from dialmill.perturbers.redaction.finders import Kind

#: What numbers are written with.
_NUMBER = re.compile(r"[+(\d][\d\s().\-/–]*")
_SPOKEN = ((" dot ", "."), (" underscore ", "_"), (" dash ", "-"), (" at ", "@"))


@lru_cache(maxsize=65536)
def one_form(kind: Kind, text: str, region: str) -> str:
    """The form in which all writings of a datum are equal; of what is no datum of the kind, lower case with single blanks.

    Args:
        region: where telephone numbers without a country's code are from (ISO 3166).
    """
    plain = " ".join(text.lower().split())
    if kind == "phone":
        return "+".join(parted(text, region)) if _NUMBER.fullmatch(text.strip()) else plain
    if kind in ("card", "iban"):
        return re.sub(r"[\s-]", "", plain)
    if kind == "email":
        for said, sign in _SPOKEN:
            plain = plain.replace(said, sign)
        return plain
    if kind == "url":
        return re.sub(r"^(?:[a-z]+://)?(?:www\.)?|/$", "", plain)
    return plain


@lru_cache(maxsize=65536)
def parted(text: str, region: str) -> tuple[str, str]:
    """A telephone number as its country's code and the digits behind it, without the 0 that is dialled inside a country."""
    digits = re.sub(r"\D", "", text)
    if importlib.util.find_spec("phonenumbers") is None:
        return "", digits.lstrip("0") or digits  # telephone numbers are not among what is looked for
    import phonenumbers

    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return "", digits.lstrip("0") or digits
    return str(number.country_code), str(number.national_number)
