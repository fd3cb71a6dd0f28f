"""`reminder`: no corpus but an order for one. A small JSON file says how many dialogues of RADDLE's unseen domain are to be simulated.

    {"dialmill_simulates": "reminder", "seed": 1, "train": 50, "test": 400}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from perturbers.simulator import simulate
from pipelines.errors import InputError
from schemas import Dialogue

from .base import Kind, Piece, Role, Source, official_split


class Order(msgspec.Struct, forbid_unknown_fields=True):
    """What the file says: how many dialogues of each split, and the seed of the simulation."""

    dialmill_simulates: str
    seed: int
    train: int
    test: int


class Reminder(Source):
    """Simulated dialogues about reminders."""

    name = "reminder"
    language = "en"
    licence = "Apache-2.0"
    about = "RADDLE's unseen domain, simulated: a JSON file that says how many dialogues"

    def role(self, path: str, head: str) -> Role | None:
        return "dialogues" if '"dialmill_simulates"' in head[:200] else None

    def pieces(self, role: Role, path: str, data: bytes) -> Iterator[tuple[str, Kind, bytes]]:
        try:
            order = msgspec.json.decode(data, type=Order)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(path, f"is no order for a simulation: {error}", "see pipelines/sources/reminder.py") from None
        if order.dialmill_simulates != self.name or not (order.train >= 0 and 0 <= order.test <= 100_000 - order.train):
            raise InputError(path, "must simulate reminder, 0 to 100,000 dialogues", "see pipelines/sources/reminder.py")
        for number in range(order.train + order.test):
            source_id = f"RMD{number:05d}"
            yield source_id, "dialogue", msgspec.json.encode([number, order.seed])
            yield source_id, "split", b"train" if number < order.train else b"test"

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        number, seed = msgspec.json.decode(next(piece.data for piece in pieces if piece.kind == "dialogue"), type=tuple[int, int])
        return simulate(number, seed).replace(split=official_split(pieces))
