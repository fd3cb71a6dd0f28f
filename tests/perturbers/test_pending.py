"""Where talk may come in between: what a system turn leaves pending, what follows it, and what the inserted reply says of it."""

from __future__ import annotations

import re

import pytest
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.insertion.knowledge import Knowledge, own_base
from dialmill.perturbers.insertion.knowledge import english as knowledge_english
from dialmill.perturbers.insertion.knowledge.table import names_of, spots
from dialmill.perturbers.insertion.out_of_scope import OutOfScope, candidates, places_of
from dialmill.perturbers.insertion.pending import follows, pending, stands
from dialmill.perturbers.insertion.replies import answers, kind_of
from dialmill.perturbers.insertion.turns import gaps
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn


def dialogue(*utterances: str, language: str = "en", acts: dict[int, tuple[Act, ...]] | None = None, domain: str = "hotel") -> Dialogue:
    """A dialogue of the given utterances, the user's first, with acts by turn."""
    turns = tuple(Turn(at, ("user", "system")[at % 2], text, acts=(acts or {}).get(at, ())) for at, text in enumerate(utterances))
    return Dialogue(dialogue_id="D/standard/0", source="t", source_id="D", language=language, domains=(domain,), turns=turns, split="test")


def left_of(text: str, language: str = "en", *acts: str) -> tuple[str, str]:
    """(kind, question) of what a system turn leaves pending."""
    source = dialogue("I need a place .", text, "Fine .", language=language, acts={1: tuple(Act(act, "hotel") for act in acts)})
    found = pending(source.turns[1], Locator.of(source), language)
    return found.kind, found.question


@pytest.mark.parametrize(
    ("text", "kind", "question"),
    [
        ("Nice . Would you like me to book a room ?", "question", "Would you like me to book a room ?"),
        ("What restaurant would you like? Where should I look for it?", "question", "What restaurant would you like? Where should I look for it?"),
        ("I was unable to book that can I try something else ?", "more", "Can I try something else ?"),
        ("Certainly, in what city?", "question", "In what city?"),
        ("And where is the restaurant located?", "question", "Where is the restaurant located?"),
        ("Booked . Is there anything else I can do for you ?", "more", "Is there anything else I can do for you ?"),
        ("You'd like to hear it in the living room. Is that correct?", "unclear", ""),
        ("It leaves late . Would this suffice ?", "unclear", ""),
        ("How about the Elm ?", "unclear", ""),
        ("Would you like to leave at 20:01 ?", "unclear", ""),
        ("Please confirm: a room at the Elm for two people.", "offer", ""),
        ("There's one called Crowne Plaza Nairobi.", "offer", ""),
        ("Do you have a type in mind ? There are many .", "unclear", ""),
        ("The postcode is cb30aq .", "nothing", ""),
    ],
)
def test_a_question_is_asked_again_in_full_or_not_at_all(text: str, kind: str, question: str) -> None:
    assert left_of(text) == (kind, question)


@pytest.mark.parametrize(
    ("text", "kind", "question"),
    [
        ("好的，您的预算是多少？", "question", "您的预算是多少？"),
        ("您好，用于购车的预算在什么范围？", "question", "用于购车的预算在什么范围？"),
        ("喜家德有素三鲜。您看可以吗？", "unclear", ""),
        ("有两家，您看哪个合适？", "unclear", ""),
        ("停车场是免费的呢。", "nothing", ""),
        ("推荐您去爨底下。", "offer", ""),
        ("没有查到，您还有其他问题吗？", "more", "您还有其他问题吗？"),
    ],
)
def test_a_chinese_question_is_asked_again_in_full_or_not_at_all(text: str, kind: str, question: str) -> None:
    assert left_of(text, "zh") == (kind, question)


def test_a_question_that_names_a_value_is_not_asked_again() -> None:
    source = dialogue("A cheap hotel .", "Do you want a cheap hotel ?", "Yes .")
    system = source.turns[1].replace(spans=(Span(14, 19, "cheap", "hotel", "pricerange", "cheap"),))
    turns = (source.turns[0].replace(state=(SlotValues("hotel", "pricerange", ("cheap",)),)), system, source.turns[2])
    source = source.replace(turns=turns)
    assert pending(source.turns[1], Locator.of(source), "en").kind == "unclear"


def test_what_failed_is_tried_otherwise_next() -> None:
    assert left_of("The booking was not successful .", "en", "nobook")[0] == "offer"
    assert left_of("There are none in that area .", "en", "nooffer")[0] == "offer"


def test_comments_and_answers_do_not_follow_what_is_not_asked_again() -> None:
    told = dialogue("Hi .", "The postcode is cb30aq .", "x")
    left = pending(told.turns[1], Locator.of(told), "en")
    for text in (
        "Great , thanks .",
        "That 's perfect .",
        "Thanks so much , that sounds perfect .",
        "No . It should leave on Sunday .",
        "Wonderful .",
    ):
        assert not follows(told.turns[2].replace(utterance=text), left, "en"), text
    for text in ("Thank you . That is all .", "I also need a train .", "Does it have parking ?"):
        assert follows(told.turns[2].replace(utterance=text), left, "en"), text
    for text in ("Sounds amazing", "That is correct.", "Yes, book it.", "How about 2 nights instead ?", "Before I book this , what is the price ?"):
        assert not stands(told.turns[2].replace(utterance=text), "en"), text
    chinese = dialogue("你好", "电话是010。", "x", language="zh")
    left = pending(chinese.turns[1], Locator.of(chinese), "zh")
    for text in (
        "那感情好，它几点到？",
        "OK，收到，非常感谢！",
        "记下了，地址呢？",
        "太好了，在哪里？",
        "哇，分数真高。",
        "必须的啊，相当满意了。",
        "评分虽说低了点，电话呢？",
    ):
        assert not follows(chinese.turns[2].replace(utterance=text), left, "zh"), text
    for text in ("好的，谢谢。", "这家酒店的电话是多少？", "我想找个餐馆吃饭。"):
        assert follows(chinese.turns[2].replace(utterance=text), left, "zh"), text


@pytest.mark.parametrize(
    ("language", "told", "texts", "free"),
    [
        (
            "en",
            "There is no information on the entrance fee .",
            (
                "I guess I will find out when I get there . I also need a place to eat .",
                "You 're right , that 's dear . I need a taxi .",
                "In that case , find me a museum .",
                "It sounds dear . I need a taxi too .",
                "Then book a table .",
                "Good to know . What is the phone number ?",
                "Too bad . Find me a museum .",
            ),
            ("I guess a museum would be nice .", "Thank you so much . I also need a taxi .", "That will be all , thanks ."),
        ),
        (
            "zh",
            "这家酒店评分不高，但是很豪华，服务都有。",
            (
                "您说的也对，我想从那边打车回来，车牌是什么？",
                "确实挺划算啊，这个真可以试试。明天想去公园，能玩多久？",
                "那太好了，听着我就很满意。接下来去哪吃饭，评分多少？",
                "也是，那帮我找个餐馆。",
                "还是订它吧，电话多少？",
                "难怪这么贵，地址在哪？",
                "倒也不远，怎么去？",
                "不过我还是想看看别的，有吗？",
                "我觉得可以，就去这家好了，地址在哪？",
            ),
            ("那给我推荐一家餐馆吧。", "好的，我还想找一家酒店。"),
        ),
    ],
)
def test_what_reacts_to_what_was_told_stays_right_behind_it(language: str, told: str, texts: tuple[str, ...], free: tuple[str, ...]) -> None:
    start = "I need a place ." if language == "en" else "我想找一家酒店。"
    for text in (*texts, *free):
        source = dialogue(start, told, text, "Fine ." if language == "en" else "好。", language=language)
        assert [place.gap for place in places_of(source, Locator.of(source))] == ([0] if text in texts else [2]), text
        base = dialogue(start, told, text, "Fine .", language=language, acts={1: (Act("Inform", "hotel", "name", "Elm"),)})
        for seed in range(6):
            made = Knowledge().perturb(base, seed)
            assert text not in texts or not any(turn.inserted for turn in made.turns), text


@pytest.mark.parametrize(("language", "asked", "text"), [("zh", "环境很好，价格也合适。您想住几天？", "确实挺划算啊，住三天。")])
def test_also_where_a_question_is_asked_again(language: str, asked: str, text: str) -> None:
    source = dialogue("我想找一家酒店。", asked, text, "好。", language=language)
    assert [place.gap for place in places_of(source, Locator.of(source))] == [0]


def test_the_opening_is_the_place_where_there_is_no_other_and_is_no_aside() -> None:
    source = dialogue("I need a hotel in Phoenix .", "How about the Elm ?", "That sounds amazing .", "It is cheap .", "That 's perfect .")
    assert [place.gap for place in places_of(source, Locator.of(source))] == [0]
    sources = {one.text.casefold(): one for one in candidates("", "en")}
    for seed in range(30):
        made = OutOfScope().perturb(source, seed)
        assert made.turns[0].labels[0] == "inserted" and made.turns[2].utterance == source.turns[0].utterance
        plain = re.sub(r" (?=[.,?!:'])", "", made.turns[0].utterance.casefold()).rstrip(" .?")
        said = [one for text, one in sources.items() if plain.endswith(text)]
        assert said and all(one.source not in ("half", "aside") for one in said), plain
        last = re.sub(r" (?=[.,?!'])", "", made.turns[1].utterance)
        assert any(last.endswith(text) for text in answers("en", "task", "open")), last


def test_where_nothing_is_pending_the_reply_goes_back_to_nothing() -> None:
    source = dialogue("Book a table .", "Booking was successful .", "Thank you so much . That is all I need .", domain="restaurant")
    source = source.replace(turns=(*source.turns, Turn(3, "system", "Welcome ."), Turn(4, "user", "Bye .", acts=(Act("bye", "general"),))))
    seen = set()
    for seed in range(60):
        for turn in OutOfScope().perturb(source, seed).turns:
            if "fallback" in turn.labels:
                seen.add(turn.utterance)
                assert "back to" not in turn.utterance and "go on with" not in turn.utterance, turn.utterance
    assert len(seen) > 10


def test_a_sentence_that_broke_off_is_asked_about_once() -> None:
    for language, name in (("en", "half"), ("zh", "half")):
        assert not any(text.rstrip().endswith(("?", "？")) for text in answers(language, "sorry", name))
        assert all(re.search(r"[?？]|说|please", text) for text in answers(language, "task", name))


@pytest.mark.parametrize(
    ("text", "language", "kind"),
    [
        ("can you sing me a song", "en", "request"),
        ("tell me a joke please", "en", "request"),
        ("do you believe in ghosts", "en", "bot"),
        ("how do you fold a fitted sheet", "en", "question"),
        ("do you know how long garlic breath lasts", "en", "question"),
        ("my suitcase is heavier than i am", "en", "remark"),
        ("给我出个谜语吧。", "zh", "request"),
        ("你能教我怎么包饺子吗？", "zh", "request"),
        ("你会不会觉得累？", "zh", "bot"),
        ("怎么安慰一个伤心的朋友？", "zh", "question"),
        ("晾的衣服都没收呢。", "zh", "remark"),
    ],
)
def test_the_reply_is_of_the_kind_of_what_was_said(text: str, language: str, kind: str) -> None:
    assert kind_of(text, language) == kind
    if language == "zh":
        assert (kind == "request") or not any("办不到" in one for one in answers("zh", "sorry", kind))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_talk_is_manifold_and_points_at_nothing(language: str) -> None:
    own = candidates("", language)
    assert len(own) >= 750 and sum(bool(one.domains) for one in own) >= 350 and any(one.kind == "sad" for one in own)
    assert not any(re.search(r"\bthose\b|\bthat (?:hotel|train|place)\b", one.text) for one in own)
    assert sum(len(answers(language, "intro", kind)) for kind in ("question", "request", "remark", "open")) > 35


def test_nobody_changes_the_subject_after_a_farewell_in_words() -> None:
    for goodbye in ("Well thank you and enjoy your stay", "You are welcome . Have a lovely day !", "Goodbye ."):
        source = dialogue("A hotel .", "It is north .", "That is all I need .", goodbye, "Thank you and have a good time .", "Thanks .")
        assert 4 not in gaps(source), goodbye


def test_there_is_is_no_place() -> None:
    asked = "There's one more of us. Can a bed be added to the room?"
    for text in (asked, asked.replace("There's", "There 's")):
        assert knowledge_english.place_in(text, "this hotel", "at this hotel") == text
        assert knowledge_english.refer(text, "this hotel") == text


@pytest.mark.parametrize(
    ("system", "acts", "named"),
    [
        ("We have 19 trains . Do you have a time in mind ?", (Act("inform", "train", "choice", "19"),), False),
        ("TR1 leaves at nine . Do you have a time in mind ?", (Act("inform", "train", "id", "TR1"),), True),
    ],
)
def test_this_train_is_one_that_was_named(system: str, acts: tuple[Act, ...], named: bool) -> None:
    source = dialogue("A train .", system, "I need to leave late .", "There is one .", domain="train", acts={0: (Act("inform", "train"),), 1: acts})
    spot = spots(source, names_of(own_base("en"), "en"), [2])[0]
    assert spot.offered == named
    pointed = False
    for seed in range(80):
        made = Knowledge().perturb(source, seed)
        pointed |= any(re.search(r"\b(?:this|that) train\b", turn.utterance) for turn in made.turns if turn.inserted)
    assert pointed == named


def test_several_on_offer_are_none() -> None:
    acts = {1: (Act("inform", "hotel", "name", "Elm"),), 3: (Act("inform", "hotel", "choice", "5"),)}
    source = dialogue("A hotel .", "There is the Elm .", "Others ?", "I have 5 hotels . Which area ?", "The north .", acts=acts)
    found = spots(source, names_of(own_base("en"), "en"), [2, 4])
    assert [spot.offered for spot in found] == [True, False]


def test_knowledge_asks_the_pending_question_again_and_offers_nothing_else() -> None:
    acts = {1: (Act("inform", "hotel", "name", "Elm"), Act("request", "hotel", "people"))}
    source = dialogue("A hotel .", "There is the Elm . How many guests will there be ?", "Three people .", "Done .", acts=acts)
    for seed in range(40):
        made = Knowledge(reference="noun").perturb(source, seed)
        pairs = zip(made.turns, made.turns[1:], strict=False)
        answer = next((one for one, after in pairs if "knowledge_answer" in one.labels and after.utterance == "Three people ."), None)
        if answer is not None:
            assert answer.utterance.endswith("How many guests will there be ?"), answer.utterance


def test_no_question_is_asked_twice() -> None:
    acts = {1: (Act("inform", "hotel", "name", "Elm"),), 3: (Act("inform", "hotel", "name", "Elm"),)}
    source = dialogue("A hotel .", "There is the Elm .", "Can I bring my dog ?", "I do not know .", "I need a taxi as well .", "Done .", acts=acts)
    for seed in range(60):
        for turn in Knowledge().perturb(source, seed).turns:
            assert not (turn.inserted and turn.knowledge and re.search(r"\bpet", turn.knowledge[0].title or "")), turn.utterance


def test_a_train_has_nothing_on_the_train() -> None:
    assert knowledge_english.place_in("Do they have toilets on the train?", "that train", "on board") == "Does that train have toilets?"
    assert knowledge_english.place_in("Can I smoke there?", "the train", "on the train") == "Can I smoke on the train?"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_answer_of_our_base_gives_what_was_asked_for(language: str) -> None:
    for entity in own_base(language).entities.values():
        for snippet in entity.snippets:
            said = str(snippet.body)
            assert not re.search(r"\bour\b|\bpartner\b|本店|我们", said), said
            if language == "en" and "wheelchair" in f"{snippet.title} {said}".lower():
                assert "ramp" in said, "whoever asks for a ramp is not told of room"
            if language == "zh" and ("微信" in str(snippet.title)):
                assert "卡" in said and "现金" in said, "whoever asks for a card is told of cards"


def test_facilities_that_the_database_lists_are_no_knowledge() -> None:
    keys = {str(one.title) for one in own_base("zh").entities["酒店", "*"].snippets}
    assert keys and not any(re.search(r"接机|洗衣|寄存|早餐|抽烟|无烟", title) for title in keys)
