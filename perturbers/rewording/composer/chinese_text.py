"""Segments of a Chinese turn as one text: what joins and ends them, politeness, and the places of values and kept clauses."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialmill.perturbers.rewording.composer.chinese_clauses import FACILITY, NAME_SLOTS, kinds, table
from dialmill.perturbers.rewording.composer.chinese_draft import (
    ENDS,
    FIRST,
    SIGNS,
    Draft,
    NoClause,
)
from dialmill.perturbers.rewording.composer.plan import Context, Item, Placed, Plan

#: Thanks for the answer before; a question of its own; a reason that belongs to what stands before it.
_THANKS_FIRST = re.compile(r"(?:[好嗯行哦]的?[，。！,!]?)?(?:谢谢|多谢|感谢|谢啦|谢了)[^，。！？,!?]{0,6}[，。！,!]\s*\w")
_ASKED = re.compile(r"(.)[不没]\1|什么|哪|怎么|多少")
_PURPOSE = re.compile(r"方便|省得|免得|以便|好让|这样")
#: What names a journey or a search for one.
_SEARCHES = re.compile(r"车|票|航班|飞|班|铁|查|找|推荐|有|哪|什么|怎么|去|到")
#: What a group sets out for, by domain: "我要带家人去吃饭".
_OUTINGS = {"餐馆": "去吃饭", "餐厅": "去吃饭", "景点": "去玩", "旅游景点": "去玩", "酒店": "找地方住"}


def thanks_first(source: str) -> bool:
    """Whether a turn thanks for what was answered and goes on: "多谢。那儿的评价怎么样？"."""
    return bool(_THANKS_FIRST.match(source))


def searches(draft: Draft) -> bool:
    """Whether a turn about a journey searches: "二等座就行" answers what was asked, though a label has the search go on."""
    asked = any(act.slot in NAME_SLOTS and act.act == "request" for act in draft.context.view.turn.acts)
    return asked and not (draft.plan.asked and not _SEARCHES.search(draft.source))


def dangles(core: Sequence[str], draft: Draft, after: Sequence[Item]) -> bool:
    """Whether a reason that is kept would stand behind a question, which it isn't the reason of: "有推荐吗？方便我接送"; or a question of its own
    behind a longer way to ask: "你把温度告诉我吧，我好记下来，高不高？".
    """
    source = draft.source
    if draft.style == "more" and any(_ASKED.search(source, item.start, item.end) or source[item.end : item.end + 1] in ("？", "?") for item in after):
        return True
    return bool(core) and core[-1][-1:] in "？?" and any(_PURPOSE.match(source, item.start) for item in after)


def company(draft: Draft, item: Item, domain: str) -> str:
    """Who comes along, as a clause: "我要带家人去吃饭，", "带家人，" in few words. Where the turn searches, "一起去" would point at nothing."""
    if draft.style == "less":
        return draft.value(item) + "，"
    if draft.of("find") and (domain not in _OUTINGS or draft.drinks):
        raise NoClause("company")
    words = draft.source[item.start : item.end]
    who = ("我要" if words.startswith(tuple(kinds()["along"])) else "我们") + draft.value(item)
    return who + (_OUTINGS[domain] if draft.of("find") else "一起去") + "，"


def alike(text: str, others: Sequence[str]) -> bool:
    """Whether one of some modifiers ends in the same words: "上午上课、周日上课"."""
    return any(text[-2:] == other[-2:] and ord(text[-1]) < FIRST for other in others)


def closed(text: str, says: Sequence[str]) -> str:
    """Puts further wishes where a frame has room for them: behind a question they are a sentence of their own."""
    if not says:
        return text.replace("{S}", "")
    joined = "，".join(says)
    if text.endswith("{S}？"):
        return text[: -len("{S}？")] + "？" + joined + "。"
    return text.replace("{S}", "，" + joined)


def politely(draft: Draft, text: str) -> str:
    """The same with 您 where the speaker of the dialogue says so: one word for the whole dialogue."""
    said = draft.source.replace("您好", "").replace("你好", "")
    if "您" not in said and "你" not in said:
        said = "".join(turn.utterance for turn in draft.context.view.dialogue.turns if turn.speaker == "user")
        said = said.replace("您好", "").replace("你好", "").replace("谢谢你", "")
    formal, plain = "您" in said, "你" in said
    if formal == plain:
        formal = draft.who.voice in ("indirect", "older")
    return text.replace("你", "您") if formal else text


def joined(segments: Sequence[str], source: str, draft: Draft) -> str:
    """The segments as one text with its signs."""
    text = ""
    for segment in segments:
        if not segment:
            continue
        last = last_sign(text, source, draft)
        if segment[0] == "，":
            if last in ENDS:
                segment = segment[1:]
            elif last in SIGNS:
                text = text[:-1] if text[-1] in SIGNS else text
        elif text and last not in SIGNS and last != " ":
            text += "，"
        text += segment
    if last_sign(text, source, draft) not in ENDS:
        text = text.rstrip("，；：") + ("" if draft.style == "less" else "。")
    return text


def last_sign(text: str, source: str, draft: Draft) -> str:
    if not text:
        return "。"
    place = ord(text[-1]) - FIRST
    return source[draft.ranges[place][1] - 1] if 0 <= place < len(draft.ranges) else text[-1]


def expanded(text: str, draft: Draft) -> tuple[str, list[Placed]]:
    """The text with its private characters replaced by what they stand for, and where that stands."""
    out: list[str] = []
    placed: list[Placed] = []
    size = 0
    for char in text:
        place = ord(char) - FIRST
        piece = char
        if 0 <= place < len(draft.ranges):
            start, end = draft.ranges[place]
            piece = draft.source[start:end]
            placed.append(Placed(size, size + len(piece), start, end))
        out.append(piece)
        size += len(piece)
    return "".join(out), placed


def requests_lost(context: Context, plan: Plan, text: str) -> str | None:
    """The request that no cue shows in a text, None where all are shown."""
    for item in plan.items:
        if item.kind == "ask" and not any(cue in text for cue in table("request_cues").get(item.slot, (item.slot,))):
            return f"request_lost: {item.slot}"
        if item.kind in ("askfac", "facility") and item.slot[len(FACILITY) :].lower() not in text.lower():
            return f"request_lost: {item.slot}"
    return None
