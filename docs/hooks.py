"""Pages made of the code's own help: each perturber with its options, each benchmark with its recipe, each source, exporter and engine; and the
weights with their digests. Read by mkdocs.yml."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from dialmill.perturbers import get as get_perturber
from dialmill.perturbers import names as perturber_names
from dialmill.perturbers.core import options
from dialmill.perturbers.speech.engines import registry as engines
from dialmill.perturbers.speech.weights import PACKAGED
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.exporters import registry as exporters
from dialmill.pipelines.sources import registry as sources
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: Any) -> Files:
    """Adds the generated pages."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


#: Pages that head the generated ones, each with the names whose pages lie in the folder of that name.
_HEADS = {
    "perturbers": perturber_names,
    "benchmarks": benchmarks.names,
    "sources": sources.names,
    "exporters": exporters.names,
    "engines": engines.REGISTRY.names,
}


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Puts links to the generated pages below the title of the page that they belong to."""
    names = _HEADS.get(page.file.src_uri.removesuffix(".md"))
    if names is None:
        return markdown
    folder = page.file.src_uri.removesuffix(".md")
    listed = ", ".join(f"[{name}]({folder}/{name}.md)" for name in names())
    title, _, rest = markdown.partition("\n")
    return f"{title}\n\nEach has a page, made of the program's own help: {listed}.\n{rest}"


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
        made[f"sources/{name}.md"] += _docstring(type(source))
    for name in exporters.names():
        exporter = exporters.get(name)
        back = f" Our source [{exporter.reads_back}](../sources/{exporter.reads_back}.md) reads it back." if exporter.reads_back else ""
        labels = "" if exporter.keeps_labels else " The format has no place for labels." if not exporter.needs_labels else ""
        made[f"exporters/{name}.md"] = f"# {name}\n\n{exporter.about}.{back}{labels}\n" + _docstring(type(exporter))
    for name in engines.REGISTRY.names():
        kind = engines.REGISTRY.load(name)
        info = engines.declared(kind)
        what = {"tts": "a voice (TTS)", "asr": "a recogniser (ASR)", "effects": "effects on the audio"}[info.kind]
        about = f"{info.about[:1].upper()}{info.about[1:]}. It is {what} for {', '.join(info.languages)}; licence: {info.licence}."
        brings = f"\n\nNot part of the core: `{info.brings}`." if info.brings else ""
        made[f"engines/{name}.md"] = f"# {name}\n\n{about}{brings}\n" + _docstring(kind)
    made["weights.md"] = _weights()
    return made


def _docstring(kind: type) -> str:
    """What the module of a class says of it, as a section; the pictures of our docstrings are code."""
    text = inspect.cleandoc((sys.modules[kind.__module__].__doc__ or "").strip())
    return f"\n## What it does\n\n{text.replace('``', '`').replace('<', '&lt;')}\n" if text else ""


def _weights() -> str:
    rows = ["| weights | extra | packages | languages | MB | SHA-256 of the model |", "|---|---|---|---|---|---|"]
    for size, one in PACKAGED.items():
        packages = ", ".join(f"`{name}`" for name in one.install.split())
        rows.append(f"| whisper {size} | `{one.extra}` | {packages} | {', '.join(one.languages)} | {one.megabytes} | `{one.model_sha256}` |")
    said = (
        "Whisper's weights are packages of the Python index. No file of weights and no tokenizer is loaded that has another SHA-256 than "
        "the one here, which the code has. Files of a hub are checked against the digests that it names them by; those of a "
        "folder of your own against its `SHA256SUMS`, where it has one (`sha256sum * > SHA256SUMS`)."
    )
    files = ["| engine | package | file | SHA-256 |", "|---|---|---|---|"]
    for name in engines.REGISTRY.names():
        for package in engines.engine_info(name).weights:
            files += [f"| {name} | `{package.install}` | `{file}` | `{digest}` |" for file, digest in package.files.items()]
    return f"# Weights\n\n{said}\n\n" + "\n".join(rows) + "\n\n## All files\n\n" + "\n".join(files) + "\n"


def _table(facts: list[dict[str, str]]) -> str:
    rows = ["| option | meaning | takes | default | example |", "|---|---|---|---|---|"]
    for one in facts:
        about = one["about"] + (f" (takes effect with {one['with']})" if one["with"] else "")
        cells = [f"`{one['name']}`", about, one["allowed"] + (f" ({one['unit']})" if one["unit"] else ""), one["default"], one["example"]]
        rows.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;") for cell in cells) + " |")
    return "\n".join(rows) + "\n"
