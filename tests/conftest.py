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
    pytest_sessionfinish,
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
    "pytest_sessionfinish",
    "shown",
    "sweep_image",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What measures or uses the cluster runs alone, unless it says that it waits; `make test` begins with the rest."""
    tests_in_cluster_last(items)
    for item in items:
        measures = MEASURING & set(item.path.parents) or set(IN_CLUSTER) & set(getattr(item, "fixturenames", ()))
        if measures and not item.get_closest_marker("waits"):
            item.add_marker("alone")
