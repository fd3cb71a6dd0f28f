"""Chinese rules that leave words out or put words in: what is left is a sentence."""

from __future__ import annotations

import pytest
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.rewording.rewriting import Omissions, Rewordings
from dialmill.perturbers.rewording.wordings import Analysis
from dialmill.schemas import Dialogue, apply_edits

from tests.talk import dialogue


def _one(text: str) -> Dialogue:
    return dialogue("zh", [("user", text)], language="zh")


def _shorter(text: str, seed: int = 0) -> str:
    view = Locator(_one(text)).view(_one(text).turns[0])
    omissions = Omissions(text, Analysis(view, None, frozenset()).parts, "zh")
    return apply_edits(view.turn, omissions.draw(1.0, Rng(seed))).utterance


def _reworded(text: str, seeds: int) -> list[str]:
    view = Locator(_one(text)).view(_one(text).turns[0])
    rewordings = Rewordings(text, Analysis(view, None, frozenset()).parts, "zh")
    return [apply_edits(view.turn, rewordings.draw(Rng(seed))).utterance for seed in range(seeds)]


@pytest.mark.parametrize("thanks", ["真心感谢你的帮忙", "感谢您的热情", "谢谢你的好意", "十分感谢你的讲解"])
def test_thanks_for_something_keep_whose_it_is(thanks: str) -> None:
    assert "谢的" not in _shorter(f"好的，{thanks}，再见！")


@pytest.mark.parametrize("plan", ["我想带孩子放松一下", "我要送朋友一台", "我想陪爸妈散散步"])
def test_who_says_what_he_is_up_to_stays_its_subject(plan: str) -> None:
    """ "哪天结课，带孩子放松" would ask for both."""
    assert plan[:2] in _shorter(f"这个班哪天结课，{plan}。")


def test_a_thing_stays_named_before_how_sure_it_is() -> None:
    assert "这家医院" in _shorter("这家医院一定会有停车场吧？")


@pytest.mark.parametrize("hearsay", ["听说花城酒店评价不错是吗？", "据说那边风景很好对吗？", "感觉有点贵是吗？"])
def test_hearsay_is_not_asked_for(hearsay: str) -> None:
    """ "请问" goes with what is asked, not with what was heard."""
    assert not any("问" in made for made in _reworded(f"你好，{hearsay}", 30))


@pytest.mark.parametrize("text", ["没有什么特别要求，推荐一家吧。", "我爱看电影，特别是动作片。", "有什么特别推荐的吗？"])
def test_what_is_special_is_not_very(text: str) -> None:
    assert not any("非常" in made for made in _reworded(text, 20))


@pytest.mark.parametrize("text", ["你好，能帮我看一下北京天气如何吗？", "嗯呢。这家酒店的评分怎么样呢？", "嗯呐，价格是多少啊？"])
def test_no_two_particles_follow_each_other(text: str) -> None:
    """ "怎么样啊吗" and "嗯嗯呢" are no words."""
    for made in _reworded(text, 60):
        assert not any(words in made for words in ("啊吗", "呢吗", "呀吗", "嗯嗯呢", "嗯嗯呐", "嗯，好呢", "呀啊", "呢啊", "呢呢")), made
