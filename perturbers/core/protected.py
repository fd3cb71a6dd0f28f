r"""What no perturber may touch, whatever its rate, style or mode, and whether or not anything labels it: tokens that programs read.

- structural tokens of corpora: ``__eou__``, ``<unconvertable>``, ``<tag>``, and placeholders: ``[restaurant_name]``, ``[your full name]``,
  ``{{name}}``, ``{% if x %}``, ``<<NAME>>``, ``%%DATE%%``, ``【姓名】``, ``${x}``, ``%s``;
- control tokens of agents: ``###STOP###``, ``<|endoftext|>``, ``[DONE]``, ``<0x0A>``, and commands: ``/reset``, ``!help``;
- identifiers: whatever has an underscore, an ``@``, digits among letters or a path in it (``mia_li_3668``, ``A1B2``, ``/usr/bin``, ``--flag``);
- record locators: five to eight capitals and digits on their own in a turn that isn't written in capitals ("ZFA04K", "QHRTWX");
- e-mail and web addresses, host names, IP addresses, UUIDs;
- code: spans in backticks and between tags of code, JSON objects and arrays, XML elements;
- emoji sequences, joined ones too; and words with combining marks, whose letters would come apart if they were cut anywhere.

Every perturber sees them in its `View` (`structural`, a part of `protected` and `guarded`), and `checks.certify` refuses a variant that lost one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from dialmill.perturbers.core.graphemes import EMOJI, FLAG, HAN, JAMO, JOINERS, MARKS, TAIL

#: Endings of host and file names; without one of them a full stop inside a word is a missing blank.
_ENDINGS = (
    "com|org|net|edu|gov|io|co|uk|de|fr|eu|cn|info|biz|app|dev|ai|us|py|js|txt|json|csv|html?|pdf|png|jpe?g|gif|svg|zip|tar|t?gz|bz2|xz|rar|7z|deb|rpm|"
    "museum|travel|online|shop|store|site|tech|xyz|ly|tv|cc|gg|ru|jp|kr|es|nl|ch|br|ca|au|pl|se|cz|nz|hk|tw|sg|"
    "iso|conf|cfg|ini|log|sh|bat|exe|dll|md|ya?ml|toml|xml|cpp|java|php|sql|docx?|xlsx?|pptx?|mp[34]|wav|mkv|avi"
)
#: What must stand in a text for any of the patterns to match; most turns have none of it, and cost one search.
_ANY = re.compile(
    r"![A-Za-z]|[(]at[)]|[\u3010\u2581]|:\S*[:/?;]|"
    rf"[_@#<>\[\]{{}}`\\/|~^$%&*=]|--\w|\w-\d|[^\W\d_]\d|\d[^\W\d_]|[A-Z0-9]{{5}}|\w\.\w|\w\(\)|"
    rf"(?<!\S)-[A-Za-z]|(?::[0-9A-Fa-f]{{0,4}}){{3}}|[{EMOJI}{MARKS}{JOINERS}{JAMO}]"
)

#: What a path goes on with that has Chinese in it: up to a blank or a mark of punctuation.
_PATH = r"[^\s<>\uff0c\u3002\uff1b\uff01\uff1f\u3001\uff09\u300b\u201d\uff1a]"

# What may stand anywhere in a run of letters is bounded in length: else it would be looked for from each of a long token's characters to its end.
_PATTERN = re.compile(
    rf"""
    ```.*?(?:```|\Z)                                         # fenced code
  | (?<![^\n])~~~[^\n~]*\n.*?(?:~~~|\Z)                         # fenced code in the other way
  | <(code|pre|script|kbd|samp|tt)\b[^<>\n]{{0,200}}>.{{0,2000}}?</\1>      # code between tags
  | ``.{{1,400}}?``                                             # a code span with a backtick in it
  | `[^`\n]+`                                                # a code span
  | \{{%.{{0,200}}?%\}} | \{{\d{{1,3}}\}} | \{{{{3}}.{{0,400}}?\}}{{3}} # {{% if x %}}, {{0}}, {{{{{{raw}}}}}}
  | <</?[^\W\d][^<>\n]{{0,100}}>> | %%[^\W\d]\w*%% | @@[^\W\d]\w*@@ | \u3010[^\u3010\u3011\n]{{1,40}}\u3011  # <<NAME>>, %%DATE%%
  | \{{\{{.{{0,400}}?\}}\}} | \$\{{[^{{}}\s]*\}}                           # {{{{name}}}}, ${{x}}
  | \{{\s*"(?:[^{{}}\n]|\{{(?:[^{{}}\n]|\{{[^{{}}\n]*\}})*\}})*\}} | \[\s*["{{][^\[\]\n]*\]   # a JSON object or array
  | <[|\uff5c][^|\uff5c<>\n]*[|\uff5c]> | <0x[0-9A-Fa-f]{{2}}> | \u2581+\w*
  | </?[A-Za-z][^<>\n]{{0,200}}> | <[^\W\d]\w*>      # <|endoftext|>, <b class="x">, <unconvertable>
  | \[\[[^\[\]\n]*\]\] | \[/?\$?[^\W\d][\w.:/'’,-]*(?:[ ][\w.:/'’,-]{{1,40}}){{0,5}}\]         # [restaurant_name], [your full name]
  | \{{[^\W\d][\w.:-]*(?:[ ][\w.:/'’-]{{1,40}}){{0,5}}\}}                             # {{name}}
  | [A-Za-z]\w{{0,63}}\#\d+(?!\w) | (?<![|=\w])(?:\|{{2,}}|={{2,}})(?![|=\w])             # speaker#1, |||
  | \#{{2,}}[\w-]*(?:\#+)? | \#\w+(?:[-.]\w+)*                    # ###STOP###, #channel
  | [A-Za-z][A-Za-z0-9+.-]{{0,31}}://(?:[!#-&(-;=?-~]*_\([\w.,-]{{1,64}}\)(?![\w/])
      | [!#-&(-;=?-~]*[A-Za-z0-9/=&\#%_-](?:(?<=[/=])[{HAN}]{_PATH}*)? | [{HAN}]{_PATH}*)
  | (?<![\w.])www\.[!#-&(-;=?-~]*[A-Za-z0-9/=&\#%_-]
  | (?<!\w)(?:magnet|data|urn|sip|spotify|geo|doi|blob|view-source|javascript):(?=\S*[:/?;=.])[!#-&(-;=?-~]*[A-Za-z0-9/=&\#%_-]
  | (?:mailto:)?[^\W{HAN}](?:[^\W{HAN}]|[.+%'’-]){{0,63}}@[\w-]+(?:\.[\w-]+)*(?::[\w.-]+(?:/[\w.-]+)+)?    # an e-mail address, git@host:a/b.git
  | (?<!\w)[A-Za-z0-9][\w.+-]{{0,63}}[ ]?[(\[]at[)\]][ ]?[\w-]+(?:[ ]?(?:\.|[(\[]dot[)\]])[ ]?[\w-]+)+
  | (?<!\w)@[\w.-]*\w                                           # a mention
  | (?<![\w.])(?:[A-Za-z0-9-]{{1,63}}\.)+(?:{_ENDINGS})(?:/[!#-&(-;=?-~]*[A-Za-z0-9/=&\#%_-])?(?!\w)
  | (?<![\w.])(?:[A-Za-z0-9-]{{1,63}}\.)+[a-z]{{2,24}}/[!#-&(-;=?-~]*[A-Za-z0-9/=&\#%_-]     # bit.ly/3xYzAbC
  | (?<![^\s\uff0c])[/!][A-Za-z][\w-]*(?![\w/])                      # /reset, !help
  | (?<![\w.])10\.\d{{4,9}}/[\w.()/-]*\w                               # a DOI
  | (?<![\w/])(?:~|\.{{1,2}})?(?:/[\w.+-]+){{2,}}/? | (?<![\w/.])\.{{1,2}}/[\w.+/-]+
  | (?<![\w/])~/[\w./+-]* | (?<!\w)[A-Za-z]:\\[^\s<>"|?*]+      # paths
  | (?<!\w)\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d+)?(?!\w)                # an IP address
  | (?<![\w:])[0-9A-Fa-f]{{0,4}}(?::[0-9A-Fa-f]{{0,4}}){{3,7}}(?![\w:])      # an IPv6 or hardware address
  | (?<!\w)\d{{4}}-\d\d-\d\d[T_]\d\d:?\d\d[\d:.Z+-]*                  # a time stamp
  | (?<![\w.])v\d+(?:\.\d+)+[\w.-]*(?<=\w)                            # v1.2.3
  | (?<!\w)[A-Za-z_][\w.]{{0,127}}\(\) | (?<!\w)[A-Za-z][\w.]{{0,127}}_\w{{0,63}}\([^()\n]*\)   # a call
  | (?<!\w)[0-9A-Fa-f]{{8}}(?:-[0-9A-Fa-f]{{4}}){{3}}-[0-9A-Fa-f]{{12}}(?!\w)
  | (?<![\w-])--[A-Za-z][\w-]*(?:=[^\s]+)?(?<=\w) | (?<![\w-])-[A-Za-z]{{1,3}}(?:=[^\s]+)?(?!\w)(?<=\w)    # --flag, -x=1
  | (?<!\w)%(?:\(\w+\))?[sdfrx](?!\w) | (?<!\w)\$[A-Za-z_]\w* | &(?:\#\d+|\#x[0-9A-Fa-f]+|[a-z]+);
  | (?<![\w'’])[^\W_]*_+\w(?:[\w.-]*\w)?(?!\w) | (?<![\w'’])\w+_+(?!\w)     # an identifier with an underscore
  # digits among letters: A1B2, TR2635, B-12; not "4-star"
  | (?<![\w'’-])(?=[A-Za-z0-9-]*[A-Za-z])(?=[A-Za-z0-9-]*\d)(?!\d+(?:-[a-z]+)+(?!\w))[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![\w'’])
  | (?:(?:[{FLAG}]{{2}}|[{EMOJI}]|[0-9\#*]\ufe0f?\u20e3)[{TAIL}]*(?:\u200d[{EMOJI}][{TAIL}]*)*)+    # a run of them is one
  # a word with combining marks or joined letters; Chinese has no blanks between words, so there the character alone
  | [^\W{HAN}]{{0,63}}(?:[^\W{HAN}][{MARKS}{JOINERS}]+|[{JAMO}])+(?:[^\W{HAN}]|[{MARKS}{JOINERS}])* | [{HAN}][{MARKS}{JOINERS}]+
    """,
    re.VERBOSE | re.DOTALL,
)
_LOCATOR = re.compile(r"(?<![\w'’-])[A-Z0-9]{5,8}(?![\w'’-])")
#: Digits with a word that people write behind them: a time, an ordinal, a measure; these are values, which the value classes look after.
_NUMBER_WORD = re.compile(
    r"\d+(?:am|pm|a|p|st|nd|rd|th|hrs?|h|m|min|mins|k|km|gb|mb|star|stars|pax|ppl|nights?|days?|x|s)|\d{1,2}h[0-5]\d", re.IGNORECASE
)
#: Options after a dash need a shell-like look: "-x", "--flag"; a dash between words is punctuation.
_OPTION = re.compile(r"--?[A-Za-z]")


@lru_cache(maxsize=4096)
def ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Where protected tokens stand in a text, as sorted disjoint (start, end) in code points.

    The same for every language: programs' tokens are not words of any.
    """
    if _CHINESE.search(text) is None:
        return tuple(_found(text, any(char.islower() for char in text)))
    # Chinese has no blanks between words: beside a token it is no letter of it, and only in brackets and behind a sign it is part of one.
    found = _found(_CHINESE.sub("\uff0c", text), True)
    if _WITH_CHINESE.search(text) is not None:
        own = [match for match in _PATTERN.finditer(text) if _WITH_CHINESE.match(match.group()) is not None]
        found += [match.span() for match in own if _CHINESE.search(match.group()) is not None and match.end() > match.start()]
        found = _joined(found)
    return tuple(found)


#: What a token that holds Chinese begins with: a bracket or a sign, or a character with a mark.
_WITH_CHINESE = re.compile(rf"[\[<{{$#`%~\u3010]|[A-Za-z][A-Za-z0-9+.-]{{0,31}}://|[\w.+%-]{{1,64}}@[{HAN}]|[{HAN}][{MARKS}{JOINERS}]")
_CHINESE = re.compile(f"[{HAN}]")


def _found(text: str, locators: bool) -> list[tuple[int, int]]:
    """The tokens of a text, in order; `locators` tells whether capitals and digits on their own are one."""
    if _ANY.search(text) is None:
        return []
    found = [match.span() for match in _PATTERN.finditer(text) if match.end() > match.start() and not _NUMBER_WORD.fullmatch(match.group())]
    if locators:
        for match in _LOCATOR.finditer(text):
            if any(char.isupper() for char in match.group()) and not any(start < match.end() and match.start() < end for start, end in found):
                found.append(match.span())
        found.sort()
    return found


def _joined(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that overlap as one."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


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
