"""The command that measures a result once more, from the plan that the result carries."""

from collections.abc import Iterator, Mapping
from typing import Any

from podscale.sweep.compare_plan import COMPARE_OPTIONS
from podscale.sweep.options import OPTIONS, Option
from podscale.sweep.reproduce.plan import N_OPTION

_SIZES = {"sizes": Option("sizes", "--sizes", None, "")}
_QUICK = {"quick": Option("quick", "--quick/--no-quick", False, "")}
# What each command takes beside the options of a sweep.
_ROWS: dict[str, dict[str, Option]] = {
    "sweep": _SIZES | OPTIONS,
    "compare": _SIZES | OPTIONS | COMPARE_OPTIONS,
    "reproduce": _QUICK | {"n": N_OPTION} | OPTIONS,
}
# Their defaults follow from the machine, so they are always named: the command asks the same question elsewhere.
_ALWAYS = ("sizes", "locust_workers", "topologies", "n")


def command_line(asked: Mapping[str, Any]) -> list[str] | None:
    """The words of the command that makes the plan `asked`; None where it is no plan of ours.

    Only what differs from a default is named, and what a default would take from the machine.
    """
    verb = asked.get("command", "sweep")
    if verb not in _ROWS or not (asked.get("sizes") or asked.get("rows")):
        return None
    words = ["podscale", verb, *asked.get("rows", ())]
    for name, row in _ROWS[verb].items():
        value = asked.get(name)
        if value is not None and name not in _implied(asked, verb) and (name in _ALWAYS or value != row.default):
            words += _words(row, value)
    for name, value in (asked.get("options") or {}).items():
        words += ["--option", f"{name}={value}"]
    return words


def _implied(asked: Mapping[str, Any], verb: str) -> Iterator[str]:
    """What follows from the rest, and may not stand beside it."""
    yield "target"
    if verb == "compare":
        yield "goal"  # a comparison has no such option
    if asked.get("url") is not None:
        yield "sizes"
    if asked.get("deployment") is not None:
        yield "locust_workers"  # as many as run there


def _words(row: Option, value: Any) -> list[str]:
    """An option as it is typed: "--sizes 1,2", "--no-goal", "--rate 54"."""
    if isinstance(value, bool):
        on, off = row.flag.split("/")
        return [on if value else off]
    if isinstance(value, list | tuple):
        return [row.flag, ",".join(map(str, value))]
    whole = isinstance(value, float) and value.is_integer()
    return [row.flag, str(int(value) if whole else value)]
