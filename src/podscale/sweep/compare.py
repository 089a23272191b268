"""The comparison: what each topology can do, then all of them at one rate, then what a killed process costs.

It is a sweep over topologies and sizes: saved after each stage, resumed, interrupted and put back in the same way.
"""

import time
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import msgspec

from podscale.contract import StageReport
from podscale.sweep import explain
from podscale.sweep.compare_plan import ComparePlan, capacity_stages, is_stage, load_stages
from podscale.sweep.measure import Load, Measurer
from podscale.sweep.plan import StagePlan
from podscale.sweep.results import Recovery, Result, Stage
from podscale.sweep.run import Observer, Sweep
from podscale.sweep.targets import Arranger, NotReachedError

# Into the window, so that the time before the kill shows in the same stage that nothing failed by itself.
KILL_AFTER_SECONDS = 1.0


class Comparison(Sweep):
    """One comparison of `plan`, writing to `folder`."""

    def __init__(
        self,
        plan: ComparePlan,
        target: Arranger,
        load: Load,
        *,
        folder: Path,
        observer: Observer,
        earlier: Result | None = None,
        keep: Callable[[Result], None] = lambda _: None,
    ) -> None:
        self._comparison = plan
        self._arranger = target
        super().__init__(plan, target, load, folder=folder, observer=observer, earlier=earlier, keep=keep)

    def _make_measurer(self) -> Measurer:
        return Measurer(
            self._comparison,
            self._arranger,
            self._load,
            on_report=self._observer.heard,
            bring=self._bring,
            disturb=lambda wanted: Kill(self._arranger, time.monotonic) if wanted.purpose == "recovery" else None,
        )

    def _bring(self, wanted: StagePlan) -> float | None:
        assert wanted.budget is not None
        return self._arranger.arrange(wanted.budget)

    def _measure_all(self) -> None:
        self._measure_missing(capacity_stages(self._comparison))
        self._measure_missing(load_stages(self._comparison, rates(self._comparison, self._result.stages)))

    def _have(self, wanted: StagePlan) -> bool:
        return any(is_stage(wanted, stage) for stage in self._result.stages)

    def _draw_conclusions(self) -> None:
        self._result.causes = explain.tail_causes(self._result.stages)
        self._result.advice = explain.advice(self._result.causes, self._result.stages)


def rates(plan: ComparePlan, stages: list[Stage]) -> dict[int, float]:
    """The offered load by size, the same for all its topologies: as asked, else a share of the weakest's capacity.

    A size without a valid capacity of every topology has none. What was offered before a comparison was broken off
    is offered again.
    """
    if plan.rate_per_second is not None:
        return dict.fromkeys(plan.sizes, plan.rate_per_second)
    found = {
        stage.size: stage.asked.rate_per_second
        for stage in stages
        if stage.asked.model == "open" and stage.asked.rate_per_second
    }
    wanted = {(stage.size, stage.topology) for stage in capacity_stages(plan)}
    for size in plan.sizes:
        capacities = {
            name: [
                stage.throughput_per_second
                for stage in stages
                if (stage.purpose, stage.size, stage.topology) == ("capacity", size, name)
                and stage.valid
                and stage.throughput_per_second
            ]
            for of, name in wanted
            if of == size
        }
        if size not in found and capacities and all(capacities.values()):
            found[size] = round(plan.utilisation * min(fmean(values) for values in capacities.values()), 1)
    return found


class Kill:
    """Kills one process in the midst of a stage, and waits until as many serve as before."""

    def __init__(self, target: Arranger, clock: Callable[[], float]) -> None:
        self._target = target
        self._clock = clock
        self._window_at: float | None = None
        self._killed_at: float | None = None
        self._recovery: Recovery | None = None

    def see(self, report: StageReport) -> None:
        """Called about ten times a second, which is how exact the time is."""
        if report["state"] != "measuring":
            return
        now = self._clock()
        if self._window_at is None:
            self._window_at = now
        elif self._recovery is None and now - self._window_at >= KILL_AFTER_SECONDS:
            self._kill()
        elif self._recovery is not None and self._killed_at is not None and self._target.whole():
            seconds = self._clock() - self._killed_at
            self._killed_at = None
            self._recovery = msgspec.structs.replace(self._recovery, seconds_until_full=seconds)

    def describe(self, stage: Stage) -> Stage:
        """The stage with what the kill cost; unchanged if it never came to it."""
        recovery = self._recovery
        if recovery is not None and recovery.killed is not None and stage.requests is not None:
            recovery = msgspec.structs.replace(recovery, failed_requests=sum(stage.errors.values()))
        return msgspec.structs.replace(stage, recovery=recovery)

    def _kill(self) -> None:
        try:
            self._recovery = Recovery(killed=self._target.kill_one())
            self._killed_at = self._clock()
        except NotReachedError as error:
            self._recovery = Recovery(why_not=str(error))
