"""`report.html` of a comparison: one file that needs no network and runs no script."""

from podscale.report import cells, figures, frame, page, tables
from podscale.report.comparison.charts import CHARTS
from podscale.report.comparison.tables import variant_tables
from podscale.sweep.results import Result

_CAPTIONS = {
    "tail": "p99 from the moment a request was due, at the same load. Each mark is one stage; hollow marks are void.",
    "causes": "Differences of p99 between topologies that differ in one thing; the dark line spans the repeats.",
    "throughput": "Saturated, on the same CPU. Each mark is one stage.",
}


def comparison_page(result: Result) -> str:
    """The whole report as HTML."""
    leading = [cause for cause in result.causes if cause.leading is not None]
    stages = figures.in_order(result.stages)
    return page.environment.get_template("compare.html.j2").render(
        result=result,
        headline=result.advice.sentence if result.advice else "No comparison: it did not come that far.",
        stands=bool(leading),
        standing="leading cause measured" if leading else "no cause leads",
        summary=page.summary(result.stages),
        stages=stages,
        void=[stage for stage in stages if not stage.valid],
        charts=[(name, _CAPTIONS[name], *page.both_widths(CHARTS[name], _CAPTIONS[name], result)) for name in CHARTS],
        own_tables=variant_tables(result),
        tables=tables.stage_tables(result),
        conditions=frame.conditions(result),
        cells=cells,
        figures=figures,
    )
