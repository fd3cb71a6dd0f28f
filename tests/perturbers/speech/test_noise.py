"""Noise at exact ratios; sample counts; seeds; files."""

from __future__ import annotations

import wave
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from dialmill.perturbers import UnusableFile, parse  # noqa: E402
from dialmill.perturbers.speech import noise  # noqa: E402

from tests.pipelines.tools import DATA, call  # noqa: E402


def speech(seconds: float = 1.5) -> noise.Audio:
    t = np.arange(int(seconds * noise.RATE)) / noise.RATE
    return (0.3 * np.sin(2 * np.pi * 220 * t) * (np.sin(2 * np.pi * 1.5 * t) > 0)).astype(np.float32)


@pytest.mark.parametrize("kind", ["white", "pink"])
@pytest.mark.parametrize("snr", [-5.0, 0.0, 12.5, 30.0])
def test_exact_snr(kind: str, snr: float) -> None:
    clean = speech()
    mixed = noise.mix(clean, noise.KINDS[kind](len(clean), 1), snr)
    assert len(mixed) == len(clean) and mixed.dtype == np.float32
    # Where it was scaled against clipping, speech and noise went down together.
    scale = float(np.dot(mixed, clean) / np.dot(clean, clean))
    under = mixed - np.float32(scale) * clean
    found = 10 * np.log10(noise.active_power(clean * np.float32(scale)) / float((under**2).mean()))
    assert found == pytest.approx(snr, abs=0.1)
    assert np.abs(mixed).max() <= 1


def test_pauses_do_not_count() -> None:
    loud = np.full(noise.RATE, 0.5, np.float32)
    padded = np.concatenate([loud, np.zeros(3 * noise.RATE, np.float32)])
    assert noise.active_power(padded) == pytest.approx(noise.active_power(loud), rel=1e-6)


def test_seeds() -> None:
    assert np.array_equal(noise.pink(1000, 5), noise.pink(1000, 5))
    assert not np.array_equal(noise.pink(1000, 5), noise.pink(1000, 6))
    # Pinned: a change here changes every suite.
    assert noise.white(3, 0).tolist() == pytest.approx([1.7640524, 0.4001572, 0.978738])


def test_pink_falls_by_3_db_an_octave() -> None:
    power = np.abs(np.fft.rfft(noise.pink(1 << 17, 3))) ** 2
    low, high = power[1000:2000].mean(), power[8000:16000].mean()
    assert 10 * np.log10(low / high) == pytest.approx(9, abs=0.7)


@pytest.mark.parametrize("samples", [1, 2, 159, 16_001])
def test_counts_in_and_out(samples: int) -> None:
    audio = np.linspace(-0.5, 0.5, samples).astype(np.float32)
    for made in (noise.telephone(audio), noise.reverb(audio, 0.3, 1), noise.clip(audio, 0.1), noise.babble(samples, 1, speech())):
        assert len(made) == samples and made.dtype == np.float32
    assert len(noise.mix(audio, noise.white(samples, 1), 5)) == samples


def test_silence_stays() -> None:
    silence = np.zeros(800, np.float32)
    assert not noise.mix(silence, noise.white(800, 1), 5).any()


def test_telephone_band() -> None:
    t = np.arange(noise.RATE) / noise.RATE
    for hertz, stays in ((100, False), (1000, True), (6000, False)):
        tone = np.sin(2 * np.pi * hertz * t).astype(np.float32)
        power = float((noise.telephone(tone)[2000:-2000] ** 2).mean())
        assert (power > 0.45) == stays and (power < 0.01) != stays


def test_clipping() -> None:
    audio = speech()
    clipped = noise.clip(audio, 0.2)
    assert (np.abs(clipped) >= np.abs(clipped).max() - 1e-6).mean() >= 0.2


@pytest.mark.parametrize("rate", [8000, 22_050, 24_000, 44_100])
def test_resample(rate: int) -> None:
    t = np.arange(rate) / rate
    made = noise.resample(np.sin(2 * np.pi * 440 * t).astype(np.float32), rate)
    assert len(made) == noise.RATE
    wanted = np.sin(2 * np.pi * 440 * np.arange(noise.RATE) / noise.RATE)
    assert np.abs(made[1000:-1000] - wanted[1000:-1000]).max() < 0.02


def test_files(tmp_path: Path) -> None:
    (tmp_path / "a.wav").write_bytes(noise.wav_bytes(speech()))
    with wave.open(str(tmp_path / "a.wav")) as file:
        assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (16_000, 1, 24_000)
    assert np.abs(noise.read(tmp_path / "a.wav") - speech()).max() < 1e-4
    made = noise.recording(50_000, 3, str(tmp_path))
    assert len(made) == 50_000 and made.any()
    (tmp_path / "b.wav").write_bytes(b"")
    with pytest.raises(ValueError, match=r"b\.wav is empty"):
        noise.read(tmp_path / "b.wav")
    with pytest.raises(FileNotFoundError, match="no recordings"):
        noise.recordings(str(tmp_path / "none"))


def _write(path: Path, audio: noise.Audio) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(noise.wav_bytes(audio))


BAD = {
    "silent": (np.zeros(32_000, np.float32), "is silent"),
    "one step of 16 bits": (np.tile(np.float32([1, 0, -1, 0]) / 32768, 8000), "is silent"),
    "a constant": (np.full(32_000, 0.5, np.float32), "is silent"),
    "no samples": (np.zeros(0, np.float32), "is empty"),
    "a click": (noise.white(800, 1) / 10, "is too short"),
    "a click in silence": (np.concatenate([np.zeros(32_000, np.float32), noise.white(640, 1) / 10]), "is too short"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_recording_that_is_no_noise_is_refused_at_the_start(name: str, tmp_path: Path) -> None:
    """The second of two files, by name, before anything is synthesised."""
    audio, why = BAD[name]
    _write(tmp_path / "a.wav", noise.white(16_000, 1) / 10)
    noise.check_recordings(str(tmp_path))
    _write(tmp_path / "b" / "b.wav", audio)
    for wanted in (lambda: noise.check_recordings(str(tmp_path)), lambda: parse(f"speech:engine=auto,noise={tmp_path}")):
        with pytest.raises(UnusableFile, match=rf"b\.wav {why}|b\.wav has .* which {why}"):
            wanted()


@pytest.mark.parametrize("content", [b"", b"no audio at all", b"RIFF\x00\x00\x00\x00WAVE"])
@pytest.mark.parametrize("ending", ["wav", "mp3", "flac"])
def test_a_file_that_is_no_audio_is_refused_at_the_start(content: bytes, ending: str, tmp_path: Path) -> None:
    (tmp_path / f"x.{ending}").write_bytes(content)
    with pytest.raises(UnusableFile, match=rf"x\.{ending} "):
        noise.check_recordings(str(tmp_path))


def test_a_run_with_unusable_recordings_ends_with_1_and_their_name(tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("no audio")
    words = ("perturb", "--input", DATA / "multiwoz21", "--output", tmp_path / "out", "--with", f"speech:snr=5,noise={tmp_path}")
    refused = call(*words)
    assert refused.code == 1 and "holds no recordings" in refused.err and str(tmp_path) in refused.err
    _write(tmp_path / "rain.wav", np.zeros(16_000, np.float32))
    refused = call(*words)
    assert refused.code == 1 and f"{tmp_path}/rain.wav is silent" in refused.err and not (tmp_path / "out").exists()


def test_silent_parts_of_a_recording_are_never_under_a_voice(tmp_path: Path) -> None:
    _write(tmp_path / "a.wav", np.concatenate([np.zeros(320_000, np.float32), noise.white(16_000, 1) / 10, np.zeros(320_000, np.float32)]))
    for seed in range(20):
        assert noise.recording(8000, seed, str(tmp_path)).std() > 0.01
