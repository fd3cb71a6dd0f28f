"""SVOX Pico in a process of its own, run as a script; `pico.Pico` talks to it.

Pico reads memory that it never cleared, so that its audio, even its length, depends on what its process did before. Here nothing else happens, and
the C library hands out memory of one content, so that the audio is a function of the text and the voice. Nothing of ours is imported, so that it
starts in a tenth of a second.

Requests and answers are length-prefixed (4 bytes, big endian): a JSON array [text, voice, pitch, speed] in, 16-bit samples at 16 kHz out.
"""

import contextlib
import ctypes
import json
import os
import signal
import sys


def main() -> None:
    """Answers requests until the input ends."""
    # Ctrl-C goes to the whole group of processes. The caller tells of it, and its end is the end of the input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Large blocks come as fresh pages of zeros (glibc's M_MMAP_THRESHOLD); small ones by GLIBC_TUNABLES, which the caller sets. Another C library
    # knows neither, and runs may differ there.
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).mallopt(-3, 2 << 20)
    # The folder of this script holds files called like the engines' packages, which must not be found in their place.
    sys.path[:] = [place for place in sys.path if place != os.path.dirname(os.path.abspath(__file__))]  # noqa: PTH100, PTH120
    from py_nanotts import NanoTTS

    engine = NanoTTS()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    while len(head := requests.read(4)) == 4:
        text, voice, pitch, speed = json.loads(requests.read(int.from_bytes(head, "big")))
        try:
            data = engine.speak(text, voice=voice, pitch=pitch, speed=speed) or b""
        except Exception:  # whatever the engine raises costs this text alone; no audio says so
            data = b""
        answers.write(len(data).to_bytes(4, "big") + data)
        answers.flush()


if __name__ == "__main__":
    main()
