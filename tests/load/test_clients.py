"""Connections and timeouts, for both of Locust's HTTP clients, as the server sees them."""

import math
import time

import pytest

from podscale.contract import Model
from tests.load.locusts import Locusts, TinyServer


@pytest.mark.parametrize(
    ("scenario", "model", "policies"),
    [("Delay", "closed", ("new", "5", "keep")), ("HttpDelay", "open", ("new", "keep"))],
    ids=["geventhttpclient", "requests"],
)
def test_connections_follow_the_policy(
    locusts: Locusts, server: TinyServer, scenario: str, model: Model, policies: tuple[str, ...]
) -> None:
    """new: one for each visit; 5: one for five; keep: one for each user, and none is left from an earlier stage."""
    for policy in policies:
        before = server.counts()
        report = locusts.run(
            scenario=scenario,
            model=model,
            users=2,
            rate_per_second=60,
            connections=policy,
            warmup_seconds=0,
            measure_seconds=0.5,
        )
        connections = server.counts()["connections"] - before["connections"]
        visits = sum(report["total_requests_by_pod"].values())
        assert report["errors"] == {}
        assert visits >= 25
        if policy == "new":
            assert connections == visits
        elif policy == "5":
            # Each user has one that may not be used up.
            assert math.ceil(visits / 5) <= connections <= visits / 5 + 2
        else:
            assert connections == 2 if model == "closed" else 1 <= connections <= 10


@pytest.mark.parametrize("scenario", ["Failing", "HttpFailing"])
def test_each_way_to_fail_has_its_class(locusts: Locusts, server: TinyServer, scenario: str) -> None:
    """Refused, reset, never answered, no such name, 404, 500, disliked and broken tasks: each lands in its row."""
    before, started_at = server.counts(), time.monotonic()
    report = locusts.run(scenario=scenario, rate_per_second=160, warmup_seconds=0, timeout_seconds=1)
    took_seconds = time.monotonic() - started_at
    new = {path: count - before.get(path, 0) for path, count in server.counts().items()}
    errors = report["errors"]
    assert report["state"] == "done", report["reason"]
    assert set(errors) == {"refused", "dns", "reset", "timeout", "http_4xx", "http_5xx", "other"}
    # The window, the timeout, and some time for Locust to start and stop.
    assert took_seconds < 6
    assert errors["reset"] == new["/reset"]
    assert errors["timeout"] == new["/hang"]
    assert errors["http_4xx"] == new["/status/404"]
    assert errors["http_5xx"] == new["/status/500"]
    # Tasks that fail before they ask anything count here too.
    assert errors["other"] > new["/ok"] > 0
    assert sum(errors.values()) == report["requests"] == report["arrivals"] == 160
    assert report["latency_seconds"] is None
    answered = new["pod-0"] + new["pod-1"]
    assert report["requests_by_pod"]["unknown"] == 160 - answered
