"""`splits`: any source, split again, unperturbed, in the canonical record."""

from . import Benchmark


class Splits(Benchmark):
    name = "splits"
    about = "any source split again: official lists or keyed hash, few-shot subsets, filters"
