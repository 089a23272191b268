"""How many pods: a sentence, the number behind it, and what it rests on.

Two kinds of measurement carry the answer. A capacity point says how much n pods do at most; from it follows an
estimate. A goal point says whether n pods held the latency goal at the very rate; it decides.
"""

import bisect
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from podscale.analysis import goals, words
from podscale.analysis.goals import GOAL_RULE, CapacityPoint, GoalPoint, GoalRule
from podscale.analysis.queueing import Arrivals, random_choice_quantile, shared_queue_quantile

# Without a latency goal: how busy pods may be on average. What is left absorbs chance and a lost pod.
UTILISATION_LIMIT = 0.8


@dataclass(frozen=True)
class Goal:
    """What is asked: a rate of all pods together, a latency goal (p99, or None) and how requests arrive."""

    rate_per_second: float
    slo_p99_seconds: float | None = None
    arrivals: Arrivals = "poisson"

    def __str__(self) -> str:
        latency = f"p99 <= {words.milliseconds(self.slo_p99_seconds)} at " if self.slo_p99_seconds is not None else ""
        return f"{latency}{words.per_second(self.rate_per_second)}"


@dataclass(frozen=True)
class PodAdvice:
    """The answer. `pods` is None where the data carries no number; `sentence` then says why and what to do.

    `verified`: the size was measured to hold the goal, and one pod fewer was measured to miss it (or is not possible).
    """

    sentence: str
    pods: int | None = None
    capacity_per_pod_per_second: float | None = None
    verified: bool = False
    reasons: tuple[str, ...] = ()


def advise(
    capacity: Sequence[CapacityPoint],
    measured_goals: Sequence[GoalPoint] = (),
    *,
    goal: Goal | None,
    rule: GoalRule = GOAL_RULE,
) -> PodAdvice:
    """The best answer that the points carry. Goal points of another rate than the goal's are no evidence for it."""
    per_size = goals.mean_capacity(capacity)
    if goal is None:
        return _capacity_alone(capacity, per_size)
    at_rate = [point for point in measured_goals if math.isclose(point.rate_per_second, goal.rate_per_second)]
    outcomes = goals.judge(at_rate, goal.slo_p99_seconds, rule)
    advice = _verified_or_measured(outcomes, goal, per_size) if outcomes else _estimate(per_size, goal, capacity)
    return _with_reasons(advice, goal, per_size, at_rate)


def candidate_size(
    capacity_per_pod_per_second: float, goal: Goal, utilisation_limit: float = UTILISATION_LIMIT
) -> int | None:
    """The size to verify first: the smallest whose predicted p99, with random choice, is within the latency goal.

    Without a latency goal, the smallest that is at most `utilisation_limit` busy. None where no number of pods will do,
    since one request alone takes longer than the goal.
    """
    service_seconds = 1 / capacity_per_pod_per_second
    if goal.slo_p99_seconds is None:
        return max(1, math.ceil(goal.rate_per_second / (capacity_per_pod_per_second * utilisation_limit) - 1e-9))
    if service_seconds > goal.slo_p99_seconds:
        return None
    slo_p99_seconds = goal.slo_p99_seconds

    def holds(pods: int) -> bool:
        predicted = random_choice_quantile(0.99, goal.rate_per_second, service_seconds, pods, goal.arrivals)
        return predicted <= slo_p99_seconds

    # More pods never wait longer; where they are less than 1 % busy, 99 % of all requests do not wait at all.
    first, last = (max(1, math.ceil(goal.rate_per_second * service_seconds / busy - 1e-9)) for busy in (1, 0.005))
    return first + bisect.bisect_left(range(first, last), True, key=holds)


def _capacity_alone(capacity: Sequence[CapacityPoint], per_size: dict[int, float]) -> PodAdvice:
    """No rate was asked for: say what was measured, and no number of pods."""
    if not per_size:
        return PodAdvice(_no_capacity(capacity))
    shown = [
        f"{words.pods(size)} {'does' if size == 1 else 'do'} {words.per_second(rate)}"
        for size, rate in sorted(per_size.items())
    ]
    return PodAdvice(
        f"At most, {words.listed(shown)}. How many are needed depends on the rate: none was asked for.",
        capacity_per_pod_per_second=_per_pod(per_size, max(per_size)),
    )


def _verified_or_measured(outcomes: dict[int, goals.Outcome], goal: Goal, per_size: dict[int, float]) -> PodAdvice:
    """The smallest size that was measured to hold the goal, beside what one pod fewer did."""
    holding = [size for size, outcome in sorted(outcomes.items()) if outcome.holds]
    if not holding:
        return _nothing_held(outcomes, goal, per_size)
    size = holding[0]
    verb = "holds" if size == 1 else "hold"
    held = f"{words.pods(size)} {verb} {goal} (measured {outcomes[size].figure})"
    capacity = _per_pod(per_size, size)
    if size == 1:
        return PodAdvice(f"{held}; fewer is not possible.", size, capacity, verified=True)
    below = max((other for other in outcomes if other < size), default=None)
    if below is not None:
        held += f"; {words.pods(below)} {'does' if below == 1 else 'do'} not ({outcomes[below].figure})"
    if below == size - 1:
        return PodAdvice(f"{held}.", size, capacity, verified=True)
    doubt = f"Not verified: there is no valid measurement of {words.pods(size - 1)} at this rate."
    return PodAdvice(f"{held}. {doubt}", size, capacity)


def _nothing_held(outcomes: dict[int, goals.Outcome], goal: Goal, per_size: dict[int, float]) -> PodAdvice:
    missed = [f"{words.pods(size)} ({outcome.figure})" for size, outcome in sorted(outcomes.items())]
    per_pod = _per_pod(per_size, max(per_size, default=1))
    needed = candidate_size(per_pod, goal) if per_pod else max(outcomes) + 1
    if needed is None:
        next_step = "One request alone takes longer than the goal allows, however many pods there are."
    else:
        next_step = f"Measure {words.pods(max(needed, max(outcomes) + 1))} next."
    return PodAdvice(
        f"No number of pods: of the sizes measured, none holds {goal}: {words.listed(missed)}. {next_step}",
        capacity_per_pod_per_second=per_pod,
    )


def _estimate(per_size: dict[int, float], goal: Goal, capacity: Sequence[CapacityPoint]) -> PodAdvice:
    """From capacity alone, within the sizes measured; between two of them, capacity is interpolated."""
    if not per_size:
        return PodAdvice(_no_capacity(capacity))
    for size in range(min(per_size), max(per_size) + 1):
        per_pod = goals.interpolated(per_size, size) / size
        needed = candidate_size(per_pod, goal)
        if needed is not None and needed <= size:
            qualifier = "at most " if size == min(per_size) > 1 else "about "
            return PodAdvice(
                f"An estimate, not verified: {qualifier}{words.pods(size)} for {goal}, from "
                f"{words.per_second(per_pod)} per pod.",
                size,
                per_pod,
            )
    return _beyond(per_size, goal)


def _beyond(per_size: dict[int, float], goal: Goal) -> PodAdvice:
    largest = max(per_size)
    per_pod = per_size[largest] / largest
    needed = candidate_size(per_pod, goal)
    if needed is None:
        sentence = (
            f"No number of pods will do for {goal}: one request alone takes about {words.milliseconds(1 / per_pod)}."
        )
    else:
        sentence = (
            f"No number of pods: {goal} needs more than the largest size measured, {words.pods(largest)} with "
            f"{words.per_second(per_size[largest])} at most. Measure {words.pods(max(needed, largest + 1))} next."
        )
    return PodAdvice(sentence, capacity_per_pod_per_second=per_pod)


def _no_capacity(capacity: Sequence[CapacityPoint]) -> str:
    if not capacity:
        return "No number of pods: no stage measured how much a pod can do."
    return f"No number of pods: no capacity stage is valid, of {len(capacity)}; their verdicts say why."


def _per_pod(per_size: dict[int, float], size: int) -> float | None:
    """Capacity of one pod among `size`; None outside the sizes measured."""
    if not per_size or not min(per_size) <= size <= max(per_size):
        return None
    return goals.interpolated(per_size, size) / size


def _with_reasons(advice: PodAdvice, goal: Goal, per_size: dict[int, float], at_rate: Sequence[GoalPoint]) -> PodAdvice:
    reasons = []
    if advice.pods and advice.capacity_per_pod_per_second:
        reasons += _load_reasons(advice.pods, advice.capacity_per_pod_per_second, goal)
    reasons += [
        f"{words.pods(size)} missed the goal although fewer held it ({outcome.figure}): the machine or chance decides "
        "here, so repeat the measurement."
        for size, outcome in goals.judge(at_rate, goal.slo_p99_seconds).items()
        if advice.pods and size > advice.pods and not outcome.holds
    ]
    void = sorted({point.size for point in at_rate if not point.valid})
    reasons += [
        f"A goal stage of {words.pods(size)} was void and does not count; its verdict says why." for size in void
    ]
    return replace(advice, reasons=tuple(reasons))


def _load_reasons(pods: int, per_pod: float, goal: Goal) -> list[str]:
    busy = goal.rate_per_second / (pods * per_pod)
    shared_out = f" ({words.per_second(per_pod)} per pod)" if pods > 1 else ""
    most = f"{words.pods(pods)} can do about {words.per_second(pods * per_pod)}{shared_out}"
    return [f"{most}: this rate is {busy:.0%} of it.", _theory(pods, per_pod, goal)]


def _theory(pods: int, per_pod: float, goal: Goal) -> str:
    """What queueing gives for jobs of one length: the two lines that the report draws beside the measurement."""
    chosen = random_choice_quantile(0.99, goal.rate_per_second, 1 / per_pod, pods, goal.arrivals)
    if not math.isfinite(chosen):
        return "Theory: this close to the capacity, queues do not settle within a measurement."
    shared = shared_queue_quantile(0.99, goal.rate_per_second, 1 / per_pod, pods, goal.arrivals)
    how = (
        f" if each request picks a pod at random, {words.milliseconds(shared)} with one shared queue"
        if pods > 1
        else ""
    )
    arrivals = {"poisson": "Poisson", "constant": "evenly spaced"}[goal.arrivals]
    return f"Theory for {arrivals} arrivals and jobs of equal length: p99 {words.milliseconds(chosen)}{how}."
