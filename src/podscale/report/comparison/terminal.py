"""What the terminal shows of a comparison, in 80 columns: plan and results."""

from collections.abc import Callable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from podscale.analysis import words
from podscale.report import cells, terminal
from podscale.report.comparison.variants import (
    Spread,
    Variant,
    budget,
    full_after,
    rates,
    throttled_fraction,
    variants,
)
from podscale.report.figures import busiest_over_mean
from podscale.sweep.results import Budget, Result, TopologyName


def plan(budgets: Mapping[tuple[int, TopologyName], Budget | None], stages: int, seconds: float) -> RenderableType:
    """The budgets that would be compared, and how long that takes."""
    table = terminal.open_table(("Size", "right"), ("Topology", "left"))
    table.add_column("Budget", overflow="fold")
    for (size, topology), found in sorted(budgets.items()):
        table.add_row(Text(str(size)), Text(topology), Text(budget(found)))
    return Group(table, Text(f"{stages} stages, about {terminal.duration(seconds)}.", style="bold"))


def tables(result: Result) -> RenderableType:
    """Speed and cost of every variant, and why stages do not count."""
    found = variants(result)
    if not found:
        return Text("No stage was measured.")
    offers = rates(result)
    offered = words.listed([f"{words.number(rate)}/s at size {size}" for size, rate in sorted(offers.items())])
    return Group(
        _table(found, _SPEED),
        Text(f"Offered load: {offered or 'none'}. In brackets, the least and the most of the repeats.", style="dim"),
        Text(),
        _table(found, _COST),
        Text("Failed, full s: requests lost to a kill, and time until all served. ? is unknown.", style="dim"),
        *(terminal.why_void(stage) for stage in result.stages if not stage.valid),
    )


def _table(found: Sequence[Variant], columns: Mapping[str, Callable[[Variant], str]]) -> Table:
    table = terminal.open_table(("Variant", "left"))
    for heading in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for variant in found:
        table.add_row(Text(f"{variant.size} {variant.topology}"), *(Text(show(variant)) for show in columns.values()))
    return table


def _failed(variant: Variant) -> str:
    recovery = variant.recovery()
    return cells.count(recovery.failed_requests if recovery else None).replace(cells.UNKNOWN, "?")


def _full(variant: Variant) -> str:
    return full_after(variant.recovery(), variant.stages).replace(cells.UNKNOWN, "?")


def _throttled(variant: Variant) -> str:
    found = variant.at_load(throttled_fraction)
    return "?" if found is None else cells.percent(found.mean)


def _short(found: Spread | None, scale: float = 1.0, *, between: bool = False) -> str:
    """The mean; `between` adds the least and the most. The word for unknown does not fit in a column."""
    if found is None:
        return "?"
    return found.shown(scale, between=between).replace(" to ", "-")


_SPEED: Mapping[str, Callable[[Variant], str]] = {
    "Most/s": lambda variant: _short(variant.throughput()),
    "p50 ms": lambda variant: _short(variant.quantile("constant", "p50"), 1000),
    "p99 ms, constant": lambda variant: _short(variant.quantile("constant", "p99"), 1000, between=True),
    "p99 ms, Poisson": lambda variant: _short(variant.quantile("poisson", "p99"), 1000, between=True),
}
_COST: Mapping[str, Callable[[Variant], str]] = {
    "MB": lambda variant: _short(variant.at_load(lambda stage: stage.memory_bytes), 1e-6),
    "CPU ms": lambda variant: _short(variant.at_load(lambda stage: stage.cpu_seconds_per_request), 1000),
    "Throttled": _throttled,
    "Uneven": lambda variant: _short(variant.at_load(busiest_over_mean)),
    "Start s": lambda variant: _short(variant.ready_seconds()),
    "Failed": _failed,
    "Full s": _full,
}
