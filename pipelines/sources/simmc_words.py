"""How people write the values of SIMMC's shops, and which words of a turn point at an object.

A shop's label is one word for what has several: "trousers" are "pants", "XL" is "extra large", "black, white" is "black and white". A user who points
at an object names no id: what tells it from the others are its colour, its kind, its order and where it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

_WELL_RATED = "well-rated|well rated|highly rated|highly-rated|well-reviewed|well reviewed|top-rated|high rating|high review"
#: Words that say "good" of reviews, where these stand behind them.
_PRAISE = r"(?:great|high|positive|best|decent|solid|stellar|excellent|top)(?=(?:\W+\w+){0,2}?\W+(?:reviews?|ratings?|scores?|feedback)\b)"
#: Slot -> value, both in lower case -> surfaces besides the value itself.
_SURFACES: dict[str, dict[str, str]] = {
    "type": {
        "trousers": "pants|slacks",
        "tshirt": "t-shirt|t shirt|tee shirt|tee|t",
        "blouse": "tops",
        "jacket": "blazer",
        "coat": "overcoat|jacket|blazer",
        "joggers": "sweatpants|jogging pants",
        "tank top": "tank|tanktop|tank-top",
        "shirt, vest": "vest|shirt and vest|shirt with a vest",
        "shoes": "pair of shoes|sneakers|footwear",
        "sweater": "jumper|pullover",
        "hoodie": "hooded sweatshirt|hooded sweater",
        "sofa": "couch",
        "couchchair": "couch chair|armchair",
        "arearug": "area rug|rug",
        "coffeetable": "coffee table",
        "endtable": "end table|side table",
        "shelves": "shelf|shelving unit|bookcase",
    },
    "customerreview": {"good": _WELL_RATED},
    "customerrating": {"good": _WELL_RATED},
    "price": {
        "cheap": "cheaper|cheapest|inexpensive|low-priced|low price|low prices|bargain|budget|less expensive",
        "affordable": "reasonably priced|reasonable|reasonable price|afford|not too expensive|budget|break the bank",
        "expensive": "pricey|pricier|high-end|higher end|luxury|more expensive|high-priced|splurging|splurge",
    },
    "pattern": {
        "plain": "solid|solid color|solid colored|basic|simple",
        "camouflage": "camo",
        "dotted": "dots|polka dot|polka dots|polka-dotted",
        "plaid": "checked|checkered",
        "twin colors": "two-tone|two tone|two-colored",
        "multicolored": "multi-colored|multicolor",
        "floral": "flowery|flowers",
    },
    "sleevelength": {
        "full": "full-length|full length|long-sleeved|long-sleeve|long sleeved|long sleeves|long sleeve|full-sleeved|full sleeves|long",
        "long": "long-sleeved|long-sleeve|full-length|full",
        "short": "short-sleeved|short-sleeve",
        "half": "half-sleeve|half-sleeved|half-length",
        "sleeveless": "no sleeves|without sleeves",
    },
    "color": {"violet": "purple", "grey": "gray", "light grey": "light gray", "dark grey": "dark gray"},
}
#: Sizes are letters that stand in other words' short forms too ("what's"), so that they are told by their capitals, or after "size".
_SIZES = {
    "xxs": "extra extra small",
    "xs": "extra small|extra-small|x-small",
    "s": "small",
    "m": "medium",
    "l": "large",
    "xl": "extra large|extra-large|x-large",
    "xxl": "extra extra large|double extra large|double xl|2xl",
}
_SIZE_SLOTS = frozenset({"size", "availablesizes"})
_TENTHS = re.compile(r"\d+\.\d")
#: Colours that a value lists at most to be looked for in any order.
_ORDERED = 3


def _alternatives(surfaces: Iterable[str]) -> str:
    """Surfaces as one expression, the longest first, blanks of any length, and the plural of each."""
    longest = sorted({one for one in surfaces if one}, key=lambda one: (-len(one), one))
    return "|".join(r"\s+".join(map(re.escape, one.split())) + ("(?:e?s)?" if one[-1].isalpha() else "") for one in longest)


@lru_cache(maxsize=4096)
def pattern(slot: str, value: str) -> re.Pattern[str]:
    """What finds a value of a slot (both as the corpus writes them) in a text, as whole words."""
    # 1.0 has the domain before a slot: "fashion-color".
    name, low = slot.lower().rpartition("-")[2], " ".join(value.lower().split())
    if name in _SIZE_SLOTS and low in _SIZES:
        words = "|".join(r"[\s-]+".join(re.split(r"[\s-]", one)) for one in _SIZES[low].split("|"))
        # "small" is a part of "extra small".
        spelt = rf"(?<![Ss]ize )(?<!extra )(?<!extra-)(?i:{words})"
        return re.compile(rf"(?<![\w'’-])(?:{re.escape(value)}|{spelt}|(?<=[Ss]ize )(?i:{words}|{re.escape(low)}))(?![\w'’])")
    found = {low, *filter(None, _SURFACES.get(name, {}).get(low, "").split("|"))}
    parts = [part.strip() for part in low.split(",") if part.strip()]
    if name in ("color", "pattern") and len(parts) > 1:
        for order in permutations(parts) if len(parts) <= _ORDERED else [tuple(parts)]:
            *first, last = order
            found |= {" ".join(order), f"{', '.join(first)} and {last}", f"{', '.join(first)}, and {last}", ", ".join(order)}
    grey = {one.replace("grey", "gray") for one in found}
    praise = f"|{_PRAISE}" if _SURFACES.get(name, {}).get(low) == _WELL_RATED else ""
    # What prices say of whole amounts: "$152.00" for 152, "$64.50" for 64.5.
    cents = r"(?:\.00?)?" if low.isdigit() else "0?" if _TENTHS.fullmatch(low) else ""
    return re.compile(rf"(?<![\w'’])(?<!\d[.,])(?:{_alternatives(found | grey)}{praise}){cents}(?!\w)(?![.,:]\d)", re.IGNORECASE)


def find(text: str, slot: str, value: str, taken: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
    """The first place where a text shows a value and nothing else that was found, as (start, end); None where it doesn't."""
    places = list(taken)
    for match in pattern(slot, value).finditer(text):
        if not any(start < match.end() and match.start() < end for start, end in places):
            return match.span()
    return None


_COLOURS = """black white grey gray blue brown red green yellow pink purple violet olive maroon beige orange golden gold silver navy teal tan cream
khaki turquoise"""
_SHADES = "light dark bright dirty pale deep"
_ORDER = """first second third fourth fifth sixth seventh eighth ninth tenth last 1st 2nd 3rd 4th 5th 6th 7th 8th 9th 10th leftmost rightmost
left-most right-most frontmost topmost bottommost closest nearest furthest farthest"""
_PLACES = """left right middle center centre top bottom front back upper lower far left-hand right-hand rack racks wall walls shelf shelves table
tables closet closets cubby cubbies cubbyhole cubicle cubicles cabinet cabinets
cupboard carousel display floor mirror dresser compartment compartments hanger hangers
row rows section stand window door corner unit mannequin counter"""
_RELATIONS = "above below behind beside beneath under between next"
_KINDS = """blouse coat dress hat hoodie jacket jeans joggers shirt skirt shoes shoe suit sweater tank top trousers pants tshirt t-shirt tee vest
blazer sneakers sweatpants rug bed chair couch sofa lamp armchair bookcase"""
_LOOKS = """striped plaid spotted plain camo camouflage floral denim leather velvet knit canvas dotted leafy patterned sleeveless long-sleeved
short-sleeved hooded checkered multicolored multi-colored wooden metal"""

#: Several colours are one look: "black and white", "red, white and violet".
_COLOUR = rf"(?:(?:{_alternatives(_SHADES.split())})\s+)?(?:{_alternatives(_COLOURS.split())})"
_COLOURED = rf"{_COLOUR}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)(?:{_COLOUR})(?![\w'’-]))*"
_POINTING = rf"{_COLOURED}|{_alternatives(' '.join((_SHADES, _ORDER, _PLACES, _KINDS, _LOOKS)).split())}"
#: A mark that names an object: "<OBJ_3>", "OBJECT_3", "object id 12", "#12".
_MARKED = r"<\w*\d\w*>|\bobj(?:ect)?_\d+|\bobject\s+(?:id\s*:?\s*)?\d+|#\d+"
_RELATED = _alternatives(_RELATIONS.split())
_REFERENCES = re.compile(
    rf"(?P<mark>{_MARKED})|(?<![\w'’-])(?:(?P<relation>{_RELATED})|(?:{_POINTING})(?:(?:\s+|-)(?:{_POINTING})(?![\w'’-]))*)(?![\w'’-])", re.IGNORECASE
)
_REFERENCE = re.compile(rf"(?P<mark>{_MARKED})|(?<![\w'’-])(?:(?P<relation>{_RELATED})|{_POINTING})(?![\w'’-])", re.IGNORECASE)
_LAST_WORD = tuple(
    (slot, re.compile(rf"(?:.*[\s-])?(?:{_alternatives(words.split())})", re.IGNORECASE | re.DOTALL))
    for slot, words in (("place", _PLACES), ("order", _ORDER), ("thing", _KINDS))
)


class Pointing(NamedTuple):
    """Words that point at an object: their place, and what they say, by their last word: the "thing" ("brown hoodie") or its mark, its "look",
    "place" or "order", or a "relation" to another."""

    start: int
    end: int
    kind: str


def references(text: str, taken: Iterable[tuple[int, int]]) -> Iterator[Pointing]:
    """Where a text says which objects it is about, in order: marks with an id, and runs of words that point.

    Args:
        taken: places of values, which are none of it.
    """
    places = list(taken)

    def free(match: re.Match[str]) -> bool:
        return not any(start < match.end() and match.start() < end for start, end in places)

    for run in _REFERENCES.finditer(text):
        if free(run):
            yield Pointing(*run.span(), _kind_of(run))
        else:
            yield from (Pointing(*one.span(), _kind_of(one)) for one in _REFERENCE.finditer(text, run.start(), run.end()) if free(one))


def _kind_of(match: re.Match[str]) -> str:
    if match["mark"]:
        return "thing"
    return "relation" if match["relation"] else next((kind for kind, last in _LAST_WORD if last.fullmatch(match[0])), "look")
