"""The chart's autoscaler, driven by the cluster's own metrics."""

import time
from typing import Any

from tests.e2e.kubernetes.release import CHART, Release
from tests.processes import wait_until

# The target is 70 % of 50m: a pod that is kept busy is far above it, so that four pods are soon asked for.
AUTOSCALED = (
    "autoscaling.enabled=true",
    "autoscaling.maxReplicas=6",
    "resources.requests.cpu=50m",
    "resources.limits.cpu=250m",
)
# kube-controller-manager looks every 15 s, and metrics-server needs two readings of a new pod.
FIRST_METRICS_SECONDS = 90


def test_the_autoscaler_follows_the_load(release: Release) -> None:
    """From 1 pod to 4 within three minutes, always with known CPU use; an upgrade meanwhile lowers nothing."""
    release.install(*AUTOSCALED)
    wait_until(lambda: knows_the_use(release), FIRST_METRICS_SECONDS, "the first CPU use", every_seconds=1)
    seen: list[int] = []
    unknown: list[dict[str, Any]] = []

    def grown() -> bool:
        seen.append(release.replicas())
        if not knows_the_use(release):
            unknown.append(autoscaler(release)["status"])
        return seen[-1] >= 4

    with release.load(240, users=24) as report:
        begun = time.monotonic()
        wait_until(lambda: grown() or seen[-1] > 1, 180, "a second pod", every_seconds=1)
        release.helm("upgrade", release.name, str(CHART), "--reset-then-reuse-values")
        wait_until(grown, 180 - (time.monotonic() - begun), "4 pods", every_seconds=1)
        release.wait_until_settled()
        assert not report()["errors"]
    assert not unknown
    assert seen == sorted(seen)


def autoscaler(release: Release) -> dict[str, Any]:
    """The HorizontalPodAutoscaler as the API server has it."""
    (one,) = release.objects("horizontalpodautoscalers.autoscaling")
    return one


def knows_the_use(release: Release) -> bool:
    """Whether it has a reading of the pods' CPU, and says that it can scale by it."""
    status = autoscaler(release).get("status", {})
    conditions = {one["type"]: one["status"] for one in status.get("conditions", [])}
    return bool(status.get("currentMetrics")) and conditions.get("ScalingActive") == "True"
