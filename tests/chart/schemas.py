"""Holds objects against the schemas of Kubernetes, offline, with two tools that read them in different ways."""

import json
import subprocess
from functools import cache
from importlib.resources import files
from pathlib import Path

import kubernetes_validate
import yaml

from tests.chart.helm import Object
from tests.cluster.programs import program

# The oldest that the chart allows, and the one of the test cluster.
VERSIONS = ("1.30", "1.35")
# Kubernetes has no schema for these: they are the Prometheus operator's. What they must say, test_contract.py asserts.
FOREIGN = ("PrometheusRule", "ServiceMonitor")

_DEFINITIONS = "_definitions.json"


def validate(item: Object, version: str) -> None:
    """Strict: a field that the schema does not know raises ValidationError."""
    if item["kind"] not in FOREIGN:
        _validate(json.dumps(item), version)


def conform(manifests: list[Path], version: str, folder: Path) -> str:
    """What kubeconform objects to in these files, a line for each fault; empty if nothing. `folder` is for schemas."""
    location = folder / version
    _write_schemas({item["kind"] for path in manifests for item in _objects(path)}, version, location)
    done = subprocess.run(
        [
            program("kubeconform"),
            "-strict",
            f"-skip={','.join(FOREIGN)}",
            f"-schema-location={location}/{{{{.ResourceKind}}}}{{{{.KindSuffix}}}}.json",
            *manifests,
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return (done.stdout + done.stderr).strip()


def documents(folder: Path) -> list[Object]:
    """All objects in the YAML files of a folder."""
    return [item for path in sorted(folder.rglob("*.yaml")) for item in _objects(path)]


@cache
def _validate(text: str, version: str) -> None:
    """Objects that many files render alike are validated once."""
    kubernetes_validate.validate(json.loads(text), version, strict=True)


def _objects(path: Path) -> list[Object]:
    return [item for item in yaml.safe_load_all(path.read_text()) if item]


def _write_schemas(kinds: set[str], version: str, location: Path) -> None:
    """Write kubernetes-validate's schemas with references that lead to files: theirs are to a place on a server."""
    source = files("kubernetes_validate") / "kubernetes-json-schema" / f"v{version}.0-local-strict"
    location.mkdir(parents=True, exist_ok=True)
    wanted = {_DEFINITIONS} | {kind.lower() for kind in kinds}
    for schema in source.iterdir():
        if schema.name.partition("-")[0] not in wanted:
            continue
        text = schema.read_text(encoding="utf-8").replace(f'"/api/{_DEFINITIONS}', f'"{_DEFINITIONS}')
        content = json.loads(text)
        content.pop("$id", None)
        (location / schema.name).write_text(json.dumps(content))
