"""`kubectl scale`: the new pods take their share at once, and throughput follows."""

from tests.e2e.kubernetes.release import QUARTER_CORE, Release, shares, succeeded
from tests.processes import wait_until


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
