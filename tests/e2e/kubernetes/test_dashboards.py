"""The dashboards against a real Prometheus: every query has data, and says what pods and Locust measured themselves."""

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitoring import alerts, queries
from monitoring.queries import REPLICAS, REPLICAS_CHANGE
from podscale import contract
from podscale.contract import StageReport
from podscale.pod.metrics import BUCKETS_SECONDS
from tests.cluster.layout import CHECKOUT
from tests.e2e.kubernetes.prometheus import Prometheus, dashboards, panels
from tests.e2e.kubernetes.release import QUARTER_CORE, Release
from tests.processes import wait_until

SCRAPE_SECONDS = 1
# Between the two readings of the pods. Panels have their rates over the same time here: of four scrapes each is another
# piece of it, and on a busy machine no piece is like the next.
MEASURED_SECONDS = 20
# A scrape is half an interval old, or more.
OLD_SECONDS = 1
# Before them the counters of the window must have come by way of a worker, the master and a scrape.
SETTLING_SECONDS = 3
WINDOW_SECONDS = MEASURED_SECONDS + SETTLING_SECONDS + 5
CORES = 0.25
# Two pods at their limit do about ten of these a second. Each is longer than the quota of a period, so that it is
# throttled however much there is to do; and no queue grows, so that all stays as it is.
PER_SECOND = 4
JOB = {"cpu_time_ms": 50}
VALUES = (
    *QUARTER_CORE,
    "prometheus.enabled=true",
    "dashboards.enabled=true",
    f"prometheus.scrapeInterval={SCRAPE_SECONDS}s",
    f"prometheus.scrapeTimeout={SCRAPE_SECONDS}s",
)
NEAR = 0.05
TIME = "time"

Counters = dict[str, float]


@dataclass(frozen=True)
class Measured:
    """A stage of load as all sides saw it: Prometheus, Locust, and each pod at the beginning and at the end."""

    prometheus: Prometheus
    report: StageReport
    before: dict[str, Counters]
    after: dict[str, Counters]
    ended: float

    def shown(self, query: str) -> dict[str, float]:
        """What a panel shows of the time between the two readings, by pod."""
        return self.prometheus.over(query, MEASURED_SECONDS, self.ended + OLD_SECONDS)


def test_every_query_has_data_and_the_panels_tell_the_truth(release: Release, prometheus_image: str) -> None:
    """Of a fresh install under load: panels, variables, annotations and rules; ten panels within 5 % of the source."""
    del prometheus_image
    release.install(*VALUES)
    prometheus = Prometheus(release, SCRAPE_SECONDS)
    wait_until(lambda: bool(prometheus.values(REPLICAS.name)), 30, "the first recorded series", every_seconds=0.5)
    release.scale(2)
    measured = run(release, prometheus)
    assert empty_queries(prometheus, measured.ended) == []
    check_rules(prometheus, measured.ended)
    pairs = compared(measured)
    assert {name: pair for name, pair in pairs.items() if pair[0] != pytest.approx(pair[1], rel=NEAR)} == {}
    check_p99_of_the_pods(measured)


def run(release: Release, prometheus: Prometheus) -> Measured:
    """A stage of open arrivals, with the pods' own counters read within its window."""
    with release.load(WINDOW_SECONDS, rate_per_second=PER_SECOND, options=JOB, warmup_seconds=2) as report:
        wait_until(lambda: report()["state"] == "measuring", 30, "the window", every_seconds=0.2)
        time.sleep(SETTLING_SECONDS)
        before = read_pods(release)
        time.sleep(MEASURED_SECONDS)
        ended, after = time.time(), read_pods(release)
        wait_until(lambda: report()["state"] == "done", 60, "the end of the stage", every_seconds=0.5)
        time.sleep(2 * SCRAPE_SECONDS)
        return Measured(prometheus, report(), before, after, ended)


def read_pods(release: Release) -> dict[str, Counters]:
    """The metrics without labels of each pod, from itself."""
    found = {}
    for pod in release.pods():
        name = pod["metadata"]["name"]
        path = f"/api/v1/namespaces/{release.namespace}/pods/{name}:{contract.ADMIN_PORT}/proxy{contract.METRICS}"
        text = release.kubectl("get", "--raw", path)
        samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
        found[name] = {sample.name: sample.value for sample in samples if not sample.labels} | {TIME: time.time()}
    return found


def empty_queries(prometheus: Prometheus, at: float) -> list[str]:
    """Panels, variables and annotations that have nothing to show."""
    empty = []
    for dashboard in dashboards():
        for title, targets in panels(dashboard).items():
            empty += [f"{title} / {legend}" for legend, query in targets.items() if not prometheus.values(query, at)]
        for variable in dashboard["templating"]["list"]:
            if variable["type"] == "query" and not choices(prometheus, variable["query"]["query"]):
                empty.append(f"{dashboard['title']} / ${variable['name']}")
    if not prometheus.happened(REPLICAS_CHANGE, at - 120, at):
        empty.append("annotation")
    return empty


def choices(prometheus: Prometheus, query: str) -> list[str]:
    """What a variable offers: label_values(metric, label)."""
    series, _, label = query.removeprefix("label_values(").removesuffix(")").rpartition(", ")
    found: list[str] = prometheus.ask(f"label/{label}/values", **{"match[]": prometheus.filled(series)})
    return found


def check_rules(prometheus: Prometheus, at: float) -> None:
    """All are there and can be evaluated; what they record and what they look at has values; none goes off."""
    groups = prometheus.ask("rules")["groups"]
    rules = {rule["name"]: rule for group in groups for rule in group["rules"]}
    expected = {rule.name for rule in queries.RECORDED} | {
        alert.name for alert in alerts.ALERTS if not alert.needs_autoscaling
    }
    assert rules.keys() == expected
    assert [rule for rule in rules.values() if rule["health"] != "ok"] == []
    for rule in queries.RECORDED:
        assert prometheus.values(rule.name, at), rule.name
    for alert in alerts.ALERTS:
        value = alert.value.replace(queries.RELEASE, prometheus.release.name)
        assert prometheus.values(value, at), alert.name
    assert [alert for alert in prometheus.ask("alerts")["alerts"] if alert["state"] == "firing"] == []


def compared(measured: Measured) -> dict[str, tuple[float, float]]:
    """What a central panel shows, and what was measured without Prometheus."""
    prometheus, report = measured.prometheus, measured.report
    latency, service = report["latency_seconds"], report["naive_latency_seconds"]
    assert latency is not None
    assert service is not None
    panel = {name: query for board in dashboards() for name, query in panels(board).items()}
    scaled, loaded = "podscale / Scaling / timeseries", "podscale / Load / timeseries"

    def shown(name: str, legend: str) -> float:
        return sum(measured.shown(panel[name][legend]).values())

    cpu_fraction = report["generator"]["cpu_fraction"]
    assert cpu_fraction is not None

    def last(name: str, legend: str) -> float:
        return prometheus.value(panel[name][legend])

    pairs = {
        "replicas": (prometheus.value(panel[f"{scaled} / Replicas"]["replicas"], measured.ended), len(measured.after)),
        "requests": (shown(f"{scaled} / Requests per second by pod", "{{pod}}"), report["completed_per_second"]),
        "good answers": (shown(f"{loaded} / Rate asked and sent", "good answers"), report["completed_per_second"]),
        "sent": (shown(f"{loaded} / Rate asked and sent", "sent"), PER_SECOND),
        "client p50": (last(f"{loaded} / Latency that clients see", "p50"), latency["p50"]),
        "client p99": (last(f"{loaded} / Latency that clients see", "p99"), latency["p99"]),
        "service p99": (last(f"{loaded} / Service time", "p99"), service["p99"]),
        "workers": (last(f"{loaded} / Users and workers", "workers"), report["generator"]["workers"]),
        "generator": (last(f"{loaded} / CPU of the generator", "busiest worker"), cpu_fraction),
    }
    return pairs | of_the_pods(measured, panel)


def of_the_pods(measured: Measured, panel: dict[str, dict[str, str]]) -> dict[str, tuple[float, float]]:
    """The panels with a line for each pod, against the pods' own counters; both on average over the pods."""
    before, after = measured.before, measured.after

    def shown(title: str) -> float:
        means = measured.shown(panel[f"podscale / Scaling / timeseries / {title}"]["{{pod}}"])
        assert means.keys() == after.keys()
        return sum(means.values()) / len(means)

    def mean(of_pod: Callable[[str], float]) -> float:
        return sum(map(of_pod, after)) / len(after)

    def grown(metric: str, pod: str) -> float:
        return after[pod][metric] - before[pod][metric]

    cpu = mean(lambda pod: grown(contract.CGROUP_CPU_SECONDS, pod) / grown(TIME, pod) / CORES)
    throttled = mean(lambda pod: grown(contract.CGROUP_THROTTLED_PERIODS, pod) / grown(contract.CGROUP_PERIODS, pod))
    memory = mean(lambda pod: after[pod][contract.CGROUP_MEMORY_BYTES])
    return {
        "CPU": (shown("CPU of the limit"), cpu),
        "throttled": (shown("Throttled"), throttled),
        "memory": (shown("Memory"), memory),
    }


def check_p99_of_the_pods(measured: Measured) -> None:
    """A histogram knows no more than the bucket: the panel's p99 is in that of the clients', or in one next to it."""
    query = queries.quantile(0.99)
    shown = measured.shown(query)[""]
    latency = measured.report["naive_latency_seconds"]
    assert latency is not None
    bounds = [0, *BUCKETS_SECONDS]
    upper = next(number for number, bound in enumerate(bounds) if bound >= latency["p99"])
    assert bounds[upper - 2] <= shown <= bounds[upper + 1], (shown, latency)


@pytest.mark.waits
def test_no_panel_is_empty_on_a_fresh_install(release: Release, prometheus_image: str, tmp_path: Path) -> None:
    """By kubectl, with default values, no CPU limit and closed users: within 90 s each panel has something to show."""
    del prometheus_image
    folders = [os.path.relpath(CHECKOUT / "k8s" / name, tmp_path) for name in ("pods", "locust", "prometheus")]
    kustomization = {"kind": "Kustomization", "namespace": release.namespace, "components": folders}
    (tmp_path / "kustomization.yaml").write_text(json.dumps(kustomization))
    release.kubectl("apply", "--kustomize", str(tmp_path))
    release.wait_until_settled()
    prometheus = Prometheus(release, scrape_seconds=15)
    check_targets(prometheus)
    with release.load(120, users=2, options=JOB):
        wait_until(lambda: not empty_panels(prometheus), 90, "something in each panel", every_seconds=3)


def check_targets(prometheus: Prometheus) -> None:
    """Prometheus finds the pod and Locust's master, and both answer; a first scrape may come before they listen."""

    def errors() -> list[str]:
        return [target["lastError"] for target in prometheus.ask("targets", state="active")["activeTargets"]]

    def answered() -> bool:
        return len(prometheus.values("up == 1")) == len(errors()) == 2

    with contextlib.suppress(TimeoutError):  # what went wrong says more than that it took too long
        wait_until(answered, 60, "two targets", every_seconds=1)
    assert errors() == ["", ""]


def empty_panels(prometheus: Prometheus) -> list[str]:
    """Panels that have nothing at all to show now."""
    targets = {name: queries for board in dashboards() for name, queries in panels(board).items()}
    return [name for name, queries in targets.items() if not any(map(prometheus.values, queries.values()))]
