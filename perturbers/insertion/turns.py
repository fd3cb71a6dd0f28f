"""Putting pairs of turns into a dialogue: a question that no source has, and its answer, before a turn that stays as it is.

What every step that inserts has in common: where a pair may stand, the belief state that is carried on, the label `inserted`, and the new numbers
of all turns, which the lineage names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from dialmill.perturbers.core.events import Event
from dialmill.schemas import Act, Dialogue, SlotValues, Snippet, Span, Turn
from dialmill.schemas.dialogue import INSERTED

#: Acts of a farewell: nobody changes the subject there.
CLOSING = frozenset({"bye", "goodbye"})


class Pair(NamedTuple):
    """A user turn to be inserted and the system's answer.

    `labels` are those of the user turn besides `inserted`, `answer_labels` those of the answer; `acts` are the answer's; `spans` the user turn's;
    `knowledge` goes to both. `state` replaces the belief state, which is otherwise the one of the last user turn before. `note` is what the
    lineage says of the pair, `events` what is counted of it.
    """

    question: str
    answer: str
    labels: tuple[str, ...] = ()
    answer_labels: tuple[str, ...] = ()
    question_acts: tuple[Act, ...] = ()
    acts: tuple[Act, ...] = ()
    spans: tuple[Span, ...] = ()
    answer_spans: tuple[Span, ...] = ()
    knowledge: tuple[Snippet, ...] = ()
    state: tuple[SlotValues, ...] | None = None
    note: str = ""
    events: tuple[Event, ...] = ()


class Inserted(NamedTuple):
    """The turns with all pairs in their places, numbered anew, one line for the lineage for each pair, and the events of all."""

    turns: tuple[Turn, ...]
    reasons: tuple[str, ...]
    events: tuple[Event, ...]


def gaps(dialogue: Dialogue) -> list[int]:
    """Where a pair may stand, as the number of the turn that it comes before: a user turn that answers the system and is no farewell; where there
    is none, behind the last system turn, else at the start."""
    turns = dialogue.turns
    found = [
        turn.turn
        for before, turn in pairwise(turns)
        if before.speaker == "system" and turn.speaker == "user" and not (closes(before) or CLOSING & {act.act for act in turn.acts})
    ]
    # At a farewell nobody changes the subject; where the corpus has no acts, the last exchange is one.
    if len(found) > 1 and found[-1] >= len(turns) - 2 and not turns[found[-1]].acts:
        found.pop()
    if not found and turns and turns[-1].speaker == "system" and not closes(turns[-1]):
        found = [len(turns)]
    return found or ([0] if turns and turns[0].speaker == "user" else [])


#: How a system takes leave; corpora don't label all of it.
_FAREWELL = re.compile(
    r"\b(?:good ?-?bye|bye|take care|enjoy your (?:stay|meal|visit|trip|day|evening|time|journey|dinner|lunch|holiday)|"
    r"have an? (?:[\w-]+ )?(?:great|nice|good|wonderful|lovely|safe|pleasant|fantastic|excellent|fun|enjoyable)\b|"
    r"(?:thanks|thank you) for (?:calling|contacting|using|your call))|再见|拜拜|祝[您你].{0,8}(?:愉快|顺利|开心|快乐|平安)",
    re.IGNORECASE,
)


def closes(turn: Turn) -> bool:
    """Whether a system turn takes leave, by its acts or its words; a question in it keeps the talk going."""
    if CLOSING & {act.act for act in turn.acts}:
        return True
    return _FAREWELL.search(turn.utterance) is not None and "?" not in turn.utterance and "？" not in turn.utterance


def waits(turn: Turn) -> bool:
    """Whether a system turn waits for an answer: it requests a slot, or ends on a question."""
    return any("request" in act.act for act in turn.acts) or turn.utterance.rstrip().endswith(("?", "？", "吗", "吗。"))


#: How a Chinese turn begins that comments on what was just said: after a change of subject it would comment on nothing.
_REACTION = re.compile(
    r"(?:[嗯恩哦啊噢哈呵哎]+[，。！,]?|好[的啊呀哒嘞]?[，。！,]|行[，。！,]|可以[，。！,的啊]+)*"
    r"(?:太|真|那(?:就|还|可|感情|敢情|真|挺|也)|这么|[还也](?:不?[行错好算]|挺|是|可以|能|还|够)|够|可以的|那我|挺|不错|不[算贵远低高便]|便宜|有点|可真|果然|看来|是[吗啊呀的]|对|没错|"
    r"哈|够|满意|那好吧|有就好|记[下住]了|这算|这分|[^，。？]{2,6}确实|.{0,8}总该|[^，。？]{1,3}不[大小高低冷热贵远]，|.{1,6}我们都?[很挺]?喜欢|那(?!.*(?:多少|什么|几|哪|怎|吗))[^，。？！]{2,14}呢[？?]?$|这个我|这[项些下]|价格还|完美|原来|好[便贵近远高厉棒大少多]|晴|多云|阴|同道|终于|这[系评时家还就]|这个?价|我(?:很|挺|非常|比较)?(?:满意|喜欢|爱)|既然|喜欢|我?正好|我?刚好|这样|价格不|都是|没关系|没事|怎么)"
)


#: The same of an English turn.
_REACTION_EN = re.compile(
    r"(?:(?:oh|ok(?:ay)?|yes|no|yeah|well|great|hmm?|awesome)\b[\s,.!]*)*"
    r"(?:that\s*(?:'s|is|will be|would be|sounds?|works?)\b(?!\s*(?:all|it|everything|about)\b)|sounds?\b|terrific|lovely|"
    r"i\s*(?:'d)? ?(?:like|love) (?:that|it)\b)",
    re.IGNORECASE,
)


#: How a turn begins that agrees with what was told, or judges it: it answers no question, and so stands behind nothing else.
_LINK = re.compile(
    r"(?:[嗯恩哦啊噢哈呵哎喔]+|好[的啊呀吧嘞]?|行|谢谢[您你]?|[，。！,! ])*"
    r"(?:[您你]说的?得?(?:也|很|真|太|挺|没错|是(?![什哪谁不])|对|有道理)|(?:那|这)?(?:倒?[还也]?(?:确实|的确)|真的?是?太|可?真(?:好|棒|不错|巧|便宜|贵)|太(?![原平阳湖子极古]))|"
    r"果真|果然|难怪|怪不得|说得|说的(?:也|对|是)|也是(?:[，。！啊呀哦]|$)|也[对好行罢](?:[，。！啊呀的了吧]|$)|有道理|可不是|幸好|幸亏|还好(?:[，。！]|有)|听(?:着|起来|上去)|"
    r"(?:那|这)?(?:倒是|倒也|挺|蛮)(?:[好不划便方合近实]|[^，。？]{1,4}的?[，。！啊呀])|原来如此|原来是|可惜|妥妥|"
    r"我觉得(?:可以|不错|行|还|挺)|想[去吃住玩看][啊呀的]|[^，。？]{2,8}我?不(?:是很|太|怎么)?(?:感兴趣|喜欢))|"
    r"(?:(?:oh|ok(?:ay)?|yes|no|yeah|well|great|hmm?|thanks?(?: you)?|wow)\b[\s,.!]*)*"
    r"(?:(?:i (?:guess|suppose) (?:so|not|i|it|that|we)|i (?:didn ?'?t|did not) (?:know|realise|realize)|"
    r"i (?:agree|thought so|hope (?:so|not)|see(?= ?[.,!]| ?$))|"
    r"you(?: ?'re| are) right|true\b|indeed|in that case|good to (?:know|hear)|glad to hear|(?:sorry|sad) to hear|fair enough|"
    r"too bad|what an? (?!bout)|"
    r"how (?:nice|lovely|sad|strange|odd|funny|convenient|wonderful)|wow|exactly|(?:that|it) makes sense|no wonder|"
    r"unfortunately|if so|if not|otherwise)\b)",
    re.IGNORECASE,
)


def links(turn: Turn) -> bool:
    """Whether a user turn begins with agreement or a judgement that needs the system turn right before it."""
    return _LINK.match(turn.utterance.strip()) is not None


def reacts(turn: Turn) -> bool:
    """Whether a user turn begins with a comment on the system turn before it."""
    return links(turn) or _REACTION.match(turn.utterance) is not None or _REACTION_EN.match(turn.utterance) is not None


def state_before(turns: Sequence[Turn], gap: int) -> tuple[SlotValues, ...]:
    """The belief state after the last user turn before turn `gap`."""
    return next((turn.state for turn in reversed(turns[:gap]) if turn.speaker == "user"), ())


def insert(dialogue: Dialogue, pairs: Mapping[int, Sequence[Pair]], keep_rest: bool = True) -> Inserted:
    """The turns of `dialogue` with `pairs` before the turns of the given numbers (the number of turns: at the end).

    Args:
        dialogue: any dialogue.
        pairs: gap -> the pairs to stand there, in order.
        keep_rest: whether the dialogue goes on behind the last pair; else it ends there, so that the last question has taken the place of the
            user turn it came before.
    """
    turns: list[Turn] = []
    reasons: list[str] = []
    events: list[Event] = []
    last = max((gap for gap, some in pairs.items() if some), default=len(dialogue.turns))
    for place in range(len(dialogue.turns) + 1):
        for pair in pairs.get(place, ()):
            number = len(turns)
            state = state_before(dialogue.turns, place) if pair.state is None else pair.state
            reasons.append(f"inserted: turns {number} and {number + 1}: {pair.note}")
            events += pair.events
            turns.append(
                Turn(
                    number,
                    "user",
                    pair.question,
                    spans=pair.spans,
                    acts=pair.question_acts,
                    state=state,
                    labels=(INSERTED, *pair.labels),
                    knowledge=pair.knowledge,
                )
            )
            turns.append(
                Turn(
                    number + 1,
                    "system",
                    pair.answer,
                    spans=pair.answer_spans,
                    acts=pair.acts,
                    labels=(INSERTED, *pair.answer_labels),
                    knowledge=pair.knowledge,
                )
            )
        if not keep_rest and place == last:
            break
        if place < len(dialogue.turns):
            turns.append(dialogue.turns[place].replace(turn=len(turns)))
    return Inserted(tuple(turns), tuple(reasons), tuple(events))
