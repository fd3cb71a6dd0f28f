"""Names out of messages: nicks that are words, renames, decorations, addresses ."""

from __future__ import annotations

import pytest
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.disentangle.logs import parse
from dialmill.pipelines.disentangle.nicknames import Names, Nicks, addressee, without_names
from dialmill.pipelines.sources.ubuntu_irc import UbuntuIrc
from dialmill.pipelines.stages.logs import GatherNames
from hypothesis import given
from hypothesis import strategies as st

LOG = [
    "[03:00] <the> hello",
    "[03:00] <kim> the driver is broken",
    "[03:01] === this is no event",
    "=== kim is now known as kim_afk",
    "[03:02] <lou> kim: which card?",
    "=== kim_afk shrugs",
    "[03:03] <worm_food> hi",
    "[03:03] <bob|work> hi",
    "[03:03] <{{> odd",
    "[03:04] <xmms> what a name",
    "[03:04] <lou> ghost: hello?",
    "[03:05] <lou> ghost: gone?",
    "[03:05] <lou> spectre: once only",
]
NICKS = Nicks(parse(LOG)[1])


def test_a_rename_and_a_decoration_are_one_person() -> None:
    assert NICKS.person("kim") == NICKS.person("KIM_afk") == NICKS.person("kim_afk")
    assert NICKS.person("kim") != NICKS.person("lou")
    assert NICKS.person("nobody") is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("kim: which card?", "which card?"),
        ("kim, lou: which card?", "which card?"),
        ("Kim_AFK -> which card?", "which card?"),
        ("<kim> which card?", "which card?"),
        ("thanks kim!", "thanks !"),
        ("ask lou's brother", "ask brother"),
        ("the driver is broken", "the driver is broken"),
        ("the: which one?", "which one?"),
        ("worm: try restart", "try restart"),
        ("note: back up first", "note: back up first"),
        ("see http://kim.example/x", "see http://kim.example/x"),
        ("kim:", ""),
        ("bob|work: here", "here"),
        ("it is in /home/kim", "it is in /home/user"),
        ("it is in /home/kim/x, not /home/user/x", "it is in /home/user/x, not /home/user/x"),
        ("ann@box:~$ sudo ls", "user@host:~$ sudo ls"),
        ("mail me at ann@box.example", "mail me at ann@box.example"),
        ("kimm: which card?", "which card?"),
        ("note: kim", "note:"),
        ("xmms is old", "xmms is old"),
        ("xmms: try that", "try that"),
        ("ghost: are you there", "are you there"),
        ("spectre: are you there", "spectre: are you there"),
    ],
)
def test_names_go_and_words_stay(text: str, left: str) -> None:
    people = dict.fromkeys([NICKS.person("worm_food") or "", NICKS.person("kim") or ""], "")
    assert without_names(text, NICKS, people) == left


#: Another log of the same channel: its nicks are names in the first one too, where they can't be words.
OTHER = [
    "[04:00] <dan^> zelda_k: sudo apt-get install torsmo",
    "[04:01] <zelda_k> dan^: done",
    "[04:02] <hmmm> what now",
    "[04:03] <Quentin> quince: sudo apt-get install torsmo, then sudo torsmo",
    "[04:04] <torsmo> hello",
    "[04:05] <market> hello",
    "[04:06] <x86_64> hello",
    "[04:07] <zelda_k> quentin: no",
]


def _names(lines: list[str]) -> Names:
    gathered = GatherNames([InputFile(0, "a.txt", "a.txt", "ubuntu_irc", "dialogues", 1)], {"ubuntu_irc": UbuntuIrc()})
    states = [gathered.create(), gathered.create()]
    for at, line in enumerate(parse(lines)[1]):
        gathered.add_lines(states[at % 2], [line])
    return gathered.extract_output(gathered.merge(states))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("quentin: which card?", "which card?"),
        ("Quentin, which card?", "which card?"),
        ("quince: which card?", "quince: which card?"),
        ("hmmm, which card?", "hmmm, which card?"),
        ("ask zelda_k or dan^ about it", "ask or about it"),
        ("ask quentin about it", "ask quentin about it"),
        ("market: it is old", "market: it is old"),
        ("torsmo: command not found", "torsmo: command not found"),
        ("the x86_64 image", "the x86_64 image"),
        ("ssh kim@box", "ssh user@host"),
        ("ssh root@box", "ssh root@box"),
        ("kim@box.example wrote", "kim@box.example wrote"),
        ("[kim@box ~]$ ls", "[user@host ~]$ ls"),
        ("it is in /media/kim/usb, not /media/disk/usb", "it is in /media/user/usb, not /media/disk/usb"),
        ("see ~kim/notes and ~/notes", "see ~user/notes and ~/notes"),
        ("kmi: typed in haste", "kmi: typed in haste"),
        ("spectree: typed in haste", "spectree: typed in haste"),
        ("worm_fod: typed in haste", "typed in haste"),
        ("err:kim: an error", "err:kim: an error"),
    ],
)
def test_names_of_other_logs(text: str, left: str) -> None:
    nicks = Nicks(parse(LOG)[1], _names(OTHER))
    assert without_names(text, nicks, {}) == left
    assert (addressee(text, nicks) is not None) == (text.partition(" ")[0].lower().rstrip(":,") in ("quentin", "worm_fod"))


def test_a_word_or_program_that_is_a_nick_goes_where_its_namesake_takes_part() -> None:
    nicks = Nicks(parse(["[01:00] <market> hi", "[01:01] <bo> sudo torsmo", "[01:02] <bo> sudo torsmo", "[01:03] <torsmo> hi"])[1])
    text = "the market has torsmo"
    assert without_names(text, nicks, {}) == text
    assert without_names(text, nicks, {"market": "", "torsmo": ""}) == "the has"


def test_people_of_the_conversation_get_numbers_and_strangers_vanish() -> None:
    people = {NICKS.person("kim") or "": "participant_0"}
    assert without_names("kim: ask lou about it, kim!", NICKS, people) == "participant_0: ask about it, participant_0!"


def test_a_word_that_is_a_nick_is_addressed_only_with_a_mark() -> None:
    assert addressee("the driver is broken", NICKS) is None
    assert addressee("the: hello", NICKS) == "the"


@given(st.text(max_size=60))
def test_any_text_loses_nothing_but_names(text: str) -> None:
    left = without_names(text, Nicks([]), {})
    assert left == " ".join(text.split())


def test_addressees_that_nobody_is_called_by_the_look_of_them() -> None:
    """Of a long nick that is mistyped without a mark, and of names written as only names are."""
    nicks = Nicks(parse(["[03:00] <bonhoffer> what uses port 3000?", "[03:01] <L1nuxRules> netstat"])[1])
    people = dict.fromkeys([nicks.person("bonhoffer") or "", nicks.person("L1nuxRules") or ""], "")
    for text, left in (
        ("bonhoffere that only works as root", "that only works as root"),
        ("LinuxRants: I have a Desktop", "I have a Desktop"),
        ("LinuxRants, I have a Desktop", "LinuxRants, I have a Desktop"),
        ("NetworkManager: device not found", "NetworkManager: device not found"),
        ("printing that only works as root", "printing that only works as root"),
    ):
        assert without_names(text, nicks, people) == left
