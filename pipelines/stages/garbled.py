"""Text that was decoded wrongly, by what it leaves: UTF-8 read as Windows-1252, Latin-1 or GBK, GBK read as Latin-1, characters that couldn't be read
at all, and escapes that nobody undid.

A stretch of odd characters is garbled where, written back in the encoding that it was read in, it is valid text in the other one. That is so of no
word by chance: a byte that begins a character of UTF-8 must be followed by so many of another range.
"""

from __future__ import annotations

import re

#: The sign for what can't be read, what it becomes when UTF-8 is read as GBK, uninitialised memory read as GBK, characters that stand in Chinese text
#: for the first bytes of punctuation only, and GBK's quotation marks and accents read as Latin-1.
_SIGNS = re.compile("\ufffd|锟|烫烫烫|屯屯屯|[鈥銆锛]|¡[¯°±®ª«¶·]|¨[¦¤ª¬¯²¸¹]")
#: Runs of what bytes from 0x80 on become in Windows-1252 (with the gaps that Latin-1 fills).
_HIGH = "\u0080-\u00ff€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_HIGH_RUN = re.compile(f"[{_HIGH}]{{2,}}")
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
#: Quotation marks, dashes and dots: as such they stand behind a letter with an accent.
_TYPOGRAPHIC = frozenset("‘’“”…–—•")
#: Runs of what GBK makes of bytes from 0x80 on.
_WIDE_RUN = re.compile("[\u2010-\u2642\u3000-\u33ff\u3400-\u9fff\ue000-\uffef]{2,}")
_UTF8_WIDE = re.compile(rb"(?:[\xe2-\xe9\xef][\x80-\xbf]{2}){3,}")
#: One or two Chinese characters by themselves: "caf茅" was "café", "拢5" was "£5".
_ALONE = re.compile("(?<![\u4e00-\u9fff])[\u4e00-\u9fff]{1,2}(?![\u4e00-\u9fff])")
#: Two characters in escapes, and references of HTML that were left as they are.
_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4}){2,}|(?:\\x[0-9a-fA-F]{2}){2,}|&(?:amp;)?(?:#x?[0-9a-fA-F]{2,5}|quot|nbsp|apos|amp|lt|gt);")
_BY_CHARACTER = {bytes([byte]).decode("cp1252", "ignore") or chr(byte): byte for byte in range(0x80, 0x100)} | {
    chr(byte): byte for byte in range(0x80, 0x100)
}


def garbled(text: str, language: str) -> str:
    """The first stretch of a text that was decoded wrongly; "" where none was."""
    if text.isascii():
        return ""
    found = _SIGNS.search(text)
    if found:
        return found[0]
    for run in _HIGH_RUN.finditer(text):
        if _narrow(run[0], text[: run.start()]):
            return run[0]
    for run in _WIDE_RUN.finditer(text):
        if _wide(run[0]):
            return run[0]
    # In Chinese a character may stand by itself: "有wifi么".
    for run in _ALONE.finditer(text) if language != "zh" else ():
        if all("\u00a0" <= char <= "\u00ff" for char in run[0].encode("gb18030").decode("utf-8", "replace")):
            return run[0]
    return ""


def escaped(text: str) -> str:
    """The first escapes in a text that nobody undid ("&amp;", "\\u4f60\\u597d"); "" where there are none."""
    found = _ESCAPES.search(text) if "&" in text or "\\" in text else None
    return found[0] if found else ""


def _narrow(run: str, before: str) -> bool:
    """Whether a run of characters of Windows-1252 is UTF-8 or GBK that was read so; in capitals "MANHÃ”" may end a quotation."""
    data = bytes(_BY_CHARACTER[char] for char in run)
    found = list(_UTF8.finditer(data))
    sure = len(found) > 1 and sum(len(one[0]) for one in found) >= 0.8 * len(data)
    for one in found:
        trail = run[one.start() + 1 : one.end()]
        two_bytes = one[0][0] in (0xC2, 0xC3) and not (trail in _TYPOGRAPHIC and (before + run[: one.start()])[-1:].isupper())
        # "â€" and "â‚" are what quotation marks and the sign of the euro become.
        longer = len(one[0]) > 2 and (one[0][:2] in (b"\xe2\x80", b"\xe2\x82") or not _TYPOGRAPHIC.issuperset(trail))
        if sure or two_bytes or longer:
            return True
    return len(run) >= 4 and all(char > "\u00a0" for char in run) and _is_han(data, "gbk")


def _wide(run: str) -> bool:
    """Whether a run of wide characters is UTF-8 that was read as GBK."""
    data = run.encode("gb18030", "ignore")
    return _is_han(data, "utf-8") or _UTF8_WIDE.search(data) is not None


def _is_han(data: bytes, encoding: str) -> bool:
    """Whether bytes are a text in an encoding, most of it Chinese characters."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return sum("\u4e00" <= char <= "\u9fff" for char in text) > 0.5 * len(text)
