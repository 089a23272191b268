"""A pod that several tests share."""

from collections.abc import Iterator

import pytest

from tests.processes import Pod, running_pod


@pytest.fixture(scope="module")
def pod(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pod]:
    """One running pod for all tests of a file."""
    with running_pod(tmp_path_factory.mktemp("pod")) as pod:
        yield pod
