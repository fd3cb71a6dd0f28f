"""The audit finds pools that give answers away (cases B07 and B08)."""

from __future__ import annotations

from dialmill.pipelines.candidates import audit

OPTIONS = [f"option number {number:02}" for number in range(20)]


def _rates(rows: list[tuple[list[str], list[str], list[int]]]) -> dict[str, float | int]:
    total: dict[str, int] = {}
    idf = audit.idf_of(option for _, options, _ in rows for option in options)
    for context, options, right in rows:
        audit.add(total, audit.measure(context, options, right, idf))
    return audit.rates(total)


def test_sound_sets_raise_no_suspicion_and_ties_count_as_chance() -> None:
    found = _rates([(["mia: hello"], OPTIONS, [number]) for number in range(20)])
    assert found["chance"] == found["longest"] == found["names"] == found["first"] == 0.05
    assert audit.suspicions("x", found) == []


def test_a_name_left_in_context_and_answer_is_found() -> None:
    rows = [([f"nick{number}: hello"], [*OPTIONS[:10], f"nick{number}: reboot it", *OPTIONS[10:]], [10]) for number in range(50)]
    found = _rates(rows)
    assert found["names"] == 1
    assert any("names" in one for one in audit.suspicions("x", found))


def test_longer_answers_are_found() -> None:
    rows = [(["hello"], [*OPTIONS, "this answer is by far the longest of them"], [20]) for _ in range(50)]
    assert "longest" in audit.suspicions("x", _rates(rows))[0]


def test_answers_in_one_place_are_found() -> None:
    assert "first" in audit.suspicions("x", _rates([(["hello"], OPTIONS, [0])] * 50))[0]


def test_tfidf_may_be_good() -> None:
    rows = [([f"my gadget{number} fails"], [*OPTIONS, f"gadget{number} fail"], [20]) for number in range(50)]
    found = _rates(rows)
    assert found["tfidf"] == 1 and audit.suspicions("x", found) == []


def test_nothing_measured() -> None:
    assert audit.rates({}) == {"examples": 0} and audit.suspicions("x", {"examples": 0}) == []
