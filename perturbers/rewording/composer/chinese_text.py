"""Segments of a Chinese turn as one text: what joins and ends them, politeness, and the places of values and kept clauses."""

from __future__ import annotations

from collections.abc import Sequence

from dialmill.perturbers.rewording.composer.chinese_draft import (
    ENDS,
    FIRST,
    SIGNS,
    Draft,
)
from dialmill.perturbers.rewording.composer.plan import Placed


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
