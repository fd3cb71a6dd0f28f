"""A client of a language model behind any OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, llama.cpp, LM Studio), with the standard library alone.

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
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

#: How often a call is made at most.
_CALLS = 4
#: Seconds: of a call, and the longest wait between two.
_TIMEOUT, _LONGEST_WAIT = 60.0, 30.0
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
