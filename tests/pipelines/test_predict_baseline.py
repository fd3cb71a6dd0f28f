"""`predict-baseline`: a valid file for every benchmark, better than chance, and errors that say what is wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.benchmarks import predictions as predictors
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.schemas.validate import validate_file

from .tools import DATA, call, plain, records


def _predicted(benchmark: str, folder: Path, output: Path, *words: object) -> Path:
    done = call("predict-baseline", benchmark, "--gold", folder, "--output", output, "--quiet", *words)
    assert done == (0, "", ""), done
    return output


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_benchmark_has_a_baseline() -> None:
    assert set(benchmarks.names()) <= set(predictors.names())


def test_raddle_has_a_line_for_every_user_turn_of_every_suite(raddle: Path, tmp_path: Path) -> None:
    path = _predicted("raddle", raddle, tmp_path / "p.jsonl")
    assert validate_file(path, "predictions-state").ok
    wanted = {
        (record.dialogue_id, turn.turn)
        for suite in (raddle / "dialogues").iterdir()
        for record in records(raddle, suite.name, "test")
        for turn in record.turns
        if turn.speaker == "user"
    }
    found = {(line["dialogue_id"], line["turn"]): line for line in _lines(path)}
    assert set(found) == wanted
    assert all(line["response"] and line["delexicalised"] for line in found.values())
    states = [
        (found[record.dialogue_id, turn.turn]["state"], turn.state) for record in records(raddle, "standard", "test") for turn in record.turns[::2]
    ]
    known = [any(cell["values"][0] in gold.values for gold in state for cell in said) for said, state in states if state]
    assert sum(known) > len(known) / 2, "most states have a value right"
    # The sentences of the test part stand in no training part, so it is on training that one sees that they are learned.
    told = _lines(_predicted("raddle", raddle, tmp_path / "o.jsonl", "--suite", "ood", "--split", "train"))
    assert any("oos" in line["labels"] for line in told), "out-of-scope turns are learned from the suite's own training part"


def test_one_suite_and_another_split(raddle: Path, tmp_path: Path) -> None:
    typos = _lines(_predicted("raddle", raddle, tmp_path / "t.jsonl", "--suite", "typos"))
    assert typos and all("/typos/" in line["dialogue_id"] for line in typos)
    train = _lines(_predicted("raddle", raddle, tmp_path / "n.jsonl", "--suite", "standard", "--split", "train"))
    assert {line["dialogue_id"] for line in train} == {record.dialogue_id for record in records(raddle, "standard", "train")}


def test_it_says_the_same_twice_and_on_standard_output(raddle: Path, tmp_path: Path) -> None:
    one = _predicted("raddle", raddle, tmp_path / "1.jsonl", "--suite", "standard").read_text("utf-8")
    done = call("predict-baseline", "raddle", "--gold", raddle, "--output", "-", "--suite", "standard")
    assert done == (0, one, "")


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ranked") / "out"
    plain("noesis-advising", [DATA / "advising"], folder, "partials=60")
    return folder


@pytest.mark.parametrize("baseline", ["tfidf", "bm25", "characters"])
def test_candidates_are_ranked_each_once(baseline: str, ranked: Path, tmp_path: Path) -> None:
    path = _predicted("noesis-advising", ranked, tmp_path / "p.json", "--baseline", baseline)
    assert validate_file(path, "predictions-noesis").ok
    examples = {str(one["example-id"]): one for one in json.loads((ranked / "release/advising_test_subtask_1.json").read_text("utf-8"))}
    made = json.loads(path.read_text("utf-8"))
    assert [one["example-id"] for one in made] == list(examples), "ids as text, as the published script looks them up"
    for one in made:
        names = [candidate["candidate-id"] for candidate in one["candidate-ranking"]]
        assert sorted(names) == sorted(option["candidate-id"] for option in examples[one["example-id"]]["options-for-next"])
        scores = [candidate["confidence"] for candidate in one["candidate-ranking"]]
        assert scores == sorted(scores, reverse=True)


def test_where_the_answer_may_be_missing_none_stands_second(ranked: Path, tmp_path: Path) -> None:
    made = json.loads(_predicted("noesis-advising", ranked, tmp_path / "p.json", "--suite", "subtask_4").read_text("utf-8"))
    assert made and all(one["candidate-ranking"][1]["candidate-id"] == "NONE" for one in made)


def test_a_shared_pool_is_searched(tmp_path: Path) -> None:
    plain("noesis-ubuntu", [DATA / "ubuntu_irc"], tmp_path / "out")
    path = _predicted("noesis-ubuntu", tmp_path / "out", tmp_path / "p.json", "--suite", "subtask_2")
    pool = {line.split("\t")[0] for line in (tmp_path / "out/release/ubuntu_pool_subtask_2.tsv").read_text("utf-8").splitlines()}
    for one in json.loads(path.read_text("utf-8")):
        names = [candidate["candidate-id"] for candidate in one["candidate-ranking"]]
        assert set(names) <= pool and len(set(names)) == len(names) == min(100, len(pool))


@pytest.mark.parametrize(("benchmark", "source", "schema"), [("cgodial-fbd", "flow", "labels"), ("cgodial-rbd", "ecd", "noesis")])
def test_chinese_benchmarks_are_predicted(benchmark: str, source: str, schema: str, tmp_path: Path) -> None:
    settings = ("train_size=120", "valid_size=0", "test_size=30", "suites=standard", "hard_baselines=") if source == "flow" else ()
    plain(benchmark, [DATA / source], tmp_path / "out", *settings)
    path = _predicted(benchmark, tmp_path / "out", tmp_path / f"p.{'jsonl' if schema == 'labels' else 'json'}")
    assert validate_file(path, f"predictions-{schema}").ok
    if schema == "labels":
        said = {(line["dialogue_id"], line["turn"]): line["labels"] for line in _lines(path)}
        pairs = [
            (said[one.dialogue_id, turn.turn], sorted(turn.labels))
            for one in records(tmp_path / "out", "standard", "test")
            for turn in one.turns
            if turn.speaker == "user"
        ]
        assert sum(guess == due for guess, due in pairs) > 0.3 * len(pairs), "one of a hundred nodes is told from its wordings"


def _dataroot(folder: Path) -> Path:
    """A data root in the official layout: questions about parking and pets of two hotels, and requests that the API answers."""
    docs = {"0": {"title": "Is there parking?", "body": "Yes, parking is free."}, "1": {"title": "Are pets allowed?", "body": "No pets, sorry."}}
    knowledge = {
        "hotel": {"1": {"name": "ELM HOUSE", "docs": docs}, "11": {"name": "OAK COURT", "docs": docs}},
        "train": {"*": {"name": None, "docs": {}}},
    }
    asks = ["do they have parking there", "can i park there", "may i bring my dog", "are pets ok there"]
    others = ["book it for two nights", "i need a train to ely", "which area is it in", "thanks , bye"]
    for split, names in (("train", ["Elm House", "Oak Court"] * 4), ("test", ["Oak Court"])):
        logs, labels = [], []
        for number, name in enumerate(names):
            for text in (asks[number % 4], others[number % 4]) if split == "train" else ("is parking there", "book it for two nights"):
                logs.append([{"speaker": "U", "text": "a hotel"}, {"speaker": "S", "text": f"How about {name} ?"}, {"speaker": "U", "text": text}])
                labels.append({"target": text in asks})
        (folder / split).mkdir(parents=True)
        (folder / split / "logs.json").write_text(json.dumps(logs), "utf-8")
        (folder / split / "labels.json").write_text(json.dumps(labels), "utf-8")
    (folder / "knowledge.json").write_text(json.dumps(knowledge), "utf-8")
    return folder


def test_knowledge_is_found_at_the_entity_that_was_named(tmp_path: Path) -> None:
    root = _dataroot(tmp_path / "data")
    (root / "test/labels.json").unlink()  # what is predicted is never read
    path = _predicted("dstc9-track1", root, tmp_path / "p.json")
    assert validate_file(path, "predictions-dstc9").ok
    seeking, other = json.loads(path.read_text("utf-8"))
    assert other == {"target": False}
    assert seeking["target"] and seeking["knowledge"][0] == {"domain": "hotel", "entity_id": 11, "doc_id": 0}
    assert seeking["response"] == "Yes, parking is free."


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("chess", "--gold", "GOLD", "--output", "out"), 2, ("chess", "raddle", "noesis-ubuntu")),
        (("raddle", "--gold", "GOLD", "--output", "out", "--baseline", "bert"), 2, ("bert", "tracker")),
        (("raddle", "--gold", "GOLD", "--output", "out", "--suite", "noise"), 1, ("noise", "standard", "typos")),
        (("raddle", "--gold", "nowhere", "--output", "out"), 1, ("nowhere", "dialmill build raddle")),
        (("raddle", "--gold", "GOLD", "--output", "out", "--split", "dev"), 1, ("dev.jsonl", "valid")),
        (("raddle", "--gold", "GOLD", "--output", "out", "--suite", "typos", "--split", "valid"), 1, ("'valid' is empty", "--split")),
        (("noesis-ubuntu", "--gold", "GOLD", "--output", "out"), 1, ("holds no examples", "subtask_N")),
        (("dstc9-track1", "--gold", "GOLD", "--output", "out"), 1, ("logs.json", "data root")),
        (("raddle", "--gold", "GOLD", "--output", "no/such/folder/out"), 1, ("no/such/folder/out",)),
    ],
)
def test_wrong_usage_says_what_would_be_right(words: Sequence[str], code: int, said: Sequence[str], raddle: Path, tmp_path: Path) -> None:
    given = [str(raddle) if word == "GOLD" else str(tmp_path / "out") if word == "out" else word for word in words]
    done = call("predict-baseline", *given)
    assert done.code == code and all(word in done.err for word in said), done
    assert not (tmp_path / "out").exists()
