"""What is made from the chart agrees with it: its README and k8s/."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.chart import render
from tests.chart.helm import CHART, CHECKOUT, only, pod_specs, setting
from tests.chart.helm import render as render_chart
from tests.chart.schemas import VERSIONS, conform, documents, validate
from tests.cluster.programs import program


def test_nothing_is_stale() -> None:
    """README and manifests are what the chart makes today."""
    stale = [path for path, text in render.made().items() if not path.exists() or path.read_text() != text]
    assert [str(path.relative_to(CHECKOUT)) for path in stale + render.superfluous()] == [], "run `make render`"


def test_a_change_of_the_chart_is_noticed() -> None:
    """A manifest that was edited by hand differs from what is made."""
    path, text = next(iter(render.manifests().items()))
    assert "# Made from helm/podscale" in text
    assert path.read_text().replace("name: podscale", "name: mine") != text


def test_every_value_is_described() -> None:
    """Each value has a comment for the README's table, with a full stop at its end."""
    readme = (CHART / "README.md").read_text()
    rows = [row.strip("| ").split(" | ") for row in readme.splitlines() if row.startswith("| ")][1:]
    described = {row[0]: row[-1] for row in rows}
    for name in _leaves(yaml.safe_load((CHART / "values.yaml").read_text())):
        covering = [key for key in described if name == key or name.startswith(f"{key}.")]
        assert covering, f"{name} has no description"
        assert described[covering[0]].rstrip("`").endswith((".", "]", "}")), name


def test_the_manifests_are_the_chart() -> None:
    """They make the same pods as a release named podscale."""
    manifests, chart = documents(render.MANIFESTS), render_chart(*setting(prometheus__enabled=True))
    plain = [item for item in manifests if "kustomize" not in item["apiVersion"]]
    assert {name: one for name, one in pod_specs(chart).items() if not name.startswith("Pod ")} == pod_specs(plain)
    for item in plain:
        assert "helm" not in str(item["metadata"]["labels"]).lower()
        assert "namespace" not in item["metadata"]


@pytest.mark.parametrize(
    ("folder", "kinds"),
    [
        ("", {"Deployment": 3, "Service": 4, "ServiceAccount": 1}),
        ("pods", {"Deployment": 1, "Service": 2, "ServiceAccount": 1}),
        ("locust", {"Deployment": 2, "Service": 2}),
        ("monitoring", {"ServiceMonitor": 2, "PrometheusRule": 1}),
        (
            "prometheus",
            {"ConfigMap": 1, "Deployment": 1, "Role": 1, "RoleBinding": 1, "Service": 1, "ServiceAccount": 1},
        ),
        ("dashboards", {"ConfigMap": 2}),
    ],
)
def test_kustomize_builds(folder: str, kinds: dict[str, int], tmp_path: Path) -> None:
    """The kustomize of kubectl builds all of it and each component by itself; Kubernetes takes what comes out."""
    done = subprocess.run(
        [program("kubectl"), "kustomize", render.MANIFESTS / folder],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    items = list(yaml.safe_load_all(done.stdout))
    found = [item["kind"] for item in items]
    assert {kind: found.count(kind) for kind in found} == kinds
    for item in items:
        validate(item, VERSIONS[0])
    built = tmp_path / "built.yaml"
    built.write_text(done.stdout)
    assert conform([built], VERSIONS[0], tmp_path / "schemas") == ""


def test_the_version_is_that_of_the_package() -> None:
    """Chart, application and image tags follow the one version in the package."""
    from podscale import __version__

    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == __version__
    (pod,) = pod_specs(render_chart())["Deployment podscale"]["containers"]
    assert pod["image"] == f"podscale:{__version__}"
    tagged = only(render_chart(*setting(image__tag="mine")), "Deployment", "podscale")
    assert tagged["spec"]["template"]["spec"]["containers"][0]["image"] == "podscale:mine"


def test_prometheus_may_see_pods_in_the_namespace_of_a_kustomization(tmp_path: Path) -> None:
    """A kustomization with a namespace, as the guide has one, moves the account that has the right along."""
    folders = [os.path.relpath(render.MANIFESTS / name, tmp_path) for name in ("pods", "prometheus")]
    kustomization = {"kind": "Kustomization", "namespace": "shop", "components": folders}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    done = subprocess.run(
        [program("kubectl"), "kustomize", tmp_path], capture_output=True, text=True, check=True, timeout=60
    )
    (subject,) = only(list(yaml.safe_load_all(done.stdout)), "RoleBinding")["subjects"]
    assert subject == {"kind": "ServiceAccount", "name": "podscale-prometheus", "namespace": "shop"}


def _leaves(values: dict[str, Any], path: str = "") -> list[str]:
    found = []
    for key, value in values.items():
        found += _leaves(value, f"{path}{key}.") if isinstance(value, dict) and value else [f"{path}{key}"]
    return found
