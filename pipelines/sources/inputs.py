"""What `--input` means: files, zips and folders become a sorted list of input files, each with its source and role."""

from __future__ import annotations

import importlib.resources
import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from dialmill.pipelines.core import files
from dialmill.pipelines.core.errors import DialmillError, InputError
from dialmill.pipelines.core.folders import EXPORTS, is_whole
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.core.source import Role, Source
from dialmill.pipelines.sources import registry, transcript
from dialmill.pipelines.sources.peek import HEAD_BYTES, PARQUET, first_value, head_text
from dialmill.pipelines.sources.rows import ENDINGS
from dialmill.schemas import archives
from dialmill.schemas.kinds import related
from dialmill.schemas.strict_json import JsonError, parse

#: How the names of those members of a zip end that are looked at.
_IN_ZIPS = (".json", ".jsonl", ".txt", ".tsv", ".csv", ".yaml", ".yml", ".parquet", "File")
#: Members of a zip that are archives again: nothing in them is read, and the message says so where nothing else is found.
_PACKED = (".zip", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".tar", ".7z", ".rar")
_MISSING, _EMPTY = "does not exist", "is empty"


class _Candidate(NamedTuple):
    """A file that may be an input: where it lies, its name in the manifest, whether the user named it (and not a folder or zip around it)."""

    path: str
    shown: str
    named: bool


#: The smallest record that is read, and where more is said.
SMALLEST = '{"id": "d1", "turns": [{"speaker": "user", "text": "I need a hotel"}]}'
PAGE = "docs/own-data.md"


def head_of(path: str) -> str:
    """The beginning of a file as sources are shown it.

    Raises:
        InputError: it can't be read.
    """
    return head_text(files.read_head(path, HEAD_BYTES), lambda: files.read_bytes(path))


def find_inputs(paths: Sequence[str], source: str | Source | None = None, allow_missing: bool = False) -> list[InputFile]:
    """The input files of a run, with formats told apart, in an order that doesn't depend on the machine.

    Args:
        paths: files, zips, folders (searched), remote paths.
        source: the format or its name, None to infer it.
        allow_missing: go on without paths that don't exist or are empty.

    Raises:
        InputError, DialmillError: nothing usable, a missing, empty or cut-off file, or an unknown format. All faults are told at once.
    """
    faults: list[str] = []
    candidates: list[_Candidate] = []
    for path in paths:
        try:
            candidates += _expand(path.rstrip("/") if len(path) > 1 else path)
        except InputError as error:
            if not (allow_missing and error.problem in (_MISSING, _EMPTY)):
                faults.append(str(error))
    one_source = registry.get(source) if isinstance(source, str) else source
    sources = [one_source] if one_source else registry.usable()
    relatives = [known for one in sources for known in one.relatives]
    found: list[InputFile] = []
    packed: list[str] = []
    akin: list[str] = []
    for path, shown, named in _distinct(candidates):
        try:
            text = head_of(path)
            relative = related(relatives, first_value(text))
            if relative is not None and named:
                raise InputError(path, f"is {relative}", "--format names the source of another format")
            claim = None if relative is not None else _claim(path, text, named, sources, one_source)
            if claim is not None:
                found.append(InputFile(len(found), path, shown, *claim, files.size(path) or 0))
            elif relative is not None:
                akin.append(f"{path} is {relative}")
            elif text.strip() and archives.packing(files.read_head(path, archives.TELLING)):
                packed.append(path)
        except InputError as error:
            if not (allow_missing and error.problem == _EMPTY):
                faults.append(str(error))
    for one in sources:
        hidden = one.shadowed([item.path for item in found if item.source == one.name and item.role == "dialogues"])
        found = [replace(item, role="form") if item.path in hidden and item.source == one.name else item for item in found]
    if faults:
        raise DialmillError("\n".join(faults))
    if not any(item.role == "dialogues" for item in found):
        raise DialmillError(f"{', '.join(paths) or 'nothing'}: {_without_dialogues(found, sources, packed, akin)}")
    return found


def _claim(path: str, text: str, named: bool, sources: Sequence[Source], one_source: Source | None) -> tuple[str, Role] | None:
    """The source whose file it is, and what it is to it; None for a file that was found beside others and is nobody's.

    Raises:
        InputError: it is empty, cut off, of several sources, or was named and is of none.
    """
    claims = [(one, role) for one in sources if (role := one.role(path, text))]
    specific = [(one, role) for one, role in claims if not one.generic]
    roles = [(one.name, role) for one, role in specific or claims]
    if not text.strip():
        # An empty .jsonl beside others is a subset without records, as dialmill itself writes it.
        if named or roles or path.endswith((".json", ".tsv", ".txt")):
            raise InputError(path, _EMPTY, "download or unpack it again, or leave it out with --allow-missing")
        return None
    if not roles:
        if named:
            raise InputError(path, _strangeness(path, sources), _remedy(path, one_source))
        return None
    roles = _narrow(roles)
    if len(roles) > 1:
        names = ", ".join(name for name, _ in roles)
        raise InputError(path, f"could be any of {names}", "name one with --format")
    if roles[0][1] in ("dialogues", "acts"):
        _check_tail(path)
    return roles[0]


def _without_dialogues(found: Sequence[InputFile], sources: Sequence[Source], packed: Sequence[str], akin: Sequence[str]) -> str:
    """What to do about an input in which no file holds dialogues to read; `packed` are archives among its files, `akin` what only looks like one."""
    if akin:
        more = f", and {len(akin) - 1} more like it" if akin[1:] else ""
        return f"no dialogues found that can be read: {akin[0]}{more}"
    if packed:
        more = f" and {len(packed) - 1} more" if packed[1:] else ""
        return f"no dialogues found, and {packed[0]}{more} is packed, within which nothing is read; unpack it first, or put its files into one zip"
    if found:
        about = "; ".join(f"{one.name}: {one.about}" for one in sources if one.name in {item.source for item in found})
        return f"holds side files of a known format, but none with dialogues to read; name one that has them ({about})"
    smallest = f"the smallest record of your own is {SMALLEST}, on a line of a .jsonl file ({PAGE})"
    return f"no dialogues of a known format found ({_known(sources)}); name a file of dialogues, or its folder or zip; {smallest}"


def _distinct(candidates: list[_Candidate]) -> list[_Candidate]:
    """Each file once, under a name of its own, sorted by that name: names that two files share grow by their parent folders."""
    once: dict[str, _Candidate] = {}
    for path, shown, named in candidates:
        real = path if files.is_remote(path) else os.path.realpath(path)
        _, earlier, was_named = once.get(real, (path, shown, named))
        once[real] = _Candidate(path, min(shown, earlier), named or was_named)
    counts = Counter(one.shown for one in once.values())
    distinct = [one if counts[one.shown] == 1 else one._replace(shown=real.replace("\\", "/").lstrip("/")) for real, one in once.items()]
    shared = [one.shown.split("/") for one in distinct if counts[one.shown] == 0]
    if shared:
        # What all of them have in front says nothing.
        common = next(depth for depth, parts in enumerate(zip(*shared, strict=False)) if len(set(parts)) > 1)
        distinct = [one if counts[one.shown] else one._replace(shown="/".join(one.shown.split("/")[common:])) for one in distinct]
    return sorted(distinct, key=lambda one: (one.shown, one.path))


def _remedy(path: str, source: Source | None) -> str:
    """What to do about a file of no known format."""
    if archives.packing(files.read_head(path, archives.TELLING)):
        return "unpack it first, or put its files into a zip"
    if source is not None:
        return f"it doesn't look like {source.name}: {source.about}; `dialmill list sources` has the others"
    if _not_utf8(files.read_head(path, HEAD_BYTES)):
        return "save it as UTF-8"
    if path.endswith(transcript.ENDINGS):
        named = "other speakers are named with --map user=NAME,system=NAME, and the format, transcript, with --format"
        lines = 'a transcript has lines such as "User: I need a hotel"'
        return f"{lines}; {named}; {SMALLEST} is the smallest record of a .jsonl file; {PAGE} has all forms"
    mapped = ", or name its fields with --map text=FIELD,speaker=FIELD,id=FIELD" if path.endswith(ENDINGS) else ""
    return f"the smallest record of your own is {SMALLEST}, on a line of a .jsonl file{mapped}; {PAGE} has all forms; --format names one"


def _known(sources: Sequence[object]) -> str:
    return "looked for " + ", ".join(sorted(str(getattr(one, "name", one)) for one in sources))


def _strangeness(path: str, sources: Sequence[object]) -> str:
    """What is wrong with a file that no source knows: damaged, or another format."""
    if path.endswith(".json"):
        try:
            parse(files.read_bytes(path))
        except JsonError as error:
            return str(error)
    head = files.read_head(path, 1 << 16)
    if kind := archives.packing(head):
        return f"is packed as {kind}, which isn't read"
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "is UTF-16, and UTF-8 is read"
    if at := _not_utf8(head):
        return f"is not UTF-8: {at}"
    columns = head.decode("utf-8-sig", "replace").partition("\n")[0].strip() if path.endswith((".csv", ".tsv")) else ""
    return f"is not of a known format ({_known(sources)})" + (f"; its first line is: {columns[:200]}" if columns else "")


def _not_utf8(head: bytes) -> str:
    """Which byte of a file's beginning no text in UTF-8 has; "" for none. Its last character may be cut off."""
    if head[:4] in (PARQUET.encode(), b"PK\x03\x04"):
        return ""
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        cut = error.end == len(head) == HEAD_BYTES or "unexpected end" in error.reason
        return "" if cut else f"byte {error.start} is 0x{head[error.start]:02x}"
    return ""


def _narrow(roles: list[tuple[str, Role]]) -> list[tuple[str, Role]]:
    """Side files look alike in several releases: what is of use decides, dialogues first; among side files the first name."""
    for wanted in ("dialogues", "acts", "splits"):
        found = [item for item in roles if item[1] == wanted]
        if found:
            return found if wanted == "dialogues" else found[:1]
    return roles[:1]


#: What stands before the name of a small corpus that comes with dialmill.
SAMPLE = "sample:"


def located(path: str) -> str:
    """A path as it is, or where the corpus of ours lies that it names ("sample:NAME")."""
    return _sample(path) if path.startswith(SAMPLE) else path


def _sample(path: str) -> str:
    """Where a corpus of ours lies, by "sample:NAME".

    Raises:
        InputError: there is none of that name; the message lists those there are.
    """
    root = importlib.resources.files("dialmill.samples")
    known = sorted(one.name for one in root.iterdir() if one.is_dir() and not one.name.startswith(("_", ".")))
    if path.removeprefix(SAMPLE) not in known:
        raise InputError(path, "is no corpus that comes with dialmill", f"there are: {', '.join(known)}")
    return str(root / path.removeprefix(SAMPLE))


def _no_corpus(folder: Path) -> bool:
    return is_whole(folder) or (folder.name == EXPORTS and is_whole(folder.parent))


def _expand(path: str) -> list[_Candidate]:
    path = located(path)
    if files.is_pattern(path):
        found = files.matches(path)
        if not found:
            raise InputError(path, _MISSING, "no file matches it; --allow-missing goes on without it")
        return [candidate for one in found for candidate in _expand(one)]
    if files.is_folder(path):
        inside: list[_Candidate] = []
        # A corpus folder may hold outputs of former runs, which are no part of the corpus, and an output its records in other formats as well.
        for item in files.list_files(path, skip=_no_corpus):
            shown = item[len(path) :].lstrip("/\\").replace("\\", "/")
            inside += _members(item, shown, False)
        return inside
    if files.size(path) is None:
        raise InputError(path, _MISSING, "check the path; --allow-missing goes on without it")
    return _members(path, re.split(r"[/\\]", path)[-1], True)


def _members(path: str, shown: str, named: bool) -> list[_Candidate]:
    if not path.endswith(".zip"):
        return [_Candidate(path, shown, named)]
    with files.open_zip(path) as archive:
        members = [info for info in archive.infolist() if not info.is_dir() and info.filename.endswith(_IN_ZIPS + _PACKED)]
    if any(info.flag_bits & 1 for info in members):
        raise InputError(path, "is encrypted", "unpack it first")
    names = [info.filename for info in members if not info.filename.startswith("__MACOSX")]
    return [_Candidate(path + files.MEMBER + name, shown + files.MEMBER + name, False) for name in names]


def _check_tail(path: str) -> None:
    """A JSON file that doesn't end in a bracket is cut off; found here, before a worker starts."""
    if files.is_remote(path) or files.split_member(path)[1]:
        return
    with Path(path).open("rb") as stream:
        stream.seek(max(0, stream.seek(0, 2) - 4096))
        tail = stream.read().rstrip()
    if path.endswith(".json") and tail[-1:] not in (b"}", b"]"):
        shown_tail = tail[-40:].decode("utf-8", "replace")
        raise InputError(path, f"is cut off: it ends in …{shown_tail!r}, not in a closing bracket", "download or unpack it again")
