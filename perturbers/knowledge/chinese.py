"""Chinese questions and answers. A wording is kept with "{r}" where the place can be named; nothing stands there when it is understood."""

from __future__ import annotations

import re

from ..rng import Rng

SLOT = "{r}"
_OWN = re.compile(
    r"(?:贵|本|该|你们|您|咱们)(?:酒店|餐厅|饭店|店里|店|景区|景点|医院|家|这里|那里|馆)|你们|您们|咱们|这里|这儿|(?:这|那)(?:家|个|款|部|趟|班)(?:酒店|餐厅|景点|医院|店|车|剧|电影|班)?"
)
_POLITE = re.compile(r"^(?:请问一下|请问|你好|您好|想问一下|我想问|打听一下)[，,。!！]*")
_OPENING = re.compile(r"^(?:是的|可以的?|能的?|有的?|没有|不可以|不能|不行|需要的?|不需要|不用|对的?|不是|不|要的?|行的?|抱歉|很抱歉)[，,。！!]\s*")
_END = re.compile(r"(?:吗|么|呢|啊|呀|不|没|没有|吧)[？?。!！]*$")
_FORMAL = frozenset("吗么呢啊呀吧有没不能可以需要用得是否提供给让准允许的了，。？?！ ")
#: Ways to ask that mean the same: pattern, replacement.
_FORMS = (
    (re.compile(r"^(.*?)有没有(.+?)[？?]?$"), (r"\1有\2吗", r"\1有\2没")),
    (re.compile(r"^(.*?)(?:是否|能否)(.+?)[？?]?$"), (r"\1能不能\2", r"\1可以\2不")),
    (re.compile(r"^(.*?)(?<!不)可以(.+?)吗[？?]?$"), (r"\1能\2吗", r"\1能不能\2", r"\1\2行不行")),
    (re.compile(r"^(.*?)(?<!不)能(?!不)(.+?)吗[？?]?$"), (r"\1可以\2吗", r"\1能不能\2")),
    (re.compile(r"^(.*?)提供(.+?)吗[？?]?$"), (r"\1有\2吗", r"\1给不给\2")),
    (re.compile(r"^(.*?)(?<!没)有(.+?)吗[？?]?$"), (r"\1有没有\2", r"\1有\2没")),
    (re.compile(r"^(.*?)需要(.+?)吗[？?]?$"), (r"\1要不要\2", r"\1得\2吗", r"\1用\2不")),
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


def refer(text: str, noun: str) -> str:
    """A wording with the place called `noun`, "" where it is understood."""
    said = text.replace(SLOT, noun, 1).replace(SLOT, "")
    if not noun:
        said = re.sub(r"(?:在|去|到|带到|对|从机场到|放|住)(?=[，]|里|里头|里面|$)", "", said)
        said = re.sub(r"(?<=[带能])去(?=吗|不|行)", "去", said)
    return said


def needs_name(text: str) -> bool:
    """Whether a wording can't be said without naming the place: a verb or preposition stands before it."""
    return re.search(r"(?:在|去|到|对|放|住|用|带|进|带到|开开|一节|于)\{r\}", text) is not None


def is_yes_no(question: str) -> bool:
    """Whether a question is answered by yes or no."""
    return _END.search(question) is not None or re.search(r"有没有|能不能|可不可以|是不是|让不让|要不要|行不行|准不准|给不给", question) is not None


def answer(body: str, question: str, aligned: bool, name: str | None, noun: str, rng: Rng) -> str:
    """What the system says: the body, answer first, its first sentence or two; "we" is put as "they"."""
    text = "".join(body.split()) if re.search("[\u3400-\u9fff]", body) else body.strip()
    if not (is_yes_no(question) and aligned):
        stripped = _OPENING.sub("", text)
        text = stripped or text
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
