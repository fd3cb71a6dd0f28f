"""Agents under certified noise, replayed from their own successful runs."""
