"""The load chart: p99 against the arrival rate, as queueing gives it for each size, beside what was measured."""

import functools
import math
from typing import Any

import altair as alt

from podscale.analysis import words
from podscale.analysis.queueing import Arrivals, random_choice_quantile, shared_queue_quantile
from podscale.report import figures, frame, style
from podscale.report.frame import Rows
from podscale.sweep.results import Result, Stage

# Where the curves are calculated, as shares of the capacity: close together where they rise.
_UTILISATIONS = (0.05, 0.2, 0.35, 0.5, 0.6, 0.7, 0.78, 0.85, 0.9, 0.94, 0.97, 0.985)
_COLOURS = [style.BLUE, style.ORANGE, style.GREEN, style.PURPLE]
_SHAPES = ["circle", "diamond", "square", "triangle-up"]
_RANDOM_CHOICE, _SHARED_QUEUE = "theory: pod picked at random", "theory: one shared queue"


def load(result: Result, width: int, background: str = "white") -> dict[str, Any]:
    """A curve for each size that was measured at the goal rate, in theory, and a mark for each of its stages."""
    title = "p99 against load"
    stages = [stage for stage in result.stages if stage.purpose == "goal" and stage.latency_seconds is not None]
    stages = [stage for stage in stages if stage.asked.rate_per_second]
    if not stages:
        return frame.without_data(
            "No stage at a goal rate has a latency: there is nothing to hold against theory.",
            result,
            title,
            width,
            background,
        )
    sizes = sorted({stage.size for stage in stages})[: len(_COLOURS)]
    marks = [row for stage in stages if stage.size in sizes for row in _marks(stage)]
    curves = [row for size in sizes for row in _curve_of(result, size, stages)]
    shown = [row["ms"] for row in (*marks, *curves)]
    axes = _axes(shown, [row["rate"] for row in (*marks, *curves)])
    names = [words.pods(size) for size in sizes]
    layers = [*_curve_layers(curves, names, axes), *_goal_layers(result, axes), _mark_layer(marks, names, axes)]
    chart = alt.layer(*layers).properties(width=width - 110, height=min(320, int(width * 0.75)))
    return frame.titled(chart, result, _title(result, stages) or title, width, background)


def _title(result: Result, stages: list[Stage]) -> str | None:
    """How busy the pods of the advice are, and how the measured p99 compares with theory."""
    pods = result.advice.pods if result.advice else None
    for stage in stages:
        theory, capacity = figures.theory(result, stage), figures.capacity_by_size(result).get(stage.size)
        if stage.size != pods or not stage.valid or theory is None or not capacity or stage.latency_seconds is None:
            continue
        busy = (stage.asked.rate_per_second or 0) / capacity
        measured = words.milliseconds(stage.latency_seconds.p99)
        expected = figures.theory_words(theory.random_choice_seconds)
        return f"{words.pods(pods)} at {busy:.0%} of their capacity: p99 {measured}, in theory {expected}"
    return None


def _marks(stage: Stage) -> Rows:
    assert stage.latency_seconds is not None
    p99 = stage.latency_seconds.p99
    return [
        {
            "rate": stage.asked.rate_per_second,
            "ms": p99 * 1000,
            "size": words.pods(stage.size),
            "valid": stage.valid,
            "description": frame.tooltip(stage, f"p99 {words.milliseconds(p99)}"),
        }
    ]


def _curve_of(result: Result, size: int, stages: list[Stage]) -> Rows:
    """Both theories for one size up to its capacity; nothing where that is unknown."""
    capacity = figures.capacity_by_size(result).get(size)
    if not capacity:
        return []
    arrivals = next(stage.asked.arrivals for stage in stages if stage.size == size) or "poisson"
    return [
        {"rate": rate, "ms": seconds * 1000, "size": words.pods(size), "theory": name}
        for name, rate, seconds in _curve(capacity, size, arrivals)
    ]


@functools.lru_cache(maxsize=32)  # the page and the telephone draw the same curve, and evenly spaced arrivals are slow
def _curve(capacity: float, size: int, arrivals: Arrivals) -> list[tuple[str, float, float]]:
    """Theory, rate per second and p99 in seconds of each point that a queue settles at."""
    found = []
    for busy in _UTILISATIONS:
        question = (0.99, busy * capacity, size / capacity, size, arrivals)
        found += [
            (_RANDOM_CHOICE, busy * capacity, random_choice_quantile(*question)),
            (_SHARED_QUEUE, busy * capacity, shared_queue_quantile(*question)),
        ]
    return [point for point in found if math.isfinite(point[2])]


def _axes(shown_ms: list[float], rates: list[float]) -> tuple[alt.X, alt.Y]:
    lowest, highest = min(shown_ms) / 1.4, max(shown_ms) * 1.4
    decades = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    ticks = [digit * 10.0**decade for decade in decades for digit in (1, 2, 5)]
    y = alt.Y(
        "ms:Q",
        title="p99 in ms, log scale",
        scale=alt.Scale(type="log", domain=[lowest, highest], nice=False, clamp=True),
        axis=alt.Axis(values=[tick for tick in ticks if lowest <= tick <= highest], format=",.3~r"),
    )
    scale = alt.Scale(domain=[0, max(rates) * 1.04], nice=False)
    x = alt.X("rate:Q", title="arrivals per second, all pods together", scale=scale, axis=alt.Axis(tickCount=6))
    return x, y


def _curve_layers(rows: Rows, names: list[str], axes: tuple[alt.X, alt.Y]) -> list[alt.Chart]:
    if not rows:
        return []
    colours = alt.Scale(domain=names, range=_COLOURS[: len(names)])
    theories = alt.Scale(domain=[_RANDOM_CHOICE, _SHARED_QUEUE], range=[[1, 0], [5, 4]])
    legend = alt.Legend(symbolType="stroke", symbolSize=500, symbolStrokeColor=style.INK, columns=1)
    return [
        frame.chart(rows)
        .mark_line(strokeWidth=2, aria=False)
        .encode(
            x=axes[0],
            y=axes[1],
            stroke=alt.Stroke("size:N", scale=colours),
            strokeDash=alt.StrokeDash("theory:N", scale=theories, legend=legend),
        )
    ]


def _goal_layers(result: Result, axes: tuple[alt.X, alt.Y]) -> list[alt.Chart]:
    slo_seconds = result.advice.slo_p99_seconds if result.advice else None
    if slo_seconds is None:
        return []
    line = frame.chart([{"ms": slo_seconds * 1000}]).encode(y=axes[1])
    label = f"goal: p99 <= {words.milliseconds(slo_seconds)}"
    return [
        line.mark_rule(color=style.INK, strokeDash=[2, 3], strokeWidth=1.4, aria=False),
        line.mark_text(text=label, color=style.INK, align="left", dy=-7, fontSize=12).encode(x=alt.value(6)),
    ]


def _mark_layer(rows: Rows, names: list[str], axes: tuple[alt.X, alt.Y]) -> alt.Chart:
    colours = alt.Scale(domain=names, range=_COLOURS[: len(names)])
    layer: alt.Chart = (
        frame.chart(rows)
        .mark_point(size=110, strokeWidth=2, opacity=1)
        .encode(
            x=axes[0],
            y=axes[1],
            fill=alt.Fill("size:N", scale=colours),
            stroke=alt.Stroke("size:N", scale=colours),
            shape=alt.Shape("size:N", scale=alt.Scale(domain=names, range=_SHAPES[: len(names)])),
            fillOpacity=alt.FillOpacity("valid:N", scale=alt.Scale(domain=[True, False], range=[1, 0]), legend=None),
            description="description:N",
        )
    )
    return layer
