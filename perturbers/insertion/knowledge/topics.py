"""What snippets are about: the topic of a title, what a database answers instead, and whether two snippets answer one question."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.insertion.knowledge import english
from dialmill.perturbers.insertion.knowledge.base import KnowledgeBase, title_key
from dialmill.perturbers.insertion.knowledge.database import Database
from dialmill.schemas import Dialogue, Snippet

Polarity = Literal["same", "free"]


class Topic(NamedTuple):
    """A kind of question: its titles match `pattern`, users word it as `wordings`.

    `polarity` says whether "yes" answers a wording as it does a title.
    """

    name: str
    domains: frozenset[str]
    polarity: Polarity
    pattern: re.Pattern[str]
    wordings: tuple[str, ...]


@lru_cache(maxsize=4)
def topics(language: str) -> tuple[Topic, ...]:
    """The topics of a language in the order in which they are tried."""
    return tuple(
        Topic(name, frozenset(alternatives(domains)), "same" if polarity == "same" else "free", re.compile(pattern), tuple(alternatives(wordings)))
        for name, domains, polarity, pattern, wordings in rows(language, "questions")
    )


def nameless(title: str, name: str | None, language: str) -> str:
    """A title without its entity's name: what is asked at "Ann's Bed and Breakfast" need not be about breakfast."""
    if not name:
        return title
    return "".join(title.split()).replace("".join(name.split()), "") if language == "zh" else english.nameless(title, name)


@lru_cache(maxsize=1 << 15)
def topic_of(title: str, domain: str, language: str, name: str | None = None) -> Topic | None:
    """The topic of a title, None for one that no topic of ours covers; `name` is the entity's, which says nothing of it."""
    low = nameless(title, name, language).casefold()
    return next((one for one in topics(language) if (domain in one.domains or "*" in one.domains) and one.pattern.search(low)), None)


@lru_cache(maxsize=4)
def _answerable(language: str) -> tuple[tuple[frozenset[str], frozenset[str], re.Pattern[str]], ...]:
    return tuple(
        (frozenset(alternatives(domains)), frozenset(alternatives(slots)), re.compile(pattern))
        for domains, slots, pattern in rows(language, "answerable")
    )


@lru_cache(maxsize=1 << 15)
def _slots(title: str, domain: str, language: str, name: str | None) -> frozenset[str]:
    low = nameless(title, name, language).casefold()
    return next((slots for domains, slots, pattern in _answerable(language) if domain in domains and pattern.search(low)), frozenset())


def answered_by_database(snippet: Snippet, language: str, row: Mapping[str, Any] | None = None, name: str | None = None) -> str | None:
    """The slot of the database that answers a snippet's question, None where none does.

    Args:
        snippet: the snippet.
        language: its language.
        row: the entity's row of the database; without one every slot that databases of the domain have counts as answered.
        name: the entity's.
    """
    for slot in sorted(_slots(str(snippet.title), snippet.domain, language, name)):
        if row is None or row.get(slot) not in (None, "", "?", [], {}):
            return slot
    return None


def question_key(snippet: Snippet, language: str, name: str | None = None) -> str:
    """What a snippet is asked for: its topic, or its title. Snippets with one key answer one question.

    A topic "parking.kind" is of one key with "parking": whoever asks whether one can park is answered by where.
    `name` is the entity's, None for a whole domain.
    """
    topic = topic_of(str(snippet.title), snippet.domain, language, name)
    return f"topic {topic.name.partition('.')[0]}" if topic is not None else f"title {title_key(str(snippet.title))}"


@lru_cache(maxsize=8)
def usable(base: KnowledgeBase, language: str, database: Database | None = None) -> tuple[dict[tuple[str, str], tuple[Snippet, ...]], dict[str, int]]:
    """The snippets that a question can be asked about, by entity, and how many are left out for which reason.

    Left out are snippets with a title that occurs twice in the entity (`title_twice`), that share their topic with another one of the entity
    (`two_snippets_fit`), and those that the database answers (`answerable_by_db`).

    Args:
        base: the knowledge base.
        language: its language.
        database: the the database, or None for what databases of each domain have.
    """
    found: dict[tuple[str, str], tuple[Snippet, ...]] = {}
    refused: dict[str, int] = {}
    for key, entity in base.entities.items():
        keys = [question_key(one, language, entity.name) for one in entity.snippets]
        kept = []
        for one, asked in zip(entity.snippets, keys, strict=True):
            row = database.row(entity) if database is not None else None
            if (one.domain, one.entity_id, one.doc_id) in base.repeated:
                reason = "title_twice"
            elif answered_by_database(one, language, row, entity.name) is not None:
                reason = "answerable_by_db"
            elif keys.count(asked) > 1:
                reason = "two_snippets_fit"
            else:
                kept.append(one)
                continue
            refused[reason] = refused.get(reason, 0) + 1
        found[key] = tuple(kept)
    return found, refused


_QUESTIONS = re.compile(r"[^.!?。！？]*[?？]")


def asked_before(dialogue: Dialogue) -> frozenset[str]:
    """The keys (`question_key`) of the topics that a user of the dialogue asks about somewhere: nobody asks the same twice."""
    asked = " ".join(match.group() for turn in dialogue.turns if turn.speaker == "user" for match in _QUESTIONS.finditer(turn.utterance)).casefold()
    return (
        frozenset(f"topic {one.name.partition('.')[0]}" for one in topics(dialogue.language) if one.pattern.search(asked)) if asked else frozenset()
    )
