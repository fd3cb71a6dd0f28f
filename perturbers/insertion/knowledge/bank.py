"""Questions of real users, learned from logs and labels in the form of DSTC9 Track 1: other wordings for the snippets they were asked about."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from dialmill.perturbers.insertion.knowledge import chinese, english
from dialmill.perturbers.insertion.knowledge.base import KnowledgeBase, KnowledgeError, name_key
from dialmill.perturbers.insertion.knowledge.base import load as load_base
from dialmill.perturbers.insertion.knowledge.topics import question_key
from dialmill.schemas import Snippet
from dialmill.schemas.validate import JsonError, parse

_LONGEST = 220


class Bank:
    """Plain wordings by what they ask: a snippet's topic or title in its domain."""

    def __init__(self, wordings: dict[tuple[str, str], tuple[str, ...]]) -> None:
        self._wordings = wordings

    def __len__(self) -> int:
        return sum(map(len, self._wordings.values()))

    def wordings(self, snippet: Snippet, name: str | None, language: str, side: str) -> tuple[str, ...]:
        """The questions for a snippet of the entity `name` that a side ("train" or "test") may use; none has one of the other's."""
        from dialmill.perturbers.insertion.knowledge.wording import halves

        key = (snippet.domain, question_key(snippet, language, name))
        found = self._wordings.get(key, ())
        return halves(f"bank {key[0]} {key[1]}", found)[side] if len(found) > 1 else ()


@lru_cache(maxsize=8)
def load(folders: str, knowledge: str) -> Bank:
    """The bank of some folders ("|" between) with logs.json and labels.json.

    Raises:
        KnowledgeError: no knowledge base is named, a file is missing or of another form, or logs and labels differ in length.
    """
    if not knowledge:
        raise KnowledgeError("knowledge: bank needs the knowledge base that its labels refer to; name it with knowledge=FILE")
    base = load_base(knowledge)
    found: dict[tuple[str, str], dict[str, None]] = {}
    for folder in folders.split("|"):
        logs, labels = _read(Path(folder) / "logs.json"), _read(Path(folder) / "labels.json")
        if len(logs) != len(labels):
            raise KnowledgeError(f"{folder}: logs.json has {len(logs)} instances, labels.json {len(labels)}; they go together")
        for log, label in zip(logs, labels, strict=True):
            for key, text in _learned(log, label, base):
                found.setdefault(key, {})[text] = None
    if not found:
        raise KnowledgeError(f"{folders}: no label names a snippet of {base.name}, so there are no questions to learn")
    return Bank({key: tuple(texts) for key, texts in found.items()})


def _read(path: Path) -> list[Any]:
    try:
        loaded = parse(path.read_bytes())
    except OSError as error:
        raise KnowledgeError(f"{path}: {error.strerror or error}") from None
    except JsonError as error:
        raise KnowledgeError(f"{path}: {error}") from None
    if not isinstance(loaded, list):
        raise KnowledgeError(f"{path}: expected a list of instances, found {type(loaded).__name__}")
    return loaded


def _learned(log: Any, label: Any, base: KnowledgeBase) -> list[tuple[tuple[str, str], str]]:
    """The wording of one instance under what it asks, if it can be used for other entities: it may name none but its own."""
    if not isinstance(label, dict) or label.get("target") is not True or not isinstance(log, list) or not log:
        return []
    named = label.get("knowledge")
    text = " ".join(str(log[-1].get("text", "")).split()) if isinstance(log[-1], dict) else ""
    if not isinstance(named, list) or len(named) != 1 or not text or len(text) > _LONGEST:
        return []
    snippet = base.find(*(str(named[0].get(key, "")) for key in ("domain", "entity_id", "doc_id")))
    if snippet is None:
        return []
    name = base.entities[snippet.domain, snippet.entity_id].name
    language = "zh" if any("\u3400" <= char <= "\u9fff" for char in text) else "en"
    plain = chinese.canonical(text, name) if language == "zh" else _plain(text, name)
    own = name_key(name, language) if name else ""
    if any(
        own != name_key(entity.name, language) and len(entity.name) > 5 and entity.name.lower() in plain.lower()
        for entity in base.entities.values()
        if entity.name
    ):
        return []
    return [((snippet.domain, question_key(snippet, language, name)), plain)] if plain else []


def _plain(text: str, name: str | None) -> str:
    """An English question of one sentence or more in the plain form: its last sentence as titles are put, those before it as they are."""
    before, core = english.split(text)
    made = english.canonical(core, name) if core.endswith("?") else text
    return f"{before} {made}".strip() if core.endswith("?") else made
