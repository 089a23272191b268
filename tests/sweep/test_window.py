"""Tests of the readings around a measuring window."""

from podscale.sweep.scrape import PodReading
from podscale.sweep.window import WindowWatch, sampled_within
from tests.sweep import builders
from tests.sweep.test_run import PretendedTarget


class CountingTarget(PretendedTarget):
    """A pod that has used one more CPU second and served fifty more requests at each reading."""

    def __init__(self) -> None:
        super().__init__()
        self.readings = 0

    def read(self) -> list[PodReading]:
        self.readings += 1
        n = self.readings
        return [PodReading(pod="pod-1", at_seconds=n * 2.0, requests=n * 50.0, cpu_seconds=n * 1.0, memory_bytes=7.0)]


def test_pods_are_read_when_the_window_opens_and_closes_and_at_no_other_time() -> None:
    """However often a state is heard, there are two readings."""
    target = CountingTarget()
    watch = WindowWatch(target, 6.0)
    for state in ("starting", "warmup", "measuring", "measuring", "draining", "draining", "done"):
        watch.see(builders.report(state=state))
    assert target.readings == 2
    assert watch.usage().requests == 50
    assert watch.usage().cpu_seconds_per_request == 0.02
    share = watch.node_cpu_fraction()
    assert share is None or 0 <= share <= 1


def test_a_window_that_never_opened_is_unknown() -> None:
    """A stage that was void from the start has no usage, not zero usage."""
    watch = WindowWatch(CountingTarget(), 6.0)
    watch.see(builders.report(state="starting"))
    watch.see(builders.report(state="void"))
    assert watch.usage().cpu_seconds is None
    assert watch.node_cpu_fraction() is None


def test_the_closing_reading_is_taken_before_the_load_ends() -> None:
    """A moment before the window's end is the last one that sees the pods under load."""
    target = CountingTarget()
    watch = WindowWatch(target, 6.0)
    for left in (6.0, 3.0, 0.2, 0.1):
        watch.see(builders.report(state="measuring", seconds_left=left))
    assert target.readings == 2
    assert watch.unread() is None


def test_a_reading_that_came_late_is_no_figure() -> None:
    """An API server that was away held us up: the load had ended long before, so CPU is unknown, and that is said."""
    times = iter([0.0, 0.0, 0.0, 20.0, 20.0, 20.0])
    watch = WindowWatch(CountingTarget(), 6.0, clock=lambda: next(times))
    watch.see(builders.report(state="measuring", seconds_left=6.0))
    watch.see(builders.report(state="draining"))
    assert watch.usage().cpu_seconds is None
    assert "could not be read" in str(watch.unread())


def test_counters_with_times_of_their_own_count_within_the_window_alone() -> None:
    """First and last moment in the window for every pod; with one pod's missing there is no sum at all."""
    old, first, last = ([PodReading(pod=pod, at_seconds=at) for pod in ("a", "b")] for at in (95.0, 101.0, 105.0))
    before, after = sampled_within([old, first, first, last], (100.0, 106.0))
    assert [reading.at_seconds for reading in before + after] == [101.0, 101.0, 105.0, 105.0]
    assert sampled_within([old, first, last[:1]], (100.0, 106.0)) == ([], [])
    assert sampled_within([first, last], None) == ([], [])
