"""Tests of the comparison with pretended pods and load; the real ones are in tests/e2e."""

import collections
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from podscale.contract import StageOrder, StageReport
from podscale.sweep import results
from podscale.sweep.compare import Comparison, Kill, rates
from podscale.sweep.compare_plan import ComparePlan, make_compare_plan
from podscale.sweep.measure import Interrupted
from podscale.sweep.options import OptionError
from podscale.sweep.results import Budget, Recovery, Result
from podscale.sweep.scrape import PodReading
from podscale.sweep.targets import MachineReading, NotReachedError
from podscale.sweep.topologies import Base
from tests.sweep import builders
from tests.sweep.test_run import PretendedLoad, PretendedTarget, Watcher

QUOTA = Base(cpu_cores=0.25, memory_bytes=128_000_000, quota=True)
# Seconds of p99 for each topology, told apart by their budget: as the first measurement on a cluster was.
PODS, WORKERS, UNLIMITED, LARGE = 1.976, 0.055, 0.062, 0.431


class PretendedArranger(PretendedTarget):
    """Pods that are what was asked for at once; a killed process is back at the second look."""

    sampled = False
    cores: float | None = 4.0

    def __init__(self, base: Base = QUOTA) -> None:
        super().__init__()
        self.base = base
        self.budget: Budget | None = None
        self.arranged: list[Budget] = []
        self.looks = 0
        self.forbidden = ""
        self.workers_lost = 0

    def arrange(self, budget: Budget) -> float | None:
        if budget == self.budget:
            return None
        self.budget = budget
        self.size = budget.processes
        self.arranged.append(budget)
        return 1.5

    def machine(self) -> MachineReading | None:
        return None

    def kill_one(self) -> str:
        if self.forbidden:
            raise NotReachedError(self.forbidden)
        self.looks = 0
        return "pod-1"

    def whole(self) -> bool:
        self.looks += 1
        return self.looks > 1

    def read(self) -> list[PodReading]:
        lost = self.workers_lost
        pods = range(self.budget.pods if self.budget else 1)
        # One pod tells of a lost worker: the sum over all is what counts.
        return [PodReading(pod=f"pod-{n}", at_seconds=0.0, requests=0.0, workers_lost=0 if n else lost) for n in pods]


class PretendedArrangedLoad(PretendedLoad):
    """Answers as the arranged topology would: the same throughput for all, and a p99 of its own."""

    more_workers = "raise --locust-workers"

    def __init__(self, target: PretendedArranger, plot: Callable[[int], None] = lambda _: None) -> None:
        super().__init__(target, plot)
        self.arranger = target

    def run(self, order: StageOrder, on_report: Callable[[StageReport], None]) -> StageReport:
        report = super().run(order, on_report)
        for state in ("measuring", "measuring", "measuring", "done"):
            on_report(builders.report(order, state=state))
        budget = self.arranger.budget
        assert budget is not None
        done = order["rate_per_second"] or 20.0 * budget.cpu_cores
        seconds = order["measure_seconds"]
        p99 = self._p99(budget)
        quantiles = dict.fromkeys(("p50", "p90", "p99", "p999", "max", "mean"), p99)
        processes = {f"pod-{pod}/{one}": 100 for pod in range(budget.pods) for one in range(budget.processes_per_pod)}
        changes: dict[str, Any] = {
            "completed_per_second": done,
            "requests": round(done * seconds),
            "arrivals": round(done * seconds),
            "latency_seconds": quantiles,
            "naive_latency_seconds": quantiles,
            "requests_by_pod": {f"pod-{pod}": 100 for pod in range(budget.pods)},
            "requests_by_process": processes,
        }
        report.update(changes)  # type: ignore[typeddict-item]  # the names are a report's
        return report

    def _p99(self, budget: Budget) -> float:
        if budget.processes_per_pod > 1:
            return WORKERS
        if not budget.limited:
            return UNLIMITED
        return LARGE if budget.cpu_cores_per_pod > QUOTA.cpu_cores else PODS


def plan_of(base: Base = QUOTA, **given: Any) -> ComparePlan:
    """A comparison of size 4, once, with 50 ms of work, unless told otherwise."""
    options: dict[str, Any] = {"sizes": [4], "repeats": 1, "cpu_time_ms": 50.0}
    return make_compare_plan(cores=4, **(options | {"base": base} | given))


def comparison_of(
    folder: Path, load: PretendedArrangedLoad, earlier: Result | None = None, **given: Any
) -> tuple[Comparison, Watcher]:
    """A comparison on pretended pods."""
    watcher = Watcher()
    plan = plan_of(load.arranger.base, **given)
    return Comparison(plan, load.arranger, load, folder=folder, observer=watcher, earlier=earlier), watcher


def test_a_comparison_measures_all_topologies_at_one_load_and_names_the_cause(tmp_path: Path) -> None:
    """Capacity first, then everybody at 80 % of the weakest, in both kinds of arrivals; the quota is found."""
    load = PretendedArrangedLoad(PretendedArranger())
    comparison, watcher = comparison_of(tmp_path, load)
    result = comparison.run()
    counts = collections.Counter((stage.topology, stage.purpose, stage.asked.arrivals) for stage in result.stages)
    for name in ("workers", "pods", "pods-unlimited", "pods-large"):
        for place in (("capacity", None), ("load", "constant"), ("load", "poisson"), ("recovery", "constant")):
            assert counts[name, *place] == 1
    # 80 % of 20/s for each core.
    assert {stage.asked.rate_per_second for stage in result.stages if stage.purpose != "capacity"} == {16.0}
    assert [cause.leading for cause in result.causes] == ["quota", "quota"]
    assert result.advice is not None
    assert result.advice.sentence.startswith("The CPU quota costs most")
    assert result.asked["command"] == "compare"
    assert results.load(tmp_path) == result
    assert watcher.ended == result.stages
    assert load.arranger.closed


def test_stages_of_one_arrangement_follow_each_other(tmp_path: Path) -> None:
    """Stages at load share an arrangement, so there are at most 4 for capacity and 4 more; each start is timed."""
    load = PretendedArrangedLoad(PretendedArranger())
    comparison, _ = comparison_of(tmp_path, load)
    result = comparison.run()
    assert len(load.arranger.arranged) <= 8
    started = [stage for stage in result.stages if stage.ready_seconds is not None]
    assert len(started) == len(load.arranger.arranged)


def test_the_order_is_random_and_told_by_the_seed() -> None:
    """Another seed measures in another order, the same seed in the same."""
    from podscale.sweep.compare_plan import load_stages

    def order(seed: int) -> list[tuple[str, str | None]]:
        stages = load_stages(plan_of(seed=seed, repeats=3), {4: 16.0})
        return [(stage.topology, stage.asked.arrivals) for stage in stages]

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_a_kill_waits_a_second_and_ends_when_all_serve_again() -> None:
    """Killed one second into the window, whole at the second look: the time between is the recovery."""
    now = [100.0]
    target = PretendedArranger()
    kill = Kill(target, lambda: now[0])
    kill.see(builders.report(state="warmup"))
    for _ in range(20):
        kill.see(builders.report(state="measuring"))
        now[0] += 0.25
    stage = builders.stage(4, purpose="recovery", errors={"reset": 3, "refused": 2})
    recovery = kill.describe(stage).recovery
    assert recovery == Recovery(killed="pod-1", failed_requests=5, seconds_until_full=0.5)


def test_what_is_not_whole_within_the_window_has_no_time() -> None:
    """The pod did not come back: the failures stand, the time is unknown."""
    now = [0.0]
    target = PretendedArranger()
    target.whole = lambda: False  # type: ignore[method-assign]  # a pod that never comes back
    kill = Kill(target, lambda: now[0])
    for _ in range(20):
        kill.see(builders.report(state="measuring"))
        now[0] += 0.25
    recovery = kill.describe(builders.stage(4, errors={"refused": 9})).recovery
    assert recovery == Recovery(killed="pod-1", failed_requests=9, seconds_until_full=None)


def test_a_kill_that_is_not_allowed_says_so() -> None:
    """Nothing was killed: the reason stands where the figures would."""
    now = [0.0]
    target = PretendedArranger()
    target.forbidden = "there is no right to pods/exec"
    kill = Kill(target, lambda: now[0])
    for _ in range(8):
        kill.see(builders.report(state="measuring"))
        now[0] += 0.25
    assert kill.describe(builders.stage(4)).recovery == Recovery(why_not="there is no right to pods/exec")


def test_a_worker_that_dies_marks_the_stage(tmp_path: Path) -> None:
    """Its supervisor counts one more lost worker in the middle of the second stage: that stage is void, no other."""
    target = PretendedArranger()

    def plot(number: int) -> None:
        target.workers_lost += number == 2

    comparison, _ = comparison_of(tmp_path, PretendedArrangedLoad(target, plot), recovery=False)
    result = comparison.run()
    assert [stage.valid for stage in result.stages].count(False) == 1
    spoiled = next(stage for stage in result.stages if not stage.valid)
    assert [verdict.code for verdict in spoiled.verdicts if verdict.code == "pod_lost"]
    assert "1 worker" in spoiled.verdicts[0].evidence


def test_a_broken_comparison_is_resumed_at_the_same_load(tmp_path: Path) -> None:
    """Stopped in the sixth stage: five stand, the rest is measured, and the offered load is what it was."""

    def plot(number: int) -> None:
        if number == 6:
            raise Interrupted("SIGINT")

    comparison, _ = comparison_of(tmp_path, PretendedArrangedLoad(PretendedArranger(), plot))
    broken = comparison.run()
    assert broken.aborted == "SIGINT"
    assert [stage.valid for stage in broken.stages] == [True] * 5 + [False]
    again = PretendedArrangedLoad(PretendedArranger())
    comparison, _ = comparison_of(tmp_path, again, earlier=results.load(tmp_path))
    whole = comparison.run()
    assert len(again.orders) == 16 - 5
    assert whole.aborted is None
    assert all(stage.valid for stage in whole.stages)


def test_a_size_without_a_valid_capacity_is_not_loaded() -> None:
    """One topology has no valid capacity: no equal load can be named, so none is offered; --rate offers it anyway."""
    plan = plan_of(topologies=["pods", "workers"])
    stages = [
        msgspec.structs.replace(builders.stage(4), topology="pods"),
        msgspec.structs.replace(builders.stage(4), topology="workers", valid=False),
    ]
    assert rates(plan, stages) == {}
    assert rates(plan_of(rate_per_second=7.0), stages) == {4: 7.0}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"topologies": ["pods"]}, "no comparison"),
        ({"topologies": ["pods", "threads"]}, "'threads' is not one of"),
        ({"base": Base(), "topologies": ["pods", "pods-large"]}, "needs --target kubernetes"),
        ({"sizes": [3]}, "33% apart"),
        ({"utilisation": 1.2}, "--utilisation"),
        ({"sizes": [1], "topologies": ["pods-large", "workers"]}, "fewer than two"),
        ({"repeats": 0}, "--repeats"),
    ],
)
def test_what_is_no_comparison_is_refused(given: dict[str, Any], says: str) -> None:
    """Before anything is started, with a sentence that names the option."""
    with pytest.raises(OptionError, match=says):
        plan_of(**given)


def test_one_process_has_no_causes(tmp_path: Path) -> None:
    """Pods and workers of one process are the same: figures, and a sentence instead of a difference."""
    comparison, _ = comparison_of(tmp_path, PretendedArrangedLoad(PretendedArranger()), sizes=[1])
    result = comparison.run()
    assert result.causes == []
    assert result.advice is not None
    assert "are the same" in result.advice.sentence


def test_a_plan_comes_back_from_its_result() -> None:
    """What is written as `asked` is the plan again when a comparison is resumed."""
    plan = plan_of()
    assert msgspec.convert(msgspec.to_builtins(plan), ComparePlan) == plan
