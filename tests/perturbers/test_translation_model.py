"""A model folder in CTranslate2's form, run for real: a tiny one whose numbers are drawn, so that it says little, but says it by the whole way."""

from __future__ import annotations

import io
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from dialmill.perturbers.core.contract import OptionError
from dialmill.perturbers.translation.perturber import Translate
from dialmill.schemas import Act, Dialogue, Turn

pytest.importorskip("ctranslate2")
pytest.importorskip("sentencepiece")

ENGLISH = ["I need a cheap hotel in the north .", "The number is 01223 . Anything else ?", "No, thank you ."]
CHINESE = ["我要北方的便宜的酒店。", "电话是号码，还有别的吗？", "不用了，谢谢。"]
#: Width of the model's vectors, and of its layers inside.
WIDTH, INNER = 8, 16


def _pieces(texts: list[str], path: Path) -> list[str]:
    """A tokenizer trained on some texts, written to `path`; returns its pieces in order."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts * 5), model_writer=model, vocab_size=40, hard_vocab_limit=False, character_coverage=1.0, minloglevel=2
    )
    path.write_bytes(model.getvalue())
    made = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [made.id_to_piece(number) for number in range(made.get_piece_size())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Transformer of one layer, as CTranslate2's converters write one."""
    import numpy as np
    from ctranslate2.specs import transformer_spec

    made = tmp_path_factory.mktemp("model")
    source, target = _pieces(ENGLISH, made / "source.spm"), _pieces(CHINESE, made / "target.spm")
    spec = transformer_spec.TransformerSpec.from_config(1, 2)
    drawn = np.random.default_rng(1)

    def linear(layer: Any, out: int, into: int) -> None:
        layer.weight, layer.bias = drawn.normal(size=(out, into)).astype(np.float32), np.zeros(out, np.float32)

    def norm(layer: Any) -> None:
        layer.gamma, layer.beta = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)

    for side, embedding, pieces in ((spec.encoder, spec.encoder.embeddings[0], source), (spec.decoder, spec.decoder.embeddings, target)):
        embedding.weight = drawn.normal(size=(len(pieces), WIDTH)).astype(np.float32)
        side.position_encodings.encodings = np.zeros((256, WIDTH), np.float32)
        norm(side.layer_norm)
        for layer in side.layer:
            linear(layer.self_attention.linear[0], 3 * WIDTH, WIDTH)
            linear(layer.self_attention.linear[1], WIDTH, WIDTH)
            linear(layer.ffn.linear_0, INNER, WIDTH)
            linear(layer.ffn.linear_1, WIDTH, INNER)
            norm(layer.self_attention.layer_norm)
            norm(layer.ffn.layer_norm)
    for layer in spec.decoder.layer:
        for place, out in enumerate((WIDTH, 2 * WIDTH, WIDTH)):
            linear(layer.attention.linear[place], out, WIDTH)
        norm(layer.attention.layer_norm)
    linear(spec.decoder.projection, len(target), WIDTH)
    spec.register_source_vocabulary(source)
    spec.register_target_vocabulary(target)
    spec.validate()
    spec.save(str(made))
    return made


def _dialogue() -> Dialogue:
    turns = tuple(
        Turn(place, "system" if place % 2 else "user", text, acts=(Act("inform", "hotel", "area", "north"),) if place == 0 else ())
        for place, text in enumerate(ENGLISH)
    )
    return Dialogue(dialogue_id="d", source="s", source_id="d", domains=("hotel",), turns=turns)


def _lexicon(path: Path) -> str:
    path.write_text("kind\tdomain\tslot\tsource\ttarget\ndomain\t\t\thotel\t旅馆\nslot\t\t\tarea\t区域\nvalue\thotel\tarea\tnorth\t北方\n", "utf-8")
    return str(path)


def test_a_model_folder_runs_and_what_it_says_wrong_is_refused(folder: Path, tmp_path: Path) -> None:
    from dialmill.perturbers.translation import engines

    said = engines._translators(str(folder))(ENGLISH[0])
    assert said and said == engines._translators(str(folder))(ENGLISH[0]) and not said.isascii(), "pieces of the target language come out"
    translate = Translate(lexicon=_lexicon(tmp_path / "lexicon.tsv"), engine="ctranslate2", file=str(folder))
    made = translate.perturb(_dialogue(), 1)
    assert made == translate.perturb(_dialogue(), 1)
    # Drawn numbers translate nothing rightly: the first turn's value is lost, so the dialogue doesn't pass for translated.
    reasons = [turn.reason for step in made.lineage for turn in step.skipped]
    assert reasons or all("X1X" not in turn.utterance for turn in made.turns)


def test_a_model_file_that_is_not_as_its_list_says_is_refused(folder: Path, tmp_path: Path) -> None:
    sums = folder / "SHA256SUMS"
    names = sorted(path.name for path in folder.iterdir() if path.name != sums.name)
    sums.write_text("".join(f"{sha256((folder / name).read_bytes()).hexdigest() if name != 'model.bin' else '0' * 64}  {name}\n" for name in names))
    try:
        with pytest.raises((OptionError, ValueError), match=r"model\.bin"):
            Translate(lexicon=_lexicon(tmp_path / "lexicon.tsv"), engine="ctranslate2", file=str(folder))
    finally:
        sums.unlink()
