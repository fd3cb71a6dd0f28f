"""What is left of an English sentence when the phrase that opens it is left out: it must still be one, or a fragment as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dialmill.perturbers.core.lexicon import words as word_set

#: Words that a noun phrase begins with; a value ("[") does, too.
_DETERMINERS = word_set("the a an my your his her its their our these those some any another other more all both each no")
#: Words that no fragment begins with when what stood before them is gone.
_HANGING = word_set(
    "not to if when how what which who whom whose why where whether out and or but of is are was were be been being do does did has "
    "have had will would can "
    "could should may might it them they he she him this that you me us there here one in on at off up back for with by from about as "
    "so than then like "
    "going supposed able home only just also too either neither nothing someone somebody everyone please n't already"
)
#: Words behind which a question for something is about how it is, not what ("what is the weather like").
_PREDICATE = word_set("like supposed called going doing happening looking")
#: What is done to a thing makes it no thing that is wanted: "I want the refund to be processed", "I need it in my cart".
_DONE = word_set(
    "added removed changed canceled cancelled moved booked done fixed processed refunded updated sent delivered scheduled set reserved "
    "upgraded downgraded "
    "sorted cart transferred waived applied made"
)
#: Two words that a second clause begins with.
_CLAUSES = frozenset(
    tuple(pair.split())
    for pair in [
        "can you",
        "could you",
        "can i",
        "could i",
        "do you",
        "is there",
        "are there",
        "what is",
        "can we",
        "may i",
        "you have",
        "tell me",
        "let me",
        "please suggest",
        "please tell",
        "please book",
        "i like",
        "i do",
        "i have",
        "we want",
        "we need",
        "we are",
        "i need",
        "i want",
        "i am",
        "i will",
        "i would",
        "please find",
        "please show",
        "please give",
        "will you",
        "would you",
        "it should",
    ]
)
_JOINTS = word_set("that if where when which while")
_ASKED = word_set("can could would will")
_PLEAS = word_set("you we")
#: Last words of phrases that ask for help with what was said, and say all of it.
_WHOLE = word_set("that me help")


def orders(phrase: Sequence[str]) -> bool:
    """Whether a phrase asks somebody to do what follows it ("could you please"), so that an order is left."""
    return len(phrase) > 1 and phrase[0] in _ASKED and phrase[1] in _PLEAS and phrase[-1] in ("you", "please")


def stands(phrase: Sequence[str], rest: Sequence[str], commas: bool) -> bool:
    """Whether the rest of a sentence stands without the phrase that opened it.

    Args:
        phrase: its words, contractions written out.
        rest: the words behind it up to the end of its sentence; values in brackets.
        commas: whether a comma stands in the rest.
    """
    if not rest:
        return True
    following = rest[0]
    if phrase[0] in _ASKED and "help" in phrase and phrase[-1] in _WHOLE:
        return following == "please" and len(rest) == 1  # "can you help me without changing anything"
    if orders(phrase):
        return following not in _HANGING - {"please", "also"} and not _gerund(following)
    if phrase[-1] in ("be", "have") and phrase[0] == "it":
        return not commas
    if not _thing(phrase):
        return True
    if (following in _HANGING or _gerund(following)) and following[:1] != "[":
        return False
    if phrase[:2] in (("what", "is"), ("what", "are")):
        if following not in _DETERMINERS and following[:1] != "[":
            return False
        if not _PREDICATE.isdisjoint(rest):
            return False
    if "help" in phrase and phrase[-1] in ("with", "finding") and following not in ("a", "an", "some", "any") and following[:1] != "[":
        return False
    if not _DONE.isdisjoint(rest[1:]) or ("to", "be") in pairwise(rest):
        return False
    # What is left is a thing, and no clause may hang on it: "flights after eight, I'd like ...", "a place, can you suggest one".
    return not any((rest[place], rest[place + 1]) in _CLAUSES and rest[place - 1] not in _JOINTS for place in range(1, len(rest) - 1))


def names_thing(phrase: Sequence[str]) -> bool:
    """Whether a phrase leaves a thing behind, so that it may go only where it opens its sentence: "not the red one, do you have the blue one"."""
    return not orders(phrase) and _thing(phrase)


def _gerund(word: str) -> bool:
    """Whether a word is a verb's form in -ing, as far as its letters tell."""
    return word.endswith("ing") and len(word) > 4 and not word.endswith("thing")


#: Last words of phrases behind which a thing is left.
_THINGS = word_set("for find finding need want like have with is are there know me get having provide prefer give tell")


def _thing(phrase: Sequence[str]) -> bool:
    """Whether what follows a phrase is a thing rather than something to be done."""
    return len(phrase) > 1 and phrase[-1] in _THINGS
