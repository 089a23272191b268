"""The API server: reached as kubectl reaches it, or by the service account of the pod that the sweep runs in.

Paths and objects are Kubernetes' own, as JSON: https://kubernetes.io/docs/reference/using-api/api-concepts/. The
official client brings kubeconfig, contexts, credential plugins, certificates and tokens that are renewed. Its models
are left out: turning lists of pods into them costs more time than all the rest of a sweep.
"""

import email.utils
import json
import os
import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from podscale.sweep.targets import TargetError

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

Object = dict[str, Any]
Say = Callable[[str], None]

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
REQUEST_SECONDS = 10
# An API server that is restarted or moved is back sooner.
PATIENCE_SECONDS = 60.0
# One that was never heard of: a wrong context, or a tunnel that is not up.
FIRST_SECONDS = 10.0
RETRY_SECONDS = 1.0
# Of the API server itself: overloaded, or without its own storage. All are worth another try.
PASSING = frozenset({429, 500, 502, 503, 504})
MERGE_PATCH = "application/merge-patch+json"


class ApiError(TargetError):
    """The API server refused; `status` is HTTP's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class AwayError(TargetError):
    """No answer came from the API server. `slow`: it was reached, but did not answer in time."""

    def __init__(self, message: str, *, slow: bool = False) -> None:
        super().__init__(message)
        self.slow = slow


class Reply(msgspec.Struct, frozen=True):
    """An HTTP answer. Names of headers are in lower case."""

    status: int
    text: str
    headers: Mapping[str, str]


class Api:
    """One API server. `context` names it for people; `namespace` is the one that its context or pod has."""

    def __init__(
        self,
        client: "ApiClient",
        *,
        context: str,
        namespace: str,
        say: Say,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        self.context = context
        self.namespace = namespace
        self.patience_seconds = patience_seconds
        self._client = client
        self._say = say
        self._heard = False
        self._clock_ahead_seconds: float | None = None

    def get(self, path: str, **query: str) -> Object:
        """An object or a list; raises ApiError, or AwayError after `patience_seconds`."""
        return self._patiently("GET", path, query=query)

    def find(self, path: str, **query: str) -> Object | None:
        """As `get`, but None where there is no such object, or no such API in this cluster."""
        try:
            return self.get(path, **query)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def send(self, method: str, path: str, body: object, content_type: str = "application/json") -> Object:
        """Make or change an object; raises as `get` does."""
        return self._patiently(method, path, body=body, content_type=content_type)

    def once(self, method: str, path: str, *, body: object = None, headers: Mapping[str, str] | None = None) -> Reply:
        """One try, any status: for the proxies, behind which somebody else answers. Raises AwayError."""
        return self._request(method, path, body=body, headers=headers or {})

    def proxied(self, method: str, path: str, **given: Any) -> Reply:
        """As `once`, but an API server that is away is waited for. What is behind it is not."""
        deadline = time.monotonic() + self.patience_seconds
        while True:
            try:
                return self.once(method, path, **given)
            except AwayError as error:
                if error.slow or time.monotonic() >= deadline:
                    raise
            time.sleep(RETRY_SECONDS)

    def now(self) -> float:
        """Seconds since the epoch by the API server's clock, to a second: all who use it agree on that one."""
        if self._clock_ahead_seconds is None:
            self.get("/version")
        return time.time() + (self._clock_ahead_seconds or 0.0)

    def another_client(self) -> "ApiClient":
        """Another client of the same API server, for one that changes it."""
        from kubernetes.client import ApiClient  # noqa: PLC0415

        return ApiClient(self._client.configuration)

    def close(self) -> None:
        """Let connections go."""
        self._client.close()

    def _patiently(self, method: str, path: str, **given: Any) -> Object:
        patience_seconds = self.patience_seconds if self._heard else FIRST_SECONDS
        deadline = time.monotonic() + patience_seconds
        said = False
        while True:
            try:
                reply = self._request(method, path, **given)
                trouble = f"says {reply.status}"
            except AwayError as error:
                reply, trouble = None, str(error)
            if reply is not None and reply.status not in PASSING:
                return _object(reply, method, path)
            if time.monotonic() >= deadline:
                lasting = f", for {patience_seconds:.0f} s now" if patience_seconds else ""
                raise AwayError(f"the API server {trouble}{lasting}; is {self.context} up?")
            if not said:
                self._say(f"the API server {trouble}; trying for up to {patience_seconds:.0f} s")
                said = True
            time.sleep(RETRY_SECONDS)

    def _request(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        from urllib3.exceptions import HTTPError, ReadTimeoutError, SSLError  # noqa: PLC0415

        sent = {"Accept": "*/*", "Content-Type": content_type} | dict(headers or {})
        try:
            request = self._client.param_serialize(
                method,
                path,
                query_params=dict(query or {}),
                header_params=sent,
                body=body,
                auth_settings=["BearerToken"],
            )
            response = self._client.call_api(*request, _request_timeout=REQUEST_SECONDS)
            text = response.read().decode(errors="replace")
        except (HTTPError, OSError) as error:
            reason = getattr(error, "reason", None) or error
            if isinstance(reason, SSLError):
                raise TargetError(f"the API server's certificate does not do: {reason}") from error
            slow = isinstance(reason, ReadTimeoutError)
            said = f"does not answer within {REQUEST_SECONDS} s" if slow else f"does not answer: {_last_words(reason)}"
            raise AwayError(said, slow=slow) from error
        self._heard = True
        found = {name.lower(): value for name, value in response.headers.items()}
        self._set_clock(found.get("date"))
        return Reply(response.status, text, found)

    def _set_clock(self, date: str | None) -> None:
        if date is not None and self._clock_ahead_seconds is None:
            # The date is cut to whole seconds: half of one is the best guess for the rest.
            self._clock_ahead_seconds = email.utils.parsedate_to_datetime(date).timestamp() + 0.5 - time.time()


def connect(context: str | None, namespace: str | None, say: Say) -> Api:
    """The API server of a context, the current one by default; in a pod without kubeconfig that of its own cluster.

    Raises TargetError where there is neither.
    """
    try:
        from kubernetes import client, config  # noqa: PLC0415
        from urllib3 import Retry  # noqa: PLC0415
    except ImportError as error:
        raise TargetError("the library kubernetes is missing; pip install 'podscale[load,sweep]'") from error

    configuration = client.Configuration()
    # None of urllib3's own: a try is ours to count, and a redirect is Locust's login, not an address to go to.
    configuration.retries = Retry(total=0, redirect=0, raise_on_redirect=False)
    try:
        if context is None and in_cluster():
            config.load_incluster_config(client_configuration=configuration)
            own = (SERVICE_ACCOUNT / "namespace").read_text().strip()
            name = "the cluster of this pod"
        else:
            config.load_kube_config(context=context, client_configuration=configuration)
            _, current = config.list_kube_config_contexts()
            contexts = {each["name"]: each for each in config.list_kube_config_contexts()[0]}
            chosen = contexts[context] if context else current
            name, own = chosen["name"], chosen["context"].get("namespace") or "default"
    except (config.ConfigException, OSError, KeyError, TypeError) as error:
        raise TargetError(
            f"no cluster to be found: {' '.join(str(error).split())}; does `kubectl config get-contexts` show one?"
        ) from error
    opened = client.ApiClient(configuration)
    opened.rest_client.pool_manager.connection_pool_kw["ssl_context"] = _as_kubectl_checks(configuration.ssl_ca_cert)
    return Api(opened, context=name, namespace=namespace or own, say=say)


def _as_kubectl_checks(authority: str | None) -> ssl.SSLContext:
    """Certificates are verified, but not the form of the authority's own one, which Python does from 3.13 on.

    Many clusters have an authority without some extension: https://github.com/kubernetes-client/python/issues/2394.
    """
    from urllib3.util.ssl_ import create_urllib3_context  # noqa: PLC0415

    context = create_urllib3_context()
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if authority is None:
        context.load_default_certs()
    return context


def in_cluster() -> bool:
    """Whether this is a pod that is to speak to its own cluster."""
    return (
        not os.environ.get("KUBECONFIG")
        and bool(os.environ.get("KUBERNETES_SERVICE_HOST"))
        and (SERVICE_ACCOUNT / "token").is_file()
    )


def _last_words(reason: object) -> str:
    """Of a chain of errors, as urllib3 writes it, the one that began it."""
    return " ".join(str(reason).rpartition(": ")[2].split())[:200]


def _object(reply: Reply, method: str, path: str) -> Object:
    try:
        found: Object = json.loads(reply.text)
    except ValueError:
        found = {"message": reply.text[:200]}
    if 200 <= reply.status < 300:
        return found
    message = " ".join(str(found.get("message", "no reason given")).split())
    raise ApiError(reply.status, f"the API server refused {method} {path}: {message}")
