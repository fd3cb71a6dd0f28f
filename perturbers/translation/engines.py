"""What translates the words around the values: a table of sentences, a translation memory, a language model, or a model folder of one's own.

An engine gets a turn whose values are placeholders (``⟦1⟧``) and gives the turn in the other language with the same placeholders. None of them is
trusted: `certificate` decides what is taken.
"""

from __future__ import annotations

import importlib.util
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from dialmill.perturbers.core.matcher import Cut, Index, key_of, lowered, prefixes_of
from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.surfaces import slot_name
from dialmill.perturbers.core.weights import own_files
from dialmill.perturbers.rewording import llm
from dialmill.perturbers.translation.lexicon import Lexicon
from dialmill.perturbers.translation.lexicon import load as load_lexicon
from dialmill.perturbers.translation.masking import PLACEHOLDER, Masked, names_of
from dialmill.perturbers.translation.surfaces import find

#: Languages by name, for a model.
NAMES = {"en": "English", "zh": "Chinese"}


class Task(NamedTuple):
    """One turn to translate."""

    masked: Masked
    plain: str  #: the turn as it is in the source
    before: tuple[str, ...]  #: the two turns before it, in the source language
    glossary: tuple[tuple[str, str], ...]  #: labelled values that have no place in the turn, with their translations


class Said(NamedTuple):
    """A turn with its placeholders in the target language, and what stands there for a value (by its number) in other words than the lexicon's."""

    text: str
    otherwise: Mapping[int, str] = {}


class Engine(Protocol):
    """A translator of single turns."""

    def translate(self, task: Task, attempt: int) -> Said:
        """The turn with its placeholders in the target language.

        Raises:
            NotTranslated: it can't; the message is the reason.
        """


class NotTranslated(LookupError):
    """An engine has no translation of a turn, at this attempt or (`final`) at any."""

    def __init__(self, reason: str, final: bool = False) -> None:
        super().__init__(reason)
        self.final = final


# ---- tables and memories of sentences

_NAMED = re.compile(r"\[([^\[\]\d][^\[\]]*)\]")
_PUNCTUATION = re.compile(r"[^\w\s\[\]]|_")


def _key(text: str) -> str:
    """What two sentences share that differ in capitals, punctuation and blanks alone."""
    return " ".join(_PUNCTUATION.sub(" ", unicodedata.normalize("NFKC", text).casefold()).split())


class Pair(NamedTuple):
    """A sentence and its translation, both perhaps with names of slots in brackets for values."""

    source: str
    target: str


@dataclass(frozen=True, eq=False)
class Sentences:
    """Sentence pairs by their key (`_key`); the first pair of a key counts."""

    pairs: dict[str, str]
    target: str

    def translate(self, task: Task, attempt: int) -> Said:
        names = names_of(task.masked.places)
        for text in (task.masked.named(), task.plain):
            found = self.pairs.get(_key(text))
            if found is not None:
                return _numbered(found, names, task, self.target)
        raise NotTranslated("sentence_not_known", final=True)


def _numbered(target: str, names: Sequence[str], task: Task, language: str) -> Said:
    """A translation with the numbers of places for names of slots; where it is a whole sentence, for the values themselves.

    Raises:
        NotTranslated: a value isn't said in the translation.
    """
    places = {name: number for number, name in reversed(list(enumerate(names, 1)))}
    text = _NAMED.sub(lambda match: f"⟦{places[match[1]]}⟧" if match[1] in places else match[0], target)
    missing = [number for number in range(1, len(names) + 1) if f"⟦{number}⟧" not in text]
    otherwise: dict[int, str] = {}
    for number in sorted(missing, key=lambda number: -len(task.masked.places[number - 1].target)):
        place = task.masked.places[number - 1]
        found = find(place.named, place.target, PLACEHOLDER.sub(lambda match: "\0" * len(match[0]), text), language)
        if found is None:
            raise NotTranslated(f"value_not_in_translation: {place.named}={place.target}", final=True)
        otherwise[number] = text[found[0] : found[1]]
        text = f"{text[: found[0]]}⟦{number}⟧{text[found[1] :]}"
    return Said(text, otherwise)


def read_pairs(path: str) -> list[tuple[Pair, tuple[tuple[str, str, str], ...]]]:
    """Sentence pairs of a file, each with its values as (slot, in the source, in the target).

    A TSV has a sentence and its translation in two columns; a line of JSONL has `source`, `target` and, if it has them, `values`: a list of objects
    with `slot`, `source` and `target`.

    Raises:
        OptionError: the file can't be read, or a line of it is of another form.
    """
    try:
        lines = Path(path).read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"translate: file={path}: {getattr(error, 'strerror', None) or error}") from None
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            found.append(_pair(line))
        except (ValueError, LookupError, TypeError):
            expected = "a sentence, a tab and its translation, or an object with source and target"
            raise OptionError(f"translate: file={path}, line {number}: expected {expected}") from None
    if not found:
        raise OptionError(f"translate: file={path} holds no sentence pair")
    return found


def _pair(line: str) -> tuple[Pair, tuple[tuple[str, str, str], ...]]:
    if not line.startswith("{"):
        source, target = line.split("\t")
        return Pair(source, target), ()
    record = json.loads(line)
    values = tuple((slot_name(str(one["slot"])), str(one["source"]), str(one["target"])) for one in record.get("values", ()))
    return Pair(str(record["source"]), str(record["target"])), values


@lru_cache(maxsize=4)
def table(path: str, target: str) -> Sentences:
    """Whole sentences as they stand in a file."""
    return Sentences(_by_key(pair for pair, _ in read_pairs(path)), target)


@lru_cache(maxsize=4)
def memory(path: str, lexicon: str, source: str, target: str) -> Sentences:
    """A translation memory: the pairs of a file with the names of slots for the values that both sides have, and as they are.

    The values are those that a pair lists; where it lists none, those of the lexicon whose translation stands in the other side.
    """
    pairs: list[Pair] = []
    finder = _Finder(load_lexicon(lexicon, source, target)) if lexicon else None
    for pair, values in read_pairs(path):
        if values:
            pairs.append(_masked_pair(pair, values))
        elif finder is not None:
            pairs += finder.masked(pair)
        pairs.append(pair)
    return Sentences(_by_key(pairs), target)


def _by_key(pairs: Iterable[Pair]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        found.setdefault(_key(pair.source), pair.target)
    return found


def _masked_pair(pair: Pair, values: Sequence[tuple[str, str, str]]) -> Pair:
    """A pair with names of slots for its values, the longest first; a value that one side lacks stays a word."""
    source, target = pair
    seen: dict[str, int] = {}
    for slot, one, other in sorted(values, key=lambda value: (lowered(source).find(lowered(value[1])), -len(value[1]))):
        at, to = lowered(source).find(lowered(one)), lowered(target).find(lowered(other))
        if at < 0 or to < 0:
            continue
        seen[slot] = number = seen.get(slot, 0) + 1
        name = slot if number == 1 else f"{slot} {number}"
        source = f"{source[:at]}[{name}]{source[at + len(one) :]}"
        target = f"{target[:to]}[{name}]{target[to + len(other) :]}"
    return Pair(source, target)


#: Of a sentence whose values could be of several slots, at most this many readings are kept.
_READINGS = 8


class _Finder:
    """Finds the values of a lexicon in sentence pairs."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.language = lexicon.source
        self.index: Index[tuple[str, str]] = Index()
        for (_, slot, value), said in lexicon.values.items():
            key = key_of(value, self.language)
            entry = (slot_name(slot), said.strip())
            if len(key) > 1 and entry not in self.index.entries.get(key, ()):
                self.index.add({key: (entry,)}, prefixes_of(value, self.language))

    def masked(self, pair: Pair) -> list[Pair]:
        """The pair with names of slots for values, once for each reading of them."""
        units = Cut(pair.source, self.language)
        choices: list[list[tuple[str, str, str]]] = []
        for hit in self.index.find(pair.source, units):
            start, end = units.bounds[hit.first][0], units.bounds[hit.last - 1][1]
            said = [(slot, pair.source[start:end], other) for slot, other in self.index.entries[hit.key] if other.lower() in pair.target.lower()]
            if said:
                choices.append(said)
        return [_masked_pair(pair, values) for values in islice(product(*choices), _READINGS)] if choices else []


# ---- a language model


@dataclass(frozen=True)
class Model:
    """A language model behind an OpenAI-compatible endpoint (`rewording.llm`)."""

    model: str
    source: str
    target: str

    def translate(self, task: Task, attempt: int) -> Said:
        try:
            answer = llm.client_for(self.model).ask(self.messages(task), attempt)
        except llm.LlmError as error:
            raise NotTranslated(str(error)) from None
        text = _answer(answer.text)
        if text is None or not llm.admissible(PLACEHOLDER.sub("", text), task.masked.text * 4):
            raise NotTranslated("answer_not_usable")
        return Said(text)

    def messages(self, task: Task) -> list[dict[str, str]]:
        """What the model is asked."""
        rules = [
            f"Translate one message of a dialogue from {NAMES[self.source]} into {NAMES[self.target]}, as a native speaker would say it.",
            "Signs such as ⟦1⟧ stand for values: keep each exactly once, at the place where its value belongs.",
            "Keep every wish, question, number, code and refusal, and add nothing.",
        ]
        if task.masked.places:
            rules.append("They stand for: " + "; ".join(f"⟦{number}⟧ {place.target}" for number, place in enumerate(task.masked.places, 1)) + ".")
        if task.glossary:
            rules.append("Translate " + "; ".join(f"{one} as {other}" for one, other in task.glossary) + ".")
        rules.append('Answer with JSON: {"translation": "..."}')
        context = "".join(f"Before it: {text}\n" for text in task.before)
        return [{"role": "system", "content": " ".join(rules)}, {"role": "user", "content": f"{context}The message: {task.masked.text}"}]


_FENCE = re.compile(r"^```(?:json)?\s*|\s*```$")


def _answer(text: str) -> str | None:
    """The translation in a model's answer."""
    try:
        found = json.loads(_FENCE.sub("", text.strip()))
    except ValueError:
        return None
    said = found.get("translation") if isinstance(found, dict) else None
    return said.strip() if isinstance(said, str) and said.strip() else None


# ---- a model folder

_MARIAN = re.compile(r"X\s?(\d+)\s?X")


@dataclass(frozen=True)
class Folder:
    """A translation model in CTranslate2's form with the SentencePiece models of both sides (``source.spm``, ``target.spm``), such as a converted
    OPUS-MT or NLLB model. Placeholders go in as ``X1X``, which survives subword models; where one doesn't, the values go in themselves, as the
    makers of DSTC9 Track 2 had them (code-switched), and are looked for in what comes out."""

    path: str
    target: str

    def translate(self, task: Task, attempt: int) -> Said:
        switched = attempt % 2 == 1
        places = task.masked.places
        text = PLACEHOLDER.sub(lambda match: places[int(match[1]) - 1].target if switched else f"X{match[1]}X", task.masked.text)
        said = _translators(self.path)(text)
        if not switched:
            return Said(_MARIAN.sub(lambda match: f"⟦{match[1]}⟧", said))
        for number, place in sorted(enumerate(places, 1), key=lambda item: -len(item[1].target)):
            if said.count(place.target) != 1:
                raise NotTranslated("placeholder_lost")
            said = said.replace(place.target, f"⟦{number}⟧")
        return Said(said)


#: What CTranslate2 and SentencePiece read of a model's folder.
_FILES = (
    "model.bin",
    "source.spm",
    "target.spm",
    "config.json",
    "shared_vocabulary.json",
    "shared_vocabulary.txt",
    "source_vocabulary.json",
    "source_vocabulary.txt",
    "target_vocabulary.json",
    "target_vocabulary.txt",
)


@lru_cache(maxsize=2)
def _translators(path: str) -> Any:
    """A function from a text to its translation."""
    import ctranslate2
    import sentencepiece

    own_files(Path(path), _FILES)
    translator = ctranslate2.Translator(path, device="cpu", inter_threads=1, intra_threads=1)
    encode = sentencepiece.SentencePieceProcessor(model_file=str(Path(path) / "source.spm"))
    decode = sentencepiece.SentencePieceProcessor(model_file=str(Path(path) / "target.spm"))

    def translate(text: str) -> str:
        [result] = translator.translate_batch([encode.encode(text, out_type=str)], beam_size=4)
        return str(decode.decode(result.hypotheses[0])).strip()

    return translate


def check_folder(path: str) -> None:
    """Raises `OptionError` unless `path` is a folder of a translation model and what runs it is installed."""
    missing = [name for name in ("model.bin", "source.spm", "target.spm") if not (Path(path) / name).is_file()]
    if missing:
        raise OptionError(
            f"translate: engine=ctranslate2: {path or 'file=FOLDER'} has no {', '.join(missing)}; file= names a folder with a converted model"
        )
    own_files(Path(path), _FILES)
    absent = [name for name in ("ctranslate2", "sentencepiece") if importlib.util.find_spec(name) is None]
    if absent:
        raise OptionError(f"translate: engine=ctranslate2 needs {' and '.join(absent)}: pip install 'dialmill[translate]'")
