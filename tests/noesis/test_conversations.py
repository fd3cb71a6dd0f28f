"""Conversations out of linked lines: whom the filters refuse, and that none vanishes uncounted."""

from __future__ import annotations

import pytest
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.benchmarks.noesis.recipe import UbuntuRecipe
from dialmill.pipelines.candidates.cuts import places
from dialmill.pipelines.disentangle.dialogues import _said, _with_factoid, asks, dialogue, gather, opening, refusal
from dialmill.pipelines.disentangle.logs import Log, LogLine, parse
from dialmill.pipelines.disentangle.nicknames import Nicks
from dialmill.schemas import Dialogue, Turn

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


def _log(lines: list[str], name: str = "2008-01-02") -> Log:
    clock, parsed = parse(lines)
    return Log(name, f"{name}.raw.txt", clock, tuple(parsed))


def _recipe(*settings: str) -> UbuntuRecipe:
    made = benchmarks.load_recipe("noesis-ubuntu", None, ["links=annotated", *settings])
    assert isinstance(made, UbuntuRecipe)
    return made


def test_messages_before_the_annotated_start_open_the_conversation() -> None:
    """The one who asked there stays the one who asks, and what was asked is shown."""
    log = _log(
        [
            "[10:00] <ana> my wifi card is not detected",
            "[10:01] <bo> ana: which card is it",
            "[10:02] <ana> bo: a broadcom one",
            "[10:03] <bo> ana: install the sta driver then",
        ]
    )
    nicks, recipe = Nicks(log.lines), _recipe()
    (made,) = gather(log, nicks, [(0, 1), (1, 2), (2, 3)], {}, recipe)
    record, begins = dialogue(log, made, nicks, recipe, "ubuntu_irc", None)
    assert [turn.speaker for turn in record.turns] == ["user", "system", "user", "system"] and begins == [0, 1, 2, 3]
    assert record.turns[0].utterance == "my wifi card is not detected"


def test_who_is_answered_before_the_annotated_start_is_the_one_who_asks() -> None:
    log = _log(
        [
            "[10:00] <ana> my wifi card is not detected",
            "[10:01] <bo> ana: which card is it",
            "[10:02] <ana> bo: a broadcom one",
            "[10:03] <bo> ana: install the sta driver then",
            "[10:04] <cy> bo: and mine?",
            "[10:05] <bo> the same",
        ]
    )
    nicks, recipe = Nicks(log.lines), _recipe()
    made, other = gather(log, nicks, [(1, 2), (2, 3), (4, 4), (4, 5)], {}, recipe)
    record, begins = dialogue(log, made, nicks, recipe, "ubuntu_irc", None)
    assert [turn.speaker for turn in record.turns] == ["system", "user", "system"] and begins == [1, 2, 3]
    assert opening(made) == "bo: a broadcom one"
    # A start that is annotated is one: whoever is addressed there is asked.
    assert other.asker == other.people[0] != other.people[1]


def test_what_is_asked_again_in_the_same_words_stands_once() -> None:
    lines = ["[10:00] <ana> how do I mount a disk?", "[10:05] <ana> how do I mount a disk?", "[10:06] <bo> ana: mount it", "[10:07] <ana> how?"]
    log = _log(lines)
    nicks, recipe = Nicks(log.lines), _recipe()
    (made,) = gather(log, nicks, [(0, 1), (1, 2), (2, 3)], {}, recipe)
    assert dialogue(log, made, nicks, recipe, "ubuntu_irc", None)[0].turns[0].utterance == "how do I mount a disk?"
    # Of two sentences, with other marks, and with something between them.
    lines = ["[10:00] <ana> It fails. Why", "[10:05] <ana> by the way: sid", "[10:07] <ana> it fails. why??", "[10:08] <bo> how?", "[10:09] <ana> so"]
    log = _log(lines)
    (made,) = gather(log, Nicks(log.lines), [(0, 1), (1, 2), (2, 3), (3, 4)], {}, recipe)
    assert dialogue(log, made, Nicks(log.lines), recipe, "ubuntu_irc", None)[0].turns[0].utterance == "It fails. Why. by the way: sid"


def test_lost_characters_leave_no_placeholder() -> None:
    log = _log(
        ["[10:00] <ana> type <unconvertable> sudo?", "[10:01] <bo> ana: <unconvertable>", "[10:02] <bo> ana: yes do", "[10:03] <ana> done, thanks"]
    )
    nicks, recipe = Nicks(log.lines), _recipe()
    (made,) = gather(log, nicks, [(0, 1), (1, 2), (2, 3)], {}, recipe)
    record, _ = dialogue(log, made, nicks, recipe, "ubuntu_irc", None)
    assert [turn.utterance for turn in record.turns] == ["type sudo?", "yes do", "done, thanks"]
    tokenised = LogLine(0, "message", "ana", "type < unconvertable > sudo <unconvertable >", 0)
    assert _said(tokenised).split() == ["type", "sudo"]
    assert parse(["[10:00] <a<unconvertable>a> bo: hi"])[1][0].text == "bo: hi"


@pytest.mark.parametrize(("option", "second"), [("factoid", "!grub | ana. grub is the boot loader"), ("keep", "!grub |"), ("drop", None)])
def test_what_the_bot_says_stands_with_the_call(option: str, second: str | None) -> None:
    log = _log(
        [
            "[10:00] <ana> how do I boot windows?",
            "[10:01] <bo> !grub | ana",
            "[10:01] <ubottu> ana: grub is the boot loader",
            "[10:02] <ana> and then?",
            "[10:03] <bo> run update-grub",
            "[10:04] <ana> as root?",
        ]
    )
    nicks, recipe = Nicks(log.lines), _recipe(f"bot_commands={option}")
    (made,) = gather(log, nicks, [(0, 0), (0, 1), (1, 3), (3, 4), (4, 5)], {}, recipe)
    record, _ = dialogue(log, made, nicks, recipe, "ubuntu_irc", None)
    said = [turn.utterance for turn in record.turns]
    assert ("grub is the boot loader" in said[1]) == (option == "factoid")
    assert any("!grub" in text for text in said) == (option != "drop")
    assert second is None or said[1].startswith("!grub")


_REQUESTS = [
    "sound stopped after the update",
    "any ideas on getting flash to run in firefox",
    "recommend me a good torrent client",
    "hi all, I'd like to set up a webserver",
    "wpa_supplicant segfaults",
    "is it safe to delete /var/cache/apt",
    "so I just installed gutsy and now there's just a blinking cursor",
    "is anyone here using the gnome3 ppa",
    "thanks, but how do I undo that",
    "更新之后开机很慢",
    "apt-get 报 404",
    "firefox老是崩",
    "双系统引导没了",
]
_TALK = [
    "thanks for the help yesterday everybody",
    "just finished my exams, yay",
    "i finally got my sound working",
    "did you see the game last night?",
    "who else likes pizza",
    "no way",
    "what a day",
    "not bad, you?",
    "???",
    "can you see this",
    "does anyone read this?",
    "what channel is this",
    "where is everybody from",
    "is anyone here?",
    "test 123",
    "大家吃了吗",
    "你们都在哪个城市",
    "谢谢大家",
]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("how do I mount a disk?", True),
        ("my printer prints nothing but blank pages", True),
        ("looking for a good editor", True),
        ("怎么安装显卡驱动", True),
        ("hi", False),
        ("hello everyone, how are you?", False),
        ("good morning all", False),
        ("wow, this channel is fast", False),
        ("大家好", False),
        ("我的声卡没有声音", True),
        ("升级以后就黑屏，登录不了", True),
        ("晚上好", False),
        ("hi, how's it going?", False),
        ("oh no", False),
        ("hello, no sound since the upgrade", True),
        *[(text, True) for text in _REQUESTS],
        *[(text, False) for text in _TALK],
    ],
)
def test_openings_that_ask_for_something(text: str, wanted: bool) -> None:
    assert asks(text) == wanted


def test_a_greeting_alone_is_no_request_unless_that_is_wanted() -> None:
    log = _log(["[10:00] <ana> hello all", "[10:01] <bo> ana: hello", "[10:02] <ana> nice weather", "[10:03] <bo> so it is"])
    nicks = Nicks(log.lines)
    for setting, reason in (("true", "no_request"), ("false", None)):
        recipe = _recipe(f"opens_with_request={setting}")
        (made,) = gather(log, nicks, [(0, 0), (0, 1), (1, 2), (2, 3)], {}, recipe)
        error = refusal(made, nicks, recipe)
        assert (error.reason if error else None) == reason


def test_dstc8_s_form_has_its_own_subtasks() -> None:
    assert _recipe("form=dstc8").subtasks == [1, 2] and _recipe().subtasks == [1, 2, 4, 5]
    assert benchmarks.load_recipe("noesis-advising", None, ["form=dstc8"]).to_dict()["subtasks"] == [1, 3]


def test_what_was_said_before_is_no_answer() -> None:
    """No distractor stands in the context, so that an answer that does would be known by it."""

    def talk(*said: str) -> Dialogue:
        turns = tuple(Turn(number, "system" if number % 2 else "user", text) for number, text in enumerate(said))
        return Dialogue(dialogue_id="a/standard/0", source="ubuntu_irc", source_id="a", turns=turns)

    asked = ("my screen is white", "then use the power switch", "no response at all", "look at the log", "there is none")
    assert places(talk(*asked, "Then use the power switch!", "so I did", "boot from the CD"), 3) == [3, 7]
    assert places(talk(*asked[:3], "then use the power switch"), 3) == [] and places(talk(*asked[:3], "then use the power switch"), 3, True) == [1]


@pytest.mark.parametrize("call", ["!grub | ana", "ubottu: grub", "ubottu, tell ana about grub", "Ubottu tell ana about grub"])
def test_a_bot_is_called_by_its_name_too(call: str) -> None:
    log = _log(
        [
            "[10:00] <ana> how do I boot?",
            f"[10:01] <bo> {call}",
            "[10:01] <ubottu> ana: grub is the boot loader",
            "[10:02] <ana> and then?",
            "[10:03] <bo> run it",
            "[10:04] <ana> ok",
        ]
    )
    nicks = Nicks(log.lines)
    for option, left in (("factoid", 1), ("drop", 0)):
        recipe = _recipe(f"bot_commands={option}", "anonymise=false")
        (made,) = gather(log, nicks, [(0, 0), (0, 1), (1, 3), (3, 4), (4, 5)], {}, recipe)
        record, _ = dialogue(log, made, nicks, recipe, "ubuntu_irc", None)
        assert sum("boot loader" in turn.utterance for turn in record.turns) == left
        assert not left or record.turns[1].utterance.startswith(call[:6])


@pytest.mark.parametrize(
    ("lines", "answers"),
    [
        # Two calls at once, answered in their order, and out of it where the bot names whom it speaks to.
        (["<bo> !grub", "<cy> !sound", "<ubottu> grub is the boot loader", "<ubottu> For sound, see the wiki"], [2, 3]),
        (["<bo> !grub | ana", "<cy> !sound | dan", "<ubottu> dan: For sound, see the wiki", "<ubottu> ana: It boots"], [3, 2]),
        (["<bo> !effects", "<cy> !packaging > dan", "<ubottu> dan, please see my private message"], [None, None]),
        (["<bo> !us | ana", "<ubottu> Sorry, I don't know anything about us"], [None]),
        (["<bo> ubottu: tell ana about grub", "<floodbot1> cy: do not paste here", "<ubottu> ana: grub boots"], [2]),
        (["<bo> !grub | ana", "<ubottu> dan: bug 1 is fixed"], [None]),
        (["<bo> !info ktouch", "<ubottu> ktouch: typing tutor for KDE"], [1]),
    ],
)
def test_each_call_has_its_own_answer_of_the_bot(lines: list[str], answers: list[int | None]) -> None:
    log = _log([f"[10:00] {line}" for line in lines])
    for at, answer in enumerate(answers):
        said = _with_factoid(log, log.lines[at], log.lines[at].text, _recipe("bot_commands=factoid"))
        assert said == ("" if answer is None else f"{log.lines[at].text}. {log.lines[answer].text}")
