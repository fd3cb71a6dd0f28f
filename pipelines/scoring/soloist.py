"""SOLOIST's form of turns (Peng et al., TACL 2021): delexicalised replies, which its release holds and BLEU is computed on."""

from __future__ import annotations

from dialmill.schemas import Turn

#: The suites of RADDLE besides the standard one, which its release has as folders.
SUITES = ("paraphrase", "verbosity", "simplification", "typos", "speech", "unseen", "ood")
DOMAINS = ("attraction", "hotel", "restaurant", "train")

#: Slot (as the state or the acts name it) -> the part after the domain in SOLOIST's token.
_DOMAIN_TOKENS = {
    "name": "name",
    "addr": "address",
    "address": "address",
    "area": "area",
    "phone": "phone",
    "post": "postcode",
    "postcode": "postcode",
    "pricerange": "pricerange",
    "price": "pricerange",
    "fee": "pricerange",
    "ref": "reference",
    "reference": "reference",
    "food": "food",
    "id": "trainid",
    "trainid": "trainid",
    "ticket": "price",
}
#: The tokens of each domain that SOLOIST's vocabulary has; what it lacks stays as text.
_VOCABULARY = {
    "attraction": {"address", "area", "name", "phone", "postcode", "pricerange", "reference"},
    "hotel": {"address", "area", "name", "phone", "postcode", "pricerange", "reference"},
    "restaurant": {"address", "area", "food", "name", "phone", "postcode", "pricerange", "reference"},
    "train": {"price", "reference", "trainid"},
}
_VALUE_TOKENS = {
    "choice": "count",
    "stars": "count",
    "people": "count",
    "book people": "count",
    "stay": "count",
    "book stay": "count",
    "day": "day",
    "book day": "day",
    "departure": "place",
    "destination": "place",
    "leaveat": "time",
    "arriveby": "time",
    "time": "time",
    "book time": "time",
    "duration": "time",
    "open": "time",
}


def delexicalised(turn: Turn, domains: tuple[str, ...]) -> str:
    """A system utterance with its spans replaced by SOLOIST's special tokens, in lower case."""
    parts: list[str] = []
    reached = 0
    for span in sorted((span for span in turn.spans if span.start is not None), key=lambda span: (span.start or 0, -(span.end or 0))):
        start, end = span.start or 0, span.end or 0
        domain = span.domain if span.domain in DOMAINS else (domains[0] if domains else span.domain)
        if _DOMAIN_TOKENS.get(span.slot) in _VOCABULARY.get(domain, ()):
            token = f"[{domain}_{_DOMAIN_TOKENS[span.slot]}]"
        elif span.slot in _VALUE_TOKENS:
            token = f"[value_{_VALUE_TOKENS[span.slot]}]"
        else:
            continue
        if start < reached:
            continue
        parts += [turn.utterance[reached:start].lower(), token]
        reached = end
    parts.append(turn.utterance[reached:].lower())
    return one_line("".join(parts))


def one_line(text: str) -> str:
    """Blanks and line ends collapsed: SOLOIST reads a turn as one line."""
    return " ".join(text.split())
