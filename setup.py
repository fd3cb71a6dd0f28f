"""The layout of the one installed package; all else stands in pyproject.toml.

The floors lie at the top of the checkout (schemas/, perturbers/, pipelines/) and are installed below dialmill, whose public API is src/dialmill.
"""

from setuptools import find_packages, setup

FLOORS = ("schemas", "perturbers", "pipelines")
INSIDE = [f"dialmill.{name}" for floor in FLOORS for name in (floor, *(f"{floor}.{inner}" for inner in find_packages(floor)))]

setup(
    packages=[*find_packages("src"), *INSIDE, "dialmill.samples"],
    # The small corpora come along, for `--input sample:NAME`.
    package_dir={"dialmill": "src/dialmill", "dialmill.samples": "data", **{f"dialmill.{floor}": floor for floor in FLOORS}},
)
