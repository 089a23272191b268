"""Shows a running sweep in the terminal: a bar with the time left, and a line for each stage that ended."""

import time
from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.text import Text

from podscale.analysis import words
from podscale.contract import StageReport
from podscale.report import figures, terminal
from podscale.sweep.plan import StagePlan
from podscale.sweep.results import Stage


class TerminalObserver:
    """A `sweep.run.Observer`. Where the output is no terminal, only the lines of ended stages are printed."""

    def __init__(self, console: Console, total_seconds: float) -> None:
        self._console = console
        self._estimated_seconds = total_seconds
        self._planned: list[StagePlan] = []
        self._ended: list[StagePlan] = []
        self._current: StagePlan | None = None
        self._began_at = 0.0
        self._progress = terminal.progress(console)
        self._progress.disable = not console.is_terminal
        self._task = self._progress.add_task("starting", total=total_seconds)

    def __enter__(self) -> "TerminalObserver":
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._progress.stop()

    def planned(self, stages: Sequence[StagePlan]) -> None:
        """The total grows when stages come that the estimate did not know."""
        self._planned += stages

    def says(self, text: str) -> None:
        """A line that somebody who looks later has to see."""
        self._console.print(Text(text))

    def waits(self, text: str) -> None:
        """What is being waited for, on the bar."""
        self._show(text)

    def started(self, stage: StagePlan) -> None:
        """Name the stage on the bar."""
        self._began_at = time.monotonic()
        self._current = stage
        self._show("scaling")

    def heard(self, report: StageReport) -> None:
        """Move the bar with the stage."""
        self._show(report["state"])

    def finished(self, stage: Stage) -> None:
        """Print the stage's line."""
        if self._current is not None:
            self._ended.append(self._current)
        self._console.print(Text(_line(self._current.name if self._current else None, stage)))

    def _show(self, state: str) -> None:
        stage = self._current
        if stage is None:
            return
        position = len(self._ended) + 1
        within = min(time.monotonic() - self._began_at, stage.seconds)
        what = stage.name or f"{figures.instances(stage.topology, stage.size)}, {stage.purpose}"
        self._progress.update(
            self._task,
            total=max(self._estimated_seconds, _seconds(self._planned)),
            completed=_seconds(self._ended) + within,
            description=terminal.progress_description(position, len(self._planned), what, state),
        )


def _seconds(stages: Sequence[StagePlan]) -> float:
    return sum(stage.seconds for stage in stages)


def _line(name: str | None, stage: Stage) -> str:
    spoiled = "" if stage.valid else f"  void: {stage.verdicts[0].code if stage.verdicts else 'unknown'}"
    if name is None:
        name = f"{figures.instances(stage.topology, stage.size):>8}  {stage.asked.describe():<25}"
    return f"{name:<35}{_told(stage)}{spoiled}"


def _told(stage: Stage) -> str:
    if stage.throughput_per_second is None or stage.latency_seconds is None:
        return "no figure"
    if stage.purpose == "burst":  # answers come after its window: they make no rate
        return f"{stage.requests:>7} answers, the last after {words.milliseconds(stage.latency_seconds.max)}"
    rate, p99 = stage.throughput_per_second, stage.latency_seconds.p99
    return f"{words.number(rate):>7}/s  p99 {words.milliseconds(p99):>9}"
