"""Tests of the interval of a mean, and of the band around a fitted curve."""

import random

import numpy as np
import pytest
from scipy.optimize import curve_fit

from podscale.analysis.intervals import curve_band, mean_interval
from podscale.analysis.scaling import LAWS, Law, LawFit, fit, slopes, throughput_per_second

SIZES = [size for size in (1, 2, 3, 4, 6, 8) for _ in range(3)]
TRUE = {"lambda": 50.0, "sigma": 0.04, "kappa": 0.002}


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


def noisy(chance: random.Random) -> list[float]:
    """Points of a law with 2 % of noise."""
    exact = [float(throughput_per_second("usl", TRUE, np.float64(size))) for size in SIZES]
    return [value + chance.gauss(0, 2.0) for value in exact]


def fitted(law: Law, throughputs: list[float]) -> LawFit:
    """The law, which these points do not refuse."""
    found = fit(law, SIZES, throughputs)
    assert isinstance(found, LawFit)
    return found


@pytest.mark.parametrize("law", LAWS)
def test_slopes_are_those_of_the_law(law: Law) -> None:
    """As a small step of each coefficient has them."""
    at = np.array([1.0, 2.5, 8.0])
    names = list(TRUE)[: LAWS.index(law) + 1]
    for column, name in zip(slopes(law, TRUE, names, at).T, names, strict=True):
        step = TRUE[name] * 1e-6
        above, below = ({**TRUE, name: TRUE[name] + sign * step} for sign in (1, -1))
        change = throughput_per_second(law, above, at) - throughput_per_second(law, below, at)
        assert column == pytest.approx(change / (2 * step), rel=1e-5)


def test_the_band_is_that_of_another_library() -> None:
    """Scipy's curve_fit has the same covariance of the coefficients, and so the same width at one pod's rate."""
    throughputs = noisy(random.Random(3))
    law = fitted("amdahl", throughputs)

    def amdahl(n: np.ndarray, one: float, sigma: float) -> np.ndarray:
        return one * n / (1 + sigma * (n - 1))

    _, covariance = curve_fit(amdahl, np.array(SIZES, float), throughputs, p0=list(law.coefficients.values()))
    band = curve_band("amdahl", law.coefficients, SIZES, throughputs, np.array([1.0]))
    assert band is not None
    # 2.120 is Student's t for 16 spare points; at one pod the curve is lambda.
    assert (band[1][0] - band[0][0]) / 2 == pytest.approx(2.120 * covariance[0, 0] ** 0.5, rel=1e-3)


def test_it_holds_the_true_curve_nineteen_times_of_twenty() -> None:
    """Over 200 runs of six sizes, between and at the sizes measured."""
    chance, at = random.Random(5), np.array([1.0, 5.0, 8.0])
    true = throughput_per_second("usl", TRUE, at)
    holds = np.zeros(3)
    for _ in range(200):
        throughputs = noisy(chance)
        band = curve_band("usl", fitted("usl", throughputs).coefficients, SIZES, throughputs, at)
        assert band is not None
        holds += (band[0] <= true) & (true <= band[1])
    assert holds / 200 == pytest.approx([0.95] * 3, abs=0.05)


def test_what_the_points_cannot_tell_has_no_band() -> None:
    """As many points as coefficients leave no noise to see; one size alone does not tell two coefficients."""
    two = {"lambda": 50.0, "sigma": 0.1}
    assert curve_band("amdahl", two, [1, 2], [50.0, 91.0], np.array([1.0])) is None
    assert curve_band("amdahl", two, [2, 2, 2], [91.0, 90.0, 92.0], np.array([1.0])) is None
