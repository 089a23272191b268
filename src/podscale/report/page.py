"""`report.html`: one file that needs no network and runs no script."""

from collections import Counter

import jinja2

from podscale.analysis import words
from podscale.report import cells, figures, frame, style, tables
from podscale.report.charts import CHARTS, Chart
from podscale.sweep.results import Result, Stage

_CAPTIONS = {
    "scaling": "Throughput of saturated pods. Each mark is one stage; lines end where the measurement ends.",
    "latency": "Latency from the moment a request was due. Hollow marks are void stages.",
    "balance": "How evenly requests fell on pods. Each mark is one pod of one stage.",
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
        result=result,
        headline=result.advice.sentence if result.advice else "No advice: the sweep did not come that far.",
        standing=standing(result),
        stands=result.advice is not None and result.advice.verified,
        summary=summary(result.stages),
        stages=figures.in_order(result.stages),
        void=[stage for stage in figures.in_order(result.stages) if not stage.valid],
        charts=[(name, _CAPTIONS[name], *both_widths(CHARTS[name], _CAPTIONS[name], result)) for name in CHARTS],
        tables=tables.stage_tables(result),
        fits=tables.fit_rows(result.fits),
        conditions=frame.conditions(result),
        cells=cells,
        figures=figures,
    )


def standing(result: Result) -> str:
    """How much the advice may be trusted, in a word or two."""
    if result.advice is None or result.advice.pods is None:
        return "no number"
    return "verified by measurement" if result.advice.verified else "not verified"


def summary(stages: list[Stage]) -> str:
    """How many stages count, and what limited or spoiled how many: "9 of 11 stages count. Verdicts: ..."."""
    if not stages:
        return "No stage was measured."
    valid = sum(stage.valid for stage in stages)
    codes = Counter(verdict.code for stage in stages for verdict in stage.verdicts)
    verdicts = words.listed([f"{figures.verdict(code)} ({count})" for code, count in codes.most_common()])
    return f"{valid} of {len(stages)} stages count." + (f" Verdicts: {verdicts}." if verdicts else "")


def both_widths(chart: Chart, caption: str, result: Result) -> tuple[str, str]:
    """The chart for a page and for a telephone; the page's style sheet shows one of them."""
    drawn = [style.svg(chart(result, width, "transparent")) for width in (frame.WIDE, frame.NARROW)]
    wide, narrow = (style.inline(svg, caption) for svg in drawn)
    return wide, narrow
