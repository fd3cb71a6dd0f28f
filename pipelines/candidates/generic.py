"""Replies that say the same in other words: "yep" for "yes", "no problem" for "you're welcome".

Of such replies a set of candidates has at most one of each kind, the answer's included: a second one would be as right as the answer.
"""

from __future__ import annotations

import re

from dialmill.pipelines.candidates.keys import words

_AGREES = """yes yeah yep yup yea ya yah aye sure ok okay okey k kk right exactly correct true indeed absolutely definitely certainly agreed alright
fine good great cool nice perfect awesome excellent sweet 是 是的 对 对的 好 好的 嗯 行 可以 没错 当然"""
_DENIES = "no nope nah nay not never negative 不 不是 没有 不行 不对 不用"
_THANKED = "welcome np yw nps noprob 不客气 不用谢 没事 没关系"
_THANKS = "thanks thank thx ty tnx tks thnx thankyou cheers 谢谢 多谢 感谢"
_GREETS = "hi hello hey hiya hallo hola yo greetings howdy morning evening 你好 您好 早上好"
_PARTS = "bye cya goodbye later gn goodnight 再见 拜拜"
_LAUGHS = "lol haha hehe heh hah rofl lmao hahaha hihi 哈哈"
_UNSURE = "dunno idk unsure 不知道 不清楚"
_WAITS = "brb sec moment wait hmm hm hmmm oh ah ahh um uh 稍等 等等"
_WONDERS = "why how what huh eh 为什么 什么"
#: Reply kinds in the order of their numbers, which begin at 1.
_KINDS = tuple(frozenset(group.split()) for group in (_AGREES, _DENIES, _THANKED, _THANKS, _GREETS, _PARTS, _LAUGHS, _UNSURE, _WAITS, _WONDERS))
#: How many kinds there are.
KINDS = len(_KINDS)
#: Words that change nothing about what such a reply says.
_SMALL = """a all am any are at be but do does enough for have i im in is it its just man mate me much my now of oh ok on one please pls problem
really same so that thats the then there this to too u up very we well worries you your youre
course anytime dude buddy guys 的 了 吧 啊 呢 您 你 我"""
_FILLERS = frozenset(_SMALL.split())
_PHRASES = (
    (re.compile(r"(?:no|not a) (?:problem|prob|probs|worries|worry)|you ?a?re welcome|my pleasure|any ?time|glad (?:i could|to) help"), 3),
    (re.compile(r"(?:i )?(?:dont|do not|have no|no) (?:know|idea|clue)|not sure|no idea"), 8),
    (re.compile(r"of course|i (?:think|guess|suppose|believe) so|that(?: i|)s (?:right|it|correct)"), 1),
)
#: A reply of more words says something of its own.
_LONGEST = 5


def kind_of(key: str) -> int:
    """The kind of a generic reply by its `candidate_key`, from 1 up; 0 for any other text."""
    if len(key) > 40:
        return 0
    said = words(key)
    if not 0 < len(said) <= _LONGEST:
        return 0
    for phrase, number in _PHRASES:
        found = phrase.search(key)
        if found and all(word in _FILLERS or any(word in kind for kind in _KINDS) for word in words(key[: found.start()] + key[found.end() :])):
            return number
    kinds = {number for word in said for number, kind in enumerate(_KINDS, 1) if word in kind}
    if len(kinds) == 1 and all(word in _FILLERS or any(word in kind for kind in _KINDS) for word in said):
        return kinds.pop()
    return 0
