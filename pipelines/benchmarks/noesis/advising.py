"""NOESIS Advising: next-utterance selection from conversations of a student and an advisor (DSTC7 Task 1, DSTC8 Track 2).

Release files: ``release/advising_{train,dev,test}_subtask_N.json`` with ground truth as for Ubuntu; ``advising_train_conversations.json``
(the first training form: whole conversations with their paraphrases) and ``advising_courses.json``. The test files called so share no conversation
with train; ``advising_test_case1_subtask_N.json`` do (the organisers' first test set; they ask to report on the other one).
``release/few_shot`` and ``release/test_hard`` repeat the examples of these subsets, with the same candidates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from dialmill.perturbers.core.rng import Rng, key_number
from dialmill.pipelines.benchmarks.noesis import kinds
from dialmill.pipelines.benchmarks.noesis.benchmark import Noesis
from dialmill.pipelines.benchmarks.noesis.recipe import AdvisingRecipe
from dialmill.pipelines.benchmarks.noesis.release import release_files
from dialmill.pipelines.benchmarks.noesis.scorer import NoesisAdvising as _Scorer
from dialmill.pipelines.benchmarks.noesis.stages import example_shards, packed_example, selection, subsets_of
from dialmill.pipelines.candidates import pool
from dialmill.pipelines.candidates.cuts import places
from dialmill.pipelines.candidates.examples import Example, example_number, release_path
from dialmill.pipelines.candidates.gather import contribution, parts_of
from dialmill.pipelines.candidates.keys import candidate_key, hashes, key_hash
from dialmill.pipelines.core import blind as blinding
from dialmill.pipelines.core import files
from dialmill.pipelines.core.benchmark import Job
from dialmill.pipelines.core.errors import InputError, RecordError
from dialmill.pipelines.core.inputs import InputFile
from dialmill.pipelines.core.recipe import Recipe
from dialmill.pipelines.core.runner import Outputs, Runner
from dialmill.pipelines.core.scorer import Scorer
from dialmill.pipelines.core.stage import Item, Out, Reject, Stage, dialogue_order
from dialmill.pipelines.core.subsets import SUBSETS, repeated, subset_files
from dialmill.pipelines.sources.advising import Extra, course_records
from dialmill.pipelines.stages.items import SplitDialogue
from dialmill.schemas import Dialogue

CONVERSATIONS = "release/advising_train_conversations.json"
COURSES = "release/advising_courses.json"
CASE1 = "_case1"
_STEP = "wording@1"
_NAMES = {"user": "student", "system": "advisor"}
#: Lots of a place whose answer names no course of which few others speak; any other has one.
_LOTS = 5
#: Draws of one partial conversation until it differs from those before it.
_ATTEMPTS = 20


class NoesisAdvising(Noesis):
    name = "noesis-advising"
    about = (
        "DSTC7 Task 1 and DSTC8 Track 2, Advising: choose the advisor's next utterance among candidates; conversations come in several paraphrases"
    )

    def scorer(self) -> type[Scorer]:
        return _Scorer

    def recipe(self) -> type[Recipe]:
        return AdvisingRecipe

    def check(self, job: Job) -> None:
        for one in job.inputs:
            if one.source != "advising":
                raise InputError(one.shown, f"holds {one.source} data, and noesis-advising reads advising conversations", "see data/advising")

    def input_warnings(self, job: Job) -> list[str]:
        assert isinstance(job.recipe, AdvisingRecipe)
        if 5 not in job.recipe.subtasks or any(one.role == "knowledge" for one in job.inputs):
            return []
        return ["subtask 5 has no knowledge: its examples are those of subtask 1 under another number; put course-info.json beside the conversations"]

    def judged_turns(self, dialogue: Dialogue, recipe: Recipe, seed: int) -> Sequence[int]:
        assert isinstance(recipe, AdvisingRecipe)
        return places(dialogue, recipe.min_context, recipe.short_contexts)

    def finish(self, runner: Runner, job: Job, folder: str, records: Any) -> list[Outputs]:
        recipe = job.recipe
        assert isinstance(recipe, AdvisingRecipe)
        catalogues = [one for one in job.inputs if one.role == "knowledge"]
        courses = known_titles(catalogues)
        counts = runner.combine("list conversations", ListConversations(recipe, courses), records)
        bytes_in = sum(one.size for one in job.inputs)
        wording = WordConversations(recipe, job.seed, example_shards(bytes_in, recipe), parts_of(bytes_in), courses)
        made = runner.apply("word and cut conversations", wording, records, side=counts)
        outputs = selection(runner, job, folder, made, recipe, recipe.form, recipe.unanswered[recipe.form], None)
        if catalogues:
            outputs.append(runner.apply("read courses", ReadCourses(catalogues), runner.create("catalogues", list(range(len(catalogues))))))
        return outputs

    def expected(self, recipe: Recipe) -> dict[str, str]:
        assert isinstance(recipe, AdvisingRecipe)
        found = release_files("advising", recipe.subtasks, (CASE1, ""), recipe.form, recipe.held_out_labels, recipe.distractors == "similar")
        found[CONVERSATIONS] = kinds.CONVERSATIONS
        return found | subset_files(found, recipe.few_shot, self.split_of)


class Conversations(msgspec.Struct):
    """What is known of all conversations: the `ids` of the training ones, sorted; and by split, "" for none, the courses of which enough others speak
    wherever they are spoken of, so that naming one tells no answer."""

    ids: list[str] = []
    shared: dict[str, set[int]] = {}


class _Named(msgspec.Struct):
    """While conversations are listed: by split, course and conversation the `key_hash` of the wordings that name the course, and how many wordings
    a split has."""

    ids: list[str]
    naming: dict[str, dict[int, dict[str, set[int]]]]
    wordings: dict[str, int]


class ListConversations:
    """The combiner of `Conversations`. Each training conversation takes its share of the partial conversations."""

    def __init__(self, recipe: AdvisingRecipe, courses: Mapping[str, int] | None = None) -> None:
        self.recipe, self.courses = recipe, dict(courses or {})

    def create(self) -> _Named:
        """None yet."""
        return _Named([], {}, {})

    def add(self, state: _Named, item: Item) -> _Named:
        """Adds one."""
        given = SplitDialogue.decode(item[1])
        split = given.split or ""
        if split == "train":
            state.ids.append(item[0])
        naming = state.naming.setdefault(split, {})
        for turn, texts in zip(given.dialogue.turns, _wordings(given), strict=True):
            if turn.speaker == "system":
                state.wordings[split] = state.wordings.get(split, 0) + len(texts)
                for text in texts:
                    for course in about(text, self.courses).themes:
                        naming.setdefault(course, {}).setdefault(item[0], set()).add(key_hash(candidate_key(text)))
        return state

    def merge(self, states: Iterable[_Named]) -> _Named:
        """All of them."""
        made = self.create()
        for state in states:
            made.ids += state.ids
            for split, naming in state.naming.items():
                for course, found in naming.items():
                    made.naming.setdefault(split, {}).setdefault(course, {}).update(found)
            for split, number in state.wordings.items():
                made.wordings[split] = made.wordings.get(split, 0) + number
        return made

    def extract_output(self, state: _Named) -> Conversations:
        """In order, with the courses that are shared."""
        shared = {}
        for split in state.naming:
            own = self.recipe.pool_scope == "split" and state.wordings[split] >= 2 * self.recipe.candidates
            scope = [state.naming[split]] if own and split else list(state.naming.values())
            shared[split] = {course for course in state.naming[split] if self._rivals(course, scope) >= self.recipe.min_rivals}
        return Conversations(sorted(state.ids), shared)

    @staticmethod
    def _rivals(course: int, scope: Sequence[Mapping[int, Mapping[str, set[int]]]]) -> int:
        """How many wordings name a course, besides those of the conversation that leaves the fewest."""
        each = [texts for naming in scope for texts in naming.get(course, {}).values()]
        every: set[int] = set().union(*each)
        return min(len(every - texts) for texts in each)


def _wordings(given: SplitDialogue) -> list[list[str]]:
    """The utterance of each turn and its paraphrases."""
    beside = msgspec.msgpack.decode(given.extra, type=Extra)
    return [[turn.utterance, *other] for turn, other in zip(given.dialogue.turns, beside.paraphrases, strict=True)]


class WordConversations(Stage):
    """A conversation into its examples, in random wordings, and the advisor's utterances in all wordings into the pool.

    Side input: what is known of all conversations.
    """

    tags = ("out", "example", "utterance")

    def __init__(self, recipe: AdvisingRecipe, seed: int, shards: Mapping[str, int], parts: int, courses: Mapping[str, int] | None = None) -> None:
        self.recipe, self.seed, self.shards, self.parts, self.courses = recipe, seed, shards, parts, dict(courses or {})

    def process(self, element: Item, side: Conversations | None = None) -> Iterable[tuple[str, Item]]:
        _, data = element
        given = SplitDialogue.decode(data)
        split = given.split
        dialogue = given.dialogue
        beside = msgspec.msgpack.decode(given.extra, type=Extra)
        wordings = _wordings(given)
        assert side is not None
        bits = pool.EXTRA if split is None else pool.SPLIT_BITS[split]
        forbidden = hashes(text for texts in wordings for text in texts)
        possible = self._places(dialogue, split or "", wordings, side)
        for turn, texts in zip(dialogue.turns, wordings, strict=True):
            if turn.speaker == "system":
                weight = pool.WEIGHT * possible.count(turn.turn) // max(len(possible) * len(texts), 1)
                for text in texts:
                    yield from contribution(text, bits, weight, about(text, self.courses), parts=self.parts)
        if split is None:
            return
        if split == "train":
            for out in repeated([Out(CONVERSATIONS, dialogue_order(dialogue), 1, _whole(dialogue, wordings, beside))], subsets_of(given)):
                yield "out", out.item(1)
        yield from self._examples(given, dialogue, split, wordings, beside, side.ids, possible, forbidden)

    def _places(self, dialogue: Dialogue, split: str, wordings: Sequence[Sequence[str]], known: Conversations) -> list[int]:
        """The turns that may be the answer, each as many times as lots it has: those that name a course of which few others speak have fewer. Of a
        course that the context names the answer would be told by that; and left out for good, they would be told as what never is an answer."""
        shared = known.shared.get(split, set())
        found = []
        for at in places(dialogue, self.recipe.min_context, self.recipe.short_contexts):
            rivalled = all(shared.issuperset(about(text, self.courses).themes) for text in wordings[at])
            found += [at] * (_LOTS if rivalled else 1)
        return found

    def _examples(
        self,
        given: SplitDialogue,
        dialogue: Dialogue,
        split: str,
        wordings: Sequence[Sequence[str]],
        beside: Extra,
        training: Sequence[str],
        cuts: Sequence[int],
        forbidden: list[int],
    ) -> Iterable[tuple[str, Item]]:
        counted = self.counters.stage("examples")
        counted.entered += 1
        if not cuts:
            self.counters.reject("examples", "no_cut")
            yield "out", Reject("examples", "no_cut", "the advisor never answers the student", source_id=dialogue.source_id).out().item(1)
            return
        counted.made -= 1
        produced = 0
        blind = split == "test" and self.recipe.held_out_labels
        for subtask in [blinding.drawn(self.recipe.subtasks, self.seed, dialogue.source_id, "subtask")] if blind else self.recipe.subtasks:
            for case, number in self._sets(dialogue.source_id, split, training):
                fixed = None
                if split != "train":
                    fixed = _spread(cuts, Rng(self.seed, _STEP, dialogue.source_id, case, "cuts"), number)
                seen: set[tuple[int, ...]] = set()
                for version in range(number):
                    drawn = self._draw(dialogue, subtask, case, version, wordings, fixed[version : version + 1] if fixed else cuts, seen)
                    if drawn is None:
                        continue
                    counted.made += 1
                    counted.out += 1
                    produced += 1
                    place = "train" if split == "train" and not case else "test" if case else split
                    path = release_path("advising", place, subtask, case if case == CASE1 else "")
                    made = self._example(dialogue, place, subtask, case, version, wordings, beside, drawn, forbidden)
                    # A training conversation also has examples in the test set of case 1, which are no few-shot ones.
                    made.subsets = [subset for subset in subsets_of(given, len(drawn) - 1) if SUBSETS[subset] == place]
                    yield packed_example(path, made, self.shards)
        if not produced:
            # More conversations than examples that were asked for.
            counted.made += 1
            self.counters.reject("examples", "not_sampled")

    def _sets(self, source_id: str, split: str, training: Sequence[str]) -> list[tuple[str, int]]:
        """(set, number of examples) that a conversation of a split takes part in. Case 1 takes some training conversations instead of test ones."""
        recipe = self.recipe
        chance = Rng(self.seed, "case1@1", source_id).random()
        if split == "valid":
            return [("", 1)]
        if recipe.held_out_labels and split != "valid":
            # The answers of case 1 stand in train, and those of one cut in the context of another.
            case2 = [("case2", 1)] if split == "test" else []
            return case2 or [self._partials(source_id, training)]
        if split == "test":
            return [("case2", recipe.test_cuts), *([(CASE1, recipe.test_cuts)] if chance >= recipe.overlap_share else [])]
        sets = [self._partials(source_id, training)]
        fraction = recipe.fractions.get("test", 0.0) / max(recipe.fractions.get("train", 1.0), 1e-9)
        return sets + ([(CASE1, recipe.test_cuts)] if chance < recipe.overlap_share * fraction else [])

    def _partials(self, source_id: str, training: Sequence[str]) -> tuple[str, int]:
        """The set of training examples, and how many of them a training conversation makes."""
        share, rest = divmod(min(self.recipe.partials, self.recipe.partials_each * len(training)), len(training))
        # The first ones of a seeded order take one more, so that the total is met.
        ranked = sorted(training, key=lambda one: key_number(self.seed, "partials@1", one))
        return "", share + (source_id in ranked[:rest])

    def _draw(
        self,
        dialogue: Dialogue,
        subtask: int,
        case: str,
        version: int,
        wordings: Sequence[Sequence[str]],
        cuts: Sequence[int],
        seen: set[tuple[int, ...]],
    ) -> tuple[int, ...] | None:
        """The wording of each message up to the answer, another one than those before; None where there is none left."""
        for attempt in range(_ATTEMPTS):
            rng = Rng(self.seed, _STEP, dialogue.source_id, 1 if subtask == 5 else subtask, case, version, attempt)
            at = rng.choice(cuts)
            drawn = tuple(rng.below(len(texts)) for texts in wordings[: at + 1])
            said = [candidate_key(texts[choice]) for texts, choice in zip(wordings, drawn, strict=False)]
            if drawn not in seen and said[-1] not in said[:-1]:
                seen.add(drawn)
                return drawn
        self.counters.note("wordings_exhausted")
        return None

    def _example(
        self,
        dialogue: Dialogue,
        split: str,
        subtask: int,
        case: str,
        version: int,
        wordings: Sequence[Sequence[str]],
        beside: Extra,
        drawn: tuple[int, ...],
        forbidden: list[int],
    ) -> Example:
        at = len(drawn) - 1
        texts = [said[choice] for said, choice in zip(wordings, drawn, strict=False)]
        messages = [(_NAMES[turn.speaker], text, "", "") for turn, text in zip(dialogue.turns, texts[:-1], strict=False)]
        answers, others = [texts[-1]], [text for text in wordings[at] if text != texts[-1]]
        kind = 1 if subtask == 5 else subtask
        number = example_number(self.seed, dialogue.source_id, kind, case, version)
        if subtask == 3 and self.recipe.form == "dstc7":
            answers, others = self._several(answers[0], others, number)
        more = b'"profile":' + beside.profile
        if subtask == 3 and self.recipe.form == "dstc8" and not (split == "test" and self.recipe.held_out_labels):
            more += b',"success-labels":' + msgspec.json.encode(_labels(beside, at))
        return Example(number, dialogue_order(dialogue), split, subtask, messages, answers, others, forbidden, "advisor", more)

    def _several(self, answer: str, others: list[str], number: int) -> tuple[list[str], list[str]]:
        """The answers of subtask 3: the answer and some of its other wordings, each another candidate, `correct` of them at most."""
        keys = {key_hash(candidate_key(answer))}
        shown, hidden = [answer], []
        rng = Rng(self.seed, "correct@1", number)
        wanted = 1 + rng.below(self.recipe.correct)
        for text in rng.sample(others, len(others)):
            key = key_hash(candidate_key(text))
            if key in keys or len(shown) >= wanted:
                hidden.append(text)
            else:
                shown.append(text)
                keys.add(key)
        return shown, hidden


#: A course by its department and number, or by a number of three digits alone: "EECS 281", "eecs281", "take 281".
_COURSE = re.compile(r"\b(?:[A-Z]{2,8}[ -]?(\d{2,4})|(?:[A-Za-z]{2,8}[ -]?)?(\d{3}))[A-Za-z]?\b")
_THANKED = re.compile(r"welcome|pleasure|glad|any ?time|good luck|have fun|happy to|bye|goodbye|see you", re.I)
_ADVISES = re.compile(r"recommend|suggest|should|would be|you (?:could|can|might)|how about|have you (?:thought|considered)|take|try", re.I)
#: What an advisor tells of a course, by the fields of a course record.
_TOLD = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"morning|afternoon|evening|(?:mon|tues|wednes|thurs|fri)day|\d:\d\d|\b\d{1,2} ?[ap]\.?m\b|schedule|timetable|\bmeets\b",
        r"work ?load|amount of work|demanding|\bheavy\b|\blight\b|hours (?:a|per) week|time.consuming|on work\b",
        r"class size|(?:small|large|big|medium|tiny|huge)(?:er)?\b|many students",
        r"\beas(?:y|ier|iness)|difficult|challenging|\bhard(?:er)?\b",
        r"\bclear|clarity|helpful",
        r"prerequisite|pre-?req|requires?\b|required|need (?:it|to have|\w+ \d+) (?:for|before|first)",
        r"credits?\b",
        r"\blabs?\b|discussion section",
        r"semester|\bterm\b|\bfall\b|\bwinter\b|\bspring\b|\bsummer\b",
    )
)
#: The acts by number; what is told of a course has a number for each of its fields behind them.
_ASK, _PART, _ADVISE, _TELL = 1, 2, 3, 4


def about(text: str, titles: Mapping[str, int] | None = None) -> pool.About:
    """What an advisor's utterance is about, the numbers of the courses that it names, and what it does: ask, part, advise, or tell, and of what.

    Args:
        titles: the numbers of courses by their titles, as `known_titles` reads them: a course may be named by its title alone.
    """
    courses = {int(found[1] or found[2]) for found in _COURSE.finditer(text)}
    if titles:
        plain = f" {_plain(text)} "
        courses.update(number for title, number in titles.items() if f" {title} " in plain)
    told = [number for number, pattern in enumerate(_TOLD, _TELL + 1) if pattern.search(text)]
    tell = told[0] if len(told) == 1 else _TELL
    act = _ASK if text.rstrip().endswith("?") else _PART if _THANKED.search(text) else _ADVISE if _ADVISES.search(text) else tell
    return pool.About(act, tuple(sorted(courses)))


def _plain(text: str) -> str:
    """The words of a text without case and punctuation, "&" as "and"."""
    return " ".join(re.findall(r"\w+", text.casefold().replace("&", " and ")))


def known_titles(catalogues: Iterable[InputFile]) -> dict[str, int]:
    """The number of each course of some catalogues by its title; of two courses of one title the smaller. What a catalogue has wrong is told where
    its records are written."""
    found: dict[str, int] = {}
    for one in catalogues:
        try:
            records = course_records(one.path, files.read_bytes(one.path))
        except (InputError, RecordError):
            continue
        for record in records:
            number, title = re.search(r"(\d{2,4})[A-Za-z]?\s*$", str(record.get("Course"))), record.get("CourseTitle")
            if number is not None and isinstance(title, str) and (words := _plain(title)):
                found[words] = min(int(number[1]), found.get(words, int(number[1])))
    return found


def _spread(cuts: Sequence[int], rng: Rng, count: int) -> list[int]:
    """`count` cuts: different ones while there are as many, each as often as the others."""
    different = list(dict.fromkeys(cuts))
    found: list[int] = []
    while len(found) < count:
        found += rng.sample(different, count - len(found))
    return sorted(found)


def _labels(beside: Extra, at: int) -> list[dict[str, Any]]:
    """The success labels that the context shows already; "No Decision Yet" where it shows none."""
    found = [{"label": one.label, "position": one.position} for one in beside.labels if one.label != "No Decision Yet" and one.position < at]
    return found or [{"label": "No Decision Yet", "position": -1}]


def _whole(dialogue: Dialogue, wordings: Sequence[Sequence[str]], beside: Extra) -> bytes:
    """A conversation of the first training form."""
    messages = [
        {"speaker": _NAMES[turn.speaker], "utterance": texts[0], "paraphrases": list(texts[1:])}
        for turn, texts in zip(dialogue.turns, wordings, strict=True)
    ]
    made = {"data-split": "train", "conversation-id": dialogue.source_id, "messages": messages}
    return msgspec.json.encode(made)[:-1] + b',"profile":' + beside.profile + b"}"


class ReadCourses(Stage):
    """A course catalogue into the records of the knowledge file."""

    tags = ("out",)

    def __init__(self, catalogues: list[InputFile]) -> None:
        self.catalogues = catalogues

    def process(self, element: int, side: object = None) -> Iterable[tuple[str, Item]]:
        one = self.catalogues[element]
        try:
            courses = course_records(one.path, files.read_bytes(one.path))
        except (InputError, RecordError) as error:
            self.counters.faults.append(str(error) if isinstance(error, InputError) else f"{one.shown}: {error.reason}: {error.evidence}")
            return
        for place, course in enumerate(courses):
            order = b"\0" + element.to_bytes(4, "big") + place.to_bytes(4, "big")
            yield "out", Out(COURSES, order, 1, msgspec.json.encode(course)).item(1)
