"""From the rows to the stages that a machine or a cluster runs: n becomes a number, and a quick run is shortened."""

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import msgspec

from podscale.sweep.options import SCENARIOS, Option
from podscale.sweep.plan import CLUSTER_OVERHEAD_SECONDS, OVERHEAD_SECONDS, Plan, StagePlan, check_minutes, make_plan
from podscale.sweep.reproduce.row import Burst, Closed, Count, Open, Row, Setup, Step
from podscale.sweep.reproduce.rows import ROWS, chosen
from podscale.sweep.results import Asked, Budget, Purpose
from podscale.sweep.topologies import Base, cores_for_each

# On a cluster, where pods are many and small: enough for a ratio, few enough for a small cluster.
CLUSTER_N = 4
N_OPTION = Option(
    "n", "--n", None, "What n stands for.", 2, 64, default_note=f"the cores of this machine; on a cluster {CLUSTER_N}"
)
# A quick run does this share of the work and the time.
QUICK_SHARE = 0.2
# The requests of a burst follow each other this fast: a generator sends them on time, and no job is so short.
BURST_PER_SECOND = 30.0
CLUSTER_OPTIONS = ("deployment", "context", "namespace", "service", "port", "container", "locust", "host")
WARMUP_SHARE, LONGEST_WARMUP_SECONDS = 0.25, 2.0


class ReproducePlan(Plan, frozen=True, kw_only=True):
    """Which rows run where, whole and checked: of a sweep's fields, the target's count. See `make_reproduce_plan`."""

    arranges: ClassVar[bool] = True
    command: Literal["reproduce"] = "reproduce"
    rows: list[str]
    quick: bool
    n: int
    base: Base

    @property
    def user_classes(self) -> frozenset[str]:
        """Of the scenarios of all its rows."""
        scenarios = {SCENARIOS[step.scenario] for name in self.rows for step in ROWS[name].steps}
        return frozenset(scenario.user_class for scenario in scenarios if scenario.user_class is not None)

    def describe(self) -> dict[str, Any]:
        """What belongs into the result: the rest of a sweep's options is the rows' own, and would mislead."""
        asked = msgspec.to_builtins(self)
        return {name: asked[name] for name in ("command", "target", "rows", "quick", "n", "base", *CLUSTER_OPTIONS)}


class PlannedStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step with the stage that it becomes, and the plan that this stage is measured by."""

    row: Row
    step: Step
    stage: StagePlan
    plan: Plan


def make_reproduce_plan(
    *, cores: int, base: Base, rows: Iterable[str] = (), quick: bool = False, n: int | None = None, **given: Any
) -> ReproducePlan:
    """Check what was given and fill the defaults in; raises OptionError. A row with n wants two processes at least."""
    names = [row.name for row in chosen(rows)]
    N_OPTION.check(n)
    n = n or (CLUSTER_N if given.get("deployment") else max(2, cores))
    plan = make_plan(cores=cores, sizes=[n], goal=False, **given)
    own = {"rows": names, "quick": quick, "n": n, "base": base}
    reproduce_plan = msgspec.convert(msgspec.to_builtins(plan) | msgspec.to_builtins(own), ReproducePlan)
    if plan.target == "kubernetes":
        check_minutes(plan, estimate_seconds(reproduce_plan))
    return reproduce_plan


def planned_steps(plan: ReproducePlan) -> list[PlannedStep]:
    """All stages of all rows, in order."""
    return [_planned(plan, ROWS[name], step) for name in plan.rows for step in ROWS[name].steps]


def estimate_seconds(plan: ReproducePlan) -> float:
    """About how long it takes, with the jobs of a burst one after the other."""
    return sum(_stage_seconds(each) for each in planned_steps(plan))


def _planned(plan: ReproducePlan, row: Row, step: Step) -> PlannedStep:
    budget = _budget(step.setup, plan.n, plan.base)
    asked = _asked(plan, step, budget)
    stage = StagePlan(
        name=f"{row.name}, {step.name}",
        purpose=_purpose(step),
        size=budget.processes,
        repeat=1,
        asked=asked,
        topology="workers" if budget.processes_per_pod > 1 else "pods",
        budget=budget,
        cores_each=cores_for_each(budget, budget.processes, one_core_each=SCENARIOS[step.scenario].one_core),
        overhead_seconds=CLUSTER_OVERHEAD_SECONDS if plan.target == "kubernetes" else OVERHEAD_SECONDS,
    )
    own = msgspec.structs.replace(plan, scenario=step.scenario, timeout_seconds=step.timeout_seconds)
    return PlannedStep(row=row, step=step, stage=stage, plan=own)


def _purpose(step: Step) -> Purpose:
    if step.kill:
        return "recovery"
    purposes: dict[type, Purpose] = {Burst: "burst", Closed: "capacity", Open: "load"}
    return purposes[type(step.load)]


def _budget(setup: Setup, n: int, base: Base) -> Budget:
    """A share of CPU and memory for whatever may work at the same time in a pod."""
    processes, children = _count(setup.processes, n), _count(setup.children, n)
    shares = max(processes, children)
    return Budget(
        pods=_count(setup.pods, n),
        processes_per_pod=processes,
        children=children,
        cpu_cores_per_pod=shares * base.cpu_cores,
        limited=base.quota,
        memory_bytes_per_pod=None if base.memory_bytes is None else shares * base.memory_bytes,
    )


def _asked(plan: ReproducePlan, step: Step, budget: Budget) -> Asked:
    options = {name: _shortened(plan, step, name, value) for name, value in step.options.items()}
    seconds = max(step.seconds * QUICK_SHARE, step.least_seconds) if plan.quick else step.seconds
    closed = Asked(
        model="closed",
        scenario=step.scenario,
        connections=step.connections,
        warmup_seconds=min(WARMUP_SHARE * seconds, LONGEST_WARMUP_SECONDS),
        measure_seconds=seconds,
        options=options,
    )
    load = step.load
    if isinstance(load, Closed):
        return msgspec.structs.replace(closed, users=load.users * budget.processes)
    if isinstance(load, Open):
        rate = load.rate_per_second
        if load.utilisation is not None:
            job_seconds = float(options["cpu_time_ms"]) / 1000
            rate = load.utilisation * budget.processes * min(1.0, plan.base.cpu_cores) / job_seconds
        return msgspec.structs.replace(closed, model="open", arrivals=load.arrivals, rate_per_second=rate)
    # Arrivals are due from the first moment on: half a gap beyond the last one there is no other.
    return msgspec.structs.replace(
        closed,
        model="open",
        arrivals="constant",
        rate_per_second=BURST_PER_SECOND,
        warmup_seconds=0.0,
        measure_seconds=(load.requests - 0.5) / BURST_PER_SECOND,
    )


def _shortened(plan: ReproducePlan, step: Step, name: str, value: str | int | float) -> str | int | float:
    if not plan.quick or name not in step.shortened or isinstance(value, str):
        return value
    return type(value)(value * QUICK_SHARE)


def _count(count: Count, n: int) -> int:
    return n if count == "n" else count


def _stage_seconds(planned: PlannedStep) -> float:
    jobs = 0.0
    if isinstance(planned.step.load, Burst):
        jobs = planned.step.load.requests * float(planned.stage.asked.options.get("cpu_time_ms", 1000)) / 1000
    return planned.stage.seconds + jobs
