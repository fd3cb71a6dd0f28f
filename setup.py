"""The layout of the one installed package; all else stands in pyproject.toml.

The floors lie at the top of the checkout (schemas/, perturbers/, pipelines/) and are installed below dialmill, whose public API is src/dialmill.
"""

from setuptools import find_packages, setup

FLOORS = ("schemas", "perturbers", "pipelines")
INSIDE = [f"dialmill.{name}" for floor in FLOORS for name in (floor, *(f"{floor}.{inner}" for inner in find_packages(floor)))]

setup(
    packages=[*find_packages("src"), *INSIDE],
    package_dir={"dialmill": "src/dialmill", **{f"dialmill.{floor}": floor for floor in FLOORS}},
)
