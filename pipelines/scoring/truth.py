"""The right candidates of examples of response selection: from files of examples, or the tables beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from dialmill.pipelines.core.errors import InputError

#: The answer to an example of which no candidate is right.
NONE = "NONE"


class _Option(msgspec.Struct, rename="kebab"):
    candidate_id: str


class _Example(msgspec.Struct):
    # Also the options' ids would be at hand; they cost most of the time of reading, so that they are read for themselves (`read_options`).
    example_id: int | str = msgspec.field(name="example-id")
    right: list[_Option] | None = msgspec.field(name="options-for-correct-answers", default=None)


class _Offered(msgspec.Struct):
    example_id: int | str = msgspec.field(name="example-id")
    options: list[_Option] | None = msgspec.field(name="options-for-next", default=None)


_DECODER = msgspec.json.Decoder(list[_Example])
_OPTIONS_DECODER = msgspec.json.Decoder(list[_Offered])
#: Example id -> the right candidates, in the order of the ground truth; ["NONE"] where there are none.
Truth = dict[str, list[str]]


def read_truth(paths: Sequence[Path]) -> Truth:
    """The right candidates, from the first of the files that tells them.

    Raises:
        InputError: a damaged file, or none with answers.
    """
    for path in paths:
        data = path.read_bytes()
        if path.suffix == ".tsv":
            return _table(path, data)
        try:
            examples = _DECODER.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(str(path), f"is no file of NOESIS examples: {error}", "`dialmill validate` tells more") from None
        if all(one.right is not None for one in examples):
            return {str(one.example_id): [other.candidate_id.upper() for other in one.right or ()] or [NONE] for one in examples}
    raise InputError(str(paths[0]), "holds no answers (they were held back)", "name the folder that has labels/ or the ground truth")


def _table(path: Path, data: bytes) -> Truth:
    """`example-id TAB candidate-id[,candidate-id...]`, or the responses file with the utterance in a third column (one line an answer)."""
    found: Truth = {}
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        if not line.strip():
            continue
        fields = line.rstrip("\r").split("\t")
        if len(fields) < 2 or not fields[0] or not fields[1]:
            raise InputError(str(path), f"line {number}: expected example-id TAB candidate-id, found {line[:60]!r}", "download it again")
        found.setdefault(fields[0], []).extend(one.strip().upper() for one in fields[1].split(","))
    return found


def read_options(paths: Sequence[Path], pools: Sequence[Path] = ()) -> dict[str, frozenset[str]]:
    """The candidates that examples offer, in upper case, by example id; empty where no file tells them, a table of right answers alone say.

    Args:
        paths: files that may hold the examples.
        pools: tables "candidate-id TAB text" of a pool that examples without options of their own share.

    Raises:
        InputError: a damaged file.
    """
    for path in paths:
        if path.suffix != ".json":
            continue
        try:
            examples = _OPTIONS_DECODER.decode(path.read_bytes())
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InputError(str(path), f"is no file of NOESIS examples: {error}", "`dialmill validate` tells more") from None
        shared = frozenset[str]()
        if any(one.options is None for one in examples):
            shared = frozenset(
                line.split(b"\t", 1)[0].decode("utf-8", "replace").upper() for pool in pools for line in pool.read_bytes().split(b"\n") if line
            )
        found = {
            str(one.example_id): shared if one.options is None else frozenset(other.candidate_id.upper() for other in one.options) for one in examples
        }
        return {example: options for example, options in found.items() if options}
    return {}
