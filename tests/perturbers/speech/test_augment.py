"""Effects by audiomentations: on a stand-in of the package everywhere, and on the package itself where it is installed."""

from __future__ import annotations

import importlib.util
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

np = pytest.importorskip("numpy")

from dialmill.perturbers import OptionError  # noqa: E402
from dialmill.perturbers.speech import noise, points  # noqa: E402
from dialmill.perturbers.speech.cache import Cache  # noqa: E402
from dialmill.perturbers.speech.channel import Condition, open_channel  # noqa: E402
from dialmill.perturbers.speech.engines import augment, registry  # noqa: E402
from dialmill.perturbers.speech.engines.fakes import FakeAsr, FakeTts  # noqa: E402
from dialmill.perturbers.speech.engines.registry import Engines  # noqa: E402
from dialmill.perturbers.speech.errors import EngineMissing  # noqa: E402
from dialmill.perturbers.speech.perturber import Speech  # noqa: E402
from dialmill.perturbers.speech.plan import effects, known_curve, make_plan, point_name  # noqa: E402
from dialmill.schemas import Dialogue, Turn  # noqa: E402


class Base:
    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def __call__(self, samples: noise.Audio, sample_rate: int) -> noise.Audio:
        return self.apply(samples) if random.random() < self.p else samples

    def apply(self, samples: noise.Audio) -> noise.Audio:
        return samples


class Gain(Base):
    """Louder or softer, by both generators that audiomentations uses."""

    def __init__(self, least: float = 0.1, p: float = 0.5) -> None:
        super().__init__(p)
        self.least = least

    def apply(self, samples: noise.Audio) -> noise.Audio:
        return samples * np.float32(self.least + (1 - self.least) * random.random() * np.random.random())


class Longer(Base):
    def apply(self, samples: noise.Audio) -> noise.Audio:
        return np.concatenate([samples, samples])


class Shorter(Base):
    def __init__(self, file: str = "", p: float = 0.5) -> None:
        super().__init__(p)

    def apply(self, samples: noise.Audio) -> noise.Audio:
        return samples[: len(samples) // 2]


class Mp3(Base):
    def apply(self, samples: noise.Audio) -> noise.Audio:
        raise ImportError("No module named 'mp3'")


class AddGaussianSNR(Base):
    pass


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package that looks like audiomentations."""
    made = ModuleType("audiomentations")
    for kind in (Gain, Longer, Shorter, Mp3, AddGaussianSNR):
        setattr(made, kind.__name__, kind)
    interface = ModuleType("audiomentations.core.transforms_interface")
    interface.BaseWaveformTransform = Base  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "audiomentations", made)
    monkeypatch.setitem(sys.modules, "audiomentations.core", ModuleType("audiomentations.core"))
    monkeypatch.setitem(sys.modules, "audiomentations.core.transforms_interface", interface)
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: object() if name == "audiomentations" else real(name, package))
    monkeypatch.setattr(augment.metadata, "version", lambda name: "9.9")
    augment.load.cache_clear()
    yield
    augment.load.cache_clear()


TONE = (0.3 * np.sin(np.arange(5000) * 0.1)).astype(np.float32)


def test_keyed_and_as_long_as_before(package: None) -> None:
    effects = augment.load("Gain|Longer|Shorter|Shorter")
    random.seed(3)
    np.random.seed(3)
    first = effects.apply(TONE, 1)
    after = random.random(), np.random.random()
    assert len(first) == len(TONE) and first.dtype == np.float32
    assert np.array_equal(first, effects.apply(TONE, 1)), "the same whatever was drawn in between"
    assert not np.array_equal(first, effects.apply(TONE, 2))
    random.seed(3)
    np.random.seed(3)
    assert after == (random.random(), np.random.random()), "the process's generators are put back"
    assert first[:2500].any() and not first[2500:].any()
    assert len(effects.apply(TONE[:0], 1)) == 0


def test_digest_has_every_parameter(package: None, tmp_path: Path) -> None:
    assert augment.load("Gain").digest == "audiomentations 9.9 Gain(least=0.1, p=1.0)"
    for name, text in (("a.yaml", "- Gain: {least: 0.2, p: 0.5}\n- Longer\n"), ("b.json", '[{"Gain": {"least": 0.2, "p": 0.5}}, "Longer"]')):
        (tmp_path / name).write_text(text)
        assert augment.load(str(tmp_path / name)).digest == "audiomentations 9.9 Gain(least=0.2, p=0.5)|Longer(p=1.0)"
    (tmp_path / "room.wav").write_bytes(b"x")
    (tmp_path / "c.yml").write_text(f"Shorter: {{file: '{tmp_path / 'room.wav'}'}}")
    digest = augment.load(str(tmp_path / "c.yml")).digest
    assert "file=files " in digest and str(tmp_path) not in digest
    (tmp_path / "room.wav").write_bytes(b"y")
    augment.load.cache_clear()
    assert augment.load(str(tmp_path / "c.yml")).digest != digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Gian", "no transform 'Gian'; the known ones are: Gain, Longer"),
        ("AddGaussianSNR", "noise at an exact SNR is added by noise="),
        ("none.yaml", "none.yaml is not readable"),
        ("- Gain: [1]", "entry 1: expected a transform's name"),
        ("- Gain\n- {Gain: {most: 2}}", "Gain has no parameter 'most'; its parameters are: least, p"),
        ("- Gain: {least: x}", "Gain refuses .*its parameters are: least, p"),
        ("a: [", "is not YAML"),
        ("Mp3", "needs a package that is not installed: No module named 'mp3'"),
    ],
)
def test_what_is_refused(package: None, tmp_path: Path, text: str, message: str) -> None:
    if ":" in text or "\n" in text:
        (tmp_path / "x.yaml").write_text(text)
        text = str(tmp_path / "x.yaml")
    with pytest.raises(OptionError, match=message):
        Speech(augment=text)


def test_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None)
    augment.load.cache_clear()
    with pytest.raises(EngineMissing, match=r"dialmill\[audiomentations\]"):
        Speech(augment="BitCrush")
    with pytest.raises(OptionError, match="augment=BitCrush has no effect"):
        Speech(augment="BitCrush", engine="text")


def test_in_keys_points_and_lineage(package: None, monkeypatch: pytest.MonkeyPatch) -> None:
    engines = Engines(FakeTts(), FakeAsr(lambda text, call: "a motel"), Cache(None))
    monkeypatch.setattr(registry, "open_engines", lambda choice: engines)
    plain = Speech(engine="audio", tts="fake-tts", asr="fake-asr", noise="none")
    gain = Speech(engine="audio", tts="fake-tts", asr="fake-asr", noise="none", augment="Gain")
    plan = make_plan(plain, "en")
    channel = open_channel(plan)
    assert effects(plain) != effects(gain) and plain.params["augment"] == ""
    assert point_name(plain, "none", plan) != point_name(gain, "none", plan)
    one, other = Condition("fake-a", "none", 100.0, 1), Condition("fake-a", "none", 100.0, 1, augment="Gain")
    assert channel.key("x", one) != channel.key("x", other)
    loud, soft = channel.audio("hello", one), channel.audio("hello", other)
    assert len(loud) == len(soft) and np.abs(soft).max() < np.abs(loud).max()
    source = Dialogue(dialogue_id="d/standard/0", source="test", source_id="d", turns=(Turn(0, "user", "a hotel"),))
    assert (gain.perturb(source, 1).lineage[-1].params or {})["augment"] == "audiomentations 9.9 Gain(least=0.1, p=1.0)"
    # The curves that come with dialmill are for audio without effects.
    monkeypatch.setattr(points, "shipped", lambda *args: points.Curve((0.0, 9.0), (0.5, 0.1)))
    assert known_curve(plain, "none", plan) is not None and known_curve(gain, "none", plan) is None


def test_the_package_itself(tmp_path: Path) -> None:
    if importlib.util.find_spec("audiomentations") is None:
        pytest.skip("audiomentations is not installed: pip install 'dialmill[audiomentations]'")
    augment.load.cache_clear()
    (tmp_path / "x.yaml").write_text("- BitCrush: {min_bit_depth: 5, max_bit_depth: 5}\n- Normalize\n")
    for text in ("BitCrush|BandPassFilter", "TimeStretch|PitchShift", "Shift|TimeMask", str(tmp_path / "x.yaml")):
        effects = augment.load(text)
        made = effects.apply(TONE, 1)
        assert len(made) == len(TONE) and made.dtype == np.float32 and np.isfinite(made).all() and made.any()
        assert np.array_equal(made, effects.apply(TONE, 1))
        assert effects.digest.startswith("audiomentations 0.")
    assert len(np.unique(made)) <= 2**5 + 1
    random.seed(1)
    state = random.getstate()
    augment.load("BandPassFilter").apply(TONE, 5)
    assert random.getstate() == state
    assert not np.array_equal(augment.load("BandPassFilter").apply(TONE, 5), augment.load("BandPassFilter").apply(TONE, 6))
    with pytest.raises(OptionError, match=r"no transform 'BitCrash'.*BitCrush"):
        augment.load("BitCrash")
    with pytest.raises(OptionError, match="noise="):
        augment.load("AddColorNoise")
