"""The recipe keys of DSTC9 Track 2, beside those of every build."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Literal

from dialmill.perturbers.core.contract import Perturber
from dialmill.perturbers.core.options import Meta, OptionError
from dialmill.perturbers.translation.perturber import Translate
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe


@dataclass(frozen=True)
class Track2Recipe(Recipe):
    """Keys of DSTC9 Track 2."""

    lexicon: Annotated[
        str,
        Meta(
            description="the translations of labels: the official vocab_dict.json, a table (kind, domain, slot, source, target), or two ontologies "
            'of one shape, "SOURCE.json|TARGET.json"',
            examples=["vocab_dict.json"],
        ),
    ] = ""
    engine: Annotated[
        Literal["none", "table", "memory", "llm", "ctranslate2"],
        Meta(description="what translates the turns; none translates the labels alone"),
    ] = "none"
    sentences: Annotated[
        str,
        Meta(
            description="the sentence pairs of the engines table and memory, or the model folder of ctranslate2",
            examples=["pairs.tsv"],
            extra={"needs": {"engine": ("table", "memory", "ctranslate2")}},
        ),
    ] = ""
    model: Annotated[str, Meta(description="the model that the engine llm asks", examples=["qwen2.5"], extra={"needs": {"engine": ("llm",)}})] = ""

    def _with_words(self, perturber: Perturber) -> Perturber:
        """The perturber with this recipe's lexicon and engine, where it translates and has none of its own."""
        if isinstance(perturber, Translate) and not perturber.lexicon:
            if self.engine in ("table", "memory") and not self.sentences:
                needed = f"engine={self.engine} needs sentence pairs, as in --set sentences=pairs.tsv"
                raise UsageError(f"{needed}; engine=none translates the labels alone")
            try:
                return dataclasses.replace(perturber, lexicon=self.lexicon, engine=self.engine, file=self.sentences, model=self.model)
            except OptionError as error:
                raise UsageError(str(error)) from None
        return super()._with_words(perturber)
