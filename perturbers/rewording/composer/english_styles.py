"""English, in fewer words and in more: keywords, and reasons that belong to what is said."""

from __future__ import annotations

import re

from dialmill.perturbers.rewording.composer.english_phrases import Draft, Part, Sentence
from dialmill.perturbers.rewording.composer.english_places import OWN, Place


def keywords(turn: Draft) -> list[Sentence] | None:
    """The least that says it; None where it takes sentences."""
    found = turn.plan
    informs = [turn.parts[item] for item in found.items if item.kind in ("inform", "about")]
    others = {item.kind for item in found.items} - {"inform", "about", "ack", "greet"}
    if not informs or others - {"request", "intent", "goal", "thank", "yes", "dontcare", "no"}:
        return None
    rank = (
        "pricerange",
        "stars",
        "food",
        "type",
        "area",
        "name",
        "departure",
        "destination",
        "book people",
        "book stay",
        "day",
        "book day",
        "leaveat",
        "arriveby",
    )
    informs.sort(key=lambda part: rank.index(part.place.slot) if part.place.slot in rank else 9)
    words: list[str] = []
    domains = list(dict.fromkeys(part.item.domain for part in informs))
    if len(domains) > 1:
        return None
    domain = domains[0]
    titled = any(part.place.slot in ("type", "name") for part in informs) or domain not in OWN
    search = any(not part.place.slot.startswith("book ") for part in informs)
    known = any(cell[0] == domain for cell in turn.context.state)
    for part in informs:
        text = turn.worded("key", part)
        if text is None:
            return None
        if not titled and search and not known and part.place.slot not in ("pricerange", "stars", "food"):
            words.append(_HEADS[domain])
            titled = True
        words.append(text)
    if not titled and search and not known:
        words.append(_HEADS[domain])
    joint = ", " if domain not in OWN or turn.rng.chance(0.4) else " "
    replies = [Sentence(f"{kind},") for kind in ("yes", "no") if kind in others]
    goals = _bare_goals(turn)
    after = _bare_rest(turn)
    if goals is None or after is None:
        return None
    thanks = [Sentence("thanks")] if "thank" in others else []
    return [*replies, *goals, Sentence(joint.join(words), tuple(informs)), *after, *thanks]


def _bare_goals(turn: Draft) -> list[Sentence] | None:
    """Intents as bare verbs."""
    made = []
    for item in turn.plan.items:
        if item.kind == "goal":
            verb = turn.take(turn.options("do", Place(item.domain, item.value.lower())))
            if verb is None:
                return None
            made.append(Sentence(verb + ","))
    return made


def _bare_rest(turn: Draft) -> list[Sentence] | None:
    """What doesn't matter and what is asked for, by the shortest clauses."""
    made = []
    for kind, section, most in (("dontcare", "any", 3), ("request", "ask", 4)):
        for item in turn.plan.items:
            if item.kind == kind:
                part = turn.parts[item]
                options = sorted(turn.options(section, part.place), key=lambda clause: len(clause.text))
                text = turn.take(options[:most])
                if text is None:
                    return None
                made.append(Sentence(text, (part,) if kind == "request" else (), kind == "request"))
    return made


_HEADS = {"hotel": "place to stay", "restaurant": "restaurant", "attraction": "attraction", "train": "train", "taxi": "taxi"}
_REASONED = re.compile(r"\b(?:because|since|so|as|if|but)\b|[;:]")
_PLEADING = re.compile(r",? (?:please|thanks|of course|pls|go|quick|quickly|fast|then|cheers)$")
_QUESTION_LEADS = ("I ask", "I'm asking", "Only asking", "Asking")


def wordy(turn: Draft, sentences: list[Sentence]) -> list[Sentence] | None:
    """The sentences with a reason behind one of them, and circumstances before; None where there is nothing to give a reason for."""
    rng = turn.rng
    reasons: list[tuple[int, Part]] = []
    for place, sentence in enumerate(sentences):
        if sentence.slots and sentence.text[-1:] in ".!?" and not _REASONED.search(sentence.text):
            reasons.append((place, sentence.slots[-1]))
    rng.shuffle(reasons)
    made = list(sentences)
    added = 0
    for place, part in reasons:
        sentence = made[place]
        told = part.item.value if part.item.kind == "inform" else ""
        tag = "ask" if part.item.kind == "request" and part.place.slot == "pricerange" else ""
        if part.item.kind == "dontcare":
            continue
        reason = turn.pick("why", part.place, told, tag, part.facts)
        if reason is None:
            continue
        text = sentence.text.rstrip()
        if text.endswith("?"):
            made[place] = Sentence(f"{text} {rng.choice(_QUESTION_LEADS)} {reason}.", sentence.slots)
        else:
            made[place] = Sentence(f"{_PLEADING.sub('', text.rstrip('.!'))} {reason}.", sentence.slots)
        added += 1
        if added == 2 or rng.chance(0.75):
            break
    places = [part.place.domain for sentence in sentences for part in sentence.slots if part.item.kind == "inform"]
    if places and (not added or rng.chance(0.3)):
        domain = places[0] if places[0] in OWN else "*"
        circumstance = turn.pick("circ", Place(domain, ""))
        if circumstance is not None:
            opening = 0
            while opening < len(made) and not made[opening].slots and len(made[opening].text) < 30 and opening < len(made) - 1:
                opening += 1
            made.insert(opening, Sentence(circumstance))
            added += 1
    return made if added else None
