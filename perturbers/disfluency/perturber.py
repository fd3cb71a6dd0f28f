"""Disfluencies: the fillers, repeats, broken-off words and restarts of spontaneous speech; self-repairs of slot values on request.

Rates: spontaneous speech has 6 to 10 disfluencies in 100 words (Li and Tilsen 2015); people who talk to a computer are markedly more fluent (Oviatt
1994, "Predicting and managing spoken disfluencies during human-computer interaction"), and repair themselves in 607 of 10,718 sentences (Bear,
Dowding and Shriberg 1992). A disfluency only inserts text: taken out again, the turn is the source's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Annotated, ClassVar, Literal, NamedTuple

from dialmill.perturbers.core.checks import certify
from dialmill.perturbers.core.contract import Changed, PerturbResult, Skipped, TurnPerturber, ValueMode
from dialmill.perturbers.core.effects import Never
from dialmill.perturbers.core.lexicon import alternatives, rows, words
from dialmill.perturbers.core.options import Meta
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.surfaces import kind_of, parse_time
from dialmill.perturbers.core.values import Located, Locator, View
from dialmill.schemas import Dialogue, Edit, Turn, apply_edits

Setting = Literal["conversation", "computer"]
#: Disfluencies per word. Oviatt found people several times as fluent with a computer; a third is a round figure.
_RATES: dict[str, float] = {"conversation": 0.06, "computer": 0.02}
#: The label of a turn in which the user takes a value back.
REPAIRED = "self_repair"

#: How often each kind: fillers are the most frequent everywhere, broken-off words and restarts the rarest.
_KINDS = ("pause", "repeat", "initial", "cut", "restart")
_KIND_WEIGHTS = tuple(accumulate((4.0, 3.0, 2.0, 0.8, 0.6)))
#: Function words that people say twice while they look for the next one.
_REPEATED = words("i i'm a an the to in for is it's of on at my we are and or")
#: Openings of two words that are begun again as a whole.
_REPEATED_PAIRS = frozenset(
    {"can you", "could you", "can i", "could i", "do you", "is there", "are there", "i need", "i want", "i would", "i was", "i will", "what is"}
)
#: What comes before "i need" where a speaker is done ("that 's all i need"), or belongs to a farewell ("have a good day").
_CLOSING = words("all everything have")
#: Words of thanks and farewell, which come fluently.
_FLUENT = words("thanks thank goodbye please welcome")
#: Before such a word a speaker may pause; behind a determiner or preposition as well.
_PAUSE_BEFORE = words("a an the to in for at on near with that which from and but or some my as by around after before moderately really")
_PAUSE_AFTER = words("the a for in with to and is it's like i'd near called from but")
#: What breaks off: content words of so many letters.
_CUT_LENGTH = 6
_SENTENCE_END = re.compile(r"[.!?;,:。！？；，：]\s*$")
_ZH_CLAUSE = re.compile(r"(?:^|[，。！？；,!?;、：])\s*")
_PUNCTUATION = frozenset("，。！？；：、,.!?;:~…—-\"'“”‘’（）()")
#: Words that may be said twice at the start of a Chinese clause.
_ZH_REPEATED = ("我想", "我要", "帮我", "我们", "你帮我", "请问", "有没有", "能不能", "还有", "我", "你")


class Insertion(NamedTuple):
    """What is said at a place."""

    place: int
    text: str


class Drawn(NamedTuple):
    """The insertions of one turn in order, and the repair among them: its place, what is said, and the note for the lineage."""

    insertions: tuple[Insertion, ...]
    repair: Insertion | None
    note: str


@cache
def _phrases(language: str, kind: str) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The words of a kind with their cumulative weights."""
    phrases: list[str] = []
    weights: list[float] = []
    for row_kind, weight, cell in rows(language, "disfluency"):
        if row_kind == kind:
            found = alternatives(cell)
            phrases += found
            weights += [float(weight)] * len(found)
    return tuple(phrases), tuple(accumulate(weights))


@dataclass(frozen=True)
class Disfluency(TurnPerturber):
    """Fillers, repeats, broken-off words and restarts in user turns, at the rates of the literature; slot values stay as they are.

    English: "um" and "uh" where speakers plan (at the start, before and behind function words), function words said twice, long words broken off and
    said again, a start given up. Chinese: fillers and repeats at clause starts only, each with its own comma. A turn in which no
    disfluency falls stays fluent (`stays_fluent`), as most short turns do; of a dialogue whose turns would all stay fluent one turn gets one.
    """

    values: Annotated[
        ValueMode,
        Meta(
            description="slot values stay as they are, whatever this says; other perturbers have a choice",
            extra={"needs": {"values": Never("slot values stay as they are")}},
        ),
    ] = "protect"
    setting: Annotated[
        Setting, Meta(description='how fluent: "conversation", 6 disfluencies in 100 words; "computer", 2', extra={"needs": {"rate": (0.0,)}})
    ] = "conversation"
    rate: Annotated[
        float,
        Meta(
            ge=0,
            lt=1,
            description="share of words before which a disfluency falls; 0 takes that of setting",
            examples=[0.1],
            extra={"unit": "disfluencies per word"},
        ),
    ] = 0.0
    repairs: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description='share of turns with a slot value that is said wrong at first and taken back ("tuesday, no, wednesday"). Off by '
            "default, as it "
            "puts a false value into the text; people do it in 0.06 of their turns. The label stays the final value, the turn has the label "
            "self_repair, and the lineage has the place and text of what was taken back",
            examples=[0.06],
            extra={"unit": "share of turns"},
        ),
    ] = 0.0

    name: ClassVar[str] = "disfluency"
    version: ClassVar[int] = 1

    def make(self, dialogue: Dialogue, seed: int, variant: int) -> PerturbResult:
        made = super().make(dialogue, seed, variant)
        if made.turns != dialogue.turns:
            return made
        # A variant that is its source to the letter is none: the first turn in seeded random order that takes a disfluency gets one.
        locator = Locator.of(dialogue)
        fluent = [skip.turn for skip in made.skipped if skip.reason == "stays_fluent"]
        Rng(seed, self.step, dialogue.source_id, "first", variant).shuffle(fluent)
        for number in fluent:
            result = self._attempt(locator.view(dialogue.turns[number]), False, seed, self.step, dialogue.source_id, number, variant)
            if isinstance(result, Changed):
                turns = tuple(result.turn if turn.turn == number else turn for turn in made.turns)
                return made._replace(turns=turns, skipped=tuple(skip for skip in made.skipped if skip.turn != number))
        return made

    def _chosen(self, text: str, language: str, *key: object) -> tuple[bool, bool]:
        """Whether anything is spoken disfluently, and whether a value is repaired. Drawn once, so that a failed attempt changes nothing in it."""
        rng = Rng(*key, "whether")
        spoken = rng.chance(1 - (1 - (self.rate or _RATES[self.setting])) ** _length(text, language))
        return spoken, bool(self.repairs) and rng.chance(self.repairs)

    def passes_over(self, turn: Turn, language: str, *key: object) -> str | None:
        return None if any(self._chosen(turn.utterance, language, *key)) else "stays_fluent"

    def change_turn(self, view: View, *key: object) -> Changed | Skipped:
        spoken, repaired = self._chosen(view.turn.utterance, view.language, *key)
        if repaired:
            result = self._attempt(view, True, *key)
            if isinstance(result, Changed) or not spoken:
                return result
        return self._attempt(view, False, *key)

    def _attempt(self, view: View, repaired: bool, *key: object) -> Changed | Skipped:
        """As `TurnPerturber.change_turn`; a repair is certified with a neutral filler in its place, so that it alone may hold a false value."""
        outcome = Skipped("no_edit_possible")
        for attempt in range(self.tries):
            drawn = self._draw(view, Rng(*key, attempt), repaired)
            if drawn is None:
                continue
            plain = apply_edits(view.turn, self._edits(drawn, neutral=True))
            problem = certify(view, plain, self.values)
            if problem is not None:
                outcome = Skipped(problem)
                continue
            if drawn.repair is None:
                return Changed(plain)
            turn = apply_edits(view.turn, self.apply(view, drawn))
            start = drawn.repair.place + sum(len(one.text) for one in drawn.insertions if one.place < drawn.repair.place)
            note = f"self_repair [{start}, {start + len(drawn.repair.text)}): {drawn.note}"
            return Changed(turn.replace(labels=(*turn.labels, REPAIRED)), note)
        return outcome

    def draw(self, view: View, rng: Rng) -> Drawn | Skipped:
        return self._draw(view, rng, False) or Skipped("no_edit_possible")

    def apply(self, view: View, drawn: Drawn) -> Sequence[Edit]:
        return self._edits(drawn, neutral=False)

    def _edits(self, drawn: Drawn, neutral: bool) -> list[Edit]:
        insertions = list(drawn.insertions)
        if drawn.repair is not None:
            insertions.append(drawn.repair._replace(text="um ") if neutral else drawn.repair)
        return [Edit(place, place, text) for place, text in sorted(insertions)]

    def _draw(self, view: View, rng: Rng, repaired: bool) -> Drawn | None:
        """How many disfluencies beyond the first is drawn word by word; what and where, kind by kind."""
        text, language = view.turn.utterance, view.language
        rate = self.rate or _RATES[self.setting]
        length = _length(text, language)
        count = 1
        while count < max(2, length // 4) and rng.chance(rate * length / (count + 1)):
            count += 1
        repair, note = None, ""
        if repaired:
            found = _repair(view, rng)
            if found is None:
                return None
            repair, note = found
            count -= 1
        offers = _offers_zh(view, rng) if language == "zh" else _offers_en(view, rng)
        insertions: list[Insertion] = []
        taken = [repair.place] if repair else []
        for _ in range(4 * count):
            if len(insertions) == count:
                break
            places = offers[rng.weighted(_KINDS, _KIND_WEIGHTS)]
            if not places:
                continue
            one = places.pop(rng.below(len(places)))
            if not one.text:
                one = _filled(one.place, view, rng)
            # Two side by side are past belief, one each side of a word is not much better.
            if all(abs(one.place - place) > 8 for place in taken) and view.free(one.place, one.place):
                insertions.append(one)
                taken.append(one.place)
        if not insertions and repair is None:
            return None
        return Drawn(tuple(sorted(insertions)), repair, note) if text else None


def _length(text: str, language: str) -> int:
    """About how many words a text has; a Chinese word has one and a half characters."""
    return 2 * len(text) // 3 if language == "zh" else len(text.split())


def _phrase(language: str, kind: str, text: str, rng: Rng) -> str:
    """A phrase of a kind, in the case of the text it goes into."""
    phrase = rng.weighted(*_phrases(language, kind))
    return phrase.lower() if text.islower() else phrase


def _comma(text: str) -> str:
    """A comma as the text writes it: corpora that cut off punctuation have a blank before it; a text without any gets none."""
    if " ," in text or " ." in text or " ?" in text:
        return " ,"
    return "," if any(mark in text for mark in ",.?!") else ""


def _capital(word: str, text: str) -> str:
    """A word with a capital where the text that it opens has one."""
    return word[0].upper() + word[1:] if text[:1].isupper() else word


def _offers_en(view: View, rng: Rng) -> dict[str, list[Insertion]]:
    """What may be said where, by kind."""
    text, tokens = view.turn.utterance, view.tokens
    comma = _comma(text)
    offers: dict[str, list[Insertion]] = {kind: [] for kind in _KINDS}
    if not tokens:
        return offers
    lower = [text[start:end].lower() for start, end in tokens]
    first = tokens[0][0]
    content = len(tokens) > 2
    if first == 0 or not text[:first].strip():
        offers["initial"].append(Insertion(first, ""))
        if content and lower[0] in ("i", "can", "could", "is", "are", "do", "what", "please", "we", "i'm", "i'd") and lower[1] not in ("n't",):
            begun = _phrase("en", "restart", text, rng)
            if lower[0] not in begun.lower().split():
                offers["restart"].append(Insertion(first, f"{_capital(begun, text[first:])}{' -' if comma == ' ,' else '-'} "))
    for place, (start, end) in enumerate(tokens):
        word = lower[place]
        following = lower[place + 1] if place + 1 < len(tokens) else ""
        alone = start == 0 or text[start - 1] == " "
        # "i 'm", "do n't": a clitic that is cut off belongs to the word before it.
        if not alone or word[0] in "'’" or word == "n't" or (following[:1] in ("'", "’") and tokens[place + 1][0] == end + 1):
            continue
        if following == "n't":
            continue
        after_sentence = start > 0 and _SENTENCE_END.search(text[:start]) is not None
        closing = following in ("all", "your") or (place > 0 and lower[place - 1] in _CLOSING)
        beside = not closing and bool(following) and text[end : end + 1] == " " and tokens[place + 1][0] == end + 1
        if beside and f"{word} {following}" in _REPEATED_PAIRS and place + 2 < len(tokens) and view.free(start, tokens[place + 1][1]):
            last = tokens[place + 1][1]
            if lower[place + 2][:1] not in ("'", "’") and lower[place + 2] not in ("n't", "not") and text[last : last + 1] == " ":
                again = text[start:last] if word == "i" else text[start:last].lower()
                offers["repeat"] += [Insertion(last, f" {again}")] * 2
        elif beside and word in _REPEATED and view.free(start, end):
            again = text[start:end] if word in ("i", "i'm") else word
            offers["repeat"].append(Insertion(end, f" {again}"))
        if place and not after_sentence and (word in _PAUSE_BEFORE or lower[place - 1] in _PAUSE_AFTER):
            offers["pause"].append(Insertion(start, ""))
        elif after_sentence and text[:start].rstrip()[-1] != "," and following and word not in _FLUENT:
            offers["initial"].append(Insertion(start, ""))
        if len(word) >= _CUT_LENGTH and text[start:end].islower() and word.isalpha() and word not in _FLUENT and view.free(start, end) and place:
            cut = word[: 2 + rng.below(2)]
            if cut not in _REAL_STARTS:
                offers["cut"].append(Insertion(start, f"{cut}- "))
    return offers


def _filled(place: int, view: View, rng: Rng) -> Insertion:
    """An English filler for a place: at the start of a sentence in its case and with a comma, inside one with the commas of the text."""
    text = view.turn.utterance
    comma = _comma(text)
    before = text[:place].rstrip()
    if not before or before[-1] in ".!?;:":
        return Insertion(place, f"{_capital(_phrase('en', 'initial', text, rng), text[place:])}{comma} ")
    return Insertion(place, f"{_phrase('en', 'pause', text, rng)}{comma if comma != ',' else ''} ")


#: Beginnings that are words of their own and would be read as such.
_REAL_STARTS = words("an am as at be by do go he if in is it me my no of on or so to up us we the any bar bus car air not per pro pre par art cam")


def _offers_zh(view: View, rng: Rng) -> dict[str, list[Insertion]]:
    """What may be said where, by kind: at the start of clauses, before a character that is no punctuation, and with a comma behind it."""
    text = view.turn.utterance
    offers: dict[str, list[Insertion]] = {kind: [] for kind in _KINDS}
    comma = "，" if any("一" <= char <= "鿿" for char in text) else ", "
    for match in _ZH_CLAUSE.finditer(text):
        start = match.end()
        rest = text[start:]
        clause = re.split(r"[，。！？；,!?;：]", rest, maxsplit=1)[0]
        if len(clause.strip()) < 4 or rest[0] in _PUNCTUATION or match.group().strip() in ("、", "："):
            continue
        if start == 0 or not text[:start].strip():
            offers["initial"].append(Insertion(start, _phrase("zh", "initial", text, rng) + comma))
            begun = _phrase("zh", "restart", text, rng)
            if len(clause) >= 6 and not rest.startswith(("我", begun)):
                offers["restart"].append(Insertion(start, begun + "…"))
        else:
            offers["pause"].append(Insertion(start, _phrase("zh", "pause", text, rng) + comma))
        for word in _ZH_REPEATED:
            if rest.startswith(word) and len(clause) > len(word) + 2:
                said = word if len(word) > 1 else word + rng.choice(("", comma))
                offers["repeat"].append(Insertion(start, said if len(word) == 1 else said + rng.choice(("", comma))))
                break
    return offers


_ARTICLE = re.compile(r"\ban?\s+$", re.IGNORECASE)
_DAYS_EN = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CLASSES: dict[str, tuple[tuple[str, ...], ...]] = {
    "en": (_DAYS_EN, ("north", "south", "east", "west", "centre"), ("cheap", "moderate", "expensive")),
    "zh": (
        ("便宜", "中等", "偏贵"),
        ("姑苏区", "吴中区", "工业园区", "高新区", "相城区"),
        ("上午", "下午", "晚上"),
        tuple("下周" + day for day in "一二三四五六"),
    ),
}


def _repair(view: View, rng: Rng) -> tuple[Insertion, str] | None:
    """A value said wrong before it is said right: another of its closed class, another small number or time; never a name."""
    text, language = view.turn.utterance, view.language
    places: list[tuple[Located, str]] = []
    for place in view.located:
        surface = text[place.start : place.end]
        other = _other(surface, place, language, rng)
        # "an expensive" can't have been begun as "an cheap".
        if other is not None and not (_ARTICLE.search(text[: place.start]) and (other[0] in "aeiou") != (surface[0].lower() in "aeiou")):
            places.append((place, other))
    if not places:
        return None
    place, other = rng.choice(places)
    cue = _phrase(language, "repair", text, rng)
    surface = text[place.start : place.end]
    if language == "zh":
        said = f"{other}，{cue}，"
    else:
        comma = _comma(text) or ""
        other = other.capitalize() if surface[:1].isupper() else other
        said = f"{other}{comma} {cue}{comma} "
    return Insertion(place.start, said), f"{other!r} before {surface!r} ({place.domain} {place.slot})"


def _other(surface: str, place: Located, language: str, rng: Rng) -> str | None:
    low = surface.lower()
    for members in _CLASSES[language]:
        if low in members:
            return rng.choice([member for member in members if member != low])
    kind = kind_of(place.slot, place.value)
    if kind == "number" and low.isdigit() and 0 < int(low) < 10:
        return rng.choice([str(number) for number in range(2, 9) if str(number) != low])
    if kind == "time" and re.fullmatch(r"\d{1,2}:\d\d", low):
        parsed = parse_time(low)
        if parsed is not None:
            hour = (parsed[0] + rng.choice((-2, -1, 1, 2))) % 24
            return f"{hour:0{len(low.split(':')[0])}d}:{low.split(':')[1]}"
    return None
