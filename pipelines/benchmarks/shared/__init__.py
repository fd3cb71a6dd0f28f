"""Predictors that several benchmarks use."""
