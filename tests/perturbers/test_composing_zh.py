"""The Chinese composer: its bank, how it reads turns, and what must hold of every turn that it words."""

from __future__ import annotations

import re

import pytest
from dialmill.perturbers.core.matcher import Cut
from dialmill.perturbers.core.values import VALUE_CLASSES, signals
from dialmill.perturbers.rewording.composer.bank import SHARES, Clause, Section, load
from dialmill.perturbers.rewording.composer.chinese import plan
from dialmill.perturbers.rewording.composer.chinese_clauses import words_in
from dialmill.perturbers.rewording.composer.plan import STYLES, Composed, Refusal
from dialmill.schemas import Act, Dialogue
from hypothesis import given
from hypothesis import strategies as st

from tests import zh_requests
from tests.talk import inform
from tests.zh_composing import contexts, worded, zh

_BANK = load("zh")
_DOMAINS = ("景点", "餐馆", "酒店")


def test_the_bank_is_as_large_as_asked() -> None:
    assert len(_BANK.clauses()) >= 1500


@pytest.mark.parametrize("slot", ["地址", "电话", "评分", "周边景点", "周边餐馆", "周边酒店"])
def test_common_requests_have_many_clauses(slot: str) -> None:
    assert len(_BANK.sections[Section("ask", "*", slot)]) >= 25


def _sections() -> list[tuple[Section, tuple[Clause, ...]]]:
    return sorted(_BANK.sections.items())


def test_both_halves_can_say_everything_that_two_clauses_say() -> None:
    for section, clauses in _sections():
        if len({clause.key for clause in clauses}) > 3 and section.kind in ("ask", "open", "say", "thank"):
            assert {clause.half for clause in clauses} == {"train", "test"}, section


def test_no_clause_brings_a_value_of_its_own() -> None:
    """Words of the closed lexicon are values: a clause with one would add it."""
    for section, clauses in _sections():
        for clause in clauses:
            if "min" in clause.conditions:
                continue
            text = re.sub(r"\{[^}]*\}", "", clause.text)
            found = [signal.value for signal in signals(text, "zh", Cut(text, "zh")) if signal.kind in VALUE_CLASSES]
            assert not found, (section, clause.text)


def test_every_request_clause_shows_a_word_that_it_is_told_by() -> None:
    for section, clauses in _sections():
        if section.kind == "ask" and section.slot in zh_requests.CUES:
            for clause in clauses:
                for group in zh_requests.CUES[section.slot]:
                    assert any(cue in clause.text for cue in group), (section, clause.text)


def test_reasons_ask_for_nothing() -> None:
    for section, clauses in _sections():
        if section.kind in ("why", "aside"):
            assert not [clause.text for clause in clauses if re.search(r"[？吗呢]$", clause.text)]


_FIRST = zh(
    (
        "user",
        "你好，请帮我找一家评分4.5分以上，人均消费50-100元，能吃到烤鸭的餐馆。",
        Act("greet", "general"),
        *inform("餐馆", 评分="4.5分以上", 人均消费="50-100元", 推荐菜="烤鸭"),
        Act("request", "餐馆", "名称"),
    ),
    ("system", "为您推荐便宜坊。", Act("recommend", "餐馆", "名称", "便宜坊")),
    ("user", "好的，这家餐馆的电话和地址是多少？", Act("request", "餐馆", "电话"), Act("request", "餐馆", "地址")),
    ("system", "电话010-1234567，地址在前门大街。"),
    ("user", "就去便宜坊吧，周边有什么景点吗？", *inform("餐馆", 名称="便宜坊"), Act("request", "餐馆", "周边景点")),
    ("system", "有故宫。"),
    ("user", "谢谢，再见！", Act("thank", "general"), Act("bye", "general")),
)


@given(
    st.integers(0, 3),
    st.sampled_from(sorted(SHARES)),
    st.integers(0, 10_000),
    st.sampled_from(("", "train", "test")),
    st.sampled_from(("same", "less")),
)
def test_values_stand_exact_and_requests_are_kept(place: int, voice: str, seed: int, half: str, style: str) -> None:
    made = worded(_FIRST, place, style, voice, seed, half)
    assert isinstance(made, Composed), made
    turn = contexts(_FIRST)[place].view.turn
    for spot in made.placed:
        assert made.text[spot.start : spot.end] == turn.utterance[spot.source_start : spot.source_end]
    for span in turn.spans:
        assert any((spot.source_start, spot.source_end) == (span.start, span.end) for spot in made.placed)
        assert made.text.count(str(span.text)) == 1
    assert not zh_requests.lost(turn, turn.replace(utterance=made.text))
    assert not re.search(r"[{}\ue000-\uf8ff]|，，|，。|。。", made.text)


@given(st.integers(0, 10_000), st.sampled_from(sorted(SHARES)))
def test_one_word_for_you_in_a_turn(seed: int, voice: str) -> None:
    made = worded(_FIRST, 1, "same", voice, seed)
    assert isinstance(made, Composed)
    assert not ("你" in made.text and "您" in made.text)


@given(st.integers(0, 10_000))
def test_a_longer_turn_is_longer_and_thanks_are_not(seed: int) -> None:
    assert isinstance(worded(_FIRST, 0, "more", seed=seed), Composed)
    assert isinstance(worded(_FIRST, 3, "more", seed=seed), Refusal)


@given(st.sampled_from(("接待外宾", "叫醒服务", "24小时热水", "所有房间提供wifi")), st.integers(0, 10_000), st.sampled_from(STYLES))
def test_facilities_keep_their_name(name: str, seed: int, style: str) -> None:
    talk = zh(
        (
            "user",
            f"请帮我找一家提供{name}的经济型酒店。",
            *inform("酒店", 酒店类型="经济型"),
            Act("inform", "酒店", f"酒店设施-{name}", "是"),
            Act("request", "酒店", "名称"),
        )
    )
    made = worded(talk, 0, style, seed=seed)
    assert isinstance(made, Composed), made
    assert name in made.text


@pytest.mark.parametrize(
    "text",
    [
        "帮我找一家评分4.5分以上不要太吵的餐馆。",
        "帮我找一家评分4.5分以上、离这儿近一点的餐馆。",
        "除了川菜，帮我找一家评分4.5分以上左右的餐馆。",
    ],
)
def test_what_no_label_has_is_never_dropped(text: str) -> None:
    """The words that no label has stay as they stand, or the turn isn't composed."""
    talk = zh(("user", text, *inform("餐馆", 评分="4.5分以上"), Act("request", "餐馆", "名称")))
    for seed in range(20):
        made = worded(talk, seed=seed)
        if isinstance(made, Composed):
            for word in ("不要", "近一点", "除了川菜", "左右"):
                assert word in made.text or word not in text


def _offered(said: str, answer: str, *acts: Act) -> Dialogue:
    return zh(
        ("user", "推荐一家餐馆", Act("request", "餐馆", "名称")),
        ("system", said, Act("recommend", "餐馆", "名称", "便宜坊")),
        ("user", answer, *acts),
    )


@pytest.mark.parametrize("answer", ["可以啊，地址在哪？", "行，地址在哪？", "好呀，地址在哪？", "好的，地址在哪？"])
def test_what_accepts_an_offer_accepts_it(answer: str) -> None:
    talk = _offered("便宜坊怎么样，可以吗？", answer, Act("request", "餐馆", "地址"))
    agreeing = {
        words for section, clauses in _sections() if section.kind == "ack" and section.tag == "agree" for words in (one.text for one in clauses)
    }
    for style in ("same", "less"):
        for seed in range(12):
            made = worded(talk, 1, style, seed=seed)
            assert isinstance(made, Composed)
            assert any(made.text.startswith(words) for words in agreeing), made.text


def test_a_dish_that_somebody_wants_is_asked_of_what_is_found() -> None:
    talk = zh(
        ("user", "我老妈爱吃烤鸭，请推荐一家评分4分以上的餐馆。", *inform("餐馆", 推荐菜="烤鸭", 评分="4分以上"), Act("request", "餐馆", "名称"))
    )
    for seed in range(12):
        made = worded(talk, seed=seed)
        assert isinstance(made, Composed)
        assert made.text.count("烤鸭") == 1
        assert "这道菜" in made.text


@pytest.mark.parametrize(
    "text",
    [
        "人均多少？贵不贵？",
        "人均多少？要是贵的话，我就不去了。",
        "这家店可以么？人均多少？",
    ],
)
def test_a_question_or_a_condition_of_its_own_is_never_dropped(text: str) -> None:
    talk = _offered("推荐您去便宜坊。", text, Act("request", "餐馆", "人均消费"))
    for seed in range(12):
        made = worded(talk, 1, seed=seed)
        if isinstance(made, Composed):
            for words in ("贵不贵", "我就不去了", "这家店可以么"):
                assert words in made.text or words not in text, made.text


def test_what_is_around_a_thing_is_asked_last() -> None:
    """Behind "附近有什么景点" the rating would be asked of what is there."""
    talk = _offered("推荐您去便宜坊。", "周边有什么景点？评分多少？", Act("request", "餐馆", "周边景点"), Act("request", "餐馆", "评分"))
    for seed in range(20):
        made = worded(talk, 1, seed=seed)
        assert isinstance(made, Composed)
        near = max(made.text.find(word) for word in ("附近", "周边", "周围", "旁边"))
        assert near > max(made.text.find(word) for word in ("评分", "多少分", "几分", "打分")), made.text


def test_a_choice_by_pronoun_stays() -> None:
    talk = zh(
        ("user", "推荐一家餐馆", Act("request", "餐馆", "名称")),
        ("system", "便宜坊不错。", Act("recommend", "餐馆", "名称", "便宜坊")),
        ("user", "就去这家吧，地址在哪？", Act("request", "餐馆", "地址")),
    )
    made = worded(talk, 1)
    assert isinstance(made, Composed)
    assert "就去这家吧" in made.text


@pytest.mark.parametrize(
    ("text", "asked", "kept"),
    [
        ("没去过，可以去玩玩，周边有酒店吗？", "周边酒店", "可以去玩玩"),
        ("还可以，评分多少？", "评分", "还"),
        ("会不会太挤，门票多少钱？", "门票", "会不会太挤"),
    ],
)
@pytest.mark.parametrize("style", ["same", "less"])
def test_what_a_clause_of_every_day_words_says_stays(text: str, asked: str, kept: str, style: str) -> None:
    talk = zh(
        ("user", "推荐一个景点", Act("request", "景点", "名称")),
        ("system", "推荐您去故宫。", Act("recommend", "景点", "名称", "故宫")),
        ("user", text, Act("request", "景点", asked)),
    )
    for seed in range(8):
        made = worded(talk, 1, style, seed=seed)
        assert isinstance(made, Composed)
        if style == "same" or kept != "可以去玩玩":
            assert kept in made.text, made.text


@pytest.mark.parametrize("style", ["same", "less"])
def test_a_question_on_what_was_just_named_is_refused(style: str) -> None:
    talk = _offered("推荐您去便宜坊。", "我想吃烤鸭，这家店有吧，评分多少？", *inform("餐馆", 推荐菜="烤鸭"), Act("request", "餐馆", "评分"))
    assert isinstance(worded(talk, 1, style), Refusal)


def test_no_turn_becomes_empty() -> None:
    talk = _offered("推荐您去便宜坊。", "那可真是太好了，和我想要的一样，哈哈。", Act("general", "", "", ""))
    for seed in range(8):
        made = worded(talk, 1, "less", seed=seed)
        assert isinstance(made, Refusal) or made.text.strip("。！？，")


def test_a_turn_is_read_by_its_words() -> None:
    """出租车 holds 租车, and 有哪些 holds 哪些: neither is found inside another word."""
    text = "帮我查下出租车的车型"
    assert "租车" not in [word.text for word in words_in(text, 0, len(text))]


@pytest.mark.parametrize(
    ("acts", "reason"),
    [
        ((), "no_acts"),
        ((Act("book", "酒店", "名称", "如家"),), "act: book"),
        ((Act("inform", "酒店", "酒店设施-桑拿", "否"),), "negative_facility"),
    ],
)
def test_what_cannot_be_told_is_refused(acts: tuple[Act, ...], reason: str) -> None:
    talk = zh(("user", "帮我看看", *acts))
    found = plan(contexts(talk)[0])
    assert isinstance(found, Refusal)
    assert found.reason == reason


def test_the_same_key_gives_the_same_text() -> None:
    assert worded(_FIRST, 0, seed=7) == worded(_FIRST, 0, seed=7)
    assert len({str(worded(_FIRST, 0, seed=seed)) for seed in range(12)}) > 6


def test_what_must_be_and_what_had_better_be_are_told_apart() -> None:
    """ "最好" belongs to its own clause: what another clause asks for stays firm."""
    text = "帮我找一家经济型的酒店，最好评分4.5分以上。"
    talk = zh(("user", text, *inform("酒店", 酒店类型="经济型", 评分="4.5分以上"), Act("request", "酒店", "名称")))
    for seed in range(30):
        made = worded(talk, 0, "less", seed=seed)
        assert isinstance(made, Composed), made
        assert re.search("最好|希望|优先|更好", made.text), made.text
        assert not re.search("(?:最好|希望|如果|要是)[^，]{0,3}经济型", made.text), made.text


def test_a_wish_about_what_was_offered_is_no_new_search() -> None:
    talk = zh(
        ("user", "我想在这附近找一家5星级的酒店。", *inform("酒店", 星级="5"), Act("request", "酒店", "名称")),
        ("system", "推荐您去花城酒店。", Act("recommend", "酒店", "名称", "花城酒店")),
        ("user", "房型我要大床房。", *inform("酒店", 房型="大床房")),
    )
    for seed in range(20):
        made = worded(talk, 1, seed=seed)
        assert isinstance(made, Composed), made
        assert not re.search("找|推荐|有没有|哪", made.text), made.text


def test_who_sees_how_it_is_does_not_wonder() -> None:
    talk = zh(
        ("user", "附近有酒店吗？", Act("request", "餐馆", "周边酒店")),
        ("system", "只有这一家。"),
        ("user", "这样啊，这家餐馆的电话是多少？", Act("request", "餐馆", "电话")),
    )
    for seed in range(20):
        made = worded(talk, 1, seed=seed)
        assert isinstance(made, Composed) and not re.match("[哦哎，]*(?:真的|是吗|是嘛)", made.text), made


@pytest.mark.parametrize(
    ("slot", "named"),
    [("电话", "电话|联系|打"), ("评分", "评|打[几多少]*分|打分|打多少分|打几分|口碑"), ("地址", "地址|位置|地方|哪")],
)
def test_a_request_names_what_it_asks_for(slot: str, named: str) -> None:
    """ "号码？" and "几分？" could ask for other things."""
    for section, clauses in _sections():
        if section.kind == "ask" and section.slot == slot:
            assert not [clause.text for clause in clauses if not re.search(named, clause.text)], section


def test_a_terse_request_keeps_its_noun_where_other_things_were_named() -> None:
    before = [Act("inform", "景点", "周边酒店", name) for name in ("花城酒店", "西园酒店")]
    for acts, noun in ((before, True), ([], False)):
        talk = zh(
            ("user", "你好", Act("greet", "general")),
            ("system", "周边酒店有花城酒店和西园酒店。", *acts),
            ("user", "好的，那你知道这个景点的地址吗？", Act("request", "景点", "地址")),
        )
        for seed in range(12):
            made = worded(talk, 1, "less", seed=seed)
            assert isinstance(made, Composed), made
            assert bool(re.search("景[点区]", made.text)) == noun, made.text


def test_several_terse_requests_are_questions() -> None:
    talk = zh(("user", "这个地方有什么特点？地铁可以直达吗？", Act("request", "景点", "特点"), Act("request", "景点", "是否地铁直达")))
    for seed in range(12):
        made = worded(talk, 0, "less", seed=seed)
        assert isinstance(made, Composed), made
        assert made.text.endswith("？") and not re.search(r"特点[ 、]*地铁", made.text), made.text


def test_a_terse_search_is_no_list_of_slots_within_a_talk() -> None:
    text = "好的，正合我意，帮我推荐一个评分4分以上的舒适型酒店呗。"
    talk = zh(
        ("user", "你好", Act("greet", "general")),
        ("system", "能玩两小时。"),
        ("user", text, *inform("酒店", 评分="4分以上", 酒店类型="舒适型"), Act("request", "酒店", "名称")),
    )
    for seed in range(20):
        made = worded(talk, 1, "less", seed=seed)
        assert isinstance(made, Composed), made
        assert re.search("找舒适型(?:酒店|宾馆)", made.text) and " " not in made.text, made.text


def test_what_was_named_in_a_kept_clause_is_searched_for_without_its_noun() -> None:
    text = "您好，我平时爱看电影，特别是动作片，想请您帮忙推荐一下。"
    talk = zh(("user", text, *inform("电影", 类型="动作片"), Act("request", "电影", "片名")))
    made = [worded(talk, 0, "less", seed=seed) for seed in range(12)]
    assert not [one for one in made if isinstance(one, Composed) and "找片子" in one.text]


def test_a_reason_stays_with_the_choice_that_it_explains() -> None:
    text = "就去花城酒店好了，我喜欢安静的，你知道这家酒店的地址吗？"
    talk = zh(("user", text, *inform("酒店", 名称="花城酒店"), Act("request", "酒店", "地址")))
    for seed in range(20):
        for style in ("same", "more"):
            made = worded(talk, 0, style, seed=seed)
            if isinstance(made, Composed):
                assert re.search("花城酒店[^？]{0,8}，我喜欢安静的，", made.text), made.text


def test_nothing_more_is_to_be_asked_only_where_the_system_asks() -> None:
    for before, open_ in (("地址是前门大街1号。", False), ("您还有其他问题吗？", True)):
        talk = zh(
            ("user", "你好", Act("greet", "general")),
            ("system", before),
            ("user", "谢谢！没有问题了，再见！", Act("thank", "general"), Act("bye", "general")),
        )
        texts = [made.text for seed in range(60) for made in [worded(talk, 1, "less", seed=seed)] if isinstance(made, Composed)]
        assert texts
        assert any(text.startswith("没了") for text in texts) == open_


@pytest.mark.parametrize(("text", "asked"), [("风大吗？", False), ("风力风向怎么样？", True)])
@pytest.mark.parametrize("style", STYLES)
def test_the_direction_of_the_wind_is_asked_by_who_asks_for_it(text: str, asked: bool, style: str) -> None:
    talk = zh(("user", "明天天气怎么样？", Act("request", "天气", "天气")), ("system", "多云。"), ("user", text, Act("request", "天气", "风力风向")))
    for seed in range(20):
        made = worded(talk, 1, style, seed=seed)
        assert isinstance(made, Refusal) or ("向" in made.text) == asked, made


@pytest.mark.parametrize("style", STYLES)
def test_nobody_eats_a_drink(style: str) -> None:
    for text in ("帮我找一家能喝到摩卡、评分4分以上的餐馆。", "好的，想去喝一杯摩卡，能帮我找一个评分是4分以上的餐馆吗？"):
        talk = zh(("user", text, *inform("餐馆", 推荐菜="摩卡", 评分="4分以上"), Act("request", "餐馆", "名称")))
        for seed in range(30):
            made = worded(talk, 0, style, seed=seed)
            assert isinstance(made, Refusal) or not re.search("吃|道菜|尝|菜里", made.text), made


def test_no_reason_says_what_the_user_did_or_will_ride() -> None:
    for section, clauses in _sections():
        if section.kind in ("why", "so") and section.slot in ("地址", "周边餐馆", "周边景点", "周边酒店"):
            assert not [clause.text for clause in clauses if re.search("打车|坐车|开车|玩归玩|玩完|逛完", clause.text)], section


def test_who_gives_a_reason_gets_no_other() -> None:
    text = "我最讨厌晚点了，这趟航班的准点率是多少啊？"
    talk = zh(("user", text, Act("request", "飞机", "准点率")))
    for seed in range(30):
        made = worded(talk, 0, "more", seed=seed)
        assert isinstance(made, Refusal) or made.text.count("晚点") == 1, made


def test_further_wishes_have_turns_of_phrase_of_their_own() -> None:
    text = "再帮我找一家价格中等的休闲度假酒店，评分4分以上，我想住大床房。"
    talk = zh(("user", text, *inform("酒店", 价位="中等", 酒店类型="休闲度假", 评分="4分以上", 房型="大床房"), Act("request", "酒店", "名称")))
    for seed in range(60):
        made = worded(talk, 0, "same", seed=seed)
        assert isinstance(made, Refusal) or made.text.count("就行") < 2, made


def test_after_an_acknowledgement_no_wish_comes_before_what_it_is_about() -> None:
    talk = zh(
        ("user", "附近有地铁吗？", Act("request", "景点", "地铁线路")),
        ("system", "没有。"),
        (
            "user",
            "哎，好吧。有没有评分4分以上的餐馆，人均50-100元的。",
            *inform("餐馆", 评分="4分以上", 人均消费="50-100元"),
            Act("request", "餐馆", "名称"),
        ),
    )
    for seed in range(40):
        made = worded(talk, 1, "same", seed=seed)
        assert isinstance(made, Composed), made
        first = re.split("[，。？]", made.text)[1]
        assert re.search("餐|饭", first) or not re.search("4分|100元", first), made.text


def test_what_follows_a_time_or_a_condition_goes_on_from_it() -> None:
    for lead, after in (("吃完饭，", "我?(?:想|要|打算|需要)"), ("要是想出去玩的话，", "(?!我|想|说|是这样)")):
        talk = zh(("user", f"{lead}帮我找一家评分4.5分以上的景点", *inform("景点", 评分="4.5分以上"), Act("request", "景点", "名称")))
        for seed in range(20):
            made = worded(talk, 0, "more", seed=seed)
            if isinstance(made, Composed) and made.text.startswith(lead) and "，" in made.text:
                assert re.match(lead + after, made.text), made.text


def test_a_verb_keeps_what_it_is_about() -> None:
    """ "但我忘了这家的电话，请帮我查一下": nothing is left of it as "但我忘了"."""
    talk = zh(("user", "计划好去阳坊吃饭，但我忘了这家的电话，请帮我查一下。", Act("request", "餐馆", "电话")))
    for seed in range(12):
        made = worded(talk, 0, seed=seed)
        assert isinstance(made, Refusal) or not re.search("忘了[，。]", made.text), made


def test_who_says_that_he_asks_says_it_once() -> None:
    talk = zh(("user", "确实不低，他很满意，另外我再问一下，酒店有没有停车场呀？", Act("request", "酒店", "停车场")))
    for seed in range(20):
        made = worded(talk, 0, "more", seed=seed)
        assert isinstance(made, Refusal) or not re.search("再问一下，.*(?:问|打听|请教|确认)", made.text), made


def test_a_terse_journey_is_one_phrase() -> None:
    text = "好的。再帮看看下周一从广州到厦门的航班呗？"
    talk = zh(
        ("user", "你好", Act("greet", "general")),
        ("system", "紫外线很强。"),
        ("user", text, *inform("飞机", 日期="下周一", 出发地="广州", 目的地="厦门"), Act("request", "飞机", "航班信息")),
    )
    for seed in range(12):
        made = worded(talk, 1, "less", seed=seed)
        assert isinstance(made, Refusal) or "下周一广州到厦门的航班" in made.text, made


def test_a_search_and_its_wishes_share_no_turn_of_phrase() -> None:
    text = "您再帮我找个评分在4.5分以上、游玩时间要2小时 - 3小时的景点。"
    talk = zh(
        ("user", "有豪华型的酒店吗？", *inform("酒店", 酒店类型="豪华型"), Act("request", "酒店", "名称")),
        ("system", "推荐花城酒店。", Act("recommend", "酒店", "名称", "花城酒店")),
        ("user", text, *inform("景点", 评分="4.5分以上", 游玩时间="2小时 - 3小时"), Act("request", "景点", "名称")),
    )
    for seed in range(300):
        for style in ("same", "more"):
            made = worded(talk, 1, style, seed=seed)
            for phrase in ("打算", "准备", "计划"):
                assert isinstance(made, Refusal) or made.text.count(phrase) < 2, made.text


def test_which_of_them_is_asked_by_a_whole_sentence() -> None:
    """ "哪家高档型、评分4.5分以上" lacks its verb."""
    for section, clauses in _sections():
        if section.kind == "pick":
            assert not [clause.text for clause in clauses if re.search(r"哪\{M\}(?:\{H\})?\{Q\}", clause.text)], section


def test_no_clause_is_a_letter_a_claim_or_asks_twice() -> None:
    for section, clauses in _sections():
        for clause in clauses:
            assert not re.search("烦请|几个情况|大家打的分|大家打分", clause.text), (
                section,
                clause.text,
            )
            if section.kind in ("moreask", "askframe", "ask"):
                assert not re.search("我(?:还|也)?不(?:太)?(?:清楚|知道)|没查到|查不到", clause.text), (section, clause.text)
            if section.kind == "ask" and "向" not in clause.text:
                asked = [part for part in clause.text.split("，") if re.search("怎么样|如何|好不好|多少|几分|什么价|多长", part)]
                assert len(asked) < 2, (section, clause.text)
            if section.kind == "ask":
                assert not re.search("有几个[？]|哪个教室|想过去|的话，大家", clause.text), (section, clause.text)
            if section.kind == "ask" and section.slot == "酒店类型" and "酒店" in clause.text:
                assert "!n" in clause.conditions, clause.text  # "这间酒店的酒店类型"
            if section.kind in ("why", "so") and section.slot.startswith("周边"):
                assert not re.search("没地方|没着落|还没定|跑太远|跑远|太远", clause.text), (section, clause.text)
            if section.kind == "rev" and "terse" not in clause.voices:
                assert clause.text.index("{H}") < clause.text.index("{Z}"), clause.text
            if section.kind == "ack":
                assert "没问题" not in clause.text
