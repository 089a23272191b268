"""Orders: what is legal, and the one line that says what is not."""

import math
from typing import Any

import pytest

from podscale.load.orders import OrderError, is_connections, read_order, visits_per_connection

GOOD: dict[str, Any] = {
    "id": "a",
    "model": "open",
    "arrivals": "constant",
    "rate_per_second": 10,
    "users": 0,
    "connections": "new",
    "warmup_seconds": 0,
    "measure_seconds": 1,
    "timeout_seconds": 5,
    "expect_workers": 1,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "cpu_time_ms": {"default_value": 50.0, "choices": None},
    "limit": {"default_value": 10, "choices": None},
    "clock": {"default_value": "cpu", "choices": ["cpu", "wall"]},
    "verbose": {"default_value": False, "choices": None},
    "free": {"default_value": None, "choices": None},
}


def _read(**changes: Any) -> Any:
    return read_order(GOOD | changes, user_classes=["Blocking", "Worker"], options=OPTIONS)


def test_a_legal_order_is_taken_as_it_is() -> None:
    """Also with the fields that it need not have."""
    assert _read() == GOOD
    assert _read(scenario="Worker", model="closed", rate_per_second=0, users=3)["scenario"] == "Worker"


def test_options_get_the_type_of_their_default() -> None:
    """As Locust's own form does it."""
    options = {"cpu_time_ms": 9, "limit": "7", "clock": "wall", "verbose": "true", "free": "x"}
    read = _read(options=options)["options"]
    assert read == {"cpu_time_ms": 9.0, "limit": 7, "clock": "wall", "verbose": True, "free": "x"}
    assert isinstance(read["cpu_time_ms"], float)
    assert _read(options={"verbose": False})["options"] == {"verbose": False}


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"id": ""}, "id is ''; it must be a text that is not empty"),
        ({"model": "ajar"}, "model is 'ajar'; it must be open or closed"),
        ({"model": ["open"]}, "model is ['open']; it must be open or closed"),
        ({"arrivals": 1}, "arrivals is 1; it must be constant or poisson"),
        ({"rate_per_second": math.nan}, "rate_per_second is nan; it must be a number from 0 to 1000000"),
        ({"rate_per_second": 1e12}, "rate_per_second is 1000000000000.0; it must be a number from 0 to 1000000"),
        ({"rate_per_second": "9"}, "rate_per_second is '9'; it must be a number from 0 to 1000000"),
        ({"rate_per_second": True}, "rate_per_second is True; it must be a number from 0 to 1000000"),
        ({"rate_per_second": 0}, "rate_per_second is 0; it must be above 0 in the open model"),
        ({"model": "closed"}, "users is 0; it must be above 0 in the closed model"),
        ({"users": 1.5}, "users is 1.5; it must be a whole number from 0 to 1000000"),
        ({"connections": "0"}, "connections is '0'; it must be new, keep, or a number of visits above 0 as text"),
        ({"connections": 5}, "connections is 5; it must be new, keep, or a number of visits above 0 as text"),
        ({"warmup_seconds": -1}, "warmup_seconds is -1; it must be a number of at least 0"),
        ({"measure_seconds": 0}, "measure_seconds is 0; it must be a number above 0"),
        ({"timeout_seconds": math.inf}, "timeout_seconds is inf; it must be a number above 0"),
        ({"expect_workers": 0}, "expect_workers is 0; it must be a whole number above 0"),
        ({"scenario": "Nobody"}, "scenario is 'Nobody'; it must be one of Blocking, Worker"),
        ({"options": []}, "options is []; it must be an object"),
        ({"options": {"limit": "x"}}, "options.limit is 'x'; it must be of type int"),
        ({"options": {"limit": 1.5}}, "options.limit is 1.5; it must be of type int"),
        ({"options": {"limit": True}}, "options.limit is True; it must be of type int"),
        ({"options": {"free": None}}, "options.free is None; it must be of type str"),
        ({"options": {"clock": "moon"}}, "options.clock is 'moon'; it must be one of cpu, wall"),
        ({"options": {"x\ny": 1}}, "options.x\ny: the locustfile has no such argument; it has"),
        ({"speed": 1}, "speed: no such field; an order has id, model"),
    ],
)
def test_a_bad_order_is_refused_in_one_line(changes: dict[str, Any], line: str) -> None:
    """The line names the field, its value and what it must be."""
    with pytest.raises(OrderError) as refused:
        _read(**changes)
    assert str(refused.value).startswith(line.replace("\n", " "))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("field", list(GOOD))
def test_a_missing_field_is_named(field: str) -> None:
    """Each one that an order must have."""
    order = {name: value for name, value in GOOD.items() if name != field}
    with pytest.raises(OrderError, match=f"^{field} is missing; it must be "):
        read_order(order, user_classes=[], options={})


@pytest.mark.parametrize("payload", [None, [], "open", 5])
def test_an_order_is_an_object(payload: object) -> None:
    """Any other JSON is none."""
    with pytest.raises(OrderError, match="must be a JSON object"):
        read_order(payload, user_classes=[], options={})


def test_a_long_value_is_cut() -> None:
    """The line stays a line."""
    with pytest.raises(OrderError) as refused:
        _read(model="x" * 10_000)
    assert len(str(refused.value)) < 200


def test_connection_policies() -> None:
    """One visit for each connection with new, no limit with keep."""
    assert [visits_per_connection(policy) for policy in ("new", "keep", "12")] == [1, None, 12]
    assert [is_connections(policy) for policy in ("new", "keep", "12", "-1", "1.5", "", None)] == [True] * 3 + [
        False
    ] * 4
