"""Light baselines: rankers, a linear classifier and a value-matching state tracker, plain Python without Beam.

They say which examples are easy, how well a simple model does (`dialmill predict-baseline`), and take part in builds: their
arithmetic is integers and IEEE-exact operations in a fixed order, so that every machine gets the same bits.
"""

from __future__ import annotations

from dialmill.pipelines.baselines.rankers import RANKERS, Frequencies, Ranker, ranker

__all__ = ["RANKERS", "Frequencies", "Ranker", "ranker"]
