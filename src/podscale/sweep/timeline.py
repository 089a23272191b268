"""The seconds of a stage, as its result keeps them."""

import msgspec


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """A stage step by step: lists of equal length, one entry for each step; see `TimelineReport` in contract.py.

    From `measured_seconds` of the stage on the load has ended. Quantiles are None where no good answer came.
    """

    start_seconds: float
    step_seconds: float
    answers: list[int]
    failures: list[int]
    p50_seconds: list[float | None]
    p99_seconds: list[float | None]
