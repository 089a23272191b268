"""Pictures for the documents from real runs, one module for each; `make pictures` runs them all."""

from pathlib import Path

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
