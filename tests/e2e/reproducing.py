"""What the tests of `podscale reproduce` on both targets share."""

from collections.abc import Callable

from podscale.sweep.reproduce.results import Reproduction, RowResult


def rows_of(quick: Reproduction, in_full: Callable[[list[str]], Reproduction]) -> dict[str, RowResult]:
    """The rows by name; those that do not hold in a quick run are measured once more, in full.

    A quick row rests on few answers. Where the work is fixed and not the CPU time, cores that others share answer half
    as much in one step as in the next: the CPU seconds of one answer show it. A full row outlasts that.
    """
    rows = {row.row: row for row in quick.rows}
    again = [name for name, row in rows.items() if not row.holds]
    return rows | ({row.row: row for row in in_full(again).rows} if again else {})
