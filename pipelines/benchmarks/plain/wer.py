"""`score wer`: the word errors of a speech suite, told from its own records."""

from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.scorer import OwnScoring
from dialmill.pipelines.scoring import wer


class WordErrors(Benchmark):
    name = "wer"
    about = "word (or character) error rates of a speech suite, by condition, scored from its records"

    def own_scoring(self) -> OwnScoring:
        return wer
