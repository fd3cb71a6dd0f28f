"""From the pieces of chat logs to dialogues: join, read, link replies, gather conversations, filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.core.source import Piece, Source
from dialmill.pipelines.core.stage import Item, Out, Reject, Stage, compress, decompress
from dialmill.pipelines.disentangle import dialogues as conversations
from dialmill.pipelines.disentangle.frame import person_key
from dialmill.pipelines.disentangle.logs import Log, LogLine, cluster_lines, graph_lines
from dialmill.pipelines.disentangle.metrics import conversations as join_links
from dialmill.pipelines.disentangle.model import DEFAULT_MODEL, LinkModel, disentangle
from dialmill.pipelines.disentangle.nicknames import NO_NAMES, Names, Nicks, called_in, programs_in, programs_of
from dialmill.pipelines.disentangle.recipe import LogRecipe
from dialmill.pipelines.disentangle.source import GATHERED, MessageSource
from dialmill.pipelines.stages.filters import refusal
from dialmill.pipelines.stages.items import ParsedDialogue, pack_dialogue
from dialmill.pipelines.stages.read import as_piece
from dialmill.pipelines.stages.split import fact_of
from dialmill.schemas import Dialogue

#: Lines that the link model takes at a time; the links don't depend on it.
_CHUNK = 20_000
#: The links and the conversations of all logs, in upstream's form, beside the folder of annotations.
GRAPHS, CLUSTERS = "links.graphs.txt", "links.clusters.txt"


class _Met(msgspec.Struct):
    """While names are gathered: who speaks, whom others address and how often, what is run."""

    nicks: set[str]
    called: Counter[str]
    run: Counter[str]


class GatherNames:
    """The combiner of the names of all logs, from their pieces; a log that can't be read has none."""

    def __init__(self, inputs: list[InputFile], sources: Mapping[str, Source]) -> None:
        self.inputs, self.sources = inputs, sources

    def create(self) -> _Met:
        """None yet."""
        return _Met(set(), Counter(), Counter())

    def add(self, state: _Met, item: tuple[str, bytes]) -> _Met:
        """Adds those of a log."""
        piece = as_piece(item[1])
        if piece.kind != "dialogue":
            return state
        source = self.sources[self.inputs[piece.file].source]
        assert isinstance(source, MessageSource)
        try:
            log, _ = source.read(item[0], [piece._replace(data=decompress(piece.data))])
        except RecordError:
            return state
        self.add_lines(state, log.lines)
        return state

    @staticmethod
    def add_lines(state: _Met, lines: Iterable[LogLine]) -> None:
        """Adds those of some lines."""
        for line in lines:
            if line.is_talk:
                state.nicks.update((line.nick.lower(), person_key(line.nick)))
                found = called_in(line.text)
                if found is not None:
                    state.called[found] += 1
                state.run.update(programs_in(line.text))

    def merge(self, states: Iterable[_Met]) -> _Met:
        """All of them."""
        made = self.create()
        for state in states:
            made.nicks |= state.nicks
            made.called.update(state.called)
            made.run.update(state.run)
        return made

    def extract_output(self, state: _Met) -> Names:
        """Without counts."""
        return Names(frozenset(state.nicks - {""}), frozenset(state.called), programs_of(state.run, state.called))


class JoinLogs(Stage):
    """All pieces of one log into the conversations that passed the filters, with the facts that the split planner needs. Side input: the `Names` of
    all logs, where names are taken out."""

    tags = ("out", "fact", "pool")

    def __init__(self, inputs: list[InputFile], sources: Mapping[str, Source], recipe: LogRecipe, seed: int) -> None:
        self.inputs, self.sources, self.recipe, self.seed = inputs, sources, recipe, seed

    def process(self, element: tuple[str, Iterable[bytes]], side: object = None) -> Iterable[tuple[str, Item]]:
        name, values = element
        names = side if isinstance(side, Names) else NO_NAMES
        pieces = sorted((as_piece(value) for value in values), key=lambda piece: piece[1:3])
        logs = [piece for piece in pieces if piece.kind == "dialogue"]
        if not logs:
            # A file with the links of many logs may be of more than the input has.
            for kind in sorted({piece.kind for piece in pieces if not (piece.kind == "links" and decompress(piece.data).startswith(GATHERED))}):
                self.counters.note(f"{kind}_but_no_log")
            return
        first = logs[0]
        source = self.sources[self.inputs[first.file].source]
        assert isinstance(source, MessageSource)
        read = self.counters.stage("read")
        read.entered += len(logs)
        parts = source.parts([piece._replace(data=decompress(piece.data)) for piece in logs if self.inputs[piece.file].source == source.name])
        mine = {(piece.file, piece.index) for piece in parts}
        for piece in logs:
            if piece[1:3] not in mine:
                yield self._reject("read", RecordError("duplicate_id", f"kept: {self.inputs[first.file].shown}"), piece, name)
        rest = [piece if piece.kind == "split" else piece._replace(data=decompress(piece.data)) for piece in pieces if piece.kind != "dialogue"]
        try:
            log, annotated = source.read(name, [*parts, *rest])
            if self.recipe.links == "annotated" and annotated is None:
                raise RecordError("not_annotated", "there is no NAME.annotation.txt beside this log; links=predicted does without")
        except RecordError as error:
            for piece in parts:
                yield self._reject("read", error, piece, name)
            return
        read.out += len(parts)
        yield from self._count_lines(log, first)
        links, sure = (annotated or [], {}) if self.recipe.links == "annotated" else predicted(log, self.recipe.model)
        if annotated and self.recipe.links != "annotated":
            self._score(annotated, links)
        if self.recipe.writes_links:
            text = "".join(f"{one} {other} -\n" for one, other in links).rstrip("\n").encode("ascii")
            order = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            yield "out", Out(f"links/{name}.annotation.txt", order, len(links), text).item(1)
            yield from _gathered(name, links, min((message for _, message in annotated), default=0) if annotated else 0)
        split = next((piece.data.decode("ascii") for piece in pieces if piece.kind == "split"), None)
        yield from self._conversations(log, Nicks(log.lines, names), links, sure, split, first, source)

    def _conversations(
        self, log: Log, nicks: Nicks, links: Sequence[tuple[int, int]], sure: dict[int, float], split: str | None, piece: Piece, source: MessageSource
    ) -> Iterable[tuple[str, Item]]:
        filtered = self.counters.stage("filter")
        taken: list[tuple[Dialogue, list[int], conversations.Conversation]] = []
        for made in conversations.gather(log, nicks, links, sure, self.recipe):
            filtered.entered += 1
            index = made.messages[0].line
            refused = conversations.refusal(made, nicks, self.recipe)
            try:
                if refused is not None:
                    raise refused
                dialogue, begins = conversations.dialogue(log, made, nicks, self.recipe, source.name, split)
                # The filters of every build, for which min_turns was counted already.
                refused = refusal(dialogue, source, self.recipe)
                if refused is not None:
                    raise refused
            except RecordError as error:
                yield self._reject("filter", error, piece._replace(index=index), f"{log.name}#{index}")
                continue
            filtered.out += 1
            taken.append((dialogue, begins, made))
        around = self._around(log, nicks, taken)
        for (dialogue, _, made), beside in zip(taken, around, strict=True):
            # Conversations of one stretch are of one split: what a stretch shows is then shown to that split alone.
            session = "" if beside is None else f"{log.name} stretch {beside.stretch}"
            fact = fact_of(dialogue, self.recipe, self.seed, session)
            extra = b"" if beside is None else compress(msgspec.msgpack.encode(beside))
            yield "fact", ("fact", msgspec.msgpack.encode(fact))
            parsed = ParsedDialogue(pack_dialogue(dialogue), extra, self.inputs[piece.file].shown, made.messages[0].line, fact)
            yield "main", parsed.item(dialogue.source_id)

    def _around(
        self, log: Log, nicks: Nicks, taken: Sequence[tuple[Dialogue, list[int], conversations.Conversation]]
    ) -> Sequence[conversations.Around | None]:
        """What DSTC8's subtask 2 shows in place of each conversation, the channel up to its answer; None where nothing shows the channel."""
        answers = [(self.recipe.entangled_until(dialogue, self.seed), begins) for dialogue, begins, _ in taken]
        if not self.recipe.shows_channel:
            return [None] * len(taken)
        lines = [None if at is None else begins[at] for at, begins in answers]
        return conversations.around(log, [made for _, _, made in taken], nicks, lines, self.recipe, self.seed)

    def _count_lines(self, log: Log, piece: Piece) -> Iterable[tuple[str, Item]]:
        """Counts the lines that hold a message, and those that don't by their kind; one that isn't understood is rejected by its number, from 1."""
        counted = self.counters.stage("lines")
        counted.entered += len(log.lines)
        for line in log.lines:
            if line.is_talk:
                counted.out += 1
            elif line.kind == "unparsed":
                yield self._reject("lines", RecordError("unparsed", line.text), piece._replace(index=line.line + 1), f"{log.name}#{line.line}")
            else:
                self.counters.reject("lines", f"no_message: {line.kind}")

    def _score(self, known: Sequence[tuple[int, int]], predicted: Sequence[tuple[int, int]]) -> None:
        """Counts the messages with a known link, those that are predicted to answer the same message, and those one of the same conversation."""
        conversation: dict[int, int] = {}
        for one, other in known:  # by message, so that what is answered has its conversation first
            conversation[other] = conversation.setdefault(one, conversation.get(other, one))
        answered = {other for _, other in known}
        exact = {other for one, other in set(predicted) & set(known)}
        near = {other for one, other in predicted if other in answered and conversation.get(one) == conversation[other]}
        self.counters.note("links_known", len(answered))
        self.counters.note("links_known_found", len(exact))
        self.counters.note("links_known_near", len(exact | near))

    def _reject(self, stage: str, error: RecordError, piece: Piece, source_id: str) -> tuple[str, Item]:
        self.counters.reject(stage, error.reason)
        return "out", Reject(stage, error.reason, error.evidence, self.inputs[piece.file].shown, piece.index, source_id).out().item(1)


def _gathered(name: str, links: Sequence[tuple[int, int]], start: int) -> Iterable[tuple[str, Item]]:
    """The lines of a log in upstream's two files for many logs; of the messages from `start` on, where a log's annotation begins."""
    groups = join_links(links)
    for path, text in ((GRAPHS, graph_lines(name, links, start)), (CLUSTERS, cluster_lines(name, groups, start))):
        if text:
            yield (
                "out",
                Out(path, b"\0" + name.encode("utf-8", "surrogatepass"), text.count("\n"), text.rstrip("\n").encode("utf-8", "replace")).item(1),
            )


def predicted(log: Log, model: str | None) -> tuple[list[tuple[int, int]], dict[int, float]]:
    """The model's links of a log (antecedent, message), and how sure it is of each message's."""
    links = disentangle(_model(model), log.lines, _CHUNK)
    return [(link.antecedent, link.message) for link in links], {link.message: link.confidence for link in links}


@lru_cache(maxsize=1)
def _model(path: str | None) -> Any:
    """The link model, loaded once for each process."""
    return LinkModel.load(Path(path) if path else DEFAULT_MODEL)
