"""The closed model, and a locustfile that knows nothing of ours in both models."""

import pytest

from tests.load.locusts import Locusts, TinyServer


def test_users_wait_for_their_answers(locusts: Locusts, server: TinyServer) -> None:
    """Four users that loop over a 2 ms handler: at most 2,000 a second, and every request is in the totals."""
    before = server.counts()
    report = locusts.run(model="closed", users=4, rate_per_second=0, scenario="Delay")
    after = server.counts()
    assert report["state"] == "done", report["reason"]
    assert 200 < report["requests"] <= 2000
    # The window counts visits that begin in it, and those that end in it: they differ by what is on its way.
    assert report["arrivals"] == pytest.approx(report["requests"], abs=4)
    assert report["completed_per_second"] == report["requests"]
    assert report["latency_seconds"] == report["naive_latency_seconds"]
    assert report["generator"]["send_lag_p99_seconds"] is None
    for pod in ("pod-0", "pod-1"):
        assert report["total_requests_by_pod"][pod] == after[pod] - before.get(pod, 0)


def test_a_foreign_locustfile_runs_closed(locusts: Locusts, server: TinyServer) -> None:
    """Its users log in once, go through their steps in order, and log out at the end."""
    before = server.counts()
    report = locusts.run(model="closed", users=4, scenario="Foreign", warmup_seconds=0.5)
    new = {path: count - before.get(path, 0) for path, count in server.counts().items()}
    assert report["errors"] == {}
    assert (new["/login"], new["/enter"], new["/logout"]) == (4, 4, 4)
    assert new["/first"] > 20
    # A user is in the middle of its steps at most, each of which it finishes.
    assert 2 * (new["/first"] - 4) <= new["/second"] <= 2 * new["/first"]
    assert sum(report["total_requests_by_pod"].values()) == new["pod-0"] + new["pod-1"]


def test_a_foreign_locustfile_runs_open(locusts: Locusts, server: TinyServer) -> None:
    """Each arrival is one step of an idle user, whose on_start runs once; logging in and out are no visits."""
    before = server.counts()
    report = locusts.run(scenario="Foreign", rate_per_second=60, warmup_seconds=0)
    new = {path: count - before.get(path, 0) for path, count in server.counts().items()}
    assert report["errors"] == {}
    assert report["arrivals"] == pytest.approx(60, abs=1)
    assert new["/first"] + new["/second"] / 2 == report["arrivals"]
    assert report["requests"] == new["/first"] + new["/second"]
    assert 1 <= new["/login"] == new["/enter"] == new["/logout"] < 40
    assert sum(report["total_requests_by_pod"].values()) == new["pod-0"] + new["pod-1"]
