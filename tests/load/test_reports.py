"""The report of all workers together."""

from podscale.contract import StageOrder
from podscale.load.messages import Snapshot
from podscale.load.recorder import Recorder
from podscale.load.reports import Progress, make_report

ORDER: StageOrder = {
    "id": "a",
    "model": "open",
    "arrivals": "constant",
    "rate_per_second": 10,
    "users": 0,
    "connections": "new",
    "warmup_seconds": 0,
    "measure_seconds": 2,
    "timeout_seconds": 5,
    "expect_workers": 2,
}


def snapshot_of(
    host: str, *, cpu: float | None, throttled: float | None, requests: int = 0, window_seconds: float = 2.0
) -> Snapshot:
    """What a worker tells of so many good visits."""
    recorder = Recorder()
    for _ in range(requests):
        recorder.due()
        recorder.sent(0.001)
        recorder.request(None, counted=True, ended_in_window=True, latency_seconds=0.1, service_seconds=0.1, pod="p")
    return {
        "stage": "1/a",
        "final": True,
        "trouble": "",
        "window_seconds": window_seconds,
        "record": recorder.record(),
        "timeline": [],
        "host": host,
        "cpu_fraction": cpu,
        "throttled_seconds": throttled,
    }


def test_workers_add_up() -> None:
    """Counts are sums, the CPU is that of the busiest worker, throttling counts once for each host."""
    snapshots = [
        snapshot_of("x", cpu=0.5, throttled=1.0, requests=3),
        snapshot_of("x", cpu=0.9, throttled=1.5, requests=5),
        snapshot_of("y", cpu=None, throttled=0.25),
    ]
    report = make_report(ORDER, Progress(state="done", workers=3), snapshots, seconds_left=0)
    assert (report["arrivals"], report["requests"], report["requests_by_pod"]) == (8, 8, {"p": 8})
    assert report["completed_per_second"] == 4.0
    assert report["generator"]["cpu_fraction"] == 0.9
    assert report["generator"]["throttled_seconds"] == 1.75
    assert report["latency_seconds"] is not None
    assert report["latency_seconds"]["p99"] == 0.1
    assert report["latency_histogram"] is not None


def test_what_is_not_known_is_none() -> None:
    """Before the first snapshot there are counts of 0, and no quantile, CPU or throttling at all."""
    report = make_report(ORDER, Progress(), [], seconds_left=3)
    assert (report["state"], report["seconds_left"], report["measured_seconds"]) == ("starting", 3, 0)
    assert (report["requests"], report["completed_per_second"]) == (0, 0)
    assert (report["latency_seconds"], report["naive_latency_seconds"], report["latency_histogram"]) == (
        None,
        None,
        None,
    )
    generator = report["generator"]
    assert (generator["cpu_fraction"], generator["throttled_seconds"], generator["send_lag_p99_seconds"]) == (None,) * 3


def test_an_unreadable_cgroup_is_unknown() -> None:
    """Throttling that no worker can read is none, not 0."""
    report = make_report(ORDER, Progress(), [snapshot_of("x", cpu=0.1, throttled=None)], seconds_left=0)
    assert report["generator"]["throttled_seconds"] is None
