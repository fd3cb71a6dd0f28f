import numpy as np
import pytest
from dialmill.pipelines.disentangle.features import CONTEXT, NAMES, candidate_pairs, pair_features
from dialmill.pipelines.disentangle.frame import HASH_BITS, HOW_FIRST, HOW_INSIDE, REMEMBERED_LINES, Frame, Roster, person_key
from dialmill.pipelines.disentangle.logs import parse
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.irc.synthetic import make_log

WEIGHTS = np.linspace(0, 5, 1 << HASH_BITS, dtype=np.float32)


def frame_of(*lines: str) -> Frame:
    return Roster().read(parse(lines)[1])


def test_common_words_rename_action_and_notice():
    frame = frame_of(
        "[03:00] <the> hello",
        "[03:00] <kim> the driver is broken",
        "[03:01] === kim is now known as kim_afk",
        "[03:02] <lou> kim: which card?",
        "[03:02]  * kim_afk shrugs",
        "[03:03] -qwzx:#chan- buy now",
    )
    assert frame.line.tolist() == [0, 1, 3, 4]
    assert frame.addressees[1].tolist() == [-1, -1, -1]
    kim = frame.speaker[1]
    assert frame.addressees[2, 0] == kim and frame.how[2] == HOW_FIRST
    assert frame.speaker[3] == kim


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hikaru79: hi", ["hikaru79"]),
        ("hikaru79, hi", ["hikaru79"]),
        ("Hik: hi", ["hikaru79"]),
        ("@hikaru79 : hi", ["hikaru79"]),
        ("quad: hi", ["|quad-"]),
        ("bo, Hikaru79: both of you", ["bo", "hikaru79"]),
        ("ask hikaru79 about it", ["hikaru79"]),
        ("http://hikaru79", []),
        ("me: hi", []),
        ("nobody: hi", []),
        ("bo:hi", ["bo"]),
        ("the, really", ["the"]),
        ("the really", []),
        ("ann: talking to myself", []),
    ],
)
def test_who_is_addressed(text, expected):
    nicks = ["bo", "Hikaru79", "|QuaD-", "the", "ann"]
    frame = frame_of(*(f"[10:00] <{nick}> x" for nick in nicks), f"[10:01] <ann> {text}")
    people = {int(frame.speaker[i]): nick.lower() for i, nick in enumerate(nicks)}
    assert [people[p] for p in frame.addressees[-1].tolist() if p >= 0] == expected


def test_mention_inside_is_weaker_than_address():
    frame = frame_of("[10:00] <hikaru79> x", "[10:00] <b> ask hikaru79 about it")
    assert frame.how[1] == HOW_INSIDE


@pytest.mark.parametrize(("a", "b"), [("kim", "kim_"), ("kim", "Kim`"), ("robert", "robert|away"), ("robert", "robert-afk"), ("dee_", "dee")])
def test_decorated_nicks_are_one_person(a, b):
    assert person_key(a) == person_key(b)


def test_other_nicks_stay_apart():
    assert len({person_key(n) for n in ("kim", "kimm", "kim2", "lou", "logoff", "takeout", "___", "{{")}) == 8


def test_a_nick_is_forgotten_after_long_silence():
    lines = ["[10:00] <zoltan> x", *[""] * (REMEMBERED_LINES + 5), "[10:00] <b> zoltan: still there?"]
    assert frame_of(*lines).addressees[-1, 0] == -1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.lists(st.integers(1, 150), min_size=1, max_size=6))
def test_frames_of_chunks_join_to_the_frame_of_the_whole(seed, cuts):
    lines = parse(make_log(seed, 300)[0])[1]
    whole = Roster().read(lines)
    roster, parts, at = Roster(), [], 0
    for cut in [*cuts, 300]:
        parts.append(roster.read(lines[at : at + cut]))
        at += cut
    joined = Frame.join(parts)
    for name in Frame.__slots__:
        np.testing.assert_array_equal(getattr(joined, name), getattr(whole, name))


def test_a_block_with_its_context_has_the_features_of_the_whole_log():
    frame = Roster().read(parse(make_log(5, 1500)[0])[1])
    first = 900
    assert first > CONTEXT
    pairs = candidate_pairs(frame, first)
    table = pair_features(frame, pairs, WEIGHTS, WEIGHTS)
    block = frame.slice(first - CONTEXT, len(frame))
    again = candidate_pairs(block, CONTEXT)
    np.testing.assert_array_equal(pairs.candidate, again.candidate + first - CONTEXT)
    np.testing.assert_array_equal(table, pair_features(block, again, WEIGHTS, WEIGHTS))
    assert table.shape[1] == len(NAMES)


def test_features_do_not_look_ahead():
    frame = Roster().read(parse(make_log(6, 400)[0])[1])
    short = frame.slice(0, 200)
    whole, part = candidate_pairs(frame), candidate_pairs(short)
    table = pair_features(frame, whole, WEIGHTS, WEIGHTS)[whole.message < 200]
    np.testing.assert_array_equal(table, pair_features(short, part, WEIGHTS, WEIGHTS))


def test_every_message_has_itself_as_first_candidate_and_no_pair_twice():
    frame = Roster().read(parse(make_log(7, 500)[0])[1])
    pairs = candidate_pairs(frame)
    np.testing.assert_array_equal(pairs.candidate[pairs.starts], np.arange(len(frame)))
    keys = set(zip(pairs.message.tolist(), pairs.candidate.tolist(), strict=True))
    assert len(keys) == len(pairs.message) and (pairs.candidate <= pairs.message).all()
    assert pairs.sizes.sum() == len(pairs.message)


@pytest.mark.parametrize("lines", [[], [""], ["[10:00] <a> x"], ["[10:00] <a>", "[10:00] <b> ..."], ["=== a [b@c]  has joined #d"]])
def test_tiny_logs(lines):
    frame = frame_of(*lines)
    pairs = candidate_pairs(frame)
    assert pair_features(frame, pairs, WEIGHTS, WEIGHTS).shape == (len(pairs.message), len(NAMES))
