"""From the lines of a log and its reply links to conversations, and from a conversation to a `Dialogue`.

Filters are those of DSTC7 Task 1 (Gunasekara et al. 2019, section 3.1; Kummerfeld et al. 2019, supplement D). The first speaker asks and is the
"user", everybody else is the "system": helpers are whom a system learns from.
"""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec
from dialmill.perturbers.core.rng import key_number
from dialmill.pipelines.core.errors import RecordError
from dialmill.pipelines.disentangle.logs import BOTS, PLACEHOLDER, Log, LogLine
from dialmill.pipelines.disentangle.metrics import conversations
from dialmill.pipelines.disentangle.nicknames import Nicks, addressee, without_names
from dialmill.pipelines.disentangle.recipe import LogRecipe
from dialmill.schemas import Dialogue, Step, Turn

_DATE = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")


class Line(msgspec.Struct, array_like=True):
    """A message as DSTC8 shows it: who (participant_0, ...), date YYYY-MM-DD and time HH:MM where known, what."""

    speaker: str
    date: str
    time: str
    text: str


class Around(msgspec.Struct, array_like=True):
    """The channel around a conversation, for a benchmark that shows it entangled.

    `subtask` is what the stretch of the channel in which it lies serves in valid and test; `fits` says whether it begins and is answered in one
    stretch, `shown` whether its answer or another example's would be shown; `lines` are the messages before its answer, of that stretch alone.
    """

    stretch: int
    subtask: int
    fits: bool
    shown: bool
    lines: list[Line]


class Conversation(NamedTuple):
    """Messages that belong together, in file order, who says each, the probability that the links between them are right, and who asks: the first
    speaker where nothing says otherwise."""

    messages: tuple[LogLine, ...]
    people: tuple[str, ...]
    confidence: float
    asker: str


def gather(log: Log, nicks: Nicks, links: Sequence[tuple[int, int]], sure: dict[int, float], recipe: LogRecipe) -> Iterator[Conversation]:
    """The conversations of a log: what reply links connect. Where links are annotated, they reach back before the first annotated message: what they
    reply to there belongs to the conversation, and whoever asked there asks; where what is replied to is an answer to somebody, that is who asked."""
    linked = {message for _, message in links}
    for group in conversations(links):
        talk = [log.lines[at] for at in group if log.lines[at].is_talk]
        # Bots that talk alone are a conversation too: one that the filters refuse.
        said = tuple(line for line in talk if not (recipe.drop_bots and line.is_bot)) or tuple(talk)
        if not said:
            continue
        known = [sure.get(line.line, 1.0) for line in said]
        confidence = 1.0
        for one in known:
            confidence *= max(one, 1e-6) ** (1 / len(known))
        people = tuple(nicks.person(line.nick) or "" for line in said)
        asker = people[0]
        if said[0].line not in linked and (addressed := addressee(said[0].text, nicks, dict.fromkeys(people))) in people:
            asker = addressed or asker
        yield Conversation(said, people, round(confidence, 6), asker)


def refusal(made: Conversation, nicks: Nicks, recipe: LogRecipe) -> RecordError | None:
    """Why the recipe's filters refuse a conversation, None if they don't. The first that refuses is told."""
    if recipe.drop_bots and all(line.is_bot for line in made.messages):
        return RecordError("bots_alone", f"{made.messages[0].nick}: {made.messages[0].text}")
    counts = Counter(made.people)
    who = ", ".join(sorted({line.nick for line in made.messages}))
    if len(counts) < recipe.min_participants:
        return RecordError("too_few_participants", f"{who}: {made.messages[0].text}")
    most = recipe.most_participants
    if most is not None and len(counts) > most:
        return RecordError("too_many_participants", who)
    if recipe.undirected_start and _directed(made, nicks):
        return RecordError("directed_start", made.messages[0].text)
    if recipe.opens_with_request and not asks(opening(made)):
        return RecordError("no_request", opening(made)[:200])
    share = max(counts.values()) / len(made.people)
    if share > recipe.max_share:
        return RecordError("one_sided", f"{share:.0%} of {len(made.people)} messages are by one of {who}")
    if made.confidence < recipe.min_confidence:
        return RecordError("unsure_links", f"confidence {made.confidence:.3f}, at least {recipe.min_confidence:g} wanted")
    return None


_SOUGHT = (
    r"how what whats why where when which who can could would should does anyone anybody someone somebody help need want wanna trying try "
    r"tried looking wondering wonder having problems? issues? trouble errors? fails? failed failing broken broke crash\w* hang\w* freez\w* "
    r"stuck missing wrong can'?t cannot won'?t don'?t doesn'?t didn'?t isn'?t wasn'?t aren'?t couldn'?t nothing blank slow silent dead unable lost "
    r"question possible instead please pls plz says stop(?:s|ped) ideas? suggestions? suggest recommend\w* advice segfault\w* garbled "
    r"overheats? denied corrupt\w* disconnects? rescue prompt unreadable hung dies died refuses? complain\w*"
)
_PHRASES = (
    r"way to|tell me|is there|is it (?:safe|ok|okay|normal|true)|i'?d like|i would like|"
    r"after (?:the |an? |my |i )?\w*(?:upgrad|updat|install|reboot|resiz|restart|suspend|resum|boot)\w*|"
    r"no (?:sound|audio|video|network|internet|signal|space|such)|"
    r"not (?:work|found|detect|recogni|show|load|start|boot|support|mount|connect|see|respond|able|sure|install|available)\w*"
)
#: These tell a trouble or a wish where the rest isn't merry: "my printer is on fire", but not "just finished my exams, yay".
_HINTS = re.compile(r"\b(?:my|not|no|never|i have|i've|i get|i got|just (?:installed|upgraded|updated|switched))\b", re.I)
_MERRY = re.compile(
    r"\b(?:yay+|woo+t?|hoo?ray|congrat\w*|rocks?|awesome|amazing|great job|well done|love|loving|thank\w*|thx|ty|"
    r"finally (?:got|fixed|working|works?)|works? (?:now|great)|no (?:way|problem|worries|idea)|not (?:bad|much|really)|never ?mind|nvm|my bad|oh my|"
    r"i have to go|i'?ve got to go)\b",
    re.I,
)
_SOUGHT_ZH = (
    "怎么 怎样 如何 为什么 为啥 什么 啥 哪 请教 请问 请帮 帮 求 问题 错误 报错 出错 失败 不能 无法 不了 不到 不行 不动 不起 不出 不上 "
    "没声音 没有声音 "
    "没反应 没有反应 没法 没用 死机 崩 黑屏 蓝屏 花屏 卡住 卡死 很卡 太卡 好卡 坏了 丢了 没了 不见 很慢 太慢 好慢 "
    "变慢 异常 失灵 乱码 提示 连不 打不 装不 "
    "有没有 想把 想装 想用 想要 想问 想找 想学 想换 需要 推荐"
)
_ASKS = re.compile(rf"\?|\b(?:{'|'.join(_SOUGHT.split())}|{_PHRASES})\b|[吗呢么？]|{'|'.join(_SOUGHT_ZH.split())}|报 ?\d", re.I)


def opening(made: Conversation) -> str:
    """What the one who asks says before anybody answers."""
    said = []
    for line, person in zip(made.messages, made.people, strict=True):
        if person == made.asker:
            said.append(line.text)
        elif said:
            break
    return " ".join(said)


_GREETING = (
    "hi hello hey hiya hallo hola yo greetings morning good evening afternoon all everyone everybody there guys folks anyone anybody "
    "here how are r you u doing today is what's whats how's hows it going goin things life a day oh no night nite bye cu later wow up sup around "
    "awake alive lol haha hehe rofl brb re back test testing tests ping [0-9]+ nope yes yep yeah am i im i'm 你好 大家好 有人吗 有人在吗 在吗 早 "
    "早上好 晚上好 晚安"
)
_CHAT = re.compile(rf"[^\w]*(?:(?:{'|'.join(_GREETING.split())})[^\w]*)*", re.I)
#: Talk for its own sake, also where it is a question: whether anybody reads, where people are from, thanks.
_ANYONE = r"(?:any ?(?:one|body)|some ?(?:one|body)|every ?(?:one|body))"
_YOU = r"(?:you|u|y'?all|(?:you )?guys|people)"
_SMALL_TALK = re.compile(
    rf"(?:can|does|do|did) (?:{_ANYONE}|{_YOU}) (?:even |still |all )?(?:see|read|hear|receive|get) (?:me|this|my (?:text|message)s?)\W*$|"
    rf"\b(?:am i|is this (?:thing|channel|chat)|is {_ANYONE}) (?:connected|online|on|muted|alive|active|dead|awake|alone|here|there|around|home)\W*$|"
    rf"where (?:is|are|r) (?:{_ANYONE}|{_YOU})(?: all)?(?: from)?\W*$|what(?:'?s| is)? (?:channel|this channel|room)(?: (?:is|about|for|this))*\W*$|"
    rf"(?:did|have) (?:{_ANYONE}|{_YOU}) (?:see|seen|watch|watched) (?:the|that) (?:game|match|movie|film|show|news)|"
    r"\bwho(?: else| here)* (?:likes?|loves?|hates?|wants? (?:a )?(?:beer|pizza|coffee))\b|"
    r"what an? (?:\w+ ){0,2}(?:day|night|week|game|shame|pity|surprise|relief)\b|how old (?:are|r) (?:you|u)\b|\ba/s/l\b|"
    r"吃(?:饭)?了[吗没]|都?(?:是|在)哪[里儿个]?(?:城市|省|国家|地方)?的?人?[呢啊呀]?\W*$|几岁|天气(?:真|好|不错)",
    re.I,
)
_THANKS = re.compile(r"\W*(?:(?:ok|okay|well|hey|hi|ah),? )?(?:thanks|thank you|thx|many thanks|谢谢|多谢|感谢)", re.I)
#: What asks for something whatever else is said.
_PLEADS = re.compile(r"\bbut\b|\bhow (?:do|to|can)\b|但是?|可是|不过|怎么")


def asks(text: str) -> bool:
    """Whether an opening asks for something: a question, a wish, or a trouble that is told. "hi, how are you?" asks for nothing, nor does "can anyone
    read this?", nor thanks."""
    merry = _MERRY.search(text) is not None and "?" not in text and "？" not in text
    # Thanks ask where a "but" follows; and what is merry has no "my" or "no" as a complaint.
    if _CHAT.fullmatch(text) or _SMALL_TALK.search(text) or (_THANKS.match(text) and not _PLEADS.search(text)):
        return False
    plain = _MERRY.sub(" ", text)
    if _CHAT.fullmatch(plain):
        return False
    return _ASKS.search(plain) is not None or (not merry and _HINTS.search(plain) is not None)


_COMMAND = re.compile(r"!\w|([\w-]+)(?:[:,]\s*\S|\s+tell\s)", re.I)
#: Lines after a call in which the bot answers.
_BOT_ANSWERS = 12


def _calls_bot(text: str) -> bool:
    """Whether a message is for the channel's bot: "!ask", "ubottu: ask", "ubottu tell kim about ask"."""
    found = _COMMAND.match(text.lstrip())
    return found is not None and (found[1] is None or found[1].lower() in BOTS)


def _with_factoid(log: Log, line: LogLine, text: str, recipe: LogRecipe) -> str:
    """A message that calls the channel's bot with what the bot says to it, or nothing where it is left out or the bot says nothing."""
    if recipe.bot_commands == "keep" or not _calls_bot(text) or line.is_bot:
        return text
    answer = _bot_answer(log, line) if recipe.bot_commands == "factoid" else None
    return f"{text.strip()}. {_said(answer)}" if answer is not None else ""


#: Whom a call is for: "!ask | kim", "!ask > kim", "ubottu: tell kim about ask".
_FOR = re.compile(r"[|>]\s*(\S+)|\btell\s+(\S+)\s+(?:about\b)?", re.I)
#: To whom the bot speaks.
_TO = re.compile(r"(\S+?)[:,]\s")
#: What the bot says where the channel learns nothing: it says it elsewhere, or knows nothing.
_EMPTY = re.compile(r"see my private message|(?:don't|do not) know anything about|know nothing about|^factoid \S+ not found", re.I)


def _bot_answer(log: Log, call: LogLine) -> LogLine | None:
    """What the channel's bot says to a call; None where it says nothing, or nothing that can be told to be for this call.

    Calls that are close together are answered in their order, but for those that name whom they are for: the bot names them too.
    """
    pending: list[LogLine] = []
    for line in log.lines[max(0, call.line - _BOT_ANSWERS) : call.line + 1 + _BOT_ANSWERS]:
        if not line.is_talk or not line.text.strip() or line.nick.lower().startswith("floodbot"):
            continue
        if not line.is_bot:
            pending += [line] if _calls_bot(line.text) else []
            continue
        answered = _answered(line, pending)
        if answered is call:
            return None if _EMPTY.search(line.text) else line
        if answered is not None:
            pending.remove(answered)
    return None


def _answered(line: LogLine, pending: Sequence[LogLine]) -> LogLine | None:
    """The call that a bot's line answers: one for whom the bot names, or whose words it repeats, else the first that is for nobody."""
    to = _TO.match(line.text)
    if to is not None:
        named = [one for one in pending if to[1].casefold() in (_meant(one.text), one.nick.casefold())]
        if named or "see my private message" in line.text:
            return named[0] if named else None
    words = set(re.findall(r"\w+", line.text.casefold()))
    about = [one for one in pending if not words.isdisjoint(_asked_for(one.text))]
    free = [one for one in pending if _meant(one.text) is None]
    # The bot has the name of whom a call is for in front, but where it knows nothing.
    return next((one for one in about if one in free or _EMPTY.search(line.text)), free[0] if free else None)


def _meant(text: str) -> str | None:
    found = _FOR.search(text)
    return (found[1] or found[2]).casefold() if found else None


def _asked_for(text: str) -> set[str]:
    """The words that a call asks about: "grub" of "!grub | kim", "kim" of none."""
    asked = _FOR.sub(" ", text.casefold())
    return set(re.findall(r"\w+", asked)) - BOTS - {"tell", "about", "info", "find", "me", "the", "a"}


def _directed(made: Conversation, nicks: Nicks) -> bool:
    """Whether the first message is directed at somebody: it names a nick of the channel."""
    text, people = made.messages[0].text, dict.fromkeys(made.people, "")
    if addressee(text, nicks, people) is not None:
        return True
    return without_names(text, nicks, people) != " ".join(text.split())


def _said(line: LogLine) -> str:
    """What a message says, without what stands for characters that a form of the log has lost."""
    return PLACEHOLDER.sub(" ", line.text) if "unconvertable" in line.text else line.text


def stamp(log: Log, line: LogLine) -> tuple[str, str]:
    """Date and time of a message. The date is in the log's name; a 12-hour clock leaves open which half of the day it is."""
    hours, minutes = divmod(line.minute % 1440, 60)
    if log.clock == "12h":
        hours = hours % 12 or 12
    found = _DATE.search(log.name)
    if not found:
        return "", f"{hours:02}:{minutes:02}"
    try:
        day = datetime.date(*map(int, found.groups()))
    except ValueError:
        return "", f"{hours:02}:{minutes:02}"
    if log.clock == "24h":
        day += datetime.timedelta(days=line.minute // 1440)
    return day.isoformat(), f"{hours:02}:{minutes:02}"


def number_people(people: Iterable[str]) -> dict[str, str]:
    """participant_0, participant_1, ... in order of appearance."""
    return {person: f"participant_{at}" for at, person in enumerate(dict.fromkeys(people))}


def dialogue(log: Log, made: Conversation, nicks: Nicks, recipe: LogRecipe, source: str, split: str | None) -> tuple[Dialogue, list[int]]:
    """A conversation as a record, and the line at which each turn begins.

    In DSTC7's form names are gone and consecutive messages of one speaker joined; in DSTC8's a turn is a message, its labels say who
    speaks and when; in the plain form the text is as it was, and labels hold nick and line.

    Raises:
        RecordError: `too_few_turns` or `too_few_participants`, after names and empty messages went.
    """
    names = number_people(made.people)
    turns: list[tuple[str, str, tuple[str, ...]]] = []
    begins: list[int] = []
    joined: list[str] = []
    for line, person in zip(made.messages, made.people, strict=True):
        text = _with_factoid(log, line, _said(line), recipe)
        if recipe.anonymise:
            text = without_names(text, nicks, names if recipe.form == "dstc8" else dict.fromkeys(names, ""))
        text = " ".join(text.split())
        if not text:
            continue
        labels: tuple[str, ...] = ()
        if recipe.form == "dstc8":
            labels = (names[person], " ".join(filter(None, stamp(log, line))))
        elif recipe.form == "plain":
            labels = (f"speaker={line.nick}", f"line={line.line}")
        if recipe.merges and turns and turns[-1][0] == person:
            if _same(text) in joined:
                continue  # asked again in the same words, for want of an answer
            joined.append(_same(text))
            # As the release has it, whatever punctuation precedes: "msn?. I'm".
            turns[-1] = (person, f"{turns[-1][1]}. {text}", turns[-1][2])
        else:
            turns.append((person, text, labels))
            begins.append(line.line)
            joined = [_same(text)]
    if len({person for person, _, _ in turns}) < recipe.min_participants:
        raise RecordError("too_few_participants", "after names went, one side says nothing")
    changes = 1 + sum(one[0] != other[0] for one, other in pairwise(turns))
    if not turns or changes < recipe.min_turns:
        raise RecordError("too_few_turns", f"{changes if turns else 0} turns, at least {recipe.min_turns} wanted")
    source_id = f"{log.name}#{made.messages[0].line}"
    lineage = Step("disentangle@3", None, None, "read", (), (f"links:{recipe.links}", f"confidence:{made.confidence:g}"))
    made_of = Dialogue(
        dialogue_id=source_id,
        source=source,
        source_id=source_id,
        split=_split(log, made.messages[0], recipe) or split,  # type: ignore[arg-type]
        domains=("ubuntu",),
        turns=tuple(Turn(at, "user" if person == made.asker else "system", text, labels=labels) for at, (person, text, labels) in enumerate(turns)),
        lineage=(lineage,),
    )
    return made_of, begins


def _same(text: str) -> str:
    """A text without what may differ where the same is said again: case, and marks at the end."""
    return text.casefold().rstrip(" .!?…,;:") or text


def _split(log: Log, line: LogLine, recipe: LogRecipe) -> str | None:
    """The split by time, None where the recipe doesn't split so.

    Raises:
        RecordError: `no_date`.
    """
    if recipe.valid_from is None or recipe.test_from is None:
        return None
    date, _ = stamp(log, line)
    if not date:
        raise RecordError("no_date", f"{log.name}: no date in the name of the log, and splits are by time")
    return "test" if date >= recipe.test_from else "valid" if date >= recipe.valid_from else "train"


def around(log: Log, taken: Sequence[Conversation], nicks: Nicks, answers: Sequence[int | None], recipe: LogRecipe, seed: int) -> list[Around]:
    """What stands around each conversation of a log, in the order given.

    The log is cut into stretches of about `stretch_lines` messages, two at least, which serve the recipe's subtasks in turn. Of the conversations
    that would be shown the channel, those are `shown` whose answer stands among the lines that an earlier or later one is shown.

    Args:
        answers: the line of each conversation's answer, None where it has none.
    """
    if not taken:
        return []
    talk = [line.line for line in log.lines if line.is_talk and line.text.strip()]
    first = bisect_left(talk, min(made.messages[0].line for made in taken))
    last = bisect_right(talk, max(made.messages[-1].line for made in taken))
    number = max(2, round((last - first) / recipe.stretch_lines))
    width = max(1, -(-(last - first) // number))
    offset = key_number(seed, "stretch@1", log.name)
    serves = recipe.stretch_subtasks
    found: list[Around] = []
    for made, answer in zip(taken, answers, strict=True):
        stretch = (bisect_left(talk, made.messages[0].line) - first) // width
        begin = talk[min(first + stretch * width, len(talk) - 1)] if stretch else 0
        subtask = serves[(stretch + offset) % len(serves)]
        place = -1 if answer is None else (bisect_left(talk, answer) - first) // width
        lines = [] if answer is None else entangled(log, made, nicks, begin, answer, recipe.entangled_lines)
        found.append(Around(stretch, subtask, place == stretch, False, lines))
    last_answer = -1
    for at in sorted((at for at, one in enumerate(found) if one.fits), key=lambda at: (answers[at] or 0, at)):
        answer = answers[at]
        assert answer is not None
        # The lines that are shown begin after the last answer, or both would stand in one of the contexts.
        shown = bisect_left(talk, answer) - recipe.entangled_lines <= last_answer
        found[at].shown = shown
        if not shown:
            last_answer = bisect_left(talk, answer)
    return found


def entangled(log: Log, made: Conversation, nicks: Nicks, first: int, before: int, count: int) -> list[Line]:
    """The last `count` messages of the channel from line `first` to line `before`, exclusive, of whatever conversation, with the conversation's
    people numbered first."""
    lines: list[LogLine] = []
    for line in reversed(log.lines[first:before]):
        if line.is_talk and line.text.strip():
            lines.append(line)
            if len(lines) == count:
                break
    lines.reverse()
    names = number_people([*made.people, *(nicks.person(line.nick) or "" for line in lines)])
    found = []
    for line in lines:
        text = without_names(_said(line), nicks, names)
        if text:
            found.append(Line(names[nicks.person(line.nick) or ""], *stamp(log, line), text))
    return found
