"""The recipe keys of DSTC9 Track 1, beside those of every build."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from dialmill.perturbers.core.options import Meta
from dialmill.perturbers.entities.perturber import Entities
from dialmill.perturbers.insertion.knowledge import WHOLE_DOMAIN, Knowledge, KnowledgeBase, KnowledgeError, load
from dialmill.pipelines.core.errors import DialmillError, UsageError
from dialmill.pipelines.core.recipe import Recipe
from dialmill.schemas import Dialogue

from dialmill import perturbers

#: The suite with the dialogues' own entities; all others of a build are the unseen side, and have test data alone.
SEEN = "knowledge"
#: What the release calls the corpus that it began from.
_MULTIWOZ = "multiwoz"


@dataclass(frozen=True)
class Dstc9Recipe(Recipe):
    """Keys of DSTC9 Track 1."""

    knowledge: Annotated[
        list[str],
        Meta(
            description="the knowledge base that train and valid ask about, and, as a second one, the test split's; empty takes our own "
            "base of whole domains",
            examples=[["knowledge.json"]],
        ),
    ] = field(default_factory=list)
    held_out: Annotated[
        float,
        Meta(
            ge=0,
            lt=1,
            description="with one base, or none: share of its entities (of its snippets, where they hold for whole domains) that is asked "
            "about in testing alone",
            examples=[0.3],
            extra={"unit": "share of entities"},
        ),
    ] = 0.2
    unseen_domains: Annotated[list[str], Meta(description="domains that train and valid have no dialogue of", examples=[["attraction"]])] = field(
        default_factory=list
    )
    db: Annotated[list[str], Meta(description="files with the rows of the database, as in the perturber knowledge", examples=[["hotel_db.json"]])] = (
        field(default_factory=list)
    )
    bank: Annotated[list[str], Meta(description="folders with real users' questions, as in the perturber knowledge", examples=[["dstc9/train"]])] = (
        field(default_factory=list)
    )
    targets: Annotated[
        dict[str, Annotated[int, Meta(ge=1)]],
        Meta(
            description="knowledge-seeking instances of a dialogue at most, by split; a split that is not named has one instance for every user turn",
            examples=[{"train": 2}],
            extra={"unit": "instances"},
        ),
    ] = field(default_factory=dict)
    nontargets: Annotated[
        dict[str, Annotated[float, Meta(ge=0)]],
        Meta(description="other instances for each knowledge-seeking one, by split", examples=[{"train": 1.5}], extra={"unit": "instances"}),
    ] = field(default_factory=dict)

    label_sources: Annotated[
        dict[str, str],
        Meta(
            description="what the labels of test say in `source`, by suite; the corpus' own entities are multiwoz where it is MultiWOZ, and a suite "
            "that is not named has its own name",
            examples=[{"unseen": "sf_written", "spoken": "sf_spoken", "shifted": "cambridge"}],
        ),
    ] = field(default_factory=lambda: {"unseen": "sf_written", "spoken": "sf_spoken"})
    nbest: Annotated[
        int,
        Meta(
            ge=0,
            le=20,
            description="hypotheses beside each user turn of spoken logs, as DSTC10 has them; 0 for none",
            examples=[10],
            extra={"unit": "hypotheses"},
        ),
    ] = 0

    def __post_init__(self) -> None:
        if len(self.knowledge) > 2:
            raise UsageError(f"knowledge names one file, or one for train and valid and one for test, not {len(self.knowledge)}")
        for key in ("targets", "nontargets"):
            for split in getattr(self, key):
                if split not in ("train", "valid", "test"):
                    raise UsageError(f"{key}: there is no split {split!r}; the splits are train, valid and test")
        super().__post_init__()

    @property
    def apart(self) -> bool:
        """Whether the test split has a knowledge base of its own."""
        return len(set(self.knowledge)) == 2

    def bases(self) -> tuple[KnowledgeBase | None, KnowledgeBase | None]:
        """The knowledge bases of train and valid, and of test; None for our own.

        Raises:
            DialmillError: a file that holds none.
        """
        try:
            found = [load(path) for path in self.knowledge]
        except KnowledgeError as error:
            raise DialmillError(str(error)) from None
        return (found[0], found[-1]) if found else (None, None)

    def suite_plan(self) -> list[perturbers.Suite]:
        self.bases()
        return [suite._replace(perturber=self._with_knowledge(suite.name, suite.perturber)) for suite in super().suite_plan()]

    def without_effect(self, given: Mapping[str, Iterable[str]]) -> Iterator[tuple[str, str]]:
        yield from super().without_effect(given)
        if self.apart:
            yield "held_out", "test has a knowledge base of its own"
        suites = {suite.name: getattr(suite.perturber, "links", (suite.perturber,)) for suite in super().suite_plan()}
        if not any(link.name == Knowledge.name for links in suites.values() for link in links):
            for key in ("knowledge", "held_out", "db", "bank"):
                yield key, "no suite has questions that seek knowledge"
        if not self.spoken():
            yield "nbest", "no suite is spoken"
        for suite in given.get("label_sources", ()):
            if suite not in suites:
                yield f"label_sources.{suite}", f"the suite {suite!r} is not made; suites is {','.join(self.suites)}"

    def _with_knowledge(self, suite: str, perturber: perturbers.Perturber) -> perturbers.Perturber:
        """The perturber with this recipe's knowledge where it names none itself."""
        try:
            if isinstance(perturber, perturbers.Chain):
                links = tuple(self._with_knowledge(suite, link) for link in perturber.links if not self._needless(link))
                return dataclasses.replace(perturber, links=links)
            if isinstance(perturber, Knowledge) and not perturber.knowledge:
                seen, new = (self.knowledge[0], self.knowledge[-1]) if self.knowledge else ("", "")
                unseen = suite != SEEN
                return dataclasses.replace(
                    perturber,
                    knowledge=new if unseen else seen,
                    known=seen if unseen and self.apart else "",
                    held_out=0.0 if self.apart else self.held_out,
                    unseen=unseen and not self.apart and self.held_out > 0,
                    db=perturber.db or "|".join(self.db),
                    bank=perturber.bank or "|".join(self.bank),
                )
            if isinstance(perturber, Entities) and self.apart and not perturber.db:
                return dataclasses.replace(perturber, db=self.knowledge[1], avoid=perturber.avoid or self.knowledge[0])
        except KnowledgeError as error:
            raise DialmillError(str(error)) from None
        except perturbers.OptionError as error:
            raise UsageError(str(error)) from None
        return perturber

    def _needless(self, link: perturbers.Perturber) -> bool:
        """Whether a link would give entities names that no snippet knows: there is one base, and it has entities."""
        if not isinstance(link, Entities) or self.apart or not self.knowledge:
            return False
        return any(entity_id != WHOLE_DOMAIN for base in self.bases() if base is not None for _, entity_id in base.entities)

    def label_source(self, record: Dialogue) -> str:
        """What the labels of test say of where they come from: by the suite, else the corpus, whatever the format that it came in."""
        if record.suite in self.label_sources:
            return self.label_sources[record.suite]
        if record.suite != SEEN:
            return record.suite
        # A format of many corpora has the corpus in its ids: "multiwoz21-test-7".
        corpus = record.source_id.partition("-")[0] if record.source == "convlab" else record.source
        return _MULTIWOZ if corpus.replace("_", "").startswith(_MULTIWOZ) else corpus or record.source

    def spoken(self) -> frozenset[str]:
        """The suites with a speech link, whose turns were recognised."""
        links = {suite.name: getattr(suite.perturber, "links", (suite.perturber,)) for suite in super().suite_plan()}
        return frozenset(name for name, chain in links.items() if any(link.name == "speech" for link in chain))

    def test_only(self, domains: Sequence[str]) -> bool:
        return not set(domains).isdisjoint(self.unseen_domains)
