"""Shows a running sweep in the terminal: a bar with the time left, and a line for each stage that ended."""

import time
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from podscale.contract import StageReport
from podscale.sweep.plan import StagePlan
from podscale.sweep.results import Stage


class TerminalObserver:
    """A `sweep.run.Observer`. Where the output is no terminal, only the lines are printed."""

    def __init__(self, console: Console, total_seconds: float) -> None:
        self._console = console
        self._stages_seconds = 0.0
        self._ended_seconds = 0.0
        self._total_seconds = total_seconds
        self._stage: StagePlan | None = None
        self._stage_began = 0.0
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[left]}"),
            console=console,
            expand=True,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task: TaskID = self._progress.add_task("starting", total=total_seconds, left="")

    def __enter__(self) -> "TerminalObserver":
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._progress.stop()

    def planned(self, stages: Sequence[StagePlan]) -> None:
        """The total grows when stages come that the estimate did not know."""
        self._stages_seconds += sum(stage.seconds for stage in stages)
        self._total_seconds = max(self._total_seconds, self._stages_seconds)

    def started(self, stage: StagePlan) -> None:
        """Name the stage on the bar."""
        self._stage, self._stage_began = stage, time.monotonic()
        self._show("scaling")

    def heard(self, report: StageReport) -> None:
        """Move the bar with the stage."""
        self._show(report["state"])

    def finished(self, stage: Stage) -> None:
        """Print the stage's line."""
        if self._stage is not None:
            self._ended_seconds += self._stage.seconds
            self._stage = None
        self._console.print(_line(stage), highlight=False)

    def _show(self, state: str) -> None:
        if self._stage is None:
            return
        stage = self._stage
        within = min(time.monotonic() - self._stage_began, stage.seconds)
        left = max(0.0, self._total_seconds - self._ended_seconds - within)
        what = f"{_pods(stage.size)}, {'latency goal' if stage.purpose == 'goal' else 'capacity'}: {state}"
        self._progress.update(
            self._task,
            total=self._total_seconds,
            completed=self._ended_seconds + within,
            description=f"{what:<34}",
            left=f"{left / 60:.0f} min {left % 60:02.0f} s left" if left >= 60 else f"{left:.0f} s left",
        )


def _line(stage: Stage) -> str:
    asked = stage.asked
    load = f"{asked.rate_per_second:g} arrivals/s" if asked.model == "open" else f"{asked.users} users"
    if stage.throughput_per_second is None or stage.latency_seconds is None:
        figures = "no figure"
    else:
        figures = f"{stage.throughput_per_second:8.1f}/s   p99 {stage.latency_seconds.p99 * 1000:8.1f} ms"
    spoiled = "" if stage.valid else f"   not valid: {stage.verdicts[0].code if stage.verdicts else 'unknown'}"
    return f"{_pods(stage.size):>8}   {load:<16} {figures}{spoiled}"


def _pods(size: int) -> str:
    return "1 pod" if size == 1 else f"{size} pods"
