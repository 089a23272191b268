"""A pretended API server with one Deployment, for tests of what is sent to it."""

import copy
from typing import Any

from podscale import contract
from podscale.sweep.kubernetes.access import Object, Reply

PATH = "/apis/apps/v1/namespaces/ns/deployments/shop"
POD_SPEC: Object = {
    "terminationGracePeriodSeconds": 48,
    "containers": [
        {
            "name": "pod",
            "env": [{"name": "PODSCALE_WORKERS", "value": "1"}, {"name": "PODSCALE_LOG_LEVEL", "value": "info"}],
            "resources": {
                "requests": {"cpu": "50m", "memory": "64Mi"},
                "limits": {"cpu": "250m", "memory": "256Mi"},
            },
        },
        {"name": "mesh", "resources": {"limits": {"cpu": "1"}}},
    ],
}


class PretendedApi:
    """One Deployment whose pods are ready at once. `limit` is what pods get, as a LimitRange would make it."""

    namespace = "ns"

    def __init__(self) -> None:
        self.deployment: Object = {
            "metadata": {"generation": 1, "annotations": {"mine": "kept"}},
            "spec": {"replicas": 3, "template": {"metadata": {"labels": {"app": "shop"}}, "spec": POD_SPEC}},
        }
        self.restarts = 0
        self.workers_lost = 0
        self.serves = True
        self.limit: str | None = None

    def get(self, path: str, **query: str) -> Object:
        del query
        if path == PATH:
            replicas = self.deployment["spec"]["replicas"]
            return self.deployment | {"status": {"observedGeneration": 99, "updatedReplicas": replicas}}
        if path.endswith("/pods"):
            return {"items": self.pods()}
        names = [pod["metadata"]["name"] for pod in self.pods()] if self.serves else []
        return {"items": [{"endpoints": [{"addresses": ["x"], "targetRef": {"name": name}} for name in names]}]}

    def find(self, path: str, **query: str) -> Object | None:
        return self.get(path, **query)

    def pods(self) -> list[Object]:
        spec = copy.deepcopy(self.deployment["spec"]["template"]["spec"])
        if self.limit is not None:
            spec["containers"][0]["resources"]["limits"]["cpu"] = self.limit
        status = {
            "conditions": [{"type": "Ready", "status": "True"}],
            "containerStatuses": [{"restartCount": self.restarts}],
        }
        return [
            {"metadata": {"name": f"shop-{n}", "uid": f"uid-{n}"}, "spec": spec, "status": status}
            for n in range(self.deployment["spec"]["replicas"])
        ]

    def send(self, method: str, path: str, body: Any, content_type: str = "application/json") -> Object:
        assert method == "PATCH"
        if content_type.startswith("application/json-patch"):
            self._json_patch(body)
        elif path.endswith("/scale"):
            self.deployment["spec"]["replicas"] = body["spec"]["replicas"]
        else:
            self.deployment = strategic(self.deployment, body)
        return self.deployment

    def proxied(self, method: str, path: str, **given: Any) -> Reply:
        del method, given
        pod = path.split("/pods/")[1].partition(":")[0]
        workers = f"{contract.WORKERS_LOST} {self.workers_lost}\n"
        text = f"{contract.IN_PROGRESS} 0\n{workers}" if path.endswith(contract.METRICS) else ""
        return Reply(200, text, {contract.POD_HEADER.lower(): pod, contract.PROCESS_HEADER.lower(): "17"})

    def _json_patch(self, changes: list[Object]) -> None:
        for change in changes:
            *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in change["path"].split("/")[1:]]
            place = self.deployment
            for parent in parents:
                place = place[parent]
            if change["op"] == "remove":
                del place[last]
            else:
                place[last] = change["value"]


def strategic(before: Any, patch: Any) -> Any:
    """A strategic merge as the API server does it: maps merge, null deletes, lists of named things merge by name."""
    if isinstance(patch, dict) and isinstance(before, dict):
        merged = {key: strategic(before.get(key), value) for key, value in patch.items() if value is not None}
        return {key: value for key, value in before.items() if key not in patch} | merged
    if isinstance(patch, list) and isinstance(before, list):
        mine = {each["name"]: each for each in patch}
        kept = [strategic(each, mine.pop(each["name"])) if each["name"] in mine else each for each in before]
        return kept + list(mine.values())
    if isinstance(patch, dict):
        return {key: strategic(None, value) for key, value in patch.items() if value is not None}
    return patch
