"""From measured stages to laws and advice: hands the stages' figures to the analysis and takes its answers back."""

import msgspec

from podscale.analysis import advice as advising
from podscale.analysis import goals, scaling, words
from podscale.analysis.advice import Goal
from podscale.analysis.goals import CapacityPoint, GoalPoint
from podscale.sweep.options import DEFAULT_GOAL_UTILISATION
from podscale.sweep.plan import Plan
from podscale.sweep.results import Advice, Fit, Stage


def fits(stages: list[Stage]) -> list[Fit]:
    """Every law fitted to the valid capacity stages, or why it was refused."""
    points = [(stage.size, stage.throughput_per_second) for stage in stages if _counts(stage)]
    sizes = [size for size, _ in points]
    throughputs = [throughput for _, throughput in points if throughput is not None]
    return [_fit(scaling.fit(law, sizes, throughputs)) for law in scaling.LAWS]


def goal_of(plan: Plan, stages: list[Stage]) -> Goal | None:
    """What the sweep is asked: the rate as asked, else a share of what the largest size did; None without capacity."""
    rate = plan.rate_per_second
    if rate is None:
        per_size = goals.mean_capacity(_capacity_points(stages))
        if not per_size or not plan.goal:
            return None
        rate = round(DEFAULT_GOAL_UTILISATION * per_size[max(per_size)], 1)
    return Goal(rate_per_second=rate, slo_p99_seconds=plan.slo_p99_seconds, arrivals=plan.arrivals)


def first_size(stages: list[Stage], goal: Goal) -> int | None:
    """The size to try first for the goal, within the sizes measured; None where no number of pods will do."""
    per_size = goals.mean_capacity(_capacity_points(stages))
    smallest, largest = min(per_size), max(per_size)
    size = advising.candidate_size(per_size[smallest] / smallest, goal)
    return None if size is None else min(size, largest)


def next_size(stages: list[Stage], goal: Goal, size: int, largest: int) -> int | None:
    """After `size` was tried: the neighbour that is still in question, None once n holds and n - 1 does not."""
    outcomes = goals.judge(_goal_points(stages), goal.slo_p99_seconds)
    if size not in outcomes:
        return size  # void: once more
    neighbour = size - 1 if outcomes[size].holds else size + 1
    return None if neighbour in outcomes or not 1 <= neighbour <= largest else neighbour


def advice(plan: Plan, stages: list[Stage]) -> Advice:
    """The sentence at the end of a sweep."""
    if plan.target == "url":
        return _advice_as_it_is(plan, stages)
    goal = goal_of(plan, stages)
    found = advising.advise(_capacity_points(stages), _goal_points(stages), goal=goal)
    return Advice(
        sentence=found.sentence,
        rate_per_second=goal.rate_per_second if goal else None,
        slo_p99_seconds=goal.slo_p99_seconds if goal else None,
        pods=found.pods,
        capacity_per_pod_per_second=found.capacity_per_pod_per_second,
        verified=found.verified,
        reasons=list(found.reasons),
    )


def _advice_as_it_is(plan: Plan, stages: list[Stage]) -> Advice:
    """Of a service that is not scaled: what it did, or whether it held the goal. How many pods it has is not known."""
    goal = goal_of(plan, stages) if plan.model == "open" else None
    base = Advice(
        sentence=f"No figure: no stage of {plan.url} counts; the verdicts say why.",
        rate_per_second=goal.rate_per_second if goal else None,
        slo_p99_seconds=goal.slo_p99_seconds if goal else None,
    )
    valid = [stage for stage in stages if stage.valid and stage.throughput_per_second is not None]
    if not valid:
        return base
    if goal is None:
        most = max(stage.throughput_per_second or 0 for stage in valid)
        sentence = f"{plan.url} did {words.per_second(most)} with {valid[0].asked.describe()}, as it is."
    else:
        outcome = goals.judge(_goal_points(valid), goal.slo_p99_seconds)[1]
        holds = "holds" if outcome.holds else "does not hold"
        sentence = f"{plan.url}, as it is, {holds} {goal} (measured {outcome.figure})."
    return msgspec.structs.replace(base, sentence=sentence)


def _counts(stage: Stage) -> bool:
    return stage.purpose == "capacity" and stage.valid and stage.throughput_per_second is not None


def _capacity_points(stages: list[Stage]) -> list[CapacityPoint]:
    return [
        CapacityPoint(
            size=stage.size,
            throughput_per_second=stage.throughput_per_second,
            p99_seconds=stage.latency_seconds.p99 if stage.latency_seconds else None,
            valid=stage.valid,
        )
        for stage in stages
        if stage.purpose == "capacity"
    ]


def goal_point(stage: Stage) -> GoalPoint:
    """What a stage says about a latency goal."""
    arrived = stage.arrivals / stage.measured_seconds if stage.arrivals and stage.measured_seconds else None
    return GoalPoint(
        size=stage.size,
        rate_per_second=stage.asked.rate_per_second or 0.0,
        p99_seconds=stage.latency_seconds.p99 if stage.latency_seconds else None,
        error_fraction=sum(stage.errors.values()) / stage.requests if stage.requests else None,
        throughput_per_second=stage.throughput_per_second,
        valid=stage.valid,
        arrived_per_second=arrived,
        measured_seconds=stage.measured_seconds,
    )


def _goal_points(stages: list[Stage]) -> list[GoalPoint]:
    return [goal_point(stage) for stage in stages if stage.purpose == "goal"]


def _fit(found: scaling.LawFit | scaling.Refusal) -> Fit:
    if isinstance(found, scaling.Refusal):
        return Fit(law=found.law, refused=found.reason)
    return Fit(
        law=found.law,
        coefficients=msgspec.to_builtins(dict(found.coefficients)),
        rmse=found.rmse,
        peak_size=found.peak_size,
    )
