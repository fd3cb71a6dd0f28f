"""Examples of response selection: how hard one is for light baselines, which are ambiguous, and which candidates it shows.

CGoDial's retrieval-based set takes the examples of the E-commerce Dialogue Corpus on which five baselines were right least often, without ambiguous
ones (Dai et al. 2022, section 3.3.2). Here the five are three rankers over the whole context and two over its last utterance.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from dialmill.perturbers.core.rng import Rng
from dialmill.pipelines.baselines import ranker
from dialmill.pipelines.benchmarks.cgodial.rbd.meaning import Meaning, fits_anywhere, same_topic
from dialmill.pipelines.candidates.keys import candidate_key, slips

#: Ranker, and how many of the last utterances it sees (0 for all).
BASELINES = (("tfidf", 0), ("bm25", 0), ("characters", 0), ("tfidf", 1), ("characters", 1))
#: From this share of common pairs of characters on (Jaccard), two responses say nearly the same.
NEAR = 0.6
#: A priority is the mean accuracy in so many steps, and behind it the upper bits of a hash.
_STEPS, _SHIFT = 1 << 15, 48


@lru_cache(maxsize=1 << 16)
def _key(text: str) -> tuple[str, frozenset[str]]:
    key = candidate_key(text).replace(" ", "")
    return key, frozenset(key[at : at + 2] for at in range(len(key) - 1)) or frozenset((key,))


def nearly_equal(one: str, other: str) -> bool:
    """Whether two responses are the same, or so alike that either may be right: most pairs of characters in common, or a slip apart."""
    (mine, my_pairs), (theirs, their_pairs) = _key(one), _key(other)
    shared = len(my_pairs & their_pairs)
    return mine == theirs or shared >= NEAR * (len(my_pairs) + len(their_pairs) - shared) or slips(mine, theirs)


def length(text: str) -> int:
    """The characters of a text that count: no blanks, no punctuation."""
    return len(_key(text)[0])


def accuracy(context: Sequence[str], answer: str, wrong: Sequence[str], language: str) -> float:
    """The mean accuracy of the baselines, from 0 to 1. A tie counts by its chance: of three best candidates each is right to a third."""
    total = 0.0
    for name, last in BASELINES:
        scores = ranker(name).rank(context[-last:], [answer, *wrong], language)
        best = max(scores)
        total += 1 / scores.count(best) if scores[0] == best else 0.0
    return total / len(BASELINES)


def priority(mean: float, number: int) -> int:
    """A place of 64 bits in the order from hardest to easiest; those of one accuracy in the order of `number`, of 64 bits too."""
    return round(mean * _STEPS) << _SHIFT | number >> 64 - _SHIFT


def usable(answer: str, wrong: Iterable[str], context: Sequence[str], meaning: Meaning | None = None, limit: float = 1.0) -> list[str]:
    """The wrong responses that are wrong: none is empty, nearly equal to the answer or another one, or was said in the context; by `meaning`, none
    says what the answer says (more alike than `limit`), fits anywhere, or is about what the last utterances of who asks and the answer are about."""
    said = {_key(text)[0] for text in context}
    found: list[str] = []
    for text in wrong:
        if _key(text)[0] and _key(text)[0] not in said and not any(nearly_equal(text, other) for other in (answer, *found)):
            if meaning is not None and (meaning.same(answer, text, limit) or fits_anywhere(text)):
                continue
            # The speakers take turns; what is asked may stand in two utterances.
            if meaning is not None and any(same_topic(question, answer, text) for question in (*context[-1:], *context[-3:-2])):
                continue
            found.append(text)
    return found


def choose(
    answer: str,
    own: Sequence[str],
    pool: Sequence[str],
    context: Sequence[str],
    count: int,
    rng: Rng,
    meaning: Meaning | None = None,
    limit: float = 1.0,
) -> list[str] | None:
    """`count` wrong responses: the example's own, where there are enough, else with others from the pool; None where those don't suffice."""
    found = usable(answer, rng.sample(own, len(own)), context, meaning, limit)[:count]
    if len(found) < count:
        for text in rng.sample(pool, len(pool)):
            if len(usable(answer, [*found, text], context, meaning, limit)) > len(found):
                found.append(text)
                if len(found) == count:
                    break
    return found if len(found) == count else None
