"""What a dialogue must hold beyond its shape, and JSON Schema can't say: spans, edits, turn numbers, ids."""

from __future__ import annotations

from math import isfinite

from dialmill.schemas.dialogue import Dialogue, Span, Turn
from dialmill.schemas.edits import EditError, check_edits, edit_text


def check_dialogue(dialogue: Dialogue) -> list[str]:
    """What is wrong with an emitted record, each as "PATH: MESSAGE"; empty if nothing is. Fast: every emitted record passes here.

    Checked are: ``dialogue_id`` is ``SOURCE_ID/SUITE/VARIANT``; turns are numbered from 0; a span is placed in full or lost in full, and a placed
    one has ``start < end`` and ``utterance[start:end] == text``; `original` is null exactly where there are no edits, else the edits are
    sorted, disjoint, in range, and lead from `original` to another text, the utterance; system turns carry no state; turns of speaker "other" have
    their payload alone; options are finite.
    """
    return [f"{path}: {message}" for path, message in dialogue_faults(dialogue)]


def dialogue_faults(dialogue: Dialogue) -> list[tuple[str, str]]:
    """`check_dialogue` with path ("turns[3].spans[0]") and message apart."""
    faults: list[tuple[str, str]] = []
    expected = f"{dialogue.source_id}/{dialogue.suite}/{dialogue.variant}"
    if dialogue.dialogue_id != expected:
        faults.append(("dialogue_id", f"{dialogue.dialogue_id!r} is not SOURCE_ID/SUITE/VARIANT, which is {expected!r}"))
    if dialogue.variant < 0:
        faults.append(("variant", f"{dialogue.variant} is below 0"))
    for index, turn in enumerate(dialogue.turns):
        if turn.turn != index:
            faults.append((f"turns[{index}].turn", f"is {turn.turn}; turns are numbered from 0 in order, so {index} is expected"))
        if turn.state and turn.speaker == "system":
            faults.append((f"turns[{index}].state", "a system turn carries no belief state"))
        if turn.speaker == "other" and not _is_carried(turn):
            faults.append((f"turns[{index}]", "a turn of speaker other has a payload, and neither a text of its own nor values, acts or a state"))
        for at, span in enumerate(turn.spans):
            # The common case first, with no call.
            if span.status != "lost" and span.start is not None and span.end is not None:
                # A slice takes offsets beyond the text without complaint, so the length is compared too.
                if 0 <= span.start < span.end <= len(turn.utterance) and turn.utterance[span.start : span.end] == span.text:
                    continue
            elif span.status == "lost" and span.start is None and span.end is None and span.text is None:
                continue
            faults.append((f"turns[{index}].spans[{at}]", _span_fault(turn, span)))
        if turn.original is not None or turn.edits:
            message = _edits_fault(turn)
            if message:
                faults.append((f"turns[{index}].edits", message))
    return faults + _lineage_faults(dialogue)


def _lineage_faults(dialogue: Dialogue) -> list[tuple[str, str]]:
    return [
        (f"lineage[{index}].params.{name}", f"{value} is no JSON number")
        for index, step in enumerate(dialogue.lineage)
        for name, value in (step.params or {}).items()
        if isinstance(value, float) and not isfinite(value)
    ]


def _is_carried(turn: Turn) -> bool:
    return turn.payload is not None and not (turn.utterance or turn.spans or turn.acts or turn.state or turn.edits)


def _span_fault(turn: Turn, span: Span) -> str:
    placed = [name for name in ("start", "end", "text") if getattr(span, name) is not None]
    if span.status == "lost":
        return f"a lost span has null start, end and text, found {', '.join(placed)}"
    if span.start is None or span.end is None or span.text is None:
        return f"a {span.status} span has start, end and text, found {', '.join(placed) or 'none of them'}"
    if not 0 <= span.start < span.end <= len(turn.utterance):
        return f"[{span.start}, {span.end}) is empty or lies outside the utterance of {len(turn.utterance)} code points"
    return f"utterance[{span.start}:{span.end}] is {turn.utterance[span.start : span.end]!r}, text is {span.text!r}"


def _edits_fault(turn: Turn) -> str | None:
    if turn.original is None:
        return f"{len(turn.edits)} edits, but original is null: there is no text they refer to"
    if not turn.edits:
        return "no edits, but original is set: it is null where the text is the source's"
    try:
        check_edits(len(turn.original), turn.edits)
    except EditError as error:
        return str(error)
    reached = edit_text(turn.original, turn.edits)
    if reached != turn.utterance:
        return f"lead from original to {reached!r}, not to the utterance {turn.utterance!r}"
    if turn.original == turn.utterance:
        return "original equals the utterance: it is null where the text is the source's"
    return None
