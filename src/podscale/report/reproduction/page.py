"""`report.html` of the articles' rows: one file that needs no network and runs no script."""

from podscale.report import cells, frame, style
from podscale.report.page import again, environment
from podscale.report.reproduction import shown
from podscale.report.reproduction.charts import picture
from podscale.sweep.reproduce.results import Reproduction, RowResult


def reproduction_page(result: Reproduction) -> str:
    """The whole report as HTML."""
    return environment.get_template("reproduce.html.j2").render(
        result=result,
        headline=shown.summary(result) if result.rows else "No row was measured.",
        conditions=shown.conditions(result),
        pictures={row.row: _both_widths(row) for row in result.rows},
        again=again(result.asked),
        shown=shown,
        cells=cells,
    )


def _both_widths(row: RowResult) -> tuple[str, str]:
    """For a page and for a telephone; the page's style sheet shows one of them."""
    says = f"{row.row}: {row.claim}, here {shown.ratio(row.ratio)}, in the article {shown.ratio(row.article.ratio)}"
    wide, narrow = (style.svg(picture(row, width, "transparent")) for width in (frame.WIDE, frame.NARROW))
    return style.inline(wide, says), style.inline(narrow, says)
