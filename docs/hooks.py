"""Pages made of the code's own help: each perturber with its options, each benchmark with its recipe. Read by mkdocs.yml."""

from __future__ import annotations

from typing import Any

from dialmill.perturbers import get as get_perturber
from dialmill.perturbers import names as perturber_names
from dialmill.perturbers.core import options
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.sources import registry as sources
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: Any) -> Files:
    """Adds the generated pages."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def pages() -> dict[str, str]:
    """Path -> Markdown."""
    made = {}
    for name in perturber_names():
        kind = get_perturber(name)
        about = " ".join((kind.__doc__ or "").split("Args:")[0].split())
        made[f"perturbers/{name}.md"] = f"# {name}\n\n{about}\n\n{_table(options.facts(kind, name))}"
    for name in benchmarks.names():
        benchmark = benchmarks.get(name)
        facts = options.facts(benchmark.recipe(), name, options.RECIPE, benchmark.load_recipe())
        paper = f"\n\n{benchmark.paper}." if benchmark.paper else ""
        made[f"benchmarks/{name}.md"] = f"# {name}\n\n{benchmark.about}.{paper}\n\n## Recipe\n\n{_table(facts)}"
    for name in sources.names():
        source = sources.get(name)
        made[f"sources/{name}.md"] = f"# {name}\n\n{source.about}.\n\nLanguage: {source.language}. Licence of the data: {source.licence}.\n"
    return made


def _table(facts: list[dict[str, str]]) -> str:
    rows = ["| option | meaning | takes | default | example |", "|---|---|---|---|---|"]
    for one in facts:
        cells = [f"`{one['name']}`", one["about"], one["allowed"] + (f" ({one['unit']})" if one["unit"] else ""), one["default"], one["example"]]
        rows.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;") for cell in cells) + " |")
    return "\n".join(rows) + "\n"
