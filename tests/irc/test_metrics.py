import random

import numpy as np
import pytest
from dialmill.pipelines.core.errors import DialmillError
from dialmill.pipelines.disentangle.metrics import adjusted_rand, conversations, score


def test_conversations_are_components_and_unlinked_messages_are_alone():
    assert conversations([(0, 2), (2, 4), (1, 1)], range(6)) == [[0, 2, 4], [1], [3], [5]]


def test_a_perfect_prediction_scores_hundred():
    gold = {"f": [(0, 0), (0, 1), (2, 2), (1, 3)]}
    s = score(gold, gold)
    assert (s.link_f, s.vi, s.one_to_one, s.ari, s.shen_f, s.local_3, s.exact_f) == (100,) * 7
    assert s.gold_conversations == 1  # the singleton does not count


def test_figures_by_hand():
    gold = {"f": [(0, 0), (0, 1), (2, 2), (2, 3)]}
    auto = {"f": [(0, 0), (0, 1), (1, 2), (2, 3)]}
    s = score(gold, auto)
    assert (s.link_precision, s.link_recall) == (75, 75)
    assert s.one_to_one == 50
    assert s.vi == pytest.approx(50)  # H(gold | one block) = 1 bit of log2(4)
    assert s.ari == 0
    assert s.shen_f == pytest.approx(100 * 2 / 3)
    assert s.local_3 == pytest.approx(100 * 2 / 6)
    assert (s.exact_precision, s.exact_recall, s.exact_f) == (0, 0, 0)


def test_start_offset_is_the_files_own_and_zero_points_are_an_error():
    gold = {"f": [(0, 0), (1, 0), (2, 2)]}
    assert score(gold, {"f": [(0, 0), (2, 2)]}).messages == 2
    with pytest.raises(DialmillError, match="no annotated message from 1000"):
        score(gold, gold, {"f": 1000})
    with pytest.raises(DialmillError):
        score({}, {})
    with pytest.raises(DialmillError, match="no predictions for f"):
        score(gold, {"g": gold["f"]})


def test_context_messages_join_conversations_but_are_not_counted():
    gold = {"f": [(5, 10), (5, 11)]}
    s = score(gold, {"f": [(10, 10), (11, 11)]}, {"f": 10})
    assert (s.messages, s.gold_conversations, s.exact_recall) == (2, 1, 0)


def test_ari_of_random_labels_is_near_zero():
    rng = random.Random(1)
    a = np.array([rng.randrange(5) for _ in range(4000)])
    b = np.array([rng.randrange(5) for _ in range(4000)])
    assert abs(adjusted_rand([a], [b])) < 2


def test_conversations_of_one_message_on_both_sides_agree():
    alone = {"f": [(at, at) for at in range(4)]}
    s = score(alone, alone)
    assert (s.exact_precision, s.exact_recall, s.exact_f, s.vi) == (100, 100, 100, 100)
    assert score(alone, {"f": [(0, 0), (0, 1), (2, 2), (3, 3)]}).exact_f == 0
