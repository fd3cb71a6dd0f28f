import hashlib
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from dialmill.pipelines.core.errors import InputError
from dialmill.pipelines.disentangle import train as training
from dialmill.pipelines.disentangle.conversations import gather
from dialmill.pipelines.disentangle.features import CONTEXT
from dialmill.pipelines.disentangle.frame import Roster
from dialmill.pipelines.disentangle.logs import parse, read_links, write_links
from dialmill.pipelines.disentangle.metrics import score
from dialmill.pipelines.disentangle.model import (
    DEFAULT_MODEL,
    Booster,
    Disentangler,
    LinkModel,
    ReplyLink,
    _votes,
    block_links,
    disentangle,
    group_log_softmax,
    shortlist,
    to_channel,
)
from dialmill.pipelines.disentangle.threads import AHEAD, EPOCH, SHORT

from tests.irc.synthetic import make_log, write_corpus

pytest.importorskip("lightgbm", reason="needs the extra dialmill[irc]")

SMALL = ("--first-trees", "25", "--second-trees", "10", "--seeds", "1,2", "--quiet")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    root = tmp_path_factory.mktemp("corpus")
    write_corpus(root / "train", 4, 260)
    write_corpus(root / "dev", 2, 260, seed=50)
    return root


@pytest.fixture(scope="module")
def trained(corpus):
    path = corpus / "out.model"
    assert training.main(["--data", str(corpus), "--output", str(path), *SMALL]) == 0
    return path


def test_a_trained_model_beats_previous_message_by_far(corpus, trained):
    model = LinkModel.load(trained)
    scores, _ = training.evaluate(model, training.read_samples(corpus / "dev"))
    assert scores.link_f > 85


def test_training_twice_gives_the_same_bytes_and_says_how(corpus, trained):
    again = corpus / "again.model"
    training.main(["--data", str(corpus), "--output", str(again), *SMALL])
    assert again.read_bytes() == trained.read_bytes()
    notes = json.loads(trained.with_name("out.model.json").read_text())
    assert "CC-BY 4.0" in notes["attribution"] and notes["data"]["files"] == 4 and notes["scores"]["dev"]["link_f"] > 0
    assert str(corpus) not in json.dumps(notes)


@pytest.mark.parametrize("chunk", [1, 37, 499, 1000])
def test_links_do_not_depend_on_the_chunk(trained, chunk):
    model = LinkModel.load(trained)
    lines = parse(make_log(9, 3 * EPOCH + 200)[0])[1]
    assert disentangle(model, lines, chunk) == disentangle(model, lines)


def test_blocks_worked_on_apart_give_the_links_of_the_whole(trained):
    model = LinkModel.load(trained)
    lines = parse(make_log(11, 3 * EPOCH + 400)[0])[1]
    frame = Roster().read(lines)
    n = len(frame)
    links = [ReplyLink(line.line, line.line, 1.0) for line in lines if not line.is_talk]
    for start in range(0, n, EPOCH):
        stop = min(start + EPOCH, n)
        base = max(start - EPOCH - CONTEXT, 0)
        links += block_links(model, frame.slice(base, min(stop + AHEAD, n)), base, start, stop)
    assert to_channel(model, links) == disentangle(model, lines)
    with pytest.raises(ValueError, match="multiple"):
        block_links(model, frame, 0, 3, 9)


def test_every_line_gets_one_link_and_system_lines_stand_alone(trained):
    model = LinkModel.load(trained)
    lines = parse(make_log(3, 700)[0])[1]
    links = disentangle(model, lines)
    assert [link.message for link in links] == list(range(700))
    assert all(link.antecedent == link.message for link, line in zip(links, lines, strict=True) if not line.is_talk)
    assert all(link.antecedent <= link.message and 0 < link.confidence <= 1 for link in links)
    assert all(lines[link.antecedent].is_talk for link, line in zip(links, lines, strict=True) if line.is_talk)


@pytest.mark.parametrize("lines", [[], [""], ["[10:00] <a> x"], ["=== a [b@c]  has joined #d"]])
def test_tiny_logs(trained, lines):
    assert len(disentangle(LinkModel.load(trained), parse(lines)[1])) == len(lines)


def test_state_stays_small(trained):
    worker = Disentangler(LinkModel.load(trained))
    lines = parse(make_log(4, 4000)[0])[1]
    for start in range(0, 4000, 500):
        worker.push(lines[start : start + 500])
        assert len(worker._frame) <= 3 * EPOCH + 600


def test_models_pickle_for_workers_and_load_the_same(trained, tmp_path):
    model = LinkModel.load(trained)
    lines = parse(make_log(8, 300)[0])[1]
    copy = pickle.loads(pickle.dumps(model))
    assert disentangle(copy, lines) == disentangle(model, lines)
    model.save(tmp_path / "copy.model")
    assert (tmp_path / "copy.model").read_bytes() == trained.read_bytes()


def test_vote_and_mean_agree_where_models_do(trained):
    model = LinkModel.load(trained)
    lines = parse(make_log(8, 300)[0])[1]
    mean = disentangle(model, lines)
    model.agreement = "vote"
    vote = disentangle(model, lines)
    assert sum(a.antecedent == b.antecedent for a, b in zip(mean, vote, strict=True)) > 280


def test_votes_go_to_the_shorter_link_on_ties():
    starts = np.array([0])
    distance = np.array([0, 1, 2])
    each = [np.array([-9.0, -1, -2]), np.array([-9.0, -2, -1])]
    count = _votes(each, starts, distance)
    assert count.tolist() == [0, 1, 1]
    assert np.lexsort((distance, -count))[0] == 1


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x05\x06" + bytes(18)])
def test_a_file_that_is_no_model_is_refused(tmp_path, content):
    path = tmp_path / "bad.model"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.model.*not a link model"):
        LinkModel.load(path)
    with pytest.raises(InputError, match="no such model"):
        LinkModel.load(tmp_path / "none.model")


def test_short_lists_keep_the_self_candidate():
    message = np.full(10, 20)
    candidate = np.array([20, 19, 18, 17, 16, 15, 14, 13, 12, 11])
    log_p = group_log_softmax(np.array([-9.0, 1, 2, 3, 4, 5, 6, 7, 8, 9]), np.array([0]))
    short = shortlist(message, candidate, np.array([0]), log_p, np.zeros((10, 2), np.float32))
    assert short.candidate[0].tolist() == [11, 12, 13, 14, 15, 20] and SHORT == 6
    assert (np.diff(short.log_p[0]) <= 0).all()


def test_softmax_sums_to_one_in_each_group():
    p = np.exp(group_log_softmax(np.array([1000.0, 1001, -5, 0, 0]), np.array([0, 2])))
    np.testing.assert_allclose([p[:2].sum(), p[2:].sum()], 1)


def test_written_links_score_as_the_links_themselves(corpus, trained, tmp_path):
    samples = training.read_samples(corpus / "dev")
    model = LinkModel.load(trained)
    scores, found = training.evaluate(model, samples)
    read = {}
    for name, links in found.items():
        write_links(tmp_path / f"{name}.annotation.txt", [(link.antecedent, link.message) for link in links])
        read[name] = read_links(tmp_path / f"{name}.annotation.txt")
    assert score({s.log.name: s.links for s in samples}, read) == scores


def test_training_errors_are_plain(tmp_path, capsys):
    assert training.main(["--data", str(tmp_path), "--output", str(tmp_path / "m")]) == 1
    assert "no such folder" in capsys.readouterr().err


def test_the_package_needs_no_beam():
    modules = "dialmill.pipelines.disentangle.train, dialmill.pipelines.disentangle.model"
    code = f"import sys; sys.modules['apache_beam'] = None; import {modules}; assert 'lightgbm' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    subprocess.run([sys.executable, "-c", "import sys, dialmill.pipelines; assert 'dialmill.pipelines.disentangle' not in sys.modules"], check=True)


def test_the_shipped_model_on_a_twelve_hour_log_and_on_odd_nicks():
    model = LinkModel.load(DEFAULT_MODEL)
    clock = ["[11:58] <ana> my sound card is silent", "[12:01] <bo> ana: run alsamixer", "[12:59] <ana> trying", "[01:02] <bo> ana: any luck?"]
    lines = parse(clock)[1]
    assert [c.messages for c in gather(disentangle(model, lines), lines)] == [(0, 1, 2, 3)]
    odd = [
        "[03:00] <the> hello",
        "[03:00] <kim> the driver is broken",
        "[03:01] === kim is now known as kim_afk",
        "[03:02] <lou> kim: which card?",
        "[03:02]  * kim_afk shrugs",
        "[03:03] -qwzx:#chan- buy now",
    ]
    lines = parse(odd)[1]
    assert [c.messages for c in gather(disentangle(model, lines), lines)] == [(0,), (1, 3, 4)]


def test_the_shipped_model_is_small_and_says_whose_data_it_learned_from():
    notes = json.loads(DEFAULT_MODEL.with_name(DEFAULT_MODEL.name + ".json").read_text(encoding="utf-8"))
    assert DEFAULT_MODEL.stat().st_size < 3_000_000
    assert notes["model"]["sha256"] == hashlib.sha256(DEFAULT_MODEL.read_bytes()).hexdigest()
    assert "CC-BY 4.0" in notes["attribution"] and notes["command"].startswith("python -m dialmill.pipelines.disentangle.train")


def test_the_odds_of_a_start_are_the_channel_s_own() -> None:
    """Where few messages start a conversation a doubtful one doesn't; as often as the model knows it, nothing changes but roundings."""
    model = LinkModel(np.zeros(1, np.float32), np.zeros(1, np.float32), Booster(""), [], start_share=0.2)

    def links(sure: int, doubtful: int, replies: int) -> list[ReplyLink]:
        kinds = [(0.97, 0.02)] * sure + [(0.55, 0.42)] * doubtful + [(0.02, 0.9)] * replies
        return [ReplyLink(at, at, start, start, at - 1, likely) for at, (start, likely) in enumerate(kinds, 1)]

    def starts(found: list[ReplyLink]) -> int:
        return sum(link.message == link.antecedent for link in found)

    quiet, known, busy = (to_channel(model, links(*counts)) for counts in ((5, 20, 500), (90, 20, 400), (300, 20, 100)))
    assert starts(quiet) == 5 and starts(known) == 110 and starts(busy) == 320
    assert all(abs(link.confidence - (link.start if link.message == link.antecedent else link.likely)) < 1e-6 for link in quiet + busy)
    assert to_channel(model, []) == [] and to_channel(model, [ReplyLink(0, 0, 1.0)]) == [ReplyLink(0, 0, 1.0)]
    model.agreement = "vote"
    assert starts(to_channel(model, links(5, 20, 500))) == 525, "what models vote for stands"
