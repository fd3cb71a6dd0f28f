"""Word tokens with their offsets: English by one regular expression, Chinese by jieba.

Tokens never hold blanks and never overlap; what lies between them is blanks and punctuation. E-mail and web addresses, IP addresses, times,
decimal numbers, codes ("TR2635") and placeholders ("[value_area]") are one token each.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import Any

from dialmill.perturbers.core.graphemes import JOINERS, MARKS, inner_places, whole
from dialmill.perturbers.core.weights import PackagedFiles

_WHOLE = r"""
    [\[<]\w[\w.-]*[\]>]                          # [value_area], <name>
  | https?://[^\s<>"]*[\w/] | www\.[^\s<>"]*[\w/]
  | [A-Za-z0-9][\w.+-]*@[\w-]+(?:\.[\w-]+)+
  | \d+(?:[.:,/-]\d+)+[A-Za-z]*                  # 17:30, 10.0.0.7, 01223-358966, 7:30pm
"""
#: Letters and digits, marks on them included.
_WORD = rf"(?:[^\W_][{MARKS}{JOINERS}]*)+"
_ENGLISH = re.compile(
    _WHOLE
    + rf"""
  | n['’]t\b | ['’](?:s|d|m|re|ve|ll|t)\b        # clitics that a corpus has cut off: "i 'd", "does n't"
  | {_WORD}(?:['’]{_WORD})*
""",
    re.VERBOSE | re.IGNORECASE,
)
_HAN = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
_CHINESE = re.compile(_WHOLE + rf"| (?P<han>{_HAN}) | (?:(?:(?!{_HAN})[^\W_])[{MARKS}{JOINERS}]*)+(?:['’][A-Za-z]+)*", re.VERBOSE)


_JIEBA = PackagedFiles("jieba", "jieba==0.42.1", {"dict.txt": "7197c3211ddd98962b036cdf40324d1ea2bfaa12bd028e68faa70111a88e12a8"})


@lru_cache(maxsize=1)
def chinese_words() -> Any:
    """A jieba tokenizer of our own, its dictionary read from the package.

    jieba keeps its parsed dictionary in one shared file in the temporary folder, which another user or process may own or be writing; and it
    talks on stderr while it loads. Ours does neither; reading the dictionary costs about a second of CPU, once per process.

    Raises:
        WeightsRefused: the dictionary is not that of jieba 0.42.1; another one cuts texts into other words.
    """
    import jieba

    _JIEBA.checked()
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


#: How many different runs are kept at most.
KEPT_RUNS = 1 << 17


class Runs(dict[str, tuple[str, ...]]):
    """What a regular expression that matches no blanks finds in a run between blanks, filled as runs are met: most are met again soon."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        super().__init__()
        self._pattern = pattern

    def __missing__(self, run: str) -> tuple[str, ...]:
        if len(self) > KEPT_RUNS:
            self.clear()
        found = self[run] = tuple(self._pattern.findall(run))
        return found

    def findall(self, text: str) -> list[str]:
        """What the expression finds in a text, in order."""
        return list(chain.from_iterable(map(self.__getitem__, text.split())))


_RUNS = Runs(_ENGLISH)


def tokens(text: str, language: str) -> tuple[tuple[int, int], ...]:
    """The word tokens of `text` as (start, end) in code points, in order.

    `language` is "zh" for Chinese; any other gets the rule for languages that put blanks between words.
    """
    if language != "zh":
        # A look-up of each token's place costs half of a `finditer`. What lies between tokens can begin none, so that the next occurrence of a
        # token's text is the token.
        end = 0
        found: list[tuple[int, int]] = []
        for token in _RUNS.findall(text):
            start = text.find(token, end)
            end = start + len(token)
            found.append((start, end))
        return tuple(found)
    found = []
    for match in _CHINESE.finditer(text):
        if match.lastgroup != "han":
            found.append(match.span())
            continue
        start = match.start()
        for word in chinese_words().cut(match.group()):
            found.append((start, start + len(word)))
            start += len(word)
    if inner_places(text):
        # A mark on a Chinese character goes with it.
        return tuple(whole(text, start, end) for start, end in found)
    return tuple(found)
