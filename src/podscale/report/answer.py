"""The answer at a glance: four cards, which the page shows before anything else."""

from collections import Counter
from dataclasses import dataclass

from podscale.analysis import words
from podscale.report import cells, figures
from podscale.sweep.results import Result, Stage


@dataclass(frozen=True)
class Card:
    """What it is, the value in large type, and a line below. `tone` is "good", "doubt" or empty.

    `is_figure`: the value is a number, for which there is more room than for words.
    """

    label: str
    value: str
    note: str
    tone: str = ""
    is_figure: bool = False


def cards(result: Result) -> list[Card]:
    """How many pods, how well they scale, what limits them, and how far that was verified."""
    return [_pods(result), _efficiency(result), _limit(result), verified(result)]


def standing(result: Result) -> str:
    """How much the advice may be trusted, in a word or two."""
    if result.advice is None or result.advice.pods is None:
        return "no number"
    return "verified by measurement" if result.advice.verified else "not verified"


def counting(stages: list[Stage]) -> str:
    """How many stages count: "8 of 8 stages count"."""
    return (
        f"{sum(stage.valid for stage in stages)} of {len(stages)} stages count" if stages else "no stage was measured"
    )


def verified(result: Result) -> Card:
    """Whether n was seen to hold the goal and n - 1 to miss it."""
    found = standing(result)
    return Card("Standing", found, counting(result.stages), "good" if found.startswith("verified") else "doubt")


def _pods(result: Result) -> Card:
    advice = result.advice
    if advice is None:
        return Card("Pods needed", "no number", "the sweep did not come that far", "doubt")
    goal = "" if advice.slo_p99_seconds is None else f"p99 <= {words.milliseconds(advice.slo_p99_seconds)}"
    rate = "" if advice.rate_per_second is None else f"at {words.per_second(advice.rate_per_second)}"
    note = f"for {goal} {rate}".replace("  ", " ").strip() if goal or rate else "no rate was asked for"
    if advice.pods is None:
        return Card("Pods needed", "no number", note, "doubt")
    return Card("Pods needed", f"{advice.pods:,}", note, is_figure=True)


def _efficiency(result: Result) -> Card:
    capacity = figures.capacity_by_size(result)
    if len(capacity) < 2:
        return Card("Efficiency", cells.UNKNOWN, "it takes two sizes with valid capacity stages")
    smallest, largest = min(capacity), max(capacity)
    share = capacity[largest] / largest / (capacity[smallest] / smallest)
    times = f"{words.number(largest / smallest)} times {words.pods(smallest)}"
    note = f"{words.pods(largest)} do {words.per_second(capacity[largest])}, of {times}"
    return Card("Efficiency", cells.percent(share), note, is_figure=True)


def _limit(result: Result) -> Card:
    """The weightiest verdict of most valid stages of the largest size; of capacity stages where there are any."""
    valid = [stage for stage in result.stages if stage.valid]
    valid = [stage for stage in valid if stage.purpose == "capacity"] or valid
    largest = [stage for stage in valid if stage.size == max(each.size for each in valid)]
    judged = [stage.verdicts for stage in largest if stage.verdicts]
    if not largest:
        return Card("What limits", cells.UNKNOWN, "no stage counts")
    which = figures.instances(largest[0].topology, largest[0].size)
    if not judged:
        return Card("What limits", "nothing known", f"no rule applied to {which}")
    ((code, _),) = Counter(verdicts[0].code for verdicts in judged).most_common(1)
    first, *others = next(verdicts for verdicts in judged if verdicts[0].code == code)
    also = words.listed([figures.verdict(verdict.code) for verdict in others])
    return Card("What limits", figures.verdict(code), f"{which}: {first.evidence}" + (f"; also {also}" if also else ""))
