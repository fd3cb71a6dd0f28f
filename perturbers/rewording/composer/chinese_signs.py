"""A Chinese user turn in clauses, and what a clause of it does: greets, asks, agrees, says on which condition, goes on with another."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dialmill.perturbers.rewording.composer.chinese_clauses import (
    CHAT,
    FACILITY,
    NAME_SLOTS,
    PLACES,
    ROUTES,
    Clause,
    clauses,
    covered,
    kinds,
    marks_of,
    table,
)
from dialmill.perturbers.rewording.composer.plan import Context
from dialmill.schemas import Turn

#: A question that nobody agrees to: "您还需要什么信息？".
_OPEN = re.compile(r"什么|哪|几|多少|还(?:有|需要|想)[^，。]*[吗么？?]+$")
#: What asks, so that "吧" behind it makes no supposition: "推荐一家吧？".
_SEEKS = re.compile(r"推荐|找|介绍|告诉|帮|查|看看|说说|给|发")
#: A question whether something is open, which is none for its hours.
_STILL = re.compile(r"(?:现在|这会儿|还)(?:还|在)?(?:营业|开门|开放|开着)")
#: What an acknowledgement may do, by kinds of ``composing.tsv``; the first that fits.
MANNERS = ("agree", "resigned", "soso", "nomatter", "wonder", "affirm", "know", "so")


class ClausesOfTurn:
    """A Chinese user turn in clauses.

    Attributes:
        marks: where labelled values stand.
        informs, requests, selects: what the labels say, without greetings and thanks.
        anchored: whether a name belongs to where something is to be near to.
    """

    domain = ""
    anchored = False

    def __init__(self, context: Context) -> None:
        self.context = context
        turn = context.view.turn
        self.text = turn.utterance
        self.acts = [act for act in turn.acts if act.act not in CHAT]
        self.marks = marks_of(context)
        self.clauses = clauses(self.text, self.marks)
        self.informs = [act for act in self.acts if act.act == "inform" and act.slot]
        self.requests = [act for act in self.acts if act.act == "request" and act.slot]
        self.selects = [act for act in self.acts if act.act == "select"]

    def says(self, words: Iterable[str]) -> bool:
        return any(not frozenset(words).isdisjoint(clause.texts) for clause in self.clauses)

    def known(self, clause: Clause) -> tuple[set[int], dict[str, set[str]]]:
        """The places of the words of a clause that are accounted for, and the cues of each labelled request in it."""
        words = clause.words
        frame = kinds()["frame"]
        places = covered(words, frame)[0]
        last = len(words) - 1
        if words and words[last].text in ("不", "没") and not clause.marks[-1:] and last:
            places.add(last)
        heads = table("head_words").get(self.domain, ())
        places |= covered(words, heads)[0]
        slots = {act.slot or "" for act in self.informs}
        marked = {mark.act.slot for mark in clause.marks if mark.act is not None}
        for slot in slots - (PLACES - marked):
            places |= covered(words, table("slot_words").get(slot, ()))[0]
        cues: dict[str, set[str]] = {}
        for act in self.requests:
            slot = act.slot or ""
            own = table("request_cues").get(slot, (slot,))
            if slot.startswith(FACILITY):
                continue
            found = covered(words, own)
            if found[1]:
                places |= found[0]
                cues[slot] = found[1]
        if self.anchored or any((act.slot or "").startswith("周边") for act in self.requests):
            places |= covered(words, kinds()["near"])[0]
            if self.anchored:
                for domain in {act.domain for act in self.informs} | {act.value or "" for act in self.selects}:
                    places |= covered(words, table("head_words").get(domain, ()))[0]
            else:
                places |= covered(words, kinds()["other"])[0]
        if self.selects or self.several_offered():
            places |= covered(words, kinds()["pick"])[0]
        if any(mark.act is not None and mark.act.slot in NAME_SLOTS for mark in clause.marks):
            places |= {place for place, word in enumerate(words) if word.text in kinds()["choose"]}
        if self.domain == "天气":
            places |= covered(words, ("那天", "当天", "那"))[0]
        if self.domain in ROUTES:
            places |= covered(words, ("如果", "要是", "预订", "预定", "预约", "订", "约"))[0]
        return places, cues

    def manner(self, clause: Clause) -> str:
        """What an acknowledgement does: one of `MANNERS`, "" for one that only goes on. "好的" agrees where the system asks."""
        texts = set(clause.texts)
        if {"是", "这样", "的"} <= texts:
            return ""  # "是这样的，我想…" opens what follows
        if "是" in texts and texts & {"嘛", "么", "吗"}:
            return "wonder"
        if "还" in texts and texts & {"行", "可以"}:
            return "soso"
        if texts & {"也", "吧"} and texts & {"行", "可以", "成"}:
            return "resigned"
        found = next((manner for manner in MANNERS if covered(clause.words, kinds()[manner])[1]), "")
        before = self.context.before.utterance.rstrip() if self.context.before is not None else ""
        asked = before.endswith(("？", "?", "吗", "么", "不")) or not {"可以不", "怎么样", "行吗", "可以吗"}.isdisjoint(before.split("，"))
        asked = asked and not _OPEN.search(re.split("[，。！]", before)[-1])
        return "agree" if not found and asked and texts & {"好", "好的", "好嘞", "好滴", "好哒", "好咧", "那好", "嗯嗯", "嗯"} else found

    def safe(self, clause: Clause) -> bool:
        """Whether no cue of a labelled request stands in what comes before a clause's own beginning."""
        return not any(covered(clause.words, strong(act.slot or ""))[1] for act in self.requests)

    def conditional(self, clause: Clause) -> bool:
        """Whether a clause says on which condition something is wanted."""
        return self.domain not in ROUTES and (clause.texts[-1:] == ("的话",) or clause.texts[:1] in (("如果",), ("要是",)))

    def goes_on(self, kept: Clause, clause: Clause) -> bool:
        """Whether a clause of every-day words goes on with what was said before it ("收不住了，哪都想去")."""
        return self.text[kept.end : kept.stop].strip() in ("，", ",") and not self.asks(clause) and kinds()["asking"].isdisjoint(clause.texts)

    def asks_of_offer(self, clause: Clause) -> bool:
        """Whether a clause asks about what was offered ("这家店可以么") and asks for nothing that a label has."""
        texts = set(clause.texts)
        return self.asks(clause) and bool(texts & kinds()["offered"]) and texts.isdisjoint(kinds()["search"] - {"我想", "想"})

    def leads_on(self, clause: Clause, after: Clause) -> bool:
        """Whether a clause of frames, without a value or request, is gone on with by one that is kept."""
        beside = clause.stop == after.start and self.text[clause.end : clause.stop].strip() in ("，", ",")
        if not beside or clause.marks or not kinds()["asking"].isdisjoint(clause.texts):
            return False
        return not set(self.known(clause)[1]) - NAME_SLOTS

    def will_do(self, clause: Clause) -> bool:
        """Whether a clause of frames says something of its own: "我们可以住在这里", "顺便吃个饭"."""
        if self.asks(clause) or not kinds()["willdo"] & set(clause.texts):
            return False
        return ((kinds()["search"] | kinds()["asking"]) - {"我想", "想", "可以", "能"}).isdisjoint(clause.texts)

    def beside(self, clause: Clause, cues: dict[str, set[str]]) -> bool:
        """Whether a clause has every-day words of a request alone, and another clause of the turn asks for the same by its name."""
        if not self.weak(cues):
            return False
        for slot in cues:
            names = strong(slot)
            if kinds()["judging"].isdisjoint(clause.texts) or not any(
                other is not clause and covered(other.words, names)[1] for other in self.clauses
            ):
                return False
        return True

    def weak(self, cues: dict[str, set[str]]) -> bool:
        """Whether the cues in a clause that says something else are words of every day, met elsewhere in the turn in better form."""
        names = {word for slot in cues for word in strong(slot)}
        return all(names.isdisjoint(found) for found in cues.values())

    def general(self, clause: Clause) -> str | None:
        """ "greet", "ack", "react", "thank", "bye", "done" or "tag" (a frame alone) where the clause is nothing else."""
        texts = set(clause.texts)
        groups = kinds()
        if texts & groups["thank"] and texts <= groups["thank"] | groups["thankmore"]:
            return "thank"
        if texts & groups["goodbye"] and texts <= groups["bye"] | groups["ack"]:
            return "bye"
        if texts & groups["hello"] and texts <= groups["greet"]:
            return "greet"
        if texts <= {"对", "了", "还有", "另外", "还"}:
            return "tag"
        if texts <= groups["ack"]:
            return "ack"
        if texts <= groups["react"]:
            return "react"
        if texts & groups["nothing"] and texts & groups["matters"] and texts <= groups["done"]:
            return "ack" if "".join(clause.texts) in ("没问题", "没有问题") else "done"
        return None

    def says_more(self, clause: Clause) -> bool:
        """Whether a clause without values and requests has more in it than frames and the nouns of its domain ("我也有时间")."""
        bare = covered(clause.words, kinds()["frame"])[0] | covered(clause.words, table("head_words").get(self.domain, ()))[0]
        return len(bare) < len(clause.words)

    def asks(self, clause: Clause) -> bool:
        """Whether a clause is a question."""
        return self.text[clause.end : clause.stop].strip() in ("？", "?") or clause.texts[-1:] in (("吗",), ("么",), ("没",), ("不",))

    def supposes(self) -> bool:
        """Whether a clause asks whether something is so ("评分可高了吧？", "现在还营业吗？"): no open question says the same."""
        if self.requests and _STILL.search(self.text):
            return True
        ends = [clause for clause in self.clauses if clause.texts and self.text[clause.start : clause.end].endswith("吧") and self.asks(clause)]
        return bool(self.requests) and any(not _SEEKS.search(self.text, clause.start, clause.end) for clause in ends)

    def answering(self, looking: bool) -> bool:
        """Whether the turn answers what the system asked and searches for nothing itself."""
        before = self.context.before
        asked = before is not None and before.utterance.rstrip().endswith(("？", "?", "呢", "吗", "么", "吗？"))
        if looking and not self.says({"推荐", "介绍", "找", "找个", "找一个", "找一家", "有没有", "求", *table("head_words").get(self.domain, ())}):
            looking = False  # "我想要标准间" answers "您想要大床房还是标准间？"
        if before is not None and re.search("什么|哪|几", before.utterance):
            named = [(act.slot or "", *table("slot_words").get(act.slot or "", ())) for act in self.informs]
            if named and all(any(word in before.utterance for word in words) for words in named):
                looking = False  # "我想找个标准间" answers "您想找个什么房型的酒店？"
        return asked and not looking and not self.requests

    def several_offered(self) -> bool:
        """Whether the system turn before names several things of the turn's domain."""
        before = self.context.before
        return before is not None and len({act.value for act in before.acts if act.slot in NAME_SLOTS and act.domain == self.domain}) > 1

    def earlier(self) -> list[Turn]:
        found: list[Turn] = []
        for turn in self.context.view.dialogue.turns:
            if turn.turn >= self.context.view.turn.turn:
                break
            if turn.speaker == "user":
                found.append(turn)
        return found

    def noun(self, sure: list[Clause]) -> str:
        """How the source points at what it asks about: "noun" (这家酒店), "it" (它家), "bare" (nothing)."""
        heads = table("head_words").get(self.domain, ())
        asking = [clause for clause in sure if any(covered(clause.words, table("request_cues").get(act.slot or "", ()))[0] for act in self.requests)]
        for clause in asking:
            if not covered(clause.words, heads)[0]:
                continue
            if set(clause.texts) & {"这个", "这家", "那家", "该", "此"} or any(not (act.slot or "").startswith("周边") for act in self.requests):
                return "noun"
        words = {word for clause in asking for word in clause.texts}
        return "it" if words & {"它", "它家", "他家", "他们家", "那里", "这里", "那儿", "这儿", "它的", "他", "她家"} else "bare"


def strong(slot: str) -> tuple[str, ...]:
    """The words that name a request, without those of every day."""
    if slot.startswith("周边"):
        return (slot, *kinds()["near"])
    return table("request_cues").get(slot, (slot,))[:3]


def telling(slot: str) -> Iterable[str]:
    """The words that tell a request in the clause that has a name: "景点" alone tells no request of what is around it."""
    return kinds()["near"] if slot.startswith("周边") else table("request_cues").get(slot, ())
