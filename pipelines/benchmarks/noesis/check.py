"""What `dialmill verify` asks of the release files of next-utterance selection: sets of candidates that are sound, and don't give answers away."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.candidates import audit
from dialmill.pipelines.candidates.keys import candidate_key, key_hash, nearly_equal

_FILE = re.compile(r"release/(?:ubuntu|advising)_(?:train|dev|test\w*)_subtask_(\d)\.json")

#: No distractor stands in the context, so an answer that does is known by it.
_IN_CONTEXT = "{path}: example {number}: its answer stands in its own context"


def check_release(root: Path, manifest: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """(what was checked, what is wrong) with the release files of a folder. Answers that a test set leaves out are not asked for."""
    checked: list[str] = []
    problems: list[str] = []
    pool = _pool(root, problems)
    shown = Shown()
    for item in manifest["outputs"]:
        found = _FILE.fullmatch(item["path"])
        if found and item["records"]:
            problems += _check_file(root, item["path"], int(found[1]), manifest, pool, shown)
            checked.append(f"{item['path']}: candidates are distinct, each answer is among them once, and trivial rankers don't find it")
    if shown.asked:
        problems += shown.problems()
        checked.append(f"{len(shown.asked)} answers of valid and test can't be read from the context of another example")
    return checked, problems


class Shown:
    """Whether an answer of valid or test stands in the context of another example, after what the example shows last: in any file, training too."""

    def __init__(self) -> None:
        self.contexts: list[tuple[int, list[int]]] = []
        #: Of each asked example its file and number, the last two messages, and the answers.
        self.asked: list[tuple[str, int, int, list[int], set[int]]] = []

    def see(self, path: str, number: int, messages: list[int], answers: set[int]) -> None:
        """Adds an example; its context and, where its split is one that is asked, its answers, by the `key_hash` of each."""
        self.contexts.append((number, messages))
        # By its own rule a test conversation of Advising is cut at five places of one test set.
        if path.startswith("release/ubuntu_") and "_train_" not in path and answers and messages:
            self.asked.append((path, number, len(messages), messages[-2:], answers))

    def problems(self) -> list[str]:
        """What can be read, by file. A message or two that many say may stand elsewhere with another's answer after them: one in two hundred may."""
        by_last: dict[int, list[int]] = {}
        for at, (_, _, _, last, _) in enumerate(self.asked):
            by_last.setdefault(last[-1], []).append(at)
        read: dict[str, set[int]] = {}
        for number, messages in self.contexts:
            for place, message in enumerate(messages):
                for at in by_last.get(message, ()):
                    path, mine, _, last, answers = self.asked[at]
                    follows = mine != number and (len(last) < 2 or last[0] in messages[:place])
                    if follows and not answers.isdisjoint(messages[place + 1 :]):
                        read.setdefault(path, set()).add(mine)
        found = []
        for path, numbers in sorted(read.items()):
            of = sum(one[0] == path for one in self.asked)
            if len(numbers) > max(1, of // 200):
                found.append(f"{path}: {len(numbers)} of {of} answers are in the context of another example, such as that of {min(numbers)}")
        return found


def _pool(root: Path, problems: list[str]) -> dict[str, str] | None:
    path = root / "release" / "ubuntu_pool_subtask_2.tsv"
    if not path.exists():
        return None
    pool: dict[str, str] = {}
    keys: set[int] = set()
    for number, line in enumerate(path.read_text("utf-8").split("\n")[:-1], 1):
        name, _, text = line.partition("\t")
        key = key_hash(candidate_key(text))
        if not text.strip() or name in pool or key in keys:
            problems.append(f"release/{path.name}: line {number}: an empty or repeated candidate: {line[:60]!r}")
        pool[name] = text
        keys.add(key)
    return pool


def elements(path: Path) -> Iterator[Any]:
    """The elements of a JSON array in the layout of our release files, one on each line, so that a large file is never held as a whole."""
    with path.open("rb") as lines:
        for line in lines:
            line = line.strip().removesuffix(b",")
            if line not in (b"[", b"]", b"[]", b""):
                yield msgspec.json.decode(line)


def _check_file(root: Path, path: str, scenario: int, manifest: Mapping[str, Any], pool: dict[str, str] | None, shown: Shown) -> list[str]:
    problems: list[str] = []
    recipe = manifest["recipe"]
    targets_path = path.removesuffix(".json") + ".targets.tsv"
    where = root / targets_path if (root / targets_path).exists() else root / "labels" / targets_path
    targets = dict(line.split("\t") for line in where.read_text("utf-8").split("\n")[:-1])
    seen: set[int] = set()
    without = 0
    sample: list[_Sampled] = []
    whole = audit.Whole()
    for one in elements(root / path):
        number = one["example-id"]
        if number in seen:
            problems.append(f"{path}: example-id {number} occurs twice")
        seen.add(number)
        target = targets.get(str(number), "").split(",")
        options = one.get("options-for-next")
        said = [message["utterance"] for message in one["messages-so-far"]]
        context = [key_hash(candidate_key(text)) for text in said]
        if options is None:
            answers = {key_hash(candidate_key(pool[name])) for name in target if pool and name in pool}
            shown.see(path, number, context, answers)
            problems += [_IN_CONTEXT.format(path=path, number=number)] * (not answers.isdisjoint(context))
            if pool is None or target[0] not in pool:
                problems.append(f"{path}: example {number}: its answer {target[0]} is not in the pool")
            continue
        without += target == ["NONE"]
        problems += [f"{path}: example {number}: {fault}" for fault in _faults(one, target, recipe["candidates"])]
        right = [at for at, option in enumerate(options) if option["candidate-id"].upper() in target]
        keys = [key_hash(candidate_key(option["utterance"])) for option in options]
        whole.see(keys)
        shown.see(path, number, context, {keys[at] for at in right})
        problems += [_IN_CONTEXT.format(path=path, number=number)] * (not {keys[at] for at in right}.isdisjoint(context))
        if right:
            sample.append((number, said, [option["utterance"] for option in options], right, keys))
            if len(sample) > 2 * audit.SAMPLE:
                sample = _smallest(sample)
        if len(problems) > 20:
            break
    if set(targets) != {str(number) for number in seen} and not problems:
        problems.append(f"{where.relative_to(root)}: names other examples than {path}")
    share = recipe["none_share"] if without else 0.0
    # Each shard of the file rounds its own share.
    if seen and abs(without - share * len(seen)) > 0.5 + 0.02 * len(seen) + 0.5 * len(seen) ** 0.5:
        problems.append(f"{path}: {without} of {len(seen)} examples have no answer, {share:g} of them should")
    total: dict[str, int] = {}
    sample = _smallest(sample)
    weigh = audit.idf_of(option for _, _, options, _, _ in sample for option in options)
    for _, said, texts, right, _ in sample:
        audit.add(total, audit.measure(said, texts, right, weigh))
    for measured in whole.measure([(texts, keys, right) for _, _, texts, right, keys in sample]):
        audit.add(total, measured)
    return problems + audit.suspicions(path, audit.rates(total))


#: The number of an example, its context, its candidates, the places of the answers, and the `key_hash` of each candidate.
_Sampled = tuple[int, list[str], list[str], list[int], list[int]]


def _smallest(sample: list[_Sampled]) -> list[_Sampled]:
    return sorted(sample, key=lambda one: key_number("audit@1", one[0]))[: audit.SAMPLE]


def _faults(one: dict[str, Any], target: list[str], most: int) -> Iterator[str]:
    options = one["options-for-next"]
    names = [option["candidate-id"].upper() for option in options]
    keys = [key_hash(candidate_key(option["utterance"])) for option in options]
    if len(set(names)) < len(names) or len(set(keys)) < len(keys):
        yield "a candidate occurs twice"
    if len(options) > most:
        yield f"{len(options)} candidates, expected are {most}"
    if any(not option["utterance"].strip() for option in options):
        yield "an empty candidate"
    answers = one.get("options-for-correct-answers")
    if target == ["NONE"]:
        if answers:
            yield "has answers, the ground truth says it has none"
        return
    if any(names.count(name) != 1 for name in target):
        yield f"the answers {', '.join(target)} are not among the candidates once each"
    if answers is not None and {answer["candidate-id"].upper() for answer in answers} != set(target):
        yield "has other answers than the ground truth"
    right = [candidate_key(option["utterance"]) for option, name in zip(options, names, strict=True) if name in target]
    for option, name in zip(options, names, strict=True):
        if name not in target and any(nearly_equal(candidate_key(option["utterance"]), key) for key in right):
            yield f"the distractor {json.dumps(option['utterance'])[:80]} nearly equals the answer"
