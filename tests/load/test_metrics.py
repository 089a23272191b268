"""The stage as Prometheus metrics: from a report, and from a running master."""

import math
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from podscale import contract
from podscale.contract import StageReport
from podscale.load.metrics import StageCollector
from podscale.load.reports import Progress, make_report
from tests.load.locusts import Locusts
from tests.load.test_reports import ORDER, snapshot_of

Key = tuple[str, tuple[tuple[str, str], ...]]


def test_a_report_becomes_metrics() -> None:
    """Each figure has its name of the contract, quantiles are the report's, each reason of failure has a series."""
    snapshots = [snapshot_of("x", cpu=0.9, throttled=1.5, requests=8)]
    report = make_report(ORDER, Progress(state="measuring", workers=1), snapshots, seconds_left=1)
    report["generator"]["dropped"] = 2
    report["errors"] = {"timeout": 3}
    found = scraped(report)
    assert found[contract.LOAD_SENT, ()] == 6
    assert found[contract.LOAD_DROPPED, ()] == 2
    assert found[contract.LOAD_LATE, ()] == 0
    assert found[contract.LOAD_GOOD_ANSWERS, ()] == 8
    assert found[contract.LOAD_ASKED_PER_SECOND, ()] == 10
    assert found[contract.LOAD_CPU_RATIO, ()] == 0.9
    assert found[contract.LOAD_THROTTLED_SECONDS, ()] == 1.5
    assert found[contract.LOAD_USERS, ()] == 5
    assert found[contract.LOAD_WORKERS, ()] == 2
    assert found[contract.LOAD_REQUESTS, (("target_pod", "p"),)] == 8
    assert report["latency_seconds"] is not None
    assert found[contract.LOAD_LATENCY_SECONDS, (("quantile", "0.99"),)] == report["latency_seconds"]["p99"]
    assert found[contract.LOAD_LATENCY_SECONDS, (("quantile", "1"),)] == report["latency_seconds"]["max"]
    errors = {dict(labels)["error"]: value for (name, labels), value in found.items() if name == contract.LOAD_ERRORS}
    assert errors["timeout"] == 3
    assert errors["dns"] == 0
    assert found[contract.LOAD_STAGE_INFO, (("model", "open"), ("stage", "a"), ("state", "measuring"))] == 1


def test_what_is_not_known_has_no_series() -> None:
    """Before the window is no latency or CPU; closed users are asked for no rate, nor is a stage that is over."""
    report = make_report(ORDER, Progress(), [], seconds_left=0)
    names = {name for name, _ in scraped(report)}
    absent = {
        contract.LOAD_LATENCY_SECONDS,
        contract.LOAD_SERVICE_SECONDS,
        contract.LOAD_CPU_RATIO,
        contract.LOAD_THROTTLED_SECONDS,
        contract.LOAD_SEND_LAG_P99_SECONDS,
        contract.LOAD_ASKED_PER_SECOND,
    }
    assert not names & absent
    assert contract.LOAD_SENT in names
    for order, state in ((ORDER | {"model": "closed"}, "measuring"), (ORDER, "done")):
        report = make_report(order, Progress(state=state), [], seconds_left=0)  # type: ignore[arg-type]
        assert contract.LOAD_ASKED_PER_SECOND not in {name for name, _ in scraped(report)}


def test_before_the_first_stage() -> None:
    """There are users and workers, and nothing of a stage."""
    assert {name for name, _ in scraped(None)} == {contract.LOAD_USERS, contract.LOAD_WORKERS}


def test_every_name_of_the_contract_is_served() -> None:
    """A dashboard that takes a name from there finds it."""
    snapshots = [snapshot_of("x", cpu=0.9, throttled=1.5, requests=8)]
    report = make_report(ORDER, Progress(state="measuring", workers=1), snapshots, seconds_left=1)
    wanted = {value for name, value in vars(contract).items() if name.startswith("LOAD_")}
    assert {name for name, _ in scraped(report)} == wanted


def test_a_running_master_serves_them(locusts: Locusts) -> None:
    """On the page's port; while arrivals are sent the counters grow, and in the end they are the report's."""
    locusts.post(locusts.order(rate_per_second=50, warmup_seconds=0.2, measure_seconds=2))
    locusts.wait_for("measuring")
    time.sleep(1)
    during = read(locusts)
    assert during[contract.LOAD_ASKED_PER_SECOND, ()] == 50
    assert 0 < during[contract.LOAD_SENT, ()] < 100
    report = locusts.wait_for("done")
    after = read(locusts)
    assert after[contract.LOAD_SENT, ()] == report["arrivals"]
    assert report["latency_seconds"] is not None
    assert after[contract.LOAD_LATENCY_SECONDS, (("quantile", "0.5"),)] == report["latency_seconds"]["p50"]
    by_pod = {
        dict(labels)["target_pod"]: value for (name, labels), value in after.items() if name == contract.LOAD_REQUESTS
    }
    assert by_pod == report["requests_by_pod"]
    assert after[contract.LOAD_WORKERS, ()] == 2


@pytest.mark.parametrize(
    ("accept", "kind"),
    [("application/openmetrics-text; version=1.0.0", "application/openmetrics-text"), ("*/*", "text/plain")],
)
def test_the_format_that_is_asked_for(locusts: Locusts, accept: str, kind: str) -> None:
    """Prometheus names the formats that it reads; others get plain text."""
    answer = httpx.get(locusts.url + contract.METRICS, headers={"Accept": accept}, timeout=5)
    assert answer.headers["content-type"].startswith(kind)
    assert answer.text.endswith("# EOF\n") == (kind != "text/plain")


def scraped(report: StageReport | None) -> dict[Key, float]:
    """What a scrape gives, by name and labels."""
    registry = CollectorRegistry()
    registry.register(StageCollector(newest=lambda: report, users=lambda: 5, workers=lambda: 2))
    return dict(_samples(generate_latest(registry).decode()))


def read(locusts: Locusts) -> dict[Key, float]:
    """The same from a master."""
    answer = httpx.get(locusts.url + contract.METRICS, timeout=5)
    assert answer.status_code == 200
    return dict(_samples(answer.text))


def _samples(text: str) -> Iterator[tuple[Key, float]]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            assert not math.isnan(sample.value)
            labels: dict[str, Any] = sample.labels
            yield (sample.name, tuple(sorted(labels.items()))), sample.value
