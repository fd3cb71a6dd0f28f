"""How our typos look beside people's: shares of the kinds of slips, changed first letters, words run together and split.

    python tests/benchmarks/bench_realism.py [--data DIR] [--slips FILE] [--logs DIR] [--rate 0.1] [--seed 1] [--json FILE]

People's slips are pairs {typed, meant} of which writers of a chat corrected the first to the second in their next message (--slips). Of those the
typed non-words for common words count: typed at most three times and meant at least fifty times in the chat's own logs (--logs, text files); without
logs, all pairs whose typed form is none of our frequent words. Ours are the words that `typos:style=typing` changes in the user turns of MultiWOZ
2.1 files under DIR. Words that ran together or were split, and lost apostrophes, are counted apart: no correction of one word shows them, so that
their shares are held against a published count (Kukich 1992: 13 and 2 % of the errors of a corpus of typed conversations).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from dialmill.perturbers.typing.english import frequent_words  # noqa: E402
from dialmill.perturbers.typing.typos import Typos  # noqa: E402
from dialmill.schemas import Edit  # noqa: E402
from dialmill.schemas.edits import edit_text  # noqa: E402

from tests.benchmarks.bench_typos import read  # noqa: E402

KINDS = ("substitute", "insert", "delete", "transpose", "several")
#: A published count of what no pair of single words shows: words run together, and split, as shares of all slips.
PUBLISHED = {"run on": 13.0, "split": 2.0}
#: By how many points a share may differ.
TOLERANCE = 5.0
SEEN, COMMON = 3, 50


def kind(typed: str, meant: str) -> str:
    """What was done to `meant`, both in lower case."""
    if len(typed) == len(meant):
        places = [place for place in range(len(meant)) if typed[place] != meant[place]]
        if len(places) == 1:
            return "substitute"
        if len(places) == 2 and places[1] == places[0] + 1 and typed[places[0]] + typed[places[1]] == meant[places[1]] + meant[places[0]]:
            return "transpose"
    if len(typed) == len(meant) + 1 and any(typed[:place] + typed[place + 1 :] == meant for place in range(len(typed))):
        return "insert"
    if len(typed) == len(meant) - 1 and any(meant[:place] + meant[place + 1 :] == typed for place in range(len(meant))):
        return "delete"
    return "several"


def shares(pairs: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Per cent of the pairs (typed, meant) by kind, and of those whose first letter changed, with their number."""
    some = [(typed.lower(), meant.lower()) for typed, meant in pairs]
    kinds = Counter(kind(*pair) for pair in some)
    found = {name: 100 * kinds[name] / max(1, len(some)) for name in KINDS}
    found["first letter"] = 100 * sum(typed[0] != meant[0] for typed, meant in some) / max(1, len(some))
    return {**found, "words": float(len(some))}


def people(slips: Path, logs: Path | None) -> list[tuple[str, str]]:
    """People's pairs (typed, meant): typed non-words for common words."""
    pairs = [(str(pair["typed"]).lower(), str(pair["meant"]).lower()) for pair in json.loads(slips.read_text("utf-8"))]
    if logs is None:
        known = frequent_words()
        return [(typed, meant) for typed, meant in pairs if typed not in known and meant in known]
    seen: Counter[str] = Counter()
    for path in sorted(logs.rglob("*.txt")):
        seen.update(re.findall(r"[a-z]+", path.read_text("utf-8", "replace").lower()))
    return [(typed, meant) for typed, meant in pairs if seen[typed] <= SEEN and seen[meant] >= COMMON]


def ours(data: Path, perturber: Typos, seed: int) -> tuple[list[tuple[str, str]], Counter[str]]:
    """The pairs (typed, meant) of whole words that `perturber` changed, and how many words ran on, were split, lost an apostrophe."""
    pairs: list[tuple[str, str]] = []
    apart: Counter[str] = Counter()
    for dialogue in read(data):
        for turn in perturber.perturb(dialogue, seed).turns:
            if turn.original is None:
                continue
            for typed, meant in aligned(turn.original, turn.edits):
                if typed.lower() == meant.lower():
                    continue
                if " " in meant and " " not in typed:
                    apart["run on"] += 1
                elif " " in typed and " " not in meant:
                    apart["split"] += 1
                elif "'" in meant and "'" not in typed:
                    apart["apostrophe"] += 1
                elif typed.isalpha() and meant.isalpha():
                    pairs.append((typed, meant))
    return pairs, apart


def aligned(original: str, edits: Sequence[Edit]) -> list[tuple[str, str]]:
    """(typed, meant) for each stretch between blanks that edits changed, without the marks around it."""
    stretches: list[list[Edit]] = []
    ends = (-1, -1)
    for edit in edits:
        right = original.find(" ", edit.end)
        left, right = original.rfind(" ", 0, edit.start) + 1, len(original) if right < 0 else right
        if left < ends[1]:
            stretches[-1].append(edit)
            ends = (ends[0], max(ends[1], right))
        else:
            stretches.append([edit])
            ends = (left, right)
    pairs = []
    for some in stretches:
        left = original.rfind(" ", 0, some[0].start) + 1
        right = original.find(" ", some[-1].end)
        meant = original[left : len(original) if right < 0 else right]
        typed = edit_text(meant, [Edit(edit.start - left, edit.end - left, edit.replacement) for edit in some])
        pairs.append((typed.strip(".,?!"), meant.strip(".,?!")))
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data" / "multiwoz21", help="a folder with MultiWOZ 2.1 files, zipped or not")
    parser.add_argument("--slips", type=Path, required=True, help="a JSON list of objects with `typed` and `meant`")
    parser.add_argument("--logs", type=Path, help="a folder of chat logs (*.txt) that tells common words from non-words")
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    theirs = shares(people(arguments.slips, arguments.logs))
    pairs, apart = ours(arguments.data, Typos(rate=arguments.rate, style="typing"), arguments.seed)
    own = shares(pairs)
    slips = len(pairs) + apart["run on"] + apart["split"]
    print(f"{'% of slips':16}{'people':>10}{'ours':>10}{'apart':>10}")
    worst = 0.0
    rows = [(name, theirs[name], own[name]) for name in (*KINDS, "first letter")]
    rows += [(name, share, 100 * apart[name] / max(1, slips)) for name, share in PUBLISHED.items()]
    for name, real, made in rows:
        worst = max(worst, abs(real - made))
        print(f"{name:16}{real:10.1f}{made:10.1f}{made - real:+10.1f}" + ("   beyond 5 points" if abs(made - real) > TOLERANCE else ""))
    print(f"{'words':16}{theirs['words']:10.0f}{own['words']:10.0f}; {apart['apostrophe']} lost apostrophes apart")
    if arguments.json:
        told = {"people": {**theirs, **PUBLISHED}, "ours": {**own, **{name: made for name, _, made in rows if name in PUBLISHED}}}
        arguments.json.write_text(json.dumps(told, indent=1), "utf-8")
    if worst > TOLERANCE:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
