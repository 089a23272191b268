"""Tests of one stage: the join of both sides' figures."""

import msgspec

from podscale.sweep.measure import old_answers, with_load, with_pods
from podscale.sweep.window import WindowWatch
from tests.sweep import builders
from tests.sweep.test_window import CountingTarget


def test_cpu_seconds_are_those_of_the_window() -> None:
    """Readings two seconds apart around a window of six: the rate is kept, the amount is the window's."""
    target = CountingTarget()
    watch = WindowWatch(target, 6.0)
    before = target.read()
    for state in ("measuring", "draining"):
        watch.see(builders.report(state=state))
    stage = with_pods(builders.stage(), before, target.read(), watch)
    assert stage.cpu_seconds == 3.0
    assert stage.server_requests == 150
    assert stage.memory_bytes == 7


def test_a_stage_takes_the_loads_figures_and_no_throughput_without_answers() -> None:
    """Figures go over as they are; where no good answer came there is no throughput, not 0."""
    stage = with_load(builders.stage(), builders.report(errors={"reset": 2, "timeout": 0}, completed_per_second=48.0))
    assert stage.throughput_per_second == 48.0
    assert stage.errors == {"reset": 2}
    assert stage.client_requests == 400
    assert stage.latency_seconds == builders.latency()
    assert stage.timeline is None
    silent = builders.report(latency_seconds=None, naive_latency_seconds=None, completed_per_second=0.0)
    assert with_load(builders.stage(), silent).throughput_per_second is None


def test_a_stage_takes_the_loads_timeline() -> None:
    """Step by step, with what is unknown as None."""
    timeline = {
        "start_seconds": -1.0,
        "step_seconds": 1.0,
        "answers": [3, 0],
        "failures": [0, 2],
        "p50_seconds": [0.1, None],
        "p99_seconds": [0.2, None],
    }
    stage = with_load(builders.stage(), builders.report(timeline=timeline))
    assert stage.timeline is not None
    assert msgspec.to_builtins(stage.timeline) == timeline


def test_answers_of_pods_that_were_to_go_are_counted_apart() -> None:
    """Neither silence nor a service that names no pods is one of them; the pods' own counters do not have them."""
    assert old_answers({"a": 5, "gone": 3, "unknown": 2}, {"a", "b"}) == 3
    assert old_answers({"unknown": 7}, {"a"}) == 0
    assert old_answers({"a": 5}, set()) == 0
    report = builders.report(total_requests_by_pod={"a": 90, "gone": 6, "unknown": 4})
    assert with_load(builders.stage(), report, {"a"}).client_requests == 94
