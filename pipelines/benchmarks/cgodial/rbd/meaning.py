"""Whether a wrong response would be as right as the answer, since it says the same in other words.

CGoDial had people vote on whether the choice of a response is ambiguous; here two responses are compared by what they say: formulas of politeness
are set aside, the rest is weighted by how rare it is (TF-IDF over characters with their neighbours, and over words), and two responses are alike by
their angle, or by how much of the shorter one stands in the longer. What is a question is held apart from what answers one. And where the last
utterance of a context and its answer are about one thing ("when is it sent?" "it is sent today"), a response about that thing ("sent within two
days") may be as right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from math import sqrt

from dialmill.pipelines.baselines.features import gram_counts, word_counts
from dialmill.pipelines.baselines.rankers import Frequencies, log2_fixed
from dialmill.pipelines.candidates.keys import candidate_key

#: Forms of address, particles and fillers, which any response can have.
_FORMULAS = re.compile(
    "亲爱[哒的]?|亲亲|亲|客官|小店|小二|您好|你好|哈喽|请稍等|哦|呢|哈|呀|啊|呐|哒|啦|咯|嘛|吧|嗯+|恩+|噢|的|了|您|你|我们|我|这边|那边|一下|就|也|都|请"
)
#: What a response does where it holds nothing else; the first that is found counts.
_ACTS = (
    ("thanks", re.compile("不客气|不用谢|谢谢|感谢|麻烦[您你]?了")),
    ("apology", re.compile("抱歉|不好意思|对不起")),
    ("wait", re.compile("稍等|等一下|[问看查催][一]?下|催催|核实|查询|联系(?:快递|仓库|客服)")),
    ("refusal", re.compile("不可以|不行|不能|没有|没办法|无法|不会|不是")),
    ("agreement", re.compile("好的|可以|对的|是的|没问题|没关系|没事|行|嗯|恩")),
)
_QUESTION = re.compile("[吗么嘛][呢亲哦哈]*$|[?？]|什么|哪|多少|怎么|几[个件天点号]|是否|是不是|有没有|要不要|可不可以")
#: Two responses of different kinds (a question and a statement) must be so much more alike.
_ACROSS = 1.6
#: Acts that take a stand on what was asked.
_STANDS = frozenset({"apology", "agreement", "refusal"})
#: What a promise to look into something is made of, beside formulas.
_LOOKING = re.compile("帮|查询?|[询]?问|催|看|核实|联系|反馈|备注|客服|仓库|快递|物流|订单|情况|尽快|马上|现在|[先再来去给为跟和下会]")
#: What is left of a response in fewer characters is no content.
_CONTENT = 2
#: Pairs of characters that tell no topic.
_COMMON = re.compile(
    "什么|么时|么样|怎么|可以|没有|这个|那个|不是|是不|不能|还是|就是|多少|一个|这样|知道|现在|时候|还没|有没|没关|不会|不了|要是|如果"
)


class Meaning:
    """How alike responses are, by the frequencies of the texts that it was fitted to; without any, all that is no formula weighs the same."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._grams, self._words = Frequencies(), Frequencies()
        for text in texts:
            content = _content(text)
            self._grams.add(gram_counts(content, "zh"))
            self._words.add(word_counts(content, "zh"))

    def same(self, one: str, other: str, limit: float) -> bool:
        """Whether two responses say the same.

        Args:
            limit: from 0 to 1, how alike two responses of one kind are at most that don't.
        """
        mine, theirs = _content(one), _content(other)
        if min(len(mine), len(theirs)) < _CONTENT:
            # A formula fits wherever a response begins with it.
            return act(one) == act(other) != ""
        alike = max(self._alike(mine, theirs, gram_counts, self._grams), self._alike(mine, theirs, word_counts, self._words))
        return alike > limit * (1.0 if _asks(one) == _asks(other) else _ACROSS)

    def _alike(self, one: str, other: str, count: Callable[[str, str], Mapping[str, int]], known: Frequencies) -> float:
        mine, theirs = (_weighted(count(text, "zh"), known) for text in (one, other))
        shared = sum(weight * theirs[term] for term, weight in sorted(mine.items()) if term in theirs)
        squares = [sum(weight * weight for _, weight in sorted(each.items())) for each in (mine, theirs)]
        smaller = min(squares)
        held = sum(min(weight, theirs[term]) ** 2 for term, weight in sorted(mine.items()) if term in theirs) / smaller if smaller else 0.0
        # All of a short response within a long one is as much as the same response; half of it says little.
        return max(shared / sqrt(squares[0] * squares[1]) if all(squares) else 0.0, held * held)


def same_topic(question: str, answer: str, other: str) -> bool:
    """Whether a response is about the very thing that is asked, and answers it as the answer does: the three share two characters in a row that are
    no formula and no function word; or the response shares them with the question, and refuses, agrees or apologises as the answer does."""
    asked, told = _topics(question), _topics(other)
    return not asked.isdisjoint(_topics(answer) & told) or (act(answer) == act(other) in _STANDS and not asked.isdisjoint(told))


def fits_anywhere(text: str) -> bool:
    """Whether a response fits most contexts, right or wrong: formulas alone ("好的呢亲"), or a promise to look into it ("我帮您查下订单")."""
    content = _content(text)
    return len(content) < _CONTENT or (act(text) == "wait" and len(_LOOKING.sub("", content)) < _CONTENT)


def act(text: str) -> str:
    """What a response does by its formulas; "" where it has none."""
    return next((name for name, pattern in _ACTS if pattern.search(text)), "")


def _asks(text: str) -> bool:
    """Whether a response is a question."""
    return _QUESTION.search(text) is not None


@lru_cache(maxsize=1 << 16)
def _content(text: str) -> str:
    """A response without formulas, blanks and punctuation."""
    key = candidate_key(text).replace(" ", "")
    for _, pattern in _ACTS:
        key = pattern.sub("", key)
    return _FORMULAS.sub("", key)


@lru_cache(maxsize=1 << 16)
def _topics(text: str) -> frozenset[str]:
    content = _content(text)
    pairs = (content[at : at + 2] for at in range(len(content) - 1))
    return frozenset(pair for pair in pairs if not _COMMON.fullmatch(pair))


def _weighted(counts: Mapping[str, int], known: Frequencies) -> dict[str, float]:
    """Terms with their weights: once for each term, by how rare it is."""
    if not known.number:
        return dict.fromkeys(counts, 1.0)
    return {term: float(log2_fixed(known.number + 1, min(known.terms.get(term, 0), known.number) + 1)) / (1 << 16) + 0.1 for term in counts}
