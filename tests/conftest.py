"""Fixtures that tests of several folders use; pytest finds them here by name."""

from pathlib import Path

import pytest

from tests.cluster.fixtures import (
    IN_CLUSTER,
    cluster,
    locust_image,
    namespace,
    pod_image,
    program_path,
    prometheus_image,
    pytest_addoption,
    pytest_runtest_makereport,
    shown,
    sweep_image,
    tests_in_cluster_last,
)

# Rooms in which each test measures, or needs a generator that has the machine to itself.
MEASURING = {Path(__file__).parent / "e2e", Path(__file__).parent / "load"}

__all__ = [
    "cluster",
    "locust_image",
    "namespace",
    "pod_image",
    "program_path",
    "prometheus_image",
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_runtest_makereport",
    "shown",
    "sweep_image",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What measures or uses the cluster runs alone; `make test` runs all the rest two at a time before it."""
    tests_in_cluster_last(items)
    for item in items:
        if MEASURING & set(item.path.parents) or set(IN_CLUSTER) & set(getattr(item, "fixturenames", ())):
            item.add_marker("alone")
