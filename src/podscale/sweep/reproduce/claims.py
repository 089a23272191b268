"""From the stages of a row to its figures, its ratio, and whether its claims hold. Pure."""

from collections.abc import Mapping, Sequence
from typing import Literal

from podscale.sweep.reproduce.figures import FIGURES, figures_of
from podscale.sweep.reproduce.results import CheckedClaim, RowResult
from podscale.sweep.reproduce.row import Claim, Of, Row
from podscale.sweep.results import Stage


def row_result(
    row: Row, stages: Sequence[Stage], n: int, target: Literal["local", "kubernetes"], void: Sequence[Stage] = ()
) -> RowResult:
    """What a row has come to. `stages` belong to its steps, in order; there may be fewer. `void`: see RowResult."""
    by_step = {step.name: stage for step, stage in zip(row.steps, stages, strict=False)}
    claims = [_checked(claim, by_step, claim.bounds(n, quota=target == "kubernetes")) for claim in row.claims]
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


def _checked(claim: Claim, stages: Mapping[str, Stage], bounds: tuple[float | None, float | None]) -> CheckedClaim:
    low, high = bounds
    ratio = _ratio(_value(claim.top, stages), _value(claim.bottom, stages))
    holds = None if ratio is None else (low is None or ratio >= low) and (high is None or ratio <= high)
    return CheckedClaim(says=claim.says, ratio=ratio, low=low, high=high, holds=holds)


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
