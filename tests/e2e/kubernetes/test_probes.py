"""Small limits and heavy load do not make Kubernetes restart a pod."""

from tests.e2e.kubernetes.release import Release

LIMIT_100M = ("resources.requests.cpu=50m", "resources.limits.cpu=100m")
# 50 ms of CPU for each request, and 100 ms a second to do it in.
CAPACITY_PER_SECOND = 2


def test_a_tenth_of_a_core_under_ten_times_its_load(release: Release) -> None:
    """A pod of 100m starts without a restart, and in two minutes of 10 x its capacity no probe fails."""
    release.install(*LIMIT_100M)
    assert restarts(release) == 0
    starting = unhealthy(release)
    report = release.stage(120, rate_per_second=10 * CAPACITY_PER_SECOND)
    assert report["requests"] > 10 * CAPACITY_PER_SECOND * 100
    assert report["errors"], "the load was not more than the pod could do"
    assert unhealthy(release) == starting, release.kubectl("get", "events")
    assert restarts(release) == 0


def restarts(release: Release) -> int:
    """How often the containers of the pods were started again."""
    return sum(container["restartCount"] for pod in release.pods() for container in pod["status"]["containerStatuses"])


def unhealthy(release: Release) -> list[str]:
    """What the kubelets said of failed probes of the pods."""
    names = {pod["metadata"]["name"] for pod in release.pods()}
    return [
        f"{event.get('count')} {event['message']}"
        for event in release.objects("events")
        if event["reason"] == "Unhealthy" and event["involvedObject"]["name"] in names
    ]
