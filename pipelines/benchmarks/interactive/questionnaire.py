"""FED's questionnaire (Mehri and Eskenazi, SIGDIAL 2020): what raters are asked of a reply and of a whole conversation, in English and Chinese.

The qualities and their scales are those of the published ratings; the wording is ours, after the paper's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

TURN, DIALOGUE = "turn", "dialogue"
LEVELS = (TURN, DIALOGUE)
#: The quality that sums up the others.
OVERALL = "Overall"


class Quality(NamedTuple):
    """A quality, what raters are asked in both languages, and the best score; the worst is 0."""

    name: str
    question: str
    question_zh: str
    best: int = 2


QUALITIES: dict[str, tuple[Quality, ...]] = {
    TURN: (
        Quality("Interesting", "To the average person, is the response interesting?", "对一般人来说，这句回复有意思吗？"),
        Quality("Engaging", "Is the response engaging: does it make one want to go on?", "这句回复吸引人吗，让人想继续聊下去吗？"),
        Quality("Specific", "Is the response specific to the conversation, and not generic?", "这句回复是针对这段对话的，而不是放在哪里都行的吗？"),
        Quality("Relevant", "Is the response relevant to the conversation?", "这句回复与对话相关吗？"),
        Quality("Correct", "Is the response correct, or was the conversation misunderstood?", "这句回复对吗，还是误解了对话？"),
        Quality("Semantically appropriate", "Is the response semantically appropriate?", "这句回复在意思上合适吗？"),
        Quality("Understandable", "Is the response understandable?", "这句回复看得懂吗？", 1),
        Quality("Fluent", "Is the response fluently written?", "这句回复写得通顺吗？"),
        Quality(OVERALL, "What is your overall impression of the response?", "您对这句回复的总体印象如何？", 4),
    ),
    DIALOGUE: (
        Quality("Coherent", "Is the system coherent, with a good flow throughout the conversation?", "系统在整段对话中前后连贯、聊得顺畅吗？"),
        Quality("Error recovery", "Is the system able to recover from errors that it makes?", "系统出错以后能补救吗？"),
        Quality("Consistent", "Is the system consistent in the information it provides?", "系统给出的信息前后一致吗？", 1),
        Quality("Diverse", "Are the system's responses diverse?", "系统的回复多样吗？"),
        Quality("Depth", "Does the system discuss topics in depth?", "系统能深入地讨论话题吗？"),
        Quality("Likeable", "Does the system display a likeable personality?", "系统表现得讨人喜欢吗？"),
        Quality("Understanding", "Does the system seem to understand the user?", "系统看起来理解用户吗？"),
        Quality("Flexible", "Is the system flexible, and adaptable to the user and their interests?", "系统灵活吗，能顺着用户和用户的兴趣走吗？"),
        Quality("Informative", "Is the system informative throughout the conversation?", "系统在整段对话中言之有物吗？"),
        Quality("Inquisitive", "Is the system inquisitive throughout the conversation?", "系统在整段对话中会主动发问吗？"),
        Quality(OVERALL, "What is your overall impression of the conversation?", "您对整段对话的总体印象如何？", 4),
    ),
}
_ANSWERS = {
    1: (("No", "否"), ("Yes", "是")),
    2: (("No", "否"), ("Somewhat", "有一些"), ("Yes", "是")),
    4: (("Very poor", "很差"), ("Poor", "较差"), ("Fair", "一般"), ("Good", "较好"), ("Very good", "很好")),
}


def questions(level: str) -> list[dict[str, Any]]:
    """The questions of a level as they stand in questionnaire.json. Beside the answers, a rater may write "N/A" with a reason."""
    return [
        {
            "quality": one.name,
            "question": one.question,
            "question_zh": one.question_zh,
            "answers": [{"score": score, "answer": english, "answer_zh": chinese} for score, (english, chinese) in enumerate(_ANSWERS[one.best])],
        }
        for one in QUALITIES[level]
    ]
