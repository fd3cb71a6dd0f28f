"""On the published corpora: disfluencies damage no value, unseen entities leave nothing old, insertions nothing changed; judged by `tests.oracle`.

A sample of the dialogues by default; DIALMILL_FULL=1 takes all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from dialmill.perturbers import parse
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.entities.coinage import coin
from dialmill.perturbers.insertion.out_of_scope import OUT_OF_DOMAIN, inventory
from dialmill.schemas import Dialogue
from dialmill.schemas.validate import check_dialogue

from tests import oracle
from tests.real.test_protect import multiwoz, risawoz

__all__ = ["multiwoz", "risawoz"]

Judge = Callable[[Dialogue, Dialogue], list[str]]


@pytest.mark.parametrize("corpus", ["multiwoz", "risawoz"])
@pytest.mark.parametrize(
    ("spec", "judge", "share"),
    [
        ("disfluency:rate=0.1,repairs=0.1", oracle.problems, 1.0),
        ("entities:slots=all", oracle.relabelled, 0.85),
        ("out_of_scope:most=2", oracle.inserted, 1.0),
        ("out_of_scope+disfluency", lambda source, made: oracle.problems(source, oracle.own_turns(made)), 1.0),
    ],
)
def test_labels_hold(corpus: str, spec: str, judge: Judge, share: float, request: pytest.FixtureRequest) -> None:
    dialogues: list[Dialogue] = request.getfixturevalue(corpus)
    perturber = parse(spec).perturber
    found: list[str] = []
    changed = 0
    for dialogue in dialogues:
        dialogue = dialogue.replace(dialogue_id=f"{dialogue.source_id}/standard/0")
        made = perturber.perturb(dialogue, seed=1)
        assert check_dialogue(made) == []
        found += judge(dialogue, made)
        changed += made.lineage[-1].outcome == "changed"
    print(f"\n{corpus} {spec}: {len(dialogues)} dialogues, {changed} changed, {len(found)} problems")
    assert found == [] and changed >= share * len(dialogues)


def test_coined_names_are_in_no_database(real: Path) -> None:
    text = " ".join(path.read_text("utf-8").lower() for path in sorted(real.glob("multiwoz21/db/*.json")))
    text += json.dumps(json.loads((real / "multiwoz22/schema.json").read_text("utf-8"))).lower()
    words = set(re.findall(r"[a-z]+", text))
    assert len(words) > 1000
    coined = {coin("town", "en", Rng("coin", number), hints=hints).lower() for number in range(1000) for hints in ((), ("city",))}
    names = {
        str(row["name"]).lower() for path in real.glob("multiwoz21/db/[ahr]*_db.json") for row in json.loads(path.read_text("utf-8")) if "name" in row
    }
    sorts = (
        "",
        "italian",
        "chinese",
        "indian",
        "british",
        "french",
        "spanish",
        "thai",
        "museum",
        "college",
        "park",
        "church",
        "nightclub",
        "theatre",
    )
    made = {
        coin(kind, "en", Rng("coin", n), hints=(sort,)).lower() for kind in ("lodging", "restaurant", "sight") for sort in sorts for n in range(200)
    }
    assert len(names) > 200 and len(made) > 500 and not made & names
    assert not coined & words
    chinese = "".join(path.read_text("utf-8") for path in sorted(real.glob("risawoz/RiSAWOZ-Database-and-Ontology/DB/*.json")))
    for kind in ("lodging", "restaurant", "sight", "title"):
        assert not [name for number in range(500) if (name := coin(kind, "zh", Rng("coin", number))) in chinese]


def test_clinc_candidates_are_typed(real: Path) -> None:
    found = inventory(str(real / "clinc_oos/data_full.json"), "en")
    print(found)
    assert sum(found.values()) == 1200 - 0 and found["other_domain"] > 30 and found[OUT_OF_DOMAIN] > 600
