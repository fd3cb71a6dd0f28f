"""Chinese knowledge-seeking turns: forms that people use, answers to what was asked, and a place that is in sight."""

from __future__ import annotations

import re

import pytest
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.insertion.knowledge import Knowledge, chinese, own_base
from dialmill.perturbers.insertion.knowledge.table import names_of, spots
from dialmill.perturbers.insertion.knowledge.topics import topics
from dialmill.schemas import Act, Dialogue

from tests.perturbers.test_pending import dialogue

_NO_FORM = re.compile(r"^(?!.*[有了]).*(?:可以|能|会|支持|允许).*没$")


def test_can_is_not_asked_with_mei() -> None:
    """ "可以…没" is no form: 没 asks of what is there or has happened."""
    worded = [wording for topic in topics("zh") for wording in topic.wordings]
    for entity in own_base("zh").entities.values():
        for snippet in entity.snippets:
            title = chinese.canonical(str(snippet.title), None)
            worded += [chinese.reworded(title, Rng("form", title, key)) for key in range(12)]
    assert len(worded) > 500 and not [one for one in worded if _NO_FORM.search(one)]


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ("{r}朋友能到房间里做客吗", "他们家，朋友能到房间里做客吗"),
        ("{r}老人有优惠吗", "他们家，老人有优惠吗"),
        ("{r}有宝宝椅吗", "他们家有宝宝椅吗"),
        ("{r}宝宝椅有吗", "他们家宝宝椅有吗"),
        ("去{r}朋友能进吗", "去他们家朋友能进吗"),
    ],
)
def test_who_comes_along_does_not_belong_to_the_place(plain: str, said: str) -> None:
    assert chinese.refer(plain, "他们家") == said


@pytest.mark.parametrize(
    ("language", "asked", "told"),
    [("zh", r"轮椅.*进得去|推轮椅进", r"坡道|通道|进得去"), ("en", r"don't show up|no[- ]show", r"show|charge")],
)
def test_the_answer_says_what_was_asked(language: str, asked: str, told: str) -> None:
    """Whether a wheelchair gets in is not answered by one that can be borrowed, nor a charge for who stays away by the last day to cancel."""
    for topic in topics(language):
        if any(re.search(asked, wording) for wording in topic.wordings):
            bodies = [
                str(snippet.body)
                for entity in own_base(language).entities.values()
                for snippet in entity.snippets
                if entity.domain in topic.domains and topic.pattern.search(str(snippet.title).casefold())
            ]
            assert bodies and all(re.search(told, body) for body in bodies), (topic.name, bodies)


def hotel_talk(*later: tuple[str, str, tuple[Act, ...]]) -> Dialogue:
    """A hotel is named, then come pairs of turns (user, system, the system's acts)."""
    texts = ["帮我找一家酒店。", "推荐您去北京贵都大酒店。"]
    acts = {1: (Act("inform", "酒店", "名称", "北京贵都大酒店"),)}
    for user, system, told in later:
        acts[len(texts) + 1] = told
        texts += [user, system]
    return dialogue(*texts, "我想打车去餐馆。", language="zh", acts=acts, domain="酒店")


def test_this_hotel_was_named_in_the_last_turns() -> None:
    price = ("价格多少？", "八百元。", (Act("inform", "酒店", "价格", "八百元"),))
    around = ("周边有什么餐馆？", "有小王府，大董。", (Act("inform", "酒店", "周边餐馆", "小王府"), Act("inform", "酒店", "周边餐馆", "大董")))
    phone = ("这家酒店电话多少？", "010。", price[2])
    for later, near in (((price,), True), ((price, around), False), ((price,) * 4, False), ((around, phone), True)):
        source = hotel_talk(*later)
        spot = spots(source, names_of(own_base("zh"), "zh"), [len(source.turns) - 1])[0]
        assert spot.offered == near, later
        if not near:
            made = [Knowledge(reference="noun").perturb(source, seed) for seed in range(20)]
            last = source.turns[-1].utterance
            for one in made:
                place = next(turn.turn for turn in one.turns if turn.utterance == last)
                assert not one.turns[place - 1].inserted


def test_nobody_plans_for_the_sunrise_in_the_rain() -> None:
    asked: dict[str, bool] = {}
    for told in ("当天的天气是有小雨。", "当天的天气是晴。"):
        acts = {1: (Act("inform", "天气", "天气", told[-3:-1]),)}
        source = dialogue("那天天气怎么样？", told, "再帮我看看有没有高铁。", "有。", language="zh", acts=acts, domain="天气")
        made = [Knowledge(chain=0.0).perturb(source, seed) for seed in range(80)]
        asked[told] = any("日出" in turn.utterance or "日落" in turn.utterance for one in made for turn in one.turns)
        assert not any(re.search("想.*，(?:我?想|打算)", turn.utterance) for one in made for turn in one.turns if turn.speaker == "user")
    assert list(asked.values()) == [False, True]
