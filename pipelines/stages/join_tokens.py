"""Typography: text that a tokeniser pulled apart, written as people do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dialmill.perturbers.typing.typography import Typography
from dialmill.pipelines.core.params import complete_lineage
from dialmill.pipelines.core.stage import Stage
from dialmill.pipelines.stages.items import DialogueRecords
from dialmill.schemas import Dialogue
from dialmill.schemas.arrow import Params

#: The note of how many dialogues were pulled apart.
JOINED = "dialogues_joined"


class JoinTokens(Stage):
    """The dialogue and all of its records with signs and clitics joined to their words, in every suite alike.

    Args:
        seed: the seed of the run.
        params: the lineage options of each suite.
    """

    def __init__(self, seed: int, params: Mapping[str, Params]) -> None:
        self.seed, self.params = seed, params

    def process(self, element: DialogueRecords, side: object = None) -> Iterable[tuple[str, Any]]:
        if element.source.language not in Typography.languages:
            yield "main", element
            return
        source = self._joined(element.source)
        records = tuple(source if one is element.source else self._joined(one) for one in element.records)
        if any(turn.utterance != before.utterance for turn, before in zip(source.turns, element.source.turns, strict=True)):
            self.counters.note(JOINED)
        yield "main", replace(element, source=source, records=records)

    def _joined(self, dialogue: Dialogue) -> Dialogue:
        made = Typography().once(dialogue, self.seed, dialogue.variant, 0).record
        return complete_lineage(made.replace(suite=dialogue.suite, dialogue_id=dialogue.dialogue_id), self.params[dialogue.suite])
