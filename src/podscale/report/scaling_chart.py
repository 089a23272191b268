"""The scaling chart: what n pods did, beside n times one pod and the fitted laws."""

from typing import Any, Literal

import altair as alt
import numpy as np

from podscale.analysis import words
from podscale.analysis.scaling import Floats, throughput_per_second
from podscale.report import figures, frame, style
from podscale.report.frame import Rows
from podscale.sweep.results import Fit, Result, Stage

COUNTED, VOID = "measured", "void, does not count"
# name -> colour, fill, shape
_POINTS = {COUNTED: (style.INK, style.INK, "circle"), VOID: (style.PURPLE, "transparent", "cross")}
# law -> colour, dash, width; the first is drawn first, the widest below
_LINES = {
    "linear": (style.GREY, [2, 3], 2.0),
    "amdahl": (style.ORANGE, [1, 0], 4.5),
    "usl": (style.BLUE, [6, 4], 2.2),
}
_LAW_NAMES = {"amdahl": "Amdahl", "usl": "USL"}


def scaling(result: Result, width: int, background: str = "white") -> dict[str, Any]:
    """Throughput by size, one point for each repeat; lines only as far as sizes were measured."""
    stages = [stage for stage in result.stages if stage.purpose == "capacity" and stage.throughput_per_second]
    if not stages:
        return frame.without_data(
            "No capacity stage has a throughput: there is nothing to show.",
            result,
            "Throughput by number of pods",
            width,
            background,
        )
    lines = _lines(result)
    # Up and left of a scaling curve there is room, unless the chart is small.
    place: Literal["top", "top-left"] = "top-left" if width >= frame.WIDE else "top"
    layers = [*_line_layers(lines, stages, place), *_band_layers(result, stages)]
    layers += [*_interval_layers(result, stages), _point_layer(stages)]
    chart = alt.layer(*layers).properties(width=width - 110, height=min(400, int(width * 0.8)))
    return frame.titled(chart, result, _title(result), width, background)


def _title(result: Result) -> str:
    capacity = figures.capacity_by_size(result)
    if not capacity:
        return "No capacity stage is valid: these throughputs do not count"
    largest, smallest = max(capacity), min(capacity)
    most = f"{words.pods(largest)} {'does' if largest == 1 else 'do'} {words.per_second(capacity[largest])}"
    if largest == smallest:
        return f"{most}; no other size has a valid throughput"
    share = capacity[largest] / largest / (capacity[smallest] / smallest)
    return f"{most}, {share:.0%} of {words.number(largest / smallest)} times {words.pods(smallest)}"


def _point_layer(stages: list[Stage]) -> alt.Chart:
    rows = [
        {
            "size": stage.size,
            "throughput": stage.throughput_per_second,
            "state": COUNTED if stage.valid else VOID,
            "description": frame.tooltip(stage, words.per_second(stage.throughput_per_second or 0)),
        }
        for stage in stages
    ]
    states = [state for state in _POINTS if any(row["state"] == state for row in rows)]
    colours, fills, shapes = (list(column) for column in zip(*(_POINTS[state] for state in states), strict=True))
    layer: alt.Chart = (
        frame.chart(rows)
        .mark_point(size=80, strokeWidth=1.8, opacity=0.9)
        .encode(
            x=_size_axis(stages),
            y=_throughput_axis(),
            stroke=alt.Stroke("state:N", scale=alt.Scale(domain=states, range=colours)),
            fill=alt.Fill("state:N", scale=alt.Scale(domain=states, range=fills)),
            shape=alt.Shape("state:N", scale=alt.Scale(domain=states, range=shapes)),
            description="description:N",
        )
    )
    return layer


def _band_layers(result: Result, stages: list[Stage]) -> list[alt.Chart]:
    """Where the curve of the law with most coefficients lies, with 95 % confidence."""
    at = _sizes_between(list(figures.capacity_by_size(result)))
    band = figures.fit_band(result, at)
    if band is None:
        return []
    law, lows, highs = band
    found = zip(at.tolist(), lows.tolist(), highs.tolist(), strict=True)
    rows = [{"size": size, "throughput": low, "top": high} for size, low, high in found]
    area = frame.chart(rows).mark_area(color=_LINES[law][0], opacity=0.18, aria=False)
    return [area.encode(x=_size_axis(stages), y=_throughput_axis(), y2="top:Q")]


def _interval_layers(result: Result, stages: list[Stage]) -> list[alt.Chart]:
    """Where the mean of each size lies, with 95 % confidence: a bar with ends, beside the marks of the repeats."""
    intervals = figures.capacity_intervals(result)
    if not intervals:
        return []
    rows = [{"size": size, "throughput": low, "high": high} for size, (low, high) in intervals.items()]
    x, y = _size_axis(stages), _throughput_axis()
    bars = frame.chart(rows).mark_rule(color=style.INK, strokeWidth=1.4, aria=False, xOffset=12)
    ends = frame.chart(rows).mark_tick(color=style.INK, orient="horizontal", size=10, aria=False, xOffset=12)
    return [
        bars.encode(x=x, y=y, y2="high:Q"),
        ends.encode(x=x, y=y),
        ends.encode(x=x, y=alt.Y("high:Q", title="requests answered per second")),
    ]


def _line_layers(lines: list[Rows], stages: list[Stage], place: Literal["top", "top-left"]) -> list[alt.Chart]:
    """The lines with their legend; a lone line is named beside itself instead."""
    if len(lines) != 1:
        return [_legend_layer(lines, stages, place)] if lines else []
    (rows,) = lines
    (colour, dash, stroke), last = _LINES[rows[0]["law"]], rows[-1]
    line = frame.chart(rows).mark_line(aria=False, color=colour, strokeDash=dash, strokeWidth=stroke)
    middle = [{"size": last["size"] * 0.6, "throughput": last["throughput"] * 0.6, "name": last["name"]}]
    text = frame.chart(middle).mark_text(align="right", dx=-16, dy=-6, color=style.MUTED)
    return [
        line.encode(x=_size_axis(stages), y=_throughput_axis()),
        text.encode(x=_size_axis(stages), y=_throughput_axis(), text="name:N"),
    ]


def _legend_layer(lines: list[Rows], stages: list[Stage], place: Literal["top", "top-left"]) -> alt.Chart:
    names = [rows[0]["name"] for rows in lines]
    colours, dashes, widths = (list(column) for column in zip(*(_LINES[rows[0]["law"]] for rows in lines), strict=True))
    legend = alt.Legend(orient=place, columns=1, symbolType="stroke", symbolSize=700, rowPadding=4, offset=8)
    layer: alt.Chart = (
        frame.chart([row for rows in lines for row in rows])
        .mark_line(aria=False)
        .encode(
            x=_size_axis(stages),
            y=_throughput_axis(),
            color=alt.Color("name:N", legend=legend, scale=alt.Scale(domain=names, range=colours)),
            strokeDash=alt.StrokeDash("name:N", legend=legend, scale=alt.Scale(domain=names, range=dashes)),
            strokeWidth=alt.StrokeWidth("name:N", legend=legend, scale=alt.Scale(domain=names, range=widths)),
        )
    )
    return layer


def _size_axis(stages: list[Stage]) -> alt.X:
    sizes = sorted({stage.size for stage in stages})
    axis = alt.Axis(values=sizes, format="d", grid=False, labelOverlap="greedy", labelSeparation=6)
    end = max(sizes) * (1.06 if len(sizes) > 1 else 2)
    return alt.X("size:Q", title="pods", axis=axis, scale=alt.Scale(domain=[0, end], nice=False))


def _throughput_axis() -> alt.Y:
    axis = alt.Axis(format=",.3~r", tickCount=6)
    return alt.Y("throughput:Q", title="requests answered per second", axis=axis, scale=alt.Scale(zero=True))


def _lines(result: Result) -> list[Rows]:
    """Rows of n times one pod and of each fitted law, up to the largest valid size and no further."""
    sizes = list(figures.capacity_by_size(result))
    if len(sizes) < 2:
        return []
    lines = [_ideal(result, sizes)]
    for fit in result.fits:
        if fit.law != "linear" and fit.coefficients:
            at = _sizes_between(sizes)
            fitted = np.asarray(throughput_per_second(fit.law, fit.coefficients, at))
            lines.append(_rows(fit.law, _law_name(fit), at.tolist(), fitted.tolist()))
    return lines


def _sizes_between(sizes: list[int]) -> Floats:
    return np.linspace(min([1, *sizes]), max([1, *sizes]), 80)


def _ideal(result: Result, sizes: list[int]) -> Rows:
    """One pod times n: `lambda` of the fitted law with most coefficients, else the smallest valid size's rate."""
    fitted = [fit.coefficients["lambda"] for fit in result.fits if fit.coefficients and fit.law != "linear"]
    capacity = figures.capacity_by_size(result)
    per_pod = fitted[-1] if fitted else capacity[sizes[0]] / sizes[0]
    name = f"n times one pod ({words.number(per_pod)}/s)"
    return _rows("linear", name, [0, sizes[-1]], [0, per_pod * sizes[-1]])


def _law_name(fit: Fit) -> str:
    coefficients = fit.coefficients or {}
    named = {"contention": "sigma", "coherency": "kappa"}
    parts = [f"{name} {words.number(100 * coefficients[key])}%" for name, key in named.items() if key in coefficients]
    return f"{_LAW_NAMES[fit.law]} fit ({', '.join(parts)})"


def _rows(law: str, name: str, sizes: list[float], throughputs: list[float]) -> Rows:
    return [
        {"size": size, "throughput": throughput, "law": law, "name": name}
        for size, throughput in zip(sizes, throughputs, strict=True)
    ]
