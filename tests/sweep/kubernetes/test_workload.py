"""Tests of finding the Deployment, its Service and port."""

from typing import Any

import pytest

from podscale.sweep.kubernetes.workload import find, find_alone, selector, serving
from podscale.sweep.targets import TargetError
from tests.sweep.kubernetes.cluster import deployment, pretended, service

DEPLOYMENT = "/apis/apps/v1/namespaces/here/deployments/shop"
SERVICES = "/api/v1/namespaces/here/services"


def test_the_service_that_selects_the_pods_is_found() -> None:
    """Headless ones and those of others are left out; name, port and the pod's port follow."""
    with pretended() as (cluster, api, _):
        cluster.objects[DEPLOYMENT] = deployment(resources={"limits": {"cpu": "250m"}, "requests": {"cpu": "0.1"}})
        others = [service("headless", clusterIP="None"), service("other", selector={"app": "else"})]
        cluster.objects[SERVICES] = {"items": [*others, service()]}
        found = find(api, deployment="shop")
        assert (found.service, found.service_port, found.pod_port, found.admin_port) == ("shop", 80, 8080, None)
        assert found.url == "http://shop.here.svc.cluster.local.:80"
        assert found.cpu_limit_cores(found.template) == 0.25
        assert found.resources(found.template, "requests", "cpu") == 0.1
        assert found.resources(found.template, "limits", "memory") is None


def test_a_deployment_needs_no_service_to_be_looked_at() -> None:
    """Found alone, with its admin port where its pods are podscale's; no URL is claimed."""
    ours: dict[str, Any] = {
        "ports": [{"name": "admin", "containerPort": 9100}],
        "env": [{"name": "PODSCALE_PORT", "value": "1"}],
    }
    with pretended() as (cluster, api, _):
        cluster.objects[DEPLOYMENT] = deployment(**ours)
        found = find_alone(api, deployment="shop")
        assert (found.container, found.admin_port, found.selector) == ("web", 9100, "app=shop")
        assert (found.service, found.pod_port) == ("", None)
        assert ("GET", SERVICES) not in cluster.asked


@pytest.mark.parametrize(
    ("items", "options", "words"),
    [
        ([], {}, "no Service selects the pods of shop; name the one that takes the load with --service"),
        ([service(), service("twin")], {}, "several Services select the pods of shop: shop, twin"),
        ([service(ports=[{"port": 1}, {"port": 2}])], {}, "--port: Service shop has the ports 1, 2"),
        ([service()], {"port": 7}, "--port: Service shop has the ports 80"),
        ([service()], {"container": "none"}, "--container: shop has no container none; it has web"),
        ([service()], {"service": "none"}, "--service: there is no Service none"),
    ],
)
def test_what_is_not_clear_is_asked_for(items: list[Any], options: dict[str, Any], words: str) -> None:
    """Each with the flag that answers it."""
    with pretended() as (cluster, api, _):
        cluster.objects[DEPLOYMENT] = deployment()
        cluster.objects[SERVICES] = {"items": items}
        with pytest.raises(TargetError, match=words):
            find(api, deployment="shop", **options)


def test_only_ready_endpoints_take_requests() -> None:
    """Of all slices; ready that is absent means ready."""
    with pretended() as (cluster, api, _):
        cluster.objects[DEPLOYMENT], cluster.objects[SERVICES] = deployment(), {"items": [service()]}
        endpoints = [
            {"addresses": ["1"], "conditions": {"ready": True}, "targetRef": {"name": "a"}},
            {"addresses": ["2"], "conditions": {"ready": False}, "targetRef": {"name": "b"}},
            {"addresses": ["3"], "conditions": {}, "targetRef": {"name": "c"}},
        ]
        slices = {"items": [{"endpoints": endpoints[:1]}, {"endpoints": endpoints[1:]}, {"endpoints": None}]}
        cluster.objects["/apis/discovery.k8s.io/v1/namespaces/here/endpointslices"] = slices
        assert serving(api, find(api, deployment="shop")) == {"a", "c"}


def test_selectors_are_written_as_the_api_takes_them() -> None:
    """Labels and all four kinds of expressions."""
    rules = [
        {"key": "a", "operator": "In", "values": ["1", "2"]},
        {"key": "b", "operator": "NotIn", "values": ["3"]},
        {"key": "c", "operator": "Exists"},
        {"key": "d", "operator": "DoesNotExist"},
    ]
    assert selector({"matchLabels": {"app": "x"}, "matchExpressions": rules}) == "app=x,a in (1,2),b notin (3),c,!d"
