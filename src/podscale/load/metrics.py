"""The newest stage as Prometheus metrics, which Locust's master serves itself: nothing runs beside it."""

from collections.abc import Callable, Iterator, Mapping
from typing import get_args

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from podscale import contract
from podscale.contract import ErrorClass, Quantiles, StageReport

# The label `quantile` and the field of Quantiles.
QUANTILES = (("0.5", "p50"), ("0.9", "p90"), ("0.99", "p99"), ("0.999", "p999"), ("1", "max"))
# While arrivals are due.
SENDING = ("warmup", "measuring")


class StageCollector(Collector):
    """Reads the stage when it is scraped.

    Args:
        newest: the report of the newest stage, None before the first.
        users: how many users Locust runs now.
        workers: how many workers it hears from.
    """

    def __init__(
        self, newest: Callable[[], StageReport | None], users: Callable[[], int], workers: Callable[[], int]
    ) -> None:
        self._newest = newest
        self._users = users
        self._workers = workers

    def collect(self) -> Iterator[Metric]:
        """All of it now."""
        yield GaugeMetricFamily(
            contract.LOAD_USERS, "Users that Locust runs; they idle in the open model.", self._users()
        )
        yield GaugeMetricFamily(contract.LOAD_WORKERS, "Workers that the master hears from.", self._workers())
        report = self._newest()
        if report is not None:
            yield from stage_metrics(report)


def stage_metrics(report: StageReport) -> Iterator[Metric]:
    """The metrics of one stage. Pure."""
    yield _info(report)
    yield from _counters(report)
    yield from _gauges(report)
    for name, text, latency in (
        (contract.LOAD_LATENCY_SECONDS, "From the intended send time.", report["latency_seconds"]),
        (contract.LOAD_SERVICE_SECONDS, "From the actual send time.", report["naive_latency_seconds"]),
    ):
        yield _quantiles(name, f"Time of good answers in the window so far. {text}", latency)


def _info(report: StageReport) -> Metric:
    order = report["order"]
    labels = {"stage": order["id"], "model": order["model"], "state": report["state"]}
    return InfoMetricFamily(contract.LOAD_STAGE_INFO.removesuffix("_info"), "The newest stage.", labels)


def _counters(report: StageReport) -> Iterator[Metric]:
    generator = report["generator"]
    for name, text, value in (
        (contract.LOAD_SENT, "Visits of the window that were sent.", report["arrivals"] - generator["dropped"]),
        (contract.LOAD_LATE, "Of those, sent more than 10 ms after they were due.", generator["late"]),
        (contract.LOAD_DROPPED, "Visits of the window that were never sent.", generator["dropped"]),
        (
            contract.LOAD_GOOD_ANSWERS,
            "Good answers that ended within the window.",
            round(report["completed_per_second"] * report["measured_seconds"]),
        ),
        (contract.LOAD_THROTTLED_SECONDS, "Time for which quotas held workers back.", generator["throttled_seconds"]),
    ):
        if value is not None:
            yield CounterMetricFamily(name, text, value)
    errors = dict.fromkeys(get_args(ErrorClass), 0) | report["errors"]
    yield _by_label(contract.LOAD_ERRORS, "Visits of the window that failed.", "error", errors)
    yield _by_label(
        contract.LOAD_REQUESTS,
        "Answers and failures of the window, by the pod that answered.",
        "target_pod",
        report["requests_by_pod"],
    )


def _gauges(report: StageReport) -> Iterator[Metric]:
    order, generator = report["order"], report["generator"]
    sending = order["model"] == "open" and report["state"] in SENDING
    for name, text, value in (
        (
            contract.LOAD_ASKED_PER_SECOND,
            "Arrivals that are due, over all workers.",
            order["rate_per_second"] if sending else None,
        ),
        (contract.LOAD_LOST_WORKERS, "Workers that went missing in the stage.", generator["lost_workers"]),
        (contract.LOAD_CPU_RATIO, "CPU of the busiest worker in the window, of one core.", generator["cpu_fraction"]),
        (
            contract.LOAD_SEND_LAG_P99_SECONDS,
            "How late the window's visits were sent, p99.",
            generator["send_lag_p99_seconds"],
        ),
    ):
        if value is not None:
            yield GaugeMetricFamily(name, text, value)


def _quantiles(name: str, text: str, latency: Quantiles | None) -> Metric:
    family = GaugeMetricFamily(name, text, labels=["quantile"])
    if latency is not None:
        for label, field in QUANTILES:
            family.add_metric([label], latency[field])  # type: ignore[literal-required]  # its fields, by name
    return family


def _by_label(name: str, text: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=[label])
    for value, count in sorted(counts.items()):
        family.add_metric([value], count)
    return family
