"""A release in a namespace of its own."""

import pytest

from tests.cluster.cluster import Cluster
from tests.e2e.kubernetes.release import Release


@pytest.fixture
def release(cluster: Cluster, namespace: str, pod_image: str, locust_image: str) -> Release:
    """A release that is yet to be installed; the images are on the nodes."""
    del pod_image, locust_image
    return Release(cluster, namespace)
