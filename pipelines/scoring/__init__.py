"""Metrics that several benchmarks share.

Scorers turn gold and predictions into rows of counts (`core.units`); metrics are functions of their sums, so that a suite, a stratum and a bootstrap
sample are computed by the same code (`robustness`).
"""
