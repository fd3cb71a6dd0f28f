"""What a Chinese user turn says, read clause by clause and word by word.

A clause is *known* if its words are frames ("可以帮我找一家"), names of labelled slots, cues of labelled requests, or values: it will be worded anew.
A clause that says something else is kept as it stands, in its place; nothing that no label has can be lost so. A turn of which nothing is known
is refused, and so is one with a clause that asks and says something else at once.
"""

from __future__ import annotations

from dialmill.perturbers.core.surfaces import kind_of
from dialmill.perturbers.rewording.composer.chinese_clauses import (
    FACILITY,
    NAME_SLOTS,
    PRICES,
    QUALIFIERS,
    ROUTES,
    TRIPS,
    Clause,
    Mark,
    company_of,
    covered,
    kinds,
    parted_at,
    table,
)
from dialmill.perturbers.rewording.composer.chinese_signs import ClausesOfTurn, telling
from dialmill.perturbers.rewording.composer.plan import Context, Item, Plan, Refusal
from dialmill.schemas import Act

#: How a question on what was just named ends.
_HAS_IT = (("有", "吧"), ("有", "吗"), ("有", "么"), ("有", "没有"), ("有", "没"))


class Reading(ClausesOfTurn):
    """A turn being read.

    Attributes:
        items: what it says, in order.
        refusal: why it can't be told.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.items: list[Item] = []
        self.company: list[tuple[int, int]] = []
        #: Clauses told anew, clauses that stay as they stand, what comes before and after both, and the words that ask for each labelled request.
        self.sure: list[Clause] = []
        self.kept: list[Clause] = []
        self.openings: list[Item] = []
        self.closings: list[Item] = []
        self.cued: dict[str, set[str]] = {}

    def plan(self) -> Plan | Refusal:
        """What it says, or why that can't be told."""
        turn = self.context.view.turn
        if not turn.acts:
            return Refusal("no_acts")
        strange = [act.act for act in self.acts if act.act not in ("inform", "request", "select")]
        if strange:
            return Refusal(f"act: {strange[0]}")
        problem = "supposition" if self.supposes() else self._domain() or self._read()
        if problem:
            return Refusal(problem)
        before = self.context.before.utterance if self.context.before is not None else ""
        sad = any(word in before for word in kinds()["sad"])
        asked = before.rstrip().endswith(("？", "?", "呢", "吗", "么"))
        return Plan(
            tuple(self.items),
            frozenset({"*"}) if asked else frozenset(),
            offered=bool(
                self.context.before and any(act.act in ("recommend", "inform") and act.slot in NAME_SLOTS for act in self.context.before.acts)
            ),
            failed=sad,
        )

    def _domain(self) -> str | None:
        """The domain that the turn is about; why there is no single one."""
        searched = {act.domain for act in self.informs if act.slot not in NAME_SLOTS} | {act.domain for act in self.requests}
        named = {act.domain for act in self.informs if act.slot in NAME_SLOTS}
        searched |= {act.domain for act in self.selects}
        if len(searched) > 1:
            return "several_domains"
        self.domain = next(iter(searched or named), "")
        others = named - {self.domain}
        #: Whether a name belongs to where something is to be near to.
        self.anchored = bool(self.selects or others)
        if others and not (len(others) == 1 and self.says(kinds()["near"])):
            return "several_domains"
        for slot in {act.slot for act in self.informs}:
            values = [act for act in self.informs if act.slot == slot and not (slot or "").startswith(FACILITY)]
            if len(values) > 1 and slot != "推荐菜" and not (slot in NAME_SLOTS and len({act.domain for act in values}) > 1):
                return "several_values"
        for act in self.informs:
            if (act.slot or "").startswith(FACILITY) and act.value != "是":
                return "negative_facility"
            if kind_of(act.slot or "", act.value or "") == "dontcare":
                return "dontcare"
        return None

    def _read(self) -> str | None:
        """Reads all clauses into items; the reason if that can't be done."""
        for clause in self.clauses:
            problem = None if self._small(clause) else self._take(clause)
            if problem:
                return problem
        for clause in [clause for clause in self.sure if any(self.leads_on(clause, after) for after in self.kept)]:
            self.sure.remove(clause)
            self.kept.append(clause)  # "我们想去转转，散散心"
        return self._assemble(self.sure, self.kept, self.cued)

    def _small(self, clause: Clause) -> bool:
        """Takes a clause that says nothing labelled (thanks, an acknowledgement, what only goes with the clause before); whether it is one."""
        kept = self.kept
        conditional = bool(kept) and kept[-1].stop == clause.start and not {"如果", "要是", "的话"}.isdisjoint(kept[-1].texts)
        general = None if clause.marks or conditional else self.general(clause)
        if conditional and not clause.marks and (self.general(clause) is not None or self.weak(self.known(clause)[1])):
            kept.append(clause)
        elif general == "tag" or (general == "ack" and self.sure and self.asks(clause)):
            pass  # "…，是吧？" asks for nothing new
        elif general == "react" and (kept or self.sure):
            kept.append(clause)  # it is about what was just said
        elif general is not None:
            manner = self.manner(clause) if general == "ack" else ""
            (self.closings if general in ("thank", "bye", "done") else self.openings).append(Item(general, value=manner))
        else:
            return False
        return True

    def _parted(self, clause: Clause) -> tuple[Clause, set[int], dict[str, set[str]]] | None:
        """A clause without what leads to it, which is kept as it stands, with what `_known` says of it; none where no place is left for that."""
        places, cues = self.known(clause)
        strange = [place for place in range(len(clause.words)) if place not in places]
        if strange:
            parts = parted_at(clause, strange[-1])
            if parts is not None and self.safe(parts[0]) and (parts[1].marks or len(self.known(parts[1])[0]) == len(parts[1].words)):
                if self.sure:
                    return None  # "评分多少，玩完|有没有酒店": no place is left for what leads to the second
                self.kept.append(parts[0])
                clause = parts[1]
                places, cues = self.known(clause)
            company = company_of(clause, [place for place in range(len(clause.words)) if place not in places])
            if company is not None:
                places.update(company)
                self.company.append((clause.words[company[0]].start, clause.words[company[-1]].end))
        return clause, places, cues

    def _take(self, clause: Clause) -> str | None:
        """Takes a clause with something to tell: what is sure is told anew, what isn't is kept; the reason if neither can be done."""
        parted = self._parted(clause)
        if parted is None:
            return "lead_inside"
        clause, places, cues = parted
        sure, kept = self.sure, self.kept
        unknown = [word.text for place, word in enumerate(clause.words) if place not in places]
        if sure and not clause.marks and not cues and clause.texts[-2:] in _HAS_IT:
            return "question_on_offer"  # "我想要大床房，这个酒店有吧": asks whether what was just named is there
        foreign = [mark for mark in clause.marks if mark.act is None]
        cues = {slot: found for slot, found in cues.items() if slot not in NAME_SLOTS}
        if not clause.marks and self.conditional(clause) and self.weak(cues):
            kept.append(clause)
            return None
        if sure and clause.texts[:1] in (("那就",), ("那",), ("就",)) and not {"如果", "要是"}.isdisjoint(sure[-1].texts):
            return "condition"
        if cues and not clause.marks and not unknown and self.beside(clause, cues):
            kept.append(clause)  # "会不会冷，温度多少": a question of its own beside the one that is labelled
        elif not unknown and not foreign and not clause.marks and not cues and self._stands(clause):
            kept.append(clause)  # "就这家吧": a choice by pronoun stays as it stands
        elif not unknown and not foreign:
            sure.append(clause)
            for slot, found in cues.items():
                self.cued.setdefault(slot, set()).update(found)
        elif cues and not self.weak(cues):
            return f"unlabelled: {(unknown or ['value'])[0]}"
        else:
            kept.append(clause)
        return None

    def _stands(self, clause: Clause) -> bool:
        """Whether a clause without values and requests chooses, judges or says more than frames do, and so stays as it stands."""
        texts = set(clause.texts)
        if texts & (kinds()["choosing"] | kinds()["deciding"]) and texts.isdisjoint({"推荐", "找", "介绍", "告诉", "行", "可以", "说", "查", "发"}):
            return True
        if texts & kinds()["opinion"] and texts.isdisjoint({"推荐", "找", "介绍", "告诉", "哪家", "哪里"}):
            return True
        searching = not texts.isdisjoint({"推荐", "介绍", "找", "找个", "找一个", "找一家"})
        follows = bool(self.kept) and self.kept[-1].stop == clause.start and self.goes_on(self.kept[-1], clause)
        return (self.says_more(clause) and not searching) or self.asks_of_offer(clause) or self.will_do(clause) or follows

    def _assemble(self, sure: list[Clause], kept: list[Clause], cued: dict[str, set[str]]) -> str | None:
        """Puts the items in order; the reason if what is kept and what is told anew don't go together."""
        items: list[Item] = []
        marks = {mark for clause in sure for mark in clause.marks}
        chosen = self._name(sure, cued)
        if isinstance(chosen, str):
            return chosen
        named, bare = chosen
        kept = kept + bare
        sure = [clause for clause in sure if clause not in bare]
        marks -= {mark for clause in bare for mark in clause.marks}
        held = {mark.act for clause in kept for mark in clause.marks if mark.act is not None}
        located = {mark.act for mark in self.marks}
        for act in self.informs:
            if act not in located and act.slot not in NAME_SLOTS and act.slot != "是否地铁直达" and not (kept or cued):
                return f"value_not_said: {act.slot}"
        if any(act.slot == "是否地铁直达" and act.value != "是" for act in self.informs):
            return "negative_facility"
        first = min((clause.start for clause in sure if clause.marks or self.known(clause)[1]), default=len(self.text))
        position = [clause for clause in sorted(kept) if clause.start < first]
        for clause in position:
            items.append(Item("keep", slot="before", start=clause.start, end=clause.end))
        items += named
        content = self._content(sure, held, cued, marks)
        if isinstance(content, str):
            return content
        problem = self._in_parts(kept, position, content)
        if problem:
            return problem
        if self.company and not any(clause.start <= self.company[0][0] < clause.end for clause in kept):
            items.append(Item("with", start=self.company[0][0], end=self.company[0][1]))
        if len(self.company) > 1 or (self.company and any(not (kinds()["person"] | kinds()["people"]).isdisjoint(clause.texts) for clause in kept)):
            return "company"
        items += content
        for clause in sorted(kept):
            if clause not in position:
                slot = "between" if self._explains(clause, named, sure) else "after"
                items.append(Item("keep", slot=slot, start=clause.start, end=clause.end))
        composed = [item for item in [*self.openings, *items, *self.closings] if item.kind not in ("keep", "tag")]
        if not composed:
            return "nothing_known"
        if sure and not named and not content:
            return "no_content"
        size = sum(clause.end - clause.start for clause in kept)
        if kept and not content and not named and (self.informs or self.requests):
            return "kept_alone"
        if size > 0.75 * len(self.text):
            return "mostly_kept"
        self.items = [*self.openings, *items, *self.closings]
        return None

    def _explains(self, clause: Clause, named: list[Item], sure: list[Clause]) -> bool:
        """Whether a kept clause goes on from the choice before it ("就定花城酒店，我喜欢安静的，地址是哪里？")."""
        if self.domain in ROUTES | TRIPS | {"天气"} or not any(item.kind in ("choose", "plan") and item.start < clause.start for item in named):
            return False
        return any(after.start > clause.start and (after.marks or self.known(after)[1]) for after in sure)

    def _in_parts(self, kept: list[Clause], position: list[Clause], content: list[Item]) -> str | None:
        """Why what is told anew belongs to what is kept as it stands, so that neither can be told without the other.

        Args:
            kept: the clauses that stay as they stand.
            position: those of them that come before what is told.
            content: what is told.
        """
        if self.domain in ROUTES and any(not set(table("head_words")[self.domain]).isdisjoint(clause.texts) for clause in kept):
            return "search_in_parts"
        alone = [clause for clause in kept if {"如果", "要是"} & set(clause.texts) and clause.texts[-1:] != ("的话",)]
        if self.domain not in ROUTES and any(all(after.start != clause.stop for after in kept) for clause in alone):
            return "condition"  # "如果走累了，他想休息"
        asked_of = any(item.kind in ("askfac", "check", "answer") for item in content)
        if asked_of and any(clause.marks and not kinds()["seeking"].isdisjoint(clause.texts) for clause in kept):
            return "search_in_parts"  # "找一家中等价位，有标准间的酒店": the search and what must be there
        if any(item.value in ("这道菜", "这些菜") for item in content) and any(
            clause not in position and any(mark.act is not None and mark.act.slot == "推荐菜" for mark in clause.marks) for clause in kept
        ):
            return "dish_after"
        if self.domain in TRIPS and any(clause.marks and clause not in position for clause in kept):
            return "search_in_parts"
        if any(item.kind in ("find", "pick") for item in content):
            heads = set(table("head_words").get(self.domain, ()))
            searching = kinds()["seeking"]
            for clause in kept:
                if not kinds()["ofthose"].isdisjoint(clause.texts):
                    return "choice_in_parts"
                if clause.marks and not (heads | kinds()["requesting"]).isdisjoint(clause.texts):
                    return "search_in_parts"
                if self.text[clause.end : clause.stop].strip() in ("，", ",") and not kinds()["saying"].isdisjoint(clause.texts[-2:]):
                    return "search_in_parts"  # "同学特别说了，想吃…": who says it and what is said
                told_after = clause not in position and (self.asks(clause) or not heads.isdisjoint(clause.texts))
                if not searching.isdisjoint(clause.texts) or told_after:
                    return "search_in_parts"
        return None

    def _name(self, sure: list[Clause], cued: dict[str, set[str]]) -> tuple[list[Item], list[Clause]] | str:
        """What the turn does with the name it gives: chooses it, plans to go there, asks about it; and clauses to keep as they stand."""
        found: list[Item] = []
        bare: list[Clause] = []
        plans = kinds()["plan"] | set(table("head_words").get(self.domain, ()))
        for clause in sure:
            names = [mark for mark in clause.marks if mark.act is not None and mark.act.slot in NAME_SLOTS and mark.act.act == "inform"]
            if not names:
                continue
            if len(names) > 1:
                return "several_names"
            mark = names[0]
            assert mark.act is not None
            named = Item("topic", mark.act.domain, "名称", mark.act.value or "", mark.start, mark.end)
            texts = set(clause.texts)
            deciding = texts & kinds()["deciding"]
            asks = any(covered(clause.words, telling(act.slot or ""))[0] for act in self.requests if act.slot not in NAME_SLOTS)
            if self.anchored:
                if deciding:
                    return "choice_near"
                found.append(named._replace(kind="near"))
            elif deciding and (texts <= kinds()["choose"] or asks):
                found.append(named._replace(kind="choose"))
            elif not asks and texts & kinds()["going"] and texts <= plans:
                found.append(named._replace(kind="plan"))
            elif any(act.slot not in NAME_SLOTS for act in self.requests) and (
                asks or texts.isdisjoint(kinds()["opinion"] | kinds()["deciding"] | {"也", "行"})
            ):
                found.append(named)
            else:
                bare.append(clause)
        if len(found) > 1:
            return "several_names"
        return found, bare

    def _content(self, sure: list[Clause], held: set[Act], cued: dict[str, set[str]], marks: set[Mark]) -> list[Item] | str:
        """Searches, facts about the search, and requests, in order."""
        items: list[Item] = []
        words = [word for clause in sure for word in clause.texts]
        values = sorted((mark for mark in marks if mark.act is not None and mark.act.slot not in NAME_SLOTS), key=lambda mark: mark.start)
        informs = [mark for mark in values if mark.act is not None and mark.act.act == "inform"]
        facilities = [mark for mark in informs if mark.facility]
        constraints = [mark for mark in informs if not mark.facility]
        name_asked = any(act.slot in NAME_SLOTS for act in self.requests)
        looking = not kinds()["search"].isdisjoint(words)
        question = self.text.rstrip("。！!~ ").endswith(("？", "?", "吗", "么", "没", "不"))
        offered = {"推荐", "找", "找个", "找一个", "找一家", "找家", "选", "挑", "求"}.isdisjoint(words)
        about = bool(facilities) and not constraints and question and offered and not self.context.first and not self.anchored
        free = self.domain not in TRIPS | ROUTES | {"天气"} and not {mark.act.slot for mark in constraints if mark.act} <= QUALIFIERS
        if about and self.several_offered() and not kinds()["picking"].isdisjoint(words):
            return "choice_of_the_offered"
        if constraints and free and question and not self.context.first and not self.anchored and not kinds()["wishing"] & set(words):
            return "question_on_offer"
        told = [(mark.act.slot, mark.act.value) for mark in values if mark.act is not None]
        if len(set(told)) < len(told):
            return "said_twice"
        told_already = any(mark.act is not None and mark.act.slot == "是否地铁直达" for mark in self.marks) or any(
            "地铁" in "".join(clause.texts) for clause in self.clauses if clause not in sure
        )
        if any(act.slot == "是否地铁直达" for act in self.informs) and not told_already:
            items.append(Item("inform", self.domain, "是否地铁直达", "是"))
        for mark in informs:
            assert mark.act is not None
            kind = ("askfac" if about else "facility") if mark.facility else "inform"
            slot = mark.act.slot or ""
            tail = ""
            if mark.end < len(self.text):
                tail = self.text[mark.end]
            items.append(Item(kind, mark.act.domain, slot, mark.act.value or "", mark.start, mark.end))
            if slot == "每周" and self.text[mark.start - 1 : mark.start] not in ("周", "期", "拜"):
                return "weekday"
            if slot == "星级" and tail not in ("星",):
                return "stars"
        if self.selects:
            anchor = any(mark.act and mark.act.slot in NAME_SLOTS for mark in marks)
            if not self.says(kinds()["near"]) or (self.says(kinds()["pick"]) and not anchor and offered):
                items.append(Item("pick", self.domain))
            elif not anchor:
                items.append(Item("near", self.domain))
        elif constraints and not self.anchored and offered and set(words) & kinds()["pick"] - {"中"} and self.several_offered():
            items.append(Item("pick", self.domain))
        slots_ = {mark.act.slot for mark in constraints if mark.act is not None}
        if self.domain not in TRIPS and len(slots_) == 1 and slots_ <= QUALIFIERS and not name_asked and (question or self.requests) and offered:
            if not any(act.slot in PRICES for act in self.requests):
                mark = constraints[0]
                items = [item for item in items if item.slot not in QUALIFIERS]
                items.append(Item("check", self.domain, next(iter(slots_)) or "", "", mark.start, mark.end))
        elif (
            self.domain not in TRIPS
            and slots_
            and slots_ <= QUALIFIERS
            and not (name_asked or facilities or question or self.context.first)
            and offered
        ):
            items.append(Item("answer", self.domain))  # "房型我要大床房": of what was just offered, and no search for another
        elif self.domain in ROUTES or self.domain in TRIPS or self.domain == "天气":
            if self.domain in TRIPS and not self.requests and any(self.asks(clause) for clause in sure if clause.marks):
                return "question_on_offer"
        elif (constraints or (facilities and not about) or (name_asked and not about) or self.selects) and not self.answering(looking):
            again = "再" in words and any(act.domain == self.domain and act.slot in NAME_SLOTS for turn in self.earlier() for act in turn.acts)
            if again:
                return "another"
            if not looking and not self.selects and not (name_asked and (constraints or facilities)):
                return "constraint_without_search"
            picking = kinds()["picking"] & set(words) and not self.says(table("head_words").get(self.domain, ()))
            if picking and not self.context.first and not any(item.kind == "pick" for item in items):
                return "choice_of_the_offered"
            items.append(Item("find", self.domain))
            if any((act.slot or "").startswith(FACILITY) for act in held):
                return "search_in_parts"  # "想蒸桑拿，看看哪家有这个服务"
            dishes = [act for act in held if act.slot == "推荐菜" and act.domain == self.domain]
            if dishes and not any(item.slot == "推荐菜" for item in items):
                # "老妈想吃烤鸭，找家餐馆": the dish stays in its clause, and what is found must have it.
                items.append(Item("inform", self.domain, "推荐菜", "这道菜" if len(dishes) == 1 else "这些菜"))
        elif constraints or (facilities and not about):
            if any(self.asks(clause) for clause in sure if clause.marks):
                return "question_on_offer"
            items.append(Item("answer", self.domain))
        for act in self.requests:
            slot = act.slot or ""
            if slot in NAME_SLOTS:
                continue
            if slot.startswith(FACILITY):
                mark_ = next((mark for mark in marks if mark.act == act), None)
                if mark_ is None:
                    if act in held:
                        continue
                    return "facility_not_said"
                items.append(Item("askfac", act.domain, slot, "", mark_.start, mark_.end))
            elif slot in cued:
                if slot.startswith("周边") and self.anchored and cued[slot] <= kinds()["near"]:
                    return f"request_not_said: {slot}"  # "周边" is where to look, and nothing asks what else is there
                others = slot.startswith("周边") and any(
                    not kinds()["other"].isdisjoint(clause.texts) and covered(clause.words, table("request_cues").get(slot, ()))[1] for clause in sure
                )
                items.append(Item("ask", act.domain, slot, "other" if others else ""))
            else:
                return f"request_not_said: {slot}"
        if self.domain == "天气":
            for clause in sure:
                for word in clause.words:
                    if word.text in ("那天", "当天"):
                        items.append(Item("then", "天气", "日期", word.text, word.start, word.end))
                        break
        if any(item.kind in ("ask", "askfac", "check") for item in items) and not self.anchored:
            items.append(Item("noun", self.domain, self.noun(sure)))
        missing = held & {mark.act for mark in marks if mark.act is not None}
        if missing:
            return "said_twice"
        return items


def read(context: Context) -> Plan | Refusal:
    """What a Chinese user turn says, or why that can't be told."""
    return Reading(context).plan()
