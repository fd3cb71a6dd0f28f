"""Whisper's weights from CTranslate2's format to that of OpenAI's own package, whose own files can only be had from its server.

    python -m dialmill.perturbers.speech.fit.convert tiny.en OUT.pt

The first argument is a size with weights on this machine ("tiny.en", "base"), a CTranslate2 model's folder or its model.bin; `OUT.pt` is what
``--with speech:asr=openai-whisper:OUT.pt`` and `whisper.load_model("OUT.pt")` take. Needs the extra `openai-whisper` (for PyTorch).
"""

from __future__ import annotations

import argparse
import importlib
import re
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialmill.perturbers.speech.errors import EngineMissing
from dialmill.perturbers.speech.weights import find

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Tensors = dict[str, NDArray[np.generic]]

#: CTranslate2's numbers for types of elements (ctranslate2/specs/model_spec.py).
_TYPES = {0: "<f4", 1: "<i1", 2: "<i2", 3: "<i4", 4: "<f2"}
#: Binary versions that number their types like that; older ones gave an element's size.
_VERSIONS = range(4, 7)
#: All sizes of Whisper have heads of 64 channels and look at 30 s, 1,500 positions, of sound.
_HEAD, _POSITIONS = 64, 1500


class _Reader:
    """Little-endian fields one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def number(self, form: str) -> int:
        (value,) = struct.unpack_from("<" + form, self.data, self.place)
        self.place += struct.calcsize("<" + form)
        return int(value)

    def text(self) -> str:
        size = self.number("H")
        value = self.data[self.place : self.place + size - 1].decode("utf-8")
        self.place += size
        return value


def read_ctranslate2(path: Path) -> Tensors:
    """The variables of a CTranslate2 ``model.bin`` by their names; 8-bit weights as float32, by their scales.

    Raises:
        ValueError: no such file, or not of Whisper.
    """
    import numpy as np

    reader = _Reader(path.read_bytes())
    found: Tensors = {}
    try:
        version, kind = reader.number("I"), reader.text()
        if version not in _VERSIONS or kind != "WhisperSpec":
            raise ValueError(f"{path} holds {kind!r} in version {version}; expected WhisperSpec in version {_VERSIONS[0]} to {_VERSIONS[-1]}")
        reader.number("I")
        for _ in range(reader.number("I")):
            name = reader.text()
            shape = [reader.number("I") for _ in range(reader.number("B"))]
            element = np.dtype(_TYPES[reader.number("B")])
            size = reader.number("I")
            found[name] = np.frombuffer(reader.data, element, size // element.itemsize, reader.place).reshape(shape)
            reader.place += size
        for _ in range(reader.number("I")):
            alias = reader.text()
            found[alias] = found[reader.text()]
    except (struct.error, UnicodeDecodeError, KeyError) as error:
        raise ValueError(f"{path} is no whole CTranslate2 model: {error!r}") from error
    for name in [name for name in found if name.endswith("_scale")]:
        weight = name.removesuffix("_scale")
        scale = found[name].astype(np.float32)
        found[weight] = found[weight].astype(np.float32) / scale.reshape(scale.shape + (1,) * (found[weight].ndim - scale.ndim))
    return found


class _State:
    """OpenAI's state dictionary, filled from CTranslate2's variables; `tensors` is what is there so far. A missing variable is a `KeyError`."""

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self.variables = variables
        self.tensors: Tensors = {}

    def linear(self, target: str, source: str) -> None:
        """A linear layer or a convolution."""
        for part in ("weight", "bias"):
            self.tensors[f"{target}.{part}"] = self.variables[f"{source}/{part}"]

    def norm(self, target: str, source: str) -> None:
        """A layer norm."""
        for ours, theirs in (("weight", "gamma"), ("bias", "beta")):
            self.tensors[f"{target}.{ours}"] = self.variables[f"{source}/{theirs}"]

    def joined(self, targets: Sequence[str], source: str) -> None:
        """One layer of CTranslate2 that holds several of OpenAI's, of which those for keys have no bias."""
        import numpy as np

        weights, biases = (np.split(self.variables[f"{source}/{part}"], len(targets)) for part in ("weight", "bias"))
        for target, weight, bias in zip(targets, weights, biases, strict=True):
            self.tensors[f"{target}.weight"] = weight
            if not target.endswith("key"):
                self.tensors[f"{target}.bias"] = bias

    def layers(self, side: str) -> int:
        """All transformer layers of the "encoder" or the "decoder"; gives their number."""
        found = (re.match(rf"{side}/layer_(\d+)/", name) for name in self.variables)
        count = max((int(match[1]) + 1 for match in found if match), default=0)
        for layer in range(count):
            target, source = f"{side}.blocks.{layer}", f"{side}/layer_{layer}"
            self.norm(f"{target}.attn_ln", f"{source}/self_attention/layer_norm")
            self.joined([f"{target}.attn.{part}" for part in ("query", "key", "value")], f"{source}/self_attention/linear_0")
            self.linear(f"{target}.attn.out", f"{source}/self_attention/linear_1")
            if side == "decoder":
                self.norm(f"{target}.cross_attn_ln", f"{source}/attention/layer_norm")
                self.linear(f"{target}.cross_attn.query", f"{source}/attention/linear_0")
                self.joined([f"{target}.cross_attn.{part}" for part in ("key", "value")], f"{source}/attention/linear_1")
                self.linear(f"{target}.cross_attn.out", f"{source}/attention/linear_2")
            self.norm(f"{target}.mlp_ln", f"{source}/ffn/layer_norm")
            self.linear(f"{target}.mlp.0", f"{source}/ffn/linear_0")
            self.linear(f"{target}.mlp.2", f"{source}/ffn/linear_1")
        return count


def openai_layout(variables: Mapping[str, Any]) -> tuple[dict[str, int], Tensors]:
    """OpenAI's `dims` and state dictionary for CTranslate2's variables.

    Raises:
        ValueError: a variable is missing.
    """
    state = _State(variables)
    try:
        for convolution in ("conv1", "conv2"):
            state.linear(f"encoder.{convolution}", f"encoder/{convolution}")
        state.tensors["encoder.positional_embedding"] = variables["encoder/position_encodings/encodings"]
        state.norm("encoder.ln_post", "encoder/layer_norm")
        state.tensors["decoder.token_embedding.weight"] = variables["decoder/embeddings/weight"]
        state.tensors["decoder.positional_embedding"] = variables["decoder/position_encodings/encodings"]
        state.norm("decoder.ln", "decoder/layer_norm")
        depths = state.layers("encoder"), state.layers("decoder")
    except KeyError as error:
        raise ValueError(f"the model has no variable {error}") from error
    tensors = state.tensors
    words, width = tensors["decoder.token_embedding.weight"].shape
    dims = {
        "n_mels": tensors["encoder.conv1.weight"].shape[1],
        "n_audio_ctx": _POSITIONS,
        "n_audio_state": width,
        "n_audio_head": width // _HEAD,
        "n_audio_layer": depths[0],
        "n_vocab": words,
        "n_text_ctx": tensors["decoder.positional_embedding"].shape[0],
        "n_text_state": width,
        "n_text_head": width // _HEAD,
        "n_text_layer": depths[1],
    }
    return dims, tensors


def convert(model: str, target: Path) -> dict[str, int]:
    """Writes a .pt file for a size, a folder or a model.bin; gives the model's dimensions.

    Raises:
        EngineMissing: no such weights here, or no PyTorch.
        ValueError: the file holds no Whisper model.
    """
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        raise EngineMissing("writing a .pt file needs PyTorch; it comes with the extra: pip install 'dialmill[openai-whisper]'") from error
    path = Path(model)
    dims, state = openai_layout(read_ctranslate2(path if path.is_file() else find(model, network=False).folder / "model.bin"))
    # float16 as OpenAI publishes them.
    tensors = {name: torch.from_numpy(tensor.astype("float16")) for name, tensor in state.items()}
    torch.save({"dims": dims, "model_state_dict": tensors}, target)
    return dims


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m dialmill.perturbers.speech.fit.convert", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="a size with weights here, a folder of a CTranslate2 model, or its model.bin")
    parser.add_argument("output", type=Path, help="the .pt file")
    given = parser.parse_args(arguments)
    try:
        dims = convert(given.model, given.output)
    except (EngineMissing, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        raise SystemExit(1) from None
    print(f"{given.output}: {', '.join(f'{name} {value}' for name, value in dims.items())}")


if __name__ == "__main__":
    main()
