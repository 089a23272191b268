"""Tests of what a row's stages come to."""

import msgspec

from podscale.sweep.reproduce.claims import row_result
from podscale.sweep.reproduce.rows import ROWS
from podscale.sweep.results import Stage
from tests.sweep import builders


def pair(one: float, n: float, **changes: object) -> list[Stage]:
    """Throughput of one pod and of four."""
    stages = [builders.stage(1, throughput_per_second=one), builders.stage(4, throughput_per_second=n)]
    return [stages[0], msgspec.structs.replace(stages[1], **changes)]


def test_a_claim_within_its_bounds_holds() -> None:
    """3.8 times as much with four pods; the article's own ratio and the figures of both steps stand beside it."""
    found = row_result(ROWS["primes"], pair(10.0, 38.0), 4, "local")
    assert (found.ratio, found.holds) == (3.8, True)
    assert round(found.article.ratio or 0, 2) == 3.79
    assert found.measured["one pod"]["throughput"] == 10.0
    assert found.claims[0].low == 3.0
    assert found.why


def test_a_claim_out_of_its_bounds_does_not_hold() -> None:
    """Too little, and too good to be true."""
    assert row_result(ROWS["primes"], pair(10.0, 20.0), 4, "local").holds is False
    assert row_result(ROWS["primes"], pair(10.0, 60.0), 4, "local").holds is False


def test_what_was_not_measured_neither_holds_nor_fails() -> None:
    """A void stage, or one that was never reached, leaves the ratio unknown."""
    void = row_result(ROWS["primes"], pair(10.0, 38.0, valid=False), 4, "local")
    assert (void.ratio, void.holds) == (None, None)
    assert void.measured["n pods"]["throughput"] is None
    half = row_result(ROWS["primes"], pair(10.0, 38.0)[:1], 4, "local")
    assert (half.ratio, half.holds) == (None, None)
    assert list(half.measured) == ["one pod"]


def test_one_claim_that_fails_is_enough() -> None:
    """The first of the blocking row's claims holds, another does not: the row does not, whatever is unknown."""
    latency = msgspec.structs.replace(builders.latency(), p50=1.0, max=30.0, mean=14.0)
    asked = builders.asked(options={"cpu_time_ms": 10_000.0, "clock": "wall"})
    found = row_result(ROWS["blocking"], [builders.stage(asked=asked, latency_seconds=latency)], 2, "local")
    assert [claim.holds for claim in found.claims] == [True, False, None]
    assert found.ratio == 3.0
    assert found.holds is False


def test_cores_of_different_speed_decide_nothing() -> None:
    """Four pods at their quotas do 3.2 times as much where an answer costs a quarter more CPU: neither yes nor no."""
    slow = pair(10.0, 32.0, cpu_seconds_per_request=0.125)
    slow[0] = msgspec.structs.replace(slow[0], cpu_seconds_per_request=0.1)
    (claim,) = row_result(ROWS["primes"], slow, 4, "kubernetes").claims
    assert (claim.ratio, claim.cost_ratio, claim.ratio_at_equal_cost, claim.holds) == (3.2, 1.25, 4.0, None)
    by_luck = pair(10.0, 39.0, cpu_seconds_per_request=0.08)
    by_luck[0] = msgspec.structs.replace(by_luck[0], cpu_seconds_per_request=0.1)
    assert row_result(ROWS["primes"], by_luck, 4, "kubernetes").holds is None
    alike = pair(10.0, 37.0, cpu_seconds_per_request=0.104)
    alike[0] = msgspec.structs.replace(alike[0], cpu_seconds_per_request=0.1)
    assert row_result(ROWS["primes"], alike, 4, "kubernetes").holds is False


def test_a_burst_is_compared_by_the_cpu_of_its_whole_stage() -> None:
    """Children that each work half as fast end no sooner: the time of the last answer goes with what one costs."""
    latency = builders.latency()
    one, n = (
        builders.stage(
            1,
            purpose="burst",
            requests=8,
            total_cpu_seconds=total,
            latency_seconds=msgspec.structs.replace(latency, max=last),
            errors={},
        )
        for total, last in ((8.0, 8.0), (16.0, 8.0))
    )
    (claim,) = row_result(ROWS["prime"], [one, n], 2, "local").claims
    assert (claim.ratio, claim.cost_ratio, claim.ratio_at_equal_cost, claim.holds) == (1.0, 0.5, 2.0, None)


def test_equal_quotas_leave_no_excuse() -> None:
    """On a cluster no load generator takes of the pods' CPU: 0.95 of n, where one machine is allowed 0.75."""
    assert row_result(ROWS["primes"], pair(10.0, 34.0), 4, "local").holds is True
    assert row_result(ROWS["primes"], pair(10.0, 34.0), 4, "kubernetes").holds is False
    assert row_result(ROWS["primes"], pair(10.0, 38.4), 4, "kubernetes").holds is True
