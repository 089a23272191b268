"""The dashboards as Grafana reads them. That their queries have data is shown on the cluster."""

import json
import re
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from monitoring.queries import RECORDED
from monitoring.render import BOARDS, DASHBOARDS
from podscale import contract

FILES = sorted(DASHBOARDS.glob("*.json"))
each_file = pytest.mark.parametrize(
    "dashboard", [json.loads(path.read_text()) for path in FILES], ids=lambda one: one["uid"]
)
# Grafana's own names: https://github.com/grafana/grafana/blob/main/packages/grafana-data/src/valueFormats/categories.ts
UNITS = {"none", "reqps", "s", "percentunit", "bytes"}
# A sidecar puts them into ConfigMaps' place, which holds 1 MiB; `kubectl apply` notes each object in 256 KiB.
MOST_BYTES = 200_000


@each_file
def test_grafanas_types_read_it_and_lose_nothing(dashboard: dict[str, Any]) -> None:
    """What Grafana's own definitions read from the file is the whole file: no key is unknown, none is missing."""
    register_default_plugins()
    read = json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(dashboard)))
    assert read == dashboard


@each_file
def test_each_panel_can_be_read(dashboard: dict[str, Any]) -> None:
    """It has a unit that Grafana knows, a description that says how to read it, and an id and a place of its own."""
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}) == len(panels)
    for panel in panels:
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        if panel["type"] != "row":
            assert panel["fieldConfig"]["defaults"]["unit"] in UNITS
            assert len(panel["description"]) > 40
            assert panel["description"].endswith(".")
            assert panel["datasource"]["uid"] == "${datasource}"


@each_file
def test_the_variables(dashboard: dict[str, Any]) -> None:
    """Data source, namespace, release and pod, in this order, each chosen from what the one before leaves."""
    variables = dashboard["templating"]["list"]
    assert [variable["name"] for variable in variables] == ["datasource", "namespace", "release", "pod"]
    for number, variable in enumerate(variables[1:], start=1):
        earlier = [other["name"] for other in variables[1:number]]
        assert re.findall(r"\$(\w+)", variable["query"]["query"]) == earlier
    assert variables[-1]["multi"]
    assert variables[-1]["allValue"] == ".+"


@each_file
def test_each_query_is_of_the_chosen_release(dashboard: dict[str, Any]) -> None:
    """Each series in it is one of the contract or one that is recorded, of the chosen namespace and release."""
    known = {value for name, value in vars(contract).items() if name.isupper() and isinstance(value, str)}
    known |= {rule.name for rule in RECORDED}
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    queries += [one["expr"] for one in dashboard["annotations"]["list"]]
    assert len(queries) > 10
    for query in queries:
        series = re.findall(r"([a-z][a-z0-9_:]+)\{([^}]*)\}", query)
        assert series
        for name, labels in series:
            assert name in known
            assert labels.startswith('namespace="$namespace",release="$release"')


def test_scaling_and_load_show_what_is_asked_for() -> None:
    """The panels that tell the story are there: a later hand must not lose one."""
    scaling, load = ({panel.title for panel in board.panels} for board in BOARDS)
    assert scaling >= {
        "Replicas",
        "Requests per second by pod",
        "Efficiency",
        "Latency in the pods",
        "Errors per second",
        "Waiting jobs",
        "Requests in progress",
        "Balance",
        "Throttled",
        "CPU of the limit",
        "Lag of the event loop",
        "Heat map of the pods: CPU of the limit",
    }
    assert load >= {
        "Rate asked and sent",
        "Late and dropped per second",
        "Users and workers",
        "CPU of the generator",
        "Latency that clients see",
    }


def test_they_fit_into_a_config_map() -> None:
    """With much room below what Kubernetes takes."""
    assert [path.name for path in FILES] == ["podscale-load.json", "podscale-scaling.json"]
    assert all(path.stat().st_size < MOST_BYTES for path in FILES)
