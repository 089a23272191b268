"""The tables of a comparison: speed and cost of every variant side by side, and the causes of the tail."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from podscale.report import cells, figures
from podscale.report.comparison.variants import (
    ARRIVALS,
    Figure,
    Variant,
    budget,
    full_after,
    rates,
    shown,
    throttled_fraction,
    variants,
)
from podscale.report.tables import Column, Row, Table
from podscale.sweep.results import Result


def variant_tables(result: Result) -> list[Table]:
    """All tables that are the comparison's own, in the order of reading."""
    found = variants(result)
    offers = rates(result)
    return [
        _table(
            "Speed side by side",
            "At equal CPU and memory. Latency in ms at the offered load, which is the same for all of a size. In "
            "brackets the least and the most of the repeats.",
            [_Column("Offered", "/s", lambda variant: cells.number(offers.get(variant.size))), *_SPEED],
            found,
        ),
        _causes(result),
        _table(
            "Cost side by side",
            "At the offered load, all pods together. Killed: one process, one second into the window.",
            _COST,
            found,
        ),
    ]


@dataclass(frozen=True)
class _Column:
    """A heading, its unit, and what it shows of a variant."""

    heading: str
    unit: str
    show: Callable[[Variant], str]
    text: bool = False


def _quantile(arrivals: str, name: str) -> Callable[[Variant], str]:
    return lambda variant: shown(variant.quantile(arrivals, name), 1000)


def _loaded(figure: Figure, scale: float = 1.0) -> Callable[[Variant], str]:
    return lambda variant: shown(variant.at_load(figure), scale)


_SPEED = (
    _Column("Throughput", "/s at most", lambda variant: shown(variant.throughput())),
    _Column("p50", "constant", _quantile("constant", "p50")),
    _Column("p99", "constant", _quantile("constant", "p99")),
    _Column("p50", "Poisson", _quantile("poisson", "p50")),
    _Column("p99", "Poisson", _quantile("poisson", "p99")),
    _Column("Budget", "", lambda variant: budget(variant.budget), text=True),
)


def _killed(variant: Variant) -> str:
    found = variant.recovery()
    if found is None:
        return cells.UNKNOWN
    return found.killed or f"nothing: {found.why_not}"


def _failed(variant: Variant) -> str:
    found = variant.recovery()
    return cells.count(found.failed_requests if found else None)


_COST = (
    _Column("Memory", "MB", _loaded(lambda stage: stage.memory_bytes, 1e-6)),
    _Column("CPU per request", "ms", _loaded(lambda stage: stage.cpu_seconds_per_request, 1000)),
    _Column("Throttled", "% of periods", _loaded(throttled_fraction, 100)),
    _Column("Busiest process", "of mean", _loaded(figures.busiest_over_mean)),
    _Column("Ready after", "s", lambda variant: shown(variant.ready_seconds())),
    _Column("Failed", "requests, killed", _failed),
    _Column("Full after", "s, killed", lambda variant: full_after(variant.recovery(), variant.stages)),
    _Column("Killed", "", _killed, text=True),
)


def _table(title: str, note: str, columns: Sequence[_Column], found: Sequence[Variant]) -> Table:
    named = [_Column("Variant", "", lambda variant: f"{variant.size}: {variant.topology}", text=True), *columns]
    headings = tuple(
        Column(column.heading, column.unit, lambda _: "", text=column.text, wrap=column.text) for column in named
    )
    rows = tuple(Row(tuple(column.show(variant) for column in named), valid=True) for variant in found)
    return Table(title, note, headings, rows)


def _causes(result: Result) -> Table:
    columns = ("Size and arrivals", ""), ("Cause", ""), ("Adds", "ms of p99"), ("In theory", "ms"), ("Evidence", "")
    text = {"Size and arrivals", "Cause", "Evidence"}
    headings = tuple(
        Column(heading, unit, lambda _: "", text=heading in text, wrap=heading == "Evidence")
        for heading, unit in columns
    )
    rows = []
    for found in result.causes:
        for share in found.causes:
            adds = cells.milliseconds(share.seconds)
            if share.low_seconds is not None and share.high_seconds is not None:
                adds += f" ({cells.milliseconds(share.low_seconds)} to {cells.milliseconds(share.high_seconds)})"
            lead = " (leads)" if share.cause == found.leading else ""
            theory = "-" if share.cause == "quota" else cells.milliseconds(share.theory_seconds)
            place = f"{found.size}, {ARRIVALS[found.arrivals]}"
            rows.append(Row((place, f"{share.cause}{lead}", adds, theory, share.evidence), valid=True))
    return Table(
        "What the p99 of pods is made of",
        "Each cause is the difference between two topologies at the same load, beside what queueing gives for it.",
        headings,
        tuple(rows),
    )
