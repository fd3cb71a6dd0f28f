"""Official metrics, one module a benchmark, and what they share.

Scorers turn gold and predictions into rows of counts (`units`); metrics are functions of their sums, so that a suite, a stratum and a bootstrap
sample are computed by the same code (`robustness`).
"""

from __future__ import annotations

from pipelines import plugins

from .base import Scorer

#: name -> its class.
_REGISTRY = {
    "cgodial-fbd": "flows.Flows",
    "cgodial-rbd": "retrieval.Retrieval",
    "cgodial-sbd": "slots_zh.SlotBased",
    "cross-lingual": "cross_lingual.CrossLingual",
    "dstc9-track1": "dstc9.Dstc9",
    "noesis-advising": "noesis.NoesisAdvising",
    "noesis-ubuntu": "noesis.NoesisUbuntu",
    "perturb": "turns.Splits",
    "raddle": "turns.Raddle",
    "splits": "turns.Splits",
}


def names() -> list[str]:
    """The benchmarks that can be scored from prediction files."""
    return sorted(_REGISTRY)


def get(name: str) -> type[Scorer]:
    """The scorer of a benchmark.

    Raises:
        UsageError: there is none; the message lists the known.
    """
    found: type[Scorer] = plugins.load("scorer", name, _REGISTRY, "pipelines.scoring", [*names(), "disentanglement", "wer"])
    return found
