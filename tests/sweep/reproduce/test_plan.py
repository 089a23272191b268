"""Tests of how rows become stages."""

from typing import Any

import pytest

from podscale.sweep.options import OptionError
from podscale.sweep.reproduce.plan import (
    BURST_PER_SECOND,
    PlannedStep,
    ReproducePlan,
    estimate_seconds,
    make_reproduce_plan,
    planned_steps,
)
from podscale.sweep.topologies import Base


def plan(cores: int = 4, base: Base = Base(), **given: Any) -> ReproducePlan:  # noqa: B008  # it is frozen
    """A plan as it is made on a machine of four cores."""
    return make_reproduce_plan(cores=cores, base=base, **given)


def steps(row: str, **given: Any) -> dict[str, PlannedStep]:
    """The steps of one row."""
    return {each.step.name: each for each in planned_steps(plan(rows=[row], **given))}


def test_n_is_the_number_of_cores_and_two_at_least() -> None:
    """Four pods or workers on four cores; with one core the rows that compare still have something to compare."""
    assert plan(cores=4).n == 4
    assert plan(cores=1).n == 2
    budget = steps("pods")["n pods"].stage.budget
    assert budget is not None
    assert (budget.pods, budget.processes_per_pod) == (4, 1)
    budget = steps("pods")["n workers at 60 %"].stage.budget
    assert budget is not None
    assert (budget.pods, budget.processes_per_pod, budget.cpu_cores) == (1, 4, 4.0)


def test_a_burst_is_exactly_so_many_arrivals() -> None:
    """The window ends between the last that is wanted and the next that would be due."""
    asked = steps("blocking")["three at once"].stage.asked
    assert asked.warmup_seconds == 0
    assert asked.rate_per_second == BURST_PER_SECOND
    due = [tick / BURST_PER_SECOND for tick in range(10)]
    assert len([seconds for seconds in due if seconds < asked.measure_seconds]) == 3


def test_a_share_of_the_cpu_becomes_a_rate() -> None:
    """31 % of four processes with a core each, in jobs of 100 ms; on a quarter of a core, a quarter of it."""
    assert steps("arrivals")["n workers"].stage.asked.rate_per_second == pytest.approx(12.5)
    quota = Base(cpu_cores=0.25, memory_bytes=1, quota=True)
    assert steps("arrivals", base=quota)["n workers"].stage.asked.rate_per_second == pytest.approx(3.125)


def test_a_quick_run_is_shorter_in_proportion_and_keeps_what_was_not_to_be_shortened() -> None:
    """Jobs of 10 s become 2 s and 60 s become 12; the algorithms get the whole list."""
    assert steps("blocking", quick=True)["three at once"].stage.asked.options["cpu_time_ms"] == 2000.0
    assert steps("primes", quick=True)["one pod"].stage.asked.options["limit"] == 20_000
    assert steps("arrivals", quick=True)["n workers"].stage.asked.measure_seconds == pytest.approx(12)
    assert steps("algorithm", quick=True)["trial, one pod"].stage.asked.options["limit"] == 300_000
    assert estimate_seconds(plan(quick=True)) < estimate_seconds(plan()) / 2


def test_children_have_cpu_of_their_own() -> None:
    """A pod whose three children work at once has three shares of CPU and memory."""
    budget = steps("worker", base=Base(cpu_cores=0.25, memory_bytes=100, quota=True))["three at once"].stage.budget
    assert budget is not None
    assert (budget.pods, budget.processes, budget.children) == (1, 1, 3)
    assert (budget.cpu_cores, budget.memory_bytes, budget.limited) == (0.75, 300, True)


def test_each_step_is_measured_with_its_own_user_class_and_timeout() -> None:
    """The plan of a stage tells the load whose users take part."""
    found = steps("prime")["one child"].plan
    assert found.user_class == "Prime"
    assert found.timeout_seconds == 120.0
    assert steps("timestamp")["one process"].plan.timeout_seconds == 30.0


def test_only_the_killed_step_is_a_recovery() -> None:
    """Nothing else may kill a process."""
    everything = planned_steps(plan())
    assert [each.row.name for each in everything if each.stage.purpose == "recovery"] == ["restart"]


def test_a_row_that_does_not_exist_is_refused() -> None:
    """Before anything starts."""
    with pytest.raises(OptionError, match="is no row"):
        plan(rows=["dance"])


def test_on_a_cluster_n_is_what_was_asked_and_locust_must_have_all_users() -> None:
    """Four unless told otherwise; every user class of the rows is looked for before anything starts."""
    quota = Base(cpu_cores=0.25, memory_bytes=1, quota=True)
    found = plan(base=quota, deployment="shop", rows=["prime", "blocking", "restart"], quick=True)
    assert (found.target, found.n, found.arranges) == ("kubernetes", 4, True)
    assert found.user_classes == {"Prime", "Blocking"}
    assert plan(n=8).n == 8
    with pytest.raises(OptionError, match="--n: 1 is not between 2 and 64"):
        plan(n=1)
    with pytest.raises(OptionError, match="--max-minutes"):
        plan(base=quota, deployment="shop", max_minutes=1.0)
