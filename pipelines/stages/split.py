"""Which split a dialogue belongs to: the source's official lists, or a seeded hash; and how many each split takes.

Every dialogue has a rank, a seeded hash of its source text, so that copies of one text share their place. In a hash split the train
split takes the lowest ranks and the test split the highest; a smaller training set is always part of a larger one (few-shot subsets
nest), and none of it depends on the order of the input.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from heapq import nlargest, nsmallest
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.core.recipe import Recipe
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import Split

SPLITS: tuple[Split, ...] = ("train", "valid", "test")
#: Ranks are 64-bit numbers.
_FULL = 1 << 64
_BLANK_OR_PUNCTUATION = re.compile(r"[\W_]+")


class Fact(msgspec.Struct, array_like=True, frozen=True):
    """What the planner needs to know of a dialogue. The sizes of splits take the lowest `priority` first where the benchmark gives one, else the
    lowest rank. One that is `test_only` is neither for training nor for validation."""

    source: str
    group: str
    official: str | None
    rank: int
    source_id: str
    priority: int | None = None
    test_only: bool = False
    #: Where it stands in the sample of a limited run.
    sample: int = 0
    domains: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[int, str]:
        """Where it stands when a split takes so many of its dialogues."""
        return (self.rank if self.priority is None else self.priority, self.source_id)


class Layout(msgspec.Struct):
    """The plan: how splits are assigned, and the bounds of each group.

    `mode` is "official", "hash" or "keep". `bounds` has, for each group and split, the lowest and highest (rank, source id) it takes; a missing
    entry takes all. `rest_is_train` names the sources whose lists leave the training split out, as MultiWOZ's do: what no list names is train.
    `train_sizes` says how many dialogues of each group are for training.
    """

    mode: str = "hash"
    rest_is_train: list[str] = []
    bounds: dict[str, dict[str, tuple[tuple[int, str], tuple[int, str]] | None]] = {}
    warnings: list[str] = []
    train_sizes: dict[str, int] = {}
    #: The last dialogue of a limited run's sample; None takes all.
    limit: tuple[int, str] | None = None
    #: The domains that dialogues have.
    domains: list[str] = []

    def without_effect(self, recipe: Recipe) -> Iterator[tuple[str, str]]:
        """The keys, and entries of keys, that change nothing given what the input holds, each with the reason."""
        if self.mode == "official":
            for key in ("fractions", "proportional"):
                yield key, "the input has official lists of its splits, which are followed; set splits=hash"
        if self.mode == "hash" and recipe.proportional:
            yield "valid_size", "proportional=true divides what there is into train and test alone; set proportional=false"
        if recipe.few_shot and not any(self.train_sizes.values()):
            yield "few_shot", "no dialogue is in the training split, of which it would be a part"
        for key in ("train_size", "valid_size", "test_size"):
            groups = getattr(recipe, key)
            for name in groups if isinstance(groups, dict) else ():
                if name not in self.train_sizes:
                    yield f"{key}.{name}", f"no dialogue is of the group {name!r}; the groups are {', '.join(sorted(self.train_sizes)) or 'none'}"
        if not self.domains:
            for key in ("domains", "group_by", "suite_domains"):
                yield key, "the dialogues that are left say nothing of their domains"

    def assign(self, fact: Fact, recipe: Recipe) -> tuple[Split | None, str]:
        """The split of a dialogue, or None with the reason."""
        if self.limit is not None and (fact.sample, fact.source_id) > tuple(self.limit):
            return None, "over_limit"
        split, reason = self._assigned(fact, recipe)
        return (None, "unseen_domain") if fact.test_only and split in ("train", "valid") else (split, reason)

    def _assigned(self, fact: Fact, recipe: Recipe) -> tuple[Split | None, str]:
        official = fact.official or ("train" if fact.source in self.rest_is_train else None)
        if self.mode == "keep":
            return _split(official or "test"), ""
        if self.mode == "official":
            if official is None:
                return None, "not_in_official_lists"
            split = _split(official)
        elif recipe.proportional:
            for name, bound in (self.bounds.get(fact.group) or {}).items():
                if bound is not None and bound[0] <= fact.place <= bound[1]:
                    return _split(name), ""
            return None, "not_sampled"
        else:
            split = by_fraction(fact.rank, recipe.fractions)
        bounds = self.bounds.get(fact.group)
        if bounds is not None and split in bounds:
            bound = bounds[split]
            if bound is None or not bound[0] <= fact.place <= bound[1]:
                return None, "not_sampled"
        return split, ""


def _split(name: str) -> Split:
    for split in SPLITS:
        if split == name:
            return split
    raise ValueError(name)


def fingerprint(dialogue: Dialogue) -> str:
    """The words of a dialogue as its source has them, without case, punctuation and blanks: equal for copies of one text."""
    return plain_words("\n".join(turn.source_text for turn in dialogue.turns))


def plain_words(text: str) -> str:
    """A text without case, punctuation and blanks between words."""
    return _BLANK_OR_PUNCTUATION.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def fact_of(dialogue: Dialogue, recipe: Recipe, seed: int, session: str = "") -> Fact:
    """The planner's view of a dialogue. Those of one `session` have one rank, as copies of one text have."""
    group = "+".join(dialogue.domains) if recipe.group_by == "domain" else ""
    rank = key_number(seed, "split", plain_words(session) or fingerprint(dialogue))
    sample = key_number(seed, "limit", dialogue.source, dialogue.source_id) if recipe.limit else 0
    test_only = recipe.test_only(dialogue.domains)
    return Fact(dialogue.source, group, dialogue.split, rank, dialogue.source_id, None, test_only, sample, tuple(dialogue.domains))


def by_fraction(rank: int, fractions: dict[str, float]) -> Split:
    """The split of a rank: train has the lowest ranks, test the highest, in proportion to `fractions`."""
    total = sum(fractions.values())
    reached = 0.0
    for split in SPLITS:
        reached += fractions.get(split, 0.0)
        if rank < reached / total * _FULL:
            return split
    return next(split for split in reversed(SPLITS) if fractions.get(split))


class SplitPlanner:
    """Turns the facts of all dialogues into a `Layout`. Accumulators merge in any order and grow with the sizes wanted, not with the input."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    def create(self) -> dict[str, Any]:
        """An empty accumulator."""
        return {"have": {}, "named": {}, "counts": {}, "low": {}, "sample": [], "domains": []}

    def add(self, state: dict[str, Any], item: tuple[str, bytes]) -> dict[str, Any]:
        """Adds one fact, or the name of a split whose listed dialogue is absent."""
        kind, data = item
        if kind == "absent":
            source, split = msgspec.msgpack.decode(data)
            state["named"].setdefault(source, {}).setdefault(split, 0)
            state["named"][source][split] += 1
            return state
        fact = msgspec.msgpack.decode(data, type=Fact)
        if self.recipe.limit:
            self._sample(state, [(fact.sample, fact.source_id)])
        state["domains"] += [name for name in fact.domains if name not in state["domains"]]
        have = state["have"].setdefault(fact.source, {})
        have[fact.official or ""] = have.get(fact.official or "", 0) + 1
        place = fact.place
        counts = state["counts"].setdefault(fact.group, {})
        given = f"given {fact.official or f'no split by {fact.source}'}"
        if not fact.test_only or fact.official == "test":
            counts[given] = counts.get(given, 0) + 1
        # Candidates for the bounds under both modes; which one holds is known only when all facts are in.
        kinds = [f"official {fact.official or 'train'}"]
        kinds += ["hash train", "hash test"] if self.recipe.proportional else [f"hash {by_fraction(fact.rank, self.recipe.fractions)}"]
        for kind in kinds:
            if not fact.test_only or kind.endswith("test"):
                self._keep(state, fact.group, kind, place)
        return state

    def _sample(self, state: dict[str, Any], places: Iterable[tuple[int, str]]) -> None:
        """Adds to the sample of a limited run, which is trimmed now and then."""
        state["sample"].extend(places)
        limit = self.recipe.limit
        if limit and len(state["sample"]) > 4 * limit + 64:
            state["sample"][:] = nsmallest(limit, state["sample"])

    def _keep(self, state: dict[str, Any], group: str, kind: str, place: tuple[int, str]) -> None:
        counts = state["counts"].setdefault(group, {})
        counts[kind] = counts.get(kind, 0) + 1
        size = self.recipe.size(kind.split()[1], group)
        if size:
            low = state["low"].setdefault(group, {}).setdefault(kind, [])
            low.append(place)
            if len(low) > 4 * size + 64:
                low[:] = self._first(size, kind, low)

    def _first(self, size: int, kind: str, places: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
        """The places that a split of `size` takes: the lowest, but the highest for a test split that shares its ranks with train."""
        if self.recipe.proportional and kind == "hash test":
            return nlargest(size, places)[::-1]
        return nsmallest(size, places)

    def merge(self, states: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """The sum of accumulators, without the places that no bound can depend on any more."""
        merged = self.create()
        for state in states:
            for outer in ("have", "named", "counts"):
                for group, counts in state[outer].items():
                    mine = merged[outer].setdefault(group, {})
                    for name, number in counts.items():
                        mine[name] = mine.get(name, 0) + number
            merged["domains"] += [name for name in state["domains"] if name not in merged["domains"]]
            self._sample(merged, [tuple(place) for place in state["sample"]])
            for group, kinds in state["low"].items():
                for kind, places in kinds.items():
                    kept = merged["low"].setdefault(group, {}).setdefault(kind, [])
                    kept.extend(map(tuple, places))
        for group, kinds in merged["low"].items():
            for kind, kept in kinds.items():
                size = self.recipe.size(kind.split()[1], group)
                if size:
                    kept[:] = self._first(size, kind, kept)
        if self.recipe.limit:
            merged["sample"] = nsmallest(self.recipe.limit, merged["sample"])
        return merged

    def extract_output(self, state: dict[str, Any]) -> Layout:
        """The plan for all that was added."""
        layout = self._plan(state)
        layout.domains = sorted(state["domains"])
        missing = [name for name in self.recipe.domains if "domains" in self.recipe.given and name not in layout.domains]
        if missing and layout.domains:
            layout.warnings.append(f"domains: no dialogue that passes the filters is about {', '.join(missing)}")
        limit = self.recipe.limit
        if limit:
            sample = nsmallest(limit, state["sample"])
            layout.limit = sample[-1] if sample else None
            if len(sample) < limit:
                layout.warnings.append(f"limit: {len(sample)} dialogues of the {limit} wanted pass the filters")
        return layout

    def _plan(self, state: dict[str, Any]) -> Layout:
        recipe = self.recipe
        rest_is_train = []
        for source, have in sorted(state["have"].items()):
            unlisted = have.get("", 0)
            if unlisted and len(have) > 1 and not have.get("train") and not state["named"].get(source, {}).get("train"):
                rest_is_train.append(source)
                have["train"] = unlisted
        if recipe.splits == "keep":
            return Layout("keep", rest_is_train, train_sizes=self._train_sizes("keep", state["counts"], rest_is_train))
        warnings: list[str] = []
        mode = "hash" if recipe.splits == "hash" else "official"
        if mode == "official":
            lacking = []
            for source, have in sorted(state["have"].items()):
                if source in recipe.simulated:
                    continue  # made to order, it has what it is to have
                missing = [split for split in SPLITS if not have.get(split)]
                if missing:
                    absent = state["named"].get(source, {})
                    listed = ", ".join(f"{split} ({absent[split]} listed, none in the input)" if absent.get(split) else split for split in missing)
                    none_listed = set(have) == {""} and not absent
                    lacking.append(f"{source} came without split lists" if none_listed else f"{source} has no data for its official {listed}")
            if lacking and recipe.splits == "official":
                warnings.append("; ".join(lacking))
            elif lacking:
                mode = "hash"
                how = "train and test sizes" if recipe.proportional else "/".join(f"{part:g}" for part in recipe.fractions.values())
                warnings.append("; ".join(lacking) + f": split by a deterministic hash instead ({how}); splits=official takes what is there")
        layout = Layout(mode, rest_is_train, {}, warnings, self._train_sizes(mode, state["counts"], rest_is_train))
        for group, counts in sorted(state["counts"].items()):
            bounds = self._bounds(group, mode, counts, state["low"].get(group, {}), warnings)
            if bounds:
                layout.bounds[group] = bounds
        return layout

    def _train_sizes(self, mode: str, groups: dict[str, dict[str, int]], rest_is_train: Iterable[str]) -> dict[str, int]:
        """How many dialogues of each group are for training."""
        sizes = {}
        for group, counts in sorted(groups.items()):
            if mode == "hash":
                number = counts.get("hash train", 0)
                if self.recipe.proportional:
                    number = self._shares(group, number)["train"]
            else:
                number = counts.get("given train", 0) + sum(counts.get(f"given no split by {source}", 0) for source in rest_is_train)
            bound = self.recipe.size("train", group) if mode != "keep" else None
            sizes[group] = number if bound is None else min(number, bound)
        return sizes

    def _bounds(self, group: str, mode: str, counts: dict[str, int], low: dict[str, list[Any]], warnings: list[str]) -> dict[str, Any]:
        recipe = self.recipe
        bounds: dict[str, Any] = {}
        proportional = mode == "hash" and recipe.proportional
        shares = self._shares(group, counts.get("hash train", 0)) if proportional else {}
        for split in SPLITS:
            size = recipe.size(split, group)
            if size is None:
                continue
            available = shares.get(split, 0) if proportional else counts.get(f"{mode} {split}", 0)
            take = min(size, available)
            if take < size:
                warnings.append(f"{group or 'all'}: {split} has {take} dialogues of the {size} wanted: the input holds no more")
            places = self._first(take, f"{mode} {split}", [tuple(place) for place in low.get(f"{mode} {split}", [])])
            bounds[split] = (places[0], places[-1]) if places else None
        train, test = bounds.get("train"), bounds.get("test")
        if proportional and train and test and test[0][0] <= train[1][0]:
            # Copies of one text share a rank: where the border falls among them, they stay on its train side.
            bounds["test"] = ((train[1][0] + 1, ""), test[1])
        return bounds

    def _shares(self, group: str, available: int) -> dict[str, int]:
        """How `available` dialogues are divided when train and test shrink alike; each gets one while there are two."""
        train, test = (self.recipe.size(split, group) for split in ("train", "test"))
        if train is None or test is None or not train + test:
            return {"train": train or 0, "test": test or 0}
        if available >= train + test:
            return {"train": train, "test": test}
        take = min(max(round(available * train / (train + test)), 1 if train else 0), available - (1 if test and available > 1 else 0))
        return {"train": take, "test": available - take}
