"""What tests ask for by name: the cluster, a namespace of their own, the images, and single programs.

`--cluster=own` (the default) starts a cluster, or takes the one of `make cluster-up`; `--cluster=existing` takes the
one that KUBECONFIG names, whose nodes must have the images already. Where a cluster cannot be had the tests are
skipped with the reason, but with CI=true they fail.
"""

import contextlib
import os
import shutil
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

import pytest

from tests.cluster import cluster as clusters
from tests.cluster import images, processes
from tests.cluster.cluster import Cluster
from tests.cluster.diagnosis import diagnose
from tests.cluster.layout import Layout, NotStartedError
from tests.cluster.programs import program
from tests.processes import give_up

T = TypeVar("T")
Quiet = Callable[[], AbstractContextManager[None]]
IN_CLUSTER = ("cluster", "pod_image", "locust_image", "sweep_image", "prometheus_image")
PREPARED = (*IN_CLUSTER, "program_path")
RESTRICTED = "pod-security.kubernetes.io/enforce=restricted"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Choose the cluster."""
    parser.addoption(
        "--cluster",
        choices=("own", "existing"),
        default="own",
        help="own: start a Kubernetes on this machine; existing: use the one that KUBECONFIG names",
    )


def tests_in_cluster_last(items: list[pytest.Item]) -> None:
    """Tests in the cluster come last, and their time limit is their own.

    A running cluster takes CPU from tests that measure. What it needs to be built and started has limits of its own.
    """
    items.sort(key=lambda item: bool(set(IN_CLUSTER) & set(getattr(item, "fixturenames", ()))))
    for item in items:
        prepares = isinstance(item, pytest.Function) and set(PREPARED) & set(item.fixturenames)
        if prepares and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(300, func_only=True))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failed test in the cluster tells what the cluster has to say about it."""
    report = yield
    values = getattr(item, "funcargs", {})
    if report.failed and "namespace" in values and "cluster" in values:
        report.sections.append(("Cluster", diagnose(values["cluster"], values["namespace"])))
    return report


@pytest.hookimpl(trylast=True)  # pytest-xdist ends its workers before
def pytest_sessionfinish() -> None:
    """The cluster goes with the run that started it."""
    if clusters.belongs_to_this_process(Layout()):
        clusters.down(Layout())


@pytest.fixture(scope="session")
def shown(request: pytest.FixtureRequest) -> Quiet:
    """Lets through what is said while something long is prepared."""
    manager = request.config.pluginmanager.getplugin("capturemanager")
    assert manager is not None
    switch: Quiet = manager.global_and_fixture_disabled
    return switch


@pytest.fixture(scope="session")
def program_path(shown: Quiet) -> Callable[[str], Path]:
    """The path of a program of the test cluster, such as helm or kubeconform; built when it is first asked for."""

    def path(name: str) -> Path:
        with shown():
            return or_skip(lambda: program(name))

    return path


@pytest.fixture(scope="session")
def cluster(request: pytest.FixtureRequest, shown: Quiet) -> Cluster:
    """A running Kubernetes, one for all tests, also for those of other workers of pytest-xdist."""
    if request.config.getoption("--cluster") == "existing":
        return or_skip(_existing)
    with shown():
        return or_skip(lambda: clusters.up(Layout(), owner=processes.this_run()))


@pytest.fixture(scope="session")
def pod_image(cluster: Cluster, shown: Quiet) -> str:
    """The image that serves, built from this checkout, on every node."""
    return _provide(images.POD, cluster, shown)


@pytest.fixture(scope="session")
def locust_image(cluster: Cluster, shown: Quiet) -> str:
    """The image that loads, built from this checkout, on every node."""
    return _provide(images.LOCUST, cluster, shown)


@pytest.fixture(scope="session")
def sweep_image(cluster: Cluster, shown: Quiet) -> str:
    """The image that sweeps, built from this checkout, on every node."""
    return _provide(images.SWEEP, cluster, shown)


@pytest.fixture(scope="session")
def prometheus_image(cluster: Cluster, shown: Quiet) -> str:
    """Prometheus, built from its Go module, on every node."""
    return _provide(images.PROMETHEUS, cluster, shown, images.build_prometheus)


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace for one test; it refuses pods that are not `restricted`."""
    with fresh_namespace(cluster) as name:
        yield name


@contextlib.contextmanager
def fresh_namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace that refuses pods that are not `restricted`, and is deleted at the end."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    cluster.kubectl("create", "namespace", name)
    cluster.kubectl("label", "namespace", name, RESTRICTED)
    cluster.kubectl("wait", "--for=create", "serviceaccount/default", f"--namespace={name}")  # pods are refused before
    try:
        yield name
    finally:
        cluster.kubectl("delete", "namespace", name, "--wait=false")


def _provide(image: str, cluster: Cluster, shown: Quiet, build: Callable[[str], object] = images.build) -> str:
    with shown():
        or_skip(lambda: cluster.provide(image, build, processes.this_run()))
    return image


def _existing() -> Cluster:
    kubeconfig = os.environ.get("KUBECONFIG")
    if not kubeconfig:
        raise NotStartedError("missing: KUBECONFIG, which says where the cluster of --cluster=existing is")
    missing = [name for name in ("kubectl", "helm") if shutil.which(name) is None]
    if missing:
        raise NotStartedError(f"missing: {', '.join(missing)}, to use the cluster of KUBECONFIG")
    return Cluster(Path(kubeconfig))


def or_skip(attempt: Callable[[], T]) -> T:
    """What `attempt` gives; if that cannot be had here the test is skipped, or fails with CI=true."""
    try:
        return attempt()
    except NotStartedError as error:
        give_up(f"no test cluster here: {error}")
