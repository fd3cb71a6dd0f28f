"""The runners that a run can be given to, and up to what size one machine is the place for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

#: Dialogues that a run in this process was measured with, and the megabytes it has for them (tests/benchmarks/bench_scale.py).
DIALOGUES, MEGABYTES = 100_000, 1_500
#: Bytes of input of as many dialogues, as MultiWOZ has them.
BYTES = DIALOGUES * 26_000
#: A run on Flink without a cluster: its job server starts one in a process of its own.
LOCAL_FLINK = "--runner=FlinkRunner --flink_version=1.19 --environment_type=LOOPBACK --parallelism=2"
_HERE = ("FnApiRunner", "DirectRunner", "BundleBasedDirectRunner", "SwitchingDirectRunner")


class Known(NamedTuple):
    """A runner: what it is called, what it is for, and the options behind ``--`` that choose it ("" for none)."""

    name: str
    about: str
    options: str


RUNNERS = (
    Known("local", f"this process, the default: up to {DIALOGUES:,} dialogues within {MEGABYTES:,} MB; what is larger lies in temporary files", ""),
    Known("processes", "several processes of this machine", "--direct_running_mode=multi_processing --direct_num_workers=2"),
    Known("flink", f"Apache Flink on this machine, for more than {DIALOGUES:,} dialogues; needs Java", LOCAL_FLINK),
    Known("flink cluster", "Apache Flink, with a pool of workers beside each task manager", "--runner=FlinkRunner --flink_master=HOST:8081 ..."),
    Known("spark", "Apache Spark", "--runner=SparkRunner ..."),
    Known("prism", "Beam's portable local runner", "--runner=PrismRunner"),
    Known("dataflow", "Google Cloud Dataflow; extra gcp", "--runner=DataflowRunner --project=P --region=R --temp_location=gs://BUCKET/tmp ..."),
)


def is_here(options: Sequence[str]) -> bool:
    """Whether Beam options leave a run to this machine's memory."""
    named = [option.partition("=")[2] for option in options if option.startswith("--runner=")]
    return not named or named[-1].rsplit(".", 1)[-1] in _HERE


def size_warning(options: Sequence[str], bytes_in: int = 0, dialogues: int = 0) -> str:
    """What a user is told of a run that is more than this machine was measured with, "" where it isn't.

    Args:
        options: the Beam options of the run.
        bytes_in: the size of its input, unpacked.
        dialogues: how many dialogues it had, once that is known.
    """
    if not is_here(options) or (bytes_in <= BYTES and dialogues <= DIALOGUES):
        return ""
    much = f"{dialogues:,} dialogues" if dialogues else f"{bytes_in / 1e9:.1f} GB of input"
    return (
        f"{much} in this process, which was measured with up to {DIALOGUES:,} dialogues ({MEGABYTES:,} MB); beyond, Flink takes as many workers"
        f" as there are: -- {LOCAL_FLINK} (`dialmill list runners`)"
    )
