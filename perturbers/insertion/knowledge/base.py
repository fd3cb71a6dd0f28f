"""A knowledge base in the form of DSTC9 Track 1: domain -> entity -> documents with a question as title and its answer as body."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.perturbers.core.contract import OptionError
from dialmill.schemas import Snippet
from dialmill.schemas.validate import JsonError, parse

#: The entity of snippets that hold for a whole domain.
WHOLE_DOMAIN = "*"
_FORM = '{"hotel": {"0": {"name": "...", "docs": {"0": {"title": "...", "body": "..."}}}}}'


class Entity(NamedTuple):
    """An entity with its snippets in file order; `name` is None for a whole domain, `city` where the base says none. Identifiers are strings."""

    domain: str
    entity_id: str
    name: str | None
    snippets: tuple[Snippet, ...]
    city: str | None = None


class KnowledgeError(OptionError):
    """A file that holds no knowledge base: the message names the file, the place in it, what was expected and found."""


def entity_label(entity_id: str) -> int | str:
    """An entity's id as labels.json has it: a number, or "*"."""
    return WHOLE_DOMAIN if entity_id == WHOLE_DOMAIN else int(entity_id)


class KnowledgeBase:
    """Entities by (domain, id). Look-ups compare whole identifiers, never joined strings.

    Args:
        entities: the entities, in file order.
        name: what messages call the base.
    """

    def __init__(self, entities: tuple[Entity, ...], name: str = "knowledge") -> None:
        self.name = name
        self.entities: dict[tuple[str, str], Entity] = {(one.domain, one.entity_id): one for one in entities}

    @classmethod
    def from_dict(cls, loaded: Any, name: str = "knowledge") -> KnowledgeBase:
        """A base from a parsed knowledge.json.

        Raises:
            KnowledgeError: it is of another form.
        """
        found: list[Entity] = []
        for domain, entities in _items(loaded, name, ""):
            for entity_id, entity in _items(entities, name, domain):
                where = f"{domain}.{entity_id}"
                if entity_id != WHOLE_DOMAIN and not (entity_id.isascii() and entity_id.isdigit()):
                    raise KnowledgeError(f'{name}: {where}: an entity\'s id is digits, or "*" for a whole domain')
                if not isinstance(entity, dict) or not isinstance(entity.get("name"), str | None) or "docs" not in entity:
                    raise KnowledgeError(f'{name}: {where}: expected an object with "name" (text or null) and "docs", as in {_FORM}')
                snippets = []
                for doc_id, document in _items(entity["docs"], name, f"{where}.docs"):
                    if not (doc_id.isascii() and doc_id.isdigit()):
                        raise KnowledgeError(f"{name}: {where}.docs.{doc_id}: a document's id is digits")
                    texts = [document.get(key) for key in ("title", "body")] if isinstance(document, dict) else [None, None]
                    if not all(isinstance(text, str) and text.strip() for text in texts):
                        raise KnowledgeError(f'{name}: {where}.docs.{doc_id}: expected "title" and "body", both text that is not empty')
                    snippets.append(Snippet(domain, entity_id, doc_id, str(texts[0]), str(texts[1])))
                city = entity.get("city")
                found.append(Entity(domain, entity_id, entity["name"], tuple(snippets), city if isinstance(city, str) else None))
        return cls(tuple(found), name)

    def __len__(self) -> int:
        return sum(len(entity.snippets) for entity in self.entities.values())

    def snippets(self) -> Iterator[Snippet]:
        """All snippets, in file order."""
        for entity in self.entities.values():
            yield from entity.snippets

    def find(self, domain: str, entity_id: str, doc_id: str) -> Snippet | None:
        """One snippet by its identifiers, None where there is none."""
        return self._by_id.get((domain, entity_id, doc_id))

    def same_entity(self, snippet: Snippet) -> tuple[Snippet, ...]:
        """The other snippets of a snippet's entity: the distractors that are nearest to it."""
        return tuple(one for one in self.entities[snippet.domain, snippet.entity_id].snippets if one.doc_id != snippet.doc_id)

    @property
    def domains(self) -> list[str]:
        """The domains, sorted."""
        return sorted({domain for domain, _ in self.entities})

    @cached_property
    def _by_id(self) -> dict[tuple[str, str, str], Snippet]:
        return {(one.domain, one.entity_id, one.doc_id): one for one in self.snippets()}

    @cached_property
    def repeated(self) -> frozenset[tuple[str, str, str]]:
        """The snippets whose title occurs twice in their entity: which of them answers can't be said."""
        found = set()
        for entity in self.entities.values():
            counts = Counter(title_key(str(one.title)) for one in entity.snippets)
            found |= {(one.domain, one.entity_id, one.doc_id) for one in entity.snippets if counts[title_key(str(one.title))] > 1}
        return frozenset(found)

    def part(self, keep: frozenset[tuple[str, str, str]]) -> KnowledgeBase:
        """The base with some of its snippets; entities without any left are left out."""
        entities = []
        for entity in self.entities.values():
            left = tuple(one for one in entity.snippets if (one.domain, one.entity_id, one.doc_id) in keep)
            if left:
                entities.append(entity._replace(snippets=left))
        return KnowledgeBase(tuple(entities), self.name)

    def to_dict(self) -> dict[str, Any]:
        """The form of knowledge.json."""
        made: dict[str, Any] = {}
        for entity in self.entities.values():
            documents = {one.doc_id: {"title": one.title, "body": one.body} for one in entity.snippets}
            where = {"city": entity.city} if entity.city is not None else {}
            made.setdefault(entity.domain, {})[entity.entity_id] = {"name": entity.name, **where, "docs": documents}
        return made


def _items(value: Any, name: str, where: str) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        raise KnowledgeError(f"{name}: {where + ': ' if where else ''}expected an object, as in {_FORM}, found {type(value).__name__}")
    return list(value.items())


def load(paths: str) -> KnowledgeBase:
    """The base in one file, or in several ("|" between them), of which none may hold what another holds.

    Raises:
        KnowledgeError: a file that is missing, not JSON, of another form, or that holds an entity of another file.
    """
    stamps = []
    for path in paths.split("|"):
        try:
            stat = Path(path).stat()
        except OSError as error:
            raise KnowledgeError(f"{path}: {error.strerror or error}: name a knowledge.json in the form of DSTC9 Track 1") from None
        stamps.append((stat.st_mtime_ns, stat.st_size))
    return _load(paths, tuple(stamps))


@lru_cache(maxsize=16)
def _load(paths: str, stamps: tuple[tuple[int, int], ...]) -> KnowledgeBase:
    entities: dict[tuple[str, str], Entity] = {}
    for path in paths.split("|"):
        try:
            loaded = parse(Path(path).read_bytes())
        except JsonError as error:
            raise KnowledgeError(f"{path}: {error}") from None
        except OSError as error:
            raise KnowledgeError(f"{path}: {error.strerror or error}") from None
        for key, entity in KnowledgeBase.from_dict(loaded, path).entities.items():
            if key in entities:
                raise KnowledgeError(f"{path}: {key[0]}.{key[1]} is in another of the files as well")
            entities[key] = entity
    if not any(entity.snippets for entity in entities.values()):
        raise KnowledgeError(f"{paths}: holds no snippets")
    return KnowledgeBase(tuple(entities.values()), paths)


_BETWEEN = re.compile(r"[\W_]+")
#: Before the s of a genitive, which some corpora cut off.
_APOSTROPHE = re.compile(r" ?['’](?=s\b)|['’]")


def title_key(title: str) -> str:
    """A title without case, punctuation and blanks at its ends: equal for titles that ask the same in the same words."""
    return _BETWEEN.sub(" ", unicodedata.normalize("NFKC", title).casefold()).strip()


@lru_cache(maxsize=1 << 14)
def name_key(name: str, language: str) -> str:
    """A name as it is compared: words without case, marks and "the"; Chinese without blanks."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", name.casefold()) if not unicodedata.combining(char))
    words = _BETWEEN.sub(" ", _APOSTROPHE.sub("", plain)).split()
    if language == "zh":
        return "".join(words)
    return " ".join(words[1:] if len(words) > 1 and words[0] == "the" else words)
