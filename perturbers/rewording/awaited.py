"""What an English system turn awaits of the user, by its words: most corpora label that nowhere, and an answer must fit it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

#: "" nothing, "yes" a yes or a no, "value" a detail, "more" whether there is anything else.
Awaited = Literal["", "yes", "value", "more"]
#: What a yes agrees to: "offer", that something be done; "check", that what was said is right; "fact", that something is so.
Proposed = Literal["", "offer", "check", "fact"]

_BETWEEN = re.compile(r"(?<=[.?!])\s+|\n+")
#: How many of the last sentences say what is awaited: "Shall I book it? It's a busy day."
_LAST = 3
_MORE = re.compile(
    r"\b(?:any|some)(?:thing|body|one)? ?(?:else|more|other|further)\b|\banything (?:\w+ ){0,4}(?:help|assist|do for you|get (?:for )?you)\b"
    r"|\b(?:what|how) else\b|\bfurther (?:help|assistance|questions?|requests?)\b|\bmore questions?\b|\bother (?:requests?|questions?)\b"
    r"|\bis that (?:all|everything|it)\W*$|\b(?:will|would) that be all\b",
    re.IGNORECASE,
)
_CONFIRM = re.compile(
    r"\b(?:please|kindly|just) (?:reply|respond|answer|say|type|confirm)\b|\bconfirm(?:ation)? (?:if|whether|that|with|by|to|these|this|the)\b"
    r"|\blet me know if (?:you(?:['’]d| would| want| wish| are)? (?:like|want|wish|okay|happy|to)|this|that|everything)\b|\(yes(?:/| or )no\)"
    r"|['\"“‘]yes['\"”’]",
    re.IGNORECASE,
)
_DETAIL = re.compile(
    r"\bplease (?:also )?(?:provide|tell|share|specify|give|send|choose|select|pick|enter|let me know (?:which|what|your|the|when|how))\b"
    r"|\blet me know (?:which|what|your|the|when|how)\b|\b(?:i(?:['’]ll| will)? need|i require) (?:to know |to have )?(?:your|the)\b"
    r"|\btell me (?:which|what|your|when|how|where)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"(?:^|[,:;(-]\s*|\b(?:and|but|so|ok|okay|sure|for|in|at|on|to|from|with|by|great)\s+)(?:what|which|where|when|who|whose|how"
    r"|why)\b(?! about)",
    re.IGNORECASE,
)
_OFFER = re.compile(
    r"\b(?:shall|should|may|can|could|might) (?:i|we)\b|\b(?:do|would|did) you (?:still )?(?:like|want|need|wish|prefer|care|love)\b"
    r"|\bwant me to\b|\blike me to\b"
    r"|\b(?:ok|okay|all right|alright|fine|good) (?:to|if i|for me to|with you)\b|\bgo ahead\b|\bproceed\b|\bhow about\b|\bwhat about\b"
    r"|\bin (?:that|this|it)\b.*\binterested\b|\binterested in\b|\b(?:sounds?|works?|be|is (?:that|this|it)) (?:\w+ )?(?:good|fine|okay|ok"
    r"|acceptable|suitable|great|all right|alright)\b"
    r"|\b(?:does|do|would|will) (?:that|this|it|either|any|one|these|those)\b[^?]* (?:work|suit|do|help|interest)\b|\byou want\b",
    re.IGNORECASE,
)
_CHECK = re.compile(
    r"\b(?:right|correct|yes|true)\s*\?$|\b(?:is|are|was|were|does|do) (?:that|this|it|these|those|everything|all)\b[^?]*\b(?:right"
    r"|correct|accurate)\b"
    r"|\b(?:did|do) i (?:get|have|understand|hear)\b|\bam i (?:right|correct)\b|^so,? you\b|\bdid you (?:mean|say)\b|\byou mean\b|\bconfirm\b",
    re.IGNORECASE,
)
#: What says that nothing was found, or can't be done.
_FAILED = re.compile(
    r"\bthere (?:is|are|was|were|'s)(?: currently| unfortunately)?(?: no| not any| ?n['’]?t any)\b(?! (?:\w+ )?(?:traffic|charge|fee|cost"
    r"|problem|extra|need|doubt))"
    r"|\bthere (?:is|are|was|were) none\b|\bnot (?:showing|seeing|finding|getting|aware)\b"
    r"|\b(?:could|can|do|did|was|were|does|am)(?: not|n['’]?t| n['’]t) (?:\w+ ){0,2}(?:find|locate|have|see|know of|offer|able|any)\b"
    r"|\bunable to\b|\bno (?:\w+ ){0,3}(?:match\w*|found|available|results?|hits?|luck|items?|options?|restaurants?|places?|hotels?|listings?)\b"
    r"|\bnothing (?:\w+ ){0,3}(?:found|match\w*|fits?|came|available|meets?)\b|\bunfortunately\b|\b(?:fully|all) booked\b|\bsold out\b"
    r"|\bunavailable\b",
    re.IGNORECASE,
)


_SORRY = re.compile(r"\W*(?:oh,? |i['’]?m |i am )*(?:very |so |really |terribly )?sorry\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def _question(text: str) -> str:
    """The last question among a turn's last sentences, "" where it asks nothing there."""
    sentences = [one.strip() for one in _BETWEEN.split(text.strip()) if one.strip()][-_LAST:]
    return next((one for one in (one.rstrip("`'\"*_ ") for one in reversed(sentences)) if one.endswith("?")), "")


@lru_cache(maxsize=4096)
def awaited(text: str) -> Awaited:
    """What a system turn awaits: its last question tells, or else what it says to do."""
    question = _question(text)
    end = " ".join(one for one in _BETWEEN.split(text.strip())[-_LAST:])
    if _MORE.search(question or end):
        return "more"
    if question:
        return "value" if _WHICH.search(question) and not _PROPOSES.search(question) else "yes"
    if _CONFIRM.search(end):
        return "yes"
    return "value" if _DETAIL.search(end) else ""


_PROPOSES = re.compile(r"\bhow (?:does|do|would|is) (?:that|this|it|these|those) (?:sound|look|work)\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def proposed(text: str) -> Proposed:
    """What a yes to a system turn agrees to, "" where it awaits none."""
    awaits = awaited(text)
    if awaits != "yes":
        return "fact" if awaits == "more" else ""
    question = _question(text)
    if _CHECK.search(question):
        return "check"
    return "offer" if not question or _OFFER.search(question) else "fact"


@lru_cache(maxsize=4096)
def fails(text: str) -> bool:
    """Whether a system turn says that it found nothing, or can't do something."""
    return _FAILED.search(text) is not None or (_SORRY.match(text) is not None and awaited(text) != "value")
