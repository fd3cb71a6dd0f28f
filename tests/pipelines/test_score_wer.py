"""`dialmill score wer`: rates against jiwer, conditions from the lineage, values by slot, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialmill.pipelines.cli.main import main
from dialmill.pipelines.core.errors import InputError, UsageError
from dialmill.pipelines.scoring import wer
from dialmill.pipelines.stages.word_errors import count, report
from dialmill.schemas import Dialogue, SkippedTurn, Span, Step, Turn
from dialmill.schemas.dialogue import encode
from hypothesis import given
from hypothesis import strategies as st

WORDS = st.lists(st.sampled_from(["a", "hotel", "east", "please", "book", "yes", "north"]), min_size=1, max_size=8).map(" ".join)


def heard(pairs: list[tuple[str, str]], language: str = "en", **step: object) -> Dialogue:
    """A dialogue whose user turns were said and heard as given."""
    turns: list[Turn] = []
    for number, (said, text) in enumerate(pairs):
        turns.append(Turn(2 * number, "user", text, original=None if said == text else said))
        turns.append(Turn(2 * number + 1, "system", "ok"))
    lineage = (Step("speech@3", 1, {}, "changed", **step),)  # type: ignore[arg-type]
    return Dialogue(
        dialogue_id="d/speech/0", source="test", source_id="d", suite="speech", language=language, split="test", turns=tuple(turns), lineage=lineage
    )


def folder(path: Path, *dialogues: Dialogue, suite: str = "speech", split: str = "test") -> str:
    target = path / "dialogues" / suite / f"{split}.jsonl"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"".join(encode(one) + b"\n" for one in dialogues))
    return str(path)


@given(st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5))
def test_the_rate_is_that_of_jiwer(tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]) -> None:
    jiwer = pytest.importorskip("jiwer")
    found = wer.score(folder(tmp_path_factory.mktemp("gold"), heard(pairs)), None)
    said, got = map(list, zip(*pairs, strict=True))
    assert found["metrics"]["wer_raw"] == pytest.approx(jiwer.wer(said, got))
    assert found["metrics"]["wer"] == pytest.approx(jiwer.wer(said, got))
    assert found["counts"]["turns"] == len(pairs)


def test_chinese_counts_characters_and_numbers_are_read_out(tmp_path: Path) -> None:
    found = wer.score(folder(tmp_path, heard([("我要去北京", "我要去背景"), ("谢谢", "谢谢")], "zh")), "speech")
    assert found["metrics"]["cer"] == found["metrics"]["wer"] == pytest.approx(2 / 7)
    spoken = wer.score(folder(tmp_path / "en", heard([("at 7 pm please", "at seven pm please")])), "speech")
    assert spoken["metrics"]["wer"] == 0 and spoken["metrics"]["wer_raw"] == pytest.approx(1 / 4)


def test_conditions_and_values(tmp_path: Path) -> None:
    one = heard(
        [("in the east", "in the yeast"), ("thank you", "thank you")],
        reasons=("voice: en-gb", "noise: pink", "turn 0: 4.25 dB"),
        skipped=(SkippedTurn(2, "asr_failed"),),
    )
    turn = one.turns[0].replace(
        spans=(Span(7, 12, "yeast", "hotel", "area", "east", "changed"), Span(None, None, None, "hotel", "type", "hotel", "lost"))
    )
    found = wer.score(folder(tmp_path, one.replace(turns=(turn, *one.turns[1:]))), "speech")
    assert found["by"]["noise"]["pink"]["rate"] == found["metrics"]["wer"] == pytest.approx(1 / 5)
    assert found["by"]["snr"] == {"3 to 6 dB": {**found["by"]["snr"]["3 to 6 dB"], "turns": 1, "length": 3}}
    assert found["values"]["hotel-area"] == {"kept": 0, "changed": 1, "lost": 0}
    assert found["values"]["hotel-type"]["lost"] == 1
    assert found["counts"]["turns_that_failed"] == 1


def test_dialogues_that_the_level_was_tuned_on_are_told_apart(tmp_path: Path) -> None:
    one, other = heard([("in the east", "in the yeast")]), heard([("thank you", "thank you")])
    gold = folder(tmp_path, one, other.replace(source_id="e", dialogue_id="e/speech/0"))
    tuned = {"speech": {"1": {"en": {"snr": {"pink": 9.0}, "dialogues": ["d"]}}}}
    (tmp_path / "manifest.json").write_text(json.dumps({"speech": {"transcribed": {}, "tuned": tuned}}), "utf-8")
    parts = wer.score(gold, "speech")["by"]["tuning"]
    assert (parts["took part"]["rate"], parts["held out"]["rate"]) == (pytest.approx(1 / 3), 0.0)
    counts: dict[str, dict[str, int]] = {}
    count(one.replace(lineage=(one.lineage[0].replace(reasons=("voice: en-gb", "noise: pink")),)), "speech", 1, counts, {"other"})
    assert report(counts)["speech"]["en"]["by"]["tuning"]["held out"]["length"] == 3


def test_inserted_turns_have_no_reference(tmp_path: Path) -> None:
    one = heard([("hello there", "hello there"), ("what is love", "watt is love")])
    turns = (*one.turns[:2], one.turns[2].replace(labels=("inserted",)), *one.turns[3:])
    assert wer.score(folder(tmp_path, one.replace(turns=turns)), "speech")["metrics"]["wer"] == 0


def test_held_out_labels_are_looked_for(tmp_path: Path) -> None:
    full = heard([("in the east", "in the yeast")])
    blind = full.replace(turns=tuple(turn.replace(original=None) for turn in full.turns))
    folder(tmp_path, blind)
    folder(tmp_path / "labels", full)
    assert wer.score(str(tmp_path), "speech")["metrics"]["wer"] == pytest.approx(1 / 3)


def test_what_is_refused(tmp_path: Path) -> None:
    gold = folder(tmp_path, heard([("a", "b")]))
    with pytest.raises(InputError, match="has no suite nothing"):
        wer.score(gold, "nothing")
    with pytest.raises(InputError, match="no dialogues/SUITE"):
        wer.score(str(tmp_path / "dialogues"), None)
    with pytest.raises(InputError, match=r"has no dialogues/speech/valid\.jsonl"):
        wer.score(gold, "speech", "valid")
    folder(tmp_path, heard([("a", "b")]), suite="more")
    with pytest.raises(UsageError, match="more, speech"):
        wer.score(gold, None)
    folder(tmp_path, heard([("我", "你")], "zh"), suite="more", split="train")
    with pytest.raises(InputError, match="mixes en and zh"):
        wer.score(gold, "more")
    (tmp_path / "dialogues" / "speech" / "train.jsonl").write_text('{"turns": 3}\n')
    with pytest.raises(InputError, match="line 1"):
        wer.score(gold, "speech")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = folder(tmp_path, heard([("in the east", "in the yeast")]))
    assert (
        main(["score", "wer", "--gold", gold, "--suite", "speech", "--json", str(tmp_path / "wer.json"), "--markdown", str(tmp_path / "wer.md")]) == 0
    )
    assert json.loads((tmp_path / "wer.json").read_text())["metrics"]["wer"] == pytest.approx(1 / 3)
    assert "wer" in capsys.readouterr().out and "| wer |" in (tmp_path / "wer.md").read_text()
    assert main(["score", "wer", "--gold", gold, "--predictions", gold]) == 2
