"""What people see as one character stays whole wherever text is cut: in every perturber, in names of logs, and where texts are shortened."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass

import pytest
from dialmill.perturbers import parse
from dialmill.perturbers.core.contract import TurnPerturber
from dialmill.perturbers.core.graphemes import broken, clusters, inner_places, is_mark, shortened, whole
from dialmill.perturbers.core.rng import Rng
from dialmill.perturbers.core.tokens import tokens
from dialmill.perturbers.core.values import View
from dialmill.perturbers.speech.speakable import words
from dialmill.pipelines.cli.side_by_side import fitted
from dialmill.pipelines.core.stage import Reject
from dialmill.pipelines.disentangle.logs import LogLine
from dialmill.pipelines.disentangle.nicknames import Nicks, without_names
from dialmill.pipelines.report.examples import CHARACTERS, _cut
from dialmill.pipelines.sources import spans
from dialmill.schemas import Edit
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.test_protected import FREE, SPECS
from tests.contract.test_protected import _dialogue as made_dialogue

#: Words of several writings, each with characters of more than one code point.
WORDS = [
    *(
        "Re\u0301my",
        "cafe\u0301s",
        "Zu\u0308rich",
        "n\u0303andu\u0301",
        "नमस्ते",
        "हिन्दी",
        "สวัสดีครับ",
        "தமிழ்",
        "မြန်မာ",
        "\u1112\u1161\u11ab\u1100\u116e\u11a8",
    ),
    *("👨\u200d👩\u200d👧", "👍🏽", "🇫🇷🇩🇪", "1\ufe0f\u20e3", "❤\ufe0f", "می\u200cخواهم", "שָׁלוֹם", "葛\U000e0100", "a\u0308\u0323bc"),
]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Re\u0301my", ["R", "e\u0301", "m", "y"]),
        ("👨\u200d👩\u200d👧!", ["👨\u200d👩\u200d👧", "!"]),
        ("🇫🇷🇩🇪", ["🇫🇷", "🇩🇪"]),
        ("1\ufe0f\u20e3a", ["1\ufe0f\u20e3", "a"]),
        ("\u1112\u1161\u11ab\u1100", ["\u1112\u1161\u11ab", "\u1100"]),
        ("क\u093e\r\nx", ["क\u093e", "\r\n", "x"]),
        ("plain", list("plain")),
    ],
)
def test_clusters(text: str, parts: list[str]) -> None:
    assert list(clusters(text)) == parts
    starts = [sum(map(len, parts[:place])) for place in range(len(parts) + 1)]
    assert inner_places(text) == set(range(len(text))) - set(starts)


def test_every_mark_of_unicode_is_known() -> None:
    missed = [code for code in range(0x300, 0x110000) if unicodedata.category(chr(code))[0] == "M" and not is_mark(chr(code))]
    assert missed == [], "a newer Unicode has more marks: add them to MARKS"


@given(st.text(max_size=12), st.integers(0, 12))
def test_what_is_shortened_or_widened_cuts_no_cluster(text: str, length: int) -> None:
    cut = shortened(text, length, "")
    assert text.startswith(cut) and len(cut) <= length and len(cut) not in inner_places(text)
    start, end = whole(text, min(length // 2, len(text)), min(length, len(text)))
    assert not {start, end} & inner_places(text)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_tokens_and_spoken_words_hold_whole_clusters(word: str, language: str) -> None:
    text = f"ok {word} please" if language == "en" else f"麻烦看一下{word} 谢谢"
    inner = inner_places(text)
    places = [place for start, end in tokens(text, language) for place in (start, end)]
    places += [place for one in words(text, language) for place in (one.start, one.end)]
    assert not inner & set(places)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_perturber_takes_a_cluster_apart(spec: str, language: str) -> None:
    perturber = parse(spec).perturber

    @settings(max_examples=25, deadline=None)
    @given(st.lists(st.sampled_from([*FREE[language], *WORDS]), min_size=1, max_size=7), st.integers(0, 9))
    def holds(parts: list[str], seed: int) -> None:
        text = " ".join(parts)
        for one in perturber.perturb(made_dialogue(text, language), seed).turns:
            if not one.inserted:
                assert broken(text, one.utterance) is None, (text, one.utterance)
                assert not {edge for edit in one.edits for edge in (edit.start, edit.end)} & inner_places(text), one.edits

    holds()


def test_a_name_is_no_part_of_a_letter_with_a_mark() -> None:
    nicks = Nicks([LogLine(0, "message", "rene", "hi", 0), LogLine(1, "message", "bo", "hi", 0)])
    people = {"rene": "participant_1", "bo": "participant_2"}
    assert without_names("ask rene, not rene\u0301 or bo\u0302", nicks, people) == "ask participant_1, not rene\u0301 or bo\u0302"
    assert without_names("see /home/re\u0301my/x", nicks, people) == "see /home/user/x"


def test_a_value_begins_and_ends_with_whole_letters() -> None:
    text = "a hotel in Zu\u0308rich"
    assert not spans.whole(text, 11, 13) and not spans.whole(text, 13, 18) and spans.whole(text, 11, 18)
    assert not spans.whole("हिन्दी", 0, 1)


def test_what_reports_and_rejects_quote_ends_with_a_whole_letter() -> None:
    long = "e\u0301" * 400
    line = json.loads(Reject("read", "x", long).out().line)
    assert line["evidence"] == "e\u0301" * 250 + "…"
    assert (
        Reject("read", "x", "e" + long)
        .out()
        .line.endswith('e\u0301…","file":null,"index":null,"source_id":null,"suite":null,"variant":null}'.encode())
    )
    assert _cut("e" + "e\u0301" * CHARACTERS).endswith("\u0301…")
    wide = "酒\U000e0100店" * 20 + "हिन्दी"
    pieces = fitted(wide, 20)
    assert "".join(pieces) == wide and len(pieces) > 3 and not any(is_mark(piece[0]) for piece in pieces)


@dataclass(frozen=True)
class Accents(TurnPerturber):
    """Puts an accent on a letter, or takes one off, as a perturber that works on code points would."""

    name = "accents"
    mark: str = "\u0302"

    def draw(self, view: View, rng: Rng) -> int:
        return view.turn.utterance.index("e") + 1

    def apply(self, view: View, drawn: int) -> list[Edit]:
        return [Edit(drawn, drawn, self.mark)] if view.turn.utterance.isascii() else [Edit(drawn, drawn + 1, "")]


@pytest.mark.parametrize("text", ["a cheap one", "rooms for Re\u0301my please"])
def test_a_perturber_of_others_that_cuts_characters_is_refused(text: str) -> None:
    made = Accents().perturb(made_dialogue(text, "en"), 1)
    assert made.turns[0].utterance == text
    assert made.lineage[-1].skipped[0].reason in ("character_broken", "protected_token_lost")
