"""Who is named in the messages of a log, and messages without the names.

A name that stands in a context and in the right answer only gives the answer away, so names are taken out of both. What counts as a name: a nick
that was seen anywhere in the log, as a token of its own. Ordinary words that are nicks as well ("the", "root") count only where a
message is addressed: as its first token, before ":" or ",". Programs and frequent words count inside a message where their namesake takes part.

Nicks of the other logs count too (`Names`), with more care, since among all nicks of a channel's years there is one for most words: at a message's
beginning, with the mark that addresses somebody, or where they are written as nothing but a nick is ("bob_k", "kim^").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import msgspec
from dialmill.perturbers.core.distance import distance
from dialmill.perturbers.core.graphemes import JOINERS, MARKS, is_mark
from dialmill.perturbers.typing.english import listed_words
from dialmill.pipelines.disentangle.frame import person_key
from dialmill.pipelines.disentangle.logs import LogLine
from dialmill.pipelines.disentangle.words import COMMON, PACKAGES

_LEADING = re.compile(r"\s*[@<(\[]?([^\s:,;>)\]]+)[>)\]]?\s?(?:[:,;]+|->?(?=\s))\s*")
#: A message's first token with a colon after it: most often whom it is for.
_ADDRESSED = re.compile(r"\s*@?([A-Za-z\[\]\\`_^{|}][\w\[\]\\`^{|}-]{2,}): ")
#: How often somebody is addressed who never speaks, until the name counts as one; and what stands before a colon without being a name.
CALLED = 2
_NO_NAMES = "error errors warning note edit http https ftp question answer update example problem solution usage output input info debug fatal"
_HEADS = frozenset(_NO_NAMES.split())
#: A shell's prompt, and who logs in where: the first names its owner for sure.
_PROMPT = re.compile(r"(?<![\w.+-])[a-z_][\w.-]*@[\w-]+(?=:[~/]|[:~]?\s?[$#](?:\s|$)|\s[~/])", re.I)
_LOGIN = re.compile(r"(?<![\w.+:/@-])([a-z_][\w.-]*)@([\w-]+)(?![\w.-]*[.@]\w)(?![\w-])", re.I)
#: A home folder.
_HOME = re.compile(r"(/home/|/Users/|[Cc]:\\(?:Users|Documents and Settings)\\)(?!user\b)" + rf"[\w.{MARKS}{JOINERS}-]*[\w{MARKS}{JOINERS}-]")
#: Folders that may be called after their owner.
_MEDIA = re.compile(rf"((?:/media/|/run/media/|/var/mail/|/var/spool/mail/|/export/|(?<!\S)~))([\w{MARKS}{JOINERS}-]+)(?=/|\s|$)")
_TOKEN = re.compile(r"\S+")
#: A token, and what may stand around a name in it.
_BARE = re.compile(r"([^\w\[\]{}|\\`^-]*)(.*?)((?:'s)?[^\w\[\]{}|\\`^-]*)", re.DOTALL)
_BLANKS = re.compile(r"\s+")
#: Shorter beginnings of a nick may be anything.
_PREFIX = 3
#: From this length on a nick that is mistyped and has no mark behind it is still told.
_MARKLESS = 7


#: What is installed, run or stopped by name is a program.
_RUN = re.compile(
    r"\b(?:(?:re|un)?install(?:ed|ing)?|remove|purge|apt-cache (?:show|search|policy)|g?k?sudo|killall|pkill|modprobe|whereis)\s+"
    r"(?:-\S+\s+)*(?!-)([a-z][a-z0-9.+-]{2,})"
)
#: Letters with a mark of IRC among or behind them, which no word has; and names of machines and devices, which have such too.
_SHAPED = re.compile(r"(?=.*[a-z])[a-z0-9_\-`^|\[\]{}\\]*(?:[`^|\[\]{}]|_$|(?<=[a-z])_(?=[a-z]+$))[a-z0-9_\-`^|\[\]{}\\]*", re.I)
_DEVICE = re.compile(r"x86_\d+|[a-z]+_\d+|(?:snd|nvidia|usb|lib|apt|deb|etc|var|usr|lc|xdg|pci|acpi|kernel|linux|ubuntu)_.*", re.I)
#: A capital after a small letter, which nicks have and words don't; and programs that have it too.
_CAPITALS = re.compile(r"[a-z][A-Z]")
_CAMELS = (
    "networkmanager modemmanager pulseaudio virtualbox openoffice libreoffice busybox openssh openvpn openssl openbox javascript typescript mysql "
    "postgresql youtube launchpad github gitlab sourceforge macos macbook ipad iphone ipod imac ebay powerpc powershell phpmyadmin policykit "
    "consolekit devicekit packagekit ubuntustudio mythtv displaylink bluetooth freebsd openbsd webkit macosx archlinux linuxmint thunderbird"
)
_CAMEL = frozenset(_CAMELS.split())


class Names(msgspec.Struct):
    """The names of all logs together, lower case: `nicks` of whoever speaks, those `called` that others address with a colon, and `programs`."""

    nicks: frozenset[str] = frozenset()
    called: frozenset[str] = frozenset()
    programs: frozenset[str] = frozenset()


NO_NAMES = Names()


def called_in(text: str) -> str | None:
    """The name before a colon at the beginning of a message, lower case, None where there is none or it is a word that stands there often."""
    found = _ADDRESSED.match(text)
    low = found[1].lower() if found else ""
    return low if low and low not in COMMON and low not in _HEADS else None


def programs_in(text: str) -> list[str]:
    """The programs that a message installs, removes, runs or stops."""
    return [found.rstrip(".") for found in _RUN.findall(text)] if " " in text else []


def programs_of(run: Counter[str], called: Counter[str]) -> frozenset[str]:
    """The programs among what is run and by how often: run several times, and more often than anybody is called so."""
    return frozenset(name for name, times in run.items() if times >= CALLED and times > called[name])


class Nicks:
    """The nicks of a log and who is behind them: renames and decorations ("kim", "kim_", "kim_afk") are one person.

    Args:
        names: those of all logs, for whom this one names and doesn't hear.
    """

    def __init__(self, lines: Iterable[LogLine], names: Names = NO_NAMES) -> None:
        self._parent: dict[str, str] = {}
        self._names = names
        self._programs: frozenset[str] = frozenset()
        self._by_length: dict[int, list[str]] | None = None
        called: Counter[str] = Counter()
        run: Counter[str] = Counter()
        for line in lines:
            if line.nick:
                self._meet(line.nick)
            if line.is_talk:
                found = called_in(line.text)
                if found is not None:
                    called[found] += 1
                run.update(programs_in(line.text))
            if line.kind == "rename":
                one, other = self._root(self._meet(line.nick)), self._root(self._meet(line.text))
                if one != other:
                    self._parent[max(one, other)] = min(one, other)
        self._programs = programs_of(run, called)
        # Whom others address, though not a word of theirs stands in this log.
        for name, times in called.items():
            if times >= CALLED and name not in self._parent:
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

    def is_program(self, low: str) -> bool:
        """Whether a name, lower case, is that of a program too."""
        return low in PACKAGES or low in self._programs or low in self._names.programs

    def is_word(self, low: str) -> bool:
        """Whether a name, lower case, is more often a word, or a program, than a name."""
        return low in COMMON or low in _HEADS or low in listed_words() or self.is_program(low)

    def stranger(self, name: str, colon: bool) -> str | None:
        """Whoever is called so in another log; or, mistyped by a letter, in this one. For a name that a message begins with.

        Args:
            colon: whether a colon or an arrow follows; a comma follows words too ("hmmm, no").
        """
        low = name.lower()
        if len(low) < _PREFIX or low.isdigit() or self.is_word(low):
            return None
        for form in (low, person_key(low)):
            if form in self._names.nicks and (colon or form in self._names.called):
                return low
        if colon and _CAPITALS.search(name) and low not in _CAMEL:
            return low
        return self._mistyped(low) if len(low) > (_PREFIX if colon else _PREFIX + 2) else None

    def _mistyped(self, low: str) -> str | None:
        """The person of this log whose nick differs by a letter that isn't the first."""
        if self._by_length is None:
            self._by_length = {}
            for nick in self._parent:
                self._by_length.setdefault(len(nick), []).append(nick)
        for length in (len(low), len(low) + 1, len(low) - 1):
            for nick in self._by_length.get(length, ()):
                if nick[0] == low[0] and length > _PREFIX and not self.is_word(nick) and distance(nick, low) == 1:
                    return self._root(nick)
        return None

    def is_nick(self, name: str) -> bool:
        """Whether somebody of any log is called so, and the name is no word."""
        low = name.lower()
        return (low in self._parent or low in self._names.nicks) and not self.is_word(low)

    def shaped_stranger(self, name: str) -> str | None:
        """Whoever is called so in another log, where the name is written as nothing but a nick is."""
        low = name.lower()
        if _SHAPED.fullmatch(low) is None or _DEVICE.fullmatch(low) is not None or self.is_program(low):
            return None
        return low if low in self._names.nicks else None


def addressee(text: str, nicks: Nicks, people: Iterable[str] = ()) -> str | None:
    """The person whom a message addresses with its first token, None if it addresses nobody."""
    found = _LEADING.match(text)
    return _resolve(found, nicks, people) if found else None


def _resolve(found: re.Match[str], nicks: Nicks, people: Iterable[str]) -> str | None:
    name = found[1]
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
    mark = found[0][found.end(1) - found.start() :]
    if not mark[-1:].isspace() and found.end() < len(found.string):
        return None  # "err:richedit:", which a program says
    return nicks.stranger(name, ":" in mark or ">" in mark)


def without_names(text: str, nicks: Nicks, people: Mapping[str, str], stranger: str = "") -> str:
    """A message with every name replaced: `people` says by what (person -> "" or "participant_0"), anybody else by `stranger`.

    Where the replacement is empty, an address goes with its ":" and a name inside goes with the blank before it. Blanks are collapsed.
    """

    def put(person: str) -> str:
        return people.get(person, stranger)

    text = _LOGIN.sub(partial(_login, nicks), _PROMPT.sub("user@host", text))
    text = _MEDIA.sub(partial(_owner, nicks), _HOME.sub(r"\1user", text))
    parts: list[str] = []
    place = 0
    while (found := _LEADING.match(text, place)) is not None and (person := _resolve(found, nicks, people)) is not None:
        name = put(person)
        if name:
            parts.append(name + ": ")
        place = found.end()
    if not place and (called := _called_without_mark(text, nicks, people)) is not None:
        name = put(called[1])
        parts.append(name + " " if name else "")
        place = called[0]
    parts.append(_TOKEN.sub(lambda token: _inside(token[0], nicks, put, people.__contains__), text[place:]))
    return _BLANKS.sub(" ", "".join(parts)).strip()


def _called_without_mark(text: str, nicks: Nicks, people: Iterable[str]) -> tuple[int, str] | None:
    """Who of the conversation is called at the beginning of a message by a nick that is long, no word, mistyped by a letter and without a mark behind
    it; and where the rest begins."""
    found = _TOKEN.match(text)
    low = found[0].lower() if found else ""
    if found is None or len(low) < _MARKLESS or not low.isalnum() or nicks.is_word(low) or nicks.person(low) is not None:
        return None
    near = {one for one in people if len(one) >= _MARKLESS and abs(len(one) - len(low)) <= 1 and one[0] == low[0] and distance(one, low) == 1}
    return (found.end(), near.pop()) if len(near) == 1 else None


def _login(nicks: Nicks, found: re.Match[str]) -> str:
    """Somebody's name at a machine without it; what is no name ("root@server") as it is."""
    return "user@host" if nicks.is_nick(found[1]) else found[0]


def _owner(nicks: Nicks, found: re.Match[str]) -> str:
    """A folder that is called after its owner with "user" for the name, any other as it is."""
    return found[1] + "user" if nicks.is_nick(found[2]) else found[0]


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
    person = nicks.person(name) or nicks.shaped_stranger(name)
    if person is None or (nicks.is_word(low) and not addressed(person)):
        return token
    name = put(person)
    if name:
        return before + name + after
    # "thanks bo!" keeps its mark; quotes and brackets around a name go with it.
    return "".join(mark for mark in after.removeprefix("'s") if mark in ".!?")
