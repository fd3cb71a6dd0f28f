"""The kind that matches values and counts which words stand beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from dialmill.pipelines.baselines.ontology import Slot
from dialmill.pipelines.baselines.panel.finders import (
    Counts,
    ExactFinder,
    Found,
    learn_counts,
    pack_counts,
    units_of,
    unpack_counts,
)
from dialmill.pipelines.baselines.panel.kind import ACT, FILL, LABEL, SILENT, Classes, TurnKind, bits
from dialmill.pipelines.baselines.panel.seen import Guess, Seen, Task, topic_of
from numpy.typing import NDArray


class Values(TurnKind):
    """Matches values, and counts which words stand beside those that came into the state: naive Bayes over a few cues, no weights."""

    name = "values"

    def __init__(
        self, language: str, counts: Counts, odds: dict[str, int], cues: dict[str, dict[str, int]], topics: dict[str, dict[str, int]]
    ) -> None:
        self.language, self.odds, self.cues, self.topics = language, odds, cues, topics
        self.finder = ExactFinder(language, counts)
        self._bases = [(name, odds_.get("", 0)) for name, odds_ in cues.items()]
        self._by_word = _inverted(cues)
        self._topics_by_word = _inverted(topics)

    @staticmethod
    def _clues(found: Found, slot: Slot, seen: Seen, whose: str) -> list[str]:
        """What speaks for or against a value's coming into a slot."""
        state = dict(seen.state)
        held = "empty" if slot not in state else "this" if state[slot] == found.values[slot] else "other"
        rival = sum(other[0] == slot[0] for other in found.values)
        name = f"{whose} {slot[0]} {slot[1]}"
        clues = [name, f"{name} <{' '.join(found.left[-1:])}", f"{name} <<{' '.join(found.left[-2:])}", f"{name} >{' '.join(found.right[:1])}"]
        clues += [f"{whose} {held}", f"{name} {held}", f"{whose} {'topic' if slot[0] == seen.topic else 'other' if seen.topic else 'none'}"]
        clues += [f"{whose} rivals {min(rival, 3)}", f"{whose} domains {min(len({other[0] for other in found.values}), 3)}"]
        if whose == "offered":
            opening = units_of(seen.user)
            clues += [f"{whose} {' '.join(opening[:2])}", *(f"{whose} has {word}" for word in sorted({*opening}) if word in _TAKING)]
        else:
            clues += [f"{name} has {word}" for word in sorted({*units_of(seen.user)})[:40] if word == slot[0] or word in slot[0].split()]
        return clues

    @classmethod
    def train(cls, tasks: Sequence[Task], language: str) -> Values:
        counts = learn_counts(tasks)
        finder = ExactFinder(language, counts)
        taken: Counter[str] = Counter()
        left: Counter[str] = Counter()
        for task in tasks:
            for whose, text in (("said", task.seen.user), ("offered", task.seen.system)):
                for found in finder.find(text):
                    for slot, value in found.values.items():
                        into = taken if value in task.right.changed.get(slot, ()) else left
                        into.update(["all", *cls._clues(found, slot, task.seen, whose)])
        # Two imagined values that come in as often as all do, so that what was seldom met says little.
        came, stayed = taken["all"] + 1, left["all"] + 1
        base, whole = bits(came, stayed), came + stayed
        odds = {
            name: bits(taken[name] * whole + 2 * came, left[name] * whole + 2 * stayed) - base
            for name in sorted(taken.keys() | left.keys())
            if taken[name] + left[name] >= 3 and name != "all"
        }
        odds["all"] = base
        return cls(language, counts, odds, cls._learn_cues(tasks), cls._learn_topics(tasks))

    @classmethod
    def _learn_topics(cls, tasks: Sequence[Task]) -> dict[str, dict[str, int]]:
        """How much each word speaks for each domain's being what the turn is about, in units of 2**-16 bits."""
        together: dict[str, Counter[str]] = {}
        for task in tasks:
            topic = topic_of(task.right.changed, task.seen.topic)
            if topic:
                together.setdefault(topic, Counter()).update(["", *cls._topic_words(task.seen)])
        whole: Counter[str] = Counter()
        for counts in together.values():
            whole.update(counts)
        return {
            topic: {word: bits(20 * number * whole[""], 20 * counts[""] * whole[word]) for word, number in sorted(counts.items()) if whole[word] > 2}
            for topic, counts in sorted(together.items())
        }

    @staticmethod
    def _topic_words(seen: Seen) -> set[str]:
        return {*units_of(seen.user), *(f"s {one}" for one in units_of(seen.system)), f"=topic {seen.topic}"}

    def _topic(self, seen: Seen) -> str:
        """The domain that a turn is about: what the words that speak most for and against it say."""
        said: list[list[int]] = [[] for _ in self.topics]
        for word in self._topic_words(seen):
            for place, odds in self._topics_by_word.get(word, ()):
                said[place].append(odds)
        known = max(map(len, said), default=0)
        scored = []
        for topic, mine in zip(self.topics, said, strict=True):
            # A word that a domain has never been spoken of with counts against it.
            mine = sorted([*mine, *[-(3 << 16)] * (known - len(mine))])
            scored.append((sum(mine[:4]) + sum(mine[-4:]), topic))
        return max(scored, default=(0, ""))[1]

    @classmethod
    def _learn_cues(cls, tasks: Sequence[Task]) -> dict[str, dict[str, int]]:
        """The words by which acts, labels and unspelled values are told: of each class those that it has more often than not, with their odds."""
        informs = {f"inform {slot[0]} {slot[1]}" for slot in learn_counts(tasks)}
        having: Counter[str] = Counter()
        classes: Counter[str] = Counter()
        both: dict[str, Counter[str]] = {}
        for task in tasks:
            # That a value is given is told by the value itself.
            names = ["\t".join(name) for name in Classes.of(task) if name[0] != FILL and name[1] not in informs]
            units = cls._words(task.seen)
            having.update(units)
            classes.update(names)
            for name in names:
                both.setdefault(name, Counter()).update(units)
        found: dict[str, dict[str, int]] = {}
        for name, counts in sorted(both.items()):
            base = bits(classes[name], len(tasks) - classes[name])
            scored = {word: bits(number + 1, having[word] - number + 1) - base for word, number in counts.items() if number >= 2}
            best = sorted(scored.items(), key=lambda item: (-abs(item[1]) * min(counts[item[0]], 50), item[0]))[:40]
            found[name] = {"": base, **dict(sorted(best))}
        return found

    @staticmethod
    def _words(seen: Seen) -> set[str]:
        """The words of a turn, and what the state is about."""
        user = units_of(seen.user)
        pairs = [f"{one} {other}" for one, other in pairwise(user)]
        asked = [f"s {one}" for one in units_of(seen.system)[-4:]]
        return {*user, *pairs, *asked, f"=topic {seen.topic}"}

    def guess(self, seen: Seen) -> Guess:
        chosen: dict[Slot, tuple[int, str]] = {}
        topic = self._topic(seen)
        for whose, text in (("said", seen.user), ("offered", seen.system)):
            for found in self.finder.find(text):
                scored = []
                about = [slot for slot in found.values if slot[0] == topic]
                for slot in about or found.values:
                    value = found.values[slot]
                    score = self.odds.get("all", 0) + sum(self.odds.get(clue, 0) for clue in self._clues(found, slot, seen, whose))
                    scored.append((score, slot, value))
                score, slot, value = max(scored)
                if score > 0 and score > chosen.get(slot, (0, ""))[0]:
                    chosen[slot] = (score, value)
        told: dict[Slot, tuple[int, str]] = {}
        acts = []
        heard = self._heard(seen)
        for place, (name, base) in enumerate(self._bases):
            hits = heard.get(place, ())
            kind, *rest = name.split("\t")
            # A list of decisions: the strongest word decides alone, so that words which say the same don't count twice.
            score = base + max(hits, default=0)
            if score > 0 and kind == ACT:
                acts.append(rest[0])
            elif score > 0 and kind == SILENT:
                told[rest[0], rest[1]] = max(told.get((rest[0], rest[1]), (0, "")), (score, rest[2]))
        acts += [name for slot in chosen if (name := f"inform {slot[0]} {slot[1]}") not in acts]
        labels = self._labels(heard)
        label = min(labels, key=lambda name: (-labels[name], name)) if labels else ""
        update = {slot: value for slot, (_, value) in {**told, **chosen}.items()}
        return Guess(update, frozenset(acts), label)

    def _heard(self, seen: Seen) -> dict[int, list[int]]:
        """The odds of the words of a turn, by the place of the class that they speak of."""
        heard: dict[int, list[int]] = {}
        for word in self._words(seen):
            for place, odds in self._by_word.get(word, ()):
                heard.setdefault(place, []).append(odds)
        return heard

    def _labels(self, heard: Mapping[int, Sequence[int]]) -> dict[str, int]:
        found = {}
        for place, (name, base) in enumerate(self._bases):
            kind, *rest = name.split("\t")
            if kind == LABEL:
                found[rest[0] if rest else ""] = base + sum(sorted(heard.get(place, ()), reverse=True)[:3])
        return found

    def label_scores(self, seen: Seen) -> Mapping[str, int]:
        return self._labels(self._heard(seen))

    def parts(self) -> tuple[Any, Sequence[NDArray[Any]]]:
        return [self.language, pack_counts(self.finder.counts), self.odds, self.cues, self.topics], []

    @classmethod
    def of(cls, plain: Any, arrays: Sequence[NDArray[Any]]) -> Values:
        language, counts, odds, cues, topics = plain
        return cls(language, unpack_counts(counts), odds, cues, topics)


def _inverted(odds: dict[str, dict[str, int]]) -> dict[str, list[tuple[int, int]]]:
    """word -> (place of the class, odds) of every class that it speaks of."""
    found: dict[str, list[tuple[int, int]]] = {}
    for place, mine in enumerate(odds.values()):
        for word, value in mine.items():
            if word:
                found.setdefault(word, []).append((place, value))
    return found


#: Words by which an offer is taken.
_TAKING = frozenset({"book", "that", "yes", "sounds", "it", "one", "sure", "please", "great", "perfect", "first", "好", "就", "行", "可", "这", "那"})
