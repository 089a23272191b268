"""Tests of the interval of a mean."""

import random

import pytest

from podscale.analysis.intervals import mean_interval


def test_a_known_interval() -> None:
    """Of 1, 2, 3: 2 plus and minus 4.303 / sqrt(3), as every table of Student's t has it."""
    assert mean_interval([1.0, 2.0, 3.0]) == pytest.approx((2 - 2.4843, 2 + 2.4843), abs=1e-3)
    assert mean_interval([5.0, 5.0, 5.0, 5.0]) == (5.0, 5.0)


def test_two_repeats_have_none() -> None:
    """Nothing to go by, and so no number."""
    assert mean_interval([1.0, 1.01]) is None
    assert mean_interval([]) is None


def test_it_holds_the_true_mean_nineteen_times_of_twenty() -> None:
    """Over 2,000 samples of four around a known mean."""
    chance = random.Random(1)
    found = [mean_interval([chance.gauss(10, 2) for _ in range(4)]) for _ in range(2000)]
    holds = sum(low <= 10 <= high for low, high in filter(None, found))
    assert holds / 2000 == pytest.approx(0.95, abs=0.02)
