"""Every perturber of ours against the contract that plug-ins are held to; one that is registered and missing here fails."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
from dialmill.perturbers.core import registry
from dialmill.perturbers.core.checks import labels_of
from dialmill.perturbers.core.contract import OptionError, Perturber, Skipped, variants
from dialmill.perturbers.core.plugins import OURS
from dialmill.schemas import Dialogue

from dialmill.testing import PerturberContract, sample_dialogues


class TestTypos(PerturberContract):
    name = "typos"


class TestDisfluency(PerturberContract):
    name = "disfluency"


class TestEntities(PerturberContract):
    name = "entities"


class TestKnowledge(PerturberContract):
    name = "knowledge"
    beside = {"ambiguous": "no question fits two entities of the samples; test_knowledge.py has such"}  # noqa: RUF012


class TestOutOfScope(PerturberContract):
    name = "out_of_scope"


class TestQuestions(PerturberContract):
    name = "questions"


#: Donors are given to a perturber by who runs it; the tests of builds look at where they come from.
_REWRITING = {**PerturberContract.beside, "donors_from": "the samples are the donors here, whatever it says"}


class TestParaphrase(PerturberContract):
    name = "paraphrase"
    beside = _REWRITING


class TestSimplification(PerturberContract):
    name = "simplification"
    beside = _REWRITING
    differs = 0.4  # a short turn can be shortened in one way only


class TestVerbosity(PerturberContract):
    name = "verbosity"
    beside = _REWRITING


class TestNlpaug(PerturberContract):
    name = "nlpaug"
    needs = ("nlpaug",)
    own_random = False


@cache
def _lexicon() -> str:
    """A lexicon of every label of the English samples: its words are numbers with a Chinese sign before them."""
    rows: dict[tuple[str, str, str, str], None] = {}
    for one in sample_dialogues("en"):
        for domain, slot, value in labels_of(one):
            rows |= dict.fromkeys([("domain", "", "", domain), ("slot", "", "", slot), ("value", domain, slot, value)])
        asked = [(act.domain, act.slot) for turn in one.turns for act in turn.acts]
        asked += [(goal.domain, goal.slot) for goal in (one.goal.request if one.goal else ())]
        rows |= dict.fromkeys([("domain", "", "", domain) for domain, _ in asked] + [("slot", "", "", slot) for _, slot in asked if slot])
        rows |= dict.fromkeys([("domain", "", "", domain) for domain in one.domains])
    lines = ["kind\tdomain\tslot\tsource\ttarget", *("\t".join((*row, f"词{number}")) for number, row in enumerate(rows))]
    path = Path(mkdtemp()) / "lexicon.tsv"
    path.write_text("\n".join(lines), "utf-8")
    return str(path)


class TestRedact(PerturberContract):
    name = "redact"
    needs = ("phonenumbers",)
    options = {"labelled": "replace"}  # noqa: RUF012 - most codes and numbers of the samples are labels
    beside = {"region": "numbers without a country's code, which test_redaction.py has"}  # noqa: RUF012
    changes = 0.1  # few of them say anything personal
    differs = 0.0


class TestTranslate(PerturberContract):
    name = "translate"
    options = {"lexicon": _lexicon()}  # noqa: RUF012 - of its engines it is the one that needs nothing installed
    beside = {"engine": "the others need a file, a folder or a model", **PerturberContract.beside}  # noqa: RUF012
    differs = 0.0  # one translation of a label
    may_draw_no_change = False

    @pytest.fixture
    def corpus(self) -> list[Dialogue]:
        return list(sample_dialogues("en"))

    def test_variants_are_pairwise_different_or_skipped_with_a_reason(self, perturber: Perturber, corpus: list[Dialogue]) -> None:
        # The labels of a dialogue have one translation, and its words stay.
        for one in corpus[:4]:
            first, *others = variants(perturber, one, 1, 3)
            assert isinstance(first, Dialogue) and first.turns != one.turns
            assert others == [Skipped("duplicate_variant")] * 2


class TestSpeech(PerturberContract):
    name = "speech"
    options = {"engine": "text"}  # noqa: RUF012 - its audio path has tests of its own, and takes seconds for each turn
    may_draw_no_change = True


def test_every_perturber_is_held_to_the_contract() -> None:
    held = {kind.name for kind in PerturberContract.__subclasses__() if kind.__module__ == __name__}
    assert held == {name for name, entry in registry.REGISTRY.entries.items() if entry.origin == OURS}


def test_the_samples_are_of_both_languages() -> None:
    assert {language: len(sample_dialogues(language)) for language in ("en", "zh")} == {"en": 12, "zh": 12}
    assert len(sample_dialogues()) == 24


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(OptionError) as refusal:
        registry.get("typoes")
    assert all(name in str(refusal.value) for name in registry.names())


@pytest.mark.parametrize(
    ("text", "name", "links"),
    [
        ("typos", "typos", 1),
        ("typos:rate=0.2", "typos", 1),
        (" typos : rate = 0.2 , style = chat ", "typos", 1),
        ("typos@3:name=noisy", "noisy", 1),
        ("typos+typos:rate=0.5", "typos+typos", 2),
        ("typos:name=both+typos", "both", 2),
    ],
)
def test_specs_are_read(text: str, name: str, links: int) -> None:
    suite = registry.parse(text)
    assert suite.name == name
    assert len(getattr(suite.perturber, "links", (suite.perturber,))) == links
