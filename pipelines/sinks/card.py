"""README.md of an output folder: a Hugging Face dataset card, so that ``load_dataset(DIR, "typos")`` works and people know what they have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml
from dialmill.pipelines.candidates.examples import release_parts
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Job
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.subsets import FEW, HARD
from dialmill.pipelines.sinks.manifest import SPLIT_FILES
from dialmill.pipelines.stages import losses
from dialmill.pipelines.stages.few_shot import LEAST
from dialmill.pipelines.stages.hard import CHECK_COLUMNS, check_rows

#: From the freest to the strictest; a licence that isn't here counts as the strictest.
_STRICTNESS = ("CC0", "MIT", "Apache-2.0", "BSD", "CC BY 3.0", "CC BY 4.0", "CDLA-Sharing-1.0", "CC BY-SA 4.0", "CC BY-NC 4.0", "CC BY-NC-SA 4.0")
#: How much of a file of records is looked at for their languages.
_LOOKED_AT = 1 << 20
_LANGUAGE = re.compile(rb'"language":"(\w+)"')
#: Names that Hugging Face knows.
_HUB_NAMES = {
    "MIT": "mit",
    "Apache-2.0": "apache-2.0",
    "CC BY 3.0": "cc-by-3.0",
    "CC BY 4.0": "cc-by-4.0",
    "CC BY-SA 4.0": "cc-by-sa-4.0",
    "CC BY-NC 4.0": "cc-by-nc-4.0",
    "CC BY-NC-SA 4.0": "cc-by-nc-sa-4.0",
}


def strictest(licences: list[str]) -> str:
    """The licence that binds a mixture."""
    return max(licences, key=lambda name: (_STRICTNESS.index(name) if name in _STRICTNESS else len(_STRICTNESS), name))


def make(job: Job, manifest: dict[str, Any], languages: Sequence[str]) -> str:
    """The card of a finished run, whose dialogues are in these languages."""
    recipe = job.recipe
    # A source that the recipe leaves out for its licence binds nothing.
    used = [item for item in manifest["inputs"] if item["records"] and not (recipe.commercial and "NC" in str(item["licence"]))]
    licences = sorted({str(item["licence"]) for item in used})
    binding = strictest(licences) if licences else "unknown"
    counts = {item["path"]: item["records"] for item in manifest["outputs"]}
    front = _front_matter(job, binding, languages, counts)
    seed = "seed held back" if manifest["seed"] is None else f"seed {manifest['seed']}"
    lines = [
        "---",
        yaml.safe_dump(front, sort_keys=False, allow_unicode=True).rstrip(),
        "---",
        "",
        f"# {recipe.benchmark}",
        "",
        f"{job.benchmark.about}. Made by dialmill {manifest['dialmill']}, {seed}, splits: {manifest['splits']}.",
        "",
        "| suite | " + " | ".join(SPLIT_FILES) + " |",
        "|---|" + "---|" * len(SPLIT_FILES),
    ]
    for suite in recipe.suites:
        lines.append(f"| {suite} | " + " | ".join(f"{counts.get(f'dialogues/{suite}/{split}.jsonl', 0):,}" for split in SPLIT_FILES) + " |")
    if recipe.few_shot:
        few = {suite: counts[path] for suite in recipe.suites if (path := f"few_shot/{suite}/train.jsonl") in counts}
        shown = ", ".join(f"{suite} {number:,}" for suite, number in few.items()) or "none"
        asked = f"{recipe.few_shot:.0%} of train" if recipe.few_shot <= 1 else f"{recipe.few_shot:.0f} dialogues of each domain of train"
        label = "label" if recipe.held_out_labels else "label that test has"
        least = f"at least {LEAST} of each domain and of each {label}, where train has so many"
        lines += ["", f"`few_shot/SUITE/train.jsonl` repeats {asked}, {least} ({shown}); smaller sets are subsets of larger ones."]
    lines += _loading(_inner_configs(job, manifest), front["configs"])
    notes = [f"- {suite.name}: {note}" for suite in recipe.suite_plan() for note in suite.perturber.card_notes]
    lines += ["", "## Suites", "", *notes] if notes else []
    lines += [*_difficulty(manifest), *_losses(manifest), *_hard(manifest), *_sources(used, binding), *_stages(manifest), *_audit(manifest)]
    if manifest["warnings"]:
        lines += ["", "## Warnings", ""] + [f"- {warning}" for warning in manifest["warnings"]]
    if recipe.held_out_labels:
        lines += ["", *_blind(recipe)]
    lines += ["", "The recipe, seed and a sha256 of every file are in `manifest.json`; rejected records with their reasons in `rejects/`.", ""]
    return "\n".join(lines)


def _blind(recipe: Recipe) -> list[str]:
    """What a reader must know of a test split whose labels are held out."""
    how = "in one suite, drawn by hash" if recipe.blind_suites == "single" else "in every suite, so that the unperturbed text is public"
    return [
        f"The labels of the test split are held out. Each test dialogue is published {how}; the sizes are those of the table above. Records end"
        " with the last user turn, and where a dialogue would answer its own instances, they are in the release alone. The private part (`labels/`)"
        " holds the whole records, the answers, the seed, the digests of the inputs, the hard sets and what is counted on answers. Which dialogues"
        " are hard says, with the baselines that chose them and that anybody can train, where these are wrong.",
        "",
        "What this cannot hide: who has the public corpus that the dialogues come from has their source text and its labels. In multi-turn releases"
        " the histories of later turns show the system's earlier replies.",
    ]


def binding_licence(job: Job, manifest: Mapping[str, Any]) -> str:
    """The licence that binds the whole of an output; "unknown" where no input was used."""
    licences = {str(item["licence"]) for item in manifest["inputs"] if item["records"]}
    if job.recipe.commercial:
        licences = {name for name in licences if "NC" not in name}
    return strictest(sorted(licences)) if licences else "unknown"


def languages_of(job: Job, folder: str, outputs: Iterable[Mapping[str, Any]]) -> list[str]:
    """The languages of a run's dialogues, sorted: those of its corpora, and where these can have several, those that the first records say."""
    possible = {language for source in job.sources.values() for language in source.language.split(", ")}
    if len(possible) < 2:
        return sorted(possible)
    said: set[str] = set()
    for one in outputs:
        if one["records"] and str(one["path"]).startswith("dialogues/") and str(one["path"]).endswith(".jsonl"):
            said.update(found.decode() for found in _LANGUAGE.findall(files.read_head(files.join(folder, str(one["path"])), _LOOKED_AT)))
    return sorted(said & possible or possible)


def size_category(records: int) -> str:
    """A number of records in the Hub's classes: "n<1K", "1K<n<10K", ..., "n>1T"."""
    steps = ("1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B", "100B", "1T")
    below = next((place for place in range(len(steps)) if records < 10 ** (3 + place)), None)
    if below is None:
        return f"n>{steps[-1]}"
    return f"n<{steps[0]}" if below == 0 else f"{steps[below - 1]}<n<{steps[below]}"


def _front_matter(job: Job, licence: str, languages: Sequence[str], counts: Mapping[str, int]) -> dict[str, Any]:
    """What the Hub reads of the card; `counts` has the records of every file."""
    recipe = job.recipe
    rows = sum(counts.get(f"dialogues/{suite}/{split}.jsonl", 0) for suite in recipe.suites for split in SPLIT_FILES[:3])
    return {
        "pretty_name": f"{recipe.benchmark} by dialmill",
        "language": list(languages),
        "license": _HUB_NAMES.get(licence, "other"),
        "size_categories": [size_category(rows)],
        **_tasks(job, counts),
        "tags": ["task-oriented-dialogue", "robustness", "dialmill"],
        "configs": [
            {
                "config_name": suite,
                # The datasets library refuses a config with a split that has no rows.
                "data_files": [{"split": split, "path": _rows_path(suite, split)} for split in SPLIT_FILES if counts.get(_rows_path(suite, split))],
                **({"default": True} if place == 0 else {}),
            }
            for place, suite in enumerate(recipe.suites)
            if any(counts.get(_rows_path(suite, split)) for split in SPLIT_FILES)
        ],
    }


def _loading(inner: Mapping[str, Mapping[str, Any]], suites: Sequence[Mapping[str, Any]]) -> list[str]:
    """How each config is loaded, those of the folders with cards of their own too."""
    found = {"DIR": [str(one["config_name"]) for one in suites]}
    found |= {f"DIR/{folder}": list(configs) for folder, configs in inner.items()}
    lines = [f'- `load_dataset("{folder}", NAME)`, with NAME one of {", ".join(names)}' for folder, names in found.items() if names]
    return ["", "## Loading", "", "With the datasets library, where DIR is this folder:", "", *lines] if lines else []


def _tasks(job: Job, counts: Mapping[str, int]) -> dict[str, list[str]]:
    """The Hub's words for what the data is for; files of examples with candidates make it a task of selection, whatever the benchmark."""
    if any(release_parts(path) is not None for path in counts):
        return {"task_categories": ["text-retrieval"], "task_ids": ["utterance-retrieval"]}
    return {"task_categories": list(job.benchmark.task_categories), "task_ids": list(job.benchmark.task_ids)}


def inner_cards(job: Job, manifest: Mapping[str, Any], languages: Sequence[str]) -> dict[str, str]:
    """Cards of folders inside the output, path -> text: ``load_dataset("DIR/few_shot", SUITE)`` gives the few-shot training part of a suite, and
    ``load_dataset("DIR/release", "subtask_1")`` the examples of a selection benchmark, not the conversations that they were cut from; those of the
    hard test set are the split test_hard, those of the few-shot set the config few_shot_subtask_1.

    They are cards of their own since the datasets library reads all configs of one card by one kind of file, and those of the output are Parquet.
    """
    counts = _counts(manifest)
    titles = {"few_shot": f"{job.recipe.benchmark}: few-shot training dialogues", "release": f"{job.recipe.benchmark}: examples by subtask"}
    found = {}
    for folder, configs in _inner_configs(job, manifest).items():
        front = {
            "language": list(languages),
            "license": _HUB_NAMES.get(binding_licence(job, manifest), "other"),
            "size_categories": [size_category(sum(counts[f"{folder}/{one['path']}"] for data in configs.values() for one in data))],
            **_tasks(job, counts),
            "configs": [{"config_name": name, "data_files": data} for name, data in configs.items()],
        }
        header = yaml.safe_dump(front, sort_keys=False, allow_unicode=True).rstrip()
        found[f"{folder}/README.md"] = f"---\n{header}\n---\n\n# {titles[folder]}\n\nSee `README.md` of the folder above.\n"
    return found


def _counts(manifest: Mapping[str, Any]) -> dict[str, int]:
    """The records of each file of the output."""
    return {str(item["path"]): int(item["records"] or 0) for item in manifest["outputs"]}


def _inner_configs(job: Job, manifest: Mapping[str, Any]) -> dict[str, dict[str, list[dict[str, str]]]]:
    """The files of each config of the folders with cards of their own, by folder and name of the config; folders without any are left out."""
    counts = _counts(manifest)
    few: dict[str, list[dict[str, str]]] = {}
    for suite in job.recipe.suites:
        if counts.get(f"few_shot/{suite}/train.jsonl"):
            few[suite] = [{"split": "train", "path": f"{suite}/train.jsonl"}]
    examples: dict[str, list[dict[str, str]]] = {}
    for path in filter(counts.__getitem__, sorted(counts)):
        subset = next((name for name in (FEW, HARD) if path.startswith(f"release/{name}/")), "")
        parts = release_parts(path.replace(f"{subset}/", "", 1) if subset else path)
        if parts is not None:
            name = f"subtask_{parts.subtask}"
            split = HARD if subset == HARD else parts.split
            examples.setdefault(f"{FEW}_{name}" if subset == FEW else name, []).append({"split": split, "path": path.removeprefix("release/")})
    for data in examples.values():
        data.sort(key=lambda one: next((place for place, split in enumerate(("train", "valid", "test")) if one["split"] == split), 3))
    inner = {"few_shot": few, "release": dict(sorted(examples.items()))}
    return {folder: configs for folder, configs in inner.items() if configs}


def _sources(used: Iterable[Mapping[str, Any]], licence: str) -> list[str]:
    """The input files that were used, and the licence that binds the whole."""
    lines = [f"- `{item['path']}`: {item['records']:,} records of {item['source']}, {item['licence']}" for item in used]
    return ["", "## Sources", "", *lines, "", f"The strictest licence among them binds the whole: {licence}."]


def _stages(manifest: Mapping[str, Any]) -> list[str]:
    """What went into every stage and came out, as a table."""
    lines = ["", "## Counts", "", "| stage | in | made | out | rejected |", "|---|---|---|---|---|"]
    for stage in manifest["stages"]:
        rejected = ", ".join(f"{reason} {number:,}" for reason, number in stage["rejected"].items()) or "0"
        lines.append(f"| {stage['name']} | {stage['in']:,} | {stage['made']:,} | {stage['out']:,} | {rejected} |")
    return lines


def _difficulty(manifest: Mapping[str, Any]) -> list[str]:
    """How far the wording of each suite is from what a system can have seen, where there are perturbed suites; else nothing."""
    if not manifest.get("difficulty"):
        return []
    lines = ["", "## Difficulty of the wording", ""]
    lines += ["User turns of test dialogues. Novel: in no user turn of the input outside test."]
    lines += ["Near-copy: the source's words, but for frames and particles."]
    lines += ["", "| suite | turns changed | novel bigrams | novel words | near-copies | token edits per token |", "|---|---|---|---|---|---|"]
    for suite, found in manifest["difficulty"].items():
        shown = [found["changed_share"], *(found["all"][name] for name in ("novel_bigrams", "novel_words", "near_copies", "distance"))]
        lines.append(f"| {suite} | " + " | ".join("" if one is None else f"{one:.3f}" for one in shown) + " |")
    return lines


def _losses(manifest: Mapping[str, Any]) -> list[str]:
    """What the suites cost light baselines, where a panel judged them; else nothing."""
    found = losses.rows(manifest.get("hard") or {})
    if not found:
        return []
    lines = ["", "## What the suites cost", ""]
    lines += [
        "Light baselines on the unperturbed text and on the suite, in per cent, over the same test dialogues: means, and for how many kinds of"
        " baselines the 95 % interval (paired bootstrap) of the loss lies above 0. Each kind's figures are in `manifest.json`."
    ]
    lines += ["", "| " + " | ".join(losses.COLUMNS) + " |", "|---" * len(losses.COLUMNS) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in found]


def _hard(manifest: Mapping[str, Any]) -> list[str]:
    """Whether test_hard is hard for a baseline that had no say in choosing it, where there is one; else nothing."""
    if not manifest.get("hard"):
        return []
    lines = ["", "## Hard test sets", ""]
    lines += ["Accuracy of a kind of baseline that had no part in the choice: test / hard / 95 % of random subsets of the same lengths."]
    lines += ["", "| " + " | ".join(CHECK_COLUMNS) + " |", "|---" * len(CHECK_COLUMNS) + "|"]
    return lines + ["| " + " | ".join(row) + " |" for row in check_rows(manifest["hard"])]


def _audit(manifest: Mapping[str, Any]) -> list[str]:
    """What rankers that know nothing of dialogue reach, where there are candidates; else nothing."""
    if not manifest.get("audit"):
        return []
    lines = ["", "## Audit of the candidates", ""]
    lines += ["Recall at 1 of rankers that know nothing of dialogue; the first four should be near chance.", ""]
    lines += ["| file | examples | chance | first | longest | shortest | names | TF-IDF |", "|---|---|---|---|---|---|---|---|"]
    for path, found in manifest["audit"].items():
        figures = " | ".join(f"{found[name]:.4f}" for name in ("chance", "first", "longest", "shortest", "names", "tfidf"))
        lines.append(f"| {path} | {found['examples']:,} | {figures} |")
    return lines


def _rows_path(suite: str, split: str) -> str:
    return f"dialogues/{suite}/{split}.parquet"
