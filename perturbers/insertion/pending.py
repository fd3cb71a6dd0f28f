"""What a system turn leaves pending, and whether the next user turn answers it: where talk may come in between, and how the system leads back.

The question that the system had asked is asked again in full behind what was inserted, as the user answers it next. Where that can't be told (it
names values, which no inserted turn may say, or points at what was just said: "Is that right?"), nothing is inserted, unless what the user says
next stands by itself.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.insertion.turns import links, reacts
from dialmill.schemas import Act, Turn

#: What the system waits for: an answer to a question that can be asked again, whether there is more, nothing, a comment on what it offered, or what
#: can't be told or repeated; "open" before the first turn.
Kind = Literal["question", "more", "nothing", "offer", "unclear", "open"]


class Pending(NamedTuple):
    """What a system turn waits for: its kind, the question as it is asked again ("" where there is none), the requests that go with it."""

    kind: Kind
    question: str = ""
    acts: tuple[Act, ...] = ()


_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|\.(?=\d))*[.!?。！？]?")
_ASKING = (
    r"(?:what|who|which|when|where|how|is|are|am|do|does|did|can|could|will|would|should|shall|may|might|have|has|any|anything|need|want|"
    r"(?:in|for|at|on|from|to) (?:what|which|where|how))\b"
)
_STARTS = re.compile(_ASKING, re.IGNORECASE)
#: A question behind a statement in the same sentence: "I was unable to book that can I try something else ?".
_TAIL = re.compile(
    r"(?:,|\band|\bbut|\bso|\s)\s*((?:(?:what|which|where|when|how) [\w' ]{0,24}?)?(?:can|could|would|shall|should|may|do|does|is|are|will)"
    r" (?:i|you|there) [^,;:]+\?|anything (?:else|more|further)[^,;:]*\?)$",
    re.IGNORECASE,
)
#: What joins a question to what was said before it, and makes no sense behind an answer.
CONNECTIVE = re.compile(
    r"^(?:(?:and|also|but|so|or|then|okay|ok|yes|no|sure|of course|absolutely|certainly|definitely|alright|all right|great|perfect|wonderful|"
    r"awesome|it does|now|well|sorry|if so|if not|otherwise)\b[ ,.!]*)+|"
    r"^(?:(?:有的|好的|可以|是的|没有|没问题|那|那么|抱歉|不好意思)[，,]?)+(?=您|请|要|想|还)",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\b(?:anything|something|what|questions?|services?|information|way) (?:\w+ )?(?:else|more|further)\b|"
    r"\bother (?:questions|services|information)\b|"
    r"\bmore questions\b|\bfurther (?:questions|assistance|help|information)\b|\bany (?:other|more|further) (?:help|assistance|way)\b|"
    r"\bwill that be all\b|\banything (?:you|i)\b.*\b(?:else|today)\b|\b(?:assist|help) you further\b|\b(?:assistance|help)\b.*\b(?:else|further)\b|"
    r"还(?:有|需要|要|想)(?:了解)?(?:什么|别的|其他|其它|哪些)(?!要求)|还需要(?:帮|别)|(?:别的|其他|其它)(?:需要|问题|帮助|可以)",
    re.IGNORECASE,
)
#: Questions that point at what was just said, and so at the reply when they stand behind one.
_POINTS = re.compile(
    r"^(?:correct|right|ok(?:ay)?|yes|no|good)\b|"
    r"\b(?:(?:is|are|does|do|will|would|was|sounds?|works?|about|like|did) ?(?:that|this|these|it)|(?:has|can|with|for|all) (?:that|this|these))\b"
    r"(?=\W*$| (?:ok|okay|right|correct|fine|good|all|work|sound|alright|suit|be|what|acceptable|time|for you|help|meet|a good|satisf|interest|one))|"
    r"\bwould (?:either|this|that|any|it)\b|\b(?:book|reserve|try|get|take|confirm) (?:this|that)\b|\bthese\b|\bof them\b|"
    r"\bhow does\b|\bwhat do you think\b|\bare you (?:ok|okay|happy|fine) with\b|\binterested\?|\b(?:want|confirm|try|prefer) (?:that|"
    r"this|these|those)\b(?=\W*$| (?:for|one|instead))|\b(?:the|a) same\b|\bthe (?:first|second|latter|other|earlier|later)\b|"
    r"\bhow about\b|\bwhat about\b|\binstead\b|\bthat one\b|"
    r"(?:您看|你看|您觉得|你觉得|您感觉|你感觉|您认为|你认为|您说)|(?:可以|行|好|合适|考虑|满意|够用|是|对|去)(?:吗|么|不|吧|呢)?[？?]$|"
    r"(?:怎么样|怎样|如何|咋样)呢?[？?]$|这|它|那|哪[个家款班趟一](?:呢|好|合适|比较|更|[？?])|两",
    re.IGNORECASE,
)
_OFFERS = frozenset({"offer", "recommend", "select", "offer_intent", "offerbook", "confirm"})
#: The user says next what shall be tried instead.
_FAILED = frozenset({"nobook", "nooffer", "notify_failure"})
_OFFERED = re.compile(
    r"\b(?:recommend|suggest|how about|what about|would you|please confirm|let me know|please (?:tell|specify|provide|give)|i(?: will|'ll| 'll) need|"
    r"there(?: is|'s| 's) (?:a|an|one|the)\b|need to know|just to confirm|shall|i found|i have (?:\w+ ){0,4}(?:that|called|leaving|available)\b|"
    r"perhaps|narrow|prefer)|推荐|建议|您看|你看|不妨",
    re.IGNORECASE,
)
_MOST_WORDS, _MOST_CHARACTERS = 24, 24
#: At least so many words: "Which one?" alone says little behind a reply.
_LEAST_WORDS, _LEAST_CHARACTERS = 3, 6


def pending(turn: Turn, locator: Locator, language: str) -> Pending:
    """What a system turn leaves pending; `locator` finds the dialogue's values, which no question that is asked again may name."""
    sentences = [(match.start(), match.end(), match.group().strip()) for match in _SENTENCE.finditer(turn.utterance) if match.group().strip()]
    asking = [one for one in sentences if _asks(one[2], language)]
    requests = tuple(act for act in turn.acts if "request" in act.act)
    if not asking:
        acts = {act.act for act in turn.acts}
        if requests:
            return Pending("unclear", "", requests)
        return Pending("offer" if acts & (_OFFERS | _FAILED) or _OFFERED.search(turn.utterance) else "nothing")
    if asking[-1] is not sentences[-1]:
        return Pending("unclear", "", requests)
    first = len(sentences) - 1
    while first > 0 and _asks(sentences[first - 1][2], language):
        first -= 1
    questions = []
    for start, end, sentence in sentences[first:]:
        if any(span.start is not None and span.start < end and start < (span.end or 0) for span in turn.spans):
            sentence = _tail(sentence)
        questions.append(_clean(sentence, language))
    if not all(questions) or any(locator.keys(one, Cut(one, language)) for one in questions):
        return Pending("unclear", "", requests)
    said = ("" if language == "zh" else " ").join(questions)
    return Pending("more" if _MORE.search(questions[-1]) and len(questions) == 1 else "question", said, requests)


#: A Chinese question without its mark; "呢" ends statements too.
_ASKS_ZH = re.compile(r"吗$|么$|(?:什么|哪|几|多少|怎|谁|如何)[^，。]*呢$")


def _asks(sentence: str, language: str) -> bool:
    return sentence.endswith(("?", "？")) or (language == "zh" and _ASKS_ZH.search(sentence.rstrip("。！!. ")) is not None)


def _tail(sentence: str) -> str:
    found = _TAIL.search(sentence)
    return found[1] if found else ""


def _clean(sentence: str, language: str) -> str:
    """A question as it can be asked again behind a reply, "" where it can't."""
    said = CONNECTIVE.sub("", sentence.strip(" \"'-")).strip()
    if language == "zh":
        plain = re.sub(r"^(?:(?:好的?|嗯+|没问题|有的|是的|那|[您你]好|抱歉|不好意思)[啊呢哦]?[，,！!]?)+(?=.{6})", "", said)
        plain = re.sub(r"^.*[，,。](?=请问|您|你|还)", "", plain)
        fits = _LEAST_CHARACTERS <= len(plain) <= _MOST_CHARACTERS
    else:
        plain = said if _STARTS.match(said) else _tail(said)
        fits = (_LEAST_WORDS if not _MORE.search(plain) else 2) <= len(re.findall(r"\w+", plain)) <= _MOST_WORDS
    if not fits or re.search(r"\d", plain) or (_POINTS.search(plain) and not _MORE.search(plain)):
        return ""
    return plain[:1].upper() + plain[1:] if sentence[:1].isupper() else plain


#: A user turn that takes up what was said right before it.
_TAKES_UP = re.compile(
    r"(?:yes|yea|yeah|yep|yup|no|nope|nah|sure|ok|okay|alright|all right|great|perfect|wonderful|awesome|excellent|cool|nice|good|fine|"
    r"amazing|fantastic|super|that|this|it|they|those|these|either|both|any|correct|right|sounds|oh|how about|what about|thanks|thank|"
    r"the (?:first|second|other|last)|"
    r"i(?:'ll| 'll| will) take|actually|hmm?|maybe|well|got it|i see|awesome|brilliant|lovely|absolutely|exactly|please do|go ahead|neither|"
    r"let'?s|before i|none|not|the details|you have|if|unless|as long as|because|since|instead)\b",
    re.IGNORECASE,
)
_TAKES_UP_ZH = re.compile(
    r"当然|必须|就去|那是|[嗯恩哦啊噢哈呵哎唉额呃]|好|行|可以|没问题|谢|多谢|感谢|太|真|不错|收到|记|知道|明白|了解|ok|是|对|没|不|"
    r"那[就还好么也]|那(?!.*(?:吗|呢|什么|多少|哪|几|怎|[?？]))|"
    r"还(?:行|好|可以|不错)|挺|蛮|够|完美|棒|就[这它去订选要]|这么|有点|第|都|那感情|哇|原来|果然|听|看来|看着|遗憾|可惜|非常|辛苦",
    re.IGNORECASE,
)
_POINTER = re.compile(r"\b(?:that|this|those|these)\b(?! (?:is|'s) all)", re.IGNORECASE)
_PRAISE = re.compile(
    r"(?:oh,? )?(?:great|perfect|wonderful|awesome|excellent|cool|nice|good|fine|amazing|fantastic|super|brilliant|lovely|sweet|"
    r"terrific)\b(?!\s*bye)",
    re.IGNORECASE,
)
_PRAISE_ZH = re.compile(
    r"哇|[^，]{0,4}虽|(?:[嗯恩哦啊噢哈呵哎]+了?[，。！, ]*)*(?:太|真|收到|我?记|清楚|是[很挺]|那(?:是|真|确实|敢情)|不错|必须|当然|相当|"
    r"非常[高好棒不]|那?算了|一般|好吧|"
    r"那行|这个?(?:时|价|距|位|评|分)|(?:价格|时间|分数|评分|距离|位置|口碑|环境)?"
    r"(?:还|也|挺|蛮|不)[^，]{0,4}[，。]|"
    r"好的?[，,。]?(?:那?我|这[下回]?)?(?:知道|明白|记|收到|了解)|"
    r"完美|挺|蛮|还[行好可不]|那(?:就|还)?好|那感情|够|棒|ok|遗憾|可惜|行|可以|没问题|就[这它去订选要]|"
    r"听|看来|原来|好[啊呀嘞哒]|好[，,](?!谢)|嗯呢|我?知道(?!.*[吗？?])|我?明白|我?了解|有就|这么|那么|这样)",
    re.IGNORECASE,
)
#: A question about the place in hand, which needs nothing but the place: "这家酒店的电话是多少？".
_ASKS_OF = re.compile(r"(?:请问|麻烦问下)?[，,]?(?:这|该|那)[家个款部趟班][\u3400-\u9fff]{0,8}(?:吗|什么|多少|几|哪|怎么|有没有|[？?])")
#: Thanks for what was just told, and what is said of it.
_THANKS_FOR = re.compile(
    r"(?:ok(?:ay)?[\s,.!]+)?thank(?:s| you)(?: so much| very much| a lot)?[\s,.!]*(?:that|this|it) ?"
    r"(?:'s|is|sounds|works|looks|would|will)\b(?! (?:all|it|every))",
    re.IGNORECASE,
)
#: What points back at what was told, where no question is answered by it.
_LEANS = re.compile(
    r"(?:(?:oh|ok(?:ay)?|yes|no|well|thanks|thank you|great)\b[\s,.!]*)*"
    r"(?:(?:this|they|those|these|then|but|so(?! much)|instead|neither|either|both|it)\b(?! (?:far|long as)\b)|"
    r"that (?! ?(?:is|was|s|'s|will|'ll|would|should)\b[^.,]{0,12}\b(?:all|it|everything|do)\b))|"
    r"(?:[嗯哦啊好的行，。！ ]*)(?:还是(?!想|要|需)|不过|但是?(?=[我这那它他，])|可是|所以|而且|既然|要不然|不然|否则)",
    re.IGNORECASE,
)
_CLOSED = re.compile(r"^(?:would you|would it|shall|should|do you (?:want|wish|need|like)|can i|could i|may i|will that)\b", re.IGNORECASE)


def stands(turn: Turn, language: str) -> bool:
    """Whether a user turn makes sense whatever was said right before it: it begins with a wish or a question of its own."""
    text = turn.utterance.strip(" .,!\"'")
    if language == "zh":
        return len(text) > 5 and (_ASKS_OF.match(text) is not None or (_TAKES_UP_ZH.match(text) is None and not reacts(turn)))
    first = re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]
    return len(text.split()) > 3 and _TAKES_UP.match(text) is None and _POINTER.search(first) is None and not reacts(turn)


def leans(turn: Turn) -> bool:
    """Whether a user turn begins with a word that points back at what was told ("it", "then", "还是")."""
    return _LEANS.match(turn.utterance.strip(" .,!\"'")) is not None


def follows(turn: Turn, left: Pending, language: str) -> bool:
    """Whether a user turn goes on from what was pending when that is asked again, or from an offer of more help."""
    if links(turn):
        return False
    if left.kind in ("offer", "unclear"):
        return stands(turn, language)
    text = turn.utterance.strip(" .,!\"'")
    if left.kind == "question" and (language == "zh" or _CLOSED.match(left.question)):
        return True  # "that sounds great" answers an offer that is made again
    praise = _PRAISE_ZH if language == "zh" else _PRAISE
    if language == "zh" and _ASKS_OF.match(text):
        return True
    if reacts(turn) or praise.match(text) or _THANKS_FOR.match(text):
        return False
    if left.kind == "nothing" and language != "zh" and re.match(r"(?:no|nope|yes|yeah)\b", text, re.IGNORECASE):
        return False  # nothing was asked
    if left.kind in ("nothing", "more"):
        return not leans(turn)
    return True
