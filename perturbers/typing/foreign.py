"""Any `str -> str` augmenter under dialmill's guard: its output becomes edits, its damage to labels is left out, its randomness is seeded per record.

Augmenters give back a bare string, so that slot offsets are lost, and most of them tokenise and join, which respells times, prices and
addresses that they never meant to touch (nlpaug told to change nothing damages 23 % of slot values that way). Here the output is aligned
with the source token by token, and only tokens that differ become edits; whatever blanks the augmenter moved, the source's stay.

    from dialmill.perturbers.typing.foreign import foreign
    shout = foreign(str.upper, name="shout")
    variant = shout.perturb(dialogue, seed=1)
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import re
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import Annotated, Any, ClassVar, Literal

from dialmill.perturbers.core.contract import Skipped, TurnPerturber, ValueMode
from dialmill.perturbers.core.graphemes import broken
from dialmill.perturbers.core.options import Meta, OptionError
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.values import View
from dialmill.schemas import Edit

#: What augmenters give back: a text, or alternatives of which the first is taken.
Augmented = str | list[str]

_TOKEN = re.compile(r"\w+|[^\w\s]")


def align(source: str, output: str) -> list[Edit]:
    """Edits over `source` that make its tokens those of `output`, keeping the source's blanks wherever its tokens stay.

    A token is a run of letters and digits or one punctuation mark, so that "it ' s 7: 44" is no change of "it's 7:44".
    """
    old = list(_TOKEN.finditer(source))
    new = list(_TOKEN.finditer(output))
    matcher = SequenceMatcher(None, [m.group() for m in old], [m.group() for m in new], autojunk=False)
    edits: list[Edit] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        if tag == "replace" and j - i == m - k:
            edits += [Edit(a.start(), a.end(), b.group()) for a, b in zip(old[i:j], new[k:m], strict=True)]
        elif tag == "replace":
            edits.append(Edit(old[i].start(), old[j - 1].end(), output[new[k].start() : new[m - 1].end()]))
        elif tag == "insert":
            # With the blanks that the output has towards the token before, or at the beginning of the text towards the one after.
            if k:
                place = old[i - 1].end()
                inserted = output[new[k - 1].end() : new[m - 1].end()]
                glued = i < len(old) and old[i].start() == place and m < len(new) and new[m].start() == new[m - 1].end()
                if glued and not (source[place - 1].isalnum() and new[k].group()[0].isalnum()):
                    inserted = inserted.lstrip()  # inside what is one word in both ("£20", "£ $20"), the blank is the tokeniser's
                edits.append(Edit(place, place, inserted))
            else:
                place = old[0].start() if old else len(source)
                edits.append(Edit(place, place, output[new[0].start() : new[m].start() if m < len(new) else len(output)]))
        else:
            # A deleted token takes the blanks before it along, the first one those after it.
            start = old[i - 1].end() if i else old[0].start()
            end = old[j - 1].end() if i or j == len(old) else old[j].start()
            edits.append(Edit(start, end, ""))
    return edits


_GLOBAL = threading.Lock()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seeds the global generators of `random` and of numpy (where it is installed) for an engine that knows no others, and puts them back.

    Both are shared by the whole process, so one thread at a time gets them.
    """
    # Imported here even if nobody has: an engine that imports it while seeded would run unseeded the first time.
    numpy: Any = importlib.import_module("numpy") if importlib.util.find_spec("numpy") else None
    with _GLOBAL:
        state = random.getstate()
        numpy_state = numpy.random.get_state() if numpy else None
        try:
            random.seed(seed)
            if numpy:
                numpy.random.seed(seed)
            yield
        finally:
            random.setstate(state)
            if numpy:
                numpy.random.set_state(numpy_state)


@dataclass(frozen=True)
class Foreign(TurnPerturber):
    """Base of perturbers whose noise comes from a `str -> str` function.

    The function is called with global generators that are seeded from the key of the choice. Edits that touch what may not be touched
    (slot values in protect mode, numbers and placeholders in both) are left out; the others pass the checks that every perturber passes.
    """

    @abstractmethod
    def augment(self, text: str) -> Augmented:
        """The augmented text, or a list whose first element it is."""

    def draw(self, view: View, rng: Rng) -> str | Skipped:
        with seeded(rng.below(2**32)):
            output = self.augment(view.turn.utterance)
        if isinstance(output, list):
            output = output[0] if output else ""
        return output if output.strip() else Skipped("empty_output")

    def apply(self, view: View, drawn: str) -> Sequence[Edit]:
        text = view.turn.utterance
        # An augmenter that takes clusters apart ("1️⃣" as "1st ️ ⃣") writes pieces of them where words that come twice are aligned otherwise, too.
        edits = [edit for edit in align(text, drawn) if broken(text, edit.replacement) is None]
        if self.values == "protect":
            return [edit for edit in edits if view.free(edit.start, edit.end)]
        guarded = view.guarded
        return [edit for edit in edits if not any(start < edit.end and edit.start < end for start, end in guarded)]


Scalar = bool | int | float | str | None


class _Wrapped(Foreign):
    """A function as a perturber; `_wrapper` makes a subclass for each."""

    function: ClassVar[Callable[[str], Augmented]]
    #: What made the subclass: (function, name, version, languages, options), as `foreign` was given them.
    made_of: ClassVar[tuple[Any, ...]]

    @property
    def params(self) -> dict[str, Any]:
        return {**dict(self.made_of[4]), **super().params}

    def augment(self, text: str) -> Augmented:
        return type(self).function(text)

    def __reduce__(self) -> tuple[Any, ...]:
        # The subclass has no name that another process could import; the function has, and the subclass is made again from it.
        return _wrapped, (self.made_of, self.values, self.tries)


def foreign(
    function: Callable[[str], Augmented],
    name: str,
    version: int = 1,
    languages: Sequence[str] = ("en", "zh"),
    values: ValueMode = "protect",
    tries: int = 4,
    **options: Scalar,
) -> Foreign:
    """Wraps any augmenter as a perturber. Two wrapped alike are equal; they pickle where `function` does (a function of a module, not a lambda).

    Args:
        function: from a text to its augmented form, or to a list whose first element is taken. It may use the global generators of `random` and
            numpy; with another source of randomness the output is not reproducible.
        name: stands in lineages, keys and suite names: lower-case letters, digits, ``-`` and ``_``.
        version: raise it whenever the output of `function` changes.
        languages: the languages it can take; turns in others are skipped.
        values, tries: as for every perturber of turns.
        options: how `function` is set up, for the lineage.

    Raises:
        OptionError: a name that is not of that form, or an option out of its range.
    """
    if not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", name):
        raise OptionError(f"the name of a perturber is made of lower-case letters, digits, - and _, not {name!r}")
    return _wrapped((function, name, version, tuple(languages), tuple(options.items())), values, tries)


def _wrapped(made_of: tuple[Any, ...], values: ValueMode, tries: int) -> Foreign:
    return _wrapper(made_of)(values=values, tries=tries)


@cache
def _wrapper(made_of: tuple[Any, ...]) -> type[_Wrapped]:
    """The class of a wrapped function, the same for the same parts, so that perturbers wrapped alike are equal."""
    function, name, version, languages, _ = made_of
    attributes = {
        "name": name,
        "version": version,
        "languages": frozenset(languages),
        "function": staticmethod(function),
        "made_of": made_of,
        "__doc__": function.__doc__,
    }
    kind: type[_Wrapped] = type(name, (_Wrapped,), attributes)
    return kind


NlpaugAugmenter = Literal["KeyboardAug", "SpellingAug"]


@dataclass(frozen=True)
class Nlpaug(Foreign):
    """Noise of the package nlpaug in English user turns, with the labels kept.

    nlpaug 1.1.11 (https://github.com/makcedward/nlpaug) comes with the extra `nlpaug`.

    KeyboardAug runs with settings that leave words readable: one letter a word, a neighbour key, no digits, signs or capitals (by default it
    replaces 30 % of the letters of a word, also by signs). SpellingAug replaces words by entries of a list of misspellings, of which one in
    seven is another English word: it changes meanings ("for" to "forth"), so prefer `typos`.
    """

    augmenter: Annotated[NlpaugAugmenter, Meta(description="nlpaug's augmenter: neighbour keys, or entries of a list of misspellings")] = (
        "KeyboardAug"
    )
    rate: Annotated[
        float, Meta(gt=0, le=1, description="share of the words of a turn that are hit", examples=[0.3], extra={"unit": "share of words"})
    ] = 0.1

    name: ClassVar[str] = "nlpaug"
    version: ClassVar[int] = 1
    languages: ClassVar[frozenset[str]] = frozenset({"en"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if importlib.util.find_spec("nlpaug") is None:
            raise OptionError("nlpaug is not installed; it comes with the extra: pip install 'dialmill[nlpaug]'")

    def draw(self, view: View, rng: Rng) -> str | Skipped:
        # Imported before the generators are seeded: what nlpaug imports may draw from them.
        _engine(self.augmenter, self.rate)
        return super().draw(view, rng)

    def augment(self, text: str) -> Augmented:
        output: Augmented = _engine(self.augmenter, self.rate).augment(text)
        return output


@lru_cache(maxsize=8)
def _engine(augmenter: NlpaugAugmenter, rate: float) -> Any:
    if augmenter == "KeyboardAug":
        return importlib.import_module("nlpaug.augmenter.char").KeyboardAug(
            aug_char_max=1,
            aug_word_p=rate,
            aug_word_max=None,
            include_special_char=False,
            include_upper_case=False,
            include_numeric=False,
        )
    engine = importlib.import_module("nlpaug.augmenter.word").SpellingAug(aug_p=rate, aug_max=None)
    # nlpaug orders the misspellings of a word by Python's hash, which differs from process to process unless PYTHONHASHSEED is set.
    for word, misspellings in engine.model.dict.items():
        engine.model.dict[word] = sorted(misspellings)
    return engine
