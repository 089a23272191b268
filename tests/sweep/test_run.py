"""Tests of the sweep's loop with a pretended target and load; the real ones are in tests/e2e."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from podscale.contract import StageOrder, StageReport
from podscale.sweep import results
from podscale.sweep.locust import LocustError, StageClient
from podscale.sweep.measure import Interrupted
from podscale.sweep.plan import StagePlan
from podscale.sweep.results import Stage
from podscale.sweep.run import Sweep
from podscale.sweep.scrape import PodReading
from podscale.sweep.targets import MachineReading, NotReachedError, TargetError
from tests.sweep import builders

POD_RATE = 50.0


class PretendedTarget:
    """Pods that are ready at once, up to `most`."""

    name = "local"
    url = "http://127.0.0.1:1"
    cores_per_pod = float("inf")
    sampled = False

    def __init__(self, most: int = 64) -> None:
        self.cores: float | None = 2
        self.most = most
        self.size = 0
        self.closed = False

    def describe(self) -> dict[str, Any]:
        return {"target": self.name}

    def scale(self, size: int) -> float:
        if size > self.most:
            raise NotReachedError(f"{self.most} of {size} pods were ready after 30 s")
        self.size = size
        return 0.1

    def read(self) -> list[PodReading]:
        return []

    def machine(self) -> MachineReading | None:
        return None

    def close(self) -> None:
        self.closed = True


class PretendedLoad(StageClient):
    """Answers each order with what `size` pods of 50 requests a second would do; `plot` may raise instead."""

    def __init__(self, target: PretendedTarget, plot: Callable[[int], None] = lambda _: None) -> None:
        self.worker_count = 1
        self.more_workers = "raise --locust-workers"
        self.target = target
        self.plot = plot
        self.orders: list[StageOrder] = []
        self.closed = False

    def client(self) -> StageClient:
        return self

    def run(self, order: StageOrder, on_report: Callable[[StageReport], None]) -> StageReport:
        self.orders.append(order)
        on_report(builders.report(order, state="measuring"))
        self.plot(len(self.orders))
        size, rate = self.target.size, order["rate_per_second"]
        done = min(rate, size * POD_RATE) if order["model"] == "open" else size * POD_RATE
        seconds = order["measure_seconds"]
        slow = order["model"] == "open" and rate > size * POD_RATE
        quantiles = dict.fromkeys(("p50", "p90", "p99", "p999", "max", "mean"), 5.0 if slow else 0.1)
        return builders.report(
            order,
            measured_seconds=seconds,
            arrivals=round((rate or done) * seconds),
            requests=round(done * seconds),
            completed_per_second=done,
            latency_seconds=quantiles,
            naive_latency_seconds=quantiles,
            requests_by_pod={f"pod-{n}": 100 for n in range(size)},
        )

    def stop(self) -> StageReport:
        return builders.report(state="stopped", reason="stopped", measured_seconds=1.0, requests=20)

    def close(self) -> None:
        self.closed = True


class Watcher:
    """Remembers what a sweep told it."""

    def __init__(self) -> None:
        self.planned_stages: list[StagePlan] = []
        self.ended: list[Stage] = []

    def planned(self, stages: Sequence[StagePlan]) -> None:
        self.planned_stages += stages

    def started(self, stage: StagePlan) -> None:
        assert stage in self.planned_stages

    def heard(self, report: StageReport) -> None:
        assert report["state"]

    def finished(self, stage: Stage) -> None:
        self.ended.append(stage)


def sweep_of(folder: Path, load: PretendedLoad, **options: Any) -> tuple[Sweep, Watcher]:
    """A sweep of pretended pods."""
    watcher = Watcher()
    earlier = options.pop("earlier", None)
    plan = builders.plan(**options)
    return Sweep(plan, load.target, load, folder=folder, observer=watcher, earlier=earlier), watcher


def test_a_sweep_measures_every_size_fits_and_proves_the_number(tmp_path: Path) -> None:
    """Sizes 1 to 4, then the goal: queueing lets four be tried first, three hold 140/s, two are shown to miss it."""
    load = PretendedLoad(PretendedTarget())
    sweep, watcher = sweep_of(tmp_path, load, sizes=[1, 2, 4], repeats=2)
    result = sweep.run()
    capacity = [stage.size for stage in result.stages if stage.purpose == "capacity"]
    assert sorted(capacity) == [1, 1, 2, 2, 4, 4]
    assert {stage.size for stage in result.stages if stage.purpose == "goal"} == {4, 3, 2}
    assert result.advice is not None
    assert (result.advice.pods, result.advice.verified) == (3, True)
    assert result.aborted is None
    assert load.closed
    assert load.target.closed
    assert results.load(tmp_path) == result
    assert watcher.ended == result.stages


def test_orders_carry_the_plan(tmp_path: Path) -> None:
    """What the load is told is what the plan says."""
    load = PretendedLoad(PretendedTarget())
    sweep, _ = sweep_of(tmp_path, load, sizes=[2], repeats=1, goal=False, connections="10", cpu_time_ms=5.0)
    sweep.run()
    (order,) = load.orders
    assert order["users"] == 32
    assert order["connections"] == "10"
    assert order["options"] == {"cpu_time_ms": 5.0, "clock": "cpu"}
    assert order["scenario"] == "Blocking"
    assert order["expect_workers"] == 1


def test_a_size_that_is_not_reached_has_no_number_and_the_rest_goes_on(tmp_path: Path) -> None:
    """The stage says how far it came, has no throughput, and the other sizes are measured."""
    load = PretendedLoad(PretendedTarget(most=2))
    sweep, _ = sweep_of(tmp_path, load, sizes=[1, 2, 4], repeats=1, goal=False)
    result = sweep.run()
    by_size = {stage.size: stage for stage in result.stages}
    assert by_size[4].throughput_per_second is None
    assert not by_size[4].valid
    assert by_size[4].verdicts[0].evidence == "2 of 4 pods were ready after 30 s"
    assert by_size[1].valid
    assert by_size[2].valid


def test_a_broken_load_voids_its_stage_and_no_other(tmp_path: Path) -> None:
    """The Locust master goes away in the second stage: that one is void, the others stand."""

    def plot(number: int) -> None:
        if number == 2:
            raise LocustError("the Locust master does not answer")

    sweep, _ = sweep_of(tmp_path, PretendedLoad(PretendedTarget(), plot), sizes=[1, 2, 3], repeats=1, goal=False)
    result = sweep.run()
    assert [stage.valid for stage in result.stages] == [True, False, True]
    assert result.stages[1].verdicts[0].code == "void"


def test_an_interrupted_sweep_saves_what_it_has_and_can_be_resumed(tmp_path: Path) -> None:
    """Stopped in the third stage: two are kept, the third is marked; resumed, only what is missing is measured."""

    def plot(number: int) -> None:
        if number == 3:
            raise Interrupted("SIGINT")

    first = PretendedLoad(PretendedTarget(), plot)
    sweep, _ = sweep_of(tmp_path, first, sizes=[1, 2], repeats=2, goal=False)
    broken = sweep.run()
    assert broken.aborted == "SIGINT"
    assert [stage.valid for stage in broken.stages] == [True, True, False]
    assert broken.stages[2].verdicts[0].code == "interrupted"
    assert broken.stages[2].requests == 20
    assert first.target.closed
    second = PretendedLoad(PretendedTarget())
    earlier = results.load(tmp_path)
    sweep, watcher = sweep_of(tmp_path, second, sizes=[1, 2], repeats=2, goal=False, earlier=earlier)
    whole = sweep.run()
    assert len(second.orders) == 2
    assert len(watcher.planned_stages) == 2
    assert whole.aborted is None
    assert sorted((stage.size, stage.repeat) for stage in whole.stages) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert all(stage.valid for stage in whole.stages)


def test_a_target_that_cannot_be_used_ends_the_sweep_and_is_put_back(tmp_path: Path) -> None:
    """The error reaches the caller; everything is closed and what was measured is on disk."""

    def plot(number: int) -> None:
        if number == 2:
            raise TargetError("nothing answers")

    load = PretendedLoad(PretendedTarget(), plot)
    sweep, _ = sweep_of(tmp_path, load, sizes=[1, 2], repeats=1, goal=False)
    with pytest.raises(TargetError):
        sweep.run()
    assert load.target.closed
    assert load.closed
    assert len(results.load(tmp_path).stages) == 1


def test_an_open_sweep_asks_the_goal_at_every_size(tmp_path: Path) -> None:
    """With --model open there are no capacity stages and no laws, and the smallest size that holds is named."""
    load = PretendedLoad(PretendedTarget())
    sweep, _ = sweep_of(tmp_path, load, sizes=[1, 2, 3], repeats=1, model="open", rate_per_second=90.0)
    result = sweep.run()
    assert {stage.purpose for stage in result.stages} == {"goal"}
    assert all(fit.refused for fit in result.fits)
    assert result.advice is not None
    assert (result.advice.pods, result.advice.verified) == (2, True)
