"""How far a mean of a few repeats may be off, and the curve of a law that was fitted to them."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

import numpy as np
from scipy import stats

from podscale.analysis.scaling import Floats, Law, slopes, throughput_per_second

# With two, the interval is twelve times the distance between them, and says nothing.
FEWEST = 3
CONFIDENCE = 0.95


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Where the mean lies with 95 % confidence, by Student's t over independent repeats; None for fewer than three.

    Source: Student, "The Probable Error of a Mean", Biometrika 6 (1908), https://doi.org/10.2307/2331554
    """
    if len(values) < FEWEST:
        return None
    about = _student(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return fmean(values) - about, fmean(values) + about


def curve_band(
    law: Law,
    coefficients: Mapping[str, float],
    sizes: Sequence[int],
    throughputs_per_second: Sequence[float],
    at_sizes: Floats,
) -> tuple[Floats, Floats] | None:
    """Where the curve lies at each of `at_sizes` with 95 % confidence: lows and highs, requests per second.

    By the slopes of the law at its fitted coefficients (delta method). A coefficient that was fitted as 0, its bound,
    is taken as 0. None where no point is left over to tell the noise, or where the points cannot tell the coefficients.

    Source: G. Seber, C. Wild, "Nonlinear Regression" (1989), chapter 5.1, https://doi.org/10.1002/0471725315
    """
    free = [name for name, value in coefficients.items() if value > 0]
    spare = len(sizes) - len(free)
    n, x = np.asarray(sizes, np.float64), np.asarray(throughputs_per_second, np.float64)
    measured = slopes(law, coefficients, free, n)
    if spare < 1 or np.linalg.matrix_rank(measured) < len(free):
        return None
    noise = float(np.sqrt(np.sum((throughput_per_second(law, coefficients, n) - x) ** 2) / spare))
    covariance = np.linalg.inv(measured.T @ measured)
    wanted = slopes(law, coefficients, free, at_sizes)
    about = _student(spare) * noise * np.sqrt(np.einsum("ij,jk,ik->i", wanted, covariance, wanted))
    curve = np.asarray(throughput_per_second(law, coefficients, at_sizes))
    return curve - about, curve + about


def _student(freedom: int) -> float:
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))
