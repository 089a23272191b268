"""A small HTTP server as a process of its own, whose behaviour and counts are known exactly.

`python tiny_server.py <port>`; each connection belongs to one of two "pods", in turn. Routes: `/delay` answers 2 ms
later, `/slow` 100 ms later, `/queue` through one server of 1 ms each, first come first served, `/status/404` so,
`/hang` never, `/reset` with a reset, `/counts` with its counters, and the
times of the first request since the last look and of the last one; anything else at once.
"""

import asyncio
import json
import signal
import socket
import struct
import sys
import time
from collections import Counter
from types import FrameType
from typing import cast

import uvloop

QUEUE_SERVICE_SECONDS = 0.001
DELAYS_SECONDS = {"/delay": 0.002, "/slow": 0.1}
# All that came in during a stop is read within this time after it.
BACKLOG_SECONDS = 0.3

counts: Counter[str] = Counter()
first_at: dict[str, float] = {}
last_at: dict[str, float] = {}
targets: dict[str, str] = {}


class Queue:
    """One server with a fixed service time. What arrived while the process was stopped begins when it goes on."""

    def __init__(self) -> None:
        self.free_at = 0.0
        self.resumed_at = 0.0

    def resume(self, _signal: int, _frame: FrameType | None) -> None:
        """The handler of SIGCONT: it runs before the event loop reads anything."""
        self.resumed_at = time.monotonic()

    def departure(self) -> float:
        """When the request that came now will be answered, on time.monotonic."""
        now = time.monotonic()
        came_at = self.resumed_at if now - self.resumed_at < BACKLOG_SECONDS else now
        self.free_at = max(self.free_at, came_at) + QUEUE_SERVICE_SECONDS
        return self.free_at


queue = Queue()


class Connection(asyncio.Protocol):
    """Reads requests without bodies and answers each, with the headers of a pod."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count it, and give it to a pod."""
        # uvloop's transports do not derive from asyncio's.
        self.transport = cast("asyncio.Transport", transport)
        self.pod = f"pod-{counts['connections'] % 2}"
        counts["connections"] += 1
        self.waiting = b""

    def data_received(self, data: bytes) -> None:
        """Serve every whole request in it."""
        self.waiting += data
        while b"\r\n\r\n" in self.waiting:
            head, _, self.waiting = self.waiting.partition(b"\r\n\r\n")
            self.serve(head.split(b" ", 2)[1].decode())

    def serve(self, path: str) -> None:
        """Answer now or later."""
        target, path = path, path.partition("?")[0]
        loop = asyncio.get_running_loop()
        if path == "/counts":
            # A look at the counts comes on a connection of its own, which is none of the load's.
            counts["connections"] -= 1
            read = {"counts": counts, "first_at": first_at, "last_at": last_at, "targets": targets}
            self.answer(200, json.dumps(read))
            first_at.clear()
            return
        counts[path] += 1
        targets[path] = target
        last_at[path] = time.monotonic()
        first_at.setdefault(path, last_at[path])
        if path == "/reset":
            sock = self.transport.get_extra_info("socket")
            # Lingering for 0 s makes closing a reset.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
            return
        if path == "/hang":
            return
        counts[self.pod] += 1
        if path in DELAYS_SECONDS:
            loop.call_later(DELAYS_SECONDS[path], self.answer, 200)
        elif path == "/queue":
            loop.call_later(max(queue.departure() - time.monotonic(), 0), self.answer, 200)
        elif path.startswith("/status/"):
            self.answer(int(path.rpartition("/")[2]))
        else:
            self.answer(200)

    def answer(self, status: int, body: str = "ok") -> None:
        """Send an answer with the headers of a pod."""
        if not self.transport.is_closing():
            self.transport.write(
                f"HTTP/1.1 {status} Status\r\nContent-Length: {len(body)}\r\nContent-Type: text/plain\r\n"
                f"X-Podscale-Pod: {self.pod}\r\nX-Podscale-Process: 7\r\n\r\n{body}".encode()
            )


async def main() -> None:
    """Serve until killed."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Connection, "127.0.0.1", int(sys.argv[1]), backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    signal.signal(signal.SIGCONT, queue.resume)
    uvloop.run(main())
