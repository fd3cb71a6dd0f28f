"""What English turns ask for, by keywords of our own: an independent look at whether a reworded turn still asks for it."""

from __future__ import annotations

import re

from dialmill.schemas import Turn

#: Requested slot -> words of which one says so.
_ASKED = {
    "post": "post|zip",
    "phone": "phone|number|call|dial|ring|contact|reach",
    "addr": "address|street|where|located|location",
    "ref": "reference|ref\\b|confirmation|number",
    "fee": "fee|entrance|admission|cost|charge|enter|entry|pay|get in|getting in|price|much",
    "area": "area|part|where|side",
    "pricerange": "pric|cost|much|expensive|cheap|rates",
    "time": "long|time|duration|minutes|last",
    "ticket": "pric|cost|much|fare|pay|charg|ticket|total",
    "id": "\\bid\\b|number|trainid|which train",
    "leaveat": "leav|depart|when|time",
    "arriveby": "arriv|get in|when|due|there|time",
    "car": "car|type|color|model",
    "type": "type|kind|sort|what",
    "food": "food|cuisine|serve|cook|kind|type",
    "stars": "star|rat",
    "internet": "wifi|internet|online|wi",
    "parking": "parking|park\\b|car",
    "street_address": "address|street|where|located|location",
    "address_of_location": "address|street|where|located|location|venue",
    "address": "address|street|where|located|location",
    "phone_number": "phone|number|call|dial|ring|contact|reach",
    "price_per_night": "price|cost|much|charge|rate|night",
    "smoking_allowed": "smok",
    "rating": "rat|review",
    "has_vegetarian_options": "veg",
    "has_seating_outdoors": "outdoor|outside",
    "category": "food|kind|type|cuisine|sort|categor|serve",
    "subcategory": "kind|type|more|info|detail|sort|about|what|genre",
    "genre": "genre|kind|type|sort",
    "year": "year|when|come out|release",
}
#: Intent -> words of which one says so.
_WANTED = {
    "FindEvents": "event|concert|game|match|show|something|activit|thing",
    "BuyEventTickets": "ticket|seat|book|buy|reserv|purchase",
    "SearchHotel": "hotel|stay|room|lodging|accommodation|somewhere",
    "ReserveHotel": "book|reserv|room",
    "ReserveRestaurant": "book|reserv|table|restaurant|place",
    "LookupMusic": "song|music|listen|tune|track",
    "PlayMedia": "play|song|listen|music|cast|put|hear",
}
_FACILITIES = frozenset({"internet", "parking"})


def told(turn: Turn) -> list[str]:
    """The requests, intents and facilities of a turn's acts that its words show, as patterns of keywords."""
    found = []
    for act in turn.acts:
        if act.act.lower() == "request" or (act.act == "inform" and act.slot in _FACILITIES):
            pattern = _ASKED.get(act.slot or "")
        else:
            pattern = _WANTED.get(act.value or "") if act.act == "inform_intent" else None
        if pattern and re.search(pattern, turn.utterance.lower()):
            found.append(pattern)
    return found


def lost(before: Turn, after: Turn) -> list[str]:
    """What a turn's words show and its variant's don't."""
    return [pattern for pattern in told(before) if not re.search(pattern, after.utterance.lower())]
