"""Values are found where they stand, whatever their form, and never inside another token."""

from __future__ import annotations

import pytest
from dialmill.perturbers.core.surfaces import block, kind_of, parse_time
from dialmill.perturbers.core.values import Located, Locator, find_span
from dialmill.schemas import Act, Dialogue, SlotValues, Span, Turn
from hypothesis import given, settings
from hypothesis import strategies as st


def dialogue(text: str, language: str = "en", acts: tuple[Act, ...] = (), spans: tuple[Span, ...] = (), **state: str) -> Dialogue:
    cells = tuple(SlotValues("hotel", slot, (value,)) for slot, value in state.items())
    turn = Turn(0, "user", text, acts=acts, spans=spans, state=cells)
    return Dialogue(dialogue_id="d", source="test", source_id="d", language=language, turns=(turn,))


def located(text: str, language: str = "en", acts: tuple[Act, ...] = (), spans: tuple[Span, ...] = (), **state: str) -> list[tuple[str, str]]:
    made = dialogue(text, language, acts, spans, **state)
    return [(text[place.start : place.end], place.slot) for place in Locator(made).view(made.turns[0]).located]


@pytest.mark.parametrize(
    ("slot", "value", "text", "surface"),
    [
        ("area", "centre", "somewhere in the center please", "center"),
        ("area", "centre", "a central hotel", "central"),
        ("area", "east", "in eastern Cambridge", "eastern"),
        ("pricerange", "cheap", "something cheaper please", "cheaper"),
        ("pricerange", "moderate", "a moderately priced place", "moderately priced"),
        ("type", "guesthouse", "a guest house or two", "guest house"),
        ("type", "guesthouse", "any B&B will do", "B&B"),
        ("type", "museum", "some museums", "museums"),
        ("type", "swimmingpool", "a swimming pool", "swimming pool"),
        ("book people", "2", "a table for two", "two"),
        ("book people", "1", "just me", "just me"),
        ("internet", "yes", "it must have free wifi", "free wifi"),
        ("parking", "yes", "with free parking", "free parking"),
        ("name", "christ's college", "to christ 's college please", "christ 's college"),
        ("name", "rosas bed and breakfast", "is rosa 's b&b free", "rosa 's b&b"),
        ("name", "the cambridge belfry", "at cambridge belfry", "cambridge belfry"),
        ("name", "acorn guest house", "the Acorn Guesthouse", "Acorn Guesthouse"),
        ("name", "michaelhouse cafe", "at michaelhose cafe", "michaelhose cafe"),
        ("leaveat", "17:45", "after quarter to six", "quarter to six"),
        ("leaveat", "after 13:45", "leaving at 1:45 pm", "1:45 pm"),
        ("area", "dontcare", "any area is fine", "any"),
        ("area", "dontcare", "it does n't matter where", "does n't matter"),
    ],
)
def test_surface_forms(slot: str, value: str, text: str, surface: str) -> None:
    found = find_span(text, value, slot)
    assert found is not None
    assert text[found[0] : found[1]] == surface
    act = Act("inform", "hotel", slot, value)
    assert (surface, slot) in located(text, acts=(act,))


@pytest.mark.parametrize(
    ("slot", "value", "text", "surface"),
    [
        ("年代", "2010 年代", "2010年代的电影", "2010年代"),
        ("主演", "沙特 鲁汉 . 辛哈", "沙特鲁汉·辛哈演的", "沙特鲁汉·辛哈"),
        ("星级", "3", "找一家三星级酒店", "三"),
        ("人数", "2", "我们两个人", "两"),
        ("时间", "19:30", "晚上七点半到", "七点半"),
        ("时间", "14:00", "下午2点出发", "2点"),
        ("类型", "悬疑片", "平时喜欢看悬疑的", "悬疑"),
        ("价位", "便宜", "经济实惠的餐厅", "经济实惠"),
        ("区域", "吴中区", "在吴中附近", "吴中"),
        ("内存容量", "8GB", "内存８ＧＢ的", "８ＧＢ"),
        ("区域", "dontcare", "哪里都行", "都行"),
    ],
)
def test_chinese_surface_forms(slot: str, value: str, text: str, surface: str) -> None:
    found = find_span(text, value, slot, "zh")
    assert found is not None
    assert text[found[0] : found[1]] == surface


@pytest.mark.parametrize(
    ("slot", "value", "text", "language"),
    [
        ("book people", "7", "we arrive at 17:30", "en"),
        ("book people", "7", "call 01223-367 7a", "en"),
        ("book people", "2", "the TR2635 at 10.2", "en"),
        ("book people", "12", "1 2", "en"),
        ("area", "east", "the best feast", "en"),
        ("leaveat", "17:15", "at 17:51", "en"),
        ("book day", "friday", "on firday", "en"),
        ("人数", "3", "星期三去", "zh"),
        ("人数", "3", "三十个人", "zh"),
        ("内存容量", "8GB", "128GB", "zh"),
    ],
)
def test_what_is_not_the_value(slot: str, value: str, text: str, language: str) -> None:
    assert find_span(text, value, slot, language) is None
    assert located(text, language, **{slot: value}) == []


def test_b30_a_value_inside_a_longer_one_is_not_that_value() -> None:
    text = "The north star inn is in the north of town."
    assert find_span(text, "north", "area", longer=["north star inn"]) == (29, 34, False)
    assert located(text, name="north star inn", area="north") == [("north star inn", "name"), ("north", "area")]


def test_b16_values_placeholders_and_spans() -> None:
    text = "Book the Golden Wok Inn for 5 at 17:30, [value_area] side"
    made = dialogue(text, name="golden wok inn", people="5", time="17:30")
    view = Locator(made).view(made.turns[0])
    assert [text[start:end] for start, end in view.protected] == ["Golden Wok Inn", "5", "17:30", "[value_area]"]
    assert not view.free(text.index("Wok"), text.index("Wok") + 3)
    assert view.free(0, 4)
    assert view.free(text.index(" for"), text.index(" for") + 4)


def test_the_corpus_span_comes_first_and_every_place_is_protected() -> None:
    text = "the meze bar is fine, the meze bar on tuesday"
    made = dialogue(text, spans=(Span(4, 12, "meze bar", "hotel", "name", "meze bar"),), name="the meze bar")
    view = Locator(made).view(made.turns[0])
    assert view.located[0] == Located(4, 12, "hotel", "name", "meze bar", "span")
    assert [text[start:end] for start, end in view.protected] == ["the meze bar", "the meze bar", "tuesday"]


def test_one_place_of_several_slots_goes_by_acts_then_words_beside() -> None:
    cells = (SlotValues("hotel", "people", ("2",)), SlotValues("hotel", "stay", ("2",)))
    turn = Turn(0, "user", "2 nights for 2 people", state=cells)
    made = Dialogue(dialogue_id="d", source="test", source_id="d", turns=(turn,))
    assert [(place.slot, place.ambiguous) for place in Locator(made).view(turn).located] == [("stay", False), ("people", False)]
    assert [place.ambiguous for place in Locator(made).locate("i said 2")] == [True]


@pytest.mark.parametrize(
    ("text", "language", "guarded"),
    [
        ("i do n't want anything cheap", "en", ["do n't", "anything", "cheap"]),
        ("not on monday at 7 am for three", "en", ["not", "monday", "7", "am", "three"]),
        ("i am here", "en", []),
        ("非常好，不要周三", "zh", ["非常", "不", "周三"]),
    ],
)
def test_guards(text: str, language: str, guarded: list[str]) -> None:
    made = dialogue(text, language)
    assert [text[start:end] for start, end in Locator(made).view(made.turns[0]).protected] == guarded


_times = st.builds(lambda hour, minute: f"{hour:02d}:{minute:02d}", st.integers(0, 23), st.integers(0, 59))


@settings(max_examples=100, deadline=None)
@given(value=_times, language=st.sampled_from(["en", "zh"]))
def test_every_way_to_write_a_time_is_found_and_digits_map_back(value: str, language: str) -> None:
    hour, minute = map(int, value.split(":"))
    for key, ((form, _),) in block("time", value, language).forms.items():
        if form.lead:
            continue  # needs its context as a word of its own: tested above
        text = f"， {key} ，"
        found = find_span(text, value, "time", language)
        assert found is not None
        surface = text[found[0] : found[1]]
        assert surface == key
        parsed = parse_time(surface)
        if ":" in surface and parsed is not None:
            assert parsed in {(hour, minute), (hour % 12, minute), ((hour - 1) % 12 + 1, minute)}


@pytest.mark.parametrize(
    ("text", "found"), [("i leave at 7 please", (11, 12, False)), ("i leave at seven", (11, 16, False)), ("i need 7", None), ("at7", None)]
)
def test_a_bare_hour_is_a_time_only_after_a_word_for_it(text: str, found: tuple[int, int, bool] | None) -> None:
    assert find_span(text, "19:00", "leaveat") == found


_VALUES = ["7", "17:30", "east", "golden wok inn", "TR2635", "10.50 pounds", "christ's college", "centre", "b & b"]
_noise = st.lists(st.sampled_from(["i", "need", "the", "?", ",", "please", "x9", "café", "don't", "\t", "é"]), max_size=6).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(value=st.sampled_from(_VALUES), before=_noise, after=_noise, gap=st.sampled_from([" ", ", ", " - ", "\t", "? "]))
def test_a_value_between_token_boundaries_is_found(value: str, before: str, after: str, gap: str) -> None:
    text = f"{before}{gap}{value}{gap}{after}"
    start = len(before) + len(gap)
    assert (start, start + len(value)) in [place[:2] for place in Locator(dialogue(text, slot=value)).locate(text)]


@settings(max_examples=200, deadline=None)
@given(value=st.sampled_from(_VALUES[:5]), before=st.sampled_from(["a", "9", "é", ""]), after=st.sampled_from(["b", "3", "ß", ""]))
def test_a_value_inside_a_longer_token_is_not(value: str, before: str, after: str) -> None:
    text = f"so {before}{value}{after} it is"
    found = [place[:2] for place in Locator(dialogue(text, slot=value)).locate(text)]
    assert bool(found) == (not before and not after)


def test_kinds() -> None:
    assert [kind_of(slot, value) for slot, value in (("leaveat", "7 pm"), ("book people", "2"), ("internet", "yes"), ("area", "dontcare"))] == [
        *("time", "number", "boolean:internet", "dontcare")
    ]
    assert kind_of("hotel-name", "yes") == "none"
    assert kind_of("hotel-name", "acorn guest house") == "name"


@pytest.mark.parametrize(("text", "language"), [("take me to the caf{} inn please", "en"), ("我想去caf{} inn吃饭", "zh")])
def test_composed_and_decomposed_letters_are_the_same(text: str, language: str) -> None:
    for written in ("\u00e9", "e\u0301"):
        for labelled in ("\u00e9", "e\u0301"):
            shown = text.format(written)
            found = find_span(shown, f"caf{labelled} inn", "name", language)
            assert found is not None and shown[found[0] : found[1]] == f"caf{written} inn"


def test_perturbers_of_one_dialogue_share_its_index_and_views() -> None:
    made = dialogue("i want a cheap hotel", price="cheap")
    locator = Locator.of(made)
    assert Locator.of(made) is locator and locator.view(made.turns[0]) is locator.view(made.turns[0])
    copy = made.turns[0].replace(utterance="i want a hotel that is cheap")
    assert locator.view(copy).turn is copy, "a perturbed copy of a turn is looked at for itself"
    equal = made.replace(dialogue_id="other")
    assert Locator.of(equal) is not locator, "another object, whose labels may be others"
    for number in range(5):
        Locator.of(made.replace(dialogue_id=str(number)))
    assert Locator.of(made) is not locator, "few are kept"
