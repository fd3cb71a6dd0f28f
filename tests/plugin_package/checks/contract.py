"""The plug-in against dialmill's contracts, as its author would test it."""

from pathlib import Path

from dialmill.testing import BenchmarkContract, PerturberContract, SourceContract

CORPUS = Path(__file__).parents[1] / "corpus"


class TestShouting(PerturberContract):
    name = "shouting"
    beside = PerturberContract.beside | {"values": "words outside of slot values are shouted, and no others"}


class TestChatLines(SourceContract):
    name = "chatlines"
    corpus = CORPUS
    dialogues = 40
    slots = states = official_splits = False


class TestShouted(BenchmarkContract):
    name = "shouted"
    input = (CORPUS,)
