"""Tests of the figures, each read from one stage."""

import pytest

from podscale.sweep.reproduce.figures import FIGURES, figures_of
from podscale.sweep.results import Budget, Latency, Recovery
from tests.sweep import builders

THREE = Latency(p50=2.0, p90=3.0, p99=3.0, p999=3.0, max=3.0, mean=2.0)


def test_three_answers_of_a_burst_are_told_apart() -> None:
    """First, second and last of 1, 2 and 3 s; the cores are those of all the time until the last."""
    stage = builders.stage(requests=3, latency_seconds=THREE, total_cpu_seconds=2.7)
    found = figures_of(stage, ("first", "median", "last", "cores"))
    assert found == pytest.approx({"first": 1.0, "median": 2.0, "last": 3.0, "cores": 0.9})


def test_a_burst_that_lost_a_request_has_no_last_answer() -> None:
    """What did not come back is not known to have been faster."""
    stage = builders.stage(requests=3, latency_seconds=THREE, errors={"timeout": 1}, total_cpu_seconds=2.7)
    assert figures_of(stage, ("first", "last", "cores")) == {"first": None, "last": None, "cores": None}


def test_the_cpu_of_one_answer_becomes_what_all_processes_could_answer() -> None:
    """Two processes at 10 ms of CPU each: 200 a second; unknown where the CPU is."""
    assert figures_of(builders.stage(2, cpu_seconds_per_request=0.01), ("capacity",)) == {"capacity": 200.0}
    assert figures_of(builders.stage(2, cpu_seconds_per_request=None), ("capacity",)) == {"capacity": None}


def test_unevenness_counts_processes_that_never_answered() -> None:
    """90 and 30 of two are 1.5 times the mean; all at one of two is twice; failures belong to nobody."""
    uneven = builders.stage(2, requests_by_process={"a": 90, "b": 30, "unknown": 7})
    assert figures_of(uneven, ("unevenness", "processes")) == {"unevenness": 1.5, "processes": 2}
    lonely = builders.stage(2, requests_by_process={"a": 120})
    assert figures_of(lonely, ("unevenness", "processes")) == {"unevenness": 2.0, "processes": 1}


def test_a_stage_that_does_not_count_has_no_figures() -> None:
    """Void is unknown, not 0; nor is there a figure where nothing was measured at all."""
    void = figures_of(builders.stage(valid=False), tuple(FIGURES))
    assert set(void.values()) == {None}
    empty = builders.stage(latency_seconds=None, throughput_per_second=None, memory_bytes=None, requests_by_process={})
    found = figures_of(empty, ("throughput", "median", "p99", "memory", "processes", "until_full", "failed"))
    assert set(found.values()) == {None}


def test_a_recovery_tells_its_time_and_its_losses() -> None:
    """None failed is 0, and not unknown."""
    stage = builders.stage(recovery=Recovery(killed="pod-1", failed_requests=0, seconds_until_full=0.4))
    assert figures_of(stage, ("until_full", "failed")) == {"until_full": 0.4, "failed": 0}


def test_a_quota_stretches_a_job_of_cpu_time_and_not_one_of_the_time_of_day() -> None:
    """100 ms of CPU on half a core take 200 ms; spinning for 100 ms takes 100 ms."""
    half = Budget(pods=1, processes_per_pod=1, cpu_cores_per_pod=0.5, limited=True)
    for clock, seconds in (("cpu", 0.2), ("wall", 0.1)):
        asked = builders.asked(options={"cpu_time_ms": 100.0, "clock": clock})
        assert figures_of(builders.stage(asked=asked, budget=half), ("job",)) == {"job": seconds}


def test_queueing_says_what_the_tail_would_be_without_a_quota() -> None:
    """Evenly spaced at 60 %: workers never wait, pods do, by chance; a closed stage has no such figure."""
    options = {"cpu_time_ms": 20.0, "clock": "cpu"}
    asked = builders.asked(model="open", arrivals="constant", rate_per_second=60.0, users=None, options=options)
    found = {}
    for pods, processes in ((2, 1), (1, 2)):
        budget = Budget(pods=pods, processes_per_pod=processes, cpu_cores_per_pod=float(processes), limited=False)
        stage = builders.stage(2, asked=asked, budget=budget)
        found[pods] = figures_of(stage, ("p99_by_queueing",))["p99_by_queueing"] or 0.0
    assert found[1] == 0.02
    assert 0.03 < found[2] < 0.2
    assert figures_of(builders.stage(2), ("p99_by_queueing",)) == {}
