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


def test_an_end_between_a_letter_and_its_mark_is_no_end() -> None:
    text = normalize("NFD", "the café")
    assert settle(text, [Claim("restaurant", "name", "cafe", None, None)]).spans == ()
