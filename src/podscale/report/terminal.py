"""What the terminal shows, as rich renderables that fit 80 columns: plan, progress, result and advice.

Texts from outside are never read as rich markup. Nothing is cut with an ellipsis, which a terminal without UTF-8
could not print.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column, Table
from rich.text import Text

from podscale.analysis import words
from podscale.report import cells, figures
from podscale.sweep.results import Result, Stage

_VERDICT_WIDTH = 26  # what 80 columns leave


@dataclass(frozen=True)
class PlanRow:
    """A stage to come: "capacity" or "goal", its size and repeat, the load in words, and about how long it takes."""

    purpose: str
    size: int
    repeat: int
    load: str
    seconds: float


def plan_table(rows: Sequence[PlanRow], total_seconds: float) -> RenderableType:
    """What a sweep would do, in order, and how long it takes together."""
    table = open_table(("Stage", "right"), ("Pods", "right"), ("Repeat", "right"), ("Purpose", "left"))
    table.add_column("Load", max_width=36)
    table.add_column("Time", justify="right", no_wrap=True)
    for position, row in enumerate(rows, start=1):
        texts = [str(position), str(row.size), str(row.repeat), row.purpose, row.load, f"{row.seconds:.0f} s"]
        table.add_row(*map(Text, texts))
    return Group(table, Text(f"{len(rows)} stages, about {duration(total_seconds)}.", style="bold"))


def checks_table(rows: Sequence[tuple[str, str, str]]) -> RenderableType:
    """What was looked at before a start: how it stands, what it is, and what was found."""
    table = Table(box=None, pad_edge=False, header_style="bold underline")
    table.add_column("Check", no_wrap=True)
    table.add_column("State", no_wrap=True)
    table.add_column("Found", overflow="fold")
    styles = {"refused": "bold red", "warning": "yellow"}
    for state, name, text in rows:
        table.add_row(Text(name), Text(state), Text(text), style=styles.get(state, ""))
    return Group(table, Text(""))


def duration(seconds: float) -> str:
    """Minutes and seconds: "2 min 41 s"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def progress(console: Console) -> Progress:
    """A progress bar in seconds: its task's `total` and `completed` are those of the plan."""
    return Progress(
        TextColumn("{task.description}", markup=False, table_column=Column(width=46, no_wrap=True, overflow="crop")),
        BarColumn(bar_width=16),
        TimeLeft(),
        console=console,
        transient=True,
    )


class TimeLeft(ProgressColumn):
    """What the plan still needs, which is known from the start and not guessed from the speed."""

    def render(self, task: Task) -> Text:
        """Minutes and seconds, to the right."""
        left = duration(max(0.0, (task.total or 0) - task.completed))
        return Text(f"{left} left".rjust(14), style="progress.remaining")


def progress_description(position: int, stages: int, what: str, step: str) -> str:
    """What goes on now, in at most 46 characters: "3/8  2 pods, capacity: measuring"."""
    return f"{position}/{stages}  {what}: {step}"[:46]


def result_table(result: Result) -> RenderableType:
    """One line for each stage, and below it why stages do not count."""
    if not result.stages:
        return Text("No stage was measured.")
    table = open_table(("Pods", "right"), ("Run", "left"), ("Answers/s", "right"), ("Eff.", "right"))
    for heading in ("p50 ms", "p99 ms", "Errors"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Verdict", no_wrap=True)
    stages = figures.in_order(result.stages)
    rows = [_cells(result, stage) for stage in stages]
    for stage, row in zip(stages, rows, strict=True):
        table.add_row(*map(Text, row), style="" if stage.valid else "yellow")
    legend = [Text("? is unknown", style="dim")] if any(_UNKNOWN in row for row in rows) else []
    return Group(table, *legend, *(why_void(stage) for stage in stages if not stage.valid))


def advice(result: Result) -> RenderableType:
    """The advice with its reasons, and why the sweep ended early if it did."""
    lines: list[RenderableType] = []
    if result.aborted:
        lines.append(Text(f"Ended early: {result.aborted}", style="yellow"))
    if result.advice is None:
        return Group(*lines, Text("No advice: the sweep did not come that far."))
    lines.append(Text(result.advice.sentence, style="bold green" if result.advice.verified else "bold"))
    return Group(*lines, *(_indented(reason) for reason in figures.reasons(result)))


def _cells(result: Result, stage: Stage) -> list[str]:
    latency = stage.latency_seconds
    goal = stage.purpose == "goal"
    return [
        str(stage.size),
        "goal" if goal else str(stage.repeat),
        _short(stage.throughput_per_second),
        "" if goal else _share(figures.efficiency(result, stage)),
        _short(None if latency is None else latency.p50 * 1000),
        _short(None if latency is None else latency.p99 * 1000),
        _count(figures.error_count(stage)),
        _verdict(stage)[:_VERDICT_WIDTH],
    ]


def _verdict(stage: Stage) -> str:
    """The first verdict, which is the weightiest; the report has them all."""
    first = figures.verdict(stage.verdicts[0].code) if stage.verdicts else "none"
    return first if stage.valid else f"void: {first}"


_UNKNOWN = "?"  # the word does not fit in most columns


def _short(value: float | None) -> str:
    return _UNKNOWN if value is None else words.number(value)


def _share(value: float | None) -> str:
    return _UNKNOWN if value is None else cells.percent(value)


def _count(value: int | None) -> str:
    return _UNKNOWN if value is None else cells.count(value)


def why_void(stage: Stage) -> RenderableType:
    """Why a stage does not count."""
    reasons = "; ".join(f"{figures.verdict(found.code)}: {found.evidence}" for found in stage.verdicts)
    return _indented(f"void: {figures.name(stage)}: {reasons or 'no verdict is known'}", style="yellow")


def _indented(text: str, style: str = "") -> RenderableType:
    """A point of a list, whose further lines begin where its first does."""
    grid = Table.grid(Column(width=2), Column(overflow="fold"))
    grid.add_row("-", Text(text, style=style))
    return grid


def open_table(*columns: tuple[str, str]) -> Table:
    """A table without lines, its columns set to the left or the right."""
    table = Table(box=None, pad_edge=False, header_style="bold underline")
    for heading, side in columns:
        table.add_column(heading, justify="right" if side == "right" else "left", no_wrap=True)
    return table
