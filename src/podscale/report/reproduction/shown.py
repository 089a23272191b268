"""The words and figures of the articles' rows, for terminal, page and document alike."""

from collections.abc import Mapping

from podscale.analysis import words
from podscale.sweep.reproduce.figures import FIGURES
from podscale.sweep.reproduce.results import CheckedClaim, Reproduction
from podscale.sweep.reproduce.row import Claim, FigureName

_UNKNOWN = "unknown"


def claim(wanted: Claim) -> str:
    """A claim with its bounds, before n is known: "the last takes three jobs: 2.8 to 3.4"."""
    by_n = {-1: " / n", 0: "", 1: " x n"}[wanted.power]
    return f"{wanted.says}: {bounds(wanted.low, wanted.high)}{by_n}"


def bounds(low: float | None, high: float | None) -> str:
    """As "2.8 to 3.4", "from 100", "to 10"; one figure where both are the same."""
    if low is not None and high is not None:
        return words.number(low) if low == high else f"{words.number(low)} to {words.number(high)}"
    if low is not None:
        return f"from {words.number(low)}"
    return "any" if high is None else f"to {words.number(high)}"


def ratio(value: float | None, absent: str = _UNKNOWN) -> str:
    """Three digits."""
    return absent if value is None else words.number(value)


def holds(value: bool | None) -> str:  # it is the value that is shown
    """In a word."""
    return {True: "yes", False: "no", None: "?"}[value]


def doubt(checked: CheckedClaim) -> str | None:
    """Why it is not known whether a claim holds, where both its steps were measured."""
    if checked.holds is not None or checked.cost_ratio is None or checked.ratio_at_equal_cost is None:
        return None
    return (
        f"{checked.says}: not known, since the same answer cost {words.number(checked.cost_ratio)} times as much CPU "
        "in one step as in the other. Cores that share caches, or a machine with others, work at different speeds. "
        f"At equal cost the ratio would be {words.number(checked.ratio_at_equal_cost)}."
    )


def figures(found: Mapping[FigureName, float | None]) -> str:
    """All figures of a step: "first 1.01 s, median 2.01 s"."""
    return ", ".join(f"{name.replace('_', ' ')} {figure(name, value)}" for name, value in found.items())


def figure(name: FigureName, value: float | None) -> str:
    """One figure with its unit."""
    if value is None:
        return _UNKNOWN
    unit = FIGURES[name].unit
    if unit == "B":
        return f"{words.number(value / 1e6)} MB"
    if unit == "s":
        return f"{words.number(value)} s" if value >= 1 else words.milliseconds(value)
    return f"{words.number(value)}{unit}"


def conditions(result: Reproduction) -> str:
    """Where, with which n, and whether it was quick."""
    quick = "; quick: jobs and times were shortened" if result.quick else ""
    target = result.rows[0].target if result.rows else "nowhere"
    where = f"{result.environment.get('hostname')}, {result.environment.get('cores')} cores"
    return f"{target}: {where}; n is {result.n}{quick}"


def summary(result: Reproduction) -> str:
    """How many rows hold: "10 of 11 rows hold; restart does not; prime is not known."."""
    kept = [row.row for row in result.rows if row.holds]
    parts = [f"{len(kept)} of {len(result.rows)} rows hold"]
    for value, says in ((False, "not"), (None, "not known")):
        names = [row.row for row in result.rows if row.holds is value]
        if names:
            parts.append(f"{says}: {words.listed(names)}")
    return "; ".join(parts) + "."
