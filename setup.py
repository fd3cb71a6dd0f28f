"""The layout of the one installed package; all else stands in pyproject.toml.

The floors lie at the top of the checkout (schemas/, perturbers/, pipelines/) and are installed below dialmill, whose public API is src/dialmill.

With DIALMILL_COMPILE=1 in the environment the modules that typos spend their time in are compiled by mypyc as well, and taken in place of their
sources, which do the same. Where that can't be done, for want of a C compiler say, the sources alone are installed.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_ext import build_ext

FLOORS = ("schemas", "perturbers", "pipelines")
INSIDE = [f"dialmill.{name}" for floor in FLOORS for name in (floor, *(f"{floor}.{inner}" for inner in find_packages(floor)))]

#: What is compiled.
COMPILED = (
    "schemas/edits.py",
    "perturbers/core/rng.py",
    "perturbers/core/tokens.py",
    "perturbers/core/matcher.py",
    "perturbers/core/distance.py",
    "perturbers/core/surfaces.py",
    "perturbers/core/values.py",
    "perturbers/core/checks.py",
    "perturbers/typing/english.py",
    "perturbers/typing/slips.py",
)
WANTED = os.environ.get("DIALMILL_COMPILE") == "1"
#: What compiling needs beside setuptools: installed by pip for the build alone.
NEEDED = ["mypy>=1.13", "msgspec>=0.19", "rapidfuzz>=3.6"]


def extensions():
    """The extension modules, none where they aren't wanted or mypyc can't make them."""
    if not WANTED:
        return []
    try:
        from mypyc.build import mypycify
    except ImportError:
        print("dialmill: mypy is not installed, so that nothing is compiled", file=sys.stderr)
        return []
    # mypyc takes a module's name from the folders around it.
    root = Path("build", "mypyc")
    shutil.rmtree(root, ignore_errors=True)
    for floor in ("schemas", "perturbers"):
        shutil.copytree(floor, root / "dialmill" / floor, ignore=shutil.ignore_patterns("__pycache__", "lexicons", "data", "json"))
    (root / "dialmill" / "__init__.py").touch()
    settings = root / "mypy.ini"
    settings.write_text("[mypy]\nignore_missing_imports = True\nfollow_imports = silent\n")
    paths = [str(root / "dialmill" / path) for path in COMPILED]
    try:
        return mypycify(["--config-file", str(settings), *paths], target_dir=str(root))
    except SystemExit as error:  # how mypyc says that it can't
        print(f"dialmill: mypyc refused a module ({error}), so that nothing is compiled", file=sys.stderr)
        return []


class BuildExtensions(build_ext):
    """Builds all extension modules or none: some without the others could not be imported."""

    def run(self):
        try:
            super().run()
        except Exception as error:
            print(f"dialmill: not compiled ({error}); the plain modules are installed", file=sys.stderr)
            for path in self.get_outputs():
                Path(path).unlink(missing_ok=True)
            self.extensions = self.distribution.ext_modules = []


setup(
    packages=[*find_packages("src"), *INSIDE, "dialmill.samples"],
    # The small corpora come along, for `--input sample:NAME`.
    package_dir={"dialmill": "src/dialmill", "dialmill.samples": "data", **{f"dialmill.{floor}": floor for floor in FLOORS}},
    setup_requires=NEEDED if WANTED else [],
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildExtensions},
)
