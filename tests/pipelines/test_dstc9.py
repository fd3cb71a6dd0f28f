"""`build dstc9-track1`: data roots that hold to what the official checker asks, no leak, and tampering that `validate` and `verify` find."""

from __future__ import annotations

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers.insertion.knowledge import KnowledgeBase
from dialmill.pipelines.benchmarks.dstc9.check import inconsistent
from dialmill.pipelines.benchmarks.dstc9.recipe import Dstc9Recipe
from dialmill.pipelines.benchmarks.registry import load_recipe
from dialmill.schemas import Dialogue, Turn

from .tools import DATA, call, manifest, plain, records, rejects

BASES = DATA / "dstc9_track1"
FOLDERS = ("data/train", "data/val", "data_eval/test", "data_ambiguous/test")


def read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@pytest.fixture(scope="session")
def english(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded MultiWOZ 2.1 with our two knowledge bases."""
    folder = tmp_path_factory.mktemp("dstc9") / "en"
    plain("dstc9-track1", [DATA / "multiwoz21"], folder, f"knowledge={BASES / 'knowledge.json'},{BASES / 'knowledge_eval.json'}")
    return folder


@pytest.fixture(scope="session")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded RiSAWOZ with the base of whole domains, labels of test held out."""
    folder = tmp_path_factory.mktemp("dstc9") / "zh"
    plain("dstc9-track1", [DATA / "risawoz"], folder, "held_out_labels=true", "suites=standard,knowledge,unseen")
    return folder


def targets(labels: list[Any]) -> list[tuple[str, str, str]]:
    return [tuple(str(one["knowledge"][0][key]) for key in ("domain", "entity_id", "doc_id")) for one in labels if one["target"]]  # type: ignore[misc]


def test_instances_and_labels_go_together(english: Path) -> None:
    for name in FOLDERS:
        logs, labels = read(english / "release" / name / "logs.json"), read(english / "release" / name / "labels.json")
        assert len(logs) == len(labels)
        for log, label in zip(logs, labels, strict=True):
            assert [turn["speaker"] for turn in log] == ["U", "S"] * (len(log) // 2) + ["U"]
            if label["target"]:
                assert len(label["knowledge"]) == 1 and label["response"].strip()
                assert label["knowledge"][0]["entity_id"] == "*" or type(label["knowledge"][0]["entity_id"]) is int
            assert ("source" in label) == name.endswith("test")
    assert targets(read(english / "release/data/train/labels.json"))


def test_every_user_turn_of_train_is_an_instance(english: Path) -> None:
    users = sum(turn.speaker == "user" for one in records(english, "knowledge", "train") for turn in one.turns)
    assert len(read(english / "release/data/train/labels.json")) == users
    found = read(english / "release/data_eval/test/labels.json")
    sources = [label["source"] for label in found if label["target"]]
    assert set(sources) == {"multiwoz", "sf_written", "sf_spoken"}
    for source, suite in (("multiwoz", "knowledge"), ("sf_written", "unseen")):
        dialogues = [one for one in records(english, suite, "test") if any("knowledge_seeking" in turn.labels for turn in one.turns)]
        assert sources.count(source) == len(dialogues), "one target of each test dialogue"


def test_what_the_official_checker_asks(english: Path) -> None:
    """As scripts/check_results.py does it: the schema, the number of labels, every snippet looked up."""
    jsonschema = pytest.importorskip("jsonschema")
    for name in FOLDERS:
        root = english / "release" / name.split("/")[0]
        labels = read(english / "release" / name / "labels.json")
        jsonschema.validate(instance=labels, schema=read(root / "output_schema.json"))
        base = read(root / "knowledge.json")
        for domain, entity, doc in targets(labels):
            assert base[domain][entity]["docs"][doc]["title"]


def test_nothing_of_the_unseen_side_is_known_to_train(english: Path) -> None:
    known = KnowledgeBase.from_dict(read(english / "release/data/knowledge.json"))
    test = read(english / "release/data_eval/test/labels.json")
    unseen = targets([label for label in test if label["source"] in ("sf_written", "sf_spoken")])
    assert unseen and all(known.find(*one) is None for one in unseen)
    assert any(domain == "attraction" for domain, _, _ in unseen) and "attraction" not in known.domains
    train = read(english / "release/data/train/labels.json") + read(english / "release/data/val/labels.json")
    assert set(targets(train)).isdisjoint(unseen)
    names = {entity.name for entity in known.entities.values() if entity.name}
    for one in records(english, "unseen", "test"):
        for turn in one.turns:
            assert not any(name in turn.utterance for name in names), turn


def test_a_share_of_one_base_is_held_out(chinese: Path) -> None:
    known = KnowledgeBase.from_dict(read(chinese / "release/data/knowledge.json"))
    whole = KnowledgeBase.from_dict(read(chinese / "release/data_eval/knowledge.json"))
    assert 0 < len(known) < len(whole)
    test = read(chinese / "labels/release/data_eval/test/labels.json")
    assert all(known.find(*one) is None for one in targets([label for label in test if label["source"] == "sf_written"]))
    assert not (chinese / "release/data_eval/test/labels.json").exists()
    for record in records(chinese, "knowledge", "test"):
        assert not any(turn.knowledge or turn.labels for turn in record.turns)


def test_counts_validate_and_verify(english: Path, chinese: Path) -> None:
    for folder in (english, chinese):
        (stage,) = [stage for stage in manifest(folder)["stages"] if stage["name"] == "instances"]
        assert stage["in"] == stage["out"] + sum(stage["rejected"].values())
        assert call("verify", folder).code == 0
    assert call("validate", english / "release").code == 0
    gold = english / "release/data_eval/test"
    assert call("validate", gold / "labels.json").code == 0
    assert call("validate", gold / "labels.json", "--gold", gold).code == 0


def _unknown(labels: list[Any]) -> None:
    next(label for label in labels if label["target"])["knowledge"][0]["doc_id"] = 999


def _shorter(labels: list[Any]) -> None:
    labels.pop()


def _leak(labels: list[Any]) -> None:
    one = next(label for label in labels if label["target"] and label["source"] == "sf_written")
    one["knowledge"] = [{"domain": "taxi", "entity_id": "*", "doc_id": 1}]


@pytest.mark.parametrize(("change", "told"), [(_unknown, "there is no snippet"), (_shorter, "the two go together")])
def test_tampered_labels_are_found(change: Any, told: str, english: Path, tmp_path: Path) -> None:
    shutil.copytree(english / "release", tmp_path / "release")
    path = tmp_path / "release/data_eval/test/labels.json"
    labels = read(path)
    change(labels)
    path.write_text(json.dumps(labels), "utf-8")
    for words in ((tmp_path / "release",), (path,), (path, "--gold", english / "release/data_eval/test")):
        result = call("validate", *words)
        assert result.code == 1 and told in result.err, result


def test_gold_goes_with_predictions_that_their_benchmark_compares(english: Path, tmp_path: Path) -> None:
    gold = english / "release/data_eval/test"
    refused = call("validate", english / "manifest.json", "--gold", gold)
    assert refused.code == 2 and "--gold is for files of dstc9-labels, predictions-dstc9" in refused.err and "is of manifest" in refused.err
    path = tmp_path / "guesses.json"
    path.write_text(json.dumps(read(gold / "labels.json")[1:]), "utf-8")
    told = call("validate", path, "--schema", "predictions-dstc9", "--gold", gold)
    assert told.code == 1 and "the two go together" in told.err
    assert "has neither logs.json nor labels.json" in call("validate", path, "--gold", tmp_path).err


def test_labels_beside_broken_logs_are_not_compared(english: Path, tmp_path: Path) -> None:
    shutil.copytree(english / "release/data_eval", tmp_path / "data")
    (tmp_path / "data/test/logs.json").write_text("[[{", "utf-8")
    alone = call("validate", tmp_path / "data/test/labels.json")
    assert alone.code == 0 and "not compared with logs.json" in alone.out
    assert "is cut off" in call("validate", tmp_path / "data").err


def test_a_leak_is_found(english: Path, tmp_path: Path) -> None:
    from dialmill.pipelines.benchmarks.dstc9.check import check_release

    shutil.copytree(english, tmp_path / "out")
    path = tmp_path / "out/release/data_eval/test/labels.json"
    labels = read(path)
    _leak(labels)
    path.write_text(json.dumps(labels), "utf-8")
    _, problems = check_release(tmp_path / "out")
    assert any("which train knows" in problem for problem in problems)


def test_a_reply_that_is_a_snippet_s_body_is_told(english: Path) -> None:
    """A turn labelled as no target whose reply is word for word a snippet."""
    base = KnowledgeBase.from_dict({"hotel": {"0": {"name": "Elm", "docs": {"0": {"title": "Pets?", "body": "No pets are allowed here."}}}}})
    turns = [
        {"speaker": "U", "text": "Can I bring my dog?"},
        {"speaker": "S", "text": "No pets are allowed here."},
        {"speaker": "U", "text": "Fine."},
    ]
    labels: list[Any] = [{"target": False}, {"target": False}]
    (problem,) = inconsistent([turns[:1], turns], labels, base)
    assert "instance 0" in problem and "No pets are allowed here." in problem
    labels[0] = {"target": True, "knowledge": [{"domain": "hotel", "entity_id": 0, "doc_id": 0}], "response": "No."}
    assert inconsistent([turns[:1], turns], labels, base) == []


@pytest.mark.parametrize(
    ("settings", "code", "told"),
    [
        (["knowledge=nowhere.json"], 1, "nowhere.json"),
        (["knowledge=a,b,c"], 2, "knowledge names one file"),
        (["held_out=1"], 2, "held_out"),
        (["targets=tests:1"], 2, "no split 'tests'"),
        (["suites=standard,unseen"], 1, "needs the suite 'knowledge'"),
    ],
)
def test_wrong_settings_are_refused(settings: list[str], code: int, told: str, tmp_path: Path) -> None:
    words = [word for setting in settings for word in ("--set", setting)]
    result = call("build", "dstc9-track1", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", *words)
    assert result.code == code and told in result.err and not (tmp_path / "out").exists(), result


def test_domains_that_train_shall_not_have(tmp_path: Path) -> None:
    plain("dstc9-track1", [DATA / "multiwoz21"], tmp_path / "out", "unseen_domains=train,attraction", "suites=standard,knowledge")
    for suite in ("standard", "knowledge"):
        found = records(tmp_path / "out", suite, "train", "valid")
        assert found and all({"train", "attraction"}.isdisjoint(one.domains) for one in found)
    assert any("train" in one.domains for one in records(tmp_path / "out", "knowledge", "test"))
    rejected = {one["source_id"]: one for one in rejects(tmp_path / "out", "split") if one["reason"] == "unseen_domain"}
    assert rejected and all("train" in one["evidence"] or "attraction" in one["evidence"] for one in rejected.values())
    assert rejected.keys().isdisjoint(one.source_id for one in records(tmp_path / "out"))
    assert call("verify", tmp_path / "out").code == 0


def test_subsets_are_data_roots(english: Path, tmp_path: Path) -> None:
    release = english / "release"
    for part, whole in (("few_shot/data/train", "data/train"), ("test_hard/data_eval/test", "data_eval/test")):
        pairs = [list(zip(read(release / name / "logs.json"), read(release / name / "labels.json"), strict=True)) for name in (part, whole)]
        assert 0 < len(pairs[0]) < len(pairs[1]) and all(pair in pairs[1] for pair in pairs[0])
        assert read(release / part / "../knowledge.json") == read(release / whole / "../knowledge.json")
    guesses = tmp_path / "hard.json"
    made = call("predict-baseline", "dstc9-track1", "--gold", english, "--split", "test_hard", "--output", guesses)
    assert made.code == 0, made.err
    for gold in ((english, "--split", "test_hard"), (release / "test_hard/data_eval",)):
        scored = call("score", "dstc9-track1", "--gold", *gold, "--predictions", guesses, "--json", "-")
        assert scored.code == 0 and json.loads(scored.out)["counts"], scored.err


def test_spoken_logs_have_hypotheses_on_request(tmp_path: Path) -> None:
    """As DSTC10 Track 2: the first is the text, scores fall, all differ; written turns and the system's have none."""
    plain("dstc9-track1", [DATA / "multiwoz21"], tmp_path / "out", "nbest=5", "suites=standard,knowledge,unseen,spoken")
    folder = tmp_path / "out/release/data_eval/test"
    assert call("validate", folder / "logs.json", "--schema", "dstc9-logs").code == 0
    logs, labels = (json.loads((folder / name).read_text("utf-8")) for name in ("logs.json", "labels.json"))
    lists = []
    for log, label in zip(logs, labels, strict=True):
        for turn in log:
            if label["source"] == "sf_spoken" and turn["speaker"] == "U":
                texts, scores = [one["hyp"] for one in turn["nbest"]], [one["score"] for one in turn["nbest"]]
                assert texts[0] == turn["text"] and len(set(texts)) == len(texts) <= 5
                assert all(one > other for one, other in itertools.pairwise(scores)) and scores[0] < 0
                lists.append(texts)
            else:
                assert "nbest" not in turn
    assert sum(len(texts) >= 3 for texts in lists) > 0.8 * len(lists) > 0


def test_labels_of_another_corpus_name_it(tmp_path: Path) -> None:
    plain("dstc9-track1", [DATA / "risawoz"], tmp_path / "out", "suites=standard,knowledge", "label_sources={}")
    labels = json.loads((tmp_path / "out/release/data_eval/test/labels.json").read_text("utf-8"))
    assert labels and {label["source"] for label in labels} == {"risawoz"}


@pytest.mark.parametrize(
    ("source", "source_id", "label"),
    [
        *[(name, "SNG01.json", "multiwoz") for name in ("multiwoz21", "multiwoz22", "multi_woz_v22")],
        *[("convlab", "multiwoz21-test-7", "multiwoz"), ("convlab", "crosswoz-test-7", "crosswoz"), ("crosswoz", "397", "crosswoz")],
    ],
)
def test_labels_name_the_corpus_and_not_the_format(source: str, source_id: str, label: str) -> None:
    recipe = load_recipe("dstc9-track1")
    assert isinstance(recipe, Dstc9Recipe)
    turns = (Turn(0, "user", "Is there wifi?"),)
    record = Dialogue(dialogue_id=source_id, source=source, source_id=source_id, suite="knowledge", turns=turns)
    assert recipe.label_source(record) == label
    assert recipe.label_source(record.replace(suite="unseen")) == "sf_written" and recipe.label_source(record.replace(suite="spoken")) == "sf_spoken"
