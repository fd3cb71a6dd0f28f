"""Pools and what is drawn from them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.candidates.draw import Draw
from dialmill.pipelines.candidates.gather import PartFiles, PoolShard, contribution
from dialmill.pipelines.candidates.generic import kind_of
from dialmill.pipelines.candidates.keys import candidate_key, hashes, key_hash, long_id, nearly_equal, short_id, token_hashes
from dialmill.pipelines.candidates.pool import ANSWER, SHARED, WEIGHT, About, Pool, join_shards, shard_of, utterance
from dialmill.pipelines.runners.plain import PlainRunner
from hypothesis import given, settings
from hypothesis import strategies as st


def build(folder: Path, texts: list[tuple[str, int]], pool_size: int | None = None) -> Pool:
    """A pool of (text, flags), in one part; each could be an answer where it stands."""
    packed = [found[1] for text, flags in texts if (found := utterance(text, flags, WEIGHT)) is not None]
    join_shards([shard_of(packed)[0]], str(folder), pool_size, True)
    return Pool(str(folder))


def test_the_key_of_a_candidate() -> None:
    same = ["Thanks!", "thanks!  ", "THANKS !", "ｔｈａｎｋｓ", "thanks...", "participant_3: thanks"]
    assert {candidate_key(text) for text in same} == {"thanks"}
    assert candidate_key(" :-) ") == ":-)" != candidate_key(":-(")
    assert candidate_key("participant_3: :)") == candidate_key("participant_0: :)") == candidate_key(":)") == ":)"
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
        ("hmmm", "hummm", False),
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


def test_candidates_that_are_the_same_or_empty_stand_once_or_not(tmp_path: Path) -> None:
    """Five dialogues, four of which say the same or nothing: two candidates are left, none twice, none empty."""
    pool = build(tmp_path, [("Thanks!", 1), ("thanks!  ", 1), ("", 1), ("   ", 1), ("THANKS !", 1), ("try sudo", 1)])
    assert {candidate_key(pool.text(at)) for at in range(len(pool))} == {"thanks", "try sudo"}
    drawn = Draw(pool, 5, False, False).distractors(Rng(1), "train", 4, ["Thanks!"], hashes(["Thanks!", "what now?"])).places
    assert [pool.text(at) for at in drawn] == ["try sudo"], "short, and not padded"


def test_the_order_of_arrival_changes_nothing(tmp_path: Path) -> None:
    texts = [(f"say {number % 40} times {number % 3}", 1 << number % 3) for number in range(200)]
    build(tmp_path / "one", texts)
    build(tmp_path / "other", texts[::-1])
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes(), path.name


def test_parts_join_to_the_pool_of_one_part(tmp_path: Path) -> None:
    found = sorted(one for number in range(300) if (one := utterance(f"try option {number} now", 1)) is not None)
    join_shards([shard_of([data for _, data in found])[0]], str(tmp_path / "one"), None, True)
    thirds = [found[:100], found[100:200], found[200:]]
    join_shards([shard_of([data for _, data in part])[0] for part in thirds], str(tmp_path / "three"), None, True)
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "three" / path.name).read_bytes(), path.name


def test_parts_are_read_when_they_are_asked_for_in_the_order_of_their_keys(tmp_path: Path) -> None:
    stage = PoolShard(str(tmp_path))
    texts = [f"reply {number}" for number in range(200)]
    items = [item for text in texts for _, item in contribution(text, 1, WEIGHT, pool="a b/c", parts=64)]
    groups = PlainRunner().group("", items)
    made = [item for group in reversed(groups) for _, item in stage.process(group)]
    assert {pool for pool, _ in made} == {"a b/c"}
    assert max(len(value) for _, value in made) < 300, "where a part lies travels, and no part"
    parts = PartFiles(value for _, value in made)
    join_shards(parts, str(tmp_path / "many"), None, True)
    join_shards([shard_of([data for _, data in items])[0]], str(tmp_path / "one"), None, True)
    assert len(parts) > 40
    for path in sorted((tmp_path / "one").iterdir()):
        assert path.read_bytes() == (tmp_path / "many" / path.name).read_bytes(), path.name


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
    places = Draw(pool, 10, similar, True).distractors(Rng(seed), "train", 9, answers, hashes(own), [texts[1]]).places
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
        # Generic replies of one kind ("no", "no no") are one candidate, and an answer that is one stands for its kind.
        kinds = {kind_of(candidate_key(answer)) for answer in answers} - {0, None}
        units = {(kind, -1) if (kind := kind_of(candidate_key(pool.text(at)))) else (0, at) for at in usable}
        assert len(places) == min(9, len({unit for unit in units if unit[0] not in kinds})), "as many as there are"


def test_the_own_split_s_utterances_where_it_has_enough(tmp_path: Path) -> None:
    texts = [(f"train number {number} of many", 1) for number in range(300)] + [(f"test thing {number * 7}", 4) for number in range(60)]
    pool = build(tmp_path, texts)
    draw = Draw(pool, 20, False, True)
    assert all(pool.text(at).startswith("test") for at in draw.distractors(Rng(1), "test", 19, ["x"], []).places)
    assert all(pool.text(at).startswith("train") for at in draw.distractors(Rng(1), "train", 19, ["x"], []).places)
    assert any(pool.text(at).startswith("train") for at in Draw(pool, 50, False, True).distractors(Rng(1), "test", 49, ["x"], []).places)


def test_similar_distractors_share_more_words_than_random_ones(tmp_path: Path) -> None:
    rng = Rng(5)
    things = ["kernel", "driver", "cable", "screen", "mouse", "printer", "sound", "network", "disk", "panel"]
    texts = [f"try the {rng.choice(things)} with the {rng.choice(things)} number {number}" for number in range(2000)]
    context, answer = "my printer and my mouse are dead", "try the printer with the mouse number 5000"
    pool = build(tmp_path, [(text, 1) for text in [*texts, answer]])
    query = pool.numbers(token_hashes(candidate_key(context + " " + answer)))

    def mean(similar: bool) -> float:
        draw = Draw(pool, 50, similar, False)
        draw.expect("train", texts)
        places = draw.distractors(Rng(2), "train", 49, [answer], [], [context]).places
        assert len(places) == 49
        return float(np.mean(pool.overlaps(np.array(places), query)))

    assert mean(True) > 1.2 * mean(False) > 0


def _weighed(folder: Path, texts: list[tuple[str, float]]) -> Pool:
    packed = [found[1] for text, times in texts if (found := utterance(text, 1, int(times * WEIGHT))) is not None]
    join_shards([shard_of(packed)[0]], str(folder), None, True)
    return Pool(str(folder))


def test_what_is_said_often_is_drawn_often(tmp_path: Path) -> None:
    """Distractors are drawn by how often they stand where an answer can, as answers come about."""
    pool = _weighed(tmp_path, [("do a reboot", 40), *((f"try number {number} of these", 1) for number in range(960)), ("never an answer", 0)])
    draw = Draw(pool, 10, False, True)
    drawn = [{pool.text(at) for at in draw.distractors(Rng(1, turn), "train", 9, ["the answer"], []).places} for turn in range(400)]
    often, once = sum("do a reboot" in one for one in drawn) / 400, sum(len(one) for one in drawn) / 400 / 961
    assert 0.22 < often < 0.42 and once < 0.02, "said forty times in a thousand, in about 1 - .96 ** 9 of the sets"
    assert not any("never an answer" in one for one in drawn)


def test_an_answer_said_all_the_time_is_kept_as_often_as_it_is_a_distractor(tmp_path: Path) -> None:
    pool = _weighed(tmp_path, [("do a reboot", 100), *((f"try number {number} of these", 1) for number in range(900))])
    draw = Draw(pool, 10, False, True, 0.02)
    assert draw.keep_share("train", "try number 3 of these") == pytest.approx(1, abs=1e-6)
    assert draw.keep_share("train", "said nowhere") == 1
    # In a fiftieth of the sets, one of ten candidates: the answer of one in five hundred, which of 902 is as if it had been said 1.8 times.
    assert draw.keep_share("train", "do a reboot") == pytest.approx(902 / 500 / 100, rel=0.01)
    assert Draw(pool, 10, False, True).keep_share("train", "do a reboot") == 1, "without a bound all are kept"


@pytest.mark.parametrize("shards", [1, 4])
def test_none_stands_in_more_sets_than_its_share(shards: int, tmp_path: Path) -> None:
    """Generic replies of a kind share it, answers count, and every shard keeps to it by itself."""
    said = [
        ("ok", 200.0),
        ("yes, sure", 90.0),
        ("do a reboot", 150.0),
        *((f"try number {number} of these", 1 + number % 3) for number in range(1200)),
    ]
    pool = _weighed(tmp_path, said)
    held: Counter[int] = Counter()
    for shard in range(shards):
        draw = Draw(pool, 10, False, True, 0.02)
        answers = [said[(turn * 13 + shard * 7) % len(said)][0] for turn in range(400)]
        kept = [(turn, one) for turn, one in enumerate(answers) if Rng(1, shard, turn).random() < draw.keep_share("train", one)]
        draw.expect("train", (one for _, one in kept), 400)
        for turn, answer in kept:
            places = draw.distractors(Rng(2, shard, turn), "train", 9, [answer], []).places
            assert len(places) == 9
            held.update({*pool.identity(np.array(places)).tolist(), *pool.identity(np.array([pool.find(key_hash(candidate_key(answer)))])).tolist()})
        assert draw.beyond == 0
    assert max(held.values()) <= 0.02 * 400 * shards, held.most_common(3)


def test_a_pool_that_is_too_small_for_the_share_is_used_evenly(tmp_path: Path) -> None:
    pool = build(tmp_path, [(f"try number {number} of these", 1) for number in range(300)])
    draw = Draw(pool, 50, False, True, 0.01)
    draw.expect("train", [], 200)
    held = Counter(at for turn in range(200) for at in draw.distractors(Rng(3, turn), "train", 50, ["right"], []).places)
    assert draw.fair_share(1) == pytest.approx(1.25 * 50 / 300) and draw.beyond == 0
    assert max(held.values()) == draw.most_held <= 1.25 * 50 / 300 * 200 + 1 and sum(held.values()) == 50 * 200


def test_candidates_are_about_what_the_answer_is_about(tmp_path: Path) -> None:
    """Of its themes first, doing the same first of these; then anything."""
    said = [(f"words {number} on {about}", About(1 + number % 2, about)) for about in ((281,), (370,), (281, 370), ()) for number in range(30)]
    packed = [found[1] for text, about in said if (found := utterance(text, 1, WEIGHT, about)) is not None]
    join_shards([shard_of(packed)[0]], str(tmp_path), None, False)
    pool = Pool(str(tmp_path))
    answer, own = said[0][0], [text for text, _ in said[1:10]]

    def drawn(count: int) -> list[About]:
        places = Draw(pool, count + 1, False, True).distractors(Rng(4), "train", count, [answer], hashes([answer, *own])).places
        return [dict(said)[pool.text(at)] for at in places]

    assert drawn(10) == [About(1, (281,))] * 10
    assert Counter(one.themes for one in drawn(20)) == {(281,): 20}
    # 20 about it and not barred, 30 about it and another thing.
    assert Counter(281 in one.themes for one in drawn(50)) == {True: 50}
    assert Counter(281 in one.themes for one in drawn(80)) == {True: 50, False: 30}


def test_answers_of_another_split_are_candidates_as_well(tmp_path: Path) -> None:
    """The first test set of Advising is cut from training conversations too: an answer that is never a distractor would be known by that."""
    train, test = ([f"{split} number {number} of many" for number in range(60)] for split in ("train", "test"))
    pool = build(tmp_path, [*((text, 1) for text in train), *((text, 4) for text in test)])
    for answers, reached in ((test, {"test"}), ([*test[:10], *train[:10]], {"train", "test"})):
        draw = Draw(pool, 20, False, True)
        draw.expect("test", answers)
        drawn = {pool.text(at).split()[0] for one in answers for at in draw.distractors(Rng(one), "test", 19, [one], []).places}
        assert drawn == reached


def test_what_a_place_bars_is_looked_up_where_it_is_cut_many_times_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred examples of one conversation weigh each candidate against their answer once, and draw what they would draw without that."""
    said = [f"number {number} of course {number % 9}" for number in range(300)]
    packed = [found[1] for text in said if (found := utterance(text, 1, WEIGHT, About(1, (int(text[-1]),)))) is not None]
    join_shards([shard_of(packed)[0]], str(tmp_path), None, False)
    pool, looked = Pool(str(tmp_path)), []
    overlaps = Pool.overlaps
    monkeypatch.setattr(Pool, "overlaps", lambda *args: looked.append(1) or overlaps(*args))

    def drawn() -> list[list[int]]:
        draw = Draw(pool, 20, False, True)
        return [draw.distractors(Rng(7, at), "train", 19, [said[at % 3]], hashes(said[:9])).places for at in range(60)]

    kept = drawn()
    assert len(looked) == 3
    monkeypatch.setattr("dialmill.pipelines.candidates.draw._LOOKED_UP", 0)
    assert drawn() == kept and len(looked) > 60


@pytest.mark.parametrize("similar", [False, True])
def test_any_candidate_of_a_set_is_as_often_the_answer(similar: bool, tmp_path: Path) -> None:
    """Over many sets, neither frequency, nor length, nor a place in the middle of the others tells the answers."""
    rng = Rng(11)
    said = [" ".join(f"w{rng.below(20) * rng.below(20)}" for _ in range(2 + rng.below(7))) for _ in range(1200)]
    answers = {key_hash(candidate_key(text)): text for text in said}
    count = Counter(key_hash(candidate_key(text)) for text in said)
    pool = _weighed(tmp_path, [(text, count[number]) for number, text in answers.items()])
    draw = Draw(pool, 20, similar, True)
    held: Counter[int] = Counter()
    sets = []
    kept = [(turn, answer) for turn, answer in enumerate(said) if Rng(5, turn).random() < draw.keep_share("train", answer)]
    draw.expect("train", (answer for _, answer in kept))
    for turn, answer in kept:
        places = draw.distractors(Rng(6, turn), "train", 19, [answer], [], [said[(turn * 7) % len(said)]]).places
        assert len(places) == 19
        mine = pool.find(key_hash(candidate_key(answer)))
        sets.append((mine, [mine, *places]))
        held.update([mine, *places])
    rates = {}
    for name, score in (
        ("rare", lambda at: -held[at]),
        ("frequent", lambda at: held[at]),
        ("short", lambda at: -int(pool.length[at])),
        ("long", lambda at: int(pool.length[at])),
    ):
        hits = 0.0
        for _, options in sets:
            scores = [score(at) for at in options]
            hits += (scores[0] == max(scores)) / scores.count(max(scores))
        rates[name] = hits / len(sets)
    allowed = 0.05 + 3.5 * (0.05 * 0.95 / len(sets)) ** 0.5
    assert len(sets) > 500 and max(rates.values()) < allowed, rates


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["yes", "yep", "yeah!", "ok", "of course", "i think so", "sure", "是的", "好的"], 1),
        (["no", "nope", "nah"], 2),
        (["np", "you're welcome", "no problem", "you are welcome :)", "my pleasure", "no problem at all"], 3),
        (["i don't know", "no idea", "not sure", "dunno"], 8),
        (["try sudo apt-get update", "no idea what fglrx is", "yes, install the driver first", "thanks to the new kernel it boots", "", "64"], 0),
    ],
)
def test_generic_replies_say_the_same(texts: list[str], kind: int) -> None:
    assert {text: kind_of(candidate_key(text)) for text in texts} == dict.fromkeys(texts, kind)


def test_a_set_holds_one_generic_reply_of_a_kind(tmp_path: Path) -> None:
    generic = ["yes", "yep", "yeah", "sure", "ok", "no", "nope", "no problem", "you're welcome", "np"]
    pool = build(tmp_path, [(text, 1) for text in [*generic, *(f"try number {number} of these" for number in range(30))]])
    for similar in (False, True):
        for turn in range(20):
            drawn = [pool.text(at) for at in Draw(pool, 20, similar, True).distractors(Rng(turn), "train", 19, ["right"], [], ["and now?"]).places]
            kinds = [kind_of(candidate_key(text)) for text in drawn if kind_of(candidate_key(text))]
            assert len(kinds) == len(set(kinds)) and 1 not in kinds, "the answer agrees, so nothing else does"


def test_an_empty_pool_gives_nothing(tmp_path: Path) -> None:
    pool = build(tmp_path, [])
    assert len(pool) == 0
    for similar in (False, True):
        assert Draw(pool, 5, similar, True).distractors(Rng(1), "test", 4, ["x"], [1]).places == []
