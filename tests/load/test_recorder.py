"""Counting and timing: exact to three digits, and the same after the way over the wire."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podscale.load.recorder import UNKNOWN, Histogram, Recorder

TIMES = st.lists(st.floats(1e-6, 3600), min_size=1, max_size=300)


def _at_rank(seconds: list[float], percent: float) -> float:
    """The value at rank round(percent * n / 100), half up: what the histogram is asked for."""
    return sorted(seconds)[max(int(percent * len(seconds) / 100 + 0.5), 1) - 1]


@given(TIMES)
def test_percentiles_are_exact_to_three_digits(seconds: list[float]) -> None:
    """Each is within a thousandth of the sorted list's, and a microsecond; the maximum and the mean are exact."""
    histogram = Histogram()
    for one in seconds:
        histogram.record(one)
    quantiles = histogram.quantiles()
    assert quantiles is not None
    measured = (quantiles["p50"], quantiles["p90"], quantiles["p99"], quantiles["p999"])
    for value, percent in zip(measured, (50, 90, 99, 99.9), strict=True):
        assert value == pytest.approx(_at_rank(seconds, percent), rel=0.001, abs=1e-6)
        assert value <= quantiles["max"]
    assert quantiles["max"] == pytest.approx(max(seconds), abs=1e-6)
    assert quantiles["mean"] == pytest.approx(sum(seconds) / len(seconds), abs=1e-6)
    assert histogram.percentile(99) == quantiles["p99"]


@given(st.lists(TIMES, min_size=1, max_size=5))
def test_workers_add_up_as_if_they_were_one(workers: list[list[float]]) -> None:
    """Histograms that came as messages and were added have the percentiles of all times together."""
    total, alone = Histogram(), Histogram()
    for seconds in workers:
        one = Histogram()
        for value in seconds:
            one.record(value)
            alone.record(value)
        total.add(json.loads(json.dumps(one.wire())))
    assert total.quantiles() == alone.quantiles()
    assert total.encode() == alone.encode()


def test_nothing_recorded_is_unknown() -> None:
    """No time gives no quantile, not 0; adding nothing changes nothing."""
    histogram = Histogram()
    histogram.add(Histogram().wire())
    assert (histogram.quantiles(), histogram.percentile(99), histogram.encode()) == (None, None, None)


def test_times_beyond_the_range_do_not_vanish() -> None:
    """They count as its ends: 0 and an hour."""
    histogram = Histogram()
    for seconds in (-1.0, 0.0, 1e9):
        histogram.record(seconds)
    quantiles = histogram.quantiles()
    assert quantiles is not None
    assert (quantiles["p50"], quantiles["max"]) == (0.0, 3600.0)


def test_what_belongs_to_the_window_is_counted_there() -> None:
    """Totals hold everything, the window its own visits, latencies good answers only, throughput what ended in it."""
    recorder = Recorder()
    recorder.due()
    recorder.due()
    recorder.dropped()
    recorder.sent(0.001)
    recorder.sent(0.011)
    pod = {"pod": "a", "process": "a/7"}
    recorder.request(None, counted=True, ended_in_window=True, latency_seconds=0.2, service_seconds=0.1, **pod)
    recorder.request(None, counted=True, ended_in_window=False, latency_seconds=0.4, service_seconds=0.3, **pod)
    recorder.request(None, counted=False, ended_in_window=True, latency_seconds=9, service_seconds=9, **pod)
    recorder.request("http_5xx", counted=True, ended_in_window=True, latency_seconds=9, service_seconds=9, **pod)
    recorder.request("refused", counted=True, ended_in_window=True)
    assert recorder.counts == {"arrivals": 2, "requests": 4, "completed": 2, "late": 1, "dropped": 1}
    assert recorder.tallies["errors"] == {"http_5xx": 1, "refused": 1}
    assert recorder.tallies["by_pod"] == {"a": 3, UNKNOWN: 1}
    assert recorder.tallies["by_process"] == {"a/7": 3, UNKNOWN: 1}
    assert recorder.tallies["total_by_pod"] == {"a": 4, UNKNOWN: 1}
    latency, naive = recorder.times["latency"].quantiles(), recorder.times["naive"].quantiles()
    assert latency is not None
    assert naive is not None
    assert latency["mean"] == pytest.approx(0.3)
    assert (latency["max"], naive["max"]) == (0.4, 0.3)


def test_records_add_up() -> None:
    """Two workers' records, through a message, are the sum of both."""
    total = Recorder()
    for error in (None, "timeout"):
        one = Recorder()
        one.due()
        one.request(error, counted=True, ended_in_window=True, latency_seconds=1, service_seconds=1, pod="a")
        total.add(json.loads(json.dumps(one.record())))
    assert total.counts == {"arrivals": 2, "requests": 2, "completed": 1, "late": 0, "dropped": 0}
    assert total.tallies["errors"] == {"timeout": 1}
    assert total.tallies["total_by_pod"] == {"a": 2}
