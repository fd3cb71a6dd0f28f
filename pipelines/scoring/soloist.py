"""SOLOIST's form of turns (Peng et al., TACL 2021): delexicalised replies, which BLEU is computed on, and files of turns, which are read as gold.

A file SUITE/DOMAIN.SPLIT.soloist.json is an array of turns with `history`, `belief` (the state), `reply` (delexicalised), `name` (of the dialogue),
and `dp`, which marks out-of-domain turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.pipelines.scoring.predictions import read_document
from dialmill.schemas import STANDARD, Dialogue, Turn
from dialmill.schemas.dialogue import OOS, SlotValues

#: What the names of such files end in.
ENDING = ".soloist.json"
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
        domain = span.domain if span.domain in _VOCABULARY else (domains[0] if domains else span.domain)
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


def reply_of(item: Mapping[str, Any]) -> str:
    """The delexicalised reply of a turn, without its speaker."""
    return str(item["reply"]).removeprefix("system :").strip()


def is_out_of_domain(item: Mapping[str, Any]) -> bool:
    """Whether a turn is marked as out of domain."""
    return str(item.get("dp", "")).endswith("out_of_domain")


class SoloistGold(NamedTuple):
    """Dialogues by suite, and the delexicalised reply to each user turn, by dialogue id and number of the turn."""

    dialogues: dict[str, list[Dialogue]]
    replies: dict[tuple[str, int], str]


def read_gold(files: Sequence[Path], suites: Sequence[str] | None) -> SoloistGold:
    """Files of turns as dialogues.

    Args:
        files: SUITE/DOMAIN.SPLIT.soloist.json of one split.
        suites: the suites that folders are called after, None for any; in any other folder a file is of the standard suite.

    Raises:
        InputError: a file that isn't of this form.
    """
    made = SoloistGold({}, {})
    for path in files:
        suite = path.parent.name if suites is None or path.parent.name in (STANDARD, *suites) else STANDARD
        domain = path.name.split(".")[0]
        variants: dict[str, int] = {}
        for name, items in _sessions(read_document(path, "soloist")):
            variant = variants[name] = variants.get(name, -1) + 1
            dialogue = dialogue_of(items, name, suite, variant, tuple(domain.split("+")))
            made.dialogues.setdefault(suite, []).append(dialogue)
            for item in items:
                made.replies[dialogue.dialogue_id, len(item["history"]) - 1] = reply_of(item)
    return made


def _sessions(items: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """SOLOIST turns of one dialogue after another: a history that doesn't go on from the last one begins a new one."""
    session: list[Mapping[str, Any]] = []
    for item in items:
        before = session[-1] if session else None
        if before is not None and (item.get("name") != before.get("name") or item["history"][: len(before["history"])] != before["history"]):
            yield str(before.get("name", "")), session
            session = []
        session.append(item)
    if session:
        yield str(session[0].get("name", "")), session


def dialogue_of(items: Sequence[Mapping[str, Any]], name: str, suite: str, variant: int, domains: tuple[str, ...]) -> Dialogue:
    """The dialogue of SOLOIST turns. Its last system turn has the delexicalised reply, which is all the format has of it."""
    states = {len(item["history"]) - 1: state_of_belief(item["belief"], domains) for item in items}
    labels = {len(item["history"]) - 1: (OOS,) for item in items if is_out_of_domain(item)}
    lines = [*items[-1]["history"], items[-1]["reply"]]
    turns = []
    for number, line in enumerate(lines):
        speaker, _, text = line.partition(" : ")
        user = speaker.strip() == "user"
        turns.append(Turn(number, "user" if user else "system", text, state=states.get(number, ()), labels=labels.get(number, ())))
    source_id = name or f"session{variant}"
    return Dialogue(
        dialogue_id=f"{source_id}/{suite}/{variant}",
        source="soloist",
        source_id=source_id,
        suite=suite,
        variant=variant,
        domains=domains,
        turns=tuple(turns),
    )


def state_of_belief(belief: str, domains: Sequence[str]) -> tuple[SlotValues, ...]:
    """A belief state as SOLOIST writes it: "belief : slot = value ; slot = value", of several domains "domain slot = value ; ... | domain ..."."""
    text = belief.partition(" : ")[2].strip() if " : " in belief else belief.strip()
    if text in ("", "none"):
        return ()
    found = []
    single = len(domains) == 1 and "|" not in text
    for part in text.split("|"):
        domain, rest = (domains[0], part.strip()) if single else part.strip().partition(" ")[::2]
        if single and rest.startswith(f"{domain} "):
            rest = rest[len(domain) + 1 :]  # written out although there is one
        for item in rest.split(" ; "):
            slot, equals, value = item.partition(" = ")
            if equals:
                found.append(SlotValues(domain, slot.strip(), (value.strip(),)))
    return tuple(found)
