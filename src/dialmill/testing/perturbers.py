"""What every perturber must keep to."""

from __future__ import annotations

import atexit
import dataclasses
import importlib.util
import multiprocessing
import pickle
import random
from collections.abc import Mapping, Sequence
from functools import cache, partial
from multiprocessing.pool import Pool
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialmill.perturbers.core import options as option_texts
from dialmill.perturbers.core.contract import Chain, OptionError, Perturber, Skipped, texts_of, variants
from dialmill.perturbers.core.registry import get
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import encode
from dialmill.schemas.edits import edit_text
from dialmill.schemas.validate import check_dialogue
from dialmill.testing.samples import sample_dialogues
from dialmill.testing.strategies import dialogues as any_dialogues

#: Sentences without any label.
_SAID = ["I need a cheap hotel in the north.", "thanks", "what time does it open ?", "我想订一家便宜的酒店。", "谢谢", "有停车场吗？", "17:30", "?"]


@cache
def _processes() -> Pool:
    """Two processes that begin with nothing but what is pickled to them, for all tests of a session."""
    pool = multiprocessing.get_context("spawn").Pool(2)
    atexit.register(pool.terminate)
    return pool


def _choices(option: option_texts.Option) -> list[Any]:
    """The values besides the default of an option that is a choice among a few."""
    values = (True, False) if isinstance(option.default, bool) else option_texts.alternatives(option.kind)
    return [value for value in values if value != option.default]


def _differ(one: Perturber, other: Perturber, corpus: Sequence[Dialogue]) -> bool:
    """Whether two perturbers make something else of a corpus, for one seed of several."""
    pools = [made.with_pool(corpus) for made in (one, other)]
    return any(_bare(pools[0].perturb(dialogue, seed)) != _bare(pools[1].perturb(dialogue, seed)) for seed in range(4) for dialogue in corpus)


def _bare(made: Dialogue | Skipped) -> object:
    """What came out, without the options as the lineage has them."""
    if isinstance(made, Skipped):
        return made.reason
    return made.turns, made.goal, made.lineage[-1].reasons, made.lineage[-1].skipped


class PerturberContract:
    """The contract of a perturber. Subclasses set `name`, and the rest where the default doesn't fit.

    Attributes:
        name: under which it is registered.
        options: those that it is tested with; its defaults without.
        needs: modules that have to be installed; without one of them the tests are skipped.
        changes: the share of the sample dialogues that it has to change, in [0, 1].
        differs: the share of them of which two seeds, and two variants, have to differ, in [0, 1].
        may_draw_no_change: whether it may leave a turn as it is by chance and not for a reason, as a recogniser that hears it right.
        examples: values of options, in place of those on their annotations, with which each changes something: a file that is there, for instance.
        beside: options whose effect is in no text of the samples, each with where it is.
        own_random: whether it leaves the global generator of the module `random` as it was; no for engines that seed it themselves.
    """

    name: ClassVar[str]
    options: ClassVar[Mapping[str, Any]] = {}
    needs: ClassVar[Sequence[str]] = ()
    changes: ClassVar[float] = 0.9
    differs: ClassVar[float] = 0.8
    may_draw_no_change: ClassVar[bool] = False
    examples: ClassVar[Mapping[str, Any]] = {}
    beside: ClassVar[Mapping[str, str]] = {"tries": "what has failed the checks is drawn again: few of the samples' turns fail"}
    own_random: ClassVar[bool] = True

    @pytest.fixture(autouse=True)
    def _needed(self) -> None:
        for module in self.needs:
            if importlib.util.find_spec(module) is None:
                pytest.skip(f"{self.name} needs {module}, which is not installed")

    @pytest.fixture
    def perturber(self, _needed: None) -> Perturber:
        """The perturber with the options of the test."""
        return get(self.name).from_options(dict(self.options))

    @pytest.fixture
    def corpus(self) -> list[Dialogue]:
        """The dialogues that it is tried on, of the languages it is for. Subclasses may give others."""
        return [one for one in sample_dialogues() if one.language in get(self.name).languages]

    def test_it_is_named_versioned_and_described(self, perturber: Perturber) -> None:
        kind = type(perturber)
        assert kind.name == self.name and kind.version >= 1 and kind.languages
        assert get(perturber.step) is get(kind.name) is kind
        with pytest.raises(OptionError, match=f"{kind.name}@{kind.version}"):
            get(f"{kind.name}@{kind.version + 1}")
        assert kind.__doc__ and kind.__doc__.splitlines()[0].endswith("."), "the first line of the docstring is a sentence: `dialmill list` shows it"

    def test_options_are_checked(self, perturber: Perturber) -> None:
        kind = type(perturber)
        with pytest.raises(OptionError) as refusal:
            kind.from_options({"no_such_option": "1"})
        for option in option_texts.options(kind):
            assert option.name in str(refusal.value)
            set_to = getattr(perturber, option.name)
            again = kind.from_options({**self.options, option.name: option_texts.written(set_to)})
            assert getattr(again, option.name) == set_to, "the text of --with gives what the type says"
            if isinstance(option.default, int | float):
                for wrong in ("much", "", "nan", -(10**9)):
                    with pytest.raises(OptionError, match=option.name):
                        kind.from_options({**self.options, option.name: wrong})

    def test_every_option_says_what_it_means_and_its_example_is_read(self, perturber: Perturber) -> None:
        kind = type(perturber)
        for option in option_texts.options(kind):
            assert option.meaning and option.example is not None, f"{option.name} has no description or no example in its annotation"
            made = option_texts.read(option.name, option.kind, option_texts.written(option.example))
            assert made == option.example != option.default, option.name
            shown = f"{kind.name}:{option.name}={option_texts.written(option.example)}"
            assert shown in option_texts.describe(kind, kind.name).replace("\n      ", " ")

    def test_every_option_changes_something_or_is_refused(self, perturber: Perturber, corpus: list[Dialogue]) -> None:
        """Whatever a choice among a few values says, another option either changes what comes out, or it is refused: nothing is accepted in vain."""
        kind = type(perturber)
        known = [one for one in option_texts.options(kind) if one.name not in (*self.options, *self.beside)]
        vain = []
        for chosen in ({}, *({one.name: value} for one in known for value in _choices(one))):
            plain = self._made({**self.options, **chosen})
            for option in known:
                if plain is None or option.name in chosen:
                    continue
                value = self.examples.get(option.name, option.example)
                other = self._made({**self.options, **chosen, option.name: value})
                if other is not None and not _differ(plain, other, corpus):
                    vain.append((chosen, option.name, value))
        assert not vain, "options that change nothing, and aren't refused"

    def _made(self, settings: Mapping[str, Any]) -> Perturber | None:
        """The perturber with these options; None where they are refused."""
        try:
            return get(self.name).from_options(dict(settings))
        except OptionError:
            return None

    def test_equal_perturbers_give_equal_output_in_every_process(self, perturber: Perturber, corpus: list[Dialogue]) -> None:
        pooled = perturber.with_pool(corpus)
        # A copy by fields, one by pickling, and one in another process are the same perturber.
        for one in (perturber, pooled):
            plain = [encode(one.perturb(dialogue, seed=1)) for dialogue in corpus]
            for copy in (dataclasses.replace(one), pickle.loads(pickle.dumps(one))):
                assert copy == one and hash(copy) == hash(one)
                assert [encode(copy.perturb(dialogue, seed=1)) for dialogue in corpus] == plain
            assert list(map(encode, _processes().map(partial(one.perturb, seed=1), corpus))) == plain
        assert (pooled == perturber) == (not perturber.pools), "a pool is part of what a perturber is"

    def test_same_key_same_variant_in_any_order(self, perturber: Perturber, corpus: list[Dialogue]) -> None:
        forth = {(one.source_id, number): perturber.perturb(one, 7, number) for one in corpus for number in range(3)}
        back = {(one.source_id, number): perturber.perturb(one, 7, number) for number in (2, 0, 1) for one in reversed(corpus)}
        assert forth == back

    def test_the_pool_is_the_same_in_any_order(self, perturber: Perturber, corpus: list[Dialogue]) -> None:
        assert perturber.with_pool(corpus) == perturber.with_pool(corpus[::-1])

    def test_seeds_and_variants_differ(self, perturber: Perturber, corpus: list[Dialogue]) -> None:
        made = [[texts_of(perturber.perturb(one, seed, number)) for one in corpus] for seed, number in ((1, 0), (2, 0), (1, 1))]
        for one, other in ((0, 1), (0, 2), (1, 2)):
            differing = sum(a != b for a, b in zip(made[one], made[other], strict=True))
            assert differing >= self.differs * len(corpus)

    def test_variants_keep_the_labels_and_lead_back_to_the_source(self, perturber: Perturber, corpus: list[Dialogue]) -> None:
        changed = 0
        for one in corpus:
            before = one.to_dict()
            made = perturber.perturb(one, 1)
            holds(perturber, one, made)
            assert check_dialogue(made) == []
            assert one.to_dict() == before, "the source stays as it was"
            changed += made.lineage[-1].outcome == "changed"
        assert changed >= self.changes * len(corpus)

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(dialogue=any_dialogues())
    def test_any_dialogue_whatever_can_be_given(self, perturber: Perturber, dialogue: Dialogue) -> None:
        holds(perturber, dialogue, perturber.perturb(dialogue, 1))

    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    @given(said=st.lists(st.text(max_size=60) | st.sampled_from(_SAID), max_size=4), language=st.sampled_from(["en", "zh"]))
    def test_without_slots_labels_or_a_pool_it_does_what_it_can_or_says_why_not(self, perturber: Perturber, said: list[str], language: str) -> None:
        turns = tuple(Turn(number, "user" if number % 2 == 0 else "system", text) for number, text in enumerate(said))
        bare = Dialogue(dialogue_id="bare", source="text", source_id="bare", language=language, turns=turns)
        made = perturber.perturb(bare, seed=1)
        holds(perturber, bare, made)
        step = made.lineage[-1]
        assert all(skip.reason for skip in step.skipped)
        if made.turns == turns and not self.may_draw_no_change:
            assert [skip.turn for skip in step.skipped] == [turn.turn for turn in turns if turn.speaker == "user"]

    @pytest.mark.parametrize("wrong", [{"turns": []}, "i need a hotel", None, 3], ids=["dict", "str", "None", "int"])
    def test_a_wrong_type_says_what_is_expected(self, perturber: Perturber, wrong: Any) -> None:
        with pytest.raises(TypeError, match=f"{perturber.name}: perturb takes a Dialogue.*, not {type(wrong).__name__}"):
            perturber.perturb(wrong, seed=1)

    @pytest.mark.parametrize("language", ["de", "und", "xx", "EN", ""])
    def test_languages_it_does_not_speak_are_skipped_with_a_reason(self, perturber: Perturber, language: str) -> None:
        said = (
            Turn(0, "user", "Ich brauche ein billiges Hotel im Norden."),
            Turn(1, "system", "Gern."),
            Turn(2, "user", "Danke, bis morgen um 10:30."),
        )
        one = Dialogue(dialogue_id="d", source="s", source_id="d", language=language, turns=said)
        made = perturber.perturb(one, 1)
        assert made.turns == one.turns and made.lineage[-1].outcome == "skipped"
        assert {skip.reason for skip in made.lineage[-1].skipped} == {"language_not_supported"}
        assert list(variants(perturber, one, 1, 2)) == [Skipped("language_not_supported")] * 2

    def test_variants_are_pairwise_different_or_skipped_with_a_reason(self, perturber: Perturber, corpus: list[Dialogue]) -> None:
        for one in corpus[:4]:
            made = list(variants(perturber, one, 1, 4))
            assert len(made) == 4
            texts = [texts_of(each) for each in made if isinstance(each, Dialogue)]
            assert len(set(texts)) == len(texts) and texts_of(one) not in texts
            assert all(each.reason for each in made if isinstance(each, Skipped))

    def test_it_chains(self, perturber: Perturber, corpus: list[Dialogue]) -> None:
        typos = get("typos")()
        chain = Chain(links=(perturber, typos))
        for one in corpus[:4]:
            made = chain.perturb(one, 1)
            assert check_dialogue(made) == []
            assert [step.step for step in made.lineage[len(one.lineage) :]] == [perturber.step, typos.step]
            for turn, source in zip([turn for turn in made.turns if not turn.inserted], one.turns, strict=True):
                assert turn.source_text == source.source_text

    def test_the_global_generator_is_neither_used_nor_changed(self, perturber: Perturber, corpus: list[Dialogue]) -> None:
        random.seed(5)
        before = random.getstate()
        first = perturber.perturb(corpus[0], 1)
        if self.own_random:
            assert random.getstate() == before
        random.seed(6)
        assert perturber.perturb(corpus[0], 1) == first


def holds(perturber: Perturber, source: Dialogue, made: Dialogue) -> None:
    """Asserts what is true of every variant."""
    assert made.source_id == source.source_id and made.split == source.split
    assert perturber.translates or made.language == source.language
    assert perturber.relabels or made.goal == source.goal
    assert made.dialogue_id.startswith(f"{source.source_id}/") and (perturber.translates or made.domains == source.domains)
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
        assert perturber.translates or [(span.domain, span.slot) for span in after.spans] == [(span.domain, span.slot) for span in before.spans]
        assert perturber.relabels or [span.value for span in after.spans] == [span.value for span in before.spans]
        for span in after.spans:
            assert span.status == "lost" if span.start is None else after.utterance[span.start : span.end] == span.text
    assert step.outcome == ("changed" if made.turns != source.turns else "skipped")
