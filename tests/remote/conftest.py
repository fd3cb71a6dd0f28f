"""Object stores for tests: emulators of both on loopback, started once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from . import stores as emulators


@pytest.fixture(scope="session")
def stores() -> Iterator[dict[str, str]]:
    """A bucket of each store by protocol, and the environment that leads to them in place."""
    module = emulators.missing()
    if module is not None:
        pytest.skip(f"{module} is not installed; the extra `test` brings it")
    with emulators.running() as running:
        yield running.buckets


@pytest.fixture(params=["gs", "s3"])
def bucket(request: pytest.FixtureRequest, stores: dict[str, str]) -> str:
    """The bucket of one store."""
    return stores[request.param]
