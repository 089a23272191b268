"""How far a mean of a few repeats may be off."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

from scipy import stats

# With two, the interval is twelve times the distance between them, and says nothing.
FEWEST = 3
CONFIDENCE = 0.95


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Where the mean lies with 95 % confidence, by Student's t over independent repeats; None for fewer than three.

    Source: Student, "The Probable Error of a Mean", Biometrika 6 (1908), https://doi.org/10.2307/2331554
    """
    if len(values) < FEWEST:
        return None
    about = float(stats.t.ppf((1 + CONFIDENCE) / 2, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
    return fmean(values) - about, fmean(values) + about
