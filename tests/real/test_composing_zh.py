"""On CrossWOZ and RiSAWOZ: what the Chinese composer covers, and that it loses no value, no request and no facility."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import Locator
from dialmill.perturbers.rewording.composer.bank import load, voices_in_order
from dialmill.perturbers.rewording.composer.compose import compose, speaker
from dialmill.perturbers.rewording.composer.plan import Composed, Context
from dialmill.pipelines.sources import registry

from tests import zh_requests
from tests.pipelines.source_tools import read_paths

_STYLES = ("same", "less", "more")


@pytest.mark.parametrize(("source", "file", "least"), [("crosswoz", "crosswoz/val.json.zip", 0.77), ("risawoz", "risawoz/zh_fewshot.json", 0.70)])
def test_composed_turns_lose_nothing(real: Path, source: str, file: str, least: float) -> None:
    dialogues = read_paths(registry.get(source), [real / file]).dialogues.values()
    by_key = load("zh").clauses()
    turns: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for talk in dialogues:
        locator = Locator(talk)
        voice = voices_in_order((1, talk.source_id))[0]
        speakers = {style: speaker("zh", voice) for style in _STYLES}
        for place, turn in enumerate(talk.turns):
            if turn.speaker != "user" or not turn.acts:
                continue
            context = Context(locator.view(turn), talk.turns[place - 1] if place else None)
            for style in _STYLES:
                turns[style] += 1
                found = compose(context, speakers[style], Rng(1, talk.source_id, turn.turn, style), style)
                if not isinstance(found, Composed):
                    continue
                made[style] += 1
                for clause in found.clauses:
                    speakers[style].say(by_key[clause])
                assert not zh_requests.lost(turn, turn.replace(utterance=found.text)), (turn.utterance, found.text)
                for span in turn.spans:
                    if span.start is not None and span.end is not None:
                        spots = [spot for spot in found.placed if spot.source_start <= span.start and span.end <= spot.source_end]
                        assert spots, (turn.utterance, found.text)
                        shift = spots[0].start - spots[0].source_start
                        assert found.text[span.start + shift : span.end + shift] == span.text
    print({style: round(made[style] / turns[style], 3) for style in _STYLES})
    assert made["same"] >= least * turns["same"]
