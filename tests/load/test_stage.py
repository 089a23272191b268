"""A stage from its order to its end, whichever way it ends."""

import time

import pytest

from tests.load.locusts import Locusts


def test_a_stage_goes_its_way(locusts: Locusts) -> None:
    """It shows its states in order, the time left and the figures so far, and the next one can follow at once."""
    order = locusts.order(scenario="Delay", warmup_seconds=1.0, measure_seconds=2.0)
    answer = locusts.post(order)
    assert (answer.status_code, answer.json()["state"]) == (202, "starting")
    assert answer.json()["order"] == order
    left = locusts.wait_for("warmup")["seconds_left"]
    assert 1.5 < left <= 3.5
    assert locusts.post(order).status_code == 409
    locusts.wait_for("measuring")
    time.sleep(1.5)
    partial = locusts.report()
    assert partial["state"] == "measuring"
    assert 50 <= partial["requests"] <= 200
    assert partial["latency_seconds"] is not None
    assert partial.get("timeline") is None
    report = locusts.wait_for("done")
    assert report["seconds_left"] == 0
    assert report["measured_seconds"] == pytest.approx(2.0)
    assert report["window_started_at"] is not None
    assert report["window_ended_at"] == pytest.approx(report["window_started_at"] + 2.0)
    timeline = report.get("timeline")
    assert timeline is not None
    assert (timeline["start_seconds"], timeline["step_seconds"]) == (-1.0, 1.0)
    assert timeline["answers"][:3] == pytest.approx([100, 100, 100], abs=10)
    assert sum(timeline["answers"]) == sum(report["total_requests_by_pod"].values())
    assert sum(timeline["failures"]) == 0
    ended_at = time.monotonic()
    locusts.post(order | {"id": "next", "warmup_seconds": 0})
    locusts.wait_for("measuring")
    assert time.monotonic() - ended_at < 2
    locusts.delete()


def test_a_stopped_stage_keeps_what_it_measured(locusts: Locusts) -> None:
    """DELETE ends it within a few seconds; the figures are those of the part of the window that has passed."""
    locusts.post(locusts.order(scenario="Slow", rate_per_second=100, measure_seconds=60))
    locusts.wait_for("measuring")
    time.sleep(1.5)
    answer = locusts.delete()
    report = answer.json()
    assert answer.status_code == 200
    assert (report["state"], report["reason"]) == ("stopped", "stopped by request")
    assert 1.4 < report["measured_seconds"] < 4
    assert report["arrivals"] == pytest.approx(100 * report["measured_seconds"], abs=2)
    # The ten visits that were on their way are neither answers nor failures.
    assert report["errors"] == {}
    assert report["arrivals"] - 20 <= report["requests"] < report["arrivals"]


def test_a_lost_worker_voids_the_stage(locusts: Locusts) -> None:
    """A worker that is killed makes the stage void with a reason; what was measured until then stays."""
    locusts.post(locusts.order(scenario="Delay", measure_seconds=60))
    locusts.wait_for("measuring")
    # Long enough for a report of each worker.
    time.sleep(1.2)
    locusts.workers[0].popen.kill()
    locusts.workers.pop(0).popen.wait(5)
    try:
        report = locusts.wait_for("void", 15)
    finally:
        locusts.start_worker()
    assert "went missing" in report["reason"]
    assert (report["generator"]["workers"], report["generator"]["lost_workers"]) == (2, 1)
    assert report["requests"] >= 100
    assert report["latency_seconds"] is not None


def test_missing_workers_void_the_stage_before_any_load(locusts: Locusts) -> None:
    """The wait for workers has an end, and its reason counts them."""
    started_at = time.monotonic()
    report = locusts.run(expect_workers=3)
    assert report["state"] == "void"
    assert report["reason"] == "2 of 3 workers are ready after 2 s"
    assert report["arrivals"] == 0
    assert time.monotonic() - started_at < 6
