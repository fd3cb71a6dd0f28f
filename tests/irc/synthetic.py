"""Small logs with known reply links, written by rule: askers, helpers, renames, joins, actions; for tests only."""

import random
from pathlib import Path

ASKERS = ["ann", "bo", "cy[x]", "dee_", "eli", "fay", "gus|away", "hal9", "ivy", "jo"]
HELPERS = ["Kim", "lou", "mia", "|ned|"]
QUESTIONS = ["hi, how do i mount {0}?", "anyone know why {0} is so slow", "my {0} is broken since the upgrade", "where does {0} keep its settings?"]
ANSWERS = ["try sudo restart {0}", "look into /etc/{0}", "which version of {0}?", "it is a known bug"]
MORE = ["ok, doing that", "{0} says no such file", "thanks!", "it works now"]
THINGS = ["samba", "cups", "xorg", "grub", "alsa", "wine", "evolution", "nautilus"]


def make_log(seed: int, lines: int) -> tuple[list[str], list[tuple[int, int]]]:
    """Log lines and (antecedent, message) links: several interleaved help sessions."""
    rng = random.Random(seed)
    log: list[str] = []
    links: list[tuple[int, int]] = []
    sessions: list[list] = []  # asker, helper, thing, last line, turns
    minute = 0

    def say(text: str, parent: int) -> None:
        links.append((parent if parent >= 0 else len(log), len(log)))
        log.append(text)

    while len(log) < lines:
        minute += rng.random() < 0.4
        stamp = f"[{minute // 60 % 24:02}:{minute % 60:02}]"
        kind = rng.random()
        if kind < 0.05:
            say(f"=== {rng.choice(ASKERS)} [~u@host{rng.randrange(9)}.example]  has joined #help", -1)
        elif kind < 0.07:
            say("", -1)
        elif kind < 0.09:
            say(f"=== {rng.choice(HELPERS)} shrugs", -1)
        elif len(sessions) < 3 and kind < 0.4:
            free = [a for a in ASKERS if a not in {s[0] for s in sessions}]
            session = [rng.choice(free), rng.choice(HELPERS), rng.choice(THINGS), len(log), 0]
            say(f"{stamp} <{session[0]}> {rng.choice(QUESTIONS).format(session[2])}", -1)
            sessions.append(session)
        elif sessions:
            session = rng.choice(sessions)
            asker, helper, thing, last, turns = session
            session[3], session[4] = len(log), turns + 1
            if turns % 2 == 0:
                head = f"{asker}: " if rng.random() < 0.7 else ""
                say(f"{stamp} <{helper}> {head}{rng.choice(ANSWERS).format(thing)}", last)
            else:
                head = f"{helper.lower()}, " if rng.random() < 0.4 else ""
                say(f"{stamp} <{asker}> {head}{rng.choice(MORE).format(thing)}", last)
            if turns > rng.randrange(2, 9):
                sessions.remove(session)
    return log, links


def write_corpus(folder: Path, files: int, lines: int, seed: int = 0) -> Path:
    """A folder of annotated logs."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(files):
        log, links = make_log(seed + number, lines)
        (folder / f"day{number}.ascii.txt").write_bytes(("\n".join(log) + "\n").encode())
        (folder / f"day{number}.annotation.txt").write_bytes("".join(f"{a} {b} -\n" for a, b in links if b >= lines // 4).encode())
    return folder
