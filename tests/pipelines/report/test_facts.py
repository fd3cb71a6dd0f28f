"""The figures of a report against a second way to count them, and the edits it shows against the edits there are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from dialmill.perturbers.speech.wer import edit_errors
from dialmill.pipelines.report.candidates import sets
from dialmill.pipelines.report.distance import token_distance
from dialmill.pipelines.report.examples import BUDGET, MOST, Picker, outcomes, plain
from dialmill.pipelines.report.facts import NAMES, OTHERS, count, gather
from dialmill.pipelines.report.histogram import Histogram
from dialmill.pipelines.report.readable import readable, slips
from dialmill.schemas import Dialogue, Edit, Span, Step, Turn
from dialmill.schemas.dialogue import encode
from dialmill.schemas.edits import edit_text
from hypothesis import given
from hypothesis import strategies as st

from tests.pipelines.tools import DATA, manifest, records
from tests.pipelines.tools import plain as build
from tests.strategies import edits, texts

WORDS = st.lists(st.sampled_from(["a", "b", "c", "hotel"]), max_size=9)


@given(WORDS, WORDS)
def test_token_distance_is_levenshtein(one: list[str], other: list[str]) -> None:
    assert token_distance(one, other) == edit_errors(one, other).total == token_distance(other, one)


@given(st.lists(st.floats(0, 3), max_size=60), st.sampled_from([0.05, 0.5, 1.0]))
def test_a_histogram_holds_all_and_its_quantiles_are_theirs_to_a_bin(values: list[float], width: float) -> None:
    found = Histogram(width, 100)
    for value in values:
        found.add(value)
    shares = list(found.shares())
    assert sum(number for _, _, number in shares) == len(values) == found.total
    assert not values or math.isclose(sum(share for _, share, _ in shares), 1)
    for share in (0.05, 0.5, 0.95):
        if values:
            exact = sorted(values)[max(0, math.ceil(share * len(values)) - 1)]
            assert exact - width - 1e-6 <= found.quantile(share) <= exact + width + 1e-6


def test_a_table_of_counts_stays_small() -> None:
    table: dict[str, int] = {}
    for number in range(NAMES + 50):
        count(table, f"slot {number}")
    assert len(table) == NAMES + 1 and table[OTHERS] == 50


@given(st.data())
def test_readable_edits_have_the_same_effect(data: st.DataObject) -> None:
    text = data.draw(texts(data.draw(st.sampled_from(["en", "zh"]))))
    made = data.draw(edits(text))
    for letters in (True, False):
        shown = readable(text, made, letters)
        assert edit_text(text, tuple(Edit(*one) for one in shown)) == edit_text(text, made)
        assert all(one[1] < other[0] for one, other in pairwise(shown))


@pytest.mark.parametrize(
    ("text", "edit", "shown"),
    [
        ("Thanks . That 's all .", Edit(3, 20, "t will be all"), [(0, 20, "That will be all")]),
        ("a hotel please", Edit(4, 5, ""), [(4, 5, "")]),
        ("我想找便宜的酒店", Edit(2, 4, "要一家 很"), [(2, 4, "要一家 很")]),
        ("to the east", Edit(6, 6, " far"), [(6, 6, " far")]),
    ],
    ids=["part of a word", "inside a word", "chinese", "between words"],
)
def test_edits_of_several_words_take_whole_words(text: str, edit: Edit, shown: list[tuple[int, int, str]]) -> None:
    assert readable(text, [edit]) == shown


@pytest.mark.parametrize(
    ("text", "edits", "shown"),
    [
        ("a hotel please", [Edit(4, 5, "")], [(2, 7, "hoel")]),
        ("two cheap hotels", [Edit(0, 3, "too"), Edit(15, 16, "")], [(0, 3, "too"), (10, 16, "hotel")]),
        ("hotels", [Edit(1, 2, "0"), Edit(4, 5, "1")], [(0, 6, "h0te1s")]),
        ("the east", [Edit(3, 3, ", um,")], [(3, 3, ", um,")]),
        ("the postcode", [Edit(8, 8, "al ")], [(4, 12, "postal code")]),
        ("便宜的酒店", [Edit(2, 3, "得")], [(2, 3, "得")]),
    ],
    ids=["a letter", "two words", "twice in a word", "between words", "a word in two", "chinese"],
)
def test_without_letters_words_are_shown_whole(text: str, edits: list[Edit], shown: list[tuple[int, int, str]]) -> None:
    assert readable(text, edits, letters=False) == shown


def test_slips_are_what_typing_alone_changed() -> None:
    def record(*steps: tuple[str, str]) -> Dialogue:
        lineage = tuple(Step(name, seed=1, params={}, outcome=outcome) for name, outcome in steps)
        return Dialogue(dialogue_id="a/x/0", source="s", source_id="a", language="en", turns=(), lineage=lineage)

    assert slips(record(("typos@3", "changed"))) and slips(record(("typos@3", "changed"), ("disfluency@1", "unchanged")))
    assert not slips(record(("disfluency@1", "changed"), ("typos@3", "changed"))) and not slips(record(("typos@3", "unchanged")))


def test_the_figures_are_those_of_the_records(raddle: Path) -> None:
    facts = gather(str(raddle), manifest(raddle))
    for suite, found in facts.suites.items():
        turns = [turn for record in records(raddle, suite) for turn in record.turns if turn.speaker == "user"]
        assert found.user_turns == len(turns) == found.edits.total
        assert found.changed_turns == sum(turn.original is not None for turn in turns)
        assert found.inserted_turns == sum(turn.inserted for turn in turns)
        assert found.status == Counter(span.status for turn in turns for span in turn.spans)
        assert found.edits.counts == Counter(min(len(turn.edits), 10) for turn in turns)
        assert found.skipped == Counter(s.reason.partition(":")[0] for r in records(raddle, suite) for step in r.lineage for s in step.skipped)
    for split, one in facts.splits.items():
        assert one.dialogues == len(records(raddle, "standard", split))
        assert one.domains == Counter(domain for record in records(raddle, "standard", split) for domain in record.domains)


def test_a_large_folder_is_read_in_part_and_says_so(raddle: Path) -> None:
    whole = sum(item["bytes"] for item in manifest(raddle)["outputs"] if item["schema"] == "dialogue" and item["path"].endswith(".jsonl"))
    some, every = gather(str(raddle), manifest(raddle), whole // 2), gather(str(raddle), manifest(raddle))
    assert some.sampled and not every.sampled
    assert 0 < some.suites["typos"].user_turns < every.suites["typos"].user_turns
    assert some.suites["typos"].records == every.suites["typos"].records, "counts of records are the manifest's"


def _variant(number: int, status: str = "kept", words: int = 4) -> Dialogue:
    text = " ".join(["word"] * words)
    span = Span(None, None, None, "hotel", "area", "east", "lost") if status == "lost" else Span(0, 4, "word", "hotel", "area", "east", "kept")
    turn = Turn(0, "user", text, "w" + text, spans=(span,), edits=(Edit(0, 1, ""),))
    return Dialogue(
        dialogue_id=f"D{number}/noisy/0", source="s", source_id=f"D{number}", suite="noisy", split="test", domains=("hotel",), turns=(turn,)
    )


def _pick(offered: Sequence[Dialogue]) -> list[str]:
    picker = Picker()
    for record in offered:
        picker.offer(record, "noisy")
    return [one["id"] for one in picker.picked(["standard", "noisy"])]


@given(st.permutations(range(80)))
def test_the_examples_are_the_same_in_any_order(order: list[int]) -> None:
    found = _pick([_variant(number) for number in order])
    assert found == _pick([_variant(number) for number in range(80)]) and 0 < len(found) <= MOST


def test_rare_outcomes_are_shown_and_the_budget_holds() -> None:
    found = _pick([_variant(number, "lost" if number == 250 else "kept") for number in range(500)])
    assert "D250/noisy/0" in found
    picker = Picker()
    for number in range(300):
        picker.offer(_variant(number, words=390), "noisy")
    assert 0 < sum(len(str(one)) for one in picker.picked(["noisy"])) <= BUDGET
    assert outcomes(_variant(1, "lost")) == ["lost"] and outcomes(_variant(1)) == ["kept"]


def test_long_turns_and_dialogues_are_cut_and_say_so() -> None:
    turns = tuple(Turn(number, "user", "x" * (9_000 if number == 1 else 3)) for number in range(300))
    shown = plain(Dialogue(dialogue_id="D/standard/0", source="s", source_id="D", turns=turns), None)
    assert len(str(shown)) < 10_000 and shown["left_out"] == 260 and shown["turns"][1]["text"].endswith("…")


def test_recordings_are_linked_where_there_are_some() -> None:
    record = _variant(7)
    assert "audio" not in plain(record, None)["turns"][0]
    kept = plain(record, None, frozenset({"dialogues/noisy/audio/D7/0/0.wav"}))["turns"][0]
    assert kept["audio"] == "dialogues/noisy/audio/D7/0/0.wav"


def test_word_errors_by_noise_level(tmp_path: Path) -> None:
    """Two turns transcribed at 10 and 13 dB, in bands of 3 dB; the ASR error simulator has no level."""
    turns = (Turn(0, "user", "a motel please", "a hotel please", edits=(Edit(2, 3, "m"),)), Turn(1, "system", "ok"), Turn(2, "user", "thank you"))
    spoken = Step("speech@3", 1, {"engine": "audio"}, "changed", reasons=("voice: x", "noise: white", "turn 0: 10.2 dB", "turn 2: 13 dB"))
    record = Dialogue(dialogue_id="D/speech/0", source="s", source_id="D", suite="speech", split="test", turns=turns, lineage=(spoken,))
    typed = record.replace(dialogue_id="E/speech/0", lineage=(Step("speech@3", 1, {"engine": "text"}, "changed"),))
    path = tmp_path / "dialogues/speech/test.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(encode(record) + b"\n" + encode(typed) + b"\n")
    item = {"path": "dialogues/speech/test.jsonl", "bytes": path.stat().st_size, "records": 2, "schema": "dialogue"}
    found = gather(str(tmp_path), {"outputs": [item], "recipe": {"suites": ["speech"]}}).suites["speech"]
    assert found.error_words == {"9 to 12 dB": [1, 3], "12 to 15 dB": [0, 2], "ASR error simulator": [1, 5]}
    assert found.errors["9 to 12 dB"].counts == {3: 1} and found.errors["12 to 15 dB"].counts == {0: 1}


def test_candidate_sets_show_the_answer_and_some_others(noesis: Path) -> None:
    found = sets(str(noesis), manifest(noesis)["outputs"])
    assert found and "_test" in found[0]["file"]
    for one in found[0]["examples"]:
        assert one["context"] and sum(option["right"] for option in one["options"]) <= 1 and one["more"] > 0
    assert any(option["right"] for one in found[0]["examples"] for option in one["options"])


def test_candidates_of_a_blind_folder_have_no_answer(tmp_path: Path) -> None:
    build("noesis-ubuntu", [DATA / "ubuntu_irc"], tmp_path / "out", "held_out_labels=true")
    found = [file for file in sets(str(tmp_path / "out"), manifest(tmp_path / "out")["outputs"]) if "_test" in file["file"]]
    assert found and not any(option["right"] for file in found for one in file["examples"] for option in one["options"])
