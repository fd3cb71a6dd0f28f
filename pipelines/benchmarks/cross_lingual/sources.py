"""MultiWOZ and CrossWOZ as this benchmark reads them: with the dialogue's own JSON beside the record, for what a record has no place for."""

from __future__ import annotations

from collections.abc import Sequence

from dialmill.pipelines.core.source import Piece
from dialmill.pipelines.core.stage import compress
from dialmill.pipelines.sources.crosswoz import CrossWOZ
from dialmill.pipelines.sources.multiwoz21 import MultiWoz21


def _raw(pieces: Sequence[Piece]) -> bytes:
    return compress(next(piece.data for piece in pieces if piece.kind == "dialogue"))


class WholeMultiWoz(MultiWoz21):
    """MultiWOZ 2.1, each dialogue with its JSON."""

    def extra(self, pieces: Sequence[Piece]) -> bytes:
        return _raw(pieces)


class WholeCrossWoz(CrossWOZ):
    """CrossWOZ, each dialogue with its JSON."""

    def extra(self, pieces: Sequence[Piece]) -> bytes:
        return _raw(pieces)


#: What the track is made from, by name.
WHOLE = {one.name: one for one in (WholeMultiWoz, WholeCrossWoz)}
