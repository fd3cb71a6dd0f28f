"""Offensive language: own word lists with token boundaries and exceptions, English and Chinese, and models by name beside them.

A model is named as "profanity-check" (the linear classifier of the package alt-profanity-check), "transformers:MODEL" (a text classifier of that
library), or "MODULE:FUNCTION" for a function of yours from texts to probabilities. It is loaded once in each worker.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.tokens import tokens
from dialmill.pipelines.core.errors import UsageError

#: Texts -> how likely each is offensive, from 0 to 1.
Judge = Callable[[Sequence[str]], Sequence[float]]

PROFANITY_CHECK, TRANSFORMERS = "profanity-check", "transformers"
#: Letters as signs: "sh1t", "b!tch".
_SIGNS = str.maketrans("013457@$!", "oieastasi")
_DISGUISED = re.compile(r"(?<![\w*])[A-Za-z][\w*#@$!]*[*#@$!0134570][\w*#@$!]*(?![\w*])")
#: Letters that blanks, points or hyphens part ("f u c k", "s.h.i.t"), and a letter three times or more ("shiiit").
_PARTED = re.compile(r"(?<![\w'])[A-Za-z](?:[ ._-][A-Za-z]){3,}(?![\w'])")
_DRAWN = re.compile(r"\b[A-Za-z]*([A-Za-z])\1\1[A-Za-z]*\b")
#: Labels of classifiers that say that a text is harmless.
_HARMLESS = ("non", "not", "neutral", "clean", "normal", "safe", "ok", "label_0")


def offensive_word(text: str, language: str) -> str:
    """The first offensive word of a text by the list of its language; "" where there is none, or no list."""
    bounded, anywhere, harmless, plain = _patterns(language)
    if bounded is None:
        return ""
    bare = text if harmless is None else harmless.sub(lambda match: " " * len(match[0]), text)
    found = anywhere.search(bare) if anywhere is not None else None
    if found is not None:
        return found[0]
    edges: set[int] | None = None
    for match in bounded.finditer(bare):
        if language != "zh" or match[0].isascii():
            return match[0]
        if edges is None:
            edges = {0, len(text)} | {place for token in tokens(text, "zh") for place in token}
        if match.start() in edges and match.end() in edges:
            return match[0]
    return next((match[0] for match in _DISGUISED.finditer(bare) if _hides(match[0].lower(), plain)), "") or _stretched(bare, plain)


def _stretched(text: str, words: frozenset[str]) -> str:
    """The first listed word whose letters are parted or drawn out, "" for none."""
    for match in _PARTED.finditer(text):
        if re.sub(r"[ ._-]", "", match[0].lower()) in words:
            return match[0]
    for match in _DRAWN.finditer(text):
        shorter = (re.sub(r"(.)\1{2,}", kept, match[0].lower()) for kept in (r"\1", r"\1\1"))
        if any(word in words for word in shorter):
            return match[0]
    return ""


def _hides(token: str, words: frozenset[str]) -> bool:
    """Whether a token is a listed word with signs for some of its letters."""
    if token.translate(_SIGNS) in words:
        return True
    starred = re.sub(r"[*#]", ".", re.escape(token).replace(r"\*", "*").replace(r"\#", "#"))
    told = sum(char.isalpha() for char in token) >= 2 or token.count("*") >= 3
    return "." in starred and told and any(re.fullmatch(starred, word) for word in words)


@lru_cache(maxsize=8)
def _patterns(language: str) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None, re.Pattern[str] | None, frozenset[str]]:
    """The listed words as patterns: those between boundaries, those that count anywhere, the phrases in which they are harmless; and the former in
    plain letters."""
    found: dict[str, list[str]] = {"word": [], "anywhere": [], "except": []}
    for kind, cell in rows(language, "offensive"):
        found[kind] += alternatives(cell)

    def pattern(kind: str) -> re.Pattern[str] | None:
        # Longer ones first, so that a phrase is told rather than a word of it.
        bodies = [re.escape(word).replace(r"\*", r"\w*") for word in sorted(found[kind], key=lambda word: (-len(word), word))]
        if not bodies:
            return None
        whole = "|".join(body if not body.isascii() else rf"(?<![A-Za-z0-9_]){body}(?![A-Za-z0-9_])" for body in bodies)
        return re.compile(whole, re.IGNORECASE)

    plain = frozenset(word.rstrip("*") for word in found["word"] if word.rstrip("*").isalpha() and word.isascii() and len(word) > 3)
    return pattern("word"), pattern("anywhere"), pattern("except"), plain


def check_model(name: str) -> None:
    """Raises `UsageError` where no such model can be loaded; says what brings it."""
    kind, _, inner = name.partition(":")
    if kind == PROFANITY_CHECK and not inner:
        if importlib.util.find_spec("profanity_check") is None:
            raise UsageError("offensive_model: profanity-check is not installed: pip install alt-profanity-check")
    elif kind == TRANSFORMERS and inner:
        if importlib.util.find_spec("transformers") is None:
            raise UsageError("offensive_model: models of transformers need that package: pip install transformers torch")
    elif not inner:
        known = f"{PROFANITY_CHECK}, {TRANSFORMERS}:MODEL, or MODULE:FUNCTION of your own"
        raise UsageError(f"offensive_model: there is no model {name!r}; it can be {known}")
    else:
        judge(name)


@lru_cache(maxsize=2)
def judge(name: str) -> Judge:
    """The model of a name.

    Raises:
        UsageError: a function that isn't there.
    """
    kind, _, inner = name.partition(":")
    if kind == PROFANITY_CHECK:
        probabilities: Judge = importlib.import_module("profanity_check").predict_prob
        return lambda texts: [float(one) for one in probabilities(list(texts))]
    if kind == TRANSFORMERS:
        classify = importlib.import_module("transformers").pipeline("text-classification", model=inner, top_k=None)
        return lambda texts: [max((one["score"] for one in found if _offends(one["label"])), default=0.0) for found in classify(list(texts))]
    try:
        own: Judge = getattr(importlib.import_module(kind), inner)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"offensive_model: {name} can't be imported: {error}") from None
    return own


def _offends(label: str) -> bool:
    return not label.lower().startswith(_HARMLESS)
