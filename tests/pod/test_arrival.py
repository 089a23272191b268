"""When a request has arrived, with a clock and a connection that the test controls."""

import socket
import time

from podscale.pod.arrival import TRANSPORT_KEY, Arrivals


class Transport:
    """A transport of one socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def get_extra_info(self, name: str) -> socket.socket:
        """The socket."""
        assert name == "socket"
        return self._connection


def test_a_free_loop_sees_a_request_when_it_arrives() -> None:
    """Without a job that held the loop, the request has arrived now; its connection is not asked."""
    arrivals = Arrivals(lambda: 100.0)
    assert arrivals.since({}) == 100


def test_after_a_job_the_kernel_is_asked() -> None:
    """What came 0.3 s before the loop was free has waited for 0.3 s."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            client.sendall(b"GET")
            time.sleep(0.3)
            arrivals = Arrivals(time.monotonic)
            arrivals.loop_was_held()
            waited = time.monotonic() - arrivals.since({"state": {TRANSPORT_KEY: Transport(accepted)}})
        assert 0.28 < waited < 1
        arrivals.loop_was_held()
        # The connection is closed: there is nothing to ask.
        assert time.monotonic() - arrivals.since({"state": {TRANSPORT_KEY: Transport(accepted)}}) < 0.2
