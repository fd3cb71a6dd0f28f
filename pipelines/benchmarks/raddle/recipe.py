"""The recipe keys of RADDLE, beside those of every build."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from dialmill.perturbers.core.options import Meta
from dialmill.pipelines.core.recipe import Recipe

Form = Literal["authors", "surface"]


@dataclass(frozen=True)
class RaddleRecipe(Recipe):
    """Keys of RADDLE."""

    turns_form: Annotated[
        Form,
        Meta(
            description='how the release writes turns: "authors", as SOLOIST\'s own converter: all in lower case, system turns of the history '
            'delexicalised, kb with the number of database rows that fit; "surface", the history as it was said, kb empty'
        ),
    ] = "authors"
