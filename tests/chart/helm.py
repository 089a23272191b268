"""Runs helm on the chart, without a cluster."""

import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.programs import program

CHECKOUT = Path(__file__).parents[2]
CHART = CHECKOUT / "helm" / "podscale"
CI_FILES = sorted((CHART / "ci").glob("*-values.yaml"))

# An object as Kubernetes has it: nested texts, numbers, lists.
Object = dict[str, Any]


def render(*options: str, release: str = "podscale") -> list[Object]:
    """The objects of a release, helm's tests included. `options` are those of `helm template`."""
    return [item for item in yaml.safe_load_all(render_text(*options, release=release)) if item]


def with_values(name: str) -> tuple[str, str]:
    """The options that use one of the chart's ci files: limited is ci/limited-values.yaml."""
    return ("--values", str(CHART / "ci" / f"{name}-values.yaml"))


def setting(**values: object) -> tuple[str, ...]:
    """The options that set values; `__` stands for a dot: image__tag=1 is `--set image.tag=1`."""
    return tuple(f"--set={name.replace('__', '.')}={_literal(value)}" for name, value in values.items())


@cache
def render_text(*options: str, release: str = "podscale") -> str:
    """What `helm template` prints; AssertionError with its words if it refuses."""
    done = run("template", release, str(CHART), *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refusal(*options: str) -> str:
    """What helm says when it refuses; AssertionError if it does not."""
    done = run("template", "podscale", str(CHART), *options)
    assert done.returncode != 0, f"{options} were accepted"
    return " ".join(done.stderr.split())


def notes(*options: str, release: str = "podscale", namespace: str = "default") -> str:
    """What people read after an install."""
    done = run("install", release, str(CHART), "--dry-run=client", "--namespace", namespace, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("NOTES:")[2]


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """One call of helm, far from the user's own configuration."""
    return subprocess.run(
        [program("helm"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"HOME": "/nonexistent", "KUBECONFIG": os.devnull},
    )


def of_kind(objects: list[Object], kind: str, name: str | None = None) -> list[Object]:
    """Those of a kind, of a name too if one is given."""
    return [item for item in objects if item["kind"] == kind and name in {None, item["metadata"]["name"]}]


def only(objects: list[Object], kind: str, name: str | None = None) -> Object:
    """The one of a kind (and a name)."""
    (found,) = of_kind(objects, kind, name)
    return found


def pod_specs(objects: list[Object]) -> dict[str, Object]:
    """The pods' specifications, by kind and name of what makes them."""
    return {
        f"{item['kind']} {item['metadata']['name']}": item["spec"] if item["kind"] == "Pod" else _template(item)["spec"]
        for item in objects
        if item["kind"] in {"Deployment", "Job", "Pod"}
    }


def pod_labels(objects: list[Object]) -> dict[str, dict[str, str]]:
    """The pods' labels, by kind and name of what makes them."""
    return {
        f"{item['kind']} {item['metadata']['name']}": (item if item["kind"] == "Pod" else _template(item))["metadata"][
            "labels"
        ]
        for item in objects
        if item["kind"] in {"Deployment", "Job", "Pod"}
    }


def container(objects: list[Object], kind: str, name: str) -> Object:
    """The only container of what makes pods."""
    (found,) = pod_specs(objects)[f"{kind} {name}"]["containers"]
    return dict(found)


def _template(item: Object) -> Object:
    return dict(item["spec"]["template"])


def _literal(value: object) -> object:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else value
