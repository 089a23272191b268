"""`kubectl scale`: the new pods take their share at once, and throughput follows."""

from podscale import contract
from tests.e2e.kubernetes.release import QUARTER_CORE, Release, shares, succeeded
from tests.processes import wait_until

SLEEPING = {"clock": "sleep", "cpu_time_ms": 200}


def test_four_quarter_cores_do_four_times_as_much(release: Release) -> None:
    """From 1 to 4 pods of 250m under load, each serves its quarter within 30 s; saturated, 4 do 3.8 times as much."""
    release.install(*QUARTER_CORE)
    one = release.stage(10, users=16)
    with release.load(150, rate_per_second=12) as report:
        release.scale(4)
        after_scaling = report()
        wait_until(
            lambda: evenly_spread(shares(report(), after_scaling)), 30, "25 % for each of 4 pods", every_seconds=3
        )
    # Of few users a Service, which chooses at random, leaves pods without any now and then.
    four = release.stage(10, users=128)
    assert succeeded(one), one
    assert succeeded(four), four
    assert four["completed_per_second"] >= 3.8 * one["completed_per_second"]


def evenly_spread(share: dict[str, float]) -> bool:
    """Whether four pods have a quarter each, ten points more or less."""
    return len(share) == 4 and all(0.15 <= part <= 0.35 for part in share.values())


def test_sixty_four_sleeping_pods_fit_on_two_cores(release: Release) -> None:
    """All 64 become Ready, all of them serve, and scaling down to 4 under load fails no request."""
    release.install("resources.requests.cpu=10m", "resources.requests.memory=40Mi", "startupProbe.periodSeconds=2")
    release.scale(64, seconds=240)
    all_of_them = release.stage(6, rate_per_second=150, options=SLEEPING)
    assert succeeded(all_of_them), all_of_them
    assert len(shares(all_of_them)) == 64
    with release.load(120, rate_per_second=10, options=SLEEPING) as report:
        release.scale(4, seconds=100)
        left = report()
    assert left["requests"] > 100
    assert not left["errors"], left
    assert release.ask(contract.TIMESTAMP).strip().isdecimal()
