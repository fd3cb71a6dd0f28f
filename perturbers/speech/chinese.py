"""What Chinese words are taken for: other words of the same or nearly the same pinyin, tones counting; characters only where no word fits.

Readings and words come from the table of homophones (`typing.homophones`), so that only characters of everyday use are recognised.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.tokens import chinese_words
from dialmill.perturbers.speech.language_model import Candidate, LanguageModel
from dialmill.perturbers.typing.homophones import Sound, table

#: Logarithms of weights: the same sound and tones, another tone, a pair of sounds that many speakers do not tell apart; and a part of a longer word.
_SAME, _TONE, _FUZZY, _PART = 0.0, -1.3, -2.2, -0.8
#: And of a number that sounds like another.
_NUMBER = -3.5
#: Little words, spoken without stress: they are taken for each other.
LITTLE = "的了呢吧吗啊么嘛呀得地"
#: What each of them is taken for.
_FOR_LITTLE = {
    "的": "", "了": "啦", "呢": "啊", "吧": "吗", "吗": "嘛吧", "啊": "呀", "么": "吗", "嘛": "吗", "呀": "啊", "得": "的", "地": "的",
}  # fmt: skip
#: Words that nobody can hear apart.
_ALIKE = (
    "他 她 它|他们 她们 它们|他家 她家 它家|在 再|那 哪|那里 哪里|那些 哪些|那个 哪个|那家 哪家|做 作|坐 座|订 定|预订 预定|其他 其它|"
    "带 戴|象 像|吗 嘛|么 吗|有 又|得 的"
)
_APART = {word: [other for other in group.split(" ") if other != word] for group in _ALIKE.split("|") for word in group.split(" ")}
#: What these, and little and faint words, are harder than their rarity says, in logits.
_HARDER = {"apart": 2.2, "little": 1.0}
#: Words that are spoken so faintly that they may not be recognised at all.
_FAINT = "就也都还那个我你您是有请一哦嗯要想"
#: Numbers that sound alike; others are recognised, and so are what they count.
_NUMBERS = {"一": "七", "七": "一", "四": "十", "十": "四", "六": "九", "九": "六"} | dict.fromkeys("二三五八零两百千万半幺", "")
_UNITS = "点分元块度岁号月日年星米折"
#: What comes in where nothing was said.
_COMING_IN = ("的", "了", "就", "个", "一", "那", "嗯", "啊")
#: The weights of a word itself among what it is taken for, if a recogniser can know it and if not, and of a little or faint word that is not
#: recognised.
_ITSELF, _ITSELF_UNKNOWN = math.exp(-8.5), math.exp(-12.0)
_GONE, _GONE_FAINT = math.exp(-3.5), math.exp(-6.0)
#: From this weight of words themselves on there are so few errors that also what makes little sense is recognised.
_STILL_FEW = math.exp(5.0)
#: By what the weight of a character of a name is multiplied.
_PART_OF_NAME = math.exp(10.0)
#: The weight of the language model, and what a character more is worth to it.
_LANGUAGE, _BY_CHARACTER = 1.0, 4.0
#: A word itself has at most so many times the weight of all that it is taken for, if it is a rare one; twice as many for every class of rarity below.
_AT_MOST, _OFTEN = 1.2, 6
#: The share to which what is recognised for a word is levelled at most.
_LEAST_SHARE = 0.4
#: Weights of candidates that are kept at most.
_REMEMBERED = 200_000
_CANDIDATES = 12
#: Words met so often in jieba's texts are words of their own in longer ones.
_FREQUENT = 300
#: Characters that are words of their own in what people say to assistants; others that stand side by side are a name.
_WORDS = frozenset(
    "我你您他她它咱俩们这那哪有没无是的了吗呢吧啊么嘛呀哦嗯恩哈喂呗啦哎呃额好行对想要去来找查看玩吃住坐订定买说问谢多少几个家间位张份部款台次班站店楼号天点分元块"
    "钱人大小高低贵快慢早晚远近新旧最很挺太真就也都还再又才只不别请帮给把被让跟和与或及从到在于往向离比为以用按因但而且如若能会可得该需带叫打选上下里外内前后左右中"
    "东西南北线门口车票房床餐饭菜酒茶水火片剧集课里时候日月年周号度岁等过着地道做作走开关停放送接约付拿换改加算拍演播放听记写读学教考病药热冷晴雨雪风云长短宽厚重轻"
    "难易美丑啥咋谁先后然则即使每各某另其此该本全共约近将已正刚曾连并更越较特极十百千万亿零一二三四五六七八九两半幺第双单只条件样种类所座辆趟套杯碗瓶盘碟"
)  # fmt: skip


def segments(characters: Sequence[str]) -> list[int]:
    """Where the words of an utterance begin, and its length. What is no Chinese character is a word of its own."""
    bounds = [0]
    reached = 0
    for run in _runs(characters):
        if len(run) == 1:
            reached += 1
            bounds.append(reached)
            continue
        for word in _cut("".join(run)):
            reached += len(word)
            bounds.append(reached)
    return bounds


def in_dictionary(word: str) -> bool:
    """Whether jieba's dictionary has a word; what it has not are names, or what names are cut into."""
    return bool(chinese_words().FREQ.get(word))


def _parts(word: str) -> tuple[str, ...]:
    """A word of four characters as the two frequent words that it is made of, if it is ("苏州旅游")."""
    if len(word) == 4 and min(chinese_words().FREQ.get(half, 0) for half in (word[:2], word[2:])) >= _FREQUENT:
        return word[:2], word[2:]
    return (word,)


def _named(cut: Sequence[str]) -> Iterator[str]:
    """Words of a text with single characters that follow each other taken together, since they are names, but for those that are words."""
    name = ""
    for word in cut:
        if len(word) == 1 and word not in _WORDS:
            name += word
            continue
        if name:
            yield name
            name = ""
        yield word
    if name:
        yield name


@lru_cache(maxsize=65536)
def _cut(text: str) -> tuple[str, ...]:
    return tuple(_named([part for word in chinese_words().cut(text, HMM=False) for part in _parts(word)]))


def _runs(characters: Sequence[str]) -> Iterator[list[str]]:
    """Runs of Chinese characters; anything else by itself."""
    run: list[str] = []
    for char in characters:
        if len(char) == 1 and "\u4e00" <= char <= "\u9fff":
            run.append(char)
            continue
        if run:
            yield run
            run = []
        yield [char]
    if run:
        yield run


def everyday(text: str) -> bool:
    """Whether a text has only characters of GB 2312."""
    try:
        text.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=16384)
def _read(character: str) -> Sound | None:
    """The sound of a character that the table of frequent ones has not; None for what is no Chinese character."""
    from pypinyin import Style, pinyin

    ((reading,),) = pinyin(character, style=Style.TONE3, neutral_tone_with_five=True, errors="ignore") or [[""]]
    return Sound(reading[:-1], reading[-1]) if reading[-1:].isdigit() else None


def levelled(weights: Sequence[float], texts: Sequence[str], said: str, most: float) -> list[float]:
    """The weights with that of no other text but "" above a share of them all; what is above it falls to what was said."""
    limit = most * sum(weights)
    new = [min(weight, limit) if text and text != said else weight for weight, text in zip(weights, texts, strict=True)]
    return [weight + (sum(weights) - sum(new) if text == said else 0.0) for weight, text in zip(new, texts, strict=True)]


class ChineseHearing:
    """What is recognised for Chinese words, one after the other."""

    def __init__(self, model: LanguageModel, rarity: Mapping[str, int]) -> None:
        self._model = model
        self._rarity = rarity
        self._insertions: dict[tuple[str, str], list[float]] = {}
        self._drawn: dict[tuple[str, bool, float, str, str], tuple[list[str], list[float]]] = {}
        self.near = lru_cache(maxsize=65536)(self._find_near)

    def over(self, model: LanguageModel) -> ChineseHearing:
        """The same with another language model."""
        return ChineseHearing(model, self._rarity)

    def length(self, word: str) -> int:
        """The number of its characters, twice, since each has two sounds."""
        return 2 * len(word)

    def harder(self, word: str) -> float:
        """By how much a word is harder than its rarity says, in logits."""
        return _HARDER["apart"] if word in _APART else _HARDER["little"] if word in LITTLE else 0.0

    def _find_near(self, text: str, alone: bool = True) -> tuple[Candidate, ...]:
        """Texts of as many characters for a word, with weights by sound; never what was said."""
        if alone and text in _APART:
            return tuple(Candidate(one, 1.0) for one in _APART[text])
        if any(char in _NUMBERS for char in text) or text in _UNITS:
            if any(char not in _NUMBERS and char not in _UNITS for char in text):
                return ()
            alike = {
                text[:place] + other + text[place + 1 :]
                for place, char in enumerate(text)
                for other in _NUMBERS.get(char, "")
                # 一十 and 四五万 for 十五万 say no number, or one that is written otherwise.
                if not ("十" in (char, other) and (text[place + 1 : place + 2] in _NUMBERS or text[place - 1 : place] in _NUMBERS))
            }
            return tuple(Candidate(one, math.exp(_NUMBER)) for one in sorted(alike))
        found = dict(self._whole(text, alone))
        if len(text) > 1 and len(found) < 3:
            # No word sounds like it: a part of a longer word is taken for another word, and of a name any character for one that sounds alike.
            name = not in_dictionary(text)
            for size in (2, 1) if len(text) > 2 else (1,):
                for place in range(len(text) - size + 1 if name or size == 2 else 0):
                    for part, weight in self._whole(text[place : place + size], alone=False):
                        found.setdefault(text[:place] + part + text[place + size :], weight + _PART)
                if found and size == 2:
                    break
        found.pop(text, None)
        best = sorted(found.items(), key=lambda one: (-one[1], one[0]))[:_CANDIDATES]
        return tuple(Candidate(one, math.exp(weight)) for one, weight in sorted(best) if everyday(one))

    def _whole(self, text: str, alone: bool = True) -> list[tuple[str, float]]:
        """Words for a whole word of one or two characters."""
        if len(text) == 1 and alone and text not in LITTLE and text in _WORDS:
            # A word of one character that everybody says is known by what stands beside it.
            return []
        if len(text) == 1 and text in LITTLE and alone:
            return [(char, _TONE) for char in _FOR_LITTLE.get(text, "")]
        if len(text) == 1 and text not in table().sounds:
            sound = _read(text)
            same, other, fuzzy = table().like(sound, text) if sound else ([], [], [])
        else:
            (same, other), fuzzy = table().same(text), table().fuzzy(text)
        found = [(one, _SAME) for one in same] + [(one, _TONE) for one in other] + [(one, _FUZZY) for one in fuzzy]
        return found

    def recognise(
        self, said: Sequence[str], known: Sequence[bool], most: Sequence[float], itself: float, left: str, right: str, rng: Rng
    ) -> list[str]:
        """What is recognised for a run of words, each chosen by the characters on both sides."""
        found: list[str] = []
        before = left
        for place, word in enumerate(said):
            after = said[place + 1] if place + 1 < len(said) else right
            if len(word) > 1 and not in_dictionary(word):
                text = self._name(word, before, after, rng)
            else:
                text = self._draw(word, known[place], itself, most[place], before, after, rng)
            if text:
                found.append(text)
                before = text if len(text) > 1 else (before[-1:] if before != "<s>" else before) + text
        return found

    def _name(self, word: str, left: str, right: str, rng: Rng) -> str:
        """What is recognised for a name that a recogniser does not know: character by character whatever sounds alike."""
        made = ""
        for place, char in enumerate(word):
            before = (("" if left == "<s>" else left) + made) if made else left
            made += self._draw(char, False, _PART_OF_NAME, 1.0, before, word[place + 1 :] or right, rng, alone=False)
        return made

    def _draw(self, word: str, known: bool, itself: float, most: float, left: str, right: str, rng: Rng, alone: bool = True) -> str:
        left = left if left == "<s>" else left[-2:]
        right = right if right == "</s>" else right[:2]
        key = (word, alone, round(itself, 3) * (1 if known else -1), left, right)
        drawn = self._drawn.get(key)
        if drawn is None:
            if len(self._drawn) > _REMEMBERED:
                self._drawn.clear()
            options = {one.text: one.weight for one in self.near(word, alone)}
            options[word] = (_ITSELF if known else _ITSELF_UNKNOWN) * itself
            if word in LITTLE:
                options[""] = _GONE
            elif word in _FAINT:
                options[""] = _GONE_FAINT
            weights = [weight * self._fit(left, text, right) for text, weight in options.items()]
            own = list(options).index(word)
            most_times = _AT_MOST if word in _APART or word in LITTLE else _AT_MOST * 2.0 ** max(0, _OFTEN - self._rarity.get(word, 99))
            # Where errors are still too few, what sense it makes counts less and less.
            most_times *= min(1.0, itself * _STILL_FEW)
            weights[own] = min(weights[own], most_times * (sum(weights) - weights[own]) or 1.0)
            if known:
                # Of many words of a kind not all are taken for one and the same.
                weights = levelled(weights, list(options), word, max(most, _LEAST_SHARE))
            drawn = self._drawn[key] = list(options), list(accumulate(weights))
        return rng.weighted(*drawn)

    def _fit(self, left: str, text: str, right: str) -> float:
        """The language model's weight for a text between two others."""
        line = ["<s>"] if left == "<s>" else list(left)
        first = len(line)
        line += text
        line += ["</s>"] if right == "</s>" else list(right)
        score = 0.0
        for place in range(first, len(line)):
            one = line[place - 1]
            two = line[place - 2] + one if place > 1 else ""
            score += math.log(self._model.after(two, line[place], one) if two else self._model.after(one, line[place]))
        # What stands there already is hardly ever recognised once more.
        if text and (line[first - 1] == line[first] or (right != "</s>" and right[:1] == text[-1])):
            score -= 3.0
        # A longer text is no less likely for being longer.
        return math.exp(_LANGUAGE * (score + _BY_CHARACTER * len(text)))

    def insertion(self, left: str, right: str, rng: Rng) -> str:
        """A little word that is recognised where none was said."""
        key = left if left == "<s>" else left[-2:], right if right == "</s>" else right[:2]
        steps = self._insertions.get(key)
        if steps is None:
            steps = self._insertions[key] = list(accumulate(self._fit(key[0], word, key[1]) for word in _COMING_IN))
        return rng.weighted(_COMING_IN, steps)
