"""A release in a namespace of its own."""

import uuid
from collections.abc import Iterator

import pytest

from tests.cluster.cluster import Cluster
from tests.e2e.kubernetes.release import QUARTER_CORE, QUICK_STOP, Release


@pytest.fixture
def release(cluster: Cluster, namespace: str, pod_image: str, locust_image: str) -> Release:
    """A release that is yet to be installed; the images are on the nodes."""
    del pod_image, locust_image
    return Release(cluster, namespace)


@pytest.fixture(scope="module")
def shared(cluster: Cluster, pod_image: str, locust_image: str) -> Iterator[Release]:
    """A release with pods of a quarter of a core, for all tests of a module; each leaves it as it was."""
    del pod_image, locust_image
    release = Release(cluster, f"test-{uuid.uuid4().hex[:8]}")
    cluster.kubectl("create", "namespace", release.namespace)
    release.install(*QUARTER_CORE, *QUICK_STOP)
    yield release
    cluster.kubectl("delete", "namespace", release.namespace, "--wait=false")
