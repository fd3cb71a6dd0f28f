"""New names, put together by their sort from lists of ours, and codes of the same shape.

A name fits what it names: a restaurant that serves Italian food is called otherwise than one that serves Indian food, a museum otherwise than a night
club, a garden otherwise than a temple. The lists (``lexicons/LANGUAGE/coinage.tsv``) hold what people would expect on a sign, several hundred names
of each kind of place once they are put together; a test holds them against the databases of the corpora at hand, none of which may have one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.core.rng import Rng

#: Kinds of names.
LODGING, RESTAURANT, SIGHT, VENUE, TOWN, PERSON, TITLE, TASK = "lodging", "restaurant", "sight", "venue", "town", "person", "title", "task"

#: What an English sight of a sort is called by its whole name; the other sorts need no such word.
_SIGHT_ENDS = {
    "museum": "Museum",
    "gallery": "Gallery",
    "college": "College",
    "church": "Church",
    "park": "Park",
    "theatre": "Theatre",
    "swimming pool": "Leisure Pool",
}
#: A Chinese type of sights -> what stands at the end of such a name.
_ZH_SIGHT_ENDS = {
    "苏州园林": "园",
    "姑苏古迹": "寺",
    "古迹": "寺",
    "山水景区": "山",
    "水乡古镇": "古镇",
    "游乐场": "乐园",
    "主题公园": "乐园",
    "商业中心": "广场",
    "园林": "园",
}
#: English words at the end of a place's name that tell what kind of place it is, where its slot doesn't.
_PLACES = {
    **dict.fromkeys(("hotel", "guest house", "guesthouse", "lodge", "inn", "bed and breakfast"), LODGING),
    **dict.fromkeys(("restaurant", "cafe", "bistro", "brasserie", "kitchen"), RESTAURANT),
    **dict.fromkeys(("museum", "gallery", "college", "church", "park", "theatre", "theater", "cinema", "nightclub", "club", "pool"), SIGHT),
}
_ZH_PLACES = (
    (re.compile("(?:酒店|宾馆|客栈|民宿|旅馆)$"), LODGING),
    (re.compile("(?:餐厅|饭店|火锅|料理|菜馆|小馆|酒楼|小吃店?|面馆|食堂|烤肉|烤鸭店?)$"), RESTAURANT),
    (re.compile("(?:公园|古镇|博物馆|园|寺|宫|湖|山|长城|大街|动物园|乐园|美术馆|纪念馆|大学)$"), SIGHT),
)
_BRANCH = re.compile(r"[(（][^()（）]*[)）]?$")


@cache
def _parts(language: str, name: str) -> tuple[str, ...]:
    """The names of a sort in lexicons/LANGUAGE/coinage.tsv, () where it has none."""
    return tuple(part for row_name, cell in rows(language, "coinage") if row_name == name for part in alternatives(cell))


@cache
def _sorts(language: str, kind: str) -> dict[str, str]:
    """What the corpus may call a sort of a kind -> the sort."""
    found: dict[str, str] = {}
    for name, _ in rows(language, "coinage"):
        own, _, called = name.partition(":")
        if own == kind and called:
            for one in called.split("|"):
                found.setdefault(one, name)
    return found


def _sort(language: str, kind: str, hints: Sequence[str]) -> tuple[str, str]:
    """The sort that the first hint tells which any tells, and the word that told it; ("", "") where none does."""
    sorts = _sorts(language, kind)
    for hint in hints:
        if hint in sorts:
            return sorts[hint], hint
        if language == "zh":
            plain = _BRANCH.sub("", hint)
            told = max((word for word in sorts if plain.endswith(word) or (len(word) > 1 and word in plain)), key=len, default="")
            if told:
                return sorts[told], told
    return "", ""


def coin(kind: str, language: str, rng: Rng, whole: bool = True, hints: Sequence[str] = ()) -> str:
    """A new name, capitalised where the language has capitals.

    Args:
        kind: LODGING, RESTAURANT, SIGHT, VENUE, TOWN, PERSON, TITLE or TASK.
        language: "en" or "zh".
        rng: decides.
        whole: False for the part before a word that says what it is ("guest house", 酒店), which stays in its place.
        hints: what is known of the place, most telling first: words at the end of its name, its food, its type.
    """
    if kind == VENUE:
        kind = _place(language, hints)
    if kind == TASK:
        return rng.choice(_parts(language, "task"))
    sort, told = _sort(language, kind, hints)
    if kind in (PERSON, TITLE, TOWN):
        return _other(kind, sort, language, rng)
    name = _chinese(kind, sort, told, rng, whole) if language == "zh" else _english(kind, sort, rng, whole)
    # An article stays in the text where one is; a name brings none.
    return re.sub(r"^The ", "", name)


def _place(language: str, hints: Sequence[str]) -> str:
    """What kind of place a venue is by the end of its name."""
    for hint in hints:
        if language == "zh":
            plain = _BRANCH.sub("", hint)
            for pattern, kind in _ZH_PLACES:
                if pattern.search(plain):
                    return kind
        elif hint in _PLACES:
            return _PLACES[hint]
    return VENUE


def _other(kind: str, sort: str, language: str, rng: Rng) -> str:
    """A town, a person or a title."""

    def part(name: str) -> str:
        return rng.choice(_parts(language, name))

    if kind == TOWN:
        return part(sort or kind)
    if language == "zh":
        return part("surname") + part("given") if kind == PERSON else f"{part('title-a')}的{part('title-b')}"
    return f"{part('given')} {part('surname')}" if kind == PERSON else f"{part('title-a')} {part('title-b')}"


def _english(kind: str, sort: str, rng: Rng, whole: bool) -> str:
    """A place's name. What has no sort of its own is named by an estate or a feature, as most hotels and houses are."""
    if kind == RESTAURANT:
        return rng.choice(_parts("en", sort or kind))
    if sort:
        name = rng.choice(_parts("en", sort))
        end = next((end for word, end in _SIGHT_ENDS.items() if word in sort), "") if kind == SIGHT and whole else ""
        return f"{name} {end}" if end else name
    if kind == SIGHT:
        return rng.choice(_parts("en", "sight")) if whole else rng.choice(_parts("en", "estate"))
    if kind == LODGING and rng.chance(0.4):
        name = rng.choice(_parts("en", "feature"))
        return f"{name} {rng.choice(('Hotel', 'Inn', 'Guest House'))}" if whole and not name.endswith(("Cottage", "House")) else name
    name = rng.choice(_parts("en", "estate"))
    return f"{name} {rng.choice(_parts('en', f'{kind}-end'))}" if whole else name


def _chinese(kind: str, sort: str, told: str, rng: Rng, whole: bool) -> str:
    """A place's name; it ends as the name that it replaces, where that says what the place is."""
    name = rng.choice(_parts("zh", sort or kind))
    if not whole:
        return re.sub("(?:小馆|菜馆|食堂|面庄)$", "", name)
    if kind in (SIGHT, VENUE) and sort:
        end = _ZH_SIGHT_ENDS.get(told, told)
        return name if name.endswith(end) or (len(end) == 1 and end in name) else name + end
    if kind == RESTAURANT and (sort or rng.chance(0.5)):
        return name
    ends = _parts("zh", f"{kind}-end")
    return name + rng.choice(ends) if ends else name


#: What the transliterated names of Indians hold: a star of Indian films is renamed to no German.
_INDIAN = re.compile(
    "辛哈|辛格|夏尔马|古普塔|乔普拉|卡普尔|卡普|库马尔|沙鲁克|阿米尔·汗|萨尔曼·汗|拉杰|巴强|帕度柯|普里扬卡|阿克谢|罗摩|玛诺吉|卡玛|[·.．・]汗$|哈桑"
)


def foreign_person(rng: Rng, separator: str, old: str = "") -> str:
    """A transliterated foreign name for Chinese texts, its parts around `separator`: an Indian one where `old`, the name it replaces, plainly is."""
    sort = "indian" if _INDIAN.search(old) else "foreign"
    return rng.choice(_parts("zh", f"{sort}-a")) + separator + rng.choice(_parts("zh", f"{sort}-b"))


def same_shape(code: str, rng: Rng, keep: int = 0) -> str:
    """A code of the same shape: digits for digits, letters for letters of the same case; the first `keep` characters and all signs stay.

    The letters O and I are left out, as references avoid them.
    """
    letters = "ABCDEFGHJKLMNPQRSTUVWXYZ"
    made = []
    for place, char in enumerate(code):
        if place < keep:
            made.append(char)
        elif char.isdigit() and char.isascii():
            made.append(str(rng.below(10)))
        elif char.isalpha() and char.isascii():
            letter = rng.choice(letters)
            made.append(letter if char.isupper() else letter.lower())
        else:
            made.append(char)
    return "".join(made)
