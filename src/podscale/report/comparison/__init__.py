"""The report of a comparison: all topologies side by side, and what the tail of the pods is made of."""

from podscale.sweep.results import Result


def is_one(result: Result) -> bool:
    """Whether `podscale compare` wrote this result."""
    return result.asked.get("command") == "compare"
