"""Homophones are characters that people write: none of wrongly decoded text, which the dictionary that the table is computed from counts as well."""

from __future__ import annotations

from itertools import product

from dialmill.perturbers.speech.confusion import load
from dialmill.perturbers.typing import homophones

#: Frequent characters; what stands in their place where UTF-8 is read as GBK is in the dictionary by the thousand.
_FREQUENT = "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"


def _wrongly_decoded() -> set[str]:
    made: set[str] = set()
    for one, other in product(_FREQUENT, repeat=2):
        made.update((one + other).encode("utf-8").decode("gbk", "ignore"))
    return made


def test_no_character_of_wrongly_decoded_text_is_written() -> None:
    table = homophones.table()
    wrong = _wrongly_decoded()
    assert {"涓", "杩", "浠"} <= wrong
    words = {character for text in table.sounds if len(text) > 1 for character in text}
    rare = {text for text in table.sounds if len(text) == 1 and text.encode("gb2312")[0] >= 0xD8}
    assert rare <= words
    assert not rare & wrong & set("涓杩浠璇浣澶涔宸棣浜锛璋鏄鐨鍙紝")


def test_none_is_heard_either() -> None:
    hearing = load("auto", "zh")._hearing
    heard = {one.text for said in ("帮", "选", "换", "吗", "希", "陈", "地", "产", "卷") for one in hearing.near(said, False)}
    assert heard
    assert not heard & set("浜璇浣杩浠宸棣澶涓")
