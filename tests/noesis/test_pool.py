"""Pools and what is drawn from them (cases B06, B08, B09, B45)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.candidates.draw import Draw
from dialmill.pipelines.candidates.keys import candidate_key, hashes, key_hash, long_id, nearly_equal, short_id, token_hashes
from dialmill.pipelines.candidates.pool import ANSWER, SHARED, Pool, join_shards, shard_of, utterance
from hypothesis import given, settings
from hypothesis import strategies as st


def build(folder: Path, texts: list[tuple[str, int]], pool_size: int | None = None) -> Pool:
    """A pool of (text, flags), in one part."""
    packed = [found[1] for text, flags in texts if (found := utterance(text, flags)) is not None]
    join_shards([shard_of(packed)[0]], str(folder), pool_size, True)
    return Pool(str(folder))


def test_the_key_of_a_candidate() -> None:
    same = ["Thanks!", "thanks!  ", "THANKS !", "ｔｈａｎｋｓ", "thanks...", "participant_3: thanks"]
    assert {candidate_key(text) for text in same} == {"thanks"}
    assert candidate_key(" :-) ") == ":-)" != candidate_key(":-(")
    assert candidate_key("don't") == candidate_key("dont")
    assert key_hash("re boot") == key_hash("reboot") != key_hash("rebots")


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        ("reboot it", "rebot it", True),
        ("you should take mill 280", "you should take mill 281", False),
        ("try the other cable first please", "please try the other cable first", True),
        ("yes", "yep", False),
        ("no", "on", False),
    ],
)
def test_nearly_equal(one: str, other: str, near: bool) -> None:
    assert nearly_equal(one, other) == nearly_equal(other, one) == near


@given(st.lists(st.integers(0, 2**61 - 1), min_size=2, max_size=20, unique=True))
def test_ids_are_unique_and_of_the_release_s_form(numbers: list[int]) -> None:
    for name, length in ((short_id, 12), (long_id, 32)):
        made = {name(number) for number in numbers}
        assert len(made) == len(numbers)
        assert all(len(one) == length and one.isalnum() for one in made)
    assert all(short_id(number).isupper() or short_id(number).isdigit() for number in numbers)


def test_case_b06(tmp_path: Path) -> None:
    """Five dialogues, four of which say the same or nothing: two candidates are left, none twice, none empty."""
    pool = build(tmp_path, [("Thanks!", 1), ("thanks!  ", 1), ("", 1), ("   ", 1), ("THANKS !", 1), ("try sudo", 1)])
    assert {candidate_key(pool.text(at)) for at in range(len(pool))} == {"thanks", "try sudo"}
    drawn = Draw(pool, 5, False, False).distractors(Rng(1), "train", 4, ["Thanks!"], hashes(["Thanks!", "what now?"]))
    assert [pool.text(at) for at in drawn] == ["try sudo"], "short, and not padded"


def test_the_order_of_arrival_changes_nothing(tmp_path: Path) -> None:
    texts = [(f"say {number % 40} times {number % 3}", 1 << number % 3) for number in range(200)]
    build(tmp_path / "one", texts)
    build(tmp_path / "other", texts[::-1])
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes(), path.name


def test_parts_join_to_the_pool_of_one_part(tmp_path: Path) -> None:
    found = sorted(one for number in range(300) if (one := utterance(f"try option {number} now", 1)) is not None)
    join_shards([shard_of([data for _, data in found])[0]], str(tmp_path / "one"), None, False)
    thirds = [found[:100], found[100:200], found[200:]]
    join_shards([shard_of([data for _, data in part])[0] for part in thirds], str(tmp_path / "three"), None, False)
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "three" / path.name).read_bytes(), path.name


def test_the_shared_pool_takes_all_answers_first(tmp_path: Path) -> None:
    pool = build(tmp_path, [(f"answer {number}", 1 | ANSWER) for number in range(30)] + [(f"other {number}", 1) for number in range(50)], 40)
    shared = [pool.text(at) for at in pool.members(SHARED).tolist()]
    assert len(shared) == 40 and sum(text.startswith("answer") for text in shared) == 30


WORDS = ["sudo", "reboot", "kernel", "driver", "try", "again", "the", "cable", "screen", "no"]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=5, max_size=60),
    st.integers(0, 1000),
    st.booleans(),
)
def test_distractors_keep_every_rule(tmp_path_factory: pytest.TempPathFactory, texts: list[str], seed: int, similar: bool) -> None:
    pool = build(tmp_path_factory.mktemp("pool"), [(text, 1) for text in texts])
    own = texts[:3]
    answers = [texts[0], "reboot the kernel"]
    places = Draw(pool, 10, similar, True).distractors(Rng(seed), "train", 9, answers, hashes(own), texts[1])
    drawn = [pool.text(at) for at in places]
    assert len(places) == len(set(places)) <= 9
    assert not set(hashes(drawn)) & set(hashes(own))
    assert not any(nearly_equal(candidate_key(text), candidate_key(answer)) for text in drawn for answer in answers)
    usable = [
        at
        for at in range(len(pool))
        if key_hash(candidate_key(pool.text(at))) not in hashes(own)
        and not any(nearly_equal(candidate_key(pool.text(at)), candidate_key(answer)) for answer in answers)
    ]
    if not similar:
        assert len(places) == min(9, len(usable)), "as many as there are"


def test_the_own_split_s_utterances_where_it_has_enough(tmp_path: Path) -> None:
    texts = [(f"train number {number} of many", 1) for number in range(300)] + [(f"test thing {number * 7}", 4) for number in range(60)]
    pool = build(tmp_path, texts)
    draw = Draw(pool, 20, False, True)
    assert all(pool.text(at).startswith("test") for at in draw.distractors(Rng(1), "test", 19, ["x"], []))
    assert all(pool.text(at).startswith("train") for at in draw.distractors(Rng(1), "train", 19, ["x"], []))
    assert any(pool.text(at).startswith("train") for at in Draw(pool, 50, False, True).distractors(Rng(1), "test", 49, ["x"], []))


def test_similar_distractors_share_more_words_than_random_ones(tmp_path: Path) -> None:
    rng = Rng(5)
    things = ["kernel", "driver", "cable", "screen", "mouse", "printer", "sound", "network", "disk", "panel"]
    texts = [f"try the {rng.choice(things)} with the {rng.choice(things)} number {number}" for number in range(2000)]
    pool = build(tmp_path, [(text, 1) for text in texts])
    context, answer = "my printer and my mouse are dead", "unplug printer first"
    query = pool.numbers(token_hashes(candidate_key(context + " " + answer)))

    def mean(similar: bool) -> float:
        places = Draw(pool, 50, similar, False).distractors(Rng(2), "train", 49, [answer], [], context)
        assert len(places) == 49
        return float(np.mean(pool.overlaps(np.array(places), query)))

    assert mean(True) > 3 * mean(False) > 0


def test_an_empty_pool_gives_nothing(tmp_path: Path) -> None:
    pool = build(tmp_path, [])
    assert len(pool) == 0
    for similar in (False, True):
        assert Draw(pool, 5, similar, True).distractors(Rng(1), "test", 4, ["x"], [1]) == []
