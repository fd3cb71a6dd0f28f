"""Unseen entities: one replacement for text and labels of the whole dialogue, and nothing old left."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from dialmill.perturbers.core.contract import OptionError
from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.entities import coinage
from dialmill.perturbers.entities.coinage import coin, same_shape
from dialmill.perturbers.entities.perturber import Entities
from dialmill.schemas import Act, Dialogue, Goal, SlotValues, Span, Turn
from dialmill.schemas.edits import edit_text
from dialmill.schemas.validate import check_dialogue

from tests import oracle

Said = tuple[str, list[tuple[str, str, str, str]]]  # utterance, (surface, domain, slot, value)


def talk(*said: Said, language: str = "en", goal: Goal | None = None) -> Dialogue:
    """A dialogue whose turns have a span and an act for every value, and whose state gathers the user's."""
    turns: list[Turn] = []
    state: dict[tuple[str, str], str] = {}
    for number, (text, values) in enumerate(said):
        spans, acts = [], []
        for surface, domain, slot, value in values:
            start = text.index(surface)
            spans.append(Span(start, start + len(surface), surface, domain, slot, value))
            acts.append(Act("inform", domain, slot, value))
            if number % 2 == 0:
                state[domain, slot] = value
        cells = tuple(SlotValues(domain, slot, (value,)) for (domain, slot), value in state.items()) if number % 2 == 0 else ()
        turns.append(Turn(number, "system" if number % 2 else "user", text, spans=tuple(spans), acts=tuple(acts), state=cells))
    return Dialogue(dialogue_id="D1/standard/0", source="test", source_id="D1", language=language, turns=tuple(turns), goal=goal)


ELM = talk(
    ("I want to stay at an hotel called Elm House, near the Elm House Museum?", [("Elm House", "hotel", "name", "elm house")]),
    ("The Elm is in the north. Do you mean elm house ?", [("north", "hotel", "area", "north"), ("elm house", "hotel", "name", "elm house")]),
    ("yes, the elm. book it from 17:15", [("17:15", "hotel", "book time", "17:15")]),
    ("Booked at 5:15 pm, and 18:00 for dinner.", [("18:00", "restaurant", "time", "18:00")]),
    goal=Goal("Find elm house before 17:15.", inform=(SlotValues("hotel", "name", ("elm house",)),)),
)


def test_short_forms_follow_and_labels_agree() -> None:
    for seed in range(20):
        made = Entities().perturb(ELM, seed)
        assert check_dialogue(made) == [] and made.goal is not None
        everything = json.dumps(made.to_dict(), ensure_ascii=False)
        told = json.dumps([step.reasons for step in made.lineage])
        texts = " ".join(turn.utterance for turn in made.turns) + made.goal.text
        assert not re.search(r"\belm\b", texts, re.IGNORECASE) and everything.count("elm house") <= told.count("elm house") + 9
        new = made.turns[2].state[0].values[0]
        assert new == made.goal.inform[0].values[0] == made.turns[0].spans[0].value
        core = new.removesuffix(" house")
        assert f"the {core}." in made.turns[2].utterance and f"The {core.title()} is" in made.turns[1].utterance
        assert made.turns[0].spans[0].text == new.title() and made.turns[1].spans[1].text == new
        assert all(span.status == "kept" for turn in made.turns for span in turn.spans)
        for before, after in zip(ELM.turns, made.turns, strict=True):
            assert after.source_text == before.utterance
            if after.original:
                assert edit_text(after.original, after.edits) == after.utterance


def test_all_times_move_by_one_constant() -> None:
    shifts = set()
    for seed in range(20):
        made = Entities().perturb(ELM, seed)
        (told,) = (reason for reason in made.lineage[-1].reasons if reason.startswith("times"))
        shift = int(told.split()[1])
        shifts.add(shift)
        assert shift % 5 == 0 and shift
        new = made.turns[2].spans[0]
        minutes = 17 * 60 + 15 + shift
        assert new.text == new.value == f"{minutes // 60:02d}:{minutes % 60:02d}" and new.value in made.turns[2].utterance
        assert f"{(minutes // 60 - 1) % 12 + 1}:{minutes % 60:02d} pm" in made.turns[3].utterance
        assert f"{(18 * 60 + shift) // 60}:{(18 * 60 + shift) % 60:02d} for dinner" in made.turns[3].utterance
        assert made.goal is not None and f"before {new.value}." in made.goal.text
        assert ELM.turns[1].spans[0].value == made.turns[1].spans[0].value == "north"
    assert len(shifts) > 5


def test_names_alone_leave_times_alone() -> None:
    made = Entities(slots="names").perturb(ELM, 1)
    assert "17:15" in made.turns[2].utterance and made.turns[0].spans[0].value != "elm house"


def test_b30_a_name_inside_another_is_not_torn() -> None:
    source = talk(
        ("i want the north star inn in the north", [("north star inn", "hotel", "name", "north star inn")]),
        ("the north star inn is north", [("north star inn", "hotel", "name", "north star inn")]),
        ("and a train from cambridge to the cambridge belfry", [("cambridge", "train", "departure", "cambridge")]),
        ("the cambridge belfry, then", [("cambridge belfry", "hotel", "name", "cambridge belfry")]),
    )
    for seed in range(10):
        made = Entities().perturb(source, seed)
        assert made.turns[0].utterance.endswith(" inn in the north") and made.turns[1].utterance.endswith(" inn is north")
        town, belfry = made.turns[2].spans[0].value, made.turns[3].spans[0].value
        assert town not in belfry and made.turns[2].utterance == f"and a train from {town} to the {belfry}"
        assert "north star" not in made.turns[0].utterance


@pytest.mark.parametrize(
    ("surface", "value"),
    [
        ("christ 's college", "christ college"),
        ("Christ's College", "christ college"),
        ("christs college", "christ college"),
        ("CHRIST COLLEGE", "christ college"),
        ("Christ  college", "christ 's college"),
    ],
)
def test_case_and_tokenisation_stay(surface: str, value: str) -> None:
    source = talk(
        (f"is {surface} free ?", [(surface, "attraction", "name", value)]),
        ("yes", []),
        ("and christ college", [("christ college", "attraction", "name", "christ college")]),
    )
    made = Entities().perturb(source, 3)
    new = made.turns[2].spans[0].value.removesuffix(" college")
    shown = made.turns[0].spans[0].text or ""
    assert shown.lower().replace("'", "").replace(" ", "") in (f"{new}scollege".replace(" ", ""), f"{new}college".replace(" ", ""))
    assert shown.isupper() == surface.isupper() and shown.islower() == surface.islower() and ("'" in shown) == ("'" in surface)
    assert check_dialogue(made) == []


def test_an_article_is_put_right_and_spans_stay_exact() -> None:
    source = talk(("is there a Zedel pub, or an Oak pub", [("Zedel", "restaurant", "name", "zedel"), ("Oak", "restaurant", "name", "oak")]))
    vowels = set()
    for seed in range(40):
        made = Entities().perturb(source, seed)
        match = re.fullmatch(r"is there (an?) (\w).* pub, or (an?) (\w).* pub", made.turns[0].utterance)
        assert match is not None
        assert (match[1] == "an") == (match[2] in "AEIOU") and (match[3] == "an") == (match[4] in "AEIOU")
        vowels.add(match[1])
        assert check_dialogue(made) == []
    assert vowels == {"a", "an"}


def test_a_frequent_word_that_is_a_name_is_left_where_it_cannot_be_told_apart() -> None:
    source = talk(("i want to ask about ask", [("ask", "restaurant", "name", "ask")]), ("ask away", []))
    made = Entities().perturb(source, 1)
    assert made.turns == source.turns
    assert {skip.reason for skip in made.lineage[-1].skipped} <= {"old_value_remains", "text_and_value_differ", "old_value_left: name=ask"}


def test_generic_values_are_no_names() -> None:
    places = [("the hotel", "taxi", "departure", "hotel"), ("the restaurant", "taxi", "destination", "restaurant")]
    source = talk(("a taxi from the hotel to the restaurant", places))
    made = Entities().perturb(source, 1)
    assert made.turns == source.turns and made.lineage[-1].skipped[0].reason == "nothing_to_replace"


def test_codes_keep_their_shape() -> None:
    source = talk(
        ("their number?", []),
        (
            "01223 is the code, 01223358966 the phone, CB58NT the postcode",
            [("01223358966", "hotel", "phone", "01223358966"), ("CB58NT", "hotel", "post", "cb58nt")],
        ),
        ("thanks", []),
        ("Reference ZX81QL, train TR2417", [("ZX81QL", "booking", "ref", "ZX81QL"), ("TR2417", "train", "id", "TR2417")]),
    )
    made = Entities(slots="all").perturb(source, 2)
    text = made.turns[1].utterance
    assert re.fullmatch(r"01223 is the code, 01\d{9} the phone, [A-Z]{2}\d\d[A-Z]{2} the postcode", text) and "358966" not in text
    assert re.fullmatch(r"Reference [A-Z]{2}\d\d[A-Z]{2}, train TR\d{4}", made.turns[3].utterance)
    assert made.turns[1].spans[1].value == (made.turns[1].spans[1].text or "").lower()
    assert check_dialogue(made) == []
    assert same_shape("Tr-24 x", Rng(1), 2).startswith("Tr-")


def test_chinese_names_and_times() -> None:
    source = talk(
        ("沃姆精品酒店的评分高吗？下午3点前到。", [("沃姆精品酒店", "酒店", "名称", "沃姆精品酒店")]),
        ("沃姆精品酒店很好，10:50 的票。", [("10:50", "火车", "出发时间", "当天 10:50")]),
        ("从北京到上海虹桥，主演是周 杰伦吗", [("北京", "火车", "出发地", "北京"), ("周 杰伦", "电影", "主演", "周杰伦")]),
        ("是G1，北京南-上海虹桥。", []),
        language="zh",
    )
    for seed in range(10):
        made = Entities().perturb(source, seed)
        name, town = made.turns[0].spans[0].value, made.turns[2].spans[0].value
        assert name.endswith("精品酒店") and name in made.turns[0].utterance and name in made.turns[1].utterance
        assert made.turns[3].utterance == f"是G1，{town}南-上海虹桥。"
        assert made.turns[1].spans[0].value == f"当天 {made.turns[1].spans[0].text}"
        assert "杰伦" not in made.turns[2].utterance and check_dialogue(made) == []


def test_names_from_a_database(tmp_path: Path) -> None:
    (tmp_path / "hotel_db.json").write_text(json.dumps([{"name": "the zenith lodge"}, {"name": "quoin guest house"}]), "utf-8")
    seen = set()
    for seed in range(12):
        made = Entities(slots="names", db=str(tmp_path / "hotel_db.json")).perturb(ELM, seed)
        new = made.turns[2].state[0].values[0]
        seen.add(new)
        assert new in ("the zenith lodge", "quoin guest house")
        assert new.removeprefix("the ") in made.turns[1].utterance and check_dialogue(made) == []
    assert len(seen) == 2


def test_values_to_avoid_are_avoided(tmp_path: Path) -> None:
    (tmp_path / "hotel_db.json").write_text(json.dumps([{"name": "zenith lodge"}, {"name": "quoin guest house"}]), "utf-8")
    (tmp_path / "train.txt").write_text("Zenith Lodge\n", "utf-8")
    options = {"slots": "names", "db": str(tmp_path / "hotel_db.json"), "avoid": str(tmp_path / "train.txt")}
    for seed in range(10):
        assert Entities.from_options(options).perturb(ELM, seed).turns[2].state[0].values[0] == "quoin guest house"


@pytest.mark.parametrize("options", [{"slots": "some"}, {"db": "/no/such.json"}, {"avoid": "/no/such.txt"}])
def test_options_out_of_range(options: dict[str, str]) -> None:
    with pytest.raises(OptionError, match="entities"):
        Entities.from_options(options)


@pytest.mark.parametrize(
    ("language", "kind", "hints", "number"),
    [
        ("en", "lodging", (), 400),
        ("en", "restaurant", ("italian", "chinese", "indian", "british", "french", "spanish", "thai", "turkish", "american", "japanese", ""), 200),
        ("en", "sight", ("museum", "college", "park", "theatre", "nightclub", "church", "pool", "architecture", ""), 150),
        ("en", "venue", (), 300),
        ("en", "town", (), 100),
        ("en", "person", (), 600),
        ("en", "title", (), 400),
        ("zh", "lodging", ("客栈", ""), 300),
        ("zh", "restaurant", ("川菜", "火锅", "江浙菜", "粤菜", "湘菜", "西北菜", "日本料理", "韩国料理", "西餐", "咖啡", "快餐", ""), 150),
        ("zh", "sight", ("苏州园林", "寺", "山", "湖", "古镇", "博物馆", "游乐场", "广场", "大学", ""), 100),
        ("zh", "town", (), 50),
        ("zh", "person", (), 600),
        ("zh", "title", (), 400),
    ],
)
def test_names_are_many(language: str, kind: str, hints: tuple[str, ...], number: int) -> None:
    hints = hints or ("",)
    made = {coin(kind, language, Rng(kind, seed), True, (hints[seed % len(hints)],)) for seed in range(1500)}
    assert len(made) >= number, len(made)
    assert not any(name.startswith("The ") for name in made)


@pytest.mark.parametrize(
    ("kind", "language", "hints", "fitting"),
    [
        ("sight", "en", ("museum",), " Museum"),
        ("sight", "en", ("college",), " College"),
        ("sight", "en", ("church",), " Church"),
        ("sight", "zh", ("拙政园",), "园"),
        ("sight", "zh", ("寒山寺",), "寺"),
        ("sight", "zh", ("木渎古镇", "水乡古镇"), "古镇"),
        ("sight", "zh", ("天安门广场",), "广场"),
        ("venue", "zh", ("国家博物馆",), "馆"),
    ],
)
def test_a_name_ends_as_its_sort_does(kind: str, language: str, hints: tuple[str, ...], fitting: str) -> None:
    assert all(coin(kind, language, Rng("sort", seed), True, hints).endswith(fitting) for seed in range(60))


def test_a_restaurant_is_named_by_its_food_and_a_name_with_and_is_one_unit() -> None:
    def talk(name: str, food: str) -> Dialogue:
        state = (SlotValues("restaurant", "food", (food,)), SlotValues("restaurant", "name", (name,)))
        text = f"is {name} any good, I mean a and the other one?"
        return one_turn(text, name, "restaurant", state)

    italian = {Entities(slots="names").perturb(talk("acorn", "italian"), seed).turns[0].state[1].values[0] for seed in range(40)}
    chinese = {Entities(slots="names").perturb(talk("acorn", "chinese"), seed).turns[0].state[1].values[0] for seed in range(40)}
    assert len(italian) > 12 and len(chinese) > 12 and not italian & chinese
    guests = talk("a and b guest house", "")
    for seed in range(20):
        made = Entities(slots="names").perturb(guests.replace(domains=("hotel",)), seed).turns[0]
        (span,) = made.spans
        assert span.text == made.state[1].values[0] and made.utterance == f"is {span.text} any good, I mean a and the other one?"
        assert " and b" not in made.utterance and span.text.endswith(" guest house")


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        ("m and s cafe", "the M&S Cafe , is m and s good ?", ""),
        ("c & c bar and grill", "c and c bar & grill , and c & c ?", ""),
        (
            "the cambridge chop house",
            "in Cambridge , the cambridge chop house please , cambridge has many",
            "in Cambridge , | please , cambridge has many",
        ),
        ("san jose grill", "in san jose , the san jose grill ; san jose and san mateo", "in san jose , the |; san jose and san mateo"),
        ("bed and breakfast at tiffanys", "bed and breakfast at tiffanys , a bed and breakfast", " , a bed and breakfast"),
        ("bar and grill house", "bar and grill house , a bar and grill", " , a bar and grill"),
    ],
)
def test_a_name_is_one_unit_and_what_begins_like_it_is_not_its_short_form(name: str, text: str, kept: str) -> None:
    source = Dialogue(
        dialogue_id="D",
        source="test",
        source_id="D",
        language="en",
        domains=("restaurant",),
        turns=(Turn(0, "user", text, state=(SlotValues("restaurant", "name", (name,)),)),),
    )
    for seed in range(5):
        made = Entities(slots="names").perturb(source, seed).turns[0]
        assert made.state[0].values[0] != name and name not in made.utterance
        assert all(part in made.utterance for part in kept.split("|"))
        assert kept or not {"m", "s", "c"} & set(made.utterance.lower().replace("&", " ").split()), made.utterance


def one_turn(text: str, name: str, domain: str, state: tuple[SlotValues, ...]) -> Dialogue:
    start = text.index(name)
    spans = (Span(start, start + len(name), name, domain, "name", name),)
    turn = Turn(0, "user", text, spans=spans, acts=(Act("inform", domain, "name", name),), state=state)
    return Dialogue(dialogue_id="D", source="test", source_id="D", language="en", turns=(turn,))


def test_the_word_for_a_kind_of_place_is_no_name() -> None:
    turn = Turn(0, "user", "酒店里有酒吧吗", acts=(Act("inform", "餐馆", "周边餐馆", "酒吧"), Act("inform", "酒店", "名称", "如意居酒店")))
    source = Dialogue(dialogue_id="D", source="test", source_id="D", language="zh", turns=(turn, Turn(1, "system", "如意居酒店有酒吧")))
    made = Entities().perturb(source, 1)
    assert made.turns[0].utterance == turn.utterance and "如意居" not in made.turns[1].utterance and made.turns[1].utterance.endswith("有酒吧")


def test_a_station_goes_with_its_town() -> None:
    turns = tuple(
        Turn(number, "user", text, acts=(Act("inform", "火车", "目的地", "上海"),))
        for number, text in enumerate(("去上海", "到上海虹桥站", "上海站呢"))
    )
    made = Entities().perturb(Dialogue(dialogue_id="D", source="test", source_id="D", language="zh", turns=turns), 1)
    town = made.turns[0].acts[0].value
    assert [turn.utterance for turn in made.turns] == [f"去{town}", f"到{town}站", f"{town}站呢"]


def test_the_independent_checker_finds_nothing_and_can_find() -> None:
    made = Entities(slots="all").perturb(ELM, 4)
    assert oracle.relabelled(ELM, made) == []
    spoilt = made.replace(turns=(made.turns[0].replace(utterance=made.turns[0].utterance + " Elm House"), *made.turns[1:]))
    assert oracle.relabelled(ELM, spoilt)


def test_golden() -> None:
    made = Entities(slots="all").perturb(ELM, 3)
    digest = hashlib.sha256("\n".join(turn.utterance for turn in made.turns).encode()).hexdigest()
    assert digest[:16] == "985056fc0763ab6c", "raise Entities.version where a change of its output is meant"


def test_an_indian_star_keeps_to_indian_names_and_no_place_is_called_by_a_common_noun() -> None:
    indian = {part for name, cell in rows("zh", "coinage") if name.startswith("indian") for part in alternatives(cell)}
    for old, told in (("沙特鲁汉·辛哈", True), ("普里扬卡·乔普拉", True), ("拉杰.卡普尔", True), ("汤姆·克鲁斯", False), ("马丁.斯科塞斯", False)):
        for key in range(40):
            made = coinage.foreign_person(Rng("star", old, key), "·", old)
            assert all(part in indian for part in made.split("·")) == told, (old, made)
    bare = {"四合院", "家常菜馆", "农家院", "老胡同", "老弄堂", "葡萄园", "糖果屋", "老宅", "胡同", "黑土地", "左岸"}
    named = {part for name, cell in rows("zh", "coinage") if name.startswith(("restaurant", "lodging")) for part in alternatives(cell)}
    assert not bare & named
