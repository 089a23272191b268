"""What a run of the articles' rows measured, as typed records that go to `reproduce.json`.

As in a sweep's result, what is not known is None and never 0; times are in seconds, memory in bytes.
"""

from pathlib import Path
from typing import Any, Literal

import msgspec

from podscale.sweep.reproduce.row import Article, FigureName
from podscale.sweep.results import ResultError, Stage, write_record

SCHEMA_VERSION = 1
RESULT_FILE = "reproduce.json"


class CheckedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim with its bounds for the n of this run, and what came of it; `holds` is None where it is not known.

    `cost_ratio`: the CPU time of an answer in the step on top over that in the other, where both do the same work and
    should cost the same. `ratio_at_equal_cost`: what the ratio would be if they had.
    """

    says: str
    ratio: float | None
    low: float | None
    high: float | None
    holds: bool | None
    cost_ratio: float | None = None
    ratio_at_equal_cost: float | None = None


class RowResult(msgspec.Struct, kw_only=True):
    """One row. `claim`, `ratio` and the article's ratio are of the first of `claims`; `holds` is of all of them.

    `measured` has the figures of each step, by its name. `why` says where a difference from the article comes from.
    `stages` has a stage for each of `steps`, as far as they were measured; `void` are those that were measured again.
    """

    row: str
    target: Literal["local", "kubernetes"]
    article: Article
    runs: str
    steps: list[str]
    claim: str
    claims: list[CheckedClaim] = []
    measured: dict[str, dict[FigureName, float | None]] = {}
    ratio: float | None = None
    holds: bool | None = None
    why: str
    stages: list[Stage] = []
    void: list[Stage] = []


class Reproduction(msgspec.Struct, kw_only=True):
    """All rows of a run, or as many as were measured: `aborted` says why it ended early, else None.

    `quick`: times and jobs were shortened. `n`: what n stands for.
    """

    schema_version: int = SCHEMA_VERSION
    id: str
    started_at: str
    finished_at: str | None = None
    asked: dict[str, Any]
    environment: dict[str, Any]
    quick: bool
    n: int
    rows: list[RowResult] = []
    aborted: str | None = None


def save(result: Reproduction, folder: Path) -> Path:
    """Write `reproduce.json`, whole or not at all."""
    return write_record(result, folder / RESULT_FILE)


def load(folder: Path) -> Reproduction:
    """Read `reproduce.json` from `folder`; raises ResultError."""
    path = folder / RESULT_FILE
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ResultError(f"no {RESULT_FILE} in {folder}: {error.strerror}; podscale reproduce writes it") from error
    try:
        found = msgspec.json.decode(data, type=Reproduction)
    except msgspec.MsgspecError as error:
        raise ResultError(f"{path} is not a result of podscale reproduce: {error}") from error
    if found.schema_version != SCHEMA_VERSION:
        raise ResultError(f"{path} has schema version {found.schema_version}, this podscale reads {SCHEMA_VERSION}")
    return found
