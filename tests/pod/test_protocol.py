"""The limits on a request's length and its time to arrive, on a running pod."""

import time
from collections.abc import Iterator

import pytest

from tests.pod import wire
from tests.processes import Pod, running_pod


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pod]:
    """A pod that gives a request 1 s to arrive."""
    with running_pod(tmp_path_factory.mktemp("pod"), request_seconds=1) as pod:
        yield pod


def test_half_a_head_is_given_up(hasty: Pod) -> None:
    """A head that does not end is answered with 408 after the asked time, and the connection closes."""
    with wire.connect(hasty.url) as connection:
        connection.sendall(b"GET /timestamp HTTP/1.1\r\nHost:")
        began = time.monotonic()
        answer = wire.read(connection)
        assert answer.status == 408
        assert answer.body == b"the request took too long to arrive\n"
        assert time.monotonic() - began > 0.5
        assert wire.is_closed(connection)


def test_a_trickle_does_not_help(hasty: Pod) -> None:
    """Sending a byte now and then does not keep an unfinished request open."""
    with wire.connect(hasty.url) as connection, pytest.raises(ConnectionError):  # noqa: PT012 - it may fail at any byte
        for _ in range(100):
            connection.sendall(b"G")
            time.sleep(0.1)


def test_a_connection_without_a_request_is_closed(hasty: Pod) -> None:
    """Who connects and says nothing does not hold a place for ever."""
    with wire.connect(hasty.url) as connection:
        answer = wire.read(connection)
        assert answer.status == 408
        assert wire.is_closed(connection)


def test_half_a_body_is_given_up(hasty: Pod) -> None:
    """A body that does not come ends the connection."""
    with wire.connect(hasty.url) as connection:
        connection.sendall(b'POST /prime HTTP/1.1\r\nHost: pod\r\nContent-Length: 100\r\n\r\n{"number"')
        assert wire.is_closed(connection)


def test_a_slow_answer_is_no_slow_request(hasty: Pod) -> None:
    """A job longer than the time to arrive is answered, also when another request is under way behind it."""
    with wire.connect(hasty.url) as connection:
        connection.sendall(wire.get("/worker?cpuTimeMs=2500&clock=sleep") + b"GET /timest")
        assert wire.read(connection).status == 200
        connection.sendall(b"amp HTTP/1.1\r\nHost: pod\r\n\r\n")
        assert wire.read(connection).status == 200


def test_a_held_loop_does_not_make_requests_late(hasty: Pod) -> None:
    """Requests that wait in the kernel while a job holds the loop are served, however long that takes."""
    with wire.connect(hasty.url) as first, wire.connect(hasty.url) as second:
        first.sendall(wire.get("/blocking?cpuTimeMs=2500&clock=sleep"))
        time.sleep(0.2)
        second.sendall(wire.get("/timestamp"))
        assert wire.read(first).status == 200
        assert wire.read(second).status == 200


def test_a_kept_connection_serves_any_number_of_requests(hasty: Pod) -> None:
    """The limit on length is for one request: many small ones on a connection never reach it."""
    with wire.connect(hasty.url) as connection:
        for _ in range(1500):
            connection.sendall(wire.get("/timestamp", "X-Pad: 0123456789012345678901234567890123456789\r\n"))
            assert wire.read(connection).status == 200
