"""Whole builds of NOESIS from the embedded corpora: what lies in the release files, on every engine, and that verify finds what is wrong."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from dialmill.pipelines.candidates.keys import candidate_key, key_hash
from dialmill.pipelines.core.unknown import known
from dialmill.schemas.validate import validate_file

from .tools import DATA, call, hashes, manifest, plain, records, rejects, spawn

#: Of each conversation the profile, and who says each message in which wordings.
Wordings = dict[str, tuple[Any, list[tuple[str, Sequence[str]]]]]
LOGS, ADVISING = DATA / "ubuntu_irc", DATA / "advising"
SMALL = ("partials=60",)


def examples(folder: Path, name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((folder / "release" / f"{name}.json").read_text("utf-8"))
    return loaded


def tsv(folder: Path, name: str) -> list[list[str]]:
    return [line.split("\t") for line in (folder / "release" / f"{name}.tsv").read_text("utf-8").split("\n")[:-1]]


@pytest.fixture(scope="session")
def ubuntu(built: Path) -> Path:
    result = call("build", "noesis-ubuntu", "--input", LOGS, "--output", built / "ubuntu", "--set", "links=annotated", "--quiet")
    assert result == (0, "", ""), result
    return built / "ubuntu"


@pytest.fixture(scope="session")
def advising(built: Path) -> Path:
    result = call("build", "noesis-advising", "--input", ADVISING, "--output", built / "advising", "--set", SMALL[0], "--quiet")
    assert result == (0, "", ""), result
    return built / "advising"


def test_both_builds_pass_validate_and_verify(ubuntu: Path, advising: Path) -> None:
    for folder in (ubuntu, advising):
        verified = call("verify", folder)
        assert verified.code == 0 and "trivial rankers" in verified.out, verified.err
        assert call("validate", folder, "--quiet").code == 0


def test_plain_calls_equal_beam(ubuntu: Path, advising: Path, tmp_path: Path) -> None:
    plain("noesis-ubuntu", [LOGS], tmp_path / "ubuntu", "links=annotated")
    assert hashes(tmp_path / "ubuntu") == hashes(ubuntu)
    plain("noesis-advising", [ADVISING], tmp_path / "advising", *SMALL)
    assert hashes(tmp_path / "advising") == hashes(advising)


def test_worker_processes_and_hash_seeds_give_equal_bytes(ubuntu: Path, tmp_path: Path) -> None:
    words = ["build", "noesis-ubuntu", "--input", LOGS, "--output", tmp_path / "out", "--set", "links=annotated", "--quiet"]
    done = spawn(*words, "--", "--direct_running_mode=multi_processing", "--direct_num_workers=2", PYTHONHASHSEED="7")
    assert done.code == 0, done.err
    assert hashes(tmp_path / "out") == hashes(ubuntu)


def _asked(folder: Path, name: str) -> list[tuple[int, Any, Any]]:
    """The examples of a file without their distractors."""
    return [(row["example-id"], row["messages-so-far"], row["options-for-correct-answers"]) for row in examples(folder, name)]


def test_many_shards_hold_the_same_examples(ubuntu: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialmill.pipelines.core.benchmark.SHARD_BYTES", 20_000)
    monkeypatch.setattr("dialmill.pipelines.benchmarks.noesis.stages._SHARD_BYTES", 20_000)
    plain("noesis-ubuntu", [LOGS], tmp_path / "out", "links=annotated")
    for name in ("ubuntu_train_subtask_1", "ubuntu_test_subtask_2", "ubuntu_dev_subtask_5"):
        # Which distractors are drawn depends on those of the shard's other examples: none stands in many more sets than its share.
        assert _asked(tmp_path / "out", name) == _asked(ubuntu, name)
    assert call("verify", tmp_path / "out").code == 0


def test_conversations_pass_the_filters_and_others_say_why(ubuntu: Path) -> None:
    made = records(ubuntu)
    assert len(made) >= 25
    reasons = Counter(reject["reason"] for reject in rejects(ubuntu, "filter"))
    assert reasons.keys() >= {"too_few_participants", "too_many_participants"}
    for dialogue in made:
        speakers = [turn.speaker for turn in dialogue.turns]
        assert speakers[0] == "user" and len(speakers) >= 3
        assert all(one != other for one, other in itertools.pairwise(speakers)), "consecutive messages are joined"
    assert {dialogue.split for dialogue in made} == {"train", "valid", "test"}
    merged = next(dialogue for dialogue in made if "gconftool" in str(dialogue))
    assert merged.turns[0].utterance == "how do i stop the login sound from playing"


def test_no_name_is_left(ubuntu: Path) -> None:
    nicks = set()
    for path in LOGS.rglob("*.ascii.txt"):
        nicks |= {nick.lower() for nick in re.findall(r"<([^>]+)> ", path.read_text())}
    words = {"the", "test", "lou", "bo", "oslo_", "{{", "moss", "ivy", "pike", "heron", "kim"}
    said = Counter(word.strip(",:!?.").lower() for dialogue in records(ubuntu) for turn in dialogue.turns for word in turn.utterance.split())
    assert not {nick for nick in nicks - words if said[nick] and len(nick) > 2}
    assert not [turn for dialogue in records(ubuntu) for turn in dialogue.turns if re.match(r"(the|bo|lou|moss|kim|kim_afk):", turn.utterance)]


@pytest.mark.parametrize("subtask", [1, 2, 4, 5])
def test_examples_of_ubuntu(ubuntu: Path, subtask: int) -> None:
    pool = dict(tsv(ubuntu, "ubuntu_pool_subtask_2"))
    seen: set[int] = set()
    for split, name in (("train", "train"), ("valid", "dev"), ("test", "test")):
        dialogues = {tuple(turn.utterance for turn in dialogue.turns): dialogue for dialogue in records(ubuntu, "standard", split)}
        rows = examples(ubuntu, f"ubuntu_{name}_subtask_{subtask}")
        targets = {number: ids.split(",") for number, ids in tsv(ubuntu, f"ubuntu_{name}_subtask_{subtask}.targets")}
        assert len(rows) == len(targets) <= len(dialogues)
        for row in rows:
            assert row["data-split"] == name and row["scenario"] == subtask and row["example-id"] not in seen
            seen.add(row["example-id"])
            context = [message["utterance"] for message in row["messages-so-far"]]
            assert [message["speaker"] for message in row["messages-so-far"]] == [f"participant_{1 + at % 2}" for at in range(len(context))]
            assert len(context) % 2 == 1 and len(context) >= 3, "the one who asks speaks last, and three turns stand before the answer at least"
            (source,) = [dialogue for texts, dialogue in dialogues.items() if list(texts[: len(context)]) == context and len(texts) > len(context)]
            right = row["options-for-correct-answers"]
            assert targets[str(row["example-id"])] == ([one["candidate-id"] for one in right] or ["NONE"])
            if right:
                assert candidate_key(right[0]["utterance"]) == candidate_key(source.turns[len(context)].utterance)
            if subtask == 2:
                assert pool[right[0]["candidate-id"]] == right[0]["utterance"]
                continue
            options = row["options-for-next"]
            keys = [key_hash(candidate_key(option["utterance"])) for option in options]
            own = {key_hash(candidate_key(turn.utterance)) for turn in source.turns}
            assert len(set(keys)) == len(keys) <= 100 and all(option["utterance"].strip() for option in options)
            assert sum(key in own for key in keys) == len(right), "nothing else of the conversation is a candidate"
            assert [option for option in options if option in right] == right
            assert all(re.fullmatch("[A-Z0-9]{12}", option["candidate-id"]) for option in options)


def test_a_fifth_of_subtask_4_has_no_answer(ubuntu: Path, tmp_path: Path) -> None:
    rows = examples(ubuntu, "ubuntu_train_subtask_4")
    without = [row for row in rows if not row["options-for-correct-answers"]]
    assert len(without) == round(0.2 * len(rows)) > 0
    full = max(len(row["options-for-next"]) for row in rows)
    assert all(len(row["options-for-next"]) >= full - 6 for row in without), "one more wrong one stands in its place"
    plain("noesis-ubuntu", [LOGS], tmp_path / "out", "links=annotated", "none_share=0.5", "subtasks=4", "candidates=10")
    rows = examples(tmp_path / "out", "ubuntu_train_subtask_4")
    assert sum(not row["options-for-correct-answers"] for row in rows) == round(0.5 * len(rows))
    assert {len(row["options-for-next"]) for row in rows} == {10}
    assert not (tmp_path / "out/release/ubuntu_train_subtask_1.json").exists()


def test_a_short_pool_is_said_and_not_padded(ubuntu: Path) -> None:
    made = manifest(ubuntu)
    assert made["notes"]["pool_short"] > 0 and any("pool_short" in warning for warning in made["warnings"])


def test_the_audit_stands_in_manifest_and_card(ubuntu: Path) -> None:
    made = manifest(ubuntu)
    measured = made["audit"]["release/ubuntu_train_subtask_1.json"]
    assert measured["examples"] == len(examples(ubuntu, "ubuntu_train_subtask_1")) > 10 and 0 < measured["chance"] < 0.02
    assert measured["names"] < 0.02 and measured["shortest@10"] < 0.5
    assert "## Audit of the candidates" in (ubuntu / "README.md").read_text("utf-8")


def test_shortfalls_of_the_shared_pool_and_of_knowledge_are_said(ubuntu: Path) -> None:
    said = manifest(ubuntu)["warnings"]
    assert any(re.match(r"the shared pool has \d+ candidates of the 120,000 wanted", warning) for warning in said)
    assert any("subtask 5 has no knowledge" in warning for warning in said)


def test_advising_without_courses_says_that_subtask_5_has_no_knowledge(advising: Path, tmp_path: Path) -> None:
    shutil.copy(DATA / "advising/conversations.json", tmp_path)
    plain("noesis-advising", [tmp_path / "conversations.json"], tmp_path / "out", "partials=20", "candidates=5", "subtasks=1,5")
    assert any("subtask 5 has no knowledge" in warning for warning in manifest(tmp_path / "out")["warnings"])
    assert not any("no knowledge" in warning for warning in manifest(advising)["warnings"])


def test_every_input_that_is_named_is_read(tmp_path: Path) -> None:
    words = ("disentangle", "--input", LOGS / "dev", "--input", LOGS / "test", "--output", tmp_path / "out", "--set", "links=annotated", "--quiet")
    assert call(*words).code == 0
    assert {path.name.partition(".")[0] for path in (tmp_path / "out/links").iterdir()} == {"2011-05-20_09", "2014-04-21_23"}


def test_lines_that_are_not_understood_are_rejected_by_number(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    said = "[09:16] <bo> ann: hi\n[09:17] <ann> bo: my disk is full\n%% what is this line\n[09:18] <bo> ann: delete something\n"
    (tmp_path / "in/a.raw.txt").write_text(said)
    (tmp_path / "in/a.annotation.txt").write_text("0 0 -\n0 1 -\n1 3 -\n")
    words = ("disentangle", "--input", tmp_path / "in", "--output", tmp_path / "out", "--set", "links=annotated", "--quiet")
    assert call(*words).code == 0
    (reject,) = rejects(tmp_path / "out", "lines")
    assert reject["reason"] == "unparsed" and "%% what is this" in reject["evidence"] and 3 in reject.values()


def test_a_log_of_another_client_fails_with_the_first_line_that_is_not_understood(tmp_path: Path) -> None:
    (tmp_path / "x.ascii.txt").write_text("12:01 <ann> hi\n12:02 <bo> hello\n")
    result = call("disentangle", "--input", tmp_path / "x.ascii.txt", "--output", tmp_path / "out", "--quiet")
    assert result.code == 1 and "unparsed_lines" in result.err


def test_responses_are_distributed_for_test(ubuntu: Path) -> None:
    rows = tsv(ubuntu, "ubuntu_responses_subtask_1")
    right = {str(row["example-id"]): row["options-for-correct-answers"][0] for row in examples(ubuntu, "ubuntu_test_subtask_1")}
    assert {number: {"candidate-id": name, "utterance": text} for number, name, text in rows} == right


def test_held_out_labels_leave_the_answers_to_another_folder(tmp_path: Path) -> None:
    plain("noesis-ubuntu", [LOGS], tmp_path / "out", "links=annotated", "held_out_labels=true", "subtasks=1,4")
    for row in examples(tmp_path / "out", "ubuntu_test_subtask_1"):
        assert "options-for-correct-answers" not in row
    assert not (tmp_path / "out/release/ubuntu_test_subtask_1.targets.tsv").exists()
    assert (tmp_path / "out/labels/release/ubuntu_test_subtask_1.targets.tsv").read_text().count("\n") > 0
    assert call("verify", tmp_path / "out").code == 0


def test_similar_distractors(ubuntu: Path, tmp_path: Path) -> None:
    plain("noesis-ubuntu", [LOGS], tmp_path / "out", "links=annotated", "distractors=similar", "candidates=10", "subtasks=1")
    plain("noesis-ubuntu", [LOGS], tmp_path / "random", "links=annotated", "candidates=10", "subtasks=1")

    def shared(folder: Path) -> float:
        found = 0
        for row in examples(folder, "ubuntu_train_subtask_1"):
            context = set(row["messages-so-far"][-1]["utterance"].split())
            found += sum(len(context & set(option["utterance"].split())) for option in row["options-for-next"])
        return found

    assert shared(tmp_path / "out") > 1.2 * shared(tmp_path / "random")
    also = tsv(tmp_path / "out", "ubuntu_train_subtask_1.also_right")
    shown = {
        row["example-id"]: {option["candidate-id"] for option in row["options-for-next"]}
        for row in examples(tmp_path / "out", "ubuntu_train_subtask_1")
    }
    assert all(name not in shown[int(number)] for number, name, _ in also), "what may be right as well is no distractor"
    assert call("verify", tmp_path / "out").code == 0


def test_splits_by_time(tmp_path: Path) -> None:
    plain("noesis-ubuntu", [LOGS], tmp_path / "out", "links=annotated", "valid_from=2009-01-01", "test_from=2011-01-01", "subtasks=1")
    for split, years in (("train", {"2005"}), ("valid", {"2009"}), ("test", {"2011", "2014"})):
        assert {record.source_id[:4] for record in records(tmp_path / "out", "standard", split)} == years


def test_dstc8_form(tmp_path: Path) -> None:
    plain("noesis-ubuntu", [LOGS], tmp_path / "out", "links=annotated", "form=dstc8", "subtasks=1,2", "none_share=0.2")
    assert call("verify", tmp_path / "out").code == 0
    people = Counter()
    for row in (*examples(tmp_path / "out", "ubuntu_train_subtask_1"), *examples(tmp_path / "out", "ubuntu_test_subtask_1")):
        speakers = {message["speaker"] for message in row["messages-so-far"]}
        people[len(speakers)] += 1
        for message in row["messages-so-far"]:
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", message["date"]) and re.fullmatch(r"\d\d:\d\d", message["time"])
        assert len({option["speaker"] for option in row["options-for-next"]}) == 1
        named = {name for option in row["options-for-next"] for name in re.findall(r"participant_\d+", option["utterance"])}
        assert named <= {f"participant_{number}" for number in range(len(speakers))}
        assert all(re.fullmatch("[0-9a-f]{32}", option["candidate-id"]) for option in row["options-for-next"])
    assert people[2] and {record.source_id for record in records(tmp_path / "out")} > set()
    entangled = examples(tmp_path / "out", "ubuntu_train_subtask_2")
    assert any(len({message["speaker"] for message in row["messages-so-far"]}) > 4 for row in entangled)
    test = [message for row in examples(tmp_path / "out", "ubuntu_test_subtask_1") for message in row["messages-so-far"]]
    test += [message for row in examples(tmp_path / "out", "ubuntu_test_subtask_2") for message in row["messages-so-far"]]
    assert "2014-04-22" in {message["date"] for message in test} <= {"2014-04-21", "2014-04-22"}, "midnight begins a new day"
    for name in ("train", "dev", "test"):
        for row in examples(tmp_path / "out", f"ubuntu_{name}_subtask_2"):
            shown = {key_hash(candidate_key(message["utterance"])) for message in row["messages-so-far"]}
            others = [option for option in row["options-for-next"] if option not in row["options-for-correct-answers"]]
            assert not any(key_hash(candidate_key(option["utterance"])) in shown for option in others), "nothing shown is a distractor"


def test_manual_pages(tmp_path: Path) -> None:
    (tmp_path / "man").mkdir()
    (tmp_path / "man/frob.1").write_text(".TH FROB 1\n.SH NAME\nfrob \\- turn\n")
    plain("noesis-ubuntu", [LOGS], tmp_path / "out", "links=annotated", f"knowledge={tmp_path / 'man'}", "subtasks=5")
    path = tmp_path / "out/release/ubuntu_manuals.jsonl"
    assert json.loads(path.read_text()) == {"name": "frob", "section": "1", "text": "NAME\nfrob - turn"}
    assert validate_file(path, "noesis-manuals").ok and call("validate", path).code == 0 and call("verify", tmp_path / "out").code == 0


def test_subtask_5_is_subtask_1_with_knowledge(ubuntu: Path) -> None:
    one, five = (examples(ubuntu, f"ubuntu_train_subtask_{number}") for number in (1, 5))
    assert [{**row, "scenario": 5} for row in one] == five


def test_advising_contexts_end_with_the_student(advising: Path) -> None:
    wordings = _wordings()
    for name in ("train", "dev", "test", "test_case1"):
        rows = examples(advising, f"advising_{name}_subtask_1")
        assert rows
        for row in rows:
            assert row["messages-so-far"][-1]["speaker"] == "student" and row["profile"]["Standing"]
            source = _source(row, wordings)
            at = len(row["messages-so-far"])
            assert row["options-for-correct-answers"][0]["utterance"] in source[at][1]
            said = {key_hash(candidate_key(text)) for _, texts in source for text in texts}
            found = [option for option in row["options-for-next"] if key_hash(candidate_key(option["utterance"])) in said]
            assert found == row["options-for-correct-answers"], "no other wording of the answer, and nothing else that was said"


def test_advising_training_forms(advising: Path) -> None:
    whole = json.loads((advising / "release/advising_train_conversations.json").read_text())
    assert len(whole) == len(records(advising, "standard", "train"))
    assert all(3 <= len(message["paraphrases"]) <= 6 for one in whole for message in one["messages"])
    rows = examples(advising, "advising_train_subtask_1")
    assert len(rows) == 60, "partials=60 is met to the number"
    contexts = [json.dumps(row["messages-so-far"]) + row["options-for-correct-answers"][0]["utterance"] for row in rows]
    assert len(set(contexts)) == 60


def test_advising_test_sets(advising: Path) -> None:
    wordings = _wordings()
    train = {record.source_id for record in records(advising, "standard", "train")}
    rows = examples(advising, "advising_test_subtask_1")
    sources = Counter(_source_id(row, wordings) for row in rows)
    assert set(sources.values()) == {5} and not set(sources) & train
    case1 = Counter(_source_id(row, wordings) for row in examples(advising, "advising_test_case1_subtask_1"))
    assert set(case1) & train, "the first test set shares conversations with train"
    assert all(len({json.dumps(row["messages-so-far"]) for row in rows if _source_id(row, wordings) == one}) == 5 for one in sources)


def test_advising_subtask_3_has_one_to_five_answers(advising: Path) -> None:
    counts: Counter[int] = Counter()
    wordings = _wordings()
    for row in examples(advising, "advising_train_subtask_3"):
        right = row["options-for-correct-answers"]
        counts[len(right)] += 1
        _, texts = _source(row, wordings)[len(row["messages-so-far"])]
        assert {one["utterance"] for one in right} <= set(texts)
        assert all(one in row["options-for-next"] for one in right) and len(row["options-for-next"]) == 100
    assert set(counts) <= {1, 2, 3, 4, 5} and len(counts) >= 4


def test_unknown_is_null_in_courses_and_profiles(advising: Path) -> None:
    text = (advising / "release/advising_courses.json").read_text("utf-8")
    assert "null" in text and not re.search(r'"\s*(unknown|n/a|\?|-|)\s*"[,}]', text, re.I)
    assert not re.search(r':\s*"(unknown|n/a|\?)"', (advising / "release/advising_train_conversations.json").read_text("utf-8"), re.I)


def test_advising_in_dstc8_form(tmp_path: Path) -> None:
    plain("noesis-advising", [ADVISING], tmp_path / "out", "form=dstc8", "subtasks=1,3", "partials=80")
    assert call("verify", tmp_path / "out").code == 0
    labels = Counter(label["label"] for row in examples(tmp_path / "out", "advising_train_subtask_3") for label in row["success-labels"])
    assert set(labels) == {"Accept", "Reject", "No Decision Yet"}
    for row in examples(tmp_path / "out", "advising_train_subtask_3"):
        assert all(label["position"] < len(row["messages-so-far"]) for label in row["success-labels"])


def _wordings() -> Wordings:
    loaded = json.loads((ADVISING / "conversations.json").read_text("utf-8"))
    return {
        one["conversation-id"]: (known(one["profile"]), [(m["speaker"], [m["utterance"], *m["paraphrases"]]) for m in one["messages"]])
        for one in loaded
    }


def _source_id(row: dict[str, Any], wordings: Wordings) -> str:
    (found,) = {name for name, (profile, _) in wordings.items() if profile == row["profile"]}
    messages = wordings[found][1]
    for said, (who, texts) in zip(row["messages-so-far"], messages, strict=False):
        assert said["speaker"] == who and said["utterance"] in texts
    return found


def _source(row: dict[str, Any], wordings: Wordings) -> list[tuple[str, Sequence[str]]]:
    return wordings[_source_id(row, wordings)][1]


DAMAGE = {
    "the answer in the context": lambda row: row["messages-so-far"][0].update(
        {"utterance": row["options-for-correct-answers"][0]["utterance"] + "!"}
    ),
    "an answer gone from the options": lambda row: row["options-for-next"].remove(row["options-for-correct-answers"][0]),
    "a candidate twice": lambda row: row["options-for-next"].append({**row["options-for-next"][0], "candidate-id": "A" * 12}),
    "another answer": lambda row: row["options-for-correct-answers"][0].update({"candidate-id": "B" * 12}),
    "nearly the answer": lambda row: row["options-for-next"].append(
        {"candidate-id": "C" * 12, "utterance": row["options-for-correct-answers"][0]["utterance"] + " ehm"}
    ),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_verify_finds_unsound_candidates(what: str, ubuntu: Path, tmp_path: Path) -> None:
    from dialmill.pipelines.benchmarks.noesis.check import check_release

    shutil.copytree(ubuntu, tmp_path / "out")
    path = tmp_path / "out/release/ubuntu_train_subtask_1.json"
    rows = json.loads(path.read_text())
    row = max(rows, key=lambda one: len(one["options-for-correct-answers"][0]["utterance"]))
    DAMAGE[what](row)
    path.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    _, problems = check_release(tmp_path / "out", manifest(ubuntu))
    assert problems and all(str(row["example-id"]) in problem for problem in problems)


def test_verify_runs_the_audit_again(ubuntu: Path, tmp_path: Path) -> None:
    from dialmill.pipelines.benchmarks.noesis.check import check_release

    shutil.copytree(ubuntu, tmp_path / "out")
    path = tmp_path / "out/release/ubuntu_train_subtask_1.json"
    rows = json.loads(path.read_text())
    for row in rows:
        row["options-for-next"].sort(key=lambda one: one not in row["options-for-correct-answers"])
    path.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    _, problems = check_release(tmp_path / "out", manifest(ubuntu))
    assert problems and all("first" in problem for problem in problems)


def test_no_conversation_of_valid_and_test_serves_two_subtasks(ubuntu: Path) -> None:
    for name in ("dev", "test"):
        served = [{row["messages-so-far"][0]["utterance"] for row in examples(ubuntu, f"ubuntu_{name}_subtask_{one}")} for one in (1, 2, 4)]
        assert sum(map(len, served)) == len(set().union(*served)) > 0
    assert any("can't be read from the context of another example" in line for line in call("verify", ubuntu).out.splitlines())


def test_verify_finds_answers_in_the_contexts_of_other_examples(ubuntu: Path, tmp_path: Path) -> None:
    from dialmill.pipelines.benchmarks.noesis.check import check_release

    shutil.copytree(ubuntu, tmp_path / "out")
    asked = examples(ubuntu, "ubuntu_test_subtask_1") + examples(ubuntu, "ubuntu_dev_subtask_1")
    path = tmp_path / "out/release/ubuntu_train_subtask_4.json"
    rows = json.loads(path.read_text())
    for row, one in zip(rows, asked, strict=False):
        row["messages-so-far"] = [*one["messages-so-far"], {"speaker": "participant_2", **one["options-for-correct-answers"][0]}]
        del row["messages-so-far"][-1]["candidate-id"]
    path.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    _, problems = check_release(tmp_path / "out", manifest(ubuntu))
    assert any("are in the context of another example" in problem for problem in problems)


def test_conversations_without_enough_before_the_answer_give_no_example(ubuntu: Path, tmp_path: Path) -> None:
    refused = [reject for reject in rejects(ubuntu, "examples") if reject["reason"] == "no_cut"]
    assert refused and all("short_contexts" in reject["evidence"] for reject in refused)
    plain("noesis-ubuntu", [LOGS], tmp_path / "out", "links=annotated", "subtasks=1", "short_contexts=true", "drop_near_copies=")
    assert min(len(row["messages-so-far"]) for row in examples(tmp_path / "out", "ubuntu_train_subtask_1")) == 1
    assert "no_cut" not in {reject["reason"] for reject in rejects(tmp_path / "out", "examples")}


def test_near_copies_of_training_conversations_leave_the_test_set(tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        (tmp_path / "in" / split).mkdir(parents=True)
    lines, links = [], []
    for number in range(8):
        for at, (who, text) in enumerate(
            [
                ("ann", f"my printer number {number} prints nothing but blank pages today"),
                ("bo", f"ann: is printer {number} out of ink or is the head dirty"),
                ("ann", f"bo: there is ink in all cartridges of it {number}"),
                ("bo", f"ann: then clean the head with escputil {number} and print again"),
            ]
        ):
            line = len(lines)
            lines.append(f"[10:{line % 60:02}] <{who}{number}> " + re.sub(r"^(ann|bo):", rf"\g<1>{number}:", text))
            links.append(f"{line - bool(at)} {line} -")
    for split, keep in (("train", lines), ("dev", lines), ("test", lines)):
        name = {"train": "2005-01-01", "dev": "2006-01-01", "test": "2007-01-01"}[split]
        said = keep if split != "test" else [line.replace("today", "again").replace("escputil", "mtink") for line in keep]
        said = (
            said if split != "dev" else [f"{line[: line.index('>') + 2]}{' '.join(reversed(line[line.index('>') + 2 :].split()))}" for line in said]
        )
        (tmp_path / "in" / split / f"{name}.raw.txt").write_text("\n".join(said) + "\n")
        (tmp_path / "in" / split / f"{name}.annotation.txt").write_text("\n".join(links) + "\n")
    words = ("links=annotated", "subtasks=1", "candidates=5", "undirected_start=false", "keep_common_answers=true")
    plain("noesis-ubuntu", [tmp_path / "in"], tmp_path / "out", *words)
    dropped = [reject for reject in rejects(tmp_path / "out", "examples") if reject["reason"] == "near_copy"]
    assert len(dropped) == 8 and all("2005-01-01#" in reject["evidence"] for reject in dropped), "pairs are listed"
    assert examples(tmp_path / "out", "ubuntu_test_subtask_1") == []
    plain("noesis-ubuntu", [tmp_path / "in"], tmp_path / "kept", *words, "near_copy=1")
    assert len(examples(tmp_path / "kept", "ubuntu_test_subtask_1")) == 8


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("noesis-ubuntu", "--input", DATA / "multiwoz21"), 1, "reads IRC logs"),
        (("noesis-advising", "--input", DATA / "multiwoz21"), 1, "reads advising conversations"),
        (("raddle", "--input", LOGS), 1, "dialmill disentangle"),
        (("noesis-ubuntu", "--input", LOGS, DATA / "multiwoz21"), 1, "can't be built together"),
        (("noesis-ubuntu", "--input", LOGS, "--set", "subtasks=3"), 2, "subtasks of dstc7 are 1, 2, 4, 5"),
        (("noesis-ubuntu", "--input", LOGS, "--set", "candidates=1"), 2, "candidates must be a whole number from 2 to 1000"),
        (("noesis-ubuntu", "--input", LOGS, "--set", "candidates=1000000"), 2, "candidates must be a whole number from 2 to 1000"),
        (("noesis-ubuntu", "--input", LOGS, "--set", "none_share=2"), 2, "from 0 to 1"),
        (("noesis-ubuntu", "--input", LOGS, "--set", "test_from=2010-01-01"), 2, "go together"),
        (("noesis-ubuntu", "--input", LOGS, "--set", "partials=5"), 2, "known keys are"),
        (("noesis-ubuntu", "--input", LOGS, "--set", "links=gold"), 2, "predicted, annotated"),
        (("raddle", "--input", DATA / "multiwoz21", "--set", "links=annotated"), 2, "unknown recipe key 'links'"),
        (("noesis-ubuntu", "--input", LOGS, "--set", "links=annotated", "--set", "knowledge=/gone"), 1, "/gone: does not exist"),
    ],
)
def test_what_cannot_be_built_is_told(words: tuple[object, ...], code: int, message: str, tmp_path: Path) -> None:
    result = call("build", *words, "--output", tmp_path / "out", "--quiet")
    assert result.code == code and message in result.err, result
    assert list(tmp_path.iterdir()) == []


def test_a_log_without_links_is_rejected_where_links_are_annotated(tmp_path: Path) -> None:
    shutil.copytree(LOGS, tmp_path / "in")
    (tmp_path / "in/test/2014-04-21_23.annotation.txt").unlink()
    with (tmp_path / "in/dev/2011-05-20_09.raw.txt").open("a") as stream:
        stream.write("[10:10] <one> line more\n")
    plain("noesis-ubuntu", [tmp_path / "in"], tmp_path / "out", "links=annotated", "subtasks=1")
    reasons = {reject["source_id"]: reject["reason"] for reject in rejects(tmp_path / "out", "read")}
    assert reasons == {"2014-04-21_23": "not_annotated", "2011-05-20_09": "line_counts_differ"}


def test_disentangle_writes_links_that_score_perfectly_against_themselves(tmp_path: Path) -> None:
    words = ("disentangle", "--input", LOGS, "--output", tmp_path / "out", "--set", "links=annotated", "--quiet")
    assert call(*words) == (0, "", "")
    assert call("verify", tmp_path / "out").code == 0
    name = "2009-11-02"
    assert (tmp_path / f"out/links/{name}.annotation.txt").read_bytes() == (LOGS / f"train/{name}.annotation.txt").read_bytes()
    scored = call("score", "disentanglement", "--gold", LOGS, "--predictions", tmp_path / "out", "--json", tmp_path / "score.json")
    assert scored.code == 0, scored.err
    made = json.loads((tmp_path / "score.json").read_text())
    assert made["metrics"]["link_f"] == made["metrics"]["vi"] == made["metrics"]["exact_f"] == 100 and made["counts"]["files"] == 4
    renamed = next(record for record in records(tmp_path / "out", "standard", "train") if "nvidia driver is broken" in record.turns[0].utterance)
    assert [turn.labels[0] for turn in renamed.turns][:3] == ["speaker=kim", "speaker=hazel|work", "speaker=kim"]
    assert "speaker=kim_afk" in {turn.labels[0] for turn in renamed.turns}


@pytest.mark.parametrize("form", ["graphs", "clusters"])
def test_links_of_many_logs_in_one_file(form: str, tmp_path: Path) -> None:
    """Upstream's two forms are written, cut to the annotated start, and read again as input and by the scorer."""
    call("disentangle", "--input", LOGS, "--output", tmp_path / "own", "--set", "links=annotated", "--quiet")
    written = tmp_path / f"own/links.{form}.txt"
    name = "2009-11-02"
    start = min(max(map(int, line.split()[:2])) for line in (LOGS / f"train/{name}.annotation.txt").read_text().splitlines())
    mine = [line.partition(":")[2].split() for line in written.read_text().splitlines() if line.startswith(f"{name}:")]
    assert start > 0 and min(int(ids[-1 if form == "clusters" else 1]) for ids in mine) == start
    shutil.copytree(LOGS, tmp_path / "logs", ignore=shutil.ignore_patterns("*.annotation.txt"))
    shutil.copyfile(written, tmp_path / "logs/gold.txt")
    assert call("disentangle", "--input", tmp_path / "logs", "--output", tmp_path / "again", "--set", "links=annotated", "--quiet") == (0, "", "")
    for gold in (LOGS, written):
        for predictions in (written, tmp_path / "again", tmp_path / f"again/links.{form}.txt"):
            scored = call("score", "disentanglement", "--gold", gold, "--predictions", predictions, "--json", "-")
            metrics = json.loads(scored.out)["metrics"]
            assert metrics["vi"] == metrics["exact_f"] == 100 and (form == "clusters" or metrics["link_f"] == 100)
            assert ("link_f" in metrics) == (form == "graphs" or (gold is LOGS and predictions == tmp_path / "again"))


def test_damaged_links_of_many_logs_are_told(tmp_path: Path) -> None:
    (tmp_path / "bad.graphs.txt").write_text("a:1 2 -\na:3 x -\n")
    result = call("score", "disentanglement", "--gold", LOGS, "--predictions", tmp_path / "bad.graphs.txt")
    assert result.code == 1 and "line 2" in result.err and "'NAME:A B -'" in result.err


def test_predicted_links_on_every_engine(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    plain("disentangle", [LOGS], tmp_path / "plain")
    assert call("disentangle", "--input", LOGS, "--output", tmp_path / "beam", "--quiet").code == 0
    assert hashes(tmp_path / "plain") == hashes(tmp_path / "beam")
    scored = call("score", "disentanglement", "--gold", LOGS, "--predictions", tmp_path / "beam", "--json", "-")
    assert json.loads(scored.out)["metrics"]["link_f"] > 60
    plain("noesis-ubuntu", [LOGS], tmp_path / "noesis", "subtasks=1")
    assert len(records(tmp_path / "noesis")) >= 20


@pytest.mark.parametrize(
    ("gold", "predictions", "message"),
    [("gone", "in", "does not exist"), ("in", "empty", "holds no NAME.annotation.txt"), ("in", "part", "no predictions for")],
)
def test_scores_refuse_what_is_not_there(gold: str, predictions: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    shutil.copytree(LOGS, tmp_path / "in")
    shutil.copytree(LOGS / "dev", tmp_path / "part")
    result = call("score", "disentanglement", "--gold", tmp_path / gold, "--predictions", tmp_path / predictions)
    assert result.code == 1 and message in result.err


def test_logs_can_be_shown(ubuntu: Path) -> None:
    source = records(ubuntu, "standard", "train")[0].source_id
    assert call("show", ubuntu, "--id", source).code == 0


def official_metrics(predictions: Path, targets: Path) -> dict[str, float]:
    """What the published metrics.py of DSTC7 Task 1 computes, read from its two files as it reads them: ids as text, targets in upper case, the
    rank of the first hit of any target."""
    wanted = dict(line.split("\t") for line in targets.read_text("utf-8").splitlines())
    ranks = []
    for prediction in json.loads(predictions.read_text("utf-8")):
        answers = wanted[prediction["example-id"]].upper().split(",")
        ranked = [candidate["candidate-id"] for candidate in prediction["candidate-ranking"]]
        ranks.append(next((place for place, candidate in enumerate(ranked, 1) if candidate in answers), 0))
    assert len(ranks) == len(wanted)
    found = {f"recall@{k}": sum(0 < rank <= k for rank in ranks) / len(ranks) for k in (1, 10, 50, 100)}
    return found | {"mrr": sum(1 / rank for rank in ranks if rank) / len(ranks)}


@pytest.mark.parametrize("name", ["ubuntu_test_subtask_1", "ubuntu_test_subtask_4", "advising_test_subtask_3", "advising_test_subtask_4"])
def test_the_official_metrics_read_targets_and_predictions(name: str, ubuntu: Path, advising: Path, tmp_path: Path) -> None:
    folder = ubuntu if name.startswith("ubuntu") else advising
    for best_first in (True, False):
        predictions = []
        for example in examples(folder, name):
            golds = [candidate["candidate-id"] for candidate in example["options-for-correct-answers"]] or ["NONE"]
            others = [candidate["candidate-id"] for candidate in example["options-for-next"] if candidate["candidate-id"] not in golds]
            ranked = golds + others if best_first else others + golds
            ranking = [{"candidate-id": candidate, "confidence": 1 / place} for place, candidate in enumerate(ranked, 1)]
            predictions.append({"example-id": str(example["example-id"]), "candidate-ranking": ranking})
        (tmp_path / "predictions.json").write_text(json.dumps(predictions), "utf-8")
        metrics = official_metrics(tmp_path / "predictions.json", folder / "release" / f"{name}.targets.tsv")
        if best_first:
            assert set(metrics.values()) == {1.0}
        else:
            assert metrics["recall@1"] == 0 and metrics["mrr"] < 0.1
