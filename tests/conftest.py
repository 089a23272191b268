"""Fixtures that tests of several folders use; pytest finds them here by name."""

from tests.cluster.fixtures import (
    cluster,
    locust_image,
    namespace,
    pod_image,
    program_path,
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_runtest_makereport,
    shown,
    sweep_image,
)

__all__ = [
    "cluster",
    "locust_image",
    "namespace",
    "pod_image",
    "program_path",
    "pytest_addoption",
    "pytest_collection_modifyitems",
    "pytest_runtest_makereport",
    "shown",
    "sweep_image",
]
