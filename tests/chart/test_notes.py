"""What people read after an install: the next commands, and warnings where a choice hurts."""

import pytest

from tests.chart.helm import notes, setting, with_values

PODS = "app.kubernetes.io/instance=demo,app.kubernetes.io/component=pod"


def test_the_next_commands_in_order() -> None:
    """Wait, open the page, scale, watch, check; with the names of this release and its namespace."""
    text = notes(release="demo", namespace="lab")
    commands = [line.strip() for line in text.splitlines() if line.startswith("   ")]
    assert commands == [
        "kubectl --namespace lab rollout status deployment/demo-podscale",
        "kubectl --namespace lab port-forward service/demo-podscale-locust 8089",
        "kubectl --namespace lab scale deployment/demo-podscale --replicas=4",
        f"kubectl --namespace lab get pods --watch --selector {PODS}",
        "helm --namespace lab test demo",
    ]
    assert "WARNING" not in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (with_values("replicas"), "replicaCount is 3"),
        (with_values("autoscaling"), "do not use `kubectl scale`"),
        (with_values("autoscaling"), "has no metrics API"),
        (
            setting(autoscaling__enabled=True, resources__requests__cpu="1500m"),
            "waits for 1.05 cores per pod, but a pod uses at most 1.00",
        ),
        (
            (
                *with_values("limited"),
                *setting(autoscaling__enabled=True, autoscaling__targetCPUUtilizationPercentage=95),
            ),
            "waits for 0.24 cores per pod, but a pod uses at most 0.25",
        ),
        (setting(serviceMonitor__enabled=True), "the ServiceMonitor has no labels"),
        (with_values("disruption-budget"), "minAvailable=50%"),
        (setting(locust__service__type="NodePort"), "has no login"),
        (setting(locust__worker__resources__limits__cpu="1"), "throttles the ruler"),
        (with_values("network-policy"), "where the network plugin enforces them"),
    ],
)
def test_warnings(options: tuple[str, ...], words: str) -> None:
    """Each choice that hurts is named, and is not by default."""
    assert words.lower() in notes(*options).lower()
    assert words.lower() not in notes().lower()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (with_values("login"), "has no login"),
        (with_values("monitoring"), "has no labels"),
        (with_values("autoscaling"), "cores per pod"),
        (with_values("autoscaling"), "replicaCount is"),
    ],
)
def test_no_warning_where_it_is_in_order(options: tuple[str, ...], words: str) -> None:
    """A warning that is always there is not read."""
    assert words not in notes(*options)


def test_what_is_said_without_a_page() -> None:
    """A headless run points to its log, no Locust to a load from inside, an autoscaler to itself."""
    assert "logs --follow" in notes(*with_values("headless"))
    assert "8089" not in notes(*with_values("headless"))
    assert "reaches one pod only" in notes(*with_values("no-locust"))
    scaled = notes(*with_values("autoscaling"))
    assert "get hpa/podscale --watch" in scaled
    assert "--replicas=4" not in scaled
