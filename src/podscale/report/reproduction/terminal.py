"""What the terminal shows of the articles' rows, in 80 columns: the list of them, and what they came to."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from podscale.report import terminal
from podscale.report.reproduction import shown
from podscale.sweep.reproduce.results import Reproduction, RowResult
from podscale.sweep.reproduce.row import Row


def rows_list(rows: Iterable[Row]) -> RenderableType:
    """Each row: what the article built and told, what is run here, and what must be true of it."""
    table = terminal.open_table(("Row", "left"))
    table.add_column("", no_wrap=True)
    table.add_column("What", overflow="fold")
    for row in rows:
        lines = [("article", row.article.system), ("headline", row.article.headline), ("here", row.runs)]
        lines += [("claim", shown.claim(claim)) for claim in row.claims]
        for number, (kind, text) in enumerate(lines):
            table.add_row(Text(row.name if number == 0 else "", style="bold"), Text(kind, style="dim"), Text(text))
        table.add_row("", "", "")
    return table


def results(result: Reproduction) -> RenderableType:
    """One line for each claim, then the figures of each row, and why stages do not count."""
    if not result.rows:
        return Text("No row was measured.")
    stopped = [Text(f"Ended early: {result.aborted}", style="yellow")] if result.aborted else []
    return Group(
        _claims(result.rows),
        Text(shown.conditions(result), style="dim"),
        Text(),
        *(_figures(row) for row in result.rows),
        *(terminal.why_void(stage) for row in result.rows for stage in row.stages if not stage.valid),
        *stopped,
        Text(shown.summary(result), style="bold"),
    )


def _claims(rows: Sequence[RowResult]) -> Table:
    table = terminal.open_table(("Row", "left"))
    table.add_column("Claim", overflow="fold", max_width=33)
    for heading in ("Article", "Here", "Wanted"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Holds", no_wrap=True)
    for row in rows:
        for number, claim in enumerate(row.claims):
            article = shown.ratio(row.article.ratio, absent="") if number == 0 else ""
            cells = [row.row if number == 0 else "", claim.says, article, shown.ratio(claim.ratio, absent="?")]
            cells += [shown.bounds(claim.low, claim.high), shown.holds(claim.holds)]
            table.add_row(*map(Text, cells), style="" if claim.holds else "yellow")
    return table


def _figures(row: RowResult) -> RenderableType:
    lines = [Text(f"{row.row}: {row.article.headline}", style="bold")]
    lines += [Text(f"  {step}: {shown.figures(found)}") for step, found in row.measured.items()]
    lines += [Text(f"  {why}", style="yellow") for why in map(shown.doubt, row.claims) if why]
    return Group(*lines)
