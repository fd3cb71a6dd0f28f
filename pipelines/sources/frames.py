"""What the two corpora in the schema-guided layout share (Rastogi et al. 2020): turns of frames, one frame for a service.

Both write ``{"speaker", "utterance", "frames": [{"service", "slots", "state": {"slot_values": {slot: [spellings]}}}]}``. They differ in where the
acts and the values of spans stand, which each source reads for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.sources import normalise
from dialmill.pipelines.sources.reading import Notes, check_speakers, check_turn_ids, take, take_if
from dialmill.pipelines.sources.spans import Claim, settle
from dialmill.schemas import Act, SlotValues, Span, Turn

State = tuple[SlotValues, ...]
#: The acts of a turn and what is claimed about its text, from (the turn, its id, its path in the record, its text, its frames).
Labels = Callable[[dict[str, Any], str, str, str, list[Any]], tuple[tuple[Act, ...], list[Claim]]]


def read_turns(record: dict[str, Any], labels: Labels, notes: Notes) -> list[Turn]:
    """The turns of a dialogue. A service without a frame keeps the state it had, so that states are cumulative.

    Raises:
        RecordError: `missing_key`, `wrong_type`, `empty_dialogue` or `odd_turn_order`.
    """
    records = take(record, "turns", list)
    if not records:
        raise RecordError("empty_dialogue", "turns holds no turn")
    speakers = [_speaker(turn, f"turns[{number}]") for number, turn in enumerate(records)]
    check_speakers(speakers, "turns")
    check_turn_ids([turn.get("turn_id", number) for number, turn in enumerate(records)], "turns")
    services: dict[str, State] = {}
    state: State = ()
    turns: list[Turn] = []
    for number, (turn, speaker) in enumerate(zip(records, speakers, strict=True)):
        where = f"turns[{number}]"
        text = take(turn, "utterance", str, where)
        frames = take(turn, "frames", list, where)
        if speaker == "user":
            for service, cells in _states(frames, where):
                services[service] = cells
            # The frames of a turn stand in any order; states are compared, so theirs is fixed.
            reached = tuple(entry for service in sorted(services) for entry in services[service])
            state = reached if reached != state else state
        acts, claims = labels(turn, str(turn.get("turn_id", number)), where, text, frames)
        turns.append(Turn(number, speaker, text, None, _spans(text, claims, notes), acts, state if speaker == "user" else ()))
    return turns


def _speaker(turn: Any, where: str) -> Literal["user", "system"]:
    speaker = take(turn, "speaker", str, where).lower()
    if speaker == "user" or speaker == "system":
        return speaker  # type: ignore[return-value]  # narrowing by == is not seen by mypy
    raise RecordError("wrong_type", f"{where}.speaker: expected USER or SYSTEM, found {speaker[:40]!r}")


def split_slot(name: str, service: str) -> tuple[str, str]:
    """(domain, slot) of "restaurant-bookpeople", lower case; a name without a hyphen is a slot of `service`."""
    domain, hyphen, slot = name.lower().partition("-")
    return (domain, slot) if hyphen else (service.lower(), domain)


def _states(frames: list[Any], where: str) -> Iterator[tuple[str, State]]:
    """(service, its state) of the frames that have a state."""
    for number, frame in enumerate(frames):
        here = f"{where}.frames[{number}]"
        service = take(frame, "service", str, here)
        state = take_if(frame, "state", dict, here)
        if state is None:
            continue
        found: list[SlotValues] = []
        for name, value in take(state, "slot_values", dict, f"{here}.state").items():
            values = normalise.values(value, f"{here}.state.slot_values.{name}")
            if values:
                found.append(SlotValues(*split_slot(name, service), values))
        yield service.lower(), tuple(found)


def _spans(text: str, claims: list[Claim], notes: Notes) -> tuple[Span, ...]:
    """The proved spans of a turn. Where two claims say the same of one place, the first one's word counts."""
    once = {(claim.domain, claim.slot, claim.start, claim.end, claim.value if claim.start is None else ""): claim for claim in reversed(claims)}
    if not once:
        return ()
    settled = settle(text, list(reversed(once.values())))
    notes.add_spans(settled)
    return settled.spans
