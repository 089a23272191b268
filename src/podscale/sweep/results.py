"""What a sweep measured, as typed records that go to `result.json` and come back from it.

A value that is not known is None, in the file null; it is never 0. Times are in seconds, rates per second, memory in
bytes. `schema_version` rises when a field changes its meaning or goes away; new fields alone do not raise it.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from podscale.sweep.timeline import Timeline

SCHEMA_VERSION = 1
RESULT_FILE = "result.json"

# "capacity": how much at most? "goal": is the latency goal held at the rate? "load": what is the latency at a rate that
# is the same for all topologies? "recovery": the same, and one process is killed in it. "burst": how long until so many
# requests at once are answered? Its window is over before anything is answered: CPU and nodes say nothing in it.
Purpose = Literal["capacity", "goal", "load", "recovery", "burst"]
TopologyName = Literal["pods", "workers", "pods-unlimited", "pods-large"]
Cause = Literal["quota", "random choice", "queueing"]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a stage was asked to do. `users` belongs to the closed model, `rate_per_second` to the open one."""

    model: Literal["open", "closed"]
    arrivals: Literal["constant", "poisson"] | None = None
    rate_per_second: float | None = None
    users: int | None = None
    scenario: str
    connections: str
    warmup_seconds: float
    measure_seconds: float
    options: dict[str, str | int | float] = {}

    def describe(self) -> str:
        """The load in words."""
        if self.model == "open":
            return f"{self.rate_per_second:g} arrivals/s, {self.arrivals}"
        return f"{self.users} users"


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """Quantiles in seconds, exact to three digits."""

    p50: float
    p90: float
    p99: float
    p999: float
    max: float
    mean: float


class Throttled(msgspec.Struct, frozen=True, kw_only=True):
    """CPU quota periods of all pods in the window; all None where pods have no quota or none can be read."""

    periods: int | None = None
    throttled_periods: int | None = None
    seconds: float | None = None


class Generator(msgspec.Struct, frozen=True, kw_only=True):
    """How well the load generator did its own work; `cpu_fraction` is of one core, of the busiest worker."""

    workers: int
    lost_workers: int
    cpu_fraction: float | None
    late: int
    dropped: int
    send_lag_p99_seconds: float | None
    throttled_seconds: float | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One sentence on what limited or spoiled a stage: a code from `verdict.RULES`, and the figures behind it."""

    code: str
    evidence: str


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """What a topology may use: how many pods, of how many processes, and what each pod has.

    `cpu_cores_per_pod` is the limit if `limited`, else a request that no quota enforces (on one machine: a core for
    each process). Memory is None where nothing limits it. `children` run the jobs that a process hands on.
    """

    pods: int
    processes_per_pod: int
    children: int = 1
    cpu_cores_per_pod: float
    limited: bool
    memory_bytes_per_pod: int | None = None

    @property
    def processes(self) -> int:
        """Of all pods."""
        return self.pods * self.processes_per_pod

    @property
    def cpu_cores(self) -> float:
        """Of all pods."""
        return self.pods * self.cpu_cores_per_pod

    @property
    def memory_bytes(self) -> int | None:
        """Of all pods."""
        return None if self.memory_bytes_per_pod is None else self.pods * self.memory_bytes_per_pod


class Recovery(msgspec.Struct, frozen=True, kw_only=True):
    """What one killed process cost: `killed` names it, `failed_requests` are those of the window that it was killed in.

    `seconds_until_full`: until as many processes served as before; None if that was not so within the window. Where
    nothing could be killed, `why_not` says why, and the rest is None.
    """

    killed: str | None = None
    failed_requests: int | None = None
    seconds_until_full: float | None = None
    why_not: str | None = None


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """One size, measured once. Figures are None where the stage was not reached or the value is not known.

    `purpose` says what the stage asks, see Purpose; `topology` and `budget` belong to a comparison.
    `latency_seconds` counts from the intended send time, `service_seconds` from the actual one.
    `server_requests` is what the pods themselves counted over the whole stage, `client_requests` what the load did;
    `total_cpu_seconds` is the CPU time of the pods over the whole stage, warm-up and drain included.
    """

    topology: TopologyName = "pods"
    budget: Budget | None = None
    purpose: Purpose = "capacity"
    size: int
    repeat: int
    asked: Asked
    started_at: str  # ISO 8601, UTC
    measured_seconds: float | None = None
    arrivals: int | None = None
    requests: int | None = None
    throughput_per_second: float | None = None
    latency_seconds: Latency | None = None
    service_seconds: Latency | None = None
    latency_histogram: str | None = None  # HdrHistogram V2, base64, in microseconds
    errors: dict[str, int] = {}
    requests_by_pod: dict[str, int] = {}
    requests_by_process: dict[str, int] = {}
    client_requests: int | None = None
    server_requests: int | None = None
    cpu_seconds: float | None = None
    cpu_seconds_per_request: float | None = None
    total_cpu_seconds: float | None = None
    throttled: Throttled = Throttled()
    memory_bytes: int | None = None
    node_cpu_fraction: float | None = None  # busy share of all cores of the machine
    generator: Generator | None = None
    ready_seconds: float | None = None
    recovery: Recovery | None = None
    timeline: Timeline | None = None
    verdicts: list[Verdict] = []
    valid: bool


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """A scaling law fitted to the capacity stages, or why it was refused.

    `coefficients` by name: linear and amdahl `lambda` (throughput of one pod, per second), amdahl and usl `sigma`
    (contention), usl `kappa` (coherency). `rmse` is in requests per second.
    """

    law: Literal["linear", "amdahl", "usl"]
    coefficients: dict[str, float] | None = None
    rmse: float | None = None
    peak_size: float | None = None  # usl: the size of highest throughput
    refused: str | None = None


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """What the measurement says: a sentence, the number behind it, and what it rests on.

    `pods` is None where the data does not carry a number; `sentence` then says why.
    `verified`: the size was measured to hold the goal, and one pod fewer was measured to miss it (or none fewer is
    possible).
    """

    sentence: str
    rate_per_second: float | None = None
    slo_p99_seconds: float | None = None
    pods: int | None = None
    capacity_per_pod_per_second: float | None = None
    verified: bool = False
    reasons: list[str] = []


class CauseOfTail(msgspec.Struct, frozen=True, kw_only=True):
    """What one cause adds to the p99 of `pods`; None where what it follows from was not measured.

    `low_seconds` and `high_seconds` are the least and the most that any two repeats give, None with one repeat.
    `theory_seconds` is what queueing gives for it.
    """

    cause: Cause
    seconds: float | None
    low_seconds: float | None = None
    high_seconds: float | None = None
    theory_seconds: float | None = None
    evidence: str


class TailCauses(msgspec.Struct, frozen=True, kw_only=True):
    """Where the p99 of `pods` comes from at one size and load, and the cause that leads: a sentence, and all parts.

    `leading` is None where nothing was measured that would tell, or where the repeats do not tell two causes apart.
    """

    size: int
    arrivals: Literal["constant", "poisson"]
    rate_per_second: float
    p99_seconds: float | None
    service_seconds: float | None  # of a request that waits for nothing
    causes: list[CauseOfTail]
    leading: Cause | None
    sentence: str
    parts: str


class Result(msgspec.Struct, kw_only=True):
    """A whole sweep, or as much of it as was measured: `aborted` says why it ended early, else None."""

    schema_version: int = SCHEMA_VERSION
    id: str
    started_at: str
    finished_at: str | None = None
    asked: dict[str, Any]
    environment: dict[str, Any]
    stages: list[Stage] = []
    fits: list[Fit] = []
    advice: Advice | None = None
    causes: list[TailCauses] = []
    aborted: str | None = None
    # Of the wall time of the last run, what was outside of measuring windows: scaling, waiting, warm-up, tidying up.
    overhead_fraction: float | None = None


class ResultError(Exception):
    """A result is missing, unreadable, of another version or cannot be written; the message says which, what to do."""


def save(result: Result, folder: Path) -> Path:
    """Write `result.json`, whole or not at all."""
    return write_record(result, folder / RESULT_FILE)


def write_record(record: msgspec.Struct, path: Path) -> Path:
    """Write a record as JSON so that a crash leaves the old file or the new one, never half of it."""
    partial = path.with_suffix(".partial")
    with writing_into(path.parent):
        with partial.open("wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(record), indent=1))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    return path


@contextlib.contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """Turn a full disk, or a folder that is gone or closed to us, into a ResultError."""
    try:
        yield
    except OSError as error:
        raise ResultError(f"cannot write into {folder}: {error.strerror}; what it holds already stays") from error


def load(folder: Path) -> Result:
    """Read `result.json` from `folder`; raises ResultError."""
    path = folder / RESULT_FILE
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ResultError(f"no result in {folder}: {error.strerror}; a sweep writes it there with --out") from error
    try:
        version = msgspec.json.decode(data, type=dict[str, Any]).get("schema_version")
        if version != SCHEMA_VERSION:
            raise ResultError(f"{path} has schema version {version}, this podscale reads {SCHEMA_VERSION}")
        return msgspec.json.decode(data, type=Result)
    except msgspec.MsgspecError as error:
        raise ResultError(f"{path} is not a podscale result: {error}") from error


def json_schema() -> dict[str, Any]:
    """The JSON Schema of `result.json`."""
    return msgspec.json.schema(Result)
