"""Tests of the topologies' budgets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podscale.sweep.options import OptionError
from podscale.sweep.results import Budget
from podscale.sweep.topologies import (
    TOPOLOGIES,
    Base,
    budgets,
    cores_for_each,
    describe,
    possible,
    refuse_unequal,
)

QUOTA = Base(cpu_cores=0.25, memory_bytes=128_000_000, quota=True)


def test_budgets_of_a_size_are_one_core_in_four_ways() -> None:
    """Four times 250m: one pod of four processes, four pods, the same without a limit, and two of 500m."""
    found = {name: describe(budget) for name, budget in budgets(TOPOLOGIES, 4, QUOTA).items()}
    assert found == {
        "workers": "1 pod of 4 processes, 1 core (limit) and 512 MB",
        "pods": "4 pods of 1 process, each 0.25 cores (limit) and 128 MB",
        "pods-unlimited": "4 pods of 1 process, each 0.25 cores (no CPU limit) and 128 MB",
        "pods-large": "2 pods of 1 process, each 0.5 cores (limit) and 256 MB",
    }


@given(st.integers(1, 32), st.floats(0.05, 8), st.integers(2**24, 2**34))
def test_all_budgets_of_an_even_size_are_equal(half: int, cores: float, memory: int) -> None:
    """Whatever a pod has: CPU and memory add up to the same within 5 %, and nothing is refused."""
    found = budgets(TOPOLOGIES, 2 * half, Base(cpu_cores=cores, memory_bytes=memory, quota=True))
    assert len(found) == 4
    most = max(budget.cpu_cores for budget in found.values())
    assert min(budget.cpu_cores for budget in found.values()) >= 0.95 * most
    assert len({budget.memory_bytes for budget in found.values()}) == 1


def test_unequal_budgets_are_refused_with_both_figures() -> None:
    """Three pods and one twice as large: 0.75 against 0.5 cores, and the message says what to do."""
    with pytest.raises(OptionError, match=r"pods would have 0\.75 cores and pods-large 0\.5, 33% apart") as refused:
        budgets(["pods", "pods-large"], 3, QUOTA)
    assert "--topologies" in str(refused.value)


@pytest.mark.parametrize(("factor", "refused"), [(1.04, False), (1.06, True)])
def test_budgets_may_be_five_percent_apart_and_no_more(factor: float, refused: bool) -> None:
    """4 % more memory passes, 6 % do not."""
    mine = Budget(pods=1, processes_per_pod=1, cpu_cores_per_pod=1, limited=True, memory_bytes_per_pod=100_000_000)
    theirs = Budget(
        pods=1,
        processes_per_pod=1,
        cpu_cores_per_pod=1,
        limited=True,
        memory_bytes_per_pod=round(100_000_000 * factor),
    )
    if refused:
        with pytest.raises(OptionError, match="100 MB of memory and workers 106"):
            refuse_unequal({"pods": mine, "workers": theirs}, 1)
    else:
        refuse_unequal({"pods": mine, "workers": theirs}, 1)


def test_half_a_pod_is_left_out() -> None:
    """Size 1 has no pods of twice the size; the others are there."""
    assert list(budgets(TOPOLOGIES, 1, QUOTA)) == ["workers", "pods", "pods-unlimited"]


def test_without_a_quota_only_what_does_not_need_one_is_possible() -> None:
    """On one machine there are pods and workers."""
    assert possible(Base()) == ["workers", "pods"]
    assert possible(QUOTA) == list(TOPOLOGIES)


@pytest.mark.parametrize(
    ("name", "one_core_each", "cores"),
    [
        ("pods", True, 0.25),
        ("workers", True, 0.25),
        ("pods-large", True, 0.25),
        ("pods-unlimited", True, 1.0),
        ("pods", False, 0.25),
        ("pods-unlimited", False, float("inf")),
    ],
)
def test_what_a_size_of_one_can_use(name: str, one_core_each: bool, cores: float) -> None:
    """Its part of the limit; without one the core that an event loop fills, if that is what the work does."""
    budget = budgets([name], 4, QUOTA)[name]
    assert cores_for_each(budget, 4, one_core_each=one_core_each) == pytest.approx(cores)


def test_a_large_pod_of_one_process_cannot_use_two_cores() -> None:
    """Its one event loop fills one core: that is the price of fewer, larger pods."""
    base = Base(cpu_cores=1.0, quota=True)
    budget = budgets(["pods-large"], 4, base)["pods-large"]
    assert cores_for_each(budget, 4, one_core_each=True) == pytest.approx(0.5)
