"""`report.html` of a comparison: one file that needs no network and runs no script."""

from podscale.analysis import words
from podscale.report import answer, page
from podscale.report.answer import Card
from podscale.report.comparison.charts import CHARTS
from podscale.report.comparison.tables import variant_tables
from podscale.report.page import Text
from podscale.sweep.results import Result

_TEXTS = {
    "tail": Text(
        "Tail at equal load",
        "p99 from the moment a request was due, at the same load. Each mark is one stage; hollow marks are void.",
        "Speed side by side",
    ),
    "causes": Text(
        "Causes of the tail",
        "Differences of p99 between topologies that differ in one thing; the dark line spans the repeats.",
        "What the p99 of pods is made of",
    ),
    "throughput": Text("Throughput", "Saturated, on the same CPU. Each mark is one stage.", "Speed side by side"),
}


def comparison_page(result: Result) -> str:
    """The whole report as HTML."""
    return page.environment.get_template("compare.html.j2").render(
        **page.common(result),
        headline=result.advice.sentence if result.advice else "No comparison: it did not come that far.",
        cards=cards(result),
        charts=page.drawn(CHARTS, _TEXTS, result),
        own_tables=variant_tables(result),
    )


def cards(result: Result) -> list[Card]:
    """What costs most, how long the tail of pods is, and how many stages count."""
    known = [cause for cause in result.causes if cause.p99_seconds is not None]
    largest = max(known, key=lambda cause: (cause.size, cause.arrivals), default=None)
    leading = [cause for cause in result.causes if cause.leading is not None]
    shown = max(leading, key=lambda cause: (cause.size, cause.arrivals), default=None)
    total, valid = len(result.stages), sum(stage.valid for stage in result.stages)
    return [
        Card("Costs most", "no cause leads", "the repeats do not tell, or too little was measured", "doubt")
        if shown is None
        else Card("Costs most", str(shown.leading), f"at size {shown.size}, {shown.arrivals} arrivals"),
        Card("p99 of pods", "unknown", "no stage at the offered load counts")
        if largest is None
        else Card(
            "p99 of pods",
            words.milliseconds(largest.p99_seconds or 0),
            f"at size {largest.size}, {words.per_second(largest.rate_per_second)}, {largest.arrivals} arrivals",
            is_figure=True,
        ),
        Card(
            "Standing",
            "leading cause measured" if leading else "no cause leads",
            answer.counting(result.stages),
            "good" if leading and valid == total else "doubt",
        ),
    ]
