"""Planted faults of every kind of cleaning in real text, in both languages: how many are found, and what is found where nothing was planted.

    python -m tests.benchmarks.bench_cleaning --real DIR [--faults 200] [--json FILE]

DIR holds the published corpora (see tests/real). For each language and kind 200 dialogues of MultiWOZ, SGD, FED and Ubuntu logs (English), of
CrossWOZ, RiSAWOZ and the E-commerce corpus (Chinese) get one fault each, worded and placed by a seeded hash; the faults are described at their
functions. `found` are those for which the check of that kind gives a reason; `falsely` are reasons of that check in the same dialogues before a fault
was planted (of which some are right: corpora have such faults); `elsewhere` are planted dialogues for which another check speaks first. Of redaction,
every kind of personal data is planted in a user turn and must be gone; `falsely` are finds in the dialogues as they are, in places that no corpus
labels as a value.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.redaction.finders import KINDS, find
from dialmill.pipelines import build
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.sources.corpus import open_corpus
from dialmill.pipelines.stages import near_copies
from dialmill.pipelines.stages.cleaning import CHECKS, fault
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import decode

#: Language -> corpora below the folder.
CORPORA = {
    "en": ("multiwoz21/convlab2/val.json.zip", "sgd/dev", "sgd/test", "fed/fed_data.json", "irc"),
    "zh": ("crosswoz/val.json.zip", "risawoz/zh_fewshot.json", "ecd_sample"),
}
Plant = Callable[[Dialogue, Rng], Dialogue | None]


class Result(NamedTuple):
    """What became of the planted faults of a kind."""

    planted: int
    found: int
    falsely: int
    elsewhere: int = 0
    missed: tuple[str, ...] = ()
    false: tuple[str, ...] = ()


def read(real: Path, language: str, corpora: Mapping[str, Sequence[str]] = CORPORA) -> list[Dialogue]:
    """The dialogues of a language's corpora that are there, each with four turns of both sides at least."""
    found: list[Dialogue] = []
    for name in corpora[language]:
        path = real / name
        if name == "irc":
            found += irc(real)
        elif path.exists():
            found += [one for one in open_corpus([str(path)], None, lambda reject: None) if one.language == language]
    return [one for one in found if len(said(one)) >= 4 and {turn.speaker for turn in said(one)} == {"user", "system"}]


def irc(real: Path) -> list[Dialogue]:
    """Ubuntu conversations, by people's reply links."""
    path = real / "irc-disentanglement" / "dev"
    if not path.exists():
        return []
    with tempfile.TemporaryDirectory() as folder:
        recipe = benchmarks.load_recipe("disentangle", None, ["links=annotated"])
        build.run(build.make_job(recipe, [str(path)], f"{folder}/out"), plain=True)
        files = sorted(Path(folder, "out", "dialogues", "standard").glob("*.jsonl"))
        return [decode(line) for file in files if file.stem != "test_hard" for line in file.read_bytes().splitlines()]


def said(dialogue: Dialogue) -> list[Turn]:
    """The turns with words."""
    return [turn for turn in dialogue.turns if turn.speaker != "other" and turn.utterance]


def with_text(dialogue: Dialogue, place: int, text: str) -> Dialogue:
    """The dialogue with another text in a turn."""
    turns = list(dialogue.turns)
    turns[place] = Turn(turns[place].turn, turns[place].speaker, text)
    return dialogue.replace(turns=tuple(turns))


def inserted(dialogue: Dialogue, place: int, *turns: tuple[str, str]) -> Dialogue:
    """The dialogue with turns (speaker, text) put in before a place."""
    every = [(turn.speaker, turn.utterance) for turn in dialogue.turns]
    every[place:place] = turns
    return dialogue.replace(turns=tuple(Turn(number, who, text) for number, (who, text) in enumerate(every)))  # type: ignore[arg-type]


def some_turn(dialogue: Dialogue, rng: Rng, fits: Callable[[Turn], bool] = lambda turn: True) -> Turn | None:
    """A turn that fits, at random."""
    fitting = [turn for turn in said(dialogue) if fits(turn)]
    return rng.choice(fitting) if fitting else None


def _at_word(text: str, language: str, rng: Rng) -> int:
    """Where a word begins or a text ends, at random."""
    from dialmill.perturbers.core.tokens import tokens

    return rng.choice([*(start for start, _ in tokens(text, language)), len(text)])


def plant_encoding(dialogue: Dialogue, rng: Rng) -> Dialogue | None:
    """A turn decoded as something else: Chinese as Latin-1, Windows-1252 or GBK (whole turns); English with quotation marks or an accented word."""
    turn = some_turn(dialogue, rng, lambda turn: dialogue.language == "en" or any(char.isalpha() and not char.isascii() for char in turn.utterance))
    if turn is None:
        return None
    text = turn.utterance
    if dialogue.language == "zh":
        wrong = rng.choice((("utf-8", "latin-1"), ("utf-8", "cp1252"), ("utf-8", "gbk"), ("gbk", "latin-1")))
        return with_text(dialogue, turn.turn, text.encode(wrong[0], "ignore").decode(wrong[1], "replace"))
    odd = rng.choice((" café", " naïve", " “quoted”", " it’s", " –", " Zürich", " £5", " señor", " jalapeño"))
    place = _at_word(text, "en", rng)
    whole = f"{text[:place].rstrip()}{odd} {text[place:]}".strip()
    kind = rng.choice(("cp1252", "latin-1", "gbk"))
    return with_text(dialogue, turn.turn, whole.encode().decode(kind, "replace"))


def plant_escapes(dialogue: Dialogue, rng: Rng) -> Dialogue | None:
    """A turn whose escapes nobody undid: HTML's, or those of JSON."""
    turn = some_turn(dialogue, rng, lambda turn: len(turn.utterance) > 3)
    if turn is None:
        return None
    if rng.chance(0.5):
        text = f"{turn.utterance} 你好"
        return with_text(dialogue, turn.turn, text.encode("unicode_escape").decode())
    return with_text(dialogue, turn.turn, f"{turn.utterance} {rng.choice(('&amp;', '&quot;', '&#39;', '&nbsp;', '&lt;b&gt;'))}")


def plant_control(dialogue: Dialogue, rng: Rng) -> Dialogue | None:
    """A control character, a sign of direction or without width, or a token of a program, between two characters."""
    turn = some_turn(dialogue, rng)
    if turn is None:
        return None
    place = rng.below(len(turn.utterance) + 1)
    odd = rng.choice(("\x00", "\x07", "\x1b[31m", "\x08", "\u200b", "\u202e", "\ufeff", "\u0085", " ###STOP### ", "<|im_end|>", " [INST] ", "</s>"))
    return with_text(dialogue, turn.turn, f"{turn.utterance[:place]}{odd}{turn.utterance[place:]}")


def plant_empty(dialogue: Dialogue, rng: Rng) -> Dialogue | None:
    """A turn that says nothing."""
    turn = some_turn(dialogue, rng)
    return (
        None if turn is None else with_text(dialogue, turn.turn, rng.choice(("", " ", "...", "。", "-", "\u3000", "null", "[empty]", "…", ". . .")))
    )


def _words(turn: Turn) -> int:
    return max(len(turn.utterance.split()), sum(map(str.isalnum, turn.utterance)) // 2)


def _is_long(turn: Turn, dialogue: Dialogue) -> bool:
    """Whether a line is no set phrase: four words, or eight characters of Chinese."""
    return sum(map(str.isalnum, turn.utterance)) >= 8 if dialogue.language == "zh" else len(turn.utterance.split()) >= 4


def plant_repeats(dialogue: Dialogue, rng: Rng) -> Dialogue | None:
    """A turn said twice: posted again at once, or by the same side after the other's answer; once in three without its last mark."""
    turn = some_turn(dialogue, rng, lambda turn: _words(turn) > 2)
    if turn is None:
        return None
    again = turn.utterance.rstrip(" .?!。？！") if rng.chance(1 / 3) else turn.utterance
    # Short lines come again now and then, with the other's between: "Hi there.", "Which one?"
    after = 1 if rng.chance(0.5) or turn.turn + 2 > len(dialogue.turns) or not _is_long(turn, dialogue) else 2
    return inserted(dialogue, turn.turn + after, (turn.speaker, again))


def plant_loops(dialogue: Dialogue, rng: Rng) -> Dialogue | None:
    """A system that answers three or four times with one line, to whatever the user says."""
    line = some_turn(dialogue, rng, lambda turn: turn.speaker == "system" and _is_long(turn, dialogue))
    if line is None:
        return None
    users = [turn.turn + 1 for turn in said(dialogue) if turn.speaker == "user"]
    for place in sorted(rng.sample(users, 3), reverse=True):
        dialogue = inserted(dialogue, place, ("system", line.utterance))
    return dialogue if len(users) > 2 else None


def plant_length(dialogue: Dialogue, rng: Rng) -> Dialogue | None:
    """A dialogue cut to one turn, one in which all but one turn are of one side, or one with a pasted text."""
    turns = said(dialogue)
    kind = rng.below(3)
    if kind == 0:
        return dialogue.replace(turns=(Turn(0, turns[0].speaker, turns[0].utterance),))
    if kind == 1:
        one = [turn for turn in turns if turn.speaker == "system"]
        mine = [Turn(0, "user", turns[0].utterance), *(Turn(number, "system", turn.utterance) for number, turn in enumerate(one + one + one, 1))]
        return dialogue.replace(turns=tuple(mine)) if len(mine) > 5 else None
    pasted = " ".join(turn.utterance for turn in turns)
    while (len(pasted) if dialogue.language == "zh" else len(pasted.split())) < 900:
        pasted += " " + pasted
    return with_text(dialogue, turns[-1].turn, pasted)


_INSULTS = {
    "en": "you fucking moron|what a bitch|this is bullshit|go to hell|f**k this|you are a retard|Shitty service|kill yourself|you idiot|sh1t"
    "|you're such an asshole|piss off|stupid cunt|WTF you motherfuckers|dumbass bot|son of a bitch"
    "|f u c k|shiiit|n1gger|you c*nt|bloody wanker|s.h.i.t|fat pussy|fagg0t",
    "zh": "你这个傻逼|滚蛋|妈的，真烦|你是不是智障|操你妈|你去死吧|真是个废物|王八蛋|神经病啊你|你个贱人|tmd|你他妈的快点|白痴|狗屁服务|你脑残吗"
    "|混蛋|我操|卧槽|傻B客服|兔崽子|你全家死光|不要脸|畜牲|狗b",
}


def plant_offensive(dialogue: Dialogue, rng: Rng) -> Dialogue | None:
    """An insult or a curse in front of a turn, behind it, or in place of it."""
    turn = some_turn(dialogue, rng)
    if turn is None:
        return None
    insult, text = rng.choice(_INSULTS[dialogue.language].split("|")), turn.utterance
    comma = "，" if dialogue.language == "zh" else ", "
    return with_text(dialogue, turn.turn, rng.choice((f"{insult}{comma}{text}", f"{text}{comma}{insult}", insult)))


def plant_language(foreign: Mapping[str, Sequence[list[str]]]) -> Plant:
    """The turns of a dialogue in another language in place of all turns, or four of them in place of four."""

    def plant(dialogue: Dialogue, rng: Rng) -> Dialogue | None:
        texts = rng.choice(foreign[rng.choice(sorted(name for name in foreign if name != dialogue.language))])
        turns = said(dialogue)
        begin, end = (0, len(turns)) if rng.chance(0.5) else (start := rng.below(max(1, len(turns) - 3)), start + 4)
        for place, turn in enumerate(turns[begin:end]):
            dialogue = with_text(dialogue, turn.turn, texts[place % len(texts)])
        return dialogue

    return plant


def plant_copy(dialogue: Dialogue, rng: Rng) -> Dialogue | None:
    """A copy with other ids: as it is, without its last turn, with one word of a turn left out, or with capitals and marks gone."""
    kind, turns = rng.below(4), list(said(dialogue))
    if kind == 1 and len(turns) > 6:
        turns = turns[:-1]
    elif kind == 2:
        turn = rng.choice(turns)
        place, text = turns.index(turn), turn.utterance
        cut = _at_word(text, dialogue.language, rng)
        turns[place] = Turn(turn.turn, turn.speaker, text[:cut].rstrip() + " " + text[cut + 2 :])
    elif kind == 3:
        turns = [Turn(turn.turn, turn.speaker, turn.utterance.lower().replace(",", "").replace("，", " ")) for turn in turns]
    name = f"{dialogue.source_id} again"
    numbered = tuple(Turn(number, turn.speaker, turn.utterance) for number, turn in enumerate(turns))
    return dialogue.replace(dialogue_id=name, source_id=name, turns=numbered, split=rng.choice(("train", "test", None)))


def check(some: Sequence[Dialogue], name: str, plant: Plant, faults: int, seed: int = 1) -> Result:
    """Plants a fault in each of so many dialogues, and looks what a check says of them before and after."""
    planted = found = falsely = elsewhere = 0
    missed, false = [], []
    for dialogue in some:
        if planted == faults:
            break
        made = plant(dialogue, Rng(seed, "plant", name, plant.__name__, dialogue.source_id))
        if made is None:
            continue
        planted += 1
        before, after, first = fault(dialogue, [name]), fault(made, [name]), fault(made, CHECKS)
        falsely += before is not None
        found += after is not None
        elsewhere += first is not None and after is not None and first.reason != after.reason
        if before is not None:
            false.append(f"{dialogue.source_id}: {before.reason}: {before.evidence}")
        if after is None:
            odd = next((new.utterance for old, new in zip(dialogue.turns, made.turns, strict=False) if old.utterance != new.utterance), "")
            missed.append(f"{dialogue.source_id}: {odd}")
    return Result(planted, found, falsely, elsewhere, tuple(missed), tuple(false))


def copies(some: Sequence[Dialogue], faults: int, seed: int = 1) -> Result:
    """Copies among all dialogues, without those that are near copies already (`elsewhere` counts them: FED has replies of one conversation, and the
    sample of the E-commerce corpus has one file twice): found are the pairs of which one goes, falsely the dialogues that go for another's sake."""
    before = removed(some)
    some = [one for one in some if one.source_id not in before]
    planted = []
    for dialogue in some[:faults]:
        made = plant_copy(dialogue, Rng(seed, "plant", near_copies.CHECK, dialogue.source_id))
        if made is not None:
            planted.append(made)
    gone = removed([*some, *planted])
    pairs = {one.source_id: one.source_id.removesuffix(" again") for one in planted}
    missed = tuple(sorted(name for name, source in pairs.items() if name not in gone and source not in gone))
    wrong = [f"{name}: {kept}" for name, kept in sorted(gone.items()) if name.removesuffix(" again") != kept.split("\t")[0].removesuffix(" again")]
    return Result(len(planted), len(planted) - len(missed), len(wrong), len(before), missed, tuple(wrong))


def removed(some: Sequence[Dialogue]) -> dict[str, str]:
    """The near copies that go: id -> what stays, and how like it is."""
    marked: dict[str, list[bytes]] = {}
    for dialogue in some:
        for key, packed in near_copies.marks(dialogue):
            marked.setdefault(key, []).append(packed)
    gatherer, stage = near_copies.GatherCopies(), near_copies.CompareMarked()
    state = gatherer.create()
    for group in marked.items():
        for _, item in stage.process(group):
            state = gatherer.add(state, item)
    return {name: f"{kept.source_id}\t{similarity:.2f}" for name, (kept, similarity) in gatherer.extract_output(state).items()}


_PERSONAL: Mapping[str, Mapping[str, Sequence[str]]] = {
    "email": {"": ("ann.lee@mail.org", "j_smith99@uni-bonn.de", "info@my-shop.co.uk", "LI.WEI@163.com", "bob+x@gmail.com")},
    "url": {"": ("https://www.foo-bar.org/a?b=1", "www.mysite.net", "http://10.fresh.io/x", "shop.example.de/cart", "ftp://files.host.com/f.txt")},
    "ip": {"": ("10.34.7.201", "192.168.0.14", "2001:db8:85a3::8a2e:370:7334", "172.16.254.1")},
    "card": {"": ("4111 1111 1111 1111", "5500-0000-0000-0004", "340000000000009", "6011000000000004", "4012888888881881")},
    "iban": {"": ("DE89370400440532013000", "GB82 WEST 1234 5698 7654 32", "FR1420041010050500013M02606", "NL91ABNA0417164300")},
    "phone": {
        "en": ("01223 358966", "+44 20 7946 0958", "07700 900123", "(415) 555-2671", "+49 30 901820"),
        "zh": ("13812345678", "010-62781234", "+86 138 1234 5678", "0755 8651 2345", "138-1234-5678"),
    },
    "id": {"": ("TNIP68UH", "7GAWK763", "X4B-99KL-2", "AB12CD34", "QZ7731PL")},
    "name": {
        "en": ("my name is Sarah Connor", "this is Tom Baker", "I'm Priya Natarajan", "my name is Li Wei"),
        "zh": ("我叫王小明", "我的名字是李雷", "我叫欧阳娜娜", "姓名：张伟"),
    },
}


def redaction(some: Sequence[Dialogue], kind: str, faults: int, seed: int = 1) -> Result:
    """Personal data of a kind between the words of a user turn."""
    planted = found = falsely = 0
    missed, false = [], []
    for dialogue in some:
        rng = Rng(seed, "plant", kind, dialogue.source_id)
        turn = some_turn(dialogue, rng, lambda turn: turn.speaker == "user")
        if planted == faults or turn is None:
            continue
        planted += 1
        language = dialogue.language
        texts = _PERSONAL[kind].get("", _PERSONAL[kind].get(language, ()))
        secret = rng.choice(texts)
        place = _at_word(turn.utterance, language, rng) if kind != "name" else len(turn.utterance)
        before, after = turn.utterance[:place].rstrip(), turn.utterance[place:].lstrip()
        comma = "，" if language == "zh" else " "
        text = (
            f"{before}{comma}{secret}{comma}{after}".strip(" ，")
            if kind != "name"
            else f"{turn.utterance}{'，' if language == 'zh' else ' '}{secret}。"
        )
        bare = secret.rpartition(" is ")[2].rpartition("I'm ")[2].removeprefix("我叫").removeprefix("我的名字是").removeprefix("姓名：")
        region = "CN" if language == "zh" else "GB"
        hit = any(bare in one.text or (one.text in bare and len(one.text) > 0.8 * len(bare)) for one in find(text, KINDS, frozenset(), region))
        found += hit
        if not hit:
            missed.append(text)
        labelled = {span.text for other in dialogue.turns for span in other.spans} | {act.value for other in dialogue.turns for act in other.acts}
        odd = [one.text for other in said(dialogue) for one in find(other.utterance, (kind,), frozenset(), region) if one.text not in labelled]  # type: ignore[arg-type]
        falsely += bool(odd)
        false += [f"{dialogue.source_id}: {one}" for one in odd]
    return Result(planted, found, falsely, 0, tuple(missed), tuple(false))


def foreign_texts(real: Path, corpora: Mapping[str, Sequence[str]] = CORPORA) -> dict[str, list[list[str]]]:
    """Language -> the texts of dialogues."""
    found = {language: [[turn.utterance for turn in said(one)] for one in read(real, language, corpora)[:300]] for language in corpora}
    path = real / "woz20"
    if path.exists():
        german = [one for one in open_corpus([str(path)], None, lambda reject: None) if one.language == "de" and fault(one, ["language"]) is None]
        found["de"] = [[turn.utterance for turn in said(one)] for one in german if len(said(one)) > 3][:300]
    return found


PLANTS: Sequence[tuple[str, str, Plant]] = (
    ("encoding", "mojibake", plant_encoding),
    ("encoding", "escapes", plant_escapes),
    ("control", "control", plant_control),
    ("empty", "empty", plant_empty),
    ("repeats", "repeats", plant_repeats),
    ("loops", "loops", plant_loops),
    ("length", "length", plant_length),
    ("offensive", "offensive", plant_offensive),
)


def measure(real: Path, language: str, faults: int, corpora: Mapping[str, Sequence[str]] = CORPORA) -> dict[str, Result]:
    """Every kind of cleaning and of redaction in one language."""
    some = read(real, language, corpora)
    # From all corpora alike: the order is a hash.
    some.sort(key=lambda one: Rng(1, "order", one.source, one.source_id).random())
    found = {label: check(some, name, plant, faults) for name, label, plant in PLANTS}
    found["language"] = check(some, "language", plant_language(foreign_texts(real, corpora)), faults)
    found["duplicates"] = copies(some, faults)
    return found | {f"redact {kind}": redaction(some, kind, faults) for kind in KINDS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--real", type=Path, required=True)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    every: dict[str, Any] = {}
    for language in CORPORA:
        found = measure(options.real, language, options.faults)
        every[language] = {kind: one._asdict() for kind, one in found.items()}
        print(f"{language:18} planted  found  falsely  another check first")
        for kind, one in found.items():
            print(f"  {kind:16} {one.planted:7} {one.found:6} {one.falsely:8} {one.elsewhere:8}")
        sys.stdout.flush()
    if options.json:
        options.json.write_text(json.dumps(every, ensure_ascii=False, indent=1), "utf-8")


if __name__ == "__main__":
    main()
