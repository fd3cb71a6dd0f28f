"""The contracts of dialmill as test classes: for plug-ins, and for what comes with dialmill itself. Needs pytest and hypothesis.

A plug-in's test is a subclass that says what is to be tested; pytest finds the tests of the contract in it:

    from dialmill.testing import PerturberContract, SourceContract

    class TestShouting(PerturberContract):
        name = "shouting"

    class TestMyCorpus(SourceContract):
        name = "mycorpus"
        corpus = Path(__file__).parent / "corpus"

`sample_dialogues` are the records that perturbers are tried on, `dialmill.testing.strategies` has hypothesis strategies of arbitrary ones.
"""

import pytest

pytest.register_assert_rewrite("dialmill.testing.benchmarks", "dialmill.testing.perturbers", "dialmill.testing.sources")

from dialmill.testing.benchmarks import BenchmarkContract  # noqa: E402 - after their assertions are set up to tell what they compared
from dialmill.testing.perturbers import PerturberContract  # noqa: E402
from dialmill.testing.samples import sample_dialogues  # noqa: E402
from dialmill.testing.sources import SourceContract  # noqa: E402

__all__ = ["BenchmarkContract", "PerturberContract", "SourceContract", "sample_dialogues"]
