"""Conversations out of linked lines: whom the filters refuse, and that none vanishes uncounted."""

from __future__ import annotations

from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.benchmarks.noesis.recipe import UbuntuRecipe
from dialmill.pipelines.disentangle.dialogues import gather, refusal
from dialmill.pipelines.disentangle.logs import Log, parse
from dialmill.pipelines.disentangle.nicknames import Nicks

LINES = [
    "[03:00] <kim> how do I mount a disk?",
    "[03:00] <lou> kim: mount /dev/sdb1 /mnt",
    "[03:01] <kim> thanks, that did it",
    "[03:02] <ubottu> mount is a command",
    "[03:02] <ubottu> see also umount",
]


def test_bots_that_talk_alone_are_refused_and_not_forgotten() -> None:
    made = benchmarks.load_recipe("noesis-ubuntu", None, [])
    assert isinstance(made, UbuntuRecipe) and made.drop_bots
    clock, lines = parse(LINES)
    log = Log("2008-01-02", "2008-01-02.raw.txt", clock, tuple(lines))
    nicks = Nicks(log.lines)
    links = [(0, 1), (1, 2), (3, 4), (0, 0), (3, 3)]
    found = list(gather(log, nicks, sorted(links), {}, made))
    assert [len(one.messages) for one in found] == [3, 2]
    refused = [refusal(one, nicks, made) for one in found]
    assert [error.reason if error else None for error in refused] == [None, "bots_alone"]
