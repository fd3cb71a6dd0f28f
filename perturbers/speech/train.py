"""Training of the text channel: see `confusion` for what a model is."""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import msgspec

from ..lexicon import alternatives, rows
from ..rng import Rng
from .align import Op, align
from .confusion import LONGEST, Learned, Model, write_model
from .phones import Lexicon, base_cost
from .sentences import vocabulary
from .speakable import Word, words
from .wer import corpus_rate, edit_errors, unify

#: Pairs with more errors than this are hallucinations, not confusions.
CEILING = 0.8


class Pair(NamedTuple):
    """What was said and what was heard, as spoken words."""

    said: tuple[Word, ...]
    heard: tuple[str, ...]

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.said]


def read_pairs(path: Path, language: str) -> list[Pair]:
    """Pairs from JSON lines with "ref" and "hyp"; those above the ceiling are left out.

    Raises:
        ValueError: a line is no such pair; names the line.
    """
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            said, heard = words(record["ref"], language), [word.text for word in words(record["hyp"], language)]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f'{path}, line {number}: expected {{"ref": TEXT, "hyp": TEXT}}: {error!r}') from None
        texts = [word.text for word in said]
        if language != "zh":
            heard = unify(texts, heard)
        if said and heard and edit_errors(texts, heard).rate <= CEILING:
            found.append(Pair(said, tuple(heard)))
    return found


def regions(ops: Sequence[Op]) -> list[list[Op]]:
    """Runs of neighbouring ops that are not the same."""
    found: list[list[Op]] = []
    for place, op in enumerate(ops):
        if not op.same:
            if place and not ops[place - 1].same:
                found[-1].append(op)
            else:
                found.append([op])
    return found


def learn(pairs: Sequence[Pair], language: str, about: dict[str, object]) -> Learned:
    """A model from pairs, with its curve."""
    blank = "" if language == "zh" else " "
    units: dict[str, Counter[str]] = defaultdict(Counter)
    seen: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    runs: Counter[int] = Counter()
    kinds: Counter[str] = Counter()
    inserted: Counter[str] = Counter()
    following: dict[str, Counter[str]] = defaultdict(Counter)
    logits: list[float] = []
    for pair in pairs:
        said, heard = pair.texts, list(pair.heard)
        seen.update(said)
        for one, other in zip(["<s>", *heard], heard, strict=False):
            following[one][other] += 1
        ops = align(said, heard, language)
        for region in regions(ops):
            i, j, k, m = region[0].i, region[-1].j, region[0].k, region[-1].m
            if j > i:
                runs[min(j - i, 6)] += 1
            if LONGEST >= j - i > 1 and len(region) > 1:
                units[blank.join(said[i:j])][blank.join(heard[k:m])] += 1
            for op in region:
                wrong.update(said[op.i : op.j])
                text = blank.join(heard[op.k : op.m])
                if op.i == op.j:
                    inserted[text] += 1
                    kinds["insertion"] += 1
                    continue
                units[blank.join(said[op.i : op.j])][text] += 1
                kinds["deletion" if not text else "split" if op.m - op.k > op.j - op.i else "substitution"] += 1
        errors = sum(op.j - op.i for op in ops if not op.same)
        logits.append(math.log((errors + 0.5) / (len(said) - errors + 0.5)))
    total = sum(kinds.values()) or 1
    counted = {kind: kinds[kind] / max(1, total - kinds["insertion"]) for kind in ("deletion", "split", "insertion")}
    mean = sum(logits) / max(1, len(logits))
    # Half of the spread of the observed rates is sampling noise of short utterances.
    spread = math.sqrt(sum((one - mean) ** 2 for one in logits) / max(1, len(logits)) / 2)
    phones, costs = _phones(units, following, seen) if language == "en" else ({}, {})
    learned = Learned(
        language=language,
        about=dict(about),
        units={unit: _pruned(heard) for unit, heard in sorted(units.items())},
        words={word: (count, wrong[word]) for word, count in sorted(seen.items())},
        runs=[runs[size] for size in range(1, 7)],
        shares={kind: round(share, 4) for kind, share in counted.items()},
        inserted=dict(sorted(inserted.items(), key=lambda one: (-one[1], one[0]))[:80]),
        spread=round(spread, 4),
        bigrams={one: dict(sorted(others.items())) for one, others in sorted(following.items())},
        phones=phones,
        costs=costs,
    )
    return msgspec.structs.replace(learned, curve=curve(learned, [pair.said for pair in pairs]))


def _pruned(heard: Counter[str]) -> dict[str, int]:
    return dict(sorted(heard.items(), key=lambda one: (-one[1], one[0]))[:24])


def curve(learned: Learned, utterances: Sequence[Sequence[Word]], points: int = 13) -> list[tuple[float, float]]:
    """[offset, corpus WER] at evenly spread offsets, measured by running the channel over `utterances` (at most 1,500) with fixed seeds."""
    model = Model(learned)
    sample = utterances[:1500]
    found: list[tuple[float, float]] = []
    for step in range(points):
        offset = -4.0 + 0.5 * step
        rate = corpus_rate(
            edit_errors([word.text for word in said], said_back(model, said, offset, number)) for number, said in enumerate(sample)
        ).rate
        if not found or rate > found[-1][1]:
            found.append((offset, round(rate, 5)))
    return found


def said_back(model: Model, said: Sequence[Word], offset: float, *key: object) -> list[str]:
    """The words that the channel makes of an utterance."""
    texts = [word.text for word in said]
    heard: list[str] = []
    place = 0
    for change in model.distort(said, 0.0, Rng("curve", *key), offset):
        heard += [*texts[place : change.i], *(change.new if model.language == "zh" else change.new.split())]
        place = change.j
    return [*heard, *texts[place:]]


def _phones(units: dict[str, Counter[str]], following: dict[str, Counter[str]], seen: Counter[str]) -> tuple[dict[str, str], dict[str, float]]:
    """Pronunciations of the words that can be said or heard, and the phone costs that the observed substitutions teach."""
    wanted = set(seen) | {word for others in following.values() for word in others} | vocabulary("en")
    wanted |= {word for row in rows("en", "words") for cell in row for word in cell.split()}
    for row in rows("en", "closed"):
        for text in (row[1], *alternatives(row[2] if len(row) > 2 else "")):
            wanted.update(text.split())
    wanted = {word for word in wanted if word.isalpha()}
    dictionary = _dictionary()
    phones = {word: dictionary[word] for word in sorted(wanted) if word in dictionary}
    lexicon = Lexicon(phones, {}, ())
    confused: Counter[tuple[str, str]] = Counter()
    heard_at_all: Counter[str] = Counter()
    for said, others in units.items():
        if said.count(" "):
            continue
        for heard, count in others.items():
            if heard and not heard.count(" "):
                for one, other in _pairs(lexicon, lexicon.phones(said), lexicon.phones(heard)):
                    heard_at_all[one] += count
                    if one != other:
                        confused[one, other] += count
    costs = {}
    for (one, other), count in sorted(confused.items()):
        if count >= 3:
            # A confusion as frequent as one in ten of what is heard for the phone costs half of what its articulation says.
            costs[f"{one} {other}"] = round(max(0.12, base_cost(one, other) * (1 - 1.6 * math.sqrt(count / (heard_at_all[one] + 20) / 1.0))), 3)
    return phones, costs


def _pairs(lexicon: Lexicon, said: Sequence[str], heard: Sequence[str]) -> list[tuple[str, str]]:
    """Aligned phones of two words that sound alike; none where they don't."""
    n, m = len(said), len(heard)
    best = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            if i or j:
                best[i][j] = min(
                    best[i - 1][j] + 0.7 if i else math.inf,
                    best[i][j - 1] + 0.7 if j else math.inf,
                    best[i - 1][j - 1] + lexicon.cost(said[i - 1], heard[j - 1]) if i and j else math.inf,
                )
    if best[n][m] > 0.5 * max(n, m):
        return []
    found = []
    i, j = n, m
    while i and j:
        if best[i][j] == best[i - 1][j - 1] + lexicon.cost(said[i - 1], heard[j - 1]):
            found.append((said[i - 1], heard[j - 1]))
            i, j = i - 1, j - 1
        elif best[i][j] == best[i - 1][j] + 0.7:
            i -= 1
        else:
            j -= 1
    return found


def _dictionary() -> dict[str, str]:
    """Word -> phones, from the pocketsphinx package (BSD)."""
    spec = importlib.util.find_spec("pocketsphinx")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("training for English takes pronunciations from pocketsphinx: pip install 'dialmill[pocketsphinx]'")
    path = Path(spec.submodule_search_locations[0]) / "model" / "en-us" / "cmudict-en-us.dict"
    lines = (line.split(" ", 1) for line in path.read_text("utf-8").splitlines())
    return {line[0]: line[1] for line in lines if len(line) == 2 and "(" not in line[0]}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line: ``train --pairs FILE --language en --output MODEL.json.gz [--note TEXT]``."""
    parser = argparse.ArgumentParser(prog="python -m perturbers.speech.confusion", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="learn a text channel from what was said and what was heard")
    train.add_argument("--pairs", required=True, type=Path, help='JSON lines with "ref" and "hyp"')
    train.add_argument("--language", choices=("en", "zh"), default="en")
    train.add_argument("--output", required=True, type=Path, help="the model file, .json or .json.gz")
    train.add_argument("--note", default="", help="a line about the pairs, kept in the model")
    given = parser.parse_args(arguments)
    try:
        pairs = read_pairs(given.pairs, given.language)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    if not pairs:
        print(f"{given.pairs} holds no usable pairs", file=sys.stderr)
        raise SystemExit(1)
    rate = corpus_rate(edit_errors(pair.texts, pair.heard) for pair in pairs)
    about = {
        "command": f"python -m perturbers.speech.confusion train --pairs {given.pairs.name} --language {given.language} --output {given.output.name}",
        "pairs": len(pairs),
        "pairs_sha256": sha256(given.pairs.read_bytes()).hexdigest(),
        "pairs_wer": round(rate.rate, 4),
        "note": given.note,
    }
    learned = learn(pairs, given.language, about)
    write_model(learned, given.output)
    print(f"{given.output}: {len(pairs)} pairs, WER {rate.rate:.1%}, {len(learned.units)} units, {given.output.stat().st_size / 1000:.0f} kB")
