"""Wordings of a flow that contradict the path to them, or a path that they leave open: what a schema can't see.

A walk takes any wording of each node. So a wording may assume nothing that only another wording of an earlier node says ("no fever, just the cough"
after "my back hurts"), settle nothing that the system is about to ask ("I want my teeth cleaned", and then the caller answers "a filling"), and name
no branch that the caller isn't on. Words decide: those that tell, which is neither the short nor those that wordings of many nodes share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.tokens import tokens
from dialmill.schemas.flow import Flow

#: A word of wordings of more nodes than this is an ordinary one.
_ORDINARY = 3
#: User turns back to which a wording may refer.
_NEAR = 2
#: Shorter words tell little.
_LEAST = {"zh": 2}
_LEAST_LATIN = 4


def contradictions(flow: Flow) -> list[str]:
    """A sentence for each wording of a flow that can contradict what else is said on its path, in the order of the file."""
    return list(dict.fromkeys(_Words(flow).problems()))


def _ordinary(language: str) -> set[str]:
    return {word for kind, cell in rows(language, "flow") if kind == "ordinary" for word in alternatives(cell)}


class _Words:
    """A flow with the telling words of its texts."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.users = [name for name, node in flow.nodes.items() if node.user]
        raw = {name: [self._terms(text) for text in flow.nodes[name].user] for name in self.users}
        spread = Counter(term for name in self.users for term in frozenset().union(*raw[name]))
        ordinary = {term for term, number in spread.items() if number > _ORDINARY} | _ordinary(flow.language)
        self.said = {name: [terms - ordinary for terms in wordings] for name, wordings in raw.items()}
        self.parents: dict[str, set[str]] = {name: set() for name in flow.nodes}
        for name, node in flow.nodes.items():
            for child in node.next:
                self.parents[child].add(name)

    def _terms(self, text: str) -> frozenset[str]:
        language = self.flow.language
        least = _LEAST.get(language, _LEAST_LATIN)
        plain = text.split("{")[0] + " ".join(part.partition("}")[2] for part in text.split("{")[1:])
        return frozenset(plain[start:end].lower() for start, end in tokens(plain, language) if end - start >= least)

    def problems(self) -> Iterator[str]:
        """All that is found."""
        for name in self.users:
            above = self._above(name)
            told = self._told(name, above)
            for text, terms in zip(self.flow.nodes[name].user, self.said[name], strict=True):
                yield from self._assumed(name, text, terms - told)
                yield from self._settled(name, text, terms)
                yield from self._elsewhere(name, text, terms - told, above)

    def _above(self, name: str) -> set[str]:
        """All nodes on paths to a node, without itself."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            new = self.parents[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    def _below(self, name: str) -> set[str]:
        found = {name}
        waiting = [name]
        while waiting:
            new = set(self.flow.nodes[waiting.pop()].next) - found
            found |= new
            waiting += new
        return found

    def _told(self, name: str, above: set[str]) -> frozenset[str]:
        """What is known by the time that a node's wording is said: names of nodes and replies of the system up to it."""
        texts = [name, *above, *(self.flow.nodes[one].system or "" for one in above)]
        return frozenset().union(*map(self._terms, texts))

    def _before(self, name: str) -> set[str]:
        """The user nodes that may be said up to `_NEAR` turns before one: what was said longer ago is no longer on people's minds."""
        found: set[str] = set()
        latest = {name}
        for _ in range(_NEAR):
            latest = {one for at in latest for reply in self.parents[at] for one in self.parents[reply]}
            found |= latest
        return found

    def _assumed(self, name: str, text: str, terms: frozenset[str]) -> Iterator[str]:
        for earlier in sorted(self._before(name)):
            for term in sorted(terms):
                saying = [term in other for other in self.said[earlier]]
                if any(saying) and not all(saying):
                    yield f"{name}: {text!r} takes {term!r} for known, which one wording of {earlier} alone says"

    def _settled(self, name: str, text: str, terms: frozenset[str]) -> Iterator[str]:
        known = self._terms(name)
        replies = list(self.flow.nodes[name].next)
        for _ in range(_NEAR):
            for reply in replies:
                choices = self.flow.nodes[reply].next
                for term in sorted(terms - known):
                    of = [one for one in choices if term in self._terms(one) or any(term in other for other in self.said[one])]
                    if of and len(of) < len(choices):
                        yield f"{name}: {text!r} settles by {term!r} what {reply} asks later, as {of[0]} would; the caller may say another"
            replies = [below for reply in replies for one in self.flow.nodes[reply].next for below in self.flow.nodes[one].next]

    def _elsewhere(self, name: str, text: str, terms: frozenset[str], above: set[str]) -> Iterator[str]:
        siblings = {one for parent in self.parents[name] for one in self.flow.nodes[parent].next}
        near = above | self._below(name) | siblings
        for other in self.users:
            if other in near:
                continue
            for term in sorted(terms & self._terms(other)):
                yield f"{name}: {text!r} names {term!r}, which is of {other}, on another branch"
