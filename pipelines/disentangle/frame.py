"""Who says what to whom: log lines become columns (a `Frame`) that the features are computed from.

`Roster` follows the nicks of one channel in file order: renames keep the person, a nick decorated with ``_`` or an away
suffix is the same person, and addressees are resolved against the nicks seen so far (nothing looks ahead). Its state is
small and carried from chunk to chunk; what it forgets, it forgets by line number, so the frames of a log read in chunks,
put together, equal the frame of the log read at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from zlib import crc32

import numpy as np
from dialmill.pipelines.disentangle.logs import LogLine
from dialmill.pipelines.disentangle.words import COMMON
from numpy.typing import NDArray

MAX_ADDRESSEES = 3
HASH_BITS = 16
"""Tokens are hashed into 2**HASH_BITS buckets (CRC-32), so that a model needs no word list."""
REMEMBERED_LINES = 3000
"""A nick is known for this many lines after it was last seen."""
_SWEEP = 10_000

HOW_NONE, HOW_FIRST, HOW_FIRST_BARE, HOW_INSIDE = 0, 1, 2, 3

FLAGS = (
    "question",
    "wh",
    "url",
    "greeting",
    "thanks",
    "yes",
    "no",
    "command",
    "action",
    "bot",
    "ellipsis",
    "self_talk",
    "anyone",
    "code",
    "continues",
    "second_person",
    "first_person",
    "ends_colon",
)
"""What a message's wording shows, one bit each in `Frame.flags`, in this order."""
_BIT = {name: 1 << i for i, name in enumerate(FLAGS)}

_WORD_FLAGS: dict[str, int] = {}
for _flag, _words in {
    "wh": "how what why where when who which whats wheres hows",
    "greeting": "hi hello hey hiya hallo hola yo greetings morning evening heya howdy",
    "thanks": "thanks thx thank ty tnx cheers tks thnx thankyou",
    "yes": "yes yeah yep yup ya yea sure ok okay k right exactly correct indeed true",
    "no": "no nope nah not dont didnt doesnt isnt wont cant",
    "self_talk": "nevermind nvm hmm hm oh ah aha argh oops wow damn brb bbl lol haha heh",
    "anyone": "anyone anybody someone somebody everyone guys folks all",
    "continues": "and but or so also then because which except",
    "second_person": "you your u ur you're youre yours",
    "first_person": "i i'm im my me i've ive",
}.items():
    for _word in _words.split():
        _WORD_FLAGS[_word] = _WORD_FLAGS.get(_word, 0) | _BIT[_flag]
_OPENERS = _BIT["greeting"] | _BIT["yes"] | _BIT["no"] | _BIT["self_talk"] | _BIT["continues"] | _BIT["wh"]
_STRIP = ".,:;!?()\"'<>[]{}*`~"
_FIRST = re.compile(r"[@<]?([^\s:,;>]+)>?\s?([:,;>]|->?\s)")
_CORE = re.compile(r"[^a-z0-9]+$|^[^a-z0-9]+")
_AWAY = re.compile(r"[_|\-`^\[]*(?:away|afk|zzz+|sleep(?:ing)?|gone|off|out|busy|brb|bbl|work)\]?$")


def person_key(nick: str) -> str:
    """The part of a nick that stays when its owner decorates it: lower case, no ``_ ` ^ |`` at the end, no away suffix."""
    low = nick.lower()
    plain = low.rstrip("_`^|-")
    if len(plain) > 3:
        short = _AWAY.sub("", plain)
        if len(short) >= 3 and len(short) < len(plain) and not plain[len(short)].isalnum():
            plain = short.rstrip("_`^|-")
    return plain or low


@dataclass(slots=True)
class Frame:
    """Columns over a run of talk messages (messages and actions), in file order; `n` messages.

    line (n,) file line; minute (n,) minutes; speaker (n,) person number, in order of first appearance in the log;
    addressees (n, 3) person numbers, -1 where none; how (n,) one of the `HOW_` constants, for the first addressee;
    flags (n,) bits in `FLAGS` order; length (n,) tokens; indptr (n + 1,) and tokens: hashed distinct tokens of a message.
    """

    line: NDArray[np.int64]
    minute: NDArray[np.int64]
    speaker: NDArray[np.int64]
    addressees: NDArray[np.int64]
    how: NDArray[np.int64]
    flags: NDArray[np.int64]
    length: NDArray[np.int64]
    indptr: NDArray[np.int64]
    tokens: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.line)

    def slice(self, start: int, stop: int) -> Frame:
        """The messages at positions start to stop (exclusive)."""
        low, high = int(self.indptr[start]), int(self.indptr[stop])
        cut = {f.name: getattr(self, f.name)[start:stop] for f in fields(self) if f.name not in ("indptr", "tokens")}
        return Frame(**cut, indptr=self.indptr[start : stop + 1] - low, tokens=self.tokens[low:high])

    @staticmethod
    def join(parts: Sequence[Frame]) -> Frame:
        """Frames of consecutive runs, as one."""
        columns = {f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Frame) if f.name != "indptr"}
        counts = np.concatenate([np.diff(p.indptr) for p in parts])
        return Frame(**columns, indptr=np.concatenate(([0], np.cumsum(counts))).astype(np.int64))


class Roster:
    """The people of one channel, read in file order; `read` turns lines into a `Frame` and keeps what the next lines need."""

    def __init__(self) -> None:
        self._person: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._core: dict[str, str] = {}
        self._recent: dict[str, int] = {}
        self._next = 0
        self._last_sweep = 0
        self._hash: dict[str, tuple[int, str, int]] = {}

    def read(self, lines: Iterable[LogLine]) -> Frame:
        """The frame of the next lines of the log; call it with consecutive runs of lines, of any length."""
        rows: list[tuple[int, ...]] = []
        indptr, tokens = [0], []
        for line in lines:
            if line.line - self._last_sweep >= _SWEEP:
                self._sweep(line.line)
            if line.is_talk:
                speaker = self._meet(line.nick, line.line)
                self._recent.pop(line.nick.lower(), None)
                self._recent[line.nick.lower()] = line.line
                if len(self._recent) > 60:
                    del self._recent[next(iter(self._recent))]
                people, how, flags, length, hashed = self._words(line, speaker)
                people = (*people, -1, -1, -1)
                rows.append((line.line, line.minute, speaker, people[0], people[1], people[2], how, flags, length))
                tokens.extend(hashed)
                indptr.append(len(tokens))
            elif line.kind == "rename":
                self._rename(line)
            elif line.nick:
                self._meet(line.nick, line.line)
        table = np.array(rows, dtype=np.int64).reshape(-1, 9)
        return Frame(
            line=table[:, 0].copy(),
            minute=table[:, 1].copy(),
            speaker=table[:, 2].copy(),
            addressees=table[:, 3:6].copy(),
            how=table[:, 6].copy(),
            flags=table[:, 7].copy(),
            length=table[:, 8].copy(),
            indptr=np.array(indptr, dtype=np.int64),
            tokens=np.array(tokens, dtype=np.int64),
        )

    def _meet(self, nick: str, line: int) -> int:
        low = nick.lower()
        if low in self._seen and line - self._seen[low] <= REMEMBERED_LINES:
            self._seen[low] = line
            return self._person[low]
        key = person_key(nick)
        person = self._person.get(key, -1)
        if person < 0 or line - self._seen.get(key, -REMEMBERED_LINES - 1) > REMEMBERED_LINES:
            person = self._next
            self._next += 1
        for name in (key, low):
            self._person[name] = person
            self._seen[name] = line
        core = _CORE.sub("", low)
        if core and core != low:
            self._core[core] = low
        return person

    def _rename(self, line: LogLine) -> None:
        person = self._meet(line.nick, line.line)
        low = line.text.lower()
        known = self._seen.get(low)
        if known is not None and line.line - known <= REMEMBERED_LINES and person_key(line.nick) == person_key(line.text):
            return
        for name in (person_key(line.text), low):
            self._person[name] = person
            self._seen[name] = line.line
        core = _CORE.sub("", low)
        if core and core != low:
            self._core[core] = low

    def _sweep(self, line: int) -> None:
        """Forget nicks long gone, at fixed line numbers whatever the chunks."""
        self._last_sweep = line - line % _SWEEP
        border = self._last_sweep - REMEMBERED_LINES
        for low in [low for low, seen in self._seen.items() if seen < border]:
            del self._seen[low], self._person[low]
        self._core = {core: low for core, low in self._core.items() if low in self._seen}
        if len(self._hash) > 200_000:
            self._hash.clear()

    def _known(self, name: str, line: int) -> int:
        """The person known by this name (lower case), also by its core without decoration; -1 where none."""
        seen = self._seen.get(name)
        if seen is None:
            name = self._core.get(name, "")
            seen = self._seen.get(name)
            if seen is None:
                return -1
        return self._person[name] if line - seen <= REMEMBERED_LINES else -1

    def _first(self, name: str, line: int) -> int:
        """The person that a first token with ``:`` or ``,`` means: the nick, its core, or the one recent nick that it begins."""
        person = self._known(name, line)
        if person >= 0:
            return person
        core = _CORE.sub("", name)
        if core != name and len(core) > 1:
            person = self._known(core, line)
            if person >= 0:
                return person
        if len(core) >= 3 and core not in COMMON:
            found = {self._known(nick, line) for nick in self._recent if nick.startswith(core)} - {-1}
            if len(found) == 1:
                return found.pop()
        return -1

    def _words(self, line: LogLine, speaker: int) -> tuple[tuple[int, ...], int, int, int, list[int]]:
        text = line.text.lower()
        people: list[int] = []
        how = HOW_NONE
        where = 0
        while len(people) < MAX_ADDRESSEES:
            first = _FIRST.match(text, where)
            if not first:
                break
            person = self._first(first[1], line.line)
            if person < 0:
                break
            if person != speaker and person not in people:
                people.append(person)
                how = HOW_FIRST
            where = first.end()
            while where < len(text) and text[where] == " ":
                where += 1
        flags = (_BIT["bot"] if line.is_bot else 0) | (_BIT["action"] if line.kind == "action" else 0)
        body = text[where:].split()
        cache = self._hash
        hashed: dict[int, None] = {}
        opening = True
        for place, raw in enumerate(body):
            entry = cache.get(raw)
            if entry is None:
                bare = raw.strip(_STRIP)
                entry = (crc32(bare.encode("utf-8", "replace")) & ((1 << HASH_BITS) - 1) if bare else -1, bare, _WORD_FLAGS.get(bare, 0))
                cache[raw] = entry
            code, bare, word_flags = entry
            if code < 0:
                continue
            if bare in self._seen and bare not in COMMON and len(bare) > 2 and not bare.isdigit():
                person = self._known(bare, line.line)
                if person >= 0 and person != speaker:
                    if person not in people and len(people) < MAX_ADDRESSEES:
                        people.append(person)
                        if how == HOW_NONE:
                            how = HOW_FIRST_BARE if place == 0 else HOW_INSIDE
                    opening = False
                    continue
            if word_flags:
                flags |= word_flags & ~_OPENERS
                if opening or place < 3:
                    flags |= word_flags
            opening = False
            hashed[code] = None
        if "?" in text:
            flags |= _BIT["question"]
        if "http" in text or "www." in text:
            flags |= _BIT["url"]
        if body and body[0][0] in "!@" and len(body[0]) > 1:
            flags |= _BIT["command"]
        if text.endswith(("...", "..")):
            flags |= _BIT["ellipsis"]
        if text.endswith(":"):
            flags |= _BIT["ends_colon"]
        if "sudo " in text or "/etc/" in text or "apt-get" in text:
            flags |= _BIT["code"]
        return tuple(people), how, flags, len(body), list(hashed)
