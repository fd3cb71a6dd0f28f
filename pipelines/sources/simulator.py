"""An agenda-based simulator (Schatzmann et al. 2007) of RADDLE's unseen domain `reminder`: a user with a goal, a system that asks for what it lacks.

The user's agenda is the goal's slots in the order they will be told; the opening takes some of them, the system asks for the others, the user
answers with one or two, the system confirms, the user may change a value, then the reminder is set. All words come from
lexicons/en/reminder.tsv. The values are those of a training split; `entities` replaces them by unseen ones.
"""

from __future__ import annotations

import re
from functools import cache

from dialmill.perturbers.core.lexicon import rows
from dialmill.perturbers.core.rng import Rng
from dialmill.schemas import Act, Dialogue, Goal, SlotValues, Span, Turn
from dialmill.schemas.dialogue import Speaker

DOMAIN = "reminder"
#: The slots that a reminder must have; a person may be with it.
_NEEDED = ("task", "day", "time")
_SLOT = re.compile(r"\{(\w+)\}")
_CHANGES = 0.25


@cache
def _texts(kind: str) -> tuple[str, ...]:
    return tuple(text for row_kind, text in rows("en", "reminder") if row_kind == kind)


class _Talk:
    """A dialogue in the making: its turns and the belief state reached."""

    def __init__(self, goal: dict[str, str], rng: Rng) -> None:
        self.goal, self.rng = goal, rng
        self.turns: list[Turn] = []
        self.state: dict[str, str] = {}

    def say(self, speaker: Speaker, kind: str, act: str, values: dict[str, str] | None = None, asked: str = "") -> None:
        """A turn with a template of a kind, filled with `values` (the goal's by default)."""
        self.fill(speaker, self.rng.choice(_texts(kind)), act, values or self.goal, asked)

    def fill(self, speaker: Speaker, template: str, act: str, values: dict[str, str], asked: str = "") -> None:
        """A turn from a template; what a user tells enters the belief state."""
        text, spans, acts = "", [], []
        reached = 0
        for match in _SLOT.finditer(template):
            slot = match[1]
            value = values[slot]
            text += template[reached : match.start()]
            reached = match.end()
            shown = value if text else value[0].upper() + value[1:]
            spans.append(Span(len(text), len(text) + len(shown), shown, DOMAIN, slot, value))
            acts.append(Act(act, DOMAIN, slot, value))
            text += shown
            if speaker == "user":
                self.state[slot] = value
        text += template[reached:]
        if asked:
            acts.append(Act("request", DOMAIN, asked))
        state = tuple(SlotValues(DOMAIN, slot, (value,)) for slot, value in self.state.items()) if speaker == "user" else ()
        self.turns.append(Turn(len(self.turns), speaker, text, spans=tuple(spans), acts=tuple(acts) or (Act(act, DOMAIN),), state=state))


def simulate(number: int, seed: int) -> Dialogue:
    """Dialogue `number` of a simulated corpus; each number and seed has its own goal and words."""
    rng = Rng(seed, "reminder@1", number)
    social = rng.chance(0.4)
    goal = {"task": rng.choice(_texts("social" if social else "task")), "day": rng.choice(_texts("day")), "time": _time(rng)}
    if social:
        goal["person"] = rng.choice(_texts("person"))
    talk = _Talk(goal, rng)
    openings = [template for template in _texts("open-person" if social and rng.chance(0.7) else "open") if set(_SLOT.findall(template)) <= set(goal)]
    talk.fill("user", rng.choice(openings), "inform", goal)
    while True:
        missing = [slot for slot in _NEEDED if slot not in talk.state]
        if not missing:
            break
        slot = missing[0]
        talk.say("system", f"ask-{slot}", "request", asked=slot)
        if slot == "day" and "time" in missing and rng.chance(0.5):
            slot = "day-time"
        elif slot == "task" and social:
            slot = "task-person"
        talk.say("user", f"say-{slot}", "inform")
    talk.say("system", _confirm(talk), "confirm", talk.state)
    if rng.chance(_CHANGES):
        slot = rng.choice(("day", "time"))
        other = _time(rng) if slot == "time" else rng.choice(_texts("day"))
        if other != talk.state[slot]:
            talk.say("user", f"change-{slot}", "inform", {slot: other})
            talk.say("system", _confirm(talk), "confirm", talk.state)
    talk.say("user", "yes", "affirm")
    talk.say("system", "done", "notify_success", talk.state)
    talk.say("user", "bye", "bye")
    talk.say("system", "farewell", "bye")
    cells = tuple(SlotValues(DOMAIN, slot, (value,)) for slot, value in talk.state.items())
    told = ", ".join(f"{slot}: {value}" for slot, value in talk.state.items())
    return Dialogue(
        dialogue_id=f"RMD{number:05d}",
        source="reminder",
        source_id=f"RMD{number:05d}",
        domains=(DOMAIN,),
        turns=tuple(talk.turns),
        goal=Goal(f"You want a reminder ({told}).", inform=cells),
    )


def _confirm(talk: _Talk) -> str:
    return "confirm-person" if "person" in talk.state else "confirm"


def _time(rng: Rng) -> str:
    return f"{7 + rng.below(14):02d}:{rng.choice(('00', '15', '30', '45'))}"
