"""Out-of-scope turns: what is one, where it stands, what the system says, and which split may have it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest
from dialmill.perturbers.core.contract import OptionError
from dialmill.perturbers.core.lexicon import alternatives, rows
from dialmill.perturbers.insertion.out_of_scope import EVERYDAY, OUT_OF_DOMAIN, OutOfScope, candidates, classify, inventory, split_of
from dialmill.perturbers.insertion.replies import answers, confesses, kind_of
from dialmill.perturbers.typing.chat import phrases
from dialmill.schemas import Act, Dialogue, SlotValues, Turn
from dialmill.schemas.dialogue import decode, encode
from dialmill.schemas.validate import check_dialogue

from tests import oracle


def talk(language: str = "en", split: str | None = "test", source_id: str = "D1") -> Dialogue:
    state = (SlotValues("hotel", "area", ("north",)),)
    turns = (
        Turn(0, "user", "I need a hotel in the north .", acts=(Act("inform", "hotel", "area", "north"),), state=state),
        Turn(1, "system", "What price range ?", acts=(Act("request", "hotel", "pricerange"),)),
        Turn(2, "user", "Cheap , please .", state=(*state, SlotValues("hotel", "pricerange", ("cheap",)))),
        Turn(3, "system", "Shall I book it for you ?", acts=(Act("offerbook", "booking"),)),
        Turn(4, "user", "No , thanks .", acts=(Act("bye", "general"),), state=(*state, SlotValues("hotel", "pricerange", ("cheap",)))),
    )
    one = Dialogue(dialogue_id=f"{source_id}/standard/0", source="test", source_id=source_id, language=language, domains=("hotel",), turns=turns)
    return one.replace(split=split)


def test_b34_a_candidate_is_typed_and_only_what_nobody_serves_is_used(tmp_path: Path) -> None:
    knowledge = tmp_path / "knowledge.json"
    docs = {"0": {"title": "Do you offer a shuttle service?", "body": "No."}}
    knowledge.write_text(json.dumps({"hotel": {"1": {"name": "ELM HOUSE", "docs": docs}}}), "utf-8")
    assert classify("can you book me a train?", "en") == "other_domain"
    assert classify("is breakfast included?", "en") == "knowledge_seeking"
    assert classify("is there a shuttle service?", "en") == OUT_OF_DOMAIN
    assert classify("is there a shuttle service?", "en", str(knowledge)) == "knowledge_seeking"
    assert classify("what's the score of the match?", "en") == OUT_OF_DOMAIN
    assert classify("will it be over on monday", "en") == "names_value"
    assert classify("明天会下雨吗", "zh") == "other_domain" and classify("可以带宠物吗", "zh") == "knowledge_seeking"
    texts = tmp_path / "mixed.txt"
    texts.write_text("can you book me a train?\nis breakfast included?\nis there a shuttle service?\nwhat's the score of the match?\n", "utf-8")
    perturber = OutOfScope(texts=str(texts), knowledge=str(knowledge), train_source="mixed")
    made = [perturber.perturb(talk(split=split), seed) for seed in range(20) for split in ("train", "valid", "test")]
    used = {turn.utterance for one in made for turn in one.turns if "oos" in turn.labels}
    assert used == {"What 's the score of the match ?"} or used == {"What's the score of the match ?"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_our_own_list_is_long_has_several_topics_and_all_of_it_is_out_of_scope(language: str) -> None:
    own = candidates("", language)
    assert inventory("", language) == {OUT_OF_DOMAIN: len(own)} and len(own) >= 400
    assert len({one.source for one in own}) >= 5 and phrases("en")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_text_stands_in_two_splits_and_train_takes_half_of_one_source(language: str) -> None:
    own = candidates("", language)
    training = "|".join(sorted(EVERYDAY))
    places = {one.text: split_of(one, training) for one in own}
    first = [one for one in own if one.source in EVERYDAY]
    assert 0.35 < sum(places[one.text] == "train" for one in first) / len(first) < 0.65
    assert all(places[one.text] == "test" for one in own if one.source not in EVERYDAY)
    assert len({one.source for one in own} - EVERYDAY) >= 4
    assert "test" in {places[one.text] for one in first}
    said: dict[str, set[str]] = {}
    for number in range(150):
        for split in ("train", "valid", "test"):
            made = OutOfScope().perturb(talk(language, split, f"D{number}"), 1)
            said.setdefault(split, set()).update(turn.utterance.casefold() for turn in made.turns if "oos" in turn.labels)
    assert not said["train"] & said["test"] and not said["train"] & said["valid"] and not said["valid"] & said["test"]
    assert len(said["train"]) > 15 and len(said["test"]) > 30


def test_the_state_is_carried_on_and_the_rest_is_untouched() -> None:
    for seed in range(40):
        made = OutOfScope(most=2).perturb(talk(), seed)
        assert check_dialogue(made) == [] and oracle.inserted(talk(), made) == []
        assert [turn.turn for turn in made.turns] == list(range(len(made.turns)))
        own = [turn for turn in made.turns if not turn.inserted]
        assert [turn.replace(turn=number) for number, turn in enumerate(own)] == list(talk().turns)
        for turn, answer in zip(made.turns, made.turns[1:], strict=False):
            if "oos" in turn.labels:
                before = [one for one in made.turns[: turn.turn] if one.speaker == "user"][-1]
                assert turn.state == before.state and turn.labels == ("inserted", "oos", "oos_out_of_domain") and turn.acts == ()
                assert answer.labels == ("inserted", "fallback") and answer.acts[0].act == "fallback" and answer.original is None
                assert f"inserted: turns {turn.turn} and {answer.turn}: oos_out_of_domain, source " in " ".join(made.lineage[-1].reasons)


def test_the_fallback_comes_back_to_what_was_asked() -> None:
    seen = set()
    for seed in range(60):
        made = OutOfScope().perturb(talk(), seed)
        place = next(turn.turn for turn in made.turns if "oos" in turn.labels)
        answer, before = made.turns[place + 1], made.turns[place - 1]
        if before.utterance.startswith("What"):
            assert "price range" in answer.utterance and answer.acts[1:] == before.acts
        else:
            assert answer.utterance.endswith("Shall I book it for you ?")
        seen.add(before.utterance)
        firsts = {re.sub(r"\W", "", one).casefold() for kind, _, cell in rows("en", "fallbacks") if kind == "sorry" for one in alternatives(cell)}
        assert any(re.sub(r"\W", "", answer.utterance).casefold().startswith(first) for first in firsts) and "can't" not in answer.utterance
        seen.add(before.utterance)
    assert seen == {"What price range ?"}, "nobody changes the subject at a farewell"


@pytest.mark.parametrize(("language", "domain", "other"), [("en", "hotel", "train"), ("zh", "酒店", "火车"), ("en", "hotels_4", "restaurant")])
def test_talk_lies_near_the_domain_that_is_spoken_of(language: str, domain: str, other: str) -> None:
    near = {one.text.casefold().rstrip("."): one.domains for one in candidates("", language) if one.domains}
    assert len({name for names in near.values() for name in names}) > 10
    source = talk(language)
    turns = tuple(turn.replace(acts=tuple(Act(act.act, domain, act.slot, act.value) for act in turn.acts)) for turn in source.turns)
    met: list[tuple[str, ...]] = []
    total = 0
    for number in range(200):
        made = OutOfScope().perturb(source.replace(turns=turns, source_id=f"D{number}"), 1)
        for turn in made.turns:
            if "oos" in turn.labels:
                total += 1
                plain = turn.utterance.replace(" ?", "").replace(" .", "").replace(" '", "'").casefold().rstrip(".?")
                met += [near[text] for text in near if plain.endswith(text.rstrip("?"))][:1]
    assert 0.2 < len(met) / total < 0.6
    assert all(domain.partition("s_")[0] in {name.removesuffix("s") for name in names} | set(names) for names in met)
    assert any(other not in names for names in met)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_answer_fits_what_was_said(language: str) -> None:
    kinds = {one.text.casefold(): one.source for one in candidates("", language)}
    answers: dict[str, set[str]] = {}
    for number in range(300):
        made = OutOfScope().perturb(talk(language, "test", f"D{number}"), 1)
        for turn, answer in zip(made.turns, made.turns[1:], strict=False):
            if "oos" in turn.labels:
                source = kinds.get(turn.utterance.casefold().replace("...", "").replace(" .", "").replace(" ?", ""), "?")
                answers.setdefault(source, set()).add(answer.utterance)
    half, aside = ("half", "aside") if language == "en" else ("半句", "旁话")
    assert answers[half] and answers[aside] and not answers[half] & answers[aside]
    said = ("catch", "rest of", "first part", "broke off", "cut off") if language == "en" else ("没听", "没说完")
    assert all(any(word in answer for word in said) for answer in answers[half])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_another_topic_is_introduced_and_takes_the_place_of_no_answer(language: str) -> None:
    others = {one.text.casefold() for one in candidates("", language) if not one.domains and one.source not in ("half", "aside", "半句", "旁话")}
    source = talk(language)
    told = tuple(turn.replace(utterance="Fine .", acts=()) if turn.turn in (1, 3) else turn for turn in source.turns)
    for waiting, turns in ((True, source.turns), (False, told)):
        met = 0
        for number in range(200):
            made = OutOfScope().perturb(source.replace(turns=turns, source_id=f"D{number}"), 1)
            for turn in made.turns:
                if "oos" in turn.labels:
                    plain = re.sub(r" (?=['.,?!:])", "", turn.utterance.casefold()).rstrip(".?？。")
                    found = [text for text in others if plain.endswith(text.rstrip(".?？。"))]
                    met += bool(found)
                    assert not any(plain == text.rstrip(".?？。") for text in found), turn.utterance
        assert (met == 0) == waiting


def replies_by_kind(language: str, told: bool = False) -> dict[str, set[tuple[str, str]]]:
    """(what the user said, the reply) of many inserted turns by the kind of what was said; `told`: where the system has asked nothing."""
    known = {re.sub(r"\W", "", one.text).casefold(): one for one in candidates("", language)}
    source = talk(language)
    if told:
        source = source.replace(turns=tuple(turn.replace(utterance="Fine .", acts=()) if turn.turn in (1, 3) else turn for turn in source.turns))
    found: dict[str, set[tuple[str, str]]] = {}
    for number in range(700):
        made = OutOfScope().perturb(source.replace(source_id=f"D{number}", split=("train", "valid", "test")[number % 3]), 2)
        for turn, answer in zip(made.turns, made.turns[1:], strict=False):
            if "oos" in turn.labels:
                plain = re.sub(r"\W", "", turn.utterance).casefold()
                one = known.get(plain) or next((one for text, one in known.items() if plain.endswith(text)), None)
                if one is not None:
                    kind = one.kind or kind_of(one.text, language)
                    said = re.sub(r" (?=['.,!?])", "", turn.utterance), re.sub(r" (?=['.,!?])|(?<=\w) (?=n't)", "", answer.utterance)
                    found.setdefault(kind, set()).add(said)
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_to_somebody_else_are_answered_as_such_and_only_an_apology_as_one(language: str) -> None:
    own = candidates("", language)
    asides = [one for one in own if one.source in ("aside", "旁话")]
    assert {one.kind for one in asides} == {"sorry", "wait", "other", "care", "hear", "noise"} and not any(
        one.kind not in ("", "sad") for one in own if one not in asides
    )
    found = replies_by_kind(language)
    forgives = r"No problem|No worries\b|worry about|all right\." if language == "en" else "没关系|没事儿|不要紧"
    elsewhere = "meant for me|somebody else|wasn't for me" if language == "en" else "不是[跟对]我说|您先忙|旁边的人"
    for kind in ("other", "care", "hear"):
        assert len(found[kind]) > (10 if kind == "other" else 0)
        for said, answer in found[kind]:
            assert not re.match(forgives, answer), (said, answer)
    assert all(re.search(elsewhere, answer) for _, answer in found["other"])
    assert not any(re.search(elsewhere, answer) for kind in found if kind not in ("other", "wait") for _, answer in found[kind])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_is_declined_where_nothing_was_asked_for(language: str) -> None:
    declines = r"\b(?:can't|cannot|nothing I can do|not something|beyond|outside)\b" if language == "en" else "帮不|没办法|插不上|做不了|查不到"
    found = {kind: replies_by_kind(language)[kind] | replies_by_kind(language, told=True).get(kind, set()) for kind in ("remark",)}
    assert len(found["remark"]) > 40
    assert not [(said, answer) for said, answer in found["remark"] if re.search(declines, answer)]
    for kind in ("question", "request", "bot"):
        assert not set(answers(language, "sorry", kind)) & set(answers(language, "sorry", "remark"))


def test_nothing_is_said_that_takes_for_granted_what_never_happened() -> None:
    for language, wrong in (("en", r"\bnot you\b|for you$|bore you|wrong button|my voice$|you sound"), ("zh", "没说你|发给你|手滑")):
        assert not [one.text for one in candidates("", language) if re.search(wrong, one.text)]


@pytest.mark.parametrize(
    ("text", "language", "weakness"),
    [
        ("i am terrible at reading maps", "en", True),
        ("i always cry when i hear an organ", "en", True),
        ("my neighbour has bought a trampoline", "en", False),
        ("i am thinking about moving to the countryside", "en", False),
        ("我从小就怕打针。", "zh", True),
        ("我老忘带牙刷。", "zh", True),
        ("我老公从来不肯陪我逛街。", "zh", False),
        ("验证码一直收不到。", "zh", False),
        ("我妈参加合唱团了。", "zh", False),
    ],
)
def test_only_a_weakness_is_confessed(text: str, language: str, weakness: bool) -> None:
    assert confesses(text) == weakness
    leads = answers(language, "intro", "confession")
    assert len(leads) >= 4 and not any(set(leads) & set(answers(language, "intro", kind)) for kind in ("question", "request", "remark", "open"))
    assert not any("before I forget" in one for kind in ("question", "request", "remark") for one in answers(language, "intro", kind))


def test_a_remark_in_place_of_an_answer_is_led_in_to() -> None:
    near = {re.sub(r"\W", "", one.text).casefold() for one in candidates("", "en") if one.domains and kind_of(one.text, "en") == "remark"}
    found = replies_by_kind("en")["remark"]
    assert found and not [said for said, _ in found if re.sub(r"\W", "", said).casefold() in near]


@pytest.mark.parametrize(("domain", "wrong"), [("餐馆", "酒店"), ("出租", "酒店"), ("汽车", "餐厅")])
def test_it_comes_back_to_the_domain_of_the_turn_before(domain: str, wrong: str) -> None:
    turns = (
        Turn(0, "user", "一", acts=(Act("Inform", wrong, "名称", "x"),)),
        Turn(1, "system", "二", acts=(Act("Inform", wrong, "名称", "x"),)),
        Turn(2, "user", "三", acts=(Act("Request", domain, "电话"),)),
        Turn(3, "system", "四", acts=(Act("Inform", domain, "电话", "y"),)),
        Turn(4, "user", "五", acts=(Act("Request", domain, "地址"),)),
        Turn(5, "system", "六", acts=(Act("Inform", domain, "地址", "z"),)),
    )
    source = Dialogue(dialogue_id="D/standard/0", source="test", source_id="D", language="zh", domains=(wrong, domain), turns=turns)
    checked = 0
    for number in range(100):
        made = OutOfScope().perturb(source.replace(source_id=f"D{number}", dialogue_id=f"D{number}/standard/0"), 1)
        for turn, answer in zip(made.turns, made.turns[1:], strict=False):
            if "oos" in turn.labels and made.turns[turn.turn - 1].utterance in "四六":
                checked += 1
                assert wrong not in answer.utterance, answer.utterance
    assert checked > 20


def test_no_half_sentence_corrects_the_system() -> None:
    for language in ("en", "zh"):
        for one in candidates("", language):
            if one.source in ("half", "半句"):
                assert not re.search(r"不对|我说的是|我的意思|i meant|scratch that|what i mean|you said", one.text), one.text


def test_it_reads_clinc_plain_text_and_our_own_records(tmp_path: Path) -> None:
    clinc, plain, records = tmp_path / "data_full.json", tmp_path / "quips.txt", tmp_path / "other.jsonl"
    lists = {"oos_train": [["how tall is the tower", "oos"]], "train": [["what is my balance", "balance"]], "oos_test": [["name a poet", "oos"]]}
    clinc.write_text(json.dumps(lists), "utf-8")
    plain.write_text("tell me a riddle\n\ntell me  a riddle\n", "utf-8")
    other = talk().replace(source="kvret", turns=(Turn(0, "user", "play me the blues now"), Turn(1, "system", "Ok")))
    records.write_bytes(encode(other) + b"\n")
    assert decode(records.read_bytes().strip()).source == "kvret"
    found = candidates(f"{clinc}|{plain}|{records}", "en")
    assert [one[:2] for one in found] == [
        ("how tall is the tower", "clinc"),
        ("name a poet", "clinc"),
        ("tell me a riddle", "quips"),
        ("play me the blues now", "kvret"),
    ]


def test_chance_and_what_it_says_of_those_left_alone() -> None:
    made = [OutOfScope(chance=0.5).perturb(talk(source_id=f"D{number}"), 1) for number in range(80)]
    left = [one for one in made if one.lineage[-1].outcome == "skipped"]
    assert 20 < len(left) < 60 and all(one.lineage[-1].skipped[0].reason == "not_chosen" for one in left)


@pytest.mark.parametrize("options", [{"most": 0}, {"chance": 0.0}, {"chance": 1.1}, {"texts": "/no/such.txt"}, {"knowledge": "/no/such.json"}])
def test_options_out_of_range(options: dict[str, object]) -> None:
    with pytest.raises(OptionError, match="out_of_scope"):
        OutOfScope(**options)  # type: ignore[arg-type]


def test_a_train_source_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("tell me a riddle\n", "utf-8")
    with pytest.raises(OptionError, match="there are: a"):
        OutOfScope(texts=str(tmp_path / "a.txt"), train_source="b")


def test_golden() -> None:
    made = [OutOfScope(most=2).perturb(talk(source_id=f"D{number}"), 3) for number in range(10)]
    digest = hashlib.sha256("\n".join(turn.utterance for one in made for turn in one.turns).encode()).hexdigest()
    assert digest[:16] == "37775a6874ce7eec", "raise OutOfScope.version where a change of its output is meant"
