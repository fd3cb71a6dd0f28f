"""Knowledge-seeking turns: bases that are read or refused, where questions stand, how they are worded, and that one snippet alone answers them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import OptionError, get
from dialmill.perturbers.core import lexicon
from dialmill.perturbers.insertion.knowledge import (
    AMBIGUOUS,
    SEEKING,
    Entity,
    Knowledge,
    KnowledgeBase,
    KnowledgeError,
    chinese,
    english,
    entity_label,
    load,
    own_base,
)
from dialmill.perturbers.insertion.knowledge.perturber import is_held_out
from dialmill.perturbers.insertion.knowledge.table import Names, mentions, spots
from dialmill.perturbers.insertion.knowledge.topics import answered_by_database, question_key, topic_of, topics, usable
from dialmill.perturbers.insertion.knowledge.wording import halves
from dialmill.perturbers.insertion.turns import Pair, gaps, insert
from dialmill.schemas import Act, Dialogue, Snippet, Turn
from hypothesis import given
from hypothesis import strategies as st

from tests.pipelines.tools import DATA

BASES = sorted((DATA / "dstc9_track1").glob("*.json"))


def document(*titles: str, body: str = "No, {} are not allowed here.") -> dict[str, Any]:
    return {str(number): {"title": title, "body": body.format(title)} for number, title in enumerate(titles)}


def base_of(**hotels: dict[str, Any]) -> KnowledgeBase:
    """A base of hotels: name (with _ for blanks) -> documents."""
    entities = {str(number): {"name": name.replace("_", " "), "docs": docs} for number, (name, docs) in enumerate(hotels.items())}
    return KnowledgeBase.from_dict({"hotel": entities})


def write(path: Path, base: KnowledgeBase) -> str:
    path.write_text(json.dumps(base.to_dict()), "utf-8")
    return str(path)


def talk(*turns: tuple[str, list[Act]], split: str = "test") -> Dialogue:
    made = tuple(Turn(number, "system" if number % 2 else "user", text, acts=tuple(acts)) for number, (text, acts) in enumerate(turns))
    return Dialogue(dialogue_id="d/standard/0", source="multiwoz21", source_id="d", domains=("hotel",), turns=made, split=split)  # type: ignore[arg-type]


def offer(*names: str) -> tuple[str, list[Act]]:
    return f"How about {' or '.join(names)}?", [Act("recommend", "hotel", "name", name) for name in names]


ASK = ("I need a place to stay.", [Act("inform", "hotel", "type", "hotel")])
ON = ("Please tell me the address.", [Act("request", "hotel", "address")])
LAST = ("It is in Mill Lane.", [Act("inform", "hotel", "address", "Mill Lane")])
PETS, POOL = "Are pets allowed?", "Is there a swimming pool?"


# ------------------------------------------------------------------ bases


@pytest.mark.parametrize("path", BASES, ids=lambda path: path.stem)
def test_bases_of_our_own_are_sound(path: Path) -> None:
    base = load(str(path))
    assert not base.repeated and len(base) > 80
    assert KnowledgeBase.from_dict(base.to_dict()).entities == base.entities
    eval_base = load(str(path.with_name(path.stem.removesuffix("_eval") + "_eval.json")))
    assert {key: one.snippets for key, one in base.entities.items()}.items() <= {key: one.snippets for key, one in eval_base.entities.items()}.items()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_base_that_comes_along_can_be_asked_about(language: str) -> None:
    base = own_base(language)
    allowed, refused = usable(base, language)
    assert refused == {} and sum(map(len, allowed.values())) == len(base) > 60


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "empty"),
        ('{"hotel": ', "cut off"),
        ("[]", "expected an object"),
        ('{"hotel": {"a1": {"name": "x", "docs": {}}}}', "digits"),
        ('{"hotel": {"1": {"name": 3, "docs": {}}}}', "name"),
        ('{"hotel": {"1": {"name": "x"}}}', "docs"),
        ('{"hotel": {"1": {"name": "x", "docs": {"one": {"title": "t", "body": "b"}}}}}', "digits"),
        ('{"hotel": {"1": {"name": "x", "docs": {"1": {"title": " ", "body": "b"}}}}}', "title"),
        ('{"hotel": {"1": {"name": "x", "docs": {}}}}', "no snippets"),
    ],
)
def test_what_is_no_base_is_refused_with_its_place(content: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "knowledge.json"
    path.write_text(content, "utf-8")
    with pytest.raises(KnowledgeError, match=told) as refusal:
        load(str(path))
    assert str(path) in str(refusal.value)
    with pytest.raises(OptionError, match=told):
        get("knowledge").from_options({"knowledge": str(path)})


def test_identifiers_are_whole_and_strings_inside() -> None:
    """Entity 1 is not 11; labels have numbers, or "*"."""
    base = KnowledgeBase.from_dict(
        {"hotel": {"1": {"name": "Elm House", "docs": document("a?", "b?")}, "11": {"name": "Oak", "docs": document("c?")}}}
    )
    gold = base.find("hotel", "1", "0")
    assert gold is not None and [one.title for one in base.same_entity(gold)] == ["b?"]
    assert base.find("hotel", "1", "5") is None and base.find("hotel", "111", "0") is None
    assert entity_label("1") == 1 and entity_label("*") == "*"


def test_two_files_may_not_hold_one_entity(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", base_of(Elm=document(PETS)))
    with pytest.raises(KnowledgeError, match="another of the files"):
        load(f"{path}|{path}")


# ------------------------------------------------------------------ what can be asked


def test_what_the_database_answers_is_refused() -> None:
    """A hotel's row says internet: yes."""
    wifi = Snippet("hotel", "1", "0", "Is wifi available?", "Yes.")
    assert answered_by_database(wifi, "en") == answered_by_database(wifi, "en", {"internet": "yes"}) == "internet"
    assert answered_by_database(wifi, "en", {"parking": "yes"}) is None
    for title in ("Is parking free?", "How much is the wifi?", "Do I need to reserve a parking space?", PETS):
        assert answered_by_database(wifi.replace(title=title), "en") is None
    assert answered_by_database(wifi.replace(domain="train"), "en") is None
    assert answered_by_database(Snippet("酒店", "1", "0", "有停车场吗？", "有。"), "zh") == "停车场"
    assert answered_by_database(Snippet("酒店", "1", "0", "停车收费吗？", "收。"), "zh") is None


def test_two_snippets_of_an_entity_that_answer_one_question_are_refused() -> None:
    """Of two snippets with one title it can't be said which answers."""
    base = base_of(Elm=document(PETS, "Do you take dogs?", POOL, "Is there a sauna?", "Is there a sauna?", "Is wifi available?"))
    allowed, refused = usable(base, "en")
    assert [one.title for one in allowed["hotel", "0"]] == [POOL]
    assert refused == {"two_snippets_fit": 2, "title_twice": 2, "answerable_by_db": 1}
    assert len(base.repeated) == 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_topics_are_sound(language: str) -> None:
    for topic in topics(language):
        assert len(set(topic.wordings)) == len(topic.wordings) >= 2
        sides = halves(f"{language} {topic.name}", topic.wordings)
        assert sides["train"] and sides["test"] and set(sides["train"]).isdisjoint(sides["test"])
        assert set(sides["train"]) | set(sides["test"]) == set(topic.wordings)


def test_a_wording_is_never_another_topic_s() -> None:
    seen: dict[str, str] = {}
    for language in ("en", "zh"):
        for topic in topics(language):
            for wording in topic.wordings:
                assert seen.setdefault(wording, topic.name) == topic.name


@pytest.mark.parametrize(
    ("title", "domain", "topic"),
    [
        ("Is parking free?", "hotel", "parking_cost"),
        ("Do you need a reservation to park?", "hotel", "parking_reserve"),
        ("Can I bring my bike on the train?", "train", "bike_on_train"),
        ("Are there safety deposit boxes?", "hotel", "safe_box"),
        ("Is a deposit required?", "hotel", "security_deposit"),
        ("What time is check-out?", "hotel", "checkout_time"),
        ("Do you have high chairs for babies?", "restaurant", "high_chair"),
        ("Quelle heure est-il?", "hotel", None),
    ],
)
def test_titles_find_their_topic(title: str, domain: str, topic: str | None) -> None:
    found = topic_of(title, domain, "en")
    assert (found and found.name) == topic


def test_an_entity_s_name_says_nothing_of_the_topic() -> None:
    """ "... at Ann's Bed and Breakfast" is no question about breakfast, nor one that another snippet about breakfast answers."""
    title = "Is there a gym at Ann's Bed and Breakfast?"
    found = topic_of(title, "hotel", "en", "ANN'S BED AND BREAKFAST")
    assert found is not None and found.name == "gym" and topic_of(title, "hotel", "en") != found
    base = base_of(**{"Ann's_Bed_and_Breakfast": document(title, "Do you serve breakfast?")})
    assert [len(some) for some in usable(base, "en")[0].values()] == [2]


# ------------------------------------------------------------------ where


def made(dialogue: Dialogue, path: str, **options: Any) -> Dialogue:
    seed = options.pop("seed", 1)
    return Knowledge(knowledge=path, **options).perturb(dialogue, seed)


def asked(dialogue: Dialogue) -> list[Turn]:
    return [turn for turn in dialogue.turns if SEEKING in turn.labels]


def test_a_comment_stays_behind_what_it_comments_on(tmp_path: Path) -> None:
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS)))
    for comment in ("That sounds lovely. What is the address?", "Sounds good, where is it?"):
        one = made(talk(ASK, offer("Elm House"), (comment, []), LAST, ON, LAST), path, rate=1.0)
        assert all(after.utterance != comment for turn, after in zip(one.turns[1:], one.turns[2:], strict=False) if turn.inserted)
    assert made(talk(ASK, offer("Elm House"), (comment, [])), path).lineage[-1].outcome == "skipped"


def test_a_question_is_about_the_last_entity(tmp_path: Path) -> None:
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS), Oak_Court=document(POOL)))
    for seed in range(12):
        one = Knowledge(knowledge=path, most=1).perturb(talk(ASK, offer("Elm House"), ON, offer("Oak Court"), ON, LAST, ON), seed)
        (turn,) = asked(one)
        before = " ".join(each.utterance for each in one.turns[: turn.turn])
        assert turn.knowledge[0].entity_id == ("1" if "Oak Court" in before else "0")
        after = one.turns[turn.turn + 1]
        assert after.speaker == "system" and after.inserted and after.knowledge == turn.knowledge and after.utterance.strip()


def test_no_entity_in_context_is_said_so(tmp_path: Path) -> None:
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS)))
    one = made(talk(ASK, ("There are many hotels.", []), ON, LAST), path)
    assert one.lineage[-1].outcome == "skipped" and {skip.reason for skip in one.lineage[-1].skipped} == {"no_entity_in_context"}


def test_of_several_offered_at_once_one_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS), Oak_Court=document(PETS)))
    for seed in range(12):
        for turn in asked(Knowledge(knowledge=path).perturb(talk(ASK, offer("Elm House", "Oak Court"), ON), seed)):
            name = ("elm house", "oak court")[int(turn.knowledge[0].entity_id)]
            assert name in turn.utterance.lower() and AMBIGUOUS not in turn.labels


def test_of_several_offered_at_once_none_is_meant_by_the_domain_alone() -> None:
    """Snippets of a whole domain name nothing: "the hotel" would be one of two."""
    for seed in range(12):
        assert not asked(Knowledge().perturb(talk(ASK, offer("Elm House", "Oak Court"), ON), seed))
    assert any(asked(Knowledge().perturb(talk(ASK, offer("Elm House"), ON), seed)) for seed in range(12))


def test_questions_about_an_earlier_entity_are_labelled(tmp_path: Path) -> None:
    """Gold is the last offered entity's; such questions make a subset of their own."""
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS, POOL), Oak_Court=document(PETS)))
    dialogue = talk(ASK, offer("Elm House"), ON, offer("Oak Court"), ON)
    found = 0
    for seed in range(20):
        for turn in asked(Knowledge(knowledge=path, reference="pronoun").perturb(dialogue, seed)):
            late = turn.knowledge[0].entity_id == "1"
            assert (AMBIGUOUS in turn.labels) == late
            found += late
        assert all(AMBIGUOUS not in turn.labels for turn in asked(Knowledge(knowledge=path, reference="name").perturb(dialogue, seed)))
        assert all(turn.knowledge[0].entity_id == "0" for turn in asked(Knowledge(knowledge=path, ambiguous="avoid").perturb(dialogue, seed)))
        only = asked(Knowledge(knowledge=path, ambiguous="only").perturb(dialogue, seed))
        assert only and all(turn.knowledge[0].entity_id == "1" for turn in only)
    assert found


def test_a_dialogue_may_end_with_the_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS, POOL)))
    perturber = get("knowledge").from_options({"knowledge": path, "continue": "false", "most": "1"})
    one = perturber.perturb(talk(ASK, offer("Elm House"), ON, LAST, ON, LAST), 1)
    assert one.turns[-1].inserted and SEEKING in one.turns[-2].labels
    assert {skip.reason for skip in one.lineage[-1].skipped} == {"replaced_by_question"}
    assert len(one.turns) < 8


def test_rates_and_bounds(tmp_path: Path) -> None:
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS, POOL, "Is there a lift?", "What time is check-in?")))
    dialogue = talk(ASK, offer("Elm House"), *[ON, LAST] * 5)
    counts = [len(asked(Knowledge(knowledge=path, rate=rate, most=3).perturb(dialogue, seed))) for rate in (0.0, 1.0) for seed in range(8)]
    assert set(counts[:8]) <= {1, 2} and set(counts[8:]) == {3}
    some = [Knowledge(knowledge=path, chance=0.5).perturb(dialogue, seed).lineage[-1].outcome for seed in range(40)]
    assert 8 < some.count("changed") < 32


def test_manner_and_chains_are_options(tmp_path: Path) -> None:
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS, POOL, "Is there a lift?", "What time is check-in?")))
    dialogue = talk(ASK, offer("Elm House"), ON, LAST, ON)

    def texts(**options: float) -> list[list[Turn]]:
        return [asked(Knowledge(knowledge=path, reference="pronoun", rate=0.0, **options).perturb(dialogue, seed)) for seed in range(30)]  # type: ignore[arg-type]

    assert all(len(one) == 1 for one in texts(chain=0.0)) and all(len(one) >= 3 for one in texts(chain=1.0))
    plain = [len(one[0].utterance) for one in texts(chain=0.0, frame=0.0, lead=0.0)]
    led = [len(one[0].utterance) for one in texts(chain=0.0, frame=1.0, lead=1.0)]
    assert sum(led) > 1.4 * sum(plain)
    for name in ("chain", "frame", "lead"):
        with pytest.raises(OptionError, match=name):
            Knowledge(**{name: 1.5})  # type: ignore[arg-type]


def test_titles_are_seldom_repeated_word_for_word(tmp_path: Path) -> None:
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS)))
    dialogue = talk(ASK, offer("Elm House"), ON)
    said = [turn.utterance for seed in range(100) for turn in asked(Knowledge(knowledge=path, lead=0.0, frame=0.0).perturb(dialogue, seed))]
    assert sum(english.content(text) == english.content(PETS) for text in said) < 15


def test_hard_negatives_are_no_targets(tmp_path: Path) -> None:
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS)))
    dialogue = talk(ASK, offer("Elm House"), *[ON, LAST] * 4)
    labels = set()
    for seed in range(12):
        one = Knowledge(knowledge=path, most=1, hard_negatives=0.9).perturb(dialogue, seed)
        for turn in one.turns:
            if turn.inserted and turn.speaker == "user" and SEEKING not in turn.labels:
                labels.add(turn.labels[1])
                assert not turn.knowledge and ("api_question" not in turn.labels or "Mill Lane" in one.turns[turn.turn + 1].utterance)
        assert [turn for turn in one.turns if not turn.inserted] != [] and len(asked(one)) == 1
    assert labels == {"api_question", "small_talk"}


def test_what_is_known_or_held_out_is_not_asked(tmp_path: Path) -> None:
    known = base_of(Elm_House=document(PETS))
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS, POOL)))
    dialogue = talk(ASK, offer("Elm House"), ON, LAST, ON)
    for seed in range(8):
        assert {t.knowledge[0].title for t in asked(made(dialogue, path, known=write(tmp_path / "known.json", known), seed=seed))} == {POOL}
    base = load(path)
    shares = [is_held_out(one, 0.5) for one in base.snippets()]
    train = made(dialogue.replace(split="train"), path, held_out=0.5)
    unseen = made(dialogue, path, held_out=0.5, unseen=True)
    assert len(set(shares)) == 1, "an entity is held out as a whole"
    assert (train.lineage[-1].outcome, unseen.lineage[-1].outcome) == (("skipped", "changed") if shares[0] else ("changed", "skipped"))


def test_names_are_found_in_labels_and_texts() -> None:
    base = base_of(THE_GONVILLE_HOTEL=document(PETS), ROSAS_BED_AND_BREAKFAST=document(PETS), COTE=document(PETS))
    names = Names(base, "en")
    for value, entity in (("gonville", "0"), ("the gonville hotel", "0"), ("Rosa's Bed and Breakfast", "1"), ("cote", "2")):
        assert names.of_value(value) == [("hotel", entity)], value
    assert [keys[0][1] for keys, _ in names.in_text("Try Gonville Hotel, Rosa's bed and breakfast or Cote.")] == ["0", "1", "2"]
    assert list(names.in_text("i like the cote and rosas")) == []
    assert [one.key for turn in mentions(talk(ASK, ("Both are fine.", [])), names) for one in turn] == []


def test_what_the_system_said_last_is_told_apart() -> None:
    names = Names(base_of(Elm=document(PETS)), "en")
    for text, move in (
        ("Shall I book it?", "book"),
        ("Anything else?", "more"),
        ("What day would you like?", "ask"),
        ("Which day shall I book?", "ask"),
        ("It is in Mill Lane.", "tell"),
    ):
        (spot,) = spots(talk(ASK, (text, []), ON), names, [2])
        assert spot.move == move, text


# ------------------------------------------------------------------ wording


@pytest.mark.parametrize(
    ("title", "name", "plain"),
    [
        ("Does Elm House offer parking?", "ELM HOUSE", "Do they offer parking?"),
        ("Is there a lift at the Elm House?", "ELM HOUSE", "Is there a lift there?"),
        ("Do you have any pets?", "ELM HOUSE", "Do they have any pets?"),
        ("Hi, I was wondering if your hotel has a pool?", "ELM HOUSE", "They have a pool?"),
        ("Are kids allowed to check in here?", None, "Are kids allowed to check in there?"),
        ("Is this site wheelchair accessible?", "X", "Are they wheelchair accessible?"),
    ],
)
def test_titles_in_the_plain_form(title: str, name: str | None, plain: str) -> None:
    assert english.canonical(title, name) == plain


@pytest.mark.parametrize(
    ("question", "clause"),
    [
        ("Do they have wifi?", "if they have wifi"),
        ("Is there a lift there?", "if there is a lift there"),
        ("Can I bring my dog?", "if I can bring my dog"),
        ("Are pets allowed there?", "if pets are allowed there"),
        ("Does it cost anything to park?", "if it costs anything to park"),
        ("What time can I check in?", "what time I can check in"),
        ("How much is the deposit?", "how much the deposit is"),
        ("What does parking cost there?", "what parking costs there"),
        ("When do I have to be out of the room?", "when I have to be out of the room"),
        ("How much is it to leave a bicycle there?", "how much it is to leave a bicycle there"),
        ("What is the cancellation policy?", "what the cancellation policy is"),
        ("What is the noise level there?", "what the noise level is there"),
        ("When is the front desk open?", "when the front desk is open"),
        ("Can my train ticket be picked up by someone else?", "if my train ticket can be picked up by someone else"),
        ("Does the train have wifi?", "if the train has wifi"),
        ("How noisy does it get?", "how noisy it gets"),
        ("Can my 17 year old stay?", None),
        ("Should we reserve, or can we walk in?", None),
        ("Do you know if I can park there?", None),
        ("Outside?", None),
    ],
)
def test_questions_inside_other_sentences(question: str, clause: str | None) -> None:
    assert english.embedded(question) == clause


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ("Do they have wifi?", "Does Elm House have wifi?"),
        ("Could you check if they have wifi?", "Could you check if Elm House has wifi?"),
        ("Can I get a beer there?", "Can I get a beer at Elm House?"),
        ("Can I bring my dog there?", "Can I bring my dog to Elm House?"),
        ("Are they wheelchair accessible?", "Is Elm House wheelchair accessible?"),
        ("Is there a pool?", "Is there a pool?"),
    ],
)
def test_places_are_named(plain: str, said: str) -> None:
    assert english.refer(plain, "Elm House") == said


@given(st.sampled_from([wording for topic in topics("en") for wording in topic.wordings]), st.sampled_from(["the hotel", "Elm House"]))
def test_no_wording_breaks_when_the_place_is_named(wording: str, noun: str) -> None:
    said = english.refer(wording, noun)
    assert said.count(noun) <= 1
    clause = english.embedded(english.split(wording)[1])
    assert clause is None or not clause.endswith("?")


def test_answers_come_first_and_agree() -> None:
    from dialmill.perturbers.core.rng import Rng

    for seed in range(20):
        rng = Rng(seed)
        assert not english.answer("Parking is free.", "Do they charge for parking?", False, None, "", rng).lower().startswith(("yes", "no"))
        assert english.answer("Elm House does not take dogs.", "Are dogs allowed?", True, "ELM HOUSE", "", rng).split(",")[0] in (
            "No",
            "Sorry",
            "Unfortunately",
        )
        assert english.answer("Yes, we do.", "Do they have a pool?", True, None, "", rng) == "Yes, they do."
        assert not english.answer("Parking needs no reservation.", "Do they have parking?", True, None, "", rng).startswith("No")
        assert not english.answer("Wifi is free of charge.", "Is there a charge for wifi?", True, None, "", rng).startswith("Yes")
        assert "Hobsons" in english.answer("Hobsons House does not take pets.", "Do they take pets?", True, "HOBSONS HOUSE", "", rng)
        assert english.answer("No pool is here", "Is there a pool?", True, None, "", rng) == "No pool is here."
        assert chinese.answer("可以，我们店提供打包盒。", "怎么打包", False, None, "", rng).startswith("他们")


def test_chinese_nouns_frames_and_openings() -> None:
    from dialmill.perturbers.core.rng import Rng

    assert chinese.refer("{r}里面有厕所吗", "那里") == "那里面有厕所吗"
    assert chinese.refer("{r}车上能抽烟吗", "这趟车", ["车"]) == "车上能抽烟吗"
    assert chinese.refer("没带身份证还能坐{r}吗", "这趟车", ["车"]) == "没带身份证还能坐这趟车吗"
    assert chinese.needs_name("{r}的菜能打包吗") and chinese.needs_name("{r}上有插座没") and not chinese.needs_name("{r}上网要钱吗")
    assert chinese.embeds("这家店有没有包间") and not chinese.embeds("这家店有包间吗") and not chinese.embeds("我怕热，有没有空调")
    assert chinese.reworded("{r}门票买了可以退吗", Rng(1)) in ("{r}门票买了能退吗", "{r}门票买了能不能退")
    assert chinese.answer("可以，首付三成，最长分五年。", "有没有分期", True, None, "", Rng(1)).startswith("首付")
    assert chinese.answer("提供，需要提前一天预约。", "他们家有人来接吗？", True, None, "", Rng(1)) == "可以的，需要提前一天预约。"
    assert chinese.answer("可以，提前说就行。", "能试驾吗", True, None, "", Rng(1)).startswith("可以")
    assert chinese.answer("不可以，园里不让。", "让不让带狗", True, None, "", Rng(1)).startswith("不可以")


@pytest.mark.parametrize(
    ("title", "plain"),
    [
        ("可以带宠物吗？", "{r}可以带宠物吗"),
        ("贵店有包间吗？", "{r}有包间吗"),
        ("海棠酒店几点退房？", "{r}几点退房"),
        ("有原声的版本吗？", "{r}有原声的版本吗"),
    ],
)
def test_chinese_titles(title: str, plain: str) -> None:
    assert chinese.canonical(title, "海棠 酒店") == plain
    assert chinese.refer(plain, "那家酒店").startswith("那家酒店")


def test_wordings_of_train_and_test_differ(tmp_path: Path) -> None:
    path = write(tmp_path / "k.json", base_of(Elm_House=document(PETS)))
    dialogue = talk(ASK, offer("Elm House"), ON)
    texts: dict[str, set[str]] = {}
    for split in ("train", "test"):
        origins = [Knowledge(knowledge=path, reference="pronoun").perturb(dialogue.replace(split=split), seed) for seed in range(60)]
        texts[split] = {turn.utterance for one in origins for turn in asked(one) if "topic" in one.lineage[-1].reasons[0]}
    assert texts["train"] and texts["test"] and texts["train"].isdisjoint(texts["test"])


def test_questions_of_real_users_lend_their_wording(tmp_path: Path) -> None:
    base = base_of(Elm_House=document(PETS), Oak_Court=document("Can I bring my pet?"))
    path = write(tmp_path / "k.json", base)
    said = [f"Would they mind a parrot number {number}?" for number in range(9)]
    logs = [[{"speaker": "U", "text": text}] for text in said]
    labels = [{"target": True, "knowledge": [{"domain": "hotel", "entity_id": 0, "doc_id": 0}], "response": "r"} for _ in said]
    (tmp_path / "logs.json").write_text(json.dumps(logs), "utf-8")
    (tmp_path / "labels.json").write_text(json.dumps(labels), "utf-8")
    perturber = Knowledge(knowledge=path, bank=str(tmp_path), bank_share=1.0, reference="pronoun")
    texts: dict[str, set[str]] = {"train": set(), "test": set()}
    for seed in range(30):
        for split, found in texts.items():
            (turn, *_) = asked(perturber.perturb(talk(ASK, offer("Oak Court"), ON, split=split), seed))
            assert "parrot" in turn.utterance
            found.add(turn.utterance.split("number ")[1][0])
    assert texts["train"].isdisjoint(texts["test"])
    with pytest.raises(OptionError, match="needs the knowledge base"):
        Knowledge(bank=str(tmp_path))
    (tmp_path / "labels.json").write_text("[]", "utf-8")
    from dialmill.perturbers.insertion.knowledge import bank

    bank.load.cache_clear()
    with pytest.raises(KnowledgeError, match="go together"):
        Knowledge(knowledge=path, bank=str(tmp_path))


def test_an_entity_without_a_name_is_a_whole_domain() -> None:
    one = Entity("train", "*", None, (Snippet("train", "*", "1", "Can I smoke on the train?", "No."),))
    assert question_key(one.snippets[0], "en") == "topic smoking"


# ------------------------------------------------------------------ insertion


@given(st.integers(0, 4), st.booleans())
def test_pairs_are_put_in_and_all_turns_numbered(gap: int, keep: bool) -> None:
    dialogue = talk(ASK, offer("Elm House"), ON, LAST)
    made = insert(dialogue, {gap: [Pair("q?", "a.", ("l",), note="n")]}, keep)
    assert [turn.turn for turn in made.turns] == list(range(len(made.turns)))
    assert len(made.turns) == (6 if keep else gap + 2) and made.reasons == (f"inserted: turns {gap} and {gap + 1}: n",)
    assert made.turns[gap].utterance == "q?" and made.turns[gap].inserted and "l" in made.turns[gap].labels
    assert set(gaps(dialogue)) == {2}


def test_chinese_questions_of_ours_clash_with_no_finished_series_and_fit_their_answers() -> None:
    told = (Path(lexicon.__file__).parents[1] / "lexicons" / "zh" / "knowledge.json").read_text("utf-8")
    asked = (Path(lexicon.__file__).parents[1] / "lexicons" / "zh" / "questions.json").read_text("utf-8")
    wordings = "".join(row[-1] for row in lexicon.rows("zh", "questions"))
    assert not any(word in told + asked for word in ("每周一到周五", "正在拍", "明年播出", "正在筹备", "抢先看"))
    assert "字幕全" not in asked and "洗衣机" not in wordings and "新的一集" not in wordings
