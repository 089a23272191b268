"""Keeps a result in a ConfigMap, for a sweep that runs in a pod whose files go with it."""

import base64
import gzip

import msgspec

from podscale.sweep.kubernetes.access import Api, ApiError
from podscale.sweep.results import Result
from podscale.sweep.targets import TargetError

KEY = "result.json.gz"
# A ConfigMap holds 1 MiB, as base64: https://kubernetes.io/docs/concepts/configuration/configmap/. A stage takes about
# 2 KiB of it, most of that its histogram.
MOST_BYTES = 1_000_000


def keep(api: Api, name: str, result: Result) -> None:
    """Write it as it is now. Where it is too large the histograms are left out: all other figures are kept."""
    data = _packed(result)
    if len(data) > MOST_BYTES:
        bare = [msgspec.structs.replace(stage, latency_histogram=None) for stage in result.stages]
        data = _packed(msgspec.structs.replace(result, stages=bare))
    path = f"/api/v1/namespaces/{api.namespace}/configmaps"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "binaryData": {KEY: data}}
    try:
        api.send("PUT", f"{path}/{name}", body)
    except ApiError as error:
        if error.status != 404:
            raise
        api.send("POST", path, body)


def fetch(api: Api, name: str) -> bytes:
    """The result's JSON; raises TargetError where there is none."""
    found = api.find(f"/api/v1/namespaces/{api.namespace}/configmaps/{name}")
    if found is None or KEY not in found.get("binaryData", {}):
        raise TargetError(
            f"no result in ConfigMap {name} of namespace {api.namespace}; a Job writes it after its first stage, and "
            "the Job has the same name: kubectl get jobs"
        )
    return gzip.decompress(base64.b64decode(found["binaryData"][KEY]))


def _packed(result: Result) -> str:
    return base64.b64encode(gzip.compress(msgspec.json.encode(result))).decode()
