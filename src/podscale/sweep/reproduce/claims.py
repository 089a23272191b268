"""From the stages of a row to its figures, its ratio, and whether its claims hold. Pure."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from podscale.sweep.reproduce.figures import FIGURES, cost_seconds, figures_of
from podscale.sweep.reproduce.results import CheckedClaim, RowResult
from podscale.sweep.reproduce.row import Claim, Of, Row
from podscale.sweep.results import Stage

# Beyond this (as a logarithm) cores have worked at different speeds: hyperthreads, other guests of the machine, caches.
UNEQUAL_COST = 0.05


def row_result(
    row: Row, stages: Sequence[Stage], n: int, target: Literal["local", "kubernetes"], void: Sequence[Stage] = ()
) -> RowResult:
    """What a row has come to. `stages` belong to its steps, in order; there may be fewer. `void`: see RowResult."""
    by_step = {step.name: stage for step, stage in zip(row.steps, stages, strict=False)}
    claims = [_checked(claim, row, by_step, claim.bounds(n, quota=target == "kubernetes")) for claim in row.claims]
    return RowResult(
        row=row.name,
        target=target,
        article=row.article,
        runs=row.runs,
        steps=[step.name for step in row.steps],
        claim=claims[0].says,
        claims=claims,
        measured={name: figures_of(stage, row.shows) for name, stage in by_step.items()},
        ratio=claims[0].ratio,
        holds=_all_hold(claims),
        why=row.why,
        stages=list(stages),
        void=list(void),
    )


def _checked(
    claim: Claim, row: Row, stages: Mapping[str, Stage], bounds: tuple[float | None, float | None]
) -> CheckedClaim:
    """Where the same work cost much more CPU in one step, and that decides, it is not known whether the claim holds."""
    low, high = bounds
    ratio = _ratio(_value(claim.top, stages), _value(claim.bottom, stages))
    cost = _cost_ratio(claim, row, stages)
    equal = None if ratio is None or cost is None else ratio / cost ** FIGURES[claim.top.figure].by_cost
    holds = within(ratio, low, high)
    if equal is not None and cost is not None and abs(math.log(cost)) > UNEQUAL_COST:
        holds = holds if within(equal, low, high) == holds else None
    return CheckedClaim(
        says=claim.says, ratio=ratio, low=low, high=high, holds=holds, cost_ratio=cost, ratio_at_equal_cost=equal
    )


def _cost_ratio(claim: Claim, row: Row, stages: Mapping[str, Stage]) -> float | None:
    """CPU time of an answer on top over that of one at the bottom, where it is of the same work and matters."""
    if not isinstance(claim.bottom, Of) or not FIGURES[claim.top.figure].by_cost:
        return None
    top, bottom = (next(step for step in row.steps if step.name == of.step) for of in (claim.top, claim.bottom))
    if (top.scenario, top.options) != (bottom.scenario, bottom.options):
        return None
    here = [stages.get(step.name) for step in (top, bottom)]
    return _ratio(*(None if stage is None else cost_seconds(stage) for stage in here))


def within(ratio: float | None, low: float | None, high: float | None) -> bool | None:
    """Whether a ratio keeps its bounds; None where it is not known."""
    return None if ratio is None else (low is None or ratio >= low) and (high is None or ratio <= high)


def _value(of: Of | float, stages: Mapping[str, Stage]) -> float | None:
    if not isinstance(of, Of):
        return of
    stage = stages.get(of.step)
    return FIGURES[of.figure].read(stage) if stage is not None and stage.valid else None


def _ratio(top: float | None, bottom: float | None) -> float | None:
    return top / bottom if top is not None and bottom else None


def _all_hold(claims: Sequence[CheckedClaim]) -> bool | None:
    """One that fails is enough for no; else one that is not known, for not known."""
    found = [claim.holds for claim in claims]
    return False if False in found else None if None in found else True
