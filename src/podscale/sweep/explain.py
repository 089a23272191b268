"""From the stages of a comparison to causes: hands the stages' figures to the analysis and takes its answers back."""

from statistics import fmean
from typing import get_args

from podscale.analysis import causes as analysis
from podscale.contract import Arrivals
from podscale.sweep.results import Advice, CauseOfTail, Stage, TailCauses


def tail_causes(stages: list[Stage]) -> list[TailCauses]:
    """Where the p99 of `pods` comes from, at each size and with each kind of arrivals that was measured.

    With one process pods and workers are the same: there is nothing to choose among and nothing to share.
    """
    loads = [stage for stage in stages if stage.purpose == "load" and stage.size > 1]
    found = []
    for size in sorted({stage.size for stage in loads}):
        for arrivals in get_args(Arrivals):
            mine = [stage for stage in loads if (stage.size, stage.asked.arrivals) == (size, arrivals)]
            if mine:
                found.append(_causes(mine, size, arrivals))
    return found


def advice(causes: list[TailCauses], stages: list[Stage]) -> Advice:
    """The sentence at the head of the report: of the largest size whose p99 is known, the harder arrivals' one."""
    known = [cause for cause in causes if cause.p99_seconds is not None]
    if not known:
        void = sum(not stage.valid for stage in stages)
        if not void and stages:
            return Advice(sentence="No cause can be named: with one process pods and workers are the same.")
        return Advice(sentence=f"No comparison: {void} of {len(stages)} stages are void; their verdicts say why.")
    first = max(known, key=lambda cause: (cause.size, cause.leading is not None, cause.p99_seconds or 0.0))
    return Advice(
        sentence=first.sentence,
        rate_per_second=first.rate_per_second,
        reasons=[first.parts, *(cause.parts for cause in reversed(known) if cause is not first)],
    )


def _causes(stages: list[Stage], size: int, arrivals: Arrivals) -> TailCauses:
    load = analysis.Load(
        size=size,
        rate_per_second=stages[0].asked.rate_per_second or 0.0,
        arrivals=arrivals,
        service_seconds=_service_seconds(stages),
        cores=_cores(stages),
    )
    points = [
        analysis.TailPoint(
            topology=stage.topology,
            p99_seconds=stage.latency_seconds.p99,
            limited=stage.budget is not None and stage.budget.limited,
            throttled_fraction=_throttled_fraction(stage),
        )
        for stage in stages
        if stage.valid and stage.latency_seconds is not None
    ]
    found = analysis.explain(points, load)
    return TailCauses(
        size=size,
        arrivals=arrivals,
        rate_per_second=load.rate_per_second,
        p99_seconds=found.p99_seconds,
        service_seconds=load.service_seconds,
        causes=[
            CauseOfTail(
                cause=share.cause,
                seconds=share.seconds,
                low_seconds=share.low_seconds,
                high_seconds=share.high_seconds,
                theory_seconds=share.theory_seconds,
                evidence=share.evidence,
            )
            for share in found.shares
        ],
        leading=found.leading,
        sentence=found.sentence,
        parts=found.parts,
    )


def _service_seconds(stages: list[Stage]) -> float | None:
    """How long a request works: as asked for, else the CPU that it cost, None where neither is known."""
    asked = stages[0].asked.options.get("cpu_time_ms")
    if isinstance(asked, int | float):
        return asked / 1000
    costs = [stage.cpu_seconds_per_request for stage in stages if stage.valid and stage.cpu_seconds_per_request]
    return fmean(costs) if costs else None


def _cores(stages: list[Stage]) -> float | None:
    """The CPU that a quota leaves the workers, None without one."""
    quotas = [stage.budget.cpu_cores for stage in stages if stage.budget is not None and stage.budget.limited]
    return max(quotas) if quotas else None


def _throttled_fraction(stage: Stage) -> float | None:
    throttled = stage.throttled
    if not throttled.periods or throttled.throttled_periods is None:
        return None
    return throttled.throttled_periods / throttled.periods
