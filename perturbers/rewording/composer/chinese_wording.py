"""The plan of a Chinese turn in words: noun phrases with their modifiers, further wishes as short clauses, requests, and what was kept as it stood.

Values, and clauses that are kept, stand in the text as one private character each until the end, so that their places come out exact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.composer.bank import Speaker
from dialmill.perturbers.rewording.composer.chinese_clauses import NAME_SLOTS, PRICES, QUALIFIERS, kinds, table, words_in
from dialmill.perturbers.rewording.composer.chinese_draft import (
    ABOUT,
    APART,
    BARE,
    BEFORE_NOUN,
    DIRECT,
    DOUBLE,
    DOUBLED,
    LEADS,
    MEASURES,
    NO_QUESTION,
    REVERSED,
    SIGNS,
    Draft,
    NoClause,
    Wish,
    listing,
    manner_of,
    put,
    shape,
)
from dialmill.perturbers.rewording.composer.chinese_longer import Longer, Question, around_once
from dialmill.perturbers.rewording.composer.chinese_signs import MANNERS
from dialmill.perturbers.rewording.composer.chinese_text import (
    alike,
    closed,
    company,
    dangles,
    expanded,
    joined,
    politely,
    requests_lost,
    searches,
    thanks_first,
)
from dialmill.perturbers.rewording.composer.plan import Composed, Context, Item, Plan, Refusal

#: Kinds of items that more than courtesy is said by.
_BUSINESS = ("inform", "facility", "find", "pick", "near", "choose", "plan", "topic", "ask", "askfac", "check")
#: How long a kept clause is at most that only says when: "晚上", "游玩结束后".
_TIME = 6
#: What a search for a journey asks for, where a terse writer asks for more beside it.
_TRIPS_ASKED = {"火车": "车次", "飞机": "航班"}
#: A kept clause that asks: "会不会冷".
_KEPT_QUESTION = re.compile(r"(.)[不没]\1|有没有|什么|哪|几|多少|怎么|是否")


class _Wording:
    """Words a plan."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.rng = draft.rng
        domains = [item.domain for item in draft.plan.items if item.domain and item.kind in ABOUT]
        named = [item.domain for item in draft.of("choose", "plan", "topic", "near")]
        self.domain = (domains or named or ["*"])[0]
        for item in draft.of("find", "pick", "answer"):
            self.domain = item.domain
        self.asks = draft.of("ask")
        self._said = False
        self.led = False
        self.longer: Longer | None = None

    # What is said, one segment after the other; a segment ends in a sign or in none.

    def segments(self) -> list[str]:
        """The segments of the turn."""
        draft = self.draft
        keeps = draft.of("keep")
        general = not (draft.of(*_BUSINESS) or keeps)
        if draft.style == "less" and draft.of(*_BUSINESS) and not any(self._needed(item) for item in keeps):
            keeps = []
        segments = self._opening(general)
        leading = [item for item in keeps if item.slot == "before"]
        segments += [self._kept(item) for item in leading]
        self.led = bool(leading)
        draft.lead = self._lead(leading)
        draft.cried = any(draft.source[item.end : item.end + 1] in ("！", "!") for item in leading[-1:])
        draft.lead = "" if draft.cried else draft.lead
        if draft.style == "more" and not general:
            if draft.cried:
                raise NoClause("cry")
            self.longer = Longer(draft, self.domain)
        segments += [company(draft, item, self.domain) for item in draft.of("with")]
        core = self._core()
        self._said = bool(core)
        segments += core
        if self.longer is not None:
            segments += self.longer.behind("".join(core))
            if not core or not self.longer.used:
                raise NoClause("reason")
        elif draft.style == "more":
            raise NoClause("reason")
        after = [item for item in keeps if item.slot == "after"]
        if dangles(core, draft, after) or (draft.of("thank") and core and thanks_first(draft.source)):
            raise NoClause("after")
        segments += [self._kept(item) for item in after]
        segments += self._closing(general) or []
        if draft.of("ack", "react") and len(segments) > 1:
            segments = [segment if place == 0 else DOUBLE.sub("", segment) for place, segment in enumerate(segments)]
        return segments

    def _lead(self, leading: Sequence[Item]) -> str:
        """What a kept clause before the rest says: "time", "condition", "asking", or ""."""
        words = self.draft.source[leading[-1].start : leading[-1].end] if leading else ""
        said = next((kind for kind, pattern in LEADS.items() if pattern.search(words)), "")
        return said or ("time" if words and len(words) <= _TIME else "")

    def _opening(self, general: bool) -> list[str]:
        """Greeting and acknowledgement."""
        draft = self.draft
        segments: list[str] = []
        if draft.of("greet") and draft.style != "less":
            segments.append(draft.pick("greet"))
            draft.greeted = segments[-1]
        if not draft.of("ack", "react") or draft.context.first:
            return segments
        manners = [item.value for item in draft.of("ack")]
        manner = next((manner for manner in MANNERS if manner in manners), "")
        alone = general and not draft.of("thank", "bye", "done")
        if draft.style == "less" and not alone and manner not in ("agree", "resigned", "soso"):
            return segments  # who is brief goes on at once; what agrees is said
        before = draft.context.before.utterance if draft.context.before is not None else ""
        facts = frozenset({"num"}) if re.search(r"\d{3}", before) else frozenset()
        if draft.of("react") and manner not in ("agree", "resigned", "soso"):
            segments.append(draft.pick("react", facts=facts))
        else:
            segments.append(draft.pick("ack", tag=manner, facts=facts))
        return segments

    def _needed(self, item: Item) -> bool:
        """Whether a kept clause says more than circumstances: a value, a choice, a refusal."""
        source = self.draft.source
        if item.slot == "after" or source[item.end : item.end + 1] in ("？", "?") or source[item.end - 1] in "吗么":
            return True
        if _KEPT_QUESTION.search(source, item.start, item.end):
            return True
        if any(located.start >= item.start and located.end <= item.end for located in self.draft.context.view.located):
            return True
        words = {word.text for word in words_in(self.draft.source, item.start, item.end)}
        if (
            any(char.isdigit() for char in source[item.start : item.end])
            or any(word[0] in "更最" for word in words)
            or words & (kinds()["thank"] | {"考虑", "考虑考虑", "商量"})
        ):
            return True
        return bool(words & (kinds()["ban"] | {"就", "选", "定", "去", "行", "可以", "住", "吃"}))

    def _kept(self, item: Item) -> str:
        sign = self.draft.source[item.end : item.end + 1]
        return self.draft.shown(item.start, item.end) + (sign if sign and sign in SIGNS else "，")

    def _closing(self, general: bool) -> list[str] | None:
        draft = self.draft
        found: list[str] = []
        if draft.of("thank"):
            if general or not self._said:
                found.append(draft.pick("thankend" if draft.of("done") else "thank", facts=self._asked()) + "。")
            else:
                return [draft.pick("thankmid"), *(draft.pick("bye") + "。" for _ in draft.of("bye")[:1])]
        elif draft.of("done"):
            found.append(draft.pick("done", facts=self._asked()) + "。")
        if draft.of("bye"):
            found.append(draft.pick("bye") + "。")
        return found or None

    def _asked(self) -> frozenset[str]:
        """Whether the system asks something, which "没了" answers."""
        return frozenset({"asked"}) if self.draft.plan.asked else frozenset()

    def _core(self) -> list[str]:
        """What the turn is about."""
        ways = {"出租": self._taxi, "地铁": self._metro, "天气": self._weather, "火车": self._trip, "飞机": self._trip}
        if self.domain in ways:
            return self._reason() + ways[self.domain]()
        draft = self.draft
        segments, name = self._named()
        segments += [self._kept(item) for item in draft.of("keep") if item.slot == "between" and (draft.style != "less" or self._needed(item))]
        segments += self._reason()
        wishes = self._wishes()
        if draft.of("pick"):
            segments.append(self._picked(wishes))
        elif draft.of("find"):
            segments.append(self._search(wishes))
        elif self._qualified(wishes):
            name = wishes[0].text
        elif wishes:
            segments.append(self._answer(wishes))
        for item in draft.of("check"):
            point = name or self._pointed(not draft.of("choose", "topic", "plan"))
            clause = draft.pick("check", self.domain, item.slot, facts=frozenset({"n"} if point else ()), nameless=not point)
            segments.append(put(clause, N=point, v=draft.value(item)))
            name = ""
        if self.asks or draft.of("askfac"):
            segments += [self._tail()] if draft.of("find", "pick") else self._requests(name)
        return segments

    def _reason(self) -> list[str]:
        return self.longer.before() if self.longer is not None else []

    def _named(self) -> tuple[list[str], str]:
        """What is said of a name before anything else, and the name where a request is to show it."""
        draft = self.draft
        segments: list[str] = []
        name = ""
        for item in draft.of("choose", "plan", "topic"):
            if item.kind == "plan":
                segments.append(put(draft.pick("plan", item.domain), N=draft.value(item)))
            elif item.kind == "choose":
                segments.append(put(draft.pick("choose"), N=draft.value(item)))
            else:
                name = draft.value(item)
        return segments, name

    def _qualified(self, wishes: Sequence[Wish]) -> bool:
        """Whether the one wish narrows down what the price is asked of ("公务舱的票价")."""
        return len(wishes) == 1 and wishes[0].slot in QUALIFIERS and len(self.asks) == 1 and self.asks[0].slot in PRICES

    def _wishes(self) -> list[Wish]:
        draft = self.draft
        groups: dict[str, list[Item]] = {}
        for item in draft.of("inform"):
            groups.setdefault(item.slot, []).append(item)
        wishes: list[Wish] = []
        for slot, items in groups.items():
            if draft.drinks and not all(item.shown for item in items):
                raise NoClause("drink")  # "想喝咖啡，找家店" is kept, and nothing points at a drink as "这道菜" does at a dish
            texts = [draft.value(item) if item.shown else item.value if slot == "推荐菜" else "" for item in items]
            surface = draft.source[items[0].start : items[0].end]
            facts = shape(slot, surface, len(items), draft.source) | (frozenset() if items[0].shown else {"it"})
            wishes.append(Wish(slot, listing(texts, self.rng), facts, tuple(items)))
        nouns = []
        for item in draft.of("facility"):
            text = draft.value(item)
            manner = manner_of(draft.source[item.start : item.end])
            if manner == "noun":
                nouns.append((text, item))
            else:
                wishes.append(Wish("设施", text, frozenset({manner}), (item,)))
        if nouns:
            wishes.append(Wish("设施", listing([text for text, _ in nouns], self.rng), frozenset({"noun"}), tuple(item for _, item in nouns)))
        return wishes

    def _say(self, wish: Wish) -> str:
        return put(self.draft.pick("say", self.domain, wish.slot, facts=wish.facts, wish=wish), v=wish.text, F=wish.text)

    def _head(self) -> str:
        return self.draft.pick("head", self.domain)

    def _names(self, wish: Wish) -> bool:
        """Whether a value is the noun itself: "动作片", "日剧", "SUV"."""
        draft = self.draft
        surface = draft.source[wish.items[0].start : wish.items[0].end] if wish.items else ""
        if self.domain in ("电视剧", "电影") and not surface.endswith(("剧", "片", "影")):
            return False  # "科幻" alone names neither films nor series
        if self.domain == "电视剧" and surface.endswith("片"):
            return False  # a series that is called 喜剧片 would become a film
        ends = {"制片国家/地区": ("剧", "片", "影"), "景点类型": ("景区", "景点")}.get(wish.slot, ())  # "属于山水景区的景区"
        return draft.has("headof", self.domain, wish.slot) or surface.endswith(ends)

    def _noun(self, wishes: list[Wish]) -> tuple[str, str, list[Wish]]:
        """A noun phrase, its noun alone, and the wishes that it has no room for."""
        draft, rng, domain = self.draft, self.rng, self.domain
        left = list(wishes)
        rng.shuffle(left)
        head = ""
        for wish in left:
            if self._names(wish):
                head = wish.text
                left = [one for one in left if one is not wish]
                break
        noun = head or self._head()
        direct = ""
        for slot in BEFORE_NOUN:
            ready = next((one for one in left if one.slot == slot), None)
            room_left = not direct or slot not in BEFORE_NOUN[8:]
            if ready is not None and room_left and draft.has("pre", domain, slot, ready.facts) and rng.chance(DIRECT):
                direct += put(draft.pick("pre", domain, slot, facts=ready.facts, wish=ready), v=ready.text)
                left = [one for one in left if one is not ready]
        noun = direct + noun
        mods: list[str] = []
        rest: list[Wish] = []
        room = 2 if rng.chance(0.75) else 1
        for wish in left:
            if len(mods) < room and draft.has("mod", domain, wish.slot, wish.facts):
                mod = put(draft.pick("mod", domain, wish.slot, facts=wish.facts, wish=wish), v=wish.text, F=wish.text)
                if alike(mod, mods):
                    rest.append(wish)
                else:
                    mods.append(mod)
            else:
                rest.append(wish)
        phrase = "、".join(mods) + "的" + noun if mods else noun
        return phrase, head or noun, rest

    def _search(self, wishes: list[Wish]) -> str:
        draft, rng, domain = self.draft, self.rng, self.domain
        near = draft.of("near")
        measure = MEASURES.get(domain, "家")
        if draft.style == "less":
            return self._keywords(wishes)
        sayable = all(draft.has("say", domain, wish.slot, wish.facts) for wish in wishes)
        apart = not draft.of("ack", "react")  # "那行吧，要价位中等的，…" would say more of what was just offered
        if wishes and sayable and apart and not near and not self.led and rng.chance(REVERSED if len(wishes) > 1 else 0.15):
            order = list(wishes)
            rng.shuffle(order)
            said = "，".join(self._say(wish) for wish in order)
            return put(draft.pick("rev", domain), Z=said, H=self._head(), M=measure, C="一" + measure)
        phrase, noun, rest = self._noun(wishes)
        says = [self._say(wish) for wish in rest]
        facts = frozenset() if says else frozenset({"ns"})
        if self.longer is not None and self.longer.reworded:
            return closed(put(self.longer.open(facts), C="一" + measure, M=measure, H=noun, NP=phrase), says)
        if near:
            anchor = draft.value(near[0]) if near[0].shown else ("这" if rng.chance(0.5) else "它")
            text = draft.pick("nearopen", domain, facts=facts)
            if anchor == "这" and "{N}附近" not in text:
                anchor = "它"
        else:
            anchor = ""
            text = self._open(facts, says)
        return closed(put(text, C="一" + measure, M=measure, H=noun, N=anchor, NP=phrase), says)

    def _open(self, facts: frozenset[str], says: Sequence[str]) -> str:
        """A frame of a search; what it is wanted for goes with none that further wishes stand behind as a sentence."""
        draft = self.draft
        for _ in range(8):
            text = draft.pick("open", self.domain, tag="later" if self._searched() else "first", facts=facts, led=self.led or draft.style == "more")
            if not (says and self.longer is not None and self.longer.aims and text.endswith("{S}？")):
                break
            draft.keys.pop()
        return text

    def _searched(self) -> bool:
        """Whether the user has searched for something before this turn."""
        context = self.draft.context
        for turn in context.view.dialogue.turns:
            if turn.turn >= context.view.turn.turn:
                return False
            if turn.speaker == "user" and any(act.slot for act in turn.acts):
                return True
        return False

    def _keywords(self, wishes: list[Wish]) -> str:
        """A search in a terse writer's words."""
        draft = self.draft
        near = draft.of("near")
        parts = [put("{N}附近的", N=draft.value(near[0]) if near[0].shown else "")] if near else []
        said = "".join(draft.source[item.start : item.end] for item in draft.of("keep"))
        if near and not near[0].shown and self.led and any(words in said for words in kinds()["near"]):
            parts = []
        head = next((wish for wish in wishes if self._names(wish)), None)
        noun = head.text if head is not None else "电视剧" if self.domain == "电视剧" else self._head()
        left = [wish for wish in wishes if wish is not head]
        kind = next((one for one in left if head is None and one.slot in BEFORE_NOUN and draft.has("pre", self.domain, one.slot, one.facts)), None)
        if kind is not None:
            noun = put(draft.pick("pre", self.domain, kind.slot, facts=kind.facts, wish=kind), v=kind.text) + noun
            left.remove(kind)
        if self.led and not wishes and not near:
            # "我爱看动作片，找片子": the noun was said.
            heads = table("head_words").get(self.domain, ())
            return "求推荐" if any(words in said for words in heads) else "求推荐" + noun
        spoken = self.led or bool(draft.of("with", "ack", "react"))
        parts = ["".join(parts) + ("找" + noun if spoken and not near else noun)]
        parts += [self._say(wish) for wish in left]
        joint = " " if self.rng.chance(0.5) and not (spoken or self.asks) and draft.context.first else "，"
        return joint.join(parts) if len(parts) > 1 else "找" + parts[0].removeprefix("找")

    def _picked(self, wishes: list[Wish]) -> str:
        draft = self.draft
        if not wishes:
            raise NoClause("pick")
        mods = []
        for wish in wishes:
            if draft.has("mod", self.domain, wish.slot, wish.facts):
                mods.append(put(draft.pick("mod", self.domain, wish.slot, facts=wish.facts, wish=wish), v=wish.text, F=wish.text))
            else:
                raise NoClause(f"mod {self.domain} {wish.slot}")
        measure = MEASURES.get(self.domain, "家")
        return put(draft.pick("pick"), Q="、".join(mods), M=measure, C="一" + measure, H=self._head())

    def _answer(self, wishes: list[Wish]) -> str:
        draft = self.draft
        if (
            len(wishes) == 1
            and draft.plan.asked
            and wishes[0].slot not in BARE
            and wishes[0].text
            and self.rng.chance(0.5)
            and not wishes[0].facts & {"do", "cl"}
        ):
            return put(draft.pick("answer", wish=wishes[0]), v=wishes[0].text)
        return "，".join(self._say(wish) for wish in wishes)

    # Requests.

    def _pointed(self, first: bool) -> str:
        """What points at the thing asked about."""
        draft = self.draft
        noun = next((item.slot for item in draft.of("noun")), "bare")
        if not first or noun == "bare" or (draft.style == "less" and not self._ambiguous()):
            return ""
        return draft.pick("pron", self.domain, noun) if draft.has("pron", self.domain, noun) else ""

    def _ambiguous(self) -> bool:
        """Whether the turn before names other things, of which a request without its noun would be asked."""
        before = self.draft.context.before
        acts = before.acts if before is not None else ()
        named = {(act.domain, act.value) for act in acts if act.slot in NAME_SLOTS and act.value}
        around = any((act.slot or "").startswith("周边") and act.value for act in acts)
        return around or len(named) > 1 or any(domain != self.domain for domain, _ in named)

    def _requests(self, name: str) -> list[str]:
        draft, rng = self.draft, self.rng
        point = name or self._pointed(not draft.of("choose", "topic", "plan"))
        nouns = [item for item in draft.of("askfac") if manner_of(draft.source[item.start : item.end]) == "noun"]
        others = [item for item in draft.of("askfac") if item not in nouns]
        questions = [Question(item.domain, item.slot, tag=item.value) for item in self.asks]
        if nouns:
            texts = [draft.value(item) for item in nouns]
            questions.append(Question("酒店", "设施", frozenset({"noun"}), listing(texts, rng)))
        for item in others:
            manner = manner_of(draft.source[item.start : item.end])
            questions.append(Question("酒店", "设施", frozenset({manner}), draft.value(item)))
        rng.shuffle(questions)
        questions.sort(key=lambda question: question.around)  # what is around a thing comes last: "评分" behind it would be asked of what is there
        if self.longer is not None and self.longer.reworded:
            return [self.longer.ask(questions, point)]
        if draft.style == "less" and len(questions) > 1:
            decided, named = ([question for question in questions if question.decides == decides] for decides in (True, False))
            of = point if not point or not named or named[0].around else point + "的"
            told = [f"{of}{around_once([question.item(draft) for question in named], rng)}？"] if named else []
            return told + ([("" if named else point) + listing([question.item(draft) for question in decided], rng) + "？"] if decided else [])
        if len(questions) > 2 or (len(questions) == 2 and not rng.chance(APART)):
            listed = around_once([question.item(draft) for question in questions], rng)
            if any(question.decides for question in questions):
                decided, named = ([question for question in questions if question.decides == decides] for decides in (True, False))
                listed = listing([question.item(draft) for question in decided], rng)
                if not named:
                    return [f"想知道{point}{listed}"]
                of = point if not point or named[0].around else point + "的"
                return [f"想知道{of}{around_once([question.item(draft) for question in named], rng)}", f"，另外，{listed}？"]
            frame = draft.pick("askframe")
            if listed.startswith(("附近", "周边")):
                frame = frame.replace("{N:的}", "{N}")
            return [put(frame, N=point, L=listed)]
        return self._questions(questions, point)

    def _questions(self, questions: Sequence[Question], point: str) -> list[str]:
        """One question after the other, the thing named in the first."""
        draft = self.draft
        found: list[str] = []
        for question in questions:
            facts = question.facts | {"n"} if point else question.facts
            text = draft.pick("ask", question.domain, question.slot, tag=question.tag, facts=facts, nameless=not point, direct=bool(found))
            clause = put(text, N=point, F=question.text)
            if found:
                joint = draft.pick("and")
                if joint.endswith(("一下", "问问")):
                    joint = joint + "，" if "，" not in clause and not NO_QUESTION.search(clause) else "，另外，"
                else:
                    joint += "，"
                if found[-1][-1] in "？?":
                    joint = joint.removeprefix("，")
                clause = joint + clause
            found.append(clause)
            point = ""
        return found

    def _tail(self) -> str:
        draft = self.draft
        asks = sorted(self.asks, key=lambda item: item.slot.startswith("周边"))
        listed = [Question(item.domain, item.slot, tag=item.value).item(draft) for item in asks]
        listed += [f"有没有{draft.value(item)}" for item in draft.of("askfac")]
        return put(draft.pick("asktail"), L=around_once(listed, self.rng))

    # Ways to go and weather.

    def _ends_of_way(self) -> tuple[str, str]:
        items = {item.slot: item for item in self.draft.of("inform")}
        start, goal = items.get("出发地"), items.get("目的地")
        return (self.draft.value(start) if start else "", self.draft.value(goal) if goal else "")

    def _taxi(self) -> list[str]:
        draft = self.draft
        start, goal = self._ends_of_way()
        segments: list[str] = []
        if start and goal:
            segments.append(put(draft.pick("taxi"), A=start, B=goal))
        elif start or goal:
            raise NoClause("taxi with one end")
        if self.asks:
            listed = listing([Question(item.domain, item.slot).item(draft) for item in self.asks], self.rng)
            segments.append(put(draft.pick("taxiask"), L=listed))
        return segments

    def _metro(self) -> list[str]:
        draft = self.draft
        start, goal = self._ends_of_way()
        if {item.slot for item in self.asks} != {"出发地附近地铁站", "目的地附近地铁站"}:
            raise NoClause("metro with one end")
        if start and goal:
            return [put(draft.pick("metro"), A=start, B=goal)]
        if start or goal:
            raise NoClause("metro with one end")
        return [draft.pick("metroask")]

    def _weather(self) -> list[str]:
        draft = self.draft
        items = {item.slot: item for item in draft.of("inform")}
        day, city = items.get("日期"), items.get("城市")
        when = draft.value(day) if day else next((item.value for item in draft.of("then")), "")
        what = [when, draft.value(city) if city else ""]
        if self.rng.chance(0.4):
            what.reverse()
        place = "".join(what)
        facts = frozenset({"dir"} if "向" in draft.source else ())  # "风大吗" asks for no direction
        if not self.asks:
            return [self._answer(self._wishes())]
        if self.longer is not None and self.longer.reworded:
            return [self.longer.ask([Question(item.domain, item.slot, facts) for item in self.asks], place)]
        if len(self.asks) > 1:
            listed = listing([Question(item.domain, item.slot, facts).item(draft) for item in self.asks], self.rng)
            return [put(draft.pick("askframe"), N=place, L=listed)]
        return [put(draft.pick("ask", "天气", self.asks[0].slot, facts=facts), W=place, N=place)]

    def _trip(self) -> list[str]:
        draft, domain = self.draft, self.domain
        wishes = self._wishes()
        start, goal = self._ends_of_way()
        named = searches(draft)
        if named and any(draft.source[item.start : item.end][-1:] in ("吗", "么") for item in draft.of("keep")):
            raise NoClause("trip that is asked for in words that stay")  # "还有车吗"
        segments: list[str] = []
        point = ""
        if start and goal:
            day = next((wish.text for wish in wishes if wish.slot == "日期"), "")
            says = [self._say(wish) for wish in wishes if wish.slot not in ("出发地", "目的地", "日期")]
            if draft.style == "less":
                segments.append("，".join([f"{day}{start}到{goal}的{_TRIPS_ASKED[domain]}", *says]))
            else:
                segments.append(closed(put(draft.pick("trip", domain), A=start, B=goal, T=day), says))
        elif named and wishes:
            said = "，".join(self._say(wish) for wish in wishes)
            if draft.style == "less" and self.asks:
                listed = "和".join(Question(item.domain, item.slot, tag=item.value).item(draft) for item in self.asks)
                return [f"{said}，{_TRIPS_ASKED[domain]}和{listed}"]
            segments.append(put(draft.pick("revtrip", domain), Z=said))
        elif named:
            raise NoClause("trip without ends")
        elif self._qualified(wishes):
            point = wishes[0].text
        elif wishes:
            segments.append(self._answer(wishes))
        if self.asks:
            if (start and goal) or (named and wishes):
                segments.append(self._tail())
            else:
                segments += self._requests(point)
        return segments


def word(context: Context, plan: Plan, who: Speaker, rng: Rng, style: str) -> Composed | Refusal:
    """A plan in words.

    Args:
        context: the turn and what stands before it.
        plan: of `chinese_reading.read`.
        who: the speaker.
        rng: of this turn and variant.
        style: "same", "less" or "more".
    """
    draft = Draft(context, plan, who, rng, style)
    try:
        segments = _Wording(draft).segments()
    except NoClause as missing:
        return Refusal(f"no_clause: {missing}")
    text = DOUBLED.sub("有", politely(draft, joined(segments, draft.source, draft)))
    if re.search(r"\{[A-Za-z]", text):
        return Refusal("no_clause: place left empty")
    full, placed = expanded(text, draft)
    if not full.strip(SIGNS):
        return Refusal("nothing_left")
    problem = requests_lost(context, plan, full)
    if problem:
        return Refusal(problem)
    return Composed(full, tuple(placed), tuple(draft.keys), who.voice)
