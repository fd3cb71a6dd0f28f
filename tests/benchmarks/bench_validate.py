"""Which validator holds the hot path: jsonschema, fastjsonschema, msgspec or jsonschema-rs, on the same records in one run.

    python -m tests.benchmarks.bench_validate [--records N] [--input FILE.jsonl]

Prints records per CPU second and the ratio to jsonschema, then the verdicts on the good and bad fixtures of the schema `dialogue`. Without --input
the records are built in the shape of MultiWOZ: 14 turns, a state that grows, a perturbed user side.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastjsonschema
import jsonschema
import jsonschema_rs
import msgspec
from dialmill.schemas import Act, Dialogue, Goal, SlotValues, Span, Step, Turn, apply_edits
from dialmill.schemas.dialogue import Edit, decode, encode
from dialmill.schemas.validate import Validator, check_dialogue, load, validate_line

from tests.schemas.cases import bad, good

Check = Callable[[Any], bool]


def multiwoz_like(number: int) -> list[Dialogue]:
    """Records of the size of MultiWOZ dialogues."""
    rng = random.Random(1)
    slots = ["area", "pricerange", "stars", "parking", "internet", "people", "day", "stay", "name", "type"]
    made = []
    for index in range(number):
        turns = []
        for place in range(14):
            user = place % 2 == 0
            value = rng.choice(["east", "cheap", "tuesday", "4", "lan hong house"])
            text = f"I would like something {rng.choice(['nice', 'small', 'near'])} with {value} for number {rng.randint(1, 99)} please"
            start = text.index(value)
            state = tuple(SlotValues("hotel", slot, (value,)) for slot in slots[: place // 2 + 1]) if user else ()
            spans = (Span(start, start + len(value), value, "hotel", slots[place % 10], value),)
            turn = Turn(place, "user" if user else "system", text, spans=spans, acts=(Act("inform", "hotel", "area", value),), state=state)
            turns.append(apply_edits(turn, [Edit(2, 4, "wu"), Edit(len(text) - 3, len(text), "es")]) if user else turn)
        lineage = (Step("typos@1", 1, {"rate": 0.1, "values": "protect", "tries": 4}, "changed"),)
        goal = Goal("You are looking for a place to stay.", (SlotValues("hotel", "area", ("east",)),))
        made.append(
            Dialogue(
                dialogue_id=f"D{index}/typos/0",
                source="multiwoz21",
                source_id=f"D{index}",
                suite="typos",
                split="test",
                domains=("hotel",),
                turns=tuple(turns),
                goal=goal,
                lineage=lineage,
            )
        )
    return made


def rate(check: Check, records: list[Any], seconds: float = 1.0) -> float:
    """Records per CPU second, best of three, each at least `seconds` / 3 long."""
    best = 0.0
    for _ in range(3):
        done, started = 0, time.process_time()
        while True:
            for record in records:
                if not check(record):
                    raise SystemExit("a validator refuses a valid record")
                done += 1
                spent = time.process_time() - started
                if spent > seconds / 3:
                    break
            if spent > seconds / 3:
                break
        best = max(best, done / spent)
    return best


def quiet(check: Callable[[Any], Any]) -> Check:
    """A check that raises, as one that answers."""

    def answers(record: Any) -> bool:
        try:
            check(record)
        except (fastjsonschema.JsonSchemaException, msgspec.ValidationError, ValueError):
            return False
        return True

    return answers


def candidates() -> dict[str, Check]:
    """Each validator on plain records, as one would use it."""
    schema = load("dialogue")
    # fastjsonschema knows drafts up to 7; our keywords mean the same there.
    compiled = fastjsonschema.compile({**schema, "$schema": "http://json-schema.org/draft-07/schema#"})
    return {
        "jsonschema": jsonschema.Draft202012Validator(schema).is_valid,
        "fastjsonschema": quiet(compiled),
        "msgspec (convert)": quiet(Dialogue.from_dict),
        "jsonschema-rs, draft 2020-12": quiet_bool(jsonschema_rs.Draft202012Validator(schema).is_valid),
        "jsonschema-rs, draft 4": quiet_bool(jsonschema_rs.Draft4Validator(schema).is_valid),
        "ours: Validator.is_valid": Validator("dialogue").is_valid,
    }


def quiet_bool(check: Check) -> Check:
    """jsonschema-rs raises for what JSON can't hold."""

    def answers(record: Any) -> bool:
        try:
            return check(record)
        except ValueError:
            return False

    return answers


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--records", type=int, default=200)
    options.add_argument("--input", type=Path, help="canonical JSONL instead of built records")
    args = options.parse_args()
    if args.input:
        with args.input.open("rb") as stream:
            dialogues = [decode(line) for line, _ in zip(stream, range(args.records), strict=False)]
    else:
        dialogues = multiwoz_like(args.records)
    records = [dialogue.to_dict() for dialogue in dialogues]
    lines = [encode(dialogue) for dialogue in dialogues]
    print(f"{len(records)} records, {sum(map(len, lines)) // len(lines)} bytes on average; records per CPU second, ratio to jsonschema")

    checks = candidates()
    base = 0.0
    for name, check in checks.items():
        speed = rate(check, records)
        base = base or speed
        print(f"  {name:32} {speed:12,.0f} {speed / base:8.1f}")
    for name, speed in (
        ("check_dialogue (semantics)", rate(lambda dialogue: not check_dialogue(dialogue), dialogues)),
        ("validate_line (parse, schema, semantics)", rate(lambda line: not validate_line("dialogue", line), lines)),
    ):
        print(f"  {name:40} {speed:4,.0f} {speed / base:8.1f}")

    cases = [(True, "good", instance) for instance in good("dialogue")] + [(False, why, instance) for why, _, instance in bad("dialogue")]
    print(f"verdicts on {len(cases)} fixtures that differ from the right one:")
    for name, check in checks.items():
        wrong = [why for due, why, instance in cases if check(instance) != due]
        print(f"  {name:32} {len(wrong):3}  {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
