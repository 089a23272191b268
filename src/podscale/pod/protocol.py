"""uvicorn's HTTP protocol with the two limits it leaves to a proxy in front: a request's length and its time to arrive.

A pod is often reached without a proxy: https://github.com/encode/uvicorn/issues/157.
"""

import asyncio
from collections.abc import Iterable

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from podscale.pod.arrival import TRANSPORT_KEY
from podscale.pod.instrument import NO_JOB

# Head and body together. The routes need some hundred bytes; clients add cookies and traces.
MAX_REQUEST_BYTES = 65536
# How long a request may still arrive on a connection that was made before the listener closed.
_LAST_CHANCE_SECONDS = 0.5


class BoundedProtocol(HttpToolsProtocol):
    """Closes a connection whose request is too long or takes too long to arrive."""

    _bytes = 0
    _arriving = True
    _rounds = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        """A client has connected; its requests carry the transport as part of the app's state."""
        super().connection_made(transport)
        self.app_state = {TRANSPORT_KEY: transport}

    def data_received(self, data: bytes) -> None:
        """Count, then parse."""
        self._arriving = True
        self._bytes += len(data)
        if self._bytes <= MAX_REQUEST_BYTES:
            HttpToolsProtocol.data_received(self, data)
        else:
            self._receive_too_much(data)

    def on_message_complete(self) -> None:
        """A request has arrived."""
        self._arriving = False
        self._bytes = self._rounds = 0
        HttpToolsProtocol.on_message_complete(self)

    def give_up_if_late(self, most_rounds: float) -> None:
        """Called at regular times: give up on a request that has been arriving for more calls than `most_rounds`.

        Calls are counted rather than time, so that a loop which a job has held does not take a request for late that
        waits in the kernel to be read.
        """
        self._rounds += self._arriving
        if self._arriving and self._rounds > most_rounds and not self._answers_earlier_request():
            self._give_up(408, "the request took too long to arrive")

    def shutdown(self) -> None:
        """Called by uvicorn when it has stopped to accept: close what is idle, after the answer what is not.

        A connection on which nothing has come, or half a request, may have been made a moment ago.
        """
        if self._arriving and self._in_head:
            self.loop.call_later(_LAST_CHANCE_SECONDS, super().shutdown)
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Called by uvicorn for what is not HTTP."""
        self._refuse(400, msg)

    @property
    def _latest(self) -> RequestResponseCycle | None:
        """The request whose head came last; uvicorn's type does not say that there is none at first."""
        return self.cycle

    def _receive_too_much(self, data: bytes) -> None:
        allowed = MAX_REQUEST_BYTES - (self._bytes - len(data))
        if allowed > 0:
            # The app may have a better answer to the beginning.
            super().data_received(data[:allowed])
        if allowed <= 0 or self._in_head:
            self._give_up(431, f"the request is longer than {MAX_REQUEST_BYTES} bytes, which is the most allowed")

    @property
    def _in_head(self) -> bool:
        """Whether the head of a request arrives: there is none yet, or the latest has come and is answered."""
        cycle = self._latest
        return cycle is None or (cycle.response_complete and not cycle.more_body)

    def _answers_earlier_request(self) -> bool:
        cycle = self._latest
        return cycle is not None and not cycle.response_complete and not cycle.more_body

    def _give_up(self, status: int, reason: str) -> None:
        if self._in_head:
            self._refuse(status, reason)
        else:
            # The head has come, so its answer is given or under way: another one would not be understood.
            self.transport.abort()

    def _refuse(self, status: int, reason: str) -> None:
        if self.transport.is_closing():
            return
        body = f"{reason}\n".encode()
        headers = [
            *self.server_state.default_headers,
            NO_JOB,
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        lines = [b"%s: %s\r\n" % header for header in headers]
        self.transport.write(b"".join([STATUS_LINE[status], *lines, b"\r\n", body]))
        self.transport.close()


def give_up_late_requests(connections: Iterable[object], most_rounds: float) -> None:
    """Look after all connections of a server; see `BoundedProtocol.give_up_if_late`."""
    for connection in list(connections):
        if isinstance(connection, BoundedProtocol):
            connection.give_up_if_late(most_rounds)
