"""DSTC9 Track 2 (Gunasekara et al. 2020), cross-lingual state tracking: its submissions are scored."""

from dialmill.pipelines.benchmarks.cross_lingual.scorer import CrossLingual as CrossLingualScorer
from dialmill.pipelines.core.benchmark import Benchmark
from dialmill.pipelines.core.scorer import Scorer


class CrossLingual(Benchmark):
    name = "cross-lingual"
    about = "cross-lingual state tracking (DSTC9 Track 2), scored from submissions"
    paper = "Gunasekara et al. (2020), Overview of the Ninth Dialog System Technology Challenge"

    def scorer(self) -> type[Scorer]:
        return CrossLingualScorer
