"""Labels and texts in different Unicode normal forms, in every source that has miniature data with slots."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from dialmill.pipelines.sources.spans import Claim, settle


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("labelled", ["NFC", "NFD"])
def test_a_span_is_proved_and_found_in_either_form(form: str, labelled: str, language: str) -> None:
    before, name = ("pick me up at ", "Café Noël") if language == "en" else ("我想去", "Café Noël")
    text = normalize(form, before + name + ("." if language == "en" else "。"))
    shown = normalize(form, name)
    value = normalize(labelled, name)
    place = text.index(shown)
    for start, end in ((place, place + len(shown)), (None, None), (0, 3)):
        (span,) = settle(text, [Claim("restaurant", "name", value, start, end)], language).spans
        assert span.text == shown and span.text == text[span.start : span.end]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("shown", "value"),
    [
        ("Of\ufb01ce Hotel", "office hotel"),
        ("office hotel", "of\ufb01ce hotel"),
        ("Gro\u00dfe Stra\u00dfe", "grosse strasse"),
        ("Grosse Strasse", "gro\u00dfe stra\u00dfe"),
        ("GRO\u1e9eE STRASSE", "gro\u00dfe stra\u00dfe"),
        ("\u0130stanbul Kebab", "istanbul kebab"),
        ("istanbul kebab", "\u0130STANBUL KEBAB"),
        ("\uff21\uff42\uff43 Inn", "abc inn"),
        ("\u039f\u0394\u039f\u03a3 Bar", "\u03bf\u03b4\u03bf\u03c3 bar"),
        ("Citt\u00e0 \ufb00ord", "citta\u0300 fford"),
    ],
)
def test_characters_that_fold_to_another_length_are_found_where_they_stand(shown: str, value: str, language: str) -> None:
    text = f"\u0130 wi\ufb02l take {shown}, bu\u00df \u0130t"
    (span,) = settle(text, [Claim("hotel", "name", value)], language).spans
    assert (span.text, text[span.start : span.end]) == (shown, shown)
    place = text.index(shown)
    (claimed,) = settle(text, [Claim("hotel", "name", value, place, place + len(shown))], language).spans
    assert claimed == span


def test_an_end_between_a_letter_and_its_mark_is_no_end() -> None:
    text = normalize("NFD", "the café")
    assert settle(text, [Claim("restaurant", "name", "cafe", None, None)]).spans == ()
