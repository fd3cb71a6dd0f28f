"""From dialogues to pools: every response of a domain into one pool, then the candidates of every turn of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.pipelines.benchmarks.simmc.recipe import Track4Recipe
from dialmill.pipelines.benchmarks.simmc.release import Entry, domain_of, edition_of, entries, identity, release_path
from dialmill.pipelines.candidates import audit
from dialmill.pipelines.candidates.gather import PartFiles, contribution
from dialmill.pipelines.candidates.keys import candidate_key, hashes, key_hash, token_hashes
from dialmill.pipelines.candidates.pool import EVERY, SPLIT_BITS, WEIGHT, Pool, PoolInfo, join_shards, open_pool
from dialmill.pipelines.candidates.proportional import ProportionalDraw
from dialmill.pipelines.core import files
from dialmill.pipelines.core.blind import drawn
from dialmill.pipelines.core.counters import SHORTFALL, Counters
from dialmill.pipelines.core.stage import Item, Out, Stage, compress, decompress, dialogue_order
from dialmill.pipelines.core.subsets import FEW, HARD, in_subset
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas import Dialogue
from dialmill.schemas.dialogue import STANDARD

STEP = "simmc_pool@1"


class Question(msgspec.Struct, array_like=True):
    """A turn that asks for a response: its number, what was said before, and the response."""

    number: int
    context: list[str]
    answer: str


class Asking(msgspec.Struct, array_like=True):
    """What the questions of one dialogue have in common: its id as the file has it, where it stands, its domain, the `key_hash` of every response it
    has, and the subsets that it is in."""

    identity: int | str
    source_id: str
    order: bytes
    split: str
    domain: str
    forbidden: list[int]
    questions: list[Question]
    subsets: list[str]


def place_of(dialogue: Dialogue, found: Sequence[Entry], seed: int) -> int | None:
    """Which entry of a dialogue is asked for where labels are held out; None where the assistant never answers."""
    answered = [at for at, entry in enumerate(found) if entry.system is not None]
    return drawn(answered, seed, dialogue.source_id, "instance") if answered else None


class AskTurns(Stage):
    """A dialogue into its questions, and its responses into the pool of its domain."""

    tags = ("question", "utterance")

    def __init__(self, recipe: Track4Recipe, seed: int, parts: int) -> None:
        self.recipe, self.seed, self.parts = recipe, seed, parts

    def process(self, element: Item, side: object = None) -> Iterable[tuple[str, Item]]:
        given = SplitDialogue.decode(element[1])
        if given.split is None:
            return
        dialogue, split = given.dialogue, given.split
        found = entries(dialogue)
        domain = domain_of(dialogue)
        answered = [entry for entry in found if entry.system is not None]
        if self.recipe.held_out_labels and split == "test":
            place = place_of(dialogue, found, self.seed)
            answered = [] if place is None else [found[place]]
        asked = {entry.number for entry in answered}
        for entry in found:
            if entry.system is not None:
                # Where one turn is asked for alone, no response but it can be an answer: what never is one could be told from it.
                weight = WEIGHT if entry.number in asked else 0
                yield from contribution(entry.system.utterance, SPLIT_BITS[split], weight, pool=domain, parts=self.parts)
        if not answered:
            return
        said = [turn.utterance for turn in dialogue.turns]
        responses = [entry.system.utterance for entry in found if entry.system is not None]
        questions = [Question(entry.number, said[: entry.user.turn + 1], entry.system.utterance) for entry in answered if entry.system is not None]
        hard = any(name.split("/")[-2] == STANDARD for name in given.hard)
        subsets = [*([FEW] if given.few else []), *([HARD] if hard else [])]
        own = dialogue.replace(split=split)
        asking = Asking(identity(own), own.source_id, dialogue_order(own), split, domain, hashes(responses), questions, subsets)
        path = release_path(edition_of(dialogue), domain, split, "_retrieval_candidates")
        yield "question", (path, compress(msgspec.msgpack.encode(asking)))


class WritePool(Stage):
    """The parts of a domain's pool into its files, below `folder`."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        info = join_shards(PartFiles(element[1]), files.join(self.folder, "parts", f"pool-{element[0]}"), None, False)
        yield "main", (element[0], msgspec.msgpack.encode(info))


class Pools:
    """Combiner: the pool of each domain."""

    def create(self) -> dict[str, PoolInfo]:
        """No pool."""
        return {}

    def add(self, state: dict[str, PoolInfo], item: Item) -> dict[str, PoolInfo]:
        """Adds a pool."""
        return state | {item[0]: msgspec.msgpack.decode(item[1], type=PoolInfo)}

    def merge(self, states: Iterable[dict[str, PoolInfo]]) -> dict[str, PoolInfo]:
        """All of them."""
        return {domain: info for state in states for domain, info in state.items()}

    def extract_output(self, state: dict[str, PoolInfo]) -> dict[str, PoolInfo]:
        """The pools, by domain."""
        return dict(sorted(state.items()))


class _Drawn(msgspec.Struct):
    """The candidates of a question by their places in the pool, and the answer's place among them."""

    number: int
    places: list[int]
    right: int


class DrawPools(Stage):
    """The candidates of every turn of one file, which is written as a whole: candidates are numbers into a list that the file begins with. Side
    input: the pools.

    A response that differs from another by case or punctuation alone is the same candidate, and stands as the pool has it, also as the answer.
    """

    tags = ("out",)

    def __init__(self, recipe: Track4Recipe, seed: int) -> None:
        self.recipe, self.seed = recipe, seed

    def process(self, element: tuple[str, Iterable[bytes]], side: dict[str, PoolInfo] | None = None) -> Iterable[tuple[str, Item]]:
        path, values = element
        asking = sorted((msgspec.msgpack.decode(decompress(value), type=Asking) for value in values), key=lambda one: (one.order, one.source_id))
        pools = {domain: open_pool(info.folder) for domain, info in (side or {}).items()}
        drawn_of: dict[str, list[_Drawn]] = {}
        total: dict[str, int] = {}
        for domain in sorted({one.domain for one in asking}):
            mine = [one for one in asking if one.domain == domain]
            drawn_of |= self._domain(path, pools[domain], mine, total)
        self.counters.add(Counters(audit={path: total} if total else {}))
        yield from self._written(path, asking, pools, drawn_of)

    def _domain(self, path: str, pool: Pool, asking: Sequence[Asking], total: dict[str, int]) -> dict[str, list[_Drawn]]:
        """The candidates of the dialogues of one domain, by source id."""
        recipe, split = self.recipe, asking[0].split
        own = SPLIT_BITS[split]
        # Where labels are held out, what other splits say is public, and a candidate that stands there would be known to be wrong.
        hides = recipe.held_out_labels and split == "test"
        enough = hides or (recipe.pool_scope == "split" and len(pool.likely(own)) >= 2 * recipe.candidates)
        bits = own if enough else EVERY
        if not enough and recipe.pool_scope == "split":
            there = f"{split} of {asking[0].domain} has {len(pool.likely(own)):,} different responses"
            self.counters.note(f"{SHORTFALL}{path}: {there}, so that wrong ones come from all splits")
        draw = ProportionalDraw(pool, recipe.candidates, bits, (one.forbidden for one in asking for _ in one.questions))
        if draw.count < recipe.candidates:
            there = f"{asking[0].domain} has {len(draw.places):,} different responses"
            self.counters.note(f"{SHORTFALL}{path}: {there}, so that a turn has {draw.count} candidates, and not {recipe.candidates}")
        asked = [(one.source_id, question.number) for one in asking for question in one.questions]
        said = Counter(key_hash(candidate_key(question.answer)) for one in asking for question in one.questions)
        common = {number for number, often in said.items() if often > 1 and often * draw.count > len(asked)}
        if common:
            told = f"{sum(said[number] for number in common):,} turns have a response that more than one in {draw.count} turns has"
            self.counters.note(f"{SHORTFALL}{path}: {told}: that it is said so often tells it, and no pool can hide it")
        audited = set(sorted(asked, key=lambda key: key_number("audit@1", *key))[: audit.SAMPLE])
        weigh = _weights(pool)
        held: Counter[int] = Counter()
        found: dict[str, list[_Drawn]] = {}
        for one in asking:
            for question in one.questions:
                made = self._question(pool, draw, one, question)
                if made is None:
                    continue
                held.update(made.places)
                found.setdefault(one.source_id, []).append(made)
                if (one.source_id, question.number) in audited and key_hash(candidate_key(question.answer)) not in common:
                    texts = [pool.text(place) for place in made.places]
                    audit.add(total, audit.measure(question.context, texts, [made.right], weigh))
        if total:
            audit.add(total, {"sets": sum(map(len, found.values())), "most_held": max(held.values(), default=0)})
        return found

    def _question(self, pool: Pool, draw: ProportionalDraw, one: Asking, question: Question) -> _Drawn | None:
        answer = pool.find(key_hash(candidate_key(question.answer)))
        if answer is None:
            # It says nothing in words: no candidates differ from it.
            self.counters.note("answer_without_words")
            return None
        rng = Rng(self.seed, STEP, one.source_id, question.number)
        places = draw.distractors(rng, question.answer, one.forbidden)
        if len(places) < draw.count - 1:
            self.counters.note("pool_short")
        right = rng.below(len(places) + 1)
        return _Drawn(question.number, [*places[:right], answer, *places[right:]], right)

    def _written(self, path: str, asking: Sequence[Asking], pools: dict[str, Pool], drawn_of: dict[str, list[_Drawn]]) -> Iterable[tuple[str, Item]]:
        """The file, those of the subsets, which share its list, and the answers of one whose labels are held out."""
        domains = {one.source_id: one.domain for one in asking}
        used: dict[str, set[int]] = {}
        for source_id, made in drawn_of.items():
            used.setdefault(domains[source_id], set()).update(place for one in made for place in one.places)
        # In the order of a hash: where a response stands in the list says nothing of it.
        number = {domain: {place: at for at, place in enumerate(sorted(places))} for domain, places in used.items()}
        listed = {domain: [pools[domain].text(place) for place in sorted(places)] for domain, places in sorted(used.items())}
        hides = self.recipe.held_out_labels and bool(asking) and asking[0].split == "test"
        by_subset: dict[str, list[Asking]] = {"": list(asking)}
        for one in asking:
            for subset in one.subsets:
                by_subset.setdefault(subset, []).append(one)
        for subset, some in by_subset.items():
            for hidden in (True, False) if hides else (False,):
                lines = [_line(one, drawn_of.get(one.source_id, []), number.get(one.domain, {}), hidden) for one in some]
                target = in_subset(subset, path) if subset else path
                place = f"labels/{target}" if hides and not hidden else target
                content = _document(listed, lines, "_dials_dstc" in path)
                yield "out", Out(place, b"\0", 1, content).item(1)


def _line(one: Asking, made: Sequence[_Drawn], number: dict[int, int], hidden: bool) -> bytes:
    """The candidates of a dialogue's turns, as numbers into the list; without the answers where these are held out."""
    turns: list[dict[str, Any]] = []
    for each in made:
        turn: dict[str, Any] = {"turn_idx": each.number, "retrieval_candidates": [number[place] for place in each.places]}
        turns.append(turn if hidden else turn | {"gt_index": each.right})
    return msgspec.json.encode({"dialogue_idx": one.identity, "retrieval_candidates": turns})


def _document(listed: dict[str, list[str]], lines: Sequence[bytes], by_domain: bool) -> bytes:
    """The members of a file: the list of responses (of 2.x one for each domain), a response a line, and the candidates, a dialogue a line."""

    def lines_of(texts: Sequence[str]) -> bytes:
        return b"[\n" + b",\n".join(msgspec.json.encode(text) for text in texts) + b"\n]"

    pool = b",\n".join(msgspec.json.encode(domain) + b": " + lines_of(texts) for domain, texts in listed.items())
    pool = b"{" + pool + b"}" if by_domain else lines_of([text for texts in listed.values() for text in texts])
    return b'"system_transcript_pool": ' + pool + b',\n"retrieval_candidates": [\n' + b",\n".join(lines) + b"\n]"


def _weights(pool: Pool) -> audit.Idf:
    """How rare a word is in a pool."""
    known: dict[str, float] = {}
    rare = float(pool.idf.max()) if len(pool.idf) else 1.0

    def weight(word: str) -> float:
        if word not in known:
            number = pool.numbers(token_hashes(word))
            known[word] = float(pool.idf[number[0]]) if len(number) else rare
        return known[word]

    return weight
