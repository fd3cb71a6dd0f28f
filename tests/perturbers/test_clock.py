"""Times of day: what is one, what it means, and how it is written some minutes later."""

from __future__ import annotations

import pytest
from dialmill.perturbers.core import clock
from hypothesis import given
from hypothesis import strategies as st


def moved(text: str, minutes: int, language: str = "en", labelled: tuple[str, ...] = (), forced: tuple[tuple[int, int], ...] = ()) -> str:
    known = frozenset(value for label in labelled if (value := clock.minutes_of(label)) is not None)
    for time in reversed(clock.times(text, language, known, forced)):
        text = text[: time.start] + clock.shifted(text, time, minutes) + text[time.end :]
    return text


@pytest.mark.parametrize(
    ("text", "minutes", "labelled", "expected"),
    [
        ("leave after 19:00 , please", 35, ("19:00",), "leave after 19:35 , please"),
        ("arrive by 09:50", 15, (), "arrive by 10:05"),
        ("arrive by 10:05", -15, (), "arrive by 09:50"),
        ("it leaves at 9:50", 5, ("09:50",), "it leaves at 9:55"),
        ("the 5:15 one", 20, ("17:15",), "the 5:35 one"),
        ("at 12:45 then", 30, ("12:45",), "at 13:15 then"),
        ("7:15pm or 11:40 am", 30, (), "7:45pm or 12:10 pm"),
        ("by 7 pm please", 60, (), "by 8 pm please"),
        ("by 7 pm please", 35, (), "by 7:35 pm please"),
        ("at seven o'clock", 60, ("19:00",), "at eight o'clock"),
        ("at seven o'clock", 5, ("19:00",), "at 7:05"),
        ("half past six", 35, ("18:30",), "7:05"),
        ("quarter to 6", 20, ("17:45",), "6:05"),
        ("around noon", 25, (), "around 12:25"),
        ("this afternoon", 25, (), "this afternoon"),
        ("leave at 7", 30, ("19:00",), "leave at 7:30"),
        ("leave at 7", 30, ("18:00",), "leave at 7"),
        ("at 5 people", 30, ("17:00",), "at 5 people"),
        ("tickets are 10.10 pounds", 30, ("10:10",), "tickets are 10.10 pounds"),
        ("Wednesday at 21.39", 5, ("21:39",), "Wednesday at 21.44"),
        ("by 18;30 or 18 30, 18/30", 10, ("18:30",), "by 18;40 or 18 40, 18/40"),
        ("they cost 4:40 pounds", 10, ("04:40",), "they cost 4:40 pounds"),
        ("for 2 30 people", 10, ("18:30",), "for 2 30 people"),
        ("version 21.39", 5, (), "version 21.39"),
        ("leave by 1215hrs please", 20, ("12:15",), "leave by 1235hrs please"),
        ("at 1300 hrs or 1300 hours", 20, (), "at 1320 hrs or 1320 hours"),
        ("arrive 0930 am", 20, (), "arrive 0950 am"),
        ("930am, 12:15hrs", 20, (), "950am, 12:35hrs"),
        ("after 2030", 20, ("20:30",), "after 2050"),
        ("after 2030 and built after 1945", 20, (), "after 2030 and built after 1945"),
        ("be there at 2030", 20, (), "be there at 2050"),
        ("0230 in the afternoon", 20, ("14:30",), "0250 in the afternoon"),
        ("1300 people, 1300 pounds", 20, ("13:00",), "1300 people, 1300 pounds"),
        ("call 01223 2030, TR2030", 20, (), "call 01223 2030, TR2030"),
        ("51 minutes, ratio 1:100, 17:30:15", 5, (), "51 minutes, ratio 1:100, 17:30:15"),
        ("24:30", -45, ("24:30",), "23:45"),
    ],
)
def test_english(text: str, minutes: int, labelled: tuple[str, ...], expected: str) -> None:
    assert moved(text, minutes, "en", labelled) == expected


@pytest.mark.parametrize(
    ("text", "minutes", "expected"),
    [
        ("起飞时间当天 10:50，到达12：50", 10, "起飞时间当天 11:00，到达13：00"),
        ("下午三点半", 35, "下午四点零五分"),
        ("15点30分出发", 15, "15点45分出发"),
        ("十点", -60, "九点"),
        ("两点钟见", 60, "三点见"),
        ("便宜一点，近一点", 30, "便宜一点，近一点"),
        ("要1点钟", 15, "要1点15"),
        ("时长6小时36分，评分4.5分", 30, "时长6小时36分，评分4.5分"),
        ("几点", 30, "几点"),
    ],
)
def test_chinese(text: str, minutes: int, expected: str) -> None:
    assert moved(text, minutes, "zh") == expected


def test_a_span_shows_what_the_text_alone_does_not() -> None:
    assert moved("1715 would do", 20, labelled=("17:15",), forced=((0, 4),)) == "1735 would do"
    assert moved("seven", 60, labelled=("19:00",), forced=((0, 5),)) == "eight"
    assert moved("1715 would do", 20, labelled=("17:15",)) == "1735 would do"
    assert moved("1715 would do", 20) == "1715 would do"


@pytest.mark.parametrize("label", ["1215hrs", "12:15 hrs", "12:15", "1215", "12:15 pm", "1215 hours", "12.15"])
def test_labels_of_times_are_read_however_they_are_written(label: str) -> None:
    assert clock.minutes_of(label) == 12 * 60 + 15


@given(st.sets(st.integers(0, 287).map(lambda n: 5 * n), min_size=1, max_size=6))
def test_shifts_keep_the_order_the_day_and_hit_no_old_time(found: set[int]) -> None:
    for shift in clock.shifts(found):
        assert shift % 5 == 0 and shift != 0 and abs(shift) <= 120
        assert all(0 <= minutes + shift < 1440 for minutes in found)
        assert not {(minutes + shift) % 720 for minutes in found} & {minutes % 720 for minutes in found}


@given(st.integers(0, 1439), st.integers(-24, 24))
def test_text_and_label_move_alike(minutes: int, fives: int) -> None:
    label = f"{minutes // 60:02d}:{minutes % 60:02d}"
    later = minutes + 5 * fives
    if 0 <= later < 1440:
        assert moved(f"at {label} .", 5 * fives, labelled=(label,)) == f"at {later // 60:02d}:{later % 60:02d} ."


@pytest.mark.parametrize(
    ("text", "label", "minutes", "later"),
    [
        ("i need the 17h05 train", "17:05", 20, "i need the 17h25 train"),
        ("a quarter to 5 pm", "16:45", 30, "5:15 pm"),
        ("half past nine in the morning", "09:30", 30, "10:00 in the morning"),
        ("12 noon", "12:00", 40, "12:40"),
        ("about seven thirty pm", "19:30", 15, "about 7:45 pm"),
        ("at twenty past six", "18:20", 30, "at 6:50"),
        ("ten minutes to four", "15:50", 15, "4:05"),
        ("eight oh five", "08:05", 5, "8:10"),
        ("7-ish", "19:00", 60, "8-ish"),
        ("eight ish in the evening", "20:00", -60, "seven ish in the evening"),
    ],
)
def test_times_in_words_are_times_where_a_label_says_so(text: str, label: str, minutes: int, later: str) -> None:
    known = clock.minutes_of(label)
    assert known is not None
    (time,) = clock.times(text, "en", {known})
    assert time.minutes == known
    assert text[: time.start] + clock.shifted(text, time, minutes) + text[time.end :] == later


@pytest.mark.parametrize(
    "text", ["it costs two twenty", "from ten to five people", "a twenty to one chance", "greenish walls", "at stage2023-05-01T10:00:00Z"]
)
def test_what_is_no_time_without_a_label(text: str) -> None:
    assert clock.times(text, "en", set()) == []
