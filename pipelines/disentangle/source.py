"""The contract of a source of chat logs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.core.source import Piece, Source
from dialmill.pipelines.disentangle.logs import Log
from dialmill.schemas import Dialogue, Message

#: What links begin with on their way to `MessageSource.read` where they aren't of the log's own annotation but of a file for many logs.
GATHERED = b"*"


class MessageSource(Source):
    """A source of chat logs, in which the messages of many conversations alternate: a "dialogue" piece is a whole log, or one of its `parts`."""

    @abstractmethod
    def read(self, source_id: str, pieces: Sequence[Piece]) -> tuple[Log, list[tuple[int, int]] | None]:
        """A log from its pieces, and its reply links (antecedent, message) where they come with it.

        Raises:
            RecordError: this log can't be used (line_counts_differ, bad_links).
        """

    def parts(self, pieces: Sequence[Piece]) -> Sequence[Piece]:
        """Which of the "dialogue" pieces of one name are parts of one log, in their order; the others repeat a log that is there."""
        return pieces[:1]

    @abstractmethod
    def messages(self, source_id: str, pieces: Sequence[Piece]) -> list[Message]:
        """A log as `Message` records, one for each line.

        Raises:
            RecordError: as `read`.
        """

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        """A log holds many dialogues, which reply links tell apart (`dialmill.pipelines.stages.logs`), so this refuses."""
        raise RecordError("not_disentangled", f"{source_id} is a log of many conversations; `dialmill disentangle` takes them apart")
