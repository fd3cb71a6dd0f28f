"""What the system says to talk that it can't serve: a reply that fits what was said, and the way back to the task."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.insertion.pending import Pending
from dialmill.schemas import Act, Dialogue

#: What was said, as far as a reply has to fit it: a question about the system, any other question, something to be done, a remark, one that one feels
#: sorry about, a sentence that broke off, and words beside the talk: an apology, that it shall wait, words to somebody else,
#: that something went wrong, whether it hears, and any other.
Said = Literal[
    "bot", "question", "request", "remark", "sad", "half", "aside-sorry", "aside-wait", "aside-other", "aside-care", "aside-hear", "aside-noise"
]

QUESTION = re.compile(
    r"(?:what|who|whose|which|why|when|where|how|is|are|am|do|does|did|can|could|will|would|should|have|has|was|were)\b", re.IGNORECASE
)
_REQUEST = re.compile(
    r"(?:please\b|tell|give|say|sing|flip|add|set|turn|play|wake|call|read|translate|explain|teach|help|let us|lets|write|recommend|define|raise|"
    r"move|show|make|find|draw|pick|guess|spell|count|remember|cheer|promise|wish me|we should|"
    r"(?:can|could|will|would) you (?!ever\b|know|think|believe|dream|"
    r"feel|like|keep|mind|prefer|say you)|i bet)\b",
    re.IGNORECASE,
)
_YOU = re.compile(r"\b(?:you|your|yourself)\b", re.IGNORECASE)
_NOT_YOU = re.compile(r"\b(?:do|would|did) you (?:know|happen)\b|\b(?:how|why|what|when|where) do you\b|\bmake you\b", re.IGNORECASE)
_QUESTION_ZH = re.compile(r"[？?]$|[吗么]。?$")
_REQUEST_ZH = re.compile(
    r"(?:你能不能|你可以|能不能|可不可以|麻烦你?)?(?:帮我|给我|给同事|陪我|教我|替我|把|放一?首|放点|来[玩个段首]|推荐|说句|说个|讲|夸|明早叫|唱|念|猜|背|写|"
    r"提醒|你?能(?:陪|教|帮|给|替|跟|变|握)|陪聊|要不咱)|.*(?:陪我聊聊|帮我交一下)"
)
_YOU_ZH = re.compile(r"^(?!你[说看觉知].*(?:为什么|怎么|真的|是不是|都)).*[你您]")
#: A weakness of one's own, which "to be honest" may lead in to.
_CONFESSES = re.compile(
    r"i (?:am (?:terrible|hopeless|so bad|not very good|too shy|a bit (?:of a|scared)|terrified|the slowest|always)|always|never|can(?:not| never)|"
    r"keep|get|bite|faint|have (?:never|far too|a terrible|always been|nothing)|once|still|wish i|failed|dropped|ate)\b|"
    r"我(?:从小就|最怕|怕|老(?!公|婆|板|师|爸|妈|家)|总|一[^个].*就|一个人|这个?人|打呼|到现在都|切菜|炒菜|不太会|历史学得|驾照考了|有选择|自己做饭|"
    r"打字只|拍照总|睡相|收拾|又把|停个车)",
    re.IGNORECASE,
)
_SERVICE = re.compile(r"_\d+$")
#: Domains of acts that say nothing of what is spoken of.
_SHARED = frozenset({"general", "通用", "booking", ""})


def kind_of(text: str, language: str) -> Said:
    """What a text is: a request, a question (about the system itself: "bot"), or a remark."""
    if language == "zh":
        if _REQUEST_ZH.match(text):
            return "request"
        if not _QUESTION_ZH.search(text):
            return "remark"
        return "bot" if _YOU_ZH.match(text) else "question"
    if _REQUEST.match(text):
        return "request"
    if not (QUESTION.match(text) or text.endswith("?")):
        return "remark"
    return "bot" if _YOU.search(text) and not _NOT_YOU.search(text) else "question"


def confesses(text: str) -> bool:
    """Whether a remark tells a weakness of the speaker's own."""
    return _CONFESSES.match(text) is not None


def spoken_of(dialogue: Dialogue, gap: int) -> str:
    """The domain that is spoken of before turn `gap`: of the last act that has one, else of what the user says next, else the dialogue's first; ""
    where nothing tells."""
    for turn in (*reversed(dialogue.turns[:gap]), *dialogue.turns[gap:]):
        for act in reversed(turn.acts):
            if act.domain.lower() not in _SHARED:
                return _SERVICE.sub("", act.domain.lower())
    return next((_SERVICE.sub("", domain.lower()) for domain in dialogue.domains), "")


@lru_cache(maxsize=1024)
def answers(language: str, kind: str, name: str) -> list[str]:
    """The phrases of a kind of the list `fallbacks` for a slot, a domain, or what was said."""
    cells = [cell for row_kind, names, cell in rows(language, "fallbacks") if row_kind == kind and name in alternatives(names)]
    return [answer for cell in cells for answer in alternatives(cell)]


def reply(dialogue: Dialogue, gap: int, said: Said, left: Pending, locator: Locator, rng: Rng) -> tuple[str, tuple[Act, ...]]:
    """What the system says, and the requests that it repeats.

    Args:
        dialogue: the source.
        gap: the turn that the pair comes before.
        said: what the user said is.
        left: what is pending there.
        locator: finds the dialogue's values, which the way back must not name ("hotel" may be one).
        rng: for the choice of words.
    """
    language = dialogue.language
    sorry = styled(rng.choice(answers(language, "sorry", said)), dialogue, "system")
    if left.question:
        return _joined(sorry, left.question, language), left.acts
    options = answers(language, "task", said)
    if not options and left.kind in ("open", "nothing"):
        options = answers(language, "task", left.kind)
    if not options:
        # Back to what was spoken of last, and to no domain where two were spoken of together.
        last = {_SERVICE.sub("", act.domain.lower()) for turn in dialogue.turns[max(0, gap - 2) : gap] for act in turn.acts} - _SHARED
        options = (answers(language, "task", last.pop()) if len(last) == 1 else []) or answers(language, "task", "*")
    fitting = [one for one in options if not locator.keys(one, Cut(one, language))] or answers(language, "task", "*")
    return _joined(sorry, styled(rng.choice(fitting), dialogue, "system"), language), ()


def _joined(sorry: str, back: str, language: str) -> str:
    return sorry + back if language == "zh" else f"{sorry} {back}"


#: Marks with a blank before them, as tokenised corpora have them, and marks at their word.
_APART, _ATTACHED = re.compile(r" (?:[.,?!](?=\s|$)|')"), re.compile(r"\w(?:[.,?!](?=\s|$)|'\w)")
_CLITIC = re.compile(r"(n't|'(?:s|m|re|ve|d|ll))\b")


def styled(text: str, dialogue: Dialogue, speaker: str) -> str:
    """A text in the manner of a speaker's turns: capitals and closing marks where most have them, punctuation and clitics cut off where they are."""
    if dialogue.language == "zh":
        return text
    own = [turn.source_text for turn in dialogue.turns if turn.speaker == speaker and turn.source_text.strip()]
    capital = 2 * sum(one.strip()[0].isupper() for one in own) >= len(own)
    closed = 2 * sum(one.rstrip()[-1] in ".?!" for one in own) >= len(own)
    cut_off = sum(len(_APART.findall(one)) for one in own) > sum(len(_ATTACHED.findall(one)) for one in own)
    if capital:
        text = re.sub(r"\bi\b", "I", text)
        text = text[0].upper() + text[1:]
    else:
        text = text.lower()
    if text[-1].isalnum() and closed:
        text += "?" if QUESTION.match(text) else "."
    elif speaker == "user" and not closed:
        text = text.rstrip(".?!")
    if cut_off:
        text = re.sub(r"(?<=\w)([,.?!:;])(?=\s|$)", r" \1", _CLITIC.sub(r" \1", text))
    return text
