"""Who is named in the messages of a log, and messages without the names.

A name that stands in a context and in the right answer only gives the answer away, so names are taken out of both. What counts as a name: a nick
that was seen anywhere in the log, as a token of its own. Ordinary words that are nicks as well ("the", "root") count only where a
message is addressed: as its first token, before ":" or ",".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from dialmill.perturbers.core.distance import distance
from dialmill.perturbers.core.graphemes import JOINERS, MARKS, is_mark
from dialmill.pipelines.disentangle.frame import person_key
from dialmill.pipelines.disentangle.logs import LogLine
from dialmill.pipelines.disentangle.words import COMMON, PACKAGES

_LEADING = re.compile(r"\s*[@<(\[]?([^\s:,;>)\]]+)[>)\]]?\s?(?:[:,;]+|->?(?=\s))\s*")
#: A message's first token with a colon after it: most often whom it is for.
_ADDRESSED = re.compile(r"\s*@?([A-Za-z\[\]\\`_^{|}][\w\[\]\\`^{|}-]{2,}): ")
#: How often somebody is addressed who never speaks, until the name counts as one; and what stands before a colon without being a name.
_CALLED = 2
_NO_NAMES = "error errors warning note edit http https ftp question answer update example problem solution usage output input info debug fatal"
_HEADS = frozenset(_NO_NAMES.split())
#: A shell's prompt, and a home folder: both name their owner.
_PROMPT = re.compile(r"(?<![\w.+-])[a-z_][\w.-]*@[\w-]+(?=:[~/]|[:~]?\s?[$#](?:\s|$)|\s[~/])", re.I)
_HOME = re.compile(r"(/home/|/Users/|[Cc]:\\Users\\)(?!user\b)" + rf"[\w.{MARKS}{JOINERS}-]+")
_TOKEN = re.compile(r"\S+")
#: A token, and what may stand around a name in it.
_BARE = re.compile(r"([^\w\[\]{}|\\`^-]*)(.*?)((?:'s)?[^\w\[\]{}|\\`^-]*)", re.DOTALL)
_BLANKS = re.compile(r"\s+")
#: Shorter beginnings of a nick may be anything.
_PREFIX = 3


class Nicks:
    """The nicks of a log and who is behind them: renames and decorations ("kim", "kim_", "kim_afk") are one person."""

    def __init__(self, lines: Iterable[LogLine]) -> None:
        self._parent: dict[str, str] = {}
        called: Counter[str] = Counter()
        for line in lines:
            if line.nick:
                self._meet(line.nick)
            found = _ADDRESSED.match(line.text) if line.is_talk else None
            if found is not None:
                called[found[1].lower()] += 1
            if line.kind == "rename":
                one, other = self._root(self._meet(line.nick)), self._root(self._meet(line.text))
                if one != other:
                    self._parent[max(one, other)] = min(one, other)
        # Whom others address, though not a word of theirs stands in this log.
        for name, times in called.items():
            if times >= _CALLED and name not in self._parent and name not in COMMON and name not in _HEADS:
                self._meet(name)

    def _meet(self, nick: str) -> str:
        low, key = nick.lower(), person_key(nick)
        if low not in self._parent:
            self._parent.setdefault(key, key)
            if low != key:
                self._parent[low] = key
        return low

    def _root(self, name: str) -> str:
        while self._parent[name] != name:
            self._parent[name] = self._parent[self._parent[name]]
            name = self._parent[name]
        return name

    def person(self, name: str) -> str | None:
        """Who is called so, None if nobody in the log is."""
        low = name.lower()
        return self._root(low) if low in self._parent else None


def addressee(text: str, nicks: Nicks, people: Iterable[str] = ()) -> str | None:
    """The person whom a message addresses with its first token, None if it addresses nobody."""
    found = _LEADING.match(text)
    return _resolve(found[1], nicks, people) if found else None


def _resolve(name: str, nicks: Nicks, people: Iterable[str]) -> str | None:
    for form in (name, name.strip("_-`^|[]{}\\.!?*+~\"'")):
        person = nicks.person(form) if form else None
        if person is not None:
            return person
    low = name.lower()
    if len(low) >= _PREFIX and low not in COMMON:
        # IRC users shorten names of people they talk with: "worm: try restart".
        matches = {one for one in people if one.startswith(low)}
        if len(matches) == 1:
            return matches.pop()
        # ... or mistype them.
        near = {one for one in people if len(low) > _PREFIX and abs(len(one) - len(low)) <= 1 and distance(one, low) == 1}
        if len(near) == 1:
            return near.pop()
    return None


def without_names(text: str, nicks: Nicks, people: Mapping[str, str], stranger: str = "") -> str:
    """A message with every name replaced: `people` says by what (person -> "" or "participant_0"), anybody else by `stranger`.

    Where the replacement is empty, an address goes with its ":" and a name inside goes with the blank before it. Blanks are collapsed.
    """

    def put(person: str) -> str:
        return people.get(person, stranger)

    text = _HOME.sub(r"\1user", _PROMPT.sub("user@host", text))
    parts: list[str] = []
    place = 0
    while (found := _LEADING.match(text, place)) is not None and (person := _resolve(found[1], nicks, people)) is not None:
        name = put(person)
        if name:
            parts.append(name + ": ")
        place = found.end()
    parts.append(_TOKEN.sub(lambda token: _inside(token[0], nicks, put, people.__contains__), text[place:]))
    return _BLANKS.sub(" ", "".join(parts)).strip()


def _inside(token: str, nicks: Nicks, put: Callable[[str], str], addressed: Callable[[str], bool]) -> str:
    bare = _BARE.fullmatch(token)
    if bare is None:
        return token
    before, name, after = bare[1], bare[2], bare[3]
    if is_mark(after[:1]):
        return token  # the mark makes another letter of the last one: "rené" written with a mark is not rene
    low = name.lower()
    if len(low) < _PREFIX or low in COMMON or low.isdigit():
        return token
    person = nicks.person(name)
    if person is None or (low in PACKAGES and not addressed(person)):
        return token
    name = put(person)
    if name:
        return before + name + after
    # "thanks bo!" keeps its mark; quotes and brackets around a name go with it.
    return "".join(mark for mark in after.removeprefix("'s") if mark in ".!?")
