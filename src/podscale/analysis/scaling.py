"""Scaling laws: throughput X of n pods, fitted by least squares with every coefficient free.

    linear   X = lambda * n
    amdahl   X = lambda * n / (1 + sigma * (n - 1))
    usl      X = lambda * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))

`lambda` is the throughput of one pod, `sigma` the contention (the share of work that only one can do at a time),
`kappa` the coherency (what pods cost each other in pairs). `lambda` is fitted like the others, never set to X(1):
that would give the noise of one point to the whole curve, and on SPEC SDM91 it moves sigma by 38 %.

Sources: N. Gunther, "A General Theory of Computational Scalability", https://arxiv.org/abs/0808.1431;
S. Moeding, R package usl, https://cran.r-project.org/package=usl
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares, nnls

Law = Literal["linear", "amdahl", "usl"]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LawFit:
    """A law with its coefficients by name; `rmse` in the unit of the throughputs.

    `peak_size` is the size of highest throughput (usl), a real number; None where the law rises without end.
    """

    law: Law
    coefficients: Mapping[str, float]
    rmse: float
    peak_size: float | None = None


@dataclass(frozen=True)
class Refusal:
    """Why a law was not fitted, in a sentence that says what is missing."""

    law: Law
    reason: str


@dataclass(frozen=True)
class _Shape:
    """What the fit needs to know of a law. `costs` are the terms of n/X, of which `lambda` scales all."""

    name: str
    coefficients: tuple[str, ...]
    upper: tuple[float, ...]
    costs: Callable[[Floats], Floats]


# n/X = (1 + sigma (n-1) + kappa n (n-1)) / lambda is linear in these columns; the laws differ in how many they use.
_SHAPES: dict[Law, _Shape] = {
    "linear": _Shape("The linear law", ("lambda",), (math.inf,), lambda n: np.stack([n**0], axis=1)),
    "amdahl": _Shape("Amdahl's law", ("lambda", "sigma"), (math.inf, 1.0), lambda n: np.stack([n**0, n - 1], axis=1)),
    "usl": _Shape(
        "The universal scalability law",
        ("lambda", "sigma", "kappa"),
        (math.inf, math.inf, math.inf),
        lambda n: np.stack([n**0, n - 1, n * (n - 1)], axis=1),
    ),
}
LAWS: tuple[Law, ...] = tuple(_SHAPES)


def fit(law: Law, sizes: Sequence[int], throughputs_per_second: Sequence[float]) -> LawFit | Refusal:
    """Fit `law` to points (size, throughput); the same size may come several times, once for each repeat."""
    if len(sizes) != len(throughputs_per_second):
        raise ValueError(f"{len(sizes)} sizes and {len(throughputs_per_second)} throughputs are no points")
    missing = _what_is_missing(law, sizes, throughputs_per_second)
    if missing:
        return Refusal(law, missing)
    n, x = np.asarray(sizes, np.float64), np.asarray(throughputs_per_second, np.float64)
    coefficients = _solve(law, n, x)
    residuals = throughput_per_second(law, coefficients, n) - x
    return LawFit(
        law,
        coefficients,
        rmse=float(np.sqrt(np.mean(residuals**2))),
        peak_size=_peak_size(coefficients),
    )


def predict(fitted: LawFit, size: float) -> float:
    """Throughput per second that the fitted law gives for `size` pods."""
    return float(throughput_per_second(fitted.law, fitted.coefficients, np.float64(size)))


def throughput_per_second(
    law: Law, coefficients: Mapping[str, float], size: Floats | np.float64
) -> Floats | np.float64:
    """The law itself, for one size or an array of sizes; coefficients that the law does not have count as 0."""
    if law not in _SHAPES:
        raise ValueError(f"no such law: {law}; there are {', '.join(_SHAPES)}")
    sigma, kappa = coefficients.get("sigma", 0.0), coefficients.get("kappa", 0.0)
    return coefficients["lambda"] * size / (1 + sigma * (size - 1) + kappa * size * (size - 1))


def slopes(law: Law, coefficients: Mapping[str, float], names: Sequence[str], sizes: Floats) -> Floats:
    """How the throughput at each size (rows) changes with each of the named coefficients (columns)."""
    rate = np.asarray(throughput_per_second(law, coefficients, sizes))
    per_lambda = rate / coefficients["lambda"]
    columns = {
        "lambda": per_lambda,
        "sigma": -rate * per_lambda / sizes * (sizes - 1),
        "kappa": -rate * per_lambda * (sizes - 1),
    }
    return np.stack([columns[name] for name in names], axis=1)


def _what_is_missing(law: Law, sizes: Sequence[int], throughputs: Sequence[float]) -> str:
    """The reason to refuse, or an empty string."""
    shape = _SHAPES[law]
    for size, throughput in zip(sizes, throughputs, strict=True):
        if not (math.isfinite(size) and size >= 1 and math.isfinite(throughput) and throughput > 0):
            return (
                f"{shape.name} needs sizes of 1 or more and throughputs above 0; {throughput:g} requests/s at size "
                f"{size:g} is no such point: measure that size again or leave it out."
            )
    # With as many sizes as coefficients the curve runs through every mean, however wrong the law is.
    present, needed = sorted(set(sizes)), len(shape.coefficients) + 1
    if len(present) >= needed:
        return ""
    count = f"{len(shape.coefficients)} coefficient{'s' if len(shape.coefficients) > 1 else ''}"
    measured = f"{_listed(present)} {'was' if len(present) < 2 else 'were'} measured"
    return (
        f"{shape.name} has {count} and needs at least {needed} different sizes, else any data would seem to fit; "
        f"{measured}: add {_listed(_sizes_to_add(present, needed))}."
    )


def _sizes_to_add(present: Sequence[int], needed: int) -> list[int]:
    """The smallest sizes of 1, 2, 3, 4, 6, 8, 12, ... that are still missing."""

    def series() -> Iterator[int]:
        yield 1
        for power in itertools.count():
            yield 2 * 2**power
            yield 3 * 2**power

    absent = (size for size in series() if size not in present)
    return list(itertools.islice(absent, needed - len(present)))


def _listed(sizes: Sequence[int]) -> str:
    names = [str(size) for size in sizes] or ["none"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _solve(law: Law, n: Floats, x: Floats) -> dict[str, float]:
    """Least squares on the throughputs, the best of two descents.

    One begins at the solution of the linear problem n/X = costs . b, b >= 0, close to the end for sound data. The
    other begins at the next simpler law's solution, so that a law with more coefficients never fits worse.
    """
    unit, largest = float(x.max()), float(n.max())  # the solver's tolerances are for numbers near 1
    descents = [_descend(law, start, n, x / unit) for start in _starts(law, n, x / unit)]
    free, _ = min(descents, key=lambda descent: descent[1])
    # The solver never quite reaches a bound: what changes the largest size by less than a millionth is 0.
    free[1:][free[1:] * largest ** np.arange(1, len(free)) < 1e-6] = 0.0
    return dict(zip(_SHAPES[law].coefficients, map(float, free * [unit, 1, 1][: len(free)]), strict=True))


def _starts(law: Law, n: Floats, x: Floats) -> Iterator[Floats]:
    costs = nnls(_SHAPES[law].costs(n), n / x)[0]
    slope = max(float(costs[0]), 1e-9)  # 1/lambda; 0 only for data that rises faster than any of the laws
    yield np.array([1 / slope, *(costs[1:] / slope)])
    if law != LAWS[0]:
        simpler = _solve(LAWS[LAWS.index(law) - 1], n, x)
        yield np.array([*simpler.values(), 0.0])


def _descend(law: Law, start: Floats, n: Floats, x: Floats) -> tuple[Floats, float]:
    """The coefficients that the descent from `start` reaches, and their sum of squares."""
    names, upper = _SHAPES[law].coefficients, np.array(_SHAPES[law].upper)

    def residuals(free: Floats) -> Floats:
        return np.asarray(throughput_per_second(law, dict(zip(names, free, strict=True)), n)) - x

    solution = least_squares(
        residuals,
        np.clip(start, 1e-12, upper * (1 - 1e-9)),
        bounds=(np.zeros(len(names)), upper),
        x_scale=np.array([(x / n).max(), 1 / n.max(), 1 / n.max() ** 2])[: len(names)],
        ftol=1e-14,
        xtol=1e-14,
        gtol=1e-14,
        max_nfev=1_000,
    )
    return np.asarray(solution.x, np.float64), float(solution.cost)


def _peak_size(coefficients: Mapping[str, float]) -> float | None:
    """Where usl turns: sqrt((1 - sigma) / kappa), and never below 1."""
    sigma, kappa = coefficients.get("sigma", 0.0), coefficients.get("kappa", 0.0)
    return max(1.0, math.sqrt(max(0.0, 1 - sigma) / kappa)) if kappa else None
