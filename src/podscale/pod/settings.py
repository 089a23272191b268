"""The settings of a pod: one table, read from PODSCALE_* variables of the environment, frozen after the start."""

import dataclasses
import math
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from podscale.contract import ADMIN_PORT, HTTP_PORT
from podscale.pod.errors import shown

Value = str | int | float | bool
V = TypeVar("V", str, int, float, bool)

PREFIX = "PODSCALE_"

# The caps below keep the longest computation under this, also on a core that needs twice the time of ours
# (measured: trial to 300,000 1.3 s, exhaustive at 5,000,000,000 3.6 s).
_SECONDS_AT_CAPS = 10
_MAX_LIMIT = 300_000
_MAX_NUMBER = 5_000_000_000

# Kubernetes tells each pod where the Services of its namespace are, in the manner of Docker's links. A Service
# named podscale, or podscale-locust, gives variables that begin like ours:
# https://kubernetes.io/docs/tutorials/services/connect-applications-service/#environment-variables
_SERVICE_NAME = re.compile(
    r"PODSCALE_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
_SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://.*")


class SettingError(Exception):
    """A setting that is unknown, cannot be read or is out of range; the message is one line for a person."""


@dataclass(frozen=True)
class Row:
    """One line of the table. A number lies within `lower` and `upper`; a text fully matches `pattern`."""

    name: str
    default: Value
    unit: str
    help: str
    lower: float
    upper: float
    pattern: str

    @property
    def variable(self) -> str:
        """The name of the environment variable."""
        return PREFIX + self.name.upper()

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        if isinstance(self.default, bool):
            return "0 or 1"
        if isinstance(self.default, str):
            return f"text that matches {self.pattern}"
        number = "a whole number" if isinstance(self.default, int) else "a number"
        return f"{number} from {self.lower:.16g} to {self.upper:.16g}{' ' if self.unit else ''}{self.unit}"

    def read(self, text: str) -> Value:
        """The value that `text` stands for, else SettingError."""
        value = _CASTS[type(self.default)](text)
        if value is None or not self._fits(value):
            raise SettingError(f"{self.variable} is {shown(text)}; it must be {self.allowed}")
        return value

    def _fits(self, value: Value) -> bool:
        if isinstance(value, str):
            return re.fullmatch(self.pattern, value) is not None
        return self.lower <= value <= self.upper


def _row(default: V, unit: str, text: str, lower: float = 0, upper: float = 1, *, pattern: str = "") -> V:
    """A line of the table, written as a field of Settings."""
    row = {"unit": unit, "help": text, "lower": lower, "upper": upper, "pattern": pattern}
    return dataclasses.field(default=default, metadata=row)


_HOST = r"[0-9A-Za-z.:_-]{1,253}"


@dataclass(frozen=True)
class Settings:
    """The settings of a pod. Each field is a row of TABLE: default, unit, help, lower and upper bound or pattern."""

    host: str = _row("0.0.0.0", "", "address of the http port", pattern=_HOST)
    port: int = _row(HTTP_PORT, "", "the http port: the routes that do work", 1, 65535)
    admin_host: str = _row("0.0.0.0", "", "address of the admin port", pattern=_HOST)
    admin_port: int = _row(ADMIN_PORT, "", "the admin port: /live, /ready and /metrics", 1, 65535)
    workers: int = _row(1, "processes", "serving processes that share the http port; for comparison with pods", 1, 256)
    pod_name: str = _row(
        "", "", "name in each answer and metric; the host's name if unset", pattern=r"[0-9A-Za-z_.-]{1,253}"
    )
    drain_seconds: float = _row(5.0, "s", "how long to go on serving after a stop signal, while unready", 0, 3600)
    grace_seconds: float = _row(30.0, "s", "time from a stop signal to the end; the pod's termination grace", 1, 7200)
    max_cpu_time_ms: int = _row(10_000, "ms", "longest job of /blocking and /worker", 1, 3_600_000)
    max_limit: int = _row(_MAX_LIMIT, "", "largest limit of /primes", 2, 2**32 - 1)
    max_number: int = _row(_MAX_NUMBER, "", "largest number of /prime", 2, 2**53 - 1)
    queue_length: int = _row(256, "jobs", "jobs that may wait for the loop; as many again for the children", 0, 100_000)
    offload_processes: int = _row(0, "processes", "child processes for offloaded jobs; 0: one for each core", 0, 256)
    keep_alive_seconds: int = _row(75, "s", "how long an idle connection stays open", 1, 3600)
    request_seconds: float = _row(20.0, "s", "how long a request may take to arrive", 1, 3600)
    reuse_port: bool = _row(default=False, unit="", text="1: several pods share one port, as behind a Service")
    max_body_bytes: int = _row(4096, "B", "longest body of a request", 64, 32768)
    live_seconds: float = _row(0.0, "s", "/live fails when the loop stood still this long; 0: by longest job", 0, 86400)
    log_level: str = _row("info", "", "how much to log", pattern="debug|info|warning|error")

    @property
    def longest_job_seconds(self) -> float:
        """CPU time of the longest legal job: the longest burn, or a computation at its cap.

        Trial division takes limit^2 / ln(limit) divisions for a list and number - 2 for a single number.
        """
        return max(
            self.max_cpu_time_ms / 1000,
            _SECONDS_AT_CAPS * (self.max_limit / _MAX_LIMIT) ** 2,
            _SECONDS_AT_CAPS * self.max_number / _MAX_NUMBER,
        )


TABLE = tuple(
    Row(name=field.name, default=cast("Value", field.default), **field.metadata)
    for field in dataclasses.fields(Settings)
)


def from_environment(environment: Mapping[str, str]) -> Settings:
    """Read the settings from the PODSCALE_* variables of `environment`; raises SettingError."""
    rows = {row.variable: row for row in TABLE}
    values: dict[str, Value] = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or _from_kubernetes(variable, text):
            continue
        if variable not in rows:
            raise SettingError(_unknown(variable, list(rows)))
        values[rows[variable].name] = rows[variable].read(text)
    values.setdefault("pod_name", socket.gethostname())
    settings = Settings(**cast("dict[str, Any]", values))
    _check_together(settings)
    return settings


def describe() -> str:
    """The table as text, for `--help`."""
    lines = [
        f"  {row.variable:<28} {f'{int(row.default) if isinstance(row.default, bool) else row.default} {row.unit}':<18}"
        f" {row.help}"
        for row in TABLE
    ]
    return "\n".join(lines)


def _from_kubernetes(variable: str, text: str) -> bool:
    is_address = variable.endswith("_PORT") and _SERVICE_ADDRESS.fullmatch(text) is not None
    return is_address or _SERVICE_NAME.fullmatch(variable) is not None


def _unknown(variable: str, known: list[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only a typing error needs it

    closest = get_close_matches(variable, known, n=1, cutoff=0)[0]
    return (
        f"{shown(variable)[1:-1]} is not a setting; did you mean {closest}? `python -m podscale.pod --help` lists all"
    )


def _check_together(settings: Settings) -> None:
    """The rules that concern two settings."""
    if settings.port == settings.admin_port:
        raise SettingError(f"PODSCALE_PORT and PODSCALE_ADMIN_PORT are both {settings.port}; the two ports must differ")
    if settings.drain_seconds >= settings.grace_seconds:
        raise SettingError(
            f"PODSCALE_DRAIN_SECONDS is {settings.drain_seconds:g}; it must be below PODSCALE_GRACE_SECONDS, "
            f"which is {settings.grace_seconds:g}"
        )


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else None


def _number(text: str) -> float | None:
    value = float(text) if re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", text) else math.nan
    return value if math.isfinite(value) else None


def _text(text: str) -> str:
    return text


def _switch(text: str) -> bool | None:
    return {"0": False, "1": True}.get(text)


_CASTS = {int: _whole, float: _number, str: _text, bool: _switch}
