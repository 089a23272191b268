"""The open model, with a real master, two workers and a server whose behaviour is known."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from podscale.contract import StageReport
from tests.load.locusts import Locusts, TinyServer, running_locust, stop_for
from tests.load.tiny_server import QUEUE_SERVICE_SECONDS

RATE_PER_SECOND = 500
STALL_SECONDS = 1.4


def test_the_rate_is_kept_and_every_visit_is_accounted_for(
    locusts: Locusts, server: TinyServer, show: Callable[[str], None]
) -> None:
    """500/s for 20 s against a 2 ms handler: sent within 0.1 % of asked, by our count and by the server's."""
    before = server.counts()
    report = locusts.run(scenario="Delay", rate_per_second=RATE_PER_SECOND, warmup_seconds=1, measure_seconds=20)
    read = server.read()
    sent = report["arrivals"] - report["generator"]["dropped"]
    received = read["counts"]["/delay"] - before.get("/delay", 0)
    received_per_second = (received - 1) / (read["last_at"]["/delay"] - read["first_at"]["/delay"])
    generator = report["generator"]
    show(f"open, 500/s for 20 s: sent {sent}, received {received_per_second:.3f}/s, {generator}")
    assert report["state"] == "done", report["reason"]
    assert sent == pytest.approx(20 * RATE_PER_SECOND, rel=0.001)
    assert received == pytest.approx(21 * RATE_PER_SECOND, rel=0.001)
    # Of the first and the last one the server sees the moment they came, a few ms off on a busy machine.
    assert received_per_second == pytest.approx(RATE_PER_SECOND, rel=0.005)
    assert report["requests"] == sent
    assert report["completed_per_second"] == pytest.approx(RATE_PER_SECOND, rel=0.001)
    # Late sends depend on what else this machine does; a sound report counts them and times them all.
    assert 0 <= generator["late"] <= sent
    assert generator["send_lag_p99_seconds"] is not None
    assert report["latency_seconds"] is not None
    assert report["latency_seconds"]["p50"] >= 0.002
    pods = {pod: read["counts"][pod] - before.get(pod, 0) for pod in ("pod-0", "pod-1")}
    assert report["total_requests_by_pod"] == pytest.approx(pods, rel=0.001)
    assert sum(report["requests_by_pod"].values()) == report["requests"]
    assert {process.partition("/")[2] for process in report["requests_by_process"]} == {"7"}


def test_a_stall_shows_in_full(locusts: Locusts, server: TinyServer, show: Callable[[str], None]) -> None:
    """A server that stands still for 1.4 s gives p50, p99 and maximum within 2 % of the closed form.

    The server takes s = 1 ms for each request, in turn, and stands still for D. Requests come at rate r, so that
    work comes at rho = r s. One that comes t after the stall began waits for the rest of the stall and for the work
    of all before it: D - t + rho t = D - (1 - rho) t. That holds on after the stall, for (D - t) turns negative just
    as the server works off the backlog, and ends at t = D / (1 - rho), when nobody waits any more. So of all
    requests in a window of length T that holds this time, a share of f = D / (1 - rho) / T has waits evenly spread
    from 0 to D, and quantile q of the latency is s + D (1 - (1 - q) / f) where 1 - q < f.

    Each visit opens a connection: one that finds an accepted connection would overtake those that wait for accept.
    """
    order = locusts.order(
        scenario="Queue", connections="new", rate_per_second=RATE_PER_SECOND, warmup_seconds=0.5, measure_seconds=3.0
    )
    # Other work on this machine can lengthen a stall and nothing can shorten it: one clean run of three is enough.
    fits = any(_stall_fits(locusts, server, order, show) for _ in range(3))
    closed, _ = _with_a_stall(locusts, server, order | {"model": "closed", "users": 2})
    naive = closed["latency_seconds"]
    assert naive is not None
    show(f"  naive, two closed users:       p50 {naive['p50']:.4f}, p99 {naive['p99']:.4f}, max {naive['max']:.4f}")
    assert fits
    # Two closed users send two requests into the stall: 1.4 s of it leave no trace in their 99th percentile.
    assert naive["p99"] < STALL_SECONDS / 10


def _stall_fits(locusts: Locusts, server: TinyServer, order: dict[str, Any], show: Callable[[str], None]) -> bool:
    report, stall_seconds = _with_a_stall(locusts, server, order)
    share = stall_seconds / (1 - RATE_PER_SECOND * QUEUE_SERVICE_SECONDS) / order["measure_seconds"]
    expected = {
        name: QUEUE_SERVICE_SECONDS + stall_seconds * (1 - (1 - quantile) / share)
        for name, quantile in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }
    latency = report["latency_seconds"]
    assert latency is not None
    assert share < 1
    assert report["requests"] == report["arrivals"]
    measured = {"p50": latency["p50"], "p99": latency["p99"], "max": latency["max"]}
    show(f"stall of {stall_seconds:.3f} s, closed form:  {_row(expected)}")
    show(f"  open, from the intended time:  {_row(measured)}")
    return measured == pytest.approx(expected, rel=0.02)


def _row(seconds: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in seconds.items())


def _with_a_stall(locusts: Locusts, server: TinyServer, order: dict[str, Any]) -> tuple[StageReport, float]:
    """Run a stage and stop the server as soon as its window has begun; also the true length of the stop in seconds."""
    answer = locusts.post(order)
    assert answer.status_code == 202, answer.text
    locusts.wait_for("measuring")
    stall_seconds = stop_for(server, STALL_SECONDS)
    return locusts.wait_for("done"), stall_seconds


def test_chance_arrivals_have_the_rate_and_its_spread(locusts: Locusts) -> None:
    """Poisson arrivals: the count of a window lies within five standard deviations of the rate, all are sent."""
    report = locusts.run(scenario="Delay", arrivals="poisson", rate_per_second=200, measure_seconds=1.5)
    assert report["arrivals"] == pytest.approx(300, abs=5 * 300**0.5)
    assert report["requests"] == report["arrivals"]


def test_tasks_are_chosen_by_weight(locusts: Locusts, server: TinyServer) -> None:
    """9 to 1 in the locustfile is about 9 to 1 at the server, and no other user class runs."""
    before = server.counts()
    locusts.run(scenario="Weighted", rate_per_second=400, warmup_seconds=0)
    after = server.counts()
    often, seldom = (after[path] - before.get(path, 0) for path in ("/often", "/seldom"))
    # 400 draws at 0.1: five standard deviations are 30.
    assert 10 <= seldom <= 70
    assert often + seldom == 400


def test_arrivals_beyond_the_cap_are_dropped_and_counted(tmp_path: Path, server: TinyServer) -> None:
    """With 5 in flight at most and 100 ms each, 50 of 300 a second can be sent; the report accounts for the others."""
    with running_locust(tmp_path, server.url, "--in-flight-cap", "5", workers=0) as single:
        report = single.run(scenario="Slow", rate_per_second=300)
    assert report["arrivals"] == pytest.approx(300, abs=1)
    assert report["generator"]["dropped"] == pytest.approx(250, abs=25)
    assert report["requests"] == report["arrivals"] - report["generator"]["dropped"]


def test_a_generator_that_is_too_slow_shows_it(locusts: Locusts) -> None:
    """A visit burns 10 ms of its worker: of 300 a second, two workers send 200 at most in time, which shows."""
    report = locusts.run(scenario="Heavy", rate_per_second=300, warmup_seconds=0, timeout_seconds=3)
    generator, latency, naive = report["generator"], report["latency_seconds"], report["naive_latency_seconds"]
    assert report["arrivals"] == pytest.approx(300, abs=1)
    # Sent late, or not begun when the drain was over: which of the two depends on how slow the machine is.
    assert generator["late"] + generator["dropped"] > 100
    assert generator["cpu_fraction"] is not None
    assert generator["cpu_fraction"] > 0.3
    assert latency is not None
    assert naive is not None
    # Waiting for the generator counts from the intended time, and the service time knows nothing of it.
    assert latency["mean"] > naive["mean"] + 0.02
    assert report["requests"] == report["arrivals"] - generator["dropped"]
    assert report["completed_per_second"] < 250
