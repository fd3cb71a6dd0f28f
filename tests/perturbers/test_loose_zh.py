"""Chinese turns without labels: what leads up to them, by the kind of turn; their own words stay."""

from __future__ import annotations

import pytest
from dialmill.perturbers import get
from dialmill.perturbers.rewording.loose_chinese import kind_of

from tests.talk import dialogue


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("我的订单为什么还没发货？", "question"),
        ("快递到哪了", "question"),
        ("我想退掉上周买的鞋子", "wish"),
        ("打开软件就闪退，重装也不行", "problem"),
        ("我们上个月刚搬过来住", "tell"),
        ("谢谢你的帮助", ""),
        ("随便都行", ""),
        ("好的", ""),
        ("那再见了，拜拜", ""),
    ],
)
def test_a_turn_is_told_by_its_words(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_its_own_words_stay_and_nothing_comes_twice() -> None:
    texts = ("你好，我的订单为什么还没发货？", "快递到哪了？", "这个会员怎么取消？", "优惠券什么时候能到账？", "谢谢你，再见")
    talk = dialogue("own", [turn for text in texts for turn in (("user", text), ("system", "请稍等。"))], language="zh")
    for seed in range(30):
        made = [turn.utterance for turn in get("verbosity")().perturb(talk, seed).turns if turn.speaker == "user"]
        assert made[-1] == texts[-1]
        added = []
        for text, variant in zip(texts[:-1], made, strict=False):
            own = text.removeprefix("你好，")
            assert own in variant, variant
            added.append(variant.replace(own, ""))
        assert len(set(added)) == len(added), added


def test_what_labels_tell_is_left_to_the_composer() -> None:
    from dialmill.schemas import Act

    talk = dialogue("zh", [("user", "除了川菜，附近哪家餐馆不太吵？", Act("request", "餐馆", "名称"))], language="zh")
    assert get("verbosity")().perturb(talk, 1).turns[0].utterance == talk.turns[0].utterance
