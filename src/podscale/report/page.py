"""`report.html`: one file that needs no network and runs no script."""

import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import jinja2

from podscale.analysis import words
from podscale.report import answer, cells, figures, frame, style, tables
from podscale.report.charts import CHARTS, Chart
from podscale.report.timeline_chart import timelines
from podscale.sweep.again import command_line
from podscale.sweep.results import Result, Stage


@dataclass(frozen=True)
class Text:
    """The words around a chart: its heading, how to read it, and the table that has its figures."""

    heading: str
    caption: str
    table: str


@dataclass(frozen=True)
class Drawn:
    """A chart of the page: its words, what it says in a sentence, and the picture for a page and for a telephone.

    `nothing` says why there is no picture, else None.
    """

    name: str
    text: Text
    says: str
    wide: str
    narrow: str
    nothing: str | None


TEXTS = {
    "scaling": Text(
        "Scaling",
        "Throughput of saturated pods. Each mark is one stage; lines end where the measurement ends. A bar beside the "
        "marks is the 95% interval of their mean by Student's t, where a size was measured three times or more; the "
        "band is where the curve of the fitted law with most coefficients lies with 95% confidence.",
        "Stages",
    ),
    "latency": Text(
        "Latency",
        "Latency from the moment a request was due. Hollow marks are void stages. Flat marks are what queueing "
        "theory expects for the p99 at the goal rate.",
        "Latency in ms",
    ),
    "load": Text(
        "Latency against load",
        "Lines are the p99 that queueing theory gives for jobs of equal length at the measured capacity of each size, "
        "up to where no queue settles. Marks are the goal stages as measured; hollow marks are void.",
        "Goal beside theory",
    ),
    "balance": Text("Balance", "How evenly requests fell on pods. Each mark is one pod of one stage.", "Cost"),
    "throttling": Text(
        "Throttling",
        "How often the kernel stopped pods that had used up their CPU quota. Each mark is one stage; hollow marks are "
        "void.",
        "Cost",
    ),
    "memory": Text(
        "Memory",
        "Of all pods together. Each mark is one stage; the dotted line is n times one pod of the smallest size.",
        "Cost",
    ),
}
environment = jinja2.Environment(
    loader=jinja2.PackageLoader("podscale.report"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def page(result: Result) -> str:
    """The whole report as HTML."""
    return environment.get_template("report.html.j2").render(
        **common(result),
        headline=result.advice.sentence if result.advice else "No advice: the sweep did not come that far.",
        cards=answer.cards(result),
        charts=drawn(CHARTS, TEXTS, result),
        fits=tables.fit_rows(result.fits),
    )


def common(result: Result) -> dict[str, object]:
    """What the pages of a sweep and of a comparison share."""
    stages = figures.in_order(result.stages)
    return {
        "result": result,
        "summary": summary(result.stages),
        "stages": stages,
        "void": [stage for stage in stages if not stage.valid],
        "timelines": timelines(result),
        "tables": tables.stage_tables(result),
        "again": again(result.asked),
        "conditions": frame.conditions(result),
        "cells": cells,
        "figures": figures,
    }


def again(asked: Mapping[str, object]) -> str | None:
    """The command that measures the same again, as a shell takes it; None where the plan is not known."""
    command = command_line(asked)
    return None if command is None else shlex.join(command)


def summary(stages: list[Stage]) -> str:
    """How many stages count, and what limited or spoiled how many: "9 of 11 stages count. Verdicts: ..."."""
    if not stages:
        return "No stage was measured."
    codes = Counter(verdict.code for stage in stages for verdict in stage.verdicts)
    verdicts = words.listed([f"{figures.verdict(code)} ({count})" for code, count in codes.most_common()])
    return f"{answer.counting(stages)}." + (f" Verdicts: {verdicts}." if verdicts else "")


def drawn(charts: Mapping[str, Chart], texts: Mapping[str, Text], result: Result) -> list[Drawn]:
    """All charts, each for a page and for a telephone; the page's style sheet shows one of them."""
    return [_drawn(name, chart, texts[name], result) for name, chart in charts.items()]


def _drawn(name: str, chart: Chart, text: Text, result: Result) -> Drawn:
    wide = chart(result, frame.WIDE, "transparent")
    says = " ".join(wide["title"]["text"])
    nothing = wide.get("usermeta", {}).get(frame.NOTHING)
    if nothing is not None:
        return Drawn(name, text, says, "", "", nothing)
    label = f"{says}. {text.caption}"
    narrow = chart(result, frame.NARROW, "transparent")
    on_page, on_telephone = (style.inline(style.svg(specification), label) for specification in (wide, narrow))
    return Drawn(name, text, says, on_page, on_telephone, nothing=None)
