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


def test_equal_quotas_leave_no_excuse() -> None:
    """On a cluster no load generator takes of the pods' CPU: 0.95 of n, where one machine is allowed 0.75."""
    assert row_result(ROWS["primes"], pair(10.0, 34.0), 4, "local").holds is True
    assert row_result(ROWS["primes"], pair(10.0, 34.0), 4, "kubernetes").holds is False
    assert row_result(ROWS["primes"], pair(10.0, 38.4), 4, "kubernetes").holds is True
