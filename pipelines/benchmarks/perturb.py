"""`perturb`: suites of the user's own data, one for every `--with`."""

from . import Benchmark


class Perturb(Benchmark):
    name = "perturb"
    about = "suites of any supported corpus through any chain of perturbers"
