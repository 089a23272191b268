"""The balance chart: how many requests each pod got, against an equal share."""

import math
from typing import Any

import altair as alt

from podscale.report import figures, frame, style
from podscale.report.frame import Rows
from podscale.sweep.results import Result, Stage


def balance(result: Result, width: int, background: str = "white") -> dict[str, Any]:
    """One row for each stage of several pods, one mark for each pod; 1 is the equal share."""
    stages = [stage for stage in result.stages if stage.size > 1 and any(figures.requests_by_pod(stage).values())]
    if not stages:
        return frame.without_data(
            "No stage has answers of several pods that name their pod.", result, "Requests by pod", width, background
        )
    stages = figures.in_order(stages)
    rows = [row for stage in stages for row in _rows(stage)]
    order = list(dict.fromkeys(row["stage"] for row in rows))
    y = alt.Y("stage:N", sort=order, title=None, axis=alt.Axis(labelLimit=0, labelPadding=8, ticks=False, domain=False))
    chart = alt.layer(_chance_layer(stages, y), _equal_layer(), _pod_layer(rows, y)).properties(
        width=width - 190, height=alt.Step(24)
    )
    return frame.titled(chart, result, _title(stages), width, background)


def _title(stages: list[Stage]) -> str:
    counting = [stage for stage in stages if stage.valid] or stages
    worst = max(figures.busiest_over_mean(stage) or 0 for stage in counting)
    return f"The busiest pod got at most {worst:.2f} times an equal share of the requests"


def _rows(stage: Stage) -> Rows:
    counts = figures.requests_by_pod(stage)
    total = sum(counts.values())
    return [
        {
            "stage": _label(stage),
            "share": count * len(counts) / total,
            "valid": stage.valid,
            "description": frame.tooltip(stage, f"{pod} {count:,} of {total:,} requests ({count / total:.1%})"),
        }
        for pod, count in counts.items()
    ]


def _label(stage: Stage) -> str:
    return f"{figures.name(stage)}{'' if stage.valid else ' (void)'}"


def _pod_layer(rows: Rows, y: alt.Y) -> alt.Chart:
    layer: alt.Chart = (
        frame.chart(rows)
        .mark_point(size=70, strokeWidth=1.8, color=style.BLUE, fill=style.BLUE, opacity=0.85)
        .encode(
            x=alt.X(
                "share:Q",
                title="requests of a pod, in equal shares",
                scale=alt.Scale(zero=False, nice=False, padding=14),
                axis=alt.Axis(format=".2~f", tickCount=6),
            ),
            y=y,
            fillOpacity=alt.FillOpacity("valid:N", scale=alt.Scale(domain=[True, False], range=[1, 0]), legend=None),
            description="description:N",
        )
    )
    return layer


def _equal_layer() -> alt.Chart:
    line = frame.chart([{"share": 1.0}]).mark_rule(color=style.INK, strokeWidth=1.4, aria=False)
    layer: alt.Chart = line.encode(x="share:Q")
    return layer


def _chance_layer(stages: list[Stage], y: alt.Y) -> alt.Chart:
    """Where 95 of 100 pods fall if each request picks its pod at random: two standard deviations of a binomial."""
    name = "expected by chance"
    rows = []
    for stage in stages:
        counts = figures.requests_by_pod(stage)
        deviation = math.sqrt((len(counts) - 1) / sum(counts.values()))
        rows.append(
            {"stage": _label(stage), "low": max(0.0, 1 - 2 * deviation), "high": 1 + 2 * deviation, "name": name}
        )
    layer: alt.Chart = (
        frame.chart(rows)
        .mark_bar(height=14, aria=False, stroke=style.GREY, strokeWidth=0.8)
        .encode(
            x=alt.X("low:Q"),
            x2="high:Q",
            y=y,
            color=alt.Color("name:N", scale=alt.Scale(range=[style.GRID])),
        )
    )
    return layer
