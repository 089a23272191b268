"""Why a request failed: one table over what the HTTP clients raise, and the status."""

import errno
from collections.abc import Iterator

from podscale.contract import ErrorClass

# By errno first: out of ports and out of files come as a bare OSError. The generator's own limits are not the server's.
BY_ERRNO: dict[int, ErrorClass] = {
    errno.EADDRNOTAVAIL: "client",
    errno.EADDRINUSE: "client",
    errno.EMFILE: "client",
    errno.ENFILE: "client",
    errno.ENOBUFS: "client",
    errno.ENOMEM: "client",
    errno.ETIMEDOUT: "timeout",
    errno.ECONNREFUSED: "refused",
    errno.ECONNRESET: "reset",
    errno.ECONNABORTED: "reset",
    errno.EPIPE: "reset",
}

# By the name of an exception's class or of one it derives from. Names, because the classes of requests, urllib3,
# gevent and geventhttpclient cannot be imported where none of them is installed.
BY_NAME: dict[str, ErrorClass] = {
    "gaierror": "dns",
    "NameResolutionError": "dns",
    "TimeoutError": "timeout",
    "Timeout": "timeout",
    "ConnectionRefusedError": "refused",
    "ConnectionResetError": "reset",
    "ConnectionAbortedError": "reset",
    "BrokenPipeError": "reset",
    "HTTPConnectionClosed": "reset",
    "EmptyResponse": "reset",
    "RemoteDisconnected": "reset",
    "IncompleteRead": "reset",
}


def classify(exception: BaseException | None, status: int) -> ErrorClass | None:
    """The class of a failure, None for a good answer.

    Args:
        exception: what the client raised or the locustfile set; None is good, whatever the status is.
        status: of the answer, 0 where there was none.
    """
    if exception is None:
        return None
    if status >= 500:
        return "http_5xx"
    if status >= 400:
        return "http_4xx"
    return next(filter(None, map(_of_one, _causes(exception))), "other")


def _of_one(exception: BaseException) -> ErrorClass | None:
    if isinstance(exception, OSError) and exception.errno in BY_ERRNO:
        return BY_ERRNO[exception.errno]
    names = (kind.__name__ for kind in type(exception).__mro__)
    return next((BY_NAME[name] for name in names if name in BY_NAME), None)


def _causes(exception: BaseException) -> Iterator[BaseException]:
    """The exception and all it wraps: by Python's own means, as an argument, or as the clients do it.

    urllib3 keeps a `reason`, geventhttpclient an `original`.
    """
    waiting, seen = [exception], set()
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        wrapped = [
            one.__cause__,
            one.__context__,
            *one.args,
            *(getattr(one, name, None) for name in ("reason", "original")),
        ]
        waiting += [inner for inner in wrapped if isinstance(inner, BaseException)]
