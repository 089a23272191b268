"""Runs the rows: arrange, load, measure and judge each step as a sweep does, and save after each of them.

Whatever way it ends, what was measured is in `reproduce.json`, and the target is put back as it was found.
"""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from podscale.sweep import environment
from podscale.sweep.compare import Kill
from podscale.sweep.measure import Interrupted, Load, Measurer
from podscale.sweep.plan import StagePlan
from podscale.sweep.reproduce.claims import row_result
from podscale.sweep.reproduce.plan import PlannedStep, ReproducePlan, planned_steps
from podscale.sweep.reproduce.results import Reproduction, save
from podscale.sweep.reproduce.rows import ROWS
from podscale.sweep.results import Stage
from podscale.sweep.run import Observer
from podscale.sweep.targets import Arranger


class Reproduce:
    """One run of `plan`, writing to `folder`."""

    def __init__(self, plan: ReproducePlan, target: Arranger, load: Load, *, folder: Path, observer: Observer) -> None:
        self._plan = plan
        self._target = target
        self._load = load
        self._folder = folder
        self._observer = observer
        self._stages: dict[str, list[Stage]] = {}
        self._void: dict[str, list[Stage]] = {}  # those that were measured once more
        self._result = Reproduction(
            id=folder.name,
            started_at=_now(),
            asked=plan.describe(),
            environment=environment.describe() | target.describe() | {"locust_workers": load.worker_count},
            quick=plan.quick,
            n=plan.n,
        )

    def run(self) -> Reproduction:
        """Measure all rows, or as many as is possible; raises TargetError when the target cannot be used at all.

        An interruption is no error: the result says `aborted`.
        """
        steps = planned_steps(self._plan)
        try:
            self._observer.planned([each.stage for each in steps])
            for each in steps:
                self._measure_counted(each)
        except Interrupted as interrupted:
            self._result.aborted = str(interrupted)
        finally:
            try:
                self._load.close()
                self._target.close()
            finally:
                self._result.finished_at = _now()
                self._save()
        return self._result

    def _measure_counted(self, wanted: PlannedStep) -> None:
        """Once more where it does not count: something else may have had the machine for a moment."""
        stage = self._measure(wanted)
        if not stage.valid:
            self._void.setdefault(wanted.row.name, []).append(self._stages[wanted.row.name].pop())
            self._observer.planned([wanted.stage])
            self._measure(wanted)

    def _measure(self, wanted: PlannedStep) -> Stage:
        self._observer.started(wanted.stage)
        measured = Measurer(
            wanted.plan,
            self._target,
            self._load,
            on_report=self._observer.heard,
            bring=self._bring,
            disturb=lambda stage: Kill(self._target, time.monotonic) if stage.purpose == "recovery" else None,
        ).measure(wanted.stage)
        self._stages.setdefault(wanted.row.name, []).append(measured.stage)
        self._save()
        self._observer.finished(measured.stage)
        if measured.interrupted is not None:
            raise measured.interrupted
        return measured.stage

    def _bring(self, wanted: StagePlan) -> float | None:
        assert wanted.budget is not None
        return self._target.arrange(wanted.budget)

    def _save(self) -> None:
        target: Literal["local", "kubernetes"] = "kubernetes" if self._plan.target == "kubernetes" else "local"
        self._result.rows = [
            row_result(ROWS[name], stages, self._plan.n, target, void=self._void.get(name, ()))
            for name, stages in self._stages.items()
        ]
        if self._result.rows:
            save(self._result, self._folder)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
