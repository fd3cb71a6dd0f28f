"""The stages between conversations and release files: gather the pool, then draw every example's candidates while its file is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.pipelines.benchmarks.noesis.recipe import SelectionRecipe
from dialmill.pipelines.benchmarks.noesis.release import also_right_path, responses_path
from dialmill.pipelines.candidates import audit, examples
from dialmill.pipelines.candidates.draw import Draw, Drawn
from dialmill.pipelines.candidates.examples import Example, Option
from dialmill.pipelines.candidates.gather import OnePool, PartFiles, PoolShard
from dialmill.pipelines.candidates.keys import candidate_key, key_hash, token_hashes
from dialmill.pipelines.candidates.pool import SHARED, SPLIT_BITS, Pool, PoolInfo, join_shards, open_pool
from dialmill.pipelines.core import files
from dialmill.pipelines.core.counters import SHORTFALL, Counters
from dialmill.pipelines.core.stage import Item, Out, Reject, Stage, compress, decompress
from dialmill.pipelines.core.subsets import FEW, HARD, in_subset
from dialmill.pipelines.sinks.parts import part_path
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas.dialogue import STANDARD

#: Bytes of input that an example file's shard is made from.
_SHARD_BYTES = 6 << 20
#: Examples of a shard at least, where a split's size is bounded: each shard keeps candidates to their share of the sets by itself.
_SHARD_EXAMPLES = 1000


def example_shards(bytes_in: int, recipe: SelectionRecipe) -> dict[str, int]:
    """Shards of the release files of each split: candidates make them many times larger than the conversations."""
    most = max(1, min(256, bytes_in // _SHARD_BYTES))
    sizes = {split: recipe.size(split, "") for split in SPLIT_BITS}
    return {split: most if size is None else max(1, min(most, size // _SHARD_EXAMPLES)) for split, size in sizes.items()}


def packed_example(path: str, example: Example, shards: Mapping[str, int]) -> tuple[str, Item]:
    """An example on its way to its file, whose split has so many shards."""
    return "example", (f"{path}\t{example.order[0] * shards[example.split] // 256}", compress(msgspec.msgpack.encode(example)))


def subsets_of(given: SplitDialogue, answer: int | None = None) -> list[str]:
    """The subsets that an example of a conversation is in: few_shot, or test_hard where the turn that answers is hard in the unperturbed record,
    whose text it has."""
    hard = any(answer in turns for name, turns in given.hard_turns.items() if name.split("/")[-2] == STANDARD)
    return [*([FEW] if given.few else []), *([HARD] if hard else [])]


class JoinPool(Stage):
    """The parts into a pool below `folder`, and the shared pool into its release file."""

    def __init__(self, folder: str, recipe: SelectionRecipe, form: examples.Form, shared_path: str | None) -> None:
        self.folder, self.recipe, self.form, self.shared_path = folder, recipe, form, shared_path

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        place = files.join(self.folder, "parts", "pool")
        size = self.recipe.pool_size if self.shared_path else None
        info = join_shards(PartFiles(element[1]), place, size, self.recipe.distractors == "similar")
        if self.shared_path:
            if info.shared < self.recipe.pool_size:
                wanted = f"{info.shared:,} candidates of the {self.recipe.pool_size:,} wanted"
                self.counters.note(f"{SHORTFALL}the shared pool has {wanted}: the input holds no more")
            self._write_shared(open_pool(place), self.shared_path)
        yield "main", ("", msgspec.msgpack.encode(info))

    def _write_shared(self, pool: Pool, path: str) -> None:
        number = size = 0
        with files.create(part_path(self.folder, path, 0)) as stream:
            for at in pool.members(SHARED).tolist():
                text = pool.text(at)
                line = f"{examples.candidate_id(examples.Option(text, int(pool.key[at])), self.form)}\t{text}\n".encode()
                stream.write(line)
                number, size = number + 1, size + len(line)
        self.counters.add(Counters(parts=[(path, 0, number, size)]))


@dataclass
class _Part:
    """One shard of a release file while it is written."""

    path: str
    stream: Any = None
    number: int = 0
    size: int = 0

    def write(self, data: bytes) -> None:
        """Adds a record."""
        data = b",\n" + data if self.number else data
        self.stream.write(data)
        self.number, self.size = self.number + 1, self.size + len(data)


class WriteExamples(Stage):
    """All examples of one shard of a release file, with their candidates, into a part file. Side input: the pool.

    The candidates never travel: a hundred for each example would be a hundred times the conversations. Which examples
    are hard was decided before, by rankers that saw each answer among others.
    """

    tags = ("out",)

    def __init__(
        self,
        folder: str,
        recipe: SelectionRecipe,
        form: examples.Form,
        seed: int,
        shards: Mapping[str, int],
        none_scenarios: frozenset[int],
        shared: int | None,
    ) -> None:
        self.folder, self.recipe, self.form, self.seed, self.shards = folder, recipe, form, seed, shards
        self.none_scenarios, self.shared = none_scenarios, shared
        self.thin = not getattr(recipe, "keep_common_answers", True)

    def process(self, element: tuple[str, Iterable[bytes]], side: PoolInfo | None = None) -> Iterable[tuple[str, Item]]:
        assert side is not None
        path, shard = element[0].rsplit("\t", 1)
        made = sorted((msgspec.msgpack.decode(decompress(value), type=Example) for value in element[1]), key=lambda one: (one.order, one.number))
        pool = open_pool(side.folder)
        recipe = self.recipe
        draw = Draw(pool, recipe.candidates, recipe.distractors == "similar", recipe.pool_scope == "split", recipe.max_pool_share)
        if self.thin:
            made, common = self._thinned(made, draw)
            yield from common
        without = self._without_answer(made)
        draw.expect(made[0].split, (answer for one in made if one.number not in without for answer in one.answers), len(made)) if made else None
        sampled = -(-audit.SAMPLE // self.shards[made[0].split]) if made else 0
        audited = set(sorted((one.number for one in made), key=lambda number: key_number("audit@1", number))[:sampled])
        total: dict[str, int] = {}
        blind = self.recipe.held_out_labels and "_test" in path
        with ExitStack() as streams:
            parts = {"": _Part(path)} | {subset: _Part(in_subset(subset, path)) for subset in sorted({name for one in made for name in one.subsets})}
            for part in parts.values():
                part.stream = streams.enter_context(files.create(part_path(self.folder, part.path, int(shard))))
            for one in made:
                doubtful: list[Option] = []
                if one.scenario == self.shared:
                    at = pool.find(key_hash(candidate_key(one.answers[0])))
                    # As the pool has it, which may write the same answer with another comma.
                    answers, options = [examples.option(pool.text(at) if at is not None else one.answers[0])], None
                else:
                    answers, options, doubtful = self._options(one, one.number in without, draw)
                    if answers and one.number in audited:
                        said, right = [text for _, text, _, _ in one.messages], [options.index(answer) for answer in answers]
                        audit.add(total, audit.measure(said, [option.text for option in options], right, self._idf(pool)))
                data = examples.record(one, answers, options, self.form, blind)
                for name in ("", *one.subsets):
                    parts[name].write(data)
                    yield from self._ground_truth(parts[name].path, one, answers, blind)
                    yield from self._also_right(parts[name].path, one, doubtful, blind)
        if made and made[0].scenario != self.shared:
            total |= {"sets": len(made), "most_held": draw.most_held}
            self._tell_share(made[0].split, draw)
        self.counters.add(
            Counters(
                parts=[(part.path, int(shard), part.number, part.size) for part in parts.values() if part.number],
                audit={path: total} if total else {},
            )
        )

    def _tell_share(self, split: str, draw: Draw) -> None:
        """Says where the pool is too small for the wanted share of the sets."""
        bits, most = draw.reach(split), self.recipe.max_pool_share
        fair = draw.fair_share(bits)
        if fair > most:
            wanted = f"a candidate may stand in {fair:.1%} of the sets of a file, not in {most:.1%} at most (max_pool_share)"
            self.counters.note(f"{SHORTFALL}{split}: {wanted}: there are only {draw.candidates(bits):,} different ones that could be an answer")
        if draw.beyond:
            self.counters.note("pool_share_exceeded", draw.beyond)

    def _thinned(self, made: list[Example], draw: Draw) -> tuple[list[Example], list[tuple[str, Item]]]:
        """The examples to keep, and the others as rejects: of those whose answer is said all the time only a share stays (see `Draw.keep_share`)."""
        counted = self.counters.stage("candidates")
        kept, others = [], []
        for one in made:
            counted.entered += 1
            if Rng(self.seed, "keep@1", one.number).random() < draw.keep_share(one.split, one.answers[0]):
                counted.out += 1
                kept.append(one)
                continue
            self.counters.reject("candidates", "common_answer")
            evidence = f"example {one.number} of subtask {one.scenario}: {one.answers[0]!r} is said all the time; keep_common_answers=true keeps it"
            others.append(("out", Reject("candidates", "common_answer", evidence, source_id=str(one.number)).out().item(1)))
        return kept, others

    def _without_answer(self, made: list[Example]) -> set[int]:
        """The examples whose answer is taken away, the configured share of them."""
        if not made or made[0].scenario not in self.none_scenarios or made[0].scenario == self.shared:
            return set()
        ranked = sorted((one.number for one in made), key=lambda number: key_number(self.seed, "none@1", number))
        return set(ranked[: round(self.recipe.none_share * len(made))])

    def _options(self, one: Example, without: bool, draw: Draw) -> tuple[list[Option], list[Option], list[Option]]:
        """The answers that stand among the options (none, where the example shall have none), the options, and what may be right as well."""
        rng = Rng(self.seed, "options@3", one.number)
        answers = [] if without else [examples.option(answer) for answer in one.answers]
        context = [text for _, text, _, _ in one.messages]
        wanted = self.recipe.candidates - len(answers)
        drawn: Drawn = draw.distractors(rng, one.split, wanted, [*one.answers, *one.others], one.forbidden, context)
        options, doubtful = ([Option(draw.pool.text(place), int(draw.pool.key[place])) for place in places] for places in drawn)
        if self.form == "dstc8":
            people = len({speaker for speaker, _, _, _ in one.messages})
            options = [option._replace(text=examples.fit_participants(option.text, people)) for option in options]
        if len(options) < wanted:
            self.counters.note("pool_short")
        for answer in answers:
            options.insert(rng.below(len(options) + 1), answer)
        return answers, options, doubtful

    def _idf(self, pool: Pool) -> audit.Idf:
        rare = float(pool.idf.max()) if len(pool.idf) else 1.0

        def weight(word: str) -> float:
            known = weights.get(word)
            if known is None:
                number = pool.numbers(token_hashes(word))
                known = weights[word] = float(pool.idf[number[0]]) if len(number) else rare
            return known

        weights = self._weights = getattr(self, "_weights", {})
        return weight

    def _also_right(self, path: str, one: Example, doubtful: list[Option], blind: bool) -> Iterable[tuple[str, Item]]:
        """The candidates that were left out because they may be right as well: example-id, candidate-id, utterance."""
        if doubtful:
            where = "labels/" if blind else ""
            rows = [f"{one.number}\t{examples.candidate_id(option, self.form)}\t{option.text}" for option in doubtful]
            order = one.order + one.number.to_bytes(8, "big")
            yield "out", Out(where + also_right_path(path), order, len(rows), "\n".join(rows).encode()).item(self.shards[one.split])

    def _ground_truth(self, path: str, one: Example, answers: list[Option], blind: bool) -> Iterable[tuple[str, Item]]:
        ids = ",".join(examples.candidate_id(answer, self.form) for answer in answers) or "NONE"
        where = "labels/" if blind else ""
        order = one.order + one.number.to_bytes(8, "big")
        targets = where + path.removesuffix(".json") + ".targets.tsv"
        yield "out", Out(targets, order, 1, f"{one.number}\t{ids.upper()}".encode()).item(self.shards[one.split])
        if one.split == "test":
            responses = where + responses_path(path)
            rows = [f"{one.number}\t{examples.candidate_id(answer, self.form)}\t{answer.text}" for answer in answers] or [f"{one.number}\tNONE\t"]
            yield "out", Out(responses, order, len(rows), "\n".join(rows).encode()).item(self.shards[one.split])


def selection(
    engine: Any,
    job: Any,
    folder: str,
    made: Any,
    recipe: SelectionRecipe,
    form: examples.Form,
    none_scenarios: frozenset[int],
    shared: tuple[int, str] | None,
) -> list[Any]:
    """From the utterances and examples that a stage made to release files.

    Args:
        made: outputs with the tags "utterance", "example" and "out".
        shared: the subtask with one pool for all examples, and the pool's file.
    """
    parts = engine.apply("one of each candidate", PoolShard(folder), engine.group("bring equal candidates together", made.tagged["utterance"]))
    join = JoinPool(folder, recipe, form, shared[1] if shared else None)
    pool = engine.apply("write the pool", join, engine.group("bring the pool together", parts.main))
    info = engine.combine("find the pool", OnePool(), pool.main)
    shards = example_shards(sum(one.size for one in job.inputs), recipe)
    write = WriteExamples(folder, recipe, form, job.seed, shards, none_scenarios, shared[0] if shared else None)
    written = engine.apply("draw candidates", write, engine.group("collect examples", made.tagged["example"]), side=info)
    return [made, parts, pool, written]
