"""What the tail of n pods is made of: how many milliseconds of its p99 each cause costs.

The same load on topologies that differ in one thing each. From pods with a quota each, over pods without a limit, to
one pod of n workers, to a request that waits for nothing, the p99 falls in steps, and each step is one cause:

    quota          pods            - pods-unlimited
    random choice  pods-unlimited  - workers
    queueing       workers         - the work itself

The steps add up to the p99 of `pods` less the work. A step can be negative: pods without a limit may use more CPU than
the quota of the workers allows, and are then faster. Times are in seconds; None is not measured.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from podscale.analysis import words
from podscale.analysis.queueing import Arrivals, random_choice_quantile, shared_queue_quantile

Cause = Literal["quota", "random choice", "queueing"]
# A topology by name, and the p99 of each of its stages.
_Side = tuple[str, list[float]]


@dataclass(frozen=True)
class TailPoint:
    """One stage of a topology: its p99, and the share of quota periods in which the kernel stopped it.

    `limited`: whether a CPU quota holds it.
    """

    topology: str
    p99_seconds: float
    limited: bool
    throttled_fraction: float | None = None


@dataclass(frozen=True)
class Load:
    """What all topologies of one size were asked: `cores` is the CPU that a quota leaves them, None without one.

    `service_seconds`: the CPU time of a request, None where unknown.
    """

    size: int
    rate_per_second: float
    arrivals: Arrivals
    service_seconds: float | None
    cores: float | None


@dataclass(frozen=True)
class Share:
    """What one cause adds to the p99, with the least and the most that two repeats give, what theory gives, and why."""

    cause: Cause
    seconds: float | None
    evidence: str
    low_seconds: float | None = None
    high_seconds: float | None = None
    theory_seconds: float | None = None


@dataclass(frozen=True)
class Explanation:
    """All causes, the p99 they explain, and the one that leads: in a sentence, and in one with all parts."""

    p99_seconds: float | None
    shares: tuple[Share, ...]
    leading: Cause | None
    sentence: str
    parts: str


def explain(points: Sequence[TailPoint], load: Load) -> Explanation:
    """Hold the topologies against each other; points are those of one size and load that count."""
    pods, workers = _p99s(points, "pods"), _p99s(points, "workers")
    limited = any(point.limited for point in points if point.topology == "pods")
    # Where nothing has a quota, pods are pods without a limit.
    unlimited = _p99s(points, "pods-unlimited") if limited else pods
    work = [] if load.service_seconds is None else [load.service_seconds]
    shares = (
        _quota(points, pods, unlimited, limited=limited),
        _random_choice(unlimited, workers, load),
        _queueing(workers, work, load),
    )
    p99_seconds = fmean(pods) if pods else None
    leading = _leading(shares)
    sentence = _sentence(p99_seconds, shares, leading, load)
    return Explanation(p99_seconds, shares, leading, sentence, _parts(p99_seconds, shares, load))


def _p99s(points: Sequence[TailPoint], topology: str) -> list[float]:
    return [point.p99_seconds for point in points if point.topology == topology]


def _quota(points: Sequence[TailPoint], pods: list[float], unlimited: list[float], *, limited: bool) -> Share:
    if pods and not limited:
        return Share("quota", None, "not measured: these pods have no CPU quota")
    throttled = [
        point.throttled_fraction
        for point in points
        if point.topology == "pods" and point.throttled_fraction is not None
    ]
    stopped = (
        f"the quota stopped pods in {fmean(throttled):.0%} of its periods"
        if throttled
        else "how often the quota stopped pods is unknown"
    )
    return _share("quota", ("pods", pods), ("pods-unlimited", unlimited), stopped)


def _random_choice(unlimited: list[float], workers: list[float], load: Load) -> Share:
    theory = None
    if load.service_seconds is not None:
        chosen = random_choice_quantile(0.99, load.rate_per_second, load.service_seconds, load.size, load.arrivals)
        theory = _finite(chosen - _shared_queue(load, load.service_seconds))
    return _share("random choice", ("pods that nothing limits", unlimited), ("workers", workers), "", theory)


def _queueing(workers: list[float], work: list[float], load: Load) -> Share:
    theory = _finite(_shared_queue(load, work[0]) - work[0]) if work else None
    return _share("queueing", ("workers", workers), ("the work alone", work), "", theory)


def _shared_queue(load: Load, service_seconds: float) -> float:
    """The p99 of one queue before as many servers as the quota allows cores; a part of a core is a slower server."""
    cores = load.size if load.cores is None else min(load.cores, load.size)
    servers = max(1, math.floor(cores + 1e-9))
    slower = servers / cores if cores < 1 else 1.0
    return shared_queue_quantile(0.99, load.rate_per_second, service_seconds * slower, servers, load.arrivals)


def _share(cause: Cause, more: _Side, less: _Side, evidence: str, theory_seconds: float | None = None) -> Share:
    """The difference of the means; its interval from the repeats that lie furthest apart."""
    (name, with_it), (other, without) = more, less
    missing = [side for side, values in (more, less) if not values]
    if missing:
        return Share(cause, None, f"not measured: there is no valid stage of {words.listed(missing)}")
    before, after = words.milliseconds(fmean(with_it)), words.milliseconds(fmean(without))
    seen = f"p99 {before} ({name}) against {after} ({other})"
    repeated = len(with_it) > 1
    return Share(
        cause,
        fmean(with_it) - fmean(without),
        "; ".join(filter(None, [evidence, seen])),
        min(with_it) - max(without) if repeated else None,
        max(with_it) - min(without) if repeated else None,
        theory_seconds,
    )


def _leading(shares: Sequence[Share]) -> Cause | None:
    """The cause that costs most, if its least is above the most of every other."""
    measured = [share for share in shares if share.seconds is not None]
    if not measured:
        return None
    most = max(measured, key=lambda share: share.seconds or 0)
    others = [share for share in measured if share is not most]
    least = most.seconds if most.low_seconds is None else most.low_seconds
    if least is None or least <= 0 or any(least <= _most_of(other) for other in others):
        return None
    return most.cause


def _most_of(share: Share) -> float:
    return (share.seconds or 0.0) if share.high_seconds is None else share.high_seconds


def _finite(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) else None


_NAMES: dict[Cause, str] = {
    "quota": "the CPU quota",
    "random choice": "random choice among pods",
    "queueing": "queueing",
}


def _sentence(p99_seconds: float | None, shares: Sequence[Share], leading: Cause | None, load: Load) -> str:
    where = _where(load)
    if p99_seconds is None:
        return f"{where}: no cause can be named, since no stage of pods counts."
    whole = words.milliseconds(p99_seconds)
    if leading is None:
        measured = any(share.seconds is not None for share in shares)
        why = (
            "the repeats do not tell the largest from the others, or from nothing" if measured else "none was measured"
        )
        return f"No cause leads in the p99 of {whole} of {where}: {why}."
    share = next(share for share in shares if share.cause == leading)
    name = _NAMES[leading]
    cost = f"{name[0].upper()}{name[1:]} costs most: {words.milliseconds(share.seconds or 0)} of the p99 of {whole}"
    why = f"; {share.evidence.split('; ')[0]}" if leading == "quota" else ""
    return f"{cost}, with {where}{why}."


def _parts(p99_seconds: float | None, shares: Sequence[Share], load: Load) -> str:
    """The p99 as a sum; empty where there is none."""
    if p99_seconds is None:
        return ""
    parts = [f"{_NAMES[share.cause]} {_cost(share)}" for share in shares if share.seconds is not None]
    if load.service_seconds is not None:
        parts.append(f"the work itself {words.milliseconds(load.service_seconds)}")
    unknown = [share.evidence for share in shares if share.seconds is None]
    rest = "".join(f" {text[0].upper()}{text[1:]}." for text in dict.fromkeys(unknown))
    return f"{_where(load)}: p99 {words.milliseconds(p99_seconds)}: {words.listed(parts) or 'parts unknown'}.{rest}"


def _where(load: Load) -> str:
    arrivals = {"constant": "evenly spaced", "poisson": "Poisson"}[load.arrivals]
    return f"{words.pods(load.size)} at {words.per_second(load.rate_per_second)} and {arrivals} arrivals"


def _cost(share: Share) -> str:
    shown = words.milliseconds(share.seconds or 0)
    if share.low_seconds is None or share.high_seconds is None:
        return shown
    return f"{shown} ({words.number(share.low_seconds * 1000)} to {words.number(share.high_seconds * 1000)})"
