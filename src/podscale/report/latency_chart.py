"""The latency chart: quantiles by size on a log axis, saturated stages beside those at the goal rate."""

import math
from collections.abc import Callable
from typing import Any

import altair as alt

from podscale.analysis import words
from podscale.report import figures, frame, style
from podscale.report.frame import Rows
from podscale.sweep.results import Latency, Purpose, Result, Stage

_QUANTILES: dict[str, Callable[[Latency], float]] = {
    "p50": lambda latency: latency.p50,
    "p90": lambda latency: latency.p90,
    "p99": lambda latency: latency.p99,
    "max": lambda latency: latency.max,
}
_COLOURS = [style.BLUE, style.GREEN, style.ORANGE, style.PURPLE]
_SHAPES = ["circle", "square", "diamond", "triangle-up"]
_RANDOM_CHOICE, _SHARED_QUEUE = "theory p99: pod picked at random", "theory p99: one shared queue"


def latency(result: Result, width: int, background: str = "white") -> dict[str, Any]:
    """Panels side by side, or one below the other where the chart is narrow; all on one latency axis."""
    stages = [stage for stage in result.stages if stage.latency_seconds is not None]
    if not stages:
        return frame.without_data(
            "No stage has a latency: there is nothing to show.", result, "Latency by number of pods", width, background
        )
    purposes: list[Purpose] = [p for p in ("capacity", "goal") if any(stage.purpose == p for stage in stages)]
    side_by_side = width >= frame.WIDE and len(purposes) == 2
    panel_width = int((width - 180) / 2) if side_by_side else width - 110
    slo = result.advice.slo_p99_seconds if result.advice else None
    axis = _latency_axis(result, stages, slo)
    panels = [
        _panel(result, [stage for stage in stages if stage.purpose == purpose], axis, slo).properties(
            title=_panel_title(stages, purpose), width=panel_width, height=300
        )
        for purpose in purposes
    ]
    chart = alt.hconcat(*panels, spacing=30) if side_by_side else alt.vconcat(*panels, spacing=30)
    return frame.titled(chart, result, _title(stages), width, background)


def _title(stages: list[Stage]) -> str:
    goals = sorted((stage for stage in stages if stage.purpose == "goal"), key=lambda stage: stage.size)
    p99s = [
        f"{words.milliseconds(stage.latency_seconds.p99)} with {words.pods(stage.size)}"
        + ("" if stage.valid else " (void)")
        for stage in goals
        if stage.latency_seconds
    ]
    if not p99s:
        return "Latency of saturated pods: the queue that users wait in, not the speed of the service"
    return f"p99 at the goal rate: {words.listed(p99s)}"


def _panel_title(stages: list[Stage], purpose: Purpose) -> str:
    asked = [stage.asked for stage in stages if stage.purpose == purpose]
    if purpose == "capacity":
        return "Saturated (closed model)"
    rates = sorted({rate.rate_per_second for rate in asked if rate.rate_per_second})
    between = " to ".join(words.number(rate) for rate in dict.fromkeys([rates[0], rates[-1]])) if rates else "unknown"
    return f"At {between} requests/s (open model)"


def _panel(
    result: Result, stages: list[Stage], axis: alt.Y, slo_seconds: float | None
) -> alt.LayerChart | alt.FacetChart:
    rows = _quantile_rows(stages)
    base = frame.chart(rows).encode(
        x=alt.X("size:O", title="pods", sort="ascending", axis=alt.Axis(labelAngle=0)), y=axis
    )
    if any(stage.repeat > 1 for stage in stages):
        base = base.encode(xOffset=alt.XOffset("repeat:O"))
    by_quantile = alt.Scale(domain=list(_QUANTILES), range=_COLOURS)
    shape = alt.Shape("quantile:N", scale=alt.Scale(domain=list(_QUANTILES), range=_SHAPES))
    spread = base.mark_rule(color=style.GREY, strokeWidth=1.2, aria=False).encode(
        y=alt.Y("min(ms):Q"), y2="max(ms):Q", detail="stage:N"
    )
    points = base.mark_point(size=75, strokeWidth=1.8, opacity=1).encode(
        stroke=alt.Stroke("quantile:N", scale=by_quantile),
        fill=alt.Fill("quantile:N", scale=by_quantile),
        fillOpacity=alt.FillOpacity("valid:N", scale=alt.Scale(domain=[True, False], range=[1, 0]), legend=None),
        shape=shape,
        description="description:N",
    )
    layers = [*_goal_layers(slo_seconds, axis), spread, *_theory_layers(result, stages, axis), points]
    return alt.layer(*layers)


def _quantile_rows(stages: list[Stage]) -> Rows:
    return [
        {
            "size": stage.size,
            "repeat": stage.repeat,
            "stage": f"{figures.name(stage)} {stage.topology} {index}",
            "quantile": quantile,
            "ms": pick(stage.latency_seconds) * 1000,
            "valid": stage.valid,
            "description": frame.tooltip(stage, f"{quantile} {words.milliseconds(pick(stage.latency_seconds))}"),
        }
        for index, stage in enumerate(stages)
        if stage.latency_seconds is not None
        for quantile, pick in _QUANTILES.items()
    ]


def _goal_layers(slo_seconds: float | None, axis: alt.Y) -> list[alt.Chart]:
    """The latency goal as a line across the panel, with its value."""
    if slo_seconds is None:
        return []
    line = frame.chart([{"ms": slo_seconds * 1000}]).encode(y=axis)
    label = f"goal: p99 <= {words.milliseconds(slo_seconds)}"
    return [
        line.mark_rule(color=style.ORANGE, strokeDash=[5, 4], strokeWidth=1.6, aria=False),
        line.mark_text(text=label, color=style.RUST, align="right", dy=-7, fontSize=12).encode(x=alt.value("width")),
    ]


def _theory_layers(result: Result, stages: list[Stage], axis: alt.Y) -> list[alt.Chart]:
    """What queueing predicts for the p99 at each size and rate, beside what was measured."""
    rows: Rows = []
    for size, theory in {stage.size: figures.theory(result, stage) for stage in stages}.items():
        if theory is not None:
            predicted = {_RANDOM_CHOICE: theory.random_choice_seconds, _SHARED_QUEUE: theory.shared_queue_seconds}
            rows += [
                {
                    "size": size,
                    "ms": seconds * 1000,
                    "name": name,
                    "description": f"{name} {words.milliseconds(seconds)}",
                }
                for name, seconds in predicted.items()
                if math.isfinite(seconds)
            ]
    if not rows:
        return []
    scale = alt.Scale(domain=[_RANDOM_CHOICE, _SHARED_QUEUE], range=[style.INK, style.GREY])
    return [
        frame.chart(rows)
        .mark_tick(orient="horizontal", thickness=2.5, size=56)
        .encode(
            x=alt.X("size:O"),
            y=axis,
            color=alt.Color("name:N", scale=scale, legend=alt.Legend(symbolType="M-1.5,-0.2H1.5V0.2H-1.5Z", columns=1)),
            description="description:N",
        )
    ]


def _latency_axis(result: Result, stages: list[Stage], slo_seconds: float | None) -> alt.Y:
    """One log axis for all panels, from the lowest to the highest figure, with ticks at 1, 2, 5 or finer."""
    shown = [row["ms"] for row in _quantile_rows(stages)] + ([slo_seconds * 1000] if slo_seconds else [])
    theories = [theory for stage in stages if (theory := figures.theory(result, stage))]
    shown += [1000 * t.shared_queue_seconds for t in theories] + [1000 * t.random_choice_seconds for t in theories]
    positive = [value for value in shown if 0 < value < math.inf] or [1.0]
    lowest, highest = min(positive) / 1.4, max(positive) * 1.4
    decades = range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)
    digits = (1, 2, 5) if highest / lowest > 10 else range(1, 10)
    ticks = [digit * 10.0**decade for decade in decades for digit in digits]
    return alt.Y(
        "ms:Q",
        title="latency in ms, log scale",
        scale=alt.Scale(type="log", domain=[lowest, highest], nice=False, clamp=True),
        axis=alt.Axis(values=[tick for tick in ticks if lowest <= tick <= highest], format=",.3~r"),
    )
