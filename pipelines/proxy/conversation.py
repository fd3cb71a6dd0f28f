"""Noise on the user's side of a conversation, the same whenever the conversation comes again: nothing is remembered, all is keyed.

A message's noise depends on the run seed, the step with its version, the variant, and the hash of what the user has said up to it and with it, clean.
Nothing of the model's is in the key: of two models that hear the same user each meets the same noise, and an agent may cut, sum up or date its
instructions as it likes. A client that leaves out earlier messages of the user's has another conversation.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from itertools import chain
from typing import Any, NamedTuple

from dialmill.perturbers.core.contract import Chain, Perturber
from dialmill.perturbers.core.guard import Guard, choices
from dialmill.perturbers.sentence import language_of
from dialmill.pipelines.core.errors import UsageError
from dialmill.schemas import STANDARD, Dialogue, SkippedTurn, Step, Turn

#: The source of records that a live conversation gave.
SOURCE = "conversation"
#: The step in the lineage of a text that no perturber was given.
_PASSED = "conversation@1"
_CACHED = 1 << 16
_START = b"dialmill conversation 1"
#: Lines that are a program's and nobody's words.
_CODE = re.compile(
    r"\s*(?:#include\b|#!/|import [\w.]+$|from [\w.]+ import |def \w+\(|class \w+[(:]|return\b.*;?$"
    r"|(?:const|let|var|public|private|static) .*[;{]$|(?:if|for|while|else|try|catch|switch)\b.*[:{]$|[\w.\[\]]+ ?[-+*/]?= ?.+;?$"
    r"|SELECT .* FROM |INSERT INTO |UPDATE .* SET |.*[;{}]\s*$|[)}\]]+[;,]?$|\$ \S|>>> |//|/\*|\w+\(.*\);?$|@\w+(?:\(.*\))?$"
    r"|</?\w[^>]*>.*</?\w[^>]*>$)"
)
_LINES = 2


class NoisyText(NamedTuple):
    """A text of the user's and what became of it.

    Args:
        text: as the model is to have it.
        record: the text as a record of one turn: its edits, guarded spans and lineage.
        changed: whether it isn't the clean one.
        failure: what went wrong, where the perturber failed and the text stayed clean for that; "" for nothing.
    """

    text: str
    record: Dialogue
    changed: bool
    failure: str = ""

    @property
    def reason(self) -> str:
        """Why the text stayed as it was; "" for one that changed."""
        skips = [skip.reason for step in self.record.lineage for skip in step.skipped]
        return "" if self.changed else self.failure or (skips[-1] if skips else "no_change_drawn")


class NoisyMessage(NamedTuple):
    """A message of the user's: the key of the conversation up to it, the key up to the message before ("" for none), and its texts."""

    key: str
    previous: str
    texts: tuple[NoisyText, ...]


def next_key(previous: str, texts: Sequence[str]) -> str:
    """The key of a conversation with one more message of the user's.

    Args:
        previous: the key up to the message before it, "" for the first one.
        texts: the clean texts of the message.
    """
    digest = sha256(previous.encode() if previous else _START)
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"\0%d:" % len(data) + data)
    return digest.hexdigest()[:32]


def links(perturber: Perturber) -> Iterator[Perturber]:
    """The perturbers of a chain, or the one itself."""
    if isinstance(perturber, Chain):
        yield from chain.from_iterable(map(links, perturber.links))
    else:
        yield perturber


def check(perturber: Perturber) -> None:
    """Raises `UsageError` where a perturber has no place in a live conversation: it needs more than texts, or does more to them."""
    for link in links(perturber):
        if link.inserts:
            raise UsageError(f"{link.name} puts turns of its own into a dialogue; in a live conversation only the user's texts change")
        if link.relabels:
            raise UsageError(f"{link.name} changes values along with their labels; a live conversation has no labels")
        if link.tunable():
            raise UsageError(f"{link.name} is tuned on a corpus before it starts, and here is none: say {link.name}:engine=text, or give its snr")


@dataclass(frozen=True)
class Noise:
    """What is done to the user's side of conversations.

    Args:
        perturber: who does it; None leaves every text as it is.
        seed: the run seed.
        suite: the name that records of it bear.
        guard: the values that are to stay.
        keep: texts that match are left alone: results of tools that a framework sends in the user's name, say.

    Raises:
        UsageError: the perturber has no place in a live conversation.
    """

    perturber: Perturber | None
    seed: int = 1
    suite: str = "noisy"
    guard: Guard = field(default_factory=Guard)
    keep: re.Pattern[str] | None = None

    def __post_init__(self) -> None:
        if self.perturber is not None:
            check(self.perturber)
        # In front of the instance's methods; a text is made once, however often its conversation comes.
        object.__setattr__(self, "_cached", lru_cache(_CACHED)(self._make))
        object.__setattr__(self, "_guard_with", lru_cache(256)(self._joined))

    @property
    def steps(self) -> list[str]:
        """The steps with their versions."""
        return [link.step for link in links(self.perturber)] if self.perturber is not None else []

    def conversation(self, messages: Sequence[Sequence[str]], variant: int = 0, tools: Any = None) -> list[NoisyMessage]:
        """The user's messages with noise.

        Args:
            messages: the clean texts of each message of the user's, from the conversation's first one on.
            variant: which of several draws, from 0.
            tools: the schemas of the model's tools, whose choices are guarded.
        """
        guard = self._with(tools)
        made, previous = [], ""
        for texts in messages:
            key = next_key(previous, texts)
            cached: Any = self._cached  # type: ignore[attr-defined]
            made.append(NoisyMessage(key, previous, tuple(cached(key, place, text, variant, guard) for place, text in enumerate(texts))))
            previous = key
        return made

    def _with(self, tools: Any) -> frozenset[str]:
        """The choices of tools that the guard has in addition."""
        return frozenset(choices(tools)) if tools else frozenset()

    def _joined(self, more: frozenset[str]) -> Guard:
        return self.guard | Guard(more, self.guard.shapes) if more else self.guard

    def _make(self, key: str, place: int, text: str, variant: int, more: frozenset[str]) -> NoisyText:
        name = key if not place else f"{key}-{place}"
        turn = Turn(0, "user", _whole(text))
        clean = Dialogue(dialogue_id=f"{name}/{STANDARD}/0", source=SOURCE, source_id=name, language=language_of(text), turns=(turn,))
        passed = self._passed(text)
        if passed is not None or self.perturber is None:
            return NoisyText(text, self._record(clean, passed or "no_perturber", variant), False)
        guarding: Any = self._guard_with  # type: ignore[attr-defined]
        guarded = clean.replace(turns=(guarding(more).turn(clean.turns[0]),))
        try:
            made = self.perturber.perturb(guarded, self.seed, variant)
        except Exception as error:  # whatever an engine or a plug-in does; the conversation goes on
            failure = f"perturber_failed: {type(error).__name__}"
            return NoisyText(text, self._record(clean, failure, variant), False, failure)
        turn = next(turn for turn in made.turns if turn.speaker == "user" and not turn.inserted)
        record = made.replace(dialogue_id=f"{name}/{self.suite}/{variant}", suite=self.suite)
        return NoisyText(turn.utterance, record, turn.utterance != text)

    def _passed(self, text: str) -> str | None:
        """Why a text is not for a perturber, None where it is."""
        if not text.strip():
            return "empty"
        if _whole(text) != text:
            return "lone_surrogate"
        if self.keep is not None and self.keep.search(text):
            return "kept"
        if _is_json(text):
            return "json"
        return "code" if _is_code(text) else None

    def _record(self, clean: Dialogue, reason: str, variant: int) -> Dialogue:
        step = Step(_PASSED, self.seed, {}, "skipped", (SkippedTurn(0, reason),))
        return clean.replace(dialogue_id=f"{clean.source_id}/{self.suite}/{variant}", suite=self.suite, variant=variant, lineage=(step,))


def _whole(text: str) -> str:
    """A text that UTF-8 can carry: halves of characters, which JSON can hold, become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _is_json(text: str) -> bool:
    bare = text.strip()
    if bare[0] not in '{["' or bare[-1] not in '}]"':
        return False
    try:
        json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return True


def _is_code(text: str) -> bool:
    """Whether most lines are a program's. Code among words is kept by `core.protected` where it is marked as such."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) >= _LINES and 2 * sum(_CODE.match(line) is not None for line in lines) > len(lines)
