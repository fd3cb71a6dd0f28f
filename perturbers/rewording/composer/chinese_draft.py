"""A Chinese turn in the making: its clauses as they are picked, its values as private characters, and the shapes of values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from dialmill.perturbers.core.lexicon import rows
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.composer.bank import Clause, Speaker
from dialmill.perturbers.rewording.composer.plan import Context, Item, Plan

#: The first private character that stands for a value.
FIRST = 0xE000
MEASURES = {"景点": "个", "旅游景点": "个", "电影": "部", "电视剧": "部", "电脑": "台", "汽车": "辆", "辅导班": "个", "火车": "趟", "飞机": "个"}
#: Slots whose value stands right before the noun, in this order.
BEFORE_NOUN = ("制片国家/地区", "年级", "科目", "品牌", "系列", "厂商", "车系", "性质", "星级", "景点类型", "菜系", "酒店类型")
#: Values that say nothing without a word beside them.
BARE = frozenset({"星级", "每周", "座位数", "内存容量", "屏幕尺寸"})
ENDS = "。！？!?～~"
SIGNS = ENDS + "，,；;：…"
#: Words before a place that can't be left empty ("去{N}").
_NEEDS_NAME = re.compile(r"(?:[从离到给把跟去往进住坐了找评]|在(?=\{N\}[^附周]))\{N\}")
#: A frame with a lead of its own ("该吃饭了，…").
_LED = re.compile(r"[^{]*，|[^{]*还没|[^{]*没着落")
#: "哪儿有" before a noun phrase that begins with 有.
DOUBLED = re.compile(r"(?<![还没])有有(?!没)|(?<=有没)有有")
#: A request that doesn't follow "还想问一下".
NO_QUESTION = re.compile(r"想|能|说|看|给|我|不知|帮|麻烦|方便|请|发|把|告诉|介绍")
#: How a turn goes on after an acknowledgement of its own.
DOUBLE = re.compile(r"^(?:嗯|好|行|好的|好嘞|成|嗯嗯)，")
#: Kinds of items that are about the turn's domain.
ABOUT = frozenset({"find", "ask", "askfac", "answer", "inform", "facility", "pick", "check"})
#: How often all wishes come before the noun that they are about.
REVERSED = 0.35
#: How often a value that can stand right before the noun does.
DIRECT = 0.75
#: How often two requests are two questions and no list.
APART = 0.6


#: Kinds of clauses that a reason may stand before, and what it begins with itself.
_REASONED = frozenset({"ask", "open", "rev", "nearopen", "taxi", "metro", "metroask", "trip", "askframe", "moreask", "moreyes", "moreopen", "say"})
#: What leads up to a question, as a greeting does.
_LEADS_UP = re.compile(r"有件事|想请你帮个忙|有个事|有个问题|还有件事|是这样的|我想麻烦|还得麻烦")
#: Words of courtesy that a greeting may have, and the kinds of clauses that follow it.
_COURTESY = ("帮", "麻烦", "请", "劳", "打听", "查")
_AFTER_GREETING = frozenset({"moreask", "moreyes", "moreopen", "open", "rev", "nearopen", "ask", "askframe", "trip", "taxi"})
#: Kinds of clauses that may stand behind a time ("晚上，") or a condition ("要是想出去玩的话，"), and how those begin that go on from it: who says
#: when says what he will do then, who says on which condition asks for something.
_AFTER_LEAD = frozenset({"open", "nearopen", "moreopen"})
LEADS = {"condition": re.compile(r"的话$|^那?(?:如果|要是)"), "asking": re.compile(r"问|打听|咨询|请教|了解")}
_GOES_ON = {
    "time": re.compile(r"(?:我(?:打算|需要|要)|我?想(?:在\{N\}附近)?(?:找|要))"),
    "condition": re.compile(r"(?:有(?!劳|件)|哪|能|可以|推荐|给我|帮|请|麻烦|你(?!那|这|要|看))"),
}
#: Kinds of clauses that a whole sentence is made of: their terse ones are for terse turns.
_WHOLE = frozenset({"ack", "ask", "asktail", "askframe", "rev", "trip", "revtrip", "taxi", "metro", "metroask", "taxiask"})
_WISHES = re.compile(r"我|想|是这样的|不知道你|有件事|还")
#: What a drink is called, and what is said of dishes alone.
_DRINK = re.compile(r"(?:咖啡|摩卡|拿铁|卡布奇诺|茶|酒|汁|可乐|奶|奶昔|饮料|饮品|豆浆|汽水|啤)$")
EATEN = re.compile(r"吃|菜(?!单)|尝|口味|一份")
#: What says that something is asked.
_ASKS_TO = re.compile(r"问|打听|请教|确认|了解|^我?想|有件事|有个")
#: Turns of phrase that searches and their wishes are put in, and the kinds of clauses of which no two share one.
_PUT = frozenset({"say", "open", "nearopen", "moreopen"})
_PHRASED = re.compile(r"打算|准备|计划|就行|就好|就成|都行|都可以|最好|希望|想要|必须|要求|控制在|预算|类型")


class NoClause(Exception):
    """The bank has no clause for something that is to be said."""


#: A wish that need not be met.
_SOFT = re.compile(r"最好(?!的)|希望|优先|更好|再好不过")
#: Kinds of clauses that say one.
_WISHED = frozenset({"say", "mod", "answer", "pre"})


@dataclass
class Wish:
    """One constraint of a search: its slot as the bank names it, its text, and what is known of its surface."""

    slot: str
    text: str
    facts: frozenset[str]
    items: tuple[Item, ...] = ()


@dataclass
class Draft:
    """A turn being worded."""

    context: Context
    plan: Plan
    who: Speaker
    rng: Rng
    style: str
    ranges: list[tuple[int, int]] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)
    reasoned: bool = False
    greeted: str = ""
    avoided: tuple[re.Pattern[str], ...] = ()
    lead: str = ""
    cried: bool = False
    said: list[str] = field(default_factory=list)

    @property
    def source(self) -> str:
        """The utterance."""
        return self.context.view.turn.utterance

    @property
    def drinks(self) -> bool:
        """Whether what is wanted of a menu is drunk: nobody eats it, and it is no dish."""
        wanted = [act.value or "" for act in self.context.view.turn.acts if act.act == "inform" and act.slot == "推荐菜"]
        return bool(wanted) and ("喝" in self.source or any(_DRINK.search(value) for value in wanted))

    def of(self, *kinds_: str) -> list[Item]:
        """The items of these kinds, in order."""
        return [item for item in self.plan.items if item.kind in kinds_]

    def shown(self, start: int, end: int) -> str:
        """The private character for a range of the source."""
        if (start, end) not in self.ranges:
            self.ranges.append((start, end))
        return chr(FIRST + self.ranges.index((start, end)))

    def value(self, item: Item) -> str:
        """The private character for an item's surface."""
        return self.shown(item.start, item.end)

    def pick(
        self,
        kind: str,
        domain: str = "*",
        slot: str = "",
        value: str = "",
        tag: str = "",
        facts: frozenset[str] = frozenset(),
        nameless: bool = False,
        led: bool = False,
        direct: bool = False,
        wish: Wish | None = None,
    ) -> str:
        """The text of a clause.

        `nameless`: one that can do without what points at the thing it is about; `led`: one without a lead of its own, since one stands before it;
        `direct`: a plain question, since another one stands before it (or a cry: "我的天！"); `wish`: what is wished for; its clause in the source
        tells whether it need be.

        Raises:
            NoClause: the bank has none that fits.
        """
        options = self.who.options(kind, domain, slot, value, tag, facts)
        if self.style == "less":
            # Whoever speaks: a terse turn is made of terse clauses.
            terse = Speaker(self.who.bank, "terse", self.who.half, self.who.facts)
            options = terse.options(kind, domain, slot, value, tag, facts) or options
        if kind in _WISHED:
            # "评分最好4分" softens "评分4分", and "评分要4分" hardens "评分最好4分".
            soft = bool(_SOFT.search(self._clause_of(wish)))
            options = [clause for clause in options if bool(_SOFT.search(clause.text)) == soft] or options
        if nameless:
            options = [clause for clause in options if not _NEEDS_NAME.search(clause.text)]
        if self.greeted and kind in _AFTER_GREETING:
            # "烦请帮个忙，能否帮忙找找": one such word is enough.
            courtesy = [words for words in _COURTESY if words in self.greeted]
            options = [clause for clause in options if not any(words in clause.text for words in courtesy)] or options
            options = [clause for clause in options if not _LEADS_UP.match(clause.text)] or options
        if kind in _WHOLE and self.style != "less":
            options = [clause for clause in options if "terse" not in clause.voices] or options
        if direct or (self.cried and kind == "ask"):
            options = [clause for clause in options if clause.text.endswith("？") and not NO_QUESTION.search(clause.text)] or options
        options = self._going_on(kind, options)
        if led:
            options = [clause for clause in options if not _LED.match(clause.text)] or options
        if self.style == "less" and options:
            options = _shortest(options)
        if self.reasoned and kind in _REASONED:
            # A reason stands before it: "我想…，我想…" says the same twice.
            options = [clause for clause in options if not _WISHES.match(clause.text)] or options
            options = [clause for clause in options if not any(words.search(clause.text) for words in self.avoided)] or options
        chosen = self.who.choose(self.rng, options)
        if chosen is None:
            raise NoClause(f"{kind} {domain} {slot}".strip())
        self.keys.append(chosen.key)
        if kind in _PUT:
            self.said.append(chosen.text)
        return chosen.text

    def _going_on(self, kind: str, options: list[Clause]) -> list[Clause]:
        """Those of some clauses that go with what the turn has said, and with what it is about."""
        if self.lead == "asking":
            # "另外我再问一下，我想确认一下": one such clause is enough.
            options = [clause for clause in options if kind not in _REASONED or not _ASKS_TO.search(clause.text)] or options
        elif self.lead and kind in _AFTER_LEAD:
            options = [clause for clause in options if _GOES_ON[self.lead].match(clause.text)] or options
        if self.drinks:
            options = [clause for clause in options if not EATEN.search(clause.text)]
        if kind in _PUT:
            # "大床房就行，适合休闲的就行": no turn of phrase twice.
            turns = {words for text in self.said for words in _PHRASED.findall(text)}
            options = [clause for clause in options if turns.isdisjoint(_PHRASED.findall(clause.text))] or options
        return options

    def _clause_of(self, wish: Wish | None) -> str:
        """The clause of the source that has a wish; all of it where that stands in none."""
        at = next((item.start for item in wish.items if item.shown), -1) if wish is not None else -1
        if at < 0:
            return self.source
        first = max(self.source.rfind(sign, 0, at) for sign in SIGNS) + 1
        ends = [place for place in (self.source.find(sign, at) for sign in SIGNS) if place >= 0]
        return self.source[first : min(ends, default=len(self.source))]

    def has(self, kind: str, domain: str = "*", slot: str = "", facts: frozenset[str] = frozenset()) -> bool:
        """Whether the bank has a clause for this."""
        return bool(self.who.options(kind, domain, slot, facts=facts))


def _shortest(options: list[Clause]) -> list[Clause]:
    """The terse ones and those that are as short; else the shortest."""
    terse = [len(clause.text) for clause in options if "terse" in clause.voices]
    if terse:
        return [clause for clause in options if "terse" in clause.voices or len(clause.text) <= min(terse)]
    least = min(len(clause.text) for clause in options)
    return [clause for clause in options if len(clause.text) <= least + 1]


def put(text: str, **values: str) -> str:
    """A clause's text with its places filled: ``{N}``, and ``{N:的}``, which vanishes with an empty value."""
    for name, value in values.items():
        text = text.replace("{" + name + ":的}", f"{value}的" if value else "").replace("{" + name + "}", value)
    return text


def shape(slot: str, surface: str, count: int, source: str) -> frozenset[str]:
    """What the conditions of the bank say of a value's surface."""
    facts: set[str] = set()
    if surface.endswith("以上"):
        facts.add("up")
    elif surface.endswith(("以下", "以内")):
        facts.add("low")
    elif re.search(r"\d\D*[-–~到至]\D*\d", surface):
        facts.add("rng")
    else:
        facts.add("ex")
    if slot == "门票":
        facts.add("free" if surface == "免费" else "nofree" if "免费" in surface else "num")
    if slot == "酒店类型":
        facts.add("typ" if surface.replace(" ", "").endswith("型") or surface in ("高档", "豪华", "舒适", "经济") else "man")
    if "价" in surface or "消费" in surface:
        facts.add("pw")
    if "最低" in source:
        facts.add("min")
    facts.add("one" if count == 1 else "many")
    return frozenset(facts)


def listing(parts: Sequence[str], rng: Rng, last: str = "和") -> str:
    """Parts in a row: "A、B和C"."""
    if len(parts) == 1:
        return parts[0]
    joint = last if rng.chance(0.6) else "、"
    return "、".join(parts[:-1]) + joint + parts[-1]


def manner_of(name: str) -> str:
    """How a facility stands in a sentence: "noun", "do", "cl"."""
    for manner, names in rows("zh", "facilities"):
        if name.lower() in names.lower().split():
            return manner
    return "noun"
