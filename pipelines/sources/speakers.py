"""The words by which people's data say who speaks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dialmill.schemas.dialogue import Speaker

_USER = (
    "user usr u customer client caller human guest visitor buyer shopper consumer member passenger patient patron subscriber person me"
    " 用户 顾客 客户 买家 乘客 患者 病人 来电者 访客 会员 用户端 问 我"
)
_SYSTEM = (
    "system sys s assistant asst agent chatgpt bot chatbot robot machine ai model gpt operator advisor adviser representative rep wizard clerk staff"
    " support service helpdesk seller vendor consultant waiter receptionist"
    " 系统 客服 机器人 助手 助理 坐席 座席 人工客服 智能客服 小助手 卖家 商家 店员 店家 服务员 顾问 接线员 答"
)
_OTHER = "tool function developer observation function_call function_response tool_response tool_call ipython environment instructions"
_WORDS: dict[str, Speaker] = {
    **dict.fromkeys(_USER.split(), "user"),
    **dict.fromkeys(_SYSTEM.split(), "system"),
    **dict.fromkeys(_OTHER.split(), "other"),
}
#: Words of that kind that have another one in front as a name.
_KINDS = frozenset(["agent", "assistant", "bot", "caller", "chatbot", "clerk", "client", "customer", "guest", "operator", "representative", "user"])
#: What may stand behind such a word: a number ("Agent 2"), a colon.
_TAIL = re.compile(r"[\s_#-]*\d{0,3}[\s:：]*")


def speaker_of(word: str, own: Mapping[str, Speaker] | None = None) -> Speaker | None:
    """Who a word names, whatever its letter case; None where it is no such word ("Anna").

    Args:
        word: as the data have it: "Customer", "agent 2", "客服".
        own: further words, case-folded, which count first.
    """
    folded = word.strip().casefold()
    if own and folded in own:
        return own[folded]
    found = _WORDS.get(folded)
    if found is None and folded:
        # The longest word that the text is, up to its tail.
        match = re.fullmatch(rf"(.*?){_TAIL.pattern}", folded)
        found = _WORDS.get(match[1]) if match else None
        # "Support Bot", "Travel agent": the second word says what it is.
        words = match[1].split() if match else []
        if found is None and len(words) == 2 and words[1] in _KINDS:
            found = _WORDS[words[1]]
    return found
