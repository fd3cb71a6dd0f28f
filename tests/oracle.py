"""A second opinion on variants: a checker that shares no code with the locator and the checks of `perturbers`.

Given a dialogue and its variant it reports damaged values, spans that don't fit, and edits that don't lead from the source to the variant.
Everything is computed here, by plain regular expressions.
"""

from __future__ import annotations

import re
from functools import lru_cache

from schemas import Dialogue, Turn

#: Labels that stand for no words of a text.
_NO_WORDS = {"", "?", "yes", "no", "none", "dontcare", "not mentioned", "是", "否", "无"}


@lru_cache(maxsize=65536)
def _pattern(value: str) -> re.Pattern[str]:
    """The value at token boundaries: no letter or digit beside a Latin letter or digit, and no "7" inside "17:30" or "7.5"."""
    body = r"\s*".join(re.escape(char) for char in value if not char.isspace()) if not value.isascii() else re.escape(value)
    before = r"(?<![A-Za-z0-9])(?<!\d[:.,])" if re.match(r"[A-Za-z0-9]", value) else ""
    after = r"(?![A-Za-z0-9])(?![:.,]\d)" if re.search(r"[A-Za-z0-9]$", value) else ""
    return re.compile(before + body + after, re.IGNORECASE)


def damaged_values(source: Turn, variant: Turn) -> list[str]:
    """Values that stand in the source's text and stand less often, or not to the byte, in the variant's."""
    values = {span.text for span in source.spans if span.text is not None}
    values |= {value for cell in source.state for value in cell.values}
    values |= {act.value for act in source.acts if act.value is not None}
    problems = []
    for value in sorted(values):
        if value.strip().lower() in _NO_WORDS:
            continue
        surfaces = _pattern(value).findall(source.utterance)
        kept = _pattern(value).findall(variant.utterance)
        problems += [f"{surface!r} of {value!r} is damaged" for surface in sorted(set(surfaces)) if kept.count(surface) < surfaces.count(surface)]
    return problems


def misaligned_spans(source: Turn, variant: Turn) -> list[str]:
    """Spans of the variant that are not exact, or whose status doesn't say what happened."""
    if len(source.spans) != len(variant.spans):
        return [f"{len(source.spans)} spans became {len(variant.spans)}"]
    problems = []
    for old, new in zip(source.spans, variant.spans, strict=True):
        if (old.domain, old.slot, old.value) != (new.domain, new.slot, new.value):
            problems.append(f"{old} has other labels: {new}")
        elif new.start is None or new.end is None or new.text is None:
            if (new.start, new.end, new.text, new.status) != (None, None, None, "lost"):
                problems.append(f"{new} is half lost")
        elif new.status == "lost" or variant.utterance[new.start : new.end] != new.text or not new.text:
            problems.append(f"{new} does not match {variant.utterance!r}")
        elif (new.text == old.text) != (new.status == old.status):
            problems.append(f"{new} says {new.status}, its text was {old.text!r}")
    return problems


def unreverted_edits(source: Turn, variant: Turn) -> list[str]:
    """Whether the variant's edits lead from the source's text to the variant's, and taking them back restores the source."""
    original = variant.utterance if variant.original is None else variant.original
    if original != source.utterance:
        return [f"the original is {original!r}, the source {source.utterance!r}"]
    forth, back, reached = "", [], 0
    for edit in variant.edits:
        if edit.start < reached:
            return [f"{edit} overlaps the edit before it"]
        forth += original[reached : edit.start]
        back.append((len(forth), len(edit.replacement), original[edit.start : edit.end]))
        forth += edit.replacement
        reached = edit.end
    forth += original[reached:]
    if forth != variant.utterance:
        return [f"the edits give {forth!r}, not {variant.utterance!r}"]
    text = variant.utterance
    for start, size, old in reversed(back):
        text = text[:start] + old + text[start + size :]
    return [] if text == source.utterance else [f"the edits taken back give {text!r}"]


def problems(source: Dialogue, variant: Dialogue, protect: bool = True) -> list[str]:
    """Everything wrong with `variant` as a perturbed copy of the unperturbed `source`; damaged values only where they are protected."""
    if len(source.turns) != len(variant.turns):
        return [f"{variant.dialogue_id}: {len(source.turns)} turns became {len(variant.turns)}"]
    found = []
    for old, new in zip(source.turns, variant.turns, strict=True):
        seen = misaligned_spans(old, new) + unreverted_edits(old, new) + (damaged_values(old, new) if protect else [])
        if (old.acts, old.state, old.speaker, old.turn) != (new.acts, new.state, new.speaker, new.turn):
            seen.append("the labels changed")
        if protect:
            seen += [f"{span} is not kept" for was, span in zip(old.spans, new.spans, strict=False) if span.status != was.status]
        found += [f"{variant.dialogue_id} turn {old.turn}: {problem}" for problem in seen]
    return found
