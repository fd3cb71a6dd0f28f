"""The audit finds pools that give answers away."""

from __future__ import annotations

from dialmill.perturbers.core.rng import Rng
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


def test_shorter_answers_are_found() -> None:
    rows = [(["hello"], [*OPTIONS, "short"], [20]) for _ in range(50)]
    assert any("shortest" in one for one in audit.suspicions("x", _rates(rows)))


def test_answers_among_the_first_ten_are_found() -> None:
    options = [f"option number {number:03}" for number in range(100)]
    found = _rates([(["hello"], options, [3 + number % 7]) for number in range(60)])
    assert found["first"] == 0 and [one for one in audit.suspicions("x", found) if "recall@10 of the ranker by first" in one]


def _whole(rows: list[tuple[list[str], list[int]]]) -> list[str]:
    """What the rankers over a whole file find, of (options, places of answers)."""
    whole, total = audit.Whole(), {}
    keyed = [(options, [hash(option) for option in options], right) for options, right in rows]
    for options, keys, right in keyed:
        whole.see(keys)
        audit.add(total, audit.measure([], options, right, lambda _: 1.0))
    for found in whole.measure(keyed):
        audit.add(total, found)
    return audit.suspicions("x", audit.rates(total))


def test_candidates_of_many_sets_that_are_never_right_are_found() -> None:
    hubs = [f"hub number {number:04}" for number in range(19)]
    rows = [([*hubs[: at % 20], f"one number {at:04}", *hubs[at % 20 :]], [at % 20]) for at in range(60)]
    assert any("by rare" in one for one in _whole(rows))


def test_what_is_said_all_the_time_and_right_is_found() -> None:
    rows = [
        (
            [
                *(f"tell {at:03} {number:02}" for number in range(at % 20)),
                "just do it",
                *(f"tell {at:03} {number:02}" for number in range(at % 20, 19)),
            ],
            [at % 20],
        )
        for at in range(60)
    ]
    assert any("by frequent" in one for one in _whole(rows))


def test_wording_that_answers_alone_have_is_found() -> None:
    kinds = ["printer", "kernel", "screen", "driver"]
    rows = []
    for at in range(80):
        options = [f"what of {kinds[(at + number) % 4]} {at:03} {number:02}" for number in range(20)]
        options[at % 20] = f"try the {kinds[at % 4]} {at:03} 99"
        rows.append((options, [at % 20]))
    assert any("by learned" in one for one in _whole(rows))


def test_sets_in_which_anyone_may_be_right_pass() -> None:
    said = [f"say number {number:04} of it" for number in range(400)]
    rng = Rng(3)
    rows = []
    for _ in range(200):
        options = rng.sample(said, 20)
        rows.append((options, [rng.below(20)]))
    assert _whole(rows) == []


def test_answers_in_one_place_are_found() -> None:
    assert "first" in audit.suspicions("x", _rates([(["hello"], OPTIONS, [0])] * 50))[0]


def test_tfidf_may_be_good() -> None:
    rows = [([f"my gadget{number:02} fails"], [*OPTIONS[:10], f"gadget{number:02} is dead"[:16], *OPTIONS[10:]], [10]) for number in range(50)]
    assert len({len(option) for _, options, _ in rows for option in options}) == 1, "or its length would tell the answer"
    found = _rates(rows)
    assert found["tfidf"] == 1 and audit.suspicions("x", found) == []


def test_nothing_measured() -> None:
    assert audit.rates({}) == {"examples": 0} and audit.suspicions("x", {"examples": 0}) == []


def test_examples_with_one_answer_count_once_for_what_sees_its_wording_alone() -> None:
    """Of 600 examples with 6 answers, two of which are short, nothing is proved by the shortest; of 600 with an answer each, much."""
    others = [f"a reply of some length, number {number:03}" for number in range(19)]
    for answers, told in ((6, False), (600, True)):
        rows = []
        for at in range(600):
            short = at % answers % 3 == 0
            answer = f"no {at % answers:03}" if short else f"a reply that is longer than the others, {at % answers:03}"
            rows.append(([*(f"{option}{'.' * (at % 3)}" for option in others), answer], [19]))
        assert any("by shortest" in one for one in _whole(rows)) is told
