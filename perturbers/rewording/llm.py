"""Rewriting by a language model behind any OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, llama.cpp, LM Studio), with the standard library alone.

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` say where and as whom. Answers are kept by content (model, messages, attempt) below ``DIALMILL_CACHE``
(else ``~/.cache/dialmill``), so that a rebuild asks nobody and gives the same bytes. A call that fails is tried again a few times, then costs its
turn.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dialmill.perturbers.rewording.donors import gap_edits
from dialmill.perturbers.typing.foreign import align
from dialmill.schemas import Edit, Turn, apply_edits

if TYPE_CHECKING:
    from dialmill.perturbers.rewording.rewriter import Rewriter, Task

#: How often a call is made at most, and answers are asked for one turn.
_CALLS, _ANSWERS = 4, 3
#: Seconds: of a call, and the longest wait between two.
_TIMEOUT, _LONGEST_WAIT = 60.0, 30.0
#: Calls at a time.
_CONCURRENT = 8
#: After so many failures in a row no further call is made: the endpoint is down.
_PATIENCE = 20
_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})


class LlmError(RuntimeError):
    """A call that failed for good; the message is the reason as it stands in the lineage."""


class Answer(NamedTuple):
    """What the model wrote, and the tokens that it cost (prompt and answer together; 0 where the endpoint doesn't say)."""

    text: str
    tokens: int


@dataclass
class Client:
    """A client of one model.

    Args:
        model: its name at the endpoint.
        base_url, key: of the endpoint; the environment's where None.
        cache: the folder of the answers.
        wait: seconds before the first retry; it doubles from retry to retry.
    """

    model: str
    base_url: str | None = None
    key: str | None = None
    cache: Path | None = None
    wait: float = 0.5
    timeout: float = _TIMEOUT
    _failures: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, messages: Sequence[dict[str, str]], attempt: int = 0) -> Answer:
        """The model's answer, from the cache where it is there.

        Raises:
            LlmError: no answer after all retries.
        """
        body = {"model": self.model, "messages": list(messages), "temperature": 0.7, "seed": attempt}
        request = json.dumps(body, ensure_ascii=False, sort_keys=True).encode()
        digest = hashlib.sha256(request).hexdigest()
        kept = self._folder() / digest[:2] / f"{digest}.json"
        try:
            known = json.loads(kept.read_bytes())
            return Answer(known["text"], known["tokens"])
        except (OSError, ValueError, KeyError):
            pass
        if self._failures >= _PATIENCE:
            raise LlmError("llm_failed: endpoint down")
        try:
            answer = self._call(request)
        except LlmError as error:
            # Nobody there: that was tried a few times already.
            with self._lock:
                self._failures += _CALLS if str(error).endswith("no connection") else 1
            raise
        self._failures = 0
        _keep(kept, json.dumps(answer._asdict(), ensure_ascii=False).encode())
        return answer

    def _folder(self) -> Path:
        root = self.cache or Path(os.environ.get("DIALMILL_CACHE") or Path.home() / ".cache" / "dialmill")
        return root / "llm"

    def _call(self, body: bytes) -> Answer:
        base = self.base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        key = self.key or os.environ.get("OPENAI_API_KEY")
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        reason = "llm_failed"
        for call in range(_CALLS):
            wait = self.wait * 2**call
            try:
                request = urllib.request.Request(f"{base.rstrip('/')}/chat/completions", body, headers)
                with urllib.request.urlopen(request, timeout=self.timeout) as response:
                    return _read(response.read())
            except urllib.error.HTTPError as error:
                reason = f"llm_failed: HTTP {error.code}"
                if error.code not in _RETRIED:
                    break
                after = error.headers.get("Retry-After", "")
                wait = float(after) if re.fullmatch(r"\d+(\.\d+)?", after) else wait
            except TimeoutError:
                reason = "llm_failed: timeout"
            except (OSError, urllib.error.URLError) as error:
                timed_out = isinstance(getattr(error, "reason", None), TimeoutError)
                reason = "llm_failed: timeout" if timed_out else "llm_failed: no connection"
            except ValueError:
                reason = "llm_failed: not an answer"
            if call + 1 < _CALLS:
                time.sleep(min(wait, _LONGEST_WAIT))
        raise LlmError(reason)


def _read(data: bytes) -> Answer:
    """The answer in a response.

    Raises:
        ValueError: it is not of the form of a chat completion.
    """
    try:
        response = json.loads(data)
        text = response["choices"][0]["message"]["content"]
        tokens = (response.get("usage") or {}).get("total_tokens") or 0
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from None
    if not isinstance(text, str) or not isinstance(tokens, int):
        raise ValueError("the answer is no text")
    return Answer(text, tokens)


def _keep(path: Path, data: bytes) -> None:
    """Writes a cached answer, whole or not at all; a cache that can't be written is no reason to fail."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as stream:
            stream.write(data)
        Path(stream.name).replace(path)
    except OSError:
        pass


@lru_cache(maxsize=8)
def client_for(model: str) -> Client:
    """The client of a model, one per process."""
    return Client(model)


def messages_for(rewriter: Rewriter, task: Task) -> list[dict[str, str]]:
    """What the model is asked: the instruction, the values to keep, what the system said before, and the turn."""
    values = [task.text[place.start : place.end] for place in task.view.located]
    rules = [
        rewriter.prompt or rewriter.instruction,
        "Write in Chinese." if task.view.language == "zh" else "Write in the language of the message.",
        "Keep the speaker, every wish, question, refusal and thanks, and say nothing that the message doesn't say.",
        *([f"Keep these exactly as they are written, in this order: {'; '.join(values)}."] if values else []),
        "Reply with the rewritten message alone.",
    ]
    context = f"The assistant said: {task.before}\n" if task.before else ""
    return [{"role": "system", "content": " ".join(rules)}, {"role": "user", "content": f"{context}The user's message: {task.text}"}]


_QUOTED = re.compile(r"""^\s*(?:["'“「](?P<inner>.*)["'”」])\s*$""", re.DOTALL)


def rewritings(rewriter: Rewriter, task: Task) -> Iterator[tuple[Turn, int]]:
    """The turn as the model rewrote it, again and again up to three times, each with the tokens it cost. Nothing is certified yet.

    Raises:
        LlmError: a call failed for good.
    """
    client, messages = client_for(rewriter.model), messages_for(rewriter, task)
    for attempt in range(_ANSWERS):
        answer = client.ask(messages, attempt)
        match = _QUOTED.match(answer.text)
        text = (match["inner"] if match else answer.text).strip()
        if text:
            yield apply_edits(task.view.turn, edits_to(task, text)), answer.tokens


def edits_to(task: Task, text: str) -> list[Edit]:
    """Edits from the utterance to `text` that leave the values alone where `text` has them, whole and in order."""
    places = [(place.start, place.end) for place in task.view.located]
    literals: list[str] = []
    reached = 0
    for start, end in places:
        value = re.compile(rf"(?<!\w){re.escape(task.text[start:end])}(?!\w)" if task.view.language != "zh" else re.escape(task.text[start:end]))
        match = value.search(text, reached)
        if match is None:
            return align(task.text, text)
        literals.append(text[reached : match.start()])
        reached = match.end()
    return gap_edits(task.text, 0, len(task.text), places, [*literals, text[reached:]])


def prefetch(rewriter: Rewriter, tasks: Sequence[Task]) -> None:
    """Asks for the first answers to all turns of a dialogue at once, into the cache. Failures show when a turn's own call is made."""
    client = client_for(rewriter.model)

    def ask(task: Task) -> Any:
        try:
            return client.ask(messages_for(rewriter, task))
        except LlmError:
            return None

    with ThreadPoolExecutor(_CONCURRENT) as pool:
        list(pool.map(ask, tasks))
