"""What makes a Chinese turn longer: a reason before it, what it is wanted for behind it, a longer way to put it.

One turn has one motive at most, and none where the user gives one: beside clauses that are kept as they stood, a turn is only put in a longer way.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.rewording.composer.chinese_clauses import ROUTES, TRIPS
from dialmill.perturbers.rewording.composer.chinese_draft import EATEN, Draft, NoClause, listing, put, shape
from dialmill.perturbers.rewording.composer.chinese_text import searches
from dialmill.perturbers.rewording.composer.plan import Item

#: Requests whose answer is yes or no: they are asked with "有没有" and the like.
_YES = frozenset({"停车场", "是否地铁直达", "座椅通风", "座椅加热", "定速巡航", "倒车影像", "3.0t mri", "ct", "dsa"})
#: Words of a reason that point at what the turn before named.
_POINTING = re.compile(r"那边|那里|那儿|那一带|那一片|它")
#: A frame in which a list or a clause may stand: at its end, or before a sign.
_ROOMY = re.compile(r"^[^把]*\{L\}(?:$|[，？])")
#: What two clauses of a turn shouldn't both say.
_TWICE = tuple(
    re.compile(words)
    for words in (
        "推荐|帮我|介绍|挑|麻烦|告诉",
        "合适",
        "了解",
        "导航|打车|怎么走|路线|怎么过去|怎么去",
        "电话.*电话|打.{0,2}电话|联系",
        "吃饭|吃点|吃",
        "住下|住宿",
        "逛|转转|看看|玩",
        "附近|就近",
        "预算|贵不贵|花费",
        "时间",
        "评价|口碑|打分",
        "清楚|明白",
    )
)


class Question(NamedTuple):
    """One thing asked about: its slot, the shape and text of a facility, "other" where others than the known ones are asked for."""

    domain: str
    slot: str
    facts: frozenset[str] = frozenset()
    text: str = ""
    tag: str = ""

    @property
    def around(self) -> bool:
        """Whether it asks for what is around the thing."""
        return self.slot.startswith("周边")

    @property
    def decides(self) -> bool:
        """Whether its answer is yes or no."""
        return self.slot in _YES or self.slot == "设施"

    def item(self, draft: Draft) -> str:
        """It as a noun ("地址") or as "有没有…"."""
        if self.slot == "设施":
            verb = "能不能" if "do" in self.facts else "是不是" if "cl" in self.facts else "有没有"
            return verb + self.text
        return put(draft.pick("item", self.domain, self.slot, tag=self.tag, facts=self.facts), F=self.text)


def around_once(parts: Sequence[str], rng: Rng) -> str:
    """Parts in a row; of several things around one place the place is said once: "周边的景点和酒店"."""
    near = [part for part in parts if part.startswith(("周边", "附近"))]
    if len(near) > 1 and not any("其他" in part for part in near):
        names = [part.removeprefix("周边").removeprefix("附近").removeprefix("的") for part in near]
        parts = [part for part in parts if part not in near] + ["周边的" + listing(names, rng)]
        return "，".join([listing(parts[:-1], rng), "还有" + parts[-1]]) if len(parts) > 1 else parts[0]
    return listing(parts, rng)


class Longer:
    """How one turn becomes longer.

    Attributes:
        reworded: whether it is put in a longer way.
        aims: whether what it is wanted for is said behind it.
        used: whether anything has been added.
    """

    def __init__(self, draft: Draft, domain: str) -> None:
        self.draft, self.domain = draft, domain
        self.used = False
        self._search = bool(draft.of("find")) or (domain in TRIPS and searches(draft))
        ways = self._ways()
        if not ways:
            raise NoClause("reason")
        chosen = draft.rng.choice(ways)
        self._before, self.reworded, self.aims = "before" in chosen, "put" in chosen, "behind" in chosen

    def _ways(self) -> list[tuple[str, ...]]:
        draft = self.draft
        ways: list[tuple[str, ...]] = []
        kept = draft.of("keep", "with")
        several = not self._search and len(draft.of("ask", "askfac")) > 1 and self.domain not in ROUTES
        if self._rewordable():
            ways += [("put",), ("put",)]  # with no reason before it: two fillers in a row are one too many
        if not kept and self._reasons():
            ways += [("before",), ("before",)]
        told = any(item.kind == "keep" and (item.slot != "before" or not draft.lead) for item in kept)
        if not several and not told and not (self._search and draft.of("ask", "askfac")) and self._aims():
            ways += [("behind",), ("behind",)]
        return ways

    def _rewordable(self) -> bool:
        draft = self.draft
        if draft.of("pick", "check", "near", "answer") or self.domain in ROUTES | TRIPS:
            return False
        if self._search:
            return draft.has("moreopen", self.domain)
        asked = [item.slot in _YES or item.kind == "askfac" for item in draft.of("ask", "askfac")]
        return bool(asked) and (not any(asked) or len(asked) == 1)

    # Reasons and aims.

    def _places(self) -> list[tuple[str, Item]]:
        """Kind of clause -> items that it may belong to."""
        draft = self.draft
        if self._search:
            return [("want", item) for item in [*draft.of("inform", "facility"), Item("find", self.domain)]]
        asked = draft.of("ask", "askfac")
        if len(asked) > 1 and self.domain not in ROUTES:
            return [("", Item("ask", self.domain, "several"))]
        return [("", item) for item in asked]

    def _sections(self, kind: str) -> list[tuple[str, str, str, str, frozenset[str]]]:
        draft = self.draft
        found = []
        for want, item in self._places():
            surface = draft.source[item.start : item.end] if item.shown else ""
            count = sum(other.slot == item.slot for other in draft.of("inform"))
            facts = shape(item.slot, surface, count, draft.source) if surface else frozenset()
            name = surface.lower() if item.kind in ("facility", "askfac") else ""
            if name:
                if kind == "why" and draft.has("why", item.domain, name):
                    found.append(("why", item.domain, name, "", facts))
                if not want:
                    found.append((kind, item.domain, "设施", "", facts))
            elif item.kind == "find":
                slot = next((slot for slot in _NAMES if draft.has(kind + want, item.domain, slot)), "")
                found += [(kind + want, item.domain, slot, "", facts)] if slot else []
            else:
                found.append((kind + want, item.domain, item.slot, "免费" if surface == "免费" else "", facts))
        return [section for section in found if draft.who.options(*section[:4], facts=section[4])]

    def _reasons(self) -> list[tuple[str, str, str, str, frozenset[str]]]:
        return self._sections("why")

    def _aims(self) -> list[tuple[str, str, str, str, frozenset[str]]]:
        return self._sections("so")

    def _drawn(self, sections: list[tuple[str, str, str, str, frozenset[str]]], beside: str) -> str:
        """A clause of one of the sections that points at nothing unknown and doesn't say again what stands beside it."""
        draft = self.draft
        kind, domain, slot, value, facts = draft.rng.choice(sections)
        named = draft.context.first or bool(draft.of("topic", "choose", "plan", "near"))
        options = [
            clause
            for clause in draft.who.options(kind, domain, slot, value, facts=facts)
            if not (named and kind.startswith("why") and _POINTING.search(clause.text))
            and not any(words.search(clause.text) and words.search(beside) for words in _TWICE)
            and not (draft.drinks and EATEN.search(clause.text))
        ]
        chosen = draft.who.choose(draft.rng, options)
        if chosen is None:
            raise NoClause("reason")
        draft.keys.append(chosen.key)
        self.used = True
        return chosen.text

    def before(self) -> list[str]:
        """The reason, with the comma behind it."""
        if not self._before:
            return []
        self.draft.reasoned = True
        said = self._drawn(self._reasons(), "")
        self.draft.avoided = tuple(words for words in _TWICE if words.search(said))
        return [said + "，"]

    def behind(self, said: str) -> list[str]:
        """What it is wanted for, as the end of the sentence."""
        return [self._drawn(self._aims(), said) + "。"] if self.aims else []

    # Longer ways to put it.

    def open(self, facts: frozenset[str]) -> str:
        """A frame of a search."""
        self.used = True
        return self.draft.pick("moreopen", self.domain, facts=facts)

    def ask(self, questions: Sequence[Question], point: str) -> str:
        """The questions in a longer frame."""
        draft = self.draft
        self.used = True
        if questions[0].decides:
            question = questions[0]
            return put(draft.pick("moreyes"), N=point, Q=question.item(draft))
        nouns = [question.item(draft) for question in questions if not question.around]
        around = [question for question in questions if question.around]
        listed = listing(nouns, draft.rng) if nouns else ""
        if around:
            names = listing([question.slot.removeprefix("周边") for question in around], draft.rng)
            where = draft.rng.choice(("周边", "附近"))
            there = (
                f"{where}还有哪些其他{names}"
                if any(question.tag for question in around)
                else f"{where}{draft.rng.choice(('有哪些', '有什么'))}{names}"
            )
            listed = f"{listed}，还有{there}" if listed else there
        for _ in range(8):
            frame = draft.pick("moreask")
            if not around or _ROOMY.search(frame):
                break
            draft.keys.pop()
        else:
            raise NoClause("moreask")
        if around and not nouns:
            frame = frame.replace("{N:的}", "{N}")
        return put(frame, N=point, L=listed)


#: What a search asks for, by domain.
_NAMES = ("名称", "片名", "商品名称", "车次信息", "航班信息")
