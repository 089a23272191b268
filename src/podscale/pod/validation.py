"""Checks what a client asks for: parameters are data, and each refusal is one line with name, value and limit.

Numbers are written plainly: ASCII digits without sign, spaces, underscores or leading zeros. In JSON, 5.0 and 5e0 are
the number 5, as JSON makes no difference; 5.5, true and "5" are not whole numbers.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NoReturn, TypeVar, cast
from urllib.parse import parse_qsl

from podscale.pod.errors import BadInputError, shown

T = TypeVar("T")

_WHOLE = re.compile(r"0|[1-9][0-9]{0,15}")
_DECIMAL = re.compile(r"(0|[1-9][0-9]{0,15})(\.[0-9]{1,9})?")
_MOST_PARAMETERS = 16


class Parameter(Generic[T]):
    """A named value of a request; `default` is None where it must be given."""

    name: str
    default: T | None

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        raise NotImplementedError

    def from_text(self, text: str) -> T | None:
        """The value of a query parameter, or None where it is not allowed."""
        raise NotImplementedError

    def from_json(self, value: object) -> T | None:
        """The value of a JSON member, or None where it is not allowed."""
        raise NotImplementedError


@dataclass(frozen=True)
class Whole(Parameter[int]):
    """A whole number from `lower` to `upper`."""

    name: str
    lower: int
    upper: int
    default: int | None = None

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return f"a whole number from {self.lower} to {self.upper}"

    def from_text(self, text: str) -> int | None:
        """The value of a query parameter, or None where it is not allowed."""
        return self._within(int(text)) if _WHOLE.fullmatch(text) else None

    def from_json(self, value: object) -> int | None:
        """The value of a JSON member, or None where it is not allowed."""
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return self._within(value) if isinstance(value, int) and not isinstance(value, bool) else None

    def _within(self, value: int) -> int | None:
        return value if self.lower <= value <= self.upper else None


@dataclass(frozen=True)
class Decimal(Parameter[float]):
    """A number from `lower` to `upper`, with or without a decimal point; only in a query."""

    name: str
    lower: float
    upper: float
    default: float | None = None

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return f"a number from {self.lower:.16g} to {self.upper:.16g}"

    def from_text(self, text: str) -> float | None:
        """The value of a query parameter, or None where it is not allowed."""
        value = float(text) if _DECIMAL.fullmatch(text) else self.upper + 1
        return value if self.lower <= value <= self.upper else None


@dataclass(frozen=True)
class Choice(Parameter[T]):
    """One of a few words."""

    name: str
    choices: Sequence[T] = field(default=())
    default: T | None = None

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return f"one of {', '.join(map(str, self.choices))}"

    def from_text(self, text: str) -> T | None:
        """The value of a query parameter, or None where it is not allowed."""
        return next((choice for choice in self.choices if choice == text), None)

    def from_json(self, value: object) -> T | None:
        """The value of a JSON member, or None where it is not allowed."""
        return self.from_text(value) if isinstance(value, str) else None


class Values:
    """The checked values of a request, each under the parameter that asked for it."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, parameter: Parameter[T]) -> T:
        return cast("T", self._values[parameter.name])


def read_query(query: bytes, parameters: Sequence[Parameter[Any]]) -> Values:
    """Read the query string of a request, without its question mark; raises BadInputError."""
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
    except ValueError:
        raise BadInputError(f"the query has more than {_MOST_PARAMETERS} parameters") from None
    given = _unique(pairs, parameters)
    return Values({p.name: _checked(p, given, p.from_text) for p in parameters})


def read_json(body: bytes, parameters: Sequence[Parameter[Any]]) -> Values:
    """Read the JSON object in the body of a request; raises BadInputError."""
    try:
        # parse_constant is what NaN and Infinity go to: Python reads them, JSON has no such numbers.
        pairs = json.loads(body.decode(), object_pairs_hook=_Pairs, parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise BadInputError(f"the body is not UTF-8: byte {error.start} is 0x{body[error.start]:02x}") from None
    except RecursionError:
        raise BadInputError("the body is not a JSON object: it is nested too deeply") from None
    except ValueError as error:
        raise BadInputError(f"the body is not a JSON object: {str(error)[:100]}; send {_example(parameters)}") from None
    if not isinstance(pairs, _Pairs):
        raise BadInputError(f"the body is {_described(pairs)}, not a JSON object; send {_example(parameters)}")
    given = _unique(pairs, parameters)
    return Values({p.name: _checked(p, given, p.from_json) for p in parameters})


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its members in order, duplicates included."""


def _unique(pairs: Iterable[tuple[str, T]], parameters: Sequence[Parameter[Any]]) -> dict[str, T]:
    known = [parameter.name for parameter in parameters]
    given: dict[str, T] = {}
    for name, value in pairs:
        if name not in known:
            allowed = f"known here: {', '.join(known)}" if known else "this route takes none"
            raise BadInputError(f"unknown parameter {shown(name)}; {allowed}")
        if name in given:
            raise BadInputError(f"{name} is given more than once; give it once")
        given[name] = value
    return given


def _checked(parameter: Parameter[T], given: dict[str, Any], read: Any) -> T:
    if parameter.name not in given:
        if parameter.default is None:
            raise BadInputError(f"{parameter.name} is missing; it must be {parameter.allowed}")
        return parameter.default
    raw = given[parameter.name]
    value: T | None = read(raw)
    if value is None:
        raise BadInputError(f"{parameter.name} is {_described(raw)}; it must be {parameter.allowed}")
    return value


def _described(value: object) -> str:
    """A value of a query or a JSON member in a few words; a text in quotes, so that "5" and 5 differ."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, list):
        return "an object" if isinstance(value, _Pairs) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}..."


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _example(parameters: Sequence[Parameter[Any]]) -> str:
    return "{" + ", ".join(f'"{parameter.name}": ...' for parameter in parameters) + "}"
