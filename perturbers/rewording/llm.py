"""A client of a language model behind any OpenAI-compatible endpoint (OpenAI, vLLM, Ollama, llama.cpp, LM Studio); extra ``llm``.

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` say where and as whom. Answers are kept by content (model, messages, attempt) below ``DIALMILL_CACHE``
(else ``~/.cache/dialmill``), so that a rebuild asks nobody and gives the same bytes. A call that fails is tried again a few times, then costs its
turn.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dialmill.perturbers.core.options import OptionError

if TYPE_CHECKING:
    import httpx
    from tenacity import RetryCallState

#: How often a call is made at most.
_CALLS = 4
#: Seconds: of a call, and the longest wait between two.
_TIMEOUT, _LONGEST_WAIT = 60.0, 30.0
#: No further call is made once so many have failed and they are this share of all: the endpoint is down, or answers nothing of use.
_PATIENCE, _HOPELESS = 40, 0.75
#: The same once so many timeouts' worth of seconds went by in vain, in calls and waits of all threads; after half of it calls are given a quarter of
#: their time.
_IN_VAIN = 4
#: Bytes of a response that are read at most.
_LARGEST = 1 << 20
_RETRIED = frozenset({408, 409, 429, 500, 502, 503, 504})


def require(perturber: str, model: str) -> None:
    """Holds the options of a perturber whose engine is "llm" against what that needs.

    Raises:
        OptionError: no model is named, or the extra isn't installed.
    """
    if not model:
        raise OptionError(f"{perturber}: engine=llm needs a model, as in {perturber}:engine=llm,model=NAME")
    if any(importlib.util.find_spec(package) is None for package in ("httpx", "tenacity")):
        raise OptionError(f"{perturber}: engine=llm needs httpx and tenacity: pip install 'dialmill[llm]'")
    check_key(os.environ.get("OPENAI_API_KEY"))


def check_key(key: str | None) -> str | None:
    """A key that can stand in a header.

    Raises:
        OptionError: it has a line end or another character that none can have; the key itself isn't told.
    """
    if key is not None and not (key.isascii() and key.isprintable()):
        raise OptionError("OPENAI_API_KEY holds a line end, a blank or another character that no key has; set it again")
    return key


class LlmError(RuntimeError):
    """A call that failed for good; the message is the reason as it stands in the lineage."""


class _PassingFault(LlmError):
    """A fault that may pass, and after how many seconds the endpoint wants to be asked again (None: it doesn't say)."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


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
    _tries: int = 0
    _failures: int = 0
    _vain: float = 0.0
    _failed: dict[str, str] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _http: tuple[int, httpx.Client] | None = None

    def ask(self, messages: Sequence[dict[str, str]], attempt: int = 0) -> Answer:
        """The model's answer, from the cache where it is there.

        Raises:
            LlmError: no answer after all retries.
        """
        body = {"model": self.model, "messages": list(messages), "temperature": 0.7, "seed": attempt}
        request = json.dumps(body, ensure_ascii=False, sort_keys=True).encode()
        # The same model behind another endpoint gives other answers.
        digest = hashlib.sha256(self._base().encode() + b"\n" + request).hexdigest()
        kept = self._folder() / digest[:2] / f"{digest}.json"
        try:
            known = json.loads(kept.read_bytes())
            if isinstance(known["text"], str) and isinstance(known["tokens"], int) and len(known["text"]) <= _LARGEST:
                return Answer(known["text"], known["tokens"])
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            pass  # not asked yet, or a file that broke off
        if digest in self._failed:
            raise LlmError(self._failed[digest])
        try:
            answer = self._call(request)
        except LlmError as error:
            self._failed[digest] = str(error)
            raise
        _keep(kept, json.dumps(answer._asdict(), ensure_ascii=False).encode())
        return answer

    def _base(self) -> str:
        return (self.base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1").rstrip("/")

    def _folder(self) -> Path:
        root = self.cache or Path(os.environ.get("DIALMILL_CACHE") or Path.home() / ".cache" / "dialmill")
        return root / "llm"

    def _call(self, body: bytes) -> Answer:
        """The answer to a request, tried again where the fault may pass: after the time that the endpoint asks for, or longer and longer."""
        import tenacity

        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(_CALLS),
            wait=self._waits,
            retry=tenacity.retry_if_exception_type(_PassingFault),
            sleep=time.sleep,
            reraise=True,
        )
        return retrying(self._try, body)

    def _try(self, body: bytes) -> Answer:
        """One call, counted."""
        with self._lock:
            spent = self._failures >= _PATIENCE or self._vain >= _IN_VAIN * self.timeout
            if spent and self._failures >= _HOPELESS * self._tries:
                raise LlmError("llm_failed: endpoint down")
            self._tries += 1
            seconds = self.timeout if self._vain < _IN_VAIN / 2 * self.timeout else self.timeout / 4
        self._connections()  # making them the first time is no time of the endpoint
        begun = time.monotonic()
        try:
            return self._post(body, seconds)
        except LlmError:
            with self._lock:
                self._failures += 1
                self._vain += time.monotonic() - begun
            raise

    def _waits(self, state: RetryCallState) -> float:
        """Seconds before the next try."""
        fault = state.outcome.exception() if state.outcome is not None else None
        asked = fault.after if isinstance(fault, _PassingFault) else None
        seconds = min(self.wait * 2 ** (state.attempt_number - 1) if asked is None else asked, _LONGEST_WAIT)
        with self._lock:
            self._vain += seconds
        return seconds

    def _post(self, body: bytes, seconds: float) -> Answer:
        """One call that may take so long."""
        import httpx

        key = check_key(self.key or os.environ.get("OPENAI_API_KEY"))
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        try:
            # Redirects aren't followed: the key is for this endpoint alone.
            with self._connections().stream("POST", f"{self._base()}/chat/completions", content=body, headers=headers, timeout=seconds) as response:
                content, until = bytearray(), time.monotonic() + seconds
                for chunk in response.iter_bytes():
                    content += chunk
                    # httpx counts from chunk to chunk: an answer that comes byte by byte would never time out.
                    if time.monotonic() > until:
                        raise _PassingFault("llm_failed: timeout")
                    if len(content) > _LARGEST:
                        raise LlmError("llm_failed: answer too large")
        except httpx.TimeoutException:
            raise _PassingFault("llm_failed: timeout") from None
        except (httpx.TransportError, httpx.InvalidURL):
            raise _PassingFault("llm_failed: no connection") from None
        if not response.is_success:
            reason = f"llm_failed: HTTP {response.status_code}"
            if response.status_code not in _RETRIED:
                raise LlmError(reason)
            after = response.headers.get("Retry-After", "")
            raise _PassingFault(reason, float(after) if re.fullmatch(r"\d+(\.\d+)?", after) else None)
        try:
            return _read(bytes(content))
        except ValueError:
            raise _PassingFault("llm_failed: not an answer") from None

    def _connections(self) -> httpx.Client:
        """The connections of this process: those of a process that this one was forked from can't be shared with it."""
        import httpx

        with self._lock:
            if self._http is None or self._http[0] != os.getpid():
                self._http = os.getpid(), httpx.Client(timeout=self.timeout)
            return self._http[1]


def _read(data: bytes) -> Answer:
    """The answer in a response.

    Raises:
        ValueError: it is not of the form of a chat completion.
    """
    try:
        response = json.loads(data)
        text = response["choices"][0]["message"]["content"]
        tokens = (response.get("usage") or {}).get("total_tokens") or 0
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    if not isinstance(text, str) or not isinstance(tokens, int):
        raise ValueError("the answer is no text")
    return Answer(text, tokens)


#: What no person types in a turn: tags and entities of HTML, tags of forums, links and emphasis of Markdown, headings, lists, code.
_MARKUP = re.compile(
    r"<[/!?]?[a-zA-Z][^<>]*>|<!--|-->|&(?:[a-zA-Z]{2,8}|#\d+|#x[0-9a-fA-F]+);|\[/?(?:b|i|u|s|url|img|code|quote|color|size)(?:=[^\]]*)?\]"
    r"|\]\(|\]\[|```|`[^`]+`|\*\*|__|~~|(?<![\w*])\*\w[^*]*\*(?!\w)|(?<!\w)_\w[^_]*_(?!\w)|\\\(|\$\$|^\s*(?:#{1,6}|[-*+>]|\d+\.)\s",
    re.MULTILINE | re.IGNORECASE,
)
#: Addresses, with or without a scheme: what follows it is compared as well, so that no other address can come in where the turn has one.
_LINK = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,15}://|mailto:|javascript:|data:[a-z]+/|www\.)\S+"
    r"|(?<![\w@.])(?:[a-z0-9-]+\.)+(?:com|org|net|io|co|uk|cn|de|ru|info|biz|ly|app|dev|xyz|top|site|online|shop|me|tv|cc|gov|edu)(?![\w.-]*\w)(?:[/?#]\S*)?",
    re.IGNORECASE,
)


def admissible(text: str, source: str) -> bool:
    """Whether an answer can be a person's turn in place of `source`: at most five times as long (and 200 characters more), on one line, without
    control characters, and with no markup or address that the source hasn't, letter for letter."""
    if len(text) > 5 * len(source) + 200 or not all(char.isprintable() for char in text):
        return False
    return all(match.group() in source for pattern in (_MARKUP, _LINK) for match in pattern.finditer(text))


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
