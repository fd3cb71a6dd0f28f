"""What became of the words that carried acts."""

from __future__ import annotations

import pytest
from dialmill.perturbers.speech.conditions import Conditions
from dialmill.perturbers.speech.cues import act_cue
from dialmill.perturbers.speech.perturber import Speech
from dialmill.schemas import Act, Dialogue, Turn


@pytest.mark.parametrize(
    ("act", "before", "after", "language", "became"),
    [
        ("affirm", "Yes, please.", "just please", "en", "lost"),
        ("affirm", "Yes, please.", "yes police", "en", "kept"),
        ("thank_you", "thanks, bye", "tanks buy", "en", "lost"),
        ("AFFIRM", "the first one", "the thirst one", "en", None),
        ("inform", "yes in the north", "just in the north", "en", None),
        ("thank", "好的谢谢你", "好的写写你", "zh", "lost"),
        ("Bye", "那再见", "那再见", "zh", "kept"),
    ],
)
def test_cues(act: str, before: str, after: str, language: str, became: str | None) -> None:
    turn = Turn(0, "user", before, acts=(Act(act, "general"),))
    assert act_cue(turn, turn.replace(utterance=after), language) == became


def test_the_lineage_says_it_and_scores_can_read_it() -> None:
    turns = (Turn(0, "user", "yes that sounds right to me", acts=(Act("affirm", "general"),)),)
    source = Dialogue(dialogue_id="a/standard/0", source="test", source_id="a", turns=turns)
    seen = set()
    for seed in range(200):
        made = Speech(engine="text", wer=0.6).perturb(source, seed)
        cue = dict(Conditions(made).of(made.turns[0]))["act_cue"]
        words = made.turns[0].utterance.split()
        assert (cue == "kept") == any(word in ("yes", "right", "sure", "ok", "yeah", "okay", "great", "correct") for word in words), words
        seen.add(cue)
    assert seen == {"kept", "lost"}
