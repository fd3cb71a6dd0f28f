"""What an English user turn means: its acts as items, and the certificate over the source: its labels and the words around them must say all of it.

A turn is composed only where every word is a value, a word that the turn's own labels account for (``lexicons/en/composer_words.tsv``), or one that
says nothing. A word that nothing accounts for ("same", "instead", "if", a number without a label) is a meaning that no label has, and refuses it.
"""

from __future__ import annotations

import re

from dialmill.perturbers.core.surfaces import kind_of
from dialmill.perturbers.core.values import Located
from dialmill.perturbers.rewording.awaited import awaited, proposed
from dialmill.perturbers.rewording.composer.english_places import OWN, STAY, Place, place_of, words_for
from dialmill.perturbers.rewording.composer.english_source import beside_replies, beyond, failed, labelled, misplaced, offered_value, unaccounted
from dialmill.perturbers.rewording.composer.plan import Context, Item, Plan, Refusal
from dialmill.schemas import Act, Turn
from dialmill.schemas.dialogue import GUARDED

_NOT_NOW = frozenset(["now", "at", "today", "yet", "right", "this", "really"])

#: Acts -> the kind of item, for acts without a value. Names of MultiWOZ's and SGD's schemas.
_KINDS = {
    "thank": "thank",
    "thank you": "thank",
    "bye": "bye",
    "goodbye": "bye",
    "greet": "greet",
    "affirm": "right",
    "negate": "no",
    "affirm intent": "yes",
    "negate intent": "declineintent",
    "select": "select",
    "request alts": "alts",
}
_YES = frozenset(["yes", "yeah", "yep", "yup", "yea", "sure", "absolutely", "definitely", "ok", "okay"])
#: How an offer is accepted by a sentence rather than a yes.
_ACCEPTS = re.compile(
    r"(?:(?:okay|ok|great|oh|well|thanks|sure|i think|i guess|i believe) )*(?:that|it|this)(?: one| place| train)? "
    r"(?:(?:would|will|should|ll|d|might|could|can) (?:do|work|suit)\b"
    r"|(?:(?:would|will|should|ll|d|might) be|sounds?|works|is) (?:just |really |very |quite )?"
    r"(?:great|good|fine|perfect|wonderful|lovely|nice|excellent|awesome|amazing|fantastic|okay|ok|helpful|ideal|for me)\b)"
    r"|(?:sounds?|works) (?:great|good|fine|perfect|wonderful|lovely|nice|excellent|awesome|amazing|fantastic|okay|ok|for me)\b"
)
_SURE_YES = frozenset(["yes", "yeah", "yep", "yup", "yea", "absolutely", "definitely"])
_NO = frozenset(["no", "nope", "nah"])
_ACKS = frozenset(
    [
        "great",
        "ok",
        "okay",
        "perfect",
        "good",
        "wonderful",
        "awesome",
        "excellent",
        "lovely",
        "cool",
        "fine",
        "alright",
        "nice",
        "fantastic",
        "terrific",
        "sounds",
    ]
)
_THANKS = re.compile(r"\bthank|\bappreciate")
_END = re.compile(
    r"\b(?:that(?: ?'?s| is| was| will be| would be| ll be| shall be| should be| about covers| does| covers)? ?(?:all|it|everything)"
    r"|all (?:i need|for now|set)"
    r"|(?:everything|what) i need|nothing else|no\b|nope|nah|done)"
)
_ALL_SAID = re.compile(
    r"\bthat(?: s| is| was| will be| would be| ll be| shall be| should be| about covers| covers) (?:all|it|everything)\b|\bnothing else\b"
    r"|\b(?:all|everything)(?: of)?(?: the)?(?: help| info| information)? i need(?:ed)?\b|\b(?:i m|i am|im) (?:all set|(?:all )?done|finished)\b"
    r"|\b(?:do n t|don t|dont|do not) (?:need|have|require|want) any(?:thing)? (?:else|other|more|further)\b"
)
#: How goodbye is said; an act alone may stand for the end of a dialogue.
_GOODBYE = re.compile(r"\bbye\b|\bgoodbye\b|\bhave (?:a|an)\b|\benjoy\b|\btake care\b|\bsee you\b|\b(?:good|nice|great) (?:day|night|evening|one)\b")
#: A question on what was offered, and one that several offers are to answer.
_ON_OFFER = re.compile(
    r"(?:^|\b(?:and|but|ok|okay|great|yes|no|thanks|thank you|you|also|so|then|sure|well|tell me|know if|see if) )"
    r"(?:is|are|does|do|will|has|have) (?:it|that|this|they|these|those|either|any of|both|there (?:free )?(?:parking|wifi|internet|wi))\b"
    r"|\b(?:if|whether) (?:it|they|that) (?:is|has|have|had|are|also|offers?|includes?|serves?|does|do|got)\b"
)
_CHOSEN = re.compile(r"\b(?:the|that) one (?:that|which|at|in|with|on|leaving|arriving)\b|\b(?:first|second|last|other) one\b")
_PROVIDED = re.compile(r"\b(?:is|are) (?:there )?(?:any |the )?(?:free )?(?:internet|wifi|wi fi|parking)\b")
_WHICH = re.compile(r"\bwhich (?:one|of|ones)\b|\beither of\b|\b(?:all|any|both|some|one|each) of (?:them|those|these)\b|\bname of (?:the|that)\b")
_KNOW = re.compile(r"\b(?:know|tell me|see|wondering|check) (?:if|whether|which)\b|\bname of (?:the|that)\b")
#: Slots that a question on an offer can be about.
_CHECKED = frozenset({"internet", "parking", "area", "pricerange", "stars", "food"})
_BOOK = re.compile(
    r"\bget (?:me |us )?(?:a |the )?rooms?\b|\b(?:book|booking|reserve|reservation|reservations|table)\b"
    r"|\b(?:get|buy|purchase) (?:me |us )?(?:a |some |the )?(?:tickets?|seats?)\b"
)
_BOOKS = re.compile(r"\b(?:book|booking|reserve|reservation|buy|purchase)\b", re.IGNORECASE)
_UNBOOK = re.compile(
    r"(?:\bnot\b|\bn t\b|\bdont\b|\bwont\b|\bno need\b)[^.?!]{0,24}"
    r"\b(?:book|booking|reserve|reservation|ticket|tickets)\b|\bnot yet\b|\bnot (?:right )?now\b"
)
_PICK = re.compile(
    r"\b(?:pick|choose|select|recommend|suggest)\b(?: [a-z]+){0,2} (?:one|me)\b(?! (?:a|an|some|that|in|with|place|hotel|restaurant)\b)"
    r"|\byour (?:favou?rite|recommendation|choice|pick)\b|\bup to you\b|\bwhat (?:do|would) you (?:recommend|suggest)\b|\bsurprise me\b"
    r"|\bwhich (?:one )?(?:do|would) you\b"
)
#: A choice left to the system by who has no preference.
_ADVISE = re.compile(
    r"\b(?:make|give|have|any) (?:me )?(?:a )?(?:recommendations?|suggestions?)\b"
    r"|\b(?:can|could|would|do|just|please) (?:you )?(?:please )?(?:recommend|suggest|pick|choose)\b"
    r"|\b(?:one|which|that|what|whatever) you (?:would )?(?:recommend|suggest|pick|choose)\b"
)
#: Words of a facility's list that name none.
_AROUND = frozenset(["free", "with", "also", "includes", "include", "offers", "provides", "included", "including", "offer"])
_SAYS = frozenset({"request", "inform", "check"})
#: What asks for a slot whatever the acts say.
_UNMISTAKABLE = (
    ("ref", frozenset({"hotel", "restaurant", "train"}), re.compile(r"\b(?:reference|confirmation) (?:number|code)\b|\breference\b")),
    ("post", STAY, re.compile(r"\bpost ?code\b|\bzip ?code\b")),
    ("phone", STAY | {"taxi"}, re.compile(r"\b(?:phone|telephone|contact) number\b")),
    ("car", frozenset({"taxi"}), re.compile(r"\bcar type\b|\btype of car\b")),
    (
        "addr",
        STAY,
        re.compile(r"\baddress\b|\bwhere (?:exactly )?(?:is|are) (?:it|they|that|this)\b|\bwhere .{0,40}\blocated\b|\bhow (?:do|can) i get there\b"),
    ),
    ("type", frozenset({"attraction", "hotel"}), re.compile(r"\b(?:kind|type) of (?:attraction|place|hotel)s?\b|\b(?:attraction|hotel) type\b")),
    ("stars", frozenset({"hotel"}), re.compile(r"\bstar ratings?\b|\bstar of the\b|\bhow many stars\b")),
    ("leaveat", frozenset({"train"}), re.compile(r"\bdeparture (?:time|and (?:the )?(?:travel|arrival|journey))")),
    ("time", frozenset({"train"}), re.compile(r"\bhow long\b|\btravel times?\b|\bduration\b")),
    ("ticket", frozenset({"train"}), re.compile(r"\bhow much\b|\bprices?\b|\bcosts?\b|\bfare\b")),
    ("id", frozenset({"train"}), re.compile(r"\btrain id\b|\bid number\b|\btrainid\b")),
    ("fee", frozenset({"attraction"}), re.compile(r"\b(?:entrance|admission) fee\b")),
)
_FARE = re.compile(r"\bhow much\b|\bcosts?\b|\bfare\b|\btickets?\b")
_ONLY = re.compile(r"\b(?:just|only) (?:need|want|wanted|looking|like)\b")
#: "No preference", by its words.
_CARELESS = re.compile(
    r"\b(?:do|does|did) ?n t (?:really |particularly |actually )?(?:have|care|matter|mind)\b|\bno (?:particular |real )?preference\b"
)
#: Thanks for what was asked for before.
_THANKED = re.compile(r"\b(?:thanks|thank you|thankyou) (?:so much |very much )?for (?:the|that|your|this|giving)\b")
#: Kinds that say nothing of the task, and words of who asks for something nevertheless.
_CONTENTLESS = frozenset({"thank", "bye", "greet", "ack", "end", "yes", "no"})
_ASKS = re.compile(
    r"\b(?:can|could|may) (?:i|you|we)\b"
    r"|\b(?:address|number|recommend|suggest|find|give|send|tell|looking|search)\b"
    r"|\b(?:info|information) (?:on|of|about|for)\b"
)
_ONE_IN_MIND = re.compile(
    r"\b(?:a|one|this) (?:certain|particular|specific) (?:hotel|restaurant|attraction|place|museum|train|college|one|guest\s?house|park)\b"
)
_HINDERED = re.compile(r"\b(?:available|busy|can(?: ?not| n t| ?t)|unable|be late|too (?:late|early|far|expensive|much|soon))\b")
_TAKEN = re.compile(r"\binterested\b|\b(?:sounds?|looks?|seems?) (?:\w+ )?(?:good|great|nice|fine|perfect)\b|\bi (?:really )?like\b")
_ALSO_FINE = re.compile(r"\b(?:would|will|is|s) (?:also )?(?:be )?(?:also )?(?:fine|ok|okay|good|all right) (?:as well|too)\b")
_BOOKED = re.compile(r"\b(?:thank|thanks|thankyou|appreciate)\b(?: \w+){0,6} (?:booking|reserving)\b")
_TAGGED = re.compile(r"\b(?:right|correct)\s*\?|n't (?:it|they|that)\s*\?")
_GENERAL = frozenset({"thank", "bye", "greet"})


def plan(context: Context) -> Plan | Refusal:
    """What a turn says, or why its labels and words don't tell."""
    view, turn = context.view, context.view.turn
    labels = [label for label in turn.labels if label != GUARDED]
    if labels:
        return Refusal("labelled: " + labels[0])
    names = view.units.names
    text = " ".join(names)
    before = context.before
    if before is not None and "?" in before.utterance and _ONLY.search(text):
        return Refusal("unlabelled: just")  # "I just need their number" declines what was offered
    asked = _asked(before)
    read = _items(context, asked, text)
    if isinstance(read, Refusal):
        return read
    acts, used = read
    asks = before is not None and ("?" in before.utterance or any(act.act in ("reqmore", "req more", "req_more") for act in before.acts))
    offered = before is not None and any(
        act.act in ("recommend", "offer", "select", "offerbook", "offerbooked", "inform", "book") for act in before.acts
    )
    booked = before is not None and any(act.act in ("offerbooked", "book", "notify_success") for act in before.acts)
    said = _unlabelled(context, acts, names, text, asks, offered)
    if isinstance(said, Refusal):
        return said
    if not said:
        return Refusal("no_acts")
    settled = _settled(context, _recovered(context, said, used), text, offered)
    if isinstance(settled, Refusal):
        return settled
    if all(item.kind in _CONTENTLESS for item in settled) and _ASKS.search(text) and not _ALL_SAID.search(text):
        return Refusal("unlabelled: request")
    if any(item.kind == "request" for item in settled) and "?" not in turn.utterance and (_ALL_SAID.search(text) or _THANKED.search(text)):
        return Refusal("unlabelled: all")
    if not turn.acts and all(item.kind in _CONTENTLESS | {"right", "select"} for item in settled):
        # No label says that this is all: the words must.
        beside = beside_replies([item.kind for item in settled], names)
        if beside is not None:
            return Refusal(f"unlabelled: {beside}")
    unmeant = _unmeant(settled, names, text, turn.utterance)
    if unmeant is not None:
        return unmeant
    items = [_whole(context, item) for item in settled]
    problem = unaccounted(context, items, used) or misplaced(context, items) or beyond(context, items)
    return Refusal(problem) if problem else Plan(tuple(items), asked, offered, failed(before), booked)


def _unmeant(settled: list[Item], names: list[str], text: str, utterance: str) -> Refusal | None:
    """What the words say beside the labels that no clause says; None where nothing."""
    kinds = {item.kind for item in settled}
    if "check" not in kinds and _TAGGED.search(utterance):
        return Refusal("unlabelled: right")  # "That's a guesthouse, right?" asks, whatever else is asked for
    if _ONE_IN_MIND.search(text) and not any(item.slot.endswith("name") for item in settled):
        return Refusal("unlabelled: certain")  # one place that isn't named yet, and no look round
    if "instead" in names and "goal" in kinds:
        return Refusal("unlabelled: instead")
    if kinds & {"no", "declineintent"} and kinds <= _CONTENTLESS | {"declineintent"} and _HINDERED.search(text):
        return Refusal("unlabelled: why")  # a no with its reason
    if _ALSO_FINE.search(text):
        return Refusal("unlabelled: as well")  # what will do as well is no preference
    if "book" in kinds and _BOOKED.search(text):
        return Refusal("unlabelled: booked")  # thanks for what is booked already
    if "declinebook" in kinds and _TAKEN.search(text):
        return Refusal("unlabelled: liked")  # what isn't booked yet is liked all the same
    return None


def _asked(before: Turn | None) -> frozenset[str]:
    """The slots that a system turn asks for; MultiWOZ asks for a booking's in a domain of its own."""
    if before is None:
        return frozenset()
    return frozenset(act.slot.replace("_", " ") for act in before.acts if act.act == "request" and act.slot)


def _items(context: Context, asked: frozenset[str], text: str) -> tuple[list[Item], set[int]] | Refusal:
    """The acts as items, and which located values they show."""
    view, turn, before = context.view, context.view.turn, context.before
    acts = [act for act in turn.acts if act.act != "inform" or act.slot != "none"]
    derived = not acts
    if derived:
        acts = [
            Act("inform", cell.domain, cell.slot, value)
            for cell in turn.state
            for value in cell.values[:1]
            if (cell.domain, cell.slot, value) not in context.state
        ]
    items: list[Item] = []
    used: set[int] = set()
    for act in dict.fromkeys(acts):
        if _misread(act, acts, text):
            continue
        made = _item(context, act, used)
        if isinstance(made, Refusal):
            if made.reason.startswith("value_not_shown") and any(_same_value(act, other) for other in acts):
                continue  # one value labelled twice: its words tell which it is
            # A state that changes by what the system offered needs no act of the turn's own.
            if derived and offered_value(before, act.value or ""):
                continue
            return made
        if made.kind in ("inform", "dontcare", "request", "intent", "goal") or all(item.kind != made.kind for item in items):
            items.append(made)
    if derived and not items and asked and before is not None and any(signal.kind == "dontcare" for signal in view.signals):
        open_slots = [(act.domain, act.slot.replace("_", " ")) for act in before.acts if act.act == "request" and act.slot]
        items += [Item("dontcare", domain, slot) for domain, slot in open_slots if place_of(domain, slot)][:1]
    if items and before is not None and _CARELESS.search(text) and not any(item.kind == "dontcare" for item in items):
        told = {item.slot for item in items}
        open_slots = [(act.domain, act.slot.replace("_", " ")) for act in before.acts if act.act == "request" and act.slot]
        items += [Item("dontcare", domain, slot) for domain, slot in open_slots if slot not in told and place_of(domain, slot)][:1]
    return items, used


def _misread(act: Act, acts: list[Act], text: str) -> bool:
    """Whether a request is none: what tells of a value beside it was labelled as a question of another domain ("price range", "area")."""
    if act.act != "request" or act.slot not in ("ticket", "area"):
        return False
    told = "pricerange" if act.slot == "ticket" else "area"
    if act.slot == "ticket" and _FARE.search(text):
        return False
    return any(other.act == "inform" and other.slot == told and other.domain != act.domain for other in acts)


def _same_value(one: Act, other: Act) -> bool:
    """Whether two acts give one time to leaving and to arriving, or a name in two forms."""
    if one is other or one.domain != other.domain:
        return False
    return (one.value == other.value and {one.slot, other.slot} == {"leaveat", "arriveby"}) or one.slot == other.slot == "name"


def _item(context: Context, act: Act, used: set[int]) -> Item | Refusal:
    """An act as an item; the located value that it shows is added to `used`."""
    name, slot, value = act.act.replace("_", " "), (act.slot or "").replace("_", " "), act.value or ""
    if name == "inform intent":
        if value.lower().startswith(("find", "search", "lookup", "get")) and _BOOKS.search(context.view.turn.utterance):
            return Refusal("unlabelled: book")  # who asks to book asks for more than a search
        return Item("goal", act.domain, "", value)
    if name in _KINDS:
        kind = _KINDS[name]
        if kind == "right" and (context.before is None or all(other.act != "confirm" for other in context.before.acts)):
            kind = "yes"
        return Item(kind, act.domain)
    if name == "request" and slot:
        return Item("request", act.domain, slot) if place_of(act.domain, slot, True) else Refusal(f"no_clause: {slot}")
    if name == "inform" and not slot:
        return Item("intent", act.domain)
    if name == "inform":
        place = place_of(act.domain, slot)
        return Refusal(f"no_clause: {slot}") if place is None else _informed(context, act, slot, value, place, used)
    return Refusal(f"act: {name}")


def _informed(context: Context, act: Act, slot: str, value: str, place: Place, used: set[int]) -> Item | Refusal:
    view = context.view
    kind = kind_of(act.slot or "", value)
    if kind == "dontcare":
        if not any(signal.kind in ("dontcare", "negation") for signal in view.signals):
            return Refusal("dontcare_unsaid")
        for number, found in enumerate(view.located):
            if found.slot == act.slot and found.value == act.value:
                used.add(number)
        return Item("dontcare", act.domain, slot)
    low = value.lower()
    if kind.startswith("boolean") or low in ("true", "false", "yes", "no", "free"):
        names = view.units.names
        words = words_for().get(f"slot:{place.name}")
        if words is None or words.isdisjoint(names):
            return Refusal("value_not_shown")
        told = {"false": "no"}.get(low, low)
        if told in ("yes", "free") and "free" in names:
            told = "free"
        for number, found in enumerate(view.located):
            if found.slot == act.slot and found.how == "boolean":
                used.add(number)
        return Item("inform", act.domain, slot, told)
    best: int | None = None
    for number, found in enumerate(view.located):
        if number not in used and found.value.lower() == low and (best is None or (found.domain == act.domain and found.slot == act.slot)):
            best = number
            if found.domain == act.domain and found.slot == act.slot:
                break
    if best is None:
        return Refusal(f"value_not_shown: {slot}={value}")
    used.add(best)
    found = view.located[best]
    return Item("inform", act.domain, slot, value, found.start, found.end)


def _unlabelled(context: Context, items: list[Item], names: list[str], text: str, asks: bool, offered: bool) -> list[Item] | Refusal:
    """The items with what the words say beside the acts: yes and no, a booking asked for or put off, a choice left to the system, thanks."""
    kinds = {item.kind for item in items}
    content = any(item.kind not in _GENERAL for item in items)
    if _THANKS.search(text) and "thank" not in kinds:
        items = [*items, Item("thank")]
    if "bye" not in kinds and ("goodbye" in names or "bye" in names):
        items = [*items, Item("bye")]
    elif "bye" in kinds and not _GOODBYE.search(text) and (len(kinds) > 1 or _THANKS.search(text) or _END.search(text)):
        items = [item for item in items if item.kind != "bye"]
        kinds.discard("bye")
        if _END.search(text) and not content and not any(item.kind in ("no", "declineintent") for item in items):
            items = [*items, Item("end")]
    reply = _reply(context, items, names, asks)
    if isinstance(reply, Refusal):
        return reply
    made = [*reply, *items]
    if not content and _ALL_SAID.search(text) and not any(item.kind == "end" for item in made):
        made = [*(item for item in made if item.kind not in ("no", "ack", "yes")), Item("end")]
    elif _ends(kinds, content, text) and not any(item.kind == "end" or (item.kind == "no" and not content) for item in made):
        made.append(Item("end"))
    if not any("_" in item.domain or item.kind in ("goal", "right", "select", "alts", "declineintent") for item in items):
        booked = _booking_words(context, items, made, text, offered)
        if isinstance(booked, Refusal):
            return booked
        made = booked
    careless = any(item.kind == "dontcare" for item in made) or not any(item.kind in ("inform", "goal", "intent") for item in made)
    if not context.first and ((_PICK.search(text) and offered) or (careless and _ADVISE.search(text))):
        made.append(Item("recommend"))
    return made


def _ends(kinds: set[str], content: bool, text: str) -> bool:
    """Whether a turn of thanks, or one that decides on an offer, says that this is all."""
    if content:
        return bool(kinds & {"declineintent", "select"}) and _ALL_SAID.search(text) is not None
    return bool(kinds & {"thank", "bye"}) and _END.search(text) is not None


def _settled(context: Context, items: list[Item], text: str, offered: bool) -> list[Item] | Refusal:
    """The items as the dialogue so far has them meant: a domain spoken of before is booked or asked about, and what was offered is asked about."""
    before = context.before
    made: list[Item] = []
    for item in items:
        if item.kind != "intent" or any(other.domain == item.domain and other.kind in ("inform", "dontcare") for other in items):
            made.append(item)
            continue
        known = any(cell[0] == item.domain for cell in context.state) or (
            before is not None and any(act.domain == item.domain for act in before.acts)
        )
        if not known:
            made.append(item)
        elif _BOOK.search(text) and not any(other.kind == "request" for other in items):
            made.append(Item("book", item.domain))
        elif not any(other.kind == "request" for other in items):
            return Refusal("unlabelled: intent")
    if before is None or not any(item.kind == "inform" for item in items):
        return made
    if _CHOSEN.search(text):
        return Refusal("unlabelled: the one")
    if "?" not in context.view.turn.utterance and _KNOW.search(text) is None:
        return made
    if _WHICH.search(text):
        return Refusal("unlabelled: which")
    if _ON_OFFER.search(text) or _PROVIDED.search(text):
        if not offered or any(item.kind in ("inform", "dontcare", "goal") and (item.kind != "inform" or item.slot not in _CHECKED) for item in made):
            return Refusal("unlabelled: question")
        checked = {(item.domain, item.slot) for item in made if item.kind == "inform"}
        made = [item for item in made if item.kind != "request" or (item.domain, item.slot) not in checked]
        return [item._replace(kind="check") if item.kind == "inform" else item for item in made]
    return made


def _reply(context: Context, items: list[Item], names: list[str], asks: bool) -> list[Item] | Refusal:
    """What the first word answers: yes, no, the end of it all, or an acknowledgement."""
    kinds = {item.kind for item in items}
    content = any(item.kind not in _GENERAL for item in items)
    first = names[0] if names else ""
    refuses = first in _NO or (first == "not" and len(names) > 1 and names[1] in _NOT_NOW)
    if refuses and not kinds & {"no", "declineintent"}:
        if kinds & {"thank", "bye"} and not content and not _offers_booking(context):
            return [Item("end")]
        if context.before is None:
            return Refusal("unlabelled: no")
        if not kinds and not labelled(context.before) and awaited(context.before.utterance) == "more":
            return [Item("end")]  # "Anything else?" "No."
        return [] if "dontcare" in kinds else [Item("no")]
    if kinds & {"yes", "right", "select"}:
        return []
    if not refuses and context.before is not None and _ACCEPTS.match(" ".join(names)):
        return [Item(_agreement(context, "select") if asks else "ack")]
    if asks and first not in _YES and not _SURE_YES.isdisjoint(names[1:4]):
        return [Item(_agreement(context))]
    if first in _YES:
        return [Item(_agreement(context) if first in _SURE_YES or (asks and not content) else "ack")]
    return [Item("ack")] if first in _ACKS and context.before is not None else []


def _agreement(context: Context, other: str = "yes") -> str:
    """What a yes is where no label of the system turn before tells: a "right" to what was repeated; `other` where nothing was offered either."""
    before = context.before
    if before is None or labelled(before):
        return "yes"
    kind = proposed(before.utterance)
    return "right" if kind == "check" else "yes" if kind == "offer" else other


def _booking_words(context: Context, items: list[Item], made: list[Item], text: str, offered: bool) -> list[Item] | Refusal:
    """What the words say of a booking where no act does."""
    kinds = {item.kind for item in items}
    booking = any(item.slot.startswith("book ") for item in items)
    known = {cell[0] for cell in context.state}
    fresh = any(item.kind == "inform" and item.slot != "name" and item.domain not in known for item in items)
    if _UNBOOK.search(text):
        if booking or fresh or context.before is None or "dontcare" in kinds:
            return Refusal("unlabelled: not booked")
        return [*(item for item in made if item.kind not in ("no", "yes")), Item("declinebook", _domain_of(context, items))]
    named = any(item.kind == "inform" and item.slot == "name" and item.domain in STAY for item in items)
    # "X sounds good, will you book it?" may be labelled as a search for X: what is meant is the booking.
    if _BOOK.search(text) and not booking and not fresh and (named or (offered and "intent" not in kinds)):
        domain = _domain_of(context, items)
        if not domain or any(item.kind == "inform" and item.slot != "name" for item in items):
            return Refusal("unlabelled: book")
        return [*(item for item in made if item.kind != "intent"), Item("book", domain)]
    return made


def _offers_booking(context: Context) -> bool:
    """Whether the system turn before offers to book rather than anything else."""
    before = context.before
    if before is None or any(act.act in ("reqmore", "req_more") for act in before.acts):
        return False
    return any(act.act in ("offerbook", "offer_intent") for act in before.acts) or (
        "?" in before.utterance and _BOOK.search(before.utterance.lower().rpartition(".")[2]) is not None
    )


def _recovered(context: Context, items: list[Item], used: set[int]) -> list[Item]:
    """The items with what the text shows and no act says: what came into the state, the kind of place looked for, what is asked about."""
    told = {(item.domain, item.slot) for item in items if item.kind == "inform"}
    cells = {
        (cell.domain, cell.slot, value)
        for cell in context.view.turn.state
        for value in cell.values
        if not any((cell.domain, cell.slot, other) in context.state for other in cell.values)
    }
    made = list(items)
    searches = {item.domain for item in items if item.kind == "inform" and not item.slot.startswith("book ")} | {
        item.domain for item in items if item.kind == "intent"
    }
    asks = {item.domain for item in items if item.kind == "request"}
    talked = {item.domain for item in items if item.kind == "inform"}
    for number, located in enumerate(context.view.located):
        slot = located.slot.replace("_", " ")
        if (
            context.view.turn.utterance[located.start : located.end].lower() == "one"
            or number in used
            or (located.domain, slot) in told
            or located.how in ("dontcare", "boolean")
            or located.value == "dontcare"
            or place_of(located.domain, slot) is None
        ):
            continue
        if (located.domain, located.slot, located.value) in cells or (
            slot == "type" and located.domain in searches and located.domain == "hotel" and _before(context, located) not in _SPOKEN
        ):
            kind = "inform"
        elif _subject(context, located, asks, talked):
            kind = "about"
        elif located.domain in talked and located.domain in OWN and not located.ambiguous and slot != "name":
            kind = "inform"
        elif slot in ("departure", "destination") and len(searches) == 1 and searches & STAY and _before(context, located) in _INSIDE:
            kind = "town"
        else:
            continue
        used.add(number)
        told.add((located.domain, slot))
        made.append(Item(kind, located.domain, slot, located.value, located.start, located.end))
    # "The address of the hotel": what is asked about, though a label calls it a wish.
    made = [
        item._replace(kind="about")
        if item.kind == "inform" and item.slot == "type" and item.domain in asks and item.shown and _word_before(context, item.start) in _SPOKEN
        else item
        for item in made
    ]
    made += _town(context, made, searches)
    names = context.view.units.names
    silent = any(signal.kind in ("dontcare", "negation") for signal in context.view.signals)
    facilities = [("hotel", slot) for slot in ("internet", "parking")] if "hotel" in searches else []
    for domain, slot in facilities:
        if not any(item.slot == slot for item in made):
            cues = words_for()[f"slot:{slot}"] - _AROUND - {"space", "lot", "car", "connection"}
            if not cues.isdisjoint(names) and not silent:
                made.append(Item("inform", domain, slot, "free" if "free" in names else "yes"))
    domain = _domain_of(context, items)
    text = " ".join(names)
    for slot, domains, phrase in _UNMISTAKABLE:
        if domain in domains and phrase.search(text) and not any(item.kind in _SAYS and item.slot == slot for item in made):
            made.append(Item("request", domain, slot))
    return made


def _town(context: Context, items: list[Item], searches: set[str]) -> list[Item]:
    """The town that a place is looked for in, where no label says it."""
    names, bounds = context.view.units.names, context.view.units.bounds
    stays = searches & STAY
    if len(stays) != 1 or any(item.kind == "town" for item in items):
        return []
    for place, name in enumerate(names):
        start, end = bounds[place]
        if name == "cambridge" and place and names[place - 1] in _INSIDE and not any(item.start < end and start < item.end for item in items):
            return [Item("town", next(iter(stays)), "town", name, start, end)]
    return []


#: Words before a town that a place is looked for in.
_INSIDE = frozenset(["in", "around", "of", "near", "within", "to", "visiting", "visit"])


#: Words before what was spoken of already.
_SPOKEN = frozenset(["the", "that", "this", "my", "our"])


def _whole(context: Context, item: Item) -> Item:
    """An item whose name is a part of a longer one, with all of it: "The Kohinoor" around a span of "Kohinoor"."""
    if item.shown and item.slot == "name":
        for start, end in context.view.hidden:
            if start < item.end and item.start < end:
                item = item._replace(start=min(start, item.start), end=max(end, item.end))
    return item


def _subject(context: Context, located: Located, asks: set[str], talked: set[str]) -> bool:
    """Whether a value names what the turn asks about: a name, or "the hotel"."""
    if located.slot == "name":
        return located.domain in asks and located.domain in OWN
    return located.slot == "type" and located.domain in asks | talked and _before(context, located) in ("the", "that", "this")


def _before(context: Context, located: Located) -> str:
    """The word before a value."""
    return _word_before(context, located.start)


def _word_before(context: Context, start: int) -> str:
    """The word before a place."""
    names = [name for name, (_, end) in zip(context.view.units.names, context.view.units.bounds, strict=True) if end <= start]
    return names[-1] if names else ""


def _domain_of(context: Context, items: list[Item]) -> str:
    """The one domain that a turn, or else the system turn before it, is about; "" where there is none or several."""
    found = {item.domain for item in items if item.domain in OWN}
    if not found and context.before is not None:
        found = {act.domain for act in context.before.acts if act.domain in OWN}
    return found.pop() if len(found) == 1 else ""
