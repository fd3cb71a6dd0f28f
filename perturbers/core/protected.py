r"""What no perturber may touch, whatever its rate, style or mode, and whether or not anything labels it: tokens that programs read.

- structural tokens of corpora: ``__eou__``, ``<unconvertable>``, ``[restaurant_name]``, ``{{name}}``, ``<tag>``, ``${x}``, ``%s``;
- control tokens of agents: ``###STOP###``, ``<|endoftext|>``, ``[DONE]``;
- identifiers: whatever has an underscore, an ``@``, digits among letters or a path in it (``mia_li_3668``, ``A1B2``, ``/usr/bin``, ``--flag``);
- record locators: five to eight capitals and digits on their own in a turn that isn't written in capitals ("ZFA04K", "QHRTWX");
- e-mail and web addresses, host names, IP addresses, UUIDs;
- code: spans in backticks, JSON objects and arrays, XML elements;
- emoji sequences, joined ones too; and words with combining marks, whose letters would come apart if they were cut anywhere.

Every perturber sees them in its `View` (`structural`, a part of `protected` and `guarded`), and `checks.certify` refuses a variant that lost one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

#: Combining marks, joiners and variation selectors: they belong to the character before them.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
)
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u25fe\u2600-\u27bf\u2934\u2935\u2b05-\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
_TAIL = "\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"

#: Endings of host and file names; without one of them a full stop inside a word is a missing blank.
_ENDINGS = "com|org|net|edu|gov|io|co|uk|de|fr|eu|cn|info|biz|app|dev|ai|us|py|js|txt|json|csv|html?|pdf|png|jpe?g|zip|deb|conf|log|sh|exe"
#: What must stand in a text for any of the patterns to match; most turns have none of it, and cost one search.
_ANY = re.compile(rf"[_@#<>\[\]{{}}`\\/|~^$%&*=]|--\w|\w-\d|[^\W\d_]\d|\d[^\W\d_]|[A-Z0-9]{{5}}|\w\.\w|[{_EMOJI}{MARKS}\u200d\ufe0f\u20e3]")

_PATTERN = re.compile(
    rf"""
    ```.*?(?:```|\Z)                                         # fenced code
  | `[^`\n]+`                                                # a code span
  | \{{\{{.*?\}}\}} | \$\{{[^{{}}\s]*\}}                           # {{{{name}}}}, ${{x}}
  | \{{\s*"(?:[^{{}}\n]|\{{(?:[^{{}}\n]|\{{[^{{}}\n]*\}})*\}})*\}} | \[\s*["{{][^\[\]\n]*\]   # a JSON object or array
  | <\|[^|<>\n]*\|> | </?[A-Za-z][^<>\n]{{0,200}}> | <[^\W\d]\w*>      # <|endoftext|>, <b class="x">, <unconvertable>
  | \[/?[^\W\d][\w.:-]*\] | \{{[^\W\d][\w.:-]*\}}                  # [restaurant_name], {{name}}
  | \#{{2,}}[\w-]*(?:\#+)? | \#\w+(?:[-.]\w+)*                    # ###STOP###, #channel
  | [A-Za-z][A-Za-z0-9+.-]*://[!#-&(-;=?-~]*[A-Za-z0-9/=&\#%_-] | (?<![\w.])www\.[!#-&(-;=?-~]*[A-Za-z0-9/=&\#%_-]
  | [A-Za-z0-9_][\w.+%-]*@[\w-]+(?:\.[\w-]+)+                     # an e-mail address
  | (?<!\w)@[\w.-]*\w                                           # a mention
  | (?<![\w.])(?:[A-Za-z0-9-]+\.)+(?:{_ENDINGS})(?:/[!#-&(-;=?-~]*[A-Za-z0-9/=&\#%_-])?(?!\w)
  | (?<![\w/])(?:~|\.{{1,2}})?(?:/[\w.+-]+){{2,}}/? | (?<![\w/])~/[\w./+-]* | (?<!\w)[A-Za-z]:\\[^\s<>"|?*]+      # paths
  | (?<!\w)\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d+)?(?!\w)                # an IP address
  | (?<!\w)[0-9A-Fa-f]{{8}}(?:-[0-9A-Fa-f]{{4}}){{3}}-[0-9A-Fa-f]{{12}}(?!\w)
  | (?<![\w-])--?[A-Za-z][\w-]*(?==|\b)(?:=[^\s]+)? (?<=\w)          # --flag, -x=1
  | (?<!\w)%(?:\(\w+\))?[sdfrx](?!\w) | (?<!\w)\$[A-Za-z_]\w* | &(?:\#\d+|\#x[0-9A-Fa-f]+|[a-z]+);
  | (?<![\w'’])[^\W_]*_+\w(?:[\w.-]*\w)?(?!\w) | (?<![\w'’])\w+_+(?!\w)     # an identifier with an underscore
  # digits among letters: A1B2, TR2635, B-12; not "4-star"
  | (?<![\w'’-])(?=[A-Za-z0-9-]*[A-Za-z])(?=[A-Za-z0-9-]*\d)(?!\d+(?:-[a-z]+)+(?!\w))[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![\w'’])
  | (?:[{_EMOJI}]|[0-9\#*]\ufe0f?\u20e3)[{_TAIL}]*(?:\u200d[{_EMOJI}][{_TAIL}]*)*
  | \w*(?:\w[{MARKS}\u200d]+)+[\w{MARKS}\u200d]*                    # a word with combining marks
    """,
    re.VERBOSE | re.DOTALL,
)
_LOCATOR = re.compile(r"(?<![\w'’-])[A-Z0-9]{5,8}(?![\w'’-])")
#: Digits with a word that people write behind them: a time, an ordinal, a measure; these are values, which the value classes look after.
_NUMBER_WORD = re.compile(r"\d+(?:am|pm|a|p|st|nd|rd|th|hrs?|h|m|min|mins|k|km|gb|mb|star|stars|pax|ppl|nights?|days?|x|s)", re.IGNORECASE)
#: Options after a dash need a shell-like look: "-x", "--flag"; a dash between words is punctuation.
_OPTION = re.compile(r"--?[A-Za-z]")


@lru_cache(maxsize=4096)
def ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Where protected tokens stand in a text, as sorted disjoint (start, end) in code points.

    The same for every language: programs' tokens are not words of any.
    """
    if _ANY.search(text) is None:
        return ()
    found = [match.span() for match in _PATTERN.finditer(text) if match.end() > match.start() and not _NUMBER_WORD.fullmatch(match.group())]
    if any(char.islower() for char in text):
        for match in _LOCATOR.finditer(text):
            if any(char.isupper() for char in match.group()) and not any(start < match.end() and match.start() < end for start, end in found):
                found.append(match.span())
        found.sort()
    return tuple(found)


def touches(places: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether an edit of [start, end) changes one of these places; an insertion (start == end) may stand at an edge of one."""
    return any(a < end and start < b for a, b in places)


def lost(before: str, after: str, places: Sequence[tuple[int, int]] | None = None) -> str | None:
    """The first protected token of `before` that stands fewer times in `after`, None where all are there. `places` are where to look for tokens, in
    place of `ranges`: the values of a guarded turn, say."""
    if places is None:
        places = ranges(before)
    if not places:
        return None
    for token, count in Counter(before[start:end] for start, end in places).items():
        if after.count(token) < count:
            return token
    return None
