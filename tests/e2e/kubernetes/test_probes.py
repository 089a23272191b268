"""Small limits and heavy load do not make Kubernetes restart a pod."""

from tests.e2e.kubernetes.conftest import CAPACITY_PER_SECOND, OVERLOADED_SECONDS, Overload
from tests.e2e.kubernetes.release import FINAL_STATES, Release
from tests.processes import wait_until


def test_a_tenth_of_a_core_under_ten_times_its_load(overload: Overload) -> None:
    """A pod of 100m starts without a restart, and in two minutes of 10 x its capacity no probe fails."""
    release, report = overload
    wait_until(lambda: report()["state"] in FINAL_STATES, OVERLOADED_SECONDS + 60, "the end of the stage", 1)
    measured = report()
    assert measured["requests"] > 10 * CAPACITY_PER_SECOND * OVERLOADED_SECONDS * 0.9
    assert measured["errors"], "the load was not more than the pod could do"
    (pod,) = release.pods()
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 0
    assert set(unhealthy(release, pod["metadata"]["name"])) <= {"Startup"}


def unhealthy(release: Release, pod: str) -> list[str]:
    """Which probes of a pod have failed. The startup probe asks from the first moment, before a pod can answer."""
    return [
        event["message"].partition(" ")[0]
        for event in release.objects("events")
        if event["reason"] == "Unhealthy" and event["involvedObject"]["name"] == pod
    ]
