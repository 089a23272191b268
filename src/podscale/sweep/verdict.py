"""Judges a stage: what limited it, what spoiled it, each in a sentence with the figures behind it."""

import math
from collections.abc import Callable

import msgspec

from podscale.analysis import goals
from podscale.sweep.conclude import goal_point
from podscale.sweep.results import Stage, Verdict

# A generator that is busier than this sends late and measures itself.
GENERATOR_BUSY = 0.9
# More late sends than this, and the intended schedule was not the real one.
LATE_SHARE = 0.05
RATE_SHARE, RATE_SIGMAS = 0.95, 3
ERROR_SHARE = 0.01
OLD_SHARE = 0.005
THROTTLED_SHARE = 0.05
# A pod that uses this much of its core does nothing else than its work.
POD_BUSY = 0.85
NODE_BUSY = 0.9
# Uneven beyond chance: this many standard deviations of a random choice, and at least this ratio.
UNEVEN_SIGMAS = 4
UNEVEN_RATIO = 1.25


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules look at beside the stage's own figures."""

    stage: Stage
    cores_per_pod: float  # what one pod can use, by its limit or by its one event loop; inf where unknown
    cores: float | None = None  # of the machine, or of the nodes that carry the pods; None where unknown
    more_workers: str = "raise --locust-workers"
    mean_queue_seconds: float | None = None
    identified: bool = True  # whether answers name their pods
    slo_p99_seconds: float | None = None
    lost_pods: tuple[str, ...] = ()  # and workers of a pod
    not_reached: str | None = None
    old_answers: int = 0  # in the window, of pods that were to go after the stage before
    unread: str | None = None
    void: str | None = None  # the load's own reason why the stage does not count
    interrupted: str | None = None


class Rule(msgspec.Struct, frozen=True):
    """A code, whether it voids the stage, and the evidence: a sentence where it applies, else None."""

    code: str
    voids: bool
    evidence: Callable[[Facts], str | None]


def judge(facts: Facts) -> Stage:
    """The stage with its verdicts; invalid as soon as one of them voids it."""
    found = [(rule, evidence) for rule in RULES if (evidence := rule.evidence(facts)) is not None]
    return msgspec.structs.replace(
        facts.stage,
        verdicts=[Verdict(code=rule.code, evidence=evidence) for rule, evidence in found],
        valid=not any(rule.voids for rule, _ in found),
    )


def busy_share(facts: Facts) -> float | None:
    """How much of what the pods may use they used, 0 to 1; None where CPU or limit is unknown."""
    stage = facts.stage
    # Jobs that sleep use no CPU, however busy the pod is.
    asleep = stage.asked.options.get("clock") == "sleep"
    if asleep or stage.cpu_seconds is None or not stage.measured_seconds or not math.isfinite(facts.cores_per_pod):
        return None
    return stage.cpu_seconds / (stage.measured_seconds * stage.size * facts.cores_per_pod)


def _not_reached(facts: Facts) -> str | None:
    return facts.not_reached


def _interrupted(facts: Facts) -> str | None:
    return facts.interrupted


def _worker_lost(facts: Facts) -> str | None:
    generator = facts.stage.generator
    if generator is not None and generator.lost_workers:
        return (
            f"{generator.lost_workers} of {generator.workers} Locust workers went missing: {facts.void or 'no reason'}"
        )
    return None


def _void(facts: Facts) -> str | None:
    return facts.void if _worker_lost(facts) is None else None


def _pod_lost(facts: Facts) -> str | None:
    return f"ended during the stage: {', '.join(facts.lost_pods)}" if facts.lost_pods else None


def _generator_saturated(facts: Facts) -> str | None:
    generator = facts.stage.generator
    if generator is None:
        return None
    if generator.cpu_fraction is not None and generator.cpu_fraction > GENERATOR_BUSY:
        return f"the busiest Locust worker used {generator.cpu_fraction:.0%} of its core; {facts.more_workers}"
    if generator.dropped:
        return f"{generator.dropped} arrivals were never sent because too many were in flight"
    arrivals = facts.stage.arrivals
    # A job of a burst is much longer than 10 ms, and its time counts from when it was due.
    if facts.stage.purpose == "burst":
        return None
    if facts.stage.asked.model == "open" and arrivals and generator.late / arrivals > LATE_SHARE:
        return f"{generator.late} of {arrivals} arrivals were sent more than 10 ms late"
    return None


def _rate_missed(facts: Facts) -> str | None:
    stage = facts.stage
    asked, seconds = stage.asked.rate_per_second, stage.measured_seconds
    if not asked or not seconds or stage.arrivals is None:
        return None
    # Poisson arrivals are never exactly on the mean, and the edge of a window may cut one off: that is no fault.
    chance = RATE_SIGMAS * math.sqrt(asked * seconds) if stage.asked.arrivals == "poisson" else 1.0
    if stage.arrivals >= RATE_SHARE * asked * seconds - chance:
        return None
    return f"{stage.arrivals / seconds:.1f} arrivals/s were offered of {asked:g} asked"


def _errors(facts: Facts) -> str | None:
    failed, total = sum(facts.stage.errors.values()), facts.stage.requests
    if not failed or not total:
        return None
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(facts.stage.errors.items()) if count)
    return f"{failed} of {total} requests failed ({failed / total:.2%}): {kinds}"


def _errors_void(facts: Facts) -> str | None:
    """Too many errors to speak of a capacity. For a latency goal they are a finding, not a fault."""
    stage = facts.stage
    if stage.purpose == "capacity" and stage.requests and sum(stage.errors.values()) / stage.requests > ERROR_SHARE:
        return f"more than {ERROR_SHARE:.0%} of the requests failed: no throughput to speak of"
    return None


def _no_answer(facts: Facts) -> str | None:
    stage = facts.stage
    untold = facts.not_reached or facts.interrupted or facts.void
    return "not one good answer in the window" if stage.latency_seconds is None and not untold else None


def _old_pods(facts: Facts) -> str | None:
    """Pods that end took part of the load: what was measured is not this size."""
    total = facts.stage.requests
    if not total or facts.old_answers / total <= OLD_SHARE:
        return None
    return f"{facts.old_answers} of {total} requests were answered by pods that were ending; raise --warmup-seconds"


def _missing_pods(facts: Facts) -> str | None:
    stage = facts.stage
    pods = stage.size if stage.budget is None else stage.budget.pods
    answered = len([pod for pod in stage.requests_by_pod if pod != "unknown"])
    if not facts.identified or not stage.requests or answered >= pods:
        return None
    return f"{answered} of {pods} pods answered; with --connections keep, few connections reach few pods"


def _unbalanced(facts: Facts) -> str | None:
    stage = facts.stage
    shares, parts = stage.requests_by_pod, stage.size
    if stage.budget is not None:
        shares, parts = stage.requests_by_process, stage.budget.processes
    counts = [count for name, count in shares.items() if name != "unknown"]
    if parts < 2 or len(counts) < 2 or stage.purpose == "recovery":
        return None
    mean = sum(counts) / parts
    # A random choice gives each pod a binomial count: its deviation around the mean is the yardstick.
    chance = UNEVEN_SIGMAS * math.sqrt(mean * (1 - 1 / parts))
    if max(counts) <= max(UNEVEN_RATIO * mean, mean + chance):
        return None
    return f"the busiest {_part(stage)} served {max(counts) / mean:.2f} times the mean; see requests by pod"


def _throttled(facts: Facts) -> str | None:
    throttled = facts.stage.throttled
    if not throttled.periods or throttled.throttled_periods is None:
        return None
    share = throttled.throttled_periods / throttled.periods
    return f"the CPU quota stopped pods in {share:.0%} of its periods" if share > THROTTLED_SHARE else None


def _node_full(facts: Facts) -> str | None:
    full, busy = _full_node(facts), busy_share(facts)
    if full is None or (busy is not None and busy < POD_BUSY):
        return None
    return f"{full}: the machine has nothing left for more pods"


def _starved(facts: Facts) -> str | None:
    """The machine, not the number of pods, set the pace: no point of a scaling curve, and no answer to a goal."""
    full, busy = _full_node(facts), busy_share(facts)
    if full is None or busy is None or busy >= POD_BUSY:
        return None
    got = f"each {_part(facts.stage)} got only {busy * _cores_of_part(facts):.2f} of a core"
    return f"{full}, and {got}: the machine was the limit"


def _full_node(facts: Facts) -> str | None:
    """How busy the machine was, in words, where it had nothing left."""
    busy = _busy_cores(facts)
    if busy is None or facts.cores is None or busy < NODE_BUSY * facts.cores:
        return None
    return f"{busy:.1f} of {facts.cores:g} cores busy"


def _busy_cores(facts: Facts) -> float | None:
    """Of all cores; where that is unknown, what the pods themselves used, which is less."""
    stage = facts.stage
    if stage.node_cpu_fraction is not None and facts.cores is not None:
        return stage.node_cpu_fraction * facts.cores
    if stage.cpu_seconds is None or not stage.measured_seconds:
        return None
    return stage.cpu_seconds / stage.measured_seconds


def _pods_limit(facts: Facts) -> str | None:
    stage, busy = facts.stage, busy_share(facts)
    if busy is not None and busy >= POD_BUSY:
        cores = _cores_of_part(facts)
        return f"each {_part(stage)} used {busy * cores:.2f} of {cores:g} core"
    queued, served = facts.mean_queue_seconds, stage.service_seconds
    if busy is None and queued is not None and served is not None and queued > served.p50 / 4:
        return f"requests waited {queued * 1000:.0f} ms in the pods' queues on average"
    return None


def _goal_held(facts: Facts) -> str | None:
    outcome = _goal(facts)
    return f"p99 {outcome.figure}" if outcome is not None and outcome.holds else None


def _goal_missed(facts: Facts) -> str | None:
    outcome = _goal(facts)
    return None if outcome is None or outcome.holds else f"p99 {outcome.figure}"


def _goal(facts: Facts) -> goals.Outcome | None:
    stage = facts.stage
    if stage.purpose != "goal" or facts.slo_p99_seconds is None or stage.latency_seconds is None:
        return None
    point = goal_point(msgspec.structs.replace(stage, valid=True))
    return goals.judge([point], facts.slo_p99_seconds)[stage.size]


def _not_saturated(facts: Facts) -> str | None:
    stage, busy = facts.stage, busy_share(facts)
    if stage.purpose != "capacity" or busy is None or busy >= POD_BUSY or _full_node(facts):
        return None
    unless = "" if stage.node_cpu_fraction is not None else ", unless the nodes were full, which is unknown"
    cores = _cores_of_part(facts)
    return f"each {_part(stage)} used only {busy * cores:.2f} of {cores:g} core; raise --users{unless}"


def _unread(facts: Facts) -> str | None:
    return facts.unread


def _part(stage: Stage) -> str:
    """What the load falls on."""
    return "worker" if stage.topology == "workers" else "pod"


def _cores_of_part(facts: Facts) -> float:
    """What one of them can use; large pods are fewer than the size says."""
    budget = facts.stage.budget
    return facts.cores_per_pod * (facts.stage.size / budget.processes if budget is not None else 1)


RULES = (
    Rule("not_reached", True, _not_reached),
    Rule("interrupted", True, _interrupted),
    Rule("worker_lost", True, _worker_lost),
    Rule("void", True, _void),
    Rule("pod_lost", True, _pod_lost),
    Rule("generator_saturated", True, _generator_saturated),
    Rule("rate_missed", True, _rate_missed),
    Rule("no_answer", True, _no_answer),
    Rule("errors_void", True, _errors_void),
    Rule("errors", False, _errors),
    Rule("old_pods", True, _old_pods),
    Rule("missing_pods", True, _missing_pods),
    Rule("unbalanced", False, _unbalanced),
    Rule("throttled", False, _throttled),
    Rule("starved", True, _starved),
    Rule("goal_held", False, _goal_held),
    Rule("goal_missed", False, _goal_missed),
    Rule("pods_limit", False, _pods_limit),
    Rule("node_full", False, _node_full),
    Rule("not_saturated", False, _not_saturated),
    Rule("unread", False, _unread),
)
