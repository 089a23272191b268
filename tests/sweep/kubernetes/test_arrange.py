"""Tests of rearranging a Deployment, with a pretended API server; the real one is in tests/e2e/kubernetes."""

import copy
import json
from typing import Any

import pytest

from podscale.sweep.kubernetes.access import Object
from podscale.sweep.kubernetes.arrange import (
    GRACE_SECONDS,
    TEMPLATE_FOUND,
    KubernetesArranger,
    base_of,
    found_template,
    put_back,
)
from podscale.sweep.kubernetes.workload import Workload
from podscale.sweep.results import Budget
from podscale.sweep.targets import NotReachedError, TargetError
from podscale.sweep.topologies import TOPOLOGIES, Base
from tests.sweep.kubernetes.pretended import PATH, POD_SPEC, PretendedApi


class PretendedLease:
    """Always held; puts the size back."""

    def check(self) -> None:
        """Nothing is lost."""

    def restore(self, resize: Any) -> None:
        resize(3)


def workload(**changes: Any) -> Workload:
    """The Deployment as it is found."""
    fields: dict[str, Any] = {
        "namespace": "ns",
        "name": "shop",
        "uid": "u",
        "replicas": 3,
        "selector": "app=shop",
        "container": "pod",
        "pod_port": 8000,
        "admin_port": 9100,
        "service": "shop",
        "service_port": 8000,
        "labels": {},
        "template": POD_SPEC,
        "service_spec": {},
    }
    return Workload(**(fields | changes))


def arranger(api: PretendedApi, executed: list[tuple[str, str, list[str]]] | None = None) -> KubernetesArranger:
    """An arranger of the pretended Deployment; `executed` hears of commands."""

    def execute(pod: str, container: str, command: list[str]) -> str:
        if executed is None:
            raise NotReachedError("there is no right to pods/exec")
        executed.append((pod, container, command))
        return ""

    return KubernetesArranger(
        api,  # type: ignore[arg-type]  # pretended
        workload(),
        PretendedLease(),
        ready_seconds=0.5,
        cores_each=0.25,
        waits=lambda _: None,
        environment={},
        cores=4,
        execute=execute,
    )


def budget_of(name: str, size: int = 4) -> Budget:
    """The budget of a topology of this Deployment."""
    budget = TOPOLOGIES[name].budget(size, base_of(workload()))
    assert budget is not None
    return budget


def container(api: PretendedApi) -> Object:
    """The working container of the Deployment as it is now."""
    found: Object = api.deployment["spec"]["template"]["spec"]["containers"][0]
    return found


@pytest.mark.parametrize(
    ("name", "processes", "limit", "asked", "pods_of_memory"),
    [
        ("workers", (1, "4"), "1000m", "200m", 4),
        ("pods", (4, "1"), "250m", "50m", 1),
        ("pods-unlimited", (4, "1"), None, "50m", 1),
        ("pods-large", (2, "1"), "500m", "100m", 2),
    ],
)
def test_each_topology_is_a_template_and_a_size(
    name: str, processes: tuple[int, str], limit: str | None, asked: str, pods_of_memory: int
) -> None:
    """Pods and their processes, limit, request and memory follow the budget; the rest of the template stays."""
    replicas, workers = processes
    api = PretendedApi()
    assert arranger(api).arrange(budget_of(name)) is not None
    assert api.deployment["spec"]["replicas"] == replicas
    mine = container(api)
    assert mine["resources"]["limits"].get("cpu") == limit
    assert mine["resources"]["requests"]["cpu"] == asked
    assert float(mine["resources"]["limits"]["memory"]) == pods_of_memory * 256 * 2**20
    env = {each["name"]: each["value"] for each in mine["env"]}
    assert env == {"PODSCALE_WORKERS": workers, "PODSCALE_LOG_LEVEL": "info", "PODSCALE_OFFLOAD_PROCESSES": "1"}
    pod = api.deployment["spec"]["template"]["spec"]
    assert pod["containers"][1] == POD_SPEC["containers"][1]
    assert pod["terminationGracePeriodSeconds"] == GRACE_SECONDS
    assert pod["shareProcessNamespace"] is True


def test_the_template_that_was_found_is_put_back_exactly() -> None:
    """After all topologies: template, size and the other annotations are what they were."""
    api = PretendedApi()
    before = copy.deepcopy(api.deployment)
    target = arranger(api)
    for name in TOPOLOGIES:
        target.arrange(budget_of(name))
        assert found_template(api.deployment) == before["spec"]["template"]
    target.close()
    assert api.deployment == before


def test_a_killed_comparison_can_be_undone() -> None:
    """Nothing was closed: another process finds the template in the annotation and puts it back, once."""
    api = PretendedApi()
    before = copy.deepcopy(api.deployment["spec"]["template"])
    arranger(api).arrange(budget_of("workers"))
    assert json.loads(api.deployment["metadata"]["annotations"][TEMPLATE_FOUND]) == before
    assert put_back(api, PATH) is True  # type: ignore[arg-type]  # pretended
    assert api.deployment["spec"]["template"] == before
    assert put_back(api, PATH) is False  # type: ignore[arg-type]


def test_what_stands_is_not_arranged_again() -> None:
    """The same budget twice: nothing starts, so there is no time."""
    target = arranger(PretendedApi())
    assert target.arrange(budget_of("pods")) is not None
    assert target.arrange(budget_of("pods")) is None


def test_pods_that_got_another_limit_are_no_comparison() -> None:
    """A LimitRange makes 200m of 250m: the stage is not reached, with both figures."""
    api = PretendedApi()
    api.limit = "200m"
    with pytest.raises(NotReachedError, match=r"1 cores and shop-0 0\.8"):
        arranger(api).arrange(budget_of("pods"))
    with pytest.raises(NotReachedError, match=r"CPU limit of 0\.2"):
        arranger(api).arrange(budget_of("pods-unlimited"))


def test_a_pod_is_killed_from_within_and_whole_when_it_was_started_again() -> None:
    """SIGKILL to the process that answers; whole once its container has restarted and is in the Service."""
    api, executed = PretendedApi(), list[tuple[str, str, list[str]]]()
    target = arranger(api, executed)
    target.arrange(budget_of("pods"))
    assert target.kill_one() == "shop-0"
    assert executed == [("shop-0", "pod", ["/bin/sh", "-c", "kill -9 17"])]
    assert not target.whole()
    api.restarts, api.serves = 1, False
    assert not target.whole()
    api.serves = True
    assert target.whole()


def test_a_worker_is_whole_when_its_supervisor_has_replaced_it() -> None:
    """The pod itself stays: its count of lost workers tells."""
    api, executed = PretendedApi(), list[tuple[str, str, list[str]]]()
    target = arranger(api, executed)
    target.arrange(budget_of("workers"))
    assert target.kill_one() == "worker 17 of shop-0"
    assert not target.whole()
    api.workers_lost = 1
    assert target.whole()


def test_without_the_right_to_exec_nothing_is_killed() -> None:
    """The reason comes back, the comparison goes on."""
    target = arranger(PretendedApi())
    target.arrange(budget_of("pods"))
    with pytest.raises(NotReachedError, match="pods/exec"):
        target.kill_one()


def test_the_base_is_the_limit_or_else_the_request() -> None:
    """250m as limited; without a limit the request of 50m is what is divided; memory as limited."""
    assert base_of(workload()) == Base(cpu_cores=0.25, memory_bytes=256 * 2**20, quota=True)
    unlimited = copy.deepcopy(POD_SPEC)
    del unlimited["containers"][0]["resources"]["limits"]
    assert base_of(workload(template=unlimited)) == Base(cpu_cores=0.05, memory_bytes=None, quota=True)


def test_a_deployment_that_cannot_be_divided_is_refused() -> None:
    """Without a CPU figure, or with pods that are not ours: a sentence that says what to do."""
    bare = copy.deepcopy(POD_SPEC)
    del bare["containers"][0]["resources"]
    with pytest.raises(TargetError, match=r"resources\.limits\.cpu"):
        base_of(workload(template=bare))
    with pytest.raises(TargetError, match="no Deployment of podscale's pods"):
        base_of(workload(admin_port=None))
