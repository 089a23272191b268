"""The topologies that a comparison sets side by side: ways to run n processes on the same CPU and memory.

Each separates a cause from another: `pods` against `pods-unlimited` shows what the CPU quota costs, `pods-unlimited`
against `workers` what a random choice among pods costs, and `pods-large` what larger pieces of the quota save.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations

import msgspec

from podscale.sweep.options import OptionError
from podscale.sweep.results import Budget, TopologyName

# Budgets further apart than this are no comparison.
LARGEST_DIFFERENCE = 0.05


class Base(msgspec.Struct, frozen=True, kw_only=True):
    """What one pod of one process has; all budgets are multiples of it.

    `quota`: whether CPU can be limited at all. On one machine without containers it cannot, and a process has a core.
    """

    cpu_cores: float = 1.0
    memory_bytes: int | None = None
    quota: bool = False


class Topology(msgspec.Struct, frozen=True, kw_only=True):
    """One row: what it is, and its budget for a size n, or None where the size cannot be had.

    `needs_quota`: it differs from others by its CPU quota alone.
    """

    name: TopologyName
    says: str
    budget: Callable[[int, Base], Budget | None]
    needs_quota: bool = False


def _pods(size: int, base: Base) -> Budget:
    return _budget(base, pods=size, processes_per_pod=1, times=1, limited=base.quota)


def _workers(size: int, base: Base) -> Budget:
    return _budget(base, pods=1, processes_per_pod=size, times=size, limited=base.quota)


def _pods_unlimited(size: int, base: Base) -> Budget:
    return _budget(base, pods=size, processes_per_pod=1, times=1, limited=False)


def _pods_large(size: int, base: Base) -> Budget | None:
    return None if size < 2 else _budget(base, pods=size // 2, processes_per_pod=1, times=2, limited=base.quota)


TOPOLOGIES: Mapping[str, Topology] = {
    row.name: row
    for row in (
        Topology(name="workers", says="one pod of n processes, one CPU quota for all of them", budget=_workers),
        Topology(name="pods", says="n pods of one process, a CPU quota for each", budget=_pods),
        Topology(
            name="pods-unlimited",
            says="n pods of one process that request CPU and have no limit",
            budget=_pods_unlimited,
            needs_quota=True,
        ),
        Topology(
            name="pods-large",
            says="half as many pods of one process, twice as large",
            budget=_pods_large,
            needs_quota=True,
        ),
    )
}


def possible(base: Base) -> list[str]:
    """The topologies that can be had where the base is."""
    return [name for name, row in TOPOLOGIES.items() if base.quota or not row.needs_quota]


def budgets(names: Iterable[str], size: int, base: Base) -> dict[str, Budget]:
    """The budget of each topology at a size; those that the size cannot have are left out.

    Raises OptionError where two are not equal.
    """
    found = {name: budget for name in names if (budget := TOPOLOGIES[name].budget(size, base)) is not None}
    refuse_unequal(found, size)
    return found


def refuse_unequal(found: Mapping[str, Budget], size: int) -> None:
    """Raise OptionError, with both figures, where the CPU or memory of two budgets is over 5 % apart."""
    for (one, first), (other, second) in combinations(found.items(), 2):
        for what, mine, theirs in (
            ("cores", first.cpu_cores, second.cpu_cores),
            ("MB of memory", _megabytes(first), _megabytes(second)),
        ):
            if mine is None or theirs is None or _apart(mine, theirs) <= LARGEST_DIFFERENCE:
                continue
            raise OptionError(
                f"size {size}: {one} would have {mine:g} {what} and {other} {theirs:g}, {_apart(mine, theirs):.0%} "
                f"apart; a comparison needs equal budgets, so choose other --sizes, or leave one out with --topologies"
            )


def describe(budget: Budget) -> str:
    """A budget in words: "4 pods of 1 process, each 0.25 cores (limit) and 128 MB"."""
    pods = f"{budget.pods} pod{'' if budget.pods == 1 else 's'}"
    processes = f"{budget.processes_per_pod} process{'' if budget.processes_per_pod == 1 else 'es'}"
    kind = "limit" if budget.limited else "no CPU limit"
    cores = f"{budget.cpu_cores_per_pod:g} core{'' if budget.cpu_cores_per_pod == 1 else 's'} ({kind})"
    memory = budget.memory_bytes_per_pod
    each = "each " if budget.pods > 1 else ""
    return f"{pods} of {processes}, {each}{cores}" + (f" and {memory / 1e6:g} MB" if memory is not None else "")


def cores_for_each(budget: Budget, size: int, *, one_core_each: bool) -> float:
    """CPU cores that a size of one can use at most, by its limit or by its event loop; inf where nothing says."""
    loops = budget.processes_per_pod if one_core_each else math.inf
    most = min(budget.cpu_cores_per_pod, loops) if budget.limited else loops
    return budget.pods * most / size


def _budget(base: Base, *, pods: int, processes_per_pod: int, times: int, limited: bool) -> Budget:
    # Kubernetes counts CPU in thousandths of a core.
    cores = math.ceil(times * base.cpu_cores * 1000 - 1e-9) / 1000
    memory = None if base.memory_bytes is None else times * base.memory_bytes
    return Budget(
        pods=pods,
        processes_per_pod=processes_per_pod,
        cpu_cores_per_pod=cores,
        limited=limited,
        memory_bytes_per_pod=memory,
    )


def _megabytes(budget: Budget) -> float | None:
    return None if budget.memory_bytes is None else budget.memory_bytes / 1e6


def _apart(one: float, other: float) -> float:
    return abs(one - other) / max(one, other)
