"""Dialogues as gold: from an output folder of ours, from files of SOLOIST turns, or from a corpus as it was published."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from dialmill.pipelines.core import written
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.scoring import soloist
from dialmill.schemas import STANDARD, Dialogue, Turn

SPLITS = ("test", "valid", "train", "test_hard")


class GoldTurn(NamedTuple):
    """One user turn to be predicted, with its dialogue.

    Args:
        answer: the system turn that follows, None at the end of a dialogue.
        delexicalised: the answer as a release has it, where the gold is a release.
        source_place: the turn's number in the source, inserted turns not counted; None for an inserted one.
    """

    dialogue: Dialogue
    turn: Turn
    answer: Turn | None
    delexicalised: str | None
    source_place: int | None

    @property
    def key(self) -> tuple[str, int]:
        """What predictions name it by."""
        return self.dialogue.dialogue_id, self.turn.turn


class DialogueGold:
    """The dialogues of one split, suite by suite.

    Args:
        path: an output folder, a JSONL file of its records, a release of SOLOIST turns or one file of it, or a corpus.
        split: the split; None for test.
        suites: the suites that the folder of a single file of SOLOIST turns may name.

    Raises:
        InputError: nothing to be read there; the message says what was looked for.
    """

    def __init__(self, path: str, split: str | None, suites: Sequence[str] = ()) -> None:
        self.path, self.split = path, split or "test"
        self.rejected = 0
        root = Path(path)
        if not root.exists():
            raise InputError(path, "does not exist", "check the path")
        self._files: dict[str, list[Path]] = {}
        self._read: dict[str, list[Dialogue]] | None = None
        self._replies: dict[tuple[str, int], str] = {}
        if root.is_file() and root.suffix == ".jsonl":
            self._read = {}
            for dialogue in records(root):
                self._read.setdefault(dialogue.suite, []).append(dialogue)
        elif (root / "dialogues").is_dir():
            self._files = {one.name: [one / f"{self.split}.jsonl"] for one in sorted((root / "dialogues").iterdir()) if one.is_dir()}
            self._files = {suite: paths for suite, paths in self._files.items() if paths[0].is_file()}
            if not self._files:
                raise InputError(path, f"has no dialogues/SUITE/{self.split}.jsonl", "name another split with --split, or build it again")
        else:
            found = [root] if root.is_file() else sorted(root.rglob(f"*{soloist.ENDING}"))
            found = [one for one in found if one.name.endswith(soloist.ENDING)]
            if found:
                self._read, self._replies = soloist.read_gold(self._of_split(found), suites if len(found) == 1 else None)
            else:
                self._corpus(path)
        held = self._files if self._read is None else self._read
        #: The suites, the clean one first.
        self.suites = sorted(held, key=lambda suite: (suite != STANDARD, suite))

    @functools.cache  # noqa: B019 - one gold lives as long as the command
    def dialogues(self, suite: str) -> list[Dialogue]:
        """The dialogues of a suite, in the order of the files.

        Raises:
            InputError: a damaged file, or none of this split.
        """
        if self._read is not None:
            found = self._read[suite]
        else:
            found = [dialogue for path in self._files[suite] for dialogue in records(path)]
        seen: set[str] = set()
        for dialogue in found:
            if dialogue.dialogue_id in seen:
                raise InputError(self.path, f"holds the dialogue {dialogue.dialogue_id} twice", "score one build, one split at a time")
            seen.add(dialogue.dialogue_id)
        return found

    @functools.cache  # noqa: B019
    def turns(self, suite: str) -> list[GoldTurn]:
        """The user turns of a suite."""
        return [turn for dialogue in self.dialogues(suite) for turn in self._turns(dialogue)]

    def _turns(self, dialogue: Dialogue) -> Iterator[GoldTurn]:
        place = 0
        for turn, answer in zip(dialogue.turns, [*dialogue.turns[1:], None], strict=False):
            if turn.speaker == "user":
                answered = answer if answer is not None and answer.speaker == "system" else None
                reply = self._replies.get((dialogue.dialogue_id, turn.turn))
                yield GoldTurn(dialogue, turn, answered, reply, None if turn.inserted else place)
            place += not turn.inserted

    def elsewhere(self, suite: str) -> set[tuple[str, int]]:
        """The user turns of the same suite in other splits: predictions may hold them too."""
        paths = [path.with_name(f"{split}.jsonl") for path in self._files.get(suite, []) for split in SPLITS if split != self.split]
        dialogues = [dialogue for path in paths if path.is_file() for dialogue in records(path)]
        return {(dialogue.dialogue_id, turn.turn) for dialogue in dialogues for turn in dialogue.turns if turn.speaker == "user"}

    def _of_split(self, paths: Sequence[Path]) -> Sequence[Path]:
        """The files of SOLOIST turns that are of the split; one alone is, whatever its name."""
        wanted = [path for path in paths if path.name.removesuffix(soloist.ENDING).endswith(f".{self.split}")]
        if not wanted and len(paths) > 1:
            raise InputError(self.path, f"has no *.{self.split}{soloist.ENDING}", "name another split with --split")
        return wanted or paths

    def _corpus(self, path: str) -> None:
        """A published corpus, through its own reader; splits are its official ones, and where it has none all dialogues count."""
        from dialmill.pipelines.core import files
        from dialmill.pipelines.core.source import Piece
        from dialmill.pipelines.sources import registry
        from dialmill.pipelines.sources.inputs import find_inputs

        inputs = find_inputs([path])
        joined: dict[tuple[str, str], list[Piece]] = {}
        for one in inputs:
            source = registry.get(one.source)
            for index, (source_id, kind, data) in enumerate(source.pieces(one.role, one.path, files.without_mark(files.read_bytes(one.path)))):
                joined.setdefault((one.source, source_id), []).append(Piece(kind, one.number, index, data))
        found: list[Dialogue] = []
        for (name, source_id), pieces in sorted(joined.items()):
            own = [piece for piece in sorted(pieces) if piece.kind == "dialogue"]
            if not own:
                continue
            try:
                dialogue = registry.get(name).parse(source_id, [own[0], *(piece for piece in sorted(pieces) if piece.kind != "dialogue")])
            except RecordError:
                self.rejected += 1
                continue
            found.append(dialogue.replace(dialogue_id=f"{dialogue.source_id}/{STANDARD}/0"))
        official = [dialogue for dialogue in found if dialogue.split == self.split]
        if not official and any(dialogue.split is not None for dialogue in found):
            raise InputError(path, f"has no dialogues of the split {self.split}", "name another split with --split")
        self._read = {STANDARD: official or found}


def records(path: Path) -> Iterator[Dialogue]:
    """The dialogues of a JSONL file of ours.

    Raises:
        InputError: it can't be read; says which line is none.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error)) from None
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield written.record(path, number, line)
