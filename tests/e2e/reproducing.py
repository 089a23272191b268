"""What the tests of `podscale reproduce` on both targets share."""

from collections.abc import Callable

from podscale.sweep.reproduce.results import CheckedClaim, Reproduction, RowResult


def rows_of(quick: Reproduction, in_full: Callable[[list[str]], Reproduction]) -> dict[str, RowResult]:
    """The rows by name; those that do not stand in a quick run, which rests on few answers, are measured in full."""
    rows = {row.row: row for row in quick.rows}
    again = [name for name, row in rows.items() if not stands(row)]
    return rows | ({row.row: row for row in in_full(again).rows} if again else {})


def stands(row: RowResult) -> bool:
    """Whether each claim holds; where cores worked at different speeds, whether it would with answers of equal cost."""
    return all(claim.holds or (claim.holds is None and _would_hold(claim)) for claim in row.claims)


def _would_hold(claim: CheckedClaim) -> bool:
    found, low, high = claim.ratio_at_equal_cost, claim.low, claim.high
    return found is not None and (low is None or found >= low) and (high is None or found <= high)
