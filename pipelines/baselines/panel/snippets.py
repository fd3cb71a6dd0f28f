"""Baselines that judge knowledge-seeking turns: which turns seek knowledge, and which snippet of a whole base answers them.

Five kinds. Each has a detector, the one of its name among those that judge turns, and a ranker of its own: `values` BM25 on titles, and names of
entities as they are written; `words` TF-IDF on words; `characters` on n-grams of characters; `neighbours` the titles that answered the most similar
training questions; `embedding` word vectors. The unit is the turn.

Detectors seldom err, so that right and wrong leave most turns alike: what counts is by how much the right answer wins, beside how much it does in
training.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isqrt
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.baselines.features import gram_counts, word_counts
from dialmill.pipelines.baselines.panel.choice import ONE, length_step
from dialmill.pipelines.baselines.panel.embedding import word_vectors
from dialmill.pipelines.baselines.panel.finders import units_of
from dialmill.pipelines.baselines.panel.kind import TurnKind
from dialmill.pipelines.baselines.panel.panel import Missed, Panel, Verdict
from dialmill.pipelines.baselines.panel.seen import LABEL, Task, tasks
from dialmill.pipelines.baselines.panel.turns import KINDS
from dialmill.pipelines.baselines.rankers import log2_fixed
from dialmill.schemas import Dialogue, Snippet
from numpy.typing import NDArray

Whole = NDArray[np.int64]
#: Turns before the question in which an entity may have been named.
_CONTEXT = 8
#: A full match of a title, or of a name, counts so much.
_FULL = 1 << 12
#: Training questions that the neighbours are looked for among, at most, and training turns that margins are taken of.
_QUESTIONS, _MARGINS = 8000, 600
#: What a detector errs on.
SOUGHT, NOT_SOUGHT = "sought", "not sought"
#: Ranks that count for MRR.
_LISTED = 5


class Known(NamedTuple):
    """A snippet as rankers see it: its place in the base, what its entity is called ("" for a whole domain), and its title."""

    key: tuple[str, str, str]
    name: str
    title: str


def known_of(snippets: Iterable[tuple[Snippet, str | None]]) -> list[Known]:
    """The snippets of a base, each with the name of its entity, as rankers see them."""
    return [Known((one.domain, one.entity_id, one.doc_id), name or "", str(one.title)) for one, name in snippets]


class _Lists:
    """Texts by inverted lists, in whole numbers: scores are sums in any order."""

    def __init__(self, counts: Sequence[Mapping[str, int]], bm25: bool) -> None:
        self.size = len(counts)
        having = Counter(term for one in counts for term in one)
        self.rarity = {term: log2_fixed(self.size + 1, number) >> 8 for term, number in having.items()}
        mean = max(sum(sum(one.values()) for one in counts), 1) * 16 // max(self.size, 1) or 1
        lists: dict[str, tuple[list[int], list[int]]] = {}
        for place, one in enumerate(counts):
            length = sum(one.values())
            norm = isqrt(sum((number * self.rarity[term]) ** 2 for term, number in one.items())) or 1
            for term, number in one.items():
                places, values = lists.setdefault(term, ([], []))
                places.append(place)
                # BM25 with k1 1.2 and b 0.75, or the cosine of TF-IDF but for the query's norm.
                spread = 1200 * (mean + 3 * 16 * length) // (4 * mean)
                values.append(number * 2200 * 64 // (number * 1000 + spread) if bm25 else number * self.rarity[term] * 64 // norm)
        self._lists = {term: (np.array(places), np.array(values, dtype=np.int64)) for term, (places, values) in lists.items()}

    def scores(self, query: Mapping[str, int]) -> Whole:
        """A score of each text."""
        found = np.zeros(self.size, dtype=np.int64)
        for term, number in query.items():
            mine = self._lists.get(term)
            if mine is not None:
                found[mine[0]] += number * self.rarity[term] * mine[1]
        return found


def _full(scores: Whole) -> Whole:
    """Scores with the best one at `_FULL`."""
    most = int(scores.max(initial=0))
    return scores * _FULL // most if most > 0 else scores * 0


class SnippetRanker(ABC):
    """A ranker of all snippets of a base: how well a title fits the question, and whether its entity was named."""

    def __init__(self, known: Sequence[Known], questions: Sequence[tuple[str, str]], language: str) -> None:
        """
        Args:
            known: the snippets to be ranked.
            questions: (question, title of the snippet that answers it) of training dialogues.
            language: of all texts.
        """
        self.language = language
        names = sorted({(one.key[0], one.key[1], one.name) for one in known})
        numbers = {name: number for number, name in enumerate(names)}
        self.entity_names = [name or domain for domain, _, name in names]
        self._whole = np.array([not name for _, _, name in names])
        self._entity = np.array([numbers[one.key[0], one.key[1], one.name] for one in known], dtype=np.int64)

    def rank(self, context: Sequence[str]) -> Whole:
        """A score of each snippet for a question, the last of `context`; more is better."""
        named = np.array([self.share(place, context) for place in range(len(self.entity_names))], dtype=np.int64)
        # What holds for a whole domain needs no name.
        named[self._whole] = np.maximum(named[self._whole], _FULL // 2)
        return _full(self.titles(context[-1])) + named[self._entity]

    @abstractmethod
    def titles(self, question: str) -> Whole:
        """How well each title fits, from 0 on."""

    @abstractmethod
    def share(self, entity: int, context: Sequence[str]) -> int:
        """How much of an entity's name was said, 0 to `_FULL`."""


class _ByUnits(SnippetRanker):
    """A ranker for which a name is the units in it, each as much as it is rare among names."""

    bm25: ClassVar[bool] = False

    def __init__(self, known: Sequence[Known], questions: Sequence[tuple[str, str]], language: str) -> None:
        super().__init__(known, questions, language)
        self._names = [self.units(name) for name in self.entity_names]
        self._rare = _Lists(self._names, False).rarity
        self._weights = [sum(self._rare[unit] for unit in units) or 1 for units in self._names]
        self._said: tuple[tuple[str, ...], set[str]] = ((), set())
        self.learn(known, questions)

    def units(self, text: str) -> Mapping[str, int]:
        """The units of a text."""
        return word_counts(text, self.language)

    def learn(self, known: Sequence[Known], questions: Sequence[tuple[str, str]]) -> None:
        """What the titles need."""
        self._titles = _Lists([self.units(one.title) for one in known], self.bm25)

    def titles(self, question: str) -> Whole:
        return self._titles.scores(self.units(question))

    def share(self, entity: int, context: Sequence[str]) -> int:
        if self._said[0] != tuple(context):
            self._said = tuple(context), {unit for text in context for unit in self.units(text)}
        return sum(self._rare[unit] for unit in self._names[entity] if unit in self._said[1]) * _FULL // self._weights[entity]


class WordSnippets(_ByUnits):
    """TF-IDF on words."""


class CharacterSnippets(_ByUnits):
    """TF-IDF on n-grams of characters."""

    def units(self, text: str) -> Mapping[str, int]:
        return gram_counts(text, self.language)


class NamedSnippets(_ByUnits):
    """BM25 on titles; a name is said where all of it stands in a turn, the more so the later."""

    bm25 = True

    def share(self, entity: int, context: Sequence[str]) -> int:
        name = self.entity_names[entity].lower()
        for back, text in enumerate(reversed(context)):
            if name in text.lower():
                return _FULL - back * _FULL // (2 * _CONTEXT)
        return 0


class NeighbourSnippets(_ByUnits):
    """The words of the titles that answered the eight training questions most like this one."""

    _NEAREST = 8

    def learn(self, known: Sequence[Known], questions: Sequence[tuple[str, str]]) -> None:
        super().learn(known, questions)
        self._asked = _Lists([self.units(question) for question, _ in questions], False)
        self._answered = [self.units(title) for _, title in questions]

    def titles(self, question: str) -> Whole:
        likeness = self._asked.scores(self.units(question))
        nearest = np.lexsort((np.arange(len(likeness)), -likeness))[: self._NEAREST]
        wanted: Counter[str] = Counter()
        for place in nearest.tolist():
            for unit in self._answered[place]:
                wanted[unit] += int(likeness[place]) // max(int(likeness[nearest[0]]) // 16, 1)
        return self._titles.scores(wanted)


class VectorSnippets(_ByUnits):
    """The cosine of the sums of word vectors, which are those of training questions and titles."""

    _SIZE = 160

    def learn(self, known: Sequence[Known], questions: Sequence[tuple[str, str]]) -> None:
        texts = [text for pair in questions for text in pair] + list(dict.fromkeys(one.title for one in known))
        names, self._vectors = word_vectors(texts, self._SIZE)
        self._numbers = {name: number for number, name in enumerate(names)}
        rows = np.stack([self._vector(one.title) for one in known])
        self._rows = rows * 256 // np.maximum(np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1)).astype(np.int64), 1)[:, None]

    def _vector(self, text: str) -> Whole:
        found: Whole = self._vectors[[self._numbers[unit] for unit in units_of(text) if unit in self._numbers]].sum(axis=0)
        return found

    def titles(self, question: str) -> Whole:
        found: Whole = np.maximum(self._rows @ self._vector(question), 0)
        return found


_RANKERS: dict[str, type[SnippetRanker]] = {
    "values": NamedSnippets,
    "words": WordSnippets,
    "characters": CharacterSnippets,
    "neighbours": NeighbourSnippets,
    "embedding": VectorSnippets,
}


class _Loaded(NamedTuple):
    """A kind: its detector, what its margins come to in training, its ranker, and the snippets' places by their keys."""

    detector: TurnKind
    usual: int
    ranker: SnippetRanker
    places: Mapping[tuple[str, str, str], int]
    known: Sequence[Known]


class SnippetPanel(Panel):
    """Whether a turn seeks knowledge, and which snippet it seeks; the unit is the turn, in dialogues that seek any."""

    families: ClassVar[Mapping[str, str]] = {name: name for name in _RANKERS}
    least = 800
    # Detectors seldom err, and rankers often: what both miss would be told by the rankers alone.
    weights: ClassVar[Mapping[str, int]] = {SOUGHT: 2, NOT_SOUGHT: 2}
    #: A dialogue without its questions is another one.
    asks_clean = False

    def train(self, kind: str, dialogues: Sequence[Dialogue], language: str, pool: Sequence[Any] = ()) -> bytes | None:
        found = [task for dialogue in dialogues for task in tasks(dialogue)]
        asked = [
            (turn.utterance, str(turn.knowledge[0].title))
            for dialogue in dialogues
            for turn in dialogue.turns
            if turn.speaker == "user" and turn.knowledge and turn.knowledge[0].title
        ]
        if not asked or not pool:
            return None
        questions = sorted(set(asked), key=lambda one: (key_number("questions", *one), one))[:_QUESTIONS]
        detector = KINDS[kind].train(found, language)
        sample = sorted(found, key=lambda task: key_number("margins", task.seen.user, task.seen.system))[:_MARGINS]
        margins = [abs(_margin(detector, task)) for task in sample]
        usual = max(sum(margins) // max(len(margins), 1), 1)
        return zlib.compress(msgspec.msgpack.encode((kind, language, detector.pack(), usual, list(pool), questions)), 1)

    def load(self, kind: str, data: bytes) -> _Loaded:
        name, language, detector, usual, pool, questions = msgspec.msgpack.decode(zlib.decompress(data))
        known = [Known((one[0][0], one[0][1], one[0][2]), one[1], one[2]) for one in pool]
        ranker = _RANKERS[name](known, [(one, other) for one, other in questions], language)
        return _Loaded(KINDS[name].unpack(detector), usual, ranker, {one.key: place for place, one in enumerate(known)}, known)

    def judge(self, models: Mapping[str, Any], record: Dialogue, turns: Sequence[int] | None = None) -> list[Verdict]:
        loaded = {kind: model for kind, model in sorted(models.items()) if isinstance(model, _Loaded)}
        found = list(tasks(record))
        if not loaded or not any(task.right.label for task in found):
            return []
        return [self._verdict(task, record, loaded) for task in found if turns is None or task.turn in turns]

    def _verdict(self, task: Task, record: Dialogue, loaded: Mapping[str, _Loaded]) -> Verdict:
        seeks = bool(task.right.label)
        errors: dict[str, dict[str, int]] = {}
        sums: dict[str, dict[str, int]] = {}
        wrong, low, late = [], [], []
        right = _right_snippet(record, task.turn)
        context = [turn.utterance for turn in record.turns[max(0, task.turn - _CONTEXT) : task.turn + 1]]
        shown = ""
        for kind, model in loaded.items():
            margin = _margin(model.detector, task)
            # Half where nothing wins, 0 from the usual margin on, 2 at most; squared, so that what is clearly wrong counts.
            doubt = min(max(model.usual - margin, 0) * ONE // (2 * model.usual), 2 * ONE)
            errors[kind] = {SOUGHT if seeks else NOT_SOUGHT: doubt * doubt // ONE}
            said = (margin > 0) == seeks
            sums[kind] = {"tp": int(seeks and said), "fp": int(said and not seeks), "fn": int(seeks and not said)}
            if margin <= 0:
                wrong.append(kind)
            place = model.places.get(right) if right is not None else None
            if seeks and place is not None:
                rank = _rank(model.ranker.rank(context), place)
                errors[kind]["rank"] = log2_fixed(rank, 1) * ONE // log2_fixed(len(model.known) + 1, 1)
                sums[kind] |= {"of": 1, "mrr": ONE // rank if rank <= _LISTED else 0, "r1": int(rank == 1)}
                shown = shown or f"the right snippet ({' '.join((right or ())[:1])}: {model.known[place].title!r})"
                low += [kind] if rank > _LISTED else []
                late += [kind] if rank > 1 else []
        missed = [(LABEL, "that it seeks knowledge" if seeks else "that it has no label", wrong)]
        missed += [("snippet", f"{shown} among the first {_LISTED}", low), ("snippet", f"{shown} as the first", late)]
        told = tuple(Missed(task.turn, aspect, what, tuple(kinds)) for aspect, what, kinds in missed if kinds)
        step = length_step([task.seen.user, task.seen.system], record.language)
        return Verdict(task.turn, "target" if seeks else "other", 1, step, errors, sums, told)

    def measure(self, sums: Mapping[str, int]) -> Mapping[str, float]:
        counted = 2 * sums.get("tp", 0) + sums.get("fp", 0) + sums.get("fn", 0)
        found = {"f1": 2 * sums.get("tp", 0) / counted} if counted else {}
        of = sums.get("of", 0)
        return found | ({"mrr@5": sums.get("mrr", 0) / of / ONE, "r@1": sums.get("r1", 0) / of} if of else {})


def _margin(detector: TurnKind, task: Task) -> int:
    """By how much it wins that a turn seeks knowledge, or that it doesn't, whichever is right; questions with a further label are questions too."""
    scores = detector.label_scores(task.seen)
    sought = max((score for label, score in scores.items() if label), default=0) - scores.get("", 0)
    return sought if task.right.label else -sought


def _right_snippet(record: Dialogue, turn: int) -> tuple[str, str, str] | None:
    """The key of the snippet that a turn seeks."""
    found = record.turns[turn].knowledge
    return (found[0].domain, found[0].entity_id, found[0].doc_id) if found else None


def _rank(scores: Whole, place: int) -> int:
    """The rank of a snippet, from 1; among equals it stands in the middle."""
    mine = scores[place]
    return 1 + int((scores > mine).sum()) + (int((scores == mine).sum()) - 1) // 2
