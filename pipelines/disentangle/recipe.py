"""The recipe keys of builds that read chat logs, beside those of every build."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from dialmill.perturbers.core.options import Meta
from dialmill.pipelines.core.errors import UsageError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.schemas import Dialogue

Date = Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d$", title="a date, YYYY-MM-DD")]

#: What is said of predicted links, and of splits by time, which the dialogues have from the logs.
_PREDICTED = {"needs": {"links": ("predicted",)}}
_DATED = {"needs": {"splits": ("auto", "official", "keep")}}


@dataclass(frozen=True)
class LogRecipe(Recipe):
    """Keys for sources that are chat logs. The filters are those of DSTC7 (Gunasekara et al. 2019, section 3.1)."""

    links: Annotated[
        Literal["predicted", "annotated"], Meta(description="where replies come from: predicted by the link model, or read from NAME.annotation.txt")
    ] = "predicted"
    model: Annotated[
        str | None, Meta(description="a file of the link model; none takes the one that comes with dialmill", examples=["my.model"], extra=_PREDICTED)
    ] = None
    min_confidence: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="only predicted conversations of at least this confidence",
            examples=[0.7],
            extra={"unit": "confidence", **_PREDICTED},
        ),
    ] = 0.0
    undirected_start: Annotated[bool, Meta(description="only conversations whose first message addresses nobody")] = False
    opens_with_request: Annotated[
        bool, Meta(description="only conversations that open with a question, a wish or a trouble, and not with a greeting or chat")
    ] = False
    bot_commands: Annotated[
        Literal["keep", "factoid", "drop"],
        Meta(description="messages that call the channel's bot ('!ask'): as they are, with what the bot says appended, or left out"),
    ] = "keep"
    min_participants: Annotated[
        int,
        Meta(
            ge=1, description="only conversations of at least this many participants, bots not counted", examples=[2], extra={"unit": "participants"}
        ),
    ] = 1
    max_participants: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(
            description="only conversations of at most this many participants, bots not counted; none is 2 for form dstc7, else no bound",
            examples=[3],
            extra={"unit": "participants"},
        ),
    ] = None
    max_share: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="only conversations in which no participant says more than this share",
            examples=[0.8],
            extra={"unit": "share of messages"},
        ),
    ] = 1.0
    drop_bots: Annotated[bool, Meta(description="leaves out the messages of bots")] = False
    anonymise: Annotated[bool, Meta(description="takes the nicknames out")] = False
    merge: Annotated[
        bool | None, Meta(description="joins consecutive messages of a speaker; none leaves it to form (dstc7 joins)", examples=[True])
    ] = None
    form: Annotated[Literal["dstc7", "dstc8", "plain"], Meta(description="the form of the release")] = "plain"
    valid_from: Annotated[
        Date | None,
        Meta(description="the first day of the validation split, for splits by time; goes with test_from", examples=["2009-10-01"], extra=_DATED),
    ] = None
    test_from: Annotated[
        Date | None,
        Meta(description="the first day of the test split, for splits by time; goes with valid_from", examples=["2010-01-01"], extra=_DATED),
    ] = None
    entangled_lines: Annotated[
        int,
        Meta(
            ge=1,
            description="lines of the channel before a conversation where it is shown entangled",
            examples=[100],
            extra={"unit": "lines"},
        ),
    ] = 50
    stretch_lines: Annotated[
        int,
        Meta(
            ge=1,
            description="messages of a stretch of the channel, which serves one subtask alone in valid and test where the channel is shown",
            examples=[1000],
            extra={"unit": "messages"},
        ),
    ] = 500

    relaxed_by: ClassVar[Mapping[str, str]] = {
        **Recipe.relaxed_by,
        "too_few_participants": "min_participants=1",
        "too_many_participants": "max_participants=N, or form=dstc8,",
        "directed_start": "undirected_start=false",
        "no_request": "opens_with_request=false",
        "one_sided": "max_share=1",
        "unsure_links": "min_confidence=0",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.valid_from is None) != (self.test_from is None) or (self.valid_from or "") > (self.test_from or ""):
            raise UsageError("valid_from and test_from go together, and valid_from is the earlier")

    def without_effect(self, given: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
        yield from super().without_effect(given)
        if not self.shows_channel:
            for key in ("entangled_lines", "stretch_lines"):
                yield key, "no file shows the channel in place of conversations: subtask 2 of form dstc8 does"
        if self.valid_from is not None:
            yield "fractions", "valid_from and test_from split by time"

    @property
    def writes_links(self) -> bool:
        """Whether the reply links of each log are part of the output."""
        return True

    def entangled_until(self, dialogue: Dialogue, seed: int) -> int | None:
        """The turn before which the channel is kept as it was, all conversations entangled; None where nothing of it is."""
        return None

    @property
    def shows_channel(self) -> bool:
        """Whether a benchmark shows the channel in place of conversations, all of them entangled."""
        return False

    @property
    def stretch_subtasks(self) -> list[int]:
        """The subtasks that the stretches of a channel serve in turn, where the channel is shown."""
        return []

    @property
    def merges(self) -> bool:
        """Whether consecutive messages of a speaker are joined."""
        return self.form == "dstc7" if self.merge is None else self.merge

    @property
    def most_participants(self) -> int | None:
        """The bound on participants: two in DSTC7 unless the recipe says otherwise."""
        return 2 if self.max_participants is None and self.form == "dstc7" else self.max_participants
