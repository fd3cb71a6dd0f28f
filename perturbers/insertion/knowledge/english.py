"""English questions and answers: titles as users would say them, questions inside other sentences, references, answers from bodies.

A wording is kept in one plain form, in which the place is "they", "their" and "there"; `refer` puts in what it is called.
"""

from __future__ import annotations

import re
from functools import lru_cache

from dialmill.perturbers.core.lexicon import alternatives, rows, words
from dialmill.perturbers.core.rng import Rng

_GREETING = re.compile(
    r"^(?:(?:hello|hi|hey|good (?:day|morning|evening)|excuse me)\b[\s,.!]*|(?:i(?: was|'m| am) (?:just )?wondering|can you tell me|"
    r"could you tell me|do you know|i(?:'d| would) like to know|please tell me)[\s,]*(?:if\b|whether\b)?\s*)+",
    re.IGNORECASE,
)
_PLACES = (
    r"(?:this|that|the|your) (?:site|location|locations|property|place|hotel|restaurant|establishment|guest ?house|venue|facility|attraction|inn|"
    r"b&b|museum|park|cafe|bar|business)"
)
_PRESENT = {"offers": "offer", "has": "have", "does": "do", "is": "are", "provides": "provide", "serves": "serve", "accepts": "accept"}
_MODAL = r"can|could|may|might|will|would|should|must|shall"
_PRONOUN = r"i|we|they|it|he|she|you|one|people|guests|somebody|someone|anybody|anyone|customers|visitors|that"
#: First parts of nouns of two words.
_COMPOUND = r"(?:[\w-]+ (?=(?:tickets?|pass|desk|cards?|spots?|spaces?|pools?|rooms?|services?|options|facilities|station)\b))?"
_SUBJECT = rf"(?:{_PRONOUN}|(?:my|our|the|a|an|their|his|her|your) {_COMPOUND}[^\W\d][\w'-]*(?: (?:and|or) [\w-]+)?)"
_PREDICATES = words(
    "available allowed permitted accepted okay ok fine welcome included required necessary possible served offered provided free wheelchair "
    "part loud noisy always air heated without cleaned halal kosher cheaper open safe easy good right all private public secure by understood "
    "on something anything anywhere like located called for made done going collected due not reached covered extra long far romantic quiet "
    "picked accessible friendly somebody someone a an one tolls warm"
)
#: What says nothing of a question's subject.
FUNCTION_WORDS = words(
    "a an the is are am was be been do does did done can could may might will would should shall must have has had i you he she it we they me him us "
    "them my your his her its our their this that these those there here of to for in on at with by from as and or but if so not no yes what which "
    "when where who how any some anything also please first just know tell check let want like need"
)
_ARTICLES = words("the a an their my our his her your")
_WH = (
    r"(?:what|which|where|when|how|who)"
    r"(?: (?:time|much|many|late|early|often|old|long|far|noisy|expensive|(?:kind|type|sort)s? of [\w-]+|[\w-]+s))?"
)
_EITHER = re.compile(rf", or (?:do|is|are|{_MODAL})\b| or (?:just|only|is)\b", re.IGNORECASE)
_YES_NO = re.compile(rf"^(?:do|does|did|is|are|was|were|has|have|{_MODAL})\b", re.IGNORECASE)


def is_yes_no(question: str) -> bool:
    """Whether a question (its last sentence) is answered by yes or no; one that offers two things is not."""
    asked = split(question)[1]
    return _YES_NO.match(asked) is not None and _EITHER.search(asked) is None


def split(question: str) -> tuple[str, str]:
    """(the sentences before, the question itself) of a wording of one sentence or more."""
    parts = re.split(r"(?<=[.!]) +", question.strip())
    return " ".join(parts[:-1]), parts[-1]


#: "Are there" before a single thing, as titles of DSTC9 have it.
_ARE_THERE = re.compile(
    r"^are there (?:any )?(?=(?:[\w/-]+ ){0,4}?(?:service|spa|pool|gym|restaurant|bar|lift|elevator|bed|kitchen|safe|parking|center|wi-?fi|laundry)"
    r"(?: (?:available|at|in|on|there|near|for|offered|onsite)\b|\W*$))",
    re.IGNORECASE,
)


def content(text: str) -> frozenset[str]:
    """The words of a text in lower case without function words, as a set."""
    return frozenset(re.findall(r"\w+", text.lower())) - FUNCTION_WORDS


def canonical(title: str, name: str | None) -> str:
    """A title in the plain form: "Does Elm House offer parking?" becomes "Do they offer parking?"."""
    text = _GREETING.sub("", " ".join(title.split()).strip()).strip()
    text = re.sub(r"^dose\b", "Does", text, flags=re.IGNORECASE)
    for pattern in _name_patterns(name or ""):
        text, own = re.subn(rf"\b(?:the )?{pattern}(?:'s|’s)(?!\w)", "their", text, count=1, flags=re.IGNORECASE)
        text, number = re.subn(rf"\b(?:the )?{pattern}(?!\w)", "THEPLACE", text, count=1, flags=re.IGNORECASE)
        if own or number:
            break
    text = _ARE_THERE.sub("Is there any ", text)
    text = re.sub(_PLACES, "THEPLACE", text, flags=re.IGNORECASE)
    text = re.sub(r"^does it\b", "Do they", text, flags=re.IGNORECASE)
    text = re.sub(r"^(?:does|do) THEPLACE\b", "Do they", text, flags=re.IGNORECASE)
    text = re.sub(r"^is THEPLACE (?=a |an |\w+ )", "Are they ", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:at|in|of|on|to|into|with|within|from|near|nearby|around|inside) THEPLACE\b", "there", text)
    text = re.sub(r"\bfor THEPLACE\b|\bof THEPLACE\b", "there", text)
    text = re.sub(r"\b(?:at|(?<!check[ -])in) (?:here|there)\b|\bhere\b", "there", text, flags=re.IGNORECASE)
    text = re.sub(r"\bTHEPLACE(?= (?:\w+s)\b)", "they", text)
    text = re.sub(r"(?:\bthe )?THEPLACE", "they", text)
    text = re.sub(r"\bdo you guys\b|\bdo you all\b", "do they", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(are|can|will|do|could|would|should) you\b", r"\1 they", text, flags=re.IGNORECASE)
    text = re.sub(r"\byou guys\b|\byou\b", "they", text, flags=re.IGNORECASE)
    text = re.sub(r"\byour\b", "their", text, flags=re.IGNORECASE)
    text = re.sub(r"\bthey (\w+)\b", lambda match: "they " + _PRESENT.get(match[1], match[1]), text)
    text = re.sub(r"\bdoes they\b", "do they", re.sub(r"\bthere there\b", "there", text), flags=re.IGNORECASE)
    text = text.strip().rstrip(" .?!")
    return (text[:1].upper() + text[1:] + "?") if text else ""


def nameless(title: str, name: str) -> str:
    """A title with "it" for the name, and for "your bed and breakfast"."""
    title = re.sub(r"\b(?:the|your|this) bed (?:and|&) breakfast\b", "it", title.replace("’", "'"), flags=re.IGNORECASE)
    for pattern in _name_patterns(name):
        text, number = re.subn(rf"\b(?:the )?{pattern}(?!\w)", "it", title, flags=re.IGNORECASE)
        if number:
            return text
    return title


#: What names begin with and titles use for any place.
_KINDS = frozenset({"restaurant", "hotel", "house", "museum", "cafe", "pizza", "cambridge", "city", "guest"})


@lru_cache(maxsize=4096)
def _name_patterns(name: str) -> tuple[str, ...]:
    """A name as titles write it, the longest form first: whole, without the last words, with "and" as "&"."""
    words = re.findall(r"[^\s]+", name)
    if len(words) > 1 and words[0].lower() == "the":
        words = words[1:]
    found = []
    for count in range(len(words), 0, -1):
        if count < len(words) and count == 1 and (len(words[0]) < 5 or words[0].lower() in _KINDS):
            break
        found.append(r"[ -]+".join(re.escape(word) for word in words[:count]))
    return tuple(found)


#: Questions that make no clause: two in one, and those that stand in another sentence already.
_NO_CLAUSE = re.compile(
    rf"(?:,|\bor) (?:or|do|does|is|are|first|so|{_MODAL})\b|^any\b|"
    r"^(?:can|could|would|do|will) you (?:\w+ )?(?:know|tell|check|let|happen|confirm|find)\b",
    re.IGNORECASE,
)


def embedded(question: str) -> str | None:
    """A question as a clause ("Do they have wifi?": "if they have wifi"), None where the rules don't tell its parts."""
    text = question.strip().rstrip("?").strip()
    low = text[:1].lower() + text[1:]
    return None if _NO_CLAUSE.search(low) else _whether(low) or _wh_clause(low)


def _whether(low: str) -> str | None:
    """The clause of a question that is answered by yes or no."""
    if match := re.fullmatch(rf"do(?:es)? ({_SUBJECT}) (.+)", low, re.IGNORECASE):
        return f"if {_subject(match[1])} {_third(match[1], match[2])}"
    if match := re.fullmatch(r"(is|are|will|would) there (be )?(.+)", low):
        return f"if there {match[1]} {match[2] or ''}{match[3]}"
    if match := re.fullmatch(rf"({_MODAL}) ({_SUBJECT}) (.+)", low, re.IGNORECASE):
        return f"if {_subject(match[2])} {match[1].lower()} {match[3]}"
    if match := re.fullmatch(rf"(is|are|am) ({_PRONOUN}) (.+)", low, re.IGNORECASE):
        return f"if {_subject(match[2])} {match[1].lower()} {match[3]}"
    if match := re.fullmatch(r"(is|are) (.+)", low):
        words = match[2].split()
        for place in range(1, len(words)):
            if words[place].lower() in _PREDICATES:
                return f"if {' '.join(words[:place])} {match[1]} {' '.join(words[place:])}"
    return None


def _wh_clause(low: str) -> str | None:
    """The clause of a question that begins with a word such as "what"."""
    if match := re.fullmatch(
        rf"((?:(?:from|by|at|until|for) )?{_WH}(?: is it)?) (do|does|{_MODAL}|is|are|am) ({_SUBJECT})(?: (.*))?", low, re.IGNORECASE
    ):
        aux, subject, rest = match[2].lower(), match[3], match[4] or ""
        if aux == "do":
            return f"{match[1]} {_subject(subject)} {rest}".strip()
        if aux == "does":
            verb, _, more = rest.partition(" ")
            return f"{match[1]} {_subject(subject)} {_singular(verb)} {more}".strip()
        if aux in ("is", "are", "am"):
            return _copula_last(match[1], subject, aux, rest)
        return f"{match[1]} {_subject(subject)} {aux} {rest}".strip()
    if match := re.fullmatch(r"((?:what|when|where|how much|how)) (is|are) ((?:the |a |an |their |check|breakfast|parking)[\w -]*?)( there)?", low):
        return f"{match[1]} {match[3]} {match[2]}"
    if match := re.fullmatch(r"how much does (.+) cost( there)?", low):
        return f"how much {match[1]} costs{match[2] or ''}"
    if match := re.fullmatch(r"what does (.+) cost( there)?", low):
        return f"what {match[1]} costs{match[2] or ''}"
    return None


def _copula_last(asked: str, subject: str, copula: str, rest: str) -> str:
    """ "what is the fee there" as "what the fee there is": the verb behind its subject, before what is said of it."""
    named = subject.split(" ")[0].lower() in _ARTICLES
    more = rest.split()
    end = 0 if not named else next((at for at, word in enumerate(more) if word.lower() in _PREDICATES or word == "there"), len(more))
    end = len(more) if not named and rest.startswith(("of ", "for ")) else end
    return " ".join([asked, _subject(subject), *more[:end], copula, *more[end:]])


def _subject(word: str) -> str:
    return "I" if word.lower() == "i" else word[:1].lower() + word[1:]


def _singular(verb: str) -> str:
    if verb in ("have", "do", "be"):
        return {"have": "has", "do": "does", "be": "is"}[verb]
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else verb + "s"


def _third(subject: str, rest: str) -> str:
    """The verb of "does it ..." in its own form."""
    if subject.lower() in ("i", "we", "they", "you", "people", "guests", "customers", "visitors") or re.search(
        r"s$| and |\bchildren$", subject.lower()
    ):
        return rest
    where, rest = ("there ", rest[6:]) if rest.startswith("there ") else ("", rest)
    verb, _, more = rest.partition(" ")
    return f"{where}{_singular(verb)} {more}".strip()


_BASE_AUX = re.compile(r"\b(do|are|can|could|will|would|should) they\b", re.IGNORECASE)
_SUBJECT_VERB = re.compile(r"\bthey (are|\w+)", re.IGNORECASE)
_THERE = re.compile(
    r"(?<!is )(?<!are )(?<!be )(?<!if )(?<!will )(?<!would )\bthere\b(?! ?['’]s\b)(?! (?:is|are|be|will|would|any|a|an|no|parking|wifi)\b)",
    re.IGNORECASE,
)
_NOT_VERBS = frozenset({"can", "could", "will", "would", "should", "may", "must", "might"})


def refer(text: str, noun: str) -> str:
    """A plain wording with the place called `noun` ("the hotel", "Elm House") where it is first spoken of; unchanged where it isn't."""
    match = _BASE_AUX.search(text)
    spoken = _THERE.search(text)
    if match and not (spoken and spoken.start() < match.start()):
        aux = {"do": "does", "are": "is"}.get(match[1].lower(), match[1].lower())
        aux = aux.capitalize() if match[1][0].isupper() else aux
        return text[: match.start()] + f"{aux} {noun}" + text[match.end() :]
    match = _SUBJECT_VERB.search(text)
    if match and not (spoken and spoken.start() < match.start()):
        verb = match[1]
        verb = "is" if verb == "are" else verb if verb.lower() in _NOT_VERBS else _singular(verb)
        return text[: match.start()] + f"{noun} {verb}" + text[match.end() :]
    if spoken:
        toward = re.search(r"\b(?:bring|take|come|go|walk|ride)\b", text[: spoken.start()]) is not None
        return text[: spoken.start()] + f"{'to' if toward and 'eat' not in text else 'at'} {noun}" + text[spoken.end() :]
    if re.search(r"\btheir\b", text) and noun.startswith(("the ", "this ", "that ")):
        return re.sub(r"\btheir\b", f"{noun}'s", text, count=1)
    return text


def place_in(text: str, noun: str, at: str) -> str:
    """A plain wording about a domain without places, a train say: "they" is `noun`, "there" is `at`."""
    said = _THERE.sub(at, text)
    if not re.search(r"\bthey\b", said, re.IGNORECASE):
        return said
    # "Do they have toilets on the train?": what is said of the train need not say where.
    inside = re.compile(rf" (?:on|in|at) (?:the|this|that) {re.escape(noun.split()[-1])}(?=\W*$)", re.IGNORECASE)
    return refer(inside.sub("", said), noun)


@lru_cache(maxsize=4)
def _rewordings(kind: str) -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """Phrases with all that may stand for each, the longest first."""
    found: dict[str, list[str]] = {}
    for row_kind, _, cell in rows("en", "knowledge"):
        if row_kind == kind:
            for pair in alternatives(cell):
                old, _, new = pair.partition("=")
                found.setdefault(old, []).append(new)
    longest = sorted(found, key=lambda old: (-len(old), old))
    return tuple((re.compile(rf"\b{re.escape(old)}\b", re.IGNORECASE), tuple(found[old])) for old in longest)


def reworded(text: str, rng: Rng) -> str:
    """A plain wording in which what is asked for, and a phrase around it, are mostly said otherwise."""
    for kind, often in (("word", 0.8), ("verb", 0.5)):
        for pattern, new in _rewordings(kind):
            match = pattern.search(text)
            if match:
                if rng.chance(often):
                    said = _article(text[: match.start()], rng.choice(new))
                    text = text[: match.start()] + (said[:1].upper() + said[1:] if match.start() == 0 else said) + text[match.end() :]
                break
    text = _THERE_IS.sub(lambda match: "Are there " if match[0][0] == "I" else "are there ", text)
    return re.sub(r"\ba (?=(?:elevator|additional|internet|iron)\b)", "an ", text)


#: "is there" before a plural.
_THERE_IS = re.compile(r"\b[Ii]s there (?=(?:any )?(?:[\w-]+ ){0,2}?[\w-]*[^\Wsiu]s\b(?! (?:service|access)))")


def _article(before: str, new: str) -> str:
    """A phrase without its article where one stands before it already."""
    return (
        re.sub(r"^(?:a|an) ", "", new)
        if re.search(r"\b(?:a|an|any|the|their|some|free|no|for|car|bike|street|of)\s*$", before, re.IGNORECASE)
        else new
    )


_NEGATIVE = re.compile(
    r"\b(?:no|not|never|none|cannot|unfortunately|without|unavailable|prohibited|nobody|non-?smoking|forbidden)\b|n't\b|n’t\b", re.IGNORECASE
)
_MIXED = re.compile(r"\b(?:but|only|however|unless|except|although|may|some|upon|on request|additional|extra)\b", re.IGNORECASE)
_YES = re.compile(r"^(?:(yes)\b[\s,.!:;]*|(no|sorry|unfortunately|of course|sure)\b *[,.!:;]+\s*)", re.IGNORECASE)
_NONE = re.compile(r"^no \w", re.IGNORECASE)
#: What a body adds: no charge and no reservation are no "no".
_ASIDE = re.compile(
    r"\b(?:no|not any|without(?: any)?) (?:reservations?|(?:extra |additional )?(?:charges?|costs?|fees?)|need)\b|"
    r"\breservations? (?:is|are) not (?:required|needed|necessary)\b",
    re.IGNORECASE,
)
#: A question about a charge is answered by "no" where the body says that it is free.
_COSTS = re.compile(r"\b(?:charges?|charged|cost|costs|fees?|pay|extra|expensive)\b", re.IGNORECASE)
_FREE = re.compile(r"\bfree\b|\bcompl[ie]mentary\b", re.IGNORECASE)


def answer(body: str, question: str, aligned: bool, name: str | None, noun: str, rng: Rng) -> str:
    """What the system says: the body, answer first, without what a listener doesn't need.

    Args:
        body: the snippet's.
        question: the user's words, plain.
        aligned: whether "yes" answers the question as it does the title.
        name: what the entity is called in the base; None for a whole domain.
        noun: what to call it instead, "" to keep the name.
        rng: for the choice of words.
    """
    text = " ".join(body.split()).strip()
    opening = _YES.match(text)
    text = text[opening.end() :] if opening else text
    if name is not None:
        text = _named(text, name, noun)
    text = _they(text)
    text = _shortened(text, rng)
    said = (opening[1] or opening[2]).lower() if opening else ""
    if is_yes_no(question) and aligned:
        if said not in ("yes", "no"):
            negative = _NEGATIVE.search(_ASIDE.sub("", text)) is not None or (_COSTS.search(question) is not None and _FREE.search(text) is not None)
            said = "" if _MIXED.search(text) or _NONE.match(text) else "no" if negative else "yes"
            if said == "no" and rng.chance(0.3):
                said = rng.choice(("sorry", "unfortunately"))
            elif said == "yes" and rng.chance(0.35):
                said = ""
    else:
        said = ""
    if not text:
        text = body.strip()
        said = ""
    if said:
        text = f"{said.capitalize()}, {_lowered(text, name)}"
    else:
        text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


#: Words with a capital wherever they stand in a sentence; nearly all others at the beginning of a body are no names.
_PROPER = words(
    "i visa mastercard american amex discover maestro diners paypal apple google english spanish french german italian chinese japanese british "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november "
    "december byob gbp usd tv continental wifi wi-fi san francisco cambridge"
)


def _lowered(text: str, name: str | None) -> str:
    """The first word without its capital, where it is no name."""
    first = text.split(" ", 1)[0]
    plain = re.sub(r"['’]s$", "", first.lower().strip(",."))
    own = (name or "").lower().replace("'", " ").split()
    named = plain in own and (plain not in ("the", "a") or (plain == "a" and text.lower().split()[:2] == own[:2]))
    if named or plain in _PROPER or (first.upper() == first and len(first) > 1) or any(char.isdigit() for char in first):
        return text
    return text[:1].lower() + text[1:]


_SMALL = frozenset({"and", "of", "by"})


def _named(text: str, name: str, noun: str) -> str:
    """The entity's name as people write it, or `noun` in its place."""
    for pattern in _name_patterns(name):
        found = re.compile(rf"(?<!\w)(?:the )?({pattern})(?:(?P<own>'s|’s))?(?!\w)", re.IGNORECASE)
        match = found.search(text)
        if match is None:
            continue
        if noun:
            own = match["own"] or ""
            said = noun + own
            said = said[:1].upper() + said[1:] if match.start() == 0 else said
            return text[: match.start()] + said + text[match.end() :]
        shown = match.group()
        if shown.upper() == shown and len(shown) > 4:
            shown = " ".join(word.lower() if word.lower() in _SMALL and place else word.capitalize() for place, word in enumerate(shown.split()))
        return text[: match.start()] + shown + text[match.end() :]
    return text


_OWN = tuple(
    (re.compile(rf"\b{old}\b"), new)
    for old, new in (("[Ww]e're", "they're"), ("[Ww]e've", "they've"), ("[Ww]e", "they"), ("[Oo]ur", "their"), ("us", "them"))
)


def _they(text: str) -> str:
    """What a house says of itself, as said by somebody else."""
    for pattern, new in _OWN:
        text = pattern.sub(lambda match, new=new: new.capitalize() if match.group()[0].isupper() else new, text)  # type: ignore[misc]
    return text


def _shortened(text: str, rng: Rng) -> str:
    sentences = re.split(r"(?<=[.!?]) +", text)
    kept = sentences[0]
    for sentence in sentences[1:]:
        if len(kept.split()) >= 8 or (len(kept.split()) >= 4 and rng.chance(0.3)):
            break
        kept += " " + sentence
    if rng.chance(0.4):
        kept = re.sub(r" (?:at|in) (?:this|the|our|their) (?:location|property|site|hotel|restaurant|place)(?=[.!]?$)", "", kept)
    return kept
