"""The scorer of RADDLE: state, responses and intents turn by turn, and out-of-domain turns."""

from __future__ import annotations

from dialmill.pipelines.scoring.turns import TurnScorer


class RaddleScorer(TurnScorer):
    """Scores a prediction a user turn, ours or in the form of the release."""

    name = "raddle"
    about = "RADDLE: JGA, slot accuracy and F1, Inform, Success, BLEU, Combined, intent accuracy, out-of-domain F1"
    ranked = ("jga", "combined", "intent_accuracy", "ood_f1")
    release_suites = ("paraphrase", "verbosity", "simplification", "typos", "speech", "unseen", "ood")
