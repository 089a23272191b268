"""What the master and its workers tell each other about a stage, through Locust's own channel.

The master sends PREPARE to each worker and waits for READY from all, starts Locust's users, then sends GO. Workers
send a SNAPSHOT about once a second and a final one at the end. Times are seconds since the epoch.
"""

from typing import TypedDict

from podscale.contract import Arrivals, Model
from podscale.load.recorder import Record
from podscale.load.timeline import Step

PREPARE = "podscale_prepare"
READY = "podscale_ready"
GO = "podscale_go"
SNAPSHOT = "podscale_snapshot"


class Share(TypedDict):
    """PREPARE: a worker's part of a stage. `users_classes` are the names of the user classes that take part."""

    stage: str
    model: Model
    arrivals: Arrivals
    rate_per_second: float  # of all workers together
    worker: int
    workers: int
    visits_per_connection: int | None  # None: connections are kept
    timeout_seconds: float
    in_flight_cap: int
    user_classes: list[str]


class Ready(TypedDict):
    """READY: the worker has its share. `clock_seconds` is its clock, to be held against the master's."""

    stage: str
    clock_seconds: float


class Go(TypedDict):
    """GO: when arrivals start, and the measuring window; `end_at` is None where a person ends it."""

    stage: str
    started_at: float
    measure_at: float
    end_at: float | None


class Snapshot(TypedDict):
    """SNAPSHOT: all that a worker has recorded up to now; each one replaces that worker's last."""

    stage: str
    final: bool
    trouble: str  # why the stage cannot go on, else ""
    window_seconds: float  # how much of the measuring window has passed
    record: Record
    timeline: list[Step]  # in the final snapshot alone
    host: str  # workers on one host share its cgroup
    cpu_fraction: float | None  # of one core, in the window
    throttled_seconds: float | None
