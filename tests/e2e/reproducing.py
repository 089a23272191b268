"""What the tests of `podscale reproduce` on both targets share."""

from collections.abc import Callable

from podscale.sweep.reproduce.claims import within
from podscale.sweep.reproduce.results import Reproduction, RowResult


def rows_of(quick: Reproduction, in_full: Callable[[list[str]], Reproduction]) -> dict[str, RowResult]:
    """The rows by name; those that do not stand in a quick run, which rests on few answers, are measured in full."""
    rows = {row.row: row for row in quick.rows}
    again = [name for name, row in rows.items() if not stands(row)]
    return rows | ({row.row: row for row in in_full(again).rows} if again else {})


def stands(row: RowResult) -> bool:
    """Whether each claim holds; where cores worked at different speeds, whether it would with answers of equal cost."""
    return all(
        claim.holds or (claim.holds is None and within(claim.ratio_at_equal_cost, claim.low, claim.high))
        for claim in row.claims
    )
