"""State tracking, responses and detection, turn by turn: what the scorers of dialogues with belief states share.

Metrics, in percent: `jga` (turns whose whole state is right), `slot_accuracy`, `slot_precision`, `slot_recall`, `slot_f1` (micro), `turn_accuracy`
(turns in which all slots that change are right), `slot_recall_kept`, `_changed`, `_lost` (the slots of values that a perturbation kept, changed or
lost), `inform`, `success`, `bleu`, `combined` = (inform + success) / 2 + bleu, `intent_accuracy`, `ood_precision`, `ood_recall`, `ood_f1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.core.scorer import Scorer, Settings
from dialmill.pipelines.core.units import Floats, Key, Sums, Units, columns_of, f_measure, ratio
from dialmill.pipelines.scoring import bleu, inform, mwzeval, soloist, strata
from dialmill.pipelines.scoring.gold import DialogueGold, GoldTurn
from dialmill.pipelines.scoring.predictions import check_ids, first_byte, form, prediction_files, read_document, read_lines, shown, unique
from dialmill.pipelines.scoring.state import OFFICIAL, POLICY, Slot, State, compare, state_of
from dialmill.schemas.dialogue import OOS
from dialmill.schemas.strict_json import JsonError, parse

INTENT = "intent:"
#: (dialogue id, turn) -> the prediction.
Guesses = dict[tuple[str, int], Mapping[str, Any]]
_STATUSES = ("kept", "changed", "lost")


class TurnScorer(Scorer):
    """Scores a prediction a user turn (schema `predictions-state`)."""

    scale = "percent"
    ranked: ClassVar[tuple[str, ...]] = ("jga", "slot_f1")
    of_turns: ClassVar[tuple[str, ...]] = ("jga", "turn_accuracy", "slot_f1", "slot_recall", "intent_accuracy", "ood_f1")

    below_full: ClassVar[Mapping[str, str]] = {
        "inform": "what the corpus' own system turns offer, with the corpus' own states, does not meet every constraint of some goals",
        "success": "the corpus' own system turns do not answer everything that some goals ask for",
    }

    #: The suites that the benchmark's release has as folders, for a single file of it.
    release_suites: ClassVar[tuple[str, ...]] = ()

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.gold = DialogueGold(settings.gold, settings.split, self.release_suites)
        self.split = self.gold.split
        if self.gold.rejected:
            self.notes.add(f"{self.gold.rejected} dialogues of the gold could not be read and are left out")
        self.database = inform.Database(settings.database) if settings.database else None
        self._ontology: set[Slot] | None = None
        self._languages: set[str] = set()
        self._path = ""

    def suites(self) -> list[str]:
        return self.gold.suites

    # Reading ----------------------------------------------------------------------------------------------------------------------------------

    def read(self, path: str) -> Guesses:
        self._path = path
        pairs: list[tuple[tuple[str, int], Mapping[str, Any]]] = []
        for file in self._of_split(prediction_files(path)):
            if first_byte(file) == b"[":
                pairs += self._soloist(file)
            elif _is_mwzeval(file):
                pairs += self._mwzeval(file)
            else:
                pairs += [((record["dialogue_id"], record["turn"]), record) for record in self.lines(file)]
        return unique(pairs, path, "the turn")

    def _mwzeval(self, file: Path) -> Iterable[tuple[tuple[str, int], Mapping[str, Any]]]:
        """A file of MultiWOZ_Evaluation, which names no suite: it is about the clean one."""
        document = read_document(file, mwzeval.SCHEMA)
        suite = self.clean if self.clean in self.suites() else self.suites()[0]
        return mwzeval.predictions(document, self.gold.turns(suite), self.ontology(), str(file))

    def _of_split(self, files: list[Path]) -> list[Path]:
        """Without release files of other splits, where a whole release folder was named."""
        return [
            one
            for one in files
            if not one.name.endswith(soloist.ENDING) or one.name.endswith(f".{self.gold.split}{soloist.ENDING}") or len(files) == 1
        ]

    def lines(self, file: Path) -> list[dict[str, Any]]:
        """The records of a JSONL file."""
        # A corpus of intents has no states, and its predictions needn't either.
        labels_only = not self.ontology() and b'"state"' not in file.read_bytes()[:10_000]
        return read_lines(file, "predictions-labels" if labels_only else "predictions-state")

    def _soloist(self, file: Path) -> Iterable[tuple[tuple[str, int], Mapping[str, Any]]]:
        """A file in the release's own form: the turns of release/SUITE/DOMAIN.test.soloist.json, in its order, matched by name."""
        if b'"dialogue_id"' in file.read_bytes()[:10_000]:
            raise InputError(str(file), "is one JSON array of records", f"write one a line (JSONL); {form('predictions-state')}")
        items = read_document(file, "soloist-labels" if b'"history"' not in file.read_bytes()[:1_000_000] else "soloist")
        domains = tuple(file.name.split(".")[0].split("+"))
        suite = file.parent.name if file.parent.name in self.gold.suites else self.clean
        due = [turn for turn in self.gold.turns(suite) if turn.answer is not None and sorted(turn.dialogue.domains) == sorted(domains)]
        names = [turn.dialogue.source_id for turn in due]
        said = [str(item.get("name", "")) for item in items]
        if len(said) != len(names):
            raise InputError(str(file), f"holds {len(said)} turns, the gold of suite {suite} has {len(names)} in {'+'.join(domains)}", "predict all")
        for place, (name, guess, turn, item) in enumerate(zip(names, said, due, items, strict=True)):
            if name != guess:
                raise InputError(str(file), f"item {place} is about {guess!r}, the gold has {name!r} there", "keep the release's order")
            state = [{"domain": one.domain, "slot": one.slot, "values": list(one.values)} for one in soloist.state_of_belief(item["belief"], domains)]
            made: dict[str, Any] = {"state": state, "delexicalised": soloist.reply_of(item)}
            yield turn.key, made | {"labels": [OOS] if soloist.is_out_of_domain(item) else []}

    def covered(self, guesses: Guesses) -> list[str]:
        dialogues = {dialogue for dialogue, _ in guesses}
        found = [suite for suite in self.suites() if any(one.dialogue_id in dialogues for one in self.gold.dialogues(suite))]
        if not found:
            key = next(iter(guesses))
            suite = self.suites()[0]
            example = self.gold.turns(suite)[0].key if self.gold.turns(suite) else ("SOURCE_ID/SUITE/VARIANT", 0)
            raise InputError(
                self._path,
                f"predicts dialogues such as {key[0]!r}; the gold's split {self.gold.split} has none of them, its ids look like {example[0]!r}",
                "were the predictions made from another build, split or suite?",
            )
        return found

    # Scoring ----------------------------------------------------------------------------------------------------------------------------------

    def due(self, suite: str) -> list[GoldTurn]:
        """The turns to be predicted."""
        return self.gold.turns(suite)

    def units(self, suite: str, guesses: Guesses | None) -> Units:
        turns = self.due(suite)
        mine: Guesses = {}
        if guesses is not None:
            dialogues = {dialogue.dialogue_id for dialogue in self.gold.dialogues(suite)}
            mine = {key: guess for key, guess in guesses.items() if key[0] in dialogues or key[0].split("/")[-2:-1] == [suite]}
            keys = [turn.key for turn in turns]
            strange = mine.keys() - set(keys)
            # Turns nobody answers are in no release, so they may be left out of a release's predictions, but not of the gold's.
            check_ids(keys, mine, self._path, "dialogue", self.gold.elsewhere(suite) | self.all_turns(suite) if strange else ())
        rows = self._rows(turns, None if guesses is None else mine)
        kinds: dict[str, list[str]] = {kind: [] for kind in strata.KINDS}
        state: Any = ()
        last, number, active = "", 0, ""
        for turn in turns:
            if turn.dialogue.dialogue_id != last:
                last, number, state = turn.dialogue.dialogue_id, 0, ()
                active = turn.dialogue.domains[0] if turn.dialogue.domains else ""
            number += 1
            active = strata.domain(turn.turn, state, active)
            state = turn.turn.state
            for kind, label in zip(strata.KINDS, (strata.strength(turn.turn), active, strata.depth(number), strata.values(turn.turn)), strict=True):
                kinds[kind].append(label)
        keys_of = [
            Key(turn.dialogue.source_id, turn.dialogue.variant, f"inserted:{turn.turn.turn}" if turn.source_place is None else str(turn.source_place))
            for turn in turns
        ]
        columns = columns_of(rows)
        return Units(keys_of, columns, self.right(columns), kinds)

    def right(self, columns: Mapping[str, Floats]) -> Any:
        """Which rows are right as a whole: the state, or where the corpus has none the intent."""
        return next((columns[name] > 0 for name in ("joint", "intents_right") if name in columns), None)

    def all_turns(self, suite: str) -> set[tuple[str, int]]:
        """Every user turn of the suite."""
        return {turn.key for turn in self.gold.turns(suite)}

    def ontology(self) -> set[Slot]:
        """The slots that the gold names."""
        if self._ontology is None:
            self._ontology = set()
            for suite in self.suites():
                for dialogue in self.gold.dialogues(suite):
                    for turn in dialogue.turns:
                        self._ontology |= state_of(((e.domain, e.slot, e.values) for e in turn.state), dialogue.language).keys()
        return self._ontology

    def _rows(self, turns: Sequence[GoldTurn], guesses: Guesses | None) -> list[dict[str, float]]:
        answered = [turn for turn in turns if turn.answer is not None]
        field = self._response_field(answered, guesses)
        counted = self._bleu(field)
        intents = any(_intent(turn.turn.labels) is not None for turn in turns)
        out_of_domain = any(OOS in turn.turn.labels for turn in turns)
        said_labels = guesses is None or any("labels" in guess for guess in guesses.values())
        if guesses is not None and out_of_domain and not said_labels:
            self.notes.add("the predictions have no labels: out-of-domain detection is not scored")
        if guesses is not None and intents and not any("intent" in guess or "labels" in guess for guess in guesses.values()):
            self.notes.add("the predictions have no intents: intent accuracy is not scored")
            intents = False
        rows: list[dict[str, float]] = []
        before: State = {}
        last = ""
        replies: dict[str, list[inform.Reply]] = {}
        first: dict[str, int] = {}
        slots = self.ontology()
        stateless = guesses is not None and bool(slots) and bool(guesses) and not any("state" in guess for guess in guesses.values())
        if stateless:
            self.notes.add("the predictions have no states: jga and slots are not scored, inform and success are of the gold's states")
        for number, turn in enumerate(turns):
            guess = None if guesses is None else guesses[turn.key]
            language = turn.dialogue.language
            self._languages.add(language)
            right = self.state(((e.domain, e.slot, e.values) for e in turn.turn.state), language)
            said = (
                right if guess is None or stateless else self.state(((e["domain"], e["slot"], e["values"]) for e in guess.get("state", ())), language)
            )
            if turn.dialogue.dialogue_id != last:
                last, before = turn.dialogue.dialogue_id, {}
                first[last] = number
            row = {} if stateless else self._state_row(turn, right, said, before, len(slots))
            before = right
            if intents:
                due = _intent(turn.turn.labels)
                if due is not None:
                    row |= {"intents": 1, "intents_right": due == (due if guess is None else _guessed_intent(guess))}
            if out_of_domain and said_labels:
                there, found = OOS in turn.turn.labels, OOS in (turn.turn.labels if guess is None else guess.get("labels", ()))
                row |= {"ood_right": there and found, "ood_extra": found and not there, "ood_missed": there and not found}
            if field and turn.answer is not None:
                due_text = self.reference(turn, field)
                text = due_text if guess is None else str(guess[field])
                row["responses"] = 1
                if counted:
                    row |= bleu.statistics(*(bleu.tokenizer(language)(one.lower()).split() for one in (text, due_text)))
                if field == "delexicalised" and inform.measurable(turn.dialogue.goal):
                    replies.setdefault(last, []).append(inform.Reply(said, text))
            rows.append(row)
        if field == "delexicalised" and not replies:
            self.notes.add("the gold has no goals: inform, success and combined are not scored")
        for dialogue in {turn.dialogue.dialogue_id: turn.dialogue for turn in turns}.values():
            if dialogue.dialogue_id in replies:
                assert dialogue.goal is not None
                came = inform.outcome(dialogue.goal, replies[dialogue.dialogue_id], dialogue.language, self.database)
                # Numbers of a dialogue stand in the row of its first turn: sums over whole dialogues are right.
                rows[first[dialogue.dialogue_id]] |= {"goals": 1, "informed": came.inform, "succeeded": came.success}
        return rows

    def state(self, entries: Iterable[tuple[str, str, Iterable[str]]], language: str) -> State:
        """A state to compare."""
        found = state_of(entries, language, not self.settings.official)
        if not self.settings.official:
            return found
        return {slot: values for slot, values in found.items() if slot in self.ontology()}

    def _state_row(self, turn: GoldTurn, right: State, said: State, before: State, size: int) -> dict[str, float]:
        if not size:
            return {}
        came = compare(right, said, self.settings.official)
        changed = [slot for slot, values in right.items() if before.get(slot) != values]
        row: dict[str, float] = {
            "turns": 1,
            "joint": came.joint,
            "slots": size,
            "slots_right": max(size - len(came.wrong), 0),
            "right": came.right,
            "extra": came.extra,
            "missed": came.missed,
        }
        if changed:
            row |= {"changes": 1, "changes_right": not any(slot in came.wrong for slot in changed)}
        for span in turn.turn.spans:
            for slot in state_of([(span.domain, span.slot, [span.value])], turn.dialogue.language):
                if slot in right:
                    row[f"values_{span.status}"] = row.get(f"values_{span.status}", 0) + 1
                    row[f"values_{span.status}_right"] = row.get(f"values_{span.status}_right", 0) + (slot not in came.wrong)
        return row

    def self_test(self) -> None:
        if bleu.available():
            bleu.self_test()

    def _bleu(self, field: str) -> bool:
        """Whether BLEU of a field can be computed here; says so where it can't."""
        if field and not bleu.available():
            self.notes.add("bleu and combined are left out: they need sacrebleu, which is not installed: pip install 'dialmill[score]'")
        return bool(field) and bleu.available()

    def _response_field(self, answered: Sequence[GoldTurn], guesses: Guesses | None) -> str:
        """The field of predictions that BLEU is computed on: the delexicalised response, else the response, else "" for none.

        Raises:
            InputError: some turns have one and others lack it.
        """
        if not answered:
            return ""
        if guesses is None:
            return self._field
        self._field = ""
        for field in ("delexicalised", "response"):
            have = [turn for turn in answered if field in guesses[turn.key]]
            if have:
                lacking = next((turn for turn in answered if field not in guesses[turn.key]), None)
                if lacking is not None:
                    raise InputError(
                        self._path,
                        f"has no {field} for dialogue {shown(lacking.key)}, and one for {len(have)} other turns",
                        'write "" where the system says nothing: it scores 0',
                    )
                self._field = field
                break
        if self._field != "delexicalised":
            missing = (
                "responses: bleu, inform, success and combined are"
                if not self._field
                else "delexicalised responses: inform, success and combined are"
            )
            self.notes.add(f"the predictions have no {missing} not scored")
        return self._field

    _field = "delexicalised"

    def reference(self, turn: GoldTurn, field: str) -> str:
        """The gold's response."""
        assert turn.answer is not None
        if turn.delexicalised is not None:
            return turn.delexicalised
        if field == "response":
            return turn.answer.utterance
        return soloist.delexicalised(turn.answer, turn.dialogue.domains)

    def metrics(self, sums: Sums) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        if "turns" in sums:
            precision = ratio(sums["right"], sums["right"] + sums["extra"])
            recall = ratio(sums["right"], sums["right"] + sums["missed"])
            found |= {
                "jga": 100 * ratio(sums["joint"], sums["turns"]),
                "slot_accuracy": 100 * ratio(sums["slots_right"], sums["slots"], 1.0),
                "slot_precision": 100 * precision,
                "slot_recall": 100 * recall,
                "slot_f1": 100 * f_measure(precision, recall),
            }
            if "changes" in sums:
                found["turn_accuracy"] = 100 * ratio(sums["changes_right"], sums["changes"])
        for status in _STATUSES:
            if f"values_{status}" in sums:
                found[f"slot_recall_{status}"] = 100 * ratio(sums[f"values_{status}_right"], sums[f"values_{status}"])
        if "goals" in sums:
            found["inform"] = 100 * ratio(sums["informed"], sums["goals"])
            found["success"] = 100 * ratio(sums["succeeded"], sums["goals"])
        if "bleu_hypothesis" in sums:
            found["bleu"] = bleu.corpus_bleu(sums)
            if "goals" in sums:
                found["combined"] = 0.5 * (found["inform"] + found["success"]) + found["bleu"]
        if "intents" in sums:
            found["intent_accuracy"] = 100 * ratio(sums["intents_right"], sums["intents"])
        if "ood_right" in sums:
            precision = ratio(sums["ood_right"], sums["ood_right"] + sums["ood_extra"])
            recall = ratio(sums["ood_right"], sums["ood_right"] + sums["ood_missed"])
            found |= {"ood_precision": 100 * precision, "ood_recall": 100 * recall, "ood_f1": 100 * f_measure(precision, recall)}
        return found

    def counts(self, units: Units) -> dict[str, int]:
        sums = {name: int(value) for name, value in units.sums().items()}
        made = {
            "dialogues": len({(key.source, key.variant) for key in units.keys}),
            "turns": len(units),
            "slots_of_the_ontology": len(self.ontology()),
        }
        made |= {name: sums[name] for name in ("goals", "responses", "intents") if name in sums}
        return made

    def policy(self) -> dict[str, str]:
        made = dict(OFFICIAL if self.settings.official else POLICY)
        if self._field and bleu.available():
            made["bleu"] = f"corpus BLEU of {self._field}, lower case, sacrebleu's tokens and smoothing, effective order"
            made["tokenizer"] = ", ".join(f"{language}: {bleu.TOKENIZERS.get(language, '13a')}" for language in sorted(self._languages))
        if self._field == "delexicalised":
            made["inform"] = inform.policy(self.database)
            made["leaderboard"] = mwzeval.LEADERBOARD
        return made

    def packages(self) -> Sequence[str]:
        return ("numpy", "sacrebleu") if self._field and bleu.available() else ("numpy",)


def _is_mwzeval(file: Path) -> bool:
    """Whether a file is one object in the form of MultiWOZ_Evaluation, and not lines of objects."""
    try:
        return mwzeval.is_one(parse(file.read_bytes()))
    except (JsonError, OSError):
        return False


def _intent(labels: Iterable[str]) -> str | None:
    return next((label[len(INTENT) :] for label in labels if label.startswith(INTENT)), None)


def _guessed_intent(guess: Mapping[str, Any]) -> str | None:
    intent = guess.get("intent")
    return str(intent).removeprefix(INTENT) if intent is not None else _intent(guess.get("labels", ()))
