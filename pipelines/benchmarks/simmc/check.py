"""What `dialmill verify` asks of the candidates of DSTC9 Track 4, and whether they give the right ones away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.benchmarks.simmc.gold import Gold, GoldTurn
from dialmill.pipelines.benchmarks.simmc.kinds import DIALOGUES
from dialmill.pipelines.candidates import audit
from dialmill.pipelines.candidates.keys import candidate_key, key_hash, nearly_equal
from dialmill.pipelines.core.checked import Checked
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.subsets import SUBSETS
from dialmill.schemas.dialogue import STANDARD

#: Faults of one kind that are told.
_TOLD = 20


def check_release(root: Path, manifest: Mapping[str, Any]) -> Checked:
    """The pools of every file of dialogues."""
    suites = set(manifest["recipe"]["suites"]) - {STANDARD}
    paths = {str(item["path"]) for item in manifest["outputs"] if item["schema"] == DIALOGUES}
    checked: list[str] = []
    problems: list[str] = []
    for path in sorted(paths):
        parts = set(Path(path).parts)
        if parts & {*SUBSETS} or f"labels/{path}" in paths or (parts & suites and not path.startswith("labels/")):
            continue  # a copy, inputs without labels, or a suite whose candidates are those of the unperturbed one
        try:
            turns = [turn for turn in Gold(str(root / path), None).turns(STANDARD) if turn.right is not None]
        except InputError as error:
            problems.append(str(error))
            continue
        found = list(_faults(path, turns, manifest["recipe"]["candidates"]))
        problems += found
        if not found and turns:
            checked.append(
                f"{path}: the candidates of {len(turns):,} turns are distinct, none is another reply of the dialogue or near the right one"
            )
    return Checked(checked, problems)


def _faults(path: str, turns: Sequence[GoldTurn], most: int) -> Iterator[str]:
    responses: dict[str, set[int]] = {}
    for turn in turns:
        # What a turn's own dialogue answers, also before the first turn that is asked for.
        said = {key_hash(candidate_key(text)) for text in (*turn.context[1::2], turn.response or "")}
        responses.setdefault(turn.dialogue, set()).update(said)
    told = 0
    whole = audit.Whole()
    keyed: list[tuple[GoldTurn, list[int]]] = []
    # Each response stands in many sets.
    key_of = {text: candidate_key(text) for text in dict.fromkeys(text for turn in turns for text in turn.candidates)}
    number_of = {text: key_hash(key) for text, key in key_of.items()}
    for turn in turns:
        keys = [key_of[text] for text in turn.candidates]
        numbers = [number_of[text] for text in turn.candidates]
        whole.see(numbers)
        keyed.append((turn, numbers))
        for fault in _faults_of(turn, keys, numbers, responses[turn.dialogue], most):
            told += 1
            if told <= _TOLD:
                yield f"{path}: dialogue {turn.dialogue}, turn {turn.number}: {fault}"
    # What is said more often than a set has candidates is told by that, whatever the set; the build says how many turns have it.
    answers = Counter(numbers[turn.right or 0] for turn, numbers in keyed)
    keyed = [(turn, numbers) for turn, numbers in keyed if (often := answers[numbers[turn.right or 0]]) == 1 or often * len(numbers) <= len(turns)]
    sample = sorted(keyed, key=lambda one: key_number("audit@1", one[0].dialogue, one[0].number))[: audit.SAMPLE]
    weigh = audit.idf_of(text for turn, _ in sample for text in turn.candidates)
    total: dict[str, int] = {}
    for turn, _ in sample:
        audit.add(total, audit.measure(turn.context, turn.candidates, [turn.right or 0], weigh))
    for measured in whole.measure([(turn.candidates, numbers, [turn.right or 0]) for turn, numbers in sample]):
        audit.add(total, measured)
    yield from audit.suspicions(path, audit.rates(total))


def _faults_of(turn: GoldTurn, keys: Sequence[str], numbers: Sequence[int], responses: set[int], most: int) -> Iterator[str]:
    """What is wrong with the candidates of one turn, which have these keys, and these numbers for them; `responses` are those of its dialogue."""
    right = turn.right or 0
    if len(keys) > most:
        yield f"{len(keys)} candidates, expected are {most}"
    if len(set(numbers)) < len(numbers):
        yield "a candidate occurs twice"
    if not all(text.strip() for text in turn.candidates):
        yield "an empty candidate"
    if turn.response is not None and numbers[right] != key_hash(candidate_key(turn.response)):
        yield "gt_index is not the place of the response"
    for at, (key, number) in enumerate(zip(keys, numbers, strict=True)):
        if at == right or number == numbers[right]:
            continue
        if number in responses:
            yield f"the candidate {turn.candidates[at][:80]!r} is another reply of the dialogue"
        elif nearly_equal(key, keys[right]):
            yield f"the candidate {turn.candidates[at][:80]!r} nearly equals the right one"
