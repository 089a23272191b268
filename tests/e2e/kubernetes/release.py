"""A release of the chart on the cluster of the tests, and load from its own Locust."""

import contextlib
import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from podscale import contract
from podscale.contract import StageOrder, StageReport
from tests.cluster.cluster import Cluster
from tests.cluster.fixtures import fresh_namespace
from tests.cluster.layout import CHECKOUT
from tests.processes import wait_until

CHART = CHECKOUT / "helm" / "podscale"
FINAL_STATES = {"done", "void", "stopped"}
# A quarter of a core for each pod: a Locust worker and four pods fit on two cores.
QUARTER_CORE = ("resources.requests.cpu=50m", "resources.limits.cpu=250m")
# A pod leaves at once: for tests that scale down while nobody asks anything.
QUICK_STOP = ("preStopSleepSeconds=1", "settings.drainSeconds=1")
# Sixty-four pods, which sleep, fit on two cores.
SMALL = (
    "resources.requests.cpu=10m",
    "resources.requests.memory=40Mi",
    "startupProbe.periodSeconds=2",
    "readinessProbe.periodSeconds=10",
)


@dataclass(frozen=True)
class Release:
    """A release of the chart in a namespace."""

    cluster: Cluster
    namespace: str
    name: str = "podscale"

    @property
    def deployment(self) -> str:
        """The Deployment of the pods, and their Service."""
        return self.name if self.name == "podscale" else f"{self.name}-podscale"

    def install(self, *values: str, chart: Path = CHART, seconds: float = 120) -> str:
        """Install with `values` as `--set` takes them, wait until all is Ready; returns the NOTES."""
        notes = self.helm("install", self.name, str(chart), *_set(values))
        self.wait_until_settled(seconds)
        return notes

    def upgrade(self, *values: str, seconds: float = 120) -> None:
        """Upgrade to the chart of this checkout with the values kept, and wait."""
        self.helm("upgrade", self.name, str(CHART), "--reset-then-reuse-values", *_set(values))
        self.wait_until_settled(seconds)

    def helm(self, *arguments: str, seconds: float = 180) -> str:
        """What helm prints."""
        return self.cluster.run("helm", *arguments, f"--namespace={self.namespace}", seconds=seconds)

    def kubectl(self, *arguments: str, given: str | None = None, seconds: float = 120) -> str:
        """What kubectl prints."""
        return self.cluster.kubectl(*arguments, f"--namespace={self.namespace}", given=given, seconds=seconds)

    def objects(self, kind: str, component: str | None = None) -> list[dict[str, Any]]:
        """All objects of a kind; with `component`, those of that part of this release."""
        labels = f"app.kubernetes.io/instance={self.name},app.kubernetes.io/component={component}"
        chosen = [f"--selector={labels}"] if component else []
        items: list[dict[str, Any]] = json.loads(self.kubectl("get", kind, *chosen, "--output=json"))["items"]
        return items

    def pods(self, component: str = "pod") -> list[dict[str, Any]]:
        """The pods that are not on their way out."""
        return [pod for pod in self.objects("pods", component) if "deletionTimestamp" not in pod["metadata"]]

    def replicas(self) -> int:
        """How many pods the Deployment is asked for."""
        return int(self.kubectl("get", f"deployment/{self.deployment}", "--output=jsonpath={.spec.replicas}"))

    def wait_until_settled(self, seconds: float = 120) -> None:
        """Wait until each Deployment of the release has exactly the pods it asks for, all Ready."""
        for name in self.kubectl(
            "get", "deployments", f"--selector=app.kubernetes.io/instance={self.name}", "-oname"
        ).split():
            self.kubectl("rollout", "status", name, f"--timeout={seconds:.0f}s", seconds=seconds + 10)

    def scale(self, replicas: int, *, workload: str | None = None, seconds: float = 120) -> None:
        """`kubectl scale`, then wait until all are Ready and those to go have gone."""
        self.kubectl("scale", f"deployment/{workload or self.deployment}", f"--replicas={replicas}")
        self.wait_until_settled(seconds)
        component = "pod" if workload is None else "locust-worker"
        wait_until(
            lambda: len(self.objects("pods", component)) == replicas, seconds, f"exactly {replicas} pods of {component}"
        )

    def ask(self, path: str, *, service: str | None = None, port: str = "http") -> str:
        """GET from a Service through the API server."""
        return self.kubectl("get", "--raw", self._path(service or self.deployment, port, path))

    def stage(self, seconds: float, **order: Any) -> StageReport:
        """Run a stage of load to its end; `order` as for `load`."""
        with self.load(seconds, **order) as report:
            wait_until(
                lambda: report()["state"] in FINAL_STATES, seconds + 60, "the end of the stage", every_seconds=0.5
            )
            return report()

    @contextlib.contextmanager
    def load(self, seconds: float, **order: Any) -> Iterator[Callable[[], StageReport]]:
        """A stage of load from this release's Locust while the block runs; gives a function that reads its report.

        `order` holds fields of a StageOrder: `users=16` makes it closed, `rate_per_second=50` open.
        """
        workers = len(self.pods("locust-worker"))
        wait_until(lambda: self._workers() == workers, 60, f"{workers} Locust workers", every_seconds=0.5)
        stage = f"{self.deployment}-locust", "web", contract.STAGE_PATH
        whole = _order(seconds, workers, order)
        self.kubectl("create", "--raw", self._path(*stage), "--filename=-", given=json.dumps(whole))
        try:
            yield lambda: cast("StageReport", json.loads(self.kubectl("get", "--raw", self._path(*stage))))
        finally:
            self.kubectl("delete", "--raw", self._path(*stage))

    def _workers(self) -> int:
        with contextlib.suppress(RuntimeError):  # the page is served a moment after the pod is Ready
            answer = self.ask(contract.WORKERS_PATH, service=f"{self.deployment}-locust", port="web")
            return int(json.loads(answer)["workers"])
        return 0

    def _path(self, service: str, port: str, path: str) -> str:
        return f"/api/v1/namespaces/{self.namespace}/services/{service}:{port}/proxy{path}"


@contextlib.contextmanager
def installed(cluster: Cluster, *values: str, seconds: float = 120) -> Iterator[Release]:
    """A release with these values, all of it Ready, in a namespace of its own."""
    with fresh_namespace(cluster) as namespace:
        release = Release(cluster, namespace)
        release.install(*values, seconds=seconds)
        yield release


def succeeded(report: StageReport) -> bool:
    """Whether the stage was measured whole and no request failed."""
    return report["state"] == "done" and not report["errors"]


def shares(report: StageReport, since: StageReport | None = None) -> dict[str, float]:
    """Each pod's share of all answers so far, or of those after an earlier report of the same stage."""
    earlier = since["total_requests_by_pod"] if since else {}
    counts = {pod: count - earlier.get(pod, 0) for pod, count in report["total_requests_by_pod"].items()}
    total = sum(counts.values())
    return {pod: count / total for pod, count in counts.items() if count}


def _order(seconds: float, workers: int, given: dict[str, Any]) -> StageOrder:
    order = StageOrder(
        id=uuid.uuid4().hex[:8],
        model="open" if "rate_per_second" in given else "closed",
        arrivals="constant",
        rate_per_second=0,
        users=0,
        connections="new",
        warmup_seconds=1,
        measure_seconds=seconds,
        timeout_seconds=30,
        expect_workers=workers,
    )
    order.update(cast("StageOrder", given))
    return order


def _set(values: tuple[str, ...]) -> list[str]:
    return [part for value in values for part in ("--set", value)]
