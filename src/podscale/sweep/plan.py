"""What a sweep will do: its options, checked and frozen, and the stages that follow from them."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from podscale.contract import Arrivals, Model
from podscale.sweep.options import OPTIONS, OWN, SCENARIOS, OptionError
from podscale.sweep.results import Asked, Budget, Purpose, TopologyName

Clock = Literal["cpu", "wall", "sleep"]


# A goal stage lasts longer than a capacity stage: a p99 needs more answers than a mean.
GOAL_STAGE_FACTOR = 2
# Where no latency goal is asked for: this many times the work of one request.
DEFAULT_SLO_SERVICE_TIMES = 10
# The most sizes that are tried for the goal, after the first guess.
MAX_GOAL_STAGES = 4
# Scaling, waiting until pods are idle, and draining, for each stage: for the estimate of the time only.
OVERHEAD_SECONDS = 1.5
CLUSTER_OVERHEAD_SECONDS = 4.0
# On a cluster, whose cores are not known before it is asked.
CLUSTER_SIZES = (1, 2, 4)


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A sweep, whole and checked; `options.OPTIONS` says what each field means. Built by `make_plan`."""

    target: Literal["local", "url", "kubernetes"]
    url: str | None
    sizes: list[int]
    repeats: int
    scenario: str
    locustfile: str | None
    model: Model
    arrivals: Arrivals
    rate_per_second: float | None
    users_per_pod: int
    stage_seconds: float
    warmup_seconds: float
    timeout_seconds: float
    slo_p99_ms: float | None
    cpu_time_ms: float
    clock: Clock
    connections: str
    options: dict[str, str | int | float]
    locust_workers: int
    goal: bool
    seed: int
    # Whether pods are rearranged, and not scaled alone: a class attribute of each kind of plan.
    arranges: ClassVar[bool] = False
    # On a cluster; with defaults, so that plans of results from before are read.
    deployment: str | None = None
    context: str | None = None
    namespace: str | None = None
    service: str | None = None
    port: int | None = None
    container: str | None = None
    locust: str | None = None
    host: str | None = None
    ready_seconds: float = 120.0
    wait_seconds: float = 0.0
    max_pods: int = 64
    max_rate: float = 2000.0
    max_minutes: float = 60.0

    @property
    def slo_p99_seconds(self) -> float:
        """The latency goal: as asked, else a multiple of the work of one request."""
        return (self.slo_p99_ms or DEFAULT_SLO_SERVICE_TIMES * self.cpu_time_ms) / 1000

    @property
    def user_class(self) -> str | None:
        """The user class to run, None for all classes of a locustfile that is not ours."""
        return None if self.locustfile else SCENARIOS[self.scenario].user_class

    @property
    def user_classes(self) -> frozenset[str]:
        """All user classes that Locust must have."""
        return frozenset() if self.user_class is None else frozenset({self.user_class})

    @property
    def one_core_each(self) -> bool:
        """Whether a pod at its limit fills one core: not if its jobs sleep, not known of a foreign locustfile."""
        return not self.locustfile and SCENARIOS[self.scenario].one_core and self.clock != "sleep"

    @property
    def work(self) -> dict[str, str | int | float]:
        """Custom arguments of the locustfile: the scenario's own ones, and what `--option` adds."""
        names = () if self.locustfile else SCENARIOS[self.scenario].work_options
        return {name: getattr(self, name) for name in names} | self.options


class StagePlan(msgspec.Struct, frozen=True, kw_only=True):
    """One stage to come. `repeat` counts from 1; `name` stands for size and load where the user knows it by a name."""

    name: str | None = None
    purpose: Purpose
    size: int
    repeat: int
    asked: Asked
    topology: TopologyName = "pods"
    budget: Budget | None = None  # of a comparison
    cores_each: float | None = None  # what a size of one can use at most, where it is not the target's to say
    overhead_seconds: float = OVERHEAD_SECONDS

    @property
    def seconds(self) -> float:
        """About how long it takes, with scaling and draining."""
        return self.asked.warmup_seconds + self.asked.measure_seconds + self.overhead_seconds


def default_sizes(cores: int) -> list[int]:
    """Sizes from one pod to one for each core: enough of them for a curve, few enough for three minutes."""
    wanted = [1, 2, 3, 4, 6, 8] if cores <= 8 else [1, 2, 4, 8, 12, 16]
    return [size for size in wanted if size <= cores] or [1]


def make_plan(
    *,
    cores: int,
    sizes: list[int] | None = None,
    options: dict[str, str | int | float] | None = None,
    **given: Any,
) -> Plan:
    """Check what was given, by the names of OPTIONS, and fill the defaults in; raises OptionError."""
    values = {name: given.get(name) if given.get(name) is not None else row.default for name, row in OPTIONS.items()}
    for name, row in OPTIONS.items():
        row.check(values[name])
    if values["url"] is not None and sizes is not None:
        raise OptionError("--url measures a service as it is, at one size; leave --sizes out")
    target = values["target"] = _target(values)
    defaults = {"url": [1], "kubernetes": list(CLUSTER_SIZES)}.get(target) or default_sizes(cores)
    chosen = sorted(defaults if sizes is None else sizes)
    _check_sizes(chosen, values["max_pods"] or 0)
    if target == "kubernetes":
        _check_cluster(values)
        values["locust_workers"] = 0  # as many as run there
    elif values["locust_workers"] is None:
        # One Locust process fills one core; the pods of the largest size need theirs.
        values["locust_workers"] = max(1, min(4, cores - max(chosen)))
    plan = msgspec.convert({"sizes": chosen, "options": options or {}} | values, Plan)
    _check_fit(plan)
    return plan


def capacity_stages(plan: Plan) -> Iterator[StagePlan]:
    """The stages known from the start: every size once in each repeat, in an order that chance decides.

    On a cluster a pod that comes costs seconds, and one that goes none: there the sizes fall, from a random one on and
    around, so that each has every place in the order over the repeats.
    """
    order = random.Random(plan.seed)
    shuffled = order.sample(plan.sizes, len(plan.sizes))
    falling = sorted(plan.sizes, reverse=True)
    start = falling.index(shuffled[0])
    for repeat in range(1, plan.repeats + 1):
        if plan.target == "kubernetes":
            first = (start + repeat - 1) % len(falling)
            shuffled = falling[first:] + falling[:first]
        elif repeat > 1:
            shuffled = order.sample(plan.sizes, len(plan.sizes))
        for size in shuffled:
            if plan.model == "open":
                yield goal_stage(plan, size, plan.rate_per_second or 0, repeat)
            else:
                yield _stage(plan, "capacity", size, repeat, asked_of(plan, size))


def goal_stage(plan: Plan, size: int, rate_per_second: float, repeat: int = 1) -> StagePlan:
    """A stage that asks whether `size` pods hold the latency goal at this arrival rate."""
    asked = asked_of(plan, size)
    longer = 1 if plan.model == "open" else GOAL_STAGE_FACTOR
    asked = msgspec.structs.replace(
        asked,
        model="open",
        arrivals=plan.arrivals,
        rate_per_second=rate_per_second,
        users=None,
        measure_seconds=asked.measure_seconds * longer,
    )
    return _stage(plan, "goal", size, repeat, asked)


def asks_goal(plan: Plan) -> bool:
    """Whether goal stages follow the capacity stages."""
    return plan.model == "closed" and plan.goal and plan.target != "url"


def estimate_seconds(plan: Plan) -> float:
    """About how long the sweep takes, with two goal stages where they are asked for."""
    stages = list(capacity_stages(plan))
    if asks_goal(plan):
        stages += [goal_stage(plan, size, 1) for size in plan.sizes[-2:]]
    return sum(stage.seconds for stage in stages)


def _stage(plan: Plan, purpose: Purpose, size: int, repeat: int, asked: Asked) -> StagePlan:
    overhead = CLUSTER_OVERHEAD_SECONDS if plan.target == "kubernetes" else OVERHEAD_SECONDS
    return StagePlan(purpose=purpose, size=size, repeat=repeat, asked=asked, overhead_seconds=overhead)


def asked_of(plan: Plan, size: int) -> Asked:
    """What a closed stage of a size is asked."""
    return Asked(
        model="closed",
        users=plan.users_per_pod * size,
        scenario=Path(plan.locustfile).stem if plan.locustfile else plan.scenario,
        connections=plan.connections,
        warmup_seconds=plan.warmup_seconds,
        measure_seconds=plan.stage_seconds,
        options=plan.work,
    )


def _target(values: dict[str, Any]) -> str:
    """What was asked for, or what follows from the rest."""
    if values["url"] is not None and (values["deployment"] is not None or values["target"] is not None):
        raise OptionError("--url measures a service as it is, and scales nothing; leave out --target and --deployment")
    if values["deployment"] is not None and values["target"] == "local":
        raise OptionError("--deployment is for --target kubernetes; leave one of them out")
    if values["url"] is not None:
        return "url"
    return "kubernetes" if values["deployment"] is not None else values["target"] or "local"


def _check_cluster(values: dict[str, Any]) -> None:
    if values["deployment"] is None:
        raise OptionError("--target kubernetes needs --deployment, the name of what is to be scaled")
    if values["locustfile"] is not None:
        raise OptionError(
            "--locustfile: on a cluster Locust runs what it was installed with: give the chart yours by "
            "--set-file locust.locustfile=..., and say --scenario own here"
        )
    if values["locust_workers"] is not None:
        raise OptionError("--locust-workers: on a cluster scale Locust's Deployment of workers instead")


def _check_sizes(sizes: list[int], most: int) -> None:
    if not sizes:
        raise OptionError("--sizes is empty; give at least one size, as in --sizes 1,2,4")
    for size in sizes:
        if not 1 <= size <= most:
            raise OptionError(f"--sizes: {size} is not between 1 and {most}; --max-pods raises the latter")
    if len(set(sizes)) != len(sizes):
        raise OptionError(f"--sizes names a size twice: {','.join(map(str, sizes))}; use --repeats for repeats")


def _check_fit(plan: Plan) -> None:
    reuse = plan.connections
    if reuse not in {"new", "keep"} and not (reuse.isascii() and reuse.isdigit() and 1 <= int(reuse) <= 10**6):
        raise OptionError(f"--connections: {reuse!r} is not new, keep or a number of requests from 1 to 1000000")
    if plan.model == "open" and plan.rate_per_second is None:
        raise OptionError("--model open needs --rate, the arrivals per second of all pods together")
    if plan.locustfile and not Path(plan.locustfile).is_file():
        raise OptionError(f"--locustfile: there is no file {plan.locustfile}")
    if plan.url is not None and not plan.url.startswith(("http://", "https://")):
        raise OptionError(f"--url: {plan.url!r} does not start with http:// or https://")
    if plan.target == "kubernetes":
        _check_caps(plan)
    elif plan.scenario == OWN:
        raise OptionError("--scenario own is for --deployment; here give your file by --locustfile")


def _check_caps(plan: Plan) -> None:
    if (plan.rate_per_second or 0) > plan.max_rate:
        raise OptionError(f"--rate: {plan.rate_per_second:g} is above {plan.max_rate:g}; --max-rate raises that")
    check_minutes(plan, estimate_seconds(plan))


def check_minutes(plan: Plan, seconds: float) -> None:
    """Raise OptionError where that is longer than was allowed."""
    minutes = seconds / 60
    if minutes > plan.max_minutes:
        raise OptionError(
            f"this takes {minutes:.0f} minutes, more than {plan.max_minutes:g}; --max-minutes raises that"
        )
