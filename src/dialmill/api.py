"""What `import dialmill` offers: the pipelines and perturbers behind functions that a notebook needs. Imports what is heavy when it is used."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from dialmill.perturbers.core.contract import Perturber, texts_of
from dialmill.perturbers.core.guard import Guard
from dialmill.perturbers.core.pools import PoolFile
from dialmill.perturbers.core.registry import parse
from dialmill.perturbers.core.rng import key_number
from dialmill.perturbers.sentence import GENERAL, as_dialogue
from dialmill.pipelines.core.errors import DialmillError, InputError, UsageError
from dialmill.pipelines.core.stage import Reject
from dialmill.schemas import Dialogue, Edit, Span, Step, Turn
from dialmill.schemas.dialogue import STANDARD

#: A path, or several.
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
#: Where records that can't be read go: a list that grows, or a function that is called with each.
Rejects = list[Reject] | Callable[[Reject], None]
#: The reason of an unchanged text into whose dialogue turns were inserted, and of one where chance chose no change.
_ONLY_INSERTS, _NO_CHANGE = "inserts_turns_only", "no_change_drawn"


@dataclass(frozen=True)
class Noised:
    """A perturbed sentence.

    Attributes:
        text: the sentence as it became.
        spans: where the slot values stand in `text` (Unicode code points, end exclusive), each `kept`, `changed`, or `lost` without a place.
        edits: what leads from the sentence as given to `text`, with places in the former, sorted and disjoint; empty where it is unchanged.
        skipped: why nothing was done ("language_not_supported", "no_edit_possible"); of a chain, why which of its steps did nothing
            ("disfluency@1: no_edit_possible"); None where all did something.
    """

    text: str
    spans: tuple[Span, ...]
    edits: tuple[Edit, ...]
    skipped: str | None = None


def noise(
    text: str | Dialogue,
    perturber: str | Perturber,
    *,
    slots: Mapping[str, str | Sequence[str]] | None = None,
    seed: int = 1,
    language: str | None = None,
    domain: str = GENERAL,
    variant: int = 0,
    guard: Iterable[str] = (),
) -> Noised:
    """One sentence, perturbed; no record is needed.

    Args:
        text: what a user says; or a dialogue, whose last user turn is taken, in its context and with its own labels.
        perturber: a name with options ("typos:rate=0.3"), several chained by "+", or a perturber.
        slots: the slot values that the user means (slot -> value, or values). Perturbers protect them where they find them in the text, and their
            spans are followed.
        seed: any integer; the same seed gives the same text for ever.
        language: "en" or "zh". Text in any other language comes back unchanged. None finds the language out from the text; one or two words in Latin
            letters are taken for English.
        domain: the domain of the slots ("hotel", "restaurant"); some perturbers choose their words by it.
        variant: the number of the variant, from 0: each number gives another text.
        guard: texts that stay to the byte wherever they stand in it, letter case included, as long as values are protected.

    Returns:
        The text with its spans and edits; unchanged, with the reason in `skipped`, where nothing can be done. Perturbers that insert turns
        (questions, out_of_scope) leave a sentence alone; `perturb` shows their turns.

    Raises:
        TypeError: `text` is no Dialogue and no str, or `slots` no mapping.
        OptionError: there is no such perturber or option, or a value is out of its range; the message lists what there is.

    >>> import dialmill as dm
    >>> made = dm.noise("I need a cheap hotel in the north", "typos:rate=0.3", slots={"price": "cheap", "area": "north"}, seed=1)
    >>> [(span.slot, made.text[span.start:span.end], span.status) for span in made.spans]
    [('price', 'cheap', 'kept'), ('area', 'north', 'kept')]
    >>> made.text != "I need a cheap hotel in the north" and len(made.edits) > 0 and made.skipped is None
    True
    >>> dm.noise("Ich brauche ein Hotel", "typos")
    Noised(text='Ich brauche ein Hotel', spans=(), edits=(), skipped='language_not_supported')
    """
    ready = _perturber(perturber)[1]
    source = _dialogue(text, "text", slots, language, domain)
    asked = [turn for turn in source.turns if turn.speaker == "user"]
    if not asked:
        return Noised("", (), (), "no_user_turn")
    source, given = _guarded(source, asked[-1], guard)
    try:
        made = ready.perturb(source, seed, variant)
    except Exception as error:
        # As in a build, where such a record is rejected and the run goes on.
        return Noised(given.utterance, given.spans, (), f"perturber_failed: {type(error).__name__}: {error}")
    turn = [turn for turn in made.turns if turn.speaker == "user" and not turn.inserted][-1]
    steps = made.lineage[len(source.lineage) :]
    edits = turn.edits if turn.original is not None and turn.utterance != given.utterance else ()
    return Noised(turn.utterance, turn.spans, edits, _why_skipped(steps, given, turn, len(made.turns) > len(source.turns)))


def _guarded(source: Dialogue, given: Turn, guard: Iterable[str]) -> tuple[Dialogue, Turn]:
    """A dialogue and a turn of it, with the guarded texts marked in the turn."""
    if isinstance(guard, str | bytes):
        raise TypeError(f"guard must be several texts, not the one text {guard!r}")
    named = tuple(guard)
    marked = Guard(named, shapes=False).turn(given) if named else given
    return (source, given) if marked is given else (source.replace(turns=tuple(marked if turn is given else turn for turn in source.turns)), marked)


def _why_skipped(steps: Sequence[Step], given: Turn, turn: Turn, inserted: bool) -> str | None:
    """The reasons of the steps that did nothing to a turn, by name where there are several steps; None where each did something."""
    reasons = {step.step: skip.reason for step in steps for skip in step.skipped if skip.turn in (turn.turn, given.turn)}
    if not reasons and turn.utterance == given.utterance:
        reasons[steps[-1].step] = _ONLY_INSERTS if inserted else _NO_CHANGE
    if not reasons:
        return None
    return "; ".join(f"{step}: {reason}" for step, reason in reasons.items()) if len(steps) > 1 else next(iter(reasons.values()))


def read(path: Paths, format: str | None = None, rejects: Rejects | None = None, map: Mapping[str, str] | None = None) -> Iterator[Dialogue]:
    """The dialogues of a corpus as it was released, or of dialmill's own files.

    Files are read one at a time, when their dialogues are asked for; lists of splits and acts in files of their own are held as a whole.

    Args:
        path: a file, a zip or a folder (searched for files of a known format), or several.
        format: the name of the format (`list_sources`); None tells it apart.
        rejects: a list to which records that can't be used are added while the dialogues are read, or a function that is called with each of them.
            Without it the first such record raises an error.
        map: of one's own data, our name of a field -> yours, such as ``{"text": "utterance", "id": "call"}``.

    Returns:
        An iterator of dialogues. Each comes once, and has a `split` where the corpus' own lists of splits name it.

    Raises:
        DialmillError: there is nothing to read, or a file is damaged; says which, where, and what to do. Without `rejects` also while iterating,
            for a record that can't be used.

    >>> import dialmill as dm
    >>> first = next(dm.read("data/multiwoz21"))
    >>> first.source, first.language, first.turns[0].speaker
    ('multiwoz21', 'en', 'user')
    """
    from dialmill.pipelines.sources.corpus import open_corpus

    with _errors_in_python():
        found = open_corpus(_paths("path", path), format, _rejected(rejects), map)
    return _told(found)


def _told(dialogues: Iterator[Dialogue]) -> Iterator[Dialogue]:
    """The dialogues; what is wrong with a file that is read later is told as what is wrong with the first."""
    with _errors_in_python():
        yield from dialogues


def _rejected(rejects: Rejects | None) -> Callable[[Reject], None]:
    if isinstance(rejects, list):
        return rejects.append
    if rejects is None:
        return _refuse
    if not callable(rejects):
        raise TypeError(f"rejects must be a list or a function, not {_kind(rejects)}")
    return rejects


def _refuse(one: Reject) -> None:
    place = f"record {one.index} ({one.source_id}) can't be used: {one.reason}" + (f", {one.evidence}" if one.evidence else "")
    raise InputError(str(one.file), place, "read(..., rejects=[]) collects such records and goes on")


def perturb(
    dialogues: Dialogue | str | Iterable[Dialogue | str], perturber: str | Perturber, *, seed: int = 1, variants: int = 1
) -> Iterator[Dialogue]:
    """Variants of dialogues, as `dialmill perturb` makes them.

    Args:
        dialogues: one dialogue or sentence, or any number of them; a sentence is a dialogue of one user turn. They are read one at a time. Perturbers
            that learn from all dialogues before they start hold all of them in memory: `paraphrase` and its kin, `speech` with a level to tune.
        perturber: a name with options ("typos:rate=0.1"), several chained by "+", or a perturber; `name=` among the options names the suite.
        seed: any integer. A variant depends on the seed, the dialogue and its `source_id`, and not on the dialogues beside it.
        variants: how many variants of each dialogue, at least 1. They differ from the source and from each other where the perturber finds a way.

    Returns:
        An iterator of new records, `variants` for each dialogue, in the order of the dialogues. The last steps of a record's lineage say which turns
        were left as they were, and why.

    Raises:
        TypeError: something is neither a Dialogue nor a str.
        OptionError: there is no such perturber or option, or a value is out of its range.

    >>> import dialmill as dm
    >>> (made,) = dm.perturb("book a table for seven people", "typos:rate=0.5", seed=3)
    >>> made.suite, made.turns[0].original, made.lineage[-1].outcome
    ('typos', 'book a table for seven people', 'changed')
    >>> noisy = dm.perturb(dm.read("data/multiwoz21"), "disfluency+typos:rate=0.1", seed=1)
    >>> next(noisy).suite
    'disfluency+typos'
    """
    suite, ready = _perturber(perturber)
    if not isinstance(variants, int) or variants < 1:
        raise ValueError(f"variants must be a whole number of at least 1, not {variants!r}")
    if isinstance(dialogues, (Mapping, bytes)) or not isinstance(dialogues, Iterable | Dialogue):
        raise TypeError(f"dialogues must be a Dialogue or a str, or an iterable of them, not {_kind(dialogues)}")
    given = [dialogues] if isinstance(dialogues, Dialogue | str) else dialogues
    return _variants((_dialogue(one, "dialogues") for one in given), suite, ready, seed, variants)


def _variants(dialogues: Iterable[Dialogue], suite: str, perturber: Perturber, seed: int, count: int) -> Iterator[Dialogue]:
    if perturber.pools or perturber.tunable():
        dialogues = list(dialogues)
        perturber = _prepared(perturber, dialogues, seed)
    for one in dialogues:
        source = one.replace(dialogue_id=f"{one.source_id}/{STANDARD}/0", suite=STANDARD, variant=0)
        seen = {texts_of(source)}
        for variant in range(count):
            made = perturber.draw_variant(source, seed, variant, seen).record
            seen.add(texts_of(made))
            yield made.replace(suite=suite, dialogue_id=f"{one.source_id}/{suite}/{variant}")


def _prepared(perturber: Perturber, dialogues: Sequence[Dialogue], seed: int) -> Perturber:
    """The perturber with its pools and its tuning, from the dialogues that it is to perturb."""
    pools: dict[tuple[str, str], PoolFile] = {}
    for pool, source in perturber.pools:
        if source == "input":
            some: Iterable[Dialogue] = dialogues
        elif source == "train":
            some = _training(dialogues)
        else:
            # The split that a dialogue of another corpus has there is none of these dialogues'.
            some = (one.replace(split=None) for one in read(source, rejects=[]))
        pools[pool.name, source] = PoolFile.of_dialogues(pool, some)
    ready = perturber.with_pools(pools)
    if ready.tunable():
        from dialmill.pipelines.stages.tuning import DIALOGUES, within

        sample = sorted(dialogues, key=lambda one: (key_number(seed, "tuning", one.source_id), one.source_id))[:DIALOGUES]
        turns: dict[str, int] = {}
        for dialogue in dialogues:
            turns[dialogue.language] = turns.get(dialogue.language, 0) + sum(turn.speaker == "user" for turn in dialogue.turns)
        ready = ready.with_tuning(ready.tune(within(sample, turns), seed))
    return ready


def _training(dialogues: Sequence[Dialogue]) -> Iterator[Dialogue]:
    """The dialogues of the training split; where a source's lists name none for it, as MultiWOZ's, those that no list names."""
    named = {(one.source, one.split) for one in dialogues}
    rest = {source for source, split in named if split is not None and (source, "train") not in named}
    return (one for one in dialogues if one.split == "train" or (one.split is None and one.source in rest))


def build(
    benchmark: str,
    *,
    input: Paths,
    output: str | os.PathLike[str],
    seed: int | None = None,
    set: Mapping[str, Any] | None = None,
    recipe: str | os.PathLike[str] | None = None,
    format: str | None = None,
    overwrite: bool = False,
    allow_missing: bool = False,
    map: Mapping[str, str] | None = None,
    export: str | Sequence[str] = (),
    options: Sequence[str] = (),
    quiet: bool = True,
) -> dict[str, Any]:
    """Builds a benchmark into a folder, as `dialmill build` does.

    Args:
        benchmark: its name (`list_benchmarks`).
        input: files, zips and folders of a published corpus.
        output: the output folder; it is written completely or not at all.
        seed: the run seed, up to 64 bits; 1 by default, but a long one is drawn where labels are held out, since a rebuild with the seed gives
            them away. It stands in labels/manifest.json.
        set: keys of the recipe (`--set`), such as ``{"suites": ["standard", "typos"], "few_shot": 0}``. A key whose value is None is set to
            none, as by `--set limit=none`: no limit, no bound.
        recipe: a YAML file whose keys replace those of the benchmark's own recipe.
        format: the name of the input's format; None tells it apart.
        overwrite: replace what a former run left in the output folder.
        allow_missing: ignore inputs that don't exist or are empty.
        map: of one's own data, our name of a field -> yours.
        export: formats (`list_exporters`) in which the suites are written too, below export/NAME/SUITE.
        options: of Beam, such as ``["--runner=FlinkRunner"]``; none runs in this process.
        quiet: say nothing on stderr.

    Returns:
        The manifest (`manifest.json`): the resolved recipe, counts by stage, every file with its digest, warnings.

    Raises:
        DialmillError: unusable input, output, recipe or options; nothing was written.

    >>> import dialmill as dm
    >>> manifest = dm.build("raddle", input="data/multiwoz21", output="out/raddle", seed=1, set={"suites": ["standard", "typos"]})
    >>> manifest["benchmark"], manifest["recipe"]["suites"]
    ('raddle', ['standard', 'typos'])
    """
    from dialmill.pipelines import build as pipeline
    from dialmill.pipelines.benchmarks import registry

    if benchmark not in registry.names():
        raise UsageError(f"there is no benchmark {benchmark!r}; the known ones are: {', '.join(registry.names())}")
    with _errors_in_python():
        chosen = registry.load_recipe(benchmark, None if recipe is None else os.fspath(recipe), _settings(set or {}))
        exports = [export] if isinstance(export, str) else export
        job = pipeline.make_job(chosen, _paths("input", input), os.fspath(output), seed, format, overwrite, allow_missing, map, exports)
        return pipeline.run(job, options, quiet=quiet)


#: Options of the command line that are switches here, and such words of an error as name one.
_SWITCHES = frozenset({"allow_missing", "overwrite", "official_compat", "quiet"})
_FLAG = re.compile(
    r"--map (?P<pairs>\w+=[\w|]+(?:,\w+=[\w|]+)*)|--set (?P<key>[\w.]+)=(?P<value>[^\s,;)]+)"
    r"|--(?P<name>allow-missing|export|format|gold|input|map|metrics|official-compat|output|overwrite|predictions|quiet|recipe|seed|set|split|suite)\b"
)


@contextmanager
def _errors_in_python() -> Iterator[None]:
    """Errors name arguments of the functions here where those of the command line name its options."""
    try:
        yield
    except DialmillError as error:
        told = _FLAG.sub(_argument, str(error))
        if told == str(error):
            raise
        if isinstance(error, InputError):
            raise InputError(error.path, _FLAG.sub(_argument, error.problem), _FLAG.sub(_argument, error.remedy)) from error
        raise (UsageError if isinstance(error, UsageError) else DialmillError)(told) from error


def _argument(flag: re.Match[str]) -> str:
    if flag["pairs"]:
        pairs = (pair.split("=") for pair in flag["pairs"].split(","))
        return "map={" + ", ".join(f'"{ours}": "{yours}"' for ours, yours in pairs) + "}"
    if flag["key"]:
        return f'set={{"{flag["key"]}": {flag["value"]}}}'
    name = flag["name"].replace("-", "_")
    return f"{name}=True" if name in _SWITCHES else f"{name}="


def score(
    benchmark: str,
    *,
    gold: str | os.PathLike[str],
    predictions: Paths = (),
    suite: str | None = None,
    split: str | None = None,
    seed: int = 1,
    samples: int = 1000,
    metrics: str | Sequence[str] = (),
    official_compat: bool = False,
    database: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Scores predictions with a benchmark's own metrics, as `dialmill score` does.

    Args:
        benchmark: the name of a benchmark, or "cross-lingual", "disentanglement" or "wer" (which takes no predictions).
        gold: the gold labels: an output folder, or a folder in the layout of the official release.
        predictions: the file or folder of a system's predictions, or several; the table compares the systems.
        suite: the name of a suite, or "all", which compares every suite with the clean one. None scores the suites that the predictions are about.
        split: the split that the predictions are about, None for test.
        seed, samples: of the bootstrap, which gives the intervals.
        metrics: the metrics of the table of systems and suites (`comparison`): a list of names, or one text with commas. Without any, the benchmark's
            first.
        official_compat: compute the metrics exactly as the published scorer does, known errors included.
        database: a folder of DOMAIN_db.json files, for Inform and Success by entities.

    Returns:
        The score file: `metrics`, named and nested as the benchmark's own scorer does it, with `counts` and `versions`.

    Raises:
        DialmillError: gold or predictions that can't be used, an unknown suite, or a missing extra; says which, and what to do.

    >>> import dialmill as dm
    >>> table = dm.score("wer", gold="out/raddle", suite="typos")
    >>> 0 < table["metrics"]["wer"] < 1
    True
    """
    from dialmill.pipelines.benchmarks import scores
    from dialmill.pipelines.core.scorer import Settings

    settings = Settings(os.fspath(gold), split, official_compat, None if database is None else os.fspath(database))
    named = [metrics] if isinstance(metrics, str) else metrics
    wanted = [name.strip() for one in named for name in one.split(",") if name.strip()]
    with _errors_in_python():
        return scores.score(benchmark, settings, _paths("predictions", predictions), suite, seed, samples, wanted)


def list_perturbers() -> dict[str, dict[str, Any]]:
    """The perturbers by name: what each does, its version, languages and options.

    >>> import dialmill as dm
    >>> dm.list_perturbers()["typos"]["languages"]
    'en, zh'
    """
    return _listed("perturbers")


def list_sources() -> dict[str, dict[str, Any]]:
    """The formats that `read` and `build` know by name: what each is, its language and licence.

    >>> import dialmill as dm
    >>> "multiwoz21" in dm.list_sources()
    True
    """
    return _listed("sources")


def list_exporters() -> dict[str, dict[str, Any]]:
    """The formats in which `build` and `dialmill export` write suites, by name, and what each is.

    >>> import dialmill as dm
    >>> "convlab" in dm.list_exporters()
    True
    """
    return _listed("exporters")


def list_benchmarks() -> dict[str, dict[str, Any]]:
    """The benchmarks that `build` knows by name, and what each is.

    >>> import dialmill as dm
    >>> "raddle" in dm.list_benchmarks()
    True
    """
    return _listed("benchmarks")


def list_engines() -> dict[str, dict[str, Any]]:
    """The engines of speech and text noise by name: what each is, its licence, and whether it is installed here, or what brings it.

    >>> import dialmill as dm
    >>> dm.list_engines()["whisper"]["licence"]
    'MIT'
    """
    return _listed("engines")


def list_schemas() -> dict[str, dict[str, Any]]:
    """The schemas of files that `dialmill validate` checks, by name.

    >>> import dialmill as dm
    >>> "dialogue" in dm.list_schemas()
    True
    """
    return _listed("schemas")


def _listed(what: str) -> dict[str, dict[str, Any]]:
    from dialmill.pipelines.cli.list import listing

    return {entry["name"]: {key: value for key, value in entry.items() if key != "name"} for entry in listing(what)[what]}


def _perturber(given: object) -> tuple[str, Perturber]:
    """A perturber with the name of the suite that it makes."""
    if isinstance(given, Perturber):
        return given.name, given
    if not isinstance(given, str):
        raise TypeError(f"perturber must be a str such as 'typos:rate=0.1', or a Perturber, not {_kind(given)}")
    return parse(given)


def _dialogue(
    given: object,
    what: str,
    slots: Mapping[str, str | Sequence[str]] | None = None,
    language: str | None = None,
    domain: str = GENERAL,
) -> Dialogue:
    """What stands for a dialogue as one."""
    if isinstance(given, Dialogue):
        if slots is not None or language is not None:
            raise TypeError("slots and language are for a str; a Dialogue has its own")
        return given
    if not isinstance(given, str):
        hint = "; Dialogue.from_dict(record) makes one of a parsed line" if isinstance(given, Mapping) else ""
        raise TypeError(f"{what} must be a Dialogue or a str, not {_kind(given)}{hint}")
    if slots is not None and not isinstance(slots, Mapping):
        raise TypeError(f"slots must map slot names to values, as in {{'area': 'north'}}, not {_kind(slots)}")
    for slot, values in (slots or {}).items():
        several: Sequence[Any] = values if isinstance(values, list | tuple) else [values]
        if not isinstance(slot, str) or not all(isinstance(value, str) for value in several):
            raise TypeError(f"slots must map slot names to values, each a str or a list of them: {slot!r}: {values!r}")
        if not slot.strip() or not all(value.strip() for value in several):
            raise ValueError(f"slots: a name or a value is empty: {slot!r}: {values!r}; leave out what the user doesn't mean")
    return as_dialogue(given, slots, language, domain)


def _paths(what: str, given: object) -> list[str]:
    several: Sequence[Any] = given if isinstance(given, list | tuple) else [given]
    for one in several:
        if not isinstance(one, str | os.PathLike):
            raise TypeError(f"{what} must be a path (str or os.PathLike) or a list of them, not {_kind(one)}")
    return [os.fspath(one) for one in several]


def _settings(keys: Mapping[str, Any]) -> list[str]:
    """Keys of a recipe as the text of `--set`."""
    if not isinstance(keys, Mapping):
        raise TypeError(f"set must map keys of the recipe to values, not {_kind(keys)}")
    settings = []
    for key, value in keys.items():
        if isinstance(value, Mapping):
            settings += _settings({f"{key}.{inner}": one for inner, one in value.items()})
        else:
            settings.append(f"{key}={_text(value)}")
    return settings


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _kind(value: object) -> str:
    return type(value).__name__
