"""Noise over speech at an exact signal-to-noise ratio, and what a telephone, a room and an overdriven microphone do to it.

Audio is float32 in [-1, 1], mono; every function gives back as many samples as it got. Randomness comes from `numpy.random.RandomState`, whose
sequences numpy has promised never to change.
"""

from __future__ import annotations

import wave
from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from dialmill.perturbers.core.options import UnusableFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Audio: TypeAlias = NDArray[np.float32]
else:
    # numpy comes with the extra; the names here must do without it.
    Audio = Any

#: Everything is brought to this rate, which all recognisers here take.
RATE = 16_000
_FRAME = RATE // 50
#: Frames this far below the loudest are pauses (the margin of ITU-T P.56's active speech level is of that order).
_ACTIVE_DB = 35.0


def active_power(speech: Audio) -> float:
    """Mean power of the speech over its active 20 ms frames, so that a pause doesn't make the voice count as softer."""
    import numpy as np

    if len(speech) < _FRAME:
        return float(np.mean(speech.astype(np.float64) ** 2)) if len(speech) else 0.0
    frames = speech[: len(speech) // _FRAME * _FRAME].astype(np.float64).reshape(-1, _FRAME)
    power = (frames**2).mean(axis=1)
    return float(power[power >= power.max() * 10 ** (-_ACTIVE_DB / 10)].mean())


def mix(speech: Audio, noise: Audio, snr: float) -> Audio:
    """`speech` with `noise` of the same length under it, `snr` dB (active speech power by noise power), scaled down together where it would clip.

    Raises:
        ValueError: lengths differ.
    """
    import numpy as np

    if len(speech) != len(noise):
        raise ValueError(f"speech has {len(speech)} samples, noise {len(noise)}")
    loud, soft = active_power(speech), float(np.mean(noise.astype(np.float64) ** 2)) if len(noise) else 0.0
    if not loud or not soft:
        return speech
    mixed = speech + noise * np.float32((loud / soft / 10 ** (snr / 10)) ** 0.5)
    peak = float(np.abs(mixed).max())
    return (mixed * np.float32(0.99 / peak)).astype(np.float32) if peak > 0.99 else mixed.astype(np.float32)


def white(samples: int, seed: int) -> Audio:
    """White noise: equal power at all frequencies."""
    import numpy as np

    return np.random.RandomState(seed).standard_normal(samples).astype(np.float32)


def pink(samples: int, seed: int) -> Audio:
    """Pink noise: power falls by 3 dB an octave (a fan, distant traffic)."""
    import numpy as np

    size = _fast_length(samples)
    spectrum = np.fft.rfft(np.random.RandomState(seed).standard_normal(size))
    frequency = np.fft.rfftfreq(size)
    frequency[0] = frequency[1] if size > 1 else 1.0
    return np.fft.irfft(spectrum / np.sqrt(frequency), size)[:samples].astype(np.float32)


def _fast_length(samples: int) -> int:
    """A length that an FFT handles quickly, at least `samples`."""
    return 1 << max(1, samples - 1).bit_length()


def babble(samples: int, seed: int, pool: Audio, speakers: int = 6) -> Audio:
    """Babble: `speakers` stretches of `pool` (voices reading, one after the other) at once, each from a random place and at a random level (6 dB)."""
    import numpy as np

    return _overlay(np.random.RandomState(seed), samples, pool, speakers)


def _overlay(random: Any, samples: int, pool: Audio, speakers: int) -> Audio:
    import numpy as np

    mixed = np.zeros(samples, np.float32)
    for _ in range(speakers):
        start = int(random.random_sample() * len(pool))
        level = 10 ** (-6 * random.random_sample() / 20)
        mixed += np.float32(level) * np.take(pool, np.arange(start, start + samples), mode="wrap")
    return mixed


#: A recording below this level (standard deviation, of 1; three steps of 16 bits) is silent, also in parts: 20 ms at a time.
_SILENCE = 1e-4
#: Seconds of noise that a recording must have besides silence.
_LEAST_NOISE = 0.1


def recording(samples: int, seed: int, folder: str) -> Audio:
    """A stretch of one of the recordings in `folder`, from a random place, repeated where it is too short; its silent parts are left out."""
    import numpy as np

    files = recordings(folder)
    random = np.random.RandomState(seed)
    return _overlay(random, samples, _read_cached(str(files[int(random.random_sample() * len(files))])), 1)


_SUFFIXES = frozenset({".wav", ".flac", ".ogg", ".mp3"})


def recordings(folder: str) -> list[Path]:
    """The audio files of a folder and those below it, by name.

    Raises:
        FileNotFoundError: no such folder, or nothing in it that is audio.
    """
    files = sorted(path for path in Path(folder).rglob("*") if path.suffix.lower() in _SUFFIXES)
    if not files:
        raise FileNotFoundError(f"{folder} holds no recordings ({', '.join(sorted(_SUFFIXES))})")
    return files


@lru_cache(maxsize=64)
def noise_name(kind: str) -> str:
    """What names a kind of noise in keys and lineages: of a folder, its recordings' contents, as they are when a process first asks."""
    if kind in NAMES or kind == "none":
        return kind
    hasher = sha256()
    for path in recordings(kind):
        hasher.update(sha256(path.read_bytes()).digest())
    return f"recordings {hasher.hexdigest()[:24]}"


def check_recordings(folder: str) -> None:
    """Raises `UnusableFile`, naming the first, where a folder has no recordings or one of them can't be read or is silent."""
    _check_recordings(folder, tuple((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in _found(folder)))


def _found(folder: str) -> list[Path]:
    try:
        return recordings(folder)
    except FileNotFoundError as error:
        raise UnusableFile(f"{error}; noise needs a folder with some") from None


@lru_cache(maxsize=64)
def _check_recordings(folder: str, state: tuple[tuple[str, int, int], ...]) -> None:
    """As `check_recordings`, once for each state of the files."""
    for path, _, _ in state:
        try:
            audio = read(Path(path))
        except (OSError, ValueError) as error:
            told = str(error)
            raise UnusableFile(told if path in told else f"{path} is not readable audio: {told}") from None
        if not len(audio):
            raise UnusableFile(f"{path} is empty: it has no samples")
        heard = len(audible(audio)) / RATE
        if not heard:
            raise UnusableFile(f"{path} is silent, so that it is no noise; take it out of {folder}")
        if heard < _LEAST_NOISE:
            raise UnusableFile(f"{path} has {heard:.2f} s of noise, which is too short: {_LEAST_NOISE:g} s are the least; take it out of {folder}")


def audible(audio: Audio) -> Audio:
    """A recording without its silent parts, 20 ms at a time; empty where all of it is silent."""
    import numpy as np

    if len(audio) < _FRAME:
        return audio if len(audio) and float(audio.std()) > _SILENCE else audio[:0]
    whole = len(audio) // _FRAME * _FRAME
    heard = audio[:whole].astype(np.float64).reshape(-1, _FRAME).std(axis=1) > _SILENCE
    if heard.all():
        return audio
    kept: Audio = audio[:whole].reshape(-1, _FRAME)[heard].reshape(-1)
    return kept


@lru_cache(maxsize=32)
def _read_cached(path: str) -> Audio:
    return audible(read(Path(path)))


def resample(audio: Audio, rate: int, to: int = RATE) -> Audio:
    """`audio` at another rate, band-limited (by its spectrum); round(len * to / rate) samples."""
    import numpy as np

    if rate == to or not len(audio):
        return audio
    samples = round(len(audio) * to / rate)
    # Padding to a length with small factors keeps the FFT quick and the ratio exact.
    step = rate // np.gcd(rate, to)
    size = -(-len(audio) // (step * 64)) * step * 64
    spectrum = np.fft.rfft(audio, size)
    out = size // step * (to // np.gcd(rate, to))
    keep = min(len(spectrum), out // 2 + 1)
    scaled = np.zeros(out // 2 + 1, spectrum.dtype)
    scaled[:keep] = spectrum[:keep]
    resampled: Audio = (np.fft.irfft(scaled, out) * (out / size))[:samples].astype(np.float32)
    return resampled


def telephone(audio: Audio) -> Audio:
    """The band of a telephone line, 300 to 3,400 Hz, with slopes of an eighth of an octave."""
    import numpy as np

    size = _fast_length(len(audio))
    frequency = np.fft.rfftfreq(size, 1 / RATE)
    with np.errstate(divide="ignore"):
        octaves = np.minimum(np.log2(frequency / 300), np.log2(3400 / np.maximum(frequency, 1e-9)))
    gain = np.clip(1 + 8 * octaves, 0, 1)
    return np.fft.irfft(np.fft.rfft(audio, size) * gain, size)[: len(audio)].astype(np.float32)


def reverb(audio: Audio, seconds: float, seed: int) -> Audio:
    """A room whose sound falls by 60 dB within `seconds`: its impulse response is noise that dies away exponentially (Moorer 1979), 6 dB below the
    direct sound."""
    import numpy as np

    length = max(2, int(seconds * RATE))
    tail = np.random.RandomState(seed).standard_normal(length) * 10 ** (-3 * np.arange(length) / length)
    tail *= 0.5 / np.sqrt((tail**2).sum())
    tail[0] = 1.0
    size = _fast_length(len(audio) + length)
    wet = np.fft.irfft(np.fft.rfft(audio, size) * np.fft.rfft(tail, size), size)[: len(audio)]
    peak = float(np.abs(wet).max()) if len(wet) else 0.0
    return (wet * (0.99 / peak) if peak > 0.99 else wet).astype(np.float32)


def clip(audio: Audio, share: float) -> Audio:
    """An overdriven microphone: the loudest `share` of the samples is cut off, in [0, 1)."""
    import numpy as np

    if not share or not len(audio):
        return audio
    limit = float(np.quantile(np.abs(audio), 1 - share))
    return np.clip(audio, -limit, limit).astype(np.float32) if limit else audio


def read(path: Path) -> Audio:
    """An audio file as mono at 16 kHz: WAV by the standard library, anything else by soundfile, or by pydub where that is installed.

    Raises:
        ValueError: the file is no audio that the installed libraries read, or holds samples that are no numbers; names the file and the remedy.
    """
    import numpy as np

    audio = _decoded(path)
    if not np.isfinite(audio).all():
        raise ValueError(f"{path} is not readable audio: some samples are no numbers")
    return audio


def _decoded(path: Path) -> Audio:
    import numpy as np

    if path.stat().st_size == 0:
        raise ValueError(f"{path} is empty")
    if path.suffix.lower() == ".wav":
        try:
            with wave.open(str(path)) as file:
                if file.getsampwidth() == 2:
                    data = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float32) / 32768
                    return resample(data.reshape(-1, file.getnchannels()).mean(axis=1), file.getframerate())
        except (wave.Error, EOFError):
            pass  # of another sample format, or damaged: the other readers tell
    for reader in (_by_soundfile, _by_pydub):
        try:
            return reader(path)
        except ImportError:
            continue
        except Exception as error:
            raise ValueError(f"{path} is not readable audio: {error}") from error
    if path.suffix.lower() == ".wav" and not _is_wav(path):
        raise ValueError(f"{path} is not readable audio: it is no WAV file")
    raise ValueError(f"{path} is no 16-bit WAV; to read it, pip install soundfile")


def _is_wav(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) in (b"RIFF", b"RF64", b"RIFX")


def _by_soundfile(path: Path) -> Audio:
    import soundfile

    data, rate = soundfile.read(str(path), dtype="float32", always_2d=True)
    return resample(data.mean(axis=1), rate)


def _by_pydub(path: Path) -> Audio:
    import numpy as np
    from pydub import AudioSegment

    segment = AudioSegment.from_file(str(path)).set_channels(1).set_frame_rate(RATE).set_sample_width(2)
    return np.array(segment.get_array_of_samples(), np.float32) / np.float32(32768)


def wav_bytes(audio: Audio) -> bytes:
    """`audio` as a 16-bit mono WAV file of 16 kHz."""
    import io

    import numpy as np

    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(np.clip(audio, -1, 1) * 32767).astype("<i2").tobytes())
    return buffer.getvalue()


#: Noise that needs no recordings. Babble takes its pool from the voices of the suite.
KINDS: dict[str, Callable[[int, int], Audio]] = {"white": white, "pink": pink}
NAMES: Sequence[str] = ("white", "pink", "babble")
