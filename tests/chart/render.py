"""Writes what is made from the chart and for it: its README, k8s/, dashboards and rules. `make render` runs it."""

import os
import re
import subprocess
from pathlib import Path

import yaml

from monitoring import render as monitoring
from tests.chart.helm import CHART, CHECKOUT, Object, render_text, setting
from tests.cluster.programs import program

MANIFESTS = CHECKOUT / "k8s"
README = CHART / "README.md"

_HEAD = "# Made from helm/podscale by `make render`; not to be edited.\n"
# What says that Helm keeps an object, which is not so here.
_HELMS_LABELS = re.compile(r"^ +(helm\.sh/chart|app\.kubernetes\.io/managed-by): .*\n", re.MULTILINE)
_COMPONENTS = {
    "pods": "The pods, their Service and their metrics.",
    "locust": "Locust beside them: its page, its workers. Needs pods.",
    "monitoring": "For a Prometheus operator, which must be there. Needs pods.",
    "prometheus": "Without an operator: a small Prometheus. Needs pods, and a kustomization that names the namespace.",
    "dashboards": "For a Grafana whose sidecar looks for their label. Needs monitoring or prometheus.",
}
_ROOT = """\
{head}# kubectl apply --kustomize k8s/ applies pods and Locust; the other folders go by themselves too.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
components:
  - pods
  - locust
"""
_COMPONENT = """\
{head}# {what}
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
resources:
{resources}
"""


def main() -> None:
    """Write all, and remove manifests that are no more. The chart's own files first: the rest is made from them."""
    for make in (monitoring.made, made):
        for path, text in make().items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in superfluous():
        path.unlink()


def made() -> dict[Path, str]:
    """What should stand in which file."""
    return {README: readme()} | manifests() | monitoring.made()


def superfluous() -> list[Path]:
    """Files in k8s/ that nothing makes."""
    return sorted(set(MANIFESTS.rglob("*.yaml")) - manifests().keys())


def readme() -> str:
    """The chart's README: a table of the values from the comments in values.yaml."""
    done = subprocess.run(
        [program("helm-docs"), "--dry-run", "--sort-values-order=file", f"--chart-search-root={CHART}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        cwd=CHART,
        env=os.environ,
    )
    return done.stdout.strip() + "\n"


def manifests() -> dict[Path, str]:
    """The objects of a release named podscale, one in a file, in folders that are components of kustomize."""
    on = ("serviceMonitor", "prometheusRule", "prometheus", "dashboards")
    monitored = setting(**{f"{name}__enabled": True for name in on})
    texts: dict[Path, str] = {}
    for document in re.split(r"^---\n", render_text("--skip-tests", *monitored), flags=re.MULTILINE):
        item = yaml.safe_load(document)
        if item:
            name = f"{item['kind'].lower()}-{item['metadata']['name']}.yaml"
            text = re.sub(r"^# Source: .*\n", "", document, flags=re.MULTILINE)
            texts[MANIFESTS / _component(item) / name] = _HEAD + _HELMS_LABELS.sub("", text).strip() + "\n"
    for component, what in _COMPONENTS.items():
        resources = "\n".join(f"  - {path.name}" for path in sorted(texts) if path.parent.name == component)
        kustomization = _COMPONENT.format(head=_HEAD, what=what, resources=resources)
        texts[MANIFESTS / component / "kustomization.yaml"] = kustomization
    texts[MANIFESTS / "kustomization.yaml"] = _ROOT.format(head=_HEAD)
    return texts


def _component(item: Object) -> str:
    if item["kind"] in {"ServiceMonitor", "PrometheusRule"}:
        return "monitoring"
    component: str = item["metadata"]["labels"]["app.kubernetes.io/component"]
    return {"pod": "pods", "prometheus": "prometheus", "dashboard": "dashboards"}.get(component, "locust")


if __name__ == "__main__":
    main()
