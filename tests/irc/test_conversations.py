import pytest
from dialmill.pipelines.disentangle.conversations import Conversation, agreed, gather, split_by_confidence
from dialmill.pipelines.disentangle.logs import parse
from dialmill.pipelines.disentangle.model import ReplyLink

LINKS = [ReplyLink(0, 0, 0.9), ReplyLink(1, 1, 1.0), ReplyLink(2, 0, 0.4), ReplyLink(3, 3, 0.8)]


def test_conversations_carry_the_geometric_mean_of_their_links():
    made = gather(LINKS)
    assert [c.messages for c in made] == [(0, 2), (1,), (3,)]
    assert made[0].confidence == pytest.approx(0.6)


def test_lines_that_are_no_talk_are_left_out():
    lines = parse(["[10:00] <a> x", "=== b [c@d]  has joined #e", "[10:00] <b> a: y", "[10:01] <c> z"])[1]
    assert [c.messages for c in gather(LINKS, lines)] == [(0, 2), (3,)]


def test_the_cut_keeps_and_drops_all():
    made = [Conversation((0,), 0.5), Conversation((1,), 0.7)]
    assert split_by_confidence(made, 0.7) == ([made[1]], [made[0]])
    assert split_by_confidence(made, 0.0) == (made, [])


def test_agreement_of_several_models():
    a, b = Conversation((0, 2), 0.5), Conversation((0, 2), 0.7)
    assert agreed([[a], [b], [Conversation((0, 3), 0.9)]], 2) == [Conversation((0, 2), 0.6)]
    assert agreed([[a], [b]], 3) == []
