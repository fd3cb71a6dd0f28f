"""What every registered perturber must keep to; a new one inherits these tests by its name in the registry."""

from __future__ import annotations

import dataclasses
import multiprocessing
import pickle
from collections.abc import Iterator
from functools import partial
from multiprocessing.pool import Pool
from typing import Any

import pytest
from dialmill.perturbers import Chain, OptionError, Perturber, Skipped, get, variants
from dialmill.perturbers.core import options, registry
from dialmill.pipelines.sources import registry as sources
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import encode
from dialmill.schemas.edits import edit_text
from dialmill.schemas.validate import check_dialogue
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialmill import perturbers
from tests.pipelines.tools import DATA, plain, records
from tests.strategies import dialogues as any_dialogues

EXTRA = registry.extra
#: All of them: one that can't run here fails these tests, as the extra that brings it is part of `test`.
NAMES = perturbers.names()


@pytest.fixture(autouse=True, scope="module")
def _no_audio() -> Iterator[None]:
    """`speech` by its error simulator: its audio path has tests of its own, and takes seconds for each turn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DIALMILL_NO_AUDIO", "1")
        yield


#: Sentences without any label.
_SAID = ["I need a cheap hotel in the north.", "thanks", "what time does it open ?", "我想订一家便宜的酒店。", "谢谢", "有停车场吗？", "17:30", "?"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Dialogue]:
    """Some dialogues of each language, with every rule of the miniature corpora in them."""
    found: list[Dialogue] = []
    for name in ("multiwoz21", "risawoz"):
        folder = tmp_path_factory.mktemp(name) / "out"
        plain("splits", [DATA / name], folder)
        found += records(folder)[:12]
    assert {one.language for one in found} == {"en", "zh"} and sources.names()
    return found


@pytest.fixture(params=NAMES)
def perturber(request: pytest.FixtureRequest) -> Perturber:
    made = get(request.param)()
    assert isinstance(made, Perturber)
    return made


def _supported(perturber: Perturber, corpus: list[Dialogue]) -> list[Dialogue]:
    return [one for one in corpus if one.language in perturber.languages]


def test_it_is_named_and_versioned(perturber: Perturber) -> None:
    kind = type(perturber)
    assert kind.version >= 1 and get(perturber.step) is get(kind.name) is kind
    with pytest.raises(OptionError, match=f"{kind.name}@{kind.version}"):
        get(f"{kind.name}@{kind.version + 1}")
    assert kind.__doc__ and kind.__doc__.splitlines()[0].endswith(".") and kind.languages <= {"en", "zh"}


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(OptionError) as refusal:
        get("typoes")
    assert all(name in str(refusal.value) for name in perturbers.names())


def test_options_are_checked(perturber: Perturber) -> None:
    kind = type(perturber)
    with pytest.raises(OptionError) as refusal:
        kind.from_options({"no_such_option": "1"})
    assert all(name in str(refusal.value) for name in perturber.params)
    for name, value in perturber.params.items():
        assert getattr(kind.from_options({name: str(value)}), name) == value, "the text of --with gives what the type says"
        if isinstance(value, (int, float)):
            for wrong in ("much", "", "nan", -(10**9)):
                with pytest.raises(OptionError, match=name):
                    kind.from_options({name: wrong})
    assert kind.from_options({}) == perturber


def test_every_option_says_what_it_means_and_its_example_is_read(perturber: Perturber) -> None:
    kind = type(perturber)
    for option in options.options(kind):
        assert option.meaning and option.example is not None, option.name
        made = options.read(option.name, option.kind, options.written(option.example))
        assert made == option.example != option.default, option.name
        assert f"{kind.name}:{option.name}={options.written(option.example)}" in options.describe(kind, kind.name).replace("\n      ", " ")


@pytest.fixture(scope="module")
def processes() -> Iterator[Pool]:
    """Two processes that begin with nothing but what is pickled to them."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        yield pool


def test_equal_perturbers_give_equal_output_in_every_process(perturber: Perturber, corpus: list[Dialogue], processes: Pool) -> None:
    some = _supported(perturber, corpus)
    pooled = perturber.with_pool(some)
    # A copy by fields, one by pickling, and one in another process are the same perturber.
    for one in (perturber, pooled):
        plain = [encode(one.perturb(dialogue, seed=1)) for dialogue in some]
        for copy in (dataclasses.replace(one), pickle.loads(pickle.dumps(one))):
            assert copy == one and hash(copy) == hash(one)
            assert [encode(copy.perturb(dialogue, seed=1)) for dialogue in some] == plain
        assert list(map(encode, processes.map(partial(one.perturb, seed=1), some))) == plain
    assert (pooled == perturber) == (not perturber.pools), "a pool is part of what a perturber is"
    assert perturber.with_pool(list(some)) == pooled


def test_same_key_same_variant_in_any_order(perturber: Perturber, corpus: list[Dialogue]) -> None:
    some = _supported(perturber, corpus)
    forth = {(one.source_id, number): perturber.perturb(one, 7, number) for one in some for number in range(3)}
    back = {(one.source_id, number): perturber.perturb(one, 7, number) for number in (2, 0, 1) for one in reversed(some)}
    assert forth == back


def test_seeds_and_variants_differ(perturber: Perturber, corpus: list[Dialogue]) -> None:
    some = _supported(perturber, corpus)
    made = [[perturber.perturb(one, seed, number) for one in some] for seed, number in ((1, 0), (2, 0), (1, 1))]
    texts = [[tuple(turn.utterance for turn in one.turns) for one in variants] for variants in made]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        differing = sum(a != b for a, b in zip(texts[one], texts[other], strict=True))
        # A short turn can be shortened in one way only.
        assert differing >= (0.4 if perturber.name == "simplification" else 0.8) * len(some)


def _holds(perturber: Perturber, source: Dialogue, made: Dialogue) -> None:
    """What is true of every variant."""
    assert made.source_id == source.source_id and made.split == source.split and made.language == source.language
    assert perturber.relabels or made.goal == source.goal
    assert made.dialogue_id.startswith(f"{source.source_id}/") and made.domains == source.domains
    assert [turn.turn for turn in made.turns] == list(range(len(made.turns)))
    own = [turn for turn in made.turns if not turn.inserted]
    assert len(own) == len(source.turns) and (perturber.inserts or own == list(made.turns))
    for turn in made.turns:
        if turn.inserted:
            assert turn.original is None and not turn.edits and any(str(turn.turn) in reason for reason in made.lineage[-1].reasons)
    step = made.lineage[-1]
    assert made.lineage[:-1] == source.lineage and step.step == perturber.step and step.params == perturber.params
    skipped = {skip.turn for skip in step.skipped}
    for before, after in zip(source.turns, own, strict=True):
        after = after.replace(turn=before.turn) if perturber.inserts else after
        assert (after.turn, after.speaker) == (before.turn, before.speaker)
        assert len(after.state) == len(before.state) and len(after.acts) == len(before.acts)
        assert perturber.relabels or (after.state, after.acts) == (before.state, before.acts)
        assert after.source_text == before.source_text, "what the source said is kept"
        if after.original is not None:
            assert edit_text(after.original, after.edits) == after.utterance != after.original
        if not perturber.relabels and (before.speaker == "system" or before.turn in skipped):
            assert after == before
        assert [(span.domain, span.slot) for span in after.spans] == [(span.domain, span.slot) for span in before.spans]
        assert perturber.relabels or [span.value for span in after.spans] == [span.value for span in before.spans]
        for span in after.spans:
            assert span.status == "lost" if span.start is None else after.utterance[span.start : span.end] == span.text
    assert step.outcome == ("changed" if made.turns != source.turns else "skipped")


def test_variants_keep_the_labels_and_lead_back_to_the_source(perturber: Perturber, corpus: list[Dialogue]) -> None:
    changed = 0
    for one in _supported(perturber, corpus):
        before = one.to_dict()
        made = perturber.perturb(one, 1)
        _holds(perturber, one, made)
        assert check_dialogue(made) == []
        assert one.to_dict() == before, "the source stays as it was"
        changed += made.lineage[-1].outcome == "changed"
    assert changed >= 0.9 * len(_supported(perturber, corpus))


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(dialogue=any_dialogues())
def test_any_dialogue_whatever_can_be_given(perturber: Perturber, dialogue: Dialogue) -> None:
    _holds(perturber, dialogue, perturber.perturb(dialogue, 1))


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(said=st.lists(st.text(max_size=60) | st.sampled_from(_SAID), max_size=4), language=st.sampled_from(["en", "zh"]))
def test_without_slots_labels_or_a_pool_it_does_what_it_can_or_says_why_not(perturber: Perturber, said: list[str], language: str) -> None:
    turns = tuple(Turn(number, "user" if number % 2 == 0 else "system", text) for number, text in enumerate(said))
    bare = Dialogue(dialogue_id="bare", source="text", source_id="bare", language=language, turns=turns)
    made = perturber.perturb(bare, seed=1)
    _holds(perturber, bare, made)
    step = made.lineage[-1]
    assert all(skip.reason for skip in step.skipped)
    # A turn that `speech` transcribes without an error is unchanged for no want of trying.
    if made.turns == turns and perturber.name != "speech":
        assert [skip.turn for skip in step.skipped] == [turn.turn for turn in turns if turn.speaker == "user"]


@pytest.mark.parametrize("wrong", [{"turns": []}, "i need a hotel", None, 3], ids=["dict", "str", "None", "int"])
def test_a_wrong_type_says_what_is_expected(perturber: Perturber, wrong: Any) -> None:
    with pytest.raises(TypeError, match=f"{perturber.name}: perturb takes a Dialogue.*, not {type(wrong).__name__}"):
        perturber.perturb(wrong, seed=1)


def test_german_is_no_english(perturber: Perturber) -> None:
    said = (Turn(0, "user", "Ich brauche ein billiges Hotel im Norden."), Turn(1, "system", "Gern."), Turn(2, "user", "Danke, bis morgen um 10:30."))
    for language in ("de", "und", "EN", ""):
        made = perturber.perturb(Dialogue(dialogue_id="d", source="s", source_id="d", language=language, turns=said), seed=1)
        assert made.turns == said and {skip.reason for skip in made.lineage[-1].skipped} == {"language_not_supported"}


def test_languages_it_does_not_speak_are_skipped_with_a_reason(perturber: Perturber, corpus: list[Dialogue]) -> None:
    for one in (one.replace(language="fr") for one in corpus[:2]):
        made = perturber.perturb(one, 1)
        assert made.turns == one.turns and made.lineage[-1].outcome == "skipped"
        assert {skip.reason for skip in made.lineage[-1].skipped} == {"language_not_supported"}
        assert list(variants(perturber, one, 1, 2)) == [Skipped("language_not_supported")] * 2


def test_variants_are_pairwise_different_or_counted(perturber: Perturber, corpus: list[Dialogue]) -> None:
    for one in _supported(perturber, corpus)[:4]:
        made = list(variants(perturber, one, 1, 4))
        assert len(made) == 4
        texts = [tuple(turn.utterance for turn in each.turns) for each in made if isinstance(each, Dialogue)]
        assert len(set(texts)) == len(texts) and tuple(turn.utterance for turn in one.turns) not in texts


def test_it_chains(perturber: Perturber, corpus: list[Dialogue]) -> None:
    chain = Chain(links=(perturber, get("typos")()))
    for one in _supported(perturber, corpus)[:4]:
        made = chain.perturb(one, 1)
        assert check_dialogue(made) == []
        assert [step.step for step in made.lineage[len(one.lineage) :]] == [perturber.step, "typos@1"]
        for turn, source in zip([turn for turn in made.turns if not turn.inserted], one.turns, strict=True):
            assert turn.source_text == source.utterance


@pytest.mark.parametrize(
    ("text", "name", "links"),
    [
        ("typos", "typos", 1),
        ("typos:rate=0.2", "typos", 1),
        (" typos : rate = 0.2 , style = chat ", "typos", 1),
        ("typos@1:name=noisy", "noisy", 1),
        ("typos+typos:rate=0.5", "typos+typos", 2),
        ("typos:name=both+typos", "both", 2),
    ],
)
def test_specs_are_read(text: str, name: str, links: int) -> None:
    suite = perturbers.parse(text)
    assert suite.name == name
    assert len(getattr(suite.perturber, "links", (suite.perturber,))) == links


def test_the_global_generator_is_left_alone(perturber: Perturber, corpus: list[Dialogue]) -> None:
    import random

    random.seed(5)
    before: Any = random.getstate()
    perturber.perturb(_supported(perturber, corpus)[0], 1)
    if EXTRA(perturber.name) is None:
        assert random.getstate() == before
    first = perturber.perturb(_supported(perturber, corpus)[0], 1)
    random.seed(6)
    assert perturber.perturb(_supported(perturber, corpus)[0], 1) == first
