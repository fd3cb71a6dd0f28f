"""Translation: the lexicon's rules, placeholders, engines, and what a translated turn has to show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers.core.contract import Chain, OptionError
from dialmill.perturbers.core.registry import get
from dialmill.perturbers.rewording import llm
from dialmill.perturbers.translation import engines, lexicon
from dialmill.perturbers.translation.certificate import problem
from dialmill.perturbers.translation.masking import mask, place, places_of
from dialmill.perturbers.translation.perturber import Translate
from dialmill.perturbers.translation.surfaces import find
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn
from dialmill.schemas.validate import check_dialogue
from hypothesis import given
from hypothesis import strategies as st

TABLE = """kind\tdomain\tslot\tsource\ttarget
domain\t\t\thotel\t旅馆
slot\t\t\tarea\t区域
slot\t\t\tpricerange\t价格范围
slot\t\t\tprice\t价格
slot\t\t\tphone\t电话
slot\t\t\tfee\t费用
slot\t\t\tname\t名称
slot\t\t\tcode\t编码
slot\t\t\tstay\t停留天数
value\thotel\tarea\tnorth\t北方
value\thotel\tarea\tthe centre\t中心
value\thotel\tpricerange\tcheap\t便宜的
value\thotel\tname\tking 's inn\t国王旅馆
template\thotel\tfee\t{} pounds\t{}英镑
copy\t\tcode\t\t
"""


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "lexicon.tsv"
    path.write_text(TABLE, "utf-8")
    return str(path)


def span(text: str, surface: str, slot: str, value: str) -> Span:
    start = text.index(surface)
    return Span(start, start + len(surface), surface, "hotel", slot, value)


def hotel() -> Dialogue:
    first, second = "I need a cheap hotel in the north .", "The number is 01223 . Anything else ?"
    return Dialogue(
        dialogue_id="d",
        source="s",
        source_id="d",
        domains=("hotel",),
        turns=(
            Turn(
                0,
                "user",
                first,
                spans=(span(first, "cheap", "pricerange", "cheap"), span(first, "north", "area", "north")),
                acts=(Act("inform", "hotel", "pricerange", "cheap"), Act("inform", "hotel", "area", "north")),
                state=(SlotValues("hotel", "pricerange", ("cheap",)), SlotValues("hotel", "area", ("north",))),
            ),
            Turn(1, "system", second, spans=(span(second, "01223", "phone", "01223"),), acts=(Act("inform", "hotel", "phone", "01223"),)),
            Turn(2, "user", "No, thank you .", acts=(Act("thank", "general"),)),
        ),
    )


@pytest.mark.parametrize(
    ("domain", "slot", "value", "expected"),
    [
        ("hotel", "area", "North ", "北方"),
        ("hotel", "hotel-book area", "north", "北方"),
        ("hotel", "area", "centre", None),
        ("hotel", "area", "north|north", "北方或北方"),
        ("hotel", "phone", "ab 12", "ab 12"),
        ("hotel", "fee", "12.5 pounds", "12.5英镑"),
        ("hotel", "code", "xyz", "xyz"),
        ("hotel", "stay", "4", "4"),
        ("general", "none", "anything", "anything"),
        ("hotel", "price", "cheap", "便宜的"),
        ("hotel", "name", "the king 's inn", "国王旅馆"),
        ("restaurant", "area", "north", None),
    ],
)
def test_values_follow_the_official_look_up(table: str, domain: str, slot: str, value: str, expected: str | None) -> None:
    found = lexicon.load(table, "en", "zh")
    if expected is None:
        with pytest.raises(lexicon.Untranslated, match=f"value_untranslated: {slot}={value}"):
            found.value(domain, slot, value)
    else:
        assert found.value(domain, slot, value) == expected


def test_a_lexicon_is_turned_round_where_it_goes_the_other_way(table: str) -> None:
    back = lexicon.load(table, "zh", "en")
    assert back.domain("旅馆") == "hotel" and back.slot("区域") == "area"
    assert back.value("旅馆", "区域", "北方") == "north" and back.value("旅馆", "费用", "3英镑") == "3 pounds"


def test_two_ontologies_of_one_shape_pair_by_their_order(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps({"hotel": {"area": ["north", "south"]}}))
    (tmp_path / "b.json").write_text(json.dumps({"旅馆": {"区域": ["北", "南"]}}))
    found = lexicon.load(f"{tmp_path}/a.json|{tmp_path}/b.json", "en", "zh")
    assert found.value("hotel", "area", "south") == "南"
    (tmp_path / "c.json").write_text(json.dumps({"旅馆": {"区域": ["北"]}}))
    with pytest.raises(OptionError, match=r"hotel\.area and 旅馆\.区域 must have the same number of values"):
        lexicon.load(f"{tmp_path}/a.json|{tmp_path}/c.json", "en", "zh")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a\tb\n", "first line is kind domain slot source target"),
        (TABLE + "word\t\t\ta\tb\n", "line 17: kind is one of"),
        (TABLE + "slot\t\ta\n", "line 17: expected 5 columns, found 3"),
        (TABLE + "template\thotel\tfee\tpounds\t英镑\n", "a template holds {} once on both sides"),
        ("{}", "expected the keys intent_set"),
        ("[1]", "first line is"),
    ],
)
def test_a_lexicon_of_another_form_says_what_is_expected(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "l"
    path.write_text(content, "utf-8")
    with pytest.raises(OptionError) as refusal:
        lexicon.load(str(path), "en", "zh")
    assert said in str(refusal.value) and str(path) in str(refusal.value)


@given(st.permutations([0, 1, 2]), st.sampled_from(["en", "zh"]))
def test_values_come_back_to_their_placeholders_in_any_order(order: list[int], language: str) -> None:
    values = ["one", "two", "three"]
    masked = "x".join(f"⟦{number + 1}⟧" for number in order)
    placed = place(masked, values, language)
    assert placed is not None
    assert [placed.text[start:end] for start, end in placed.bounds] == values
    assert place(masked + "⟦1⟧", values, language) is None and place("", values, language) is None


def test_spans_inside_longer_ones_have_no_place_of_their_own() -> None:
    text = "the north star inn"
    spans = [span(text, "north", "area", "north"), span(text, "north star inn", "name", "north star inn")]
    [one] = places_of(spans, spans)
    assert one.source == "north star inn" and mask(text, [one]).text == "the ⟦1⟧"


def test_labels_alone_are_translated_without_an_engine(table: str) -> None:
    source = hotel()
    made = Translate(lexicon=table).perturb(source, 1)
    assert check_dialogue(made) == [] and made.language == "en" and made.domains == ("旅馆",)
    assert [turn.utterance for turn in made.turns] == [turn.utterance for turn in source.turns]
    assert made.turns[0].state == (SlotValues("旅馆", "价格范围", ("便宜的",)), SlotValues("旅馆", "区域", ("北方",)))
    assert [(one.slot, one.value, one.text) for one in made.turns[0].spans] == [("价格范围", "便宜的", "cheap"), ("区域", "北方", "north")]
    assert made.turns[2].acts == (Act("thank", "general"),)


PAIRS = (
    "I need a [pricerange] hotel in the [area].\t我想在[area]找一家[pricerange]酒店。\n"
    "The number is [phone]. Anything else?\t电话是[phone]，还需要别的吗？\nNo, thank you.\t不用了，谢谢。\n"
)


@pytest.mark.parametrize("engine", ["table", "memory"])
def test_sentences_with_names_of_slots_bring_the_values_to_their_places(table: str, tmp_path: Path, engine: str) -> None:
    (tmp_path / "pairs.tsv").write_text(PAIRS, "utf-8")
    made = Translate(lexicon=table, engine=engine, file=str(tmp_path / "pairs.tsv")).perturb(hotel(), 1)  # type: ignore[arg-type]
    assert made.language == "zh" and check_dialogue(made) == []
    assert made.turns[0].utterance == "我想在北方找一家便宜的酒店。" and made.turns[0].original == "I need a cheap hotel in the north ."
    assert [made.turns[0].utterance[one.start : one.end] for one in made.turns[0].spans] == ["便宜的", "北方"]


def test_whole_sentences_of_people_are_taken_with_the_words_that_they_use(table: str, tmp_path: Path) -> None:
    said = ["我要北部一家便宜点的酒店。", "电话是01223，还需要别的吗？", "不用了，谢谢。"]
    lines = [f"{turn.utterance}\t{one}\n" for turn, one in zip(hotel().turns, said, strict=True)]
    (tmp_path / "pairs.tsv").write_text("".join(lines), "utf-8")
    made = Translate(lexicon=table, engine="table", file=str(tmp_path / "pairs.tsv")).perturb(hotel(), 1)
    assert [turn.utterance for turn in made.turns] == said
    assert [(one.value, one.text) for one in made.turns[0].spans] == [("便宜的", "便宜"), ("北方", "北部")]


def test_a_memory_learns_from_pairs_what_the_lexicon_knows_of_them(table: str, tmp_path: Path) -> None:
    (tmp_path / "l.tsv").write_text(TABLE + "value\thotel\tarea\tsouth\t南方\nvalue\thotel\tpricerange\texpensive\t昂贵的\n", "utf-8")
    pairs = "I need an expensive hotel in the south.\t我想要南方的一家昂贵的酒店。\n"
    pairs += "The number is 01223. Anything else?\t电话是01223，还需要别的吗？\nno thank you\t不用，谢谢\n"
    (tmp_path / "pairs.tsv").write_text(pairs.replace("an expensive", "a expensive"), "utf-8")
    made = Translate(lexicon=str(tmp_path / "l.tsv"), engine="memory", file=str(tmp_path / "pairs.tsv")).perturb(hotel(), 1)
    assert made.turns[0].utterance == "我想要北方的一家便宜的酒店。"


def test_one_turn_that_cannot_be_translated_costs_the_dialogue_and_says_why(table: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text(PAIRS.rpartition("No,")[0], "utf-8")
    made = Translate(lexicon=table, engine="table", file=str(tmp_path / "pairs.tsv")).perturb(hotel(), 1)
    assert made.turns == hotel().turns and {skip.reason for skip in made.lineage[-1].skipped} == {"sentence_not_known"}
    there = hotel().replace(domains=("taxi",))
    assert Translate(lexicon=table).perturb(there, 1).lineage[-1].skipped[0].reason == "domain_untranslated: taxi"
    assert Translate().perturb(hotel(), 1).lineage[-1].skipped[0].reason == "no_lexicon"


def test_what_comes_after_it_works_in_the_other_language(table: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text(PAIRS, "utf-8")
    chain = Chain(links=(Translate(lexicon=table, engine="table", file=str(tmp_path / "pairs.tsv")), get("typos").from_options({"rate": "0.9"})))
    made = chain.perturb(hotel(), 3)
    assert made.language == "zh" and check_dialogue(made) == [] and "language_not_supported" not in str(made.lineage)
    assert made.turns[0].original == "I need a cheap hotel in the north ."


def test_a_model_is_asked_for_json_and_held_to_the_placeholders(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[dict[str, str]]] = []

    class Client:
        def ask(self, messages: list[dict[str, str]], attempt: int = 0) -> llm.Answer:
            asked.append(messages)
            text = messages[1]["content"]
            if "⟦2⟧" in text:
                said = "我要⟦1⟧的酒店" if attempt == 0 else "我想在⟦2⟧找一家⟦1⟧酒店。"
            else:
                said = "电话是⟦1⟧，还要别的吗？" if "⟦1⟧" in text else "不用了，谢谢。"
            return llm.Answer(f"```json\n{json.dumps({'translation': said})}\n```", 1)

    monkeypatch.setattr(llm, "client_for", lambda model: Client())
    made = Translate(lexicon=table, engine="llm", model="m").perturb(hotel(), 1)
    assert made.turns[0].utterance == "我想在北方找一家便宜的酒店。", "the first answer lost a placeholder, the second is taken"
    assert "⟦1⟧ 便宜的" in asked[0][0]["content"] and "Before it: I need a cheap hotel" in asked[2][1]["content"]


def test_a_model_folder_is_asked_with_signs_that_it_keeps_and_then_with_the_values(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def translator(path: str) -> Any:
        said = {
            "I need a X1X hotel in the X2X .": "我要X 1 X的酒店",
            "I need a 便宜的 hotel in the 北方 .": "我要北方的便宜的酒店。",
            "The number is X1X . Anything else ?": "电话是 X1X，还有别的吗？",
            "No, thank you .": "不用了，谢谢。",
        }
        return said.__getitem__

    # The model itself is a few hundred megabytes; what runs it is called as it would be.
    monkeypatch.setattr(engines, "_translators", translator)
    monkeypatch.setattr(engines, "check_folder", lambda path: None)
    made = Translate(lexicon=table, engine="ctranslate2", file="folder").perturb(hotel(), 1)
    assert [turn.utterance for turn in made.turns][:2] == ["我要北方的便宜的酒店。", "电话是 01223，还有别的吗？"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"engine": "memory"}, "engine=memory needs sentence pairs"),
        (
            {"engine": "table"},
            "engine=table needs sentence pairs, as in translate:engine=table,file=pairs.tsv; engine=none translates the labels alone",
        ),
        ({"engine": "table", "file": ""}, "engine=table needs sentence pairs"),
        ({"engine": "ctranslate2", "file": "/nowhere"}, "/nowhere has no model.bin, source.spm, target.spm"),
        ({"engine": "table", "file": "/nowhere.tsv"}, "/nowhere.tsv: No such file"),
        ({"engine": "llm"}, "engine=llm needs a model"),
        ({"engine": "deepl"}, "engine"),
    ],
)
def test_options_that_cannot_work_are_refused_at_the_start(options: dict[str, str], said: str) -> None:
    with pytest.raises(OptionError) as refusal:
        Translate.from_options(options)
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("source", "target", "languages", "expected"),
    [
        ("I need a taxi at 9:15 .", "我9点15分要一辆出租车。", ("en", "zh"), None),
        ("I need a taxi at 9:15 .", "我9点50分要一辆出租车。", ("en", "zh"), "numbers_changed: 15"),
        ("I need a room for 2 nights", "我要一个房间住两晚", ("en", "zh"), None),
        ("I need a room for 2 nights", "我要一个房间住三晚", ("en", "zh"), "numbers_changed: 2"),
        ("I do n't want a hotel with a pool .", "我想要一家有游泳池的酒店。", ("en", "zh"), "negation_changed"),
        ("You're welcome. Goodbye.", "别客气，再见。", ("en", "zh"), None),
        ("I want a restaurant .", "我没想要餐厅。", ("en", "zh"), "negation_changed"),
        ("What is the address ?", "地址是这样。", ("en", "zh"), "question_lost"),
        ("The address is this .", "地址就是这里吗？", ("en", "zh"), "question_added"),
        ("i want something moderate", "我想要moderate的", ("en", "zh"), "source_words_left: moderate"),
        ("i want Curry Garden please", "我想去Curry Garden", ("en", "zh"), None),
        ("is there wifi ?", "有wifi吗？", ("en", "zh"), None),
        ("我想找一家便宜的酒店", "I want a 便宜 hotel", ("zh", "en"), "source_words_left: 便"),
        ("我想找一家便宜的酒店，请推荐一个给我吧，谢谢", "Hotel.", ("zh", "en"), "length"),
        ("地址是平安里大街3号。", "It is No. 3, Ping'anli Street.", ("zh", "en"), None),
    ],
)
def test_what_a_translated_turn_has_to_show(source: str, target: str, languages: tuple[str, str], expected: str | None) -> None:
    assert problem(source, target, languages, [], []) == expected


@pytest.mark.parametrize(
    ("slot", "value", "text", "language", "expected"),
    [
        ("日期", "星期四", "我周四出发", "zh", "周四"),
        ("区域", "北方", "在小镇北边的", "zh", "北边"),
        ("人数", "2", "订两个座位", "zh", "两"),
        ("人数", "1", "星期一住", "zh", None),
        ("票价", "10.24 pounds", "票价是10.24英镑。", "zh", "10.24英镑"),
        ("食物", "印度的", "印度餐厅", "zh", "印度"),
        ("时间", "15:15", "下午3点15分到", "zh", "3点15分"),
        ("时间", "15:15", "下午3点50分到", "zh", None),
        ("互联网", "有", "要有免费Wi-Fi", "zh", "Wi-Fi"),
        ("车型", "蓝色特斯拉", "一辆蓝色的特斯拉", "zh", "蓝色的特斯拉"),
        ("rating", "4.5 points or above", "a rating above 4.5 points", "en", "4.5"),
        ("duration", "2 hours-3 hours", "for 2-3 hours.", "en", "2-3"),
        ("cost", "1000 yuan or more", "1,000 yuan or above", "en", "1,000"),
        ("type", "budget", "an economical hotel", "en", "economical"),
        ("name", "Subway", "by the subways", "en", None),
    ],
)
def test_values_are_found_as_people_write_them(slot: str, value: str, text: str, language: str, expected: str | None) -> None:
    found = find(slot, value, text, language)
    assert (None if found is None else text[found[0] : found[1]]) == expected


@pytest.mark.parametrize(
    ("listed", "value"),
    [
        ("海底捞（西单店）", "海底捞(西单店)"),
        ("海底捞(西单店)", "海底捞（西单店）"),
        ("Ａ店(1)", "a店（1）"),
        ("A店（1）", "Ａ店(1)"),
        ("５０％折扣店", "50%折扣店"),
        ("①号店", "1号店"),
    ],
)
def test_a_value_is_found_in_either_width(listed: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "lexicon.tsv"
    path.write_text(f"kind\tdomain\tslot\tsource\ttarget\ndomain\t\t\t餐馆\trestaurant\nvalue\t餐馆\t名称\t{listed}\tShop\n", "utf-8")
    assert lexicon.load(str(path), "zh", "en").value("餐馆", "名称", value) == "Shop"
