"""Chinese questions and answers. A wording is kept with "{r}" where the place can be named; nothing stands there when it is understood."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dialmill.perturbers.core.rng import Rng

SLOT = "{r}"
_OWN = re.compile(
    r"(?:贵|本|该|你们|您|咱们)(?:酒店|餐厅|饭店|店里|店|景区|景点|医院|家|这里|那里|馆)|你们|您们|咱们|这里|这儿|(?:这|那)(?:家|个|款|部|趟|班)(?:酒店|餐厅|景点|医院|店|车|剧|电影|班)?"
)
_POLITE = re.compile(r"^(?:请问一下|请问|你好|您好|想问一下|我想问|打听一下)[，,。!！]*")
_OPENING = re.compile(
    r"^(是的|可以的?|能的?|有的?|没有|不可以|不能|不行|需要的?|不需要|不用|对的?|不是|不|要的?|行的?|提供的?|方便|适合|抱歉|很抱歉)[，,。！!]\s*"
)
#: What only says on which terms something can be had, and doesn't say that it can.
_ON_TERMS = re.compile(r"需要|要|得|提前|先")
_GRANTS = frozenset(("可以", "可以的", "能", "能的", "有", "有的", "行的", "提供", "提供的"))
#: What a question has to say for an opening to answer it; a "no" answers all.
_ANSWERS = (
    (re.compile(r"^(?:可以|能|行)"), re.compile(r"可以|能|行|支持|让|准|得了|得上|得进")),
    (re.compile(r"^(?:有)"), re.compile(r"有|没(?:有)?$|带")),
    (re.compile(r"^(?:需要|要|不需要|不用)"), re.compile(r"要|用|得|必须")),
    (re.compile(r"^提供"), re.compile(r"提供")),
    (re.compile(r"^方便"), re.compile(r"方便|方不方便")),
    (re.compile(r"^适合"), re.compile(r"适合|适不适合")),
)
_END = re.compile(r"(?:吗|么|呢|啊|呀|不|没|没有|吧)[？?。!！]*$")
_FORMAL = frozenset("吗么呢啊呀吧有没不能可以需要用得是否提供给让准允许的了，。？?！ ")
#: Nouns of one character; and what a noun may end on that a wording goes on with ("那里" and "里面").
_HEADS, _ENDS = frozenset("车剧班"), frozenset("车里班店")
#: Ways to ask that mean the same: pattern, replacement.
_FORMS = (
    (re.compile(r"^(.*?)有没有(.+?)[？?]?$"), (r"\1有\2吗", r"\1有\2没")),
    (re.compile(r"^(.*?)(?:是否|能否)(.+?)[？?]?$"), (r"\1能不能\2", r"\1可以\2不")),
    (re.compile(r"^((?:(?!有).)*?)(?<!不)可以(.+?)吗[？?]?$"), (r"\1能\2吗", r"\1能不能\2")),
    # Who asks whether something will do says it whole first: nothing else may stand before the verb, and the verb not alone.
    (re.compile(r"^(\{r\})?(?<!不)可以(.{3,6})吗[？?]?$"), (r"\1\2行不行", r"\1\2可以不")),
    (re.compile(r"^((?:(?!有).)*?)(?<!不)能(?!不)(.+?)吗[？?]?$"), (r"\1可以\2吗", r"\1能不能\2")),
    (re.compile(r"^(.*?)提供(.+?)吗[？?]?$"), (r"\1有\2吗", r"\1有没有\2")),
    (re.compile(r"^(.*?)(?<!没)有(.+?)吗[？?]?$"), (r"\1有没有\2", r"\1有\2没")),
    (re.compile(r"^(.*?)需要(.+?)吗[？?]?$"), (r"\1要不要\2", r"\1要\2吗")),
    # "To have to" wants a verb.
    (re.compile(r"^(.*?)需要((?:交|提前|自己|买|预|带|办|排|订|付|换).+?)吗[？?]?$"), (r"\1得\2吗", r"\1用不用\2")),
    (re.compile(r"^(.*?)允许(.+?)吗[？?]?$"), (r"\1让\2吗", r"\1准不准\2")),
)


def content(text: str) -> frozenset[str]:
    """The characters of a wording without those of its form (particles, "have", "can", the place), as a set."""
    return frozenset(text.replace(SLOT, "")) - _FORMAL


def canonical(title: str, name: str | None) -> str:
    """A title with the place's name, or what stands for it, as "{r}"; in front where it has none."""
    text = _POLITE.sub("", "".join(title.split()) if re.search("[\u3400-\u9fff]", title) else title.strip())
    plain = "".join((name or "").split())
    if plain and plain in text:
        text = text.replace(plain, SLOT, 1)
    else:
        text = _OWN.sub(SLOT, text, count=1)
    text = text.rstrip("？?。！!")
    return text if SLOT in text else SLOT + text


def reworded(text: str, rng: Rng) -> str:
    """A wording in another form of question."""
    fitting = [(pattern, forms) for pattern, forms in _FORMS if pattern.match(text)]
    if not fitting:
        return text
    pattern, forms = rng.choice(fitting)
    return pattern.sub(rng.choice(forms), text, count=1)


#: Questions that can stand inside another one: they ask for something, or whether or not, and end on no particle.
_EMBEDDED = re.compile(r"什么|几|多少|怎么|哪|多久|多长|有没有|还是|(.)[不没]\1")
_PARTICLE = re.compile(r"[吗么呢啊呀吧没不]$")


def embeds(text: str) -> bool:
    """Whether a question can stand inside another sentence ("you know whether")."""
    return "，" not in text and _EMBEDDED.search(text) is not None and _PARTICLE.search(text) is None


def head(noun: str) -> str:
    """What a noun names, without "this" and its measure word; "" for words of a place in general."""
    named = re.sub(r"^(?:[这那]|他们)[个家款台部趟班]?", "", noun)
    return named if len(named) > 1 or named in _HEADS else ""


def refer(text: str, noun: str, heads: Iterable[str] = ()) -> str:
    """A wording with the place called `noun`, "" where it is understood.

    Args:
        text: the wording in the plain form.
        noun: what the place is called, a name or a noun.
        heads: what its nouns name; a wording that speaks of one of them needs no noun.
    """
    if SLOT not in text:
        return text
    if any(one in text for one in heads) and not needs_name(text):
        noun = ""
    before, _, after = text.partition(SLOT)
    if noun and after.startswith(noun[-2:]):
        noun = noun[:-2]
    elif noun and noun[-1] in _ENDS and after.startswith(noun[-1]):
        noun = noun[:-1]
    if noun and not before and _PERSON.match(after):
        after = f"，{after}"  # "他们家朋友" would be the friends of their family
    said = before + noun + after.replace(SLOT, "")
    if not noun:
        said = re.sub(r"(?:在|去|到|带到|对|从机场到|放|住)(?=[，]|里|里头|里面|$)", "", said)
        said = re.sub(r"(?<=[带能])去(?=吗|不|行)", "去", said)
    return said


#: Who does something there: right behind a place's name they would be the place's own.
_PERSON = re.compile(r"(?:我的?)?(?:女|男)?(?:朋友|孩子|小孩|宝宝|老人|家人|家属|家长|客人|亲戚|爸|妈|爷爷|奶奶|老婆|老公)(?!餐|套|房|票|卡|椅|乐)")


def needs_name(text: str) -> bool:
    """Whether a wording can't be said without naming the place: a verb or preposition stands before it."""
    return re.search(r"(?:在|去|到|对|放|住|用|带|进|坐|看|买|开开|于)\{r\}|\{r\}(?:的|上(?!网|车|楼|课|了几)|里(?![面头]))", text) is not None


def is_yes_no(question: str) -> bool:
    """Whether a question is answered by yes or no."""
    return _END.search(question) is not None or re.search(r"有没有|能不能|可不可以|是不是|让不让|要不要|行不行|准不准|给不给", question) is not None


def _answers(opening: str, question: str) -> bool:
    """Whether "yes, there is" or "yes, you can" answers what was asked."""
    asked = question.rstrip("？?。！!")
    return all(wanted.search(asked) is not None for said, wanted in _ANSWERS if said.match(opening))


def answer(body: str, question: str, aligned: bool, name: str | None, noun: str, rng: Rng) -> str:
    """What the system says: the body, answer first, its first sentence or two; "we" is put as "they"."""
    text = "".join(body.split()) if re.search("[\u3400-\u9fff]", body) else body.strip()
    opening = _OPENING.match(text)
    if opening and not (is_yes_no(question) and aligned and _answers(opening[1], question)):
        stripped = text[opening.end() :]
        granted = is_yes_no(question) and aligned and _ON_TERMS.match(stripped) and opening[1] in _GRANTS
        text = f"可以的，{stripped}" if granted else stripped if len(stripped) > 3 else text
    plain = "".join((name or "").split())
    if plain and noun and plain in text:
        text = text.replace(plain, noun, 1)
    text = re.sub(r"我们(?:酒店|餐厅|店|家|医院|这里)?|本(?:店|酒店|餐厅|院|景区)", noun or "他们那边", text, count=1)
    text = re.sub(r"我们(?:这里)?|本店", "他们", text)
    sentences = re.findall(r"[^。！？!?]+[。！？!?]?", text)
    kept = sentences[0] if sentences else text
    for sentence in sentences[1:]:
        if len(kept) >= 16 or (len(kept) >= 8 and rng.chance(0.3)):
            break
        kept += sentence
    return kept if kept.endswith(("。", "！", "？")) else kept.rstrip(".!?；;，,") + "。"
