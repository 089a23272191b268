"""What `podscale watch` knows at one moment, as typed records: what the table shows and `--json` prints.

A value that is not known is None, in JSON null; it is never 0. Times are in seconds, memory in bytes.
"""

import msgspec


class PodRow(msgspec.Struct, frozen=True, kw_only=True):
    """One pod. Rates, shares and quantiles are those between the last two readings of it."""

    pod: str
    node: str | None = None
    state: str  # as people name it: "Ready", "Pending", "CrashLoopBackOff", "ended"
    ready: bool
    restarts: int | None = None
    uptime_seconds: float | None = None
    cpu_cores: float | None = None
    cpu_limit_cores: float | None = None  # inf where there is no limit; in JSON that is null too
    throttled_share: float | None = None  # of the quota periods in which it wanted CPU
    memory_bytes: float | None = None
    memory_limit_bytes: float | None = None
    requests_per_second: float | None = None
    p99_seconds: float | None = None  # None also where nothing was asked; inf beyond the last bucket
    queue_length: float | None = None


class Total(msgspec.Struct, frozen=True, kw_only=True):
    """All pods together. None where the value of one that runs is unknown; one that ends and is silent is left out."""

    ready: int
    pods: int
    restarts: int | None = None
    cpu_cores: float | None = None
    cpu_limit_cores: float | None = None
    throttled_share: float | None = None
    memory_bytes: float | None = None
    requests_per_second: float | None = None
    p99_seconds: float | None = None
    queue_length: float | None = None


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of everything."""

    at_seconds: float  # since the epoch
    what: str  # what is watched, in words
    wanted: int | None  # how many pods are asked for; None where nobody asks
    pods: list[PodRow]
    total: Total | None  # None where the pods could not be listed
    notes: list[str] = []  # what is unknown and why
