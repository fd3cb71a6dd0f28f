"""The text of a manual page that is written in mdoc, the semantic macros of BSD's pages, by the rules of mandoc (mdoc(7)).

A line that begins with a dot is a macro with arguments, among which other macros may stand: ``.Op Fl a | Fl l Ar file`` is "[-a | -l file]".
Running text is filled into paragraphs, displays keep their lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

Text = Callable[[str], str]

#: Arguments that are punctuation: before a word without a blank behind them, between words, and behind a word without a blank before them.
_OPENING, _MIDDLE, _CLOSING = frozenset("(["), frozenset("|"), frozenset([".", ",", ":", ";", ")", "]", "?", "!"])
#: What encloses the rest of a line, and what opens and closes by itself.
_PAIRS = {
    "Op": "[]",
    "Pq": "()",
    "Bq": "[]",
    "Brq": "{}",
    "Aq": "<>",
    "Dq": "“”",
    "Qq": '""',
    "Sq": "‘’",
    "Ql": "‘’",
}
_OPENS = {"Oo": "[", "Po": "(", "Bo": "[", "Bro": "{", "Ao": "<", "Do": "“", "Qo": '"', "So": "‘"}
_CLOSES = {"Oc": "]", "Pc": ")", "Bc": "]", "Brc": "}", "Ac": ">", "Dc": "”", "Qc": '"', "Sc": "’", "Fc": ")"}
_SYSTEMS = {
    "Ux": "UNIX",
    "Bx": "BSD",
    "Nx": "NetBSD",
    "Fx": "FreeBSD",
    "Ox": "OpenBSD",
    "Dx": "DragonFly",
    "Bsx": "BSD/OS",
    "At": "AT&T UNIX",
}
_STANDARDS = {"ansiC": "ANSI X3.159-1989 (“ANSI C89”)", "isoC-99": "ISO/IEC 9899:1999 (“ISO C99”)", "p1003.1": "IEEE Std 1003.1 (“POSIX.1”)"}
_WORDS = """Em Sy Li Ar Cm Ic Pa Va Fa Vt Ft Ev Er Dv An Cd Ad Tn Lk Mt No Ms Sx Fr Nm Fl Fn Fo Xr In St Ta Ns Ap Pf Xo Xc"""
_PLAIN = frozenset(_WORDS.split())
_CALLABLE = _PLAIN | _PAIRS.keys() | _OPENS.keys() | _CLOSES.keys() | _SYSTEMS.keys()
_DEFAULT = {"Ar": "file ...", "Pa": "~"}
_ARGUMENT = re.compile(r'"((?:[^"]|"")*)"?|(\S+)')
#: Lines of a display or a paragraph's end.
_BREAKS = frozenset({"Pp", "Lp", "El", "Bl", "Ed", "Bd", "br", "sp", "Re", "Rs", "PP"})
_SECTION = re.compile(r"^[.'](?:Sh|Dd|Dt)\s", re.MULTILINE)


def is_mdoc(source: str) -> bool:
    """Whether a page's source is written in mdoc."""
    return len(_SECTION.findall(source)) > 1


def render(source: str, text: Text) -> Iterator[str]:
    """The lines of a page; `text` takes the escapes of roff out of a piece of it."""
    yield from _Page(text).lines(source)


class _Page:
    """The state of a page while it is read: what stands in the paragraph, and what the page is called."""

    def __init__(self, text: Text) -> None:
        self.text, self.name = text, ""
        self.words: list[str] = []
        self.glue = False
        self.spaced = self.begun = True
        self.literal = 0
        self.synopsis = False
        self.bibliography = False
        self.hidden = False

    def lines(self, source: str) -> Iterator[str]:
        """The page, a paragraph or a line of a display at a time."""
        for line in source.split("\n"):
            if self.hidden:
                self.hidden = not line.startswith("..")
            elif line[:1] not in (".", "'"):
                self.add(self.text(line))
                if self.literal:
                    yield from self.flush(keep=True)
                elif not line.strip():
                    yield from self.flush()
                    yield ""
            else:
                yield from self.request(*self.parsed(line))
        yield from self.flush()

    @staticmethod
    def parsed(line: str) -> tuple[str, list[tuple[str, bool]]]:
        """The name of a macro line and its arguments, each with whether it was quoted."""
        line = re.sub(r'\\".*', "", line[1:]).strip()
        name, _, rest = line.partition(" ")
        found = _ARGUMENT.finditer(rest)
        return name, [((one[1] or "").replace('""', '"'), True) if one[2] is None else (one[2], False) for one in found]

    def request(self, name: str, given: list[tuple[str, bool]]) -> Iterator[str]:
        """A macro line."""
        shown = " ".join(self.text(one) for one, _ in given)
        if name in ("de", "ig", "am"):
            self.hidden = True
        elif name in ("Sh", "Ss"):
            yield from self.flush()
            self.literal, self.synopsis = 0, shown.upper() == "SYNOPSIS"
            yield "\n" + shown
        elif name in ("D1", "Dl"):
            yield from self.flush()
            self.run(given)
            yield from self.flush()
        elif name in _BREAKS:
            yield from self.flush()
            self.literal += (name == "Bd" and any(one in ("-literal", "-unfilled") for one, _ in given)) or (name == "Bd" and self.literal > 0)
            self.literal -= name == "Ed" and self.literal > 0
            self.bibliography = name == "Rs"
            if name in ("Pp", "Lp", "PP", "sp"):
                yield ""
        elif name == "It":
            yield from self.flush()
            self.run(given)
            yield from self.flush(keep=bool(given))
        elif name == "Sm":
            # The first word after it stands apart still.
            self.spaced, self.begun = shown != "off", shown != "off"
        elif name == "Nd":
            self.add("–")
            self.run(given)
        elif name == "Ex":
            self.add(f"The {shown.removeprefix('-std').strip() or self.name} utility exits 0 on success, and >0 if an error occurs.")
        elif name == "Rv":
            self.add(
                "Upon successful completion, the value 0 is returned; otherwise the value -1 is returned and errno is set to indicate the error."
            )
        elif name.startswith("%"):
            self.add(shown + ("," if self.bibliography else ""))
        elif name in _CALLABLE:
            if self.synopsis and name in ("Nm", "In", "Ft", "Fn", "Fo"):
                yield from self.flush()
                self.add("#include" if name == "In" else "")
            self.run([(name, False), *given])
            if self.literal:
                yield from self.flush(keep=True)

    def add(self, word: str) -> None:
        """A word, after a blank unless what precedes it binds it."""
        if not word and not self.literal:
            return
        if (self.glue or not self.spaced) and self.words and self.begun:
            self.words[-1] += word
        else:
            self.words.append(word)
        self.glue, self.begun = False, True

    def attach(self, word: str) -> None:
        """A word right behind the one before it."""
        self.glue = True
        self.add(word)

    def flush(self, keep: bool = False) -> Iterator[str]:
        """Ends the paragraph, or with `keep` the line."""
        if self.words:
            line = " ".join(self.words)
            yield line if keep and self.literal else line.strip()
        self.words, self.glue = [], False

    def run(self, given: list[tuple[str, bool]]) -> None:
        """Arguments of which some are macros."""
        at = 0
        while at < len(given):
            word, quoted = given[at]
            at += 1
            if not quoted and word in _CALLABLE:
                at = self.macro(word, given, at)
            else:
                self.word(word, "")

    def word(self, word: str, mark: str) -> None:
        """An argument; `mark` stands before one that is no punctuation."""
        if word in _CLOSING:
            self.attach(word)
        elif word in _OPENING:
            self.add(word)
            self.glue = True
        else:
            self.add((mark if word not in _MIDDLE else "") + self.text(word))

    def macro(self, name: str, given: list[tuple[str, bool]], at: int) -> int:
        """A macro among arguments; gives the place behind those that it has taken."""
        if name in _PAIRS:
            end = len(given)
            while end > at and given[end - 1][0] in _CLOSING:
                end -= 1
            self.add(_PAIRS[name][0])
            self.glue = True
            self.run(given[at:end])
            self.attach(_PAIRS[name][1])
            return end
        if name in _OPENS:
            self.add(_OPENS[name])
            self.glue = True
            return at
        if name in _CLOSES:
            self.attach(_CLOSES[name])
            return at
        if name in ("Ns", "Ap", "Pf", "Xo", "Xc", "Ta"):
            return self.spacing(name, given, at)
        end = at
        while end < len(given) and (given[end][1] or given[end][0] not in _CALLABLE):
            end += 1
        self.plain(name, [word for word, _ in given[at:end]], end < len(given))
        return end

    def spacing(self, name: str, given: list[tuple[str, bool]], at: int) -> int:
        """A macro that says how words stand beside each other."""
        if name == "Ap":
            self.attach("'")
        elif name == "Pf" and at < len(given):
            self.word(given[at][0], "")
            at += 1
        elif name == "Ta":
            self.add("\t")
        self.glue = name in ("Ns", "Ap", "Pf")
        return at

    def plain(self, name: str, words: list[str], followed: bool) -> None:
        """A macro that sets its arguments as text of some kind."""
        said = [word for word in words if word not in _CLOSING | _OPENING | _MIDDLE]
        rest = words[len(words) - next((at for at, word in enumerate(reversed(words)) if word not in _CLOSING), len(words)) :]
        whole = [self.text(word) for word in words[: len(words) - len(rest)]]
        if name == "Nm":
            self.name = self.name or " ".join(whole)
            words = words if said else [self.name, *words]
        if name == "An" and words[:1] in (["-split"], ["-nosplit"]):
            return
        if name == "Fl" and not said:
            self.add("-")
            self.glue = followed
        elif not said and name in _DEFAULT:
            words = [_DEFAULT[name], *words]
        made = self._composed(name, whole) if said or name in _SYSTEMS else None
        if made is not None:
            self.add(made)
            words = rest
        for word in words:
            self.word(word, "-" if name == "Fl" else "")

    @staticmethod
    def _composed(name: str, whole: list[str]) -> str | None:
        """What a macro makes of its arguments together, None where each stands by itself."""
        if name == "Xr":
            return whole[0] + (f"({whole[1]})" if len(whole) > 1 else "")
        if name in ("Fn", "Fo"):
            return f"{whole[0]}({', '.join(whole[1:])}" + (")" if name == "Fn" else "")
        if name == "Lk":
            return f"{' '.join(whole[1:])}: {whole[0]}" if len(whole) > 1 else whole[0]
        if name == "In":
            return f"<{whole[0]}>"
        if name == "St":
            key = whole[0].removeprefix("-")
            return _STANDARDS.get(key, _STANDARDS["p1003.1"].replace("1003.1 ", f"{key[1:]} ") if key.startswith("p1003") else key)
        if name in _SYSTEMS:
            system = _SYSTEMS[name]
            return (" ".join([whole[0] + system, *whole[1:]]) if name == "Bx" and whole else " ".join([system, *whole])).strip()
        return None
