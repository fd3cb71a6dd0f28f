"""Candidates for every place of a file: each stands among the wrong ones as often as it is right, and none breaks a rule."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.candidates.keys import candidate_key, hashes, key_hash, nearly_equal
from dialmill.pipelines.candidates.pool import EVERY, SPLIT_BITS, WEIGHT, Pool, join_shards, shard_of, utterance
from dialmill.pipelines.candidates.proportional import ProportionalDraw

TRAIN = SPLIT_BITS["train"]
#: How often each text is said: a few again and again, most once.
_TEXTS = [
    f"the {word} {thing} costs {price}"
    for price in (7, 19, 23, 48)
    for word in ("silver", "crimson", "oak", "checkered", "narrow")
    for thing in ("jacket", "umbrella", "carpet", "lamp")
]
SAID = {text: 24 if place == 0 else 6 if place < 4 else 1 for place, text in enumerate(_TEXTS)}


def _pool(folder: Path, said: dict[str, int]) -> Pool:
    packed = [found[1] for text, often in said.items() if (found := utterance(text, TRAIN, often * WEIGHT)) is not None]
    join_shards([shard_of(packed)[0]], str(folder), None, False)
    return Pool(str(folder))


def test_how_often_a_candidate_stands_tells_nothing(tmp_path: Path) -> None:
    pool = _pool(tmp_path, SAID)
    answers = [text for text, often in SAID.items() for _ in range(often)]
    sets = [hashes([answer]) for answer in answers]
    draw = ProportionalDraw(pool, 5, TRAIN, sets)
    held: Counter[str] = Counter()
    rounds = 40
    for number in range(rounds):
        for place, (answer, barred) in enumerate(zip(answers, sets, strict=True)):
            held.update(pool.text(at) for at in draw.distractors(Rng(number, "test", place), answer, barred))
    for text, often in SAID.items():
        # Four wrong ones stand beside each answer, so that a candidate is wrong four times for each time that it is right.
        assert held[text] / (4 * often * rounds) == pytest.approx(1, abs=0.2 if often > 1 else 0.4), text
    once = [text for text, often in SAID.items() if often == 1]
    assert sum(held[text] for text in once) / (4 * rounds * len(once)) == pytest.approx(1, abs=0.05)


def test_no_candidate_is_barred_repeated_or_near_the_answer(tmp_path: Path) -> None:
    near = {"i put the red coat in your cart for you": 1, "i put the red coat in your cart for you now": 1, "yes": 1, "yep": 1, "ok sure": 1}
    pool = _pool(tmp_path, SAID | near)
    draw = ProportionalDraw(pool, 40, TRAIN, [])
    answer, barred = "i put the red coat in your cart for you", hashes(["the silver jacket costs 7", "i put the red coat in your cart for you"])
    for number in range(30):
        found = draw.distractors(Rng(number, "test"), answer, barred)
        texts = [pool.text(at) for at in found]
        assert len(set(found)) == len(found) == 39
        assert not {key_hash(candidate_key(text)) for text in texts} & set(barred)
        assert not any(nearly_equal(candidate_key(text), candidate_key(answer)) for text in texts)
        assert sum(text in ("yes", "yep", "ok sure") for text in texts) < 2, "replies of one kind"


def test_a_small_pool_gives_smaller_sets(tmp_path: Path) -> None:
    pool = _pool(tmp_path, SAID)
    assert ProportionalDraw(pool, 100, EVERY, []).count == len(SAID) // 2
    assert ProportionalDraw(pool, 100, SPLIT_BITS["test"], []).distractors(Rng(1, "test"), "x", []) == []


def test_the_same_key_gives_the_same_set(tmp_path: Path) -> None:
    draw = ProportionalDraw(_pool(tmp_path, SAID), 9, TRAIN, [])
    one, again, other = (draw.distractors(Rng(seed, "test"), "x", []) for seed in (1, 1, 2))
    assert one == again != other
