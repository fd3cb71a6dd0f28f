"""A second opinion on variants: a checker that shares no code with the locator and the checks of `perturbers`.

Given a dialogue and its variant it reports damaged values, spans that don't fit, and edits that don't lead from the source to the variant.
Everything is computed here, by plain regular expressions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from dialmill.schemas import Dialogue, Turn

#: Labels that stand for no words of a text.
_NO_WORDS = {"", "?", "yes", "no", "none", "dontcare", "not mentioned", "是", "否", "无"}
#: Slots whose value is the name of a domain, which stands for no place of its own.
_DOMAINS = {"源领域"}
#: Labels of "no preference".
DONTCARE = {"dontcare", "dont care", "any", "不限", "随便"}


@lru_cache(maxsize=65536)
def _pattern(value: str) -> re.Pattern[str]:
    """The value at token boundaries: no letter or digit beside a Latin letter or digit, and no "7" inside "17:30" or "7.5"."""
    body = r"\s*".join(re.escape(char) for char in value if not char.isspace()) if not value.isascii() else re.escape(value)
    before = r"(?<![A-Za-z0-9])(?<!\d[:.,])" if re.match(r"[A-Za-z0-9]", value) else ""
    after = r"(?![A-Za-z0-9])(?![:.,]\d)" if re.search(r"[A-Za-z0-9]$", value) else ""
    return re.compile(before + body + after, re.IGNORECASE)


def damaged_values(source: Turn, variant: Turn) -> list[str]:
    """Values that stand in the source's text and stand less often in the variant's, to the byte but for capitals that the turn lost."""
    # "Any day" and "doesn't matter" are words, which may be others that say so.
    values = {span.text for span in source.spans if span.text is not None and span.value not in DONTCARE and span.slot not in _DOMAINS}
    values |= {value for cell in source.state if cell.slot not in _DOMAINS for value in cell.values}
    values |= {act.value for act in source.acts if act.value is not None and act.slot not in _DOMAINS}
    problems = []
    for value in sorted(values):
        if value.strip().lower() in _NO_WORDS:
            continue
        surfaces = _pattern(value).findall(source.utterance)
        kept = _pattern(value).findall(variant.utterance)
        for surface in sorted(set(surfaces)):
            # A turn may have lost all of its capitals.
            if sum(one in (surface, surface.lower()) for one in kept) < surfaces.count(surface):
                problems.append(f"{surface!r} of {value!r} is damaged")
    return problems


def ontology(dialogues: Sequence[Dialogue], names: bool = False) -> frozenset[str]:
    """The values that users say or want anywhere in a corpus, in lower case; with `names`, those without digits alone.

    Every corpus labels a "place" or a "hotel" here and there. What users say more often than not without any label is no value. A Chinese value of
    one character is a part of too many words to be looked for.
    """
    labels = {id(turn): _labels(turn) for dialogue in dialogues for turn in dialogue.turns if turn.speaker == "user"}
    every = frozenset().union(*labels.values())
    said: Counter[str] = Counter()
    labelled: Counter[str] = Counter()
    for dialogue in dialogues:
        for turn in dialogue.turns:
            if turn.speaker == "user":
                here = set(_said(turn.utterance, every))
                said.update(here)
                labelled.update(here & labels[id(turn)])
    return frozenset(value for value in every if 2 * labelled[value] >= said[value] and not (names and re.search(r"\d", value)))


def _labels(turn: Turn) -> frozenset[str]:
    found = {span.value for span in turn.spans} | {span.text for span in turn.spans if span.text}
    found |= {act.value for act in turn.acts if act.value and act.slot} | {value for cell in turn.state for value in cell.values}
    plain = {" ".join(_tokens(value)).removeprefix("the ") for value in found if value.strip().lower() not in _NO_WORDS | {"true", "false"}}
    return frozenset(value for value in plain if len(value) > (0 if value.isascii() else 1))


#: Words, numbers with their inner signs, Chinese one character at a time, and the signs that keep what stands on both sides from being one value.
_TOKEN = re.compile(r"[a-z]+|\d+(?:[:.,]\d+)*|[^\W\d_a-z]|[.,;?!。，；？！]")


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def added_values(source: Turn, variant: Turn, values: frozenset[str]) -> list[str]:
    """The values that stand in the text of the variant more often than in that of its source, on whole tokens; not those inside a new label."""
    new = variant.utterance
    for label in sorted({span.text for span in variant.spans if span.text} - {span.text for span in source.spans}, key=len, reverse=True):
        new = new.replace(label, "\n")
    return sorted(value for value, count in (_said(new, values) - _said(source.utterance, values)).items() if count)


def _said(text: str, values: frozenset[str]) -> Counter[str]:
    tokens = _tokens(text)
    runs = (" ".join(tokens[first:last]) for first in range(len(tokens)) for last in range(first + 1, min(len(tokens), first + 12) + 1))
    return Counter(run for run in runs if run in values)


def _same_but_capitals(old: str | None, new: str | None) -> bool:
    """Whether a value is as it was, or has lost its capitals with the rest of its turn."""
    return new == old or (old is not None and new == old.lower())


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
        elif _same_but_capitals(old.text, new.text) != (new.status == old.status):
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
            seen += [
                f"{span} is not kept"
                for was, span in zip(old.spans, new.spans, strict=False)
                if span.status != was.status and not (span.value in DONTCARE and span.status == "changed")
            ]
        found += [f"{variant.dialogue_id} turn {old.turn}: {problem}" for problem in seen]
    return found


# ------------------------------------------------------------------ perturbers that change labels, or bring turns in


def own_turns(variant: Dialogue) -> Dialogue:
    """The variant without the turns that were inserted, numbered as the source is."""
    own = [turn for turn in variant.turns if "inserted" not in turn.labels]
    return variant.replace(turns=tuple(turn.replace(turn=number) for number, turn in enumerate(own)))


def _values(dialogue: Dialogue) -> list[tuple[str, str, str]]:
    """Every label value in a fixed order, so that those of a variant stand beside those of its source."""
    found = []
    for turn in dialogue.turns:
        found += [(span.domain, span.slot, span.value) for span in turn.spans]
        found += [(act.domain, act.slot or "", act.value or "") for act in turn.acts]
        found += [(cell.domain, cell.slot, value) for cell in turn.state for value in cell.values]
    if dialogue.goal is not None:
        for cell in (*dialogue.goal.inform, *dialogue.goal.book, *dialogue.goal.fail):
            found += [(cell.domain, cell.slot, value) for value in cell.values]
    return found


def _plain(text: str, chinese: bool) -> str:
    return re.sub(r"[\W_]+", "" if chinese else " ", text.lower()).strip()


def relabelled(source: Dialogue, variant: Dialogue) -> list[str]:
    """Everything wrong with `variant` as a copy of `source` in which values were replaced, in text and labels alike."""
    if len(source.turns) != len(variant.turns):
        return [f"{variant.dialogue_id}: {len(source.turns)} turns became {len(variant.turns)}"]
    chinese = source.language == "zh"
    found = []
    old, new = _values(source), _values(variant)
    if [label[:2] for label in old] != [label[:2] for label in new]:
        return [f"{variant.dialogue_id}: the labels are others"]
    mapping: dict[tuple[str, str], set[str]] = {}
    for label, after in zip(old, new, strict=True):
        mapping.setdefault((label[1], label[2]), set()).add(after[2])
    found += [f"{key} became {sorted(values)}" for key, values in mapping.items() if len(values) > 1]
    replaced = {value for (_, value), values in mapping.items() if values != {value}}
    kept = {value for (_, value), values in mapping.items() if values == {value}}
    for turn, was in zip(variant.turns, source.turns, strict=True):
        found += [f"turn {turn.turn}: {problem}" for problem in unreverted_edits(was, turn)]
        for before, span in zip(was.spans, turn.spans, strict=True):
            if span.start is None or turn.utterance[span.start : span.end] != span.text:
                found.append(f"turn {turn.turn}: {span} does not match {turn.utterance!r}")
            elif span.status != before.status:
                found.append(f"turn {turn.turn}: {span} was {before.status}")
            elif _plain(before.text or "", chinese) == _plain(before.value, chinese) and _plain(span.text or "", chinese) not in (
                _plain(span.value, chinese),
                _plain(span.value, chinese).removeprefix("the "),
                "the " + _plain(span.value, chinese),
            ):
                found.append(f"turn {turn.turn}: {span.text!r} is not {span.value!r}")
        text = _plain(turn.utterance, chinese)
        for value in replaced - kept:
            plain = _plain(value, chinese)
            if len(plain) > 2 and re.search(re.escape(plain) if chinese else rf"(?<!\w){re.escape(plain)}(?!\w)", text):
                found.append(f"turn {turn.turn}: {value!r} is still in {turn.utterance!r}")
        for value in kept:
            plain = _plain(value, chinese)
            if plain in _NO_WORDS or any(plain in _plain(other, chinese) for other in replaced):
                continue
            pattern = _pattern(value)
            if len(pattern.findall(turn.utterance)) < len(pattern.findall(was.utterance)) and not any(pattern.search(other) for other in replaced):
                found.append(f"turn {turn.turn}: {value!r} was lost")
    return [f"{variant.dialogue_id}: {problem}" for problem in found]


def inserted(source: Dialogue, variant: Dialogue) -> list[str]:
    """Everything wrong with `variant` as a copy of `source` in which out-of-scope exchanges were inserted."""
    found = problems(source, own_turns(variant))
    state: tuple[object, ...] = ()
    for before, turn in zip((None, *variant.turns), variant.turns, strict=False):
        if "inserted" in turn.labels:
            if turn.original is not None or turn.edits or turn.spans:
                found.append(f"turn {turn.turn}: an inserted turn has no source and no values")
            if turn.speaker == "user" and (turn.state != state or "oos" not in turn.labels or (before is not None and before.speaker == "user")):
                found.append(f"turn {turn.turn}: the state is not carried on, or the turn is no out-of-scope turn")
            if turn.speaker == "system" and (before is None or "oos" not in before.labels):
                found.append(f"turn {turn.turn}: a fallback without an out-of-scope turn")
            values = {value for cell in state for value in getattr(cell, "values", ())} - _NO_WORDS
            found += [f"turn {turn.turn}: says {value!r}" for value in values if _pattern(str(value)).search(turn.utterance)]
        elif turn.speaker == "user":
            state = turn.state
    if [turn.turn for turn in variant.turns] != list(range(len(variant.turns))):
        found.append("the turns are not numbered")
    return [f"{variant.dialogue_id}: {problem}" for problem in found]
