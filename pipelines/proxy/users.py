"""The proxy's noise without a proxy: around a user simulator in Python (tau2's protocol), and as a solver of inspect.

A simulator keeps its own words clean, and the agent hears them noisy. Keys are the proxy's: of what the user said up to and with a message, clean.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dialmill.perturbers.core.contract import Perturber
from dialmill.perturbers.core.guard import Guard
from dialmill.perturbers.core.registry import parse
from dialmill.pipelines.proxy.conversation import Noise, NoisyText
from dialmill.schemas import Dialogue

#: Where a message of inspect's keeps the clean text of what noise was put on.
CLEAN = "dialmill_clean"


def noise_for(perturber: str | Perturber, seed: int = 1, guard: Guard | Iterable[str] = (), shapes: bool = True) -> Noise:
    """What is done to the user's side of a conversation.

    Args:
        perturber: a name with options ("typos:rate=0.1"), several chained by "+", or a perturber.
        seed: the run seed.
        guard: values that stay as they are.
        shapes: whether what looks like a value is guarded too.

    Raises:
        OptionError, UsageError: a perturber or option that there isn't, or that has no place in a live conversation.
    """
    suite, ready = parse(perturber) if isinstance(perturber, str) else (perturber.name, perturber)
    if isinstance(guard, str | bytes):
        raise TypeError(f"guard must be several values, not the one text {guard!r}")
    return Noise(ready, seed, suite, guard if isinstance(guard, Guard) else Guard(guard, shapes))


class NoisyUser:
    """A user whose words reach the agent with certified noise.

    Wraps any object with ``generate_next_message(message, state) -> (message, state)``, tau2's protocol of user simulators; all else is the wrapped
    user's own. The message that comes back is a copy: what the user keeps in its state stays clean. Calls of tools and messages without text pass.

    Args:
        user: the user.
        perturber: a name with options ("typos:rate=0.1"), several chained by "+", or a perturber.
        seed, variant: which noise; the same for the same conversation.
        guard: values that stay as they are, besides those that look like values.
        shapes: whether these stay.

    Attributes:
        record: what became of the last message that had a text, as a record: edits, guarded places, lineage; None before the first.

    >>> import dialmill as dm
    >>> class Caller:
    ...     def generate_next_message(self, message, state):
    ...         state["messages"].append({"role": "user", "content": "please cancel my reservation ZFA04K, thank you"})
    ...         return state["messages"][-1], state
    >>> noisy = dm.NoisyUser(Caller(), "typos:rate=0.5", seed=1)
    >>> said, state = noisy.generate_next_message(None, {"messages": []})
    >>> "ZFA04K" in said["content"], said["content"] == state["messages"][0]["content"]
    (True, False)
    """

    def __init__(
        self,
        user: Any,
        perturber: str | Perturber,
        *,
        seed: int = 1,
        variant: int = 0,
        guard: Guard | Iterable[str] = (),
        shapes: bool = True,
    ) -> None:
        if not callable(getattr(user, "generate_next_message", None)):
            raise TypeError(f"a user has generate_next_message(message, state); {type(user).__name__} has not")
        self._user, self._hearing = user, _Hearing(noise_for(perturber, seed, guard, shapes), variant)

    @property
    def record(self) -> Dialogue | None:
        """What became of the last message that had a text."""
        return self._hearing.record

    def generate_next_message(self, message: Any, state: Any) -> tuple[Any, Any]:
        """What the user says next, as the agent hears it, and the user's state."""
        said, state = self._user.generate_next_message(message, state)
        return self._hearing.heard(said, state), state

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._user, name)

    @staticmethod
    def of(
        kind: type,
        perturber: str | Perturber,
        *,
        seed: int = 1,
        variant: int = 0,
        guard: Guard | Iterable[str] = (),
        shapes: bool = True,
    ) -> type:
        """A class of users as one whose words are noisy, for registries of classes: it takes what `kind` takes, and is derived from it.

        ``registry.register_user(dm.NoisyUser.of(UserSimulator, "typos:rate=0.1"), "noisy_user")``, then ``tau2 run --user noisy_user``.

        Args:
            kind: a class of users; the others as `NoisyUser` has them.
        """
        noise = noise_for(perturber, seed, guard, shapes)

        def generate_next_message(self: Any, message: Any, state: Any) -> tuple[Any, Any]:
            said, state = kind.generate_next_message(self, message, state)  # type: ignore[attr-defined]
            hearing = self.__dict__.setdefault("_dialmill", _Hearing(noise, variant))
            return hearing.heard(said, state), state

        members = {"generate_next_message": generate_next_message, "__doc__": kind.__doc__, "__module__": kind.__module__}
        return type(f"Noisy{kind.__name__}", (kind,), members)

    @staticmethod
    def solver(
        perturber: str | Perturber,
        *,
        seed: int = 1,
        variant: int = 0,
        guard: Guard | Iterable[str] = (),
        shapes: bool = True,
    ) -> Any:
        """A solver of inspect (package inspect_ai) that puts noise on the user's messages of a sample; it comes before `generate`.

        Every message keeps its clean text in its metadata, so that the solver may come again with every turn of a conversation: a message is made
        from its clean text, and is the same each time.

        Args: as `NoisyUser` has them.
        """
        from inspect_ai import solver as solvers

        noise = noise_for(perturber, seed, guard, shapes)

        def noisy() -> Any:
            async def solve(state: Any, generate: Any) -> Any:
                state.messages = noisy_messages(noise, state.messages, variant)
                return state

            return solve

        return solvers.solver(name="dialmill_noise")(noisy)()


class _Hearing:
    """What an agent hears of one user."""

    def __init__(self, noise: Noise, variant: int) -> None:
        self.noise, self.variant = noise, variant
        self.record: Dialogue | None = None
        self._said: list[str] = []

    def heard(self, said: Any, state: Any) -> Any:
        """A message as the agent hears it."""
        text = _get(said, "content")
        if not isinstance(text, str) or not text.strip() or _get(said, "tool_calls"):
            return said
        before = _texts_in(state)
        if before is None:
            before = self._said
            self._said = [*before, text]
        elif before and before[-1] == text:
            before = before[:-1]  # The user has it in its state already.
        made = self.noise.conversation([*([one] for one in before), [text]], self.variant)[-1].texts[0]
        self.record = made.record
        return _with(said, made) if made.changed else said


def _get(message: Any, name: str) -> Any:
    return message.get(name) if isinstance(message, Mapping) else getattr(message, name, None)


def _texts_in(state: Any) -> list[str] | None:
    """What the user has said according to its state; None where the state keeps no messages."""
    messages = _get(state, "messages")
    if not isinstance(messages, Sequence):
        return None
    said = (_get(one, "content") for one in messages if _get(one, "role") == "user" and not _get(one, "tool_calls"))
    return [text for text in said if isinstance(text, str) and text.strip()]


def _with(message: Any, made: NoisyText) -> Any:
    """A copy of a message with another text."""
    if isinstance(message, Mapping):
        return {**message, "content": made.text}
    if hasattr(message, "model_copy"):
        return message.model_copy(update={"content": made.text})
    other = copy.copy(message)
    other.content = made.text
    return other


def noisy_messages(noise: Noise, messages: Sequence[Any], variant: int = 0) -> list[Any]:
    """Messages of inspect's with noise on the user's; each noisy one is a copy that keeps its clean texts in its metadata."""
    clean = [_clean_texts(message) if message.role == "user" else [] for message in messages]
    users = [texts for message, texts in zip(messages, clean, strict=True) if message.role == "user"]
    made = iter(noise.conversation(users, variant))
    found = []
    for message, texts in zip(messages, clean, strict=True):
        if message.role == "user":
            heard = next(made)
            if any(one.changed for one in heard.texts):
                message = _rewritten(message, texts, [one.text for one in heard.texts])
        found.append(message)
    return found


def _clean_texts(message: Any) -> list[str]:
    kept = (message.metadata or {}).get(CLEAN)
    if isinstance(kept, list):
        return [str(text) for text in kept]
    if isinstance(message.content, str):
        return [message.content]
    return [part.text for part in message.content if getattr(part, "type", "") == "text"]


def _rewritten(message: Any, clean: Sequence[str], texts: Sequence[str]) -> Any:
    content: Any = texts[0] if isinstance(message.content, str) else []
    if not isinstance(message.content, str):
        left = iter(texts)
        content = [part.model_copy(update={"text": next(left)}) if getattr(part, "type", "") == "text" else part for part in message.content]
    return message.model_copy(update={"content": content, "metadata": {**(message.metadata or {}), CLEAN: list(clean)}})
