"""`reminder`: no corpus but an order for one. A small JSON file says how many dialogues of RADDLE's unseen domain are to be simulated.

{"dialmill_simulates": "reminder", "seed": 1, "train": 50, "valid": 0, "test": 400}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.source import Kind, Piece, Role, Source
from dialmill.pipelines.sources.reading import dialogue_data, official_split
from dialmill.pipelines.sources.simulator import simulate
from dialmill.schemas import Dialogue

_MOST = 100_000


class Order(msgspec.Struct, forbid_unknown_fields=True):
    """What the file says: how many dialogues of each split, and the seed of the simulation."""

    dialmill_simulates: str
    seed: int
    train: int
    valid: int
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
        counts = (order.train, order.valid, order.test)
        if order.dialmill_simulates != self.name or min(counts) < 0 or sum(counts) > _MOST:
            raise InputError(path, "must simulate reminder, 0 to 100,000 dialogues", "see pipelines/sources/reminder.py")
        splits = [b"train"] * order.train + [b"valid"] * order.valid + [b"test"] * order.test
        for number, split in enumerate(splits):
            source_id = f"RMD{number:05d}"
            yield source_id, "dialogue", msgspec.json.encode([number, order.seed])
            yield source_id, "split", split

    def parse(self, source_id: str, pieces: Sequence[Piece]) -> Dialogue:
        try:
            number, seed = msgspec.json.decode(dialogue_data(pieces), type=tuple[int, int])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RecordError("wrong_type", f"expected a number and a seed: {error}") from None
        if not 0 <= number < _MOST:
            raise RecordError("wrong_type", f"{number} is no number of a dialogue")
        return simulate(number, seed).replace(split=official_split(pieces))
