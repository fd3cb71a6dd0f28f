"""Light metrics of replies and conversations: how long they are, or how much they have in common with what was said before.

`length`: words (characters of Chinese) of the reply; of a conversation all that the system said, which grows with its turns (their number went well
with people's ratings in the track). `overlap`: the share of the words of a reply that what was said before has; of a conversation the mean over the
system's replies.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from dialmill.perturbers.core.tokens import tokens
from dialmill.perturbers.sentence import language_of
from dialmill.pipelines.benchmarks.interactive.kinds import PREDICTIONS as SCHEMA
from dialmill.pipelines.benchmarks.interactive.questionnaire import LEVELS
from dialmill.pipelines.benchmarks.interactive.ratings import Rated, read_gold
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.predictor import Predictions, Task
from dialmill.pipelines.sources.fed import lines

BASELINES: tuple[str, ...] = ("length", "overlap")


def predict(task: Task) -> Predictions:
    """A line an item: the schema predictions-dstc9-track3. Nothing is learned."""
    if task.suite not in (None, *LEVELS):
        raise UsageError(f"there is no level {task.suite!r}; --suite takes {' or '.join(LEVELS)}")
    metric = _length if task.baseline == BASELINES[0] else _overlap
    items = [one for one in read_gold(str(task.gold)).values() if task.suite in (None, one.level)]
    made = [msgspec.json.encode({"item_id": one.id, "score": round(metric(one), 6)}) for one in items]
    return Predictions(b"".join(line + b"\n" for line in made), SCHEMA, len(made), "nothing")


def _length(item: Rated) -> float:
    replies = lines(item.context if item.response is None else item.response)
    return float(sum(len(_words(text)) for speaker, text in replies if speaker == "system"))


def _overlap(item: Rated) -> float:
    said = lines(item.context)
    if item.response is not None:
        return _share(lines(item.response)[0][1], [text for _, text in said])
    shares = [_share(text, [before for _, before in said[:place]]) for place, (speaker, text) in enumerate(said) if speaker == "system" and place]
    return sum(shares) / len(shares) if shares else 0.0


def _share(text: str, before: Sequence[str]) -> float:
    mine, known = set(_words(text)), {word for one in before for word in _words(one)}
    return len(mine & known) / len(mine) if mine else 0.0


def _words(text: str) -> list[str]:
    """The words of a text, of Chinese its characters."""
    language = language_of(text)
    found = text if language == "zh" else [text[start:end].lower() for start, end in tokens(text, language)]
    return [one for one in found if any(map(str.isalnum, one))]
