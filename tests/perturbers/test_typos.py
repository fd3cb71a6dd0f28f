"""Typos: human-like, keyed, spread, and never on what carries a label."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter

import pytest
from dialmill.perturbers import OptionError
from dialmill.perturbers.core.checks import distance
from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.typing import chinese as typing_zh
from dialmill.perturbers.typing import english as typing_en
from dialmill.perturbers.typing import homophones
from dialmill.perturbers.typing.chat import phrases
from dialmill.perturbers.typing.typos import Typos
from dialmill.schemas import Act, Dialogue, Span, Turn
from dialmill.schemas.edits import edit_text, invert
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.benchmarks import bench_realism

ENGLISH = [
    "i need a cheap hotel in the north",
    "I'm looking for a restaurant in the centre of town please.",
    "What's the phone number and address of the museum?",
    "Can you book a table for 5 people at 17:30 on saturday?",
    "Thank you so much, that's all I need for today.",
    "I don't care about the price range, but it should have free parking.",
    "is there a train from cambridge to london kings cross after 9:15",
    "Yes, please book it for me and give me the reference number.",
    "No, thanks. I think that will be everything. Goodbye!",
    "Could you recommend an attraction that is interesting for children?",
    "are there any guesthouses available with internet for tomorrow",
    "We would like to leave on Tuesday and arrive before noon.",
    "please tell me the postcode as well",
    "how much is the entrance fee and when does it open",
    "Great, I also want information about the swimming pool.",
    "My friends will be arriving at the station this evening",
    "Actually, I changed my mind because the weather is terrible",
    "it doesn't matter which area as long as there's a garden",
    "I would rather stay somewhere quiet, without traffic",
    "sounds good, let's make a reservation for the same group",
]
CHINESE = [
    "你好，我想在苏州找一家中等价位的火锅店，人均消费50元左右。",
    "请问拙政园的开放时间是几点？",
    "谢谢你，没有别的问题了，再见。",
    "附近有没有五星级的酒店可以推荐一下？",
    "帮我订一张明天去上海的火车票，三个人。",
    "这部电影的导演是谁？主演有哪些？",
    "好的，麻烦你告诉我它的地址和电话号码吧。",
    "我朋友下周要来玩，想带他去看看古镇。",
    "这家医院的门诊时间是什么时候？",
    "我不想吃辣的，有什么清淡一点的推荐吗？",
    "那里的门票贵不贵？",
    "我需要一辆空间大的车，价格在20万以内。",
    "怎么走比较方便，能坐地铁直达吗？",
    "明天的天气怎么样，会不会下雨？",
    "请帮我查一下这趟航班的准点率。",
    "听说这个景点很有特色，评分高吗？",
    "孩子想报一个数学补习班，周末上课的。",
    "笔记本电脑的内存是多少，屏幕多大？",
    "我们准备自己开车过去，有停车场吗？",
    "真的太感谢了，下次有需要再联系你。",
]


def dialogue(*utterances: str, source_id: str = "D1", language: str = "en") -> Dialogue:
    turns = tuple(Turn(turn=place, speaker="user", utterance=utterance) for place, utterance in enumerate(utterances))
    return Dialogue(dialogue_id=source_id, source="test", source_id=source_id, language=language, turns=turns)


def typed(text: str, perturber: Typos | None = None, seed: int = 1, **options: str) -> str:
    return (perturber or Typos()).perturb(dialogue(text, **options), seed=seed).turns[0].utterance


def located(text: str, *values: tuple[str, str], number: int = 0) -> Turn:
    """A turn with a span and an act for each (slot, value), which stands verbatim in the text."""
    spans = [Span(text.index(value), text.index(value) + len(value), value, "restaurant", slot, value) for slot, value in values]
    acts = tuple(Act("inform", "restaurant", slot, value) for slot, value in values)
    return Turn(turn=number, speaker="user", utterance=text, spans=tuple(sorted(spans, key=lambda span: span.start or 0)), acts=acts)


# ------------------------------------------------------------------ the named cases


def test_variants_differ_across_seeds_and_numbers_and_repeat_to_the_byte() -> None:
    text = "i need a cheap hotel in the north"
    for number in range(40):
        source = dialogue(text, source_id=f"D{number}").replace(turns=(located(text, ("pricerange", "cheap"), ("area", "north")),))
        made = {(seed, variant): Typos().perturb(source, seed, variant) for seed in (1, 2) for variant in range(3)}
        for seed in (1, 2):
            assert len({made[seed, variant].turns[0].utterance for variant in range(3)}) == 3
        # Three words to hit leave some chance that two seeds meet in one text, but not in all of them.
        assert len({record.turns[0].utterance for record in made.values()}) > 3
    for (seed, variant), record in made.items():
        assert Typos().perturb(source, seed, variant) == record
        assert "cheap" in record.turns[0].utterance.split() and "north" in record.turns[0].utterance.split()


def test_b13_the_output_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from tests.perturbers.test_typos import *\n"
        "for texts, language in ((ENGLISH, 'en'), (CHINESE, 'zh')):\n"
        "    print(ascii([t.utterance for t in Typos(rate=0.3).perturb(dialogue(*texts, language=language), seed=4).turns]))"
    )
    environment = {"PYTHONHASHSEED": "2", "PYTHONPATH": "."}
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    here = [
        ascii([turn.utterance for turn in Typos(rate=0.3).perturb(dialogue(*texts, language=language), seed=4).turns])
        for texts, language in ((ENGLISH, "en"), (CHINESE, "zh"))
    ]
    assert result.stdout.splitlines() == here


@pytest.mark.parametrize("text", ["ok", "17:30", "?", "no", "7", "CB2 1AB", "", " ", "[value_area]", "🙂"])
@pytest.mark.parametrize("style", ["typing", "mixed"])
def test_b14_nothing_to_hit_is_a_reason_and_no_variant(text: str, style: str) -> None:
    variant = Typos(rate=1.0, style=style).perturb(dialogue(text), seed=1)  # type: ignore[arg-type]
    assert variant.turns == dialogue(text).turns
    assert [skip.reason for skip in variant.lineage[0].skipped] == ["no_edit_possible"]
    assert variant.lineage[0].outcome == "skipped"


def test_b15_text_outside_the_edits_stays_the_same_to_the_byte() -> None:
    text = 'ping 10.0.0.7, then "apt-get -f install" — don\'t\treboot\u00a0?'
    for seed in range(60):
        turn = Typos(rate=0.4).perturb(dialogue(text), seed).turns[0]
        assert turn.original == text
        assert edit_text(text, turn.edits) == turn.utterance
        assert edit_text(turn.utterance, invert(text, turn.edits)) == text
        for kept in ("10.0.0.7, ", '"', "— ", "\t", "\u00a0?"):
            assert kept in turn.utterance
        assert "10.0.0.7" in turn.utterance


def test_b16_values_of_several_words_and_placeholders_are_untouched_and_their_offsets_move() -> None:
    text = "Book the Golden Wok Inn for 5 at 17:30, [value_area] side"
    values = [("name", "Golden Wok Inn"), ("people", "5"), ("time", "17:30")]
    source = dialogue(text).replace(turns=(located(text, *values),))
    moved = 0
    for seed in range(40):
        turn = Typos(rate=0.6).perturb(source, seed).turns[0]
        assert "[value_area]" in turn.utterance
        for span, (_, value) in zip(turn.spans, values, strict=True):
            assert span.start is not None and turn.utterance[span.start : span.end] == span.text and span.text in (value, value.lower())
            assert span.status == "kept"
            moved += span.start != text.index(value)
    assert moved > 10


def test_follow_mode_hits_values_and_their_spans_say_so() -> None:
    text = "i want to eat at the golden house restaurant tonight"
    source = dialogue(text).replace(turns=(located(text, ("name", "golden house")),))
    seen = Counter()  # type: ignore[var-annotated]
    for seed in range(80):
        turn = Typos(rate=0.5, style="typing", values="follow").perturb(source, seed).turns[0]
        (span,) = turn.spans
        if span.status != "lost":
            assert span.start is not None and turn.utterance[span.start : span.end] == span.text
        assert span.value == "golden house"
        assert (span.status == "kept") == (span.text == "golden house")
        seen[span.status] += 1
    assert seen["changed"] > 10


def test_noise_falls_all_over_the_text_and_not_on_one_place() -> None:
    # NL-Augmenter resets the seed in every call: 62 % of its first typos fall on character 3.
    text = "could somebody please recommend another excellent restaurant downtown serving wonderful breakfast"
    first = Counter(Typos(style="typing").perturb(dialogue(text, source_id=f"D{number}"), seed=1).turns[0].edits[0].start for number in range(2000))
    assert sum(first.values()) == 2000
    assert max(first.values()) / 2000 < 0.06
    assert len(first) > 60


def test_output_does_not_depend_on_what_was_perturbed_before() -> None:
    alone = typed(ENGLISH[3], source_id="X")
    typos = Typos()
    for text in reversed(ENGLISH):
        typos.perturb(dialogue(text, source_id="Y"), seed=9)
    assert typed(ENGLISH[3], typos, source_id="X") == alone


# ------------------------------------------------------------------ rate and style


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_the_rate_is_the_share_of_words_hit(rate: float) -> None:
    words = hit = 0
    for number in range(300):
        text = ENGLISH[number % 20] + " " + ENGLISH[(number + 7) % 20]
        turn = Typos(rate=rate, style="typing").perturb(dialogue(text, source_id=str(number)), seed=1).turns[0]
        words += len(text.split())
        # A lost capital is not a hit, and two words run into one are one.
        hit += sum(made.lower() != meant.lower() for made, meant in bench_realism.aligned(turn.source_text, turn.edits))
    assert hit / words == pytest.approx(rate, rel=0.25)


def test_at_the_highest_rate_every_word_that_can_be_hit_is() -> None:
    text = "could somebody recommend wonderful restaurants"
    # A word drawn last to run into one that is hit already stays as it is: a few of a hundred.
    kept = [set(text.split()) & set(typed(text, Typos(rate=1.0, style="typing"), seed=seed).split()) for seed in range(100)]
    assert sum(map(len, kept)) < 0.05 * 100 * len(text.split())


def test_chat_style_shortens_lowers_and_drops_the_full_stop() -> None:
    text = "Please give me the address. Thank you."
    made = {typed(text, Typos(style="chat", rate=0.5), seed=seed) for seed in range(60)}
    assert any("addr" in one for one in made) and any("plz" in one or "pls" in one for one in made)
    assert any(one == one.lower() for one in made) and any(not one.endswith(".") for one in made)
    assert all(one.split()[-1].rstrip(".") for one in made)
    tokenised = {typed("Please give me the address . Thank you .", Typos(style="chat", rate=0.5), seed=seed) for seed in range(20)}
    assert any(not one.endswith(".") for one in tokenised) and all(one == one.rstrip() for one in tokenised)


def test_chat_style_without_a_short_form_makes_a_slip() -> None:
    assert typed("somewhere expensive", Typos(style="chat")) != "somewhere expensive"


@pytest.mark.parametrize("options", [{"rate": 0}, {"rate": 1.01}, {"style": "loud"}, {"values": "drop"}, {"tries": 0}])
def test_options_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="typos: "):
        Typos(**options)  # type: ignore[arg-type]


def test_applying_twice_gives_the_same_edits() -> None:
    from dialmill.perturbers.core.values import Locator

    for text in ENGLISH:
        source = dialogue(text)
        view = Locator(source).view(source.turns[0])
        drawn = Typos(rate=0.5).draw(view, Rng("key", text))
        assert Typos(rate=0.5).apply(view, drawn) == Typos(rate=0.5).apply(view, drawn)  # type: ignore[arg-type]


# ------------------------------------------------------------------ English


def test_slips_make_no_frequent_word_and_seldom_hit_the_first_letter() -> None:
    words = ["hotel", "train", "need", "book", "want", "restaurant", "there", "place", "cheaper", "looking", "price", "street", "please", "parking"]
    known = typing_en.frequent_words()
    first = total = 0
    for word in words:
        for key in range(150):
            slipped = typing_en.slip(word, Rng(word, key))
            assert slipped and slipped != word and slipped not in known
            first += slipped[0] != word[0]
            total += 1
    assert 0.05 < first / total < 0.16


def test_the_kinds_of_slips_have_the_shares_that_people_show() -> None:
    # Those of the chat's writers (see tests/benchmarks/bench_realism.py), over words as a user's turns have them.
    pairs = []
    apart = Counter()  # type: ignore[var-annotated]
    for number in range(3000):
        turn = Typos(style="typing").perturb(dialogue(ENGLISH[number % 20], source_id=str(number)), seed=1).turns[0]
        for made, meant in bench_realism.aligned(turn.source_text, turn.edits):
            if " " in meant or " " in made:
                apart["run on" if " " in meant else "split"] += 1
            elif made.isalpha() and meant.isalpha() and made.lower() != meant.lower():
                pairs.append((made, meant))
    share = bench_realism.shares(pairs)
    people = {"substitute": 36, "insert": 17.5, "delete": 23, "transpose": 17, "several": 6, "first letter": 10.8}
    for kind, real in people.items():
        assert share[kind] == pytest.approx(real, abs=5), (kind, share)
    slips = len(pairs) + sum(apart.values())
    assert 100 * apart["run on"] / slips == pytest.approx(13, abs=5) and 100 * apart["split"] / slips == pytest.approx(2, abs=1.5)


def test_only_vowels_behind_the_stress_are_confused() -> None:
    # Neighbour keys are no vowels of these, so that a vowel for a vowel is a confusion by ear, or a letter struck too early.
    assert typing_en._unclear("thanks") == typing_en._unclear("message") - {4} == frozenset()
    assert typing_en._unclear("restaurant") == {7} and typing_en._unclear("separate") == {3, 5}
    for key in range(400):
        slipped = typing_en.slip("thanks", Rng("stress", key))
        assert slipped is not None and slipped not in ("thonks", "thenks", "thinks", "thunks")


def test_real_words_come_only_where_they_are_asked_for() -> None:
    text = "though the weather is nice we would like to eat there and find some quiet place"
    known = typing_en.frequent_words()
    real = hit = 0
    for seed in range(120):
        turn = Typos(style="typing", rate=0.2).perturb(dialogue(text), seed).turns[0]
        # The halves of a word split in two may be words ("we ather"), which no slip within a word makes.
        slips = [made for made, _ in bench_realism.aligned(turn.source_text, turn.edits) if " " not in made]
        assert not any(made in known for made in slips), slips
        changed = _changed(text, typed(text, Typos(style="typing", rate=0.2, real_words=1.0), seed=seed))
        hit += len(changed)
        real += sum(word in known for word in changed)
    assert real / hit > 0.6
    assert {typing_en.real_word("though", Rng("real", key)) for key in range(60)} >= {"through", "thought"}
    for word, cell in rows("en", "real_words"):
        assert word.isalpha() and all(form.isalpha() and form != word for form in alternatives(cell)), word
        assert typing_en.slip_weight(word) or len(word) < 4, word


def _changed(before: str, after: str) -> list[str]:
    """The words of `after` that `before` hasn't, where the number of words is the same."""
    one, other = before.split(), after.split()
    return [new for old, new in zip(one, other, strict=True) if old != new] if len(one) == len(other) else []


def test_words_run_together_and_are_split_beside_no_value() -> None:
    text = "could you book the Golden Wok for me, it is not far"
    source = dialogue(text).replace(turns=(located(text, ("name", "Golden Wok")),))
    joined = 0
    for seed in range(300):
        turn = Typos(style="typing", rate=0.3).perturb(source, seed).turns[0]
        assert " golden wok " in turn.utterance.lower() and " not " in turn.utterance
        joined += len(turn.utterance.split()) < len(text.split())
    assert joined > 20


@pytest.mark.parametrize("word", ["not", "no", "never", "without", "seven", "twenty", "noon", "ok", "a", "BBQ", "café", "x1"])
def test_some_words_are_never_mistyped(word: str) -> None:
    assert typing_en.slip_weight(word) == 0


@pytest.mark.parametrize(
    ("word", "without"), [("don't", "dont"), ("What’s", "Whats"), ("I'm", "Im"), ("I'd", None), ("we're", None), ("he'll", None)]
)
def test_apostrophes_get_lost_only_where_the_word_stays_the_same(word: str, without: str | None) -> None:
    assert typing_en.without_apostrophe(word) == without


def test_two_slips_of_a_word_are_two_slips_and_not_one_of_the_other() -> None:
    """ "tqank" is "taank" with q beside a, which is nowhere near the h that was meant."""
    for word in ("thank", "nothing", "morning"):
        for key in range(1500):
            slipped = typing_en.slip(word, Rng("two", word, key), 2)
            assert slipped is not None
            wrong = [(meant, letter) for meant, letter in zip(word, slipped, strict=False) if meant != letter]
            if len(slipped) == len(word) and len(wrong) == 1:
                meant, letter = wrong[0]
                assert letter in word or letter in typing_en._NEIGHBOURS[meant] or letter in "eaioucksjg", slipped


def test_case_is_kept_in_slips() -> None:
    for key in range(50):
        assert typing_en.slip("Hotel", Rng(key)) != typing_en.slip("Hotel", Rng(key)).lower()  # type: ignore[union-attr]
        assert typing_en.slip("HOTEL", Rng(key)).isupper()  # type: ignore[union-attr]


def test_the_chat_table_touches_no_label() -> None:
    untouched = {word for row in rows("en", "untouched") for word in row[0].split()}
    for phrase, cell in rows("en", "chat"):
        forms = [entry.rpartition("=")[0] for entry in alternatives(cell)]
        assert forms and phrase not in forms and phrase == phrase.lower()
        assert len(forms) == len(set(forms))
        for form in forms:
            # "ph no" is no negation, and the checks know it.
            words = set(form.removesuffix(" no").split()) - set(phrase.split())
            assert untouched.isdisjoint(words) and not any(word.isdigit() for word in words), (phrase, form)
    table = dict(rows("en", "chat"))
    assert "i'd" not in table and "not" not in table
    assert {"please", "thanks", "address", "phone number", "reservation", "information", "what's", "people", "tomorrow"} <= set(table)


def test_a_misspelling_differs_from_its_word_and_is_no_other_word() -> None:
    known = typing_en.frequent_words()
    for word, cell in rows("en", "misspellings"):
        for form in alternatives(cell):
            assert form != word and form not in known, (word, form)
            # Not a new word either: a slip or two away.
            assert distance(word, form) <= 3


# ------------------------------------------------------------------ Chinese


def test_chinese_slips_sound_alike_and_never_touch_numbers_or_negation() -> None:
    for text in CHINESE:
        for seed in range(25):
            turn = Typos(rate=0.4, style="typing").perturb(dialogue(text, language="zh"), seed).turns[0]
            before, after = text, turn.utterance
            for character in "一三五零不没别0257":
                assert before.count(character) == after.count(character), (before, after)


@pytest.mark.parametrize(("text", "never"), [("怎么走", "咋"), ("好的", "好呀"), ("再见", "拜"), ("电话号码是多少", "电话是"), ("如果有", "要是")])
def test_another_wording_is_no_typo(text: str, never: str) -> None:
    for style in ("mixed", "chat"):
        assert not any(never in typed(text, Typos(rate=1.0, style=style), seed=seed, language="zh") for seed in range(60))  # type: ignore[arg-type]


def test_the_word_after_a_numeral_is_left_alone() -> None:
    text = "帮我订三张票，住两晚，要5个房间"
    for seed in range(80):
        after = typed(text, Typos(rate=1.0), seed=seed, language="zh")
        for kept in ("三张", "两晚", "5个"):
            assert kept in after, after


def test_every_chinese_table_holds_only_characters_that_people_type() -> None:
    # What is looked for may be written in any characters.
    files = sorted(
        path
        for path in (homophones.Path(homophones.__file__).parents[1] / "lexicons" / "zh").rglob("*")
        if path.suffix in (".tsv", ".json") and path.stem != "offensive"
    )
    assert len(files) > 20
    for path in files:
        strange = {char for char in path.read_text("utf-8") if "\u4e00" <= char <= "\u9fff" and not homophones.typed(char)}
        assert not strange, (path.name, strange)


def test_a_character_is_written_by_its_sound_in_the_word() -> None:
    table = homophones.table()
    readings = {
        "出差": "chu chai",
        "银行": "yin hang",
        "重新": "chong xin",
        "睡觉": "shui jiao",
        "音乐": "yin yue",
        "快乐": "kuai le",
        "觉得": "jue de",
    }
    for word, reading in readings.items():
        assert " ".join(sound.pinyin for sound in table.syllables(word) if sound) == reading
        for key in range(80):
            slipped = typing_zh.slip(word, Rng("phrase", word, key))
            assert slipped is not None
            # Whatever is written sounds as the word does, or nearly: not as one of its characters sounds elsewhere (差 as 叉).
            for written, sound in zip(slipped, table.syllables(word), strict=False):
                if written not in word and sound is not None and written in table.sounds:
                    same, other, fuzzy = table.like(sound, "")
                    assert written in {*same, *other, *fuzzy} or any(slipped in part for part in table.same(word)), (word, slipped)


def test_particles_are_rarely_the_only_slip_of_a_turn() -> None:
    alone = total = 0
    for text in CHINESE:
        for seed in range(40):
            turn = Typos(style="typing").perturb(dialogue(text, language="zh"), seed).turns[0]
            if turn.original is not None:
                total += 1
                alone += all(text[edit.start : edit.end] in set("的地得了着过吧吗呢啊呀哦嘛") for edit in turn.edits)
    assert alone / total < 0.06


@pytest.mark.parametrize(
    ("unit", "count", "language"), [("somebody recommended wonderful places", 400, "en"), ("我想找一家环境安静的餐厅吃饭", 220, "zh")]
)
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.7, 1.0])
def test_long_turns(unit: str, count: int, language: str, rate: float) -> None:
    text = (" " if language == "en" else "，").join([unit] * count)
    turn = Typos(rate=rate, style="typing").perturb(dialogue(text, language=language), 1).turns[0]
    assert turn.original == text
    if language == "en":
        words = len(text.split())
        assert words * rate * 0.6 < len(turn.edits) < words * rate * 1.5 + 20


@pytest.mark.parametrize(("words", "rate"), [(1, 0.5), (7, 0.1), (12, 0.9), (40, 0.33), (3, 1.0)])
def test_how_many_words_are_hit_is_binomial(words: int, rate: float) -> None:
    from itertools import accumulate
    from math import comb

    from dialmill.perturbers.typing.slips import _binomial

    made = _binomial(words, rate)
    exact = accumulate(comb(words, hits) * rate**hits * (1 - rate) ** (words - hits) for hits in range(words + 1))
    assert [one / made[-1] for one in made] == pytest.approx(list(exact), abs=1e-12)


def test_a_turn_that_loses_its_capitals_loses_those_of_its_names_and_keeps_codes() -> None:
    text = "Please book the Golden Wok near CB2 1AB, reference ZFA04K, on Monday for Anna"
    values = [("name", "Golden Wok"), ("postcode", "CB2 1AB"), ("reference", "ZFA04K"), ("person", "Anna")]
    source = dialogue(text).replace(turns=(located(text, *values),))
    lowered = 0
    for seed in range(60):
        turn = Typos(style="chat").perturb(source, seed).turns[0]
        assert "CB2 1AB" in turn.utterance and "ZFA04K" in turn.utterance and "Monday" in turn.utterance
        assert all(turn.utterance[span.start : span.end] == span.text and span.status == "kept" for span in turn.spans)
        names = {turn.spans[0].text, turn.spans[3].text}
        assert names in ({"Golden Wok", "Anna"}, {"golden wok", "anna"})
        assert ("golden wok" in turn.utterance) == (turn.utterance[0] == turn.utterance[0].lower())
        lowered += "golden wok" in turn.utterance
    assert lowered > 30


@pytest.mark.parametrize("name", ["chat", "confusions"])
def test_chinese_lists_hold_no_label(name: str) -> None:
    never = set("一三五六七八九十百千万两几不没未无")
    for text, cell in rows("zh", name):
        plain = text.rstrip("$")
        for form in (entry.rpartition("=")[0] if name == "chat" else entry for entry in alternatives(cell)):
            assert form and form != plain
            assert never.isdisjoint(set(form) - set(plain)), (text, form)


def test_thanks_are_only_shortened_before_a_pause() -> None:
    (thanks,) = (phrase for phrase in phrases("zh")["谢谢"] if not phrase.rest)
    assert thanks.final
    for seed in range(60):
        assert "谢啦的" not in typed("谢谢您的帮助。", Typos(style="chat", rate=1.0), seed=seed, language="zh")


# ------------------------------------------------------------------ anything at all


@settings(max_examples=150, deadline=None)
@given(
    st.text(st.sampled_from("abcdeHOtln '’.,?!~-0179:@[]_\t\u00a0éß中不的三🙂\u0301") | st.characters(exclude_categories=["Cs"]), max_size=40),
    st.sampled_from(["en", "zh"]),
    st.sampled_from(["typing", "chat", "mixed"]),
    st.floats(0.01, 1.0),
)
def test_any_text_is_changed_by_exact_edits_or_skipped(text: str, language: str, style: str, rate: float) -> None:
    variant = Typos(rate=rate, style=style).perturb(dialogue(text, language=language), seed=1)  # type: ignore[arg-type]
    turn = variant.turns[0]
    if turn.original is None:
        assert turn.utterance == text and variant.lineage[0].skipped
    else:
        assert turn.original == text and turn.utterance.split() != text.split()
        assert edit_text(text, turn.edits) == turn.utterance


# ------------------------------------------------------------------ published data sets rest on this


def test_the_output_is_pinned() -> None:
    # When this changes on purpose: raise `Typos.version`, then update the hashes and say so in the changelog.
    def digest(texts: list[str], language: str) -> str:
        hasher = hashlib.sha256()
        for style in ("typing", "chat", "mixed"):
            for turn in Typos(rate=0.2, style=style).perturb(dialogue(*texts, language=language), seed=1).turns:  # type: ignore[arg-type]
                hasher.update(turn.utterance.encode("utf-8") + b"\n")
        return hasher.hexdigest()

    assert Typos.version == 3
    assert digest(ENGLISH, "en") == "7eedfe3cfe82b9fc2a7e7b0b477e97392896ddcf19ad16180bd8e67edbcf0d50"
    assert digest(CHINESE, "zh") == "50dc9751da592a886b01723aa326719fde8a629b2ecc937a104a8678adf0dbb7"
