"""DSTC9 Track 4, SIMMC: API calls, responses and dialogue state, by the metrics of the organisers' scripts.

`action`: accuracy, perplexity of the right action (where log probabilities are given), and accuracy of its arguments. `dst`: frames are compared by
their place; precision, recall and F1 of acts, slots, requested slots, objects, and (2.1) of the objects that the user may mean; joint accuracy asks
for the first four, of 1.0, which has two of them, for act and slots. `retrieval`: r1, r5, r10, mean (the mean rank) and mrr. `generation`: bleu.
`disambiguation` (2.x): the accuracy of whether it has to be asked which object is meant; `ambiguous_candidates` (2.1): precision, recall and F1 of
the objects that may be. A task that nothing is predicted for has no metrics.

A candidate that scores as high as the right one stands before it: a system that gives all the same score has r1 0. The published scripts
(``--official-compat``) take such a right one for the first, which gives that system 100 %; precision and recall of nothing are 0 there; values, names
and ids are compared as they are written ("3" is not 3), the list of sizes as one value; BLEU's smoothing takes a little from what is right in 1.0,
and gives more than 1 in 2.x; and 1e-5 in the F1 of lists of arguments takes a little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from dialmill.pipelines.benchmarks.simmc import bleu
from dialmill.pipelines.benchmarks.simmc.gold import CANDIDATES, Frame, Gold, GoldTurn, canonical, frame, frames_of, ids
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Scorer, Settings
from dialmill.pipelines.core.units import Floats, Key, Sums, Units, columns_of, f_measure, ratio
from dialmill.pipelines.scoring.predictions import check_ids, first_byte, prediction_files, read_document

#: What is predicted of a turn, by task. Under (suite, dialogue, number), the suite "" where a file names none.
Guess = dict[str, Any]
Guesses = dict[tuple[str, str, int], Guess]
TASKS = ("action", "dst", "retrieval", "generation", "disambiguation", "ambiguous_candidates")
Read = tuple[tuple[str, str, int], str, Any]
#: Arguments of 1.0's calls that aren't scored.
_IGNORED = frozenset({"minPrice", "maxPrice", "furniture_id", "material", "decorStyle", "intendedRoom", "raw_matches", "focus"})
_CUTS = (1, 5, 10)
_PARTS = ("act", "slot", "request_slot", "object", "disamb_candidate")
#: Metrics that are 0 in the published scripts where there is nothing to find.
_OF_NOTHING = tuple(f"{part}{measure}" for part in ("", *(f"{part}_" for part in _PARTS)) for measure in ("rec", "prec", "f1"))
_LITTLE = 1e-5
_NO_FRAME = Frame(None, frozenset(), frozenset(), frozenset())


class SimmcScorer(Scorer):
    name = "dstc9-track4"
    about = "DSTC9 Track 4, SIMMC: API calls, dialogue state with objects, retrieval and generation of responses, as the organisers' scripts"
    scale = "fraction"
    ranked = ("action.action_accuracy", "action.attribute_accuracy", "dst.slot_f1", "dst.act_f1", "retrieval.mrr", "retrieval.r1", "generation.bleu")
    below_full: ClassVar[Mapping[str, str]] = dict.fromkeys(_OF_NOTHING, "the published script gives 0 where there is nothing to find") | {
        "bleu": "the published smoothing gives a response that equals its reference less than 1 (1.0, a short one) or more (2.x)",
        "attribute_accuracy": "the published metric has 1e-5 in the denominator of lists",
    }

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.gold = Gold(settings.gold, settings.split, settings.official)
        self.split = self.gold.split
        self._path = ""

    def suites(self) -> list[str]:
        return self.gold.suites()

    def read(self, path: str) -> Guesses:
        self._path = path
        found: Guesses = {}
        for file in prediction_files(path, (".json",)):
            for key, task, guess in self._tasks_of(file):
                mine = found.setdefault(key, {})
                if task in mine:
                    raise InputError(str(file), f"predicts {task} of dialogue {key[1]}, turn {key[2]} twice", "keep one of them")
                mine[task] = guess
        if not found:
            raise InputError(path, "predicts nothing", "expected are the official files, or those of `dialmill predict-baseline dstc9-track4`")
        return found

    def _tasks_of(self, file: Path) -> Iterable[Read]:
        exact = self.settings.official
        return _official_states(file, exact) if first_byte(file) == b"{" else _predicted(file, exact)

    def covered(self, guesses: Guesses) -> list[str]:
        named = {suite for suite, _, _ in guesses}
        strange = named - {"", *self.suites()}
        if strange:
            raise InputError(self._path, f"predicts suite {min(strange)!r}, which the gold doesn't have", f"there are: {', '.join(self.suites())}")
        # Without a name they are of the unperturbed suite, unless --suite says another.
        return [suite for suite in self.suites() if suite in named or ("" in named and suite == self.suites()[0])]

    def units(self, suite: str, guesses: Guesses | None) -> Units:
        turns = self.gold.turns(suite)
        tasks = self._tasks(suite, turns, guesses)
        rows: list[dict[str, float]] = []
        meant = any(turn.meant for turn in turns)
        for turn in turns:
            said = None if guesses is None else self._guess(guesses, suite, turn)
            row: dict[str, float] = {}
            if "action" in tasks and turn.call is not None:
                row |= self._action(turn, None if said is None else said["action"])
            if "dst" in tasks and turn.frames is not None:
                row |= _state(turn.frames, turn.frames if said is None else said["dst"], self.gold.first_edition, meant)
            if "retrieval" in tasks and turn.right is not None:
                row |= self._rank(turn, None if said is None else said["retrieval"])
            if "generation" in tasks and turn.response is not None:
                row |= self._bleu(turn.response, turn.response if said is None else said["generation"])
            if "disambiguation" in tasks and turn.asks is not None:
                row |= {"doubts": 1.0, "doubts_right": float(said is None or said["disambiguation"] == turn.asks)}
            if "ambiguous_candidates" in tasks and turn.meant and turn.frames:
                row |= _ambiguous(turn.frames[0].candidates, turn.frames[0].candidates if said is None else said["ambiguous_candidates"])
            rows.append(row)
        acts = [turn.frames[0].act or "" if turn.frames else "" for turn in turns]
        return Units([Key(turn.dialogue, 0, str(turn.number)) for turn in turns], columns_of(rows), strata={"act": acts})

    def _guess(self, guesses: Guesses, suite: str, turn: GoldTurn) -> Guess:
        named = guesses.get((suite, turn.dialogue, turn.number), {})
        return guesses.get(("", turn.dialogue, turn.number), {}) | named

    def _tasks(self, suite: str, turns: Sequence[GoldTurn], guesses: Guesses | None) -> list[str]:
        """The tasks that are scored: all that the gold tells, of predictions those that they have."""
        due: dict[str, list[tuple[str, int]]] = {
            "action": [(turn.dialogue, turn.number) for turn in turns if turn.call is not None],
            "dst": [(turn.dialogue, turn.number) for turn in turns if turn.frames is not None],
            "retrieval": [(turn.dialogue, turn.number) for turn in turns if turn.right is not None],
            "generation": [(turn.dialogue, turn.number) for turn in turns if turn.response is not None],
            "disambiguation": [(turn.dialogue, turn.number) for turn in turns if turn.asks is not None],
            "ambiguous_candidates": [(turn.dialogue, turn.number) for turn in turns if turn.meant],
        }
        if guesses is None:
            return [task for task in TASKS if due[task]]
        every = {(turn.dialogue, turn.number) for turn in turns}
        found = []
        for task in TASKS:
            said = {(name, number) for (where, name, number), guess in guesses.items() if where in ("", suite) and task in guess}
            if said and due[task]:
                # A turn whose answer is held out, or that nothing is known of, may be predicted.
                check_ids(due[task], said, self._path, f"{task} of dialogue", every)
                found.append(task)
            elif said:
                self.notes.add(f"{task} is predicted, and the gold doesn't tell what is right: it is not scored")
        return found

    def _action(self, turn: GoldTurn, said: Mapping[str, Any] | None) -> dict[str, float]:
        call = turn.call
        assert call is not None
        args = (call.get("action_supervision") or {}).get("args", call.get("action_supervision")) or {}
        due = {name: value for name, value in args.items() if name not in _IGNORED and value not in ("", [], None)}
        if said is None:
            said = {"action": call["action"], "attributes": due, "action_log_prob": {call["action"]: 0.0}}
        right = said.get("action") == call["action"]
        given = said.get("attributes") or {}
        scored = sum(self._alike(value, given.get(name)) for name, value in due.items()) if right else 0.0
        # Of a wrong action the published script counts arguments without a value too.
        counted = due if right or not self.settings.official else args.keys() - _IGNORED
        row = {"calls": 1.0, "calls_right": float(right), "args": float(len(counted)), "args_right": scored}
        log_prob = (said.get("action_log_prob") or {}).get(call["action"])
        return row | ({"log_prob": float(log_prob), "log_probs": 1.0} if log_prob is not None else {})

    def _alike(self, due: Any, said: Any) -> float:
        """How far a predicted argument is the right one: lists by their F1, all else by equality."""
        exact = self.settings.official
        if not isinstance(due, list):
            return float(said == due if exact else said is not None and canonical(due) == canonical(said))
        given = said if isinstance(said, list) else [] if said is None else [said]
        if exact:
            # As often as they stand there, and as they are written.
            precision, recall = _share(given, due), _share(due, given)
            return 2 * precision * recall / (precision + recall + _LITTLE)
        right, found = {canonical(one) for one in due}, {canonical(one) for one in given}
        both = len(right & found)
        return 2 * both / (len(right) + len(found)) if both else 0.0

    def _rank(self, turn: GoldTurn, scores: Sequence[float] | None) -> dict[str, float]:
        assert turn.right is not None
        rank = 1
        if scores is not None:
            if len(scores) != len(turn.candidates):
                raise InputError(
                    self._path,
                    f"dialogue {turn.dialogue}, turn {turn.number}: {len(scores)} scores, there are {len(turn.candidates)} candidates",
                    "score every candidate, in the order of the release",
                )
            mine = scores[turn.right]
            above, level = sum(one > mine for one in scores), sum(one == mine for one in scores)
            # Of equals the right one comes last; the published script has it first.
            rank = 1 + above if self.settings.official else above + level
            if level > 1:
                self.notes.add("candidates share the score of the right one in some pools: it counts as " + self.policy()["ties"])
        return {"ranked": 1.0, "rank": float(rank), "rr": 1 / rank} | {f"r{cut}": float(rank <= cut) for cut in _CUTS}

    def _bleu(self, due: str, said: str) -> dict[str, float]:
        right, found = bleu.tokens(due), bleu.tokens(said)
        if self.settings.official:
            return {"responses": 1.0, "bleu": bleu.sentence_bleu(found, right, 1 if self.gold.first_edition else 7)}
        return {"responses": 1.0, "bleu": 1.0 if right == found else bleu.sentence_bleu(found, right)}

    def metrics(self, sums: Sums) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        if "calls" in sums:
            found["action.action_accuracy"] = ratio(sums["calls_right"], sums["calls"])
            found["action.attribute_accuracy"] = ratio(sums["args_right"], sums["args"], 1.0)
            if "log_probs" in sums and np.all(sums["log_probs"] == sums["calls"]):
                found["action.action_perplexity"] = np.exp(-ratio(sums["log_prob"], sums["calls"]))
        if "frames" in sums:
            found["dst.joint_accuracy"] = ratio(sums["joint"], sums["frames"])
            found["dst.act_slot_accuracy"] = ratio(sums["act_slot"], sums["frames"])
            for part in _PARTS:
                if f"{part}_due" in sums:
                    counts = (sums[f"{part}_{what}"] for what in ("due", "said", "right"))
                    found |= {f"dst.{part}_{name}": value for name, value in self._f1(*counts).items()}
        if "ranked" in sums:
            found |= {f"retrieval.r{cut}": ratio(sums[f"r{cut}"], sums["ranked"]) for cut in _CUTS}
            found |= {"retrieval.mean": ratio(sums["rank"], sums["ranked"]), "retrieval.mrr": ratio(sums["rr"], sums["ranked"])}
        if "responses" in sums:
            found["generation.bleu"] = ratio(sums["bleu"], sums["responses"])
        if "doubts" in sums:
            found["disambiguation.accuracy"] = ratio(sums["doubts_right"], sums["doubts"])
        if "meant" in sums:
            counts = (sums[f"meant_{what}"] for what in ("due", "said", "right"))
            found |= {f"ambiguous_candidates.{name}": value for name, value in self._f1(*counts).items()}
        return found

    def _f1(self, due: Floats, said: Floats, right: Floats) -> dict[str, Floats]:
        """Recall, precision and F1; of nothing they are 1, by the published scripts 0."""
        nothing = 0.0 if self.settings.official else 1.0
        recall, precision = ratio(right, due, nothing), ratio(right, said, nothing)
        return {"rec": recall, "prec": precision, "f1": f_measure(precision, recall)}

    def counts(self, units: Units) -> dict[str, int]:
        sums = units.sums()
        named = {"calls": "calls", "frames": "frames", "ranked": "pools", "responses": "responses", "doubts": "doubts"}
        return {"turns": len(units)} | {name: int(sums[column]) for column, name in named.items() if column in sums}

    def policy(self) -> dict[str, str]:
        official = self.settings.official
        return {
            "ties": "the first of its equals, as the published script has it" if official else "the last of its equals",
            "frames": "compared by their place; slots count where the act is wrong, and frames beyond the right ones don't",
            "joint_accuracy": "act and slots" + ("" if self.gold.first_edition else ", requested slots and objects"),
            "nothing": f"precision and recall of nothing are {0 if official else 1}",
            "values": "as they are written" if official else "as they are, but 4.0 is 4, and each of a list counts",
            "bleu": f"sentence BLEU-4 of nltk, smoothing method {7 if official and not self.gold.first_edition else 1}"
            + ("" if official else "; a response equal to the reference has 1"),
        }


def _state(due: Sequence[Frame], said: Sequence[Frame], first_edition: bool, meant: bool) -> dict[str, float]:
    """The sums of one turn; `said` may have fewer frames, or more, which don't count."""
    parts = _PARTS if meant else _PARTS[:-1]
    row: dict[str, float] = dict.fromkeys([f"{part}_{what}" for part in parts for what in ("due", "said", "right")], 0.0)
    row |= {"frames": float(len(due)), "joint": 0.0, "act_slot": 0.0}
    for at, right in enumerate(due):
        mine = said[at] if at < len(said) else _NO_FRAME
        for part, wanted, found in zip(_PARTS, _compared(right), _compared(mine), strict=True):
            if part in parts:
                row[f"{part}_due"] += len(wanted)
                row[f"{part}_said"] += len(found)
                row[f"{part}_right"] += len(wanted & found)
        same = right.act == mine.act and right.slots == mine.slots
        row["act_slot"] += same
        row["joint"] += same and (first_edition or (right.requests == mine.requests and right.objects == mine.objects))
    return row


def _share(some: Sequence[object], known: Sequence[object]) -> float:
    """How many of some are among the known, 0 of none."""
    return sum(one in known for one in some) / len(some) if some else 0.0


def _ambiguous(due: frozenset[object], said: frozenset[object]) -> dict[str, float]:
    """The sums of the objects that the user of one turn may mean."""
    return {"meant": 1.0, "meant_due": float(len(due)), "meant_said": float(len(said)), "meant_right": float(len(due & said))}


def _compared(one: Frame) -> tuple[frozenset[object], ...]:
    """The parts of a frame in the order of `_PARTS`."""
    act: frozenset[object] = frozenset() if one.act is None else frozenset({one.act})
    return act, one.slots, one.requests, one.objects, one.candidates


def _predicted(file: Path, exact: bool) -> Iterable[Read]:
    """The official lists of actions, responses, scores and what has to be asked, and states."""
    for one in read_document(file, "predictions-simmc"):
        suite, name = one.get("suite", ""), str(one["dialog_id"])
        for turn in one.get("predictions", ()):
            key = (suite, name, turn["turn_id"])
            if "action" in turn:
                yield key, "action", {part: turn[part] for part in ("action", "attributes", "action_log_prob") if part in turn}
            if "response" in turn:
                yield key, "generation", turn["response"]
            if "disambiguation_label" in turn:
                yield key, "disambiguation", turn["disambiguation_label"]
            if CANDIDATES in turn:
                yield key, "ambiguous_candidates", ids(turn[CANDIDATES], exact)
        for turn in one.get("candidate_scores", ()):
            yield (suite, name, turn["turn_id"]), "retrieval", turn["scores"]
        for turn in one.get("states", ()):
            yield (suite, name, turn["turn_id"]), "dst", tuple(frame(given, exact) for given in turn["frames"])


def _official_states(file: Path, exact: bool) -> Iterable[Read]:
    """Dialogues in the official form, with the frames that a system gives their turns."""
    for dialogue in read_document(file, "simmc")["dialogue_data"]:
        for at, entry in enumerate(dialogue["dialogue"]):
            found = frames_of(entry, exact)
            if found is not None:
                yield ("", str(dialogue.get("dialogue_idx")), entry.get("turn_idx", at)), "dst", found
