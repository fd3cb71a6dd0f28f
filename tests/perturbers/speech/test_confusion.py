"""The ASR error simulator: training, drawing, files."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from dialmill.perturbers import OptionError
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.speech.align import Change
from dialmill.perturbers.speech.confusion import Model, _differing, _whole, load, write_model
from dialmill.perturbers.speech.fit.sentences import sentences
from dialmill.perturbers.speech.fit.train import learn, main, read_pairs, said_back
from dialmill.perturbers.speech.phones import _GAP, Lexicon, base_cost, guess
from dialmill.perturbers.speech.speakable import words
from dialmill.perturbers.speech.wer import corpus_rate, edit_errors


def test_learns_what_it_saw(tmp_path: Path) -> None:
    pairs = [{"ref": "我要订火车票", "hyp": "我要定火车票"}, {"ref": "我要订酒店", "hyp": "我要定酒店"}, {"ref": "你好", "hyp": "你好"}]
    (tmp_path / "pairs.jsonl").write_text("\n".join(json.dumps(pair) for pair in pairs))
    learned = learn(read_pairs(tmp_path / "pairs.jsonl", "zh"), "zh", {})
    assert learned.units["订"] == {"定": 2}
    assert learned.bigrams["我"]["要"] >= 2
    assert [rate for _, rate in learned.curve] == sorted(rate for _, rate in learned.curve)
    write_model(learned, tmp_path / "model.json.gz")
    again = load(str(tmp_path / "model.json.gz"), "zh")
    assert again.learned == learned
    with pytest.raises(OptionError, match="is for 'zh', not 'en'"):
        load(str(tmp_path / "model.json.gz"), "en")


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.jsonl").write_text('{"ref": "你好", "hyp": "你号"}\n')
    main(["--pairs", str(tmp_path / "p.jsonl"), "--language", "zh", "--output", str(tmp_path / "m.json")])
    assert "1 pairs" in capsys.readouterr().out
    (tmp_path / "bad.jsonl").write_text('{"ref": "你好"}\n')
    with pytest.raises(SystemExit) as stop:
        main(["--pairs", str(tmp_path / "bad.jsonl"), "--language", "zh", "--output", str(tmp_path / "m.json")])
    assert stop.value.code == 1
    assert "line 1" in capsys.readouterr().err


def test_no_model(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="no ASR error simulator for 'fr'"):
        load("auto", "fr")
    (tmp_path / "x").write_text("{}")
    with pytest.raises(OptionError, match="no model"):
        load(str(tmp_path / "x"))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_shipped_models_reach_their_rate(language: str) -> None:
    said = [words(text, language) for text in sentences(language, 500, 99)]
    # On an input of its own it is calibrated to that, be it harder or easier than what it was taught on.
    texts = [[word.text for word in one] for one in said]
    model = load("auto", language).for_input(texts, texts)
    for target in (0.1, 0.3):
        offset = model.offset(target)
        rate = corpus_rate(edit_errors([w.text for w in one], said_back(model, one, offset, "t", n)) for n, one in enumerate(said)).rate
        assert rate == pytest.approx(target, abs=0.035)
    assert {"command", "pairs", "pairs_sha256", "pairs_wer"} <= set(model.learned.about)


def test_rare_words_suffer_most_and_drag_no_easy_one_along() -> None:
    model = load("auto", "en")
    said = words("i want to go to kolovrat zembla on thursday", "en")
    wrong = [0] * len(said)
    for number in range(400):
        for change in model.distort(said, 0.3, Rng("rare", number)):
            for place in range(change.i, change.j):
                wrong[place] += 1
    rates = {word.text: count / 400 for word, count in zip(said, wrong, strict=True)}
    # No dictionary has them: they are all but lost, and heard as something else.
    assert min(rates["kolovrat"], rates["zembla"]) > 0.8
    assert max(rates["want"], rates["thursday"]) < 0.6
    for name in ("kolovrat", "warkworth", "xq"):
        heard = [model.distort(words(f"the {name} please", "en"), 0.6, Rng("name", name, number)) for number in range(60)]
        assert any(heard) and all(name not in change.new.split() for changes in heard for change in changes if change.i <= 1 < change.j)


def test_distances_are_edit_distances_of_phones() -> None:
    """The table of all candidates at once against the plain recurrence."""
    spelled = {"wok": "W AA K", "walk": "W AO K", "work": "W ER K", "table": "T EY B AH L", "a": "AH", "o": "OW"}
    lexicon = Lexicon(spelled, {"AA AO": 0.1}, spelled)
    for said in (("W", "AA", "K"), ("T", "AH", "L"), ("OW",), ("S", "T", "R", "AY", "K", "S")):
        for number, word in enumerate(sorted(spelled)):
            heard = spelled[word].split()
            rows = [[0.0]]
            for phone in heard:
                rows[0].append(rows[0][-1] + _GAP.get(phone, 0.8))
            for one in said:
                row = [rows[-1][0] + _GAP.get(one, 0.8)]
                for place, other in enumerate(heard):
                    changed = rows[-1][place] + lexicon.cost(one, other)
                    row.append(min(changed, rows[-1][place + 1] + _GAP.get(one, 0.8), row[-1] + _GAP.get(other, 0.8)))
                rows.append(row)
            assert lexicon.distances(said, [number])[0] == pytest.approx(rows[-1][-1])


def test_a_model_of_another_form_is_refused(tmp_path: Path) -> None:
    write_model(msgspec.structs.replace(load("auto", "en").learned, hardness=[1.0, 2.0]), tmp_path / "old.json.gz")
    with pytest.raises(OptionError, match="train it again"):
        load(str(tmp_path / "old.json.gz"), "en")


def test_keyed() -> None:
    model = load("auto", "en")
    said = words("i need a cheap hotel in the east of stevenage at 17:30", "en")
    drawn = [model.distort(said, 0.5, Rng(n)) for n in range(30)]
    assert drawn == [Model(model.learned).distort(said, 0.5, Rng(n)) for n in range(30)]
    assert len({tuple(one) for one in drawn}) > 10
    for changes in drawn:
        reached = 0
        for change in changes:
            assert reached <= change.i <= change.j <= len(said) and (change.new or change.i < change.j)
            reached = change.j
            # No written token is split: 17:30 is three words.
            assert not 0 < change.i < len(said) or said[change.i - 1][1:] != said[change.i][1:]


def test_whole_tokens() -> None:
    said = words("at 07:45 now", "en")
    texts = [word.text for word in said]
    assert texts == ["at", "seven", "forty", "five", "now"]
    assert _whole([Change(2, 3, "fourteen")], said, texts, " ") == [Change(1, 4, "seven fourteen five")]
    assert _whole([Change(0, 2, "at heaven"), Change(3, 4, "")], said, texts, " ") == [Change(0, 4, "at heaven forty")]


def test_phones() -> None:
    assert base_cost("P", "B") < base_cost("P", "S") < base_cost("P", "AA")
    assert base_cost("IH", "IH") == 0
    lexicon = Lexicon({"wok": "W AA K", "walk": "W AO K", "work": "W ER K", "table": "T EY B AH L"}, {}, ["wok", "walk", "work", "table"])
    near = [word for word, _ in lexicon.near(("W", "AA", "K"))]
    assert near[0] == "wok" and near[1] == "walk" and "table" not in near
    assert guess("cambridge")


def test_a_token_of_thousands_of_letters_takes_time_by_its_length() -> None:
    """Looking for words that sound like it took time by the cube of its length: seconds at 3,000 letters, hours at 100,000."""
    load("auto", "en").distort(words("a b", "en"), 0.3, Rng("warm"))
    took = []
    for letters in (4_000, 40_000):
        began = time.process_time()
        for start in range(3):
            load("auto", "en").distort(words("ab" * (letters // 2) + str(start), "en"), 0.9, Rng("long", start))
        took.append(time.process_time() - began)
    assert took[1] < 2 and took[1] < 40 * max(took[0], 0.05), took


def test_no_single_confusion_takes_a_large_part_of_a_words_uses() -> None:
    """ "flights" became "flight" in nearly half of its uses where all that could be recognised was weighed each time."""
    model = load("auto", "en")
    texts = [f"show me flights {way} on monday" for way in ("to boston", "from denver", "to atlanta", "and the fares", "in the morning")]
    found = Counter[tuple[str, str]]()
    for number, text in enumerate(texts * 120):
        source = words(text, "en")
        for change in model.distort(source, 0.0, Rng("share", number), 2.0):
            if change.j == change.i + 1 and " " not in change.new and change.new:
                found[source[change.i].text, change.new] += 1
    # Those that stand in all texts; names that a recogniser can't know are taken for fewer other words.
    every = {"show", "me", "flights", "monday"}
    assert max(count for (old, _), count in found.items() if old in every) < 0.08 * 5 * 120, found.most_common(5)


def test_what_is_alike_at_the_ends_of_a_run_is_no_change() -> None:
    run = ["i", "want", "a"]
    assert _differing(run, ["i", "went", "a"]) == (1, 2, ["went"])
    assert _differing(run, ["i", "want", "want", "a"]) == (2, 2, ["want"])
    assert _differing(run, ["want", "a"]) == (0, 1, [])
    assert _differing(["a", "a"], ["a"]) == (1, 2, [])
    assert _differing(run, []) == (0, 3, [])
