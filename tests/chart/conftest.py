"""Builds the programs before the first test, outside of its time limit."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def programs(program_path: Callable[[str], Path]) -> None:
    """What the chart's tests run; kubectl for its kustomize."""
    for name in ("helm", "helm-docs", "kubeconform", "kubectl"):
        program_path(name)
