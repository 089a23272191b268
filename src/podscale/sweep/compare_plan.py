"""What a comparison will do: its own options beside those of a sweep, and its stages."""

import random
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, get_args

import msgspec

from podscale.contract import Arrivals
from podscale.sweep.options import Option, OptionError
from podscale.sweep.plan import (
    CLUSTER_OVERHEAD_SECONDS,
    OVERHEAD_SECONDS,
    Plan,
    StagePlan,
    asked_of,
    check_minutes,
    make_plan,
)
from podscale.sweep.results import Asked, Purpose, Stage, TopologyName
from podscale.sweep.topologies import TOPOLOGIES, Base, budgets, cores_for_each, possible

DEFAULT_SIZES = (1, 2, 4)
# A p99 needs more answers than a mean; a killed process needs time to come back.
LOAD_STAGE_FACTOR = 2
SHORTEST_RECOVERY_SECONDS = 10.0

COMPARE_OPTIONS: dict[str, Option] = {
    row.name: row
    for row in (
        Option(
            "topologies",
            "--topologies",
            None,
            f"What to compare, as in pods,workers. Of: {', '.join(TOPOLOGIES)}.",
            default_note="all that the target can arrange",
        ),
        Option(
            "utilisation",
            "--utilisation",
            0.8,
            "Offered load, as a share of what the weakest topology of a size can do; --rate sets it outright.",
            0.05,
            0.98,
        ),
        Option("recovery", "--recovery/--no-recovery", True, "Kill one process under load and time its return."),
    )
}
# Options of a sweep that a comparison has no use for.
SWEEP_ALONE = frozenset({"model", "arrivals", "slo_p99_ms", "goal", "url"})

_Place = tuple[int, TopologyName]


class ComparePlan(Plan, frozen=True, kw_only=True):
    """A comparison, whole and checked. Built by `make_compare_plan`."""

    arranges: ClassVar[bool] = True
    command: Literal["compare"] = "compare"
    topologies: list[TopologyName]
    utilisation: float
    recovery: bool
    base: Base


def make_compare_plan(
    *,
    cores: int,
    base: Base,
    sizes: list[int] | None = None,
    topologies: list[str] | None = None,
    utilisation: float | None = None,
    recovery: bool | None = None,
    **given: Any,
) -> ComparePlan:
    """Check what was given and fill the defaults in; raises OptionError, also where budgets are not equal."""
    names = _checked_topologies(topologies, base)
    wanted = sizes or [size for size in DEFAULT_SIZES if size <= cores] or [1]
    plan = make_plan(cores=cores, sizes=wanted, goal=False, **given)
    own = {
        "topologies": names,
        "utilisation": COMPARE_OPTIONS["utilisation"].default if utilisation is None else utilisation,
        "recovery": recovery is not False,
        "base": base,
    }
    COMPARE_OPTIONS["utilisation"].check(own["utilisation"])
    compare_plan = msgspec.convert(msgspec.to_builtins(plan) | msgspec.to_builtins(own), ComparePlan)
    for size in compare_plan.sizes:
        if len(budgets(names, size, base)) < 2:
            raise OptionError(f"--sizes {size}: fewer than two of {', '.join(names)} can be had; leave this size out")
    if plan.target == "kubernetes":
        check_minutes(compare_plan, estimate_seconds(compare_plan))
    return compare_plan


def capacity_stages(plan: ComparePlan) -> Iterator[StagePlan]:
    """What each topology can do at most, at every size; in random order within a repeat."""
    order = random.Random(plan.seed)
    for repeat in range(1, plan.repeats + 1):
        for place in order.sample(_places(plan), len(_places(plan))):
            yield _stage(plan, "capacity", place, repeat, asked_of(plan, place[0]))


def load_stages(plan: ComparePlan, rates: Mapping[int, float]) -> Iterator[StagePlan]:
    """Each topology at the rate of its size, with constant and with Poisson arrivals; in random order within a repeat.

    Stages of one topology and size follow each other, since rearranging pods takes longer than a stage. The first
    repeat ends each of them with the recovery, after which nothing is measured on those pods.
    """
    order = random.Random(plan.seed + 1)
    for repeat in range(1, plan.repeats + 1):
        places = [place for place in _places(plan) if place[0] in rates]
        for place in order.sample(places, len(places)):
            size = place[0]
            for arrivals in order.sample(get_args(Arrivals), 2):
                yield _stage(plan, "load", place, repeat, _open(plan, size, rates[size], arrivals))
            if plan.recovery and repeat == 1:
                asked = _open(plan, size, rates[size], "constant")
                seconds = max(asked.measure_seconds, SHORTEST_RECOVERY_SECONDS)
                asked = msgspec.structs.replace(asked, measure_seconds=seconds)
                yield _stage(plan, "recovery", place, repeat, asked)


def estimate_seconds(plan: ComparePlan) -> float:
    """About how long it takes."""
    stages = [*capacity_stages(plan), *load_stages(plan, dict.fromkeys(plan.sizes, 1.0))]
    return sum(stage.seconds for stage in stages)


def is_stage(wanted: StagePlan, stage: Stage) -> bool:
    """Whether the stage is the one that was wanted, at whatever rate."""
    return (wanted.topology, wanted.purpose, wanted.size, wanted.repeat, wanted.asked.arrivals) == (
        stage.topology,
        stage.purpose,
        stage.size,
        stage.repeat,
        stage.asked.arrivals,
    )


def _open(plan: ComparePlan, size: int, rate_per_second: float, arrivals: Arrivals) -> Asked:
    asked = asked_of(plan, size)
    return msgspec.structs.replace(
        asked,
        model="open",
        arrivals=arrivals,
        rate_per_second=rate_per_second,
        users=None,
        measure_seconds=asked.measure_seconds * LOAD_STAGE_FACTOR,
    )


def _stage(plan: ComparePlan, purpose: Purpose, place: _Place, repeat: int, asked: Asked) -> StagePlan:
    size, name = place
    budget = budgets([name], size, plan.base)[name]
    return StagePlan(
        purpose=purpose,
        size=size,
        repeat=repeat,
        asked=asked,
        topology=name,
        budget=budget,
        cores_each=cores_for_each(budget, size, one_core_each=plan.one_core_each),
        overhead_seconds=CLUSTER_OVERHEAD_SECONDS if plan.target == "kubernetes" else OVERHEAD_SECONDS,
    )


def _places(plan: ComparePlan) -> list[_Place]:
    return [
        (size, name)
        for size in plan.sizes
        for name in plan.topologies
        if TOPOLOGIES[name].budget(size, plan.base) is not None
    ]


def _checked_topologies(names: list[str] | None, base: Base) -> list[str]:
    able = possible(base)
    if names is None:
        return able
    for name in names:
        if name not in TOPOLOGIES:
            raise OptionError(f"--topologies: {name!r} is not one of {', '.join(TOPOLOGIES)}")
        if name not in able:
            raise OptionError(
                f"--topologies: {name} differs by its CPU quota, which processes on one machine do not have; "
                "it needs --target kubernetes"
            )
    if len(set(names)) != len(names) or len(names) < 2:
        raise OptionError(f"--topologies: {','.join(names)} is no comparison; name two or more, each once")
    return names
