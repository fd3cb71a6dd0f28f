"""Hard negatives: inserted turns that look like knowledge-seeking ones and are none, as a database or nobody need answer them.

Either the user asks again for a value that the system has given, which its database holds, or makes a remark about the entity talked about.
"""

from __future__ import annotations

from collections.abc import Sequence

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.insertion.knowledge.wording import halves
from dialmill.perturbers.insertion.turns import Pair
from dialmill.schemas import Act, Dialogue

#: The labels of such turns, and of what answers them.
API_QUESTION, SMALL_TALK, REPLY = "api_question", "small_talk", "api_answer"


def negative(dialogue: Dialogue, gap: int, domain: str, closing: str, side: str, rng: Rng) -> Pair | None:
    """A pair that is no target, to stand before turn `gap`; None where nothing fits.

    Args:
        dialogue: the dialogue.
        gap: the turn that the pair comes before.
        domain: the domain in hand.
        closing: what the answer ends with.
        side: whose wordings are taken, "train" or "test".
        rng: for all choices.
    """
    language = dialogue.language
    told = [
        act
        for turn in dialogue.turns[:gap]
        if turn.speaker == "system"
        for act in turn.acts
        if act.domain == domain and act.slot is not None and act.value and _forms(language, act.slot) and act.value in turn.utterance
    ]
    between = "" if language == "zh" else " "
    if told and rng.chance(0.6):
        act = rng.choice(told)
        asked, said = _split(_pick(language, f"api {act.slot}", _forms(language, str(act.slot)), side, rng))
        answer = f"{said.replace('{}', str(act.value))}{between}{closing}".strip()
        return Pair(asked, answer, (API_QUESTION,), (REPLY,), (Act("request", domain, act.slot),), (act,), note=f"{API_QUESTION}, {act.slot}")
    remarks = _texts(language, "remark", domain)
    if not remarks:
        return None
    asked, said = _split(_pick(language, f"remark {domain}", remarks, side, rng))
    return Pair(asked, f"{said}{between}{closing}".strip(), (SMALL_TALK,), (REPLY,), note=SMALL_TALK)


def _texts(language: str, kind: str, name: str) -> tuple[str, ...]:
    found = [cell for row_kind, names, cell in rows(language, "negatives") if row_kind == kind and name in alternatives(names)]
    return tuple(text for cell in found for text in alternatives(cell))


def _forms(language: str, slot: str) -> tuple[str, ...]:
    return _texts(language, "api", slot)


def _pick(language: str, bank: str, texts: Sequence[str], side: str, rng: Rng) -> str:
    return rng.choice(halves(f"{language} {bank}", tuple(texts))[side])


def _split(text: str) -> tuple[str, str]:
    """(what the user says, what the system says)."""
    asked, _, said = text.partition("=")
    return asked, said
