"""The entry point of worker processes of a local run: Beam's own, without the forty lines of log that each run would print."""

from __future__ import annotations

import logging
import sys

# Before Beam is imported: it logs a warning then, and logging puts in a handler that prints if there is none.
logging.getLogger().addHandler(logging.NullHandler())

if __name__ == "__main__":
    from apache_beam.runners.worker import sdk_worker_main

    sdk_worker_main.main(sys.argv)
