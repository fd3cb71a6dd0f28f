"""Effects of the audiomentations package on the audio of a turn (extra ``audiomentations``, MIT), as the option `augment` of the speech channel.

The option is names ("BitCrush|BandPassFilter") or a file of them with their parameters, YAML or JSON, applied in that order:

    - BandPassFilter: {min_center_freq: 800, max_center_freq: 1600}
    - BitCrush: {min_bit_depth: 6, max_bit_depth: 6, p: 0.5}
    - Normalize

Parameters are those of audiomentations, and have its defaults, but for `p`: a transform that was named is always applied unless the file says
otherwise. Transforms that add noise are refused, for the SNR of a turn would no longer be what its lineage says.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
from collections.abc import Mapping
from functools import lru_cache
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from dialmill.perturbers.core.options import OptionError
from dialmill.perturbers.core.rng import key_number
from dialmill.perturbers.speech.engines.protocol import EngineInfo
from dialmill.perturbers.speech.errors import EngineMissing
from dialmill.perturbers.speech.noise import RATE, Audio
from dialmill.perturbers.typing.foreign import seeded
from dialmill.schemas.flow import load_yaml

#: What `noise=` does at an exact SNR, and what takes a Python function.
_REFUSED = frozenset({"AddBackgroundNoise", "AddColorNoise", "AddGaussianNoise", "AddGaussianSNR", "AddShortNoises", "Lambda"})


class Effects:
    """Transforms in their order. `digest` names the package's version, the transforms and all their parameters (of files, their contents)."""

    info: ClassVar[EngineInfo] = EngineInfo(
        name="audiomentations",
        kind="effects",
        languages=("en", "zh"),
        licence="MIT",
        about="on the audio: speech:augment=BitCrush|BandPassFilter",
        modules=("audiomentations", "numpy"),
        extra="audiomentations",
    )

    def __init__(self, transforms: list[Any], digest: str) -> None:
        self._transforms = transforms
        self.digest = digest

    def apply(self, audio: Audio, seed: int) -> Audio:
        """`audio` with the effects, as many samples as before: what is longer is cut, what is shorter gets silence behind it.

        Args:
            seed: decides all that audiomentations draws.
        """
        import numpy as np

        if not len(audio):
            return audio
        made = np.array(audio, np.float32)
        # It draws from the generators that the whole process shares.
        with seeded(key_number("augment", seed) % 2**32):
            for transform in self._transforms:
                made = transform(made, RATE)
        made = np.nan_to_num(np.asarray(made, np.float32))[: len(audio)]
        return np.clip(np.pad(made, (0, len(audio) - len(made))), -1, 1).astype(np.float32)


@lru_cache(maxsize=16)
def load(text: str) -> Effects:
    """The effects that the option names.

    Args:
        text: names separated by ``|``, or the path of a file (.yaml, .yml, .json).

    Raises:
        EngineMissing: audiomentations, or a package that one of the transforms needs, is not installed.
        OptionError: an unknown transform (the message lists the known), a parameter that it doesn't take, or a file that isn't such a list.
    """
    wanted = _listed(text)
    if importlib.util.find_spec("audiomentations") is None:
        raise EngineMissing("speech: augment needs audiomentations, which is not installed; pip install 'dialmill[audiomentations]'")
    known = _known()
    made, names = [], []
    for name, parameters in wanted:
        if name in _REFUSED:
            instead = "a transform of your own is no option" if name == "Lambda" else "noise at an exact SNR is added by noise= and snr="
            raise OptionError(f"speech: augment={name} is not for the speech channel: {instead}")
        if name not in known:
            raise OptionError(f"speech: audiomentations has no transform {name!r}; the known ones are: {', '.join(sorted(known))}")
        made.append(_made(name, known[name], {"p": 1.0, **parameters}))
        names.append(_named(name, known[name], {"p": 1.0, **parameters}))
    return Effects(made, f"audiomentations {metadata.version('audiomentations')} {'|'.join(names)}")


def _listed(text: str) -> list[tuple[str, dict[str, Any]]]:
    """(name, parameters) of each transform."""
    path = Path(text)
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        return [(name.strip(), {}) for name in text.split("|")]
    try:
        entries = load_yaml(path.read_bytes())  # JSON is YAML
    except OSError as error:
        raise OptionError(f"speech: augment: {path} is not readable: {error.strerror or error}") from error
    except ValueError as error:
        raise OptionError(f"speech: augment: {path} {error}") from error
    found = []
    for place, entry in enumerate(entries if isinstance(entries, list) else [entries], 1):
        name, parameters = next(iter(entry.items())) if isinstance(entry, Mapping) and len(entry) == 1 else (entry, None)
        if not isinstance(name, str) or not isinstance(parameters or {}, Mapping):
            raise OptionError(
                f"speech: augment: {path}, entry {place}: expected a transform's name, or one with its parameters (BitCrush: {{min_bit_depth: 6}}), "
                f"found {json.dumps(entry, ensure_ascii=False, default=str)[:120]}"
            )
        found.append((name, dict(parameters or {})))
    return found


def _known() -> dict[str, type]:
    package = importlib.import_module("audiomentations")
    base = importlib.import_module("audiomentations.core.transforms_interface").BaseWaveformTransform
    kinds = {name: kind for name, kind in vars(package).items() if inspect.isclass(kind) and issubclass(kind, base)}
    return {name: kind for name, kind in kinds.items() if name not in _REFUSED}


def _made(name: str, kind: Any, parameters: Mapping[str, Any]) -> Any:
    """A transform that has run once, so that what it imports, and so may draw, it has imported before it is seeded."""
    import numpy as np

    takes = sorted(set(inspect.signature(kind).parameters))
    unknown = sorted(set(parameters) - set(takes))
    if unknown:
        raise OptionError(f"speech: audiomentations' {name} has no parameter {', '.join(map(repr, unknown))}; its parameters are: {', '.join(takes)}")
    try:
        with seeded(0):
            kind(**{**parameters, "p": 1.0})(np.sin(np.arange(RATE) * 0.1).astype(np.float32), RATE)
        return kind(**parameters)
    except ImportError as error:
        raise EngineMissing(f"speech: audiomentations' {name} needs a package that is not installed: {' '.join(str(error).split())}") from error
    except Exception as error:  # audiomentations asserts, and raises what the libraries below it raise
        raise OptionError(
            f"speech: audiomentations' {name} refuses {dict(parameters)} ({' '.join(repr(error).split())}); its parameters are: {', '.join(takes)}"
        ) from error


def _named(name: str, kind: Any, parameters: Mapping[str, Any]) -> str:
    """Name and all parameters, given or by default; the same on every machine."""
    defaults = {key: one.default for key, one in inspect.signature(kind).parameters.items() if one.default is not inspect.Parameter.empty}
    whole = {**defaults, **parameters}
    return f"{name}({', '.join(f'{key}={_value(whole[key])}' for key in sorted(whole) if whole[key] is not None)})"


def _value(value: Any) -> str:
    """A parameter as text; of a file or a folder, what is in it instead of where it lies."""
    if isinstance(value, str) and value and Path(value).exists():
        path = Path(value)
        hasher = sha256()
        for file in sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]:
            hasher.update(sha256(file.read_bytes()).digest())
        return f"files {hasher.hexdigest()[:24]}"
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
