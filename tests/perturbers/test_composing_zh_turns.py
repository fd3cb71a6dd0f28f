"""The Chinese composer: turns keep what they do (ask whether, answer, thank), and nothing in them hangs loose."""

from __future__ import annotations

import re

import pytest
from dialmill.perturbers.rewording.composer.plan import STYLES, Composed, Refusal
from dialmill.schemas import Act, Dialogue

from tests.talk import inform
from tests.zh_composing import worded, zh


def _later(said: str, text: str, *acts: Act) -> Dialogue:
    return zh(("user", "你好", Act("greet", "general")), ("system", said), ("user", text, *acts))


@pytest.mark.parametrize(
    ("said", "text", "acts"),
    [
        ("是《武林外传》。", "它的豆瓣评分可高了吧？", [Act("request", "电视剧", "豆瓣评分")]),
        ("推荐花城酒店。", "这家酒店的价格应该不便宜吧？", [Act("request", "酒店", "价格")]),
        ("推荐便宜坊。", "现在还营业吗？", [Act("request", "餐馆", "营业时间")]),
        ("有G1次。", "我打算下周一出发呢，还有车吗？", [*inform("火车", 日期="下周一"), Act("request", "火车", "车次信息")]),
        ("有故宫。", "多谢。请问那儿的评价怎么样？", [Act("request", "景点", "评分")]),
    ],
)
@pytest.mark.parametrize("style", STYLES)
def test_a_question_keeps_its_kind_and_thanks_their_place(said: str, text: str, acts: list[Act], style: str) -> None:
    for seed in range(12):
        assert isinstance(worded(_later(said, text, *acts), 1, style, seed=seed), Refusal)


@pytest.mark.parametrize("style", STYLES)
def test_what_the_system_asked_for_is_told_and_nothing_searched(style: str) -> None:
    talks = [
        _later("您想找个什么房型的酒店呢？", "我想找个标准间。", *inform("酒店", 房型="标准间")),
        _later("请问您要几等座？", "二等座就行。", *inform("火车", 坐席="二等座"), Act("request", "火车", "车次信息")),
    ]
    for talk in talks:
        for seed in range(20):
            made = worded(talk, 1, style, seed=seed)
            assert isinstance(made, Refusal) or not re.search("找|推荐|宾馆|酒店|哪|车次|车", made.text), made.text


def test_nobody_agrees_to_an_open_question() -> None:
    text = "好，我要找一家评分4分以上的餐馆。"
    talk = _later("车牌是A1，您还需要什么信息？", text, *inform("餐馆", 评分="4分以上"), Act("request", "餐馆", "名称"))
    for seed in range(30):
        made = worded(talk, 1, seed=seed)
        assert isinstance(made, Composed) and not re.match("可以|行|成|那行|没问题", made.text), made


def test_who_comes_along_goes_somewhere() -> None:
    talk = zh(("user", "我想带女朋友找一家评分4分以上的餐馆吃饭。", *inform("餐馆", 评分="4分以上"), Act("request", "餐馆", "名称")))
    for seed in range(12):
        made = worded(talk, seed=seed)
        assert isinstance(made, Composed) and "女朋友去吃饭，" in made.text, made


def test_a_cry_is_followed_by_a_plain_question_and_a_class_is_attended_once() -> None:
    for seed in range(20):
        made = worded(_later("是豪华型的。", "我的天！那得多少钱？", Act("request", "酒店", "价格")), 1, seed=seed)
        assert isinstance(made, Refusal) or made.text.endswith("？"), made
        wishes = inform("辅导班", 年级="六年级", 科目="数学", 每周="日", 时段="上午")
        made = worded(zh(("user", "我想找个周日上午上课的六年级数学辅导班", *wishes, Act("request", "辅导班", "名称"))), seed=seed)
        assert isinstance(made, Refusal) or not re.search("上课、[^，]*上课", made.text), made


def test_a_question_that_stays_stands_behind_no_longer_way_to_ask() -> None:
    """ "你把温度告诉我吧，我好记下来，高不高？"."""
    for seed in range(20):
        made = worded(_later("下周四是晴天。", "温度呢？高不高？", Act("request", "天气", "温度")), 1, "more", seed=seed)
        assert isinstance(made, Refusal), made


@pytest.mark.parametrize("style", STYLES)
def test_a_kind_that_names_the_thing_is_its_noun(style: str) -> None:
    """ "属于山水景区的景区" says it twice."""
    wishes = inform("旅游景点", 景点类型="山水景区", 区域="高新区")
    talk = zh(("user", "帮我找一个高新区的山水景区。", *wishes, Act("request", "旅游景点", "名称")))
    for seed in range(20):
        made = worded(talk, 0, style, seed=seed)
        assert isinstance(made, Refusal) or not re.search("属于山水景区|山水景区类|山水景区[^，。]*的[^，。]*景[区点]", made.text), made


def test_what_is_around_comes_last_behind_a_search() -> None:
    """ "附近餐馆、地址也跟我说说": whose address?"""
    asked = (Act("request", "景点", "名称"), Act("request", "景点", "周边餐馆"), Act("request", "景点", "地址"))
    talk = zh(("user", "想找一个评分4分以上的景点，周边有什么餐馆？地址在哪？", *inform("景点", 评分="4分以上"), *asked))
    for seed in range(20):
        made = worded(talk, 0, seed=seed)
        assert isinstance(made, Refusal) or made.text.find("地址") < max(made.text.find("周边"), made.text.find("附近")), made


def test_a_reason_stands_behind_no_question() -> None:
    wishes = inform("辅导班", 年级="六年级", 科目="数学", 每周="日")
    text = "我想报个六年级数学辅导班，最好周日上课，方便我接送。"
    for seed in range(30):
        made = worded(zh(("user", text, *wishes, Act("request", "辅导班", "名称"))), seed=seed)
        assert isinstance(made, Refusal) or not re.search("[？]方便", made.text), made
