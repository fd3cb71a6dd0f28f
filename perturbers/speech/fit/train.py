"""Training of the ASR error simulator: see `confusion` for what a model is."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import msgspec
from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech.align import Op, align
from dialmill.perturbers.speech.chinese import everyday, segments
from dialmill.perturbers.speech.confusion import Model, write_model
from dialmill.perturbers.speech.english import ranks, tables
from dialmill.perturbers.speech.fit.sentences import sentences, vocabulary
from dialmill.perturbers.speech.language_model import LanguageModel, packed
from dialmill.perturbers.speech.learned import Learned
from dialmill.perturbers.speech.phones import Lexicon, base_cost
from dialmill.perturbers.speech.speakable import Word, simplified, words
from dialmill.perturbers.speech.wer import corpus_rate, edit_errors, unify

#: Words up to this class of rarity come with what they are taken for.
_TABLED = 9
#: Pairs with more errors than this are hallucinations, not confusions.
CEILING = 0.8
#: Classes of rarity, and the power of two that the first begins at: it holds words of at least 1 in 2 ** 7, the last but one of about 1 in 200,000;
#: the last has all other words of the dictionary.
_CLASSES, _MOST_FREQUENT = 12, 6


class Pair(NamedTuple):
    """What was said and what was recognised, as spoken words."""

    said: tuple[Word, ...]
    transcribed: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.said]


def read_pairs(path: Path, language: str) -> list[Pair]:
    """Pairs from JSON lines with "ref" and "hyp"; those above the ceiling are left out.

    Raises:
        ValueError: a line is no such pair; names the line.
    """
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            said, transcribed = words(record["ref"], language), [word.text for word in words(record["hyp"], language)]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f'{path}, line {number}: expected {{"ref": TEXT, "hyp": TEXT}}: {error!r}') from None
        texts = [word.text for word in said]
        if language != "zh":
            transcribed = unify(texts, transcribed)
        if said and transcribed and edit_errors(texts, transcribed).rate <= CEILING:
            found.append(Pair(said, tuple(transcribed)))
    return found


def regions(ops: Sequence[Op]) -> list[list[Op]]:
    """Runs of neighbouring ops that are not the same."""
    found: list[list[Op]] = []
    for place, op in enumerate(ops):
        if not op.same:
            if place and not ops[place - 1].same:
                found[-1].append(op)
            else:
                found.append([op])
    return found


#: Word pairs that were met less often say nothing, and are left out of a model file; and what is met in all texts together, at most.
_LEAST_PAIRS = 2
#: Learned words and substitutions are kept from so many times on.
_LEAST_SAID, _LEAST_SUBSTITUTED = 30, 2


#: What comes in by itself is of the first so many classes of rarity.
_INSERTED = 4
#: What may be recognised: words of the first so many classes of rarity, and others that were met so often in transcripts and texts.
_HEARD, _LEAST_MET = 11, 3
#: Insertions of all pairs are those of an utterance harder than the one that a model starts from, by so many logits.
_IN_A_HARD_ONE = -0.1


class _Counts:
    """What pairs hold: how often each word was said and what was recognised for it."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.blank = "" if language == "zh" else " "
        self.units: dict[str, Counter[str]] = defaultdict(Counter)
        self.seen: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.inserted: Counter[str] = Counter()
        self.following: dict[str, Counter[str]] = defaultdict(Counter)
        self.gaps = self.insertions = 0
        self.misses: list[list[bool]] = []
        self.said: list[list[str]] = []

    def add(self, pair: Pair) -> None:
        """Counts one pair."""
        texts, transcribed = pair.texts, list(pair.transcribed)
        self.add_text(transcribed)
        ops = align(texts, transcribed, self.language)
        missed = [not op.same for op in ops for _ in range(op.i, op.j)]
        bounds = segments(texts) if self.language == "zh" else list(range(len(texts) + 1))
        said = [self.blank.join(texts[start:end]) for start, end in pairwise(bounds)]
        wrong = [any(missed[start:end]) for start, end in pairwise(bounds)]
        self.said.append(said)
        self.misses.append(wrong)
        self.seen.update(said)
        self.wrong.update(word for word, miss in zip(said, wrong, strict=True) if miss)
        self.gaps += len(texts) + 1
        for region in regions(ops):
            i, j, k, m = region[0].i, region[-1].j, region[0].k, region[-1].m
            if i == j:
                self.insertions += 1
                self.inserted[self.blank.join(transcribed[k:m])] += 1
            if j - i == m - k == 1:
                self.units[texts[i]][transcribed[k]] += 1

    def add_text(self, words_: Sequence[str]) -> None:
        """Counts the pairs of words of a text."""
        for one, other in pairwise(["<s>", *words_, "</s>"]):
            self.following[one][other] += 1

    def spread(self) -> float:
        """`Learned.spread`."""
        logits = [math.log((sum(missed) + 0.5) / (len(missed) - sum(missed) + 0.5)) for missed in self.misses]
        mean = sum(logits) / max(1, len(logits))
        # Half of the spread of the observed rates is sampling noise of short utterances.
        return round(math.sqrt(sum((one - mean) ** 2 for one in logits) / max(1, len(logits)) / 2), 4)


def learn(
    pairs: Sequence[Pair],
    language: str,
    about: dict[str, object],
    texts: Iterable[str] = (),
    general: Mapping[str, Mapping[str, float]] | None = None,
) -> Learned:
    """A model from pairs, with its curve.

    Args:
        language: "en" or "zh".
        about: for `Learned.about`.
        texts: of what people say, for the language model alone.
        general: word -> next word -> its probability in general text.
    """
    counts = _Counts(language)
    for pair in pairs:
        counts.add(pair)
    for text in texts:
        counts.add_text([word.text for word in words(text, language)])
    common = _common() if language == "en" else _common_chinese([pair.said for pair in pairs])
    phones, costs = _phones(counts.units, counts.following, counts.seen, common) if language == "en" else ({}, {})
    lexicon = Lexicon(phones, costs, phones)
    sounds = (lambda word: max(1, len(lexicon.phones(word)))) if language == "en" else (lambda word: 2 * len(word))
    learned = Learned(
        language=language,
        about=dict(about),
        words={word: (count, counts.wrong[word]) for word, count in sorted(counts.seen.items()) if count >= _LEAST_SAID},
        units={unit: row for unit, found in sorted(counts.units.items()) if (row := _pruned(found, phones, language))},
        contagion=0.0,
        insertion=round(math.log((counts.insertions + 0.5) / (counts.gaps + 1)) + _IN_A_HARD_ONE, 4),
        inserted=_inserted(counts, common),
        spread=counts.spread(),
        bigrams=_kept(counts.following, language),
        general={word: packed(row) for word, row in sorted((general or {}).items())},
        phones=phones,
        costs=costs,
        common=common,
        hardness=_hardness(sounds, common, counts.seen, counts.wrong),
    )
    if language == "en":
        near, split = _tables(learned, lexicon)
        learned = msgspec.structs.replace(learned, near=near, split=split)
    model = Model(learned)
    expected = [[model.logit(word) for word in said] for said in counts.said]
    learned = msgspec.structs.replace(learned, contagion=_contagion(expected, counts.misses))
    return msgspec.structs.replace(learned, curve=curve(learned, [pair.said for pair in pairs]))


def _tables(learned: Learned, lexicon: Lexicon) -> tuple[dict[str, str], dict[str, str]]:
    """`Learned.near` and `Learned.split`, for frequent words."""
    rarity = {word: place for place, words_ in enumerate(learned.common) for word in words_.split(" ")}
    model = LanguageModel(learned.general, learned.bigrams, rarity, len(learned.common))
    frequent = sorted(word for word in learned.phones if rarity.get(word, 99) <= _TABLED or word in learned.words)
    return tables(frequent, lexicon, ranks(model, lexicon))


#: Where errors fall in Chinese, set by hand since there are few pairs: as `Learned` says; function words and what everybody says seldom, rare words
#: and names often, and spread over the turns.
_CHINESE_HARDNESS, _CHINESE_CONTAGION, _CHINESE_INSERTION, _CHINESE_SPREAD = [-6.0, 0.6, 0.3, 7.0, 2.0], 0.4, -9.5, 0.5
#: What people say to assistants counts so many times as much as other text.
_OWN = 10


def assume_chinese(
    texts: Sequence[str], about: dict[str, object], general: Mapping[str, Mapping[str, float]], background: Iterable[str] = ()
) -> Learned:
    """A Chinese model from texts alone: the language model is counted, where errors fall is set by hand.

    Args:
        texts: of what people say to assistants; the curve is measured on them too.
        about: for `Learned.about`.
        general: character -> next character -> its probability in general text.
        background: other texts, for the language model.
    """
    said = [words(text, "zh") for text in texts]
    counts: Counter[tuple[str, str]] = Counter()
    for one in said:
        _count_chinese(counts, [word.text for word in one], _OWN)
    for text in background:
        _count_chinese(counts, simplified(text), 1)
    bigrams: dict[str, dict[str, int]] = defaultdict(dict)
    for (context, char), count in sorted(counts.items()):
        # A triple is kept where it is met more often.
        if count >= (_LEAST_CHARACTERS if len(context) == 1 or context == "<s>" else _LEAST_TRIPLE) and (everyday(char) or char == "</s>"):
            bigrams[context][char] = count
    learned = Learned(
        language="zh",
        about=dict(about),
        words={},
        units={},
        contagion=_CHINESE_CONTAGION,
        insertion=_CHINESE_INSERTION,
        inserted={"的": 4, "了": 3, "呢": 1, "就": 1, "个": 1},
        spread=_CHINESE_SPREAD,
        bigrams=dict(bigrams),
        general={char: packed(row) for char, row in sorted(general.items())},
        common=_common_chinese(said),
        hardness=_CHINESE_HARDNESS,
    )
    return msgspec.structs.replace(learned, curve=curve(learned, [*said[:500], *(words(text, "zh") for text in sentences("zh", 500, 7))]))


#: Pairs and triples of characters that were met less often are left out.
_LEAST_CHARACTERS, _LEAST_TRIPLE = 4, 8


def _count_chinese(counts: Counter[tuple[str, str]], text: Sequence[str], weight: int) -> None:
    line = ["<s>", *text, "</s>"]
    for place in range(1, len(line)):
        counts[line[place - 1], line[place]] += weight
        if place > 1:
            counts[line[place - 2] + line[place - 1], line[place]] += weight


def _pruned(found: Counter[str], phones: Mapping[str, str], language: str) -> dict[str, int]:
    """What was recognised for a word more than once, of the words that can be."""
    kept = {word: count for word, count in found.items() if count >= _LEAST_SUBSTITUTED and (everyday(word) if language == "zh" else word in phones)}
    return dict(sorted(kept.items(), key=lambda one: (-one[1], one[0]))[:12])


def _inserted(counts: _Counts, common: Sequence[str]) -> dict[str, int]:
    """What may be recognised where nothing was said: the frequent words that were, and the most frequent ones of all."""
    if counts.language == "zh":
        found = Counter({text: count for text, count in counts.inserted.items() if count > 1 and len(text) == 1 and everyday(text)})
        return dict(sorted(found.items(), key=lambda one: (-one[1], one[0]))[:20]) or {"的": 4, "了": 3, "呢": 1, "就": 1, "个": 1}
    frequent = {word for words_ in common[:_INSERTED] for word in words_.split(" ")}
    found = Counter({text: count for text, count in counts.inserted.items() if count > 1 and text in frequent})
    total: Counter[str] = Counter()
    for row in counts.following.values():
        total.update(row)
    found.update({word: 1 for word, _ in total.most_common(150) if word in frequent})
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def _kept(following: Mapping[str, Counter[str]], language: str) -> dict[str, dict[str, int]]:
    """`Learned.bigrams`: pairs met more than once."""
    found = {}
    for one, row in sorted(following.items()):
        kept = {other: count for other, count in sorted(row.items()) if count >= _LEAST_PAIRS}
        if kept:
            found[one] = kept
    return found


def curve(learned: Learned, utterances: Sequence[Sequence[Word]], points: int = 25) -> list[tuple[float, float]]:
    """[offset, corpus WER] at evenly spread offsets, measured by running the channel over `utterances` (at most 1,500) with fixed seeds."""
    model = Model(learned)
    sample = utterances[:1500]
    found: list[tuple[float, float]] = []
    for step in range(points):
        # Chinese words are held to by the language model, so that it takes more to make them wrong.
        offset = -4.0 + (0.5 if learned.language != "zh" else 0.8) * step
        rate = corpus_rate(
            edit_errors([word.text for word in said], said_back(model, said, offset, number)) for number, said in enumerate(sample)
        ).rate
        if not found or rate > found[-1][1]:
            found.append((offset, round(rate, 5)))
    return found


def said_back(model: Model, said: Sequence[Word], offset: float, *key: object) -> list[str]:
    """The words that the channel makes of an utterance."""
    texts = [word.text for word in said]
    transcribed: list[str] = []
    place = 0
    for change in model.distort(said, 0.0, Rng("curve", *key), offset):
        transcribed += [*texts[place : change.i], *(change.new if model.language == "zh" else change.new.split())]
        place = change.j
    return [*transcribed, *texts[place:]]


def _phones(
    units: dict[str, Counter[str]], following: dict[str, Counter[str]], seen: Counter[str], common: Sequence[str]
) -> tuple[dict[str, str], dict[str, float]]:
    """Pronunciations of the words that can be said or recognised, and the phone costs that the observed substitutions teach."""
    total: Counter[str] = Counter()
    for others in following.values():
        total.update(others)
    wanted = {word for word, count in total.items() if count >= _LEAST_MET} | vocabulary("en")
    wanted |= {word for row in rows("en", "words") for cell in row for word in cell.split()}
    for row in rows("en", "closed"):
        for text in (row[1], *alternatives(row[2] if len(row) > 2 else "")):
            wanted.update(text.split())
    # The words of a general vocabulary; rarer ones are hardly ever recognised.
    wanted |= {word for words_ in common[:_HEARD] for word in words_.split(" ")}
    wanted = {word for word in wanted if word.isalpha() and (len(word) > 1 or word in _LETTERS)}
    dictionary = _dictionary()
    phones = {word: dictionary[word] for word in sorted(wanted) if word in dictionary}
    lexicon = Lexicon(phones, {}, ())
    confused: Counter[tuple[str, str]] = Counter()
    heard_at_all: Counter[str] = Counter()
    for said, others in units.items():
        if said.count(" "):
            continue
        for transcribed, count in others.items():
            if transcribed and not transcribed.count(" "):
                for one, other in _pairs(lexicon, lexicon.phones(said), lexicon.phones(transcribed)):
                    heard_at_all[one] += count
                    if one != other:
                        confused[one, other] += count
    costs = {}
    for (one, other), count in sorted(confused.items()):
        if count >= 3:
            # A confusion as frequent as one in ten of what is recognised for the phone costs half of what its articulation says.
            costs[f"{one} {other}"] = round(max(0.12, base_cost(one, other) * (1 - 1.6 * math.sqrt(count / (heard_at_all[one] + 20) / 1.0))), 3)
    return phones, costs


#: Single letters that are words, or said as such.
_LETTERS = frozenset("aip")


def _pairs(lexicon: Lexicon, said: Sequence[str], transcribed: Sequence[str]) -> list[tuple[str, str]]:
    """Aligned phones of two words that sound alike; none where they don't."""
    n, m = len(said), len(transcribed)
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            if i or j:
                best[i][j] = min(
                    best[i - 1][j] + 0.7 if i else math.inf,
                    best[i][j - 1] + 0.7 if j else math.inf,
                    best[i - 1][j - 1] + lexicon.cost(said[i - 1], transcribed[j - 1]) if i and j else math.inf,
                )
    if best[n][m] > 0.5 * max(n, m):
        return []
    found = []
    i, j = n, m
    while i and j:
        if best[i][j] == best[i - 1][j - 1] + lexicon.cost(said[i - 1], transcribed[j - 1]):
            found.append((said[i - 1], transcribed[j - 1]))
            i, j = i - 1, j - 1
        elif best[i][j] == best[i - 1][j] + 0.7:
            i -= 1
        else:
            j -= 1
    return found


def _hardness(sounds: Callable[[str], int], common: Sequence[str], seen: Mapping[str, int], wrong: Mapping[str, int]) -> list[float]:
    """`Learned.hardness`, by logistic regression over the words that have a class; of the others, all together."""
    rarity = {word: place for place, words in enumerate(common) for word in words.split(" ")}
    names = sorted(set(seen) & set(rarity))
    table = []
    for word in names:
        rest = rarity[word] == len(common) - 1
        table.append([1.0, 0.0 if rest else float(rarity[word]), math.log(sounds(word)), float(rest)])
    listed = _logistic(table, [float(seen[word]) for word in names], [float(wrong[word]) for word in names], [0.0] * len(names))
    said, missed = (sum(count for word, count in counts.items() if word not in rarity) for counts in (seen, wrong))
    return [*listed, round(math.log((missed + 1) / (said - missed + 1)), 4)]


def _contagion(expected: Sequence[Sequence[float]], misses: Sequence[Sequence[bool]]) -> float:
    """`Learned.contagion`, by logistic regression over words with how hard each is (logits) and how many others of its utterance are wrong."""
    table, happened, offsets = [], [], []
    for logits, missed in zip(expected, misses, strict=True):
        for place in range(1, len(missed)):
            others = sum(missed) - missed[place] - missed[place - 1]
            hard = math.log((others + 0.5) / (len(missed) - 2 - others + 0.5))
            table.append([1.0, hard, float(missed[place - 1])])
            happened.append(float(missed[place]))
            offsets.append(logits[place])
    return _logistic(table, [1.0] * len(table), happened, offsets)[2] if table else 0.0


def _logistic(table: Sequence[Sequence[float]], tries: Sequence[float], hits: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """Coefficients of a logistic regression of `hits` in `tries` on `table`, whose first column is constant.

    By Newton's method, the others a little drawn to 0 (ridge).
    """
    import numpy as np

    columns, count, hit, offset = (np.array(one, float) for one in (table, tries, hits, offsets))
    ridge = np.diag([0.0] + [1.0] * (columns.shape[1] - 1))
    found = np.zeros(columns.shape[1])
    for _ in range(25):
        chance = 1 / (1 + np.exp(-columns @ found - offset))
        slope = columns.T @ (hit - count * chance) - ridge @ found
        # A trace of the unit matrix, for a column that says nothing.
        curvature = columns.T @ (columns * (count * chance * (1 - chance))[:, None]) + ridge + 1e-6 * np.eye(len(found))
        found = found + np.linalg.solve(curvature, slope)
    return [round(float(one), 4) for one in found]


def _common() -> list[str]:
    """`Learned.common`, from the unigrams of pocketsphinx' model of general English (BSD)."""
    sphinx = importlib.import_module("pocketsphinx")
    exponent = sphinx.LogMath()
    model = sphinx.NGramModel(sphinx.Config(), exponent, str(_english() / "en-us.lm.bin"))
    classes: list[list[str]] = [[] for _ in range(_CLASSES + 1)]
    for word in sorted(_dictionary()):
        # The model's logarithms are to the base 1.0001.
        place = int(-model.prob([word]) * 1e-4 / math.log(2)) - _MOST_FREQUENT
        if word.replace("'", "").isalpha():
            classes[min(max(0, place), _CLASSES)].append(word)
    return [" ".join(words) for words in classes]


#: Names that are met so often in jieba's texts are words like others.
_FAMOUS = 300
#: What is said so often to assistants is no name, and as frequent as it is there.
_USED = 5


def _common_chinese(said: Sequence[Sequence[Word]] = ()) -> list[str]:
    """`Learned.common` for Chinese, from jieba's dictionary (MIT): its words of a frequency of 60 and more; what is `said` to assistants is as
    frequent as it is there."""
    import jieba

    used: Counter[str] = Counter()
    for one in said:
        texts = [word.text for word in one]
        used.update("".join(texts[start:end]) for start, end in pairwise(segments(texts)))
    frequency: dict[str, int] = {}
    with jieba.Tokenizer().get_dict_file() as file:
        for line in file.read().decode("utf-8").splitlines():
            word, count, kind = line.split(" ")
            # Names are rarer than other words of their frequency to whoever doesn't know them.
            name = kind.startswith(("nr", "ns", "nt", "nz")) and int(count) < _FAMOUS
            if all("\u4e00" <= char <= "\u9fff" for char in word) and not (name and len(word) > 1 and used[word] < _USED):
                frequency[word] = int(count)
    every = sum(frequency.values())
    for word, count in used.items():
        if count >= _USED and word in frequency:
            frequency[word] = max(frequency[word], every * count // used.total())
    classes: list[list[str]] = [[] for _ in range(_CLASSES + 1)]
    for word, count in sorted(frequency.items()):
        if count >= 60:
            classes[min(max(0, int(-math.log2(count / every)) - _MOST_FREQUENT), _CLASSES)].append(word)
    return [" ".join(words_) for words_ in classes]


def _english() -> Path:
    """The folder of pocketsphinx' English models.

    Raises:
        SystemExit: it isn't installed.
    """
    spec = importlib.util.find_spec("pocketsphinx")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("training for English takes pronunciations and frequencies from pocketsphinx: pip install 'dialmill[pocketsphinx]'")
    return Path(spec.submodule_search_locations[0]) / "model" / "en-us"


@cache
def _dictionary() -> dict[str, str]:
    """Word -> phones, from the pocketsphinx package (BSD)."""
    lines = (line.split(" ", 1) for line in (_english() / "cmudict-en-us.dict").read_text("utf-8").splitlines())
    return {line[0]: line[1] for line in lines if len(line) == 2 and "(" not in line[0]}


def _lines(paths: Iterable[Path]) -> list[str]:
    """The lines of texts, without empty ones."""
    return [line for path in paths for line in path.read_text("utf-8").splitlines() if line.strip()]


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line: ``--pairs FILE --language en --output MODEL.json.gz [--note TEXT]``."""
    parser = argparse.ArgumentParser(prog="python -m dialmill.perturbers.speech.fit.train", description=__doc__)
    parser.add_argument("--pairs", type=Path, help='JSON lines with "ref" and "hyp"; for Chinese, --texts may do without')
    parser.add_argument("--language", choices=("en", "zh"), default="en")
    parser.add_argument("--output", required=True, type=Path, help="the model file, .json or .json.gz")
    parser.add_argument(
        "--texts", action="append", default=[], type=Path, help="a text a line of what people say, for the language model; repeatable"
    )
    parser.add_argument("--background", action="append", default=[], type=Path, help="other texts for a Chinese language model; repeatable")
    parser.add_argument("--general", type=Path, help='JSON, {"WORD": {"NEXT WORD": PROBABILITY}}, of general text (Chinese: of characters)')
    parser.add_argument("--note", default="", help="a line about the pairs, kept in the model")
    given = parser.parse_args(arguments)
    try:
        pairs = read_pairs(given.pairs, given.language) if given.pairs else []
        texts, background = (_lines(paths) for paths in (given.texts, given.background))
        general = json.loads(given.general.read_text("utf-8")) if given.general else {}
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    if not pairs and (given.pairs or given.language != "zh" or not texts):
        print(f"{given.pairs or '--pairs'} holds no usable pairs", file=sys.stderr)
        raise SystemExit(1)
    rate = corpus_rate(edit_errors(pair.texts, pair.transcribed) for pair in pairs)
    about = {
        "command": f"{parser.prog} --pairs {given.pairs.name if given.pairs else 'none'} --language {given.language} --output {given.output.name}",
        "pairs": len(pairs),
        "pairs_sha256": sha256(given.pairs.read_bytes() if given.pairs else "\n".join(texts).encode()).hexdigest(),
        "pairs_wer": round(rate.rate, 4),
        "note": given.note,
    }
    learned = learn(pairs, given.language, about, texts, general) if pairs else assume_chinese(texts, about, general, background)
    write_model(learned, given.output)
    print(
        f"{given.output}: {len(pairs)} pairs, WER {rate.rate:.1%}, {len(learned.units)} words substituted, "
        f"{given.output.stat().st_size / 1000:.0f} kB"
    )


if __name__ == "__main__":
    main()
