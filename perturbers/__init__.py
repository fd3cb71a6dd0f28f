"""What can happen to a dialogue: plain Python, usable in a notebook, no Beam.

from dialmill.perturbers import get
typos = get("typos")(rate=0.1)
variant = typos.perturb(dialogue, seed=1)
"""

from dialmill.perturbers.core.contract import Chain, Changed, OptionError, Perturber, Skipped, TurnPerturber, variants
from dialmill.perturbers.core.options import UnusableFile
from dialmill.perturbers.core.registry import Suite, get, names, parse

__all__ = ["Chain", "Changed", "OptionError", "Perturber", "Skipped", "Suite", "TurnPerturber", "UnusableFile", "get", "names", "parse", "variants"]
