"""A small API server in this process: objects in a table, and the client's real requests over HTTP."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kubernetes.client import ApiClient, Configuration

from podscale.sweep.kubernetes.access import Api, Object

Handler = Callable[[str, str, Object | None], tuple[int, Object | str]]


class Pretended:
    """Answers by path; `objects` are read and written as they are, `handlers` come first."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {"/version": {"gitVersion": "v1.35.0"}}
        self.handlers: dict[str, Handler] = {}
        self.asked: list[tuple[str, str]] = []
        self.version = 1

    def answer(self, method: str, path: str, body: Object | None) -> tuple[int, Object | str]:
        """Status and body."""
        self.asked.append((method, path))
        if path in self.handlers:
            return self.handlers[path](method, path, body)
        if method == "POST" and body is not None:
            path = f"{path}/{body['metadata']['name']}"
            if path in self.objects:
                return 409, {"message": f"{path} exists"}
            self.objects[path] = body
        elif path not in self.objects:
            return 404, {"message": f"{path} not found"}
        elif method == "DELETE":
            return 200, self.objects.pop(path)
        elif method == "PUT" and body is not None:
            self.objects[path] = body
        elif method == "PATCH" and body is not None:
            _merge(self.objects[path], body)
        if method != "GET":
            self.version += 1
            self.objects[path]["metadata"]["resourceVersion"] = str(self.version)
        return 200, self.objects[path]


@contextlib.contextmanager
def pretended(patience_seconds: float = 3.0) -> Iterator[tuple[Pretended, Api, list[str]]]:
    """The server, the API that reaches it, and what was said to the user meanwhile."""
    cluster, said = Pretended(), list[str]()

    class Answering(BaseHTTPRequestHandler):
        """One request."""

        def handle_any(self) -> None:
            """Whatever the method."""
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, answer = cluster.answer(self.command, self.path.partition("?")[0], body)
            data = (answer if isinstance(answer, str) else json.dumps(answer)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815  # names of the base class

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name of the base class
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    configuration = Configuration(host=f"http://127.0.0.1:{server.server_port}")
    configuration.retries = 0
    client = ApiClient(configuration)
    try:
        yield (
            cluster,
            Api(client, context="pretended", namespace="here", say=said.append, patience_seconds=patience_seconds),
            said,
        )
    finally:
        client.close()
        server.shutdown()
        server.server_close()


def pod(name: str, *, ready: bool = True, **changes: Any) -> Object:
    """A pod, Ready on node1."""
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": {"app": "shop"}} | changes.pop("metadata", {}),
        "spec": {"nodeName": "node1", "containers": [{"name": "web", "image": "web:1"}]},
        "status": status | changes.pop("status", {}),
    }


def deployment(name: str = "shop", replicas: int = 1, **container: Any) -> Object:
    """A Deployment of one container, as new as its controller has seen it."""
    web = {"name": "web", "image": "web:1", "ports": [{"name": "web", "containerPort": 8080}]} | container
    return {
        "metadata": {"name": name, "uid": "uid", "generation": 1, "resourceVersion": "7"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [web]}},
        },
        "status": {"observedGeneration": 1, "updatedReplicas": replicas},
    }


def service(name: str = "shop", **spec: Any) -> Object:
    """A Service in front of it."""
    base = {"selector": {"app": "shop"}, "clusterIP": "198.19.0.9", "ports": [{"port": 80, "targetPort": "web"}]}
    return {"metadata": {"name": name}, "spec": base | spec}


def _merge(target: Object, change: Object) -> None:
    for key, value in change.items():
        if isinstance(value, dict):
            _merge(target.setdefault(key, {}), value)
        else:
            target[key] = value
