"""Dialogues as SOLOIST's turns, in the form of the authors' converter (examples/multiwoz/create_soloist_data.py of pengbaolin/soloist).

There a history is in lower case, with the user's words and the system's delexicalised ones; `kb` is "kb : DOMAIN COUNT" of the domain that came into
the belief state last, COUNT being a word ("zero" to "four", "more than five") for how many rows of its database fit the state; five rows are
written "5". Trains, of which there are many, have wider classes; one that leaves or arrives at the very minute of the state isn't counted there.
Nothing is searched in taxis and hospitals ("kb : taxi").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from dialmill.pipelines.benchmarks.raddle.recipe import Form
from dialmill.pipelines.core import files
from dialmill.pipelines.scoring.inform import Database
from dialmill.pipelines.scoring.soloist import delexicalised, one_line
from dialmill.pipelines.scoring.state import state_of
from dialmill.schemas import Dialogue, Turn
from dialmill.schemas.dialogue import OOS

_ENDING = "_db.json"
#: Domains without a search.
_UNSEARCHED = frozenset({"taxi", "hospital"})
_WORDS = ("zero", "one", "two", "three", "four")
#: For trains: (at most so many rows, the word).
_TRAINS = ((0, "zero"), (2, "one"), (5, "two"), (10, "three"), (40, "four"))
MANY = "more than five"


@lru_cache(maxsize=4)
def database(paths: tuple[str, ...]) -> Database | None:
    """The databases among the side files of a corpus (DOMAIN_db.json); None where there is none. Loaded once in each process.

    Raises:
        InputError: a file that can't be read.
    """
    found = {path: files.read_bytes(path) for path in paths if path.endswith(_ENDING)}
    made = Database.of(found) if found else None
    return made if made is not None and made.entities else None


def soloist_turns(dialogue: Dialogue, form: Form = "authors", rows: Database | None = None) -> list[dict[str, object]]:
    """One entry for each user turn that has an answer, the history up to it as the (perturbed) dialogue has it.

    Args:
        form: see the recipe's `turns_form`.
        rows: the databases that `kb` counts in; without them it is empty.
    """
    single = len(dialogue.domains) == 1
    authors = form == "authors"
    history: list[str] = []
    found: list[dict[str, object]] = []
    for turn, answer in zip(dialogue.turns, dialogue.turns[1:], strict=False):
        said = delexicalised(turn, dialogue.domains) if authors and turn.speaker == "system" else one_line(turn.utterance)
        history.append(f"{turn.speaker} : {said.lower() if authors and turn.speaker == 'user' else said}")
        if turn.speaker == "user" and answer.speaker == "system":
            state = belief(turn, single)
            found.append(
                {
                    "history": list(history),
                    "belief": state.lower() if authors else state,
                    "kb": kb(turn, dialogue.language, rows) if authors and rows is not None else "",
                    "reply": f"system : {delexicalised(answer, dialogue.domains)}",
                    "name": dialogue.source_id,
                    # SOLOIST's optional policy: what the detection of out-of-domain turns is scored on.
                    **({"dp": "dp : out_of_domain"} if OOS in turn.labels else {}),
                }
            )
    return found


def belief(turn: Turn, single: bool) -> str:
    """The belief state after a turn as SOLOIST writes it; "belief : none" when empty."""
    domains: dict[str, list[str]] = {}
    for entry in turn.state:
        domains.setdefault(entry.domain, []).append(f"{entry.slot} = {one_line(entry.values[0])}")
    if single:
        slots = [slot for slots in domains.values() for slot in slots]
        return "belief : " + (" ; ".join(slots) or "none")
    return "belief : " + (" | ".join(f"{domain} " + " ; ".join(slots) for domain, slots in domains.items()) or "none")


def kb(turn: Turn, language: str, rows: Database) -> str:
    """ "kb : hotel two": how many rows fit the state of the domain that came into it last; "kb : none" of an empty state, "" without its database."""
    if not turn.state:
        return "kb : none"
    domain = list(dict.fromkeys(entry.domain for entry in turn.state))[-1]
    if domain in _UNSEARCHED:
        return f"kb : {domain}"
    if domain not in rows.entities:
        return ""
    return f"kb : {domain} {count_word(len(rows.find(domain, _constraints(turn, domain, language), strict=True)), domain)}"


def _constraints(turn: Turn, domain: str, language: str) -> Mapping[str, frozenset[str]]:
    entries: Sequence[tuple[str, str, tuple[str, ...]]] = [(one.domain, one.slot, one.values) for one in turn.state if one.domain == domain]
    return {slot: values for (_, slot), values in state_of(entries, language).items()}


def count_word(count: int, domain: str) -> str:
    """A number of rows as SOLOIST says it."""
    if domain == "train":
        return next((word for most, word in _TRAINS if count <= most), MANY)
    return _WORDS[count] if count < len(_WORDS) else str(count) if count == len(_WORDS) else MANY
