"""Speed of `typos`, checks included, beside nlpaug's KeyboardAug, on the same utterances in one run.

    python tests/benchmarks/bench_typos.py [--data DIR] [--utterances 2000] [--json FILE]

CPU seconds of this process, the best of several rounds that take turns, so that a busy machine hurts both alike. The utterances are user turns
of three to forty words with their labels, of the MultiWOZ 2.1 files under DIR (by default the miniature corpus that ships with dialmill,
repeated under new ids). Three figures: ours on dialogues of one turn, ours on whole dialogues, and nlpaug, which looks at no label.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from dialmill.perturbers import get  # noqa: E402
from dialmill.pipelines.core.source import Piece  # noqa: E402
from dialmill.pipelines.sources import registry  # noqa: E402
from dialmill.schemas import Dialogue  # noqa: E402

ROUNDS = 5


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a folder and its zips, by name, sorted."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".json"):
                        yield f"{path}!{name}", archive.read(name)
        elif path.suffix == ".json":
            yield str(path), path.read_bytes()


def read(folder: Path) -> list[Dialogue]:
    """The dialogues of MultiWOZ 2.1 files; those that the source rejects are left out."""
    source = registry.get("multiwoz21")
    dialogues = []
    for path, data in files(folder):
        role = source.role(path, data[:65536].decode("utf-8", "replace"))
        if role != "dialogues":
            continue
        pieces: dict[str, list[Piece]] = defaultdict(list)
        for place, (source_id, kind, piece) in enumerate(source.pieces(role, path, data)):
            pieces[source_id].append(Piece(kind, 0, place, piece))
        for source_id, found in pieces.items():
            try:
                dialogues.append(source.parse(source_id, found))
            except Exception as error:
                print(f"left out: {source_id}: {error!r}", file=sys.stderr)
    return dialogues


def enough(dialogues: list[Dialogue], utterances: int) -> list[Dialogue]:
    """Dialogues, repeated under new ids where need be, that hold so many user turns of three to forty words."""
    chosen: list[Dialogue] = []
    count = copy = 0
    while count < utterances:
        before = count
        for dialogue in dialogues:
            if count >= utterances:
                break
            count += sum(turn.speaker == "user" and 3 <= len(turn.utterance.split()) <= 40 for turn in dialogue.turns)
            chosen.append(dialogue.replace(source_id=f"{dialogue.source_id}-{copy}") if copy else dialogue)
        if count == before:
            raise SystemExit("no user turns in the input")
        copy += 1
    return chosen


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process for one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data" / "multiwoz21", help="a folder with MultiWOZ 2.1 files, zipped or not")
    parser.add_argument("--utterances", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()

    whole = enough(read(arguments.data), arguments.utterances)
    single = [
        dialogue.replace(source_id=f"{dialogue.source_id}-{turn.turn}", turns=(turn,), goal=None)
        for dialogue in whole
        for turn in dialogue.turns
        if turn.speaker == "user" and 3 <= len(turn.utterance.split()) <= 40
    ][: arguments.utterances]
    texts = [dialogue.turns[0].utterance for dialogue in single]
    in_whole = sum(turn.speaker == "user" for dialogue in whole for turn in dialogue.turns)

    typos = get("typos")()
    work: dict[str, tuple[int, Callable[[], object]]] = {
        "typos, dialogues of one turn": (len(single), lambda: [typos.perturb(dialogue, seed=1) for dialogue in single]),
        "typos, whole dialogues": (in_whole, lambda: [typos.perturb(dialogue, seed=1) for dialogue in whole]),
    }
    try:
        from nlpaug.augmenter.char import KeyboardAug
    except ImportError:
        print("nlpaug is not installed: only ours is measured (pip install 'dialmill[nlpaug]')", file=sys.stderr)
    else:
        keyboard = KeyboardAug()
        work["nlpaug KeyboardAug"] = (len(texts), lambda: [keyboard.augment(text) for text in texts])

    cold = cpu(work["typos, dialogues of one turn"][1])
    best = {name: float("inf") for name in work}
    for _ in range(ROUNDS):
        for name, (_, call) in work.items():
            best[name] = min(best[name], cpu(call))
    speed = {name: count / best[name] for name, (count, _) in work.items()}

    print(f"{len(single)} utterances of {arguments.data}, Python {sys.version.split()[0]}; the first run, loading word lists, took {cold:.2f} s")
    other = speed.get("nlpaug KeyboardAug")
    for name, rate in speed.items():
        print(f"{name:32}{rate:10,.0f} utterances per CPU second" + (f"{rate / other:8.2f} x nlpaug" if other else ""))
    if arguments.json:
        arguments.json.write_text(json.dumps({"utterances": len(single), "cold_seconds": cold, "per_cpu_second": speed}, indent=1), "utf-8")


if __name__ == "__main__":
    main()
