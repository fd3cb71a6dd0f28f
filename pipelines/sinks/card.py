"""README.md of an output folder: a Hugging Face dataset card, so that ``load_dataset(DIR, "typos")`` works and people know what they have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from dialmill.pipelines.core.benchmark import Job
from dialmill.pipelines.sinks.manifest import SPLIT_FILES

#: From the freest to the strictest; a licence that isn't here counts as the strictest.
_STRICTNESS = ("CC0", "MIT", "Apache-2.0", "BSD", "CC BY 3.0", "CC BY 4.0", "CDLA-Sharing-1.0", "CC BY-SA 4.0", "CC BY-NC 4.0")
#: Names that Hugging Face knows.
_HUB_NAMES = {
    "MIT": "mit",
    "Apache-2.0": "apache-2.0",
    "CC BY 3.0": "cc-by-3.0",
    "CC BY 4.0": "cc-by-4.0",
    "CC BY-SA 4.0": "cc-by-sa-4.0",
    "CC BY-NC 4.0": "cc-by-nc-4.0",
}


def strictest(licences: list[str]) -> str:
    """The licence that binds a mixture."""
    return max(licences, key=lambda name: (_STRICTNESS.index(name) if name in _STRICTNESS else len(_STRICTNESS), name))


def make(job: Job, manifest: dict[str, Any]) -> str:
    """The card of a finished run."""
    recipe = job.recipe
    # A source that the recipe leaves out for its licence binds nothing.
    used = [item for item in manifest["inputs"] if item["records"] and not (recipe.commercial and "NC" in str(item["licence"]))]
    licences = sorted({str(item["licence"]) for item in used})
    binding = strictest(licences) if licences else "unknown"
    counts = {item["path"]: item["records"] for item in manifest["outputs"]}
    front = _front_matter(job, binding, counts)
    lines = [
        "---",
        yaml.safe_dump(front, sort_keys=False, allow_unicode=True).rstrip(),
        "---",
        "",
        f"# {recipe.benchmark}",
        "",
        f"{job.benchmark.about}. Made by dialmill {manifest['dialmill']}, seed {manifest['seed']}, splits: {manifest['splits']}.",
        "",
        "| suite | " + " | ".join(SPLIT_FILES) + " |",
        "|---|" + "---|" * len(SPLIT_FILES),
    ]
    for suite in recipe.suites:
        lines.append(f"| {suite} | " + " | ".join(f"{counts.get(f'dialogues/{suite}/{split}.jsonl', 0):,}" for split in SPLIT_FILES) + " |")
    if recipe.few_shot:
        few = {suite: counts[path] for suite in recipe.suites if (path := f"few_shot/{suite}/train.jsonl") in counts}
        shown = ", ".join(f"{suite} {number:,}" for suite, number in few.items()) or "none"
        lines += ["", f"`few_shot/SUITE/train.jsonl` repeats {recipe.few_shot:.0%} of train ({shown}); a smaller share is part of a larger one."]
    notes = [f"- {suite.name}: {note}" for suite in recipe.suite_plan() for note in suite.perturber.card_notes]
    lines += ["", "## Suites", "", *notes] if notes else []
    lines += [*_difficulty(manifest), *_sources(used, binding), *_stages(manifest), *_audit(manifest)]
    if manifest["warnings"]:
        lines += ["", "## Warnings", ""] + [f"- {warning}" for warning in manifest["warnings"]]
    lines += ["", "The recipe, seed and a sha256 of every file stand in `manifest.json`; rejected records with their reasons in `rejects/`.", ""]
    return "\n".join(lines)


def _front_matter(job: Job, licence: str, counts: Mapping[str, int]) -> dict[str, Any]:
    """What the Hub reads of the card; `counts` has the records of every file."""
    recipe = job.recipe
    return {
        "pretty_name": f"{recipe.benchmark} by dialmill",
        "license": _HUB_NAMES.get(licence, "other"),
        "task_categories": ["text-generation"],
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


def _audit(manifest: Mapping[str, Any]) -> list[str]:
    """What rankers that know nothing of dialogue reach, where there are candidates; else nothing."""
    if not manifest.get("audit"):
        return []
    lines = ["", "## Audit of the candidates", ""]
    lines += ["Recall at 1 of rankers that know nothing of dialogue; the first four should stand near chance.", ""]
    lines += ["| file | examples | chance | first | longest | shortest | names | TF-IDF |", "|---|---|---|---|---|---|---|---|"]
    for path, found in manifest["audit"].items():
        figures = " | ".join(f"{found[name]:.4f}" for name in ("chance", "first", "longest", "shortest", "names", "tfidf"))
        lines.append(f"| {path} | {found['examples']:,} | {figures} |")
    return lines


def _rows_path(suite: str, split: str) -> str:
    return f"dialogues/{suite}/{split}.parquet"
