"""The pictures of a comparison: what each topology does at most, its tail at the same load, what that is made of."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from podscale.analysis import words
from podscale.report import frame, style
from podscale.report.comparison.variants import ARRIVALS, ORDER, rates, sizes
from podscale.report.frame import Rows
from podscale.sweep.results import Cause, Result, Stage, TailCauses

_Panel = alt.LayerChart | alt.FacetChart

_LABELS_WIDTH = 150  # pixels, for the names beside a panel
_COLOURS = {"constant": style.BLUE, "Poisson": style.ORANGE}
_SHAPES = {"constant": "circle", "Poisson": "diamond"}
_CAUSES: dict[Cause, str] = {"quota": "CPU quota", "random choice": "random choice", "queueing": "queueing"}


def throughput(result: Result, width: int, background: str = "white") -> dict[str, Any]:
    """The most that each topology does, a panel for each size, a mark for each repeat."""
    stages = [stage for stage in result.stages if stage.purpose == "capacity" and stage.throughput_per_second]
    if not stages:
        return _nothing(result, "No capacity stage has a throughput.", "The most of each topology", width, background)
    axis = alt.X(
        "value:Q",
        title="requests answered per second, saturated",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format=",.3~r", tickCount=6),
    )
    rows = [
        _row(stage, stage.throughput_per_second or 0, words.per_second(stage.throughput_per_second or 0))
        for stage in stages
    ]
    panels = [_panel([row for row in rows if row["size"] == size], size, axis, width) for size in sizes(result)]
    return _stacked(panels, result, "The most that each topology does on the same CPU", width, background)


def tail(result: Result, width: int, background: str = "white") -> dict[str, Any]:
    """p99 of each topology at the load of its size, by arrivals, on one log axis."""
    stages = [stage for stage in result.stages if stage.purpose == "load" and stage.latency_seconds]
    if not stages:
        return _nothing(result, "No stage at the offered load has a latency.", "p99 at equal load", width, background)
    rows = [
        _row(stage, stage.latency_seconds.p99 * 1000, f"p99 {words.milliseconds(stage.latency_seconds.p99)}")
        for stage in stages
        if stage.latency_seconds
    ]
    values = [row["value"] for row in rows]
    axis = alt.X(
        "value:Q",
        title="p99 in ms, log scale",
        scale=alt.Scale(type="log", domain=[min(values) / 1.3, max(values) * 1.3], nice=False),
        axis=alt.Axis(format=",.3~r", tickCount=5, labelOverlap="greedy", labelSeparation=8),
    )
    offers = rates(result)
    panels = [
        _panel([row for row in rows if row["size"] == size], size, axis, width, offers.get(size), legend=index == 0)
        for index, size in enumerate(sizes(result))
    ]
    return _stacked(panels, result, "p99 of each topology at the same load", width, background)


def causes(result: Result, width: int, background: str = "white") -> dict[str, Any]:
    """What each cause adds to the p99 of pods at the largest size, with the spread of the repeats."""
    known = [cause for cause in result.causes if cause.p99_seconds is not None]
    largest = [cause for cause in known if cause.size == max(each.size for each in known)]
    if not any(share.seconds is not None for each in largest for share in each.causes):
        return _nothing(result, "No cause was measured.", "What the tail of pods is made of", width, background)
    panels = [_cause_panel(each, width) for each in largest]
    title = f"What the p99 of {words.pods(largest[0].size)} is made of"
    leading = {each.leading for each in largest}
    if len(leading) == 1 and (first := largest[0].leading) is not None:
        title += f": {_CAUSES[first]} leads"
    return _stacked(panels, result, title, width, background)


CHARTS = {"tail": tail, "causes": causes, "throughput": throughput}


def _panel(
    rows: Rows, size: int, axis: alt.X, width: int, rate: float | None = None, *, legend: bool = False
) -> _Panel:
    """Marks of the repeats on a line from the least to the most, one row for each topology."""
    present = {row["topology"] for row in rows}
    names = [name for name in ORDER if name in present]
    y = alt.Y("topology:N", sort=names, title=None, axis=_names_axis())
    offset = alt.YOffset("arrivals:N", sort=list(_COLOURS))
    base = frame.chart(rows).encode(y=y, x=axis)
    if any(row["arrivals"] for row in rows):
        base = base.encode(yOffset=offset)
    points = base.mark_point(size=75, strokeWidth=1.8, opacity=1).encode(
        fillOpacity=alt.FillOpacity("valid:N", scale=alt.Scale(domain=[True, False], range=[1, 0]), legend=None),
        description="description:N",
        **_arrivals_encoding(legend=legend),
    )
    spread = base.mark_rule(color=style.GREY, strokeWidth=1.4, aria=False).encode(
        x=alt.X("min(value):Q"), x2="max(value):Q"
    )
    at = f", {words.number(rate)} requests/s" if rate else ""
    return alt.layer(spread, points).properties(
        title=f"Size {size}{at}", width=width - _LABELS_WIDTH, height=alt.Step(36, **{"for": "position"})
    )


def _arrivals_encoding(*, legend: bool) -> dict[str, Any]:
    """Colour and shape of the arrivals; a closed stage has none."""
    domain = list(_COLOURS)
    colours = alt.Scale(domain=domain, range=list(_COLOURS.values()))
    shapes = alt.Scale(domain=domain, range=list(_SHAPES.values()))
    told: Any = alt.Legend(orient="top") if legend else None
    closed = alt.value(style.BLUE)
    has_arrivals = alt.datum.arrivals != ""
    return {
        "stroke": alt.condition(has_arrivals, alt.Stroke("arrivals:N", scale=colours, legend=told), closed),
        "fill": alt.condition(has_arrivals, alt.Fill("arrivals:N", scale=colours, legend=told), closed),
        "shape": alt.condition(has_arrivals, alt.Shape("arrivals:N", scale=shapes, legend=told), alt.value("circle")),
    }


def _cause_panel(found: TailCauses, width: int) -> _Panel:
    rows = _cause_rows(found)
    order = [row["cause"] for row in rows]
    y = alt.Y("cause:N", sort=order, title=None, axis=_names_axis())
    scale = alt.Axis(format=",.3~r", tickCount=5, labelOverlap="greedy", labelSeparation=8)
    x = alt.X("ms:Q", title="ms of p99", axis=scale)
    base = frame.chart(rows).encode(y=y)
    bars = base.mark_bar(height=16).encode(
        x=x,
        color=alt.Color(
            "leads:N", legend=None, scale=alt.Scale(domain=[True, False], range=[style.ORANGE, style.BLUE])
        ),
        description="description:N",
    )
    between = [row for row in rows if row["low"] is not None]
    spread = frame.chart(between).mark_rule(color=style.INK, strokeWidth=1.6, aria=False)
    text = base.mark_text(align="left", dx=8, dy=-14, fontSize=12, color=style.INK).encode(
        x=alt.value(0), text="shown:N"
    )
    arrivals = {"constant": "evenly spaced", "poisson": "Poisson"}[found.arrivals]
    layers = [bars, *([spread.encode(x=alt.X("low:Q"), x2="high:Q", y=y)] if between else []), text]
    return alt.layer(*layers).properties(
        title=f"{words.per_second(found.rate_per_second)}, {arrivals} arrivals",
        width=width - _LABELS_WIDTH,
        height=alt.Step(42),
    )


def _cause_rows(found: TailCauses) -> Rows:
    rows: Rows = [
        {
            "cause": _CAUSES[share.cause],
            "ms": share.seconds * 1000,
            "low": None if share.low_seconds is None else share.low_seconds * 1000,
            "high": None if share.high_seconds is None else share.high_seconds * 1000,
            "leads": share.cause == found.leading,
            "shown": words.milliseconds(share.seconds),
            "description": f"{_CAUSES[share.cause]} {words.milliseconds(share.seconds)}: {share.evidence}",
        }
        for share in found.causes
        if share.seconds is not None
    ]
    if found.service_seconds is not None:
        shown = words.milliseconds(found.service_seconds)
        work = {"cause": "the work itself", "ms": found.service_seconds * 1000, "low": None, "high": None}
        rows.append(work | {"leads": False, "shown": shown, "description": f"the work itself {shown}"})
    return rows


def _row(stage: Stage, value: float, what: str) -> dict[str, Any]:
    return {
        "size": stage.size,
        "topology": stage.topology,
        "arrivals": ARRIVALS.get(stage.asked.arrivals or "", ""),
        "value": value,
        "valid": stage.valid,
        "description": frame.tooltip(stage, what),
    }


def _names_axis() -> alt.Axis:
    return alt.Axis(labelLimit=0, labelPadding=8, ticks=False, domain=False, minExtent=104, maxExtent=104)


def _stacked(panels: Sequence[_Panel], result: Result, title: str, width: int, background: str) -> dict[str, Any]:
    return frame.titled(alt.vconcat(*panels, spacing=24), result, title, width, background)


def _nothing(result: Result, reason: str, title: str, width: int, background: str) -> dict[str, Any]:
    return frame.without_data(f"{reason} There is nothing to show.", result, title, width, background)
