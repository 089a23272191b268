"""Reads a stage order: one table of rules, one line for each mistake. Pure."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, cast, get_args

from podscale.contract import Arrivals, Model, StageOrder

# Of requests a second, and of users: far beyond what Locust can do, so that a slip of the pen is refused at once.
MOST = 1_000_000


class OrderError(ValueError):
    """An order that cannot be carried out; the message names the field and its value in one line."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


class Rule(NamedTuple):
    """What a field must be. `holds` may assume nothing about the value's type."""

    field: str
    wanted: str
    holds: Callable[[Any], bool]
    required: bool = True


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _address(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://"))


def is_connections(value: object) -> bool:
    """Whether it is a connection policy: new, keep, or a whole number above 0 as text."""
    return isinstance(value, str) and (value in {"new", "keep"} or (value.isdecimal() and int(value) > 0))


RULES = (
    Rule("id", "a text that is not empty", lambda value: isinstance(value, str) and value != ""),
    Rule("model", "open or closed", lambda value: value in get_args(Model)),
    Rule("arrivals", "constant or poisson", lambda value: value in get_args(Arrivals)),
    Rule("rate_per_second", f"a number from 0 to {MOST}", lambda value: _number(value) and 0 <= value <= MOST),
    Rule("users", f"a whole number from 0 to {MOST}", lambda value: _whole(value) and 0 <= value <= MOST),
    Rule("connections", "new, keep, or a number of visits above 0 as text", is_connections),
    Rule("warmup_seconds", "a number of at least 0", lambda value: _number(value) and value >= 0),
    Rule("measure_seconds", "a number above 0", lambda value: _number(value) and value > 0),
    Rule("timeout_seconds", "a number above 0", lambda value: _number(value) and value > 0),
    Rule("expect_workers", "a whole number above 0", lambda value: _whole(value) and value > 0),
    Rule("scenario", "the name of a user class", lambda value: isinstance(value, str), required=False),
    Rule("options", "an object", lambda value: isinstance(value, dict), required=False),
    Rule("host", "an address such as http://name:8000", _address, required=False),
)


def read_order(payload: object, *, user_classes: Iterable[str], options: Mapping[str, Any]) -> StageOrder:
    """The order in `payload`, checked.

    Args:
        payload: decoded JSON.
        user_classes: names that `scenario` may have.
        options: the locustfile's custom arguments, by name, each with a row as Locust's start form has it
            (`default_value`, `choices`).

    Raises:
        OrderError: for the first field that is missing, unknown or not as its rule says.
    """
    if not isinstance(payload, dict):
        raise OrderError("the order must be a JSON object")
    _check_rules(payload)
    if payload["model"] == "open" and not payload["rate_per_second"]:
        raise _wrong("rate_per_second", payload["rate_per_second"], "above 0 in the open model")
    if payload["model"] == "closed" and not payload["users"]:
        raise _wrong("users", payload["users"], "above 0 in the closed model")
    if "scenario" in payload and payload["scenario"] not in user_classes:
        raise _wrong("scenario", payload["scenario"], f"one of {', '.join(sorted(user_classes))}")
    order = cast("StageOrder", dict(payload))
    if "options" in order:
        order["options"] = {name: _option(name, value, options) for name, value in order["options"].items()}
    return order


def visits_per_connection(connections: str) -> int | None:
    """How many visits a connection serves; None: it is kept."""
    return None if connections == "keep" else 1 if connections == "new" else int(connections)


def _check_rules(payload: dict[Any, Any]) -> None:
    fields = [rule.field for rule in RULES]
    unknown = [field for field in payload if field not in fields]
    if unknown:
        raise OrderError(f"{unknown[0]!s:.40}: no such field; an order has {', '.join(fields)}")
    for rule in RULES:
        if rule.field in payload and not rule.holds(payload[rule.field]):
            raise _wrong(rule.field, payload[rule.field], rule.wanted)
        if rule.field not in payload and rule.required:
            raise OrderError(f"{rule.field} is missing; it must be {rule.wanted}")


def _option(name: str, value: object, options: Mapping[str, Any]) -> str | int | float:
    """`value` in the type of the argument's default, as Locust's own form does it."""
    field = f"options.{name!s:.40}"
    if name not in options:
        raise OrderError(f"{field}: the locustfile has no such argument; it has {', '.join(sorted(options)) or 'none'}")
    default, choices = options[name]["default_value"], options[name]["choices"]
    kind = str if default is None else type(default)
    if not isinstance(value, (str, int, float)) or (isinstance(value, bool) and kind is not bool):
        raise _wrong(field, value, f"of type {kind.__name__}")
    try:
        # By way of text, so that 50.5 is no legal whole number, in JSON as in the form.
        read: str | int | float = str(value).lower() == "true" if kind is bool else kind(str(value))
    except ValueError:
        raise _wrong(field, value, f"of type {kind.__name__}") from None
    if choices and read not in choices:
        raise _wrong(field, value, f"one of {', '.join(map(str, choices))}")
    return read


def _wrong(field: str, value: object, wanted: str) -> OrderError:
    return OrderError(f"{field} is {value!r:.60}; it must be {wanted}")
