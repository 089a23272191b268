"""What the guide tells people to type is what the chart takes."""

import re

import pytest
import yaml

from tests.chart.helm import CHART, CHECKOUT, render

GUIDE = (CHECKOUT / "docs" / "kubernetes.md").read_text()
# Values that make sense only with another.
TOGETHER = {
    "locust.login.enabled=true": ("--set=locust.login.password=mine",),
    "dashboards.enabled=true": ("--set=prometheus.enabled=true",),
}


@pytest.mark.parametrize("value", sorted(set(re.findall(r"--set ([\w.]+=[^\s`]+)", GUIDE))))
def test_a_value_to_set(value: str) -> None:
    """Each `--set` of the guide is taken."""
    assert render(f"--set={value}", *TOGETHER.get(value, ()))


def test_names_of_values() -> None:
    """Each value that the guide names is in values.yaml."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    tops = "|".join(key for key, value in values.items() if isinstance(value, dict))
    names = set(re.findall(rf"`((?:{tops})\.[a-zA-Z.]+)[=`]", GUIDE))
    assert len(names) > 10
    for name in names - {"resources.limits.cpu"}:  # which has no default
        inner = values
        for key in name.split("."):
            inner = inner[key]


def test_names_of_objects() -> None:
    """Each object that the guide's commands name is in a release named podscale."""
    known = {f"{item['kind'].lower()}/{item['metadata']['name']}" for item in render("--set=prometheus.enabled=true")}
    named = set(re.findall(r"((?:deployment|service)/[a-z-]+)", GUIDE))
    assert named
    assert named <= known
