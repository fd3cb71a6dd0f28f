"""From dialogues to examples: the candidates of each, and the places of hard ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest

import msgspec
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.pipelines.benchmarks.cgodial.rbd import ambiguity
from dialmill.pipelines.benchmarks.cgodial.rbd.meaning import Meaning
from dialmill.pipelines.benchmarks.cgodial.rbd.recipe import RetrievalRecipe
from dialmill.pipelines.benchmarks.cgodial.rbd.release import HARD, SPLITS, placed
from dialmill.pipelines.benchmarks.cgodial.writing import keyed
from dialmill.pipelines.candidates import audit
from dialmill.pipelines.candidates.examples import Example, example_number, option, record, release_path
from dialmill.pipelines.core.counters import Counters
from dialmill.pipelines.core.stage import Item, Out, Reject, Stage, dialogue_order
from dialmill.pipelines.core.subsets import FEW as FEW_SHOT
from dialmill.pipelines.core.subsets import HARD as TEST_HARD
from dialmill.pipelines.core.subsets import repeated
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas import Dialogue

#: The suite whose text the release has.
SPOKEN = "spoken"
STEP = "candidates@4"
#: Responses of each split that examples with too few candidates draw from.
_POOL = 2000


class Responses:
    """Some responses of each split, those with the lowest seeded numbers: the same whatever the order."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def create(self) -> dict[str, list[tuple[int, str, str]]]:
        """None yet."""
        return {}

    def add(self, state: dict[str, list[tuple[int, str, str]]], item: Item) -> dict[str, list[tuple[int, str, str]]]:
        """Adds the response of one dialogue."""
        given = SplitDialogue.decode(item[1])
        if given.split is not None:
            answer = given.dialogue.turns[-1].utterance
            mine = state.setdefault(given.split, [])
            mine.append((key_number(self.seed, STEP, "pool", answer), item[0], answer))
            if len(mine) > 2 * _POOL:
                mine[:] = nsmallest(_POOL, mine)
        return state

    def merge(self, states: Iterable[dict[str, list[tuple[int, str, str]]]]) -> dict[str, list[tuple[int, str, str]]]:
        """All of them."""
        merged: dict[str, list[tuple[int, str, str]]] = {}
        for state in states:
            for split, some in state.items():
                merged.setdefault(split, []).extend(some)
        return {split: nsmallest(_POOL, some) for split, some in merged.items()}

    def extract_output(self, state: dict[str, list[tuple[int, str, str]]]) -> dict[str, list[tuple[str, str]]]:
        """(source id, response) by split, in the order of their numbers."""
        found: dict[str, list[tuple[str, str]]] = {}
        for split, some in sorted(state.items()):
            found[split] = [(name, text) for _, name, text in nsmallest(_POOL, some)]
        return found


class NumberHard(Stage):
    """The places of the hard examples in the test file, counted from 0."""

    tags = ("out",)

    def __init__(self, blind: bool) -> None:
        self.path = placed(HARD, blind)

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        examples = sorted(msgspec.msgpack.decode(value, type=tuple[bytes, bytes, bool]) for value in element[1])
        for place, (_, _, hard) in enumerate(examples):
            if hard:
                yield "out", Out(self.path, place.to_bytes(8, "big"), 1, str(place).encode()).item(1)


class ChooseCandidates(Stage):
    """A dialogue into its example, in the words of its spoken variant. Side input: the responses of each split."""

    tags = ("out",)

    def __init__(self, recipe: RetrievalRecipe, seed: int, shards: int) -> None:
        self.recipe, self.seed, self.shards = recipe, seed, shards

    def setup(self) -> None:
        self.meanings: dict[str, Meaning] = {}

    def process(self, element: Item, side: dict[str, list[tuple[str, str]]] | None = None) -> Iterable[tuple[str, Item]]:
        source_id, data = element
        given = SplitDialogue.decode(data)
        split, hard = given.split, bool(given.hard)
        if split is None:
            return
        own = msgspec.msgpack.decode(given.extra, type=list[str])
        counted = self.counters.stage("examples")
        counted.entered += 1
        clean = given.dialogue.replace(split=split, dialogue_id=f"{source_id}/standard/0")
        *context, answer = [turn.utterance for turn in clean.turns]
        pool = [text for other, text in (side or {}).get(split, ()) if other != source_id]
        count = self.recipe.candidate_numbers[split] - 1
        rng = Rng(self.seed, STEP, source_id)
        if split not in self.meanings:
            self.meanings[split] = Meaning(text for _, text in (side or {}).get(split, ()))
        wrong = ambiguity.choose(answer, own, pool, context, count, rng, self.meanings[split], self.recipe.max_similarity)
        if wrong is None:
            self.counters.reject("examples", "too_few_candidates")
            evidence = f"{count} wrong responses are wanted that differ from {answer!r} and from each other"
            yield "out", Reject("examples", "too_few_candidates", evidence, source_id=source_id).out().item(1)
            return
        counted.out += 1
        spoken = self._as_spoken(clean, given.texts.get(SPOKEN, ()))
        order = dialogue_order(clean)
        blind = self.recipe.held_out_labels and split == "test"
        history = [turn.utterance for turn in spoken.turns[:-1]]
        line = keyed(source_id, {"history": history, "true": [answer], "false": wrong})
        pieces = [Out(placed(f"release/{SPLITS[split]}.json", self.recipe.held_out_labels), order, 1, line)]
        if split == "test":
            yield "main", ("", msgspec.msgpack.encode((order, line, hard)))
        options = [option(text) for text in (answer, *wrong)]
        rng.shuffle(options)
        texts = [one.text for one in options]
        path = release_path("ecd", split, 1)
        self.counters.add(Counters(audit={path: audit.measure(history, texts, [texts.index(answer)], lambda word: 1.0)}))
        messages = [("participant_1" if turn.speaker == "user" else "participant_2", turn.utterance, "", "") for turn in spoken.turns[:-1]]
        example = Example(example_number(self.seed, source_id), order, split, 1, messages, [answer], [], [], "participant_2")
        for hidden in (False, True) if blind else (False,):
            place = f"labels/{path}" if blind and not hidden else path
            pieces.append(Out(place, order, 1, record(example, [option(answer)], options, "dstc7", hidden)))
        for out in repeated(pieces, [*([FEW_SHOT] if given.few else []), *([TEST_HARD] if hard else [])]):
            yield "out", out.item(self.shards)

    def _as_spoken(self, clean: Dialogue, texts: Sequence[str]) -> Dialogue:
        """The dialogue as the suite `spoken` has it; where that left it as it is, itself."""
        # A short turn of which nothing was heard stands as it was written: neither form of the release takes an empty one.
        heard = zip(texts or [turn.utterance for turn in clean.turns], clean.turns, strict=True)
        return clean.replace(turns=tuple(turn.replace(utterance=text) if text.strip() else turn for text, turn in heard))
