"""The scorer of corpora without a benchmark's own metrics."""

from __future__ import annotations

from dialmill.pipelines.scoring.turns import TurnScorer


class SplitsScorer(TurnScorer):
    """Scores a prediction a user turn."""

    name = "splits"
    about = "state tracking, responses and intents on any build or published corpus"
