"""Clauses that a corpus's users say all the time are drawn seldom; what is known of them doesn't depend on the order of the dialogues."""

from __future__ import annotations

import pickle

import pytest
from dialmill.perturbers import parse
from dialmill.perturbers.core.pools import Entry, PoolFile, build_table
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.composer import familiar
from dialmill.perturbers.rewording.composer.bank import Clause, Speaker, load
from dialmill.perturbers.rewording.composer.familiar import Familiar, FamiliarPool
from hypothesis import given
from hypothesis import strategies as st

import dialmill as dm
from tests.pipelines.tools import DATA
from tests.talk import dialogue

#: A clause that the bank has, and words that none has.
SENTENCES = {"en": "i'm looking for a place to stay", "zh": "我想找一家酒店"}


def clause(text: str, key: int) -> Clause:
    return Clause(text, frozenset(), (), key, "train")


def table(language: str, times: int) -> Familiar:
    said = [dialogue(f"d{number}", [("user", SENTENCES[language])], language=language) for number in range(times)]
    return Familiar(build_table(FamiliarPool(), said), language)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_everybody_says_weighs_less_than_what_nobody_does(language: str) -> None:
    known = sorted(load(language).clauses().values(), key=lambda one: (-len(one.text), one.key))
    said = [dialogue(f"d{n}", [("user", one.text.replace("{", " ").replace("}", " "))], language=language) for n, one in enumerate(known[:20])]
    corpus = Familiar(build_table(FamiliarPool(), said), language)
    common = sum(corpus.weight(one) for one in known[:20]) / 20
    rare = sum(corpus.weight(one) for one in known[200:400]) / 200
    assert common * 3 < rare
    assert all(0 <= corpus.novelty(one) <= 1 and corpus.weight(one) >= 1 for one in known)


def test_a_speaker_prefers_the_unusual_and_says_the_usual_too() -> None:
    who = load("en")
    usual, unusual = clause("i am looking for {NP}", 1), clause("my kin crave {NP}", 2)
    weights = table("en", 50)
    weights._weights = {1: 10, 2: 90}
    drawn = [Speaker(who, weights=weights).choose(Rng("familiar", number), [usual, unusual]) for number in range(400)]
    assert 320 < drawn.count(unusual) < 390
    even = [Speaker(who).choose(Rng("familiar", number), [usual, unusual]) for number in range(400)]
    assert 150 < even.count(unusual) < 250


@given(st.lists(st.tuples(st.sampled_from(["train", "valid", "", "test"]), st.integers(0, 3)), max_size=8), st.integers(0, 8))
def test_parts_join_to_what_the_whole_makes_and_test_is_left_out(splits: list[tuple[str, int]], cut: int) -> None:
    pool = FamiliarPool()
    ones = [dialogue(f"d{n}", [("user", SENTENCES["en"])] * (size + 1)) for n, (_, size) in enumerate(splits)]
    entries = [(key, Entry(split, data)) for (split, _), one in zip(splits, ones, strict=True) for key, data in pool.entries(one)]
    for key in {key for key, _ in entries}:
        some = [entry for other, entry in entries if other == key]
        whole = pool.merge(some)
        assert whole == pool.merge(some[::-1]) == pool.merge([entry for entry in some if entry.split != "test"])
        parts = [made for made in (pool.merge(some[:cut]), pool.merge(some[cut:])) if made is not None]
        assert whole == (pool.join(parts) if parts else None)
    turns = sum(size + 1 for split, size in splits if split != "test")
    counted = Familiar(build_table(pool, [one.replace(split=split or None) for (split, _), one in zip(splits, ones, strict=True)]), "en")
    assert counted._turns == max(turns, 1)


@pytest.mark.parametrize(("corpus", "language"), [("multiwoz21", "en"), ("crosswoz", "zh")])
def test_composed_turns_are_newer_with_the_pool(corpus: str, language: str) -> None:
    every = [one.replace(dialogue_id=f"{one.source_id}/standard/0") for one in dm.read(DATA / corpus)]
    pool = PoolFile.of_dialogues(FamiliarPool(), every)
    plain = parse("paraphrase:engine=compose").perturber
    aware = plain.with_pools({(FamiliarPool.name, "input"): pool})
    assert pickle.loads(pickle.dumps(aware)) == aware != plain
    measured = familiar.opened(pool, language)
    novelty = []
    for perturber in (plain, aware):
        texts = [turn.utterance for one in every for turn in perturber.perturb(one, 7).turns if turn.speaker == "user"]
        novelty.append(sum(measured.novelty(clause(text, number)) for number, text in enumerate(texts)) / len(texts))
    assert novelty[1] > novelty[0]
