"""Chinese slips: by sound, with characters that people write, and none where an input method knows better."""

from __future__ import annotations

from collections import Counter

import pytest
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.typing import chinese as typing_zh
from dialmill.perturbers.typing import homophones
from dialmill.perturbers.typing.typos import Typos

from tests.perturbers.test_typos import typed


def test_no_rare_character_is_typed_for_a_frequent_one() -> None:
    table = homophones.table()
    for word in ("人均", "吃饭", "推荐", "餐馆", "酒店", "附近"):
        for key in range(200):
            slipped = typing_zh.slip(word, Rng("rare", word, key))
            assert slipped is not None
            if len(slipped) == len(word) and slipped not in table.sounds:
                new = [b for a, b in zip(word, slipped, strict=True) if a != b]
                usual = {form for a in word for form in typing_zh._pairs("confusions").get(a, ())}
                assert all(one in usual or (one in table.alone and one in table.written[table.sounds[one].pinyin][:6]) for one in new), (
                    word,
                    slipped,
                )


@pytest.mark.parametrize(("word", "never"), [("怎样", "央"), ("好看", "堪"), ("周边", "轴"), ("价格", "革"), ("周末", "轴")])
def test_a_character_that_is_no_word_by_itself_is_not_typed_alone(word: str, never: str) -> None:
    assert not any(never in (typing_zh.slip(word, Rng("alone", word, key)) or "") for key in range(300))


@pytest.mark.parametrize("text", ["谢谢", "我再看看吧", "我考虑考虑", "你好", "那就再见"])
def test_what_is_typed_twice_and_what_opens_and_closes_a_chat_is_right(text: str) -> None:
    kept = text.removeprefix("我").removeprefix("那就").removeprefix("再").removesuffix("吧")
    assert all(kept in typed(text, Typos(rate=1.0, style="typing"), seed=seed, language="zh") for seed in range(60))


def test_most_chinese_slips_have_the_same_sound() -> None:
    table = homophones.table()
    kinds = Counter()  # type: ignore[var-annotated]
    for word in ["推荐", "附近", "景点", "餐厅", "评分", "价格", "酒店", "电影", "喜欢", "朋友", "天气", "消费", "导演", "医院", "出发", "风力"]:
        for key in range(60):
            slipped = typing_zh.slip(word, Rng(word, key))
            assert slipped and slipped != word
            if len(slipped) != len(word):
                kinds["length"] += 1
            elif all(a == b or table.sounds[a].pinyin == table.sounds[b].pinyin for a, b in zip(word, slipped, strict=True) if b in table.sounds):
                kinds["same"] += 1
            else:
                kinds["other"] += 1
    total = sum(kinds.values())
    assert kinds["same"] / total > 0.6 and kinds["length"] / total < 0.1


def test_the_table_of_homophones_is_what_its_sources_give() -> None:
    import jieba
    import pypinyin

    if (jieba.__version__, pypinyin.__version__) != ("0.42.1", "0.55.0"):
        pytest.skip("the table was computed with jieba 0.42.1 and pypinyin 0.55.0")
    folder = homophones.Path(homophones.__file__).parents[1] / "lexicons" / "zh"
    computed = homophones.compute()
    assert computed.homophones == (folder / "homophones.tsv").read_text("utf-8")
    assert computed.polyphones == (folder / "polyphones.tsv").read_text("utf-8")
    assert computed.alone == (folder / "alone.tsv").read_text("utf-8")


@pytest.mark.parametrize(
    ("word", "alike"),
    [("酒店", "洒"), ("推荐", "椎"), ("景点", "影"), ("选择", "译"), ("名叫", "各"), ("住宿", "往"), ("硬盘", "盆"), ("免费", "兔"), ("时候", "侯")],
)
def test_nothing_is_written_that_only_looks_alike(word: str, alike: str) -> None:
    """Who types by sound is offered no character that sounds otherwise, in no dialogue."""
    table = homophones.table()
    sounding = {
        one for one in alike if one in table.sounds and table.sounds[one].pinyin in {sound.pinyin for sound in table.syllables(word) if sound}
    }
    for key in range(400):
        made = typed(f"我要{word}吧", Typos(rate=1.0, style="typing"), seed=key, language="zh")
        assert not (set(alike) - sounding) & set(made), made
