"""All files that are made from this folder."""

from pathlib import Path

from monitoring import docs, load, rules, scaling
from monitoring.panels import as_json

CHECKOUT = Path(__file__).parents[1]
FILES = CHECKOUT / "helm" / "podscale" / "files"
DASHBOARDS = FILES / "dashboards"
BOARDS = (scaling.BOARD, load.BOARD)


def made() -> dict[Path, str]:
    """What should stand in which file."""
    dashboards = {DASHBOARDS / f"{board.uid}.json": as_json(board) for board in BOARDS}
    return dashboards | {FILES / "rules.yaml": rules.as_yaml(), CHECKOUT / "docs" / "alerts.md": docs.as_markdown()}
