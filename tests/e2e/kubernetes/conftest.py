"""A release in a namespace of its own, and one that has far too much to do while other tests run."""

from collections.abc import Callable, Iterator

import pytest

from podscale.contract import StageReport
from tests.cluster.cluster import Cluster
from tests.e2e.kubernetes.release import QUARTER_CORE, QUICK_STOP, Release, installed

LIMIT_100M = ("resources.requests.cpu=50m", "resources.limits.cpu=100m")
# 50 ms of CPU for each request, and 100 ms a second to do it in.
CAPACITY_PER_SECOND = 2
OVERLOADED_SECONDS = 120
Overload = tuple[Release, Callable[[], StageReport]]


@pytest.fixture
def release(cluster: Cluster, namespace: str, pod_image: str, locust_image: str) -> Release:
    """A release that is yet to be installed; the images are on the nodes."""
    del pod_image, locust_image
    return Release(cluster, namespace)


@pytest.fixture(scope="module")
def shared(cluster: Cluster, pod_image: str, locust_image: str) -> Iterator[Release]:
    """A release with pods of a quarter of a core, for all tests of a module; each leaves it as it was."""
    del pod_image, locust_image
    with installed(cluster, *QUARTER_CORE, *QUICK_STOP) as release:
        yield release


@pytest.fixture(scope="session")
def overload(cluster: Cluster, pod_image: str, locust_image: str) -> Iterator[Overload]:
    """A pod of 100m with ten times its load, and the report of that stage.

    It takes two minutes, in which other tests, which do not measure, use the cluster too.
    """
    del pod_image, locust_image
    rate = 10 * CAPACITY_PER_SECOND
    with installed(cluster, *LIMIT_100M) as release, release.load(OVERLOADED_SECONDS, rate_per_second=rate) as report:
        yield release, report
