"""The recipe keys of CGoDial's slot-based dialogues, beside those of every build."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from dialmill.perturbers import Chain, OptionError, Perturber, get
from dialmill.perturbers.core.effects import Except
from dialmill.perturbers.core.options import Meta
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe

#: What is said of questions, and of out-of-scope turns, where there are any.
_ASKED = {"needs": {"question_chance": Except((0.0,), "PROBABILITY")}}
_OUT = {"needs": {"oos_chance": Except((0.0,), "PROBABILITY")}}


@dataclass(frozen=True)
class SlotRecipe(Recipe):
    """Keys of slot-based dialogues."""

    question_pairs: Annotated[
        str,
        Meta(
            description="a file of questions that external knowledge answers, with their answers; empty takes our own",
            examples=["pairs.json"],
            extra=_ASKED,
        ),
    ] = ""
    question_chance: Annotated[
        float,
        Meta(ge=0, le=1, description="probability that a dialogue gets such a question; 0 for none", examples=[0.8], extra={"unit": "probability"}),
    ] = 0.5
    question_most: Annotated[
        int, Meta(ge=1, description="at most this many of them in a dialogue", examples=[3], extra={"unit": "questions", **_ASKED})
    ] = 2
    held_out_share: Annotated[
        float,
        Meta(
            ge=0, lt=1, description="share of the questions that occur in test only", examples=[0.2], extra={"unit": "share of questions", **_ASKED}
        ),
    ] = 0.13
    oos_texts: Annotated[
        str, Meta(description='files of out-of-scope utterances, "|" between them; empty takes our own list', examples=["chat.txt"], extra=_OUT)
    ] = ""
    oos_chance: Annotated[
        float,
        Meta(
            ge=0, le=1, description="probability that a dialogue gets out-of-scope turns; 0 for none", examples=[0.3], extra={"unit": "probability"}
        ),
    ] = 0.6
    oos_most: Annotated[int, Meta(ge=1, description="at most this many of them in a dialogue", examples=[1], extra={"unit": "turns", **_OUT})] = 2
    oos_answer: Annotated[str, Meta(description="what the system says to each", examples=["对不起，这个我不清楚。"], extra=_OUT)] = "抱歉，我不知道。"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.inserter()

    def inserter(self) -> Perturber | None:
        """The perturbers that put questions and out-of-scope turns in; None where both are off.

        Raises:
            UsageError: a file or an option that doesn't do.
        """
        links = []
        try:
            if self.question_chance:
                chosen = {"pairs": self.question_pairs, "chance": self.question_chance, "most": self.question_most, "held_out": self.held_out_share}
                links.append(get("questions").from_options(chosen))
            if self.oos_chance:
                texts = {"texts": self.oos_texts, "chance": self.oos_chance, "most": self.oos_most, "answer": self.oos_answer, "train_source": "*"}
                links.append(get("out_of_scope").from_options(texts))
        except OptionError as error:
            raise UsageError(str(error)) from None
        return Chain(tuple(links)) if links else None
