"""Recipe keys about wording: prompts for the engine llm, and the typography of all suites alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers import Chain, get
from dialmill.perturbers.insertion.knowledge import modelled
from dialmill.perturbers.rewording.rewriter import REWRITERS, Rewriter
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.core.errors import UsageError
from dialmill.schemas.edits import edit_text

from tests.llm_server import serve as serve
from tests.pipelines.tools import DATA, call, hashes, plain, records


def test_a_prompt_is_a_recipe_key_and_may_hold_commas_and_colons(tmp_path: Path) -> None:
    prompt = "Say it briefly, politely: as a tourist, in a hurry."
    settings = ["perturbations.paraphrase=paraphrase:engine=llm,model=m+typos", f"prompts.paraphrase={prompt}", "suites=paraphrase,verbosity"]
    plan = {suite.name: suite.perturber for suite in benchmarks.load_recipe("raddle", None, settings).suite_plan()}
    chain = plan["paraphrase"]
    assert isinstance(chain, Chain) and chain.links[0].params["prompt"] == prompt and chain.links[0].params["donors_from"] == "input"
    assert plan["verbosity"].params["prompt"] == ""
    own = f'prompts: {{paraphrase: "{prompt}"}}\nperturbations: {{paraphrase: "paraphrase:engine=llm,model=m"}}\n'
    (tmp_path / "own.yaml").write_text(own, "utf-8")
    assert benchmarks.load_recipe("raddle", str(tmp_path / "own.yaml")).prompts == {"paraphrase": prompt}
    with pytest.raises(UsageError, match="'typos' takes no prompt; those that do are: paraphrase, simplification, verbosity, knowledge"):
        benchmarks.load_recipe("raddle", None, ["prompts.typos=misspell"])
    assert all(issubclass(get(name), Rewriter) for name in REWRITERS)


def test_knowledge_questions_worded_by_a_model(serve: Any, tmp_path: Path) -> None:
    kinds = ("about", "on", "as to", "for", "with", "over", "around", "behind", "beyond", "under")

    def reply(number: int, body: dict[str, Any]) -> str:
        title = body["messages"][1]["content"].removeprefix("The question: ").rstrip("?").lower()
        return "\n".join(f"{place}. What is the word {kind} {title}?" for place, kind in enumerate(kinds))

    server = serve(reply)
    settings = [
        f"knowledge={DATA / 'dstc9_track1/knowledge.json'}",
        "suites=standard,knowledge",
        "perturbations.knowledge=knowledge:engine=llm,model=m",
        "hard_baselines=",
    ]
    asked = "prompts.knowledge=Word it."
    modelled.wordings.cache_clear()
    first = plain("dstc9-track1", [DATA / "multiwoz21"], tmp_path / "one", *settings, asked)
    assert server.asked and all(asked["messages"][0]["content"].startswith("Word it.") for asked in server.asked)
    said: dict[str, set[str]] = {"train": set(), "test": set()}
    for split, texts in said.items():
        for record in records(tmp_path / "one", "knowledge", split):
            texts |= {turn.utterance for turn in record.turns if "knowledge_seeking" in turn.labels and "the word" in turn.utterance}
    assert said["train"] and said["test"] and not said["train"] & said["test"]
    assert call("verify", tmp_path / "one").code == 0
    # Without the model: the same from the cache, and by the rules, with a warning, where that is empty too.
    server.reply = lambda number, body: (401, {}, b"")
    modelled.wordings.cache_clear()
    plain("dstc9-track1", [DATA / "multiwoz21"], tmp_path / "again", *settings, asked)
    assert hashes(tmp_path / "again", "dialogues") == hashes(tmp_path / "one", "dialogues")
    refused = plain("dstc9-track1", [DATA / "multiwoz21"], tmp_path / "two", *settings, "prompts.knowledge=Say it.")
    told = "knowledge: questions worded by rules in place of the model (llm_failed)"
    assert refused["notes"][told] and told not in first["notes"]
    assert any(told in warning for warning in refused["warnings"])


def test_typography_is_the_same_in_every_suite(tmp_path: Path) -> None:
    suites = "suites=standard,paraphrase,typos,unseen"
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "kept", suites)
    plain("raddle", [DATA / "multiwoz21"], tmp_path / "joined", suites, "typography=join")
    for suite in ("standard", "paraphrase", "typos"):
        kept = {one.dialogue_id: one for one in records(tmp_path / "kept", suite)}
        joined = {one.dialogue_id: one for one in records(tmp_path / "joined", suite)}
        assert kept.keys() == joined.keys() and kept
        apart = 0
        for key, made in joined.items():
            assert made.lineage[-1].step == "typography@1"
            for turn, old in zip(made.turns, kept[key].turns, strict=True):
                assert turn.utterance.replace(" ", "") == old.utterance.replace(" ", "") and turn.source_text == old.source_text
                assert " ," not in turn.utterance and " 'm" not in turn.utterance
                apart += " ," in old.utterance or " ." in old.utterance
                if turn.original is not None:
                    assert edit_text(turn.original, turn.edits) == turn.utterance
                assert all(turn.utterance[span.start : span.end] == span.text for span in turn.spans if span.start is not None)
        assert apart
    result = call("verify", tmp_path / "joined")
    assert result.code == 0, result.err + result.out


def test_names_of_earlier_releases_fail_naming_the_new(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the recipe key twins_from is called donors_from now"):
        benchmarks.load_recipe("raddle", None, ["twins_from=train"])
    (tmp_path / "old.yaml").write_text("twins_from: train\n", "utf-8")
    with pytest.raises(UsageError, match="twins_from is called donors_from"):
        benchmarks.load_recipe("raddle", str(tmp_path / "old.yaml"))
    for text, message in (
        ("paraphrase:twins_from=train", "paraphrase: the option twins_from is called donors_from now"),
        ("verbosity:engine=twins", "verbosity: the option engine=twins is called engine=donors now"),
        ("knowledge:twins=avoid", "knowledge: the option twins is called ambiguous now"),
    ):
        with pytest.raises(UsageError, match=message):
            benchmarks.load_recipe("raddle", None, [f"perturbations.typos={text}"])
