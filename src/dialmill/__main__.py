"""``python -m dialmill``: the command line."""

import sys

from dialmill.pipelines.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
