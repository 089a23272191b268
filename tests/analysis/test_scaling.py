"""The laws are recovered from data with known coefficients, and refused where data cannot carry them."""

import itertools
import math
import random
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podscale.analysis.scaling import LAWS, Law, LawFit, Refusal, fit, predict, throughput_per_second

# SPEC SDM91, the data of R's usl package; https://cran.r-project.org/web/packages/usl/vignettes/usl.pdf
SDM91_SIZES = [1, 18, 36, 72, 108, 144, 216]
SDM91_THROUGHPUTS = [64.9, 995.9, 1652.4, 1853.2, 1828.9, 1775.0, 1702.2]

SIZES = [1, 2, 3, 4, 6, 8]


def fitted(law: Law, sizes: list[int], throughputs: list[float]) -> LawFit:
    """The fit, where a refusal would be a failure of the test."""
    found = fit(law, sizes, throughputs)
    assert isinstance(found, LawFit), found
    return found


def refused(law: Law, sizes: list[int], throughputs: list[float]) -> str:
    """The reason of the refusal, where a fit would be a failure of the test."""
    found = fit(law, sizes, throughputs)
    assert isinstance(found, Refusal), found
    assert found.law == law
    return found.reason


def curve(law: Law, coefficients: dict[str, float], sizes: list[int]) -> list[float]:
    """Exact points of a law."""
    return [float(throughput_per_second(law, coefficients, np.float64(size))) for size in sizes]


def test_usl_gives_the_published_figures_of_spec_sdm91() -> None:
    """R's usl prints sigma 0.0277, kappa 1.044e-4, scale factor 90.0, residual error 82.85, peak 1884 at 96.5."""
    found = fitted("usl", SDM91_SIZES, SDM91_THROUGHPUTS)
    assert found.coefficients["lambda"] == pytest.approx(90.0, abs=0.05)
    assert found.coefficients["sigma"] == pytest.approx(0.0277, abs=5e-5)
    assert found.coefficients["kappa"] == pytest.approx(1.044e-4, abs=5e-8)
    assert found.peak_size == pytest.approx(96.5, abs=0.05)
    assert predict(found, 96.5) == pytest.approx(1884, abs=0.5)
    # R divides by the degrees of freedom, ours is the plain root of the mean square.
    assert found.rmse * math.sqrt(7 / 4) == pytest.approx(82.85, abs=0.02)


def test_lambda_is_free() -> None:
    """With lambda held at X(1), sigma of SPEC SDM91 would be 0.017 instead of 0.0277."""
    found = fitted("usl", SDM91_SIZES, SDM91_THROUGHPUTS)
    assert found.coefficients["lambda"] > 1.3 * SDM91_THROUGHPUTS[0]


@pytest.mark.parametrize(
    ("law", "coefficients"),
    [
        ("linear", {"lambda": 19.7}),
        ("amdahl", {"lambda": 19.7, "sigma": 0.031}),
        ("amdahl", {"lambda": 0.004, "sigma": 0.5}),
        ("usl", {"lambda": 19.7, "sigma": 0.031, "kappa": 0.0042}),
        ("usl", {"lambda": 2.5e6, "sigma": 0.4, "kappa": 0.02}),
    ],
)
def test_known_coefficients_are_recovered(law: Law, coefficients: dict[str, float]) -> None:
    """Exact points of a law give back its coefficients, whatever the unit of throughput."""
    found = fitted(law, SIZES, curve(law, coefficients, SIZES))
    assert found.coefficients == pytest.approx(coefficients, rel=1e-4)
    assert found.rmse < 1e-6 * coefficients["lambda"]


@settings(deadline=None, max_examples=50)
@given(
    lambda_=st.floats(0.01, 1e5),
    sigma=st.floats(0.005, 0.6),
    kappa=st.floats(0.0005, 0.05),
    seed=st.integers(0, 10_000),
)
def test_noise_moves_the_curve_no_further_than_the_noise(lambda_: float, sigma: float, kappa: float, seed: int) -> None:
    """With 1 % of noise and three repeats, the fitted curve stays within 3 % of the truth at every measured size."""
    truth = {"lambda": lambda_, "sigma": sigma, "kappa": kappa}
    chance = random.Random(seed)
    sizes = SIZES * 3
    noisy = [value * (1 + chance.uniform(-0.01, 0.01)) for value in curve("usl", truth, sizes)]
    found = fitted("usl", sizes, noisy)
    for size in SIZES:
        assert predict(found, size) == pytest.approx(curve("usl", truth, [size])[0], rel=0.03)


@settings(deadline=None)  # some data take long to descend, and the machine may be busy
@given(data=st.lists(st.tuples(st.integers(1, 64), st.floats(1e-3, 1e6)), min_size=1, max_size=12))
def test_any_positive_data_gives_a_sound_fit_or_a_refusal(data: list[tuple[int, float]]) -> None:
    """Coefficients are finite and not negative, a refusal is a sentence, and more coefficients never fit worse."""
    sizes, throughputs = [size for size, _ in data], [value for _, value in data]
    errors = []
    for law in LAWS:
        found = fit(law, sizes, throughputs)
        if isinstance(found, Refusal):
            assert found.reason.endswith(".")
            continue
        assert all(math.isfinite(value) and value >= 0 for value in found.coefficients.values())
        assert predict(found, 3) > 0
        errors.append(found.rmse)
    assert all(later <= earlier + 1e-6 * max(throughputs) for earlier, later in itertools.pairwise(errors))


def test_the_order_of_points_does_not_matter() -> None:
    """A sweep measures in random order; the fit is the same."""
    points = list(zip(SDM91_SIZES, SDM91_THROUGHPUTS, strict=True))
    random.Random(1).shuffle(points)
    shuffled = fitted("usl", [size for size, _ in points], [value for _, value in points])
    assert shuffled.coefficients == pytest.approx(fitted("usl", SDM91_SIZES, SDM91_THROUGHPUTS).coefficients, rel=1e-5)


@pytest.mark.parametrize(
    ("law", "sizes", "needed", "add"),
    [
        ("linear", [4, 4, 4], 2, "4 was measured: add 1."),
        ("amdahl", [1, 2, 2], 3, "1 and 2 were measured: add 3."),
        ("usl", [1, 2, 4], 4, "1, 2 and 4 were measured: add 3."),
        ("usl", [8], 4, "8 was measured: add 1, 2 and 3."),
        ("usl", [], 4, "none was measured: add 1, 2, 3 and 4."),
    ],
)
def test_too_few_sizes_are_refused(law: Law, sizes: list[int], needed: int, add: str) -> None:
    """The refusal says how many different sizes are needed, why, which there are, and which to add."""
    reason = refused(law, sizes, [20.0 * size for size in sizes])
    assert f"at least {needed} different sizes, else any data would seem to fit" in reason
    assert reason.endswith(add)


def test_one_size_more_than_coefficients_is_enough() -> None:
    """Each law is fitted as soon as the data could contradict it."""
    for law, count in zip(LAWS, (2, 3, 4), strict=True):
        fitted(law, SIZES[:count], [20.0 * size for size in SIZES[:count]])


@pytest.mark.parametrize("bad", [0.0, -3.0, math.nan, math.inf])
@pytest.mark.parametrize("law", get_args(Law))
def test_impossible_throughputs_are_refused(law: Law, bad: float) -> None:
    """A throughput of zero, below it, or no number at all names the size to measure again."""
    assert "at size 3 is no such point" in refused(law, [1, 2, 3, 4], [20, 39, bad, 75])


def test_a_size_below_one_is_refused() -> None:
    """Zero pods are no point of a scaling curve."""
    assert "at size 0" in refused("linear", [0, 1, 2], [1.0, 20, 39])


def test_points_must_be_pairs() -> None:
    """Lists of different length are a mistake of the caller."""
    with pytest.raises(ValueError, match="2 sizes and 1 throughputs"):
        fit("linear", [1, 2], [20.0])


def test_a_straight_line_has_no_peak() -> None:
    """Contention and coherency that are not there come out as 0, and no size of highest throughput is invented."""
    found = fitted("usl", SIZES, [20.0 * size for size in SIZES])
    assert (found.coefficients["sigma"], found.coefficients["kappa"], found.peak_size) == (0, 0, None)


def test_faster_than_linear_data_is_fitted_by_the_line() -> None:
    """No negative contention is invented for data that rises faster than its size."""
    found = fitted("amdahl", [1, 2, 4, 8], [1, 3, 9, 30])
    assert found.coefficients["sigma"] == 0


def test_falling_data_peaks_at_its_beginning() -> None:
    """Where each further pod costs throughput from the start, the peak is at the smallest sizes."""
    peak = fitted("usl", [1, 2, 4, 8], [10, 9, 5, 1]).peak_size
    assert peak is not None
    assert 1 <= peak < 2


def test_an_unknown_law_is_named() -> None:
    """A law from a newer file is an error, not a straight line."""
    with pytest.raises(ValueError, match="no such law: magic"):
        throughput_per_second("magic", {"lambda": 1.0}, np.float64(2))  # type: ignore[arg-type]  # the mistake is the point
