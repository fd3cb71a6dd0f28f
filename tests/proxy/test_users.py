"""Noise around a user simulator and in inspect. tau2-bench isn't on PyPI (the `tau2` there is another package), so that its protocol is played here:
classes that a registry checks, states that keep the user's clean messages. inspect is the real one where it is installed."""

from __future__ import annotations

import doctest
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import parse
from dialmill.pipelines.proxy import users
from dialmill.pipelines.proxy.conversation import Noise

import dialmill as dm

SAID = [
    "Hello, I would like to change my flight, please",
    "my id is mia_li_3668 and the name is Ivan",
    "that will be all, thank you very much ###STOP###",
]


@dataclass
class Said:
    role: str
    content: str | None
    tool_calls: list[Any] | None = None


@dataclass
class State:
    system_messages: list[Any] = field(default_factory=list)
    messages: list[Said] = field(default_factory=list)


class BaseUser:
    """What a registry asks for."""

    def __init__(self, said: list[str], *, instructions: str = "") -> None:
        self.left, self.instructions = list(said), instructions

    def get_init_state(self, message_history: list[Said] | None = None) -> State:
        return State(messages=list(message_history or []))

    def generate_next_message(self, message: Any, state: State) -> tuple[Said, State]:
        state.messages.append(Said("assistant", "and then?"))
        state.messages.append(Said("user", self.left.pop(0)))
        return state.messages[-1], state

    @classmethod
    def is_stop(cls, message: Said) -> bool:
        return "###STOP###" in (message.content or "")


def _talk(user: Any, state: Any = None) -> list[str]:
    state = user.get_init_state() if state is None else state
    found = []
    for _ in SAID:
        message, state = user.generate_next_message(None, state)
        found.append(message.content)
    assert [one.content for one in state.messages if one.role == "user"][-len(SAID) :] == SAID, "the user's own words stay clean"
    assert user.is_stop(message)
    return found


def _expected(said: list[str] = SAID, seed: int = 1) -> list[str]:
    noise = Noise(parse("typos:rate=0.4").perturber, seed)
    return [one.texts[0].text for one in noise.conversation([[text] for text in said])]


def test_the_noise_is_the_proxys_and_values_and_control_tokens_stay() -> None:
    noisy = dm.NoisyUser(BaseUser(SAID, instructions="be kind"), "typos:rate=0.4")
    heard = _talk(noisy)
    assert heard == _expected() != SAID and "mia_li_3668" in heard[1] and "Ivan" in heard[1] and heard[2].endswith("###STOP###")
    assert noisy.instructions == "be kind" and noisy.record is not None and noisy.record.turns[0].original == SAID[-1]
    assert _talk(dm.NoisyUser(BaseUser(SAID), "typos:rate=0.4", seed=2)) == _expected(seed=2) != heard


def test_a_class_for_a_registry_is_derived_from_the_users() -> None:
    kind = dm.NoisyUser.of(BaseUser, "typos:rate=0.4", guard=["flight"])
    assert issubclass(kind, BaseUser) and kind.__name__ == "NoisyBaseUser"
    first, second = (kind(SAID, instructions="x") for _ in range(2))
    assert _talk(first) == _talk(second) and "flight" in _talk(kind(SAID))[0]


def test_a_recorded_history_is_a_part_of_the_conversation() -> None:
    user = dm.NoisyUser(BaseUser(SAID), "typos:rate=0.4")
    history = [Said("user", "hello?"), Said("assistant", "hello")]
    assert _talk(user, user.get_init_state(history)) == _expected(["hello?", *SAID])[1:]


def test_a_state_that_keeps_nothing() -> None:
    class Forgetful(BaseUser):
        def generate_next_message(self, message: Any, state: Any) -> tuple[Said, Any]:
            return Said("user", self.left.pop(0)), state

    noisy = dm.NoisyUser(Forgetful(SAID), "typos:rate=0.4")
    assert [noisy.generate_next_message(None, None)[0].content for _ in SAID] == _expected()


def test_calls_of_tools_and_messages_without_a_text_pass() -> None:
    class Calling(BaseUser):
        def generate_next_message(self, message: Any, state: State) -> tuple[Said, State]:
            return self.left.pop(0), state  # type: ignore[return-value]

    passing: list[Any] = [Said("user", None, [{"name": "toggle"}]), Said("user", "with words too, as it happens", [{"name": "t"}]), Said("user", " ")]
    noisy = dm.NoisyUser(Calling(passing), "typos:rate=1")
    assert all(noisy.generate_next_message(None, State())[0] is one for one in passing)


def test_what_cant_be_used_is_said_at_once() -> None:
    with pytest.raises(TypeError, match="generate_next_message"):
        dm.NoisyUser(object(), "typos")
    with pytest.raises(dm.UsageError, match="turns of its own"):
        dm.NoisyUser(BaseUser(SAID), "questions")
    with pytest.raises(dm.OptionError):
        dm.NoisyUser(BaseUser(SAID), "typo")
    with pytest.raises(TypeError, match="several values"):
        dm.NoisyUser(BaseUser(SAID), "typos", guard="Ivan")


def test_the_example_of_its_docstring_runs() -> None:
    (example,) = [one for one in doctest.DocTestFinder().find(users.NoisyUser, "NoisyUser", globs={}) if one.name == "NoisyUser"]
    assert doctest.DocTestRunner().run(example).failed == 0 < len(example.examples)


class Model(dict[str, Any]):
    """A message as inspect's are: attributes, and copies with other values."""

    __getattr__ = dict.__getitem__

    def model_copy(self, update: dict[str, Any]) -> Model:
        return Model({**self, **update})


def test_messages_of_inspect_come_again_as_they_were() -> None:
    noise = users.noise_for("typos:rate=0.4")
    parts = [Model(type="text", text=SAID[1]), Model(type="image", image="x")]
    messages = [Model(role="system", content="be kind", metadata=None), Model(role="user", content=SAID[0], metadata={"a": 1})]
    once = users.noisy_messages(noise, messages)
    assert once[0] is messages[0] and once[1].content == _expected()[0] and once[1].metadata == {"a": 1, users.CLEAN: [SAID[0]]}
    twice = users.noisy_messages(
        noise, [*once, Model(role="assistant", content="yes?", metadata=None), Model(role="user", content=parts, metadata=None)]
    )
    assert twice[:2] == once and [part.get("text") for part in twice[-1].content] == [_expected()[1], None]


class Words:
    """Counts tokens without the tables that tiktoken would download."""

    def encode(self, text: str, **_: Any) -> list[str]:
        return text.split()

    encode_ordinary = encode


def test_a_solver_of_inspect(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    inspect_ai = pytest.importorskip("inspect_ai", reason="inspect isn't installed")
    for name in ("get_encoding", "encoding_for_model"):
        monkeypatch.setattr(f"tiktoken.{name}", lambda *_: Words())
    monkeypatch.chdir(tmp_path)
    samples = [inspect_ai.dataset.Sample(input=text, target="x") for text in SAID]
    solvers = [dm.NoisyUser.solver("typos:rate=0.4"), inspect_ai.solver.generate()]
    (log,) = inspect_ai.eval(inspect_ai.Task(dataset=samples, solver=solvers), model="mockllm/model", display="none")
    assert log.status == "success", log.error
    assert [sample.messages[0].content for sample in log.samples] == [_expected([text])[0] for text in SAID]
