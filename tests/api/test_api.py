"""`import dialmill as dm`: the public API."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import get
from dialmill.pipelines.sources import registry as sources
from dialmill.schemas.dialogue import encode
from dialmill.schemas.edits import edit_text
from hypothesis import given, settings
from hypothesis import strategies as st

import dialmill as dm
from tests.pipelines.source_tools import read_paths
from tests.pipelines.tools import DATA, ROOT, call, corpus, environment, plain, records, talk

SENTENCES = {
    "en": ("I need a cheap hotel in the north", {"price": "cheap", "area": "north"}),
    "zh": ("我想在云溪区找一家便宜的酒店", {"区域": "云溪区", "价位": "便宜"}),
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the miniature corpora in it, as the current one."""
    (tmp_path / "data").symlink_to(DATA, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


#: In an order in which the example of `score` finds what that of `build` made.
FUNCTIONS = [name for name in dm.__all__ if getattr(getattr(dm, name), "__module__", "") == "dialmill.api" and name.islower()]


def test_every_example_of_the_docstrings_runs(checkout: Path) -> None:
    assert len(FUNCTIONS) >= 10
    for name in FUNCTIONS:
        (example,) = doctest.DocTestFinder().find(getattr(dm, name), name)
        result = doctest.DocTestRunner().run(example)
        assert result.attempted > 1, f"{name} has no example"
        assert result.failed == 0, name


def test_the_lines_of_the_readme_run(checkout: Path) -> None:
    (lines,) = re.findall(r"```python\n(import dialmill as dm\n.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    names: dict[str, Any] = {}
    exec(lines, names)
    assert next(names["noisy"]).suite == "typos"
    assert names["manifest"]["benchmark"] == "raddle" and (checkout / "out" / "raddle" / "manifest.json").is_file()


def test_importing_it_loads_nothing_heavy() -> None:
    heavy = ("apache_beam", "pyarrow", "jieba", "numpy", "jsonschema", "yaml")
    command = f"import sys, dialmill; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_keeps_its_slots_and_says_how_it_was_changed(language: str) -> None:
    text, slots = SENTENCES[language]
    changed = 0
    for seed in range(20):
        made = dm.noise(text, "typos:rate=0.3", slots=slots, seed=seed, language=language)
        assert {span.slot: span.text for span in made.spans} == slots
        assert all(made.text[span.start : span.end] == span.text and span.status == "kept" for span in made.spans)
        assert edit_text(text, made.edits) == made.text
        assert (made.skipped is None) == (made.text != text)
        assert made == dm.noise(text, get("typos")(rate=0.3), slots=slots, seed=seed), "the language is told from the text"
        changed += made.text != text
    assert changed >= 15


@pytest.mark.parametrize("name", dm.list_perturbers())
@pytest.mark.parametrize("slots", [None, {"price": "cheap"}, {"price": ["cheap", "便宜"]}])
@settings(max_examples=15)
@given(
    text=st.one_of(st.text(max_size=30), st.sampled_from([one for one, _ in SENTENCES.values()])),
    language=st.sampled_from([None, "en", "zh", "de", "zh-CN"]),
)
def test_any_text_comes_back_changed_or_with_a_reason(name: str, slots: dict[str, Any] | None, text: str, language: str | None) -> None:
    spec = f"{name}:engine=text" if name == "speech" else name
    made = dm.noise(text, spec, slots=slots, language=language)
    if made.text == text:
        assert made.skipped and not made.edits
        assert not made.skipped.startswith("perturber_failed")
    else:
        assert made.skipped is None and edit_text(text, made.edits) == made.text
    assert all(span.start is None or made.text[span.start : span.end] == span.text for span in made.spans)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Ich brauche ein günstiges Hotel", "de"),
        ("Ich brauche ein günstiges Hotel", None),
        ("je cherche un restaurant pas cher", None),
        ("安いホテルを探しています", None),
        ("мне нужна гостиница", None),
        ("I need a hotel", "fr"),
    ],
)
@pytest.mark.parametrize("name", dm.list_perturbers())
def test_languages_that_no_rule_knows_are_skipped_with_a_reason(name: str, text: str, language: str | None) -> None:
    spec = f"{name}:engine=text" if name == "speech" else name
    assert dm.noise(text, spec, language=language) == dm.Noised(text, (), (), "language_not_supported")


def test_a_chain_says_which_of_its_steps_did_nothing() -> None:
    text = "I need a cheap hotel"
    assert dm.noise(text, "entities+typos:rate=0.9").skipped == "entities@2: nothing_to_replace"
    assert dm.noise(text, "typos:rate=0.9+typos:rate=0.9").skipped is None
    assert dm.noise(text, "typos+disfluency", language="de").skipped == "typos@3: language_not_supported; disfluency@1: language_not_supported"


def test_a_dialogue_is_noised_at_its_last_user_turn() -> None:
    dialogue = next(one for one in dm.read(DATA / "multiwoz22") if len(one.turns) > 4)
    asked = [turn for turn in dialogue.turns if turn.speaker == "user"][-1]
    made = dm.noise(dialogue, "typos:rate=0.9", seed=2)
    assert made.text == get("typos")(rate=0.9).perturb(dialogue, 2).turns[asked.turn].utterance
    system = dialogue.replace(turns=tuple(turn.replace(speaker="system") for turn in dialogue.turns))
    assert dm.noise(system, "typos") == dm.Noised("", (), (), "no_user_turn")


def test_a_perturber_that_inserts_leaves_a_sentence_alone() -> None:
    text = SENTENCES["en"][0]
    assert dm.noise(text, "out_of_scope") == dm.Noised(text, (), (), "inserts_turns_only")
    (made,) = dm.perturb(text, "out_of_scope")
    assert [turn.inserted for turn in made.turns].count(True) >= 1


def test_a_perturber_that_fails_costs_a_sentence_its_noise_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("no rate")

    monkeypatch.setattr(get("typos"), "make", fail)
    assert dm.noise("a hotel", "typos").skipped == "perturber_failed: ZeroDivisionError: no rate"


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: dm.noise({"text": "x"}, "typos"), "text must be a Dialogue or a str, not dict; Dialogue.from_dict"),
        (lambda: dm.noise(None, "typos"), "a Dialogue or a str, not NoneType"),
        (lambda: dm.noise("x", 3), "perturber must be a str such as"),
        (lambda: dm.noise("x", "typos", slots=["a"]), "slots must map slot names to values"),
        (lambda: dm.noise("x", "typos", slots={"area": 3}), "'area': 3"),
        (lambda: list(dm.perturb([{"turns": []}], "typos")), "dialogues must be a Dialogue or a str, not dict"),
        (lambda: dm.perturb({"turns": []}, "typos"), "a Dialogue or a str, or an iterable of them, not dict"),
        (lambda: dm.perturb(b"text", "typos"), "not bytes"),
        (lambda: dm.perturb(3, "typos"), "not int"),
        (lambda: dm.read(3), "path must be a path"),
        (lambda: dm.read(DATA / "multiwoz22", rejects=3), "rejects must be a list or a function, not int"),
        (lambda: dm.build("splits", input=3, output="out"), "input must be a path"),
        (lambda: dm.build("splits", input="x", output="out", set=["a=b"]), "set must map keys"),
    ],
)
def test_a_wrong_type_says_what_is_expected(wrong: Any, expected: str) -> None:
    with pytest.raises(TypeError) as refusal:
        wrong()
    assert expected in str(refusal.value)


def test_wrong_names_list_the_right_ones(tmp_path: Path) -> None:
    with pytest.raises(dm.OptionError, match="typos"):
        dm.noise("x", "typoes")
    with pytest.raises(dm.OptionError, match="rate"):
        dm.perturb([], "typos:rat=1")
    with pytest.raises(dm.UsageError, match="raddle"):
        dm.build("radle", input=DATA / "multiwoz21", output=tmp_path / "out")
    with pytest.raises(dm.UsageError, match="few_shot"):
        dm.build("raddle", input=DATA / "multiwoz21", output=tmp_path / "out", set={"few_shots": 0})
    with pytest.raises(ValueError, match="is empty"):
        dm.noise("x", "typos", slots={"area": ""})
    with pytest.raises(ValueError, match="at least 1"):
        dm.perturb([], "typos", variants=0)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [name for name in dm.list_sources() if name not in ("dialmill", "ubuntu_irc", "chat_logs")])
def test_reading_gives_what_the_pipeline_reads(name: str) -> None:
    paths = sorted(path for path in (DATA / name).rglob("*") if path.is_file() and path.suffix != ".md")
    expected = read_paths(sources.get(name), paths).dialogues
    found = list(dm.read(DATA / name))
    assert {one.source_id: encode(one) for one in found} == {key: encode(one) for key, one in expected.items()}
    assert len(found) == len(expected)


def test_files_are_read_when_their_dialogues_are_asked_for(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "one", {"A1": talk(1)})
    corpus(tmp_path / "two", {"B1": talk(2)})
    damaged = (tmp_path / "two" / "data.json").read_text("utf-8").replace('"log": [', '"log": [[', 1)
    (tmp_path / "two" / "data.json").write_text(damaged, "utf-8")
    dialogues = dm.read([folder, tmp_path / "two"], format="multiwoz21")
    assert next(dialogues).source_id == "A1"
    with pytest.raises(dm.InputError, match=r"two.data\.json"):
        next(dialogues)


def test_records_that_cannot_be_read_are_an_error_or_reported(tmp_path: Path) -> None:
    folder = corpus(tmp_path / "in", {"A1": talk(1), "A2": {"goal": {}}, "A3": talk(3)})
    corpus(tmp_path / "in" / "more", {"A1": talk(1)})
    with pytest.raises(dm.InputError, match=r"A2.*missing_key.*rejects=\[\]"):
        list(dm.read(folder))
    rejects: list[dm.Reject] = []
    assert [one.source_id for one in dm.read(folder, rejects=rejects)] == ["A1", "A3"]
    assert [(one.source_id, one.reason, one.file) for one in rejects] == [
        ("A2", "missing_key", "data.json"),
        ("A1", "duplicate_id", "more/data.json"),
    ]
    told: list[str] = []
    list(dm.read(folder, rejects=lambda one: told.append(one.reason)))
    assert told == [one.reason for one in rejects]


def test_logs_are_refused_with_the_command_that_takes_them() -> None:
    with pytest.raises(dm.UsageError, match="disentangle"):
        dm.read(DATA / "ubuntu_irc")


@pytest.mark.parametrize("spec", ["typos:rate=0.2", "disfluency+typos", "paraphrase", "typos:name=noisy"])
@pytest.mark.parametrize("name", ["multiwoz21", "risawoz"])
def test_perturbing_gives_the_bytes_of_the_command(name: str, spec: str, tmp_path: Path) -> None:
    assert call("perturb", "--input", DATA / name, "--with", spec, "--variants", 2, "--output", tmp_path / "out", "--quiet", "--seed", 5).code == 0
    suite = next(path.name for path in (tmp_path / "out" / "dialogues").iterdir() if path.name != "standard")
    command = {one.dialogue_id: one for one in records(tmp_path / "out", suite)}
    found = {one.dialogue_id: one for one in dm.perturb(dm.read(DATA / name), spec, seed=5, variants=2)}
    assert command and set(command) <= set(found)
    for key, one in command.items():
        assert (one.turns, one.goal, one.suite, one.variant) == (found[key].turns, found[key].goal, suite, found[key].variant), key
        assert [(step.step, step.seed, step.outcome, step.skipped) for step in one.lineage] == [
            (step.step, step.seed, step.outcome, step.skipped) for step in found[key].lineage
        ]
    # The build leaves out what came out as it was or as another variant; here it is given, and its lineage says so.
    for key in set(found) - set(command):
        others = [found[f"{found[key].source_id}/{suite}/{number}"].turns for number in range(found[key].variant)]
        assert found[key].lineage[-1].outcome == "skipped" or found[key].turns in others


def test_sentences_and_dialogues_are_taken_one_at_a_time() -> None:
    def endless() -> Any:
        number = 0
        while True:
            number += 1
            yield f"i need a hotel for {number} nights please"

    noisy = dm.perturb(endless(), "typos:rate=0.5", variants=2)
    texts = [next(noisy).turns[0].utterance for _ in range(6)]
    assert len(set(texts)) == 6
    assert [one.turns[0].utterance for one in dm.perturb("i need a hotel for 1 nights please", "typos:rate=0.5")] == texts[:1]


def test_what_needs_a_pool_gathers_it_from_the_dialogues() -> None:
    dialogues = list(dm.read(DATA / "multiwoz21"))
    option = next(name for name in get("paraphrase")().params if name.endswith("_from"))

    known = [one.source_id for one in [*dialogues, *dm.read(DATA / "multiwoz22")]]

    def lenders(spec: str, given: list[dm.Dialogue]) -> set[str]:
        """The dialogues whose wording was taken."""
        reasons = [reason for one in dm.perturb(given, spec) for reason in one.lineage[-1].reasons]
        return {name for name in known if any(f" {name} (" in reason for reason in reasons)}

    assert lenders("paraphrase", dialogues[:1]) == set()
    among = lenders("paraphrase", dialogues)
    assert among and among <= {one.source_id for one in dialogues}
    training = lenders(f"paraphrase:{option}=train", dialogues)
    assert training and training <= {one.source_id for one in dialogues if one.split is None}, "MultiWOZ lists the other splits alone"
    other = lenders(f"paraphrase:{option}={DATA / 'multiwoz22'}", dialogues)
    assert other and other <= {one.source_id for one in dm.read(DATA / "multiwoz22")}


def test_a_build_and_its_scores(tmp_path: Path) -> None:
    set_ = {"suites": ["standard", "typos"], "test_size": {"hotel": 2}, "commercial": False, "max_turns": None}
    manifest = dm.build("raddle", input=[DATA / "multiwoz21"], output=tmp_path / "out", seed=3, set=set_)
    assert manifest == json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    words = ["suites=standard,typos", "test_size.hotel=2", "commercial=false", "max_turns="]
    assert manifest["outputs"] == plain("raddle", [DATA / "multiwoz21"], tmp_path / "plain", *words, seed=3)["outputs"]
    guesses = tmp_path / "guesses.jsonl"
    assert call("predict-baseline", "raddle", "--gold", tmp_path / "out", "--output", guesses, "--quiet").code == 0
    table = dm.score("raddle", gold=tmp_path / "out", predictions=guesses, suite="all", samples=20)
    command = call("score", "raddle", "--gold", tmp_path / "out", "--predictions", guesses, "--suite", "all", "--samples", 20, "--json", "-")
    assert table == json.loads(command.out) and table["metrics"]
    with pytest.raises(dm.DialmillError, match="there is no suite"):
        dm.score("raddle", gold=tmp_path / "out", predictions=guesses, suite="nosuch")


def test_the_lists_are_those_of_the_command() -> None:
    for what in ("perturbers", "sources", "benchmarks", "engines", "schemas"):
        command = json.loads(call("list", what, "--json", "-").out)[what]
        assert list(getattr(dm, f"list_{what}")()) == [one["name"] for one in command]


def test_every_name_is_documented() -> None:
    assert len(set(dm.__all__)) == len(dm.__all__)
    assert all((getattr(dm, name).__doc__ or "").strip() for name in dm.__all__)


def test_errors_name_arguments_and_no_options_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("nr,sprecher,satz\n1,kunde,Guten Tag\n", "utf-8")
    (tmp_path / "names.jsonl").write_text('{"id": "a", "turns": [{"speaker": "Xu", "text": "hi there"}, {"speaker": "Yo", "text": "ho"}]}\n', "utf-8")
    tries: dict[str, Callable[[], object]] = {
        "allow_missing=True": lambda: dm.build("splits", input=tmp_path / "gone", output=tmp_path / "out"),
        "format=": lambda: list(dm.read(tmp_path / "own.csv")),
        'map={"user": "NAME", "system": "NAME"}': lambda: list(dm.read(tmp_path / "names.jsonl")),
        "what can be is: ": lambda: dm.score("user-acts", gold=tmp_path),
        "metrics=": lambda: dm.score("wer", gold=tmp_path, metrics="jga"),
    }
    for said, tried in tries.items():
        with pytest.raises(dm.DialmillError) as caught:
            tried()
        assert said in str(caught.value) and "--" not in str(caught.value)


def test_guarded_texts_stay_to_the_byte() -> None:
    text = "I am Ivan Smithers and I would like a cheap hotel in Northtown please"
    for seed in range(6):
        made = dm.noise(text, "typos:rate=0.9,style=chat", seed=seed, guard=["Ivan Smithers", "Northtown"], slots={"price": "cheap"})
        assert "Ivan Smithers" in made.text and "Northtown" in made.text and made.text != text
        assert {span.text for span in made.spans} == {"Ivan Smithers", "Northtown", "cheap"}
    assert dm.noise(text, "typos", guard=["nobody"]) == dm.noise(text, "typos")
    with pytest.raises(TypeError, match="several texts"):
        dm.noise(text, "typos", guard="Ivan")
