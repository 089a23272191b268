"""The sweep: for each size scale, load, measure, judge, save; then fit, check the goal, advise.

Whatever way it ends, what was measured is in `result.json`, and the target is put back as it was found.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import msgspec

from podscale.contract import StageReport
from podscale.sweep import conclude, environment
from podscale.sweep.measure import Interrupted, Load, Measurer
from podscale.sweep.plan import MAX_GOAL_STAGES, Plan, StagePlan, asks_goal, capacity_stages, goal_stage
from podscale.sweep.results import Result, Stage, save
from podscale.sweep.targets import Target


class Observer(Protocol):
    """Who watches a sweep: a terminal, a test."""

    def planned(self, stages: Sequence[StagePlan]) -> None:
        """These stages are to come, in this order."""

    def started(self, stage: StagePlan) -> None:
        """A stage begins."""

    def heard(self, report: StageReport) -> None:
        """The running stage, about ten times a second."""

    def finished(self, stage: Stage) -> None:
        """A stage was measured and saved."""


class Sweep:
    """One sweep of `plan`, writing to `folder`, and to `keep` as well. `earlier` is the broken run to go on from."""

    def __init__(
        self,
        plan: Plan,
        target: Target,
        load: Load,
        *,
        folder: Path,
        observer: Observer,
        earlier: Result | None = None,
        keep: Callable[[Result], None] = lambda _: None,
    ) -> None:
        self._plan = plan
        self._target = target
        self._load = load
        self._folder = folder
        self._observer = observer
        self._keep = keep
        self._begun_at = time.monotonic()
        self._measured_seconds = 0.0
        self._measurer = self._make_measurer()
        self._result = earlier or Result(
            id=folder.name,
            started_at=_now(),
            asked=msgspec.to_builtins(plan),
            environment=environment.describe() | target.describe() | {"locust_workers": load.worker_count},
        )

    def run(self) -> Result:
        """Measure all of it, or as much as is possible; raises TargetError when the target cannot be used at all.

        An interruption is no error: the result says `aborted`.
        """
        self._result.aborted = None
        self._drop_invalid()
        try:
            self._measure_all()
        except Interrupted as interrupted:
            self._result.aborted = str(interrupted)
        finally:
            try:
                self._load.close()
                self._target.close()
            finally:
                if self._result.stages:
                    self._conclude()
        return self._result

    def _make_measurer(self) -> Measurer:
        return Measurer(self._plan, self._target, self._load, on_report=self._observer.heard)

    def _measure_all(self) -> None:
        self._measure_missing(capacity_stages(self._plan))
        self._check_goal()

    def _measure_missing(self, stages: Iterable[StagePlan]) -> None:
        wanted = [stage for stage in stages if not self._have(stage)]
        self._observer.planned(wanted)
        for stage in wanted:
            self._measure(stage)

    def _check_goal(self) -> None:
        """Try the size that should hold the goal and its neighbours, until n holds it and n - 1 does not."""
        plan = self._plan
        if not asks_goal(plan):
            return
        goal = conclude.goal_of(plan, self._result.stages)
        measured = [stage.size for stage in self._result.stages if stage.purpose == "capacity" and stage.valid]
        if goal is None or not measured:
            return
        size = conclude.first_size(self._result.stages, goal)
        for _ in range(MAX_GOAL_STAGES):
            if size is None:
                return
            tried = [stage.valid for stage in self._result.stages if stage.purpose == "goal" and stage.size == size]
            if not any(tried):
                stage = goal_stage(plan, size, goal.rate_per_second, repeat=len(tried) + 1)
                self._observer.planned([stage])
                self._measure(stage)
            size = conclude.next_size(self._result.stages, goal, size, max(measured))

    def _measure(self, wanted: StagePlan) -> None:
        self._observer.started(wanted)
        measured = self._measurer.measure(wanted)
        self._result.stages.append(measured.stage)
        self._measured_seconds += measured.stage.measured_seconds or 0.0
        self._save()
        self._observer.finished(measured.stage)
        if measured.interrupted is not None:
            raise measured.interrupted

    def _have(self, wanted: StagePlan) -> bool:
        return any(
            (stage.purpose, stage.size, stage.repeat) == (wanted.purpose, wanted.size, wanted.repeat)
            for stage in self._result.stages
        )

    def _drop_invalid(self) -> None:
        """A resumed sweep measures again what did not count."""
        self._result.stages = [stage for stage in self._result.stages if stage.valid]

    def _conclude(self) -> None:
        self._draw_conclusions()
        self._result.finished_at = _now()
        self._result.overhead_fraction = 1 - self._measured_seconds / (time.monotonic() - self._begun_at)
        self._save()

    def _draw_conclusions(self) -> None:
        self._result.fits = conclude.fits(self._result.stages)
        self._result.advice = conclude.advice(self._plan, self._result.stages)

    def _save(self) -> None:
        save(self._result, self._folder)
        self._keep(self._result)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
