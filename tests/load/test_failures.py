"""Why a request failed, from what the clients raise."""

import errno
import http.client
import socket

import pytest
import requests.exceptions
import urllib3.exceptions

from podscale.contract import ErrorClass
from podscale.load.failures import classify


class RetriesExceeded(Exception):  # noqa: N818  # as geventhttpclient calls it
    """Keeps what it wraps in `original`."""

    def __init__(self, original: BaseException) -> None:
        super().__init__("http://127.0.0.1/", 0)
        self.original = original


class HTTPConnectionClosed(Exception):  # noqa: N818  # as geventhttpclient calls it
    """A connection that ended without an answer."""


def _of(kind: int) -> OSError:
    return OSError(kind, "as the kernel says")


def _raised_from(outer: BaseException, inner: BaseException) -> BaseException:
    outer.__cause__ = inner
    return outer


@pytest.mark.parametrize(
    ("exception", "status", "expected"),
    [
        (None, 200, None),
        # The locustfile may call a 404 good.
        (None, 404, None),
        (requests.exceptions.HTTPError("404"), 404, "http_4xx"),
        (Exception("500"), 500, "http_5xx"),
        (Exception("503"), 503, "http_5xx"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "no"), 0, "refused"),
        (ConnectionResetError(errno.ECONNRESET, "no"), 0, "reset"),
        (BrokenPipeError(), 0, "reset"),
        (HTTPConnectionClosed("closed"), 0, "reset"),
        (http.client.RemoteDisconnected("closed"), 0, "reset"),
        (TimeoutError("timed out"), 0, "timeout"),
        (RetriesExceeded(TimeoutError("timed out")), 0, "timeout"),
        (requests.exceptions.ReadTimeout("slow"), 0, "timeout"),
        (requests.exceptions.ConnectTimeout("slow"), 0, "timeout"),
        (_of(errno.ETIMEDOUT), 0, "timeout"),
        (socket.gaierror(socket.EAI_NONAME, "who?"), 0, "dns"),
        (_of(errno.EADDRNOTAVAIL), 0, "client"),
        (_of(errno.EMFILE), 0, "client"),
        (_of(errno.ENFILE), 0, "client"),
        (_of(errno.EHOSTUNREACH), 0, "other"),
        (ValueError("the locustfile does not like it"), 200, "other"),
        (
            requests.exceptions.ConnectionError(urllib3.exceptions.ProtocolError("x", ConnectionResetError())),
            0,
            "reset",
        ),
        (_raised_from(requests.exceptions.ConnectionError(), _of(errno.EADDRNOTAVAIL)), 0, "client"),
        (_raised_from(RuntimeError(), _raised_from(OSError(), socket.gaierror())), 0, "dns"),
    ],
)
def test_a_failure_has_a_class(exception: BaseException | None, status: int, expected: ErrorClass | None) -> None:
    """The status decides first, then the innermost cause that is known."""
    assert classify(exception, status) == expected


def test_causes_that_go_in_circles_end() -> None:
    """Two exceptions that name each other as the cause are looked at once each."""
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert classify(one, 0) == "other"
